"""Search by a user's own distance. In: points, a callable. Out: nearest rows, rows within a rank. Callers: index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from treewright.core.threads import heed
from treewright.exceptions import ParameterError
from treewright.neighbors.direct import in_order, select

__all__ = ["Called"]


@dataclass(frozen=True, eq=False)
class Called:
    """Python, pair by pair, in the calling thread: a user's function need not bear two calls at a time.

    Memory beside points and results: the ranks of one query, 8 bytes a point.

    Attributes
    ----------
    points : float64[n, d]
    function : callable
        Takes two rows float64[d], the query first, that it cannot write to; returns a number >= 0.

    Examples
    --------
    >>> import numpy as np
    >>> index = Called(np.array([[0.0], [2.0], [5.0]]), lambda one, other: abs(one[0] - other[0]))
    >>> rows, ranks = index.nearest(np.array([[4.0]]), k=2, n_threads=1)
    >>> rows.tolist(), ranks.tolist()
    ([[2, 1]], [[1.0, 2.0]])
    """

    points: np.ndarray
    function: Callable[[np.ndarray, np.ndarray], Any]

    def nearest(self, points: np.ndarray, k: int, n_threads: int) -> tuple[np.ndarray, np.ndarray]:  # noqa: ARG002
        """The ``k`` nearest rows of each point; see ``ranks.Index``.

        Raises
        ------
        ParameterError
            The function returned something else than a number >= 0; the message names both rows.
        BaseException
            Whatever the function raises, with a note that names both rows.
        """
        rows, ranks = np.empty((len(points), k), np.int64), np.empty((len(points), k))
        for query in range(len(points)):
            rows[query], ranks[query] = select(self._ranks(points, query), k)
        return rows, ranks

    def within(
        self,
        points: np.ndarray,
        rank: float,
        n_threads: int,  # noqa: ARG002
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows whose rank distance is at most ``rank``; see ``ranks.Index``. Raises as ``nearest``."""
        offsets = np.zeros(len(points) + 1, np.int64)
        rows, ranks = [np.zeros(0, np.int64)], [np.zeros(0)]
        for query in range(len(points)):
            found = self._ranks(points, query)
            near = np.flatnonzero(found <= rank)
            counts, its_rows, its_ranks = in_order(1, np.zeros(len(near), np.int64), near, found[near])
            offsets[query + 1] = offsets[query] + counts[0]
            rows.append(its_rows)
            ranks.append(its_ranks)
        return offsets, np.concatenate(rows), np.concatenate(ranks)

    def _ranks(self, points: np.ndarray, query: int) -> np.ndarray:
        """Distances float64[n] of one query from every point."""
        heed()
        ours, theirs = points[query].view(), self.points.view()
        ours.flags.writeable = theirs.flags.writeable = False
        found = np.empty(len(theirs))
        for row, other in enumerate(theirs):
            try:
                answer = self.function(ours, other)
            except BaseException as error:
                error.add_note(f"metric was called with {_pair(query, row)}")
                raise
            found[row] = _checked(answer, query, row)
        return found


def _pair(query: int, row: int) -> str:
    """Both rows by name."""
    return f"row {query} of the rows asked about and row {row} of the fit (both counted from 0)"


def _checked(answer: Any, query: int, row: int) -> float:
    """An answer of the function as a float.

    Raises
    ------
    ParameterError
        It is no number, nan or negative.
    """
    if isinstance(answer, np.ndarray | np.generic) and answer.ndim == 0:
        answer = answer.item()
    if not isinstance(answer, Real):
        raise ParameterError(f"metric returned {type(answer).__name__} for {_pair(query, row)}: return one number >= 0")
    try:
        number = float(answer)
    except OverflowError:  # a whole number beyond float64
        number = -np.inf if answer < 0 else np.inf
    if not number >= 0.0:
        raise ParameterError(f"metric returned {number} for {_pair(query, row)}: return a number >= 0")
    return number + 0.0  # -0.0 is 0
