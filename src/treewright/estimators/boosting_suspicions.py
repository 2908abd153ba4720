"""What looks wrong about a boosted fit. In: its trees, curves, parameters. Out: warnings. Caller: .boosting_base."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.boosting.row_weights import RowWeights
from treewright.core import notices
from treewright.estimators.suspicions import is_constant
from treewright.tree.leaf_table import leaf_samples_of, leaf_weights_of
from treewright.tree.records import LEAF_RECORD, child_of, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from treewright.boosting.history import History
    from treewright.boosting.losses import Loss
    from treewright.estimators.table import FitInput
    from treewright.tree.packed import PackedTrees

_MOST_SHRUNK = 20  # a leaf of all rows would say less than the twentieth part
_SCALE_UP = "scale up the weights (of poisson and tweedie the target)"
_FINEST = 2**32  # of the sum of all gradients, what the whole numbers of growth can tell apart


def warn_of_silent_trees(trees: PackedTrees, losses: Sequence[Loss], given: FitInput, parameters: Any) -> None:
    """Warn where no tree asks anything, or answers next to nothing, because of a parameter.

    Parameters
    ----------
    trees : PackedTrees
    losses : sequence of Loss
    given : FitInput
        The rows they were grown on.
    parameters : estimator

    Warns
    -----
    DataWarning
        The target is not constant, and neither are the columns; it names the parameter and what stands against it.
    """
    target, matrix, weights = given.table.target[0], given.table.matrix, given.table.weights
    if not (target != target[0]).any() or is_constant(matrix):
        return
    hessian = _first_hessian(trees)
    if trees.n_nodes > trees.n_trees:
        if _MOST_SHRUNK * hessian < parameters.l2 and not any(loss.renews for loss in losses):
            notices.warn(
                f"l2={parameters.l2:g} is added to the hessians of each leaf, and those of all rows add up to "
                f"{hessian:g}: every answer is next to nothing; lower it, or {_SCALE_UP}"
            )
        return
    repeats = RowWeights.of(given.sample_weight).repeats
    n_rows = len(matrix) if repeats is None else int(repeats.sum())
    n_rows = n_rows * int(leaf_samples_of(trees).max()) // len(matrix)  # of a round that draws some of them
    reason = ""
    if n_rows < 2 * parameters.min_samples_leaf:
        reason = f"{n_rows} row(s) are fewer than twice min_samples_leaf={parameters.min_samples_leaf}: lower it"
    elif hessian < 2 * parameters.min_child_weight:
        reason = (
            f"the hessians of all rows add up to {hessian:g}, less than twice min_child_weight="
            f"{parameters.min_child_weight:g}: lower it, or {_SCALE_UP}"
        )
    elif weights is not None and float(np.median(weights)) * _FINEST < float(weights.sum()):
        reason = (
            f"half of the rows weigh less than 1/{_FINEST} of all together, too little for their gradients to count: "
            "bring the weights closer together"
        )
    elif parameters.min_gain > 0:
        reason = f"no split gains more than min_gain={parameters.min_gain:g}: lower it"
    if reason:
        notices.warn(f"no tree has a test, every row gets the same answer; {reason}")


def _first_hessian(trees: PackedTrees) -> float:
    """What the hessians of the rows of the first tree add up to."""
    records = trees.records[: trees.roots[1]]
    return float(leaf_weights_of(trees)[child_of(records[kind_of(records) == LEAF_RECORD])].sum())


def warn_of_no_better_round(history: History) -> None:
    """Warn where growth that may end early found no round better than none.

    Parameters
    ----------
    history : History
        From before the first tree on.

    Warns
    -----
    DataWarning
    """
    before, *after = history.validation or history.train
    if after and before <= min(after):
        notices.warn(
            f"early stopping: no round is better than none ({before:g} before the first tree, {min(after):g} at the "
            f"best); round {history.best} is kept, but the columns seem to tell nothing that holds for other rows"
        )
