"""Search among sparse rows: checks of tables, and their nearest rows.

Documents have some hundred terms out of 100,000. The rows are kept by column, as an inverted index; no row is ever
made dense. A query's products with all rows are summed up column by column, from the lists of rows that have a cell
there: rows that share no column with it are hardly any work. These sums choose candidates; a rank distance near 0 is
then computed from the differences of the cells, to avoid cancellation.

Kernels get rows as tuples (ends int64[n + 1], places int32, cells float64), row ``i`` at ``ends[i]`` to
``ends[i + 1] - 1`` in the order of columns. The place of a column of the stored rows is odd, 2 * column + 1; the even
ones between are those of columns that only queries have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from treewright.core.jit import costs, inner_kernel, kernel
from treewright.core.threads import run_each
from treewright.data.table import check_stored
from treewright.exceptions import DataError, MissingValueError, ParameterError
from treewright.neighbors.nearest import clear, joined, keep, select

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Kind = Literal["cosine", "angle", "euclidean"]
KINDS: tuple[Kind, ...] = ("cosine", "angle", "euclidean")
_QUERIES = 32  # queries of a task
_FEW = 128  # up to this many neighbours a sorted array of the nearest is faster than selecting from all
_MOST_ROWS = 2**31 - 1
_MOST_PLACES = 2**30  # columns: their places are int32
_EPS = float(np.finfo(np.float64).eps)
Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]
COSINE, EUCLIDEAN = range(2)
# From this product of unit rows on (60 degrees) 2 - 2 * product begins to lose digits.
_NEAR = 0.5
# More than the total error of underflow in all sums of products.
_LEAST = 2.0**-1000


@dataclass(frozen=True, eq=False)
class SparseRows:
    """The training rows, by row and by column.

    Rank distances of ``"cosine"`` and ``"angle"`` are those of rows of length one, twice the cosine distance: the sum
    of (a - b)^2 if the angle is below 60 degrees, else 2 - 2 * product, which is as exact there. Rows that share no
    column have distance 2 exactly, and so do a row without cells and a row with some; two rows without cells have
    distance 0. For ``"euclidean"`` it is the sum of (a - b)^2 over the columns in order, the same as in a dense search.

    Memory: 28 bytes a nonzero cell, 16 a row and 8 a column with any; about twice that during construction. A search
    needs 8 bytes a row for each thread (32 for more than 128 neighbours, and for rows within a rank), and 12 a cell of
    the queries.

    ``used`` (int64[c], ascending): the columns with any cell.
    ``points`` (tuple of int64[n + 1], int32, float64): the rows; scaled to length one except for ``"euclidean"``.
    ``columns`` (tuple of int64[c + 1], int32, float64): the same cells by column.
    ``lengths`` (float64[n]): squared lengths; ones except for ``"euclidean"``.
    """

    kind: Kind
    n_columns: int
    used: np.ndarray
    points: Arrays
    columns: Arrays
    lengths: np.ndarray

    @classmethod
    def of(cls, rows: Any, kind: Kind) -> SparseRows:
        """Build the index.

        ``rows`` is a scipy sparse matrix of n rows; it is not changed.
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
        by_column = by_row.tocsc()  # rows of a column are ascending
        points = (rows.indptr.astype(np.int64), 2 * by_row.indices.astype(np.int32) + np.int32(1), rows.data)
        columns = (by_column.indptr.astype(np.int64), by_column.indices.astype(np.int32), by_column.data)
        return cls(kind, n_columns, used, points, columns, _lengths(points, kind))

    def __len__(self) -> int:
        return len(self.lengths)

    def nearest(self, points: Any, k: int, n_threads: int) -> tuple[np.ndarray, np.ndarray]:
        """As ``Index.nearest``, for the rows of a scipy sparse matrix of the same columns."""
        queries = self._queries(points)
        n_queries = len(queries.lengths)
        rows, ranks = np.empty((n_queries, k), np.int64), np.empty((n_queries, k))
        if k > _FEW:
            self._nearest_of_all(queries, rows, ranks, n_threads)
            return rows, ranks
        n_tasks = -(-n_queries // _QUERIES)
        sums = [np.empty(len(self)) for _ in range(min(n_threads, n_tasks))]

        def work(task: int, thread: int) -> None:
            begin, end = task * _QUERIES, min((task + 1) * _QUERIES, n_queries)
            nearest_of_block(
                self._formula, queries, begin, end, self.points, self.columns, self.lengths, sums[thread], rows, ranks
            )

        run_each(work, n_tasks, n_threads)
        return rows, ranks

    def _nearest_of_all(self, queries: Queries, rows: np.ndarray, ranks: np.ndarray, n_threads: int) -> None:
        """For many neighbours: all candidates of a query, then the k nearest of them."""
        k = rows.shape[1]
        scratch = self._scratch(n_threads, len(queries.lengths))

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

        run_each(work, len(queries.lengths), n_threads)

    def within(self, points: Any, rank: float, n_threads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As ``Index.within``, for the rows of a scipy sparse matrix of the same columns."""
        queries = self._queries(points)
        n_queries = len(queries.lengths)
        scratch = self._scratch(n_threads, n_queries)
        blocks: list[Arrays] = [()] * n_queries  # type: ignore[list-item]

        def work(query: int, thread: int) -> None:
            own = scratch[thread]
            products(query, queries.rows, self.columns, own[0])
            rows, ranks = self._candidates(queries, query, rank, own)
            rows, ranks = rows[ranks <= rank], ranks[ranks <= rank]
            order = np.argsort(ranks, kind="stable")  # rows are ascending
            blocks[query] = np.array([len(rows)]), rows[order], ranks[order]

        run_each(work, n_queries, n_threads)
        return joined(blocks)

    def _candidates(self, queries: Queries, query: int, bar: float, scratch: Arrays) -> tuple[np.ndarray, np.ndarray]:
        """Rows that may have a rank of at most ``bar``, ascending, with their ranks; views of the scratch."""
        sums, rows, ranks = scratch
        n = within_bar(self._formula, query, queries, float(bar), self.points, self.lengths, sums, rows, ranks)
        return rows[:n], ranks[:n]

    def _scratch(self, n_threads: int, n_tasks: int) -> list[Arrays]:
        n = len(self)
        return [(np.empty(n), np.empty(n, np.int64), np.empty(n)) for _ in range(max(1, min(n_threads, n_tasks)))]

    @property
    def _formula(self) -> int:
        return EUCLIDEAN if self.kind == "euclidean" else COSINE

    def _queries(self, points: Any) -> Queries:
        """Queries, with places of the stored columns."""
        rows = checked_rows(points, self.n_columns)
        if self.kind != "euclidean":
            rows = _directions(rows)
        at = np.searchsorted(self.used, rows.indices)
        is_used = np.append(self.used, -1)[at] == rows.indices
        arrays = (rows.indptr.astype(np.int64), (2 * at + is_used).astype(np.int32), rows.data)
        most = np.diff(self.points[0]).max() + np.diff(rows.indptr)
        # The error of a sum of n terms is at most n / 2 of eps; there are a few such sums.
        return Queries(arrays, _lengths(arrays, self.kind), 8.0 * _EPS * (most + 8.0))


class Queries(NamedTuple):
    """The rows of a query.

    ``rows``: with places of the stored columns; scaled to length one except for ``"euclidean"``.
    ``lengths`` (float64[m]): squared lengths; ones except for ``"euclidean"``.
    ``roundings`` (float64[m]): the largest error of a rank distance from a product, as a share of the squared lengths.
    """

    rows: Arrays
    lengths: np.ndarray
    roundings: np.ndarray


def _used_columns(rows: csr_matrix) -> np.ndarray:
    """int64[c]: the columns with any cell."""
    if rows.shape[1] <= 8 * rows.nnz + 2**20:
        return np.flatnonzero(np.bincount(rows.indices, minlength=rows.shape[1]))
    return np.unique(rows.indices).astype(np.int64)  # with hashed columns, counts of all would be larger than the rows


def _sums_of_squares(ends: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """float64[n]: the sum of squares of each row, over its columns in order."""
    owner = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    with np.errstate(over="ignore", under="ignore"):
        return np.bincount(owner, cells * cells, minlength=len(ends) - 1)  # bincount adds one by one, in order


def _lengths(rows: Arrays, kind: Kind) -> np.ndarray:
    """float64[n]: squared lengths; exactly one except for ``"euclidean"``."""
    return _sums_of_squares(rows[0], rows[2]) if kind == "euclidean" else np.ones(len(rows[0]) - 1)


def _directions(rows: csr_matrix) -> csr_matrix:
    """Rows divided by their lengths, with another column, which is 1 for rows without cells, like dense points."""
    n, p = rows.shape
    empty = np.diff(rows.indptr) == 0
    at = rows.indptr[:-1][empty]
    ends = rows.indptr + np.concatenate([[0], np.cumsum(empty)])
    cells, places = np.insert(rows.data, at, 1.0), np.insert(rows.indices.astype(np.int64), at, p)
    counts = np.diff(ends)
    # Powers of two are exact factors, and then no square is beyond float64.
    largest = np.maximum.reduceat(np.abs(cells), ends[:-1])
    cells = np.ldexp(cells, np.repeat(-np.frexp(largest)[1], counts))
    cells /= np.repeat(np.sqrt(_sums_of_squares(ends, cells)), counts)
    return type(rows)((cells, places, ends), shape=(n, p + 1))


def checked_rows(X: Any, n_columns: int | None = None, name: str = "X") -> csr_matrix:
    """A copy of a sparse table in canonical form: float64, columns of a row ascending and distinct, no stored zeros.

    ``X``: it is not changed. Cells given twice are added up, as in scipy. ``n_columns``: the required number of
    columns, that of the fit.
    """
    from scipy.sparse import csr_matrix, issparse  # takes 50 ms, which dense tables do not need

    if not issparse(X):
        raise DataError(f"{name} is a {type(X).__name__}: give a scipy sparse matrix")
    if len(X.shape) != 2:
        raise DataError(f"{name} has shape {X.shape}: give a sparse matrix of two dimensions, such as csr_matrix")
    n, p = (int(size) for size in X.shape)
    if n < 1 or p < 1:
        raise DataError(f"{name} has shape ({n}, {p}): at least one row (sample) and one column (feature) are needed")
    if n > _MOST_ROWS:
        raise DataError(f"{name} has {n} rows: a sparse search takes up to {_MOST_ROWS}; use fewer")
    if n_columns is not None and p != n_columns:
        raise DataError(f"{name} has {p} columns (features), the training rows have {n_columns}: give the same ones")
    if X.dtype.kind not in "biuf":
        raise DataError(f"{name} has cells of dtype {X.dtype}: give real numbers")
    check_stored(X)
    rows = csr_matrix(X, dtype=np.float64, copy=True)
    rows.has_sorted_indices = rows.has_canonical_format = False  # the matrix's own flags are not trusted
    rows.prune()  # arrays may be longer than needed
    _check_cells(rows, name, "")
    rows.sum_duplicates()
    _check_cells(rows, name, ", where cells given twice are added up")
    rows.eliminate_zeros()
    return rows


def _check_cells(rows: csr_matrix, name: str, when: str) -> None:
    """Refuse cells that are nan or infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(rows.data.sum()):  # one pass; if the sum is not finite the cells are checked
            return
    for is_wrong, what, error in (
        (np.isnan(rows.data), "missing (NaN)", MissingValueError),
        (np.isinf(rows.data), "infinite (infinity)", DataError),
    ):
        if is_wrong.any():
            at = int(is_wrong.argmax())
            row = int(np.searchsorted(rows.indptr, at, side="right")) - 1
            raise error(
                f"{name} has {int(is_wrong.sum())} {what} cell(s){when} (first at row {row}, column "
                f"{int(rows.indices[at])}): sparse rows need finite numbers; fill them in or drop the rows"
            )


@inner_kernel
def _sum_products(query, queries, columns, sums):
    """Add up the products of a query and every row, over the columns in order, in ``sums`` float64[n].

    ``queries`` are int64[m + 1], int32[k] and float64[k], ``columns`` int64[c + 1], int32[j] and float64[j].
    """
    ends, places, cells = queries
    column_ends, rows, column_cells = columns
    for row in range(len(sums)):
        sums[np.uintp(row)] = 0.0
    for at in range(ends[query], ends[query + 1]):
        if places[at] & 1:
            cell, column = cells[at], places[at] >> 1
            for entry in range(column_ends[column], column_ends[column + 1]):
                sums[np.uintp(rows[np.uintp(entry)])] += cell * column_cells[np.uintp(entry)]


@inner_kernel
def _squares(query, queries, row, points):
    """The sum of (a - b)^2 over the columns in order, without columns that both lack, which would add 0.

    ``queries`` are int64[m + 1], int32[k] and float64[k], ``points`` int64[n + 1], int32[j] and float64[j].
    """
    ends, places, cells = queries
    own_ends, own_places, own_cells = points
    at, stop = own_ends[row], own_ends[row + 1]
    total = 0.0
    for other in range(ends[query], ends[query + 1]):
        place, gap = places[other], cells[other]
        while at < stop and own_places[at] < place:
            total += own_cells[at] * own_cells[at]
            at += 1
        if at < stop and own_places[at] == place:
            gap -= own_cells[at]
            at += 1
        total += gap * gap
    while at < stop:
        total += own_cells[at] * own_cells[at]
        at += 1
    return total


@inner_kernel
def _rank(kind, product, query, queries, row, points):
    """The rank distance of a query and a row whose product is known.

    ``queries`` are int64[m + 1], int32[k] and float64[k], ``points`` int64[n + 1], int32[j] and float64[j].
    """
    if kind == COSINE and product < _NEAR:
        return 2.0 - 2.0 * product
    return _squares(query, queries, row, points)


@inner_kernel
def _may_be_within(bar, product, length, rounding):
    """Whether a rank distance may be at most ``bar``, by the product.

    ``length`` is the sum of both squared lengths. If it is beyond float64 the result is True.
    """
    rough = (length - rounding * length) - 2.0 * product - _LEAST
    return rough <= bar or not abs(rough) < np.inf


@costs(lambda kind, queries, begin, end, points, columns, lengths, *_: (end - begin) * (len(lengths) + columns[2].size))
@kernel
def nearest_of_block(kind, queries, begin, end, points, columns, own_lengths, sums, rows, ranks):
    """The nearest rows of queries ``begin`` to ``end - 1``.

    Parameters
    ----------
    kind : int
        ``COSINE`` (cells are those of unit rows) or ``EUCLIDEAN``.
    queries : Queries
    points, columns
        Those of ``SparseRows``.
    own_lengths : float64[n], IN
        ``SparseRows.lengths``.
    sums : float64[n], OUT
        Scratch.
    rows : int64[m, k], OUT
    ranks : float64[m, k], OUT
        For each query ordered by (rank, row).
    """
    n, last = len(own_lengths), ranks.shape[1] - 1
    for query in range(begin, end):
        _sum_products(query, queries.rows, columns, sums)
        its_ranks, its_rows = ranks[query], rows[query]
        length, rounding = queries.lengths[query], queries.roundings[query]
        # Two sweeps. The first finds the bar, which k ranks certainly do not exceed. The second measures the rows that
        # may be below it.
        clear(its_ranks, its_rows)
        for row in range(n):
            both = length + own_lengths[np.uintp(row)]
            most = (both + rounding * both) - 2.0 * sums[np.uintp(row)]
            if most < its_ranks[last]:
                keep(most, row, its_ranks, its_rows)
        bar = its_ranks[last]
        clear(its_ranks, its_rows)
        for row in range(n):
            product = sums[np.uintp(row)]
            if _may_be_within(bar, product, length + own_lengths[np.uintp(row)], rounding):
                rank = _rank(kind, product, query, queries.rows, row, points)
                if rank <= its_ranks[last]:
                    keep(rank, row, its_ranks, its_rows)


@kernel
def products(query, queries, columns, sums):
    """``sums`` float64[n], OUT: the products of one query with every row, over the columns in order.

    ``queries`` and ``columns`` as ``_sum_products``.
    """
    _sum_products(query, queries, columns, sums)


@kernel
def within_bar(kind, query, queries, bar, points, own_lengths, sums, rows, ranks):
    """All rows whose rank distance from a query is at most ``bar``, and possibly some more.

    ``sums`` float64[n] is that of ``products``; everything else is as for ``nearest_of_block``. Writes ``rows``
    int64[n], ascending, and ``ranks`` float64[n]; returns their number.
    """
    n_found = 0
    for row in range(len(sums)):
        if _may_be_within(bar, sums[row], queries.lengths[query] + own_lengths[row], queries.roundings[query]):
            rows[n_found] = row
            ranks[n_found] = _rank(kind, sums[row], query, queries.rows, row, points)
            n_found += 1
    return n_found
