"""Rows that prove source code. In: a model. Out: rows on and beside every cut, and what the model says of them.

for each column: a pool of each cut asked with its two float neighbours, infinities, -0, every level, an unknown
level, a missing cell
each of them once, beside cells drawn from the other pools; and as many rows drawn from all pools
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treewright.data.derived import ROWS, derived_cells
from treewright.export.program import EXTRAS, Program, program_of
from treewright.export.structure import json_label, json_level
from treewright.model.data import ModelData
from treewright.model.isolation import scores_of_lengths
from treewright.predict.ensemble import combined, scores_of
from treewright.predict.values import leaf_table, predict_codes, predict_numbers, predict_shares
from treewright.predict.walks import answers_of_tree
from treewright.tree.arrays import INTERVALS, THRESHOLD

FORMAT, VERSION = "treewright-vectors", 2
_MOST_CUTS, _MOST_CELLS = 64, 2_000_000  # of a column, evenly spread; of all rows, about
_MOST_LEVELS = 200
_DRAWN = 300


def vectors_of(model: ModelData, name: str = "model") -> dict[str, Any]:
    """Rows for source code of a model, with the sums and values that it has to give.

    Returns
    -------
    dict
        ``format``, ``version``, ``name`` (what functions are called by), ``columns`` (name, kind and levels of each),
        ``classes`` (labels per output), ``rows``, ``sums``, ``values`` and ``answers`` (codes of classes, nothing for
        numbers): lists of numbers; what is no number is the text "nan", "inf" or "-inf". A row holds codes of levels;
        the code behind the last is a level that the model does not know.

    Raises
    ------
    ParameterError
        As ``program_of``.

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
    n_edges = sum(map(len, pools))
    rng, rows = np.random.default_rng(0), np.empty((n_edges + _DRAWN, program.n_given))
    begin = 0
    for at, pool in enumerate(pools):
        rows[:, at] = rng.choice(pool, len(rows))
        rows[begin : begin + len(pool), at] = pool
        begin += len(pool)
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
        "answers": codes.tolist(),
        "rows": [list(map(_plain, row)) for row in rows.tolist()],
        "sums": [list(map(_plain, row)) for row in sums.tolist()],
        "values": [list(map(_plain, row)) for row in values.tolist()],
    }  # fmt: skip


def _sums(model: ModelData, matrix: np.ndarray) -> np.ndarray:
    """What the trees add up to: float64[n, n_sums]."""
    if model.has_scores:
        return scores_of(model, matrix)
    if not model.is_single_tree:
        return combined(model, matrix)
    table = leaf_table(model)
    return answers_of_tree(model, model.trees[0], table.shares if model.classes else table.values, matrix, None)


def _pool(program: Program, at: int) -> list[float]:
    """What the cells of a column are drawn from."""
    column, tables = program.columns[at], program.tables
    if column.kind == "numeric":
        asked = np.flatnonzero(tables.feature == at)
        cuts = [tables.threshold[asked[tables.kind[asked] == THRESHOLD]]]
        for node in asked[tables.kind[asked] == INTERVALS].tolist():
            begin = int(tables.level_set[node])
            cuts.append(tables.cuts[begin : begin + int(tables.n_branches[node]) - 1])
        finite = np.unique(np.concatenate(cuts))
        finite = finite[np.isfinite(finite)]
        # Of a wide table fewer: each is a row of all columns.
        most = min(_MOST_CUTS, max(1, _MOST_CELLS // (3 * program.n_given**2)))
        if len(finite) > most:
            finite = finite[np.linspace(0, len(finite) - 1, most).round().astype(np.int64)]
        beside = [
            cell
            for cut in finite.tolist()
            for cell in (cut, math.nextafter(cut, math.inf), math.nextafter(cut, -math.inf))
        ]
        pool = [*beside, math.inf, -math.inf, -0.0, 1e308, -1e308]
    else:
        pool = list(map(float, range(min(len(column.levels), _MOST_LEVELS))))
        pool += [] if program.refuses_unseen else [float(len(column.levels))]
    return pool if program.refuses_missing else [*pool, math.nan]


def _as_trees_take_them(program: Program, rows: np.ndarray) -> np.ndarray:
    """Rows with unknown levels as the model takes them, and with the columns that it makes."""
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
    """A number as JSON has it."""
    return number if math.isfinite(number) else str(number)
