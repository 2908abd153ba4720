"""The nearest rows so far, hundreds of them. In: a rank distance and its row. Out: sorted arrays. Caller: kd_search.

Of so many the sorted array of ``smallest`` spends its time on moving. Here rows are collected in arrays of twice the
room, and whenever these are full the farther half is dropped: a constant number of steps a row, whatever k.

Place ``k - 1`` always says how near a row has to be: it holds the last of the nearest k as of the latest drop, and
before that a stopgap.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import bare_inner_kernel
from treewright.neighbors.ordering import is_before, part, sort


@bare_inner_kernel
def clear_many(k, ranks, rows):
    """Begin: the first half of ``ranks`` float64[2 k] and ``rows`` int64[2 k] is stopgaps, the second is free."""
    for at in range(k):
        ranks[at] = np.inf
        rows[at] = np.int64(2**62) + at


@bare_inner_kernel
def collect(rank, row, k, n, ranks, rows):
    """Hold a row if it may be among the nearest ``k``; how many of ``n`` (at first ``k``) are held then."""
    if not is_before(rank, row, ranks[k - 1], rows[k - 1]):
        return n
    ranks[n], rows[n] = rank, row
    if n + 1 < 2 * k:
        return n + 1
    part(ranks, rows, 0, n + 1, k - 1)
    return k


@bare_inner_kernel
def settle(k, n, ranks, rows):
    """Put the nearest ``k`` of the ``n`` rows that are held first, in order."""
    if n > k:
        part(ranks, rows, 0, n, k - 1)
    sort(ranks, rows, 0, k)
