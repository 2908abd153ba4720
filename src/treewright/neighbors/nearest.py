"""Rank distances: their kinds, the protocol of indexes, and the nearest rows so far, for the kernels of every index.

The nearest rows are pairs of a rank distance and a row, ordered by (rank, row). Rows differ, so no two pairs are equal:
a partition has one result for any order of the input, and equal ranks take no longer than others.

For up to some dozens of neighbours a sorted array is faster than a heap, and it is in order when the search ends
(``clear``, ``keep``). For hundreds, moving the pairs would take too long: rows are collected in arrays of twice the
size, and when these are full the farther half is dropped: a constant number of steps a row, for any k (``clear_many``,
``collect``, ``settle``).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from treewright.core.elementary import power
from treewright.core.jit import inlined_kernel, inner_kernel

# Kinds of rank distances, for kernels: which formula compares two points (docs/decisions/0007).
SQUARES, MANHATTAN, CHEBYSHEV, POWERS, HAMMING, JACCARD, CANBERRA, MIXED, CALLED, PRECOMPUTED = range(10)
_MOST_FACTORS = 8.0


@inner_kernel
def raised(gap: float, p: float) -> float:
    """A gap to the power of p; by multiplication if p is a small whole number, which takes an eighth of the time."""
    if p > _MOST_FACTORS or p != np.floor(p):
        return power(gap, p)
    product = gap
    for _ in range(np.int64(p) - 1):
        product *= gap
    return product


class Index(Protocol):
    """An index of training rows. Results are ordered by (rank distance, row)."""

    def nearest(self, points: np.ndarray, k: int, n_threads: int) -> tuple[np.ndarray, np.ndarray]:
        """The ``k`` nearest rows of each point.

        ``points`` (float64[m, d], C order). Returns ``rows`` (int64[m, k]); ``ranks`` (float64[m, k]): their rank
        distances, ascending; among equal ones the lower row first.
        """

    def within(self, points: np.ndarray, rank: float, n_threads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows whose rank distance is at most ``rank``.

        Returns ``offsets`` (int64[m + 1]), the beginning of each point's rows; rows (int64); ranks (float64).
        """


def blocks_of(n_queries: int, n_threads: int, most: int) -> tuple[int, int]:
    """The number of queries of a block, at most ``most``, and of blocks, so that every thread gets some."""
    size = max(1, min(most, -(-n_queries // n_threads)))
    return size, -(-n_queries // size)


def select(ranks: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The ``k`` smallest of all ranks float64[n], ordered by (rank, row): rows int64[k], ranks float64[k]."""
    rows = np.arange(len(ranks))
    if k < len(ranks):
        last = np.partition(ranks, k - 1)[k - 1]
        nearer, equal = np.flatnonzero(ranks < last), np.flatnonzero(ranks == last)
        rows = np.concatenate([nearer, equal[: k - len(nearer)]])  # the lowest rows among those at the k-th place
    rows = rows[np.argsort(ranks[rows], kind="stable")]
    return rows, ranks[rows]


def in_order(
    n_queries: int, query: np.ndarray, row: np.ndarray, rank: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sort rows found within a rank by query and then by (rank, row).

    From ``query``, ``row`` int64[c] and ``rank`` float64[c] to the number of rows of each query int64[n_queries], rows
    int64[c] and ranks float64[c].
    """
    order = np.lexsort((row, rank, query))
    return np.bincount(query, minlength=n_queries), row[order], rank[order]


def joined(blocks: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Join the results of ``in_order`` for blocks of queries: offsets int64[m + 1], rows int64, ranks float64."""
    counts = np.concatenate([np.zeros(1, np.int64), *[block[0] for block in blocks]])
    rows = np.concatenate([np.zeros(0, np.int64), *[block[1] for block in blocks]])
    return np.cumsum(counts), rows, np.concatenate([np.zeros(0), *[block[2] for block in blocks]])


@inner_kernel
def is_before(number, row, other_number, other_row):
    """Whether one pair is before another: by number, then by row."""
    return (number < other_number) | ((number == other_number) & (row < other_row))


@inner_kernel
def clear(ranks, rows):
    """Clear ``ranks`` float64[k] and ``rows`` int64[k]: they hold no row yet."""
    for at in range(len(ranks)):
        ranks[at] = np.inf
        rows[at] = np.int64(2**62)


@inner_kernel
def keep(rank, row, ranks, rows):
    """Insert a row among the nearest (``ranks`` float64[k], ``rows`` int64[k]); the last one is dropped.

    Callers compare with ``ranks[-1]`` first: ``rank > ranks[-1]`` needs no call.
    """
    at = len(ranks) - 1
    if rank > ranks[at] or (rank == ranks[at] and row > rows[at]):
        return
    while at > 0 and (ranks[at - 1] > rank or (ranks[at - 1] == rank and rows[at - 1] > row)):
        ranks[at] = ranks[at - 1]
        rows[at] = rows[at - 1]
        at -= 1
    ranks[at] = rank
    rows[at] = row


@inlined_kernel
def keep_tile(found, first, n, ranks, rows):
    """Insert the rows ``first`` to ``first + n - 1``, with ranks ``found`` float64[n], among the nearest.

    ``ranks`` float64[k] and ``rows`` int64[k] are the nearest, as for ``keep``.
    Tiles come in ascending order: of equal ranks the later row is behind. The first k rows are kept even at infinity.
    Repeated in each search it was a twentieth faster; called instead of inlined it is a fifteenth slower.
    """
    k = len(ranks)
    for i in range(n):
        if found[i] < ranks[k - 1] or first + i < k:
            keep(found[i], first + i, ranks, rows)


@inner_kernel
def clear_many(k, ranks, rows):
    """Clear ``ranks`` float64[2 k] and ``rows`` int64[2 k]: the first half are placeholders, the second is free."""
    for at in range(k):
        ranks[at] = np.inf
        rows[at] = np.int64(2**62) + at


@inner_kernel
def collect(rank, row, k, n, ranks, rows):
    """Add a row if it may be among the nearest ``k``; returns the new number of rows ``n`` (at first ``k``).

    ``ranks`` float64[2 k], ``rows`` int64[2 k]. Position ``k - 1`` always holds the current limit: the last of the
    nearest k at the latest drop, and before that a placeholder.
    """
    if not is_before(rank, row, ranks[k - 1], rows[k - 1]):
        return n
    ranks[n], rows[n] = rank, row
    if n + 1 < 2 * k:
        return n + 1
    part(ranks, rows, 0, n + 1, k - 1)
    return k


@inner_kernel
def settle(k, n, ranks, rows):
    """Move the nearest ``k`` of the ``n`` rows to the front, in order.

    ``ranks`` float64[2 k], ``rows`` int64[2 k].
    """
    if n > k:
        part(ranks, rows, 0, n, k - 1)
    sort(ranks, rows, 0, k)


_FEW = 24  # pairs that are sorted by insertion
_SAMPLE = 15  # pairs from which the pivot is chosen
_SMALL_SAMPLE = 3


@inner_kernel
def _sort_few(numbers, rows, begin, end):
    """Sort the pairs ``begin`` to ``end - 1`` by insertion: ``numbers`` float64[n], ``rows`` int64[n]."""
    for i in range(begin + 1, end):
        number, row, at = numbers[i], rows[i], i
        while at > begin and is_before(number, row, numbers[at - 1], rows[at - 1]):
            numbers[at], rows[at] = numbers[at - 1], rows[at - 1]
            at -= 1
        numbers[at], rows[at] = number, row


@inner_kernel
def _sink(numbers, rows, begin, at, end):
    """Sink pair ``begin + at`` to its place in the heap of the pairs ``begin`` to ``end - 1``, with the last on top.

    ``numbers`` float64[n], ``rows`` int64[n].
    """
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


@inner_kernel
def sort(numbers, rows, begin, end):
    """Sort the pairs ``begin`` to ``end - 1``: ``numbers`` float64[n], ``rows`` int64[n].

    By a heap: never more than n log n steps, and no memory.
    """
    if end - begin <= _FEW:
        _sort_few(numbers, rows, begin, end)
        return
    for at in range((end - begin) // 2 - 1, -1, -1):
        _sink(numbers, rows, begin, at, end)
    for last in range(end - 1, begin, -1):
        numbers[begin], numbers[last] = numbers[last], numbers[begin]
        rows[begin], rows[last] = rows[last], rows[begin]
        _sink(numbers, rows, begin, 0, last)


@inner_kernel
def _bring_pivot(numbers, rows, begin, end, nth):
    """Move a pair that is near the ``nth`` in order to the end: the corresponding pair of a sample.

    ``numbers`` float64[n], ``rows`` int64[n].
    """
    size = _SAMPLE if end - begin >= _SAMPLE * _SAMPLE else _SMALL_SAMPLE
    step = (end - begin) // size
    for i in range(size):
        # Not at equal distances, to which a pattern in the data could correspond.
        one, other = begin + i, begin + i * step + (i * 7919 + end) % step
        numbers[one], numbers[other] = numbers[other], numbers[one]
        rows[one], rows[other] = rows[other], rows[one]
    _sort_few(numbers, rows, begin, begin + size)
    pivot = begin + (nth - begin) * size // (end - begin)
    numbers[pivot], numbers[end - 1] = numbers[end - 1], numbers[pivot]
    rows[pivot], rows[end - 1] = rows[end - 1], rows[pivot]


@inner_kernel
def part(numbers, rows, begin, end, nth):
    """Move the pair that is the ``nth`` in order to position ``nth``, smaller pairs before it, the others after it.

    Parameters
    ----------
    numbers : float64[n], IN and OUT
        Without nan.
    rows : int64[n], IN and OUT
        Distinct.
    begin, end, nth : int
        ``begin <= nth < end``; pairs elsewhere are not touched.

    Notes
    -----
    Quickselect without a branch in its loop (it would be mispredicted every other time). If pivots are bad repeatedly,
    the rest is sorted.
    """
    patience = 8 * (end - begin)  # with good pivots about 2 of the 8 are needed
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
