"""Columns made from other columns: row counts of levels, combinations of two columns, linear scores.

A test reads one column: "is a below b" needs a staircase of tests, and whether a level is rare cannot be tested at all.
With these columns each is one test. They come last in the schema of the model, after parts of dates; the model computes
them from their sources whenever it encodes a table: no table needs to have them.

    rows        of a nominal column: the weight at fit of the rows with the cell's level; 0 for an unseen level
    plus, minus, times, over
                of two numeric columns; a result that is not a number (such as a ratio to 0) is a missing value
    and         of two nominal columns: the pair of levels, of which "missing" may be one; a pair that no training row
                has is a missing value
    linear      of all columns of the table: numbers times slopes, and weights of levels (``boosting.linear``)

``Column.numbers`` holds what the computation needs in addition to the sources:

    rows        a number for each level
    and         ascending, for each level: the code of one level times (1 + levels of the other) plus that code; a
                missing cell has the code after the last
    linear      the intercept, then for each source: if numeric or ordinal, the lowest and the highest value that
                counts, the slope, and what a missing cell adds; if nominal, a weight for each level and for a missing
                cell
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from treewright.data.schema import Column, Schema

ROWS, LEVELS, LINEAR = "rows", "and", "linear"
_SIGNS = {"plus": "+", "minus": "-", "times": "*", "over": "/"}
_WORK: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "plus": np.add, "minus": np.subtract, "times": np.multiply, "over": np.divide,
}  # fmt: skip
DERIVED = (ROWS, *_SIGNS, LEVELS, LINEAR)
_MISSING = "missing"


def is_derived(column: Column) -> bool:
    """Whether a column is made from others and is not a part of a date."""
    return column.part in DERIVED


def rows_of_levels(schema: Schema, at: int, codes: np.ndarray, weights: np.ndarray | None) -> Column:
    """The derived column with the row count of each level of the nominal column at ``at``; codes are float[n]."""
    source = schema.columns[at]
    known = ~np.isnan(codes)
    held = np.bincount(
        codes[known].astype(np.int64), None if weights is None else weights[known], minlength=len(source.levels)
    )
    numbers = tuple(held[: len(source.levels)].astype(np.float64).tolist())
    return _rows(source, at, numbers)


def _rows(source: Column, at: int, numbers: tuple[float, ...]) -> Column:
    """The column of the row counts of levels; a cell is missing where that of the source is."""
    return Column(f"{source.name}.{ROWS}", "numeric", (), True, part=ROWS, sources=(at,), numbers=numbers)


def pairs_of(schema: Schema, columns: Sequence[int]) -> tuple[Column, ...]:
    """Sum, difference, product and ratio of every pair of the given numeric columns."""
    return tuple(
        _pair(schema.columns[one], schema.columns[other], word, one, other)
        for one, other in itertools.combinations(sorted(columns), 2)
        for word in _SIGNS
    )


def _pair(one: Column, other: Column, word: str, source: int, partner: int) -> Column:
    """The column of a pair; it may have missing cells, from a ratio to 0 or from either column."""
    return Column(f"{one.name} {_SIGNS[word]} {other.name}", "numeric", (), True, part=word, sources=(source, partner))


def level_pairs(schema: Schema, source: int, partner: int, matrix: np.ndarray) -> Column:
    """The derived column of the pairs of levels of two nominal columns, as the encoded training rows have them.

    The positions of the columns are ascending.
    """
    one, other = schema.columns[source], schema.columns[partner]
    places = np.unique(_places(one, other, matrix[:, source], matrix[:, partner]))
    return _level_pair(one, other, source, partner, tuple(places[places >= 0].astype(np.float64).tolist()))


def _places(one: Column, other: Column, source: np.ndarray, partner: np.ndarray) -> np.ndarray:
    """The number of each row's pair among all pairs of levels, int64[n]; -1 if both are missing, or one is unknown."""
    n_one, n_other = len(one.levels), len(other.levels)
    first = np.where(np.isnan(source), n_one, source).astype(np.int64)
    second = np.where(np.isnan(partner), n_other, partner).astype(np.int64)
    is_unknown = (source >= n_one) | (partner >= n_other) | (np.isnan(source) & np.isnan(partner))
    places: np.ndarray = np.where(is_unknown, -1, first * (n_other + 1) + second)
    return places


def _level_pair(one: Column, other: Column, source: int, partner: int, places: tuple[float, ...]) -> Column:
    """The column of pairs of levels; the name of a pair is made from both levels."""
    firsts, seconds = (*one.levels, _MISSING), (*other.levels, _MISSING)
    pairs = [divmod(int(place), len(seconds)) for place in places]
    levels = tuple(f"{firsts[first]} & {seconds[second]}" for first, second in pairs)
    if len(set(levels)) < len(levels):  # a level "missing", or one with "&" in it
        shown = [[*map(repr, own.levels), _MISSING] for own in (one, other)]
        levels = tuple(f"{shown[0][first]} & {shown[1][second]}" for first, second in pairs)
    return Column(
        f"{one.name} & {other.name}", "nominal", levels, True, "string", part=LEVELS, sources=(source, partner),
        numbers=places,
    )  # fmt: skip


def linear_score(name: Hashable, sources: Sequence[int], numbers: Sequence[float]) -> Column:
    """The column of a linear score; ``numbers`` as in the text at the top of this module."""
    return Column(name, "numeric", (), True, part=LINEAR, sources=tuple(sources), numbers=tuple(numbers))


def numbers_of_source(column: Any) -> int:
    """How many numbers a linear score has for a source, a column with a kind and levels."""
    return len(column.levels) + 1 if column.kind == "nominal" else 4


def by_source(numbers: Sequence[float], sources: Sequence[Any]) -> Iterator[tuple[Any, Sequence[float]]]:
    """Each source of a linear score with its own numbers, which begin after the intercept."""
    begin = 1
    for source in sources:
        end = begin + numbers_of_source(source)
        yield source, numbers[begin:end]
        begin = end


def with_derived(schema: Schema, made: Sequence[Column]) -> Schema:
    """The schema with derived columns after its own, without those whose name another column has."""
    names, kept = set(schema.names), []
    for column in made:
        if column.name not in names:
            names.add(column.name)
            kept.append(column)
    return Schema((*schema.columns, *kept), schema.named)


def derived_cells(columns: Sequence[Column], at: int, matrix: np.ndarray) -> np.ndarray:
    """The cells of the derived column at ``at``, float64[n]; ``matrix`` is encoded, at least of its sources."""
    column = columns[at]
    if column.part == LINEAR:
        return _linear_cells(column, columns, matrix)
    source = matrix[:, column.sources[0]]
    if column.part == ROWS:
        by_code = np.array([*column.numbers, 0.0, np.nan])  # the code of a level that fit never saw, a missing cell
        cells: np.ndarray = by_code[np.where(np.isnan(source), len(column.numbers) + 1, source).astype(np.int64)]
        return cells
    other = matrix[:, column.sources[1]]
    if column.part == LEVELS:
        places = _places(columns[column.sources[0]], columns[column.sources[1]], source, other)
        known = np.array(column.numbers)
        code = np.minimum(np.searchsorted(known, places), max(0, len(known) - 1))
        return np.where(known[code] == places, code, np.nan) if len(known) else np.full(len(places), np.nan)
    with np.errstate(all="ignore"):
        cells = _WORK[column.part](source.astype(np.float64), other.astype(np.float64))
    if column.part == "over":
        cells[other == 0] = np.nan
    return cells


def _linear_cells(column: Column, columns: Sequence[Column], matrix: np.ndarray) -> np.ndarray:
    """The cells of a linear score, added up source after source."""
    cells = np.full(len(matrix), column.numbers[0])
    sources = [columns[at] for at in column.sources]
    for position, (source, own) in zip(column.sources, by_source(column.numbers, sources), strict=True):
        held = matrix[:, position].astype(np.float64)
        is_missing = np.isnan(held)
        with np.errstate(all="ignore"):  # a file may hold any numbers
            if source.kind == "nominal":
                n_levels = len(source.levels)
                by_code = np.array([*own, 0.0])  # a level that fit never saw adds nothing
                cells += by_code[
                    np.where(is_missing, n_levels, np.where(held < n_levels, held, n_levels + 1)).astype(np.int64)
                ]
            else:
                low, high, slope, of_missing = own
                cells += np.where(is_missing, of_missing, (np.clip(held, low, high) - low) * slope)
    return cells


def with_derived_cells(schema: Schema, matrix: np.ndarray) -> np.ndarray:
    """The matrix of a table, float[n, p], with the cells of derived columns after its own: float64[n, len(schema)]."""
    n, p = matrix.shape
    extended = np.empty((n, len(schema)), np.float64, order="F")
    extended[:, :p] = matrix
    for at in range(p, len(schema)):
        extended[:, at] = derived_cells(schema.columns, at, extended)
    return extended


def given_to_sources(columns: Sequence[Column], proportions: np.ndarray) -> np.ndarray:
    """Proportions of columns, float64[p], with those of derived columns given to their sources.

    Each of two sources gets half; the sources of a linear score get as much as they move it.
    """
    n_given = sum(not is_derived(column) for column in columns)
    given = proportions[:n_given].copy()
    for column, proportion in zip(columns[n_given:], proportions[n_given:].tolist(), strict=True):
        moves = _moves_of(column, columns)
        total = sum(moves)
        for source, move in zip(column.sources, moves, strict=True):
            given[source] += proportion * (move / total)
    return given


def _moves_of(column: Column, columns: Sequence[Column]) -> list[float]:
    """How far each source moves a derived column, in proportion."""
    if column.part != LINEAR:
        return [1.0] * len(column.sources)
    moves = []
    for source, own in by_source(column.numbers, [columns[at] for at in column.sources]):
        if source.kind == "nominal":
            moves.append(max(own[:-1], default=0.0) - min(own[:-1], default=0.0))
        else:
            moves.append((own[1] - own[0]) * abs(own[2]))
    return moves if 0 < sum(moves) < np.inf else [1.0] * len(moves)


def is_sound(columns: Sequence[Column], n_given: int) -> bool:
    """Whether derived columns match their sources; the first ``n_given`` columns are not derived."""
    if any(len(column.sources) > 1 or column.numbers for column in columns[:n_given]):
        return False
    return all(is_derived(column) and _is_made(column, columns[:n_given]) for column in columns[n_given:])


def _is_made(column: Column, given: Sequence[Column]) -> bool:
    """Whether a derived column is the one that this module makes from its sources."""
    ascending = column.sources == tuple(sorted(set(column.sources)))
    if not ascending or not column.sources or not 0 <= min(column.sources) <= max(column.sources) < len(given):
        return False
    sources, numbers = [given[at] for at in column.sources], column.numbers
    if any(source.left_out for source in sources) or not all(map(np.isfinite, numbers)):
        return False
    kinds = {source.kind for source in sources}
    if column.part == LINEAR:
        fits = len(numbers) == 1 + sum(map(numbers_of_source, sources))
        fits = fits and all(own[0] <= own[1] for source, own in by_source(numbers, sources) if source.kind != "nominal")
        return fits and column == linear_score(column.name, column.sources, numbers)
    if column.part == ROWS:
        fits = len(sources) == 1 and kinds == {"nominal"} and len(numbers) == len(sources[0].levels)
        return fits and min(numbers, default=0.0) >= 0 and column == _rows(sources[0], column.sources[0], numbers)
    if len(sources) != 2 or kinds != {"nominal" if column.part == LEVELS else "numeric"}:
        return False
    (one, other), (first, second) = sources, column.sources
    if column.part != LEVELS:
        return column == _pair(one, other, column.part, first, second)
    n_places = (len(one.levels) + 1) * (len(other.levels) + 1) - 1
    fits = all(0 <= number < n_places and number == int(number) for number in numbers)
    return fits and numbers == tuple(sorted(set(numbers))) and column == _level_pair(one, other, first, second, numbers)
