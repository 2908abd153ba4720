"""What estimators of members share. In: a base estimator, fitted members. Out: checks, members, their model.

Callers: estimators.bagging_base, estimators.adaboost_base.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, cast

from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from treewright.core.threads import resolve_jobs
from treewright.data.encoder import check_not_empty
from treewright.data.table import Table
from treewright.estimators.bagging_columns import BagColumns
from treewright.estimators.bagging_plan import is_of_treewright
from treewright.estimators.base import Estimator
from treewright.estimators.many_trees import ManyTrees
from treewright.estimators.reported import Reported
from treewright.exceptions import ParameterError, TreewrightError
from treewright.model import Model

if TYPE_CHECKING:
    from sklearn.utils import Tags


class Members(Reported, ManyTrees, BaseEstimator, ABC):
    """An ensemble of fitted copies of one estimator."""

    # Set by __init__ of the estimators.
    estimator: Any
    n_estimators: int
    warm_start: bool
    n_jobs: int | None

    estimators_: list[Any]
    model_: Model
    _why_no_model: str | None
    _is_classification: ClassVar[bool]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        try:
            of_base = get_tags(self._base())
        except (AttributeError, TypeError):  # no estimator: fit says so
            return tags
        tags.input_tags.sparse = of_base.input_tags.sparse
        tags.input_tags.allow_nan = of_base.input_tags.allow_nan
        tags.input_tags.string = of_base.input_tags.string
        tags.input_tags.categorical = of_base.input_tags.categorical
        tags.target_tags.multi_output = of_base.target_tags.multi_output
        return tags

    def _parameters(self) -> dict[str, Any]:
        """As ``get_params``; ``Estimator._check_parameters`` reads it."""
        return Estimator._parameters(cast("Any", self))

    def _warn_column_vector(self, target: Any) -> None:
        """As scikit-learn: a target of shape (n, 1) is taken as (n,)."""
        Estimator._warn_column_vector(cast("Any", self), target)

    def _base(self) -> Any:
        """The estimator that members are copies of."""
        return self._default_base() if self.estimator is None else self.estimator

    def _checked_base(self) -> Any:
        """The base, or what is wrong with it."""
        base = self._base()
        if isinstance(base, type):
            raise ParameterError(f"estimator={base.__name__} is a class: give an estimator, {base.__name__}()")
        # What is neither (a class without tags of the user's) may be either.
        if (is_regressor if self._is_classification else is_classifier)(base):
            wanted = "classifier" if self._is_classification else "regressor"
            raise ParameterError(f"estimator={type(base).__name__}: {type(self).__name__} takes a {wanted}")
        return base

    def _threads(self) -> int:
        """Threads: ours give the lock free; whoever takes others says how many may run side by side."""
        return resolve_jobs(self.n_jobs if is_of_treewright(self._base()) or self.n_jobs is not None else 1)

    def _chooses_columns(self) -> bool:
        """Whether members get some of the columns."""
        return False

    def _columns(self, X: Any, n_rows: int, is_ours: bool) -> BagColumns | None:
        """The columns of the table; None where only the base knows what X is."""
        try:
            columns = BagColumns.of(X)
        except TreewrightError:
            if is_ours or self._chooses_columns():
                raise
            return None
        check_not_empty(Table(columns.schema.names, n_rows, len(columns)))
        return columns

    def _members_to_keep(self) -> list[Any]:
        """The members that a warm start goes on from."""
        before = list(self.__dict__.get("estimators_", ())) if self.warm_start else []
        if len(before) > self.n_estimators:
            raise ParameterError(
                f"n_estimators={self.n_estimators} must be larger or equal to the {len(before)} members that "
                "warm_start=True goes on from"
            )
        return before

    def __len__(self) -> int:
        """How many members there are."""
        check_is_fitted(self, "estimators_")
        return len(self.estimators_)

    def __bool__(self) -> bool:
        """An estimator is there, fitted or not."""
        return True

    def __getitem__(self, index: int) -> Any:
        """A member."""
        check_is_fitted(self, "estimators_")
        return self.estimators_[index]

    def __iter__(self) -> Iterator[Any]:
        """The members in order."""
        check_is_fitted(self, "estimators_")
        return iter(self.estimators_)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file (``treewright.load`` reads it).

        Raises
        ------
        ParameterError
            The members cannot be written as one model; the message says why.
        InputFileError
            The file cannot be written there.
        """
        check_is_fitted(self, "estimators_")
        if self._why_no_model is not None:
            raise ParameterError(
                f"{type(self).__name__} cannot be saved as a model file: {self._why_no_model}. Save trees on all "
                "columns, or pickle the estimator"
            )
        self.model_.save(path)

    def _fitted(self) -> Model:
        """The model of all members.

        Raises
        ------
        AttributeError
            The members are not one model; the message says why.
        """
        check_is_fitted(self, "estimators_")
        if self._why_no_model is not None:
            raise AttributeError(
                f"{type(self).__name__} is not one model of trees: {self._why_no_model}. Ask a member, as in "
                "estimators_[0]"
            )
        return self.model_

    def _check_target(self, y: Any, sample_weight: Any = None) -> None:
        """As ``Estimator._check_target``; the base knows what it refuses."""
        base = self._base()
        if hasattr(base, "_check_target"):
            base._check_target(y, sample_weight)

    @abstractmethod
    def _default_base(self) -> Any:
        """The base where none is given."""
