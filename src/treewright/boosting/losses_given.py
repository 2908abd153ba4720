"""Losses by name, and a user's own. In: parameters. Out: a ``Loss``.

Results of a user's own loss are checked before they are used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from treewright.boosting.best_constants import weighted_mean
from treewright.boosting.gradient_kernels import LARGEST
from treewright.boosting.losses import (
    AbsoluteError,
    Expectile,
    Gamma,
    Huber,
    Loss,
    ManyClasses,
    OneClass,
    Poisson,
    Quantile,
    SquaredError,
    Tweedie,
    TwoClasses,
)
from treewright.core.elementary import log_of
from treewright.core.whole import is_whole
from treewright.data.matching import did_you_mean
from treewright.exceptions import ParameterError
from treewright.model.aggregation import LINKS

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

    Parameters
    ----------
    loss : str, Loss, callable or object
        One of ``NUMBER_LOSSES``, or of ``CLASS_LOSSES`` for classes; or a user's own, as for ``OwnLoss``.
    n_classes : int >= 1, or None
        None: the target holds numbers.
    quantile : float, or sequence of ascending floats, between 0 and 1
        For ``"quantile"``.
    huber_delta : float > 0, or None
        For ``"huber"``; None computes it from the rows.
    tweedie_power : float, between 1 and 2
        For ``"tweedie"``.
    expectile : float, between 0 and 1
        For ``"expectile"``.

    Raises
    ------
    ParameterError
        An unknown name; a parameter of this loss is out of range; a classification loss for regression, or the reverse.

    Examples
    --------
    >>> build_loss("quantile", quantile=[0.1, 0.9])
    Quantile(levels=(0.1, 0.9))
    >>> build_loss("log_loss", n_classes=4)
    ManyClasses(n_scores=4)
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

    Parameters
    ----------
    source : callable or object
        ``source(y, raw)``, or else ``source.gradients(y, raw)``, returns two arrays: first and second derivative of
        each row's loss by each of its scores; the second must not be below 0. An object may also have
        ``value(y, raw)``: the loss of each row; ``base(y, weights)``: the base of the scores; ``link``: the link of the
        scores, one of ``LINKS``; and ``n_scores``.
        ``y`` float64[m], or int32[m] codes of classes; ``raw`` float64[m], or float64[m, n_scores] for several scores.
        Without ``base``, scores begin with the mean (its logarithm for the link ``"log"``), or the log odds or log
        proportions of classes.
    n_classes : int or None
        None: targets are numbers.

    Raises
    ------
    ParameterError
        A ``link`` or ``n_scores`` that does not exist or does not fit the classes.

    Examples
    --------
    >>> loss = OwnLoss(lambda y, raw: (raw - y, np.ones_like(y)))
    >>> g, h = np.empty((1, 2), np.float32), np.empty((1, 2), np.float32)
    >>> loss.gradients(np.array([1.0, 2.0]), np.array([[3.0, 3.0]]), g, h)
    >>> g.tolist(), h.tolist()
    ([[2.0, 1.0]], [[1.0, 1.0]])
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
        _refuse(~(np.abs(by_score) <= LARGEST), by_score, which, f"return numbers from -{LARGEST:g} to {LARGEST:g}")
        if which == "hessian":
            _refuse(by_score < 0.0, by_score, which, "return 0 or more")
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
        _refuse(np.isnan(values)[np.newaxis], values[np.newaxis], "value", "return numbers")
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


def _refuse(wrong: np.ndarray, numbers: np.ndarray, which: str, remedy: str) -> None:
    """Raise a ParameterError about the first wrong number, if there is one."""
    if wrong.any():
        row = int(np.argmax(wrong.any(axis=0)))
        score = int(np.argmax(wrong[:, row]))
        which_score = f", score {score}" if len(wrong) > 1 else ""
        raise ParameterError(
            f"loss: its {which} has {int(np.count_nonzero(wrong))} value(s) that cannot be used (first row {row}"
            f"{which_score}: {numbers[score, row].item()!r}): {remedy}"
        )
