"""Passes over rows: sums by bin, division to left and right. In: bins, a word per row. Out: histograms, an order.

A word holds a gradient in its high half and a hessian in its low one (docs/decisions/0006): one addition sums both up,
in any order. A histogram is int64[width], 256 bins a column or bundle of columns; bin 255 holds the missing cells.

The kernels are serial. A node of many rows is processed by several threads in blocks of rows (``part_rows``,
``sum_up``): sums are whole numbers, and each block's rows get the positions that they have without blocks, so the
number of blocks changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treewright.core import threads
from treewright.core.jit import kernel
from treewright.core.random import prefetch
from treewright.data.bins import MISSING_BIN

if TYPE_CHECKING:
    from treewright.grow.gradient.layout import Rows


_AHEAD = 12  # rows between the prefetched and the added one
_TILE = 64  # columns summed up at a time: with more, the bins (128 KB) would leave the nearest caches
_TILE_ROWS = 1024
# with fewer rows than one in so many the bins are prefetched: 3.9 ns a row against 4.3; with more 1.9 against 1.6
_SPARSE = 20
_PART_AHEAD = 24
_BLOCK_ROWS = 1 << 15  # the fewest rows for a thread
_FEWEST_THREADS = 4  # to divide rows: counting first takes as long again


@kernel
def add_all(codes, stride, begin, end, words, histogram):
    """Add rows ``begin`` to ``end - 1``.

    Parameters
    ----------
    codes : uint8[n * stride], IN
        Rows one after another.
    stride, begin, end : int
    words : int64[n], IN
    histogram : int64[n_columns * 256], IN and OUT

    Notes
    -----
    0.40 ns an addition; one store a cycle is 0.37. By slices of a matrix instead of places in one array 0.49, unrolled
    by four or eight 0.39, two rows at a time 0.40.
    """
    n_columns = len(histogram) >> 8
    for top in range(begin, end, _TILE_ROWS):
        stop = min(top + _TILE_ROWS, end)
        for first in range(0, n_columns, _TILE):
            m = min(_TILE, n_columns - first)
            for row in range(top, stop):
                word = words[row]
                at = np.uintp(row) * np.uintp(stride) + np.uintp(first)
                place = np.uintp(first) << np.uintp(8)
                for j in range(m):
                    histogram[place + (np.uintp(j) << np.uintp(8)) + np.uintp(codes[at + np.uintp(j)])] += word


@kernel
def add_some(codes, stride, rows, begin, end, words, histogram):
    """Add the rows ``rows[begin:end]``.

    Parameters
    ----------
    codes : uint8[n * stride], IN
        Rows one after another.
    stride, begin, end : int
    rows : int32[m], IN
    words : int64[n], IN
    histogram : int64[n_columns * 256], IN and OUT
    """
    n_columns = len(histogram) >> 8
    last = end - 1
    for top in range(begin, end, _TILE_ROWS):
        stop = min(top + _TILE_ROWS, end)
        for first in range(0, n_columns, _TILE):
            m = min(_TILE, n_columns - first)
            for i in range(top, stop):
                ahead = np.int64(rows[min(i + _AHEAD, last)])
                prefetch(codes, ahead * stride + first)
                prefetch(codes, ahead * stride + first + m - 1)  # of 28 bytes, 4 of 10 rows are in two lines: 6 to 12 %
                prefetch(words, ahead)
                row = np.uintp(rows[i])
                word = words[row]
                at = row * np.uintp(stride) + np.uintp(first)
                place = np.uintp(first) << np.uintp(8)
                for j in range(m):
                    histogram[place + (np.uintp(j) << np.uintp(8)) + np.uintp(codes[at + np.uintp(j)])] += word


@kernel
def add_stored(row_start, places, rows, begin, end, words, repeats, histogram):
    """Add the rows ``rows[begin:end]`` of a sparse table: only their stored cells.

    Parameters
    ----------
    row_start : int64[n + 1], IN
    places : int32[k, 2], IN
        Positions in the histogram that each stored cell is added to, row by row, and at which its row is counted.
    rows : int32[m], IN
    begin, end : int
    words : int64[n], IN
    repeats : int32[n], IN
        Number of rows that each row counts as; empty if that is 1.
    histogram : int64[width], IN and OUT
    """
    weighs = len(repeats) > 0
    for i in range(begin, end):
        row = rows[i]
        word = words[row]
        n = np.int64(repeats[row]) if weighs else np.int64(1)
        for at in range(row_start[row], row_start[row + 1]):
            histogram[places[at, 0]] += word
            histogram[places[at, 1]] += n


@kernel
def write_column(column, begin, end, table, rows):
    """Write the bins of the rows ``order[begin:end]`` in a column of a sparse table to ``rows.cells``.

    The cells of other rows are invalid.
    """
    usual = table.usual[column]
    for i in range(begin, end):
        rows.cells[rows.order[i]] = usual
    for at in range(table.column_start[column], table.column_start[column + 1]):
        rows.cells[table.column_rows[at]] = table.column_bins[at]


@kernel
def subtract(histogram, other, spans):
    """Subtract another histogram from this one: a node's less a child's is the other child's.

    Columns of few bins are usual: with all 256 bins of each, a tree of 610 rows and 9 columns of 3 levels took 93 us
    instead of 49.

    Parameters
    ----------
    histogram : int64[width], IN and OUT
    other : int64[width], IN
    spans : int64[width / 256], IN
        As in ``layout.Growth``.
    """
    for j in range(len(spans)):
        first = j << 8
        for at in range(first, first + spans[j]):
            histogram[at] -= other[at]
        histogram[first + MISSING_BIN] -= other[first + MISSING_BIN]


@kernel
def add_up(histograms, total):
    """Put the sum of several histograms into ``total``.

    Parameters
    ----------
    histograms : int64[k, width], IN
    total : int64[width], OUT
    """
    for at in range(len(total)):
        total[at] = histograms[0, at]
    for k in range(1, len(histograms)):
        for at in range(len(total)):
            total[at] += histograms[k, at]


# Dividing rows: from one half of the order to the other (see the diagram in ``layout``).


@kernel
def other_half(begin, order):
    """The new position of the rows from ``begin`` when they are divided: as far into the other half.

    ``order`` int32[2 m].
    """
    half = len(order) >> 1
    return begin + half if begin < half else begin - half


@kernel
def count_left(column, goes_left, order, begin, end):
    """Number of the rows ``order[begin:end]`` that go left; parameters as in ``part``.

    ``column`` uint8[n], ``goes_left`` uint8[256], ``order`` int32[2 m].
    """
    n = np.uintp(0)
    for i in range(begin, end):
        n += np.uintp(goes_left[column[np.uintp(order[i])]])
    return np.int64(n)


@kernel
def part(column, goes_left, begin, end, left, right, order):
    """Write the rows that go left from ``left`` upwards, the others from ``right`` downwards.

    Parameters
    ----------
    column : uint8[n], IN
        Bins of all rows.
    goes_left : uint8[256], IN
        1 if a bin goes left.
    begin, end : int
        ``order[begin:end]`` are the rows.
    left, right : int
        Position of the first row of each side, outside of ``begin`` to ``end - 1``.
    order : int32[2 m], IN and OUT

    Returns
    -------
    int
        Rows on the left.

    Notes
    -----
    Rows go from one half of the order to the other, so that nothing is copied back: 10 ms a tree of 1,000,000 rows and
    31 leaves; a division in place with a copy of the right side took 14. The order of the right side is reversed each
    time: a node's rows ascend or descend, which does not change sums of whole numbers. There is no jump: it would be
    mispredicted every other time.
    """
    at, other = np.uintp(left), np.uintp(right)
    is_sparse = (end - begin) * _SPARSE < len(column)
    last = end - 1
    for i in range(begin, end):
        if is_sparse:
            prefetch(column, np.int64(order[min(i + _PART_AHEAD, last)]))
        row = order[i]
        goes = np.uintp(goes_left[column[np.uintp(row)]])
        order[at if goes else other] = row
        at += goes
        other -= np.uintp(1) - goes
    return np.int64(at) - left


# For rows that hold the key of their node (``elsewhere``).


@kernel
def part_block(
    codes, n_columns, gradient, hessian, times, gradient_scale, hessian_scale, node_of, split_of, column, first_key,
    goes_left, slot_of, histograms, n_rows,
):  # fmt: skip
    """Divide the rows of a block, and add them to the histograms of their nodes.

    Parameters
    ----------
    codes : uint8[n, stride], IN
    n_columns : int
    gradient : float32[n], IN
    hessian : float32[n], times : int32[n], IN
        Empty if each is 1; a row that a tree does not use has 0 times.
    gradient_scale, hessian_scale : float
        As in ``words.to_words``.
    node_of : uint8[n] or int32[n], IN and OUT
        The key of each row's node.
    split_of, slot_of : int32[n_keys], IN
        Per key its position among the splits, and among the histograms; -1 for none.
    column, first_key : int32[k], goes_left : uint8[k, 256], IN
        As in ``elsewhere.Splits``.
    histograms : int64[m, width], n_rows : int64[n_keys], IN and OUT
        The count of the divided rows of each key.
    """
    n, stride = codes.shape
    flat, sums, width = codes.reshape(-1), histograms.reshape(-1), histograms.shape[1]
    has_hessian, weighs = len(hessian) > 0, len(times) > 0
    for row in range(n):
        key = np.int64(node_of[row])
        split = split_of[key]
        at = np.uintp(row) * np.uintp(stride)
        count = np.int64(times[row]) if weighs else np.int64(1)
        if split >= 0:
            code = flat[at + np.uintp(column[split])]
            key = np.int64(first_key[split]) + 1 - np.int64(goes_left[split, code])
            node_of[row] = key
            n_rows[key] += count
        slot = slot_of[key]
        if slot < 0 or count == 0:
            continue
        high = np.int64(np.int32(np.rint(np.float64(gradient[row]) * gradient_scale)))
        low = np.int64(np.int32(np.rint(np.float64(hessian[row]) * hessian_scale))) if has_hessian else np.int64(1)
        word = ((high << 32) + low) * count
        place = np.uintp(slot) * np.uintp(width)
        for j in range(n_columns):
            sums[place + (np.uintp(j) << np.uintp(8)) + np.uintp(flat[at + np.uintp(j)])] += word


@kernel
def count_block(codes, column, times, node_of, key, counts):
    """Count the rows of a node by their bin in a column: ``counts`` int64[256], IN and OUT; the others as above."""
    for row in range(len(node_of)):
        if node_of[row] == key:
            counts[codes[row, column]] += np.int64(times[row]) if len(times) > 0 else np.int64(1)


# On several threads.


def blocks_of(begin: int, end: int, n_threads: int) -> np.ndarray:
    """int64[k + 1]: the start of each of k blocks of rows, and the end; one block per thread if that is faster."""
    k = max(1, min(n_threads, (end - begin) // _BLOCK_ROWS))
    if k == 1:  # most trees of small tables: 10 us less
        return np.array([begin, end], np.int64)
    return np.linspace(begin, end, k + 1).astype(np.int64)


def part_rows(column: np.ndarray, goes_left: np.ndarray, rows: Rows, begin: int, end: int, n_threads: int) -> int:
    """Divide a node's rows into the other half of the order; returns how many went left.

    Rows are counted first, to know the positions of each block; this takes as long as the division itself.

    Parameters
    ----------
    column : uint8[n]
    goes_left : uint8[256]
    rows : Rows
        ``order[begin:end]`` is divided.
    begin, end, n_threads : int
    """
    order, to = rows.order, other_half(begin, rows.order)
    bounds = blocks_of(begin, end, n_threads if n_threads >= _FEWEST_THREADS else 1)
    n_blocks = len(bounds) - 1
    if n_blocks == 1:
        return int(part(column, goes_left, begin, end, to, to + end - begin - 1, order))
    n_lefts = np.zeros(n_blocks, np.int64)

    def count(task: int, _thread: int) -> None:
        n_lefts[task] = count_left(column, goes_left, order, int(bounds[task]), int(bounds[task + 1]))

    def work(task: int, _thread: int) -> None:
        left = int(n_lefts[:task].sum())
        right = int(bounds[task]) - begin - left
        part(
            column, goes_left, int(bounds[task]), int(bounds[task + 1]), to + left, to + end - begin - 1 - right, order
        )

    threads.run_each(count, n_blocks, n_threads)
    threads.run_each(work, n_blocks, n_threads)
    return int(n_lefts.sum())


def sum_up(
    rows: Rows, stride: int, begin: int, end: int, histograms: np.ndarray, total: np.ndarray, *, is_every_row: bool
) -> None:
    """The histogram of ``order[begin:end]``.

    Parameters
    ----------
    rows : Rows
    stride, begin, end : int
    histograms : int64[n_threads, width]
        Scratch, a histogram per thread.
    total : int64[width], OUT
    is_every_row : bool
        Whether ``order`` holds all rows in their order: they are then read one after another.
    """
    n_threads = len(histograms)
    bounds = blocks_of(begin, end, n_threads)
    n_blocks = len(bounds) - 1

    def add(histogram: np.ndarray, first: int, last: int) -> None:
        histogram[:] = 0
        if len(rows.row_start):
            add_stored(rows.row_start, rows.places, rows.order, first, last, rows.words, rows.repeats, histogram)
        elif is_every_row:
            add_all(rows.codes, stride, first, last, rows.words, histogram)
        else:
            add_some(rows.codes, stride, rows.order, first, last, rows.words, histogram)

    if n_blocks == 1:
        add(total, begin, end)
        return
    threads.run_each(
        lambda task, _thread: add(histograms[task], int(bounds[task]), int(bounds[task + 1])), n_blocks, n_threads
    )
    add_up(histograms[:n_blocks], total)
