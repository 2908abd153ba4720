"""Columns made of other columns: how many rows a level has, sums, differences, products and ratios of two columns.

A tree asks about one column at a time: "is a below b" takes it a staircase of tests, and that a level is rare it cannot
see at all. In these columns each is one test. They stand last, behind parts of dates, in the schema of the model, which
makes them from their sources wherever it encodes a table: no table needs to have them.

    rows        of a nominal column: what the rows of the cell's level weighed at fit, 0 of one that fit never saw
    plus, minus, times, over
                of two numeric columns; what is no number (a ratio to 0 among them) is a missing value
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from treewright.data.schema import Column, Schema

ROWS = "rows"
_SIGNS = {"plus": "+", "minus": "-", "times": "*", "over": "/"}
_WORK: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "plus": np.add, "minus": np.subtract, "times": np.multiply, "over": np.divide,
}  # fmt: skip
DERIVED = (ROWS, *_SIGNS)


def is_derived(column: Column) -> bool:
    """Whether a column is made of others, and no part of a date."""
    return column.part in DERIVED


def rows_of_levels(schema: Schema, at: int, codes: np.ndarray, weights: np.ndarray | None) -> Column:
    """The column that says how many rows each level of a nominal column has.

    Parameters
    ----------
    schema : Schema
    at : int
        Position of the nominal column.
    codes : float[n]
        Its cells, encoded.
    weights : float64[n] or None

    Examples
    --------
    >>> schema = Schema((Column("city", "nominal", ("Lima", "Oslo"), True),))
    >>> column = rows_of_levels(schema, 0, np.array([0.0, 1.0, 1.0, np.nan]), None)
    >>> column.name, column.numbers
    ('city.rows', (1.0, 2.0))
    """
    source = schema.columns[at]
    known = ~np.isnan(codes)
    held = np.bincount(
        codes[known].astype(np.int64), None if weights is None else weights[known], minlength=len(source.levels)
    )
    numbers = tuple(held[: len(source.levels)].astype(np.float64).tolist())
    return _rows(source, at, numbers)


def _rows(source: Column, at: int, numbers: tuple[float, ...]) -> Column:
    """The column of the rows of a level: a cell is missing where that of the source is."""
    return Column(f"{source.name}.{ROWS}", "numeric", (), True, part=ROWS, source=at, numbers=numbers)


def pairs_of(schema: Schema, columns: Sequence[int]) -> tuple[Column, ...]:
    """Sum, difference, product and ratio of every two of some numeric columns.

    Examples
    --------
    >>> schema = Schema((Column("a", "numeric"), Column("b", "numeric")))
    >>> [column.name for column in pairs_of(schema, [0, 1])]
    ['a + b', 'a - b', 'a * b', 'a / b']
    """
    return tuple(
        _pair(schema.columns[one], schema.columns[other], word, one, other)
        for one, other in itertools.combinations(sorted(columns), 2)
        for word in _SIGNS
    )


def _pair(one: Column, other: Column, word: str, source: int, beside: int) -> Column:
    """The column of a pair: it may have missing cells wherever a ratio or one of both has."""
    return Column(
        f"{one.name} {_SIGNS[word]} {other.name}", "numeric", (), True, part=word, source=source, other=beside
    )


def with_derived(schema: Schema, made: Sequence[Column]) -> Schema:
    """The schema with derived columns behind its own; those are left out whose name another column has."""
    names, kept = set(schema.names), []
    for column in made:
        if column.name not in names:
            names.add(column.name)
            kept.append(column)
    return Schema((*schema.columns, *kept), schema.named)


def derived_cells(column: Column, source: np.ndarray, other: np.ndarray | None) -> np.ndarray:
    """The cells of a derived column, float64[n].

    Parameters
    ----------
    column : Column
    source, other : float[n]
        The encoded cells that it is made of; only a pair has another.

    Examples
    --------
    >>> ratio = Column("a / b", "numeric", (), True, part="over", source=0, other=1)
    >>> derived_cells(ratio, np.array([3.0, 1.0]), np.array([2.0, 0.0]))
    array([1.5, nan])
    """
    if column.part == ROWS:
        by_code = np.array([*column.numbers, 0.0, np.nan])  # the code of a level that fit never saw, a missing cell
        cells: np.ndarray = by_code[np.where(np.isnan(source), len(column.numbers) + 1, source).astype(np.int64)]
        return cells
    with np.errstate(all="ignore"):
        cells = _WORK[column.part](source.astype(np.float64), np.asarray(other, np.float64))
    if column.part == "over":
        cells[np.asarray(other) == 0] = np.nan
    return cells


def with_derived_cells(schema: Schema, matrix: np.ndarray) -> np.ndarray:
    """The matrix of a table with the cells of derived columns behind its own.

    Parameters
    ----------
    schema : Schema
        With derived columns.
    matrix : float[n, p]
        Encoded, of the first p columns.

    Returns
    -------
    float64[n, len(schema)]
    """
    n, p = matrix.shape
    wider = np.empty((n, len(schema)), np.float64, order="F")
    wider[:, :p] = matrix
    for at in range(p, len(schema)):
        column = schema.columns[at]
        wider[:, at] = derived_cells(
            column, wider[:, column.source], wider[:, column.other] if column.other >= 0 else None
        )
    return wider


def given_to_sources(columns: Sequence[Column], shares: np.ndarray) -> np.ndarray:
    """Shares of columns, float64[p], with those of derived ones given to what they are made of, of two a half each.

    Examples
    --------
    >>> columns = (Column("a", "numeric"), Column("b", "numeric"))
    >>> columns = with_derived(Schema(columns), pairs_of(Schema(columns), [0, 1])[:1]).columns
    >>> given_to_sources(columns, np.array([0.5, 0.25, 0.25]))
    array([0.625, 0.375])
    """
    n_given = sum(not is_derived(column) for column in columns)
    given = shares[:n_given].copy()
    for column, share in zip(columns[n_given:], shares[n_given:].tolist(), strict=True):
        sources = [column.source, column.other] if column.other >= 0 else [column.source]
        for source in sources:
            given[source] += share / len(sources)
    return given


def is_sound(columns: Sequence[Column], n_given: int) -> bool:
    """Whether derived columns are what this file makes of their sources; ``n_given`` columns are no derived ones."""
    if any(column.other != -1 or column.numbers for column in columns[:n_given]):
        return False
    for column in columns[n_given:]:
        if not is_derived(column) or not 0 <= column.source < n_given or columns[column.source].left_out:
            return False
        source = columns[column.source]
        if column.part == ROWS:
            fits = source.kind == "nominal" and len(column.numbers) == len(source.levels)
            fits = fits and all(np.isfinite(number) and number >= 0 for number in column.numbers)
            if not fits or column != _rows(source, column.source, column.numbers):
                return False
            continue
        if not column.source < column.other < n_given or columns[column.other].left_out:
            return False
        other = columns[column.other]
        if source.kind != "numeric" or other.kind != "numeric":
            return False
        if column != _pair(source, other, column.part, column.source, column.other):
            return False
    return True
