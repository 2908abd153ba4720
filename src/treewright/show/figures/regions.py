"""The predictions of a model in a plane of two columns. In: anything with predict, a table. Out: a figure.

``figures.plane`` makes the plane and the predictions; this module draws them, with rows of the table as points, and
warns of a plane that hides what the model does.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from treewright.core import notices
from treewright.data.cells import is_missing
from treewright.data.table import target_columns
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
)
from treewright.show.figures.plane import Answers, Axis, Plane, answers_of, model_of, plane_of, schema_of
from treewright.show.style import LIGHT, class_color, mixed
from treewright.trees.summary import counted
from treewright.trees.writing import cell_width, shorten, written_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
