"""The steps of exact growth, compiled. In: nodes to split. Out: their children, each with its best column.

    split_nodes   find the chosen column's cut again, note for each row if it goes left (``side``), open two children
    advance       in every other column move the parent's items apart, then scan the children while they are in cache
    choose        take the column that gains most, for each child
    collect       the children that have a split are the next level

``take_steps`` is that loop. Every column is sorted once (``presort``); a node is the same range of positions in all of
them, and a split moves the items of its range so that each child has a range again:

    order   [ 4 1 7 0 5 2 6 ]     ->     order   [ 4 0 5 | 1 7 2 6 ]          side is 1 for rows 0, 4 and 5
              the parent                       one child | the other

``advance`` is the parallel part: a task owns some rows of ``order`` and of ``gains``, and reads everything else. The
rest is serial: it touches one column of each node. A scan keeps only the largest gain; a second scan of the chosen
column finds the cut.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import allocating_kernel, inner_kernel, kernel
from treewright.core.random import mix
from treewright.grow.criteria.families import few_gain, place_rows, prediction_of, scan_cuts, summarise
from treewright.grow.exact.subsets import SIDE, START, STOP, search_levels
from treewright.grow.layout import MISSING, NEW, NOT_FEW, ROW


@inner_kernel
def partition_items(items, side, spare):
    """Move the items of rows with ``side`` 1 to the front, keep the order within both parts.

    Parameters
    ----------
    items : int32[m], INOUT
    side : uint8[n], IN
        1 for rows that go left.
    spare : int32[>= m + 1], scratch

    Returns
    -------
    int
        Number of items that went left.

    Notes
    -----
    ``NEW`` says "differs from the one before". When items between two that stay together leave, their marks are
    inherited: a mark waits in ``waiting_*`` until the next item of that side. Invariant: [0, left) is final, [left, i)
    is free, [i, m) unseen.
    """
    left = 0
    right = 0
    waiting_left = 0
    waiting_right = 0
    for i in range(items.shape[0]):
        item = items[i]
        # int64, or Numba negates in uint8: -1 would be 255 and lose the waiting mark.
        goes_left = np.int64(side[item & ROW])
        waiting_left |= item & NEW
        waiting_right |= item & NEW
        items[left] = item | waiting_left
        spare[right] = item | waiting_right
        left += goes_left
        right += 1 - goes_left
        waiting_left &= goes_left - 1
        waiting_right &= -goes_left
    for i in range(right):
        items[left + i] = spare[i]
    return left


@inner_kernel
def count_present(items):
    """Number of items that are not missing (missing ones are last). ``items`` int32[m]."""
    n = items.shape[0]
    while n > 0 and items[n - 1] & MISSING:
        n -= 1
    return n


@inner_kernel
def search_column(stats, column, node, nodes, columns, items, n_present, limits, target, work):
    """The best split of a node by a column.

    Parameters
    ----------
    items : int32[m], IN
        The node's segment of the column.
    target : float
        Negative: find the largest gain. Else: find the first split with at least this gain.

    Returns
    -------
    gain : float
        -1 if no split is allowed.
    found : int
        With a target: the position of the cut, or the number of levels present (``subsets.search_levels``).
    missing_left : int
        With a target: 1 if missing rows go left.
    """
    if columns.code_row[column] >= 0:
        return search_levels(stats, node, nodes, items, n_present, columns.in_runs[column], limits, target, work)
    direction = np.int64(columns.monotone[column])
    return scan_cuts(stats, node, nodes, items, n_present, limits, direction, target, -1, 2, work)


@inner_kernel
def advance(stats, columns, nodes, parents, limits, side, drawn, gains, first_column, last_column, work):
    """Partition the segments of the parents in some columns, then scan their open children there.

    Parameters
    ----------
    parents : int32[k], IN
        Nodes that were split; a single -1 stands for "scan the root".
    side : uint8[n], IN
        1 for the rows that go left at their parent.
    drawn : uint8[2k, p] or uint8[0, 0], IN
        Which columns each child may use; empty for all.
    gains : float64[p, 2k], OUT
        Best gain per column and child; -1 if there is none.
    first_column, last_column : int
        The columns of this task.
    """
    n_columns = columns.code_row.shape[0]
    for column in range(first_column, last_column):
        may_be_few = not limits.is_monotone and column < n_columns and columns.code_row[column] < 0
        for k in range(parents.shape[0]):
            parent = parents[k]
            child = 0
            n_children = 1
            if parent >= 0:
                child = nodes.first_child[parent]
                n_children = 2
                if not (nodes.is_open[child] or nodes.is_open[child + 1]):
                    continue
                # The segment of the split's own column, and the target's, were moved by the split itself.
                if column != nodes.feature[parent] and column < n_columns:
                    partition_items(columns.order[column, nodes.lo[parent] : nodes.hi[parent]], side, work.spare)
            for branch in range(n_children):
                slot = 2 * k + branch
                node = np.int64(child + branch)
                gains[column, slot] = -1.0
                if nodes.is_open[node] and (drawn.shape[0] == 0 or drawn[slot, column]):
                    items = columns.order[column, nodes.lo[node] : nodes.hi[node]]
                    gain = NOT_FEW
                    if may_be_few and not items[items.shape[0] - 1] & MISSING:
                        gain = few_gain(
                            stats,
                            items,
                            nodes.totals[node],
                            nodes.weight[node],
                            limits.min_leaf,
                            limits.min_leaf_weight,
                        )
                    if gain == NOT_FEW:
                        gain, _, _ = search_column(
                            stats, column, node, nodes, columns, items, count_present(items), limits, -1.0, work
                        )
                    gains[column, slot] = gain


@inner_kernel
def choose(nodes, parents, gains, limits):
    """Pick each open child's best column; a child without one keeps ``feature`` -1.

    A later column wins only by more than the node's tolerance: mathematically equal gains differ by rounding.

    ``parents`` int32[k], ``gains`` float64[p, 2k].

    Returns
    -------
    int
        Number of open children without a split in the scanned columns.
    """
    n_without = 0
    for k in range(parents.shape[0]):
        parent = parents[k]
        child = 0 if parent < 0 else nodes.first_child[parent]
        for branch in range(1 if parent < 0 else 2):
            node = child + branch
            if not nodes.is_open[node] or nodes.feature[node] >= 0:
                continue
            best = -1.0
            for column in range(gains.shape[0]):
                gain = gains[column, 2 * k + branch]
                if gain > (best + nodes.tolerance[node] if best >= 0.0 else -0.5):
                    best = gain
                    nodes.feature[node] = column
            nodes.gain[node] = best
            if best < 0.0:
                n_without += 1
            elif best + nodes.tolerance[node] < limits.min_decrease:
                nodes.is_open[node] = 0
                nodes.feature[node] = -1
    return n_without


@allocating_kernel
def draw_columns(nodes, parents, n_drawn, gains, drawn, keep_first):
    """Sample the columns that each child may use: those with the smallest random numbers of (seed, node, column).

    Parameters
    ----------
    parents : int32[k], IN
        -1 for the root.
    n_drawn : int
        Columns per node. Nodes that already have a split sample none.
    gains : float64[p, 2k], INOUT
        With ``keep_first`` it holds a scan of every column: all are set to -1 except the first one, in the order of
        their random numbers, that splits the node at all.
    drawn : uint8[2k, p], OUT
    """
    n_columns = drawn.shape[1]
    numbers = np.empty(n_columns, np.uint64)
    drawn[:] = 0
    for k in range(parents.shape[0]):
        parent = parents[k]
        child = 0 if parent < 0 else nodes.first_child[parent]
        for branch in range(1 if parent < 0 else 2):
            node = child + branch
            slot = 2 * k + branch
            if nodes.feature[node] >= 0 or not nodes.is_open[node]:
                continue
            for column in range(n_columns):
                numbers[column] = mix(nodes.key[node], np.uint64(column))
            for _ in range(n_drawn):
                smallest = -1
                for column in range(n_columns):
                    usable = not drawn[slot, column] and (not keep_first or gains[column, slot] >= 0.0)
                    if usable and (smallest < 0 or numbers[column] < numbers[smallest]):
                        smallest = column
                if smallest >= 0:
                    drawn[slot, smallest] = 1
            if keep_first:
                for column in range(n_columns):
                    if not drawn[slot, column]:
                        gains[column, slot] = -1.0


# Carrying out a chosen split.


@inner_kernel
def open_node(stats, node, nodes, items, limits):
    """Fill in a new node; returns whether it may be split further. ``items`` int32[m]."""
    pure = summarise(stats, node, nodes, items)
    n = items.shape[0]
    nodes.feature[node] = -1
    nodes.first_child[node] = -1
    if nodes.level_set.shape[0] > 0:
        nodes.level_set[node] = -1
    nodes.gain[node] = -1.0
    nodes.before[node] = items[0] & ROW
    nodes.after[node] = -1
    nodes.missing_branch[node] = 0
    nodes.is_open[node] = 0
    if (
        not pure
        and n >= limits.min_split
        and n >= 2 * limits.min_leaf
        and nodes.weight[node] >= 2 * limits.min_leaf_weight
        and nodes.depth[node] < limits.max_depth
    ):
        nodes.is_open[node] = 1


@inner_kernel
def mark_cut(items, n_present, position, side):
    """Send items 0..position to the left; returns the rows next to the cut (-1 if only missing ones follow).

    ``items`` int32[m], ``side`` uint8[n].
    """
    for i in range(n_present):
        side[items[i] & ROW] = 1 if i <= position else 0
    after = items[position + 1] & ROW if position + 1 < n_present else -1
    return items[position] & ROW, after


@inner_kernel
def mark_levels(items, n_groups, group, codes, side, words, n_words):
    """Send the items of the levels that ``group[SIDE]`` names to the left, and set the bits of the levels.

    Parameters
    ----------
    items : int32[m], IN
    group : int64[5, >= n_groups], IN
    codes : int32[n], IN
        Level of each row.
    side : uint8[n], OUT
    words : uint64[2, > n_words], INOUT
        Row 0: levels that go left; row 1: levels that are present in the node.
    """
    for g in range(n_groups):
        goes_left = group[SIDE, g]
        start = group[START, g]
        for i in range(start, group[STOP, g]):
            side[items[i] & ROW] = goes_left
        code = codes[items[start] & ROW]
        bit = np.uint64(1) << np.uint64(code & 63)
        words[1, n_words + (code >> 6)] |= bit
        if goes_left:
            words[0, n_words + (code >> 6)] |= bit


@inner_kernel
def send_absent(words, first, n_levels, to_left):
    """Levels that the node never saw, and the bit for levels that fit never saw, take the heavier branch.

    ``words`` uint64[2, n_words].
    """
    for code in range(n_levels + 1):
        word = first + (code >> 6)
        bit = np.uint64(1) << np.uint64(code & 63)
        if to_left and words[1, word] & bit == 0:
            words[0, word] |= bit


@inner_kernel
def bound_children(stats, node, nodes, direction):
    """Halve the interval of the children of a split on a monotone column at the mean of their predictions."""
    child = nodes.first_child[node]
    for branch in range(2):
        nodes.low[child + branch] = nodes.low[node]
        nodes.high[child + branch] = nodes.high[node]
    if direction == 0:
        return
    middle = 0.5 * prediction_of(stats, child, nodes) + 0.5 * prediction_of(stats, child + 1, nodes)
    lower = child if direction > 0 else child + 1
    upper = child + 1 if direction > 0 else child
    nodes.high[lower] = middle
    nodes.low[upper] = middle


@inner_kernel
def split_nodes(stats, columns, nodes, splitting, n_nodes, words, n_words, limits, side, work):
    """Give each node of ``splitting`` its two children.

    Parameters
    ----------
    splitting : int32[k], IN
        Nodes whose column was chosen, in the order in which their children are numbered.
    n_nodes, n_words : int
        The numbers of nodes and of words.
    words : uint64[2, :], INOUT
    side : uint8[n], OUT
        1 for the rows of these nodes that go left.

    Returns
    -------
    n_nodes, n_words : int
    """
    for k in range(splitting.shape[0]):
        node = np.int64(splitting[k])
        column = np.int64(nodes.feature[node])
        lo = nodes.lo[node]
        hi = nodes.hi[node]
        items = columns.order[column, lo:hi]
        n_present = count_present(items)
        is_nominal = columns.code_row[column] >= 0
        target = max(nodes.gain[node] - nodes.tolerance[node], 0.0)
        _, found, missing_left = search_column(
            stats, column, node, nodes, columns, items, n_present, limits, target, work
        )
        if is_nominal:
            nodes.level_set[node] = n_words
            mark_levels(items, found, work.group, columns.codes[columns.code_row[column]], side, words, n_words)
        else:
            nodes.before[node], nodes.after[node] = mark_cut(items, n_present, found, side)
        for i in range(n_present, items.shape[0]):
            side[items[i] & ROW] = missing_left
        n_left = partition_items(items, side, work.spare)
        for target in range(columns.code_row.shape[0], columns.order.shape[0]):
            partition_items(columns.order[target, lo:hi], side, work.spare)
        nodes.first_child[node] = n_nodes
        for branch in range(2):
            child = np.int64(n_nodes + branch)
            nodes.lo[child] = lo if branch == 0 else lo + n_left
            nodes.hi[child] = lo + n_left if branch == 0 else hi
            nodes.depth[child] = nodes.depth[node] + 1
            if nodes.key.shape[0] > 0:
                nodes.key[child] = mix(nodes.key[node], np.uint64(branch))
            place_rows(stats, columns, nodes.lo[child], nodes.hi[child])
            open_node(stats, child, nodes, columns.order[column, nodes.lo[child] : nodes.hi[child]], limits)
        left_is_heavier = nodes.weight[n_nodes] > nodes.weight[n_nodes + 1]
        if n_present == items.shape[0]:
            missing_left = 1 if left_is_heavier else 0
        nodes.missing_branch[node] = 0 if missing_left else 1
        if is_nominal:
            send_absent(words, n_words, columns.n_levels[column], left_is_heavier)
            n_words += columns.n_levels[column] // 64 + 1
        if limits.is_monotone:
            bound_children(stats, node, nodes, columns.monotone[column])
        n_nodes += 2
    return n_nodes, n_words


# One entry for all steps: each would be compiled with most of the functions above, and three of them took half as long
# again. A call from Python takes about 10 us with this many arrays, and a level needs three: longer than the work on a
# small table. So the steps continue by themselves; they return when they need room, or when they have worked as long as
# Ctrl-C may wait.

GROW, SPLIT, ADVANCE = range(3)  # all steps, level by level; or one of them, for large levels and best-first growth


@inner_kernel
def words_needed(columns, nodes, splitting):
    """Words that the level sets of these splits take. ``splitting`` int32[k]."""
    n_words = 0
    for k in range(splitting.shape[0]):
        if splitting[k] >= 0 and columns.code_row[nodes.feature[splitting[k]]] >= 0:
            n_words += columns.n_levels[nodes.feature[splitting[k]]] // 64 + 1
    return n_words


@inner_kernel
def collect(nodes, parents, splitting):
    """Children of ``parents`` int32[k] that have a split, in order, to ``splitting`` int32[>= 2k]; returns how many."""
    n_splitting = 0
    for k in range(parents.shape[0]):
        child = 0 if parents[k] < 0 else nodes.first_child[parents[k]]
        for branch in range(1 if parents[k] < 0 else 2):
            if nodes.feature[child + branch] >= 0:
                splitting[n_splitting] = child + branch
                n_splitting += 1
    return n_splitting


@kernel
def take_steps(
    step,
    stats,
    columns,
    nodes,
    splitting,
    n_splitting,
    n_nodes,
    words,
    n_words,
    limits,
    side,
    drawn,
    gains,
    first_column,
    last_column,
    work,
    cells,
    seed,
):
    """Split nodes, scan their children, and go on with those that have a split; or only one of the steps.

    Parameters
    ----------
    step : int
        ``GROW``, ``SPLIT`` or ``ADVANCE``.
    splitting : int32[2, k], INOUT
        Row 0: the nodes to split; a single -1 stands for "scan the root". On return from ``GROW`` the nodes that are
        still to be split.
    n_splitting, n_nodes, n_words : int
        The number of each. Without nodes the root is opened first.
    words : uint64[2, :], INOUT
    side : uint8[n], scratch
    drawn : uint8[2k, p] or uint8[0, 0], IN
        The columns that each child may use; without rows every column.
    gains : float64[p, 2m], OUT
        ``GROW`` processes a level ``m`` nodes at a time.
    first_column, last_column : int
        The columns to advance.
    cells : int
        About how many cells ``GROW`` may read before returning.
    seed : uint64

    Returns
    -------
    n_splitting, n_nodes, n_words : int
        ``n_splitting`` 0: the tree is grown. Else there was no room for their children, or the cells were used up.
    """
    p = columns.code_row.shape[0]
    if n_nodes == 0:
        nodes.lo[0] = 0
        nodes.hi[0] = columns.order.shape[1]
        nodes.depth[0] = 0
        if nodes.key.shape[0] > 0:
            nodes.key[0] = mix(seed, np.uint64(0))
        if limits.is_monotone:
            nodes.low[0] = -np.inf
            nodes.high[0] = np.inf
        place_rows(stats, columns, nodes.lo[0], nodes.hi[0])
        open_node(stats, np.int64(0), nodes, columns.order[0], limits)
        n_nodes = 1
    while n_splitting > 0 and cells > 0:
        parents = splitting[0, :n_splitting]
        at_once = n_splitting
        if step == GROW:
            if 2 * n_splitting > splitting.shape[1] or n_nodes + 2 * n_splitting > nodes.lo.shape[0]:
                break
            if n_words + words_needed(columns, nodes, parents) > words.shape[1]:
                break
            at_once = gains.shape[1] // 2
        n_next = 0
        for start in range(0, n_splitting, at_once):
            some = parents[start : min(start + at_once, n_splitting)]
            if step != ADVANCE and some[0] >= 0:
                n_nodes, n_words = split_nodes(stats, columns, nodes, some, n_nodes, words, n_words, limits, side, work)
            if step != SPLIT:
                advance(stats, columns, nodes, some, limits, side, drawn, gains, first_column, last_column, work)
            if step == GROW:
                choose(nodes, some, gains, limits)
                n_next += collect(nodes, some, splitting[1, n_next:])
                for k in range(some.shape[0]):
                    cells -= p * (nodes.hi[max(some[k], 0)] - nodes.lo[max(some[k], 0)])
        if step != GROW:
            break
        n_splitting = n_next
        for k in range(n_splitting):  # a slice assigned to a slice costs two seconds of compile time: its error's text
            splitting[0, k] = splitting[1, k]
    return n_splitting, n_nodes, n_words


_NO_SEED = np.uint64(0)
EVERY_COLUMN = np.empty((0, 0), np.uint8)
_NO_GAINS = np.empty((0, 0))
_NO_WORDS = np.empty((2, 0), np.uint64)


def grow_levels(stats, columns, nodes, splitting, n_splitting, n_nodes, words, n_words, limits, side, gains, work,
                cells, seed):  # fmt: skip
    """All steps of some levels; parameters and result as ``take_steps``."""
    return take_steps(
        GROW, stats, columns, nodes, splitting, n_splitting, n_nodes, words, n_words, limits, side, EVERY_COLUMN, gains,
        0, len(columns.code_row), work, cells, seed,
    )  # fmt: skip


def split_some(stats, columns, nodes, splitting, n_nodes, words, n_words, limits, side, work):
    """``split_nodes``. ``splitting`` int32[k], ``words`` uint64[2, n_words], ``side`` uint8[n]."""
    _, n_nodes, n_words = take_steps(
        SPLIT, stats, columns, nodes, splitting[None], len(splitting), n_nodes, words, n_words, limits, side,
        EVERY_COLUMN, _NO_GAINS, 0, 0, work, 1, _NO_SEED,
    )  # fmt: skip
    return n_nodes, n_words


def advance_some(stats, columns, nodes, parents, limits, side, drawn, gains, first_column, last_column, work):
    """``advance``. ``parents`` int32[k], ``side`` uint8[n], ``drawn`` uint8[2k, p], ``gains`` [p, 2k]."""
    take_steps(
        ADVANCE, stats, columns, nodes, parents[None], len(parents), 1, _NO_WORDS, 0, limits, side, drawn, gains,
        first_column, last_column, work, 1, _NO_SEED,
    )  # fmt: skip


@kernel
def choose_some(nodes, parents, gains, limits, splitting):
    """``choose`` for Python, and the children that have a split.

    ``parents`` int32[k], ``gains`` float64[p, 2k], ``splitting`` int32[2k].

    Returns
    -------
    n_without, n_splitting : int
    """
    n_without = choose(nodes, parents, gains, limits)
    return n_without, collect(nodes, parents, splitting)
