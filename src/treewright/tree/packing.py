"""Pack trees into eight bytes a node; join packed trees, and take some of them.

The form is canonical: sets are in the order of their nodes, leaf rows in the order in which leaves first need them;
equal leaf rows are kept once, in the smallest dtypes that hold them; every set and every row is used. So the same trees
give the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from treewright.exceptions import ParameterError, TooLargeError
from treewright.tree.packed import PackedTrees
from treewright.tree.records import (
    CHILD_SHIFT,
    COLUMN_SHIFT,
    CUT_SHIFT,
    LEAF_RECORD,
    MAX_COLUMNS,
    MAX_NODES,
    MAX_SETS,
    MISSING_SHIFT,
    SET_SHIFT,
    SUBSET_RECORD,
    THRESHOLD_RECORD,
    bits_below,
    child_of,
    kind_of,
)

if TYPE_CHECKING:
    from treewright.data.bins import Bins


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
    """One tree, packed: ``pack_many`` of a single one.

    Parameters are those of ``pack_many``, but ``importances`` is float64[p], and node 0 is the root.
    """
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
    _check_room(len(first_child), len(subset))
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
    """All trees of all parts, in their order.

    Parameters
    ----------
    parts : sequence of PackedTrees, not empty
        Of the same bins, criterion and classes.

    Returns
    -------
    PackedTrees
        Nothing in it depends on how the trees were divided into parts.
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
    _check_room(n_nodes, n_sets)
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
    """Some of the trees, in the given order.

    Parameters
    ----------
    trees : sequence of int, not empty
        Which trees, counted from 0; one may occur twice.

    Returns
    -------
    PackedTrees
        As if only these had been joined: no set and no leaf row is left over.
    """
    chosen = np.asarray(trees, np.int64)
    if not len(chosen) or chosen.min() < 0 or chosen.max() >= packed.n_trees:
        raise ParameterError(f"trees to keep are {list(trees)[:5]}; choose from 0 to {packed.n_trees - 1}")
    begins, ends = packed.roots[chosen], packed.roots[chosen + 1]
    # Sets are in the order of their nodes, so a tree's sets are neighbours.
    steps = np.concatenate([[0], np.cumsum(kind_of(packed.records) == SUBSET_RECORD)])
    set_begins, set_ends = steps[begins], steps[ends]
    lengths, set_lengths = ends - begins, set_ends - set_begins
    _check_room(int(lengths.sum()), int(set_lengths.sum()))
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


def _check_room(n_nodes: int, n_sets: int) -> None:
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
    together = LeafTable(
        np.concatenate([part.leaf_value for part in parts]),
        np.concatenate([part.leaf_weight for part in parts]),
        np.concatenate([part.leaf_impurity for part in parts]),
        np.empty(0, np.int64),
    )
    if any(len(part.leaf_samples) for part in parts):
        together = together._replace(samples=np.concatenate([leaf_samples_of(part) for part in parts]))
    return together


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
        whole = ((value == np.rint(value)) & (np.abs(value) < WHOLE_LIMIT)).all()
        nothing = np.empty(0, np.float32)
        return LeafTable(value.astype(np.float32 if whole else np.float64), nothing, nothing.copy(), kept)
    impurity = impurity + 0.0
    limits = np.finfo(np.float32)
    small = ((impurity == 0) | ((impurity >= limits.tiny) & (impurity <= limits.max))).all()
    with np.errstate(over="ignore", under="ignore"):
        small &= (weight.astype(np.float32) == weight).all()
    dtype = np.float32 if small else np.float64
    return LeafTable(value.astype(np.float64), weight.astype(dtype), impurity.astype(dtype), kept)


def merge_leaves(table: LeafTable) -> tuple[LeafTable, np.ndarray]:
    """A leaf table with equal rows kept once.

    Returns
    -------
    table : LeafTable
        In the order of the first occurrence of each row.
    row_of : int64[m]
        The new row of each old row.
    """
    columns = [*table.value.T, table.weight, table.impurity, table.samples]
    first, row_of = first_come(*(cells for cells in columns if len(cells)))
    if len(first) == len(row_of):
        return table, row_of
    return LeafTable(*(cells[first] if len(cells) else cells for cells in table)), row_of


def first_come(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number distinct rows (by their bits) in the order of their first occurrence.

    Returns
    -------
    first : int64[k], ascending
        The first position of each distinct row.
    row_of : int64[m]
        The number of each row.
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
