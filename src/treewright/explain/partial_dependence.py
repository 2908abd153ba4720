"""How the predictions depend on a column, or on a pair of columns, and how much pairs do together.

The column is set to one value in every row and the model predicts; the mean over the rows is the partial dependence at
that value (Friedman 2001, "Greedy function approximation: a gradient boosting machine", The Annals of Statistics 29,
section 8.2), the single rows are the individual conditional expectations (Goldstein, Kapelner, Bleich and Pitkin 2015,
"Peeking inside the black box", Journal of Computational and Graphical Statistics 24). Rows are encoded once; the model
predicts blocks of copies of them, with as many values of the grid as a block holds.

``interactions`` measures pairs of columns (Friedman and Popescu 2008, "Predictive learning via rule ensembles", The
Annals of Applied Statistics 2, section 8.1): the proportion of the partial dependence on a pair that is not a sum of
what each column does alone. There the partial dependence at every row is exact and computed for all pairs at once, from
the tables that contributions are read from (``contributions_of`` with ``worths``), not from a grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treewright.core.elementary import is_whole, whole_number
from treewright.core.random import mixed
from treewright.data.calendar import part_cells
from treewright.data.cells import shown
from treewright.data.derived import derived_cells, is_derived
from treewright.data.encoder import encode
from treewright.data.memory import check_fits
from treewright.data.schema import Column, Schema, did_you_mean
from treewright.data.take import warn_of_another_order
from treewright.data.target import check_weights
from treewright.exceptions import DataError, ParameterError
from treewright.explain.contributions import contributions_of, game_of
from treewright.explain.explanation import encoded, outputs_of, refuse_no_sum
from treewright.predict.ensemble import predict_numbers, predict_probabilities
from treewright.predict.fractional import average_of_leaves
from treewright.show.spans import GAP, TextColumn, aligned
from treewright.show.style import class_color
from treewright.trees.data import ModelData, output_columns
from treewright.trees.summary import counted
from treewright.trees.threshold import positive_code
from treewright.trees.wording import clock_of
from treewright.trees.writing import gap_digits, shorten, written_amount, written_cut, written_level, written_name

GRID = 40
# Points of each of two axes: there is a prediction for every pair.
GRID_OF_TWO = 20
MOST_LEVELS = 30
METHODS = ("brute", "recursion", "accumulated")
NAME_WIDTH, LEVEL_WIDTH = 40, 30
MOST_LINES = 60
LARGEST = 1e9
# Of the copies of the rows that the model predicts at a time.
BLOCK_BYTES = 2**24
REMEDY = "give fewer rows (rows=), a coarser grid, or fewer individual lines"


@dataclass(frozen=True, eq=False, repr=False)
class PartialDependence:
    """Mean prediction of a model for values of a column, or of a pair of columns.

    Attributes
    ----------
    task : {"classification", "regression"}
    target_name : str
        Name of the target as text; ``y`` if it has none.
    labels : tuple
        The classes whose mean probabilities these are; empty for regression.
    axes : tuple of one or two Axis
        What was set: ``name``, ``kind``, ``values``.
    values : float64[n_means, k], or float64[n_means, k, l] for two columns
        Means over the rows; one line per class of ``labels``, a single one for regression.
    individual : float64[n_means, m, k]
        Predictions for single rows; m is 0 without ``individual``.
    rows : int64[m]
        Their positions in the table.
    n_rows : int
        Number of rows that the means are over.
    is_accumulated : bool
        Whether these are accumulated effects: means of changes, not of predictions for rows with the value set.
    """

    task: str
    target_name: str
    labels: tuple[Hashable, ...]
    axes: tuple[Axis, ...]
    values: np.ndarray
    individual: np.ndarray
    rows: np.ndarray
    n_rows: int
    is_accumulated: bool = False

    def __post_init__(self) -> None:
        for array in (self.values, self.individual, self.rows):
            array.flags.writeable = False

    @property
    def titles(self) -> tuple[str, ...]:
        """The title of each line of ``values``: a class or the target."""
        return tuple(map(written_level, self.labels)) if self.task == "classification" else (self.target_name,)

    def to_dict(self) -> dict[str, list[Any]]:
        """The means as columns, for a data frame.

        Returns
        -------
        dict of str to list
            One entry per column that was set, with its value; ``class`` for classification; ``mean``. A row per point
            of the grid and class.
        """
        n_means = len(self.values)
        points = np.meshgrid(*(np.arange(len(axis.values)) for axis in self.axes), indexing="ij")
        found: dict[str, list[Any]] = {}
        for axis, places in zip(self.axes, points, strict=True):
            found[written_name(axis.name)] = [axis.values[at] for at in places.ravel().tolist()] * n_means
        if self.task == "classification":
            found["class"] = [label for label in self.labels for _ in range(points[0].size)]
        found["mean"] = self.values.ravel().tolist()
        return found

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        named = " and ".join(shorten(written_name(axis.name), NAME_WIDTH) for axis in self.axes)
        each = "each value" if len(self.axes) == 1 else "each pair of values"
        what = "mean probability of each class" if self.task == "classification" else "mean prediction"
        how = f"changes accumulated along {named}" if self.is_accumulated else f"with {named} set to {each}"
        lines = [f"{what} over {counted(self.n_rows, 'row')}, {how}"]
        lines += self._map() if len(self.axes) == 2 else self._columns()
        if len(self.rows):
            lines.append(f"individual: {counted(len(self.rows), 'row')}, sampled")
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
        """The lowest and the highest mean of each class, and where they are: a map is drawn, not printed."""
        lines, digits = [], _decimals(self.values)
        for title, values in zip(self.titles, self.values, strict=True):
            ends = [("lowest", int(values.argmin())), ("highest", int(values.argmax()))]
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


def _decimals(values: np.ndarray) -> int | None:
    """Decimals that show the largest of these means with four digits; None if that would be too many."""
    largest = float(np.abs(values).max())
    if not 1e-9 <= largest < LARGEST:
        return None if largest else 0
    return min(12, max(0, 3 - math.floor(math.log10(largest))))


def _text(value: float, digits: int | None) -> str:
    """A mean as text; -0 is written 0."""
    if digits is None:
        return written_amount(value, digits=4)
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if not float(text) else text


def partial_dependence(
    model: ModelData,
    X: Any,
    column: Hashable,
    second: Hashable | None = None,
    *,
    grid: Any = None,
    label: Hashable | None = None,
    output: int = 0,
    individual: int = 0,
    rows: int | None = None,
    sample_weight: Any = None,
    random_state: int = 0,
    method: str = "brute",
    n_jobs: int | None = None,
    owner: str = "Model",
) -> PartialDependence:
    """Compute the mean prediction of a model for values of a column, or of a pair of columns.

    Parameters
    ----------
    model : ModelData
        Of one or many trees.
    X : table of n rows
        All other columns are as they are here.
    column : hashable
        Its name or position.
    second : hashable, optional
        Another column: then there is a mean for every pair of values.
    grid : int >= 2, sequence of values, or a pair of them, optional
        For a numeric column so many of its values in X: all of them, or its quantiles and, if many rows are equal,
        quantiles of its other values. Or the values themselves, numbers or levels. For two columns a pair
        ``(of the first, of the second)``, or a number for both. Default: 40 numbers, 20 of a pair; the 30 most frequent
        levels in X.
    label : hashable, optional
        A class: the means are of its probability. Default: of two classes the second one, of more all of them.
    output : int
        Which of several targets or quantiles.
    individual : int >= 0
        So many rows, sampled from X, are kept one by one. Not with ``second``.
    rows : int >= 1, optional
        At most so many rows of X are used, sampled from it.
    sample_weight : n numbers >= 0, optional
        Weights of the rows of X in the mean.
    random_state : int >= 0
        Seed of the samples.
    method : {"brute", "recursion", "accumulated"}, default "brute"
        ``"brute"`` predicts the rows of X with the column set to each value. ``"recursion"`` uses the trees alone
        (Friedman 2001, section 8.2): a test of another column sends a row into every branch, in the proportion of its
        training weight. Its time does not depend on the number of rows of X, which only make the grid; it averages over
        the training rows. For one tree, the mean of trees, and boosted regression whose scores are its predictions.
        ``"accumulated"`` sets the column of each row only to the two points of the grid around its own number, and adds
        up the mean changes (Apley and Zhu 2020, accumulated local effects): no row is moved far. For one numeric or
        ordinal column, over the rows within the grid; the level is such that the mean over the intervals, by their
        rows, is the mean prediction for these rows.
    n_jobs : int or None
        Threads; the result does not depend on it.
    owner : str
        Name for messages about the table.

    Returns
    -------
    PartialDependence
        Print it, ``plot()`` it, or take ``values``, ``individual`` or ``to_dict()``. Its means are of class
        probabilities, also for boosted trees, or of what ``predict`` returns for regression.

    Raises
    ------
    ParameterError
        There is no such column, class or output; a parameter is out of range.
    DataError
        The table was refused, holds no rows, or no value of the column.
    TooLargeError

    Notes
    -----
    The rows that a grid makes need not exist: if columns are correlated, the model predicts rows unlike any training
    row. If individual lines differ in shape, the mean hides something.

    Examples
    --------
    >>> import treewright as tw
    >>> from treewright.explain.partial_dependence import partial_dependence
    >>> est = tw.DecisionTreeRegressor().fit({"rain": [0, 1, 5, 9], "sun": [9, 7, 2, 1]}, [4.0, 4.0, 1.0, 1.0])
    >>> print(partial_dependence(est.model_, {"rain": [0, 9], "sun": [9, 1]}, "rain", grid=[0, 2, 4, 8]))
    mean prediction over 2 rows, with rain set to each value
    rain      y
       0  4.000
       2  4.000
       4  1.000
       8  1.000
    """
    schema = model.schema
    at = [position_of(schema, each) for each in ((column,) if second is None else (column, second))]
    if len(set(at)) < len(at):
        raise ParameterError(f"second={shown(second)} is the same column as the first: give another one")
    matrix = encode(schema, X, unseen=model.unseen, owner=owner, missing=model.missing)
    warn_of_another_order(X, sample_weight=sample_weight)
    own = _weights(sample_weight, matrix)
    at_most = None if rows is None else whole_number("rows", rows, 1)
    kept = np.arange(len(matrix)) if own is None else np.flatnonzero(own > 0)
    seed = whole_number("random_state", random_state, 0)
    kept = drawn(kept, at_most, seed)
    if not len(kept):
        raise DataError("X has no rows: partial dependence is a mean over rows")
    if len(kept) < len(matrix):
        matrix, own = matrix[kept], None if own is None else own[kept]
    n_lines = whole_number("individual", individual, 0)
    if n_lines and second is not None:
        raise ParameterError("individual lines are for one column: leave second or individual out")
    grids = _grids(grid, len(at))
    axes = [axis_of(schema, *each) for each in zip(at, matrix[:, at].T, grids, strict=True)]
    lines = drawn(np.arange(len(matrix)), n_lines, seed, 1)
    codes = _labels(model, label, output)
    if method not in METHODS:
        raise ParameterError(f"method={method!r}: choose one of {', '.join(map(repr, METHODS))}")
    if method == "recursion":
        if sample_weight is not None or n_lines or rows is not None:
            raise ParameterError(
                "method='recursion' averages over the training rows of the trees: leave sample_weight, rows and "
                "individual out, or use method='brute'"
            )
        means = _tree_values(model, axes, int(output), codes, n_jobs)
        names, labels = target_name(model, output), labels_of(model, output, codes)
        return PartialDependence(
            model.task, names, labels, tuple(axes), means, np.empty((len(means), 0, 0)), lines, len(matrix)
        )
    if method == "accumulated" and axes[0].kind == "nominal":
        raise ParameterError(
            f"method='accumulated': column {shown(axes[0].name)} is nominal, its levels have no order to accumulate "
            "changes along; use method='brute', or declare the order (ordinal)"
        )
    if method == "accumulated" and (second is not None or n_lines):
        raise ParameterError(
            "method='accumulated' is for one numeric or ordinal column, without individual lines: leave second and "
            "individual out, or use method='brute'"
        )
    predictor = Predictor(
        model.task,
        target_name(model, output),
        labels_of(model, output, codes),
        _predict_of(model, output, codes, n_jobs),
    )
    if method == "accumulated":
        return _accumulated(predictor, matrix, axes[0], own)
    return replace(dependence(predictor, matrix, axes, lines=lines, weights=own), rows=kept[lines])


def _accumulated(predictor: Predictor, matrix: np.ndarray, axis: Axis, own: np.ndarray | None) -> PartialDependence:
    """Accumulated local effects over the points of an axis.

    Apley and Zhu 2020, "Visualizing the effects of predictor variables in black box supervised learning models",
    Journal of the Royal Statistical Society B 82, equation 16.
    """
    grid = np.unique(axis.cells)
    held = (matrix[:, axis.position] >= grid[0]) & (matrix[:, axis.position] <= grid[-1]) if len(grid) else []
    rows = np.array(matrix[held], np.float64)
    if len(grid) < 2 or not len(rows):
        raise DataError(
            f"column {shown(axis.name)}: effects are accumulated between points of the grid, but there is one point, "
            "or no row between them: give another grid, or other rows"
        )
    weights = np.ones(len(rows)) if own is None else own[held]
    interval = np.clip(np.searchsorted(grid, rows[:, axis.position]), 1, len(grid) - 1)
    ends = []
    for shift in (1, 0):
        copies = rows.copy()
        set_to([axis], grid[interval - shift][:, None], copies)
        ends.append(predictor.predict(copies))
    held_weight = np.bincount(interval, weights, len(grid))
    curves = []
    for before, after, answers in zip(*(end.T for end in ends), predictor.predict(rows).T, strict=True):
        rises = np.bincount(interval, weights * (after - before), len(grid))
        curve = np.cumsum(np.divide(rises, held_weight, out=np.zeros(len(grid)), where=held_weight > 0))
        middles = (curve[:-1] + curve[1:]) / 2
        level = float((middles * held_weight[1:]).sum() / held_weight.sum())
        curves.append(curve - level + _mean(np.ascontiguousarray(answers), weights))
    return PartialDependence(
        predictor.task, predictor.name, predictor.labels, (replace(axis, values=_values_at(axis, grid), cells=grid),),
        np.array(curves), np.empty((len(curves), 0, len(grid))), np.empty(0, np.int64), len(rows), True,
    )  # fmt: skip


def _values_at(axis: Axis, cells: np.ndarray) -> tuple[Any, ...]:
    """The values of some of an axis' cells."""
    known = dict(zip(axis.cells.tolist(), axis.values, strict=True))
    return tuple(known[cell] for cell in cells.tolist())


def _tree_values(
    model: ModelData, axes: Sequence[Axis], output: int, codes: Sequence[int], n_jobs: int | None
) -> np.ndarray:
    """Predictions of the trees for each point if no other column is known: float64[n_means, k] or [n_means, k, l].

    A row that lacks all other columns is spread over the branches of their tests, as under ``missing="fractional"``.
    """
    boosting, combined = model.boosting, model.aggregation
    if combined.votes or combined.sorts or (boosting is not None and boosting.link != "identity"):
        raise ParameterError(
            "method='recursion' adds up leaf values, but the predictions of this model are another function of them "
            "(votes, medians, logarithms, probabilities from scores): use method='brute'"
        )
    points = _pairs(axes)
    cells = np.full((len(points), len(model.schema)), np.nan)
    set_to(axes, points, cells)
    every, n_scores = np.arange(len(points)), combined.n_scores
    trees = range(output, len(model.trees), n_scores) if boosting is not None else range(len(model.trees))
    total: Any = 0.0
    for at in trees:
        tree = model.trees[at]
        total = total + average_of_leaves(tree, cells, every, combined.content(model, tree.value), n_jobs)
    if boosting is not None:
        means = boosting.base[output] + total
    else:
        means = total / len(trees)
        chosen = range(len(means[0]))[output_columns(model.n_classes)[output]] if codes else [output]
        means = means[:, [chosen[code] for code in codes] if codes else chosen]
    shape = tuple(len(axis.values) for axis in axes)
    return np.ascontiguousarray(means.T).reshape(-1, *shape)


@dataclass(frozen=True)
class Predictor:
    """How a model of any kind predicts encoded rows, float64[n, p] to float64[n, n_means], and what it predicts.

    ``labels`` are the classes whose probabilities are predicted; empty for regression.
    """

    task: str
    name: str
    labels: tuple[Hashable, ...]
    predict: Callable[[np.ndarray], np.ndarray]


def dependence(
    predictor: Predictor, matrix: np.ndarray, axes: Sequence[Axis], *, lines: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> PartialDependence:  # fmt: skip
    """As ``partial_dependence``, for encoded rows and a model of any kind; rows ``lines`` are kept one by one."""
    lines = np.empty(0, np.int64) if lines is None else lines
    points = _pairs(axes)
    n, n_points, n_means = len(matrix), len(points), max(1, len(predictor.labels))
    check_fits(8 * (matrix.size + n_points * n_means * len(lines)), "copies of the rows", REMEDY)
    per_block = max(1, min(n_points, BLOCK_BYTES // max(1, matrix[0].nbytes * n)))
    copies = np.tile(np.asarray(matrix, np.float64), (per_block, 1))
    means, single = np.empty((n_means, n_points)), np.empty((n_means, len(lines), n_points))
    for begin in range(0, n_points, per_block):
        block = points[begin : begin + per_block]
        used = copies[: len(block) * n]
        set_to(axes, block, used)
        predicted = predictor.predict(used)
        for place in range(len(block)):
            # A mean over arrays of the same shape whatever the size of a block, so that it changes no bit.
            own = np.ascontiguousarray(predicted[place * n : (place + 1) * n].T)
            means[:, begin + place] = [_mean(each, weights) for each in own]
            single[:, :, begin + place] = own[:, lines]
    shape = tuple(len(axis.values) for axis in axes)
    return PartialDependence(
        predictor.task, predictor.name, predictor.labels, tuple(axes), means.reshape(n_means, *shape), single, lines, n
    )


@dataclass(frozen=True, eq=False)
class Axis:
    """A column and the values that it is set to.

    Attributes
    ----------
    name : hashable
        Of the column.
    kind : {"numeric", "ordinal", "nominal"}
    position : int
        Of the column in the encoded table.
    values : tuple
        Numbers, ascending, or levels in the order of their codes.
    cells : float64[k]
        The same, encoded.
    deciles : float64[9]
        Of the rows' own values in a numeric column: they show where there are rows. Empty otherwise.
    clock : tuple of 2 str
        The family and the time zone of a column of dates, whose values are days; empty texts for any other.
    parts : tuple of (int, str, Column)
        For a column of dates: the position of a column that the model makes of it, which part that is, and this column.
    derived : tuple of int
        Positions of columns that the model derives from this one and others.
    columns : tuple of Column
        All columns of the model.
    """

    name: Hashable
    kind: str
    position: int
    values: tuple[Any, ...]
    cells: np.ndarray
    deciles: np.ndarray
    clock: tuple[str, str] = ("", "")
    parts: tuple[tuple[int, str, Column], ...] = ()
    derived: tuple[int, ...] = ()
    columns: tuple[Column, ...] = ()

    @property
    def is_numeric(self) -> bool:
        """Whether the values are numbers."""
        return self.kind == "numeric"

    @property
    def texts(self) -> tuple[str, ...]:
        """The values as texts."""
        if not self.is_numeric:
            return tuple(map(written_level, self.values))
        digits = gap_digits(self.cells, least=4).tolist()
        return tuple(written_cut(value, self.clock, digits=n) for value, n in zip(self.values, digits, strict=True))


def set_to(axes: Sequence[Axis], points: np.ndarray, matrix: np.ndarray) -> None:
    """Set columns to the points float64[k, n_axes], each in as many rows of ``matrix`` float64[m, p], and their parts.

    Parts go first: one that is an axis itself has the value of that axis. Columns derived from several go last.
    """
    n = len(matrix) // len(points)
    for axis, values in zip(axes, points.T, strict=True):
        for at, part, source in axis.parts:
            matrix[:, at] = np.repeat(part_cells(part, source, values), n)
    for axis, values in zip(axes, points.T, strict=True):
        matrix[:, axis.position] = np.repeat(values, n)
    own = {axis.position for axis in axes}
    for at in sorted({at for axis in axes for at in axis.derived} - own):
        matrix[:, at] = derived_cells(axes[0].columns, at, matrix)


def axis_of(schema: Schema, position: int, cells: np.ndarray, grid: Any = None) -> Axis:
    """The values that a column is set to: from its cells, float64[n], and ``grid``, as in ``partial_dependence``."""
    column = schema.columns[position]
    name = shown(column.name)
    held = cells[np.isfinite(cells)]
    derived = tuple(at for at, each in enumerate(schema.columns) if is_derived(each) and position in each.sources)
    if column.kind == "numeric":
        if grid is None or is_whole(grid):
            n_points = GRID if grid is None else whole_number("grid", grid, 2)
            if not len(held):
                raise DataError(f"column {name} holds no finite number in these rows: give a grid, or other rows")
            values = spread_values(held, n_points)
        else:
            values = _numbers(grid, name)
        marks = np.quantile(held, np.arange(1, 10) / 10, method="inverted_cdf") if len(held) else np.empty(0)
        parts = tuple(
            (at, each.part, column)
            for at, each in enumerate(schema.columns)
            if each.sources == (position,) and not is_derived(each)
        )
        return Axis(
            column.name,
            "numeric",
            position,
            tuple(values.tolist()),
            values,
            marks,
            clock_of(column),
            parts,
            derived,
            schema.columns,
        )
    if grid is None or is_whole(grid):
        most = MOST_LEVELS if grid is None else whole_number("grid", grid, 2)
        codes = _commonest(held, len(column.levels), most)
        if not len(codes):
            raise DataError(f"column {name} holds no known level in these rows: give a grid, or other rows")
    else:
        codes = _codes(column, grid, name)
    levels = tuple(column.levels[code] for code in codes.tolist())
    return Axis(
        column.name,
        column.kind,
        position,
        levels,
        codes.astype(np.float64),
        np.empty(0),
        derived=derived,
        columns=schema.columns,
    )


def spread_values(held: np.ndarray, n_points: int) -> np.ndarray:
    """At most so many of the values, ascending: the quantiles, and other values instead of repeated ones."""
    distinct = np.unique(held)
    if len(distinct) <= n_points:
        return distinct
    places = np.linspace(0.0, 1.0, n_points)
    chosen = np.unique(np.quantile(held, places, method="inverted_cdf"))
    if len(chosen) < n_points:
        rest = np.setdiff1d(distinct, chosen, assume_unique=True)
        inside = (np.arange(n_points - len(chosen)) + 0.5) / (n_points - len(chosen))
        chosen = np.union1d(chosen, rest[(inside * len(rest)).astype(np.int64)])
    return chosen


def drawn(rows: np.ndarray, most: int | None, seed: int, stream: int = 0) -> np.ndarray:
    """At most so many of the rows, ascending, sampled by a seed; another ``stream`` samples other rows.

    Rows with the lowest keys, which are those of ``core.random.mixed``: the same rows under every version of NumPy.
    """
    if most is None or len(rows) <= most:
        return rows
    with np.errstate(over="ignore"):
        key = np.uint64(mixed(seed % 2**64, stream)) + (rows.astype(np.uint64) + np.uint64(1)) * np.uint64(
            0x9E3779B97F4A7C15
        )
        key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        key ^= key >> np.uint64(31)
    return np.sort(rows[np.argsort(key, kind="stable")[:most]])


def position_of(schema: Schema, column: Any) -> int:
    """Return the position of a column, from its name or position."""
    try:
        at = schema.positions[column]
    except (KeyError, TypeError):  # a position, an unknown name, or what can be no name
        if not is_whole(column) or not 0 <= int(column) < len(schema):
            raise ParameterError(
                f"the model has no column {shown(column)}{did_you_mean(column, schema.names)}"
            ) from None
        at = int(column)
    found = schema.columns[at]
    if found.left_out:
        raise ParameterError(
            f"column {shown(found.name)} was left out at fit ({found.left_out}): the predictions do not depend on it"
        )
    return at


def _numbers(grid: Any, name: str) -> np.ndarray:
    """A grid of numbers, as given."""
    try:
        values = np.asarray(grid, np.float64)
    except (TypeError, ValueError):
        values = np.empty((0, 0))
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise ParameterError(f"grid of column {name}: give a whole number >= 2, or a sequence of finite numbers")
    return np.unique(values)


def _codes(column: Column, grid: Any, name: str) -> np.ndarray:
    """Codes of levels that are given."""
    if isinstance(grid, str) or not hasattr(grid, "__iter__"):
        raise ParameterError(f"grid of column {name}: give a sequence of its levels, or a whole number >= 2")
    levels = list(grid)
    unknown = [level for level in levels if level not in column.codes]
    if unknown or not levels:
        problem = f"{shown(unknown[0])} is not one of its levels" if unknown else "it is empty"
        raise ParameterError(f"grid of column {name}: {problem}")
    return np.unique(np.array([column.codes[level] for level in levels], np.int64))


def _commonest(codes: np.ndarray, n_levels: int, most: int) -> np.ndarray:
    """int64: codes of the most frequent levels, in order; of equally frequent ones the first."""
    counts = np.bincount(codes.astype(np.int64), minlength=n_levels)[:n_levels]
    held = np.argsort(-counts, kind="stable")[:most]
    return np.sort(held[counts[held] > 0])


def labels_of(model: Any, output: int, codes: Sequence[int]) -> tuple[Hashable, ...]:
    """Return the labels of some classes as Python scalars; none for regression."""
    return tuple(model.classes[output][list(codes)].tolist()) if len(codes) else ()


def default_labels(model: Any, output: int) -> tuple[int, ...]:
    """Return the classes that are shown by default: of two the positive one, of more all."""
    n = len(model.classes[output]) if model.classes else 0
    positive = positive_code(model)
    return (1 if positive is None else positive,) if n == 2 else tuple(range(n))


def target_name(model: Any, output: int) -> str:
    """Return the name of a target, ``y`` if it has none."""
    names = model.target_names
    return written_name(names[output]) if output < len(names) else "y" if model.n_outputs == 1 else f"y{output}"


def _grids(grid: Any, n_axes: int) -> tuple[Any, ...]:
    """The grid of each column."""
    if n_axes == 1:
        return (grid,)
    if grid is None:
        return GRID_OF_TWO, GRID_OF_TWO
    if is_whole(grid):
        return grid, grid
    if isinstance(grid, str) or not hasattr(grid, "__len__") or len(grid) != 2:
        raise ParameterError("grid of two columns: give a number, or a pair (of the first, of the second)")
    return tuple(grid)


def _pairs(axes: Sequence[Axis]) -> np.ndarray:
    """float64[n_points, n_axes]: every point of the grid, the last column changing fastest."""
    return np.stack([each.ravel() for each in np.meshgrid(*(axis.cells for axis in axes), indexing="ij")], axis=1)


def _predict_of(
    model: ModelData, output: int, codes: Sequence[int], n_jobs: int | None
) -> Callable[[np.ndarray], np.ndarray]:
    """How a model of trees predicts rows: probabilities of these classes, or numbers."""
    if model.task == "classification":
        return lambda rows: predict_probabilities(model, rows, n_jobs)[output][:, list(codes)]
    return lambda rows: predict_numbers(model, rows, n_jobs)[:, [output]]


def _mean(answers: np.ndarray, weights: np.ndarray | None) -> float:
    """The weighted mean of some predictions; finite if they are."""
    exponent = int(np.frexp(np.abs(answers).max())[1])
    # Sums near the end of float64 would overflow; a power of two changes no digit.
    small = np.ldexp(answers, -exponent) if exponent > 900 else answers
    if weights is None:
        mean = float(small.sum()) / len(small)
    else:
        share = weights / weights.max()
        mean = float((small * share).sum() / share.sum())
    return float(np.ldexp(mean, exponent)) if exponent > 900 else mean


def _weights(sample_weight: Any, matrix: np.ndarray) -> np.ndarray | None:
    """float64[n] or None."""
    if sample_weight is None:
        return None
    given = check_weights(sample_weight, len(matrix))
    return None if given is None else given.astype(np.float64)


def _labels(model: ModelData, label: Any, output: Any) -> tuple[int, ...]:
    """Positions of the classes that are shown."""
    n = model.n_outputs
    if not is_whole(output) or not 0 <= output < n:
        raise ParameterError(f"output={output!r}: the model predicts {n} target(s), counted from 0")
    if model.task == "regression":
        if label is not None:
            raise ParameterError(f"label={shown(label)}: the model predicts numbers, it has no classes")
        return ()
    if label is None:
        return default_labels(model, int(output)) or (0,)
    known = model.classes[int(output)].tolist()
    if label not in known:
        have = ", ".join(written_level(each) for each in known[:12])
        raise ParameterError(f"label={shown(label)} is not a class of the model; the classes are {have}")
    return (known.index(label),)


MOST_ROWS, MOST_BACKGROUND = 2_000, 500
PAIR_NAME_WIDTH, MOST_PAIRS = 30, 15
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class Interactions:
    """Interactions of pairs of columns: Friedman's H, and their spread.

    Attributes
    ----------
    columns, outputs : tuple of hashable
        As of an explanation.
    h : float64[p, p, k]
        H of Friedman and Popescu: of the variance of the partial dependence on a pair, the root of the share that is
        not a sum of what each column does alone; 0 if there is none, about 1 if all of it is. 0 on the diagonal.
    spread : float64[p, p, k]
        The standard deviation of that part, in the units of the prediction: a large H with a small spread does not
        matter.
    n_rows : int
    """

    columns: tuple[Hashable, ...]
    outputs: tuple[Hashable, ...]
    h: np.ndarray
    spread: np.ndarray
    n_rows: int

    def pairs(self, output: int = 0) -> list[tuple[Hashable, Hashable, float, float]]:
        """Columns, H and spread of each pair that interacts, the largest spread first."""
        p = len(self.columns)
        found = [
            (self.columns[i], self.columns[j], float(self.h[i, j, output]), float(self.spread[i, j, output]))
            for i in range(p)
            for j in range(i + 1, p)
            if self.spread[i, j, output] > 0
        ]
        return sorted(found, key=lambda each: -each[3])

    def to_dict(self) -> dict[str, list[Any]]:
        """As columns, for a data frame: ``output`` where there are several, ``column``, ``with``, ``h``, ``spread``."""
        found: dict[str, list[Any]] = {"output": [], "column": [], "with": [], "h": [], "spread": []}
        for output, name in enumerate(self.outputs):
            for one, other, h, spread in self.pairs(output):
                for key, cell in zip(found, (name, one, other, h, spread), strict=True):
                    found[key].append(cell)
        if len(self.outputs) == 1:
            del found["output"]
        return found

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        over = counted(self.n_rows, "row")
        parts = [f"interactions of pairs of columns over {over}: H and spread (standard deviation), largest first"]
        for output, output_name in enumerate(self.outputs):
            pairs = self.pairs(output)
            names = [
                " and ".join(shorten(written_name(each), PAIR_NAME_WIDTH) for each in pair[:2])
                for pair in pairs[:MOST_PAIRS]
            ]
            width = max(map(len, names), default=0)
            lines = [f"{written_level(output_name)}:"] if len(self.outputs) > 1 else []
            lines += [f"  {'':<{width}}  H      spread"] if names else []
            for name, (_, _, h, spread) in zip(names, pairs, strict=False):
                lines.append(f"  {name:<{width}}  {h:.3f}  {written_amount(spread)}")
            lines += [f"  {len(pairs) - MOST_PAIRS} more"] if len(pairs) > MOST_PAIRS else []
            parts.append("\n".join(lines or ["  no pair interacts"]))
        return "\n\n".join(parts) if len(self.outputs) > 1 else "\n".join(parts)


def interactions(
    model: ModelData, X: Any, *, background: Any = None, n_jobs: int | None = None, owner: str = "Model"
) -> Interactions:
    """Compute the interactions of pairs of columns: Friedman's H.

    Parameters
    ----------
    model : ModelData
    X : table of n rows
        If there are more than 2,000, 2,000 of them are used, evenly spread.
    background : table of m rows, optional
        Rows that partial dependence is a mean over; by default at most 500 of X, evenly spread.
    n_jobs : int, optional

    Returns
    -------
    Interactions

    Raises
    ------
    ParameterError
        The predictions are not a sum over the trees.
    DataError
        The rows were refused, or there are none.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5, "c": [0, 1, 1, 0, 1] * 4}
    >>> model = tw.DecisionTreeRegressor(random_state=0).fit(table, [0.0, 1.0, 1.0, 0.0] * 5).model_
    >>> [(one, other, round(h, 3)) for one, other, h, _ in interactions(model, table).pairs()]
    [('a', 'b', 1.0)]
    """
    refuse_no_sum(model)
    matrix = _spread(encoded(model, X, owner), MOST_ROWS)
    others = _spread(matrix if background is None else encoded(model, background, owner), MOST_BACKGROUND)
    if not len(matrix) or not len(others):
        raise DataError("interactions are means over rows, but there are no rows")
    if model.missing == "fractional" and bool(np.isnan(matrix).any() or np.isnan(others).any()):
        raise DataError(
            "interactions do not work with missing cells that follow every branch (missing='fractional'): fill them"
        )
    n_players = len(game_of(model).players)
    check_fits(
        len(matrix) * n_players**2 * len(outputs_of(model)[0]) * 8, f"pairs of {n_players} columns",
        "give fewer rows, or fit a model on fewer columns",
    )  # fmt: skip
    values = contributions_of(
        model, matrix, kind="interventional", pairs=True, background=others, worths=True, n_jobs=n_jobs
    ).values
    values -= values.mean(axis=0)
    alone = values[:, range(n_players), range(n_players)]
    h, spread = np.zeros(values.shape[1:]), np.zeros(values.shape[1:])
    least = (_ROUNDING * np.abs(alone).max(axis=(0, 1), initial=0.0)) ** 2  # what rounding alone may give
    for i in range(n_players):
        for j in range(i):
            together = (values[:, i, j] ** 2).mean(axis=0)
            whole = ((alone[:, i] + alone[:, j] + values[:, i, j]) ** 2).mean(axis=0)
            is_some = together > least
            h[i, j] = h[j, i] = np.sqrt(
                np.divide(together, whole, out=np.zeros(len(whole)), where=is_some & (whole > 0))
            )
            spread[i, j] = spread[j, i] = np.sqrt(np.where(is_some, together, 0.0))
    names = tuple(model.schema.columns[at].name for at in game_of(model).players)
    return Interactions(names, outputs_of(model)[0], h, spread, len(matrix))


def _spread(matrix: np.ndarray, most: int) -> np.ndarray:
    """At most so many rows, evenly spread."""
    if len(matrix) <= most:
        return matrix
    kept: np.ndarray = matrix[np.linspace(0, len(matrix) - 1, most).round().astype(np.int64)]
    return kept
