"""What neighbours say together: weights, shares, means."""

from __future__ import annotations

import math

import numpy as np
import pytest

from treewright.exceptions import ParameterError
from treewright.neighbors.votes import KERNELS, NAMES, means, shares, wants_next, weights_of

NEAR = np.array([[0.5, 1.0, 2.0], [3.0, 3.0, 6.0]])
NEXT = np.array([4.0, 6.0])
# Table 1 of Hechenbichler and Schliep (2004), up to constant factors.
OF_THE_PAPER = {
    "triangular": lambda u: 1 - u,
    "epanechnikov": lambda u: 1 - u**2,
    "biweight": lambda u: (1 - u**2) ** 2,
    "tricube": lambda u: (1 - u**3) ** 3,
    "gaussian": lambda u: math.exp(-(u**2) / 2),
}


def test_uniform_weights_are_none():
    assert weights_of(NEAR, None, "uniform") is None
    assert not wants_next("uniform")


def test_distance_weights_are_one_over_the_distance_up_to_a_power_of_two_per_row():
    found = weights_of(NEAR, None, "distance")

    for row, distances in zip(found, NEAR, strict=True):
        factors = row * distances
        assert factors == pytest.approx(factors[0], rel=1e-15)
        assert math.frexp(row[0] * distances[0])[0] == 0.5


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_those_of_the_paper(name):
    found = weights_of(NEAR, NEXT, name)

    assert wants_next(name)
    for i, j in np.ndindex(NEAR.shape):
        assert found[i, j] == pytest.approx(OF_THE_PAPER[name](NEAR[i, j] / NEXT[i]), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("name", KERNELS)
def test_without_a_next_neighbour_the_last_one_stands_for_it(name):
    assert weights_of(NEAR, None, name).tolist() == weights_of(NEAR, NEAR[:, -1], name).tolist()


def test_rows_at_distance_zero_alone_count_and_alike():
    found = weights_of(np.array([[0.0, 0.0, 1.0], [1.0, 2.0, 4.0]]), None, "distance")

    assert found.tolist() == [[1.0, 1.0, 0.0], [1.0, 0.5, 0.25]]


@pytest.mark.parametrize("name", [each for each in NAMES if each != "uniform"])
def test_where_everything_is_at_distance_zero_all_count_alike(name):
    found = weights_of(np.zeros((1, 3)), np.zeros(1), name)

    assert len(set(found[0].tolist())) == 1
    assert found[0, 0] > 0


@pytest.mark.parametrize("name", ["triangular", "epanechnikov", "biweight", "tricube"])
def test_where_all_are_as_far_as_the_next_one_all_count_alike(name):
    assert weights_of(np.full((1, 3), 2.0), np.array([2.0]), name).tolist() == [[1.0, 1.0, 1.0]]


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1.0, 1e300])
def test_distances_of_any_size_have_finite_weights(scale):
    distances = np.array([[1.0, 2.0, 4.0]]) * scale
    found = weights_of(distances, None, "distance")

    assert (found / found[0, 0]).tolist() == [[1.0, 0.5, 0.25]]


def test_a_function_gets_the_distances_and_may_write_to_them():
    seen = []

    def own(distances):
        seen.append(distances.copy())
        distances[:] = 1.0
        return distances * [3.0, 2.0, 1.0]

    near = NEAR.copy()
    found = weights_of(near, None, own)

    assert seen[0].tolist() == NEAR.tolist() == near.tolist()
    assert (found / found[:, -1:]).tolist() == [[3.0, 2.0, 1.0]] * 2


def test_weights_of_zero_in_a_row_make_its_neighbours_count_alike():
    found = weights_of(NEAR, None, lambda distances: np.where(distances < 3, distances, 0.0) * [[1.0], [0.0]])

    assert (found[0] / found[0, 0]).tolist() == [1.0, 2.0, 4.0]
    assert found[1].tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("scale", [1e-320, 1.7e308])
def test_own_weights_of_any_size_give_shares(scale):
    weights = weights_of(NEAR, None, lambda distances: np.full(distances.shape, scale))

    found = shares(np.array([[0, 1, 1], [1, 1, 1]], np.int32), weights, 2)
    assert found.ravel() == pytest.approx([1 / 3, 2 / 3, 0.0, 1.0], rel=1e-15)


@pytest.mark.parametrize(
    ("own", "says"),
    [
        (lambda d: d[:, :2], r"shape \(2, 2\) for distances of shape \(2, 3\)"),
        (lambda d: 1.0, r"shape \(\) for distances"),
        (lambda d: -d, r"6 weight\(s\) that are negative or not finite \(the first is -0.5, for distance 0.5\)"),
        (lambda d: d * np.nan, "negative or not finite"),
        (lambda d: np.full(d.shape, np.inf), "negative or not finite"),
        (lambda d: "many", "return numbers of the same shape"),
        (lambda d: None, "negative or not finite|shape"),
    ],
    ids=["fewer", "one number", "negative", "nan", "infinite", "text", "nothing"],
)
def test_functions_that_return_no_weights_are_refused(own, says):
    with pytest.raises(ParameterError, match=says):
        weights_of(NEAR, None, own)


@pytest.mark.parametrize("weights", [None, np.random.default_rng(1).random((40, 7))], ids=["alike", "weighted"])
def test_shares_and_means_are_those_of_plain_loops(weights):
    rng = np.random.default_rng(0)
    rows, codes, values = rng.integers(0, 30, (40, 7)), rng.integers(0, 4, 30, np.int32), rng.normal(size=(30, 2))

    found, mean = shares(codes[rows], weights, 4), means(values, rows, weights)

    for i in range(40):
        votes, total, sums = [0.0] * 4, 0.0, [0.0, 0.0]
        for j in range(7):
            weight = 1.0 if weights is None else float(weights[i, j])
            votes[codes[rows[i, j]]] += weight
            total += weight
            sums = [at + weight * value for at, value in zip(sums, values[rows[i, j]].tolist(), strict=True)]
        assert found[i].tolist() == [vote / sum(votes) for vote in votes]
        assert mean[i].tolist() == [each / total for each in sums]


def test_an_answer_depends_on_its_own_row_only():
    rng = np.random.default_rng(0)
    rows, weights, values = rng.integers(0, 30, (50, 9)), rng.random((50, 9)), rng.normal(size=(30, 1))
    codes = rng.integers(0, 3, 30, np.int32)[rows]

    together = means(values, rows, weights), shares(codes, weights, 3)
    for i in range(50):
        assert means(values, rows[i : i + 1], weights[i : i + 1]).tobytes() == together[0][i].tobytes()
        assert shares(codes[i : i + 1], weights[i : i + 1], 3).tobytes() == together[1][i].tobytes()


@pytest.mark.parametrize("weights", [None, np.array([[1.0, 2.0]])])
def test_means_of_numbers_near_the_end_of_float64_are_finite(weights):
    values = np.array([[1.7e308, -1.7e308], [1.7e308, -1.7e308]])

    assert means(values, np.array([[0, 1]]), weights).ravel() == pytest.approx([1.7e308, -1.7e308], rel=1e-15)


def test_no_rows_have_no_answers():
    nobody = np.empty((0, 3), np.int64)

    assert shares(nobody.astype(np.int32), None, 2).shape == (0, 2)
    assert means(np.ones((4, 2)), nobody, None).shape == (0, 2)
    assert weights_of(np.empty((0, 3)), np.empty(0), "tricube").shape == (0, 3)
    assert weights_of(np.empty((0, 3)), None, "distance").shape == (0, 3)
