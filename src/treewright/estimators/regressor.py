"""What regressors share. In: numbers. Out: checked targets, the model.

Callers: estimators.tree, estimators.chaid, estimators.forest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, cast

import numpy as np
from sklearn.base import RegressorMixin

from treewright.data.target import Numbers, encode_numbers
from treewright.estimators.base import Estimator
from treewright.estimators.single import TreeEstimator
from treewright.estimators.table import FitTable
from treewright.exceptions import DataError
from treewright.model import Model
from treewright.tree.model import Unseen


class Regressor(RegressorMixin, Estimator):
    """A regressor around a model."""

    def _is_poisson(self) -> bool:
        """Whether targets are counts."""
        return self._criterion_name() == "poisson"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : table of n rows and p columns
            Array, dict of columns, list of rows, sparse matrix, or a pandas, polars or pyarrow table. Never modified.
        y : n finite numbers, or n x n_outputs of them
            For ``criterion="poisson"`` none may be negative, and each output needs a positive sum.
        sample_weight : n numbers >= 0, optional

        Returns
        -------
        self

        Raises
        ------
        DataError
            A column, cell, target or weight was refused; the message says which and what to do.
        ParameterError
            A parameter is outside its range.
        TooLargeError
            The work would not fit in memory.
        """
        return self._fit(X, y, sample_weight)

    def _encode_target(self, y: Any) -> Numbers:
        numbers = encode_numbers(y)
        self._warn_column_vector(numbers)
        if self._is_poisson():
            refuse_not_counts(numbers.values)
        return numbers

    def _rows_of(self, target: Numbers, kept: np.ndarray) -> Numbers:
        return target._replace(values=target.values[kept])

    def _n_outputs(self, target: Numbers) -> int:
        return target.values.shape[1]

    def _n_classes(self, target: Numbers) -> tuple[int, ...]:  # noqa: ARG002 - it has none
        return ()

    def _make_model(self, table: FitTable, trees: Any, facts: Mapping[str, Any]) -> Model:
        target = cast("Numbers", table.target)
        return Model(
            task="regression",
            schema=table.schema,
            trees=trees,
            n_outputs=target.values.shape[1],
            combine=self._combine(),
            unseen=cast("Unseen", self.unseen),
            missing=self._missing(),
            target_names=target.names,
            facts=dict(facts),
        )


class RegressorTree(Regressor, TreeEstimator):
    """A regressor around one grown tree."""


def refuse_not_counts(values: np.ndarray) -> None:
    """Refuse targets that have no Poisson deviance.

    Raises
    ------
    DataError
        A target is negative, or an output is zero throughout.
    """
    negative = np.argwhere(values < 0)
    if len(negative):
        raise DataError(
            f"y has {len(negative)} negative values (first row {negative[0][0]}: {values[tuple(negative[0])]:g}), "
            "but criterion='poisson' needs values >= 0; use 'squared_error', or remove the rows"
        )
    empty = np.flatnonzero(values.sum(axis=0) <= 0)
    if len(empty):
        raise DataError(
            f"y is zero throughout (output {empty[0]}), but criterion='poisson' needs a positive sum; "
            "use 'squared_error'"
        )
