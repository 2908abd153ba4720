// The cells of a row, to be typed: a number with a slider, a list of levels, or a text that finds one of many levels.
const followFields = (() => {
  const MANY_LEVELS = 60, MOST_FOUND = 50, STEPS = 200, MOST_FIELDS = 10, DIGITS = 7;

  // fields(columns, asked, {unseen}, onchange) -> {element, read(), write(cells), kept(), nKept(), wrong()}
  function fields(columns, asked, policy, onchange) {
    const made = columns.map((column, at) => whenShown(column, at, policy, changed));
    // What is made of other columns, such as a part of a date, is shown behind these, which decide it.
    const wanted = [...new Set(asked.flatMap((at) => columns[at].part ? [...columns[at].sources, at] : [at]))];
    const some = wanted.length > MOST_FIELDS + 2 ? wanted.slice(0, MOST_FIELDS) : wanted;
    const rest = columns.map((_, at) => at).filter((at) => !wanted.includes(at) && !columns[at].left_out);
    const parts = columns.flatMap((column, at) => column.part ? [at] : []);
    const fixed = parts.flatMap((at) => [at, ...columns[at].sources]);
    function changed() {
      const cells = made.map((each) => each.read());
      for (const at of parts) made[at].write(numbers.madeOf(columns, at, cells));
      onchange();
    }
    const element = dom.el("fieldset", { class: "follow-fields" },
      dom.el("legend", { class: "visually-hidden" }, "Values of the row"),
      dom.el("div", {}, some.map((at) => made[at].element)),
      moreFields(wanted.slice(some.length), made, "more column", "used by this tree"),
      moreFields(rest, made, "column", "not used by this tree"));
    return {
      element,
      read: () => made.map((each) => each.read()),
      write: (cells) => made.forEach((each, at) => each.write(cells[at])),
      // Columns stay with what is made of them: one changed without the other would be no row that there can be.
      kept: () => new Set([...fixed, ...made.flatMap((each, at) => each.kept() ? [at] : [])]),
      nKept: () => made.filter((each) => each.kept()).length,
      wrong: () => made.some((each) => each.wrong()),
    };
  }

  // What lies farther off is put into the page when somebody looks at it: there may be thousands of columns.
  function moreFields(positions, made, noun, what) {
    if (!positions.length) return null;
    const host = dom.el("div", {});
    return dom.el("details", { ontoggle: (event) => { if (event.target.open) dom.fill(host, positions.map((at) => made[at].element)); } },
      dom.el("summary", {}, `${numbers.counted(positions.length, noun)} ${what}`), host);
  }

  // A field that is made when it is shown; until then it only holds its cell.
  function whenShown(column, at, policy, onchange) {
    let cell = null, made = null;
    return {
      get element() {
        if (!made) {
          made = field(column, at, policy, onchange);
          made.write(cell);
        }
        return made.element;
      },
      read: () => made ? made.read() : cell,
      write(value) {
        cell = route.isMissing(value) ? null : value;
        if (made) made.write(cell);
      },
      kept: () => made !== null && made.kept(),
      wrong: () => made !== null && made.wrong(),
    };
  }

  function field(column, at, policy, onchange) {
    const id = `follow-field-${at}`;
    if (column.part) return partField(column, id);
    const control = column.kind === "numeric" ? numberControl(column, id, onchange)
      : column.levels.length > MANY_LEVELS ? searchControl(column, id, policy, onchange)
      : selectControl(column, id, policy, onchange);
    const keep = dom.el("input", { type: "checkbox", id: `${id}-keep`, onchange });
    const label = dom.el("label", { for: id, title: column.name }, column.name);
    const element = dom.el("div", { class: "follow-field" },
      label, control.elements,
      dom.el("label", { class: "follow-keep small", title: `Suggest no change of ${column.name}` },
        keep, dom.el("span", {}, "keep"), dom.el("span", { class: "visually-hidden" }, ` ${column.name} as it is`)));
    return { ...control, element, kept: () => keep.checked };
  }

  // What is made of other columns is read off, not typed.
  function partField(column, id) {
    let cell = null;
    const output = dom.el("output", { id });
    return {
      element: dom.el("div", { class: "follow-field" }, dom.el("label", { for: id, title: column.name }, column.name), output),
      read: () => cell,
      write(value) {
        cell = value;
        output.textContent = cell === null ? "missing" : column.levels.length ? column.levels[cell] : numbers.short(cell, DIGITS);
      },
      kept: () => false,
      wrong: () => false,
    };
  }

  // What is wrong with what was typed, below the field.
  function wordsBelow(id) {
    const element = dom.el("p", { id: `${id}-words`, class: "follow-words small", hidden: true });
    return { element, tell(words) { element.textContent = words; element.hidden = !words; } };
  }

  // A number, or nothing for a missing one. The slider spans the test rows.
  function numberControl(column, id, onchange) {
    let cell = null;
    const text = dom.el("input", { type: "text", id, inputmode: column.dates ? "text" : "decimal", autocomplete: "off", placeholder: "missing", "aria-describedby": `${id}-words`, oninput: typed });
    const words = wordsBelow(id);
    const low = numbers.value(column.low), high = numbers.value(column.high), slides = low < high && Number.isFinite(high - low);
    const least = column.dates === "date" ? 1 : 0;
    const step = slides ? Math.max(least, 10 ** Math.floor(Math.log10((high - low) / STEPS))) : 1;
    const shown = (number, text) => column.dates ? numbers.dated(column, number) : text;
    const slider = slides ? dom.el("input", {
      type: "range", min: Math.floor(low / step) * step, max: Math.ceil(high / step) * step, step,
      "aria-label": `${column.name}, slider`, oninput: slid }) : null;
    // undefined: the text is no number.
    function parsed() {
      const said = text.value.trim();
      if (said === "") return null;
      // The text that stands there may say less than the cell does, such as no seconds.
      if (column.dates) return cell !== null && said === numbers.dated(column, cell) ? cell : numbers.daysOf(column, said);
      const number = /^[+-]?inf(inity)?$/i.test(said) ? (said[0] === "-" ? -Infinity : Infinity) : Number(said.replace("−", "-"));
      return Number.isNaN(number) ? undefined : number;
    }
    function typed() {
      const number = parsed();
      const wrong = column.dates ? `not read as a ${column.dates}${column.zone ? " with its offset, such as 2024-03-05 14:30+01:00" : ""}` : "not a number";
      words.tell(number === undefined ? `${wrong}; ${cell === null ? "missing" : numbers.ofColumn(column, cell, DIGITS)} stays${column.dates ? "" : "; the decimal sign is a point"}` : "");
      text.setAttribute("aria-invalid", String(number === undefined));
      if (number === undefined) return;
      cell = number;
      if (slider && cell !== null) slider.value = String(cell);
      onchange();
    }
    function slid() {
      cell = Number(Number(slider.value).toPrecision(12));
      text.value = shown(cell, String(cell));
      words.tell("");
      text.setAttribute("aria-invalid", "false");
      onchange();
    }
    return {
      elements: [text, slider || dom.el("span", {}), words.element],
      read: () => cell,
      write(value) {
        cell = route.isMissing(value) ? null : value;
        // As many digits as can be read; the cell itself stays exact until somebody types.
        text.value = cell === null ? "" : shown(cell, String(Number(cell.toPrecision(DIGITS))));
        text.title = cell === null ? "" : String(cell);
        words.tell("");
        text.setAttribute("aria-invalid", "false");
        if (slider && cell !== null) slider.value = String(cell);
      },
      wrong: () => parsed() === undefined,
    };
  }

  // A level never seen is a choice of its own only where the model has a way for it.
  const hasUnseen = (column, policy) => policy.unseen === "majority" && column.kind === "nominal";

  function selectControl(column, id, policy, onchange) {
    const option = (value, said) => dom.el("option", { value }, said);
    const select = dom.el("select", { id, onchange },
      option("", "missing"), column.levels.map((level, code) => option(code, level)),
      hasUnseen(column, policy) ? option(column.levels.length, "a level not in the training rows") : null);
    return {
      elements: [select, dom.el("span", {})],
      read: () => select.value === "" ? null : Number(select.value),
      write: (value) => { select.value = route.isMissing(value) ? "" : String(value); },
      wrong: () => false,
    };
  }

  // Of many levels those that hold the text are offered. Levels that look alike are told apart by their number.
  function searchControl(column, id, policy, onchange) {
    let cell = null;
    const many = new Map();
    for (const level of column.levels) many.set(level, (many.get(level) || 0) + 1);
    const names = column.levels.map((level, code) => many.get(level) > 1 ? `${level} [${code}]` : level);
    if (hasUnseen(column, policy)) names.push("(a level not in the training rows)");
    const codes = new Map(names.map((name, code) => [name, code]));
    const list = dom.el("datalist", { id: `${id}-levels` });
    const text = dom.el("input", { type: "text", id, list: `${id}-levels`, autocomplete: "off", placeholder: "missing",
      "aria-describedby": `${id}-words`, oninput: typed, onfocus: offer });
    const words = wordsBelow(id);
    function offer() {
      const asked = text.value.toLowerCase(), found = [];
      for (const name of names) {
        if (name.toLowerCase().includes(asked)) found.push(name);
        if (found.length >= MOST_FOUND) break;
      }
      dom.fill(list, found.map((name) => dom.el("option", { value: name })));
    }
    const known = () => text.value === "" || codes.has(text.value);
    function typed() {
      offer();
      const page = column.unnamed ? ` among the ${numbers.counted(column.levels.length, "level")} in this page (${numbers.counted(column.unnamed, "more is", "more are")} not)` : " yet";
      words.tell(known() ? "" : `no such level${page}; ${cell === null ? "missing" : names[cell]} stays`);
      text.setAttribute("aria-invalid", String(!known()));
      if (!known()) return;
      cell = text.value === "" ? null : codes.get(text.value);
      onchange();
    }
    return {
      elements: [text, list, words.element],
      read: () => cell,
      write(value) {
        cell = route.isMissing(value) ? null : value;
        text.value = cell === null ? "" : names[cell] ?? "";
        words.tell("");
        text.setAttribute("aria-invalid", "false");
      },
      wrong: () => !known(),
    };
  }

  return { fields };
})();
