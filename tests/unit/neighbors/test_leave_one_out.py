"""Answers for every number of neighbours are those of a model with that many."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from treewright.neighbors import votes
from treewright.neighbors.metrics import Metric
from treewright.neighbors.nearest import CANBERRA, MANHATTAN, SQUARES
from treewright.neighbors.stored import Stored
from treewright.neighbors.votes import (
    KERNELS,
    answers_by_k,
    answers_without_itself,
    is_fixed,
    means,
    shares,
    wants_next,
    weights_of,
)

WEIGHTS = ["uniform", "distance", *KERNELS, lambda distances: np.exp(-distances), lambda distances: 0.0 * distances]


def stored_rows(n, n_classes, seed, n_outputs=1):
    """Points on a coarse grid: many are equal, many as far from each other."""
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 4, (n, 2)).astype(np.float64)
    if n_classes:
        return Stored(Metric("euclidean", SQUARES), points, codes=rng.integers(0, n_classes, (n, n_outputs), np.int32))
    return Stored(Metric("euclidean", SQUARES), points, values=rng.normal(size=(n, n_outputs)))


def said_by_definition(stored, row, k, weights, class_counts):
    """Every other row measured and sorted, then one vote."""
    gaps = ((stored.points - stored.points[row]) ** 2)[:, 0] + ((stored.points - stored.points[row]) ** 2)[:, 1]
    order = [other for other in sorted(range(len(gaps)), key=lambda at: (gaps[at], at)) if other != row]
    distances, near = np.sqrt(gaps[order])[None], np.array(order)[None]
    next_distances = distances[:, k] if wants_next(weights) and k < len(order) else None
    weighed = weights_of(distances[:, :k], next_distances, weights)
    if class_counts:
        parts = [shares(stored.codes[near[:, :k], at], weighed, size) for at, size in enumerate(class_counts)]
        return [int(part[0].argmax()) for part in parts]
    return means(stored.values, near[:, :k], weighed)[0].tolist()


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("class_counts", [[2], [5, 3], []])
@pytest.mark.parametrize("most", [30, 69])
def test_every_k_has_the_answers_of_a_search_of_its_own(weights, class_counts, most, monkeypatch):
    monkeypatch.setattr(votes, "_BLOCK_BYTES", 1)
    n = 70
    stored = stored_rows(n, max(class_counts, default=0), 0, max(1, len(class_counts)))
    if class_counts:
        stored = Stored(stored.metric, stored.points, codes=(stored.codes % class_counts).astype(np.int32))
    k_values = [1, 2, 3, 7, most]

    blocks = list(answers_without_itself(stored, k_values, weights, class_counts, 2))

    assert [block[:2] for block in blocks] == [(0, 64), (64, 70)]
    found = np.concatenate([said for *_, said in blocks], axis=1)
    for row in range(n):
        for at, k in enumerate(k_values):
            assert found[at, row].tolist() == said_by_definition(stored, row, k, weights, class_counts)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_threads_change_nothing(n_threads):
    stored = stored_rows(90, 0, 1)

    one, other = (
        [said for *_, said in answers_without_itself(stored, range(1, 20), "distance", [], threads)]
        for threads in (1, n_threads)
    )

    assert np.concatenate(one, axis=1).tobytes() == np.concatenate(other, axis=1).tobytes()


def test_of_many_duplicates_each_is_without_itself():
    stored = Stored(Metric("euclidean", SQUARES), np.zeros((5, 1)), values=np.arange(5.0)[:, None])

    [(_, _, said)] = answers_without_itself(stored, [1, 2], "uniform", [], 1)

    assert said[0, :, 0].tolist() == [1.0, 0.0, 0.0, 0.0, 0.0]
    assert said[1, :, 0].tolist() == [1.5, 1.0, 0.5, 0.5, 0.5]


def test_equal_votes_go_to_the_first_class():
    stored = Stored(Metric("euclidean", SQUARES), np.zeros((1, 1)), codes=np.array([[2], [1], [2], [1], [0]], np.int32))
    rows = np.arange(5)[None]

    said = answers_by_k(stored, rows, np.ones((1, 5)), [1, 2, 3, 4, 5], "uniform", [3])

    assert said[:, 0, 0].tolist() == [2, 1, 2, 1, 1]


def test_numbers_whose_sum_is_beyond_floats_have_their_mean():
    stored = Stored(Metric("euclidean", SQUARES), np.zeros((1, 1)), values=np.array([[1.5e308], [1.0e308], [-1e308]]))

    said = answers_by_k(stored, np.arange(3)[None], np.ones((1, 3)), [1, 2, 3], "uniform", [])

    np.testing.assert_allclose(said[:, 0, 0], [1.5e308, 1.25e308, 0.5e308], rtol=1e-15)


def test_sparse_rows_are_left_out_as_well():
    points = csr_matrix([[1.0, 0], [1, 0.1], [0, 1], [0.1, 1]])
    stored = Stored(Metric("cosine", SQUARES), points, codes=np.array([[0], [0], [1], [1]], np.int32))

    [(_, _, said)] = answers_without_itself(stored, [1], "distance", [2], 1)

    assert said[0, :, 0].tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("metric", "fixed"),
    [
        (Metric("euclidean", SQUARES), True),
        (Metric("cosine", SQUARES, scales=np.array([2.0])), True),
        (Metric("canberra", CANBERRA, scales=np.array([2.0])), True),
        (Metric("euclidean", SQUARES, scales=np.array([2.0])), False),
        (Metric("cosine", SQUARES, center=np.zeros(1), scales=np.array([2.0])), False),
        (Metric("manhattan", MANHATTAN, center=np.zeros(1)), False),
        (Metric("mahalanobis", SQUARES, transform=np.eye(1)), False),
    ],
)
def test_a_metric_that_learned_from_the_rows_is_not_fixed(metric, fixed):
    assert is_fixed(metric) == fixed
