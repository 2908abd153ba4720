// Contributions: a swarm of the test rows, and a waterfall for the row that is followed: of all trees for rows of the
// table, of the tree in the picture for values of a reader's own, which all trees are not here to answer.
const contributions = (() => {
  const { FONT, text, rule } = chartAxes;
  const LINE = 30, LANE = 38, BAR = 18, RADIUS = 2.4;
  const summary = state.summary;
  let part = null, output = 0, chosen = false;

  const pixel = (value) => Math.round(value * 10) / 10;
  // Levels have no least and no greatest: one colour for all. What is missing is hollow.
  const colorOf = (place, column) => place === null ? "none" : summary.columns[column].kind === "nominal" ? "var(--accent)" : `color-mix(in oklab, var(--class-1) ${Math.round(place * 100)}%, var(--class-0))`;
  const nameOf = (at) => summary.columns[at].name;
  const signed = (value) => `${value < 0 ? "\u2212" : "+"}${numbers.short(Math.abs(value))}`;

  // Names at the left, with a cell behind them or none, take a third of the width, on a phone some more. Of a long name
  // the cell stays; the whole is in a title.
  function names(labels, width, top, line) {
    const whole = labels.map(({ name, cell }) => cell === undefined ? name : `${name} = ${cell}`);
    const room = Math.min(width < 420 ? 0.45 * width : width / 3, Math.max(...whole.map(chartAxes.textWidth)) + 8);
    return { room, drawn: labels.map(({ name, cell }, at) => {
      const behind = cell === undefined ? "" : ` = ${chartAxes.fit(cell, (room - 8) * 0.6)}`;
      const words = chartAxes.textWidth(whole[at]) <= room - 8 ? whole[at] : chartAxes.fit(name, room - 8 - chartAxes.textWidth(behind)) + behind;
      const drawn = text(0, top + (at + 0.5) * line + FONT / 3, words, { class: "chart-text contributions-name" });
      if (words !== whole[at]) drawn.append(dom.svg("title", {}, whole[at]));
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
      return Math.max(-LANE / 2 + RADIUS, Math.min(LANE / 2 - RADIUS, by));
    });
  }

  function swarm(host) {
    const now = () => part.outputs[output];
    // The columns by what they contribute to the output that is shown.
    const order = () => part.columns.map((_, at) => at).sort((one, other) => now().means[other] - now().means[one]);
    function draw(svg, width) {
      const top = 6, labels = order().map((at) => ({ name: nameOf(part.columns[at]) })), bottom = top + labels.length * LANE, named = names(labels, width, top, LANE);
      const x = chartAxes.linear(chartAxes.span(now().swarm.flat(), true), [named.room + 8, width - 10], { count: Math.max(4, (width - named.room) / 80) });
      const box = { left: named.room, right: width - 10, spare: 10, top, bottom };
      svg.append(...[named.drawn, rule(x.at(0), top, x.at(0), bottom, "chart-diagonal"), chartAxes.axisX(x, box, `contribution to the ${part.scale}`),
        order().map((column, lane) => {
          const xs = now().swarm[column].map((value) => x.at(value)), by = offsets(xs), middle = top + (lane + 0.5) * LANE;
          return xs.map((at, row) => dom.svg("circle", { class: "contributions-dot", cx: pixel(at), cy: pixel(middle + by[row]), r: RADIUS,
            fill: colorOf(part.places[column][row], part.columns[column]), stroke: part.places[column][row] === null ? "var(--muted)" : null }));
        })].flat(Infinity).filter(Boolean));
      return bottom + 42;
    }
    const gist = () => order().slice(0, 3).map((at) => `${nameOf(part.columns[at])}: mean size ${numbers.short(now().means[at])}.`).join(" ");
    const rows = () => ({ head: ["column", "mean size", "standard error", "lowest", "highest"],
      body: order().map((at) => [nameOf(part.columns[at]), now().means[at], now().errors[at], Math.min(...now().swarm[at]), Math.max(...now().swarm[at])]) });
    const made = chartAxes.figure(host, part.n_rows < part.n_all ? `Contributions for ${part.n_rows} of ${numbers.counted(part.n_all, "row")}` : `Contributions for ${numbers.counted(part.n_rows, "row")}`, { draw, gist, rows, items: () => [] });
    made.element.append(dom.el("p", { class: "small muted" }, "A dot is a row. Its colour is the value of the column: lowest ",
      dom.el("span", { class: "contributions-key", "aria-hidden": "true" }), " highest; a hollow dot is a missing cell, and levels have one colour."));
    return made;
  }

  // told: () -> {title, scale, base, parts: [{name, cell, value}], end, note}. From the base, bar after bar, to the answer.
  function waterfall(host, told) {
    function draw(svg, width) {
      const { base, parts, end, scale } = told(), top = 22, bottom = top + parts.length * LINE;
      if (!parts.length) {
        svg.append(text(0, FONT + 4, `No column changes the base of ${numbers.short(base)}.`));
        return 24;
      }
      const named = names(parts, width, top, LINE), starts = [base];
      for (const { value } of parts) starts.push(starts[starts.length - 1] + value);
      const x = chartAxes.linear(chartAxes.span(starts), [named.room + 12, width - 64], { count: Math.max(4, (width - named.room) / 90) });
      const line = (at, from, to) => rule(pixel(x.at(at)), from, pixel(x.at(at)), to, "contributions-link");
      svg.append(...[named.drawn, text(x.at(base), FONT, `base ${numbers.short(base)}`, { "text-anchor": x.at(base) > width / 2 ? "end" : "start" }),
        text(x.at(end) + (x.at(end) > width / 2 ? -5 : 5), bottom + 6, `total ${numbers.short(end)}`, { "text-anchor": x.at(end) > width / 2 ? "end" : "start", class: "chart-text contributions-name" }),
        chartAxes.axisX(x, { left: named.room, right: width - 10, spare: 10, top, bottom: bottom + 12 }, scale),
        parts.map(({ value }, at) => {
          const from = x.at(starts[at]), to = x.at(starts[at + 1]), y = top + at * LINE + (LINE - BAR) / 2;
          return [
            line(starts[at], at ? y - LINE + BAR : 16, y),
            dom.svg("rect", { x: pixel(Math.min(from, to)), y, width: pixel(Math.max(1, Math.abs(to - from))), height: BAR, rx: 2, class: value < 0 ? "contributions-down" : "contributions-up" }),
            text(Math.max(from, to) + 5, y + BAR / 2 + FONT / 3, signed(value), { "text-anchor": "start" }),
          ];
        }), line(end, bottom - (LINE - BAR) / 2, bottom + 12)].flat(Infinity).filter(Boolean));
      return bottom + 56;
    }
    const gist = () => told().parts.slice(0, 4).map(({ name, cell, value }) => `${name}${cell === undefined ? "" : ` ${cell}`}: ${signed(value)}.`).join(" ");
    const rows = () => ({ head: ["column", told().scale], body: [["base", told().base], ...told().parts.map(({ name, cell, value }) => [cell === undefined ? name : `${name} = ${cell}`, value]), ["total", told().end]] });
    return chartAxes.figure(host, told().title, { draw, gist, rows, items: () => [] });
  }

  const withCell = (at, cells) => ({ name: nameOf(at), cell: followTold.cellText(summary.columns[at], cells[at]) });

  // What all trees say of a row of the table.
  function ofAll(row, cells) {
    const now = part.outputs[output], held = now.rows[row];
    const parts = held.columns.map((at, place) => ({ ...withCell(at, cells), value: held.values[place] }));
    if (held.n_rest) parts.push({ name: numbers.counted(held.n_rest, "other column"), value: held.rest });
    const example = summary.examples.rows[row], end = parts.reduce((sum, { value }) => sum + value, now.base);
    return { title: `Row ${example.name || example.number}: ${part.scale === "prediction" ? now.name : `${part.scale} of ${now.name}`}`, scale: part.scale, base: now.base, parts, end,
      note: `${example.said ? `Predicts ${example.said}${example.why ? `: ${example.why}` : ""}. ` : ""}Contributions to the prediction of ${part.whose}. ${part.link ? `${part.link}.` : ""}` };
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
    const parts = [...sums].map(([at, value]) => ({ ...withCell(at, cells), value })).sort((one, other) => Math.abs(other.value) - Math.abs(one.value));
    return { base, parts, end: parts.reduce((sum, { value }) => sum + value, base) };
  }

  function ofOneTree(cells) {
    const shape = state.get("shape"), tree = shape?.tree || summary.tree, labels = tree.outputs[0];
    const named = labels.indexOf(part.outputs[output].name), code = labels.length ? Math.max(0, named) : null;
    const what = code === null ? tree.centre === "adds" ? "what one tree adds" : "prediction" : "share";
    return { title: `Values of your own: ${code === null ? what : `share of ${labels[code]}`}`, scale: what, ...alongTheWay(tree, cells, code),
      note: `Changes along the path through the tree in the picture${part.scale === "score" ? ", which does not predict scores" : ""}: this page does not hold all trees. explain(X) uses all.` };
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
        output = Math.max(0, said);
        choose.value = String(output);
        drawn.redraw();
      }
      if (example) return ofAll(at, example.cells);
      // Of several targets the tree in the picture has one shape for all, and this page no words for which.
      const isOne = summary.tree && summary.tree.outputs.length === 1 && (summary.tree.outputs[0].length > 0 || part.outputs.length === 1);
      return row && isOne && route.way(summary.tree, summary.columns, row.cells, () => false).length ? ofOneTree(row.cells) : null;
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
