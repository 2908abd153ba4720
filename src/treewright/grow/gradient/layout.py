"""The arrays that growing on gradients shares. In: nothing. Out: named tuples. Callers: modules of grow.gradient."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treewright.data.bins import MISSING_BIN

__all__ = [
    "MISSING_BIN", "NO_COLUMN", "N_FREE", "N_LEAVES", "N_NODES", "N_WAITING", "NUMERIC", "ORDERED", "SUBSET",
    "SCRATCH", "Desk", "Growth", "Limits", "Nodes", "Rows", "Table",
]  # fmt: skip

NUMERIC, SUBSET, ORDERED = 0, 1, 2  # kinds of columns
NO_COLUMN = -1
SCRATCH = 0  # the slot of whoever finds none free: its histogram is not kept
N_NODES, N_LEAVES, N_WAITING, N_FREE = range(4)  # places in ``Growth.state``


class Table(NamedTuple):
    """What kernels know of the columns.

    ``kind`` uint8[p]: thresholds between bins, subsets of bins, or first runs of a nominal column's bins. ``n_bins``
    int32[p]. ``place`` int64[p]: where a column's bins begin in a histogram; of a bundled column its bin 1. ``bundled``
    uint8[p]: 1 where the bin 0 of a column is what its other bins leave. ``pool`` int32[k]: the tree's columns,
    ascending. ``monotone`` int8[p]. ``groups``
    uint64[p]: bit g is set where the column is in group g of those that may meet on a path; empty where all may.
    ``columns`` uint8[p, n]: the bins, column by column.
    """

    kind: np.ndarray
    n_bins: np.ndarray
    place: np.ndarray
    bundled: np.ndarray
    pool: np.ndarray
    monotone: np.ndarray
    groups: np.ndarray
    columns: np.ndarray


class Rows(NamedTuple):
    """The rows of one tree.

    ``codes`` uint8[n * stride]: bins, or bundles of them, row by row. ``words`` int64[n]: gradient and hessian.
    ``repeats`` int32[n]: how many rows each counts as; empty where each is one. ``order`` int32[2 n]: two halves with
    room for all rows; a node's rows stand together in one of them, ascending or descending, its children's in the other
    (so those of a node that is split are spoilt in time).
    """

    codes: np.ndarray
    words: np.ndarray
    repeats: np.ndarray
    order: np.ndarray


class Limits(NamedTuple):
    """What a split may be, in the units of the words.

    ``l1``, ``l2``, ``level_l2``, ``smoothing``, ``min_hessian``, ``min_gain`` float64; ``sure_hessian``: a side with
    this sum has ``min_rows`` rows; ``exact`` 1 where a hessian is a number of rows; ``gain_unit``: what a gain of 1 is
    to the user. ``level_share``, ``node_share``: columns drawn for each depth and node. ``by_gain`` 1 where the node
    that gains most is split next, else the highest one. ``bounded`` 1 where monotone constraints bound the nodes;
    ``symmetric`` 1 where all nodes of a level ask one test.
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


class Nodes(NamedTuple):
    """The nodes of one tree, siblings side by side, parents before children.

    ``begin``, ``end`` int32: their rows in ``Rows.order``. ``first_child`` int32, -1 for none. ``depth`` int32.
    ``column`` int32, -1 where nothing can be gained; ``cut`` int32: last bin on the left, of a nominal column how many
    levels go left; ``missing_left`` int8, -1 where no cell is missing. ``gain`` float64, in the user's unit. ``total``,
    ``left`` int64: the words of all rows and of those that would go left, summed up. ``n_rows`` int64: what the rows
    count as. ``low``, ``high`` float64: bounds of the value, in the units of words. ``slot`` int32: the histogram kept
    for the node, -1 for none. ``alive`` uint64: groups of columns of the path. ``sets``, ``seen`` uint64[n_nodes, 4]:
    of tests of nominal columns the bins that go left, and those that had rows; a single row where no column is nominal.
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


class Growth(NamedTuple):
    """What grows beside the nodes.

    ``slots`` int64[k, width]: histograms, 0 for whoever finds no other; ``free`` int32[k]: those nobody has. ``heap``
    int32[capacity]: nodes that wait to be split. ``state`` int64[4].
    """

    slots: np.ndarray
    free: np.ndarray
    heap: np.ndarray
    state: np.ndarray


class Desk(NamedTuple):
    """Scratch memory of one thread.

    ``sums`` int64[256]: the word left of each cut; ``gradient``, ``hessian``, ``gains`` float64[256]: its halves, and
    what the cut gains; ``gain_bits`` int64[256]: the same memory as ``gains``; ``cuts`` int64[256]: its bin. ``bins``
    int64[256]: the column looked at; ``sorted`` int64[256]: by gradient, of a nominal column. ``counts``,
    ``sorted_counts``, ``rows_left`` int64[256]: rows in each bin, and up to it. ``levels`` int64[256], ``keys``
    float64[256]: bins in the order of their gradients. ``goes_left`` uint8[256]. ``best_gain`` float64[p], ``best``
    int32[p, 3]: what each column offers: cut, whether missing cells go left, whether its rows were counted. ``drawn``,
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
