"""CART: parameters to settings, and which grower grows. In: a table. Out: ``Tree``. Caller: estimators.tree."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.utils._param_validation import Interval

from treewright.data.target import Labels
from treewright.estimators import resolve
from treewright.estimators.binned import grow_tree_on_bins
from treewright.estimators.constraints import Number, Words
from treewright.estimators.growth import Growing
from treewright.estimators.single import TreeEstimator
from treewright.estimators.table import FitInput
from treewright.exceptions import ParameterError
from treewright.grow.by_node.criteria import Criterion
from treewright.grow.by_node.grower import Stops, grow_by_node
from treewright.grow.by_node.retrace import retrace
from treewright.grow.grower import grow
from treewright.prune.cost_complexity import prune_at

if TYPE_CHECKING:
    from treewright.estimators.table import FitTable
    from treewright.grow.by_node.grower import Step
    from treewright.grow.settings import GrowSettings
    from treewright.tree.arrays import Tree

_MOST_BINS = 255  # the default, which means as many as there can be


class CartEstimator(Growing, TreeEstimator):
    """CART's parameters; two growers that give the same tree where both can."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TreeEstimator._parameter_constraints,
        **Growing._parameter_constraints,
        "splitter": [Words({"best", "hist", "random"})],
        "max_p_value": [Number(Real, 0.0, 1.0, closed="right"), None],
        "ccp_alpha": [Interval(Real, 0.0, None, closed="left")],
        "nominal_splits": [Words({"subset", "multiway", "one_vs_rest"})],
        "missing": [Words({"direction", "surrogate", "fractional", "branch", "error"})],
        "max_surrogates": [Interval(Integral, 0, None, closed="left")],
    }
    _algorithm = "cart"

    # Set by __init__ of the estimators.
    splitter: str
    max_p_value: float | None
    ccp_alpha: float
    nominal_splits: str
    missing: str
    max_surrogates: int
    grow_trace: bool

    def _criterion_name(self) -> str:
        return Criterion.of(self.criterion).name

    def _grow(self, table: FitTable, n_threads: int) -> tuple[Tree, tuple[Step, ...] | None]:
        n, p = table.matrix.shape
        is_random = self.splitter == "random" or resolve.max_features(self.max_features, p) < p
        settings = self._settings(table, n, self._drawn_seed() if is_random else 0, n_threads)
        steps: tuple[Step, ...] | None = None
        if self.splitter != "best":
            self._refuse_beside_bins(table)
            on_bins = self._on_bins(settings, table.schema, random_cuts=self.splitter == "random", counts_rows=False)
            tree = grow_tree_on_bins(table, self._objective(table), on_bins, self.max_bins)
        elif self._needs_nodes(table):
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
            objective, again = self._objective(table), table.prepared
            columns = None if again is None else again.sorted_columns(table, objective.sorted_targets(), settings)
            tree = grow(table.matrix, table.schema, objective, settings, columns)
            if self.grow_trace:
                problem = self._problem(table)
                steps = retrace(tree, problem, self._policy(problem))
        return prune_at(tree, resolve.finite(self.ccp_alpha)), steps

    def _store(self, given: FitInput, trees: Any, **more_facts: Any) -> None:
        super()._store(given, trees, **more_facts)
        self.max_features_ = resolve.max_features(self.max_features, self.n_features_in_)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.splitter != "best":
            return
        if self.interaction_cst is not None:
            raise ParameterError("interaction_cst needs splitter='hist' or 'random': the exact search has no groups")
        if self.max_bins != _MOST_BINS:
            raise ParameterError(
                f"max_bins={self.max_bins} needs splitter='hist' or 'random': the exact search has no bins"
            )

    def _refuse_beside_bins(self, table: FitTable) -> None:
        """Refuse what only the exact growers have."""
        without = self._needs_nodes(table)
        if self.criterion == "absolute_error":
            without = "criterion='absolute_error'"
        elif self.grow_trace:
            without = without or "grow_trace=True"
        if without:
            raise ParameterError(f"{without} needs splitter='best', not {self.splitter!r}: leave one of them out")

    def _needs_nodes(self, table: FitTable) -> str:
        """The parameter that asks for what only the grower by nodes has; empty where none does."""
        if callable(self.criterion):
            return "a criterion of your own"
        if self.criterion == "gain_ratio":
            return "criterion='gain_ratio'"
        if self.max_p_value is not None:
            return f"max_p_value={self.max_p_value}"
        if self.nominal_splits != "subset" and any(column.kind == "nominal" for column in table.schema.columns):
            return f"nominal_splits={self.nominal_splits!r}"
        # Without a missing cell the other two grow the same tree.
        is_asked = self.missing in ("fractional", "branch") and any(c.missing_seen for c in table.schema.columns)
        return f"missing={self.missing!r}" if is_asked or self.missing == "surrogate" else ""

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
