// Exercises: an answer is right when it is the library's own text, or a number that rounds to the library's digits.
"use strict";
for (const form of document.querySelectorAll(".exercise-form")) {
  const wanted = form.dataset.answer.trim();
  const digits = (wanted.match(/^-?\d*\.(\d+)$/) || ["", ""])[1].length;
  const plain = text => text.trim().toLowerCase().replace(/\s+/g, " ");
  const isRight = given => {
    if (/^-?\d+(\.\d+)?$/.test(wanted)) {
      const number = Number(given.replace(",", "."));
      return given.trim() !== "" && Math.abs(number - Number(wanted)) <= 0.51 * 10 ** -digits;
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
