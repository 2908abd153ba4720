// One column in the rows of a node: a histogram with a cut that can be dragged, or levels as chips that go from branch to
// branch; and what the question gains, asked anew while it is changed.
const question = (() => {
  const WIDE = 480, TALL = 110, PAUSE = 120, NAMES = ["left", "right"];
  const color = (code) => code === null ? "var(--accent)" : code < 0 ? "var(--muted)" : `var(--class-${code % 24})`;

  // bench: what asks; path, picture: the node, and what Desk's "column" answered; branchNames: what leads into
  // the branches of the question that is asked.
  function make(bench, path, picture, columns, branchNames) {
    const column = columns[picture.column];
    const self = { bench, path, picture, column, moved: {}, cut: picture.cuts && picture.cuts.length ? picture.cuts[0] : null, missing: sideOf(picture), timer: 0, asked: 0 };
    self.said = dom.el("p", { class: "bench-said", role: "status" });
    const body = picture.kind === "nominal" ? chips(self, branchNames) : histogram(self);
    const element = dom.el("div", { class: "bench-question" },
      dom.el("h3", {}, column.name), body, missing(self), self.said);
    return { element, given: () => given(self), enter: (act) => { self.act = act; } };
  }

  const sideOf = (picture) => picture.missing && picture.missing_goes !== null && picture.missing_goes !== undefined ? String(picture.missing_goes) : "";

  // Below what float64 holds a p-value has no digits.
  const chance = (p) => p === 0 ? "< 1e-300" : numbers.short(p, 2);

  function given(self) {
    const found = { column: self.picture.column };
    if (self.picture.kind === "nominal") found.moved = self.moved;
    else if (self.cut !== null) found.cut = self.cut;
    if (self.missing) found.missing = /^\d+$/.test(self.missing) ? Number(self.missing) : self.missing;
    return found;
  }

  // What the question gains as it stands; of answers that come late only the last counts.
  function weigh(self, pause = PAUSE) {
    clearTimeout(self.timer);
    self.timer = setTimeout(async () => {
      const turn = ++self.asked;
      const answer = await self.bench.ask({ ask: "question", path: self.path, ...given(self) }, { quiet: true });
      if (turn !== self.asked) return;
      if (answer.error) { wrong(self, answer.error); return; }
      self.said.classList.remove("is-wrong");
      const { gain, cost, p_value: p, adjusted_p_value: adjusted, branches } = answer.question;
      self.said.textContent = `Gain ${numbers.short(gain)}, cost ${numbers.short(cost)}; p ${chance(p)}, adjusted ${chance(adjusted)}. Rows: ${branches.map((each) => numbers.short(each.n)).join(" | ")}`;
    }, pause);
  }

  function wrong(self, text) {
    clearTimeout(self.timer);
    self.asked++;
    self.said.textContent = text;
    self.said.classList.add("is-wrong");
  }

  function missing(self) {
    if (!self.picture.missing) return null;
    const n = self.picture.n_branches || 2;
    const options = [["", n > 2 ? "to the largest branch" : "to the larger branch"],
      ...Array.from({ length: n }, (_, at) => [n === 2 ? NAMES[at] : String(at), `to branch ${at}`]), ["own", "to a branch of their own"]];
    return dom.el("label", { class: "bench-missing" }, `${numbers.counted(self.picture.missing, "missing cell")} `,
      dom.el("select", { onchange: (event) => { self.missing = event.target.value; weigh(self); } },
        options.map(([value, text]) => dom.el("option", { value, selected: value === self.missing }, text))));
  }

  // ---- a column with an order ----

  function histogram(self) {
    const { picture, column } = self, { edges, values } = picture, n = edges.length - 1;
    const low = edges[0], high = edges[n], ordinal = picture.kind === "ordinal";
    // Where a cut can lie: between two values, where they are few, else at 200 places of the range.
    const round = (value) => Number(value.toPrecision(picture.is_whole ? 15 : Math.max(3, Math.min(12, 4 + Math.ceil(Math.log10(Math.max(Math.abs(low), Math.abs(high), 1e-300) / (high - low)))))));
    const places = values.length > 1 ? values.slice(0, -1).map((each, at) => ordinal ? Math.floor(each) + 0.5 : Number((each / 2 + values[at + 1] / 2).toPrecision(12)))
      : values.length ? [values[0]] : Array.from({ length: 199 }, (_, at) => { const value = low + (high - low) * (at + 1) / 200; return picture.is_whole ? Math.floor(value) + 0.5 : round(value); });
    if (self.cut === null) self.cut = places[Math.floor(places.length / 2)];
    // Of few values each has as much room.
    const share = (value) => values.length ? values.filter((each) => each <= value).length / n : Math.min(1, Math.max(0, (value - low) / (high - low)));
    const line = dom.svg("line", { class: "bench-cut", y1: 0, y2: TALL });
    const grip = dom.svg("path", { class: "bench-grip", d: "M-7 -1h14l-7 11Z" });
    const svg = dom.svg("svg", { class: "bench-bars", viewBox: `-8 -2 ${WIDE + 16} ${TALL + 4}`, preserveAspectRatio: "none", "aria-hidden": "true" },
      bars(picture, edges, (edge) => (edge - low) / (high - low)), line, grip);
    const words = (value) => ordinal ? picture.names[Math.floor(value)] || "" : column.dates ? numbers.ofColumn(column, value) : numbers.short(value, 10);
    const out = dom.el("output", { class: "bench-cut-words" });
    const field = dom.el("input", { type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false", "aria-label": `Cut of ${column.name}`,
      oninput: () => typed(), onkeydown: (event) => { if (event.key === "Enter" && self.cut !== null && self.act) self.act(); } });
    const nearest = (value) => places.reduce((best, each, at) => Math.abs(each - value) < Math.abs(places[best] - value) ? at : best, 0);
    const slider = dom.el("input", {
      type: "range", min: 0, max: places.length - 1, step: 1, "aria-label": `Cut of ${column.name}, as a slider`,
      oninput: () => put(places[slider.value], slider),
    });
    function typed() {
      const text = field.value.trim(), days = column.dates ? numbers.daysOf(column, text) : undefined;
      const value = days !== undefined ? days : /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text) ? Number(text) : NaN;
      if (Number.isFinite(value)) { put(value, field); return; }
      self.cut = null;
      wrong(self, text ? `"${text}" is not a number: write it with a point, such as 24.5.` : "Give a cut.");
    }
    function put(value, from) {
      self.cut = value;
      const x = share(value) * WIDE;
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
      grip.setAttribute("transform", `translate(${x} 0)`);
      if (from !== slider) slider.value = nearest(value);
      if (from !== field) field.value = column.dates ? numbers.ofColumn(column, value) : value;
      slider.setAttribute("aria-valuetext", `up to ${words(value)}`);
      out.textContent = `${column.name} \u2264 ${words(value)}`;
      if (from) weigh(self);
    }
    // What lies under the pointer.
    function under(event) {
      const box = svg.getBoundingClientRect(), at = Math.min(1, Math.max(0, ((event.clientX - box.left) / box.width * (WIDE + 16) - 8) / WIDE));
      if (values.length > 1) return places[Math.min(places.length - 1, Math.max(0, Math.round(at * n) - 1))];
      const value = low + (high - low) * at;
      return values.length ? places[0] : picture.is_whole ? Math.floor(value) + 0.5 : round(value);
    }
    svg.addEventListener("pointerdown", (event) => { event.preventDefault(); svg.setPointerCapture(event.pointerId); put(under(event), svg); });
    svg.addEventListener("pointermove", (event) => { if (svg.hasPointerCapture(event.pointerId)) put(under(event), svg); });
    put(self.cut, null);
    weigh(self, 0);
    return [svg, dom.el("p", { class: "bench-ends small muted" }, dom.el("span", {}, words(picture.ends[0])), picture.means && dom.el("span", {}, "dots: the mean of the target"), dom.el("span", {}, words(picture.ends[1]))),
      slider, dom.el("p", { class: "bench-exact" }, out, ordinal ? null : field)];
  }

  // Bars by class, from the bottom up; of numbers one sort, and a dot at the mean of the target.
  function bars(picture, edges, share) {
    const n = edges.length - 1, totals = Array.from({ length: n }, (_, at) => picture.counts.reduce((sum, own) => sum + own[at], 0));
    const most = Math.max(...totals, 1e-300), from = new Array(n).fill(TALL);
    const paths = picture.counts.map((own, group) => dom.svg("path", { fill: color(picture.codes[group]), d: own.map((held, at) => {
      if (!(held > 0)) return "";
      const size = from[at] === TALL ? Math.max(1.5, held / most * (TALL - 4)) : held / most * (TALL - 4), base = from[at];
      from[at] = Math.max(0, base - size);
      const left = share(edges[at]) * WIDE, right = share(edges[at + 1]) * WIDE, rim = Math.min(0.7, (right - left) / 8);
      return `M${(left + rim).toFixed(2)} ${base.toFixed(2)}V${from[at].toFixed(2)}H${(right - rim).toFixed(2)}V${base.toFixed(2)}Z`;
    }).join("") }));
    return [paths, means(picture, edges, share)];
  }

  function means(picture, edges, share) {
    const held = (picture.means || []).filter((mean) => mean !== null);
    if (!held.length) return null;
    const low = Math.min(...held), high = Math.max(...held);
    return picture.means.map((mean, at) => mean === null ? null : dom.svg("circle", {
      class: "bench-mean", r: 2.6, cx: (share(edges[at]) + share(edges[at + 1])) / 2 * WIDE, cy: TALL - 5 - (high > low ? (mean - low) / (high - low) : 0.5) * (TALL - 10),
    }));
  }

  // ---- levels ----

  function chips(self, branchNames) {
    const { picture } = self, hosts = [];
    const branchOf = (level) => self.moved[level.code] ?? level.branch;
    const heaviest = Math.max(...picture.levels.map((_, at) => total(picture, at)), 1e-300);
    const put = (level, branch, chip) => {
      self.moved[level.code] = branch;
      hosts[branch].append(chip);
      name(chip, level, branch);
      weigh(self);
    };
    const name = (chip, level, branch) => chip.setAttribute("aria-label", `${level.name}, in branch ${branch}: moves to the next branch`);
    const all = picture.levels.map((level, at) => {
      const chip = dom.el("button", { type: "button", class: "bench-chip", draggable: "true", "data-code": level.code, title: `${level.name}: ${numbers.short(total(picture, at))}${picture.means ? `, mean ${numbers.short(picture.means[at])}` : ""}`,
        onclick: () => { put(level, (branchOf(level) + 1) % picture.n_branches, chip); chip.focus(); },
        ondragstart: (event) => { event.dataTransfer.setData("text/plain", String(at)); event.dataTransfer.effectAllowed = "move"; } },
      dom.el("span", { class: "bench-chip-name" }, level.name, dom.el("span", { class: "muted" }, ` ${numbers.short(total(picture, at))}`)), mini(picture, at, heaviest));
      name(chip, level, branchOf(level));
      return chip;
    });
    for (let branch = 0; branch < picture.n_branches; branch++) {
      const host = dom.el("div", { class: "bench-chips", "data-branch": branch });
      hosts.push(host);
      picture.levels.forEach((level, at) => { if (branchOf(level) === branch) host.append(all[at]); });
      host.addEventListener("dragover", (event) => { event.preventDefault(); host.classList.add("is-over"); });
      host.addEventListener("dragleave", () => host.classList.remove("is-over"));
      host.addEventListener("drop", (event) => {
        event.preventDefault();
        host.classList.remove("is-over");
        const at = Number(event.dataTransfer.getData("text/plain"));
        if (picture.levels[at]) put(picture.levels[at], branch, all[at]);
      });
    }
    weigh(self, 0);
    return [hosts.map((host, branch) => dom.el("div", { class: "bench-branch", role: "group", "aria-label": `Branch ${branch}` },
      dom.el("p", { class: "small muted" }, branchNames[branch] || `branch ${branch}`), host)),
    picture.n_others > 0 && dom.el("p", { class: "small muted" }, `Not shown: ${numbers.counted(picture.n_others, "level")} with fewer rows, left in place.`)];
  }

  const total = (picture, at) => picture.counts.reduce((sum, own) => sum + own[at], 0);

  function mini(picture, at, heaviest) {
    const whole = total(picture, at), steps = [];
    let from = 0;
    picture.counts.forEach((own, group) => {
      const part = whole > 0 ? 100 * own[at] / whole : 0;
      if (part > 0) steps.push(`${color(picture.codes[group])} ${from.toFixed(1)}% ${(from += part).toFixed(1)}%`);
    });
    return dom.el("span", { class: "bar", style: { width: `${Math.max(8, 100 * whole / heaviest).toFixed(0)}%`, "background-image": steps.length ? `linear-gradient(to right, ${steps})` : "none" } });
  }

  return { make, chance };
})();
