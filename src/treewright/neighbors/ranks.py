"""Rank distances: their kinds, the protocol of indexes, and functions that join the results of blocks of queries."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from treewright.core.elementary import power
from treewright.core.jit import inner_kernel

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

        Parameters
        ----------
        points : float64[m, d], C order
        k : int, 1 to the number of rows
        n_threads : int >= 1
            The result does not depend on it.

        Returns
        -------
        rows : int64[m, k]
        ranks : float64[m, k]
            Their rank distances, ascending; among equal ones the lower row first.
        """

    def within(self, points: np.ndarray, rank: float, n_threads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows whose rank distance is at most ``rank``.

        Returns
        -------
        offsets : int64[m + 1]
            The beginning of each point's rows.
        rows : int64
        ranks : float64
        """


def blocks_of(n_queries: int, n_threads: int, most: int) -> tuple[int, int]:
    """The number of queries of a block, at most ``most``, and of blocks, so that every thread gets some."""
    size = max(1, min(most, -(-n_queries // n_threads)))
    return size, -(-n_queries // size)


def select(ranks: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The ``k`` smallest of all ranks float64[n], ordered by (rank, row): rows int64[k], ranks float64[k].

    Examples
    --------
    >>> select(np.array([3.0, 1.0, 3.0, 0.0]), k=3)
    (array([3, 1, 0]), array([0., 1., 3.]))
    """
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
