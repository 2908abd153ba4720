"""The rounds of boosting. In: binned rows, losses, settings. Out: ``Boosted``. Callers: estimators.

scores -> gradients -> rows of the round -> a tree per score -> what its leaves add -> scores
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from treewright.boosting.bounded import bounded_values
from treewright.boosting.history import History, Round
from treewright.boosting.losses import Loss
from treewright.boosting.packing import KeptTree, packed_trees
from treewright.boosting.row_weights import RowWeights
from treewright.boosting.sampling import drawn_by_gradient, drawn_uniformly
from treewright.boosting.scored import Scored
from treewright.boosting.settings import BoostRows, BoostSettings, BoostTable
from treewright.core import progress, threads
from treewright.core.random import mixed
from treewright.exceptions import ParameterError
from treewright.grow.gradient.grower import GradientGrower, GradientTree
from treewright.model.aggregation import Boosting
from treewright.tree.packed import PackedTrees
from treewright.tree.packing import join, take

_BLOCK_ROWS = 1 << 15
_ROWS, _TREE = 0, 1  # what a seed is made for


@dataclass(frozen=True, eq=False)
class Boosted:
    """What the rounds made.

    Attributes
    ----------
    trees : PackedTrees
        Of every round grown; where ``Evaluation.patience`` is given, of the rounds up to the best one.
    boosting : Boosting
    history : History
    """

    trees: PackedTrees
    boosting: Boosting
    history: History


def boost(
    table: BoostTable,
    rows: BoostRows,
    settings: BoostSettings,
    start: tuple[PackedTrees, Boosting] | None = None,
    base: Sequence[float] | None = None,
) -> Boosted:
    """Grow trees round by round, each on the gradients that those before it left.

    Parameters
    ----------
    table : BoostTable
    rows : BoostRows
        Targets lie within the losses' domains (``Loss.check``).
    settings : BoostSettings
    start : (PackedTrees, Boosting), optional
        Rounds that are grown already, on the same rows: those that follow are what they would be in one go.
    base : sequence of float, one per score, optional
        Where scores begin; what suits the losses best if not given.

    Returns
    -------
    Boosted

    Raises
    ------
    ParameterError
        ``base`` has another length than there are scores; no round is left to be grown; rows are to be drawn by
        gradients that are all of one size.
    DataError
        Gradients of a round are not finite.
    TooLargeError
        It would not fit in memory.

    Notes
    -----
    Friedman 2001, "Greedy function approximation: a gradient boosting machine", with the second order of Chen and
    Guestrin 2016, "XGBoost". The result does not depend on ``n_threads``.
    """
    rounds = _Rounds(table, rows, settings, start, base)
    first = 0 if start is None else len(start[0]) // rounds.train.n_scores
    if first >= settings.n_rounds:
        raise ParameterError(f"{first} rounds are there already: ask for more than {settings.n_rounds}")
    begun = time.perf_counter()
    rounds.note(first)
    for number in range(first + 1, settings.n_rounds + 1):
        rounds.grow(number)
        rounds.note(number)
        if rounds.is_over(number, first, begun):
            break
    return rounds.boosted(start)


class _Rounds:
    """Rows, scores and trees while they grow."""

    def __init__(
        self,
        table: BoostTable,
        rows: BoostRows,
        settings: BoostSettings,
        start: tuple[PackedTrees, Boosting] | None,
        base: Sequence[float] | None,
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
        self.weights = RowWeights.of(rows.sample_weights, rows.of_classes)
        self.grower = GradientGrower(
            rows.codes, table.bins, table.ordered, self.weights.repeats,
            replace(settings.tree, n_threads=n_threads),
        )  # fmt: skip
        k, n = self.train.scores.shape
        # Trees side by side have no need to wait for each other, as the threads of one tree do.
        n_at_once = min(k, n_threads) if 2 * k > n_threads else 1
        self.growers = [self.grower, *(self.grower.another() for _ in range(n_at_once - 1))]
        self.gradient = np.empty((k, n), np.float32)
        has_hessian = self.weights.factors is not None or settings.sampling == "gradient"
        self.has_hessian = [has_hessian or not self.losses[output].unit_hessian for output in self.train.output_of]
        self.hessian = np.empty((k, n if any(self.has_hessian) else 0), np.float32)
        self.kept: list[KeptTree] = []
        is_scored = evaluation is not None and evaluation.score is not None
        self.history = History(n_rounds=settings.n_rounds, scored=is_scored)
        self.lowest, self.n_noted = np.inf, 0

    def _refuse_alike_gradients(self) -> None:
        """Rows cannot be drawn by gradients that only have a sign.

        Raises
        ------
        ParameterError
        """
        alike = next((loss for loss in self.losses if loss.renews), None)
        if self.settings.sampling == "gradient" and alike is not None:
            raise ParameterError(
                f"sampling='gradient' with loss {alike.name!r}: its gradients tell only on which side of the target a "
                "score is; use sampling='uniform' with subsample"
            )

    def _base(self, base: Sequence[float] | None) -> np.ndarray:
        """Where scores begin."""
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
        """Grow the trees of a round, and let their leaves add to the scores."""
        with self.grower.stage("gradients"):
            self._take_gradients()
            chosen = self._draw(number)
        trees: list[KeptTree | None] = [None] * len(self.has_hessian)

        def work(score: int, thread: int) -> None:
            trees[score] = self._grow_one(self.growers[thread], number, score, chosen)

        threads.run_each(work, len(trees), len(self.growers))
        self.kept += [tree for tree in trees if tree is not None]

    def _grow_one(self, grower: GradientGrower, number: int, score: int, chosen: np.ndarray | None) -> KeptTree:
        """Grow the tree of one score, and add what it says."""
        hessian = self.hessian[score] if self.has_hessian[score] else np.empty(0, np.float32)
        step = self.losses[self.train.output_of[score]].max_step
        tree = grower.grow(self.gradient[score], hessian, chosen, self._seed(number, _TREE, score), step)
        kept = KeptTree(tree, self.settings.learning_rate * self._values(tree, score))
        grower.add_to_scores(kept.adds, self.train.scores[score])
        if chosen is not None or self.other is not None:
            packed = packed_trees(self.table.bins, [kept])
            if chosen is not None:
                with grower.stage("update"):
                    is_out = np.ones(self.train.scores.shape[1], bool)
                    is_out[chosen] = False
                    self.train.add_tree(packed, 0, score, np.flatnonzero(is_out).astype(np.int32))
            if self.other is not None:
                with grower.stage("evaluation"):
                    self.other.add_tree(packed, 0, score, None)
        return kept

    def _seed(self, number: int, purpose: int, place: int = 0) -> int:
        """A seed for one purpose of one round."""
        return mixed(mixed(mixed(self.settings.seed & (2**64 - 1), number), purpose), place)

    def _take_gradients(self) -> None:
        """Gradients and hessians of all scores, times the weights that are no numbers of rows."""
        train, factors = self.train, self.weights.factors
        n = train.scores.shape[1]
        blocks = [slice(begin, min(begin + _BLOCK_ROWS, n)) for begin in range(0, n, _BLOCK_ROWS)]

        def work(task: int, _thread: int) -> None:
            self._gradients_of(blocks[task])
            if factors is not None:
                with np.errstate(over="ignore"):  # the grower refuses what is not finite
                    self.gradient[:, blocks[task]] *= factors[blocks[task]]
                    self.hessian[:, blocks[task]] *= factors[blocks[task]]

        if not all(loss.rowwise for loss in self.losses):
            blocks = [slice(0, n)]
        threads.run_each(work, len(blocks), self.settings.n_threads)

    def _gradients_of(self, block: slice) -> None:
        """Gradients and hessians of a block of rows."""
        train = self.train
        for output, loss in enumerate(self.losses):
            scores = train.scores_of[output]
            hessian = self.hessian[scores, block]
            if loss.unit_hessian and hessian.shape[1]:
                hessian[:] = 1.0
            loss.gradients(
                train.target[output][block], train.scores[scores, block], self.gradient[scores, block], hessian
            )

    def _draw(self, number: int) -> np.ndarray | None:
        """The rows of a round; None for all. Where some stand for others, their gradients are made larger."""
        settings, n = self.settings, self.train.scores.shape[1]
        if settings.sampling == "gradient":
            if number <= 1.0 / settings.learning_rate:  # as the paper's authors do: first all rows are learned from
                return None
            sizes = np.abs(self.gradient).sum(axis=0, dtype=np.float64)
            if self.weights.repeats is not None:
                sizes *= self.weights.repeats
            chosen, factors = drawn_by_gradient(
                sizes, settings.top_rate, settings.other_rate, self._seed(number, _ROWS)
            )
            self.gradient[:, chosen] *= factors
            self.hessian[:, chosen] *= factors
            return chosen
        if settings.subsample >= 1.0:
            return None
        return drawn_uniformly(n, settings.subsample, self._seed(number, _ROWS))

    def _values(self, tree: GradientTree, score: int) -> np.ndarray:
        """What the leaves of a tree say, before the learning rate."""
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

    def note(self, number: int) -> None:
        """Evaluate after a round, if asked to."""
        evaluation, history = self.settings.evaluation, self.history
        if evaluation is None:
            history.best = number
            return
        begun = time.perf_counter()
        if evaluation.score is None:
            history.train.append(self.train.loss())
        if self.other is not None:
            history.validation.append(
                self.other.loss() if evaluation.score is None else float(evaluation.score(self.other.scores))
            )
        elif evaluation.score is not None:
            history.train.append(float(evaluation.score(self.train.scores)))
        value = (history.validation or history.train)[-1]
        if not self.n_noted or value < self.lowest - evaluation.tolerance:
            history.best, self.lowest = number, value
        # What was there before a single tree is no model to stop at.
        self.n_noted += number > 0
        self.grower.stages["evaluation"] += time.perf_counter() - begun

    def is_over(self, number: int, first: int, begun: float) -> bool:
        """Whether this round is the last; callbacks and listeners are told of it."""
        settings, history = self.settings, self.history
        seconds = time.perf_counter() - begun
        news = Round(
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
            progress.report(number / settings.n_rounds, news.words())
        threads.heed()
        wants_end = [bool(callback(news)) for callback in settings.callbacks]
        patience = None if settings.evaluation is None else settings.evaluation.patience
        return any(wants_end) or (patience is not None and number - history.best >= patience)

    def boosted(self, start: tuple[PackedTrees, Boosting] | None) -> Boosted:
        """The trees, packed; up to the best round where the growth could end early."""
        trees = packed_trees(self.table.bins, self.kept)
        if start is not None:
            trees = join([start[0], trees])
        evaluation, k = self.settings.evaluation, self.train.n_scores
        if evaluation is not None and evaluation.patience is not None and self.history.best * k < len(trees):
            trees = take(trees, np.arange(self.history.best * k))
        for grower in self.growers:
            for stage, seconds in grower.stages.items():
                self.history.stages[stage] = self.history.stages.get(stage, 0.0) + seconds
        return Boosted(trees, self.boosting, self.history)
