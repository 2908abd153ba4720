"""What each column contributes to an answer. In: a model, encoded rows. Out: contributions that add up to the answers.

The players of the game are the columns; parts of a date, and the number of rows of a level, play with the column that
they are made of. What a set S of players is worth for a row, tree by tree (docs/guides/contributions.md):

    path            go down the tree; at a test of a player in S take the row's way, at any other every branch, by the
                    share of the training weight that went there
    interventional  the mean over background rows of the answer to a row that goes the row's ways at tests of S, and the
                    background row's ways elsewhere
    steps           no game: the change of the expected answer along the row's own way

A row's way at a test is what the model does with the whole row: a missing cell goes where the node, its surrogates or
the policy say; with "fractional" to every branch in part, whoever is in S.

    contributions_of     what a call asks for, in blocks of rows on threads
      forest_of          the trees one after another as kernels take them; kept with the model
      _by_shares         path: tables where many rows pay for them, else quadrature (``predict.contributions``)
      _by_rows           interventional: tables of the background's patterns, else every row beside every other
      _steps
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np

from treewright.core import threads
from treewright.data.derived import ROWS, is_derived
from treewright.data.memory import check_fits
from treewright.data.schema import Schema
from treewright.model.data import ModelData
from treewright.predict.branches import Branches, Surrogates
from treewright.predict.contributions import (
    Forest,
    add_steps,
    compare,
    count_patterns,
    fill_tables,
    integrate,
    integrate_pairs,
    look_up,
    players_on_paths,
    trace_paths,
)
from treewright.tree.arrays import INTERVALS, MULTIWAY, SUBSET, Tree

Kind = Literal["path", "interventional", "steps"]
KINDS = ("path", "interventional", "steps")

_LONGEST = 12  # players on a path that has a table
_TABLE_BYTES = 2**28  # of all tables
_BLOCK_BYTES, _MOST_ROWS = 2**20, 512  # of the sums of a block, rows of it
# Of quadrature at a point for a node, and of filling a cell of a table, in units of a look-up.
_STEPS_OF_A_NODE, _STEPS_OF_A_CELL = 3, 4
_NODES_AT_ONCE = 50_000_000  # rows times nodes of a call of a kernel, between which Ctrl-C is answered


@dataclass(frozen=True, eq=False)
class Whole:
    """The trees of a model as kernels take them.

    Attributes
    ----------
    forest : Forest
    tables : Branches
    surrogates : Surrogates
    share_of_slot : float64[l, d]
        Of each leaf the shares of its players.
    players : tuple of int
        The column that each player is called by.
    n_outputs : int
        Shares of classes, numbers or scores.
    start : float64[n_kept]
        What the model says without any tree.
    asked : int64[q]
        Columns that some tree asks.
    """

    forest: Forest
    tables: Branches
    surrogates: Surrogates
    share_of_slot: np.ndarray
    players: tuple[int, ...]
    n_outputs: int
    start: np.ndarray
    asked: np.ndarray

    @property
    def n_kept(self) -> int:
        """Outputs that are worked out: of shares that add up to 1 all but the last."""
        return len(self.start)

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return len(self.forest.output)

    @property
    def longest(self) -> int:
        """Most players on a path, at least 1."""
        return self.forest.players.shape[1]

    @property
    def most_nodes(self) -> int:
        """Nodes of the largest tree."""
        return int(np.diff(self.forest.roots).max())

    @property
    def expected(self) -> np.ndarray:
        """float64[n_outputs]: the mean answer, leaves counted by their shares of the training weight."""
        total = self.start.copy()
        roots = self.forest.expected[self.forest.roots[:-1]]
        for tree, output in enumerate(self.forest.output.tolist()):
            total[output : output + roots.shape[1]] += roots[tree]
        return self.completed(total)

    def completed(self, answer: np.ndarray) -> np.ndarray:
        """An answer, float64[n_kept], with the last share where that is left out."""
        return answer if self.n_kept == self.n_outputs else np.append(answer, 1.0 - answer.sum())


_wholes: WeakKeyDictionary[ModelData, Whole] = WeakKeyDictionary()


def players_of(schema: Schema) -> tuple[np.ndarray, tuple[int, ...]]:
    """Who plays for each column, int32[p], and the column that each player is called by."""
    player_of = np.empty(len(schema), np.int32)
    names: list[int] = []
    for at, column in enumerate(schema.columns):
        is_part = bool(column.part) and (not is_derived(column) or column.part == ROWS)
        if is_part:
            player_of[at] = player_of[column.source]
            continue
        player_of[at] = len(names)
        names.append(at)
    return player_of, tuple(names)


def forest_of(model: ModelData) -> Whole:
    """The trees of a model for explanations, made once."""
    whole = _wholes.get(model)
    if whole is None:
        whole = _wholes[model] = _made(model)
    return whole


def _made(model: ModelData) -> Whole:
    aggregation = model.aggregation
    player_of, players = players_of(model.schema)
    trees: list[Tree] = list(model.trees)
    weights, total = aggregation.weights_of(len(trees)), aggregation.total(len(trees))
    boosting = model.boosting
    parts = [_one(model, tree, player_of) for tree in trees]
    if boosting is not None:
        outputs = np.arange(len(trees), dtype=np.int32) % boosting.n_scores
        start = np.array(boosting.base, np.float64)
        factors = np.ones(len(trees))
    else:
        outputs = np.zeros(len(trees), np.int32)
        start = np.zeros(parts[0].content.shape[1])
        factors = weights / total
    n_outputs = len(start) + (len(model.counted_classes) == 1)
    longest = max(part.players.shape[1] for part in parts)
    roots = np.cumsum([0, *(tree.n_nodes for tree in trees)], dtype=np.int64)
    leaf_begin = np.cumsum([0, *(len(part.leaves) for part in parts)], dtype=np.int64)

    def joined(name: str) -> np.ndarray:
        return np.concatenate([getattr(part, name) for part in parts])

    def moved(name: str) -> np.ndarray:
        """Numbers of nodes, counted through all trees."""
        found = [getattr(part, name).astype(np.int64) for part in parts]
        return np.concatenate([np.where(at < 0, -1, at + root) for at, root in zip(found, roots, strict=False)])

    leaf_of = np.full(roots[-1], -1, np.int64)
    leaves = moved("leaves")
    leaf_of[leaves] = np.arange(len(leaves))
    forest = Forest(
        roots=roots,
        leaf_begin=leaf_begin,
        output=outputs,
        values=np.concatenate([part.content * factor for part, factor in zip(parts, factors, strict=True)]),
        expected=np.concatenate([part.expected * factor for part, factor in zip(parts, factors, strict=True)]),
        leaf_of=leaf_of,
        parent=moved("parent"),
        branch=joined("branch"),
        player=joined("player"),
        slot=joined("slot"),
        before=moved("before"),
        cover=joined("cover"),
        share=joined("share"),
        leaves=leaves,
        n_slots=joined("n_slots"),
        players=np.concatenate([_padded(part.players, longest) for part in parts]),
        has_surrogates=model.missing == "surrogate",
        is_fractional=model.missing == "fractional",
    )
    tables, surrogates = _joined_tables(trees, roots)
    share_of_slot = np.ones((len(leaves), longest))
    _shares_by_slot(forest, share_of_slot)
    asked = np.unique(tables.feature[tables.feature >= 0]).astype(np.int64)
    return Whole(forest, tables, surrogates, share_of_slot, players, n_outputs, start, asked)


@dataclass(frozen=True, eq=False)
class _Part:
    """A tree's nodes and leaves, by their own numbers."""

    parent: np.ndarray
    branch: np.ndarray
    player: np.ndarray
    slot: np.ndarray
    before: np.ndarray
    cover: np.ndarray
    share: np.ndarray
    leaves: np.ndarray
    n_slots: np.ndarray
    players: np.ndarray
    content: np.ndarray
    expected: np.ndarray


def _one(model: ModelData, tree: Tree, player_of: np.ndarray) -> _Part:
    n = tree.n_nodes
    parent, branch, player, slot, before, depth = (np.empty(n, np.int32) for _ in range(6))
    cover, share = np.empty(n), np.empty(n)
    trace_paths(
        np.array(tree.first_child), np.array(tree.n_branches), np.array(tree.feature), np.array(tree.weight), player_of,
        parent, branch, player, slot, before, cover, share, depth,
    )  # fmt: skip
    leaves = np.flatnonzero(tree.is_leaf).astype(np.int32)
    players = np.zeros((len(leaves), max(1, int(depth[leaves].max(initial=0)))), np.int32)
    players_on_paths(leaves, parent, player, slot, players)
    content = tree.value[leaves] if model.boosting is not None else model.aggregation.content(model, tree.value[leaves])
    if len(model.counted_classes) == 1:  # shares of classes add up to 1
        content = np.ascontiguousarray(content[:, :-1])
    expected = np.zeros((n, content.shape[1]))
    expected[leaves] = content
    for node in range(n - 1, 0, -1):
        expected[parent[node]] += cover[node] * expected[node]
    return _Part(parent, branch, player, slot, before, cover, share, leaves, depth[leaves], players, content, expected)


def _padded(players: np.ndarray, longest: int) -> np.ndarray:
    wider = np.zeros((len(players), longest), np.int32)
    wider[:, : players.shape[1]] = players
    return wider


def _joined_tables(trees: list[Tree], roots: np.ndarray) -> tuple[Branches, Surrogates]:
    """What tests are read from, of all trees: places in side tables and numbers of children counted through."""

    def all_of(name: str) -> np.ndarray:
        return np.concatenate([getattr(tree, name) for tree in trees])

    def counted(name: str, side: str) -> np.ndarray:
        begins = np.cumsum([0, *(len(getattr(tree, side)) for tree in trees)])
        return np.concatenate([getattr(tree, name) + at for tree, at in zip(trees, begins, strict=False)])

    kind, level_set = all_of("kind"), all_of("level_set").astype(np.int64)
    for which, side in ((SUBSET, "levels_left"), (MULTIWAY, "level_branch"), (INTERVALS, "cuts")):
        moved = counted("level_set", side)
        level_set = np.where(kind == which, moved, level_set)
    first_child = np.concatenate(
        [np.where(tree.first_child < 0, -1, tree.first_child + root) for tree, root in zip(trees, roots, strict=False)]
    ).astype(np.int64)
    tables = Branches(
        kind, all_of("feature"), all_of("threshold"), first_child, all_of("n_branches"), all_of("missing_branch"),
        level_set, all_of("levels_left"), all_of("level_branch"), all_of("cuts"),
    )  # fmt: skip
    nodes = np.concatenate([tree.surrogate_node + root for tree, root in zip(trees, roots, strict=False)])
    places = np.where(all_of("surrogate_level_set") < 0, -1, counted("surrogate_level_set", "levels_left"))
    surrogates = Surrogates(
        np.searchsorted(nodes, np.arange(roots[-1] + 1)).astype(np.int64), all_of("surrogate_feature"),
        all_of("surrogate_threshold"), places.astype(np.int64), all_of("surrogate_flipped"), all_of("levels_seen"),
    )  # fmt: skip
    return tables, surrogates


def _shares_by_slot(forest: Forest, share_of_slot: np.ndarray) -> None:
    """Of each leaf the share of each of its players: that of the lowest edge that asks it."""
    leaf = np.arange(len(forest.leaves))
    node = forest.leaves.copy()
    seen = np.zeros(share_of_slot.shape, bool)
    while True:
        going = forest.parent[node] >= 0
        if not going.any():
            return
        leaf, node = leaf[going], node[going]
        slot = forest.slot[node]
        new = ~seen[leaf, slot]
        share_of_slot[leaf[new], slot[new]] = forest.share[node[new]]
        seen[leaf, slot] = True
        node = forest.parent[node]


def gauss_legendre(longest: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights on 0 to 1 that integrate the derivative of a product of so many players exactly.

    The integrand has degree ``longest - 1``, and m points are exact up to degree 2 m - 1. By Newton's method, whose
    last bits, unlike those of an eigenvalue problem, are the same on every processor.

    Returns
    -------
    points, weights : float64[m]

    Examples
    --------
    >>> points, weights = gauss_legendre(3)
    >>> round(float(weights @ points), 12), round(float(weights @ points**2), 12)
    (0.5, 0.333333333333)
    """
    m = max(1, (longest + 1) // 2)
    points, weights = np.empty(m), np.empty(m)
    for i in range((m + 1) // 2):
        x = math.cos(math.pi * (i + 0.75) / (m + 0.5))
        for _ in range(50):
            value, slope = _legendre(m, x)
            step = value / slope
            x -= step
            if abs(step) < 1e-17:
                break
        x = 0.0 if 2 * i + 1 == m else x
        slope = _legendre(m, x)[1]
        points[i], points[m - 1 - i] = 0.5 - 0.5 * x, 0.5 + 0.5 * x
        weights[i] = weights[m - 1 - i] = 1.0 / ((1.0 - x * x) * slope * slope)
    return points, weights


def _legendre(m: int, x: float) -> tuple[float, float]:
    """Legendre's polynomial of degree m >= 1 and its derivative (Abramowitz and Stegun 1964, 22.7.10 and 22.8.5)."""
    before, value = 1.0, x
    for degree in range(2, m + 1):
        before, value = value, ((2 * degree - 1) * x * value - (degree - 1) * before) / degree
    return value, m * (x * value - before) / (x * x - 1.0)


# A call.


@dataclass(frozen=True, eq=False)
class Contributions:
    """Sums of a call.

    Attributes
    ----------
    values : float64[n, n_players, n_outputs], of pairs float64[n, n_players, n_players, n_outputs]
    base : float64[n_outputs]
    players : tuple of int
        The column of the schema that each player is called by.
    """

    values: np.ndarray
    base: np.ndarray
    players: tuple[int, ...]


Work = Callable[[np.ndarray, np.ndarray, np.ndarray], None]


def contributions_of(
    model: ModelData,
    matrix: np.ndarray,
    *,
    kind: Kind = "path",
    pairs: bool = False,
    background: np.ndarray | None = None,
    worths: bool = False,
    n_jobs: int | None = None,
) -> Contributions:
    """What each player, or each pair, contributes to the answers.

    Parameters
    ----------
    matrix : float [n, p]
        Encoded rows.
    kind : {"path", "interventional", "steps"}
    pairs : bool
        Not of "steps".
    background : float [m, p]
        Encoded rows that stand for unknown players; of "interventional".
    worths : bool
        Of "interventional": not Shapley values but what knowing a player alone changes (its partial dependence less
        ``base``), and of pairs, on the other places, what knowing both changes beyond that.
    n_jobs : int or None
        As everywhere.

    Returns
    -------
    Contributions
        The sum over the players (or over all pairs) and ``base`` are the answer: shares of classes, numbers or
        scores, to within some 1e-15 of the sizes added up per tree. The same bytes for any number of threads.
    """
    whole, n_threads = forest_of(model), threads.resolve_jobs(n_jobs)
    n, n_players, n_kept = len(matrix), len(whole.players), whole.n_kept
    n_targets = n_players**2 if pairs else n_players
    n_cells = n * n_targets * whole.n_outputs
    check_fits(n_cells * 8, f"contributions of {n} rows", "explain fewer rows at a time" + " or order=1" * pairs)
    found = np.zeros((n, n_targets, whole.n_outputs))
    most = max(16, min(_MOST_ROWS, _BLOCK_BYTES // (8 * n_targets * n_kept)))
    size = min(most, max(1, -(-n // n_threads)))
    base = whole.expected
    others = None
    if kind == "steps":
        work = _steps(whole)
    elif kind == "path":
        work = _by_shares(whole, matrix, n_threads, pairs=pairs)
    else:
        others = np.ascontiguousarray(background, np.float64)
        base = whole.completed(whole.expected[:n_kept] + _rises(whole, others).mean(axis=1))
        work = _by_rows(whole, others, n, n_threads, pairs=pairs, worths=worths)

    def do(task: int, _thread: int) -> None:
        block = slice(task * size, min((task + 1) * size, n))
        rows = np.ascontiguousarray(matrix[block], np.float64)
        sums = np.zeros((n_kept, n_targets, len(rows)))
        work(rows, np.ascontiguousarray(rows.T), sums)
        found[block, :, :n_kept] = sums.transpose(2, 1, 0)

    threads.run_each(do, -(-n // size), n_threads)
    if n_kept < whole.n_outputs:
        found[:, :, -1] = -found[:, :, :-1].sum(axis=2)
    if pairs:
        squares = found.reshape(n, n_players, n_players, whole.n_outputs)
        for one in range(1, n_players):
            squares[:, one, :one] = squares[:, :one, one]
        return Contributions(squares, base, whole.players)
    return Contributions(found, base, whole.players)


def _calls(whole: Whole, first: int, last: int, n_rows: int) -> Iterator[tuple[int, int]]:
    """Runs of trees of which a kernel takes at most about a fifth of a second; Ctrl-C is answered between them."""
    roots, begin = whole.forest.roots, first
    while begin < last:
        end = begin + 1
        while end < last and (roots[end + 1] - roots[begin]) * n_rows <= _NODES_AT_ONCE:
            end += 1
        yield begin, end
        begin = end
        threads.heed()


def _steps(whole: Whole) -> Work:
    def work(rows: np.ndarray, cells: np.ndarray, sums: np.ndarray) -> None:
        ways, reached = np.empty(len(rows), np.int32), np.empty((whole.most_nodes, len(rows)))
        for first, last in _calls(whole, 0, whole.n_trees, len(rows)):
            add_steps(first, last, whole.forest, whole.tables, whole.surrogates, rows, cells, ways, reached, sums)

    return work


def _rises(whole: Whole, rows: np.ndarray) -> np.ndarray:
    """float64[n_kept, n]: answers of rows less the expected answer."""
    sums = np.zeros((whole.n_kept, len(whole.players), len(rows)))
    _steps(whole)(rows, np.ascontiguousarray(rows.T), sums)
    return sums.sum(axis=1)


@dataclass(frozen=True, eq=False)
class _Tables:
    """Which trees have tables, and where: ``starts``, ``counts_at`` int64[l], -1 at leaves without."""

    has: np.ndarray
    starts: np.ndarray
    counts_at: np.ndarray
    n_cells: int
    n_patterns: int

    @classmethod
    def of(cls, whole: Whole, is_worth: Callable[[np.ndarray, int, int], bool], *, pairs: bool) -> _Tables:
        """``is_worth`` is asked for the players of a tree's leaves, the cells that its tables take, and its nodes."""
        forest = whole.forest
        n_leaves, d = len(forest.leaves), forest.n_slots.astype(np.int64)
        sizes = (d * (d + 1) // 2 if pairs else d) << np.minimum(d, _LONGEST)
        starts, counts_at = np.full(n_leaves, -1, np.int64), np.full(n_leaves, -1, np.int64)
        has, n_cells, n_patterns = np.zeros(whole.n_trees, bool), 0, 0
        for tree in range(whole.n_trees):
            own = slice(int(forest.leaf_begin[tree]), int(forest.leaf_begin[tree + 1]))
            n_own = int(sizes[own].sum())
            n_nodes = int(forest.roots[tree + 1] - forest.roots[tree])
            if d[own].max() > _LONGEST or (n_cells + n_own) * 8 > _TABLE_BYTES or not is_worth(d[own], n_own, n_nodes):
                continue
            has[tree] = True
            starts[own] = n_cells + np.cumsum(sizes[own]) - sizes[own]
            patterns = np.int64(1) << d[own]
            counts_at[own] = n_patterns + np.cumsum(patterns) - patterns
            n_cells, n_patterns = n_cells + n_own, n_patterns + int(patterns.sum())
        return cls(has, starts, counts_at, n_cells, n_patterns)

    def fill(
        self, whole: Whole, counts: np.ndarray, total: float, n_threads: int, *, pairs: bool, worths: bool = False
    ) -> np.ndarray:
        """float64[n_cells]: the tables; ``counts`` as of ``fill_tables``."""
        forest, found = whole.forest, np.empty(self.n_cells)
        points, weights = gauss_legendre(min(_LONGEST, whole.longest))
        trees = np.flatnonzero(self.has).tolist()

        def do(task: int, _thread: int) -> None:
            tree = trees[task]
            left, right = np.empty(whole.longest + 1), np.empty(whole.longest + 1)
            fill_tables(
                int(forest.leaf_begin[tree]), int(forest.leaf_begin[tree + 1]), forest.n_slots, whole.share_of_slot,
                self.starts, self.counts_at, points, weights, counts, total, pairs, worths, left, right, found,
            )  # fmt: skip

        threads.run_each(do, len(trees), n_threads)
        return found

    def runs(self) -> list[tuple[int, int, bool]]:
        """Runs of trees that all have tables, or all have none."""
        edges = [0, *(np.flatnonzero(self.has[1:] != self.has[:-1]) + 1).tolist(), len(self.has)]
        return [(a, b, bool(self.has[a])) for a, b in itertools.pairwise(edges)]

    def look_up(
        self, whole: Whole, first: int, last: int, found: np.ndarray, rows: np.ndarray, cells: np.ndarray,
        sums: np.ndarray, *, pairs: bool,
    ) -> None:  # fmt: skip
        """Add what trees with tables give."""
        ways, patterns = np.empty(len(rows), np.int32), np.empty((whole.most_nodes, len(rows)), np.int32)
        for begin, end in _calls(whole, first, last, len(rows)):
            look_up(
                begin, end, whole.forest, whole.tables, whole.surrogates, rows, cells, self.starts, pairs,
                len(whole.players), found, ways, patterns, sums,
            )  # fmt: skip


def _by_shares(whole: Whole, matrix: np.ndarray, n_threads: int, *, pairs: bool) -> Work:
    """Unknown players count by shares of the training rows: tables where many rows pay for them, else quadrature."""
    forest, n = whole.forest, len(matrix)
    is_split = forest.is_fractional and bool(np.isnan(matrix[:, whole.asked]).any())
    m = (whole.longest + 1) // 2

    def is_worth(d: np.ndarray, n_cells: int, n_nodes: int) -> bool:
        if is_split:
            return False
        steps = int((d**3).sum()) * m if pairs else _STEPS_OF_A_NODE * n_nodes * m
        looked_up = int((d * (d + 1) // 2 if pairs else d).sum())
        return n * (steps - looked_up) > _STEPS_OF_A_CELL * n_cells * m

    tables = _Tables.of(whole, is_worth, pairs=pairs)
    found = tables.fill(whole, np.empty(0), 1.0, n_threads, pairs=pairs)
    points, weights = gauss_legendre(whole.longest)

    def work(rows: np.ndarray, cells: np.ndarray, sums: np.ndarray) -> None:
        for first, last, has_tables in tables.runs():
            if has_tables:
                tables.look_up(whole, first, last, found, rows, cells, sums, pairs=pairs)
                continue
            n_nodes, k = whole.most_nodes, whole.n_kept
            for begin, end in _calls(whole, first, last, len(rows) * m):
                if pairs:
                    integrate_pairs(
                        begin, end, forest, whole.tables, whole.surrogates, rows, cells, points, weights,
                        len(whole.players), np.empty(n_nodes), np.empty(whole.longest), np.empty(whole.longest), sums,
                    )  # fmt: skip
                else:
                    integrate(
                        begin, end, forest, whole.tables, whole.surrogates, rows, cells, points, weights,
                        np.empty(n_nodes), np.empty((n_nodes, m)), np.empty((n_nodes, m)), np.empty((k, n_nodes, m)),
                        sums,
                    )  # fmt: skip

    return work


def _by_rows(whole: Whole, others: np.ndarray, n: int, n_threads: int, *, pairs: bool, worths: bool) -> Work:
    """Unknown players count by background rows: tables of these rows' patterns, or every row beside every other."""
    forest, m = whole.forest, len(others)
    other_cells, ones = np.ascontiguousarray(others.T), np.ones(m)

    def is_worth(d: np.ndarray, _n_cells: int, n_nodes: int) -> bool:
        return int((3**d * d).sum()) < n * m * n_nodes

    tables = _Tables.of(whole, is_worth, pairs=pairs)
    counts = np.zeros(tables.n_patterns + 1)
    for begin in range(0, m, _MOST_ROWS):
        rows = others[begin : begin + _MOST_ROWS]
        ways, patterns = np.empty(len(rows), np.int32), np.empty((whole.most_nodes, len(rows)), np.int32)
        for first, last, has_tables in tables.runs():
            if has_tables:
                count_patterns(
                    first, last, forest, whole.tables, whole.surrogates, rows, np.ascontiguousarray(rows.T), ones, ways,
                    patterns, tables.counts_at, counts,
                )  # fmt: skip
    found = tables.fill(whole, counts, float(m), n_threads, pairs=pairs, worths=worths)

    def work(rows: np.ndarray, cells: np.ndarray, sums: np.ndarray) -> None:
        for first, last, has_tables in tables.runs():
            if has_tables:
                tables.look_up(whole, first, last, found, rows, cells, sums, pairs=pairs)
                continue
            for begin, end in _calls(whole, first, last, len(rows) * m):
                compare(
                    begin, end, forest, whole.tables, whole.surrogates, rows, cells, others, other_cells, ones,
                    float(m), pairs, worths, len(whole.players), np.empty(whole.most_nodes, np.uint8),
                    np.empty(whole.most_nodes + 1, np.int64), np.empty(whole.longest, np.uint8), sums,
                )  # fmt: skip

    return work
