"""What looks wrong about a table that could be fitted. In: schema, matrix, target, a column. Out: warnings.

Callers: estimators.single, estimators.forest_base.

Only the column that the grown model points at is looked at, so that a fit does not become slower.
"""

from __future__ import annotations

import numpy as np

from treewright.core import notices
from treewright.data.cells import shown
from treewright.data.schema import Column, Schema
from treewright.data.target import Labels, Numbers

# In a table of a few rows a column equals the target by chance, or for the sake of an example.
_FEWEST_ROWS = 25
_FIRST_ROWS = 1000


def warn_of_suspicions(schema: Schema, matrix: np.ndarray, target: Labels | Numbers, column: int) -> None:
    """Warn where no column says anything, or one says everything.

    Parameters
    ----------
    schema : Schema
    matrix : float[n, p]
    target : Labels or Numbers of n rows
    column : int
        The one that tells most: that of a tree's root; -1 where nothing could be told.

    Warns
    -----
    DataWarning
        Every column is constant though the target is not; that column equals the target.
    """
    if column < 0:
        if (target[0] != target[0][0]).any() and is_constant(matrix):
            notices.warn(f"every column is constant ({len(schema)} of them): the model says the same for every row")
        return
    named = schema.columns[column]
    if len(matrix) >= _FEWEST_ROWS and equals_target(named, matrix[:, column], target):
        notices.warn(f"column {shown(named.name)} equals y in every row: was the target left in the table?")


def is_constant(matrix: np.ndarray) -> bool:
    """Whether every column holds one value, or none."""
    first = matrix[0]
    return all(bool(((column == value) | (np.isnan(column) & np.isnan(value))).all())
               for column, value in zip(matrix.T, first, strict=True))  # fmt: skip


def equals_target(column: Column, cells: np.ndarray, target: Labels | Numbers) -> bool:
    """Whether a column holds the target (its first output): the same numbers, or the same labels.

    Parameters
    ----------
    column : Column
    cells : float[n], encoded
    target : Labels or Numbers
    """
    if isinstance(target, Numbers):
        # Codes are no numbers: an ordinal or nominal column is never the same as numbers.
        return column.kind == "numeric" and _are_equal(cells, target.values[:, 0], None)
    labels = target.classes[0]
    if column.kind != "numeric":
        codes_of = {level: code for code, level in enumerate(column.levels)}
        values = np.array([codes_of.get(label, -1) for label in labels.tolist()], np.float64)
    elif labels.dtype.kind in "biuf":
        values = labels.astype(np.float64)
    else:
        return False
    return _are_equal(cells, target.codes[:, 0], values)


def _are_equal(cells: np.ndarray, target: np.ndarray, values: np.ndarray | None) -> bool:
    """Compare the first rows, and the rest only if these are equal."""
    for rows in (slice(0, _FIRST_ROWS), slice(_FIRST_ROWS, None)):
        expected = target[rows] if values is None else values.take(target[rows])
        if not np.array_equal(cells[rows], expected):
            return False
    return True
