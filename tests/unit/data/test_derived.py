"""Columns made of others: the cells are what they say, at the fit and later, in files and in what explains a model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import treewright as tw
from treewright.data.categories import schema_from_json, schema_to_json
from treewright.data.derived import derived_cells, is_derived, pairs_of, rows_of_levels, with_derived
from treewright.data.encoder import encode, encode_fit, encode_row
from treewright.exceptions import ModelFileError, TreewrightError
from treewright.model.check import check_columns

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
    cells = {column.part: derived_cells(column, a, b) for column in pairs_of(schema, [0, 1])}
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
        {"source": 3}, {"other": 3}, {"other": 0}, {"part": "over"}, {"name": "else"}, {"kind": "ordinal"},
        {"other": 99}, {"source": -1}, {"numbers": (1.0,)}, {"part": "square"},
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
    broken = schema_to_json(schema)
    broken["columns"][4]["numbers"][0] = "many"
    with pytest.raises(ValueError, match="numbers"):
        schema_from_json(broken)


def test_the_report_and_what_show_lists_name_them(boosted):
    assert "a * b" in boosted.show()
    assert "made of others" in boosted.report(TABLE, Y).html


@pytest.mark.parametrize(
    "change", [{"left_out": "identifier"}, {"family": "date"}, {"missing_seen": False}, {"numbers": ()}]
)
def test_a_file_with_rows_of_levels_that_there_cannot_be_is_refused(boosted, change):
    columns = list(boosted.model_.schema.columns)
    at = next(at for at, column in enumerate(columns) if column.part == "rows")
    columns[at] = replace(columns[at], **change)
    with pytest.raises(ModelFileError, match="made of others"):
        check_columns(replace(boosted.model_.schema, columns=tuple(columns)))


@pytest.mark.parametrize("change", [{"left_out": "identifier"}, {"numbers": (1.0,)}, {"other": 1}])
def test_a_file_whose_sources_cannot_be_sources_is_refused(boosted, change):
    columns = list(boosted.model_.schema.columns)
    columns[0] = replace(columns[0], **change)
    with pytest.raises(ModelFileError, match="made of others"):
        check_columns(replace(boosted.model_.schema, columns=tuple(columns)))


def test_a_product_that_is_the_target_was_not_left_in_the_table(recwarn):
    tw.GradientBoostingRegressor().fit({"a": TABLE["a"], "b": TABLE["b"]}, TABLE["a"] * TABLE["b"])
    assert not [each for each in recwarn.list if "left in the table" in str(each.message)]


def test_the_command_and_a_translation_name_columns_made_of_others(boosted):
    from treewright.cli.models import columns_in_words

    words = columns_in_words(boosted.model_)
    assert "made of them beside" in words
    assert "dates" not in words
    with pytest.raises(TreewrightError, match="derived_columns"):
        tw.to_sklearn(boosted.model_.tree(0))
