"""Many trees from one growth. In: an estimator, what is varied. Out: ``Family``. Caller: model_selection.curves."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from treewright.estimators.base import TreeEstimator
from treewright.estimators.cart import CartEstimator
from treewright.model_selection.candidates import with_parameters
from treewright.model_selection.pruned import unpruned
from treewright.model_selection.task import Task
from treewright.prune.path import Path, path_of
from treewright.tree.edit import collapse

MOST_POINTS = 50


class Family(ABC):
    """Nested subtrees of one tree.

    Parameters
    ----------
    estimator : estimator
        Unfitted.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def check(self, values: Sequence[Any]) -> None:  # noqa: B027 - the pruners check theirs
        """Refuse values that name no member, where ``member`` would not."""

    @abstractmethod
    def largest(self, values: Sequence[Any]) -> Any:
        """The unfitted estimator whose tree holds the members of all these values."""

    @abstractmethod
    def member(self, grown: Any, value: Any) -> Any:
        """The fitted estimator of one value, cut out of the largest one."""

    @abstractmethod
    def default_values(self, task: Task) -> list[Any]:
        """Values that are worth a look, ascending, at most ``MOST_POINTS``."""


def family_of(estimator: Any, over: str) -> Family | None:
    """How the estimators of all values come out of one growth; None where each has to be fitted."""
    if isinstance(estimator, TreeEstimator) and over == "alpha":
        return _ByPrice(estimator)
    if isinstance(estimator, TreeEstimator) and over == "leaves":
        return _BySize(estimator)
    if over == "max_depth" and isinstance(estimator, CartEstimator) and _grows_by_itself(estimator):
        return _ByDepth(estimator)
    return None


def _grows_by_itself(estimator: CartEstimator) -> bool:
    """Whether what is grown below a node depends on the rows of that node alone.

    Best-first growth spends its leaves elsewhere when it may go deeper; which columns are drawn, and what pruning cuts,
    depend on the rest of the tree as well.
    """
    return estimator.max_leaf_nodes is None and estimator.max_features is None and estimator.ccp_alpha == 0


class _OnPath(Family):
    """Members of the path of cost-complexity pruning."""

    def largest(self, values: Sequence[Any]) -> Any:  # noqa: ARG002 - the whole tree, whatever is asked for
        return unpruned(self.estimator)

    def _whole_path(self, task: Task) -> Path:
        """The path of the tree that is grown on all rows."""
        return path_of(task.fit(self.largest(()), np.arange(task.n), "all rows").model_, "impurity")


class _ByPrice(_OnPath):
    """The subtree that is wanted at a price of a leaf."""

    def member(self, grown: Any, value: Any) -> Any:
        return grown.prune("cost_complexity", alpha=value)

    def default_values(self, task: Task) -> list[Any]:
        alphas = self._whole_path(task).alphas
        if len(alphas) == 1:
            return [0.0]
        prices = np.empty(len(alphas))
        # From a root times a root: a product of two small prices could be 0.
        prices[1:-1] = np.sqrt(alphas[1:-1]) * np.sqrt(alphas[2:])
        prices[0], prices[-1] = alphas[1] / 2, alphas[-1] * 2
        return _thinned(prices.tolist())


class _BySize(_OnPath):
    """The largest subtree within a number of leaves."""

    def member(self, grown: Any, value: Any) -> Any:
        return grown.prune("leaves", max_leaves=value)

    def default_values(self, task: Task) -> list[Any]:
        return _thinned(sorted(self._whole_path(task).n_leaves.tolist()))


class _ByDepth(Family):
    """A tree cut off at a depth: what CART grows to that depth, for it grows node by node from the root."""

    def check(self, values: Sequence[Any]) -> None:
        for value in values:
            with_parameters(self.estimator, {"max_depth": value})._check_parameters()

    def largest(self, values: Sequence[Any]) -> Any:
        deepest = None if None in values or not len(values) else max(values)
        return with_parameters(self.estimator, {"max_depth": deepest})

    def member(self, grown: Any, value: Any) -> Any:
        model = grown.model_
        tree = model.trees[0]
        if value is None or tree.max_depth <= value:
            return grown
        cut = copy.copy(grown)
        cut.model_ = replace(model, trees=(collapse(tree, np.flatnonzero(~tree.is_leaf & (tree.depth >= value))),))
        return cut

    def default_values(self, task: Task) -> list[Any]:
        grown = task.fit(self.largest(()), np.arange(task.n), "all rows")
        return _thinned(list(range(1, max(1, grown.get_depth()) + 1)))


def _thinned(values: list[Any]) -> list[Any]:
    """At most ``MOST_POINTS`` of them, first and last included."""
    if len(values) <= MOST_POINTS:
        return values
    return [values[at] for at in np.linspace(0, len(values) - 1, MOST_POINTS).round().astype(int).tolist()]
