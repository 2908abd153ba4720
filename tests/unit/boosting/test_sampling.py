"""Rows drawn for a round."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treewright as tw
from treewright.boosting.sampling import (
    drawn_by_gradient,
    drawn_by_variance,
    drawn_uniformly,
    keys_of,
    names_of_rows,
    total_of,
)
from treewright.core.random import mixed
from treewright.exceptions import ParameterError
from treewright.trees.codec import dumps

seeds = st.integers(0, 2**64 - 1)


def listed_keys(n: int, seed: int) -> list[int]:
    return [mixed(seed, row) for row in range(n)]


def keys_for(n: int, seed: int) -> np.ndarray:
    return keys_of(np.arange(n, dtype=np.uint64), seed)


@given(n=st.integers(1, 300), share=st.floats(0.001, 1.0), seed=seeds)
def test_rows_whose_keys_lie_in_the_share_are_drawn(n, share, seed):
    rows = drawn_uniformly(keys_for(n, seed), share)
    keys = listed_keys(n, seed)
    wanted = [row for row in range(n) if (keys[row] >> 11) / 2**53 < share]
    assert rows.dtype == np.int32
    assert rows.tolist() == (wanted or [min(range(n), key=keys.__getitem__)])


def test_rows_are_drawn_from_a_part_as_from_all():
    keys = keys_for(1_000, 3)
    of_parts = [600 * part + drawn_uniformly(keys[600 * part : 600 * part + 600], 0.2) for part in (0, 1)]
    assert np.concatenate(of_parts).tolist() == drawn_uniformly(keys, 0.2).tolist()


def test_keys_are_those_of_the_generator_and_differ():
    keys = keys_for(100_000, 2**63 + 5)
    assert keys[:50].tolist() == listed_keys(50, 2**63 + 5)
    assert len(np.unique(keys)) == len(keys)


def test_every_row_and_pair_of_rows_is_drawn_alike():
    times, pairs = np.zeros(12), Counter()
    for number in range(6_000):
        rows = drawn_uniformly(keys_for(12, mixed(1, number)), 0.5).tolist()
        times[rows] += 1
        pairs.update((a, b) for a in rows for b in rows if a < b)
    assert np.abs(times - 3_000).max() < 4.5 * np.sqrt(6_000 / 4)
    assert len(pairs) == 66
    assert max(abs(count - 1_500) for count in pairs.values()) < 4.5 * np.sqrt(6_000 * 0.25 * 0.75)


@given(
    sizes=st.lists(st.integers(0, 6), min_size=1, max_size=120),
    rates=st.tuples(st.floats(0, 1), st.floats(0, 1)).filter(lambda pair: 0 < sum(pair) <= 1),
    seed=seeds,
)
def test_rows_of_large_gradients_are_taken_and_others_count_for_more(sizes, rates, seed):
    n, (top_rate, other_rate) = len(sizes), rates
    rows, factors = drawn_by_gradient(np.array(sizes, np.float64), top_rate, other_rate, keys_for(n, seed))
    n_top = round(top_rate * n)
    keys = listed_keys(n, seed)
    by_size = sorted(range(n), key=lambda row: (-sizes[row], keys[row]))
    top, rest = by_size[:n_top], sorted(by_size[n_top:])
    n_others = min(len(rest), max(1, round(other_rate * n)))
    others = sorted(rest, key=keys.__getitem__)[:n_others]
    assert rows.tolist() == sorted([*top, *others])
    assert rows.dtype == np.int32
    assert factors.dtype == np.float32
    expected = {**dict.fromkeys(top, 1.0), **dict.fromkeys(others, np.float32(len(rest) / max(n_others, 1)))}
    assert factors.tolist() == [expected[row] for row in rows.tolist()]


def test_of_gradients_of_one_size_no_rows_are_favoured():
    # Signs, or a table in the order of its targets: the first rows are no better than the last.
    times = np.zeros(60)
    for number in range(2_000):
        rows, _ = drawn_by_gradient(np.ones(60), 0.2, 0.1, keys_for(60, mixed(4, number)))
        times[rows] += 1
    assert np.abs(times - 600).max() < 4.5 * np.sqrt(2_000 * 0.3 * 0.7)


@pytest.mark.parametrize(("top", "other"), [(0.2, 0.1), (0.0, 0.3), (0.5, 0.5)])
def test_the_rows_drawn_stand_for_all(top, other):
    sizes = np.random.default_rng(0).random(1_000)
    _, factors = drawn_by_gradient(sizes, top, other, keys_for(1_000, 3))
    assert factors.sum(dtype=np.float64) == pytest.approx(1_000, rel=1e-6)
    # In the mean over many draws the weighted sum of sizes is the sum of all: no size is favoured.
    sums = []
    for number in range(400):
        rows, factors = drawn_by_gradient(sizes, top, other, keys_for(1_000, mixed(9, number)))
        sums.append(float((sizes[rows] * factors).sum()))
    assert abs(np.mean(sums) - sizes.sum()) <= 4 * np.std(sums) / 20 + 1e-3


def test_another_seed_draws_other_rows():
    drawn = {tuple(drawn_uniformly(keys_for(40, seed), 0.5).tolist()) for seed in range(50)}
    assert len(drawn) == 50


def chances_by_bisection(sizes, share):
    """The chances that are in proportion up to 1 and add up to the share of the rows."""
    low, high = 0.0, 1.0
    while np.minimum(1.0, sizes * high).sum() < share * len(sizes) and high < 1e30:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.minimum(1.0, sizes * middle).sum() < share * len(sizes) else (low, middle)
    return np.minimum(1.0, sizes * high)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_chances_are_in_proportion_and_add_up_to_the_share(seed, share):
    rng = np.random.default_rng(seed)
    sizes = rng.exponential(size=4_000) ** 3
    expected = chances_by_bisection(sizes, share)
    rows, factors = drawn_by_variance(sizes, share, keys_for(4_000, seed))
    np.testing.assert_allclose(1.0 / factors, expected[rows], rtol=1e-5)
    assert abs(len(rows) - expected.sum()) < 4 * np.sqrt((expected * (1 - expected)).sum()) + 1e-6
    # Sums of what is drawn come close to those of all rows.
    assert (sizes[rows] * factors).sum() == pytest.approx(sizes.sum(), rel=0.1)


def test_rows_of_no_size_are_drawn_where_there_are_no_others():
    rows, factors = drawn_by_variance(np.zeros(100), 0.3, keys_for(100, 1))
    assert 15 < len(rows) < 45
    np.testing.assert_allclose(factors, 1 / 0.3, rtol=1e-6)
    rows, factors = drawn_by_variance(np.array([0.0, 0.0, 5.0]), 0.01, np.full(3, 2**64 - 1, np.uint64))
    assert (rows.tolist(), factors.tolist()) == ([2], [1.0])
    rows, _ = drawn_by_variance(np.array([1.0, 2.0, np.float64(1e300)]), 0.34, keys_for(3, 1))
    assert 2 in rows


def test_sums_of_sizes_do_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(0)
    sizes, order = rng.exponential(size=5_000) ** 9, rng.permutation(5_000)
    assert total_of(sizes) == total_of(sizes[order])
    assert total_of(sizes) == pytest.approx(sizes.sum(), rel=1e-12)
    for others in ([0.0, 0.0], [1e300, 3.0], [1e-290], [5e-324, 1e307]):
        assert total_of(np.array(others)) == pytest.approx(sum(others), rel=1e-9)


def test_every_copy_of_a_row_has_a_name_of_its_own_whatever_the_order():
    rng = np.random.default_rng(0)
    contents, order = rng.integers(0, 40, 500).astype(np.uint64), rng.permutation(500)
    names = names_of_rows(contents)
    assert len(set(names.tolist())) == 500
    assert set(contents.tolist()) <= set(names.tolist())
    assert sorted(names) == sorted(names_of_rows(contents[order]))
    weights = rng.random(500)
    weighed, shuffled = names_of_rows(contents, weights), names_of_rows(contents[order], weights[order])
    assert (weighed[order] == shuffled).all()


PLANS: list[dict[str, Any]] = [
    {"subsample": 0.5},
    {"sampling": "gradient", "learning_rate": 0.5},
    {"sampling": "minimal_variance", "subsample": 0.5, "learning_rate": 0.5},
    {"early_stopping": True},
    {"level_encoding": "ordered"},
]


@pytest.mark.parametrize("plan", [*PLANS, {"n_estimators": "auto"}], ids=lambda plan: next(iter(plan)))
def test_a_row_of_a_whole_weight_is_so_many_rows(plan):
    rng = np.random.default_rng(0)
    X = {"k": rng.choice(list("abcde"), 150), "few": rng.integers(0, 3, 150)}
    y, times = (X["k"] < "c") ^ (rng.random(150) < 0.3), rng.integers(1, 5, 150)
    make = partial(tw.GradientBoostingClassifier, **{"n_estimators": 20, **plan})
    order = rng.permutation(np.repeat(np.arange(150), times))
    one = make().fit(X, y, sample_weight=times).model_
    other = make().fit({name: cells[order] for name, cells in X.items()}, y[order]).model_
    assert one.predict_scores(X).tobytes() == other.predict_scores(X).tobytes()


@pytest.mark.parametrize("plan", PLANS[:3], ids=lambda plan: next(iter(plan)))
def test_copies_of_a_row_are_sampled_one_by_one(plan):
    X, y = {"k": np.repeat(list("abcd"), 100)}, np.tile([0, 0, 0, 1, 1], 80)
    rates = {"top_rate": 0.21, "other_rate": 0.11} if plan.get("sampling") == "gradient" else {}
    model = tw.GradientBoostingClassifier(20, min_samples_leaf=1, **plan, **rates).fit(X, y).model_
    rows = [tree.n_samples[0] for tree in model.trees]
    # Eight contents of 40 or 60 copies: sampled together, each tree would have a multiple of 20 rows.
    assert any(count % 20 for count in rows)


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: next(iter(plan)))
@pytest.mark.parametrize("weighted", ["none", "whole", "any"])
def test_one_model_of_drawn_rows_knows_no_order(plan, weighted):
    rng = np.random.default_rng(0)
    X = {"x": rng.normal(size=400), "k": rng.choice(list("abcde"), 400), "few": rng.integers(0, 3, 400)}
    y, order = X["x"] + rng.normal(size=400) > 0, rng.permutation(400)
    weights = {"none": None, "whole": rng.integers(1, 4, 400), "any": rng.random(400) + 0.1}[weighted]
    make = partial(tw.GradientBoostingClassifier, 20, **plan)
    shuffled = {name: cells[order] for name, cells in X.items()}
    one = make(n_jobs=1).fit(X, y, sample_weight=weights)
    other = make(n_jobs=2).fit(shuffled, y[order], sample_weight=None if weights is None else weights[order])
    assert dumps(one.model_) == dumps(other.model_)


def test_members_drawn_by_variance_know_weights_and_no_order():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y, weights, order = X.sum(axis=1) + rng.normal(size=300) > 0, rng.integers(1, 3, 300), rng.permutation(300)
    make = partial(tw.GradientBoostingClassifier, sampling="minimal_variance")
    assert dumps(make(n_jobs=1).fit(X, y).model_) == dumps(make(n_jobs=2).fit(X[order], y[order]).model_)
    one = make().fit(X, y, sample_weight=weights).predict_proba(X)
    twice = make().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).predict_proba(X)
    np.testing.assert_allclose(one, twice, atol=1e-9)
    with pytest.raises(ParameterError, match="subsample=1"):
        make(subsample=1).fit(X, y)
