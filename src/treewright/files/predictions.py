"""Predictions for more rows than fit in memory, of files or of a lazy frame.

predict_files    a Parquet file of predictions for every file of rows, block by block; files that an earlier run of the
                 same model on the same rows has finished are not written again
predict_frame    a frame of predictions from a frame: of polars, lazy or not, or of Dask
answers          the columns that both, and the command line, write
"""

from __future__ import annotations

import hashlib
import os
import platform
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

from treewright.core import progress
from treewright.core.threads import resolve_jobs
from treewright.data.encoder import UnseenLevels, unseen_levels_counted
from treewright.evaluation.measures import label_series
from treewright.exceptions import DataError, InputFileError, ParameterError, setting
from treewright.files.matching import as_at_fit, columns_of, rows_for
from treewright.files.sources import absolute, below, content_digest, files_of, is_several, naming_the_file, stamp_of
from treewright.files.table import require_columns
from treewright.files.text import ReadOptions, check_regular
from treewright.forest.isolation import ALGORITHM as ISOLATION
from treewright.forest.isolation import anomaly_scores
from treewright.forest.quantiles import checked_quantiles
from treewright.model.neighbors import NeighborsModel
from treewright.neighbors import codec as neighbors_codec
from treewright.trees import codec
from treewright.version import __version__

_KEY = "treewright"  # in the metadata of a file: the digest of its model, rows and options
_PART = f".treewright-{hashlib.blake2b(platform.node().encode(), digest_size=4).hexdigest()}-"  # of this machine


def answers(
    model: Any, features: Any, *, proba: bool = False, quantiles: Mapping[str, float] | None = None,
    n_jobs: int | None = None,
) -> list[pl.Series]:  # fmt: skip
    """A model's predictions for some rows, as columns of different names.

    ``prediction``, or ``prediction_<output>`` for several outputs; ``probability_<class>`` with ``proba``; the
    quantiles, by their names. For an isolation forest ``prediction``, -1 for outliers and else 1, and ``score``.
    """
    if _is_isolation(model):
        scores = anomaly_scores(model, features)
        is_odd = -scores - model.facts["offset"] < 0
        return [pl.Series("prediction", np.where(is_odd, -1, 1)), pl.Series("score", scores)]
    predicted = np.asarray(model.predict(features, n_jobs=n_jobs))
    outputs = predicted[:, None] if predicted.ndim == 1 else predicted
    names = _output_names(model, outputs.shape[1])
    found = [label_series(name, outputs[:, output]) for output, name in enumerate(names)]
    if proba:
        probabilities = model.predict_proba(features, n_jobs=n_jobs)
        for name, chances, classes in zip(
            names, probabilities if isinstance(probabilities, list) else [probabilities], model.classes, strict=True
        ):
            labels = label_series("class", classes).cast(pl.String).to_list()
            stem = name.replace("prediction", "probability", 1)
            found += [pl.Series(f"{stem}_{label}", chances[:, code]) for code, label in enumerate(labels)]
        _refuse_doubles(
            found, "two targets with their classes, or two classes, make it: rename one in the table and fit again"
        )
    if quantiles:
        of_rows = model.predict_quantile(features, list(quantiles.values()), n_jobs=n_jobs)
        for output, name in enumerate(names):
            of_output = of_rows if of_rows.ndim == 2 else of_rows[:, :, output]
            ending = name.removeprefix("prediction")
            found += [pl.Series(f"{title}{ending}", of_output[:, at]) for at, title in enumerate(quantiles)]
        _refuse_doubles(found, "rename the quantiles")
    return found


def _refuse_doubles(found: Sequence[pl.Series], remedy: str) -> None:
    names = [series.name for series in found]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise ParameterError(f"two columns of the predictions are named {double!r}: {remedy}")


def quantile_name(quantile: float) -> str:
    """The name of the column of a quantile.

    >>> quantile_name(0.5), quantile_name(1.0)
    ('quantile_0.5', 'quantile_1')
    """
    return f"quantile_{str(float(quantile)).removesuffix('.0')}"


def _output_names(model: Any, n_outputs: int) -> list[str]:
    """``prediction``, or one such name per output."""
    if n_outputs == 1:
        return ["prediction"]
    names = model.target_names or tuple(str(output) for output in range(n_outputs))
    return [f"prediction_{name}" for name in names]


def _is_isolation(model: Any) -> bool:
    return bool(model.facts.get("algorithm") == ISOLATION)


def _checked(model: Any, proba: bool, quantiles: Any) -> tuple[Any, dict[str, float]]:
    """The model of an estimator, and the quantiles by the names of their columns."""
    found = getattr(model, "model_", model)
    if not hasattr(found, "facts"):
        raise ParameterError(f"model is a {type(model).__name__}: give a model or a fitted estimator")
    if proba and (_is_isolation(found) or found.task != "classification"):
        raise ParameterError("proba=True: the model predicts numbers, which have no class probabilities")
    quantiles = quantiles if isinstance(quantiles, Mapping | Sequence | np.ndarray) else [quantiles]
    if len(quantiles) > 0 and (isinstance(found, NeighborsModel) or found.leaf_targets is None):
        raise ParameterError("quantiles: only a regression forest fitted with quantiles=True has them")
    if isinstance(quantiles, Mapping):
        return found, dict(quantiles)
    checked = checked_quantiles(quantiles) if len(quantiles) else []
    return found, {quantile_name(each): float(each) for each in checked}


def _named_once(keep: Sequence[str]) -> tuple[str, ...]:
    """The columns to keep, each once."""
    given: Any = keep
    if isinstance(given, str) or not isinstance(given, Sequence) or not all(isinstance(name, str) for name in given):
        raise ParameterError(
            f"keep={keep!r}: give a list of columns, such as [{keep if isinstance(keep, str) else 'id'!r}]"
        )
    return tuple(dict.fromkeys(keep))


def _columns_joined(kept: Sequence[pl.Series], found: Sequence[pl.Series]) -> pl.DataFrame:
    """The columns to keep and the predictions as one frame; a name that both have is refused."""
    names = [series.name for series in found]
    clash = next((series.name for series in kept if series.name in names), None)
    if clash is not None:
        raise ParameterError(f"keep={clash!r}: the predictions have a column of this name: rename it in the table")
    return pl.DataFrame([*kept, *found])


# Files ----------------------------------------------------------------------------------------------------------------


def predict_files(
    model: Any,
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    proba: bool = False,
    quantiles: Sequence[float] | Mapping[str, float] = (),
    keep: Sequence[str] = (),
    force: bool = False,
    n_jobs: int | None = None,
    reading: ReadOptions | None = None,
) -> list[Path]:
    """Predict the rows of files, block by block, into Parquet files of the same names.

    A file appears when it is complete, and its metadata identify its model, rows and options: so the same call
    continues a run that was stopped.

    Parameters
    ----------
    model : estimator, Model or NeighborsModel
    path : path, or sequence of paths
        Files of rows (Parquet, or delimited text, plain or gzip), a folder, a pattern such as ``"2026-*.parquet"``.
    out : path
        A folder, created if needed; the files below it are in the same subfolders as those of rows. Or, for a single
        file of rows, a name that ends in ``.parquet``.
    proba : bool, default False
        Whether a column of probabilities per class is written.
    quantiles : sequence of float, or mapping of column name to float, default ()
        For a forest fitted with ``quantiles=True``: a column for each.
    keep : sequence of str, default ()
        Columns of the rows that are copied before the predictions.
    force : bool, default False
        Whether files of other runs may be replaced.
    n_jobs : int, optional
        Threads; the predictions do not depend on it.
    reading : ReadOptions, optional
        How text files are read.

    Returns
    -------
    list of Path
        The files of predictions, including those of earlier runs.

    Raises
    ------
    InputFileError
        There is no such file, a file is damaged or changes while it is read, cannot be written, or exists and is of
        another model, other rows or other options (``force=True`` replaces it).
    ColumnError
        A column of the model, or one to keep, is missing.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> import treewright as tw
    >>> table = pl.DataFrame({"hours": [1, 2, 8, 9]})
    >>> est = tw.DecisionTreeClassifier().fit(table, ["no", "no", "yes", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table.write_parquet(f"{folder}/monday.parquet")
    ...     found = tw.predict_files(est, folder, f"{folder}/answers", keep=["hours"])
    ...     print(found[0].name, pl.read_parquet(found[0])["prediction"].to_list())
    monday.parquet ['no', 'no', 'yes', 'yes']
    """
    model, named = _checked(model, proba, quantiles)
    given: list[Any] = list(path) if isinstance(path, Sequence) and not isinstance(path, str) else [path]
    keep = _named_once(keep)
    place: Any = out
    if not isinstance(place, str | os.PathLike):
        raise ParameterError(f"out is a {type(out).__name__}: give the name of a folder for the predictions")
    with naming_the_file(path):
        return _predicted(model, given, Path(out), keep, proba, named, force, n_jobs, reading or ReadOptions())


def _predicted(
    model: Any, given: list[Any], out: Path, keep: tuple[str, ...], proba: bool, named: dict[str, float], force: bool,
    n_jobs: int | None, options: ReadOptions,
) -> list[Path]:  # fmt: skip
    is_one = len(given) == 1 and not is_several(given[0] if isinstance(given[0], Path) else Path(given[0]))
    files, targets = _files_and_targets(given, out, is_one=is_one)
    content = neighbors_codec.dumps(model) if isinstance(model, NeighborsModel) else codec.dumps(model)
    of_model = hashlib.blake2b(content, digest_size=16).hexdigest()
    predict_block, n_threads = (
        partial(answers, model, proba=proba, quantiles=named, n_jobs=n_jobs),
        resolve_jobs(n_jobs),
    )
    done: list[Path] = []
    for at, (rows, target) in enumerate(zip(files, targets, strict=True)):
        progress.report(at / len(files), "predicting")
        check_regular(rows)
        stamp = stamp_of(rows)
        made_of = _digest(rows, of_model, (proba, named, keep, options), n_threads)
        there = _made_of(target) if target.exists() else None
        if target.exists() and there != made_of and not force:
            raise InputFileError(
                f"{target}: exists, and is of another model, other rows or options: give another folder, or "
                "replace it (",
                setting("force", True),
                ")",
            )
        if there != made_of:
            unseen = UnseenLevels()
            _write(rows, stamp, target, made_of, _frames(model, rows, options, keep, predict_block, unseen))
            unseen.warn()
        done.append(target)
    progress.report(1.0, "predicting")
    return done


def _files_and_targets(given: Sequence[Any], out: Path, *, is_one: bool) -> tuple[list[Path], list[Path]]:
    """The files of rows, and the files of their predictions, which are never in a folder of rows."""
    files, root = files_of(given)
    if is_one and out.suffix == ".parquet" and not out.is_dir():
        targets = [out]
    else:
        if out.exists() and not out.is_dir():
            raise InputFileError(f"{out}: is a file, and predictions of several files go to a folder: name a folder")
        if out.suffix == ".parquet" and not out.exists():
            raise InputFileError(f"{out}: names a file, and predictions of several files go to a folder: name a folder")
        # The folder of predictions may be below that of the rows: files that an earlier run wrote there are not rows.
        inside = [file for file in files if root in absolute(out).parents and absolute(out) in absolute(file).parents]
        taken = next((file for file in inside if _made_of(file) is None), None)
        if taken is not None:
            raise InputFileError(f"{out}: holds rows, such as {taken}: give another folder for the predictions")
        files = [file for file in files if file not in inside]
        if not files:
            raise InputFileError(f"{given[0]}: holds only predictions, and no rows: name the files of rows")
        inner = [below(file, root) for file in files]
        targets = [
            out / (each if each.suffix == ".parquet" else each.with_name(f"{each.name}.parquet")) for each in inner
        ]
    double = next((at for at, target in enumerate(targets) if target in targets[:at]), None)
    if double is not None:
        first = files[targets.index(targets[double])]
        raise InputFileError(
            f"{first} and {files[double]}: their predictions would both be {targets[double]}: predict them separately"
        )
    of_rows = {(stat.st_dev, stat.st_ino) for stat in map(os.stat, files)}
    for target in targets:
        if target.exists() and not target.is_file():
            raise InputFileError(f"{target}: is not an ordinary file: name another for the predictions")
        if target.exists() and (target.stat().st_dev, target.stat().st_ino) in of_rows:
            raise InputFileError(f"{target}: holds rows: give another folder for the predictions")
    return files, targets


def _make_folder(folder: Path) -> None:
    """Make the folder of a file, and delete the partial files of killed runs in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob(f"{_PART}*.part"):
            if not _is_alive(left.name.removeprefix(_PART).partition("-")[0]):
                left.unlink()
    except OSError as error:
        raise InputFileError(f"{folder}: cannot be made: {error.strerror or error}") from None


def _is_alive(process: str) -> bool:
    """Whether a process of this machine is running; True if that cannot be found out."""
    if os.name == "nt" or not process.isdecimal():
        return True
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _digest(rows: Path, of_model: str, options: tuple[Any, ...], n_threads: int) -> str:
    """The digest of a file of rows, a model and options, for the metadata of the predictions."""
    words = repr((content_digest(rows, n_threads), of_model, options, __version__))
    return hashlib.blake2b(words.encode(), digest_size=16).hexdigest()


def _made_of(target: Path) -> str | None:
    with suppress(pl.exceptions.PolarsError, OSError):
        return pl.read_parquet_metadata(target).get(_KEY)
    return None


def _frames(
    model: Any, rows: Path, options: ReadOptions, keep: tuple[str, ...],
    predict_block: Callable[[Any], list[pl.Series]], unseen: UnseenLevels,
) -> Iterator[pl.DataFrame]:  # fmt: skip
    """Predictions of a file's rows, block by block; at least one block, which may be empty."""
    for some in rows_for(model, rows, options, beside=keep):
        with unseen_levels_counted(unseen):
            found = predict_block(some.features)
        yield _columns_joined([] if some.beside is None else some.beside.get_columns(), found)


def _write(
    rows: Path, stamp: tuple[int, ...], target: Path, made_of: str, blocks: Iterator[pl.DataFrame]
) -> None:  # fmt: skip
    """Write a file block by block; it appears when it is complete, if the rows have not changed meanwhile."""
    first = next(blocks)
    _make_folder(target.parent)

    def given(_columns: Any, _predicate: Any, _n_rows: Any, _size: Any) -> Iterator[pl.DataFrame]:
        yield first
        yield from blocks

    part = target.with_name(f"{_PART}{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        register_io_source(given, schema=first.schema).sink_parquet(part, metadata={_KEY: made_of})
        if stamp_of(rows) != stamp:
            raise InputFileError(f"{target}: the rows changed while they were read: try again when they are complete")
        part.replace(target)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputFileError(f"{target}: cannot be written: {error}") from None
    finally:
        with suppress(OSError):
            part.unlink()


# Frames ---------------------------------------------------------------------------------------------------------------


def predict_frame(
    model: Any, frame: Any, *, proba: bool = False, quantiles: Sequence[float] = (), keep: Sequence[str] = (),
    n_jobs: int | None = None,
) -> Any:  # fmt: skip
    """Predict the rows of a frame as part of its computation.

    Parameters
    ----------
    model : estimator, Model or NeighborsModel
    frame : polars LazyFrame or DataFrame, or Dask DataFrame
        With the model's columns, of the types that they had at fit.
    proba, quantiles, keep, n_jobs
        As for ``predict_files``.

    Returns
    -------
    frame of the same kind
        The columns to keep and the predictions; a lazy frame is not computed yet, and later computed in blocks of rows.

    Raises
    ------
    DataError
        ``frame`` is of another type.
    ColumnError
        A column of the model, or one to keep, is missing.

    Examples
    --------
    >>> import polars as pl
    >>> import treewright as tw
    >>> table = pl.DataFrame({"hours": [1, 2, 8, 9], "name": ["Ann", "Bo", "Cid", "Di"]})
    >>> est = tw.DecisionTreeClassifier().fit(table.select("hours"), ["no", "no", "yes", "yes"])
    >>> tw.predict_frame(est, table.lazy(), keep=["name"]).filter(pl.col("prediction") == "yes").collect().rows()
    [('Cid', 'yes'), ('Di', 'yes')]
    """
    model, named = _checked(model, proba, quantiles)
    schema_of_model, keep = columns_of(model), _named_once(keep)
    names = [str(column.name) for column in schema_of_model.needed]
    predict_block = partial(_predicted_frame, model, keep, proba, named, n_jobs)
    if isinstance(frame, pl.DataFrame):
        require_columns(Path("the frame"), frame.columns, [*names, *keep])
        return predict_block(frame)
    if isinstance(frame, pl.LazyFrame):
        schema = frame.collect_schema()
        require_columns(Path("the frame"), schema.names(), [*names, *keep])
        wanted = frame.select(pl.nth([schema.names().index(name) for name in dict.fromkeys([*names, *keep])]))
        # The columns of no rows, which every model can predict.
        of_none = predict_block(pl.DataFrame(schema={name: schema[name] for name in dict.fromkeys([*names, *keep])}))
        return wanted.map_batches(predict_block, schema=of_none.schema, streamable=True)
    if hasattr(frame, "map_partitions") and hasattr(frame, "_meta"):
        require_columns(Path("the frame"), list(frame.columns), [*names, *keep])
        predict_part = partial(_predicted_pandas, predict_block)
        return frame.map_partitions(predict_part, meta=predict_part(frame._meta))
    raise DataError(f"frame is a {type(frame).__name__}: give a polars LazyFrame or DataFrame, or a Dask DataFrame")


def _predicted_frame(
    model: Any, keep: tuple[str, ...], proba: bool, quantiles: Mapping[str, float], n_jobs: int | None,
    frame: pl.DataFrame,
) -> pl.DataFrame:  # fmt: skip
    features = as_at_fit(columns_of(model), frame)
    found = answers(model, features, proba=proba, quantiles=quantiles, n_jobs=n_jobs)
    return _columns_joined([frame.get_column(name) for name in keep], found)


def _predicted_pandas(predict_block: Callable[[pl.DataFrame], pl.DataFrame], frame: Any) -> Any:
    """The predictions for a partition of Dask, with its index."""
    found = predict_block(pl.DataFrame(frame)).to_pandas()
    return found.set_index(frame.index)
