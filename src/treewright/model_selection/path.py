"""The cross-validated cost-complexity path. In: an estimator, a table, a target. Out: ``PruningPath``.

Callers: users, model_selection.pruned, model_selection.pruners.

A fold is grown once, and the errors of all subtrees are read off that one tree (``prune.path_errors``).
"""

from __future__ import annotations

from typing import Any, NamedTuple, get_args

import numpy as np
from sklearn.base import clone

from treewright.core.threads import resolve_jobs, run_each
from treewright.data.target import check_weights, encode_labels, recode
from treewright.data.weights import class_factors, warn_of_small_weights, weighed
from treewright.estimators.single import TreeEstimator
from treewright.exceptions import ParameterError
from treewright.model import Model
from treewright.model_selection.candidates import check_prunable, unpruned
from treewright.model_selection.folds import Split, check_tested_once, splits_of
from treewright.model_selection.judged_rows import JudgedRows, in_own_unit, in_units, judged_labels, judged_numbers
from treewright.model_selection.losses import check_loss, standard_error_of_mean
from treewright.model_selection.path_table import RULES, PruningPath, Rule, cut_to, step_by
from treewright.model_selection.rows import count_rows, take_rows
from treewright.prune.path import Path, path_of
from treewright.prune.path_errors import PathLoss, PathLosses, path_losses
from treewright.prune.reduced_error import check_holdout
from treewright.prune.risk import Risk
from treewright.tree.arrays import Tree

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
    loss = _loss_of(model, loss)
    n = count_rows(y)
    weights = check_weights(sample_weight, n)
    judged, stands_for = _judged(model, X, y, weights, n)
    path = path_of(model, risk)
    whole = judged.losses(model, path, np.arange(len(path.alphas)), np.arange(n), loss)
    train_error = _error_of(whole, stands_for, judged.scale, loss)[0]
    found, n_folds, n_judged = None, 0, int((judged.weights > 0).sum())
    if validation is not None:
        found, stands_for, n_judged = _of_validation(model, path, validation, judged.scale, loss)
    elif cv is not None:
        splits = splits_of(
            cv, y, is_classification=model.task == "classification", random_state=random_state, groups=groups
        )
        check_tested_once(splits, n)
        rows = _Rows(X, y, weights, judged)
        found, n_folds = _cross_validated(bare, rows, splits, path, risk, loss, n_threads), len(splits)
    error = standard_error = None
    if found is not None:
        warn_of_small_weights(stands_for, n_judged, "the standard error of pruning_path")
        error, standard_error = _error_of(found, stands_for, judged.scale, loss)
    chosen = None if error is None or standard_error is None else step_by(rule, error, standard_error)
    return PruningPath(
        alphas=path.alphas,
        n_leaves=path.n_leaves,
        depth=_depths(model.trees[0], path),
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


class _Rows(NamedTuple):
    """The rows as given, with the weights that were given (float64[n] or None), and as judges."""

    X: Any
    y: Any
    weights: np.ndarray | None
    judged: JudgedRows


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


def _loss_of(model: Model, loss: PathLoss | None) -> PathLoss:
    """The loss, checked; what goes with the tree where none is given."""
    known: tuple[PathLoss, ...] = ("misclassification",)
    if model.task == "regression":
        known = ("squared_error", "absolute_error")
        if model.facts["criterion"] == "absolute_error":
            known = known[::-1]
    return check_loss(loss, is_classification=model.task == "classification", known=known)  # type: ignore[return-value]


def _judged(model: Model, X: Any, y: Any, weights: np.ndarray | None, n: int) -> tuple[JudgedRows, float]:
    """The rows as judges, weighed as given and by class; and how many rows these weights stand for.

    The second is the sum of the weights as given, of the rows that count: a class weight says how much a class
    matters, not how many rows there are, so that a factor common to all classes changes nothing.
    """
    given = np.ones(n) if weights is None else weights
    if model.task == "regression":
        rows, held = judged_numbers(X, y, given), given
    else:
        rows = judged_labels(X, y, given, model.classes)
        codes = rows.labels.codes  # type: ignore[union-attr]
        found = weighed(weights, class_factors(model.facts, codes, model.classes), codes)
        held = given if found is None else found
    return rows._replace(weights=in_units(held)), float(given[held > 0].sum())


def _cross_validated(
    bare: TreeEstimator,
    rows: _Rows,
    splits: list[Split],
    path: Path,
    risk: Risk,
    loss: PathLoss,
    n_threads: int,
) -> PathLosses:
    """Losses of all rows, each by the trees of the fold that it was kept out of."""
    prices = np.append(np.sqrt(path.alphas[:-1]) * np.sqrt(path.alphas[1:]), np.inf)
    of_folds: list[PathLosses] = [None] * len(splits)  # type: ignore[list-item]

    def judge(fold: int, thread: int) -> None:  # noqa: ARG001 - the threads share nothing
        train, test = splits[fold]
        weights = None if rows.weights is None else rows.weights[train]
        try:
            model = clone(bare).fit(take_rows(rows.X, train), take_rows(rows.y, train), weights).model_
            own = path_of(model, risk)
            steps = np.array([own.step_at(price) for price in prices], np.int64)
            of_folds[fold] = rows.judged.losses(model, own, steps, test, loss)
        except Exception as error:
            error.add_note(f"in fold {fold} of {len(splits)}, counted from 0")
            raise

    run_each(judge, len(splits), n_threads)
    # Summed in the order of the folds, whoever was first.
    return PathLosses(
        np.sum([one.loss for one in of_folds], axis=0),
        np.sum([one.square for one in of_folds], axis=0),
        float(sum(one.weight for one in of_folds)),
    )


def _of_validation(
    model: Model, path: Path, validation: Any, scale: float, loss: PathLoss
) -> tuple[PathLosses, float, int]:
    """Losses of rows kept aside, how many rows their weights stand for, and how many count.

    Their subtrees are those of the path itself.

    Raises
    ------
    DataError
        Rows were refused, or are all of one class: the smallest tree would look perfect.
    """
    matrix, target, weights = model.encode_rows(*validation, owner="pruning_path", routed=True)
    check_holdout(model, target)
    weights = np.ones(len(matrix)) if weights is None else weights
    steps = np.arange(len(path.alphas))
    with np.errstate(over="ignore"):
        truth = np.asarray(target / scale, np.float64)
    found = path_losses(model, path, steps, matrix, truth, in_units(weights), loss, scale=scale)
    return found, _stands_for(model, *validation), len(matrix)


def _stands_for(model: Model, X: Any, y: Any, weights: Any = None) -> float:
    """How many rows the weights of rows kept aside stand for, as ``_judged`` counts them."""
    n = count_rows(X)
    given = check_weights(weights, n)
    given = np.ones(n) if given is None else given
    if model.task == "regression":
        return float(given.sum())
    codes = recode(encode_labels(y), model.classes)
    held = weighed(given, class_factors(model.facts, codes, model.classes), codes)
    return float(given[given > 0 if held is None else held > 0].sum())


def _error_of(sums: PathLosses, n: float, scale: float, loss: PathLoss) -> tuple[np.ndarray, np.ndarray]:
    """Means of the losses, and their standard errors over ``n`` rows, in the target's own unit.

    Raises
    ------
    DataError
        They are beyond float64.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        mean = sums.loss / sums.weight
        # Divided before it is subtracted: a sum of weights may be near the end of float64.
        around = np.maximum(sums.square / sums.weight - mean * mean, 0.0)
        spread = standard_error_of_mean(around, n)
    return in_own_unit(mean, scale, loss), in_own_unit(spread, scale, loss)


def _depths(tree: Tree, path: Path) -> np.ndarray:
    """Depth of each subtree."""
    inner = ~tree.is_leaf
    deepest = np.zeros(len(path.alphas) + 1, np.int64)
    np.maximum.at(deepest, path.collapse_step[inner], tree.depth[inner].astype(np.int64) + 1)
    # A node is an inner one in the subtrees before its step.
    return np.asarray(np.maximum.accumulate(deepest[::-1])[::-1][1:])
