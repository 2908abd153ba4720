"""What every estimator of many trees shows of them. In: a fitted estimator, a table. Out: leaves, texts, pictures.

Callers: estimators.bagging_base, estimators.forest_trees.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from treewright.estimators.dependent import Dependent

if TYPE_CHECKING:
    import numpy as np
    from scipy.sparse import csr_matrix

    from treewright.explain.rule_table import LeafRules
    from treewright.model import Model
    from treewright.plot.svg import SvgPicture
    from treewright.tree.nodes import Node


class ManyTrees(Dependent):
    """Verbs that hand on to a model of many trees."""

    n_jobs: int | None

    @abstractmethod
    def _fitted(self) -> Model:
        """The model, or the error that says why there is none."""

    def tree(self, i: int) -> Model:
        """One tree as a model of its own.

        Parameters
        ----------
        i : int, 0 to n_estimators - 1

        Raises
        ------
        ParameterError
            There is no such tree.
        """
        return self._fitted().tree(i)

    def apply(self, X: Any) -> np.ndarray:
        """Position of the leaf that each row ends in, in every tree.

        Parameters
        ----------
        X : table of n rows

        Returns
        -------
        int64[n, n_trees]
        """
        return self._fitted().apply(X, n_jobs=self.n_jobs, owner=type(self).__name__)

    def decision_path(self, X: Any) -> tuple[csr_matrix, np.ndarray]:
        """Indicator of the nodes that each row passes.

        Parameters
        ----------
        X : table of n rows

        Returns
        -------
        path : csr_matrix of int64[n, n_nodes]
        n_nodes_ptr : int64[n_trees + 1]
            The nodes of tree ``i`` are the columns from ``n_nodes_ptr[i]`` to ``n_nodes_ptr[i + 1]``.
        """
        return self._fitted().decision_path(X, n_jobs=self.n_jobs, owner=type(self).__name__)

    def show(self, **options: Any) -> str:
        """Return what the trees are like as a whole, as text; with ``tree=i`` one of them.

        Parameters
        ----------
        **options
            As ``treewright.explain.text.show``.
        """
        return self._fitted().show(**options)

    def plot(self, **options: Any) -> SvgPicture:
        """Draw the tree that ``tree=i`` names as SVG; other options as ``treewright.plot.svg.plot``."""
        return self._fitted().plot(**options)

    def rules(self, **options: Any) -> LeafRules:
        """One if-then rule per leaf of the tree that ``tree=i`` names; options as ``explain.rules.leaf_rules``."""
        return self._fitted().rules(**options)

    def node(self, i: int, *, tree: int | None = None) -> Node:
        """Return one node of the tree that ``tree`` names as an object that can be read and printed."""
        return self._fitted().node(i, tree=tree)
