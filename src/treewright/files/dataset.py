"""Datasets of rows in files that need not fit in memory. In: Parquet, delimited text, lazy frames. Out: ``Dataset``.

    targets and weights       labels, what rows weigh                   one pass over these columns
    columns                   kinds, levels, missing cells, summaries   one pass; a second over columns of many values
    bins                      every cell as a byte, mapped from a file  one pass

What a column is, its levels and its bins depend on the rows alone, not on the order of rows or files: so the model is
the one that the same table in memory gives. Where the encoded table fits into the budget of memory it is held there,
and every learner can learn from it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import polars as pl

from treewright.boosting.elsewhere import Part
from treewright.boosting.sampling import GradientWeights
from treewright.core import progress, threads
from treewright.core.threads import resolve_jobs
from treewright.data import dataset as encoded
from treewright.data.bin_rows import bin_rows
from treewright.data.bins import Bins, bins_of_summaries, checked_max_bins
from treewright.data.categories import schema_from_json, schema_to_json
from treewright.data.cells import Cells
from treewright.data.column_summary import BLOCK_ROWS, ColumnSummary, Gathered, summary_of, whole_weights_among
from treewright.data.elsewhere import Elsewhere, Here
from treewright.data.encoder import encode
from treewright.data.frame import read_table
from treewright.data.identifiers import left_out_for, reason_for
from treewright.data.kinds import Declared, Nominal, column_of, encode_cells, resolve
from treewright.data.schema import Column, Schema
from treewright.data.stored import StoredArrays
from treewright.data.target import Labels, Numbers, encode_labels, encode_numbers, recode
from treewright.exceptions import DataError, InputFileError, ParameterError, TooLargeError
from treewright.files.table import did_you_mean
from treewright.forest.draws import carry_content
from treewright.learn.suspicions import warn_of_left_out
from treewright.version import __version__

_BLOCK = 1 << 16  # rows read at a time
_DEFAULT_MEMORY = 0.25  # of what the machine has
_LEAST_MEMORY = 64 * 2**20
_MOST_LEVELS = 1 << 20
_MANY = 2**62  # different values: too many to be told apart
_BYTES_OF_PASS = 20 * 2**20  # what a column of many values takes while it is passed over
_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


class Dataset(encoded.Dataset):
    """Rows with their target, as every ``fit`` takes them in place of a table.

    Made by ``from_parquet``, ``from_csv`` or ``from_frame``; ``fit(dataset)`` needs no ``y``. One dataset serves any
    number of fits.
    """

    @classmethod
    def from_parquet(cls, path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], **options: Any) -> Dataset:
        """Rows of Parquet files.

        Parameters
        ----------
        path : path, or sequence of paths
            A file, a folder (all ``*.parquet`` below it), a pattern such as ``"2026-*.parquet"``, or several. Columns
            have the same names and types in all; the order of the files changes nothing.
        **options
            ``target`` : str, the column to be learned.
            ``task`` : {"classification", "regression"}, optional; without it, numbers are a regression and everything
            else is a classification.
            ``weight`` : str, optional, the column of sample weights.
            ``nominal``, ``ordinal``, ``numeric`` : as the estimators take them.
            ``leave_out`` : sequence of str, columns that are not read.
            ``skip_missing_target`` : bool, whether rows without a target are left out; else they are refused.
            ``max_bins`` : int, 2 to 255; what boosting asks for (its ``max_bins``).
            ``memory`` : str such as ``"4GB"`` or int, bytes; a quarter of the machine's by default. A table that fits
            is held in memory; another lies in ``folder`` as bins, a byte a cell, and is worked through in blocks.
            ``folder`` : path, optional; where bins are kept for the next time; without it they lie in a temporary
            folder until the dataset is let go of.
            ``n_jobs`` : int, optional.

        Raises
        ------
        InputFileError
            There is no such file, it is no whole Parquet file, files have other columns or types, or one changes while
            it is read.
        DataError
            A column, cell, label or weight is refused.
        TooLargeError
            The disk has no room for the bins.

        Examples
        --------
        >>> import tempfile
        >>> import polars as pl
        >>> from treewright import Dataset, GradientBoostingClassifier
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     table = pl.DataFrame({"hours": [1, 2, 8, 9] * 20, "passed": ["no", "no", "yes", "yes"] * 20})
        ...     table.write_parquet(f"{folder}/exam.parquet")
        ...     dataset = Dataset.from_parquet(folder, target="passed")
        >>> GradientBoostingClassifier(10).fit(dataset).predict({"hours": [3, 7]}).tolist()
        ['no', 'yes']
        """
        return _made(cls, _parquet_source(path), **options)

    @classmethod
    def from_csv(cls, path: str | os.PathLike[str], **options: Any) -> Dataset:
        """Rows of a file of delimited text with a header, as polars reads it; options as of ``from_parquet``."""
        if not Path(path).is_file():
            raise InputFileError(f"{os.fspath(path)}: no such file")
        return _made(cls, _Source([(os.fspath(path), pl.scan_csv(Path(path), glob=False))], [Path(path)]), **options)

    @classmethod
    def from_frame(cls, frame: Any, **options: Any) -> Dataset:
        """Rows of a polars LazyFrame, or of a pyarrow dataset; options as of ``from_parquet``.

        The frame is collected block by block, several times: it must give the same rows each time.
        """
        if not isinstance(frame, pl.LazyFrame | pl.DataFrame):
            try:
                frame = pl.scan_pyarrow_dataset(frame)
            except Exception as error:
                raise DataError(
                    f"from_frame takes a polars LazyFrame or a pyarrow dataset, not {type(frame).__name__} ({error})"
                ) from None
        return _made(cls, _Source([("the frame", frame.lazy())], []), **options)


# Where rows come from -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Source:
    """Frames with the same columns, and the files that they read."""

    frames: list[tuple[str, pl.LazyFrame]]
    files: list[Path]

    def schema(self) -> dict[str, pl.DataType]:
        """Names and types of the columns, the same in all frames."""
        found: dict[str, pl.DataType] | None = None
        first = ""
        for name, frame in self.frames:
            own = dict(_reading(name, frame.collect_schema))
            if found is None:
                found, first = own, name
                continue
            lacking = [column for column in found if column not in own] + [each for each in own if each not in found]
            if lacking:
                raise InputFileError(
                    f"{name}: column {lacking[0]!r} is not in it and in {first} alike: all files need the same columns"
                )
            other = next((column for column in found if own[column] != found[column]), None)
            if other is not None:
                raise InputFileError(
                    f"{name}: column {other!r} holds {own[other]}, and {found[other]} in {first}: write it with one "
                    "type"
                )
        return found or {}

    def blocks(self, columns: Sequence[str], what: str) -> Iterator[pl.DataFrame]:
        """The rows of some columns, some at a time."""
        stamp = self.stamp()
        for at, (name, frame) in enumerate(self.frames):
            progress.report(at / len(self.frames), what)
            position = {column: place for place, column in enumerate(frame.collect_schema().names())}
            wanted = frame.select(pl.nth([position[column] for column in columns]))
            yield from _batches(name, wanted)
        if self.stamp() != stamp:
            raise InputFileError(f"{self.frames[0][0]}: a file changed while it was read: try again when it is whole")

    def stamp(self) -> str:
        """What tells whether a file is another one than it was."""
        made = hashlib.blake2b(digest_size=16)
        for path in self.files:
            try:
                stat = path.stat()
            except OSError as error:
                raise InputFileError(f"{path}: cannot be read ({error.strerror})") from None
            made.update(repr((str(path), stat.st_size, stat.st_mtime_ns, stat.st_ino)).encode())
        return made.hexdigest()


def _parquet_source(path: Any) -> _Source:
    given = [path] if isinstance(path, str | os.PathLike) else list(path)
    files: list[Path] = []
    for each in map(Path, given):
        if each.is_dir():
            files += sorted(each.rglob("*.parquet"))
        elif any(sign in each.name for sign in "*?[") and not each.exists():
            files += sorted(each.parent.glob(each.name))
        else:
            files.append(each)
    if not files:
        raise InputFileError(f"{given[0] if given else path!r}: no Parquet file is there")
    for each in files:
        if not each.is_file():
            raise InputFileError(f"{each}: no such file")
    files = sorted(set(files))
    return _Source([(str(each), pl.scan_parquet(each, glob=False, hive_partitioning=False)) for each in files], files)


def _batches(name: str, frame: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    batches = iter(_reading(name, lambda: frame.collect_batches(chunk_size=_BLOCK, maintain_order=False)))
    while True:
        block = _reading(name, lambda: next(batches, None))
        if block is None:
            return
        # Polars may hand over larger ones.
        for begin in range(0, block.height, _BLOCK):
            yield block.slice(begin, _BLOCK)


def _reading(name: str, work: Any) -> Any:
    """Turn whatever the reader says about a damaged file into one error."""
    try:
        return work()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, UnicodeError) as error:
        reason = (str(error).splitlines() or ["unreadable"])[0]
        raise InputFileError(f"{name}: cannot be read ({reason}): write it again") from None


# What is asked for ----------------------------------------------------------------------------------------------------


class _Asked(NamedTuple):
    """The options of a dataset, as they were given."""

    target: str
    task: str | None
    weight: str | None
    nominal: Nominal | None
    ordinal: Mapping[Hashable, Sequence[Hashable]] | None
    numeric: Sequence[Hashable] | None
    leave_out: tuple[str, ...]
    skip_missing_target: bool
    max_bins: int


def _made(
    cls: type[Dataset],
    source: _Source,
    *,
    target: str,
    task: str | None = None,
    weight: str | None = None,
    nominal: Any = None,
    ordinal: Any = None,
    numeric: Any = None,
    leave_out: Sequence[str] = (),
    skip_missing_target: bool = False,
    max_bins: int = 255,
    memory: str | int | None = None,
    folder: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
) -> Dataset:
    asked = _Asked(
        target, task, weight, nominal, ordinal, numeric, tuple(leave_out), skip_missing_target,
        checked_max_bins(max_bins),
    )  # fmt: skip
    if task not in (None, "classification", "regression"):
        raise ParameterError(f"task={task!r}: give 'classification' or 'regression'")
    n_threads, budget = resolve_jobs(n_jobs), _bytes_of(memory)
    types = source.schema()
    for name in (target, *([] if weight is None else [weight]), *leave_out):
        if name not in types:
            raise ParameterError(f"{source.frames[0][0]}: no column {name!r}{did_you_mean(name, list(types))}")
    for name, kind in types.items():
        if name not in leave_out and (kind.is_nested() or kind in {pl.Binary, pl.Object}):
            raise InputFileError(
                f"{source.frames[0][0]}: column {name!r} holds {kind}: write its parts as columns, or leave it out "
                f"(leave_out=[{name!r}])"
            )
    names = [name for name in types if name not in {target, weight, *leave_out}]
    if not names:
        raise DataError(f"{source.frames[0][0]}: no column is left to learn from beside the target {target!r}")
    rows = _rows_of(source, asked, types)
    if rows.n * (8 * len(names) + 64) <= budget:
        return _held(cls, source, asked, names, rows, n_threads)
    return _stored(cls, source, asked, names, rows, budget, None if folder is None else Path(folder), n_threads)


def _bytes_of(memory: str | int | None) -> int:
    """A budget in bytes.

    Examples
    --------
    >>> _bytes_of("2GB"), _bytes_of("1.5 gb"), _bytes_of(10**9)
    (2000000000, 1500000000, 1000000000)
    """
    if memory is None:
        try:
            whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        except (AttributeError, OSError, ValueError):
            whole = 8 * 2**30
        return max(_LEAST_MEMORY, int(_DEFAULT_MEMORY * whole))
    if isinstance(memory, str):
        text = memory.strip().upper()
        unit = next((unit for unit in sorted(_UNITS, key=len, reverse=True) if text.endswith(unit)), "")
        with suppress(ValueError):
            size = int(float(text[: len(text) - len(unit)]) * _UNITS.get(unit, 1))
            if size > 0:
                return size
    elif not isinstance(memory, bool) and memory > 0:
        return int(memory)
    raise ParameterError(f"memory={memory!r}: give a size such as '4GB', or a number of bytes")


# Targets and weights --------------------------------------------------------------------------------------------------


@dataclass
class _Rows:
    """What is known of the rows before their columns are looked at."""

    task: str
    n: int = 0
    classes: tuple[np.ndarray, ...] = ()
    largest: float = 0.0
    are_whole: bool = True
    is_weighted: bool = False
    sum_of_weights: float = 0.0

    def target_of(self, frame: pl.DataFrame, asked: _Asked) -> np.ndarray:
        """int32[m] or float64[m]: codes, or numbers."""
        cells = frame.get_column(asked.target)
        if self.task == "classification":
            return recode(encode_labels(cells), self.classes)[:, 0]
        return encode_numbers(cells).values[:, 0]

    def whole_weights_of(self, weights: np.ndarray | None) -> np.ndarray:
        """int64[m], or int64[0]."""
        if weights is None:
            return np.empty(0, np.int64)
        return whole_weights_among(weights, self.largest, self.n, are_whole=self.are_whole)


def _kept(frame: pl.DataFrame, asked: _Asked) -> pl.DataFrame:
    """The rows that count: with a target, and of a weight above 0."""
    target = frame.get_column(asked.target)
    has_target = target.is_not_null()
    if target.dtype.is_float():
        has_target &= target.is_not_nan().fill_null(value=False)
    if not has_target.all():
        if not asked.skip_missing_target:
            raise DataError(
                f"target {asked.target!r} is missing in some rows: remove them, or leave them out with "
                "skip_missing_target=True"
            )
        frame = frame.filter(has_target)
    if asked.weight is not None and frame.height:
        frame = frame.filter(_weights_of(frame, asked) > 0)
    return frame


def _weights_of(frame: pl.DataFrame, asked: _Asked) -> Any:
    """float64[m], or None."""
    if asked.weight is None:
        return None
    weights = frame.get_column(asked.weight)
    if not weights.dtype.is_numeric():
        raise DataError(f"weight column {asked.weight!r} holds {weights.dtype}, not numbers")
    found = weights.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    if not (np.isfinite(found) & (found >= 0)).all():
        raise DataError(
            f"weight column {asked.weight!r} has cells that are no numbers >= 0: mend them, or leave the rows out"
        )
    return found


def _rows_of(source: _Source, asked: _Asked, types: Mapping[str, pl.DataType]) -> _Rows:
    """Labels, and what rows weigh."""
    kind = types[asked.target]
    rows = _Rows(asked.task or ("regression" if kind.is_numeric() else "classification"))
    labels: list[Any] = []
    columns = [asked.target, *([] if asked.weight is None else [asked.weight])]
    for frame in source.blocks(columns, "reading targets"):
        kept = _kept(frame, asked)
        if not kept.height:
            continue
        rows.n += kept.height
        target = kept.get_column(asked.target)
        if rows.task == "classification":
            labels.append(target.unique())
            if len(labels) > 64:
                labels = [pl.concat(labels).unique()]
        else:
            encode_numbers(target)
        weights = _weights_of(kept, asked)
        if weights is not None:
            rows.largest = max(rows.largest, float(weights.max()))
            rows.are_whole = rows.are_whole and bool((weights == np.rint(weights)).all())
            rows.is_weighted = rows.is_weighted or bool((weights != 1.0).any())
            rows.sum_of_weights += float(weights.sum())
    if not rows.n:
        raise DataError(f"{source.frames[0][0]}: there are no rows to learn from")
    if labels:
        rows.classes = encode_labels(pl.concat(labels).unique()).classes
    return rows


# Columns --------------------------------------------------------------------------------------------------------------


@dataclass
class _Pass:
    """One column while it is passed over: numbers as they are, anything else by its distinct values."""

    name: str
    declared: Declared
    label: str
    cells: Cells | None = None  # of a block with values: what its type says
    missing: bool = False
    n_present: int = 0
    are_whole: bool = True
    is_overfull: bool = False
    weights: dict[Hashable, int] = field(default_factory=dict)
    gathered: Gathered = field(default_factory=Gathered)
    spans: list[tuple[float, float, int]] = field(default_factory=list)  # of each block that counts upwards
    n_values: int = 0  # different ones, once all rows were looked at

    def add(self, cells: Cells, weights: np.ndarray) -> None:
        """Look at a block of rows, with whole weights or none."""
        is_missing = cells.missing()
        n_present = int(np.count_nonzero(~is_missing))
        self.missing |= n_present < len(is_missing)
        self.n_present += n_present
        if not n_present and self.cells is not None:
            return
        if self.cells is None or not self._held():
            self.cells = cells
        if cells.is_number and not cells.category and self.declared.kind in (None, "numeric"):
            self._add_numbers(cells.values, weights)
            return
        codes, distinct = cells.coded()
        held = codes >= 0
        counts = np.bincount(codes[held], weights[held] if len(weights) else None, len(distinct)).astype(np.int64)
        for value, count in zip(distinct, counts.tolist(), strict=False):
            if count:
                self.weights[value] = self.weights.get(value, 0) + count
        self.is_overfull = self.is_overfull or len(self.weights) > _MOST_LEVELS
        if self.is_overfull:
            raise DataError(
                f"{self.label} holds more than {_MOST_LEVELS:,} different values: leave it out "
                f"(leave_out=[{self.name!r}])"
            )

    def _held(self) -> bool:
        return bool(self.weights) or self.n_present > 0

    def _add_numbers(self, values: np.ndarray, weights: np.ndarray) -> None:
        self.gathered.add(values, weights)
        present = values[~np.isnan(values)]
        is_whole = bool((present == np.floor(present)).all())
        self.are_whole = self.are_whole and is_whole
        counts_up = is_whole and len(present) == len(values) > 0 and bool((np.diff(values) >= 1).all())
        self.spans.append((float(values[0]), float(values[-1]), len(values)) if counts_up else (0.0, -1.0, 0))

    def add_again(self, cells: Cells, weights: np.ndarray) -> None:
        """Look at a block in a further pass.

        Sorted, so that cells are met one after another: 7 ns a number, where those of many columns in turn take 20,
        each from a cell that has left the caches.
        """
        self.gathered.add(cells.values if len(weights) else np.sort(cells.values), weights)

    @property
    def is_gathered(self) -> bool:
        """Whether the numbers themselves were summed up."""
        return bool(self.spans)

    def distinct(self) -> Cells:
        """Cells that tell what the column is: each value that it holds once, or a number for all."""
        like = self.cells
        if like is None:
            return Cells("missing", np.array([np.nan]))
        if self.is_gathered:
            held = [] if not self.n_present else [0.0 if self.are_whole else 0.5]
            values = np.array([*held, *([np.nan] if self.missing else [])])
            return Cells(like.family, values, whole=like.whole, zone=like.zone)
        held_values: tuple[Hashable, ...] = tuple(self.weights)
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
        """What bins are cut from, of a column whose distinct values were counted."""
        cells = self.distinct()
        weights = np.array([*self.weights.values(), *([0] if self.missing else [])], np.int64)
        return summary_of(encode_cells(column, cells, self.label, "error"), weights)

    def reason(self, column: Column, n: int) -> str:
        """Why the column is left out; empty where it is used."""
        return reason_for(
            column, n, lambda: self.n_present, lambda: self.counts_rows(n), lambda: self.tells_apart(n), named=True
        )

    def counts_rows(self, n: int) -> bool:
        """Whether the numbers count the rows, whichever block came first (``data.identifiers``)."""
        if not self.spans or not all(count for *_, count in self.spans):
            return False
        spans = sorted(self.spans)
        apart = all(before[1] < after[0] for before, after in pairwise(spans))
        first, last = spans[0][0], spans[-1][1]
        return apart and n >= 25 and first >= 0 and n - 1 <= last - first and last < 2 * n

    def tells_apart(self, n: int) -> bool:
        """Whether every row has another whole number, as far as values were told apart."""
        return self.are_whole and self.n_values == n

    def let_go(self) -> None:
        """Keep no more than how many values there are."""
        known = self.gathered.told_apart
        if self.is_gathered:
            self.n_values = _MANY if known is None else len(known.values)
        else:
            self.n_values = len(self.weights)
        self.gathered, self.weights = Gathered(), {}


def _columns_of(
    source: _Source, asked: _Asked, names: list[str], rows: _Rows, budget: int, n_threads: int
) -> tuple[Schema, Bins]:
    """What the columns are, and their bins; as many columns at a time as there is memory for."""
    declared = resolve(names, asked.nominal, asked.ordinal, asked.numeric)
    passes = [
        _Pass(name, declared.get(at, Declared(None)), f"column {name!r}", gathered=Gathered(n_rows=rows.n))
        for at, name in enumerate(names)
    ]
    columns: list[Column] = []
    summaries: list[ColumnSummary] = []
    at_once = max(1, budget // (2 * _BYTES_OF_PASS))
    for first in range(0, len(passes), at_once):
        group = passes[first : first + at_once]
        for table, weights in _tables(source, asked, [each.name for each in group], rows, "reading columns"):
            _each(group, lambda place, each: each.add(table.cells(place), weights), n_threads)  # noqa: B023
        columns += [column_of(each.name, each.distinct(), each.declared, each.label) for each in group]
        left = [each for each in group if each.is_gathered and each.gathered.refine()]
        while left:
            for table, weights in _tables(source, asked, [each.name for each in left], rows, "counting values"):
                _each(left, lambda place, each: each.add_again(table.cells(place), weights), n_threads)  # noqa: B023
            left = [each for each in left if each.gathered.refine()]
        for each, column in zip(group, columns[first:], strict=True):
            summaries.append(each.gathered.summary() if each.is_gathered else each.summary(column))
            each.let_go()
    schema = Schema(_without_identifiers(columns, passes, declared, rows.n), True)
    nothing = summary_of(np.zeros(1), np.empty(0, np.int64))
    used = [nothing if column.left_out else found for column, found in zip(schema.columns, summaries, strict=True)]
    return schema, bins_of_summaries(used, schema.columns, asked.max_bins)


def _each(passes: list[_Pass], work: Callable[[int, _Pass], None], n_threads: int) -> None:
    """Do something with every column, on the threads."""
    threads.run_each(lambda task, _thread: work(task, passes[task]), len(passes), n_threads)


def _tables(
    source: _Source, asked: _Asked, names: list[str], rows: _Rows, what: str
) -> Iterator[tuple[Any, np.ndarray]]:
    """The rows that count of some columns, and their whole weights."""
    for frame in source.blocks([*names, asked.target, *([] if asked.weight is None else [asked.weight])], what):
        kept = _kept(frame, asked)
        if kept.height:
            yield read_table(kept.select(pl.nth(range(len(names))))), rows.whole_weights_of(_weights_of(kept, asked))


def _without_identifiers(
    columns: list[Column], passes: list[_Pass], declared: Mapping[int, Declared], n: int
) -> tuple[Column, ...]:
    """The columns, those that only tell rows apart marked as left out."""
    reasons = {}
    for at, (column, each) in enumerate(zip(columns, passes, strict=True)):
        if at not in declared and (reason := each.reason(column, n)):
            reasons[at] = reason

    def any_varies(left_out: Mapping[int, str]) -> bool:
        return any(each.n_values > 1 for at, each in enumerate(passes) if at not in left_out)

    return left_out_for(columns, reasons, any_varies, named=True)


# In memory ------------------------------------------------------------------------------------------------------------


def _held(cls: type[Dataset], source: _Source, asked: _Asked, names: list[str], rows: _Rows, n_threads: int) -> Dataset:
    """The rows in memory: every learner can learn from them."""
    schema, _ = _columns_of(source, asked, names, rows, _LEAST_MEMORY * 8, n_threads)
    warn_of_left_out(schema)
    matrix = np.empty((rows.n, len(schema)), order="F")
    target = np.empty((rows.n, 1), np.int32 if rows.classes else np.float64)
    weights = np.empty(rows.n) if rows.is_weighted else None
    at = 0
    for cells, own, of_block in _encoded_blocks(source, asked, names, schema, rows):
        block = slice(at, at + len(cells))
        matrix[block], target[block, 0] = cells, own
        if weights is not None:
            weights[block] = of_block
        at += len(cells)
    return cls(schema, matrix, _target(rows, asked, target), weights, weights)


def _target(rows: _Rows, asked: _Asked, target: np.ndarray) -> Labels | Numbers:
    if rows.classes:
        return Labels(target, rows.classes, (asked.target,), True)
    return Numbers(target, (asked.target,), True)


def _encoded_blocks(
    source: _Source, asked: _Asked, names: list[str], schema: Schema, rows: _Rows
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray | None]]:
    """Encoded rows, their targets and weights."""
    wanted = [*names, asked.target, *([] if asked.weight is None else [asked.weight])]
    for frame in source.blocks(wanted, "encoding rows"):
        kept = _kept(frame, asked)
        if kept.height:
            cells = encode(schema, kept.select(pl.nth(range(len(names)))), unseen="error")
            yield cells, rows.target_of(kept, asked), _weights_of(kept, asked)


# In files -------------------------------------------------------------------------------------------------------------


def _stored(
    cls: type[Dataset], source: _Source, asked: _Asked, names: list[str], rows: _Rows, budget: int,
    folder: Path | None, n_threads: int,
) -> Dataset:  # fmt: skip
    """The rows as bins in files."""
    stride = -(-len(names) // 8) * 8
    needed = rows.n * (stride + 24)
    base = Path(tempfile.gettempdir()) if folder is None else folder
    base.mkdir(parents=True, exist_ok=True)
    place = base / f"treewright-{_digest(source, asked, names)}"
    is_kept = folder is not None and (place / "done.json").is_file()
    if not is_kept:
        free = shutil.disk_usage(base).free
        if needed > free:
            raise TooLargeError(
                f"{rows.n:,} rows x {len(names)} columns as bins need {needed:,} bytes in {base}, {free:,} are free: "
                "give another folder=..."
            )
        place = Path(tempfile.mkdtemp(prefix="treewright-", dir=base))
        try:
            _write(source, asked, names, rows, StoredArrays(place, budget // 4), n_threads, stride)
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise
        if folder is not None:
            kept = base / f"treewright-{_digest(source, asked, names)}"
            with suppress(OSError):  # somebody else was faster
                place.rename(kept)
            if kept.is_dir() and place.is_dir():
                shutil.rmtree(place, ignore_errors=True)
            place = kept
    arrays = StoredArrays(place, budget // 4)
    done = json.loads((place / "done.json").read_text(encoding="utf-8"))
    with np.load(place / "bins.npz", allow_pickle=False) as held:
        bins = Bins(**{name: held[name] for name in held.files})
    schema, n = schema_from_json(done["schema"]), int(done["n"])
    warn_of_left_out(schema)
    part = Part(
        arrays.open("codes", (n, stride), np.uint8, writable=False),
        len(schema),
        [arrays.open("target", (n,), np.int32 if rows.classes else np.float64, writable=False)],
        arrays.open("weights", (n,), np.float64, writable=False) if rows.is_weighted else None,
        arrays.open("contents", (n,), np.uint64, writable=False),
        n_threads,
        arrays,
    )
    counts = rows.are_whole and GradientWeights.may_count(rows.sum_of_weights)
    matrix = Elsewhere(
        (n, len(schema)), bins, asked.max_bins, int(rows.sum_of_weights) if rows.is_weighted and counts else n,
        tuple(np.array(own) for own in done["of_classes"]), Here([part]), f"in {place}",
    )  # fmt: skip
    target = np.empty((0, 1), np.int32 if rows.classes else np.float64)
    dataset = cls(schema, matrix, _target(rows, asked, target))
    if folder is None:
        weakref.finalize(matrix, shutil.rmtree, place, ignore_errors=True)
    return dataset


def _write(
    source: _Source, asked: _Asked, names: list[str], rows: _Rows, arrays: StoredArrays, n_threads: int, stride: int
) -> None:
    """Write the rows as bins, and last what says that they are all there."""
    schema, bins = _columns_of(source, asked, names, rows, 4 * arrays.budget, n_threads)
    codes = arrays.make("codes", (rows.n, stride), np.uint8)
    target = arrays.make("target", (rows.n,), np.int32 if rows.classes else np.float64)
    weights = arrays.make("weights", (rows.n,), np.float64) if rows.is_weighted else None
    contents = arrays.make("contents", (rows.n,), np.uint64)
    of_classes = np.zeros(len(rows.classes[0]) if rows.classes else 0)
    at = 0
    for cells, own, of_block in _encoded_blocks(source, asked, names, schema, rows):
        block = slice(at, at + len(cells))
        if block.stop > rows.n:
            raise InputFileError(f"{source.frames[0][0]}: there are more rows than before: a file changed")
        codes[block], target[block] = bin_rows(bins, cells, n_threads), own
        carry_content(np.ascontiguousarray(own[:, None]), cells, contents[block])
        if weights is not None and of_block is not None:
            weights[block] = of_block
        if len(of_classes):
            of_classes += np.bincount(own, of_block, len(of_classes))
        at = block.stop
        arrays.looked_at(len(cells) * (stride + 24))
    if at < rows.n:
        raise InputFileError(f"{source.frames[0][0]}: there are fewer rows than before: a file changed")
    np.savez(arrays.folder / "bins.npz", **vars(bins))
    of_output = [of_classes.tolist()] if rows.classes else []
    done = {"schema": schema_to_json(schema), "n": rows.n, "of_classes": of_output}
    arrays.release()
    (arrays.folder / "done.json").write_text(json.dumps(done), encoding="utf-8")


def _digest(source: _Source, asked: _Asked, names: list[str]) -> str:
    """Of the files and of all that decides what bins they give."""
    words = repr((source.stamp(), asked, names, __version__, BLOCK_ROWS))
    return hashlib.blake2b(words.encode(), digest_size=12).hexdigest()
