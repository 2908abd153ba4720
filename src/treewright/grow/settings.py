"""The settings of each grower, checked, and the leaf to split next if leaves are limited.

A node's best split depends on its rows alone, so the order of growth decides only which splits are made before the
leaves are used up, and how the nodes are numbered. Without a limit on leaves the grower takes whole levels and needs no
queue.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from dataclasses import dataclass
from typing import Literal

import numpy as np

from treewright.data.bins import MAX_LEVEL_BINS
from treewright.data.schema import Schema

# A level of few rows can be told from others only in a set with them. Where levels have rows enough, sets lose less
# than the noise of an order. A column of more levels than bins has no sets of single levels.
MANY_LEVELS = 32
FEW_ROWS_OF_LEVEL = 32
_MOST_BITS = 1 << 29
REGRESSION_CRITERIA = ("squared_error", "absolute_error", "poisson")
Order = Literal["leaf", "level", "symmetric"]


def columns_of_many_levels(schema: Schema, n_rows: int, few_rows: int = FEW_ROWS_OF_LEVEL) -> tuple[int, ...]:
    """Nominal columns with more than 254 levels, or with 32 and more and fewer than ``few_rows`` rows each."""
    return tuple(
        at
        for at, column in enumerate(schema.columns)
        if column.kind == "nominal" and not column.left_out and _are_many(len(column.levels), n_rows, few_rows)
    )


def columns_in_runs(schema: Schema, nominal_splits: str, n_rows: int) -> tuple[int, ...]:
    """Nominal columns that a single tree splits only into runs of levels.

    With "auto" those with many levels of few rows. Not if a full tree's sets, two bits per level and node, might take
    more than 128 MB: 100,000 names of one row each are separated by one set, but grow 100,000 leaves by runs.
    """
    if nominal_splits == "auto":
        return tuple(
            at
            for at in columns_of_many_levels(schema, n_rows)
            if n_rows < FEW_ROWS_OF_LEVEL * len(schema.columns[at].levels) <= _MOST_BITS * FEW_ROWS_OF_LEVEL // n_rows
        )
    if nominal_splits != "runs":
        return ()
    return tuple(at for at, column in enumerate(schema.columns) if column.kind == "nominal")


def _are_many(n_levels: int, n_rows: int, few_rows: int) -> bool:
    return n_levels > MAX_LEVEL_BINS or (n_levels >= MANY_LEVELS and n_rows < few_rows * n_levels)


@dataclass(frozen=True)
class GrowSettings:
    """Everything that decides which tree is grown, and the number of threads, which does not.

    Attributes
    ----------
    criterion : str
        One of ``CLASSIFICATION_CRITERIA`` or ``REGRESSION_CRITERIA``; ``log_loss`` is ``entropy``.
    max_depth : int >= 1 or None
    min_samples_split : int >= 2
    min_samples_leaf : int >= 1
    min_weight_fraction_leaf : float in [0, 0.5]
    max_leaf_nodes : int >= 2 or None
        With a number, the leaf whose split gains most is split next; without, level after level.
    max_features : int >= 1 or None
        Columns sampled per node.
    min_impurity_decrease : float >= 0
    monotone : tuple of int or None
        -1, 0 or 1 per column.
    in_runs : tuple of int
        Nominal columns whose sets of levels are first runs in the order of their codes.
    seed : int
        Only used to sample columns.
    n_threads : int >= 1
    """

    criterion: str
    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    max_leaf_nodes: int | None = None
    max_features: int | None = None
    min_impurity_decrease: float = 0.0
    monotone: tuple[int, ...] | None = None
    in_runs: tuple[int, ...] = ()
    seed: int = 0
    n_threads: int = 1


@dataclass(frozen=True)
class BinnedSettings(GrowSettings):
    """``GrowSettings``, and the settings of growth on bins.

    Attributes
    ----------
    random_cuts : bool
        One random cut a column instead of the best (extra-trees).
    interactions : tuple of tuple of int, or None
        Groups of columns (at most 64): the tests on one path use columns of one group.
    counts_rows : bool
        Weights are numbers of rows: a row of weight 3 counts three times in ``min_samples_split`` and
        ``min_samples_leaf``.
    candidates : int32[k] or None
        Columns that the whole tree may use, ascending; None for all.
    """

    random_cuts: bool = False
    interactions: tuple[tuple[int, ...], ...] | None = None
    counts_rows: bool = False
    candidates: np.ndarray | None = None


@dataclass(frozen=True)
class GradientSettings:
    """The settings of each tree's growth.

    Attributes
    ----------
    order : {"leaf", "level", "symmetric"}
        Which node is split next: the one that gains most; the highest, from left to right; or all of a level by one
        test, the one that gains most in sum.
    max_leaf_nodes : int >= 2, or None
    max_depth : int >= 1, or None
    min_samples_leaf : int >= 1
        Rows on each side; a whole weight counts as so many rows.
    min_child_weight : float >= 0
        Sum of hessians on each side.
    l1, l2 : float >= 0
        Subtracted from the size of a node's gradient, down to 0; added to its hessian.
    min_gain : float >= 0
        A split must gain more.
    level_smoothing : float >= 0
        Added to the hessian of each level of a nominal column when levels are ordered by gradient over hessian.
    level_l2 : float >= 0
        Added to ``l2`` for a subset of levels.
    features_per_tree, features_per_level, features_per_node : float, above 0 up to 1
        Share of the columns sampled for each tree, of those for each depth, and of those for each node; at least one.
    monotone : tuple of -1, 0, 1 for each column, or None
    interactions : tuple of tuple of int, or None
        Groups of columns (at most 64): the tests on one path use columns of one group.
    seed : int
    n_threads : int >= 1
        No result depends on it.
    """

    order: Order = "leaf"
    max_leaf_nodes: int | None = 31
    max_depth: int | None = None
    min_samples_leaf: int = 20
    min_child_weight: float = 1e-3
    l1: float = 0.0
    l2: float = 0.0
    min_gain: float = 0.0
    level_smoothing: float = 10.0
    level_l2: float = 10.0
    features_per_tree: float = 1.0
    features_per_level: float = 1.0
    features_per_node: float = 1.0
    monotone: tuple[int, ...] | None = None
    interactions: tuple[tuple[int, ...], ...] | None = None
    seed: int = 0
    n_threads: int = 1


class BestFirst:
    """The leaf with the largest gain, until there are ``max_leaves`` leaves; at equal gain the lowest node."""

    def __init__(self, max_leaves: int) -> None:
        self._heap: list[tuple[float, int]] = []
        self._gains = [0.0]  # gains so far, ascending; equal ones once
        self._max_splits = max_leaves - 1
        self._n_splits = 0

    @property
    def share_done(self) -> float:
        """Share of the allowed splits that are made."""
        return self._n_splits / self._max_splits if self._heap else 1.0

    def offer(self, nodes: np.ndarray, gains: np.ndarray, tolerances: np.ndarray) -> None:
        """Add leaves: int32[k], the gain of each one's split, and the tolerance within which gains are equal."""
        for node, gain, tolerance in zip(nodes.tolist(), gains.tolist(), tolerances.tolist(), strict=True):
            heapq.heappush(self._heap, (-self._shared(gain, tolerance), node))

    def _shared(self, gain: float, tolerance: float) -> float:
        """One number for all gains that are equal up to rounding: the lowest node among them comes first."""
        at = bisect_left(self._gains, gain - tolerance)
        if at == len(self._gains) or self._gains[at] > gain + tolerance:
            self._gains.insert(at, gain)
        return self._gains[at]

    def take(self) -> np.ndarray:
        """The best leaf as int32[1]; empty when there is none or the leaves are used up."""
        if not self._heap or self._n_splits == self._max_splits:
            return np.empty(0, np.int32)
        self._n_splits += 1
        return np.array([heapq.heappop(self._heap)[1]], np.int32)
