"""Single trees ask for first runs of the levels of a column of many: as of ranks."""

from __future__ import annotations

import numpy as np
import pytest

import treewright as tw
from treewright.grow.settings import FEW_ROWS_OF_LEVEL, MANY_LEVELS

RNG = np.random.default_rng(5)


def table_of(n, n_levels):
    codes = RNG.permutation(np.arange(n) % n_levels)
    table = {
        "x": RNG.normal(size=n).round(2),
        "name": [None if row % 17 == 0 else f"n{code:04}" for row, code in enumerate(codes)],
    }
    return table, table["x"] + 3.0 * (codes > n_levels // 2) + 0.1 * (codes % 7)


@pytest.mark.parametrize("more", [{}, {"max_leaf_nodes": 12}, {"splitter": "hist"}])
@pytest.mark.parametrize("n_levels", [40, 300])
def test_trees_are_those_of_ranks(n_levels, more):
    table, numbers = table_of(500, n_levels)
    levels = sorted({name for name in table["name"] if name is not None})  # many are not there further down
    one = tw.DecisionTreeRegressor(max_depth=6, nominal=["name"], **more).fit(table, numbers)
    ranks = tw.DecisionTreeRegressor(max_depth=6, ordinal={"name": levels}, **more).fit(table, numbers)
    new = {"x": np.repeat([-1.0, 0.0, 1.0], len(levels)), "name": levels * 3}
    np.testing.assert_array_equal(one.predict(table), ranks.predict(table))
    if "splitter" not in more:  # on bins a level in the middle of two goes with the upper one
        np.testing.assert_array_equal(one.predict(new), ranks.predict(new))


@pytest.mark.parametrize(
    ("n_levels", "n_rows", "are_runs"),
    [
        (MANY_LEVELS - 1, 100, False),
        (MANY_LEVELS, MANY_LEVELS * FEW_ROWS_OF_LEVEL - 1, True),
        (MANY_LEVELS, MANY_LEVELS * FEW_ROWS_OF_LEVEL, False),
        (300, 900, True),
    ],
)
def test_few_levels_and_levels_of_many_rows_are_sets(n_levels, n_rows, are_runs):
    table, numbers = table_of(n_rows, n_levels)[0], RNG.normal(size=n_rows)
    auto, sets, runs = (
        tw.DecisionTreeRegressor(max_depth=4, nominal_splits=splits).fit(table, numbers).predict(table).tolist()
        for splits in ("auto", "subset", "runs")
    )
    assert (auto == runs, auto == sets) == (are_runs, not are_runs)


def test_an_audit_lists_the_runs():
    table, numbers = table_of(300, 40)
    model = tw.DecisionTreeRegressor(max_depth=2, missing="branch").fit(table, numbers)
    exact = tw.DecisionTreeRegressor(max_depth=2).fit(table, numbers)
    n_held = len({name for name in table["name"] if name is not None})
    assert len(exact.audit(every="name")) == 2 * (n_held - 1) + 1  # missing cells on either side
    for fitted in (model, exact):
        audit = fitted.audit()
        assert audit[0].column == "name"
        assert audit[0].chosen


def test_a_set_of_runs_is_kept_in_a_file(tmp_path):
    table, numbers = table_of(300, 40)
    fitted = tw.DecisionTreeRegressor(max_depth=5).fit(table, numbers)
    fitted.save(tmp_path / "t.tw")
    new = {"x": [0.0, 0.3], "name": ["n0003", "elsewhere"]}
    np.testing.assert_array_equal(tw.load(tmp_path / "t.tw").predict(new), fitted.predict(new))
