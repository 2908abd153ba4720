"""Friedman's H against its definition, and accumulated local effects."""

from __future__ import annotations

import numpy as np
import pytest

import treewright as tw
from treewright.exceptions import DataError, ParameterError

RNG = np.random.default_rng(8)
X = RNG.normal(size=(150, 4))
Y = X[:, 0] * X[:, 1] + X[:, 2]


def by_definition(est, X, background, i, j):
    """H with partial dependence by asking about every row beside every background row."""

    def mean_at(columns):
        found = []
        for row in X:
            copies = background.copy()
            copies[:, columns] = row[columns]
            found.append(est.predict(copies).mean())
        return np.array(found) - np.mean(found)

    both, one, other = mean_at([i, j]), mean_at([i]), mean_at([j])
    return np.sqrt(((both - one - other) ** 2).sum() / (both**2).sum())


def test_h_is_that_of_the_definition():
    est = tw.GradientBoostingRegressor(30, min_samples_leaf=5).fit(X, Y)
    background = X[:40]
    found = est.interactions(X[:60], background=background)
    for i, j in ((0, 1), (0, 2), (1, 3)):
        assert found.h[i, j, 0] == pytest.approx(by_definition(est, X[:60], background, i, j), rel=1e-9)
    assert found.pairs()[0][:2] == ("x0", "x1")
    assert (found.h == found.h.transpose(1, 0, 2)).all()
    assert "x0 and x1" in str(found)


def test_without_products_nothing_is_done_together():
    stumps = tw.GradientBoostingRegressor(20, max_depth=1, min_samples_leaf=5).fit(X, X[:, 0] + X[:, 2])
    found = stumps.interactions(X)
    assert found.pairs() == []
    assert "no pair interacts" in str(found)


def test_classes_have_a_table_each():
    found = tw.RandomForestClassifier(5).fit(X, np.digitize(Y, [-0.5, 0.5])).interactions(X)
    assert found.h.shape == (4, 4, 3)
    assert set(found.to_dict()) == {"output", "column", "with", "h", "spread"}
    assert "output" not in tw.DecisionTreeRegressor().fit(X, Y).interactions(X).to_dict()


def test_what_has_no_interactions_is_refused():
    with pytest.raises(ParameterError, match="median over its trees"):
        tw.AdaBoostRegressor(n_estimators=2).fit(X, Y).interactions(X)
    with pytest.raises(DataError, match="there are no rows"):
        tw.DecisionTreeRegressor().fit(X, Y).interactions(X[:0])


def test_accumulated_effects_do_not_leave_the_rows():
    """Two columns go together and the answer is the first: brute asks about rows that there are not."""
    first = RNG.uniform(0, 1, 2_000)
    both = np.column_stack([first, first + RNG.normal(scale=0.05, size=2_000)])
    est = tw.GradientBoostingRegressor(100, features_per_tree=0.5).fit(both, first + RNG.normal(scale=0.01, size=2_000))
    table = est.partial_dependence(both, 0, grid=10, method="accumulated")
    other = est.partial_dependence(both, 1, grid=10, method="accumulated")
    total = np.ptp(table.values) + np.ptp(other.values)
    assert total == pytest.approx(1.0, abs=0.1)
    assert table.values.mean() == pytest.approx(first.mean(), abs=0.1)


def test_accumulated_effects_of_a_sum_are_its_term_and_steps_count_where_rows_are():
    line = tw.DecisionTreeRegressor().fit(np.arange(50.0)[:, None], 2 * np.arange(50.0))
    found = line.partial_dependence(np.arange(50.0)[:, None], 0, grid=[0, 10, 20, 49], method="accumulated")
    np.testing.assert_allclose(np.diff(found.values[0]), [20, 20, 58])
    weighed = line.partial_dependence(
        np.array([[5.0], [15.0], [17.0]]), 0, grid=[0, 10, 20], method="accumulated", sample_weight=[1, 3, 9]
    )
    np.testing.assert_allclose(np.diff(weighed.values[0]), [20, 20])


@pytest.mark.parametrize("options", [{"second": 1}, {"individual": 2}, {"column": 2}])
def test_what_cannot_be_accumulated_is_refused(options):
    table = {"a": [1.0, 2.0, 3.0], "b": [1.0, 0.0, 2.0], "c": ["u", "v", "u"]}
    est = tw.DecisionTreeRegressor().fit(table, [1.0, 2.0, 4.0])
    with pytest.raises(ParameterError, match=r"one numeric or ordinal column|have no order"):
        est.partial_dependence(table, **({"column": 0} | options), method="accumulated")
    with pytest.raises(DataError, match="give another grid"):
        est.partial_dependence(table, "a", grid=[1.0], method="accumulated")


def test_rounding_does_nothing_together():
    a, b, c = (RNG.integers(0, 3, 600) for _ in range(3))
    table = {"a": a.tolist(), "b": b.tolist(), "c": c.tolist()}
    assert tw.DecisionTreeRegressor().fit(table, 0.1 * a + 0.3 * b + 0.7 * c).interactions(table).pairs() == []


def test_rows_outside_the_grid_are_not_asked():
    x = RNG.uniform(0, 10, 500)
    est = tw.RandomForestRegressor(20).fit({"x": x}, x**2)
    inside = (x >= 4) & (x <= 5)
    some = est.partial_dependence({"x": x[inside]}, "x", grid=[4, 5], method="accumulated")
    every = est.partial_dependence({"x": x}, "x", grid=[4, 5], method="accumulated")
    assert every.n_rows == inside.sum()
    np.testing.assert_array_equal(every.values, some.values)
    assert "changes accumulated along x" in str(every)
