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
  dom.byId("contributions-row").prepend(dom.el("p", {}, dom.el("label", { for: "contributions-example" }, "Row "), select,
    rows.length < state.summary.contributions.n_all ? dom.el("span", { class: "small muted" }, ` ${rows.length} of ${state.summary.contributions.n_all}, evenly spread. explain(rows) of a few has each.`) : ""));
})();
document.documentElement.dataset.ready = "yes";
