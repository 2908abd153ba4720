"""Rows to find neighbours of. In: a table, a model. Out: encoded rows. Callers: model.neighbors, estimators."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.core.notices import listening
from treewright.data.encoder import encode, encode_row
from treewright.data.frame import read_table
from treewright.data.table import MATRIX_DIMENSIONS
from treewright.exceptions import ColumnError, DataError
from treewright.neighbors.sparse_cells import checked_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from treewright.model.neighbors import NeighborsModel

# What the encoder calls the ways of an unseen level: "majority" is the code that no level has.
UNSEEN = {"other": "majority", "missing": "missing", "error": "error"}


def encoded_queries(model: NeighborsModel, X: Any, owner: str) -> Any:
    """The rows as ``Metric.points`` takes them.

    Parameters
    ----------
    model : NeighborsModel
    X : table
    owner : str
        Who is named in messages about the table.

    Returns
    -------
    float[n, p]; csr_matrix of float64 where the model's rows are sparse

    Raises
    ------
    ColumnError, UnseenLevelError, MissingValueError, DataError
        As ``NeighborsModel.predict``.
    """
    schema = model.schema
    if schema is None:
        return _sparse_queries(model, X, owner)
    return _settled(
        model, lambda: encode(schema, X, unseen=UNSEEN[model.unseen], missing="distance", owner=owner)
    )  # fmt: skip


def encoded_row(model: NeighborsModel, row: Any) -> Any:
    """One row as ``encoded_queries`` gives it; parameters and errors as ``NeighborsModel.predict_one``."""
    schema, owner = model.schema, type(model).__name__
    if schema is None:
        return _sparse_queries(model, [row] if isinstance(row, list | tuple) else np.asarray(row)[None], owner)
    return _settled(
        model, lambda: encode_row(schema, row, unseen=UNSEEN[model.unseen], missing="distance", owner=owner)[None]
    )


def _settled(model: NeighborsModel, read: Callable[[], np.ndarray]) -> np.ndarray:
    """The rows that ``read`` gives, with an error about missing cells, if there is one, before warnings about them."""
    with listening() as notices:
        matrix = read()
    # Of all rows: blocks of them would give other numbers of rows to the message.
    model.stored.metric.check(matrix, model.schema)
    notices.tell(1, "tables")
    return matrix


def is_sparse(X: Any) -> bool:
    """Whether a table is a sparse matrix or array of SciPy; imports nothing."""
    return hasattr(X, "toarray") and hasattr(X, "nnz")


def _sparse_queries(model: NeighborsModel, X: Any, owner: str) -> csr_matrix:
    """Rows for a model of sparse rows; dense ones are taken as well."""
    from scipy.sparse import csr_matrix

    if not is_sparse(X):
        table = read_table(X)
        if table.matrix is None:
            raise DataError(f"{owner} was fitted on sparse rows: X must hold nothing but numbers")
        X = csr_matrix(table.matrix)
    if len(X.shape) == MATRIX_DIMENSIONS and X.shape[1] != model.n_columns:
        raise ColumnError(f"X has {X.shape[1]} features, but {owner} is expecting {model.n_columns} features as input")
    if X.shape[0] == 0:
        return csr_matrix((0, model.n_columns))
    return checked_rows(X)
