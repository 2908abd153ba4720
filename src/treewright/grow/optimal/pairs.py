"""The best tree of depth two, of some rows. In: their orders by each ordered column. Out: its objective and root test.

A root test divides the rows, and each side is a leaf or has one more test, its *stump*. Two ways to find the best root
cut of an ordered column:

- `_try_cuts` tries cuts one by one, each with a pass over all columns that finds both stumps. A set of rows never has a
  smaller objective than a part of it (the same tree is no worse there), so that two tried cuts bound all between them;
  and where the loss of a row is bounded, so is what moving it can gain. What cannot beat the incumbent is not tried.
- `_sweep` tries every cut, for two classes and losses that are linear in their weights. The classes of a stump's leaves
  are two fixed ones, so that its loss is a prefix sum over a column plus a constant: a tree of (sum, least and largest
  prefix sum) over the ranks of each column holds the best stump while rows move from one side to the other, in
  log2(rows) steps each. The cuts of a column are divided into *stretches* of as many rows of the table each, and a
  stretch keeps a lower bound of its cuts' objectives: like rows inherit it, and sweep only the stretches that may hold
  a better tree.

With a limit of rows or weight per leaf a part of some rows can have a larger objective than the rows themselves. Bounds
then use the *relaxed* objective, which has no such limit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treewright.core.jit import inner_kernel, kernel
from treewright.core.structs import struct
from treewright.grow.optimal.losses import COST, LOG_LOSS, Loss, add_row, leaf_loss, weight_of
from treewright.grow.optimal.space import Cells

INF = 2**61  # of objectives: the sum of two is an int64
CUT, ONE_LEVEL, WITH_MISSING, FIRST_LEVELS = range(4)  # kinds of test
_FEW_CUTS = 24  # so many are tried one by one: a sweep takes as long
STRETCHES = 32  # of the cuts of a column
_GAP = 8  # a stretch of no interest is swept along if it has less than this part of the rows: to begin anew costs more


@struct
class Rules(NamedTuple):
    """``price`` of a leaf; ``min_rows`` and ``min_weight`` of a leaf; ``has_subsets``: means order the levels.

    ``is_limited``: a leaf has a limit of rows or weight.
    """

    price: int
    min_rows: int
    min_weight: int
    is_limited: bool
    has_subsets: bool


@struct
class Scratch(NamedTuple):
    """Memory of one search; see ``scratch_of``.

    ``side`` uint8[n]: of each row. ``sizes`` int64[2] and ``totals`` int64[2, n_sums]: rows and sums of the sides.
    """

    side: np.ndarray
    sizes: np.ndarray
    totals: np.ndarray
    sums: np.ndarray  # int64[2, n_sums]
    rest: np.ndarray  # int64[n_sums]
    tables: np.ndarray  # int64[levels, n_sums]
    counts: np.ndarray  # int64[levels]
    ranked: np.ndarray  # int64[levels]
    means: np.ndarray  # float64[levels]
    stumps: np.ndarray  # int64[2, 5]
    objectives: np.ndarray  # int64[2]
    moved: np.ndarray  # int64[n + 1]: largest losses of the first rows of an order
    stack: np.ndarray  # int64[n + 2, 6]: intervals of cuts that are not yet tried
    best: np.ndarray  # int64[2, n + 1]: the best stump of each side of each cut
    alone: np.ndarray  # int64[2, 2, n + 1]: the loss of each side of each cut, as one leaf of either class
    costs: np.ndarray  # int64[n]: of predicting the first class, less that of predicting the second
    places: np.ndarray  # int32[q, n]: see ``_place_rows``
    n_places: np.ndarray  # int64[q]
    tree: np.ndarray  # int64[2 * size, 6]: see ``_move_in_trees``
    tried: np.ndarray  # uint8[q + r]: root columns
    least: np.ndarray  # int64[q + r]: the least floor of each
    bounds: np.ndarray  # int32[q, STRETCHES + 1]: ranks at which the stretches of each ordered column begin
    ends: np.ndarray  # int64[2, STRETCHES + 1]: rows before the first cut of each stretch, and before its first rank


def scratch_of(cells: Cells, loss: Loss) -> Scratch:
    """Memory for the kernels of this module."""
    n, t = len(loss.weights), loss.n_sums
    levels = int(cells.n_levels.max(initial=1))
    size = 1 << max(n - 1, 1).bit_length()
    can_sweep = loss.kind == COST and loss.n_sums == 2
    return Scratch(
        side=np.zeros(n, np.uint8),
        sizes=np.zeros(2, np.int64),
        totals=np.zeros((2, t), np.int64),
        sums=np.zeros((2, t), np.int64),
        rest=np.zeros(t, np.int64),
        tables=np.zeros((levels, t), np.int64),
        counts=np.zeros(levels, np.int64),
        ranked=np.zeros(levels, np.int64),
        means=np.zeros(levels),
        stumps=np.zeros((2, 5), np.int64),
        objectives=np.zeros(2, np.int64),
        moved=np.zeros(n + 1, np.int64),
        stack=np.zeros((n + 2, 6), np.int64),
        best=np.zeros((2, n + 1 if can_sweep else 0), np.int64),
        alone=np.zeros((2, 2, n + 1 if can_sweep else 0), np.int64),
        costs=np.where(loss.labels == 0, -loss.weights * loss.costs[0, 1], loss.weights * loss.costs[1, 0])
        if can_sweep
        else np.zeros(0, np.int64),
        places=np.zeros((len(cells.ranks), n) if can_sweep else (0, 0), np.int32),
        n_places=np.zeros(len(cells.ranks), np.int64),
        tree=np.zeros((max(2 * size, levels) if can_sweep else 0, 6), np.int64),
        tried=np.zeros(len(cells.ranks) + len(cells.codes), np.uint8),
        least=np.zeros(len(cells.ranks) + len(cells.codes), np.int64),
        bounds=_stretches_of(cells.ranks),
        ends=np.zeros((2, STRETCHES + 1), np.int64),
    )


def _stretches_of(ranks: np.ndarray) -> np.ndarray:
    """int32[q, STRETCHES + 1]: ranks that divide the rows of each column, and one that is above all."""
    at = np.arange(STRETCHES) * ranks.shape[1] // STRETCHES
    return np.concatenate([np.sort(ranks, axis=1)[:, at], ranks.max(axis=1, initial=0)[:, None] + 1], axis=1)


@inner_kernel
def is_leaf(rules, n_rows, weight):
    """Whether so many rows of so much weight may be a leaf."""
    return n_rows >= rules.min_rows and weight >= rules.min_weight


@inner_kernel
def objective_of_side(loss, rules, totals, n_rows, stump, is_relaxed, max_leaves):
    """The objective of a side of a root test, int64: as a leaf, or with its stump (``int64[5]``, see ``_offer``)."""
    own = leaf_loss(loss, totals) + rules.price
    if rules.is_limited and not is_relaxed and not is_leaf(rules, n_rows, weight_of(loss, totals)):
        own = INF
    if max_leaves < 2:
        return own
    return min(own, stump[1 if is_relaxed else 0] + 2 * rules.price, INF)


@inner_kernel
def _offer(loss, rules, left, total, rest, n_left, n_total, found, place, kind, number):
    """Offer the stump that parts the sums ``left`` from ``total`` (int64[n_sums] each); ``rest`` is overwritten.

    ``found`` int64[5], INOUT: loss of the stump, of the one without limits, and the test's place, kind and number.
    """
    for k in range(left.shape[0]):
        rest[k] = total[k] - left[k]
    value = leaf_loss(loss, left) + leaf_loss(loss, rest)
    found[1] = min(found[1], value)
    if value >= found[0]:
        return
    if rules.is_limited and not (
        is_leaf(rules, n_left, weight_of(loss, left)) and is_leaf(rules, n_total - n_left, weight_of(loss, rest))
    ):
        return
    found[0] = value
    found[2] = place
    found[3] = kind
    found[4] = number


@inner_kernel
def _find_stumps(cells, loss, rules, orders, scratch):
    """Find the best stump of each side, in one pass over each column; into ``scratch.stumps``.

    ``orders`` int32[q + 1, m]: the rows. Their sides, and sizes and totals of these, stand in ``scratch``.
    """
    q, m = cells.ranks.shape[0], orders.shape[1]
    side, totals, sums, sizes, found = scratch.side, scratch.totals, scratch.sums, scratch.sizes, scratch.stumps
    for s in range(2):
        found[s, 0] = INF
        found[s, 1] = INF
        found[s, 2] = -1
    for j in range(q):
        sums[:] = 0
        n_first = np.int64(0)
        n_second = np.int64(0)
        last_first = np.int32(-1)
        last_second = np.int32(-1)
        for i in range(m):
            row = orders[j, i]
            rank = cells.ranks[j, row]
            if side[row] == 0:
                if n_first > 0 and rank != last_first:
                    _offer(loss, rules, sums[0], totals[0], scratch.rest, n_first, sizes[0], found[0], j, CUT, n_first)
                add_row(loss, sums[0], row, 1)
                n_first += 1
                last_first = rank
            else:
                if n_second > 0 and rank != last_second:
                    _offer(
                        loss, rules, sums[1], totals[1], scratch.rest, n_second, sizes[1], found[1], j, CUT, n_second
                    )
                add_row(loss, sums[1], row, 1)
                n_second += 1
                last_second = rank
    for place in range(cells.codes.shape[0]):
        for s in range(2):
            _offer_levels(cells, loss, rules, orders[q], scratch, place, s)


@inner_kernel
def _offer_levels(cells, loss, rules, rows, scratch, place, s):
    """Offer the tests of a nominal column on one side; ``rows`` int32[m]."""
    codes = cells.codes[place]
    n_levels = cells.n_levels[place]
    tables, counts, total, left = scratch.tables, scratch.counts, scratch.totals[s], scratch.sums[0]
    found, rest, n_total = scratch.stumps[s], scratch.rest, scratch.sizes[s]
    at = cells.ranks.shape[0] + place
    for v in range(n_levels):
        counts[v] = 0
        tables[v, :] = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        if scratch.side[row] == s:
            counts[codes[row]] += 1
            add_row(loss, tables[codes[row]], row, 1)
    gone = cells.missing[place]
    n_gone = counts[gone] if gone >= 0 else np.int64(0)
    n_ranked = 0
    for v in range(n_levels):
        n_here = counts[v]
        if n_here in (0, n_total):
            continue
        _offer(loss, rules, tables[v], total, rest, n_here, n_total, found, at, ONE_LEVEL, v)
        if n_gone > 0 and v != gone and n_here + n_gone < n_total:
            for k in range(left.shape[0]):
                left[k] = tables[v, k] + tables[gone, k]
            _offer(loss, rules, left, total, rest, n_here + n_gone, n_total, found, at, WITH_MISSING, v)
        if rules.has_subsets:
            n_ranked = _rank_level(loss, scratch, v, n_ranked)
    if n_ranked > 3:
        left[:] = 0
        n_left = np.int64(0)
        for i in range(n_ranked - 1):
            v = scratch.ranked[i]
            for k in range(left.shape[0]):
                left[k] += tables[v, k]
            n_left += counts[v]
            _offer(loss, rules, left, total, rest, n_left, n_total, found, at, FIRST_LEVELS, i + 1)


@inner_kernel
def _rank_level(loss, scratch, v, n_ranked):
    """Insert a level into those ranked by their means; returns how many there are now."""
    table = scratch.tables[v]
    mean = np.float64(table[1]) / np.float64(weight_of(loss, table))
    i = n_ranked
    while i > 0 and scratch.means[i - 1] > mean:
        scratch.means[i] = scratch.means[i - 1]
        scratch.ranked[i] = scratch.ranked[i - 1]
        i -= 1
    scratch.means[i] = mean
    scratch.ranked[i] = v
    return n_ranked + 1


@inner_kernel
def _all_on_one_side(loss, orders, scratch):
    """Put all rows on the second side, with sizes and totals."""
    rows = orders[orders.shape[0] - 1]
    scratch.totals[:] = 0
    for i in range(rows.shape[0]):
        scratch.side[rows[i]] = 1
        add_row(loss, scratch.totals[1], rows[i], 1)
    scratch.sizes[0] = 0
    scratch.sizes[1] = rows.shape[0]


@inner_kernel
def _move(loss, scratch, row, to):
    """Move a row to the first side (``to`` 0) or back to the second."""
    sign = 1 - 2 * to
    scratch.side[row] = to
    add_row(loss, scratch.totals[0], row, sign)
    add_row(loss, scratch.totals[1], row, -sign)
    scratch.sizes[0] += sign
    scratch.sizes[1] -= sign


@inner_kernel
def _try_root(cells, loss, rules, orders, scratch, max_leaves, best, place, kind, number, sides):
    """Try the root test that the sides are divided by; ``sides`` int64[2], OUT: their relaxed objectives.

    ``best`` int64[5], INOUT: the least objective so far, the least relaxed one of all tried, and the root test.
    """
    _find_stumps(cells, loss, rules, orders, scratch)
    totals, sizes, stumps = scratch.totals, scratch.sizes, scratch.stumps
    for s in range(2):
        sides[s] = objective_of_side(loss, rules, totals[s], sizes[s], stumps[s], True, 2)
    best[1] = min(best[1], sides[0] + sides[1])
    own_0 = objective_of_side(loss, rules, totals[0], sizes[0], stumps[0], False, 1)
    own_1 = objective_of_side(loss, rules, totals[1], sizes[1], stumps[1], False, 1)
    of_0 = objective_of_side(loss, rules, totals[0], sizes[0], stumps[0], False, 2)
    of_1 = objective_of_side(loss, rules, totals[1], sizes[1], stumps[1], False, 2)
    value = of_0 + of_1 if max_leaves > 3 else min(own_0 + of_1, of_0 + own_1)
    if value < best[0]:
        best[0] = value
        best[2] = place
        best[3] = kind
        best[4] = number


@inner_kernel
def first_above(values, lo, hi, limit):
    """The first position from ``lo`` to ``hi`` whose value is above the limit, ``hi + 1`` if none; int64, ascending."""
    end = hi + 1
    while lo < end:
        middle = (lo + end) // 2
        if values[middle] > limit:
            end = middle
        else:
            lo = middle + 1
    return lo


@inner_kernel
def _try_cuts(cells, loss, rules, orders, scratch, max_leaves, best, j):
    """Try the root cuts of an ordered column, from the middle of intervals that may hold a better one."""
    order, ranks = orders[j], cells.ranks[j]
    m = order.shape[0]
    moved, stack = scratch.moved, scratch.stack
    is_bounded = loss.largest[0] >= 0
    moved[0] = 0
    for i in range(m):
        moved[i + 1] = moved[i] + (loss.largest[order[i]] if is_bounded else 0)
    _all_on_one_side(loss, orders, scratch)
    sides = scratch.objectives
    at = 0  # rows on the first side
    # An interval: the cuts tried on both sides of it, with the relaxed objectives of their two sides.
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3], stack[0, 4], stack[0, 5] = 0, m, 0, 0, 0, 0
    n_open = 1
    while n_open > 0:
        n_open -= 1
        a, b = stack[n_open, 0], stack[n_open, 1]
        first_a, second_a, first_b, second_b = (
            stack[n_open, 2], stack[n_open, 3], stack[n_open, 4], stack[n_open, 5],
        )  # fmt: skip
        if first_a + second_b >= best[0]:
            continue
        lo, hi = a + 1, b - 1
        if is_bounded:
            # A cut with `moved` more rows on the first side has at least the objective of cut a, less their losses.
            if a > 0:
                lo = first_above(moved, lo, hi, moved[a] + first_a + second_a - best[0])
            if b < m:
                hi = first_above(moved, lo, hi, moved[b] - (first_b + second_b - best[0]) - 1) - 1
        if lo > hi:
            continue
        middle = (lo + hi) // 2
        cut = middle
        while cut <= hi and ranks[order[cut - 1]] == ranks[order[cut]]:
            cut += 1
        if cut > hi:
            cut = middle - 1
            while cut >= lo and ranks[order[cut - 1]] == ranks[order[cut]]:
                cut -= 1
            if cut < lo:
                continue
        while at < cut:
            _move(loss, scratch, order[at], 0)
            at += 1
        while at > cut:
            at -= 1
            _move(loss, scratch, order[at], 1)
        _try_root(cells, loss, rules, orders, scratch, max_leaves, best, j, CUT, cut, sides)
        for part in range(2):
            to = n_open + part
            stack[to, 0] = cut if part == 0 else a
            stack[to, 1] = b if part == 0 else cut
            stack[to, 2] = sides[0] if part == 0 else first_a
            stack[to, 3] = sides[1] if part == 0 else second_a
            stack[to, 4] = first_b if part == 0 else sides[0]
            stack[to, 5] = second_b if part == 0 else sides[1]
        n_open += 2


@inner_kernel
def _try_levels(cells, loss, rules, orders, scratch, max_leaves, best, place):
    """Try every level of a nominal column against the rest as root test."""
    rows, codes, gone = orders[orders.shape[0] - 1], cells.codes[place], cells.missing[place]
    at = cells.ranks.shape[0] + place
    for kind in range(ONE_LEVEL, FIRST_LEVELS):
        if kind == WITH_MISSING and gone < 0:
            continue
        for v in range(cells.n_levels[place]):
            if kind == WITH_MISSING and v == gone:
                continue
            _all_on_one_side(loss, orders, scratch)
            n_gone = 0
            for i in range(rows.shape[0]):
                if codes[rows[i]] == v or (kind == WITH_MISSING and codes[rows[i]] == gone):
                    _move(loss, scratch, rows[i], 0)
                    n_gone += codes[rows[i]] == gone
            n_left = scratch.sizes[0]
            if n_left in (0, rows.shape[0]) or (kind == WITH_MISSING and n_gone in (0, n_left)):
                continue
            _try_root(cells, loss, rules, orders, scratch, max_leaves, best, at, kind, v, scratch.objectives)


@inner_kernel
def _move_in_trees(tree, at, cost):
    """Move a cost from the trees of the second side to those of the first, and mend the nodes above.

    ``tree`` int64[2 * size, 6]: sum, least and largest prefix sum, of the first side and then of the second. The nodes
    of the path stay in registers, and masks take the place of branches: 44 ns for 4,096 places, where two trees, each
    mended from its nodes in memory, took 69. Nodes of 8 words (61 ns) and blocks of 8 leaves (48 ns) were tried.
    """
    first, second = tree[at, 0] + cost, tree[at, 3] - cost
    least_1, most_1, least_2, most_2 = first, first, second, second
    while True:
        tree[at, 0], tree[at, 1], tree[at, 2] = first, least_1, most_1
        tree[at, 3], tree[at, 4], tree[at, 5] = second, least_2, most_2
        if at == 1:
            return
        is_right = -(at & 1)  # all bits are set if the node is the right one of two
        beside = at ^ 1
        sum_1, sum_2 = tree[beside, 0], tree[beside, 3]
        before_1, before_2 = sum_1 & is_right, sum_2 & is_right  # of what the node follows
        least_1 = min(before_1 + least_1, (first & ~is_right) + tree[beside, 1])
        most_1 = max(before_1 + most_1, (first & ~is_right) + tree[beside, 2])
        least_2 = min(before_2 + least_2, (second & ~is_right) + tree[beside, 4])
        most_2 = max(before_2 + most_2, (second & ~is_right) + tree[beside, 5])
        first += sum_1
        second += sum_2
        at >>= 1


@inner_kernel
def _place_rows(cells, loss, orders, scratch):
    """Number the rows of a node in each column's order; the rows between two changes of class have one number.

    A sum of prefixes that all have the same sign is least or largest at an end of them.
    """
    m = orders.shape[1]
    for j in range(cells.ranks.shape[0]):
        order, ranks, places = orders[j], cells.ranks[j], scratch.places[j]
        place, last, i = -1, -1, 0
        while i < m:
            label, end = loss.labels[order[i]], i + 1
            while end < m and ranks[order[end]] == ranks[order[i]]:
                if loss.labels[order[end]] != label:
                    label = np.int32(-1)
                end += 1
            if label < 0 or label != last:
                place += 1
            last = label
            while i < end:
                places[order[i]] = place
                i += 1
        scratch.n_places[j] = place + 1


@inner_kernel
def _plant(rows, place, scratch):
    """Make the trees of both sides of a column; returns their size."""
    tree, side, costs, places = scratch.tree, scratch.side, scratch.costs, scratch.places[place]
    size = 1
    while size < scratch.n_places[place]:
        size *= 2
    tree[size : 2 * size, :] = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        tree[size + places[row], 3 * side[row]] += costs[row]
    for at in range(size, 2 * size):
        for s in range(0, 6, 3):
            tree[at, s + 1] = tree[at, s]
            tree[at, s + 2] = tree[at, s]
    for at in range(size - 1, 0, -1):
        left, right = 2 * at, 2 * at + 1
        for s in range(0, 6, 3):
            before = tree[left, s]
            tree[at, s] = before + tree[right, s]
            tree[at, s + 1] = min(tree[left, s + 1], before + tree[right, s + 1])
            tree[at, s + 2] = max(tree[left, s + 2], before + tree[right, s + 2])
    return size


@inner_kernel
def _rows_below(order, ranks, rank):
    """How many rows of an order have a smaller rank."""
    lo, hi = 0, order.shape[0]
    while lo < hi:
        middle = (lo + hi) // 2
        if ranks[order[middle]] < rank:
            lo = middle + 1
        else:
            hi = middle
    return lo


@inner_kernel
def _sweep(cells, loss, rules, orders, scratch, max_leaves, best, j, floors, trivial):
    """Try root cuts of an ordered column, each with the best stumps of both sides; two classes, no limits.

    ``floors`` int64[STRETCHES], INOUT: only stretches whose floor is less than the best are swept. A cut with all rows
    on one side counts as ``trivial``: rows that are not here may be on the other.
    """
    m = orders.shape[1]
    order, ranks, bounds, ends = orders[j], cells.ranks[j], scratch.bounds[j], scratch.ends
    for c in range(STRETCHES + 1):
        ends[0, c] = _rows_below(order, ranks, bounds[c] + 1)
        ends[1, c] = _rows_below(order, ranks, bounds[c])
    c = 0
    while c < STRETCHES:
        if floors[c] >= best[0]:
            c += 1
            continue
        last = c  # of the stretches that are swept together
        after = c + 1
        while after < STRETCHES and ends[1, after] - ends[1, last + 1] <= m // _GAP:
            if floors[after] < best[0]:
                last = after
            after += 1
        _sweep_between(
            cells, loss, rules, orders, scratch, max_leaves, best, j, max(ends[0, c], 1), min(ends[1, last + 1], m - 1)
        )
        values = scratch.best[0]
        while c <= last:
            least = trivial if ends[0, c] == 0 or ends[1, c + 1] == m else INF
            for cut in range(max(ends[0, c], 1), min(ends[1, c + 1], m - 1) + 1):
                least = min(least, values[cut])
            floors[c] = max(floors[c], least)
            c += 1


@inner_kernel
def _sweep_between(cells, loss, rules, orders, scratch, max_leaves, best, j, lo, hi):
    """Try the root cuts with ``lo`` to ``hi`` rows on the left; their objectives into ``scratch.best[0]``."""
    q, m = cells.ranks.shape[0], orders.shape[1]
    order, ranks, tree, costs = orders[j], cells.ranks[j], scratch.tree, scratch.costs
    totals, of_sides, alone = scratch.totals, scratch.best, scratch.alone
    if lo > hi:
        return
    totals[:] = 0
    for i in range(m):
        scratch.side[order[i]] = i >= lo
        add_row(loss, totals[0 if i < lo else 1], order[i], 1)
    for cut in range(lo, hi + 1):
        if cut > lo:
            add_row(loss, totals[0], order[cut - 1], 1)
            add_row(loss, totals[1], order[cut - 1], -1)
        for s in range(2):
            of_sides[s, cut] = INF
            alone[s, 0, cut] = totals[s, 1] * loss.costs[1, 0]
            alone[s, 1, cut] = totals[s, 0] * loss.costs[0, 1]
    for other in range(q + cells.codes.shape[0]):
        is_ordered, size = other < q, 0
        if is_ordered:
            if ranks_alike(orders[other], cells.ranks[other]):
                continue
            size = _plant(orders[q], other, scratch)
        else:
            _plant_levels(cells, orders[q], scratch, other - q)
        for cut in range(lo, hi + 1):
            row = order[cut - 1]
            if cut > lo:
                if is_ordered:
                    _move_in_trees(tree, size + scratch.places[other, row], costs[row])
                else:
                    code = cells.codes[other - q, row]
                    tree[code, 0] += costs[row]
                    tree[code, 3] -= costs[row]
            if ranks[row] == ranks[order[cut]]:
                continue
            for s in range(2):
                if is_ordered:
                    least, largest = tree[1, 3 * s + 1], tree[1, 3 * s + 2]
                else:
                    least, largest = _extremes_of_levels(cells, tree, other - q, 3 * s)
                # Left of the stump's cut the first class, right of it the second; or the other way round.
                value = min(alone[s, 1, cut] + least, alone[s, 0, cut] - largest)
                of_sides[s, cut] = min(of_sides[s, cut], value)
    for cut in range(lo, hi + 1):
        if ranks[order[cut - 1]] == ranks[order[cut]]:
            continue
        own_0 = min(alone[0, 0, cut], alone[0, 1, cut]) + rules.price
        own_1 = min(alone[1, 0, cut], alone[1, 1, cut]) + rules.price
        of_0 = min(own_0, of_sides[0, cut] + 2 * rules.price)
        of_1 = min(own_1, of_sides[1, cut] + 2 * rules.price)
        of_sides[0, cut] = of_0 + of_1
        value = of_0 + of_1 if max_leaves > 3 else min(own_0 + of_1, of_0 + own_1)
        if value < best[0]:
            best[0] = value
            best[2] = j
            best[3] = CUT
            best[4] = cut


@inner_kernel
def ranks_alike(order, ranks):
    """Whether all rows of an order have the same rank."""
    return ranks[order[0]] == ranks[order[order.shape[0] - 1]]


@inner_kernel
def _plant_levels(cells, rows, scratch, place):
    """Sums of the levels of a nominal column, of the rows of both sides, in the first entries of the trees."""
    tree, side = scratch.tree, scratch.side
    for v in range(cells.n_levels[place]):
        tree[v, 0] = 0
        tree[v, 3] = 0
    for i in range(rows.shape[0]):
        tree[cells.codes[place, rows[i]], 3 * side[rows[i]]] += scratch.costs[rows[i]]


@inner_kernel
def _extremes_of_levels(cells, tree, place, at):
    """The least and the largest sum over any set of levels: that of the negative ones, and of the positive ones."""
    least = np.int64(0)
    largest = np.int64(0)
    for v in range(cells.n_levels[place]):
        least += min(tree[v, at], np.int64(0))
        largest += max(tree[v, at], np.int64(0))
    return least, largest


@inner_kernel
def _count_cuts(order, ranks):
    """How many cuts an ordered column offers these rows."""
    n = 0
    for i in range(1, order.shape[0]):
        n += ranks[order[i - 1]] != ranks[order[i]]
    return n


@inner_kernel
def _least_of(floors, at):
    """The least floor of a column."""
    least = floors[at, 0]
    for c in range(1, STRETCHES):
        least = min(least, floors[at, c])
    return least


@kernel
def best_pair(cells, loss, rules, orders, scratch, max_leaves, floors, best):
    """The best root test of at most four leaves in two levels.

    ``orders`` int32[q + 1, m]; ``max_leaves`` 3 or 4. ``floors`` int64[q + r, STRETCHES], INOUT: lower bounds of the
    relaxed objective with a root test of each column, by stretches of its cuts; the least are tried first, and what
    cannot be better than the best is not. ``best`` int64[5], INOUT: the objective to beat, and then the least one; the
    least relaxed objective of a root test with all rows on one side, and then the least floor; place, kind and number
    of the root test, -1 if none beats it.
    """
    q = cells.ranks.shape[0]
    can_sweep = scratch.best.shape[1] > 0 and not rules.is_limited
    tried, least = scratch.tried, scratch.least
    trivial = best[1]
    if can_sweep:
        _place_rows(cells, loss, orders, scratch)
    tried[:] = 0
    for at in range(tried.shape[0]):
        least[at] = _least_of(floors, at)
    for _ in range(tried.shape[0]):
        at = -1
        for j in range(tried.shape[0]):
            if not tried[j] and (at < 0 or least[j] < least[at]):
                at = j
        if least[at] >= best[0]:
            break
        tried[at] = 1
        best[1] = INF
        n_cuts = _count_cuts(orders[at], cells.ranks[at]) if at < q else 0
        if at < q and n_cuts > _FEW_CUTS and can_sweep:
            _sweep(cells, loss, rules, orders, scratch, max_leaves, best, at, floors[at], trivial)
            continue
        if at >= q:
            _try_levels(cells, loss, rules, orders, scratch, max_leaves, best, at - q)
        elif n_cuts > 0:
            _try_cuts(cells, loss, rules, orders, scratch, max_leaves, best, at)
        # Of cuts, what was not tried has no less than the best.
        floor = best[1] if at >= q else min(best[1], best[0])
        for c in range(STRETCHES):
            floors[at, c] = max(floors[at, c], floor)
    best[1] = INF
    for at in range(tried.shape[0]):
        best[1] = min(best[1], _least_of(floors, at))


@kernel
def best_stump(cells, loss, rules, orders, scratch, found):
    """The best test of all rows; ``orders`` int32[q + 1, m]; ``found`` int64[5], OUT: see ``_offer``."""
    _all_on_one_side(loss, orders, scratch)
    _find_stumps(cells, loss, rules, orders, scratch)
    for k in range(5):
        found[k] = scratch.stumps[1, k]


@kernel
def divide(orders, goes_left, left, right):
    """Rows of a node to its children, each in the same orders.

    ``orders`` int32[q + 1, m]; ``goes_left`` uint8[n]; ``left`` int32[q + 1, m_left], ``right`` likewise, OUT.
    """
    for j in range(orders.shape[0]):
        n_left = 0
        n_right = 0
        for i in range(orders.shape[1]):
            row = orders[j, i]
            if goes_left[row]:
                left[j, n_left] = row
                n_left += 1
            else:
                right[j, n_right] = row
                n_right += 1


@kernel
def sum_rows(loss, rows, sums):
    """Sums of some rows (int32[m]) into ``sums`` int64[n_sums]; returns their loss as a leaf."""
    sums[:] = 0
    for i in range(rows.shape[0]):
        add_row(loss, sums, rows[i], 1)
    return leaf_loss(loss, sums)


@inner_kernel
def _concentration(loss, sums):
    """How alike the rows of a set are, float64: the sum of squares over weight, larger is better."""
    weight = np.float64(weight_of(loss, sums))
    if loss.kind > LOG_LOSS:
        return np.float64(sums[1]) * (np.float64(sums[1]) / weight)
    total = 0.0
    for k in range(sums.shape[0]):
        total += np.float64(sums[k]) * (np.float64(sums[k]) / weight)
    return total


@kernel
def promising_cuts(cells, loss, orders, scratch, scores, cuts):
    """The cut of each ordered column that makes both sides most alike.

    ``orders`` int32[q + 1, m]. ``scores`` float64[q], OUT: larger is better, -1 without a cut; ``cuts`` int64[q], OUT.
    """
    left, rest = scratch.sums[0], scratch.rest
    m = orders.shape[1]
    for j in range(cells.ranks.shape[0]):
        order, ranks = orders[j], cells.ranks[j]
        left[:] = 0
        rest[:] = 0
        for i in range(m):
            add_row(loss, rest, order[i], 1)
        scores[j] = -1.0
        for i in range(m - 1):
            add_row(loss, left, order[i], 1)
            add_row(loss, rest, order[i], -1)
            if ranks[order[i]] != ranks[order[i + 1]]:
                score = _concentration(loss, left) + _concentration(loss, rest)
                if score > scores[j]:
                    scores[j] = score
                    cuts[j] = i + 1


@kernel
def promise_of(loss, left, right, scratch):
    """The score of ``promising_cuts`` for two sets of rows, int32 each."""
    first, second = scratch.sums[0], scratch.sums[1]
    first[:] = 0
    second[:] = 0
    for i in range(left.shape[0]):
        add_row(loss, first, left[i], 1)
    for i in range(right.shape[0]):
        add_row(loss, second, right[i], 1)
    return _concentration(loss, first) + _concentration(loss, second)
