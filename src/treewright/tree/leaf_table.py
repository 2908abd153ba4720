"""The leaf table of packed trees. In: numbers of leaves. Out: distinct rows in the smallest dtypes, and their numbers.

Callers: packing, check_packed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from treewright.tree.packed import PackedTrees

WHOLE_LIMIT = 2.0**24  # below it float32 holds every whole number
_MIX = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(32)


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
    """float64[m]: the weight of leaves: of classes the sum of the first output's counts."""
    if not n_classes:
        return weight.astype(np.float64)
    total: np.ndarray = value[:, : n_classes[0]].sum(axis=1, dtype=np.float64)
    return total


def leaf_table(
    n_classes: tuple[int, ...], value: np.ndarray, weight: np.ndarray, impurity: np.ndarray, samples: np.ndarray
) -> LeafTable:
    """The arrays of leaves in the smallest dtypes that hold them.

    Class counts and weights stay exact; impurities are rounded to float32 unless one is beyond its range. Weights and
    impurities share a dtype; of classes they are not read.
    """
    same = (weights_of(value, weight, n_classes) == samples).all()
    kept = np.empty(0, np.int64) if same else samples.astype(np.int64)
    if n_classes:
        value = value + 0.0  # -0.0 would be another row
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
    """Equal rows of a leaf table once.

    Returns
    -------
    table : LeafTable
        In the order in which a row first came.
    row_of : int64[m]
        Where each row went.
    """
    columns = [*table.value.T, table.weight, table.impurity, table.samples]
    first, row_of = first_come(*(cells for cells in columns if len(cells)))
    if len(first) == len(row_of):
        return table, row_of
    return LeafTable(*(cells[first] if len(cells) else cells for cells in table)), row_of


def first_come(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number distinct rows (by their bits) in the order in which they first come.

    Parameters
    ----------
    columns : arrays of one length m, of four or eight bytes a cell

    Returns
    -------
    first : int64[k], ascending
        Where each distinct row stands first.
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
