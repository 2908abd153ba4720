"""Bars of a table's rows (pruners, importances), and the impurity of two classes. Out: matplotlib figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treewright.data.schema import Schema
from treewright.exceptions import DataError, ParameterError
from treewright.grow.criteria.costs import Criterion
from treewright.grow.problem import class_problem
from treewright.show.figures.look import (
    DOT,
    DOTTED,
    LABEL,
    SMALL,
    TEST,
    TRAIN,
    dress,
    error_limits,
    legend_beside,
    named,
    new_axes,
    numbers,
    plain_ticks,
    points,
    spread,
    text_style,
    tick_text,
    tint,
)
from treewright.show.style import LIGHT, class_color, mixed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

N_POINTS = 201  # odd: the middle, where all three are largest, is one of them
# Criterion, its factor, colour, dashes, label, and the place of the label.
DRAWN = (
    ("entropy", 0.5, class_color(0), "-", "half the entropy", (0.262, 0.445), "right"),
    ("gini", 1.0, class_color(3), (0, (7, 2)), "Gini", (0.217, 0.272), "center"),
    ("misclassification", 1.0, class_color(2), (0, (2, 1.5)), "misclassification rate", (0.5, 0.3), "center"),
)


def two_class_impurity(criterion: str, shares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the impurity of nodes of two classes, by the formulas that trees grow with.

    Parameters
    ----------
    criterion : {"gini", "entropy", "misclassification"}
    shares : float64[k], 0 to 1
        Of the first class.

    Returns
    -------
    float64[k]

    Examples
    --------
    >>> two_class_impurity("gini", np.array([0.0, 0.5]))
    array([0. , 0.5])
    """
    # A criterion uses only the layout of the outputs' statistics in the problem.
    problem = class_problem(np.empty((1, 0)), Schema(()), np.zeros((1, 1), np.int32), (2,), None, "error")
    return Criterion.of(criterion).impurities(problem, np.stack([shares, 1.0 - shares], axis=1))


def impurity_functions(*, ax: Axes | None = None) -> Figure:
    """Draw Gini, half the entropy and the misclassification rate of a node of two classes.

    Parameters
    ----------
    ax : matplotlib.axes.Axes, optional
        Draw into these; by default into a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
        The entropy, in bits, is halved so that all three meet at 0.5 (as in Hastie, Tibshirani and Friedman 2009,
        figure 9.3).

    Raises
    ------
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> figure = impurity_functions()
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['half the entropy', 'Gini', 'misclassification rate']
    """
    figure, ax = new_axes(ax, (7.2, 4.6))
    dress(ax, xlabel="share of the first class", ylabel="impurity of the node", grid="y")
    shares = np.linspace(0.0, 1.0, N_POINTS)
    for criterion, factor, color, dash, words, place, side in DRAWN:
        impurity = factor * two_class_impurity(criterion, shares)
        ax.plot(
            shares, impurity, color=color, linestyle=dash, linewidth=points(2.4), label=words, solid_capstyle="round"
        )
        if getattr(figure, "is_narrow", False):
            continue  # there is no room for labels between the lines
        # Labels are darker than their line: thin strokes need more contrast.
        style = text_style(LABEL, mixed(color, LIGHT.ink, 0.35))
        ax.text(*place, words, ha=side, va="center", **style)
    if getattr(figure, "is_narrow", False):
        legend_beside(ax, ax.get_lines())
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(0.0, 0.54)
    ax.set_xticks([0.0, 0.25, 0.5, 0.75, 1.0], ["0", "0.25", "0.5", "0.75", "1"])
    ax.set_yticks([0.0, 0.1, 0.2, 0.3, 0.4, 0.5], ["0", "0.1", "0.2", "0.3", "0.4", "0.5"])
    return figure


ROW = 0.34  # inches of one row
AROUND_METHODS, AROUND_COLUMNS = 1.5, 1.2  # inches above and below
LEFT, RIGHT = (0.0, 0.0, 0.41, 1.0), (0.5, 0.0, 0.5, 1.0)  # the two panels, in shares of the axes
METHOD_NAME = 30  # terminal cells
LOG_ABOVE = 10  # sizes that span more than this factor are drawn on a logarithmic axis
# Room on the axis: left of the smallest, for the names, and right of the largest, for its number.
BEFORE, BEYOND = 0.12, 0.22
COLUMN_NAME = 30  # terminal cells
SHARE = 0.55  # of a bar, of its row


def pruning_comparison(
    *,
    methods: Sequence[str],
    n_leaves: npt.ArrayLike,
    train_error: npt.ArrayLike,
    valid_error: npt.ArrayLike,
    valid_se: npt.ArrayLike | None = None,
    xlabel: str = "error",
    ax: Axes | None = None,
) -> Figure:
    """Draw leaves and errors of several prunings of one tree, a row for each.

    Parameters
    ----------
    methods : sequence of k str
        From the top row down.
    n_leaves : array-like of k numbers >= 1
    train_error, valid_error : array-like of k numbers
    valid_se : array-like of k numbers, optional
        Standard errors of ``valid_error``, drawn as bars.
    xlabel : str
        What the errors are.
    ax : matplotlib.axes.Axes, optional
        Draw both panels in the place of these.

    Returns
    -------
    matplotlib.figure.Figure
        The axis of leaves starts at 0, or is logarithmic if they span more than a factor of 10.
        A line marks the least ``valid_error`` plus its standard error; the smallest tree left of it is the one that
        the one-standard-error rule chooses.

    Raises
    ------
    DataError
        Lengths differ, there is no method, or numbers are missing.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> figure = pruning_comparison(methods=["unpruned", "ccp_1se"], n_leaves=[40, 6], train_error=[0, 0.05],
    ...                             valid_error=[0.12, 0.09], valid_se=[0.01, 0.01])
    >>> [text.get_text() for text in figure.axes[0].child_axes[0].get_yticklabels()]
    ['unpruned', 'ccp_1se']
    """
    names = [named(str(method), METHOD_NAME) for method in methods]
    n = len(names)
    if not n:
        raise DataError("methods is empty: there is nothing to draw")
    size = numbers("n_leaves", n_leaves, n, like="methods")
    if (size < 1).any():
        raise DataError(f"n_leaves has {size.min():g}: a tree has at least one leaf")
    train = numbers("train_error", train_error, n, like="methods")
    valid = numbers("valid_error", valid_error, n, like="methods")
    valid_errors = spread("valid_se", valid_se, n, "methods")
    figure, ax = new_axes(ax, (9.6, AROUND_METHODS + ROW * max(n, 3)))
    ax.set_axis_off()
    left, right = ax.inset_axes(LEFT), ax.inset_axes(RIGHT)
    _leaves_panel(left, names, size)
    legend_beside(right, _errors_panel(right, n, size, train, valid, valid_errors, xlabel))
    return figure


def _rows(panel: Axes, labels: Sequence[str]) -> None:
    """Give a panel one row for each method, the first at the top."""
    panel.set_yticks(range(len(labels)), labels)
    panel.set_ylim(len(labels) - 0.5, -0.5)
    panel.tick_params(axis="y", length=0)
    panel.spines["left"].set_visible(False)


def _leaves_panel(panel: Axes, names: Sequence[str], size: npt.NDArray[np.float64]) -> None:
    """Draw the sizes, each with its number."""
    log = bool(size.max() > LOG_ABOVE * size.min())
    dress(panel, xlabel="leaves (log scale)" if log else "leaves", grid="y")
    panel.set_xscale("log" if log else "linear")
    low, high = float(size.min()), float(size.max())
    # On an axis from 0 the smallest is at least a tenth of the axis away from the names.
    panel.set_xlim(
        *(low / (high / low) ** BEFORE, high * (high / low) ** BEYOND) if log else (0.0, high * (1 + BEYOND))
    )
    plain_ticks(panel, log=log, whole=True, most=5)
    _rows(panel, names)
    panel.plot(size, range(len(size)), linestyle="none", marker="o", markersize=points(DOT + 3), color=TEST, zorder=3)
    for row, leaves in enumerate(size):
        panel.annotate(
            tick_text(leaves), (leaves, row), xytext=(points(8), 0), textcoords="offset points", va="center", ha="left",
            **text_style(SMALL, LIGHT.muted),
        )  # fmt: skip


def _errors_panel(
    panel: Axes, n: int, size: npt.NDArray[np.float64], train: npt.NDArray[np.float64],
    valid: npt.NDArray[np.float64], se: npt.NDArray[np.float64] | None, xlabel: str,
) -> list[Any]:  # fmt: skip
    """Draw the errors; a wide ring and a small dot are both visible if they coincide. Returns the legend's handles."""
    dress(panel, xlabel=xlabel, grid="y")
    _rows(panel, [""] * n)
    rows = np.arange(n)
    handles: list[Any] = panel.plot(
        train, rows, linestyle="none", marker="o", markersize=points(DOT + 6), markerfacecolor="none",
        markeredgecolor=TRAIN, markeredgewidth=points(1.8), label="training rows", zorder=3,
    )  # fmt: skip
    dots = panel.plot(
        valid, rows, linestyle="none", marker="o", markersize=points(DOT + 1), color=TEST, label="other rows", zorder=4
    )
    handles += dots
    edges = [train, valid]
    if se is not None:
        spans = np.nan_to_num(se)
        panel.errorbar(
            valid, rows, xerr=spans, fmt="none", ecolor=TEST, elinewidth=points(1.6), capsize=points(3), zorder=3.5
        )
        dots[0].set_label("other rows,\n± one standard error")
        edges += [valid - spans, valid + spans]
        least = int(np.lexsort((size, valid))[0])
        limit = panel.axvline(
            valid[least] + spans[least], color=TEST, linewidth=points(1.2), linestyle=DOTTED, zorder=1.5
        )
        limit.set_label("least error\n+ one standard error")
        handles.append(limit)
    error_limits(panel, *edges, axis="x")
    return handles


def importance_bars(
    *,
    names: Sequence[str],
    values: npt.ArrayLike,
    standard_errors: npt.ArrayLike | None = None,
    xlabel: str = "importance",
    most: int = 20,
    ax: Axes | None = None,
) -> Figure:
    """Draw the importances of columns, the most important one at the top.

    Parameters
    ----------
    names : sequence of k str
    values : array-like of k numbers
        May be below 0.
    standard_errors : array-like of k numbers, optional
        Drawn as lines across the ends of the bars.
    xlabel : str
    most : int >= 1
        At most so many columns are drawn; of equal ones the first.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError
        Lengths differ, there is no column, or a value is not finite.
    ParameterError
        ``most`` is below 1.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> figure = importance_bars(names=["noise", "height"], values=[0.01, 0.4], standard_errors=[0.02, 0.03])
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['height', 'noise']
    """
    if not len(names):
        raise DataError("names is empty: there is nothing to draw")
    if most < 1:
        raise ParameterError(f"most={most}: give the number of columns to draw, 1 or more")
    value = numbers("values", values, len(names), like="names")
    errors = spread("standard_errors", standard_errors, len(names), "names")
    order = np.argsort(-value, kind="stable")[:most]
    figure, ax = new_axes(ax, (7.4, AROUND_COLUMNS + ROW * max(len(order), 3)))
    dress(ax, xlabel=xlabel, grid="x")
    rows = np.arange(len(order))
    ax.barh(rows, value[order], height=SHARE, color=tint(TEST, 0.45), edgecolor=TEST, linewidth=points(1.0), zorder=2)
    if errors is not None:
        ax.errorbar(
            value[order], rows, xerr=np.nan_to_num(errors[order]), fmt="none", ecolor=TRAIN,
            elinewidth=points(1.6), capsize=points(3), zorder=3,
        )  # fmt: skip
    ax.axvline(0.0, color=LIGHT.ink, linewidth=points(1.0), zorder=2.5)
    ax.set_yticks(rows.tolist(), [named(str(names[at]), COLUMN_NAME) for at in order.tolist()])
    ax.set_ylim(len(order) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    return figure
