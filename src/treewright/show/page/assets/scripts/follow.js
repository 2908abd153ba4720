// Follow a row: choose an example or type values, see the way, the leaf, and what would have to change.
const follow = (() => {
  const MOST_BESIDE = 3; // cards of changes that stand beside the way
  const summary = state.summary;
  const self = { cells: [], label: "", waiting: false, target: null };

  const part = () => summary.examples;
  const columns = summary.columns;
  const onPage = (tree) => tree === summary.tree;

  // The tree that is shown, and where it ends. What stands below a node that is folded in another tree nobody knows here.
  function shown() {
    const shape = state.get("shape");
    if (!shape) return { tree: summary.tree, isLeaf: () => false, name: null };
    const isLeaf = shape.tree && !onPage(shape.tree) ? (node) => node.hidden === 0 && shape.isLeaf(node) : shape.isLeaf;
    return { tree: shape.tree || summary.tree, isLeaf, name: shape.title };
  }

  // What a node of the page's own tree rests on; of other trees the page does not know it.
  function supportOf(tree, node) {
    if (!onPage(tree)) return null;
    self.places = self.places || new Map(tree.nodes.map((each, at) => [each.id, at]));
    return part().supports[self.places.get(node.id)];
  }

  // Columns in the order in which the tree asks about them, those near the root first.
  function askedColumns() {
    const nodes = summary.tree.nodes.filter((node) => node.test).sort((one, other) => one.depth - other.depth);
    const found = new Set(nodes.map((node) => node.test.column));
    for (const node of nodes) for (const surrogate of node.test.surrogates) found.add(surrogate.column);
    return [...found];
  }

  // Cells of JSON: infinite numbers are texts there.
  const cellOf = (held) => held === null ? null : numbers.value(held);
  function middle() {
    const cells = columns.map((column) => column.kind !== "numeric" ? 0 : column.middle === null ? null : cellOf(column.middle));
    return columns.map((column, at) => column.part ? numbers.madeOf(columns, at, cells) : cells[at]);
  }

  function start() {
    const host = dom.byId("follow-host");
    if (!host || !summary.tree || !part()) return;
    const policy = { unseen: part().unseen };
    self.fields = followFields.fields(columns, askedColumns(), policy, typed);
    self.told = dom.el("div", { class: "follow-told" });
    self.changes = dom.el("div", { class: "follow-changes" });
    self.status = dom.el("p", { class: "visually-hidden", role: "status" });
    dom.fill(host, dom.el("div", { class: "follow-grid" },
      dom.el("div", { class: "follow-form" }, chooser(), self.fields.element), self.told, self.changes), self.status);
    const first = part().rows[0];
    if (first) choose(0, false);
    else put(middle(), "middle values", false);
    state.on("shape", later);
    state.on("row", (row) => {
      if (!row || row.cells === self.cells) return;
      put(row.cells, row.label, false);
    });
  }

  const nameOf = (row) => row.name || String(row.number);

  // Examples, one after another or the wrong answers only.
  function chooser() {
    const { rows } = part();
    if (!rows.length) return null;
    const wrong = rows.some((row) => row.right === false);
    self.only = wrong ? dom.el("input", { type: "checkbox", id: "follow-wrong", onchange: offer }) : null;
    self.select = dom.el("select", { id: "follow-example", onchange: () => { if (self.select.value !== "") choose(Number(self.select.value), true); } });
    offer();
    return dom.el("div", { class: "follow-chooser" },
      dom.el("label", { for: "follow-example" }, "Row"), self.select,
      dom.el("button", { type: "button", onclick: () => move(-1), "aria-label": "Previous row" }, "‹"),
      dom.el("button", { type: "button", onclick: () => move(1), "aria-label": "Next row" }, "›"),
      self.only ? dom.el("label", { class: "small follow-only" }, self.only, "wrong predictions only") : null,
      dom.el("p", { class: "small muted follow-counted" }, rows[0].name ? "Rows are named by the index of the table." : "Rows are counted from 0 among the test rows."));
  }

  function offer() {
    const listed = part().rows.map((row, at) => ({ row, at })).filter(({ row }) => !self.only || !self.only.checked || row.right === false);
    const said = (row) => `${nameOf(row)}: ${row.truth}, ${row.right === true ? "correct" : `predicted ${row.said}`}`;
    const before = self.select.value;
    dom.fill(self.select, dom.el("option", { value: "" }, "values of your own"),
      listed.map(({ row, at }) => dom.el("option", { value: at }, said(row))));
    self.select.value = [...self.select.options].some((option) => option.value === before) ? before : "";
    if (self.only && self.only.checked && self.select.value === "" && listed.length) choose(listed[0].at, true);
  }

  function move(by) {
    const options = [...self.select.options].filter((option) => option.value !== "");
    const at = options.findIndex((option) => option.value === self.select.value);
    const next = options[at < 0 ? 0 : (at + by + options.length) % options.length];
    if (next) choose(Number(next.value), true);
  }

  function choose(at, shared) {
    const row = part().rows[at];
    if (self.select) self.select.value = String(at);
    put(row.cells.map(cellOf), `row ${nameOf(row)}`, shared);
    self.example = row;
    tell();
  }

  // Take over cells; `shared`: tell the other sections.
  function put(cells, label, shared) {
    self.cells = cells;
    self.label = label;
    self.example = null;
    self.fields.write(cells);
    if (self.select && !label.startsWith("row ")) self.select.value = "";
    if (shared) state.set("row", { cells, label });
    later();
  }

  function typed() {
    if (self.fields.wrong()) return;
    const cells = self.fields.read();
    const same = cells.every((cell, at) => Object.is(cell, self.cells[at]));
    if (!same) {
      self.cells = cells;
      self.label = "values of your own";
      self.example = null;
      if (self.select) self.select.value = "";
      state.set("row", { cells, label: self.label });
    }
    later();
  }

  // At most once per picture, however fast a slider moves.
  function later() {
    if (self.waiting) return;
    self.waiting = true;
    requestAnimationFrame(() => { self.waiting = false; tell(); });
  }

  function tell() {
    const { tree, isLeaf, name } = shown(), cells = self.cells;
    const found = route.way(tree, columns, cells, isLeaf);
    if (!found.length) {
      dom.fill(self.told, dom.el("p", { class: "note" }, "This model refuses rows with missing values: fill in every value."));
      dom.fill(self.changes);
      return;
    }
    const ends = route.leaves(tree, found, isLeaf), leaf = route.index(tree).byId.get(ends[0].node);
    const answer = answerOf(tree, ends), changes = changePane(tree, isLeaf, answer);
    // Beside the way, many cards would be one long column with nothing to its left.
    const isBeside = changes.querySelectorAll(".follow-card").length <= MOST_BESIDE;
    dom.fill(self.changes, isBeside ? null : changes);
    dom.fill(self.told,
      dom.el("div", { class: "follow-way" }, dom.el("h3", {}, "The path"),
        dom.el("ol", { class: "follow-steps" }, followTold.steps(tree, columns, cells, found, leaf.id, (node) => (supportOf(tree, node) || { absent: [] }).absent))),
      dom.el("div", { class: "follow-says" }, leafPane(tree, leaf, ends, answer, name), isBeside ? changes : null));
    const words = `${self.label}: ${answer.said}, leaf ${leaf.id}`;
    if (self.status.textContent !== words) self.status.textContent = words; // what did not change is not told again
  }

  // What the tree says: of a row in several leaves their average, by its share in each.
  function answerOf(tree, ends) {
    const { byId } = route.index(tree), labels = tree.outputs[0];
    const leaves = ends.map(({ node, share }) => ({ node: byId.get(node), share })).sort((one, other) => one.node.id - other.node.id);
    if (!labels.length) {
      const number = leaves.reduce((sum, { node, share }) => sum + share * numbers.value(node.values[0][0]), 0);
      return { number, said: leaves.length === 1 ? leaves[0].node.said : numbers.short(number) };
    }
    const shares = labels.map(() => 0);
    for (const { node, share } of leaves) {
      const whole = node.values[0].reduce((sum, count) => sum + count, 0);
      node.values[0].forEach((count, code) => { shares[code] += share * count / whole; });
    }
    if (leaves.length === 1) return { shares, code: leaves[0].node.code, said: leaves[0].node.said };
    const [positive, least] = tree.threshold || [];
    const code = tree.threshold ? (shares[positive] >= least ? positive : 1 - positive) : shares.indexOf(Math.max(...shares));
    return { shares, code, said: labels[code] };
  }

  // What all trees together say: of an example Python's word, else that of the model's own script, if the page holds it.
  function together() {
    if (!summary.ensemble) return null;
    if (self.example) return self.example.said;
    if (typeof model === "undefined") return null;
    try {
      const said = model.predict(model.columns.map((_, at) => route.isMissing(self.cells[at]) ? NaN : self.cells[at]));
      return model.classes.length ? summary.tree.outputs[0][model.classes[0].indexOf(said)] : numbers.short(said);
    } catch {
      return "no prediction";
    }
  }

  function leafPane(tree, leaf, ends, answer, name) {
    const several = ends.length > 1, folded = leaf.hidden > 0 && !leaf.test, held = several ? null : supportOf(tree, leaf);
    const interval = held && held.intervals[0] ? held.intervals[0].map(numbers.value) : null;
    const truth = self.example ? dom.el("p", { class: "small" }, `The target of row ${nameOf(self.example)}: `, dom.el("strong", {}, self.example.truth)) : null;
    const said = together(), why = self.example && self.example.why ? `: ${self.example.why}` : "";
    const all = said && dom.el("p", { class: "small" }, "All trees together predict ", dom.el("strong", { "data-name": "follow-all" }, said), why);
    const reason = !several ? leaf.why : self.example && onPage(tree) && !summary.ensemble ? self.example.why : "";
    const where = several
      ? `in ${ends.length} leaves, most of it in leaf ${leaf.id} (${followTold.percent(ends[0].share)})`
      : `${folded ? "node, folded in this page," : "leaf"} ${leaf.id}, ${numbers.counted(leaf.n_rows, "training row")}`;
    return dom.el("div", { class: "follow-leaf" },
      dom.el("h3", {}, "The prediction"),
      dom.el("p", { class: "follow-answer" }, dom.el("strong", { "data-name": "follow-said", tabindex: -1 }, answer.said), " ",
        dom.el("span", { class: "muted", "data-name": "follow-leaf", "data-leaf": leaf.id }, where)),
      reason ? dom.el("p", { class: "small", "data-name": "follow-why" }, `Predicts ${answer.said}: ${reason}.`) : null,
      all, truth,
      answer.shares ? followTold.distribution(tree, answer.shares, answer.code, interval, several ? "in its leaves" : folded ? "in this node" : "in the leaf") : followTold.onScale(tree, answer.number, interval),
      interval ? dom.el("p", { class: "small muted", "data-name": "follow-interval" }, intervalText(answer, interval)) : null,
      name ? dom.el("p", { class: "small muted" }, `In the tree as it is shown: ${name}.`) : null);
  }

  function intervalText(answer, interval) {
    const level = followTold.percent(part().level, 0);
    if (answer.shares) {
      return `${level} interval of the share of ${summary.tree.outputs[0][answer.code]}: `
        + `${followTold.percent(interval[0])} to ${followTold.percent(interval[1])} (${part().interval})`;
    }
    return `${level} interval of the mean: ${numbers.short(interval[0])} to ${numbers.short(interval[1])} (${part().interval})`;
  }

  function changePane(tree, isLeaf, answer) {
    const host = dom.el("div", { class: "follow-cards" });
    const task = {
      tree, columns, cells: self.cells, isLeaf, keep: self.fields.kept(), scales: part().scales.map(numbers.value),
      levels: (node, column) => {
        const held = supportOf(tree, node), pair = held && held.levels.find(([at]) => at === column);
        return pair ? pair[1] : undefined;
      },
    };
    const wants = answer.shares ? classWants(tree, answer) : numberWants(answer);
    dom.fill(host, followTold.cards(columns, wants, change.find(task, wants.map((want) => want.holds)), tryIt, self.fields.nKept()));
    const title = answer.shares ? "What would have to change for another class" : "What would have to change for another number";
    const several = tree.outputs.length > 1 ? dom.el("p", { class: "small muted" }, `For the first of several targets: ${tree.output_names[0] || "it has no name"}.`) : null;
    return dom.el("div", { class: "follow-change" }, dom.el("h3", {}, title), several, answer.shares ? null : targetField(), host);
  }

  const classWants = (tree, answer) => tree.outputs[0].map((title, code) => ({ title, code, holds: (node) => node.code === code }))
    .filter((want) => want.code !== answer.code);

  function numberWants(answer) {
    const said = (node) => numbers.value(node.values[0][0]);
    const wants = [
      { title: "a greater number", holds: (node) => said(node) > answer.number },
      { title: "a smaller number", holds: (node) => said(node) < answer.number },
    ];
    const { at, number } = self.target || {};
    if (number === undefined) return wants;
    const holds = at === "least" ? (node) => said(node) >= number : (node) => said(node) <= number;
    return [{ title: `at ${at} ${numbers.short(number, 12)}`, holds }, ...wants];
  }

  // For numbers: which one is wanted. Drawn anew with every answer, so the focus goes back to where it was.
  function targetField() {
    const { at = "least", number } = self.target || {};
    const which = dom.el("select", { id: "follow-which", "aria-label": "Bound", onchange: asked },
      ["least", "most"].map((each) => dom.el("option", { value: each, selected: each === at }, `at ${each}`)));
    const field = dom.el("input", { type: "text", inputmode: "decimal", id: "follow-target", "aria-label": "Wanted number", value: number === undefined ? null : number, onchange: asked });
    function asked(event) {
      const wanted = field.value.trim() === "" ? NaN : Number(field.value);
      self.target = { at: which.value, number: Number.isNaN(wanted) ? undefined : wanted };
      tell();
      dom.byId(event.target.id).focus();
    }
    return dom.el("p", { class: "follow-target" }, dom.el("span", {}, "Wanted: "), which, " ", field);
  }

  // The nearest values that are easy to read, so far as they will do.
  function tryIt(want, one) {
    const cells = [...self.cells];
    for (const { column, after, bound } of one.changes) {
      cells[column] = columns[column].dates === "date" ? wholeDay(after, bound) : columns[column].kind === "numeric" ? readable(after, bound) : after;
    }
    put(cells, `changed for ${want.title}`, true);
    tell();
    // The button is gone with the old answer: go on at the new one.
    self.told.querySelector("[data-name=follow-said]").focus();
  }

  const wholeDay = (after, bound) => Math.ceil(after) <= bound.upper ? Math.ceil(after) : Math.floor(after);

  // With as many digits as the edge is written with: just above 2.45 is 2.46.
  function readable(after, bound) {
    if (!Number.isFinite(after) || after === 0) return after;
    const written = String(Number(after.toPrecision(12))).replace(/e.*|[^0-9]/g, "").replace(/^0+/, "").length;
    for (let digits = Math.max(3, written); digits < 17; digits++) {
      const near = Number(after.toPrecision(digits)), unit = 10 ** (Math.floor(Math.log10(Math.abs(after))) + 1 - digits);
      for (const each of [near, near + unit, near - unit].map((number) => Number(number.toPrecision(digits)))) {
        if (each > bound.lower && each <= bound.upper) return each;
      }
    }
    return after;
  }

  return { start };
})();
