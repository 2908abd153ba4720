"""Log loss of classes. In: class codes, scores. Out: gradients, hessians, losses.

Callers: boosting.losses_by_name, boosting.rounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.lib.stride_tricks import as_strided

from treewright.boosting import gradient_kernels as kernels
from treewright.boosting.exact_sums import exact_sum
from treewright.boosting.losses import Loss

_LEAST_SHARE = Fraction(1, 10**15)  # of a class without rows: its logarithm is finite


class ClassLoss(Loss):
    """A loss of class codes; those are right wherever they come from."""

    name: ClassVar[str] = "log_loss"
    link = "classes"
    # Log odds. Where a rare class is all but ruled out its hessian is all but 0, and a step of gradient over hessian
    # runs far beyond the best one: without a bound (and with l2=0) the log loss of covertype (20,000 rows) was 1.02,
    # with 20, 10, 5, 3 and 2 it was 0.460, 0.454, 0.448, 0.452 and 0.460; 20 rows of 200,000 made all shares 0.
    max_step = 5.0

    def check(self, target: np.ndarray, what: str = "y", rows: np.ndarray | None = None) -> None:
        """Every code has a loss."""


def class_shares(target: np.ndarray, weights: np.ndarray | None, n_classes: int) -> list[Fraction]:
    """Each class's share of the weight, exact; 1e-15 at least.

    Parameters
    ----------
    target : int32[n], at least one
    weights : float64[n] > 0 up to 1e200, or None

    Examples
    --------
    >>> class_shares(np.array([0, 1, 1, 1], np.int32), None, 2)
    [Fraction(1, 4), Fraction(3, 4)]
    """
    if weights is None:
        counts = [Fraction(int(count)) for count in np.bincount(target, minlength=n_classes)]
    else:
        counts = [exact_sum(weights[target == k]) for k in range(n_classes)]
    total = sum(counts, Fraction(0))
    return [max(count / total, _LEAST_SHARE) for count in counts]


@dataclass(frozen=True)
class OneClass(ClassLoss):
    """An output of one class: nothing is left to learn, and its score is not read."""

    unit_hessian = True

    def base(self, target: np.ndarray, weights: np.ndarray | None) -> np.ndarray:  # noqa: ARG002
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

    def base(self, target: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """The log odds of the second class."""
        first, second = class_shares(target, weights, 2)
        return np.array([math.log(second / first)])

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

    def base(self, target: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """The logarithms of the classes' shares."""
        return np.array([math.log(share) for share in class_shares(target, weights, self.n_scores)])

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
