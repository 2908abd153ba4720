"""Reduced-error pruning.

From the leaves up, a subtree becomes a leaf unless that raises the loss on held-out rows (Quinlan 1987). The result is
the subtree with the lowest loss on these rows, and the smallest one of those. If rows are divided among branches, this
holds for the sum of the losses of their parts (``reduced_error``, Notes).
"""

from __future__ import annotations

import numpy as np

from treewright.data.cells import shown
from treewright.exceptions import DataError, Phrase
from treewright.model.data import ModelData
from treewright.prune.costs import EQUAL, cheapest
from treewright.prune.losses import Loss, loss_of, node_losses
from treewright.prune.methods import Decision, Rows
from treewright.tree.edit import collapse


def reduced_error(model: ModelData, rows: Rows, *, loss: Loss | None = None) -> Decision:
    """The smallest subtree with the lowest loss on held-out rows.

    Parameters
    ----------
    model : ModelData
        A leaf predicts from its training rows: the most frequent class, or the number.
    rows : Rows
        Rows that the tree was not fitted on. A node that none of them reaches is cut.
    loss : {"misclassification", "squared_error", "absolute_error", "poisson"}, optional
        None: the misclassified weight for classes (the mean over several outputs); for regression the loss of the
        tree's criterion, else the squared error.

    Returns
    -------
    Decision
        ``error_as_leaf`` and ``error_of_subtree`` are sums of weight times loss over the hold-out rows in the node,
        ``holdout_weight`` is their weight. Children come before their parents.

    Raises
    ------
    DataError
        There are no rows; or they are all of one of several classes: a single leaf would be as good as any tree.
    ParameterError
        There is no such loss, or it is not one for the task.

    Notes
    -----
    Quinlan, J. R. (1987), Simplifying decision trees, *International Journal of Man-Machine Studies* 27, 221-234.
    Weka's REPTree and its J48 with ``-R`` decide in the same way.

    Under ``missing="fractional"`` a row with missing cells is in several leaves, and each counts its loss times the
    share of the row there, as in J48. A prediction averages these leaves instead, so that another subtree may predict
    such rows better.

    Examples
    --------
    >>> import treewright as tw
    >>> X, y = [[1], [2], [3], [4], [5], [6]], ["no", "no", "no", "yes", "no", "yes"]
    >>> est = tw.DecisionTreeClassifier().fit(X, y)
    >>> small = est.prune("reduced_error", [[1.5], [4.5], [5.0]], ["no", "yes", "yes"])
    >>> est.get_n_leaves(), small.get_n_leaves()
    (4, 2)
    """
    chosen = loss_of(model, loss)
    check_holdout(model, rows.target)
    losses = node_losses(model, rows, chosen)
    tree = model.trees[0]
    found = cheapest(tree, losses.cost, slack=0.0 if losses.is_exact else EQUAL)
    numbers = {
        "error_as_leaf": _in_real(losses.cost[found.nodes], losses.unit),
        "error_of_subtree": _in_real(found.below[found.nodes], losses.unit),
        "holdout_weight": _in_real(losses.weight[found.nodes], losses.weight_unit),
    }
    return Decision(collapse(tree, found.nodes), found.nodes, numbers, used={"loss": chosen} if loss is None else None)


def _in_real(numbers: np.ndarray, unit: float) -> np.ndarray:
    """Numbers times their unit; infinite beyond float64, and 0.0 stays 0.0 even for an infinite unit."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(numbers == 0.0, 0.0, numbers * unit)


def check_holdout(model: ModelData, target: np.ndarray) -> None:
    """Refuse hold-out rows that cannot compare trees: none, or all of one class.

    Parameters
    ----------
    target : int32[n, n_outputs] class codes, or float64[n, n_outputs]
    """
    if not len(target):
        raise DataError("there are no hold-out rows of weight above 0: pass rows that the tree was not fitted on")
    for output, classes in enumerate(model.classes):
        codes = target[:, output]
        if len(classes) > 1 and (codes == codes[0]).all():
            where = f" (output {output})" if model.n_outputs > 1 else ""
            raise DataError(
                f"the {len(codes)} hold-out row(s) are all of class {shown(classes.tolist()[codes[0]])}{where}, one of "
                f"the model's {len(classes)}: a single leaf would look perfect. ",
                Phrase(
                    "Sample the rows so that all classes occur, as train_test_split(..., stratify=y) does",
                    "draw rows",
                ),
            )
