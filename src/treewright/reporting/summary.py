"""The whole summary of a report. In: a fitted model, rows, options. Out: ``Summary``. Caller: reporting.document."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.estimators.base import Estimator as Reported
from treewright.exceptions import ParameterError
from treewright.model.summary import summarize
from treewright.page.parts import ColumnWords, Summary
from treewright.page.tree_part import tree_part
from treewright.reporting.columns_part import columns_part
from treewright.reporting.ensemble_part import ensemble_part
from treewright.reporting.examples_part import examples_part
from treewright.reporting.findings import findings_of
from treewright.reporting.head import facts_of, notes_of, subtitle_of
from treewright.reporting.judged import Judged, judged_rows
from treewright.reporting.options import Options
from treewright.reporting.pruning_part import pruning_part
from treewright.reporting.quality_part import quality_parts
from treewright.reporting.surrogate_part import examples_beside, surrogate_part
from treewright.reporting.tree_judged import tree_with_judges
from treewright.tree.writing import escape_controls, shorten, written_level, written_name
from treewright.version import __version__


def summary_of(fitted: Any, X: Any, y: Any, sample_weight: Any, title: str | None, options: Options) -> Summary:
    """Work out every section."""
    model, estimator = model_of(fitted)
    judged = judged_rows(model, estimator, X, y, sample_weight)
    first = summarize(model, 0) if model.has_trees else None
    names = [written_name(name) for name in model.target_names] if first is None else [o.name for o in first.outputs]
    target = ", ".join(name for name in names if name)
    single = model.is_single_tree
    # Of many trees the page shows the one that stands for all; rows are followed through it, not through all of them.
    standing = surrogate_part(judged, options)
    tree = tree_with_judges(tree_part(judged.model, title="The tree"), judged) if single else standing and standing.tree
    examples = None
    if tree is not None:
        examples = examples_beside(judged, standing, options) if standing else examples_part(judged, options, tree)
    return Summary(
        title=escape_controls(title) if title is not None else f"What decides {target}" if target else "A report",
        subtitle=subtitle_of(judged, target),
        task=model.task,
        target=target,
        facts=facts_of(judged),
        notes=notes_of(judged),
        columns=columns_in_words(judged),
        text=model.show(),
        tree=tree,
        version=__version__,
        pruning=pruning_part(judged, options),
        quality=quality_parts(judged, options),
        data=columns_part(judged, options),
        findings=findings_of(judged),
        examples=examples,
        ensemble=ensemble_part(judged, options, standing),
    )


def model_of(fitted: Any) -> tuple[Any, Any]:
    """The model, and the estimator where one was given.

    Raises
    ------
    ParameterError
        It is neither, or not fitted, or has no target that rows could be judged by.
    """
    model: Any = fitted if _is_model(fitted) else getattr(fitted, "model_", None)
    if not _is_model(model):
        why = getattr(fitted, "_why_no_model", None)
        if isinstance(why, str):
            raise ParameterError(f"report needs one model of trees, and this {type(fitted).__name__} has none: {why}")
        raise ParameterError(f"report takes a fitted estimator of this library or a Model, {what_instead(fitted)}")
    if model.facts.get("algorithm") == "isolation_forest":
        raise ParameterError(
            "an isolation forest predicts no target, so there is nothing that rows could be judged by: score them with "
            "score_samples, or read one of its trees with model.tree(0).show()"
        )
    return model, None if model is fitted else fitted


def _is_model(given: Any) -> bool:
    """Whether it is a fitted model with its verbs."""
    return hasattr(given, "has_trees") and hasattr(given, "predict")


def what_instead(given: Any) -> str:
    """What was given to a report in place of a fitted estimator of this library, and what to give."""
    name = type(given).__name__
    if isinstance(given, type):
        return f"not the class {given.__name__} itself: make one and fit it first"
    if isinstance(given, Reported):
        return f"and this {name} is not fitted: fit it first"
    if isinstance(getattr(given, "steps", None), list):
        rows = "the rows as that sees them"
        return f"not a {name}: give its last step and {rows}: report(pipe[-1], pipe[:-1].transform(X), y)"
    if hasattr(given, "best_estimator_") or hasattr(given, "best_params_"):
        return f"not a {name}: give what it found, its best_estimator_"
    if type(given).__module__.partition(".")[0] == "treewright":
        return f"not {name}: fit it first"
    return f"not {name} (of {type(given).__module__.partition('.')[0]})"


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
