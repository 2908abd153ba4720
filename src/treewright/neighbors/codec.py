"""The model file of nearest neighbours: written, read, and checked both times.

It uses the container of the files of trees, in a format of its own: the stored rows and their targets, the numbers of
the metric, and the settings of predictions. Any bytes give valid parts or one ``ModelFileError``; the same model gives
the same bytes, and nothing in a file is run: Python functions cannot be saved. Facts that follow from the name of the
metric or the columns are not written, so a file cannot contradict them. After the check, every query has its
neighbours: points are numbers that the metric can compare, and every code is that of a class or a level.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.core.files import write_whole
from treewright.data.categories import array_to_json, schema_to_json
from treewright.data.schema import Schema
from treewright.exceptions import ModelFileError, ParameterError
from treewright.neighbors.metrics import (
    DIFFERENCE,
    DIRECTIONS,
    EQUALITY,
    EXPONENTS,
    HVDM,
    KINDS,
    NO_ROWS,
    RULES,
    SHARES,
    Metric,
    MixedColumns,
    nan_euclidean_columns,
)
from treewright.neighbors.nearest import CALLED, HAMMING, JACCARD, MIXED, POWERS, PRECOMPUTED, SQUARES
from treewright.neighbors.sparse import KINDS as OF_SPARSE_ROWS
from treewright.neighbors.stored import Stored, search_for
from treewright.neighbors.votes import NAMES as WEIGHTS
from treewright.trees.check_model import check_columns, check_target
from treewright.trees.container import (
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
    threshold_of,
    wrapped,
)
from treewright.trees.threshold import check_threshold
from treewright.version import __version__

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


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
_BLOCK = 2**20  # cells that are checked at a time
_OF_NUMBERS = ("center", "scales", "transform")
_OF_MIXED = ("kinds", "scales", "tables")
# The class proportions of a level add up to 1, except for rounding.
_SUM_ERROR = 1e-9
UNSEEN = ("other", "missing", "error")
# Tolerance of the squared length of unit rows: rounding is some 1e-15, and distances stay within their range.
_LENGTH_ERROR = 1e-9


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write the model file of a ``NeighborsModel`` in one step: a crash, a full disk or Ctrl-C keep the old one."""
    write_whole(path, dumps(model))


def dumps(model: Any) -> bytes:
    """The bytes of the model file of a ``NeighborsModel``: the same model always gives the same bytes."""
    stored, facts = model.stored, dict(model.facts)
    if not isinstance(model.weights, str):
        raise ParameterError(
            "weights is a Python function, which a model file cannot hold: fit with weights by name, such as "
            "'distance', or keep the model with pickle"
        )
    if stored.metric.kind == CALLED:
        raise ParameterError(
            "metric is a Python function, which a model file cannot hold: fit with a metric by name, such as "
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
    return compose(wrapped(metadata, model.threshold), arrays, _in_order(layout))


def loads(data: bytes | bytearray | memoryview) -> dict[str, Any]:
    """The parts of a model in the bytes of a model file: the attributes of ``NeighborsModel``."""

    def reader_of(file_format: int) -> Reader[dict[str, Any]]:
        if file_format != NEIGHBORS_FORMAT:
            raise ModelFileError("it holds trees, not nearest neighbours: treewright.load reads it")
        return READER

    return read_bytes(data, reader_of)


def _parts(model: Any) -> dict[str, Any]:
    """The parts of a model, for ``check_parts``."""
    names = ("task", "schema", "n_columns", "stored", "classes", "n_outputs", "n_neighbors", "weights", "unseen")
    own = {"target_names": model.target_names, "facts": model.facts, "threshold": model.threshold}
    return {name: getattr(model, name) for name in names} | own


def _in_order(layout: Layout) -> Layout:
    """The layout, widest cells first, so that every array begins at a multiple of its cell size; else by name."""
    return dict(sorted(layout.items(), key=lambda item: (-item[1][0].itemsize, item[0])))


def _arrays_of_points(points: np.ndarray | csr_matrix) -> dict[str, np.ndarray]:
    """Stored rows by the names of their arrays; as float32 if that is exact."""
    if isinstance(points, np.ndarray):
        return {_POINTS: _shortened(points)}
    return {
        _CELLS: _shortened(points.data),
        _OFFSETS: points.indptr.astype(np.int64),
        _COLUMNS: points.indices.astype(np.int32),
    }


def _shortened(cells: np.ndarray) -> np.ndarray:
    """float64 cells as float32 if that is exact; all missing cells with the same bits."""
    if _is_single(cells):
        return cells.astype(np.float32)
    if np.isnan(cells).any():
        cells = cells.copy()
        cells[np.isnan(cells)] = np.nan
    return cells


def _is_single(cells: np.ndarray) -> bool:
    """Whether float32 represents every cell exactly."""
    flat = cells.reshape(-1)
    with np.errstate(over="ignore", under="ignore"):
        for begin in range(0, len(flat), _BLOCK):
            part = flat[begin : begin + _BLOCK]
            if not np.array_equal(part.astype(np.float32), part, equal_nan=True):
                return False
    return True


def _layout(metadata: dict[str, Any], places: dict[str, Any]) -> Layout:
    """The arrays that a file must hold; the header states the widths of cells and the arrays of the metric."""
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
    """Dtype and number of axes of an array in the header; the first of ``dtypes`` if the header has none of them."""
    place = places.get(name)
    place = place if isinstance(place, dict) else {}
    dtype, shape = place.get("dtype"), place.get("shape")
    found = next((each for each in dtypes if DTYPE_NAMES[each.str] == dtype), dtypes[0])
    return found, len(shape) if isinstance(shape, list) and 1 <= len(shape) <= 3 else 1


def _expected(metadata: dict[str, Any]) -> dict[str, type]:
    """The types of the metadata that a file must hold: a schema, or for sparse rows the number of columns."""
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
        "threshold": threshold_of(metadata),
        "facts": metadata["facts"],
    }
    check_parts(parts)
    return parts


def _points_of(arrays: Mapping[str, np.ndarray], n_columns: int) -> np.ndarray | csr_matrix:
    """Stored rows, not yet checked by ``check_parts``."""
    if _POINTS in arrays:
        return _lengthened(arrays[_POINTS])
    from scipy.sparse import csr_matrix

    cells, offsets, columns = _lengthened(arrays[_CELLS]), arrays[_OFFSETS], arrays[_COLUMNS]
    n_rows = len(offsets) - 1
    whole = n_rows >= 1 and offsets[0] == 0 and offsets[-1] == len(cells) == len(columns)
    # Compared, not subtracted: a difference of malicious numbers may overflow.
    if not whole or (offsets[1:] < offsets[:-1]).any():
        raise ModelFileError(f"damaged model file: {_OFFSETS} do not divide {len(cells):,} cells")
    if not 1 <= n_columns <= 2**31 - 1 or ((columns < 0) | (columns >= n_columns)).any():
        raise ModelFileError(f"damaged model file: a cell is in none of {n_columns:,} columns")
    rises = columns[1:] > columns[:-1]
    begins = offsets[1:-1]
    rises[begins[(begins > 0) & (begins < len(columns))] - 1] = True
    if not rises.all():
        raise ModelFileError("damaged model file: the columns of a sparse row are not ascending")
    wide = offsets if len(cells) > 2**31 - 1 else offsets.astype(np.int32)
    return csr_matrix((cells, columns.astype(wide.dtype), wide), shape=(n_rows, n_columns), copy=False)


def _lengthened(cells: np.ndarray) -> np.ndarray:
    """Cells as writable float64, like those of a fit: kernels take one type of array."""
    if cells.dtype == np.float64 and _is_single(cells):
        raise ModelFileError("damaged model file: cells are float64, and float32 would be exact")
    found = cells.astype(np.float64)  # one model, one file: neither more bytes nor another spelling
    bits = found[np.isnan(found)].view(np.uint64)
    if (bits != np.array(np.nan).view(np.uint64)).any():
        raise ModelFileError("damaged model file: a missing cell is not in its canonical form")
    return found


READER = Reader(_layout, _expected, _assemble)


def metric_to_parts(metric: Metric) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """A metric by name as plain JSON, and its arrays by name."""
    entry: dict[str, Any] = {"name": metric.name, "p": None if np.isinf(metric.p) else float(metric.p)}
    if metric.mixed is not None and metric.name in RULES:
        entry["n_classes"] = int(metric.mixed.n_classes)
        return entry, {name: getattr(metric.mixed, name) for name in _OF_MIXED}
    return entry, {name: getattr(metric, name) for name in _OF_NUMBERS if getattr(metric, name) is not None}


def metric_of_parts(entry: Mapping[str, Any], arrays: Mapping[str, np.ndarray], schema: Schema | None) -> Metric:
    """The metric of ``metric_to_parts``; arrays are kept, not copied. Without a schema it is for sparse rows."""
    name, p = entry.get("name"), entry.get("p")
    p = np.inf if p is None else p
    is_mixed = isinstance(name, str) and name in RULES
    if set(entry) != {"name", "p", *(["n_classes"] if is_mixed else [])} or not isinstance(p, float) or not p >= 1:
        raise ModelFileError("metric: an entry is missing, unknown or out of range")
    if (
        not isinstance(name, str)
        or name not in KINDS
        or (name != "minkowski" and p != (1.0 if name == "manhattan" else 2.0))
    ):
        raise ModelFileError(f"metric: {str(name)[:40]!r} with p={p} is unknown")
    kind = EXPONENTS.get(p, POWERS) if name == "minkowski" else KINDS[name]
    if schema is None:
        if name not in OF_SPARSE_ROWS or arrays:
            raise ModelFileError(f"metric: {str(name)[:40]!r} is not for sparse rows, or it has arrays for dense ones")
        return Metric(name, SQUARES)
    if is_mixed:
        return Metric(name, MIXED, mixed=_mixed(RULES[name], entry["n_classes"], arrays, schema), names=schema.names)
    shapes = {"center": (len(schema),), "scales": (len(schema),), "transform": (len(schema), len(schema))}
    possible: tuple[set[str], ...] = (set(), {"scales"}, {"center", "scales"})
    if kind in (HAMMING, JACCARD, PRECOMPUTED):
        possible = (set(),)
    elif name == "mahalanobis":
        possible = (set(shapes),)
    if set(arrays) not in possible:
        raise ModelFileError(f"metric: {name!r} cannot have the arrays {', '.join(sorted(arrays)) or 'none'}"[:200])
    for each, cells in arrays.items():
        _check_array(each, cells, shapes[each])
    if "scales" in arrays and (arrays["scales"] < 0).any():
        raise ModelFileError("metric: a scale is below 0")
    center, scales, transform = (arrays.get(each) for each in _OF_NUMBERS)
    mixed = nan_euclidean_columns(len(schema)) if kind == MIXED else None
    return Metric(name, kind, p, center, scales, transform, mixed, names=schema.names)


def _check_array(name: str, cells: np.ndarray, shape: tuple[int, ...]) -> None:
    """Check that an array is finite float64 of this shape."""
    if cells.dtype != np.float64 or cells.shape != shape:
        raise ModelFileError(
            f"metric: {name} has dtype {cells.dtype} and shape {cells.shape}, expected float64 {shape}"
        )
    if not np.isfinite(cells).all():
        raise ModelFileError(f"metric: {name} holds a number that is not finite")


def _mixed(rule: int, n_classes: Any, arrays: Mapping[str, np.ndarray], schema: Schema) -> MixedColumns:
    """How the columns of a schema are compared."""
    p = len(schema)
    if set(arrays) != set(_OF_MIXED) or arrays["kinds"].dtype != np.uint8 or arrays["kinds"].shape != (p,):
        raise ModelFileError(f"metric: expected arrays {', '.join(_OF_MIXED)}, the first of them uint8 for {p} columns")
    kinds = arrays["kinds"]
    is_nominal = np.array([column.kind == "nominal" for column in schema.columns])
    n_levels = np.array([len(column.levels) if column.kind == "nominal" else 0 for column in schema.columns], np.int64)
    of_levels = SHARES if rule == HVDM else EQUALITY
    if (kinds[is_nominal] != of_levels).any() or not np.isin(kinds[~is_nominal], (DIFFERENCE, EQUALITY)).all():
        raise ModelFileError("metric: a column is compared as if it had another kind")
    _check_array("scales", arrays["scales"], (p,))
    if (arrays["scales"] <= 0).any() or (arrays["scales"][kinds != DIFFERENCE] != 1).any():
        raise ModelFileError("metric: a scale is not above 0, or a column that is not scaled has one")
    if type(n_classes) is not int or not (1 <= n_classes < 2**31 if rule == HVDM else n_classes == 0):
        raise ModelFileError("metric: n_classes is out of range")
    sizes = [int(levels) * n_classes for levels in n_levels]  # whole numbers of Python: no product overflows
    _check_array("tables", arrays["tables"], (sum(sizes),))
    if rule == HVDM:
        shares = arrays["tables"].reshape(-1, n_classes)
        has_rows = shares[:, 0] != NO_ROWS
        wrong = (shares[has_rows] < 0).any() or (np.abs(shares[has_rows].sum(axis=1) - 1.0) > _SUM_ERROR).any()
        if wrong or (shares[~has_rows] != NO_ROWS).any():
            raise ModelFileError("metric: the class proportions of a level are not proportions")
    return MixedColumns.of(kinds, arrays["scales"], rule, n_levels, arrays["tables"], n_classes)


def check_parts(parts: Mapping[str, Any]) -> None:
    """Refuse contradicting parts: the attributes of ``NeighborsModel`` by name.

    The numbers of axes of the arrays have been checked.
    """
    stored, schema = parts["stored"], parts["schema"]
    check_target(parts["task"], parts["n_outputs"], parts["classes"], parts["target_names"])
    for name, known in (("weights", WEIGHTS), ("unseen", UNSEEN)):
        if parts[name] not in known:
            words = ", ".join(map(repr, known))
            raise ModelFileError(f"{name} is {str(parts[name])[:40]!r}: expected one of {words}")
    try:
        search_for(stored.metric, stored.points, stored.algorithm)
    except ParameterError as error:
        raise ModelFileError(str(error)) from None
    if not isinstance(parts["facts"].get("algorithm", ""), str):
        raise ModelFileError("facts: algorithm is not text")
    if schema is not None:
        check_columns(schema)
        if parts["n_columns"] != len(schema):
            raise ModelFileError(f"n_columns is {parts['n_columns']}, and the schema has {len(schema)}")
    n_rows, k = stored.n_rows, parts["n_neighbors"]
    if type(k) is not int or not 1 <= k <= n_rows:
        raise ModelFileError(f"n_neighbors is {k!r}: expected 1 to {n_rows:,}, the number of stored rows")
    if (schema is None) != stored.is_sparse:
        raise ModelFileError("sparse rows have no schema, and all others have one")
    _check_stored_target(stored, parts["classes"], parts["n_outputs"])
    if parts["threshold"] is not None:
        check_threshold(parts["threshold"], parts["task"], parts["classes"])
    if schema is not None:
        _check_points(stored.metric, stored.points, schema)
    elif not np.isfinite(stored.points.data).all():
        raise ModelFileError("points: a cell of a sparse row is not finite")


def _check_stored_target(stored: Stored, classes: tuple[np.ndarray, ...], n_outputs: int) -> None:
    """Check that every row has codes of classes, or numbers."""
    given = stored.values if stored.codes is None else stored.codes
    name = "values" if stored.codes is None else "codes"
    if (stored.codes is None) == bool(classes) or given is None:
        raise ModelFileError("targets of the rows: expected codes for classification, values for regression")
    if given.shape != (stored.n_rows, n_outputs):
        raise ModelFileError(f"{name} have shape {given.shape}, expected {(stored.n_rows, n_outputs)}")
    if stored.codes is None:
        _refuse_row("values", ~np.isfinite(given), "is not finite")
    else:
        n_classes = np.array([len(labels) for labels in classes])
        _refuse_row("codes", (given < 0) | (given >= n_classes), "is not the code of a class")


def _check_points(metric: Metric, points: np.ndarray, schema: Schema) -> None:
    """Check dense rows in the coordinates of ``metric.points``."""
    is_direction = metric.kind == SQUARES and metric.name in DIRECTIONS
    expected = len(schema) + int(is_direction)
    if points.ndim != 2 or points.shape[1] != expected:
        raise ModelFileError(f"points have shape {points.shape}, expected {expected} columns under {metric.name!r}")
    if metric.kind == PRECOMPUTED and points.shape[0] != points.shape[1]:
        raise ModelFileError(f"points have shape {points.shape}: distances between the training rows are square")
    if metric.name not in RULES:
        nominal = next((at for at, column in enumerate(schema.columns) if column.kind == "nominal"), None)
        if nominal is not None:
            raise ModelFileError(f"column {nominal} is nominal, and metric {metric.name!r} is for numbers")
        is_wrong = np.isinf(points) if metric.kind == MIXED else ~np.isfinite(points)
        _refuse_row("points", is_wrong, "is not finite")
        if metric.kind == PRECOMPUTED:
            _refuse_row("points", points < 0, "is below 0")
        if metric.kind == JACCARD:
            _refuse_row("points", (points != 0) & (points != 1), "is neither 0 nor 1")
        if is_direction:
            lengths = np.einsum("ij,ij->i", points, points)
            _refuse_row("points", ~(np.abs(lengths - 1.0) <= _LENGTH_ERROR)[:, None], "is in a row not of length one")
        return
    _refuse_row("points", np.isinf(points), "is infinite")
    for at, column in enumerate(schema.columns):
        if column.kind != "numeric":
            cells = points[:, at]
            known = np.isnan(cells) | ((cells >= 0) & (cells < len(column.levels)) & (cells == np.floor(cells)))
            _refuse_row(f"points, column {at}", ~known[:, None], "is not the code of a level")


def _refuse_row(name: str, bad: np.ndarray, what: str) -> None:
    """Raise an error about the first row with a bad cell, if there is one."""
    rows = bad.any(axis=1)
    if rows.any():
        raise ModelFileError(f"{name}, row {int(rows.argmax())}: a cell {what}")
