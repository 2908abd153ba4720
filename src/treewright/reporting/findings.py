"""What looks wrong about the table: its target, its columns, its rows, and the training rows if they are kept.

Findings rest only on the given rows and the model.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treewright.data.cells import LARGEST_WHOLE
from treewright.data.schema import Column
from treewright.data.target import Labels, Numbers
from treewright.evaluation.scores import r_squared
from treewright.evaluation.verdict import reason_of, verdict
from treewright.learn.data_checks import equals_target
from treewright.reporting.columns import mean_and_sd
from treewright.reporting.data import ReportData, cells_of, kept_rows
from treewright.show.page.parts import Finding
from treewright.trees.summary import counted, n_named
from treewright.trees.writing import shorten, written_level, written_name

# In a table of a few rows a column equals the target, or differs in every row, by chance.
FEWEST_ROWS = 25
FEWEST_OF_CLASS = 5
NEARLY_ALL = 0.95
# A column by itself: largest error rate, and share of the error without it; rows per group of its values on average.
ALMOST_PERFECT, OF_BASELINE, ROWS_PER_GROUP, MOST_GROUPS = 0.01, 0.1, 10, 50
Cells = list[tuple[Column, np.ndarray]]
# Whole rows are compared up to so many: with more, sorting them takes longer than the rest of the page.
MOST_ROWS = 200_000
MANY, SOME = 0.1, 0.01
# If fewer than this share of the training rows are duplicates, rows that are in both tables are not due to chance.
RARE = 0.02
# Of n + 1 other rows from the source of n rows two lie beyond them on average; so many times as many are not chance.
BEYOND_CHANCE, FEWEST_BEYOND = 4, 3
MOST_NAMED, NAME_WIDTH = 6, 40


def findings_of(data: ReportData) -> tuple[Finding, ...]:
    """Return what a reader should look at, serious findings first."""
    columns = [(column, cells_of(data, at)) for at, column in enumerate(data.model.schema.columns)]
    found = [
        *_of_target(data, columns),
        *_of_values(data, columns),
        *_no_better(data),
        *_unknown_classes(data),
        *_of_classes(data),
        *findings_of_rows(data),
    ]
    return tuple(sorted(found, key=lambda finding: not finding.serious))


def _about(kind: str, columns: Sequence[Column], one: str, many: str, advice: str, *, serious: bool) -> list[Finding]:
    """A finding about columns, if there are any: ``one`` follows a single name, ``many`` several."""
    if not columns:
        return []
    names = tuple(map(name_of, columns))
    text = f"Column {names[0]} {one}." if len(names) == 1 else f"{len(names)} columns {many}: {listed(names)}."
    return [Finding(kind, serious, names, len(names), text, advice)]


def _of_target(data: ReportData, columns: Cells) -> list[Finding]:
    """Columns that equal the target, or almost determine it."""
    if data.n < FEWEST_ROWS or (data.target[:, 0] == data.target[0, 0]).all():
        return []
    target: Labels | Numbers
    if data.is_classification:
        target = Labels(data.target, data.model.classes, (), flat=True)
    else:
        target = Numbers(data.target, (), flat=True)
    same, telling = [], []
    for column, cells in columns:
        if equals_target(column, cells, target):
            same.append(column)
        elif _tells(column, cells, data):
            telling.append(column)
    what = f"{100 * (1 - ALMOST_PERFECT):g} %"
    of_what = f"predicts {what} of the rows" if data.is_classification else f"explains {what} of the target's variance"
    each = f"predict {what} of the rows" if data.is_classification else f"explain {what} of the target's variance"
    return [
        *_about(
            "equals the target", same, "equals the target in every row", "equal the target in every row",
            "Leave it out and fit again, unless it is known at the time of a prediction.", serious=True,
        ),
        *_about(
            "tells the target", telling, f"by itself {of_what} or more", f"by themselves {each} or more",
            "Check whether it is known at the time of a prediction, or made from the target.", serious=True,
        ),
    ]  # fmt: skip


def _tells(column: Column, cells: np.ndarray, data: ReportData) -> bool:
    """Whether the groups of a column's values predict the target almost without errors.

    Groups are levels or, for numbers, up to fifty parts with equally many rows; they have at least ten rows on average,
    so that this cannot be chance.
    """
    place, n_groups = _groups(column, cells)
    if n_groups < 2 or data.n < ROWS_PER_GROUP * n_groups:
        return False
    weights = data.weights
    if data.is_classification:
        codes = data.target[:, 0].astype(np.int64)
        held = np.zeros((n_groups, int(codes.max()) + 1))
        np.add.at(held, (place, codes), weights)
        whole = held.sum()
        wrong, before = 1.0 - held.max(axis=1).sum() / whole, 1.0 - held.sum(axis=0).max() / whole
        return bool(wrong <= ALMOST_PERFECT and wrong <= OF_BASELINE * before)
    truth = data.target[:, 0]
    mean, sd = mean_and_sd(truth, weights)
    if not sd > 0 or not np.isfinite(sd):
        return False
    units = truth / sd - mean / sd
    sums, held_weight = np.bincount(place, units * weights, n_groups), np.bincount(place, weights, n_groups)
    means = np.divide(sums, held_weight, out=np.zeros(n_groups), where=held_weight > 0)
    left = np.average(np.square(units - means[place]), weights=weights) / np.average(np.square(units), weights=weights)
    return bool(left <= ALMOST_PERFECT)


def _groups(column: Column, cells: np.ndarray) -> tuple[np.ndarray, int]:
    """int64[n]: a number for each row's level or part of the numbers, and how many there are; missing cells are one."""
    missing = ~np.isfinite(cells)
    held = cells[~missing]
    distinct = np.unique(held)
    if column.kind != "numeric" or len(distinct) <= MOST_GROUPS:
        place = np.searchsorted(distinct, cells)
        n_groups = len(distinct)
    else:
        most = min(MOST_GROUPS, len(cells) // ROWS_PER_GROUP)
        if most < 2:
            return np.zeros(len(cells), np.int64), 1
        cuts = np.unique(np.quantile(held, np.arange(1, most) / most, method="inverted_cdf"))
        place, n_groups = np.searchsorted(cuts, cells, side="left"), len(cuts) + 1
    place = np.where(missing, n_groups, place)
    return place, n_groups + int(missing.any())


def _of_values(data: ReportData, columns: Cells) -> list[Finding]:
    """Columns without values, with one value, or with a different one in each row."""
    empty: list[Column] = []
    nearly, constant, own, numbered = list(empty), list(empty), list(empty), list(empty)
    n_fit = int(data.model.facts.get("n_samples", 0))
    for column, cells in columns:
        if column.left_out:
            continue
        missing = np.isnan(cells)
        share = data.weights[missing].sum() / data.weights.sum()
        held = cells[~missing]
        n_distinct = len(np.unique(held))
        if not len(held):
            empty.append(column)
        elif share >= NEARLY_ALL:
            nearly.append(column)
        elif n_distinct == 1 and data.n > 1 and not (column.kind != "numeric" and (held == len(column.levels)).any()):
            constant.append(column)
        elif _is_own(column, held, n_distinct, n_fit):
            (numbered if column.kind == "numeric" else own).append(column)
    return [
        *_left_out(data.model.schema.columns),
        *_about(
            "nothing there", empty, "has no value in any row", "have no value in any row",
            "Leave it out, or find out why it was not filled.", serious=False,
        ),
        *_about(
            "nearly nothing there", nearly, f"is missing in {100 * NEARLY_ALL:g} % of the rows or more",
            f"are missing in {100 * NEARLY_ALL:g} % of the rows or more",
            "A test on it rests on few rows; find out why it was not filled.", serious=False,
        ),
        *_about(
            "constant", constant, "has the same value in all rows", "have the same value in all rows",
            "It cannot split rows: leave it out.", serious=False,
        ),
        *_about(
            "identifier", own, "has a different level in every row, like an identifier",
            "have a different level in every row, like identifiers",
            "It carries no information about other rows: leave it out.", serious=True,
        ),
        *_about(
            "numbered rows", numbered, "has a different whole number in every row; it may be an identifier",
            "have a different whole number in every row; they may be identifiers",
            "If it is one, leave it out: a cut through identifiers means nothing for other rows.", serious=False,
        ),
    ]  # fmt: skip


def _left_out(columns: Sequence[Column]) -> list[Finding]:
    """Columns that are left out of the model."""
    gone = [column for column in columns if column.left_out]
    if not gone:
        return []
    names = tuple(map(name_of, gone))
    described = listed([f"{name} ({column.left_out})" for name, column in zip(names, gone, strict=True)])
    text = f"{counted(len(gone), 'column')} left out of the model: {described}."
    advice = (
        "Such values identify rows and carry no information about new rows. To keep a column, declare it nominal or "
        "numeric and fit again."
    )
    return [Finding("left out", False, names, len(names), text, advice)]


def _is_own(column: Column, held: np.ndarray, n_distinct: int, n_fit: int) -> bool:
    """Whether each row has a value of its own: a whole number, or a level."""
    if column.kind == "numeric":
        is_whole = bool((np.abs(held) <= LARGEST_WHOLE).all() and (held == np.rint(held)).all())
        return is_whole and len(held) >= FEWEST_ROWS and n_distinct == len(held)
    if column.declared or column.kind == "ordinal":
        return False
    of_fit = len(column.levels) >= max(FEWEST_ROWS, n_fit)
    return of_fit or (len(held) >= FEWEST_ROWS and n_distinct == len(held))


def _of_classes(data: ReportData) -> list[Finding]:
    """Classes with too few test rows."""
    if not data.is_classification:
        return []
    labels = data.model.classes[0].tolist()
    counts = np.bincount(data.target[:, 0].astype(np.int64), minlength=len(labels))
    few = np.flatnonzero(counts < FEWEST_OF_CLASS).tolist()
    if not few:
        return []
    described = [f"{shorten(written_level(labels[code]), NAME_WIDTH)} ({counts[code]})" for code in few]
    text = f"{counted(len(few), 'class', 'classes')} with fewer than {FEWEST_OF_CLASS} test rows: {listed(described)}."
    advice = "Measures of such a class are mostly chance: evaluate on more rows, or merge classes."
    return [Finding("few rows of a class", False, (), len(few), text, advice)]


def _no_better(data: ReportData) -> list[Finding]:
    """Whether the model predicts no better than one prediction for all rows."""
    truth, weights = data.target[:, 0], data.weights
    if data.target.shape[1] > 1 or data.n < FEWEST_ROWS or data.model.threshold is not None:
        return []  # a threshold lowers the accuracy on purpose
    if data.is_classification:
        score = float(np.average(data.codes[:, 0] == truth, weights=weights))
        constant = float(np.bincount(truth.astype(np.int64), weights).max() / weights.sum())
    elif data.numbers.shape[1] > 1:
        return []
    else:
        score, constant = r_squared(truth, data.numbers[:, 0], weights), 0.0
    found = verdict(score, constant, is_classification=data.is_classification)
    if not found:
        return []
    reason = reason_of(data.model, constant)
    text, advice = f"The model is {found}.", f"{reason[0].upper()}{reason[1:]}."
    return [Finding("no better than one answer", True, (), data.n, text, advice)]


def _unknown_classes(data: ReportData) -> list[Finding]:
    """Classes without training rows: the model is wrong about every row of them."""
    if not data.unknown:
        return []
    n = sum(count for _, count in data.unknown)
    described = [f"{shorten(label, NAME_WIDTH)} ({count})" for label, count in data.unknown]
    classes = counted(len(data.unknown), "class", "classes")
    text = f"{counted(n, 'row')} of {classes} without training rows: {listed(described)}. They are not evaluated here."
    advice = (
        "The model predicts all of them wrong. Fit on rows of the class, merge it with another one, or leave its rows "
        "out."
    )
    return [Finding("unknown classes", True, (), n, text, advice)]


def findings_of_rows(data: ReportData) -> list[Finding]:
    """Return findings about cells unlike the training rows, and about duplicate rows and columns."""
    return [
        *_unseen_levels(data),
        *_new_missing(data),
        *_of_fit(data),
        *_twins(data),
        *_same_columns(data),
    ]


def _unseen_levels(data: ReportData) -> list[Finding]:
    """Levels without training rows; serious if most cells of a column hold them."""
    if not data.unseen:
        return []
    names, described, total = [], [], 0
    most = [at for at, found in data.unseen.items() if found.is_most]
    for at in [*most, *(at for at in data.unseen if at not in most)]:
        found = data.unseen[at]
        names.append(name_of(data.model.schema.columns[at]))
        n = int(found.rows.sum())
        total += n
        rows = f"{n:,} of {data.n:,} rows" if at in most else counted(n, "row")
        described.append(f"{names[-1]} ({rows}: {listed([shorten(level, NAME_WIDTH) for level in found.levels])})")
    text = f"Levels without training rows: {listed(described)}."
    advice = "The model cannot know what they mean: check whether they are misspelt, or fit on rows that have them."
    if most:
        advice = "The model knows nothing about most of these cells: check whether the levels are written as at fit."
    return [Finding("unseen levels", bool(most), tuple(names), total, text, advice)]


def _new_missing(data: ReportData) -> list[Finding]:
    """Columns with missing cells that had none in the training rows."""
    names, described, total = [], [], 0
    for at, column in enumerate(data.model.schema.columns):
        # In a column of levels nan may be an unseen level: that is another finding.
        n_missing = int(np.isnan(data.matrix[:, at]).sum()) if column.kind == "numeric" else 0
        if n_missing and not column.missing_seen:
            names.append(name_of(column))
            described.append(f"{names[-1]} ({counted(n_missing, 'row')})")
            total += n_missing
    if not names:
        return []
    text = f"Missing cells in columns that had none in the training rows: {listed(described)}."
    advice = (
        "The branch that they follow was not learned: fit on rows with missing cells too, or find out where they come "
        "from."
    )
    return [Finding("new missing cells", False, tuple(names), total, text, advice)]


def rows_of_fit(data: ReportData) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the training rows and their target, if the estimator kept them; single trees do, up to 32 MB."""
    kept = kept_rows(data.estimator)
    if kept is None or data.seen is not False:
        return None
    matrix, target = np.asarray(kept.matrix, np.float64), kept.target[0]
    same = matrix.shape[1] == data.matrix.shape[1] and target.shape[1] == data.target.shape[1]
    return (matrix, target) if same and len(matrix) else None


def _of_fit(data: ReportData) -> list[Finding]:
    """Numbers beyond those of the training rows, and test rows that are training rows."""
    fitted = rows_of_fit(data)
    if fitted is None:
        return []
    matrix, target = fitted
    found, names, described, beyond = [], [], [], np.zeros(data.n, bool)
    for at, column in enumerate(data.model.schema.columns):
        held = matrix[~np.isnan(matrix[:, at]), at]
        if column.kind != "numeric" or not len(held):
            continue
        outside = (data.matrix[:, at] < held.min()) | (data.matrix[:, at] > held.max())
        by_chance = 2 / (len(held) + 1)
        if outside.sum() >= FEWEST_BEYOND and outside.mean() >= max(SOME, BEYOND_CHANCE * by_chance):
            names.append(name_of(column))
            described.append(f"{names[-1]} ({counted(int(outside.sum()), 'row')})")
            beyond |= outside
    if names:
        text = f"Numbers below the lowest or above the highest of the training rows: {listed(described)}."
        advice = "Beyond its last cut a tree predicts a constant: it does not follow a trend there."
        found.append(Finding("beyond the fit", False, tuple(names), int(beyond.sum()), text, advice))
    if max(data.n, len(matrix)) <= MOST_ROWS:
        found += _seen_rows(data, matrix, target)
    return found


def _seen_rows(data: ReportData, matrix: np.ndarray, target: np.ndarray) -> list[Finding]:
    """Test rows that are training rows too, if rows are seldom equal by chance."""
    own, fitted = _keys(data.matrix, data.target), _keys(matrix, target)
    if 1.0 - len(np.unique(fitted)) / len(fitted) > RARE:
        return []
    n = int(np.isin(own, fitted).sum())
    if n < max(2, SOME * data.n):
        return []
    text = f"{counted(n, 'test row')} of {data.n:,} are, with the same target, among the training rows."
    advice = "Errors on them are too low: remove them from the test rows."
    return [Finding("rows of the fit", True, (), n, text, advice)]


def _twins(data: ReportData) -> list[Finding]:
    """Rows with the same cells: many of them, or with different classes."""
    if not FEWEST_ROWS <= data.n <= MOST_ROWS:
        return []
    found = []
    _, place = np.unique(_keys(data.matrix), return_inverse=True)
    place = place.ravel()
    n_groups = int(place.max()) + 1
    if data.is_classification:
        codes = data.target[:, 0].astype(np.int64)
        pairs, first = np.unique(place * len(data.model.classes[0]) + codes, return_inverse=True)
        weight = np.bincount(first.ravel(), data.weights)
        most = np.zeros(n_groups)
        np.maximum.at(most, pairs // len(data.model.classes[0]), weight)
        least = 1.0 - float(most.sum() / data.weights.sum())
        if least >= SOME:
            text = (
                f"Rows with the same cells have different classes: any model predicts at least {100 * least:.1f} % of "
                "these rows wrong."
            )
            advice = "More or finer columns are needed to tell these rows apart."
            n = int((np.bincount(place) > 1)[place].sum())
            found.append(Finding("same cells, other class", False, (), n, text, advice))
    n_twice = data.n - n_groups
    if n_twice >= MANY * data.n:
        text = f"{counted(n_twice, 'row')} of {data.n:,} have the same cells as another row before them."
        advice = "If they are copies by mistake, remove them: with copies in different folds, errors are too low."
        found.append(Finding("duplicate rows", False, (), n_twice, text, advice))
    return found


def _same_columns(data: ReportData) -> list[Finding]:
    """Columns that hold the same cells."""
    if data.n < FEWEST_ROWS:
        return []
    first: dict[tuple[str, bytes], str] = {}
    names, described = [], []
    for at, column in enumerate(data.model.schema.columns):
        cells = _plain(data.matrix[:, at])
        if (cells == cells[0]).all() or np.isnan(cells).all():
            continue
        kind = "numeric" if column.kind == "numeric" else repr(column.levels)
        other = first.setdefault((kind, cells.tobytes()), name_of(column))
        if other != name_of(column):
            names.append(name_of(column))
            described.append(f"{name_of(column)} as {other}")
    if not names:
        return []
    text = f"Columns with the same cells as another one: {listed(described)}."
    advice = "Leave one of each pair out: shuffling one alone shows too little importance, since the other remains."
    return [Finding("same column twice", False, tuple(names), len(names), text, advice)]


def _plain(cells: np.ndarray) -> np.ndarray:
    """float64 without a second way to write 0 or nan."""
    values = np.array(cells, np.float64) + 0.0
    values[np.isnan(values)] = np.nan
    return values


def _keys(*parts: np.ndarray) -> np.ndarray:
    """One comparable value for each row."""
    rows = np.ascontiguousarray(np.concatenate([_plain(part) for part in parts], axis=1))
    return rows.view(np.dtype((np.void, rows.shape[1] * rows.itemsize))).ravel()


def name_of(column: Column) -> str:
    """Return the name of a column as text, shortened."""
    return shorten(written_name(column.name), NAME_WIDTH)


def listed(texts: Sequence[str]) -> str:
    """Return some texts as a list, cut if it would be long.

    Examples
    --------
    >>> listed(["a", "b"]), listed(list("abcdefgh"))
    ('a, b', 'a, b, c, d, e, f and 2 more')
    """
    most = n_named(len(texts), MOST_NAMED)
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more
