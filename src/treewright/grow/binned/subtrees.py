"""A tree whose subtrees grow side by side. In: ``Plan``, ``Room``. Out: grown nodes. Caller: grow.binned.grower.

open the root -> split the node with most rows, a few times -> [grow what is below each leaf] on the threads -> renumber

Subtrees share nothing but the table, so they are the same on any number of threads; they are numbered as one thread
that grows depth first numbers them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treewright.core import progress, threads
from treewright.grow.binned.frontier import grow_depth_first, grow_one
from treewright.grow.binned.layout import CELLS, N_NODES, N_SETS, N_WAITING, Growth
from treewright.grow.binned.plan import Plan, Room, room_for
from treewright.grow.layout import Nodes

APART_ROWS = 50_000  # a table of fewer rows is grown before threads have started
N_PARTS = 16  # subtrees, whatever the number of threads
_CALL_CELLS = 20_000_000  # as in the exact grower: what a kernel looks at before Ctrl-C is answered


class Part(NamedTuple):
    """A grown subtree: the leaf of the top that is its root, its nodes and sets."""

    root: int
    nodes: Nodes
    growth: Growth


def is_worth_it(plan: Plan) -> bool:
    """Whether there are threads, and rows enough for them."""
    return plan.settings.n_threads > 1 and len(plan.codes) >= APART_ROWS


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
    """One node's entries."""
    for mine, kept in zip(nodes, old, strict=True):
        if len(mine):
            mine[number] = kept[node]


def _place(top: Room, number: int, part: Part, lo: int, n_nodes: int, n_sets: int) -> tuple[int, int]:
    """A part's nodes behind those placed before, its root at ``number``; returns how many nodes and sets there are."""
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
