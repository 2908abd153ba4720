"""Many trees from one fit: nested subtrees of one tree. In: an estimator, what is varied. Out: ``Family``."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from treewright.core.whole import whole_number
from treewright.estimators.after_fit import has_steps
from treewright.estimators.trees import DecisionTreeClassifier, DecisionTreeRegressor
from treewright.exceptions import ParameterError
from treewright.judge.tasks import Task, with_parameters
from treewright.model_selection.path import is_single_tree, unpruned
from treewright.prune.cost_complexity import Path, check_price, path_of
from treewright.tree.edit import collapse

MOST_POINTS, EVERY_SIZE_TO = 50, 10


def usually_over(estimator: Any) -> str:
    """The default of ``over``: the depth of CART, the leaves of another single tree."""
    if is_single_tree(estimator) and not _is_cart(estimator):
        return "leaves"
    if "max_depth" in estimator.get_params(deep=False):
        return "max_depth"
    raise ParameterError(
        f"over= is not given: name a parameter of {type(estimator).__name__} to vary, with values=[...]"
    )


def family_of(estimator: Any, over: str) -> Family | None:
    """How one fit yields the estimators of all values; None if each has to be fitted."""
    if over in ("alpha", "leaves") and is_single_tree(estimator):
        return OnPath(estimator, over)  # type: ignore[arg-type]
    if over == "max_depth" and _is_cart(estimator) and _grows_by_itself(estimator):
        return ByDepth(estimator)
    return None


def _is_cart(estimator: Any) -> bool:
    return isinstance(estimator, DecisionTreeClassifier | DecisionTreeRegressor)


def _grows_by_itself(estimator: Any) -> bool:
    """Whether the subtree grown below a node depends only on the rows of that node.

    Best-first growth places its leaves elsewhere when it may go deeper; sampled columns and pruning also depend on the
    rest of the tree.
    """
    is_whole = estimator.ccp_alpha == 0 and not has_steps(estimator)
    return is_whole and estimator.max_leaf_nodes is None and estimator.max_features is None


@dataclass(frozen=True)
class OnPath:
    """Subtrees of the path of cost-complexity pruning.

    ``by`` is "alpha", the best subtree at a price of a leaf; or "leaves", the largest subtree with at most so many
    leaves.
    """

    estimator: Any
    by: Literal["alpha", "leaves"]

    def check(self, values: Sequence[Any]) -> None:
        """Refuse values that are no price or no number of leaves."""
        for value in values:
            if self.by == "alpha":
                check_price(value)
            else:
                whole_number("max_leaves", value, 1)

    def largest(self, values: Sequence[Any]) -> Any:  # noqa: ARG002 - whatever is asked for
        """The unfitted estimator whose tree holds the members of all these values: the whole tree, not pruned."""
        return unpruned(self.estimator)

    def step(self, path: Path, value: Any) -> int:
        """The step of one value on the path of the tree grown by ``largest``."""
        return path.step_at(check_price(value)) if self.by == "alpha" else int(np.argmax(path.n_leaves <= value))

    def member(self, grown: Any, value: Any) -> Any:
        """The fitted estimator of one value, cut out of the largest one."""
        path = path_of(grown.model_, "impurity")
        return grown.prune("cost_complexity", alpha=float(path.alphas[self.step(path, value)]))

    def default_values(self, task: Task) -> list[Any]:
        """Values of the tree that is grown on all rows, ascending, at most ``MOST_POINTS``."""
        path = path_of(task.fit(self.largest(()), np.arange(task.n), "all rows").model_, "impurity")
        sizes, alphas = path.n_leaves.tolist(), path.alphas
        if self.by == "leaves":
            # In a fold the path may have a size that the tree of all rows skips.
            return _thinned_sizes([*sizes, *range(1, min(EVERY_SIZE_TO, max(sizes)) + 1)])
        if len(alphas) == 1:
            return [0.0]
        prices = np.empty(len(alphas))
        # Roots are multiplied, not prices: a product of two small prices could be 0.
        prices[1:-1] = np.sqrt(alphas[1:-1]) * np.sqrt(alphas[2:])
        prices[0], prices[-1] = alphas[1] / 2, alphas[-1] * 2
        shown = set(_thinned_sizes(sizes))
        return [price for price, n in zip(prices.tolist(), sizes, strict=True) if n in shown]


@dataclass(frozen=True)
class ByDepth:
    """A tree cut off at a depth: the same tree as CART grows with that ``max_depth``."""

    estimator: Any

    def check(self, values: Sequence[Any]) -> None:
        """Refuse values that ``max_depth`` cannot have."""
        for value in values:
            with_parameters(self.estimator, {"max_depth": value})._check_parameters()

    def largest(self, values: Sequence[Any]) -> Any:
        """The unfitted estimator whose tree holds the members of all these values."""
        deepest = None if None in values or not len(values) else max(values)
        return with_parameters(self.estimator, {"max_depth": deepest})

    def member(self, grown: Any, value: Any) -> Any:
        """The fitted estimator of one value, cut out of the largest one."""
        model = grown.model_
        tree = model.trees[0]
        if value is None or tree.max_depth <= value:
            return grown
        cut = copy.copy(grown)
        cut.model_ = replace(model, trees=(collapse(tree, np.flatnonzero(~tree.is_leaf & (tree.depth >= value))),))
        return cut

    def default_values(self, task: Task) -> list[Any]:
        """Depths up to that of the tree grown on all rows, at most ``MOST_POINTS``."""
        grown = task.fit(self.largest(()), np.arange(task.n), "all rows")
        return _thinned(list(range(1, max(1, grown.get_depth()) + 1)))


Family = OnPath | ByDepth


def _thinned_sizes(sizes: Sequence[int]) -> list[int]:
    """At most ``MOST_POINTS`` numbers of leaves: every one up to ``EVERY_SIZE_TO``, the rest at equal ratios.

    Errors change most at small sizes; among hundreds of leaves one more hardly matters.
    """
    held = np.unique(sizes)
    if len(held) <= MOST_POINTS:
        return [int(size) for size in held]
    small, large = held[held <= EVERY_SIZE_TO], held[held > EVERY_SIZE_TO]
    wanted = np.geomspace(large[0], large[-1], MOST_POINTS - len(small))
    nearest = np.minimum(np.searchsorted(large, wanted * (1 - 1e-9)), len(large) - 1)
    return [int(size) for size in (*small, *np.unique(large[nearest]))]


def _thinned(values: list[Any]) -> list[Any]:
    """At most ``MOST_POINTS`` of the values, first and last included."""
    if len(values) <= MOST_POINTS:
        return values
    return [values[at] for at in np.linspace(0, len(values) - 1, MOST_POINTS).round().astype(int).tolist()]
