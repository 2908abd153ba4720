"""Pairs of a number and a row, put in order. In: two arrays side by side. Out: the same, parted or sorted, in place.

Callers: kernels of neighbors.

Pairs are ordered by (number, row). Rows differ, so no two pairs are equal: what is parted has one answer, whatever
order it came in, and equal numbers take no longer than others.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import bare_inner_kernel

_FEW = 24
_SAMPLE = 15  # pairs of which one becomes the pivot
_SMALL_SAMPLE = 3


@bare_inner_kernel
def is_before(number, row, other_number, other_row):
    """Whether one pair stands before another."""
    return (number < other_number) | ((number == other_number) & (row < other_row))


@bare_inner_kernel
def _sort_few(numbers, rows, begin, end):
    """Sort by insertion."""
    for i in range(begin + 1, end):
        number, row, at = numbers[i], rows[i], i
        while at > begin and is_before(number, row, numbers[at - 1], rows[at - 1]):
            numbers[at], rows[at] = numbers[at - 1], rows[at - 1]
            at -= 1
        numbers[at], rows[at] = number, row


@bare_inner_kernel
def _sink(numbers, rows, begin, at, end):
    """Let a pair sink to its place in a heap whose first is the last in order."""
    number, row = numbers[begin + at], rows[begin + at]
    n = end - begin
    while 2 * at + 1 < n:
        below = 2 * at + 1
        one, other = begin + below, begin + below + 1
        if below + 1 < n and is_before(numbers[one], rows[one], numbers[other], rows[other]):
            below += 1
        if not is_before(number, row, numbers[begin + below], rows[begin + below]):
            break
        numbers[begin + at], rows[begin + at] = numbers[begin + below], rows[begin + below]
        at = below
    numbers[begin + at], rows[begin + at] = number, row


@bare_inner_kernel
def sort(numbers, rows, begin, end):
    """Sort the pairs ``begin`` to ``end - 1``: never more than n log n steps, and no memory."""
    if end - begin <= _FEW:
        _sort_few(numbers, rows, begin, end)
        return
    for at in range((end - begin) // 2 - 1, -1, -1):
        _sink(numbers, rows, begin, at, end)
    for last in range(end - 1, begin, -1):
        numbers[begin], numbers[last] = numbers[last], numbers[begin]
        rows[begin], rows[last] = rows[last], rows[begin]
        _sink(numbers, rows, begin, 0, last)


@bare_inner_kernel
def _bring_pivot(numbers, rows, begin, end, nth):
    """Put a pair near the ``nth`` in order at the end: of a sample, taken from all over, the one that stands so."""
    size = _SAMPLE if end - begin >= _SAMPLE * _SAMPLE else _SMALL_SAMPLE
    step = (end - begin) // size
    for i in range(size):
        # Not at equal distances, which a pattern in the data could be in step with.
        one, other = begin + i, begin + i * step + (i * 7919 + end) % step
        numbers[one], numbers[other] = numbers[other], numbers[one]
        rows[one], rows[other] = rows[other], rows[one]
    _sort_few(numbers, rows, begin, begin + size)
    pivot = begin + (nth - begin) * size // (end - begin)
    numbers[pivot], numbers[end - 1] = numbers[end - 1], numbers[pivot]
    rows[pivot], rows[end - 1] = rows[end - 1], rows[pivot]


@bare_inner_kernel
def part(numbers, rows, begin, end, nth):
    """Bring the pair that is the ``nth`` in order to place ``nth``; those before it stand before, the others behind.

    Parameters
    ----------
    numbers : float64[n], IN and OUT
        None is nan.
    rows : int64[n], IN and OUT
        Each only once.
    begin, end, nth : int
        ``begin <= nth < end``; pairs elsewhere are not touched.

    Notes
    -----
    Quickselect without a branch in its loop (it would be guessed wrong every other time). Should pivots be bad ones
    again and again, what is left is sorted.
    """
    patience = 8 * (end - begin)  # with fair pivots some 2 are used up
    while end - begin > _FEW:
        patience -= end - begin
        if patience < 0:
            break
        _bring_pivot(numbers, rows, begin, end, nth)
        last = end - 1
        number, row = numbers[last], rows[last]
        at = np.uintp(begin)
        for i in range(np.uintp(begin), np.uintp(last)):
            its_number, its_row = numbers[i], rows[i]
            numbers[i], rows[i] = numbers[at], rows[at]
            numbers[at], rows[at] = its_number, its_row
            at += np.uintp(is_before(its_number, its_row, number, row))
        middle = np.int64(at)
        numbers[last], rows[last] = numbers[middle], rows[middle]
        numbers[middle], rows[middle] = number, row
        if nth == middle:
            return
        if nth < middle:
            end = middle
        else:
            begin = middle + 1
    sort(numbers, rows, begin, end)
