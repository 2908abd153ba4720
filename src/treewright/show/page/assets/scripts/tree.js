// The tree: cards in a window that zooms and moves, a box that finds, a panel that tells. One instance per host; the
// page's own listens to the state: the shape that pruning left, the row that is followed, the path that is kept.
const tree = (() => {
  // How many cards the first view may hold, the most that fit; and how small it, more levels and all of them may get.
  const BUDGETS = [treeModel.BUDGET, 48, 40, 32, 25, 20, 15, 11, 9, 7, 5, 1], SMALL = 0.42, SMALLER = 0.5, BOXES = 0.05;
  let instances = 0;

  // part: TreePart; options: columns (ColumnWords), shared: whether path, row and shape are those of the page; chosen:
  // who is told of the node that the reader chooses, and keeps its way.
  function mount(host, part, { columns = state.summary.columns, shared = false, chosen = null } = {}) {
    const name = `tree${instances++}`;
    const self = { columns, name, shared, chosen, own: part, cards: new Map(), edges: new Map(), hits: new Set(), hit: -1, row: new Map(), path: null, dots: [] };
    build(self, host);
    use(self, part);
    home(self);
    new ResizeObserver(() => resized(self)).observe(self.frame);
    addEventListener("beforeprint", () => print(self));
    addEventListener("afterprint", () => unprint(self));
    if (shared) {
      state.on("shape", (shape) => reshape(self, shape));
      state.on("path", (id) => keep(self, id));
      state.on("row", (row) => follow(self, row));
    }
    return { show: (other) => { use(self, other); home(self); }, reveal: (id) => go(self, self.model.place.get(id)), self, legend, tell, focus, keep, changed };
  }

  function build(self, host) {
    const { name } = self;
    self.thin = dom.svg("path", { class: "is-thin" });
    self.thinMarked = dom.svg("path", { class: "is-thin on-path" });
    self.edgesHost = dom.svg("svg", { class: "tree-edges", "aria-hidden": "true" }, self.thin, self.thinMarked);
    self.cardsHost = dom.el("div", { class: "tree-cards", role: "tree", id: name, "aria-label": "Decision tree" });
    self.stage = dom.el("div", { class: "tree-stage" }, self.edgesHost, self.cardsHost);
    self.frame = dom.el("div", {
      class: "tree-frame", tabindex: "0", role: "group", "aria-describedby": `${name}-help`,
      "aria-label": "Window on the tree: arrow keys move it, plus and minus zoom",
    }, self.stage);
    self.side = dom.el("div", { class: "tree-side" });
    self.panel = dom.el("div", { class: "tree-panel", role: "region", tabindex: "0", "aria-label": "Details of a node" });
    self.legend = dom.el("div", { class: "tree-legend" });
    self.box = search.box(`${name}-search`, {
      hitsOf: (typed) => search.found(self.model, self.columns, typed),
      tell: (hits, current) => { self.hits = new Set(hits); self.hit = current; treeDrawing.marks(self); },
      go: (position) => go(self, position),
    });
    const button = (label, text, act) => dom.el("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
    dom.fill(host, dom.el("div", { class: "tree-bar" },
      self.box.element,
      dom.el("div", { class: "tree-buttons", role: "group", "aria-labelledby": `${name}-levels` },
        dom.el("span", { id: `${name}-levels`, class: "small muted" }, "Levels"),
        button("One level less", "less", () => levels(self, -1)), button("One level more", "more", () => levels(self, 1)),
        button("All: open every node", "all", () => openAll(self)), button("First levels, as at the start", "start", () => startAgain(self))),
      dom.el("div", { class: "tree-buttons", role: "group", "aria-label": "Zoom" },
        button("Zoom out", "\u2212", () => self.view.zoom(1 / treeView.STEP)), button("Zoom in", "+", () => self.view.zoom(treeView.STEP)),
        button("Fit the whole tree in the window", "fit", () => self.view.fit(self.rootX, 0)))),
    self.legend,
    dom.el("div", { class: "tree-both" }, self.frame, self.side),
    dom.el("p", { class: "muted small tree-help", id: `${name}-help` },
      `Drag moves the tree, Ctrl and the wheel zoom. A click on a card ${self.chosen ? "chooses it" : "keeps its path, Escape releases it"}. ` +
      "With the keyboard: arrows go from card to card, right opens, left closes, Shift and arrows move."));
    self.view = treeView.make(self.frame, self.stage, () => treeDrawing.draw(self));
    self.map = treeMap.make(self.side, self.frame, self.view);
    self.side.append(self.panel);
    listen(self);
  }

  // Draw another tree.
  function use(self, part) {
    self.model = treeModel.of(part);
    for (const held of [self.cards, self.edges]) { held.forEach((element) => element.remove()); held.clear(); }
    self.current = 0;
    self.base = null;
    self.row = new Map();
    if (self.shared && self.path !== null) state.set("path", null);
    self.path = null;
    dom.fill(self.legend, legend(self));
    openFirst(self);
    self.box.again();
    tell(self, 0);
  }

  // The first levels: as many as a reader can take in, and as fit from left to right at a size that can be read.
  function openFirst(self) {
    const { tallest } = self;
    self.fresh = true;
    self.openedAt = self.frame.clientWidth;
    for (const budget of BUDGETS) {
      self.model.open.clear();
      treeModel.openFirst(self.model, budget);
      self.tallest = tallest;
      treeDrawing.arrange(self);
      if (self.view.across() >= self.view.READABLE) return;
    }
  }

  function home(self) {
    self.view.fit(self.rootX, SMALL);
  }

  function resized(self) {
    if (self.printing) return;
    if (self.fresh && !self.view.touched && self.openedAt !== self.frame.clientWidth) startAgain(self);
    else if (self.view.touched) self.view.refresh();
    else self.view.again(self.rootX);
  }

  // Something opened or closed: the card that did it stays where it is on the screen.
  function changed(self, anchor) {
    const before = { x: self.middle.get(anchor), y: treeDrawing.top(self, anchor) };
    const focused = self.cardsHost.contains(document.activeElement);
    treeDrawing.arrange(self);
    if (self.path !== null) wayOf(self);
    const { at } = self.view;
    self.view.set(at.x + (before.x - self.middle.get(anchor)) * at.k, at.y + (before.y - treeDrawing.top(self, anchor)) * at.k, at.k);
    treeDrawing.draw(self);
    self.box.again();
    if (focused) focus(self, self.current);
  }

  // ---- what others say ----

  // The shape that pruning left: leaves where it says so, or another tree altogether.
  function reshape(self, shape) {
    const part = shape && shape.tree ? shape.tree : self.own;
    if (part !== self.model.part) use(self, part);
    treeModel.shape(self.model, shape && !shape.tree && shape.isLeaf ? shape.isLeaf : () => false);
    if (shape) {
      self.fresh = false;
      const forking = treeModel.forking(self.model);
      const cards = forking.reduce((sum, at) => sum + self.model.children[at].length, 1);
      if (cards <= treeModel.BUDGET) for (const at of forking) self.model.open.add(at);
    }
    const { touched } = self.view;
    changed(self, 0);
    if (!touched || treeDrawing.isLost(self)) self.view.again(self.rootX);
    tell(self, rest(self));
    if (self.shared) follow(self, state.get("row"));
  }

  function wayOf(self) {
    const place = self.model.place.get(self.path);
    self.way = new Set(place === undefined ? [] : treeModel.way(self.model, place));
  }

  function keep(self, id) {
    self.path = id !== null && self.model.place.has(id) ? id : null;
    if (self.path !== null) wayOf(self);
    treeDrawing.marks(self);
    tell(self, rest(self));
  }

  // The way of a row lights up; its end comes in sight. Where it takes several ways in part, the end with the most.
  function follow(self, row) {
    self.row = new Map();
    if (row) {
      const { part, place, isLeaf } = self.model;
      const found = route.way(part, self.columns, row.cells, isLeaf);
      self.row = new Map(found.map((step) => [place.get(step.node), step.share]));
      const [end] = route.leaves(part, found, isLeaf);
      if (end) {
        bring(self, place.get(end.node));
        tell(self, place.get(end.node));
      }
    }
    treeDrawing.marks(self);
  }

  // ---- what the reader does ----

  function bring(self, position) {
    const hidden = !self.widths.has(position);
    if (hidden && !treeModel.openTo(self.model, position)) return;
    if (hidden) {
      self.fresh = false;
      const open = self.box;
      self.box = { again: () => {} };
      changed(self, 0);
      self.box = open;
    }
    self.view.reveal(treeDrawing.boxOf(self, position));
    treeDrawing.draw(self);
  }

  function go(self, position) {
    if (position === undefined) return;
    bring(self, position);
    self.current = position;
    treeDrawing.draw(self);
    tell(self, position);
    inSight(self);
  }

  // The window on the tree is no taller than what the page's head and foot leave free.
  const inSight = (self) => self.frame.scrollIntoView({ block: "nearest" });

  function focus(self, position) {
    self.current = position;
    treeDrawing.focusCard(self);
    treeDrawing.marks(self);
  }

  function toggle(self, position) {
    const role = treeModel.role(self.model, position);
    if (role !== "open" && role !== "closed") return;
    if (role === "open") self.model.open.delete(position);
    else self.model.open.add(position);
    self.fresh = false;
    changed(self, position);
  }

  // One level more: what is closed nearest to the root; less: what is open farthest from it.
  function levels(self, by) {
    const { model, shown } = self;
    const candidates = shown.filter((at) => treeModel.role(model, at) === (by > 0 ? "closed" : "open"));
    if (!candidates.length) return;
    const depth = candidates.reduce((best, at) => by > 0 ? Math.min(best, model.nodes[at].depth) : Math.max(best, model.nodes[at].depth), by > 0 ? Infinity : -1);
    for (const at of candidates) {
      if (model.nodes[at].depth !== depth) continue;
      if (by > 0) model.open.add(at);
      else model.open.delete(at);
    }
    const { touched } = self.view;
    opened(self);
    if (!touched) self.view.fit(self.rootX, SMALLER);
  }

  function openAll(self) {
    for (const at of treeModel.forking(self.model)) self.model.open.add(at);
    opened(self);
    self.view.fit(self.rootX, BOXES);
  }

  function startAgain(self) {
    self.tallest = 0;
    openFirst(self);
    changed(self, 0);
    home(self);
  }

  function opened(self) {
    self.fresh = false;
    changed(self, 0);
  }

  function tell(self, position) {
    treePanel.show(self.panel, self.model, self.columns, position, self.path !== null && self.model.nodes[position].id === self.path);
  }

  // What the panel shows when the pointer is nowhere: the kept node, else the one with the focus.
  const rest = (self) => treeDrawing.nearest(self, self.path === null ? self.current : self.model.place.get(self.path));

  function letGo(self) {
    if (self.chosen) return;
    if (self.shared) state.set("path", null);
    else keep(self, null);
  }

  function choose(self, position) {
    const { id } = self.model.nodes[position];
    if (self.chosen) { self.chosen(self.model.nodes[position]); return; }
    const next = self.path === id ? null : id;
    if (self.shared) state.set("path", next);
    else keep(self, next);
  }

  function listen(self) {
    const cardOf = (event) => { const card = event.target.closest("[data-at]"); return card ? Number(card.dataset.at) : -1; };
    const host = self.cardsHost;
    host.addEventListener("click", (event) => {
      const at = cardOf(event);
      if (at < 0) return;
      self.current = at;
      if (event.target.closest("[data-toggle]")) toggle(self, at);
      else choose(self, at);
    });
    host.addEventListener("pointerover", (event) => { const at = cardOf(event); if (at >= 0 && event.pointerType === "mouse") tell(self, at); });
    host.addEventListener("pointerleave", () => tell(self, rest(self)));
    host.addEventListener("focusin", (event) => {
      const at = cardOf(event);
      if (at < 0) return;
      self.current = at;
      treeDrawing.marks(self);
      tell(self, at);
      if (event.target.matches(":focus-visible")) self.view.reveal(treeDrawing.boxOf(self, at));
    });
    host.addEventListener("keydown", (event) => { if (cardOf(event) >= 0) key(self, event); });
    self.frame.addEventListener("keydown", (event) => { if (event.key === "Escape") letGo(self); });
  }

  // The keys of the tree pattern of ARIA.
  function key(self, event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const { model, shown, current } = self;
    const at = shown.indexOf(current), role = treeModel.role(model, current);
    const next = {
      ArrowDown: () => shown[at + 1], ArrowUp: () => shown[at - 1], Home: () => shown[0], End: () => shown[shown.length - 1],
      ArrowRight: () => role === "closed" ? toggle(self, current) : role === "open" ? model.children[current][0] : undefined,
      ArrowLeft: () => role === "open" ? toggle(self, current) : model.parent[current] >= 0 ? model.parent[current] : undefined,
      Enter: () => choose(self, current), " ": () => choose(self, current),
      "*": () => { levels(self, 1); },
    }[event.key];
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    const to = next();
    if (to === undefined) return;
    self.view.reveal(treeDrawing.boxOf(self, to));
    focus(self, to);
    inSight(self);
  }

  // ---- paper, legend ----

  // All cards, whatever the window shows; the styles for paper see to the size.
  function print(self) {
    self.printing = true;
    treeDrawing.draw(self);
  }

  function unprint(self) {
    self.printing = false;
    treeDrawing.draw(self);
  }

  // Which colour is which class, of the heaviest where there are many.
  function legend(self) {
    const { part, nodes } = self.model;
    if (treeCards.isNumber(part)) {
      const between = numbers.value(part.low) < numbers.value(part.high);
      return dom.el("p", { class: "small muted" }, part.edges
        ? `${treeAsked.words(part)} Bars in a leaf: the test rows, from ${numbers.short(part.edges[0])} to ${numbers.short(part.edges[part.edges.length - 1])}. The higher a leaf's ${part.centre}, the stronger its colour.`
        : between ? `Dots: the ${part.centre}, from ${numbers.short(part.low)} to ${numbers.short(part.high)}.` : "");
    }
    return [part.outputs.map((labels, output) => classes(labels, nodes[0].values[output].map(numbers.value),
      part.outputs.length > 1 ? part.output_names[output] : "")), part.asked.length > 0 && dom.el("p", { class: "small muted" }, treeAsked.words(part))];
  }

  // Of many classes those with the most rows, until all are asked for.
  function classes(labels, counts, name) {
    const most = 12, few = labels.length > most;
    const inOrder = labels.map((_, code) => code);
    // In the order of the bars.
    const largest = [...inOrder].sort((a, b) => counts[b] - counts[a] || a - b).slice(0, most - 1).sort((a, b) => a - b);
    const list = dom.el("ul", { class: "legend", "aria-label": name ? `Classes of ${name}` : "Classes" });
    const items = (codes, all) => [
      name && dom.el("li", { class: "muted" }, name),
      few && dom.el("li", { class: "muted" }, all ? `all ${labels.length}:` : `the ${codes.length} largest of ${labels.length}:`),
      codes.map((code) => dom.el("li", { title: labels[code] },
        dom.el("span", { class: "swatch", style: { background: treeCards.color(code) } }),
        dom.el("span", { class: "legend-name" }, labels[code]))),
      few && dom.el("li", {}, dom.el("button", { type: "button", "aria-expanded": String(all), onclick: () => show(!all, true) }, all ? "fewer" : "all classes")),
    ];
    function show(all, again) {
      dom.fill(list, items(all || !few ? inOrder : largest, all));
      if (again) list.querySelector("button").focus();
    }
    show(false);
    return list;
  }

  // How much of the window the page's head and foot cover: the styles leave it free.
  function room() {
    for (const [name, selector] of [["--head", ".sections"], ["--foot", ".pruning-bar"]]) {
      const bar = document.querySelector(selector);
      if (bar) new ResizeObserver(() => document.documentElement.style.setProperty(name, `${bar.offsetHeight}px`)).observe(bar);
    }
  }

  function start() {
    const host = dom.byId("tree-host");
    room();
    if (host && state.summary.tree) mount(host, state.summary.tree, { shared: true });
  }

  return { start, mount };
})();
