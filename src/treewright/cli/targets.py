"""Targets that cannot be used. In: a target column. Out: which rows have one, or a refusal with its place.

Callers: cli.learn, cli.labelled.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from treewright.cli.terminal import note
from treewright.exceptions import DataError

__all__ = ["check_target", "rows_with_target"]


def rows_with_target(path: Path, target: pl.Series, place: Callable[[int], str], *, skip: bool) -> pl.Series | None:
    """Which rows have a target; rows without one are refused unless the user said to skip them.

    Parameters
    ----------
    path : Path
        The file, for messages.
    target : polars.Series
        Null or nan where missing; its name is that of the column.
    place : callable
        Tells where a row stands, such as ``line 7``.
    skip : bool
        Whether rows without a target are left out, with a note.

    Returns
    -------
    polars.Series of booleans, or None
        None where every row has a target.

    Raises
    ------
    DataError
        Rows lack a target and ``skip`` is False, or no row has one.
    """
    missing = target.is_null()
    if target.dtype.is_float():
        missing = missing | target.is_nan().fill_null(value=False)
    if not missing.any():
        return None
    count, first = int(missing.sum()), int(missing.arg_max() or 0)
    if not skip or count == len(target):
        raise DataError(
            f"{path}: target {target.name!r} is missing in {count} of {len(target)} rows "
            f"(first: {place(first)}): remove those rows, or leave them out with --skip-missing-target"
        )
    note(f"{count} of {len(target)} rows have no target and are left out")
    return ~missing


def check_target(
    estimator: Any, path: Path, target: pl.Series, weights: np.ndarray | None, place: Callable[[int], str]
) -> None:
    """Refuse a target that an estimator cannot learn, before any row is held out.

    Parameters
    ----------
    estimator : estimator
        Not fitted.
    path : Path
        The file, for messages.
    target : polars.Series
        All rows; its name is that of the column.
    weights : float64[n] or None
    place : callable
        Tells where a row stands, such as ``line 7``.

    Raises
    ------
    DataError
        Values outside the domain of the loss or criterion; it names the column and where the first of them stands.
    """
    try:
        estimator._check_target(target, weights)
    except DataError as error:
        text = re.sub(r"\bfirst row (\d+)", lambda found: f"first: {place(int(found[1]))}", str(error))
        text = re.sub(r"\by\b", "the target", text).removeprefix("the target")
        raise DataError(f"{path}: target {target.name!r}{text}") from None
