"""Claims about levels, labels and schemas as JSON: there and back is the identity, and reading trusts nothing."""

from __future__ import annotations

import datetime as dt
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.data.categories import (
    array_from_json,
    array_to_json,
    schema_from_json,
    schema_to_json,
    values_from_json,
    values_to_json,
)
from treewright.data.schema import Column, Schema
from treewright.exceptions import DataError

SCALARS = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False),
        st.text(alphabet=st.characters(codec=None)),
        st.binary(),
        st.dates(),
        st.datetimes(),
    ),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=5,
)


def through_text(obj: object) -> object:
    return json.loads(json.dumps(obj, allow_nan=False, ensure_ascii=False).encode())


@given(st.lists(SCALARS, max_size=5))
def test_values_come_back_with_value_and_type(values: list[object]) -> None:
    back = values_from_json(through_text(values_to_json(values)))

    assert list(back) == values
    assert [type(value) for value in back] == [type(value) for value in values]


def test_special_floats_come_back() -> None:
    back = values_from_json(through_text(values_to_json([math.nan, math.inf, -math.inf, -0.0])))

    assert math.isnan(back[0])  # type: ignore[arg-type]
    assert back[1:3] == (math.inf, -math.inf)
    assert math.copysign(1, back[3]) == -1  # type: ignore[arg-type]


def test_a_lone_surrogate_comes_back() -> None:
    assert values_from_json(through_text(values_to_json(["a\ud800"]))) == ("a\ud800",)


def test_numpy_scalars_become_python_scalars() -> None:
    back = values_from_json(values_to_json([np.int8(3), np.float32(0.1), np.str_("a"), np.bool_(True)]))

    assert back == (3, float(np.float32(0.1)), "a", True)
    assert [type(value) for value in back] == [int, float, str, bool]


@pytest.mark.parametrize("value", [object(), 1j, [1], {"a": 1}, np.datetime64("2020-01-01"), dt.timedelta(1)])
def test_a_value_of_another_type_is_refused_by_name(value: object) -> None:
    with pytest.raises(DataError, match=type(value).__name__):
        values_to_json([value])


def objects(*values: object) -> np.ndarray:
    array = np.empty(len(values), object)
    for at, value in enumerate(values):
        array[at] = value
    return array


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "maybe"], "<U7"),
        np.array([b"a", b"bcd"]),
        np.array([-128, 127], np.int8),
        np.array([2**64 - 1, 0], np.uint64),
        np.array([False, True]),
        np.array([0.1, np.inf], np.float32),
        np.array([1.5, 2], np.float16),
        np.array(["2020-01-01", "1969-12-31"], "datetime64[ns]"),
        np.array(["2020-01", "2020-02"], "datetime64[M]"),
        np.array([1, 2], "timedelta64[25s]"),
        objects(1, "a", ("x", 2), None, 0.5),
        np.array([], "<U3"),
    ],
    ids=lambda labels: str(labels.dtype),
)
def test_label_arrays_come_back_with_their_dtype(labels: np.ndarray) -> None:
    back = array_from_json(through_text(array_to_json(labels)))

    assert back.dtype == labels.dtype
    assert back.tolist() == labels.tolist()


@pytest.mark.parametrize("dtype", [">i4", ">f8", ">U3", ">M8[s]"])
def test_byte_swapped_labels_come_back_native(dtype: str) -> None:
    labels = np.array([1, 2], dtype)

    back = array_from_json(array_to_json(labels))

    assert back.dtype == labels.dtype.newbyteorder("=")
    assert back.dtype.isnative
    assert (back == labels).all()


@pytest.mark.parametrize(
    "obj",
    [
        None,
        [],
        {"dtype": "U3"},
        {"dtype": "U3", "values": ["abcd"]},
        {"dtype": "U999999999", "values": ["a"]},
        {"dtype": "i1", "values": [128]},
        {"dtype": "i1", "values": [True]},
        {"dtype": "i8", "values": ["1"]},
        {"dtype": "i8", "values": [1, 1]},
        {"dtype": "f4", "values": [{"float": "0.1"}]},
        {"dtype": "f8", "values": [{"float": "1"}]},
        {"dtype": "V8", "values": []},
        {"dtype": "f16", "values": []},
        {"dtype": "O,O", "values": []},
        {"dtype": "M8[0s]", "values": []},
        {"dtype": "M8[parsec]", "values": []},
        {"dtype": 7, "values": []},
        {"dtype": "O", "values": {"a": 1}},
        {"dtype": "O", "values": [1.5]},
        {"dtype": "O", "values": [{"eval": "1"}]},
        {"dtype": "O", "values": [{"int": "zz"}]},
        {"dtype": "O", "values": [{"date": "2020-99-01"}]},
        {"dtype": "O", "values": [{"str": "ff"}]},
        {"dtype": "O", "values": [{"bytes": 3}]},
        {"dtype": "O", "values": [{"tuple": 3}]},
        {"dtype": "O", "values": [[1]]},
    ],
)
def test_malformed_labels_are_a_value_error(obj: object) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        array_from_json(obj)


def test_deeply_nested_tuples_are_a_value_error_not_a_recursion_error() -> None:
    obj: object = 1
    for _ in range(5000):
        obj = {"tuple": [obj]}

    with pytest.raises(ValueError, match=r"nested"):
        values_from_json([obj])


SCHEMA = Schema(
    (
        Column("age", "numeric", (), True, "number"),
        Column(("a", 1), "nominal", (1, "b", ("c", 2.5)), False, "object"),
        Column(None, "ordinal", ("S", "L"), False, "string", declared=True),
    )
)


def test_a_schema_comes_back_equal() -> None:
    assert schema_from_json(through_text(schema_to_json(SCHEMA))) == SCHEMA


def test_a_declaration_is_written_only_where_there_is_one() -> None:
    assert [entry.get("declared") for entry in schema_to_json(SCHEMA)["columns"]] == [None, None, True]


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "tall"},
        {"family": "x"},
        {"missing_seen": 1},
        {"levels": ["a", "a"]},
        {"levels": [1, True]},
        {"levels": [None]},
        {"levels": [{"float": "nan"}]},
        {"kind": "numeric"},
        {"kind": "ordinal", "levels": []},
        {"name": {"float": "x"}},
        {"name": "age"},
        {"extra": 1},
        {"declared": False},
        {"declared": 1},
        {"declared": None},
        {"declared": True, "levels": []},
        {"declared": True, "levels": [], "kind": "numeric"},
    ],
)
def test_a_malformed_column_is_a_value_error(change: dict[str, object]) -> None:
    obj = schema_to_json(SCHEMA)
    obj["columns"][1].update(change)

    with pytest.raises(ValueError, match=r"\w"):
        schema_from_json(obj)


@pytest.mark.parametrize("obj", [None, {}, {"named": True, "columns": []}, {"named": 1, "columns": [{}]}])
def test_a_malformed_schema_is_a_value_error(obj: object) -> None:
    with pytest.raises(ValueError, match=r"schema"):
        schema_from_json(obj)
