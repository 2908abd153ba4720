"""Checks of packed trees and of their bins.

Packed trees that pass can be walked and unpacked without bounds checks, and each ``Tree`` made from them passes
``check_tree``. Each check may rely on those before it. Records are read in blocks, so that the checks need little
additional memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from treewright.exceptions import ModelFileError
from treewright.tree.check import SUM_TOLERANCE, ColumnFacts, refuse
from treewright.tree.packed import COUNT_CRITERIA, MEAN_CRITERIA, PackedTrees
from treewright.tree.packing import leaf_samples_of, leaf_weights_of
from treewright.tree.records import (
    LEAF_RECORD,
    MAX_NODES,
    SUBSET_RECORD,
    THRESHOLD_RECORD,
    bits_below,
    child_of,
    column_of,
    cut_of,
    kind_of,
    set_of,
)

if TYPE_CHECKING:
    from treewright.data.bins import Bins


NAME = "packed trees"
BLOCK = 1 << 17  # records: their parts stay in the cache
_LEAF_BITS = ((1 << 32) - 1) ^ 3  # of a leaf: all 0
_LARGEST_ROWS, _LARGEST_WEIGHT = 2.0**62, 1e300  # of a tree: sums that stay in range in any order
_WHOLE = 2.0**53  # weights beyond are not counts of rows
# Number of axes of an array and the dtypes it may have.
SHAPES: dict[str, tuple[int, tuple[type, ...]]] = {
    "records": (1, (np.int64,)),
    "roots": (1, (np.int64,)),
    "sets": (2, (np.uint64,)),
    "seen": (2, (np.uint64,)),
    "set_column": (1, (np.int32,)),
    "leaf_value": (2, (np.float32, np.float64)),
    "leaf_weight": (1, (np.float32, np.float64)),
    "leaf_impurity": (1, (np.float32, np.float64)),
    "leaf_samples": (1, (np.int64,)),
    "importances": (2, (np.float64,)),
}
MAX_BINS = 255  # ``data.bins.MAX_BINS``, which brings Numba
BIN_DTYPES = {
    "is_nominal": np.bool_,
    "n_bins": np.int32,
    "start": np.int64,
    "lowest": np.float64,
    "highest": np.float64,
    "level_start": np.int64,
    "level_bin": np.uint8,
}


def check_packed(packed: PackedTrees, columns: ColumnFacts, n_values: int, n_classes: tuple[int, ...]) -> None:
    """Refuse packed trees that break an invariant of ``tree.packed``.

    Parameters
    ----------
    columns : ColumnFacts
        Of the model's schema.
    n_values : int
        Width of the leaf table.
    n_classes : tuple of int
        Classes per output; empty for regression.
    """
    check_bins(packed.bins, columns)
    criteria = COUNT_CRITERIA if n_classes else MEAN_CRITERIA
    if packed.n_classes != n_classes:
        raise ModelFileError(f"{NAME}: made for {packed.n_classes} classes, but the model has {n_classes}")
    if packed.criterion not in criteria:
        raise ModelFileError(f"{NAME}: criterion {packed.criterion[:40]!r} is not one of {', '.join(criteria)}")
    _check_shapes(packed, n_values)
    _check_roots(packed)
    _check_sets(packed)
    _check_records(packed)
    _check_leaves(packed, n_classes)
    _check_sums(packed)
    if packed.criterion == "gradient":
        _check_gains(packed)
    else:
        _check_importances(packed.importances)


def _check_shapes(packed: PackedTrees, n_values: int) -> None:
    """Check dtypes, axes and lengths."""
    for name, array in packed.arrays().items():
        n_axes, dtypes = SHAPES[name]
        if array.dtype not in dtypes or array.ndim != n_axes:
            kinds = " or ".join(np.dtype(dtype).name for dtype in dtypes)
            raise ModelFileError(f"{NAME}: {name} is not an array of {kinds} with {n_axes} axes")
    n_sets, n_rows = len(packed.set_column), len(packed.leaf_value)
    means = 0 if packed.n_classes else n_rows
    expected = {
        "sets": (n_sets, 4),
        "seen": (n_sets, 4),
        "leaf_value": (n_rows, n_values),
        "leaf_weight": (means,),
        "leaf_impurity": (means,),
        "importances": (packed.n_trees, packed.bins.n_columns),
    }
    for name, axes in expected.items():
        if getattr(packed, name).shape != axes:
            raise ModelFileError(f"{NAME}: {name} has shape {getattr(packed, name).shape}, expected {axes}")
    if len(packed.leaf_samples) not in (0, n_rows):
        raise ModelFileError(f"{NAME}: leaf_samples has {len(packed.leaf_samples)} entries, expected 0 or {n_rows}")
    if packed.leaf_weight.dtype != packed.leaf_impurity.dtype:
        raise ModelFileError(f"{NAME}: leaf_weight and leaf_impurity have two dtypes")
    if not packed.n_classes and packed.leaf_value.dtype != np.float64:
        raise ModelFileError(f"{NAME}: predictions are {packed.leaf_value.dtype}, expected float64")
    if packed.n_classes and packed.leaf_weight.dtype != np.float32:
        raise ModelFileError(f"{NAME}: leaf_weight is empty and {packed.leaf_weight.dtype}, expected float32")


def _check_roots(packed: PackedTrees) -> None:
    """Check that trees follow one another and each has a node."""
    n_nodes, roots = packed.n_nodes, packed.roots
    if not 1 <= n_nodes <= MAX_NODES:
        raise ModelFileError(f"{NAME}: {n_nodes} nodes, expected 1 to 2**31 - 1")
    # Compared, not subtracted: a difference of hostile numbers may overflow.
    whole = len(roots) > 1 and roots[0] == 0 and roots[-1] == n_nodes
    if not whole or (roots[1:] <= roots[:-1]).any():
        raise ModelFileError(f"{NAME}: roots do not divide {n_nodes:,} nodes")


def _check_sets(packed: PackedTrees) -> None:
    """Check that sets hold only bins of their columns."""
    column, bins = packed.set_column, packed.bins
    outside = (column < 0) | (column >= bins.n_columns)
    refuse(NAME, outside, lambda i: f"column {column[i]} is not one of {bins.n_columns}", of="set")
    refuse(NAME, ~bins.is_nominal[column], lambda i: f"column {column[i]} is not nominal", of="set")
    n_bins = bins.n_bins[column].astype(np.int64)
    # Bin n_bins holds levels without rows: they have a branch, but none was seen.
    for name, n_bits in (("sets", n_bins + 1), ("seen", n_bins)):
        stray = (getattr(packed, name) & ~bits_below(n_bits)).any(axis=1)
        refuse(NAME, stray, f"{name} has bits beyond the bins of its column", of="set")


def _blocks(packed: PackedTrees) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Records block by block: their positions and themselves."""
    for begin in range(0, packed.n_nodes, BLOCK):
        records = packed.records[begin : begin + BLOCK]
        yield np.arange(begin, begin + len(records)), records


def _ends(packed: PackedTrees, places: np.ndarray) -> np.ndarray:
    """int64[k]: where the tree of each of some neighbouring nodes ends."""
    first, last = np.searchsorted(packed.roots, [places[0], places[-1]], "right")
    ends = packed.roots[first : last + 1]
    steps = np.minimum(ends, places[-1] + 1) - np.maximum(packed.roots[first - 1 : last], places[0])
    return np.repeat(ends, steps)


def _check_records(packed: PackedTrees) -> None:
    """Check kinds, columns, cuts and children; every node but a root has one parent, every set and leaf row is used."""
    bins, n_rows = packed.bins, len(packed.leaf_value)
    lasts = np.where(bins.is_nominal, -1, bins.n_bins - 1)
    reached = np.zeros(packed.n_nodes, bool)
    used = np.zeros(n_rows, bool)
    n_sets = n_inner = 0
    for places, records in _blocks(packed):
        refuse(NAME, (records < 0) | (kind_of(records) > SUBSET_RECORD), "its record has an unknown kind", places)
        kind, child = kind_of(records), child_of(records)
        at = np.flatnonzero(kind == LEAF_RECORD)
        refuse(NAME, (records[at] & _LEAF_BITS) != 0, "a leaf with bits of a test", places[at])
        refuse(NAME, child[at] >= n_rows, f"its leaf row is not one of {n_rows}", places[at])
        used[child[at]] = True
        at = np.flatnonzero(kind == THRESHOLD_RECORD)
        column = column_of(records[at])
        refuse(NAME, column >= bins.n_columns, f"its column is not one of {bins.n_columns}", places[at])
        refuse(NAME, cut_of(records[at]) > lasts[column], "its cut is not at a bin of a numeric column", places[at])
        at = np.flatnonzero(kind == SUBSET_RECORD)
        wrong = set_of(records[at]) != np.arange(n_sets, n_sets + len(at))
        refuse(NAME, wrong, "its set is not the next one", places[at])
        n_sets += len(at)
        at = np.flatnonzero(kind != LEAF_RECORD)
        inner, first = places[at], child[at]
        refuse(NAME, first <= inner, "its children are not after it", inner)
        refuse(NAME, first + 2 > _ends(packed, places)[at], "its children are not in its tree", inner)
        reached[first] = True
        reached[first + 1] = True
        n_inner += len(at)
    if n_sets != len(packed.set_column):
        raise ModelFileError(f"{NAME}: {n_sets} subset tests, but {len(packed.set_column)} sets")
    reached[packed.roots[:-1]] ^= True
    refuse(NAME, ~reached, "it has no parent and is not a root, or is a root and has one")
    # As many children as nodes that are not a root, and all of them reached: none is reached twice.
    if 2 * n_inner != packed.n_nodes - packed.n_trees:
        raise ModelFileError(f"{NAME}: some nodes have two parents")
    refuse(NAME, ~used, "no leaf needs it", of="leaf row")


def _check_leaves(packed: PackedTrees, n_classes: tuple[int, ...]) -> None:
    """Check leaf rows: finite numbers, counts that are not negative and add up, weights above 0, at least one row."""
    value, of = packed.leaf_value, "leaf row"
    refuse(NAME, ~np.isfinite(value).all(axis=1), "a value is not finite", of=of)
    if n_classes:
        # Bits: -0.0 would be a second way to write the same counts.
        refuse(NAME, np.signbit(value).any(axis=1), "a class count is negative", of=of)
    with np.errstate(over="ignore", invalid="ignore"):
        weight = leaf_weights_of(packed)
        refuse(NAME, ~((weight > 0) & np.isfinite(weight)), "its weight is not a finite number above 0", of=of)
        begin = 0
        for count in n_classes:
            off = np.abs(value[:, begin : begin + count].sum(axis=1, dtype=np.float64) - weight)
            refuse(NAME, ~(off <= SUM_TOLERANCE * weight), "the class counts of its outputs differ in sum", of=of)
            begin += count
    if not n_classes:
        impurity = packed.leaf_impurity
        bad = ~((impurity >= 0) & (impurity < np.inf)) | np.signbit(impurity)
        refuse(NAME, bad, "its impurity is not a finite number, at least 0", of=of)
        if packed.criterion == "poisson":
            refuse(NAME, value.min(axis=1) < 0, "its prediction is negative", of=of)
    if len(packed.leaf_samples):
        refuse(NAME, packed.leaf_samples < 1, "it has no training rows", of=of)
    else:
        refuse(NAME, (weight != np.rint(weight)) | (weight > _WHOLE), "its weight is not a row count", of=of)


def _check_sums(packed: PackedTrees) -> None:
    """Check that the sums of rows and weights of every tree are in range."""
    weight, samples = leaf_weights_of(packed), leaf_samples_of(packed).astype(np.float64)
    whole = np.zeros((2, packed.n_trees))
    with np.errstate(over="ignore"):
        for places, records in _blocks(packed):
            at = np.flatnonzero(kind_of(records) == LEAF_RECORD)
            rows = child_of(records[at])
            first = int(np.searchsorted(packed.roots, places[0], "right")) - 1
            tree = np.searchsorted(packed.roots, places[at], "right") - 1 - first
            for total, amount in zip(whole, (weight, samples), strict=True):
                added = np.bincount(tree, amount[rows])
                total[first : first + len(added)] += added
    refuse(NAME, ~(whole[0] <= _LARGEST_WEIGHT), "its weights add up to more than 1e300", of="tree")
    refuse(NAME, whole[1] > _LARGEST_ROWS, "its leaves have more rows than can be counted", of="tree")


def _check_gains(packed: PackedTrees) -> None:
    """Check that gains have a finite sum and that leaves have impurity 0."""
    refuse(NAME, packed.leaf_impurity != 0, "its impurity is not 0, though the criterion is gradient", of="leaf row")
    gains = packed.importances
    bad = np.signbit(gains) | ~(gains <= _LARGEST_WEIGHT / gains.size)
    refuse(NAME, bad.any(axis=1), "a gain is not a number, at least 0, whose sum stays finite", of="tree")


def _check_importances(importances: np.ndarray) -> None:
    """Check that importances are shares that add up to 1, or all 0."""
    bad = np.signbit(importances) | ~(importances <= 1 + SUM_TOLERANCE)
    refuse(NAME, bad.any(axis=1), "an importance is not a share", of="tree")
    total = importances.sum(axis=1)
    refuse(NAME, (total != 0) & ~(np.abs(total - 1) <= SUM_TOLERANCE), "its importances do not add up to 1", of="tree")


def check_bins(bins: Bins, columns: ColumnFacts) -> None:
    """Refuse bins that do not fit the columns or are out of order."""
    for name, dtype in BIN_DTYPES.items():
        array = getattr(bins, name)
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
            raise ModelFileError(f"bins: {name} is not an array of {np.dtype(dtype).name} with one axis")
    p, of = len(columns.n_levels), "column"
    if len(bins.is_nominal) != p or len(bins.n_bins) != p:
        raise ModelFileError(f"bins: {len(bins.n_bins)} columns, but the model has {p}")
    nominal = bins.is_nominal
    refuse("bins", nominal != columns.is_nominal, "bins and schema differ in whether it is nominal", of=of)
    # A nominal column needs one more number, for levels without rows; 255 is that of a missing cell.
    most = np.where(nominal, MAX_BINS - 1, MAX_BINS)
    refuse("bins", (bins.n_bins < 0) | (bins.n_bins > most), lambda i: f"{bins.n_bins[i]} bins", of=of)
    _check_starts("start", bins.start, np.where(nominal, 0, bins.n_bins), len(bins.lowest))
    _check_starts("level_start", bins.level_start, np.where(nominal, columns.n_levels + 1, 0), len(bins.level_bin))
    if len(bins.highest) != len(bins.lowest):
        raise ModelFileError(f"bins: {len(bins.lowest)} lowest and {len(bins.highest)} highest values")
    # A comparison with nan is false.
    refuse("bins", ~(bins.lowest <= bins.highest), "its highest value is below its lowest", of="bin")
    rises = np.ones(len(bins.lowest), bool)
    rises[1:] = bins.highest[:-1] < bins.lowest[1:]
    rises[bins.start[:-1][bins.start[:-1] < len(rises)]] = True
    refuse("bins", ~rises, "it does not begin above the one before", of="bin")
    counts = bins.n_bins[nominal]
    beyond = bins.level_bin > np.repeat(counts, columns.n_levels[nominal] + 1)
    refuse("bins", beyond, "its bin is not one of its column", of="level")
    unseen = bins.level_bin[bins.level_start[1:][nominal] - 1]
    refuse("bins", unseen != counts, "a level never seen is in a bin with rows", np.flatnonzero(nominal), of=of)


def _check_starts(name: str, starts: np.ndarray, lengths: np.ndarray, n_cells: int) -> None:
    """Refuse offsets that are not the running sum of the lengths, or do not end where the cells do."""
    expected = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    if len(starts) != len(expected) or (starts != expected).any() or expected[-1] != n_cells:
        raise ModelFileError(f"bins: {name} does not divide {n_cells:,} cells among the columns as it must")
