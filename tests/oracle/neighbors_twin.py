"""Nearest rows by definition: every pair is looked at. In: points as arrays. Out: rows and ranks in order.

Callers: tests of neighbors.
"""

from __future__ import annotations

import numpy as np

from treewright.neighbors.nearest import CHEBYSHEV, MANHATTAN, POWERS, SQUARES, raised


def twin_rank(one, other, kind: int, p: float = 2.0) -> float:
    """The rank distance of two points: column by column, in order, in plain floats."""
    rank = 0.0
    for a, b in zip(np.asarray(one).tolist(), np.asarray(other).tolist(), strict=True):
        if kind == SQUARES:
            rank += (a - b) * (a - b)
        elif kind == MANHATTAN:
            rank += abs(a - b)
        elif kind == CHEBYSHEV:
            rank = max(rank, abs(a - b))
        elif kind == POWERS:
            rank += power(abs(a - b), p)
        else:
            raise ValueError(kind)
    return rank


def power(base: float, exponent: float) -> float:
    """``base ** exponent`` as the package rounds it (``raised`` and what it calls have tests of their own)."""
    with np.errstate(over="ignore"):
        return float(raised(np.float64(base), exponent))


def twin_order(stored, point, kind: int, p: float = 2.0) -> list[tuple[float, int]]:
    """All rows as (rank distance, row), in order."""
    return sorted((twin_rank(row, point, kind, p), number) for number, row in enumerate(stored))


def twin_nearest(stored, points, k: int, kind: int, p: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    """What ``Index.nearest`` gives: rows int64[m, k], ranks float64[m, k]."""
    found = [twin_order(stored, point, kind, p)[:k] for point in points]
    rows = np.array([[row for _, row in of_point] for of_point in found], np.int64).reshape(len(found), k)
    ranks = np.array([[rank for rank, _ in of_point] for of_point in found], np.float64).reshape(len(found), k)
    return rows, ranks


def twin_within(stored, points, rank: float, kind: int, p: float = 2.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What ``Index.within`` gives: offsets int64[m + 1], rows int64, ranks float64."""
    found = [[pair for pair in twin_order(stored, point, kind, p) if pair[0] <= rank] for point in points]
    offsets = np.cumsum([0, *map(len, found)]).astype(np.int64)
    rows = np.array([row for of_point in found for _, row in of_point], np.int64)
    ranks = np.array([found_rank for of_point in found for found_rank, _ in of_point], np.float64)
    return offsets, rows, ranks
