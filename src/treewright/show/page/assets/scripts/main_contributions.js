// A page of contributions alone: which row the waterfall is of.
document.documentElement.classList.add("scripted");
for (const text of document.querySelectorAll("#text > details")) text.open = false;
contributions.start();
(() => {
  const { rows } = state.summary.examples;
  if (rows.length < 2) return;
  const show = (at) => state.set("row", { cells: rows[at].cells, label: `row ${rows[at].number}` });
  const select = dom.el("select", { id: "contributions-example", onchange: () => show(Number(select.value)) },
    rows.map((row, at) => dom.el("option", { value: at }, row.said ? `${row.number}: ${row.said}` : row.number)));
  dom.byId("contributions-row").prepend(dom.el("p", {}, dom.el("label", { for: "contributions-example" }, "Row "), select));
})();
document.documentElement.dataset.ready = "yes";
