"""Optimal trees: of the least loss within limits, or the smallest without an error, with a proof or a bound.

The search (``grow.optimal``) begins with the trees that CART grows within the same limits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from treewright.core import progress
from treewright.core.notices import warn
from treewright.data.dataset import Dataset
from treewright.data.memory import check_fits
from treewright.exceptions import DataError, ParameterError
from treewright.grow.by_node.policies import count_of
from treewright.grow.optimal.consistent import contradictions
from treewright.grow.optimal.grower import Optimal, grow_optimal, grow_smallest
from treewright.grow.optimal.losses import class_loss, number_loss
from treewright.grow.optimal.pairs import INF
from treewright.grow.optimal.search import CTRL_C, Limits
from treewright.grow.optimal.space import Space, space_of
from treewright.learn.data_checks import warn_of_odd_columns
from treewright.learn.params import (
    AUTO,
    CLASS_WEIGHT,
    CLASSES,
    LOUDNESS,
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
    needs,
    param,
    stated,
    whole,
    words,
)
from treewright.learn.registry import OPTIMAL
from treewright.learn.single import TreeParams, grow_cart, problem_and_policy
from treewright.learn.train import Trained, model_of, refuse_not_counts, with_every_cell
from treewright.trees.facts import gap_of, proof_of

if TYPE_CHECKING:
    from treewright.data.target import Labels, Numbers
    from treewright.grow.by_node.search import Policy
    from treewright.grow.optimal.losses import Loss
    from treewright.grow.problem import Problem
    from treewright.trees.arrays import Tree

DEEPEST = 50  # levels: no search proves as many, and it calls itself once a level
_BINS = 64  # of a column with ``optimal_depth``
_LARGEST_PRICE = 2**55  # of a leaf: no table's loss is as large, and four of them are an objective
_DEPTH = 3  # of a tree of the least loss, if none is given
_LOSSES = needs("the smallest tree has no loss, and each of its leaves counts as one", objective="loss")
_SIZES = needs("a leaf of the smallest tree may have to hold a single row", objective="loss")
_MOST_NAMED = 3  # pairs of rows in an error
_BETWEEN_REPORTS = 0.05  # seconds: a subproblem may take a millionth of one
_UNSEEN = 2**20  # units: a billionth of the table's loss; the price of leaves is less where none is asked for
_MOST_OF_ONE_TEST = 3  # levels of which one against the rest is every set


@dataclass(frozen=True, kw_only=True)
class OptimalTreeParams(ColumnParams):
    """Optimal trees (Bertsimas and Dunn 2017; van der Linden et al. 2025 for cuts of raw columns)."""

    algorithm_name: ClassVar[str] = OPTIMAL.name
    shown_first: ClassVar[tuple[str, ...]] = ("criterion", "max_depth", "max_leaf_nodes", "ccp_alpha", "max_search")

    objective: str = param(
        "loss", words("loss", "smallest"), only=CLASSES, help="what the tree has the least of",
        more='"loss" is the loss of the leaves with their price. "smallest" is the number of leaves, of all trees '
        "without an error on the training rows.",
    )  # fmt: skip
    criterion: str = param(
        by_task("misclassification", "squared_error"),
        by_task(words("misclassification", "gini", "entropy", "log_loss"), words("squared_error", "poisson")),
        help="the loss of a leaf, of which the tree has the least sum",
        more=by_task(
            'The share of misclassified weight, Gini impurity, or entropy ("log_loss" is "entropy").',
            "The variance, or half the Poisson deviance.",
        ),
        needs=_LOSSES,
    )
    max_depth: int | str | None = param(
        by_task(AUTO, _DEPTH), whole(1, DEEPEST), by_task(words(AUTO), NOTHING), NOTHING, unit="edges",
        help="depth of the deepest leaf; the root has depth 0",
        more=by_task(
            f'The work grows with a power of it. "{AUTO}" is {_DEPTH}, or no limit with ``objective="smallest"``; else '
            "None needs ``max_leaf_nodes``.",
            "The work grows with a power of it. None needs ``max_leaf_nodes``.",
        ),
    )  # fmt: skip
    min_samples_leaf: float = stated(replace(MIN_SAMPLES_LEAF, needs=(_SIZES,)))
    max_leaf_nodes: int | None = param(None, any_whole(2), NOTHING, unit="leaves", help="leaves of the tree")
    min_weight_fraction_leaf: float = stated(replace(MIN_WEIGHT_FRACTION_LEAF, needs=(_SIZES,)))
    ccp_alpha: float = param(
        0.0, any_real(0.0, None, "left"), unit="loss", help="the price of a leaf", needs=_LOSSES,
        more="In units of the mean loss of a row. The least price that is not 0, such as 1e-9, proves that no tree of "
        "equal loss has fewer leaves; with 0 a tree with fewer is preferred where the search meets it.",
    )  # fmt: skip
    optimal_depth: int | None = param(
        None, whole(1, DEEPEST), NOTHING, unit="levels",
        help="search the tests of so many levels only, with the greedy tree below each of their leaves", needs=_LOSSES,
        more="None searches all levels. For many rows and deeper trees; see also ``max_bins``.",
    )  # fmt: skip
    max_bins: int | None = param(
        None, *MAX_BINS.rules, NOTHING, unit="bins", help="search only the cuts between so many bins of a column",
        needs=needs("cuts between bins may not separate the classes", objective="loss"),
        more=f"None searches every cut, and with ``optimal_depth`` those between {_BINS} bins. With bins the tree is "
        "optimal over these cuts.",
    )  # fmt: skip
    max_search: int | None = param(
        2000, any_whole(1), NOTHING, unit="subproblems",
        help="stop after so many subproblems, with the best tree so far; None searches to the proof",
        more=by_task(
            'The result is the same on every machine. With ``objective="smallest"`` each set of rows whose tests are '
            "tried is one, with ``optimal_depth`` each greedy tree.",
            "The result is the same on every machine. With ``optimal_depth`` each greedy tree is one.",
        ),
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
    verbose: int = stated(LOUDNESS)

    def check_size(self, n_rows: int, n_columns: int) -> None:
        """Each column twice (missing cells on either side): rank and order, for the rows of two nodes a level."""
        levels = self.in_numbers().max_depth or self.max_leaf_nodes or 1
        check_fits(8 * n_rows * n_columns * (2 + int(levels)), f"a search on {n_rows} rows x {n_columns} columns")

    def meant(self) -> dict[str, Any]:
        """Numbers have the one objective."""
        return {} if self.task == CLASSES else {"objective": "loss"}

    @property
    def is_smallest(self) -> bool:
        """Whether the objective is the number of leaves."""
        return self.task == CLASSES and self.objective == "smallest"

    def in_numbers(self) -> Self:
        """The parameters with what "auto" stands for."""
        return replace(self, max_depth=None if self.is_smallest else _DEPTH) if self.max_depth == AUTO else self

    @property
    def criterion_name(self) -> str:
        """The name of the criterion in the model's facts."""
        return self.criterion

    def bytes_of_classes(self, n_rows: int, n_classes: Sequence[int]) -> int:
        """Inner nodes have as many as leaves, and each search keeps the sums of some nodes."""
        return 6 * bytes_of_leaves(self.in_numbers(), n_rows, n_classes)

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
    params = params.in_numbers()
    is_open = params.max_depth is None and not params.is_smallest
    if is_open and params.max_leaf_nodes is None:
        raise ParameterError("max_depth=None needs max_leaf_nodes: a tree without limits would only repeat the rows")
    if is_open and int(params.max_leaf_nodes or 0) > DEEPEST + 1:
        raise ParameterError(
            f"max_depth=None lets a tree of max_leaf_nodes={params.max_leaf_nodes} leaves be deeper than {DEEPEST}: "
            f"set max_depth, or at most {DEEPEST + 1} leaves"
        )
    if _searched_levels(params) is not None and params.max_leaf_nodes is not None:
        raise ParameterError(
            "optimal_depth limits a tree by its depth: leave max_leaf_nodes out; ccp_alpha, a price per leaf, makes "
            "the tree smaller"
        )
    dataset = with_every_cell(dataset, params)
    dataset = dataset if dataset.cache is not None else dataset.shared()  # columns are sorted and binned once
    with progress.bar_where_nobody_listens(bool(params.verbose)):
        optimal, unit = (_smallest if params.is_smallest else _searched)(dataset, params, n_threads)
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
    """What a search of the least loss works on; ``unit``: what a unit of its objectives is as mean loss of a row."""

    problem: Problem
    policy: Policy
    space: Space
    loss: Loss
    limits: Limits
    has_subsets: bool
    unit: float


def task_of(dataset: Dataset, params: OptimalTreeParams, n_threads: int) -> Task:
    """The tests, the loss and the limits of a search on some rows; its time begins now."""
    problem, policy = problem_and_policy(dataset, params)
    target = dataset.target_array[:, 0]
    if dataset.classes:
        loss, unit = class_loss(target, dataset.n_classes[0], dataset.weights, params.criterion)
    else:
        loss, unit = number_loss(target, dataset.weights, params.criterion)
    total = float(len(dataset)) if dataset.weights is None else math.fsum(dataset.weights.tolist())
    n_bins = _bins_of(params)
    bins = None if n_bins is None else dataset.binned(n_bins, n_threads)[1]
    limits = replace(
        _limits(params, len(dataset)),
        optimal_depth=_searched_levels(params),
        min_rows=min(count_of(params.min_samples_leaf, len(dataset)), len(dataset)),  # the root is always a leaf
        min_weight=int(np.ceil(float(params.min_weight_fraction_leaf) * float(loss.weights.sum()) * (1.0 - 1e-12))),
        price=max(1, round(min(finite(params.ccp_alpha) * total / unit, _LARGEST_PRICE))),
    )
    return Task(problem, policy, space_of(problem, bins), loss, limits, _orders_levels(dataset), unit / total)


def _searched(dataset: Dataset, params: OptimalTreeParams, n_threads: int) -> tuple[Optimal, float]:
    """The tree, and what a unit of its objective is as mean loss of a row."""
    begun = monotonic()
    task = task_of(dataset, params, n_threads)
    listen = _listener(params, task.unit, begun) if progress.is_heard() else None
    limits = replace(task.limits, listen=listen)
    known = _known(dataset, params, limits, n_threads)
    is_whole = not _searched_tests(dataset, params)
    return grow_optimal(task.space, task.policy, task.loss, limits, known, task.has_subsets, is_whole), task.unit


def _orders_levels(dataset: Dataset) -> bool:
    """Whether the best set of levels is among those in the order of their means: for two classes, and for numbers."""
    return not dataset.classes or dataset.n_classes[0] == 2


def _listener(params: OptimalTreeParams, unit: float, begun: float) -> Callable[[int, int, int], None]:
    """What reports the search: the share of what it may use; without limits the share of the loss that is proved.

    ``unit``: mean loss of a row of a unit of the objective.
    """
    next_report = begun

    def shown(objective: int) -> float:
        return objective * unit if objective > _UNSEEN or params.is_smallest else 0.0

    def listen(n_solved: int, objective: int, lower: int) -> None:
        nonlocal next_report
        now = monotonic()
        if now < next_report:
            return
        next_report = now + _BETWEEN_REPORTS
        used = []
        if params.max_search is not None:
            used.append(n_solved / int(params.max_search))
        if params.time_limit is not None:
            used.append((now - begun) / float(params.time_limit))
        found = {"objective": shown(objective), "lower_bound": shown(lower), "is_proven": lower >= objective}
        of = "" if params.max_search is None else f" of {int(params.max_search):,}"
        what = "leaves" if params.is_smallest else "loss"
        progress.report(
            max(used) if used else lower / max(objective, 1),
            f"searching: {what} {found['objective']:.4g}, bound {found['lower_bound']:.4g}, "
            f"gap {100.0 * gap_of(found):.1f} %, {n_solved:,}{of} subproblems",
        )

    return listen


def _limits(params: OptimalTreeParams, n_rows: int) -> Limits:
    """Limits of the tree, and of the search, whose time begins now."""
    most = n_rows if params.max_leaf_nodes is None else int(params.max_leaf_nodes)
    depth = max(most - 1, 1) if params.max_depth is None else int(params.max_depth)
    begun = monotonic()
    return Limits(
        max_depth=depth,
        max_leaves=2 ** min(depth, 40) if params.max_leaf_nodes is None else most,
        max_search=None if params.max_search is None else int(params.max_search),
        is_late=None if params.time_limit is None else lambda: monotonic() - begun > float(params.time_limit or 0.0),
    )


def _smallest(dataset: Dataset, params: OptimalTreeParams, n_threads: int) -> tuple[Optimal, float]:
    """The smallest consistent tree; its objective is a number of leaves."""
    problem, policy = problem_and_policy(dataset, params)
    labels = dataset.target_array[:, 0].astype(np.int32)
    space = space_of(problem)
    _refuse_contradictions(space, dataset, labels)
    limits = _limits(params, len(dataset))
    if progress.is_heard():
        limits = replace(limits, listen=_listener(params, 1.0, monotonic()))
    if params.max_depth is None:  # a limit of leaves is one of levels too, but then a set would be kept for each level
        limits = replace(limits, max_depth=len(dataset))
    known = _known(dataset, params, limits, n_threads)
    optimal = grow_smallest(space, policy, labels, dataset.n_classes[0], limits, known)
    if optimal.found.objective >= INF:
        given = " and ".join(
            f"{name}={getattr(params, name)}"
            for name in ("max_depth", "max_leaf_nodes")
            if getattr(params, name) is not None
        )
        found = f"was found (stopped by {optimal.found.stopped})" if optimal.found.stopped else "exists"
        raise ParameterError(
            f"with {given} no tree without an error on the training rows {found}: raise the limits, or use "
            'objective="loss"'
        )
    return optimal, 1.0


def _refuse_contradictions(space: Space, dataset: Dataset, labels: np.ndarray) -> None:
    """Refuse rows that no test separates although their classes differ."""
    pairs = contradictions(space, labels)
    if not pairs:
        return
    classes = dataset.classes[0]
    given = np.arange(len(labels)) if dataset.kept is None else np.flatnonzero(dataset.kept)
    shown = "; ".join(
        " and ".join(f"{given[row]} ({classes[labels[row]]})" for row in pair) for pair in pairs[:_MOST_NAMED]
    )
    more = "; ..." if len(pairs) > _MOST_NAMED else ""
    raise DataError(
        f"no tree is without an error on these rows: {len(pairs)} of them {'are' if len(pairs) > 1 else 'is'} equal to "
        f"an earlier one in every column, but of another class: rows {shown}{more}. Correct or remove them, add a "
        'column that separates them, or use objective="loss"'
    )


def _known(dataset: Dataset, params: OptimalTreeParams, limits: Limits, n_threads: int) -> Iterator[Tree]:
    """CART's trees within the limits, by each impurity that it knows for the target."""
    criteria = ("gini", "entropy", "misclassification") if dataset.classes else (params.criterion,)
    limited = TreeParams(
        task=params.task,
        max_depth=limits.max_depth,
        min_samples_leaf=params.min_samples_leaf,
        min_weight_fraction_leaf=params.min_weight_fraction_leaf,
        max_leaf_nodes=params.max_leaf_nodes,
    )
    if params.max_bins is not None:
        limited = replace(limited, splitter="hist", max_bins=params.max_bins)
    for criterion in criteria:
        yield grow_cart(dataset, replace(limited, criterion=criterion), n_threads)[0]


def _searched_levels(params: OptimalTreeParams) -> int | None:
    """The levels whose tests are searched if others are below them; None if all are searched."""
    levels, depth = params.optimal_depth, params.max_depth
    return None if levels is None or (depth is not None and levels >= int(depth)) else int(levels)


def _bins_of(params: OptimalTreeParams) -> int | None:
    """Bins of a column; None for every cut."""
    if params.max_bins is None:
        return None if _searched_levels(params) is None else _BINS
    return int(params.max_bins)


def _facts(optimal: Optimal, dataset: Dataset, params: OptimalTreeParams, unit: float) -> dict[str, Any]:
    """What the model says of the search: objectives are losses per unit of weight, with the price of the leaves.

    Of the smallest consistent tree they are numbers of leaves: the unit is 1, the price 0.
    """
    found, alpha, levels = optimal.found, finite(params.ccp_alpha), _searched_levels(params)
    objective = objective_of(found.objective, optimal.tree.n_leaves, optimal.price, unit, alpha)
    # Of the price that prefers fewer leaves when nothing else does, a bound holds that of one leaf at least.
    bound = max(0.0, (found.lower - optimal.price) * unit + alpha)
    # A loss of 0 is the least, whether or not a tree with fewer leaves has it too.
    is_least = found.lower >= found.objective or bound >= objective
    bound = objective if is_least else bound
    greedy = {}
    if optimal.start < INF:  # CART's tree is consistent, if it has to be
        greedy = {
            "greedy_objective": objective_of(optimal.start, optimal.start_leaves, optimal.price, unit, alpha),
            "greedy_leaves": optimal.start_leaves,
        }
    return {
        "objective": objective,
        "lower_bound": bound,
        "is_proven": is_least or (levels is not None and not found.stopped),
        "n_solved": found.n_solved,
        "stopped": found.stopped,
        "searched": _searched_tests(dataset, params),
        **greedy,
        **({} if levels is None or is_least else {"greedy_below": levels}),
    }


def objective_of(value: int, n_leaves: int, price: int, unit: float, alpha: float) -> float:
    """An objective of the search as loss per unit of weight, with ``alpha`` for each leaf."""
    return (value - n_leaves * price) * unit + n_leaves * alpha


def _searched_tests(dataset: Dataset, params: OptimalTreeParams) -> str:
    """Which tests were searched, where that is less than all; empty if every tree was."""
    nominal = [column for column in dataset.schema.used if column.kind == "nominal"]
    has_sets = any(len(column.levels) + column.missing_seen > _MOST_OF_ONE_TEST for column in nominal)
    found, n_bins = [], _bins_of(params)
    if n_bins is not None:
        bins = dataset.binned(n_bins, 1)[0]
        found += ["cuts between bins"] * bool((bins.lowest != bins.highest).any())
    if params.max_depth == 1 or params.max_leaf_nodes == 2:  # a single test
        has_sets = has_sets and not _orders_levels(dataset)
    if has_sets:
        has_order = _searched_levels(params) is not None and _orders_levels(dataset)
        found.append("levels in the order of their means" if has_order else "single levels of nominal columns")
    return " and ".join(found)
