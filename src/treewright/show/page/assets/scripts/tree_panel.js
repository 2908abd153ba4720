// What stands beside the tree about the node under the pointer, or the one that has the focus: the rule that leads there,
// its numbers to the last digit that matters, and what else the split could have asked.
const treePanel = (() => {
  const WAY = 24, CLASSES = 12;
  const exact = (held) => numbers.short(held, 6);

  // Conditions of the rule, one per column; where the page holds none the answers on the way, those nearest last.
  function rule(model, columns, position) {
    const node = model.nodes[position];
    if (position === 0) return dom.el("p", { class: "muted small" }, "Every row reaches the root.");
    if (node.rule) return dom.el("ul", { class: "rule" }, node.rule.map((text) => dom.el("li", {}, numbers.typographic(text))));
    const steps = treeModel.way(model, position);
    const shown = steps.slice(Math.max(1, steps.length - WAY));
    return [
      shown.length < steps.length - 1 && dom.el("p", { class: "muted small" }, `${numbers.counted(steps.length - 1 - shown.length, "test")} before, then:`),
      dom.el("ul", { class: "rule" }, shown.map((at) =>
        dom.el("li", {}, `${asked(model, columns, model.parent[at])} ${numbers.typographic(model.nodes[at].edge)}`))),
    ];
  }

  const asked = (model, columns, position) => {
    const test = model.nodes[position].test;
    return test && columns[test.column] ? columns[test.column].name : `node ${model.nodes[position].id}`;
  };

  const row = (name, value) => dom.el("div", {}, dom.el("dt", {}, name), dom.el("dd", {}, value));

  function facts(model, position, inner) {
    const node = model.nodes[position], part = model.part, cut = treeModel.cutAway(model, position);
    return dom.el("dl", { class: "tree-facts" },
      row("training rows", numbers.short(node.n_rows)),
      position > 0 && model.nodes[0].n_rows > 0 && row("share of all", numbers.percent(node.n_rows / model.nodes[0].n_rows)),
      part.weighted && row("weight", exact(node.weight)),
      row(treeCards.criterion(part), exact(node.impurity)),
      inner && node.gain !== null && row("gain of the test", exact(node.gain)),
      inner && missing(model, position),
      model.standing[position] > 0 && row("nodes below", numbers.short(model.standing[position])),
      cut > 0 && row(inner ? "pruned below" : "nodes below", inner ? numbers.counted(cut, "node") : `${numbers.short(cut)} pruned`));
  }

  // What a class has in a node: rows, their weight, or, of a tree grown on probabilities, the sum of those.
  function amounts(model, output) {
    if (model.part.weighted) return "weight";
    return model.nodes[0].values[output].every((count) => Number.isInteger(numbers.value(count))) ? "rows" : "sum of probabilities";
  }

  // One output's classes, the heaviest first, beside what the test rows have.
  function classTable(model, node, output) {
    const labels = model.part.outputs[output], counts = node.values[output].map(numbers.value);
    const judged = output === 0 && node.judged ? node.judged : null;
    const total = counts.reduce((sum, held) => sum + held, 0);
    const order = labels.map((_, code) => code).filter((code) => counts[code] > 0 || (judged && judged[code] > 0))
      .sort((a, b) => counts[b] - counts[a] || a - b);
    const name = model.part.output_names[output];
    const most = numbers.named(order.length, CLASSES);
    const body = order.slice(0, most).map((code) => dom.el("tr", {},
      dom.el("th", { scope: "row" }, dom.el("span", { class: "swatch", style: { background: treeCards.color(code) } }), labels[code]),
      dom.el("td", { class: "number", "data-count": code }, exact(counts[code])),
      dom.el("td", { class: "number" }, total > 0 ? numbers.percent(counts[code] / total) : "-"),
      judged && dom.el("td", { class: "number" }, exact(judged[code]))));
    return dom.el("table", { class: "tree-table" },
      dom.el("caption", {}, model.part.outputs.length > 1 ? `Classes of ${name}` : "Classes"),
      dom.el("thead", {}, dom.el("tr", {}, ["class", amounts(model, output), "share", judged && "test rows"].filter(Boolean)
        .map((text, at) => dom.el("th", { scope: "col", class: at ? "number" : null }, text)))),
      dom.el("tbody", {}, body, order.length > most && dom.el("tr", {}, dom.el("td", { colspan: judged ? 4 : 3 },
        `${numbers.counted(order.length - most, "more class", "more classes")}`))));
  }

  function value(model, position) {
    const node = model.nodes[position], part = model.part;
    if (!treeCards.isNumber(part)) return node.values.map((_, output) => classTable(model, node, output));
    const named = (output) => part.outputs.length > 1 ? ` of ${part.output_names[output]}` : "";
    const lines = dom.el("dl", { class: "tree-facts" }, node.values.map((held, output) => row(part.centre + named(output), exact(held[0]))));
    if (!part.edges || !node.judged) return lines;
    const judged = node.judged.reduce((sum, held) => sum + held, 0);
    return [lines, dom.el("figure", { class: "tree-histogram" },
      dom.el("figcaption", { class: "muted small" },
        `${exact(judged)} of the test rows, from ${numbers.short(part.edges[0])} to ${numbers.short(part.edges[part.edges.length - 1])}`),
      treeCards.histogram(node.judged))];
  }

  // What stands in where the node's own column is missing.
  function surrogates(model, position) {
    const { test } = model.nodes[position];
    if (!test || !test.surrogates.length) return null;
    return [dom.el("h4", {}, "If its column is missing"),
      dom.el("ul", { class: "rule" }, test.surrogates.map((one) => dom.el("li", {}, numbers.typographic(one.text))))];
  }

  // Where a missing value goes if nothing stands in; nothing to say where all branches get a part, or none comes.
  function missing(model, position) {
    const { test } = model.nodes[position];
    const branch = test ? model.children[position][test.missing] : undefined;
    if (branch === undefined || ["fractional", "error"].includes(model.part.missing)) return null;
    return row(test.surrogates.length ? "else missing values to" : "missing values to", `node ${model.nodes[branch].path ?? model.nodes[branch].id}`);
  }

  function audit(model, position) {
    const node = model.nodes[position];
    // Of trees that are grown otherwise nobody expects it: they have no note.
    if (!node.audit.length) return model.part.audit_note ? dom.el("p", { class: "small muted", "data-name": "audit-note" }, model.part.audit_note) : null;
    return dom.el("table", { class: "tree-table tree-audit" },
      dom.el("caption", {}, "Candidates: the best test of each column"),
      dom.el("thead", {}, dom.el("tr", {}, dom.el("th", { scope: "col" }, "test"), dom.el("th", { scope: "col", class: "number" }, "gain"),
        dom.el("th", { scope: "col", class: "number" }, "score"))),
      dom.el("tbody", {}, node.audit.map((one) => dom.el("tr", { class: one.chosen ? "is-chosen" : null },
        dom.el("th", { scope: "row" }, numbers.typographic(one.question), one.chosen && dom.el("span", { class: "chosen" }, " (chosen)")),
        dom.el("td", { class: "number" }, numbers.short(one.gain)), dom.el("td", { class: "number" }, numbers.short(one.score))))));
  }

  function show(host, model, columns, position, kept) {
    const node = model.nodes[position], role = treeModel.role(model, position);
    const leaf = role === "leaf" || role === "cut";
    host.dataset.node = node.id;
    dom.fill(host,
      dom.el("h3", {}, `${role === "leaf" ? "Leaf" : "Node"} ${node.id}${node.by_hand && node.by_hand.name ? `: ${node.by_hand.name}` : ""}`, kept && dom.el("span", { class: "kept" }, "path kept (Escape releases it)")),
      dom.el("p", { class: "tree-asks" }, leaf ? `predicts ${node.said}` : `tests ${numbers.typographic(node.question)}`),
      !leaf && dom.el("p", { class: "small muted" }, `As a leaf it would predict ${node.said}.`),
      role === "cut" && dom.el("p", { class: "small muted" },
        `The ${numbers.counted(node.hidden, "node")} below are not in this page, which holds the nodes with the most rows.`),
      !node.n_rows && dom.el("p", { class: "small muted" }, "No training row reached this leaf: it predicts like its parent."),
      dom.el("h4", {}, "The rule"), rule(model, columns, position),
      !leaf && treeAsked.figure(model, columns, position),
      dom.el("h4", {}, "Numbers"), facts(model, position, !leaf), value(model, position),
      !leaf && surrogates(model, position), !leaf && audit(model, position));
  }

  return { show };
})();
