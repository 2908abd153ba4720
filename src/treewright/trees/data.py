"""The data of a fitted model: its columns, its trees, and how these are combined into a prediction.

``ModelData`` is data only; ``treewright.model.Model`` is the same with the verbs as methods. A forest on bins and a
boosted model keep ``PackedTrees`` (eight bytes a node), all others ``ListedTrees``, a tuple. Both are sequences of
``Tree`` with the methods of `Trees`; ``predict.walks`` sends rows down either form. Only a forest with
``quantiles=True`` keeps the targets in its leaves, `LeafTargets`.

``ModelData.aggregation`` states how the trees are combined. It is one of these values:

===========  ========  =========================================================================================== value
in files  prediction of the trees together ===========  ========
=========================================================================================== `Single`     single    that
of the one tree `Mean`       mean      the mean of the class proportions, or numbers, of their leaves `Vote`       vote
the share of the trees, or of their weight, that predicts a class `Median`     median    the weighted median of the
numbers that they predict `Boosting`   sum       they add to scores that begin at a base; a link turns the scores into a
prediction ===========  ========
===========================================================================================

``predict.ensemble`` sends rows down the trees, looks up the ``addends`` of each leaf, adds these up in the order of the
trees and makes the ``mean`` of them; numbers that are sorted go through ``weighted_median``, scores through
``predictions_of_scores``. ``explain``, ``exchange``, drawings and report use the properties of a value (``is_single``,
``votes``, ``sorts``, ``has_scores``, ``weights``) and never compare its name. Only ``check_model`` and ``codec`` know
its name in files.

Estimators and models are pickled in their form in memory, which may differ in every version. So the version is stored
with them, and a pickle of another version is refused. Model files (``save``, ``treewright.load``) can be read by later
versions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from itertools import accumulate
from typing import Any, ClassVar, Literal, Protocol, TypeVar, overload

import numpy as np

from treewright.data.encoder import encode
from treewright.data.schema import Schema
from treewright.data.take import warn_of_another_order
from treewright.data.target import (
    check_lengths,
    check_weights,
    class_factors,
    encode_labels,
    encode_numbers,
    recode,
    weighed,
)
from treewright.exceptions import DataError, ModelFileError
from treewright.trees.arrays import Missing, Sizes, Tree, child_of, children_of
from treewright.trees.packed import PackedTrees
from treewright.trees.threshold import Threshold, positive_label
from treewright.version import __version__

Combine = Literal["single", "mean", "sum", "vote", "median"]
Link = Literal["identity", "log", "sorted", "classes"]
LINKS: tuple[Link, ...] = ("identity", "log", "sorted", "classes")
Grid = tuple[int, ...]  # exponents of two, from the coarsest grid to the finest
LEAST_GRID = -1000  # the steps of a finer grid would not be normal numbers
LAST_GRID = -1074  # of which every float64 is a multiple
_EXACT = 2.0**53  # float64 represents all whole numbers below it
LARGEST_EXPONENT = 700.0  # exp of it, and of slightly more, is finite
Unseen = Literal["missing", "error", "majority"]


@dataclass(frozen=True, eq=False)
class ModelData:
    """The data of a fitted model: self-contained and immutable.

    Attributes
    ----------
    task : {"classification", "regression"}
    schema : Schema
        The columns, in the order of the encoded matrix.
    trees : ListedTrees or PackedTrees
        Sequences of ``Tree`` (`Trees`); a plain tuple becomes ``ListedTrees``.
    classes : tuple of ndarray
        Classification: the sorted class labels of each output, in the target's own dtype. Regression: empty.
    n_outputs : int
        The number of predicted targets.
    combine : {"single", "mean", "sum", "vote", "median"}
        How the outputs of the trees are combined, by its name in files; ``aggregation`` is the same as an object.
    unseen : {"missing", "error", "majority"}
        How a level that fit never saw is treated.
    missing : {"direction", "branch", "surrogate", "fractional", "error"}
        The branch that missing values follow: the node's ``missing_branch`` (``direction``, ``branch``), that of the
        first surrogate with a value (``surrogate``), every branch in part (``fractional``), or none (``error``).
    target_names : tuple of str
        A name per output; empty if the target had none.
    facts : dict
        Training facts that are plain JSON: algorithm, criterion, parameters, rows, version. Never thread counts.
    leaf_targets : LeafTargets or None
        The targets in the leaves, if a regression forest keeps them.
    boosting : Boosting or None
        For ``combine="sum"``: the base and the link of the scores. The trees then hold numbers, also for
        classification: ``PackedTrees`` or ``BoostedTrees``.
    tree_weights : float64[n_trees] or None
        The weights of the trees in a vote or a median; None: equal weights.
    threshold : Threshold or None
        The decision threshold for one of two classes; None: the more probable class is predicted.
    grid : tuple of int, or None
        Exponents of two. With one, the values of trees in a mean, a vote or a sum are rounded to multiples of
        ``2**grid[0]`` before they are added, so that sums are exact in any order (``grid_of``). With
        several, a value is the sum of a multiple of each (``parts_of``), without rounding: the parts have
        sums of their own, and the mean of equal values is that value. None: values are added as they are. Rows that are
        divided among branches get averages, which are not on a grid.
    """

    task: Literal["classification", "regression"]
    schema: Schema
    trees: Trees
    classes: tuple[np.ndarray, ...] = ()
    n_outputs: int = 1
    combine: Combine = "single"
    unseen: Unseen = "missing"
    missing: Missing = "direction"
    target_names: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    leaf_targets: LeafTargets | None = None
    boosting: Boosting | None = None
    tree_weights: np.ndarray | None = None
    threshold: Threshold | None = None
    grid: Grid | None = None

    has_trees = True  # not a field, as it has no annotation

    def __post_init__(self) -> None:
        given: Any = self.trees
        if type(given) is tuple:
            listed = ListedTrees if self.boosting is None else BoostedTrees
            object.__setattr__(self, "trees", listed(given))

    def __getstate__(self) -> dict[str, Any]:
        return stamped(self.__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(unstamped(state, type(self).__name__))
        self.__post_init__()  # skops writes tuples of all kinds as plain tuples, and trees come back as one

    @property
    def n_parts(self) -> int:
        """The number of parts of each value that have sums of their own."""
        return 1 if self.grid is None else len(self.grid)

    @property
    def aggregation(self) -> Aggregation:
        """How the trees are combined, as an object."""
        return aggregation_of(self.combine, self.boosting, self.tree_weights, self.grid)

    @property
    def is_single_tree(self) -> bool:
        """Whether the model is a single tree, which can be shown, pruned and written as rules."""
        return self.combine == "single"

    @property
    def has_scores(self) -> bool:
        """Whether the trees add up to scores, as in gradient boosting."""
        return self.boosting is not None

    @property
    def has_rounds(self) -> bool:
        """Whether the trees were fitted in rounds, each to the errors of those before it."""
        return self.aggregation.has_rounds

    @property
    def n_classes(self) -> tuple[int, ...]:
        """Classes per output; empty for regression."""
        return tuple(len(labels) for labels in self.classes)

    @property
    def n_targets(self) -> int:
        """The number of target columns; several quantiles are of one column."""
        return 1 if self.boosting is not None and self.boosting.link == "sorted" else self.n_outputs

    @property
    def positive(self) -> Any:
        """The label of the positive class of two: that of the threshold, of the fit, or the second; else None."""
        return positive_label(self)

    @property
    def counted_classes(self) -> tuple[int, ...]:
        """Classes per output whose counts the trees hold; empty if they hold numbers."""
        return () if self.boosting is not None else self.n_classes


AnyModel = TypeVar("AnyModel", bound=ModelData)


class Trees(Protocol):
    """A sequence of trees, listed or packed."""

    def __len__(self) -> int: ...

    @overload
    def __getitem__(self, item: int, /) -> Tree: ...

    @overload
    def __getitem__(self, item: slice, /) -> tuple[Tree, ...]: ...

    def __iter__(self) -> Iterator[Tree]: ...

    @property
    def begins(self) -> np.ndarray:
        """int64[n_trees + 1]: the first node of each tree among those of all; the last is the number of nodes."""

    @property
    def is_leaf(self) -> np.ndarray:
        """bool[n_nodes of all trees]: which nodes are leaves."""

    @property
    def values(self) -> tuple[np.ndarray, ...]:
        """float[m, n_values]: class counts or numbers, per tree a row for each node, or of all trees one leaf table."""

    def tested_columns(self, tree: int) -> np.ndarray:
        """Return the columns that one tree tests, ascending."""

    def sizes(self, n_columns: int) -> Sizes:
        """Return the sizes of the trees, and which of the columns they test."""

    def importances_by_tree(self, n_columns: int) -> np.ndarray:
        """Return float64[n_trees, n_columns]: ``impurity_importances`` of each tree; for boosted trees gains."""

    def mean_importances(self, n_columns: int, weights: np.ndarray | None = None) -> np.ndarray:
        """The mean over the trees, float64[n_columns], as proportions that sum to one or are 0.

        Trees without a split do not count; the others count by their weights, if there are any.
        """


class ListedTrees(tuple[Tree, ...]):
    """Trees kept one by one: a tuple with the methods of `Trees`."""

    __slots__ = ()

    @property
    def begins(self) -> np.ndarray:
        """int64[n_trees + 1]: the first node of each tree among those of all."""
        return np.cumsum([0, *(tree.n_nodes for tree in self)])

    @property
    def is_leaf(self) -> np.ndarray:
        """bool[n_nodes of all trees]: which nodes are leaves."""
        return np.concatenate([tree.is_leaf for tree in self])

    @property
    def values(self) -> tuple[np.ndarray, ...]:
        """float64[n_nodes, n_values] of each tree: class counts or numbers."""
        return tuple(tree.value for tree in self)

    def tested_columns(self, tree: int) -> np.ndarray:
        """Return the columns that one tree tests, ascending."""
        return np.unique(self[tree].feature[~self[tree].is_leaf])

    def sizes(self, n_columns: int) -> Sizes:
        """Return the sizes of the trees, and which of the columns they test."""
        asked = np.concatenate([tree.feature[~tree.is_leaf] for tree in self])
        return Sizes(
            np.array([tree.n_leaves for tree in self], np.int64),
            np.array([tree.max_depth for tree in self], np.int64),
            np.bincount(asked, minlength=n_columns),
        )

    def importances_by_tree(self, n_columns: int) -> np.ndarray:
        """Return float64[n_trees, n_columns]: each tree's ``impurity_importances``."""
        return np.array([impurity_importances(tree, n_columns) for tree in self])

    def mean_importances(self, n_columns: int, weights: np.ndarray | None = None) -> np.ndarray:
        """Return float64[n_columns]: the mean over the trees, as shares, which sum to one or are 0."""
        total = np.zeros(n_columns)
        proportions = np.ones(len(self)) if weights is None else weights / weights.max()
        for tree, proportion in zip(self, proportions, strict=True):
            total += proportion * impurity_importances(tree, n_columns)
        scale = total.sum()
        return total / scale if scale > 0 else total


class BoostedTrees(ListedTrees):
    """Listed trees that add to scores; the gain of a split is the weighted decrease of impurity."""

    __slots__ = ()

    def importances_by_tree(self, n_columns: int) -> np.ndarray:
        """Return float64[n_trees, n_columns]: gains of each tree."""
        return np.array([gains_of(tree, n_columns) for tree in self])

    def mean_importances(self, n_columns: int, weights: np.ndarray | None = None) -> np.ndarray:
        """Return float64[n_columns]: shares of all gains; boosted trees have no weights."""
        del weights
        total = self.importances_by_tree(n_columns).sum(axis=0)
        scale = total.sum()
        return total / scale if scale > 0 else total


def gains_of(tree: Tree, n_columns: int) -> np.ndarray:
    """float64[n_columns]: the weighted decrease of impurity by the tests of each column."""
    inner = np.flatnonzero(~tree.is_leaf)
    held = tree.weight * tree.impurity
    gains = held[inner].copy()
    np.subtract.at(gains, np.repeat(np.arange(len(inner)), tree.n_branches[inner]), held[children_of(tree, inner)])
    return np.bincount(tree.feature[inner], np.maximum(gains, 0.0), minlength=n_columns).astype(np.float64)


def impurity_importances(tree: Tree, n_features: int) -> np.ndarray:
    """Each column's proportion of the total decrease of impurity: float64[n_features], which sum to one or are 0.

    Breiman et al. 1984, section 5.3.4, without surrogates, normalised as scikit-learn's ``feature_importances_``.
    Measured on the training rows, so columns with many distinct values look better than they are (Strobl et al. 2007).
    """
    inner = np.flatnonzero(~tree.is_leaf)
    # Divided by the root's weight first: products of large weights and large impurities would overflow.
    largest = tree.impurity.max(initial=0.0)
    held = tree.weight / tree.weight[0] * (tree.impurity / largest if largest > 0 else 0.0)
    decrease = held[inner].copy()
    # A leaf without training rows has no weight; with fractional missing values the weights still add up.
    np.subtract.at(decrease, np.repeat(np.arange(len(inner)), tree.n_branches[inner]), held[children_of(tree, inner)])
    importances = np.bincount(tree.feature[inner], np.maximum(decrease, 0.0), minlength=n_features)
    total = importances.sum()
    return importances / total if total > 0 else importances.astype(np.float64)


# Units of the weight of a leaf.
WHOLE = 1 << 30
NAME = "targets of the leaves"
_BLOCK = 1 << 20  # entries that are checked at a time


@dataclass(frozen=True, eq=False)
class LeafTargets:
    """The targets of the training rows in every leaf of every tree, each with its share of the leaf.

    An entry is a distinct target of a leaf. Entries are ordered by output, then by tree, then by the position of the
    leaf, then by value, ascending.
    """

    # float64[n_values]; the distinct targets of each output, ascending, one output after another. No -0.0.
    values: np.ndarray
    ranks: np.ndarray  # int32[n_entries]; position in ``values``
    # int32[n_entries], 0 to 2**30; share of the leaf's weight up to and including this target, in units of 2**-30,
    # rounded down. Only the last entry of a leaf has 2**30, so the beginnings of leaves need not be stored.
    reached: np.ndarray

    def __post_init__(self) -> None:
        for each in fields(self):
            getattr(self, each.name).flags.writeable = False

    @property
    def nbytes(self) -> int:
        """Memory of the arrays in bytes."""
        return sum(getattr(self, each.name).nbytes for each in fields(self))

    def starts(self) -> np.ndarray:
        """Return int64[n_outputs * n_leaves + 1]: the first entry of each leaf; the last is the number of entries."""
        ends = np.flatnonzero(self.reached == WHOLE)
        return np.concatenate((np.zeros(1, np.int64), ends + 1))


def check_leaf_targets(targets: LeafTargets, n_leaves: int, n_outputs: int) -> None:
    """Refuse targets that do not fit the leaves of a forest's trees, or break an invariant of ``LeafTargets``."""
    values, ranks, reached = targets.values, targets.ranks, targets.reached
    for name, dtype in (("values", np.float64), ("ranks", np.int32), ("reached", np.int32)):
        array = getattr(targets, name)
        if array.dtype != dtype or array.ndim != 1:
            raise ModelFileError(f"{NAME}: {name} is not an array of {np.dtype(dtype).name} with one axis")
    if len(ranks) != len(reached) or not len(ranks) or reached[-1] != WHOLE:
        raise ModelFileError(f"{NAME}: {len(ranks)} ranks and {len(reached)} shares do not end with a whole leaf")
    if not np.isfinite(values).all() or (np.signbit(values) & (values == 0)).any():
        raise ModelFileError(f"{NAME}: a value is not finite, or is -0.0")
    is_used = np.zeros(len(values), bool)
    n_ends = 0
    for begin, some_ranks, some_reached in _blocks(ranks, reached):
        _refuse((some_ranks < 0) | (some_ranks >= len(values)), begin, f"its rank is not one of {len(values)}")
        _refuse((some_reached < 0) | (some_reached > WHOLE), begin, "its share is not between 0 and 2**30")
        goes_on = some_reached[:-1] != WHOLE
        # Compared, not subtracted: a difference of malicious numbers may overflow.
        _refuse(goes_on & (some_ranks[1:] <= some_ranks[:-1]), begin, "the next target of its leaf is not above it")
        _refuse(goes_on & (some_reached[1:] < some_reached[:-1]), begin, "the next share of its leaf is below its own")
        is_used[some_ranks] = True
        n_ends += int((some_reached[1 if begin else 0 :] == WHOLE).sum())
    if n_ends != n_leaves * n_outputs:
        raise ModelFileError(f"{NAME}: {n_ends} leaves, expected {n_leaves} for each of {n_outputs} outputs")
    if not is_used.all():
        raise ModelFileError(f"{NAME}: value {int(np.argmin(is_used))} is in no leaf")
    _check_outputs(targets, n_leaves, n_outputs)


def _check_outputs(targets: LeafTargets, n_leaves: int, n_outputs: int) -> None:
    """Check that values ascend within an output, and that each output has its own."""
    starts, first = targets.starts(), 0
    for output in range(n_outputs):
        ranks = targets.ranks[starts[output * n_leaves] : starts[(output + 1) * n_leaves]]
        lowest, highest = int(ranks.min()), int(ranks.max())
        own = targets.values[lowest : highest + 1]
        if lowest != first or (own[1:] <= own[:-1]).any():
            raise ModelFileError(f"{NAME}: the values of output {output} are not its own, or do not ascend")
        first = highest + 1


def _blocks(ranks: np.ndarray, reached: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Entries in blocks, each with the entry before it: the position of the first, and the entries."""
    for begin in range(0, len(ranks), _BLOCK):
        at = slice(max(0, begin - 1), begin + _BLOCK)
        yield at.start, ranks[at], reached[at]


def _refuse(bad: np.ndarray, begin: int, problem: str) -> None:
    """Raise an error that names the first bad entry."""
    if bad.any():
        raise ModelFileError(f"{NAME}: entry {begin + int(np.argmax(bad))}: {problem}")


class Aggregation:
    """The properties of every value, with the most frequent ones as defaults."""

    name: ClassVar[Combine]
    is_single: ClassVar[bool] = False
    votes: ClassVar[bool] = False  # a tree votes for one class, for any proportions in its leaf
    sorts: ClassVar[bool] = False  # the predictions of the trees are sorted, not added up
    has_scores: ClassVar[bool] = False  # a tree adds to a score

    @property
    def weights(self) -> np.ndarray | None:
        """float64[n_trees]: the weights of the trees; None: equal weights."""
        return None

    @property
    def n_scores(self) -> int:
        """The number of trees in a round: one for each score, else one."""
        return 1

    @property
    def has_rounds(self) -> bool:
        """Whether the trees were fitted in rounds, each to the errors of those before it."""
        return self.has_scores or self.weights is not None

    def weights_of(self, n_trees: int) -> np.ndarray:
        """float64[n_trees]: the weights of the trees."""
        return np.ones(n_trees) if self.weights is None else self.weights

    def total(self, n_trees: int) -> float:
        """The divisor of the sum over the trees."""
        # In the order of the trees, like the sums.
        return n_trees if self.weights is None else float(np.cumsum(self.weights)[-1])

    def content(self, model: ModelData, value: np.ndarray) -> np.ndarray:
        """The numbers that leaves with these values (float[m, n_values]) add to the sum: float64[m, k].

        Always a new array: kernels need writable arrays.
        """
        if model.task == "classification":
            return proportions_on_grid(class_proportions(model, value), model.n_classes, model.grid)
        return on_grid(np.array(value, np.float64, order="C"), model.grid)

    def addends(self, model: ModelData, value: np.ndarray) -> np.ndarray:
        """The content of leaves as it is added up, float64[m, k * n_parts]: the parts on each grid, side by side."""
        return parts_of(self.content(model, value), model.grid, model.counted_classes)

    def mean(self, sums: np.ndarray, n_trees: int, n_parts: int) -> np.ndarray:
        """The prediction from the sums over the trees (float64[n, k * n_parts], overwritten): float64[n, k].

        Each part is divided by itself, so that the mean of equal numbers is that number: its parts come out exactly,
        and their sum is it.
        """
        sums /= self.total(n_trees)
        return together(sums, n_parts)


class Single(Aggregation):
    """One tree: the value of its leaf."""

    name = "single"
    is_single = True


class Mean(Aggregation):
    """The mean of class proportions or numbers."""

    name = "mean"


@dataclass(frozen=True, eq=False)
class Vote(Aggregation):
    """Each tree votes for the class that it predicts, with its weight if it has one."""

    name = "vote"
    votes = True
    weights: np.ndarray | None = None

    def content(self, model: ModelData, value: np.ndarray) -> np.ndarray:
        """A 1 for the class that a leaf predicts."""
        # By counts, as in a single tree: the division could make different counts equal.
        return votes_for(model, value)


@dataclass(frozen=True, eq=False)
class Median(Aggregation):
    """The weighted median of the numbers that the trees predict."""

    name = "median"
    sorts = True
    weights: np.ndarray | None = None


@dataclass(frozen=True)
class Boosting(Aggregation):
    """The base of a boosted model's scores, and their link (docs/decisions/0006).

    Attributes
    ----------
    base : tuple of float
        The value of each score before any tree; tree ``t`` adds to score ``t % len(base)``.
    link : {"identity", "log", "sorted", "classes"}
        ``"identity"``: the prediction is the score; ``"log"``: its exponential; ``"sorted"``: the scores of a row in
        ascending order; ``"classes"``: class probabilities, by the logistic function for an output of two classes (its
        one score is the log odds of the second), by softmax for more.
    """

    name = "sum"
    has_scores = True
    base: tuple[float, ...]
    link: Link = "identity"

    @property
    def n_scores(self) -> int:
        """The number of scores of a row."""
        return len(self.base)

    def content(self, model: ModelData, value: np.ndarray) -> np.ndarray:
        """The numbers that leaves add to a score."""
        return on_grid(np.array(value, np.float64, order="C"), model.grid)


_SINGLE, _MEAN = Single(), Mean()


def on_grid(numbers: np.ndarray, grid: Grid | None) -> np.ndarray:
    """Numbers rounded to multiples of ``2**grid[0]``, half to even; unchanged without a grid, or with several."""
    return numbers if grid is None or len(grid) > 1 else _rounded(numbers, grid[0])


def _rounded(numbers: np.ndarray, exponent: int) -> np.ndarray:
    with np.errstate(over="ignore", under="ignore"):
        steps = np.ldexp(numbers, -exponent)
        # From 2**53 steps on, float64 has no numbers between the steps.
        return np.asarray(np.where(np.abs(steps) < _EXACT, np.ldexp(np.rint(steps), exponent), numbers))


def parts_of(numbers: np.ndarray, grid: Grid | None, n_classes: Sequence[int] = ()) -> np.ndarray:
    """Numbers as sums of multiples of the steps of each grid, from the coarsest on; unchanged with at most one.

    From float64[m, k] to float64[m, k * n_parts]. ``n_classes`` of the outputs whose probabilities they are: the first
    parts of each add up to 1.
    """
    if grid is None or len(grid) == 1:
        return numbers
    found = [_first_part(numbers, grid[0], n_classes)]
    rest = numbers - found[0]  # exact: what rounding leaves over has no more digits than the number
    for exponent in grid[1:-1]:
        found.append(_rounded(rest, exponent))
        rest = rest - found[-1]
    # On the last grid, too, if the grids are those of the numbers; whatever a file states, nothing is lost.
    return np.ascontiguousarray(np.hstack([*found, rest]))


def _first_part(numbers: np.ndarray, exponent: int, n_classes: Sequence[int]) -> np.ndarray:
    return proportions_on_grid(numbers, n_classes, (exponent,)) if n_classes else _rounded(numbers, exponent)


def together(parts: np.ndarray, n_parts: int) -> np.ndarray:
    """The sum of the parts of each number, from the coarsest on: float64[n, k]."""
    if n_parts == 1:
        return parts
    k = parts.shape[1] // n_parts
    found = parts[:, :k].copy()
    for begin in range(k, parts.shape[1], k):
        found += parts[:, begin : begin + k]
    return found


def grids_of(numbers: np.ndarray, bound: float, n_trees: int, n_classes: Sequence[int] = ()) -> Grid | None:
    """The grids whose parts are exactly the numbers, and whose sums of ``n_trees`` addends are exact in any order.

    One exponent if all numbers, float64[m, k], are on the first grid; None if that does not exist. ``bound`` as in
    ``grid_of``. A grid has 53 digits less those that counting the addends takes, so two reach 2**-90 of the largest of
    100 numbers: all of 1 and what is above 2**-37 with all of its digits. Each further one adds 45 digits.
    """
    if not 0.0 < bound < math.inf:
        return None
    first = max(_finest(bound), LAST_GRID)
    found, rest = [first], numbers - _first_part(numbers, first, n_classes)
    while rest.any():
        found.append(max(_finest(n_trees * float(np.abs(rest).max())), LAST_GRID))
        rest = rest[rest != 0]
        rest = rest - _rounded(rest, found[-1])
    return tuple(found)


def proportions_on_grid(proportions: np.ndarray, n_classes: Sequence[int], grid: Grid | None) -> np.ndarray:
    """Class probabilities on one grid; the first largest takes the rounding error, so that they add up to 1 exactly.

    Several grids hold them as they are.
    """
    moved = on_grid(proportions, grid)
    if grid is not None and len(grid) == 1:
        rows = np.arange(len(moved))
        for columns in output_columns(n_classes):
            own = moved[:, columns]
            own[rows, own.argmax(axis=1)] += 1.0 - own.sum(axis=1)
    return moved


def grid_of(bound: float) -> int | None:
    """The finest grid on which sums are exact in float64, in any order: an exponent of two.

    No sum of absolute values of any of the addends is larger than ``bound``; None if it is 0, not finite, or too small
    for a grid. All partial sums are multiples of ``2**grid`` below ``2**53`` steps, which float64 represents exactly.
    An addend changes by at most half a step, about ``bound * 2**-53``: a sum of n by ``n * 2**-53`` of its range, 1e-12
    for 9,000 trees.
    """
    if not 0.0 < bound < math.inf:
        return None
    grid = _finest(bound)
    return grid if grid >= LEAST_GRID else None


def _finest(bound: float) -> int:
    # One more bit, because rounding can enlarge the sum.
    return math.frexp(bound)[1] - 53 + (math.frexp(bound)[0] > 0.999)


def grid_to_json(grid: Grid) -> int | list[int]:
    """One exponent as a number, as files of format 6 have it, several as a list."""
    return list(grid) if len(grid) > 1 else grid[0]


def grid_from_json(stated: Any) -> Grid | None:
    """The grids that JSON states, not yet checked by ``check_model``."""
    if isinstance(stated, list):
        return tuple(stated) if len(stated) > 1 else ()  # one is written as a number
    return None if stated is None else (stated,)


def aggregation_of(
    combine: Combine, boosting: Boosting | None, weights: np.ndarray | None, grid: Grid | None = None
) -> Aggregation:
    """The aggregation that a model's fields state."""
    if combine == "single":
        return _SINGLE
    if combine == "mean":
        return _MEAN
    if boosting is not None:
        return boosting
    if combine == "median":
        return Median(weights)
    return Vote(None if weights is None else on_grid(weights, grid))


def output_columns(n_classes: Sequence[int]) -> list[slice]:
    """The columns of each output's classes in ``Tree.value``.

    >>> output_columns((2, 3))
    [slice(0, 2, None), slice(2, 5, None)]
    """
    return [slice(end - k, end) for end, k in zip(accumulate(n_classes), n_classes, strict=True)]


def class_proportions(model: ModelData, value: np.ndarray) -> np.ndarray:
    """Class proportions, float64[n, n_values], of weighted class counts; those of an output are not all 0."""
    proportions = np.empty(value.shape)
    for columns in output_columns(model.n_classes):
        counts = value[:, columns].astype(np.float64)
        proportions[:, columns] = counts / counts.sum(axis=1, keepdims=True)
    return proportions


def first_largest(model: ModelData, probabilities: np.ndarray) -> np.ndarray:
    """The most probable class of probabilities (float[n, n_values]), the first of equals: int32[n, n_outputs].

    0 if the model predicts numbers.
    """
    codes = np.zeros((len(probabilities), model.n_outputs), np.int32)
    for output, columns in enumerate(output_columns(model.n_classes)):
        codes[:, output] = probabilities[:, columns].argmax(axis=1)
    return codes


def whole_parts(proportions: list[float]) -> list[float]:
    """Numbers whose proportions of their sum are bit-identical to the given ones.

    A reader divides by the sum, even of proportions, whose sum may differ from 1 in the last place: whole parts have an
    exact sum. If weights are not whole numbers there may be none, and the proportions are returned.

    >>> whole_parts([0.2, 0.8]), whole_parts([0.7, 0.2, 0.1])
    ([0.2, 0.8], [7.0, 2.0, 1.0])
    """
    if math.fsum(proportions) == 1.0 == sum(proportions):
        return proportions
    multiple = math.lcm(*(Fraction(each).limit_denominator(10**6).denominator for each in proportions))
    parts = [float(round(each * multiple)) for each in proportions] if multiple < 2**53 else proportions
    is_exact = sum(parts) > 0 and all(part / sum(parts) == each for part, each in zip(parts, proportions, strict=True))
    return parts if is_exact else proportions


def predicted_codes(model: ModelData, probabilities: np.ndarray) -> np.ndarray:
    """The class predicted from probabilities (float[n, n_values]), output by output: int32[n, n_outputs]."""
    if model.threshold is None:
        return first_largest(model, probabilities)
    return model.threshold.codes(probabilities)[:, None]


def votes_for(model: ModelData, probabilities: np.ndarray) -> np.ndarray:
    """float64[n, n_values]: 1 for the class that ``first_largest`` chooses, 0 for the others, output by output."""
    codes, votes = first_largest(model, probabilities), np.zeros(probabilities.shape)
    for output, columns in enumerate(output_columns(model.n_classes)):
        votes[np.arange(len(votes)), columns.start + codes[:, output]] = 1.0
    return votes


def weighted_median(predicted: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The weighted median of each row: the first number, in ascending order, whose cumulative weight reaches half.

    Drucker 1997, "Improving regressors using boosting techniques", as scikit-learn's ``AdaBoostRegressor``.
    ``predicted`` is float64[n, k]; weights that are all 0 count as equal.
    """
    if not weights.any():
        weights = np.ones(len(weights))
    order = np.argsort(predicted, axis=1, kind="stable")
    reached = np.cumsum(weights[order], axis=1)
    first = (reached >= 0.5 * reached[:, -1:]).argmax(axis=1)
    rows = np.arange(len(predicted))
    median: np.ndarray = predicted[rows, order[rows, first]]
    return median


def predictions_of_scores(model: ModelData, scores: np.ndarray) -> np.ndarray:
    """Predictions from scores, float64[n, n_scores]: row by row, so a batch gives the same; nothing overflows.

    Class probabilities, output by output, or a number per output, limited to the largest of float64. It may be
    ``scores`` itself, which is not changed.
    """
    link = "identity" if model.boosting is None else model.boosting.link
    if link == "log":
        from treewright.core.elementary import exp_of

        return np.minimum(exp_of(scores), np.finfo(np.float64).max)
    if link == "sorted":
        return np.sort(scores, axis=1)
    return _probabilities(model, scores) if link == "classes" else scores


def _probabilities(model: ModelData, scores: np.ndarray) -> np.ndarray:
    """Class probabilities, output by output."""
    if len(model.classes) == 1:
        return _probabilities_of_output(scores, len(model.classes[0]))
    probabilities = np.empty((len(scores), sum(model.n_classes)))
    at = 0
    for columns, count in zip(output_columns(model.n_classes), model.n_classes, strict=True):
        n_scores = count if count > 2 else 1
        # A copy: rows are added up in the same order in any array.
        probabilities[:, columns] = _probabilities_of_output(np.ascontiguousarray(scores[:, at : at + n_scores]), count)
        at += n_scores
    return probabilities


def _probabilities_of_output(scores: np.ndarray, n_classes: int) -> np.ndarray:
    """Class probabilities of one output: float64[n, n_classes]."""
    if n_classes == 1:
        return np.ones((len(scores), 1))
    from treewright.core.elementary import exp_of

    if n_classes > 2:
        probabilities = exp_of(scores - scores.max(axis=1, keepdims=True))
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities
    probabilities = np.empty((len(scores), 2))
    probabilities[:, :1] = scores
    np.negative(scores, out=probabilities[:, 1:])
    # Each class by itself: 1 minus a probability near 1 would lose its digits.
    np.minimum(probabilities, LARGEST_EXPONENT, out=probabilities)
    probabilities = exp_of(probabilities)
    probabilities += 1.0
    return np.divide(1.0, probabilities, out=probabilities)


def sizes_of(model: ModelData) -> Sizes:
    """The sizes of the trees and the columns that they test."""
    return model.trees.sizes(len(model.schema))


# Of boosted trees: steps of the grid are at most 2**-32 of a typical sum. If the largest sum is 2**21 times a typical
# one, there is none.
_MOST_APART = 2.0**21


def with_grid(model: AnyModel) -> AnyModel:
    """The same model with the values of its trees on grids, so that their sums are exact in any order.

    A mean has as many grids as hold every value exactly. A sum of boosted trees and weights of votes have one, to which
    they are rounded: a sum of different addends is rounded anyway. One tree and medians do not change, nor numbers
    whose sum is beyond float64, nor boosted trees with numbers so much larger than typical ones that their grid would
    be coarse for these.
    """
    how, n_trees = model.aggregation, len(model.trees)
    if how.is_single or how.sorts:
        return model
    if how.votes:
        return replace(model, grid=_one_grid(float(how.weights_of(n_trees).sum())))
    if how.has_scores:
        bound, typical = sums_of_sizes(model)
        return replace(model, grid=_one_grid(bound) if bound <= _MOST_APART * typical else None)
    if n_trees == 1:  # nothing is added up
        return replace(model, grid=None)
    bound = float(n_trees) if model.task == "classification" else sums_of_sizes(model)[0]
    trees, loose = model.trees, replace(model, grid=None)
    leaf_values = trees.leaf_value if isinstance(trees, PackedTrees) else _values_in_trees(trees)[0]
    return replace(model, grid=grids_of(how.content(loose, leaf_values), bound, n_trees, model.counted_classes))


def _one_grid(bound: float) -> Grid | None:
    exponent = grid_of(bound)
    return None if exponent is None else (exponent,)


def sums_of_sizes(model: ModelData) -> tuple[float, float]:
    """An upper bound of all sums over the trees, and one of the sums of typical leaves.

    For several outputs or scores the largest, and the smallest that is not 0. A typical leaf is the median of a tree by
    absolute value, among those that are not 0.
    """
    base = np.zeros(1) if model.boosting is None else np.abs(np.array(model.boosting.base))
    largest, typical = np.zeros((2, len(model.trees), 1 if model.boosting is not None else model.n_outputs))
    leaf_values, counts = _values_in_trees(model.trees)
    ends, tree = np.cumsum(counts), np.repeat(np.arange(len(counts)), counts)
    begins = ends - counts
    for output, sizes in enumerate(np.abs(leaf_values).T):
        ascending = sizes[np.lexsort((sizes, tree))]
        n_zeros = np.add.reduceat((ascending == 0).astype(np.int64), begins)
        largest[:, output] = ascending[ends - 1]
        typical[:, output] = ascending[begins + np.minimum((n_zeros + counts) // 2, counts - 1)]
    with np.errstate(over="ignore"):
        if model.boosting is not None:
            bounds, usual = (each.reshape(-1, len(base)).sum(axis=0) + base for each in (largest, typical))
        else:
            bounds, usual = largest.sum(axis=0), typical.sum(axis=0)
    return float(bounds.max()), float(min(usual[usual > 0], default=0.0))


def _values_in_trees(trees: Trees) -> tuple[np.ndarray, np.ndarray]:
    """The values of the leaves, tree by tree, float[n_leaves, k]; and how many each tree has."""
    if not isinstance(trees, PackedTrees):
        leaf_values = [tree.value[tree.is_leaf] for tree in trees]
        return np.concatenate(leaf_values), np.array([len(each) for each in leaf_values])
    is_leaf = trees.is_leaf
    counts = np.add.reduceat(is_leaf.astype(np.int64), trees.roots[:-1])
    return trees.leaf_value[child_of(trees.records)[is_leaf]], counts


def labels_of(classes: tuple[np.ndarray, ...], codes: np.ndarray) -> np.ndarray:
    """The labels of class codes int[n, n_outputs], as ``predict`` returns them."""
    if len(classes) == 1:
        return classes[0].take(codes[:, 0])
    return np.stack([labels.take(codes[:, output]) for output, labels in enumerate(classes)], axis=1)


def classes_as_estimators_have_them(classes: tuple[np.ndarray, ...]) -> np.ndarray | list[np.ndarray]:
    """The labels as ``classes_``: an array, or a list for several outputs; an ``AttributeError`` for regression."""
    if not classes:
        raise AttributeError("a regression model has no classes")
    return classes[0] if len(classes) == 1 else list(classes)


def quantile_levels(model: Any) -> tuple[float, ...]:
    """The levels of the quantiles that a boosted model predicts for one target; empty for any other model."""
    loss = model.facts.get("loss")
    if not model.has_scores or not isinstance(loss, dict) or loss.get("name") != "quantile":
        return ()
    given = loss.get("quantile")
    levels = given if isinstance(given, list) else [given]
    if len(levels) != model.n_outputs or not all(isinstance(level, float) for level in levels):
        return ()
    return tuple(levels)


def rows_with_target(
    model: ModelData, X: Any, y: Any, sample_weight: Any, *, owner: str, routed: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Rows, target and weights as numbers, as ``Model.encode_rows``; rows of weight 0 are left out."""
    warn_of_another_order(X, y=y, sample_weight=sample_weight)
    unseen = "missing" if model.unseen == "majority" and not routed else model.unseen
    matrix = encode(model.schema, X, unseen=unseen, owner=owner, missing=model.missing)
    target = encoded_target(model, y, len(matrix))
    weights = check_weights(sample_weight, len(matrix))
    if model.task == "classification":
        weights = weighed(weights, class_factors(model.facts, target, model.classes), target)
    if weights is not None and not weights.all():
        kept = weights > 0
        matrix, target, weights = matrix[kept], target[kept], weights[kept]
    return matrix, target, weights


def encoded_target(model: Any, y: Any, n: int) -> np.ndarray:
    """Class codes of a model int32[n, n_outputs], or numbers float64[n, n_outputs]."""
    if model.task == "classification":
        labels = encode_labels(y)
        check_lengths(n, labels)
        return recode(labels, model.classes)
    numbers = encode_numbers(y)
    check_lengths(n, numbers)
    if numbers.values.shape[1] != model.n_targets:
        raise DataError(f"y has {numbers.values.shape[1]} outputs, and the model has {model.n_targets}")
    return numbers.values


_STAMP = "_treewright_version"


def stamped(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return a state with the version, for ``__getstate__``."""
    return {**state, _STAMP: __version__}


def unstamped(state: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """The state that ``stamped`` was given; ModelFileError if another version pickled it, or one that kept none."""
    plain = dict(state)
    theirs = plain.pop(_STAMP, None)
    if theirs != __version__:
        by = "an older version" if theirs is None else f"version {theirs}"
        raise ModelFileError(
            f"this {kind} was pickled by {by} of Treewright, and this is version {__version__}: a pickle can only be "
            "read by the version that wrote it. Read it there and save a model file, estimator.save(path), which "
            "treewright.load reads in every later version; or fit again"
        )
    return plain
