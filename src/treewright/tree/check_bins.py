"""What must hold of bins. In: ``Bins``, facts of the columns. Out: nothing, or an error. Caller: ``check_packed``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treewright.exceptions import ModelFileError
from treewright.tree.invariants import ColumnFacts
from treewright.tree.refuse import refuse

if TYPE_CHECKING:
    from treewright.data.bins import Bins

NAME = "bins"
MAX_BINS = 255  # ``data.bins.MAX_BINS``, which brings Numba
DTYPES = {
    "is_nominal": np.bool_,
    "n_bins": np.int32,
    "start": np.int64,
    "lowest": np.float64,
    "highest": np.float64,
    "level_start": np.int64,
    "level_bin": np.uint8,
}


def check_bins(bins: Bins, columns: ColumnFacts) -> None:
    """Refuse bins that do not fit the columns or are out of order.

    Parameters
    ----------
    bins : Bins
    columns : ColumnFacts

    Raises
    ------
    ModelFileError
        The message names the first offending column or bin.
    """
    for name, dtype in DTYPES.items():
        array = getattr(bins, name)
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
            raise ModelFileError(f"{NAME}: {name} is not an array of {np.dtype(dtype).name} with one axis")
    p, of = len(columns.n_levels), "column"
    if len(bins.is_nominal) != p or len(bins.n_bins) != p:
        raise ModelFileError(f"{NAME}: of {len(bins.n_bins)} columns, the model has {p}")
    nominal = bins.is_nominal
    refuse(NAME, nominal != columns.is_nominal, "bins and schema differ in whether it is nominal", of=of)
    # A nominal column needs a number more, for levels without rows; 255 is that of a missing cell.
    most = np.where(nominal, MAX_BINS - 1, MAX_BINS)
    refuse(NAME, (bins.n_bins < 0) | (bins.n_bins > most), lambda i: f"{bins.n_bins[i]} bins", of=of)
    _check_starts("start", bins.start, np.where(nominal, 0, bins.n_bins), len(bins.lowest))
    _check_starts("level_start", bins.level_start, np.where(nominal, columns.n_levels + 1, 0), len(bins.level_bin))
    if len(bins.highest) != len(bins.lowest):
        raise ModelFileError(f"{NAME}: {len(bins.lowest)} lowest and {len(bins.highest)} highest values")
    # A comparison with nan is false.
    refuse(NAME, ~(bins.lowest <= bins.highest), "its highest value is below its lowest", of="bin")
    rises = np.ones(len(bins.lowest), bool)
    rises[1:] = bins.highest[:-1] < bins.lowest[1:]
    rises[bins.start[:-1][bins.start[:-1] < len(rises)]] = True
    refuse(NAME, ~rises, "it does not begin above the one before", of="bin")
    counts = bins.n_bins[nominal]
    beyond = bins.level_bin > np.repeat(counts, columns.n_levels[nominal] + 1)
    refuse(NAME, beyond, "its bin is not one of its column", of="level")
    unseen = bins.level_bin[bins.level_start[1:][nominal] - 1]
    refuse(NAME, unseen != counts, "a level never seen is in a bin with rows", np.flatnonzero(nominal), of=of)


def _check_starts(name: str, starts: np.ndarray, lengths: np.ndarray, n_cells: int) -> None:
    """Refuse offsets that are not the running sum of the lengths, or do not end where the cells do."""
    expected = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    if len(starts) != len(expected) or (starts != expected).any() or expected[-1] != n_cells:
        raise ModelFileError(f"{NAME}: {name} does not divide {n_cells:,} cells among the columns as it must")
