"""Which index searches: the rule of shape, and what a user may ask for."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from treewright.data.encoder import encode_fit
from treewright.exceptions import ParameterError
from treewright.neighbors.metrics import metric_of
from treewright.neighbors.sparse import SparseRows
from treewright.neighbors.stored import Stored, index_for, search_for


def metric_for(name, columns):
    rows = np.random.default_rng(0).random((30, columns))
    schema, matrix = encode_fit(rows)
    return metric_of(name, matrix, schema, p=3.0 if name == "minkowski" else 2.0, target=np.arange(30) % 2)


@pytest.mark.parametrize(
    ("name", "few", "many"),
    [
        ("euclidean", "kd_tree", "brute"),
        ("cosine", "kd_tree", "brute"),
        ("mahalanobis", "kd_tree", "brute"),
        ("manhattan", "kd_tree", "direct"),
        ("chebyshev", "kd_tree", "direct"),
        ("minkowski", "kd_tree", "direct"),
        ("hamming", "direct", "direct"),
        ("canberra", "direct", "direct"),
        ("jaccard", "direct", "direct"),
        ("gower", "mixed", "mixed"),
        ("hvdm", "mixed", "mixed"),
    ],
)
def test_few_columns_are_searched_in_a_tree_where_the_metric_allows(name, few, many):
    for columns, expected in ((3, few), (25, many)):
        metric, points = metric_for(name, columns), np.zeros((1000, columns))
        assert search_for(metric, points, "auto") == expected
        assert search_for(metric, points, "brute") == many
        assert search_for(metric, points[:20], "auto") == many
        if few == "kd_tree":
            assert search_for(metric, points, "kd_tree") == "kd_tree"
        else:
            with pytest.raises(ParameterError, match=f"'kd_tree' cannot search metric='{name}'"):
                search_for(metric, points, "kd_tree")


def test_an_unknown_algorithm_is_refused_by_name():
    with pytest.raises(ParameterError, match="algorithm='ball_tree': give one of 'auto', 'brute', 'kd_tree'"):
        search_for(metric_for("euclidean", 2), np.zeros((9, 2)), "ball_tree")


def test_sparse_points_have_an_index_of_their_own():
    index = index_for(metric_for("cosine", 3), csr_matrix(np.eye(3)), "auto", 1)

    assert isinstance(index, SparseRows)
    with pytest.raises(ParameterError, match="cannot search sparse rows"):
        search_for(metric_for("cosine", 3), csr_matrix(np.eye(3)), "kd_tree")


def test_the_index_is_made_once_and_left_out_of_pickles():
    stored = Stored(metric_for("euclidean", 2), np.random.default_rng(0).random((200, 2)), values=np.zeros((200, 1)))

    assert stored.index() is stored.index(2)
    again = pickle.loads(pickle.dumps(stored))
    assert "_index" not in again.__dict__
    assert again.nearest(stored.points, 3, 1)[0].tolist() == stored.nearest(stored.points, 3, 1)[0].tolist()
    assert stored.nbytes == 200 * 2 * 8 + 200 * 8


def test_others_are_the_nearest_without_the_row_itself_also_among_many_duplicates():
    points = np.repeat(np.arange(4.0), 5)[:, None]
    stored = Stored(metric_for("euclidean", 1), points, values=np.zeros((20, 1)))

    rows, distances = stored.others(0, 20, 3, 1)

    for i in range(20):
        known = sorted((abs(points[i, 0] - points[j, 0]), j) for j in range(20) if j != i)[:3]
        assert rows[i].tolist() == [j for _, j in known]
        assert distances[i].tolist() == [distance for distance, _ in known]
    assert stored.others(7, 9, 3, 1)[0].tolist() == rows[7:9].tolist()
