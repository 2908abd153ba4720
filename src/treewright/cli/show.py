"""``treewright show`` and ``warmup``. In: a model file, or nothing. Out: a view, or kernels. Callers: cli.app."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treewright.cli.ensembles import is_ensemble, one_tree, summary
from treewright.cli.outputs import check_output, guarded_labels, write_text
from treewright.cli.terminal import UsageRefusal, say

if TYPE_CHECKING:
    from treewright.model import Model

__all__ = ["FORMATS", "check_words", "run_show", "run_warmup"]

FORMATS = ("text", "svg", "dot", "json", "rules", "rules-csv")


def check_words(*, audit: bool, form: str, for_views: Mapping[str, object], for_audits: Mapping[str, object]) -> None:
    """Refuse options that would be passed over in silence.

    Parameters
    ----------
    audit : bool
        Whether a node is audited; otherwise the model is shown.
    form : str
    for_views, for_audits : dict of option to value
        Options that only a view, or only an audit, knows; None where one was not given.

    Raises
    ------
    UsageRefusal
        One of the other sort was given, or an audit was asked for in another form than text.
    """
    if audit and form != "text":
        raise UsageRefusal(f"--audit is always text: leave out --format {form}, or --audit")
    given = [option for option, value in (for_views if audit else for_audits).items() if value is not None]
    if given:
        raise UsageRefusal(
            f"{', '.join(given)}: not with --audit" if audit else f"{', '.join(given)}: only with --audit"
        )


def run_show(
    model_path: Path,
    form: str,
    max_depth: int | None,
    out: Path | None,
    *,
    max_nodes: int | None = None,
    surrogates: bool = False,
    tree: int | None = None,
    force: bool,
) -> None:
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
    max_nodes : int >= 0 or None
        Show at most this many nodes, text only; 0 shows all, None is what `Model.show` does by itself.
    surrogates : bool
        Whether to list the best surrogates below each node, text only.
    tree : int >= 0 or None
        Which of many trees; None shows what they are like as a whole, text only.
    force : bool
        Whether ``out`` may be replaced.

    Raises
    ------
    TreewrightError
        The model or the output was refused.
    UsageRefusal
        Many trees of which none was chosen, an unknown form, or an option that the form does not have.
    """
    if form not in FORMATS:
        raise UsageRefusal(f"--format {form}: there are: {', '.join(FORMATS)}")
    if max_depth is not None and (form not in {"text", "svg"} or max_depth < 0):
        raise UsageRefusal(
            f"--max-depth {max_depth}: give 0 or more, with --format text or svg; {form} shows the whole tree"
        )
    if form != "text" and (surrogates or max_nodes is not None):
        raise UsageRefusal(f"{'--surrogates' if surrogates else '--max-nodes'}: only with --format text, not {form}")
    if max_nodes is not None and max_nodes < 0:
        raise UsageRefusal(f"--max-nodes {max_nodes}: give 1 or more, or 0 for all")
    import treewright

    check_output(out, force)
    options: dict[str, Any] = {"max_depth": max_depth}
    if form == "text":
        options["surrogates"] = surrogates
    if max_nodes is not None:
        options["max_nodes"] = max_nodes or None
    model = treewright.load(model_path)
    given = [
        option
        for option, is_given in (
            (f"--format {form}", form != "text"),
            ("--max-depth", max_depth is not None),
            ("--max-nodes", max_nodes is not None),
            ("--surrogates", surrogates),
        )
        if is_given
    ]
    if is_ensemble(model) and tree is None and not given:
        text = summary(model, model_path)
    else:
        text = _rendered(one_tree(model, model_path, tree, ", ".join(given)), form, options)
    write_text(out, text, force)


def _rendered(model: Model, form: str, options: dict[str, Any]) -> str:
    """The model in one of the forms; the options are those of `Model.plot` and `Model.show`."""
    match form:
        case "svg":
            return str(model.plot(**options).text)
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
            return str(model.show(**options))


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


def _warm_up_forests(table: Mapping[str, Any], weights: Any) -> None:
    """Compile what forests need; one tree on bins comes with them."""
    import treewright
    from treewright.grow.settings import CLASSIFICATION_CRITERIA, REGRESSION_CRITERIA

    labels, numbers = ["x", "y", "z", "x", "y", "z"], [1.0, 2.0, 4.0, 8.0, 16.0, 5.0]
    few: dict[str, Any] = {"n_estimators": 2, "max_samples": 3}
    classifiers = [treewright.RandomForestClassifier(**few, criterion=each) for each in CLASSIFICATION_CRITERIA]
    regressors = [treewright.RandomForestRegressor(**few, criterion=each) for each in REGRESSION_CRITERIA]
    for forests, target in (
        ([*classifiers, treewright.ExtraTreesClassifier(2)], labels),
        ([*regressors, treewright.ExtraTreesRegressor(2)], numbers),
    ):
        for forest in forests:
            for weight in (None, weights):
                forest.fit(table, target, sample_weight=weight).predict(table)
        first = forests[0]
        for kind in ("debiased", "permutation"):
            first.importances(kind)
        # Every row is left out by some tree, so that nothing is warned of.
        first.set_params(n_estimators=30, oob_score=True, max_leaf_nodes=3).fit(table, target).apply(table)
    treewright.IsolationForest(n_estimators=2).fit(table).predict(table)


def run_warmup() -> None:
    """Compile every kernel that a fit, a pruning and a prediction need, and say how long it took."""
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
    treewright.DecisionTreeClassifier(ccp_alpha=0.1).fit(numbers, labels)
    _warm_up_forests(words, weights)
    say(f"kernels are compiled and kept; it took {time.perf_counter() - start:.1f} s")
