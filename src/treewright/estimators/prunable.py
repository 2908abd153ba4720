"""Pruning of a fitted estimator. In: a method, rows. Out: a new fitted estimator, its log.

Caller: estimators.single.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone

from treewright.exceptions import ParameterError
from treewright.model import Model
from treewright.prune.decision import Rows
from treewright.prune.door import request_of
from treewright.prune.path import path_of

if TYPE_CHECKING:
    from sklearn.utils import Bunch

    from treewright.estimators.table import FitTable
    from treewright.prune.log import PruneLog

_UNPRUNED = {"ccp_alpha": 0.0, "confidence": None}  # parameters that cut a grown tree back, as they do not


class Prunable:
    """What an estimator around one tree can do to it afterwards."""

    model_: Model

    def prune(self, method: str, X: Any = None, y: Any = None, sample_weight: Any = None, **options: Any) -> Self:
        """Cut the tree back; this estimator stays as it is.

        Parameters
        ----------
        method : {"cost_complexity", "depth", "leaves", "reduced_error", "error_based", "pessimistic", \
"minimum_error", "significance", "description_length", "merge_equal_leaves"}
        X, y, sample_weight : optional
            ``reduced_error`` needs rows that the tree was not grown on. ``error_based`` takes the rows of the fit,
            which are kept while they are small (32 MB) and not pickled; pass them otherwise. The others take none.
            A class weighs in passed rows what it weighed at the fit, also under ``class_weight="balanced"``.
        **options
            The method's own; the guide to pruning lists them.

        Returns
        -------
        estimator
            A fitted copy with the pruned tree; its ``prune_log_`` tells every cut.

        Raises
        ------
        ParameterError
            There is no such method or option, rows are lacking or not wanted, or the method is undefined for this tree.
        DataError
            The rows were refused.

        Examples
        --------
        >>> import treewright as tw
        >>> from sklearn.datasets import load_iris
        >>> est = tw.DecisionTreeClassifier().fit(*load_iris(return_X_y=True))
        >>> small = est.prune("leaves", max_leaves=3)
        >>> est.get_n_leaves(), small.get_n_leaves()
        (9, 3)
        """
        model: Model = self._fitted()  # type: ignore[attr-defined]
        pruned = copy.copy(self)
        rows = model.rows_to_prune(X, y, sample_weight, owner=type(self).__name__)
        if rows is None:
            chosen, _, needs_rows = request_of(model, method, options)
            rows = self._rows_of_fit(method) if needs_rows and chosen.needs == "training" else None
        pruned.model_ = model.pruned(method, rows, **options)
        # What copies leave behind, as pickles do: audits read it.
        pruned.__dict__["_rows"] = self.__dict__.get("_rows")
        # Where node numbers are other ones now, the steps of growing no longer fit them.
        pruned.__dict__["_steps"] = self.__dict__.get("_steps") if _asks_the_same(model, pruned.model_) else None
        return pruned

    def _rows_of_fit(self, method: str) -> Rows:
        """The rows of the fit, which a method cannot do without."""
        table: FitTable | None = self.__dict__.get("_rows")
        if table is None:
            raise ParameterError(
                f"{method} needs the rows of the fit, and they are not at hand (more than 32 MB, or the estimator "
                f"was pickled): pass them, prune({method!r}, X, y)"
            )
        return Rows(table.matrix, table.target[0], table.weights)

    @property
    def prune_log_(self) -> PruneLog:
        """Every cut of the last ``prune``, with the numbers that decided."""
        return self._fitted().prune_log  # type: ignore[attr-defined]

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """The nested subtrees that cost-complexity pruning passes through, as scikit-learn gives them.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``; a copy of this estimator is grown on them, unpruned.

        Returns
        -------
        Bunch
            ``ccp_alphas`` float64[k], strictly ascending from 0; ``impurities`` float64[k], the weighted impurity of
            the leaves of each subtree. scikit-learn lists every cut on its own, ours each alpha once.

        See Also
        --------
        treewright.model_selection.pruning_path : the same with cross-validated errors.
        """
        from sklearn.utils import Bunch

        grown = clone(self)
        grown.set_params(**{name: off for name, off in _UNPRUNED.items() if name in grown.get_params()})
        path = path_of(grown.fit(X, y, sample_weight).model_, "impurity")
        return Bunch(ccp_alphas=path.alphas, impurities=path.risks)


def _asks_the_same(one: Model, other: Model) -> bool:
    """Whether the nodes of both have the same numbers and questions."""
    names = ("feature", "threshold", "first_child")
    return all(np.array_equal(getattr(one.trees[0], name), getattr(other.trees[0], name)) for name in names)
