"""SQL dialects of DuckDB, SQLite and PostgreSQL, each a ``Database``.

Their differences decide whether sums are exact: the literal of a float64 that is read back exactly, missing values,
errors of arithmetic, the depth of their parsers, and how to raise an error within a query.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

_CASES = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


@dataclass(frozen=True)
class Database:
    """One database.

    Attributes
    ----------
    name : str
    double : str
        Its type of float64.
    most_levels : int
        The depth limit of nested ``CASE``: the parser of SQLite ends at about 20, DuckDB at 1,000, PostgreSQL at 2,000.
    most_bytes : int, or None
        Of an identifier; PostgreSQL silently cuts longer ones off.
    folds : bool
        Whether names of columns that differ only in the case of A to Z are one name.
    number, text : callable
        The literal of a float64, of a string.
    truths : (tuple of str, tuple of str)
        The literals of false and of true in ``cells["truth"]``.
    answers : (str, str)
        The literals of false and true as predictions.
    cells : dict
        How a cell is read as a "number", a "text" or a "truth", from its expression; missing becomes NULL.
    refused : callable
        From the literal of a message and an expression to an expression that ends the query with both as the error.
    exp : callable
    plus, minus, times, over : callable
        Of two names: IEEE arithmetic; nan becomes NULL.
    least, greatest : str
    fence : (str, str)
        Text that keeps a step of a query from being copied into later ones: after AS, and at its end.
    is_lateral : bool
        Whether the steps are computed row by row, so that a condition on the view reads only the rows it needs.
    """

    name: str
    double: str
    most_levels: int
    most_bytes: int | None
    folds: bool
    number: Callable[[float], str]
    text: Callable[[str], str]
    truths: tuple[tuple[str, ...], tuple[str, ...]]
    answers: tuple[str, str]
    cells: dict[str, Callable[[str], str]]
    refused: Callable[[str, str], str]
    exp: Callable[[str], str]
    plus: Callable[[str, str], str]
    minus: Callable[[str, str], str]
    times: Callable[[str, str], str]
    over: Callable[[str, str], str]
    least: str
    greatest: str
    fence: tuple[str, str]
    is_lateral: bool

    def folded(self, name: str) -> str:
        """A name in the form that the database compares."""
        return name.translate(_CASES) if self.folds else name


def identifier(name: str) -> str:
    """A quoted name."""
    return '"' + name.replace('"', '""') + '"'


def _plain_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


# DuckDB: a literal without exponent is a decimal number; one with it is read as the nearest float64.
def _duckdb_number(value: float) -> str:
    if math.isinf(value):
        return "CAST('inf' AS DOUBLE)" if value > 0 else "CAST('-inf' AS DOUBLE)"
    text = repr(float(value))
    return text if "e" in text else f"{text}e0"


def _no_nan(a: str) -> str:
    # In DuckDB and PostgreSQL nan equals nan and is greater than all other numbers.
    return f"NULLIF({a}, 'NaN')"


DUCKDB = Database(
    name="duckdb",
    double="DOUBLE",
    most_levels=100,
    most_bytes=None,
    folds=True,
    number=_duckdb_number,
    text=_plain_text,
    truths=(("'false'", "'0'"), ("'true'", "'1'")),
    answers=("FALSE", "TRUE"),
    cells={
        "number": lambda cell: _no_nan(f"CAST({cell} AS DOUBLE)"),
        "text": lambda cell: f'CAST({cell} AS VARCHAR) COLLATE "C"',
        "truth": lambda cell: f"CAST({cell} AS VARCHAR)",
    },
    refused=lambda said, cell: f"error({said} || COALESCE(CAST({cell} AS VARCHAR), 'NULL'))",
    exp=lambda a: f"exp({a})",
    plus=lambda a, b: _no_nan(f"{a} + {b}"),
    minus=lambda a, b: _no_nan(f"{a} - {b}"),
    times=lambda a, b: _no_nan(f"{a} * {b}"),
    over=lambda a, b: _no_nan(f"{a} / NULLIF({b}, 0)"),
    least="LEAST",
    greatest="GREATEST",
    fence=("", ""),
    is_lateral=False,
)


# SQLite reads some literals of 16 and 17 digits as a neighbour (3.40: 541 of 200,000), so that a number is written as a
# whole number and powers of two, all of which it reads and divides exactly; only short decimals that are exact stay.
def _sqlite_number(value: float) -> str:
    if math.isinf(value):
        return "9e999" if value > 0 else "-9e999"
    if value == 0 or (len(Decimal(value).normalize().as_tuple().digits) <= 15 and 1e-6 < abs(value) < 1e15):
        return repr(float(value))
    sign, (whole, below) = "-" if value < 0 else "", abs(value).as_integer_ratio()
    zeros = max(0, whole.bit_length() - 53)
    text, halvings = f"{whole >> zeros}.0", below.bit_length() - 1
    for times, word in ((halvings, "/"), (zeros, "*")):
        for begin in range(0, times, 62):
            text += f"{word}{1 << min(62, times - begin)}.0"
    return f"({sign}{text})"


def _sqlite_refused(said: str, cell: str) -> str:
    # Outside triggers only a function with an invalid argument raises an error: here an invalid JSON path.
    return f"json_extract('{{}}', {said} || COALESCE({cell}, 'NULL'))"


def _sqlite_cell(types: str, read: str) -> Callable[[str], str]:
    # In SQLite each cell has its own type, independent of the type of its column.
    def asked(cell: str) -> str:
        said = _plain_text(f"{cell} holds a cell of another type than the model expects: ")
        return (
            f"CASE WHEN typeof({cell}) IN ({types}) THEN {read.format(cell)} WHEN {cell} IS NOT NULL THEN "
            f"{_sqlite_refused(said, f'quote({cell})')} END"
        )

    return asked


SQLITE = Database(
    name="sqlite",
    double="REAL",
    most_levels=12,
    most_bytes=None,
    folds=True,
    number=_sqlite_number,
    text=_plain_text,
    truths=(("0",), ("1",)),
    answers=("0", "1"),
    cells={
        "number": _sqlite_cell("'integer', 'real'", "CAST({} AS REAL)"),
        "text": _sqlite_cell("'text'", "+{}"),
        "truth": _sqlite_cell("'integer', 'real'", "+{}"),
    },
    refused=_sqlite_refused,
    exp=lambda a: f"exp({a})",
    # nan is NULL in SQLite.
    plus=lambda a, b: f"({a} + {b})",
    minus=lambda a, b: f"({a} - {b})",
    times=lambda a, b: f"({a} * {b})",
    over=lambda a, b: f"({a} / NULLIF({b}, 0))",
    least="min",
    greatest="max",
    fence=("MATERIALIZED ", ""),
    is_lateral=False,
)


def _postgres_number(value: float) -> str:
    return f"float8 '{float(value)!r}'" if math.isfinite(value) else f"float8 '{'-' if value < 0 else ''}Infinity'"


def _postgres_text(text: str) -> str:
    # With a backslash the meaning of a plain literal is a setting of the session.
    return ("E" if "\\" in text else "") + _plain_text(text).replace("\\", "\\\\")


# PostgreSQL ends a query with an error if finite numbers give infinity, or 0 by underflow; IEEE arithmetic goes on.
# Each of these functions tests for it first, on numbers scaled by powers of two so that nothing is lost.
_FAR, _NEAR = f"float8 '{2.0**512!r}'", f"float8 '{2.0**-512!r}'"
_END = f"float8 '{2.0**-51!r}'"  # half of the least number, moved by 2 ** 1024
_SMALL = f"float8 '{2.0**-60!r}'"  # below it no ratio is beyond float64
_TINY = f"float8 '{2.0**-900!r}'"
_ROOT = f"float8 '{2.0**-540!r}'"  # the product of two below it is 0
_HALF_OF_MOST = "float8 '8.988465674311579e+307'"


def _signed(a: str, b: str, size: str) -> str:
    return f"CASE WHEN ({a} < 0) = ({b} < 0) THEN float8 '{size}' ELSE float8 '-{size}' END"


def _half(a: str) -> str:
    return f"CASE WHEN abs({a}) < {_TINY} THEN 0 ELSE {a} / 2 END"


def _postgres_sum(sign: str) -> Callable[[str, str], str]:
    def summed(a: str, b: str) -> str:
        halves = f"({_half(a)} {sign} {_half(b)})"
        return _no_nan(
            f"CASE WHEN abs({a}) < float8 '1e300' AND abs({b}) < float8 '1e300' THEN {a} {sign} {b} "
            f"WHEN abs({a}) = float8 'Infinity' OR abs({b}) = float8 'Infinity' THEN {a} {sign} {b} "
            f"WHEN abs{halves} > {_HALF_OF_MOST} THEN CASE WHEN {halves} > 0 THEN float8 'Infinity' "
            f"ELSE float8 '-Infinity' END ELSE {a} {sign} {b} END"
        )

    return summed


def _postgres_times(a: str, b: str) -> str:
    inside = f"{a} <> 0 AND {b} <> 0 AND abs({a}) < float8 'Infinity' AND abs({b}) < float8 'Infinity'"
    return _no_nan(
        f"CASE WHEN {inside} AND abs({a}) >= 1 AND abs({b}) >= 1 AND abs({a} * {_NEAR} * ({b} * {_NEAR})) >= 1 "
        f"THEN {_signed(a, b, 'Infinity')} WHEN {inside} AND abs({a}) < 1 AND abs({b}) < 1 "
        f"AND CASE WHEN abs({a}) < {_ROOT} AND abs({b}) < {_ROOT} THEN TRUE "
        f"ELSE abs({a} * {_FAR} * ({b} * {_FAR})) <= {_END} END THEN {_signed(a, b, '0')} ELSE {a} * {b} END"
    )


def _postgres_over(a: str, b: str) -> str:
    inside = f"{a} <> 0 AND abs({a}) < float8 'Infinity' AND abs({b}) < float8 'Infinity'"
    return _no_nan(
        f"CASE WHEN {b} = 0 THEN NULL WHEN {inside} AND abs({a}) > {_SMALL} AND abs({b}) < 1 "
        f"AND abs({a}) * {_NEAR} >= abs({b}) * {_FAR} THEN {_signed(a, b, 'Infinity')} "
        f"WHEN {inside} AND abs({a}) < 1 AND abs({b}) >= 1 AND abs({a}) * {_FAR} <= abs({b}) * {_NEAR} * {_END} "
        f"THEN {_signed(a, b, '0')} ELSE {a} / {b} END"
    )


def _postgres_exp(a: str) -> str:
    # PostgreSQL also refuses subnormal results: there the root is squared.
    return f"CASE WHEN {a} < -745.13 THEN 0 WHEN {a} < -700 THEN exp({a} / 2) * exp({a} / 2) ELSE exp({a}) END"


POSTGRESQL = Database(
    name="postgresql",
    double="double precision",
    most_levels=100,
    most_bytes=63,
    folds=False,
    number=_postgres_number,
    text=_postgres_text,
    truths=(("'false'", "'0'"), ("'true'", "'1'")),
    answers=("FALSE", "TRUE"),
    cells={
        "number": lambda cell: _no_nan(f"CAST({cell} AS double precision)"),
        "text": lambda cell: f'CAST({cell} AS text) COLLATE "C"',
        "truth": lambda cell: f"CAST({cell} AS text)",
    },
    # The error of an impossible cast quotes the text it could not read.
    refused=lambda said, cell: f"CAST({said} || COALESCE(CAST({cell} AS text), 'NULL') AS integer)",
    exp=_postgres_exp,
    plus=_postgres_sum("+"),
    minus=_postgres_sum("-"),
    times=_postgres_times,
    over=_postgres_over,
    least="LEAST",
    greatest="GREATEST",
    fence=("", " OFFSET 0"),
    is_lateral=True,
)

DATABASES = {each.name: each for each in (DUCKDB, SQLITE, POSTGRESQL)}
