// Many trees: curves over trees and rounds, how the trees differ, and which tree the picture above shows: the one that
// stands for all, or one of them.
const ensemble = (() => {
  const DASHES = ["", "7 4", "2 3"];
  const ALL = "all";
  let part = null, chooser = null, told = null;

  // The words of a chart stand in the page already; the drawing goes above them.
  function above(id) {
    const place = dom.byId(id), host = dom.el("div", {});
    place.prepend(host);
    return host;
  }

  // Where the first tenth of a course is so high that nothing could be told apart afterwards, the picture begins below it.
  function topOf(held) {
    const values = held.series.map((series) => series.y.map(numbers.value)), begin = held.x.length / 10;
    const span = (found) => [Math.min(...found), Math.max(...found)];
    if (held.dots || held.x.length < 20) return Infinity;
    const [low, high] = span(values.flat().filter(Number.isFinite));
    const [, late] = span(values.flatMap((ys) => ys.filter((y, index) => index >= begin && Number.isFinite(y))));
    return high - low > 3 * (late - low) && late > low ? late : Infinity;
  }

  function curve(held, at) {
    const top = topOf(held), first = held.x.find((_, index) => held.series.some((series) => numbers.value(series.y[index]) <= top));
    chart.lines(above(`ensemble-curve-${at}`), {
      title: top === Infinity ? held.title : `${held.title} (from ${first} on)`, top, x: held.x, xlabel: held.xlabel, ylabel: held.ylabel, marks: held.marks,
      series: held.series.map((series, place) => ({
        name: series.name, y: series.y, color: `var(--class-${place})`, dash: DASHES[place % DASHES.length], dots: held.dots,
      })),
    });
  }

  // Where all trees are alike the words say everything.
  function spread(held, id) {
    if (held.labels.length === 1) return;
    chart.stacked(above(id), {
      title: held.title, labels: held.labels, ylabel: "trees", xlabel: held.xlabel, edges: held.edges || undefined,
      parts: [{ name: "trees", values: held.counts, color: "var(--accent)" }],
    });
  }

  // A number stays with its percent sign.
  const unbroken = (words) => words.replaceAll(" %", "\u00a0%");

  // Several sections listen to the shape; this one only keeps title and list in step with it.
  function shapeOf(member) {
    const { tree: own, words, label } = member;
    return { name: `tree ${member.number}`, title: own.title, isLeaf: (node) => node.test === null, step: null, tree: own, words, label };
  }

  function show(value) {
    const member = value === ALL ? null : part.members[Number(value)];
    state.set("shape", member ? shapeOf(member) : null);
  }

  function reflect(shape) {
    const place = shape && shape.tree ? part.members.findIndex((member) => member.tree === shape.tree) : -1;
    chooser.value = place < 0 ? ALL : String(place);
    dom.byId("tree-title").textContent = place < 0 ? state.summary.tree.title : part.members[place].tree.title;
    const facts = document.querySelector("#tree .subtitle"), drawn = place < 0 ? state.summary.tree : part.members[place].tree;
    if (facts) facts.textContent = `${drawn.headline}. ${drawn.missing_words}`;
    dom.fill(told, place < 0 ? standing() : standsAlone(part.members[place]));
    for (const cell of document.querySelectorAll("[data-member] button")) {
      cell.setAttribute("aria-pressed", String(Number(cell.parentElement.dataset.member) === place));
    }
  }

  const standing = () => dom.el("span", { "data-name": "tree-stands" }, part.surrogate.warning ? dom.el("strong", {}, `${part.surrogate.warning} `) : null, unbroken(part.surrogate.words));

  function standsAlone(member) {
    const { tree: own } = member;
    const shown = own.nodes.length < own.n_nodes
      ? `${numbers.counted(own.nodes.length, "node")} of ${numbers.short(own.n_nodes)} are in this page, those with the most rows. ` : "";
    const adds = own.centre === "adds" ? "Its values are what it adds to the score. " : "";
    return dom.el("span", { "data-name": "tree-stands" }, [adds, shown, unbroken(member.words)]);
  }

  // A list above the picture; by script, as without one there is no picture.
  function list() {
    const options = [dom.el("option", { value: ALL }, state.summary.tree.title),
      part.members.map((member, at) => dom.el("option", { value: at }, member.label))];
    chooser = dom.el("select", { id: "ensemble-tree", onchange: () => show(chooser.value) }, options);
    told = dom.el("p", { class: "small ensemble-told", "aria-live": "polite" });
    dom.byId("tree-host").before(dom.el("div", { class: "ensemble-choose" },
      dom.el("label", { for: "ensemble-tree" }, "Tree in the picture"), chooser), told);
    for (const cell of document.querySelectorAll("[data-member]")) {
      const at = cell.dataset.member;
      cell.append(dom.el("button", {
        type: "button", "aria-pressed": "false", "aria-label": `Show ${part.members[at].tree.title} in the picture`,
        onclick: () => { show(at); dom.byId("tree").scrollIntoView(); },
      }, "Show"));
    }
    // A tree that tells less than one answer is not what the page begins with.
    if (part.first !== null) show(part.first);
    state.on("shape", reflect);
  }

  // A row goes through one tree; what all say of it may differ.
  function warn() {
    const all = `all ${numbers.short(part.n_trees)} trees`;
    dom.byId("follow-host").before(dom.el("p", { class: "note", role: "note" },
      `The list of rows shows the predictions of ${all} together. The path and the leaf are those of the tree in the picture, which may predict otherwise.`));
  }

  function start() {
    part = state.summary.ensemble;
    part.curves.forEach(curve);
    part.sizes.forEach((held, at) => spread(held, `ensemble-size-${at}`));
    if (part.agreement) spread(part.agreement, "ensemble-agreement");
    if (!state.summary.tree || !part.surrogate) return;
    list();
    if (dom.byId("follow-host")) warn();
  }

  return { start };
})();
