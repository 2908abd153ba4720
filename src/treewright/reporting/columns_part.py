"""What the columns are and do. In: judged rows. Out: ``ColumnPart`` of each column. Caller: reporting.summary."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from treewright.data.schema import Column
from treewright.explain.partial_dependence import (
    DependenceTable,
    Predictor,
    axis_of,
    default_labels,
    dependence,
    drawn,
    labels_of,
    target_name,
)
from treewright.forest.importance_table import Importances
from treewright.model.data import sizes_of
from treewright.model.summary import counted
from treewright.neighbors.ranks import CALLED
from treewright.page.amounts import amount
from treewright.page.parts_columns import ColumnPart, DependenceLine, DependencePart, SpreadPart
from treewright.reporting.column_spread import (
    Groups,
    commonest_classes,
    groups_of,
    mean_and_sd,
    middle_range,
    spread_of,
)
from treewright.reporting.judged import Judged
from treewright.reporting.options import Options
from treewright.reporting.rounds_part import loss_name
from treewright.reporting.shuffled import REPEATS, shuffled
from treewright.reporting.unseen import cells_of, unseen_levels
from treewright.tree.writing import shorten, written_name

NAME_WIDTH, LABEL_WIDTH = 200, 60
# At most so many columns have their distribution in the page: the rest is told in numbers.
MOST_SPREADS = 40
# Single rows behind the mean, where one line is drawn, and where several classes are.
SINGLE_ROWS, SINGLE_ROWS_OF_CLASSES = 40, 16
MOST_CLASSES = 6
# Of single rows: a curve is read by eye, and they are most of what a column weighs in the page.
ROW_DIGITS = 4
# Rows times trees (or stored rows) that may be asked for all shuffles, and for all dependence.
# A cell of a row that is read costs as much as half a tree, a number of a distance a fortieth, a function a hundred.
MOST_WORK = 120_000_000
CELLS_PER_TREE, NUMBERS_PER_ROW, NUMBERS_PER_CALL = 2, 40, 100
FEWEST_ROWS = 50
# Of a wide table the columns that gained most are shuffled, so that each can be among so many rows; of neighbours,
# which have no such order, none where even the fewest rows would take so many times the work.
ROWS_TO_SHUFFLE, FEWEST_COLUMNS, TOO_LONG = 200, 20, 4


def columns_part(judged: Judged, options: Options) -> tuple[ColumnPart, ...]:
    """Return what each column is and does, the most important one first.

    Parameters
    ----------
    judged : Judged
    options : Options
        ``columns``: how many have their partial dependence; ``rows``: of how many rows at most; ``random_state``.

    Notes
    -----
    Columns are sorted by how much worse the model is when they are shuffled; of equals the one whose splits gained
    more, then the first.
    """
    schema = judged.model.schema
    p = len(schema)
    asked = _asked(judged)
    impurity = None if judged.is_neighbors else judged.model.feature_importances
    among = _to_shuffle(judged, asked, impurity)
    found = None
    if among.any() or not asked.any():
        rows = _rows(judged, options, REPEATS * max(1, int(among.sum())))
        found = shuffled(judged, rows, among, seed=options.random_state, n_jobs=options.n_jobs)
    without = "" if (among == asked).all() else f", for {among.sum()} columns that gained most at the fit"
    order = _order(found, impurity, p)
    groups = groups_of(judged)
    unseen = unseen_levels(judged)
    told = [
        _told(judged, at, cells_of(judged, at, unseen), groups if number < MOST_SPREADS else None)
        for number, at in enumerate(order)
    ]
    left_out = asked & ~among
    curved = [at for at in order if asked[at]][: options.columns]
    return tuple(
        replace(
            part,
            asked=bool(asked[part.position]),
            impurity=None if impurity is None else float(impurity[part.position]),
            permutation=None if found is None or left_out[part.position] else float(found.values[part.position]),
            error=None if found is None or left_out[part.position] else float(found.standard_errors[part.position]),
            measure="" if found is None else _meaning(judged, found) + without,
            dependence=_dependence(judged, part.position, options, len(curved)) if part.position in curved else None,
        )
        for part in told
    )


def _meaning(judged: Judged, found: Importances) -> str:
    """What shuffling costs, in words, with the name of the loss that boosted trees lower."""
    name = loss_name(judged.model)
    return found.meaning.replace("the loss", f"the loss ({name})") if name else found.meaning


def _asked(judged: Judged) -> np.ndarray:
    """bool[p]: which columns the model asks; under surrogates and of neighbours all."""
    p = len(judged.model.schema)
    if judged.is_neighbors or judged.model.missing == "surrogate":
        return np.ones(p, bool)
    return np.asarray(sizes_of(judged.model).n_tests > 0)


def _rows(judged: Judged, options: Options, n_times: int) -> np.ndarray:
    """Rows that a model is asked about so many times: no more than are answered in a while."""
    most = min(options.rows, max(FEWEST_ROWS, int(MOST_WORK / (_work_of_row(judged) * n_times))))
    return drawn(np.arange(judged.n), most, options.random_state)


def _work_of_row(judged: Judged) -> float:
    """What it costs to ask the model about one row, in trees that it goes down."""
    model, p = judged.model, len(judged.model.schema)
    if not judged.is_neighbors:
        return float(len(model.trees) + p / CELLS_PER_TREE)
    called = NUMBERS_PER_CALL if model.stored.metric.kind == CALLED else 1
    return float(model.n_rows * max(called, p / NUMBERS_PER_ROW))


def _to_shuffle(judged: Judged, asked: np.ndarray, impurity: np.ndarray | None) -> np.ndarray:
    """bool[p]: the columns that are shuffled, of those that the model asks."""
    times = REPEATS * _work_of_row(judged)
    if impurity is None:
        return asked & (int(asked.sum()) * FEWEST_ROWS * times <= TOO_LONG * MOST_WORK)
    most = max(FEWEST_COLUMNS, int(MOST_WORK / (times * min(judged.n, ROWS_TO_SHUFFLE))))
    among = np.zeros(len(asked), bool)
    among[np.lexsort((np.arange(len(asked)), -impurity, ~asked))[:most]] = True
    return among & asked


def _order(found: Importances | None, impurity: np.ndarray | None, p: int) -> list[int]:
    """The columns, those that matter most first."""
    values = np.zeros(p) if found is None else found.values
    shares = np.zeros(p) if impurity is None else impurity
    return np.lexsort((np.arange(p), -shares, -values)).tolist()


def _told(judged: Judged, at: int, cells: np.ndarray, groups: Groups | None) -> ColumnPart:
    """What one column is, without what it does."""
    column = judged.model.schema.columns[at]
    here = ~np.isnan(cells)
    held, weights = cells[np.isfinite(cells)], judged.weights[np.isfinite(cells)]
    low = high = mean = sd = None
    quartiles: tuple[float, ...] | None = None
    if column.kind == "numeric" and len(held):
        low, high = float(held.min()), float(held.max())
        mean, sd = mean_and_sd(held, weights)
        quartiles = _quantiles(held, weights, (0.25, 0.5, 0.75))
    spread: SpreadPart | None = None
    if groups is not None and here.any():
        spread = spread_of(column, cells, groups)
    return ColumnPart(
        position=at,
        name=shorten(written_name(column.name), NAME_WIDTH),
        kind=column.kind,
        told=_in_words(column, cells[here], low, high),
        n_distinct=len(np.unique(cells[here])),
        n_levels=len(column.levels),
        missing=float(judged.weights[~here].sum() / judged.weights.sum()),
        low=low,
        high=high,
        mean=mean,
        sd=sd,
        quartiles=quartiles,
        spread=spread,
    )


def _in_words(column: Column, held: np.ndarray, low: float | None, high: float | None) -> str:
    """What the values of a column are, in a few words."""
    if not len(held):
        return "no value"
    if column.kind != "numeric":
        n_known, n_levels = len(np.unique(held[held < len(column.levels)])), len(column.levels)
        return f"{n_known:,} of {counted(n_levels, 'level')}" if n_known < n_levels else counted(n_levels, "level")
    if low is None or high is None:
        return "no finite number"
    least, greatest = (amount(end) for end in (low, high))
    return f"{least} to {greatest}" if low < high else f"always {least}"


def _quantiles(values: np.ndarray, weights: np.ndarray, shares: tuple[float, ...]) -> tuple[float, ...]:
    """The least value such that at least the share of the weight is not above it."""
    order = np.argsort(values, kind="stable")
    passed = np.cumsum(weights[order] / weights.max())
    places = np.searchsorted(passed, np.array(shares) * passed[-1] * (1.0 - 1e-12))
    return tuple(values[order[np.minimum(places, len(values) - 1)]].tolist())


def _dependence(judged: Judged, at: int, options: Options, n_columns: int) -> DependencePart | None:
    """What the model says along a column; None where no row has a value."""
    model = judged.model
    column = model.schema.columns[at]
    cells = np.asarray(judged.matrix[:, at], np.float64)
    known = cells[np.isfinite(cells)]
    if column.kind != "numeric":
        known = known[(known >= 0) & (known < len(column.levels))]
    if not len(known):
        return None
    if column.kind == "numeric":
        low, high = middle_range(known)
        known = known[(known >= low) & (known <= high)]
    axis = axis_of(column, at, known)
    rows = _rows(judged, options, n_columns * len(axis.values))
    codes: list[int] = []
    if judged.is_classification:
        codes = list(default_labels(model, 0)) or [0]
        if len(codes) > MOST_CLASSES:
            codes = commonest_classes(judged, MOST_CLASSES)
    name, labels = target_name(model, 0), labels_of(model, 0, codes)
    if codes:
        said = Predictor(model.task, name, labels, lambda cells: model.shares_of(cells)[0][:, codes])
    else:
        said = Predictor(model.task, name, labels, lambda cells: model.numbers_of(cells)[:, :1])
    n_lines = SINGLE_ROWS if len(codes) <= 1 else SINGLE_ROWS_OF_CLASSES
    lines = drawn(np.arange(len(rows)), n_lines, options.random_state, 1)
    found = dependence(said, judged.matrix[rows], [axis], lines=lines, weights=judged.weights[rows])
    return DependencePart(
        values=axis.values if axis.is_numeric else (),
        labels=() if axis.is_numeric else tuple(shorten(text, LABEL_WIDTH) for text in axis.texts),
        deciles=tuple(axis.deciles.tolist()),
        lines=tuple(_line(found, place, codes) for place in range(len(found.values))),
        n_rows=found.n_rows,
    )


def _line(found: DependenceTable, place: int, codes: list[int]) -> DependenceLine:
    """The means and the single rows of one class, or of the number."""
    rows = [tuple(float(f"{value:.{ROW_DIGITS}g}") for value in row) for row in found.individual[place].tolist()]
    name = shorten(found.titles[place], LABEL_WIDTH)
    return DependenceLine(name, codes[place] if codes else None, tuple(found.values[place].tolist()), tuple(rows))
