"""Columns that share a histogram. In: rows as bins. Out: ``Bundles``.

Columns that are nearly always in their first bin, and never two of them outside of it at once (one-hot columns), can
share one byte, so that their rows are added once (Ke et al. 2017, "LightGBM", section 4: exclusive feature bundling).
Here no conflict at all is allowed, so that no sum changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from treewright.data.bin_rows import SparseCodes
from treewright.data.bins import MISSING_BIN, Bins
from treewright.exceptions import TooLargeError
from treewright.grow.settings import GradientSettings

_MOST_BINS = 255  # of a bundle, besides the one for "all in their first bin"
_MOST_SHARE = 0.5  # of rows outside of the first bin; with more, no other column would fit into the bundle
_MOST_PLACES = 2**31 - 1
_MOST_TRIED = 64  # bundles that a column is tried with; with 32, the 180 columns of 60 letters of DNA become 96


@dataclass(frozen=True, eq=False)
class Bundles:
    """The position of each column's bins.

    Attributes
    ----------
    codes : uint8[n, stride]
        One byte per row for each bundle, and for each column that is in none.
    width : int
        Bins of a histogram: 256 for each byte.
    place : int64[p]
        Start of a column's bins in a histogram; for a column in a bundle, of its bin 1.
    bundled : uint8[p]
        1 if a column is in a bundle.
    spans : int64[width / 256]
        Of the 256 bins of each byte: the first ones that rows may be in, also of levels that fit never saw. The last
        one, of missing cells, is apart.
    row_start, cells : int64[n + 1], int32[k, 2]
        For a sparse table, which has no codes: the positions in a histogram that each stored cell is added to, row by
        row: that of its gradient, and that of the count of its row.
    used : int32[k] or None
        For a sparse table the columns that a node may be split by.
    """

    codes: np.ndarray
    width: int
    place: np.ndarray
    bundled: np.ndarray
    spans: np.ndarray
    row_start: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    cells: np.ndarray = field(default_factory=lambda: np.empty((0, 2), np.int32))
    used: np.ndarray | None = None

    def take(self, rows: np.ndarray) -> Bundles:
        """The layout of some rows, bool[n], of a table that is not sparse: they do not conflict either."""
        return replace(self, codes=self.codes[rows])


def without_bundles(codes: SparseCodes, bins: Bins, repeats: np.ndarray | None, settings: GradientSettings) -> Bundles:
    """The layout of a sparse table's histogram: each column has its bins, one for missing cells, and a number of rows.

    A cut has a side without the column's usual bin. If fewer rows than a leaf needs store a cell, that side is never
    large enough: such columns (most words of many documents) share one position that stays empty.
    """
    columns, found = codes.by_row.indices, codes.by_row.data
    in_row = np.diff(codes.by_row.indptr)
    times = None if repeats is None else np.repeat(repeats, in_row)
    is_used = np.bincount(columns, times, len(bins.n_bins)) >= settings.min_samples_leaf
    if settings.min_child_weight <= 0.0:  # then an empty side is not refused before its rows are counted
        is_used[:] = True
    sizes = np.where(is_used, bins.n_bins.astype(np.int64) + 2, 0)
    place = np.where(is_used, np.cumsum(sizes) - sizes, sizes.sum())
    width = int(-(-(sizes.sum() + MISSING_BIN + 2) // 256) * 256)
    if width > _MOST_PLACES:
        raise TooLargeError(f"histograms of {width} bins: at most {_MOST_PLACES}; set a smaller max_bins")
    kept = is_used[columns]
    of_kept = columns[kept]
    first, n_bins, here = place[of_kept], bins.n_bins[of_kept], found[kept]
    cells = np.empty((len(of_kept), 2), np.int32)
    cells[:, 0] = first + np.where(here == MISSING_BIN, n_bins, here)
    cells[:, 1] = first + n_bins + 1
    row_start = np.concatenate((np.zeros(1, np.int64), np.cumsum(kept, dtype=np.int64)))[codes.by_row.indptr]
    none, bundled = np.empty((0, 0), np.uint8), np.zeros(len(place), np.uint8)
    used = np.flatnonzero(is_used).astype(np.int32)
    return Bundles(none, width, place, bundled, np.full(width >> 8, MISSING_BIN), row_start, cells, used)


def of_columns(codes: np.ndarray, n_bins: np.ndarray) -> Bundles:
    """The layout without bundles: a byte for each column."""
    p = len(n_bins)
    return Bundles(codes, 256 * p, np.arange(p, dtype=np.int64) * 256, np.zeros(p, np.uint8), _spans_of(n_bins))


def _spans_of(n_bins: np.ndarray) -> np.ndarray:
    """``Bundles.spans`` of columns of so many bins."""
    return np.minimum(n_bins.astype(np.int64) + 1, MISSING_BIN)


def bundle(codes: np.ndarray, columns: np.ndarray, n_bins: np.ndarray) -> Bundles:
    """Bundle columns that exclude each other.

    Parameters
    ----------
    codes : uint8[n, stride]
        Bins, row by row; returned unchanged if there is nothing to bundle.
    columns : uint8[p, n]
        The same, column by column.
    n_bins : int32[p]

    Returns
    -------
    Bundles
    """
    p = len(columns)
    members = [each for each in _members(columns, n_bins) if len(each) > 1]
    if not members:
        return of_columns(codes, n_bins)
    bundled = np.zeros(p, np.uint8)
    bundled[np.concatenate(members)] = 1
    alone = np.flatnonzero(bundled == 0)
    place = np.empty(p, np.int64)
    place[alone] = np.arange(len(alone)) * 256
    made, spans = [], _spans_of(n_bins[alone]).tolist()
    for number, each in enumerate(members, len(alone)):
        cells, first = np.zeros(columns.shape[1], np.uint8), 1
        for column in each:
            place[column] = number * 256 + first
            other = columns[column] != 0
            cells[other] = columns[column][other] + np.uint8(first - 1)
            first += int(n_bins[column]) - 1
        made.append(cells)
        spans.append(first)
    return Bundles(_by_row([*columns[alone], *made]), 256 * len(spans), place, bundled, np.array(spans, np.int64))


def _members(columns: np.ndarray, n_bins: np.ndarray) -> list[list[int]]:
    """Columns of each bundle: the fullest column first, each into the first bundle where it meets no other."""
    n = columns.shape[1]
    others = {
        column: count
        for column in np.flatnonzero((n_bins > 1) & (n_bins <= _MOST_BINS // 2)).tolist()
        if (count := int(np.count_nonzero(columns[column]))) <= _MOST_SHARE * n and columns[column].max() != MISSING_BIN
    }
    bundles: list[list[int]] = []
    taken: list[np.ndarray] = []
    n_taken: list[int] = []
    room: list[int] = []
    for column in sorted(others, key=lambda one: (-others[one], one)):
        here, needed = columns[column] != 0, int(n_bins[column]) - 1
        tried = 0
        for at in range(len(bundles) - 1, -1, -1):
            if room[at] < needed or n_taken[at] + others[column] > n or tried >= _MOST_TRIED:
                continue
            tried += 1
            if not np.logical_and(taken[at], here).any():
                bundles[at].append(column)
                taken[at] |= here
                n_taken[at] += others[column]
                room[at] -= needed
                break
        else:
            bundles.append([column])
            taken.append(here.copy())
            n_taken.append(others[column])
            room.append(_MOST_BINS - needed)
    return [sorted(each) for each in bundles]


def _by_row(columns: list[np.ndarray]) -> np.ndarray:
    """uint8[n, stride]: columns as rows, a multiple of 8 bytes each."""
    n, k = len(columns[0]), len(columns)
    codes = np.zeros((n, -(-k // 8) * 8), np.uint8)
    for begin in range(0, n, 4096):  # what is written stays in the cache until every column has been read
        block = codes[begin : begin + 4096]
        for at, column in enumerate(columns):
            block[:, at] = column[begin : begin + 4096]
    return codes
