// Charts of amounts per name: bars, stacked columns, a confusion matrix. `chart` hands them on.
const chartBars = (() => {
  const { FONT, LINE, text, rule } = chartAxes;
  const put = (svg, ...children) => svg.append(...children.flat(Infinity).filter(Boolean));
  // What a column is made of: nothing below 0, nothing without end.
  const amount = (held) => Number.isFinite(numbers.value(held)) ? Math.max(0, numbers.value(held)) : 0;
  const tip = (words) => dom.svg("title", {}, words);

  function bars(host, options) {
    const now = { ...options };
    const written = (value) => now.format ? now.format(numbers.value(value)) : numbers.short(value);
    const STEP = 24, HEAD = 4;

    function draw(svg, width) {
      const values = now.values.map(numbers.value), shown = values.map(written);
      const names = Math.min(Math.max(...now.labels.map(chartAxes.textWidth), 30), width * 0.38);
      const right = width - Math.max(...shown.map(chartAxes.textWidth), 20) - 10;
      const x = chartAxes.linear(chartAxes.span([...now.values, ...(now.low || []), ...(now.high || [])], true), [names + 10, right]);
      const bottom = HEAD + STEP * values.length, zero = x.at(0);
      put(svg, values.map((value, at) => {
        const middle = HEAD + STEP * (at + 0.5), end = Number.isFinite(value) ? x.at(value) : zero;
        return dom.svg("g", {}, tip(`${now.labels[at]}: ${shown[at]}`),
          text(names, middle + 4, chartAxes.fit(now.labels[at], names), { "text-anchor": "end" }),
          dom.svg("rect", { x: Math.min(zero, end), y: middle - 7, width: Math.max(Math.abs(end - zero), 0.5), height: 14, rx: 2, fill: now.color || "var(--accent)" }),
          whisker(at, x, middle),
          text(width, middle + 4, shown[at], { "text-anchor": "end" }));
      }), rule(zero, HEAD, zero, bottom, "chart-axis"));
      if (!now.xlabel) return bottom + 4;
      put(svg, text((names + right) / 2, bottom + FONT + 4, chartAxes.fit(now.xlabel, width - names), { "text-anchor": "middle" }));
      return bottom + LINE + 6;
    }

    function whisker(at, x, middle) {
      const low = x.at(numbers.value(now.low?.[at] ?? null)), high = x.at(numbers.value(now.high?.[at] ?? null));
      if (!Number.isFinite(low) || !Number.isFinite(high)) return null;
      return [rule(low, middle, high, middle, "chart-whisker"), rule(low, middle - 4, low, middle + 4, "chart-whisker"),
        rule(high, middle - 4, high, middle + 4, "chart-whisker")];
    }

    function gist() {
      const order = now.values.map((value, at) => [numbers.value(value), at]).filter(([value]) => !Number.isNaN(value)).sort((one, other) => other[0] - one[0]);
      return `${now.xlabel || "Values"}, largest first: ` + order.slice(0, 5).map(([value, at]) => `${now.labels[at]} ${written(value)}`).join(", ") + ".";
    }

    const rows = () => ({ head: ["name", now.xlabel || "value", ...(now.low && now.high ? ["from", "to"] : [])],
      body: now.values.map((value, at) => [String(now.labels[at]), value, ...(now.low && now.high ? [now.low[at], now.high[at]] : [])]) });
    const made = chartAxes.figure(host, now.title, { draw, gist, rows, items: () => [] });
    return { element: made.element, update(changes) { Object.assign(now, changes); made.redraw(); } };
  }

  // edges: n + 1 ends of n cells of numbers; further columns (such as missing values) stand apart at the right.
  // marks: [{x, label}], numbers between the edges that get a line.
  function stacked(host, options) {
    const now = { ...options };
    const totals = () => now.labels.map((_, at) => now.parts.reduce((sum, part) => sum + amount(part.values[at]), 0));

    // Where each column begins and how wide it is.
    function places(box) {
      const n = now.labels.length, cells = now.edges ? now.edges.length - 1 : 0, apart = n - cells;
      if (!now.edges) {
        const step = (box.right - box.left) / n, room = Math.min(step * 0.18, 10);
        return now.labels.map((_, at) => ({ left: box.left + step * at + room, width: step - 2 * room, step }));
      }
      const end = box.right - apart * 60, x = chartAxes.linear(chartAxes.span(now.edges), [box.left, Math.max(box.left + 40, end)]);
      const inside = now.edges.slice(1).map((edge, at) => ({ left: x.at(now.edges[at]), width: Math.max(1, x.at(edge) - x.at(now.edges[at]) - 1), step: 0 }));
      for (let at = 0; at < apart; at++) inside.push({ left: box.right - 60 * (apart - at) + 14, width: 36, step: 56 });
      return inside;
    }

    function labels(box, held, turned) {
      const cells = now.edges ? now.edges.length - 1 : 0;
      const apart = now.labels.map((label, at) => {
        if (at < cells) return null;
        const middle = held[at].left + held[at].width / 2, whole = String(label);
        return turned
          ? text(middle, box.bottom + 12, chartAxes.fit(whole, 90), { "text-anchor": "end", transform: `rotate(-40 ${middle} ${box.bottom + 12})` })
          : text(middle, box.bottom + FONT + 4, chartAxes.fit(whole, held[at].step), { "text-anchor": "middle" });
      });
      if (!now.edges) return [rule(box.left, box.bottom, box.right, box.bottom, "chart-axis"), apart];
      const right = held[cells - 1].left + held[cells - 1].width + 1;
      const x = chartAxes.linear(chartAxes.span(now.edges), [box.left, right], { count: Math.max(3, (right - box.left) / 75) });
      if (now.written) for (const tick of x.ticks) tick.text = now.written(tick.value);
      return [chartAxes.axisX(x, { ...box, right, spare: 4 }, null), apart];
    }

    function draw(svg, width) {
      const tops = totals(), rough = chartAxes.linear(chartAxes.span(tops, true), [0, 1], { nice: true, count: 4 });
      let height = now.height || 230;
      let box = chartAxes.box(width, height, rough.ticks, { xlabel: Boolean(now.xlabel) });
      const step = (box.right - box.left) / now.labels.length;
      const turned = !now.edges && now.labels.some((label) => chartAxes.textWidth(String(label)) > Math.max(step - 4, 44) || (step < 30 && now.labels.length > 1));
      if (turned) { box = { ...box, left: Math.max(box.left, 56) }; height += 52; }
      const y = chartAxes.linear(chartAxes.span(tops, true), [box.bottom, box.top], { nice: true, count: 4 }), held = places(box);
      put(svg, chartAxes.axisY(y, box, now.ylabel), now.labels.map((label, at) => column(label, at, held[at], y)), labels(box, held, turned));
      for (const mark of now.marks || []) {
        const cells = now.edges.length - 1, right = held[cells - 1].left + held[cells - 1].width + 1;
        const at = chartAxes.linear(chartAxes.span(now.edges), [held[0].left, right]).at(mark.x), isRight = at > (box.left + box.right) / 2;
        put(svg, rule(at, box.top, at, box.bottom, "chart-mark"), text(at + (isRight ? -4 : 4), box.top + FONT, mark.label, { "text-anchor": isRight ? "end" : "start" }));
      }
      if (now.xlabel) put(svg, text((box.left + box.right) / 2, height - 4, chartAxes.fit(now.xlabel, width), { "text-anchor": "middle" }));
      return height;
    }

    function column(label, at, { left, width }, y) {
      let below = 0;
      return now.parts.map((part) => {
        const value = amount(part.values[at]), from = below;
        below += value;
        if (!(value > 0)) return null;
        return dom.svg("rect", { x: left, y: y.at(below), width, height: Math.max(0.5, y.at(from) - y.at(below)), fill: part.color, class: "chart-stack" },
          tip(`${label}${part.name ? `, ${part.name}` : ""}: ${numbers.short(value)}`));
      });
    }

    function gist() {
      const sums = totals(), top = sums.indexOf(Math.max(...sums));
      return `${numbers.counted(now.labels.length, "column")}${now.parts.length > 1 ? ` of ${now.parts.slice(0, 8).map((part) => part.name).join(", ")}` : ""}; the highest is ${now.labels[top]} with ${numbers.short(sums[top])}.`;
    }

    const rows = () => ({ head: ["", ...now.parts.map((part) => part.name || now.ylabel || "amount")],
      body: now.labels.map((label, at) => [String(label), ...now.parts.map((part) => part.values[at])]) });
    const items = () => now.parts.map((part) => ({ name: part.name, color: part.color, dash: null }));
    const made = chartAxes.figure(host, now.title, { draw, gist, rows, items });
    return { element: made.element, update(changes) { Object.assign(now, changes); made.redraw(); } };
  }

  // counts[true class][predicted class]; a cell is as dark as the root of its share of the row: small counts show too.
  function matrix(host, options) {
    const now = { rowTitle: "true class", columnTitle: "predicted class", ...options };
    const cells = now.labels.map((_, row) => now.labels.map((_, column) =>
      dom.el("td", { class: row === column ? "number chart-cell chart-right" : "number chart-cell chart-wrong" })));
    let shown = null; // of hundreds of classes most cells stay as they are
    function fill() {
      const before = shown;
      shown = { counts: now.counts, sums: now.counts.map((held) => held.reduce((total, count) => total + count, 0)) };
      now.counts.forEach((held, row) => {
        const sum = shown.sums[row];
        held.forEach((count, column) => {
          if (before && before.sums[row] === sum && before.counts[row][column] === count) return;
          const cell = cells[row][column], share = sum > 0 ? count / sum : 0;
          cell.textContent = numbers.short(count);
          cell.style.setProperty("--share", `${(40 * Math.sqrt(share)).toFixed(2)}%`);
          cell.title = `${now.rowTitle} ${now.labels[row]}, ${now.columnTitle} ${now.labels[column]}: ${numbers.short(count)}, ${numbers.percent(share)} of the row`;
        });
      });
    }
    const name = (label, scope) => dom.el("th", { scope, title: label, class: scope === "col" ? "number" : null }, dom.el("span", { class: "chart-name" }, label));
    const element = dom.el("figure", { class: `chart chart-matrix${now.labels.length > 7 ? " chart-many" : ""}${now.labels.length > 12 ? " chart-upright" : ""}` }, dom.el("figcaption", {}, now.title),
      dom.el("div", { class: "table-wrap", tabindex: 0, role: "group", "aria-label": now.title },
        dom.el("table", {},
          dom.el("thead", {},
            dom.el("tr", {}, dom.el("td", {}), dom.el("th", { scope: "colgroup", colspan: now.labels.length, class: "chart-side" }, now.columnTitle)),
            dom.el("tr", {}, dom.el("th", { scope: "col", class: "chart-side" }, now.rowTitle), now.labels.map((label) => name(label, "col")))),
          dom.el("tbody", {}, now.labels.map((label, row) => dom.el("tr", {}, name(label, "row"), cells[row]))))));
    fill();
    host.append(element);
    return { element, update(changes) { Object.assign(now, changes); fill(); } };
  }

  return { bars, stacked, matrix };
})();
