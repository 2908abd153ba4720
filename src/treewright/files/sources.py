"""The sources of a dataset's rows: Parquet files as typed tables, and polars frames that are read block by block.

Parquet has its own types, so nothing is inferred here. Columns that a decision tree cannot test (lists, structs, bytes)
are refused by name; a damaged file is one error that names the file.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

from treewright.core import progress, threads
from treewright.data.identifiers import are_codes
from treewright.exceptions import InputFileError, ParameterError, setting
from treewright.files.columns import (
    CellType,
    Marks,
    Tally,
    TextColumns,
    first_marks,
    marks_of,
    tallies_of,
    typed_as,
    types_of,
    warn_of_merged_levels,
)
from treewright.files.text import ReadOptions, check_regular, open_delimited, warn_of_nameless

__all__ = ["parquet_blocks", "parquet_columns", "read_parquet"]

_BLOCK_ROWS = 1 << 18


def parquet_columns(path: Path) -> tuple[str, ...]:
    """Column names of a Parquet file, in order."""
    with _refusing(path):
        return tuple(_scan(path).collect_schema().names())


def read_parquet(path: Path, leave_out: Sequence[str] = (), required: Sequence[str] = ()) -> pl.DataFrame:
    """The whole table without the columns to leave out; messages do not advise to leave out a required one."""
    names = [name for name in parquet_columns(path) if name not in set(leave_out)]
    with _refusing(path):
        selected = _select(path, names)
        _check_types(path, selected.collect_schema(), required)
        return selected.collect()


def parquet_blocks(path: Path, names: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Runs of rows of the named columns, at least one run (it may be empty)."""
    with _refusing(path):
        selected = _select(path, names)
        _check_types(path, selected.collect_schema())
        n_rows = int(_scan(path).select(pl.len()).collect().item())
    for start in range(0, max(n_rows, 1), _BLOCK_ROWS):
        with _refusing(path):
            block = selected.slice(start, _BLOCK_ROWS).collect()
        yield block


def _scan(path: Path) -> pl.LazyFrame:
    """The file as a lazy frame; its name is never read as a pattern."""
    return pl.scan_parquet(path, glob=False, hive_partitioning=False)


def _select(path: Path, names: Sequence[str]) -> pl.LazyFrame:
    """The named columns, chosen by position: polars reads some names ("*", "^a.*$") as patterns."""
    position = {name: index for index, name in enumerate(_scan(path).collect_schema().names())}
    return _scan(path).select(pl.nth([position[name] for name in names]))


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Turn any error of the reader into one error about the file."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, UnicodeError) as error:
        reason = (str(error).splitlines() or ["unreadable"])[0]
        raise InputFileError(f"{path}: is not a complete, readable Parquet file ({reason}): write it again") from None


def _check_types(path: Path, schema: pl.Schema, required: Sequence[str] = ()) -> None:
    """Refuse columns of nested values, and a file without columns."""
    if not schema:
        raise InputFileError(f"{path}: the Parquet file has no columns")
    for name, dtype in schema.items():
        if dtype.is_nested() or dtype in {pl.Binary, pl.Object}:
            leave_out = () if name in required else (", or leave it out (", setting("leave_out"), ")")
            raise InputFileError(
                f"{path}: column {name!r} holds {dtype}: write its parts as columns",
                *leave_out,
                column=name,
            )


_BLOCK = 1 << 16  # rows of a block
_PIECE = 1 << 24  # bytes of a file that are digested at a time
_SHARE, _MOST_BLOCKS = 16, 8  # read at a time: a sixteenth of the budget, and at most this many blocks
_MAGIC = b"PAR1"  # begins every Parquet file
_AS_PARQUET = ": write text tables as Parquet first (polars.scan_csv(...).sink_parquet(...))"
_PARQUET, _TEXT = (".parquet", ".pq"), (".csv", ".tsv", ".csv.gz", ".tsv.gz")


@dataclass(frozen=True)
class Source:
    """Frames with the same columns, and the files that they read.

    Parquet is read in stretches of rows: ``collect_batches`` of polars would read half a file ahead, and take twice the
    time for 100 columns.
    """

    frames: list[tuple[str, pl.LazyFrame]]
    files: list[Path]
    numbers: list[tuple[int, int]] = field(default_factory=list)  # the position of each frame among all
    are_parquet: bool = False

    def number(self, at: int) -> tuple[int, int]:
        """The position of a frame among those of all sources of a table."""
        return self.numbers[at] if self.numbers else (at, 0)

    @property
    def name(self) -> str:
        """Its name in messages: that of its first frame."""
        return self.frames[0][0] if self.frames else "the table"

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
                    f"{name}: column {lacking[0]!r} is in only one of it and {first}: all files need the same columns"
                )
            other = next((column for column in found if own[column] != found[column]), None)
            if other is not None:
                raise InputFileError(
                    f"{name}: column {other!r} holds {own[other]}, and {found[other]} in {first}: write it with one "
                    "type"
                )
        return found or {}

    def blocks(
        self, columns: Sequence[str], what: str, budget: int = 0
    ) -> Iterator[tuple[tuple[int, ...], pl.DataFrame]]:
        """The rows of some columns, in blocks within a budget of bytes, and their positions among all."""
        at_once = min(max(budget // (_SHARE * 8 * len(columns)) // _BLOCK, 1), _MOST_BLOCKS) * _BLOCK
        stamp = self.stamp()
        for at, (name, frame) in enumerate(self.frames):
            progress.report(at / len(self.frames), what)
            position = {column: place for place, column in enumerate(frame.collect_schema().names())}
            selected = frame.select(pl.nth([position[column] for column in columns]))
            batches = _stretches(name, selected, at_once) if self.are_parquet else _batches(name, selected)
            for block, rows in enumerate(batches):
                yield (*self.number(at), block), rows
        self.check_unchanged(stamp)

    def divided(self, n: int) -> list[Source]:
        """The same rows in ``n`` sources of about the same size: whole frames, or stretches if there are too few."""
        if len(self.frames) >= n:
            numbers = [self.number(at) for at in range(len(self.frames))]
            return [replace(self, frames=self.frames[at::n], files=self.files[at::n], numbers=numbers[at::n])
                    for at in range(n)]  # fmt: skip
        found: list[Source] = []
        for at, (name, frame) in enumerate(self.frames):
            n_here = n // len(self.frames) + (at < n % len(self.frames))
            n_rows = int(_reading(name, lambda frame=frame: frame.select(pl.len()).collect().item()))
            ends = [n_rows * place // n_here for place in range(n_here + 1)]
            files = [self.files[at]] if self.files else []
            for begin, end in pairwise(ends):
                own = frame.slice(begin, end - begin)
                found.append(Source([(name, own)], files, [(at, begin)], self.are_parquet))
        return found

    def stamp(self) -> tuple[Any, ...]:
        """A value that changes when a file is written while it is read; see ``stamp_of``."""
        return tuple(map(stamp_of, self.files))

    def check_unchanged(self, stamp: tuple[Any, ...]) -> None:
        """Refuse files that were written since their stamp was taken."""
        if self.stamp() != stamp:
            raise InputFileError(f"{self.name}: the file changed while it was read: try again when it is whole")


def stamp_of(path: Path) -> tuple[int, ...]:
    """Size, times and number of a file, to notice that it is written while it is read.

    A program can restore the time of the content, but not the time of the last change of the file's entry.
    """
    with naming_the_file(path):
        stat = os.stat(path)  # noqa: PTH116 - standard input is the file that it was copied to
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino


def content_digest(path: Path, n_threads: int) -> str:
    """A digest of all bytes of a file.

    Whatever is kept for the next run is known by it: size and time are the same after some changes, and the footer of a
    Parquet file is the same if rows change places. Pieces are read on the threads, 1.1 GB/s each.
    """
    with naming_the_file(path):
        n_pieces = -(-os.stat(path).st_size // _PIECE)  # noqa: PTH116 - as above
        digests = [b""] * n_pieces

        def digest(at: int, _thread: int) -> None:
            with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - as above
                file.seek(at * _PIECE)
                digests[at] = hashlib.sha256(file.read(_PIECE)).digest()

        threads.run_each(digest, n_pieces, n_threads)
    return hashlib.sha256(b"".join(digests)).hexdigest()


def parquet_source(path: Any) -> Source:
    """The Parquet files that a path, a folder, a pattern or several of them name, each once."""
    files, _ = files_of(path, _PARQUET)
    for each in files:
        with naming_the_file(each), open(each, "rb") as file:  # noqa: PTH123 - standard input is the file that it was copied to
            head = file.read(len(_MAGIC))
        if head != _MAGIC and not each.name.lower().endswith(_PARQUET):
            raise InputFileError(f"{each}: is no Parquet file{_AS_PARQUET}")
    frames = [(str(each), pl.scan_parquet(each, glob=False, hive_partitioning=False)) for each in files]
    return Source(frames, files, are_parquet=True)


def text_source(
    path: Path, options: ReadOptions, types: Callable[[Sequence[str]], Mapping[str, CellType]], leave_out: Sequence[str]
) -> Source:
    """A delimited text file, whose types all its cells decide: one pass, and one before it if they decide the marks.

    ``types`` gives, from the names of the columns, the declared types of some; nobody reads the cells of ``leave_out``.
    """
    check_regular(path)
    header, _ = open_delimited(path, options)
    declared: dict[str, CellType] = dict(types(header.names))
    for name in leave_out:
        if name in header.names:
            declared[name] = "text"
    marks = Marks.given(options, header.separator)
    if marks is None:
        found = (first_marks(text, declared) for text in _text_blocks(path, options, None, header.names))
        marks = marks_of(options, found)
    tallies = {name: Tally() for name in header.names}
    for text in _text_blocks(path, options, marks, header.names):
        for name, tally in tallies_of(text, declared).items():
            tallies[name].add(tally)
    table = TextColumns(path, pl.DataFrame(), np.empty(0, np.int64), marks, options)
    decided = types_of(table, tallies, declared)
    for name, tally in tallies.items():  # levels that are numbers stay numbers, as in a table
        if name not in leave_out and tally.numbers == tally.present and not are_codes(tally.padded, tally.present):
            decided[name] = "number"
    if "" in decided and not tallies[""].present:
        del decided[""]
    warn_of_nameless(path, len(header.nameless) + len(tallies) - len(decided))
    warn_of_merged_levels(tallies, {name: kind for name, kind in decided.items() if name not in leave_out})
    of_kind = {"number": pl.Float64(), "boolean": pl.Boolean()}
    schema = {
        name: pl.Int64() if kind == "number" and tallies[name].is_whole else of_kind.get(kind, pl.String())
        for name, kind in decided.items()
    }
    blocks = partial(_typed_blocks, path, options, marks, tallies, decided)
    return Source([(os.fspath(path), register_io_source(blocks, schema=schema))], [path])


def _text_blocks(path: Path, options: ReadOptions, marks: Marks | None, names: Sequence[str]) -> Iterator[TextColumns]:
    _, blocks = open_delimited(path, options)
    for block in blocks:
        frame = pl.DataFrame({name: block.frame.get_column(name) for name in names})
        yield TextColumns(path, frame, block.lines, marks, options)


def _typed_blocks(
    path: Path, options: ReadOptions, marks: Marks, tallies: Mapping[str, Tally], types: Mapping[str, Any],
    names: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, batch_size: int | None,
) -> Iterator[pl.DataFrame]:  # fmt: skip
    """Typed rows for polars; the last four are its wishes."""
    del batch_size
    chosen = {name: types[name] for name in (types if names is None else names)}
    left = math.inf if n_rows is None else n_rows
    for text in _text_blocks(path, options, marks, list(chosen)):
        frame = typed_as(text, tallies, chosen).head(int(min(left, len(text.lines))))
        left -= frame.height
        yield frame if predicate is None else frame.filter(predicate)
        if left <= 0:
            return


def is_several(path: Path) -> bool:
    """Whether a path names a folder, or is a pattern and not a file."""
    return path.is_dir() or (any(sign in path.name for sign in "*?[") and not path.exists())


def files_of(path: Any, endings: tuple[str, ...] = ()) -> tuple[list[Path], Path]:
    """The files that a path, a folder, a pattern or several of them name, each once; and their common folder.

    In a folder, those with one of ``endings``; by default Parquet, or text if there is no Parquet.
    """
    given = [path] if isinstance(path, str | os.PathLike) or not isinstance(path, Sequence) else list(path)
    odd = next((each for each in given if not isinstance(each, str | os.PathLike)), None)
    if odd is not None:
        raise ParameterError(f"path is a {type(odd).__name__}: name a file, a folder, a pattern, or several of them")
    files: list[Path] = []
    roots: list[Path] = []
    kinds = [endings] if endings else [_PARQUET, _TEXT]
    # A path stays the same object: that of the command line may be standard input.
    for each in (each if isinstance(each, Path) else Path(each) for each in given):
        if each.is_dir():
            roots.append(each)
            own = _below(each)
            of_kinds = [[file for file in own if file.name.lower().endswith(kind)] for kind in kinds]
            if all(of_kinds) and len(of_kinds) > 1:
                raise InputFileError(
                    f"{each}: holds Parquet ({of_kinds[0][0].name}) and text tables ({of_kinds[1][0].name}): name "
                    f"one kind, as by the pattern {each / '*.parquet'}"
                )
            files += next((found for found in of_kinds if found), [])
        elif is_several(each):
            roots.append(each.parent)
            files += [file for file in sorted(each.parent.glob(each.name)) if file.is_file()]
        else:
            roots.append(each.parent)
            files.append(each)
    if not files:
        kind = "Parquet file" if endings == _PARQUET else "Parquet file or text table (.csv, .tsv)"
        raise InputFileError(f"{given[0] if given else 'no path'}: there is no {kind}{_AS_PARQUET if endings else ''}")
    for each in files:
        if not each.is_file():
            raise InputFileError(f"{each}: no such file")
    try:
        root = Path(os.path.commonpath([absolute(each) for each in roots]))
    except ValueError:  # two drives
        raise InputFileError(f"{given[0]} and other files are on different drives: name files of one drive") from None
    return sorted({absolute(file): file for file in reversed(files)}.values()), root


def _below(folder: Path) -> list[Path]:
    """The files of a folder and its subfolders, without hidden ones; OSError if one cannot be read."""

    def refuse(error: OSError) -> None:
        raise error

    found = [
        Path(place) / name
        for place, _, names in os.walk(folder, onerror=refuse, followlinks=False)
        for name in names
        if not name.startswith((".", "_"))
    ]
    return sorted(file for file in found if file.is_file())


@contextmanager
def naming_the_file(path: Any) -> Iterator[None]:
    """Turn an error of the file system into one that names the file."""
    try:
        yield
    except OSError as error:
        raise InputFileError(f"{error.filename or path}: {error.strerror or error}") from None
    except ValueError as error:
        if "null byte" not in str(error):
            raise
        raise InputFileError(f"{path!r}: no file has such a name ({error})") from None


def absolute(path: Path) -> Path:
    """The absolute path, without ``..``; links are not followed."""
    return Path(os.path.normpath(path.absolute()))


def below(file: Path, folder: Path) -> Path:
    """The name of a file relative to an absolute folder."""
    return Path(os.path.relpath(absolute(file), folder))


def _stretches(name: str, frame: pl.LazyFrame, at_once: int) -> Iterator[pl.DataFrame]:
    n_rows = int(_reading(name, lambda: frame.select(pl.len()).collect().item()))
    for start in range(0, n_rows, at_once):
        some = _reading(name, lambda start=start: frame.slice(start, at_once).collect())
        for begin in range(0, some.height, _BLOCK):
            yield some.slice(begin, _BLOCK)


def _batches(name: str, frame: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    batches = iter(_reading(name, lambda: frame.collect_batches(chunk_size=_BLOCK, maintain_order=True)))
    while True:
        block = _reading(name, lambda: next(batches, None))
        if block is None:
            return
        # Polars may return larger ones.
        for begin in range(0, block.height, _BLOCK):
            yield block.slice(begin, _BLOCK)


def _reading(name: str, work: Any) -> Any:
    """Turn any error of the reader into one error about the file."""
    try:
        return work()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, UnicodeError) as error:
        reason = (str(error).splitlines() or ["unreadable"])[0]
        raise InputFileError(f"{name}: cannot be read ({reason}): write it again") from None
