"""Many trees in eight bytes a node: ``PackedTrees``, and one of them as a ``Tree``.

What a packed tree does not keep is computed again when it is needed: thresholds from the bins, sets of levels from sets
of bins, and the numbers of inner nodes from their leaves, the deepest level first. Impurities are those of the growers
(``grow.criteria.counts``, ``grow.criteria.means``, ``grow.criteria.poisson``): a mean over outputs, 0 only if all
targets are equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from treewright.data.memory import check_fits
from treewright.tree.arrays import LEAF, SUBSET, THRESHOLD, Tree
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
from treewright.tree.walk import Sizes

if TYPE_CHECKING:
    from treewright.data.bins import Bins


CELLS_AT_ONCE = 1 << 24  # levels of subset tests that are unpacked at a time, one byte each
COUNT_CRITERIA = ("gini", "entropy", "log_loss", "misclassification")
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
        ``records``. The bits: ``tree.records``.
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
        whole = total.sum()
        return total / whole if whole > 0 else total

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

    def columns_asked(self, tree: int) -> np.ndarray:
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
    """Return one tree of many.

    Parameters
    ----------
    tree : int, 0 to n_trees - 1

    Returns
    -------
    Tree
        Thresholds are the cuts between bins (``+inf`` after the column's last bin: "is x present?").
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
    """float64[k]: cuts after the bins ``last`` of some columns; ``+inf`` after a column's last one."""
    start, cuts = packed.cuts
    inside = last < packed.bins.n_bins[column] - 1
    found = np.full(len(column), np.inf)
    found[inside] = cuts[start[column[inside]] + last[inside]]
    return found


def level_words(packed: PackedTrees, sets: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sets of bins as sets of levels.

    Parameters
    ----------
    sets : int64[k]
        Subset tests of one tree.

    Returns
    -------
    starts : int64[k]
        Where each test's words begin.
    left, seen : uint64[n_words]
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


def count_impurity(criterion: str, n_classes: tuple[int, ...], value: np.ndarray) -> np.ndarray:
    """Impurity of nodes from their class counts.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "misclassification"}
        Entropy is in bits; ``"log_loss"`` is the same.
    n_classes : tuple of int
        Classes per output.
    value : float64[n, n_values], >= 0
        Counts, outputs one after another; an output's sum is positive.

    Returns
    -------
    float64[n]

    Examples
    --------
    >>> count_impurity("gini", (2,), np.array([[1.0, 3.0], [2.0, 0.0]]))
    array([0.375, 0.   ])
    """
    total = np.zeros(len(value))
    pure = np.ones(len(value), bool)
    begin = 0
    for count in n_classes:
        held = value[:, begin : begin + count]
        share = held / held.sum(axis=1, keepdims=True)
        if criterion == "gini":
            total += (share * (1.0 - share)).sum(axis=1)
        elif criterion == "misclassification":
            total += 1.0 - share.max(axis=1)
        else:
            from treewright.core.elementary import log2_of

            total -= (share * log2_of(np.where(share > 0, share, 1.0))).sum(axis=1)
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
    """Write mean and impurity of some nodes from those of their children.

    The loss of a node is that of its children plus that of their means around its own: for squared error
    ``w1 w2 / (w1 + w2) (m1 - m2)**2``, for the half Poisson deviance ``w1 m1 log(m1 / m) + w2 m2 log(m2 / m)``.

    Parameters
    ----------
    criterion : {"squared_error", "poisson", "gradient"}
        ``"gradient"``: as squared error, of what the leaves add.
    nodes, one, two : int[k]
        The nodes, their first and their second children.
    weight : float64[n]
    value : float64[n, n_outputs]
    impurity : float64[n]
        ``value`` and ``impurity`` are written at ``nodes``.
    """
    share = (weight[one] / weight[nodes])[:, None]
    first, second = value[one], value[two]
    # Shares first, so that nothing overflows; no rounding leaves the range of the parts.
    mean = first * share + second * (1.0 - share)
    mean = np.clip(mean, np.minimum(first, second), np.maximum(first, second))
    with np.errstate(over="ignore", under="ignore"):
        if criterion == "poisson":
            between = share * _around(first, mean) + (1.0 - share) * _around(second, mean)
        else:
            # Two factors, so that a square beyond float64 becomes infinite only where the impurity is.
            spread = np.sqrt(share * (1.0 - share)) * (first * 0.5 - second * 0.5)
            between = 4.0 * spread * spread
        within = impurity[one] * share[:, 0] + impurity[two] * (1.0 - share[:, 0])
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
