"""How what an estimator says depends on a column. In: a fitted estimator, a table. Out: ``PartialDependence``.

Callers: estimators.base, estimators.many_trees.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treewright.model import Model
    from treewright.model.dependence import PartialDependence


class Dependent(ABC):
    """What stands around a model of trees and can be asked what a column does to its answers."""

    n_jobs: int | None

    def partial_dependence(
        self, X: Any, column: Hashable, second: Hashable | None = None, **options: Any
    ) -> PartialDependence:
        """Tell what the model says on average when a column has this or that value (Friedman 2001).

        Parameters
        ----------
        X : table of n rows
            All other columns are as they are here.
        column : hashable
            Its name or position.
        second : hashable, optional
            Another column: then the answers are of every pair of values.
        **options
            ``grid``, ``label``, ``output``, ``individual``, ``rows``, ``sample_weight``, ``random_state``: as
            ``treewright.explain.partial_dependence.partial_dependence``.

        Returns
        -------
        PartialDependence
            Print it, or take ``values``, ``individual``, ``to_dict()`` or ``plot()``.

        Raises
        ------
        ParameterError
            There is no such column, class or output; a parameter is out of range.
        DataError
            The table was refused, holds no rows, or no value of the column.

        Examples
        --------
        >>> import treewright as tw
        >>> table = {"rain": [0, 1, 5, 9], "sun": [9, 7, 2, 1]}
        >>> est = tw.DecisionTreeRegressor().fit(table, [4.0, 4.0, 1.0, 1.0])
        >>> est.partial_dependence(table, "rain", grid=[0, 8]).values
        array([[4., 1.]])
        """
        model: Model = self._fitted()  # type: ignore[attr-defined]
        owner = type(self).__name__
        return model.partial_dependence(X, column, second, n_jobs=self.n_jobs, owner=owner, **options)
