"""The values that a column is set to. In: a column, its cells, what was asked. Out: ``Axis``, drawn rows.

Callers: explain.partial_dependence, reporting.columns_part.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.core.random import mixed
from treewright.core.whole import is_whole, whole_number
from treewright.data.cells import shown
from treewright.data.matching import did_you_mean
from treewright.data.schema import Column, Schema
from treewright.exceptions import DataError, ParameterError
from treewright.tree.writing import gap_digits, written_level, written_number

GRID = 40
# Points of an axis of two: the answers are those of every pair.
GRID_OF_TWO = 20
MOST_LEVELS = 30


@dataclass(frozen=True, eq=False)
class Axis:
    """A column and the values that it is set to.

    Attributes
    ----------
    name : hashable
        Of the column.
    kind : {"numeric", "ordinal", "nominal"}
    position : int
        Of the column in the encoded table.
    values : tuple
        Numbers, ascending, or levels in the order of their codes.
    cells : float64[k]
        The same, encoded.
    deciles : float64[9]
        Of the rows' own values, of a numeric column: where answers rest on rows. Empty otherwise.
    """

    name: Hashable
    kind: str
    position: int
    values: tuple[Any, ...]
    cells: np.ndarray
    deciles: np.ndarray

    @property
    def is_numeric(self) -> bool:
        """Whether the values are numbers."""
        return self.kind == "numeric"

    @property
    def texts(self) -> tuple[str, ...]:
        """The values, ready to be read."""
        if not self.is_numeric:
            return tuple(map(written_level, self.values))
        digits = gap_digits(self.cells, least=4).tolist()
        return tuple(written_number(value, digits=n) for value, n in zip(self.values, digits, strict=True))


def axis_of(column: Column, position: int, cells: np.ndarray, grid: Any = None) -> Axis:
    """Return the values that a column is set to.

    Parameters
    ----------
    column : Column
    position : int
    cells : float64[n]
        Encoded.
    grid : int, sequence of values, or None
        As in ``partial_dependence``.

    Raises
    ------
    DataError
        No cell holds a value.
    ParameterError
        The grid is too small, or a value is no number or no level of the column.
    """
    name = shown(column.name)
    held = cells[np.isfinite(cells)]
    if column.kind == "numeric":
        if grid is None or is_whole(grid):
            n_points = GRID if grid is None else whole_number("grid", grid, 2)
            if not len(held):
                raise DataError(f"column {name} holds no finite number in these rows: give a grid, or other rows")
            values = spread_values(held, n_points)
        else:
            values = _numbers(grid, name)
        marks = np.quantile(held, np.arange(1, 10) / 10, method="inverted_cdf") if len(held) else np.empty(0)
        return Axis(column.name, "numeric", position, tuple(values.tolist()), values, marks)
    if grid is None or is_whole(grid):
        most = MOST_LEVELS if grid is None else whole_number("grid", grid, 2)
        codes = _commonest(held, len(column.levels), most)
        if not len(codes):
            raise DataError(f"column {name} holds no known level in these rows: give a grid, or other rows")
    else:
        codes = _codes(column, grid, name)
    levels = tuple(column.levels[code] for code in codes.tolist())
    return Axis(column.name, column.kind, position, levels, codes.astype(np.float64), np.empty(0))


def spread_values(held: np.ndarray, n_points: int) -> np.ndarray:
    """Return at most so many of the values, ascending: the quantiles, and where they repeat other values.

    Examples
    --------
    >>> spread_values(np.array([0.0] * 97 + [1.0, 2.0, 3.0]), 3).tolist()
    [0.0, 2.0, 3.0]
    """
    distinct = np.unique(held)
    if len(distinct) <= n_points:
        return distinct
    places = np.linspace(0.0, 1.0, n_points)
    chosen = np.unique(np.quantile(held, places, method="inverted_cdf"))
    if len(chosen) < n_points:
        rest = np.setdiff1d(distinct, chosen, assume_unique=True)
        inside = (np.arange(n_points - len(chosen)) + 0.5) / (n_points - len(chosen))
        chosen = np.union1d(chosen, rest[(inside * len(rest)).astype(np.int64)])
    return chosen


def drawn(rows: np.ndarray, most: int | None, seed: int, stream: int = 0) -> np.ndarray:
    """Return at most so many of the rows, ascending, drawn by a seed; all of them where they are no more.

    Parameters
    ----------
    rows : int64[n]
    most : int >= 0, or None
    seed : int >= 0
    stream : int >= 0
        Others draw others.

    Notes
    -----
    Rows with the lowest keys, which are those of ``core.random.mixed``: the same rows under every version of NumPy.
    """
    if most is None or len(rows) <= most:
        return rows
    with np.errstate(over="ignore"):
        key = np.uint64(mixed(seed % 2**64, stream)) + (rows.astype(np.uint64) + np.uint64(1)) * np.uint64(
            0x9E3779B97F4A7C15
        )
        key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        key ^= key >> np.uint64(31)
    return np.sort(rows[np.argsort(key, kind="stable")[:most]])


def position_of(schema: Schema, column: Any) -> int:
    """Return where a column stands, from its name or position.

    Raises
    ------
    ParameterError
        There is no such column.
    """
    try:
        return schema.positions[column]
    except (KeyError, TypeError):  # a position, an unknown name, or what can be no name
        pass
    if is_whole(column) and 0 <= int(column) < len(schema):
        return int(column)
    raise ParameterError(f"the model has no column {shown(column)}{did_you_mean(column, schema.names)}")


def _numbers(grid: Any, name: str) -> np.ndarray:
    """A grid of numbers, as given."""
    try:
        values = np.asarray(grid, np.float64)
    except (TypeError, ValueError):
        values = np.empty((0, 0))
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise ParameterError(f"grid of column {name}: give a whole number >= 2, or a sequence of finite numbers")
    return np.unique(values)


def _codes(column: Column, grid: Any, name: str) -> np.ndarray:
    """Codes of levels that are given."""
    if isinstance(grid, str) or not hasattr(grid, "__iter__"):
        raise ParameterError(f"grid of column {name}: give a sequence of its levels, or a whole number >= 2")
    levels = list(grid)
    unknown = [level for level in levels if level not in column.codes]
    if unknown or not levels:
        told = f"{shown(unknown[0])} is none of its levels" if unknown else "it is empty"
        raise ParameterError(f"grid of column {name}: {told}")
    return np.unique(np.array([column.codes[level] for level in levels], np.int64))


def _commonest(codes: np.ndarray, n_levels: int, most: int) -> np.ndarray:
    """int64: the levels that most cells hold, of equals the first, by their codes."""
    counts = np.bincount(codes.astype(np.int64), minlength=n_levels)[:n_levels]
    held = np.argsort(-counts, kind="stable")[:most]
    return np.sort(held[counts[held] > 0])
