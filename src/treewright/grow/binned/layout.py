"""The arrays that growing on bins shares. In: nothing. Out: named tuples.

Nodes are ``grow.layout.Nodes``. For a split node ``before`` is the last bin on the left that has rows there and
``after`` the first on the right (-1 if the right side has only missing cells); for a subset test ``level_set`` is the
number of its set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treewright.core.structs import struct

N_WAITING, N_NODES, N_SETS, CELLS, FREE = range(5)  # places in ``Growth.state``
CONSTANT = -3.0  # no gain: all rows have one bin
FEW_ROWS = 32  # up to this many rows are sorted by insertion
MANY_ROWS = 256  # from this many rows, a pass over all bins is faster than noting the touched ones
MOST_TRACKED = 1024  # columns; with more, constant ones are not noted
SLOT_ROWS = 1024  # from this many rows, a histogram is kept for the children
WINDOW_ROWS = 4096  # subtrees of at most this many rows are grown on a copy of them: 128 KB if a row has 32 bytes


@struct
class BinTable(NamedTuple):
    """The columns as kernels read them.

    ``n_bins`` int32[p]; ``is_nominal`` uint8[p]; ``has_missing`` uint8[p], filled in only for random cuts; ``start``
    int64[p + 1], ``lowest`` and ``highest`` float64: the values of each bin of a numeric column (``data.bins.Bins``).
    ``candidates`` int32[k]: columns that the tree may use.
    ``groups`` uint64[p]: bit g is set if the column is in group g of columns that may occur on one path; empty if all
    may.

    For a sparse table the bins of its stored cells; for a dense one these arrays are empty. Row by row: ``row_start``
    int64[n + 1], ``row_columns`` int32[k], ``row_bins`` int32[k]. Column by column: ``column_start`` int64[p + 1],
    ``column_rows`` int32[k], ``column_bins`` int32[k]. ``usual`` int32[p]: the bin of a cell that is not stored.
    """

    n_bins: np.ndarray
    is_nominal: np.ndarray
    start: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray
    candidates: np.ndarray
    groups: np.ndarray
    has_missing: np.ndarray
    row_start: np.ndarray
    row_columns: np.ndarray
    row_bins: np.ndarray
    column_start: np.ndarray
    column_rows: np.ndarray
    column_bins: np.ndarray
    usual: np.ndarray


@struct
class Growth(NamedTuple):
    """The arrays of a growth, besides the nodes.

    ``rows`` int32[n]: the rows of each node, one node after another. ``origin`` int32[n]: under a window, the original
    rows; for a sparse table, which has no windows, the position of each row in ``rows``.
    ``stack`` int32[capacity]: nodes that wait. ``sets``, ``seen`` uint64[n_sets, 4]: bins that go left, and that had
    rows. ``alive`` uint64[capacity]: the groups of columns that a node's path belongs to. ``constant``
    uint64[capacity, p // 64 + 1]: columns known to be constant in a node, as in all below; empty if there are too
    many columns. ``slots`` int64[k, p, 256 * width]: histograms of nodes that search all columns; ``slot``
    int8[capacity]: that of each node, -1 for none; ``free`` int64[k + 1]: a stack of the free ones. ``state`` int64[5]:
    the numbers of waiting nodes (``N_WAITING``), of nodes, of sets, of cells that this call may still read, and of free
    slots.
    """

    rows: np.ndarray
    origin: np.ndarray
    stack: np.ndarray
    sets: np.ndarray
    seen: np.ndarray
    alive: np.ndarray
    constant: np.ndarray
    slots: np.ndarray
    slot: np.ndarray
    free: np.ndarray
    state: np.ndarray


@struct
class Desk(NamedTuple):
    """Scratch memory of one thread, besides ``grow.layout.Work``.

    ``items`` int32[n + 1]; ``spare`` int32[n + 1]; ``counts`` int32[256]; ``pool``, ``swaps`` int32[p]: the columns to
    sample from, and the exchanges; ``chosen`` int32[p]: the columns sampled for a node, ``varying`` int32[p]: those not
    known to be constant; ``gains`` float64[p], ``cuts`` int32[p, 3]: the best cut of each (bins next to it, whether
    missing cells go left; -1 if it must be searched again); ``goes_left`` uint8[256]; ``flags`` int32[257], all
    negative; ``histograms`` int64[k, 256 * width]: a row for each sampled column, zero between uses; ``touched``
    uint64[k, 4]: the bins of each that are not. For random cuts, a row for each sampled column: ``spans`` int32[k, 2],
    lowest and highest bin; ``below`` int64[k, t] and ``below_weight`` int64[k], sums on the left; ``present``
    uint64[4].

    For a sparse table: ``cells`` uint8[n, 1], a column's bins; ``met`` uint64[p // 64 + 1], ``begin`` and ``end``
    int64[p], ``cell_rows`` int32[k], ``cell_bins`` int32[k]: the node's stored cells, gathered (``stored``). ``wanted``
    uint64[p // 64 + 1]: columns to be gathered; ``found`` int32[k, 2], ``found_bins`` int32[k]: column, row and bin of
    their cells, in the order of the rows. If bins are ranks: ``keys`` int64[n], rank and row of a column's cells, and
    ``ranks`` int32[n + 1], those that a node's rows have.
    """

    items: np.ndarray
    spare: np.ndarray
    counts: np.ndarray
    pool: np.ndarray
    swaps: np.ndarray
    chosen: np.ndarray
    varying: np.ndarray
    gains: np.ndarray
    goes_left: np.ndarray
    flags: np.ndarray
    cuts: np.ndarray
    histograms: np.ndarray
    touched: np.ndarray
    spans: np.ndarray
    below: np.ndarray
    below_weight: np.ndarray
    present: np.ndarray
    cells: np.ndarray
    met: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    cell_rows: np.ndarray
    cell_bins: np.ndarray
    wanted: np.ndarray
    found: np.ndarray
    found_bins: np.ndarray
    keys: np.ndarray
    ranks: np.ndarray


@struct
class Rules(NamedTuple):
    """Settings of the search in a node, besides ``grow.layout.Limits``.

    ``histogram_rows``: nodes of at least so many rows are searched by histogram, smaller ones row by row. ``ranks``:
    whether the bins of a sparse table are ranks, of which a column may have any number.
    """

    n_drawn: int
    random_cuts: bool
    min_split_weight: int
    histogram_rows: int
    ranks: bool
