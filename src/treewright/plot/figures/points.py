"""The rows of a table in a plane. In: ``Plane``, the target. Out: points, and what they say of the regions.

Caller: ``figures.regions``.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treewright.data.cells import is_missing
from treewright.exceptions import DataWarning
from treewright.model.summary import counted
from treewright.plot.figures.answers import Answers
from treewright.plot.figures.grid import Axis, Plane
from treewright.plot.figures.look import named, points, tint
from treewright.plot.style import LIGHT, class_color, mixed
from treewright.tree.writing import shorten, written_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Strength of a region's colour: where the class is no likelier than any other, and where it is certain.
FAINT, STRONG = 0.22, 0.6
MARKERS = "os^DvPX*"
LEGEND_CLASSES = 14
GOLDEN = 0.6180339887498949  # steps of this part of a circle fill it evenly and repeat in no period
JITTER = 0.36  # of a band, to either side
# The same for two directions at once (powers of the plastic number: Roberts 2018, "The R2 sequence").
TURNS = (0.7548776662466927, 0.5698402909980532)
SMALL_POINTS_FROM = 400
# A plane hides a class when under this share of its points, at least so many, lie in its colour.
CLASS_SHARE, CLASS_POINTS = 0.25, 5
ALL_SHARE = 0.5  # of all points
NUMBER_POINT, WHITE_EDGE, DARK_EDGE = 5.0, 0.8, 0.9  # points: across, and the width of either edge
REMEDY = "choose other features=, hold them elsewhere with fixed=, or draw a model that was fitted on these two columns"


@dataclass(frozen=True)
class OwnColors:
    """How many points lie where their own class is predicted.

    Attributes
    ----------
    in_own, n_points : int64[k]
        Of each class: points in its colour, and all points.
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
        """Return what the figure says; ``some``: not every row is drawn.

        Examples
        --------
        >>> OwnColors(np.array([3, 1]), np.array([4, 2]), 0).text(some=False)
        '4 of 6 points lie in their own colour'
        """
        own = int(self.in_own.sum())
        points, lie = "drawn points" if some else "points", "lies" if own == 1 else "lie"
        return f"{own:,} of {self.n:,} {points} {lie} in their own colour"


def shown_rows(plane: Plane, most: int) -> npt.NDArray[np.int64]:
    """Return the rows that are drawn, ascending: those with both values, spread over the table where they are many."""
    rows = np.flatnonzero(has_place(plane))
    if len(rows) <= most:
        return rows
    # Every k-th row would hit one class only where classes take turns.
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
    """Count the points that lie where their own class is predicted; points without a label are not counted."""
    predicted = codes[cells_at(plane.up, rows), cells_at(plane.across, rows)]
    in_own, n_points = [], []
    for code, label in enumerate(classes):
        mine = np.array([own == label for own in labels], bool)
        n_points.append(int(mine.sum()))
        in_own.append(int((predicted[mine] == code).sum()))
    n_labelled = sum(own is not None for own in labels)
    return OwnColors(np.array(in_own, np.int64), np.array(n_points, np.int64), n_labelled - sum(n_points))


def cells_at(axis: Axis, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the cell of the grid that each row lies in, along an axis."""
    at = axis.points[rows]
    if axis.levels:
        return at.astype(np.int64)
    low, high = axis.edges
    steps = len(axis.centres)
    return np.clip(((at - low) / (high - low) * steps).astype(np.int64), 0, steps - 1)


def warn_of_hidden(plane: Plane, answers: Answers, own: OwnColors | None, *, varies: bool) -> None:
    """Warn where the held columns make a plane that does not show what the model does.

    Parameters
    ----------
    plane : Plane
    answers : Answers
    own : OwnColors, or None
        Without a target, or of numbers.
    varies : bool
        Whether there is more than one answer to expect.

    Warns
    -----
    DataWarning
        One class or number fills the plane, or few points, of all or of a class, lie in their own colour.
    """
    if not plane.held:
        return
    said = answers.numbers if answers.codes is None else answers.codes
    if said is not None and varies and (said == said.flat[0]).all():
        what = "one number" if answers.codes is None else _shown(answers.classes[int(said.flat[0])])
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
            "lie in their own colour"
        )
    held = counted(len(plane.held), "other column is", "other columns are")
    warnings.warn(f"{problem}, where the {held} held at one value each: {REMEDY}", DataWarning, stacklevel=3)


def labelled_points(
    ax: Axes, plane: Plane, classes: Sequence[Hashable], labels: Sequence[Any] | None, rows: npt.NDArray[np.int64]
) -> list[Any]:
    """Draw the rows in the colours of their classes. Returns what the legend names."""
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
        # A region's colour behind the point's: the two are one key.
        handles.append(Line2D([], [], marker=marker, color=dark, label=text, **(style | {"markersize": points(8.0)})))
    if not known.all():
        text = "rows" if labels is None else "other labels"
        handles += ax.plot(x[~known], y[~known], marker=".", color=LIGHT.muted, zorder=3, label=text, **style)
    if len(handles) > LEGEND_CLASSES:
        more = len(handles) - LEGEND_CLASSES + 1
        handles = [*handles[: LEGEND_CLASSES - 1], Line2D([], [], linestyle="none", label=f"and {more} more")]
    return handles


def number_points(ax: Axes, plane: Plane, rows: npt.NDArray[np.int64], colors: dict[str, Any]) -> None:
    """Draw the rows with a white edge in a dark one: one of the two stands out, however dark the place is."""
    if not len(rows):
        return
    x, y = _places(plane.across, rows, TURNS[0]), _places(plane.up, rows, TURNS[1])
    size = NUMBER_POINT if len(rows) <= SMALL_POINTS_FROM else 0.8 * NUMBER_POINT
    # One colour for each: of discs of a single colour matplotlib rounds the places to pixels, and not of the others.
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
    """Where rows lie along an axis; in a band they are spread, by their number, so that they do not hide each other."""
    at = axis.points[rows]
    return np.asarray(at + JITTER * (2.0 * (rows * turn % 1.0) - 1.0)) if axis.levels else at


def _shown(label: Hashable) -> str:
    """A label as a message names it."""
    return shorten(written_level(label), 40)
