"""Sparse rows are searched as if they were dense."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array, csc_matrix, csr_array, csr_matrix, dok_matrix, lil_matrix, vstack
from sklearn.neighbors import NearestNeighbors

from treewright import KNeighborsRegressor
from treewright.exceptions import DataError, MissingValueError, ParameterError
from treewright.neighbors import sparse
from treewright.neighbors.metrics import Metric
from treewright.neighbors.nearest import SQUARES
from treewright.neighbors.sparse import KINDS, SparseRows, checked_rows


def documents(n, p, per_row, seed, negative=False):
    """Rows of counts of terms, the first terms in most rows."""
    rng = np.random.default_rng(seed)
    terms = np.minimum((rng.pareto(0.7, n * per_row) * 2).astype(np.int64), p - 1)
    cells = rng.choice([1.0, 2.0, 3.0, 0.37], n * per_row) * (rng.choice([-1.0, 1.0], n * per_row) if negative else 1.0)
    return csr_matrix((cells, (np.repeat(np.arange(n), per_row), terms)), shape=(n, p))


@pytest.mark.parametrize("kind", ["cosine", "euclidean"])
def test_neighbours_are_those_of_scikit_learn(kind):
    rows, queries = documents(400, 3000, 30, 0), documents(60, 3000, 30, 1)
    distances, theirs = NearestNeighbors(n_neighbors=8, metric=kind, algorithm="brute").fit(rows).kneighbors(queries)

    ours, ranks = SparseRows.of(rows, kind).nearest(queries, 7, 2)

    own = ranks / 2 if kind == "cosine" else np.sqrt(ranks)
    np.testing.assert_allclose(own, distances[:, :7], atol=1e-12)
    gaps = np.diff(distances, axis=1).min(axis=1)  # rows as far as each other may stand in either order
    clear = gaps > 1e-9
    assert clear.sum() > 10
    assert (ours[clear] == theirs[clear, :7]).all()


def test_euclidean_ranks_have_the_bits_of_a_sum_over_all_columns():
    rows, queries = documents(80, 300, 20, 2), documents(9, 300, 20, 3)

    found, ranks = SparseRows.of(rows, "euclidean").nearest(queries, 80, 1)

    dense, points = rows.toarray(), queries.toarray()
    for query in range(9):
        own = np.zeros(80)
        for column in range(300):
            own += (points[query, column] - dense[:, column]) ** 2
        order = np.lexsort((np.arange(80), own))
        assert found[query].tolist() == order.tolist()
        assert ranks[query].tolist() == own[order].tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 5, 129, 300])
def test_threads_and_blocks_change_nothing(kind, k, monkeypatch):
    rows, queries = documents(300, 500, 8, 4, negative=True), documents(50, 500, 8, 5, negative=True)
    index = SparseRows.of(rows, kind)
    found, ranks = index.nearest(queries, k, 1)

    monkeypatch.setattr(sparse, "_QUERIES", 3)
    monkeypatch.setattr(sparse, "_FEW", 4)
    again = index.nearest(queries, k, 3)
    alone = [index.nearest(queries[at], k, 2) for at in range(queries.shape[0])]

    assert (again[0] == found).all()
    assert again[1].tobytes() == ranks.tobytes()
    assert np.concatenate([rows for rows, _ in alone]).tolist() == found.tolist()
    assert np.concatenate([ranks for _, ranks in alone]).tobytes() == ranks.tobytes()


@pytest.mark.parametrize("k", [3, 6])
def test_rows_without_a_common_column_are_at_cosine_one_in_order(k, monkeypatch):
    monkeypatch.setattr(sparse, "_FEW", 4)
    rows = csr_matrix([[0, 7.3, 0], [0, 0, 0], [0.1, 0, 0], [0, 3, 0.3], [0, 0, 1 / 3], [0.7, 0, 0]])

    found, ranks = SparseRows.of(rows, "cosine").nearest(csr_matrix([[0.3, 0, 0]]), k, 1)

    assert found[0].tolist() == [2, 5, 0, 1, 3, 4][:k]
    assert ranks[0].tolist() == [0, 0, 2, 2, 2, 2][:k]


def test_a_row_without_cells_is_at_cosine_one_from_all_but_its_like():
    rows = csr_matrix([[1.0, 0.0], [0.0, 0.0], [2.0, 2.0]])

    found, ranks = SparseRows.of(rows, "cosine").nearest(csr_matrix((1, 2)), 3, 1)

    assert found.tolist() == [[1, 0, 2]]
    assert ranks.tolist() == [[0.0, 2.0, 2.0]]


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_rows_have_the_distances_of_dense_ones(kind):
    rows, queries = documents(50, 12, 3, 8, negative=True), documents(20, 12, 3, 9, negative=True)
    rows = vstack([rows, csr_matrix((2, 12))]).tocsr()
    queries = vstack([queries, csr_matrix((1, 12))]).tocsr()
    dense, _ = KNeighborsRegressor(52, metric=kind).fit(rows.toarray(), np.zeros(52)).kneighbors(queries.toarray())

    _, ranks = SparseRows.of(rows, kind).nearest(queries, 52, 1)

    np.testing.assert_allclose(Metric(kind, SQUARES).distances(ranks), dense, rtol=1e-12, atol=1e-15)


def test_opposite_rows_are_farthest():
    found, ranks = SparseRows.of(csr_matrix([[-1.0, 0], [0, 1], [1, 0]]), "cosine").nearest(
        csr_matrix([[3.0, 0]]), 3, 1
    )

    assert found.tolist() == [[2, 1, 0]]
    assert ranks.tolist() == [[0.0, 2.0, 4.0]]


def test_near_duplicates_keep_their_order_under_the_cosine():
    angles = np.array([4e-9, 1e-9, 3e-9, 0.0, 2e-9])
    rows = csr_matrix(np.column_stack([np.ones(5), np.zeros(5), angles]))

    found, ranks = SparseRows.of(rows, "cosine").nearest(csr_matrix([[2.0, 0.0, 0.0]]), 5, 1)

    assert found.tolist() == [[3, 1, 4, 2, 0]]
    np.testing.assert_allclose(np.sqrt(ranks[0]), np.sort(angles), rtol=1e-12)


def test_close_rows_far_from_the_origin_keep_their_order():
    offsets = np.array([3e-9, 1e-9, 2e-9])
    rows = csr_matrix(np.column_stack([np.full(3, 1e6), 1.0 + offsets, np.zeros(3)]))

    found, ranks = SparseRows.of(rows, "euclidean").nearest(csr_matrix([[1e6, 1.0, 0.0]]), 3, 1)

    assert found.tolist() == [[1, 2, 0]]
    assert ranks[0, 0] == ((1.0 + 1e-9) - 1.0) ** 2


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("size", [1e200, 1e-200, 5e-324])
def test_sizes_beyond_the_squares_of_floats_do_not_matter_to_the_cosine(size, k, monkeypatch):
    monkeypatch.setattr(sparse, "_FEW", 2)
    shape = np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]])

    found, ranks = SparseRows.of(csr_matrix(shape * size), "cosine").nearest(csr_matrix([[0, 2.0, 0]]), k, 1)

    assert found[0].tolist() == [1, 2, 0, 3][:k]
    np.testing.assert_allclose(ranks[0], [0, 2 - np.sqrt(2), 2, 2][:k], rtol=1e-15)


@pytest.mark.parametrize("k", [2, 3])
def test_rows_whose_squared_lengths_are_beyond_floats_are_compared_by_their_differences(k, monkeypatch):
    monkeypatch.setattr(sparse, "_FEW", 2)
    rows = csr_matrix([[1e200, 1.0], [1e200, 3.0], [5.0, 5.0]])

    found, ranks = SparseRows.of(rows, "euclidean").nearest(csr_matrix([[1e200, 2.5]]), k, 1)

    assert found[0].tolist() == [1, 0, 2][:k]
    assert ranks[0].tolist() == [0.25, 2.25, np.inf][:k]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_within_a_rank_are_the_beginning_of_all_neighbours(kind):
    rows, queries = documents(200, 400, 10, 6), documents(20, 400, 10, 7)
    index = SparseRows.of(rows, kind)
    found, ranks = index.nearest(queries, 200, 1)
    limit = float(np.median(ranks))

    offsets, within, within_ranks = index.within(queries, limit, 2)

    assert offsets.dtype == within.dtype == np.int64
    inside = ranks <= limit
    assert 0 < inside.sum() < inside.size
    assert np.diff(offsets).tolist() == inside.sum(axis=1).tolist()
    assert within.tolist() == found[inside].tolist()
    assert within_ranks.tobytes() == ranks[inside].tobytes()


def test_nothing_within_a_negative_rank():
    offsets, rows, ranks = SparseRows.of(csr_matrix([[1.0, 0.0]]), "cosine").within(csr_matrix([[1.0, 0.0]]), -1.0, 1)

    assert (offsets.tolist(), rows.tolist(), ranks.tolist()) == ([0, 0], [], [])


def test_columns_that_no_stored_row_has_still_separate():
    rows = csr_matrix(([1.0, 1.0], ([0, 1], [5, 900])), shape=(2, 10**9))
    query = csr_matrix(([1.0, 2.0, 2.0, 1.0], ([0, 0, 0, 0], [4, 5, 10**9 - 1, 6])), shape=(1, 10**9))

    found, ranks = SparseRows.of(rows, "euclidean").nearest(query, 2, 1)

    assert found.tolist() == [[0, 1]]
    assert ranks.tolist() == [[7.0, 11.0]]


@pytest.mark.parametrize("form", [coo_array, csc_matrix, csr_array, dok_matrix, lil_matrix])
def test_every_format_is_the_same_table_and_stays_as_it_is(form):
    plain = documents(30, 50, 6, 8)
    table = form(plain)
    before = table.toarray()

    rows = checked_rows(table)

    assert (rows.toarray() == before).all()
    assert (table.toarray() == before).all()
    assert rows.format == "csr"
    assert rows.dtype == np.float64


def test_unsorted_doubled_and_zero_cells_are_put_right():
    ends, places = np.array([0, 4, 5], np.int64), np.array([3, 1, 3, 0, 2], np.int64)
    table = csr_matrix((np.array([1, 2, -1, 4, 0]), places, ends), shape=(2, 4))
    table.has_sorted_indices = table.has_canonical_format = True  # a lie

    rows = checked_rows(table)

    assert rows.indices.tolist() == [0, 1]
    assert rows.data.tolist() == [4.0, 2.0]
    assert rows.indptr.tolist() == [0, 2, 2]


def put_together(cells, places, ends, shape, form=csr_matrix):
    """A matrix whose arrays nobody looked at."""
    table = form(shape)
    table.data, table.indices, table.indptr = np.array(cells, np.float64), np.array(places), np.array(ends)
    return table


@pytest.mark.parametrize("form", [csr_matrix, csc_matrix])
@pytest.mark.parametrize(
    ("places", "ends", "said"),
    [
        ([0, 9], [0, 1, 2], "stored cell 1 is in (row|column) 9"),
        ([0, -1], [0, 1, 2], "stored cell 1 is in (row|column) -1"),
        ([0, 1], [0, 2, 1], "falls at entry 2"),
        ([0, 1], [0, 1, 5], "indptr ends with 5"),
        ([0, 1], [1, 1, 2], "begin with 0"),
        ([0, 1], [0, 1, 1, 2], "have 3 entries"),
        ([0], [0, 1, 2], "1 cells are stored"),
    ],
)
def test_arrays_that_make_no_matrix_are_refused(form, places, ends, said):
    with pytest.raises(DataError, match=said):
        checked_rows(put_together([1.0, 2.0], places, ends, (2, 2), form))


def test_coordinates_outside_the_matrix_are_refused():
    table = coo_array(([1.0], ([0], [1])), shape=(2, 2))
    table.coords = (np.array([0]), np.array([5]))

    with pytest.raises(DataError, match="stored cell 0 is in column 5"):
        checked_rows(table)


@pytest.mark.parametrize(
    ("cells", "error", "said"),
    [
        ([1.0, np.nan, np.nan], MissingValueError, r"2 missing \(NaN\) cell.*row 1, column 2"),
        ([1.0, -np.inf, 3.0], DataError, r"1 infinite \(infinity\) cell.*row 1, column 2"),
    ],
)
def test_missing_and_infinite_cells_are_refused_by_place(cells, error, said):
    with pytest.raises(error, match=said):
        checked_rows(csr_matrix((cells, ([0, 1, 2], [0, 2, 1])), shape=(3, 3)))


def test_doubled_cells_whose_sum_is_infinite_are_refused():
    table = put_together([1e308, 1e308], [0, 0], [0, 2], (1, 2))

    with pytest.raises(DataError, match="given twice are added up"):
        checked_rows(table)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (np.eye(2), "is a ndarray"),
        (csr_matrix((0, 3)), r"\(0, 3\)"),
        (csr_matrix((3, 0)), r"\(3, 0\)"),
        (csr_matrix(np.eye(2) * 1j), "complex"),
        (coo_array(np.array([1.0, 2.0])), "two dimensions"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(table, said):
    with pytest.raises(DataError, match=said):
        checked_rows(table)


def test_queries_of_other_columns_and_unknown_kinds_are_refused():
    with pytest.raises(DataError, match=r"2 columns .* have 3"):
        SparseRows.of(csr_matrix(np.eye(3)), "cosine").nearest(csr_matrix(np.eye(2)), 1, 1)
    with pytest.raises(ParameterError, match="'manhattan'"):
        SparseRows.of(csr_matrix(np.eye(3)), "manhattan")


def test_counts_of_whole_numbers_and_truths_are_numbers():
    for kind in (np.int32, np.bool_, np.float32):
        index = SparseRows.of(csr_matrix(np.eye(3, dtype=kind)), "cosine")
        assert index.nearest(csr_matrix(np.eye(3)), 1, 1)[0].ravel().tolist() == [0, 1, 2]
