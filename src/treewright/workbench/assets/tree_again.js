// A drawn tree (tree.js) whose session has changed: another tree, in the same window.
const treeAgain = (() => {
  const SMALL = 0.42;

  // The tree after a change, whose nodes hold their paths: what was open stays open, what is new is opened as far as a
  // reader can take it in, and the window stays where it was.
  function renew(held, part) {
    const { self } = held;
    const before = self.model, at = before.nodes[self.current].path, { length } = self.shown;
    const opened = new Set([...before.open].map((position) => before.nodes[position].path));
    const closed = new Set(treeModel.forking(before).map((position) => before.nodes[position].path).filter((path) => !opened.has(path)));
    const spot = { x: self.middle.get(self.current), y: treeDrawing.top(self, self.current) };
    self.own = part;
    self.model = treeModel.of(part);
    const focused = self.cardsHost.contains(document.activeElement);
    for (const held of [self.cards, self.edges]) { held.forEach((element) => element.remove()); held.clear(); }
    const { model } = self, room = Math.max(treeModel.BUDGET, length + 12);
    const inner = model.nodes.map((_, position) => position).filter((position) => treeModel.forks(model, position) && !closed.has(model.nodes[position].path));
    inner.sort((one, other) => model.nodes[one].depth - model.nodes[other].depth || model.nodes[other].n_rows - model.nodes[one].n_rows);
    let cards = 1;
    for (const position of inner) {
      const above = model.parent[position], own = model.children[position].length;
      if ((above >= 0 && !model.open.has(above)) || (cards + own > room && !opened.has(model.nodes[position].path))) continue;
      model.open.add(position);
      cards += own;
    }
    const found = model.nodes.findIndex((node) => node.path === at);
    self.current = Math.max(0, found);
    self.base = null;
    self.row = new Map();
    self.path = null;
    dom.fill(self.legend, held.legend(self));
    const { touched } = self.view;
    treeDrawing.arrange(self);
    if (found >= 0 && self.middle.has(found)) {
      const { at: window } = self.view;
      self.view.set(window.x + (spot.x - self.middle.get(found)) * window.k, window.y + (spot.y - treeDrawing.top(self, found)) * window.k, window.k);
    }
    if (!touched || treeDrawing.isLost(self)) self.view.fit(self.rootX, SMALL);
    treeDrawing.draw(self);
    self.box.again();
    if (focused) held.focus(self, self.current);
    held.tell(self, self.current);
  }

  // Leaves where a slider says so, or all as they are.
  function shape(held, isLeaf) {
    const { self } = held, { touched } = self.view;
    treeModel.shape(self.model, isLeaf || (() => false));
    held.changed(self, 0);
    if (!touched) self.view.again(self.rootX);
  }

  return { renew, shape };
})();
