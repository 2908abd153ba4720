"""No row's statistic depends on its own target."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from treewright.boosting.sampling import keys_of
from treewright.boosting.statistics import add_ordered_means
from treewright.core.random import mixed


def values_of(levels, order, target, weights, prior_weight):
    values = np.zeros(len(levels))
    sums, counts = np.zeros((2, 5))
    add_ordered_means(levels, order, target, weights, 3.0, prior_weight, sums, counts, values)
    return values


@st.composite
def tables(draw):
    n = draw(st.integers(1, 30))
    numbers = st.floats(-1e6, 1e6)
    levels = np.array(draw(st.lists(st.integers(-1, 5), min_size=n, max_size=n)), np.int32)
    target = np.array(draw(st.lists(numbers, min_size=n, max_size=n)))
    weights = np.array(draw(st.lists(st.floats(0.01, 100.0), min_size=n, max_size=n)))
    keys = keys_of(np.arange(n, dtype=np.uint64), mixed(draw(st.integers(0, 2**64 - 1)), 0))
    return levels, np.argsort(keys), target, weights, draw(st.sampled_from([0.0, 1.0, 20.0]))


@given(tables(), st.integers(0, 29), st.floats(-1e9, 1e9))
def test_another_target_changes_only_later_rows_of_the_same_level(table, row, other):
    levels, order, target, weights, prior_weight = table
    row %= len(levels)
    before = values_of(*table)
    changed = target.copy()
    changed[row] = other

    after = values_of(levels, order, changed, weights, prior_weight)

    place = np.empty(len(order), int)
    place[order] = np.arange(len(order))
    may_differ = (place > place[row]) & (levels == levels[row])
    assert (before[~may_differ] == after[~may_differ]).all()


@given(tables(), st.integers(0, 30))
def test_first_rows_alone_have_the_same_values(table, n_first):
    levels, order, target, weights, prior_weight = table

    whole = values_of(*table)
    part = values_of(levels, order[:n_first], target, weights, prior_weight)

    assert (part[order[:n_first]] == whole[order[:n_first]]).all()


@given(tables())
def test_values_lie_between_the_prior_and_the_targets_of_the_level(table):
    levels, _order, target, *_ = table
    values = values_of(*table)

    for level in range(5):
        own = levels == level
        low, high = min(0.0, *(target[own] - 3.0), 0.0), max(0.0, *(target[own] - 3.0), 0.0)
        room = 1e-9 * max(1.0, abs(low), abs(high))
        assert ((values[own] >= low - room) & (values[own] <= high + room)).all()
