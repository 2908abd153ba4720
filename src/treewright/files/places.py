"""Places that hold rows: their passes over the rows of a source, and the bins.

The passes are the same everywhere: over targets and weights, then over the columns, some at a time, and over those of
many values once or twice more; at the end every cell becomes a bin, and the place is a part for boosting
(``boosting.distributed``). The results of places are joined (``Rows.join``, ``Pass.join``), so their number makes no
difference.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import polars as pl

from treewright.boosting.distributed import Part
from treewright.boosting.losses import class_weights
from treewright.core import threads
from treewright.data.bin_rows import bin_rows
from treewright.data.bins import Bins, ColumnSummary, Gathered, checked_max_bins, summary_of, whole_weights_among
from treewright.data.cells import Cells
from treewright.data.dataset import GatheredRows, NotBorrowedError, claims
from treewright.data.dates import DATES
from treewright.data.encoder import encode
from treewright.data.identifiers import FEWEST, reason_for
from treewright.data.kinds import Declared, Nominal, encode_cells
from treewright.data.memory import StoredArrays, check_fits
from treewright.data.row_content import hash_content
from treewright.data.schema import Column, Schema
from treewright.data.table import read_table
from treewright.data.target import encode_labels, encode_numbers, recode
from treewright.exceptions import DataError, InputFileError, ParameterError
from treewright.files.sources import Source

_MOST_LEVELS = 1 << 20
_MANY = 2**62  # distinct values: too many to be counted
_MANY_LABELS = 64  # series of labels that are collected before they are joined


class DatasetSettings(NamedTuple):
    """The options of a dataset, as the user gave them."""

    target: str | None
    task: str | None
    weight: str | None
    nominal: Nominal | None
    ordinal: Mapping[Hashable, Sequence[Hashable]] | None
    numeric: Sequence[Hashable] | None
    leave_out: tuple[str, ...]
    skip_missing_target: bool
    max_bins: int

    @classmethod
    def of(
        cls,
        target: str | None,
        *,
        task: str | None = None,
        weight: str | None = None,
        nominal: Any = None,
        ordinal: Any = None,
        numeric: Any = None,
        leave_out: Sequence[str] = (),
        skip_missing_target: bool = False,
        max_bins: int = 255,
    ) -> DatasetSettings:
        """The options, checked as far as possible before the rows are read."""
        if task not in (None, "classification", "regression"):
            raise ParameterError(f"task={task!r}: give 'classification' or 'regression'")
        if target is None and task is not None:
            raise ParameterError(f"task={task!r} without a target: name its column (target=...), or leave task out")
        return cls(
            target, task, weight, nominal, ordinal, numeric, tuple(leave_out), skip_missing_target,
            checked_max_bins(max_bins),
        )  # fmt: skip


@dataclass
class Rows:
    """Facts about the rows from the pass over targets and weights; ``task`` is empty if there is no target."""

    task: str
    n: int = 0  # rows of a weight above 0
    n_given: int = 0
    classes: tuple[np.ndarray, ...] = ()
    largest: float = 0.0
    are_whole: bool = True
    is_weighted: bool = False
    sum_of_weights: float = 0.0
    of_places: tuple[int, ...] = ()  # rows of each place
    labels: list[pl.Series] = field(default_factory=list)  # those found so far; at the end they become ``classes``

    def add(self, kept: pl.DataFrame, settings: DatasetSettings) -> None:
        """Add a block of rows."""
        weights = _weights_of(kept, settings)
        self.n_given += kept.height
        self.n += kept.height if weights is None else int(np.count_nonzero(weights))
        if self.task == "classification":
            self.labels.append(kept.get_column(str(settings.target)).unique())
            if len(self.labels) > _MANY_LABELS:
                self.labels = [pl.concat(self.labels).unique()]
        elif self.task:
            encode_numbers(kept.get_column(str(settings.target)))
        if weights is not None:
            self.largest = max(self.largest, float(weights.max()))
            self.are_whole = self.are_whole and bool((weights == np.rint(weights)).all())
            self.is_weighted = self.is_weighted or bool((weights[weights > 0] != 1.0).any())
            self.sum_of_weights += float(weights.sum())

    def join(self, other: Rows) -> None:
        """Add the facts of another place."""
        self.n, self.n_given = self.n + other.n, self.n_given + other.n_given
        self.largest = max(self.largest, other.largest)
        self.are_whole, self.is_weighted = self.are_whole and other.are_whole, self.is_weighted or other.is_weighted
        self.sum_of_weights += other.sum_of_weights
        self.labels += other.labels

    def settle(self) -> None:
        """Turn the labels into classes."""
        if self.labels:
            self.classes, self.labels = encode_labels(pl.concat(self.labels).unique()).classes, []

    def target_of(self, frame: pl.DataFrame, settings: DatasetSettings) -> np.ndarray:
        """The target as codes, int32[m], or numbers, float64[m]; float64[0] if there is no target."""
        if settings.target is None:
            return np.empty(0)
        cells = frame.get_column(settings.target)
        if self.task == "classification":
            return recode(encode_labels(cells), self.classes)[:, 0]
        return encode_numbers(cells).values[:, 0]

    def whole_weights_of(self, weights: np.ndarray | None) -> np.ndarray:
        """The weights as whole numbers, int64[m]; or int64[0]."""
        if weights is None:
            return np.empty(0, np.int64)
        return whole_weights_among(weights, self.largest, self.n, are_whole=self.are_whole)


def _kept(frame: pl.DataFrame, settings: DatasetSettings) -> pl.DataFrame:
    """The rows that have a target, if the dataset has one."""
    if settings.target is None:
        return frame
    target = frame.get_column(settings.target)
    has_target = target.is_not_null()
    if target.dtype.is_float():
        has_target &= target.is_not_nan().fill_null(value=False)
    if not has_target.all():
        if not settings.skip_missing_target:
            raise DataError(
                f"target {settings.target!r} is missing in some rows: remove these rows, or leave them out with "
                "skip_missing_target=True"
            )
        frame = frame.filter(has_target)
    return frame


def _weights_of(frame: pl.DataFrame, settings: DatasetSettings) -> Any:
    """The weights as float64[m], or None."""
    if settings.weight is None:
        return None
    weights = frame.get_column(settings.weight)
    if not weights.dtype.is_numeric() and weights.dtype != pl.Boolean:
        raise DataError(f"weight column {settings.weight!r} holds {weights.dtype}, not numbers")
    found = weights.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    if not (np.isfinite(found) & (found >= 0)).all():
        raise DataError(
            f"weight column {settings.weight!r} has cells that are not numbers >= 0: fix them, or leave the rows out"
        )
    return found


@dataclass
class Pass:
    """One column during its pass: numbers as they are, anything else by its distinct values."""

    name: str
    declared: Declared
    label: str
    cells: Cells | None = None  # of a block with values, for the type
    missing: bool = False
    n_present: int = 0
    are_whole: bool = True
    weights: dict[Hashable, int] = field(default_factory=dict)
    gathered: Gathered = field(default_factory=Gathered)
    # For each block its place, and its first and last number if the numbers ascend by 1 or more; else nan.
    spans: list[tuple[tuple[int, ...], float, float]] = field(default_factory=list)
    n_values: int = 0  # distinct values, after all rows

    def add(self, cells: Cells, weights: np.ndarray, place: tuple[int, ...]) -> None:
        """Add a block of rows, with whole weights or none; ``place`` is its position among all blocks."""
        is_missing = cells.missing()
        n_present = int(np.count_nonzero(~is_missing))
        self.missing |= n_present < len(is_missing)
        self.n_present += n_present
        if not n_present and self.cells is not None:
            self.spans += [(place, np.nan, np.nan)] if self.spans else []
            return
        if self.cells is None or not self._held():
            self.cells = cells
        if cells.is_number and not cells.category and self.declared.kind in (None, "numeric"):
            self._add_numbers(cells.values, weights, place)
            return
        codes, distinct = cells.coded()
        held = codes >= 0
        counts = np.bincount(codes[held], weights[held] if len(weights) else None, len(distinct)).astype(np.int64)
        is_held = np.bincount(codes[held], minlength=len(distinct)) > 0
        for value, count, is_there in zip(distinct, counts.tolist(), is_held.tolist(), strict=False):
            if is_there:
                self.weights[value] = self.weights.get(value, 0) + count
        self._refuse_too_many()

    def join(self, other: Pass) -> None:
        """Add the result of another place for the same pass."""
        if other.cells is not None:
            if self.cells is None or not self._held():
                self.cells = other.cells
            elif other.n_present and other.cells.family != self.cells.family:
                raise DataError(
                    f"{self.label} holds {self.cells.family} cells in one place and {other.cells.family} cells in "
                    "another: write it with one type"
                )
        self.missing |= other.missing
        self.n_present += other.n_present
        self.are_whole = self.are_whole and other.are_whole
        for value, weight in other.weights.items():
            self.weights[value] = self.weights.get(value, 0) + weight
        self._refuse_too_many()
        self.gathered.join(other.gathered)
        self.spans += other.spans

    def _refuse_too_many(self) -> None:
        if len(self.weights) > _MOST_LEVELS:
            raise DataError(
                f"{self.label} holds more than {_MOST_LEVELS:,} different values: leave it out "
                f"(leave_out=[{self.name!r}])"
            )

    def _held(self) -> bool:
        return bool(self.weights) or self.n_present > 0

    def _add_numbers(self, values: np.ndarray, weights: np.ndarray, place: tuple[int, ...]) -> None:
        self.gathered.add(values, weights)
        present = values[~np.isnan(values)]
        is_whole = bool((present == np.floor(present)).all())
        self.are_whole = self.are_whole and is_whole
        counts_up = is_whole and len(present) == len(values) > 0 and bool((np.diff(values) >= 1).all())
        self.spans.append((place, float(values[0]), float(values[-1])) if counts_up else (place, np.nan, np.nan))

    def add_again(self, cells: Cells, weights: np.ndarray) -> None:
        """Add a block in a further pass.

        The numbers are sorted, so that the cells of the summary are visited in order: 7 ns a number, instead of 20 with
        cells that have left the caches.
        """
        self.gathered.add(cells.values if len(weights) else np.sort(cells.values), weights)

    @property
    def is_gathered(self) -> bool:
        """Whether the numbers themselves were summarised."""
        return bool(self.spans)

    def distinct(self) -> Cells:
        """Cells that determine the column's kind: each distinct value once, or one number for all."""
        like = self.cells
        if like is None:
            return Cells("missing", np.array([np.nan]))
        if self.is_gathered:
            held = [] if not self.n_present else [0.0 if self.are_whole else 0.5]
            values = np.array([*held, *([np.nan] if self.missing else [])])
            return Cells(like.family, values, whole=like.whole, zone=like.zone)
        held_values: tuple[Hashable, ...] = tuple(self.weights)
        if like.family in DATES:  # declared nominal
            like = Cells("string", like.values[:0], category=True)
            like = replace(like, values=np.empty(0, np.int64))
        codes = np.arange(len(held_values) + self.missing)
        codes[len(held_values) :] = -1
        if like.ordered:
            position = {value: at for at, value in enumerate(like.distinct)}
            codes[: len(held_values)] = [position[value] for value in held_values]
            held_values = like.distinct
        elif like.is_number:
            numbers = np.array([*map(float, cast("Any", held_values)), *([np.nan] if self.missing else [])])
            return Cells(like.family, numbers, whole=like.whole, zone=like.zone)
        return Cells(like.family, codes, held_values, like.ordered, like.category, like.whole, like.zone)

    def summary(self, column: Column) -> ColumnSummary:
        """The summary from which bins are cut, for a column whose distinct values were counted."""
        cells = self.distinct()
        weights = np.array([*self.weights.values(), *([0] if self.missing else [])], np.int64)
        return summary_of(encode_cells(column, cells, self.label, "error"), weights)

    def reason(self, column: Column, n: int) -> str:
        """Why the column is left out; empty if it is used."""
        return reason_for(
            column, n, lambda: self.n_present, lambda: self.counts_rows(n), lambda: self.tells_apart(n), named=True
        )

    def counts_rows(self, n: int) -> bool:
        """As ``data.identifiers.counts_rows``, for the blocks in their order."""
        spans = [(first, last) for _, first, last in sorted(self.spans)]
        if not spans or n < FEWEST or not all(last >= first for first, last in spans):
            return False
        ascends = all(after[0] - before[1] >= 1 for before, after in pairwise(spans))
        first, last = spans[0][0], spans[-1][1]
        return ascends and first >= 0 and n - 1 <= last - first and last < 2 * n

    def tells_apart(self, n: int) -> bool:
        """Whether every row has a different whole number; DataError if there are too many values to decide."""
        if self.are_whole and not self.missing and self.n_values == _MANY:
            raise DataError(
                f"{self.label} is named like an identifier, and has too many values to check whether they are unique: "
                f"leave it out (leave_out=[{self.name!r}]), or declare it (numeric=[{self.name!r}])"
            )
        return self.are_whole and self.n_values == n

    def emptied(self) -> Pass:
        """An empty pass for another place, in a further pass."""
        return replace(self, gathered=self.gathered.emptied())

    def let_go(self) -> None:
        """Release everything except the number of values."""
        known = self.gathered.told_apart
        if self.is_gathered:
            self.n_values = _MANY if known is None else len(known.values)
        else:
            self.n_values = len(self.weights)
        self.gathered, self.weights = Gathered(), {}


def each(passes: Sequence[Pass], work: Callable[[int, Pass], None], n_threads: int) -> None:
    """Call ``work`` for every column, on the threads."""
    threads.run_each(lambda task, _thread: work(task, passes[task]), len(passes), n_threads)


class Place:
    """A place that holds rows of a source, in at most ``budget`` bytes, until its bins make it a part."""

    def __init__(self, source: Source, settings: DatasetSettings, n_threads: int, budget: int, number: int = 0) -> None:
        self.source, self.settings, self.n_threads, self.budget, self.number = (
            source,
            settings,
            n_threads,
            budget,
            number,
        )
        self.n = 0
        self.part: Part | None = None
        self.together: GatheredRows | None = None
        self._claimed = ""  # the fit that has borrowed the rows

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or self.__dict__.get("part") is None:
            raise AttributeError(name)
        return getattr(self.part, name)

    def types(self) -> dict[str, pl.DataType]:
        """Names and types of the columns."""
        return self.source.schema()

    def rows(self, task: str) -> Rows:
        """Labels, and what rows weigh."""
        found = Rows(task)
        for _, kept in self._blocks_with_target([], "reading targets"):
            found.add(kept, self.settings)
        self.n = found.n
        return found

    def columns(self, passes: list[Pass], rows: Rows) -> list[Pass]:
        """Make the first pass over some columns; the passes that are given have no rows yet."""
        for place, kept in self._blocks_with_target([own.name for own in passes], "reading columns"):
            weights, table = rows.whole_weights_of(_weights_of(kept, self.settings)), _table_of(kept, len(passes))
            each(passes, lambda at, own: own.add(table.cells(at), weights, place), self.n_threads)  # noqa: B023
        return passes

    def again(self, passes: list[Pass], rows: Rows) -> list[Gathered]:
        """Make a further pass over columns of many values."""
        for kept in self._blocks([own.name for own in passes], "counting values"):
            weights, table = rows.whole_weights_of(_weights_of(kept, self.settings)), _table_of(kept, len(passes))
            each(passes, lambda at, own: own.add_again(table.cells(at), weights), self.n_threads)  # noqa: B023
        return [own.gathered for own in passes]

    def encoded(
        self, names: Sequence[str], schema: Schema, rows: Rows
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray | None]]:
        """Encoded rows, their targets and weights, block by block."""
        for kept in self._blocks(names, "encoding rows"):
            cells = encode(schema, kept.select(pl.nth(range(len(names)))), unseen="error")
            yield cells, rows.target_of(kept, self.settings), _weights_of(kept, self.settings)

    def _blocks(self, names: Sequence[str], what: str) -> Iterator[pl.DataFrame]:
        """Some columns of the rows with a weight above 0, followed by target and weight."""
        for _, kept in self._blocks_with_target(names, what):
            own = kept if self.settings.weight is None else kept.filter(_weights_of(kept, self.settings) > 0)
            if own.height:
                yield own

    def _blocks_with_target(self, names: Sequence[str], what: str) -> Iterator[tuple[tuple[int, ...], pl.DataFrame]]:
        """The same with the rows of weight 0, whose levels and labels count as in memory; and their positions."""
        wanted = [*names, *(each for each in (self.settings.target, self.settings.weight) if each is not None)]
        wanted = wanted or list(self.source.schema())[:1]  # a frame without columns has no rows
        for place, frame in self.source.blocks(wanted, what, self.budget):
            kept = _kept(frame, self.settings)
            if kept.height:
                yield place, kept

    def bin(self, names: Sequence[str], schema: Schema, bins: Bins, rows: Rows, folder: Path | None) -> list[Fraction]:
        """Turn every cell into a bin, in memory or in the files of a folder; returns the weight of each class."""
        stored = None if folder is None else StoredArrays(folder, self.budget // 4)
        arrays = self._arrays(len(schema), rows, stored)
        of_classes, at = [Fraction(0)] * (len(rows.classes[0]) if rows.classes else 0), 0
        for cells, target, weights in self.encoded(names, schema, rows):
            block = slice(at, at + len(cells))
            if block.stop > self.n:
                raise InputFileError(f"{self.source.name}: there are more rows than before; the file changed: retry")
            arrays["codes"][block] = bin_rows(bins, cells, self.n_threads)
            if rows.task:
                arrays["target"][block] = target
            contents = np.zeros(len(cells), np.uint64)
            hash_content(np.ascontiguousarray(target.reshape(len(cells), -1)), cells, contents)
            arrays["contents"][block] = contents
            if weights is not None and rows.is_weighted:
                arrays["weights"][block] = weights
            if of_classes:
                of_block = class_weights(target, weights, len(of_classes))
                of_classes = [own + more for own, more in zip(of_classes, of_block, strict=True)]
            at = block.stop
            if stored is not None:
                stored.looked_at(len(cells) * (arrays["codes"].shape[1] + 24))
        if at < self.n:
            raise InputFileError(f"{self.source.name}: there are fewer rows than before; the file changed: retry")
        if stored is None:
            self.part = self._part_of(arrays, len(schema), rows, None)
        self._known = names, schema, rows
        return of_classes

    def take_up(self, folder: Path, schema: Schema, rows: Rows) -> None:
        """Become the part whose bins are in a folder."""
        stored, n_columns = StoredArrays(folder, self.budget // 4), len(schema)
        self.part = self._part_of(self._arrays(n_columns, rows, stored), n_columns, rows, stored)
        self._known = [str(name) for name in schema.names], schema, rows

    def _part_of(
        self, arrays: Mapping[str, np.ndarray], n_columns: int, rows: Rows, stored: StoredArrays | None
    ) -> Part:
        weights = arrays["weights"] if rows.is_weighted else None
        return Part(
            arrays["codes"], n_columns, [arrays["target"]], weights, arrays["contents"], self.n_threads, self.number,
            stored,
        )  # fmt: skip

    # For algorithms that need more than bins.

    def contents(self) -> tuple[np.ndarray, Any]:
        """A hash of the content of each row, and the weights."""
        part = cast("Part", self.part)
        weights = None if part.sample_weights is None else np.array(part.sample_weights)
        return np.array(part.contents), weights

    def of_cells(self, work: Callable[..., Any], *given: Any) -> list[Any]:
        """The results of ``work`` for every block of encoded rows, given the numbers of the place and the first row."""
        part, found, at = cast("Part", self.part), [], 0
        for cells, _, _ in self.encoded(*self._known):
            contents = np.zeros(len(cells), np.uint64)
            hash_content(np.empty((len(cells), 0)), cells, contents)
            if not np.array_equal(contents, part.contents[at : at + len(cells)]):
                raise InputFileError(
                    f"{self.source.name}: the rows have changed since the dataset was made: make it again"
                )
            found.append(work(self.number, at, cells, *given))
            at += len(cells)
        if at != self.n:
            raise InputFileError(f"{self.source.name}: there are fewer rows than before; the file changed: retry")
        return found

    def _arrays(self, n_columns: int, rows: Rows, stored: StoredArrays | None) -> dict[str, np.ndarray]:
        """The place's own rows of the arrays: new arrays, or slices of those in files, ordered by place."""
        if stored is None:
            return {name: np.zeros(*shape) for name, shape in shapes_of(self.n, n_columns, rows).items()}
        first = sum(rows.of_places[: self.number])
        shapes = shapes_of(sum(rows.of_places), n_columns, rows)
        return {name: stored.open(name, *shape)[first : first + self.n] for name, shape in shapes.items()}

    # For fits in which each place has all rows for a while.

    def lend(self) -> dict[str, np.ndarray] | None:
        """The rows for other places; None if they are in files that all places can open."""
        part = cast("Part", self.part)
        if part.stored is not None:
            return None
        lent = {"codes": part.codes, "target": part.target[0]}
        return lent if part.sample_weights is None else {**lent, "weights": part.sample_weights}

    def borrow(self, lent: list[dict[str, np.ndarray] | None], fit: str) -> None:
        """Take in all rows, for a fit."""
        with claims:
            if self._claimed:
                raise ParameterError("another fit uses these rows at the same time: run one fit after another")
            self._claimed = fit
        try:
            self.together = self._together(lent, fit)
        except BaseException:
            self.give_back(fit)
            raise

    def _together(self, lent: list[dict[str, np.ndarray] | None], fit: str) -> GatheredRows:
        part = cast("Part", self.part)
        held: Mapping[str, np.ndarray]
        if part.stored is not None:
            stored = StoredArrays(part.stored.folder, self.budget // 4)
            _, schema, rows = self._known
            shapes = shapes_of(sum(rows.of_places), len(schema), rows)
            held = {name: stored.open(name, *shape) for name, shape in shapes.items()}
            budget, room = self.budget, stored.scratch
        else:
            all_of = [own for own in lent if own is not None]
            if len(all_of) > 1:
                check_fits(
                    sum(array.nbytes for own in all_of for array in own.values()), "having all rows as bins in a place",
                    "boosting does not move rows",
                )  # fmt: skip
            held = {
                name: np.concatenate([own[name] for own in all_of]) if len(all_of) > 1 else all_of[0][name]
                for name in all_of[0]
            }
            budget, room = None, None
        weights = held["weights"] if part.sample_weights is not None else None
        share = (self.number, len(lent))
        return GatheredRows(held["codes"], held["target"], weights, share, self.n_threads, budget, room, fit)

    def do(self, fit: str, work: Callable[..., Any], *given: Any) -> Any:
        """Call ``work`` with all rows that a fit has borrowed, followed by ``given``."""
        together = self.together
        if together is None or together.fit != fit:
            raise NotBorrowedError("the rows were returned, or another fit has borrowed them")
        return work(together, *given)

    def give_back(self, fit: str) -> None:
        """Release the rows that this fit has borrowed, but not those of another."""
        with claims:
            if self._claimed == fit:
                self._claimed, self.together = "", None

    def end(self, fit: str) -> None:
        """See ``Part.end``; a place that is not a part has nothing to end."""
        if self.part is not None:
            self.part.end(fit)


def shapes_of(n: int, n_columns: int, rows: Rows) -> dict[str, tuple[tuple[int, ...], Any]]:
    """Shape and dtype of each array that holds ``n`` rows as bins."""
    return {
        "codes": ((n, -(-n_columns // 8) * 8), np.uint8),
        "target": ((n if rows.task else 0,), np.int32 if rows.classes else np.float64),
        "weights": ((n if rows.is_weighted else 0,), np.float64),
        "contents": ((n,), np.uint64),
    }


def _table_of(kept: pl.DataFrame, n_columns: int) -> Any:
    return read_table(kept.select(pl.nth(range(n_columns))))
