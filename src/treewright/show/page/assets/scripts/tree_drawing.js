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
    for (const held of [self.cards, self.edges]) for (const [at, element] of held) {
      // What looks as it did stays: a step of the slider touches few of 2,000 cards.
      if (self.widths.has(at) && element.dataset.looks === looks(self, at)) continue;
      element.remove();
      held.delete(at);
    }
    if (!self.widths.has(self.current)) self.current = nearest(self, self.current);
    self.view.sized(self.width, self.height);
    self.boxes = null;
    self.dots = [];
    self.frame.style.setProperty("--tree-wide", Math.ceil(self.width + 4));
    self.frame.style.setProperty("--tree-high", Math.ceil(self.height + 4));
    tall(self);
    self.view.refresh();
  }

  // Everything that a card and the edge to it show, but for marks.
  function looks(self, at) {
    const above = self.model.parent[at];
    return [treeModel.role(self.model, at), treeModel.cutAway(self.model, at), self.middle.get(at), self.widths.get(at).card, above < 0 ? "" : self.middle.get(above)].join();
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
    self.cardHeight = treeCards.height(model.part, "open");
    self.pitch = self.cardHeight + ROW;
    self.middle = new Map(kept.map((at, index) => [at, middles[index]]));
    self.width = middles.reduce((most, x, index) => Math.max(most, x + slots[index] / 2), 0);
    self.height = kept.reduce((most, at) => Math.max(most, top(self, at) + self.cardHeight), 0) + 16;
    self.rootX = middles[0];
  }

  const top = (self, at) => (self.model.nodes[at].depth - self.model.nodes[0].depth) * self.pitch;
  const boxOf = (self, at) => {
    const width = self.widths.get(at).card;
    return { x: self.middle.get(at) - width / 2, y: top(self, at), width, height: treeCards.height(self.model.part, treeModel.role(self.model, at)) };
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
    const needed = Math.ceil(self.height * Math.min(1, Math.max(self.view.READABLE, self.view.across()))) + 28;
    self.tallest = Math.max(self.tallest || 0, needed);
    self.frame.style.setProperty("--tree-height", `${self.tallest}px`);
  }

  // Only what the window shows is in the page, and the card that has the focus.
  function draw(self) {
    self.view.drawn();
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
      if (card && far && card.hasAttribute("role") !== (at === self.current)) { card.remove(); card = null; }
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

  // Whether the window shows nothing of the tree, or all of it far smaller than need be.
  function isLost(self) {
    const { at } = self.view, seen = self.view.seen(0);
    const dot = at.k < self.view.READABLE && self.width * at.k < 0.3 * self.frame.clientWidth && self.height * at.k < 0.3 * self.frame.clientHeight;
    return dot || !self.shown.some((each) => isIn(self, each, seen));
  }

  function cardAt(self, at, far) {
    const card = far && at !== self.current ? treeCards.makeDot(self.model, at) : treeCards.make(self.model, self.columns, at, far);
    const box = boxOf(self, at);
    card.dataset.looks = looks(self, at);
    card.style.cssText += `left:${box.x.toFixed(1)}px;top:${box.y.toFixed(1)}px;width:${box.width.toFixed(1)}px;height:${box.height.toFixed(1)}px`;
    return card;
  }

  function drawEdges(self, seen) {
    const wanted = self.shown.filter((at) => {
      const above = self.model.parent[at];
      if (above < 0) return false;
      const from = self.middle.get(above), to = self.middle.get(at), y = top(self, at);
      return Math.max(from, to) >= seen.left && Math.min(from, to) <= seen.right && y >= seen.top && y - ROW <= seen.bottom;
    });
    const single = new Set(self.far ? [] : wanted);
    for (const [at, edge] of self.edges) if (!single.has(at)) { edge.remove(); self.edges.delete(at); }
    for (const at of single) {
      if (self.edges.has(at)) continue;
      const edge = edgeTo(self, at);
      edge.dataset.looks = looks(self, at);
      self.edges.set(at, edge);
      self.edgesHost.append(edge);
    }
    self.dots = self.far ? wanted : [];
  }

  // Edges too thin to tell apart are one path, and one for those that are marked.
  function drawThin(self, way) {
    const marked = (at) => (way !== null && way.has(at)) || self.row.has(at);
    const lines = (chosen) => chosen.map((at) => curve(self, at)).join("");
    self.thin.setAttribute("d", lines(self.dots.filter((at) => !marked(at))));
    self.thinMarked.setAttribute("d", lines(self.dots.filter(marked)));
    // As wide on the screen whatever the zoom.
    self.thin.setAttribute("stroke-width", 1.2 / self.view.at.k);
    self.thinMarked.setAttribute("stroke-width", 2.6 / self.view.at.k);
  }

  function curve(self, at) {
    const from = self.middle.get(self.model.parent[at]).toFixed(1), to = self.middle.get(at).toFixed(1), y = top(self, at);
    const start = y - ROW, end = y - treeCards.LABEL - 2, bend = (start + end) / 2 + 6;
    return `M${from} ${start}C${from} ${bend} ${to} ${bend} ${to} ${end}`;
  }

  // As thick as the share of rows that come this way; dashed where none came.
  function edgeTo(self, at) {
    const node = self.model.nodes[at], share = node.n_rows / Math.max(1, self.model.nodes[0].n_rows);
    return dom.svg("path", {
      d: curve(self, at), "stroke-width": (1.4 + 7 * Math.sqrt(share)).toFixed(1), "stroke-dasharray": node.n_rows ? null : "3 4", "data-to": node.id,
    });
  }

  // Classes that say what is kept, found, followed.
  function marks(self) {
    const way = self.path === null ? null : self.way;
    // Where a node is always chosen nothing pales beside it.
    self.stage.classList.toggle("has-path", way !== null && !self.chosen);
    self.stage.classList.toggle("has-row", self.row.size > 0);
    drawThin(self, way);
    for (const [at, card] of self.cards) {
      const kinds = (way !== null && way.has(at) ? " on-path" : "") + (self.row.has(at) ? " on-row" : "")
        + (self.hits.has(at) ? " is-hit" : "") + (self.hit === at ? " is-current-hit" : "");
      if (card.marked !== kinds) {
        card.className = card.className.replace(card.marked || "", "") + kinds;
        card.marked = kinds;
      }
      if (!card.hasAttribute("role")) continue;
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

  return { arrange, draw, marks, boxOf, top, isLost, nearest, focusCard };
})();
