// Exercises: an answer is right when it is the library's own text, or a number or fraction that rounds to the library's digits.
"use strict";
// The theme names a button "Search" that shows "Search Ctrl+K", and gives arrows that open a part of the navigation no name.
for (const button of document.querySelectorAll(".search-button-field")) {
  button.setAttribute("aria-label", button.textContent.replace(/\s+/g, " ").trim());
}
for (const arrow of document.querySelectorAll("summary:has(.toctree-toggle)")) {
  const link = arrow.closest("li").querySelector("a");
  arrow.setAttribute("aria-label", `Pages below ${link ? link.textContent.trim() : "this one"}`);
}
// A picture of a large tree is small in the column: it opens in full size.
for (const picture of document.querySelectorAll(".bd-article img")) {
  if (picture.closest("a") === null) {
    const link = document.createElement("a");
    link.href = picture.src;
    picture.replaceWith(link);
    link.append(picture);
  }
}
// What somebody types for a number: 0.45 or 0,45, or the fraction 9/20; null if it is none.
const numberOf = given => {
  const parts = given.trim().replaceAll(",", ".").replaceAll("\u2212", "-").split(/\s*[\/\u2044\u00f7]\s*/);
  const isNumber = part => /^-?(\d+\.?\d*|\.\d+)$/.test(part);
  if (parts.length > 2 || !parts.every(isNumber)) return null;
  return Number(parts[0]) / (parts.length === 2 ? Number(parts[1]) : 1);
};
for (const form of document.querySelectorAll(".exercise-form")) {
  const wanted = form.dataset.answer.trim();
  const digits = (wanted.match(/^-?\d*\.(\d+)$/) || ["", ""])[1].length;
  const plain = text => text.trim().toLowerCase().replace(/\s+/g, " ");
  const isRight = given => {
    if (/^-?\d+(\.\d+)?$/.test(wanted)) {
      const number = numberOf(given);
      const apart = digits ? 0.51 * 10 ** -digits : 0;
      return number !== null && Math.abs(number - Number(wanted)) <= apart;
    }
    return plain(given) === plain(wanted);
  };
  form.addEventListener("submit", event => {
    event.preventDefault();
    const given = form.querySelector("input").value;
    const told = form.querySelector("output");
    const right = isRight(given);
    told.textContent = right ? "Right." : given.trim() === "" ? "Type an answer first." : "Not yet: try again, or show the answer.";
    told.className = right ? "right" : "wrong";
  });
}
