"""Claims about kinds, levels and codes: what fit settles and predict repeats."""

from __future__ import annotations

import math
import subprocess
import sys
import timeit
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.data.encoder import encode, encode_fit, encode_row, has_nan
from treewright.exceptions import ColumnError, DataError, DataWarning, ParameterError, UnseenLevelError


def same(left: np.ndarray, right: object) -> bool:
    return np.array_equal(left, np.asarray(right, float), equal_nan=True)


def test_kinds_follow_the_dtypes() -> None:
    X = pd.DataFrame(
        {
            "n": [1, 2, 3],
            "s": ["b", "a", "b"],
            "flag": [True, False, True],
            "size": pd.Categorical(["S", "L", "S"], categories=["S", "M", "L"], ordered=True),
        }
    )

    schema, matrix = encode_fit(X)

    assert [column.kind for column in schema.columns] == ["numeric", "nominal", "nominal", "ordinal"]
    assert [column.levels for column in schema.columns] == [(), ("a", "b"), (False, True), ("S", "M", "L")]
    assert matrix.tolist() == [[1, 1, 1, 0], [2, 0, 0, 2], [3, 1, 1, 0]]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_float_matrix_passes_through_without_a_copy(dtype: type, order: str) -> None:
    X = np.array([[1, np.inf], [-0.0, -3]], dtype=dtype, order=order)

    schema, matrix = encode_fit(X)

    assert matrix is X
    assert encode(schema, X) is X
    assert [column.name for column in schema.columns] == ["x0", "x1"]
    assert not schema.named


def test_one_small_row_encodes_within_five_microseconds() -> None:
    schema = encode_fit(np.arange(8.0).reshape(2, 4))[0]
    row = np.ones((1, 4))

    best = min(timeit.repeat(lambda: encode(schema, row), number=2000, repeat=5)) / 2000

    assert best < 5e-6


def test_declarations_override_what_the_dtype_says() -> None:
    X = {"code": [3, 1, 3], "grade": ["low", "high", None], "text": ["12", "-1.5e1", None]}

    schema, matrix = encode_fit(X, nominal=["code"], ordinal={"grade": ["low", "mid", "high"]}, numeric=["text"])

    assert [column.kind for column in schema.columns] == ["nominal", "ordinal", "numeric"]
    assert schema.columns[0].levels == (1, 3)
    assert same(matrix, [[1, 0, 12], [0, 2, -15], [1, np.nan, np.nan]])


def test_declared_positions_work_without_names() -> None:
    schema, matrix = encode_fit(np.array([[1.0, 7.0], [2.0, 5.0]]), nominal=[1])

    assert schema.columns[1].levels == (5.0, 7.0)
    assert matrix.tolist() == [[1, 1], [2, 0]]


def test_declaring_nominal_does_not_modify_the_input() -> None:
    X = np.array([[1.0, 7.0], [2.0, 5.0]])

    encode_fit(X, nominal=[1])

    assert X.tolist() == [[1, 7], [2, 5]]


def test_numbers_match_levels_by_value_across_types() -> None:
    schema = encode_fit({"a": [1, 2]}, nominal=["a"])[0]

    assert encode(schema, {"a": [2.0, 1.0]}).ravel().tolist() == [1, 0]
    assert encode(schema, {"a": [True, True]}).ravel().tolist() == [0, 0]


def test_negative_zero_is_the_level_zero() -> None:
    schema, matrix = encode_fit(np.array([[-0.0], [0.0], [1.0]]), nominal=[0])

    assert schema.columns[0].levels == (0.0, 1.0)
    assert matrix.ravel().tolist() == [0, 0, 1]


def test_mixed_cells_are_levels_where_declared_nominal() -> None:
    schema, matrix = encode_fit({"c": ["b", 2, None, ("t", 1), 1]}, nominal=["c"])

    assert schema.columns[0].levels == (1, 2, "b", ("t", 1))
    assert same(matrix.ravel(), [2, 1, np.nan, 3, 0])


def test_levels_of_a_mixed_column_match_cells_of_one_type() -> None:
    schema = encode_fit({"c": ["b", 2]}, nominal=["c"])[0]

    assert encode(schema, {"c": [2, 2.0]}).ravel().tolist() == [0, 0]
    assert encode(schema, {"c": ["b"]}).ravel().tolist() == [1]


def test_arrays_dicts_and_lists_load_no_table_library() -> None:
    program = (
        "import sys; from treewright.data.encoder import encode_fit; "
        "from treewright.data.target import encode_labels; "
        "encode_fit({'a': ['x', 1]}, nominal=['a']); encode_fit([[1, 'x']]); encode_labels(['x']); "
        "heavy = {'narwhals', 'pandas', 'polars', 'pyarrow', 'sklearn', 'scipy'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )

    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=250)

    assert found.stdout.strip() == "[]"


def test_a_mixed_column_names_row_value_and_remedy() -> None:
    cells: list[object] = [1.0] * 41 + ["abc", 2.0]

    with pytest.raises(DataError, match=r"column 'c' row 41: 'abc'.*nominal"):
        encode_fit({"c": cells})


@pytest.mark.parametrize(("unseen", "nominal", "ordinal"), [("missing", np.nan, np.nan), ("majority", 2.0, np.nan)])
def test_unseen_levels_follow_the_policy(unseen: str, nominal: float, ordinal: float) -> None:
    schema = encode_fit({"c": ["a", "b"], "o": ["l", "h"]}, ordinal={"o": ["l", "h"]})[0]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        matrix = encode(schema, {"c": ["z"], "o": ["z"]}, unseen=unseen)

    assert same(matrix, [[nominal, ordinal]])


def test_unseen_error_names_column_values_and_count() -> None:
    schema = encode_fit({"c": ["a", "b"]})[0]

    with pytest.raises(
        UnseenLevelError, match=r"column 'c': 2 unseen level\(s\): 'x', 'y', in 3 cell\(s\), first row 1"
    ):
        encode(schema, {"c": ["a", "y", "x", "y"]}, unseen="error")


def test_unseen_majority_keeps_missing_cells_missing() -> None:
    schema = encode_fit({"c": ["a", "b", None]})[0]

    assert same(encode(schema, {"c": [None, "z"]}, unseen="majority"), [[np.nan], [2]])


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"unseen"):
        encode(encode_fit({"c": ["a"]})[0], {"c": ["a"]}, unseen="drop")


def test_an_ordinal_value_outside_its_levels_is_refused_at_fit() -> None:
    with pytest.raises(DataError, match=r"column 'o'.*'XL', in 2 cell\(s\), first row 1"):
        encode_fit({"o": ["S", "XL", "XL"]}, ordinal={"o": ["S", "M"]})


@pytest.mark.parametrize("text", ["abc", "", "nan", "1_000", "1e999", "9007199254740993", "0x1", "\u0663"])
def test_text_that_is_no_number_is_refused_in_a_numeric_column(text: str) -> None:
    with pytest.raises(DataError, match=r"column 'c' row 1"):
        encode_fit({"c": ["12", text]}, numeric=["c"])


def test_text_declared_numeric_accepts_text_and_numbers_at_predict() -> None:
    schema = encode_fit({"c": ["12", "13"]}, numeric=["c"])[0]

    assert encode(schema, {"c": ["7"]}).item() == 7
    assert encode(schema, {"c": [7]}).item() == 7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"nominal": ["a"], "numeric": ["a"]}, "declared nominal and numeric"),
        ({"ordinal": {"a": ["x", "x"]}}, "more than once"),
        ({"ordinal": {"a": ["x", None]}}, "no missing value"),
        ({"ordinal": {"a": []}}, "at least one level"),
        ({"ordinal": {"a": "xyz"}}, "must be a list of levels"),
        ({"ordinal": ["a"]}, "must map a column"),
        ({"nominal": 1.5}, "must be a list"),
    ],
)
def test_contradicting_declarations_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        encode_fit({"a": ["x", "y"]}, **arguments)  # type: ignore[arg-type]


def test_a_declared_column_that_does_not_exist_suggests_the_nearest() -> None:
    with pytest.raises(ColumnError, match=r"'Incom'.*did you mean 'income'"):
        encode_fit({"income": [1], "age": [2]}, nominal=["Incom"])


def test_missing_values_new_at_predict_warn_once_and_name_the_columns() -> None:
    schema = encode_fit({"a": [1.0, 2.0], "b": [None, 1.0], "c": ["x", "y"]})[0]

    with pytest.warns(DataWarning) as caught:
        encode(schema, {"a": [np.nan], "b": [None], "c": [None]})

    assert len(caught) == 1
    assert "'a', 'c'" in str(caught[0].message)


def test_missing_values_known_from_fit_do_not_warn() -> None:
    schema = encode_fit(np.array([[np.nan], [1.0]]))[0]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encode(schema, np.array([[np.nan]]))


def test_a_nan_in_a_plain_matrix_warns_at_any_size() -> None:
    schema = encode_fit(np.ones((2, 3)))[0]
    large = np.ones((100_000, 3))
    large[-1, 1] = np.nan

    for X in (np.array([[1, np.nan, 1]]), large):
        with pytest.warns(DataWarning, match=r"'x1'"):
            encode(schema, X)


@given(st.lists(st.floats(width=64, allow_nan=True, allow_infinity=True), min_size=1, max_size=9))
def test_has_nan_is_exact_with_infinities_and_overflow(values: list[float]) -> None:
    with np.errstate(all="raise"):
        found = has_nan(np.array([values]))

    assert found == any(math.isnan(value) for value in values)


def test_infinities_of_both_signs_are_not_missing() -> None:
    assert not has_nan(np.array([[np.inf, -np.inf, 1e308, -1e308]]))
    assert has_nan(np.array([[np.inf], [np.nan]]))


def test_a_row_encodes_like_the_table_that_holds_it() -> None:
    X = {"age": [31, 47], "city": ["Oslo", "Lima"]}
    schema, matrix = encode_fit(X)

    assert encode_row(schema, {"city": "Lima", "age": 47}).tolist() == matrix[1].tolist()
    assert encode_row(schema, [31, "Oslo"]).tolist() == matrix[0].tolist()
    assert encode_row(schema, np.array([31, "Oslo"], object)).tolist() == matrix[0].tolist()


def test_a_row_of_wrong_length_or_without_a_column_is_refused() -> None:
    schema = encode_fit({"age": [31, 47], "city": ["Oslo", "Lima"]})[0]

    with pytest.raises(ColumnError, match=r"X has 1 features, but it is expecting 2"):
        encode_row(schema, [1], owner="it")
    with pytest.raises(ColumnError, match=r"missing 1 column"):
        encode_row(schema, {"age": 1})
    with pytest.raises(DataError, match=r"a row is"):
        encode_row(schema, "ab")


def test_no_rows_at_predict_give_an_empty_matrix() -> None:
    schema = encode_fit({"a": [1], "c": ["x"]})[0]

    assert encode(schema, {"a": [], "c": []}).shape == (0, 2)
    assert encode(schema, pl.DataFrame({"a": [1], "c": ["x"]}).clear()).shape == (0, 2)
    assert encode(encode_fit(np.ones((2, 3)))[0], np.empty((0, 3))).shape == (0, 3)


def test_an_all_missing_column_is_numeric_and_matches_any_family() -> None:
    schema, matrix = encode_fit({"a": [None, None], "b": ["x", "y"]})

    assert schema.columns[0].kind == "numeric"
    assert np.isnan(matrix[:, 0]).all()
    assert same(encode(schema, {"a": ["text"], "b": ["x"]}), [[np.nan, 0]])


@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.text(max_size=3)), st.one_of(st.none(), st.floats(-9, 9), st.integers(-9, 9))
        ),
        min_size=1,
        max_size=12,
    )
)
def test_decoding_the_codes_gives_the_cells_back(rows: list[tuple[object, object]]) -> None:
    X = {"s": [row[0] for row in rows], "n": [row[1] for row in rows]}

    schema, matrix = encode_fit(X, nominal=["s", "n"])

    for at, (text, number) in enumerate(rows):
        for column, cell, code in zip(schema.columns, (text, number), matrix[at], strict=True):
            assert (cell is None) == bool(np.isnan(code))
            assert cell is None or column.levels[int(code)] == cell
    assert np.array_equal(encode(schema, X), matrix, equal_nan=True)
