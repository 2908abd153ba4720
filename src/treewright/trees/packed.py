"""Many trees in eight bytes a node: how they are packed, joined and taken, and one of them as a ``Tree``.

The form is canonical: sets are in the order of their nodes, leaf rows in the order in which leaves first need them;
equal leaf rows are kept once, in the smallest dtypes that hold them; every set and every row is used. So the same trees
give the same bytes.

What a packed tree does not keep is computed again when it is needed: thresholds from the bins, sets of levels from sets
of bins, and the numbers of inner nodes from their leaves, the deepest level first. Impurities are those of the growers
(``grow.criteria.counts``, ``grow.criteria.means``, ``grow.criteria.poisson``): a mean over outputs, 0 only if all
targets are equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from treewright.data.memory import check_fits
from treewright.exceptions import ParameterError, TooLargeError
from treewright.trees.arrays import (
    CHILD_SHIFT,
    COLUMN_SHIFT,
    CUT_SHIFT,
    LEAF,
    LEAF_RECORD,
    MAX_COLUMNS,
    MAX_NODES,
    MAX_SETS,
    MISSING_SHIFT,
    SET_SHIFT,
    SUBSET,
    SUBSET_RECORD,
    THRESHOLD,
    THRESHOLD_RECORD,
    Sizes,
    Tree,
    bits_below,
    child_of,
    column_of,
    cut_of,
    kind_of,
    missing_branch_of,
    set_of,
)
from treewright.trees.class_criteria import CLASSIFICATION_CRITERIA, impurity_of_proportions

if TYPE_CHECKING:
    from treewright.data.bins import Bins

CELLS_AT_ONCE = 1 << 24  # levels of subset tests that are unpacked at a time, one byte each
COUNT_CRITERIA = tuple(CLASSIFICATION_CRITERIA)
MEAN_CRITERIA = ("squared_error", "poisson", "gradient")
_SMALLEST = 5e-324  # of a node that is not pure
_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class PackedTrees(Sequence[Tree]):
    """Trees on bins, one int64 a node (docs/decisions/0005). A sequence: an item becomes a `Tree` when it is used.

    With criterion ``"gradient"`` (boosting) a leaf's value is what it adds to a score, its weight its sum of hessians,
    its impurity 0; ``importances`` are gains, not negative, that do not sum to one.

    Attributes
    ----------
    bins : Bins
    criterion : str
        The criterion of growth, from which impurities are computed.
    n_classes : tuple of int
        Classes per output; empty for regression.
    records : int64[n_nodes]
        All trees one after another; siblings side by side, parents before children. A child is a position in
        ``records``. The bits: ``trees.arrays``.
    roots : int64[n_trees + 1]
        Where each tree begins; the last entry is ``n_nodes``.
    sets, seen : uint64[n_sets, 4]
        For each subset test, the bins that go left (also those without rows in the node: the heavier branch), and the
        bins that had rows in the node. Bit ``b & 63`` of word ``b >> 6``. In the order of their nodes. No bit of
        ``sets`` beyond ``n_bins`` (the bin of levels without rows) is set, and none of ``seen`` from there on.
    set_column : int32[n_sets]
        Column of each subset test.
    leaf_value : float32 or float64 [m, n_values]
        Leaf table: class counts (outputs one after another; float32 if all of them are whole numbers below 2**24), or
        predictions (one per output; float64). Leaves that are equal share a row.
    leaf_weight, leaf_impurity : float32[m] or float64[m]
        Regression only, else empty. One dtype for both: float64 if float32 does not hold the weights exactly or if an
        impurity is beyond its range.
    leaf_samples : int64[m]
        Training rows of the leaf; empty if they are as many as the weight.
    importances : float64[n_trees, p]
        Impurity importances of each tree: not negative, they sum to one or are all 0.
    """

    bins: Bins
    criterion: str
    n_classes: tuple[int, ...]
    records: np.ndarray
    roots: np.ndarray
    sets: np.ndarray
    seen: np.ndarray
    set_column: np.ndarray
    leaf_value: np.ndarray
    leaf_weight: np.ndarray
    leaf_impurity: np.ndarray
    leaf_samples: np.ndarray
    importances: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))

    def __post_init__(self) -> None:
        for array in self.arrays().values():
            array.flags.writeable = False

    def __reduce__(self) -> tuple[type[PackedTrees], tuple[Any, ...]]:
        # Only the fields: what was derived from them and kept must not change the bytes of a pickle.
        return type(self), tuple(getattr(self, each.name) for each in fields(self))

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays by name, without those of the bins."""
        held = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in held.items() if isinstance(value, np.ndarray)}

    @property
    def n_trees(self) -> int:
        """How many trees there are; 0 if ``roots`` is empty, as a file may have it."""
        return max(len(self.roots) - 1, 0)

    @property
    def n_nodes(self) -> int:
        """Nodes of all trees, leaves included."""
        return len(self.records)

    @property
    def nbytes(self) -> int:
        """Memory of all arrays in bytes, those of the bins included."""
        binned = (getattr(self.bins, each.name) for each in fields(self.bins))
        return sum(array.nbytes for array in (*self.arrays().values(), *binned))

    @cached_property
    def cuts(self) -> tuple[np.ndarray, np.ndarray]:
        """Where each column's cuts begin, and the cuts (``data.bins.cuts_of``)."""
        from treewright.data.bins import cuts_of  # not at the top: it imports Numba, which loading a tree must not need

        return cuts_of(self.bins)

    def feature_importances(self) -> np.ndarray:
        """Return float64[p]: the trees' mean impurity importances, or shares of all gains; they sum to one or are 0."""
        total = self.importances.sum(axis=0)
        scale = total.sum()
        return total / scale if scale > 0 else total

    def mean_importances(self, n_columns: int, weights: np.ndarray | None = None) -> np.ndarray:
        """Return ``feature_importances``: packed trees know their columns and have no weights."""
        del n_columns, weights
        return self.feature_importances()

    def importances_by_tree(self, n_columns: int) -> np.ndarray:
        """Return float64[n_trees, p]: a copy of ``importances``."""
        del n_columns
        return np.array(self.importances)

    @property
    def begins(self) -> np.ndarray:
        """int64[n_trees + 1]: where the nodes of each tree begin among those of all."""
        return np.array(self.roots)

    @property
    def is_leaf(self) -> np.ndarray:
        """bool[n_nodes]: which nodes are leaves."""
        return kind_of(self.records) == LEAF_RECORD

    @property
    def values(self) -> tuple[np.ndarray, ...]:
        """float[m, n_values]: class counts or numbers, in one table that the leaves of all trees share."""
        return (self.leaf_value,)

    def tested_columns(self, tree: int) -> np.ndarray:
        """Return the columns that one tree uses, ascending."""
        records = self.records[self.roots[tree] : self.roots[tree + 1]]
        records = records[kind_of(records) != LEAF_RECORD]
        is_subset = kind_of(records) == SUBSET_RECORD
        return np.unique(np.concatenate((column_of(records[~is_subset]), self.set_column[set_of(records[is_subset])])))

    def sizes(self, n_columns: int) -> Sizes:
        """Return the sizes of the trees and their tests per column, walking down all trees a level at a time."""
        n_leaves, depth = np.zeros(self.n_trees, np.int64), np.zeros(self.n_trees, np.int64)
        n_tests = np.zeros(n_columns, np.int64)
        here, tree = self.roots[:-1], np.arange(self.n_trees)
        level = 0
        while len(here):
            found = self.records[here]
            kind = kind_of(found)
            is_leaf = kind == LEAF_RECORD
            n_leaves += np.bincount(tree[is_leaf], minlength=self.n_trees)
            depth[tree] = level
            is_subset = kind == SUBSET_RECORD
            n_tests += np.bincount(column_of(found[~is_leaf & ~is_subset]), minlength=n_columns)
            n_tests += np.bincount(self.set_column[set_of(found[is_subset])], minlength=n_columns)
            first, below = child_of(found[~is_leaf]), tree[~is_leaf]
            here, tree = np.concatenate((first, first + 1)), np.concatenate((below, below))
            level += 1
        return Sizes(n_leaves, depth, n_tests)

    def __len__(self) -> int:
        return self.n_trees

    @overload
    def __getitem__(self, item: int) -> Tree: ...

    @overload
    def __getitem__(self, item: slice) -> tuple[Tree, ...]: ...

    def __getitem__(self, item: int | slice) -> Tree | tuple[Tree, ...]:
        found = range(self.n_trees)[item]
        if isinstance(found, range):
            return tuple(unpack(self, tree) for tree in found)
        return unpack(self, found)

    def __iter__(self) -> Iterator[Tree]:
        return (unpack(self, tree) for tree in range(self.n_trees))

    def __repr__(self) -> str:
        return f"PackedTrees({self.n_trees} trees, {self.n_nodes} nodes)"


def unpack(packed: PackedTrees, tree: int) -> Tree:
    """One tree of many; thresholds are the cuts between bins (``+inf`` after the last bin: "is x present?")."""
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
    """float64[k]: cuts after the bins ``last`` of some columns; ``+inf`` after a column's last one."""
    start, cuts = packed.cuts
    inside = last < packed.bins.n_bins[column] - 1
    found = np.full(len(column), np.inf)
    found[inside] = cuts[start[column[inside]] + last[inside]]
    return found


def level_words(packed: PackedTrees, sets: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sets of bins as sets of levels: where each test's words begin, and the words uint64 of ``left`` and ``seen``.

    ``sets`` int64[k] are subset tests of one tree.
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
    filled = np.zeros((len(sets), ((len(bins) - 1) // 64 + 1) * 8), np.uint8)
    filled[:, : packed.shape[1]] = packed
    return filled.view("<u8").astype(np.uint64)


def amounts(
    packed: PackedTrees, first_child: np.ndarray, leaf: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows, weights, impurities and values of all nodes from those of the leaves.

    ``rows`` int64[n_leaves] are the leaves' rows of the leaf table.
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


def count_impurity(criterion: str, n_classes: tuple[int, ...], value: np.ndarray) -> np.ndarray:
    """Impurity of nodes, float64[n], from their class counts, float64[n, n_values], outputs one after another.

    An output's sum is positive. Entropy is in bits; ``"log_loss"`` is the same.
    """
    total = np.zeros(len(value))
    pure = np.ones(len(value), bool)
    begin = 0
    for count in n_classes:
        held = value[:, begin : begin + count]
        proportion = held / held.sum(axis=1, keepdims=True)
        if criterion == "gini":  # not 1 - sum p**2: the last bit is that of the nodes of files
            total += (proportion * (1.0 - proportion)).sum(axis=1)
        else:
            total += impurity_of_proportions(CLASSIFICATION_CRITERIA[criterion], proportion)
        pure &= (held > 0).sum(axis=1) == 1
        begin += count
    return np.where(pure, 0.0, np.maximum(total / len(n_classes), _SMALLEST))


def join_means(
    criterion: str,
    nodes: np.ndarray,
    one: np.ndarray,
    two: np.ndarray,
    weight: np.ndarray,
    value: np.ndarray,
    impurity: np.ndarray,
) -> None:
    """Write mean and impurity of the nodes int[k] from those of their first and second children, ``one`` and ``two``.

    The loss of a node is that of its children plus that of their means around its own: for squared error ``w1 w2 / (w1
    + w2) (m1 - m2)**2``, for the half Poisson deviance ``w1 m1 log(m1 / m) + w2 m2 log(m2 / m)``; ``"gradient"`` is as
    squared error, of what the leaves add.
    """
    proportion = (weight[one] / weight[nodes])[:, None]
    first, second = value[one], value[two]
    # Shares first, so that nothing overflows; no rounding leaves the range of the parts.
    mean = first * proportion + second * (1.0 - proportion)
    mean = np.clip(mean, np.minimum(first, second), np.maximum(first, second))
    with np.errstate(over="ignore", under="ignore"):
        if criterion == "poisson":
            between = proportion * _around(first, mean) + (1.0 - proportion) * _around(second, mean)
        else:
            # Two factors, so that a square beyond float64 becomes infinite only where the impurity is.
            spread = np.sqrt(proportion * (1.0 - proportion)) * (first * 0.5 - second * 0.5)
            between = 4.0 * spread * spread
        within = impurity[one] * proportion[:, 0] + impurity[two] * (1.0 - proportion[:, 0])
        total = np.minimum(within + np.maximum(between, 0.0).mean(axis=1), _LARGEST)
    pure = (impurity[one] == 0) & (impurity[two] == 0) & (first == second).all(axis=1)
    value[nodes] = mean
    impurity[nodes] = np.where(pure, 0.0, np.maximum(total, _SMALLEST))


def _around(part: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """``part log(part / mean)``, 0 where ``part`` or ``mean`` is 0."""
    from treewright.core.elementary import log_of

    some = (part > 0) & (mean > 0)  # the mean of the smallest numbers may have become 0
    ratio = np.where(some, part, 1.0) / np.where(some, mean, 1.0)
    return part * log_of(np.minimum(ratio, _LARGEST))


WHOLE_LIMIT = 2.0**24  # below it float32 holds every whole number
_MIX = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(32)


def pack_one(
    bins: Bins,
    criterion: str,
    n_classes: tuple[int, ...],
    *,
    column: np.ndarray,
    cut: np.ndarray,
    missing_branch: np.ndarray,
    first_child: np.ndarray,
    set_of: np.ndarray,
    sets: np.ndarray,
    seen: np.ndarray,
    leaf_value: np.ndarray,
    leaf_weight: np.ndarray | None,
    leaf_impurity: np.ndarray | None,
    leaf_samples: np.ndarray,
    importances: np.ndarray,
) -> PackedTrees:
    """One tree, packed: ``pack_many`` of a single one, with ``importances`` float64[p] and node 0 as the root."""
    return pack_many(
        bins,
        criterion,
        n_classes,
        roots=np.array([0, len(first_child)], np.int64),
        column=column,
        cut=cut,
        missing_branch=missing_branch,
        first_child=first_child,
        set_of=set_of,
        sets=sets,
        seen=seen,
        leaf_value=leaf_value,
        leaf_weight=leaf_weight,
        leaf_impurity=leaf_impurity,
        leaf_samples=leaf_samples,
        importances=np.asarray(importances).reshape(1, -1),
    )


def pack_many(
    bins: Bins,
    criterion: str,
    n_classes: tuple[int, ...],
    *,
    roots: np.ndarray,
    column: np.ndarray,
    cut: np.ndarray,
    missing_branch: np.ndarray,
    first_child: np.ndarray,
    set_of: np.ndarray,
    sets: np.ndarray,
    seen: np.ndarray,
    leaf_value: np.ndarray,
    leaf_weight: np.ndarray | None,
    leaf_impurity: np.ndarray | None,
    leaf_samples: np.ndarray,
    importances: np.ndarray,
) -> PackedTrees:
    """Trees whose nodes stand one after another, packed as if each had been packed and all joined.

    Every array but the sets has an entry per node; entries that a node does not need are not read.

    Parameters
    ----------
    criterion : str
        The criterion of growth.
    n_classes : tuple of int
        Classes per output; empty for regression.
    roots : int64[n_trees + 1]
        Where each tree begins; the last entry is ``n_nodes``.
    column : int32[n_nodes]
        Column of each test.
    cut : uint8[n_nodes]
        For each threshold the last bin that goes left; the column's last bin or more tests "is it present?".
    missing_branch : int8[n_nodes], 0 or 1
    first_child : int[n_nodes]
        Position of branch 0 in these arrays, after its parent, followed by branch 1; -1 at a leaf.
    set_of : int[n_nodes]
        Row of ``sets`` and ``seen`` of each subset test; -1 elsewhere.
    sets, seen : uint64[k, 4]
        Bins that go left; bins with rows in the node. Bits beyond the column's bins are not read (``sets`` has one
        more: ``n_bins`` is the bin of levels without rows).
    leaf_value : float64[n_nodes, n_values]
        Class counts or predictions.
    leaf_weight, leaf_impurity : float64[n_nodes], or None
        Regression only. Without impurities they are 0.
    leaf_samples : int64[n_nodes]
        Training rows.
    importances : float64[n_trees, p]
        Those of a tree sum to one, or are all 0; with criterion ``"gradient"`` they are the gains.
    """
    if bins.n_columns > MAX_COLUMNS:
        raise TooLargeError(f"{bins.n_columns:,} columns: trees on bins support at most {MAX_COLUMNS:,}; drop some")
    first_child = np.asarray(first_child, np.int64)
    leaf = first_child < 0
    subset = np.flatnonzero(~leaf & (np.asarray(set_of) >= 0))
    _check_limits(len(first_child), len(subset))
    records = _inner_records(bins, column, cut, missing_branch, first_child)
    records[subset] = (
        SUBSET_RECORD
        | np.asarray(missing_branch)[subset].astype(np.int64) << MISSING_SHIFT
        | np.arange(len(subset), dtype=np.int64) << SET_SHIFT
        | first_child[subset] << CHILD_SHIFT
    )
    set_column = np.asarray(column)[subset].astype(np.int32)
    chosen = np.asarray(set_of)[subset]
    kept_sets = np.asarray(sets, np.uint64).reshape(-1, 4)[chosen]
    kept_seen = np.asarray(seen, np.uint64).reshape(-1, 4)[chosen]
    n_bins = bins.n_bins[set_column].astype(np.int64)

    at = np.flatnonzero(leaf)
    impurity = _rows(leaf_impurity, at)
    table, row_of = merge_leaves(
        leaf_table(
            n_classes,
            np.asarray(leaf_value, np.float64)[at],
            _rows(leaf_weight, at),
            impurity if n_classes or len(impurity) else np.zeros(len(at)),
            np.asarray(leaf_samples, np.int64)[at],
        )
    )
    records[at] = LEAF_RECORD | row_of << CHILD_SHIFT
    return PackedTrees(
        bins=bins,
        criterion=criterion,
        n_classes=tuple(int(count) for count in n_classes),
        records=records,
        roots=np.array(roots, np.int64),
        sets=kept_sets & bits_below(n_bins + 1),
        seen=kept_seen & bits_below(n_bins),
        set_column=set_column,
        leaf_value=table.value,
        leaf_weight=table.weight,
        leaf_impurity=table.impurity,
        leaf_samples=table.samples,
        importances=np.asarray(importances, np.float64) + 0.0,
    )


def _rows(cells: np.ndarray | None, at: np.ndarray) -> np.ndarray:
    """float64: some cells of an array that is None or empty for classes."""
    return np.empty(0) if cells is None or not len(cells) else np.asarray(cells, np.float64)[at]


def _inner_records(
    bins: Bins, column: np.ndarray, cut: np.ndarray, missing_branch: np.ndarray, first_child: np.ndarray
) -> np.ndarray:
    """int64[n_nodes]: records of thresholds; those of leaves and subsets are overwritten later."""
    asked = np.where(first_child < 0, 0, column).astype(np.int64)
    last = np.maximum(bins.n_bins[asked].astype(np.int64) - 1, 0)
    records = np.minimum(np.asarray(cut).astype(np.int64), last) << CUT_SHIFT
    records |= asked << COLUMN_SHIFT
    records |= np.asarray(missing_branch).astype(np.int64) << MISSING_SHIFT
    records |= first_child << CHILD_SHIFT
    records |= THRESHOLD_RECORD
    return records


def join(parts: Sequence[PackedTrees]) -> PackedTrees:
    """All trees of all parts, in their order; nothing depends on how the trees were divided into parts.

    The parts are of the same bins, criterion and classes.
    """
    first = parts[0]
    for part in parts[1:]:
        if (
            part.criterion != first.criterion
            or part.n_classes != first.n_classes
            or not same_bins(part.bins, first.bins)
        ):
            raise ParameterError("the trees to be joined have different bins, classes or criteria")
    n_nodes, n_sets = sum(part.n_nodes for part in parts), sum(len(part.sets) for part in parts)
    _check_limits(n_nodes, n_sets)
    # The leaves first: the memory of merging them is freed before the records are there twice.
    table, row_of = merge_leaves(_leaves_of(parts))
    records = np.empty(n_nodes, np.int64)
    node = row = of_set = 0
    for part in parts:
        here = records[node : node + part.n_nodes]
        here[:] = part.records
        _renumber(here, node, of_set, row_of[row : row + len(part.leaf_value)])
        node, row, of_set = node + part.n_nodes, row + len(part.leaf_value), of_set + len(part.sets)
    starts = np.cumsum([0, *(part.n_nodes for part in parts)])
    roots = [part.roots[:-1] + start for part, start in zip(parts, starts[:-1].tolist(), strict=True)]
    return PackedTrees(
        bins=first.bins,
        criterion=first.criterion,
        n_classes=first.n_classes,
        records=records,
        roots=np.concatenate([*roots, [n_nodes]]).astype(np.int64),
        sets=np.concatenate([part.sets for part in parts]),
        seen=np.concatenate([part.seen for part in parts]),
        set_column=np.concatenate([part.set_column for part in parts]),
        leaf_value=table.value,
        leaf_weight=table.weight,
        leaf_impurity=table.impurity,
        leaf_samples=table.samples,
        importances=np.concatenate([part.importances for part in parts]),
    )


def take(packed: PackedTrees, trees: Sequence[int] | np.ndarray) -> PackedTrees:
    """Some of the trees, in the given order, as if only these had been joined; one may occur twice."""
    chosen = np.asarray(trees, np.int64)
    if not len(chosen) or chosen.min() < 0 or chosen.max() >= packed.n_trees:
        raise ParameterError(f"trees to keep are {list(trees)[:5]}; choose from 0 to {packed.n_trees - 1}")
    begins, ends = packed.roots[chosen], packed.roots[chosen + 1]
    # Sets are in the order of their nodes, so a tree's sets are neighbours.
    steps = np.concatenate([[0], np.cumsum(kind_of(packed.records) == SUBSET_RECORD)])
    set_begins, set_ends = steps[begins], steps[ends]
    lengths, set_lengths = ends - begins, set_ends - set_begins
    _check_limits(int(lengths.sum()), int(set_lengths.sum()))
    roots = np.concatenate([[0], np.cumsum(lengths)])
    set_starts = np.cumsum(set_lengths) - set_lengths
    records = np.concatenate([packed.records[begin:end] for begin, end in zip(begins, ends, strict=True)])
    for tree in range(len(chosen)):
        here = records[roots[tree] : roots[tree + 1]]
        _renumber(here, int(roots[tree] - begins[tree]), int(set_starts[tree] - set_begins[tree]), None)
    at = np.flatnonzero(kind_of(records) == LEAF_RECORD)
    rows = child_of(records[at])
    first, row_of = first_come(rows)
    records[at] = LEAF_RECORD | row_of << CHILD_SHIFT
    used = rows[first]
    table = leaf_table(
        packed.n_classes,
        packed.leaf_value[used],
        _rows(packed.leaf_weight, used),
        _rows(packed.leaf_impurity, used),
        leaf_samples_of(packed)[used],
    )
    sets = np.concatenate([np.arange(begin, end) for begin, end in zip(set_begins, set_ends, strict=True)])
    return PackedTrees(
        bins=packed.bins,
        criterion=packed.criterion,
        n_classes=packed.n_classes,
        records=records,
        roots=roots,
        sets=packed.sets[sets],
        seen=packed.seen[sets],
        set_column=packed.set_column[sets],
        leaf_value=table.value,
        leaf_weight=table.weight,
        leaf_impurity=table.impurity,
        leaf_samples=table.samples,
        importances=packed.importances[chosen],
    )


def _check_limits(n_nodes: int, n_sets: int) -> None:
    """Refuse more than a record can number."""
    if n_nodes > MAX_NODES or n_sets > MAX_SETS:
        raise TooLargeError(
            f"the trees have {n_nodes:,} nodes and {n_sets:,} subset tests together, but at most {MAX_NODES:,} and "
            f"{MAX_SETS:,} are possible: grow fewer or smaller trees"
        )


def _renumber(records: np.ndarray, nodes: int, sets: int, row_of: np.ndarray | None) -> None:
    """Move children and sets of some records by so many places, in place; leaves get new rows where given."""
    kind = kind_of(records)
    leaf = kind == LEAF_RECORD
    records += np.where(leaf, 0, nodes << CHILD_SHIFT)
    if sets:
        records += np.where(kind == SUBSET_RECORD, sets << SET_SHIFT, 0)
    if row_of is not None:
        at = np.flatnonzero(leaf)
        records[at] = LEAF_RECORD | row_of[child_of(records[at])] << CHILD_SHIFT


def _leaves_of(parts: Sequence[PackedTrees]) -> LeafTable:
    """The leaf tables one after another, in the widest dtype that any of them needs."""
    joined = LeafTable(
        np.concatenate([part.leaf_value for part in parts]),
        np.concatenate([part.leaf_weight for part in parts]),
        np.concatenate([part.leaf_impurity for part in parts]),
        np.empty(0, np.int64),
    )
    if any(len(part.leaf_samples) for part in parts):
        joined = joined._replace(samples=np.concatenate([leaf_samples_of(part) for part in parts]))
    return joined


def same_bins(one: Bins, other: Bins) -> bool:
    """Whether two binnings are equal, cell for cell."""
    return one is other or all(
        np.array_equal(getattr(one, each.name), getattr(other, each.name)) for each in fields(one)
    )


class LeafTable(NamedTuple):
    """The leaf arrays of ``PackedTrees``."""

    value: np.ndarray
    weight: np.ndarray
    impurity: np.ndarray
    samples: np.ndarray


def leaf_weights_of(packed: PackedTrees) -> np.ndarray:
    """float64[m]: weight of each row of the leaf table."""
    return weights_of(packed.leaf_value, packed.leaf_weight, packed.n_classes)


def leaf_samples_of(packed: PackedTrees) -> np.ndarray:
    """int64[m]: training rows of each row of the leaf table."""
    return packed.leaf_samples if len(packed.leaf_samples) else leaf_weights_of(packed).astype(np.int64)


def weights_of(value: np.ndarray, weight: np.ndarray, n_classes: tuple[int, ...]) -> np.ndarray:
    """float64[m]: the weight of leaves; for classification the sum of the first output's counts."""
    if not n_classes:
        return weight.astype(np.float64)
    total: np.ndarray = value[:, : n_classes[0]].sum(axis=1, dtype=np.float64)
    return total


def leaf_table(
    n_classes: tuple[int, ...], value: np.ndarray, weight: np.ndarray, impurity: np.ndarray, samples: np.ndarray
) -> LeafTable:
    """The arrays of leaves in the smallest dtypes that hold them.

    Class counts and weights stay exact; impurities are rounded to float32 unless one is beyond its range. Weights and
    impurities share a dtype; for classification they are not read.
    """
    same = (weights_of(value, weight, n_classes) == samples).all()
    kept = np.empty(0, np.int64) if same else samples.astype(np.int64)
    if n_classes:
        value = value + 0.0  # -0.0 would be a different row
        is_whole = ((value == np.rint(value)) & (np.abs(value) < WHOLE_LIMIT)).all()
        nothing = np.empty(0, np.float32)
        return LeafTable(value.astype(np.float32 if is_whole else np.float64), nothing, nothing.copy(), kept)
    impurity = impurity + 0.0
    limits = np.finfo(np.float32)
    small = ((impurity == 0) | ((impurity >= limits.tiny) & (impurity <= limits.max))).all()
    with np.errstate(over="ignore", under="ignore"):
        small &= (weight.astype(np.float32) == weight).all()
    dtype = np.float32 if small else np.float64
    return LeafTable(value.astype(np.float64), weight.astype(dtype), impurity.astype(dtype), kept)


def merge_leaves(table: LeafTable) -> tuple[LeafTable, np.ndarray]:
    """A leaf table with equal rows kept once, in the order of their first occurrence, and the new row of each."""
    columns = [*table.value.T, table.weight, table.impurity, table.samples]
    first, row_of = first_come(*(cells for cells in columns if len(cells)))
    if len(first) == len(row_of):
        return table, row_of
    return LeafTable(*(cells[first] if len(cells) else cells for cells in table)), row_of


def first_come(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number distinct rows (by their bits) in the order of their first occurrence.

    Returns the first position of each distinct row, ascending, and the number of each row.
    """
    bits = [np.ascontiguousarray(cells).view(f"u{cells.dtype.itemsize}") for cells in columns]
    mixed = np.zeros(len(bits[0]), np.uint64)
    for cells in bits:
        mixed ^= cells
        mixed *= _MIX
        mixed ^= mixed >> _FOLD
    # Rows of one hash become neighbours: one sort by one key instead of one per column.
    order = np.argsort(mixed)
    begins = _begins(mixed[order])
    if _are_mixed(bits, order, begins):
        order = np.lexsort(bits)
        begins = np.zeros(len(order), bool)
        for cells in bits:
            begins |= _begins(cells[order])
    if begins.all():
        return np.arange(len(order)), np.arange(len(order))
    # The sort is not stable; the lowest place of each group is what it would have put first.
    first = np.minimum.reduceat(order, np.flatnonzero(begins))
    by_first = np.argsort(first)
    number = np.empty(len(first), np.int64)
    number[by_first] = np.arange(len(first))
    row_of = np.empty(len(order), np.int64)
    row_of[order] = number[np.cumsum(begins) - 1]
    return first[by_first], row_of


def _begins(cells: np.ndarray) -> np.ndarray:
    """bool[m]: which cells differ from the one before."""
    begins = np.ones(len(cells), bool)
    np.not_equal(cells[1:], cells[:-1], out=begins[1:])
    return begins


def _are_mixed(bits: list[np.ndarray], order: np.ndarray, begins: np.ndarray) -> bool:
    """Whether two rows that are not equal have the same hash."""
    for cells in bits:
        sorted_cells = cells[order]
        if ((sorted_cells[1:] != sorted_cells[:-1]) & ~begins[1:]).any():
            return True
    return False
