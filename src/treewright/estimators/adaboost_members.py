"""How AdaBoost fits one member and asks it. In: a base, rows, their weights. Out: a fitted member, what it says.

Caller: estimators.adaboost_base.

Single trees of Treewright are grown on a table that is encoded and sorted (or binned) once; any other base is fitted
and asked with the table itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from treewright.boosting.adaboost import RowWeights
from treewright.data.take import take_rows
from treewright.data.target import Labels, Numbers, encode_labels, recode
from treewright.data.weights import factors_by_code, weighed
from treewright.estimators.bagging_plan import is_of_treewright
from treewright.estimators.bagging_rows import BagRows, seeded
from treewright.estimators.bagging_votes import numbers_of
from treewright.estimators.cart import CartEstimator
from treewright.estimators.single import TreeEstimator
from treewright.estimators.suspicions import warn_of_suspicions
from treewright.estimators.table import FitInput, FitTable, Prepared
from treewright.exceptions import DataError, ParameterError
from treewright.predict.values import predict_codes, predict_numbers


@dataclass(frozen=True)
class BoostPlan:
    """What all members of a fit have in common.

    Attributes
    ----------
    base : estimator
        Cloned for each member, never fitted itself.
    X : table of n rows
    y : ndarray[n]
    target : Labels or Numbers of n rows
    rows : BagRows
        Which rows have weight; draws from them.
    weights : float64[n] or None
        Before the first round.
    bootstrap : bool
        Whether a member is fitted on rows drawn by their weights, not on weights.
    seed, n_threads : int
    """

    base: Any
    X: Any
    y: np.ndarray
    target: Labels | Numbers
    rows: BagRows
    weights: np.ndarray | None
    bootstrap: bool
    seed: int
    n_threads: int


class Fitting(ABC):
    """A way to fit members and to ask them about the rows of the fit.

    Parameters
    ----------
    plan : BoostPlan
    """

    def __init__(self, plan: BoostPlan) -> None:
        self.plan = plan

    @abstractmethod
    def fit(self, member: int, weights: RowWeights) -> Any:
        """A fitted member, whose number is ``member``; ``weights`` are of the rows ``kept``."""

    @abstractmethod
    def said(self, fitted: Any) -> np.ndarray:
        """What a member says of the rows ``kept``: int32[m] codes among the classes of y, or float64[m]."""


class OnEncodedTable(Fitting):
    """Single trees of Treewright, on one encoded table."""

    def __init__(self, plan: BoostPlan) -> None:
        super().__init__(plan)
        base = clone(plan.base)
        if "class_weight" in base.get_params(deep=False):
            base.set_params(class_weight=None)  # the rounds begin with the weights of the rows alone
        base._check_parameters()
        table = base._checked(plan.X, plan.y, plan.weights, plan.n_threads).table
        # Once: "balanced" by the weights of a round would take back what the round has learnt about a class.
        self._factors = clone(plan.base)._class_factors(table.target, table.weights)
        self._table = replace(table, weights=None, prepared=Prepared())

    def fit(self, member: int, weights: RowWeights) -> Any:
        """As ``Fitting.fit``."""
        plan = self.plan
        estimator = seeded(clone(plan.base), plan.seed, member)
        estimator._check_parameters()
        own, unit = weights.as_rows, 1.0
        if plan.bootstrap:
            own = plan.rows.counts_by_chance(member, weights.as_counts()[0]).astype(np.float64)
        elif _is_blind_to_scale(estimator):
            own, unit = weights.as_counts()
        each = cast("np.ndarray", weighed(own, self._factors, self._table.target[0]))
        given = self._weighed(each, own)
        tree, steps = estimator._grow(given.table, plan.n_threads)
        if unit != 1.0:
            counts = {"value": tree.value * unit} if isinstance(plan.target, Labels) else {}
            tree = replace(tree, weight=tree.weight * unit, **counts)
        warn_of_suspicions(given.table.schema, given.table.matrix, given.table.target, int(tree.feature[0]))
        estimator._store(given, (tree,))
        estimator._steps, estimator._parameters_of_fit = steps, estimator._parameters()
        return estimator

    def _weighed(self, weights: np.ndarray, own: np.ndarray) -> FitInput:
        """The table with these weights; rows without any are left out."""
        table = replace(self._table, weights=weights)
        if weights.all():
            return FitInput(table, None, self._factors, own)
        kept = weights > 0
        target: Any = table.target
        part = target._replace(**{target._fields[0]: target[0][kept]})
        return FitInput(FitTable(table.schema, table.matrix[kept], part, weights[kept]), kept, self._factors, own[kept])

    def said(self, fitted: Any) -> np.ndarray:
        """As ``Fitting.said``."""
        predict = predict_codes if isinstance(self.plan.target, Labels) else predict_numbers
        said: np.ndarray = predict(fitted.model_, self._table.matrix, self.plan.n_threads)[:, 0]
        return said


class OnRawTable(Fitting):
    """Any other base, on the table as it was given."""

    def __init__(self, plan: BoostPlan) -> None:
        super().__init__(plan)
        self._takes_weights = has_fit_parameter(plan.base, "sample_weight")
        if not (self._takes_weights or plan.bootstrap):
            raise ParameterError(
                f"fit of {type(plan.base).__name__} takes no sample_weight: give bootstrap=True, which draws rows by "
                "their weights, or another base"
            )
        is_every = len(plan.rows.kept) == plan.rows.n_rows
        self._X = plan.X if is_every else take_rows(plan.X, plan.rows.kept)
        self._y = plan.y if is_every else plan.y[plan.rows.kept]
        self._class_weight: dict[Any, float] | None = None
        if is_of_treewright(plan.base) and getattr(plan.base, "class_weight", None) == "balanced":
            # Ours balance by the weights that they get: those before the first round are taken, as on encoded tables.
            labels = cast("Labels", plan.target)
            factors = factors_by_code(["balanced"], labels.codes, labels.classes, plan.weights)[0]
            self._class_weight = dict(zip(labels.classes[0].tolist(), factors.tolist(), strict=True))

    def fit(self, member: int, weights: RowWeights) -> Any:
        """As ``Fitting.fit``."""
        plan = self.plan
        estimator = seeded(clone(plan.base), plan.seed, member)
        if self._class_weight is not None:
            estimator.set_params(class_weight=self._class_weight)
        is_ours = is_of_treewright(plan.base)
        if not plan.bootstrap:
            own = weights.as_rows if is_ours else weights.shares
            return estimator.fit(self._X, self._y, sample_weight=own)
        counts = plan.rows.counts_by_chance(member, weights.as_counts()[0])
        if is_ours and self._takes_weights:  # levels and classes stay known that the draws happen to miss
            return estimator.fit(self._X, self._y, sample_weight=counts.astype(np.float64))
        drawn = plan.rows.repeated(counts)
        return estimator.fit(take_rows(plan.X, drawn), plan.y[drawn])

    def said(self, fitted: Any) -> np.ndarray:
        """As ``Fitting.said``."""
        target = self.plan.target
        if isinstance(target, Labels):
            return codes_said(fitted, self._X, target.classes)
        said = numbers_said(fitted, self._X)
        n_odd = int((~np.isfinite(said)).sum())
        if n_odd:
            raise DataError(f"{type(fitted).__name__} predicts {n_odd} numbers that are not finite: use another base")
        return said


def fitting_of(plan: BoostPlan) -> Fitting:
    """How members of this base are fitted."""
    base = plan.base
    # A class made from ours by inheritance may fit in its own way.
    is_own = isinstance(base, TreeEstimator) and type(base).__module__.partition(".")[0] == "treewright"
    return OnEncodedTable(plan) if is_own else OnRawTable(plan)


def codes_said(member: Any, X: Any, classes: tuple[np.ndarray, ...]) -> np.ndarray:
    """Classes that a member predicts, int32[n], as places among all classes."""
    return recode(encode_labels(np.asarray(member.predict(X))), classes)[:, 0]


def numbers_said(member: Any, X: Any) -> np.ndarray:
    """Numbers that a member predicts, float64[n]."""
    return numbers_of(member, X, 1)[0][:, 0]


def _is_blind_to_scale(estimator: Any) -> bool:
    """Whether a common factor of the weights changes nothing of the tree but the weights of its nodes."""
    if not isinstance(estimator, CartEstimator) or callable(estimator.criterion) or estimator.grow_trace:
        return False
    return estimator.max_p_value is None
