"""Losses: what boosting lowers. In: targets, scores. Out: gradients, hessians, losses.

A loss of one output says where scores begin (``base``), how a small change of each row's scores changes it
(``gradients``), and how large it is (``values``). Numbers come first, then classes; ``losses_given`` makes a loss of
parameters and wraps a user's own.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.lib.stride_tricks import as_strided

from treewright.boosting import gradient_kernels as kernels
from treewright.boosting.best_constants import (
    exact_sum,
    expectile_of,
    huber_centre,
    renew_quantiles,
    weighted_mean,
    weighted_quantile,
)
from treewright.core.elementary import exp_of, log_of
from treewright.exceptions import TARGET, DataError, ParameterError, first_row
from treewright.model.aggregation import Link

# Targets whose residuals, and squares of them, are numbers of float32 and float64.
LARGEST_TARGET, LEAST_SPREAD = 1e30, 1e-30
_LEAST_LOG_BASE = -69.07755278982137  # log of LEAST_SPREAD
_LEAST_SHARE = Fraction(1, 10**15)  # of a class without rows: its logarithm is finite


class Loss(ABC):
    """What boosting lowers, of one output.

    Attributes
    ----------
    name : str
    link : Link
    n_scores : int >= 1
        Scores of a row.
    unit_hessian : bool
        Whether the hessian is 1 for every row; then ``gradients`` does not write it.
    renews : bool
        Whether leaf values are not minus gradient over hessian, but come from ``renewed``.
    max_step : float > 0
        The most that a leaf may add to a score in one round, before the learning rate.
    rowwise : bool
        Whether a row's gradient does not depend on other rows, so that ``gradients`` may be asked for any rows, by
        several threads at once. If not, it is asked for all rows in one call.
    has_values : bool
        Whether the loss itself is known, not its gradients alone.
    """

    name: ClassVar[str]
    link: Link = "identity"
    n_scores: int = 1
    unit_hessian: bool = False
    renews: bool = False
    rowwise: bool = True
    has_values: bool = True
    max_step: float = math.inf

    @abstractmethod
    def check(self, target: np.ndarray, what: str = "y", rows: np.ndarray | None = None) -> None:
        """Refuse targets outside the loss's domain: DataError with the count, the first row, its value, the remedy.

        ``rows`` int64[m] says which rows of the user's table these are; None: all, in their order.
        """

    def bound(self, target: np.ndarray, weights: np.ndarray | None) -> Loss:  # noqa: ARG002 - others read the rows
        """The loss with all that it takes from the rows of the fit; itself where it takes nothing.

        Called once, after ``check`` and before everything else.
        """
        return self

    @abstractmethod
    def base(self, target: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """float64[n_scores]: the best constant scores, of rows that weigh ``weights`` (float64[m], > 0)."""

    @abstractmethod
    def gradients(self, target: np.ndarray, scores: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:
        """Write gradient and hessian of some rows, unweighted.

        Parameters
        ----------
        target : float64[m] or int32[m]
        scores : float64[n_scores, m], rows contiguous or slices of longer rows
        g, h : float32[n_scores, m], OUT
            Finite, ``h`` above 0 (a user's own may be 0). ``h`` is not written where ``unit_hessian``.
        """

    @abstractmethod
    def values(self, target: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """float64[m]: the loss of each row; inf where it is beyond float64."""

    def least(self, target: np.ndarray) -> np.ndarray:
        """float64[m]: the least that ``values`` can be for each row."""
        return np.zeros(len(target))

    def renewed(
        self, score: int, target: np.ndarray, scores: np.ndarray, weights: np.ndarray | None, rows: np.ndarray,
        starts: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        """float64[n_leaves]: what each leaf should add to score number ``score``, where the loss ``renews``.

        ``rows`` int32[m] are the rows leaf by leaf, ascending within a leaf; ``starts`` int64[n_leaves + 1] where each
        leaf begins. ``scores`` float64[n_scores, n] and ``target`` [n], ``weights`` [n] are of all rows. A leaf without
        rows adds 0.
        """
        raise NotImplementedError


# Losses of numbers ---------------------------------------------------------------------------------------------------


class NumberLoss(Loss):
    """A loss of numbers; by default any number has one.

    Attributes
    ----------
    domain : str
        What targets must be, for messages; empty where any number will do.
    """

    domain: ClassVar[str] = ""

    def is_outside(self, target: np.ndarray) -> np.ndarray:
        """bool[m]: targets without a loss."""
        return np.zeros(len(target), bool)

    def check(self, target: np.ndarray, what: str = "y", rows: np.ndarray | None = None) -> None:
        """Refuse targets outside the domain; see ``Loss.check``."""
        remedy = (f"loss={self.name!r} needs ", TARGET, f" {self.domain}: use another loss")
        _refuse(self.is_outside(target), target, what, rows, *remedy)
        # Not "beyond": nan is refused as well.
        outside = ~(np.abs(target) <= LARGEST_TARGET)
        span = f"boosting needs numbers from -{LARGEST_TARGET:g} to {LARGEST_TARGET:g}: give "
        _refuse(outside, target, what, rows, span, TARGET if what == "y" else what, " in another unit")

    def bound(self, target: np.ndarray, weights: np.ndarray | None) -> Loss:  # noqa: ARG002 - Huber's loss reads them
        """See ``Loss.bound``; refuses targets that differ by less than gradients can show."""
        spread = float(target.max()) - float(target.min())
        if 0.0 < spread < LEAST_SPREAD:
            raise DataError(
                f"y has values that differ by {spread:g} at most: boosting needs differences of {LEAST_SPREAD:g} or "
                f"more, or none: give y in another unit"
            )
        return self


def _refuse(outside: np.ndarray, target: np.ndarray, what: str, rows: np.ndarray | None, *remedy: object) -> None:
    """DataError where a row is marked."""
    if outside.any():
        first = int(np.argmax(outside))
        n_rows = int(np.count_nonzero(outside))
        row = first if rows is None else int(rows[first])
        raise DataError(
            TARGET if what == "y" else what,
            f" has {n_rows} value(s) that cannot be used (",
            first_row(row),
            f": {target[first].item()!r}). ",
            *remedy,
            ", or drop these rows",
            row=row,
        )


@dataclass(frozen=True)
class SquaredError(NumberLoss):
    """Half the squared error: answers are means.

    Examples
    --------
    >>> SquaredError().base(np.array([1.0, 4.0]), np.array([2.0, 1.0])).tolist()
    [2.0]
    """

    name: ClassVar[str] = "squared_error"
    unit_hessian = True

    def base(self, target: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """The weighted mean."""
        return self.of_mean(weighted_mean(target, weights))

    def of_mean(self, mean: float) -> np.ndarray:
        """``base`` of rows of this weighted mean."""
        return np.array([mean])

    def gradients(self, target: np.ndarray, scores: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:  # noqa: ARG002
        """Score minus target."""
        kernels.clipped_residuals(target, scores[0], kernels.LARGEST, g[0])

    def values(self, target: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Half the square of the residual."""
        with np.errstate(over="ignore"):
            return 0.5 * np.square(scores[0] - target)


@dataclass(frozen=True)
class AbsoluteError(NumberLoss):
    """The absolute error: answers are medians, and so are leaf values.

    Examples
    --------
    >>> AbsoluteError().base(np.array([1.0, 2.0, 50.0]), None).tolist()
    [2.0]
    """

    name: ClassVar[str] = "absolute_error"
    unit_hessian = True
    renews = True

    def base(self, target: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """The weighted median."""
        return np.array([weighted_quantile(target, weights, 0.5)])

    def gradients(self, target: np.ndarray, scores: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:  # noqa: ARG002
        """The sign of score minus target."""
        kernels.sides(target, scores[0], -1.0, 1.0, g[0])

    def values(self, target: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """The distance."""
        return np.abs(scores[0] - target)

    def renewed(
        self, score: int, target: np.ndarray, scores: np.ndarray, weights: np.ndarray | None, rows: np.ndarray,
        starts: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        """The weighted median of target minus score in each leaf."""
        return renew_quantiles(0.5, target, scores[score], weights, rows, starts)


@dataclass(frozen=True)
class Huber(NumberLoss):
    """Half the squared error up to a distance, linear beyond it: far rows pull no harder than others.

    Parameters
    ----------
    delta : float > 0, or None
        The distance; None takes the 0.9-quantile of distances from the median, when the loss is bound to rows.

    Examples
    --------
    >>> Huber().bound(np.array([0.0, 1.0, 2.0, 3.0, 100.0]), None)
    Huber(delta=98.0)
    """

    name: ClassVar[str] = "huber"
    unit_hessian = True
    delta: float | None = None

    def bound(self, target: np.ndarray, weights: np.ndarray | None) -> Huber:
        """The loss with a distance."""
        super().bound(target, weights)
        if self.delta is not None:
            return self
        distances = np.abs(target - weighted_quantile(target, weights, 0.5))
        delta = weighted_quantile(distances, weights, 0.9)
        # At least nine rows in ten lie at the median: any distance serves, best one that fits the others.
        return replace(self, delta=delta or weighted_mean(distances, weights) or 1.0)

    @property
    def distance(self) -> float:
        """``delta``, once there is one."""
        if self.delta is None:
            raise ParameterError("huber_delta=None is found from the rows of the fit: call bound first")
        return self.delta

    def base(self, target: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """The constant with the least loss."""
        return np.array([huber_centre(target, weights, self.distance)])

    def gradients(self, target: np.ndarray, scores: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:  # noqa: ARG002
        """Score minus target, held within ``delta``. The hessian is 1 beyond it too, so no leaf's step is too long."""
        kernels.clipped_residuals(target, scores[0], min(self.distance, kernels.LARGEST), g[0])

    def values(self, target: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Half a square near the target, a line beyond."""
        with np.errstate(over="ignore"):
            distance = np.abs(scores[0] - target)
            near = np.minimum(distance, self.distance)
            return near * (distance - 0.5 * near)


@dataclass(frozen=True)
class Quantile(NumberLoss):
    """The pinball loss of one level or several: a score each, and answers ascend with the level.

    Leaf values are quantiles of what is left in the leaf.

    Parameters
    ----------
    levels : tuple of float, between 0 and 1, ascending

    Examples
    --------
    >>> loss = Quantile((0.25, 0.75))
    >>> loss.n_scores, loss.link, loss.base(np.arange(8.0), None).tolist()
    (2, 'sorted', [1.5, 5.5])
    """

    name: ClassVar[str] = "quantile"
    unit_hessian = True
    renews = True
    levels: tuple[float, ...] = (0.5,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_scores", len(self.levels))
        link: Link = "sorted" if len(self.levels) > 1 else "identity"
        object.__setattr__(self, "link", link)

    def base(self, target: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """The weighted quantiles."""
        return np.array([weighted_quantile(target, weights, level) for level in self.levels])

    def gradients(self, target: np.ndarray, scores: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:  # noqa: ARG002
        """The pinball loss's slope; 0 where the score is the target."""
        for k, level in enumerate(self.levels):
            kernels.sides(target, scores[k], -level, 1.0 - level, g[k])

    def values(self, target: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """The pinball losses of all levels, added up."""
        total = np.zeros(len(target))
        for level, own in zip(self.levels, scores, strict=True):
            rest = target - own
            total += np.maximum(level * rest, (level - 1.0) * rest)
        return total

    def renewed(
        self, score: int, target: np.ndarray, scores: np.ndarray, weights: np.ndarray | None, rows: np.ndarray,
        starts: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        """The weighted quantile of target minus score in each leaf."""
        return renew_quantiles(self.levels[score], target, scores[score], weights, rows, starts)


@dataclass(frozen=True)
class Expectile(NumberLoss):
    """Squared errors that count ``level`` above the answer and ``1 - level`` below: half the square at 0.5.

    Parameters
    ----------
    level : float, between 0 and 1

    Examples
    --------
    >>> Expectile(0.75).base(np.array([0.0, 1.0]), None).tolist()
    [0.75]
    """

    name: ClassVar[str] = "expectile"
    level: float = 0.5

    def base(self, target: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """The weighted expectile."""
        return np.array([expectile_of(target, weights, self.level)])

    def gradients(self, target: np.ndarray, scores: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:
        """The square's slope and curvature on the score's side of the target."""
        kernels.lopsided_residuals(target, scores[0], 2.0 * self.level, 2.0 * (1.0 - self.level), g[0], h[0])

    def values(self, target: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """The square of the residual times the factor of its side."""
        rest = target - scores[0]
        with np.errstate(over="ignore"):
            return np.where(rest > 0.0, self.level, 1.0 - self.level) * np.square(rest)


# Losses of means above 0, by the logarithm ---------------------------------------------------------------------------


@dataclass(frozen=True)
class MeanDeviance(NumberLoss):
    """Minus the log likelihood of a mean above 0 whose variance is that mean to a power, without constants.

    The score is the logarithm of the mean. With ``a = exp((2 - power) s)`` and ``b = y exp((1 - power) s)``, the
    gradient is ``a - b``, and the best step of a leaf is the logarithm of B over A, their sums. The hessian used is
    ``(a + b) / 2``: a leaf's step is then ``2 (B - A) / (B + A)``, the first terms of that logarithm's continued
    fraction. It has the logarithm's value, slope and curvature at B = A, is never longer than it, and never longer than
    2: a leaf of small means and large targets does no harm. With the second derivative, the step of a Poisson leaf
    whose targets are 100 times its means would be 99, where 4.6 is best.

    Attributes
    ----------
    power : float, 1 to 2
    """

    link = "log"
    power: float = 1.0

    def bound(self, target: np.ndarray, weights: np.ndarray | None) -> Loss:
        """See ``Loss.bound``; refuses targets that are so near to 0 that gradients would be too."""
        if 0.0 < float(target.max()) < LEAST_SPREAD:
            raise DataError(
                f"y has values up to {float(target.max()):g} only: loss={self.name!r} needs {LEAST_SPREAD:g} or more "
                f"somewhere: give y in another unit"
            )
        return super().bound(target, weights)

    def base(self, target: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """The logarithm of the weighted mean; of 1e-30 where that is 0 or nearly so."""
        return self.of_mean(weighted_mean(target, weights))

    def of_mean(self, mean: float) -> np.ndarray:
        """``base`` of rows of this weighted mean."""
        return np.array([log_of(mean) if mean > LEAST_SPREAD else _LEAST_LOG_BASE])

    def gradients(self, target: np.ndarray, scores: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:
        """See the class."""
        kernels.log_link_gradients(target, scores[0], self.power, g[0], h[0])

    def values(self, target: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """The deviance's part that depends on the score."""
        score = scores[0]
        with np.errstate(over="ignore"):
            if self.power == 1.0:
                return _exp(score) - target * score
            if self.power == 2.0:
                return score + target * _exp(-score)
            falls, rises = 1.0 - self.power, 2.0 - self.power
            return _exp(rises * score) / rises - target * _exp(falls * score) / falls

    def least(self, target: np.ndarray) -> np.ndarray:
        """Where the mean is the target: ``values`` leave out what no score changes."""
        return self.values(target, log_of(np.maximum(target, np.finfo(np.float64).tiny))[None])


def _exp(score: np.ndarray) -> np.ndarray:
    """The exponential, finite for any score."""
    return exp_of(np.clip(score, -kernels.FARTHEST, kernels.FARTHEST))


@dataclass(frozen=True)
class Poisson(MeanDeviance):
    """Counts and rates: the variance is the mean.

    Examples
    --------
    >>> Poisson().check(np.array([2.0, -1.0]))
    Traceback (most recent call last):
    ...
    treewright.exceptions.DataError: y has 1 value(s) that cannot be used (first row 1: -1.0). loss='poisson' needs
    y >= 0: use another loss, or drop these rows
    """

    name: ClassVar[str] = "poisson"
    domain: ClassVar[str] = ">= 0"

    def is_outside(self, target: np.ndarray) -> np.ndarray:
        """Below 0."""
        return target < 0.0


@dataclass(frozen=True)
class Gamma(MeanDeviance):
    """Amounts above 0: the standard deviation is in proportion to the mean."""

    name: ClassVar[str] = "gamma"
    domain: ClassVar[str] = "> 0"
    power: float = 2.0

    def is_outside(self, target: np.ndarray) -> np.ndarray:
        """0 and below."""
        return target <= 0.0


@dataclass(frozen=True)
class Tweedie(MeanDeviance):
    """Amounts many of which are exactly 0, such as claims: sums of a Poisson number of gamma amounts.

    Parameters
    ----------
    power : float, between 1 and 2
    """

    name: ClassVar[str] = "tweedie"
    domain: ClassVar[str] = ">= 0"
    power: float = 1.5

    def is_outside(self, target: np.ndarray) -> np.ndarray:
        """Below 0."""
        return target < 0.0


# Log loss of classes -------------------------------------------------------------------------------------------------


class ClassLoss(Loss):
    """Log loss of class codes."""

    name: ClassVar[str] = "log_loss"
    link = "classes"
    # Log odds. Where a rare class is all but ruled out its hessian is all but 0, and a step of gradient over hessian
    # runs far beyond the best one: without a bound (and with l2=0) the log loss of covertype (20,000 rows) was 1.02,
    # with 20, 10, 5, 3 and 2 it was 0.460, 0.454, 0.448, 0.452 and 0.460; 20 rows of 200,000 made all shares 0.
    max_step = 5.0

    def check(self, target: np.ndarray, what: str = "y", rows: np.ndarray | None = None) -> None:
        """Every code has a loss, wherever it comes from."""

    def base(self, target: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """By the classes' shares."""
        return self.of_classes(class_weights(target, weights, max(self.n_scores, 2)))

    @abstractmethod
    def of_classes(self, weights: Sequence[Fraction]) -> np.ndarray:
        """``base`` of classes that weigh so much."""


def class_weights(target: np.ndarray, weights: np.ndarray | None, n_classes: int) -> list[Fraction]:
    """Each class's weight, exact.

    Parameters
    ----------
    target : int32[n], at least one
    weights : float64[n] > 0 up to 1e200, or None

    Examples
    --------
    >>> class_weights(np.array([0, 1, 1, 1], np.int32), None, 2)
    [Fraction(1, 1), Fraction(3, 1)]
    """
    if weights is None:
        return [Fraction(int(count)) for count in np.bincount(target, minlength=n_classes)]
    return [exact_sum(weights[target == k]) for k in range(n_classes)]


def shares_of(of_classes: Sequence[Fraction]) -> list[Fraction]:
    """Each class's share of all weight, exact; 1e-15 at least."""
    total = sum(of_classes, Fraction(0))
    return [max(weight / total, _LEAST_SHARE) for weight in of_classes]


@dataclass(frozen=True)
class OneClass(ClassLoss):
    """An output of one class: nothing is left to learn, and its score is not read."""

    unit_hessian = True

    def of_classes(self, weights: Sequence[Fraction]) -> np.ndarray:  # noqa: ARG002
        """0."""
        return np.zeros(1)

    def gradients(self, target: np.ndarray, scores: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:  # noqa: ARG002
        """0."""
        g[0] = 0.0

    def values(self, target: np.ndarray, scores: np.ndarray) -> np.ndarray:  # noqa: ARG002
        """0."""
        return np.zeros(len(target))


@dataclass(frozen=True)
class TwoClasses(ClassLoss):
    """Log loss of two classes; the score is the log odds of the second.

    Examples
    --------
    >>> TwoClasses().base(np.array([0, 1, 1, 1], np.int32), None).round(6).tolist() == [round(np.log(3), 6)]
    True
    """

    def of_classes(self, weights: Sequence[Fraction]) -> np.ndarray:
        """The log odds of the second class."""
        first, second = shares_of(weights)
        return np.array([log_of(second / first)])

    def gradients(self, target: np.ndarray, scores: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:
        """Share minus 0 or 1, and p (1 - p)."""
        kernels.two_class_gradients(target, scores[0], g[0], h[0])

    def values(self, target: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Minus the logarithm of the share of the right class."""
        values = np.empty(len(target))
        kernels.two_class_values(target, scores[0], values)
        return values


@dataclass(frozen=True)
class ManyClasses(ClassLoss):
    """Log loss of three classes or more, by softmax; a score per class.

    The hessian is the diagonal p (1 - p), times K / (K - 1): K scores have one too many, and trees that each follow
    their own diagonal would together go too far or not far enough (Friedman 2001, "Greedy function approximation: a
    gradient boosting machine", Annals of Statistics 29, 1189-1232, equation 32).

    Parameters
    ----------
    n_scores : int >= 2
        Classes.
    """

    n_scores: int = 3

    def of_classes(self, weights: Sequence[Fraction]) -> np.ndarray:
        """The logarithms of the classes' shares."""
        return np.array([log_of(share) for share in shares_of(weights)])

    def gradients(self, target: np.ndarray, scores: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:
        """Share minus 0 or 1, and p (1 - p) K / (K - 1)."""
        factor = self.n_scores / (self.n_scores - 1.0)
        kernels.softmax_gradients(target, *_line(scores), factor, *self._scratch(), *_line(g), *_line(h))

    def values(self, target: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Minus the logarithm of the share of the right class."""
        values = np.empty(len(target))
        kernels.softmax_values(target, *_line(scores), *self._scratch(), values)
        return values

    def _scratch(self) -> tuple[np.ndarray, np.ndarray]:
        """What the kernels work in."""
        return np.empty((self.n_scores, kernels.CHUNK)), np.empty((2, kernels.CHUNK))


def _line(table: np.ndarray) -> tuple[np.ndarray, int]:
    """All memory from the first to the last element as one row, and how far the table's rows are apart in it."""
    n_rows, m = table.shape
    if m > 1 and table.strides[1] != table.itemsize:
        raise ValueError("rows of scores, gradients and hessians must be contiguous")
    apart = table.strides[0] // table.itemsize
    return as_strided(table, ((n_rows - 1) * apart + m,), (table.itemsize,)), apart
