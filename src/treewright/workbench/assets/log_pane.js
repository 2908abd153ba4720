// What was decided, in its order: a click goes back to the state behind a command, or forward again.
const logPane = (() => {
  function make(bench) {
    const list = dom.el("ol", { class: "bench-commands" });
    const element = dom.el("section", { class: "bench-log", "aria-labelledby": "bench-log-title" }, dom.el("h2", { id: "bench-log-title" }, "Log"), list);
    return { element, show: () => show(bench, list) };
  }

  function show(bench, list) {
    const { log, at, opened } = bench.state;
    const entry = (n, words, small, why) => dom.el("li", { class: n > at ? "is-undone" : null },
      dom.el("button", { type: "button", "data-n": n, "aria-current": n === at ? "step" : null, disabled: Boolean(opened), title: n === at ? "The state that is shown" : "Go to the state behind it", onclick: () => bench.change({ ask: "go_to", n }) },
        dom.el("span", { class: "bench-words" }, words), small && dom.el("span", { class: "small muted" }, small), why && dom.el("span", { class: "bench-why" }, why)));
    const time = (when) => when ? when.slice(0, 16).replace("T", " ") : "";
    dom.fill(list, entry(0, "Begin: one leaf"), log.map((command, place) =>
      entry(place + 1, command.words, [command.who, time(command.when)].filter(Boolean).join(", "), command.why)));
    const current = list.querySelector("[aria-current]");
    if (current && list.scrollHeight > list.clientHeight) list.scrollTop = current.offsetTop - list.clientHeight / 2;
  }

  return { make };
})();
