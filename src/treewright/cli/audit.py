"""``treewright show --audit``. In: a model, the rows of a file. Out: a node's audit as text. Callers: cli.app."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from treewright.cli.delimited import ReadOptions
from treewright.cli.evaluate import target_type
from treewright.cli.matching import rows_for
from treewright.cli.outputs import check_output, write_text
from treewright.cli.targets import rows_with_target
from treewright.cli.terminal import UsageRefusal, note, progress
from treewright.exceptions import DataError

if TYPE_CHECKING:
    from treewright.model import Model

__all__ = ["run_audit"]


def run_audit(
    model_path: Path,
    data: Path | None,
    options: ReadOptions,
    *,
    node: int = 0,
    every: str | None = None,
    target: str | None = None,
    skip_missing_target: bool = False,
    out: Path | None = None,
    force: bool = False,
) -> None:
    """Show what a node could have asked, for the rows of a file that reach it.

    Parameters
    ----------
    model_path : Path
    data : Path or None
        The rows; a model file holds none.
    options : ReadOptions
    node : int
    every : str or None
        The column whose cuts or divisions are listed.
    target : str or None
        The column with the truth; None takes the name the model was fitted with.
    skip_missing_target : bool
        Leave out rows without a target instead of refusing them.
    out : Path or None
        None writes to the standard output.
    force : bool
        Whether ``out`` may be replaced.

    Raises
    ------
    TreewrightError
        The model, the table or the output was refused; there is no such node or column; a true value is missing.
    UsageRefusal
        No data, several targets, or a target without a name.
    """
    if data is None:
        raise UsageRefusal(
            "--audit needs rows, and a model file holds none: give those it was fitted on with --data FILE"
        )
    import treewright

    check_output(out, force)
    model = treewright.load(model_path)
    if model.n_outputs != 1:
        raise UsageRefusal(f"{model_path} predicts {model.n_outputs} targets at once; --audit takes one from a file")
    name = target or (model.target_names[0] if model.target_names else None)
    if name is None:
        raise UsageRefusal(f"{model_path} does not know the name of its target: give it with --target")
    with progress():
        features, truth = _read(model, data, options, name, skip=skip_missing_target)
        audit = model.audit(features, truth, node=node, every=_column(model, every))
    write_text(out, str(audit), force)
    if audit.n_samples != audit.n_fitted:
        note("these are not the rows that the tree was grown on; fit with --test-size 0 to audit the rows of the file")


def _column(model: Model, every: str | None) -> Any:
    """The column that was typed: a name that is no text is found by how it is written."""
    if every is None:
        return None
    return next((name for name in model.schema.names if str(name) == every), every)


def _read(model: Model, data: Path, options: ReadOptions, name: str, *, skip: bool) -> tuple[Any, np.ndarray]:
    """All rows of a file: the model's columns, and the target as it was at fit."""
    parts, targets = [], []
    for rows in rows_for(model, data, options, (name, target_type(model))):
        if rows.n_rows and rows.target is not None:
            parts.append(rows.features)
            targets.append(rows.target)
    if not parts:
        raise DataError(f"{data}: there are no rows to audit")
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
