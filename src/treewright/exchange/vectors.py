"""Rows to verify an exported file. In: a model. Out: rows at and next to every cut, and the model's predictions.

for each column: a pool of each tested cut with its two float neighbours, infinities, -0, every level, an unknown
level, a missing cell
- each of them once, with cells sampled from the other pools
- for each test of a tree: rows that reach it, at and next to its cut, of its levels, missing
- as many rows again, sampled from all pools
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from treewright.data.derived import ROWS, derived_cells
from treewright.exchange.code import EXTRAS, Program, branches_of_codes, program_of
from treewright.exchange.structure import json_label, json_level
from treewright.predict.ensemble import combined, scores_of
from treewright.predict.values import leaf_table, predict_codes, predict_numbers, predict_shares
from treewright.predict.walks import answers_of_tree
from treewright.trees.arrays import INTERVALS, MULTIWAY, SUBSET, THRESHOLD
from treewright.trees.data import ModelData, sums_of_sizes
from treewright.trees.isolation import scores_of_lengths

FORMAT, VERSION = "treewright-vectors", 2
_MOST_CUTS, _MOST_CELLS = 64, 500_000  # of a column, evenly spread; of all rows, about
_MOST_LEVELS = 200
_MOST_TESTS, _MOST_ANSWERS, _MOST_REPEATS = 1_000, 12, 4  # of all trees, evenly spread; of one test
_DRAWN = 300


def vectors_of(model: ModelData, name: str = "model") -> dict[str, Any]:
    """Test rows for an exported model, with the sums and values that it must return.

    Returns ``format``, ``version``, ``name`` (of the functions), ``columns`` (name, kind and levels of each),
    ``classes`` (labels per output), ``rows``, ``sums``, ``values`` and ``cells_of_test`` (codes of classes, empty for
    regression): lists of numbers; those that are not finite are the text "nan", "inf" or "-inf". A row holds codes of
    levels; the code after the last is an unknown level. ``rounding``: the largest difference of a sum if a program adds
    in another order; 0.0 if sums are on a grid.
    Raises ``ParameterError``: as for ``program_of``.

    Examples
    --------
    >>> import treewright as tw
    >>> model = tw.DecisionTreeRegressor().fit({"rain": [0, 2]}, [4.0, 6.0]).model_
    >>> found = vectors_of(model)
    >>> found["rows"][:3], found["values"][:3]
    ([[1.0], [1.0000000000000002], [0.9999999999999999]], [[4.0], [6.0], [4.0]])
    """
    program = program_of(model, EXTRAS)
    pools = [np.array(_pool(program, at)) for at in range(program.n_given)]
    # In a wide table edges of several columns share a row.
    n_edges = min(sum(map(len, pools)), max(*map(len, pools), 1, _MOST_CELLS // program.n_given))
    rng, rows = np.random.default_rng(0), np.empty((n_edges + _DRAWN, program.n_given))
    begin = 0
    for at, pool in enumerate(pools):
        rows[:, at] = rng.choice(pool, len(rows))
        rows[(begin + np.arange(len(pool))) % n_edges, at] = pool
        begin += len(pool)
    rows = np.vstack([rows, *_rows_at_tests(program, rows, rng)])
    matrix = _as_trees_take_them(program, rows)
    sums = _sums(model, matrix)
    if program.isolation:
        values = -scores_of_lengths(model.facts, sums)
    else:
        values = np.hstack(predict_shares(model, matrix)) if model.classes else predict_numbers(model, matrix)
    values = values.reshape(len(rows), -1)
    codes = predict_codes(model, matrix) if model.classes else np.empty((len(rows), 0), np.int32)
    given = program.columns[: program.n_given]
    return {
        "format": FORMAT, "version": VERSION, "name": name,
        "columns": [
            {"name": json_level(column.name), "kind": column.kind, "levels": list(map(json_level, column.levels))}
            for column in given
        ],
        "classes": [list(map(json_label, own)) for own in model.classes],
        "rounding": _rounding(model),
        "answers": codes.tolist(),
        "rows": [list(map(_plain, row)) for row in rows.tolist()],
        "sums": [list(map(_plain, row)) for row in sums.tolist()],
        "values": [list(map(_plain, row)) for row in values.tolist()],
    }  # fmt: skip


def _rows_at_tests(program: Program, drawn: np.ndarray, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """For each test, or as many as there is room for: rows that reach it and take every branch.

    Each cell of a pool occurs in some row, but that row may never reach the test of that cell.
    """
    tables = program.tables
    inner = np.flatnonzero((tables.first_child >= 0) & (tables.feature < program.n_given))
    most = max(_MOST_CELLS // (4 * max(program.n_given, 1)), 1)
    if len(inner) > min(_MOST_TESTS, most):
        inner = inner[np.linspace(0, len(inner) - 1, min(_MOST_TESTS, most)).round().astype(np.int64)]
    parent, branch = np.full((2, len(tables.kind)), -1, np.int64)
    for at in range(int(tables.n_branches.max(initial=0))):
        above = np.flatnonzero(tables.n_branches > at)
        parent[tables.first_child[above] + at], branch[tables.first_child[above] + at] = above, at
    # Of 5,000 tests in a row each is reached by all before it: plain numbers, and a cut is asked for once. Sets of
    # levels are not kept: of 2,500 levels in 40 trees they took 650 MB.
    feature, parents, branches = tables.feature.tolist(), parent.tolist(), branch.tolist()
    has_levels = np.isin(tables.kind, (SUBSET, MULTIWAY)).tolist()
    of_levels = partial(_cells_of_branch, program)
    of_cuts = cache(of_levels)
    # With few tests several rows each: subtrees on both sides of a cut may predict the same for a row.
    n_repeats = max(1, min(_MOST_REPEATS, _MOST_TESTS // max(len(inner), 1)))
    for node in inner.tolist():
        way: dict[int, _Cells] = {}
        here = node
        while (above := parents[here]) >= 0:
            tested = of_levels if has_levels[above] else of_cuts
            way[feature[above]] = way.get(feature[above], _ANY).also(tested(above, branches[here]))
            here = above
        at, cells_of_test = feature[node], _cells_of_test(program, node)
        inside = [way.get(at, _ANY).holds(cell) for cell in cells_of_test]
        for _ in range(n_repeats):
            row = _row_on_way(program, way, drawn[rng.integers(len(drawn))].copy())
            if row is not None:
                rows = np.repeat(row[None], len(cells_of_test), axis=0)
                rows[:, at] = cells_of_test
                yield rows[inside]


class _Cells(NamedTuple):
    """The cells of a column that take a branch, or all branches of a path that the column decides."""

    low: float
    high: float
    codes: frozenset[int] | None
    is_missing_in: bool
    only_missing: bool

    def also(self, other: _Cells) -> _Cells:
        """The cells that are in both."""
        codes = self.codes if other.codes is None else other.codes
        return _Cells(
            max(self.low, other.low), min(self.high, other.high),
            codes if codes is None or self.codes is None else codes & self.codes,
            self.is_missing_in and other.is_missing_in, self.only_missing or other.only_missing,
        )  # fmt: skip

    def holds(self, cell: float) -> bool:
        if math.isnan(cell) or self.only_missing:
            return math.isnan(cell) and self.is_missing_in
        is_above = cell > self.low or self.low == -math.inf  # -inf itself lies below every cut
        return is_above and cell <= self.high and (self.codes is None or cell in self.codes)


_ANY = _Cells(-math.inf, math.inf, None, is_missing_in=True, only_missing=False)


def _cells_of_branch(program: Program, node: int, branch: int) -> _Cells:
    """The cells that take a branch."""
    tables, kind = program.tables, int(program.tables.kind[node])
    is_missing_in = int(tables.missing_branch[node]) == branch
    if kind in (SUBSET, MULTIWAY):
        ways = branches_of_codes(program, node)[:-1]
        codes = frozenset(code for code, way in enumerate(ways) if way == branch)
        return _Cells(-math.inf, math.inf, codes, is_missing_in, not codes)
    cuts = [float(tables.threshold[node])]
    if kind == INTERVALS:
        begin = int(tables.level_set[node])
        cuts = tables.cuts[begin : begin + int(tables.n_branches[node]) - 1].tolist()
    low = cuts[branch - 1] if branch else -math.inf
    high = cuts[branch] if branch < len(cuts) else math.inf
    return _Cells(low, high, None, is_missing_in, low == math.inf or branch > len(cuts))


def _row_on_way(program: Program, way: dict[int, _Cells], row: np.ndarray) -> np.ndarray | None:
    """A row changed so that it takes a path; None if that is impossible, or if derived columns decide."""
    for at, cells in way.items():
        if at >= program.n_given:
            return None
        if not cells.holds(float(row[at])):
            tried = [math.nan, cells.high, math.nextafter(cells.low, math.inf), math.floor(min(cells.high, 2.0**53))]
            tried += map(float, sorted(cells.codes or ()))
            tried = [cell for cell in tried if not (math.isnan(cell) and program.refuses_missing)]
            n_levels = len(program.columns[at].levels)
            if program.columns[at].kind != "numeric":
                tried = [cell for cell in tried if math.isnan(cell) or (cell in range(n_levels))]
            found = next((cell for cell in tried if cells.holds(float(cell))), None)
            if found is None:
                return None
            row[at] = found
    return row


def _cells_of_test(program: Program, node: int) -> list[float]:
    """Cells that take every branch of a test."""
    tables, at = program.tables, int(program.tables.feature[node])
    column, begin = program.columns[at], int(tables.level_set[node])
    if column.kind == "nominal":
        cells = list(map(float, range(min(len(column.levels), _MOST_ANSWERS))))
        cells += [] if program.refuses_unseen else [float(len(column.levels))]
    else:
        cuts = [float(tables.threshold[node])]
        if int(tables.kind[node]) == INTERVALS:
            cuts = tables.cuts[begin : begin + min(int(tables.n_branches[node]) - 1, _MOST_ANSWERS)].tolist()
        cells = [cell for cut in cuts if math.isfinite(cut) for cell in _beside(cut)]
        if column.kind == "ordinal":
            ranks = {math.floor(cell) + more for cell in cells for more in (0, 1)}
            cells = [float(rank) for rank in sorted(ranks) if 0 <= rank < len(column.levels)]
    return cells if program.refuses_missing else [*cells, math.nan]


def _beside(cut: float) -> tuple[float, float, float]:
    """A cut and its two neighbours."""
    return cut, math.nextafter(cut, math.inf), math.nextafter(cut, -math.inf)


def _rounding(model: ModelData) -> float:
    """The largest change of a sum by the order of additions; 0.0 for a grid, for one tree and for medians."""
    if model.grid is not None or model.is_single_tree or model.aggregation.sorts:
        return 0.0
    n_trees, is_number = len(model.trees), model.task == "regression" or model.has_scores
    bound = sums_of_sizes(model)[0] if is_number else float(n_trees)
    return min(n_trees * 2.0**-52 * bound / (1.0 if model.has_scores else n_trees), 1e300)


def _sums(model: ModelData, matrix: np.ndarray) -> np.ndarray:
    """The sums of the trees: float64[n, n_sums]."""
    if model.has_scores:
        return scores_of(model, matrix)
    if not model.is_single_tree:
        return combined(model, matrix)
    table = leaf_table(model)
    return answers_of_tree(model, model.trees[0], table.shares if model.classes else table.values, matrix, None)


def _pool(program: Program, at: int) -> list[float]:
    """The pool that the cells of a column are sampled from."""
    column, tables = program.columns[at], program.tables
    if column.kind == "numeric":
        tested = np.flatnonzero(tables.feature == at)
        cuts = [tables.threshold[tested[tables.kind[tested] == THRESHOLD]]]
        for node in tested[tables.kind[tested] == INTERVALS].tolist():
            begin = int(tables.level_set[node])
            cuts.append(tables.cuts[begin : begin + int(tables.n_branches[node]) - 1])
        finite = np.unique(np.concatenate(cuts))
        finite = finite[np.isfinite(finite)]
        if len(finite) > _MOST_CUTS:
            finite = finite[np.linspace(0, len(finite) - 1, _MOST_CUTS).round().astype(np.int64)]
        beside = [cell for cut in finite.tolist() for cell in _beside(cut)]
        pool = [*beside, math.inf, -math.inf, -0.0, 1e308, -1e308]
    else:
        pool = list(map(float, range(min(len(column.levels), _MOST_LEVELS))))
        pool += [] if program.refuses_unseen else [float(len(column.levels))]
    return pool if program.refuses_missing else [*pool, math.nan]


def _as_trees_take_them(program: Program, rows: np.ndarray) -> np.ndarray:
    """Rows with unknown levels as the model treats them, and with derived columns."""
    matrix = np.full((len(rows), len(program.columns)), np.nan)
    matrix[:, : program.n_given] = rows
    unknown = {}
    for at, column in enumerate(program.columns[: program.n_given]):
        if column.kind != "numeric":
            unknown[at] = rows[:, at] >= len(column.levels)
            if program.takes_unseen_for_missing or column.kind == "ordinal":
                matrix[unknown[at], at] = np.nan
    matrix[:, [at for at, column in enumerate(program.columns) if column.left_out]] = 0.0
    for at in range(program.n_given, len(program.columns)):
        column = program.columns[at]
        matrix[:, at] = derived_cells(program.columns, at, matrix)
        if column.part == ROWS:
            matrix[unknown[column.sources[0]], at] = 0.0
    return matrix


def _plain(number: float) -> float | str:
    """A number for JSON; text if it is not finite."""
    return number if math.isfinite(number) else str(number)
