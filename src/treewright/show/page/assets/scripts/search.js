// Finds nodes: by what they ask, by names of levels, by what a leaf says, by number ("leaf 7", "node 7", "7").
const search = (() => {
  // Signs as one types them, with spaces or without.
  const folded = (text) => text.normalize("NFKC").toLowerCase().replaceAll("\u2264", "<=").replaceAll("\u2265", ">=")
    .replace(/\s+/g, " ").replace(/ ?([<>]=?|=) ?/g, "$1");
  const known = new WeakMap();

  // Per node its question, the edge to it, and the edge as a sentence: written once per tree, read at every key.
  function textsOf(model, columns) {
    if (!known.has(model)) {
      known.set(model, model.nodes.map((node, position) => {
        const above = position ? model.nodes[model.parent[position]].test : null;
        const name = above && columns[above.column] ? columns[above.column].name : "";
        return { path: node.path, marks: folded(node.by_hand ? `${node.by_hand.name} ${node.by_hand.locked ? "locked" : ""} ${node.by_hand.decided ? "decided" : ""}` : ""), question: folded(node.question), edge: folded(node.edge), whole: folded(`${name} ${node.edge}`), said: folded(node.said) };
      }));
    }
    return known.get(model);
  }

  // Positions of the nodes that answer, in the order of the drawing.
  function found(model, columns, typed) {
    const wanted = folded(typed.trim());
    if (!wanted) return [];
    const numbered = /^(?:(leaf|node)\s*)?#?(\d+)$/.exec(wanted);
    // Levels are asked once per column, not once per node: a column may have thousands.
    const levels = columns.map((column) => column.levels.some((level) => folded(level).includes(wanted)));
    const texts = textsOf(model, columns);
    const sign = /[<>=]/.test(wanted);
    // An edge is told by the node that asks; where column and answer are written out, by the node it leads to.
    const answers = (position) => asks(position)
      || position > 0 && (sign || !asks(model.parent[position])) && texts[position].whole.includes(wanted) && !texts[model.parent[position]].question.includes(wanted);
    const asks = (position) => {
      const node = model.nodes[position], leaf = !treeModel.forks(model, position);
      if (numbered && String(node.id) === numbered[2] && !(numbered[1] === "leaf" && !leaf)) return true;
      if (wanted === texts[position].path) return true;
      if (texts[position].marks && texts[position].marks.includes(wanted)) return true;
      if (leaf) return texts[position].said.includes(wanted);
      if (texts[position].question.includes(wanted)) return true;
      if (node.test && node.test.kind === "levels" && levels[node.test.column]) return true;
      return !sign && model.children[position].some((child) => texts[child].edge.includes(wanted));
    };
    const hits = [];
    const stack = [0];
    while (stack.length) {
      const position = stack.pop();
      if (answers(position)) hits.push(position);
      if (!treeModel.forks(model, position)) continue;
      for (let at = model.children[position].length - 1; at >= 0; at--) stack.push(model.children[position][at]);
    }
    return hits;
  }

  // The box with its buttons. tell(hits, current): what is to be marked; go(position): what is to be shown.
  function box(name, { hitsOf, tell, go }) {
    let hits = [], current = -1;
    const said = dom.el("span", { class: "search-count muted small", role: "status" });
    const input = dom.el("input", { type: "search", id: name, placeholder: "column, level, class, leaf 7", autocomplete: "off", spellcheck: "false" });
    const step = (by) => {
      if (!hits.length) return;
      current = current < 0 ? (by > 0 ? 0 : hits.length - 1) : (current + by + hits.length) % hits.length;
      go(hits[current]);
      show();
    };
    const last = dom.el("button", { type: "button", "aria-label": "Previous hit", disabled: true, onclick: () => step(-1) }, "\u2191");
    const next = dom.el("button", { type: "button", "aria-label": "Next hit", disabled: true, onclick: () => step(1) }, "\u2193");

    function show() {
      said.textContent = !input.value.trim() ? "" : !hits.length ? "nothing found" : current < 0
        ? numbers.counted(hits.length, "hit") : `${current + 1} of ${numbers.short(hits.length)}`;
      last.disabled = next.disabled = !hits.length;
      tell(hits, current < 0 ? -1 : hits[current]);
    }
    function again() {
      hits = hitsOf(input.value);
      current = -1;
      show();
    }
    input.addEventListener("input", again);
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
      else if (event.key === "Escape" && input.value) { input.value = ""; again(); } else return;
      event.preventDefault();
      event.stopPropagation();
    });
    const element = dom.el("div", { class: "tree-search", role: "search" }, dom.el("label", { for: name }, "Find"), input, last, next, said);
    return { element, again };
  }

  return { found, box };
})();
