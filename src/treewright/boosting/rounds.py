"""The rounds of boosting. In: binned rows, losses, settings. Out: ``Boosted``.

scores = base                                              (the best constants of the losses)
for each round:
    gradients, hessians of the losses at the scores        (_Rounds._take_gradients)
    rows of the round                                      (sampling; all rows by default)
    for each score: a tree on them                         (grow.gradient)
                    its leaves' values, renewed if the loss needs it, times the learning rate
                    are added to the scores
    evaluate; end if nothing improved for a while          (_Watch.note, is_over)

Several members are several such loops in parallel, which end together (``grow_members``).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import accumulate
from typing import Any, Literal, Protocol, cast

import numpy as np

from treewright.boosting.best_constants import weighted_mean
from treewright.boosting.growth import KeptTree, packed_trees
from treewright.boosting.losses import Loss
from treewright.boosting.sampling import (
    GradientWeights,
    drawn_by_gradient,
    drawn_by_variance,
    drawn_uniformly,
    keys_of,
    total_of,
)
from treewright.core import progress, threads
from treewright.core.random import mixed
from treewright.data.bin_rows import SparseCodes
from treewright.data.bins import Bins
from treewright.data.schema import Schema
from treewright.exceptions import ParameterError
from treewright.grow.gradient.grower import GradientGrower, GradientTree
from treewright.grow.gradient.layout import Bundles
from treewright.grow.gradient.leaves import add_to_scores
from treewright.grow.settings import GradientSettings
from treewright.predict.walks import leaf_rows_of_bins
from treewright.trees.data import Boosting
from treewright.trees.packed import PackedTrees, join, take

_BLOCK_ROWS = 1 << 15
_SCORED_ROWS = 1 << 14
MOST_RATE = 0.8
ROUNDS_OF_LOOK, MEMBERS_OF_LOOK = 20, 2  # whether a group is worth its time
LARGEST_LOSS = 1e200  # the largest loss whose sums are exact
ROWS, TREE = 0, 1  # the purposes of seeds
Sampling = Literal["uniform", "gradient", "minimal_variance"]


# What goes in --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class BoostTable:
    """The bins and the schema of all rows.

    ``ordered`` (bool[p]), nominal columns whose bins are in the order of a target statistic: tests are first runs of
    them.
    """

    bins: Bins
    schema: Schema
    ordered: np.ndarray


@dataclass(frozen=True, eq=False)
class BoostRows:
    """Rows with their targets and weights, for the rounds.

    ``codes`` (uint8[n, stride]): bins (``data.bin_rows``).
    ``target`` (float64[n, n_outputs] or int32[n, n_outputs]): numbers, or class codes.
    ``sample_weights`` (float64[n] or None), above 0: weights without class weights; whole numbers are numbers of rows,
        but for rounds that sample rows: these sample a row once, so that each copy has to be a row
        (``learn.held_out.rows_one_by_one``).
    ``of_classes`` (float64[n] or None), above 0: the class weights of the rows, which are factors of gradients, not
        numbers of rows.
    ``names`` (uint64[n] or None), the name of each row, by which it is sampled; it depends on the row's content. None:
        its number.
    """

    codes: np.ndarray
    target: np.ndarray
    sample_weights: np.ndarray | None = None
    of_classes: np.ndarray | None = None
    names: np.ndarray | None = None

    def take(self, rows: np.ndarray | slice) -> BoostRows:
        """Some of the rows: bool[n], int[m] or a range of them."""
        sample_weights, of_classes, names = (
            None if each is None else each[rows] for each in (self.sample_weights, self.of_classes, self.names)
        )
        return BoostRows(self.codes[rows], self.target[rows], sample_weights, of_classes, names)

    def keys(self, seed: int) -> np.ndarray:
        """uint64[n]: the keys by which rows are sampled in a round with this seed."""
        return keys_of(np.arange(len(self.target), dtype=np.uint64) if self.names is None else self.names, seed)

    @cached_property
    def weights(self) -> np.ndarray | None:
        """float64[n] or None: the product of both weights of each row."""
        if self.sample_weights is None or self.of_classes is None:
            return self.of_classes if self.sample_weights is None else self.sample_weights
        return np.multiply(self.sample_weights, self.of_classes)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The rows of the evaluation, and the rule of early stopping.

    ``rows``, held-out rows; None: the training rows are evaluated.
    ``score``: from the scores float64[n_scores, n] of these rows to a number to be minimised; None for the loss.
    ``patience`` (>= 1, or None), rounds without a better value before boosting ends; None: no early stopping.
    ``tolerance``: a value must be lower by more than this to count as better.
    """

    rows: BoostRows | None = None
    score: Callable[[np.ndarray], float] | None = None
    patience: int | None = None
    tolerance: float = 0.0


@dataclass(frozen=True)
class BoostSettings:
    """All settings of the trees, and the number of threads, which does not change them.

    Attributes
    ----------
    losses : tuple of Loss
        One per output.
    tree : GradientSettings
        The settings of every tree; the rounds set its ``seed``.
    n_rounds : int >= 1
        The total number of rounds, including those of ``start``.
    learning_rate : float, above 0 up to 1
    doubles_after : int or None
        The rate doubles whenever so many rounds have passed, up to ``MOST_RATE``. None: it stays.
    subsample : float, above 0 up to 1
        Share of the rows sampled for each round, without replacement.
    sampling : {"uniform", "gradient", "minimal_variance"}
        Rows are sampled uniformly; or all rows of large gradients and some of the others, with larger weights; or in
        proportion to gradient and hessian, with weights inverse to the probability.
    top_rate, other_rate : float
        For ``sampling="gradient"``: the share of rows with the largest gradients, and the share of all rows sampled
        from the others.
    seed : int
    n_threads : int >= 1
    evaluation : Evaluation or None
        What is evaluated after each round, for the history; None: nothing, which takes no time.
    callbacks : sequence of callables
        Each is called after each round with a ``Round``; one that returns True ends boosting.
    """

    losses: tuple[Loss, ...]
    tree: GradientSettings = field(default_factory=GradientSettings)
    n_rounds: int = 100
    learning_rate: float = 0.1
    doubles_after: int | None = None
    subsample: float = 1.0
    sampling: Sampling = "uniform"
    top_rate: float = 0.2
    other_rate: float = 0.1
    seed: int = 0
    n_threads: int = 1
    evaluation: Evaluation | None = None
    callbacks: Sequence[Callable[[Round], bool | None]] = ()

    def rate_of(self, number: int) -> float:
        """The learning rate of a round, counted from 1."""
        if self.doubles_after is None:
            return self.learning_rate
        return min(self.learning_rate * 2.0 ** ((number - 1) // self.doubles_after), max(self.learning_rate, MOST_RATE))


# What comes out ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Boosted:
    """The result of the rounds.

    ``trees``: those of every round; with ``Evaluation.patience``, of the rounds up to the best one.
    ``members``: rounds of each member; empty without members.
    """

    trees: PackedTrees
    boosting: Boosting
    history: History
    members: tuple[int, ...] = ()


@dataclass(frozen=True)
class Round:
    """The argument of callbacks after each round.

    Attributes
    ----------
    number : int
        Counted from 1.
    n_rounds : int
        The total number of rounds, if nothing ends boosting before.
    train, validation : float or None
        The values on the training rows and on the held-out rows; None if not evaluated.
    best : int
        The round with the best value so far; this one if nothing is evaluated.
    seconds, seconds_left : float
        Seconds since the start, and for the remaining rounds at this pace.
    scored : bool
        Whether the values are minus a score, not the loss.
    """

    number: int
    n_rounds: int
    train: float | None
    validation: float | None
    best: int
    seconds: float
    seconds_left: float
    scored: bool = False

    def __str__(self) -> str:
        """The round in a few words.

        Examples
        --------
        >>> print(Round(3, 100, 0.25, 0.3125, 2, 0.5, 16.2))
        round 3, loss 0.25, held out 0.3125 (best: 2), 16 s left
        """
        return f"{self.words()}, {self.seconds_left:.0f} s left"

    def words(self) -> str:
        """The round for a progress bar, which shows the time itself."""
        best = "" if self.validation is None else f" (best: {self.best})"
        return f"round {self.number}{_evaluated(self.train, self.validation, self.scored)}{best}"


@dataclass(eq=False)
class History:
    """The values of all rounds.

    Attributes
    ----------
    train, validation : list of float
        A value per round; the first is that of the round before the new ones: 0, before any tree, or the last round of
        ``start``. Empty if nothing was evaluated.
    best : int
        The round with the lowest value of ``validation``, or else of ``train``; the last one if nothing was evaluated.
    gained_out_of_bag : list of float
        The decrease of the loss of out-of-bag rows by each round on sampled rows; empty if all rows are used, or the
        loss has no values.
    stages : dict of str to float
        Seconds spent in each stage: ``gradients``, ``histograms`` (with all work in small nodes), ``search``,
        ``partition``, ``update``, ``evaluation``.
    last, n_rounds : int
        The last round; the number of rounds requested.
    scored : bool
        Whether values are minus a score, not the loss.
    """

    train: list[float] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)
    best: int = 0
    gained_out_of_bag: list[float] = field(default_factory=list)
    stages: dict[str, float] = field(default_factory=dict)
    last: int = 0
    n_rounds: int = 0
    scored: bool = False

    def __str__(self) -> str:
        """The history in a few words, for the last line of a progress bar.

        Examples
        --------
        >>> print(History([0.7, 0.5, 0.4], [0.7, 0.6, 0.65], 1, last=2, n_rounds=9))
        boosting stopped after round 2 of 9, loss 0.4, held out 0.65, best in round 1: 0.6
        """
        is_whole = self.last >= self.n_rounds
        end = f"grew {self.n_rounds} rounds" if is_whole else f"stopped after round {self.last} of {self.n_rounds}"
        train, validation = (values[-1] if values else None for values in (self.train, self.validation))
        words = f"boosting {end}{_evaluated(train, validation, self.scored)}"
        if validation is None:
            return words
        least = min(self.validation)
        return f"{words}, best in round {self.best}: {-least if self.scored else least:.4g}"


def _evaluated(train: float | None, validation: float | None, scored: bool) -> str:
    """The evaluated values, each after a comma; scores with their own sign, higher is better."""
    word, sign = ("score", -1.0) if scored else ("loss", 1.0)
    words = "" if train is None else f", {word} {sign * train:.4g}"
    if validation is not None:
        words += f", {'held out' if words else f'{word} of held-out rows'} {sign * validation:.4g}"
    return words


# The rounds ----------------------------------------------------------------------------------------------------------


def boost(
    table: BoostTable,
    rows: BoostRows,
    settings: BoostSettings,
    start: tuple[PackedTrees, Boosting] | None = None,
    base: Sequence[float] | None = None,
) -> Boosted:
    """Fit trees in rounds, each to the gradients after those before it.

    ``rows``: targets must be within the losses' domains (``Loss.check``). ``start``: rounds of an earlier fit on the
    same rows; the following rounds are the same as in one fit. ``base``: the base of the scores; by default the best
    constants of the losses.

    Friedman 2001, "Greedy function approximation: a gradient boosting machine", with the second order of Chen and
    Guestrin 2016, "XGBoost". The result does not depend on ``n_threads``.
    """
    rounds = _Rounds(table, rows, settings, start, base)
    first = 0 if start is None else len(start[0]) // rounds.train.n_scores
    if first >= settings.n_rounds:
        raise ParameterError(f"the model already has {first} rounds: ask for more than {settings.n_rounds}")
    return rounds.boosted(start, run(rounds, settings, first))


class Grown(Protocol):
    """The protocol of objects that grow rounds, on rows here or elsewhere."""

    gained_out_of_bag: list[float]

    @property
    def growers(self) -> list[Any]:
        """The growers, which have the seconds of their ``stages``."""

    def grow(self, number: int) -> None:
        """Grow the trees of a round, and add the values of their leaves to the scores."""

    def evaluate(self) -> tuple[float | None, float | None]:
        """The values on the training rows and on the held-out rows; None if not evaluated."""


def run(rounds: Grown, settings: BoostSettings, first: int = 0) -> History:
    """Grow the rounds after the first ones, until the last."""
    watch = _Watch(settings, settings.evaluation)
    watch.note(first, rounds.evaluate)
    for number in range(first + 1, settings.n_rounds + 1):
        rounds.grow(number)
        watch.note(number, rounds.evaluate)
        if watch.is_over(number, first):
            break
    watch.history.gained_out_of_bag = rounds.gained_out_of_bag
    return watch.with_stages([rounds])


@dataclass(frozen=True, eq=False)
class Members:
    """A group of members: models fitted with different held-out rows, replayed on all rows.

    ``trees``: the rounds of each member; all have the same number. Empty after a look.
    ``history``: that of a member; ``validation`` has means over all held-out rows.
    ``boosting``: the base of the scores.
    ``least_soon``: the lowest loss of the held-out rows of the first ``MEMBERS_OF_LOOK`` members in the first
        ``ROUNDS_OF_LOOK`` rounds; nan for a loss without values.
    ``is_called_off``: whether a callback ended boosting.
    """

    trees: list[list[KeptTree]]
    history: History
    boosting: Boosting
    least_soon: float
    is_called_off: bool


def grow_members(
    table: BoostTable,
    rows: BoostRows,
    settings: BoostSettings,
    held_out: Sequence[np.ndarray],
    base: Sequence[float] | None = None,
    codes_of_members: Sequence[np.ndarray] | None = None,
    *,
    is_look: bool = False,
) -> Members:
    """Fit members in parallel, each without its held-out rows, and replay them on all rows.

    All members end with the round in which the mean loss over all held-out rows is lowest: in a small table a member
    has a dozen held-out rows, whose least loss is chance. The replay keeps the tests, and computes the values of the
    leaves anew, round by round.

    ``table``, ``rows``, ``settings``, ``base``: as for ``boost``. ``settings.evaluation`` has the held-out rows of all
    members, member by member, and ``held_out`` (int64[m] each) their positions. ``codes_of_members`` (uint8[n, stride]
    each): the bins of all rows for each member, if they depend on its held-out rows.
    ``is_look``, whether only ``least_soon`` is needed: of few members, few rounds, without callbacks and a replay.

    ``benchmarks/defaults`` (docs/decisions/0012): members that end separately have a log loss of .138 on iris and .047
    on wine, these .111 and .033.
    """
    evaluation = cast("Evaluation", settings.evaluation)
    if is_look:  # by the loss: a tenth of a user's own score has no meaning
        held_out, evaluation = held_out[:MEMBERS_OF_LOOK], replace(evaluation, score=None)
        n_seen = sum(map(len, held_out))
        evaluation = replace(evaluation, rows=cast("BoostRows", evaluation.rows).take(slice(0, n_seen)))
        settings = replace(settings, n_rounds=min(settings.n_rounds, ROUNDS_OF_LOOK), callbacks=())
    whole = _Rounds(table, rows, replace(settings, evaluation=None), None, base)
    begins, k, n_members = list(whole.boosting.base), whole.train.n_scores, len(held_out)
    grown: list[_Rounds] = [whole] * n_members
    seen = [rows] * n_members if codes_of_members is None else [replace(rows, codes=own) for own in codes_of_members]
    has_values = all(loss.has_values for loss in settings.losses)
    is_alike = codes_of_members is None and not isinstance(rows.codes, SparseCodes)
    on_held_out = Scored(cast("BoostRows", evaluation.rows), whole.losses, np.array(begins), settings.n_threads)
    ends = np.cumsum([len(own) for own in held_out]).tolist()
    first_rows = on_held_out.every_row[: ends[:MEMBERS_OF_LOOK][-1]]

    def begin(number: int, _thread: int) -> None:
        is_held_out = np.zeros(len(rows.target), bool)
        is_held_out[held_out[number]] = True
        own = replace(settings, seed=mixed(settings.seed & (2**64 - 1), number), evaluation=None)
        # Bundling 1,107 columns takes 38 ms, as long as 60 rounds of 130 rows.
        bundles = whole.grower.bundles.take(~is_held_out) if is_alike else None
        grown[number] = _Rounds(table, seen[number].take(~is_held_out), own, None, begins, bundles)
        grown[number].other = on_held_out.part(ends[number], seen[number].codes[held_out[number]])
        grown[number].tells_gains = False

    # A user's own loss is not called by two threads at once, because it may have a buffer of its own.
    at_once = settings.n_threads if all(loss.rowwise for loss in settings.losses) else 1
    threads.run_each(begin, n_members, at_once)

    def evaluate() -> tuple[float | None, float | None]:
        return None, on_held_out.loss() if evaluation.score is None else float(evaluation.score(on_held_out.scores))

    watch, losses_soon = _Watch(settings, evaluation), list[float]()
    watch.note(0, evaluate)
    for number in range(1, settings.n_rounds + 1):
        threads.run_each(lambda member, _: grown[member].grow(number), n_members, at_once)  # noqa: B023
        watch.note(number, evaluate)
        if number <= ROUNDS_OF_LOOK and has_values:
            losses_soon.append(on_held_out.loss(first_rows))
        if watch.is_over(number, 0):
            break
    least_soon = min(losses_soon, default=math.nan)
    if is_look:
        return Members([], watch.with_stages(grown), whole.boosting, least_soon, watch.is_called_off)
    replays = [whole.another(seen[number]) for number in range(n_members)]
    replayed: list[list[KeptTree]] = [[]] * n_members

    def replay(number: int, _thread: int) -> None:
        replayed[number] = replays[number].replayed(grown[number].kept[: watch.history.best * k])

    threads.run_each(replay, n_members, at_once)
    return Members(replayed, watch.with_stages(grown), whole.boosting, least_soon, watch.is_called_off)


def averaged(table: BoostTable, groups: Sequence[Members]) -> Boosted:
    """One model of the members of some groups, with equal weights.

    The rounds of the members alternate, so that the sum of all trees is the mean, and the first rounds are the first of
    every member.

    ``table``: the table of all rows.

    Weights of the groups by their scores on held-out rows (greedy selection: Caruana et al. 2004) made no difference on
    28 data sets: a mean rank of 1.78 with and without (docs/decisions/0012).
    """
    boosting, k = groups[0].boosting, groups[0].boosting.n_scores
    turns = [trees for group in groups for trees in group.trees]
    kept = [
        replace(each, adds=each.adds / len(turns))
        for at in range(0, max(map(len, turns)), k)
        for trees in turns
        for each in trees[at : at + k]
    ]
    n_rounds = len(kept) // k
    if len(groups) == 1:
        history = groups[0].history
    else:
        history = History(best=n_rounds, last=n_rounds, n_rounds=n_rounds)
        for group in groups:
            for stage, seconds in group.history.stages.items():
                history.stages[stage] = history.stages.get(stage, 0.0) + seconds
    lengths = tuple(len(trees) // k for trees in turns)
    return Boosted(packed_trees(table.bins, kept), boosting, history, lengths)


class _Watch:
    """Records the value of each round, and decides whether it is the last.

    ``evaluation``, None: every round counts as better than the one before.
    """

    def __init__(self, settings: BoostSettings, evaluation: Evaluation | None) -> None:
        self.settings, self.evaluation = settings, evaluation
        is_scored = evaluation is not None and evaluation.score is not None
        self.history = History(n_rounds=settings.n_rounds, scored=is_scored)
        self.lowest, self.n_noted, self.begun, self.seconds = np.inf, 0, time.perf_counter(), 0.0
        self.is_called_off = False

    def note(self, number: int, evaluate: Callable[[], tuple[float | None, float | None]]) -> None:
        """Evaluate after a round; ``evaluate`` gives the values on the training rows and on the held-out rows."""
        history = self.history
        if self.evaluation is None:
            history.best = number
            return
        begun = time.perf_counter()
        train, validation = evaluate()
        if train is not None:
            history.train.append(train)
        if validation is not None:
            history.validation.append(validation)
        value = cast("float", train if validation is None else validation)
        if not self.n_noted or value < self.lowest - self.evaluation.tolerance:
            history.best, self.lowest = number, value
        # The base without any tree is not a model to stop at.
        self.n_noted += number > 0
        self.seconds += time.perf_counter() - begun

    def is_over(self, number: int, first: int) -> bool:
        """Whether this round is the last; callbacks and listeners are called."""
        settings, history = self.settings, self.history
        seconds = time.perf_counter() - self.begun
        this_round = Round(
            number=number,
            n_rounds=settings.n_rounds,
            train=history.train[-1] if history.train else None,
            validation=history.validation[-1] if history.validation else None,
            best=history.best,
            seconds=seconds,
            seconds_left=seconds / (number - first) * (settings.n_rounds - number),
            scored=history.scored,
        )
        history.last = number
        if progress.is_heard():
            progress.report(number / settings.n_rounds, this_round.words())
        threads.heed()
        said = [bool(callback(this_round)) for callback in settings.callbacks]  # every callback is called
        self.is_called_off = any(said)
        patience = None if self.evaluation is None else self.evaluation.patience
        return self.is_called_off or (patience is not None and number - history.best >= patience)

    def with_stages(self, grown: Sequence[Grown]) -> History:
        """The history with the seconds of each stage, summed over all threads."""
        stages = self.history.stages
        for grower in (grower for each in grown for grower in each.growers):
            for stage, seconds in grower.stages.items():
                stages[stage] = stages.get(stage, 0.0) + seconds
        stages["evaluation"] += self.seconds
        return self.history


class _Rounds:
    """The rounds of boosting for rows in this process: rows, scores and trees."""

    def __init__(
        self,
        table: BoostTable,
        rows: BoostRows,
        settings: BoostSettings,
        start: tuple[PackedTrees, Boosting] | None,
        base: Sequence[float] | None,
        bundles: Bundles | None = None,
    ) -> None:
        self.table, self.rows, self.settings = table, rows, settings
        self.losses = tuple(
            loss.bound(rows.target[:, output], rows.weights) for output, loss in enumerate(settings.losses)
        )
        self._refuse_alike_gradients()
        begins = self._base(base) if start is None else np.array(start[1].base)
        self.boosting = Boosting(tuple(begins.tolist()), self.losses[0].link)
        n_threads = settings.n_threads
        self.train = Scored(rows, self.losses, begins, n_threads)
        evaluation = settings.evaluation
        self.other = None
        if evaluation is not None and evaluation.rows is not None:
            self.other = Scored(evaluation.rows, self.losses, begins, n_threads)
        for scored in (self.train, self.other):
            if scored is not None and start is not None:
                scored.add_trees(start[0])
        self.weights = GradientWeights.of(rows.sample_weights, rows.of_classes)
        self.grower = GradientGrower(
            rows.codes, table.bins, table.ordered, self.weights.repeats,
            replace(settings.tree, n_threads=n_threads), bundles,
        )  # fmt: skip
        k, n = self.train.scores.shape
        # Trees in parallel need not wait for each other, as the threads of one tree do.
        n_at_once = min(k, n_threads) if 2 * k > n_threads else 1
        self.growers = [self.grower, *(self.grower.another() for _ in range(n_at_once - 1))]
        # The remaining trees grow one after another on all threads, if that uses the threads better.
        self.n_beside = 0 if n_at_once == 1 else k if 2 * (k % n_at_once) > n_at_once else k - k % n_at_once
        self.gradient = np.empty((k, n), np.float32)
        has_hessian = self.weights.factors is not None or settings.sampling != "uniform"
        self.has_hessian = [has_hessian or not self.losses[output].unit_hessian for output in self.train.output_of]
        self.hessian = np.empty((k, n if any(self.has_hessian) else 0), np.float32)
        self.kept: list[KeptTree] = []
        self.gained_out_of_bag: list[float] = []
        self.tells_gains = all(loss.has_values for loss in self.losses) and settings.sampling == "uniform"

    def another(self, rows: BoostRows) -> _Rounds:
        """The same rows, possibly in other bins, for a replay of other rounds at the same time."""
        other = copy(self)
        other.rows = rows
        other.train = Scored(rows, self.losses, np.array(self.boosting.base), self.settings.n_threads)
        other.grower = self.grower.another()
        other.growers, other.n_beside, other.kept = [other.grower], 0, []
        other.gradient, other.hessian = np.empty_like(self.gradient), np.empty_like(self.hessian)
        return other

    def _refuse_alike_gradients(self) -> None:
        """Refuse sampling by gradients that are only signs, with a ParameterError."""
        alike = next((loss for loss in self.losses if loss.renews), None)
        if self.settings.sampling != "uniform" and alike is not None:
            raise ParameterError(
                f"sampling={self.settings.sampling!r} with loss {alike.name!r}: its gradients are only the side "
                "of the target on which a score is; use sampling='uniform' with subsample"
            )

    def _base(self, base: Sequence[float] | None) -> np.ndarray:
        """The base of the scores."""
        rows = self.rows
        if base is None:
            return np.concatenate(
                [loss.base(rows.target[:, output], rows.weights) for output, loss in enumerate(self.losses)]
            )
        given, n_scores = np.array(base, np.float64).reshape(-1), sum(loss.n_scores for loss in self.losses)
        if len(given) != n_scores or not np.isfinite(given).all():
            raise ParameterError(f"init gives {given.tolist()}: give {n_scores} finite numbers, one per score")
        return given

    def grow(self, number: int) -> None:
        """Grow the trees of a round, and add the values of their leaves to the scores."""
        with self.grower.stage("gradients"):
            self._take_gradients()
            chosen = self._draw(number)
            left_out = None
            if chosen is not None:
                is_out = np.ones(self.train.scores.shape[1], bool)
                is_out[chosen] = False
                left_out = np.flatnonzero(is_out).astype(np.int32)
        # Other samples depend on the gradients.
        tells = self.tells_gains and left_out is not None and len(left_out) > 0
        before = self.train.loss(left_out) if tells else None
        trees: list[KeptTree | None] = [None] * len(self.has_hessian)

        def work(score: int, thread: int) -> None:
            trees[score] = self._grow_one(beside[thread], number, score, chosen, left_out)

        if self.n_beside:
            beside = [grower.on_one_thread() for grower in self.growers]
            threads.run_each(work, self.n_beside, len(beside))
        for score in range(self.n_beside, len(trees)):
            trees[score] = self._grow_one(self.grower, number, score, chosen, left_out)
        self.kept += [tree for tree in trees if tree is not None]
        if before is not None:
            self.gained_out_of_bag.append(before - self.train.loss(left_out))

    def _grow_one(
        self, grower: GradientGrower, number: int, score: int, chosen: np.ndarray | None, left_out: np.ndarray | None
    ) -> KeptTree:
        """Grow the tree of one score, and add the values of its leaves to the scores."""
        hessian = self.hessian[score] if self.has_hessian[score] else np.empty(0, np.float32)
        step = self.losses[self.train.output_of[score]].max_step
        tree = grower.grow(
            self.gradient[score], hessian, chosen, seed_of_round(self.settings.seed, number, TREE, score), step
        )
        kept = KeptTree(tree, self.settings.rate_of(number) * self._values(tree, score))
        grower.add_to_scores(kept.adds, self.train.scores[score])
        # The grower has the leaf of each row that the tree was fitted on; the others have to go down the tree.
        if left_out is not None:
            with grower.stage("update"):
                self.train.add(kept, score, left_out)
        if self.other is not None:
            with grower.stage("evaluation"):
                self.other.add(kept, score, None)
        return kept

    def replayed(self, kept: Sequence[KeptTree]) -> list[KeptTree]:
        """Replay the rounds of other rows on these: their leaves get new values; scores begin at the base."""
        train, k = self.train, self.train.n_scores
        train.scores[:] = np.array(self.boosting.base)[:, None]
        found: list[KeptTree] = []
        for at in range(0, len(kept), k):
            self._take_gradients()
            for score, each in enumerate(kept[at : at + k]):
                leaf_of = each.tree.leaves_of(self.rows.codes, train.every_row)
                hessian = self.hessian[score] if self.has_hessian[score] else np.empty(0, np.float32)
                tree = self.grower.renewed(
                    each.tree, leaf_of, self.gradient[score], hessian,
                    needs_rows=self.losses[train.output_of[score]].renews,
                )  # fmt: skip
                adds = self.settings.rate_of(at // k + 1) * self._values(tree, score)
                add_to_scores(leaf_of, adds, 0, len(leaf_of), train.scores[score])
                found.append(KeptTree(tree, adds))
            threads.heed()
        return found

    def _take_gradients(self) -> None:
        """Compute gradients and hessians of all scores, times the weights that are not numbers of rows."""
        train, factors = self.train, self.weights.factors
        n = train.scores.shape[1]
        blocks = [slice(begin, min(begin + _BLOCK_ROWS, n)) for begin in range(0, n, _BLOCK_ROWS)]

        def work(task: int, _thread: int) -> None:
            self._gradients_of(blocks[task])
            if factors is not None:
                with np.errstate(over="ignore"):  # the grower refuses numbers that are not finite
                    self.gradient[:, blocks[task]] *= factors[blocks[task]]
                    self.hessian[:, blocks[task]] *= factors[blocks[task]]

        if not all(loss.rowwise for loss in self.losses):
            blocks = [slice(0, n)]  # a user's own loss is called once for all rows
        threads.run_each(work, len(blocks), self.settings.n_threads)

    def _gradients_of(self, block: slice) -> None:
        """Compute gradients and hessians of a block of rows."""
        target = [own[block] for own in self.train.target]
        fill_gradients(
            self.losses, target, self.train.scores[:, block], self.gradient[:, block], self.hessian[:, block]
        )

    def _draw(self, number: int) -> np.ndarray | None:
        """Sample the rows of a round; None for all. Gradients are multiplied by the weights of the sample."""
        settings, n, seed = self.settings, self.train.scores.shape[1], seed_of_round(self.settings.seed, number, ROWS)
        if settings.sampling != "uniform":
            if number <= 1.0 / settings.learning_rate:  # all rows in the first rounds, as the authors of GOSS do
                return None
            keys = self.rows.keys(seed)
            if settings.sampling == "gradient":
                sizes = np.abs(self.gradient).sum(axis=0, dtype=np.float64)
                chosen, factors = drawn_by_gradient(sizes, settings.top_rate, settings.other_rate, keys)
            else:
                chosen, factors = drawn_by_variance(self._sizes(), settings.subsample, keys)
            self.gradient[:, chosen] *= factors
            self.hessian[:, chosen] *= factors
            return chosen
        if settings.subsample >= 1.0:
            return None
        chosen = drawn_uniformly(self.rows.keys(seed), settings.subsample)
        return None if len(chosen) == n else chosen

    def _sizes(self) -> np.ndarray:
        """float64[n]: the influence of each row's gradients and hessians on sums, in units of gradients."""
        g = np.square(self.gradient, dtype=np.float64).sum(axis=0)
        h = np.square(self.hessian, dtype=np.float64).sum(axis=0)
        # Hessians in units of a usual step: the authors use the square of the mean leaf of the tree before.
        unit = total_of(g) / max(total_of(h), np.finfo(np.float64).tiny)
        sizes: np.ndarray = np.sqrt(g + unit * h)
        return sizes

    def _values(self, tree: GradientTree, score: int) -> np.ndarray:
        """The values of the leaves of a tree, before the learning rate."""
        train, output = self.train, self.train.output_of[score]
        loss: Loss = self.losses[output]
        if not loss.renews:
            return tree.values
        scores = train.scores_of[output]

        def renew(rows: np.ndarray, starts: np.ndarray) -> np.ndarray:
            return loss.renewed(
                score - scores.start, train.target[output], train.scores[scores], self.rows.weights, rows, starts
            )

        monotone = self.settings.tree.monotone
        if monotone is not None and any(monotone):
            return bounded_values(tree, monotone, renew)
        return renew(*tree.groups([[leaf] for leaf in range(len(tree.leaves))]))

    def evaluate(self) -> tuple[float | None, float | None]:
        """The values on the training rows and on the held-out rows; None if not evaluated."""
        score = None if self.settings.evaluation is None else self.settings.evaluation.score
        if score is None:
            return self.train.loss(), None if self.other is None else self.other.loss()
        if self.other is None:
            return float(score(self.train.scores)), None
        return None, float(score(self.other.scores))

    def boosted(self, start: tuple[PackedTrees, Boosting] | None, history: History) -> Boosted:
        """The trees, packed; up to the best round if early stopping is on."""
        trees = packed_trees(self.table.bins, self.kept)
        if start is not None:
            trees = join([start[0], trees])
        evaluation, k = self.settings.evaluation, self.train.n_scores
        if evaluation is not None and evaluation.patience is not None and history.best * k < len(trees):
            trees = take(trees, np.arange(history.best * k))
        return Boosted(trees, self.boosting, history)


def seed_of_round(seed: int, number: int, purpose: int, place: int = 0) -> int:
    """A seed for one purpose of one round."""
    return mixed(mixed(mixed(seed & (2**64 - 1), number), purpose), place)


def scores_of(losses: Sequence[Loss]) -> list[slice]:
    """The slice of scores of each output."""
    ends = accumulate(loss.n_scores for loss in losses)
    return [slice(end - loss.n_scores, end) for end, loss in zip(ends, losses, strict=True)]


def fill_gradients(
    losses: Sequence[Loss], target: Sequence[np.ndarray], scores: np.ndarray, gradient: np.ndarray, hessian: np.ndarray
) -> None:
    """Write gradients and hessians of some rows.

    ``losses``: one per output, as is ``target``. ``target`` (sequence of [m]). ``scores`` (float64[k, m]).
    ``gradient``, ``hessian`` (float32[k, m], OUT): the latter may be without rows if every hessian is 1.
    """
    for own, loss, some in zip(target, losses, scores_of(losses), strict=True):
        if loss.unit_hessian and hessian.shape[1]:
            hessian[some] = 1.0
        loss.gradients(own, scores[some], gradient[some], hessian[some])


class Scored:
    """Rows with their scores.

    ``scores`` (float64[k, n]).
    ``target`` (list of [n]): one per output.
    ``scores_of``: the slice of scores of each output; ``output_of`` is the output of each score.

    ``base`` (float64[k]): the base of the scores.
    """

    def __init__(self, rows: BoostRows, losses: tuple[Loss, ...], base: np.ndarray, n_threads: int) -> None:
        self.rows, self.losses, self.n_threads = rows, losses, n_threads
        self.target = [np.ascontiguousarray(rows.target[:, output]) for output in range(len(losses))]
        self.scores_of = scores_of(losses)
        self.output_of = [output for output, loss in enumerate(losses) for _ in range(loss.n_scores)]
        self.every_row = np.arange(len(rows.target), dtype=np.int32)
        self.scores = np.empty((len(base), len(rows.target)))
        self.scores[:] = base[:, None]

    def part(self, end: int, codes: np.ndarray) -> Scored:
        """The rows before ``end``, in these bins: their scores are the same memory, and only they are to be written."""
        some, other = slice(end - len(codes), end), copy(self)
        other.rows = replace(self.rows.take(some), codes=codes)
        other.every_row, other.scores = self.every_row[: len(codes)], self.scores[:, some]
        other.target = [own[some] for own in self.target]
        return other

    @property
    def n_scores(self) -> int:
        """The number of scores of a row."""
        return len(self.scores)

    def add(self, kept: KeptTree, score: int, chosen: np.ndarray | None) -> None:
        """Add the values of a grown tree to a score of all rows, or of ``chosen`` ones (int32, ascending)."""
        scores = self.scores[score]
        self._add(lambda rows: kept.tree.add_to(self.rows.codes, rows, kept.adds, scores), chosen)

    def add_trees(self, packed: PackedTrees) -> None:
        """Add all trees, one per score and round."""
        adds = packed.leaf_value[:, 0]

        def add(rows: np.ndarray, tree: int) -> None:
            self.scores[tree % self.n_scores, rows] += adds[leaf_rows_of_bins(packed, self.rows.codes, rows, tree)]

        for tree in range(len(packed)):
            self._add(partial(add, tree=tree), None)

    def _add(self, add: Callable[[np.ndarray], None], chosen: np.ndarray | None) -> None:
        """Call ``add`` for rows, in blocks."""
        rows = self.every_row if chosen is None else chosen
        if len(rows) <= _SCORED_ROWS:
            add(rows)
            return
        blocks = [rows[begin : begin + _SCORED_ROWS] for begin in range(0, len(rows), _SCORED_ROWS)]

        threads.run_each(lambda task, _: add(blocks[task]), len(blocks), self.n_threads)

    @property
    def weight(self) -> float:
        """The total weight of the rows."""
        weights = self.rows.weights
        return float(len(self.rows.target) if weights is None else weights.sum())

    def loss(self, rows: np.ndarray | None = None) -> float:
        """The weighted mean loss of all rows, or of some (int64[m]); for several outputs the sum.

        It does not depend on the order of the rows, so neither does the last round of early stopping.
        """
        total, weights = 0.0, self.rows.weights
        some: Any = slice(None) if rows is None else rows
        for output, loss in enumerate(self.losses):
            scores = np.ascontiguousarray(self.scores[self.scores_of[output], some])  # a selection may be strided
            values = loss.values(self.target[output][some], scores)
            total += mean_of(values, None if weights is None else weights[some])
        return total


def mean_of(values: np.ndarray, weights: np.ndarray | None) -> float:
    """The mean of losses, float64[n], bit-identical in any order; infinite or nan if one of them is."""
    largest = float(np.abs(values).max())
    if not largest < LARGEST_LOSS:  # not finite, or so large that sums may overflow: the order does not matter
        return float(np.average(values, weights=weights))
    return weighted_mean(values, weights)


# Leaf values under monotone constraints ------------------------------------------------------------------------------
#
# A tree's own bounds come from gradients. A loss that renews leaf values has gradients in another unit than these
# values, so bounds are computed anew, from the value that each node would have as a leaf.


Renew = Callable[[np.ndarray, np.ndarray], np.ndarray]


def bounded_values(tree: GradientTree, monotone: Sequence[int], renew: Renew) -> np.ndarray:
    """The values of the leaves under monotone constraints.

    ``renew``: from rows int32[m] group by group and the beginnings of k groups, int64[k + 1], to float64[k]. Returns
    float64[n_leaves]: below a test of an increasing column, no leaf on the left is above the midpoint between the
    values of the two branches as leaves, and none on the right is below it.
    """
    own, leaves_below = np.zeros(tree.n_nodes), tree.leaves_below()
    for depth in range(int(tree.depth.max()) + 1):
        nodes = np.flatnonzero(tree.depth == depth)
        own[nodes] = renew(*tree.groups([leaves_below[node] for node in nodes]))
    low, high = np.full(tree.n_nodes, -np.inf), np.full(tree.n_nodes, np.inf)
    for node in np.flatnonzero(tree.first_child >= 0).tolist():  # parents are before children
        first = int(tree.first_child[node])
        both = slice(first, first + 2)
        low[both], high[both] = low[node], high[node]
        sign = monotone[tree.column[node]]
        if sign:
            midpoint = float(np.clip(own[both], low[node], high[node]).mean())
            below, above = (first, first + 1) if sign > 0 else (first + 1, first)
            high[below], low[above] = midpoint, midpoint
    return np.clip(own, low, high)[tree.leaves]
