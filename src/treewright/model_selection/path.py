"""The cross-validated cost-complexity path. In: an estimator, a table, a target. Out: ``PruningPath``.

Callers: users, cli, model_selection.pruned, model_selection.pruners.

A fold is grown once, and the errors of all subtrees are read off that one tree (``prune.path_errors``).
"""

from __future__ import annotations

from typing import Any, NamedTuple, get_args

import numpy as np
from sklearn.base import clone

from treewright.core.threads import resolve_jobs, run_each
from treewright.data.encoder import encode
from treewright.data.target import Labels, check_weights, class_factors, encode_labels, encode_numbers, recode
from treewright.estimators.base import TreeEstimator
from treewright.exceptions import DataError, ParameterError
from treewright.model import Model
from treewright.model_selection.folds import Split, check_tested_once, splits_of
from treewright.model_selection.path_table import RULES, PruningPath, Rule, cut_to, step_by
from treewright.model_selection.rows import count_rows, take_rows
from treewright.prune.path import Path, path_of
from treewright.prune.path_errors import Loss, PathLosses, path_losses
from treewright.prune.risk import Risk
from treewright.tree.arrays import Tree

DEFAULT_FOLDS = 10
OWN_PRUNING = {"ccp_alpha": 0.0, "confidence": None}  # what an estimator calls its own pruning, and none of it


def pruning_path(
    estimator: TreeEstimator,
    X: Any,
    y: Any,
    *,
    cv: Any = DEFAULT_FOLDS,
    rule: Rule = "1se",
    risk: Risk = "impurity",
    loss: Loss | None = None,
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
    loss : {"misclassified", "squared", "absolute"}, optional
        How errors are counted: by default "misclassified" for classes; for numbers "absolute" where the tree was grown
        by ``criterion="absolute_error"``, else "squared". With several outputs a row's loss is their mean.
    validation : (X, y) or (X, y, sample_weight), optional
        Rows kept aside that judge in place of the folds.
    sample_weight : n numbers >= 0, optional
        Weights count in growing and in the errors; so does ``class_weight``, with one factor per class for all folds.
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
    rows matter, scale them to a mean of 1.

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
    table = _Table(X, y, weights, *_truth(model, y, weights, loss))
    judged = _judged_weights(model, table, n)
    path = path_of(model, risk)
    whole = _losses(model, path, np.arange(len(path.alphas)), X, table, judged, np.arange(n), loss)
    found, n_folds = None, 0
    if validation is not None:
        found = _of_validation(model, path, validation, table.scale, loss)
    elif cv is not None:
        splits = splits_of(
            cv, y, is_classification=model.task == "classification", random_state=random_state, groups=groups
        )
        check_tested_once(splits, n)
        found, n_folds = _cross_validated(bare, table, judged, splits, path, risk, loss, n_threads), len(splits)
    error, standard_error = (None, None) if found is None else _error_of(found, table.scale, loss)
    chosen = None if error is None or standard_error is None else step_by(rule, error, standard_error)
    return PruningPath(
        alphas=path.alphas,
        n_leaves=path.n_leaves,
        depth=_depths(model.trees[0], path),
        train_error=_error_of(whole, table.scale, loss)[0],
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


class _Table(NamedTuple):
    """The rows as given, and their target as numbers.

    ``weights`` float64[n] or None, those that were given. ``truth`` float64[n, n_outputs]: codes among the classes of
    all rows, or numbers divided by ``scale``. ``labels`` are the classes of all rows; None for numbers.
    """

    X: Any
    y: Any
    weights: np.ndarray | None
    truth: np.ndarray
    labels: Labels | None
    scale: float


def _check(estimator: Any, rule: Any, risk: Any, validation: Any, cv: Any, groups: Any) -> None:
    """Refuse what has no meaning."""
    if not isinstance(estimator, TreeEstimator):
        given = estimator.__name__ + " (a class)" if isinstance(estimator, type) else type(estimator).__name__
        raise ParameterError(
            f"estimator={given}: pruning_path takes a single-tree estimator of treewright, not one of another library; "
            "give treewright.DecisionTreeClassifier() or treewright.DecisionTreeRegressor(), for example"
        )
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


def unpruned(estimator: TreeEstimator) -> TreeEstimator:
    """A fresh copy that does not cut back by itself."""
    known = estimator.get_params(deep=False)
    return clone(estimator).set_params(**{name: value for name, value in OWN_PRUNING.items() if name in known})


def _loss_of(model: Model, loss: Loss | None) -> Loss:
    """The loss, checked; what goes with the tree where none is given."""
    if model.task == "classification":
        allowed: tuple[Loss, ...] = ("misclassified",)
    else:
        allowed = ("absolute", "squared") if model.facts["criterion"] == "absolute_error" else ("squared", "absolute")
    if loss is None:
        return allowed[0]
    if loss not in allowed:
        raise ParameterError(f"loss={loss!r}: for {model.task} choose {' or '.join(map(repr, allowed))}")
    return loss


def _truth(model: Model, y: Any, weights: np.ndarray | None, loss: Loss) -> tuple[np.ndarray, Labels | None, float]:
    """The target as numbers, its classes, and what numbers were divided by."""
    if loss == "misclassified":
        labels = encode_labels(y)
        codes = recode(labels, model.classes)
        return codes.astype(np.float64), labels._replace(classes=model.classes, codes=codes), 1.0
    values = encode_numbers(y).values
    if weights is not None:
        # What does not count must not set the scale either.
        values = np.where((weights > 0)[:, None], values, 0.0)
    # A power of 2 (nothing is rounded) that makes every loss at most 1: sums are then no larger than those of weights.
    scale = float(np.ldexp(2.0, np.frexp(np.abs(values).max())[1])) if values.any() else 1.0
    return values / scale, None, scale


def _judged_weights(model: Model, table: _Table, n: int) -> np.ndarray:
    """Weight of each row in the errors: as given, times its class's."""
    weights = np.ones(n) if table.weights is None else table.weights
    if table.labels is not None:
        parameters = model.facts["parameters"]
        factors = class_factors(parameters.get("class_weight"), table.labels.codes, model.classes)
        weights = weights if factors is None else weights * factors
    return weights


def _losses(
    model: Model,
    path: Path,
    steps: np.ndarray,
    X: Any,
    table: _Table,
    judged: np.ndarray,
    rows: np.ndarray,
    loss: Loss,
) -> PathLosses:
    """Losses of some rows of the table, ``X`` being these rows already."""
    matrix = encode(model.schema, X, unseen=model.unseen, missing=model.missing)
    codes = None if table.labels is None else _codes_among(model, table.labels)
    return path_losses(
        model, path, steps, matrix, table.truth[rows], judged[rows], loss, codes=codes, scale=table.scale
    )


def _codes_among(model: Model, labels: Labels) -> tuple[np.ndarray, ...]:
    """Per output the code, among the classes of all rows, of each class that a model knows."""
    codes = []
    for output, (own, known) in enumerate(zip(model.classes, labels.classes, strict=True)):
        alone = Labels(np.arange(len(own), dtype=np.int32)[:, None], (own,), labels.names[output : output + 1], True)
        codes.append(recode(alone, (known,))[:, 0])
    return tuple(codes)


def _cross_validated(
    bare: TreeEstimator,
    table: _Table,
    judged: np.ndarray,
    splits: list[Split],
    path: Path,
    risk: Risk,
    loss: Loss,
    n_threads: int,
) -> PathLosses:
    """Losses of all rows, each by the trees of the fold that it was kept out of."""
    prices = np.append(np.sqrt(path.alphas[:-1]) * np.sqrt(path.alphas[1:]), np.inf)
    of_folds: list[PathLosses] = [None] * len(splits)  # type: ignore[list-item]

    def judge(fold: int, thread: int) -> None:  # noqa: ARG001 - the threads share nothing
        train, test = splits[fold]
        weights = None if table.weights is None else table.weights[train]
        try:
            model = clone(bare).fit(take_rows(table.X, train), take_rows(table.y, train), weights).model_
            own = path_of(model, risk)
            steps = np.array([own.step_at(price) for price in prices], np.int64)
            of_folds[fold] = _losses(model, own, steps, take_rows(table.X, test), table, judged, test, loss)
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


def _of_validation(model: Model, path: Path, validation: Any, scale: float, loss: Loss) -> PathLosses:
    """Losses of rows kept aside; their subtrees are those of the path itself."""
    matrix, target, weights = model.encode_rows(*validation, owner="pruning_path", routed=True)
    weights = np.ones(len(matrix)) if weights is None else weights
    steps = np.arange(len(path.alphas))
    return path_losses(model, path, steps, matrix, np.asarray(target / scale, np.float64), weights, loss, scale=scale)


def _error_of(sums: PathLosses, scale: float, loss: Loss) -> tuple[np.ndarray, np.ndarray]:
    """Means of the losses, and their standard errors, in the target's own unit.

    Raises
    ------
    DataError
        They are beyond float64.
    """
    mean = sums.loss / sums.weight
    # Divided before it is multiplied: a sum of weights may be near the end of float64.
    around = np.maximum(sums.square / sums.weight - mean * mean, 0.0)
    spread = np.sqrt(around) / np.sqrt(sums.weight)
    with np.errstate(over="ignore"):
        for _ in range(2 if loss == "squared" else 1):
            mean, spread = mean * scale, spread * scale
    if not (np.isfinite(mean).all() and np.isfinite(spread).all()):
        raise DataError(f"y holds numbers up to {scale:.0e}, the squares of their errors are beyond float64: divide y")
    return mean, spread


def _depths(tree: Tree, path: Path) -> np.ndarray:
    """Depth of each subtree."""
    inner = ~tree.is_leaf
    deepest = np.zeros(len(path.alphas) + 1, np.int64)
    np.maximum.at(deepest, path.collapse_step[inner], tree.depth[inner].astype(np.int64) + 1)
    # A node is an inner one in the subtrees before its step.
    return np.asarray(np.maximum.accumulate(deepest[::-1])[::-1][1:])
