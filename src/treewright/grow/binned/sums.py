"""Sums by bin. In: bins and statistics of a node's rows. Out: histograms, and which of their bins have rows.

Callers: grow.binned.step, grow.binned.siblings.

For one target the sums of a bin say all that its rows say: one or two additions a row and column. Where sums and
weights are small whole numbers (two classes) they are packed into one word: sums in the high half, weights in the low.
Statistics that have no such sums are searched row by row.

A histogram is all zero between two uses: whoever reads it clears what was touched, and only that, so a node of ten rows
never pays for 256 bins. Which bins were touched is a bit set.
"""

from __future__ import annotations

import numpy as np
from numba.core import types
from numba.extending import overload

from treewright.core.bits import prefetch, trailing_zeros
from treewright.core.jit import bare_inner_kernel, inlined_kernel
from treewright.grow.binned.layout import MANY_ROWS, MISSING_BIN
from treewright.grow.statistics import CountStats, MeanStats

_AHEAD = 16  # rows


@bare_inner_kernel
def add_words(values, weights, codes, rows, chosen, histograms, touched, marks):
    """Add packed sums and weights of rows to the histograms of some columns: int64[k, 256]."""
    has_weights = weights.shape[0] > 0
    n_chosen = chosen.shape[0]
    m = rows.shape[0]
    for i in range(m):
        row = np.uint64(rows[i])
        prefetch(codes, np.int64(rows[min(i + _AHEAD, m - 1)]))
        word = (np.int64(values[row]) << 32) + (weights[row] if has_weights else 1)
        for k in range(n_chosen):
            b = np.uint64(codes[row, np.uint64(chosen[k])])
            histograms[k, b] += word
            if marks:
                touched[k, b >> np.uint64(6)] |= np.uint64(1) << (b & np.uint64(63))


@bare_inner_kernel
def add_pairs(values, weights, codes, rows, chosen, histograms, touched, marks):
    """Add sums and weights of rows to the histograms of some columns: int64[k, 512]."""
    has_weights = weights.shape[0] > 0
    n_chosen = chosen.shape[0]
    m = rows.shape[0]
    for i in range(m):
        row = np.uint64(rows[i])
        prefetch(codes, np.int64(rows[min(i + _AHEAD, m - 1)]))
        value = np.int64(values[row])
        weight = weights[row] if has_weights else 1
        for k in range(n_chosen):
            b = np.uint64(codes[row, np.uint64(chosen[k])])
            histograms[k, b + b] += value
            histograms[k, b + b + np.uint64(1)] += weight
            if marks:
                touched[k, b >> np.uint64(6)] |= np.uint64(1) << (b & np.uint64(63))


@bare_inner_kernel
def add_labels(labels, weights, n_classes, codes, rows, chosen, histograms, touched, marks):
    """Add rows to the class counts of some columns: int64[k, 256 * n_classes], a bin's classes side by side."""
    has_weights = weights.shape[0] > 0
    n_chosen = chosen.shape[0]
    width = np.uint64(n_classes)
    m = rows.shape[0]
    for i in range(m):
        row = np.uint64(rows[i])
        prefetch(codes, np.int64(rows[min(i + _AHEAD, m - 1)]))
        label = np.uint64(labels[row])
        weight = weights[row] if has_weights else 1
        for k in range(n_chosen):
            b = np.uint64(codes[row, np.uint64(chosen[k])])
            histograms[k, b * width + label] += weight
            if marks:
                touched[k, b >> np.uint64(6)] |= np.uint64(1) << (b & np.uint64(63))


@bare_inner_kernel
def mark_touched(histograms, touched, chosen, n_bins, width):
    """After many rows: every bin that is not all zero."""
    for k in range(chosen.shape[0]):
        n_here = n_bins[chosen[k]]
        for i in range(n_here + 1):
            b = i if i < n_here else MISSING_BIN
            any_sum = np.int64(0)
            for at in range(b * width, (b + 1) * width):
                any_sum |= histograms[k, at]
            touched[k, b >> 6] |= np.uint64(any_sum != 0) << np.uint64(b & 63)


@bare_inner_kernel
def clear_touched(histogram, touched, width):
    """Leave a histogram all zero, and its set of touched bins empty."""
    for word in range(4):
        bits = touched[word]
        while bits != 0:
            b = (word << 6) + np.int64(trailing_zeros(bits))
            bits &= bits - np.uint64(1)
            for at in range(b * width, (b + 1) * width):
                histogram[at] = 0
        touched[word] = 0


def add_means(stats, codes, rows, chosen, histograms, touched, marks):
    """``add`` for means."""
    if histograms.shape[1] == 256:
        add_words(stats.values[0], stats.weights, codes, rows, chosen, histograms, touched, marks)
    else:
        add_pairs(stats.values[0], stats.weights, codes, rows, chosen, histograms, touched, marks)


def add_counts(stats, codes, rows, chosen, histograms, touched, marks):
    """``add`` for class counts."""
    add_labels(stats.labels[0], stats.weights, stats.offsets[1], codes, rows, chosen, histograms, touched, marks)


# Adding up only the rows without a column's usual bin, and giving that bin the rest of the node, gained nothing:
# picking the rows takes what adding them takes (0.9 to 1.3 ns a cell; 44 of covertype's 54 columns have a usual bin).


def add_nothing(stats, codes, rows, chosen, histograms, touched, marks):
    """``add`` for statistics without histograms."""


_ADD = {MeanStats: add_means, CountStats: add_counts}


def _family(stats):
    """The statistics' type: ``stats`` is a tuple in plain Python, its Numba type while compiling."""
    return stats.instance_class if isinstance(stats, types.BaseNamedTuple) else type(stats)


def add(stats, codes, rows, chosen, histograms, touched, marks):
    """Add rows to the histograms of some columns; where ``marks`` also to the sets of touched bins."""
    return _ADD.get(_family(stats), add_nothing)(stats, codes, rows, chosen, histograms, touched, marks)


@overload(add, inline="always")
def _add(stats, codes, rows, chosen, histograms, touched, marks):
    return _ADD.get(_family(stats), add_nothing)


@inlined_kernel
def fill(stats, codes, rows, chosen, n_bins, histograms, touched):
    """Sums by bin of some columns.

    Parameters
    ----------
    codes : uint8[n, stride], IN
    rows : int32[m], IN
    chosen : int32[k], IN
    n_bins : int32[p], IN
    histograms : int64[>= k, 256 * width], INOUT
        All zero before.
    touched : uint64[>= k, 4], INOUT
        Empty before; then a bit for each bin with rows.
    """
    marks = rows.shape[0] < MANY_ROWS
    add(stats, codes, rows, chosen, histograms, touched, marks)
    if not marks:
        mark_touched(histograms, touched, chosen, n_bins, histograms.shape[1] // 256)
