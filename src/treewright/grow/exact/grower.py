"""Growing one tree exactly. In: encoded matrix, schema, target, weights, settings. Out: ``Tree``.

sort the columns -> open the root -> scan -> [split -> partition and scan -> choose] -> Tree
"""

from __future__ import annotations

import math

import numpy as np

from treewright.core import progress, threads
from treewright.data.bins import middle_of
from treewright.data.schema import Schema
from treewright.exceptions import TooLargeError
from treewright.grow.exact.presort import presort
from treewright.grow.exact.steps import EVERY_COLUMN, advance_some, choose_some, draw_columns, grow_levels, split_some
from treewright.grow.layout import MAX_ROWS, Columns, Limits, make_nodes, make_work, values_of, with_room
from treewright.grow.objective import Objective
from treewright.grow.settings import BestFirst, GrowSettings
from treewright.trees.arrays import LEAF, SUBSET, THRESHOLD, Tree

# Below this many cells a step runs inline: handing work to a thread and waiting for it takes about 50 us, a cell about
# 4 ns.
_INLINE_CELLS = 60_000
# Cells that a kernel may read before it returns to Python, where Ctrl-C has an effect: about a tenth of a second.
_CALL_CELLS = 20_000_000
_NODES_AT_ONCE = 2048  # of a level: bounds the scratch for gains at 32 KB a column
_ROOT = np.full(1, -1, np.int32)  # stands for "scan the root"


def grow(
    matrix: np.ndarray,
    schema: Schema,
    objective: Objective,
    settings: GrowSettings,
    columns: Columns | None = None,
) -> Tree:
    """Grow a tree on every candidate split.

    Parameters
    ----------
    matrix : float64[n, p] or float32[n, p]
        The encoded table: nan is missing, nominal cells are level codes. It is only read.
    schema : Schema
        Kinds and numbers of levels of the columns.
    objective : Objective
        Target, weights and criterion as integer statistics.
    settings : GrowSettings
    columns : Columns, optional
        The result of ``presort`` for this matrix, these targets and settings; growing puts it in another order.

    Returns
    -------
    Tree
        The same for any number of threads.
    """
    n, p = matrix.shape
    if n > MAX_ROWS:
        raise TooLargeError(f"{n} rows: exact growth holds at most {MAX_ROWS}; fit on a sample of the rows")
    if columns is None:
        columns = presort(matrix, schema, objective.sorted_targets(), settings)
    growth = _Growth(columns, objective, limits_of(objective, settings, p), settings)
    del columns  # so that a finished growth frees them while the tree is made
    if settings.max_leaf_nodes is None:
        growth.level_by_level()
    else:
        growth.best_first(BestFirst(settings.max_leaf_nodes))
    return growth.finish(matrix)


def limits_of(objective: Objective, settings: GrowSettings, p: int) -> Limits:
    """The settings in the units of the kernels."""
    # A share is stated in decimals: 7 of 100 rows are 0.07, though 0.07 * 100 is a little more than 7.
    min_leaf_weight = math.ceil(settings.min_weight_fraction_leaf * objective.total_weight * (1.0 - 1e-12))
    min_decrease = settings.min_impurity_decrease * objective.total_weight
    for unit in objective.units:
        min_decrease /= unit
    max_features = p if settings.max_features is None else min(settings.max_features, p)
    return Limits(
        max_depth=2**31 - 1 if settings.max_depth is None else settings.max_depth,
        min_split=settings.min_samples_split,
        min_leaf=settings.min_samples_leaf,
        min_leaf_weight=min_leaf_weight,
        min_decrease=min_decrease,
        max_features=max_features,
        is_monotone=settings.monotone is not None and any(settings.monotone),
    )


class _Growth:
    """The arrays of a tree while it grows, and the two steps that change them."""

    def __init__(self, columns: Columns, objective: Objective, limits: Limits, settings: GrowSettings) -> None:
        self.columns, self.objective, self.limits = columns, objective, limits
        self.p = len(columns.code_row)
        n = columns.order.shape[1]
        self.n_threads = min(settings.n_threads, self.p) if n * self.p > _INLINE_CELLS else 1
        self.work = [make_work(n, columns, objective) for _ in range(self.n_threads)]
        self.side = np.zeros(n, np.uint8)
        self.words = np.zeros((2, 64), np.uint64)
        self.n_words = 0
        self.nodes = make_nodes(64, columns, objective, limits)
        self.n_nodes = 0
        self.seed = np.uint64(settings.seed % 2**64)

    def level_by_level(self) -> None:
        """Split every leaf of a level at once: large levels on the threads, the rest in one kernel."""
        splitting = self._grow_levels(_ROOT, 0)
        while len(splitting):
            is_small = self.n_threads == 1 or self._rows_in(splitting) * self.p < _INLINE_CELLS
            if is_small and self.limits.max_features >= self.p:
                splitting = self._grow_levels(splitting, _CALL_CELLS)
            else:
                some = range(0, len(splitting), _NODES_AT_ONCE)
                splitting = np.concatenate([self.step(splitting[at : at + _NODES_AT_ONCE]) for at in some])
            if progress.is_heard():
                progress.report(1.0 - self._rows_in(splitting) / self.columns.order.shape[1], "growing")

    def best_first(self, frontier: BestFirst) -> None:
        """Split the leaf whose split gains most, until the leaves are used up."""
        splitting = self._grow_levels(_ROOT, 0)
        while len(splitting):
            children = self.step(splitting)
            frontier.offer(children, self.nodes.gain[children], self.nodes.tolerance[children])
            splitting = frontier.take()
            progress.report(frontier.share_done, "growing")

    def _grow_levels(self, splitting: np.ndarray, cells: int) -> np.ndarray:
        """Open the root if there is none, and go on in compiled code for about so many cells.

        Returns the nodes that are still to be split.
        """
        self._make_room(splitting)
        buffer = np.empty((2, max(64, 4 * len(splitting))), np.int32)
        buffer[0, : len(splitting)] = splitting
        gains = np.empty((self.p, min(buffer.shape[1], 2 * _NODES_AT_ONCE)))
        n_splitting, self.n_nodes, self.n_words = grow_levels(
            self.objective.stats, self.columns, self.nodes, buffer, len(splitting), self.n_nodes, self.words,
            self.n_words, self.limits, self.side, gains, self.work[0], cells, self.seed,
        )  # fmt: skip
        return buffer[0, :n_splitting]

    def _make_room(self, splitting: np.ndarray) -> None:
        """Room for the children and the level sets of these splits."""
        needed = self.n_nodes + 2 * len(splitting)
        if needed > len(self.nodes.lo):
            arrays = list(self.nodes)
            del self.nodes
            self.nodes = with_room(arrays, needed)
        if not len(self.columns.codes) or splitting[0] < 0:
            return
        levels = self.columns.n_levels[self.nodes.feature[splitting]]
        needed = self.n_words + int((levels // 64 + 1)[levels > 0].sum())
        if needed > self.words.shape[1]:
            self.words = np.concatenate([self.words, np.zeros((2, needed), np.uint64)], axis=1)

    def step(self, parents: np.ndarray) -> np.ndarray:
        """Split these nodes, scan their children, pick each child's best column; returns the children that have one."""
        if parents[0] >= 0:
            self._make_room(parents)
            self.n_nodes, self.n_words = split_some(
                self.objective.stats, self.columns, self.nodes, parents, self.n_nodes, self.words, self.n_words,
                self.limits, self.side, self.work[0],
            )  # fmt: skip
        gains = np.empty((self.p, 2 * len(parents)))
        splitting = np.empty(2 * len(parents), np.int32)
        if self.limits.max_features >= self.p:
            self._advance(parents, EVERY_COLUMN, gains)
            _, n_splitting = choose_some(self.nodes, parents, gains, self.limits, splitting)
            return splitting[:n_splitting]
        drawn = np.empty((2 * len(parents), self.p), np.uint8)
        draw_columns(self.nodes, parents, self.limits.max_features, gains, drawn, False)
        self._advance(parents, drawn, gains)
        n_without, n_splitting = choose_some(self.nodes, parents, gains, self.limits, splitting)
        if n_without:
            # As in scikit-learn: the search continues until a column splits the node at all.
            drawn[:] = 1
            self._advance(parents, drawn, gains)
            draw_columns(self.nodes, parents, 1, gains, drawn, True)
            _, n_splitting = choose_some(self.nodes, parents, gains, self.limits, splitting)
        return splitting[:n_splitting]

    def _advance(self, parents: np.ndarray, drawn: np.ndarray, gains: np.ndarray) -> None:
        """Partition and scan: inline for few cells, else a few columns at a time on the threads."""
        arguments = (
            self.objective.stats, self.columns, self.nodes, parents, self.limits, self.side, drawn, gains,
        )  # fmt: skip
        cells = 0 if self.n_threads == 1 else self._rows_in(parents) * self.p
        if cells < _INLINE_CELLS:
            advance_some(*arguments, 0, self.p, self.work[0])
            return
        width = max(1, min(self.p // (2 * self.n_threads), _INLINE_CELLS * self.p // cells))

        def advance_columns(task: int, thread: int) -> None:
            advance_some(*arguments, task * width, min((task + 1) * width, self.p), self.work[thread])

        threads.run_each(advance_columns, -(-self.p // width), self.n_threads)

    def _rows_in(self, parents: np.ndarray) -> int:
        """Rows of the nodes that a step works on."""
        if len(parents) and parents[0] < 0:
            return self.columns.order.shape[1]
        return int((self.nodes.hi[parents] - self.nodes.lo[parents]).sum())

    def finish(self, matrix: np.ndarray) -> Tree:
        """The arrays of the grown tree; the growth is over after this."""
        # A full tree takes as much memory as the sorted columns, which are no longer needed.
        del self.columns, self.work, self.side
        nodes = self.nodes
        n = self.n_nodes
        is_inner = nodes.first_child[:n] >= 0
        level_set = nodes.level_set[:n].copy() if len(nodes.level_set) else np.full(n, -1, np.int32)
        is_subset = level_set >= 0
        feature = np.where(is_inner, nodes.feature[:n], -1).astype(np.int32)
        return Tree(
            kind=np.select([is_subset, is_inner], [SUBSET, THRESHOLD], LEAF).astype(np.uint8),
            feature=feature,
            threshold=thresholds(matrix, feature, nodes.before[:n], nodes.after[:n], is_inner & ~is_subset),
            first_child=nodes.first_child[:n].copy(),
            n_branches=np.where(is_inner, 2, 0).astype(np.int32),
            missing_branch=nodes.missing_branch[:n].astype(np.int32),
            level_set=level_set,
            n_samples=(nodes.hi[:n] - nodes.lo[:n]).astype(np.int64),
            weight=np.ldexp(nodes.weight[:n].astype(np.float64), -self.objective.weight_exponent),
            impurity=np.minimum(nodes.impurity[:n], np.finfo(np.float64).max),
            value=values_of(self.objective, nodes, n),
            levels_left=self.words[0, : self.n_words].copy(),
            levels_seen=self.words[1, : self.n_words].copy(),
        )


def thresholds(
    matrix: np.ndarray, feature: np.ndarray, before: np.ndarray, after: np.ndarray, wanted: np.ndarray
) -> np.ndarray:
    """The middle between the values on both sides of each cut.

    Parameters
    ----------
    matrix : float[n, p]
    feature, before, after : int[n_nodes]
        Column of the test and the rows next to the cut; ``after`` is -1 if the cut separates present from missing.
    wanted : bool[n_nodes]

    Returns
    -------
    float64[n_nodes]
        0.0 if not wanted. Never equal to the upper value, so that ``x <= threshold`` separates the two even if they are
        neighbouring floats, and finite if possible.
    """
    result = np.zeros(len(feature))
    low = matrix[before[wanted], feature[wanted]].astype(np.float64)
    high = matrix[after[wanted], feature[wanted]].astype(np.float64)
    result[wanted] = np.where(after[wanted] < 0, np.inf, middle_of(low, high))
    return result
