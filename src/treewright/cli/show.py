"""``treewright show`` and ``warmup``. In: a model file, or nothing. Out: a view, or kernels. Callers: cli.app."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

from treewright.cli.outputs import check_output, guarded_labels, write_text
from treewright.cli.terminal import UsageRefusal, say

if TYPE_CHECKING:
    from treewright.model import Model

__all__ = ["FORMATS", "run_show", "run_warmup"]

FORMATS = ("text", "svg", "dot", "json", "rules", "rules-csv")


def run_show(model_path: Path, form: str, max_depth: int | None, out: Path | None, *, force: bool) -> None:
    """Show a model.

    Parameters
    ----------
    model_path : Path
    form : {"text", "svg", "dot", "json", "rules", "rules-csv"}
        ``rules`` is text; ``rules-csv`` is the table of the same rules.
    max_depth : int >= 0 or None
        How deep to show it; text and svg only.
    out : Path or None
        None writes to the standard output.
    force : bool
        Whether ``out`` may be replaced.

    Raises
    ------
    TreewrightError
        The model or the output was refused.
    UsageRefusal
        An unknown form, or a depth for a form that is always whole.
    """
    if form not in FORMATS:
        raise UsageRefusal(f"--format {form}: there are: {', '.join(FORMATS)}")
    if max_depth is not None and (form not in {"text", "svg"} or max_depth < 0):
        raise UsageRefusal(
            f"--max-depth {max_depth}: give 0 or more, with --format text or svg; {form} shows the whole tree"
        )
    import treewright

    check_output(out, force)
    text = _rendered(treewright.load(model_path), form, max_depth)
    write_text(out, text, force)


def _rendered(model: Model, form: str, max_depth: int | None) -> str:
    """The model in one of the forms."""
    match form:
        case "svg":
            return str(model.plot(max_depth=max_depth).text)
        case "dot":
            from treewright.export.dot import to_dot

            return to_dot(model)
        case "json":
            from treewright.export.structure import to_structure

            return json.dumps(to_structure(model), indent=1, allow_nan=False, ensure_ascii=False)
        case "rules":
            from treewright.explain.rules import leaf_rules

            return str(leaf_rules(model))
        case "rules-csv":
            return _rules_csv(model)
        case _:
            return str(model.show(max_depth=max_depth))


def _rules_csv(model: Model) -> str:
    """The table of rules as CSV; a text that a spreadsheet would take for a formula gets an apostrophe in front."""
    import numpy as np
    import polars as pl

    from treewright.cli.scores import label_series
    from treewright.explain.rules import leaf_rules

    written = []
    for name, cells in leaf_rules(model).to_dict().items():
        is_label = name == "conditions" or name.startswith("prediction")
        series = label_series(name, np.array(cells)) if is_label else pl.Series(name, cells)
        if series.dtype == pl.String:
            texts = [text.encode("utf-8", "backslashreplace").decode() for text in series.to_list()]
            series = pl.Series(name, guarded_labels(texts))
        written.append(series)
    return str(pl.DataFrame(written).write_csv())


def run_warmup() -> None:
    """Compile every kernel that a fit and a prediction need, and say how long it took."""
    import numpy as np

    import treewright
    from treewright.grow.settings import CLASSIFICATION_CRITERIA, REGRESSION_CRITERIA

    start = time.perf_counter()
    numbers = np.array([[1.0, np.nan], [2.0, 5.0], [3.0, 6.0], [4.0, 5.0], [5.0, 8.0], [6.0, 5.5]])
    words = {"word": ["a", "b", "c", "a", "b", "c"], "number": [1.0, 2.0, None, 4.0, 5.0, 6.0]}
    weights = np.array([1.0, 2.0, 1.0, 1.5, 1.0, 1.0])
    for table in (numbers, words):
        for weight in (None, weights):
            for criterion in CLASSIFICATION_CRITERIA:
                for labels in (["x", "y", "x", "y", "y", "x"], ["x", "y", "z", "x", "y", "z"]):
                    classifier = treewright.DecisionTreeClassifier(criterion=criterion)
                    classifier.fit(table, labels, sample_weight=weight).predict(table)
            for criterion in REGRESSION_CRITERIA:
                regressor = treewright.DecisionTreeRegressor(criterion=criterion)
                regressor.fit(table, [1.0, 2.0, 4.0, 8.0, 16.0, 5.0], sample_weight=weight).predict(table)
    labels = ["x", "y", "x", "y", "y", "x"]
    for estimator in (
        treewright.C45Classifier(min_samples_leaf=1),
        treewright.CHAIDClassifier(alpha=1.0, alpha_merge=0.9),
        treewright.CHAIDRegressor(alpha=1.0, alpha_merge=0.9),
        treewright.DecisionTreeClassifier(missing="surrogate"),
        treewright.DecisionTreeRegressor(missing="fractional"),
        treewright.DecisionTreeRegressor(missing="surrogate", criterion="absolute_error"),
    ):
        is_regressor = type(estimator).__name__.endswith("Regressor")
        estimator.fit(words, [1.0, 2.0, 4.0, 8.0, 16.0, 5.0] if is_regressor else labels).predict(words)
    say(f"kernels are compiled and kept; it took {time.perf_counter() - start:.1f} s")
