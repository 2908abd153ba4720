"""Warnings about a table that can be fitted but looks wrong.

Before growth: a target with nearly as many classes as rows, the columns that encoding has left out
(``data.identifiers``), those that it has kept only because no other column varies, and text columns whose levels look
like dates or numbers (``data.identifiers``): text is treated as nominal, which is hardly ever meant for these.
After growth: whether the column that the model tests first or most equals the target. Only that column is checked, so
that a fit does not become slower.

Nominal columns with many levels. In: a dataset. Out: which columns these are, row counts of levels, new bins.

A subset of levels is chosen on the very rows that it then explains. If levels have few rows, the subset overfits: a
forest of 100 trees had an R2 of .27 on the polls of ``benchmarks/defaults``, and .43 with tests of runs of levels in
their own order and of the row count of a level (docs/decisions/0012). Boosting has another order: that of a statistic
of the target (``boosting.statistics``). ``grow.settings`` decides which columns these are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treewright.core import notices
from treewright.data.cells import shown
from treewright.data.identifiers import (
    AMOUNTS,
    CATEGORIES,
    DATES_AS_TEXT,
    LIKE,
    NUMBERS,
    Look,
    kept_identifiers,
    look_of,
)
from treewright.data.kinds import resolve
from treewright.data.schema import Column, Schema
from treewright.data.sparse import SparseMatrix
from treewright.data.target import Labels, Numbers, name_of_target

# Fewer levels do no harm, and may well be names: five waves of a survey by their dates, grades from "1" to "6".
_FEWEST_LEVELS = 25
_MOST_NAMED = 5


def warn_of_text(schema: Schema, matrix: np.ndarray, nominal: Any, ordinal: Any, numeric: Any) -> None:
    """Warn of columns that are not declared: text that looks like dates or numbers, and kept identifiers.

    ``matrix`` (float[n, p], encoded). ``nominal``, ``ordinal``, ``numeric``: what the user declared, as ``encode_fit``
    takes it. Warns: one of each sort.
    """
    likes: dict[Look, list[Column]] = {DATES_AS_TEXT: [], CATEGORIES: [], NUMBERS: [], AMOUNTS: []}
    declared = resolve(schema.given_names, nominal, ordinal, numeric)
    is_sparse = isinstance(matrix, SparseMatrix)
    own = {} if is_sparse else kept_identifiers(schema.columns, matrix, declared, named=schema.named)
    for at, column in enumerate(schema.columns):
        is_text = column.kind == "nominal" and column.family == "string" and len(column.levels) >= _FEWEST_LEVELS
        if is_text and at not in declared and (look := look_of(column.levels)) is not None:
            likes[look].append(column)
            own.pop(at, None)
    # Folds tell warnings apart by the line that warns, so each sort has one.
    if likes[DATES_AS_TEXT]:
        notices.warn(_as_names(likes[DATES_AS_TEXT], "dates as text", DATES_AS_TEXT))
    if likes[CATEGORIES]:
        notices.warn(_as_names(likes[CATEGORIES], "dates as categories", CATEGORIES))
    if likes[AMOUNTS]:
        notices.warn(_as_names(likes[AMOUNTS], AMOUNTS.what, AMOUNTS))
    if likes[NUMBERS]:
        notices.warn(
            f"{_named(likes[NUMBERS])}: numbers as text, treated as nominal: declare them numeric, or "
            "nominal if they are names"
        )
    if own:
        columns, it = ("columns", "them") if len(own) > 1 else ("column", "it")
        told = _listed([f"{shown(schema.columns[at].name)} ({reason})" for at, reason in own.items()])
        notices.warn(
            f"{columns} {told}: such values identify rows and carry no information about new ones, and no other column "
            f"varies: add columns to the table, or declare {it} nominal or numeric"
        )


def _as_names(columns: Sequence[Column], what: str, look: Look) -> str:
    return f"{_named(columns)}: {what}, treated as nominal: {look.remedy}, leave them out, or declare them nominal"


def warn_of_left_out(schema: Schema) -> None:
    """Warn of the columns that encoding has left out, and say how to keep them, or how to write their values."""
    gone = [column for column in schema.columns if column.left_out]
    if not gone:
        return
    plain = [column for column in gone if _look_told(column) is None]
    if plain:
        columns, are, it = _columns_are_it(plain)
        notices.warn(
            f"{columns} {_with_reasons(plain)} {are} left out: such values identify rows and carry no information "
            f"about new ones; to keep {it}, declare {it} nominal or numeric"
        )
    dates = [column for column in gone if _look_told(column) is DATES_AS_TEXT]
    if dates:
        notices.warn(_left_out_as(dates, DATES_AS_TEXT))
    amounts = [column for column in gone if _look_told(column) is AMOUNTS]
    if amounts:
        notices.warn(_left_out_as(amounts, AMOUNTS))


def _left_out_as(columns: Sequence[Column], look: Look) -> str:
    """What to do about columns whose texts look like something else."""
    word, are, it = _columns_are_it(columns)
    return f"{word} {_with_reasons(columns)} {are} left out: {look.remedy}; to keep {it}, declare {it} nominal"


def _columns_are_it(columns: Sequence[Column]) -> tuple[str, str, str]:
    return ("columns", "are", "them") if len(columns) > 1 else ("column", "is", "it")


def _with_reasons(columns: Sequence[Column]) -> str:
    return _listed([f"{shown(column.name)} ({column.left_out})" for column in columns])


def _look_told(column: Column) -> Look | None:
    """What the texts of a column that is left out look like, according to its reason."""
    return next((look for look in (DATES_AS_TEXT, AMOUNTS) if column.left_out.endswith(f"{LIKE}{look.what}")), None)


def _listed(texts: Sequence[str]) -> str:
    """The first of some texts, and how many more there are."""
    more = f" and {len(texts) - _MOST_NAMED} more" if len(texts) > _MOST_NAMED else ""
    return ", ".join(texts[:_MOST_NAMED]) + more


def _named(columns: Sequence[Column]) -> str:
    """The columns, each with the number of its levels."""
    told = _listed([f"{shown(column.name)} ({len(column.levels)} levels)" for column in columns])
    return f"column{'s' if len(columns) > 1 else ''} {told}"


# Fewer may be a small example.
_FEWEST_CLASSES = 25


def warn_of_many_classes(target: Labels | Numbers, cost: str = "") -> None:
    """Warn of a class target with at least half as many classes as rows.

    ``cost``: what makes so many classes slow in this algorithm.
    """
    if not isinstance(target, Labels):
        return
    n_rows, sizes = len(target.codes), [len(labels) for labels in target.classes]
    n_classes = max(sizes)
    if n_classes >= _FEWEST_CLASSES and 2 * n_classes >= n_rows:
        name = name_of_target(target.names, sizes.index(n_classes))
        notices.warn(
            f"{name} has {n_classes} classes in {n_rows} rows: an identifier as the class target? Nothing can be "
            f"learned about a class from one row{cost}; name another column, or use regression if these are numbers"
        )


# In a table of a few rows a column may equal the target by chance, or as an example.
_FEWEST_ROWS = 25
_FIRST_ROWS = 1000


def warn_of_odd_columns(schema: Schema, matrix: np.ndarray, target: Labels | Numbers, column: int) -> None:
    """Warn if every column is constant, or if one equals the target.

    ``matrix`` (float[n, p]). ``column``, the most informative one: that of a tree's root; -1 if no test was found.
    Warns: every column is constant though the target is not; that column equals the target.
    """
    if column < 0:
        if (target[0] != target[0][0]).any() and is_constant(matrix):
            notices.warn(f"every column is constant ({len(schema)} of them): the model predicts the same for every row")
        return
    named = schema.columns[column]
    if len(matrix) >= _FEWEST_ROWS and equals_target(named, matrix[:, column], target):
        notices.warn(
            f"column {shown(named.name)} equals {name_of_target(target.names)} in every row: was the target left in "
            "the table?"
        )


def is_constant(matrix: np.ndarray) -> bool:
    """Whether every column holds one value, or none."""
    if isinstance(matrix, SparseMatrix):
        return matrix.is_constant()
    first = matrix[0]
    return all(bool(((column == value) | (np.isnan(column) & np.isnan(value))).all())
               for column, value in zip(matrix.T, first, strict=True))  # fmt: skip


def equals_target(column: Column, cells: np.ndarray, target: Labels | Numbers) -> bool:
    """Whether a column holds the target (its first output): the same numbers, or the same labels.

    ``cells`` (float[n], encoded).
    """
    if isinstance(target, Numbers):
        # Codes are not numbers: an ordinal or nominal column is never the same as numbers.
        return column.kind == "numeric" and _are_equal(cells, target.values[:, 0], None)
    labels = target.classes[0]
    if column.kind != "numeric":
        codes_of = {level: code for code, level in enumerate(column.levels)}
        values = np.array([codes_of.get(label, -1) for label in labels.tolist()], np.float64)
    elif labels.dtype.kind in "biuf":
        values = labels.astype(np.float64)
    else:
        return False
    return _are_equal(cells, target.codes[:, 0], values)


def _are_equal(cells: np.ndarray, target: np.ndarray, values: np.ndarray | None) -> bool:
    """Compare the first rows, and the rest only if these are equal."""
    for rows in (slice(0, _FIRST_ROWS), slice(_FIRST_ROWS, None)):
        expected = target[rows] if values is None else values.take(target[rows])
        if not np.array_equal(cells[rows], expected):
            return False
    return True
