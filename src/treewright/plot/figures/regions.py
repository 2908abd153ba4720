"""What a model says in a plane of two columns. In: anything with predict, a table. Out: a figure. Callers: users."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from treewright.data.frame import target_columns
from treewright.exceptions import DataError, ParameterError
from treewright.plot.figures.answers import answers_of, model_of, schema_of
from treewright.plot.figures.checks import whole
from treewright.plot.figures.grid import Axis, Plane, plane_of
from treewright.plot.figures.look import (
    LABEL,
    SMALL,
    drawable,
    dress,
    legend_beside,
    named,
    new_axes,
    points,
    text_style,
    tick_style,
)
from treewright.plot.figures.points import (
    FAINT,
    STRONG,
    has_place,
    labelled_points,
    labels_at,
    number_points,
    own_colors,
    shown_rows,
    warn_of_hidden,
)
from treewright.plot.style import LIGHT, class_color, mixed
from treewright.tree.writing import cell_width, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (8.0, 5.2)
HELD_NAMED, HELD_WIDTH = 6, 76  # at most so many columns; terminal cells of a line
LEVEL_TEXT, MOST_LEVEL_TEXTS = 16, 24
BAR_NAME = 24  # terminal cells of the target's name


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
        Labels or numbers that colour the points; without it they are grey. A named series of numbers names the colour
        bar.
    features : (name or position, name or position)
        The column across and the column up. Nominal and ordinal columns have a band for each level that X holds.
    fixed : mapping from name or position to value, optional
        What the other columns are held at; by default the median of numbers and the most frequent level. The figure
        says so above the axes. ``None`` or nan hold a column at a missing value. Rows with other values there are drawn
        all the same: the figure says how many points lie where their own class is predicted.
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
        Columns are held, and one class or number fills the plane, less than half of the points lie in their own colour,
        or less than a quarter of those of a class.

    Raises
    ------
    DataError
        X is no table of at least two columns and one row, y does not fit, or a column of the plane holds no value.
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
    4 of 4 points lie in their own colour
    """
    if not callable(getattr(est, "predict", None)):
        raise ParameterError(f"a {type(est).__name__} has no predict: give a fitted estimator or model")
    resolution = whole("resolution", resolution, 2, 2000)
    sample_points = whole("sample_points", sample_points, 0, 10**9)
    plane = plane_of(X, features, fixed, resolution, schema_of(est))
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
    """Return the target as one array, or None, and its name, or nothing.

    Raises
    ------
    DataError
        Several outputs, or another number of rows than X has.
    """
    if y is None:
        return None, ""
    columns, names, _ = target_columns(y, "y")
    if len(columns) != 1:
        raise DataError(f"y has {len(columns)} outputs: give the one that est predicts")
    if len(columns[0]) != n:
        raise DataError(f"X has {n} rows and y has {len(columns[0])}: give one for each")
    return columns[0], next(iter(names), "")


def own_target_name(est: Any) -> str:
    """Return what a model of this library knows its target by; nothing where it does not."""
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


def held_text(held: Sequence[tuple[str, str]], room: int = HELD_WIDTH) -> str:
    """Return what the other columns are held at: all of a few, the first of many, wrapped into lines of ``room`` cells.

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
    """Return several lines as one text that is drawn as it stands; a line feed would be escaped otherwise."""
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
    """Draw a surface of numbers, the points in the same colours, and the colour bar with the target's name.

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
    colors: dict[str, Any] = {"color": [LIGHT.muted] * len(rows)}
    if own is not None:
        known = np.isfinite(own)  # the others have no colour
        rows, colors = rows[known], {"c": own[known], "cmap": shades, "norm": norm}
    number_points(ax, plane, rows, colors)
    bar = figure.colorbar(image, ax=ax, pad=0.02, aspect=30)
    bar.outline.set_visible(False)
    bar.ax.tick_params(**tick_style())
    said = f"{named(name, BAR_NAME)}, predicted" if name else "prediction"
    bar.set_label(said if own is None else f"{said} (points: {'observed' if name else 'y'})", **text_style(LABEL))


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
