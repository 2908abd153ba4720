"""Fits on rows that are on the workers of a Dask cluster. In: an estimator, a table of Dask. Out: the fitted estimator.

Dask moves and schedules: it makes the partitions of the table on its workers and keeps them there, sends every
question to the worker that has the rows, and returns the answer. Nothing here opens a connection of its own. The rows
of a worker are one place (``files.places``), kept in the worker's process under a name; the coordinator is the process
that calls ``fit``, and sees no row.

If a worker is lost, Dask makes its partitions again from their source, on the remaining workers; these become places,
get all questions again, and the fit continues (``boosting.distributed``).
"""

from __future__ import annotations

import secrets
import time
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, cast

import polars as pl

from treewright.data.dataset import PartLostError
from treewright.exceptions import DataError, MissingLibraryError, ParameterError
from treewright.files.dataset import Dataset, dataset_of_places, settings_of
from treewright.files.places import DatasetSettings, Place
from treewright.files.sources import Source

__all__ = ["dataset", "fit"]

_OF_LOST_WORKERS = ("KilledWorker", "CommClosedError", "CancelledError", "FutureCancelledError", "PlaceGoneError")
_GLANCE = 1.0  # seconds between two checks whether a worker is still there
_BUDGET = 512 * 2**20  # bytes, for columns of many values during their passes
_places: dict[str, Place] = {}  # of the worker's process


def fit(
    estimator: Any, data: Any, *, target: str | None, client: Any = None, patience: float = 600.0, **options: Any
) -> Any:
    """Fit an estimator on rows that are on the workers of a Dask cluster.

    Parameters
    ----------
    estimator : boosting, forest, isolation forest, or a tree on bins
        Fitted in place.
    data : dask DataFrame, or sequence of futures of pandas, polars or pyarrow tables
        The table, with the target as one of its columns. Partitions may be uneven or empty.
    target : str or None
        The column to predict; None for an isolation forest.
    client : distributed.Client, optional
        The current one by default.
    patience : float, seconds
        How long a question may take before its worker counts as lost.
    **options
        As for ``Dataset.from_parquet``: ``task``, ``weight``, ``nominal``, ``ordinal``, ``numeric``, ``leave_out``,
        ``skip_missing_target``, ``max_bins``.

    Returns
    -------
    estimator
        Its model is, byte for byte, that of the same rows in memory, for any partitions and workers.

    Raises
    ------
    MissingLibraryError
        Dask is not installed (``pip install "treewright[dask]"``).
    PartLostError
        Workers were lost repeatedly, or none is left.
    DataError, ParameterError
        As for ``fit`` on rows in memory; or the fit is not possible on rows elsewhere, with the reason.

    Examples
    --------
    >>> import pandas as pd  # doctest: +SKIP
    >>> from dask.distributed import Client  # doctest: +SKIP
    >>> with Client(n_workers=2) as client:  # doctest: +SKIP
    ...     table = dask.dataframe.read_parquet("rows/")
    ...     tw.distributed.fit(tw.GradientBoostingClassifier(100), table, target="y", client=client)
    """
    options.setdefault("task", None if target is None else getattr(estimator, "_task", None))
    rows = dataset(data, target=target, client=client, patience=patience, **options)
    try:
        return estimator.fit(rows)
    finally:
        rows.close()


def dataset(data: Any, *, target: str | None, client: Any = None, patience: float = 600.0, **options: Any) -> Dataset:
    """The rows on the workers as a dataset, for several fits; ``close`` releases the workers' memory.

    Parameters and errors as for ``fit``.
    """
    client = _client(client)
    frames = _frames(data, client)
    settings = settings_of(target, options)
    carrier = OnDask(client, frames, settings, patience)
    try:
        return dataset_of_places(carrier, settings)
    except BaseException:
        carrier.close()
        raise


def _client(client: Any) -> Any:
    try:
        import distributed
    except ImportError as error:
        raise MissingLibraryError(
            f"rows on a cluster need Dask ({error}): pip install 'treewright[dask]'", name="distributed"
        ) from None
    if client is not None:
        return client
    try:
        return distributed.get_client()
    except ValueError:
        raise ParameterError("there is no Dask client: create one, or give client=...") from None


def _frames(data: Any, client: Any) -> list[Any]:
    """A future for every partition, made and kept on the workers."""
    if hasattr(data, "to_delayed"):
        frames = client.compute(data.to_delayed())
    elif isinstance(data, Sequence) and data and all(hasattr(each, "key") for each in data):
        frames = list(data)
    else:
        raise DataError(f"data is a {type(data).__name__}: give a dask DataFrame, or a list of futures of tables")
    if not frames:
        raise DataError("data has no partitions")
    return list(frames)


class OnDask:
    """The carrier of places on the workers of a cluster (``data.dataset.Carrier``).

    Parameters
    ----------
    client : distributed.Client
    frames : list of futures
        Partitions of the table.
    settings : DatasetSettings
    patience : float, seconds
    """

    def __init__(self, client: Any, frames: list[Any], settings: DatasetSettings, patience: float) -> None:
        self.client, self.frames, self.settings, self.patience = client, frames, settings, patience
        self._places: list[tuple[str, str]] = []  # name and worker
        self._settled: list[tuple[str, tuple[Any, ...]]] = []
        self._is_closed = False

    @property
    def n_parts(self) -> int:
        """The number of places: workers that have rows."""
        return len(self._places)

    def ask(self, what: str, *given: Any) -> list[Any]:
        """See ``Carrier.ask``."""
        if self._is_closed:
            raise DataError("the dataset was closed, so the workers no longer have its rows: make it again")
        if not self._places:
            self._make()
        futures = [self._sent(worker, _answer, name, what, given) for name, worker in self._places]
        return self._gathered(futures, [worker for _, worker in self._places])

    def share(self, fit: str) -> None:
        """See ``Carrier.share``; workers send their rows to one another."""
        if not self._places:
            self._make()
        workers = [worker for _, worker in self._places]
        lent = [self._sent(worker, _answer, name, "lend", ()) for name, worker in self._places]
        self._gathered(
            [self._sent(worker, _borrow, name, fit, *lent) for name, worker in self._places], workers
        )  # fmt: skip

    def settle(self, what: str, *given: Any) -> list[Any]:
        """See ``Carrier.settle``."""
        answers = self.ask(what, *given)
        self._settled.append((what, given))
        return answers

    def revive(self) -> None:
        """Make all places again; Dask makes lost partitions again on the remaining workers."""
        self._forget()
        self._make()
        for what, given in self._settled:
            self.ask(what, *given)

    def close(self) -> None:
        """Release the rows on the workers; the dataset cannot be used afterwards."""
        self._is_closed = True
        self._forget()
        self.frames = []

    def _make(self) -> None:
        """Make a place on every worker that has partitions, of these partitions."""
        workers = self._workers()
        if not workers:
            raise PartLostError(0, "the cluster has no worker")
        self._wait(self.frames, None)
        failed = next((frame for frame in self.frames if frame.status == "error"), None)
        if failed is not None:
            raise failed.exception()
        holders = self.client.who_has(self.frames)
        of_worker: dict[str, list[Any]] = {}
        for frame in self.frames:
            found = sorted(worker for worker in holders.get(frame.key, ()) if worker in workers)
            if not found:
                raise PartLostError(0, "a partition was lost before it was read")
            of_worker.setdefault(found[0], []).append(frame)
        self._places = [(f"treewright-{secrets.token_hex(8)}", worker) for worker in sorted(of_worker)]
        made = [
            self._sent(worker, _keep, name, self.settings, workers[worker], number, *of_worker[worker])
            for number, (name, worker) in enumerate(self._places)
        ]
        self._gathered(made, [worker for _, worker in self._places])

    def _forget(self) -> None:
        with suppress(PartLostError):  # a cluster that is gone has no rows
            workers = self._workers()
            for name, worker in self._places:
                if worker in workers:
                    self._sent(worker, _let_go, name)
        self._places = []

    def _sent(self, worker: str, function: Any, *given: Any) -> Any:
        """A future of a function that runs on this worker only."""
        if self.client.status != "running":
            raise PartLostError(0, f"the scheduler is gone (the client is {self.client.status})")
        with warnings.catch_warnings():  # summaries of columns of many values are some megabytes each
            warnings.filterwarnings("ignore", message="Sending large graph")
            return self.client.submit(function, *given, workers=[worker], allow_other_workers=False, pure=False)

    def _gathered(self, futures: list[Any], workers: list[str]) -> list[Any]:
        self._wait(futures, workers)
        for at, future in enumerate(futures):
            if future.status in ("lost", "cancelled"):
                raise PartLostError(at, f"worker {workers[at]} is gone")
        failed = next((future for future in futures if future.status == "error"), None)
        if failed is not None:
            error = failed.exception()
            if type(error).__name__ in _OF_LOST_WORKERS:
                raise PartLostError(futures.index(failed), f"its worker is gone ({type(error).__name__})")
            raise error
        try:
            return list(self.client.gather(futures))
        except Exception as error:
            if self._gone(workers):
                raise PartLostError(0, f"its worker is gone ({type(error).__name__})") from None
            raise

    def _wait(self, futures: list[Any], workers: list[str] | None) -> None:
        """Wait until all are done; a PartLostError if a worker is lost meanwhile, or if it takes too long."""
        from distributed import CancelledError, wait

        end = time.monotonic() + self.patience
        while True:
            try:
                wait(futures, timeout=_GLANCE)
                return
            except TimeoutError:
                gone = self._gone(workers or [])
                if not gone and time.monotonic() < end:
                    continue
                if workers is not None:  # the partitions are the user's own
                    self.client.cancel(futures, force=True)
                why = f"worker {gone[0]} is gone" if gone else f"no answer for {self.patience:g} s"
            except CancelledError:
                why = f"the question was cancelled (the client is {self.client.status})"
            raise PartLostError(0, why)

    def _workers(self) -> dict[str, int]:
        """The threads of each worker."""
        if self.client.status != "running":
            raise PartLostError(0, f"the scheduler is gone (the client is {self.client.status})")
        return dict(self.client.nthreads())

    def _gone(self, workers: list[str]) -> list[str]:
        there = self._workers()
        return [worker for worker in workers if worker not in there]


# On the workers.


def _polars_of(frame: Any) -> pl.DataFrame:
    """A partition as a polars frame; ordered categories of pandas keep their order."""
    if isinstance(frame, pl.DataFrame):
        return frame
    table = pl.DataFrame(frame)
    kinds = getattr(frame, "dtypes", None)
    for name in table.columns if hasattr(kinds, "items") else ():
        kind = cast("Any", kinds)[name]
        if getattr(kind, "ordered", False):
            levels = pl.Enum([str(level) for level in kind.categories])
            table = table.with_columns(table.get_column(name).cast(pl.String).cast(levels))
    return table


def _keep(name: str, settings: DatasetSettings, n_threads: int, number: int, *frames: Any) -> None:
    """Make this process a place of these partitions."""
    tables = [_polars_of(frame) for frame in frames]
    held = [table for table in tables if table.height] or tables[:1]  # an empty table may have lost its types
    found = [(f"partition {at} of a worker", table.lazy()) for at, table in enumerate(held)]
    _places[name] = Place(Source(found, []), settings, n_threads, _BUDGET, number)


class PlaceGoneError(Exception):
    """A worker was restarted under its old address, and no longer has its rows."""


def _answer(name: str, what: str, given: tuple[Any, ...]) -> Any:
    if name not in _places:
        raise PlaceGoneError(name)
    return getattr(_places[name], what)(*given)


def _borrow(name: str, fit: str, *lent: Any) -> None:
    _answer(name, "borrow", (list(lent), fit))


def _let_go(name: str) -> None:
    _places.pop(name, None)
