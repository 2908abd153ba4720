// Rows down a tree of the page, as predict.route and predict.fractional send them. A cell is a number, the code of a
// level (levels.length: a level that the fit never saw), null or undefined for a missing one.
const route = (() => {
  const indexes = new WeakMap();

  // Of a tree of the page: its nodes by id, the branches of each, and which part of a missing value goes to each.
  function index(tree) {
    if (!indexes.has(tree)) indexes.set(tree, indexed(tree.nodes));
    return indexes.get(tree);
  }

  function indexed(nodes) {
    const byId = new Map(), branches = new Map(), portions = new Map([[0, 1]]);
    for (const node of nodes) {
      byId.set(node.id, node);
      if (node.parent === null) continue;
      if (!branches.has(node.parent)) branches.set(node.parent, []);
      branches.get(node.parent)[node.branch] = node;
    }
    for (const below of branches.values()) {
      const total = below.reduce((sum, node) => sum + node.weight, 0);
      // Where all branches are empty a missing value is divided evenly: its share must not get lost.
      for (const node of below) portions.set(node.id, total > 0 ? node.weight / total : 1 / below.length);
    }
    return { byId, branches, portions };
  }

  const isMissing = (cell) => cell === null || cell === undefined || Number.isNaN(cell);

  // The branch of a value at a test or a stand-in; -1 where it has none.
  function answer(test, cell) {
    if (isMissing(cell)) return -1;
    if (test.kind === "present") return 0;
    if (test.kind === "levels") return cell < test.branch_of.length ? test.branch_of[cell] : test.unseen ?? -1;
    let low = 0, high = test.cuts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (cell <= numbers.value(test.cuts[middle])) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  // Which surrogate answers for a missing cell, and with which branch; null where none does.
  function standIn(test, cells) {
    for (const surrogate of test.surrogates) {
      const found = answer(surrogate, cells[surrogate.column]);
      if (found < 0) continue;
      // Of levels the branches are turned around already.
      return { surrogate, branch: surrogate.kind === "cuts" && surrogate.flipped ? 1 - found : found };
    }
    return null;
  }

  // {branch, surrogate}: where a row goes at a node; branch is -1 where it takes every branch in part.
  function step(tree, node, cells) {
    const own = answer(node.test, cells[node.test.column]);
    if (own >= 0) return { branch: own, surrogate: null };
    if (tree.missing === "fractional") return { branch: -1, surrogate: null };
    return standIn(node.test, cells) || { branch: node.test.missing, surrogate: null };
  }

  // Whether the model refuses the row: it takes no missing cells.
  const refuses = (tree, columns, cells) => tree.missing === "error" && columns.some((_, at) => isMissing(cells[at]));

  // A way ends at a leaf, at a node that is folded in this page, and where `isLeaf` says so.
  const ends = (node, isLeaf) => !node.test || node.hidden > 0 || Boolean(isLeaf && isLeaf(node));

  // Ids of the nodes that a row reaches with its share in each, parents first; none where the model refuses the row.
  function way(tree, columns, cells, isLeaf) {
    if (refuses(tree, columns, cells)) return [];
    const { byId, branches, portions } = index(tree);
    const reached = [{ node: 0, share: 1 }];
    for (const { node: id, share } of reached) { // grows as it runs
      const node = byId.get(id);
      if (ends(node, isLeaf)) continue;
      const { branch } = step(tree, node, cells);
      for (const child of branch >= 0 ? [branches.get(id)[branch]] : branches.get(id)) {
        const part = branch >= 0 ? share : share * portions.get(child.id);
        if (part > 0) reached.push({ node: child.id, share: part });
      }
    }
    return reached;
  }

  // The ends of a way, the largest share first, the lowest number of equals.
  function leaves(tree, found, isLeaf) {
    const { byId } = index(tree);
    const last = found.filter(({ node }) => ends(byId.get(node), isLeaf));
    return last.sort((one, other) => other.share - one.share || one.node - other.node);
  }

  return { way, leaves, step, answer, index, isMissing, ends };
})();
