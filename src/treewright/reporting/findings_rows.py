"""What looks wrong about rows. In: judged rows, those of the fit where they are kept. Out: ``Finding``.

Caller: reporting.findings.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.model.summary import counted
from treewright.page.parts_columns import Finding
from treewright.reporting.finding_words import NAME_WIDTH, listed, name_of
from treewright.reporting.judged import Judged
from treewright.reporting.unseen import UnseenLevels
from treewright.tree.writing import shorten

# Rows are compared as wholes up to so many: beyond, sorting them takes longer than the rest of the page.
MOST_ROWS = 200_000
MANY, SOME = 0.1, 0.01
FEWEST_ROWS = 25
# Where less than this part of the rows of the fit stands there twice, rows that stand in both tables are no chance.
RARE = 0.02
# Of n rows of one source two in n + 1 others lie beyond by chance, on average; so many times as many are no chance.
BEYOND_CHANCE, FEWEST_BEYOND = 4, 3


def findings_of_rows(judged: Judged, unseen: dict[int, UnseenLevels]) -> list[Finding]:
    """Return what is wrong with cells that the fit never saw, and with rows that stand there twice."""
    return [
        *_unseen_levels(judged, unseen),
        *_new_missing(judged),
        *_of_fit(judged),
        *_twins(judged),
        *_same_columns(judged),
    ]


def _unseen_levels(judged: Judged, unseen: dict[int, UnseenLevels]) -> list[Finding]:
    """Levels that the fit never saw."""
    if not unseen:
        return []
    names, told, total = [], [], 0
    for at, found in unseen.items():
        names.append(name_of(judged.model.schema.columns[at]))
        n = int(found.rows.sum())
        total += n
        told.append(
            f"{names[-1]} ({counted(n, 'row')}: {listed([shorten(level, NAME_WIDTH) for level in found.levels])})"
        )
    text = f"Levels that the fit never saw: {listed(told)}."
    advice = "The model cannot know what they mean; see whether they are misspelt, or fit on rows that have them."
    return [Finding("unseen levels", False, tuple(names), total, text, advice)]


def _new_missing(judged: Judged) -> list[Finding]:
    """Columns with missing cells that had none at the fit."""
    names, told, total = [], [], 0
    for at, column in enumerate(judged.model.schema.columns):
        # Of levels a cell that is nan may be one that the fit never saw: that is another finding.
        n_missing = int(np.isnan(judged.matrix[:, at]).sum()) if column.kind == "numeric" else 0
        if n_missing and not column.missing_seen:
            names.append(name_of(column))
            told.append(f"{names[-1]} ({counted(n_missing, 'row')})")
            total += n_missing
    if not names:
        return []
    text = f"Missing cells in columns that had none at the fit: {listed(told)}."
    advice = (
        "Where such rows go was not learned: fit on rows that have missing cells too, or find out where they come from."
    )
    return [Finding("new missing cells", False, tuple(names), total, text, advice)]


def rows_of_fit(judged: Judged) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the rows of the fit and their target, where the estimator kept them; single trees do, up to 32 MB."""
    kept: Any = getattr(judged.estimator, "__dict__", {}).get("_rows")
    if kept is None or judged.seen is not False:
        return None
    matrix, target = np.asarray(kept.matrix, np.float64), kept.target[0]
    same = matrix.shape[1] == judged.matrix.shape[1] and target.shape[1] == judged.target.shape[1]
    return (matrix, target) if same and len(matrix) else None


def _of_fit(judged: Judged) -> list[Finding]:
    """Numbers beyond those of the fit, and rows that the fit saw."""
    fitted = rows_of_fit(judged)
    if fitted is None:
        return []
    matrix, target = fitted
    found, names, told, beyond = [], [], [], np.zeros(judged.n, bool)
    for at, column in enumerate(judged.model.schema.columns):
        held = matrix[~np.isnan(matrix[:, at]), at]
        if column.kind != "numeric" or not len(held):
            continue
        outside = (judged.matrix[:, at] < held.min()) | (judged.matrix[:, at] > held.max())
        by_chance = 2 / (len(held) + 1)
        if outside.sum() >= FEWEST_BEYOND and outside.mean() >= max(SOME, BEYOND_CHANCE * by_chance):
            names.append(name_of(column))
            told.append(f"{names[-1]} ({counted(int(outside.sum()), 'row')})")
            beyond |= outside
    if names:
        text = f"Numbers below the least or above the greatest of the fit: {listed(told)}."
        advice = "A tree says beyond its last cut what it says at it: there it does not follow a trend."
        found.append(Finding("beyond the fit", False, tuple(names), int(beyond.sum()), text, advice))
    if max(judged.n, len(matrix)) <= MOST_ROWS:
        found += _seen_rows(judged, matrix, target)
    return found


def _seen_rows(judged: Judged, matrix: np.ndarray, target: np.ndarray) -> list[Finding]:
    """Judged rows that the fit saw too, where rows are seldom equal by chance."""
    own, fitted = _keys(judged.matrix, judged.target), _keys(matrix, target)
    if 1.0 - len(np.unique(fitted)) / len(fitted) > RARE:
        return []
    n = int(np.isin(own, fitted).sum())
    if n < max(2, SOME * judged.n):
        return []
    text = f"{counted(n, 'judged row')} of {judged.n:,} stand, with the same target, among the rows of the fit."
    advice = "Errors on them flatter the model: take them out of the judged rows."
    return [Finding("rows of the fit", True, (), n, text, advice)]


def _twins(judged: Judged) -> list[Finding]:
    """Rows with the same cells: many of them, or with different classes."""
    if not FEWEST_ROWS <= judged.n <= MOST_ROWS:
        return []
    found = []
    _, place = np.unique(_keys(judged.matrix), return_inverse=True)
    place = place.ravel()
    n_groups = int(place.max()) + 1
    if judged.is_classification:
        codes = judged.target[:, 0].astype(np.int64)
        pairs, first = np.unique(place * len(judged.model.classes[0]) + codes, return_inverse=True)
        weight = np.bincount(first.ravel(), judged.weights)
        most = np.zeros(n_groups)
        np.maximum.at(most, pairs // len(judged.model.classes[0]), weight)
        least = 1.0 - float(most.sum() / judged.weights.sum())
        if least >= SOME:
            text = (
                f"Rows with the same cells have different classes: whatever the model, at least {100 * least:.1f} % of "
                "these rows are predicted wrong."
            )
            advice = "More or finer columns would be needed to tell these rows apart."
            n = int((np.bincount(place) > 1)[place].sum())
            found.append(Finding("same cells, other class", False, (), n, text, advice))
    n_twice = judged.n - n_groups
    if n_twice >= MANY * judged.n:
        text = f"{counted(n_twice, 'row')} of {judged.n:,} have the same cells as another row before them."
        advice = "If they are copies by mistake, take them out: folds that part copies flatter the model."
        found.append(Finding("duplicate rows", False, (), n_twice, text, advice))
    return found


def _same_columns(judged: Judged) -> list[Finding]:
    """Columns that hold the same cells."""
    if judged.n < FEWEST_ROWS:
        return []
    first: dict[tuple[str, bytes], str] = {}
    names, told = [], []
    for at, column in enumerate(judged.model.schema.columns):
        cells = _plain(judged.matrix[:, at])
        if (cells == cells[0]).all() or np.isnan(cells).all():
            continue
        kind = "numeric" if column.kind == "numeric" else repr(column.levels)
        other = first.setdefault((kind, cells.tobytes()), name_of(column))
        if other != name_of(column):
            names.append(name_of(column))
            told.append(f"{name_of(column)} as {other}")
    if not names:
        return []
    text = f"Columns with the same cells as another one: {listed(told)}."
    advice = "Leave one of each pair out: shuffling one alone shows too little importance, since the other still tells."
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
