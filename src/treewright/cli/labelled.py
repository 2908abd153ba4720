"""Rows of a file with their truth, as a model takes them. In: a model, a file. Out: features, target, weights.

Callers: cli.audit, cli.prune, cli.learn.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from treewright.cli.delimited import ReadOptions
from treewright.cli.files import place
from treewright.cli.kinds_of_models import columns_of, target_type
from treewright.cli.matching import rows_for
from treewright.cli.targets import rows_with_target
from treewright.cli.terminal import UsageRefusal
from treewright.exceptions import DataError

if TYPE_CHECKING:
    from treewright.cli.kinds_of_models import AnyModel

__all__ = ["checked_weights", "labelled_rows", "target_name", "weighted_rows"]


def target_name(model: AnyModel, model_path: Path, target: str | None, what: str) -> str:
    """The column with the truth.

    Parameters
    ----------
    model : Model
    model_path : Path
        For messages.
    target : str or None
        What the user named; None takes the name the model was fitted with.
    what : str
        The command or option that asks.

    Raises
    ------
    UsageRefusal
        The model has several targets, or one without a name and none is given.
    """
    if model.n_targets != 1:
        raise UsageRefusal(f"{model_path} predicts {model.n_targets} targets at once; {what} takes one from a file")
    name = target or (model.target_names[0] if model.target_names else None)
    if name is None:
        raise UsageRefusal(f"{model_path} does not know the name of its target: give it with --target")
    if target is None and model.n_outputs > 1:  # of several quantiles: each output has its level behind the name
        return name.removesuffix(f" {name.rpartition(' ')[2]}")
    return name


def labelled_rows(
    model: AnyModel, data: Path, options: ReadOptions, name: str, *, skip: bool
) -> tuple[Any, np.ndarray]:
    """All rows of a file: the model's columns, and the target as it was at fit.

    Parameters
    ----------
    model : Model
    data : Path
    options : ReadOptions
    name : str
        The column with the truth.
    skip : bool
        Whether rows without a target are left out.

    Raises
    ------
    TreewrightError
        The table was refused, there are no rows, or a true value is missing.
    """
    features, truth, _, _ = _rows_and_kept(model, data, options, name, skip=skip)
    return features, truth


def weighted_rows(
    model: AnyModel, data: Path, options: ReadOptions, name: str, weight: str | None, *, skip: bool
) -> tuple[Any, np.ndarray, np.ndarray | None]:
    """As ``labelled_rows``, with a weight for each row.

    Parameters
    ----------
    weight : str or None
        The column with the weights.

    Returns
    -------
    features, target, float64[n] or None

    Raises
    ------
    TreewrightError
        As ``labelled_rows``, or a weight is missing, negative or infinite.
    UsageRefusal
        The weights are in a column that is used otherwise.
    """
    if weight is None:
        return *labelled_rows(model, data, options, name, skip=skip), None
    if weight == name or weight in map(str, columns_of(model).names):
        raise UsageRefusal(f"--weight {weight}: the model asks about this column, or it is the target: name another")
    features, truth, kept, lines = _rows_and_kept(model, data, options, name, skip=skip)
    # The file is read once more: its reader hands out one column beside those of the model.
    parts = [rows.target for rows in rows_for(model, data, options, (weight, "number")) if rows.target is not None]
    weights = pl.concat(parts).alias(weight)
    if kept is not None:
        weights = weights.filter(kept)
        lines = None if lines is None else lines[kept.to_numpy()]
    return features, truth, checked_weights(data, weights, lambda row: place(lines, row))


def checked_weights(path: Path, weights: pl.Series, place: Callable[[int], str]) -> np.ndarray:
    """Weights as float64[n].

    Parameters
    ----------
    path : Path
        The file, for messages.
    weights : polars.Series
        Its name is that of the column.
    place : callable
        Tells where a row stands, such as ``line 7``.

    Raises
    ------
    DataError
        They are no numbers, or one is missing, negative or infinite.
    """
    if not weights.dtype.is_numeric():
        raise DataError(f"{path}: weight column {weights.name!r} holds {weights.dtype}, not numbers")
    wrong = ~(weights.cast(pl.Float64).is_finite() & (weights >= 0)).fill_null(value=False)
    if wrong.any():
        first = int(wrong.arg_max() or 0)
        raise DataError(
            f"{path}: weight column {weights.name!r} is missing, negative or infinite in {int(wrong.sum())} rows "
            f"(first: {place(first)}): weights are numbers >= 0"
        )
    return weights.cast(pl.Float64).to_numpy()


def _rows_and_kept(
    model: AnyModel, data: Path, options: ReadOptions, name: str, *, skip: bool
) -> tuple[Any, np.ndarray, pl.Series | None, np.ndarray | None]:
    """Features and target of the rows that are kept, which those are (None: all), and the lines of all rows."""
    parts, targets, lines_of_parts = [], [], []
    for rows in rows_for(model, data, options, (name, target_type(model))):
        if rows.n_rows and rows.target is not None:
            parts.append(rows.features)
            targets.append(rows.target)
            lines_of_parts += [] if rows.lines is None else [rows.lines]
    if not parts:
        raise DataError(f"{data}: there are no rows")
    features, truth = _joined(parts), pl.concat(targets).alias(name)
    lines = np.concatenate(lines_of_parts) if lines_of_parts else None
    kept = rows_with_target(data, truth, lambda row: place(lines, row), skip=skip)
    if kept is not None:
        features, truth = _filtered(features, kept), truth.filter(kept)
    if model.task == "classification" and model.classes[0].dtype.kind in "iu":
        # Numbers of a file are floats; a label 1.5 stays one, and is refused as no class of the model.
        whole = truth.cast(pl.Int64, strict=False)
        truth = whole if (whole.cast(pl.Float64) == truth).all() else truth
    return features, truth.to_numpy(), kept, lines


def _joined(parts: list[Any]) -> Any:
    """Blocks of features as one table, in the form that they came in."""
    first = parts[0]
    if isinstance(first, pl.DataFrame):
        return pl.concat(parts)
    if isinstance(first, dict):
        return {name: pl.concat([part[name] for part in parts]) for name in first}
    return np.concatenate(parts)


def _filtered(features: Any, kept: pl.Series) -> Any:
    """The rows to keep, in the form that the features have."""
    if isinstance(features, pl.DataFrame):
        return features.filter(kept)
    if isinstance(features, dict):
        return {name: cells.filter(kept) for name, cells in features.items()}
    return features[kept.to_numpy()]
