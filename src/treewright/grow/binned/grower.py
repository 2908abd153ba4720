"""Growing one tree on bins. In: bins of the rows, a target's objective, settings. Out: ``Tree`` or ``PackedTrees``.

Callers: forest, estimators.

open the root -> [choose a column -> split] depth first -> Tree

The kernels are the exact grower's; ``items`` makes what that one keeps sorted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.core import progress, threads
from treewright.data.bins import Bins
from treewright.data.memory import check_fits
from treewright.data.middles import middle_of
from treewright.data.schema import Schema
from treewright.exceptions import ParameterError, TooLargeError
from treewright.grow import storage
from treewright.grow.binned.frontier import grow_depth_first, grow_one
from treewright.grow.binned.histograms import histogram_width
from treewright.grow.binned.layout import (
    CELLS,
    MOST_TRACKED,
    N_NODES,
    N_SETS,
    N_WAITING,
    SLOT_ROWS,
    WINDOW_ROWS,
    BinTable,
    Desk,
    Growth,
    Rules,
)  # fmt: skip
from treewright.grow.binned.settings import BinnedSettings
from treewright.grow.binned.windows import make_window
from treewright.grow.frontier import BestFirst
from treewright.grow.grower import limits_of
from treewright.grow.layout import MAX_ROWS, Columns, Limits, Nodes, NumericColumns
from treewright.grow.objective import Objective
from treewright.tree.arrays import LEAF, SUBSET, THRESHOLD, Tree
from treewright.tree.edit import level_order, rebuild
from treewright.tree.packed import PackedTrees
from treewright.tree.packing import pack_one

_CALL_CELLS = 20_000_000  # as in the exact grower: what a kernel looks at before Ctrl-C is answered
_MOST_GROUPS = 64
_SLOT_BYTES = 32 * 2**20
_FEW_CLASSES = 16  # of more, small nodes are searched row by row: a histogram is read class by class
_NEVER = 1 << 62
_WINDOW_BYTES = 1 << 20  # of a wide table windows have fewer rows: they would leave the cache, and Ctrl-C would wait


@dataclass(frozen=True, eq=False)
class Grown:
    """A tree that has grown, as the kernels leave it."""

    nodes: Nodes
    growth: Growth
    objective: Objective
    n_nodes: int
    n_sets: int

    @property
    def is_inner(self) -> np.ndarray:
        """bool[n_nodes]."""
        return self.nodes.first_child[: self.n_nodes] >= 0


def grow_binned(codes: np.ndarray, bins: Bins, schema: Schema, objective: Objective, settings: BinnedSettings) -> Tree:
    """Grow a tree on binned rows; thresholds lie between the values that the node's rows had.

    Parameters
    ----------
    codes : uint8[n, stride]
        The rows as bins (``data.bin_rows``); only read.
    bins : Bins
    schema : Schema
    objective : Objective
        Target, weights and criterion of these rows.
    settings : BinnedSettings

    Returns
    -------
    Tree
        Nodes are numbered level by level; with ``max_leaf_nodes`` in the order of growth. Where no column has more than
        255 distinct values: the tree that the exact grower makes.
    """
    grown = _grow(codes, bins, schema, objective, settings)
    tree = _to_tree(grown, bins, schema)
    return tree if settings.max_leaf_nodes is not None else rebuild(tree, level_order(tree), tree.is_leaf)


def grow_packed(
    codes: np.ndarray,
    rows: np.ndarray,
    bins: Bins,
    schema: Schema,
    objective: Objective,
    settings: BinnedSettings,
) -> PackedTrees:
    """Grow a tree on some of the binned rows, eight bytes a node.

    Parameters
    ----------
    codes : uint8[n, stride]
    rows : int32[m], ascending
    bins : Bins
    schema : Schema
    objective : Objective
        Of these m rows, in this order.
    settings : BinnedSettings

    Returns
    -------
    PackedTrees
        One tree.
    """
    return _to_packed(_grow(codes[rows], bins, schema, objective, settings), bins, settings)


def _grow(codes: np.ndarray, bins: Bins, schema: Schema, objective: Objective, settings: BinnedSettings) -> Grown:
    """All kernels need, and the growth itself."""
    n, p = len(codes), len(schema)
    if n > MAX_ROWS:
        raise TooLargeError(f"{n} rows: growth on bins holds at most {MAX_ROWS}; fit on a sample of the rows")
    columns = _columns(bins, schema, settings)
    table = _table(bins, settings)
    n_drawn = min(settings.max_features or p, p)
    limits = _limits(objective, settings, len(table.candidates))
    width = histogram_width(objective.stats)
    rules = Rules(
        n_drawn=n_drawn,
        random_cuts=settings.random_cuts,
        min_split_weight=_weight_of(objective, settings.min_samples_split) if settings.counts_rows else 0,
        histogram_rows=_histogram_rows(objective, settings, limits, width),
    )
    may_keep = rules.histogram_rows <= SLOT_ROWS and not _draws(rules, table)
    n_slots = _n_slots(n, len(table.candidates), width) if may_keep else 0
    nodes, growth = _room(n, columns, objective, limits, settings, bool(table.is_nominal.any()), width, n_slots)
    arguments = (nodes, growth, table, columns, limits, rules, storage.make_work(n, columns, objective))
    desk = _make_desk(n, p, rules, width, nodes.totals.shape[1])
    seed = np.uint64(settings.seed % 2**64)
    if settings.max_leaf_nodes is None:
        n_window = min(WINDOW_ROWS, max(_WINDOW_BYTES // max(codes.shape[1], 1), 64))
        stats, window = make_window(objective.stats, n_window), np.empty((n_window, codes.shape[1]), np.uint8)
        while True:
            growth.state[CELLS] = _CALL_CELLS
            grow_depth_first(objective.stats, stats, codes, window, *arguments, desk, seed)
            if not growth.state[N_WAITING]:
                break
            threads.heed()
            progress.report(1.0 - int(growth.state[N_WAITING]) / 64, "growing")
    else:
        _grow_best_first(objective.stats, codes, arguments, desk, seed, settings.max_leaf_nodes)
    return Grown(nodes, growth, objective, int(growth.state[N_NODES]), int(growth.state[N_SETS]))


def _grow_best_first(
    stats: Any, codes: np.ndarray, arguments: tuple[Any, ...], desk: Desk, seed: np.uint64, max_leaves: int
) -> None:
    """Split the leaf whose split gains most, until the leaves are used up."""
    nodes = arguments[0]
    frontier = BestFirst(max_leaves)
    splitting = 0
    while True:
        first, last = grow_one(stats, codes, splitting, *arguments, desk, seed)  # type: ignore[call-arg]
        some = np.arange(first, last, dtype=np.int32)
        some = some[nodes.feature[some] >= 0]
        frontier.offer(some, nodes.gain[some], nodes.tolerance[some])
        best = frontier.take()
        if not len(best):
            return
        splitting = int(best[0])
        threads.heed()


def _columns(bins: Bins, schema: Schema, settings: BinnedSettings) -> Columns | NumericColumns:
    """What the exact grower's kernels ask of columns; their order is made node by node."""
    p = len(schema)
    nominal = bins.is_nominal.astype(bool)
    code_row = np.where(nominal, np.cumsum(nominal) - 1, -1).astype(np.int32)
    made = Columns if nominal.any() else NumericColumns
    return made(
        order=np.empty((0, 0), np.int32),
        codes=np.empty((int(nominal.sum()), 0), np.int32),
        code_row=code_row,
        n_levels=np.where(nominal, bins.n_bins + 1, 0).astype(np.int32),
        monotone=np.array(settings.monotone or [0] * p, np.int8),
    )


def _table(bins: Bins, settings: BinnedSettings) -> BinTable:
    """The columns as the kernels know them."""
    p = bins.n_columns
    groups = np.empty(0, np.uint64)
    if settings.interactions is not None:
        if len(settings.interactions) > _MOST_GROUPS:
            raise ParameterError(f"interaction_cst has {len(settings.interactions)} groups; at most {_MOST_GROUPS}")
        groups = np.zeros(p, np.uint64)
        for number, group in enumerate(settings.interactions):
            groups[list(group)] |= np.uint64(1 << number)
    candidates = np.arange(p, dtype=np.int32) if settings.candidates is None else settings.candidates
    return BinTable(
        n_bins=np.array(bins.n_bins),
        is_nominal=bins.is_nominal.astype(np.uint8),
        start=np.array(bins.start),
        lowest=np.array(bins.lowest),
        highest=np.array(bins.highest),
        candidates=np.array(candidates, np.int32),
        groups=groups,
    )


def _limits(objective: Objective, settings: BinnedSettings, n_candidates: int) -> Limits:
    """The settings in the units of the kernels; where weights are numbers of rows they are what is limited."""
    # Which columns are drawn depends on nodes' keys: kept wherever something is drawn at random.
    is_random = settings.random_cuts or (settings.max_features or n_candidates) < n_candidates
    limits = limits_of(objective, settings, n_candidates)._replace(max_features=0 if is_random else 1 << 30)
    if not settings.counts_rows:
        return limits
    least = max(limits.min_leaf_weight, _weight_of(objective, settings.min_samples_leaf))
    return limits._replace(min_split=2, min_leaf=1, min_leaf_weight=least)


def _histogram_rows(objective: Objective, settings: BinnedSettings, limits: Limits, width: int) -> int:
    """From how many rows on a node is searched by histogram."""
    # A histogram has no numbers of rows beside the weights.
    has_rows = limits.min_leaf <= 1 or not len(objective.stats.weights)
    if not width or not has_rows:
        return _NEVER
    return 0 if width <= _FEW_CLASSES else 16 * width


def _weight_of(objective: Objective, n_rows: int) -> int:
    """Fixed-point weight of so many rows; one is one unless the weights' sum is huge."""
    return math.ceil(math.ldexp(n_rows, objective.weight_exponent))


def _room(
    n: int,
    columns: Columns | NumericColumns,
    objective: Objective,
    limits: Limits,
    settings: BinnedSettings,
    has_nominal: bool,
    width: int,
    n_slots: int,
) -> tuple[Nodes, Growth]:
    """Room for the largest tree that can come; memory that no node uses is never touched, and costs nothing."""
    most_leaves = n
    if settings.max_leaf_nodes is not None:
        most_leaves = min(most_leaves, settings.max_leaf_nodes)
    if limits.max_depth < 31:
        most_leaves = min(most_leaves, 1 << limits.max_depth)
    capacity = max(2 * most_leaves - 1, 1)
    nodes = storage.make_nodes(capacity, columns, objective, limits)
    per_node = sum(array[:1].nbytes for array in nodes)
    # Most trees have far fewer nodes than rows allow; a fifth is what full trees on noise come to.
    check_fits(capacity * per_node // 5, f"a tree of up to {capacity} nodes", "set max_depth or min_samples_leaf")
    n_sets = most_leaves if has_nominal else 0
    p = len(columns.code_row)
    return nodes, Growth(
        rows=np.empty(n, np.int32),
        origin=np.empty(n, np.int32),
        stack=np.empty(256, np.int32),
        sets=np.empty((n_sets, 4), np.uint64),
        seen=np.empty((n_sets, 4), np.uint64),
        alive=np.empty(capacity if settings.interactions is not None else 0, np.uint64),
        constant=np.empty((capacity, p // 64 + 1) if p <= MOST_TRACKED else (1, 0), np.uint64),
        slots=np.zeros((n_slots, len(columns.code_row) if n_slots else 1, 256 * max(width, 1)), np.int64),
        slot=np.full(capacity if n_slots else 0, -1, np.int8),
        free=np.arange(n_slots + 1, dtype=np.int64)[::-1] - 1,
        state=np.array([0, 0, 0, 0, n_slots], np.int64),
    )


def _draws(rules: Rules, table: BinTable) -> bool:
    """Whether nodes look at different columns, so that no histogram of a parent serves its children."""
    return rules.random_cuts or bool(len(table.groups)) or rules.n_drawn < len(table.candidates)


def _n_slots(n: int, p: int, width: int) -> int:
    """Histograms kept for children, where there are rows enough for any: one a level of the frontier, within memory."""
    if n < SLOT_ROWS:
        return 0
    within = _SLOT_BYTES // max(256 * 8 * width * p, 1)
    return min(within, 24) if within >= 2 else 0


def _make_desk(n: int, p: int, rules: Rules, width: int, n_totals: int) -> Desk:
    """Scratch memory of one growth."""
    # Where histograms are kept for children, two of all columns fit into ``_SLOT_BYTES``: so here all columns do.
    n_random = rules.n_drawn if rules.random_cuts else 1
    n_columns = rules.n_drawn if width and not rules.random_cuts else 1
    n_histograms = min(n_columns, max(1, _SLOT_BYTES // 2 // (2048 * max(width, 1))))
    return Desk(
        items=np.empty(n + 1, np.int32),
        spare=np.empty(n + 1, np.int32),
        counts=np.empty(257, np.int32),
        pool=np.empty(p, np.int32),
        swaps=np.empty(p, np.int32),
        chosen=np.empty(p, np.int32),
        varying=np.empty(p, np.int32),
        gains=np.empty(p),
        goes_left=np.zeros(256, np.uint8),
        flags=np.full(257, -1, np.int32),
        cuts=np.zeros((p, 3), np.int32),
        histograms=np.zeros((n_histograms, 256 * max(width, 1)), np.int64),
        touched=np.zeros((n_histograms, 4), np.uint64),
        spans=np.empty((n_random, 2), np.int32),
        below=np.empty((n_random, n_totals), np.int64),
        below_weight=np.empty(n_random, np.int64),
        present=np.empty(4, np.uint64),
    )


def _to_tree(grown: Grown, bins: Bins, schema: Schema) -> Tree:
    """The grown nodes as a ``Tree``, in their order of growth."""
    nodes, n = grown.nodes, grown.n_nodes
    is_inner = grown.is_inner
    feature = np.where(is_inner, nodes.feature[:n], -1).astype(np.int32)
    is_subset = is_inner & bins.is_nominal.astype(bool)[feature]
    level_set, left, seen = _level_words(grown, bins, schema, feature, is_subset)
    return Tree(
        kind=np.select([is_subset, is_inner], [SUBSET, THRESHOLD], LEAF).astype(np.uint8),
        feature=feature,
        threshold=_thresholds(grown, bins, feature, is_inner & ~is_subset),
        first_child=nodes.first_child[:n].copy(),
        n_branches=np.where(is_inner, 2, 0).astype(np.int32),
        missing_branch=np.where(is_inner, nodes.missing_branch[:n], 0).astype(np.int32),
        level_set=level_set,
        n_samples=(nodes.hi[:n] - nodes.lo[:n]).astype(np.int64),
        weight=np.ldexp(nodes.weight[:n].astype(np.float64), -grown.objective.weight_exponent),
        impurity=np.minimum(nodes.impurity[:n], np.finfo(np.float64).max),
        value=grown.objective.values(nodes, n),
        levels_left=left,
        levels_seen=seen,
    )


def _thresholds(grown: Grown, bins: Bins, feature: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """float64[n_nodes]: the middle between the values on both sides of each cut; +inf where it asks "is x present?"."""
    nodes, n = grown.nodes, grown.n_nodes
    before, after = nodes.before[:n][wanted], nodes.after[:n][wanted]
    start = bins.start[feature[wanted]]
    last = len(bins.highest) - 1
    middle = middle_of(bins.highest[start + before], bins.lowest[np.clip(start + after, 0, last)])
    result = np.zeros(n)
    result[wanted] = np.where(after < 0, np.inf, middle) + 0.0
    return result


def _level_words(
    grown: Grown, bins: Bins, schema: Schema, feature: np.ndarray, is_subset: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sets of bins as sets of levels: where each node's words begin, and the words that ``Tree`` keeps."""
    level_set = np.full(len(feature), -1, np.int32)
    left: list[np.ndarray] = [np.empty(0, np.uint64)]
    seen: list[np.ndarray] = [np.empty(0, np.uint64)]
    begin = 0
    # In the order of growth, as the exact grower has them.
    subsets = np.flatnonzero(is_subset)
    if len(subsets):
        subsets = subsets[np.argsort(grown.nodes.level_set[subsets])]
    for node in subsets:
        column = feature[node]
        number = grown.nodes.level_set[node]
        level_bin = bins.level_bin[bins.level_start[column] : bins.level_start[column + 1]]
        n_words = len(schema.columns[column].levels) // 64 + 1
        level_set[node] = begin
        left.append(_words(grown.growth.sets[number], level_bin, n_words))
        seen.append(_words(grown.growth.seen[number], level_bin, n_words))
        begin += n_words
    return level_set, np.concatenate(left), np.concatenate(seen)


def _words(bin_set: np.ndarray, level_bin: np.ndarray, n_words: int) -> np.ndarray:
    """uint64[n_words]: a bit for each level whose bin is in the set."""
    is_in = np.unpackbits(bin_set.view(np.uint8), bitorder="little")[level_bin]
    bits = np.zeros(64 * n_words, np.uint8)
    bits[: len(is_in)] = is_in
    return np.packbits(bits, bitorder="little").view(np.uint64)


def _to_packed(grown: Grown, bins: Bins, settings: BinnedSettings) -> PackedTrees:
    """The grown nodes, packed."""
    nodes, n, objective = grown.nodes, grown.n_nodes, grown.objective
    is_inner = grown.is_inner
    feature = nodes.feature[:n]
    before, after = nodes.before[:n], nodes.after[:n]
    # Between two bins with empty ones between them the cut is put in the middle; -1: all present cells go left.
    last_left = np.where(after < 0, bins.n_bins[feature] - 1, (before + after - 1) >> 1)
    is_subset = is_inner & bins.is_nominal.astype(bool)[feature]
    weight = np.ldexp(nodes.weight[:n].astype(np.float64), -objective.weight_exponent)
    n_samples = weight if settings.counts_rows else (nodes.hi[:n] - nodes.lo[:n])
    return pack_one(
        bins,
        settings.criterion,
        objective.n_classes,
        column=np.where(is_inner, feature, 0).astype(np.int32),
        cut=np.where(is_inner & ~is_subset, last_left, 0).astype(np.uint8),
        missing_branch=np.where(is_inner, nodes.missing_branch[:n], 0).astype(np.int8),
        first_child=nodes.first_child[:n],
        set_of=np.where(is_subset, nodes.level_set[:n], -1).astype(np.int32)
        if len(nodes.level_set)
        else np.full(n, -1, np.int32),
        sets=grown.growth.sets[: grown.n_sets],
        seen=grown.growth.seen[: grown.n_sets],
        leaf_value=objective.values(nodes, n),
        leaf_weight=weight,
        leaf_impurity=np.minimum(nodes.impurity[:n], np.finfo(np.float64).max),
        leaf_samples=n_samples.astype(np.int64),
        importances=_importances(grown, bins.n_columns),
    )


def _importances(grown: Grown, p: int) -> np.ndarray:
    """float64[p]: share of the decrease of impurity that each column brought."""
    nodes, n = grown.nodes, grown.n_nodes
    inner = np.flatnonzero(grown.is_inner)
    child = nodes.first_child[inner]
    # Shares first: products of large weights and impurities would overflow.
    impurity = np.minimum(nodes.impurity[:n], np.finfo(np.float64).max)
    largest = float(impurity.max())
    lost = nodes.weight[:n] / nodes.weight[0] * (impurity / largest if largest > 0 else 0.0)
    decrease = np.maximum(lost[inner] - lost[child] - lost[child + 1], 0.0)
    by_column = np.bincount(nodes.feature[inner], weights=decrease, minlength=p)
    total = by_column.sum()
    return by_column / total if total > 0 else by_column
