"""rpart's table of complexities beside our path. In: a run of rpart_paths.json. Out: both as `Table`s.

Callers: the tests of this folder. rpart's rows go up to the whole tree; ours, and `Table`, down to the root.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from plain_trees import shape_tree
from reference_sets import find

import treewright as tw
from treewright.prune.cost_complexity import path_of, path_of_costs

# rpart merges complexities that are equal to the last bit; sums of squares that are equal on paper are not.
EQUAL = 1e-10


class Table(NamedTuple):
    """Complexities, splits and training errors, all three as rpart has them: the root's error is one.

    Subtree `k` is the one wanted from `cp[k]` until `cp[k + 1]`.
    """

    cp: np.ndarray
    n_splits: np.ndarray
    error: np.ndarray

    def cost(self, cp):
        """Cost of the subtree that the table has at a complexity."""
        at = np.searchsorted(self.cp, cp, side="right") - 1
        return self.error[at] + cp * self.n_splits[at]

    def is_like(self, other):
        """Whether two tables say the same; figures have twelve digits."""
        if len(self.cp) != len(other.cp):
            return False
        return (
            bool((self.n_splits == other.n_splits).all())
            and np.allclose(self.cp, other.cp, rtol=1e-9, atol=1e-15)
            and np.allclose(self.error, other.error, rtol=0, atol=1e-10)
        )


def rparts_table(run):
    """What rpart printed; of rows with equal complexities the one of fewest splits, which comes first."""
    rows = []
    for cp, n_splits, error in run["cptable"]:
        if not rows or cp < rows[-1][0] * (1 - EQUAL):
            rows.append((cp, n_splits, error))
    return Table(*np.array(rows[::-1]).T)


def our_table(run):
    """The path by errors of our tree, grown out on the same rows."""
    data = complete(find(run["data"]))
    if run["method"] == "anova":
        kind, criterion = tw.DecisionTreeRegressor, "squared_error"
    else:
        kind, criterion = tw.DecisionTreeClassifier, "entropy" if run.get("split") == "information" else "gini"
    estimator = kind(criterion=criterion, max_depth=30, nominal=data.levels)
    return _of_path(path_of(estimator.fit(data.X, data.y).model_, "error"))


def path_of_rparts_tree(run):
    """The path, as ours works it out, of the tree that rpart grew."""
    numbers = [int(number) for number in run["nodes"].split()]
    risk = dict(zip(numbers, run["dev"], strict=True))
    order = sorted(risk)
    place = {number: at for at, number in enumerate(order)}
    inner = np.array([2 * number in place for number in order])
    first_child = [place.get(2 * number, -1) for number in order]
    shape = shape_tree(np.where(inner, 2, 0), first_child)
    return _of_path(path_of_costs(shape, np.array([risk[number] for number in order])))


def complete(data):
    """The rows that lack no cell, as R's complete.cases."""
    columns = [*data.X.values(), data.y.tolist()]
    return data.rows([row for row, cells in enumerate(zip(*columns, strict=True)) if not any(map(_is_missing, cells))])


def _is_missing(cell):
    return cell is None or cell != cell  # noqa: PLR0124 - nan


def _of_path(path):
    root, first = path.risks[-1], [0]
    for at in range(1, len(path.alphas)):
        if path.alphas[at] <= path.alphas[first[-1]] * (1 + EQUAL):
            first[-1] = at
        else:
            first.append(at)
    return Table(path.alphas[first] / root, path.n_leaves[first] - 1, path.risks[first] / root)
