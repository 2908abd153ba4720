"""The model file of nearest neighbours. In: a model. Out: bytes or a file, and back. Caller: ``treewright.model``.

It is the container of the files of trees, in a format of its own: the stored rows and their targets, the numbers of the
metric, and what a prediction asks for. Any bytes give valid parts or one ``ModelFileError``; the same model gives the
same bytes, and nothing in a file is run: functions of Python cannot be saved.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from treewright.core.files import write_whole
from treewright.data.categories import array_to_json, schema_to_json
from treewright.exceptions import ModelFileError, ParameterError
from treewright.model.container import (
    DTYPE_NAMES,
    NEIGHBORS_FORMAT,
    Layout,
    Reader,
    check_plain,
    classes_of,
    compose,
    read_bytes,
    schema_of,
    target_names_of,
)
from treewright.neighbors.check import check_parts
from treewright.neighbors.codec_metric import metric_of_parts, metric_to_parts
from treewright.neighbors.ranks import CALLED
from treewright.neighbors.stored import Stored
from treewright.version import __version__

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from treewright.data.schema import Schema
    from treewright.neighbors.votes import Weights

_F8, _F4, _I8, _I4 = (np.dtype(kind) for kind in ("<f8", "<f4", "<i8", "<i4"))
_DTYPES = {name: np.dtype(kind) for kind, name in DTYPE_NAMES.items()}
_OF_METRIC = "metric."
_POINTS, _CELLS, _OFFSETS, _COLUMNS = "points", "rows.cells", "rows.offsets", "rows.columns"
_METADATA = {
    "algorithm": str,
    "classes": list,
    "digest": str,
    "facts": dict,
    "format": int,
    "library": str,
    "metric": dict,
    "n_neighbors": int,
    "n_outputs": int,
    "target_names": list,
    "task": str,
    "unseen": str,
    "weights": str,
}
_BLOCK = 2**20  # cells that are looked at together


class Savable(Protocol):
    """What is written of a model of nearest neighbours: see ``treewright.fitted.neighbors``."""

    @property
    def task(self) -> str: ...  # noqa: D102 - a list of attributes
    @property
    def schema(self) -> Schema | None: ...  # noqa: D102
    @property
    def n_columns(self) -> int: ...  # noqa: D102
    @property
    def stored(self) -> Stored: ...  # noqa: D102
    @property
    def classes(self) -> tuple[np.ndarray, ...]: ...  # noqa: D102
    @property
    def n_outputs(self) -> int: ...  # noqa: D102
    @property
    def n_neighbors(self) -> int: ...  # noqa: D102
    @property
    def weights(self) -> Weights: ...  # noqa: D102
    @property
    def unseen(self) -> str: ...  # noqa: D102
    @property
    def target_names(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def facts(self) -> Mapping[str, Any]: ...  # noqa: D102


def save(model: Savable, path: str | os.PathLike[str]) -> None:
    """Write a model file in one step: a crash, a full disk or Ctrl-C leave the old file as it was.

    Parameters
    ----------
    model : NeighborsModel
    path : str or path-like
        An existing file is replaced and keeps its permissions; a symbolic link stays, its target is replaced.

    Raises
    ------
    InputFileError
        The path cannot be written.
    ModelFileError, ParameterError, TooLargeError
        As ``dumps``.
    """
    write_whole(path, dumps(model))


def dumps(model: Savable) -> bytes:
    """The bytes of a model file: the same model gives the same bytes, always.

    Parameters
    ----------
    model : NeighborsModel

    Returns
    -------
    bytes

    Raises
    ------
    ModelFileError
        The parts of the model contradict each other: it could not be loaded again.
    ParameterError
        The metric or the weights are a function, or ``facts`` are not plain JSON.
    TooLargeError
        Names, levels and labels take more than 64 MB.
    """
    stored, facts = model.stored, dict(model.facts)
    if not isinstance(model.weights, str):
        raise ParameterError(
            "weights is a function of Python, which a model file cannot hold: fit with weights by name, such as "
            "'distance', or keep the model with pickle"
        )
    if stored.metric.kind == CALLED:
        raise ParameterError(
            "metric is a function of Python, which a model file cannot hold: fit with a metric by name, such as "
            "'gower', or keep the model with pickle"
        )
    check_plain(facts)
    check_parts(_parts(model))
    metric, numbers = metric_to_parts(stored.metric)
    metadata = {
        "algorithm": stored.algorithm,
        "classes": [array_to_json(labels) for labels in model.classes],
        "facts": facts,
        "format": NEIGHBORS_FORMAT,
        "library": __version__,
        "metric": metric,
        "n_neighbors": int(model.n_neighbors),
        "n_outputs": model.n_outputs,
        "target_names": list(model.target_names),
        "task": model.task,
        "unseen": model.unseen,
        "weights": model.weights,
    }
    if model.schema is None:
        metadata["n_columns"] = model.n_columns
    else:
        metadata["schema"] = schema_to_json(model.schema)
    arrays = {f"{_OF_METRIC}{name}": cells for name, cells in numbers.items()}
    arrays |= _arrays_of_points(stored.points)
    arrays |= {name: cells for name, cells in (("codes", stored.codes), ("values", stored.values)) if cells is not None}
    layout = {name: (cells.dtype.newbyteorder("<"), cells.ndim) for name, cells in arrays.items()}
    return compose(metadata, arrays, _in_order(layout))


def loads(data: bytes | bytearray | memoryview) -> dict[str, Any]:
    """The parts of a model in the bytes of a model file: what ``NeighborsModel`` is made of.

    Parameters
    ----------
    data : bytes-like

    Returns
    -------
    dict of str to part

    Raises
    ------
    ModelFileError
        Not a model file, not whole, damaged, written by a newer Treewright, or its content contradicts itself; or it
        holds trees.
    """

    def reader_of(file_format: int) -> Reader[dict[str, Any]]:
        if file_format != NEIGHBORS_FORMAT:
            raise ModelFileError("it holds trees, no nearest neighbours: treewright.load reads it")
        return READER

    return read_bytes(data, reader_of)


def _parts(model: Savable) -> dict[str, Any]:
    """What ``check_parts`` looks at."""
    names = ("task", "schema", "n_columns", "stored", "classes", "n_outputs", "n_neighbors", "weights", "unseen")
    return {**{name: getattr(model, name) for name in names}, "target_names": model.target_names, "facts": model.facts}


def _in_order(layout: Layout) -> Layout:
    """The widest cells first, so that every array begins at a multiple of its cell size; else by name."""
    return dict(sorted(layout.items(), key=lambda item: (-item[1][0].itemsize, item[0])))


def _arrays_of_points(points: np.ndarray | csr_matrix) -> dict[str, np.ndarray]:
    """Stored rows by the names of their arrays; in half the bytes where no digit is lost."""
    if isinstance(points, np.ndarray):
        return {_POINTS: _shortened(points)}
    return {
        _CELLS: _shortened(points.data),
        _OFFSETS: points.indptr.astype(np.int64),
        _COLUMNS: points.indices.astype(np.int32),
    }


def _shortened(cells: np.ndarray) -> np.ndarray:
    """float64 cells as float32 where that is exact; missing cells in one spelling."""
    if _is_single(cells):
        return cells.astype(np.float32)
    if np.isnan(cells).any():
        cells = cells.copy()
        cells[np.isnan(cells)] = np.nan
    return cells


def _is_single(cells: np.ndarray) -> bool:
    """Whether float32 holds every cell."""
    flat = cells.reshape(-1)
    with np.errstate(over="ignore", under="ignore"):
        for begin in range(0, len(flat), _BLOCK):
            part = flat[begin : begin + _BLOCK]
            if not np.array_equal(part.astype(np.float32), part, equal_nan=True):
                return False
    return True


def _layout(metadata: dict[str, Any], places: dict[str, Any]) -> Layout:
    """The arrays that a file must hold; the widths of cells, and the arrays of the metric, are as its header says."""
    layout: Layout = {"codes": (_I4, 2)} if metadata.get("task") == "classification" else {"values": (_F8, 2)}
    if "n_columns" in metadata:
        layout |= {_CELLS: (_stated(places, _CELLS)[0], 1), _OFFSETS: (_I8, 1), _COLUMNS: (_I4, 1)}
    else:
        layout[_POINTS] = (_stated(places, _POINTS)[0], 2)
    for name in places:
        if name.startswith(_OF_METRIC):
            layout[name] = _stated(places, name, tuple(_DTYPES.values()))
    return _in_order(layout)


def _stated(places: Mapping[str, Any], name: str, dtypes: tuple[np.dtype, ...] = (_F8, _F4)) -> tuple[np.dtype, int]:
    """Dtype and number of axes that the header states of an array; the first dtype where it states none of them."""
    place = places.get(name)
    place = place if isinstance(place, dict) else {}
    dtype, shape = place.get("dtype"), place.get("shape")
    found = next((each for each in dtypes if DTYPE_NAMES[each.str] == dtype), dtypes[0])
    return found, len(shape) if isinstance(shape, list) and 1 <= len(shape) <= 3 else 1


def _expected(metadata: dict[str, Any]) -> dict[str, type]:
    """The metadata that a file must hold: a schema, or for sparse rows the number of columns."""
    return {**_METADATA, "n_columns": int} if "n_columns" in metadata else {**_METADATA, "schema": dict}


def _assemble(metadata: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """The parts of the model, checked."""
    schema = schema_of(metadata) if "schema" in metadata else None
    numbers = {
        name.removeprefix(_OF_METRIC): cells.copy() for name, cells in arrays.items() if name.startswith(_OF_METRIC)
    }
    n_columns = metadata["n_columns"] if schema is None else len(schema)
    points = _points_of(arrays, n_columns)
    metric = metric_of_parts(metadata["metric"], numbers, schema)
    codes, values = arrays.get("codes"), arrays.get("values")
    parts = {
        "task": metadata["task"],
        "schema": schema,
        "n_columns": n_columns,
        "stored": Stored(metric, points, codes, values, metadata["algorithm"]),
        "classes": classes_of(metadata),
        "n_outputs": metadata["n_outputs"],
        "n_neighbors": metadata["n_neighbors"],
        "weights": metadata["weights"],
        "unseen": metadata["unseen"],
        "target_names": target_names_of(metadata),
        "facts": metadata["facts"],
    }
    check_parts(parts)
    return parts


def _points_of(arrays: Mapping[str, np.ndarray], n_columns: int) -> np.ndarray | csr_matrix:
    """Stored rows that ``check_parts`` has still to look at.

    Raises
    ------
    ModelFileError
        The arrays of sparse rows are none, or cells are written longer than they need be.
    """
    if _POINTS in arrays:
        return _lengthened(arrays[_POINTS])
    from scipy.sparse import csr_matrix

    cells, offsets, columns = _lengthened(arrays[_CELLS]), arrays[_OFFSETS], arrays[_COLUMNS]
    n_rows = len(offsets) - 1
    whole = n_rows >= 1 and offsets[0] == 0 and offsets[-1] == len(cells) == len(columns)
    # Compared, not subtracted: a difference of hostile numbers may overflow.
    if not whole or (offsets[1:] < offsets[:-1]).any():
        raise ModelFileError(f"damaged model file: {_OFFSETS} do not divide {len(cells):,} cells")
    if not 1 <= n_columns <= 2**31 - 1 or ((columns < 0) | (columns >= n_columns)).any():
        raise ModelFileError(f"damaged model file: a cell stands in none of {n_columns:,} columns")
    rises = columns[1:] > columns[:-1]
    begins = offsets[1:-1]
    rises[begins[(begins > 0) & (begins < len(columns))] - 1] = True
    if not rises.all():
        raise ModelFileError("damaged model file: the columns of a sparse row do not rise")
    wide = offsets if len(cells) > 2**31 - 1 else offsets.astype(np.int32)
    return csr_matrix((cells, columns.astype(wide.dtype), wide), shape=(n_rows, n_columns), copy=False)


def _lengthened(cells: np.ndarray) -> np.ndarray:
    """Cells as float64 that can be written to, as those of a fit are: kernels take one type of array.

    Raises
    ------
    ModelFileError
        They are written in twice the bytes that they need, or a missing cell is spelled otherwise: one model, one file.
    """
    if cells.dtype == np.float64 and _is_single(cells):
        raise ModelFileError("damaged model file: cells are written longer than they need be")
    found = cells.astype(np.float64)
    bits = found[np.isnan(found)].view(np.uint64)
    if (bits != np.array(np.nan).view(np.uint64)).any():
        raise ModelFileError("damaged model file: a missing cell is not in its canonical form")
    return found


READER = Reader(_layout, _expected, _assemble)
