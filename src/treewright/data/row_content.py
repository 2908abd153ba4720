"""The contents of rows as numbers that can be compared. In: a table. Out: float matrix.

Equal cells become equal numbers, in any table and any order of rows: a level becomes a hash of itself, not a code that
depends on the other levels.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from typing import Any

import numpy as np

from treewright.data.cells import Cells
from treewright.data.encoder import empty_matrix
from treewright.data.table import check_stored, is_sparse, read_table
from treewright.exceptions import TreewrightError

_HASH_BITS = 52  # as many as float64 holds exactly


def content_of(X: Any) -> np.ndarray:
    """A number for each cell, float[n, p]: equal for equal cells of a column.

    Numbers as they are, nan = missing; of texts, booleans and objects a hash. A float matrix itself, not a copy.
    """
    table = read_table(X)
    if table.matrix is not None:
        return table.matrix
    content = empty_matrix(table.n_rows, table.width)
    for at in range(table.width):
        content[:, at] = _numbers_of(table.cells(at))
    return content


def rough_content_of(X: Any) -> np.ndarray:
    """Like ``content_of``, but only of what is fast to compare, for tables that only another library understands.

    For a sparse matrix, two weighted sums of each row: it is not made dense. For a table, the columns that can be read
    (not dates, for example). No columns for what is not a table: a list of texts, a stack of pictures.
    """
    if is_sparse(X) and X.dtype.kind in "biuf":
        check_stored(X)
        rows = X.tocsr(copy=True)
        rows.sum_duplicates()  # in the order of the columns, so that equal rows have equal sums
        return np.asarray(rows @ np.random.default_rng(0).random((X.shape[1], 2)), np.float64)
    try:
        table = read_table(X)
    except TreewrightError:
        return np.empty((0, 0))
    if table.matrix is not None:
        return table.matrix
    columns = []
    for at in range(table.width):
        try:
            columns.append(_numbers_of(table.cells(at)))
        except TreewrightError:
            continue
    return np.stack(columns, axis=1) if columns else np.empty((0, 0))


def _numbers_of(cells: Cells) -> np.ndarray:
    """A number for each cell of one column."""
    if cells.is_number:
        return cells.values
    by_code = np.array([*map(_hash_of, cells.distinct), np.nan])
    numbers: np.ndarray = by_code[cells.values]  # code -1, a missing cell, is the last
    return numbers


def _hash_of(level: Hashable) -> float:
    """A hash of a level: a whole number below 2**52, the same in every process."""
    digest = hashlib.blake2b(repr(level).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return float(int.from_bytes(digest, "little") >> (64 - _HASH_BITS))
