// Numbers as a reader writes them. JSON holds "inf" and "-inf" where a number is infinite, null where there is none.
const numbers = (() => {
  const value = (held) => held === "inf" ? Infinity : held === "-inf" ? -Infinity : held === null ? NaN : held;

  // Made once: a tree of 2,000 nodes writes 10,000 numbers, and toLocaleString makes a formatter for each.
  const formats = [false, true].map((useGrouping) => new Intl.NumberFormat("en-US", { maximumFractionDigits: 10, useGrouping }));

  // Four significant digits and all before the point, thousands apart from 10,000 on; "-" where there is none.
  function short(held, digits = 4) {
    const number = value(held);
    if (Number.isNaN(number)) return "-";
    if (!Number.isFinite(number)) return number > 0 ? "infinite" : "-infinite";
    const size = Math.abs(number);
    if (size !== 0 && (size >= 1e15 || size < 1e-4)) return number.toExponential(digits - 1);
    return formats[size >= 10000 ? 1 : 0].format(Number.isInteger(number) ? number : size >= 10 ** digits ? Math.round(number) : Number(number.toPrecision(digits)));
  }

  // A number of a column of dates, which is days since 1970, of length or since midnight, as edges have it.
  const DAY = 864e5, two = (number) => String(number).padStart(2, "0");
  function clock(ms, withSeconds) {
    const seconds = ms % 60000 / 1000, text = `${two(Math.floor(ms / 3600000))}:${two(Math.floor(ms / 60000) % 60)}`;
    return withSeconds || seconds ? `${text}:${two(Math.floor(seconds))}${seconds % 1 ? String(Number((seconds % 1).toFixed(3))).slice(1) : ""}` : text;
  }
  function dated(column, days) {
    const ms = Math.round(value(days) * DAY), size = Math.abs(ms), whole = Math.floor(size / DAY);
    if (column.dates === "duration") return `${ms < 0 ? "-" : ""}${whole} ${whole === 1 ? "day" : "days"} ${clock(size % DAY, true)}`;
    if (column.dates === "time") return clock(size);
    const at = new Date(column.dates === "date" ? Math.floor(value(days)) * DAY : ms);
    if (Number.isNaN(at.getTime())) return String(days);
    if (column.dates === "date") return at.toISOString().slice(0, 10);
    if (!column.zone) return `${at.toISOString().slice(0, 10)} ${clock(((ms % DAY) + DAY) % DAY)}`;
    try {
      return `${at.toLocaleString("sv-SE", { timeZone: column.zone }).slice(0, 16)} ${column.zone}`;
    } catch { // a zone that this browser does not know
      return `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
    }
  }

  // What somebody types, as days; undefined where it is no date. Instants of a column with a zone need their offset.
  function daysOf(column, text) {
    if (column.dates === "duration" || column.dates === "time") {
      const found = /^(?:(-?)(\d+) days?)?\s*(?:(\d+):(\d\d)(?::(\d\d(?:\.\d+)?))?)?$/.exec(text);
      if (!found || text === "") return undefined;
      const [, sign, days, hours, minutes, seconds] = found, size = Number(days || 0) + (Number(hours || 0) * 3600 + Number(minutes || 0) * 60 + Number(seconds || 0)) / 86400;
      return sign ? -size : size;
    }
    const found = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?(Z|[+-]\d\d:\d\d)?$/i.exec(text);
    if (!found || Boolean(found[3]) !== Boolean(column.zone)) return undefined;
    const ms = Date.parse(`${found[1]}T${found[2] || "00:00"}${found[3] || "Z"}`);
    return Number.isNaN(ms) ? undefined : column.dates === "date" ? Math.floor(ms / DAY) : ms / DAY;
  }

  // A part of a date, as the model holds it: a number or the rank of a level; null where there is none.
  function partOf(column, part, days) {
    if (days === null) return null;
    let ms = Math.round(value(days) * DAY);
    if (column.dates === "date") ms = Math.floor(ms / DAY) * DAY;
    if (column.zone) {
      try {
        const there = new Date(ms).toLocaleString("sv-SE", { timeZone: column.zone });
        ms += Date.parse(`${there.replace(" ", "T")}Z`) - Math.floor(ms / 1000) * 1000;
      } catch { // a zone that this browser does not know
        return null;
      }
    }
    const at = new Date(ms);
    if (Number.isNaN(at.getTime())) return null;
    const parts = { year: at.getUTCFullYear(), month: at.getUTCMonth(), day: at.getUTCDate(), weekday: (at.getUTCDay() + 6) % 7, hour: at.getUTCHours() };
    return parts[part] ?? (ms - Date.parse(part.slice(-10))) / DAY;
  }

  const OPERATIONS = { plus: (one, other) => one + other, minus: (one, other) => one - other,
    times: (one, other) => one * other, over: (one, other) => other === 0 ? NaN : one / other };

  // Two levels together: null where both cells are missing, or where no row of the fit had them together.
  function levelsTogether(column, sizes, one, other) {
    if ((one === null && other === null) || one >= sizes[0] || other >= sizes[1]) return null;
    const code = column.numbers.indexOf((one ?? sizes[0]) * (sizes[1] + 1) + (other ?? sizes[1]));
    return code < 0 ? null : code;
  }

  // A linear score, added up source after source as the model does it.
  function linearScore(columns, column, cells) {
    let score = value(column.numbers[0]), begin = 1;
    for (const at of column.sources) {
      const source = columns[at], held = cells[at] ?? null, n = source.kind === "nominal" ? source.levels.length : 3;
      const own = column.numbers.slice(begin, begin += n + 1).map(value);
      if (held === null) score += own[n];
      else if (source.kind === "nominal") score += held < n ? own[held] : 0;
      else score += (Math.min(Math.max(held, own[0]), own[1]) - own[0]) * own[2];
    }
    return score;
  }

  // The cell of a column that the model makes of others (data/derived.py): a part of a date, how many rows a level has
  // (none of one that the fit never saw), a sum, difference, product or ratio, two levels together, or a linear score;
  // null where it is missing.
  function madeOf(columns, at, cells) {
    const column = columns[at], [one, other] = column.sources.map((source) => cells[source] ?? null);
    if (column.part === "linear") return linearScore(columns, column, cells);
    if (column.part === "and") return levelsTogether(column, column.sources.map((source) => columns[source].levels.length), one, other);
    if (column.part === "rows") return one === null ? null : value(column.numbers[one] ?? 0);
    if (!OPERATIONS[column.part]) return partOf(columns[column.sources[0]], column.part, one);
    const made = one === null || other === null ? NaN : OPERATIONS[column.part](one, other);
    return Number.isNaN(made) ? null : made;
  }

  // A cell of any numeric column.
  const ofColumn = (column, held, digits) => column.dates ? dated(column, held) : short(held, digits);

  const percent = (share, digits = 1) => Number.isNaN(value(share)) ? "-" : `${(100 * value(share)).toFixed(digits)} %`;
  const counted = (n, one, many) => `${short(n)} ${n === 1 ? one : many || one + "s"}`;
  // Tests of Python have signs that can be typed. The last one is the test's own: a column may have signs in its name,
  // and levels stand in braces.
  const typographic = (text) => text.replace(/(^| )<= (?!.* <= )(?=[^{}]*$)/, "$1\u2264 ").replace(/^>= /, "\u2265 ");
  // How many of n a list names that has room for so many: instead of "1 more" it names the last one.
  const named = (n, most) => n <= most + 1 ? n : most;

  return { value, short, dated, daysOf, madeOf, ofColumn, percent, counted, named, typographic };
})();
