"""The rows of a fit, ready to be searched. In: points, targets. Out: ``Stored``. Callers: model, model_selection."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.exceptions import DataError
from treewright.neighbors.index import index_for
from treewright.neighbors.metrics import Metric

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from treewright.neighbors.ranks import Index


@dataclass(frozen=True, eq=False)
class Stored:
    """The rows of a fit in the coordinates of their metric, with their targets.

    Attributes
    ----------
    metric : Metric
    points : float64[n, d], C order, or csr_matrix of float64
        As ``metric.points`` gives them; sparse for sparse rows.
    codes : int32[n, n_outputs] or None
        Classes of the rows.
    values : float64[n, n_outputs] or None
        Their numbers, where there are no classes.
    algorithm : {"auto", "brute", "kd_tree"}
        What the user asked for; see ``neighbors.index``.
    """

    metric: Metric
    points: np.ndarray | csr_matrix
    codes: np.ndarray | None = None
    values: np.ndarray | None = None
    algorithm: str = "auto"

    def __reduce__(self) -> tuple[type[Stored], tuple[Any, ...]]:
        # Only the fields: the index is made of them, and in a moment.
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.points.shape[0])

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are sparse."""
        return not isinstance(self.points, np.ndarray)

    @property
    def nbytes(self) -> int:
        """Bytes of points and targets, without the index."""
        points: Any = self.points
        parts = [points.data, points.indices, points.indptr] if self.is_sparse else [points]
        return sum(part.nbytes for part in (*parts, self.codes, self.values) if part is not None)

    def index(self, n_threads: int = 1) -> Index:
        """The index of the rows, made when it is first asked for.

        Parameters
        ----------
        n_threads : int >= 1
            To make it with; it does not depend on them.
        """
        made: Index | None = self.__dict__.get("_index")
        if made is None:
            made = index_for(self.metric, self.points, self.algorithm, n_threads)
            object.__setattr__(self, "_index", made)  # beside the fields: files and pickles do not see it
        return made

    def points_of(self, matrix: Any) -> Any:
        """Encoded rows in the coordinates of the metric; sparse rows are in them already.

        Raises
        ------
        DataError
            As ``Metric.points``.
        """
        return matrix if self.is_sparse else self.metric.points(matrix)

    def nearest(self, points: Any, k: int, n_threads: int, first_row: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """The nearest rows of each point.

        Parameters
        ----------
        points : float64[m, d], or csr_matrix for sparse rows
        k : int, 1 to the number of rows
        n_threads : int >= 1
        first_row : int
            What messages call the first point.

        Returns
        -------
        rows : int64[m, k]
        distances : float64[m, k]
            Ascending; of equal ones the lower row stands first.

        Raises
        ------
        DataError
            A distance is beyond float64.
        """
        rows, ranks = self.index(n_threads).nearest(points, k, n_threads)
        _refuse_beyond(np.isfinite(ranks[:, -1]), first_row, self.metric.name)
        return rows, self.metric.distances(ranks)

    def others(self, first: int, last: int, k: int, n_threads: int) -> tuple[np.ndarray, np.ndarray]:
        """As ``nearest``, of the stored rows from ``first`` to before ``last``, each without itself.

        Parameters
        ----------
        k : int, 1 to the number of rows - 1
        """
        rows, distances = self.nearest(self.points[first:last], k + 1, n_threads, first)
        # A row is known by its number: duplicates are as near as the row itself, and lower ones stand before it.
        itself = rows == np.arange(first, last)[:, None]
        itself[~itself.any(axis=1), -1] = True  # more than k others are as near: the last one is too many
        kept = ~itself
        return rows[kept].reshape(-1, k), distances[kept].reshape(-1, k)

    def within(self, points: Any, distance: float, n_threads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows at most so far from each point.

        Parameters
        ----------
        points : float64[m, d], or csr_matrix for sparse rows
        distance : float >= 0

        Returns
        -------
        offsets : int64[m + 1]
        rows : int64
        distances : float64
            As ``neighbors.ranks.Index.within`` has them.
        """
        rank = self.metric.ranks(distance)
        offsets, rows, ranks = self.index(n_threads).within(points, rank, n_threads)
        return offsets, rows, self.metric.distances(ranks)


def _refuse_beyond(is_finite: np.ndarray, first_row: int, name: str) -> None:
    """Refuse points that have a neighbour at no finite distance.

    Raises
    ------
    DataError
    """
    wrong = np.flatnonzero(~is_finite)
    if len(wrong):
        raise DataError(
            f"{len(wrong)} row(s) (first row {first_row + int(wrong[0])}) have a neighbour whose {name} distance is "
            "beyond float64: make the numbers smaller, for example by scale='standard'"
        )
