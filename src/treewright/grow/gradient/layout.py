"""The arrays that growing on gradients shares, and bundles of columns that share a histogram.

Columns that are nearly always in their first bin, and never two of them outside of it at once (one-hot columns), can
share one byte, so that their rows are added once (Ke et al. 2017, "LightGBM", section 4: exclusive feature bundling).
Here no conflict at all is allowed, so that no sum changes.

All memory is made once and used for every tree of a model. Positions of a tree's rows (``Rows.order``, two halves):

                 first half                          second half
    root         [ 0 1 2 3 4 5 6 7 ]                 [ . . . . . . . . ]
    split it     [ invalid         ]                 [ 1 4 6 | 7 5 3 2 0 ]     left rows ascend, right rows descend
    split right  [ . . . 3 0 | 2 5 7 ]               [ 1 4 6 | invalid   ]     from their place, one half further

A node's rows are ``order[begin:end]``, in one of the halves; its children's are written to the other half at the same
distance from its beginning: the left ones ascending from the first place, the right ones descending from the last. So
nothing is copied back, and a node's rows are overwritten only by its grandchildren's.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from treewright.core.structs import struct
from treewright.data.bin_rows import SparseCodes
from treewright.data.bins import MISSING_BIN, Bins
from treewright.data.memory import check_fits
from treewright.exceptions import ParameterError, TooLargeError
from treewright.grow.gradient.words import Scales
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


NUMERIC, SUBSET, ORDERED = 0, 1, 2  # kinds of columns
NO_COLUMN = -1
SCRATCH = 0  # the slot of a node that finds none free: its histogram is not kept
N_NODES, N_LEAVES, N_WAITING, N_FREE = range(4)  # places in ``Growth.state``
_MOST_GROUPS = 64
_SLOT_BYTES = 256 * 2**20  # of histograms; further nodes have none, and their children's are summed up again
_UNBOUNDED = 2**31 - 1


@struct
class Table(NamedTuple):
    """The columns as kernels read them.

    ``kind`` uint8[p]: thresholds between bins, subsets of bins, or first runs of a nominal column's bins. ``n_bins``
    int32[p]. ``place`` int64[p]: start of a column's bins in a histogram; for a bundled column, of its bin 1.
    ``bundled`` uint8[p]: 1 if the bin 0 of a column is the rest of its other bins. ``pool`` int32[k]: the tree's
    columns, ascending. ``monotone`` int8[p]. ``groups`` uint64[p]: bit g is set if the column is in group g of those
    that may occur on one path; empty if all may.
    ``columns`` uint8[p, n]: the bins, column by column.

    For a sparse table ``columns`` has no row, and its stored cells are here instead: ``column_start`` int64[p + 1],
    ``column_rows`` int32[k], ``column_bins`` uint8[k], column by column; ``usual`` uint8[p], the bin of a cell that is
    not stored. After a column's bins its histogram then has that of missing cells, and the number of rows with a cell.
    """

    kind: np.ndarray
    n_bins: np.ndarray
    place: np.ndarray
    bundled: np.ndarray
    pool: np.ndarray
    monotone: np.ndarray
    groups: np.ndarray
    columns: np.ndarray
    column_start: np.ndarray
    column_rows: np.ndarray
    column_bins: np.ndarray
    usual: np.ndarray


@struct
class Rows(NamedTuple):
    """The rows of one tree.

    ``codes`` uint8[n * stride]: bins, or bundles of them, row by row. ``words`` int64[n]: gradient and hessian.
    ``repeats`` int32[n]: number of rows that each counts as; empty if each is one. ``order`` int32[2 n]: two halves
    with room for all rows; a node's rows are together in one of them, ascending or descending, its children's in the
    other (so those of a split node are overwritten later).

    For a sparse table there are no codes; ``row_start`` int64[n + 1] and ``places`` int32[k, 2] are the numbers of a
    histogram that each row is added to, and ``cells`` uint8[n] is room for the bins of a column. Else these are empty.
    """

    codes: np.ndarray
    words: np.ndarray
    repeats: np.ndarray
    order: np.ndarray
    row_start: np.ndarray
    places: np.ndarray
    cells: np.ndarray


@struct
class Limits(NamedTuple):
    """The limits of a split, in the units of the words.

    ``l1``, ``l2``, ``level_l2``, ``smoothing``, ``min_hessian``, ``min_gain`` float64; ``sure_hessian``: a side with
    this sum has ``min_rows`` rows; ``exact`` 1 if a hessian is a number of rows; ``gain_unit``: a gain of 1, in the
    user's unit. ``level_share``, ``node_share``: share of the columns sampled for each depth and node. ``by_gain`` 1 if
    the node that gains most is split next, else the highest one. ``bounded`` 1 if monotone constraints bound the nodes;
    ``symmetric`` 1 if all nodes of a level have one test.
    """

    l1: float
    l2: float
    level_l2: float
    smoothing: float
    min_hessian: float
    min_gain: float
    sure_hessian: float
    gain_unit: float
    min_rows: int
    exact: int
    max_depth: int
    max_leaves: int
    level_share: float
    node_share: float
    seed: np.uint64
    by_gain: int
    bounded: int
    symmetric: int


@struct
class Nodes(NamedTuple):
    """The nodes of one tree, siblings together, parents before children.

    ``begin``, ``end`` int32: their rows in ``Rows.order``. ``first_child`` int32, -1 for none. ``depth`` int32.
    ``column`` int32, -1 without a gain; ``cut`` int32: last bin on the left, for a nominal column the number of levels
    that go left; ``missing_left`` int8, -1 if no cell is missing. ``gain`` float64, in the user's unit. ``total``,
    ``left`` int64: the words of all rows and of those that would go left, summed up. ``n_rows`` int64: what the rows
    count as. ``low``, ``high`` float64: bounds of the value, in the units of words. ``slot`` int32: the histogram kept
    for the node, -1 for none. ``alive`` uint64: groups of columns of the path. ``sets``, ``seen`` uint64[n_nodes, 4]:
    for tests of nominal columns the bins that go left, and those that had rows; a single row if no column is nominal.
    """

    begin: np.ndarray
    end: np.ndarray
    first_child: np.ndarray
    depth: np.ndarray
    column: np.ndarray
    cut: np.ndarray
    missing_left: np.ndarray
    gain: np.ndarray
    total: np.ndarray
    left: np.ndarray
    n_rows: np.ndarray
    low: np.ndarray
    high: np.ndarray
    slot: np.ndarray
    alive: np.ndarray
    sets: np.ndarray
    seen: np.ndarray


@struct
class Grown(NamedTuple):
    """What a grown tree has besides its nodes.

    ``leaves`` int32[k]: their numbers, ascending; ``begins``, ``ends`` int32[k]: their rows. ``sums`` int64[k + 1, 2]:
    exact sums of gradients and hessians, the last for rows outside of the tree. ``bounds`` float64[2, k]; ``values``,
    ``covers`` float64[k]. ``gain`` float64[n], ``missing_branch`` int8[n], ``is_set`` bool[n]: of every node. All as in
    ``grower.GradientTree``.
    """

    leaves: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    sums: np.ndarray
    bounds: np.ndarray
    values: np.ndarray
    covers: np.ndarray
    gain: np.ndarray
    missing_branch: np.ndarray
    is_set: np.ndarray


@struct
class Growth(NamedTuple):
    """The arrays of a growth, besides the nodes.

    ``slots`` int64[k, width]: histograms, 0 for a node that finds no free one; ``free`` int32[k]: the free ones.
    ``spans`` int64[width / 256]: as in ``Bundles``; bins beyond them are 0, and stay so.
    ``heap`` int32[capacity]: nodes that wait to be split. ``state`` int64[4].
    """

    slots: np.ndarray
    spans: np.ndarray
    free: np.ndarray
    heap: np.ndarray
    state: np.ndarray


@struct
class Desk(NamedTuple):
    """Scratch memory of one thread.

    ``sums`` int64[256]: the word left of each cut; ``gradient``, ``hessian``, ``gains`` float64[256]: its halves, and
    the gain of the cut; ``gain_bits`` int64[256]: the same memory as ``gains``; ``cuts`` int64[256]: its bin. ``bins``
    int64[256]: the searched column; ``sorted`` int64[256]: by gradient, for a nominal column. ``counts``,
    ``sorted_counts``, ``rows_left`` int64[256]: rows in each bin, and up to it. ``levels`` int64[256], ``keys``
    float64[256]: bins in the order of their gradients. ``goes_left`` uint8[256]. ``best_gain`` float64[p], ``best``
    int32[p, 3]: the offer of each column: cut, whether missing cells go left, whether its rows were counted. ``drawn``,
    ``level`` int32[p]: the columns of a node and of its depth.
    """

    sums: np.ndarray
    gradient: np.ndarray
    hessian: np.ndarray
    gains: np.ndarray
    gain_bits: np.ndarray
    cuts: np.ndarray
    bins: np.ndarray
    sorted: np.ndarray
    counts: np.ndarray
    sorted_counts: np.ndarray
    rows_left: np.ndarray
    levels: np.ndarray
    keys: np.ndarray
    goes_left: np.ndarray
    best_gain: np.ndarray
    best: np.ndarray
    drawn: np.ndarray
    level: np.ndarray


# Memory.


def columns_of(codes: np.ndarray, p: int) -> np.ndarray:
    """uint8[p, n]: the bins column by column."""
    columns = np.empty((p, len(codes)), np.uint8)
    for begin in range(0, len(codes), 4096):  # what is read stays in the cache until every column has been written
        columns[:, begin : begin + 4096] = codes[begin : begin + 4096, :p].T
    return columns


def table_of(
    bins: Bins, ordered: np.ndarray, columns: np.ndarray, bundles: Bundles, settings: GradientSettings,
    codes: SparseCodes | None = None,
) -> Table:  # fmt: skip
    """The columns as kernels read them.

    Parameters
    ----------
    bins : Bins
    ordered : bool[p]
        Nominal columns whose bins have an order.
    columns : uint8[p, n]
    bundles : Bundles
    settings : GradientSettings
    codes : SparseCodes, optional
        The rows of a sparse table.
    """
    p = bins.n_columns
    stored = None if codes is None else codes.by_column
    groups = np.empty(0, np.uint64)
    if settings.interactions is not None:
        if len(settings.interactions) > _MOST_GROUPS:
            raise ParameterError(f"interaction_cst has {len(settings.interactions)} groups; at most {_MOST_GROUPS}")
        groups = np.zeros(p, np.uint64)
        for number, group in enumerate(settings.interactions):
            groups[list(group)] |= np.uint64(1 << number)
    return Table(
        kind=np.where(bins.is_nominal, np.where(ordered, ORDERED, SUBSET), NUMERIC).astype(np.uint8),
        n_bins=bins.n_bins.astype(np.int32),
        place=bundles.place,
        bundled=bundles.bundled,
        pool=_pool(p, bundles, settings),
        monotone=np.array(settings.monotone or [0] * p, np.int8),
        groups=groups,
        columns=columns,
        column_start=np.empty(0, np.int64) if stored is None else stored.indptr.astype(np.int64),
        column_rows=np.empty(0, np.int32) if stored is None else stored.indices.astype(np.int32, copy=False),
        column_bins=np.empty(0, np.uint8) if stored is None else stored.data,
        usual=np.empty(0, np.uint8) if codes is None else codes.usual,
    )


def _pool(p: int, bundles: Bundles, settings: GradientSettings) -> np.ndarray:
    """int32[k]: the columns to search; the sampling must not depend on columns that cannot split a node."""
    shares = (settings.features_per_tree, settings.features_per_level, settings.features_per_node)
    if bundles.used is not None and min(shares) >= 1.0:
        return bundles.used
    return np.arange(p, dtype=np.int32)


def most_leaves(settings: GradientSettings, n: int, n_rows: int) -> int:
    """The largest number of leaves of a tree of ``n`` rows, which count as ``n_rows``."""
    most = max(1, min(n, n_rows // max(settings.min_samples_leaf, 1)))
    if settings.max_leaf_nodes is not None:
        most = min(most, settings.max_leaf_nodes)
    if settings.max_depth is not None and settings.max_depth < 31:
        most = min(most, 1 << settings.max_depth)
    return most


def nodes_for(n_leaves: int, *, is_nominal: bool, has_groups: bool) -> Nodes:
    """Room for a tree of so many leaves."""
    n = 2 * n_leaves + 1
    whole, large, number = np.int32, np.int64, np.float64
    n_sets = n if is_nominal else 1
    return Nodes(
        begin=np.zeros(n, whole),
        end=np.zeros(n, whole),
        first_child=np.full(n, -1, whole),
        depth=np.zeros(n, whole),
        column=np.zeros(n, whole),
        cut=np.zeros(n, whole),
        missing_left=np.zeros(n, np.int8),
        gain=np.zeros(n, number),
        total=np.zeros(n, large),
        left=np.zeros(n, large),
        n_rows=np.zeros(n, large),
        low=np.zeros(n, number),
        high=np.zeros(n, number),
        slot=np.zeros(n, whole),
        alive=np.zeros(n if has_groups else 1, np.uint64),
        sets=np.zeros((n_sets, 4), np.uint64),
        seen=np.zeros((n_sets, 4), np.uint64),
    )


def grown_for(n_leaves: int) -> Grown:
    """Room for what a tree of so many leaves has besides its nodes."""
    n = 2 * n_leaves + 1
    return Grown(
        leaves=np.empty(n_leaves + 1, np.int32),
        begins=np.empty(n_leaves + 1, np.int32),
        ends=np.empty(n_leaves + 1, np.int32),
        sums=np.empty((n_leaves + 1, 2), np.int64),
        bounds=np.empty((2, n_leaves + 1)),
        values=np.empty(n_leaves + 1),
        covers=np.empty(n_leaves + 1),
        gain=np.empty(n),
        missing_branch=np.empty(n, np.int8),
        is_set=np.empty(n, bool),
    )


def growth_for(n_leaves: int, spans: np.ndarray, *, needs_all: bool) -> Growth:
    """Memory for ``Growth``: if all histograms are needed, one for every leaf. ``spans`` as in ``Bundles``."""
    width = 256 * len(spans)
    n_slots = 1 + (n_leaves + 1 if needs_all else max(2, min(n_leaves + 1, _SLOT_BYTES // (8 * width))))
    check_fits(n_slots * width * 8, f"{n_slots} histograms", "set a smaller max_depth, or growth='leaf'")
    return Growth(
        slots=np.zeros((n_slots, width), np.int64),
        spans=spans,
        free=np.arange(n_slots, 0, -1, dtype=np.int32),
        heap=np.empty(2 * n_leaves + 1, np.int32),
        state=np.zeros(4, np.int64),
    )


def desk_for(p: int) -> Desk:
    """Scratch memory."""
    gains = np.empty(256)
    return Desk(
        sums=np.zeros(256, np.int64),
        gradient=np.empty(256),
        hessian=np.empty(256),
        gains=gains,
        gain_bits=gains.view(np.int64),
        cuts=np.zeros(256, np.int64),
        bins=np.zeros(256, np.int64),
        sorted=np.zeros(256, np.int64),
        counts=np.zeros(256, np.int64),
        sorted_counts=np.zeros(256, np.int64),
        rows_left=np.zeros(256, np.int64),
        levels=np.zeros(256, np.int64),
        keys=np.empty(256),
        goes_left=np.zeros(256, np.uint8),
        best_gain=np.empty(p),
        best=np.empty((p, 3), np.int32),
        drawn=np.empty(p, np.int32),
        level=np.empty(p, np.int32),
    )


def limits_of(settings: GradientSettings, scales: Scales, seed: int, *, unit_hessian: bool) -> Limits:
    """The settings in the units of the words.

    Parameters
    ----------
    settings : GradientSettings
    scales : Scales
    seed : int
        Seed of this tree.
    unit_hessian : bool
    """
    is_symmetric = settings.order == "symmetric"
    max_depth = settings.max_depth or _UNBOUNDED
    if is_symmetric and settings.max_leaf_nodes is not None:  # a level is split as a whole
        max_depth = min(max_depth, settings.max_leaf_nodes.bit_length() - 1)
    least = max(settings.min_child_weight * scales.hessian, 1.0)
    if unit_hessian:
        least = max(least, float(settings.min_samples_leaf))
    return Limits(
        l1=settings.l1 * scales.gradient,
        l2=settings.l2 * scales.hessian,
        level_l2=settings.level_l2 * scales.hessian,
        smoothing=settings.level_smoothing * scales.hessian,
        min_hessian=least,
        min_gain=settings.min_gain,
        sure_hessian=settings.min_samples_leaf * scales.largest_hessian,
        gain_unit=scales.hessian / scales.gradient / scales.gradient,
        min_rows=settings.min_samples_leaf,
        exact=int(unit_hessian),
        max_depth=min(max_depth, _UNBOUNDED),
        max_leaves=min(settings.max_leaf_nodes or _UNBOUNDED, _UNBOUNDED),
        level_share=settings.features_per_level,
        node_share=settings.features_per_node,
        seed=np.uint64(seed),
        by_gain=int(settings.order == "leaf"),
        bounded=int(settings.monotone is not None and any(settings.monotone)),
        symmetric=int(is_symmetric),
    )
