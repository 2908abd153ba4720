"""What many trees are like as a whole. In: a model. Out: text, importances. Caller: model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from treewright.exceptions import ParameterError
from treewright.explain.importance import impurity_importances
from treewright.tree.arrays import Tree
from treewright.tree.check_facts import ISOLATION_FOREST
from treewright.tree.model import ModelData
from treewright.tree.packed import PackedTrees
from treewright.tree.records import LEAF_RECORD, SUBSET_RECORD, child_of, column_of, kind_of, set_of
from treewright.tree.summary import counted
from treewright.tree.words import escape_controls, shorten, written_name

NAME_WIDTH = 40
MOST_USED = 10
# What the answers of the trees become.
COMBINED = {
    ("classification", "mean"): "the mean of their class shares",
    ("classification", "vote"): "the class that most of them vote for",
    ("regression", "mean"): "the mean of their predictions",
    ("regression", "sum"): "the sum of their predictions",
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
        Trees without a split do not count. Sums to one, or all 0 where no tree gained anything.
    """
    if isinstance(model.trees, PackedTrees):
        return model.trees.feature_importances()
    total = np.zeros(len(model.schema))
    for tree in model.trees:
        total += impurity_importances(tree, len(model.schema))
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
    lines += ["", *_most_used(model, sizes.n_tests), "", "show(tree=0) shows the first tree, tree(0) is it as a model"]
    return "\n".join(lines)


def _title(model: ModelData) -> list[str]:
    """Lines that say what the trees are and how they answer together."""
    algorithm, n_trees = escape_controls(str(model.facts.get("algorithm", ""))), counted(len(model.trees), "tree")
    if algorithm == ISOLATION_FOREST:
        return [f"Isolation forest of {n_trees}", "the score of a row comes from the mean of its path lengths"]
    lines = [f"{model.task.capitalize()} by {n_trees}" + (f", grown by {algorithm}" if algorithm else "")]
    said = COMBINED.get((model.task, model.combine))
    return [*lines, f"the prediction is {said}"] if said else lines


def _most_used(model: ModelData, n_tests: np.ndarray) -> list[str]:
    """Lines about the columns that most nodes ask."""
    total = int(n_tests.sum())
    if total == 0:
        return ["no tree has a split"]
    order = np.argsort(-n_tests, kind="stable")[:MOST_USED]
    order = order[n_tests[order] > 0]
    names = [shorten(written_name(model.schema.columns[at].name), NAME_WIDTH) for at in order.tolist()]
    width = max(map(len, names))
    n_used = int((n_tests > 0).sum())
    title = f"columns asked most (of {counted(n_used, 'column')} asked):" if n_used > len(order) else "columns asked:"
    shares = [f"{n_tests[at] / total:7.1%}" for at in order.tolist()]
    return [title, *(f"  {name:{width}}{share} of the splits" for name, share in zip(names, shares, strict=True))]
