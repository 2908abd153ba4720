// Contributions: a swarm of the test rows, and a waterfall for the row that is followed: of all trees for rows of the
// table, of the tree in the picture for values of a reader's own, which all trees are not here to answer.
const contributions = (() => {
  const { FONT, text, rule } = chartAxes;
  const LINE = 30, BAR = 18, RADIUS = 2.6;
  const summary = state.summary;
  let part = null, output = 0, chosen = false;

  const pixel = (value) => Math.round(value * 10) / 10;
  const colorOf = (place) => place === null ? "var(--muted)" : `color-mix(in oklab, var(--class-1) ${Math.round(place * 100)}%, var(--class-0))`;
  const nameOf = (at) => summary.columns[at].name;
  const signed = (value) => `${value < 0 ? "\u2212" : "+"}${numbers.short(Math.abs(value))}`;

  // Names at the left take a third of the width, on a phone some more; the whole name is in a title.
  function names(labels, width, top) {
    const room = Math.min(width < 420 ? 0.42 * width : width / 3, Math.max(...labels.map(chartAxes.textWidth)) + 8);
    return { room, drawn: labels.map((label, at) => {
      const words = chartAxes.fit(label, room - 8), drawn = text(0, top + (at + 0.5) * LINE + FONT / 3, words, { class: "chart-text contributions-name" });
      if (words !== label) drawn.append(dom.svg("title", {}, label));
      return drawn;
    }) };
  }

  // Dots that would lie on each other move apart, up and down in turn, as far as the line has room.
  function offsets(xs) {
    const columns = new Map();
    return xs.map((x) => {
      const cell = Math.round(x / (1.6 * RADIUS)), count = columns.get(cell) || 0;
      columns.set(cell, count + 1);
      const by = Math.ceil(count / 2) * 1.7 * RADIUS * (count % 2 ? 1 : -1);
      return Math.max(-LINE / 2 + RADIUS, Math.min(LINE / 2 - RADIUS, by));
    });
  }

  function swarm(host) {
    const now = () => part.outputs[output];
    function draw(svg, width) {
      const top = 6, labels = part.columns.map(nameOf), bottom = top + labels.length * LINE, named = names(labels, width, top);
      const x = chartAxes.linear(chartAxes.span(now().swarm.flat(), true), [named.room + 8, width - 10], { count: Math.max(3, (width - named.room) / 80) });
      const box = { left: named.room, right: width - 10, spare: 10, top, bottom };
      svg.append(...[named.drawn, rule(x.at(0), top, x.at(0), bottom, "chart-diagonal"), chartAxes.axisX(x, box, `contribution to the ${part.scale}`),
        now().swarm.map((values, column) => {
          const xs = values.map((value) => x.at(value)), by = offsets(xs), middle = top + (column + 0.5) * LINE;
          return xs.map((at, row) => dom.svg("circle", { class: "contributions-dot", cx: pixel(at), cy: pixel(middle + by[row]), r: RADIUS, fill: colorOf(part.places[column][row]) }));
        })].flat(Infinity).filter(Boolean));
      return bottom + 42;
    }
    const gist = () => part.columns.slice(0, 3).map((column, at) => `${nameOf(column)}: mean size ${numbers.short(now().means[at])}.`).join(" ");
    const rows = () => ({ head: ["column", "mean size", "standard error", "least", "greatest"],
      body: part.columns.map((column, at) => [nameOf(column), now().means[at], now().errors[at], Math.min(...now().swarm[at]), Math.max(...now().swarm[at])]) });
    const made = chartAxes.figure(host, `Contributions for ${numbers.counted(part.n_rows, "row")}`, { draw, gist, rows, items: () => [] });
    made.element.append(dom.el("p", { class: "small muted" }, "A dot is a row. Its colour is the value of the column: least ",
      dom.el("span", { class: "contributions-key", "aria-hidden": "true" }), " greatest; grey is missing."));
    return made;
  }

  // told: () -> {title, base, parts: [{name, value}], end, note}. From the base, bar after bar, to the answer.
  function waterfall(host, told) {
    function draw(svg, width) {
      const { base, parts, end } = told(), top = 22, labels = parts.map(({ name }) => name), bottom = top + labels.length * LINE;
      if (!labels.length) {
        svg.append(text(0, FONT + 4, `No column changes the base of ${numbers.short(base)}.`));
        return 24;
      }
      const named = names(labels, width, top), starts = [base];
      for (const { value } of parts) starts.push(starts[starts.length - 1] + value);
      const x = chartAxes.linear(chartAxes.span(starts), [named.room + 12, width - 64], { count: Math.max(3, (width - named.room) / 90) });
      const line = (at, from, to) => rule(pixel(x.at(at)), from, pixel(x.at(at)), to, "contributions-link");
      svg.append(...[named.drawn, text(x.at(base), FONT, `base ${numbers.short(base)}`, { "text-anchor": x.at(base) > width / 2 ? "end" : "start" }),
        chartAxes.axisX(x, { left: named.room, right: width - 10, spare: 10, top, bottom: bottom + 8 }, `in all ${numbers.short(end)}`),
        parts.map(({ value }, at) => {
          const from = x.at(starts[at]), to = x.at(starts[at + 1]), y = top + at * LINE + (LINE - BAR) / 2;
          return [
            line(starts[at], at ? y - LINE + BAR : 16, y),
            dom.svg("rect", { x: pixel(Math.min(from, to)), y, width: pixel(Math.max(1, Math.abs(to - from))), height: BAR, rx: 2, class: value < 0 ? "contributions-down" : "contributions-up" }),
            text(Math.max(from, to) + 5, y + BAR / 2 + FONT / 3, signed(value), { "text-anchor": "start" }),
          ];
        }), line(end, bottom - (LINE - BAR) / 2, bottom + 8)].flat(Infinity).filter(Boolean));
      return bottom + 52;
    }
    const gist = () => told().parts.slice(0, 4).map(({ name, value }) => `${name}: ${signed(value)}.`).join(" ");
    const rows = () => ({ head: ["column", told().scale], body: [["base", told().base], ...told().parts.map(({ name, value }) => [name, value]), ["in all", told().end]] });
    return chartAxes.figure(host, told().title, { draw, gist, rows, items: () => [] });
  }

  const withCell = (at, cells) => `${nameOf(at)} = ${followTold.cellText(summary.columns[at], cells[at])}`;

  // What all trees say of a row of the table.
  function ofAll(row, cells) {
    const now = part.outputs[output], held = now.rows[row];
    const parts = held.columns.map((at, place) => ({ name: withCell(at, cells), value: held.values[place] }));
    if (held.n_rest) parts.push({ name: numbers.counted(held.n_rest, "other column"), value: held.rest });
    const example = summary.examples.rows[row], end = parts.reduce((sum, { value }) => sum + value, now.base);
    return { title: `Row ${example.name || example.number}: ${part.outputs.length > 1 || summary.task === "classification" ? `${part.scale} of ${now.name}` : now.name}`, scale: part.scale, base: now.base, parts, end,
      note: "Contributions to what all trees together say." };
  }

  // What each column asked on the way through a tree changed: the differences between a node and the one above it.
  function alongTheWay(tree, cells, code) {
    const found = route.way(tree, summary.columns, cells, () => false), { byId } = route.index(tree);
    const valueOf = (node) => code === null ? numbers.value(node.values[0][0]) : numbers.value(node.values[0][code]) / node.values[0].reduce((sum, held) => sum + numbers.value(held), 0);
    const sums = new Map();
    let base = 0;
    for (const { node: id, share } of found) {
      const node = byId.get(id);
      if (node.parent === null) { base = valueOf(node); continue; }
      const above = byId.get(node.parent), at = above.test.column;
      sums.set(at, (sums.get(at) || 0) + share * (valueOf(node) - valueOf(above)));
    }
    const parts = [...sums].map(([at, value]) => ({ name: withCell(at, cells), value })).sort((one, other) => Math.abs(other.value) - Math.abs(one.value));
    return { base, parts, end: parts.reduce((sum, { value }) => sum + value, base) };
  }

  function ofOneTree(cells) {
    const shape = state.get("shape"), tree = shape?.tree || summary.tree, labels = tree.outputs[0];
    const named = labels.indexOf(part.outputs[output].name), code = labels.length ? Math.max(0, named) : null;
    const what = code === null ? tree.centre === "adds" ? "what one tree adds" : "prediction" : "share";
    return { title: `Values of your own: ${code === null ? what : `share of ${labels[code]}`}`, scale: what, ...alongTheWay(tree, cells, code),
      note: "Changes along the way through the tree in the picture: this page does not hold all trees. explain(X) tells of them all." };
  }

  function start() {
    part = summary.contributions;
    if (!part || part.why_not) return;
    const drawn = part.columns.length ? swarm(dom.fill(dom.byId("contributions-swarm"))) : { redraw() {} };
    let fall = null, told = null, note = null;
    const rowHost = dom.byId("contributions-row"), examples = summary.examples;
    const choose = part.outputs.length < 2 ? null : dom.el("select", { id: "contributions-output", onchange: () => { chosen = true; output = Number(choose.value); redraw(); } },
      part.outputs.map(({ name }, at) => dom.el("option", { value: at }, name)));
    if (choose) dom.byId("contributions-choose").append(dom.el("label", { for: "contributions-output" }, summary.task === "classification" ? "Class " : "Output "), choose);

    function redraw() {
      drawn.redraw();
      if (!fall) return;
      told = tellOf(state.get("row"));
      if (!told) { fall.element.hidden = note.hidden = true; return; }
      fall.element.hidden = note.hidden = false;
      fall.element.querySelector("figcaption").textContent = told.title;
      note.textContent = told.note;
      fall.redraw();
    }

    // The row that is followed; before anybody chose one, the first.
    function tellOf(row) {
      const at = row ? examples.rows.findIndex((each) => row.label === `row ${each.name || each.number}`) : 0;
      const example = at < 0 ? null : examples.rows[at];
      // The class that the row is predicted to have, until somebody chooses another.
      if (example && choose && !chosen) {
        const said = part.outputs.findIndex(({ name }) => name === example.said);
        if (said >= 0) { output = said; choose.value = String(said); drawn.redraw(); }
      }
      if (example) return ofAll(at, example.cells);
      // Of several targets the tree in the picture has one shape for all, and this page no words for which.
      return row && summary.tree && summary.tree.outputs.length === 1 && route.way(summary.tree, summary.columns, row.cells, () => false).length ? ofOneTree(row.cells) : null;
    }

    if (examples && examples.rows.length) {
      told = tellOf(null);
      note = dom.el("p", { class: "small muted" }, told.note);
      fall = waterfall(rowHost, () => told);
      rowHost.append(note, dom.byId("follow") && dom.el("p", { class: "small" }, dom.el("a", { href: "#follow" }, "Choose another row or change its values")) || "");
      state.on("row", redraw);
      state.on("shape", redraw);
    }
  }

  return { start };
})();
