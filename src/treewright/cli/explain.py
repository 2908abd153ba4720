"""``treewright explain``. In: a model and rows. Out: what each column contributes, as text, CSV, Parquet or a page.

Rows are read, explained and written a block at a time; Parquet is written at the end, when all rows are there.
Without a file, the text shows one row (``--row``), or the mean size of the contributions. By default, texts that a
spreadsheet would run as a formula get an apostrophe in front.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from treewright.cli.models import load_model, of_trees, refuse_isolation
from treewright.cli.options import ExplainRequest
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
from treewright.trees.writing import written_level, written_name

if TYPE_CHECKING:
    from treewright.model import Model

__all__ = ["run_explain"]

ENDINGS = (".csv", ".parquet", ".html", ".htm")


def run_explain(request: ExplainRequest) -> None:
    """Explain the rows of a file, as text, or by the ending of ``--out`` as CSV, as Parquet or as a page."""
    out, read = request.out, request.reading.options
    _check(request)
    check_output(out, request.force)
    if out is not None and not is_standard(out) and out.suffix.lower() not in ENDINGS:
        raise UsageRefusal(f"--out {printable(out)}: name a file that ends in {', '.join(ENDINGS)}")
    model = of_trees(load_model(request.model), request.model, "explain")
    refuse_isolation(model, request.model, "it has no predictions to explain")
    background = None
    if request.background is not None:
        with refusals(request.background):
            background = pl.concat([rows.features for rows in rows_for(model, request.background, read)])
            if not background.height:
                raise UsageRefusal(f"--background {printable(request.background)}: it has no rows")
    if out is None:
        with progress():
            text = str(_whole(model, request, background))
        say(printable_lines(text))
        return
    if out.suffix.lower() in (".html", ".htm"):
        with progress(), open_output(out, request.force) as file:
            found = _whole(model, request, background)
            file.write(found.html.encode("utf-8", "backslashreplace"))
        note(wrote(out, "contributions"))
        return
    is_parquet, tables = out.suffix.lower() == ".parquet", []
    unseen = UnseenLevels()
    with progress(), open_output(out, request.force) as file, unseen_levels_counted(unseen):
        begin, is_first = 0, True
        for rows in rows_for(model, request.data, read):
            found = _explained(model, rows.features, begin, request, background)
            begin += rows.features.height
            table = _lines(found, guard=request.guard and not is_parquet)
            if is_parquet:
                tables.append(table)
                continue
            file.write(table.write_csv(include_header=is_first).encode("utf-8", "backslashreplace"))
            is_first = False
        _refuse_no_such_row(request, begin)
        if is_parquet:
            pl.concat(tables).write_parquet(file)
    unseen.warn()
    if not is_standard(out):
        note(wrote(out, "contributions"))


def _check(request: ExplainRequest) -> None:
    """Refuse options that do not go together, before any file is read."""
    if request.kind == "steps" and request.order == 2:
        raise UsageRefusal("--order 2: --kind steps has no pairs: leave one of them out")
    if (request.background is None) == (request.kind == "interventional"):
        raise UsageRefusal(
            "--kind interventional needs --background FILE, a table of some hundred background rows"
            if request.background is None
            else f"--background is for --kind interventional, not for {request.kind.value}: leave it out"
        )


def _explained(model: Model, features: Any, begin: int, request: ExplainRequest, background: Any) -> Explanation:
    """The explanation of a block, or of the one row that ``request`` names."""
    if request.row is not None:
        at = request.row - begin
        features, begin = features[at : at + 1] if 0 <= at < features.height else features[:0], request.row
    found = model.explain(features, kind=request.kind.value, order=request.order, background=background)
    return replace(found, positions=found.positions + begin)


def _whole(model: Model, request: ExplainRequest, background: Any) -> Explanation:
    """The explanation of all rows, or of the one row that ``request`` names."""
    begin, parts = 0, []
    for rows in rows_for(model, request.data, request.reading.options):
        parts.append(_explained(model, rows.features, begin, request, background))
        begin += rows.features.height
        if request.row is not None and begin > request.row:
            break
    _refuse_no_such_row(request, begin)
    return joined(parts)


def _refuse_no_such_row(request: ExplainRequest, n_rows: int) -> None:
    if request.row is not None and request.row >= n_rows:
        raise UsageRefusal(f"--row {request.row}: the table has {n_rows} rows, counted from 0")


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
