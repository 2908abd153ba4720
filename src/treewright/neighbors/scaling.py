"""Centers and scales of columns, and the coordinates of Mahalanobis.

Everything is computed on columns divided by a power of two, so that neither 1e300 nor 1e-300 leaves float64.

Mahalanobis distances are Euclidean in transformed coordinates. The covariance is V = D R D, with the standard
deviations D and the correlations R = L L'. The squared distance (a - b)' V^-1 (a - b) is the square of the length of
L^-1 D^-1 (a - b). Only R is factored, so units do not matter. The factor is not LAPACK's: that would depend on the
processor, and it calls BLAS (``core.elementary``).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from treewright.core.elementary import add_products
from treewright.core.jit import costs, kernel
from treewright.data.cells import shown
from treewright.data.schema import did_you_mean
from treewright.exceptions import DataError, ParameterError, Phrase, first_row, setting

_LEAST = float(np.finfo(np.float64).tiny)
LARGEST = float(np.finfo(np.float64).max)
_ROWS = 65_536  # rows of a block of the covariance
_ROUNDING = 1e-12  # tolerance of a correlation matrix, per column, for dependent columns and for asymmetry
_FEW = 5


Coordinates = tuple[np.ndarray, np.ndarray, np.ndarray]  # center, scales float64[p], transform float64[p, p]


def _standard(cells: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation (of a population)."""
    mean = cells.mean()
    mean += (cells - mean).mean()  # corrects the rounding error
    return mean, cells.std()


def _range(cells: np.ndarray) -> tuple[float, float]:
    """Least cell and range."""
    return cells.min(), cells.max() - cells.min()


def _robust(cells: np.ndarray) -> tuple[float, float]:
    """Median and interquartile range."""
    lower, middle, upper = np.quantile(cells, [0.25, 0.5, 0.75])
    return middle, upper - lower


_BY_NAME: dict[str, Callable[[np.ndarray], tuple[float, float]]] = {
    "standard": _standard,
    "range": _range,
    "robust": _robust,
}


def center_and_scales(name: str, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Center and scale of every column.

    ``name``: mean and standard deviation; least cell and range; median and interquartile range. ``matrix`` (float[n,
    p], finite or nan): n >= 1. Missing cells are left out. Returns ``center`` (float64[p]); ``scales`` (float64[p] >
    0): one over the spread. 1 for a column whose spread is 0 or below 2.2e-308, or without known cells.

    Examples
    --------
    >>> center_and_scales("range", np.array([[1.0, 7.0], [5.0, 7.0]]))
    (array([1., 7.]), array([0.25, 1.  ]))
    """
    if name not in _BY_NAME:
        raise ParameterError(
            Phrase(f"scale={shown(name)}", "setting", "scale", name),
            f": give None, one of {', '.join(map(repr, _BY_NAME))}, or one number per column"
            f"{did_you_mean(name, _BY_NAME)}",
            parameter="scale",
        )
    center, scales = np.zeros(matrix.shape[1]), np.ones(matrix.shape[1])
    for at in range(matrix.shape[1]):
        cells = matrix[:, at].astype(np.float64)
        cells = cells[~np.isnan(cells)]
        if (cells == cells[:1]).all():
            center[at] = cells[0] if len(cells) else 0.0
            continue
        exponent = int(np.frexp(np.abs(cells).max())[1])
        middle, spread = _BY_NAME[name](np.ldexp(cells, -exponent))
        center[at] = np.ldexp(middle, exponent)
        with np.errstate(over="ignore"):
            whole = np.ldexp(spread, exponent)
        if whole >= _LEAST:
            scales[at] = 1.0 / whole if np.isfinite(whole) else np.ldexp(1.0 / spread, -exponent)
    return center, scales


def given_scales(given: Any, matrix: np.ndarray, name: str = "scale") -> np.ndarray:
    """Given scales, one per column, float64[p]: >= 0, not all 0; ``name`` is their name in messages."""
    p = matrix.shape[1]
    try:
        numbers = np.array(given, np.float64)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.shape != (p,):
        raise ParameterError(
            f"{name}={shown(given)}: give one number for each of the {p} columns"
            + (", or 'standard', 'range', 'robust' or None" if name == "scale" else "")
        )
    wrong = ~np.isfinite(numbers) | (numbers < 0)
    if wrong.any():
        at = int(wrong.argmax())
        raise ParameterError(f"{name}[{at}]={numbers[at].item()!r}: give finite numbers >= 0 (0 leaves a column out)")
    if not numbers.any():
        raise ParameterError(f"{name} is 0 for every column: no column is left to compare")
    return numbers


def scaled(points: np.ndarray, center: np.ndarray | None, scales: np.ndarray | None) -> np.ndarray:
    """``(points - center) * scales`` of float64[n, p], finite; limited to the largest number of float64."""
    with np.errstate(over="ignore", invalid="ignore"):
        result = points.copy() if center is None else points - center
        if scales is not None:
            result *= scales
        if not np.isfinite(result.sum()):
            # The difference may be beyond float64 when the scaled one is not: computed again with halves.
            rows, columns = np.nonzero(~np.isfinite(result))
            halves = points[rows, columns] * 0.5
            if center is not None:
                halves -= center[columns] * 0.5
            if scales is not None:
                halves *= scales[columns]
            result[rows, columns] = np.clip(halves * 2.0, -LARGEST, LARGEST)
    return result


def refuse_overflow(
    matrix: np.ndarray, center: np.ndarray | None, scales: np.ndarray, label: Callable[[int], str]
) -> None:
    """Refuse training rows that are beyond float64 after scaling."""
    for at in range(matrix.shape[1]):
        half = matrix[:, at].astype(np.float64) * 0.5 - (0.0 if center is None else center[at] * 0.5)
        with np.errstate(over="ignore"):
            beyond = np.isinf(half * scales[at] * 2.0)  # nan is missing
        if beyond.any():
            raise DataError(
                f"{label(at)} times its scale {scales[at].item()!r} is beyond float64 in {int(beyond.sum())} row(s) (",
                first_row(int(beyond.argmax())),
                "): give a smaller scale",
                row=int(beyond.argmax()),
            )


def coordinates_of_rows(matrix: np.ndarray, names: Sequence[Hashable]) -> Coordinates:
    """Coordinates by the covariance of training rows, float[n, p], finite; a singular one is refused.

    Points are ``((cells - center) * scales) @ transform``.
    """
    n, p = matrix.shape
    center, scales = center_and_scales("standard", matrix)
    constant = [names[at] for at in range(p) if (matrix[:, at] == matrix[0, at]).all()]
    if constant:
        raise _singular(f"{_listed(constant)} constant in the {n} training row(s)")
    products = np.zeros((p, p))
    for first in range(0, n, _ROWS):
        block = scaled(matrix[first : first + _ROWS].astype(np.float64), center, scales)
        add_products(np.ascontiguousarray(block), products)
    # Standard deviations divide by n, covariances by n - 1.
    why = f" ({n} rows have at most {n - 1} independent columns)" if n <= p else ""
    return center, scales * np.sqrt((n - 1) / n), _root_of_inverse(products / n, names, why)


def coordinates_of_covariance(given: Any, center: np.ndarray, names: Sequence[Hashable]) -> Coordinates:
    """Coordinates by a given covariance, ``metric_params={"V": ...}``: symmetric, positive definite."""
    covariance = _symmetric(given, len(names), "V")
    variances = np.diag(covariance).copy()
    _refuse_negative(variances, "V")
    if not variances.all():
        raise _singular(f"V[{int(variances.argmin())}, {int(variances.argmin())}] is 0")
    spreads = np.sqrt(variances)
    return center, 1.0 / spreads, _root_of_inverse(covariance / spreads / spreads[:, None], names, "")


def coordinates_of_inverse(given: Any, center: np.ndarray, names: Sequence[Hashable]) -> Coordinates:
    """Coordinates by the inverse of a covariance, ``metric_params={"VI": ...}``, which may be singular.

    It is symmetric and has no negative eigenvalues.
    """
    inverse = _symmetric(given, len(names), "VI")
    diagonal = np.diag(inverse).copy()
    _refuse_negative(diagonal, "VI")
    scales = np.where(diagonal > 0, np.sqrt(diagonal), 1.0)
    factor = inverse / scales / scales[:, None]
    order, nothing = np.empty(len(names), np.int64), _ROUNDING * len(names)
    rank = factor_of(factor, nothing, order)
    if (np.abs(factor[rank:, rank:]) > nothing).any():
        raise ParameterError(
            "metric_params VI has a negative eigenvalue: squared distances would be negative. Give the inverse of a "
            "covariance"
        )
    if rank == 0:
        raise ParameterError("metric_params VI is 0 everywhere: no column is left to compare")
    root = np.zeros_like(factor)
    root[order, :rank] = np.tril(factor)[:, :rank]
    return center, scales, root


def _symmetric(given: Any, p: int, name: str) -> np.ndarray:
    """A given matrix, checked: symmetric, of finite numbers."""
    try:
        matrix = np.array(given, np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.shape != (p, p):
        raise ParameterError(
            f"metric_params {name}={shown(given)}: give a matrix of {p} rows and {p} columns of numbers"
        )
    if not np.isfinite(matrix).all():
        raise ParameterError(f"metric_params {name} holds nan or infinity: give finite numbers")
    apart = np.abs(matrix - matrix.T)
    if (apart > 1e-8 * np.maximum(np.abs(matrix), np.abs(matrix.T)).max()).any():
        row, column = np.unravel_index(int(apart.argmax()), apart.shape)
        raise ParameterError(
            f"metric_params {name} is not symmetric: {matrix[row, column].item()!r} at [{row}, {column}] and "
            f"{matrix[column, row].item()!r} at [{column}, {row}]"
        )
    return matrix * 0.5 + matrix.T * 0.5


def _refuse_negative(diagonal: np.ndarray, name: str) -> None:
    """Refuse a diagonal with numbers below 0."""
    if (diagonal < 0).any():
        at = int(diagonal.argmin())
        raise ParameterError(
            f"metric_params {name}[{at}, {at}]={diagonal[at].item()!r}: numbers on the diagonal are variances, >= 0"
        )


def _root_of_inverse(correlations: np.ndarray, names: Sequence[Hashable], why: str) -> np.ndarray:
    """A matrix whose product with its transposed is the inverse of a correlation matrix, float64[p, p]."""
    p = len(names)
    order = np.empty(p, np.int64)
    rank = factor_of(correlations, _ROUNDING * p, order)
    if rank < p:
        # A column with nothing left after elimination depends on the columns before it.
        depend = [names[at] for at in sorted(order[rank:].tolist())]
        raise _singular(f"{_listed(depend)} a sum of multiples of the others{why}, up to rounding")
    inverse, root = np.zeros((p, p)), np.empty((p, p))
    invert(correlations, inverse)
    root[order] = inverse
    return root


@costs(lambda matrix, *_: matrix.size * len(matrix) / 3)
@kernel
def factor_of(matrix: np.ndarray, nothing: float, order: np.ndarray) -> int:
    """Cholesky's factor L of a symmetric matrix, in place: with ``order`` for rows and columns it was L L'.

    matrix : float64[p, p], IN and OUT
        Afterwards ``L[:, :rank]``, above the diagonal its mirror image; and what is left in ``matrix[rank:, rank:]``,
        whose diagonal is at most ``nothing``.
    order : int64[p], OUT
        Columns; each time, the one with the largest number left on the diagonal.

    Returns the rank, 0 to p.
    """
    p = len(matrix)
    for at in range(p):
        order[at] = at
    for at in range(p):
        best = at
        for other in range(at + 1, p):
            if matrix[other, other] > matrix[best, best]:
                best = other
        if not matrix[best, best] > nothing:
            return at
        order[at], order[best] = order[best], order[at]
        for other in range(p):
            matrix[at, other], matrix[best, other] = matrix[best, other], matrix[at, other]
        for other in range(p):
            matrix[other, at], matrix[other, best] = matrix[other, best], matrix[other, at]
        root = np.sqrt(matrix[at, at])
        matrix[at, at] = root
        for other in range(at + 1, p):
            matrix[at, other] /= root
            matrix[other, at] = matrix[at, other]
        for row in range(at + 1, p):
            cell = matrix[row, at]
            for other in range(at + 1, p):
                matrix[row, other] -= cell * matrix[at, other]
    return p


@costs(lambda lower, inverse: lower.size * len(lower) / 6)
@kernel
def invert(lower: np.ndarray, inverse: np.ndarray) -> None:
    """The transposed inverse of a lower triangular matrix.

    lower : float64[p, p], IN
        What is above the diagonal is not read.
    inverse : float64[p, p], zeros, OUT
    """
    p = len(lower)
    for column in range(p):
        found = inverse[column]
        found[column] = 1.0 / lower[column, column]
        for row in range(column + 1, p):
            total = 0.0
            for other in range(column, row):
                total -= lower[row, other] * found[other]
            found[row] = total / lower[row, row]


def _listed(names: Sequence[Hashable]) -> str:
    """The first few names of columns, with a verb."""
    first = ", ".join(shown(name) for name in names[:_FEW])
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return f"column {first} is" if len(names) == 1 else f"columns {first}{more} are"


def _singular(why: str) -> ParameterError:
    """The error about a covariance without an inverse."""
    return ParameterError(
        setting("metric", "mahalanobis"),
        f": the covariance is singular and has no inverse: {why}. Drop such columns, give metric_params={{'VI': ...}} "
        "(such as a pseudoinverse), or use ",
        setting("metric", "euclidean"),
        parameter="metric",
    )
