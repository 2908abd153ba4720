"""``treewright explain``. In: a model and rows. Out: what each column contributes, as text, CSV, Parquet or a page.

Rows are read, explained and written a block at a time; Parquet is written at the end, when all rows are there.
Without a file, the text shows one row (``--row``), or the mean size of the contributions. By default, texts that a
spreadsheet would run as a formula get an apostrophe in front.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from treewright.cli.models import load_model, of_trees, refuse_isolation
from treewright.cli.streams import is_standard
from treewright.cli.terminal import (
    UsageRefusal,
    check_output,
    guarded_labels,
    note,
    open_output,
    printable,
    printable_lines,
    progress,
    refusals,
    say,
    wrote,
)
from treewright.data.encoder import UnseenLevels, unseen_levels_counted
from treewright.data.schema import unlike
from treewright.explain.explanation import Explanation, joined
from treewright.files.matching import rows_for
from treewright.files.text import ReadOptions
from treewright.trees.writing import written_level, written_name

if TYPE_CHECKING:
    from treewright.model import Model

__all__ = ["Question", "run_explain"]

ENDINGS = (".csv", ".parquet", ".html", ".htm")


@dataclass(frozen=True)
class Question:
    """The options of an explanation.

    Attributes
    ----------
    kind : {"path", "interventional", "steps"}
    order : {1, 2}
    background : Path or None
        A table of background rows; for "interventional".
    row : int or None
        The only row that is explained, counted from 0.
    """

    kind: str = "path"
    order: int = 1
    background: Path | None = None
    row: int | None = None


def run_explain(
    model_path: Path,
    data: Path,
    options: ReadOptions,
    out: Path | None,
    *,
    question: Question,
    force: bool,
    guard: bool,
) -> None:
    """Explain the rows of a file.

    Parameters
    ----------
    model_path, data : Path
    options : ReadOptions
    out : Path or None
        A CSV file, or by its ending a Parquet file or a page (``.html``); None prints text.
    question : Question
    force : bool
        Whether ``out`` may be replaced.
    guard : bool
        Whether texts that look like formulas get an apostrophe.
    """
    _check(question)
    check_output(out, force)
    if out is not None and not is_standard(out) and out.suffix.lower() not in ENDINGS:
        raise UsageRefusal(f"--out {printable(out)}: name a file that ends in {', '.join(ENDINGS)}")
    model = of_trees(load_model(model_path), model_path, "explain")
    refuse_isolation(model, model_path, "it has no predictions to explain")
    background = None
    if question.background is not None:
        with refusals(question.background):
            background = pl.concat([rows.features for rows in rows_for(model, question.background, options)])
            if not background.height:
                raise UsageRefusal(f"--background {printable(question.background)}: it has no rows")
    if out is None:
        with progress():
            text = str(_whole(model, data, options, question, background))
        say(printable_lines(text))
        return
    if out.suffix.lower() in (".html", ".htm"):
        with progress(), open_output(out, force) as file:
            found = _whole(model, data, options, question, background)
            file.write(found.html.encode("utf-8", "backslashreplace"))
        note(wrote(out, "contributions"))
        return
    is_parquet, tables = out.suffix.lower() == ".parquet", []
    unseen = UnseenLevels()
    with progress(), open_output(out, force) as file, unseen_levels_counted(unseen):
        begin, is_first = 0, True
        for rows in rows_for(model, data, options):
            found = _explained(model, rows.features, begin, question, background)
            begin += rows.features.height
            table = _lines(found, guard=guard and not is_parquet)
            if is_parquet:
                tables.append(table)
                continue
            file.write(table.write_csv(include_header=is_first).encode("utf-8", "backslashreplace"))
            is_first = False
        _refuse_no_such_row(question, begin)
        if is_parquet:
            pl.concat(tables).write_parquet(file)
    unseen.warn()
    if not is_standard(out):
        note(wrote(out, "contributions"))


def _check(question: Question) -> None:
    """Refuse options that do not go together, before any file is read."""
    if question.kind == "steps" and question.order == 2:
        raise UsageRefusal("--order 2: --kind steps has no pairs: leave one of them out")
    if (question.background is None) == (question.kind == "interventional"):
        raise UsageRefusal(
            "--kind interventional needs --background FILE, a table of some hundred background rows"
            if question.background is None
            else f"--background is for --kind interventional, not for {question.kind}: leave it out"
        )


def _explained(model: Model, features: Any, begin: int, question: Question, background: Any) -> Explanation:
    """The explanation of a block, or of the one row that ``question`` names."""
    if question.row is not None:
        at = question.row - begin
        features, begin = features[at : at + 1] if 0 <= at < features.height else features[:0], question.row
    found = model.explain(features, kind=question.kind, order=question.order, background=background)
    return replace(found, positions=found.positions + begin)


def _whole(model: Model, data: Path, options: ReadOptions, question: Question, background: Any) -> Explanation:
    """The explanation of all rows, or of the one row that ``question`` names."""
    begin, parts = 0, []
    for rows in rows_for(model, data, options):
        parts.append(_explained(model, rows.features, begin, question, background))
        begin += rows.features.height
        if question.row is not None and begin > question.row:
            break
    _refuse_no_such_row(question, begin)
    return joined(parts)


def _refuse_no_such_row(question: Question, n_rows: int) -> None:
    if question.row is not None and question.row >= n_rows:
        raise UsageRefusal(f"--row {question.row}: the table has {n_rows} rows, counted from 0")


def _lines(found: Explanation, *, guard: bool) -> pl.DataFrame:
    """A line for each row and output: the prediction, the base, and what each column or pair contributes."""
    k, n = len(found.outputs), len(found)
    values = (found.values if k > 1 else found.values[..., None]) + 0.0  # no -0.0
    names = [written_name(name) for name in found.columns]
    names = guarded_labels(names) if guard else names
    series = [pl.Series("row", np.repeat(found.positions, k))]
    if k > 1:
        outputs = [written_level(each) for each in found.outputs]
        series.append(pl.Series("output", (guarded_labels(outputs) if guard else outputs) * n, dtype=pl.String))
    totals = found.totals.reshape(n, k) + 0.0
    series += [pl.Series("total", totals.ravel()), pl.Series("base", np.tile(np.reshape(found.base, k), n))]
    for at, name in enumerate(names):
        if found.order == 1:
            series.append(pl.Series(f"{name} (contribution)", values[:, at].ravel()))
            continue
        for other in range(at, len(names)):
            both = values[:, at, other] * (1.0 if other == at else 2.0)
            title = f"{name} (alone)" if other == at else f"{name} with {names[other]}"
            series.append(pl.Series(title, both.ravel()))
    return pl.DataFrame([each.alias(name) for each, name in zip(series, unlike(s.name for s in series), strict=True)])
