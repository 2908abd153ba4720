"""``treewright predict``. In: a model and rows. Out: predictions as CSV, or as Parquet.

Rows are read, predicted and written a block at a time; those of a folder of files one file after another into one CSV,
or each into a Parquet file of its own (``files.predictions``). In CSV, texts that a spreadsheet would run as a formula
get an apostrophe in front by default; numbers never do.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from treewright.cli.models import load_model, of_trees, refuse_isolation
from treewright.cli.options import PredictRequest
from treewright.cli.streams import is_standard
from treewright.cli.terminal import (
    UsageRefusal,
    check_output,
    guarded_labels,
    left_by_ctrl_c,
    note,
    open_output,
    printable,
    progress,
    wrote,
)
from treewright.data.encoder import UnseenLevels, unseen_levels_counted
from treewright.files.matching import rows_for
from treewright.files.predictions import answers as prediction_columns
from treewright.files.predictions import predict_files, quantile_name
from treewright.files.sources import is_several
from treewright.trees.summary import counted

if TYPE_CHECKING:
    from treewright.model import Model

__all__ = ["run_predict"]

_TEXT = (".csv", ".txt", ".tsv")  # a file of such a name takes the predictions of all files as CSV


def run_predict(request: PredictRequest) -> None:
    """Predict every row of a file."""
    model_path, data, out, keep = request.model, request.data, request.out, tuple(dict.fromkeys(request.keep))
    quantiles = _named_quantiles(request)
    to_folder = out is not None and is_several(data) and not is_standard(out) and out.suffix not in _TEXT
    to_parquet = to_folder or (out is not None and out.suffix == ".parquet")
    if not to_folder:
        check_output(out, request.force)
    model = load_model(model_path)
    if request.proba:
        refuse_isolation(model, model_path, "it has no class probabilities")
        if model.task != "classification":
            raise UsageRefusal(f"--proba: {model_path} predicts numbers, which have no class probabilities")
    if quantiles:
        option = "--quantiles" if request.quantiles else "--interval"
        _check_quantiles(of_trees(model, model_path, option), model_path, option)
    if to_parquet and out is not None:
        with progress(), left_by_ctrl_c(partial(_complete, out)):
            predict_files(
                model, data, out, proba=request.proba, quantiles=quantiles, keep=keep, force=request.force,
                reading=request.reading.options,
            )  # fmt: skip
        note(wrote(out, "predictions"))
        return
    unseen = UnseenLevels()
    with progress(), open_output(out, request.force) as file, unseen_levels_counted(unseen):
        is_first = True
        for rows in rows_for(model, data, request.reading.options, beside=keep):
            found = prediction_columns(model, rows.features, proba=request.proba, quantiles=quantiles)
            found = [_guarded(series) if request.guard and series.dtype == pl.String else series for series in found]
            kept = [] if rows.beside is None else _kept(rows.beside, found, request.guard)
            table = pl.DataFrame([*kept, *found])
            file.write(table.write_csv(include_header=is_first).encode("utf-8", "backslashreplace"))
            is_first = False
    unseen.warn()
    if out is not None and not is_standard(out):
        note(wrote(out, "predictions"))


def _complete(out: Path) -> str:
    """The files of predictions that a stopped run leaves, in words; empty if it leaves none."""
    n = len(list(out.rglob("*.parquet"))) if out.is_dir() else 0
    return f"{printable(out)} has {counted(n, 'complete file')}: the same command goes on" if n else ""


def _named_quantiles(request: PredictRequest) -> dict[str, float]:
    """The quantiles to write, by the names of their columns."""
    from treewright.exceptions import ParameterError
    from treewright.forest.quantiles import checked_quantiles, ends_of_level

    named: dict[str, float] = {}
    for word in (part.strip() for given in request.quantiles for part in given.split(",")):
        try:
            (quantile,) = checked_quantiles(float(word))
        except (ValueError, ParameterError):
            raise UsageRefusal(
                f"--quantiles {word!r}: give numbers from 0 to 1 with commas between them, such as 0.1,0.5,0.9"
            ) from None
        if quantile in named.values():
            raise UsageRefusal(f"--quantiles {word}: given twice")
        named[quantile_name(quantile)] = quantile
    if request.interval is not None:
        try:
            level = float(request.interval)
            low, high = ends_of_level(level)
        except (ValueError, ParameterError):
            raise UsageRefusal(
                f"--interval {request.interval!r}: give one number between 0 and 1, such as 0.9"
            ) from None
        named |= {f"interval_{level}_low": low, f"interval_{level}_high": high}
    return named


def _check_quantiles(model: Model, path: Path, option: str) -> None:
    """Refuse quantiles for a model that does not hold the targets of its leaves."""
    refuse_isolation(model, path, f"{option} needs one")
    if model.task != "regression":
        raise UsageRefusal(f"{option}: {path} predicts classes, which have no quantiles; --proba gives probabilities")
    if model.leaf_targets is None:
        raise UsageRefusal(
            f"{option}: {path} does not hold the targets of its leaves: fit it again with --algorithm forest or "
            "extra-trees and --set quantiles=true, or with --algorithm boosting and --set loss=quantile --set "
            "'quantile=[0.05, 0.95]', which predicts these without this option"
        )


def _kept(beside: pl.DataFrame, found: list[pl.Series], guard: bool) -> list[pl.Series]:
    """Columns of the table, unchanged; texts that are not numbers get an apostrophe as the predictions do."""
    clash = sorted({*beside.columns} & {series.name for series in found})
    if clash:
        raise UsageRefusal(f"--keep {clash[0]!r}: the predictions have a column of this name: rename it in the table")
    nested = [series.name for series in beside if series.dtype.is_nested()]
    if nested:
        raise UsageRefusal(f"--keep {nested[0]!r}: the column holds lists or records, which CSV cannot: leave it out")
    return [_guarded(series, numbers_too=False) if guard and series.dtype == pl.String else series for series in beside]


def _guarded(series: pl.Series, *, numbers_too: bool = True) -> pl.Series:
    """Texts made safe for spreadsheets; each distinct label is checked once."""
    texts = series.unique().drop_nulls()
    if not numbers_too:  # cells of a text file are texts even if they are numbers: -5 is not a formula
        texts = texts.filter(texts.cast(pl.Float64, strict=False).is_null())
    different = texts.to_list()
    changed = {old: new for old, new in zip(different, guarded_labels(different), strict=True) if old != new}
    return series.replace(changed) if changed else series
