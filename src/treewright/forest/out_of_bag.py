"""What trees say of rows that they never saw. In: leaves of the rows left out. Out: ``Votes``.

Callers: forest.grower, estimators.

Each tree votes on the rows left out of its draw as soon as it is grown. Votes are whole numbers of a fixed unit, so
their sums do not depend on which tree came first, nor on which thread it came from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treewright.core import notices
from treewright.core.jit import kernel
from treewright.data.memory import check_fits
from treewright.exceptions import ParameterError, TooLargeError

# A vote has 40 bits behind the point of the largest possible one; so many trees can vote on a row without overflow.
_BITS = 40
_MOST_TREES = 2**22
_MANY_DRAWS = 2.0  # a row that is drawn so often by a tree has a large weight: without weights it is once at most


@kernel
def add_votes(rows: np.ndarray, leaf_of: np.ndarray, votes: np.ndarray, sums: np.ndarray, n_votes: np.ndarray) -> None:
    """Add the votes of a tree's leaves to the rows that came there.

    Parameters
    ----------
    rows : int32[m], leaf_of : int32[m]
        Rows and the leaf each ended in.
    votes : int64[n_leaves, n_values]
    sums : int64[n, n_values], n_votes : int64[n]
        Written.
    """
    n_values = votes.shape[1]
    for at in range(len(rows)):
        row = rows[at]
        n_votes[row] += 1
        for value in range(n_values):
            sums[row, value] += votes[leaf_of[at], value]


class Scale(NamedTuple):
    """Between what numbers votes can lie: ``lowest`` and ``highest``, float64[n_values]."""

    lowest: np.ndarray
    highest: np.ndarray

    @property
    def centre(self) -> np.ndarray:
        """float64[n_values]: what is subtracted from predictions (not from shares), so that large ones lose nothing."""
        middle: np.ndarray = self.lowest / 2 + self.highest / 2
        return middle

    @property
    def exponent(self) -> np.ndarray:
        """int64[n_values]: votes are multiples of ``2**-exponent``."""
        reach = np.maximum(self.highest - self.centre, self.centre - self.lowest)
        return np.where(reach > 0, _BITS - np.frexp(reach)[1].astype(np.int64), 0)


@dataclass(frozen=True, eq=False)
class Votes:
    """Sums of what trees said of the rows they never saw.

    Attributes
    ----------
    sums : int64[n, n_values]
        In units of ``scale``: class shares, output by output; or predictions less its ``centre``.
    n_votes : int64[n]
        Trees that left the row out.
    n_classes : tuple of int
        Classes per output; empty for regression.
    scale : Scale
    """

    sums: np.ndarray
    n_votes: np.ndarray
    n_classes: tuple[int, ...]
    scale: Scale

    def plus(self, other: Votes) -> Votes:
        """The votes of two parts of one forest together.

        Raises
        ------
        ParameterError
            They are votes on other rows, classes or targets.
        """
        is_same = self.sums.shape == other.sums.shape and self.n_classes == other.n_classes
        if not is_same or not all(map(np.array_equal, self.scale, other.scale)):
            raise ParameterError(
                "out-of-bag votes on other rows or another target cannot be added up: with warm_start=True give fit "
                "the same table again, or set warm_start=False"
            )
        return Votes(self.sums + other.sums, self.n_votes + other.n_votes, self.n_classes, self.scale)


class Ballots:
    """Where the trees of a forest cast their votes while they are grown.

    Parameters
    ----------
    target : int32[n, n_outputs] or float64[n, n_outputs]
        Regression: the numbers that bound every prediction. Classification: only its length counts.
    n_classes : tuple of int
        Classes per output; empty for regression.
    n_trees : int
        Trees that will vote.
    n_threads : int >= 1
    one_each : bool
        Classification: whether a tree gives its whole vote to the most frequent class of the leaf, the first of equals.

    Raises
    ------
    TooLargeError
        The sums would not fit in memory, or could overflow.
    """

    def __init__(
        self, target: np.ndarray, n_classes: tuple[int, ...], n_trees: int, n_threads: int, *, one_each: bool = False
    ) -> None:
        n_values = sum(n_classes) if n_classes else target.shape[1]
        if n_trees > _MOST_TREES:
            raise TooLargeError(f"{n_trees} trees: at most {_MOST_TREES} can vote out of bag; set oob_score=False")
        check_fits(
            n_threads * 8 * len(target) * (n_values + 1),
            f"out-of-bag votes on {len(target)} rows",
            "set oob_score=False, or use fewer threads or rows",
        )
        self._n_classes, self._shape, self._one_each = n_classes, (len(target), n_values), one_each
        if n_classes:
            self._scale = Scale(np.zeros(n_values), np.ones(n_values))
        else:
            self._scale = Scale(target.min(axis=0), target.max(axis=0))
        self._of_thread: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def cast(self, thread: int, rows: np.ndarray, leaf_of: np.ndarray, leaf_value: np.ndarray) -> None:
        """Add the votes of one tree.

        Parameters
        ----------
        thread : int
            No two calls at the same time have the same.
        rows : int32[m]
            Rows that the tree never saw, each once.
        leaf_of : int32[m]
            Row of ``leaf_value`` that each of them came to.
        leaf_value : float[n_leaves, n_values]
            Class counts, output by output; or predictions.
        """
        sums, n_votes = self._of_thread.get(thread) or self._new(thread)
        add_votes(rows, leaf_of, self._in_units(leaf_value.astype(np.float64)), sums, n_votes)

    def _new(self, thread: int) -> tuple[np.ndarray, np.ndarray]:
        """Sums of a thread that casts its first votes."""
        self._of_thread[thread] = np.zeros(self._shape, np.int64), np.zeros(self._shape[0], np.int64)
        return self._of_thread[thread]

    def _in_units(self, value: np.ndarray) -> np.ndarray:
        """int64[n_leaves, n_values]: what leaves say, as whole numbers."""
        if self._n_classes:
            for columns in output_columns(self._n_classes):
                if self._one_each:
                    most = value[:, columns].argmax(axis=1)
                    value[:, columns] = np.arange(value[:, columns].shape[1]) == most[:, None]
                value[:, columns] /= value[:, columns].sum(axis=1, keepdims=True)
        else:
            value -= self._scale.centre
        return np.rint(np.ldexp(value, self._scale.exponent)).astype(np.int64)

    def total(self) -> Votes:
        """The votes of all threads."""
        sums, n_votes = np.zeros(self._shape, np.int64), np.zeros(self._shape[0], np.int64)
        for of_thread, n_of_thread in self._of_thread.values():
            sums += of_thread
            n_votes += n_of_thread
        return Votes(sums, n_votes, self._n_classes, self._scale)


def output_columns(n_classes: tuple[int, ...]) -> list[slice]:
    """Where each output's classes stand among the values.

    Examples
    --------
    >>> output_columns((2, 3))
    [slice(0, 2, None), slice(2, 5, None)]
    """
    ends = np.cumsum(n_classes).tolist()
    return [slice(end - k, end) for end, k in zip(ends, n_classes, strict=True)]


def expected_draws(n_rows: int, n_draws: int, weights: np.ndarray | None) -> np.ndarray:
    """How often a tree draws each row on average.

    Parameters
    ----------
    n_rows, n_draws : int, >= 1
    weights : float64[n_rows], > 0, or None

    Returns
    -------
    float64[n_rows]

    Examples
    --------
    >>> expected_draws(2, 8, np.array([1.0, 3.0])).tolist()
    [2.0, 6.0]
    """
    if weights is None:
        return np.full(n_rows, n_draws / n_rows)
    shares = weights / weights.max()  # their sum stays in range
    return n_draws * (shares / shares.sum())


def mean_votes(votes: Votes, draws: np.ndarray | None = None) -> np.ndarray:
    """The mean of what the trees said that never saw the row.

    Parameters
    ----------
    votes : Votes
    draws : float64[n], > 0, optional
        How often a tree draws each row on average (``expected_draws``), for the warning; once by default.

    Returns
    -------
    float64[n, n_values]
        Class shares that sum to one for each output, or predictions; nan for a row that every tree drew.

    Warns
    -----
    DataWarning
        Every tree drew some of the rows.

    Examples
    --------
    >>> ballots = Ballots(np.zeros((3, 1), np.int32), (2,), n_trees=2, n_threads=1)
    >>> ballots.cast(0, np.array([0, 2], np.int32), np.array([0, 0], np.int32), np.array([[1.0, 3.0]]))
    >>> ballots.cast(0, np.array([1, 2], np.int32), np.array([0, 0], np.int32), np.array([[2.0, 0.0]]))
    >>> mean_votes(ballots.total()).tolist()
    [[0.25, 0.75], [1.0, 0.0], [0.625, 0.375]]
    """
    n_votes = votes.n_votes[:, None]
    with np.errstate(invalid="ignore"):
        if votes.n_classes:
            # Divided by their own sum, so that it is one to the last bit.
            of_outputs = [votes.sums[:, columns] for columns in output_columns(votes.n_classes)]
            means = np.concatenate([sums / sums.sum(axis=1, keepdims=True) for sums in of_outputs], axis=1)
        else:
            scale = votes.scale
            means = scale.centre + np.ldexp(votes.sums / n_votes, -scale.exponent)
            # The rounding of votes must not leave the range of the target.
            means = np.clip(means, scale.lowest, scale.highest)
    is_without = votes.n_votes == 0
    if is_without.any():
        draws = np.ones(len(means)) if draws is None else draws
        notices.warn(
            f"{int(is_without.sum())} of {len(means)} rows were drawn by every tree, so no tree can say anything of "
            f"them out of bag: there they are nan. {_remedy(draws, float(draws[is_without].mean()))}"
        )
    return means


def _remedy(draws: np.ndarray, of_those_without: float) -> str:
    """What helps rows that every tree drew; more trees do not where their weights are large."""
    if of_those_without > _MANY_DRAWS:
        remedy = (
            f"Their weights are large: a tree draws such a row {of_those_without:.3g} times on average, so one tree in "
            f"{math.exp(min(of_those_without, 700.0)):.3g} leaves it out. Lower max_samples"
        )
        if round(draws.sum()) > len(draws):  # whole numbers: each row counts as several
            remedy += "; or, if they are no numbers of rows, scale them, as in sample_weight / sample_weight.mean()"
        return remedy
    n_trees = enough_trees(len(draws), float(draws.max()))
    return f"Grow more trees (about {n_trees} leave every row out at least once), or lower max_samples"


def enough_trees(n_rows: int, draws: float = 1.0) -> int:
    """Trees after which a row that none of them left out is not to be expected.

    Parameters
    ----------
    n_rows : int, >= 1
    draws : float, > 0
        How often a tree draws a row on average: it leaves one row in ``e**draws`` out.

    Examples
    --------
    >>> enough_trees(100), enough_trees(100, draws=0.1)
    (21, 4)
    """
    chance = math.exp(-min(draws, 30.0))  # beyond, no forest has so many trees
    return math.ceil(math.log(100 * n_rows) / -math.log1p(-chance))
