"""A user's own loss. In: a callable or an object of the user's. Out: a ``Loss`` that checks every answer of it.

Callers: boosting.losses_by_name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from treewright.boosting.exact_sums import weighted_mean
from treewright.boosting.gradient_kernels import LARGEST
from treewright.boosting.losses import Loss
from treewright.boosting.losses_classes import ManyClasses, TwoClasses
from treewright.boosting.losses_numbers import SquaredError
from treewright.core.whole import is_whole
from treewright.exceptions import ParameterError
from treewright.model.aggregation import LINKS


class OwnLoss(Loss):
    """A loss that a user wrote with NumPy.

    Nothing the user returns is trusted: shapes, types and ranges are checked, and what is handed out cannot be written.
    It is asked for all rows at once, and by one thread.

    Parameters
    ----------
    source : callable or object
        ``source(y, raw)``, or else ``source.gradients(y, raw)``, returns two arrays: first and second derivative of
        each row's loss by each of its scores; the second must not be below 0. An object may also have
        ``value(y, raw)``: the loss of each row; ``base(y, weights)``: what scores begin with; ``link``: how scores are
        read, one of ``LINKS``; and ``n_scores``.
        ``y`` float64[m], or int32[m] codes of classes; ``raw`` float64[m], or float64[m, n_scores] for several scores.
        Without ``base``, scores begin with the mean (its logarithm for the link ``"log"``), or the log odds or log
        shares of classes.
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
        self._base: Callable[..., Any] | None = getattr(source, "base", None)
        # What checks targets, and knows where scores begin.
        self._kin: Loss = SquaredError()
        if n_classes is not None:
            self._kin = TwoClasses() if n_classes <= 2 else ManyClasses(n_classes)
        self.link = getattr(source, "link", self._kin.link)
        if self.link not in LINKS:
            raise ParameterError(f"loss: its link is {self.link!r}: give one of {', '.join(map(repr, LINKS))}")
        if (self.link == "classes") != (n_classes is not None):
            needed = "'classes'" if n_classes is not None else "'identity', 'log' or 'sorted'"
            raise ParameterError(f"loss: its link is {self.link!r}, but this target needs {needed}")
        self.n_scores = getattr(source, "n_scores", self._kin.n_scores)
        if not is_whole(self.n_scores) or self.n_scores < 1:
            raise ParameterError(f"loss: its n_scores is {self.n_scores!r}: give a whole number >= 1")
        if n_classes is not None and self.n_scores != self._kin.n_scores:
            raise ParameterError(
                f"loss: its n_scores is {self.n_scores}, but {n_classes} classes need {self._kin.n_scores}"
            )

    def __repr__(self) -> str:
        return f"OwnLoss(link={self.link!r}, n_scores={self.n_scores})"

    def check(self, target: np.ndarray, what: str = "y", rows: np.ndarray | None = None) -> None:
        """Any number or class may be a target; see ``Loss.check``."""
        self._kin.check(target, what, rows)

    def base(self, target: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """What the user's ``base`` answers; see the class for where there is none.

        Raises
        ------
        ParameterError
            The answer is not one finite number a score.
        """
        if self._base is None:
            if self.link == "classes":
                return self._kin.base(target, weights)
            mean = weighted_mean(target, weights)
            if self.link == "log":
                mean = math.log(mean) if mean > 0.0 else 0.0
            return np.full(self.n_scores, mean)
        with _named("base", target, weights):
            answer = self._base(_locked(target), None if weights is None else _locked(weights))
        base = np.atleast_1d(_numbers(answer, "base"))
        if base.shape != (self.n_scores,) or not np.isfinite(base).all():
            raise ParameterError(f"loss: base returned {answer!r}: return {self.n_scores} finite number(s)")
        return base

    def gradients(self, target: np.ndarray, scores: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:
        """What the user's derivatives are.

        Raises
        ------
        ParameterError
            They are not two arrays of the scores' shape, or hold a number that is not finite or beyond float32, or a
            second derivative below 0.
        """
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
        """What the user's ``value`` answers.

        Raises
        ------
        ParameterError
            There is none, or it is not one number a row, or one of them is nan.
        """
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
        """Scores as the user gets them."""
        return _locked(scores[0] if self.n_scores == 1 else np.ascontiguousarray(scores.T))


@contextmanager
def _named(part: str, target: np.ndarray, other: np.ndarray | None) -> Iterator[None]:
    """Let an exception of the user's own through, with a note of where it comes from."""
    try:
        yield
    except Exception as error:
        called = "weights" if part == "base" else "raw"
        shape = "None" if other is None else f"of shape {other.shape}"
        error.add_note(f"raised by loss=, asked for {part} with y {target.dtype}{target.shape} and {called} {shape}")
        raise


def _locked(array: np.ndarray) -> np.ndarray:
    """A view that cannot be written."""
    view = array.view()
    view.flags.writeable = False
    return view


def _numbers(given: Any, what: str) -> np.ndarray:
    """An answer as float64."""
    try:
        array = np.asarray(given)
        if array.dtype.kind not in "biuf":
            array = array.astype(object)  # complex numbers and text are no numbers here
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"loss: its {what} is not an array of numbers: {error}") from None


def _refuse(wrong: np.ndarray, numbers: np.ndarray, which: str, remedy: str) -> None:
    """ParameterError with the first row of which a number is marked."""
    if wrong.any():
        row = int(np.argmax(wrong.any(axis=0)))
        score = int(np.argmax(wrong[:, row]))
        which_score = f", score {score}" if len(wrong) > 1 else ""
        raise ParameterError(
            f"loss: its {which} has {int(np.count_nonzero(wrong))} value(s) that cannot be used (first row {row}"
            f"{which_score}: {numbers[score, row].item()!r}): {remedy}"
        )
