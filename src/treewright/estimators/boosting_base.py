"""What boosted estimators share: bins, rounds, warm starts, what was evaluated. In: a table, a target. Out: ``model_``.

Callers: estimators.boosting_classifier, estimators.boosting_regressor.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from sklearn.utils._param_validation import RealNotInt

from treewright.boosting.rounds import Boosted, boost
from treewright.boosting.row_weights import RowWeights
from treewright.boosting.settings import BoostRows, BoostTable, Evaluation
from treewright.core import notices, progress
from treewright.core.progress_bar import bar_where_nobody_listens
from treewright.core.threads import resolve_jobs
from treewright.data.bin_rows import bin_rows
from treewright.data.memory import check_fits
from treewright.data.target import Labels, check_weights
from treewright.data.weights import weighed
from treewright.estimators import resolve
from treewright.estimators.base import Estimator
from treewright.estimators.boosting_news import Judge, facts_of
from treewright.estimators.boosting_past import Curves, past_of, refuse_fewer
from treewright.estimators.boosting_plan import (
    base_scores,
    binned_with_statistics,
    boost_settings,
    callbacks_of,
    check_together,
    tree_settings,
)
from treewright.estimators.boosting_rows import Given, OtherRows, encode_given, held_out
from treewright.estimators.boosting_suspicions import warn_of_no_better_round, warn_of_silent_trees
from treewright.estimators.boosting_verbs import BoostingVerbs
from treewright.estimators.constraints import Number, Words
from treewright.estimators.forest_past import PastFit
from treewright.estimators.forest_score import refuse_other_function
from treewright.estimators.suspicions import warn_of_suspicions
from treewright.estimators.table import FitInput, FitTable
from treewright.model import Model
from treewright.tree.boosting import Boosting

if TYPE_CHECKING:
    from treewright.boosting.losses import Loss
    from treewright.tree.model import Combine, Missing
    from treewright.tree.packed import PackedTrees

_SHARE = Number(Real, 0.0, 1.0, closed="right")
_FROM_0 = Number(Real, 0.0, None, closed="left")


class BoostingEstimator(BoostingVerbs, Estimator):
    """A scikit-learn estimator around boosted trees."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_estimators": [Number(Integral, 1, None, closed="left")],
        "learning_rate": [_SHARE],
        "max_leaf_nodes": [Number(Integral, 2, None, closed="left"), None],
        "max_depth": [Number(Integral, 1, None, closed="left"), None],
        "growth": [Words({"leaf", "level", "symmetric"})],
        "min_samples_leaf": [Number(Integral, 1, None, closed="left")],
        "min_child_weight": [_FROM_0],
        "l1": [_FROM_0],
        "l2": [_FROM_0],
        "min_gain": [_FROM_0],
        "subsample": [_SHARE],
        "sampling": [Words({"uniform", "gradient"})],
        "top_rate": [_SHARE],
        "other_rate": [_SHARE],
        "features_per_tree": [_SHARE],
        "features_per_level": [_SHARE],
        "features_per_node": [_SHARE],
        "max_bins": [Number(Integral, 2, 255, closed="both")],
        "level_smoothing": [_FROM_0],
        "level_l2": [_FROM_0],
        "level_encoding": [Words({"auto", "subsets", "ordered"})],
        "monotonic_cst": ["array-like", dict, None],
        "interaction_cst": ["array-like", Words({"pairwise", "no_interactions"}), None],
        "init": ["array-like", Number(Real, None, None, closed="neither"), Words({"zero"}), None],
        "early_stopping": ["boolean"],
        "validation_fraction": [Number(RealNotInt, 0.0, 1.0, closed="neither"), None],
        "n_iter_no_change": [Number(Integral, 1, None, closed="left")],
        "tol": [_FROM_0],
        "scoring": [callable, None],
        "callbacks": ["array-like", callable, None],
        "warm_start": ["boolean"],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
        **{name: Estimator._parameter_constraints[name] for name in ("nominal", "ordinal", "numeric", "unseen")},
        "n_jobs": Estimator._parameter_constraints["n_jobs"],
    }
    _algorithm = "gradient_boosting"

    # Set by __init__ of the estimators.
    loss: Any
    n_estimators: int
    max_bins: int
    level_encoding: str
    init: Any
    early_stopping: bool
    validation_fraction: float | None
    n_iter_no_change: int
    tol: float
    scoring: Callable[[Any, Any], float] | None
    callbacks: Any
    warm_start: bool
    verbose: int
    random_state: Any
    unseen: str
    monotonic_cst: Any

    # Set by fit.
    n_iter_: int
    fit_seconds_: dict[str, float]
    _past: PastFit
    _bound: tuple[Loss, ...]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_together(self)
        if self.scoring is not None:
            refuse_other_function(self.scoring, "scoring", "two arguments, the true answers and the predicted ones")
        for each in callbacks_of(self.callbacks):
            refuse_other_function(each, "callbacks", "one argument, a Round", 1)

    def _fit_beside(self, X: Any, y: Any, sample_weight: Any, others: tuple[Any, Any, Any]) -> Self:
        """As ``_fit``, with rows that judge the rounds."""
        self._check_parameters()
        n_threads = resolve_jobs(self.n_jobs)
        judging = Given.of(*others)
        with progress.compiling_told():
            given = self._checked(X, y, sample_weight, n_threads)
            rows = None if judging is None else self._encode_given(given, judging)
            self._learn(given, n_threads, rows)
        return self

    def _encode_given(self, given: FitInput, judging: Given) -> OtherRows:
        """Rows that the user gave to judge the rounds."""
        table = given.table
        return encode_given(
            judging, table.schema, _classes_of(table.target), self._n_outputs(table.target), given.factors,
            unseen=self.unseen, owner=type(self).__name__,
        )  # fmt: skip

    def _refuse_too_little_memory(self, p: int, n: int, n_threads: int) -> None:  # noqa: ARG002 - rows are not copied
        # A byte a cell; rows in the order of their leaves, and scores, gradients and hessians.
        check_fits(n * (p + 8 + 32), f"boosting on {n} rows x {p} columns")

    def _parts_of(self, given: FitInput, seed: int) -> tuple[FitInput, OtherRows | None]:
        """The rows that trees are grown on, and those that are kept aside to judge them."""
        if not self.early_stopping or self.validation_fraction is None:
            return given, None
        table, own = given.table, given.sample_weight
        by_class = bool(_classes_of(table.target))
        aside = held_out(table.target[0], float(self.validation_fraction), seed, by_class=by_class)
        weights = table.weights
        others = OtherRows(table.matrix[aside], table.target[0][aside], None if weights is None else weights[aside])
        kept = replace(
            table,
            matrix=table.matrix[~aside],
            target=self._rows_of(table.target, ~aside),
            weights=None if weights is None else weights[~aside],
        )
        return replace(given, table=kept, sample_weight=None if own is None else own[~aside]), others

    def _learn(self, given: FitInput, n_threads: int, others: OtherRows | None = None) -> None:
        """Grow the rounds, or those that are new; keep them."""
        began = perf_counter()
        past: PastFit | None = self.__dict__.get("_past") if self.warm_start else None
        seed = resolve.seed_of(self.random_state) if past is None else past.seed
        self._refuse_targets(given.table.target, given.kept)  # rows are known by their numbers while they are together
        if others is None:
            given, others = self._parts_of(given, seed)
        table = given.table
        of_classes = _weights_of_classes(given)
        RowWeights.of(given.sample_weight, of_classes)  # refuses what gradients cannot hold, before losses are bound
        losses = self._bound_losses(table, others)
        n_classes = self._n_classes(table.target)
        tree = tree_settings(self, table.schema, self._n_outputs(table.target), n_classes)
        base = base_scores(self.init, sum(loss.n_scores for loss in losses))
        with bar_where_nobody_listens(bool(self.verbose)):
            one_number = self._n_outputs(table.target) == 1 and all(count <= 2 for count in n_classes)
            binned, of_all = binned_with_statistics(table, self, seed, n_threads, one_number=one_number)
            plain = resolve.plain_parameters(self._parameters())
            now = past_of(binned, plain, seed)
            if past is not None and self._nothing_to_add(past, table, now):
                return
            settings = replace(
                boost_settings(self, tree, losses, seed),
                n_threads=n_threads,
                evaluation=self._evaluation(table, losses, others, of_all, n_threads),
                callbacks=callbacks_of(self.callbacks),
            )
            start, before = None, None
            if past is not None:
                start = cast("PackedTrees", self.model_.trees), cast("Boosting", self.model_.boosting)
                before = Curves(self.history_, self.n_estimators_)
            stages = {"bins": perf_counter() - began}
            rows = BoostRows(binned.codes, table.target[0], given.sample_weight, of_classes)
            boosted = boost(of_all, rows, settings, start, base)
            progress.report(boosted.history.last / boosted.history.n_rounds, str(boosted.history))
        self._keep(given, boosted, losses, before)
        self._past = now
        self.fit_seconds_ = {**stages, **boosted.history.stages}
        importances = self.feature_importances_
        column = int(importances.argmax()) if importances.any() else -1
        warn_of_suspicions(table.schema, table.matrix, table.target, column)
        warn_of_silent_trees(boosted.trees, losses, given, self)
        if self.early_stopping and past is None:
            warn_of_no_better_round(boosted.history)

    def _check_target(self, y: Any, sample_weight: Any = None) -> None:
        target = self._encode_target(y)
        weights = check_weights(sample_weight, len(target[0]))
        kept = None if weights is None else weights > 0
        self._refuse_targets(target if kept is None else self._rows_of(target, kept), kept)

    def _refuse_targets(self, target: Any, kept: np.ndarray | None) -> None:
        """Refuse targets outside the domain of their loss.

        Parameters
        ----------
        target : Labels or Numbers
        kept : bool[n] or None
            Which of the user's rows these are; None: all.
        """
        rows = None if kept is None else np.flatnonzero(kept)
        for output, loss in enumerate(self._losses(self._n_outputs(target), self._n_classes(target))):
            loss.check(np.ascontiguousarray(target[0][:, output]), "y", rows)

    def _bound_losses(self, table: FitTable, others: OtherRows | None) -> tuple[Loss, ...]:
        """A loss per output, with what it takes from the rows; evaluation rows are in its domain."""
        losses = self._losses(self._n_outputs(table.target), self._n_classes(table.target))
        target = table.target[0]
        bound = []
        for output, loss in enumerate(losses):
            own = np.ascontiguousarray(target[:, output])
            if others is not None:
                loss.check(np.ascontiguousarray(others.target[:, output]), "y_val")
            bound.append(loss.bound(own, table.weights))
        return tuple(bound)

    def _nothing_to_add(self, past: PastFit, table: FitTable, now: PastFit) -> bool:
        """Whether a warm start has all the rounds it asks for.

        Raises
        ------
        ParameterError
            The table or a parameter is another than at the fit before, or there are more rounds than are asked for.
        """
        refuse_fewer(int(self.n_estimators), self.n_estimators_)
        past.refuse_another(self.model_, table, now.digest, now.parameters)
        if self.n_estimators_ < self.n_estimators:
            return False
        notices.warn("Warm-start fitting without increasing n_estimators does not fit new trees.")
        return True

    def _evaluation(
        self, table: FitTable, losses: tuple[Loss, ...], others: OtherRows | None, of_all: BoostTable, n_threads: int
    ) -> Evaluation | None:
        """What judges the rounds; None where nobody would hear of it."""
        if others is None and not (self.early_stopping or self.verbose or self.scoring or self._has_callbacks()):
            return None
        rows, target = None, table.target[0]
        if others is not None:
            rows = BoostRows(bin_rows(of_all.bins, others.matrix, n_threads), others.target, others.weights)
            target = others.target
        judge = None
        if self.scoring is not None:
            zeros = (0.0,) * sum(loss.n_scores for loss in losses)
            judge = Judge.of(
                self.scoring, _classes_of(table.target), Boosting(zeros, losses[0].link), table.schema, target
            )
        patience = int(self.n_iter_no_change) if self.early_stopping else None
        return Evaluation(rows, judge, patience, resolve.finite(self.tol))

    def _has_callbacks(self) -> bool:
        return bool(callbacks_of(self.callbacks))

    def _keep(self, given: FitInput, boosted: Boosted, losses: tuple[Loss, ...], before: Curves | None) -> None:
        """Keep the model, with what was evaluated."""
        curves = Curves.of(boosted.history, before)
        facts = {
            "loss": facts_of(losses),
            "best_iteration": curves.best,
            "history": curves.values,
            "scored": self.scoring is not None,
        }
        self._store(given, boosted, **facts)
        self._bound = losses
        self.n_iter_ = max((len(values) - 1 for values in curves.values.values()), default=self.n_estimators_)

    def _make_model(self, table: FitTable, trees: Any, facts: Mapping[str, Any]) -> Model:
        boosted: Boosted = trees
        model = super()._make_model(table, boosted.trees, facts)  # type: ignore[safe-super]
        model = replace(model, boosting=boosted.boosting)
        n_scores = boosted.boosting.n_scores
        if model.classes or n_scores == model.n_outputs:
            return model
        # Several levels of one target.
        levels = facts["loss"].get("quantile", range(n_scores))
        names = tuple(f"{name} {level}" for name in model.target_names for level in levels)
        return replace(model, n_outputs=n_scores, target_names=names)

    def _combine(self) -> Combine:
        return "sum"

    def _criterion_name(self) -> str:
        return "gradient"

    def _missing(self) -> Missing:
        return "direction"

    def _fitted(self) -> Model:
        model = Estimator._fitted(self)
        if self.n_jobs is not None:
            resolve_jobs(self.n_jobs)  # it may have been set after the fit
        return model

    # What classifiers and regressors differ in.

    if TYPE_CHECKING:

        def _n_classes(self, target: Any) -> tuple[int, ...]: ...

    @abstractmethod
    def _losses(self, n_outputs: int, n_classes: Sequence[int]) -> tuple[Loss, ...]:
        """A loss per output."""


def _weights_of_classes(given: FitInput) -> np.ndarray | None:
    """float64[n]: what each row's classes weigh, to float32: so times a number of rows it is exact."""
    of_classes = weighed(None, given.factors, given.table.target[0])
    if of_classes is None:
        return None
    with np.errstate(over="ignore", under="ignore"):  # the rounds refuse what float32 cannot hold
        return of_classes.astype(np.float32).astype(np.float64)


def _classes_of(target: Any) -> tuple[np.ndarray, ...]:
    """The labels of each output; empty for numbers."""
    return target.classes if isinstance(target, Labels) else ()
