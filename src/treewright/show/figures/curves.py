"""Errors as curves: over the size of a tree, a parameter, or rounds of boosting. In: arrays. Out: a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treewright.exceptions import DataError, ParameterError
from treewright.show.figures.look import (
    BAND,
    CHOSEN,
    DASH_DOT,
    DASHED,
    DOT,
    DOTTED,
    LABEL_PAD,
    LINE,
    LOG_FROM,
    MARK_COLORS,
    MARK_DASHES,
    MOST_DOTS,
    SMALL,
    TEST,
    THIRD,
    TICK,
    TRAIN,
    drawable,
    dress,
    error_limits,
    families,
    figure_of,
    legend_beside,
    named,
    new_axes,
    numbers,
    points,
    set_x,
    spread,
    text_style,
    tick_style,
    tick_text,
    tint,
    whole,
)
from treewright.show.style import LIGHT
from treewright.trees.summary import counted
from treewright.trees.writing import written_amount

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Numbers = npt.NDArray[np.float64]
RULES = {"1se": "one-standard-error rule", "min": "least error", None: "chosen"}
CLOSE = 1e-12  # errors that differ by this part are the same number
MOST_ALPHAS = 6
BETWEEN = 10.0  # points: least room between two texts
POINTS = 72.0  # an inch
_FIRST_PART = 10  # the first of so many parts of the rounds may be left out
_FLAT = 0.25  # of the height of the frame with all rounds


def error_against_size(
    *,
    n_leaves: npt.ArrayLike,
    train: npt.ArrayLike,
    cv: npt.ArrayLike | None = None,
    se: npt.ArrayLike | None = None,
    chosen: int | None = None,
    smallest: int | None = None,
    rule: str | None = None,
    alphas: npt.ArrayLike | None = None,
    ylabel: str = "error",
    train_label: str = "training rows",
    cv_label: str = "cross-validated",
    ax: Axes | None = None,
) -> Figure:
    """Draw the errors of the subtrees of a path over their number of leaves.

    Parameters
    ----------
    n_leaves : array-like of k numbers >= 1
        Of each step, in any order.
    train : array-like of k numbers
        Error on the training rows.
    cv, se : array-like of k numbers, optional
        Error on other rows and its standard error, drawn as a band.
    chosen : int, 0 to k - 1, optional
        The step that was chosen.
    smallest : int, 0 to k - 1, optional
        The step of least ``cv``; by default the one with the fewest leaves of equal ones.
    rule : {"1se", "min"}, optional
        The rule that chose, named in the legend.
    alphas : array-like of k numbers >= 0, optional
        The price of a leaf of each step, written above the axes.
    ylabel, train_label, cv_label : str
    ax : matplotlib.axes.Axes, optional
        Draw into these; by default into a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
        The axis of leaves is logarithmic if sizes span a factor of 20. A line marks the least error plus one
        standard error (Breiman et al. 1984, section 3.4.3).

    Raises
    ------
    DataError
        Arrays differ in length or hold no numbers.
    ParameterError
        A step does not exist, ``se`` or ``smallest`` is given without ``cv``, or ``rule`` is unknown.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> figure = error_against_size(n_leaves=[9, 4, 2, 1], train=[0, 0.02, 0.1, 0.5], cv=[0.09, 0.06, 0.12, 0.5],
    ...                             se=[0.02, 0.02, 0.03, 0.04], chosen=1, rule="1se", alphas=[0, 0.01, 0.04, 0.4])
    >>> [axis.get_xlabel() for axis in figure.axes]
    ['leaves']
    """
    size = numbers("n_leaves", n_leaves)
    if (size < 1).any():
        raise DataError(f"n_leaves has {size.min():g}: a tree has at least one leaf")
    n = len(size)
    errors = {"train": numbers("train", train, n, like="n_leaves")}
    if cv is not None:
        errors["cv"] = numbers("cv", cv, n, like="n_leaves")
    elif se is not None or smallest is not None:
        raise ParameterError("se and smallest belong to cv: give cv as well")
    errors_se = spread("se", se, n, "n_leaves")
    prices = None if alphas is None else numbers("alphas", alphas, n, like="n_leaves")
    chosen = None if chosen is None else whole("chosen", chosen, 0, n - 1)
    smallest = None if smallest is None else whole("smallest", smallest, 0, n - 1)
    if rule not in RULES:
        raise ParameterError(f"rule={rule!r}: choose one of '1se', 'min', None")
    figure, ax = new_axes(ax)
    log = bool(size.max() >= LOG_FROM * size.min())
    dress(ax, xlabel="leaves", ylabel=ylabel)
    set_x(ax, size, log=log, whole=True)
    handles = [_series(ax, size, errors["train"], None, TRAIN, train_label, dash=DASHED)]
    judged = errors.get("cv")
    if judged is not None:
        handles.append(_series(ax, size, judged, errors_se, TEST, cv_label))
        handles.extend(_least(ax, size, judged, errors_se, chosen, smallest, rule))
    if chosen is not None:
        at = judged if judged is not None else errors["train"]
        text = f"{RULES[rule]}:\n{counted(round(size[chosen]), 'leaf', 'leaves')}, {written_amount(at[chosen])}"
        handles.append(_dot(ax, size[chosen], at[chosen], "D", CHOSEN, text, filled=True))
    error_limits(ax, *errors.values(), *_edges(judged, errors_se))
    if prices is not None:
        alpha_axis(ax, size, prices)
    legend_beside(ax, handles)
    return figure


def error_curve(
    *,
    x: npt.ArrayLike,
    train: npt.ArrayLike | None = None,
    test: npt.ArrayLike | None = None,
    train_se: npt.ArrayLike | None = None,
    test_se: npt.ArrayLike | None = None,
    xlabel: str = "",
    ylabel: str = "error",
    log_x: bool = False,
    marks: Mapping[str, float] | None = None,
    train_label: str = "training rows",
    test_label: str = "other rows",
    ax: Axes | None = None,
) -> Figure:
    """Draw errors over a parameter or over the number of training rows.

    Parameters
    ----------
    x : array-like of k numbers
        In any order; > 0 where ``log_x``.
    train, test : array-like of k numbers, optional
        Errors; at least one of them. nan if not known.
    train_se, test_se : array-like of k numbers, optional
        Standard errors, drawn as bands; nan if not known.
    xlabel, ylabel : str
    log_x : bool
    marks : mapping from label to x, optional
        Vertical lines, named in the legend; those at one x are one line with all their names.
    train_label, test_label : str
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError
        Arrays differ in length or hold no numbers; a number is not above 0 on a logarithmic axis.
    ParameterError
        Neither error is given, a standard error without its error, or ``marks`` is not a mapping.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> figure = error_curve(x=[1, 2, 4, 8], train=[0.3, 0.2, 0.1, 0], test=[0.33, 0.25, 0.2, 0.24], xlabel="max_depth",
    ...                      marks={"least": 4})
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['training rows', 'other rows', 'least: 4']
    """
    places = numbers("x", x, positive=log_x)
    n = len(places)
    given = (
        ("train", train, train_se, TRAIN, train_label, DASHED),
        ("test", test, test_se, TEST, test_label, "-"),
    )
    if train is None and test is None:
        raise ParameterError("neither train nor test is given: there is nothing to draw")
    checked = []
    for name, errors, errors_se, color, label, dash in given:
        if errors is None:
            if errors_se is not None:
                raise ParameterError(f"{name}_se belongs to {name}: give {name} as well")
            continue
        values = numbers(name, errors, n, like="x", missing=True)
        checked.append((values, spread(f"{name}_se", errors_se, n, "x"), color, label, dash))
    if all(np.isnan(values).all() for values, *_ in checked):
        raise DataError("every error is nan: there is nothing to draw")
    if not isinstance(marks, Mapping | None):
        raise ParameterError(f"marks is a {type(marks).__name__}: give a dict from label to x")
    lines = _lines(marks or {}, log=log_x)
    figure, ax = new_axes(ax)
    dress(ax, xlabel=xlabel, ylabel=ylabel)
    whole_numbers = bool((places == np.round(places)).all())
    set_x(ax, np.concatenate([places, list(lines)]), log=log_x, whole=whole_numbers)
    handles = [_series(ax, places, *series) for series in checked]
    for number, (at, names) in enumerate(lines.items()):
        color, dash = MARK_COLORS[number % len(MARK_COLORS)], MARK_DASHES[number % len(MARK_DASHES)]
        label = f"{', '.join(map(named, names))}: {tick_text(at)}"
        handles.append(ax.axvline(at, color=color, linewidth=points(1.6), linestyle=dash, label=label, zorder=1.5))
    error_limits(ax, *(edge for values, errors_se, *_ in checked for edge in (values, *_edges(values, errors_se))))
    legend_beside(ax, handles)
    return figure


def bias_variance(
    *,
    x: npt.ArrayLike,
    bias_squared: npt.ArrayLike,
    variance: npt.ArrayLike,
    noise: npt.ArrayLike | None,
    loss: npt.ArrayLike,
    test_error: npt.ArrayLike | None = None,
    xlabel: str = "",
    ylabel: str = "expected loss and its parts",
    bias_label: str | None = None,
    variance_label: str = "variance",
    log_x: bool = False,
    ax: Axes | None = None,
) -> Figure:
    """Draw the parts of the expected loss over a parameter.

    Parameters
    ----------
    x : array-like of k numbers
        In any order; > 0 where ``log_x``.
    bias_squared, variance, noise, loss : array-like of k numbers
        ``noise=None`` if it is not known: then ``bias_squared`` holds bias squared plus noise, and the legend says so.
    test_error : array-like of k numbers, optional
        The loss measured on test rows, drawn as points.
    xlabel, ylabel : str
    bias_label, variance_label : str
        Names of ``bias_squared`` and ``variance``: for the zero-one loss they are not squares, and the variance is
        a net one. By default "bias²", or "bias² + noise".
    log_x : bool
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        The least expected loss is marked, the first of equals.

    Raises
    ------
    DataError
        Arrays differ in length or hold no numbers; a number is not above 0 on a logarithmic axis.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> figure = bias_variance(x=[1, 2, 3], bias_squared=[4, 1, 0.5], variance=[0.5, 1, 3], noise=[1, 1, 1],
    ...                        loss=[5.5, 3, 4.5], xlabel="max_depth")
    >>> figure.axes[0].get_legend().get_texts()[-1].get_text()
    'least: 2'
    """
    places = numbers("x", x, positive=log_x)
    n = len(places)
    if bias_label is None:
        bias_label = "bias² + noise" if noise is None else "bias²"
    parts: list[tuple[str, Numbers, str, Any]] = [
        (bias_label, numbers("bias_squared", bias_squared, n, like="x"), MARK_COLORS[0], DASHED),
        (variance_label, numbers("variance", variance, n, like="x"), THIRD, DASH_DOT),
    ]
    if noise is not None:
        parts.append(("noise", numbers("noise", noise, n, like="x"), TRAIN, DOTTED))
    total = numbers("loss", loss, n, like="x")
    parts.append(("expected loss", total, TEST, "-"))
    measured = None if test_error is None else numbers("test_error", test_error, n, like="x")
    figure, ax = new_axes(ax)
    dress(ax, xlabel=xlabel, ylabel=ylabel)
    set_x(ax, places, log=log_x, whole=bool((places == np.round(places)).all()))
    handles = [_series(ax, places, values, None, color, name, dash=dash) for name, values, color, dash in parts]
    if measured is not None:
        handles += ax.plot(
            places, measured, linestyle="none", marker="x", markersize=points(DOT + 1), markeredgewidth=points(1.2),
            color=LIGHT.ink, label="test rows",
        )  # fmt: skip
    least = int(total.argmin())
    handles.append(_dot(ax, places[least], total[least], "o", TEST, f"least: {tick_text(places[least])}", filled=False))
    error_limits(ax, *(values for _, values, _, _ in parts), measured)
    legend_beside(ax, handles)
    return figure


def _series(ax: Axes, x: Numbers, y: Numbers, se: Numbers | None, color: str, label: str, dash: Any = "-") -> Any:
    """Draw one line by ascending x, with its band, and dots if they are few. Returns the line."""
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    few = len(x) <= MOST_DOTS
    if se is not None:
        low, high = y - se[order], y + se[order]
        if len(x) == 1:
            ax.errorbar(x, y, yerr=se, fmt="none", ecolor=color, elinewidth=points(1.5), capsize=points(4))
        else:
            ax.fill_between(x, low, high, color=tint(color, BAND), linewidth=0, zorder=1)
    (line,) = ax.plot(
        x, y, color=color, linewidth=points(LINE if few else 0.8 * LINE), linestyle=dash, label=drawable(label),
        marker="o" if few else "", markersize=points(DOT), markeredgewidth=0.0, zorder=2.5,
    )  # fmt: skip
    return line


def _edges(y: Numbers | None, se: Numbers | None) -> tuple[Numbers, ...]:
    """The lower and the upper edge of a band; none without one."""
    return () if y is None or se is None else (y - se, y + se)


def _dot(ax: Axes, x: float, y: float, marker: str, color: str, label: str, *, filled: bool) -> Any:
    """Draw one prominent mark. Returns it."""
    (dot,) = ax.plot(
        [x], [y], linestyle="none", marker=marker, markersize=points(10 if filled else 15), markeredgecolor=color,
        markerfacecolor=color if filled else "none", markeredgewidth=points(1.0 if filled else 2.0), label=label,
        zorder=4, clip_on=False,
    )  # fmt: skip
    return dot


def _least(
    ax: Axes, size: Numbers, error: Numbers, se: Numbers | None, chosen: int | None, smallest: int | None,
    rule: str | None,
) -> list[Any]:  # fmt: skip
    """Mark the least error and the line one standard error above it. Returns the legend's handles."""
    if smallest is None:
        least = float(error.min())
        ties = np.flatnonzero(error <= least + CLOSE * abs(least))
        smallest = int(ties[np.argmin(size[ties])])
        if rule == "min" and chosen is not None:
            smallest = chosen
    handles = []
    if not (rule == "min" and chosen == smallest):
        text = f"least error:\n{counted(round(size[smallest]), 'leaf', 'leaves')}, {written_amount(error[smallest])}"
        handles.append(_dot(ax, size[smallest], error[smallest], "o", TEST, text, filled=False))
    if se is not None and np.isfinite(se[smallest]):
        limit = ax.axhline(
            error[smallest] + se[smallest], color=TEST, linewidth=points(1.2), linestyle=DOTTED, zorder=1.5
        )
        limit.set_label("least error\n+ one standard error")
        handles.append(limit)
    return handles


def _lines(marks: Mapping[str, Any], *, log: bool) -> dict[float, list[str]]:
    """The places of the marks, checked, each with its names."""
    lines: dict[float, list[str]] = {}
    for name, at in marks.items():
        place = float(numbers(f"marks[{name!r}]", [at], positive=log)[0])
        lines.setdefault(place, []).append(str(name))
    return lines


def alpha_axis(ax: Axes, size: Numbers, alphas: Numbers) -> None:
    """Write the alphas of some steps above the axes, as many as fit side by side.

    The steps are chosen when the figure is drawn: only then the width of the axes is known.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        With the limits and the scale of its axis of leaves.
    size, alphas : float64[k]
        Leaves and alpha of each step.
    """
    from matplotlib.ticker import FixedLocator, FuncFormatter

    # When the figure is drawn, the medium may be another.
    letters, between = points(TICK), points(BETWEEN)
    texts = [written_amount(alpha, digits=3) for alpha in alphas.tolist()]

    class Readable(FixedLocator):
        """The steps whose texts leave room for each other in the axes as they are now."""

        def __call__(self) -> Any:
            inches = ax.bbox.width / figure_of(ax).dpi
            return size[apart(shares(ax, size) * inches * POINTS, texts, letters, between)]

    # Steps of equal size have one place: the first of them names it.
    first = {float(leaves): texts[step] for step, leaves in reversed(list(enumerate(size.tolist())))}
    top = ax.secondary_xaxis("top")
    top.xaxis.set_major_locator(Readable(size.tolist()))
    top.xaxis.set_major_formatter(FuncFormatter(lambda leaves, _: first.get(float(leaves), "")))
    top.tick_params(which="both", **tick_style(LIGHT.muted))
    top.minorticks_off()
    top.spines["top"].set_color(LIGHT.line)
    top.spines["top"].set_linewidth(points(1.0))
    top.set_xlabel("alpha, the price of a leaf", labelpad=points(LABEL_PAD), **text_style(SMALL, LIGHT.muted))


def shares(ax: Axes, size: Numbers) -> Numbers:
    """Return the places of sizes along the axis, as shares of it."""
    low, high = ax.get_xlim()
    if ax.get_xscale() == "log":
        return np.asarray(np.log(size / low) / np.log(high / low))
    return np.asarray((size - low) / (high - low))


def apart(places: Numbers, texts: Sequence[str], letters: float = TICK, between: float = BETWEEN) -> list[int]:
    """Return some steps, spread evenly, whose texts keep their distance; both ends are taken first.

    Parameters
    ----------
    places : float64[k], points
        The middle of each text.
    texts : sequence of k str
    letters, between : float, points
        The size of the texts, and the least room between two.

    Examples
    --------
    >>> apart(np.array([0.0, 20.0, 50.0, 100.0]), ["0.001", "0.01", "0.1", "0"])
    [0, 2, 3]
    """
    low, high = places.min(), places.max()
    taken: list[int] = []
    for wanted in (low, high, *np.linspace(low, high, MOST_ALPHAS)[1:-1]):
        near = int(np.abs(places - wanted).argmin())
        wide = text_width(texts[near], letters)
        if all(abs(places[near] - places[at]) >= (wide + text_width(texts[at], letters)) / 2 + between for at in taken):
            taken.append(near)
    return sorted(taken, key=lambda at: float(places[at]))


@lru_cache(maxsize=1024)
def text_width(text: str, size: float) -> float:
    """Return the width of the text of a tick, in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    return float(TextPath((0, 0), text, size=size, prop=FontProperties(family=families())).get_extents().width)


def boosting_history(
    *,
    train: Sequence[float | None] | None = None,
    validation: Sequence[float | None] | None = None,
    best: int | None = None,
    ylabel: str = "loss",
    train_label: str = "training rows",
    validation_label: str = "other rows",
    ax: Axes | None = None,
) -> Figure:
    """Draw the loss after each round of boosting.

    Parameters
    ----------
    train, validation : sequence of k numbers, optional
        From round 0 on, before any tree: ``history_`` of an estimator. None or nan if not known.
    best : int, 0 to k - 1, optional
        The round whose value is the best: a line.
    ylabel, train_label, validation_label : str
    ax : matplotlib.axes.Axes, optional
        Draw into these; by default into a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
        If the first rounds lie so far from the others that these would be a flat line, the frame leaves them out,
        and the label of the axis says so.

    Raises
    ------
    DataError
        Arrays differ in length or hold no numbers.
    ParameterError
        Neither is given, or there is no round ``best``.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> figure = boosting_history(train=[1, 0.5, 0.3, 0.2], validation=[1, 0.6, 0.5, 0.55], best=2)
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['training rows', 'other rows', 'best round: 2']
    """
    known = validation if validation is not None else train
    if known is None:
        raise ParameterError("neither train nor validation is given: there is nothing to draw")
    if best is not None:
        best = whole("best", best, 0, max(len(known) - 1, 0))
    curves = [values for values in (_numbers(train), _numbers(validation)) if values is not None]
    first = first_in_frame(curves)
    figure = error_curve(
        x=np.arange(len(known)),
        train=_numbers(train),
        test=_numbers(validation),
        xlabel="rounds" if first == 0 else f"rounds (the frame fits rounds {first} to {len(known) - 1})",
        ylabel=ylabel,
        marks=None if best is None else {"best round": best},
        train_label=train_label,
        test_label=validation_label,
        ax=ax,
    )
    if first > 0:
        error_limits(figure.axes[0] if ax is None else ax, *(np.array(values[first:]) for values in curves))
    return figure


def first_in_frame(curves: Sequence[Sequence[float]]) -> int:
    """The first round in the frame: 0, unless the first tenth of the rounds would make the others a flat line.

    Examples
    --------
    >>> first_in_frame([[16.0, 15.0, *(1.0 + at / 100 for at in range(18))]])
    2
    >>> first_in_frame([[16.0, 12.0, 8.0, 4.0, 0.0, 1.0]])
    0
    """
    if len({len(values) for values in curves}) != 1:
        return 0  # refused where it is drawn
    values = np.array(curves, np.float64)
    values[~np.isfinite(values)] = np.nan
    first = max(values.shape[1] // _FIRST_PART, 1)
    rest = values[:, first:]
    if rest.shape[1] < 2 or np.isnan(rest).all():
        return 0
    whole_range, range_of_rest = (float(np.nanmax(part) - np.nanmin(part)) for part in (values, rest))
    return first if range_of_rest < _FLAT * whole_range else 0


def _numbers(values: Sequence[float | None] | None) -> list[float] | None:
    """The values with nan for None."""
    return None if values is None else [np.nan if value is None else value for value in values]
