"""Coordinates in which Mahalanobis distances are Euclidean. In: rows, or a matrix. Out: center, scales, transform.

Caller: neighbors.metrics_by_name.

The covariance is V = D R D, with the standard deviations D and the correlations R = L L'. The squared distance
(a - b)' V^-1 (a - b) is the square of the length of L^-1 D^-1 (a - b). Only R is factored, so units do not matter.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from scipy.linalg import lapack, solve_triangular

from treewright.data.cells import shown
from treewright.exceptions import ParameterError
from treewright.neighbors.scaling import center_and_scales, scaled

_ROWS = 65_536  # of a block of the covariance
_ROUNDING = 1e-12  # of a correlation matrix, per column: what is taken for no spread of its own, or for an asymmetry
_FEW = 5
_REMEDY = "Drop such columns, give metric_params={'VI': ...} (such as a pseudoinverse), or use metric='euclidean'"

Coordinates = tuple[np.ndarray, np.ndarray, np.ndarray]


def of_rows(matrix: np.ndarray, names: Sequence[Hashable]) -> Coordinates:
    """Coordinates by the covariance of the rows of a fit.

    Parameters
    ----------
    matrix : float[n, p], finite
    names : sequence of p column names

    Returns
    -------
    center, scales : float64[p]
    transform : float64[p, p]
        Points are ``((cells - center) * scales) @ transform``.

    Raises
    ------
    ParameterError
        The covariance is singular: columns are constant or depend on others, or there are too few rows.
    """
    n, p = matrix.shape
    center, scales = center_and_scales("standard", matrix)
    constant = [names[at] for at in range(p) if (matrix[:, at] == matrix[0, at]).all()]
    if constant:
        raise ParameterError(_singular(f"{_listed(constant)} constant in the {n} row(s) of the fit"))
    products = np.zeros((p, p))
    for first in range(0, n, _ROWS):
        block = scaled(matrix[first : first + _ROWS].astype(np.float64), center, scales)
        products += block.T @ block
    # Standard deviations divide by n, covariances by n - 1.
    lower = _factored(products / n, names, f" (of {n} rows there are at most {n - 1} such)" if n <= p else "")
    return center, scales * np.sqrt((n - 1) / n), _inverse_transposed(lower)


def of_covariance(given: Any, center: np.ndarray, names: Sequence[Hashable]) -> Coordinates:
    """The same by a covariance that the caller gives: ``metric_params={"V": ...}``.

    Parameters
    ----------
    given : float[p, p], symmetric, positive definite
    center : float64[p]
    names : sequence of p column names

    Raises
    ------
    ParameterError
        It is no such matrix.
    """
    covariance = _symmetric(given, len(names), "V")
    variances = np.diag(covariance).copy()
    _refuse_negative(variances, "V")
    if not variances.all():
        raise ParameterError(_singular(f"V[{int(variances.argmin())}, {int(variances.argmin())}] is 0"))
    spreads = np.sqrt(variances)
    lower = _factored(covariance / spreads / spreads[:, None], names, "")
    return center, 1.0 / spreads, _inverse_transposed(lower)


def of_inverse(given: Any, center: np.ndarray, names: Sequence[Hashable]) -> Coordinates:
    """The same by the inverse of a covariance, which may be singular: ``metric_params={"VI": ...}``.

    Parameters
    ----------
    given : float[p, p], symmetric, without negative eigenvalues
    center : float64[p]
    names : sequence of p column names

    Raises
    ------
    ParameterError
        It is no such matrix.
    """
    inverse = _symmetric(given, len(names), "VI")
    diagonal = np.diag(inverse).copy()
    _refuse_negative(diagonal, "VI")
    scales = np.where(diagonal > 0, np.sqrt(diagonal), 1.0)
    inner = inverse / scales / scales[:, None]
    values, vectors = np.linalg.eigh(inner)
    if values[0] < -_ROUNDING * len(names):
        raise ParameterError(
            f"metric_params VI has a negative eigenvalue ({values[0]:.3g} once its diagonal is 1): squared distances "
            "would be negative. Give the inverse of a covariance"
        )
    if not values[-1] > 0:
        raise ParameterError("metric_params VI is 0 everywhere: nothing would be left to compare")
    return center, scales, np.ascontiguousarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _symmetric(given: Any, p: int, name: str) -> np.ndarray:
    """A symmetric matrix of finite numbers."""
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


def _factored(correlations: np.ndarray, names: Sequence[Hashable], why: str) -> np.ndarray:
    """The lower Cholesky factor of a correlation matrix, float64[p, p].

    Raises
    ------
    ParameterError
        It is singular. The message names the columns that depend on others: those that pivoting comes to when nothing
        is left of them.
    """
    p = len(names)
    _, pivots, rank, _ = lapack.dpstrf(correlations, lower=1, tol=_ROUNDING * p)
    if rank == p:
        factor, failed = lapack.dpotrf(correlations, lower=1, clean=1)
        if not failed:
            return factor
        rank = p - 1
    depend = [names[at - 1] for at in sorted(pivots[rank:].tolist())]
    raise ParameterError(_singular(f"{_listed(depend)} a sum of multiples of the others{why}, up to rounding"))


def _inverse_transposed(lower: np.ndarray) -> np.ndarray:
    """The transposed inverse of a lower triangular matrix, C order."""
    return np.ascontiguousarray(solve_triangular(lower, np.eye(len(lower)), lower=True).T)


def _listed(names: Sequence[Hashable]) -> str:
    """The first few names, and a verb."""
    told = ", ".join(shown(name) for name in names[:_FEW])
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return f"column {told} is" if len(names) == 1 else f"columns {told}{more} are"


def _singular(why: str) -> str:
    """The message about a covariance without an inverse."""
    return f"metric='mahalanobis': the covariance is singular, it has no inverse: {why}. {_REMEDY}"
