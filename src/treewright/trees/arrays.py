"""One decision tree as flat arrays, the bits of a packed node, and walks over a tree.

Siblings lie side by side: branch ``b`` of node ``i`` is node ``first_child[i] + b``. Parents stand before children,
node 0 is the root. A test gives a branch number (0 is "left": the test holds):

- ``THRESHOLD``: branch 0 if ``x <= threshold``, else 1; ``threshold = +inf`` tests "is x present?".
- ``SUBSET``: branch 0 if bit ``code`` of the node's ``levels_left`` words is set, else 1.
- ``MULTIWAY``: the branch that ``level_branch`` holds for the level.
- ``INTERVALS``: the first branch ``b`` with ``x <= cuts[b]``, else the last.
- missing (nan) goes to ``missing_branch``; ``ModelData.missing`` may add to this (surrogates, every branch in part). A
  branch for missing values alone is the last one: a ``THRESHOLD`` or ``SUBSET`` node then has three branches, and the
  last of an ``INTERVALS`` node's cuts is ``+inf``.

A nominal column with ``v`` levels has ``v + 1`` bits at a node: bit ``v`` is for a level that fit never saw. Bits of
levels that were absent from the node are set to the branch they take; ``levels_seen`` says which were present.
``level_branch`` holds ``v + 1`` entries likewise: the branch, or ``~branch`` (negative) for a level that was absent.

A leaf without training rows (a level that the node did not hold) has ``n_samples`` 0 and ``weight`` 0.0, and the
``value`` and ``impurity`` of its parent.

A packed node is one int64 that is never negative: bits 0-1 kind (leaf, threshold, subset), 2 branch of a missing cell,
3-10 last bin that goes left, 11-31 column (for a subset, 3-31: its set), 32-62 first child (for a leaf: its row of the
leaf table).

Every walk is a loop over an explicit stack or over the arrays themselves: parents come before children, so a pass
backwards over the positions sees children first. Trees may be 20,000 deep.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from treewright.exceptions import ParameterError

LEAF, THRESHOLD, SUBSET, MULTIWAY, INTERVALS = 0, 1, 2, 3, 4
# The branch that a missing value follows: the node's ``missing_branch`` ("direction", "branch"), that of the first
# usable surrogate, every branch in part, or none.
Missing = Literal["direction", "branch", "surrogate", "fractional", "error"]


def _none_of(dtype: type) -> Callable[[], np.ndarray]:
    """A field that is empty if no node needs it."""
    return lambda: np.empty(0, dtype)


@dataclass(frozen=True, eq=False)
class Tree:
    """A decision tree as flat arrays; position ``i`` of each array belongs to node ``i``.

    Attributes
    ----------
    kind : uint8[n_nodes]
        ``LEAF``, ``THRESHOLD``, ``SUBSET``, ``MULTIWAY`` or ``INTERVALS``.
    feature : int32[n_nodes]
        Position of the tested column; -1 at a leaf.
    threshold : float64[n_nodes]
        Cut of a ``THRESHOLD`` test (never nan there); 0.0 elsewhere.
    first_child : int32[n_nodes]
        Position of branch 0; -1 at a leaf.
    n_branches : int32[n_nodes]
        How many branches the node has; 0 at a leaf.
    missing_branch : int32[n_nodes]
        The branch a missing value takes; 0 at a leaf.
    level_set : int32[n_nodes]
        Where the node's part of a side table begins: ``levels_left`` and ``levels_seen`` for ``SUBSET``,
        ``level_branch`` for ``MULTIWAY``, ``cuts`` for ``INTERVALS``; -1 elsewhere.
    n_samples : int64[n_nodes]
        Training rows in the node (rows of weight 0 are not counted); with fractional missing values the rows that
        reach it with any share.
    weight : float64[n_nodes]
        Sum of their sample weights.
    impurity : float64[n_nodes]
        The criterion's impurity of the node.
    value : float64[n_nodes, n_values]
        Classification: the weighted class counts, outputs one after another. Regression: the prediction, one per
        output.
    levels_left, levels_seen : uint64[n_words]
        Bit sets of the nominal tests; node ``i`` with a column of ``v`` levels owns ``v // 64 + 1`` words.
    level_branch : int32[n_entries]
        Branches of the ``MULTIWAY`` tests, ``v + 1`` a node.
    cuts : float64[n_cuts]
        Ascending cuts of the ``INTERVALS`` tests, ``n_branches - 1`` a node.
    surrogate_node : int32[n_surrogates]
        The node of each surrogate test, ascending; the surrogates of one node are in order of preference.
    surrogate_feature : int32[n_surrogates]
        Its column.
    surrogate_threshold : float64[n_surrogates]
        Its cut; 0.0 for a level set.
    surrogate_level_set : int32[n_surrogates]
        Offset of its bits in ``levels_left`` and ``levels_seen``; -1 for a cut.
    surrogate_flipped : uint8[n_surrogates]
        1 if its branch 0 (``x <= cut``, a level in the set) leads to branch 1 of the node.
    surrogate_agreement, surrogate_adjusted : float64[n_surrogates]
        Share of the node's weight (present in the node's own column) that it sends the same way; the improvement of
        this share over the heavier branch alone, relative to the largest possible improvement.
    """

    kind: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    first_child: np.ndarray
    n_branches: np.ndarray
    missing_branch: np.ndarray
    level_set: np.ndarray
    n_samples: np.ndarray
    weight: np.ndarray
    impurity: np.ndarray
    value: np.ndarray
    levels_left: np.ndarray
    levels_seen: np.ndarray
    level_branch: np.ndarray = field(default_factory=_none_of(np.int32))
    cuts: np.ndarray = field(default_factory=_none_of(np.float64))
    surrogate_node: np.ndarray = field(default_factory=_none_of(np.int32))
    surrogate_feature: np.ndarray = field(default_factory=_none_of(np.int32))
    surrogate_threshold: np.ndarray = field(default_factory=_none_of(np.float64))
    surrogate_level_set: np.ndarray = field(default_factory=_none_of(np.int32))
    surrogate_flipped: np.ndarray = field(default_factory=_none_of(np.uint8))
    surrogate_agreement: np.ndarray = field(default_factory=_none_of(np.float64))
    surrogate_adjusted: np.ndarray = field(default_factory=_none_of(np.float64))

    def __post_init__(self) -> None:
        for each in fields(self):
            getattr(self, each.name).flags.writeable = False

    def __reduce__(self) -> tuple[type[Tree], tuple[np.ndarray, ...]]:
        # Only the arrays: what was derived from them and kept must not change the bytes of a pickle.
        return type(self), tuple(getattr(self, each.name) for each in fields(self))

    @property
    def n_nodes(self) -> int:
        """Nodes, leaves included."""
        return len(self.kind)

    @cached_property
    def is_leaf(self) -> np.ndarray:
        """bool[n_nodes]: which nodes are leaves."""
        return self.kind == LEAF

    @property
    def n_leaves(self) -> int:
        """How many leaves the tree has."""
        return int(self.is_leaf.sum())

    @cached_property
    def parent(self) -> np.ndarray:
        """int32[n_nodes]: the parent of each node, -1 for the root."""
        parent = np.full(self.n_nodes, -1, np.int32)
        inner = np.flatnonzero(~self.is_leaf)
        n_branches = self.n_branches[inner].astype(np.int64)
        # Branch by branch, a root of 600,000 branches takes minutes.
        branch = np.arange(n_branches.sum()) - np.repeat(np.cumsum(n_branches) - n_branches, n_branches)
        parent[np.repeat(self.first_child[inner], n_branches) + branch] = np.repeat(inner, n_branches)
        return parent

    @cached_property
    def depth(self) -> np.ndarray:
        """int32[n_nodes]: edges from the root to each node."""
        depth = np.zeros(self.n_nodes, np.int32)
        level = np.zeros(1, np.int64)
        below = 0
        while True:
            level = level[~self.is_leaf[level]]
            if not len(level):
                return depth
            below += 1
            counts = self.n_branches[level].astype(np.int64)
            first = np.repeat(self.first_child[level].astype(np.int64), counts)
            within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
            level = first + within
            depth[level] = below

    @property
    def max_depth(self) -> int:
        """Edges from the root to the deepest leaf."""
        return int(self.depth.max())

    # scikit-learn's names of the same arrays, for code that was written for its trees.

    @property
    def node_count(self) -> int:
        """``n_nodes`` under scikit-learn's name."""
        return self.n_nodes

    @property
    def n_node_samples(self) -> np.ndarray:
        """``n_samples`` under scikit-learn's name."""
        return self.n_samples

    @property
    def weighted_n_node_samples(self) -> np.ndarray:
        """``weight`` under scikit-learn's name."""
        return self.weight

    @property
    def children_left(self) -> np.ndarray:
        """int32[n_nodes]: position of branch 0; -1 at a leaf. As in scikit-learn, for two-way trees only."""
        self._refuse_many_branches("children_left")
        return self.first_child

    @property
    def children_right(self) -> np.ndarray:
        """int32[n_nodes]: position of branch 1; -1 at a leaf. As in scikit-learn, for two-way trees only."""
        self._refuse_many_branches("children_right")
        return np.where(self.is_leaf, -1, self.first_child + 1).astype(np.int32)

    def _refuse_many_branches(self, name: str) -> None:
        if self.n_branches.max(initial=0) > 2:
            raise AttributeError(f"the tree has nodes with more than two branches, {name} needs two: use first_child")


U1, I4, I8, U8, F8 = (np.dtype(kind) for kind in (np.uint8, np.int32, np.int64, np.uint64, np.float64))
# The arrays by table: one with a row per node, and four side tables that only some kinds of tree need. The arrays of
# one table have the same length.
NODE_FIELDS: dict[str, np.dtype] = {
    "kind": U1,
    "feature": I4,
    "threshold": F8,
    "first_child": I4,
    "n_branches": I4,
    "missing_branch": I4,
    "level_set": I4,
    "n_samples": I8,
    "weight": F8,
    "impurity": F8,
    "value": F8,
}
WORD_FIELDS: dict[str, np.dtype] = {"levels_left": U8, "levels_seen": U8}
BRANCH_FIELDS: dict[str, np.dtype] = {"level_branch": I4}
CUT_FIELDS: dict[str, np.dtype] = {"cuts": F8}
SURROGATE_FIELDS: dict[str, np.dtype] = {
    "surrogate_node": I4,
    "surrogate_feature": I4,
    "surrogate_threshold": F8,
    "surrogate_level_set": I4,
    "surrogate_flipped": U1,
    "surrogate_agreement": F8,
    "surrogate_adjusted": F8,
}
# Under the name of the offsets that divide a table among the trees of a model file.
TABLES: dict[str, dict[str, np.dtype]] = {
    "tree_offsets": NODE_FIELDS,
    "word_offsets": WORD_FIELDS,
    "level_branch_offsets": BRANCH_FIELDS,
    "cut_offsets": CUT_FIELDS,
    "surrogate_offsets": SURROGATE_FIELDS,
}
FIELDS: dict[str, np.dtype] = {name: dtype for table in TABLES.values() for name, dtype in table.items()}


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
    """The children of several inner nodes, int64, parent by parent and branch by branch."""
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
    """The number of nodes of each node's subtree, itself included: int64[n_nodes]."""
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
    """The inner nodes to show with their branches, those with the most samples first.

    Nodes deeper than ``max_depth`` stay hidden; at most ``max_nodes`` are visible, in whole families of siblings only.
    A visible inner node outside the set is shown folded. Every visible node but the root has its parent in it.
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


LEAF_RECORD, THRESHOLD_RECORD, SUBSET_RECORD = 0, 1, 2
MISSING_SHIFT, CUT_SHIFT, COLUMN_SHIFT, SET_SHIFT, CHILD_SHIFT = 2, 3, 11, 3, 32
MAX_COLUMNS = 1 << 21
MAX_NODES = (1 << 31) - 1
MAX_SETS = 1 << (CHILD_SHIFT - SET_SHIFT)


def kind_of(records: np.ndarray) -> np.ndarray:
    """int64[n]: ``LEAF_RECORD``, ``THRESHOLD_RECORD`` or ``SUBSET_RECORD`` (3 is not used)."""
    return records & 3


def missing_branch_of(records: np.ndarray) -> np.ndarray:
    """int64[n]: the branch of a missing cell; 0 at a leaf."""
    return (records >> MISSING_SHIFT) & 1


def cut_of(records: np.ndarray) -> np.ndarray:
    """int64[n]: last bin that goes left, for threshold records."""
    return (records >> CUT_SHIFT) & 255


def column_of(records: np.ndarray) -> np.ndarray:
    """int64[n]: the column, for threshold records."""
    return (records >> COLUMN_SHIFT) & (MAX_COLUMNS - 1)


def set_of(records: np.ndarray) -> np.ndarray:
    """int64[n]: the set, for subset records."""
    return (records >> SET_SHIFT) & (MAX_SETS - 1)


def child_of(records: np.ndarray) -> np.ndarray:
    """int64[n]: the first child; for a leaf its row of the leaf table."""
    return records >> CHILD_SHIFT


def bits_below(counts: np.ndarray) -> np.ndarray:
    """uint64[k, 4]: the lowest ``counts[i]`` bits of row ``i`` set; counts from 0 to 256."""
    within = np.clip(counts[:, None] - 64 * np.arange(4), 0, 64).astype(np.uint64)
    # A shift by 64 has no defined result.
    return np.where(
        within > 0, np.uint64(2**64 - 1) >> (np.uint64(64) - np.maximum(within, np.uint64(1))), np.uint64(0)
    )
