"""What neighbours say together. In: distances, targets. Out: weights, shares, means. Callers: model, model_selection.

Sums run over the neighbours from the nearest on, one by one, so an answer depends on nothing but its own row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from treewright.data.cells import shown
from treewright.exceptions import ParameterError

Weights = str | Callable[[np.ndarray], Any]

# Kernels of Hechenbichler and Schliep (2004), section 2.2, of u = distance / distance of the next neighbour, 0 to 1.
# Their constant factors are left out: only what weights are to each other counts.
KERNELS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "triangular": lambda u: 1.0 - u,
    "epanechnikov": lambda u: 1.0 - u * u,
    "biweight": lambda u: (1.0 - u * u) ** 2,
    "tricube": lambda u: (1.0 - u * u * u) ** 3,
    "gaussian": lambda u: np.exp(-0.5 * u * u),
}
NAMES = ("uniform", "distance", *KERNELS)
_TINY = 2.0**-64  # numbers are made so much smaller where their sum is beyond float64


def wants_next(weights: Weights) -> bool:
    """Whether weights depend on the neighbour after the last, too."""
    return isinstance(weights, str) and weights in KERNELS


def weights_of(distances: np.ndarray, next_distances: np.ndarray | None, weights: Weights) -> np.ndarray | None:
    """How much each neighbour counts.

    Parameters
    ----------
    distances : float64[m, k], finite, >= 0, ascending in each row
    next_distances : float64[m] or None
        Distance of the neighbour after the last, for kernels; None where there is no further row: then the last one's.
    weights : str of ``NAMES`` or callable
        A callable takes the distances and returns weights of their shape.

    Returns
    -------
    float64[m, k], >= 0, not all 0 in any row; or None
        None where all count alike. Weights of different rows have nothing to do with each other.

    Raises
    ------
    ParameterError
        A callable returned no numbers, another shape, or weights that are negative or not finite.

    Notes
    -----
    ``"distance"``: 1 / distance; where rows stand at distance 0 they alone count, and alike. Kernels: a last neighbour
    as far as the next one has weight 0 (but under "gaussian"), and where the next one is at distance 0 all count
    alike. Where all weights of a row are 0 its neighbours count alike.

    Examples
    --------
    >>> weights_of(np.array([[1.0, 2.0]]), None, "distance").tolist()
    [[1.0, 0.5]]
    >>> weights_of(np.array([[1.0, 2.0]]), np.array([4.0]), "triangular").tolist()
    [[0.75, 0.5]]
    """
    if not isinstance(weights, str):
        found = _own_weights(distances, weights)
    elif weights == "uniform":
        return None
    elif weights == "distance":
        found = _inverse(distances)
    else:
        last = distances[:, -1] if next_distances is None else next_distances
        # Where all stand at distance 0, so do they relative to each other.
        relative = np.divide(distances, last[:, None], out=np.zeros(distances.shape), where=last[:, None] > 0)
        found = KERNELS[weights](relative)
    found[~found.any(axis=1)] = 1.0
    return found


def _inverse(distances: np.ndarray) -> np.ndarray:
    """One over each distance, times a power of two of the row's own, so that none is beyond float64."""
    at_zero = distances == 0.0
    nearest = np.where(at_zero, np.inf, distances).min(axis=1, initial=np.inf, keepdims=True)
    exponent = np.frexp(np.where(np.isinf(nearest), 1.0, nearest))[1] - 1
    with np.errstate(divide="ignore", over="ignore"):
        found = 1.0 / np.ldexp(distances, -exponent)
    has_zero = at_zero.any(axis=1)
    found[has_zero] = at_zero[has_zero]
    return found


def _own_weights(distances: np.ndarray, function: Callable[[np.ndarray], Any]) -> np.ndarray:
    """The weights of a user's function, checked, times a power of two that leaves the largest of a row near 1."""
    given = function(distances.copy())  # it may write to what it gets
    try:
        found = np.array(given, np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"weights(distances) returned {shown(given)}: return numbers of the same shape") from None
    if found.shape != distances.shape:
        raise ParameterError(
            f"weights(distances) returned an array of shape {found.shape} for distances of shape {distances.shape}: "
            "return one weight per distance"
        )
    wrong = np.argwhere(~(np.isfinite(found) & (found >= 0)))
    if len(wrong):
        row, at = wrong[0].tolist()
        raise ParameterError(
            f"weights(distances) returned {len(wrong)} weight(s) that are negative or not finite (the first is "
            f"{found[row, at]}, of distance {distances[row, at]}): return finite numbers >= 0"
        )
    return np.ldexp(found, -np.frexp(found.max(axis=1, keepdims=True))[1])


def shares(codes: np.ndarray, weights: np.ndarray | None, n_classes: int) -> np.ndarray:
    """The share of each class among the neighbours.

    Parameters
    ----------
    codes : int32[m, k]
        Classes of the neighbours.
    weights : float64[m, k] or None
        As ``weights_of`` gives them.
    n_classes : int >= 1

    Returns
    -------
    float64[m, n_classes]
        Rows sum to one.

    Examples
    --------
    >>> shares(np.array([[0, 2, 2, 0]], np.int32), None, 3).tolist()
    [[0.5, 0.0, 0.5]]
    """
    m, k = codes.shape
    places = codes + np.arange(m, dtype=np.int64)[:, None] * n_classes
    # bincount adds in the order of its items: the neighbours of a row from the nearest on.
    votes = np.bincount(places.ravel(), None if weights is None else weights.ravel(), m * n_classes)
    votes = votes.reshape(m, n_classes).astype(np.float64, copy=False)
    return votes / (k if weights is None else votes.sum(axis=1, keepdims=True))


def means(values: np.ndarray, rows: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """The weighted mean of the neighbours' numbers.

    Parameters
    ----------
    values : float64[n, n_outputs]
        Of all rows of the fit.
    rows : int64[m, k]
        Neighbours, positions in ``values``.
    weights : float64[m, k] or None
        As ``weights_of`` gives them.

    Returns
    -------
    float64[m, n_outputs]

    Examples
    --------
    >>> means(np.array([[1.0], [3.0], [8.0]]), np.array([[0, 1]]), np.array([[1.0, 3.0]])).tolist()
    [[2.5]]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        found = _plain_means(values, rows, weights)
    too_large = np.flatnonzero(~np.isfinite(found).all(axis=1))
    if len(too_large):  # the sum, not the mean
        parts = None if weights is None else weights[too_large]
        found[too_large] = _plain_means(values * _TINY, rows[too_large], parts) / _TINY
    return found


def _plain_means(values: np.ndarray, rows: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Sums over weights, neighbour by neighbour."""
    sums, total = np.zeros((len(rows), values.shape[1])), np.zeros((len(rows), 1))
    for at in range(rows.shape[1]):
        weight = 1.0 if weights is None else weights[:, at, None]
        sums += values[rows[:, at]] * weight
        total += weight
    return sums / total
