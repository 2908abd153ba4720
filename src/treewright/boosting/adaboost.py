"""AdaBoost: weights of rows and members, by round. In: errors of members. Out: weights, ``AdaBoostRounds``.

    weights = those of the rows
    for each round: fit a member on the weighted rows, predict them
                    error = the weighted misclassification rate, or the weighted mean loss
                    the member's weight = learning_rate * log((1 - error) / error), and more for several classes
                    the weights of misclassified rows are multiplied by exp(the member's weight)

Weights of rows are whole numbers that add up to about 2**52 in each round, so their sums do not depend on the order of
the rows, and a row of weight k is exactly k equal rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np

from treewright.core.elementary import exp_of, expm1_of, log_of
from treewright.exceptions import ParameterError
from treewright.grow.objective import are_whole
from treewright.show.spans import GAP, TextColumn, aligned

RegressionLoss = Literal["linear", "square", "exponential"]
_FINE = 2**52
_COARSE = 2**31  # below this sum, trees treat whole weights as numbers of rows (grow.statistics)
_MOST_COARSE_ROWS = 2**20  # with more rows such weights would be too coarse
_ROUNDING = 1e-12  # an error this close to chance counts as chance
_MOST_ROWS = 12  # the most rows of a table whose weights are printed


# Weights of rows -----------------------------------------------------------------------------------------------------


class RowWeights:
    """The weights of the rows in one round; immutable.

    ``own`` (float64[n], > 0, or None), weights before the first round; whole numbers of a moderate sum are numbers of
    rows. None: one for every row. A common factor is not removed (k for each row is exactly k copies of the table), but
    it makes the steps of a row's weight coarser. ``units`` (int64[n]): the number of rows that a row counts as.
    """

    def __init__(self, own: np.ndarray | None, n: int) -> None:
        self.units = np.ones(n, np.int64)
        relative = np.ones(n)
        if own is not None and are_whole(own):
            self.units = own.astype(np.int64)
        elif own is not None:
            relative = own / own.max()
        self._n_units = int(self.units.sum())
        self._set(relative)

    def _set(self, relative: np.ndarray) -> None:
        """Store weights of units, the largest of them 1."""
        # No share falls below 2**-52: a weight of 0 could never grow again, and smaller ones would be lost in sums.
        self._fine = np.maximum(_scaled(relative, self.units, self._n_units, _FINE), 1.0)
        self._whole = self.units * np.floor(self._fine).astype(np.int64)
        self._total = int(self._whole.sum())

    @property
    def shares(self) -> np.ndarray:
        """float64[n]: weights that add up to one."""
        shares: np.ndarray = self._whole / self._total
        return shares

    @property
    def as_rows(self) -> np.ndarray:
        """float64[n]: weights that add up to the number of rows."""
        return self.shares * self._n_units

    def as_counts(self) -> tuple[np.ndarray, float]:
        """Weights for trees to which a common factor makes no difference.

        Returns ``weights`` (float64[n], > 0), whole numbers of a moderate sum, if that is precise enough: then trees
        treat them exactly; ``unit`` (float): the factor with which they add up to the number of rows.
        """
        if self._n_units > _MOST_COARSE_ROWS:
            return self.as_rows, 1.0
        room = _COARSE - 1 - 2 * self._n_units
        coarse = np.maximum(np.floor(_scaled(self._fine / self._fine.max(), self.units, self._n_units, room)), 1.0)
        weights = self.units * coarse
        return weights, self._n_units / float(weights.sum())

    def mean(self, losses: np.ndarray) -> float:
        """Weighted mean.

        ``losses`` (bool[n], or float64[n] from 0 to 1).
        """
        if losses.dtype == bool:
            return int(self._whole[losses].sum()) / self._total
        each = np.rint(np.floor(self._fine) * losses).astype(np.int64)
        return int((each * self.units).sum()) / self._total

    def times(self, factors: np.ndarray) -> RowWeights:
        """The weights of the next round.

        ``factors`` (float64[n], finite, >= 0, not all 0): the factors of the weights; a common factor makes no
        difference.
        """
        made = object.__new__(RowWeights)
        made.units, made._n_units = self.units, self._n_units
        changed = self._fine * (factors / factors.max())
        made._set(changed / changed.max())
        return made


def _scaled(relative: np.ndarray, units: np.ndarray, n_units: int, total: int) -> np.ndarray:
    """Weights of units, the largest 1, scaled so that they add up to a little less than ``total`` over all rows."""
    scaled = relative * (total / n_units)
    for _ in range(2):
        # Sums of whole numbers, rounded up: the same in any order, and never too small.
        added = int((np.ceil(scaled).astype(np.int64) * units).sum())
        scaled = scaled * (total / added)
    return scaled


# Weights of members --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    """The evaluation of a member.

    ``error``: weighted misclassification rate, or weighted mean loss.
    ``weight``: the weight of the member; 0.0 if it is dropped.
    ``factors`` (float64[n] or None): the factors of the rows' weights; None if boosting ends.
    """

    error: float
    weight: float
    is_last: bool
    factors: np.ndarray | None = None

    @property
    def is_kept(self) -> bool:
        """Whether the member is kept."""
        return self.weight > 0.0


def judge_labels(wrong: np.ndarray, weights: RowWeights, n_classes: int, learning_rate: float) -> Verdict:
    """Evaluate a classifier (SAMME: Zhu, Zou, Rosset and Hastie 2009, algorithm 2).

    ``wrong`` (bool[n]): whether each row is misclassified. ``n_classes``: the number of classes with a weight above 0.
    With an error of 0 the weight is 1, and boosting ends. One of ``1 - 1/n_classes`` or more, no better than
    chance: dropped, and boosting ends. Else the weight is ``learning_rate * (log((1 - error) / error) + log(n_classes -
    1))`` and the weights of misclassified rows are multiplied by ``exp(weight)``.
    """
    error = weights.mean(wrong)
    if error == 0.0:
        return Verdict(0.0, 1.0, True)
    if error >= 1.0 - 1.0 / n_classes - _ROUNDING:
        return Verdict(error, 0.0, True)
    weight = _finite(learning_rate * float(log_of((1.0 - error) / error) + log_of(n_classes - 1.0)), learning_rate)
    # Only the ratio matters, and the exponential of a negative number cannot overflow.
    return Verdict(error, weight, False, np.where(wrong, 1.0, exp_of(-weight)))


def judge_numbers(
    predicted: np.ndarray, target: np.ndarray, weights: RowWeights, loss: RegressionLoss, learning_rate: float
) -> Verdict:
    """Evaluate a regressor (AdaBoost.R2: Drucker 1997, "Improving regressors using boosting techniques").

    ``predicted``, ``target`` (float64[n]). ``loss``: the error as a share of the largest one, its square, or
    ``1 - exp(-share)``. Without errors the weight is 1, and boosting ends. A mean loss of 0.5 or more: dropped,
    and boosting ends. Else with ``beta = error / (1 - error)`` the weight is ``learning_rate * log(1 / beta)`` and the
    weight of a row is multiplied by ``beta ** (learning_rate * (1 - its loss))``.
    """
    losses = losses_of(predicted, target, loss)
    error = weights.mean(losses)
    if error == 0.0:
        return Verdict(0.0, 1.0, True)
    if error >= 0.5 - _ROUNDING:
        return Verdict(error, 0.0, True)
    beta = error / (1.0 - error)
    weight = _finite(-learning_rate * float(log_of(beta)), learning_rate)
    return Verdict(error, weight, False, exp_of(-weight * (losses.max() - losses)))


def losses_of(predicted: np.ndarray, target: np.ndarray, loss: RegressionLoss) -> np.ndarray:
    """The loss of each row, float64[n] from 0 to 1."""
    # Of halved numbers: the distance of two finite numbers may be beyond float64.
    off = np.abs(predicted * 0.5 - target * 0.5)
    largest = float(off.max())
    if largest == 0.0:
        return off
    shares: np.ndarray = off / largest
    if loss == "square":
        return shares * shares
    return -expm1_of(-shares) if loss == "exponential" else shares


def _finite(weight: float, learning_rate: float) -> float:
    """A member's weight; one that is not finite or too large is refused."""
    if 1e-300 < weight < 1e300:
        return weight
    raise ParameterError(f"learning_rate={learning_rate!r} gives a member the weight {weight:g}: use one nearer to 1")


# The rounds as a table -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class AdaBoostRound:
    """One round of AdaBoost.

    ``number``: counted from 1.
    ``error``: weighted misclassification rate, or weighted mean loss.
    ``weight``: the weight of the member; 0.0 if it was dropped.
    ``is_kept``, whether the member was kept: the last one is dropped if it is no better than chance.
    ``row_weights`` (float64[n] or None): the weights of the rows for this member, adding up to one; only with
        ``keep_row_weights=True``.
    """

    number: int
    error: float
    weight: float
    is_kept: bool
    row_weights: np.ndarray | None = None


class AdaBoostRounds(Sequence[AdaBoostRound]):
    """All rounds in order; ``print`` writes the table."""

    def __init__(self, rounds: Sequence[AdaBoostRound]) -> None:
        self._rounds = tuple(rounds)

    def __len__(self) -> int:
        return len(self._rounds)

    def __iter__(self) -> Iterator[AdaBoostRound]:
        return iter(self._rounds)

    @overload
    def __getitem__(self, index: int) -> AdaBoostRound: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[AdaBoostRound, ...]: ...

    def __getitem__(self, index: int | slice) -> AdaBoostRound | tuple[AdaBoostRound, ...]:
        return self._rounds[index]

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns for a data frame: ``round``, ``error``, ``weight``, ``is_kept``."""
        return {
            "round": [one.number for one in self],
            "error": [one.error for one in self],
            "weight": [one.weight for one in self],
            "is_kept": [one.is_kept for one in self],
        }

    def __str__(self) -> str:
        columns = [
            TextColumn("round", [str(one.number) for one in self], "right"),
            TextColumn("error", [f"{one.error:.4f}" for one in self], "right"),
            TextColumn("weight", [f"{one.weight:.4f}" if one.is_kept else "dropped" for one in self], "right"),
        ]
        kept = [one.row_weights for one in self if one.row_weights is not None]
        if len(kept) == len(self) and len(kept[0]) <= _MOST_ROWS:
            columns += [
                TextColumn(f"row {row}", [f"{weights[row]:.4f}" for weights in kept], "right")
                for row in range(len(kept[0]))
            ]
        return "\n".join(GAP.join(cells).rstrip() for cells in zip(*map(aligned, columns), strict=True))

    def __repr__(self) -> str:
        return f"<AdaBoostRounds: {len(self)}>"
