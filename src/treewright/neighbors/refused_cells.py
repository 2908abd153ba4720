"""Cells that no distance can be taken of. In: encoded rows. Out: nothing, or a named error.

Callers: neighbors.metrics, neighbors.metrics_by_name.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from treewright.data.schema import Schema
from treewright.data.table import column_label
from treewright.exceptions import DataError, MissingValueError


def refuse_cells(matrix: np.ndarray, names: Sequence[Hashable] | None, metric: str, *, takes_missing: bool) -> None:
    """Refuse infinite cells, and missing ones where the metric has no rule for them.

    Parameters
    ----------
    matrix : float64[n, p] or float32[n, p]
        nan is missing.
    names : sequence of p column names, or None
    metric : str
        For the message.
    takes_missing : bool

    Raises
    ------
    DataError
        A cell is infinite. The message names the first such column, how many of its cells are, and the first row.
    MissingValueError
        The same of missing cells.

    Examples
    --------
    >>> refuse_cells(np.array([[1.0], [np.nan]]), ("age",), "euclidean", takes_missing=False)
    Traceback (most recent call last):
    ...
    treewright.exceptions.MissingValueError: column 'age' has 1 missing value(s) (first row 1), and ...
    """
    with np.errstate(over="ignore", invalid="ignore"):
        total = matrix.sum()  # the quick look, without a second matrix: a sum that is finite has finite terms
    if np.isfinite(total):
        return
    for at in range(matrix.shape[1]):
        infinite = np.isinf(matrix[:, at])
        if infinite.any():
            raise DataError(
                f"{column_label(names, at)} has {int(infinite.sum())} infinite value(s) (first row "
                f"{int(infinite.argmax())}): no distance to them can be compared. Replace them or drop the rows"
            )
    if takes_missing:
        return
    for at in range(matrix.shape[1]):
        absent = np.isnan(matrix[:, at])
        if absent.any():
            raise MissingValueError(
                f"{column_label(names, at)} has {int(absent.sum())} missing value(s) (first row {int(absent.argmax())})"
                f", and metric={metric!r} has no distance to NaN. Use metric='heom', 'hvdm' or 'gower', which have, "
                "or fill the cells in, or drop the rows"
            )


def refuse_nominal(schema: Schema, metric: str) -> None:
    """Refuse nominal columns under a metric of numbers.

    Raises
    ------
    DataError
        Names the first nominal column and how many there are.
    """
    nominal = [column.name for column in schema.columns if column.kind == "nominal"]
    if nominal:
        at = schema.positions[nominal[0]]
        rest = f" (and {len(nominal) - 1} more column(s))" if len(nominal) > 1 else ""
        raise DataError(
            f"{column_label(schema.names, at)}{rest} is nominal: its levels have no order, so metric={metric!r} has no "
            "distance between them. Use metric='heom', 'hvdm' or 'gower', or turn the levels into numbers "
            "(one column of 0 and 1 per level)"
        )
