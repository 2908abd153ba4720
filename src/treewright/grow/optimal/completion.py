"""The greedy tree below a node, in one call. In: rows, the bins of their cells, a loss. Out: its objective, its tests.

Every cell has a number that tells its column and its rank there, or its level: a *bin*. A *histogram* holds the sums of
some rows for each bin. That of a node gives the score of every test in one pass over the bins. Of two children the rows
of the smaller are counted, and the larger has the difference:

    nodes that wait   root            larger | smaller      larger | larger | smaller
    histograms        0         ->    0        1        ->  0        1        2           the last is next

A test is chosen by what CART minimises for the loss; then the tree is pruned by the objective. All sums are whole
numbers, so that neither the order of the rows nor the subtraction changes anything.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treewright.core.jit import inner_kernel, kernel
from treewright.core.structs import struct
from treewright.grow.optimal.losses import LOG_LOSS, Loss, leaf_loss, weight_of
from treewright.grow.optimal.pairs import CUT, FIRST_LEVELS, INF, ONE_LEVEL, WITH_MISSING
from treewright.grow.optimal.space import Cells

BEGIN, END, LEVEL, TEST, FIRST, VALUE = range(6)  # of a node of a completion


@struct
class Bins(NamedTuple):
    """A table in bins, and its tests.

    ``by_row`` uint16[n, c] (int32 for more bins), ``by_column`` [c, n]: the bin of each cell. ``starts`` int32[c + 1]:
    first bin of each column. ``tests`` int32[t, 3]: place, kind (as in ``pairs``) and number of each test; the number
    of a cut is the largest rank on the left. ``first_tests`` int32[c + 1]: of each column. ``missing`` int32[c]: the
    level of missing cells of a nominal column, -1 without any. ``has_counts``: the last sum of a bin counts its rows,
    because not all of them weigh 1.
    """

    by_row: np.ndarray
    by_column: np.ndarray
    starts: np.ndarray
    tests: np.ndarray
    first_tests: np.ndarray
    missing: np.ndarray
    n_ordered: int
    has_subsets: bool
    has_counts: bool


@struct
class Work(NamedTuple):
    """Memory of completions; see ``work_of``."""

    histograms: np.ndarray  # int64[levels + 1, bins, n_stats]
    waiting: np.ndarray  # int64[levels + 2]
    totals: np.ndarray  # int64[n_stats]
    left: np.ndarray  # int64[n_stats]
    right: np.ndarray  # int64[n_stats]
    scores: np.ndarray  # int64[t]
    goes_left: np.ndarray  # uint8[bins]
    others: np.ndarray  # int32[n]: rows on the right, while others move
    ranked: np.ndarray  # int64[levels of a column]
    means: np.ndarray  # float64[levels of a column]


def bins_of_cells(cells: Cells, loss: Loss, has_subsets: bool) -> Bins:
    """The bins of a table."""
    q, n = cells.ranks.shape
    sizes = [int(ranks.max(initial=0)) + 1 for ranks in cells.ranks] + cells.n_levels.tolist()
    starts = np.cumsum([0, *sizes]).astype(np.int32)
    dtype = np.uint16 if starts[-1] <= 2**16 else np.int32  # half the memory, which 100,000 rows wait for
    by_column = np.ascontiguousarray((np.concatenate([cells.ranks, cells.codes]) + starts[:-1, None]).astype(dtype))
    tests: list[tuple[int, int, int]] = []
    first_tests = [0]
    for place, size in enumerate(sizes):
        kinds = [CUT]
        if place >= q:
            kinds = [ONE_LEVEL]
            kinds += [WITH_MISSING] * bool(cells.missing[place - q] >= 0) + [FIRST_LEVELS] * has_subsets
        tests += [(place, kind, number) for kind in kinds for number in range(size)]
        first_tests.append(len(tests))
    return Bins(
        np.ascontiguousarray(by_column.T), by_column.reshape(len(sizes), n), starts,
        np.array(tests, np.int32).reshape(-1, 3), np.array(first_tests, np.int32),
        np.concatenate([np.full(q, -1, np.int32), cells.missing]), q, has_subsets,
        not bool((loss.weights == 1).all()),
    )  # fmt: skip


def work_of(bins: Bins, loss: Loss, levels: int) -> Work:
    """Memory for completions of so many levels."""
    n_bins, n_stats = int(bins.starts[-1]), loss.n_sums + bins.has_counts
    most = int(np.diff(bins.starts).max(initial=1))
    return Work(
        histograms=np.zeros((levels + 1, n_bins, n_stats), np.int64),
        waiting=np.zeros(levels + 2, np.int64),
        totals=np.zeros(n_stats, np.int64),
        left=np.zeros(n_stats, np.int64),
        right=np.zeros(n_stats, np.int64),
        scores=np.zeros(len(bins.tests), np.int64),
        goes_left=np.zeros(n_bins, np.uint8),
        others=np.zeros(len(loss.weights), np.int32),
        ranked=np.zeros(most, np.int64),
        means=np.zeros(most),
    )


@inner_kernel
def _count(bins, loss, rows, begin, end, histogram):
    """The histogram of some rows; ``histogram`` int64[bins, n_stats], OUT."""
    # Unsigned: Numba makes every signed index count from the end if it is negative, at 1 ns a cell instead of .5.
    by_row, last = bins.by_row, np.uint64(loss.n_sums)
    zero, one, two = np.uint64(0), np.uint64(1), np.uint64(2)
    n_columns = by_row.shape[1]
    histogram[:] = 0
    for i in range(begin, end):
        row = np.uint64(rows[i])
        weight = loss.weights[row]
        if loss.kind <= LOG_LOSS:
            label = np.uint64(loss.labels[row])
            for j in range(n_columns):
                histogram[np.uint64(by_row[row, np.uint64(j)]), label] += weight
        else:
            first, second = loss.first[row], loss.second[row]
            for j in range(n_columns):
                at = np.uint64(by_row[row, np.uint64(j)])
                histogram[at, zero] += weight
                histogram[at, one] += first
                histogram[at, two] += second
        if bins.has_counts:
            for j in range(n_columns):
                histogram[np.uint64(by_row[row, np.uint64(j)]), last] += 1


@inner_kernel
def _n_rows(bins, loss, sums):
    """How many rows have these sums."""
    return sums[loss.n_sums] if bins.has_counts else weight_of(loss, sums)


@inner_kernel
def _may_be_leaf(bins, loss, rules, sums):
    """Whether rows with these sums are any, and may be a leaf."""
    n_rows = _n_rows(bins, loss, sums)
    return n_rows > 0 and n_rows >= rules.min_rows and weight_of(loss, sums) >= rules.min_weight


@inner_kernel
def _sum_bins(bins, histogram, totals):
    """Sums of all rows of a histogram: those of its first column; ``totals`` int64[n_stats], OUT."""
    totals[:] = 0
    for b in range(bins.starts[1]):
        for k in range(totals.shape[0]):
            totals[k] += histogram[b, k]


@inner_kernel
def _score(bins, criterion, rules, work):
    """The criterion of both sides of a test, int64; ``INF`` if one may be no leaf. ``work.left`` has its left side."""
    for k in range(work.left.shape[0]):
        work.right[k] = work.totals[k] - work.left[k]
    if not (_may_be_leaf(bins, criterion, rules, work.left) and _may_be_leaf(bins, criterion, rules, work.right)):
        return INF
    return leaf_loss(criterion, work.left) + leaf_loss(criterion, work.right)


@inner_kernel
def _rank_levels(bins, criterion, work, histogram, place):
    """The levels of a nominal column that some rows have, by ascending mean, into ``work.ranked``; how many they are.

    Equal means: the lower level first.
    """
    start, n_ranked = bins.starts[place], 0
    ranked, means = work.ranked, work.means
    for v in range(bins.starts[place + 1] - start):
        if _n_rows(bins, criterion, histogram[start + v]) > 0:
            ranked[n_ranked] = v
            weight = np.float64(weight_of(criterion, histogram[start + v]))
            means[n_ranked] = np.float64(histogram[start + v, 1]) / weight
            n_ranked += 1
    gap = n_ranked
    while gap > 1:  # Shell's sort: a column can have thousands of levels
        gap = max(gap * 5 // 11, 1)
        for i in range(gap, n_ranked):
            level, mean = ranked[i], means[i]
            j = i
            while j >= gap and (means[j - gap] > mean or (means[j - gap] == mean and ranked[j - gap] > level)):
                ranked[j], means[j] = ranked[j - gap], means[j - gap]
                j -= gap
            ranked[j], means[j] = level, mean
    return n_ranked


@inner_kernel
def _score_tests(bins, criterion, rules, work, histogram):
    """Score every test of some rows: ``work.totals``, ``work.scores``, OUT; less is better.

    Of tests with the same two sides one has a score, and the others ``INF``.
    """
    scores, left, tests = work.scores, work.left, bins.tests
    _sum_bins(bins, histogram, work.totals)
    scores[:] = INF
    for place in range(bins.starts.shape[0] - 1):
        start, end, first = bins.starts[place], bins.starts[place + 1], bins.first_tests[place]
        if place < bins.n_ordered:
            left[:] = 0
            for b in range(start, end - 1):
                if _n_rows(bins, criterion, histogram[b]) > 0:
                    for k in range(left.shape[0]):
                        left[k] += histogram[b, k]
                    scores[first + b - start] = _score(bins, criterion, rules, work)
            continue
        gone = bins.missing[place]
        has_gone = gone >= 0 and _n_rows(bins, criterion, histogram[start + gone]) > 0
        n_ranked = _rank_levels(bins, criterion, work, histogram, place) if bins.has_subsets else 0
        for t in range(first, bins.first_tests[place + 1]):
            kind, number = tests[t, 1], tests[t, 2]
            if kind == FIRST_LEVELS:
                if number == 0:
                    left[:] = 0
                elif number < n_ranked:
                    for k in range(left.shape[0]):
                        left[k] += histogram[start + work.ranked[number - 1], k]
                    if 1 < number < n_ranked - 1:
                        scores[t] = _score(bins, criterion, rules, work)
                continue
            if kind == WITH_MISSING and (number == gone or not has_gone):
                continue
            for k in range(left.shape[0]):
                left[k] = histogram[start + number, k]
                if kind == WITH_MISSING:
                    left[k] += histogram[start + gone, k]
            if _n_rows(bins, criterion, histogram[start + number]) > 0:
                scores[t] = _score(bins, criterion, rules, work)


@inner_kernel
def _mark(bins, criterion, work, histogram, test):
    """Mark the bins of a test's column on its left, in ``work.goes_left``; returns the column."""
    place, kind, number = bins.tests[test, 0], bins.tests[test, 1], bins.tests[test, 2]
    start, end, goes_left = bins.starts[place], bins.starts[place + 1], work.goes_left
    for b in range(start, end):
        goes_left[b] = 1 if kind == CUT and b - start <= number else 0
    if kind == FIRST_LEVELS:
        _rank_levels(bins, criterion, work, histogram, place)
        for i in range(number):
            goes_left[start + work.ranked[i]] = 1
    elif kind != CUT:
        goes_left[start + number] = 1
        if kind == WITH_MISSING:
            goes_left[start + bins.missing[place]] = 1
    return place


@inner_kernel
def _part(bins, work, place, rows, begin, end):
    """Move the rows on the left of a marked test to the front; returns where the others begin.

    Both keep their order.
    """
    column, goes_left, others = bins.by_column[place], work.goes_left, work.others
    middle = begin
    n_others = 0
    for i in range(begin, end):
        # Written to both sides and kept on one: a branch is mispredicted for every other row.
        row = rows[i]
        is_left = np.int64(goes_left[np.uint64(column[np.uint64(row)])])
        rows[middle] = row
        others[n_others] = row
        middle += is_left
        n_others += 1 - is_left
    for i in range(n_others):
        rows[middle + i] = others[i]
    return middle


@inner_kernel
def _leaf_value(bins, loss, rules, sums):
    """The objective of a leaf, ``INF`` if it may be none."""
    return leaf_loss(loss, sums) + rules.price if _may_be_leaf(bins, loss, rules, sums) else INF


@kernel
def count_rows(bins, loss, rows, histogram):
    """The histogram of some rows (int32[m]); ``histogram`` int64[bins, n_stats], OUT."""
    _count(bins, loss, rows, 0, rows.shape[0], histogram)


@kernel
def score_tests(bins, loss, criterion, rules, work, histogram):
    """Score every test of some rows into ``work.scores``; returns their objective as a leaf."""
    _score_tests(bins, criterion, rules, work, histogram)
    return _leaf_value(bins, loss, rules, work.totals)


@kernel
def loss_of_sums(loss, sums):
    """The loss of a leaf whose rows have these sums, int64[n_stats]."""
    return leaf_loss(loss, sums)


@kernel
def divide_rows(bins, criterion, work, histogram, test, rows):
    """Move the rows on the left of a test to the front of ``rows``, INOUT; returns how many they are."""
    place = _mark(bins, criterion, work, histogram, test)
    return _part(bins, work, place, rows, 0, rows.shape[0])


@kernel
def complete(bins, loss, criterion, rules, work, levels, rows, nodes):
    """Grow the greedy tree of some rows, pruned by the objective.

    Parameters
    ----------
    levels : int
        Levels of tests that it may have.
    rows : int32[m], INOUT
        Sorted by leaf in the end. ``work.histograms[0]`` is their histogram, and overwritten.
    nodes : int64[r, 6], OUT
        The root first, and parents before their children: its part of ``rows``, its level, its test (-1 in a leaf),
        its left child (the right one is the next), its objective.
    """
    histograms, waiting, totals = work.histograms, work.waiting, work.totals
    nodes[0, BEGIN], nodes[0, END], nodes[0, LEVEL] = 0, rows.shape[0], 0
    waiting[0] = 0
    n_nodes, n_waiting = 1, 1
    while n_waiting > 0:
        n_waiting -= 1
        at, histogram = waiting[n_waiting], histograms[n_waiting]
        begin, end, level = nodes[at, BEGIN], nodes[at, END], nodes[at, LEVEL]
        _sum_bins(bins, histogram, totals)
        nodes[at, VALUE] = _leaf_value(bins, loss, rules, totals)
        nodes[at, TEST] = -1
        if level == levels or end - begin < 2 or leaf_loss(criterion, totals) == 0:
            continue
        _score_tests(bins, criterion, rules, work, histogram)
        test = 0
        for t in range(1, work.scores.shape[0]):
            if work.scores[t] < work.scores[test]:
                test = t
        if work.scores[test] >= INF:
            continue
        place = _mark(bins, criterion, work, histogram, test)
        middle = _part(bins, work, place, rows, begin, end)
        nodes[at, TEST], nodes[at, FIRST] = test, n_nodes
        for side in range(2):
            child = n_nodes + side
            nodes[child, BEGIN] = begin if side == 0 else middle
            nodes[child, END] = middle if side == 0 else end
            nodes[child, LEVEL] = level + 1
            nodes[child, TEST] = -1
        if level + 1 == levels:  # leaves: their sums are all they need
            work.left[:] = 0
            for b in range(bins.starts[place], bins.starts[place + 1]):
                if work.goes_left[b]:
                    for k in range(totals.shape[0]):
                        work.left[k] += histogram[b, k]
            for k in range(totals.shape[0]):
                work.right[k] = totals[k] - work.left[k]
            nodes[n_nodes, VALUE] = _leaf_value(bins, loss, rules, work.left)
            nodes[n_nodes + 1, VALUE] = _leaf_value(bins, loss, rules, work.right)
        else:
            less = histograms[n_waiting + 1]
            is_left_less = middle - begin <= end - middle
            if is_left_less:
                _count(bins, loss, rows, begin, middle, less)
            else:
                _count(bins, loss, rows, middle, end, less)
            for b in range(histogram.shape[0]):
                for k in range(histogram.shape[1]):
                    histogram[b, k] -= less[b, k]
            waiting[n_waiting] = n_nodes + is_left_less
            waiting[n_waiting + 1] = n_nodes + 1 - is_left_less
            n_waiting += 2
        n_nodes += 2
    for at in range(n_nodes - 1, -1, -1):
        if nodes[at, TEST] >= 0:
            first = nodes[at, FIRST]
            below = nodes[first, VALUE] + nodes[first + 1, VALUE]
            if below < nodes[at, VALUE]:
                nodes[at, VALUE] = below
            else:
                nodes[at, TEST] = -1
