"""The cross-validated cost-complexity path. In: an estimator, a table, a target. Out: ``PruningPath``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from treewright.core.notices import listening
from treewright.core.threads import resolve_jobs
from treewright.core.whole import is_whole
from treewright.data.take import count_rows
from treewright.data.target import check_weights
from treewright.data.weights import warn_of_small_weights
from treewright.exceptions import DataError, ParameterError, pruner, setting
from treewright.fitted import Model
from treewright.judge.folds import as_array, check_tested_once, folds_within, splits_of
from treewright.judge.scores import WORDS
from treewright.judge.tasks import with_parameters
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
from treewright.model_selection.tables import abridged, lines_shown
from treewright.prune.cost_complexity import PathLoss, path_of
from treewright.prune.costs import EQUAL, Risk

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from treewright.estimators.trees import SingleTree as TreeEstimator

DEFAULT_FOLDS = 10
_WIDTH = 80  # of what is printed
Rule = Literal["1se", "min"]
RULES: tuple[Rule, ...] = ("1se", "min")
BY_CROSS_VALIDATION: dict[str, Rule] = {"ccp_1se": "1se", "ccp_min": "min"}
JUDGES = {"folds": "cv error", "validation": "valid. error", "nothing": ""}
LABELS = {"folds": "cross-validated", "validation": "held-out rows", "nothing": ""}
OWN_PRUNING = {"ccp_alpha": 0.0, "confidence": None}  # parameters that prune, with the values that switch it off


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
    """The subtrees of cost-complexity pruning with their cross-validated errors, and the subtree that a rule chooses.

    Parameters
    ----------
    estimator : estimator
        A single-tree estimator of this library; it is cloned, and its own pruning (``ccp_alpha``, ``confidence``) is
        switched off.
    X, y
        As for ``fit``.
    cv : int >= 2, splitter, pairs of rows, array of n fold numbers, or None
        The folds; each row must be tested once. None skips cross-validation: the table then has no error to choose by.
    rule : {"1se", "min"}
        The smallest tree whose error is within one standard error of the least, or the tree with the least error.
    risk : {"impurity", "error"}
        What a leaf costs on the path: its impurity (as in scikit-learn), or its misclassification rate (as in rpart).
    loss : {"misclassification", "log_loss", "squared_error", "absolute_error"}, optional
        The loss of a row. Classification: by default "misclassification"; "log_loss" rates the probabilities (a class
        that a leaf has not seen costs 36, as in scikit-learn; only for one target). Regression: by default
        "absolute_error" if the tree was grown by that criterion, else "squared_error". With several outputs a row's
        loss is their mean.
    validation : (X, y) or (X, y, sample_weight), optional
        Held-out rows that replace the folds; at least two classes if the tree has several.
    sample_weight : n numbers >= 0, optional
        Weights count in the fits and in the errors; so does ``class_weight``, with one factor per class for all folds.
        A weight stands for so many rows in the standard error, a class weight does not.
        Rows of weight 0 are only used to form the folds.
    random_state : int, RandomState or None
        Seed of the folds, if ``cv`` is a number.
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
        The estimator is not one of this library, or a parameter is outside its range.
    DataError
        The rows were refused, or the folds cannot be made.

    Notes
    -----
    Breiman, Friedman, Olshen and Stone 1984, sections 3.4.2 and 3.4.3. The path is that of the tree grown on all rows.
    Its k-th subtree is the best one for prices from alpha_k to alpha_(k+1), which are represented by their geometric
    mean: in each fold a tree is grown on the other rows, and the rows of the fold are predicted by its subtree at
    sqrt(alpha_k alpha_(k+1)); the last step predicts by its root. Prices are shares of the rows' total weight, hence
    the same in every fold. The error is the mean e of the losses e_i of all rows, sum(w_i e_i) / sum(w_i); its standard
    error, as in rpart, is sqrt(sum(w_i (e_i - e)^2)) / sum(w_i). A weight counts as so many rows: scale weights that
    only state how much rows matter to a mean of 1 (weights far below 1 raise a ``DataWarning``). With ``class_weight``
    sum(w_i) counts the weights as given: a factor that is common to all classes changes nothing.

    ``error_curve(over="alpha")`` has another standard error, between the means of the folds, and its values are prices
    between the steps: the two may choose trees of different size.

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
    from sklearn.base import clone

    check_prunable(estimator)
    _check(rule, risk, validation, cv, groups)
    bare = unpruned(estimator)
    return path_by(
        lambda *rows: clone(bare).fit(*rows), X, y, cv=cv, rule=rule, risk=risk, loss=loss, validation=validation,
        sample_weight=sample_weight, random_state=random_state, n_jobs=n_jobs, groups=groups,
    )  # fmt: skip


def path_by(
    grow: Callable[[Any, Any, Any], Any],
    X: Any,
    y: Any,
    *,
    cv: Any,
    rule: Rule,
    risk: Risk = "impurity",
    loss: PathLoss | None = None,
    validation: tuple[Any, ...] | None = None,
    sample_weight: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    groups: Any = None,
) -> PruningPath:
    """``pruning_path`` for a function ``grow(X, y, weights)`` that returns an object with ``model_`` and ``prune``."""
    n_threads = resolve_jobs(n_jobs)
    grown = grow(X, y, sample_weight)
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
        with listening():  # the tree of all rows has raised its warnings; those of the folds are dropped
            found = by_folds(lambda *given: grow(*given).model_, rows, splits, views, loss, n_threads)[0]
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


def size_by_folds(
    grow: Callable[[Any, Any, Any], Any],
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    pruning: str,
    cv: Any = DEFAULT_FOLDS,
    risk: Risk = "impurity",
    loss: PathLoss | None = None,
    is_classification: bool,
    random_state: Any,
    n_jobs: int | None,
) -> PruningPath:
    """The path whose ``estimator`` is grown on all rows and pruned to the size that cross-validation chooses.

    A small part of a cross-validation may have fewer rows than folds, or few rows of a class: there are at most as many
    folds as rows, and they are not stratified if a class is rare.

    Parameters
    ----------
    grow : callable
        As of ``path_by``.
    pruning : {"ccp_1se", "ccp_min"}
    cv, risk, loss, n_jobs
        As of ``pruning_path``.
    """
    if cv is None:
        raise ParameterError(
            setting("cv", None), ": ", pruner(pruning), " chooses its price by folds: give a number such as ",
            setting("cv", 10), parameter="cv",
        )  # fmt: skip
    rule = BY_CROSS_VALIDATION[pruning]
    _check(rule, risk, None, cv, None)
    n = len(as_array(y))
    if n == 1:
        raise DataError("n_samples=1: at least 2 rows are needed, to fit the tree and to prune it on other rows")
    folds = folds_within(
        min(cv, n) if is_whole(cv) else cv, y, is_classification=is_classification, random_state=random_state
    )
    return path_by(
        grow, X, y, cv=folds, rule=rule, risk=risk, loss=loss, sample_weight=sample_weight, random_state=random_state,
        n_jobs=n_jobs,
    )  # fmt: skip


def _check(rule: Any, risk: Any, validation: Any, cv: Any, groups: Any) -> None:
    """Refuse unknown values, and parameters that exclude each other."""
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


def is_single_tree(estimator: Any) -> bool:
    """Whether it is a single-tree estimator of this library."""
    from treewright.estimators.trees import SingleTree as TreeEstimator

    return isinstance(estimator, TreeEstimator)


def check_prunable(estimator: Any) -> None:
    """Refuse anything but a single-tree estimator of this library."""
    if not is_single_tree(estimator):
        given = f"{estimator.__name__} (a class)" if isinstance(estimator, type) else type(estimator).__name__
        raise ParameterError(
            f"estimator={given}: give a single-tree estimator of treewright, such as "
            "treewright.DecisionTreeClassifier()"
        )


def unpruned(estimator: Any) -> Any:
    """An unfitted copy of a tree estimator that is not pruned: neither by its parameters nor after its fit."""
    from treewright.estimators.after_fit import without_steps

    known = estimator.get_params(deep=False)
    off = {name: value for name, value in OWN_PRUNING.items() if name in known}
    return with_parameters(without_steps(estimator), off)


@dataclass(frozen=True, eq=False)
class PruningPath:
    """Every subtree of the cost-complexity path, from the largest to the root alone, with its errors.

    Attributes
    ----------
    alphas : float64[k], strictly ascending, the first 0.0
        The lowest price of a leaf at which each subtree is the best one, in units of ``risk``.
    n_leaves, depth : int64[k]
    train_error : float64[k]
        Mean loss over the training rows.
    cv_error : float64[k], or None
        Mean loss over all rows, each predicted by trees grown without its fold; with ``validation=`` over those rows.
        None without either.
    standard_error : float64[k], or None
        Of ``cv_error``.
    n_folds : int
        0 without cross-validation.
    rule : {"1se", "min"}
    risk : {"impurity", "error"}
    loss : {"misclassification", "log_loss", "squared_error", "absolute_error"}
    judged_by : {"folds", "validation", "nothing"}
    grown : estimator
        Fitted on all rows, not pruned.
    chosen : int, or None
        The step that the rule chooses; None without ``cv_error``.
    estimator : estimator
        Fitted, pruned to the step ``chosen``; ``grown`` without ``cv_error``.
    """

    alphas: np.ndarray
    n_leaves: np.ndarray
    depth: np.ndarray
    train_error: np.ndarray
    cv_error: np.ndarray | None
    standard_error: np.ndarray | None
    n_folds: int
    rule: Rule
    risk: Risk
    loss: PathLoss
    judged_by: Literal["folds", "validation", "nothing"]
    grown: Any
    chosen: int | None
    estimator: Any

    def __len__(self) -> int:
        return len(self.alphas)

    @property
    def best_alpha(self) -> float | None:
        """The price of a leaf at the chosen step."""
        return None if self.chosen is None else float(self.alphas[self.chosen])

    def step_of(self, rule: Rule) -> int:
        """The step that a rule chooses.

        Raises
        ------
        ParameterError
            There is no such rule, or no errors to choose by.
        """
        if rule not in RULES or self.cv_error is None or self.standard_error is None:
            raise ParameterError(f"rule={rule!r}: give '1se' or 'min', for a path with cross-validated errors")
        return step_by(rule, self.cv_error, self.standard_error)

    def prune(self, step: int) -> Any:
        """The tree of one step.

        Parameters
        ----------
        step : int, -k to k - 1
            Negative numbers count from the end: -1 is the root alone.

        Returns
        -------
        estimator
            Fitted; its ``prune_log_`` lists every cut.

        Raises
        ------
        ParameterError
            There is no such step.
        """
        if not is_whole(step) or not -len(self) <= step < len(self):
            raise ParameterError(f"step={step!r}: the path has the steps 0 to {len(self) - 1}")
        return cut_to(self.grown, float(self.alphas[step]), self.risk)

    def at(self, *, leaves: int) -> Any:
        """The largest tree of the path with at most so many leaves.

        Parameters
        ----------
        leaves : int >= 1

        Returns
        -------
        estimator

        Raises
        ------
        ParameterError
            ``leaves`` is below 1 or not a whole number.
        """
        return self.grown.prune("leaves", max_leaves=leaves, risk=self.risk)

    def to_dict(self) -> dict[str, np.ndarray]:
        """Columns for a data frame, one row per step."""
        columns = {
            "alpha": self.alphas,
            "leaves": self.n_leaves,
            "depth": self.depth,
            "train_error": self.train_error,
        }
        if self.cv_error is not None and self.standard_error is not None:
            columns |= {"cv_error": self.cv_error, "standard_error": self.standard_error}
        return columns

    def plot(self) -> Figure:
        """Draw the errors over the number of leaves; needs matplotlib.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from treewright.show.figures.curves import error_against_size

        return error_against_size(
            n_leaves=self.n_leaves, train=self.train_error, cv=self.cv_error, se=self.standard_error,
            chosen=self.chosen, rule=self.rule, alphas=self.alphas, ylabel=WORDS[self.loss],
            cv_label=LABELS[self.judged_by],
        )  # fmt: skip

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        marks = self._marks()
        shown = lines_shown(len(self), marks)
        steps = (self._line(step, marks.get(step, "")) for step in shown)
        lines = [self._title(), self._head(), *abridged(shown, steps, "step")]
        if self.chosen is not None:
            lines.append(self._verdict(self.chosen))
        if self.why_one_leaf:
            lines += wrap(self.why_one_leaf + ("; rule='min' keeps them" if self.rule == "1se" else ""), _WIDTH)
        return "\n".join(lines)

    def _title(self) -> str:
        """The title of the table: the loss, and the rows it was measured on."""
        how = {
            "folds": f"cross-validated in {self.n_folds} folds",
            "validation": "on held-out rows",
            "nothing": "on the training rows only",
        }[self.judged_by]
        return f"{WORDS[self.loss]} of {len(self):,} subtrees, {how}"

    def _head(self) -> str:
        judged = f" {JUDGES[self.judged_by]:>12} {'std. error':>11}" if self.judged_by != "nothing" else ""
        return f"{'step':>5} {'alpha':>11} {'leaves':>7} {'depth':>6} {'train error':>12}{judged}"

    def _line(self, step: int, mark: str) -> str:
        """One step of the table."""
        text = f"{step:>5} {self.alphas[step]:>11.5g} {self.n_leaves[step]:>7} {self.depth[step]:>6}"
        text += f" {self.train_error[step]:>12.5g}"
        if self.cv_error is not None and self.standard_error is not None:
            text += f" {self.cv_error[step]:>12.5g} {self.standard_error[step]:>11.4g}"
        return f"{text} {mark}".rstrip()

    def _marks(self) -> dict[int, str]:
        """Marks of the steps that the two rules choose."""
        if self.cv_error is None or self.standard_error is None:
            return {}
        simple, least = (self.step_of(rule) for rule in RULES)
        return {least: "min, 1-SE"} if least == simple else {least: "min", simple: "1-SE"}

    def _verdict(self, step: int) -> str:
        """The step that was chosen, in words."""
        rule = {"min": "the least error", "1se": "the 1-SE rule"}[self.rule]
        leaves = f"{self.n_leaves[step]} {'leaf' if self.n_leaves[step] == 1 else 'leaves'}"
        return f"chosen by {rule}: step {step}, {leaves}, alpha {self.alphas[step]:.5g}"

    @property
    def why_one_leaf(self) -> str:
        """Why only the root of the tree is left, in words; empty if more is left, or there never was more."""
        error, standard_error, chosen = self.cv_error, self.standard_error, self.chosen
        if error is None or standard_error is None or chosen is None or chosen == 0 or self.n_leaves[chosen] > 1:
            return ""
        least = self.step_of("min")
        if least == chosen:
            return f"one leaf is left: no larger tree of the path has a lower error than {error[chosen]:.4g}"
        return (
            f"one leaf is left: its error, {error[chosen]:.4g}, is within one standard error "
            f"({standard_error[least]:.3g}) of the least, {error[least]:.4g} with {self.n_leaves[least]} leaves"
        )


def step_by(rule: Rule, error: np.ndarray, standard_error: np.ndarray) -> int:
    """The step that a rule chooses.

    Parameters
    ----------
    rule : {"1se", "min"}
        The smallest tree of least error; or the smallest tree whose error is at most that plus its standard error
        (Breiman et al. 1984, section 3.4.3).
    error, standard_error : float64[k], by step: from the largest tree to the smallest
    """
    least = int(np.flatnonzero(error <= error.min() * (1 + EQUAL))[-1])
    if rule == "min":
        return least
    return int(np.flatnonzero(error <= (error[least] + standard_error[least]) * (1 + EQUAL))[-1])


def cut_to(grown: Any, alpha: float, risk: Risk) -> Any:
    """A fitted estimator pruned at a price."""
    return grown.prune("cost_complexity", alpha=alpha, risk=risk)
