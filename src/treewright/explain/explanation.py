"""What each column contributes to predictions: computed, printed, drawn, as a page, and for the package shap.

``explain`` computes an ``Explanation``. Its page (``explanation_page``; ``part_of`` as a section of a report) cannot
hold all trees, so it has contributions for rows: of a sample as a swarm, of others one by one to choose.
``shap_trees`` gives the trees themselves to ``shap.TreeExplainer``, which supports cuts of numbers with two branches,
one of which takes missing cells; any other test is refused with the reason.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import PurePath
from typing import Any, Self, TypeVar, cast

import numpy as np

from treewright.core.elementary import is_whole
from treewright.core.files import write_whole
from treewright.data.derived import is_derived
from treewright.data.encoder import encode
from treewright.data.schema import Column
from treewright.data.table import frame_of
from treewright.exceptions import DataError, MissingLibraryError, ParameterError, old_name
from treewright.explain.contributions import KINDS, Kind, contributions_of, game_of
from treewright.show.page.parts import (
    ColumnWords,
    ContributionsPart,
    ExampleRow,
    ExamplesPart,
    OutputContributions,
    RowContributions,
    Summary,
)
from treewright.show.page.render import render
from treewright.show.page.tree import framed
from treewright.show.prediction import Predictions, predictions_of
from treewright.trees.arrays import THRESHOLD
from treewright.trees.data import ModelData
from treewright.trees.threshold import positive_code
from treewright.trees.wording import clock_of
from treewright.trees.writing import escape_controls, shorten, written_amount, written_cut, written_level, written_name
from treewright.version import __version__

_REMEDY = "use model.explain"


def shap_trees(model: ModelData) -> dict[str, Any]:
    """Return the trees of a model for ``shap.TreeExplainer``; the columns are those of the table, as numbers.

    Parameters
    ----------
    model : ModelData

    Returns
    -------
    dict
        ``trees``: of each tree ``children_left``, ``children_right``, ``children_default``, ``feature``, ``threshold``,
        ``value`` (float64[n_nodes, k]: what is added to the k outputs) and ``node_sample_weight``; ``base_offset``,
        ``tree_output``, ``objective``, ``input_dtype``, ``internal_dtype``.

    Raises
    ------
    ParameterError
        A tree has tests that shap does not support: of levels, with several branches, without one branch for missing
        cells, or of derived columns; or the predictions are not a sum over the trees.

    Examples
    --------
    >>> import treewright as tw
    >>> model = tw.DecisionTreeRegressor(max_depth=1).fit([[0.0], [2.0], [9.0]], [1.0, 2.0, 9.0]).model_
    >>> tree = shap_trees(model)["trees"][0]
    >>> tree["threshold"].tolist(), tree["value"].ravel().tolist()
    ([5.5, 0.0, 0.0], [4.0, 1.5, 9.0])
    """
    _refuse(model)
    game = game_of(model)
    grown, tables, n_outputs = game.trees, game.tables, game.n_outputs
    trees = []
    for number in range(game.n_trees):
        nodes = slice(int(grown.roots[number]), int(grown.roots[number + 1]))
        first = np.where(tables.first_child[nodes] < 0, -1, tables.first_child[nodes] - nodes.start).astype(np.int32)
        is_leaf = first < 0
        value = np.zeros((len(first), n_outputs))
        begin, expected = int(grown.output[number]), grown.expected[nodes]
        value[:, begin : begin + expected.shape[1]] = expected
        if game.n_kept < n_outputs:  # the last class has the rest of the tree's weight
            value[:, -1] = _whole_of(model, number) - expected.sum(axis=1)
        trees.append({
            "children_left": first,
            "children_right": np.where(is_leaf, -1, first + 1).astype(np.int32),
            "children_default": np.where(is_leaf, -1, first + tables.missing_branch[nodes]).astype(np.int32),
            "feature": np.where(is_leaf, -2, tables.feature[nodes]).astype(np.int32),
            "threshold": tables.threshold[nodes].astype(np.float64),
            "value": value,
            "node_sample_weight": np.array(model.trees[number].weight, np.float64),
        })  # fmt: skip
    start = game.start if game.n_kept == n_outputs else np.zeros(n_outputs)
    return {
        "trees": trees,
        "base_offset": float(start[0]) if n_outputs == 1 else start,
        "tree_output": "probability" if model.counted_classes else "raw_value",
        "objective": None,
        "input_dtype": np.float64,
        "internal_dtype": np.float64,
    }


def _whole_of(model: ModelData, number: int) -> float:
    """The sum of a tree's class proportions in the prediction: its weight as a share of all trees."""
    n_trees = len(model.trees)
    weights, total = model.aggregation.weights_of(n_trees), model.aggregation.total(n_trees)
    return float(weights[number] / total)


def _refuse(model: ModelData) -> None:
    """Refuse a model that shap cannot represent."""
    if model.aggregation.sorts or model.facts.get("algorithm") == "isolation_forest":
        raise ParameterError("the predictions of the model are not a sum over its trees: shap explains only such sums")
    if model.missing in ("surrogate", "fractional"):
        raise ParameterError(
            f"missing={model.missing!r}: shap needs one branch for missing cells at each node; {_REMEDY}"
        )
    for number, tree in enumerate(model.trees):
        inner = ~tree.is_leaf
        other = inner & ((tree.kind != THRESHOLD) | (tree.n_branches != 2))
        asked = np.unique(tree.feature[inner])
        made = [at for at in asked.tolist() if model.schema.columns[at].part or is_derived(model.schema.columns[at])]
        if other.any():
            node = int(np.flatnonzero(other)[0])
            name = written_name(model.schema.columns[int(tree.feature[node])].name)
            raise ParameterError(
                f"node {node} of tree {number} tests levels of {name}, or has {tree.n_branches[node]} branches: shap "
                f"supports only cuts into two branches; {_REMEDY}"
            )
        if made:
            name = written_name(model.schema.columns[made[0]].name)
            raise ParameterError(
                f"tree {number} tests {name}, which is derived from other columns: shap supports only columns of the "
                f"table; {_REMEDY}"
            )


Table = TypeVar("Table", bound="Explanation")

UNSEEN = "(unseen level)"
_TWO_CLASSES = "A score is the log odds of the class: its probability is 1 / (1 + exp(-score))"
_CLASSES = "Class probabilities are the softmax of the scores: exp(score) divided by the sum over the classes"
_LINKS = {"log": "The prediction is exp(score)", "sorted": "Predictions are the scores in ascending order"}
NAME_WIDTH, CELL_WIDTH, MOST_TERMS, MOST_OUTPUTS = 30, 24, 15, 12
PAGE_HEIGHT = 620  # of the frame in a notebook
PICTURES = ("waterfall", "bars", "swarm", "scatter", "lines", "map")
PAGE_COLUMNS, PAGE_OUTPUTS, PAGE_PAIRS, PAGE_TERMS = 10, 6, 6, 8
PAGE_ROWS, PAGE_CHOSEN = 150, 50  # of the swarm, to choose one by one
PAGE_NAME_WIDTH = 200
_PAGE_DIGITS = 4
_PAGE_SCALES = {"share": "share", "score": "score", "number": "prediction"}
_PAGE_GAMES = {
    "path": "The base is the mean of all leaves by their training rows; contributions are Shapley values, with unknown "
    "columns averaged over these rows",
    "interventional": "The base is the mean prediction for the background rows; contributions are Shapley values, with "
    "unknown columns averaged over these rows",
    "steps": "The base is the expected prediction at the root; contributions are its changes along the path of the row",
}
_ROUNDING = 1e-13
_GAMES = {
    "path": "unknown columns are averaged over the training rows",
    "interventional": "unknown columns are averaged over the background rows",
    "steps": "changes of the expected prediction along the path of the row",
}


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """What each column contributes to the predictions for some rows.

    Attributes
    ----------
    values : float64[n, p] or float64[n, p, k]
        Contributions of p columns to each of k outputs; without the last axis if there is one output. With ``order=2``
        those of pairs, float64[n, p, p] or float64[n, p, p, k], symmetric: half of what a pair does together is on each
        side of the diagonal, and what a column does alone on the diagonal.
    base : float or float64[k]
        The prediction if nothing is known of the row: ``base`` plus all contributions of a row is its prediction.
    columns : tuple of hashable
        Names. A column that is made of two others (``a / b``) counts as a column.
    cells : tuple of list
        The cells of each column in these rows: numbers, levels, None if missing.
    outputs : tuple of hashable
        Classes, names of targets, or names of scores.
    scale : {"share", "score", "number"}
        What is explained: class probabilities, scores before the link (log odds of the positive one of two classes), or
        numbers.
    kind : {"path", "interventional", "steps"}
    order : {1, 2}
    dates : tuple of (str, str)
        For each column of dates, whose cells are days since 1970, its family and time zone; else empty texts.
    positions : int64[n]
        Positions of the rows in the table that was explained, counted from 0.
    link : str
        How scores become predictions: "log", "classes", "sorted"; "identity" if they are the predictions.
    positive : int or None
        The position among the outputs of the positive class, which pictures show; None: no output is one.
    predictions : Predictions
        What the model predicts for the rows, and why.
    """

    values: np.ndarray
    base: float | np.ndarray
    columns: tuple[Hashable, ...]
    cells: tuple[list[Any], ...]
    outputs: tuple[Hashable, ...]
    scale: str
    kind: str
    order: int
    dates: tuple[tuple[str, str], ...]
    positions: np.ndarray
    link: str
    predictions: Predictions
    positive: int | None = None

    answers = old_name("answers", "totals")
    clocks = old_name("clocks", "dates")
    of = old_name("of", "for_output")

    def __len__(self) -> int:
        return len(self.values)

    @property
    def totals(self) -> np.ndarray:
        """float64[n] or float64[n, k]: base and contributions added up."""
        axes = (1,) if self.order == 1 else (1, 2)
        found: np.ndarray = self.base + self.values.sum(axis=axes)
        return found

    def for_output(self, output: Hashable) -> Self:
        """The explanation of one output.

        Parameters
        ----------
        output : a class, the name of a target, or (where no class is a whole number) a position

        Raises
        ------
        ParameterError
            There is no such output.
        """
        return self._at(position_among(output, self.outputs, "output"))

    def _at(self, at: int) -> Self:
        """The explanation of an output, by its position."""
        if len(self.outputs) == 1:
            return self
        return replace(
            self, values=np.ascontiguousarray(self.values[..., at]), base=float(np.asarray(self.base)[at]),
            outputs=(self.outputs[at],), positive=None,
        )  # fmt: skip

    def rows(self, some: int | slice | Sequence[int]) -> Self:
        """The explanation of some rows, by their positions."""
        if isinstance(some, slice):
            at = np.arange(len(self))[some]
        else:
            wanted: list[Any] = list(cast("Any", some)) if np.iterable(some) else [some]
            if not all(is_whole(each) and -len(self) <= each < len(self) for each in wanted):
                raise ParameterError(f"rows({some!r}): give positions of the {len(self)} rows, counted from 0")
            at = np.arange(len(self))[np.array(wanted, np.int64)]
        cells = tuple([each[i] for i in at.tolist()] for each in self.cells)
        return replace(
            self, values=self.values[at], cells=cells, positions=self.positions[at],
            predictions=self.predictions.rows(at),
        )  # fmt: skip

    def __iter__(self) -> Iterator[Self]:
        return (self.rows(at) for at in range(len(self)))

    @property
    def link_words(self) -> str:
        """How scores become predictions, in words; empty if they are the predictions."""
        n = len(self.outputs)
        if self.link == "classes":
            return _CLASSES if n > 1 else _TWO_CLASSES
        return _LINKS.get(self.link, "")

    def importances(self) -> dict[Hashable, tuple[np.ndarray, np.ndarray]]:
        """The mean size of each column's contributions, and its standard error: float64[k] each.

        With pairs, a column's contribution is what it does alone plus its halves of all its pairs.

        Raises
        ------
        ParameterError
            There are no rows.
        """
        if not len(self):
            raise ParameterError("importances are means over rows, but this explanation has no rows")
        values = self.values if len(self.outputs) > 1 else self.values[..., None]
        sizes = np.abs(values if self.order == 1 else values.sum(axis=2))
        n = len(sizes)
        scale = float(sizes.max()) or 1.0  # squares of large contributions would overflow
        errors = np.full(sizes.shape[1:], np.nan)
        if n > 1:
            errors = (sizes / scale).std(axis=0, ddof=1) / np.sqrt(n) * scale
        return dict(zip(self.columns, zip(sizes.mean(axis=0), errors, strict=True), strict=True))

    def shares_together(self) -> dict[Hashable, np.ndarray]:
        """The share of each column's contributions that come from pairs with other columns, 0 to 1: float64[k] each.

        For an explanation of pairs. What a column does alone is the mean size of its own contributions, what it does
        together the mean size of its halves of all pairs; the share is the second divided by their sum. nan for a
        column that contributes nothing.

        Raises
        ------
        ParameterError
            Contributions are of columns (order=1), or there are no rows.

        Examples
        --------
        >>> import treewright as tw
        >>> table = {"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5, "c": [0, 0, 1, 1] * 5}
        >>> model = tw.DecisionTreeRegressor(random_state=0).fit(table, [0.0, 1.0, 1.0, 0.0] * 5).model_
        >>> found = explain(model, table, order=2)
        >>> {name: share.round(2).tolist() for name, share in found.shares_together().items()}
        {'a': [1.0], 'b': [1.0], 'c': [nan]}
        """
        if self.order != 2:
            raise ParameterError("shares_together needs pairs of columns: explain with order=2")
        if not len(self):
            raise ParameterError("shares are computed from means over rows, but this explanation has no rows")
        sizes = np.abs(self.values if len(self.outputs) > 1 else self.values[..., None]).mean(axis=0)
        at = np.arange(len(self.columns))
        alone, both = sizes[at, at], sizes.sum(axis=1)
        shares = np.divide(both - alone, both, out=np.full(both.shape, np.nan), where=both > 0)
        return dict(zip(self.columns, shares, strict=True))

    def to_dict(self) -> dict[str, list[Any]]:
        """As columns, for a data frame: a line for each row, output and column (or pair).

        Returns
        -------
        dict of str to list
            ``row``; ``output`` where there are several; ``column``; ``with`` (of pairs: the other column, the same one
            on the diagonal); ``cell``; ``contribution``.
        """
        n, p = self.values.shape[:2]
        values = self.values if len(self.outputs) > 1 else self.values[..., None]
        names, k = [written_name(each) for each in self.columns], len(self.outputs)
        several = p if self.order == 2 else 1
        found: dict[str, list[Any]] = {"row": np.repeat(self.positions, p * several * k).tolist()}
        if k > 1:
            found["output"] = list(self.outputs) * (n * p * several)
        found["column"] = [name for name in names for _ in range(several * k)] * n
        if self.order == 2:
            found["with"] = [name for name in names for _ in range(k)] * (n * p)
        cells = [self.shown_cells(at) for at in range(p)]
        found["cell"] = [cells[at][row] for row in range(n) for at in range(p) for _ in range(several * k)]
        found["contribution"] = values.ravel().tolist()
        return found

    def shown_cells(self, at: int) -> list[Any]:
        """The cells of the column at a position: numbers, levels, dates as texts, None where missing."""
        clock = self.dates[at]
        if not any(clock):
            return self.cells[at]
        return [None if cell is None else written_cut(cell, clock) for cell in self.cells[at]]

    def to_frame(self, library: str = "polars") -> Any:
        """``to_dict`` as a data frame; cells are text.

        Parameters
        ----------
        library : {"polars", "pandas", "pyarrow"}, default "polars"

        Raises
        ------
        MissingLibraryError
            It is not installed.
        """
        found = self.to_dict()
        found["cell"] = [None if cell is None else text_of_cell(cell) for cell in found["cell"]]
        return frame_of(found, library)

    def to_shap(self) -> Any:
        """As a ``shap.Explanation``, for the plots of the package shap.

        Raises
        ------
        MissingLibraryError
            shap is not installed.
        """
        try:
            shap: Any = import_module("shap")
        except ImportError as error:
            raise MissingLibraryError("to_shap needs the package shap: pip install shap") from error
        n = len(self)
        data = np.array([[_number(cell) for cell in row] for row in zip(*self.cells, strict=True)], object)
        return shap.Explanation(
            values=self.values, base_values=np.repeat(np.asarray(self.base)[None], n, axis=0),
            data=data.reshape(n, len(self.columns)), feature_names=[written_name(each) for each in self.columns],
            output_names=[written_level(each) for each in self.outputs] if len(self.outputs) > 1 else None,
        )  # fmt: skip

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        what = {"share": "class probabilities", "score": "scores", "number": "the predicted value"}[self.scale]
        head = f"contributions to {what}; {_GAMES[self.kind]}"
        if self.link_words:
            head += f"\n{self.link_words}"
        if len(self) == 1:
            head = f"{self.predictions.line(0)}\n{head}"
        parts = [self._of_one(output) for output in range(len(self.outputs[:MOST_OUTPUTS]))]
        if len(self.outputs) > MOST_OUTPUTS:
            parts.append(f"{len(self.outputs) - MOST_OUTPUTS} more outputs: for_output(...) returns each")
        return "\n\n".join([head, *parts])

    def _of_one(self, output: int) -> str:
        """The text of one output."""
        one = self._at(output)
        largest = max(abs(float(one.base)), float(np.abs(one.values).max(initial=0.0)))

        def amount(value: float) -> str:
            """A number; what is left of sums by rounding is 0."""
            return written_amount(0.0 if abs(value) < _ROUNDING * largest else value)

        name, base = written_level(self.outputs[output]), amount(float(one.base))
        is_one_row = len(self) == 1
        if is_one_row:
            head = f"{name}: {amount(float(one.totals[0]))} = base {base}"
        else:
            head = f"{name}: mean size over {len(self)} rows, base {base}"
        labels, values = one._terms()
        shown_as = values[:, 0] if is_one_row else np.abs(values).sum(axis=1) / max(len(self), 1)
        sizes = np.abs(shown_as)
        order = [at for at in np.argsort(-sizes, kind="stable").tolist() if sizes[at] > _ROUNDING * largest]
        lines = []
        for at in order[:MOST_TERMS]:
            sign = "+" if is_one_row and shown_as[at] > 0 else ""
            lines.append((labels[at], sign + amount(float(shown_as[at]))))
        width = max((len(label) for label, _ in lines), default=0)
        found = [
            head + " and" * (is_one_row and bool(lines)),
            *(f"  {label:<{width}}  {amount}" for label, amount in lines),
        ]
        if len(order) > MOST_TERMS:
            rest = amount(float(shown_as[order[MOST_TERMS:]].sum()))
            found.append(f"  {len(order) - MOST_TERMS} more  {rest}")
        return "\n".join(found)

    def _terms(self) -> tuple[list[str], np.ndarray]:
        """The terms that add up to the predictions of one output: a text for each, and float64[n_terms, n]."""
        names = [shorten(written_name(each), NAME_WIDTH) for each in self.columns]
        if len(self) == 1:
            cells = [shorten(text_of_cell(self.shown_cells(at)[0]), CELL_WIDTH) for at in range(len(self.cells))]
            names = [f"{name} = {cell}" for name, cell in zip(names, cells, strict=True)]
        if self.order == 1:
            return names, self.values.T
        labels, values = [], []
        for at, name in enumerate(names):
            labels.append(f"{name} alone")
            values.append(self.values[:, at, at])
            for other in range(at + 1, len(names)):
                labels.append(f"{name} with {names[other]}")
                values.append(2.0 * self.values[:, at, other])  # both halves
        return labels, np.array(values)

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
        return framed(self.html, "Contributions", PAGE_HEIGHT)

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
        one = self._at(usual) if output is None else self.for_output(output)
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
                names=names, values=one.values, answers=one.totals, zlabel=f"contribution to {where}", most=most, ax=ax
            )
        cells = np.array([_as_numbers(column) for column in self.cells]).T
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
            _strongest_partner(one.values[:, at], cells, at)
            if partner is None
            else position_among(partner, self.columns, "column of the explanation")
        )
        return contributions.contribution_scatter(
            x=_places(self.cells[at]), values=one.values[:, at], shade=None if beside == at else cells[:, beside],
            xlabel=names[at], ylabel=f"contribution to {where}", zlabel=names[beside], dates=self.dates[at], ax=ax,
        )  # fmt: skip


def joined(parts: Sequence[Table]) -> Table:
    """Join explanations of blocks of rows by one model."""
    return replace(
        parts[0],
        values=np.concatenate([part.values for part in parts]),
        positions=np.concatenate([part.positions for part in parts]),
        cells=tuple(
            list(itertools.chain.from_iterable(cells)) for cells in zip(*(part.cells for part in parts), strict=True)
        ),
        predictions=replace(
            parts[0].predictions,
            predicted=np.concatenate([part.predictions.predicted for part in parts]),
            probabilities=np.concatenate([part.predictions.probabilities for part in parts]),
        ),
    )


def explain(
    model: ModelData,
    X: Any,
    *,
    kind: str = "path",
    order: int = 1,
    background: Any = None,
    n_jobs: int | None = None,
    owner: str = "Model",
) -> Explanation:
    """Compute what each column contributes to the predictions of a model; with the base they add up to them.

    Parameters
    ----------
    X : table of n rows
    kind : {"path", "interventional", "steps"}, default "path"
        What is predicted if some columns are not known (docs/guides/looking/contributions.md): ``"path"`` follows every
        branch by its share of the training weight, ``"interventional"`` takes their cells from ``background``; both are
        Shapley values. ``"steps"`` are changes of the expected prediction along the path of the row: for one tree, what
        is read first.
    order : {1, 2}, default 1
        2 also gives what pairs of columns do together; not for ``"steps"``.
    background : table of m rows, optional
        For ``kind="interventional"``: a few hundred typical rows.
    n_jobs : int, optional
        Threads; the same bytes for any number.

    Returns
    -------
    Explanation

    Raises
    ------
    ParameterError
        ``kind`` or ``order`` is not known; a background is missing, or not used; the model's predictions are no
        sum over its trees (medians).
    DataError
        The rows or the background do not fit the model; the background has no rows; ``"interventional"`` with missing
        cells that follow every branch.
    TooLargeError
        Contributions would not fit in memory.

    References
    ----------
    Lundberg and others 2020, "From local explanations to global understanding with explainable AI for trees", Nature
    Machine Intelligence 2; for steps Saabas 2014, treeinterpreter.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"rain": [0, 2, 5, 9], "wind": [1, 1, 3, 3]}
    >>> model = tw.DecisionTreeRegressor().fit(table, [4.0, 6.0, 7.0, 11.0]).model_
    >>> found = explain(model, {"rain": [9], "wind": [3]})
    >>> found.base, found.values.tolist()
    (7.0, [[4.0, 0.0]])
    """
    if kind not in KINDS:
        raise ParameterError(f"kind={kind!r}: choose one of {', '.join(map(repr, KINDS))}")
    if not is_whole(order) or order not in (1, 2):
        raise ParameterError(f"order={order!r}: choose 1 (columns) or 2 (pairs of columns)")
    if kind == "steps" and order == 2:
        raise ParameterError("kind='steps' has no pairs: choose kind='path' or order=1")
    refuse_no_sum(model)
    if (background is None) == (kind == "interventional"):
        raise ParameterError(
            "kind='interventional' needs background=: a few hundred rows that give the cells of unknown columns"
            if background is None
            else f"background is for kind='interventional', not for {kind!r}: leave it out"
        )
    matrix = encoded(model, X, owner)
    others = None if background is None else encoded(model, background, owner)
    if model.aggregation.votes and model.missing == "fractional" and bool(np.isnan(matrix).any()):
        raise DataError(
            "missing cells follow every branch (missing='fractional'), and each tree votes for one class: a vote is "
            "not a sum over its leaves; fill the cells, or explain one tree"
        )
    if others is not None:
        if not len(others):
            raise DataError("background has no rows: give a few hundred typical rows")
        if model.missing == "fractional" and bool(np.isnan(matrix).any() or np.isnan(others).any()):
            raise DataError(
                "kind='interventional' does not work with missing cells that follow every branch "
                "(missing='fractional'): fill them, or use kind='path'"
            )
    return explain_encoded(model, matrix, kind=cast("Kind", kind), order=int(order), background=others, n_jobs=n_jobs)


def explain_encoded(
    model: ModelData, matrix: np.ndarray, *, kind: Kind = "path", order: int = 1, background: np.ndarray | None = None,
    n_jobs: int | None = None,
) -> Explanation:  # fmt: skip
    """``explain`` of rows as the trees take them, float [n, p], with names and cells."""
    found = contributions_of(model, matrix, kind=kind, pairs=order == 2, background=background, n_jobs=n_jobs)
    values, base = found.values, found.base
    outputs, scale = outputs_of(model)
    positive = positive_code(model)
    if model.boosting is not None and positive == 0:  # the one score is the log odds of the second class
        values, base = -values, -base
    columns = [model.schema.columns[at] for at in found.players]
    return Explanation(
        values=values[..., 0].copy() if len(outputs) == 1 else values,
        base=float(base[0]) if len(outputs) == 1 else base,
        columns=tuple(column.name for column in columns),
        cells=tuple(_cells(column, matrix[:, at]) for column, at in zip(columns, found.players, strict=True)),
        outputs=outputs,
        scale=scale,
        kind=kind,
        order=order,
        dates=tuple(map(clock_of, columns)),
        positions=np.arange(len(matrix)),
        link=model.boosting.link if model.boosting is not None else "identity",
        positive=positive if len(outputs) == 2 else None,
        predictions=predictions_of(model, matrix, n_jobs),
    )


def refuse_no_sum(model: ModelData) -> None:
    """Refuse a model whose predictions are not a sum over its trees."""
    if model.facts.get("algorithm") == "isolation_forest":
        raise ParameterError("an isolation forest's scores are not sums over its trees: use permutation importance")
    if model.aggregation.sorts:
        raise ParameterError(
            "the model predicts a median over its trees, which is not a sum of contributions: use permutation "
            "importance, or explain a surrogate tree"
        )


def encoded(model: ModelData, X: Any, owner: str) -> np.ndarray:
    """Rows as the trees take them."""
    found: np.ndarray = encode(model.schema, X, unseen=model.unseen, missing=model.missing, owner=owner)
    return found


def outputs_of(model: ModelData) -> tuple[tuple[Hashable, ...], str]:
    """What is explained: classes, targets or scores, and which scale they are on."""
    names = model.target_names or (("y",) if model.n_targets == 1 else tuple(f"y{at}" for at in range(model.n_targets)))
    boosting = model.boosting
    if model.task == "classification":
        # Of two classes a boosted model has one score, which is told of the positive one.
        positive = positive_code(model)
        one = slice(1, 2) if positive is None else slice(positive, positive + 1)
        labels = [(own[one] if boosting is not None and len(own) == 2 else own) for own in model.classes]
        if len(labels) == 1:
            named: list[Hashable] = [_plain(label) for label in labels[0]]
        else:
            named = [
                f"{name}: {written_level(_plain(label))}"
                for name, own in zip(names, labels, strict=True)
                for label in own
            ]
        return tuple(named), "share" if boosting is None else "score"
    if boosting is not None and boosting.n_scores != len(names):
        levels = model.facts.get("parameters", {}).get("quantile")
        is_known = isinstance(levels, list | tuple) and len(levels) == boosting.n_scores
        return tuple(f"quantile {level:g}" for level in levels) if is_known else tuple(
            f"score {at}" for at in range(boosting.n_scores)
        ), "score"
    return tuple(names), "number" if boosting is None or boosting.link == "identity" else "score"


def _plain(label: Any) -> Hashable:
    """A label as a Python object instead of a NumPy scalar."""
    plain: Hashable = label.item() if isinstance(label, np.generic) else label
    return plain


def _cells(column: Column, codes: np.ndarray) -> list[Any]:
    """The cells of a column, decoded: numbers, levels, None where missing."""
    if column.kind == "numeric":
        return [None if math.isnan(cell) else cell for cell in codes.astype(np.float64).tolist()]
    levels = [*column.levels, UNSEEN]
    return [None if math.isnan(cell) else levels[int(cell)] for cell in codes.tolist()]


def text_of_cell(cell: Any) -> str:
    """A cell as text."""
    if cell is None:
        return "missing"
    return written_amount(cell, digits=4) if isinstance(cell, float) else written_level(cell)


def _number(cell: Any) -> Any:
    return np.nan if cell is None else cell


def position_among(wanted: Hashable, known: Sequence[Hashable], what: str) -> int:
    """The position of a name among names; a position is taken as it is if no name is a whole number."""
    if wanted in known:
        return list(known).index(wanted)
    if is_whole(wanted) and not any(map(is_whole, known)) and 0 <= cast("int", wanted) < len(known):
        return cast("int", wanted)
    raise ParameterError(f"there is no {what} {wanted!r}: choose one of {', '.join(map(repr, known[:30]))}")


def _as_numbers(cells: list[Any]) -> np.ndarray:
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


def _strongest_partner(values: np.ndarray, cells: np.ndarray, at: int) -> int:
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


def part_of(
    found: Explanation,
    drawn: Sequence[int],
    chosen: Sequence[int],
    positions: Sequence[int],
    places: Sequence[np.ndarray],
    *,
    n_all: int,
    pairs: np.ndarray | None = None,
    notes: tuple[str, ...] = (),
) -> ContributionsPart:
    """The section of an explanation of columns.

    Parameters
    ----------
    found : Explanation
    drawn, chosen : sequence of int
        Its rows in the swarm, and those to choose one by one.
    positions : sequence of int
        Positions of the explained columns in the page.
    places : sequence of float64[n]
        The cells of each column as numbers in order; nan where missing.
    n_all : int
        Number of rows that those of the swarm were sampled from.
    pairs : float64[m, p, p] or float64[m, p, p, k], optional
        Contributions of pairs.
    """
    values = found.values if found.values.ndim == 3 else found.values[..., None]
    base = np.atleast_1d(found.base)
    outputs = _shown_outputs(found, values, chosen)
    swarm = values[np.asarray(drawn, np.int64)]
    sizes = np.abs(swarm[..., outputs]).sum(axis=0) / max(len(swarm), 1)
    columns = [int(at) for at in np.argsort(-sizes.sum(axis=1), kind="stable") if sizes[at].any()][:PAGE_COLUMNS]
    errors = np.zeros(values.shape[1:])
    if len(drawn) > 1:
        errors = np.array([error for _, error in found.rows(list(drawn)).importances().values()])
    parts = tuple(
        OutputContributions(
            name=shorten(written_level(found.outputs[output]), PAGE_NAME_WIDTH),
            base=float(base[output]),
            means=_short(sizes[columns, place]),
            errors=_short(errors[columns, output]),
            swarm=tuple(_short(swarm[:, at, output]) for at in columns),
            rows=tuple(_row(values[row, :, output], positions) for row in chosen),
        )
        for place, output in enumerate(outputs)
    )
    return ContributionsPart(
        scale=_PAGE_SCALES[found.scale],
        game=_PAGE_GAMES[found.kind],
        link=found.link_words,
        whose="the tree" if found.predictions.n_trees == 1 else "all trees together",
        columns=tuple(positions[at] for at in columns),
        n_columns=int((sizes > 0).any(axis=1).sum()),
        n_rows=len(drawn),
        n_all=n_all,
        outputs=parts,
        n_outputs=len(found.outputs),
        places=tuple(_ranks(places[at][np.asarray(drawn, np.int64)]) for at in columns),
        pairs=() if pairs is None or not len(pairs) else _strongest_pairs(pairs, outputs, positions),
        notes=notes,
    )


def _shown_outputs(found: Explanation, values: np.ndarray, chosen: Sequence[int]) -> list[int]:
    """The outputs that a page has.

    Of two classes the positive one, as the probability of the other is 1 minus its own; of many those most often
    predicted for the chosen rows.
    """
    n = len(found.outputs)
    if n == 2 and found.scale == "share" and bool((values[..., 0] == -values[..., 1]).all()):
        return [1 if found.positive is None else found.positive]
    if n <= PAGE_OUTPUTS:
        return list(range(n))
    totals = found.totals.reshape(len(values), n)[np.asarray(chosen, np.int64)]
    counts = np.bincount(totals.argmax(axis=1), minlength=n)
    return sorted(np.argsort(-counts, kind="stable")[:PAGE_OUTPUTS].tolist())


def _short(values: np.ndarray) -> tuple[float, ...]:
    """Numbers with as many digits as a picture shows."""
    return tuple(float(f"{value:.{_PAGE_DIGITS}g}") for value in values.tolist())


def _ranks(cells: np.ndarray) -> tuple[float | None, ...]:
    """The ranks of cells among all, 0 to 1, for their colour; None where they are missing."""
    distinct = np.unique(cells[~np.isnan(cells)])
    places = np.searchsorted(distinct, cells) / max(1, len(distinct) - 1)
    return tuple(None if np.isnan(cell) else round(float(place), 2) for cell, place in zip(cells, places, strict=True))


def _row(values: np.ndarray, positions: Sequence[int]) -> RowContributions:
    """The largest contributions of a row, and the sum of all others."""
    order = [int(at) for at in np.argsort(-np.abs(values), kind="stable") if values[at] != 0]
    shown = order[:PAGE_TERMS] if len(order) > PAGE_TERMS + 1 else order
    rest = order[len(shown) :]
    return RowContributions(
        columns=tuple(positions[at] for at in shown),
        values=tuple(float(values[at]) for at in shown),
        rest=float(values[rest].sum()),
        n_rest=len(rest),
    )


def _strongest_pairs(
    pairs: np.ndarray, outputs: list[int], positions: Sequence[int]
) -> tuple[tuple[int, int, float], ...]:
    """The pairs of columns with the largest interactions, with their mean size over rows."""
    of_outputs = pairs[..., outputs] if pairs.ndim == 4 else pairs[..., None]
    together = 2 * np.abs(of_outputs).mean(axis=0).sum(axis=2)
    firsts, seconds = np.triu_indices(len(together), 1)
    sizes = together[firsts, seconds]
    best = [at for at in np.argsort(-sizes, kind="stable").tolist() if sizes[at] > 1e-12 * together.max()]
    return tuple(
        (positions[firsts[at]], positions[seconds[at]], float(f"{sizes[at]:.{_PAGE_DIGITS}g}"))
        for at in best[:PAGE_PAIRS]
    )


def explanation_page(found: Explanation) -> str:
    """A page about an explanation: one HTML document that loads nothing.

    Of many rows 150 are in the swarm and 50 can be chosen, evenly spread. With pairs each column has what it does alone
    and its halves of all its pairs, which is its Shapley value.
    """
    n, pairs = len(found), None
    if found.order == 2:
        pairs = found.values
        found = replace(found, values=found.values.sum(axis=2), order=1)
    drawn, chosen = (
        np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.int64)).tolist() if n else []
        for most in (PAGE_ROWS, PAGE_CHOSEN)
    )
    coded = [
        _coded(name, cells, clock) for name, cells, clock in zip(found.columns, found.cells, found.dates, strict=True)
    ]
    codes = [codes for _, codes in coded]
    part = part_of(found, drawn, chosen, range(len(coded)), codes, n_all=n, pairs=pairs)
    rows = tuple(
        ExampleRow(
            number=int(found.positions[row]), cells=tuple(float(own[row]) for own in codes), truth="",
            said=shorten(found.predictions.said(row), PAGE_NAME_WIDTH), right=None, shares=(),
            why=found.predictions.why(row),
        )
        for row in chosen
    )  # fmt: skip
    what = ", ".join(shorten(written_level(each), PAGE_NAME_WIDTH) for each in found.outputs[:3]) + ", ..." * (
        len(found.outputs) > 3
    )
    title = escape_controls(
        f"Contributions to the {part.scale} of {what}" if found.scale != "number" else f"Contributions to {what}"
    )
    summary = Summary(
        title=title, subtitle="", task="classification" if found.scale == "share" else "", target="", facts=(),
        notes=(), columns=tuple(words for words, _ in coded), text=str(found), tree=None, version=__version__,
        contributions=part, examples=ExamplesPart(rows, (), 0.0, "", (), "missing"),
    )  # fmt: skip
    return render(summary, template="explanation")


def _coded(name: Any, cells: list[Any], clock: tuple[str, str]) -> tuple[ColumnWords, np.ndarray]:
    """A column for the page, and its cells as numbers or codes of levels, float64[n]."""
    title = shorten(written_name(name), PAGE_NAME_WIDTH)
    if all(cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool)) for cell in cells):
        words = ColumnWords(title, "numeric", (), dates=clock[0], zone=clock[1])
        return words, np.array([np.nan if cell is None else cell for cell in cells], float)
    levels = sorted({written_level(cell) for cell in cells if cell is not None})
    places = {level: float(at) for at, level in enumerate(levels)}
    codes = np.array([np.nan if cell is None else places[written_level(cell)] for cell in cells])
    return ColumnWords(title, "nominal", tuple(levels)), codes
