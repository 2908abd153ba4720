"""Columns that moved, vanished, doubled or changed between fit and predict."""

from __future__ import annotations

import re
import unicodedata
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from treewright.data.encoder import encode, encode_fit
from treewright.exceptions import ColumnError, DataWarning

X = pd.DataFrame({"age": [31.0, 47], "income": [1.0, 2], "city": ["Oslo", "Lima"]})


def test_reordered_columns_are_matched_by_name() -> None:
    schema, matrix = encode_fit(X)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(encode(schema, X[["city", "income", "age"]]), matrix)


def test_reordered_float_columns_are_matched_by_name() -> None:
    schema, matrix = encode_fit(X[["age", "income"]])

    assert np.array_equal(encode(schema, X[["income", "age"]]), matrix)


def test_extra_columns_are_ignored_with_one_warning_even_if_unreadable() -> None:
    schema, matrix = encode_fit(X)
    more = X.assign(when=pd.to_datetime(["2020", "2021"]), junk=[[1], [2]])

    with pytest.warns(DataWarning, match=r"2 column.*'when', 'junk'") as caught:
        encoded = encode(schema, more)

    assert len(caught) == 1
    assert np.array_equal(encoded, matrix)


def test_a_missing_column_suggests_the_renamed_one() -> None:
    schema = encode_fit(X)[0]

    with pytest.raises(ColumnError, match=r"missing 1 column.*'income' .did you mean 'Income'"):
        encode(schema, X.rename(columns={"income": "Income"}))


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_names_that_differ_in_unicode_form_are_different_and_the_message_shows_it(form: str) -> None:
    composed, other = unicodedata.normalize("NFC", "prés"), unicodedata.normalize("NFD", "prés")
    fitted, asked = (composed, other) if form == "NFC" else (other, composed)
    schema = encode_fit({fitted: [1.0]})[0]

    with pytest.raises(ColumnError, match=re.escape(ascii(asked))):
        encode(schema, {asked: [1.0]})


@pytest.mark.parametrize("asked", [" age", "AGE", 1])
def test_names_that_only_look_alike_are_not_the_same(asked: object) -> None:
    schema = encode_fit({"age" if asked != 1 else "1": [1.0]})[0]

    with pytest.raises(ColumnError, match=r"differs only in"):
        encode(schema, {asked: [1.0]})


def test_duplicate_names_are_refused_at_fit_and_predict() -> None:
    twice = pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"])

    with pytest.raises(ColumnError, match=r"duplicate column names: 'a' \(positions 0, 2\)"):
        encode_fit(twice)
    with pytest.raises(ColumnError, match=r"duplicate column names"):
        encode(encode_fit({"a": [1], "b": [1]})[0], twice)


@pytest.mark.parametrize(
    "names",
    [[0, 1], [10, 3], ["a", 1], [None, "a"], [("a", 1), ("b", 2)], ["a", "a "], ["é", "e\u0301"], ["", " "]],
    ids=repr,
)
def test_unusual_names_are_kept_exactly(names: list[object]) -> None:
    table = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]])
    table.columns = pd.MultiIndex.from_tuples(names) if isinstance(names[0], tuple) else pd.Index(names, dtype=object)

    schema, matrix = encode_fit(table)

    assert list(schema.names) == names
    assert np.array_equal(encode(schema, table.iloc[:, ::-1]), matrix)


def test_an_array_of_the_right_width_after_a_frame_warns() -> None:
    schema = encode_fit(X[["age", "income"]])[0]

    with pytest.warns(
        UserWarning, match=r"X does not have valid feature names, but Tree was fitted with feature names"
    ):
        assert encode(schema, np.array([[1.0, 2]]), owner="Tree").tolist() == [[1, 2]]


def test_a_frame_after_an_array_warns_and_matches_by_position() -> None:
    schema = encode_fit(np.ones((2, 2)))[0]

    with pytest.warns(UserWarning, match=r"X has feature names, but Tree was fitted without feature names"):
        assert encode(schema, pl.DataFrame({"b": [1.0], "a": [2.0]}), owner="Tree").tolist() == [[1, 2]]


@pytest.mark.parametrize("width", [0, 1, 4])
def test_a_wrong_width_gives_both_numbers(width: int) -> None:
    for table in (np.ones((2, 3)), X):
        with pytest.raises(ColumnError, match=f"X has {width} features, but Tree is expecting 3 features as input"):
            encode(encode_fit(table)[0], np.ones((2, width)), owner="Tree")


@pytest.mark.parametrize(
    ("fitted", "asked"),
    [
        ([1, 2], ["12", "13"]),
        (["12", "13"], [12, 13]),
        (["a", "b"], [True, False]),
        ([True, False], ["True", "False"]),
        (pd.Series([1, 2], dtype="category"), ["1", "2"]),
        (["1", "2"], pd.Series([1, 2], dtype="category")),
    ],
)
def test_a_column_that_changed_family_is_refused_naming_both(fitted: object, asked: object) -> None:
    schema = encode_fit({"c": fitted})[0]

    with pytest.raises(ColumnError, match=r"column 'c' held \w+ cells at fit and holds \w+ cells now \(row 0"):
        encode(schema, {"c": asked})


def test_a_float_array_for_text_columns_is_refused_not_taken_for_codes() -> None:
    schema = encode_fit({"c": ["a", "b"]})[0]

    with pytest.raises(ColumnError, match=r"held string cells at fit and holds number"), pytest.warns(DataWarning):
        encode(schema, np.array([[0.0], [1.0]]))


def test_category_levels_in_another_order_give_the_same_codes() -> None:
    schema = encode_fit(pd.DataFrame({"c": pd.Categorical(["a", "b", "c"])}))[0]

    asked = pd.DataFrame({"c": pd.Categorical(["c", "a"], categories=["unused", "c", "b", "a"])})

    assert encode(schema, asked).ravel().tolist() == [2, 0]


def test_ordered_categories_keep_unused_levels_and_unordered_ones_drop_them() -> None:
    levels = ["S", "M", "L"]
    table = pd.DataFrame(
        {"o": pd.Categorical(["L"], categories=levels, ordered=True), "n": pd.Categorical(["L"], categories=levels)}
    )

    schema = encode_fit(table)[0]

    assert [column.levels for column in schema.columns] == [("S", "M", "L"), ("L",)]


def test_levels_1_and_text_1_are_different_levels() -> None:
    schema, matrix = encode_fit({"c": [1, "1", 1.0, True]}, nominal=["c"])

    assert schema.columns[0].levels == (1, "1")
    assert matrix.ravel().tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("empty", [[None, None], [np.nan, np.nan], pd.Series([None, None], dtype="str")])
def test_an_all_missing_column_fits_any_family(empty: object) -> None:
    for fitted in ([1, None], ["a", None]):
        assert np.isnan(encode(encode_fit({"c": fitted})[0], {"c": empty})).all()


def test_many_columns_are_encoded_column_by_column_in_bounded_time() -> None:
    wide = np.ones((3, 20_000))
    wide[1, 7] = 5

    schema, matrix = encode_fit(wide, nominal=[7])

    assert matrix.shape == (3, 20_000)
    assert schema.columns[7].levels == (1.0, 5.0)


def test_levels_that_differ_in_case_alone_are_two_until_they_are_declared() -> None:
    cells = {"c": ["A", "a", "A "]}

    assert encode_fit(cells)[1].ravel().tolist() == [0, 2, 1]
    assert encode_fit(cells, nominal={"c": ["A"]})[1].ravel().tolist() == [0, 0, 0]


def test_names_are_never_cleaned_even_where_levels_are() -> None:
    schema = encode_fit({"c": ["A"]}, nominal={"c": ["A", "B"]})[0]

    with pytest.raises(ColumnError, match=r"differs only in"):
        encode(schema, {"C": ["A"]})
    with pytest.raises(ColumnError, match=r"did you mean 'c'"):
        encode_fit({"c": ["A"]}, nominal={"C": ["A", "B"]})


@pytest.mark.parametrize("cells", [["a", "B", None], [True, False], [1, 2], [1.5, np.nan], [None, None]])
def test_a_column_that_is_not_text_meets_declared_text_with_a_refusal_or_as_missing(cells: list[object]) -> None:
    schema = encode_fit({"c": ["A", "B"]}, nominal={"c": ["A", "B"]})[0]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        if type(cells[0]) is str:
            assert np.array_equal(encode(schema, {"c": cells}).ravel(), [0, 1, np.nan], equal_nan=True)
        elif cells[0] is None:
            assert np.isnan(encode(schema, {"c": cells})).all()
        else:
            with pytest.raises(ColumnError, match="held string cells at fit"):
                encode(schema, {"c": cells})


def test_thousands_of_declared_levels_and_other_spellings_take_no_squared_time() -> None:
    levels = [f"Level {at}" for at in range(20_000)]
    schema = encode_fit({"c": levels[:1]}, nominal={"c": levels})[0]

    codes = encode(schema, {"c": [level.upper() for level in levels]}).ravel()

    assert codes.tolist() == list(range(20_000))


def test_all_on_a_wide_table_is_every_column() -> None:
    schema, matrix = encode_fit(np.ones((2, 5_000)), nominal="all", numeric=[-1])

    assert sum(column.kind == "nominal" for column in schema.columns) == 4_999
    assert matrix[0, [0, -1]].tolist() == [0, 1]
