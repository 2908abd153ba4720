"""Many trees as text: their number, their sizes, how they predict together, and the columns that they test most."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.exceptions import ParameterError
from treewright.trees.arrays import Sizes
from treewright.trees.check_model import ISOLATION_FOREST
from treewright.trees.data import Boosting, ModelData, sizes_of
from treewright.trees.summary import counted, grown_by, n_named, score_names
from treewright.trees.threshold import decision_text, positive_code
from treewright.trees.writing import escape_controls, shorten, written_amount, written_name

COLUMN_NAME = 40
MOST_USED = 10
# How a boosted model predicts from its scores.
LINKED = {
    "identity": "the score",
    "log": "the exponential of the score",
    "sorted": "the scores in ascending order",
    "classes": "the class with the largest probability (logistic function of the score, softmax of several)",
}
MOST_BASES = 6
# How the predictions of the trees are combined.
COMBINED = {
    ("classification", "mean"): "the mean of their class probabilities",
    ("classification", "vote"): "the class that most of them vote for",
    ("regression", "mean"): "the mean of their predictions",
    ("regression", "median"): "the weighted median of their predictions",
}


def show_ensemble(model: ModelData, **options: Any) -> str:
    """A summary of many trees: their number, their sizes, and the columns that they test most.

    It takes no options: they are for the drawing of one tree.
    """
    if options:
        raise ParameterError(
            f"{', '.join(sorted(options))}: options are for one of the {counted(len(model.trees), 'tree')}; choose it, "
            "as in show(tree=0, ...)"
        )
    sizes = sizes_of(model)
    lines = [*_title(model), "", f"{'':8}{'least':>10}{'median':>10}{'most':>10}"]
    for title, numbers in (("leaves", sizes.n_leaves), ("depth", sizes.depth)):
        median = f"{np.median(numbers):.1f}".removesuffix(".0")
        lines.append(f"{title:8}{numbers.min():>10}{median:>10}{numbers.max():>10}")
    if (weights := model.tree_weights) is not None:
        found = (weights.min(), np.median(weights), weights.max())
        lines.append("weight  " + "".join(f"{weight:>10.4g}" for weight in found))
    lines += ["", *_importances(model, sizes), "", "show(tree=0) shows the first tree, tree(0) returns it as a model"]
    return "\n".join(lines)


def _title(model: ModelData) -> list[str]:
    """Lines about the trees and how they predict together."""
    algorithm, n_trees = escape_controls(str(model.facts.get("algorithm", ""))), counted(len(model.trees), "tree")
    if algorithm == ISOLATION_FOREST:
        return [f"Isolation forest of {n_trees}", "the score of a row is computed from the mean of its path lengths"]
    lines = [", ".join(filter(None, (f"{model.task.capitalize()} by {n_trees}", grown_by(model.facts))))]
    decides = [each for each in (decision_text(model),) if each]
    if model.boosting is not None:
        return [*lines, *_boosting(model, model.boosting), *(decides if model.threshold is None else ())]
    predicted = COMBINED.get((model.task, model.combine))
    if model.aggregation.votes and model.tree_weights is not None:
        predicted = "the class with the largest total weight of votes"
    return [*lines, *decides] if decides or not predicted else [*lines, f"the prediction is {predicted}"]


def _boosting(model: ModelData, boosting: Boosting) -> list[str]:
    """Lines about rounds, scores, base and link."""
    n_scores = boosting.n_scores
    rounds = counted(len(model.trees) // n_scores, "round")
    members = f" of {len(model.facts['members'])} members in turn" if model.facts.get("members") else ""
    names = [shorten(escape_controls(name), COLUMN_NAME) for name in score_names(model)]
    shown = [
        f"{name} {written_amount(base)}" if name else written_amount(base)
        for name, base in zip(names, boosting.base[: n_named(n_scores, MOST_BASES)], strict=False)
    ]
    if positive_code(model) == 0:  # the one score is the log odds of the second class
        positive = shorten(escape_controls(str(model.classes[0].tolist()[0])), COLUMN_NAME)
        shown = [f"log odds of {positive} {written_amount(-boosting.base[0])} (trees add to the {shown[0]})"]
    if n_scores > len(shown):
        shown.append(f"... {n_scores - len(shown)} more")
    return [
        f"{rounds}{members}, each a tree"
        + (f" for each of {n_scores} scores" if n_scores > 1 else " that adds to the score"),
        f"base: {', '.join(shown)}",
        how_predicted(model, boosting),
    ]


def how_predicted(model: ModelData, boosting: Boosting) -> str:
    """How a boosted model predicts from its scores, as a clause."""
    if model.threshold is not None:
        return f"a probability is the logistic function of the score; the model {decision_text(model)}"
    return f"the prediction is {LINKED.get(boosting.link, boosting.link)}"


def _importances(model: ModelData, sizes: Sizes) -> list[str]:
    """Lines about the columns: for boosted trees their share of the gain, else how often they are tested."""
    gains = model.trees.mean_importances(len(model.schema)) if model.has_scores else np.zeros(0)
    if not gains.any():
        return _most_used(model, sizes.n_tests)
    return _column_lines(model, gains, ("columns by share of the gain", "columns by share of the gain"), "of the gain")


def _most_used(model: ModelData, n_tests: np.ndarray) -> list[str]:
    """Lines about the columns that most nodes test."""
    total = int(n_tests.sum())
    if total == 0:
        return ["no tree has a split"]
    return _column_lines(model, n_tests / total, ("columns tested most", "columns tested"), "of the splits")


def _column_lines(model: ModelData, shares: np.ndarray, titles: tuple[str, str], what: str) -> list[str]:
    """The columns with the largest shares, under a title: the first of two if there are more columns."""
    order = np.argsort(-shares, kind="stable")[:MOST_USED]
    order = order[shares[order] > 0]
    names = [shorten(written_name(model.schema.columns[at].name), COLUMN_NAME) for at in order.tolist()]
    width = max(map(len, names))
    n_used = int((shares > 0).sum())
    title = f"{titles[0]} (of {counted(n_used, 'column')} tested):" if n_used > len(order) else f"{titles[1]}:"
    texts = [f"{shares[at]:7.1%}" for at in order.tolist()]
    return [title, *(f"  {name:{width}}{text} {what}" for name, text in zip(names, texts, strict=True))]
