"""The predictions of a model in a plane of two columns. In: anything with predict, a table. Out: a figure.

The points go to ``predict`` in a table of the user's type, so that anything fitted on such a table takes them. A cell
of it is either a number of the grid or a cell of the user's own table, taken by its row: levels keep their type.

The plane and its predictions are drawn with rows of the table as points, with a warning of a plane that hides what
the model does.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from treewright.core import notices
from treewright.data.cells import Cells, is_missing, shown
from treewright.data.schema import Column, Schema
from treewright.data.table import Table, known_frame, read_table, target_columns
from treewright.data.take import warn_of_another_order
from treewright.exceptions import DataError, ParameterError
from treewright.show.figures.look import (
    LABEL,
    SMALL,
    drawable,
    dress,
    legend_beside,
    level_ticks,
    named,
    new_axes,
    points,
    text_style,
    tick_style,
    tint,
    whole,
    x_limits,
)
from treewright.show.style import LIGHT, class_color, mixed
from treewright.trees.summary import counted
from treewright.trees.writing import cell_width, shorten, written_level, written_name, written_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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


SIZE = (8.0, 5.2)
HELD_NAMED, HELD_WIDTH = 6, 76  # at most so many columns; terminal cells of a line
# Terminal cells of a level, how many are named, and from how many characters together they are rotated.
LEVELS = {"cells": 16, "most": 24, "turned_from": 70}
BAR_NAME = 24  # terminal cells of the target's name
# Strength of a region's colour: if the class is no more probable than any other, and if it is certain.
FAINT, STRONG = 0.22, 0.6
MARKERS = "os^DvPX*"
LEGEND_CLASSES = 14
GOLDEN = 0.6180339887498949  # steps of this part of a circle fill it evenly and repeat in no period
JITTER = 0.36  # of a band, to either side
# The same for two directions at once (powers of the plastic number: Roberts 2018, "The R2 sequence").
TURNS = (0.7548776662466927, 0.5698402909980532)
SMALL_POINTS_FROM = 400
# A plane hides a class if less than this share of its points, at least so many, lie in its regions.
CLASS_SHARE, CLASS_POINTS = 0.25, 5
ALL_SHARE = 0.5  # of all points
NUMBER_POINT, WHITE_EDGE, DARK_EDGE = 5.0, 0.8, 0.9  # points: across, and the width of either edge
REMEDY = "choose other features=, hold them elsewhere with fixed=, or draw a model that was fitted on these two columns"


def decision_regions(
    est: Any,
    X: Any,
    y: Any = None,
    *,
    features: tuple[Hashable, Hashable] = (0, 1),
    fixed: Mapping[Hashable, Any] | None = None,
    resolution: int = 200,
    sample_points: int = 2000,
    ax: Axes | None = None,
) -> Figure:
    """Draw the predictions of a fitted model in the plane of two columns, and the rows as points.

    Parameters
    ----------
    est : object with ``predict``
        Fitted: an estimator or model of this library, of scikit-learn, or any other. Classes are shaded by
        ``predict_proba`` if there is one.
    X : table of n rows
        Of the type, and with the columns, that ``est`` was fitted on.
    y : array-like[n], optional
        Labels or numbers that colour the points; without it they are grey. A named series of numbers names the colour
        bar.
    features : (name or position, name or position)
        The column across and the column up. Nominal and ordinal columns have a band for each level in X.
    fixed : mapping from name or position to value, optional
        The values of the other columns; by default the median of numbers and the most frequent level. The figure
        states them above the axes. ``None`` or nan set a column to a missing value. Rows with other values there are
        also drawn: the figure states how many points lie in a region of their own class.
    resolution : int, 2 to 2000
        Points of the grid along an axis of numbers.
    sample_points : int >= 0
        At most so many rows are drawn, spread over the whole table. Rows with a missing or infinite value in one of the
        two columns are not drawn.
    ax : matplotlib.axes.Axes, optional
        Draw into these; by default into a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure

    Warns
    -----
    DataWarning
        Columns are held, and one class or number fills the plane, less than half of the points lie in a region of their
        own class, or less than a quarter of those of a class.

    Raises
    ------
    DataError
        X is not a table of at least two columns and one row, y does not fit, or a column of the plane has no value.
    ParameterError
        A column is unknown or named twice, ``fixed`` cannot be held, a number is out of range, ``est`` has no
        ``predict`` or predicts several outputs, or a regressor predicts no numbers.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"age": [20, 30, 40, 50], "city": ["Oslo", "Lima", "Oslo", "Lima"], "pay": [1, 2, 3, 4]}
    >>> tree = tw.DecisionTreeClassifier().fit(table, ["no", "no", "yes", "yes"])
    >>> figure = decision_regions(tree, table, ["no", "no", "yes", "yes"], features=("age", "city"))
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['Lima', 'Oslo']
    >>> print(figure.axes[0].get_title(loc="left"))
    held: pay 2.5
    4 of 4 points lie in a region of their own class
    """
    if not callable(getattr(est, "predict", None)):
        raise ParameterError(f"a {type(est).__name__} has no predict: give a fitted estimator or model")
    resolution = whole("resolution", resolution, 2, 2000)
    sample_points = whole("sample_points", sample_points, 0, 10**9)
    plane = plane_of(X, features, fixed, resolution, schema_of(est))
    warn_of_another_order(X, y=y)
    target, target_name = target_of(y, len(plane.across.points))
    answers = answers_of(est, plane)
    is_own = ax is None
    figure, ax = new_axes(ax, SIZE)
    dress(ax, xlabel=shorten(plane.across.name, 60), ylabel=shorten(plane.up.name, 44), grid="")
    for spine in ax.spines.values():
        spine.set_visible(False)
    rows = shown_rows(plane, sample_points)
    room = int(HELD_WIDTH * min(1.0, figure.get_figwidth() / points(SIZE[0]))) if is_own else HELD_WIDTH
    above = [held_text(plane.held, room)] if plane.held else []
    own, varies = None, True
    if answers.codes is not None:
        _draw_image(ax, plane, region_colors(answers.codes, answers.likelihood, len(answers.classes)))
        title = "predicted, shaded by\nits probability" if answers.likelihood is not None else "predicted"
        labels = labels_at(target, rows)
        legend_beside(ax, labelled_points(ax, plane, answers.classes, labels, rows), title)
        if labels is not None:
            own = own_colors(plane, answers.codes, answers.classes, labels, rows)
            above += [own.text(some=len(rows) < has_place(plane).sum())] if own.n else []
        varies = len(set(answers.classes) | set(labels or []) - {None}) > 1
    elif answers.numbers is not None:
        _numbers(figure, ax, plane, answers.numbers, target, rows, target_name or own_target_name(est))
    _dress_axis(ax, plane.across, "x")
    _dress_axis(ax, plane.up, "y")
    if above:
        ax.set_title(drawable_lines(above), loc="left", pad=points(8), **text_style(SMALL, LIGHT.muted))
    warn_of_hidden(plane, answers, own, varies=varies)
    return figure


def target_of(y: Any, n: int) -> tuple[npt.NDArray[Any] | None, str]:
    """Return the target as one array, or None, and its name, or an empty text."""
    if y is None:
        return None, ""
    columns, names, _ = target_columns(y, "y")
    if len(columns) != 1:
        raise DataError(f"y has {len(columns)} outputs: give the one that est predicts")
    if len(columns[0]) != n:
        raise DataError(f"X has {n} rows and y has {len(columns[0])}: give one for each")
    return columns[0], next(iter(names), "")


def own_target_name(est: Any) -> str:
    """Return the name of a model's target; empty if it has none."""
    names: Sequence[str] = getattr(model_of(est), "target_names", ())
    return str(names[0]) if len(names) == 1 else ""


def region_colors(
    codes: npt.NDArray[np.int64], likelihood: npt.NDArray[np.float64] | None, n_classes: int
) -> npt.NDArray[np.uint8]:
    """Return the colour of every point of the grid.

    Parameters
    ----------
    codes : int64[up, across]
    likelihood : float64[up, across], or None
        Probability of the predicted class.

    Returns
    -------
    uint8[up, across, 3]
    """
    colors = np.array([_rgb(class_color(code)) for code in range(n_classes)])[codes]
    strength = np.full(codes.shape, (FAINT + STRONG) / 2)
    if likelihood is not None:
        least = 1.0 / max(n_classes, 2)
        certain = np.clip((np.nan_to_num(likelihood) - least) / (1.0 - least), 0.0, 1.0)
        strength = FAINT + (STRONG - FAINT) * certain
    page = np.array(_rgb(LIGHT.page))
    return np.asarray(np.round(page + (colors - page) * strength[..., None]), np.uint8)


def held_text(held: Sequence[tuple[str, str]], room: int = HELD_WIDTH) -> str:
    """Return the values of the other columns: all of a few, the first of many, in lines of ``room`` cells.

    Examples
    --------
    >>> held_text([("age", "31"), ("city", "Oslo")])
    'held: age 31, city Oslo'
    """
    words = [f"{shorten(name, 32)} {shorten(value, 16)}" for name, value in held[:HELD_NAMED]]
    if len(held) > HELD_NAMED:
        words.append(f"and {len(held) - HELD_NAMED} more")
    lines = [f"held: {words[0]}"]
    for word in words[1:]:
        if cell_width(lines[-1]) + cell_width(word) + 3 > room:
            lines[-1] += ","
            lines.append(word)
        else:
            lines[-1] += f", {word}"
    return "\n".join(lines)


def drawable_lines(texts: Sequence[str]) -> str:
    """Return several lines as one text that is drawn literally; a line feed would be escaped otherwise."""
    return "\n".join(drawable(line) for text in texts for line in text.split("\n"))


def _rgb(color: str) -> tuple[int, int, int]:
    """A colour as three numbers of 0 to 255."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _draw_image(ax: Axes, plane: Plane, values: npt.NDArray[Any], **options: Any) -> Any:
    """Draw the grid, a rectangle for each point, without smoothing. Returns the image."""
    (left, right), (low, high) = plane.across.edges, plane.up.edges
    image = ax.imshow(
        values, origin="lower", extent=(left, right, low, high), aspect="auto", interpolation="nearest", zorder=0,
        **options,
    )  # fmt: skip
    for axis, draw in ((plane.across, ax.axvline), (plane.up, ax.axhline)):
        if axis.levels:
            for edge in range(1, len(axis.levels)):
                draw(edge - 0.5, color=LIGHT.page, linewidth=points(2.0), zorder=1)
    return image


def _numbers(
    figure: Figure, ax: Axes, plane: Plane, values: npt.NDArray[np.float64], target: npt.NDArray[Any] | None,
    rows: npt.NDArray[np.int64], name: str,
) -> None:  # fmt: skip
    """Draw a surface of numbers, the points in the same colours, and the colour bar with the target's name."""
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    own = None
    if target is not None:
        try:
            own = target.astype(np.float64)[rows]
        except (TypeError, ValueError) as error:
            raise DataError(f"est predicts numbers, but y is not numeric: {error}") from error
    both = np.concatenate([values.reshape(-1), np.empty(0) if own is None else own])
    both = both[np.isfinite(both)]
    if not len(both):
        raise DataError("no prediction is a finite number: there is nothing to draw")
    steps = [mixed(LIGHT.page, LIGHT.accent, 0.08), LIGHT.accent, mixed(LIGHT.accent, LIGHT.ink, 0.85)]
    shades = LinearSegmentedColormap.from_list("treewright", steps)
    norm = Normalize(float(both.min()), float(both.max()))
    image = _draw_image(ax, plane, values, cmap=shades, norm=norm)
    colors: dict[str, Any] = {"color": [LIGHT.muted] * len(rows)}
    if own is not None:
        known = np.isfinite(own)  # the others have no colour
        rows, colors = rows[known], {"c": own[known], "cmap": shades, "norm": norm}
    number_points(ax, plane, rows, colors)
    bar = figure.colorbar(image, ax=ax, pad=0.02, aspect=30)
    bar.outline.set_visible(False)
    bar.ax.tick_params(**tick_style())
    name_of_bar = f"{named(name, BAR_NAME)}, predicted" if name else "prediction"
    bar.set_label(
        name_of_bar if own is None else f"{name_of_bar} (points: {'observed' if name else 'y'})", **text_style(LABEL)
    )


def _dress_axis(ax: Axes, axis: Axis, which: Literal["x", "y"]) -> None:
    """Set limits, and the names of levels at their bands."""
    (ax.set_xlim if which == "x" else ax.set_ylim)(*axis.edges)
    if axis.levels:
        level_ticks(ax, axis.levels, which, **LEVELS)
        ax.tick_params(axis=which, length=0)


@dataclass(frozen=True)
class OwnColors:
    """How many points lie in a region of their own class.

    Attributes
    ----------
    in_own, n_points : int64[k]
        Of each class: points in its regions, and all points.
    n_others : int
        Points with a label that the model does not know.
    """

    in_own: npt.NDArray[np.int64]
    n_points: npt.NDArray[np.int64]
    n_others: int

    @property
    def n(self) -> int:
        """All points with a label."""
        return int(self.n_points.sum()) + self.n_others

    def text(self, *, some: bool) -> str:
        """Return the counts as the text of the figure; ``some``: not every row is drawn.

        Examples
        --------
        >>> OwnColors(np.array([3, 1]), np.array([4, 2]), 0).text(some=False)
        '4 of 6 points lie in a region of their own class'
        """
        own = int(self.in_own.sum())
        points, lie = "drawn points" if some else "points", "lies" if own == 1 else "lie"
        return f"{own:,} of {self.n:,} {points} {lie} in a region of their own class"


def shown_rows(plane: Plane, most: int) -> npt.NDArray[np.int64]:
    """Return the rows that are drawn, ascending: those with both values, if many spread over the table."""
    rows = np.flatnonzero(has_place(plane))
    if len(rows) <= most:
        return rows
    # Every k-th row would be of one class if classes take turns.
    order = np.argsort(np.arange(len(rows)) * GOLDEN % 1.0, kind="stable")
    return rows[np.sort(order[:most])]


def has_place(plane: Plane) -> npt.NDArray[np.bool_]:
    """Return which rows have a value in both columns."""
    return np.asarray(~np.isnan(plane.across.points) & ~np.isnan(plane.up.points))


def labels_at(target: npt.NDArray[Any] | None, rows: npt.NDArray[np.int64]) -> list[Any] | None:
    """Return the labels of some rows, None for a missing one; None without a target."""
    return None if target is None else [None if is_missing(own) else own for own in target[rows].tolist()]


def own_colors(
    plane: Plane, codes: npt.NDArray[np.int64], classes: Sequence[Hashable], labels: Sequence[Any],
    rows: npt.NDArray[np.int64],
) -> OwnColors:  # fmt: skip
    """Count the points in regions of their own class; points without a label are not counted."""
    predicted = codes[cells_at(plane.up, rows), cells_at(plane.across, rows)]
    in_own, n_points = [], []
    for code, label in enumerate(classes):
        mine = np.array([own == label for own in labels], bool)
        n_points.append(int(mine.sum()))
        in_own.append(int((predicted[mine] == code).sum()))
    n_labelled = sum(own is not None for own in labels)
    return OwnColors(np.array(in_own, np.int64), np.array(n_points, np.int64), n_labelled - sum(n_points))


def cells_at(axis: Axis, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the cell of the grid of each row, along an axis."""
    at = axis.points[rows]
    if axis.levels:
        return at.astype(np.int64)
    low, high = axis.edges
    steps = len(axis.centres)
    return np.clip(((at - low) / (high - low) * steps).astype(np.int64), 0, steps - 1)


def warn_of_hidden(plane: Plane, answers: Answers, own: OwnColors | None, *, varies: bool) -> None:
    """Warn if the held columns make a plane that does not show what the model does.

    Parameters
    ----------
    own : OwnColors, or None
        None without a target, or for regression.
    varies : bool
        Whether more than one prediction is to be expected.
    """
    if not plane.held:
        return
    predicted = answers.numbers if answers.codes is None else answers.codes
    if predicted is not None and varies and (predicted == predicted.flat[0]).all():
        what = "one number" if answers.codes is None else _shown(answers.classes[int(predicted.flat[0])])
        problem = f"the whole plane is predicted {what}"
    elif own is None:
        return
    elif own.in_own.sum() < ALL_SHARE * own.n:
        problem = f"only {own.text(some=False)}"
    else:
        hidden = np.flatnonzero((own.n_points >= CLASS_POINTS) & (own.in_own < CLASS_SHARE * own.n_points))
        if not len(hidden):
            return
        first = int(hidden[0])
        problem = (
            f"only {int(own.in_own[first])} of {int(own.n_points[first])} points of {_shown(answers.classes[first])} "
            "lie in a region of their own class"
        )
    held = counted(len(plane.held), "other column is", "other columns are")
    notices.warn(f"{problem}, where the {held} held at one value each: {REMEDY}")


def labelled_points(
    ax: Axes, plane: Plane, classes: Sequence[Hashable], labels: Sequence[Any] | None, rows: npt.NDArray[np.int64]
) -> list[Any]:
    """Draw the rows in the colours of their classes. Returns the legend's handles."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    x, y = _places(plane.across, rows, TURNS[0]), _places(plane.up, rows, TURNS[1])
    style: dict[str, Any] = {
        "linestyle": "none",
        "markersize": points(5.6 if len(rows) <= SMALL_POINTS_FROM else 4.0),
        "markeredgewidth": points(0.6),
        "markeredgecolor": LIGHT.page,
    }
    handles: list[Any] = []
    known = np.zeros(len(rows), bool)
    for code, label in enumerate(classes):
        color = class_color(code)
        marker = MARKERS[code % len(MARKERS)]
        text = named(written_level(label), 24)
        if labels is None:
            handles.append(Patch(facecolor=tint(color, STRONG), label=text))
            continue
        mine = np.array([own == label for own in labels], bool)
        known |= mine
        dark = mixed(color, LIGHT.ink, 0.12)
        if mine.any():
            ax.plot(x[mine], y[mine], marker=marker, color=dark, zorder=3, **style)
        # One key for a region and its points.
        handles.append(Line2D([], [], marker=marker, color=dark, label=text, **(style | {"markersize": points(8.0)})))
    if not known.all():
        text = "rows" if labels is None else "other labels"
        handles += ax.plot(x[~known], y[~known], marker=".", color=LIGHT.muted, zorder=3, label=text, **style)
    if len(handles) > LEGEND_CLASSES:
        more = len(handles) - LEGEND_CLASSES + 1
        handles = [*handles[: LEGEND_CLASSES - 1], Line2D([], [], linestyle="none", label=f"and {more} more")]
    return handles


def number_points(ax: Axes, plane: Plane, rows: npt.NDArray[np.int64], colors: dict[str, Any]) -> None:
    """Draw the rows with a white edge in a dark one: one of the two is visible at any place."""
    if not len(rows):
        return
    x, y = _places(plane.across, rows, TURNS[0]), _places(plane.up, rows, TURNS[1])
    size = NUMBER_POINT if len(rows) <= SMALL_POINTS_FROM else 0.8 * NUMBER_POINT
    # One colour for each: matplotlib rounds the places of discs to pixels if they have a single colour.
    around = size + 2 * (WHITE_EDGE + DARK_EDGE)
    ax.scatter(
        x, y, s=points(around) ** 2, linewidths=0, color=[LIGHT.ink] * len(rows), zorder=3, marker="o", snap=False
    )
    # Half of an edge lies inside the disc.
    ax.scatter(
        x,
        y,
        s=points(size + WHITE_EDGE) ** 2,
        linewidths=points(WHITE_EDGE),
        edgecolors=LIGHT.page,
        zorder=3.1,
        marker="o",
        snap=False,
        **colors,
    )


def _places(axis: Axis, rows: npt.NDArray[np.int64], turn: float) -> npt.NDArray[np.float64]:
    """Places of rows along an axis; in a band they are spread, by their number, so that they do not hide each other."""
    at = axis.points[rows]
    return np.asarray(at + JITTER * (2.0 * (rows * turn % 1.0) - 1.0)) if axis.levels else at


def _shown(label: Hashable) -> str:
    """A label as text for messages."""
    return shorten(written_level(label), 40)
