"""Contributions of columns to predictions, with pictures."""

from __future__ import annotations

import os
from collections.abc import Hashable
from dataclasses import fields
from pathlib import PurePath
from typing import Any

import numpy as np

from treewright.core.files import write_whole
from treewright.exceptions import ParameterError
from treewright.explain.explanation import ExplanationTable, position_among, text_of_cell
from treewright.explain.explanation import explain as worked_out
from treewright.show.page.contributions import explanation_page
from treewright.show.page.tree import framed
from treewright.trees.data import ModelData
from treewright.trees.writing import written_level, written_name

HEIGHT = 620  # of the frame in a notebook
PICTURES = ("waterfall", "bars", "swarm", "scatter", "lines", "map")


class Explanation(ExplanationTable):
    """What each column contributes to the predictions for some rows.

    The attributes are those of ``treewright.explain.explanation.ExplanationTable``.
    """

    @property
    def html(self) -> str:
        """A page with a swarm of the rows, a waterfall of each, and pairs: one HTML document that loads nothing."""
        return explanation_page(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page.

        Parameters
        ----------
        path : path ending in ``.html``
            An old file stays whole if writing fails.

        Raises
        ------
        ParameterError
            The name does not end in ``.html``.
        InputFileError
            The file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> import treewright as tw
        >>> X = {"rain": [0, 2, 5, 9], "wind": [1, 1, 3, 3]}
        >>> found = tw.DecisionTreeRegressor().fit(X, [4.0, 6.0, 7.0, 11.0]).explain(X)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found.save(f"{folder}/why.html")
        """
        if PurePath(os.fsdecode(path)).suffix.lower() not in (".html", ".htm"):
            raise ParameterError(f"{os.fsdecode(path)!r}: an explanation is a page: name a file that ends in .html")
        write_whole(path, self.html.encode("utf-8", "backslashreplace"))

    def _repr_html_(self) -> str:
        """The page in a frame, which keeps its styles and scripts inside."""
        return framed(self.html, "Contributions", HEIGHT)

    def plot(
        self,
        kind: str | None = None,
        *,
        output: Hashable | None = None,
        column: Hashable | None = None,
        partner: Hashable | None = None,
        most: int = 12,
        ax: Any = None,
    ) -> Any:
        """Draw the contributions to one output.

        Parameters
        ----------
        kind : {"waterfall", "bars", "swarm", "scatter", "lines", "map"}, optional
            ``"waterfall"`` leads from the base to the prediction for one row; ``"bars"`` are mean sizes with their
            standard errors; ``"swarm"`` has a dot for each row; ``"scatter"`` the contributions of ``column`` over its
            cells; ``"lines"`` lead from the base to each prediction; ``"map"`` has the rows across. By default the
            waterfall for one row, the swarm for several.
        output : a class, the name of a target, or a position; optional
            The output to draw; by default the positive class of two, or else the last.
        column, partner : hashable, optional
            For a scatter: the column, and the one that colours its dots; by default the most important column, and the
            one with which its contributions vary most.
        most : int >= 1, default 12
            The number of columns to draw.
        ax : matplotlib.axes.Axes, optional

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        ParameterError
            There is no such picture, output or column; the contributions are those of pairs; a waterfall has several
            rows.
        MissingLibraryError
            matplotlib is not installed.

        Examples
        --------
        >>> import treewright as tw
        >>> X = {"rain": [0, 2, 5, 9], "wind": [1, 1, 3, 3]}
        >>> found = tw.DecisionTreeRegressor().fit(X, [4.0, 6.0, 7.0, 11.0]).explain(X)
        >>> found.rows(3).plot().axes[0].get_xlabel(), found.plot("bars").axes[0].get_xlabel()
        ('y', 'mean size of contributions to y')
        """
        from treewright.show.figures import contributions
        from treewright.show.figures.bars import importance_bars

        kind = kind or ("waterfall" if len(self) == 1 else "swarm")
        if kind not in PICTURES:
            raise ParameterError(f"kind={kind!r}: choose one of {', '.join(map(repr, PICTURES))}")
        if self.order != 1:
            raise ParameterError("pictures show columns, not pairs: explain with order=1")
        if not len(self):
            raise ParameterError("there are no rows to draw")
        usual = len(self.outputs) - 1 if self.positive is None else self.positive
        one = self._at(usual) if output is None else self.of(output)
        what = written_level(one.outputs[0])
        what = {"share": f"probability of {what}", "score": f"score of {what}", "number": what}[self.scale]
        where = what if self.scale == "number" else f"the {what}"
        names, base = [written_name(name) for name in self.columns], float(one.base)
        if kind == "waterfall":
            if len(self) > 1:
                raise ParameterError(f"a waterfall shows one row, not {len(self)}: choose one, as in rows(0).plot()")
            labels = [f"{name} = {text_of_cell(self.shown_cells(at)[0])}" for at, name in enumerate(names)]
            return contributions.contribution_waterfall(
                names=labels, values=one.values[0], base=base, xlabel=what, most=most, ax=ax
            )
        if kind == "bars":
            sizes = list(one.importances().values())
            return importance_bars(
                names=names, values=[float(size[0]) for size, _ in sizes],
                standard_errors=[float(error[0]) for _, error in sizes] if len(self) > 1 else None,
                xlabel=f"mean size of contributions to {where}", most=most, ax=ax,
            )  # fmt: skip
        if kind == "lines":
            return contributions.contribution_lines(
                names=names, values=one.values, base=base, xlabel=what, most=most, ax=ax
            )
        if kind == "map":
            return contributions.contribution_map(
                names=names, values=one.values, answers=one.answers, zlabel=f"contribution to {where}", most=most, ax=ax
            )
        cells = np.array([_numbers(column) for column in self.cells]).T
        if kind == "swarm":
            return contributions.contribution_swarm(
                names=names, values=one.values, cells=cells, xlabel=f"contribution to {where}", most=most, ax=ax
            )
        at = (
            int(np.abs(one.values).mean(axis=0).argmax())
            if column is None
            else position_among(column, self.columns, "column of the explanation")
        )
        beside = (
            _strongest(one.values[:, at], cells, at)
            if partner is None
            else position_among(partner, self.columns, "column of the explanation")
        )
        return contributions.contribution_scatter(
            x=_places(self.cells[at]), values=one.values[:, at], shade=None if beside == at else cells[:, beside],
            xlabel=names[at], ylabel=f"contribution to {where}", zlabel=names[beside], dates=self.clocks[at], ax=ax,
        )  # fmt: skip


def explain(model: ModelData, X: Any, **options: Any) -> Explanation:
    """Compute what each column contributes; parameters and errors as ``treewright.explain.explanation.explain``."""
    found = worked_out(model, X, **options)
    return Explanation(**{field.name: getattr(found, field.name) for field in fields(found)})


def _numbers(cells: list[Any]) -> np.ndarray:
    """Cells as numbers: levels by their positions, nan where missing."""
    if not all(cell is None or _is_number(cell) for cell in cells):
        levels = sorted({written_level(cell) for cell in cells if cell is not None})
        cells = [None if cell is None else levels.index(written_level(cell)) for cell in cells]
    return np.array([np.nan if cell is None else cell for cell in cells], np.float64)


def _places(cells: list[Any]) -> list[Any]:
    """Cells for a scatter: numbers, or levels as texts."""
    if all(cell is None or _is_number(cell) for cell in cells):
        return [np.nan if cell is None else float(cell) for cell in cells]
    return [None if cell is None else written_level(cell) for cell in cells]


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _strongest(values: np.ndarray, cells: np.ndarray, at: int) -> int:
    """The other column whose cells explain most of the contributions that a column's own cells do not explain.

    Rows are sorted by the column's cells, and the differences between neighbours are compared with those of the other
    column's ranks. This is only a hint for the eye; ``order=2`` measures pairs.
    """
    if cells.shape[1] == 1:
        return at
    order = np.argsort(np.nan_to_num(cells[:, at], nan=np.inf), kind="stable")
    steps = np.diff(values[order])
    best, found = at, -1.0
    for other in range(cells.shape[1]):
        if other == at:
            continue
        ranks = np.argsort(np.argsort(np.nan_to_num(cells[order, other], nan=-np.inf), kind="stable"), kind="stable")
        moves = np.diff(ranks.astype(np.float64))
        size = float(np.sqrt((steps**2).sum() * (moves**2).sum()))
        told = abs(float((steps * moves).sum())) / size if size > 0 else 0.0
        if told > found:
            best, found = other, told
    return best
