"""The section of columns: their distributions, their permutation importance, their partial dependence."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from treewright.boosting.losses import loss_words
from treewright.data.dates import written_days
from treewright.data.schema import Column
from treewright.evaluation.folds import LEAST_SQUARE
from treewright.evaluation.scores import rows_worth
from treewright.explain.partial_dependence import (
    PartialDependence,
    Predictor,
    axis_of,
    default_labels,
    dependence,
    drawn,
    labels_of,
    target_name,
)
from treewright.forest.importance import SQUARED, WRONG, Importances
from treewright.neighbors.nearest import CALLED
from treewright.reporting.data import REPEATS, Options, ReportData, cells_of, shuffled
from treewright.reporting.rounds import loss_name
from treewright.show.page.parts import ColumnPart, DependenceLine, DependencePart, SpreadPart
from treewright.show.page.render import amount
from treewright.trees.data import sizes_of
from treewright.trees.summary import counted
from treewright.trees.wording import clock_of
from treewright.trees.writing import gap_digits, shorten, written_cut, written_level, written_name

NAME_WIDTH, LABEL_WIDTH = 200, 60
# At most so many columns have their distribution in the page: the rest is described in numbers.
MOST_SPREADS = 40
# Single rows behind the mean, if one line is drawn, and if there are several classes.
SINGLE_ROWS, SINGLE_ROWS_OF_CLASSES = 40, 16
MOST_CLASSES = 6
# Of single rows: a curve is read by eye, and they are most of what a column weighs in the page.
ROW_DIGITS = 4
# Largest number of rows times trees (or stored rows) for all shuffles, and for all dependence.
# To read a cell of a row costs as much as half a tree, a number of a distance a fortieth, a function a hundred.
MOST_WORK = 120_000_000
CELLS_PER_TREE, NUMBERS_PER_ROW, NUMBERS_PER_CALL = 2, 40, 100
FEWEST_ROWS = 50
# In a wide table the columns with the largest gain are shuffled, so that each can be on so many rows; for neighbours,
# which have no such order, none if even the fewest rows would take so many times the work.
ROWS_TO_SHUFFLE, FEWEST_COLUMNS, TOO_LONG = 200, 20, 4
N_CELLS = 24  # of a histogram of numbers
# A numeric column with no more different numbers has a bar for each.
FEW_NUMBERS = 12
MOST_LEVELS, MOST_GROUPS = 20, 10
OTHERS, UNSEEN, MISSING, OTHER_CLASSES = "other levels", "not in the training rows", "missing", "other classes"
# Numbers are far off if all others, except such a part at either end, would take less than a third of the axis.
FAR_OFF, SQUEEZED = 0.005, 3.0
MOST_WHOLE = 1e15  # up to here a half can be added
# Cells with fewer rows have a mean without an error.
FEWEST_FOR_ERROR = 2


def columns_part(data: ReportData, options: Options) -> tuple[ColumnPart, ...]:
    """Distribution, importance and partial dependence of each column, the most important one first.

    Columns are sorted by how much worse the model is when they are shuffled; equal ones by the gain of their splits,
    then by position.
    """
    schema = data.model.schema
    p = len(schema)
    tested = _tested_columns(data)
    impurity = None if data.is_neighbors else data.model.feature_importances
    among = _to_shuffle(data, tested, impurity)
    found = rises = errors = None
    measure = ""
    if among.any() or not tested.any():
        rows = _rows(data, options, REPEATS * max(1, int(among.sum())))
        found = shuffled(data, rows, among, seed=options.random_state, n_jobs=options.n_jobs)
        if found is not None:
            unit, measure = _in_units(data, found, rows)
            rises, errors = found.values / unit, found.standard_errors / unit
    some = counted(int(among.sum()), "column")
    without = "" if (among == tested).all() else f", for the {some} with the largest gain"
    order = _order(found, impurity, p)
    groups = groups_of(data)
    described = [
        _described(data, at, cells_of(data, at), groups if number < MOST_SPREADS else None)
        for number, at in enumerate(order)
    ]
    left_out = tested & ~among
    curved = [at for at in order if tested[at]][: options.columns]
    return tuple(
        replace(
            part,
            asked=bool(tested[part.position]),
            impurity=None if impurity is None else float(impurity[part.position]),
            permutation=None if rises is None or left_out[part.position] else float(rises[part.position]),
            error=None if errors is None or left_out[part.position] else float(errors[part.position]),
            measure=measure + without if measure else "",
            dependence=_dependence(data, part.position, options, len(curved)) if part.position in curved else None,
        )
        for part in described
    )


def _in_units(data: ReportData, found: Importances, rows: np.ndarray) -> tuple[float, str]:
    """The divisor that puts rises of the error in the unit of the score in the head; and their name.

    A drop of R2 by 0.3 is easier to read than a squared error of 126,502.
    """
    name, when = loss_name(data.model), "when the column is shuffled"
    if found.what == WRONG:
        return 1.0, f"drop of the accuracy {when}"
    halves = name == loss_words("squared_error")
    if (found.what == SQUARED or halves) and data.target.shape[1] == 1:
        target, weights = data.target[rows, 0], data.weights[rows]
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            variance = float(np.average(np.square(target - np.average(target, weights=weights)), weights=weights))
        unit = variance / 2 if halves else variance
        if LEAST_SQUARE <= unit < np.inf:
            return unit, f"drop of R2 {when}"
    return 1.0, found.meaning.replace("the loss", f"the loss ({name})") if name else found.meaning


def _tested_columns(data: ReportData) -> np.ndarray:
    """bool[p]: which columns the model tests; all for surrogates and for neighbours."""
    p = len(data.model.schema)
    if data.is_neighbors or data.model.missing == "surrogate":
        return np.ones(p, bool)
    return np.asarray(sizes_of(data.model).n_tests > 0)


def _rows(data: ReportData, options: Options, n_times: int) -> np.ndarray:
    """Rows to predict so many times: no more than take a bounded time."""
    most = min(options.rows, max(FEWEST_ROWS, int(MOST_WORK / (_work_of_row(data) * n_times))))
    return drawn(np.arange(data.n), most, options.random_state)


def _work_of_row(data: ReportData) -> float:
    """The work to predict one row, in units of a path through a tree."""
    model, p = data.model, len(data.model.schema)
    if not data.is_neighbors:
        return float(len(model.trees) + p / CELLS_PER_TREE)
    called = NUMBERS_PER_CALL if model.stored.metric.kind == CALLED else 1
    return float(model.n_rows * max(called, p / NUMBERS_PER_ROW))


def _to_shuffle(data: ReportData, tested: np.ndarray, impurity: np.ndarray | None) -> np.ndarray:
    """bool[p]: the columns that are shuffled, of those that the model tests."""
    times = REPEATS * _work_of_row(data)
    if impurity is None:
        return tested & (int(tested.sum()) * FEWEST_ROWS * times <= TOO_LONG * MOST_WORK)
    most = max(FEWEST_COLUMNS, int(MOST_WORK / (times * min(data.n, ROWS_TO_SHUFFLE))))
    among = np.zeros(len(tested), bool)
    among[np.lexsort((np.arange(len(tested)), -impurity, ~tested))[:most]] = True
    return among & tested


def _order(found: Importances | None, impurity: np.ndarray | None, p: int) -> list[int]:
    """The columns, the most important first."""
    values = np.zeros(p) if found is None else found.values
    shares = np.zeros(p) if impurity is None else impurity
    return np.lexsort((np.arange(p), -shares, -values)).tolist()


def _described(data: ReportData, at: int, cells: np.ndarray, groups: Groups | None) -> ColumnPart:
    """The description of one column, without importance and dependence."""
    column = data.model.schema.columns[at]
    here = ~np.isnan(cells)
    held, weights = cells[np.isfinite(cells)], data.weights[np.isfinite(cells)]
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
        missing=float(data.weights[~here].sum() / data.weights.sum()),
        low=low,
        high=high,
        mean=mean,
        sd=sd,
        quartiles=quartiles,
        spread=spread,
    )


def _in_words(column: Column, held: np.ndarray, low: float | None, high: float | None) -> str:
    """The values of a column, in a few words."""
    if column.left_out:
        return f"left out: {column.left_out}"
    if not len(held):
        return "no value"
    if column.kind != "numeric":
        n_known, n_levels = len(np.unique(held[held < len(column.levels)])), len(column.levels)
        return f"{n_known:,} of {counted(n_levels, 'level')}" if n_known < n_levels else counted(n_levels, "level")
    if low is None or high is None:
        return "no finite number"
    family, zone = clock_of(column)
    least, greatest = (written_days(end, family, zone) if family else amount(end) for end in (low, high))
    return f"{least} to {greatest}" if low < high else f"always {least}"


def _quantiles(values: np.ndarray, weights: np.ndarray, shares: tuple[float, ...]) -> tuple[float, ...]:
    """Weighted quantiles: the least value with at least the given share of the weight at or below it."""
    order = np.argsort(values, kind="stable")
    passed = np.cumsum(weights[order] / weights.max())
    places = np.searchsorted(passed, np.array(shares) * passed[-1] * (1.0 - 1e-12))
    return tuple(values[order[np.minimum(places, len(values) - 1)]].tolist())


def _dependence(data: ReportData, at: int, options: Options, n_columns: int) -> DependencePart | None:
    """The partial dependence on a column; None if no row has a value."""
    model = data.model
    column = model.schema.columns[at]
    cells = np.asarray(data.matrix[:, at], np.float64)
    known = cells[np.isfinite(cells)]
    if column.kind != "numeric":
        known = known[(known >= 0) & (known < len(column.levels))]
    if not len(known):
        return None
    if column.kind == "numeric":
        low, high = middle_range(known)
        known = known[(known >= low) & (known <= high)]
    axis = axis_of(data.model.schema, at, known)
    rows = _rows(data, options, n_columns * len(axis.values))
    codes: list[int] = []
    if data.is_classification:
        codes = list(default_labels(model, 0)) or [0]
        if len(codes) > MOST_CLASSES:
            codes = commonest_classes(data, MOST_CLASSES)
    name, labels = target_name(model, 0), labels_of(model, 0, codes)
    if codes:
        predicted = Predictor(model.task, name, labels, lambda cells: model.shares_of(cells)[0][:, codes])
    else:
        predicted = Predictor(model.task, name, labels, lambda cells: model.numbers_of(cells)[:, :1])
    n_lines = SINGLE_ROWS if len(codes) <= 1 else SINGLE_ROWS_OF_CLASSES
    lines = drawn(np.arange(len(rows)), n_lines, options.random_state, 1)
    found = dependence(predicted, data.matrix[rows], [axis], lines=lines, weights=data.weights[rows])
    return DependencePart(
        values=axis.values if axis.is_numeric else (),
        labels=() if axis.is_numeric else tuple(shorten(text, LABEL_WIDTH) for text in axis.texts),
        deciles=tuple(axis.deciles.tolist()),
        lines=tuple(_line(found, place, codes) for place in range(len(found.values))),
        n_rows=found.n_rows,
    )


def _line(found: PartialDependence, place: int, codes: list[int]) -> DependenceLine:
    """The means and the single rows of one class, or of the number."""
    rows = [tuple(float(f"{value:.{ROW_DIGITS}g}") for value in row) for row in found.individual[place].tolist()]
    name = shorten(found.titles[place], LABEL_WIDTH)
    return DependenceLine(name, codes[place] if codes else None, tuple(found.values[place].tolist()), tuple(rows))


@dataclass(frozen=True, eq=False)
class Groups:
    """The rows by their target."""

    names: tuple[str, ...]
    codes: tuple[int | None, ...]  # of the classes; None for all others together, and for regression
    place: np.ndarray  # int64[n]: which of them a row belongs to
    truth: np.ndarray | None  # float64[n], of a target of numbers
    weights: np.ndarray  # float64[n]


def groups_of(data: ReportData) -> Groups:
    """Return the rows grouped by the most frequent classes of the first output; for regression all in one group."""
    if not data.is_classification:
        return Groups(("rows",), (None,), np.zeros(data.n, np.int64), data.target[:, 0], data.weights)
    labels, target = data.model.classes[0].tolist(), data.target[:, 0].astype(np.int64)
    kept = commonest_classes(data, MOST_GROUPS)
    names = [shorten(written_level(labels[code]), LABEL_WIDTH) for code in kept]
    codes: list[int | None] = [*kept]
    place = np.full(len(labels), len(kept))
    place[kept] = np.arange(len(kept))
    if len(kept) < len(labels):
        names.append(f"{OTHER_CLASSES} ({len(labels) - len(kept)})")
        codes.append(None)
    return Groups(tuple(names), tuple(codes), place[target], None, data.weights)


def commonest_classes(data: ReportData, most: int) -> list[int]:
    """Return the classes with the most test rows, at most so many, in their order."""
    n = len(data.model.classes[0])
    held = np.bincount(data.target[:, 0].astype(np.int64), data.weights, minlength=n)
    return sorted(np.argsort(-held, kind="stable")[:most].tolist())


def spread_of(column: Column, cells: np.ndarray, groups: Groups) -> SpreadPart:
    """The distribution of a column, by class or with the mean of the target.

    Of the encoded ``cells``, nan is missing and the code after the last level an unseen level.
    """
    if column.kind != "numeric":
        return _of_levels(column, cells, groups)
    held = cells[np.isfinite(cells)]
    distinct = np.unique(held)
    if len(distinct) <= FEW_NUMBERS:
        digits = gap_digits(distinct, least=4).tolist()
        labels = [
            written_cut(value, clock_of(column), digits=n) for value, n in zip(distinct.tolist(), digits, strict=True)
        ]
        at = np.where(np.isfinite(cells), np.searchsorted(distinct, cells), len(distinct))
        return _counted(None, [*labels, MISSING], at, groups)
    low, high = middle_range(held)
    edges = edges_of(low, high, whole=bool((held == np.rint(held)).all()))
    n_cells = len(edges) - 1
    at = np.clip(np.searchsorted(edges, cells, side="right") - 1, 0, n_cells - 1)
    at[~np.isfinite(cells)] = n_cells
    spread = _counted(tuple(edges.tolist()), [""] * n_cells, at, groups)
    return replace(spread, n_beyond=int(((held < low) | (held > high)).sum()))


def edges_of(low: float, high: float, *, whole: bool) -> np.ndarray:
    """Return the edges of cells of equal width over a range; for whole numbers each cell holds equally many of them.

    Examples
    --------
    >>> edges_of(70.0, 82.0, whole=True)[[0, 1, -1]].tolist(), edges_of(0.0, 12.0, whole=False)[[0, 1, -1]].tolist()
    ([69.5, 70.5, 82.5], [0.0, 0.5, 12.0])
    """
    if whole and max(abs(low), abs(high)) < MOST_WHOLE:
        width = np.ceil((high - low + 1) / N_CELLS)
        return np.asarray(low - 0.5 + width * np.arange(np.ceil((high - low + 1) / width) + 1))
    share = np.linspace(0.0, 1.0, N_CELLS + 1)
    # Not low + share * (high - low): the difference may be beyond float64.
    edges = low * (1.0 - share) + high * share
    edges[0], edges[-1] = low, high
    return np.asarray(edges)


def middle_range(held: np.ndarray) -> tuple[float, float]:
    """The ends of an axis for finite numbers: for all of them, or without a few that lie far off.

    Examples
    --------
    >>> middle_range(np.arange(300.0)), middle_range(np.append(np.arange(300.0), 1e6))
    ((0.0, 299.0), (1.0, 299.0))
    """
    low, high = float(held.min()), float(held.max())
    inner, outer = np.quantile(held, (FAR_OFF, 1.0 - FAR_OFF), method="inverted_cdf").tolist()
    # Halves: the whole may be beyond float64.
    return (inner, outer) if inner < outer and high / 2 - low / 2 > SQUEEZED * (outer / 2 - inner / 2) else (low, high)


def _of_levels(column: Column, cells: np.ndarray, groups: Groups) -> SpreadPart:
    """A bar for each of the most frequent levels; the other levels and missing cells at the end."""
    n_levels = len(column.levels)
    missing = np.isnan(cells)
    codes = np.where(missing, n_levels, cells).astype(np.int64)
    held = np.bincount(codes, groups.weights, minlength=n_levels + 1)[:n_levels]
    shown = np.argsort(-held, kind="stable")[:MOST_LEVELS]
    shown = shown[held[shown] > 0]
    if column.kind == "ordinal":
        shown = np.sort(shown)
    place = np.full(n_levels + 1, len(shown))
    place[shown] = np.arange(len(shown))
    place[n_levels] = len(shown) + 1
    at = place[codes]
    at[missing] = len(shown) + 2
    labels = [shorten(written_level(column.levels[code]), LABEL_WIDTH) for code in shown.tolist()]
    n_others = int((held > 0).sum()) - len(shown)
    return _counted(None, [*labels, f"{OTHERS} ({n_others})" if n_others else OTHERS, UNSEEN, MISSING], at, groups)


def _counted(edges: tuple[float, ...] | None, labels: list[str], at: np.ndarray, groups: Groups) -> SpreadPart:
    """The weight of the rows in each cell; cells of levels without rows (others, missing) are left out.

    With edges, rows beyond the last cell, which are missing, do not count.
    """
    n_cells = len(labels)
    inside = at < n_cells
    at, place, weights = at[inside], groups.place[inside], groups.weights[inside]
    parts = np.zeros((len(groups.names), n_cells))
    np.add.at(parts, (place, at), weights)
    kept = np.arange(n_cells) if edges is not None else np.flatnonzero(parts.sum(axis=0) > 0)
    means: tuple[float | None, ...] | None = None
    errors: tuple[float | None, ...] | None = None
    if groups.truth is not None:
        pairs = [_mean_in(groups.truth[inside][at == cell], weights[at == cell]) for cell in kept.tolist()]
        means, errors = tuple(mean for mean, _ in pairs), tuple(error for _, error in pairs)
    return SpreadPart(
        edges=edges,
        labels=() if edges is not None else tuple(labels[cell] for cell in kept.tolist()),
        names=groups.names,
        codes=groups.codes,
        parts=tuple(tuple(part[kept].tolist()) for part in parts),
        means=means,
        errors=errors,
    )


def _mean_in(truth: np.ndarray, weights: np.ndarray) -> tuple[float | None, float | None]:
    """The weighted mean of some targets, and its standard error by the effective number of rows (Kish 1965).

    None if there are too few.
    """
    if not len(truth):
        return None, None
    mean, sd = mean_and_sd(truth, weights)
    return mean, None if len(truth) < FEWEST_FOR_ERROR else sd / float(np.sqrt(rows_worth(len(truth), weights)))


def mean_and_sd(values: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return the weighted mean and the standard deviation (with n - 1) of finite numbers; 0 for a single one.

    Examples
    --------
    >>> mean_and_sd(np.array([1.0, 3.0]), np.ones(2))
    (2.0, 1.4142135623730951)
    """
    # Sums and squares of numbers near the end of float64 overflow; powers of two change no digit.
    exponent = int(np.frexp(np.abs(values).max())[1])
    small, share = np.ldexp(values, -exponent), weights / weights.max()
    share = share / share.sum()
    mean = float((small * share).sum())
    n = len(values)
    variance = float((np.square(small - mean) * share).sum()) * n / (n - 1) if n > 1 else 0.0
    with np.errstate(over="ignore"):
        return float(np.ldexp(mean, exponent)), float(np.ldexp(np.sqrt(variance), exponent))
