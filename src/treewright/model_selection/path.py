"""The cross-validated cost-complexity path. In: an estimator, a table, a target. Out: ``PruningPath``.

Callers: users, model_selection.pruned, model_selection.pruners.
"""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
from sklearn.base import clone

from treewright.core.threads import resolve_jobs
from treewright.data.target import check_weights
from treewright.data.weights import warn_of_small_weights
from treewright.estimators.trees import SingleTree as TreeEstimator
from treewright.exceptions import ParameterError
from treewright.model import Model
from treewright.model_selection.candidates import check_prunable, unpruned
from treewright.model_selection.folds import check_tested_once, splits_of
from treewright.model_selection.path_judges import (
    FoldRows,
    along_path,
    by_folds,
    by_rows_aside,
    depths_along,
    loss_of,
    mean_errors,
    rows_that_judge,
)
from treewright.model_selection.path_table import RULES, PruningPath, Rule, cut_to, step_by
from treewright.model_selection.rows import count_rows
from treewright.prune.path import path_of
from treewright.prune.path_errors import PathLoss
from treewright.prune.risk import Risk

DEFAULT_FOLDS = 10


def pruning_path(
    estimator: TreeEstimator,
    X: Any,
    y: Any,
    *,
    cv: Any = DEFAULT_FOLDS,
    rule: Rule = "1se",
    risk: Risk = "impurity",
    loss: PathLoss | None = None,
    validation: tuple[Any, ...] | None = None,
    sample_weight: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    groups: Any = None,
) -> PruningPath:
    """The subtrees of cost-complexity pruning with their cross-validated errors, and the one that a rule chooses.

    Parameters
    ----------
    estimator : estimator
        A single-tree estimator of this library; it is cloned, and its own pruning (``ccp_alpha``, ``confidence``) is
        switched off.
    X, y
        As for ``fit``.
    cv : int >= 2, splitter, pairs of rows, array of n fold numbers, or None
        The folds; each row must be tested once. None leaves cross-validation out: the table then has no judge.
    rule : {"1se", "min"}
        The smallest tree whose error is within one standard error of the least, or the one of least error.
    risk : {"impurity", "error"}
        What a leaf costs on the path: its impurity, as in scikit-learn, or what it gets wrong, as in rpart.
    loss : {"misclassification", "squared_error", "absolute_error"}, optional
        How errors are counted: by default "misclassification" for classes; for numbers "absolute_error" where the tree
        was grown by that criterion, else "squared_error". With several outputs a row's loss is their mean.
    validation : (X, y) or (X, y, sample_weight), optional
        Rows kept aside that judge in place of the folds; of two classes or more, where the tree has as many.
    sample_weight : n numbers >= 0, optional
        Weights count in growing and in the errors; so does ``class_weight``, with one factor per class for all folds.
        A weight stands for so many rows in the standard error, a class weight does not.
        Rows of weight 0 take part in nothing but the drawing of the folds.
    random_state : int, RandomState or None
        Of the folds, where ``cv`` is a number.
    n_jobs : int, optional
        Threads over the folds; the result does not depend on it.
    groups : n group labels, optional
        For the splitter.

    Returns
    -------
    PruningPath
        ``print`` shows the table, ``.estimator`` is the chosen tree, ``.plot()`` draws the errors.

    Raises
    ------
    ParameterError
        The estimator is none of ours, or a parameter is outside its range.
    DataError
        The rows were refused, or the folds cannot be.

    Notes
    -----
    Breiman, Friedman, Olshen and Stone 1984, sections 3.4.2 and 3.4.3. The path is that of the tree grown on all rows.
    Its k-th subtree is wanted for prices from alpha_k to alpha_(k+1) and stands for their geometric mean: in each fold
    a tree is grown on the other rows, and the rows of the fold are predicted by its subtree at sqrt(alpha_k
    alpha_(k+1)), the last by its root. Prices are shares of the rows' whole weight, hence the same in every fold. The
    error is the mean e of the losses e_i of all rows, sum(w_i e_i) / sum(w_i); its standard error, as in rpart,
    sqrt(sum(w_i (e_i - e)^2)) / sum(w_i): a weight counts as so many rows, and with weights that only say how much
    rows matter, scale them to a mean of 1 (weights far below 1 bring a ``DataWarning``). With ``class_weight`` sum(w_i)
    counts them once, as given: a factor that is common to all classes changes nothing.

    ``error_curve(over="alpha")`` has another standard error, between the means of the folds, and takes prices between
    the steps for its values: the two may choose trees of different size.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_wine
    >>> from treewright.model_selection import pruning_path
    >>> X, y = load_wine(return_X_y=True)
    >>> path = pruning_path(tw.DecisionTreeClassifier(), X, y, cv=5)
    >>> path.n_leaves.tolist()
    [12, 11, 9, 8, 7, 6, 5, 4, 3, 2, 1]
    >>> path.chosen, path.estimator.get_n_leaves()
    (4, 7)
    """
    _check(estimator, rule, risk, validation, cv, groups)
    n_threads = resolve_jobs(n_jobs)
    bare = unpruned(estimator)
    grown = clone(bare).fit(X, y, sample_weight)
    model: Model = grown.model_
    loss = loss_of(model, loss)
    n = count_rows(y)
    weights = check_weights(sample_weight, n)
    judged, stands_for = rows_that_judge(model, X, y, weights, n)
    path = path_of(model, risk)
    whole = judged.losses(model, path, np.arange(len(path.alphas)), np.arange(n), loss)
    train_error = mean_errors(whole, stands_for, judged.scale, loss)[0]
    found, n_folds, n_judged = None, 0, int((judged.weights > 0).sum())
    if validation is not None:
        found, stands_for, n_judged = by_rows_aside(model, path, validation, judged.scale, loss)
    elif cv is not None:
        splits = splits_of(
            cv, y, is_classification=model.task == "classification", random_state=random_state, groups=groups
        )
        check_tested_once(splits, n)
        rows = FoldRows(X, y, weights, judged)
        views, n_folds = [along_path(path, risk)], len(splits)
        found = by_folds(lambda *given: clone(bare).fit(*given).model_, rows, splits, views, loss, n_threads)[0]
    error = standard_error = None
    if found is not None:
        warn_of_small_weights(stands_for, n_judged, "the standard error of pruning_path")
        error, standard_error = mean_errors(found, stands_for, judged.scale, loss)
    chosen = None if error is None or standard_error is None else step_by(rule, error, standard_error)
    return PruningPath(
        alphas=path.alphas,
        n_leaves=path.n_leaves,
        depth=depths_along(model.trees[0], path),
        train_error=train_error,
        cv_error=error,
        standard_error=standard_error,
        n_folds=n_folds,
        rule=rule,
        risk=risk,
        loss=loss,
        judged_by="folds" if n_folds else "nothing" if found is None else "validation",
        grown=grown,
        chosen=chosen,
        estimator=grown if chosen is None else cut_to(grown, float(path.alphas[chosen]), risk),
    )


def _check(estimator: Any, rule: Any, risk: Any, validation: Any, cv: Any, groups: Any) -> None:
    """Refuse what has no meaning."""
    check_prunable(estimator)
    for name, value, words in (("rule", rule, RULES), ("risk", risk, get_args(Risk))):
        if not isinstance(value, str) or value not in words:
            raise ParameterError(f"{name}={value!r}: choose one of {', '.join(map(repr, words))}")
    if validation is not None:
        if not isinstance(validation, tuple | list) or len(validation) not in (2, 3):
            raise ParameterError("validation= takes (X, y) or (X, y, sample_weight)")
        if groups is not None or not (cv is None or (isinstance(cv, int) and cv == DEFAULT_FOLDS)):
            raise ParameterError("give folds (cv=, groups=) or validation=, not both")
    elif cv is None and groups is not None:
        raise ParameterError("groups= needs folds: give cv= a splitter such as GroupKFold(5), or leave groups out")
