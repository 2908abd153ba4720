// In a report sections share rows and shapes by this object. A screen of the workbench has nothing to share.
const state = { summary: { columns: [], tree: null }, get: () => null, set() {}, on() {} };
