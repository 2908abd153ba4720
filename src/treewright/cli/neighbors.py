"""Fits of nearest neighbours at the terminal. In: requests. Out: words, or a refusal. Callers: cli.learn, cli.fit."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

import polars as pl

from treewright.cli.algorithms import NEIGHBORS
from treewright.cli.terminal import UsageRefusal, printable
from treewright.exceptions import DataError, ParameterError

if TYPE_CHECKING:
    from treewright.cli.learn import FitRequest

__all__ = ["check_neighbors", "check_rows", "written_in_words"]


def check_neighbors(request: FitRequest) -> None:
    """Refuse options that nearest neighbours have no use for.

    Raises
    ------
    UsageRefusal
    """
    why = f"and --algorithm {NEIGHBORS} grows no tree"
    if request.prune is not None:
        raise UsageRefusal(f"{request.prune.named} cuts a tree back, {why}: choose --set n_neighbors=N instead")
    if request.trace:
        raise UsageRefusal(f"--trace tells how a tree grew, {why}: leave it out")
    if request.svg is not None:
        raise UsageRefusal(f"--svg draws a tree, {why}: leave it out")
    if request.weight is not None:
        raise UsageRefusal(
            f"--weight {printable(request.weight)}: --algorithm {NEIGHBORS} counts every row alike; leave it out, with "
            f"--drop {printable(request.weight)} if the column is not to be looked at"
        )


def check_rows(
    estimator: Any, path: Path, features: pl.DataFrame, target: pl.Series, place: Callable[[int], str]
) -> None:
    """Refuse a table that the metric does not take, before any row is held out: storing the rows shows it.

    Parameters
    ----------
    estimator : estimator
        Not fitted.
    path : Path
        The file, for messages.
    features, target
        All rows.
    place : callable
        Tells where a row stands, such as ``line 7``.

    Raises
    ------
    DataError
        It names the column, and where the first of the cells stands.
    """
    with catch_warnings(), suppress(ParameterError):  # the fit itself tells them
        simplefilter("ignore")
        try:
            estimator.fit(features, target)
        except DataError as error:
            told = re.sub(r"\bfirst row (\d+)", lambda found: f"first: {place(int(found[1]))}", str(error))
            if told == str(error):
                raise
            raise type(error)(f"{path}: {told}") from None


def written_in_words(path: Path, n_rows: int) -> str:
    """What is said of a model file that holds rows: how large they make it.

    Parameters
    ----------
    path : Path
        A file that was written.
    n_rows : int
        How many rows it holds.
    """
    return f"model, {path.stat().st_size:,} bytes: it holds the {n_rows:,} rows of the fit"
