"""Rows to the left and right. In: a column's bins, a node's rows. Out: the rows, in the other half of the order.

Callers: kernels of grow.gradient, grow.gradient.large.
"""

from __future__ import annotations

import numpy as np

from treewright.core.bits import prefetch
from treewright.core.jit import bare_kernel

_SPARSE = (
    20  # of fewer rows than one in so many the bins are asked for ahead: 3.9 ns a row against 4.3; of more 1.9, 1.6
)
_AHEAD = 24


@bare_kernel
def other_half(begin, order):
    """Where the rows that stand from ``begin`` on go when they are parted: as far into the other half."""
    half = len(order) >> 1
    return begin + half if begin < half else begin - half


@bare_kernel
def count_left(column, goes_left, order, begin, end):
    """How many of the rows ``order[begin:end]`` go left; as ``part`` otherwise."""
    n = np.uintp(0)
    for i in range(begin, end):
        n += np.uintp(goes_left[column[np.uintp(order[i])]])
    return np.int64(n)


@bare_kernel
def part(column, goes_left, begin, end, left, right, order):
    """Write the rows that go left from ``left`` upwards, the others from ``right`` downwards.

    Parameters
    ----------
    column : uint8[n], IN
        Bins of all rows.
    goes_left : uint8[256], IN
        1 where a bin goes left.
    begin, end : int
        ``order[begin:end]`` are the rows.
    left, right : int
        Where the first row of each side is put, outside of ``begin`` to ``end - 1``.
    order : int32[2 m], IN and OUT

    Returns
    -------
    int
        Rows on the left.

    Notes
    -----
    From one half of the order to the other, so that nothing is copied back: 10 ms a tree of 1,000,000 rows and 31
    leaves, where parting in place and copying the right side took 14. The others turn round each time: a node's rows
    ascend or descend, which sums of whole numbers do not notice. No branch: it would be guessed wrong every other time.
    """
    at, other = np.uintp(left), np.uintp(right)
    is_sparse = (end - begin) * _SPARSE < len(column)
    last = end - 1
    for i in range(begin, end):
        if is_sparse:
            prefetch(column, np.int64(order[min(i + _AHEAD, last)]))
        row = order[i]
        goes = np.uintp(goes_left[column[np.uintp(row)]])
        order[at if goes else other] = row
        at += goes
        other -= np.uintp(1) - goes
    return np.int64(at) - left
