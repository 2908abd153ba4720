"""One row as somebody gives it. In: a mapping, a sequence or a table of one row. Out: ``GivenRow``.

Caller: explain.counterfactual.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.data.cells import Cells
from treewright.data.encoder import encode_table
from treewright.data.frame import read_table
from treewright.data.table import Table
from treewright.exceptions import ColumnError, DataError
from treewright.model.data import ModelData


@dataclass(frozen=True, eq=False)
class GivenRow:
    """A row with its own cells.

    Attributes
    ----------
    cells : float64[p]
        Encoded.
    raw : tuple of p cells
        As given, in the order of the schema; None where a cell is missing.
    """

    cells: np.ndarray
    raw: tuple[Any, ...]


def given_row(model: ModelData, row: Any, owner: str) -> GivenRow:
    """Read one row as ``predict`` would read it.

    Parameters
    ----------
    model : ModelData
    row : mapping from column name to cell, sequence of p cells, or table of one row
    owner : str
        Who is named in messages.

    Raises
    ------
    DataError
        It is none of these, has more or less than one row, or a cell is refused; else as ``data.encoder.encode``.
    """
    schema, table = model.schema, _table(model, row, owner)
    if table.n_rows != 1:
        raise DataError(f"{owner}.counterfactual takes one row, the table has {table.n_rows}: take one, as in X[3:4]")
    encoded = encode_table(schema, table, model.unseen, owner, model.missing)[0]
    by_name = schema.named and table.names is not None
    where = {name: at for at, name in enumerate(table.names or ())}
    places = [where[column.name] if by_name else at for at, column in enumerate(schema.columns)]
    return GivenRow(encoded.astype(np.float64), tuple(_raw(table.cells(at)) for at in places))


def _table(model: ModelData, row: Any, owner: str) -> Table:
    """The row as a table of one row."""
    if len(getattr(row, "shape", ())) == 1 and callable(getattr(row, "to_dict", None)):
        row = row.to_dict()  # a pandas Series knows the names of its cells
    if isinstance(row, Mapping):
        if any(isinstance(cell, list | tuple | np.ndarray) and np.ndim(cell) for cell in row.values()):
            return read_table(row)
        return Table(tuple(row), 1, len(row), sources=[[cell] for cell in row.values()])
    is_flat = isinstance(row, np.ndarray) and row.ndim == 1 and row.dtype.names is None
    is_row = isinstance(row, list | tuple) and not any(isinstance(cell, list | tuple | np.ndarray) for cell in row)
    if not (is_flat or is_row):
        return read_table(row)
    values = list(row)
    if len(values) != len(model.schema):
        raise ColumnError(
            f"the row has {len(values)} features, but {owner} is expecting {len(model.schema)} features as input"
        )
    return Table(
        model.schema.names if model.schema.named else None, 1, len(values), sources=[[cell] for cell in values]
    )


def _raw(cells: Cells) -> Any:
    """The one cell of a column as it was given."""
    if bool(cells.missing()[0]):
        return None
    if cells.is_number:
        number = float(cells.values[0])
        return int(number) if cells.whole else number
    return cells.distinct[int(cells.values[0])]
