// What the sections share. A section sets a value and listens to others; sections never call each other.
//   shape: {name, title, isLeaf(node) -> bool, step (of the path) or null, tree (TreePart) or null for the page's own}
//   row:   {cells: [number | null | undefined], label} or null; a cell is a number, the code of a level, null for missing
//   path:  id of the node whose path is kept, or null
const state = (() => {
  const values = { shape: null, row: null, path: null };
  const listeners = { shape: [], row: [], path: [] };

  return {
    summary: JSON.parse(document.getElementById("summary").textContent),
    get: (name) => values[name],
    set(name, value) {
      values[name] = value;
      for (const listen of listeners[name]) listen(value);
    },
    // Called at once with what is there, and whenever it changes.
    on(name, listen) {
      listeners[name].push(listen);
      listen(values[name]);
    },
  };
})();
