// What became of a row, in words: the steps, what the leaf says, what would have to change.
const followTold = (() => {
  const MOST_CLASSES = 12, FEW_CLASSES = 5, MOST_LEVELS = 5, MOST_CARDS = 12, MOST_STEPS = 12, FIRST_STEPS = 3;

  // As the answers on the edges are written: thousands are not set apart.
  const written = (number, digits) => numbers.short(number, digits).replaceAll(",", "");

  // A number with as many digits as keep it apart from others.
  function apart(number, others) {
    for (let digits = 6; digits < 17; digits++) {
      const said = written(number, digits);
      if (others.every((other) => written(other, digits) !== said)) return said;
    }
    return String(number);
  }

  const levelName = (column, code) => column.levels[code] ?? "a level not in the training rows";

  function cellText(column, cell, others = []) {
    if (route.isMissing(cell)) return "missing";
    if (column.dates) return numbers.dated(column, cell);
    return column.kind === "numeric" ? apart(cell, others) : levelName(column, cell);
  }

  // One line per test from the root to the end of the way: what is asked, what the row has, where it goes.
  // `absent(node)`: levels that no row of the fit had there.
  function steps(tree, columns, cells, found, end, absent) {
    const { byId } = route.index(tree), shares = new Map(found.map(({ node, share }) => [node, share]));
    const way = [];
    for (let node = byId.get(end); node.parent !== null; node = byId.get(node.parent)) way.unshift(node);
    const lines = way.map((node, place) => {
      const asked = byId.get(node.parent), { test } = asked, column = columns[test.column];
      const { branch, surrogate } = route.step(tree, asked, cells);
      const cell = cells[test.column];
      const why = branch < 0 ? `: ${percent(shares.get(node.id) / shares.get(asked.id))} of the row takes this branch`
        : surrogate ? standIn(columns, cells, surrogate)
        : route.isMissing(cell) && test.kind !== "present" ? ": missing values follow this branch"
        : absent(asked).includes(cell) ? ": not in this node's training rows, it takes this branch" : "";
      const cuts = test.kind === "cuts" ? test.cuts.map(numbers.value).filter((cut) => cut !== cells[test.column]) : [];
      return dom.el("li", { "data-node": node.id, "data-step": place + 1 },
        dom.el("span", { class: "follow-has" }, dom.breakable(column.name), ` is ${cellText(column, cells[test.column], cuts)}${why}`),
        dom.el("span", { class: "follow-edge" }, dom.el("span", { "aria-hidden": "true" }, "→ "), numbers.typographic(node.edge)));
    });
    return folded(lines);
  }

  // Of a long way the first and the last steps; those between can be opened.
  function folded(lines) {
    if (lines.length <= MOST_STEPS + 3) return lines;
    const between = lines.slice(FIRST_STEPS, FIRST_STEPS - MOST_STEPS);
    return [lines.slice(0, FIRST_STEPS),
      dom.el("li", { class: "follow-between" }, dom.el("details", {},
        dom.el("summary", {}, `${numbers.counted(between.length, "more step")}`), dom.el("ol", {}, between))),
      lines.slice(FIRST_STEPS - MOST_STEPS)];
  }

  // A number stays with its percent sign.
  const percent = (share, digits) => numbers.percent(share, digits).replace(" ", "\u00a0");

  function standIn(columns, cells, surrogate) {
    const column = columns[surrogate.column];
    return `: ${column.name} (${cellText(column, cells[surrogate.column])}) is tested instead`;
  }

  const color = (code) => `var(--class-${code % 24})`;

  // The classes with their shares, the largest first, the predicted one with its interval.
  function distribution(tree, shares, code, support, where) {
    const names = tree.outputs[0], of = tree.outputs.length > 1 ? ` of ${tree.output_names[0] || "the first output"}` : "";
    const order = shares.map((_, at) => at).sort((one, other) => shares[other] - shares[one] || one - other);
    // Of many classes those that the leaf holds.
    const held = shares.length > FEW_CLASSES ? order.filter((at) => shares[at] > 0 || at === code) : order;
    const shown = held.slice(0, numbers.named(held.length, MOST_CLASSES));
    const rows = shown.map((at) => dom.el("tr", { class: at === code ? "follow-said" : null },
      dom.el("th", { scope: "row" }, dom.el("span", { class: "swatch", style: { background: color(at) } }), names[at]),
      dom.el("td", { class: "follow-bar", "aria-hidden": "true" },
        dom.el("div", { class: "follow-share", style: { width: `${100 * shares[at]}%`, background: color(at) } }),
        at === code && support ? dom.el("div", { class: "follow-whisker",
          style: { left: `${100 * support[0]}%`, width: `${100 * (support[1] - support[0])}%` } }) : null),
      dom.el("td", { class: "number" }, percent(shares[at]))));
    const more = order.length - shown.length;
    return dom.el("table", { class: "follow-classes" },
      dom.el("caption", {}, `Share of each class${of} ${where}`),
      dom.el("tbody", {}, rows, more ? dom.el("tr", {}, dom.el("td", { colspan: 3, class: "muted" },
        `and ${numbers.counted(more, "more class", "more classes")}${held.length > shown.length ? "" : ": 0\u00a0%"}`)) : null));
  }

  // A number on the scale of all leaves, with its interval.
  function onScale(tree, number, support) {
    const low = Math.min(numbers.value(tree.low), support ? support[0] : Infinity);
    const high = Math.max(numbers.value(tree.high), support ? support[1] : -Infinity);
    if (!(high > low)) return null;
    const at = (value) => 6 + 308 * (value - low) / (high - low);
    const ends = [low, high].map((value, which) => dom.svg("text", { x: at(value), y: 40, "text-anchor": which ? "end" : "start" }, numbers.short(value)));
    const whisker = support ? dom.svg("line", { class: "follow-interval", x1: at(support[0]), x2: at(support[1]), y1: 14, y2: 14 }) : null;
    return dom.svg("svg", { class: "follow-scale", viewBox: "0 0 320 46", role: "img",
      "aria-label": `${numbers.short(number)} on a scale from ${numbers.short(low)} to ${numbers.short(high)}` },
    dom.svg("line", { class: "follow-axis", x1: 6, x2: 314, y1: 14, y2: 14 }), whisker,
    dom.svg("circle", { class: "follow-dot", cx: at(number), cy: 14, r: 5 }), ends);
  }

  // What will do for a column, and the change to the nearest of it.
  function bounds(column, { before, after, bound }) {
    if (column.kind === "numeric") {
      const near = route.isMissing(before) ? [] : [before];
      const parts = [];
      const end = (number) => column.dates ? numbers.dated(column, number) : apart(number, near);
      if (bound.upper !== Infinity) parts.push(`at most ${end(bound.upper)}`);
      if (bound.lower !== -Infinity) parts.push(`more than ${end(bound.lower)}`);
      if (!(before > bound.upper)) parts.reverse(); // the end that is crossed stands first
      return parts.join(" and ") || (column.dates ? "any" : "any number");
    }
    const codes = change.levelsOf(column, bound).filter((code) => code !== after);
    const named = codes.slice(0, MOST_LEVELS).map((code) => levelName(column, code));
    const more = codes.length - named.length;
    const others = named.length ? ` (or ${named.join(", ")}${more ? ` or ${more} more` : ""})` : "";
    return `${levelName(column, after)}${others}`;
  }

  function changeLine(column, each) {
    const cuts = column.kind === "numeric" ? [each.bound.lower, each.bound.upper].filter(Number.isFinite) : [];
    return dom.el("li", {},
      dom.el("strong", {}, dom.breakable(column.name)), `: ${cellText(column, each.before, cuts)} `,
      dom.el("span", { "aria-hidden": "true" }, "→"), dom.el("span", { class: "visually-hidden" }, "to"), ` ${bounds(column, each)}`);
  }

  // One card per wanted answer. `wants`: [{title, code, why}], `found`: as change.find gives it.
  function cards(columns, wants, found, ontry, nKept) {
    const shown = wants.map((want, at) => ({ want, one: found[at] }));
    const order = shown.filter(({ one }) => one).sort((a, b) => a.one.cost[0] - b.one.cost[0] || a.one.cost[1] - b.one.cost[1]);
    const never = shown.filter(({ one }) => !one);
    const most = order.slice(0, numbers.named(order.length, MOST_CARDS));
    return [
      most.map(({ want, one }) => dom.el("div", { class: "follow-card", "data-want": want.title, "data-leaf": one.node.id },
        dom.el("h4", {}, want.code === undefined ? null : dom.el("span", { class: "swatch", style: { background: color(want.code) } }), want.title),
        dom.el("ul", {}, one.changes.map((each) => changeLine(columns[each.column], each))),
        dom.el("p", { class: "muted small" }, `then leaf ${one.node.id}: ${one.node.said}${one.exact ? "" : "; possibly not the smallest change"}`),
        dom.el("button", { type: "button", onclick: () => ontry(want, one) }, "Try it",
          dom.el("span", { class: "visually-hidden" }, `: ${want.title}`)))),
      order.length > most.length ? dom.el("p", { class: "muted" }, `and ${order.length - most.length} more classes, with larger changes`) : null,
      never.length ? dom.el("p", { class: "muted", "data-name": "follow-never" },
        `Out of reach${nKept ? " while these columns are kept" : ""}: ${never.slice(0, MOST_CARDS).map(({ want }) => want.title).join(", ")}${never.length > MOST_CARDS ? ", ..." : ""}. `
        + (columns.some((column) => column.part) ? "Columns that others are derived from stay as they are. " : "")
        + (nKept ? "Keep fewer columns to find more." : "No leaf predicts it, or none that these values can reach.")) : null,
    ];
  }

  return { steps, distribution, onScale, cards, percent, cellText };
})();
