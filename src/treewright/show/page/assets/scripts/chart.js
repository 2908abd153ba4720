// Charts. Each appends a figure to its host: caption, drawing, the numbers as a table; and returns {update(changes), element}.
// lines also takes xreverse (the largest x at the left) and point ({x, y}: a single diamond, of no series).
// written: how a number of the axis across is written, where it is no number to readers (dates).
// top: values above it leave the picture; the table has them all.
// A pick by pointer is a shortcut: who gives onpick offers the same by keyboard (a slider, buttons).
const chart = (() => {
  const { FONT, LINE, text, rule } = chartAxes;
  const DASHES = ["", "7 4", "2 3", "9 3 2 3"];
  const put = (svg, ...children) => svg.append(...children.flat(Infinity).filter(Boolean));
  const pixel = (value) => Math.round(value * 100) / 100;

  const colorOf = (series, at) => series.color || `var(--class-${at % 24})`;
  const dashOf = (series, at) => series.dash === undefined ? DASHES[Math.floor(at / 8) % DASHES.length] : series.dash;

  // Runs of points without a gap, as texts for a path; a step holds its value up to the next x.
  function outline(xs, ys, step) {
    const parts = [];
    let before = null;
    xs.forEach((x, at) => {
      if (!Number.isFinite(x) || !Number.isFinite(ys[at])) { before = null; return; }
      if (before === null) parts.push(`M${pixel(x)} ${pixel(ys[at])}`);
      else parts.push(step ? `H${pixel(x)}V${pixel(ys[at])}` : `L${pixel(x)} ${pixel(ys[at])}`);
      before = at;
    });
    return parts.join("");
  }

  function band(xs, lows, highs, step) {
    const runs = [];
    let run = null;
    xs.forEach((x, at) => {
      if (![x, lows[at], highs[at]].every(Number.isFinite)) { run = null; return; }
      if (run === null) runs.push(run = []);
      // Both corners of a step: the band is one outline, there and back.
      if (step && run.length) run.push([x, run[run.length - 1][1], run[run.length - 1][2]]);
      run.push([x, lows[at], highs[at]]);
    });
    return runs.map((points) => "M" + [...points.map(([x, low]) => `${pixel(x)} ${pixel(low)}`),
      ...points.reverse().map(([x, , high]) => `${pixel(x)} ${pixel(high)}`)].join("L") + "Z").join("");
  }

  // Labels of marks in as many lines as keep them apart.
  function placedMarks(marks, at, width) {
    const ends = [];
    return [...marks].sort((one, other) => at(one.x) - at(other.x)).map((mark) => {
      const words = chartAxes.fit(mark.label, width), half = chartAxes.textWidth(words) / 2;
      const middle = Math.min(Math.max(at(mark.x), half), width - half);
      let row = ends.findIndex((end) => end + 8 < middle - half);
      if (row < 0) row = ends.push(-Infinity) - 1;
      ends[row] = middle + half;
      return { x: at(mark.x), middle, words, row };
    });
  }

  function lines(host, options) {
    const now = { marks: [], ...options };
    let plot = null, cursorLayer = null, hoverLayer = null;
    const values = (name) => now.series.map((series) => (series[name] || []).map(numbers.value));
    const xs = () => now.x.map(numbers.value);
    const acrossText = (value) => now.written ? now.written(value) : numbers.short(value);
    const top = () => now.top === undefined ? Infinity : now.top;
    // The last point above the top stands on the edge: there the line comes in.
    const inside = (y, index, all) => !(y > top()) ? y : all[index + 1] <= top() ? plot.y.high : NaN;

    // Between whole numbers (depths, leaves) there is nothing to tick.
    function ticksFor(width, low, high) {
      const count = Math.max(3, width / 75);
      return !now.domain?.x && xs().every(Number.isInteger) && high - low < count ? high - low : count;
    }

    function scales(width) {
      const [xLow, xHigh] = now.domain?.x || chartAxes.span([...now.x, ...now.marks.map((mark) => mark.x)]);
      const yEnds = now.domain?.y || chartAxes.span([...values("y"), ...values("low"), ...values("high")].flat().filter((y) => !(y > top())));
      const height = now.height || Math.min(320, Math.max(230, width * 0.5));
      const rough = chartAxes.linear(yEnds, [0, 1], { count: 5, nice: !now.domain?.y });
      let box = chartAxes.box(width, height, rough.ticks, { xlabel: Boolean(now.xlabel) });
      const ends = () => now.xreverse ? [box.right, box.left] : [box.left, box.right];
      const scale = () => now.logx ? chartAxes.log(now.domain?.x || [...now.x, ...now.marks.map((mark) => mark.x)], ends())
        : chartAxes.linear([xLow, xHigh], ends(), { count: ticksFor(box.right - box.left, xLow, xHigh) });
      const marks = placedMarks(now.marks, scale().at, width);
      const n_rows = Math.max(0, ...marks.map((mark) => mark.row + 1));
      box = { ...box, top: box.top + n_rows * LINE, bottom: box.bottom + n_rows * LINE };
      const y = chartAxes.linear(yEnds, [box.bottom, box.top], { count: 5, nice: !now.domain?.y });
      const x = scale();
      if (now.written) for (const tick of x.ticks) tick.text = now.written(tick.value);
      return { box, x, y, marks, height: height + n_rows * LINE };
    }

    function diagonal({ box, x, y }) {
      const low = Math.max(x.back(box.left), y.low), high = Math.min(x.back(box.right), y.high);
      return low < high ? rule(x.at(low), y.at(low), x.at(high), y.at(high), "chart-diagonal") : null;
    }

    function draw(svg, width) {
      plot = scales(width);
      const { box, x, y } = plot, at = xs().map(x.at);
      put(svg, chartAxes.axisY(y, box, now.ylabel), chartAxes.axisX(x, box, now.xlabel), now.diagonal ? diagonal(plot) : null);
      for (const mark of plot.marks) {
        put(svg, rule(mark.x, box.top - 4, mark.x, box.bottom, "chart-mark"),
          text(mark.middle, LINE + FONT + 2 + mark.row * LINE, mark.words, { "text-anchor": "middle" }));
      }
      now.series.forEach((series, place) => {
        if (!series.low || !series.high) return;
        const low = series.low.map((value) => y.at(numbers.value(value))), high = series.high.map((value) => y.at(numbers.value(value)));
        // Whiskers where nothing lies between the points.
        put(svg, series.whiskers ? at.map((across, index) => Number.isFinite(low[index]) && Number.isFinite(high[index]) ? rule(across, low[index], across, high[index], "chart-whisker") : null)
          : dom.svg("path", { d: band(at, low, high, series.step), fill: colorOf(series, place), class: "chart-band" }));
      });
      now.series.forEach((series, place) => put(svg, curve(series, place, at)));
      put(svg, hoverLayer = dom.svg("g", {}), cursorLayer = dom.svg("g", {}));
      drawCursor();
      return plot.height;
    }

    function curve(series, place, at) {
      const ys = series.y.map(numbers.value).map(inside).map((value) => plot.y.at(value)), color = colorOf(series, place);
      const dots = series.dots ? at.map((x, index) => Number.isFinite(ys[index])
        ? dom.svg("circle", { cx: pixel(x), cy: pixel(ys[index]), r: 3, fill: color }) : null) : [];
      return [dom.svg("path", { d: outline(at, ys, series.step), stroke: color, class: "chart-line",
        "stroke-width": series.width || 2, "stroke-opacity": series.opacity || null, "stroke-dasharray": dashOf(series, place) || null }), dots];
    }

    // A line at an x with a ring on each series; series without a value there have none.
    function lineAt(layer, x, kind) {
      const across = plot.x.at(x), index = nearest(across);
      layer.replaceChildren(rule(across, plot.box.top, across, plot.box.bottom, kind));
      now.series.forEach((series, place) => {
        const y = plot.y.at(numbers.value(series.y[index]));
        if (Number.isFinite(y) && y >= plot.box.top) put(layer, dom.svg("circle", { cx: across, cy: y, r: 4.5, stroke: colorOf(series, place), class: "chart-ring" }));
      });
    }

    function drawCursor() {
      if (now.cursor === undefined || now.cursor === null) cursorLayer.replaceChildren();
      else lineAt(cursorLayer, numbers.value(now.cursor), "chart-cursor");
      const x = now.point ? plot.x.at(numbers.value(now.point.x)) : NaN, y = now.point ? plot.y.at(numbers.value(now.point.y)) : NaN;
      if (Number.isFinite(x) && Number.isFinite(y)) put(cursorLayer, dom.svg("path", { d: `M${x} ${y - 7}l7 7l-7 7l-7 -7Z`, class: "chart-single" }));
    }

    function nearest(across) {
      let best = 0;
      xs().forEach((x, at) => {
        if (Math.abs(plot.x.at(x) - across) < Math.abs(plot.x.at(numbers.value(now.x[best])) - across)) best = at;
      });
      return best;
    }

    function pointed(event) {
      const held = made.svg.getBoundingClientRect();
      return nearest((event.clientX - held.left) * made.svg.viewBox.baseVal.width / held.width);
    }

    function hover(event) {
      const index = pointed(event);
      lineAt(hoverLayer, numbers.value(now.x[index]), "chart-hover");
      const said = now.series.slice(0, 6).map((series) => `${chartAxes.fit(series.name, 110)} ${numbers.short(series.y[index])}`);
      made.readout.textContent = `${now.xlabel || "x"} ${acrossText(now.x[index])}: ${said.join(", ")}`;
    }

    function gist() {
      return `${now.ylabel || "Values"} over ${now.xlabel || "x"}. ` + now.series.slice(0, 8).map((series) => {
        const ys = series.y.map(numbers.value), held = ys.filter(Number.isFinite);
        if (!held.length) return `${series.name}: no numbers.`;
        const least = Math.min(...held);
        return `${series.name}: first ${numbers.short(ys[0])}, last ${numbers.short(ys[ys.length - 1])}, least ${numbers.short(least)} at ${acrossText(now.x[ys.indexOf(least)])}.`;
      }).join(" ");
    }

    function rows() {
      const columns = now.series.flatMap((series) => [[series.name, series.y],
        ...(series.low && series.high ? [[`${series.name}, from`, series.low], [`${series.name}, to`, series.high]] : [])]);
      return { head: [now.xlabel || "x", ...columns.map(([name]) => name)],
        body: now.x.map((x, at) => [now.written ? now.written(x) : x, ...columns.map(([, held]) => held[at])]) };
    }

    const items = () => now.series.map((series, at) => ({ name: series.name, color: colorOf(series, at), dash: dashOf(series, at) }));
    const made = chartAxes.figure(host, now.title, { draw, gist, rows, items, reads: true });
    made.svg.addEventListener("pointermove", hover);
    made.svg.addEventListener("pointerleave", () => { hoverLayer.replaceChildren(); made.readout.textContent = ""; });
    if (now.onpick) {
      made.svg.classList.add("chart-pick");
      made.svg.addEventListener("click", (event) => now.onpick(pointed(event)));
    }
    return {
      element: made.element,
      update(changes) {
        Object.assign(now, changes);
        // What moves must not cost a whole drawing.
        if (Object.keys(changes).every((name) => name === "cursor" || name === "point")) drawCursor(); else made.redraw();
      },
    };
  }

  function points(host, options) {
    const now = { ...options };
    function draw(svg, width) {
      const xs = now.x.map(numbers.value), ys = now.y.map(numbers.value), height = now.height || Math.min(340, Math.max(240, width * 0.6));
      const both = now.diagonal ? chartAxes.span([...now.x, ...now.y]) : null;
      const xEnds = now.domain?.x || both || chartAxes.span(now.x), yEnds = now.domain?.y || both || chartAxes.span(now.zero ? [...now.y, 0] : now.y);
      const rough = chartAxes.linear(yEnds, [0, 1], { nice: true }), box = chartAxes.box(width, height, rough.ticks, { xlabel: Boolean(now.xlabel) });
      const x = chartAxes.linear(xEnds, [box.left + 6, box.right - 6], { count: Math.max(3, (box.right - box.left) / 75) });
      const y = chartAxes.linear(yEnds, [box.bottom - 4, box.top], { nice: true });
      put(svg, chartAxes.axisY(y, box, now.ylabel), chartAxes.axisX(x, box, now.xlabel),
        now.diagonal ? rule(x.at(xEnds[0]), y.at(xEnds[0]), x.at(xEnds[1]), y.at(xEnds[1]), "chart-diagonal") : null,
        now.zero ? rule(box.left, y.at(0), box.right, y.at(0), "chart-diagonal") : null,
        xs.map((value, at) => Number.isFinite(value) && Number.isFinite(ys[at])
          ? dom.svg("circle", { cx: pixel(x.at(value)), cy: pixel(y.at(ys[at])), r: xs.length > 500 ? 2 : 3, class: "chart-point", fill: now.color || "var(--accent)" }) : null));
      return height;
    }
    const gist = () => `${numbers.counted(now.x.length, "point")}: ${now.ylabel || "y"} from ${chartAxes.span(now.y).map((end) => numbers.short(end)).join(" to ")} over ${now.xlabel || "x"} from ${chartAxes.span(now.x).map((end) => numbers.short(end)).join(" to ")}.`;
    const rows = () => ({ head: [now.xlabel || "x", now.ylabel || "y"], body: now.x.map((x, at) => [x, now.y[at]]) });
    const made = chartAxes.figure(host, now.title, { draw, gist, rows, items: () => [] });
    return { element: made.element, update(changes) { Object.assign(now, changes); made.redraw(); } };
  }

  return { lines, points, bars: chartBars.bars, stacked: chartBars.stacked, matrix: chartBars.matrix };
})();
