"""Growing one tree on bins. In: bins of the rows, a target's objective, settings. Out: ``Tree`` or ``PackedTrees``.

    open the root -> [choose a column -> split] depth first -> Tree

With threads and enough rows for them:

    open the root -> split the node with most rows, a few times -> [grow what is below each leaf] on the threads
    -> renumber

The kernels of the criteria are those of the exact grower; ``few_rows`` sorts what that grower keeps sorted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from treewright.core import progress, threads
from treewright.data.bin_rows import SparseCodes
from treewright.data.bins import Bins, middle_of
from treewright.data.schema import Schema
from treewright.exceptions import TooLargeError
from treewright.grow.binned.layout import CELLS, N_NODES, N_SETS, N_WAITING, Growth
from treewright.grow.binned.room import Plan, Room, plan_of, room_for
from treewright.grow.binned.steps import grow_depth_first, grow_one
from treewright.grow.layout import MAX_ROWS, Nodes, values_of
from treewright.grow.objective import Objective
from treewright.grow.settings import BestFirst, BinnedSettings
from treewright.trees.arrays import LEAF, SUBSET, THRESHOLD, Tree, bits_below
from treewright.trees.edit import level_order, rebuild
from treewright.trees.packed import PackedTrees, pack_one

APART_ROWS = 50_000  # a table of fewer rows is grown before threads have started
N_PARTS = 16  # subtrees, for any number of threads
_CALL_CELLS = 20_000_000  # as in the exact grower: cells that a kernel reads before Ctrl-C has an effect


def grow_binned(
    codes: np.ndarray | SparseCodes, bins: Bins, schema: Schema, objective: Objective, settings: BinnedSettings
) -> Tree:
    """Grow a tree on binned rows; thresholds lie between the values that the node's rows have.

    Parameters
    ----------
    codes : uint8[n, stride], or SparseCodes
        The rows as bins (``data.bin_rows``); only read.
    bins : Bins
    schema : Schema
    objective : Objective
        Target, weights and criterion of these rows.
    settings : BinnedSettings

    Returns
    -------
    Tree
        Nodes are numbered level by level; with ``max_leaf_nodes`` in the order of growth. If no column has more than
        255 distinct values, it is the tree of the exact grower.
    """
    grown = _grow(codes, bins, schema, objective, settings)
    tree = to_tree(grown, bins, schema)
    return tree if settings.max_leaf_nodes is not None else rebuild(tree, level_order(tree), tree.is_leaf)


def grow_packed(
    codes: np.ndarray | SparseCodes,
    rows: np.ndarray,
    bins: Bins,
    schema: Schema,
    objective: Objective,
    settings: BinnedSettings,
    room: Callable[[tuple[int, ...], Any], np.ndarray] | None = None,
) -> PackedTrees:
    """Grow a tree on given binned rows, in eight bytes per node.

    Parameters
    ----------
    codes : uint8[n, stride], or SparseCodes
    rows : int32[m], ascending
    bins : Bins
    schema : Schema
    objective : Objective
        Of these m rows, in this order.
    settings : BinnedSettings
    room : callable, optional
        Makes the array for the bins of these rows, of a shape and dtype; else they are copied in memory.

    Returns
    -------
    PackedTrees
        One tree.
    """
    if room is None or isinstance(codes, SparseCodes):
        own = codes[rows]
    else:
        own = np.take(codes, rows, axis=0, out=room((len(rows), codes.shape[1]), codes.dtype), mode="clip")
    return to_packed(_grow(own, bins, schema, objective, settings), bins, settings)


def _grow(
    codes: np.ndarray | SparseCodes, bins: Bins, schema: Schema, objective: Objective, settings: BinnedSettings
) -> Grown:
    """Make the arrays that the kernels need, and grow the tree."""
    n = len(codes)
    if n > MAX_ROWS:
        raise TooLargeError(f"{n} rows: growth on bins holds at most {MAX_ROWS}; fit on a sample of the rows")
    objective.rank_rows()
    in_runs = np.array(settings.in_runs, np.int64)
    plan = plan_of(codes, _with_numbers(bins, in_runs), schema, objective, settings)
    room = room_for(plan, n)
    if settings.max_leaf_nodes is not None:
        _grow_best_first(plan, room, settings.max_leaf_nodes)
    elif is_worth_it(plan):
        grow_apart(plan, room)
    else:
        grow_waiting(plan, room)
    state = room.growth.state
    grown = Grown(room.nodes, room.growth, objective, int(state[N_NODES]), int(state[N_SETS]))
    return _with_runs_as_sets(grown, bins, in_runs) if len(in_runs) else grown


def _with_numbers(bins: Bins, in_runs: np.ndarray) -> Bins:
    """The bins with nominal columns in runs turned into numeric ones, whose values are the bin numbers."""
    if not len(in_runs):
        return bins
    is_nominal, sizes = np.array(bins.is_nominal), np.diff(bins.start)
    is_nominal[in_runs] = False
    sizes[in_runs] = bins.n_bins[in_runs]
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    is_new = np.repeat(np.isin(np.arange(bins.n_columns), in_runs), sizes)
    numbers = np.arange(len(is_new)) - np.repeat(start[:-1], sizes)
    lowest, highest = np.where(is_new, numbers, 0.0), np.where(is_new, numbers, 0.0)
    lowest[~is_new], highest[~is_new] = bins.lowest, bins.highest
    return replace(bins, is_nominal=is_nominal, start=start, lowest=lowest, highest=highest)


def _with_runs_as_sets(grown: Grown, bins: Bins, in_runs: np.ndarray) -> Grown:
    """Turn the tests of columns in runs into those of nominal columns: sets of bins."""
    nodes, growth, n = grown.nodes, grown.growth, grown.n_nodes
    asked = np.flatnonzero(grown.is_inner & np.isin(nodes.feature[:n], in_runs))
    n_bins = bins.n_bins[nodes.feature[asked]].astype(np.int64)
    before, after = nodes.before[asked].astype(np.int64), nodes.after[asked].astype(np.int64)
    last = np.where(after < 0, n_bins - 1, (before + after - 1) >> 1)
    level_set = np.full(n, -1, np.int32)
    level_set[: len(nodes.level_set)] = nodes.level_set[:n]
    level_set[asked] = grown.n_sets + np.arange(len(asked))
    sets = np.concatenate([growth.sets[: grown.n_sets], bits_below(last + 1)])
    seen = np.concatenate([growth.seen[: grown.n_sets], bits_below(n_bins)])
    return Grown(
        nodes._replace(level_set=level_set), growth._replace(sets=sets, seen=seen), grown.objective, n, len(sets)
    )


def _grow_best_first(plan: Plan, room: Room, max_leaves: int) -> None:
    """Split the leaf whose split gains most, until the leaves are used up."""
    nodes = room.nodes
    frontier = BestFirst(max_leaves)
    splitting = 0
    while True:
        first, last = split_one(plan, room, splitting)
        some = np.arange(first, last, dtype=np.int32)
        some = some[nodes.feature[some] >= 0]
        frontier.offer(some, nodes.gain[some], nodes.tolerance[some])
        best = frontier.take()
        if not len(best):
            return
        splitting = int(best[0])
        threads.heed()


# Subtrees share only the table, so they are the same on any number of threads; they are numbered as by one thread that
# grows depth first.


class Part(NamedTuple):
    """A grown subtree: the leaf of the top that is its root, its nodes and sets."""

    root: int
    nodes: Nodes
    growth: Growth


def is_worth_it(plan: Plan) -> bool:
    """Whether there are threads and enough rows for them; not for medians, which need all rows in one place."""
    return plan.settings.n_threads > 1 and not plan.objective.n_medians and len(plan.codes) >= APART_ROWS


def seed_of(plan: Plan) -> np.uint64:
    """The key of the root."""
    return np.uint64(plan.settings.seed % 2**64)


def split_one(plan: Plan, room: Room, node: int) -> tuple[int, int]:
    """Split a node, or open the root; returns the first new leaf and the one past the last."""
    first, last = grow_one(
        plan.objective.stats, plan.codes, node, room.nodes, room.growth, plan.table, plan.columns, plan.limits,
        plan.rules, room.work, room.desk, seed_of(plan),
    )  # fmt: skip
    return int(first), int(last)


def grow_waiting(plan: Plan, room: Room) -> None:
    """Grow until nothing waits."""
    state = room.growth.state
    while True:
        state[CELLS] = _CALL_CELLS
        grow_depth_first(
            plan.objective.stats, room.window_stats, plan.codes, room.window, room.nodes, room.growth, plan.table,
            plan.columns, plan.limits, plan.rules, room.work, room.desk, seed_of(plan),
        )  # fmt: skip
        if not state[N_WAITING]:
            return
        threads.heed()
        progress.report(1.0 - int(state[N_WAITING]) / 64, "growing")


def grow_apart(plan: Plan, room: Room) -> None:
    """Grow a tree on several threads: the nodes that ``grow_waiting`` makes, with the same numbers."""
    waiting = _grow_top(plan, room)
    grown: list[Part | None] = [None] * len(waiting)

    def grow_part(task: int, _thread: int) -> None:
        part = _room_below(plan, room, waiting[task])
        grow_waiting(plan, part)
        grown[task] = Part(waiting[task], part.nodes, part.growth)

    threads.run_each(grow_part, len(waiting), plan.settings.n_threads)
    _put_together(room, {part.root: part for part in grown if part is not None})


def _grow_top(plan: Plan, room: Room) -> list[int]:
    """Split the nodes with most rows until there are leaves enough; returns those that can be split, largest first."""
    nodes = room.nodes
    first, last = split_one(plan, room, 0)
    leaves = list(range(first, last))
    waiting: list[int] = []
    while True:
        waiting += [leaf for leaf in leaves if nodes.feature[leaf] >= 0]
        waiting.sort(key=lambda leaf: (int(nodes.lo[leaf] - nodes.hi[leaf]), leaf))
        if not waiting or len(waiting) >= N_PARTS:
            return waiting
        threads.heed()
        leaves = list(range(*split_one(plan, room, waiting.pop(0))))


def _room_below(plan: Plan, top: Room, leaf: int) -> Room:
    """Room for the subtree of a leaf, which waits in it as its root."""
    lo, hi = int(top.nodes.lo[leaf]), int(top.nodes.hi[leaf])
    room = room_for(plan, hi - lo)
    for mine, theirs in zip(room.nodes, top.nodes, strict=True):
        if len(mine):
            mine[0] = theirs[leaf]
    room.nodes.lo[0], room.nodes.hi[0] = 0, hi - lo
    room.nodes.feature[0] = -1
    for mine, theirs in ((room.growth.alive, top.growth.alive), (room.growth.constant, top.growth.constant)):
        if mine.size:
            mine[0] = theirs[leaf]
    growth = room.growth._replace(rows=top.growth.rows[lo:hi])
    growth.state[N_NODES] = growth.state[N_WAITING] = 1
    growth.stack[0] = 0
    return Room(room.nodes, growth, room.work, room.desk, room.window_stats, room.window)


def _put_together(top: Room, parts: dict[int, Part]) -> None:
    """Number the nodes of the top and of all parts as if they had grown depth first, the lighter child first."""
    state = top.growth.state
    n_top = int(state[N_NODES])
    before = [array[:n_top].copy() for array in top.nodes]
    old = Nodes(*before)
    sets = [array[: int(state[N_SETS])].copy() for array in (top.growth.sets, top.growth.seen)]
    n_nodes, n_sets = 1, 0
    stack = [(0, 0)]  # a node's old number and its new one
    while stack:
        node, number = stack.pop()
        child = int(old.first_child[node])
        if child >= 0:
            top.nodes.first_child[number] = n_nodes
            if len(old.level_set) and old.level_set[node] >= 0:
                for mine, kept in zip((top.growth.sets, top.growth.seen), sets, strict=True):
                    mine[n_sets] = kept[old.level_set[node]]
                top.nodes.level_set[number] = n_sets
                n_sets += 1
            for branch in (0, 1):
                _copy(top.nodes, n_nodes + branch, old, child + branch)
            heavier = 0 if old.weight[child] >= old.weight[child + 1] else 1
            stack += [(child + branch, n_nodes + branch) for branch in (heavier, 1 - heavier)]
            n_nodes += 2
        elif node in parts:
            n_nodes, n_sets = _place(top, number, parts[node], int(old.lo[node]), n_nodes, n_sets)
    state[N_NODES], state[N_SETS], state[N_WAITING] = n_nodes, n_sets, 0


def _copy(nodes: Nodes, number: int, old: Nodes, node: int) -> None:
    """Copy the entries of one node."""
    for mine, kept in zip(nodes, old, strict=True):
        if len(mine):
            mine[number] = kept[node]


def _place(top: Room, number: int, part: Part, lo: int, n_nodes: int, n_sets: int) -> tuple[int, int]:
    """Place a part's nodes after the earlier ones, its root at ``number``; returns the numbers of nodes and of sets."""
    n_new, n_more = int(part.growth.state[N_NODES]) - 1, int(part.growth.state[N_SETS])
    last = n_nodes + n_new
    for mine, theirs in zip(top.nodes, part.nodes, strict=True):
        if len(mine):
            mine[number] = theirs[0]
            mine[n_nodes:last] = theirs[1 : n_new + 1]
    for mine, theirs in ((top.growth.sets, part.growth.sets), (top.growth.seen, part.growth.seen)):
        mine[n_sets : n_sets + n_more] = theirs[:n_more]
    for places in (slice(number, number + 1), slice(n_nodes, last)):
        top.nodes.lo[places] += lo
        top.nodes.hi[places] += lo
        first_child = top.nodes.first_child[places]
        first_child[first_child > 0] += n_nodes - 1
        if len(top.nodes.level_set):
            level_set = top.nodes.level_set[places]
            level_set[level_set >= 0] += n_sets
    return last, n_sets + n_more


# From the arrays of the kernels to a tree.


@dataclass(frozen=True, eq=False)
class Grown:
    """A grown tree in the arrays of the kernels."""

    nodes: Nodes
    growth: Growth
    objective: Objective
    n_nodes: int
    n_sets: int

    @property
    def is_inner(self) -> np.ndarray:
        """bool[n_nodes]: whether each node is split."""
        return self.nodes.first_child[: self.n_nodes] >= 0


def to_tree(grown: Grown, bins: Bins, schema: Schema) -> Tree:
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
        value=values_of(grown.objective, nodes, n),
        levels_left=left,
        levels_seen=seen,
    )


def _thresholds(grown: Grown, bins: Bins, feature: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """float64[n_nodes]: the middle between the values on both sides of each cut; +inf for the test "is x present?"."""
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
    """Sets of bins as sets of levels: the first word of each node's set, and the words that ``Tree`` keeps."""
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


def to_packed(grown: Grown, bins: Bins, settings: BinnedSettings) -> PackedTrees:
    """The grown nodes, packed."""
    nodes, n, objective = grown.nodes, grown.n_nodes, grown.objective
    is_inner = grown.is_inner
    feature = nodes.feature[:n]
    before, after = nodes.before[:n], nodes.after[:n]
    # If empty bins lie between the two, the cut is put in the middle; -1: all present cells go left.
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
        leaf_value=values_of(objective, nodes, n),
        leaf_weight=weight,
        leaf_impurity=np.minimum(nodes.impurity[:n], np.finfo(np.float64).max),
        leaf_samples=n_samples.astype(np.int64),
        importances=_importances(grown, bins.n_columns),
    )


def _importances(grown: Grown, p: int) -> np.ndarray:
    """float64[p]: each column's share of the decrease of impurity."""
    inner = np.flatnonzero(grown.is_inner)
    # Gains are in steps of the target: impurities would leave float64 if its unit is extreme.
    by_column = np.bincount(grown.nodes.feature[inner], weights=grown.nodes.gain[inner], minlength=p)
    total = by_column.sum()
    return by_column / total if total > 0 else by_column
