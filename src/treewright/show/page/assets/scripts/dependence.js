// Partial dependence: what the model says on average when a column has this or that value, with single rows behind it.
const dependence = (() => {
  const { FONT, text, rule } = chartAxes;
  const DASHES = ["", "7 4", "2 3", "9 3 2 3"];
  const GOLDEN = 0.6180339887498949;
  const colorOf = (line) => `var(--class-${line.code === null ? 0 : line.code % 24})`;
  const place = (value) => Math.round(value * 100) / 100;

  const outline = (xs, ys) => xs.map((x, at) => `${at ? "L" : "M"}${place(x)} ${place(ys[at])}`).join("");

  // Levels side by side: {at(index), width, turned}.
  function bands(labels, box) {
    const width = (box.right - box.left) / labels.length;
    const turned = labels.some((label) => chartAxes.textWidth(label) > width - 6);
    return { at: (index) => box.left + (index + 0.5) * width, width, turned };
  }

  function levelTexts(labels, across, box) {
    const every = Math.ceil(14 / across.width);
    return labels.map((label, at) => {
      if (at % every) return null;
      const x = across.at(at), words = chartAxes.fit(label, across.turned ? 76 : across.width);
      const written = across.turned
        ? text(x + 4, box.bottom + 14, words, { "text-anchor": "end", transform: `rotate(-40 ${place(x + 4)} ${place(box.bottom + 14)})` })
        : text(x, box.bottom + 4 + FONT, words, { "text-anchor": "middle" });
      if (words !== label) written.append(dom.svg("title", {}, label));
      return written;
    });
  }

  // One line with its single rows, over numbers.
  function curve(line, number, xs, y, single) {
    const color = colorOf(line);
    return [
      single ? line.rows.map((row) => dom.svg("path", { d: outline(xs, row.map((value) => y.at(numbers.value(value)))), class: "dependence-row", stroke: color })) : null,
      dom.svg("path", { d: outline(xs, line.means.map((value) => y.at(numbers.value(value)))), class: "dependence-mean", stroke: color,
        "stroke-dasharray": DASHES[Math.floor(number / 8) % DASHES.length] || null }),
    ];
  }

  // One line at levels: nothing lies between them, so there is nothing to join.
  function dots(line, number, count, across, y, single) {
    const color = colorOf(line), beside = (number - (count - 1) / 2) * Math.min(14, across.width / (count + 1));
    return [
      single ? line.rows.map((row, at) => row.map((value, index) => dom.svg("circle", { class: "dependence-dot", fill: color, r: 2.2,
        cx: place(across.at(index) + (at * GOLDEN % 1 - 0.5) * across.width * 0.6), cy: place(y.at(numbers.value(value))) }))) : null,
      line.means.map((value, index) => {
        const x = place(across.at(index) + beside), top = place(y.at(numbers.value(value)));
        return dom.svg("path", { d: `M${x - 6} ${top}L${x} ${top - 6}L${x + 6} ${top}L${x} ${top + 6}Z`, fill: color, class: "dependence-point" },
          dom.svg("title", {}, `${line.name}: ${numbers.short(value)}`));
      }),
    ];
  }

  // The value of the row that is followed, if it has one here.
  function followed(part, position) {
    const cell = state.get("row")?.cells?.[position];
    if (cell === null || cell === undefined || Number.isNaN(numbers.value(cell))) return null;
    if (part.values.length) return numbers.value(cell);
    const level = state.summary.columns[position].levels[cell], at = part.labels.indexOf(level);
    return at < 0 ? null : at;
  }

  // options: {name, position, said}. Returns {update()}.
  function draw(host, part, options) {
    const isNumeric = part.values.length > 0;
    let chosen = part.lines.length === 1 ? part.lines[0] : null;

    const shown = () => chosen ? [chosen] : part.lines;
    const label = () => options.said.task === "regression" ? `mean prediction${options.said.target ? ` of ${options.said.target}` : ""}`
      : `mean probability of ${chosen ? chosen.name : "the class"}`;

    function paint(svg, width) {
      const single = chosen !== null, values = shown().flatMap((line) => [line.means, ...(single ? line.rows : [])]).flat();
      const ends = chartAxes.span(values), ticks = chartAxes.linear(ends, [0, 1], { nice: true }).ticks;
      let height = Math.min(320, Math.max(240, width * 0.5)), box = chartAxes.box(width, height, ticks);
      let across = isNumeric ? null : bands(part.labels, box);
      if (across && across.turned) {
        box = { ...box, left: Math.max(box.left, 64) };
        height += 46;
        across = bands(part.labels, box);
      }
      const y = chartAxes.linear(ends, [box.bottom, box.top], { nice: true });
      const x = isNumeric ? chartAxes.linear(chartAxes.span(part.values), [box.left, box.right], { count: Math.max(3, (box.right - box.left) / 75) }) : null;
      const column = state.summary.columns[options.position];
      if (isNumeric && column.dates) for (const tick of x.ticks) tick.text = numbers.dated(column, tick.value);
      const xs = isNumeric ? part.values.map((value) => x.at(numbers.value(value))) : [];
      const drawn = shown().map((line, number) => isNumeric ? curve(line, number, xs, y, single) : dots(line, number, shown().length, across, y, single));
      const parts = [
        chartAxes.axisY(y, box, label()),
        isNumeric ? chartAxes.axisX(x, box, options.name) : [rule(box.left, box.bottom, box.right, box.bottom, "chart-axis"), levelTexts(part.labels, across, box),
          text((box.left + box.right) / 2, height - 4, chartAxes.fit(options.name, width), { "text-anchor": "middle" })],
        isNumeric ? part.deciles.map((decile) => rule(x.at(numbers.value(decile)), box.bottom - 7, x.at(numbers.value(decile)), box.bottom, "dependence-decile")) : null,
        drawn, cursor(box, x, across),
      ];
      svg.append(...parts.flat(Infinity).filter(Boolean));
      return height;
    }

    function cursor(box, x, across) {
      const value = followed(part, options.position);
      if (value === null) return null;
      const at = Math.min(box.right, Math.max(box.left, isNumeric ? x.at(value) : across.at(value)));
      return rule(at, box.top, at, box.bottom, "chart-cursor");
    }

    const at = (index) => isNumeric ? numbers.short(part.values[index]) : part.labels[index];
    function gist() {
      return shown().slice(0, 6).map((line) => {
        const held = line.means.map(numbers.value), low = held.indexOf(Math.min(...held)), high = held.indexOf(Math.max(...held));
        return `${line.name}: lowest ${numbers.short(held[low])} at ${at(low)}, highest ${numbers.short(held[high])} at ${at(high)}.`;
      }).join(" ");
    }

    const rows = () => ({ head: [options.name, ...shown().map((line) => line.name)],
      body: shown()[0].means.map((_, index) => [isNumeric ? part.values[index] : part.labels[index], ...shown().map((line) => line.means[index])]) });
    const items = () => shown().map((line, number) => ({ name: line.name, color: colorOf(line), dash: isNumeric ? DASHES[Math.floor(number / 8) % DASHES.length] : null }));
    const made = chartAxes.figure(host, "Partial dependence", { draw: paint, gist, rows, items });
    if (part.lines.length > 1) made.element.insertBefore(picker(), made.svg);
    made.element.append(dom.el("p", { class: "small muted dependence-note" }, note(part, isNumeric)));

    function picker() {
      const select = dom.el("select", { onchange: (event) => { chosen = part.lines[event.target.value] || null; made.redraw(); } },
        dom.el("option", { value: "" }, "all classes"), part.lines.map((line, number) => dom.el("option", { value: number }, line.name)));
      return dom.el("label", { class: "dependence-class" }, "Class ", select);
    }
    return { update: made.redraw, element: made.element };
  }

  function note(part, isNumeric) {
    const single = part.lines[0].rows.length;
    return `The column is set to each value in ${numbers.counted(part.n_rows, "row")}; ${part.lines.length > 1 ? "with a class chosen, " : ""}thin ${isNumeric ? "lines" : "dots"} are ${numbers.counted(single, "single row")}.${isNumeric ? " Marks at the bottom: deciles of the rows." : part.lines.length > 1 ? " Means are in the order of the classes." : ""}`;
  }

  return { draw };
})();
