"""Sums of gradients by bin. In: rows as bins, a word a row. Out: histograms. Callers: kernels of grow.gradient.

A word holds a gradient in its high half and a hessian in its low one (docs/decisions/0006): one addition sums both up,
in any order. A histogram is int64[width], 256 bins a column or bundle of columns; bin 255 holds the missing cells.
"""

from __future__ import annotations

import numpy as np

from treewright.core.bits import prefetch
from treewright.core.jit import bare_kernel

_AHEAD = 12  # rows between the one asked for and the one added
_TILE = 64  # columns summed up at a time: of more, the bins (128 KB) would leave the nearest caches
_TILE_ROWS = 1024


@bare_kernel
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


@bare_kernel
def add_some(codes, stride, rows, begin, end, words, histogram):
    """Add the rows ``rows[begin:end]``.

    Parameters
    ----------
    rows : int32, IN
    codes, stride, begin, end, words, histogram
        As ``add_all``.
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
                prefetch(codes, ahead * stride + first + m - 1)  # of 28 bytes 4 of 10 stand in two lines: 6 to 12 %
                prefetch(words, ahead)
                row = np.uintp(rows[i])
                word = words[row]
                at = row * np.uintp(stride) + np.uintp(first)
                place = np.uintp(first) << np.uintp(8)
                for j in range(m):
                    histogram[place + (np.uintp(j) << np.uintp(8)) + np.uintp(codes[at + np.uintp(j)])] += word


@bare_kernel
def subtract(histogram, other):
    """Take another histogram from this one: a node's less a child's is the other child's.

    Parameters
    ----------
    histogram : int64[width], IN and OUT
    other : int64[width], IN
    """
    for at in range(len(histogram)):
        histogram[at] -= other[at]


@bare_kernel
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
