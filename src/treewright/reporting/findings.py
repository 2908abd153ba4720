"""What looks wrong about the table. In: judged rows. Out: ``Finding``. Caller: reporting.summary.

Only what can be told from the rows at hand and the model is told. What compares rows with one another, or with those
of the fit, stands in ``findings_rows``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treewright.data.cells import LARGEST_WHOLE
from treewright.data.schema import Column
from treewright.data.target import Labels, Numbers
from treewright.learn.suspicions import equals_target
from treewright.model.summary import counted
from treewright.page.parts_columns import Finding
from treewright.reporting.column_spread import mean_and_sd
from treewright.reporting.finding_words import NAME_WIDTH, listed, name_of
from treewright.reporting.findings_rows import findings_of_rows
from treewright.reporting.judged import Judged
from treewright.reporting.unseen import cells_of, unseen_levels
from treewright.tree.writing import shorten, written_level

# In a table of a few rows a column equals the target, or differs in every row, by chance.
FEWEST_ROWS = 25
FEWEST_OF_CLASS = 5
NEARLY_ALL = 0.95
# A column by itself: so few errors, and so few of those without it; rows that a group of its values has on average.
ALMOST_PERFECT, OF_BASELINE, ROWS_PER_GROUP, MOST_GROUPS = 0.01, 0.1, 10, 50


Cells = list[tuple[Column, np.ndarray]]


def findings_of(judged: Judged) -> tuple[Finding, ...]:
    """Return what a reader should look at, what is serious first."""
    unseen = unseen_levels(judged)
    columns = [(column, cells_of(judged, at, unseen)) for at, column in enumerate(judged.model.schema.columns)]
    found = [
        *_of_target(judged, columns),
        *_of_values(judged, columns),
        *_of_classes(judged),
        *findings_of_rows(judged, unseen),
    ]
    return tuple(sorted(found, key=lambda finding: not finding.serious))


def _about(kind: str, columns: Sequence[Column], one: str, many: str, advice: str, *, serious: bool) -> list[Finding]:
    """A finding about columns, where there are some: ``one`` follows a single name, ``many`` several."""
    if not columns:
        return []
    names = tuple(map(name_of, columns))
    said = f"Column {names[0]} {one}." if len(names) == 1 else f"{len(names)} columns {many}: {listed(names)}."
    return [Finding(kind, serious, names, len(names), said, advice)]


def _of_target(judged: Judged, columns: Cells) -> list[Finding]:
    """Columns that hold the target, or tell it."""
    if judged.n < FEWEST_ROWS or (judged.target[:, 0] == judged.target[0, 0]).all():
        return []
    target: Labels | Numbers
    if judged.is_classification:
        target = Labels(judged.target, judged.model.classes, (), flat=True)
    else:
        target = Numbers(judged.target, (), flat=True)
    same, telling = [], []
    for column, cells in columns:
        if equals_target(column, cells, target):
            same.append(column)
        elif _tells(column, cells, judged):
            telling.append(column)
    what = f"{100 * (1 - ALMOST_PERFECT):g} %"
    of_what = (
        f"predicts {what} of the rows" if judged.is_classification else f"explains {what} of the target's variance"
    )
    each = f"predict {what} of the rows" if judged.is_classification else f"explain {what} of the target's variance"
    return [
        *_about(
            "equals the target", same, "equals the target in every row", "equal the target in every row",
            "Leave it out and fit again, unless it is known at the time of a prediction.", serious=True,
        ),
        *_about(
            "tells the target", telling, f"by itself {of_what} or more", f"by themselves {each} or more",
            "Ask whether it is known at the time of a prediction, or made from the target.", serious=True,
        ),
    ]  # fmt: skip


def _tells(column: Column, cells: np.ndarray, judged: Judged) -> bool:
    """Whether the groups of a column's values predict the target almost without errors.

    Groups are levels or, of numbers, up to fifty parts with as many rows; they have ten rows and more on average, so
    that they cannot do so by chance.
    """
    place, n_groups = _groups(column, cells)
    if n_groups < 2 or judged.n < ROWS_PER_GROUP * n_groups:
        return False
    weights = judged.weights
    if judged.is_classification:
        codes = judged.target[:, 0].astype(np.int64)
        held = np.zeros((n_groups, int(codes.max()) + 1))
        np.add.at(held, (place, codes), weights)
        whole = held.sum()
        wrong, before = 1.0 - held.max(axis=1).sum() / whole, 1.0 - held.sum(axis=0).max() / whole
        return bool(wrong <= ALMOST_PERFECT and wrong <= OF_BASELINE * before)
    truth = judged.target[:, 0]
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


def _of_values(judged: Judged, columns: Cells) -> list[Finding]:
    """Columns without values, with one value, or with another one in each row."""
    empty: list[Column] = []
    nearly, constant, own, numbered = list(empty), list(empty), list(empty), list(empty)
    n_fit = int(judged.model.facts.get("n_samples", 0))
    for column, cells in columns:
        missing = np.isnan(cells)
        share = judged.weights[missing].sum() / judged.weights.sum()
        held = cells[~missing]
        n_distinct = len(np.unique(held))
        if not len(held):
            empty.append(column)
        elif share >= NEARLY_ALL:
            nearly.append(column)
        elif n_distinct == 1 and judged.n > 1 and not (held == _unseen_code(column)).any():
            constant.append(column)
        elif _is_own(column, held, n_distinct, n_fit):
            (numbered if column.kind == "numeric" else own).append(column)
    return [
        *_about(
            "nothing there", empty, "holds no value in any row", "hold no value in any row",
            "Leave it out, or find out why it was not filled.", serious=False,
        ),
        *_about(
            "nearly nothing there", nearly, f"is missing in {100 * NEARLY_ALL:g} % of the rows or more",
            f"are missing in {100 * NEARLY_ALL:g} % of the rows or more",
            "What a test on it says rests on few rows; find out why it was not filled.", serious=False,
        ),
        *_about(
            "constant", constant, "holds one value in all rows", "hold one value in all rows",
            "It cannot tell rows apart: leave it out.", serious=False,
        ),
        *_about(
            "identifier", own, "has another level in every row, as an identifier has",
            "have another level in every row, as identifiers have",
            "It says nothing about other rows: leave it out.", serious=True,
        ),
        *_about(
            "numbered rows", numbered, "holds another whole number in every row; it may be an identifier",
            "hold another whole number in every row; they may be identifiers",
            "If it is one, leave it out: a cut through identifiers means nothing for other rows.", serious=False,
        ),
    ]  # fmt: skip


def _unseen_code(column: Column) -> float:
    """The code of levels that the fit never saw, which may be several; no number has it."""
    return np.nan if column.kind == "numeric" else float(len(column.levels))


def _is_own(column: Column, held: np.ndarray, n_distinct: int, n_fit: int) -> bool:
    """Whether each row has a value of its own: a whole number, or a level."""
    if column.kind == "numeric":
        is_whole = bool((np.abs(held) <= LARGEST_WHOLE).all() and (held == np.rint(held)).all())
        return is_whole and len(held) >= FEWEST_ROWS and n_distinct == len(held)
    if column.declared or column.kind == "ordinal":
        return False
    of_fit = len(column.levels) >= max(FEWEST_ROWS, n_fit)
    return of_fit or (len(held) >= FEWEST_ROWS and n_distinct == len(held))


def _of_classes(judged: Judged) -> list[Finding]:
    """Classes that too few rows judge."""
    if not judged.is_classification:
        return []
    labels = judged.model.classes[0].tolist()
    counts = np.bincount(judged.target[:, 0].astype(np.int64), minlength=len(labels))
    few = np.flatnonzero(counts < FEWEST_OF_CLASS).tolist()
    if not few:
        return []
    told = [f"{shorten(written_level(labels[code]), NAME_WIDTH)} ({counts[code]})" for code in few]
    text = f"{counted(len(few), 'class', 'classes')} with fewer than {FEWEST_OF_CLASS} judged rows: {listed(told)}."
    advice = "Numbers about such a class are hardly more than chance: judge on more rows, or put classes together."
    return [Finding("few rows of a class", False, (), len(few), text, advice)]
