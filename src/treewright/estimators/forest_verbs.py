"""What a forest says beyond its mean. In: a fitted forest, a table. Out: intervals, standard errors, proximities.

Callers: estimators.forest_base, estimators.forest_regressor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.exceptions import ParameterError
from treewright.forest.draws import Draws
from treewright.forest.jackknife import standard_errors
from treewright.forest.proximity import proximities
from treewright.forest.quantiles import leaf_targets_of
from treewright.predict.shares import output_columns

if TYPE_CHECKING:
    from treewright.estimators.binned import BinnedTable
    from treewright.model import Model
    from treewright.tree.leaf_targets import LeafTargets


class ForestVerbs:
    """Verbs of every forest on bins."""

    n_jobs: int | None
    _past: Any
    if TYPE_CHECKING:

        def _fitted(self) -> Model: ...

    def _targets_in_leaves(
        self,
        binned: BinnedTable,  # noqa: ARG002 - as in QuantileVerbs
        trees: Any,  # noqa: ARG002
        draws: Draws | None,  # noqa: ARG002
        n_threads: int,  # noqa: ARG002
    ) -> LeafTargets | None:
        """The targets of the rows of each leaf, where they are to be kept."""
        return None

    def predict_std(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Standard error of each prediction: how far a forest on other rows of the same kind would be.

        It measures how sure the forest's mean is, not how far a new target may lie from it (that is
        ``predict_interval``). The infinitesimal jackknife, corrected for finitely many trees (Wager, Hastie and Efron
        2014, equations 5 and 7; see ``treewright.forest.jackknife``). It needs many trees, about as many as rows.

        Parameters
        ----------
        X : table of n rows

        Returns
        -------
        float64[n] or float64[n, n_outputs]
            Regression.
        float64[n, n_classes], or a list of them for several outputs
            Classification: of the share of each class, as in ``predict_proba``.
            nan where there are too few trees to tell: everywhere with fewer than leave every row out at least once
            (20 to 40), and where the correction is more than there is to correct.

        Raises
        ------
        ParameterError
            The trees did not draw their rows (``bootstrap=False``).
        TooLargeError
            A table of trees by trees would not fit in memory.

        Warns
        -----
        DataWarning
            There are too few trees for some rows.

        Examples
        --------
        >>> import numpy as np
        >>> import treewright as tw
        >>> X = np.arange(40.0).reshape(-1, 1)
        >>> forest = tw.RandomForestRegressor(n_estimators=500).fit(X, np.sin(X[:, 0]) + X[:, 0])
        >>> forest.predict_std([[3.0], [20.0]]).shape
        (2,)
        """
        model = self._fitted()
        draws: Draws | None = self._past.draws
        if draws is None:
            raise ParameterError(
                "predict_std counts how often each tree drew each row, and these trees saw all rows: fit with "
                "bootstrap=True"
            )
        matrix = model._encoded(X, type(self).__name__)
        errors = standard_errors(model, draws, matrix, self.n_jobs)
        if model.task == "regression":
            return errors[:, 0] if model.n_outputs == 1 else errors
        parts = [np.ascontiguousarray(errors[:, columns]) for columns in output_columns(model)]
        return parts[0] if len(parts) == 1 else parts

    def proximity(self, X: Any, Y: Any = None) -> np.ndarray:
        """In which share of the trees two rows share a leaf.

        Parameters
        ----------
        X : table of n rows
        Y : table of m rows, optional
            The rows to compare with; without them ``X`` with itself.

        Returns
        -------
        float64[n, m], 0 to 1
            Without ``Y`` symmetric, with ones on the diagonal.

        Raises
        ------
        TooLargeError
            n x m numbers would not fit in memory.

        Examples
        --------
        >>> import treewright as tw
        >>> forest = tw.RandomForestClassifier(n_estimators=50).fit([[1.0], [2.0], [8.0], [9.0]], [0, 0, 1, 1])
        >>> near = forest.proximity([[1.0], [2.0], [9.0]])
        >>> bool(near[0, 1] > near[0, 2])
        True
        """
        model, owner = self._fitted(), type(self).__name__
        other = None if Y is None else model._encoded(Y, owner)
        return proximities(model, model._encoded(X, owner), other, self.n_jobs)


class QuantileVerbs:
    """Verbs of forests for numbers."""

    n_jobs: int | None
    quantiles: bool
    if TYPE_CHECKING:

        def _fitted(self) -> Model: ...

    def _targets_in_leaves(
        self, binned: BinnedTable, trees: Any, draws: Draws | None, n_threads: int
    ) -> LeafTargets | None:
        """The targets of the rows of each leaf, where they are to be kept."""
        if not self.quantiles:
            return None
        table = binned.table
        return leaf_targets_of(trees, binned.codes, table.matrix, table.target[0], table.weights, draws, n_threads)

    def predict_quantile(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> np.ndarray:
        """Quantiles of the targets that are to be expected of each row (Meinshausen 2006).

        In each tree the training rows in the row's leaf share a weight of one, in proportion to how often the tree drew
        them; over the trees the weights are averaged. The answer to ``q`` is the lowest target of the fit up to which
        the weights add up to ``q`` (those within 2**-30 below it count as reached).

        Parameters
        ----------
        X : table of n rows
        quantiles : float or sequence of q floats, 0 to 1

        Returns
        -------
        float64[n, q], or float64[n, q, n_outputs] for several outputs
            Targets of the fit; those of several outputs are looked at one by one.

        Raises
        ------
        ParameterError
            A quantile is out of range, or the forest was not fitted with ``quantiles=True``.

        Examples
        --------
        >>> import numpy as np
        >>> import treewright as tw
        >>> X = np.repeat([[0.0], [1.0]], 50, axis=0)
        >>> forest = tw.RandomForestRegressor(n_estimators=50, quantiles=True).fit(X, np.arange(100.0))
        >>> forest.predict_quantile([[0.0]], [0, 0.5, 1]).tolist()
        [[0.0, 24.0, 49.0]]
        """
        return self._fitted().predict_quantile(X, quantiles, n_jobs=self.n_jobs, owner=type(self).__name__)

    def predict_interval(self, X: Any, level: float = 0.9) -> np.ndarray:
        """Interval that holds the share ``level`` of the targets to be expected: two quantiles, as much below as above.

        Parameters
        ----------
        X : table of n rows
        level : float, above 0 and below 1

        Returns
        -------
        float64[n, 2], or float64[n, 2, n_outputs] for several outputs
            The quantiles ``(1 - level) / 2`` and ``(1 + level) / 2``.

        Raises
        ------
        ParameterError
            ``level`` is out of range, or the forest was not fitted with ``quantiles=True``.
        """
        return self._fitted().predict_interval(X, level, n_jobs=self.n_jobs, owner=type(self).__name__)
