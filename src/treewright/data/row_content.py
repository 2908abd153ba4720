"""The contents of rows as numbers: of cells, to be compared, and of rows, by which they are ordered and sampled.

``content_of`` gives equal numbers to equal cells, in any table and any order of rows: a level becomes a hash of itself,
not a code that depends on the other levels. ``row_order`` sorts encoded rows by a hash of their bins, cells and target:
what is done in this order does not depend on the positions of the rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from typing import Any

import numpy as np

from treewright.core.jit import kernel
from treewright.core.random import mix
from treewright.data.bin_rows import SparseCodes
from treewright.data.cells import Cells
from treewright.data.encoder import empty_matrix
from treewright.data.sparse import SparseMatrix
from treewright.data.table import check_stored, is_sparse, read_table
from treewright.exceptions import TreewrightError

_HASH_BITS = 52  # as many as float64 holds exactly
_SPARSE_ROWS = 256  # rows of a sparse table whose bins are written out at a time
_BLOCK = 65_536  # rows whose cells are converted at a time
_EVERY_BIT = np.uint64(2**64 - 1)


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


def row_order(codes: np.ndarray | SparseCodes, target: Any, *, n_columns: int | None = None,
              weights: np.ndarray | None = None, matrix: np.ndarray | None = None) -> np.ndarray:  # fmt: skip
    """Rows in an order that does not depend on their positions.

    ``codes`` (uint8[n, stride], or SparseCodes): rows as bins.
    ``target`` (int32[n, n_outputs] or float64[n, n_outputs]): class codes or numbers; -0.0 is 0.0. No outputs without a
        target.
    ``n_columns``: columns of ``codes`` that count; the rest is padding.
    ``weights`` (float64[n]): rows with the same bins and target are ordered by weight.
    ``matrix`` (float64[n, p], float32[n, p] or SparseMatrix), the cells, if trees are grown on them instead of bins:
        rows with equal bins may differ.

    Returns int32[n]: equal rows are consecutive, those of the same weight in their own order.
    """
    hashes = np.zeros(len(codes), np.uint64)
    _hash_codes(codes, codes.shape[1] if n_columns is None else n_columns, hashes)
    hash_content(target, matrix, hashes)
    return order_of_contents(hashes, weights)


def order_of_contents(contents: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """int32[n]: rows sorted by the hash of their content, uint64[n], then by weight."""
    if weights is None:
        return np.argsort(contents, kind="stable").astype(np.int32)
    return np.lexsort((weights, contents)).astype(np.int32)


def hash_content(target: np.ndarray, matrix: np.ndarray | SparseMatrix | None, hashes: np.ndarray) -> None:
    """Add the targets and cells of each row to its hash, uint64[n]; -0.0 equals 0.0, and all nan are equal."""
    if target.shape[1]:
        hash_rows(_words_of(target), _EVERY_BIT, hashes)
    if matrix is not None:
        _hash_cells(matrix, hashes)


def shuffled(names: np.ndarray, seed: int) -> np.ndarray:
    """int64[n]: a random order of distinct names, uint64[n], that depends on these and the seed alone."""
    keys = np.full(len(names), np.uint64(seed % 2**64))
    hash_rows(names[:, None], _EVERY_BIT, keys)
    return np.argsort(keys, kind="stable")


def _hash_codes(codes: np.ndarray | SparseCodes, n_columns: int, hashes: np.ndarray) -> None:
    """Hash rows of bins, eight at a time."""
    if not n_columns:
        return
    if isinstance(codes, SparseCodes):
        for start in range(0, len(codes), _SPARSE_ROWS):
            rows = slice(start, start + _SPARSE_ROWS)
            _hash_codes(codes.dense(rows), n_columns, hashes[rows])
        return
    n_words = -(-n_columns // 8)
    if codes.flags.c_contiguous and codes.shape[1] % 8 == 0:
        words = codes.view(np.uint64)[:, :n_words]
    else:
        padded = np.zeros((len(codes), 8 * n_words), np.uint8)
        padded[:, :n_columns] = codes[:, :n_columns]
        words = padded.view(np.uint64)
    # A kernel for one layout: rows that are longer than their words are copied.
    hash_rows(np.ascontiguousarray(words), _EVERY_BIT >> np.uint64(64 * n_words - 8 * n_columns), hashes)


def _hash_cells(matrix: np.ndarray | SparseMatrix, hashes: np.ndarray) -> None:
    """Hash rows of cells: the sum of the hashes of each cell and its column, so that zeros need not be visited."""
    if isinstance(matrix, SparseMatrix):
        stored = matrix.stored
        columns, row_start = stored.indices.astype(np.int32, copy=False), stored.indptr.astype(np.int64, copy=False)
        hash_stored(_words_of(stored.data), columns, row_start, matrix.shape[1], hashes)
        return
    for start in range(0, len(matrix), _BLOCK):
        block = slice(start, start + _BLOCK)
        hash_cells(_words_of(matrix[block]), hashes[block])


def _words_of(numbers: np.ndarray) -> np.ndarray:
    """The bits of numbers, uint64 of the same shape: 0.0 equals -0.0, and all nan are equal."""
    told_apart = np.array(numbers, np.float64, order="C") + 0.0
    told_apart[np.isnan(told_apart)] = np.nan
    return told_apart.view(np.uint64)


@kernel
def hash_rows(words: np.ndarray, mask: np.uint64, hashes: np.ndarray) -> None:
    """Add the words of each row to its hash.

    Parameters
    ----------
    words : uint64[n, k]
    mask : uint64
        Bits of the last word that count.
    hashes : uint64[n]
        Read and written, so that several tables can be hashed one after another.
    """
    n, k = words.shape
    for row in range(n):
        bits = hashes[row]
        for at in range(k - 1):
            bits = mix(bits, words[row, at])
        hashes[row] = mix(bits, words[row, k - 1] & mask)


@kernel
def hash_cells(words: np.ndarray, hashes: np.ndarray) -> None:
    """Add the cells of each row to its hash. ``words`` uint64[n, k], ``hashes`` uint64[n] read and written."""
    n, k = words.shape
    for row in range(n):
        bits = np.uint64(0)
        for column in range(k):
            bits += mix(np.uint64(column), words[row, column])
        hashes[row] = mix(hashes[row], bits)


@kernel
def hash_stored(
    words: np.ndarray, columns: np.ndarray, row_start: np.ndarray, n_columns: int, hashes: np.ndarray
) -> None:
    """As ``hash_cells``, for the cells that are not zero: each replaces what a zero of the column adds.

    Parameters
    ----------
    words : uint64[m], IN
    columns : int32[m], IN
    row_start : int64[n + 1], IN
        The first cell of each row.
    n_columns : int
    hashes : uint64[n], IN and OUT
    """
    zero = np.uint64(0)
    of_zeros = np.uint64(0)
    for column in range(n_columns):
        of_zeros += mix(np.uint64(column), zero)
    for row in range(len(hashes)):
        bits = of_zeros
        for at in range(row_start[row], row_start[row + 1]):
            place = np.uint64(columns[at])
            bits += mix(place, words[at]) - mix(place, zero)
        hashes[row] = mix(hashes[row], bits)
