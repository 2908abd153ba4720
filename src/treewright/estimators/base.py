"""What all estimators of trees share: check, call, store. In: parameters, a table, a target. Out: ``model_``.

Callers: estimators.single, estimators.forest_base, estimators.classifier, estimators.regressor.
What they share with nearest neighbours stands in ``table_estimator``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from sklearn.utils._param_validation import Interval, RealNotInt
from sklearn.utils.validation import check_is_fitted

from treewright.core.progress import compiling_told
from treewright.core.threads import resolve_jobs
from treewright.data.absent import refuse_missing_at_fit
from treewright.data.encoder import encode_fit
from treewright.data.target import check_lengths, check_weights
from treewright.data.weights import Factors, weighed
from treewright.estimators import resolve
from treewright.estimators.constraints import Words
from treewright.estimators.dependent import Dependent
from treewright.estimators.table import FitInput, FitTable
from treewright.estimators.table_estimator import TableEstimator
from treewright.estimators.text_suspicions import warn_of_text
from treewright.model import Model
from treewright.version import __version__

if TYPE_CHECKING:
    from treewright.tree.model import Combine, Missing


class Estimator(TableEstimator, Dependent):
    """A scikit-learn estimator around a model of trees."""

    # Every algorithm's; each adds its own.
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "min_samples_split": [
            Interval(Integral, 2, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
        ],
        "min_samples_leaf": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="neither"),
        ],
        "nominal": ["array-like", dict, str, None],
        "ordinal": [dict, None],
        "numeric": ["array-like", None],
        "unseen": [Words({"missing", "error", "majority"})],
        "n_jobs": [Integral, None],
    }
    _algorithm: ClassVar[str]
    _draws_rows: ClassVar[bool] = False  # then classes are weighed after the draw

    model_: Model

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Check, encode, learn, keep. Nothing of the estimator changes before the last step."""
        self._check_parameters()
        n_threads = resolve_jobs(self.n_jobs)
        with compiling_told():
            self._learn(self._checked(X, y, sample_weight, n_threads), n_threads)
        return self

    def _checked(self, X: Any, y: Any, sample_weight: Any, n_threads: int) -> FitInput:
        """The table as numbers, or what is wrong with it."""
        resolve.refuse_too_large(X)
        schema, matrix = encode_fit(X, nominal=self.nominal, ordinal=self.ordinal, numeric=self.numeric)
        warn_of_text(schema, matrix, self.nominal, self.ordinal, self.numeric)
        self._refuse_too_little_memory(len(schema), len(matrix), n_threads)
        target = self._encode_target(y)
        check_lengths(len(matrix), target)
        own = check_weights(sample_weight, len(matrix))
        factors = self._class_factors(target, own)
        weights = weighed(own, factors, target[0])
        if self._missing() == "error":
            refuse_missing_at_fit(matrix, schema, weights)
        kept = None
        if weights is not None and not weights.all():
            kept = weights > 0
            matrix, target, weights = matrix[kept], self._rows_of(target, kept), weights[kept]
            own = None if own is None else own[kept]
        return FitInput(FitTable(schema, matrix, target, own if self._draws_rows else weights), kept, factors, own)

    def _store(self, given: FitInput, trees: Any, **more_facts: Any) -> None:
        """Keep the model and what scikit-learn expects beside it."""
        schema = given.table.schema
        facts: dict[str, Any] = {
            "algorithm": self._algorithm,
            "criterion": self._criterion_name(),
            "n_samples": len(given.table.matrix),
            "parameters": resolve.plain_parameters(self._parameters()),
            "version": __version__,
            **more_facts,
        }
        if given.factors is not None:
            # By code, as they were: labels need not have a JSON form, and other rows would be balanced otherwise.
            facts["class_factors"] = [by_code.tolist() for by_code in given.factors]
        self.model_ = self._make_model(given.table, trees, facts)
        self.n_features_in_ = len(schema)
        self.n_outputs_ = self.model_.n_outputs
        self._keep_names(schema)

    @property
    def feature_importances_(self) -> np.ndarray:
        """float64[p]: share of the decrease of impurity that each column brought (see ``explain.importance``)."""
        check_is_fitted(self, "model_")
        return self.model_.feature_importances

    if TYPE_CHECKING:

        def _fitted(self) -> Model: ...

    # What estimators differ in.

    @abstractmethod
    def _learn(self, given: FitInput, n_threads: int) -> None:
        """Grow the trees and keep the model."""

    def _refuse_too_little_memory(self, p: int, n: int, n_threads: int) -> None:
        """Refuse a table that could not be learned from in the memory there is."""

    def _combine(self) -> Combine:
        """How the model makes one prediction of its trees' ones."""
        return "single"

    def _criterion_name(self) -> str:
        """What the model's facts call the criterion."""
        return str(self.criterion)

    def _missing(self) -> Missing:
        """How the model treats missing values."""
        return cast("Missing", self.missing)

    @abstractmethod
    def _rows_of(self, target: Any, kept: np.ndarray) -> Any:
        """Some rows of the encoded target."""

    def _class_factors(self, target: Any, weights: np.ndarray | None) -> Factors | None:  # noqa: ARG002 - of classes
        """Weight of each class; None where no class weighs more than another."""
        return None

    @abstractmethod
    def _make_model(self, table: FitTable, trees: Any, facts: Mapping[str, Any]) -> Model:
        """The model of grown trees."""
