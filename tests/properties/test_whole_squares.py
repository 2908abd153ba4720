"""Impurities of numbers are sums of whole numbers: the same bits in any order, and for a weight as for so many rows."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treewright as tw
from treewright.grow.criteria.means import whole_squares

SIZES = st.integers(-(2**60), 2**60)


@given(st.lists(st.tuples(SIZES, st.integers(1, 40)), min_size=1, max_size=30), st.integers(-1000, 1000))
def test_squares_of_whole_numbers_are_exact_up_to_one_rounding_of_each_word(rows, centre):
    room = sum(abs(value) * weight for value, weight in rows) // 2**60 + 1
    values = np.array([value // room * weight for value, weight in rows], np.int64)
    weights = np.array([weight for _, weight in rows], np.int64)

    found = whole_squares(values, weights, np.int64(centre), np.arange(len(rows), dtype=np.int32))

    true = sum(Fraction(int(v) - centre * int(w)) ** 2 / int(w) for v, w in zip(values, weights, strict=True))
    assert found == pytest.approx(float(true), rel=2.0**-52)
    twice = whole_squares(
        np.repeat(values // weights, weights), np.empty(0, np.int64), np.int64(centre),
        np.arange(int(weights.sum()), dtype=np.int32),
    )  # fmt: skip
    assert twice == found


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.integers(1, 4)), min_size=3, max_size=12), st.randoms())
def test_the_order_of_rows_and_weights_for_rows_change_no_bit_of_a_tree(rows, random):
    y, w = (np.array(each) for each in zip(*rows, strict=True))
    X = np.arange(len(y), dtype=np.float64)[:, None]
    order = np.array(random.sample(range(len(y)), len(y)))
    weighed = w.astype(np.float64)
    for criterion in ("squared_error", "absolute_error"):
        make = lambda name=criterion: tw.DecisionTreeRegressor(criterion=name, max_depth=2)  # noqa: E731
        one = make().fit(X, y, sample_weight=weighed).tree_
        other = make().fit(X[order], y[order], sample_weight=weighed[order]).tree_
        for name in ("threshold", "value", "impurity"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    repeated = tw.DecisionTreeRegressor(max_depth=2).fit(np.repeat(X, w, 0), np.repeat(y, w)).tree_
    weighted = tw.DecisionTreeRegressor(max_depth=2).fit(X, y, sample_weight=weighed).tree_
    np.testing.assert_array_equal(repeated.impurity, weighted.impurity)


def test_equal_targets_of_either_sign_of_zero_are_one_target():
    X = np.array([[1.0], [0.0], [0.0], [5.0]])
    trees = [tw.DecisionTreeRegressor().fit(X, y).tree_ for y in ([-0.0, 0.0, 1.0, 1.0], [0.0, -0.0, 1.0, 1.0])]
    assert not np.signbit(trees[0].value).any()
    np.testing.assert_array_equal(trees[0].value, trees[1].value)


@pytest.mark.parametrize("splitter", ["best", "hist"])
def test_a_median_beside_a_huge_target_is_that_of_the_rows(splitter):
    X = np.array([0, 1, 1, 1, 1, 1, 1, 1.0])[:, None]
    y = np.r_[-1e18, 1, 2, 3, 4, 5, 6, 7.0]
    for turn in (slice(None), slice(None, None, -1)):
        tree = tw.DecisionTreeRegressor(criterion="absolute_error", splitter=splitter).fit(X[turn], y[turn])
        assert tree.predict([[1.0]]) == 4.0
