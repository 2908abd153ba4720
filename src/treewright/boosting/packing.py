"""Grown trees as packed ones. In: ``GradientTree`` and the values of their leaves. Out: ``PackedTrees``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treewright.data.bins import Bins
from treewright.grow.gradient.grower import GradientTree
from treewright.tree.packed import PackedTrees
from treewright.tree.packing import pack_many

_LEAST_COVER = float(np.finfo(np.float64).tiny)  # a weight is above 0


@dataclass(frozen=True, eq=False)
class KeptTree:
    """A grown tree with the values of its leaves, until all are packed.

    Attributes
    ----------
    tree : GradientTree
        Its ``order`` must not be read any more.
    adds : float64[n_leaves]
        What each leaf adds to a score.
    """

    tree: GradientTree
    adds: np.ndarray


def packed_trees(bins: Bins, kept: Sequence[KeptTree]) -> PackedTrees:
    """Pack all trees, at least one."""
    trees = [each.tree for each in kept]
    sizes = np.array([tree.n_nodes for tree in trees], np.int64)
    roots = np.concatenate([[0], np.cumsum(sizes)])
    first_child = np.concatenate([tree.first_child for tree in trees]).astype(np.int64)
    offsets = np.repeat(roots[:-1], sizes)
    is_leaf = first_child < 0
    is_set = np.concatenate([tree.is_set for tree in trees])
    has_sets = len(trees[0].sets) == trees[0].n_nodes
    column = np.concatenate([tree.column for tree in trees])
    gain = np.concatenate([tree.gain for tree in trees])
    at_leaves = np.flatnonzero(is_leaf)
    return pack_many(
        bins,
        "gradient",
        (),
        roots=roots,
        column=column,
        cut=np.concatenate([tree.cut for tree in trees]),
        missing_branch=np.concatenate([tree.missing_branch for tree in trees]),
        first_child=np.where(is_leaf, -1, first_child + offsets),
        set_of=np.where(is_set, np.arange(len(is_set)), -1),
        sets=np.concatenate([tree.sets for tree in trees]) if has_sets else np.empty((0, 4), np.uint64),
        seen=np.concatenate([tree.seen for tree in trees]) if has_sets else np.empty((0, 4), np.uint64),
        leaf_value=_of_nodes(at_leaves, len(is_leaf), np.concatenate([each.adds for each in kept]))[:, None],
        leaf_weight=_of_nodes(
            at_leaves, len(is_leaf), np.maximum(np.concatenate([tree.covers for tree in trees]), _LEAST_COVER)
        ),
        leaf_impurity=None,
        leaf_samples=_of_nodes(
            at_leaves, len(is_leaf), np.concatenate([tree.ends - tree.begins for tree in trees]).astype(np.int64)
        ),
        importances=_gains(np.repeat(np.arange(len(trees)), sizes), column, gain, len(trees), bins.n_columns),
    )


def _of_nodes(at: np.ndarray, n: int, of_leaves: np.ndarray) -> np.ndarray:
    """The numbers of the leaves in an array by node; 0 for other nodes."""
    cells = np.zeros(n, of_leaves.dtype)
    cells[at] = of_leaves
    return cells


def _gains(tree: np.ndarray, column: np.ndarray, gain: np.ndarray, n_trees: int, p: int) -> np.ndarray:
    """float64[n_trees, p]: the gain of each column's tests in each tree; leaves gain 0."""
    place = tree * p + np.maximum(column, 0)
    return np.bincount(place, gain, minlength=n_trees * p).reshape(n_trees, p)
