// Scales, ticks and the figure that every chart stands in. Sizes are pixels: a chart is drawn anew when its width changes,
// so that its text keeps its size.
const chartAxes = (() => {
  const FONT = 12, LINE = 16;
  const brush = document.createElement("canvas").getContext("2d");
  brush.font = `${FONT}px ${getComputedStyle(document.documentElement).getPropertyValue("--font") || "sans-serif"}`;

  const finite = (values) => values.map(numbers.value).filter(Number.isFinite);
  const textWidth = (text) => brush.measureText(text).width;

  // A text that fits; the whole of it belongs in a title.
  function fit(text, width) {
    if (textWidth(text) <= width) return text;
    const letters = [...text];
    let low = 0, high = letters.length;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (textWidth(letters.slice(0, middle).join("") + "…") <= width) low = middle; else high = middle - 1;
    }
    return letters.slice(0, low).join("") + "…";
  }

  // The least and the greatest of many numbers, never the same two.
  function span(values, withZero = false) {
    let low = withZero ? 0 : Infinity, high = withZero ? 0 : -Infinity;
    for (const value of finite(values)) { low = Math.min(low, value); high = Math.max(high, value); }
    if (low > high) return [0, 1];
    if (low < high) return [low, high];
    const room = Math.abs(low) / 10 || 0.5;
    return [low - room, high + room];
  }

  function stepOf(low, high, count) {
    // Halves first: the two ends may lie further apart than a number can be.
    const rough = 2 * ((high / 2 - low / 2) / Math.max(1, count));
    const power = 10 ** Math.floor(Math.log10(rough));
    return power * ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) || 10);
  }

  function tickText(value, step) {
    if (Math.abs(value) < step / 1e6) return "0";
    const size = Math.abs(value);
    if (size >= 1e15 || step < 1e-5) return value.toExponential(2).replace(/\.?0+e/, "e");
    const places = Math.min(10, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
    return value.toLocaleString("en-US", { minimumFractionDigits: places, maximumFractionDigits: places, useGrouping: size >= 10000 });
  }

  // A scale is {at(value) -> pixel, back(pixel) -> value, ticks: [{value, text}]}.
  function linear([low, high], [from, to], { count = 5, nice = false } = {}) {
    const step = stepOf(low, high, count);
    if (nice && Number.isFinite(step) && step > 0) {
      low = Math.floor(low / step + 1e-9) * step;
      high = Math.ceil(high / step - 1e-9) * step;
    }
    const half = high / 2 - low / 2, ticks = [];
    if (step > 0 && Number.isFinite(step)) {
      const first = Math.ceil(low / step - 1e-9);
      // Beyond 2**53 adding one changes nothing: numbers that differ in their last digit have one tick.
      for (let n = 0, at = first; n < 60 && at * step <= high + step * 1e-9 && (n === 0 || at > first + n - 1); n++, at = first + n) {
        ticks.push({ value: at * step, text: tickText(at * step, step) });
      }
    }
    return {
      at: (value) => from + (value / 2 - low / 2) / half * (to - from),
      back: (pixel) => 2 * ((pixel - from) / (to - from) * half + low / 2),
      ticks, low, high,
    };
  }

  // Powers of ten. What is not above 0 has a place of its own at the left end, as the first price of a path is 0.
  function log(values, [from, to]) {
    const above = finite(values).filter((value) => value > 0), zero = finite(values).some((value) => value <= 0);
    if (!above.length) return linear(span(values), [from, to]);
    let low = Math.log10(Math.min(...above)), high = Math.log10(Math.max(...above));
    if (low === high) { low -= 0.5; high += 0.5; }
    const start = zero ? from + (to - from) * 0.08 : from;
    const at = (value) => value > 0 ? start + (Math.log10(value) - low) / (high - low) * (to - start) : from;
    const every = Math.max(1, Math.ceil((high - low) / Math.max(1, Math.abs(to - start) / 60)));
    const ticks = zero ? [{ value: 0, text: "0" }] : [];
    // Where there is room also twice and five times as much.
    const factors = Math.abs(to - start) / (high - low) > 140 ? [1, 2, 5] : [1];
    for (let power = Math.floor(low / every) * every; power <= high + 1e-9; power += every) {
      for (const factor of factors) {
        const place = power + Math.log10(factor);
        if (place < low - 1e-9 || place > high + 1e-9) continue;
        const text = power >= -3 && power <= 4 ? tickText(factor * 10 ** power, 10 ** power) : `${factor}e${power}`;
        ticks.push({ value: factor * 10 ** power, text });
      }
    }
    return { at, back: (pixel) => pixel < start ? 0 : 10 ** (low + (pixel - start) / (to - start) * (high - low)), ticks };
  }

  const text = (x, y, words, more = {}) => dom.svg("text", { x, y, class: "chart-text", ...more }, words);
  const rule = (x1, y1, x2, y2, kind) => dom.svg("line", { x1, y1, x2, y2, class: kind });

  // Lines across, and their numbers at the left; the label stands above, to be read without turning the head.
  function axisY(scale, box, label) {
    return [
      scale.ticks.map(({ value, text: words }) => [
        rule(box.left, scale.at(value), box.right, scale.at(value), "chart-grid"),
        text(box.left - 6, scale.at(value) + 4, words, { "text-anchor": "end" }),
      ]),
      label ? text(0, FONT, fit(label, box.right)) : null,
    ];
  }

  function axisX(scale, box, label) {
    let end = -Infinity;
    return [
      rule(box.left, box.bottom, box.right, box.bottom, "chart-axis"),
      [...scale.ticks].sort((one, other) => scale.at(one.value) - scale.at(other.value)).map(({ value, text: words }) => {
        const x = scale.at(value), half = textWidth(words) / 2;
        const middle = Math.min(Math.max(x, half), box.right + box.spare - half);
        const room = middle - half > end + 6;
        if (room) end = middle + half;
        return [
          rule(x, box.bottom, x, box.bottom + 4, "chart-axis"),
          room ? text(middle, box.bottom + 4 + FONT, words, { "text-anchor": "middle" }) : null,
        ];
      }),
      label ? text((box.left + box.right) / 2, box.bottom + 6 + FONT + LINE, fit(label, box.right), { "text-anchor": "middle" }) : null,
    ];
  }

  // Room for a plot of a width: the numbers of the y axis decide where it begins.
  function box(width, height, yTicks, { top = 24, xlabel = true } = {}) {
    const left = Math.ceil(Math.max(0, ...yTicks.map((tick) => textWidth(tick.text)))) + 10;
    return { left, right: width - 10, spare: 10, top, bottom: height - (xlabel ? 42 : 24) };
  }

  const sample = (color, dash) => dom.svg("svg", { class: "chart-sample", viewBox: "0 0 22 10", width: 22, height: 10, "aria-hidden": "true" },
    dash === null
      ? dom.svg("rect", { x: 5, y: 0, width: 12, height: 10, rx: 2, fill: color })
      : dom.svg("line", { x1: 0, y1: 5, x2: 22, y2: 5, stroke: color, "stroke-width": 3, "stroke-dasharray": dash || null }));

  // items: [{name, color, dash}], dash null for an area.
  const legend = (items) => items.length < 2 ? [] : dom.el("ul", { class: "chart-legend" },
    items.map(({ name, color, dash }) => dom.el("li", { title: name }, sample(color, dash), dom.el("span", {}, name))));

  const N_ROWS = 60;
  function table({ head, body }) {
    const every = Math.ceil(body.length / N_ROWS);
    const shown = body.filter((_, at) => at % every === 0 || at === body.length - 1).slice(-N_ROWS);
    const cell = (held, place) => typeof held === "string" && place === 0
      ? dom.el("th", { scope: "row" }, held)
      : dom.el("td", { class: "number" }, typeof held === "string" ? held : numbers.short(held));
    return dom.el("div", { class: "table-wrap", tabindex: 0, role: "group", "aria-label": "Numbers of the chart" },
      dom.el("table", {},
        dom.el("thead", {}, dom.el("tr", {}, head.map((name) => dom.el("th", { scope: "col" }, name)))),
        dom.el("tbody", {}, shown.map((row) => dom.el("tr", {}, row.map(cell))))),
      every > 1 ? dom.el("p", { class: "small muted" }, `${shown.length} of ${body.length} lines.`) : null);
  }

  // draw(svg, width) fills the drawing and returns its height; gist() says in a sentence what there is to see; rows() is
  // the table below, made when it is opened; reads keeps a line free for what the pointer is at.
  function figure(host, title, { draw, gist, rows, items, reads = false }) {
    const svg = dom.svg("svg", { role: "img", class: "chart-drawing" });
    const key = dom.el("div", {}), readout = dom.el("p", { class: "chart-readout", "aria-hidden": "true" });
    const details = dom.el("details", { class: "chart-numbers" }, dom.el("summary", {}, "Numbers"));
    const element = dom.el("figure", { class: "chart" }, dom.el("figcaption", {}, title), key, svg, reads ? readout : null, details);
    let drawn = 0;
    const fill = () => { if (details.open) details.replaceChildren(details.firstChild, table(rows())); };
    function redraw() {
      drawn = element.clientWidth || drawn || 480;
      const width = Math.max(200, Math.floor(drawn));
      dom.fill(key, legend(items()));
      svg.replaceChildren();
      const height = Math.round(draw(svg, width));
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      svg.setAttribute("aria-label", `${title}. ${gist()}`);
      fill();
    }
    details.addEventListener("toggle", fill);
    host.append(element);
    redraw();
    new ResizeObserver(() => { if (Math.abs(element.clientWidth - drawn) > 1 && element.clientWidth) redraw(); }).observe(element);
    return { element, svg, readout, redraw };
  }

  return { FONT, LINE, span, linear, log, fit, textWidth, text, rule, axisX, axisY, box, figure };
})();
