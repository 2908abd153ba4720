"""Datasets of rows in Parquet, delimited text and lazy frames, which need not fit in memory.

    targets and weights       labels, weights                           one pass over these columns
    columns                   kinds, levels, missing cells, summaries   one pass; a second over columns of many values
    bins                      every cell as a byte                      one pass

Rows are held in one place or several (``files.places``); each makes the passes over its own rows, and this module
combines the results. Kinds, levels and bins of columns depend on the rows alone, not on their order or their places: so
the model is that of the same table in memory. If the encoded table fits into the memory budget, it is held in memory,
and every learner can learn from it.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from inspect import signature
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
import polars as pl

from treewright.boosting.sampling import GradientWeights
from treewright.core.elementary import is_whole
from treewright.core.threads import resolve_jobs
from treewright.data import dataset as encoded
from treewright.data.bins import BLOCK_ROWS, Bins, Gathered, bins_together, column_bins, summary_of
from treewright.data.categories import schema_from_json, schema_to_json
from treewright.data.dataset import Carrier, Here, RemoteRows, replies_of
from treewright.data.identifiers import left_out_for
from treewright.data.kinds import Declared, column_of, resolve
from treewright.data.memory import StoredArrays
from treewright.data.processes import Processes
from treewright.data.schema import Column, Schema
from treewright.data.target import Labels, Numbers
from treewright.exceptions import DataError, InputFileError, ParameterError, TooLargeError, setting
from treewright.files.columns import CellType
from treewright.files.places import DatasetSettings, Pass, Place, Rows, shapes_of
from treewright.files.sources import Source, content_digest, naming_the_file, parquet_source, text_source
from treewright.files.table import did_you_mean
from treewright.files.text import READING, ReadOptions
from treewright.learn.data_checks import warn_of_left_out
from treewright.learn.registry import keyword_hint
from treewright.version import __version__

try:
    import fcntl
except ImportError:  # Windows, where the folder of a killed process stays
    fcntl = None  # type: ignore[assignment]

_LAYOUT = 3  # version of the files that hold bins; raise it when their format changes
_DEFAULT_MEMORY = 0.25  # share of the machine's memory
_LEAST_MEMORY = 64 * 2**20
_FEWEST_BYTES = 10_000  # a smaller number is probably meant as gigabytes
_BYTES_OF_PASS = 20 * 2**20  # memory of a column of many values during its pass
_BYTES_BESIDE = 24  # of a row in addition to its bins: target, weight, content
_OF_ALL = ("target", "folder", "memory", "n_jobs", "n_processes")  # options of every dataset, whatever its rows
_UNFINISHED = "treewright-bins-"  # begins the names of folders that a running process writes or uses
_CLAIM = "in-use"
_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


class Dataset(encoded.Dataset):
    """Rows with their target, which every ``fit`` accepts in place of a table.

    Made by ``from_parquet``, ``from_csv`` or ``from_frame``; ``fit(dataset)`` needs no ``y``. One dataset can be used
    for any number of fits.
    """

    @classmethod
    def from_parquet(cls, path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], **options: Any) -> Dataset:
        """Rows of Parquet files.

        Parameters
        ----------
        path : path, or sequence of paths
            A file, a folder (all ``*.parquet`` below it), a pattern such as ``"2026-*.parquet"``, or several. Columns
            have the same names and types in all; the order of the files matters only for the detection of a column
            that counts the rows (1, 2, 3 …).
        **options
            ``target`` : str, the column to predict; None: there is none (isolation forests).
            ``task`` : {"classification", "regression"}, optional; by default regression for numbers, classification
            for everything else.
            ``weight`` : str, optional, the column of sample weights.
            ``nominal``, ``ordinal``, ``numeric`` : as the estimators take them.
            ``leave_out`` : sequence of str, columns that are not read.
            ``skip_missing_target`` : bool, whether rows without a target are left out; else they are refused.
            ``max_bins`` : int, 2 to 255; the ``max_bins`` of boosting.
            ``memory`` : str such as ``"4GB"`` or int, bytes; a quarter of the machine's by default. A table that fits
            is held in memory; another is stored in ``folder`` as bins, a byte a cell, and read in blocks.
            ``folder`` : path, optional; where bins are kept for the next time, which uses them if the content of the
            files and their own is the same to the byte; by default in a temporary folder for the lifetime of the
            dataset.
            ``n_jobs`` : int, optional; threads.
            ``n_processes`` : int, optional; the number of processes, each of which reads and holds a share of the rows
            within the same share of ``memory``. The model is the same. It helps if reading is slow, not if threads
            already use all processors.

        Raises
        ------
        InputFileError
            There is no such file, it is not a whole Parquet file, files differ in columns or types, or one changes
            while it is read.
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
        with naming_the_file(path):
            return _made(cls, parquet_source(path), **options)

    @classmethod
    def from_csv(cls, path: str | os.PathLike[str], **options: Any) -> Dataset:
        r"""Rows of a delimited text file with a header, read as the command line reads it.

        Parameters
        ----------
        path : path
        **options
            As for ``from_parquet``; and how the file is read: ``missing_tokens``, ``separator``, ``encoding``,
            ``decimal``, ``thousands``, ``date_format``, ``skip_rows`` and ``skip_footer``.

        Raises
        ------
        InputFileError
            The file is not a valid table, or a cell may mean two things: the message names its line.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from treewright import Dataset
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "exam.csv"
        ...     _ = path.write_text("hours;passed\n1,5;no\n8,25;yes\n")
        ...     dataset = Dataset.from_csv(path, target="passed")
        >>> dataset.matrix.tolist()
        [[1.5], [8.25]]
        """
        if not isinstance(path, str | os.PathLike):
            raise ParameterError(f"a {type(path).__name__} was given: name one file")
        with naming_the_file(path):
            if Path(path).is_dir():
                raise InputFileError(f"{path}: is a folder, and from_csv reads one file: write the others as Parquet")
            if not Path(path).is_file():
                raise InputFileError(f"{path}: no such file")
            reading = ReadOptions(**{name: options.pop(name) for name in READING if name in options})
            own = {name: value for name, value in options.items() if name not in _OF_ALL}
            settings = settings_of(options.get("target", ...), own, (*_OF_ALL, *READING))
            source = text_source(Path(path), reading, partial(_cell_types, settings), settings.leave_out)
            return _made(cls, source, **options)

    @classmethod
    def from_frame(cls, frame: Any, **options: Any) -> Dataset:
        """Rows of a polars LazyFrame, or of a pyarrow dataset; options as for ``from_parquet``.

        The frame is collected block by block, several times: it must give the same rows each time.
        """
        if not isinstance(frame, pl.LazyFrame | pl.DataFrame):
            try:
                frame = pl.scan_pyarrow_dataset(frame)
            except Exception as error:
                raise DataError(
                    f"from_frame takes a polars LazyFrame or a pyarrow dataset, not {type(frame).__name__} ({error})"
                ) from None
        return _made(cls, Source([("the frame", frame.lazy())], []), **options)

    def __repr__(self) -> str:
        names = self.target.names
        target = f"target {names[0]!r} ({'classes' if self.classes else 'numbers'})" if names else "no target"
        where = self.matrix.where if self.is_remote else "in memory"
        return f"<treewright.Dataset: {len(self):,} rows, {len(self.schema)} columns, {target}, {where}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes that hold the rows, if there are any; the dataset cannot be used afterwards."""
        end = getattr(self.matrix.carrier, "close", None) if self.is_remote else None
        if end is not None:
            end()


# The passes -----------------------------------------------------------------------------------------------------------


def _made(
    cls: type[Dataset],
    source: Source,
    *,
    target: Any = ...,
    memory: str | int | None = None,
    folder: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    n_processes: int | None = None,
    **options: Any,
) -> Dataset:
    if n_processes is not None and not (is_whole(n_processes) and n_processes >= 1):
        raise ParameterError(f"n_processes={n_processes!r}: give a whole number of at least 1")
    if n_processes is not None and os.name == "nt":
        raise ParameterError("n_processes does not work on Windows, whose pipes cannot be waited for: leave it out")
    if folder is not None and not source.files:
        raise ParameterError("folder keeps the bins of files, and a frame has no file: leave it out, or write Parquet")
    settings = settings_of(target, options)
    n_threads, budget = resolve_jobs(n_jobs), _bytes_of(memory)
    check = partial(source.check_unchanged, source.stamp())  # between passes, too
    names, task = _names_and_task(source.schema(), settings, source.name)
    if n_processes is None:
        place = Place(source, settings, n_threads, budget)
        rows = _rows_of(here := Here([place]), task)
        if rows.n * (8 * len(names) + 64) <= budget:
            held = _held(cls, here, place, names, rows, settings)
            check()
            return held
        carrier: Any = here
    else:
        shares = source.divided(n_processes)
        carrier = Processes(
            [
                partial(Place, own, settings, max(1, n_threads // n_processes), budget // n_processes, number)
                for number, own in enumerate(shares)
            ]
        )
    try:
        rows = rows if n_processes is None else _rows_of(carrier, task)
        base = None if folder is None else Path(folder)
        own_budget = budget // (n_processes or 1)
        return _in_files(cls, carrier, source, check, names, rows, settings, own_budget, base, n_threads)
    except BaseException:
        if n_processes is not None:
            carrier.close()
        raise


def _cell_types(settings: DatasetSettings, columns: Sequence[str]) -> dict[str, CellType]:
    """The types of the cells of a text file that the options declare."""
    names = [name for name in columns if name not in {settings.target, settings.weight, *settings.leave_out}]
    declared = resolve(names, settings.nominal, settings.ordinal, settings.numeric)
    return {
        names[at]: "number" if each.kind == "numeric" else "text" for at, each in declared.items() if not each.unnamed
    }


def settings_of(target: Any, options: Mapping[str, Any], others: Sequence[str] = _OF_ALL) -> DatasetSettings:
    """The options as ``DatasetSettings``; ParameterError for unknown options, and for a target that is not a name.

    ``others`` are the options that are not in ``options``, for hints.
    """
    known = [name for name in signature(DatasetSettings.of).parameters if name != "target"]
    for name in options:
        if name not in known:
            options_here = [*known, *others]
            hint = keyword_hint(name, options_here) or f"choose one of {', '.join(sorted(options_here))}"
            raise ParameterError(f"a dataset has no option {name!r}: {hint}")
    if target is ...:
        raise ParameterError("target is missing: name the column to predict, or give None if there is none")
    for name, column in (("target", target), ("weight", options.get("weight"))):
        if column is not None and not isinstance(column, str):
            raise ParameterError(f"{name} is a {type(column).__name__}: give the name of a column")
    left_out = options.get("leave_out") or ()
    if isinstance(left_out, str) or not all(isinstance(name, str) for name in left_out):
        raise ParameterError(f"leave_out={left_out!r}: give a list of column names")
    if target is not None and target in (*left_out, options.get("weight")):
        other = "weight" if target == options.get("weight") else "leave_out"
        raise ParameterError(f"column {target!r} is the target and also in {other}: leave one of them out")
    return DatasetSettings.of(target, **{**options, "leave_out": left_out})


def dataset_of_places(carrier: Any, settings: DatasetSettings) -> Dataset:
    """A dataset of the rows that places hold in memory, in this process or elsewhere."""
    of_places = replies_of(carrier, "types")
    for at, types in enumerate(of_places):
        other = next((name for name in of_places[0] if types.get(name) != of_places[0][name]), None)
        if other is not None or len(types) != len(of_places[0]):
            name = other or next(name for name in types if name not in of_places[0])
            raise InputFileError(
                f"column {name!r} holds {of_places[0].get(name, 'nothing')} in one place and "
                f"{types.get(name, 'nothing')} in another (place {at}): write it with one type"
            )
    names, task = _names_and_task(of_places[0], settings, "the table")
    rows = _rows_of(carrier, task)
    schema, bins = _columns_of(carrier, names, rows, settings, _LEAST_MEMORY * 32)
    of_classes = _added(replies_of(carrier, "bin", names, schema, bins, rows, None, settles=True))
    matrix = _cells(carrier, schema, bins, rows, settings, [np.array(of_classes)] if of_classes else [], "on a cluster")
    return Dataset(schema, matrix, _target(rows, settings, _no_target(rows)))


def _rows_of(carrier: Carrier, task: str) -> Rows:
    """Labels and weights of the rows."""
    rows = Rows(task)
    of_places = replies_of(carrier, "rows", task, settles=True)
    for found in of_places:
        rows.join(found)
    if not math.isfinite(rows.sum_of_weights):
        raise DataError("the sum of the weights is beyond float64: divide the weights by the largest")
    rows.of_places = tuple(found.n for found in of_places)
    rows.settle()
    if not rows.n:
        raise DataError("there are no rows to learn from")
    return rows


def _names_and_task(types: Mapping[str, pl.DataType], settings: DatasetSettings, where: str) -> tuple[list[str], str]:
    """The columns to learn from, and the task."""
    for name in (settings.target, settings.weight, *settings.leave_out):
        if name is not None and name not in types:
            raise ParameterError(f"{where}: no column {name!r}{did_you_mean(name, list(types))}")
    for name, kind in types.items():
        if name not in settings.leave_out and (kind.is_nested() or kind in {pl.Binary, pl.Object}):
            raise InputFileError(
                f"{where}: column {name!r} holds {kind}: write its parts as columns, or leave it out "
                f"(leave_out=[{name!r}])"
            )
    names = [name for name in types if name not in {settings.target, settings.weight, *settings.leave_out}]
    if not names:
        but = "" if settings.target is None else f" except the target {settings.target!r}"
        raise DataError(f"{where}: no column is left to learn from{but}")
    if settings.target is None:
        return names, ""
    return names, settings.task or ("regression" if types[settings.target].is_numeric() else "classification")


def _bytes_of(memory: Any) -> int:
    """A budget in bytes.

    >>> _bytes_of("2GB"), _bytes_of("1.5 gb"), _bytes_of(10**9)
    (2000000000, 1500000000, 1000000000)
    """
    if memory is None:
        try:
            memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        except (AttributeError, OSError, ValueError):
            memory = 8 * 2**30
        return max(_LEAST_MEMORY, int(_DEFAULT_MEMORY * memory))
    if isinstance(memory, str):
        text = memory.strip().upper()
        unit = next((unit for unit in sorted(_UNITS, key=len, reverse=True) if text.endswith(unit)), "")
        with suppress(ValueError, OverflowError):
            size = int(float(text[: len(text) - len(unit)]) * _UNITS.get(unit, 1))
            if size >= _FEWEST_BYTES:
                return size
    elif isinstance(memory, int | float) and _FEWEST_BYTES <= memory < math.inf:
        return int(memory)
    raise ParameterError(setting("memory", memory), ": give a size such as 4GB, or a number of bytes, at least 10,000")


def _columns_of(
    carrier: Carrier, names: list[str], rows: Rows, settings: DatasetSettings, budget: int
) -> tuple[Schema, Bins]:
    """The schema of the columns, and their bins; as many columns at a time as the memory allows."""
    declared = resolve(names, settings.nominal, settings.ordinal, settings.numeric)
    passes: list[Pass] = []
    columns: list[Column] = []
    parts: list[Any] = []  # bins: of a column's summary, a megabyte or two, no more is kept
    at_once = max(1, budget // (4 * _BYTES_OF_PASS))
    for first in range(0, len(names), at_once):
        group = [
            Pass(name, declared.get(at, Declared(None)), f"column {name!r}", gathered=Gathered(n_rows=rows.n))
            for at, name in enumerate(names[first : first + at_once], first)
        ]
        for of_place in replies_of(carrier, "columns", group, rows):
            if of_place is not group:  # a place of this process has looked at these very passes
                for own, other in zip(group, of_place, strict=True):
                    own.join(other)
        columns += [column_of(own.name, own.distinct(), own.declared, own.label) for own in group]
        left = [own for own in group if own.is_gathered and own.gathered.refine()]
        while left:
            emptied = [own if carrier.n_parts == 1 else own.emptied() for own in left]
            for of_place in replies_of(carrier, "again", emptied, rows):
                for own, gathered in zip(left, of_place, strict=True):
                    if gathered is not own.gathered:
                        own.gathered.join(gathered)
            left = [own for own in left if own.gathered.refine()]
        for own, column in zip(group, columns[first:], strict=True):
            summary = own.gathered.summary() if own.is_gathered else own.summary(column)
            parts.append(column_bins(summary, column, settings.max_bins))
            own.let_go()
        passes += group
    schema = Schema(_without_identifiers(columns, passes, declared, rows.n_given), True)
    warn_of_left_out(schema)
    nothing = summary_of(np.zeros(1), np.empty(0, np.int64))
    used = [
        column_bins(nothing, column, settings.max_bins) if column.left_out else part
        for column, part in zip(schema.columns, parts, strict=True)
    ]
    return schema, bins_together(used, schema.columns)


def _without_identifiers(
    columns: list[Column], passes: list[Pass], declared: Mapping[int, Declared], n: int
) -> tuple[Column, ...]:
    """The columns, with those that only identify rows marked as left out."""
    reasons = {}
    for at, (column, each) in enumerate(zip(columns, passes, strict=True)):
        if at not in declared and (reason := each.reason(column, n)):
            reasons[at] = reason

    def any_varies(left_out: Mapping[int, str]) -> bool:
        return any(each.n_values > 1 for at, each in enumerate(passes) if at not in left_out)

    return left_out_for(columns, reasons, any_varies, named=True)


# The datasets ---------------------------------------------------------------------------------------------------------


def _held(
    cls: type[Dataset], carrier: Carrier, place: Place, names: list[str], rows: Rows, settings: DatasetSettings
) -> Dataset:
    """A dataset in memory, for every learner."""
    schema, _ = _columns_of(carrier, names, rows, settings, _LEAST_MEMORY * 8)
    matrix = np.empty((rows.n, len(schema)), order="F")
    target = np.empty((rows.n, 1 if rows.task else 0), np.int32 if rows.classes else np.float64)
    weights = np.empty(rows.n) if rows.is_weighted else None
    at = 0
    for cells, own, of_block in place.encoded(names, schema, rows):
        block = slice(at, at + len(cells))
        matrix[block], target[block] = cells, own.reshape(len(cells), -1)
        if weights is not None:
            weights[block] = of_block
        at += len(cells)
    return cls(schema, matrix, _target(rows, settings, target), weights, weights)


def _target(rows: Rows, settings: DatasetSettings, target: np.ndarray) -> Labels | Numbers:
    if rows.classes:
        return Labels(target, rows.classes, (str(settings.target),), True)
    return Numbers(target, () if settings.target is None else (settings.target,), True)


def _in_files(
    cls: type[Dataset], carrier: Any, source: Source, check: Callable[[], None], names: list[str], rows: Rows,
    settings: DatasetSettings, budget: int, base: Path | None, n_threads: int,
) -> Dataset:  # fmt: skip
    """A dataset of bins in the files of a folder: a temporary one, or one that is kept in ``base``."""
    root = Path(tempfile.gettempdir()) if base is None else base
    root.mkdir(parents=True, exist_ok=True)
    _sweep(root)
    folder = kept = None
    if base is not None:
        folder = kept = base / f"treewright-{_digest(source, names, settings, carrier.n_parts, n_threads)}"
    made = None if kept is None else _made_before(kept, len(names), rows, n_threads)
    if made is None:
        needed, free = rows.n * (-(-len(names) // 8) * 8 + _BYTES_BESIDE), shutil.disk_usage(root).free
        if needed > free:
            raise TooLargeError(
                f"{rows.n:,} rows x {len(names)} columns as bins need {needed:,} bytes in {root}, {free:,} are free: "
                "give another folder=..."
            )
        folder, claim = _claimed(root)
        remove = weakref.finalize(carrier, _remove, folder, claim)
        try:
            made = _write(carrier, names, rows, settings, budget, folder, n_threads, digests=kept is not None)
            check()
            if kept is not None:
                if _made_before(kept, len(names), rows, n_threads) is None:
                    shutil.rmtree(kept, ignore_errors=True)
                with suppress(OSError):  # another process was faster: then this folder is a temporary one
                    folder = folder.rename(kept)
                    remove.detach()
                    claim.close()
                    (folder / _CLAIM).unlink()
        except BaseException:
            remove()
            raise
    schema, bins, of_classes = made
    replies_of(carrier, "take_up", folder, schema, rows, settles=True)
    matrix = _cells(carrier, schema, bins, rows, settings, of_classes, "in files", budget)
    return cls(schema, matrix, _target(rows, settings, _no_target(rows)))


def _claimed(root: Path) -> tuple[Path, IO[bytes]]:
    """A new folder, and a file in it that is locked until it is closed or this process ends, however it ends."""
    # Until the lock is held the folder has a name that ``_sweep`` does not look at.
    folder = Path(tempfile.mkdtemp(prefix=".treewright-", dir=root))
    claim = (folder / _CLAIM).open("wb")
    with suppress(OSError):  # a file system without locks: the folder may stay after a kill
        _lock(claim)
    return folder.rename(root / f"{_UNFINISHED}{folder.name.removeprefix('.treewright-')}"), claim


def _remove(folder: Path, claim: IO[bytes]) -> None:
    claim.close()
    shutil.rmtree(folder, ignore_errors=True)


def _sweep(root: Path) -> None:
    """Delete the folders of processes that were killed."""
    for folder in root.glob(f"{_UNFINISHED}*"):
        with suppress(OSError), (folder / _CLAIM).open("r+b") as claim:
            _lock(claim)
            shutil.rmtree(folder, ignore_errors=True)


def _lock(claim: IO[bytes]) -> None:
    """Lock a file for this process; OSError if another holds it, or there are no locks here."""
    if fcntl is None:
        raise OSError
    fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)


_Made = tuple[Schema, Bins, list[np.ndarray]]


def _made_before(folder: Path, n_columns: int, rows: Rows, n_threads: int) -> _Made | None:
    """Schema, bins and weights of classes of an earlier dataset; None if one byte of its files is not as it was."""
    with suppress(OSError, ValueError, LookupError, TypeError, RecursionError, InputFileError):
        done = json.loads((folder / "done.json").read_text(encoding="utf-8"))
        facts, digests = done["facts"], done["facts"]["digests"]
        if done["digest"] != _digest_of_json(facts) or set(digests) != {"bins.npz", *shapes_of(0, n_columns, rows)}:
            return None
        if all(content_digest(folder / name, n_threads) == own for name, own in digests.items()):
            with np.load(folder / "bins.npz", allow_pickle=False) as held:
                bins = Bins(**{name: held[name] for name in held.files})
            return schema_from_json(facts["schema"]), bins, [np.array(own) for own in facts["of_classes"]]
    return None


def _cells(
    carrier: Carrier, schema: Schema, bins: Bins, rows: Rows, settings: DatasetSettings, of_classes: Sequence[Any],
    where: str, budget: int | None = None,
) -> RemoteRows:  # fmt: skip
    are_counts = rows.is_weighted and rows.are_whole and GradientWeights.may_count(rows.sum_of_weights)
    n_rows = int(rows.sum_of_weights) if are_counts else rows.n
    return RemoteRows((rows.n, len(schema)), bins, settings.max_bins, n_rows, tuple(of_classes), carrier, where, budget)


def _no_target(rows: Rows) -> np.ndarray:
    return np.empty((0, 1 if rows.task else 0), np.int32 if rows.classes else np.float64)


def _write(
    carrier: Any, names: list[str], rows: Rows, settings: DatasetSettings, budget: int, folder: Path, n_threads: int, *,
    digests: bool,
) -> _Made:  # fmt: skip
    """Let every place write its bins; with ``digests``, also what the next run needs to use them."""
    schema, bins = _columns_of(carrier, names, rows, settings, budget)
    stored = StoredArrays(folder, budget // 4)
    for name, shape in shapes_of(rows.n, len(schema), rows).items():
        stored.make(name, *shape)
    added = _added(replies_of(carrier, "bin", names, schema, bins, rows, folder))
    of_classes = [added] if added else []
    if digests:
        np.savez(folder / "bins.npz", **vars(bins))
        files = ("bins.npz", *shapes_of(0, len(schema), rows))
        own = {name: content_digest(folder / name, n_threads) for name in files}
        facts = {"schema": schema_to_json(schema), "of_classes": of_classes, "digests": own}
        done = {"digest": _digest_of_json(facts), "facts": facts}
        (folder / "done.json").write_text(json.dumps(done), encoding="utf-8")
    return schema, bins, [np.array(own) for own in of_classes]


def _added(of_places: list[list[Fraction]]) -> list[float]:
    """The total weights of the classes over all places, rounded once."""
    return [float(sum(own, Fraction(0))) for own in zip(*of_places, strict=True)]


def _digest(source: Source, names: list[str], settings: DatasetSettings, n_places: int, n_threads: int) -> str:
    """A digest of the content of the files, and of all options that affect their bins."""
    contents = [content_digest(path, n_threads) for path in source.files]
    words = repr((contents, settings, names, n_places, __version__, BLOCK_ROWS, _LAYOUT))
    return hashlib.blake2b(words.encode(), digest_size=12).hexdigest()


def _digest_of_json(facts: Any) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
