"""What a model says along a column. In: the answers. Out: ``DependenceTable``: text, plain columns.

Callers: explain.partial_dependence, model.dependence, which draws it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.explain.dependence_axis import Axis
from treewright.explain.table import GAP, TextColumn, aligned
from treewright.model.summary import counted
from treewright.tree.writing import shorten, written_amount, written_level, written_name

NAME_WIDTH, LEVEL_WIDTH = 40, 30
MOST_LINES = 60
LARGEST = 1e9


@dataclass(frozen=True, eq=False, repr=False)
class DependenceTable:
    """What a model says on average when a column, or a pair of columns, has this or that value.

    Attributes
    ----------
    task : {"classification", "regression"}
    said : str
        Name of the target, ready to be read; ``y`` where it has none.
    labels : tuple
        The classes whose shares these are; empty for numbers.
    axes : tuple of one or two Axis
        What was set: ``name``, ``kind``, ``values``.
    values : float64[n_said, k], or float64[n_said, k, l] for two columns
        Means over the rows; one line per class of ``labels``, a single one for numbers.
    individual : float64[n_said, m, k]
        What the model says of single rows; m is 0 where none were asked for.
    rows : int64[m]
        Their positions in the table.
    n_rows : int
        How many rows the means are of.
    """

    task: str
    said: str
    labels: tuple[Hashable, ...]
    axes: tuple[Axis, ...]
    values: np.ndarray
    individual: np.ndarray
    rows: np.ndarray
    n_rows: int

    def __post_init__(self) -> None:
        for array in (self.values, self.individual, self.rows):
            array.flags.writeable = False

    @property
    def titles(self) -> tuple[str, ...]:
        """What each line of ``values`` is, ready to be read."""
        return tuple(map(written_level, self.labels)) if self.task == "classification" else (self.said,)

    def to_dict(self) -> dict[str, list[Any]]:
        """The means as columns, for a data frame.

        Returns
        -------
        dict of str to list
            One entry per column that was set, with its value; ``class`` where the model predicts classes; ``mean``. A
            row per point of the grid and class.
        """
        n_said = len(self.values)
        points = np.meshgrid(*(np.arange(len(axis.values)) for axis in self.axes), indexing="ij")
        found: dict[str, list[Any]] = {}
        for axis, places in zip(self.axes, points, strict=True):
            found[written_name(axis.name)] = [axis.values[at] for at in places.ravel().tolist()] * n_said
        if self.task == "classification":
            found["class"] = [label for label in self.labels for _ in range(points[0].size)]
        found["mean"] = self.values.ravel().tolist()
        return found

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        named = " and ".join(shorten(written_name(axis.name), NAME_WIDTH) for axis in self.axes)
        each = "each value" if len(self.axes) == 1 else "each pair of values"
        what = "share of each class" if self.task == "classification" else "what the model says"
        lines = [f"{what} on average over {counted(self.n_rows, 'row')}, with {named} set to {each}"]
        lines += self._map() if len(self.axes) == 2 else self._columns()
        if len(self.rows):
            lines.append(f"individual: {counted(len(self.rows), 'row')}, drawn")
        return "\n".join(lines)

    def _columns(self) -> list[str]:
        """A line per value, a column per class."""
        axis = self.axes[0]
        n_lines = min(len(axis.values), MOST_LINES)
        texts = [shorten(text, LEVEL_WIDTH) for text in axis.texts[:n_lines]]
        columns = [
            TextColumn(shorten(written_name(axis.name), NAME_WIDTH), texts, "point" if axis.is_numeric else "left")
        ]
        digits = _decimals(self.values)
        for title, values in zip(self.titles, self.values, strict=True):
            means = [_text(value, digits) for value in values[:n_lines].tolist()]
            columns.append(TextColumn(shorten(title, LEVEL_WIDTH), means, "point"))
        lines = [GAP.join(cells).rstrip() for cells in zip(*map(aligned, columns), strict=True)]
        if n_lines < len(axis.values):
            lines.append(f"{len(axis.values) - n_lines} more: to_dict() has every value")
        return lines

    def _map(self) -> list[str]:
        """Where the least and the most is said, for each class: a map is drawn, not printed."""
        lines, digits = [], _decimals(self.values)
        for title, values in zip(self.titles, self.values, strict=True):
            ends = [("least", int(values.argmin())), ("most", int(values.argmax()))]
            for name, place in ends:
                at = np.unravel_index(place, values.shape)
                where = ", ".join(
                    f"{shorten(written_name(axis.name), NAME_WIDTH)} = {shorten(axis.texts[i], LEVEL_WIDTH)}"
                    for axis, i in zip(self.axes, at, strict=True)
                )
                lines.append(
                    f"{shorten(title, LEVEL_WIDTH)}: {name} {_text(float(values.flat[place]), digits)} at {where}"
                )
        return lines


def _decimals(values: np.ndarray) -> int | None:
    """Decimals that show the largest of these means with four digits; None where that would be too many."""
    largest = float(np.abs(values).max())
    if not 1e-9 <= largest < LARGEST:
        return None if largest else 0
    return min(12, max(0, 3 - math.floor(math.log10(largest))))


def _text(value: float, digits: int | None) -> str:
    """A mean; none is written -0."""
    if digits is None:
        return written_amount(value, digits=4)
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if not float(text) else text
