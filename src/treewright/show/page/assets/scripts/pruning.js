// How far the tree is cut back. The shape in `state` is the one truth: buttons and slider set it, everything here follows it.
const pruning = (() => {
  const NO_CUT = () => false;
  const BESIDE = 10, MOST_TWICE = 12; // classes of a confusion matrix beside the curve; of one that stands here at all
  let part, nodes, whole, slider, said, chartOfPath, matrix, fields, buttons, lines, status, commandNote;

  const stepText = (at) => `step ${part.steps[at]} of ${part.n_steps - 1}`;
  // Of several outputs the first is counted class by class.
  function ofFirst() {
    const { outputs, output_names: names } = state.summary.tree;
    return outputs.length > 1 ? ` of ${names[0] || "the first output"}` : "";
  }

  const leavesText = (n) => numbers.counted(n, "leaf", "leaves");

  // What is shown for a step of the path: {key, at, n_leaves, depth, alpha, train_error, error, standard_error, ...}.
  function choiceOfStep(at) {
    const alpha = part.alphas[at], step = part.steps[at];
    const filled = (line) => line.replace("{alpha}", String(alpha));
    return {
      key: "step", at, alpha, n_leaves: part.n_leaves[at], depth: part.depth[at], train_error: part.train_error[at],
      error: part.error ? part.error[at] : null, standard_error: part.standard_error ? part.standard_error[at] : null,
      confusion: part.confusion ? part.confusion[at] : null, note: "", python: isWhole(at) ? "" : filled(part.python), command: isWhole(at) ? "" : filled(part.command),
      title: `${stepText(at)}: ${leavesText(part.n_leaves[at])}`, step, tree: null,
      isLeaf: (node) => !(part.collapse_step[node.id] > step),
    };
  }

  function choiceOfPruner(pruner) {
    const leaves = new Set(pruner.leaves);
    return { ...pruner, key: pruner.method, at: null, alpha: null, step: null,
      title: pruner.method === "none" ? `${pruner.name}: ${leavesText(pruner.n_leaves)}` : `pruned, ${pruner.name}: ${leavesText(pruner.n_leaves)}`,
      isLeaf: pruner.leaves.length ? (node) => leaves.has(node.id) : NO_CUT };
  }

  // What is left of the tree by a step that cuts nothing is no work for anybody.
  const isWhole = (at) => at === 0 && wholeIsFirst();

  // At price 0 the path leaves out splits that lower nothing: only then the tree as it is, is none of its steps.
  const wholeIsFirst = () => part.n_leaves[0] === part.pruners[0].n_leaves;

  function show(choice) {
    state.set("shape", { name: choice.key, title: choice.title, isLeaf: choice.isLeaf, step: choice.step, tree: choice.tree, choice });
  }

  // Weight of the test rows per true and predicted class: what the leaves of the shape hold.
  function confusionOf(choice) {
    if (!part.has_confusion) return null;
    if (choice.confusion) return choice.confusion;
    const held = choice.tree ? choice.tree.nodes : nodes, classes = state.summary.tree.outputs[0].length;
    const counts = Array.from({ length: classes }, () => new Array(classes).fill(0)), below = new Set();
    for (const node of held) {
      const reached = node.parent === null || below.has(node.parent);
      if (!reached) continue;
      if (node.test && !choice.isLeaf(node)) { below.add(node.id); continue; }
      node.judged.forEach((weight, truth) => { counts[truth][node.code] += weight; });
    }
    return counts;
  }

  function accuracyOf(counts) {
    let right = 0, all = 0;
    counts.forEach((row, truth) => row.forEach((weight, code) => { all += weight; if (truth === code) right += weight; }));
    return all > 0 ? right / all : null;
  }

  const put = (name, value, words) => {
    if (!fields[name]) return;
    fields[name].textContent = words === undefined ? numbers.short(value) : words;
    fields[name].dataset.value = value === null ? "" : String(value);
  };

  // Called by the state: on every change of the shape, whoever made it.
  function follow(shape) {
    const choice = shape?.choice || (wholeIsFirst() ? choiceOfStep(0) : whole);
    const counts = confusionOf(choice);
    put("n_leaves", choice.n_leaves);
    put("depth", choice.depth);
    put("alpha", choice.alpha);
    put("step", choice.at === null ? null : choice.step, choice.at === null ? "-" : `${choice.step} of ${part.n_steps - 1}`);
    put("train_error", choice.train_error);
    put("error", choice.error);
    put("standard_error", choice.standard_error);
    put("rmse", choice.error === null ? null : Math.sqrt(choice.error));
    if (counts) { put("accuracy", accuracyOf(counts), numbers.percent(accuracyOf(counts))); matrix?.update({ counts }); }
    followLines(choice, followBar(choice));
    chartOfPath.update(choice.at === null ? { cursor: null, point: choice.error === null ? { x: choice.n_leaves, y: choice.train_error } : { x: choice.n_leaves, y: choice.error } }
      : { cursor: choice.n_leaves, point: null });
  }

  function followBar(choice) {
    const error = choice.error === null ? "" : `, error ${numbers.short(choice.error)}${choice.standard_error === null ? "" : ` ± ${numbers.short(choice.standard_error, 2)}`}`;
    const words = choice.at === null ? `${choice.title}${error}`
      : `${stepText(choice.at)}: ${leavesText(choice.n_leaves)}, alpha ${numbers.short(choice.alpha)}${error}`;
    if (choice.at !== null) { slider.value = String(choice.at); slider.setAttribute("aria-valuetext", words.replace("±", "plus or minus")); }
    slider.classList.toggle("pruning-idle", choice.at === null);
    said.textContent = words;
    for (const { button, is } of buttons) button.setAttribute("aria-pressed", String(is(choice)));
    return words;
  }

  function followLines(choice, words) {
    for (const line of lines) {
      line.code.textContent = choice[line.name] || "The whole tree: nothing to do.";
      line.button.disabled = !choice[line.name];
    }
    commandNote.textContent = choice.command_note || "";
    // The slider tells its own text; what a button made is told here.
    status.textContent = choice.at === null ? `${words}. ${choice.note}` : "";
  }

  function copied(line) {
    const text = line.code.textContent;
    const done = (words) => {
      line.said.textContent = words;
      setTimeout(() => { if (line.said.textContent === words) line.said.textContent = ""; }, 4000);
    };
    // A page that was opened from disk, or stands in a frame, may have no clipboard: then the text is selected.
    const byHand = () => {
      const range = document.createRange();
      range.selectNodeContents(line.code);
      const selection = getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      let went = false;
      try { went = document.execCommand("copy"); } catch { /* the text stays selected */ }
      done(went ? "copied" : "selected: copy it with Ctrl+C");
    };
    if (navigator.clipboard?.writeText) navigator.clipboard.writeText(text).then(() => done("copied"), byHand);
    else byHand();
  }

  function button(words, is, choice, more = {}) {
    const element = dom.el("button", { type: "button", "aria-pressed": "false", onclick: () => show(choice()), ...more }, words);
    buttons.push({ button: element, is });
    return element;
  }

  function bar(host) {
    slider = dom.el("input", { type: "range", min: 0, max: part.steps.length - 1, step: 1, value: 0, id: "pruning-slider",
      "data-name": "step_slider", oninput: () => show(choiceOfStep(Number(slider.value))) });
    said = dom.el("output", { for: "pruning-slider", class: "pruning-said", "aria-live": "off", "data-name": "said" });
    const jump = (words, at) => at === null ? null : button(words, (choice) => choice.at === at, () => choiceOfStep(at), { "data-jump": words });
    dom.fill(host,
      dom.el("div", { class: "pruning-head" },
        dom.el("label", { for: "pruning-slider" }, "Prune"),
        dom.el("span", { class: "pruning-jumps" },
          button("whole tree", (choice) => choice.key === "none" || (wholeIsFirst() && choice.at === 0), () => wholeIsFirst() ? choiceOfStep(0) : whole, { "data-jump": "whole tree" }),
          jump("least error", part.minimum), jump("1-SE", part.one_se)),
        said),
      dom.el("div", { class: "pruning-slide" }, dom.el("span", { class: "small muted", "aria-hidden": "true" }, leavesText(part.n_leaves[0])), slider,
        dom.el("span", { class: "small muted", "aria-hidden": "true" }, leavesText(part.n_leaves[part.n_leaves.length - 1]))));
  }

  // The others share a row of buttons; those that are not defined say why in the table below.
  const others = () => dom.el("div", { class: "pruning-buttons", role: "group", "aria-label": "Other pruning methods" },
    part.pruners.slice(1).map((pruner) => button(pruner.name, (choice) => choice.key === pruner.method, () => choiceOfPruner(pruner), {
      "data-pruner": pruner.method, disabled: Boolean(pruner.why_not), title: pruner.why_not || null,
      "aria-describedby": pruner.why_not ? `why-${pruner.method}` : null })));

  function table() {
    fields = {};
    const line = (name, words) => {
      fields[name] = dom.el("dd", { "data-name": name });
      return dom.el("div", {}, dom.el("dt", {}, words), fields[name]);
    };
    const judged = part.judged_by !== "nothing", errors = part.judged_by === "folds" ? `Error, ${part.n_folds} folds` : `Error on ${part.rows_name}`;
    return dom.el("dl", { class: "pruning-numbers" }, line("n_leaves", "Leaves"), line("depth", "Depth"), line("step", "Step"), line("alpha", "Alpha"),
      line("train_error", "Training error"), judged ? [line("error", errors), line("standard_error", "Its standard error")] : null,
      judged && part.loss === "squared_error" ? line("rmse", "Root mean squared error") : null,
      part.has_confusion ? line("accuracy", `Accuracy${ofFirst()} on ${part.rows_name}`) : null);
  }

  function commands() {
    lines = [["python", "Python"], ["command", "Command line"]].map(([name, words]) => {
      const line = { name, code: dom.el("code", { "data-name": name, id: `pruning-${name}` }), said: dom.el("span", { role: "status", class: "pruning-copied small" }) };
      line.button = dom.el("button", { type: "button", "data-copy": name, "aria-label": `Copy: ${words}`, onclick: () => copied(line) }, "Copy");
      line.row = dom.el("div", { class: "pruning-line" }, dom.el("span", { class: "muted small" }, words), line.code, line.button, line.said);
      return line;
    });
    commandNote = dom.el("p", { class: "small muted", "data-name": "command-note" });
    return dom.el("div", { class: "pruning-commands" }, dom.el("h3", {}, "Commands for this tree"), lines.map((line) => line.row), commandNote);
  }

  function chartIn(host) {
    const judged = part.judged_by !== "nothing", error = judged ? part.error : null, spread = part.standard_error;
    const around = (sign) => error.map((value, at) => value + sign * spread[at]);
    const marks = !judged ? [] : part.minimum === part.one_se ? [{ x: part.n_leaves[part.minimum], label: "least error, 1-SE" }]
      : [{ x: part.n_leaves[part.minimum], label: "least error" }, { x: part.n_leaves[part.one_se], label: "1-SE" }];
    const dots = part.steps.length <= 40, name = part.judged_by === "folds" ? "cross-validated" : part.rows_name;
    return chart.lines(host, {
      title: "Error along the path", x: part.n_leaves, xlabel: "leaves", ylabel: part.loss_name, xreverse: true, logx: part.n_leaves[0] > 20, marks,
      series: [{ name: "training", y: part.train_error, color: "var(--muted)", dash: "6 4", dots },
        ...(judged ? [{ name: `${name} ± 1 standard error`, y: error, low: around(-1), high: around(1), color: "var(--accent)", dash: "", dots }] : [])],
      onpick: (at) => show(choiceOfStep(at)),
    });
  }

  function start() {
    part = state.summary.pruning;
    nodes = state.summary.tree.nodes;
    whole = choiceOfPruner(part.pruners[0]);
    buttons = [];
    status = dom.el("p", { class: "small pruning-note", role: "status", "data-name": "pruning_note" });
    const left = dom.el("div", {}), right = dom.el("div", {}, dom.el("h3", {}, "This tree"), table()), below = dom.el("div", { class: "pruning-below" });
    dom.fill(dom.byId("pruning-host"), dom.el("div", { class: "pruning-grid" }, left, right), below, commands());
    dom.fill(dom.byId("pruning-others"), others(), status);
    bar(dom.byId("pruning-bar"));
    chartOfPath = chartIn(left);
    if (part.has_confusion && state.summary.tree.outputs[0].length <= MOST_TWICE) {
      const labels = state.summary.tree.outputs[0];
      matrix = chart.matrix(labels.length > BESIDE ? below : right, { title: `Confusion matrix${ofFirst()} on ${part.rows_name}`, labels, counts: labels.map(() => labels.map(() => 0)) });
    } else if (state.summary.quality[0]?.confusion) right.append(dom.el("p", { class: "small" }, dom.el("a", { href: "#quality" }, "The confusion matrix"), " of the whole tree is under Quality."));
    state.on("shape", follow);
  }

  return { start };
})();
