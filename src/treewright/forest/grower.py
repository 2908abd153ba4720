"""Growing a forest. In: rows as bins, target, weights, settings. Out: ``GrownForest``.

    for each tree b, a task on the threads:
        rows, counts = the rows sampled for b                      (draws.Draws; all rows without bootstrap)
        objective = the statistics of these rows, times their weights and those of their classes
        tree = grow_packed(...)                                    (grow.binned; grow.grower where leaves hold medians)
        ballots.cast(predictions for the rows left out)            (out_of_bag.Ballots)
    pack all trees together

A tree depends only on the forest's seed and its own number, so neither threads nor a warm start change it.
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
from treewright.data.row_content import row_order
from treewright.data.schema import Schema
from treewright.data.target import Factors, weighed
from treewright.exceptions import ParameterError, TooLargeError
from treewright.forest.draws import GROWTH, Draws, candidate_columns, counts_of_rows, rows_without, seeds_of
from treewright.forest.out_of_bag import Ballots, Votes
from treewright.grow.binned.grower import grow_binned, grow_packed
from treewright.grow.exact.grower import grow
from treewright.grow.objective import Objective, classification_objective, regression_objective
from treewright.grow.settings import BinnedSettings
from treewright.predict.route import leaf_of
from treewright.predict.walks import leaf_rows_of_bins
from treewright.trees.arrays import MAX_NODES, Tree
from treewright.trees.data import ListedTrees
from treewright.trees.packed import PackedTrees, join

# Criteria that histograms of sums cannot compute: their trees are grown on the cells.
EXACT_CRITERIA = ("absolute_error",)
# Memory of a tree in addition to its nodes while its forest is grown: a dozen array headers.
_TREE_BYTES = 2000
_REMEDY = "use fewer trees, or smaller ones (max_depth, min_samples_leaf, max_leaf_nodes)"
ClassWeights = Factors | Callable[[np.ndarray, np.ndarray | None], Factors] | None
Room = Callable[[tuple[int, ...], Any], np.ndarray]


@dataclass(frozen=True)
class ForestSettings:
    """All settings of a forest, and the number of threads, which does not change it.

    Attributes
    ----------
    tree : BinnedSettings
        The settings of every tree; the forest sets ``seed``, ``counts_rows`` and ``n_threads``, and samples from
        ``candidates``.
    n_trees : int >= 0
    n_classes : tuple of int
        Classes per output; empty for regression.
    seed : int
    n_draws : int >= 1, or None
        Rows sampled for each tree; None: every tree is fitted on all rows.
    replace : bool
        Whether rows are sampled with replacement (``draws.Draws``).
    class_factors : tuple of float64[n_classes], or callable, or None
        The class weights of rows, applied after sampling: a number > 0 for each class of each output, or a function of
        the codes of the sampled rows, int32[m, n_outputs] (a row drawn twice occurs twice), and their weights,
        float64[m] or None.
    max_features_per_tree : int >= 1, or None
        Columns sampled once for each tree; its nodes sample from them.
    out_of_bag : bool
        Whether trees vote on their out-of-bag rows.
    one_vote_each : bool
        Whether such a vote is for one class, instead of all classes by their proportions.
    n_threads : int >= 1
    first_tree : int >= 0
        The number of the first tree: a tree depends on its number, not on the trees before it.
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
        """Whether trees are kept as ``Tree``, and grown on the cells unless cuts are random."""
        return self.tree.criterion in EXACT_CRITERIA

    def check(self) -> None:
        """Refuse impossible settings with a ParameterError."""
        if self.out_of_bag and self.n_draws is None:
            raise ParameterError("oob_score=True needs trees with out-of-bag rows: set bootstrap=True")
        if self.is_exact and self.tree.interactions and not self.tree.random_cuts:
            raise ParameterError(
                f"criterion={self.tree.criterion!r} grows trees on the cells, without interaction_cst: use "
                "criterion='squared_error'"
            )


@dataclass(frozen=True, eq=False)
class GrownForest:
    """The trees of a forest, with their out-of-bag votes and draws.

    ``trees``: in the order of their numbers. ``Tree`` if the criterion needs growth on the cells.
    ``votes``: the votes of the trees on their out-of-bag rows, with ``out_of_bag``.
    ``draws``: the rows sampled for each tree; None if each is fitted on all rows.
    """

    trees: PackedTrees | ListedTrees
    votes: Votes | None
    draws: Draws | None


def refuse_too_many(n_trees: int, n_columns: int) -> None:
    """Refuse a forest whose trees would not fit in memory even if each were a leaf, with a TooLargeError."""
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

    ``codes`` (uint8[n, stride], n >= 1): rows as bins (``data.bin_rows``). ``matrix`` (float64[n, p] or float32[n, p],
    or None): the encoded table; needed only if ``settings.is_exact``. ``target`` (int32[n, n_outputs] or float64[n,
    n_outputs]): class codes if ``settings.n_classes`` is not empty, else numbers. ``weights`` (float64[n], > 0, or
    None): sampled rows are sampled by weight, otherwise rows are weighted. Whole-number weights are numbers of rows
    (``draws.counts_of_rows``). Returns GrownForest: the same for any number of threads.
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
    """The common parts of a forest's trees, and the growth of some of them; parameters as for ``grow_forest``.

    ``room`` makes the array, of a shape and dtype, for the bins of a tree's rows; in memory by default.
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
            # The same rows for every tree.
            self.of_all = self._objective(*self._weighed_rows(self.every_row, None))
        if settings.out_of_bag:
            n_trees = settings.first_tree + settings.n_trees
            self.ballots = Ballots(target, settings.n_classes, n_trees, self.n_outer, one_each=settings.one_vote_each)

    def n_at_once(self, n_trees: int) -> int:
        """How many trees grow at the same time: far fewer than threads grow one by one, each on all threads."""
        n_threads = self.settings.n_threads
        return max(1, min(n_threads if 2 * n_trees > n_threads else 1, n_trees))

    def trees(
        self, numbers: range, heed: Callable[[int, PackedTrees | Tree], None] = lambda _task, _tree: None
    ) -> list[PackedTrees | Tree]:
        """Grow some of the trees and let them vote; ``heed`` is called for each with its position among these."""
        self.n_outer = self.n_at_once(len(numbers))
        trees: list[Any] = [None] * len(numbers)

        def grow_one(task: int, thread: int) -> None:
            with progress.without("growing"):
                trees[task] = self._tree(numbers[task], thread)
            heed(task, trees[task])

        threads.run_each(grow_one, len(numbers), self.n_outer)
        return trees

    def votes(self) -> Votes | None:
        """The votes of the trees grown so far on their out-of-bag rows."""
        return None if self.ballots is None else self.ballots.total()

    @property
    def counts_rows(self) -> bool:
        """Whether the weights of a tree's rows are numbers of rows."""
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
        candidates = settings.tree.candidates  # without the columns that are left out
        n_used = p if candidates is None else len(candidates)
        if settings.max_features_per_tree is not None and settings.max_features_per_tree < n_used:
            chosen = candidate_columns(settings.seed, number, n_used, settings.max_features_per_tree)
            candidates = chosen if candidates is None else candidates[chosen]
        # Tasks started in a thread of the pool run in that thread: only a single tree can use several.
        n_inner = settings.n_threads if self.n_outer == 1 else 1
        return replace(settings.tree, seed=seed, candidates=candidates, counts_rows=self.counts_rows, n_threads=n_inner)

    def _weighed_rows(self, rows: np.ndarray, counts: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
        """The training rows of a tree, int32[m], and their weights, float64[m] or None.

        ``counts`` int32[m]: how often each of ``rows`` was drawn; None: all rows are used.
        """
        factors = self.settings.class_factors
        weights = self.weights
        if counts is not None:
            weights = None if self._draws_each_once else counts.astype(np.float64)
        if factors is None:
            return rows, weights
        times = self.repeats if counts is None else counts
        if times is not None:
            # A row that counts as several is repeated, so that limits in rows stay limits in rows with class weights.
            rows, weights = np.repeat(rows, times), None
        codes = self.target[rows]
        return rows, weighed(weights, factors(codes, weights) if callable(factors) else factors, codes)

    def _objective(self, rows: np.ndarray, weights: np.ndarray | None) -> Objective:
        """The objective of some rows."""
        target = self.target if rows is self.every_row else self.target[rows]
        if self.settings.n_classes:
            return classification_objective(target, self.settings.n_classes, weights, self.settings.tree.criterion)
        return regression_objective(target, weights, self.settings.tree.criterion)

    def _exact_tree(self, rows: np.ndarray, counts: np.ndarray | None, settings: BinnedSettings) -> Tree:
        """A tree that is not packed; for weights that are numbers of rows, rows are repeated."""
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
        # A leaf's column is -1, which here selects the last of the candidates.
        named = np.where(tree.is_leaf, -1, np.array(chosen)[tree.feature]).astype(np.int32)
        return replace(tree, feature=named)


class Size:
    """Estimates the memory of a forest from its first trees, and raises TooLargeError in time."""

    def __init__(self, n_trees: int, n_threads: int, *, is_packed: bool) -> None:
        self.n_trees, self.next_look, self.is_packed = n_trees, n_threads, is_packed
        # A cell for each tree, 0 while it grows, so that no two threads write the same cell.
        self.n_nodes, self.n_bytes = np.zeros((2, n_trees), np.int64)

    def heed(self, task: int, tree: PackedTrees | Tree, n_done: int) -> None:
        """Record a tree; estimate after the first ``n_threads``, and whenever their number has doubled."""
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
        # The grown trees are already allocated; packing them together takes as much again.
        check_fits(int(size * (self.n_trees * (1 + self.is_packed) - known)), what, _REMEDY)


def _arrays_of(tree: PackedTrees | Tree) -> list[np.ndarray]:
    """The arrays of a tree of either form."""
    held = (getattr(tree, each.name) for each in fields(tree))
    return [value for value in held if isinstance(value, np.ndarray)]
