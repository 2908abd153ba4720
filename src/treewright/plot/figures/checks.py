"""Refuse numbers that no figure can show. In: what the caller gave. Out: float64 arrays. Callers: ``plot.figures``."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.exceptions import DataError, ParameterError


def numbers(
    name: str, given: Any, n: int | None = None, *, like: str = "", missing: bool = False, positive: bool = False
) -> npt.NDArray[np.float64]:
    """Return one series as numbers.

    Parameters
    ----------
    name : str
        Of the parameter.
    given : array-like of k numbers
    n : int, optional
        How many there have to be: as many as ``like`` has.
    like : str
    missing : bool
        Whether nan may stand for a number that is not known.
    positive : bool
        Whether all have to be > 0.

    Raises
    ------
    DataError
        No numbers, none at all, not one-dimensional, of another length, not finite, or not positive.
    """
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must be numbers: {error}") from error
    if values.ndim != 1:
        raise DataError(f"{name} must be one-dimensional, not of shape {values.shape}")
    if n is not None and len(values) != n:
        raise DataError(f"{name} has {len(values)} values and {like} has {n}: give one for each")
    if not len(values):
        raise DataError(f"{name} is empty: there is nothing to draw")
    bad = np.isinf(values) if missing else ~np.isfinite(values)
    if bad.any():
        at = int(bad.argmax())
        raise DataError(f"{name} has {int(bad.sum())} values that are not finite (first at {at}: {values[at]})")
    if positive and (values <= 0).any():
        at = int((values <= 0).argmax())
        raise DataError(f"{name} must be above 0 (at {at}: {values[at]:g}): it stands on a logarithmic axis")
    return values


def spread(name: str, given: Any, n: int, like: str) -> npt.NDArray[np.float64] | None:
    """Return standard errors; None where they were not given or none is known.

    Raises
    ------
    DataError
        As ``numbers``, or one is below 0.
    """
    if given is None:
        return None
    values = numbers(name, given, n, like=like, missing=True)
    if (values < 0).any():
        at = int((values < 0).argmax())
        raise DataError(f"{name} has a value below 0 (at {at}: {values[at]:g}): standard errors are >= 0")
    return None if np.isnan(values).all() else values


def whole(name: str, given: Any, low: int, high: int) -> int:
    """Return a whole number in a range.

    Raises
    ------
    ParameterError
        It is not.
    """
    is_whole = isinstance(given, Integral) and not isinstance(given, bool)
    if not is_whole or not low <= int(given) <= high:
        raise ParameterError(f"{name}={given!r}: give a whole number from {low} to {high}")
    return int(given)
