"""Levels that the fit never saw. In: judged rows. Out: which cells hold one. Callers: columns_part, findings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treewright.core.notices import listening
from treewright.data.frame import read_table
from treewright.data.kinds import encode_cells
from treewright.data.matching import match_columns
from treewright.data.target import check_weights
from treewright.reporting.judged import Judged
from treewright.tree.writing import written_level


@dataclass(frozen=True, eq=False)
class UnseenLevels:
    """The cells of a column with a level that the fit never saw.

    Attributes
    ----------
    rows : bool[n]
        Of the judged rows.
    levels : tuple of str
        Ready to be read, sorted.
    """

    rows: np.ndarray
    levels: tuple[str, ...]


def unseen_levels(judged: Judged) -> dict[int, UnseenLevels]:
    """Return the columns that hold such levels, by their position.

    The encoded rows no longer tell them from missing cells, so the table is looked at once more.
    """
    schema = judged.model.schema
    if all(column.kind == "numeric" for column in schema.columns):
        return {}
    with listening():  # what there is to warn of was said when the rows were encoded
        table = read_table(judged.table)
        source = match_columns(schema, table, "report")
    given = None if judged.weights_given is None else check_weights(judged.weights_given, table.n_rows)
    kept = slice(None) if given is None else given > 0
    found = {}
    for at, column in enumerate(schema.columns):
        if column.kind == "numeric":
            continue
        cells = table.cells(source[at])
        # Under "majority" only a nominal level has a code of its own; an ordinal one is nan, as a missing cell is.
        codes = encode_cells(column, cells, "", "majority")
        unknown = ((np.isnan(codes) | (codes == len(column.levels))) & ~cells.missing())[kept]
        if unknown.any():
            own, distinct = cells.coded()
            levels = sorted({written_level(distinct[code]) for code in np.unique(own[kept][unknown]).tolist()})
            found[at] = UnseenLevels(unknown, tuple(levels))
    return found


def cells_of(judged: Judged, at: int, unseen: dict[int, UnseenLevels]) -> np.ndarray:
    """Return float64[n]: a column's cells; nan is missing, the code after the last level one that the fit never saw."""
    cells = np.array(judged.matrix[:, at], np.float64)
    if at in unseen:
        cells[unseen[at].rows] = len(judged.model.schema.columns[at].levels)
    return cells
