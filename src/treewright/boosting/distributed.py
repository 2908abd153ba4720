"""Boosting on rows that are elsewhere: the work of a part on its rows, and of the coordinator on the answers.

    RoundsElsewhere                 Part, in any process
      begin                           facts: rows, sums of targets, weights of classes  -> losses, base of scores
                                      equal rows, if rows are sampled                   -> the number of each copy
      grow, for each round
        "gradients"                   gradients of all scores; their sizes              -> scales
        a tree for each score         grow.gradient.elsewhere
          "open", "split", "count"    histograms of nodes
          "leaf_sums"                 sums of leaves                                    -> values of leaves
          "add"                       scores

The coordinator never sees a row. It adds up whole numbers, or fractions without rounding, so the division of the rows
into parts and their order make no difference.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple, cast

import numpy as np

from treewright.boosting.best_constants import WITHIN, grouped_sums
from treewright.boosting.growth import KeptTree, packed_trees
from treewright.boosting.losses import ClassLoss, Loss, class_weights
from treewright.boosting.rounds import (
    LARGEST_LOSS,
    ROWS,
    TREE,
    Boosted,
    BoostRows,
    BoostSettings,
    BoostTable,
    Scored,
    fill_gradients,
    run,
    scores_of,
    seed_of_round,
)
from treewright.boosting.sampling import GradientWeights, begins_of_equals, count_copies
from treewright.core import threads
from treewright.data.dataset import Carrier, PartLostError, claims, replies_of, unless_lost
from treewright.data.memory import StoredArrays
from treewright.exceptions import ParameterError
from treewright.grow.gradient.elsewhere import GrowerElsewhere, Splits
from treewright.grow.gradient.grower import STAGES
from treewright.grow.gradient.leaves import leaf_sums
from treewright.grow.gradient.rows import count_block, part_block
from treewright.grow.gradient.words import Scales, magnitudes, scales_of
from treewright.trees.data import Boosting

_BLOCK_ROWS = 1 << 16
_BYTES_BESIDE = 40  # of a row in addition to its bins: its target, scores, gradients and node, roughly
_SHARE_BITS = 4  # of a content: copies are numbered in 16 shares
_FEW_KEYS = 63  # leaves; with more, the keys of a tree may not fit into a byte


@dataclass(frozen=True)
class Facts:
    """The facts of a part about its rows, before the first round.

    ``are_counts``: whether all sample weights are whole numbers.
    ``sum_of_weights``, ``least``, ``most``: those of the sample weights; without rows 0, 1 and 1.
    ``spans``: the lowest and the highest number of each target.
    """

    n: int
    are_counts: bool
    sum_of_weights: Fraction
    least: float
    most: float
    spans: list[tuple[float, float]]


class LossOfPart(NamedTuple):
    """The largest loss of a row, the sum of weight times loss, the sum of weights."""

    largest: float
    product: Fraction
    weight: Fraction


@dataclass(frozen=True, eq=False)
class Orders:
    """The settings of a fit that all parts get before the first round.

    Attributes
    ----------
    losses : tuple of Loss
        Bound losses.
    base : float64[k]
        The base of the scores.
    weights_are_counts : bool
        Whether sample weights are numbers of rows; else gradients are multiplied by them.
    has_weights : bool
        Whether there is a sample weight other than 1.
    class_factors : list of float64[n_classes], or None
    has_hessian : list of bool
        Whether the hessians of each score differ from 1.
    subsample : float
    seed : int
    n_leaves : int
    fit : str
        The name of the fit: rows can be used by one fit at a time.
    """

    losses: tuple[Loss, ...]
    base: np.ndarray
    weights_are_counts: bool
    has_weights: bool
    class_factors: Any
    has_hessian: list[bool]
    subsample: float
    seed: int
    n_leaves: int
    fit: str = field(default_factory=lambda: secrets.token_hex(8))


# A part -------------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Part:
    """Some of the rows, with their scores, gradients and nodes during a fit.

    ``codes`` (uint8[n, stride]): bins.
    ``target`` (list of float64[n] or int32[n]): one per output.
    ``sample_weights`` (float64[n] or None).
    ``contents`` (uint64[n] or None): a hash of the content of each row; needed to sample rows.
    ``stored``, the files that the arrays, and those of a fit, are mapped from; None: they are in memory.
    """

    codes: np.ndarray
    n_columns: int
    target: list[np.ndarray]
    sample_weights: Any = None
    contents: Any = None
    n_threads: int = 1
    number: int = 0
    stored: StoredArrays | None = None
    orders: Any = field(default=None, repr=False)  # ``Orders`` while a fit learns from the rows

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.codes)

    def _blocks(self, work: Callable[[slice, int], None]) -> None:
        """Call ``work`` for every block of rows, on the threads."""
        begins = range(0, self.n, _BLOCK_ROWS)

        def do(task: int, thread: int) -> None:
            block = slice(begins[task], min(begins[task] + _BLOCK_ROWS, self.n))
            work(block, thread)
            if self.stored is not None:
                self.stored.looked_at((block.stop - block.start) * (self.codes.shape[1] + _BYTES_BESIDE))

        threads.run_each(do, len(begins), self.n_threads)

    # Before the first round.

    def facts(self) -> Facts:
        """The facts about the rows."""
        found: list[Facts] = []

        def work(block: slice, _thread: int) -> None:
            n, weights = block.stop - block.start, None if self.sample_weights is None else self.sample_weights[block]
            spans = [(float(own[block].min()), float(own[block].max())) for own in self.target]
            if weights is None:
                found.append(Facts(n, True, Fraction(n), 1.0, 1.0, spans))
                return
            total = grouped_sums(weights, None)[WITHIN].product
            are_counts = bool((weights == np.rint(weights)).all())
            found.append(Facts(n, are_counts, total, float(weights.min()), float(weights.max()), spans))

        self._blocks(work)
        return Facts(
            self.n,
            all(each.are_counts for each in found),
            sum((each.sum_of_weights for each in found), Fraction(0)),
            min((each.least for each in found), default=1.0),
            max((each.most for each in found), default=1.0),
            [
                (
                    min((each.spans[output][0] for each in found), default=np.inf),
                    max((each.spans[output][1] for each in found), default=-np.inf),
                )
                for output in range(len(self.target))
            ],
        )

    def check(self, losses: tuple[Loss, ...]) -> None:
        """Refuse targets outside the losses' domains."""

        def work(block: slice, _thread: int) -> None:
            for loss, own in zip(losses, self.target, strict=True):
                loss.check(own[block], "y", np.arange(block.start, block.stop))

        self._blocks(work)

    def weights_of_classes(self, output: int, class_factors: Any, n_classes: int) -> list[Fraction]:
        """The total weight of the rows of each class."""
        found: list[list[Fraction]] = [[Fraction(0)] * n_classes]

        def work(block: slice, _thread: int) -> None:
            weights = self._rows(block, class_factors).weights
            found.append(class_weights(self.target[output][block], weights, n_classes))

        self._blocks(work)
        return [sum(own, Fraction(0)) for own in zip(*found, strict=True)]

    def sums(self, output: int, lift: int) -> tuple[Fraction, Fraction]:
        """Sums of weight times target, and of weights, these times a power of two."""
        found = []

        def work(block: slice, _thread: int) -> None:
            weights = self._rows(block, None).weights
            weights = None if weights is None else np.ldexp(weights, lift)
            found.append(grouped_sums(np.asarray(self.target[output][block], np.float64), weights)[WITHIN])

        self._blocks(work)
        product = sum((each.product for each in found), Fraction(0))
        return product, sum((each.weight for each in found), Fraction(0))

    def _rows(self, block: slice, class_factors: Any) -> BoostRows:
        of_classes = None
        if class_factors is not None:
            of_classes = np.ones(len(self.codes[block]))
            for factors, own in zip(class_factors, self.target, strict=True):
                of_classes *= factors[own[block]]
            of_classes = of_classes.astype(np.float32).astype(np.float64)
        sample_weights = None if self.sample_weights is None else self.sample_weights[block]
        return BoostRows(self.codes[block], np.empty((0, 0)), sample_weights, of_classes)

    def begin(self, orders: Orders) -> None:
        """Begin a fit: set the scores to their base."""
        with claims:
            if self.orders is not None:
                raise ParameterError("another fit uses these rows at the same time: run one fit after another")
            self.orders = orders
        k, n, room = len(orders.base), self.n, np.empty if self.stored is None else self.stored.room
        self.scores = room((k, n), np.float64)
        self.gradient = room((k, n), np.float32)
        self.hessian = room((k, n if any(orders.has_hessian) else 0), np.float32)
        self.node_of = room((n,), np.uint8 if orders.n_leaves <= _FEW_KEYS else np.int32)
        has_times = orders.subsample < 1.0 or (orders.has_weights and orders.weights_are_counts)
        self.times = room((n if has_times else 0,), np.int32)
        self.first = room((n if orders.subsample < 1.0 else 0,), np.int32)

        def fill(block: slice, _thread: int) -> None:
            self.scores[:, block] = orders.base[:, None]
            if has_times:
                is_counted = self.sample_weights is not None and orders.weights_are_counts
                self.times[block] = self.sample_weights[block] if is_counted else 1

        self._blocks(fill)

    def end(self, fit: str) -> None:
        """Release the arrays of this fit, but not those of another."""
        if self.orders is None or self.orders.fit != fit:
            return
        self.orders = None
        for name in ("scores", "gradient", "hessian", "node_of", "times", "first"):
            self.__dict__.pop(name, None)
        if self.stored is not None:
            self.stored.end()

    # Copies: equal rows are sampled one by one, so each has a number among those of all parts.

    def equal_rows(self, share: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The distinct contents among a share of all, with weights (0 if these count), and their copies."""
        _, contents, weights, begins, copies = self._in_order(share)
        first = np.unique(begins)
        return contents[first], weights[first], np.add.reduceat(copies, first) if len(first) else copies

    def number_copies(self, share: int, of_parts: list[np.ndarray]) -> None:
        """Number the copies of the rows of a share: ``of_parts`` has, for each part, how many are before its own."""
        rows, _, _, begins, copies = self._in_order(share)
        which = np.cumsum(begins == np.arange(len(begins))) - 1
        before = np.cumsum(copies) - copies
        self.first[rows] = of_parts[self.number][which] + before - before[begins]

    def _in_order(self, share: int) -> tuple[np.ndarray, ...]:
        """The rows of a share in the order of content and weight: rows, contents, weights, first equals, copies."""
        rows = np.flatnonzero(self.contents >> np.uint64(64 - _SHARE_BITS) == share)
        weights = np.zeros(len(rows))
        copies = np.ones(len(rows), np.int64)
        if self.sample_weights is not None and self.orders.has_weights:
            own = self.sample_weights[rows]
            weights, copies = (weights, own.astype(np.int64)) if self.orders.weights_are_counts else (own, copies)
        contents = self.contents[rows]
        order = np.lexsort((weights, contents))
        contents, weights = contents[order], weights[order]
        return rows[order], contents, weights, begins_of_equals(contents, weights), copies[order]

    # Rounds.

    def draw(self, number: int) -> tuple[int, int]:
        """Sample the rows of a round; returns their number and the lowest key of all rows."""
        return self._draw(number, self.orders.subsample, 0)

    def draw_only(self, number: int, key: int) -> None:
        """Use only the rows of one key in a round."""
        self._draw(number, 0.0, key)

    def _draw(self, number: int, share: float, only: int) -> tuple[int, int]:
        """Choose the rows of a round by their keys."""
        orders, seed = self.orders, np.uint64(seed_of_round(self.orders.seed, number, ROWS))
        is_counted = orders.has_weights and orders.weights_are_counts and self.sample_weights is not None
        n_drawn, lowest = np.zeros(self.n_threads, np.int64), np.full(self.n_threads, 2**64 - 1, np.uint64)

        def work(block: slice, thread: int) -> None:
            counts = self.sample_weights[block] if is_counted else np.empty(0)
            of_block, least = count_copies(
                self.contents[block], self.first[block], counts, seed, share, np.uint64(only), self.times[block]
            )
            n_drawn[thread] += of_block
            lowest[thread] = min(lowest[thread], np.uint64(least))

        self._blocks(work)
        return int(n_drawn.sum()), int(lowest.min())

    def gradients(self) -> list[np.ndarray]:
        """Compute gradients and hessians at the scores; returns their sizes for each score, float64[n_blocks, 3]."""
        orders, k = self.orders, len(self.scores)
        sizes = np.zeros((k, -(-self.n // _BLOCK_ROWS), 3))
        is_counted = orders.has_weights and orders.weights_are_counts
        has_factors = orders.class_factors is not None or (orders.has_weights and not is_counted)

        def work(block: slice, _thread: int) -> None:
            gradient, hessian = self.gradient[:, block], self.hessian[:, block]
            target = [own[block] for own in self.target]
            fill_gradients(orders.losses, target, np.ascontiguousarray(self.scores[:, block]), gradient, hessian)
            if has_factors:
                rows = self._rows(block, orders.class_factors)
                weights: Any = rows.of_classes if orders.weights_are_counts else rows.weights
                with np.errstate(over="ignore"):  # what is not finite is refused
                    gradient *= weights.astype(np.float32)
                    hessian *= weights.astype(np.float32)
            # For all rows, sampled or not: the scales of a round do not depend on the sample.
            repeats = self.sample_weights[block].astype(np.int32) if is_counted else np.empty(0, np.int32)
            for score in range(k):
                own = hessian[score] if orders.has_hessian[score] else hessian[:0].reshape(-1)
                size = sizes[score, block.start // _BLOCK_ROWS]
                magnitudes(gradient[score], own, repeats, 0, gradient.shape[1], size)

        self._blocks(work)
        return list(sizes)

    def open(self, score: int, scales: Scales) -> tuple[int, np.ndarray]:
        """Begin a tree; returns the number of rows that its rows count as, and their histogram."""
        self.scales, self.score = scales, score
        n_rows = np.zeros(self.n_threads, np.int64)

        def clear(block: slice, thread: int) -> None:
            self.node_of[block] = 0
            n_rows[thread] += self.times[block].sum(dtype=np.int64) if len(self.times) else block.stop - block.start

        self._blocks(clear)
        none = np.empty(0, np.int32)
        root = Splits(none, none, none, np.empty((0, 256), np.uint8), np.zeros(1, np.int32))
        return int(n_rows.sum()), self.split(root, 1)[1][0]

    def split(self, splits: Splits, n_keys: int) -> tuple[np.ndarray, np.ndarray]:
        """Split some nodes; returns the number of rows in each child, int64[2 k], and histograms, int64[m, width]."""
        split_of, slot_of = np.full((2, n_keys), -1, np.int32)
        split_of[splits.keys] = np.arange(len(splits.keys), dtype=np.int32)
        slot_of[splits.summed] = np.arange(len(splits.summed), dtype=np.int32)
        n_at_once = max(1, min(self.n_threads, -(-self.n // _BLOCK_ROWS)))
        histograms = np.zeros((n_at_once, len(splits.summed), 256 * self.n_columns), np.int64)
        n_rows = np.zeros((n_at_once, n_keys), np.int64)

        def work(block: slice, thread: int) -> None:
            part_block(
                self.codes[block], self.n_columns, *self._gradients_in(block), self.scales.gradient,
                self.scales.hessian, self.node_of[block], split_of, splits.columns, splits.first_keys,
                splits.goes_left, slot_of, histograms[thread], n_rows[thread],
            )  # fmt: skip

        self._blocks(work)
        children = np.stack((splits.first_keys, splits.first_keys + 1), axis=1).ravel()
        return n_rows.sum(axis=0)[children], histograms.sum(axis=0)

    def _gradients_in(self, block: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Gradients and hessians of the current tree's score, and how often rows count; empty for 1."""
        has_hessian = self.orders.has_hessian[self.score]
        hessian = self.hessian[self.score, block] if has_hessian else np.empty(0, np.float32)
        return self.gradient[self.score, block], hessian, self.times[block] if len(self.times) else self.times

    def count(self, key: int, column: int) -> np.ndarray:
        """int64[256]: the number of rows of a node in each bin of a column."""
        counts = np.zeros((self.n_threads, 256), np.int64)

        def work(block: slice, thread: int) -> None:
            times = self._gradients_in(block)[2]
            count_block(self.codes[block], column, times, self.node_of[block], key, counts[thread])

        self._blocks(work)
        return counts.sum(axis=0)

    def leaf_sums(self, score: int, leaf_of_key: np.ndarray, n_leaves: int, scales: Scales) -> np.ndarray:
        """int64[n_leaves, 3]: exact sums of gradients and hessians, and the numbers of rows."""
        sums = np.zeros((self.n_threads, n_leaves, 3), np.int64)
        self.score = score

        def work(block: slice, thread: int) -> None:
            leaf_of = leaf_of_key[self.node_of[block]]
            gradient, hessian, times = self._gradients_in(block)
            own = np.zeros((n_leaves, 2), np.int64)
            leaf_sums(
                leaf_of, gradient, hessian, times, scales.fine_gradient, scales.fine_hessian, 0, len(leaf_of), own
            )
            sums[thread, :, :2] += own
            # Sampled copies are rows; where none are sampled, a row is one row, whatever its weight.
            which = np.repeat(leaf_of, times) if len(self.first) else leaf_of
            sums[thread, :, 2] += np.bincount(which, minlength=n_leaves)

        self._blocks(work)
        return sums.sum(axis=0)

    def losses(self, lift: int) -> list[LossOfPart]:
        """The exact sum of weight times loss for each output."""
        found = []
        for output, (loss, some) in enumerate(zip(self.orders.losses, scores_of(self.orders.losses), strict=True)):
            found.append(self._loss_of(output, loss, some, lift))
        return found

    def _loss_of(self, output: int, loss: Loss, some: slice, lift: int) -> LossOfPart:
        product, weight = np.zeros((2, self.n_threads), object)
        largest = np.zeros(self.n_threads)

        def work(block: slice, thread: int) -> None:
            values = loss.values(self.target[output][block], np.ascontiguousarray(self.scores[some, block]))
            most = float(np.abs(values).max())
            largest[thread] = np.maximum(largest[thread], most)
            if most < LARGEST_LOSS:
                weights = self._rows(block, self.orders.class_factors).weights
                sums = grouped_sums(values, None if weights is None else np.ldexp(weights, lift))[WITHIN]
                product[thread] += sums.product
                weight[thread] += sums.weight

        self._blocks(work)
        return LossOfPart(float(largest.max()), Fraction(product.sum()), Fraction(weight.sum()))

    def walk(self, kept: Sequence[KeptTree]) -> None:
        """Set the scores to their base plus the values of grown trees, which are one per score in turn."""
        rows = np.arange(_BLOCK_ROWS, dtype=np.int32)

        def work(block: slice, _thread: int) -> None:
            codes = self.codes[block]
            for at, each in enumerate(kept):
                leaves = each.tree.leaves_of(codes, rows[: len(codes)])
                self.scores[at % len(self.scores), block] += each.adds[leaves]

        self._blocks(work)

    def add(self, score: int, leaf_of_key: np.ndarray, adds: np.ndarray) -> None:
        """Add the values of leaves to a score of all rows."""
        of_key = adds[leaf_of_key]

        def work(block: slice, _thread: int) -> None:
            self.scores[score, block] += of_key[self.node_of[block]]

        self._blocks(work)


# The coordinator ----------------------------------------------------------------------------------------------------


def boost_distributed(
    table: BoostTable, carrier: Carrier, settings: BoostSettings, class_factors: Any = None,
    n_classes: Sequence[int] = (), base: Sequence[float] | None = None,
) -> Boosted:  # fmt: skip
    """As ``rounds.boost``, for rows that are elsewhere.

    ``carrier``: the carrier of the parts (``Part``). ``settings``: ``losses`` are not bound yet. The rows of
    ``evaluation`` are in this process. ``class_factors`` (list of float64[n_classes], or None). ``n_classes``: classes
    of each output; empty for regression.
    """
    rounds = RoundsElsewhere(table, carrier, settings, class_factors, n_classes, base)
    try:
        rounds.begin()
        return rounds.boosted(run(rounds, settings))
    finally:
        with suppress(PartLostError):
            carrier.ask("end", rounds.orders.fit)


class RoundsElsewhere:
    """The rounds of boosting for rows that are elsewhere, with their scores and gradients."""

    def __init__(
        self, table: BoostTable, carrier: Carrier, settings: BoostSettings, class_factors: Any,
        n_classes: Sequence[int], base: Sequence[float] | None,
    ) -> None:  # fmt: skip
        self.table, self.settings, self.carrier, self.ask = table, settings, carrier, carrier.ask
        self.gained_out_of_bag, self.kept = list[float](), list[KeptTree]()
        self.stages: dict[str, float] = dict.fromkeys(STAGES, 0.0)
        _refuse_far(settings)
        facts: list[Facts] = replies_of(carrier, "facts")
        self.n = sum(each.n for each in facts)
        total = sum((each.sum_of_weights for each in facts), Fraction(0))
        weights_are_counts = all(each.are_counts for each in facts) and GradientWeights.may_count(float(total))
        has_weights = any((each.least, each.most) != (1.0, 1.0) for each in facts if each.n)
        self.n_rows = int(total) if weights_are_counts else self.n
        by_class = [1.0] if class_factors is None else np.concatenate(class_factors).tolist()
        of_rows = [(1.0, 1.0)] if weights_are_counts else [(each.least, each.most) for each in facts if each.n]
        GradientWeights.check(
            min(low for low, _ in of_rows) * min(by_class), max(high for _, high in of_rows) * max(by_class)
        )
        spans = [
            (min(each.spans[output][0] for each in facts), max(each.spans[output][1] for each in facts))
            for output in range(len(settings.losses))
        ]
        self.losses = tuple(loss.bound(np.array(span), None) for loss, span in zip(settings.losses, spans, strict=True))
        # The scale of the largest weight, as in ``best_constants.scaled_weights``.
        self.lift = 300 - int(np.frexp(max(each.most for each in facts))[1])
        if base is None:
            begins = np.concatenate([self._base(output, class_factors, n_classes) for output in range(len(spans))])
        else:
            begins = np.array(base, np.float64)
        self.boosting = Boosting(tuple(begins.tolist()), self.losses[0].link)
        self.output_of = [output for output, loss in enumerate(self.losses) for _ in range(loss.n_scores)]
        has_factors = class_factors is not None or (has_weights and not weights_are_counts)
        self.has_hessian = [has_factors or not self.losses[output].unit_hessian for output in self.output_of]
        self.grower = GrowerElsewhere(self.ask, table.bins, table.ordered, settings.tree, self.n, self.n_rows)
        self.orders = Orders(
            self.losses, begins, weights_are_counts, has_weights, class_factors, self.has_hessian, settings.subsample,
            settings.seed, self.grower.n_leaves,
        )  # fmt: skip
        evaluation = settings.evaluation
        self.other = None
        if evaluation is not None and evaluation.rows is not None:
            self.other = Scored(evaluation.rows, self.losses, begins, settings.n_threads)

    def _base(self, output: int, class_factors: Any, n_classes: Sequence[int]) -> np.ndarray:
        """The base of the scores of an output."""
        loss = self.losses[output]
        if isinstance(loss, ClassLoss):
            of_parts = replies_of(self.carrier, "weights_of_classes", output, class_factors, max(n_classes[output], 2))
            return loss.of_classes([sum(own, Fraction(0)) for own in zip(*of_parts, strict=True)])
        sums = replies_of(self.carrier, "sums", output, self.lift)
        mean = sum((product for product, _ in sums), Fraction(0)) / sum((weight for _, weight in sums), Fraction(0))
        of_mean: np.ndarray = cast("Any", loss).of_mean(float(mean))
        return of_mean

    @property
    def growers(self) -> list[Any]:
        """The object itself, which has the seconds of the stages; not a field, because a cycle would be freed late."""
        return [self]

    def begin(self) -> None:
        """Send the settings of the fit to all parts."""
        self._unless_lost(lambda: None, is_begun=False)

    def grow(self, number: int) -> None:
        """Grow the trees of a round, and add the values of their leaves to the scores."""
        kept = list(self.kept)
        scores = None if self.other is None else self.other.scores.copy()

        def grown() -> None:
            self.kept = list(kept)
            if self.other is not None:
                self.other.scores[:] = scores
            self._grow(number)

        self._unless_lost(grown, kept)

    def _unless_lost(self, work: Callable[[], Any], kept: Sequence[KeptTree] = (), *, is_begun: bool = True) -> Any:
        """Call ``work``; if a part is lost meanwhile, all begin again, add the trees ``kept``, and it is repeated.

        The other parts begin again too: some may have done the work already, and must not add to scores twice.
        """

        def done(was_lost: bool) -> Any:
            if was_lost:
                self.ask("end", self.orders.fit)
            if was_lost or not is_begun:
                self.ask("begin", self.orders)
                if self.settings.subsample < 1.0:
                    self._number_copies()
                if kept:
                    self.ask("walk", kept)
            return work()

        return unless_lost(self.carrier, done)

    def _number_copies(self) -> None:
        """Number equal rows over all parts, a share of the contents at a time: they need not fit in memory at once."""
        for share in range(2**_SHARE_BITS):
            of_parts = self.ask("equal_rows", share)
            contents, weights, copies = (np.concatenate(each) for each in zip(*of_parts, strict=True))
            part = np.repeat(np.arange(len(of_parts)), [len(own) for own, _, _ in of_parts])
            order = np.lexsort((part, weights, contents))
            before = np.cumsum(copies[order]) - copies[order]
            offsets = np.empty(len(order), np.int64)
            offsets[order] = before - before[begins_of_equals(contents[order])]
            self.ask("number_copies", share, [offsets[part == at] for at in range(len(of_parts))])

    def _grow(self, number: int) -> None:
        """Grow the trees of a round, if no part is lost."""
        settings = self.settings
        if settings.subsample < 1.0:
            drawn = self.ask("draw", number)
            if not any(n for n, _ in drawn):
                self.ask("draw_only", number, min(key for _, key in drawn))
        of_parts = self.ask("gradients")
        for score, has_hessian in enumerate(self.has_hessian):
            sizes = np.concatenate([own[score] for own in of_parts])
            scales = scales_of(sizes, self.n_rows, unit_hessian=not has_hessian)
            step = self.losses[self.output_of[score]].max_step
            tree = self.grower.grow(
                score, scales, seed_of_round(settings.seed, number, TREE, score), step, unit_hessian=not has_hessian
            )
            kept = KeptTree(tree, settings.learning_rate * tree.values)
            self.ask("add", score, self.grower.leaf_of_key, kept.adds)
            if self.other is not None:
                self.other.add(kept, score, None)
            self.kept.append(kept)

    def evaluate(self) -> tuple[float | None, float | None]:
        """The values of the evaluation, on the training rows and on the held-out rows in this process."""
        score = None if self.settings.evaluation is None else self.settings.evaluation.score
        if score is not None and self.other is not None:
            return None, float(score(self.other.scores))
        return self._unless_lost(self._loss, self.kept), None if self.other is None else self.other.loss()

    def _loss(self) -> float:
        """The mean loss of the rows, bit-identical to ``Scored.loss``."""
        of_parts, total = self.ask("losses", self.lift), 0.0
        for of_output in zip(*of_parts, strict=True):
            largest = [each.largest for each in of_output]
            if not max(largest) < LARGEST_LOSS or any(math.isnan(each) for each in largest):
                return math.nan if any(math.isnan(each) for each in largest) else math.inf
            total += float(sum(each.product for each in of_output) / sum(each.weight for each in of_output))
        return total

    def boosted(self, history: Any) -> Boosted:
        """The trees, packed; up to the best round if early stopping is on."""
        evaluation, k = self.settings.evaluation, len(self.output_of)
        kept = self.kept
        if evaluation is not None and evaluation.patience is not None:
            kept = kept[: history.best * k]
        return Boosted(packed_trees(self.table.bins, kept), self.boosting, history)


def _refuse_far(settings: BoostSettings) -> None:
    """Refuse settings that do not work for rows elsewhere, with the reason, by a ParameterError."""
    loss = settings.losses[0]
    why = ""
    if not isinstance(loss, ClassLoss) and not hasattr(loss, "of_mean"):
        why = f"loss={loss.name!r} begins with a quantile of all targets, or renews its leaves by one"
    elif settings.sampling != "uniform":
        why = f"sampling={settings.sampling!r} compares the gradients of all rows: use subsample instead"
    elif settings.evaluation is not None and settings.evaluation.rows is None and settings.evaluation.score:
        why = "a score of your own needs all predictions at once: give rows of your own (X_val, y_val)"
    if why:
        raise ParameterError(f"this fit does not work on rows in files or on a cluster: {why}")
