"""Gradients, quantiles of leaves and exact sums are those of their slow twins."""

from __future__ import annotations

import itertools
from itertools import pairwise

import naive_losses as twin
import numba
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from treewright.boosting.best_constants import (
    exact_sum,
    expectile_of,
    grouped_sums,
    huber_centre,
    leaf_quantiles,
    middle_of_bits,
    weighted_mean,
    weighted_quantile,
)
from treewright.boosting.gradient_kernels import exponential
from treewright.boosting.losses import AbsoluteError, ManyClasses, Quantile, TwoClasses

NUMBERS = st.floats(-1e30, 1e30, allow_subnormal=True)


@numba.njit  # not kept: the project's cache of kernels does not know of this file
def exponentials(x, found):
    for i in range(x.shape[0]):
        found[i] = exponential(x[i])


@numba.njit
def middles(left):
    return middle_of_bits(left)


def exp_of(x):
    found = np.empty(len(x))
    exponentials(np.asarray(x, np.float64), found)
    return found


def both(loss, target, scores):
    g = np.full(scores.shape, np.nan, np.float32)
    h = g.copy()
    loss.gradients(target, scores, g, h)
    return g, h


def test_exponential_is_within_2e_10_of_numpys():
    x = np.concatenate((np.linspace(-700, 700, 400_001), np.linspace(-1, 1, 100_001), np.geomspace(1e-300, 1, 999)))
    assert np.abs(exp_of(x) / np.exp(x) - 1).max() < 2e-10


def test_exponential_as_float32_is_at_most_one_unit_in_the_last_place_off():
    x = np.linspace(-80, 80, 300_001)
    found, right = exp_of(x).astype(np.float32), np.exp(x).astype(np.float32)
    assert np.abs(found.view(np.int32) - right.view(np.int32)).max() <= 1


def test_exponential_never_falls_where_its_argument_rises_by_the_error_bound():
    x = np.arange(-3, 3, 1e-6)
    assert (np.diff(exp_of(x)) > 0).all()


def test_exponential_of_0_is_1():
    assert exp_of([0.0, -0.0]).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("label", [0, 1])
def test_log_loss_of_two_classes_is_the_twins(label):
    scores = np.concatenate((np.linspace(-30, 30, 1001), [-79.5, 79.5]))[np.newaxis]
    g, h = both(TwoClasses(), np.full(scores.shape[1], label, np.int32), scores)
    # Each from the share of the wrong class, as near 1 there is no other exact way.
    wrong = np.array([twin.logistic(-s if label else s) for s in scores[0].tolist()])
    right = np.array([twin.logistic(s if label else -s) for s in scores[0].tolist()])
    np.testing.assert_allclose(g[0], -wrong if label else wrong, rtol=1e-7)
    np.testing.assert_allclose(h[0], wrong * right, rtol=1e-7)


@pytest.mark.parametrize("label", [0, 1])
def test_log_losses_of_two_classes_are_numpys(label):
    scores = np.concatenate((np.linspace(-30, 30, 1001), np.geomspace(1e-9, 800, 99), -np.geomspace(1e-9, 800, 99)))
    values = TwoClasses().values(np.full(len(scores), label, np.int32), scores[np.newaxis])
    # Below exp(-700) a loss is as good as none.
    np.testing.assert_allclose(values, np.logaddexp(0, -scores if label else scores), rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_log_losses_by_softmax_are_numpys_whatever_the_chunks(n_classes):
    rng = np.random.default_rng(n_classes)
    table, target = rng.normal(0, 30, (n_classes, 900)), rng.integers(0, n_classes, 700).astype(np.int32)
    scores = table[:, 100:800]
    right = np.logaddexp.reduce(scores, axis=0) - scores[target, np.arange(700)]
    np.testing.assert_allclose(ManyClasses(n_classes).values(target, scores), right, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("n_rows", [1, 255, 256, 257, 700])
def test_softmax_is_the_twins_whatever_the_chunks(n_classes, n_rows):
    rng = np.random.default_rng(n_classes)
    scores, target = rng.normal(0, 3, (n_classes, n_rows)), rng.integers(0, n_classes, n_rows).astype(np.int32)
    g, h = both(ManyClasses(n_classes), target, scores)
    shares = np.array([twin.softmax(row) for row in scores.T.tolist()]).T
    is_own = np.arange(n_classes)[:, np.newaxis] == target
    np.testing.assert_allclose(g, shares - is_own, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(h, shares * (1 - shares) * n_classes / (n_classes - 1), rtol=1e-6, atol=1e-9)


def test_softmax_of_slices_of_longer_rows_is_that_of_their_copies():
    rng = np.random.default_rng(0)
    scores, target = rng.normal(size=(3, 1000)), rng.integers(0, 3, 1000).astype(np.int32)
    whole_g, whole_h = both(ManyClasses(3), target, scores)
    g, h = np.full((3, 2000), 7, np.float32), np.full((4, 1200), 7, np.float32)
    for first, last in pairwise([0, 1, 300, 900, 1000]):
        part = slice(first, last)
        ManyClasses(3).gradients(target[part], scores[:, part], g[:, 500 + first : 500 + last], h[1:, part])
    np.testing.assert_array_equal(g[:, 500:1500], whole_g)
    np.testing.assert_array_equal(h[1:, :1000], whole_h)
    assert (g[:, :500] == 7).all()
    assert (g[:, 1500:] == 7).all()
    assert (h[0] == 7).all()
    assert (h[:, 1000:] == 7).all()


def test_softmax_refuses_rows_that_are_not_contiguous():
    table = np.zeros((3, 8))
    with pytest.raises(ValueError, match="contiguous"):
        both(ManyClasses(3), np.zeros(4, np.int32), table[:, ::2])


@given(
    st.lists(st.tuples(st.integers(-4, 4) | NUMBERS, st.integers(1, 4)), min_size=1, max_size=40),
    st.sampled_from([0.001, 0.1, 0.25, 1 / 3, 0.5, 0.75, 0.9, 0.999]),
    st.booleans(),
)
def test_weighted_quantile_is_the_twins(rows, level, weighs):
    numbers = [float(number) for number, _ in rows]
    weights = [weight if weighs else 1 for _, weight in rows]
    found = weighted_quantile(np.array(numbers), np.array(weights, float) if weighs else None, level)
    assert found == twin.quantile(numbers, weights, level)


@pytest.mark.parametrize("weighing", [None, "counts", "fractions"])
@pytest.mark.parametrize("kind", ["continuous", "ties", "all equal", "ascending", "descending"])
def test_renewed_leaves_are_the_twins(kind, weighing):
    rng = np.random.default_rng(5)
    n, n_leaves = 3000, 9
    target = {
        "continuous": rng.normal(size=n),
        "ties": rng.integers(0, 4, n) * 1.0,
        "all equal": np.full(n, 0.25),
        "ascending": np.arange(n) * 1.0,
        "descending": -np.arange(n) * 1.0,
    }[kind]
    scores = rng.integers(0, 2, (2, n)) * 0.5 if kind != "continuous" else rng.normal(size=(2, n))
    # Fractions that are exact in few digits, so that the twin's sums are exact as well.
    weights = {None: None, "counts": rng.integers(1, 5, n) * 1.0, "fractions": rng.integers(1, 64, n) / 64}[weighing]
    leaf = np.where(np.arange(n) < 3, 8, rng.integers(0, 6, n))  # 6 and 7 hold no rows
    rows = np.argsort(leaf, kind="stable")[: n - 500].astype(np.int32)
    starts = np.searchsorted(leaf[rows], np.arange(n_leaves + 1)).astype(np.int64)
    loss = Quantile((0.25, 0.9))

    found = [loss.renewed(score, target, scores, weights, rows, starts) for score in (0, 1)]
    median = AbsoluteError().renewed(0, target, scores, weights, rows, starts)

    for leaf, (first, last) in enumerate(pairwise(starts.tolist())):
        own = rows[first:last]
        amounts = [1] * len(own) if weights is None else weights[own].tolist()
        for answers, score, level in ((found[0], 0, 0.25), (found[1], 1, 0.9), (median, 0, 0.5)):
            rest = (target[own] - scores[score][own]).tolist()
            assert answers[leaf] == (twin.quantile(rest, amounts, level) if rest else 0.0)


@pytest.mark.parametrize("n_drawn", [0, 1, 3, 48])
@pytest.mark.parametrize("level", [0.01, 0.5, 0.9])
def test_selection_by_drawn_pivots_is_that_by_halving_bits(n_drawn, level):
    rng = np.random.default_rng(2)
    numbers = rng.choice([-1e300, -5.0, -0.0, 0.0, 1e-320, 2.0, 2.0 + 2**-51, 1e300], 400)
    numbers[:200] = rng.normal(size=200) * 10.0 ** rng.integers(-300, 300, 200)
    weights, found = rng.integers(1, 9, 400), np.empty(1)
    rows, starts = np.arange(400, dtype=np.int32), np.array([0, 400])
    left, amounts = np.empty(400), np.empty(400, np.int64)
    leaf_quantiles(numbers, np.zeros(400), weights, rows, starts, level, n_drawn, left, amounts, found)
    assert found[0] == twin.quantile(numbers.tolist(), weights.tolist(), level)


def test_the_middle_of_bits_always_takes_something_away():
    numbers = np.array([-np.inf, -1e300, -5.0, 0.0, 1e-320, 2.0, 3.0, 1e300, np.inf])
    for first, last in itertools.combinations(range(len(numbers)), 2):
        middle = middles(numbers[first : last + 1][::-1].copy())
        assert numbers[first] < middle <= numbers[last]


def test_renewed_leaves_are_the_same_for_weight_2_and_a_row_twice():
    rng = np.random.default_rng(1)
    target, scores = rng.normal(size=500), rng.normal(size=(1, 500))
    weights = rng.integers(1, 4, 500)
    twice = np.repeat(np.arange(500), weights)
    starts = np.array([0, 200, 500])
    loss = AbsoluteError()
    weighted = loss.renewed(0, target, scores, weights * 1.0, np.arange(500, dtype=np.int32), starts)
    longer = np.concatenate(([0], np.cumsum(weights)))[starts]
    rows = np.arange(len(twice), dtype=np.int32)
    np.testing.assert_array_equal(weighted, loss.renewed(0, target[twice], scores[:, twice], None, rows, longer))


@given(st.lists(st.tuples(NUMBERS, st.floats(1e-3, 1e3)), min_size=1, max_size=30))
@example([(2.225073858507203e-309, 0.001)])  # the product alone would lose digits
def test_weighted_mean_is_the_exact_one_rounded_once(rows):
    numbers, weights = np.array(rows).T.copy()
    assert weighted_mean(numbers, weights) == twin.mean(numbers.tolist(), weights.tolist())
    assert weighted_mean(numbers, None) == twin.mean(numbers.tolist(), [1] * len(rows))


@given(st.lists(NUMBERS | st.floats(-1e200, 1e200), max_size=30))
def test_exact_sum_is_that_of_fractions(numbers):
    assert exact_sum(np.array(numbers, float)) == sum(map(twin.Fraction, numbers))


def test_groups_hold_what_lies_below_between_and_above():
    numbers, weights = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([0.5, 1.0, 1.0, 2.0, 1.0])
    below, within, above = grouped_sums(numbers, weights, 2.0, 4.0)
    assert (below.product, below.weight) == (0.5, 0.5)
    assert (within.product, within.weight) == (13, 4)
    assert (above.product, above.weight) == (5, 1)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("centre", [lambda y, w: huber_centre(y, w, 0.7), lambda y, w: expectile_of(y, w, 0.8)])
def test_base_does_not_show_whether_a_row_weighs_2_or_is_there_twice_or_where_it_stands(centre, seed):
    rng = np.random.default_rng(seed)
    target, weights = rng.standard_t(2, 200) + 1e5 * (seed % 2), rng.integers(1, 5, 200)
    twice = rng.permutation(np.repeat(target, weights))
    assert centre(target, weights * 1.0) == centre(twice, None) == centre(twice[::-1], np.full(len(twice), 0.37))
