"""Walks over a tree, none of them recursive.

Every walk is a loop over an explicit stack or over the arrays themselves: parents come before children, so a pass
backwards over the positions sees children first. Trees may be 20,000 deep.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from treewright.exceptions import ParameterError
from treewright.tree.arrays import Tree


class Sizes(NamedTuple):
    """``n_leaves`` and ``depth`` int64[n_trees]; ``n_tests`` int64[p]: how many nodes of all trees test each column."""

    n_leaves: np.ndarray
    depth: np.ndarray
    n_tests: np.ndarray


def children(tree: Tree, node: int) -> range:
    """Return the positions of a node's branches, in order; empty for a leaf."""
    first = int(tree.first_child[node])
    return range(first, first + int(tree.n_branches[node]))


def children_of(tree: Tree, nodes: np.ndarray) -> np.ndarray:
    """Return the children of several inner nodes, parent by parent and branch by branch.

    Parameters
    ----------
    nodes : int[k], inner nodes

    Returns
    -------
    int64[sum of their n_branches]
    """
    counts = tree.n_branches[nodes].astype(np.int64)
    starts = np.cumsum(counts) - counts
    return np.asarray(np.repeat(tree.first_child[nodes] - starts, counts) + np.arange(counts.sum()))


def path_to(tree: Tree, node: int) -> list[tuple[int, int]]:
    """Return the path from the root to a node as pairs ``(node on the path, branch taken there)``."""
    if not 0 <= node < tree.n_nodes:
        raise ParameterError(f"node {node} is not in the tree; its nodes are 0 to {tree.n_nodes - 1}")
    parent = tree.parent
    steps: list[tuple[int, int]] = []
    while node > 0:
        above = int(parent[node])
        steps.append((above, node - int(tree.first_child[above])))
        node = above
    steps.reverse()
    return steps


def subtree_sizes(tree: Tree) -> np.ndarray:
    """Return the number of nodes of each node's subtree, itself included.

    Returns
    -------
    int64[n_nodes]
        1 at a leaf, ``n_nodes`` at the root.
    """
    sizes = [1] * tree.n_nodes
    parents = tree.parent.tolist()
    for node in range(tree.n_nodes - 1, 0, -1):
        sizes[parents[node]] += sizes[node]
    return np.array(sizes, np.int64)


def depth_of_tree(tree: Tree) -> int:
    """Return the edges from the root to the deepest leaf, in one pass over the nodes."""
    depths = [0] * tree.n_nodes
    parents = tree.parent.tolist()
    for node in range(1, tree.n_nodes):
        depths[node] = depths[parents[node]] + 1
    return max(depths)


def unfolded(tree: Tree, *, max_depth: int | None = None, max_nodes: int | None = None) -> frozenset[int]:
    """Return the inner nodes to show with their branches, those with the most samples first.

    Parameters
    ----------
    max_depth : int >= 0, optional
        Nodes deeper than this stay hidden.
    max_nodes : int >= 1, optional
        At most this many nodes are visible; whole families of siblings only.

    Returns
    -------
    frozenset of int
        A visible inner node outside this set is shown folded. Every visible node but the root has its parent in it.
    """
    if max_depth is not None and max_depth < 0:
        raise ParameterError(f"max_depth is {max_depth}; give 0 or more, or None for every level")
    if max_nodes is not None and max_nodes < 1:
        raise ParameterError(f"max_nodes is {max_nodes}; give 1 or more, or None for every node")
    open_nodes: set[int] = set()
    visible = 1
    # Ties go to the node nearer to the root, then to the left: the result never depends on the heap.
    heap = [(-int(tree.n_samples[0]), 0, 0)]
    while heap:
        _, depth, node = heapq.heappop(heap)
        below = children(tree, node)
        if not below or (max_depth is not None and depth >= max_depth):
            continue
        if max_nodes is not None and visible + len(below) > max_nodes:
            continue
        open_nodes.add(node)
        visible += len(below)
        for child in below:
            heapq.heappush(heap, (-int(tree.n_samples[child]), depth + 1, child))
    return frozenset(open_nodes)
