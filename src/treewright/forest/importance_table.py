"""Importances of columns as a table. In: values and standard errors. Out: ``Importances``: text, a figure."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.explain.table import GAP, TextColumn, aligned
from treewright.model.summary import counted
from treewright.tree.writing import shorten, written_name

NAME_WIDTH = 40
MOST_LINES = 40
_GAIN = "share of the gain of all splits, on the training rows"
_COVER = "share of the hessians of the rows that reach the tests, on the training rows"
_FREQUENCY = "share of the tests"
_SHUFFLED = "increase of the loss when the column is shuffled"
WHAT = {
    ("impurity", "classification"): "share of the impurity that splits removed, on the training rows",
    ("impurity", "regression"): "share of the impurity that splits removed, on the training rows",
    (
        "weighted",
        "classification",
    ): "share of the impurity that splits removed, trees by their weights, on the training rows",
    (
        "weighted",
        "regression",
    ): "share of the impurity that splits removed, trees by their weights, on the training rows",
    ("error", "classification"): "increase of all trees' joint misclassification rate when the column is shuffled",
    ("error", "regression"): "increase of all trees' joint squared error when the column is shuffled",
    ("debiased", "classification"): "share of the Gini impurity of unseen rows that splits remove",
    ("debiased", "regression"): "share of the variance of unseen rows that splits remove",
    ("gain", "classification"): _GAIN,
    ("gain", "regression"): _GAIN,
    ("cover", "classification"): _COVER,
    ("cover", "regression"): _COVER,
    ("frequency", "classification"): _FREQUENCY,
    ("frequency", "regression"): _FREQUENCY,
    ("permutation", "classification"): "increase of the misclassification rate when the column is shuffled",
    ("permutation", "regression"): "increase of the squared error when the column is shuffled",
}


@dataclass(frozen=True, eq=False, repr=False)
class Importances:
    """The importance of each column in a forest.

    Attributes
    ----------
    kind : {"impurity", "weighted", "gain", "cover", "frequency", "debiased", "permutation", "error"}
    task : {"classification", "regression"}
    names : tuple
        The names of the columns, in the order of the table.
    values : float64[p]
        Means over the trees, or over what ``sample`` names.
    standard_errors : float64[p]
        Those of the means: the standard deviation over the trees divided by the root of their number. How much the
        value would change with other trees on the same rows, not with other rows. nan for fewer than two trees.
    n_trees : int
        The number of trees (or shuffles) that count.
    sample : {"tree", "shuffle", ""}
        What the means are taken over; for boosted trees shuffles, or nothing: then there are no standard errors.
    what : str
        The meaning of the values, in words; by default that of the kind.

    Examples
    --------
    >>> print(Importances("permutation", "classification", ("a", "b"), np.array([0.0, 0.25]), np.array([0.0, 0.02]), 9))
    increase of the misclassification rate when the column is shuffled (permutation)
    mean over 9 trees, with its standard error
    column  importance   s.e.
    b            0.250  0.020
    a            0.000  0.000
    """

    kind: str
    task: str
    names: tuple[Hashable, ...]
    values: np.ndarray
    standard_errors: np.ndarray
    n_trees: int
    sample: str = "tree"
    what: str = ""

    def __post_init__(self) -> None:
        self.values.flags.writeable = self.standard_errors.flags.writeable = False

    @property
    def order(self) -> np.ndarray:
        """int64[p]: columns from the most important to the least; the first of equals first."""
        return np.argsort(-self.values, kind="stable")

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns for a data frame, a row per column of the table, in its order."""
        return {
            "column": list(self.names),
            "importance": self.values.tolist(),
            "standard_error": self.standard_errors.tolist(),
        }

    def plot(self, *, most: int = 20, ax: Any = None) -> Any:
        """Draw the values as bars, a matplotlib figure; as ``treewright.show.figures.bars.importance_bars``."""
        from treewright.show.figures.bars import importance_bars

        return importance_bars(
            names=[written_name(name) for name in self.names],
            values=self.values,
            standard_errors=self.standard_errors if self.sample else None,
            xlabel=f"importance ({self.kind})",
            most=most,
            ax=ax,
        )

    @property
    def meaning(self) -> str:
        """The meaning of the values, in words."""
        if self.what:
            return self.what
        is_of_loss = self.sample == "shuffle" and self.kind == "permutation"
        return _SHUFFLED if is_of_loss else WHAT[self.kind, self.task]

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        shown = self.order[:MOST_LINES]
        digits = _decimals(self.values)
        columns = [
            TextColumn("column", [shorten(written_name(self.names[at]), NAME_WIDTH) for at in shown], "left"),
            TextColumn("importance", [_text(self.values[at], digits) for at in shown], "point"),
        ]
        lines = [f"{self.meaning} ({self.kind})"]
        if self.sample:
            errors = [_text(self.standard_errors[at], digits) for at in shown]
            columns.append(TextColumn("s.e.", errors, "point"))
            lines.append(f"mean over {counted(self.n_trees, self.sample)}, with its standard error")
        lines += [
            *(GAP.join(cells).rstrip() for cells in zip(*map(aligned, columns), strict=True)),
        ]
        if len(shown) < len(self.names):
            lines.append(f"{len(self.names) - len(shown)} more: to_dict() has every column")
        return "\n".join(lines)


def _decimals(values: np.ndarray) -> int:
    """The number of decimals that shows the largest value with three digits or more."""
    largest = float(np.abs(values).max(initial=0.0))
    return min(12, max(0, 2 - math.floor(math.log10(largest)), 3 * (largest < 1000))) if largest > 0 else 3


def _text(value: float, digits: int) -> str:
    """A number as text, or - for nan; never -0.000."""
    if math.isnan(value):
        return "-"
    text = f"{value:.{digits}f}" if abs(value) < 1e9 else f"{value:.3g}"
    return text.removeprefix("-") if not float(text) else text
