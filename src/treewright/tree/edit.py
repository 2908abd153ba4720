"""New trees from old ones. In: ``Tree``, node positions. Out: ``Tree``. Callers: pruning, readers of parts of a tree.

An edit never changes its argument. Every result keeps what ``check_tree`` states: parents before children, siblings
side by side, fillers at leaves. Level sets come out one after another in the order of the nodes.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from treewright.exceptions import ParameterError
from treewright.tree.arrays import LEAF, SUBSET, Tree


def collapse(tree: Tree, nodes: Iterable[int] | npt.NDArray[np.integer]) -> Tree:
    """Turn inner nodes into leaves; what was below them is gone.

    Parameters
    ----------
    tree : Tree
    nodes : iterable of int, positions in ``tree``
        Leaves among them, nodes below others of them and repetitions change nothing.

    Returns
    -------
    Tree
        The nodes that stay keep their order, samples, weight, impurity and value. ``tree`` itself where there is
        nothing to collapse.

    Raises
    ------
    ParameterError
        A position is not a whole number or not in the tree.
    """
    leaf = tree.is_leaf.copy()
    leaf[_positions(tree, nodes)] = True
    if (leaf == tree.is_leaf).all():
        return tree
    # A node is gone if one of its ancestors became a leaf.
    gone = _some_ancestor(tree, leaf)
    return _rebuild(tree, np.flatnonzero(~gone), leaf)


def subtree(tree: Tree, node: int) -> Tree:
    """The part of a tree from one node down, as a tree of its own.

    Parameters
    ----------
    tree : Tree
    node : int, position in ``tree``

    Returns
    -------
    Tree
        ``node`` is its root; ``tree`` itself for node 0.

    Raises
    ------
    ParameterError
        The position is not a whole number or not in the tree.
    """
    root = int(_positions(tree, [node])[0])
    if root == 0:
        return tree
    marked = np.zeros(tree.n_nodes, bool)
    marked[root] = True
    return _rebuild(tree, np.flatnonzero(marked | _some_ancestor(tree, marked)), tree.is_leaf)


def reorder_level_order(tree: Tree) -> Tree:
    """The same tree with its nodes level by level, and in a level from branch 0 to the last: one order for one tree.

    Parameters
    ----------
    tree : Tree

    Returns
    -------
    Tree
        ``tree`` itself where it is in that order already.
    """
    levels = [np.zeros(1, np.int64)]
    while True:
        above = levels[-1][~tree.is_leaf[levels[-1]]]
        if not len(above):
            break
        levels.append(_children(tree, above))
    order = np.concatenate(levels)
    if (order[1:] > order[:-1]).all():
        return tree
    return _rebuild(tree, order, tree.is_leaf)


def _positions(tree: Tree, nodes: Iterable[int] | npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Positions as int64, all of them in the tree. A negative one is refused: it would count from the end."""
    given = nodes if isinstance(nodes, np.ndarray) else np.array(list(nodes))
    if given.size and (given.dtype.kind not in "iu" or given.ndim != 1):
        raise ParameterError(f"nodes must be a sequence of whole numbers, found dtype {given.dtype}, {given.ndim} axes")
    bad = (given < 0) | (given >= tree.n_nodes)
    if bad.any():
        raise ParameterError(f"node {given[bad][0]} is not in the tree: its nodes are 0 to {tree.n_nodes - 1}")
    return given.astype(np.int64)


def _some_ancestor(tree: Tree, marked: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Whether some node above each node is marked; O(n log depth), whatever the shape."""
    above = tree.parent.astype(np.int64)
    above[0] = 0
    found = marked[above]
    found[0] = False
    # Invariant: found[i] covers the nearest 2**k ancestors of i, above[i] is the one 2**k up (or the root).
    while above.any():
        found |= found[above]
        above = above[above]
    return found


def _children(tree: Tree, nodes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Children of inner nodes, parent by parent and branch by branch."""
    counts = tree.n_branches[nodes].astype(np.int64)
    starts = np.cumsum(counts) - counts
    return np.repeat(tree.first_child[nodes] - starts, counts) + np.arange(counts.sum())


def _rebuild(tree: Tree, order: npt.NDArray[np.int64], leaf: npt.NDArray[np.bool_]) -> Tree:
    """The nodes of ``order`` (parents first, siblings adjacent) as a tree; ``leaf`` says which old nodes end there."""
    place = np.full(tree.n_nodes, -1, np.int64)
    place[order] = np.arange(len(order))
    ends = leaf[order]
    kind = np.where(ends, LEAF, tree.kind[order]).astype(np.uint8)
    # first_child is -1 at a leaf: read any place there, it is replaced.
    first_child = np.where(ends, -1, place[tree.first_child[order]])
    level_set, words = _compact_words(tree, order, kind)
    return Tree(
        kind=kind,
        feature=np.where(ends, -1, tree.feature[order]).astype(np.int32),
        threshold=np.where(ends, 0.0, tree.threshold[order]),
        first_child=first_child.astype(np.int32),
        n_branches=np.where(ends, 0, tree.n_branches[order]).astype(np.int32),
        missing_branch=np.where(ends, 0, tree.missing_branch[order]).astype(np.int32),
        level_set=level_set,
        n_samples=tree.n_samples[order],
        weight=tree.weight[order],
        impurity=tree.impurity[order],
        value=tree.value[order],
        levels_left=tree.levels_left[words],
        levels_seen=tree.levels_seen[words],
    )


def _compact_words(
    tree: Tree, order: npt.NDArray[np.int64], kind: npt.NDArray[np.uint8]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Where the level sets of the new nodes begin, and the old position of each word that they keep."""
    # Sets tile the words, so each ends where the next begins.
    subsets = np.flatnonzero(tree.kind == SUBSET)
    subsets = subsets[np.argsort(tree.level_set[subsets])]
    lengths = np.zeros(tree.n_nodes, np.int64)
    lengths[subsets] = np.diff(tree.level_set[subsets].astype(np.int64), append=len(tree.levels_left))
    kept = np.flatnonzero(kind == SUBSET)
    old, counts = tree.level_set[order[kept]].astype(np.int64), lengths[order[kept]]
    new = np.cumsum(counts) - counts
    level_set = np.full(len(order), -1, np.int32)
    level_set[kept] = new
    words = np.repeat(old - new, counts) + np.arange(counts.sum())
    return level_set, words
