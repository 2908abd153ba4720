"""How the trees of a model are combined into a prediction.

A model holds its trees (``model.trees.Trees``) and states how they are combined. ``ModelData.aggregation`` is one of
these values:

===========  ========  ===========================================================================================
value        in files  prediction of the trees together
===========  ========  ===========================================================================================
`Single`     single    that of the one tree
`Mean`       mean      the mean of the class proportions, or numbers, of their leaves
`Vote`       vote      the share of the trees, or of their weight, that predicts a class
`Median`     median    the weighted median of the numbers that they predict
`Boosting`   sum       they add to scores that begin at a base; a link turns the scores into a prediction
===========  ========  ===========================================================================================

``predict.ensemble`` sends rows down the trees (``predict.walks``), looks up the ``addends`` of each leaf, adds these up
in the order of the trees and makes the ``mean`` of them; numbers that are sorted go through ``weighted_median``, scores
through ``answers_of``. ``explain``, ``export``, drawings and report use the properties of a value (``is_single``,
``votes``, ``sorts``, ``has_scores``, ``weights``) and never compare its name. Only ``model.check`` and ``model.codec``
know its name in files.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

if TYPE_CHECKING:
    from treewright.model.data import ModelData

Combine = Literal["single", "mean", "sum", "vote", "median"]
Link = Literal["identity", "log", "sorted", "classes"]
LINKS: tuple[Link, ...] = ("identity", "log", "sorted", "classes")
Grid = tuple[int, ...]  # exponents of two, from the coarsest grid to the finest
LEAST_GRID = -1000  # the steps of a finer grid would not be normal numbers
LAST_GRID = -1074  # of which every float64 is a multiple
_EXACT = 2.0**53  # float64 represents all whole numbers below it
LARGEST_EXPONENT = 700.0  # exp of it, and of slightly more, is finite


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
            return shares_on_grid(class_shares(model, value), model.n_classes, model.grid)
        return on_grid(np.array(value, np.float64, order="C"), model.grid)

    def addends(self, model: ModelData, value: np.ndarray) -> np.ndarray:
        """The content of leaves as it is added up: the parts on each of the model's grids, side by side.

        Returns
        -------
        float64[m, k * n_parts]
            All numbers of the first part, then all of the second, ...
        """
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

    Parameters
    ----------
    numbers : float64[m, k]
    n_classes : sequence of int
        Of the outputs whose probabilities they are: the first parts of each add up to 1.

    Returns
    -------
    float64[m, k * n_parts]

    Examples
    --------
    >>> parts_of(np.array([[2.0, 0.25]]), (0, -2))
    array([[2.  , 0.  , 0.  , 0.25]])
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
    return shares_on_grid(numbers, n_classes, (exponent,)) if n_classes else _rounded(numbers, exponent)


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
    """The grids whose parts are exactly the numbers, and whose sums are exact in any order.

    Parameters
    ----------
    numbers : float64[m, k], finite
    bound : float >= 0
        As in ``grid_of``.
    n_trees : int
        The number of addends.
    n_classes : sequence of int
        As in ``parts_of``.

    Returns
    -------
    tuple of int, or None
        One exponent if all numbers are on the first grid; None if that does not exist.

    Notes
    -----
    A grid has 53 digits less those that counting the addends takes, so two reach 2**-90 of the largest of 100 numbers:
    all of 1 and what is above 2**-37 with all of its digits. Each further one adds 45 digits.

    Examples
    --------
    >>> grids_of(np.array([[0.5], [1.0]]), 100.0, 100), grids_of(np.array([[0.2], [1.0]]), 100.0, 100)
    ((-46,), (-46, -94))
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


def shares_on_grid(shares: np.ndarray, n_classes: Sequence[int], grid: Grid | None) -> np.ndarray:
    """Class probabilities on one grid; the first largest takes the rounding error, so that they add up to 1 exactly.

    Several grids hold them as they are.
    """
    moved = on_grid(shares, grid)
    if grid is not None and len(grid) == 1:
        rows = np.arange(len(moved))
        for columns in output_columns(n_classes):
            own = moved[:, columns]
            own[rows, own.argmax(axis=1)] += 1.0 - own.sum(axis=1)
    return moved


def grid_of(bound: float) -> int | None:
    """The finest grid on which sums are exact in float64, in any order.

    Parameters
    ----------
    bound : float >= 0
        No sum of absolute values of any of the addends is larger.

    Returns
    -------
    int or None
        The exponent of two; None if the bound is 0, not finite, or too small for a grid.

    Notes
    -----
    All partial sums are multiples of ``2**grid`` below ``2**53`` steps, which float64 represents exactly. An addend
    changes by at most half a step, about ``bound * 2**-53``: a sum of n by ``n * 2**-53`` of its range, 1e-12 for 9,000
    trees.

    Examples
    --------
    >>> grid_of(100.0), grid_of(0.0)
    (-46, None)
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

    Examples
    --------
    >>> output_columns((2, 3))
    [slice(0, 2, None), slice(2, 5, None)]
    """
    return [slice(end - k, end) for end, k in zip(accumulate(n_classes), n_classes, strict=True)]


def class_shares(model: ModelData, value: np.ndarray) -> np.ndarray:
    """Class proportions, output by output.

    Parameters
    ----------
    value : float32 or float64 [n, n_values]
        Weighted class counts; those of an output are not all 0.

    Returns
    -------
    float64[n, n_values]
    """
    shares = np.empty(value.shape)
    for columns in output_columns(model.n_classes):
        counts = value[:, columns].astype(np.float64)
        shares[:, columns] = counts / counts.sum(axis=1, keepdims=True)
    return shares


def first_largest(model: ModelData, shares: np.ndarray) -> np.ndarray:
    """The most probable class of shares (float[n, n_values]), the first of equals, output by output.

    Returns
    -------
    int32[n, n_outputs]
        0 if the model predicts numbers.
    """
    codes = np.zeros((len(shares), model.n_outputs), np.int32)
    for output, columns in enumerate(output_columns(model.n_classes)):
        codes[:, output] = shares[:, columns].argmax(axis=1)
    return codes


def whole_parts(shares: list[float]) -> list[float]:
    """Numbers whose proportions of their sum are bit-identical to the given ones.

    A reader divides by the sum, even of proportions, whose sum may differ from 1 in the last place: whole parts have an
    exact sum. If weights are not whole numbers there may be none, and the proportions are returned.

    Examples
    --------
    >>> whole_parts([0.2, 0.8]), whole_parts([0.7, 0.2, 0.1])
    ([0.2, 0.8], [7.0, 2.0, 1.0])
    """
    if math.fsum(shares) == 1.0 == sum(shares):
        return shares
    whole = math.lcm(*(Fraction(share).limit_denominator(10**6).denominator for share in shares))
    parts = [float(round(share * whole)) for share in shares] if whole < 2**53 else shares
    is_exact = sum(parts) > 0 and all(part / sum(parts) == share for part, share in zip(parts, shares, strict=True))
    return parts if is_exact else shares


def predicted_codes(model: ModelData, shares: np.ndarray) -> np.ndarray:
    """The class that a model predicts from shares (float[n, n_values]), output by output: int32[n, n_outputs]."""
    return first_largest(model, shares) if model.threshold is None else model.threshold.codes(shares)[:, None]


def votes_for(model: ModelData, shares: np.ndarray) -> np.ndarray:
    """float64[n, n_values]: 1 for the class that ``first_largest`` chooses, 0 for the others, output by output."""
    codes, votes = first_largest(model, shares), np.zeros(shares.shape)
    for output, columns in enumerate(output_columns(model.n_classes)):
        votes[np.arange(len(votes)), columns.start + codes[:, output]] = 1.0
    return votes


def weighted_median(predicted: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The weighted median of each row: the first number, in ascending order, whose cumulative weight reaches half.

    Parameters
    ----------
    predicted : float64[n, k]
    weights : float64[k], >= 0
        All 0: equal weights.

    Returns
    -------
    float64[n]

    Notes
    -----
    Drucker 1997, "Improving regressors using boosting techniques", as scikit-learn's ``AdaBoostRegressor``.

    Examples
    --------
    >>> weighted_median(np.array([[3.0, 1.0, 2.0]]), np.array([5.0, 1.0, 1.0]))
    array([3.])
    """
    if not weights.any():
        weights = np.ones(len(weights))
    order = np.argsort(predicted, axis=1, kind="stable")
    reached = np.cumsum(weights[order], axis=1)
    first = (reached >= 0.5 * reached[:, -1:]).argmax(axis=1)
    rows = np.arange(len(predicted))
    median: np.ndarray = predicted[rows, order[rows, first]]
    return median


def answers_of(model: ModelData, scores: np.ndarray) -> np.ndarray:
    """Predictions from the scores of a boosted model: row by row, so a batch gives the same; nothing overflows.

    Parameters
    ----------
    model : ModelData
        Its ``boosting`` has the link.
    scores : float64[n, n_scores], finite
        May be the result, else is not changed.

    Returns
    -------
    float64[n, n_values]
        Class probabilities, output by output; or a number per output, limited to the largest of float64.

    Examples
    --------
    >>> from treewright.data.schema import Column, Schema
    >>> from treewright.model.data import ModelData
    >>> schema, labels = Schema((Column("x", "numeric"),)), (np.array(["no", "yes"]),)
    >>> model = ModelData("classification", schema, (), labels, combine="sum", boosting=Boosting((0.0,), "classes"))
    >>> answers_of(model, np.array([[0.0], [-1000.0]])).round(3)
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    link = "identity" if model.boosting is None else model.boosting.link
    if link == "log":
        from treewright.core.elementary import exp_of

        return np.minimum(exp_of(scores), np.finfo(np.float64).max)
    if link == "sorted":
        return np.sort(scores, axis=1)
    return _shares(model, scores) if link == "classes" else scores


def _shares(model: ModelData, scores: np.ndarray) -> np.ndarray:
    """Class probabilities, output by output."""
    if len(model.classes) == 1:
        return _shares_of_output(scores, len(model.classes[0]))
    shares = np.empty((len(scores), sum(model.n_classes)))
    at = 0
    for columns, count in zip(output_columns(model.n_classes), model.n_classes, strict=True):
        n_scores = count if count > 2 else 1
        # A copy: rows are added up in the same order in any array.
        shares[:, columns] = _shares_of_output(np.ascontiguousarray(scores[:, at : at + n_scores]), count)
        at += n_scores
    return shares


def _shares_of_output(scores: np.ndarray, n_classes: int) -> np.ndarray:
    """Class probabilities of one output: float64[n, n_classes]."""
    if n_classes == 1:
        return np.ones((len(scores), 1))
    from treewright.core.elementary import exp_of

    if n_classes > 2:
        shares = exp_of(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        return shares
    shares = np.empty((len(scores), 2))
    shares[:, :1] = scores
    np.negative(scores, out=shares[:, 1:])
    # Each class by itself: 1 minus a probability near 1 would lose its digits.
    np.minimum(shares, LARGEST_EXPONENT, out=shares)
    shares = exp_of(shares)
    shares += 1.0
    return np.divide(1.0, shares, out=shares)
