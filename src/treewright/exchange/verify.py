"""Rows to verify an exported file with, and the run of the file on them. Out: its differences from the model.

Rows are at and next to every cut:

for each column: a pool of each tested cut with its two float neighbours, infinities, -0, every level, an unknown
level, a missing cell
- each of them once, with cells sampled from the other pools
- for each test of a tree: rows that reach it, at and next to its cut, of its levels, missing
- as many rows again, sampled from all pools
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from treewright.data.derived import ROWS, derived_cells
from treewright.exceptions import DataError, InputFileError, ParameterError
from treewright.exchange.code import EXTRAS, IDENTIFIER, Program, branches_of_codes, program_of
from treewright.exchange.engines import ENGINES, table_of
from treewright.exchange.formats import FORMATS, format_of
from treewright.exchange.structure import json_label, json_level
from treewright.predict.ensemble import (
    combined,
    leaf_table,
    predict_codes,
    predict_numbers,
    predict_probabilities,
    scores_of,
)
from treewright.predict.walks import contents_in_tree
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
        values = np.hstack(predict_probabilities(model, matrix)) if model.classes else predict_numbers(model, matrix)
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
    return contents_in_tree(model, model.trees[0], table.shares if model.classes else table.values, matrix, None)


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


_ULPS = 4.0  # by which another library's ``exp``, and probabilities computed from it, may differ
_ALIKE = {"postgresql": "postgres"}
_MOST_ROUNDING = 1e-6
_LARGEST = float(np.finfo(np.float64).max)
_PARTS = ("rows", "sums", "values", "answers")


@dataclass(frozen=True)
class Verdict:
    """The differences between a program and the model.

    Attributes
    ----------
    engine : str
    n_rows : int
    n_unequal : int
        Rows in which a sum differs.
    sum_ulps, ulps : float
        The largest difference of a sum, and of a probability or number, in units in the last place.
    n_other : int
        Rows that get another class, though its probability is lower.
    n_beyond : int
        Rows in which a sum or value differs by more than the tolerance: for sums the effect of another order of
        additions, if the model has no grid; for values a few units of ``exp`` more.
    """

    engine: str
    n_rows: int
    n_unequal: int
    sum_ulps: float
    ulps: float
    n_other: int
    n_beyond: int

    @property
    def is_equal(self) -> bool:
        """Whether all sums, values and classes are those of the model, within the tolerance."""
        return self.n_beyond == 0 and self.n_other == 0

    def __str__(self) -> str:
        sums = "sums are bit-identical"
        if self.n_unequal:
            why = ", which is allowed as the program adds in another order" if self.is_equal else ""
            sums = f"sums of {self.n_unequal:,} differ, by at most {self.sum_ulps:g} units in the last place{why}"
        values = f"values differ by at most {self.ulps:g} units in the last place"
        others = f"; {self.n_other:,} get another class" if self.n_other else ""
        passed = "passed" if self.is_equal else "FAILED"
        return f"{passed}: {self.engine}, {self.n_rows:,} rows: {sums}; {values}{others}"


def verify(path: Path, vectors: dict[str, Any], engine: str | None = None) -> Verdict:
    """Run an exported file on test vectors.

    Parameters
    ----------
    path : Path
    vectors : dict
        As ``vectors_of`` returns them.
    engine : str, optional
        The program that runs it (``exchange.engines.ENGINES``); by default the first one of the format of the file's
        ending.

    Raises
    ------
    ParameterError
        No engine runs such a file, or the vectors are of another format.
    MissingLibraryError
        The program is not installed.
    InputFileError
        The file does not compile or run; the message quotes the program.
    """
    if vectors.get("format") != FORMAT or vectors.get("version") != VERSION:
        raise ParameterError(f"the vectors are not of format {FORMAT} {VERSION}: write them again with export")
    if not path.is_file():
        raise InputFileError(f"{path}: no such file")
    fitting = _engines_for(path)
    engine = fitting[0] if engine is None else _ALIKE.get(engine, engine)
    if engine not in ENGINES:
        raise ParameterError(f"program {engine!r}: give one of {', '.join(ENGINES)}")
    if engine not in fitting:
        raise ParameterError(f"{path}: {engine} does not run such a file: choose {' or '.join(fitting)}")
    with tempfile.TemporaryDirectory() as folder:
        results = ENGINES[engine](path.resolve(), Path(folder), vectors)
    sums, values, codes = (table_of(vectors[name]) for name in _PARTS[1:])
    n_sums, n_values = sums.shape[1], values.shape[1]
    if results.shape != (len(sums), n_sums + n_values + codes.shape[1]):
        raise DataError(f"{path}: the output has the shape {results.shape}, not {len(sums)} rows of {n_sums} sums, "
                        f"{n_values} values and {codes.shape[1]} classes: are the vectors of this model?")  # fmt: skip
    computed_sums, computed, classes = np.split(results, [n_sums, n_sums + n_values], axis=1)
    of_sums, of_values = ulps_between(computed_sums, sums), ulps_between(computed, values)
    rounding = float(vectors.get("rounding", 0.0))
    is_beyond = (of_sums > 0) & ~(np.abs(computed_sums - sums) <= rounding)
    off = np.abs(computed - values) <= rounding * np.maximum(np.abs(values), 1.0) + _ULPS * np.spacing(np.abs(values))
    is_value_beyond = (of_values > _ULPS) & ~off
    return Verdict(
        engine,
        len(sums),
        int((of_sums > 0).any(axis=1).sum()),
        float(of_sums.max(initial=0.0)),
        float(of_values.max(initial=0.0)),
        _others(classes, codes, values, [len(own) for own in vectors["classes"]], rounding),
        int((is_beyond.any(axis=1) | is_value_beyond.any(axis=1)).sum()),
    )


def _engines_for(path: Path) -> tuple[str, ...]:
    """The programs that run a file, by its ending; the first line of an SQL file names its database."""
    ending = path.suffix.lower()
    meant = [each for each in FORMATS.values() if ending in each.endings]
    if len(meant) > 1:
        with path.open("rb") as file:
            head = file.read(200).decode("utf-8", "replace").lower()
        meant = [each for each in meant if f"for {each.name}" in head] or meant
    engines = tuple(dict.fromkeys(engine for each in meant or [format_of(path)] for engine in each.engines))
    if not engines:
        raise ParameterError(f"{path}: {meant[0].words} is not run by any program")
    if len(meant) > 1 and len(engines) > 1:
        raise ParameterError(f"{path}: the file does not name its program: choose {', '.join(engines)} (--with)")
    return engines


def ulps_between(computed: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Distances of numbers from others, in units in the last place of the latter; infinite if one is nan."""
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(computed - wanted) / np.spacing(np.maximum(np.abs(wanted), np.finfo(np.float64).tiny))
    # nan in place of a number is infinitely far; two equal infinities have distance 0.
    apart[np.isnan(apart)] = np.inf
    apart[(computed == wanted) | (np.isnan(computed) & np.isnan(wanted))] = 0.0
    return apart


def _others(computed: np.ndarray, codes: np.ndarray, values: np.ndarray, n_classes: list[int], rounding: float) -> int:
    """Number of rows with another class whose probability is lower by more than the last places."""
    other, begin, rows = np.zeros(len(computed), bool), 0, np.arange(len(computed))
    for output, count in enumerate(n_classes):
        known = np.isin(computed[:, output], np.arange(count))
        own, wanted = (np.where(known, each[:, output], 0).astype(int) for each in (computed, codes))
        shares = values[:, begin : begin + count]
        begin += count
        one, best = shares[rows, own], shares[rows, wanted]
        is_tie = (ulps_between(one, best) <= 2 * _ULPS) | (np.abs(one - best) <= 2 * rounding)
        other |= ~known | ((own != wanted) & ~is_tie)
    return int(other.sum())


def read_vectors(path: Path) -> dict[str, Any]:
    """The test vectors in a file of JSON.

    Raises ``InputFileError``: it cannot be read, or does not hold vectors.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputFileError(f"{path}: not test vectors ({error})") from None
    wrong = _wrong_of(found)
    if wrong:
        raise InputFileError(f"{path}: not test vectors: {wrong}")
    return dict(found)


def _wrong_of(found: Any) -> str:
    """The rule that a JSON value breaks as test vectors; empty if it breaks none."""
    lists = (*_PARTS, "columns", "classes")
    if not isinstance(found, dict) or not all(isinstance(found.get(key), list) for key in lists):
        return f"they must have lists of {', '.join(lists)}"
    if not all(isinstance(row, list) and all(_is_number(cell) for cell in row) for key in _PARTS for row in found[key]):
        return f"{', '.join(_PARTS)} must be lists of lists of numbers"
    columns = found["columns"]
    if not all(isinstance(own, list) for own in found["classes"]) or not all(
        isinstance(column, dict) and isinstance(column.get("levels"), list) and {"name", "kind"} <= set(column)
        for column in columns
    ):
        return "columns must have a name, a kind and levels, and classes must be lists of labels"
    if not found["rows"] or len({len(found[key]) for key in _PARTS}) > 1:
        return f"{', '.join(_PARTS)} must have the same length, at least 1"
    if any(len(row) != len(columns) for row in found["rows"]):
        return f"each row must have a cell for each of {len(columns)} columns"
    for at, column in enumerate(columns):
        if column["kind"] != "numeric":
            codes = {float(row[at]) for row in found["rows"]}
            if not all(math.isnan(code) or code in range(len(column["levels"]) + 1) for code in codes):
                return f"a cell of column {str(column['name'])[:40]!r} is not a code of its levels"
    widths = [{len(row) for row in found[key]} for key in _PARTS]
    if any(len(width) > 1 for width in widths) or widths[-1] != {len(found["classes"])}:
        return f"the rows of each of {', '.join(_PARTS)} must have one length, that of answers the number of outputs"
    for row in found["answers"]:
        if not all(code in range(len(labels)) for code, labels in zip(row, found["classes"], strict=True)):
            return f"answers must be codes of classes, not {row}"
    rounding = found.get("rounding")
    if isinstance(rounding, str) or not _is_number(rounding) or not 0 <= rounding <= _MOST_ROUNDING * _size_of(found):  # type: ignore[operator]
        return f"rounding must be a number from 0 to {_MOST_ROUNDING:g} of the largest sum"
    if not isinstance(found.get("name"), str) or not IDENTIFIER.fullmatch(found["name"]):
        return "the name of the functions (name) is missing or not an identifier"
    return ""


def _size_of(found: dict[str, Any]) -> float:
    """The largest sum or value, at least 1."""
    computed = (abs(float(cell)) for key in ("sums", "values") for row in found[key] for cell in row)
    return max([1.0, *(size for size in computed if math.isfinite(size))])


def _is_number(cell: object) -> bool:
    is_number = isinstance(cell, int | float) and not isinstance(cell, bool)
    return (is_number and -_LARGEST <= cell <= _LARGEST) or cell in ("nan", "inf", "-inf")  # type: ignore[operator]
