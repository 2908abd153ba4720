// What the window on a tree shows: places of cards, the cards in sight, the edges between them. It reads and fills the
// instance that tree.js made: model, shown, widths, middle, cards, edges, and draws its hits, row and path.
const treeDrawing = (() => {
  const GAP = 18, ROW = 66, RIM = 160, FAR = 0.4;

  // Places of what is open; of a shape that cuts little the places of the whole, so that nothing moves.
  function arrange(self) {
    const { model } = self;
    self.shown = treeModel.drawn(model);
    const whole = treeModel.drawn(model, true);
    const kept = self.shown.length * 2 >= whole.length ? whole : self.shown;
    const key = kept.join();
    self.widths = new Map(self.shown.map((at) => [at, treeCards.widths(model, self.columns, at, treeModel.role(model, at))]));
    if (self.base !== key) placeAll(self, kept);
    self.base = key;
    self.cards.forEach((card) => card.remove());
    self.cards.clear();
    self.edges.forEach((edge) => edge.remove());
    self.edges.clear();
    if (!self.widths.has(self.current)) self.current = nearest(self, self.current);
    self.view.sized(self.width, self.height);
    self.boxes = null;
    self.frame.style.setProperty("--tree-wide", Math.ceil(self.width + 4));
    self.frame.style.setProperty("--tree-high", Math.ceil(self.height + 4));
    tall(self);
    self.view.refresh();
  }

  function placeAll(self, kept) {
    const { model } = self;
    const order = new Map(kept.map((at, index) => [at, index]));
    const below = kept.map((at) => model.children[at].length && order.has(model.children[at][0]) ? model.children[at].map((child) => order.get(child)) : []);
    // Pruning makes leaves of open nodes, and what a leaf says may be wider than its question: room for both.
    const slotAs = (at, role) => treeCards.widths(model, self.columns, at, role).slot;
    const slots = kept.map((at, index) => below[index].length ? Math.max(slotAs(at, "open"), slotAs(at, "leaf"))
      : slotAs(at, treeModel.role(model, at)));
    const middles = layout.tidy(below, slots, GAP);
    self.cardHeight = treeCards.height(model.part);
    self.pitch = self.cardHeight + ROW;
    self.middle = new Map(kept.map((at, index) => [at, middles[index]]));
    self.width = middles.reduce((most, x, index) => Math.max(most, x + slots[index] / 2), 0);
    self.height = kept.reduce((most, at) => Math.max(most, top(self, at) + self.cardHeight), 0) + 16;
    self.rootX = middles[0];
  }

  const top = (self, at) => (self.model.nodes[at].depth - self.model.nodes[0].depth) * self.pitch;
  const boxOf = (self, at) => {
    const width = self.widths.get(at).card;
    return { x: self.middle.get(at) - width / 2, y: top(self, at), width, height: self.cardHeight };
  };

  // The cards as the small map shows them.
  function boxesOf(self) {
    const style = getComputedStyle(document.documentElement);
    const known = new Map();
    const resolved = (name) => known.get(name) || known.set(name, style.getPropertyValue(name)).get(name);
    return self.shown.map((at) => {
      const leaf = treeModel.role(self.model, at) === "leaf", { code } = self.model.nodes[at];
      return { ...boxOf(self, at), color: resolved(!leaf ? "--muted" : code === null ? "--accent" : treeCards.color(code).slice(4, -1)) };
    });
  }

  // The nearest card above that is drawn.
  function nearest(self, position) {
    const way = treeModel.way(self.model, position);
    return way.reverse().find((at) => self.widths.has(at)) || 0;
  }

  // The window is as tall as a small tree needs, and does not jump when branches close.
  function tall(self) {
    if (self.printing) return;
    const fitting = (self.frame.clientWidth - 28) / self.width;
    const needed = Math.ceil(self.height * (fitting >= self.view.READABLE ? Math.min(1, fitting) : 1)) + 28;
    self.tallest = Math.max(self.tallest || 0, needed);
    self.frame.style.setProperty("--tree-height", `${self.tallest}px`);
  }

  // Only what the window shows is in the page, and the card that has the focus.
  function draw(self) {
    const far = self.view.at.k < FAR && !self.printing;
    if (far !== self.far) {
      self.cards.forEach((card) => card.remove());
      self.cards.clear();
    }
    self.far = far;
    const focused = self.cardsHost.contains(document.activeElement) ? self.current : -1;
    const seen = self.printing ? { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity } : self.view.seen(RIM);
    const wanted = self.shown.filter((at) => at === self.current || isIn(self, at, seen));
    const held = new Set(wanted);
    for (const [at, card] of self.cards) if (!held.has(at)) { card.remove(); self.cards.delete(at); }
    let last = null;
    for (const at of wanted) {
      let card = self.cards.get(at);
      if (!card) {
        card = cardAt(self, at, far);
        self.cards.set(at, card);
        // In the order of the tree, for whoever reads from card to card.
        self.cardsHost.insertBefore(card, last ? last.nextSibling : self.cardsHost.firstChild);
      }
      last = card;
    }
    drawEdges(self, seen);
    if (!self.printing) self.map.draw(self.boxes = self.boxes || boxesOf(self), self);
    marks(self);
    if (focused >= 0 && !self.cardsHost.contains(document.activeElement)) focusCard(self);
  }

  const isIn = (self, at, seen) => {
    const x = self.middle.get(at), half = self.widths.get(at).slot / 2, y = top(self, at);
    return x + half >= seen.left && x - half <= seen.right && y + self.cardHeight >= seen.top && y <= seen.bottom;
  };

  function cardAt(self, at, far) {
    const card = treeCards.make(self.model, self.columns, at, far);
    const box = boxOf(self, at);
    for (const [rule, to] of [["left", box.x], ["top", box.y], ["width", box.width], ["height", box.height]]) card.style.setProperty(rule, `${to.toFixed(1)}px`);
    return card;
  }

  function drawEdges(self, seen) {
    const wanted = new Set();
    for (const at of self.shown) {
      const above = self.model.parent[at];
      if (above < 0) continue;
      const from = self.middle.get(above), to = self.middle.get(at), y = top(self, at);
      if (Math.max(from, to) < seen.left || Math.min(from, to) > seen.right || y < seen.top || y - ROW > seen.bottom) continue;
      wanted.add(at);
      if (!self.edges.has(at)) {
        const edge = edgeTo(self, at, from, to, y);
        self.edges.set(at, edge);
        self.edgesHost.append(edge);
      }
    }
    for (const [at, edge] of self.edges) if (!wanted.has(at)) { edge.remove(); self.edges.delete(at); }
  }

  // As thick as the share of rows that come this way; dashed where none came.
  function edgeTo(self, at, from, to, y) {
    const node = self.model.nodes[at], share = node.n_rows / Math.max(1, self.model.nodes[0].n_rows);
    const start = y - ROW, end = y - treeCards.LABEL - 2, bend = (start + end) / 2 + 6;
    return dom.svg("path", {
      d: `M${from.toFixed(1)} ${start}C${from.toFixed(1)} ${bend} ${to.toFixed(1)} ${bend} ${to.toFixed(1)} ${end}`,
      "stroke-width": (1.4 + 7 * Math.sqrt(share)).toFixed(1), "stroke-dasharray": node.n_rows ? null : "3 4", "data-to": node.id,
    });
  }

  // Classes that say what is kept, found, followed.
  function marks(self) {
    const way = self.path === null ? null : self.way;
    self.stage.classList.toggle("has-path", way !== null);
    self.stage.classList.toggle("has-row", self.row.size > 0);
    for (const [at, card] of self.cards) {
      card.classList.toggle("on-path", way !== null && way.has(at));
      card.classList.toggle("on-row", self.row.has(at));
      card.classList.toggle("is-hit", self.hits.has(at));
      card.classList.toggle("is-current-hit", self.hit === at);
      card.setAttribute("tabindex", at === self.current ? "0" : "-1");
      card.setAttribute("aria-selected", way !== null && self.model.nodes[at].id === self.path ? "true" : "false");
    }
    for (const [at, edge] of self.edges) {
      edge.classList.toggle("on-path", way !== null && way.has(at));
      edge.classList.toggle("on-row", self.row.has(at));
    }
  }

  function focusCard(self) {
    if (!self.cards.has(self.current)) draw(self);
    const card = self.cards.get(self.current);
    if (card) card.focus({ preventScroll: true });
  }

  return { arrange, draw, marks, boxOf, top, focusCard };
})();
