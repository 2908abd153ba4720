// What was decided, in its order: a click goes back to the state behind a command, or forward again.
const logPane = (() => {
  function make(bench) {
    const list = dom.el("ol", { class: "bench-commands" });
    const who = dom.el("input", { type: "text", id: "bench-who", autocomplete: "off", maxlength: 100, placeholder: "who decides", onchange: () => { bench.who = who.value.trim(); } });
    const told = dom.el("div", { class: "bench-compared small", role: "status" });
    const file = dom.el("input", { type: "file", accept: ".json", id: "bench-compare", onchange: () => compare(bench, file, told) });
    const compared = dom.el("details", {}, dom.el("summary", {}, "Compare"), dom.el("p", { class: "small muted" }, dom.el("label", { for: "bench-compare" }, "A saved session, replayed on these rows:")), file, told);
    const element = dom.el("section", { class: "bench-log", "aria-labelledby": "bench-log-title" }, dom.el("h2", { id: "bench-log-title" }, "Log"), dom.el("p", { class: "bench-reason" }, dom.el("label", { for: "bench-who" }, "Who"), who), list, compared);
    return { element, show: () => { if (document.activeElement !== who) who.value = bench.who ?? bench.state.who; show(bench, list); } };
  }

  // Where two sessions part: commands that only one has, and what their trees come to.
  async function compare(bench, file, told) {
    const [chosen] = file.files;
    if (!chosen) return;
    let document_;
    try { document_ = JSON.parse(await chosen.text()); } catch { document_ = {}; }
    const answer = await bench.ask({ ask: "compare", document: document_ }, { quiet: true });
    file.value = "";
    if (answer.error) { dom.fill(told, dom.el("p", { class: "is-wrong" }, answer.error)); return; }
    const { common, here, there, leaves, depth, scores, same } = answer.compared;
    const side = (name, commands, at) => dom.el("div", {}, dom.el("p", {}, dom.el("strong", {}, name), `: ${numbers.counted(leaves[at], "leaf", "leaves")}, depth ${depth[at]}, ${bench.state.figures.measure} on training rows ${bench.figure(scores[at])}`),
      dom.el("ul", { class: "rule" }, commands.map((words) => dom.el("li", {}, words))));
    dom.fill(told, dom.el("p", {}, `${numbers.counted(common, "command")} in common; ${same ? "the trees are the same" : "the trees differ"}.`), side("This session", here, 0), side(chosen.name, there, 1));
  }

  function show(bench, list) {
    const { log, at, opened } = bench.state;
    const entry = (n, words, small, why) => dom.el("li", { class: n > at ? "is-undone" : null },
      dom.el("button", { type: "button", "data-n": n, "aria-current": n === at ? "step" : null, disabled: Boolean(opened), title: n === at ? "The state that is shown" : "Go to the state after it", onclick: () => bench.change({ ask: "go_to", n }) },
        dom.el("span", { class: "bench-words" }, words), small && dom.el("span", { class: "small muted" }, small), why && dom.el("span", { class: "bench-why" }, why)));
    // In the time of whoever reads; the log itself has the moment with its zone.
    const time = (when) => { const at = new Date(when); return when && !Number.isNaN(at.getTime()) ? at.toLocaleString("sv-SE").slice(0, 16) : when; };
    dom.fill(list, entry(0, "Begin: one leaf"), log.map((command, place) =>
      entry(place + 1, command.words, [command.who, time(command.when)].filter(Boolean).join(", "), command.why)));
    const current = list.querySelector("[aria-current]");
    if (current && list.scrollHeight > list.clientHeight) list.scrollTop = current.offsetTop - list.clientHeight / 2;
  }

  return { make };
})();
