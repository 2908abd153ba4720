"""What a model says in a plane of two columns. In: anything with predict, a table. Out: a figure. Callers: users."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from treewright.data.cells import is_missing
from treewright.data.frame import target_columns
from treewright.data.schema import Schema
from treewright.exceptions import DataError, ParameterError
from treewright.plot.figures.checks import whole
from treewright.plot.figures.grid import Axis, Plane, plane_of
from treewright.plot.figures.look import (
    LABEL,
    SMALL,
    TICK,
    drawable,
    dress,
    families,
    legend_beside,
    named,
    new_axes,
    text_style,
    tint,
)
from treewright.plot.style import LIGHT, class_color, mixed
from treewright.tree.words import cell_width, shorten, written_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (8.0, 5.2)
# Strength of a region's colour: where the class is no likelier than any other, and where it is certain.
FAINT, STRONG = 0.22, 0.6
MARKERS = "os^DvPX*"
LEGEND_CLASSES = 14
HELD_NAMED, HELD_WIDTH = 8, 76  # at most so many columns; terminal cells
LEVEL_TEXT, MOST_LEVEL_TEXTS = 16, 24
GOLDEN = 0.6180339887498949  # steps of this part of a circle fill it evenly and repeat in no period
JITTER = 0.36  # of a band, to either side
# The same for two directions at once (powers of the plastic number: Roberts 2018, "The R2 sequence").
TURNS = (0.7548776662466927, 0.5698402909980532)


@dataclass(frozen=True)
class Answers:
    """What is said at each point of the grid.

    Attributes
    ----------
    numbers : float64[up, across], or None
        Regression.
    codes : int64[up, across], or None
        Classes.
    likelihood : float64[up, across], or None
        Probability of the class that is predicted.
    classes : list
    """

    numbers: npt.NDArray[np.float64] | None
    codes: npt.NDArray[np.int64] | None
    likelihood: npt.NDArray[np.float64] | None
    classes: list[Hashable]


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
    """Draw what a fitted model predicts in the plane of two columns, and the rows as points.

    Parameters
    ----------
    est : object with ``predict``
        Fitted: an estimator or model of this library, of scikit-learn, or any other. Classes are shaded by
        ``predict_proba`` where there is one.
    X : table of n rows
        Of the sort, and with the columns, that ``est`` was fitted on.
    y : array-like[n], optional
        Labels or numbers that colour the points; without it they are grey.
    features : (name or position, name or position)
        The column across and the column up. Nominal and ordinal columns have a band for each level that X holds.
    fixed : mapping from name or position to value, optional
        What the other columns are held at; by default the median of numbers and the most frequent level. The figure
        says so above the axes. ``None`` or nan hold a column at a missing value.
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

    Raises
    ------
    DataError
        X is no table of at least two columns and one row, y does not fit, or a column of the plane holds no value.
    ParameterError
        A column is unknown or named twice, ``fixed`` cannot be held, a number is out of range, ``est`` has no
        ``predict`` or predicts several outputs.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"age": [20, 30, 40, 50], "city": ["Oslo", "Lima", "Oslo", "Lima"], "pay": [1, 2, 3, 4]}
    >>> tree = tw.DecisionTreeClassifier().fit(table, ["no", "no", "yes", "yes"])
    >>> figure = decision_regions(tree, table, ["no", "no", "yes", "yes"], features=("age", "city"))
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()], figure.axes[0].get_title(loc="left")
    (['Lima', 'Oslo'], 'held: pay 2.5')
    """
    if not callable(getattr(est, "predict", None)):
        raise ParameterError(f"a {type(est).__name__} has no predict: give a fitted estimator or model")
    resolution = whole("resolution", resolution, 2, 2000)
    sample_points = whole("sample_points", sample_points, 0, 10**9)
    plane = plane_of(X, features, fixed, resolution, schema_of(est))
    target = target_of(y, len(plane.across.points))
    answers = answers_of(est, plane)
    figure, ax = new_axes(ax, SIZE)
    dress(ax, xlabel=shorten(plane.across.name, 60), ylabel=shorten(plane.up.name, 44), grid="")
    for spine in ax.spines.values():
        spine.set_visible(False)
    rows = shown_rows(plane, sample_points)
    if answers.codes is not None:
        _draw_image(ax, plane, region_colors(answers.codes, answers.likelihood, len(answers.classes)))
        title = "predicted, shaded by\nits probability" if answers.likelihood is not None else "predicted"
        legend_beside(ax, _labelled_points(ax, plane, answers.classes, target, rows), title)
    elif answers.numbers is not None:
        _numbers(figure, ax, plane, answers.numbers, target, rows)
    _dress_axis(ax, plane.across, "x")
    _dress_axis(ax, plane.up, "y")
    if plane.held:
        ax.set_title(drawable(held_text(plane.held)), loc="left", pad=8, **text_style(SMALL, LIGHT.muted))
    return figure


def schema_of(est: Any) -> Schema | None:
    """Return what a model of this library knows of its columns."""
    schema = getattr(getattr(est, "model_", est), "schema", None)
    return schema if isinstance(schema, Schema) else None


def target_of(y: Any, n: int) -> npt.NDArray[Any] | None:
    """Return the target as one array, or None.

    Raises
    ------
    DataError
        Several outputs, or another number of rows than X has.
    """
    if y is None:
        return None
    columns = target_columns(y, "y").columns
    if len(columns) != 1:
        raise DataError(f"y has {len(columns)} outputs: give the one that est predicts")
    if len(columns[0]) != n:
        raise DataError(f"X has {n} rows and y has {len(columns[0])}: give one for each")
    return columns[0]


def answers_of(est: Any, plane: Plane) -> Answers:
    """Ask the model at every point of the grid.

    Raises
    ------
    ParameterError
        It does not give one answer for each row, or gives a label that is none of its classes.
    """
    shape = (len(plane.up.centres), len(plane.across.centres))
    classes = classes_of(est)
    # A regression model of this library has the method, and refuses it.
    asks = classes is not None and callable(getattr(est, "predict_proba", None))
    said, likelihoods = [], []
    for table in plane.tables():
        answer = np.asarray(est.predict(table))
        n_rows = len(table[next(iter(table))] if isinstance(table, dict) else table)
        if answer.size != n_rows:
            raise ParameterError(
                f"predict gave shape {answer.shape} for {n_rows} rows: a figure shows one answer for each row; give a "
                "model of one output"
            )
        said.append(answer.reshape(-1))
        if asks:
            likelihoods.append(np.asarray(est.predict_proba(table)))
    answer = np.concatenate(said)
    if classes is None and answer.dtype.kind == "f":
        return Answers(answer.astype(np.float64).reshape(shape), None, None, [])
    values = answer.tolist()
    if classes is None:
        classes = sorted(set(values), key=lambda label: (str(type(label)), label))
    place = {label: code for code, label in enumerate(classes)}
    strange = sorted(map(repr, set(values) - set(place)))
    if strange:
        raise ParameterError(f"predict gave {strange[0]}, which is not among the classes_ of {type(est).__name__}")
    codes = np.array([place[label] for label in values], np.int64)
    likelihood = None
    if asks and all(part.ndim == 2 and part.shape[1] == len(classes) for part in likelihoods):
        likelihood = np.take_along_axis(np.concatenate(likelihoods), codes[:, None], axis=1)[:, 0].reshape(shape)
    return Answers(None, codes.reshape(shape), likelihood, list(classes))


def classes_of(est: Any) -> list[Hashable] | None:
    """Return the labels that a classifier knows, in its order; None for anything else."""
    held = getattr(est, "classes_", None)
    if held is None and schema_of(est) is not None and getattr(est, "classes", None):
        held = est.classes[0]
    if held is None or (isinstance(held, list) and held and np.ndim(held[0])):
        return None
    labels: list[Hashable] = np.asarray(held).tolist()
    return labels


def shown_rows(plane: Plane, most: int) -> npt.NDArray[np.int64]:
    """Return the rows that are drawn, ascending: those with both values, spread over the table where they are many."""
    rows = np.flatnonzero(~np.isnan(plane.across.points) & ~np.isnan(plane.up.points))
    if len(rows) <= most:
        return rows
    # Every k-th row would hit one class only where classes take turns.
    order = np.argsort(np.arange(len(rows)) * GOLDEN % 1.0, kind="stable")
    return rows[np.sort(order[:most])]


def region_colors(
    codes: npt.NDArray[np.int64], likelihood: npt.NDArray[np.float64] | None, n_classes: int
) -> npt.NDArray[np.uint8]:
    """Return the colour of every point of the grid.

    Parameters
    ----------
    codes : int64[up, across]
    likelihood : float64[up, across], or None
        Probability of the class that is predicted.
    n_classes : int

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


def held_text(held: Sequence[tuple[str, str]]) -> str:
    """Return what the other columns are held at, in one line.

    Examples
    --------
    >>> held_text([("age", "31"), ("city", "Oslo")])
    'held: age 31, city Oslo'
    """
    texts = [f"{shorten(name, 24)} {shorten(value, 16)}" for name, value in held[:HELD_NAMED]]
    for n_shown in range(len(texts), 0, -1):
        more = f", and {len(held) - n_shown} more" if n_shown < len(held) else ""
        line = f"held: {', '.join(texts[:n_shown])}{more}"
        if cell_width(line) <= HELD_WIDTH:
            break
    return line


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
                draw(edge - 0.5, color=LIGHT.page, linewidth=2.0, zorder=1)
    return image


def _places(axis: Axis, rows: npt.NDArray[np.int64], turn: float) -> npt.NDArray[np.float64]:
    """Where rows lie along an axis; in a band they are spread, by their number, so that they do not hide each other."""
    at = axis.points[rows]
    return np.asarray(at + JITTER * (2.0 * (rows * turn % 1.0) - 1.0)) if axis.levels else at


def _labelled_points(
    ax: Axes, plane: Plane, classes: Sequence[Hashable], target: npt.NDArray[Any] | None, rows: npt.NDArray[np.int64]
) -> list[Any]:
    """Draw the rows in the colours of their classes. Returns what the legend names."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    x, y = _places(plane.across, rows, TURNS[0]), _places(plane.up, rows, TURNS[1])
    labels = None if target is None else [None if is_missing(own) else own for own in target[rows].tolist()]
    size = 5.6 if len(rows) <= 400 else 4.0
    style: dict[str, Any] = {
        "linestyle": "none",
        "markersize": size,
        "markeredgewidth": 0.6,
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
        # A region's colour behind the point's: the two are one key.
        handles.append(Line2D([], [], marker=marker, color=dark, label=text, **(style | {"markersize": 8.0})))
    if not known.all():
        text = "rows" if labels is None else "other labels"
        handles += ax.plot(x[~known], y[~known], marker=".", color=LIGHT.muted, zorder=3, label=text, **style)
    if len(handles) > LEGEND_CLASSES:
        more = len(handles) - LEGEND_CLASSES + 1
        handles = [*handles[: LEGEND_CLASSES - 1], Line2D([], [], linestyle="none", label=f"and {more} more")]
    return handles


def _numbers(
    figure: Figure, ax: Axes, plane: Plane, values: npt.NDArray[np.float64], target: npt.NDArray[Any] | None,
    rows: npt.NDArray[np.int64],
) -> None:  # fmt: skip
    """Draw a surface of numbers, the points in the same colours, and the colour bar.

    Raises
    ------
    DataError
        y holds no numbers.
    """
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    own = None
    if target is not None:
        try:
            own = target.astype(np.float64)[rows]
        except (TypeError, ValueError) as error:
            raise DataError(f"est predicts numbers and y holds others: {error}") from error
    both = np.concatenate([values.reshape(-1), np.empty(0) if own is None else own])
    both = both[np.isfinite(both)]
    if not len(both):
        raise DataError("no prediction is a finite number: there is nothing to draw")
    steps = [mixed(LIGHT.page, LIGHT.accent, 0.08), LIGHT.accent, mixed(LIGHT.accent, LIGHT.ink, 0.85)]
    shades = LinearSegmentedColormap.from_list("treewright", steps)
    norm = Normalize(float(both.min()), float(both.max()))
    image = _draw_image(ax, plane, values, cmap=shades, norm=norm)
    x, y = _places(plane.across, rows, TURNS[0]), _places(plane.up, rows, TURNS[1])
    colors: dict[str, Any] = {"color": LIGHT.muted} if own is None else {"c": own, "cmap": shades, "norm": norm}
    ax.scatter(x, y, s=26, linewidths=0.7, edgecolors=LIGHT.page, zorder=3, marker="o", **colors)
    bar = figure.colorbar(image, ax=ax, pad=0.02, aspect=30)
    bar.outline.set_visible(False)
    bar.ax.tick_params(color=LIGHT.line, labelcolor=LIGHT.ink, labelsize=TICK, labelfontfamily=families())
    bar.set_label("prediction" if own is None else "prediction (points: y)", **text_style(LABEL))


def _dress_axis(ax: Axes, axis: Axis, which: Literal["x", "y"]) -> None:
    """Set limits, and the names of levels at their bands; of many levels every second, third, ..."""
    (ax.set_xlim if which == "x" else ax.set_ylim)(*axis.edges)
    if not axis.levels:
        return
    step = -(-len(axis.levels) // MOST_LEVEL_TEXTS)
    places = list(range(0, len(axis.levels), step))
    texts = [named(axis.levels[at], LEVEL_TEXT) for at in places]
    (ax.set_xticks if which == "x" else ax.set_yticks)(places, texts)
    ax.tick_params(axis=which, length=0)
    if which == "x" and sum(map(len, texts)) > 70:
        for label in ax.get_xticklabels():
            label.set(rotation=35, ha="right", rotation_mode="anchor")
