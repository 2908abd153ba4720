"""Search among sparse rows. In: CSR rows. Out: nearest rows, rows within a rank. Callers: stored, estimators, model.

Documents have some hundred terms out of 100,000. The rows are kept by column, as an inverted index; no row is ever
made dense.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from treewright.core.threads import run_each
from treewright.exceptions import DataError, ParameterError
from treewright.neighbors.direct import joined, select
from treewright.neighbors.sparse_cells import checked_rows
from treewright.neighbors.sparse_kernels import COSINE, EUCLIDEAN, nearest_of_block, products, within_bar

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["KINDS", "SparseRows"]

Kind = Literal["cosine", "angle", "euclidean"]
KINDS: tuple[Kind, ...] = ("cosine", "angle", "euclidean")
_QUERIES = 32  # a task of a thread
_FEW = 128  # up to so many neighbours the sorted array of the nearest is quicker than selecting from all
_MOST_PLACES = 2**30  # columns: their places are int32
_EPS = float(np.finfo(np.float64).eps)
Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Rows of the fit, by row and by column.

    Rank distances of ``"cosine"`` and ``"angle"`` are those of rows of length one, twice the cosine distance: the sum
    of (a - b)^2 where the angle is below 60 degrees, else 2 - 2 * product, which is as exact there. Rows that share no
    column are exactly 2 apart, and so is a row without any cell from every row that has some; two without are 0 apart.
    Of ``"euclidean"`` it is the sum of (a - b)^2 over the columns in order: the bits of a dense search.

    Memory: 28 bytes a cell that is not 0, 16 a row and 8 a column that has any; while they are made, about twice that.
    A search needs 8 bytes a row for each thread (for more than 128 neighbours, and for rows within a rank, 32), and 12
    a cell of the queries.

    Attributes
    ----------
    kind : {"cosine", "angle", "euclidean"}
    n_columns : int
    used : int64[c], ascending
        The columns with any cell.
    points : tuple of int64[n + 1], int32, float64
        The rows (``sparse_kernels`` says how); for the cosine of length one.
    columns : tuple of int64[c + 1], int32, float64
        The same by column.
    lengths : float64[n]
        Squared; for the cosine ones.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> index = SparseRows.of(csr_matrix([[1.0, 0.0, 0.0], [3.0, 3.0, 0.0], [0.0, 0.0, 2.0]]), "cosine")
    >>> rows, ranks = index.nearest(csr_matrix([[0.0, 2.0, 0.0]]), k=3, n_threads=1)
    >>> rows.tolist(), (ranks / 2).round(3).tolist()
    ([[1, 0, 2]], [[0.293, 1.0, 1.0]])
    """

    kind: Kind
    n_columns: int
    used: np.ndarray
    points: Arrays
    columns: Arrays
    lengths: np.ndarray

    @classmethod
    def of(cls, rows: Any, kind: Kind) -> SparseRows:
        """Make ready for searching.

        Parameters
        ----------
        rows : scipy sparse matrix of n rows
        kind : {"cosine", "angle", "euclidean"}

        Raises
        ------
        DataError
            As ``sparse_cells.checked_rows``.
        ParameterError
            There is no such kind.
        """
        from scipy.sparse import csr_matrix

        if kind not in KINDS:
            raise ParameterError(f"metric={kind!r}: for sparse rows choose one of {', '.join(map(repr, KINDS))}")
        rows = checked_rows(rows)
        if kind != "euclidean":
            rows = _directions(rows)
        n_columns = rows.shape[1] - int(kind != "euclidean")
        used = _used_columns(rows)
        if len(used) >= _MOST_PLACES:
            raise DataError(f"X has cells in {len(used)} columns: a sparse search takes up to {_MOST_PLACES}")
        by_row = csr_matrix(
            (rows.data, np.searchsorted(used, rows.indices), rows.indptr), shape=(rows.shape[0], len(used))
        )
        by_column = by_row.tocsc()  # rows of a column ascend
        points = (rows.indptr.astype(np.int64), 2 * by_row.indices.astype(np.int32) + np.int32(1), rows.data)
        columns = (by_column.indptr.astype(np.int64), by_column.indices.astype(np.int32), by_column.data)
        return cls(kind, n_columns, used, points, columns, _lengths(points, kind))

    def __len__(self) -> int:
        return len(self.lengths)

    def nearest(self, points: Any, k: int, n_threads: int) -> tuple[np.ndarray, np.ndarray]:
        """The ``k`` nearest rows of each query; see ``ranks.Index``.

        Parameters
        ----------
        points : scipy sparse matrix of m rows
            Of the same columns.
        k : int, 1 to n
        n_threads : int >= 1

        Returns
        -------
        rows : int64[m, k]
        ranks : float64[m, k]
        """
        queries = self._queries(points)
        rows, ranks = np.empty((queries.n, k), np.int64), np.empty((queries.n, k))
        if k > _FEW:
            self._nearest_of_all(queries, rows, ranks, n_threads)
            return rows, ranks
        n_tasks = -(-queries.n // _QUERIES)
        sums = [np.empty(len(self)) for _ in range(min(n_threads, n_tasks))]

        def work(task: int, thread: int) -> None:
            begin, end = task * _QUERIES, min((task + 1) * _QUERIES, queries.n)
            nearest_of_block(
                self._formula, queries.rows, queries.lengths, queries.roundings, begin, end,
                self.points, self.columns, self.lengths, sums[thread], rows, ranks,
            )  # fmt: skip

        run_each(work, n_tasks, n_threads)
        return rows, ranks

    def _nearest_of_all(self, queries: _Queries, rows: np.ndarray, ranks: np.ndarray, n_threads: int) -> None:
        """For many neighbours: all candidates of a query, then the k nearest of them."""
        k = rows.shape[1]
        scratch = self._scratch(n_threads, queries.n)

        def work(query: int, thread: int) -> None:
            sums, *_ = own = scratch[thread]
            products(query, queries.rows, self.columns, sums)
            with np.errstate(over="ignore", invalid="ignore"):
                most = self.lengths + queries.lengths[query]
                most = most * (1.0 + 2.0 * queries.roundings[query]) - 2.0 * sums
            most[np.isnan(most)] = np.inf
            found, its_ranks = self._candidates(queries, query, float(np.partition(most, k - 1)[k - 1]), own)
            at, ranks[query] = select(its_ranks, k)
            rows[query] = found[at]

        run_each(work, queries.n, n_threads)

    def within(self, points: Any, rank: float, n_threads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows whose rank distance is at most ``rank``; see ``ranks.Index``.

        Returns
        -------
        offsets : int64[m + 1]
        rows : int64
        ranks : float64
        """
        queries = self._queries(points)
        scratch = self._scratch(n_threads, queries.n)
        blocks: list[Arrays] = [()] * queries.n  # type: ignore[list-item]

        def work(query: int, thread: int) -> None:
            own = scratch[thread]
            products(query, queries.rows, self.columns, own[0])
            rows, ranks = self._candidates(queries, query, rank, own)
            rows, ranks = rows[ranks <= rank], ranks[ranks <= rank]
            order = np.argsort(ranks, kind="stable")  # rows ascend
            blocks[query] = np.array([len(rows)]), rows[order], ranks[order]

        run_each(work, queries.n, n_threads)
        return joined(blocks)

    def _candidates(self, queries: _Queries, query: int, bar: float, scratch: Arrays) -> tuple[np.ndarray, np.ndarray]:
        """Rows ascending that may have a rank of at most ``bar``, with their ranks; views of the scratch."""
        sums, rows, ranks = scratch
        n = within_bar(
            self._formula, query, queries.rows, queries.lengths, queries.roundings, float(bar),
            self.points, self.lengths, sums, rows, ranks,
        )  # fmt: skip
        return rows[:n], ranks[:n]

    def _scratch(self, n_threads: int, n_tasks: int) -> list[Arrays]:
        n = len(self)
        return [(np.empty(n), np.empty(n, np.int64), np.empty(n)) for _ in range(max(1, min(n_threads, n_tasks)))]

    @property
    def _formula(self) -> int:
        return EUCLIDEAN if self.kind == "euclidean" else COSINE

    def _queries(self, points: Any) -> _Queries:
        """Queries in the places of the stored columns."""
        rows = checked_rows(points, self.n_columns)
        if self.kind != "euclidean":
            rows = _directions(rows)
        at = np.searchsorted(self.used, rows.indices)
        is_used = np.append(self.used, -1)[at] == rows.indices
        arrays = (rows.indptr.astype(np.int64), (2 * at + is_used).astype(np.int32), rows.data)
        most = np.diff(self.points[0]).max() + np.diff(rows.indptr)
        # Sums of n terms are wrong by n / 2 of eps at most; there are a few such sums.
        return _Queries(arrays, _lengths(arrays, self.kind), 8.0 * _EPS * (most + 8.0))


@dataclass(frozen=True, eq=False)
class _Queries:
    """Rows asked for; attributes as ``sparse_kernels.nearest_of_block`` has them."""

    rows: Arrays
    lengths: np.ndarray
    roundings: np.ndarray

    @property
    def n(self) -> int:
        return len(self.lengths)


def _used_columns(rows: csr_matrix) -> np.ndarray:
    """int64[c]: the columns with any cell."""
    if rows.shape[1] <= 8 * rows.nnz + 2**20:
        return np.flatnonzero(np.bincount(rows.indices, minlength=rows.shape[1]))
    return np.unique(rows.indices).astype(np.int64)  # hashed columns: a count of each would be larger than the rows


def _sums_of_squares(ends: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """float64[n]: of each row, over its columns in order."""
    owner = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    with np.errstate(over="ignore", under="ignore"):
        return np.bincount(owner, cells * cells, minlength=len(ends) - 1)  # it adds one by one, in order


def _lengths(rows: Arrays, kind: Kind) -> np.ndarray:
    """float64[n]: squared lengths; for the cosine ones, whatever was lost in making them so."""
    return _sums_of_squares(rows[0], rows[2]) if kind == "euclidean" else np.ones(len(rows[0]) - 1)


def _directions(rows: csr_matrix) -> csr_matrix:
    """Rows divided by their lengths, with a column more, in which rows without cells have a 1: as dense points are."""
    n, p = rows.shape
    empty = np.diff(rows.indptr) == 0
    at = rows.indptr[:-1][empty]
    ends = rows.indptr + np.concatenate([[0], np.cumsum(empty)])
    cells, places = np.insert(rows.data, at, 1.0), np.insert(rows.indices.astype(np.int64), at, p)
    counts = np.diff(ends)
    # Powers of two round nothing, and no square is then beyond float64.
    largest = np.maximum.reduceat(np.abs(cells), ends[:-1])
    cells = np.ldexp(cells, np.repeat(-np.frexp(largest)[1], counts))
    cells /= np.repeat(np.sqrt(_sums_of_squares(ends, cells)), counts)
    return type(rows)((cells, places, ends), shape=(n, p + 1))
