"""Growing one tree exactly. In: encoded matrix, schema, target, weights, settings. Out: ``Tree``. Callers: estimators.

    sort the columns -> open the root -> scan -> [frontier takes -> split -> partition and scan -> choose -> frontier is offered] -> Tree
"""

from __future__ import annotations

import math

import numpy as np

from treewright.core import progress, threads
from treewright.data.schema import Schema
from treewright.exceptions import TooLargeError
from treewright.grow import storage
from treewright.grow.exact import advance, choose, draw_columns
from treewright.grow.frontier import BestFirst, Frontier, LevelOrder
from treewright.grow.layout import MAX_ROWS, Columns, Limits, Nodes, Work
from treewright.grow.objective import Objective
from treewright.grow.presort import presort
from treewright.grow.settings import GrowSettings
from treewright.grow.split import open_root, split_nodes

from treewright.tree.arrays import LEAF, SUBSET, THRESHOLD, Tree

# Below this many cells a step runs inline: handing work to a thread and waiting for it costs about 50 us, a cell about 4 ns.
_INLINE_CELLS = 60_000


def grow(matrix: np.ndarray, schema: Schema, objective: Objective, settings: GrowSettings) -> Tree:
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

    Returns
    -------
    Tree
        The same for any number of threads.

    Raises
    ------
    TooLargeError
        More rows than an item can name (2**30 - 1).
    """
    n, p = matrix.shape
    if n > MAX_ROWS:
        raise TooLargeError(f"{n} rows: exact growth holds at most {MAX_ROWS}; fit on a sample of the rows")
    columns = presort(matrix, schema, objective.sorted_targets(), settings)
    growth = _Growth(columns, objective, _limits(objective, settings, p), settings)
    frontier: Frontier = LevelOrder() if settings.max_leaf_nodes is None else BestFirst(settings.max_leaf_nodes)
    splitting = np.array([-1], np.int32)
    while len(splitting):
        growth.step(splitting)
        frontier.offer(*growth.splittable(splitting))
        splitting = frontier.take()
        growth.split(splitting)
        progress.report(growth.share_done(splitting), "growing")
    return growth.finish(matrix)


def _limits(objective: Objective, settings: GrowSettings, p: int) -> Limits:
    """The settings in the units of the kernels."""
    min_leaf_weight = math.ceil(settings.min_weight_fraction_leaf * objective.total_weight - 0.5)
    max_features = p if settings.max_features is None else min(settings.max_features, p)
    return Limits(
        max_depth=2**31 - 1 if settings.max_depth is None else settings.max_depth,
        min_split=settings.min_samples_split,
        min_leaf=settings.min_samples_leaf,
        min_leaf_weight=max(min_leaf_weight, 0),
        min_decrease=settings.min_impurity_decrease * objective.total_weight / objective.unit,
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
        self.work = [storage.make_work(n, columns, objective) for _ in range(self.n_threads)]
        self.max_leaves = settings.max_leaf_nodes
        self.side = np.zeros(n, np.uint8)
        self.words = np.zeros((2, 64), np.uint64)
        self.n_words = 0
        self.nodes = storage.make_nodes(64, objective)
        self.n_nodes = 1
        open_root(objective.stats, columns, self.nodes, limits, np.uint64(settings.seed % 2**64))

    def split(self, splitting: np.ndarray) -> None:
        """Give each of these nodes two children."""
        self.nodes = storage.with_room(self.nodes, self.n_nodes + 2 * len(splitting))
        levels = self.columns.n_levels[self.nodes.feature[splitting]]
        needed = self.n_words + int((levels // 64 + 1)[levels > 0].sum())
        if needed > self.words.shape[1]:
            self.words = np.concatenate([self.words, np.zeros((2, needed), np.uint64)], axis=1)
        self.n_nodes, self.n_words = split_nodes(
            self.objective.stats, self.columns, self.nodes, splitting, self.n_nodes, self.words, self.n_words,
            self.limits, self.side, self.work[0],
        )  # fmt: skip

    def step(self, parents: np.ndarray) -> None:
        """Partition the parents' segments, scan their children, and pick each child's best column."""
        gains = np.empty((self.p, 2 * len(parents)))
        if self.limits.max_features >= self.p:
            everything = np.empty((0, 0), np.uint8)
            self._advance(parents, everything, gains)
            choose(self.nodes, parents, gains, self.limits)
            return
        drawn = np.empty((2 * len(parents), self.p), np.uint8)
        draw_columns(self.nodes, parents, self.limits.max_features, gains, drawn, False)
        self._advance(parents, drawn, gains)
        if choose(self.nodes, parents, gains, self.limits):
            # As scikit-learn: the search goes on until a column is found that splits the node at all.
            drawn[:] = 1
            self._advance(parents, drawn, gains)
            draw_columns(self.nodes, parents, 1, gains, drawn, True)
            choose(self.nodes, parents, gains, self.limits)

    def _advance(self, parents: np.ndarray, drawn: np.ndarray, gains: np.ndarray) -> None:
        """Run ``advance`` over the columns: inline for few cells, else a few columns at a time on the threads."""
        arguments = (
            self.objective.stats, self.columns, self.nodes, parents, self.limits, self.side, drawn, gains,
        )  # fmt: skip
        cells = self._rows_in(parents) * self.p
        if self.n_threads == 1 or cells < _INLINE_CELLS:
            advance(*arguments, 0, self.p, self.work[0])
            return
        width = max(1, min(self.p // (2 * self.n_threads), _INLINE_CELLS * self.p // cells))

        def advance_some(task: int, thread: int) -> None:
            advance(*arguments, task * width, min((task + 1) * width, self.p), self.work[thread])

        threads.run_each(advance_some, -(-self.p // width), self.n_threads)

    def _rows_in(self, parents: np.ndarray) -> int:
        """Rows of the nodes that a step works on."""
        if parents[0] < 0:
            return self.columns.order.shape[1]
        return int((self.nodes.hi[parents] - self.nodes.lo[parents]).sum())

    def splittable(self, parents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Children of these parents that have a split, in order, and its gain."""
        if parents[0] < 0:
            children = np.zeros(1, np.int32)
        else:
            children = (self.nodes.first_child[parents][:, None] + np.arange(2, dtype=np.int32)).ravel()
        children = children[self.nodes.feature[children] >= 0]
        return children, self.nodes.gain[children]

    def share_done(self, splitting: np.ndarray) -> float:
        """Roughly how much of the growth is over: leaves of the leaves allowed, or rows that are in leaves."""
        if self.max_leaves is not None:
            return (self.n_nodes + 1) / 2 / self.max_leaves
        return 1.0 - self._rows_in(splitting) / self.columns.order.shape[1] if len(splitting) else 1.0

    def finish(self, matrix: np.ndarray) -> Tree:
        """The arrays of the grown tree."""
        nodes = self.nodes
        n = self.n_nodes
        is_inner = nodes.first_child[:n] >= 0
        is_subset = is_inner & (nodes.level_set[:n] >= 0)
        feature = np.where(is_inner, nodes.feature[:n], -1).astype(np.int32)
        return Tree(
            kind=np.select([is_subset, is_inner], [SUBSET, THRESHOLD], LEAF).astype(np.uint8),
            feature=feature,
            threshold=thresholds(matrix, feature, nodes.before[:n], nodes.after[:n], is_inner & ~is_subset),
            first_child=nodes.first_child[:n].copy(),
            n_branches=np.where(is_inner, 2, 0).astype(np.int32),
            missing_branch=nodes.missing_branch[:n].copy(),
            level_set=nodes.level_set[:n].copy(),
            n_samples=nodes.hi[:n] - nodes.lo[:n],
            weight=nodes.weight[:n] / self.objective.weight_scale,
            impurity=np.minimum(nodes.impurity[:n], np.finfo(np.float64).max),
            value=self.objective.values(nodes, n),
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
        Column of the test and the rows next to the cut; ``after`` is -1 where the cut parts present from missing.
    wanted : bool[n_nodes]

    Returns
    -------
    float64[n_nodes]
        0.0 where not wanted. Never equal to the upper value, so that ``x <= threshold`` parts the two even where
        they are neighbouring floats, and finite unless it has to be.
    """
    largest = np.finfo(np.float64).max
    result = np.zeros(len(feature))
    low = matrix[before[wanted], feature[wanted]].astype(np.float64)
    high = matrix[after[wanted], feature[wanted]].astype(np.float64)
    # Halves first: the sum of two large numbers would overflow. Tiny numbers would lose their last bit by halving.
    small = np.maximum(np.abs(low), np.abs(high)) < 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        middle = np.where(small, (low + high) / 2, low / 2 + high / 2)
    middle = np.where(np.isneginf(low) & np.isposinf(high), 0.0, np.clip(middle, -largest, largest))
    middle = np.where((middle >= high) | (middle < low), low, middle)
    result[wanted] = np.where(after[wanted] < 0, np.inf, middle) + 0.0
    return result
