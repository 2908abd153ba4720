"""Metrics: distances, the points that they compare, and the cells that they refuse.

Each row becomes a point independently of the others. Every sum runs over the columns in order, so a row has the same
point alone and in a large table. (BLAS does not guarantee this, and a training row would not be at distance 0 from
itself.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from treewright.core.elementary import angle_of, power_of
from treewright.core.jit import costs, inner_kernel, kernel
from treewright.data.schema import Schema
from treewright.data.table import column_label
from treewright.exceptions import DataError, MissingValueError, ParameterError, first_row, setting
from treewright.neighbors.mixed_columns import GOWER, MixedColumns
from treewright.neighbors.ranks import (
    CALLED,
    CANBERRA,
    CHEBYSHEV,
    HAMMING,
    JACCARD,
    MANHATTAN,
    MIXED,
    POWERS,
    PRECOMPUTED,
    SQUARES,
)
from treewright.neighbors.scaling import LARGEST, scaled

# Metrics of directions: their points are rows of length one.
DIRECTIONS = ("cosine", "angle", "correlation")
_INFINITY_BITS = int(np.float64(np.inf).view(np.int64))


@dataclass(frozen=True, eq=False)
class Metric:
    """A distance between rows.

    Rows become points, and indexes order pairs of points by a rank distance that is fast to compute. Differences beyond
    1e154 have infinite squares, differences below 1e-162 squares of 0: scale such columns.

    Attributes
    ----------
    name : str
        ``"euclidean"``, ``"gower"``, ...; for a callable its own name.
    kind : int
        Formula of the rank distance: ``ranks.SQUARES``, ... ; ``MIXED``, ``CALLED``, ``PRECOMPUTED`` (cells are
        distances to the training rows).
    p : float >= 1
        For ``POWERS``.
    center, scales : float64[p] or None
        Points are ``(cells - center) * scales``.
    transform : float64[p, p] or None
        A further factor of points (Mahalanobis).
    mixed : MixedColumns or None
        For ``MIXED``.
    function : callable or None
        For ``CALLED``: takes two float64[p], returns a number >= 0.
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
        """Refuse the cells that ``points`` refuses, without computing points; ``schema`` has the names of columns."""
        names = (self.names or None) if schema is None else schema.names
        if self.kind == PRECOMPUTED:
            refuse_distances(matrix)
        else:
            refuse_cells(matrix, names, self.name, takes_missing=self.mixed is not None)

    def points(self, matrix: np.ndarray) -> np.ndarray:
        """Rows in the coordinates that rank distances compare; infinite or missing cells are refused.

        Parameters
        ----------
        matrix : float64[n, p] or float32[n, p]
            Encoded rows, as ``data.encoder`` gives them.

        Returns
        -------
        float64[n, d], C order
            Without nan or infinity (nan only under mixed metrics: a missing cell). ``d`` is p, and p + 1 for cosine,
            angle and correlation. It may be ``matrix`` itself: never write to it. Coordinates beyond float64 are
            limited to its largest number.
        """
        self.check(matrix)
        points = np.ascontiguousarray(matrix, np.float64)
        if not (points.flags.writeable and points.flags.aligned):
            points = points.copy()  # another type of array would compile each kernel again, for some seconds
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
        """The distances for rank distances.

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
                return 2.0 * angle_of(np.sqrt(np.minimum(ranks, 4.0)), np.sqrt(np.maximum(4.0 - ranks, 0.0)))
            return np.sqrt(ranks)
        if self.kind == POWERS:
            return np.asarray(power_of(ranks, 1.0 / self.p))
        if self.mixed is not None and self.mixed.rule != GOWER:
            return np.sqrt(ranks)
        if self.kind in {MANHATTAN, CHEBYSHEV, HAMMING, JACCARD, CANBERRA, MIXED, CALLED, PRECOMPUTED}:
            return np.array(ranks, np.float64)
        raise AssertionError(f"no such kind of rank distance: {self.kind}")

    def ranks(self, distance: float) -> float:
        """The largest rank distance whose distance is at most ``distance``.

        Parameters
        ----------
        distance : float >= 0

        Examples
        --------
        >>> Metric("manhattan", MANHATTAN).ranks(2.5)
        2.5
        """
        if not distance >= 0:
            raise ParameterError(f"{distance!r} is not a distance: give a number >= 0")
        # Bisection of the bits of numbers >= 0, which as integers have the same order as the numbers.
        low, high = 0, _INFINITY_BITS + 1
        while high - low > 1:
            middle = (low + high) // 2
            reached = self.distances(np.array([middle]).view(np.float64))[0]
            low, high = (middle, high) if reached <= distance else (low, middle)
        return float(np.int64(low).view(np.float64))


def refuse_distances(matrix: np.ndarray) -> None:
    """Refuse cells that are not distances: missing, infinite or negative ones.

    Examples
    --------
    >>> refuse_distances(np.array([[0.0, -1.0], [np.nan, 0.0]]))
    Traceback (most recent call last):
    ...
    treewright.exceptions.MissingValueError: X has 1 missing distance(s) (row 1, column 0): metric='precomputed' ...
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if matrix.size == 0 or (matrix.min() >= 0 and np.isfinite(matrix.max())):
            return
    kinds = (
        ("missing", np.isnan(matrix), MissingValueError),
        ("infinite", np.isinf(matrix), DataError),
        ("negative", matrix < 0, DataError),
    )
    for what, wrong, error in kinds:
        if wrong.any():
            row, column = np.argwhere(wrong)[0].tolist()
            raise error(
                f"X has {int(wrong.sum())} {what} distance(s) (row {row}, column {column}): ",
                setting("metric", "precomputed"),
                " takes finite numbers >= 0, one for every pair of rows",
                row=row,
            )


def refuse_cells(matrix: np.ndarray, names: Sequence[Hashable] | None, metric: str, *, takes_missing: bool) -> None:
    """Refuse infinite cells, and missing ones if the metric has no rule for them.

    Examples
    --------
    >>> refuse_cells(np.array([[1.0], [np.nan]]), ("age",), "euclidean", takes_missing=False)
    Traceback (most recent call last):
    ...
    treewright.exceptions.MissingValueError: column 'age' has 1 missing value(s) (first row 1), and ...
    """
    with np.errstate(over="ignore", invalid="ignore"):
        total = matrix.sum()  # a fast check without a second matrix: a finite sum has finite terms
    if np.isfinite(total):
        return
    for at in range(matrix.shape[1]):
        infinite = np.isinf(matrix[:, at])
        if infinite.any():
            raise DataError(
                f"{column_label(names, at)} has {int(infinite.sum())} infinite value(s) (",
                first_row(int(infinite.argmax())),
                "), which have no distances. Replace them, or drop the rows",
                row=int(infinite.argmax()),
            )
    if takes_missing:
        return
    for at in range(matrix.shape[1]):
        absent = np.isnan(matrix[:, at])
        if absent.any():
            raise MissingValueError(
                f"{column_label(names, at)} has {int(absent.sum())} missing value(s) (",
                first_row(int(absent.argmax())),
                "), and ",
                setting("metric", metric),
                " has no distance to NaN. Use ",
                setting("metric", "heom"),
                ", 'hvdm', 'gower' or 'nan_euclidean', which do, or fill in the cells, or drop the rows",
                row=int(absent.argmax()),
            )


def refuse_nominal(schema: Schema, metric: str) -> None:
    """Refuse nominal columns with a metric for numbers."""
    nominal = [column.name for column in schema.columns if column.kind == "nominal"]
    if nominal:
        at = schema.positions[nominal[0]]
        rest = f" (and {len(nominal) - 1} more column(s))" if len(nominal) > 1 else ""
        raise DataError(
            f"{column_label(schema.names, at)}{rest} is nominal: its levels have no order, so ",
            setting("metric", metric),
            " has no distance between them. Use ",
            setting("metric", "heom"),
            ", 'hvdm' or 'gower', or turn the levels into numbers (one column of 0 and 1 per level)",
            column=nominal[0],
        )


@costs(lambda rows, matrix, out: len(rows) * matrix.size)
@kernel
def times_matrix(rows, matrix, out):
    """Rows float64[n, p] times a matrix float64[p, d], into ``out`` float64[n, d]."""
    for i in range(rows.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0.0
        for c in range(rows.shape[1]):
            cell = rows[i, c]
            for j in range(out.shape[1]):
                out[i, j] += cell * matrix[c, j]


@kernel
def unit_rows(rows, centred, out):
    """Rows divided by their length, with another coordinate for rows of zeros.

    A row of zeros has no direction. Its point is 0 except for 1 in the last coordinate: its squared distance to every
    unit row is exactly 2 (a cosine of 0), to another row of zeros 0. The last coordinate of a unit row compensates the
    rounding of its own squares: some units in the last place, which add some 1e-32 to squared distances between unit
    rows.

    Parameters
    ----------
    rows : float64[n, p]
    centred : bool
        Subtract its mean from every row first; a row of equal cells is one of zeros.
    out : float64[n, p + 1], OUT
    """
    p = rows.shape[1]
    for i in range(rows.shape[0]):
        for j in range(p):
            out[i, j] = rows[i, j]
        out[i, p] = 0.0
        if centred:
            _shrink(out, i, p)
            _centre(out, i, p)
        largest = _shrink(out, i, p)
        if largest == 0.0:
            out[i, p] = 1.0
            continue
        length = math.sqrt(_squares(out, i, p))
        for j in range(p):
            out[i, j] /= length
        out[i, p] = _remainder(_squares(out, i, p))


@inner_kernel
def _squares(points, i, p):
    """Sum of squares of the first p coordinates of row i of ``points`` float64[n, p + 1], in order."""
    total = 0.0
    for j in range(p):
        total += points[i, j] * points[i, j]
    return total


@inner_kernel
def _shrink(points, i, p):
    """Multiply row i of ``points`` float64[n, p + 1] by a power of two, so that its largest cell is from 0.5 to 1.

    Then no square overflows. Returns the largest magnitude before: 0 for a row of zeros, which does not change.
    """
    largest = 0.0
    for j in range(p):
        largest = max(largest, abs(points[i, j]))
    if largest > 0.0:
        _, exponent = math.frexp(largest)
        half = -(exponent // 2)  # in two steps: 2**1073 and 2**-1074 are not both float64
        first, second = math.ldexp(1.0, half), math.ldexp(1.0, -exponent - half)
        for j in range(p):
            points[i, j] = points[i, j] * first * second
    return largest


@inner_kernel
def _centre(points, i, p):
    """Subtract the mean from row i of ``points`` float64[n, p + 1], after ``_shrink``; equal cells become exactly 0."""
    equal = True
    for j in range(1, p):
        equal = equal and points[i, j] == points[i, 0]
    if equal:
        for j in range(p):
            points[i, j] = 0.0
        return
    for _ in range(2):  # the second time removes the rounding error of the first
        mean = 0.0
        for j in range(p):
            mean += points[i, j]
        mean /= p
        for j in range(p):
            points[i, j] -= mean


@inner_kernel
def _remainder(squares):
    """The coordinate c for which ``squares + (1 - c) * (1 - c)`` is 2 in float64, for squares that are nearly 1.

    Below 1 squares are 1 - m / 2**53, and each of m - 1, ..., m + 2 over 2**53 completes them to a number that rounds
    to 2; one of these is a multiple of four, and the square of 1 + t / 2**52 is 1 + 4 t / 2**53.
    Above 1 they are 1 + m / 2**52, and the square of 1 - m / 2**53 is 1 - m / 2**52.
    """
    if squares > 1.0:
        return (squares - 1.0) * 0.5
    missing = np.int64((1.0 - squares) * 2.0**53)
    return -np.float64((missing + 2) // 4) * 2.0**-52
