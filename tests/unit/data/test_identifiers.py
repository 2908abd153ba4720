"""Columns that only tell rows apart are left out of a fit, unless they are declared or nothing else would remain."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import treewright as tw
from treewright.data.categories import schema_from_json, schema_to_json
from treewright.data.encoder import encode, encode_fit, encode_row
from treewright.exceptions import ColumnError, DataWarning

N = 60
OTHER = [at * 7 % 10 for at in range(N)]
Y = [0 if value < 5 else 1 for value in OTHER]


def left_out(column, name="it", other=OTHER, **declared):
    schema, _ = encode_fit({name: column, "other": other}, **declared)
    return schema.columns[0].left_out


@pytest.mark.parametrize(
    ("levels", "rows", "is_left_out"),
    [(60, 60, True), (31, 60, True), (30, 60, False), (25, 49, True), (24, 47, False), (2, 60, False)],
)
def test_text_is_left_out_where_a_level_has_fewer_than_two_rows(levels, rows, is_left_out):
    found = left_out([f"name {at % levels}" for at in range(rows)], other=OTHER[:rows])

    assert found == (f"{levels} different texts in {rows} rows" if is_left_out else "")


def test_missing_cells_are_no_rows_of_a_level():
    text = [f"name {at % 25}" if at < 49 else None for at in range(N)]

    assert left_out(text) == "25 different texts in 49 rows"


@pytest.mark.parametrize(
    ("numbers", "reason"),
    [
        (range(N), "counts the rows"),
        (range(1, N + 1), "counts the rows"),
        ([at for at in range(80) if at % 4], "counts the rows"),  # three rows of four: a fold's training rows
        ([float(at) for at in range(N)], "counts the rows"),
        (range(2, 2 * N + 2, 2), ""),  # up to 120: not even half of the rows that it would count
        (range(1960, 1960 + N), ""),
        (range(N - 1, -1, -1), ""),
        ([at + 0.5 for at in range(N)], ""),
        ([at if at != 30 else 29 for at in range(N)], ""),
        ([None, *range(1, N)], ""),
    ],
)
def test_numbers_that_count_the_rows_are_left_out(numbers, reason):
    assert left_out(list(numbers)) == reason


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "rownames", "row.names", "__index_level_0__"])
def test_a_nameless_index_is_left_out_in_any_order_and_of_few_rows(name):
    assert left_out([903, 17, 44], name, [1, 2, 1]) == "a different number in every row"
    assert left_out([903, 17, 17], name, [1, 2, 1]) == ""
    assert left_out(["Ann", "Bo", "Cy"], name, [1, 2, 1]) == "3 different texts in 3 rows"


@pytest.mark.parametrize(
    ("name", "is_left_out"),
    [("id", True), ("ID", True), ("customer_id", True), ("PassengerId", True), ("paid", False), ("width", False)],
)
def test_whole_numbers_of_an_identifier_are_left_out_by_its_name(name, is_left_out):
    numbers = [at * 7919 % 100_003 for at in range(N)]

    assert bool(left_out(numbers, name)) == is_left_out


@pytest.mark.parametrize(
    "declared", [{"nominal": ["it"]}, {"nominal": [0]}, {"nominal": "all"}, {"nominal": {"it": None}}]
)
def test_what_is_declared_is_kept(declared):
    assert left_out([f"name {at}" for at in range(N)], **declared) == ""
    assert left_out(list(range(N)), numeric=["it"]) == ""


def test_an_array_has_no_index_column():
    schema, matrix = encode_fit(np.column_stack([np.arange(N), OTHER]))

    assert not any(column.left_out for column in schema.columns)
    assert matrix[:, 0].tolist() == list(range(N))


@pytest.mark.parametrize("other", [[1] * N, [None] * N, ["same"] * N])
def test_the_last_column_that_varies_is_kept(other):
    assert left_out(list(range(N)), other=other) == ""
    schema, _ = encode_fit({"Unnamed: 0": list(range(N)), "it": list(range(N)), "other": other})
    assert [column.name for column in schema.columns if column.left_out] == ["Unnamed: 0"]


@pytest.mark.parametrize(
    "make", [dict, pd.DataFrame, pl.DataFrame, lambda table: pd.DataFrame(table).astype({"it": "category"})]
)
def test_every_sort_of_table_is_judged_alike(make):
    table = make({"it": [f"name {at}" for at in range(N)], "at": [float(at) for at in range(N)], "other": OTHER})
    schema, matrix = encode_fit(table)

    assert [column.left_out for column in schema.columns] == ["60 different texts in 60 rows", "counts the rows", ""]
    assert matrix[:, :2].tolist() == [[0.0, 0.0]] * N


def test_the_users_own_matrix_is_not_written_to():
    frame = pd.DataFrame({"it": np.arange(float(N)), "other": np.array(OTHER, float)})
    encode_fit(frame)

    assert frame["it"].tolist() == list(range(N))


@pytest.mark.parametrize(
    "estimator",
    [
        tw.DecisionTreeClassifier(),
        tw.DecisionTreeClassifier(splitter="hist", max_features=1, random_state=0),
        tw.RandomForestClassifier(5, max_features_per_tree=1, max_features=1, random_state=0),
        tw.GradientBoostingClassifier(5),
        tw.C45Classifier(),
        tw.AdaBoostClassifier(n_estimators=3),
        tw.BaggingClassifier(n_estimators=3, random_state=0),
        tw.KNeighborsClassifier(),
        tw.KNeighborsClassifier(metric="gower"),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_a_model_is_right_without_the_column_and_does_not_miss_it(estimator):
    table = {"other": OTHER, "it": [f"name {at}" for at in range(N)]}
    with pytest.warns(
        DataWarning, match=r"column 'it' \(60 different texts in 60 rows\) is left out: .* declare it"
    ) as told:
        estimator.fit(table, Y)
    assert len(told) == 1

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert estimator.predict(table).tolist() == Y
        assert estimator.predict({"it": [3] * N, "other": OTHER}).tolist() == Y  # whatever it holds now
        assert estimator.predict({"other": OTHER}).tolist() == Y
        assert estimator.model_.predict_one({"other": 9}) == 1
    assert estimator.n_features_in_ == 2
    with pytest.raises(ColumnError, match="'other'"):
        estimator.predict({"it": table["it"]})


def test_id3_does_not_mind_a_number_that_is_left_out():
    with pytest.warns(DataWarning, match="counts the rows"):
        est = tw.ID3Classifier().fit({"it": list(range(N)), "other": [str(value) for value in OTHER]}, Y)

    assert est.predict({"other": ["1", "9"]}).tolist() == [0, 1]


def test_two_columns_are_told_in_one_line():
    table = {"a": [f"name {at}" for at in range(N)], "b": list(range(N)), "other": OTHER}
    with pytest.warns(DataWarning) as told:
        tw.DecisionTreeClassifier().fit(table, Y)

    assert [str(each.message) for each in told] == [
        "columns 'a' (60 different texts in 60 rows), 'b' (counts the rows) are left out: such values identify rows "
        "and carry no information about new ones; to keep them, declare them nominal or numeric"
    ]


def test_a_row_may_have_the_column_or_not():
    schema, _ = encode_fit({"it": list(range(N)), "other": OTHER})

    assert encode_row(schema, {"it": None, "other": 3}).tolist() == [0.0, 3.0]
    assert encode_row(schema, {"other": 3}).tolist() == [0.0, 3.0]
    assert encode_row(schema, [7, 3]).tolist() == [0.0, 3.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert encode(schema, {"other": [3, 4]}).tolist() == [[0.0, 3.0], [0.0, 4.0]]


def test_a_model_file_keeps_the_reason(tmp_path):
    with pytest.warns(DataWarning):
        est = tw.DecisionTreeClassifier().fit({"it": list(range(N)), "other": OTHER}, Y)
    est.save(tmp_path / "it.tw")
    read = tw.load(tmp_path / "it.tw")

    assert read.schema == est.model_.schema
    assert read.predict({"other": OTHER}).tolist() == Y


@pytest.mark.parametrize("change", [{"left_out": ""}, {"left_out": 1}, {"left_out": "so", "kind": "nominal"}])
def test_a_file_cannot_leave_out_without_a_reason(change):
    schema, _ = encode_fit({"it": list(range(N)), "other": OTHER})
    written = schema_to_json(schema)
    written["columns"][0] |= change

    with pytest.raises(ValueError, match="column 0 has an invalid 'left_out'"):
        schema_from_json(written)
