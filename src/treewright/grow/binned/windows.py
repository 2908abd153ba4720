"""A small subtree's rows, copied side by side. In: rows of a node. Out: bins and statistics in their order.

Caller: grow.binned.frontier.

Rows of a deep node lie scattered over the whole table, and every column and level would fetch them from afar again.
Copied once they stay in the nearest cache for the rest of the subtree.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types
from numba.extending import overload

from treewright.core.jit import bare_inner_kernel
from treewright.grow.statistics import CountStats, MeanStats, PoissonStats


@bare_inner_kernel
def copy_codes(codes, rows, window):
    """Bins of some rows to the front of ``window`` uint8[:, stride], eight at a time."""
    words = codes.view(np.uint64)
    copies = window.view(np.uint64)
    for i in range(rows.shape[0]):
        row = rows[i]
        for j in range(words.shape[1]):
            copies[i, j] = words[row, j]


@bare_inner_kernel
def copy_some(values, rows, window):
    """Entries of some rows of [t, n] to the front of [t, :]."""
    for t in range(values.shape[0]):
        for i in range(rows.shape[0]):
            window[t, i] = values[t, rows[i]]


@bare_inner_kernel
def copy_weights(weights, rows, window):
    """Weights of some rows, where there are any."""
    if weights.shape[0] > 0:
        for i in range(rows.shape[0]):
            window[i] = weights[rows[i]]


def copy_means(stats, rows, window):
    """``copy_stats`` for means and Poisson."""
    copy_some(stats.values, rows, window.values)
    copy_weights(stats.weights, rows, window.weights)
    if stats.targets.shape[1] > 0:
        copy_some(stats.targets, rows, window.targets)


def copy_counts(stats, rows, window):
    """``copy_stats`` for class counts."""
    copy_some(stats.labels, rows, window.labels)
    copy_weights(stats.weights, rows, window.weights)


_COPY = {MeanStats: copy_means, PoissonStats: copy_means, CountStats: copy_counts}


def copy_stats(stats, rows, window):
    """Statistics of some rows to the front of a window's."""
    return _COPY[type(stats)](stats, rows, window)


@overload(copy_stats)
def _copy_stats(stats, rows, window):
    if isinstance(stats, types.BaseNamedTuple):
        return _COPY[stats.instance_class]
    return None


def make_window(stats: Any, n_rows: int) -> Any:
    """Room for the statistics of ``n_rows`` rows; what does not belong to rows is shared."""
    by_row = {"values", "labels", "targets", "weights"}

    def room(name: str, value: Any) -> Any:
        if name not in by_row or not value.shape[-1]:
            return value
        return np.empty((*value.shape[:-1], n_rows), value.dtype)

    return type(stats)(**{name: room(name, value) for name, value in stats._asdict().items()})
