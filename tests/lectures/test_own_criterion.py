"""A criterion that is a plain function: what it is given, and that its split is the best by arithmetic."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

import treewright as tw

HEALTH = ["ill"] * 20 + ["well"] * 80
SIGNS = {
    "fever": ["yes"] * 15 + ["no"] * 5 + ["yes"] * 15 + ["no"] * 65,
    "cough": ["yes"] * 20 + ["yes"] * 40 + ["no"] * 40,
}
MISSED, FALSE_ALARM = 10.0, 1.0


def cost(counts):
    """Of the cheapest answer, per person."""
    shares = counts / counts.sum(axis=1, keepdims=True)
    return (shares @ np.array([[0.0, MISSED], [FALSE_ALARM, 0.0]])).min(axis=1)


def cheapest(people):
    """The same for a list of labels, all of them together."""
    return min(FALSE_ALARM * people.count("well"), MISSED * people.count("ill"))


def test_a_split_by_cost_is_the_cheapest_by_arithmetic():
    est = tw.DecisionTreeClassifier(criterion=cost, max_depth=1).fit(SIGNS, HEALTH)
    bills = {
        column: sum(
            cheapest([who for cell, who in zip(cells, HEALTH, strict=True) if cell == level]) for level in ("no", "yes")
        )
        for column, cells in SIGNS.items()
    }

    assert (cheapest(HEALTH), bills) == (80, {"fever": 65, "cough": 40})
    assert est.tree_.impurity[0] == pytest.approx(0.80)
    for row in est.audit():
        assert row.after == pytest.approx(bills[row.column] / 100)
    assert est.tree_.feature[0] == 1
    assert tw.DecisionTreeClassifier(max_depth=1).fit(SIGNS, HEALTH).tree_.feature[0] == 0


def test_the_function_gets_weighted_class_counts_and_never_an_empty_set():
    seen = []

    def gini(counts):
        seen.append(counts.copy())
        shares = counts / counts.sum(axis=1, keepdims=True)
        return 1 - (shares**2).sum(axis=1)

    tw.DecisionTreeClassifier(criterion=gini, class_weight={"ill": 4.0, "well": 1.0}).fit(SIGNS, HEALTH)
    sets = np.vstack(seen)

    assert sets.dtype == np.float64
    assert sets.shape[1] == 2
    assert (sets.sum(axis=1) > 0).all()
    assert [80.0, 80.0] in sets.tolist()  # the root: 20 ill of weight 4, 80 well
    assert [60.0, 15.0] in sets.tolist()  # with fever


def test_the_function_gets_weight_mean_and_variance_of_numbers():
    seen = []

    def variance(sets):
        seen.append(sets.copy())
        return sets[:, 2]

    targets, weights = [1000.0, 1002.0, 1010.0, 1011.0], [1.0, 2.0, 1.0, 1.0]
    tw.DecisionTreeRegressor(criterion=variance, max_depth=1).fit({"x": [1, 2, 3, 4]}, targets, sample_weight=weights)
    given = np.vstack(seen)

    for start, stop in ((0, 4), (0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)):
        y, w = targets[start:stop], weights[start:stop]
        mean = sum(a * b for a, b in zip(y, w, strict=True)) / sum(w)
        spread = sum(b * (a - mean) ** 2 for a, b in zip(y, w, strict=True)) / sum(w)
        assert np.isclose(given, [sum(w), mean, spread], atol=1e-8).all(axis=1).any(), (start, stop)


def tsallis(q):
    """Tsallis' entropy as a criterion."""

    def impurity(counts):
        shares = counts / counts.sum(axis=1, keepdims=True)
        return (1 - (shares**q).sum(axis=1)) / (q - 1)

    return impurity


@pytest.mark.parametrize(("q", "criterion", "unit"), [(2.0, "gini", 1.0), (1 + 1e-7, "entropy", math.log(2))])
def test_tsallis_entropy_holds_gini_and_entropy(q, criterion, unit):
    rng = np.random.default_rng(5)
    table = {"x": rng.random(50), "level": rng.choice(list("abcd"), 50)}
    labels = rng.choice(["p", "q", "r"], 50)

    own = tw.DecisionTreeClassifier(criterion=tsallis(q), max_depth=3).fit(table, labels).tree_
    listed = tw.DecisionTreeClassifier(criterion=criterion, max_depth=3).fit(table, labels).tree_

    assert own.feature.tolist() == listed.feature.tolist()
    assert own.impurity == pytest.approx(listed.impurity * unit, abs=1e-5)


def test_the_split_that_lowers_the_standard_deviation_most_is_found():
    rng = np.random.default_rng(6)
    x, y = rng.integers(0, 6, (30, 2)).astype(float), rng.normal(size=30)

    est = tw.DecisionTreeRegressor(criterion=lambda sets: np.sqrt(sets[:, 2]), max_depth=1).fit(x, y)
    left_over = {
        (column, cut): sum(side.sum() / 30 * y[side].std() for side in (x[:, column] <= cut, x[:, column] > cut))
        for column, cut in product((0, 1), (0.5, 1.5, 2.5, 3.5, 4.5))
    }

    best = min(left_over, key=left_over.get)
    assert (int(est.tree_.feature[0]), float(est.tree_.threshold[0])) == best
    assert est.audit()[0].gain == pytest.approx(y.std() - left_over[best])
