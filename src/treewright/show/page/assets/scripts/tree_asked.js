// How the column that a node asks about lies in its rows: bars by class, or for numbers how dense the rows lie over the
// column and the target, with the cuts of the test and the mean of each branch.
const treeAsked = (() => {
  const CARD = 34, CARD_NUMBERS = 46, PANEL = 84, STEPS = 10, BAR = 10;

  const of = (model, position) => model.asked.get(model.nodes[position].id) || null;
  const barsOf = (held) => held.grid ? held.grid.length / STEPS : held.parts[0].length;
  const height = (part) => !part.asked.length ? 0 : part.outputs[0].length ? CARD : CARD_NUMBERS;

  const color = (code) => code === null ? "var(--muted)" : `var(--class-${code % 24})`;
  const line = (x1, y1, x2, y2, kind) => dom.svg("line", { x1, y1, x2, y2, class: kind, "vector-effect": "non-scaling-stroke" });

  // Stacked bars, a path per class.
  function bars(part, held, tall) {
    const n = barsOf(held), totals = Array.from({ length: n }, (_, at) => held.parts.reduce((sum, values) => sum + values[at], 0));
    const most = Math.max(...totals, 1e-300), scale = (tall - 2) / most, from = new Array(n).fill(tall);
    return held.parts.map((values, at) => {
      const path = values.map((value, bar) => {
        if (!(value > 0)) return "";
        // The lowest class of a bar is seen however few its rows are.
        const size = from[bar] === tall ? Math.max(1.2, value * scale) : value * scale, base = from[bar];
        from[bar] = Math.max(0, base - size);
        return `M${bar * BAR + 0.6} ${base.toFixed(2)}V${from[bar].toFixed(2)}H${bar * BAR + BAR - 0.6}V${base.toFixed(2)}Z`;
      });
      return path.some(Boolean) ? dom.svg("path", { d: path.join(""), fill: color(part.asked_codes[at]) }) : null;
    });
  }

  // Cells of column and target, the darker the more rows; a path per shade.
  function grid(held, tall) {
    const paths = new Map(), step = tall / STEPS;
    [...held.grid].forEach((digit, at) => {
      if (digit === "0") return;
      const bar = Math.floor(at / STEPS), top = tall - (at % STEPS + 1) * step;
      paths.set(digit, `${paths.get(digit) || ""}M${bar * BAR} ${top.toFixed(2)}h${BAR}v${step.toFixed(2)}h${-BAR}Z`);
    });
    return [...paths].map(([digit, d]) => dom.svg("path", { d, class: "asked-cells", "fill-opacity": (0.12 + 0.88 * Number(digit) / 9).toFixed(2) }));
  }

  // Between two cuts a branch each; a branch of missing values has no place here.
  function means(model, position, held, tall) {
    const low = numbers.value(held.low), high = numbers.value(held.high), ends = [0, ...held.cuts, barsOf(held)];
    return ends.slice(1).map((end, branch) => {
      const child = model.children[position][branch];
      if (child === undefined || !(high > low)) return null;
      const share = (numbers.value(model.nodes[child].values[0][0]) - low) / (high - low);
      if (!(share >= 0 && share <= 1)) return null;
      return line(ends[branch] * BAR, tall * (1 - share), end * BAR, tall * (1 - share), "asked-mean");
    });
  }

  function picture(model, position, tall) {
    const held = of(model, position);
    if (!held) return null;
    const n = barsOf(held);
    return dom.svg("svg", { class: "asked", viewBox: `0 0 ${n * BAR} ${tall}`, preserveAspectRatio: "none", "aria-hidden": "true", style: { height: `${tall}px` } },
      held.grid ? [grid(held, tall), means(model, position, held, tall)] : bars(model.part, held, tall),
      held.cuts.map((at) => line(at * BAR, 0, at * BAR, tall, "asked-cut")));
  }

  // The least and the greatest value: numbers, or the names of ranks.
  const ends = (column, held) => held.ends.map((value) => column.kind === "ordinal" ? column.levels[value] || "" : numbers.ofColumn(column, value));

  // Levels under their bars, a run for each branch.
  function levels(column, held) {
    const borders = [0, ...held.cuts, held.levels.length];
    const run = (from, to) => held.levels.slice(from, to).map((code) => code < 0 ? "others" : column.levels[code]).join(", ");
    return dom.el("p", { class: "small muted" }, borders.slice(1).map((end, at) => run(borders[at], end)).join(" | "));
  }

  // The picture for the panel, with words.
  function figure(model, columns, position) {
    const held = of(model, position), { test } = model.nodes[position];
    if (!held) return null;
    const { part } = model, column = columns[test.column], target = part.output_names[0] || "target";
    const what = held.grid ? `${column.name} across, ${target} upward from ${numbers.short(held.low, 3)} to ${numbers.short(held.high, 3)}` : `${column.name} by class`;
    const cuts = held.cuts.length > 1 ? " The vertical lines are the cuts" : held.cuts.length ? " The vertical line is the cut" : "";
    const lines = !cuts ? "" : held.grid ? `${cuts}, the horizontal ones the means.` : `${cuts}.`;
    return dom.el("figure", { class: "tree-histogram" },
      dom.el("figcaption", { class: "muted small" }, `${what}; ${part.asked_rows}.${lines}`),
      picture(model, position, PANEL),
      held.start === null ? levels(column, held) : dom.el("p", { class: "asked-ends small muted" }, ends(column, held).map((end) => dom.el("span", {}, end))),
      held.missing > 0 && dom.el("p", { class: "small muted" }, `Without a value: ${numbers.short(held.missing)}.`));
  }

  // What the drawing shows, for the legend.
  function words(part) {
    if (!part.asked.length) return "";
    const many = part.outputs[0].length ? "by class" : "across, the target upward";
    const others = part.asked_codes.includes(null) ? " Grey: other classes." : "";
    return `Small pictures: the tested column, ${many} (${part.asked_rows}); the vertical line is the cut${part.outputs[0].length ? "." : ", the horizontal ones are the means."}${others}`;
  }

  return { picture, figure, height, words, of };
})();
