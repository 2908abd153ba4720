"""AdaBoost: weights of rows and members, round by round. In: what members got wrong. Out: weights, ``AdaBoostRounds``.

    weights = those of the rows
    for each round: fit a member on the weighted rows, predict them
                    error = the weighted share of wrong rows, or the weighted mean loss
                    the member's weight = learning_rate * log((1 - error) / error), and more for several classes
                    rows that it got wrong weigh exp(its weight) times as much

Weights of rows are whole numbers that add up to about 2**52 in each round, so their sums do not depend on the order of
the rows, and a row of weight k is k equal rows to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np

from treewright.core.elementary import exp_of, expm1_of, log_of
from treewright.exceptions import ParameterError
from treewright.explain.table import GAP, TextColumn, aligned
from treewright.grow.objective import are_whole

RegressionLoss = Literal["linear", "square", "exponential"]
_FINE = 2**52
_COARSE = 2**31  # below this sum, trees take whole weights for numbers of rows (grow.statistics)
_MOST_COARSE_ROWS = 2**20  # with more rows such weights would be too coarse
_ROUNDING = 1e-12  # an error this near to chance is chance
_MOST_ROWS = 12  # of a table whose weights are printed


# Weights of rows -----------------------------------------------------------------------------------------------------


class RowWeights:
    """What each row weighs in one round; it never changes.

    Parameters
    ----------
    own : float64[n], > 0, or None
        Weights before the first round; whole numbers of a moderate sum are numbers of rows. None: one for every row.
        A factor that they have in common is not taken out (k for each row is k copies of the table, to the last bit),
        but it makes the steps of a row's weight coarser.
    n : int >= 1

    Attributes
    ----------
    units : int64[n]
        How many rows a row stands for.
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
        # No share falls below 2**-52: a row could not come back from 0, and no float would tell it from the others.
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
        """Weights as trees take them that are blind to a common factor.

        Returns
        -------
        weights : float64[n], > 0
            Whole numbers of a moderate sum, where that is fine enough: then trees treat them exactly.
        unit : float
            Times this, they add up to the number of rows.
        """
        if self._n_units > _MOST_COARSE_ROWS:
            return self.as_rows, 1.0
        room = _COARSE - 1 - 2 * self._n_units
        coarse = np.maximum(np.floor(_scaled(self._fine / self._fine.max(), self.units, self._n_units, room)), 1.0)
        weights = self.units * coarse
        return weights, self._n_units / float(weights.sum())

    def mean(self, losses: np.ndarray) -> float:
        """Weighted mean.

        Parameters
        ----------
        losses : bool[n], or float64[n] from 0 to 1
        """
        if losses.dtype == bool:
            return int(self._whole[losses].sum()) / self._total
        each = np.rint(np.floor(self._fine) * losses).astype(np.int64)
        return int((each * self.units).sum()) / self._total

    def times(self, factors: np.ndarray) -> RowWeights:
        """The weights of the next round.

        Parameters
        ----------
        factors : float64[n], finite, >= 0, not all 0
            By which the weights change; a common factor of them changes nothing.

        Examples
        --------
        >>> RowWeights(None, 4).times(np.array([3.0, 1.0, 1.0, 1.0])).shares.round(3).tolist()
        [0.5, 0.167, 0.167, 0.167]
        """
        made = object.__new__(RowWeights)
        made.units, made._n_units = self.units, self._n_units
        changed = self._fine * (factors / factors.max())
        made._set(changed / changed.max())
        return made


def _scaled(relative: np.ndarray, units: np.ndarray, n_units: int, total: int) -> np.ndarray:
    """Weights of units, the largest 1, times what makes them add up to a little less than ``total`` over all rows."""
    scaled = relative * (total / n_units)
    for _ in range(2):
        # Whole numbers are added up, rounded upwards: the sum is the same in any order, and never too small.
        added = int((np.ceil(scaled).astype(np.int64) * units).sum())
        scaled = scaled * (total / added)
    return scaled


# Weights of members --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    """What becomes of a member.

    Attributes
    ----------
    error : float
        Weighted share of wrong rows, or weighted mean loss.
    weight : float
        Of the member; 0.0 where it is dropped.
    is_last : bool
        Whether boosting ends here.
    factors : float64[n] or None
        How the weights of the rows change; None where boosting ends.
    """

    error: float
    weight: float
    is_last: bool
    factors: np.ndarray | None = None

    @property
    def is_kept(self) -> bool:
        """Whether the member stays."""
        return self.weight > 0.0


def judge_labels(wrong: np.ndarray, weights: RowWeights, n_classes: int, learning_rate: float) -> Verdict:
    """Judge a classifier (SAMME: Zhu, Zou, Rosset and Hastie 2009, algorithm 2).

    Parameters
    ----------
    wrong : bool[n]
        Which rows it gets wrong.
    weights : RowWeights
    n_classes : int >= 1
        Classes that have any weight.
    learning_rate : float, > 0

    Returns
    -------
    Verdict
        An error of 0: weight 1, and boosting ends. One of ``1 - 1/n_classes`` or more, no better than chance: dropped,
        and boosting ends. Else the weight is ``learning_rate * (log((1 - error) / error) + log(n_classes - 1))`` and
        wrong rows weigh ``exp(weight)`` times as much.
    """
    error = weights.mean(wrong)
    if error == 0.0:
        return Verdict(0.0, 1.0, True)
    if error >= 1.0 - 1.0 / n_classes - _ROUNDING:
        return Verdict(error, 0.0, True)
    weight = _finite(learning_rate * float(log_of((1.0 - error) / error) + log_of(n_classes - 1.0)), learning_rate)
    # Only the ratio counts, and the exponential of a negative number cannot overflow.
    return Verdict(error, weight, False, np.where(wrong, 1.0, exp_of(-weight)))


def judge_numbers(
    predicted: np.ndarray, target: np.ndarray, weights: RowWeights, loss: RegressionLoss, learning_rate: float
) -> Verdict:
    """Judge a regressor (AdaBoost.R2: Drucker 1997, "Improving regressors using boosting techniques").

    Parameters
    ----------
    predicted, target : float64[n]
    weights : RowWeights
    loss : {"linear", "square", "exponential"}
        Of the distance as a share of the largest one: itself, its square, or ``1 - exp(-share)``.
    learning_rate : float, > 0

    Returns
    -------
    Verdict
        No row is off: weight 1, and boosting ends. A mean loss of 0.5 or more: dropped, and boosting ends. Else with
        ``beta = error / (1 - error)`` the weight is ``learning_rate * log(1 / beta)`` and a row weighs
        ``beta ** (learning_rate * (1 - its loss))`` times as much.
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
    """What each row loses, float64[n] from 0 to 1.

    Examples
    --------
    >>> losses_of(np.array([0.0, 1.0, 4.0]), np.zeros(3), "square").tolist()
    [0.0, 0.0625, 1.0]
    """
    # Halves: the distance of two finite numbers may be beyond float64.
    off = np.abs(predicted * 0.5 - target * 0.5)
    largest = float(off.max())
    if largest == 0.0:
        return off
    shares: np.ndarray = off / largest
    if loss == "square":
        return shares * shares
    return -expm1_of(-shares) if loss == "exponential" else shares


def _finite(weight: float, learning_rate: float) -> float:
    """A member's weight that can be counted with."""
    if 1e-300 < weight < 1e300:
        return weight
    raise ParameterError(f"learning_rate={learning_rate!r} makes a member weigh {weight:g}: use one nearer to 1")


# The rounds as a table -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class AdaBoostRound:
    """One round.

    Attributes
    ----------
    number : int
        Counted from 1.
    error : float
        Weighted share of the wrong rows, or weighted mean loss.
    weight : float
        Of the member; 0.0 where it was dropped.
    is_kept : bool
        Whether the member stayed: the last one is dropped where it is no better than chance.
    row_weights : float64[n] or None
        What the rows weighed for this member, adding up to one; only with ``keep_row_weights=True``.
    """

    number: int
    error: float
    weight: float
    is_kept: bool
    row_weights: np.ndarray | None = None


class AdaBoostRounds(Sequence[AdaBoostRound]):
    """All rounds in order; ``print`` writes the table.

    Parameters
    ----------
    rounds : sequence of AdaBoostRound
    """

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
