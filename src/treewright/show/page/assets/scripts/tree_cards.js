// One card: a node's test in words, its rows, its classes as a bar or its number in the range of all. Sizes are in pixels
// of the unzoomed drawing and stand here and in tree.css.
const treeCards = (() => {
  const TITLE = "600 13px ", SMALL = "12px ";
  const LEAST = 104, LEAST_ASKED = 160, MOST = 236, PAD = 12, LABEL = 20, BAR = 8, HISTOGRAM = 24, COLORS = 24;
  const INSIDE = MOST - 2 * PAD - 4, NAME = 56;
  const pen = document.createElement("canvas").getContext("2d");
  const DOT = " \u00b7 ";
  let family = "";
  const known = new Map(), lines = new WeakMap();

  function textWidth(text, font) {
    const key = font + text;
    if (!known.has(key)) {
      family = family || getComputedStyle(document.body).fontFamily;
      pen.font = font + family;
      known.set(key, pen.measureText(text).width);
    }
    return known.get(key);
  }

  const color = (code) => `var(--class-${code % COLORS})`;
  const isNumber = (part) => !part.outputs[0].length;

  // What the node asks; the column alone where the answers of many branches stand on the edges.
  function question(model, columns, position) {
    const { test, question: text } = model.nodes[position];
    const many = model.children[position].length > 2 && test && test.kind !== "present";
    if (many && columns[test.column]) return columns[test.column].name;
    // The sign of the test is the last one: a column may have the same signs in its name.
    const sign = test && test.kind === "cuts" ? text.lastIndexOf(" <= ") : -1;
    return sign < 0 ? text : `${text.slice(0, sign)} \u2264 ${text.slice(sign + 4)}`;
  }

  const criterion = (part) => part.criterion.replaceAll("_", " ");
  const asks = (role) => role === "open" || role === "closed";
  const title = (model, columns, position, role) => asks(role) ? question(model, columns, position) : model.nodes[position].said;

  // A text that is too long for its room loses levels of a set, and says how many.
  function fitted(text, font, room) {
    const set = textWidth(text, font) > room && /^(.*)\{(.*)\}(.*)$/.exec(text);
    if (!set) return text;
    // A level with a comma in it stands in quotes.
    const levels = set[2].match(/"(?:\\.|[^"\\])*"|[^,\s](?:[^,]*)/g) || [];
    const more = /^\.\.\. (\d+) more$/.exec(levels[levels.length - 1]);
    if (more) levels.pop();
    const all = levels.length + (more ? Number(more[1]) : 0);
    for (let kept = levels.length - 1; kept > 0; kept--) {
      const shorter = `${set[1]}{${levels.slice(0, kept).join(", ")}, ... ${all - kept} more}${set[3]}`;
      if (textWidth(shorter, font) <= room) return shorter;
    }
    return `${set[1]}{${numbers.counted(all, "level")}}${set[3]}`;
  }

  // The title in two: the name of the column, which may be shortened, and what is asked of it, which is not.
  function inTwo(model, columns, position, role) {
    const text = title(model, columns, position, role), { test } = model.nodes[position];
    const name = asks(role) && test && columns[test.column] ? columns[test.column].name : "";
    if (!name || !text.startsWith(name)) return [text, ""];
    return [name, fitted(text.slice(name.length), TITLE, INSIDE - Math.min(NAME, textWidth(name, TITLE)))];
  }

  const answer = (node) => fitted(numbers.typographic(node.edge), SMALL, MOST);

  // Two lines: how many, and how mixed they are.
  function small(model, position, role) {
    const node = model.nodes[position], key = asks(role) ? "asks" : role;
    const held = lines.get(node) || lines.set(node, {}).get(node);
    return held[key] || (held[key] = smallOf(model.part, node, role));
  }

  function smallOf(part, node, role) {
    if (!node.n_rows) return ["no training rows", ""];
    // At the workbench a node is named by its path.
    const { name, locked, decided } = node.by_hand || {};
    const rows = [name || node.path, numbers.counted(node.n_rows, "row")].filter(Boolean);
    if (isNumber(part) && role !== "leaf") rows.push(`${part.centre} ${node.said}`);
    // The root of a squared error is in the unit of the target; the panel has the square, and what the test gained of it.
    const isSquare = isNumber(part) && part.criterion === "squared_error";
    const mixed = [isSquare ? `RMSE ${numbers.short(Math.sqrt(numbers.value(node.impurity)), 3)}` : `${criterion(part)} ${numbers.short(node.impurity, 3)}`];
    if (node.gain !== null && asks(role) && !isSquare) mixed.push(`gain ${numbers.short(node.gain, 3)}`);
    // What was said of it at the workbench.
    if (locked) mixed.push("locked");
    if (decided) mixed.push("decided");
    return [rows.join(DOT), mixed.join(DOT)];
  }

  // Height of the cards of a tree: those that ask show the column that they ask, of numbers in place of the bars; and the
  // room that a card takes from left to right.
  function height(part, role) {
    const asked = asks(role) ? treeAsked.height(part) : 0;
    const bars = isNumber(part) ? asked || (part.edges ? HISTOGRAM : BAR) : part.outputs.length * (BAR + 3) - 3 + (asked ? asked + 6 : 0);
    return 8 + 18 + 2 * 16 + 5 + bars + 13;
  }

  function widths(model, columns, position, role) {
    const swatch = role === "leaf" || role === "cut" ? 16 : 0;
    const inside = Math.max(
      textWidth(inTwo(model, columns, position, role).join(""), TITLE) + swatch,
      ...small(model, position, role).map((line) => textWidth(line, SMALL)));
    const least = asks(role) && treeAsked.of(model, position) ? LEAST_ASKED : LEAST;
    const card = Math.min(MOST, Math.max(least, Math.ceil(inside) + 2 * PAD + 4));
    return { card, slot: Math.max(card, Math.min(MOST, textWidth(answer(model.nodes[position]), SMALL) + 12)) };
  }

  // Shares of classes as one element: a background in steps.
  function shareBar(counts) {
    const total = counts.reduce((sum, held) => sum + numbers.value(held), 0);
    const steps = [];
    let from = 0;
    counts.forEach((held, code) => {
      const share = total > 0 ? 100 * numbers.value(held) / total : 0;
      if (share > 0) steps.push(`${color(code)} ${from.toFixed(2)}% ${(from += share).toFixed(2)}%`);
    });
    return dom.el("span", { class: "bar", style: steps.length ? { "background-image": `linear-gradient(to right, ${steps})` } : {} });
  }

  // Where a node's number lies between the least and the greatest of the tree, 0 to 1.
  function shareOfRange(part, node) {
    const low = numbers.value(part.low), high = numbers.value(part.high), value = numbers.value(node.values[0][0]);
    // Halves: the range of numbers near the ends of float64 would overflow.
    const share = high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) : 0.5;
    return Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0.5;
  }

  function histogram(held) {
    const most = Math.max(...held, 1e-300);
    const step = 100 / held.length;
    const path = held.map((count, cell) => {
      const top = HISTOGRAM - 1 - (count > 0 ? Math.max(1.5, (HISTOGRAM - 2) * count / most) : 0);
      return `M${(cell * step + 0.5).toFixed(1)} ${HISTOGRAM}V${top.toFixed(1)}H${((cell + 1) * step - 0.5).toFixed(1)}V${HISTOGRAM}Z`;
    });
    return dom.svg("svg", { class: "histogram", viewBox: `0 0 100 ${HISTOGRAM}`, preserveAspectRatio: "none", "aria-hidden": "true" },
      dom.svg("path", { d: path.join("") }));
  }

  function bars(model, position, role) {
    const node = model.nodes[position], asked = asks(role) ? treeAsked.picture(model, position, treeAsked.height(model.part)) : null;
    if (!isNumber(model.part)) return [node.values.map(shareBar), asked];
    if (asked) return asked;
    if (model.part.edges && node.judged) return histogram(node.judged);
    const share = shareOfRange(model.part, node);
    return dom.el("span", { class: "track" }, dom.el("span", { class: "dot", style: { left: `${(100 * share).toFixed(1)}%` } }));
  }

  // What a screen reader says of a card that has no text; of others it reads the text.
  function spoken(model, columns, position, role) {
    const said = title(model, columns, position, role);
    return [model.nodes[position].edge, said, ...small(model, position, role), called(model, position, role)].filter(Boolean).join(", ");
  }

  const called = (model, position, role) => `${asks(role) ? "node" : "leaf"} ${place(model.nodes[position])}`;
  const place = (node) => node.path === "" ? "root" : node.path ?? node.id;

  // The colours of a leaf: its class, or how great its number is.
  function tint(model, node) {
    if (node.code !== null) return { "--tint": color(node.code), "--share": "15%" };
    return { "--tint": "var(--accent)", "--share": `${(4 + 28 * shareOfRange(model.part, node)).toFixed(0)}%` };
  }

  function toggle(model, position, role) {
    const node = model.nodes[position];
    if (role === "cut") return dom.el("span", { class: "toggle is-cut", title: `${numbers.counted(node.hidden, "node")} below, not in this page` },
      `+${numbers.short(node.hidden)}`, dom.el("span", { class: "visually-hidden" }, " not in this page"));
    const cut = treeModel.cutAway(model, position), gone = `${numbers.short(cut)} pruned`;
    if (role === "leaf") return cut ? dom.el("span", { class: "toggle is-cut has-cut", title: `${numbers.counted(cut, "node")} below pruned` }, gone) : null;
    const standing = model.standing[position], below = `${numbers.counted(standing, "node")} below node ${node.id}`;
    const label = role === "open" ? `Hide the ${below}` : `+${below}: show${cut ? `; ${gone}` : ""}`;
    return dom.el("button", {
      type: "button", class: `toggle${cut && role === "closed" ? " has-cut" : ""}`, tabindex: "-1", "data-toggle": position,
      title: role === "open" ? "Close" : "Open", "aria-label": label,
    }, role === "open" ? "\u2212" : `+${numbers.short(standing)}${cut ? `, ${gone}` : ""}`);
  }

  // So small that nothing could be read, a card is a plain box. Who reads with ears goes from card to card with the keys,
  // and the card that has the focus is a whole one.
  function makeDot(model, position) {
    const node = model.nodes[position], role = treeModel.role(model, position);
    const dot = dom.el("div", { class: `tree-card is-${role} is-far`, "data-node": node.id, "data-at": position, "aria-hidden": "true" });
    if (role === "leaf" || role === "cut") for (const [rule, to] of Object.entries(tint(model, node))) dot.style.setProperty(rule, to);
    return dot;
  }

  function make(model, columns, position, far) {
    const node = model.nodes[position];
    const role = treeModel.role(model, position);
    const siblings = position ? model.children[model.parent[position]] : [0];
    const attributes = {
      role: "treeitem", class: `tree-card is-${role}${node.n_rows ? "" : " is-empty"}${node.by_hand && node.by_hand.locked ? " is-locked" : ""}${far ? " is-far" : ""}`, tabindex: "-1",
      "data-node": node.id, "data-at": position, "data-path": node.path,
      "aria-label": far ? spoken(model, columns, position, role) : null, "aria-level": node.depth + 1,
      "aria-setsize": siblings.length, "aria-posinset": siblings.indexOf(position) + 1,
      "aria-expanded": role === "open" ? "true" : role === "closed" ? "false" : null,
      style: role === "leaf" || role === "cut" ? tint(model, node) : {},
    };
    if (far) return dom.el("div", attributes);
    const [name, rest] = inTwo(model, columns, position, role);
    const swatch = (role === "leaf" || role === "cut") && node.code !== null
      ? dom.el("span", { class: "swatch", style: { background: color(node.code) } }) : null;
    return dom.el("div", attributes,
      node.edge && dom.el("span", { class: "tree-answer", title: node.edge }, answer(node)),
      dom.el("span", { class: "tree-title", title: title(model, columns, position, role) }, swatch,
        dom.el("span", { class: "tree-name", style: rest ? { "max-width": `calc(100% - ${Math.ceil(textWidth(rest, TITLE)) + 1}px)` } : {} }, name), rest),
      small(model, position, role).map((line) => dom.el("span", { class: "tree-small" }, line)),
      bars(model, position, role),
      dom.el("span", { class: "visually-hidden" }, called(model, position, role)),
      toggle(model, position, role));
  }

  return { make, makeDot, widths, height, color, histogram, isNumber, criterion, LABEL };
})();
