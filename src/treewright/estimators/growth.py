"""Parameters of every tree that is grown on a criterion. In: what the user wrote. Out: ``GrowSettings``, a target.

Callers: estimators.cart, estimators.forest_base.
"""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.utils._param_validation import Interval, RealNotInt

from treewright.data.target import Labels
from treewright.estimators import resolve
from treewright.estimators.base import Estimator
from treewright.estimators.constraints import Number, Words
from treewright.grow.binned.settings import BinnedSettings
from treewright.grow.by_node.policies import count_of
from treewright.grow.objective import Objective, classification_objective, regression_objective
from treewright.grow.settings import GrowSettings

if TYPE_CHECKING:
    from treewright.data.schema import Schema
    from treewright.estimators.table import FitTable


class Growing(Estimator):
    """An estimator whose trees lower a criterion within limits."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Estimator._parameter_constraints,
        "min_weight_fraction_leaf": [Interval(Real, 0.0, 0.5, closed="both")],
        "max_features": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
            Words({"sqrt", "log2"}),
            None,
        ],
        "random_state": ["random_state"],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
        "min_impurity_decrease": [Interval(Real, 0.0, None, closed="left")],
        "monotonic_cst": ["array-like", dict, None],
        "interaction_cst": ["array-like", Words({"pairwise", "no_interactions"}), None],
        "max_bins": [Number(Integral, 2, 255, closed="both")],
    }

    # Set by __init__ of the estimators.
    criterion: Any
    max_depth: int | None
    min_samples_split: float
    min_samples_leaf: float
    min_weight_fraction_leaf: float
    max_features: float | str | None
    random_state: Any
    max_leaf_nodes: int | None
    min_impurity_decrease: float
    monotonic_cst: Any
    interaction_cst: Any
    max_bins: int

    def _settings(self, table: FitTable, n_rows: int, seed: int, n_threads: int) -> GrowSettings:
        """Parameters as numbers; shares are of ``n_rows`` rows."""
        monotone = resolve.monotone(self.monotonic_cst, table.schema)
        if monotone is not None and any(monotone):
            self._check_monotone(table.target)
        return GrowSettings(
            criterion="own" if callable(self.criterion) else self.criterion,
            max_depth=None if self.max_depth is None else min(int(self.max_depth), 2**31 - 1),
            min_samples_split=max(2, count_of(self.min_samples_split, n_rows)),
            min_samples_leaf=count_of(self.min_samples_leaf, n_rows),
            min_weight_fraction_leaf=float(self.min_weight_fraction_leaf),
            max_leaf_nodes=None if self.max_leaf_nodes is None else int(self.max_leaf_nodes),
            max_features=resolve.max_features(self.max_features, len(table.schema)),
            min_impurity_decrease=resolve.finite(self.min_impurity_decrease),
            monotone=monotone,
            seed=seed,
            n_threads=n_threads,
        )

    def _on_bins(
        self, settings: GrowSettings, schema: Schema, *, random_cuts: bool, counts_rows: bool
    ) -> BinnedSettings:
        """The same, for growing on bins."""
        interactions = resolve.interactions(self.interaction_cst, schema)
        return BinnedSettings(
            **vars(settings), random_cuts=random_cuts, interactions=interactions, counts_rows=counts_rows
        )

    def _drawn_seed(self) -> int:
        """The seed: ``random_state`` if that is an int, 0 for None (a fit repeats unless told otherwise)."""
        return resolve.seed_of(self.random_state)

    def _check_monotone(self, target: Any) -> None:
        """Refuse monotone constraints that have no meaning for the target."""
        resolve.refuse_no_order(self._n_outputs(target), self._n_classes(target))

    @abstractmethod
    def _n_classes(self, target: Any) -> tuple[int, ...]:
        """Classes per output; empty for numbers."""

    def _objective(self, table: FitTable) -> Objective:
        """The target's statistics, for the growers that add them up."""
        if isinstance(table.target, Labels):
            return classification_objective(
                table.target.codes, [len(labels) for labels in table.target.classes], table.weights, self.criterion
            )
        return regression_objective(table.target.values, table.weights, self.criterion)
