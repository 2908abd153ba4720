"""The losses that boosting minimises. In: parameters. Out: a ``Loss``: from targets and scores to gradients and values.

A loss of one output has a base of the scores (``base``), gradients and hessians of each row (``gradients``), and values
(``values``). Losses for regression come first, then those for classification; then losses by name, and a user's own,
whose results are checked before they are used.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from numbers import Real
from typing import Any, ClassVar

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
from treewright.boosting.gradient_kernels import LARGEST
from treewright.core.elementary import exp_of, is_whole, log_of
from treewright.data.schema import did_you_mean
from treewright.exceptions import TARGET, DataError, ParameterError, first_row
from treewright.trees.data import LINKS, Link

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

    ``domain``: the condition of targets, for messages; empty for any number.
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
    """Half the squared error: predictions are means."""

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
    """The absolute error: predictions are medians, and so are leaf values."""

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

    ``delta`` (> 0, or None): the distance; None takes the 0.9-quantile of distances from the median, when the loss is
    bound to rows.
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
    """Squared errors weighted ``level`` above the prediction and ``1 - level`` below: half the square at 0.5."""

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
    """The Poisson deviance, for counts and rates: the variance is the mean."""

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

    ``target`` (int32[n], at least one). ``weights`` (float64[n] > 0 up to 1e200, or None).
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
    """The log loss of two classes; the score is the log odds of the second."""

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


NUMBER_LOSSES = (
    "squared_error",
    "absolute_error",
    "huber",
    "quantile",
    "poisson",
    "gamma",
    "tweedie",
    "expectile",
)
CLASS_LOSSES = ("log_loss",)


def build_loss(
    loss: Any,
    *,
    n_classes: int | None = None,
    quantile: Any = 0.5,
    huber_delta: Any = None,
    tweedie_power: Any = 1.5,
    expectile: Any = 0.5,
) -> Loss:
    """The loss of one output.

    ``loss``: one of ``NUMBER_LOSSES``, or of ``CLASS_LOSSES`` for classes; or a user's own, as for ``OwnLoss``.
    ``n_classes`` (>= 1, or None), None: the target holds numbers.
    ``quantile``: for ``"quantile"``.
    ``huber_delta`` (> 0, or None): for ``"huber"``; None computes it from the rows.
    ``tweedie_power`` (between 1 and 2): for ``"tweedie"``.
    ``expectile`` (between 0 and 1): for ``"expectile"``.

    Raises ``ParameterError``: an unknown name; a parameter of this loss is out of range; a classification loss for
    regression, or the reverse.
    """
    if isinstance(loss, Loss):
        return _fitting(loss, n_classes)
    if not isinstance(loss, str):
        if isinstance(loss, type):
            raise ParameterError(f"loss={loss.__name__} is a class: give an instance, {loss.__name__}(...)")
        if not callable(loss) and not callable(getattr(loss, "gradients", None)):
            raise ParameterError(
                f"loss={loss!r}: give a name, a function of (y, raw) that returns gradient and hessian, or an object "
                f"with such a method, gradients"
            )
        return OneClass() if n_classes == 1 else OwnLoss(loss, n_classes)
    names = NUMBER_LOSSES if n_classes is None else CLASS_LOSSES
    if loss not in names:
        kind = "regression" if n_classes is None else "classification"
        raise ParameterError(
            f"loss={loss!r}: the losses for {kind} are {', '.join(map(repr, names))}{did_you_mean(loss, names)}"
        )
    if n_classes is not None:
        return _class_loss(n_classes)
    by_name: dict[str, Callable[[], Loss]] = {
        "squared_error": SquaredError,
        "absolute_error": AbsoluteError,
        "huber": lambda: Huber(None if huber_delta is None else _above_zero("huber_delta", huber_delta)),
        "quantile": lambda: Quantile(_levels(quantile)),
        "poisson": Poisson,
        "gamma": Gamma,
        "tweedie": lambda: Tweedie(power=_between("tweedie_power", tweedie_power, 1, 2)),
        "expectile": lambda: Expectile(_between("expectile", expectile, 0, 1)),
    }
    return by_name[loss]()


def _class_loss(n_classes: int) -> Loss:
    """The log loss for a number of classes."""
    if n_classes == 1:
        return OneClass()
    return TwoClasses() if n_classes == 2 else ManyClasses(n_classes)


def _fitting(loss: Loss, n_classes: int | None) -> Loss:
    """A loss object unchanged; one for other targets is refused."""
    if (loss.link == "classes") != (n_classes is not None):
        kind = "regression" if n_classes is None else "classification"
        raise ParameterError(f"loss={loss!r} is not for {kind}: its link is {loss.link!r}")
    if n_classes is not None and loss.n_scores != (1 if n_classes <= 2 else n_classes):
        raise ParameterError(f"loss={loss!r} has {loss.n_scores} score(s), and {n_classes} classes need another number")
    return loss


def _is_number(value: Any) -> bool:
    """Whether a value is a real number; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _above_zero(name: str, value: Any) -> float:
    """A finite number above 0."""
    if not _is_number(value) or not 0 < value < float("inf"):
        raise ParameterError(f"{name}={value!r}: give a number > 0, or None")
    return float(value)


def _between(name: str, value: Any, low: int, high: int) -> float:
    """A number strictly between two others."""
    if not _is_number(value) or not low < float(value) < high:
        raise ParameterError(f"{name}={value!r}: give a number between {low} and {high}, both excluded")
    return float(value)


def _levels(value: Any) -> tuple[float, ...]:
    """Levels of quantiles, ascending."""
    if _is_number(value):
        return (_between("quantile", value, 0, 1),)
    if isinstance(value, str | bytes) or not np.iterable(value):
        raise ParameterError(f"quantile={value!r}: give a number between 0 and 1, or several such numbers")
    given = list(value)
    levels = tuple(_between("quantile", level, 0, 1) for level in given)
    if not levels or any(later <= earlier for earlier, later in pairwise(levels)):
        raise ParameterError(
            f"quantile={value!r}: give one level or several different ones in ascending order, such as [0.1, 0.5, 0.9]"
        )
    return levels


def loss_words(name: str) -> str:
    """The name of a loss in words; the squared error is halved, so that its slope is the residual.

    Examples
    --------
    >>> loss_words("squared_error"), loss_words("log_loss")
    ('half the squared error', 'log loss')
    """
    return "half the squared error" if name == "squared_error" else name.replace("_", " ")


# A user's own loss ---------------------------------------------------------------------------------------------------


class OwnLoss(Loss):
    """A loss that a user wrote with NumPy.

    Shapes, types and ranges of its results are checked, and the arrays that it gets are read-only. It is called for all
    rows at once, by one thread.

    ``source``, ``source(y, raw)``, or else ``source.gradients(y, raw)``, returns two arrays: first and second
    derivative of each row's loss by each of its scores; the second must not be below 0. An object may also have
    ``value(y, raw)``: the loss of each row; ``base(y, weights)``: the base of the scores; ``link``: the link of the
    scores, one of ``LINKS``; and ``n_scores``. ``y`` float64[m], or int32[m] codes of classes; ``raw`` float64[m], or
    float64[m, n_scores] for several scores. Without ``base``, scores begin with the mean (its logarithm for the link
    ``"log"``), or the log odds or log proportions of classes. Raises ``ParameterError``: a ``link`` or ``n_scores``
    that does not exist or does not fit the classes.
    """

    name: ClassVar[str] = "own"
    rowwise = False

    def __init__(self, source: Any, n_classes: int | None = None) -> None:
        self._derivatives: Callable[..., Any] = getattr(source, "gradients", source)
        self._value: Callable[..., Any] | None = getattr(source, "value", None)
        self.has_values = self._value is not None
        self._base: Callable[..., Any] | None = getattr(source, "base", None)
        # The loss that checks targets and has the base.
        self._kin: Loss = SquaredError()
        if n_classes is not None:
            self._kin = TwoClasses() if n_classes <= 2 else ManyClasses(n_classes)
        self.link = getattr(source, "link", self._kin.link)
        if self.link not in LINKS:
            raise ParameterError(f"loss: its link is {self.link!r}: give one of {', '.join(map(repr, LINKS))}")
        if (self.link == "classes") != (n_classes is not None):
            needed = "'classes'" if n_classes is not None else "'identity', 'log' or 'sorted'"
            raise ParameterError(f"loss: its link is {self.link!r}, and this target needs {needed}")
        self.n_scores = getattr(source, "n_scores", self._kin.n_scores)
        if not is_whole(self.n_scores) or self.n_scores < 1:
            raise ParameterError(f"loss: its n_scores is {self.n_scores!r}: give a whole number >= 1")
        if n_classes is not None and self.n_scores != self._kin.n_scores:
            raise ParameterError(
                f"loss: its n_scores is {self.n_scores}, and {n_classes} classes need {self._kin.n_scores}"
            )

    def __repr__(self) -> str:
        return f"OwnLoss(link={self.link!r}, n_scores={self.n_scores})"

    def check(self, target: np.ndarray, what: str = "y", rows: np.ndarray | None = None) -> None:
        """Accept any number or class; see ``Loss.check``."""
        self._kin.check(target, what, rows)

    def base(self, target: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """The result of the user's ``base``; without one, as the class describes."""
        if self._base is None:
            if self.link == "classes":
                return self._kin.base(target, weights)
            mean = weighted_mean(target, weights)
            if self.link == "log":
                mean = float(log_of(mean)) if mean > 0.0 else 0.0
            return np.full(self.n_scores, mean)
        with _named("base", target, weights):
            answer = self._base(_locked(target), None if weights is None else _locked(weights))
        base = np.atleast_1d(_numbers(answer, "base"))
        if base.shape != (self.n_scores,) or not np.isfinite(base).all():
            raise ParameterError(f"loss: base returned {answer!r}: return {self.n_scores} finite number(s)")
        return base

    def gradients(self, target: np.ndarray, scores: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:
        """The user's derivatives, checked."""
        raw = self._raw(scores)
        with _named("the gradients", target, raw):
            answer = self._derivatives(_locked(target), raw)
        if not isinstance(answer, tuple | list) or len(answer) != 2:
            raise ParameterError(
                f"loss: it returned a {type(answer).__name__}: return two arrays, the gradient and the hessian"
            )
        for which, given, out in (("gradient", answer[0], g), ("hessian", answer[1], h)):
            out[:] = self._derivative(which, given, scores.shape)

    def _derivative(self, which: str, given: Any, shape: tuple[int, ...]) -> np.ndarray:
        """float64[n_scores, m]: one of the two arrays, checked."""
        numbers = _numbers(given, which)
        expected = shape[1:] if self.n_scores == 1 else shape[::-1]
        if numbers.shape != expected:
            raise ParameterError(f"loss: its {which} has shape {numbers.shape}: return shape {expected}, as raw has")
        by_score = numbers[np.newaxis] if self.n_scores == 1 else numbers.T
        _refuse_given(
            ~(np.abs(by_score) <= LARGEST), by_score, which, f"return numbers from -{LARGEST:g} to {LARGEST:g}"
        )
        if which == "hessian":
            _refuse_given(by_score < 0.0, by_score, which, "return 0 or more")
        return by_score

    def values(self, target: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """The result of the user's ``value``, checked."""
        if self._value is None:
            raise ParameterError(
                "loss: it has no value(y, raw), which early stopping and the history need: "
                "give an object with gradients and value, or leave the evaluation out"
            )
        raw = self._raw(scores)
        with _named("value", target, raw):
            answer = self._value(_locked(target), raw)
        values = _numbers(answer, "value")
        if values.shape != target.shape:
            raise ParameterError(f"loss: value returned shape {values.shape}: return one number a row, {target.shape}")
        _refuse_given(np.isnan(values)[np.newaxis], values[np.newaxis], "value", "return numbers")
        return values

    def _raw(self, scores: np.ndarray) -> np.ndarray:
        """Scores in the shape for the user's functions."""
        return _locked(scores[0] if self.n_scores == 1 else np.ascontiguousarray(scores.T))


@contextmanager
def _named(part: str, target: np.ndarray, other: np.ndarray | None) -> Iterator[None]:
    """Add a note about its origin to an exception of the user's functions."""
    try:
        yield
    except Exception as error:
        called = "weights" if part == "base" else "raw"
        shape = "None" if other is None else f"of shape {other.shape}"
        error.add_note(f"raised by loss=, asked for {part} with y {target.dtype}{target.shape} and {called} {shape}")
        raise


def _locked(array: np.ndarray) -> np.ndarray:
    """A read-only view."""
    view = array.view()
    view.flags.writeable = False
    return view


def _numbers(given: Any, what: str) -> np.ndarray:
    """A result as float64."""
    try:
        array = np.asarray(given)
        if array.dtype.kind not in "biuf":
            array = array.astype(object)  # so that complex numbers and text are refused
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"loss: its {what} is not an array of numbers: {error}") from None


def _refuse_given(wrong: np.ndarray, numbers: np.ndarray, which: str, remedy: str) -> None:
    """Raise a ParameterError about the first wrong number, if there is one."""
    if wrong.any():
        row = int(np.argmax(wrong.any(axis=0)))
        score = int(np.argmax(wrong[:, row]))
        which_score = f", score {score}" if len(wrong) > 1 else ""
        raise ParameterError(
            f"loss: its {which} has {int(np.count_nonzero(wrong))} value(s) that cannot be used (first row {row}"
            f"{which_score}: {numbers[score, row].item()!r}): {remedy}"
        )
