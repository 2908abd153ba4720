"""One decision tree as flat arrays. In: arrays. Out: ``Tree`` and its invariants. Callers: grow builds, verbs read.

Siblings lie side by side: branch ``b`` of node ``i`` is node ``first_child[i] + b``. Parents stand before children,
node 0 is the root. A test answers with a branch number (0 is "left": the test holds):

- ``THRESHOLD``: branch 0 if ``x <= threshold``, else 1; ``threshold = +inf`` asks "is x present?".
- ``SUBSET``: branch 0 if bit ``code`` of the node's ``levels_left`` words is set, else 1.
- missing (nan) goes to ``missing_branch``.

A nominal column with ``v`` levels has ``v + 1`` bits at a node: bit ``v`` is the way of a level that fit never saw.
Bits of levels that were absent from the node are already set to the way they go; ``levels_seen`` says which were there.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

LEAF, THRESHOLD, SUBSET = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Tree:
    """A decision tree as flat arrays; position ``i`` of each array belongs to node ``i``.

    Attributes
    ----------
    kind : uint8[n_nodes]
        ``LEAF``, ``THRESHOLD`` or ``SUBSET``.
    feature : int32[n_nodes]
        Column position the test asks about; -1 at a leaf.
    threshold : float64[n_nodes]
        Cut of a ``THRESHOLD`` test (never nan there); 0.0 elsewhere.
    first_child : int32[n_nodes]
        Position of branch 0; -1 at a leaf.
    n_branches : int32[n_nodes]
        How many branches the node has; 0 at a leaf.
    missing_branch : int32[n_nodes]
        The branch a missing value takes; 0 at a leaf.
    level_set : int32[n_nodes]
        Offset of the node's first word in ``levels_left`` and ``levels_seen``; -1 unless ``SUBSET``.
    n_samples : int64[n_nodes]
        Training rows in the node (rows of weight 0 are not counted).
    weight : float64[n_nodes]
        Sum of their sample weights.
    impurity : float64[n_nodes]
        The criterion's impurity of the node.
    value : float64[n_nodes, n_values]
        Classification: the weighted class counts, outputs one after another. Regression: the prediction, one per
        output.
    levels_left, levels_seen : uint64[n_words]
        Bit sets of the nominal tests; node ``i`` with a column of ``v`` levels owns ``v // 64 + 1`` words.
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

    def __post_init__(self) -> None:
        for field in fields(self):
            getattr(self, field.name).flags.writeable = False

    def __reduce__(self) -> tuple[type[Tree], tuple[np.ndarray, ...]]:
        # Only the arrays: what was derived from them and kept must not change the bytes of a pickle.
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

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
        for branch in range(int(self.n_branches.max(initial=0))):
            here = inner[self.n_branches[inner] > branch]
            parent[self.first_child[here] + branch] = here
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
