"""What estimators of tables share: check parameters, keep what scikit-learn expects. In: parameters. Out: ``model_``.

Callers: estimators.base, estimators.classifier, estimators.isolation, estimators.neighbors_base.

An estimator only holds parameters. ``fit`` checks them, hands table and target down the layers and keeps the result as
``model_``; every other method hands on to that model.
"""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning
from sklearn.utils._param_validation import InvalidParameterError, validate_parameter_constraints
from sklearn.utils.validation import check_is_fitted

from treewright.core.notices import levels_to_the_caller
from treewright.data.schema import Schema
from treewright.estimators.reported import Reported
from treewright.exceptions import ParameterError

if TYPE_CHECKING:
    from sklearn.utils import Tags


class _BothParameterErrors(ParameterError, InvalidParameterError):  # noqa: N818 - renamed below
    """A parameter is outside its range: both families' error, under the name that a user knows."""


_BothParameterErrors.__name__ = _BothParameterErrors.__qualname__ = "ParameterError"


class CheckedEstimator(BaseEstimator):
    """A scikit-learn estimator of tables, with a target or without one."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _check_parameters(self) -> None:
        """Refuse parameters out of range."""
        try:
            # As BaseEstimator._validate_params, which takes 120 us to find the names of the parameters.
            validate_parameter_constraints(self._parameter_constraints, self._parameters(), type(self).__name__)
        except InvalidParameterError as error:
            raise _BothParameterErrors(str(error)) from None

    def _parameters(self) -> dict[str, Any]:
        """As ``get_params``, without looking at the signature of ``__init__``."""
        return {name: getattr(self, name) for name in self._parameter_constraints}

    def _keep_names(self, schema: Schema | None) -> None:
        """Keep ``feature_names_in_`` where the table had names that are all strings."""
        if schema is not None and schema.named and all(isinstance(name, str) for name in schema.names):
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_


class TableEstimator(Reported, CheckedEstimator, ABC):
    """A scikit-learn estimator around a model of whatever kind."""

    model_: Any
    n_jobs: int | None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _warn_column_vector(self, target: Any) -> None:
        """As scikit-learn: a target of shape (n, 1) is taken as (n,)."""
        if not target.flat and self._n_outputs(target) == 1:
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
                "(n_samples,), for example using ravel().",
                DataConversionWarning,
                stacklevel=levels_to_the_caller(),
            )

    def _fitted(self) -> Any:
        """The model, or scikit-learn's error."""
        model = self.__dict__.get("model_")
        if model is None:
            check_is_fitted(self, "model_")
        return model

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
        found: np.ndarray = self._fitted().predict(X, n_jobs=self.n_jobs, owner=type(self).__name__)
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file (``treewright.load`` reads it); the parameters are in its facts."""
        self._fitted().save(path)

    def _check_target(self, y: Any, sample_weight: Any = None) -> None:  # noqa: ARG002 - of boosting
        """Refuse what ``fit`` would refuse beside any table; a row in the message is one of ``y``.

        The command line asks before it holds rows out.
        """
        self._encode_target(y)

    @abstractmethod
    def _encode_target(self, y: Any) -> Any:
        """The target as codes or numbers."""

    @abstractmethod
    def _n_outputs(self, target: Any) -> int:
        """How many targets there are."""
