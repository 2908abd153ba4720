"""Forests ask for a first run of the levels of a column of many: as of ranks, with how many rows a level has."""

from __future__ import annotations

import numpy as np
import pytest

import treewright as tw
from treewright.data.derived import is_derived
from treewright.grow.settings import FEW_ROWS_OF_LEVEL, MANY_LEVELS

RNG = np.random.default_rng(2)
KINDS = {
    "forest": (tw.RandomForestClassifier, tw.RandomForestRegressor),
    "extra trees": (tw.ExtraTreesClassifier, tw.ExtraTreesRegressor),
}


def table_of(n, n_levels):
    codes = RNG.permutation(np.arange(n) % n_levels)
    table = {
        "x": [None if row % 13 == 0 else float(cell) for row, cell in enumerate(RNG.normal(size=n).round(2))],
        "name": [None if row % 17 == 0 else f"n{code:04}" for row, code in enumerate(codes)],
    }
    numbers = np.array([0.0 if cell is None else cell for cell in table["x"]]) + (codes > n_levels // 2)
    return table, numbers, np.where(numbers > 0.5, "yes", "no")


# Of more levels than bins extra-trees draw a cut among bins, of ranks one among levels.
@pytest.mark.parametrize(("kind", "n_levels"), [("forest", 40), ("forest", 270), ("extra trees", 40)])
def test_trees_are_those_of_ranks(kind, n_levels):
    table, numbers, labels = table_of(600, n_levels)
    levels = sorted({name for name in table["name"] if name is not None})
    for est, target in zip(KINDS[kind], (labels, numbers), strict=True):
        one = est(8, nominal=["name"], derived_columns="none", n_jobs=1, max_bins=100).fit(table, target)
        ranks = est(8, ordinal={"name": levels}, n_jobs=2, max_bins=100).fit(table, target)
        assert one.model_.schema.columns[1].kind == "nominal"
        assert one.apply(table).tolist() == ranks.apply(table).tolist()
        assert one.feature_importances_.tolist() == ranks.feature_importances_.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_answers_votes_and_further_trees_are_those_of_the_file(kind, tmp_path):
    table, numbers, labels = table_of(400, 90)
    for est, target in zip(KINDS[kind], (labels, numbers), strict=True):
        fitted = est(26, bootstrap=True, oob_score=True, max_leaf_nodes=30, warm_start=True).fit(table, target)
        assert [column.name for column in fitted.model_.schema.columns if is_derived(column)] == ["name.rows"]
        assert fitted.n_features_in_ == len(fitted.feature_importances_) == 2
        fitted.save(tmp_path / "f.tw")
        loaded = tw.load(tmp_path / "f.tw")
        other = {"x": [0.1, None, 2.0], "name": ["n0003", "elsewhere", None]}
        np.testing.assert_array_equal(loaded.predict(other), fitted.predict(other))
        whole = est(30, bootstrap=True, oob_score=True, max_leaf_nodes=30).fit(table, target)
        fitted.set_params(n_estimators=30).fit(table, target)
        np.testing.assert_array_equal(fitted.predict(table), whole.predict(table))
        assert fitted.oob_score_ == whole.oob_score_
        assert fitted.tree(0).show()


def test_rows_in_another_order_and_rows_that_are_there_twice_give_the_same_forest():
    table, numbers, _ = table_of(500, 60)
    order = RNG.permutation(500)
    mixed = {name: [cells[at] for at in order] for name, cells in table.items()}
    one, other = (
        tw.RandomForestRegressor(5).fit(each, target) for each, target in ((table, numbers), (mixed, numbers[order]))
    )
    np.testing.assert_array_equal(one.predict(table), other.predict(table))


@pytest.mark.parametrize(
    ("n_levels", "n_rows", "is_ordered"),
    [
        (MANY_LEVELS - 1, 100, False),
        (MANY_LEVELS, MANY_LEVELS * FEW_ROWS_OF_LEVEL - 1, True),
        (MANY_LEVELS, MANY_LEVELS * FEW_ROWS_OF_LEVEL, False),
    ],
)
def test_few_levels_and_levels_of_many_rows_are_asked_for_as_sets(n_levels, n_rows, is_ordered):
    table = {"name": [f"n{at:03}" for at in np.arange(n_rows) % n_levels]}
    fitted = tw.RandomForestRegressor(2).fit(table, RNG.normal(size=n_rows))
    assert any(map(is_derived, fitted.model_.schema.columns)) == is_ordered
    sets = tw.RandomForestRegressor(2, level_encoding="subsets").fit(table, RNG.normal(size=n_rows))
    runs = tw.RandomForestRegressor(2, level_encoding="ordered").fit(table, RNG.normal(size=n_rows))
    assert not any(map(is_derived, sets.model_.schema.columns))
    assert any(map(is_derived, runs.model_.schema.columns)) == is_ordered  # of few levels their number says nothing


@pytest.mark.parametrize("rows", ["out_of_bag", "all"])
def test_a_level_is_shuffled_with_its_number_of_rows(rows):
    codes = RNG.integers(0, 60, 900) % RNG.integers(1, 61, 900)
    table = {"x": RNG.normal(size=900), "name": [f"n{code:02}" for code in codes]}
    target = np.bincount(codes)[codes] + RNG.normal(size=900)
    est = tw.RandomForestRegressor(20, random_state=0).fit(table, target)
    found = est.importances("permutation", table, target, rows=rows)
    values = dict(zip(found.names, found.values, strict=True))
    assert values["name.rows"] == 0.0
    assert values["name"] > target.var()
