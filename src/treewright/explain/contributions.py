"""What each column contributes to a prediction. In: a model, encoded rows. Out: contributions that add up to it.

The players of the game are the columns; parts of a date, and the number of rows of a level, play with the column that
they are made of. What a set S of players is worth for a row, tree by tree (docs/guides/looking/contributions.md):

    path            go down the tree; at a test of a player in S take the row's way, at any other every branch, by the
                    share of the training weight that went there
    interventional  the mean over background rows of the prediction for a row that takes the row's ways at tests of S,
                    and the background row's ways elsewhere
    steps           no game: the change of the expected prediction along the path of the row

A row's way at a test is what the model does with the whole row: a missing cell goes where the node, its surrogates or
the policy send it; with "fractional" to every branch in part, whoever is in S.

    contributions_of     the contributions of a call, in blocks of rows on threads
      game_of            the trees one after another as kernels take them; kept with the model
      _by_shares         path: tables where many rows pay for them, else quadrature (``predict.contributions``)
      _by_rows           interventional: tables of the background's patterns, else every row with each of them
      _steps
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np

from treewright.core import threads
from treewright.data.derived import ROWS, is_derived
from treewright.data.memory import check_fits
from treewright.data.schema import Schema
from treewright.predict.contributions import (
    AllTrees,
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
from treewright.predict.ensemble import predict_numbers, predict_probabilities, scores_of
from treewright.predict.route import Branches, Surrogates, joined
from treewright.trees.arrays import Tree
from treewright.trees.data import ModelData

Kind = Literal["path", "interventional", "steps"]
KINDS = ("path", "interventional", "steps")

_LONGEST = 12  # players on a path that has a table
_TABLE_BYTES = 2**28  # of all tables
_BLOCK_BYTES, _MOST_ROWS = 2**20, 512  # of the sums of a block, rows of it
# Of quadrature at a point for a node, and of filling a cell of a table, in units of a look-up.
_STEPS_OF_A_NODE, _STEPS_OF_A_CELL = 3, 2
# Rows times nodes, and steps of filling tables, of a call of a kernel, between which Ctrl-C is answered.
_NODES_AT_ONCE, _STEPS_AT_ONCE = 50_000_000, 30_000_000
_SCRATCH_BYTES = 2**26  # of what is noted of every node of the largest tree for every row of a block


@dataclass(frozen=True, eq=False)
class Game:
    """The game of the columns: the trees of a model as kernels take them, and who plays."""

    trees: AllTrees
    tables: Branches
    surrogates: Surrogates
    share_of_slot: np.ndarray  # float64[l, d]: of each leaf the shares of its players
    players: tuple[int, ...]  # the column that each player is named after
    n_outputs: int  # number of class probabilities, numbers or scores
    start: np.ndarray  # float64[n_kept]: what the model predicts without any tree
    tested: np.ndarray  # int64[q]: columns that some tree tests

    @property
    def n_kept(self) -> int:
        """Number of outputs that are computed: of probabilities that add up to 1 all but the last."""
        return len(self.start)

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.trees.output)

    @property
    def longest(self) -> int:
        """Most players on a path, at least 1."""
        return self.trees.players.shape[1]

    @property
    def most_nodes(self) -> int:
        """Nodes of the largest tree."""
        return int(np.diff(self.trees.roots).max())

    @property
    def rows_at_once(self) -> int:
        """Rows of a block."""
        return max(1, min(_MOST_ROWS, _SCRATCH_BYTES // (8 * self.most_nodes)))

    @property
    def expected(self) -> np.ndarray:
        """float64[n_outputs]: the mean prediction, leaves weighted by their shares of the training weight."""
        total = self.start.copy()
        roots = self.trees.expected[self.trees.roots[:-1]]
        for tree, output in enumerate(self.trees.output.tolist()):
            total[output : output + roots.shape[1]] += roots[tree]
        return total if self.n_kept == self.n_outputs else np.append(total, 1.0 - total.sum())


_games: WeakKeyDictionary[ModelData, Game] = WeakKeyDictionary()


def players_of(schema: Schema) -> tuple[np.ndarray, tuple[int, ...]]:
    """The player of each column, int32[p], and the column that each player is named after."""
    player_of = np.empty(len(schema), np.int32)
    names: list[int] = []
    for at, column in enumerate(schema.columns):
        is_part = bool(column.part) and (not is_derived(column) or column.part == ROWS)
        if is_part:
            player_of[at] = player_of[column.sources[0]]
            continue
        player_of[at] = len(names)
        names.append(at)
    return player_of, tuple(names)


def game_of(model: ModelData) -> Game:
    """The trees of a model for explanations, made once."""
    game = _games.get(model)
    if game is None:
        game = _games[model] = _new_game(model)
    return game


def _new_game(model: ModelData) -> Game:
    aggregation = model.aggregation
    player_of, players = players_of(model.schema)
    listed: list[Tree] = list(model.trees)
    weights, total = aggregation.weights_of(len(listed)), aggregation.total(len(listed))
    boosting = model.boosting
    parts = [_part_of(model, tree, player_of) for tree in listed]
    if boosting is not None:
        outputs = np.arange(len(listed), dtype=np.int32) % boosting.n_scores
        start = np.array(boosting.base, np.float64)
        factors = np.ones(len(listed))
    else:
        outputs = np.zeros(len(listed), np.int32)
        start = np.zeros(parts[0].content.shape[1])
        factors = weights / total
    n_outputs = len(start) + _leaves_last_out(model)
    longest = max(part.players.shape[1] for part in parts)
    roots = np.cumsum([0, *(tree.n_nodes for tree in listed)], dtype=np.int64)
    leaf_begin = np.cumsum([0, *(len(part.leaves) for part in parts)], dtype=np.int64)

    def of_all(name: str) -> np.ndarray:
        return np.concatenate([getattr(part, name) for part in parts])

    def moved(name: str) -> np.ndarray:
        """Numbers of nodes, counted through all trees."""
        found = [getattr(part, name).astype(np.int64) for part in parts]
        return np.concatenate([np.where(at < 0, -1, at + root) for at, root in zip(found, roots, strict=False)])

    def padded(name: str) -> np.ndarray:
        """An array by slot, padded to the longest path."""
        found = [getattr(part, name) for part in parts]
        return np.concatenate([np.pad(each, ((0, 0), (0, longest - each.shape[1]))) for each in found])

    leaf_of = np.full(roots[-1], -1, np.int64)
    leaves = moved("leaves")
    leaf_of[leaves] = np.arange(len(leaves))
    trees = AllTrees(
        roots=roots,
        leaf_begin=leaf_begin,
        output=outputs,
        values=np.concatenate([part.content * factor for part, factor in zip(parts, factors, strict=True)]),
        expected=np.concatenate([part.expected * factor for part, factor in zip(parts, factors, strict=True)]),
        leaf_of=leaf_of,
        parent=moved("parent"),
        player=of_all("player"),
        slot=of_all("slot"),
        before=moved("before"),
        cover=of_all("cover"),
        share=of_all("share"),
        leaves=leaves,
        n_slots=of_all("n_slots"),
        players=padded("players"),
        has_surrogates=model.missing == "surrogate",
        is_fractional=model.missing == "fractional",
    )
    tables, surrogates = joined(listed, roots)
    tested = np.unique(tables.feature[tables.feature >= 0]).astype(np.int64)
    return Game(trees, tables, surrogates, padded("shares"), players, n_outputs, start, tested)


def _leaves_last_out(model: ModelData) -> bool:
    """Whether the outputs are class probabilities of one target, of which the last is 1 minus the others."""
    return len(model.counted_classes) == 1 and model.counted_classes[0] > 1


@dataclass(frozen=True, eq=False)
class _Part:
    """A tree's nodes and leaves, by their own numbers."""

    parent: np.ndarray
    player: np.ndarray
    slot: np.ndarray
    before: np.ndarray
    cover: np.ndarray
    share: np.ndarray
    leaves: np.ndarray
    n_slots: np.ndarray
    players: np.ndarray
    shares: np.ndarray
    content: np.ndarray
    expected: np.ndarray


def _part_of(model: ModelData, tree: Tree, player_of: np.ndarray) -> _Part:
    n = tree.n_nodes
    parent, player, slot, before, depth = (np.empty(n, np.int32) for _ in range(5))
    cover, share = np.empty(n), np.empty(n)
    trace_paths(
        np.array(tree.first_child), np.array(tree.n_branches), np.array(tree.feature), np.array(tree.weight), player_of,
        parent, player, slot, before, cover, share, depth,
    )  # fmt: skip
    leaves = np.flatnonzero(tree.is_leaf).astype(np.int32)
    players = np.zeros((len(leaves), max(1, int(depth[leaves].max(initial=0)))), np.int32)
    shares = np.empty(players.shape)
    players_on_paths(leaves, parent, player, slot, share, players, shares)
    content = tree.value[leaves] if model.boosting is not None else model.aggregation.content(model, tree.value[leaves])
    if _leaves_last_out(model):
        content = np.ascontiguousarray(content[:, :-1])
    expected = np.zeros((n, content.shape[1]))
    expected[leaves] = content
    for node in range(n - 1, 0, -1):
        expected[parent[node]] += cover[node] * expected[node]
    return _Part(parent, player, slot, before, cover, share, leaves, depth[leaves], players, shares, content, expected)


def gauss_legendre(longest: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights on 0 to 1 that integrate the derivative of a product over so many players exactly.

    The integrand has degree ``longest - 1``, and m points are exact up to degree 2 m - 1. By Newton's method, whose
    last bits, unlike those of an eigenvalue problem, are the same on every processor.

    Returns ``points``, ``weights`` float64[m].

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
    """Contributions to the predictions for some rows."""

    values: np.ndarray  # float64[n, n_players, n_outputs], of pairs float64[n, n_players, n_players, n_outputs]
    base: np.ndarray  # float64[n_outputs]
    players: tuple[int, ...]  # the column of the schema that each player is named after


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
    """What each player, or each pair (not for "steps"), contributes to the predictions.

    ``background`` float [m, p]: encoded rows that stand for unknown players, for "interventional". With ``worths`` the
    result is not Shapley values but what knowing a player alone changes (its partial dependence less ``base``), and of
    pairs, on the other places, what knowing both changes beyond that. The sum over the players (or over all pairs) and
    ``base`` are the prediction: class probabilities, numbers or scores, to within about 1e-13 of the sizes that trees
    add up. The same bytes for any number of threads.
    """
    game, n_threads = game_of(model), threads.resolve_jobs(n_jobs)
    n, n_players, n_kept = len(matrix), len(game.players), game.n_kept
    n_targets = n_players**2 if pairs else n_players
    n_cells = n * n_targets * game.n_outputs
    check_fits(n_cells * 8, f"contributions of {n} rows", "explain fewer rows at a time" + " or use order=1" * pairs)
    found = np.zeros((n, n_targets, game.n_outputs))
    most = max(16, min(game.rows_at_once, _BLOCK_BYTES // (8 * n_targets * n_kept)))
    size = min(most, max(1, -(-n // n_threads)))
    base = game.expected
    others = None
    if kind == "steps":
        work = _steps(game)
    elif kind == "path":
        work = _by_shares(game, matrix, n_threads, pairs=pairs)
    else:
        others = np.ascontiguousarray(background, np.float64)
        base = predicted_outputs(model, others, n_jobs).mean(axis=0)
        work = _by_rows(game, others, n, n_threads, pairs=pairs, worths=worths)

    def do(task: int, _thread: int) -> None:
        block = slice(task * size, min((task + 1) * size, n))
        rows = np.ascontiguousarray(matrix[block], np.float64)
        sums = np.zeros((n_kept, n_targets, len(rows)))
        work(rows, np.ascontiguousarray(rows.T), sums)
        found[block, :, :n_kept] = sums.transpose(2, 1, 0)

    threads.run_each(do, -(-n // size), n_threads)
    if n_kept < game.n_outputs:
        found[:, :, -1] = -found[:, :, :-1].sum(axis=2)
    if pairs:
        squares = found.reshape(n, n_players, n_players, game.n_outputs)
        for one in range(1, n_players):
            squares[:, one, :one] = squares[:, :one, one]
        return Contributions(squares, base, game.players)
    return Contributions(found, base, game.players)


def _calls(game: Game, first: int, last: int, n_rows: int) -> Iterator[tuple[int, int]]:
    """Runs of trees that take a kernel at most about a fifth of a second; Ctrl-C is answered between them."""
    roots, begin = game.trees.roots, first
    while begin < last:
        end = begin + 1
        while end < last and (roots[end + 1] - roots[begin]) * n_rows <= _NODES_AT_ONCE:
            end += 1
        yield begin, end
        begin = end
        threads.heed()


def _steps(game: Game) -> Work:
    def work(rows: np.ndarray, cells: np.ndarray, sums: np.ndarray) -> None:
        ways, reached = np.empty(len(rows), np.int32), np.empty((game.most_nodes, len(rows)))
        for first, last in _calls(game, 0, game.n_trees, len(rows)):
            add_steps(first, last, game.trees, game.tables, game.surrogates, rows, cells, ways, reached, sums)

    return work


def predicted_outputs(model: ModelData, matrix: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """float64[n, n_outputs]: the predictions that contributions add up to: class probabilities, numbers or scores."""
    if model.boosting is not None:
        return scores_of(model, matrix, n_jobs).reshape(len(matrix), -1)
    if model.task == "classification":
        return np.concatenate(predict_probabilities(model, matrix, n_jobs), axis=1)
    return predict_numbers(model, matrix, n_jobs).reshape(len(matrix), -1)


def _in_pieces(rows: np.ndarray, cells: np.ndarray, sums: np.ndarray, steps_of_row: float, call: Work) -> None:
    """Do ``call`` for a few rows at a time if they take long; Ctrl-C is answered in between."""
    size = max(1, int(_NODES_AT_ONCE / max(steps_of_row, 1.0)))
    if len(rows) <= size:
        call(rows, cells, sums)
        return
    for begin in range(0, len(rows), size):
        piece = slice(begin, begin + size)
        own = np.ascontiguousarray(sums[:, :, piece])
        call(rows[piece], np.ascontiguousarray(cells[:, piece]), own)
        sums[:, :, piece] = own
        threads.heed()


@dataclass(frozen=True, eq=False)
class _Tables:
    """Which trees have tables, and where: ``starts``, ``counts_at`` int64[l], -1 at leaves without."""

    has: np.ndarray
    starts: np.ndarray
    counts_at: np.ndarray
    n_cells: int
    n_patterns: int

    @classmethod
    def of(cls, game: Game, is_worth: Callable[[np.ndarray, int, int], bool], *, pairs: bool) -> _Tables:
        """``is_worth`` takes the numbers of players of a tree's leaves, of cells of its tables and of its nodes."""
        trees = game.trees
        n_leaves, d = len(trees.leaves), trees.n_slots.astype(np.int64)
        sizes = (d * (d + 1) // 2 if pairs else d) << np.minimum(d, _LONGEST)
        starts, counts_at = np.full(n_leaves, -1, np.int64), np.full(n_leaves, -1, np.int64)
        has, n_cells, n_patterns = np.zeros(game.n_trees, bool), 0, 0
        for tree in range(game.n_trees):
            own = slice(int(trees.leaf_begin[tree]), int(trees.leaf_begin[tree + 1]))
            n_own = int(sizes[own].sum())
            n_nodes = int(trees.roots[tree + 1] - trees.roots[tree])
            if d[own].max() > _LONGEST or (n_cells + n_own) * 8 > _TABLE_BYTES or not is_worth(d[own], n_own, n_nodes):
                continue
            has[tree] = True
            starts[own] = n_cells + np.cumsum(sizes[own]) - sizes[own]
            patterns = np.int64(1) << d[own]
            counts_at[own] = n_patterns + np.cumsum(patterns) - patterns
            n_cells, n_patterns = n_cells + n_own, n_patterns + int(patterns.sum())
        return cls(has, starts, counts_at, n_cells, n_patterns)

    def fill(
        self, game: Game, counts: np.ndarray, total: float, n_threads: int, *, pairs: bool, worths: bool = False
    ) -> np.ndarray:
        """float64[n_cells]: the tables; ``counts`` as of ``fill_tables``."""
        trees, found = game.trees, np.empty(self.n_cells)
        points, weights = gauss_legendre(min(_LONGEST, game.longest))
        runs = _runs_of_leaves(trees.n_slots, self.starts, base=2 if not len(counts) or worths else 3, pairs=pairs)

        def do(task: int, _thread: int) -> None:
            left, right = np.empty(game.longest + 1), np.empty(game.longest + 1)
            fill_tables(
                *runs[task], trees.n_slots, game.share_of_slot, self.starts, self.counts_at, points, weights, counts,
                total, pairs, worths, left, right, found,
            )  # fmt: skip

        threads.run_each(do, len(runs), n_threads)
        return found

    def runs(self) -> list[tuple[int, int, bool]]:
        """Runs of trees that all have tables, or all have none."""
        edges = [0, *(np.flatnonzero(self.has[1:] != self.has[:-1]) + 1).tolist(), len(self.has)]
        return [(a, b, bool(self.has[a])) for a, b in itertools.pairwise(edges)]

    def look_up(
        self, game: Game, first: int, last: int, found: np.ndarray, rows: np.ndarray, cells: np.ndarray,
        sums: np.ndarray, *, pairs: bool,
    ) -> None:  # fmt: skip
        """Add the contributions of trees with tables."""
        ways, patterns = np.empty(len(rows), np.int32), np.empty((game.most_nodes, len(rows)), np.int32)
        for begin, end in _calls(game, first, last, len(rows)):
            look_up(
                begin, end, game.trees, game.tables, game.surrogates, rows, cells, self.starts, pairs,
                len(game.players), found, ways, patterns, sums,
            )  # fmt: skip


def _runs_of_leaves(n_slots: np.ndarray, starts: np.ndarray, *, base: int, pairs: bool) -> list[tuple[int, int]]:
    """Runs of leaves whose tables take at most about a fifth of a second to fill."""
    d = n_slots.astype(np.float64)
    steps = np.cumsum(np.where(starts >= 0, base**d * d * (d if pairs else 1.0), 0.0))
    if not len(steps) or steps[-1] == 0.0:
        return []
    edges = np.searchsorted(steps, np.arange(0.0, steps[-1], _STEPS_AT_ONCE) + _STEPS_AT_ONCE, side="right")
    ends = np.unique(np.append(np.maximum(edges, 1), len(steps)))
    return list(itertools.pairwise([0, *ends.tolist()]))


def _by_shares(game: Game, matrix: np.ndarray, n_threads: int, *, pairs: bool) -> Work:
    """Average unknown players over the training rows: by tables if many rows pay for them, else by quadrature."""
    trees, n = game.trees, len(matrix)
    is_split = trees.is_fractional and bool(np.isnan(matrix[:, game.tested]).any())
    m = (game.longest + 1) // 2

    def is_worth(d: np.ndarray, n_cells: int, n_nodes: int) -> bool:
        if is_split:
            return False
        steps = int((d**3).sum()) * m if pairs else _STEPS_OF_A_NODE * n_nodes * m
        looked_up = int((d * (d + 1) // 2 if pairs else d).sum())
        return n * (steps - looked_up) > _STEPS_OF_A_CELL * n_cells * m

    tables = _Tables.of(game, is_worth, pairs=pairs)
    found = tables.fill(game, np.empty(0), 1.0, n_threads, pairs=pairs)
    points, weights = gauss_legendre(game.longest)

    def work(rows: np.ndarray, cells: np.ndarray, sums: np.ndarray) -> None:
        for first, last, has_tables in tables.runs():
            if has_tables:
                tables.look_up(game, first, last, found, rows, cells, sums, pairs=pairs)
                continue
            steps = float(game.most_nodes * m * (game.longest**2 if pairs else 1))
            _in_pieces(rows, cells, sums, steps, partial(by_points, first, last))

    def by_points(first: int, last: int, rows: np.ndarray, cells: np.ndarray, sums: np.ndarray) -> None:
        n_nodes, k = game.most_nodes, game.n_kept
        for begin, end in _calls(game, first, last, len(rows) * m * (game.longest**2 if pairs else 1)):
            if pairs:
                integrate_pairs(
                    begin, end, trees, game.tables, game.surrogates, rows, cells, points, weights, len(game.players),
                    np.empty(n_nodes), np.empty(game.longest), np.empty(game.longest), sums,
                )  # fmt: skip
            else:
                integrate(
                    begin, end, trees, game.tables, game.surrogates, rows, cells, points, weights, np.empty(n_nodes),
                    np.empty((n_nodes, m)), np.empty((n_nodes, m)), np.empty((k, n_nodes, m)), sums,
                )  # fmt: skip

    return work


def _by_rows(game: Game, others: np.ndarray, n: int, n_threads: int, *, pairs: bool, worths: bool) -> Work:
    """Average unknown players over background rows: by tables of their patterns, or every row with each of them."""
    trees, m = game.trees, len(others)
    other_cells = np.ascontiguousarray(others.T)

    def is_worth(d: np.ndarray, _n_cells: int, n_nodes: int) -> bool:
        return int((3**d * d * (d if pairs else 1)).sum()) < n * m * n_nodes

    tables = _Tables.of(game, is_worth, pairs=pairs)
    counts = np.zeros(tables.n_patterns + 1)
    for begin in range(0, m, game.rows_at_once):
        rows = others[begin : begin + game.rows_at_once]
        ways, patterns = np.empty(len(rows), np.int32), np.empty((game.most_nodes, len(rows)), np.int32)
        for first, last, has_tables in tables.runs():
            if has_tables:
                count_patterns(
                    first, last, trees, game.tables, game.surrogates, rows, np.ascontiguousarray(rows.T), ways,
                    patterns, tables.counts_at, counts,
                )  # fmt: skip
    found = tables.fill(game, counts, float(m), n_threads, pairs=pairs, worths=worths)

    def beside(first: int, last: int, rows: np.ndarray, cells: np.ndarray, sums: np.ndarray) -> None:
        for begin, end in _calls(game, first, last, len(rows) * m):
            compare(
                begin, end, trees, game.tables, game.surrogates, rows, cells, others, other_cells, pairs, worths,
                len(game.players), np.empty(game.most_nodes, np.uint8), np.empty(game.most_nodes + 1, np.int64),
                np.empty(game.longest, np.uint8), sums,
            )  # fmt: skip

    def work(rows: np.ndarray, cells: np.ndarray, sums: np.ndarray) -> None:
        for first, last, has_tables in tables.runs():
            if has_tables:
                tables.look_up(game, first, last, found, rows, cells, sums, pairs=pairs)
            else:
                _in_pieces(rows, cells, sums, float(game.most_nodes * m), partial(beside, first, last))

    return work
