"""Growing a forest. In: rows as bins, target, weights, settings. Out: ``GrownForest``.

    for each tree b, a task on the threads:
        rows, counts = the rows that b draws                       (draws.Draws; all rows without bootstrap)
        objective = the statistics of these rows, times their weights and those of their classes
        tree = grow_packed(...)                                    (grow.binned; grow.grower where leaves hold medians)
        ballots.cast(what the tree says of the rows left out)      (out_of_bag.Ballots)
    pack all trees together

A tree depends on the forest's seed and on its own number alone, so neither threads nor a warm start change it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, cast

import numpy as np

from treewright.core import progress, threads
from treewright.data.bins import Bins
from treewright.data.memory import check_fits
from treewright.data.schema import Schema
from treewright.data.weights import Factors, weighed
from treewright.exceptions import ParameterError, TooLargeError
from treewright.forest.draws import GROWTH, Draws, candidate_columns, counts_of_rows, row_order, rows_without, seeds_of
from treewright.forest.out_of_bag import Ballots, Votes
from treewright.grow.binned.grower import grow_binned, grow_packed
from treewright.grow.exact.grower import grow
from treewright.grow.objective import Objective, classification_objective, regression_objective
from treewright.grow.settings import BinnedSettings
from treewright.model.trees import ListedTrees
from treewright.predict.route import leaf_of
from treewright.predict.walks import leaf_rows_of_bins
from treewright.tree.arrays import Tree
from treewright.tree.packed import PackedTrees
from treewright.tree.packing import join
from treewright.tree.records import MAX_NODES

# Criteria that no histogram of sums can follow: their trees are grown on the cells.
EXACT_CRITERIA = ("absolute_error",)
# What a tree takes besides its nodes while its forest is grown: a dozen array headers.
_TREE_BYTES = 2000
_REMEDY = "use fewer trees, or smaller ones (max_depth, min_samples_leaf, max_leaf_nodes)"
ClassWeights = Factors | Callable[[np.ndarray, np.ndarray | None], Factors] | None
Room = Callable[[tuple[int, ...], Any], np.ndarray]


@dataclass(frozen=True)
class ForestSettings:
    """Everything that decides which forest is grown, and the number of threads, which does not.

    Attributes
    ----------
    tree : BinnedSettings
        Of every tree; ``seed``, ``counts_rows`` and ``n_threads`` are set by the forest, which draws from
        ``candidates``.
    n_trees : int >= 0
    n_classes : tuple of int
        Classes per output; empty for regression.
    seed : int
    n_draws : int >= 1, or None
        Rows that each tree draws; None: every tree sees every row.
    replace : bool
        Whether a tree may draw a row again (``draws.Draws``).
    class_factors : tuple of float64[n_classes], or callable, or None
        What a row weighs by its classes, after the draw: a number > 0 for each class of each output, or a function that
        takes the codes of the drawn rows, int32[m, n_outputs] (a row that was drawn twice is there twice), and their
        weights, float64[m] or None.
    max_features_per_tree : int >= 1, or None
        Columns drawn once for each tree, beside those that its nodes draw from them.
    out_of_bag : bool
        Whether trees vote on the rows that they did not draw.
    one_vote_each : bool
        Whether such a vote goes to one class, not to all by their shares.
    n_threads : int >= 1
    first_tree : int >= 0
        The number of the first tree: a tree depends on its number, not on those grown before.
    """

    tree: BinnedSettings
    n_trees: int
    n_classes: tuple[int, ...] = ()
    seed: int = 0
    n_draws: int | None = None
    replace: bool = True
    class_factors: ClassWeights = None
    max_features_per_tree: int | None = None
    out_of_bag: bool = False
    one_vote_each: bool = False
    n_threads: int = 1
    first_tree: int = 0

    @property
    def is_exact(self) -> bool:
        """Whether trees are kept as ``Tree``, and grown on the cells where cuts are not random."""
        return self.tree.criterion in EXACT_CRITERIA

    def check(self) -> None:
        """ParameterError for what cannot be grown."""
        if self.out_of_bag and self.n_draws is None:
            raise ParameterError("oob_score=True needs trees that leave rows out: set bootstrap=True")
        if self.is_exact and self.tree.interactions and not self.tree.random_cuts:
            raise ParameterError(
                f"criterion={self.tree.criterion!r} grows trees on the cells, which know no interaction_cst: use "
                "criterion='squared_error'"
            )


@dataclass(frozen=True, eq=False)
class GrownForest:
    """Trees, and what was found out while they grew.

    Attributes
    ----------
    trees : PackedTrees or ListedTrees
        In the order of their numbers. ``Tree`` where the criterion needs growth on the cells.
    votes : Votes or None
        What the trees say of the rows they did not draw, where ``out_of_bag`` asked for it.
    draws : Draws or None
        Which rows each tree drew; None where each saw all of them.
    """

    trees: PackedTrees | ListedTrees
    votes: Votes | None
    draws: Draws | None


def refuse_too_many(n_trees: int, n_columns: int) -> None:
    """TooLargeError for a forest whose trees would not fit in memory even if each were a leaf."""
    if n_trees > MAX_NODES:
        raise TooLargeError(f"a forest of {n_trees} trees: at most {MAX_NODES} nodes can be numbered; {_REMEDY}")
    check_fits(n_trees * (_TREE_BYTES + 8 * n_columns), f"a forest of {n_trees} trees", _REMEDY)


def grow_forest(
    codes: np.ndarray,
    matrix: np.ndarray | None,
    bins: Bins,
    schema: Schema,
    target: np.ndarray,
    weights: np.ndarray | None,
    settings: ForestSettings,
) -> GrownForest:
    """Grow a forest.

    Parameters
    ----------
    codes : uint8[n, stride], n >= 1
        Rows as bins (``data.bin_rows``).
    matrix : float64[n, p] or float32[n, p], or None
        The encoded table; needed only where ``settings.is_exact``.
    bins : Bins
    schema : Schema
    target : int32[n, n_outputs] or float64[n, n_outputs]
        Class codes where ``settings.n_classes`` says so, else numbers.
    weights : float64[n], > 0, or None
        Trees that draw rows draw them by weight, others weigh them. Whole-number weights are numbers of rows
        (``draws.counts_of_rows``).
    settings : ForestSettings

    Returns
    -------
    GrownForest
        The same for any number of threads.
    """
    growth = Growth(codes, matrix, bins, schema, target, weights, settings)
    size = Size(settings.n_trees, growth.n_at_once(settings.n_trees), is_packed=not settings.is_exact)
    done = itertools.count(1)

    def heed(task: int, tree: PackedTrees | Tree) -> None:
        n_done = next(done)
        size.heed(task, tree, n_done)
        progress.report(n_done / settings.n_trees, "growing")

    grown: list[Any] = growth.trees(range(settings.first_tree, settings.first_tree + settings.n_trees), heed)
    progress.report(1.0, "growing")
    return GrownForest(ListedTrees(grown) if settings.is_exact else join(grown), growth.votes(), growth.draws)


class Growth:
    """What all trees of a forest have in common, and the growth of some of them; parameters as of ``grow_forest``.

    ``room`` makes the array, of a shape and dtype, that takes the bins of a tree's rows; memory by default.
    """

    def __init__(
        self,
        codes: np.ndarray,
        matrix: np.ndarray | None,
        bins: Bins,
        schema: Schema,
        target: np.ndarray,
        weights: np.ndarray | None,
        settings: ForestSettings,
        *,
        room: Room | None = None,
    ) -> None:
        settings.check()
        if settings.is_exact and matrix is None:
            raise ValueError(f"criterion {settings.tree.criterion!r} needs the matrix")
        refuse_too_many(settings.n_trees, bins.n_columns)
        self.codes, self.matrix, self.bins, self.schema = codes, matrix, bins, schema
        self.target, self.weights, self.settings, self.room = target, weights, settings, room
        self.n_outer = self.n_at_once(settings.n_trees)
        self.repeats = counts_of_rows(weights)
        self.draws: Draws | None = None
        self.ballots: Ballots | None = None
        self.of_all: Objective | None = None
        self.every_row = np.arange(len(codes), dtype=np.int32)
        if settings.n_draws is not None:
            cells = matrix if settings.is_exact else None
            order = row_order(codes, target, n_columns=bins.n_columns, weights=weights, matrix=cells)
            self.draws = Draws(order, settings.n_draws, settings.seed, weights=weights, replace=settings.replace)
        elif not settings.is_exact:
            # Of the same rows for every tree.
            self.of_all = self._objective(*self._weighed_rows(self.every_row, None))
        if settings.out_of_bag:
            n_trees = settings.first_tree + settings.n_trees
            self.ballots = Ballots(target, settings.n_classes, n_trees, self.n_outer, one_each=settings.one_vote_each)

    def n_at_once(self, n_trees: int) -> int:
        """How many of so many trees grow side by side: with far fewer than threads one by one, each on all threads."""
        n_threads = self.settings.n_threads
        return max(1, min(n_threads if 2 * n_trees > n_threads else 1, n_trees))

    def trees(
        self, numbers: range, heed: Callable[[int, PackedTrees | Tree], None] = lambda _task, _tree: None
    ) -> list[PackedTrees | Tree]:
        """Grow some of the trees and let them vote; ``heed`` hears of each with its place among these."""
        self.n_outer = self.n_at_once(len(numbers))
        trees: list[Any] = [None] * len(numbers)

        def grow_one(task: int, thread: int) -> None:
            with progress.without("growing"):
                trees[task] = self._tree(numbers[task], thread)
            heed(task, trees[task])

        threads.run_each(grow_one, len(numbers), self.n_outer)
        return trees

    def votes(self) -> Votes | None:
        """What the trees grown so far say of the rows that they did not draw."""
        return None if self.ballots is None else self.ballots.total()

    @property
    def counts_rows(self) -> bool:
        """Whether the weights that a tree grows on are numbers of rows."""
        has_counts = self.repeats is not None if self.draws is None else not self._draws_each_once
        return has_counts and self.settings.class_factors is None

    @property
    def _draws_each_once(self) -> bool:
        """Whether no row can be drawn twice."""
        return not self.settings.replace and self.repeats is None

    def _tree(self, number: int, thread: int) -> PackedTrees | Tree:
        """Grow a tree and let it vote."""
        rows, counts = (self.every_row, None) if self.draws is None else self.draws.counts(number)
        settings = self._tree_settings(number)
        if self.settings.is_exact:
            exact = self._exact_tree(rows, counts, settings)
            if self.ballots is not None:
                left_out = rows_without(rows, len(self.codes))
                cells = cast("np.ndarray", self.matrix)[left_out]
                self.ballots.cast(thread, left_out, leaf_of(exact, cells, 1), exact.value)
            return exact
        grown_on, weights = self._weighed_rows(rows, counts)
        objective = self.of_all or self._objective(grown_on, weights)
        packed = grow_packed(self.codes, grown_on, self.bins, self.schema, objective, settings, self.room)
        if self.ballots is not None:
            left_out = rows_without(rows, len(self.codes))
            self.ballots.cast(thread, left_out, leaf_rows_of_bins(packed, self.codes, left_out), packed.leaf_value)
        return packed

    def _tree_settings(self, number: int) -> BinnedSettings:
        """The settings of one tree."""
        settings, p = self.settings, self.bins.n_columns
        seed = int(seeds_of(settings.seed, number, 1)[0, GROWTH])
        candidates = settings.tree.candidates  # without those that are left out
        n_used = p if candidates is None else len(candidates)
        if settings.max_features_per_tree is not None and settings.max_features_per_tree < n_used:
            chosen = candidate_columns(settings.seed, number, n_used, settings.max_features_per_tree)
            candidates = chosen if candidates is None else candidates[chosen]
        # Work that is handed out in a thread of the pool runs there: only a single tree can use several.
        n_inner = settings.n_threads if self.n_outer == 1 else 1
        return replace(settings.tree, seed=seed, candidates=candidates, counts_rows=self.counts_rows, n_threads=n_inner)

    def _weighed_rows(self, rows: np.ndarray, counts: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
        """The rows int32[m] that a tree grows on, and their weights float64[m] or None.

        ``counts`` int32[m] says how often it drew each of ``rows``; None: it sees all rows.
        """
        factors = self.settings.class_factors
        weights = self.weights
        if counts is not None:
            weights = None if self._draws_each_once else counts.astype(np.float64)
        if factors is None:
            return rows, weights
        times = self.repeats if counts is None else counts
        if times is not None:
            # A row that counts as several is there so often: limits in rows stay limits in rows where classes weigh.
            rows, weights = np.repeat(rows, times), None
        codes = self.target[rows]
        return rows, weighed(weights, factors(codes, weights) if callable(factors) else factors, codes)

    def _objective(self, rows: np.ndarray, weights: np.ndarray | None) -> Objective:
        """The statistics of some rows."""
        target = self.target if rows is self.every_row else self.target[rows]
        if self.settings.n_classes:
            return classification_objective(target, self.settings.n_classes, weights, self.settings.tree.criterion)
        return regression_objective(target, weights, self.settings.tree.criterion)

    def _exact_tree(self, rows: np.ndarray, counts: np.ndarray | None, settings: BinnedSettings) -> Tree:
        """A tree that is not packed; weights that are numbers of rows are that many rows."""
        times = self.repeats if counts is None else counts
        if times is not None:
            rows = np.repeat(rows, times)
        objective = self._objective(rows, self.weights if times is None else None)
        if settings.random_cuts:
            return grow_binned(self.codes[rows], self.bins, self.schema, objective, settings)
        matrix = cast("np.ndarray", self.matrix)[rows]
        if settings.candidates is None:
            return grow(matrix, self.schema, objective, settings)
        chosen = settings.candidates.tolist()
        some = Schema(tuple(self.schema.columns[column] for column in chosen), self.schema.named)
        if settings.monotone is not None:
            settings = replace(settings, monotone=tuple(settings.monotone[column] for column in chosen))
        tree = grow(matrix[:, chosen], some, objective, settings)
        # A leaf's column is -1, which here names the last of the candidates.
        named = np.where(tree.is_leaf, -1, np.array(chosen)[tree.feature]).astype(np.int32)
        return replace(tree, feature=named)


class Size:
    """Foretells from the first trees what a forest will take, and raises TooLargeError before it is too late."""

    def __init__(self, n_trees: int, n_threads: int, *, is_packed: bool) -> None:
        self.n_trees, self.next_look, self.is_packed = n_trees, n_threads, is_packed
        # Of each tree, 0 while it grows: threads add nothing up that they could both change.
        self.n_nodes, self.n_bytes = np.zeros((2, n_trees), np.int64)

    def heed(self, task: int, tree: PackedTrees | Tree, n_done: int) -> None:
        """Note a tree, and look ahead after the first ``n_threads``, and whenever there are twice as many."""
        self.n_nodes[task] = tree.n_nodes
        self.n_bytes[task] = _TREE_BYTES + sum(array.nbytes for array in _arrays_of(tree))
        if n_done < self.next_look:
            return
        self.next_look = 2 * n_done
        known = np.count_nonzero(self.n_bytes)
        nodes, size = float(self.n_nodes.sum()) / known, float(self.n_bytes.sum()) / known
        what = f"a forest of {self.n_trees} trees of about {nodes:.0f} nodes"
        if self.is_packed and nodes * self.n_trees > MAX_NODES:
            raise TooLargeError(f"{what}: at most {MAX_NODES} nodes can be numbered; {_REMEDY}")
        # What is grown is allocated already; packing the trees together takes as much again.
        check_fits(int(size * (self.n_trees * (1 + self.is_packed) - known)), what, _REMEDY)


def _arrays_of(tree: PackedTrees | Tree) -> list[np.ndarray]:
    """The arrays of a tree of either form."""
    held = (getattr(tree, each.name) for each in fields(tree))
    return [value for value in held if isinstance(value, np.ndarray)]
