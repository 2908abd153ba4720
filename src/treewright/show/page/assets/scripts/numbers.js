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

  const percent = (share, digits = 1) => Number.isNaN(value(share)) ? "-" : `${(100 * value(share)).toFixed(digits)} %`;
  const counted = (n, one, many) => `${short(n)} ${n === 1 ? one : many || one + "s"}`;
  // Tests of Python have signs that can be typed. The last one is the test's own: a column may have signs in its name,
  // and levels stand in braces.
  const typographic = (text) => text.replace(/(^| )<= (?!.* <= )(?=[^{}]*$)/, "$1\u2264 ").replace(/^>= /, "\u2265 ");
  return { value, short, percent, counted, typographic };
})();
