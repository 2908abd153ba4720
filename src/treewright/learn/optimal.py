"""Optimal trees: the tree of the least loss within limits of depth and leaves, with a proof or a bound.

The search (``grow.optimal``) begins with the trees that CART grows within the same limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from treewright.core.notices import warn
from treewright.data.dataset import Dataset
from treewright.data.memory import check_fits
from treewright.exceptions import ParameterError
from treewright.grow.by_node.policies import count_of
from treewright.grow.optimal.grower import Optimal, grow_optimal
from treewright.grow.optimal.losses import class_loss, number_loss
from treewright.grow.optimal.search import CTRL_C, Limits
from treewright.grow.optimal.space import space_of
from treewright.learn.data_checks import warn_of_odd_columns
from treewright.learn.params import (
    CLASS_WEIGHT,
    MAX_BINS,
    MIN_SAMPLES_LEAF,
    MIN_WEIGHT_FRACTION_LEAF,
    NOTHING,
    POSITIVE,
    ClassWeight,
    ColumnParams,
    any_real,
    any_whole,
    by_task,
    bytes_of_leaves,
    finite,
    param,
    stated,
    whole,
    words,
)
from treewright.learn.registry import OPTIMAL
from treewright.learn.single import TreeParams, grow_cart, problem_and_policy
from treewright.learn.train import Trained, model_of, refuse_not_counts, with_every_cell
from treewright.trees.facts import proof_of

if TYPE_CHECKING:
    from treewright.data.target import Labels, Numbers
    from treewright.grow.by_node.search import Policy
    from treewright.grow.optimal.losses import Loss
    from treewright.grow.optimal.space import Space
    from treewright.grow.problem import Problem
    from treewright.trees.arrays import Tree

DEEPEST = 50  # levels: no search proves as many, and it calls itself once a level
_LARGEST_PRICE = 2**55  # of a leaf: no table's loss is as large, and four of them are an objective
_MOST_OF_ONE_TEST = 3  # levels of which one against the rest is every set


@dataclass(frozen=True, kw_only=True)
class OptimalTreeParams(ColumnParams):
    """Optimal trees (Bertsimas and Dunn 2017; van der Linden et al. 2025 for cuts of raw columns)."""

    algorithm_name: ClassVar[str] = OPTIMAL.name
    shown_first: ClassVar[tuple[str, ...]] = ("criterion", "max_depth", "max_leaf_nodes", "ccp_alpha", "max_search")

    criterion: str = param(
        by_task("misclassification", "squared_error"),
        by_task(words("misclassification", "gini", "entropy", "log_loss"), words("squared_error", "poisson")),
        help="the loss of a leaf, of which the tree has the least sum",
        more=by_task(
            'The share of misclassified weight, Gini impurity, or entropy ("log_loss" is "entropy").',
            "The variance, or half the Poisson deviance.",
        ),
    )
    max_depth: int | None = param(
        3, whole(1, DEEPEST), NOTHING, unit="edges", help="depth of the deepest leaf; the root has depth 0",
        more="The work grows with a power of it. None needs ``max_leaf_nodes``.",
    )  # fmt: skip
    min_samples_leaf: float = stated(MIN_SAMPLES_LEAF)
    max_leaf_nodes: int | None = param(None, any_whole(2), NOTHING, unit="leaves", help="leaves of the tree")
    min_weight_fraction_leaf: float = stated(MIN_WEIGHT_FRACTION_LEAF)
    ccp_alpha: float = param(
        0.0, any_real(0.0, None, "left"), unit="loss", help="the price of a leaf",
        more="In units of the mean loss of a row. Of trees with equal loss the one with the fewest leaves is chosen.",
    )  # fmt: skip
    max_bins: int | None = param(
        None, *MAX_BINS.rules, NOTHING, unit="bins", help="search only the cuts between so many bins of a column",
        more="None searches every cut. With bins the tree is optimal over these cuts.",
    )  # fmt: skip
    max_search: int | None = param(
        2000, any_whole(1), NOTHING, unit="subproblems",
        help="stop after so many subproblems, with the best tree so far; None searches to the proof",
        more="The result is the same on every machine.",
    )  # fmt: skip
    time_limit: float | None = param(
        None, any_real(0.0, None, "neither"), NOTHING, unit="seconds", shapes_model=True,
        help="stop after so much time, with the best tree so far", more="The result then depends on the machine.",
    )  # fmt: skip
    class_weight: ClassWeight = stated(CLASS_WEIGHT)
    positive: Any = stated(POSITIVE)
    missing: str = param(
        "direction", words("direction", "error"), help="the branch that missing values follow",
        more="The better of both is searched; or missing values are an error.",
    )  # fmt: skip

    def check_size(self, n_rows: int, n_columns: int) -> None:
        """Each column twice (missing cells on either side): rank and order, for the rows of two nodes a level."""
        levels = self.max_depth or self.max_leaf_nodes or 1
        check_fits(8 * n_rows * n_columns * (2 + int(levels)), f"a search on {n_rows} rows x {n_columns} columns")

    @property
    def criterion_name(self) -> str:
        """The name of the criterion in the model's facts."""
        return self.criterion

    def bytes_of_classes(self, n_rows: int, n_classes: Sequence[int]) -> int:
        """Inner nodes have as many as leaves, and each search keeps the sums of some nodes."""
        return 6 * bytes_of_leaves(self, n_rows, n_classes)

    def check_target(self, target: Labels | Numbers) -> None:
        """Refuse numbers for which the loss is not defined."""
        if self.criterion == "poisson":
            refuse_not_counts(target[0])


def train_optimal(dataset: Dataset, params: OptimalTreeParams, n_threads: int) -> Trained:
    """Search the optimal tree."""
    if dataset.n_outputs > 1:
        raise ParameterError(
            f"an optimal tree takes one target, but y has {dataset.n_outputs}: fit one tree each, or use "
            "DecisionTreeClassifier or DecisionTreeRegressor"
        )
    if params.max_depth is None and params.max_leaf_nodes is None:
        raise ParameterError("max_depth=None needs max_leaf_nodes: a tree without limits would only repeat the rows")
    if params.max_depth is None and int(params.max_leaf_nodes or 0) > DEEPEST + 1:
        raise ParameterError(
            f"max_depth=None lets a tree of max_leaf_nodes={params.max_leaf_nodes} leaves be deeper than {DEEPEST}: "
            f"set max_depth, or at most {DEEPEST + 1} leaves"
        )
    dataset = with_every_cell(dataset, params)
    optimal, unit = _searched(dataset, params, n_threads)
    warn_of_odd_columns(dataset.schema, dataset.matrix, dataset.target, int(optimal.tree.feature[0]))
    model = model_of(
        dataset, (optimal.tree,), params, combine="single", criterion=params.criterion, missing=params.missing,
        optimal=_facts(optimal, dataset, params, unit),
    )  # fmt: skip
    if optimal.found.stopped == CTRL_C:
        warn(f"the search was stopped by Ctrl-C: the tree is the best so far ({proof_of(model.facts)})")
    return Trained(model)


@dataclass(frozen=True, eq=False)
class Task:
    """What a search works on; ``unit``: what a unit of its objectives is as mean loss of a row."""

    problem: Problem
    policy: Policy
    space: Space
    loss: Loss
    limits: Limits
    has_subsets: bool
    unit: float


def task_of(dataset: Dataset, params: OptimalTreeParams, n_threads: int) -> Task:
    """The tests, the loss and the limits of a search on some rows."""
    problem, policy = problem_and_policy(dataset, params)
    target = dataset.target_array[:, 0]
    if dataset.classes:
        loss, unit = class_loss(target, dataset.n_classes[0], dataset.weights, params.criterion)
    else:
        loss, unit = number_loss(target, dataset.weights, params.criterion)
    total = float(len(dataset) if dataset.weights is None else dataset.weights.sum())
    bins = None if params.max_bins is None else dataset.binned(int(params.max_bins), n_threads)[1]
    n = len(dataset)
    depth = int(params.max_leaf_nodes or 2) - 1 if params.max_depth is None else int(params.max_depth)
    begun = monotonic()
    limits = Limits(
        max_depth=depth,
        max_leaves=2 ** min(depth, 40) if params.max_leaf_nodes is None else int(params.max_leaf_nodes),
        min_rows=count_of(params.min_samples_leaf, n),
        min_weight=int(np.ceil(float(params.min_weight_fraction_leaf) * float(loss.weights.sum()) * (1.0 - 1e-12))),
        price=max(1, round(min(finite(params.ccp_alpha) * total / unit, _LARGEST_PRICE))),
        max_search=None if params.max_search is None else int(params.max_search),
        is_late=None if params.time_limit is None else lambda: monotonic() - begun > float(params.time_limit or 0.0),
    )
    has_subsets = not dataset.classes or dataset.n_classes[0] == 2
    return Task(problem, policy, space_of(problem, bins), loss, limits, has_subsets, unit / total)


def _searched(dataset: Dataset, params: OptimalTreeParams, n_threads: int) -> tuple[Optimal, float]:
    """The tree, and what a unit of its objective is as mean loss of a row."""
    task = task_of(dataset, params, n_threads)
    known = _known(dataset, params, task.limits, n_threads)
    return grow_optimal(task.space, task.policy, task.loss, task.limits, known, task.has_subsets), task.unit


def _known(dataset: Dataset, params: OptimalTreeParams, limits: Limits, n_threads: int) -> list[Tree]:
    """CART's trees within the limits, by each impurity that it knows for the target."""
    criteria = ("gini", "entropy", "misclassification") if dataset.classes else (params.criterion,)
    dataset = dataset if dataset.cache is not None else dataset.shared()  # columns are sorted once
    limited = TreeParams(
        task=params.task,
        max_depth=limits.max_depth,
        min_samples_leaf=params.min_samples_leaf,
        min_weight_fraction_leaf=params.min_weight_fraction_leaf,
        max_leaf_nodes=params.max_leaf_nodes,
    )
    if params.max_bins is not None:
        limited = replace(limited, splitter="hist", max_bins=params.max_bins)
    return [grow_cart(dataset, replace(limited, criterion=criterion), n_threads)[0] for criterion in criteria]


def _facts(optimal: Optimal, dataset: Dataset, params: OptimalTreeParams, unit: float) -> dict[str, Any]:
    """What the model says of the search: objectives are losses per unit of weight, with the price of the leaves."""
    found, alpha = optimal.found, finite(params.ccp_alpha)
    objective = objective_of(found.objective, optimal.tree.n_leaves, optimal.price, unit, alpha)
    is_proven = found.lower >= found.objective
    # Of the price that prefers fewer leaves when nothing else does, a bound holds that of one leaf at least.
    bound = objective if is_proven else min(objective, max(0.0, (found.lower - optimal.price) * unit + alpha))
    return {
        "objective": objective,
        "lower_bound": bound,
        "is_proven": is_proven,
        "n_solved": found.n_solved,
        "stopped": found.stopped,
        "searched": _searched_tests(dataset, params),
    }


def objective_of(value: int, n_leaves: int, price: int, unit: float, alpha: float) -> float:
    """An objective of the search as loss per unit of weight, with ``alpha`` for each leaf."""
    return (value - n_leaves * price) * unit + n_leaves * alpha


def _searched_tests(dataset: Dataset, params: OptimalTreeParams) -> str:
    """Which tests were searched, where that is less than all; empty if every tree was."""
    nominal = [column for column in dataset.schema.used if column.kind == "nominal"]
    has_sets = any(len(column.levels) + column.missing_seen > _MOST_OF_ONE_TEST for column in nominal)
    found = ["cuts between bins"] * (params.max_bins is not None) + ["single levels of nominal columns"] * has_sets
    return " and ".join(found)
