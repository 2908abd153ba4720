"""How much columns matter to a model. In: a model, rows with their target. Out: a table as text.

Callers: cli.show, cli.evaluate. In a model file there are no rows: the impurity that splits removed stands in its
trees, all else needs rows.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from treewright.cli.ensembles import one_tree, refuse_isolation
from treewright.cli.terminal import UsageRefusal, printable_lines

if TYPE_CHECKING:
    import numpy as np

    from treewright.fitted import Model

_REPEATS = 5  # shuffles of a column, where all trees are judged together

__all__ = ["check_can_be_judged", "impurity_importances", "permutation_importances"]


def impurity_importances(model: Model, path: Path, tree: int | None) -> str:
    """The share of the impurity that each column's splits removed from the training rows.

    Parameters
    ----------
    model : Model
    path : Path
        Its file, for messages.
    tree : int or None
        One of many trees; None takes all.

    Raises
    ------
    UsageRefusal
        An isolation forest, or there is no such tree.
    """
    from treewright.forest.importance import impurity_decrease

    refuse_isolation(model, path, "no impurity was lowered")
    return printable_lines(str(impurity_decrease(model if tree is None else one_tree(model, path, tree, "--tree"))))


def check_can_be_judged(model: Model, path: Path) -> None:
    """Refuse models that cannot be judged on shuffled rows.

    Raises
    ------
    UsageRefusal
        A row with missing cells ends in several leaves; or boosting lowered a loss that the file does not know.
    """
    told = model.facts.get("loss")
    if model.has_scores and isinstance(told, dict) and told.get("name") == "own":
        raise UsageRefusal(f"--importances: the loss of {path} is a function of Python, which the file cannot hold")
    if model.missing == "fractional" and not model.has_rounds:
        raise UsageRefusal(
            f"--importances: {path} divides rows with missing cells among leaves (missing='fractional'), so a tree has "
            "no one answer to judge: leave it out"
        )


def permutation_importances(model: Model, features: Any, truth: np.ndarray) -> str:
    """How much worse the trees predict these rows when a column is shuffled (Breiman 2001); the seed is 0.

    Each tree by itself. Boosted trees, of which each only adds to the others, are judged all together, by their loss;
    those of AdaBoost, grown on the rows that others got wrong, by what they answer together.

    Parameters
    ----------
    model : Model
    features : table of n rows
    truth : ndarray[n]

    Raises
    ------
    DataError
        A label is none of the model's classes.
    TooLargeError
    """
    from treewright.core.threads import resolve_jobs
    from treewright.forest.importance import JudgingRows, permutation_importances
    from treewright.predict.walks import walk_of

    n_threads = resolve_jobs(None)
    matrix, target, weights = model.encode_rows(features, truth, routed=True)
    if model.has_scores:
        from treewright.boosting.fewer_rounds import losses_of_model
        from treewright.learn import importance as boosting_importance
        from treewright.prune.methods import Rows
        from treewright.prune.methods import Rows as OtherRows

        losses = losses_of_model(model, Rows(matrix, target, weights))
        judged = OtherRows(matrix, target, weights)
        return printable_lines(
            str(boosting_importance.permutation_importances(model, losses, judged, _REPEATS, 0, n_threads))
        )
    if model.has_rounds:
        from treewright.learn.importance import permutation_of_weighted_trees
        from treewright.prune.methods import Rows as OtherRows

        others = OtherRows(matrix, target, weights)
        return printable_lines(str(permutation_of_weighted_trees(model, others, _REPEATS, 0, n_threads)))
    rows = JudgingRows(walk_of(model.trees).cells(matrix, n_threads), target, weights)
    return printable_lines(str(permutation_importances(model, rows, n_threads=n_threads)))
