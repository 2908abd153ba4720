"""Impurity of a node of two classes. In: nothing. Out: a matplotlib figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from treewright.data.schema import Schema
from treewright.grow.criteria.costs import Criterion
from treewright.grow.problem import class_problem
from treewright.show.figures.look import LABEL, dress, legend_beside, new_axes, points, text_style
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
