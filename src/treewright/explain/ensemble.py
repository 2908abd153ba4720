"""What many trees are like as a whole. In: a model. Out: text, importances. Caller: model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from treewright.exceptions import ParameterError
from treewright.explain.importance import impurity_importances
from treewright.tree.arrays import Tree
from treewright.tree.boosting import Boosting
from treewright.tree.check_facts import ISOLATION_FOREST
from treewright.tree.model import ModelData
from treewright.tree.packed import PackedTrees
from treewright.tree.records import LEAF_RECORD, SUBSET_RECORD, child_of, column_of, kind_of, set_of
from treewright.tree.single import score_names
from treewright.tree.summary import counted
from treewright.tree.words import escape_controls, shorten, written_amount, written_name

NAME_WIDTH = 40
MOST_USED = 10
# What a boosted model makes of its scores.
LINKED = {
    "identity": "the score",
    "log": "the exponential of the score",
    "sorted": "the scores in ascending order",
    "classes": "the class with the largest share (logistic function of the score, softmax of several)",
}
MOST_BASES = 6
# What the answers of the trees become.
COMBINED = {
    ("classification", "mean"): "the mean of their class shares",
    ("classification", "vote"): "the class that most of them vote for",
    ("regression", "mean"): "the mean of their predictions",
    ("regression", "median"): "the weighted median of their predictions",
}


class Sizes(NamedTuple):
    """``n_leaves`` and ``depth`` int64[n_trees]; ``n_tests`` int64[p]: how many nodes of all trees ask each column."""

    n_leaves: np.ndarray
    depth: np.ndarray
    n_tests: np.ndarray


def mean_importances(model: ModelData) -> np.ndarray:
    """The mean of the trees' impurity importances.

    Parameters
    ----------
    model : ModelData

    Returns
    -------
    float64[p]
        Trees without a split do not count; where trees have weights, they count by them; of boosted trees the shares of
        all gains. Sums to one, or all 0 where no tree gained anything.
    """
    if isinstance(model.trees, PackedTrees):
        return model.trees.feature_importances()
    total = np.zeros(len(model.schema))
    weights = np.ones(len(model.trees)) if model.tree_weights is None else model.tree_weights / model.tree_weights.max()
    for tree, weight in zip(model.trees, weights, strict=True):
        total += weight * impurity_importances(tree, len(model.schema))
    whole = total.sum()
    return total / whole if whole > 0 else total


def sizes_of(model: ModelData) -> Sizes:
    """How large the trees are and which columns they ask; packed trees are read as they are."""
    n_columns = len(model.schema)
    if isinstance(model.trees, PackedTrees):
        return _packed_sizes(model.trees, n_columns)
    trees: tuple[Tree, ...] = model.trees
    asked = np.concatenate([tree.feature[~tree.is_leaf] for tree in trees])
    return Sizes(
        np.array([tree.n_leaves for tree in trees], np.int64),
        np.array([tree.max_depth for tree in trees], np.int64),
        np.bincount(asked, minlength=n_columns),
    )


def _packed_sizes(packed: PackedTrees, n_columns: int) -> Sizes:
    """As ``sizes_of``: all trees go down a level at a time."""
    records, n_trees = packed.records, packed.n_trees
    n_leaves, depth = np.zeros(n_trees, np.int64), np.zeros(n_trees, np.int64)
    n_tests = np.zeros(n_columns, np.int64)
    here, tree = packed.roots[:-1], np.arange(n_trees)
    level = 0
    while len(here):
        found = records[here]
        kind = kind_of(found)
        is_leaf = kind == LEAF_RECORD
        n_leaves += np.bincount(tree[is_leaf], minlength=n_trees)
        depth[tree] = level
        is_subset = kind == SUBSET_RECORD
        n_tests += np.bincount(column_of(found[~is_leaf & ~is_subset]), minlength=n_columns)
        n_tests += np.bincount(packed.set_column[set_of(found[is_subset])], minlength=n_columns)
        first, below = child_of(found[~is_leaf]), tree[~is_leaf]
        here, tree = np.concatenate((first, first + 1)), np.concatenate((below, below))
        level += 1
    return Sizes(n_leaves, depth, n_tests)


def show_ensemble(model: ModelData, **options: Any) -> str:
    """Return a summary of many trees: how many, how large, and which columns they ask most.

    Parameters
    ----------
    model : ModelData
    **options
        None: options are for the drawing of one tree.

    Returns
    -------
    str
        Without a line break at the end.

    Raises
    ------
    ParameterError
        There are options.
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
    lines += ["", *_importances(model, sizes), "", "show(tree=0) shows the first tree, tree(0) is it as a model"]
    return "\n".join(lines)


def _title(model: ModelData) -> list[str]:
    """Lines that say what the trees are and how they answer together."""
    algorithm, n_trees = escape_controls(str(model.facts.get("algorithm", ""))), counted(len(model.trees), "tree")
    if algorithm == ISOLATION_FOREST:
        return [f"Isolation forest of {n_trees}", "the score of a row comes from the mean of its path lengths"]
    lines = [f"{model.task.capitalize()} by {n_trees}" + (f", grown by {algorithm}" if algorithm else "")]
    if model.boosting is not None:
        return [*lines, *_boosting(model, model.boosting)]
    said = COMBINED.get((model.task, model.combine))
    if model.combine == "vote" and model.tree_weights is not None:
        said = "the class that has most of their weight among the votes"
    return [*lines, f"the prediction is {said}"] if said else lines


def _boosting(model: ModelData, boosting: Boosting) -> list[str]:
    """Lines about rounds, scores, base and link."""
    n_scores = boosting.n_scores
    rounds = counted(len(model.trees) // n_scores, "round")
    names = [shorten(escape_controls(name), NAME_WIDTH) for name in score_names(model)]
    shown = [
        f"{name} {written_amount(base)}" if name else written_amount(base)
        for name, base in zip(names, boosting.base[:MOST_BASES], strict=False)
    ]
    if n_scores > MOST_BASES:
        shown.append(f"... {n_scores - MOST_BASES} more")
    return [
        f"{rounds}, each a tree" + (f" for each of {n_scores} scores" if n_scores > 1 else " that adds to the score"),
        f"base: {', '.join(shown)}",
        f"the prediction is {LINKED.get(boosting.link, boosting.link)}",
    ]


def _importances(model: ModelData, sizes: Sizes) -> list[str]:
    """Lines about the columns: of boosted trees what they gained, else how often they are asked."""
    packed = model.trees
    if model.boosting is None or not isinstance(packed, PackedTrees) or not packed.importances.any():
        return _most_used(model, sizes.n_tests)
    gains = packed.feature_importances()
    return _column_lines(model, gains, ("columns that gained most", "columns that gained"), "of the gain")


def _most_used(model: ModelData, n_tests: np.ndarray) -> list[str]:
    """Lines about the columns that most nodes ask."""
    total = int(n_tests.sum())
    if total == 0:
        return ["no tree has a split"]
    return _column_lines(model, n_tests / total, ("columns asked most", "columns asked"), "of the splits")


def _column_lines(model: ModelData, shares: np.ndarray, titles: tuple[str, str], what: str) -> list[str]:
    """The columns with the largest shares, under a title: the first of two where there are more."""
    order = np.argsort(-shares, kind="stable")[:MOST_USED]
    order = order[shares[order] > 0]
    names = [shorten(written_name(model.schema.columns[at].name), NAME_WIDTH) for at in order.tolist()]
    width = max(map(len, names))
    n_used = int((shares > 0).sum())
    title = f"{titles[0]} (of {counted(n_used, 'column')} asked):" if n_used > len(order) else f"{titles[1]}:"
    texts = [f"{shares[at]:7.1%}" for at in order.tolist()]
    return [title, *(f"  {name:{width}}{text} {what}" for name, text in zip(names, texts, strict=True))]
