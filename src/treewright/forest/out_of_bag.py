"""Out-of-bag predictions of trees. In: leaves of the rows left out. Out: ``Votes``, ``OobCurve``.

    while growing:  tree b votes on its out-of-bag rows                (Ballots.cast, add_votes)
    at the end:     a row's votes, added up and divided by their sum   (mean_votes)
    the curve:      the same after the first 1, 2, 3, ... trees        (votes_after)

Each vote is a whole number of a fixed unit, so the sums do not depend on the order of the trees or on the threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from treewright.core import notices, threads
from treewright.core.elementary import exp_of, log1p_of, log_of
from treewright.core.jit import kernel
from treewright.data.memory import check_fits
from treewright.exceptions import ParameterError, TooLargeError
from treewright.predict.walks import Walk
from treewright.show.spans import GAP, TextColumn, aligned
from treewright.trees.arrays import Tree
from treewright.trees.data import Trees, output_columns

# A vote has 40 binary places relative to the largest possible one; this many trees can vote on a row without overflow.
_BITS = 40
_MOST_TREES = 2**22
_MANY_DRAWS = 2.0  # mean draws per tree of a row with a large weight; without weights it is at most 1
MOST_LINES = 24
ERRORS = {"classification": "misclassification rate", "regression": "mean squared error"}
SCORES = {"classification": "accuracy", "regression": "R2"}


# Votes ---------------------------------------------------------------------------------------------------------------


class Ballots:
    """Collects the out-of-bag votes of the trees of a forest while they are grown.

    ``target`` (int32[n, n_outputs] or float64[n, n_outputs]), regression: the numbers that bound every prediction.
    Classification: only its length is used. ``n_classes``: classes per output; empty for regression. ``n_trees``: the
    number of trees that will vote. ``one_each``, classification: whether a tree gives its whole vote to the most
    frequent class of the leaf, the first of equals.
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

        ``thread``: different for calls at the same time. ``rows`` (int32[m]): the out-of-bag rows of the tree, each
        once. ``leaf_of`` (int32[m]): the row of ``leaf_value`` of the leaf that each of them reached. ``leaf_value``
        (float[n_leaves, n_values]): class counts, output by output; or predictions.
        """
        sums, n_votes = self._of_thread.get(thread) or self._new(thread)
        add_votes(rows, leaf_of, self._in_units(leaf_value.astype(np.float64)), sums, n_votes)

    def _new(self, thread: int) -> tuple[np.ndarray, np.ndarray]:
        """The sums of a thread that collects its first votes."""
        self._of_thread[thread] = np.zeros(self._shape, np.int64), np.zeros(self._shape[0], np.int64)
        return self._of_thread[thread]

    def _in_units(self, value: np.ndarray) -> np.ndarray:
        """int64[n_leaves, n_values]: the predictions of leaves, as whole numbers."""
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


@kernel
def add_votes(rows: np.ndarray, leaf_of: np.ndarray, votes: np.ndarray, sums: np.ndarray, n_votes: np.ndarray) -> None:
    """Add the votes of a tree's leaves to the rows that reached them.

    Parameters
    ----------
    rows : int32[m], leaf_of : int32[m], IN
        Rows, and the leaf that each reached.
    votes : int64[n_leaves, n_values], IN
    sums : int64[n, n_values], n_votes : int64[n]
        Added to.
    """
    n_values = votes.shape[1]
    for at in range(len(rows)):
        row = rows[at]
        n_votes[row] += 1
        for value in range(n_values):
            sums[row, value] += votes[leaf_of[at], value]


class Scale(NamedTuple):
    """The range of votes: ``lowest`` and ``highest``, float64[n_values]."""

    lowest: np.ndarray
    highest: np.ndarray

    @property
    def centre(self) -> np.ndarray:
        """float64[n_values]: subtracted from predictions (not from probabilities), so that large ones stay exact."""
        centre: np.ndarray = self.lowest / 2 + self.highest / 2
        return centre

    @property
    def exponent(self) -> np.ndarray:
        """int64[n_values]: votes are multiples of ``2**-exponent``."""
        reach = np.maximum(self.highest - self.centre, self.centre - self.lowest)
        return np.where(reach > 0, _BITS - np.frexp(reach)[1].astype(np.int64), 0)


@dataclass(frozen=True, eq=False)
class Votes:
    """Sums of the trees' predictions for their out-of-bag rows.

    ``sums`` (int64[n, n_values]), in units of ``scale``: class probabilities, output by output; or predictions minus
        its ``centre``.
    ``n_votes`` (int64[n]): the number of trees for which the row is out of bag.
    ``n_classes``: classes per output; empty for regression.
    """

    sums: np.ndarray
    n_votes: np.ndarray
    n_classes: tuple[int, ...]
    scale: Scale

    def plus(self, other: Votes) -> Votes:
        """The sum of the votes of two parts of a forest; a ParameterError if rows, classes or targets differ."""
        is_same = self.sums.shape == other.sums.shape and self.n_classes == other.n_classes
        if not is_same or not all(map(np.array_equal, self.scale, other.scale)):
            raise ParameterError(
                "out-of-bag votes on different rows or targets cannot be added up: with warm_start=True give fit "
                "the same table again, or set warm_start=False"
            )
        return Votes(self.sums + other.sums, self.n_votes + other.n_votes, self.n_classes, self.scale)


# Their means ---------------------------------------------------------------------------------------------------------


def mean_votes(votes: Votes, draws: np.ndarray | None = None) -> np.ndarray:
    """The mean prediction of the trees for which a row is out of bag.

    ``draws`` (float64[n], > 0): how often a tree draws each row on average (``expected_draws``), for the warning; by
    default once. Returns float64[n, n_values]: class probabilities that sum to one for each output, or predictions; nan
    for a row that every tree drew. Warns: every tree drew some of the rows.
    """
    n_votes = votes.n_votes[:, None]
    with np.errstate(invalid="ignore"):
        if votes.n_classes:
            # Divided by their own sum, so that it is exactly one.
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
            f"{int(is_without.sum())} of {len(means)} rows were sampled for every tree, so they have no out-of-bag "
            f"prediction: it is nan. {_remedy(draws, float(draws[is_without].mean()))}"
        )
    return means


def _remedy(draws: np.ndarray, of_those_without: float) -> str:
    """The advice for rows that every tree drew; more trees do not help if their weights are large."""
    if of_those_without > _MANY_DRAWS:
        remedy = (
            f"Their weights are large: a tree draws such a row {of_those_without:.3g} times on average, so one tree in "
            f"{exp_of(min(of_those_without, 700.0)):.3g} leaves it out. Lower max_samples"
        )
        if round(draws.sum()) > len(draws):  # whole numbers: each row counts as several
            remedy += "; or, if they are not numbers of rows, scale them, as in sample_weight / sample_weight.mean()"
        return remedy
    n_trees = enough_trees(len(draws), float(draws.max()))
    return f"Fit more trees (about {n_trees} leave every row out at least once), or lower max_samples"


def expected_draws(n_rows: int, n_draws: int, weights: np.ndarray | None) -> np.ndarray:
    """How often a tree draws each row on average.

    ``weights`` (float64[n_rows], > 0, or None). Returns float64[n_rows].
    """
    if weights is None:
        return np.full(n_rows, n_draws / n_rows)
    shares = weights / weights.max()  # their sum stays in range
    return n_draws * (shares / shares.sum())


def enough_trees(n_rows: int, draws: float = 1.0) -> int:
    """The number of trees for which every row is expected to be out of bag at least once.

    ``draws``, how often a tree draws a row on average: it leaves one row in ``e**draws`` out.

    Examples
    --------
    >>> enough_trees(100), enough_trees(100, draws=0.1)
    (21, 4)
    """
    chance = exp_of(-min(draws, 30.0))  # beyond that, no forest has enough trees
    return math.ceil(log_of(100 * n_rows) / -log1p_of(-chance))


# The curve -----------------------------------------------------------------------------------------------------------


def votes_after(
    trees: Trees | Sequence[Tree], cells: np.ndarray, target: np.ndarray, left_out: Callable[[int], np.ndarray],
    counts: Sequence[int], n_classes: tuple[int, ...], *, one_each: bool, n_threads: int,
) -> Iterator[Votes]:  # fmt: skip
    """Out-of-bag votes of the first trees of a forest, for several numbers of trees.

    ``cells`` (uint8[n, stride], or float[n, p]), the training rows: bins for packed trees, else encoded cells.
    ``target`` (int32[n, n_outputs] or float64[n, n_outputs]). ``left_out``: from the number of a tree to its out-of-bag
    rows, int32[m]. ``n_classes``, ``one_each``: as for ``out_of_bag.Ballots``. Yields Votes: the last, of all trees,
    are those of the fit.
    """
    ballots = Ballots(target, n_classes, len(trees), n_threads, one_each=one_each)
    walk, before = Walk(trees), 0
    for count in counts:

        def work(task: int, thread: int, first: int = before) -> None:
            tree = first + task
            rows = left_out(tree)
            leaves, values = walk.leaves(tree, cells, rows)
            # The table of packed trees has the leaves of all trees: only the rows of reached leaves are used.
            used, place = np.unique(leaves, return_inverse=True)
            ballots.cast(thread, rows, place.astype(np.int32), values[used])

        threads.run_each(work, count - before, n_threads)
        before = count
        yield ballots.total()


def counts_to_show(n: int, points: int) -> list[int]:
    """At most ``points`` numbers of trees from 1 to ``n``, both included: first every number, then at equal ratios."""
    if n <= points:
        return list(range(1, n + 1))
    return sorted({int(count) for count in np.geomspace(1, n, points).round()} | {n})


@dataclass(frozen=True, eq=False, repr=False)
class OobCurve:
    """The out-of-bag error of the first trees of a forest, by their number.

    Attributes
    ----------
    task : {"classification", "regression"}
    n_trees : int64[k], ascending
        The last is the number of trees of the forest.
    error : float64[k]
        Misclassification rate (a row with several outputs is wrong if any is), or mean squared error; inf if it is
        beyond float64, nan if no row is out of bag.
    score : float64[k]
        As ``score`` and ``oob_score_``: accuracy, or R2.
    n_judged : int64[k]
        Rows that are out of bag for at least one of the trees; only these are scored.
    n_rows : int
        The number of training rows.

    Examples
    --------
    >>> print(OobCurve("classification", np.array([1, 2]), np.array([0.25, 0.125]), np.array([0.75, 0.875]),
    ...                np.array([4, 8]), 9))
    out of bag: misclassification rate, 9 training rows
    trees  error  accuracy  rows scored
        1  0.250     0.750            4
        2  0.125     0.875            8
    """

    task: str
    n_trees: np.ndarray
    error: np.ndarray
    score: np.ndarray
    n_judged: np.ndarray
    n_rows: int

    def __post_init__(self) -> None:
        for array in (self.n_trees, self.error, self.score, self.n_judged):
            array.flags.writeable = False

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns for a data frame, a row per number of trees."""
        return {
            "n_trees": self.n_trees.tolist(),
            "error": self.error.tolist(),
            "score": self.score.tolist(),
            "n_judged": self.n_judged.tolist(),
        }

    def plot(self, **options: Any) -> Any:
        """Draw the error over the number of trees, a matplotlib figure; needs the extra ``plot``.

        Parameters
        ----------
        **options
            As ``treewright.show.figures.curves.error_curve``.
        """
        from treewright.show.figures.curves import error_curve

        known = np.isfinite(self.error)
        given: dict[str, Any] = {
            "x": self.n_trees[known].astype(np.float64),
            "test": self.error[known],
            "xlabel": "trees",
            "ylabel": ERRORS[self.task],
            "test_label": "out-of-bag rows",
        }
        return error_curve(**(given | options))

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        shown = np.unique(np.linspace(0, len(self.n_trees) - 1, MOST_LINES).round().astype(int)).tolist()
        columns = [
            TextColumn("trees", [str(self.n_trees[at]) for at in shown], "right"),
            TextColumn("error", [_text(self.error[at]) for at in shown], "point"),
            TextColumn(SCORES[self.task], [_text(self.score[at]) for at in shown], "point"),
            TextColumn("rows scored", [str(self.n_judged[at]) for at in shown], "right"),
        ]
        lines = [f"out of bag: {ERRORS[self.task]}, {self.n_rows} training rows"]
        lines += [GAP.join(cells).rstrip() for cells in zip(*map(aligned, columns), strict=True)]
        if len(shown) < len(self.n_trees):
            lines.append(f"{len(self.n_trees) - len(shown)} more: to_dict() has every number of trees")
        return "\n".join(lines)


def _text(number: float) -> str:
    """A number with three decimals, or three digits if it is large or small."""
    if np.isnan(number):
        return "-"
    return f"{number:.3f}" if number == 0 or 1e-2 <= abs(number) < 1e4 else f"{number:.3g}"
