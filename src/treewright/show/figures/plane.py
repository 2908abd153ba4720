"""A plane of two columns of a table, and what a model predicts at its points. In: a table, a model. Out: ``Plane``.

The points go to ``predict`` in a table of the user's type, so that anything fitted on such a table takes them. A cell
of it is either a number of the grid or a cell of the user's own table, taken by its row: levels keep their type.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from treewright.data.cells import Cells, is_missing, shown
from treewright.data.schema import Column, Schema
from treewright.data.table import Table, known_frame, read_table
from treewright.exceptions import DataError, ParameterError
from treewright.show.figures.look import x_limits
from treewright.trees.writing import written_level, written_name, written_number

BLOCK = 1 << 16  # rows that predict gets at once
MOST_LEVELS = 500
WIDEST = 1e300  # a range beyond that cannot be divided into steps
TASKS: dict[str, Literal["classification", "regression"]] = {
    "classifier": "classification",
    "regressor": "regression",
}


@dataclass(frozen=True)
class Axis:
    """One of the two columns of the plane.

    Attributes
    ----------
    levels : tuple of str
        As texts; empty for numbers.
    centres : float64[m]
        Centres of the cells of the grid: numbers, or positions of levels.
    edges : (float, float)
        Ends of the grid.
    points : float64[n]
        Place of each row of the table; nan if it is not known or not finite.
    source : int64[m], or None
        Levels: a row of the table that has each.
    """

    name: str
    levels: tuple[str, ...]
    centres: npt.NDArray[np.float64]
    edges: tuple[float, float]
    points: npt.NDArray[np.float64]
    source: npt.NDArray[np.int64] | None

    def cells(self, at: npt.NDArray[np.int64]) -> npt.NDArray[np.float64] | npt.NDArray[np.int64]:
        """The content of the grid's cells at some places: numbers, or rows of the table to take the cell from."""
        return self.centres[at] if self.source is None else self.source[at]


@dataclass(frozen=True)
class Plane:
    """Two columns of a table; all others are held at one value each, in ``held`` by name and value."""

    across: Axis
    up: Axis
    held: tuple[tuple[str, str], ...]
    _given: Any
    _table: Table
    _features: tuple[int, int]
    _constants: Mapping[int, float | int]

    def tables(self) -> Iterator[Any]:
        """Yield every point of the grid, in blocks: from the lowest line up, each from left to right."""
        width = len(self.across.centres)
        n_points = width * len(self.up.centres)
        for start in range(0, n_points, BLOCK):
            at = np.arange(start, min(start + BLOCK, n_points))
            columns = []
            for column in range(self._table.width):
                if column in self._features:
                    axis, places = (self.across, at % width) if column == self._features[0] else (self.up, at // width)
                    columns.append(axis.cells(places))
                else:
                    # A float is a value, an int a row of the user's table: the dtype keeps them apart.
                    columns.append(np.full(len(at), self._constants[column]))
            yield table_like(self._given, self._table, columns)


def plane_of(
    X: Any, features: Sequence[Hashable], fixed: Mapping[Hashable, Any] | None, resolution: int, schema: Schema | None
) -> Plane:
    """Lay a grid over two columns of a table.

    Parameters
    ----------
    features : (name or position, name or position)
        Across and up.
    fixed : mapping from name or position to value, optional
        The values of the other columns; by default the median of numbers, the most frequent level.
    resolution : int
        Steps of an axis of numbers.
    schema : Schema, optional
        The kinds of the columns in the model.
    """
    table = read_table(X)
    if table.width < 2:
        raise DataError(f"X has {table.width} column: decision regions need two")
    if not table.n_rows:
        raise DataError("X has no rows: ranges and levels are read from them")
    if isinstance(features, str) or not hasattr(features, "__len__") or len(features) != 2:
        raise ParameterError(f"features={shown(features)}: give two columns, by name or position")
    across, up = (column_at(table, feature, "features") for feature in features)
    if across == up:
        raise ParameterError(f"features names {table.label(across)} twice: give two different columns")
    wanted = {}
    for name, value in (fixed or {}).items():
        at = column_at(table, name, "fixed")
        if at in (across, up):
            raise ParameterError(f"fixed names {table.label(at)}, which is one of the two features")
        wanted[at] = value
    kinds = kinds_of(table, schema)
    constants, held = {}, []
    for at in range(table.width):
        if at not in (across, up):
            constants[at], text = constant_of(table, at, kinds[at], wanted, is_given=at in wanted)
            held.append((column_name(table, at), text))
    axes = [axis_of(table, at, kinds[at], resolution) for at in (across, up)]
    return Plane(axes[0], axes[1], tuple(held), X, table, (across, up), constants)


def column_at(table: Table, feature: Hashable, where: str) -> int:
    """Return the position of a column, by its name or its number from 0."""
    if table.names is not None and feature in table.names:
        return table.names.index(feature)
    is_number = isinstance(feature, int | np.integer) and not isinstance(feature, bool)
    if is_number and 0 <= feature < table.width:  # type: ignore[operator]
        return int(feature)  # type: ignore[call-overload]
    have = f"positions 0 to {table.width - 1}"
    if table.names is not None:
        names = ", ".join(shown(name) for name in table.names[:12])
        have = f"{names}{', ...' if table.width > 12 else ''} ({have})"
    raise ParameterError(f"{where} names column {shown(feature)}, which X does not have; it has {have}")


def column_name(table: Table, at: int) -> str:
    """Return a column's name as a label."""
    return f"column {at}" if table.names is None else written_name(table.names[at])


def kinds_of(table: Table, schema: Schema | None) -> list[Column | None]:
    """Return the model's schema of each column, by name if both have names."""
    if schema is None or len(schema.given) != table.width:
        return [None] * table.width
    if table.names is None or not schema.named:
        return list(schema.given)
    return [schema.columns[schema.positions[name]] if name in schema.positions else None for name in table.names]


def as_levels(cells: Cells, kind: Column | None) -> bool:
    """Whether a column is drawn as a band for each level."""
    return not cells.is_number or (kind is not None and kind.kind != "numeric")


def levels_of(cells: Cells, kind: Column | None) -> tuple[npt.NDArray[np.int64], list[Hashable]]:
    """Return codes (-1: missing) and the levels in X, in the model's order, else sorted."""
    codes, distinct = cells.coded()
    held = np.flatnonzero(np.bincount(codes[codes >= 0], minlength=len(distinct)))
    if kind is not None and kind.levels:
        places = [kind.codes.get(distinct[code], len(kind.levels)) for code in held]
        held = held[np.argsort(places, kind="stable")]
    elif not cells.ordered and not cells.is_number:
        texts = [written_level(distinct[code]) for code in held]
        held = held[np.array(sorted(range(len(held)), key=texts.__getitem__), np.int64)]
    place = np.full(len(distinct) + 1, -1, np.int64)
    place[held] = np.arange(len(held))
    return place[codes], [distinct[code] for code in held]


def axis_of(table: Table, at: int, kind: Column | None, resolution: int) -> Axis:
    """Return one axis of the plane."""
    cells, name = table.cells(at), column_name(table, at)
    if as_levels(cells, kind):
        codes, levels = levels_of(cells, kind)
        if not levels:
            raise DataError(f"{table.label(at)} holds no value: choose another one")
        if len(levels) > MOST_LEVELS:
            raise DataError(f"{table.label(at)} has {len(levels)} levels: at most {MOST_LEVELS} can be drawn as bands")
        texts = tuple(written_level(level) for level in levels)
        first = np.array([int((codes == code).argmax()) for code in range(len(levels))], np.int64)
        points = np.where(codes >= 0, codes, np.nan).astype(np.float64)
        return Axis(name, texts, np.arange(len(levels), dtype=np.float64), (-0.5, len(levels) - 0.5), points, first)
    points = np.where(np.isfinite(cells.values), cells.values, np.nan)
    present = points[~np.isnan(points)]
    if not len(present):
        raise DataError(f"{table.label(at)} holds no finite value: choose another one")
    if np.abs(present).max() > WIDEST:
        raise DataError(f"{table.label(at)} holds {present[np.abs(present).argmax()]:g}: too large to be drawn")
    low, high = x_limits(present, log=False)
    centres = low + (np.arange(resolution, dtype=np.float64) + 0.5) * ((high - low) / resolution)
    return Axis(name, (), centres, (low, high), points, None)


def constant_of(
    table: Table, at: int, kind: Column | None, wanted: Mapping[int, Any], *, is_given: bool
) -> tuple[float | int, str]:
    """Return the value that a column is held at: a number, or a row of the table that has it; and its text."""
    cells = table.cells(at)
    missing = cells.missing()
    if is_given and is_missing(wanted[at]):
        if not cells.is_number and not missing.any():
            raise ParameterError(f"fixed sets {table.label(at)} to a missing value, but X has none there")
        return (math.nan if cells.is_number else int(missing.argmax())), "missing"
    if as_levels(cells, kind):
        codes, levels = levels_of(cells, kind)
        if not levels:
            return 0, "missing"
        code = int(np.bincount(codes[codes >= 0], minlength=len(levels)).argmax())
        if is_given:
            if wanted[at] not in levels:
                have = ", ".join(written_level(level) for level in levels[:12])
                raise ParameterError(
                    f"fixed sets {table.label(at)} to {shown(wanted[at])}, which no row of X has; choose one of {have}"
                    f"{', ...' if len(levels) > 12 else ''}"
                )
            code = levels.index(wanted[at])
        return int((codes == code).argmax()), written_level(levels[code])
    if is_given:
        value = wanted[at]
        if not isinstance(value, Real) or isinstance(value, bool):
            raise ParameterError(f"fixed sets {table.label(at)} to {shown(value)}: the column is numeric")
        return float(value), written_number(float(value), digits=4)
    present = cells.values[np.isfinite(cells.values)]
    if not len(present):
        return math.nan, "missing"
    ranked = np.sort(present)
    # The mean of the two in the middle, without a sum that could leave float64.
    middle = float(ranked[(len(ranked) - 1) // 2] / 2 + ranked[len(ranked) // 2] / 2)
    return middle, written_number(middle, digits=4)


def table_like(X: Any, table: Table, columns: Sequence[npt.NDArray[Any]]) -> Any:
    """A table of the type of X; of its columns, floats are values, integers are rows of X to take the cell from."""
    if table.matrix is not None and (table.names is None or isinstance(X, np.ndarray)):
        matrix = np.empty((len(columns[0]), table.width), np.float64)
        for at, column in enumerate(columns):
            matrix[:, at] = column if column.dtype.kind == "f" else table.matrix[column, at]
        return matrix
    if isinstance(X, dict):
        return {name: taken(X[name], column) for name, column in zip(X, columns, strict=True)}
    if isinstance(X, np.ndarray) and X.dtype.names:
        return {name: taken(X[name], column) for name, column in zip(X.dtype.names, columns, strict=True)}
    frame = known_frame(X)
    if frame is not X:
        series = list(frame.iter_columns())
        library = frame.implementation.to_native_namespace()
        held = {
            name: taken(series[at].to_native(), columns[at]) for at, name in enumerate(table.names or frame.columns)
        }
        return library.DataFrame(held) if hasattr(library, "DataFrame") else library.table(held)
    cells = np.asarray(X, dtype=object)
    mixed = np.empty((len(columns[0]), table.width), object)
    for at, column in enumerate(columns):
        mixed[:, at] = taken(cells[:, at], column)
    return mixed.tolist() if isinstance(X, list | tuple) else mixed


def taken(column: Any, wanted: npt.NDArray[Any]) -> Any:
    """Return one column of the new table: the numbers themselves, or cells of the old column by row."""
    if wanted.dtype.kind == "f":
        return wanted
    if isinstance(column, list | tuple | range):
        return [column[row] for row in wanted.tolist()]
    if isinstance(column, np.ndarray):
        return column[wanted]
    series = known_frame(column)
    if series is column:
        return np.asarray(column)[wanted]
    native = series[wanted].to_native()
    # Labels of pandas rows would be matched when the columns are put together.
    return native.array if hasattr(native, "array") else native


@dataclass(frozen=True)
class Answers:
    """The predictions at each point of the grid.

    Attributes
    ----------
    numbers : float64[up, across], or None
        Regression.
    codes : int64[up, across], or None
        Classification.
    likelihood : float64[up, across], or None
        Probability of the predicted class.
    """

    numbers: npt.NDArray[np.float64] | None
    codes: npt.NDArray[np.int64] | None
    likelihood: npt.NDArray[np.float64] | None
    classes: list[Hashable]


def answers_of(est: Any, plane: Plane) -> Answers:
    """Predict every point of the grid."""
    shape = (len(plane.up.centres), len(plane.across.centres))
    task = task_of(est)
    classes = None if task == "regression" else classes_of(est)
    asks = classes is not None and callable(getattr(est, "predict_proba", None))
    predicted, likelihoods = [], []
    for table in plane.tables():
        answer = np.asarray(est.predict(table))
        n_rows = len(table[next(iter(table))] if isinstance(table, dict) else table)
        if answer.size != n_rows:
            raise ParameterError(
                f"predict returned shape {answer.shape} for {n_rows} rows: the figure shows one prediction for each "
                "row; give a model of one output"
            )
        predicted.append(answer.reshape(-1))
        if asks:
            likelihoods.append(np.asarray(est.predict_proba(table)))
    answer = np.concatenate(predicted)
    # The type of the predictions decides only if the object has no task: a regressor may predict whole numbers.
    if task == "regression" or (task is None and classes is None and answer.dtype.kind == "f"):
        return Answers(as_numbers(est, answer).reshape(shape), None, None, [])
    values = answer.tolist()
    if classes is None:
        classes = sorted(set(values), key=lambda label: (str(type(label)), label))
    place = {label: code for code, label in enumerate(classes)}
    strange = sorted(map(repr, set(values) - set(place)))
    if strange:
        raise ParameterError(f"predict returned {strange[0]}, which is not among the classes_ of {type(est).__name__}")
    codes = np.array([place[label] for label in values], np.int64)
    likelihood = None
    if asks and all(part.ndim == 2 and part.shape[1] == len(classes) for part in likelihoods):
        likelihood = np.take_along_axis(np.concatenate(likelihoods), codes[:, None], axis=1)[:, 0].reshape(shape)
    return Answers(None, codes.reshape(shape), likelihood, list(classes))


def task_of(est: Any) -> Literal["classification", "regression"] | None:
    """Return the task of an object; None if it has none.

    Models of this library have a ``task``, estimators of scikit-learn have tags, and older ones ``_estimator_type``.
    """
    own = model_of(est)
    if own is not None:
        return "regression" if own.task == "regression" else "classification"
    tags = getattr(est, "__sklearn_tags__", None)
    kind = None
    if callable(tags):
        try:
            kind = getattr(tags(), "estimator_type", None)
        except AttributeError:  # a mixin of scikit-learn without its base class
            kind = None
    if kind is None:
        kind = getattr(est, "_estimator_type", None)
    return TASKS.get(str(kind))


def model_of(est: Any) -> Any:
    """Return the model of this library that an object is, or holds; None for anything else."""
    own = getattr(est, "model_", est)
    return own if isinstance(getattr(own, "schema", None), Schema) else None


def schema_of(est: Any) -> Schema | None:
    """Return the schema of a model of this library; None for anything else."""
    own = model_of(est)
    return None if own is None else own.schema


def classes_of(est: Any) -> list[Hashable] | None:
    """Return the labels that a classifier knows, in its order; None for anything else."""
    held = getattr(est, "classes_", None)
    if held is None and model_of(est) is not None and getattr(est, "classes", None):
        held = est.classes[0]
    if held is None or (isinstance(held, list) and held and np.ndim(held[0])):
        return None
    labels: list[Hashable] = np.asarray(held).tolist()
    return labels


def as_numbers(est: Any, answer: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return the predictions of a regressor."""
    try:
        return np.asarray(answer, np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"a {type(est).__name__} is tagged as a regressor, but predict returned no numbers: {error}"
        ) from error
