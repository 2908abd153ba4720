// A tree as its drawing needs it: who stands under whom, what is open, what is drawn. Nodes are called by their position
// in part.nodes, parents before children; their ids are the numbers that est.node takes.
const treeModel = (() => {
  const BUDGET = 60;

  // part: TreePart. Returns parent, children, below (how many nodes hang under each, those not in the page too), place.
  function of(part) {
    const nodes = part.nodes;
    const place = new Map(nodes.map((node, position) => [node.id, position]));
    const parent = nodes.map((node) => node.parent === null ? -1 : place.get(node.parent));
    const children = nodes.map(() => []);
    const below = nodes.map((node) => node.hidden);
    for (let position = 1; position < nodes.length; position++) children[parent[position]].push(position);
    for (let position = nodes.length - 1; position > 0; position--) below[parent[position]] += 1 + below[position];
    return { part, nodes, place, parent, children, below, asked: new Map(part.asked.map((each) => [each.node, each])), open: new Set(), isLeaf: () => false, standing: below };
  }

  // Another shape of the same tree; standing: how many nodes hang under each in it.
  function shape(model, isLeaf) {
    model.isLeaf = isLeaf;
    model.standing = model.nodes.map((node) => isLeaf(node) ? 0 : node.hidden);
    for (let position = model.nodes.length - 1; position > 0; position--) {
      if (!isLeaf(model.nodes[model.parent[position]])) model.standing[model.parent[position]] += 1 + model.standing[position];
    }
  }

  const cutAway = (model, position) => model.below[position] - model.standing[position];

  // Open level by level, of one level those with the most rows first, while that many cards are enough.
  function openFirst(model, budget = BUDGET) {
    const inner = model.nodes.map((_, position) => position).filter((position) => forks(model, position));
    inner.sort((a, b) => model.nodes[a].depth - model.nodes[b].depth || model.nodes[b].n_rows - model.nodes[a].n_rows || a - b);
    let cards = 1;
    for (const position of inner) {
      const above = model.parent[position];
      if (above >= 0 && !model.open.has(above)) continue;
      if (cards + model.children[position].length > budget && cards > 1) continue;
      model.open.add(position);
      cards += model.children[position].length;
    }
  }

  // Whether a node has branches in this shape of the tree.
  const forks = (model, position) => model.children[position].length > 0 && !model.isLeaf(model.nodes[position]);
  const isOpen = (model, position) => model.open.has(position) && forks(model, position);

  // How a node is drawn. "cut": what is below it is not in this page.
  function role(model, position) {
    if (forks(model, position)) return model.open.has(position) ? "open" : "closed";
    return model.nodes[position].hidden && !model.isLeaf(model.nodes[position]) ? "cut" : "leaf";
  }

  // What is drawn, from left to right and down: positions in preorder. Where whole, as if the shape cut nothing.
  function drawn(model, whole = false) {
    const found = [];
    const stack = [0];
    while (stack.length) {
      const position = stack.pop();
      found.push(position);
      const open = whole ? model.open.has(position) : isOpen(model, position);
      if (open) for (let at = model.children[position].length - 1; at >= 0; at--) stack.push(model.children[position][at]);
    }
    return found;
  }

  // The way from the root to a node, both ends in it.
  function way(model, position) {
    const found = [];
    for (let at = position; at >= 0; at = model.parent[at]) found.push(at);
    return found.reverse();
  }

  // Open everything above a node; whether it can be seen then: not below a leaf of the shape.
  function openTo(model, position) {
    const above = way(model, position).slice(0, -1);
    if (!above.every((at) => forks(model, at))) return false;
    for (const at of above) model.open.add(at);
    return true;
  }

  // All nodes that fork in this shape.
  function forking(model) {
    const found = [];
    const stack = [0];
    while (stack.length) {
      const position = stack.pop();
      if (!forks(model, position)) continue;
      found.push(position);
      stack.push(...model.children[position]);
    }
    return found;
  }

  return { of, shape, cutAway, openFirst, forks, role, drawn, way, openTo, forking, BUDGET };
})();
