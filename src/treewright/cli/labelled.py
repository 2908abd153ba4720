"""Rows of a file with their truth, as a model takes them. In: a model, a file. Out: features and target.

Callers: cli.audit, cli.prune.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from treewright.cli.delimited import ReadOptions
from treewright.cli.evaluate import target_type
from treewright.cli.matching import rows_for
from treewright.cli.targets import rows_with_target
from treewright.cli.terminal import UsageRefusal
from treewright.exceptions import DataError

if TYPE_CHECKING:
    from treewright.model import Model

__all__ = ["labelled_rows", "target_name"]


def target_name(model: Model, model_path: Path, target: str | None, what: str) -> str:
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
    if model.n_outputs != 1:
        raise UsageRefusal(f"{model_path} predicts {model.n_outputs} targets at once; {what} takes one from a file")
    name = target or (model.target_names[0] if model.target_names else None)
    if name is None:
        raise UsageRefusal(f"{model_path} does not know the name of its target: give it with --target")
    return name


def labelled_rows(model: Model, data: Path, options: ReadOptions, name: str, *, skip: bool) -> tuple[Any, np.ndarray]:
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
    parts, targets = [], []
    for rows in rows_for(model, data, options, (name, target_type(model))):
        if rows.n_rows and rows.target is not None:
            parts.append(rows.features)
            targets.append(rows.target)
    if not parts:
        raise DataError(f"{data}: there are no rows")
    features, truth = _joined(parts), pl.concat(targets).alias(name)
    kept = rows_with_target(data, truth, lambda row: f"row {row}", skip=skip)
    if kept is not None:
        features, truth = _filtered(features, kept), truth.filter(kept)
    if model.task == "classification" and model.classes[0].dtype.kind in "iu":
        # Numbers of a file are floats; a label 1.5 stays one, and is refused as no class of the model.
        whole = truth.cast(pl.Int64, strict=False)
        truth = whole if (whole.cast(pl.Float64) == truth).all() else truth
    return features, truth.to_numpy()


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
