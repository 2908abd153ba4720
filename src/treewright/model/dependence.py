"""Partial dependence of a model's predictions on columns, with its picture."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields
from typing import Any

from treewright.data.cells import shown
from treewright.exceptions import ParameterError
from treewright.explain.partial_dependence import DependenceTable
from treewright.explain.partial_dependence import partial_dependence as worked_out
from treewright.show.style import class_color
from treewright.trees.data import ModelData
from treewright.trees.summary import counted
from treewright.trees.writing import written_level, written_name


class PartialDependence(DependenceTable):
    """The mean prediction for each value of a column, or of a pair of columns.

    The attributes are those of ``treewright.explain.partial_dependence.DependenceTable``.
    """

    def plot(self, *, label: Hashable | None = None, ax: Any = None) -> Any:
        """Draw the means, with single rows behind them; for two columns a map.

        Parameters
        ----------
        label : hashable, optional
            The class to draw; by default all classes, or for two columns the last. Single rows are drawn only with one
            class.
        ax : matplotlib.axes.Axes, optional

        Returns
        -------
        matplotlib.figure.Figure
            As ``treewright.plot.dependence_lines`` or ``dependence_map`` draws it.

        Raises
        ------
        ParameterError
            There is no such class.
        MissingLibraryError
            matplotlib is not installed.

        Examples
        --------
        >>> import treewright as tw
        >>> X = {"rain": [0, 1, 5, 9], "sun": [9, 7, 2, 1]}
        >>> est = tw.DecisionTreeRegressor().fit(X, [4.0, 4.0, 1.0, 1.0])
        >>> figure = est.partial_dependence(X, "rain", individual=3).plot()
        >>> figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()
        ('rain', 'mean prediction')
        """
        from treewright.show.figures.dependence import dependence_lines, dependence_map

        lines = self._lines(label)
        first = self.axes[0]
        places = [axis.cells if axis.is_numeric else axis.texts for axis in self.axes]
        names = [written_name(axis.name) for axis in self.axes]
        if len(self.axes) == 2:
            return dependence_map(
                x=places[0], y=places[1], means=self.values[lines[-1]], color=self._color(lines[-1]), xlabel=names[0],
                ylabel=names[1], zlabel=self._ylabel(lines[-1:]), dates=(first.clock, self.axes[1].clock), ax=ax,
            )  # fmt: skip
        alone = len(lines) == 1
        return dependence_lines(
            x=places[0],
            means=self.values[lines],
            names=[f"mean of {counted(self.n_rows, 'row')}"] if alone else [self.titles[line] for line in lines],
            individual=self.individual[lines[0]] if alone and len(self.rows) else None,
            deciles=first.deciles,
            colors=[self._color(line) for line in lines],
            xlabel=names[0],
            ylabel=self._ylabel(lines),
            dates=first.clock,
            ax=ax,
        )

    def _lines(self, label: Hashable | None) -> list[int]:
        """The positions of the lines to draw."""
        if label is None:
            return list(range(len(self.values)))
        if label not in self.labels:
            have = ", ".join(map(written_level, self.labels)) or "none: the model predicts numbers"
            raise ParameterError(f"label={shown(label)}: the classes here are {have}")
        return [self.labels.index(label)]

    def _color(self, line: int) -> str:
        """The colour of a line: that of its class, if there are several."""
        return class_color(line if len(self.values) > 1 else 0)

    def _ylabel(self, lines: list[int]) -> str:
        """The label of the axis of predictions."""
        if self.task == "regression":
            return "mean prediction" if self.target_name == "y" else f"mean prediction of {self.target_name}"
        return f"mean probability of {'the class' if len(lines) > 1 else self.titles[lines[0]]}"


def partial_dependence(
    model: ModelData, X: Any, column: Hashable, second: Hashable | None = None, **options: Any
) -> PartialDependence:
    """Compute the mean prediction for each value of a column, or of a pair of columns.

    Parameters, errors and notes as ``treewright.explain.partial_dependence.partial_dependence``.
    """
    found = worked_out(model, X, column, second, **options)
    return PartialDependence(**{field.name: getattr(found, field.name) for field in fields(found)})
