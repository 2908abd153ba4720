"""What single-tree estimators share: check, call, store. In: parameters, a table, a target. Out: ``model_``.

Caller: estimators.tree.

An estimator only holds parameters. ``fit`` checks them, hands table and target down the layers and keeps the result as
``model_``; every other method hands on to that model.
"""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import (
    Interval,
    InvalidParameterError,
    RealNotInt,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.validation import check_is_fitted

from treewright.core.threads import resolve_jobs
from treewright.data.encoder import encode_fit
from treewright.data.schema import Schema
from treewright.data.target import check_lengths, check_weights
from treewright.estimators import resolve
from treewright.estimators.suspicions import warn_of_suspicions
from treewright.exceptions import ParameterError
from treewright.grow.grower import grow
from treewright.grow.objective import Objective
from treewright.grow.settings import GrowSettings
from treewright.model import Model
from treewright.prune.cost_complexity import prune_at
from treewright.tree.arrays import Tree
from treewright.version import __version__

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from sklearn.utils import Tags

    from treewright.plot.svg import SvgPicture


class _BothParameterErrors(ParameterError, InvalidParameterError):  # noqa: N818 - renamed below
    """A parameter is outside its range: both families' error, under the name that a user knows."""


_BothParameterErrors.__name__ = _BothParameterErrors.__qualname__ = "ParameterError"


class TreeEstimator(BaseEstimator, ABC):
    """A scikit-learn estimator around one grown tree."""

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
        "min_weight_fraction_leaf": [Interval(Real, 0.0, 0.5, closed="both")],
        "max_features": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
            StrOptions({"sqrt", "log2"}),
            None,
        ],
        "random_state": ["random_state"],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
        "min_impurity_decrease": [Interval(Real, 0.0, None, closed="left")],
        "ccp_alpha": [Interval(Real, 0.0, None, closed="left")],
        "monotonic_cst": ["array-like", dict, None],
        "nominal": ["array-like", None],
        "ordinal": [dict, None],
        "numeric": ["array-like", None],
        "unseen": [StrOptions({"missing", "error", "majority"})],
        "n_jobs": [Integral, None],
    }

    model_: Model

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.multi_output = True
        return tags

    def _check_parameters(self) -> None:
        """Refuse parameters out of range."""
        try:
            # As BaseEstimator._validate_params, which takes 120 us to find the names of the parameters.
            validate_parameter_constraints(self._parameter_constraints, self._parameters(), type(self).__name__)
        except InvalidParameterError as error:
            raise _BothParameterErrors(str(error)) from None

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Check, encode, grow, prune, keep. Nothing of the estimator changes before the last step."""
        self._check_parameters()
        n_threads = resolve_jobs(self.n_jobs)
        resolve.refuse_too_large(X)
        schema, matrix = encode_fit(X, nominal=self.nominal, ordinal=self.ordinal, numeric=self.numeric)
        resolve.refuse_too_little_memory(len(schema), len(matrix), n_threads)
        target = self._encode_target(y)
        check_lengths(len(matrix), target)
        weights = self._weights(check_weights(sample_weight, len(matrix)), target)
        if weights is not None and not weights.all():
            kept = weights > 0
            matrix, target, weights = matrix[kept], self._rows_of(target, kept), weights[kept]
        settings = self._settings(matrix, schema, target, n_threads)
        tree = grow(matrix, schema, self._objective(target, weights), settings)
        warn_of_suspicions(schema, matrix, target, tree)
        self._store(schema, prune_at(tree, float(self.ccp_alpha)), target, len(matrix))
        return self

    def _parameters(self) -> dict[str, Any]:
        """As ``get_params``, without looking at the signature of ``__init__``."""
        return {name: getattr(self, name) for name in self._parameter_constraints}

    def _settings(self, matrix: np.ndarray, schema: Schema, target: Any, n_threads: int) -> GrowSettings:
        """Parameters as numbers."""
        n, p = matrix.shape
        n_drawn = resolve.max_features(self.max_features, p)
        monotone = resolve.monotone(self.monotonic_cst, schema)
        if monotone is not None and any(monotone):
            self._check_monotone(target)
        return GrowSettings(
            criterion=self.criterion,
            max_depth=None if self.max_depth is None else min(int(self.max_depth), 2**31 - 1),
            min_samples_split=max(2, resolve.count_of(self.min_samples_split, n)),
            min_samples_leaf=resolve.count_of(self.min_samples_leaf, n),
            min_weight_fraction_leaf=float(self.min_weight_fraction_leaf),
            max_leaf_nodes=None if self.max_leaf_nodes is None else int(self.max_leaf_nodes),
            max_features=n_drawn,
            min_impurity_decrease=float(self.min_impurity_decrease),
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

    def _store(self, schema: Schema, tree: Tree, target: Any, n_rows: int) -> None:
        """Keep the model and what scikit-learn expects beside it."""
        facts = {
            "algorithm": "cart",
            "criterion": self.criterion,
            "n_samples": n_rows,
            "parameters": resolve.plain_parameters(self._parameters()),
            "version": __version__,
        }
        self.model_ = self._make_model(schema, tree, target, facts)
        self.n_features_in_ = len(schema)
        self.n_outputs_ = self.model_.n_outputs
        self.max_features_ = resolve.max_features(self.max_features, len(schema))
        if schema.named and all(isinstance(name, str) for name in schema.names):
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _warn_column_vector(self, target: Any) -> None:
        """As scikit-learn: a target of shape (n, 1) is taken as (n,)."""
        if not target.flat and self._n_outputs(target) == 1:
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
                "(n_samples,), for example using ravel().",
                DataConversionWarning,
                stacklevel=5,
            )

    @property
    def tree_(self) -> Tree:
        """The grown tree as flat arrays."""
        check_is_fitted(self, "model_")
        return self.model_.trees[0]

    @property
    def feature_importances_(self) -> np.ndarray:
        """float64[p]: share of the decrease of impurity that each column brought (see ``explain.importance``)."""
        check_is_fitted(self, "model_")
        return self.model_.feature_importances

    def _fitted(self) -> Model:
        """The model, or scikit-learn's error."""
        model = self.__dict__.get("model_")
        if model is None:
            check_is_fitted(self, "model_")
        return model  # type: ignore[return-value]

    def predict(self, X: Any) -> np.ndarray:
        """Predict each row.

        Parameters
        ----------
        X : table of n rows
            Columns are matched by name where fit knew names.

        Returns
        -------
        ndarray[n] or ndarray[n, n_outputs]
            Labels in the dtype of the target, or float64.

        Raises
        ------
        ColumnError
            Columns are missing, doubled or of another kind than at fit.
        UnseenLevelError
            A level that fit never saw, under ``unseen="error"``.
        """
        return self._fitted().predict(X, n_jobs=self.n_jobs, owner=type(self).__name__)

    def apply(self, X: Any) -> np.ndarray:
        """Position of the leaf that each row ends in.

        Returns
        -------
        int64[n]
        """
        return self._fitted().apply(X, n_jobs=self.n_jobs, owner=type(self).__name__)

    def decision_path(self, X: Any) -> csr_matrix:
        """Indicator of the nodes that each row passes.

        Returns
        -------
        csr_matrix of int64[n, n_nodes]
        """
        return self._fitted().decision_path(X, n_jobs=self.n_jobs, owner=type(self).__name__)

    def get_depth(self) -> int:
        """Edges from the root to the deepest leaf."""
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """How many leaves the tree has."""
        return self.tree_.n_leaves

    def show(self, **options: Any) -> str:
        """Return the tree as text; options as ``treewright.explain.text.show``."""
        return self._fitted().show(**options)

    def plot(self, **options: Any) -> SvgPicture:
        """Draw the tree as SVG; options as ``treewright.plot.svg.plot``."""
        return self._fitted().plot(**options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file (``treewright.load`` reads it); the parameters are in its facts."""
        self._fitted().save(path)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """In a notebook a fitted estimator shows its tree."""
        model = self.__dict__.get("model_")
        if model is None:
            bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
            return bundle
        return {"text/plain": repr(self), "text/html": model.plot().text}

    # What classifier and regressor differ in.

    @abstractmethod
    def _encode_target(self, y: Any) -> Any:
        """The target as codes or numbers."""

    @abstractmethod
    def _rows_of(self, target: Any, kept: np.ndarray) -> Any:
        """Some rows of the encoded target."""

    @abstractmethod
    def _n_outputs(self, target: Any) -> int:
        """How many targets there are."""

    @abstractmethod
    def _weights(self, weights: np.ndarray | None, target: Any) -> np.ndarray | None:
        """The weights that growing uses."""

    @abstractmethod
    def _objective(self, target: Any, weights: np.ndarray | None) -> Objective:
        """The target's statistics."""

    def _check_monotone(self, target: Any) -> None:
        """Refuse monotone constraints that have no meaning for the target."""
        if self._n_outputs(target) > 1:
            raise ParameterError("Monotonicity constraints are not supported with multiple outputs.")

    @abstractmethod
    def _make_model(self, schema: Schema, tree: Tree, target: Any, facts: Mapping[str, Any]) -> Model:
        """The model of a grown tree."""
