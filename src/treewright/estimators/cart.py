"""CART: parameters to settings, and which grower grows. In: a table. Out: ``Tree``. Caller: estimators.tree."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, RealNotInt

from treewright.data.target import Labels
from treewright.data.weights import Factors
from treewright.estimators import resolve
from treewright.estimators.base import TreeEstimator
from treewright.estimators.constraints import Number, Words
from treewright.exceptions import ParameterError
from treewright.grow.by_node.criteria import Criterion
from treewright.grow.by_node.grower import Stops, grow_by_node
from treewright.grow.by_node.policies import count_of
from treewright.grow.by_node.retrace import retrace
from treewright.grow.grower import grow
from treewright.grow.settings import GrowSettings
from treewright.prune.cost_complexity import prune_at

if TYPE_CHECKING:
    from treewright.data.schema import Schema
    from treewright.estimators.table import FitTable
    from treewright.grow.by_node.grower import Step
    from treewright.grow.objective import Objective
    from treewright.tree.arrays import Tree


class CartEstimator(TreeEstimator):
    """CART's parameters; two growers that give the same tree where both can."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TreeEstimator._parameter_constraints,
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
        "max_p_value": [Number(Real, 0.0, 1.0, closed="right"), None],
        "ccp_alpha": [Interval(Real, 0.0, None, closed="left")],
        "monotonic_cst": ["array-like", dict, None],
        "nominal_splits": [Words({"subset", "multiway", "one_vs_rest"})],
        "missing": [Words({"direction", "surrogate", "fractional", "branch", "error"})],
        "max_surrogates": [Interval(Integral, 0, None, closed="left")],
    }
    _algorithm = "cart"

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
    max_p_value: float | None
    ccp_alpha: float
    monotonic_cst: Any
    nominal_splits: str
    missing: str
    max_surrogates: int
    grow_trace: bool

    def _criterion_name(self) -> str:
        return Criterion.of(self.criterion).name

    def _grow(self, table: FitTable, n_threads: int) -> tuple[Tree, tuple[Step, ...] | None]:
        settings = self._settings(table, n_threads)
        steps: tuple[Step, ...] | None = None
        if self._needs_nodes(table):
            if settings.monotone is not None and any(settings.monotone):
                raise ParameterError(
                    "monotonic_cst needs a criterion of the list, nominal_splits='subset', missing='direction' or "
                    "'error', and no max_p_value: leave one of them out"
                )
            if self.max_p_value is not None and isinstance(table.target, Labels):  # numbers count rows, not weights
                table.warn_of_small_weights("max_p_value")
            problem = self._problem(table)
            grown = grow_by_node(
                problem, self._policy(problem), self._stops(settings, len(table.schema)), keep_trace=self.grow_trace
            )
            tree, steps = grown.tree, grown.trace if self.grow_trace else None
        else:
            tree = grow(table.matrix, table.schema, self._objective(table), settings)
            if self.grow_trace:
                problem = self._problem(table)
                steps = retrace(tree, problem, self._policy(problem))
        return prune_at(tree, resolve.finite(self.ccp_alpha)), steps

    def _store(self, schema: Schema, tree: Tree, target: Any, n_rows: int, factors: Factors | None) -> None:
        super()._store(schema, tree, target, n_rows, factors)
        self.max_features_ = resolve.max_features(self.max_features, len(schema))

    def _needs_nodes(self, table: FitTable) -> bool:
        """Whether something is asked for that only the grower by nodes has."""
        if callable(self.criterion) or self.criterion == "gain_ratio" or self.missing == "surrogate":
            return True
        if self.max_p_value is not None:
            return True
        if self.nominal_splits != "subset" and any(column.kind == "nominal" for column in table.schema.columns):
            return True
        # Without a missing cell these grow the same tree.
        return self.missing in ("fractional", "branch") and any(c.missing_seen for c in table.schema.columns)

    def _stops(self, settings: GrowSettings, p: int) -> Stops:
        return Stops(
            max_depth=settings.max_depth,
            min_samples_split=settings.min_samples_split,
            min_impurity_decrease=settings.min_impurity_decrease,
            max_p_value=None if self.max_p_value is None else float(self.max_p_value),
            max_leaf_nodes=settings.max_leaf_nodes,
            max_features=settings.max_features if (settings.max_features or p) < p else None,
            max_surrogates=int(self.max_surrogates),
            seed=settings.seed,
        )

    def _settings(self, table: FitTable, n_threads: int) -> GrowSettings:
        """Parameters as numbers."""
        n, p = table.matrix.shape
        n_drawn = resolve.max_features(self.max_features, p)
        monotone = resolve.monotone(self.monotonic_cst, table.schema)
        if monotone is not None and any(monotone):
            self._check_monotone(table.target)
        return GrowSettings(
            criterion="own" if callable(self.criterion) else self.criterion,
            max_depth=None if self.max_depth is None else min(int(self.max_depth), 2**31 - 1),
            min_samples_split=max(2, count_of(self.min_samples_split, n)),
            min_samples_leaf=count_of(self.min_samples_leaf, n),
            min_weight_fraction_leaf=float(self.min_weight_fraction_leaf),
            max_leaf_nodes=None if self.max_leaf_nodes is None else int(self.max_leaf_nodes),
            max_features=n_drawn,
            min_impurity_decrease=resolve.finite(self.min_impurity_decrease),
            monotone=monotone,
            seed=self._seed(n_drawn < p),
            n_threads=n_threads,
        )

    def _seed(self, is_needed: bool) -> int:
        """The seed: ``random_state`` if that is an int, 0 for None (a fit repeats unless told otherwise)."""
        if not is_needed or self.random_state is None:
            return 0
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _check_monotone(self, target: Any) -> None:
        """Refuse monotone constraints that have no meaning for the target."""
        if self._n_outputs(target) > 1:
            raise ParameterError("Monotonicity constraints are not supported with multiple outputs.")

    @abstractmethod
    def _objective(self, table: FitTable) -> Objective:
        """The target's statistics for the grower by levels."""
