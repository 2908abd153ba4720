"""One packed tree as a ``Tree``. In: ``PackedTrees``, a tree's number. Out: ``Tree``. Caller: ``tree.packed``.

What a packed tree does not keep is made again: thresholds from the bins, sets of levels from sets of bins, and the
numbers of inner nodes from their leaves, the deepest level first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from treewright.data.memory import check_fits
from treewright.tree.arrays import LEAF, SUBSET, THRESHOLD, Tree
from treewright.tree.impurities import count_impurity, join_means
from treewright.tree.records import (
    LEAF_RECORD,
    SUBSET_RECORD,
    THRESHOLD_RECORD,
    child_of,
    column_of,
    cut_of,
    kind_of,
    missing_branch_of,
    set_of,
)

if TYPE_CHECKING:
    from treewright.data.bins import Bins
    from treewright.tree.packed import PackedTrees

CELLS_AT_ONCE = 1 << 24  # levels of subset tests that are unpacked at a time, one byte each


def unpack(packed: PackedTrees, tree: int) -> Tree:
    """Return one tree of many.

    Parameters
    ----------
    packed : PackedTrees
    tree : int, 0 to n_trees - 1

    Returns
    -------
    Tree
        Thresholds are the cuts between bins (``+inf`` behind the column's last bin: "is x present?").

    Raises
    ------
    TooLargeError
        Its sets of levels would not fit in memory.
    """
    root = int(packed.roots[tree])
    records = packed.records[root : int(packed.roots[tree + 1])]
    n = len(records)
    kind = kind_of(records)
    leaf, cut, subset = (kind == which for which in (LEAF_RECORD, THRESHOLD_RECORD, SUBSET_RECORD))
    sets = set_of(records[subset])
    feature = np.full(n, -1, np.int32)
    feature[cut] = column_of(records[cut])
    feature[subset] = packed.set_column[sets]
    first_child = np.full(n, -1, np.int32)
    first_child[~leaf] = child_of(records[~leaf]) - root
    threshold = np.zeros(n)
    threshold[cut] = thresholds(packed, feature[cut], cut_of(records[cut]))
    level_set, left, seen = level_words(packed, sets)
    starts = np.full(n, -1, np.int32)
    starts[subset] = level_set
    rows = child_of(records[leaf])
    n_samples, weight, impurity, value = amounts(packed, first_child, leaf, rows)
    return Tree(
        kind=np.where(leaf, LEAF, np.where(cut, THRESHOLD, SUBSET)).astype(np.uint8),
        feature=feature,
        threshold=threshold,
        first_child=first_child,
        n_branches=np.where(leaf, 0, 2).astype(np.int32),
        missing_branch=missing_branch_of(records).astype(np.int32) * ~leaf,
        level_set=starts,
        n_samples=n_samples,
        weight=weight,
        impurity=impurity,
        value=value,
        levels_left=left,
        levels_seen=seen,
    )


def thresholds(packed: PackedTrees, column: np.ndarray, last: np.ndarray) -> np.ndarray:
    """float64[k]: cuts behind the bins ``last`` of some columns; ``+inf`` behind a column's last one."""
    start, cuts = packed.cuts
    inside = last < packed.bins.n_bins[column] - 1
    found = np.full(len(column), np.inf)
    found[inside] = cuts[start[column[inside]] + last[inside]]
    return found


def level_words(packed: PackedTrees, sets: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sets of bins as sets of levels.

    Parameters
    ----------
    packed : PackedTrees
    sets : int64[k]
        Subset tests of one tree.

    Returns
    -------
    starts : int64[k]
        Where each test's words begin.
    left, seen : uint64[n_words]

    Raises
    ------
    TooLargeError
        They would not fit in memory: a few records may name many sets of very many levels.
    """
    columns = packed.set_column[sets]
    n_levels = np.diff(packed.bins.level_start) - 1
    lengths = n_levels[columns] // 64 + 1
    starts = np.cumsum(lengths) - lengths
    n_words = int(lengths.sum())
    check_fits(2 * n_words * 8, f"{len(sets)} sets of levels of one tree", "look at another tree")
    left, seen = np.zeros((2, n_words), np.uint64)
    for column in np.unique(columns).tolist():
        here = np.flatnonzero(columns == column)
        bins = level_bins(packed.bins, column)
        words = len(bins[:-1]) // 64 + 1
        step = max(CELLS_AT_ONCE // len(bins), 1)
        for begin in range(0, len(here), step):
            some = here[begin : begin + step]
            places = starts[some, None] + np.arange(words)
            left[places] = gathered(packed.sets[sets[some]], bins)
            seen[places] = gathered(packed.seen[sets[some]], bins)
    return starts, left, seen


def level_bins(bins: Bins, column: int) -> np.ndarray:
    """uint8[v + 1]: bin of each level of a column, and of a level never seen."""
    found: np.ndarray = bins.level_bin[int(bins.level_start[column]) : int(bins.level_start[column + 1])]
    return found


def gathered(sets: np.ndarray, bins: np.ndarray) -> np.ndarray:
    """uint64[k, words]: bit ``code`` is bit ``bins[code]`` of ``sets`` uint64[k, 4]."""
    flags = np.unpackbits(np.ascontiguousarray(sets, "<u8").view(np.uint8), axis=1, bitorder="little")
    packed = np.packbits(flags[:, bins], axis=1, bitorder="little")
    whole = np.zeros((len(sets), ((len(bins) - 1) // 64 + 1) * 8), np.uint8)
    whole[:, : packed.shape[1]] = packed
    return whole.view("<u8").astype(np.uint64)


def amounts(
    packed: PackedTrees, first_child: np.ndarray, leaf: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows, weights, impurities and values of all nodes from those of the leaves.

    Parameters
    ----------
    packed : PackedTrees
    first_child : int32[n_nodes]
    leaf : bool[n_nodes]
    rows : int64[n_leaves]
        The leaves' rows of the leaf table.

    Returns
    -------
    n_samples : int64[n_nodes]
    weight, impurity : float64[n_nodes]
    value : float64[n_nodes, n_values]
    """
    n, is_counts = len(leaf), bool(packed.n_classes)
    value = np.zeros((n, packed.leaf_value.shape[1]))
    value[leaf] = packed.leaf_value[rows]
    weight, impurity = np.zeros((2, n))
    if is_counts:
        weight[leaf] = value[leaf, : packed.n_classes[0]].sum(axis=1)
    else:
        weight[leaf] = packed.leaf_weight[rows]
        impurity[leaf] = packed.leaf_impurity[rows]
    n_samples = np.zeros(n, np.int64)
    n_samples[leaf] = packed.leaf_samples[rows] if len(packed.leaf_samples) else weight[leaf].astype(np.int64)
    for nodes in reversed(list(inner_levels(first_child, leaf))):
        one = first_child[nodes]
        two = one + 1
        n_samples[nodes] = n_samples[one] + n_samples[two]
        weight[nodes] = weight[one] + weight[two]
        if is_counts:
            value[nodes] = value[one] + value[two]
        else:
            join_means(packed.criterion, nodes, one, two, weight, value, impurity)
    if is_counts:
        impurity = count_impurity(packed.criterion, packed.n_classes, value)
    return n_samples, weight, impurity, value


def inner_levels(first_child: np.ndarray, leaf: np.ndarray) -> Iterator[np.ndarray]:
    """Inner nodes of each depth, the root's first."""
    level = np.zeros(1, np.int64)
    while len(level := level[~leaf[level]]):
        yield level
        first = first_child[level]
        level = np.stack([first, first + 1], axis=1).reshape(-1)
