"""Quality of predictions: ROC, precision and recall, calibration, confusion, residuals. In: arrays. Out: a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treewright.exceptions import DataError, ParameterError
from treewright.show.figures.look import (
    DOT,
    DOTTED,
    LINE,
    MARK_DASHES,
    MOST_DOTS,
    SMALL,
    TEST,
    as_wanted,
    dress,
    legend_beside,
    named,
    new_axes,
    numbers,
    points,
    text_style,
    tick_text,
    tint,
    x_limits,
)
from treewright.show.style import CLASS_COLORS, LIGHT, class_color, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE, SIZE_WITH_BINS = (7.4, 4.9), (7.4, 6.0)  # inches
CLASS_NAME, CLASS_OF_TABLE = 26, 22  # terminal cells
ROOM = 0.015  # beyond 0 and 1, so that lines on them are fully visible
MOST_CURVES = 12
DASHES: tuple[Any, ...] = ("-", *MARK_DASHES)
Curves = Mapping[Any, tuple[npt.ArrayLike, npt.ArrayLike]]
ABOVE, BELOW = (0.0, 0.3, 1.0, 0.7), (0.0, 0.0, 1.0, 0.2)  # the two panels, in shares of the axes
CELL, AROUND = 0.62, 1.7  # inches: of one class, and of the labels around
LEAST, MOST = 3.4, 12.0  # inches of all cells
RIGHT, WRONG = TEST, class_color(3)
DEEPEST = 0.5  # of a cell with its whole row: black text on it is legible
MOST_WRITTEN = 30  # classes whose cells are large enough for numbers
TURNED_FROM = 0.85  # of a cell's width: longer names are rotated
HEIGHT, PANEL = 3.9, 4.2  # inches: of the figure, and across of one panel
GAP = 0.1  # between panels, in shares of the axes
# Height of a panel in a narrow figure, of its width, and the room between two of all of it.
STACKED, BETWEEN = 0.75, 0.12
FEW = 150  # points that are drawn large


def roc(
    *,
    curves: Curves,
    areas: Mapping[Any, float] | None = None,
    positions: Mapping[Any, int] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw ROC curves: the true positive rate of a class over its false positive rate.

    Parameters
    ----------
    curves : mapping from class to (false_rate, true_rate)
        Each k numbers from 0 to 1, ascending; up to 12 classes.
    areas : mapping from class to area, optional
        Written in the legend.
    positions : mapping from class to int, optional
        Which colour each has; by default in order.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError
        Numbers are missing, outside 0 to 1, or of different lengths; there is no curve or there are too many.
    ParameterError
        ``curves`` is not a mapping.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> figure = roc(curves={"yes": ([0, 0.1, 1], [0, 0.8, 1])}, areas={"yes": 0.85})
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['yes: area 0.850', 'guessing']
    """
    checked = _checked(curves, ("false_rate", "true_rate"))
    figure, ax = _unit_square(ax, "false positive rate", "true positive rate")
    handles = _lines(ax, checked, areas, "area", positions, step=False)
    handles += ax.plot([0, 1], [0, 1], label="guessing", **as_wanted())
    legend_beside(ax, handles)
    return figure


def precision_recall(
    *,
    curves: Curves,
    averages: Mapping[Any, float] | None = None,
    shares: Mapping[Any, float] | None = None,
    positions: Mapping[Any, int] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw precision over recall of classes.

    Parameters
    ----------
    curves : mapping from class to (recall, precision)
        By ascending recall; between two points the precision is that of the point to the right.
    averages : mapping from class to average precision, optional
        Written in the legend.
    shares : mapping from class to its share of the rows, optional
        The precision of guessing, drawn as dotted lines.
    positions, ax
        As in ``roc``.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError, ParameterError, MissingLibraryError
        As ``roc``.

    Examples
    --------
    >>> figure = precision_recall(curves={"yes": ([0, 0.5, 1], [1, 0.9, 0.4])}, averages={"yes": 0.65})
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['yes: average 0.650']
    """
    checked = _checked(curves, ("recall", "precision"))
    figure, ax = _unit_square(ax, "recall", "precision")
    handles = _lines(ax, checked, averages, "average", positions, step=True)
    for number, name in enumerate(checked):
        if shares is not None and name in shares:
            color = class_color(number if positions is None else positions[name])
            guess = ax.axhline(shares[name], color=color, linewidth=points(1.2), linestyle=DOTTED, zorder=1.5)
            if number == len(checked) - 1:
                guess.set_label("guessing")
                handles.append(guess)
    legend_beside(ax, handles)
    return figure


def gains(
    *,
    curves: Curves,
    shares: Mapping[Any, float] | None = None,
    positions: Mapping[Any, int] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw cumulative gains: the share of a class that is found in the first rows taken.

    Rows are taken by descending predicted probability of the class.

    Parameters
    ----------
    curves : mapping from class to (taken, found)
        Shares of all rows and of those of the class, each k numbers from 0 to 1, ascending; up to 12 classes. With a
        ROC curve, ``taken`` is share * true_rate + (1 - share) * false_rate, and ``found`` the true_rate.
    shares : mapping from class to its share of the rows, optional
        Then the best possible curve is drawn too, as dotted lines: only rows of the class, until all are found.
    positions, ax
        As in ``roc``.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError, ParameterError, MissingLibraryError
        As ``roc``.

    Examples
    --------
    >>> figure = gains(curves={"yes": ([0, 0.2, 1], [0, 0.8, 1])}, shares={"yes": 0.2})
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['yes', 'perfect', 'guessing']
    """
    checked = _checked(curves, ("taken", "found"))
    figure, ax = _unit_square(ax, "share of the rows taken", "share of the class found")
    handles = _lines(ax, checked, None, "", positions, step=False)
    for number, name in enumerate(checked):
        if shares is not None and name in shares:
            color = class_color(number if positions is None else positions[name])
            best = ax.plot(
                [0, shares[name], 1], [0, 1, 1], color=color, linewidth=points(1.2), linestyle=DOTTED, zorder=1.5
            )
            if number == len(checked) - 1:
                best[0].set_label("perfect")
                handles += best
    handles += ax.plot([0, 1], [0, 1], label="guessing", **as_wanted())
    legend_beside(ax, handles)
    return figure


def lift(*, curves: Curves, positions: Mapping[Any, int] | None = None, ax: Axes | None = None) -> Figure:
    """Draw lift: the number of rows of a class in the first rows taken, relative to guessing.

    Parameters
    ----------
    curves : mapping from class to (taken, found)
        As for ``gains``. For rows with equal probabilities, ``found`` grows evenly between two points. The line begins
        at a hundredth of the rows.
    positions, ax
        As in ``roc``.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError, ParameterError, MissingLibraryError
        As ``roc``.

    Examples
    --------
    >>> figure = lift(curves={"yes": ([0, 0.2, 1], [0, 0.8, 1])})
    >>> figure.axes[0].get_lines()[0].get_ydata()[[0, -1]].tolist()
    [4.0, 1.0]
    """
    lifts = {name: _lift(*curve) for name, curve in _checked(curves, ("taken", "found")).items()}
    figure, ax = new_axes(ax, SIZE)
    dress(ax, xlabel="share of the rows taken", ylabel="lift", grid="both")
    handles = _lines(ax, lifts, None, "", positions, step=False)
    handles += ax.plot([0, 1], [1, 1], label="guessing", **as_wanted())
    ax.set_xlim(-ROOM, 1 + ROOM)
    ax.set_ylim(bottom=0)
    legend_beside(ax, handles)
    return figure


def _lift(taken: npt.NDArray[np.float64], found: npt.NDArray[np.float64]) -> tuple[np.ndarray, np.ndarray]:
    """Lift at the points of the gains, and between them, where it is not a straight line.

    It begins at a hundredth of the rows: in the first few it jumps between 0 and its maximum.
    """
    steps = np.linspace(0, 1, 101)[1:]
    x = np.unique(np.concatenate([taken[taken > steps[0]], steps]))
    return x, np.interp(x, taken, found) / x


def _checked(curves: Any, names: tuple[str, str]) -> dict[Any, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]:
    """The curves as arrays."""
    if not isinstance(curves, Mapping):
        raise ParameterError(
            f"curves is a {type(curves).__name__}: give a dict from class to two arrays, {' and '.join(names)}"
        )
    if not 1 <= len(curves) <= MOST_CURVES:
        raise DataError(f"curves has {len(curves)} classes: give 1 to {MOST_CURVES}")
    checked = {}
    for label, pair in curves.items():
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise DataError(f"curves[{label!r}] must be two arrays, {' and '.join(names)}")
        x = numbers(f"{names[0]} of {label!r}", pair[0])
        y = numbers(f"{names[1]} of {label!r}", pair[1], len(x), like=names[0])
        for name, held in zip(names, (x, y), strict=True):
            if (held < 0).any() or (held > 1).any():
                raise DataError(f"{name} of {label!r} has a number outside 0 to 1")
        if (np.diff(x) < 0).any():
            raise DataError(f"{names[0]} of {label!r} must be ascending")
        checked[label] = (x, y)
    return checked


def _unit_square(ax: Axes | None, xlabel: str, ylabel: str) -> tuple[Figure, Axes]:
    """Axes of shares in both directions."""
    figure, ax = new_axes(ax, SIZE)
    dress(ax, xlabel=xlabel, ylabel=ylabel, grid="both")
    ax.set_xlim(-ROOM, 1 + ROOM)
    ax.set_ylim(-ROOM, 1 + ROOM)
    ax.set_box_aspect(1)
    return figure, ax


def _lines(
    ax: Axes, curves: Mapping[Any, Any], sizes: Mapping[Any, float] | None, what: str,
    positions: Mapping[Any, int] | None, *, step: bool,
) -> list[Any]:  # fmt: skip
    """Draw one line for each class; beyond eight, colours repeat lighter and lines are dashed."""
    handles = []
    for number, (label, (x, y)) in enumerate(curves.items()):
        at = number if positions is None else positions[label]
        name = named(str(label), CLASS_NAME)
        dash = DASHES[at // len(CLASS_COLORS) % len(DASHES)]
        handles += ax.plot(
            x, y, color=class_color(at), linewidth=points(LINE), linestyle=dash,
            drawstyle="steps-pre" if step else "default", zorder=2.5, markersize=points(DOT - 1),
            marker="o" if not step and len(x) <= MOST_DOTS and len(curves) == 1 else "",
            label=name if sizes is None or label not in sizes else f"{name}: {what} {sizes[label]:.3f}",
        )  # fmt: skip
    return handles


def calibration(
    *,
    predicted: npt.ArrayLike,
    happened: npt.ArrayLike,
    low: npt.ArrayLike | None = None,
    high: npt.ArrayLike | None = None,
    weight: npt.ArrayLike | None = None,
    edges: npt.ArrayLike | None = None,
    error: float | None = None,
    label: str = "the class",
    weighted: bool = False,
    ax: Axes | None = None,
) -> Figure:
    r"""Draw the share of the rows that are of a class over its predicted probability.

    Parameters
    ----------
    predicted, happened : array-like of k numbers from 0 to 1
        The mean predicted probability in each bin, and the share of its rows that are of the class; nan (or None) for
        an empty bin.
    low, high : array-like of k numbers, optional
        Ends of an interval of ``happened``, drawn as vertical lines.
    weight, edges : array-like of k and of k + 1 numbers, optional
        Number of rows in each bin, and the edges of the bins: drawn below.
    error : float, optional
        Expected calibration error, written in the legend.
    label : str
        Name of the class.
    weighted : bool
        ``weight`` holds weights, not numbers of rows; it changes the label.
    ax : matplotlib.axes.Axes, optional
        Draw in the place of these.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError
        Lengths differ, numbers are outside 0 to 1, or every bin is empty.
    ParameterError
        One of ``low`` and ``high``, or of ``weight`` and ``edges``, is given without the other.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> figure = calibration(predicted=[0.1, 0.9], happened=[0.2, 0.8], low=[0.1, 0.6], high=[0.4, 0.9], error=0.1)
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['the class: error 0.100,\nwith 95 % intervals', 'as predicted']
    """
    x = _shares("predicted", predicted, None)
    y = _shares("happened", happened, len(x))
    held = ~np.isnan(x) & ~np.isnan(y)
    if not held.any():
        raise DataError("every bin is empty: there is nothing to draw")
    for one, other, names in ((low, high, "low and high"), (weight, edges, "weight and edges")):
        if (one is None) != (other is None):
            raise ParameterError(f"{names} belong together: give both")
    figure, ax = new_axes(ax, SIZE if weight is None else SIZE_WITH_BINS)
    above = ax
    if weight is not None:
        ax.set_axis_off()
        above = ax.inset_axes(ABOVE)
        _bins(ax.inset_axes(BELOW), weight, edges, len(x), weighted=weighted)
    dress(above, xlabel="" if weight is not None else "predicted probability", ylabel="observed share", grid="both")
    above.set_xlim(-ROOM, 1 + ROOM)
    above.set_ylim(-ROOM, 1 + ROOM)
    name = named(label, CLASS_NAME)
    text = name if error is None else f"{name}: error {error:.3f}"
    if low is not None:
        ends = np.array([_shares("low", low, len(x)), _shares("high", high, len(x))])[:, held]
        above.vlines(x[held], *ends, color=LIGHT.ink, linewidth=points(1.4), zorder=2.2)
        text += ",\nwith 95 % intervals"
    dots: dict[str, Any] = {"marker": "o", "markersize": points(DOT + 1)}
    handles = above.plot(x[held], y[held], color=TEST, linewidth=points(LINE), label=text, zorder=2.5, **dots)
    handles += above.plot([0, 1], [0, 1], label="as predicted", **as_wanted())
    legend_beside(above, handles)
    return figure


def _shares(name: str, given: npt.ArrayLike | None, n: int | None) -> npt.NDArray[np.float64]:
    """One series of shares, checked; nan where there is none."""
    values = numbers(name, given, n, like="predicted", missing=True)
    if (values < 0).any() or (values > 1).any():
        raise DataError(f"{name} has a number outside 0 to 1: give shares")
    return values


def _bins(panel: Axes, weight: npt.ArrayLike, edges: npt.ArrayLike | None, k: int, *, weighted: bool) -> None:
    """Draw the number of rows in each bin."""
    held, ends = (
        numbers("weight", weight, k, like="predicted"),
        numbers("edges", edges, k + 1, like="bins and one more"),
    )
    _bars_between(panel, ends, held, "predicted probability", weighted=weighted)
    panel.set_xlim(-ROOM, 1 + ROOM)
    panel.locator_params(axis="y", nbins=3)


def confusion(
    *, labels: Sequence[Any], counts: npt.ArrayLike, weighted: bool = False, ax: Axes | None = None
) -> Figure:
    """Draw a confusion matrix: true classes in rows, predicted classes in columns.

    Parameters
    ----------
    labels : sequence of k labels
    counts : array-like of k x k numbers >= 0
        ``counts[true][predicted]``.
    weighted : bool
        They are weights, not numbers of rows; it changes the label.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        A cell is as dark as its share of the row; those on the diagonal are correct, and blue.

    Raises
    ------
    DataError
        ``counts`` is not such a table, or holds a number that is not finite or below 0.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> figure = confusion(labels=["no", "yes"], counts=[[40, 2], [5, 13]])
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['40', '2', '5', '13']
    """
    names = [named(str(label), CLASS_OF_TABLE) for label in labels]
    held = _table(counts, len(names))
    side = float(np.clip(CELL * len(names), LEAST, MOST))
    figure, ax = new_axes(ax, (side + AROUND + 0.6, side + AROUND))
    dress(ax, xlabel="predicted class", ylabel="true class", grid="")
    for spine in ax.spines.values():
        spine.set_visible(False)
    totals = held.sum(axis=1, keepdims=True)
    shares = np.divide(held, totals, out=np.zeros_like(held), where=totals > 0)
    ax.imshow(_colors(shares), aspect="equal", interpolation="nearest", zorder=1)
    k = len(names)
    for edge in np.arange(k + 1) - 0.5:
        ax.axhline(edge, color=LIGHT.page, linewidth=points(1.5), zorder=2)
        ax.axvline(edge, color=LIGHT.page, linewidth=points(1.5), zorder=2)
    widest = max(text_width(name, SMALL) for name in names) / 72
    turned = widest > TURNED_FROM * side / k
    ax.set_xticks(range(k), names, rotation=40 if turned else 0, ha="right" if turned else "center")
    ax.set_yticks(range(k), names)
    ax.tick_params(length=0)
    if k <= MOST_WRITTEN:
        for true, said in np.ndindex(k, k):
            count = float(held[true, said])
            style = text_style(SMALL, LIGHT.ink if count or true == said else LIGHT.muted)
            ax.text(said, true, tick_text(count), ha="center", va="center", zorder=3, **style)
    ax.set_title(f"{'weight' if weighted else 'rows'} of each true class", **text_style(SMALL, LIGHT.muted))
    return figure


def _table(counts: npt.ArrayLike, k: int) -> npt.NDArray[np.float64]:
    """The numbers, checked."""
    try:
        held = np.asarray(counts, np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"counts must be numbers: {error}") from error
    if not k:
        raise DataError("labels is empty: there is nothing to draw")
    if held.shape != (k, k):
        raise DataError(f"counts is of shape {held.shape}: give {k} x {k} numbers, a row for each true class")
    if not (np.isfinite(held) & (held >= 0)).all():
        true, said = np.argwhere(~(np.isfinite(held) & (held >= 0)))[0].tolist()
        raise DataError(f"counts[{true}][{said}] is {held[true, said]:g}: counts are finite and not below 0")
    return held


def _colors(shares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The colour of each cell, float64[k, k, 3]."""
    from matplotlib.colors import to_rgb

    colors = np.empty((*shares.shape, 3))
    for true, said in np.ndindex(*shares.shape):
        colors[true, said] = to_rgb(tint(RIGHT if true == said else WRONG, DEEPEST * float(shares[true, said])))
    return colors


def residuals(
    *,
    truth: npt.ArrayLike,
    predicted: npt.ArrayLike,
    edges: npt.ArrayLike | None = None,
    weight: npt.ArrayLike | None = None,
    weighted: bool = False,
    ax: Axes | None = None,
) -> Figure:
    """Draw true numbers and residuals over the predicted ones, and optionally a histogram of the residuals.

    Parameters
    ----------
    truth, predicted : array-like of k numbers
        A point for each row. A residual is the true number minus the predicted one.
    edges, weight : array-like of b + 1 and of b numbers, optional
        A histogram of the residuals of all rows, if the points are a sample; by default none.
    weighted : bool
        ``weight`` holds weights, not numbers of rows; it changes the label.
    ax : matplotlib.axes.Axes, optional
        Draw all panels in the place of these.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError
        Lengths differ, there is no row, or a number is not finite.
    ParameterError
        One of ``edges`` and ``weight`` is given without the other.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> figure = residuals(truth=[1, 2, 4], predicted=[1.5, 2, 3.5])
    >>> [panel.get_ylabel() for panel in figure.axes[0].child_axes]
    ['true', 'true - predicted']
    """
    true = numbers("truth", truth)
    said = numbers("predicted", predicted, len(true), like="truth")
    if (edges is None) != (weight is None):
        raise ParameterError("edges and weight belong together: give both")
    with np.errstate(over="ignore"):
        rest = true - said
    if not np.isfinite(rest).all():
        raise DataError("truth and predicted are so far apart that their difference is beyond float64: scale both down")
    n_panels = 2 if edges is None else 3
    figure, ax = new_axes(ax, (n_panels * PANEL, HEIGHT))
    ax.set_axis_off()
    panels = _panels(figure, ax, n_panels)
    both = x_limits(np.concatenate([true, said]), log=False)
    _points(panels[0], said, true, "true")
    panels[0].plot(both, both, **as_wanted())
    panels[0].set_xlim(*both)
    panels[0].set_ylim(*both)
    _points(panels[1], said, rest, "true - predicted")
    panels[1].axhline(0.0, **as_wanted())
    panels[1].set_xlim(*x_limits(said, log=False))
    panels[1].set_ylim(*x_limits(np.append(rest, 0.0), log=False))
    if edges is not None:
        _histogram(panels[2], edges, weight, weighted=weighted)
    return figure


def _panels(figure: Figure, ax: Axes, n: int) -> list[Axes]:
    """Panels next to each other, in a narrow figure one below the other."""
    if not getattr(figure, "is_narrow", False):
        width = (1 - (n - 1) * GAP) / n
        return [ax.inset_axes((at * (width + GAP), 0.0, width, 1.0)) for at in range(n)]
    if not figure.is_exact:  # type: ignore[attr-defined]
        across = float(figure.get_size_inches()[0])
        figure.set_size_inches(across, n * STACKED * across)
    height = (1 - (n - 1) * BETWEEN) / n
    return [ax.inset_axes((0.0, 1 - height - at * (height + BETWEEN), 1.0, height)) for at in range(n)]


def _points(panel: Axes, x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], ylabel: str) -> None:
    """Draw one point for each row."""
    dress(panel, xlabel="predicted", ylabel=ylabel, grid="both")
    size = points(DOT + 1 if len(x) <= FEW else DOT - 1)
    panel.plot(
        x, y, linestyle="none", marker="o", markersize=size, markerfacecolor=TEST, markeredgecolor=LIGHT.page,
        markeredgewidth=points(0.5), alpha=0.7, zorder=2,
    )  # fmt: skip
    panel.locator_params(nbins=5)


def _histogram(panel: Axes, edges: npt.ArrayLike, weight: npt.ArrayLike | None, *, weighted: bool) -> None:
    """Draw how often residuals of each size occur."""
    ends = numbers("edges", edges)
    held = numbers("weight", weight, len(ends) - 1, like="cells between edges")
    _bars_between(panel, ends, held, "true - predicted", weighted=weighted)
    if ends[0] < 0 < ends[-1]:
        panel.axvline(0.0, **as_wanted())
    panel.locator_params(nbins=5)


def _bars_between(
    panel: Axes, ends: npt.NDArray[np.float64], held: npt.NDArray[np.float64], xlabel: str, *, weighted: bool
) -> None:
    """Draw a histogram: rows, or weight, between each two ends."""
    if (held < 0).any() or (np.diff(ends) <= 0).any():
        raise DataError("weight must not be below 0, and edges must be ascending")
    dress(panel, xlabel=xlabel, ylabel="weight" if weighted else "rows")
    panel.bar(
        ends[:-1], held, width=np.diff(ends), align="edge", color=tint(TEST, 0.45), edgecolor=LIGHT.page,
        linewidth=points(1.0), zorder=2,
    )  # fmt: skip
