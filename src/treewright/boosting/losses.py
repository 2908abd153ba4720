"""The losses that boosting minimises. In: targets, scores. Out: gradients, hessians, losses.

A loss of one output has a base of the scores (``base``), gradients and hessians of each row (``gradients``), and values
(``values``). Losses for regression come first, then those for classification; ``losses_given`` makes a loss from
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

# Limits of targets whose residuals fit into float32, and their squares into float64.
LARGEST_TARGET, LEAST_SPREAD = 1e30, 1e-30
_LEAST_LOG_BASE = -69.07755278982137  # log of LEAST_SPREAD
_LEAST_SHARE = Fraction(1, 10**15)  # the proportion of a class without rows, whose logarithm is finite


class Loss(ABC):
    """The loss of one output.

    Attributes
    ----------
    name : str
    link : Link
    n_scores : int >= 1
        The number of scores of a row.
    unit_hessian : bool
        Whether the hessian is 1 for every row; then ``gradients`` does not write it.
    renews : bool
        Whether leaf values are not minus gradient over hessian, but come from ``renewed``.
    max_step : float > 0
        The most that a leaf may add to a score in one round, before the learning rate.
    rowwise : bool
        Whether a row's gradient does not depend on other rows, so that ``gradients`` may be called for any rows, by
        several threads at once. If not, it is called once for all rows.
    has_values : bool
        Whether the loss itself is known, not only its gradients.
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
        """Refuse targets outside the loss's domain: a DataError with the count, the first row, its value, the remedy.

        ``rows`` int64[m]: the numbers of these rows in the user's table; None: all, in their order.
        """

    def bound(self, target: np.ndarray, weights: np.ndarray | None) -> Loss:  # noqa: ARG002 - others read the rows
        """The loss with everything that it needs from the training rows; itself if it needs nothing.

        Called once, after ``check`` and before everything else.
        """
        return self

    @abstractmethod
    def base(self, target: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """float64[n_scores]: the best constant scores for rows with ``weights`` (float64[m], > 0)."""

    @abstractmethod
    def gradients(self, target: np.ndarray, scores: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:
        """Write gradient and hessian of some rows, unweighted.

        Parameters
        ----------
        target : float64[m] or int32[m]
        scores : float64[n_scores, m], rows contiguous or slices of longer rows
        g, h : float32[n_scores, m], OUT
            Finite, ``h`` above 0 (a user's own may be 0). ``h`` is not written if ``unit_hessian``.
        """

    @abstractmethod
    def values(self, target: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """float64[m]: the loss of each row; inf if it is beyond float64."""

    def least(self, target: np.ndarray) -> np.ndarray:
        """float64[m]: the lower bound of ``values`` for each row."""
        return np.zeros(len(target))

    def renewed(
        self, score: int, target: np.ndarray, scores: np.ndarray, weights: np.ndarray | None, rows: np.ndarray,
        starts: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        """float64[n_leaves]: what each leaf should add to score number ``score``, if the loss ``renews``.

        ``rows`` int32[m] are the rows leaf by leaf, ascending within a leaf; ``starts`` int64[n_leaves + 1] the
        beginnings of the leaves. ``scores`` float64[n_scores, n] and ``target`` [n], ``weights`` [n] are of all rows. A
        leaf without rows adds 0.
        """
        raise NotImplementedError


# Losses for regression -----------------------------------------------------------------------------------------------


class NumberLoss(Loss):
    """A loss for regression; by default its domain is all numbers.

    Attributes
    ----------
    domain : str
        The condition of targets, for messages; empty for any number.
    """

    domain: ClassVar[str] = ""

    def is_outside(self, target: np.ndarray) -> np.ndarray:
        """bool[m]: whether targets are outside the domain."""
        return np.zeros(len(target), bool)

    def check(self, target: np.ndarray, what: str = "y", rows: np.ndarray | None = None) -> None:
        """Refuse targets outside the domain; see ``Loss.check``."""
        remedy = (f"loss={self.name!r} needs ", TARGET, f" {self.domain}: use another loss")
        _refuse(self.is_outside(target), target, what, rows, *remedy)
        # Negated, so that nan is refused as well.
        outside = ~(np.abs(target) <= LARGEST_TARGET)
        span = f"boosting needs numbers from -{LARGEST_TARGET:g} to {LARGEST_TARGET:g}: give "
        _refuse(outside, target, what, rows, span, TARGET if what == "y" else what, " in another unit")

    def bound(self, target: np.ndarray, weights: np.ndarray | None) -> Loss:  # noqa: ARG002 - Huber's loss reads them
        """See ``Loss.bound``; refuses targets whose differences are too small for gradients."""
        spread = float(target.max()) - float(target.min())
        if 0.0 < spread < LEAST_SPREAD:
            raise DataError(
                f"the values of y differ by at most {spread:g}: boosting needs differences of {LEAST_SPREAD:g} or "
                f"more, or none: give y in another unit"
            )
        return self


def _refuse(outside: np.ndarray, target: np.ndarray, what: str, rows: np.ndarray | None, *remedy: object) -> None:
    """Raise a DataError if a row is outside."""
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
    """Half the squared error: predictions are means.

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
        """``base`` for rows of this weighted mean."""
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
    """The absolute error: predictions are medians, and so are leaf values.

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
    """Half the squared error up to a distance, linear beyond it, so that outliers have limited influence.

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
        # At least nine rows in ten are at the median: any distance works; one that fits the other rows is best.
        return replace(self, delta=delta or weighted_mean(distances, weights) or 1.0)

    @property
    def distance(self) -> float:
        """``delta``, after ``bound``."""
        if self.delta is None:
            raise ParameterError("huber_delta=None is computed from the training rows: call bound first")
        return self.delta

    def base(self, target: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """The constant with the least loss."""
        return np.array([huber_centre(target, weights, self.distance)])

    def gradients(self, target: np.ndarray, scores: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:  # noqa: ARG002
        """Score minus target, limited to ``delta``. The hessian is 1 beyond it too, so no leaf's step is too long."""
        kernels.clipped_residuals(target, scores[0], min(self.distance, kernels.LARGEST), g[0])

    def values(self, target: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Half a square near the target, a line beyond."""
        with np.errstate(over="ignore"):
            distance = np.abs(scores[0] - target)
            near = np.minimum(distance, self.distance)
            return near * (distance - 0.5 * near)


@dataclass(frozen=True)
class Quantile(NumberLoss):
    """The pinball loss of one level or several: one score for each, and predictions ascend with the level.

    Leaf values are quantiles of the residuals in the leaf.

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
        """The slope of the pinball loss; 0 if the score is the target."""
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
    """Squared errors weighted ``level`` above the prediction and ``1 - level`` below: half the square at 0.5.

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
        """The slope and curvature of the square on the score's side of the target."""
        kernels.lopsided_residuals(target, scores[0], 2.0 * self.level, 2.0 * (1.0 - self.level), g[0], h[0])

    def values(self, target: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """The square of the residual times the factor of its side."""
        rest = target - scores[0]
        with np.errstate(over="ignore"):
            return np.where(rest > 0.0, self.level, 1.0 - self.level) * np.square(rest)


# Losses for means above 0, with a log link ---------------------------------------------------------------------------


@dataclass(frozen=True)
class MeanDeviance(NumberLoss):
    """Minus the log likelihood of a mean above 0 whose variance is that mean to a power, without constants.

    The score is the logarithm of the mean. With ``a = exp((2 - power) s)`` and ``b = y exp((1 - power) s)``, the
    gradient is ``a - b``, and the best step of a leaf is the logarithm of B over A, their sums. The hessian used is
    ``(a + b) / 2``: a leaf's step is then ``2 (B - A) / (B + A)``, the first terms of that logarithm's continued
    fraction. It has the logarithm's value, slope and curvature at B = A, is never longer than it, and never longer than
    2, also for a leaf of small means and large targets. With the second derivative, the step of a Poisson leaf whose
    targets are 100 times its means would be 99, instead of the best 4.6.

    Attributes
    ----------
    power : float, 1 to 2
    """

    link = "log"
    power: float = 1.0

    def bound(self, target: np.ndarray, weights: np.ndarray | None) -> Loss:
        """See ``Loss.bound``; refuses targets so near to 0 that gradients would vanish."""
        if 0.0 < float(target.max()) < LEAST_SPREAD:
            raise DataError(
                f"the largest value of y is {float(target.max()):g}: loss={self.name!r} needs {LEAST_SPREAD:g} or "
                f"more: give y in another unit"
            )
        return super().bound(target, weights)

    def base(self, target: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """The logarithm of the weighted mean; of 1e-30 if the mean is less."""
        return self.of_mean(weighted_mean(target, weights))

    def of_mean(self, mean: float) -> np.ndarray:
        """``base`` for rows of this weighted mean."""
        return np.array([log_of(mean) if mean > LEAST_SPREAD else _LEAST_LOG_BASE])

    def gradients(self, target: np.ndarray, scores: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:
        """Gradient and hessian as the class describes."""
        kernels.log_link_gradients(target, scores[0], self.power, g[0], h[0])

    def values(self, target: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """The part of the deviance that depends on the score."""
        score = scores[0]
        with np.errstate(over="ignore"):
            if self.power == 1.0:
                return _exp(score) - target * score
            if self.power == 2.0:
                return score + target * _exp(-score)
            falls, rises = 1.0 - self.power, 2.0 - self.power
            return _exp(rises * score) / rises - target * _exp(falls * score) / falls

    def least(self, target: np.ndarray) -> np.ndarray:
        """The value at a mean equal to the target; ``values`` leaves out what does not depend on the score."""
        return self.values(target, log_of(np.maximum(target, np.finfo(np.float64).tiny))[None])


def _exp(score: np.ndarray) -> np.ndarray:
    """The exponential, finite for any score."""
    return exp_of(np.clip(score, -kernels.FARTHEST, kernels.FARTHEST))


@dataclass(frozen=True)
class Poisson(MeanDeviance):
    """The Poisson deviance, for counts and rates: the variance is the mean.

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
        """Whether targets are below 0."""
        return target < 0.0


@dataclass(frozen=True)
class Gamma(MeanDeviance):
    """The gamma deviance, for amounts above 0: the standard deviation is proportional to the mean."""

    name: ClassVar[str] = "gamma"
    domain: ClassVar[str] = "> 0"
    power: float = 2.0

    def is_outside(self, target: np.ndarray) -> np.ndarray:
        """Whether targets are 0 or below."""
        return target <= 0.0


@dataclass(frozen=True)
class Tweedie(MeanDeviance):
    """The Tweedie deviance, for amounts of which many are exactly 0, such as claims.

    They are sums of a Poisson number of gamma amounts.

    Parameters
    ----------
    power : float, between 1 and 2
    """

    name: ClassVar[str] = "tweedie"
    domain: ClassVar[str] = ">= 0"
    power: float = 1.5

    def is_outside(self, target: np.ndarray) -> np.ndarray:
        """Whether targets are below 0."""
        return target < 0.0


# Log loss of classes -------------------------------------------------------------------------------------------------


class ClassLoss(Loss):
    """The log loss of class codes."""

    name: ClassVar[str] = "log_loss"
    link = "classes"
    # In log odds. If a class is very improbable its hessian is almost 0, and a step of gradient over hessian is far too
    # long: without a bound (and with l2=0) the log loss of covertype (20,000 rows) was 1.02, with 20, 10, 5, 3 and 2 it
    # was 0.460, 0.454, 0.448, 0.452 and 0.460; 20 rows of 200,000 made all probabilities 0.
    max_step = 5.0

    def check(self, target: np.ndarray, what: str = "y", rows: np.ndarray | None = None) -> None:
        """Accept every code."""

    def base(self, target: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """The best constant scores, from the class proportions."""
        return self.of_classes(class_weights(target, weights, max(self.n_scores, 2)))

    @abstractmethod
    def of_classes(self, weights: Sequence[Fraction]) -> np.ndarray:
        """``base`` for classes with these total weights."""


def class_weights(target: np.ndarray, weights: np.ndarray | None, n_classes: int) -> list[Fraction]:
    """The exact total weight of each class.

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
    """The exact proportion of each class, at least 1e-15."""
    total = sum(of_classes, Fraction(0))
    return [max(weight / total, _LEAST_SHARE) for weight in of_classes]


@dataclass(frozen=True)
class OneClass(ClassLoss):
    """The loss of an output of one class: there is nothing to learn, and its score is not used."""

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
    """The log loss of two classes; the score is the log odds of the second.

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
        """Probability minus 0 or 1, and p (1 - p)."""
        kernels.two_class_gradients(target, scores[0], g[0], h[0])

    def values(self, target: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Minus the logarithm of the true class's probability."""
        values = np.empty(len(target))
        kernels.two_class_values(target, scores[0], values)
        return values


@dataclass(frozen=True)
class ManyClasses(ClassLoss):
    """The log loss of three classes or more, by softmax; one score per class.

    The hessian is the diagonal p (1 - p), times K / (K - 1): one of the K scores is redundant, and the steps of trees
    that follow only the diagonal would not have the right length together (Friedman 2001, "Greedy function
    approximation: a gradient boosting machine", Annals of Statistics 29, 1189-1232, equation 32).

    Parameters
    ----------
    n_scores : int >= 2
        The number of classes.
    """

    n_scores: int = 3

    def of_classes(self, weights: Sequence[Fraction]) -> np.ndarray:
        """The logarithms of the class proportions."""
        return np.array([log_of(share) for share in shares_of(weights)])

    def gradients(self, target: np.ndarray, scores: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:
        """Probability minus 0 or 1, and p (1 - p) K / (K - 1)."""
        factor = self.n_scores / (self.n_scores - 1.0)
        kernels.softmax_gradients(target, *_line(scores), factor, *self._scratch(), *_line(g), *_line(h))

    def values(self, target: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Minus the logarithm of the true class's probability."""
        values = np.empty(len(target))
        kernels.softmax_values(target, *_line(scores), *self._scratch(), values)
        return values

    def _scratch(self) -> tuple[np.ndarray, np.ndarray]:
        """Temporary arrays for the kernels."""
        return np.empty((self.n_scores, kernels.CHUNK)), np.empty((2, kernels.CHUNK))


def _line(table: np.ndarray) -> tuple[np.ndarray, int]:
    """The memory from the first to the last element as one row, and the distance of the table's rows in it."""
    if table.flags.c_contiguous:
        return table.reshape(-1), table.shape[1]
    n_rows, m = table.shape
    if m > 1 and table.strides[1] != table.itemsize:
        raise ValueError("rows of scores, gradients and hessians must be contiguous")
    apart = table.strides[0] // table.itemsize
    return as_strided(table, ((n_rows - 1) * apart + m,), (table.itemsize,)), apart
