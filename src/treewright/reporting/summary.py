"""The whole summary of a report. In: a fitted model, rows, options. Out: ``Summary``. Caller: reporting.document."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.exceptions import ParameterError
from treewright.model import Model
from treewright.page.parts import ColumnWords, Fact, Summary
from treewright.page.tree_part import tree_part
from treewright.reporting.judged import Judged, judged_rows
from treewright.reporting.options import Options
from treewright.reporting.tree_judged import tree_with_judges
from treewright.tree.summary import counted, summarize
from treewright.tree.words import shorten, written_level, written_name
from treewright.version import __version__

SEEN = "These are the rows of the fit: errors on them flatter the model."
PERHAPS = "The fit saw as many rows as these. If they are the same, errors on them flatter the model."


def summary_of(fitted: Any, X: Any, y: Any, sample_weight: Any, title: str | None, options: Options) -> Summary:
    """Work out every section."""
    model, estimator = model_of(fitted)
    judged = judged_rows(model, estimator, X, y, sample_weight)
    first = summarize(model, 0)
    target = ", ".join(output.name for output in first.outputs if output.name)
    single = model.combine == "single"
    return Summary(
        title=title if title is not None else f"What decides {target}" if target else "A report",
        subtitle=first.headline() if single else repr(model).strip("<>"),
        task=model.task,
        target=target,
        facts=facts_of(judged),
        notes=notes_of(judged),
        columns=columns_in_words(judged),
        text=model.show(),
        tree=tree_with_judges(tree_part(model, title="The tree"), judged) if single else None,
        version=__version__,
    )


def model_of(fitted: Any) -> tuple[Model, Any]:
    """The model, and the estimator where one was given.

    Raises
    ------
    ParameterError
        It is neither, or not fitted.
    """
    if isinstance(fitted, Model):
        return fitted, None
    model = getattr(fitted, "model_", None)
    if isinstance(model, Model):
        return model, fitted
    raise ParameterError(
        f"report takes a fitted estimator of this library or a Model, not {type(fitted).__name__}: fit it first"
    )


def facts_of(judged: Judged) -> tuple[Fact, ...]:
    """The head of the page."""
    model = judged.model
    n_fit = int(model.facts.get("n_samples", 0))
    facts = [
        Fact("algorithm", str(model.facts.get("algorithm", "unknown"))),
        Fact("criterion", str(model.facts.get("criterion", "unknown"))),
        Fact("fitted on", counted(n_fit, "row")),
        Fact("judged on", counted(judged.n, "row")),
        Fact("columns", str(len(model.schema))),
        Fact("trees", str(len(model.trees))),
    ]
    return tuple(facts)


def notes_of(judged: Judged) -> tuple[str, ...]:
    """What a reader must know to read the numbers."""
    return (SEEN,) if judged.seen else (PERHAPS,) if judged.seen is None else ()


def columns_in_words(judged: Judged) -> tuple[ColumnWords, ...]:
    """Every column with its levels, and where its numbers lie."""
    found = []
    for position, column in enumerate(judged.model.schema.columns):
        cells = judged.matrix[:, position]
        held = cells[np.isfinite(cells)] if column.kind == "numeric" else cells[:0]
        ends = (float(held.min()), float(held.max()), float(np.median(held))) if len(held) else (None, None, None)
        levels = tuple(written_level(level) for level in column.levels)
        found.append(ColumnWords(shorten(written_name(column.name), 200), column.kind, levels, *ends))
    return tuple(found)
