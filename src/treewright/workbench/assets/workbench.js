// The screen: the bar, the tree, the pane of the node that was chosen, the log. Every change goes to the session and
// comes back as a state, which is drawn whole.
const workbench = (() => {
  const SOON = 350; // milliseconds after which work is long enough to be shown

  // link: ask(request) -> answer, listen(hear), file(kind) -> address or null, first: a state or null, quits.
  function start(link, style) {
    document.documentElement.lang = "en";
    document.head.append(dom.el("style", {}, style));
    const bench = { link, state: null, selected: "", tree: null, waiting: 0 };
    bench.ask = (request, options) => ask(bench, request, options);
    bench.change = (request) => change(bench, request);
    bench.run = (what, path, given, why) => change(bench, { ask: "do", do: what, path, given, why, who: bench.who });
    bench.say = (text, wrong) => say(bench, text, wrong);
    bench.isLocked = (path) => isLocked(bench, path);
    bench.figure = figure;
    build(bench);
    link.listen((message) => hear(bench, message));
    if (link.first) draw(bench, link.first);
    bench.ask({ ask: "state" }).then((answer) => { if (answer.state) draw(bench, answer.state); });
    document.addEventListener("keydown", (event) => key(bench, event));
    return bench;
  }

  // ---- talking to the session ----

  async function ask(bench, request, { quiet = false } = {}) {
    const timer = setTimeout(() => busy(bench, true), quiet ? 1500 : SOON);
    bench.waiting++;
    try {
      const answer = await bench.link.ask(request);
      if (answer.error && !quiet) say(bench, answer.error, true);
      if (answer.warning) say(bench, answer.warning, true);
      return answer;
    } catch (error) {
      say(bench, `${error.message || error}`, true);
      return { error: String(error.message || error) };
    } finally {
      clearTimeout(timer);
      bench.waiting--;
      if (!bench.waiting) busy(bench, false);
    }
  }

  // One after the other: a second press is not lost, and acts on what the first has made.
  function change(bench, request) {
    const run = () => changeNow(bench, request);
    bench.turn = (bench.turn || Promise.resolve()).then(run, run);
    return bench.turn;
  }

  async function changeNow(bench, request) {
    if (!bench.state || bench.gone) return;
    const { log, at } = bench.state;
    bench.changing = true;
    document.documentElement.dataset.busy = "yes";
    try {
      const answer = await ask(bench, { ...request, revision: bench.state.revision });
      if (answer.state) draw(bench, answer.state);
      if (!answer.error && !answer.warning) say(bench, told(request, log, at, answer.state));
      return !answer.error;
    } finally {
      bench.changing = false;
      delete document.documentElement.dataset.busy;
      if (bench.missed) { bench.missed = false; hear(bench, { again: true }); }
    }
  }

  function told(request, log, at, state) {
    if (request.ask === "do") return state.log[state.at - 1].words;
    if (request.ask === "undo") return `Undone: ${log[at - 1].words}`;
    if (request.ask === "redo") return `Redone: ${log[at].words}`;
    if (request.ask === "open_sealed") return "The sealed rows were opened: the session takes no further command.";
    return `${state.at} of ${numbers.counted(state.log.length, "command")} done`;
  }

  async function hear(bench, message) {
    if (message.progress !== undefined) {
      bench.meter.value = message.progress;
      bench.meterWords.textContent = message.what;
    } else if (message.revision !== undefined || message.again) {
      if (bench.changing) bench.missed = bench.missed || Boolean(message.again);
      else if (bench.state && (message.again || message.revision !== bench.state.revision)) {
        const answer = await ask(bench, { ask: "state" });
        if (answer.state) draw(bench, answer.state);
      }
    } else if (message.bye) {
      bench.gone = true;
      say(bench, message.saved ? `The workbench has quit. The session is saved in ${message.saved}; this page can be closed.` : "The workbench has quit. The session was not saved.", true);
      for (const part of document.querySelectorAll(".bench-bar, .bench-main, .bench-figures")) part.inert = true;
    }
    else if (message.lost && !bench.gone) say(bench, `The workbench does not answer. ${bench.state && bench.state.is_saved ? "The session is saved: start the workbench again with it." : "The session is not saved."}`, true);
    else if (message.found && bench.state) { say(bench, ""); hear(bench, { again: true }); }
  }

  function busy(bench, is) {
    bench.work.hidden = !is;
    if (!is) { bench.meter.removeAttribute("value"); bench.meterWords.textContent = "working"; }
  }

  function say(bench, text, wrong = false) {
    bench.status.textContent = text;
    bench.status.classList.toggle("is-wrong", wrong);
  }

  // ---- the page ----

  function build(bench) {
    const button = (id, text, title, act) => dom.el("button", { type: "button", id, title, onclick: act }, text);
    bench.title = dom.el("h1", {});
    bench.undo = button("bench-undo", "Undo", "Ctrl+Z", () => bench.change({ ask: "undo" }));
    bench.redo = button("bench-redo", "Redo", "Ctrl+Y", () => bench.change({ ask: "redo" }));
    bench.growAll = button("bench-grow-all", "Grow the rest", "Let the algorithm grow every open leaf to the end", () => bench.run("grow", "", { rest: true }, ""));
    bench.growBest = button("bench-grow-best", "Grow the best leaf", "Split the leaf whose question lowers the impurity of all rows most (B)", () => bench.run("grow", "", { leaves: 1 }, ""));
    bench.slider = dom.el("input", { type: "range", min: 0, step: 1, id: "bench-leaves", oninput: () => preview(bench) });
    bench.leaves = dom.el("output", { for: "bench-leaves" });
    bench.cut = button("bench-cut", "Prune", "Prune the weakest links; locked nodes stay", () => bench.run("prune", "", { leaves: bench.size }, ""));
    bench.figures = dom.el("div", { class: "bench-figures" });
    bench.files = dom.el("div", { class: "bench-files" });
    bench.status = dom.el("p", { class: "bench-status", role: "status" });
    bench.meter = dom.el("progress", { max: 1, "aria-label": "Progress" });
    bench.meterWords = dom.el("span", { class: "small" }, "working");
    bench.work = dom.el("div", { class: "bench-work", hidden: true }, bench.meter, bench.meterWords, button("bench-stop", "Stop", "Stop; nothing changes", () => bench.link.ask({ ask: "stop" })));
    bench.treeHost = dom.el("div", { id: "bench-tree-host" });
    bench.node = nodePane.make(bench);
    bench.log = logPane.make(bench);
    const kinds = [["report", "Report"], ["model", "Model"], ["script", "Script"], ["session", "Session"], ["picture", "Picture"]];
    dom.fill(bench.files, dom.el("details", {}, dom.el("summary", {}, "Files"), dom.el("ul", {}, kinds.map(([kind, text]) => dom.el("li", {}, file(bench, kind, text))))));
    document.body.classList.add("bench");
    document.body.append(
      dom.el("header", { class: "bench-head" }, bench.title,
        dom.el("div", { class: "bench-bar", role: "toolbar", "aria-label": "Session" }, bench.undo, bench.redo, bench.growBest, bench.growAll,
          dom.el("span", { class: "bench-prune" }, dom.el("label", { for: "bench-leaves" }, "Leaves"), bench.slider, bench.leaves, bench.cut),
          bench.files, bench.link.quits && dom.el("span", { id: "bench-quits" }, button("bench-quit", "Quit", "Stop the workbench", () => quit(bench)))),
        bench.figures, dom.el("div", { class: "bench-says" }, bench.status, bench.work)),
      dom.el("main", { class: "bench-main" },
        dom.el("section", { class: "bench-tree", "aria-label": "Tree" }, bench.treeHost), bench.node.element, bench.log.element));
  }

  // What is saved nowhere is asked about twice.
  function quit(bench) {
    const host = document.getElementById("bench-quits");
    if (!bench.state || bench.state.is_saved) { bench.link.ask({ ask: "quit" }); return; }
    const before = [...host.childNodes];
    dom.fill(host, "This session is not saved: download it under Files. ", dom.el("button", { type: "button", id: "bench-quit-all-the-same", onclick: () => bench.link.ask({ ask: "quit" }) }, "Quit anyway"),
      dom.el("button", { type: "button", onclick: () => dom.fill(host, ...before) }, "Stay"));
    host.querySelector("button").focus();
  }

  function file(bench, kind, text) {
    const address = bench.link.file && bench.link.file(kind);
    const close = () => { bench.files.firstChild.open = false; };
    if (address) return dom.el("a", { href: address, onclick: close, "data-file": kind, ...(kind === "report" ? { target: "_blank", rel: "noopener" } : { download: true }) }, text);
    return dom.el("button", { type: "button", "data-file": kind, onclick: async () => {
      close();
      const answer = await bench.ask({ ask: "export", kind });
      if (answer.error) return;
      const at = dom.el("a", { href: `data:${answer.type};base64,${answer.base64}`, download: answer.name });
      document.body.append(at);
      at.click();
      at.remove();
    } }, text);
  }

  // ---- drawing a state ----

  function draw(bench, state) {
    // An answer that was overtaken.
    if (bench.state && state.revision < bench.state.revision) return;
    const held = focusKey();
    bench.state = state;
    for (const node of state.tree.nodes) Object.assign(node, { path: state.paths[node.id], name: "", locked: false, decided: false }, node.by_hand);
    bench.title.textContent = state.title || "Workbench";
    document.title = `${state.title || "Workbench"} (Treewright)`;
    if (!bench.tree) bench.tree = tree.mount(bench.treeHost, state.tree, { columns: state.columns, chosen: (node) => select(bench, node.path, true) });
    else treeAgain.renew(bench.tree, state.tree);
    const still = state.tree.nodes.find((node) => node.path === bench.selected);
    select(bench, still ? bench.selected : nearest(state, bench.selected));
    bench.undo.disabled = state.at === 0 || Boolean(state.opened);
    bench.redo.disabled = state.at === state.log.length || Boolean(state.opened);
    bench.growAll.disabled = bench.growBest.disabled = Boolean(state.opened);
    const { sizes } = state;
    bench.slider.max = sizes.length - 1;
    bench.slider.value = sizes.length - 1;
    bench.slider.disabled = sizes.length < 2;
    preview(bench);
    figures(bench);
    bench.log.show();
    refocus(held);
    document.documentElement.dataset.ready = "yes";
    document.documentElement.dataset.revision = state.revision;
  }

  // What is drawn anew may have had the focus: it is found again by what it does.
  const KEYS = ["act", "do", "n", "order", "column"];
  function focusKey() {
    const at = document.activeElement;
    if (!at || at === document.body) return null;
    if (at.id) return `#${at.id}`;
    const key = KEYS.find((name) => at.dataset[name] !== undefined);
    return key ? `[data-${key}="${at.dataset[key]}"]` : null;
  }
  function refocus(selector) {
    if (!selector || document.activeElement !== document.body) return;
    const at = document.querySelector(`${selector}:not(:disabled)`) || document.getElementById("bench-node-title");
    at.focus({ preventScroll: true });
  }

  // The nearest node above a path that is no longer there.
  function nearest(state, path) {
    const there = new Set(Object.values(state.paths));
    let at = path;
    while (!there.has(at)) at = at.includes(".") ? at.slice(0, at.lastIndexOf(".")) : "";
    return at;
  }

  function select(bench, path, byHand = false) {
    bench.selected = path;
    const position = bench.state.tree.nodes.findIndex((node) => node.path === path);
    bench.tree.keep(bench.tree.self, bench.state.tree.nodes[position].id);
    const drawn = `${bench.state.revision} ${path}`;
    // A look, or another tab's, redraws no form that is being filled in.
    if (bench.drawn !== drawn) bench.node.show(path, bench.tree.self.model, position);
    bench.drawn = drawn;
    document.documentElement.dataset.selected = path;
    // On a narrow screen the pane stands below the tree: who taps a card is taken there.
    if (byHand && matchMedia("(max-width: 760px)").matches) bench.node.element.scrollIntoView({ block: "start" });
  }

  const isLocked = (bench, path) => bench.state.tree.nodes.some((node) => node.locked && (node.path === "" || path === node.path || path.startsWith(`${node.path}.`)));

  // The slider shows what the tree would be; the button makes it so.
  function preview(bench) {
    const { sizes, leaf_at: leafAt } = bench.state, whole = Number(bench.slider.value) >= sizes.length - 1;
    bench.size = sizes[sizes.length - 1 - Number(bench.slider.value)];
    bench.leaves.textContent = whole ? numbers.counted(bench.state.tree.n_leaves, "leaf", "leaves") : `${bench.size} of ${bench.state.tree.n_leaves}`;
    bench.slider.setAttribute("aria-valuetext", bench.leaves.textContent);
    bench.cut.disabled = whole || Boolean(bench.state.opened);
    treeAgain.shape(bench.tree, whole ? null : (node) => (leafAt[node.id] || 0) >= bench.size);
  }

  // Three decimals, but of large numbers, such as squared errors, four digits.
  const three = (value) => value === null ? "-" : Math.abs(numbers.value(value)) < 100 ? numbers.value(value).toFixed(3) : numbers.short(value);
  const figure = (held) => held ? `${three(held.score)}${held.low === null ? "" : ` (${three(held.low)} to ${three(held.high)})`}` : "not evaluated";

  function figures(bench) {
    const { figures: found, measures, looks_always: always, has_held_out: has, sealed, opened } = bench.state, { before } = found, score = figure;
    const choice = dom.el("select", { id: "bench-measure", "aria-label": "Measure", title: "What judges the tree", onchange: () => bench.ask({ ask: "measure", name: choice.value }).then((answer) => { if (answer.state) draw(bench, answer.state); }) },
      measures.map(({ name, words, less_is_better: less }) => dom.el("option", { value: name, selected: name === found.name }, `${words}${less ? " (less is better)" : ""}`)));
    const line = (name, now, then, more) => dom.el("div", { class: "bench-figure" }, dom.el("dt", {}, name),
      dom.el("dd", {}, dom.el("strong", {}, score(now)), then && dom.el("span", { class: "muted" }, ` before ${score(then)}`), more));
    dom.fill(bench.figures, dom.el("dl", {},
      line([choice, ` on ${numbers.counted(found.training.n, "training row")}`], found.training, before && before.training),
      has && line(`on ${numbers.counted(bench.state.n_held_out, "row")} held out`, found.held_out, before && before.held_out, dom.el("span", { class: "bench-seen", title: "Frequent looks fit the tree to these rows" }, ` seen ${numbers.counted(found.seen, "time")}`)),
      sealed > 0 && dom.el("div", { class: "bench-figure" }, dom.el("dt", {}, opened ? `${opened.measure} on ${numbers.counted(sealed, "row")} that were sealed` : `${numbers.counted(sealed, "row")} sealed`), dom.el("dd", {}, opened ? dom.el("strong", {}, score(opened)) : seal(bench)))),
    bench.state.decides && dom.el("p", { class: "bench-decides small muted" }, `The tree ${bench.state.decides}.`),
    bench.state.note && dom.el("p", { class: "note small" }, bench.state.note),
    has && !opened && dom.el("p", { class: "bench-looks" },
      dom.el("label", {}, dom.el("input", { type: "checkbox", checked: always, id: "bench-always", onchange: (event) => look(bench, { always: event.target.checked }) }), " look at every step"),
      !always && !found.held_out && dom.el("button", { type: "button", id: "bench-look", onclick: () => look(bench, {}) }, "Look now")));
  }

  async function look(bench, given) {
    const answer = await bench.ask({ ask: "look", ...given });
    if (answer.state) draw(bench, answer.state);
  }

  // Opened once, on purpose: asked twice.
  function seal(bench) {
    const host = dom.el("span", {});
    const first = () => dom.fill(host, dom.el("button", { type: "button", id: "bench-seal", onclick: () => {
      dom.fill(host, "The session takes no command afterwards. ", dom.el("button", { type: "button", id: "bench-seal-open", onclick: () => bench.change({ ask: "open_sealed" }) }, "Open the seal"),
        dom.el("button", { type: "button", onclick: first }, "Not yet"));
      host.querySelector("button").focus();
    } }, "Open ..."));
    first();
    return host;
  }

  // ---- keys ----

  function key(bench, event) {
    const typing = event.target.closest("input:not([type=range]):not([type=checkbox]), select, textarea");
    const letter = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (event.repeat) return;
    if ((event.ctrlKey || event.metaKey) && !typing && (letter === "z" || letter === "y")) {
      event.preventDefault();
      (letter === "z" && !event.shiftKey ? bench.undo : bench.redo).click();
      return;
    }
    if (event.key === "Escape" && event.target === bench.slider) { bench.slider.value = bench.slider.max; preview(bench); return; }
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    // Letters are for who is at a node: on a button of the log or a chip they would act on something else.
    if (event.target !== document.body && !event.target.closest(".tree-cards, .tree-frame, .bench-actions, .bench-node h2")) return;
    const acts = { g: event.shiftKey ? "grow_end" : "grow", l: bench.state && isOwnLock(bench) ? "unlock" : "lock", n: "rename", d: "decide", Delete: "prune", b: "grow_best" };
    if (!acts[letter]) return;
    event.preventDefault();
    if (letter === "b") bench.growBest.click();
    else bench.node.act(acts[letter]);
  }

  const isOwnLock = (bench) => bench.state.tree.nodes.some((node) => node.path === bench.selected && node.locked);

  return { start };
})();
