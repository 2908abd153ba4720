"""Where the columns of a fit lie and how far they spread. In: encoded rows. Out: centers and scales.

Callers: neighbors.metrics_by_name, neighbors.metrics, neighbors.covariance.

Everything is worked out of columns divided by a power of two, so that neither 1e300 nor 1e-300 leaves float64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from treewright.data.cells import shown
from treewright.data.matching import did_you_mean
from treewright.exceptions import DataError, ParameterError

_LEAST = float(np.finfo(np.float64).tiny)
LARGEST = float(np.finfo(np.float64).max)


def _standard(cells: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation (of a population)."""
    mean = cells.mean()
    mean += (cells - mean).mean()  # what rounding left
    return mean, cells.std()


def _range(cells: np.ndarray) -> tuple[float, float]:
    """Least cell, and range."""
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

    Parameters
    ----------
    name : {"standard", "range", "robust"}
        Mean and standard deviation; least cell and range; median and interquartile range.
    matrix : float[n, p], finite
        n >= 1.

    Returns
    -------
    center : float64[p]
    scales : float64[p] > 0
        One over the spread. 1 for a column whose spread is 0 or below 2.2e-308.

    Raises
    ------
    ParameterError
        There is no scaling of this name.

    Examples
    --------
    >>> center_and_scales("range", np.array([[1.0, 7.0], [5.0, 7.0]]))
    (array([1., 7.]), array([0.25, 1.  ]))
    """
    if name not in _BY_NAME:
        raise ParameterError(
            f"scale={shown(name)}: give None, one of {', '.join(map(repr, _BY_NAME))}, or one number per column"
            f"{did_you_mean(name, _BY_NAME)}"
        )
    center, scales = np.empty(matrix.shape[1]), np.ones(matrix.shape[1])
    for at in range(matrix.shape[1]):
        cells = matrix[:, at].astype(np.float64)
        if (cells == cells[0]).all():
            center[at] = cells[0]
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
    """Numbers of the caller, one per column.

    Parameters
    ----------
    given : sequence of p numbers >= 0, not all 0
    matrix : float[n, p], finite
    name : str
        What messages call them.

    Returns
    -------
    float64[p]

    Raises
    ------
    ParameterError
        They are no such numbers, or not one per column.
    """
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
        raise ParameterError(f"{name} is 0 for every column: nothing would be left to compare")
    return numbers


def scaled(points: np.ndarray, center: np.ndarray | None, scales: np.ndarray | None) -> np.ndarray:
    """``(points - center) * scales``; what is beyond float64 is held at its largest number.

    Parameters
    ----------
    points : float64[n, p], finite
    center, scales : float64[p] or None

    Returns
    -------
    float64[n, p], finite
    """
    with np.errstate(over="ignore", invalid="ignore"):
        result = points.copy() if center is None else points - center
        if scales is not None:
            result *= scales
        if not np.isfinite(result.sum()):
            # The difference may be beyond float64 where the scaled one is not: once more by halves.
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
    """Refuse rows of a fit that scales carry beyond float64.

    Raises
    ------
    DataError
        Names the first such column and its first row.
    """
    for at in range(matrix.shape[1]):
        half = matrix[:, at].astype(np.float64) * 0.5 - (0.0 if center is None else center[at] * 0.5)
        with np.errstate(over="ignore"):
            beyond = ~np.isfinite(half * scales[at] * 2.0)
        if beyond.any():
            raise DataError(
                f"{label(at)} times its scale {scales[at].item()!r} is beyond float64 in {int(beyond.sum())} row(s) "
                f"(first row {int(beyond.argmax())}): give a smaller scale"
            )
