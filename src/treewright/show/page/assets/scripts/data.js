// The table of columns: sorted by its headers, filtered by name; each column opens to its values and what it does.
const data = (() => {
  const FIRST_ROWS = 25, FILTER_FROM = 13;
  const BAR = { width: 110, height: 16, pad: 4 };
  const parts = state.summary.data;
  // Of several targets the pictures are of the first.
  const firstTarget = state.summary.quality.length > 1 ? state.summary.quality[0].output : state.summary.target;
  const rows = [];
  const now = { key: "permutation", down: true, words: "", all: parts.length <= FIRST_ROWS + 5 };
  let status = null, more = null;

  const KEYS = {
    name: (part) => part.name.toLowerCase(),
    kind: (part) => part.kind,
    values: (part) => part.n_distinct,
    missing: (part) => part.missing,
    impurity: (part) => part.impurity ?? -Infinity,
    permutation: (part) => part.permutation ?? -Infinity,
  };
  const TITLES = { name: "column", kind: "kind", values: "number of different values", missing: "share of missing cells", impurity: "impurity importance", permutation: "permutation importance" };

  // Bars of one table column share a scale, so that they can be compared down the page.
  function scaleOf(key) {
    const ends = parts.flatMap((part) => part[key] === null ? [] : [part[key] - (errorOf(part, key)), part[key] + errorOf(part, key)]);
    const low = Math.min(0, ...ends), high = Math.max(0, ...ends);
    const room = BAR.width - 2 * BAR.pad;
    return (value) => BAR.pad + (high > low ? (value - low) / (high - low) * room : 0);
  }
  const errorOf = (part, key) => key === "permutation" ? part.error || 0 : 0;

  function bar(part, key, at) {
    const value = part[key], error = errorOf(part, key), middle = BAR.height / 2;
    const from = Math.min(at(0), at(value)), length = Math.abs(at(value) - at(0));
    return dom.svg("svg", { class: "data-bar", viewBox: `0 0 ${BAR.width} ${BAR.height}`, width: BAR.width, height: BAR.height, "aria-hidden": "true" },
      dom.svg("line", { x1: at(0), y1: 0, x2: at(0), y2: BAR.height, class: "data-zero" }),
      dom.svg("rect", { x: from, y: 3, width: length, height: BAR.height - 6, class: "data-fill" }),
      error ? [dom.svg("line", { x1: at(value - error), y1: middle, x2: at(value + error), y2: middle, class: "chart-whisker" }),
        ...[-1, 1].map((side) => dom.svg("line", { x1: at(value + side * error), y1: middle - 4, x2: at(value + side * error), y2: middle + 4, class: "chart-whisker" }))] : null);
  }

  // What is nothing beside its error is what rounding left over.
  const shuffledText = (part) => numbers.short(Math.abs(part.permutation) < 1e-9 * (part.error || 0) ? 0 : part.permutation, 3);

  function barCell(cell, part, key, at) {
    if (part[key] === null || !part.asked) { cell.classList.add("muted"); return; }
    const words = key === "impurity" ? numbers.percent(part[key]) : shuffledText(part);
    const error = key === "permutation" && part.error !== null ? `${words}, standard error ${numbers.short(part.error, 2)}` : words;
    dom.fill(cell, dom.el("span", { class: "data-measure", title: error }, bar(part, key, at), dom.el("span", { "data-value": part[key] }, words)));
  }

  // What a column is, in numbers.
  function facts(part) {
    const told = [["kind", part.kind], [part.kind === "numeric" ? "different numbers" : "levels", part.kind === "numeric" ? numbers.short(part.n_distinct) : part.told]];
    if (part.mean !== null) {
      const [first, middle, third] = part.quartiles;
      const column = state.summary.columns[part.position], written = (value) => numbers.ofColumn(column, value);
      told.push(["range", `${written(part.low)} to ${written(part.high)}`], ["mean", written(part.mean)],
        ["standard deviation", `${numbers.short(part.sd)}${column.dates ? " days" : ""}`], ["quartiles", [first, middle, third].map(written).join(", ")]);
    }
    told.push(["missing", part.missing ? numbers.percent(part.missing, 2) : "none"]);
    if (part.permutation !== null && part.asked) {
      told.push(["when shuffled", `${shuffledText(part)}${part.error === null ? "" : ` ± ${numbers.short(part.error, 2)}`}`]);
    }
    return dom.el("dl", { class: "facts data-facts" }, told.map(([name, value]) => dom.el("div", {}, dom.el("dt", {}, name), dom.el("dd", {}, value))));
  }

  // Cells of numbers by their ends, cells of levels by their names.
  const cellNames = (spread, written) => spread.edges
    ? spread.edges.slice(1).map((end, at) => `${written(spread.edges[at])} to ${written(end)}`) : spread.labels;

  function drawSpread(host, part) {
    const column = state.summary.columns[part.position], written = column.dates ? (value) => numbers.dated(column, value) : undefined;
    const spread = part.spread, names = cellNames(spread, written || ((value) => numbers.short(value, 3))), byClass = state.summary.task === "classification";
    const others = "var(--muted)";
    chart.stacked(host, {
      title: byClass ? "Values by class" : "Values", labels: names, ylabel: state.summary.quality[0]?.weighted ? "weight" : "rows", xlabel: part.name, edges: spread.edges || undefined,
      written,
      parts: spread.parts.map((values, at) => ({ name: spread.names[at], values, color: !byClass ? "var(--class-0)" : spread.codes[at] === null ? others : `var(--class-${spread.codes[at] % 24})` })),
    });
    if (spread.n_beyond) {
      host.append(dom.el("p", { class: "small muted" }, `${numbers.counted(spread.n_beyond, "row")} far beyond the others ${spread.n_beyond === 1 ? "is" : "are"} counted in the first or the last column.`));
    }
    if (spread.means) drawMeans(host, part, spread, names, written);
  }

  function drawMeans(host, part, spread, names, written) {
    const target = firstTarget || "the target";
    const shifted = (side) => spread.means.map((mean, at) => mean === null || spread.errors[at] === null ? mean : mean + side * spread.errors[at]);
    if (spread.edges) {
      const middles = spread.edges.slice(1).map((end, at) => end / 2 + spread.edges[at] / 2);
      chart.lines(host, { title: `Mean of ${target} by value`, x: middles, written, xlabel: part.name, ylabel: `mean of ${target}, ± standard error`,
        series: [{ name: `mean of ${target}`, y: spread.means, low: shifted(-1), high: shifted(1), color: "var(--class-1)", dots: true }] });
    } else {
      const known = names.map((_, at) => at).filter((at) => spread.means[at] !== null), pick = (values) => known.map((at) => values[at]);
      chart.bars(host, { title: `Mean of ${target} by value`, labels: pick(names), values: pick(spread.means), low: pick(shifted(-1)), high: pick(shifted(1)),
        xlabel: `mean of ${target}, ± standard error`, color: "var(--class-1)" });
    }
  }

  function fillDetail(row) {
    const { part, body } = row, grid = dom.el("div", { class: "grid data-charts" });
    dom.fill(body, facts(part), grid);
    if (part.spread) {
      const host = dom.el("div", { class: "data-chart" });
      grid.append(host);
      drawSpread(host, part);
    }
    if (part.dependence) {
      const host = dom.el("div", { class: "data-chart" });
      grid.append(host);
      row.curve = dependence.draw(host, part.dependence, { name: part.name, position: part.position, said: { task: state.summary.task, target: firstTarget } });
    }
    const lacks = !part.asked ? "The model does not use this column, so it changes no prediction."
      : part.dependence ? "" : "Partial dependence is computed for the most important columns.";
    if (lacks) body.append(dom.el("p", { class: "muted small" }, lacks));
    row.filled = true;
  }

  function toggle(row, open) {
    row.button.setAttribute("aria-expanded", String(open));
    row.detail.hidden = !open || row.line.hidden;
    row.open = open;
    if (open && !row.filled) fillDetail(row);
    else if (open && row.curve) row.curve.update();
  }

  // A cell as wide as the table would make its charts as wide; the table is as wide as the page.
  function prepare(line, scales) {
    const part = parts[Number(line.dataset.at)], name = line.querySelector(".data-name"), id = `data-detail-${line.dataset.at}`;
    const body = dom.el("div", { class: "data-body" });
    const detail = dom.el("tr", { id, class: "data-detail", hidden: true }, dom.el("td", { colspan: 6 }, body));
    const row = { part, line, detail, body, open: false, filled: false, curve: null, button: null };
    row.button = dom.el("button", { type: "button", class: "data-open", "aria-expanded": "false", "aria-controls": id, title: part.name, onclick: () => toggle(row, !row.open) },
      dom.el("span", { class: "data-arrow", "aria-hidden": "true" }), dom.el("span", { class: "data-name" }, dom.breakable(part.name)));
    name.replaceWith(row.button);
    for (const key of ["impurity", "permutation"]) barCell(line.querySelector(`[data-bar="${key}"]`), part, key, scales[key]);
    line.after(detail);
    rows.push(row);
  }

  function sortBy(key) {
    // The first click on a name goes up from a, on a number down from the greatest.
    now.down = now.key === key ? !now.down : !["name", "kind"].includes(key);
    now.key = key;
    show();
    status.textContent = `Sorted by ${TITLES[key]}, ${now.down ? "descending" : "ascending"}.`;
  }

  function compare(one, other) {
    const first = KEYS[now.key](one.part), second = KEYS[now.key](other.part);
    const order = first < second ? -1 : first > second ? 1 : 0;
    return (now.down ? -order : order) || Number(one.line.dataset.at) - Number(other.line.dataset.at);
  }

  function show() {
    const table = dom.byId("data-table"), words = now.words.trim().toLowerCase();
    for (const head of table.querySelectorAll("th[data-key]")) {
      if (head.dataset.key === now.key) head.setAttribute("aria-sort", now.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    rows.sort(compare);
    const wanted = rows.filter(({ part }) => part.name.toLowerCase().includes(words)), shown = new Set(now.all || words ? wanted : wanted.slice(0, FIRST_ROWS));
    for (const row of rows) {
      row.line.hidden = !shown.has(row);
      row.detail.hidden = row.line.hidden || !row.open;
    }
    table.tBodies[0].append(...rows.flatMap((row) => [row.line, row.detail]));
    if (more) {
      more.hidden = Boolean(words);
      more.textContent = now.all ? `Show the first ${FIRST_ROWS} columns` : `Show all ${parts.length} columns`;
    }
    return wanted.length;
  }

  function tools() {
    const host = dom.byId("data-tools");
    status = dom.el("span", { class: "muted small", role: "status" });
    if (parts.length >= FILTER_FROM) {
      const filter = dom.el("input", { type: "search", id: "data-filter", placeholder: "part of a name", autocomplete: "off", oninput: (event) => {
        now.words = event.target.value;
        const found = show();
        status.textContent = now.words.trim() ? `${found} of ${parts.length} columns` : "";
      } });
      host.append(dom.el("label", { for: "data-filter" }, "Find a column"), filter);
    }
    if (parts.length < FILTER_FROM) status.classList.add("visually-hidden");
    host.append(status);
  }

  function start() {
    const table = dom.byId("data-table");
    if (!table) return;
    const scales = { impurity: scaleOf("impurity"), permutation: scaleOf("permutation") };
    for (const head of table.querySelectorAll("th[data-key]")) {
      const title = head.textContent;
      dom.fill(head, dom.el("button", { type: "button", class: "data-sort", onclick: () => sortBy(head.dataset.key) }, title, dom.el("span", { class: "data-way", "aria-hidden": "true" })));
    }
    for (const line of [...table.tBodies[0].rows]) prepare(line, scales);
    tools();
    if (!now.all) {
      more = dom.el("button", { type: "button", class: "data-more", onclick: () => { now.all = !now.all; show(); } });
      table.after(more);
    }
    show();
    state.on("row", () => { for (const row of rows) if (row.open && row.curve) row.curve.update(); });
  }

  return { start };
})();
