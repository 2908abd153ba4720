"""Columns made of others: the cells are what they say, at the fit and later, in files and in what explains a model."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import treewright as tw
from treewright.data.categories import schema_from_json, schema_to_json
from treewright.data.derived import (
    derived_cells,
    given_to_sources,
    is_derived,
    level_pairs,
    linear_score,
    pairs_of,
    rows_of_levels,
    with_derived,
    with_derived_cells,
)
from treewright.data.encoder import encode, encode_fit, encode_row
from treewright.exceptions import ModelFileError, TreewrightError
from treewright.trees.check_model import check_columns
from treewright.trees.codec import dumps

RNG = np.random.default_rng(11)
N = 600
CITY = RNG.integers(0, 40, N) % RNG.integers(1, 41, N)
TABLE = {
    "a": RNG.normal(size=N),
    "b": RNG.normal(size=N),
    "c": RNG.normal(size=N),
    "city": [f"city {at}" for at in CITY],
}
Y = 3.0 * (TABLE["a"] * TABLE["b"] > 0) + np.bincount(CITY)[CITY] / 20 + RNG.normal(size=N) / 4


@pytest.fixture(scope="module")
def boosted():
    return tw.GradientBoostingRegressor().fit(TABLE, Y)


def test_members_find_the_product_and_the_number_of_rows(boosted):
    names = [column.name for column in boosted.model_.schema.columns if is_derived(column)]
    assert "city.rows" in names
    assert "a * b" in names
    plain = tw.GradientBoostingRegressor(derived_columns="none").fit(TABLE, Y)
    assert not any(map(is_derived, plain.model_.schema.columns))
    later = {"a": RNG.normal(size=N), "b": RNG.normal(size=N), "c": RNG.normal(size=N), "city": TABLE["city"]}
    truth = 3.0 * (later["a"] * later["b"] > 0) + np.bincount(CITY)[CITY] / 20
    assert np.mean((boosted.predict(later) - truth) ** 2) < 0.8 * np.mean((plain.predict(later) - truth) ** 2)


def test_the_estimator_speaks_of_the_columns_of_the_table_alone(boosted):
    assert boosted.n_features_in_ == 4
    assert boosted.feature_names_in_.tolist() == list(TABLE)
    assert boosted.feature_importances_.shape == (4,)
    assert boosted.feature_importances_.sum() == pytest.approx(1.0)
    assert boosted.feature_importances_[[0, 1]].min() > boosted.feature_importances_[2]


def test_a_file_an_array_a_row_and_a_frame_answer_alike(boosted, tmp_path):
    boosted.save(tmp_path / "m.tw")
    loaded = tw.load(tmp_path / "m.tw")
    assert loaded.schema == boosted.model_.schema
    expected = boosted.predict(TABLE)
    np.testing.assert_array_equal(loaded.predict(TABLE), expected)
    rows = np.concatenate(
        [encode_row(loaded.schema, {name: cells[at] for name, cells in TABLE.items()})[None] for at in range(20)]
    )
    np.testing.assert_array_equal(rows, encode(loaded.schema, {name: cells[:20] for name, cells in TABLE.items()}))
    for at in range(5):
        one = {name: cells[at] for name, cells in TABLE.items()}
        assert boosted.predict_one(one) == expected[at]


def test_plain_numbers_keep_their_type_and_answer(tmp_path):
    X = np.column_stack([TABLE["a"], TABLE["b"], TABLE["c"]]).astype(np.float32)
    boosted = tw.GradientBoostingRegressor().fit(X, Y)
    assert any(map(is_derived, boosted.model_.schema.columns))
    np.testing.assert_array_equal(boosted.predict(X), boosted.predict(X.astype(np.float64)))
    np.testing.assert_array_equal(boosted.predict(X.tolist()), boosted.predict(X))


def test_an_unseen_level_has_no_rows_and_a_missing_cell_no_number():
    schema, matrix = encode_fit({"city": ["x", "y", "y", None]})
    wide = with_derived(schema, [rows_of_levels(schema, 0, matrix[:, 0], None)])
    for unseen in ("missing", "majority"):
        cells = encode(wide, {"city": ["y", "elsewhere", None, "x"]}, unseen=unseen)
        np.testing.assert_array_equal(cells[:, 1], [2.0, 0.0, np.nan, 1.0])


def test_what_is_no_number_is_a_missing_cell():
    schema, _ = encode_fit({"a": [1.0, 2.0], "b": [1.0, 0.0]})
    a, b = np.array([1.0, np.inf, 1e308, np.nan, 0.0]), np.array([0.0, np.inf, 1e308, 1.0, -2.0])
    columns = (*schema.columns, *pairs_of(schema, [0, 1]))
    cells = {columns[at].part: derived_cells(columns, at, np.column_stack([a, b])) for at in range(2, 6)}
    np.testing.assert_array_equal(cells["over"], [np.nan, np.nan, 1.0, np.nan, -0.0])
    np.testing.assert_array_equal(cells["minus"], [1.0, np.nan, 0.0, np.nan, 2.0])
    np.testing.assert_array_equal(cells["plus"], [1.0, np.inf, np.inf, np.nan, -2.0])
    np.testing.assert_array_equal(cells["times"], [0.0, np.inf, np.inf, np.nan, -0.0])


def test_a_name_that_is_taken_makes_no_column():
    schema, _ = encode_fit({"a": [1.0, 2.0], "b": [1.0, 3.0], "a + b": [0.0, 1.0]})
    names = with_derived(schema, pairs_of(schema, [0, 1])).names
    assert names == ("a", "b", "a + b", "a - b", "a * b", "a / b")


def test_partial_dependence_on_a_column_sets_what_is_made_of_it(boosted):
    grid = [-2.0, 2.0]
    table = boosted.partial_dependence(TABLE, "a", grid=grid)
    for value, said in zip(grid, table.values[0], strict=True):
        assert said == pytest.approx(boosted.predict({**TABLE, "a": np.full(N, value)}).mean())


def test_shuffling_a_column_shuffles_what_is_made_of_it(boosted):
    table = boosted.importances("permutation", TABLE, Y, n_repeats=2)
    found = dict(zip(table.names, table.values, strict=True))
    assert found["a"] > 2.0  # of a target that varies by 3 with the sign of a * b
    assert found["a * b"] == 0.0  # no table has it, so nothing can be shuffled


@pytest.mark.parametrize(
    "change",
    [
        {"sources": (1, 3)}, {"sources": (0, 3)}, {"sources": (0, 0)}, {"part": "over"}, {"name": "else"},
        {"kind": "ordinal"}, {"sources": (0, 99)}, {"sources": (-1, 1)}, {"sources": (1, 0)}, {"sources": (0,)},
        {"sources": ()}, {"sources": (0, 1, 2)}, {"numbers": (1.0,)}, {"part": "square"}, {"part": "and"},
        {"part": "linear"},
    ],
)  # fmt: skip
def test_a_file_with_a_pair_that_there_cannot_be_is_refused(boosted, change):
    schema = boosted.model_.schema
    at = next(at for at, column in enumerate(schema.columns) if column.part == "times")
    columns = list(schema.columns)
    columns[at] = replace(columns[at], **change)
    with pytest.raises(ModelFileError):
        check_columns(replace(schema, columns=tuple(columns)))


def test_a_schema_goes_through_json(boosted):
    schema = boosted.model_.schema
    assert schema_from_json(schema_to_json(schema)) == schema
    before = schema_to_json(schema)
    for entry in before["columns"]:  # as files were written before a column could have many sources
        own = entry.pop("sources", [])
        entry |= dict(zip(("source", "other"), own, strict=False))
    assert schema_from_json(before) == schema
    broken = schema_to_json(schema)
    broken["columns"][4]["numbers"][0] = "many"
    with pytest.raises(ValueError, match="numbers"):
        schema_from_json(broken)


def test_the_report_and_what_show_lists_name_them(boosted):
    assert "a * b" in boosted.show()
    assert re.search(r"\d, \d+ derived", boosted.report(TABLE, Y).html)


@pytest.mark.parametrize(
    "change", [{"left_out": "identifier"}, {"family": "date"}, {"missing_seen": False}, {"numbers": ()}]
)
def test_a_file_with_rows_of_levels_that_there_cannot_be_is_refused(boosted, change):
    columns = list(boosted.model_.schema.columns)
    at = next(at for at, column in enumerate(columns) if column.part == "rows")
    columns[at] = replace(columns[at], **change)
    with pytest.raises(ModelFileError, match="derived columns"):
        check_columns(replace(boosted.model_.schema, columns=tuple(columns)))


@pytest.mark.parametrize("change", [{"left_out": "identifier"}, {"numbers": (1.0,)}, {"sources": (1, 2)}])
def test_a_file_whose_sources_cannot_be_sources_is_refused(boosted, change):
    columns = list(boosted.model_.schema.columns)
    columns[0] = replace(columns[0], **change)
    with pytest.raises(ModelFileError, match="derived columns"):
        check_columns(replace(boosted.model_.schema, columns=tuple(columns)))


def test_a_product_that_is_the_target_was_not_left_in_the_table(recwarn):
    tw.GradientBoostingRegressor().fit({"a": TABLE["a"], "b": TABLE["b"]}, TABLE["a"] * TABLE["b"])
    assert not [each for each in recwarn.list if "left in the table" in str(each.message)]


def test_the_command_and_a_translation_name_columns_made_of_others(boosted):
    from treewright.cli.models import columns_in_words

    words = columns_in_words(boosted.model_)
    assert "derived columns" in words
    assert "dates" not in words
    with pytest.raises(TreewrightError, match="derived_columns"):
        tw.to_sklearn(boosted.model_.tree(0))


# Levels together, and linear scores.

TWO = {
    "x": RNG.normal(size=N), "z": RNG.normal(size=N), "sky": RNG.choice(["rain", "sun", "fog"], N).tolist(),
    "wind": RNG.choice(["calm", "storm", "gale", "breeze"], N).tolist(),
}  # fmt: skip
TOGETHER = np.array([(a == "sun") ^ (b in ("storm", "gale")) for a, b in zip(TWO["sky"], TWO["wind"], strict=True)]) * 1


@pytest.fixture(scope="module")
def wide():
    schema, matrix = encode_fit(
        {**TWO, "sky": [None, *TWO["sky"][1:-1], None], "wind": [*TWO["wind"][:-1], None], "x": [np.nan, *TWO["x"][1:]]}
    )
    score = linear_score(
        "linear score", (0, 2), (0.5, -1.0, 1.0, 2.0, 7.0, 10.0, 20.0, 30.0, 40.0)
    )  # of x: -1 to 1, slope 2, missing 7; of fog, rain, sun and a missing cell 10, 20, 30, 40
    return with_derived(schema, [level_pairs(schema, 2, 3, matrix), score]), matrix


def test_levels_together_are_told_by_both_and_unknown_ones_are_missing(wide):
    schema, _ = wide
    later = {"x": [0.0] * 5, "z": [0.0] * 5, "sky": ["fog", None, "hail", None, "sun"]}
    later["wind"] = ["calm", TWO["wind"][0], "calm", None, "squall"]
    for unseen in ("missing", "majority"):
        codes = encode(schema, later, unseen=unseen)[:, 4]
        levels = schema.columns[4].levels
        said = [None if np.isnan(code) else levels[int(code)] for code in codes]
        # A level that is taken for a missing cell may be one that rows had beside the other.
        assert said[:2] == ["fog & calm", f"missing & {TWO['wind'][0]}"]
        assert said[3] is None
        if unseen == "majority":
            assert said[2] is None
            assert said[4] is None


def test_a_linear_score_adds_up_its_sources(wide):
    schema, _ = wide
    later = {"x": [0.0, -9.0, np.inf, np.nan, 0.25], "z": [0.0] * 5, "wind": ["calm"] * 5}
    later["sky"] = ["fog", "rain", "sun", None, "hail"]
    said = encode(schema, later, unseen="majority")[:, 5]
    np.testing.assert_array_equal(said, [12.5, 20.5, 34.5, 47.5, 3.0])


def test_shares_of_a_score_go_to_what_moves_it(wide):
    schema, _ = wide
    shares = given_to_sources(schema.columns, np.array([0, 0, 0, 0, 0.5, 0.5]))
    np.testing.assert_allclose(shares, [0.5 * 4 / 24, 0.0, 0.5 * 20 / 24 + 0.25, 0.25])
    flat = replace(schema.columns[5], numbers=(0.5, 0.0, 0.0, 0.0, 7.0, 1.0, 1.0, 1.0, 4.0))
    shares = given_to_sources((*schema.columns[:5], flat), np.array([0, 0, 0, 0, 0, 0.5]))
    np.testing.assert_allclose(shares, [0.25, 0, 0.25, 0])


@pytest.mark.parametrize(
    ("at", "change"),
    [
        (4, {"numbers": (0.0, 1.0)}), (4, {"sources": (0, 1)}), (4, {"sources": (2,)}), (4, {"name": "both"}),
        (4, {"kind": "ordinal"}), (4, {"numbers": (0.5,)}), (5, {"numbers": ()}), (5, {"sources": (0, 3)}),
        (5, {"numbers": (np.nan,) * 9}), (5, {"numbers": (1.0,) * 8}), (5, {"sources": (2, 0)}), (5, {"sources": ()}),
        (5, {"kind": "ordinal"}), (5, {"missing_seen": False}),
    ],
)  # fmt: skip
def test_a_file_with_levels_or_scores_that_there_cannot_be_is_refused(wide, at, change):
    schema, _ = wide
    check_columns(schema)
    columns = list(schema.columns)
    columns[at] = replace(columns[at], **change)
    with pytest.raises(ModelFileError):
        check_columns(replace(schema, columns=tuple(columns)))


def test_the_schema_of_levels_and_scores_goes_through_json(wide):
    schema, _ = wide
    assert schema_from_json(schema_to_json(schema)) == schema


@pytest.fixture(scope="module")
def of_levels():
    return tw.GradientBoostingClassifier().fit(TWO, TOGETHER)


@pytest.fixture(scope="module")
def of_sums():
    table = {f"c{at}": RNG.normal(size=200) for at in range(8)} | {"kind": RNG.choice(["a", "b", "c"], 200).tolist()}
    y = sum(table[f"c{at}"] for at in range(8)) + np.array([1.0, 2.0, 4.0])[[ord(k) - 97 for k in table["kind"]]]
    return tw.GradientBoostingRegressor().fit(table, y), table, y


def test_members_find_levels_that_tell_only_together(of_levels):
    assert "sky & wind" in of_levels.model_.schema.names
    assert of_levels.score(TWO, TOGETHER) == 1.0
    assert of_levels.feature_importances_[2:].sum() > 0.9


def test_members_find_a_sum_of_many_columns(of_sums):
    boosted, table, y = of_sums
    assert "linear score" in boosted.model_.schema.names
    plain = tw.GradientBoostingRegressor(derived_columns="none").fit(table, y)
    rng = np.random.default_rng(1)
    later = {name: rng.normal(size=500) for name in table if name != "kind"} | {"kind": rng.choice(list("abc"), 500)}
    truth = sum(later[f"c{at}"] for at in range(8)) + np.array([1.0, 2.0, 4.0])[[ord(k) - 97 for k in later["kind"]]]
    assert np.mean((boosted.predict(later) - truth) ** 2) < 0.5 * np.mean((plain.predict(later) - truth) ** 2)


@pytest.mark.parametrize("which", ["of_levels", "of_sums"])
def test_everything_reads_a_model_with_levels_and_scores(request, which, tmp_path):
    found = request.getfixturevalue(which)
    boosted, table, y = found if isinstance(found, tuple) else (found, TWO, TOGETHER)
    boosted.save(tmp_path / "m.tw")
    loaded = tw.load(tmp_path / "m.tw")
    np.testing.assert_array_equal(loaded.predict(table), boosted.predict(table))
    one = {name: cells[3] for name, cells in table.items()}
    assert boosted.predict_one(one) == boosted.predict(table)[3]
    np.testing.assert_array_equal(
        with_derived_cells(loaded.schema, encode(loaded.schema, table)[:, : len(table)]), encode(loaded.schema, table)
    )
    explained = boosted.explain({name: cells[:20] for name, cells in table.items()})
    assert {each for each in loaded.schema.names if " & " in each or each == "linear score"} & set(explained.columns)
    rises = boosted.importances("permutation", table, y, n_repeats=2)
    assert max(rises.values) > 0
    assert re.search(r"\d, \d+ derived", boosted.report(table, y).html)
    name = "sky" if which == "of_levels" else "c0"
    assert boosted.partial_dependence(table, name).values[0].std() > 0


def test_order_and_threads_do_not_matter_to_levels_and_scores(of_sums):
    boosted, table, y = of_sums
    order = np.random.default_rng(2).permutation(len(y))
    turned = {name: np.asarray(cells)[order] for name, cells in table.items()}
    for jobs in (1, 2):
        other = tw.GradientBoostingRegressor(n_jobs=jobs).fit(turned, y[order])
        assert dumps(other.model_) == dumps(boosted.model_)


def test_a_row_of_weight_2_is_a_row_twice_in_a_score(of_sums):
    _, table, y = of_sums
    weights = np.random.default_rng(3).integers(1, 3, len(y))
    twice = {name: np.repeat(np.asarray(cells), weights) for name, cells in table.items()}
    one = tw.GradientBoostingRegressor().fit(table, y, sample_weight=weights)
    other = tw.GradientBoostingRegressor().fit(twice, np.repeat(y, weights))
    np.testing.assert_allclose(one.predict(table), other.predict(table), rtol=1e-6)


def test_weights_count_as_rows_where_rows_are_few():
    rng = np.random.default_rng(4)
    table = {f"c{at}": rng.normal(size=60) for at in range(5)}
    y = sum(table.values())
    one = tw.GradientBoostingRegressor().fit(table, y, sample_weight=np.full(60, 2.0))
    twice = tw.GradientBoostingRegressor().fit(
        {name: np.repeat(cells, 2) for name, cells in table.items()}, np.repeat(y, 2)
    )
    assert one.model_.schema.names == twice.model_.schema.names
    assert "linear score" in one.model_.schema.names
    np.testing.assert_allclose(one.predict(table), twice.predict(table), rtol=1e-6)


def test_names_and_levels_that_meet_are_made_unlike(of_sums):
    _, table, y = of_sums
    named = tw.GradientBoostingRegressor().fit({**table, "linear score": np.arange(len(y)) % 7.0}, y)
    assert "linear score (2)" in named.model_.schema.names
    schema, matrix = encode_fit({"a": ["x", None, "missing", "x & y"], "b": ["y & z", "u", "u", "z"]})
    together = level_pairs(schema, 0, 1, matrix)
    assert sorted(together.levels) == ["'missing' & 'u'", "'x & y' & 'z'", "'x' & 'y & z'", "missing & 'u'"]


def test_a_gate_knows_no_unit(monkeypatch):
    from treewright.learn import boosting_members

    looks = []
    grow = boosting_members.grow_members

    def noted(table, rows, settings, *more, **options):
        looks.append(options.get("is_look", False))
        return grow(table, rows, settings, *more, **options)

    monkeypatch.setattr(boosting_members, "grow_members", noted)
    rng = np.random.default_rng(0)
    table = {"a": rng.normal(size=400), "b": rng.normal(size=400)}
    counts = rng.poisson(2000 * np.exp(np.sin(3 * table["a"]) / 4))
    seen = []
    for unit in (1.0, 1e-5):
        looks.clear()
        tw.GradientBoostingRegressor(loss="poisson").fit(table, counts * unit)
        seen.append(list(looks))
    assert seen[0] == seen[1]


def test_a_file_whose_score_no_fit_makes_is_refused(wide):
    schema, _ = wide
    numbers = list(schema.columns[5].numbers)
    numbers[1], numbers[2] = numbers[2], numbers[1]
    columns = (*schema.columns[:5], replace(schema.columns[5], numbers=tuple(numbers)))
    with pytest.raises(ModelFileError):
        check_columns(replace(schema, columns=columns))
    broken = schema_to_json(schema)
    broken["columns"][5]["source"] = 0
    with pytest.raises(ValueError, match="sources"):
        schema_from_json(broken)
