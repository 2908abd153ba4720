"""What must hold of a model of nearest neighbours. In: its parts. Out: nothing, or an error.

Callers: neighbors.codec, on whatever it writes or reads. Of parts that pass, every query has its neighbours: points are
numbers that the metric can compare, and every code is one of a class or a level.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from treewright.data.schema import Schema
from treewright.exceptions import ModelFileError, ParameterError
from treewright.model.check import check_columns, check_target
from treewright.neighbors.index import search_for
from treewright.neighbors.metrics import DIRECTIONS, Metric
from treewright.neighbors.ranks import JACCARD, MIXED, SQUARES
from treewright.neighbors.stored import Stored
from treewright.neighbors.votes import NAMES as WEIGHTS

UNSEEN = ("other", "missing", "error")
# Squares of a row of length one may be so far from 1: rounding is some 1e-15, and no distance is beyond its range.
_LENGTH_ERROR = 1e-9


def check_parts(parts: Mapping[str, Any]) -> None:
    """Refuse parts that contradict each other.

    Parameters
    ----------
    parts : mapping
        The attributes of ``NeighborsModel`` by name; arrays have the number of axes that they should have.

    Raises
    ------
    ModelFileError
        Task, outputs, classes or names contradict each other; a column is malformed, or none that the metric can
        compare; an entry is out of range; there are more neighbours than rows, or not as many targets; a cell is
        infinite, missing where the metric takes none, or the code of no level; a class code is none; sparse rows have
        a metric of dense ones.
    """
    stored, schema = parts["stored"], parts["schema"]
    check_target(parts["task"], parts["n_outputs"], parts["classes"], parts["target_names"])
    for name, known in (("weights", WEIGHTS), ("unseen", UNSEEN)):
        _check_word(name, parts[name], known)
    try:
        search_for(stored.metric, stored.points, stored.algorithm)
    except ParameterError as error:
        raise ModelFileError(str(error)) from None
    if not isinstance(parts["facts"].get("algorithm", ""), str):
        raise ModelFileError("facts: algorithm is no text")
    if schema is not None:
        check_columns(schema)
        if parts["n_columns"] != len(schema):
            raise ModelFileError(f"n_columns is {parts['n_columns']}, the schema has {len(schema)}")
    n_rows, k = stored.n_rows, parts["n_neighbors"]
    if type(k) is not int or not 1 <= k <= n_rows:
        raise ModelFileError(f"n_neighbors is {k!r}: expected 1 to {n_rows:,}, the number of stored rows")
    if (schema is None) != stored.is_sparse:
        raise ModelFileError("sparse rows have no schema, and all others have one")
    _check_stored_target(stored, parts["classes"], parts["n_outputs"])
    if schema is not None:
        _check_points(stored.metric, stored.points, schema)
    elif not np.isfinite(stored.points.data).all():
        raise ModelFileError("points: a cell of a sparse row is not finite")


def _check_word(name: str, found: object, known: tuple[str, ...]) -> None:
    """One of the words that there are."""
    if found not in known:
        raise ModelFileError(f"{name} is {str(found)[:40]!r}: expected one of {', '.join(map(repr, known))}")


def _check_stored_target(stored: Stored, classes: tuple[np.ndarray, ...], n_outputs: int) -> None:
    """Codes of classes, or numbers, for every row."""
    given = stored.values if stored.codes is None else stored.codes
    name = "values" if stored.codes is None else "codes"
    if (stored.codes is None) == bool(classes) or given is None:
        raise ModelFileError("targets of the rows: classes have codes, numbers have values")
    if given.shape != (stored.n_rows, n_outputs):
        raise ModelFileError(f"{name} have shape {given.shape}, expected {(stored.n_rows, n_outputs)}")
    if stored.codes is None:
        _refuse_row("values", ~np.isfinite(given), "is not finite")
    else:
        n_classes = np.array([len(labels) for labels in classes])
        _refuse_row("codes", (given < 0) | (given >= n_classes), "is the code of no class")


def _check_points(metric: Metric, points: np.ndarray, schema: Schema) -> None:
    """Dense rows as ``metric.points`` gives them."""
    is_direction = metric.kind == SQUARES and metric.name in DIRECTIONS
    expected = len(schema) + int(is_direction)
    if points.ndim != 2 or points.shape[1] != expected:
        raise ModelFileError(f"points have shape {points.shape}, expected {expected} columns under {metric.name!r}")
    if metric.kind != MIXED:
        nominal = next((at for at, column in enumerate(schema.columns) if column.kind == "nominal"), None)
        if nominal is not None:
            raise ModelFileError(f"column {nominal} is nominal, and metric {metric.name!r} is of numbers")
        _refuse_row("points", ~np.isfinite(points), "is not finite")
        if metric.kind == JACCARD:
            _refuse_row("points", (points != 0) & (points != 1), "is neither 0 nor 1")
        if is_direction:
            lengths = np.einsum("ij,ij->i", points, points)
            _refuse_row("points", ~(np.abs(lengths - 1.0) <= _LENGTH_ERROR)[:, None], "is of a row not of length one")
        return
    _refuse_row("points", np.isinf(points), "is infinite")
    for at, column in enumerate(schema.columns):
        if column.kind != "numeric":
            cells = points[:, at]
            known = np.isnan(cells) | ((cells >= 0) & (cells < len(column.levels)) & (cells == np.floor(cells)))
            _refuse_row(f"points, column {at}", ~known[:, None], "is the code of no level")


def _refuse_row(name: str, bad: np.ndarray, what: str) -> None:
    """Raise on the first row in which some cell is bad."""
    rows = bad.any(axis=1)
    if rows.any():
        raise ModelFileError(f"{name}, row {int(rows.argmax())}: a cell {what}")
