"""Isolation forests. In: an encoded matrix, settings. Out: a tuple of ``Tree``s; anomaly scores from path lengths.

    until a node has one row, or is as deep as an average tree:
        draw a column that is not constant in the node            (draw_column)
        draw a cut between its least and its greatest value,
        or two sides for the levels of a nominal column           (draw_cut, divide_levels)
        divide the rows                                           (part)
    a node's value is the mean path length of its rows, from the leaves up (summarise)

Few cuts isolate an outlier (Liu, Ting and Zhou 2008 and 2012). Trees are grown in parallel on the threads. A node's
random numbers come from its path from the root, so they depend neither on the order of the rows nor on other nodes.

The file of an isolation forest is an ordinary model whose prediction is the mean path length of a row. The facts of the
model hold what turns it into a score (``trees.isolation``): ``max_samples``, the rows sampled for each tree, and
``offset``, the score below which a row is an outlier.
"""

from __future__ import annotations

import itertools
import threading
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from treewright.core import notices, progress, threads
from treewright.core.jit import inner_kernel, kernel
from treewright.core.random import mix
from treewright.core.threads import resolve_jobs
from treewright.data.encoder import encode
from treewright.data.memory import check_fits
from treewright.data.schema import Schema
from treewright.data.sparse import SparseMatrix, by_blocks
from treewright.exceptions import ParameterError, TooLargeError
from treewright.forest.draws import GROWTH, Draws, HeldDraws, candidate_columns, counts_of_rows, seeds_of
from treewright.predict.ensemble import predict_numbers
from treewright.predict.route import in_blocks
from treewright.trees.arrays import FIELDS, LEAF, NODE_FIELDS, SUBSET, THRESHOLD, Tree
from treewright.trees.check_model import ISOLATION_FOREST
from treewright.trees.data import ModelData
from treewright.trees.isolation import average_path_length, scores_of_lengths

ALGORITHM = ISOLATION_FOREST
AUTO_OFFSET = -0.5
_BLOCK = 2048  # rows that stay in the cache while they go down all trees
_FEWEST_ROWS = 25  # in a smaller table, most rows can be outliers
_ROWS_LOOKED_AT = 1000
_MOST_TREES = 2**31 - 1
_TREE_BYTES = 4096  # memory of a tree without its nodes
_NODE_BYTES = sum(dtype.itemsize for dtype in NODE_FIELDS.values())
_REMEDY = "fit fewer trees, or sample fewer rows for each (max_samples)"
# Random numbers under a node's key; 0 and 1 are its children's keys.
COLUMN, CUT, MISSING_SIDE, LEVELS = 2, 3, 4, 5
DIVISIONS = 64  # attempts to divide levels; each is one-sided with a probability of at most one half
LARGEST = np.finfo(np.float64).max


def grow_isolation_forest(
    matrix: Any, schema: Schema, draws: Draws | HeldDraws, n_columns: int, numbers: range, n_threads: int
) -> tuple[Tree, ...]:
    """Grow some trees of a forest.

    ``matrix`` (float32 or float64 [n, p], or SparseMatrix). ``draws``: the rows sampled for each tree; its seed is that
    of the columns and cuts as well. ``n_columns`` (1 to p): columns sampled for a tree. ``numbers``: the numbers of the
    trees; a tree depends on its number, not on the trees before it. Returns tuple of Tree: ``value`` is the mean path
    length of the node's rows, ``impurity`` its variance.
    """
    n_trees = len(numbers)
    refuse_too_many_trees(n_trees)
    n_threads = max(1, min(n_threads, n_trees))
    n_held = (
        min(n_columns, 2 * matrix.stored.nnz // len(matrix) * draws.n_draws)
        if isinstance(matrix, SparseMatrix)
        else n_columns
    )
    cells = n_threads * (draws.n_draws * (n_held + 20) + 4 * draws.n_rows) * 8
    check_fits(cells, f"growing {n_threads} trees at once on {draws.n_draws} rows each", _REMEDY)
    growth = _Growth(matrix, schema, draws, n_columns)
    trees: list[Tree | None] = [None] * n_trees
    if n_trees:
        # The first tree shows how much memory the others need.
        first = trees[0] = growth.tree(numbers[0])
        size = _TREE_BYTES + first.n_nodes * _NODE_BYTES + 2 * first.levels_left.nbytes
        check_fits(n_trees * size, f"a forest of {n_trees} trees of about {first.n_nodes} nodes", _REMEDY)
    done = itertools.count(2)

    def grow(task: int, thread: int) -> None:
        trees[task + 1] = growth.tree(numbers[task + 1])
        progress.report(next(done) / n_trees, "growing")

    threads.run_each(grow, n_trees - 1, n_threads)
    return tuple(tree for tree in trees if tree is not None)


def refuse_too_many_trees(n_trees: int) -> None:
    """Refuse a forest that would not fit in memory even if each tree were a leaf, with a TooLargeError."""
    if n_trees > _MOST_TREES:  # not printed, because it may have any number of digits
        raise TooLargeError(f"n_estimators is more than {_MOST_TREES}, the largest number of trees: {_REMEDY}")
    check_fits(n_trees * _TREE_BYTES, f"a forest of {n_trees} trees", _REMEDY)


def rows_of_tree(draws: Draws | HeldDraws, number: int) -> np.ndarray:
    """int32[n_draws], ascending: the rows sampled for a tree; one that was drawn twice occurs twice."""
    return np.repeat(*draws.counts(number))


class _Growth:
    """The common parts of all trees, and the growth of one."""

    def __init__(self, matrix: Any, schema: Schema, draws: Draws | HeldDraws, n_columns: int) -> None:
        self.matrix, self.draws, self.n_columns = matrix, draws, n_columns
        self.n_levels = np.array([len(c.levels) if c.kind == "nominal" else 0 for c in schema.columns], np.int64)
        self.corrections = average_path_length(np.arange(draws.n_draws + 1))
        # The average depth of a tree that isolates all its rows: only ordinary rows are deeper.
        self.max_depth = (max(draws.n_draws, 2) - 1).bit_length()  # log2, rounded up
        self.n_words = 32 * (int(self.n_levels.max()) // 64 + 1) if self.n_levels.any() else 0
        self.lock = threading.Lock()

    def tree(self, number: int) -> Tree:
        """Grow one tree."""
        p, seed = self.matrix.shape[1], self.draws.seed
        columns = candidate_columns(seed, number, p, self.n_columns)
        rows = rows_of_tree(self.draws, number)
        cells, held = self._cells(rows, columns)
        n_levels, key = self.n_levels[columns], seeds_of(seed, number, 1)[0, GROWTH]
        nodes = _room(len(rows), len(columns), int(n_levels.max()), self.max_depth)
        n_room = self.n_words
        while True:
            words = np.empty((2, n_room), np.uint64)
            n_nodes, n_words = grow_isolation(
                cells, held, columns, n_levels, key, self.max_depth, self.corrections, nodes, words[0], words[1]
            )
            if n_words >= 0:
                return _tree_of(nodes, n_nodes, words[:, :n_words])
            n_room *= 2
            check_fits(2 * 8 * n_room, "the sets of levels of a tree", _REMEDY)
            with self.lock:
                self.n_words = max(self.n_words, n_room)

    def _cells(self, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A copy of the cells for a tree, column by column, and the position of each of its columns.

        For a sparse table, the columns with a stored cell in any row, after one of zeros for all other columns.
        """
        if isinstance(self.matrix, SparseMatrix):
            taken = self.matrix.stored[rows]
            places = np.zeros(self.matrix.shape[1], np.int32)
            places[taken.indices] = 1
            met = np.flatnonzero(places)
            places[met] = np.arange(1, len(met) + 1)
            cells = np.zeros((len(met) + 1, len(rows)))
            by_row = np.repeat(np.arange(len(rows)), np.diff(taken.indptr))
            cells[places[taken.indices], by_row] = taken.data
            return cells, places[columns]
        some = self.matrix[rows] if len(columns) == self.matrix.shape[1] else self.matrix[np.ix_(rows, columns)]
        return np.array(some.T, np.float64, order="C"), np.arange(len(columns), dtype=np.int32)


def _room(size: int, n_columns: int, n_levels: int, max_depth: int) -> Growing:
    """Empty arrays for a tree that grows."""
    n = 2 * size - 1
    here = {name: FIELDS[name] for name in Growing._fields if name in FIELDS}
    own = {"key": np.uint64, "begin": np.int64, "depth": np.int32}
    by_node = {name: np.empty(n, dtype) for name, dtype in {**here, **own}.items()}
    return Growing(
        **by_node,
        rows=np.empty(size, np.int64),
        since=np.empty(n_columns, np.int32),
        candidates=np.empty(n_columns, np.int64),
        stack=np.empty(max_depth + 2, np.int64),
        side=np.empty(n_levels, np.int64),
        stamp=np.empty(n_levels, np.int64),
        present=np.empty(min(n_levels, size), np.int64),
    )


def _tree_of(nodes: Growing, n_nodes: int, words: np.ndarray) -> Tree:
    """The finished tree, in arrays of its size."""
    kept = {name: getattr(nodes, name)[:n_nodes].copy() for name in Growing._fields if name in FIELDS}
    value = kept.pop("value")[:, None]
    n_branches = np.where(kept["kind"] == LEAF, 0, 2).astype(np.int32)
    return Tree(
        **kept,
        n_branches=n_branches,
        weight=kept["n_samples"].astype(np.float64),
        value=value,
        levels_left=words[0].copy(),
        levels_seen=words[1].copy(),
    )


# One tree ------------------------------------------------------------------------------------------------------------


class Growing(NamedTuple):
    """The arrays of a tree that grows: those of ``Tree``, under the same names, and temporary ones.

    ``key`` uint64, ``begin`` int64, ``depth`` int32: by node. ``rows`` int64[n]: the rows, those of a node consecutive.
    ``since`` int32[k]: depth at which a column was found constant. ``candidates`` int64[k]: columns to draw from.
    ``stack`` int64[max_depth + 2]: nodes still to be split. ``side``, ``stamp`` int64[n_levels]: 1 if a level goes
    left, and the node (+ 1) that set it. ``present`` int64[n_levels]: levels of the node.
    """

    kind: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    first_child: np.ndarray
    missing_branch: np.ndarray
    level_set: np.ndarray
    n_samples: np.ndarray
    value: np.ndarray
    impurity: np.ndarray
    key: np.ndarray
    begin: np.ndarray
    depth: np.ndarray
    rows: np.ndarray
    since: np.ndarray
    candidates: np.ndarray
    stack: np.ndarray
    side: np.ndarray
    stamp: np.ndarray
    present: np.ndarray


@kernel
def grow_isolation(cells, held, columns, n_levels, key, max_depth, corrections, nodes, left, seen):
    """Grow one isolation tree, depth first.

    Parameters
    ----------
    cells : float64[h, n], IN
        Columns of the tree, with its sampled rows; nan is missing, levels are codes.
    held : int32[k], IN
        The row of ``cells`` that holds each column of the tree.
    columns : int32[k], IN
        Their positions in the table.
    n_levels : int64[k], IN
        Levels of a nominal column, else 0.
    key : uint64
        The key of the root.
    max_depth : int
    corrections : float64[n + 1], IN
        Path length that a leaf adds, by its number of rows.
    nodes : Growing, OUT
        Room for ``2 n - 1`` nodes.
    left, seen : uint64[w], OUT
        Words of the subset tests.

    Returns
    -------
    n_nodes, n_words : int
        ``n_words`` is -1 if the words do not suffice.

    Notes
    -----
    Liu, Ting and Zhou 2012, algorithm 2. O(n x depth), and for each node as much again for each constant column drawn.
    """
    n = cells.shape[1]
    for row in range(n):
        nodes.rows[row] = row
    unknown = max_depth + 1
    nodes.since[:] = unknown
    nodes.stamp[:] = 0
    nodes.key[0] = key
    nodes.depth[0], nodes.begin[0], nodes.n_samples[0], nodes.kind[0] = 0, 0, n, LEAF
    nodes.stack[0] = 0
    waiting, n_nodes, n_words = 1, 1, 0
    while waiting > 0:
        waiting -= 1
        node = nodes.stack[waiting]
        nodes.feature[node], nodes.first_child[node], nodes.level_set[node] = -1, -1, -1
        nodes.threshold[node], nodes.missing_branch[node] = 0.0, 0
        n_rows, begin = nodes.n_samples[node], nodes.begin[node]
        if n_rows < 2 or nodes.depth[node] >= max_depth:
            continue  # a leaf: ``summarise`` adds the path length that its rows would still have
        column, low, high, n_missing = draw_column(cells, held, nodes, node, unknown)
        if column < 0:
            continue
        rows = nodes.rows[begin : begin + n_rows]
        is_nominal = n_levels[column] > 0
        cut, n_present, n_own = np.inf, 0, 0
        if is_nominal:
            n_own = n_levels[column] // 64 + 1
            if n_words + n_own > len(left):
                return n_nodes, -1  # the caller makes room and grows the same tree again
            n_present = divide_levels(cells[held[column]], rows, nodes, node, low)
        elif low < high:
            cut = draw_cut(nodes.key[node], low, high)
        # If all values are equal, the missing cells are separated from them: to the right.
        missing_goes_left = low < high and mix(nodes.key[node], np.uint64(MISSING_SIDE)) & np.uint64(1) == np.uint64(0)
        n_left = part(cells[held[column]], rows, nodes, is_nominal, cut, missing_goes_left)
        is_left_heavier = 2 * n_left > n_rows
        # Missing cells and levels that the node does not have go with the larger part, so that they are not outliers.
        if n_missing == 0:
            missing_goes_left = is_left_heavier
        nodes.feature[node] = columns[column]
        nodes.first_child[node] = n_nodes
        nodes.missing_branch[node] = 0 if missing_goes_left else 1
        if is_nominal:
            nodes.kind[node], nodes.level_set[node] = SUBSET, n_words
            end = n_words + n_own
            write_levels(nodes, n_present, n_levels[column], is_left_heavier, left[n_words:end], seen[n_words:end])
            n_words = end
        else:
            nodes.kind[node], nodes.threshold[node] = THRESHOLD, cut
        add_child(nodes, n_nodes, node, 0, begin, n_left)
        add_child(nodes, n_nodes + 1, node, 1, begin + n_left, n_rows - n_left)
        nodes.stack[waiting], nodes.stack[waiting + 1] = n_nodes + 1, n_nodes
        waiting += 2
        n_nodes += 2
    summarise(nodes, n_nodes, corrections)
    return n_nodes, n_words


@inner_kernel
def draw_column(cells, held, nodes, node, unknown):
    """Draw one of the columns that are not constant in a node; returns it (-1: none) with its measures.

    ``cells`` float64[h, n], ``held`` int32[k]; ``unknown`` int64, deeper than any node: the mark of a column not
    found constant. A column is constant if all cells are equal, or all are missing. Columns that were found constant
    in an ancestor are not measured again: marks of an ancestor's depth are the ancestor's, since its subtree is
    finished before the next.
    """
    depth = nodes.depth[node]
    n_left = 0
    for column in range(len(nodes.since)):
        if nodes.since[column] >= depth:
            nodes.since[column] = unknown
            nodes.candidates[n_left] = column
            n_left += 1
    key = mix(nodes.key[node], np.uint64(COLUMN))
    begin = nodes.begin[node]
    rows = nodes.rows[begin : begin + nodes.n_samples[node]]
    attempt = 0
    while n_left > 0:
        drawn = np.int64(mix(key, np.uint64(attempt)) % np.uint64(n_left))
        column = nodes.candidates[drawn]
        low, high, n_missing = measure(cells[held[column]], rows)
        if low < high or 0 < n_missing < len(rows):
            return column, low, high, n_missing
        nodes.since[column] = depth
        n_left -= 1
        nodes.candidates[drawn] = nodes.candidates[n_left]
        attempt += 1
    return np.int64(-1), np.inf, -np.inf, 0


@inner_kernel
def measure(cells, rows):
    """Smallest and largest value among some rows (inf, -inf without any), and the number of missing ones.

    ``cells`` float64[n] of one column, ``rows`` int64[m].
    """
    low, high, n_missing = np.inf, -np.inf, 0
    for i in range(len(rows)):
        x = cells[rows[i]]
        if x != x:
            n_missing += 1
        else:
            low = min(low, x)
            high = max(high, x)
    return low, high, n_missing


@inner_kernel
def draw_cut(key, low, high):
    """A cut ``low <= cut < high``, float64, uniform between them; infinities count as the largest finite numbers."""
    u = np.float64(mix(key, np.uint64(CUT)) >> np.uint64(11)) * 2.0**-53
    floor, ceiling = max(low, -LARGEST), min(high, LARGEST)
    # Not floor + u * (ceiling - floor): the difference of large numbers overflows.
    cut = floor * (1.0 - u) + ceiling * u + 0.0
    if cut < low or cut >= high:
        cut = low + 0.0
    return cut


@inner_kernel
def divide_levels(cells, rows, nodes, node, lowest):
    """Divide the levels of some rows at random into two sides, neither empty; returns the number of levels.

    ``cells`` float64[n] of one column, ``rows`` int64[m]; ``lowest`` float64, the lowest level among them.
    """
    n_levels = 0
    for i in range(len(rows)):
        x = cells[rows[i]]
        if x == x and nodes.stamp[np.int64(x)] != node + 1:
            nodes.stamp[np.int64(x)] = node + 1
            nodes.present[n_levels] = np.int64(x)
            n_levels += 1
    for attempt in range(DIVISIONS):
        key = mix(nodes.key[node], np.uint64(LEVELS + attempt))
        n_left = 0
        for i in range(n_levels):
            level = nodes.present[i]
            nodes.side[level] = np.int64(mix(key, np.uint64(level)) & np.uint64(1))
            n_left += nodes.side[level]
        if 0 < n_left < n_levels:
            return n_levels
    # One level (and missing cells), or an event of probability 2**-64.
    for i in range(n_levels):
        nodes.side[nodes.present[i]] = 1 if nodes.present[i] == np.int64(lowest) else 0
    return n_levels


@inner_kernel
def part(cells, rows, nodes, is_nominal, cut, missing_goes_left):
    """Move the rows int64[m] that go left before the others, by ``cells`` float64[n]; returns their number."""
    begin, end = 0, len(rows)
    while begin < end:
        x = cells[rows[begin]]
        if x != x:
            goes_left = missing_goes_left
        elif is_nominal:
            goes_left = nodes.side[np.int64(x)] == 1
        else:
            goes_left = x <= cut
        if goes_left:
            begin += 1
        else:
            end -= 1
            rows[begin], rows[end] = rows[end], rows[begin]
    return begin


@inner_kernel
def write_levels(nodes, n_present, n_levels, absent_go_left, left, seen):
    """Set the bits of a node's levels in ``left``, ``seen`` uint64[w].

    Absent levels and bit ``n_levels`` (never seen at fit) go to one side together.
    """
    left[:] = np.uint64(0)
    seen[:] = np.uint64(0)
    for i in range(n_present):
        level = nodes.present[i]
        bit = np.uint64(1) << np.uint64(level & 63)
        seen[level >> 6] |= bit
        if nodes.side[level] == 1:
            left[level >> 6] |= bit
    if absent_go_left:
        for word in range(len(left)):
            left[word] |= ~seen[word]
        left[len(left) - 1] &= ~np.uint64(0) >> np.uint64(63 - (n_levels & 63))


@inner_kernel
def add_child(nodes, child, node, branch, begin, n_rows):
    """Set node ``child`` to a leaf of ``n_rows`` rows, from position ``begin`` of ``nodes.rows`` on; all int64."""
    nodes.key[child] = mix(nodes.key[node], np.uint64(branch))
    nodes.depth[child] = nodes.depth[node] + 1
    nodes.begin[child] = begin
    nodes.n_samples[child] = n_rows
    nodes.kind[child] = LEAF


@inner_kernel
def summarise(nodes, n_nodes, corrections):
    """Mean and variance of the path lengths of each node's rows, from the leaves up.

    ``corrections`` float64[n + 1]: what a leaf adds to its depth, by its number of rows.
    """
    for node in range(n_nodes - 1, -1, -1):
        n = nodes.n_samples[node]
        if nodes.kind[node] == LEAF:
            nodes.value[node] = nodes.depth[node] + corrections[n]
            nodes.impurity[node] = 0.0
            continue
        left = nodes.first_child[node]
        share = nodes.n_samples[left] / n
        apart = nodes.value[left] - nodes.value[left + 1]
        within = share * nodes.impurity[left] + (1.0 - share) * nodes.impurity[left + 1]
        nodes.value[node] = nodes.value[left + 1] + share * apart
        nodes.impurity[node] = within + share * (1.0 - share) * apart * apart


# Anomaly scores ------------------------------------------------------------------------------------------------------


def anomaly_scores(model: ModelData, X: Any, *, n_jobs: int | None = None) -> np.ndarray:
    """Anomaly scores of rows by a fitted isolation forest, such as ``treewright.load`` reads from a file.

    ``model``: ``IsolationForest(...).fit(...).model_``, or the model read from its file. Returns float64[n]: between 0
    and 1, larger for outliers. About 0.5 is ordinary. A row is an outlier if ``-score < model.facts["offset"]``. Raises
    ``ParameterError``: the model is not an isolation forest. ``ColumnError``: columns are missing, duplicated or of
    another kind than at fit.
    """
    if model.facts.get("algorithm") != ALGORITHM:
        raise ParameterError(
            f"anomaly scores need an isolation forest, and this model was fitted by "
            f"{model.facts.get('algorithm', 'something else')}"
        )
    matrix = encode(model.schema, X, unseen=model.unseen, missing=model.missing)
    return scores_of_rows(model, matrix, n_jobs)


def lowest_share(scores: np.ndarray, weights: np.ndarray | None, share: float) -> float:
    """The score below which a share of the rows is.

    ``scores`` (float64[n]). ``weights`` (float64[n], > 0, or None): whole numbers count rows, as in sampling
    (``draws.counts_of_rows``). Returns between two scores if rows are counted; else the lowest score up to which
    the rows have the share.
    """
    counts = counts_of_rows(weights)
    if weights is not None and counts is None:
        return float(np.quantile(scores, share, weights=weights, method="inverted_cdf"))
    every = scores if counts is None else np.repeat(scores, counts)
    # .07 of 101 rows is the eighth score itself: in float64 a little more, and that row would be an outlier, too.
    place = Fraction(repr(float(share))) * (len(every) - 1)
    if place.denominator == 1:
        return float(np.partition(every, int(place))[int(place)])
    return float(np.percentile(every, 100.0 * share))


def warn_of_many_outliers(
    model: ModelData, matrix: np.ndarray, weights: np.ndarray | None, n_jobs: int | None = None
) -> None:
    """Warn if a score above 0.5 is frequent among the training rows.

    ``matrix`` (float32 or float64 [n, p]): training rows; about 1,000 of them, evenly spaced, are scored. ``weights``
    (float64[n], > 0, or None). Warns: more than half of the rows, by weight, have a score above 0.5.
    """
    if len(matrix) < _FEWEST_ROWS:
        return
    rows = slice(None, None, -(-len(matrix) // _ROWS_LOOKED_AT))
    is_odd = -scores_of_rows(model, matrix[rows], n_jobs) < AUTO_OFFSET
    share = float(np.average(is_odd, weights=None if weights is None else weights[rows] / weights.max()))
    if share > 0.5:
        notices.warn(
            f"contamination='auto' makes {share:.0%} of the training rows outliers: if values are few or evenly "
            f"spread, ordinary rows score above {-AUTO_OFFSET}. Set contamination to the share that you expect, "
            "such as 0.05"
        )


def scores_of_rows(model: ModelData, matrix: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """As ``anomaly_scores``, for encoded rows."""
    return scores_of_lengths(model.facts, path_lengths(model, matrix, n_jobs))


def path_lengths(model: ModelData, matrix: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """float64[n]: mean path length of each encoded row, over the trees in their order."""
    if isinstance(matrix, SparseMatrix):
        return by_blocks(lambda rows: path_lengths(model, rows, n_jobs), matrix)
    lengths = np.empty(len(matrix))

    def predict_block(start: int, stop: int) -> None:
        # All trees for a block of rows that stays in the cache, instead of all rows for one tree.
        for begin in range(start, stop, _BLOCK):
            end = min(begin + _BLOCK, stop)
            lengths[begin:end] = predict_numbers(model, np.ascontiguousarray(matrix[begin:end]), 1)[:, 0]

    in_blocks(predict_block, len(matrix), resolve_jobs(n_jobs))
    return lengths
