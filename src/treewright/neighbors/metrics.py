"""What distance means. In: parts that a name stands for. Out: ``Metric``.

Callers: neighbors.metrics_by_name makes it; neighbors.stored, estimators, model use it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np

from treewright.data.schema import Schema
from treewright.exceptions import ParameterError
from treewright.neighbors.mixed_columns import GOWER, MixedColumns
from treewright.neighbors.points_kernels import times_matrix, unit_rows
from treewright.neighbors.ranks import CALLED, CANBERRA, CHEBYSHEV, HAMMING, JACCARD, MANHATTAN, MIXED, POWERS, SQUARES
from treewright.neighbors.refused_cells import refuse_cells
from treewright.neighbors.scaling import LARGEST, scaled

# Metrics of directions: their points are rows of length one.
DIRECTIONS = ("cosine", "angle", "correlation")
_INFINITY_BITS = int(np.float64(np.inf).view(np.int64))


@dataclass(frozen=True, eq=False)
class Metric:
    """How far two rows are from each other.

    Rows become points, and indexes rank pairs of points by a rank distance that is quick to compute. Differences beyond
    1e154 have infinite squares, differences below 1e-162 squares of 0: scale such columns.

    Attributes
    ----------
    name : str
        ``"euclidean"``, ``"gower"``, ...; of a callable its own name.
    kind : int
        Formula of the rank distance: ``ranks.SQUARES``, ... ; ``MIXED`` or ``CALLED``.
    p : float >= 1
        Of ``POWERS``.
    center, scales : float64[p] or None
        Points are ``(cells - center) * scales``.
    transform : float64[p, p] or None
        Then times this matrix (Mahalanobis).
    mixed : MixedColumns or None
        Of ``MIXED``.
    function : callable or None
        Of ``CALLED``: takes two float64[p], returns a number >= 0.
    names : tuple of p column names
        For messages.
    """

    name: str
    kind: int
    p: float = 2.0
    center: np.ndarray | None = None
    scales: np.ndarray | None = None
    transform: np.ndarray | None = None
    mixed: MixedColumns | None = None
    function: Callable[[np.ndarray, np.ndarray], float] | None = None
    names: tuple[Hashable, ...] = ()

    def check(self, matrix: np.ndarray, schema: Schema | None = None) -> None:
        """Refuse cells that the metric has no distance to: what ``points`` does, without making points.

        Parameters
        ----------
        matrix : float64[n, p] or float32[n, p]
        schema : Schema, optional
            Columns are called by its names; by default by those of the fit.

        Raises
        ------
        DataError, MissingValueError
            As ``points``.
        """
        names = (self.names or None) if schema is None else schema.names
        refuse_cells(matrix, names, self.name, takes_missing=self.mixed is not None)

    def points(self, matrix: np.ndarray) -> np.ndarray:
        """Rows in the coordinates that rank distances compare.

        A row's point does not depend on the other rows.

        Parameters
        ----------
        matrix : float64[n, p] or float32[n, p]
            Encoded rows, as ``data.encoder`` gives them.

        Returns
        -------
        float64[n, d], C order
            Without nan or infinity (nan only under mixed metrics: a missing cell). ``d`` is p, and p + 1 for cosine,
            angle and correlation. It may be ``matrix`` itself: never write to it. A point beyond float64 is held at its
            largest number.

        Raises
        ------
        DataError
            A cell is infinite.
        MissingValueError
            A cell is missing, and the metric is none of mixed columns.
        """
        self.check(matrix)
        points = np.ascontiguousarray(matrix, np.float64)
        if not (points.flags.writeable and points.flags.aligned):
            points = points.copy()  # another type of array: each kernel would be compiled once more, some seconds
        if self.kind == JACCARD:
            return (points != 0).astype(np.float64)
        if self.center is not None or self.scales is not None:
            points = scaled(points, self.center, self.scales)
        if self.name in DIRECTIONS and self.kind == SQUARES:
            rows = points
            points = np.empty((rows.shape[0], rows.shape[1] + 1))
            unit_rows(rows, self.name == "correlation", points)
        elif self.transform is not None:
            rows, points = points, np.empty(points.shape)
            times_matrix(rows, self.transform, points)
            np.nan_to_num(points, copy=False, nan=LARGEST, posinf=LARGEST, neginf=-LARGEST)
        return points

    def distances(self, ranks: np.ndarray) -> np.ndarray:
        """The metric's own distances.

        Parameters
        ----------
        ranks : float64 of any shape, >= 0
            Rank distances.

        Returns
        -------
        float64 of that shape

        Examples
        --------
        >>> Metric("euclidean", SQUARES).distances(np.array([0.0, 25.0]))
        array([0., 5.])
        >>> Metric("angle", SQUARES).distances(np.array([2.0])) * 2 / np.pi
        array([1.])
        """
        if self.kind == SQUARES:
            if self.name in {"cosine", "correlation"}:
                # Squares between opposite rows may be a little above 4; a radius of 2 still holds every row.
                return np.minimum(ranks * 0.5, 2.0)
            if self.name == "angle":
                # Squares are (2 sin(angle / 2))^2. This form is exact at 0, a right angle and pi.
                return 2.0 * np.arctan2(np.sqrt(ranks), np.sqrt(np.maximum(4.0 - ranks, 0.0)))
            return np.sqrt(ranks)
        if self.kind == POWERS:
            return ranks ** (1.0 / self.p)
        if self.mixed is not None and self.mixed.rule != GOWER:
            return np.sqrt(ranks)
        if self.kind in {MANHATTAN, CHEBYSHEV, HAMMING, JACCARD, CANBERRA, MIXED, CALLED}:
            return np.array(ranks, np.float64)
        raise AssertionError(f"no such kind of rank distance: {self.kind}")

    def ranks(self, distance: float) -> float:
        """The largest rank distance whose distance is at most ``distance``.

        Parameters
        ----------
        distance : float >= 0

        Raises
        ------
        ParameterError
            It is below 0, or nan.

        Examples
        --------
        >>> Metric("manhattan", MANHATTAN).ranks(2.5)
        2.5
        """
        if not distance >= 0:
            raise ParameterError(f"a distance of {distance!r}: give a number >= 0")
        # The bits of numbers >= 0, read as an integer, stand in the order of the numbers: halve their interval.
        low, high = 0, _INFINITY_BITS + 1
        while high - low > 1:
            middle = (low + high) // 2
            reached = self.distances(np.array([middle]).view(np.float64))[0]
            low, high = (middle, high) if reached <= distance else (low, middle)
        return float(np.int64(low).view(np.float64))
