// What can be done at the node that was chosen, what it could ask, and the question that is being changed.
const nodePane = (() => {
  const ORDERS = {
    gain: ["gain", (one, other) => other.gain - one.gain], cost: ["cost", (one, other) => one.cost - other.cost],
    p: ["adj. p", (one, other) => other.log_worth - one.log_worth || other.gain - one.gain],
    column: ["question", (one, other, columns) => columns[one.column].name.localeCompare(columns[other.column].name)],
  };

  function make(bench) {
    const self = { bench, path: null, order: "gain", column: null, question: null, turn: 0 };
    self.title = dom.el("h2", { tabindex: "-1", id: "bench-node-title" });
    self.actions = dom.el("div", { class: "bench-actions", role: "toolbar", "aria-label": "What to do here" });
    self.more = dom.el("div", { class: "bench-more" });
    self.why = dom.el("input", { type: "text", id: "bench-why", autocomplete: "off", placeholder: "for the log", maxlength: 500 });
    self.candidates = dom.el("div", { class: "bench-candidates" });
    self.host = dom.el("div", { class: "bench-question-host" });
    self.details = dom.el("div", { class: "tree-panel bench-details", role: "region", tabindex: "0", "aria-label": "Numbers of the node" });
    self.paper = dom.el("details", { class: "bench-paper", ontoggle: () => arithmetic(self) }, dom.el("summary", {}, "Arithmetic"), dom.el("pre", { tabindex: "0" }));
    const element = dom.el("section", { class: "bench-node", "aria-labelledby": "bench-node-title" }, self.title, self.actions, self.more,
      dom.el("p", { class: "bench-reason" }, dom.el("label", { for: "bench-why" }, "Reason"), self.why),
      self.candidates, self.host, self.paper,
      dom.el("details", { open: true }, dom.el("summary", {}, "Numbers of this node"), self.details));
    self.element = element;
    return { element, show: (path, model, position) => show(self, path, model, position), act: (name) => act(self, name) };
  }

  // Do a command here with the reason that was written; it stays where the command is refused.
  async function run(self, what, given = {}) {
    const why = self.why.value.trim();
    if (await self.bench.run(what, self.path, given, why) && self.why.value.trim() === why) self.why.value = "";
  }

  // Show a node, which may be the same as before with other numbers.
  function show(self, path, model, position) {
    const { bench } = self, node = model.nodes[position], leaf = !model.children[position].length && !node.hidden;
    if (path !== self.path) {
      self.column = self.wanted = null;
      // A reason is one for the node that it was written at.
      self.why.value = "";
      self.element.scrollTop = 0;
    }
    const had = self.had = self.element.contains(document.activeElement);
    Object.assign(self, { path, node, leaf, model, position });
    const said = [node.locked && "locked", node.decided && "decided"].filter(Boolean).join(", ");
    self.title.textContent = `${path === "" ? "Root" : `${leaf ? "Leaf" : "Node"} ${path}`}${node.name ? `: ${node.name}` : ""}${said ? ` (${said})` : ""}`;
    dom.fill(self.more);
    dom.fill(self.actions, buttons(self));
    treePanel.show(self.details, model, bench.state.columns, position, false);
    self.paper.open = false;
    // What had the focus may be gone or greyed.
    if (had && !self.element.contains(document.activeElement)) self.title.focus({ preventScroll: true });
    offers(self);
  }

  function buttons(self) {
    const { node, leaf, bench } = self, opened = Boolean(bench.state.opened);
    const locked = node.locked || bench.isLocked(self.path), pure = numbers.value(node.impurity) === 0;
    const button = (name, text, title, can = true) => dom.el("button", { type: "button", title, "data-act": name, disabled: opened || !can, onclick: () => act(self, name) }, text);
    return [
      button("grow", "Grow a level", "Let the algorithm ask one more question here (G)", !locked && leaf && !pure && !node.decided),
      button("grow_end", "Grow to the end", "Let the algorithm grow all below (Shift+G)", !locked && !(leaf && (pure || node.decided))),
      button("prune", "Prune", "Make it a leaf (Delete)", !locked && !leaf),
      node.locked ? button("unlock", "Unlock", "Let it change again (L)") : button("lock", "Lock", "Protect it and the nodes below it from changes (L)", !locked),
      button("rename", "Name", "Give it a name (N)"),
      button("decide", "Decide", "Set what it predicts (D)", !locked && leaf),
      self.model.children[self.position].length > 2 && button("merge", "Merge", "Make one branch of several", !locked),
    ];
  }

  // A command by its name: some ask for a word first.
  function act(self, name) {
    if (self.actions.querySelector(`[data-act="${name}"]:disabled`)) return;
    if (name === "grow") run(self, "grow", { levels: 1 });
    else if (name === "grow_end") run(self, "grow");
    else if (name === "rename") form(self, "Name", [dom.el("input", { type: "text", value: self.node.name, maxlength: 100, "aria-label": "Name of the node" })], (input) => { run(self, "rename", { name: input.value.trim() }); });
    else if (name === "decide") decide(self);
    else if (name === "merge") merge(self);
    else if (["prune", "lock", "unlock"].includes(name)) run(self, name);
  }

  function form(self, label, fields, done) {
    dom.fill(self.more, dom.el("form", { class: "bench-form", onsubmit: (event) => { event.preventDefault(); if (done(...fields) !== false) dom.fill(self.more); } },
      fields, dom.el("button", { type: "submit" }, label), dom.el("button", { type: "button", onclick: () => { dom.fill(self.more); self.title.focus(); } }, "Cancel")));
    self.more.querySelector("input, select").focus();
  }

  function decide(self) {
    const { labels } = self.bench.state;
    const field = labels.length
      ? dom.el("select", { "aria-label": "What the leaf predicts" }, self.node.decided && dom.el("option", { value: "" }, "by its rows"), labels.map((label, code) => dom.el("option", { value: code, selected: code === self.node.code }, label)))
      : dom.el("input", { type: "number", step: "any", required: !self.node.decided, placeholder: self.node.decided ? "empty: by its rows" : "", "aria-label": "What the leaf predicts" });
    form(self, "Decide", [field], (input) => {
      if (!self.why.value.trim()) { self.bench.say("A decision against the rows needs a reason.", true); self.why.focus(); return false; }
      run(self, "decide", { value: input.value === "" ? null : Number(input.value) });
      return true;
    });
  }

  function merge(self) {
    const boxes = self.model.children[self.position].map((at, branch) => dom.el("input", { type: "checkbox", value: branch, "aria-label": self.model.nodes[at].edge }));
    const fields = boxes.map((box, branch) => dom.el("label", {}, box, self.model.nodes[self.model.children[self.position][branch]].edge));
    form(self, "Merge", fields, () => {
      const branches = boxes.filter((box) => box.checked).map((box) => Number(box.value));
      if (branches.length < 2) { self.bench.say("Choose two branches or more.", true); return false; }
      run(self, "merge", { branches });
      return true;
    });
  }

  // ---- what it could ask ----

  async function offers(self) {
    const turn = ++self.turn, { bench, path } = self;
    dom.fill(self.host);
    const answer = await bench.ask({ ask: "candidates", path }, { quiet: true });
    if (turn !== self.turn) return;
    if (answer.error) { dom.fill(self.candidates, dom.el("p", { class: "muted" }, answer.error)); return; }
    self.found = answer;
    table(self);
    const first = answer.asked ? answer.asked.column : answer.candidates.length ? answer.candidates[0].column : null;
    const column = answer.asked ? first : self.wanted ?? first;
    if (column !== null) choose(self, column);
  }

  function table(self) {
    const { columns } = self.bench.state, { candidates, asked, others } = self.found, [, compare] = ORDERS[self.order];
    const sorted = [...candidates].sort((one, other) => compare(one, other, columns));
    const head = (order, kind, title) => dom.el("th", { scope: "col", class: kind, title, "aria-sort": self.order === order ? (order === "gain" ? "descending" : "ascending") : null },
      dom.el("button", { type: "button", class: "bench-sort", "data-order": order, onclick: () => { self.order = order; table(self); self.candidates.querySelector(`[data-order="${order}"]`).focus(); } }, ORDERS[order][0]));
    // Dates are numbers of days; who reads them wants the day.
    const asks = ({ column, words, cut }) => columns[column].dates && cut !== null ? `\u2264 ${numbers.ofColumn(columns[column], cut)}` : words;
    const row = (column, words, cells) => dom.el("tr", { class: asked && asked.column === column ? "is-chosen" : null },
      dom.el("th", { scope: "row" }, dom.el("button", { type: "button", class: "bench-ask", "data-column": column, "aria-pressed": String(column === self.column), onclick: () => choose(self, column, true) }, columns[column].name, words ? ` ${words}` : "")), cells);
    const number = (value) => dom.el("td", { class: "number" }, numbers.short(value, 3));
    dom.fill(self.candidates,
      asked && dom.el("p", { class: "bench-asked" }, `Splits by ${numbers.typographic(self.node.question)}: gain ${numbers.short(asked.gain)}, cost ${numbers.short(asked.cost)}.`),
      numbers.value(self.node.impurity) === 0 && dom.el("p", { class: "muted" }, "All rows here have the same target."),
      dom.el("div", { class: "table-wrap bench-offers", tabindex: "0", role: "region", "aria-label": "Possible questions of this node" },
        dom.el("table", {}, dom.el("thead", {}, dom.el("tr", {}, head("column"), head("gain", "number"), head("cost", "number"), head("p", "number", "Adjusted for all possible questions of the node"))),
          dom.el("tbody", {}, sorted.map((each) => row(each.column, asks(each), [number(each.gain), number(each.cost), dom.el("td", { class: "number", title: `log worth ${numbers.short(each.log_worth, 3)}` }, question.chance(each.adjusted_p_value))])),
            others.map((column) => row(column, "", [dom.el("td", { class: "muted", colspan: 3 }, "no candidate")]))))));
  }

  // The picture of one column, with the question that can be changed and asked.
  async function choose(self, column, byHand = false) {
    if (column === null) return;
    const { bench, path } = self, turn = ++self.turn;
    self.column = column;
    if (byHand) self.wanted = column;
    for (const each of self.candidates.querySelectorAll(".bench-ask")) each.setAttribute("aria-pressed", String(Number(each.dataset.column) === column));
    const answer = await bench.ask({ ask: "column", path, column }, { quiet: true });
    if (turn !== self.turn) return;
    if (answer.error) { dom.fill(self.host, dom.el("p", { class: "muted" }, answer.error)); return; }
    const { picture } = answer, can = !bench.state.opened && !self.node.locked && !bench.isLocked(path);
    const below = self.model.children[self.position].map((at) => self.model.nodes[at].edge);
    const made = question.make(bench, path, picture, bench.state.columns, picture.is_asked ? below : []);
    // Of several cuts, or of none, no line can be dragged.
    const movable = picture.kind === "nominal" || picture.cuts.length === 1;
    const ask = (what) => { if (made.given().cut !== undefined || made.given().moved) run(self, what, made.given()); };
    made.enter(() => { if (can) ask(picture.is_asked ? "move" : "split"); });
    dom.fill(self.host, made.element, dom.el("p", { class: "bench-buttons" },
      picture.is_asked && dom.el("button", { type: "button", class: "is-main", "data-do": "move", title: movable ? "The nodes below stay, with other rows" : "This question has no single cut: move it in Python, or split anew", disabled: !can || !movable, onclick: () => ask("move") }, picture.kind === "nominal" ? "Move the levels" : "Move the cut"),
      dom.el("button", { type: "button", class: picture.is_asked ? null : "is-main", "data-do": "split", title: self.leaf ? null : "The nodes below are removed", disabled: !can, onclick: () => ask("split") },
        picture.is_asked ? "Split anew" : self.leaf ? "Split here" : "Split by this instead")));
    if (self.had && document.activeElement === document.body) self.title.focus({ preventScroll: true });
    self.had = false;
    if (byHand) self.host.scrollIntoView({ block: "nearest" });
  }

  async function arithmetic(self) {
    const text = self.paper.querySelector("pre");
    if (!self.paper.open) { text.textContent = ""; return; }
    const answer = await self.bench.ask({ ask: "audit", path: self.path }, { quiet: true });
    text.textContent = answer.error || answer.text;
  }

  return { make };
})();
