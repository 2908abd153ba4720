"""Refuse missing cells. In: encoded cells. Out: nothing or ``MissingValueError``. Callers: encoder, estimators."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from treewright.data.schema import Schema
from treewright.data.table import column_label
from treewright.exceptions import MissingValueError

_REMEDY = "fill them in, drop the rows, or fit with missing='direction'"


def refuse_missing_at_fit(
    matrix: npt.NDArray[np.floating], schema: Schema, weights: npt.NDArray[np.float64] | None
) -> None:
    """Refuse the missing cells of the table of a fit. Rows of weight 0 may have them: nothing is learned from those.

    Parameters
    ----------
    matrix : float64 or float32 [n, p]
        The whole encoded table, rows of weight 0 included; nan is missing.
    schema : Schema
        Of this table: only columns whose ``missing_seen`` is True are looked at.
    weights : float64[n], or None where all rows count

    Raises
    ------
    MissingValueError
        A cell is missing. The message names the first such column, how many of its cells are, and the first row.

    Examples
    --------
    >>> from treewright.data.encoder import encode_fit
    >>> schema, matrix = encode_fit({"age": [31, None]})
    >>> refuse_missing_at_fit(matrix, schema, np.array([1.0, 0.0]))
    >>> refuse_missing_at_fit(matrix, schema, None)
    Traceback (most recent call last):
    ...
    treewright.exceptions.MissingValueError: column 'age' has 1 missing values (first row 1), which ...
    """
    for at, column in enumerate(schema.columns):
        if not column.missing_seen:
            continue
        absent = np.isnan(matrix[:, at])
        if weights is not None:
            absent &= weights > 0
        if absent.any():
            raise MissingValueError(
                f"column {column.name!r} has {int(absent.sum())} missing values (first row {int(absent.argmax())}), "
                "which missing='error' refuses: fill them in, drop the rows, or choose another way with missing values"
            )


def refuse_missing(matrix: npt.NDArray[np.floating], names: Sequence[Hashable] | None) -> None:
    """Refuse the missing cells of a matrix of numbers at predict.

    Parameters
    ----------
    matrix : float64 or float32 [n, p]
        nan is missing.
    names : sequence of column names, or None
        For the message.

    Raises
    ------
    MissingValueError
        A cell is missing. The message names the first such column, how many of its cells are, and the first row.
    """
    for at in range(matrix.shape[1]):
        absent = np.isnan(matrix[:, at])
        if absent.any():
            refuse_missing_cells(matrix[:, at], absent, column_label(names, at))


def refuse_missing_cells(encoded: npt.NDArray[np.floating], absent: npt.NDArray[np.bool_], label: str) -> None:
    """Refuse the missing cells of one column, and levels that became missing because fit never saw them.

    Parameters
    ----------
    encoded : float[n]
        nan is missing.
    absent : bool[n]
        Which cells were missing before they were encoded; the other nan are levels that fit never saw.
    label : str
        What messages call the column.

    Raises
    ------
    MissingValueError
    """
    if absent.any():
        raise MissingValueError(
            f"{label}: {int(absent.sum())} missing value(s), first row {int(absent.argmax())}; "
            f"the model was fitted with missing='error'. Hint: {_REMEDY}"
        )
    unseen = np.isnan(encoded)
    if unseen.any():
        raise MissingValueError(
            f"{label}: {int(unseen.sum())} cell(s) with a level that fit never saw, first row {int(unseen.argmax())}; "
            f"they count as missing, and the model was fitted with missing='error'. "
            f"Hint: mend the cells, drop the rows, or fit with missing='direction'"
        )
