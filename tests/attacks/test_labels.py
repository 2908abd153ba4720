"""Hostile targets and weights."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import treewright as tw
from treewright.data.target import check_weights, encode_labels, encode_numbers
from treewright.exceptions import DataError, ParameterError


@pytest.mark.parametrize(
    "y",
    [
        ["a", "bbb", "a"],
        ("a", "bbb", "a"),
        pd.Series(["a", "bbb", "a"]),
        pd.Series(["a", "bbb", "a"], dtype=object),
        pd.Series(pd.Categorical(["a", "bbb", "a"], categories=["unused", "bbb", "a"])),
        pd.Categorical(["a", "bbb", "a"]),
        pl.Series(["a", "bbb", "a"]),
        pl.Series(["a", "bbb", "a"], dtype=pl.Categorical),
        pl.Series(["a", "bbb", "a"], dtype=pl.Enum(["bbb", "unused", "a"])),
        pa.chunked_array([["a"], ["bbb", "a"]]),
        np.array(["a", "bbb", "a"], object),
    ],
    ids=lambda y: f"{type(y).__module__}-{getattr(y, 'dtype', '')}",
)
def test_text_labels_are_the_same_from_every_container_and_uncut(y: object) -> None:
    labels = encode_labels(y)

    assert labels.codes.ravel().tolist() == [0, 1, 0]
    assert labels.classes[0].tolist() == ["a", "bbb"]
    assert labels.flat


def test_one_class_is_legal() -> None:
    assert encode_labels([7, 7]).classes[0].tolist() == [7]


def test_tuples_in_a_list_are_labels() -> None:
    labels = encode_labels([(1, "x"), (0, "y"), (1, "x")])

    assert labels.codes.shape == (3, 1)
    assert labels.classes[0].tolist() == [(0, "y"), (1, "x")]


def test_trailing_nul_characters_are_kept() -> None:
    assert encode_labels(["a\0", "a"]).classes[0].tolist() == ["a", "a\0"]


def test_integers_beyond_64_bits_stay_apart() -> None:
    assert encode_labels([2**70, 2**70 + 1]).classes[0].tolist() == [2**70, 2**70 + 1]


def test_large_integers_beside_a_float_stay_apart() -> None:
    assert encode_labels([2**53, 2**53 + 1, 0.0]).classes[0].tolist() == [0.0, 2**53, 2**53 + 1]


def test_names_come_from_series_and_frames() -> None:
    assert encode_labels(pd.Series([1, 2], name="kind")).names == ("kind",)
    frame = encode_labels(pl.DataFrame({"p": ["x", "y"], "q": [1, 2]}))
    assert frame.names == ("p", "q")
    assert [classes.tolist() for classes in frame.classes] == [["x", "y"], [1, 2]]


def test_nullable_integers_keep_their_values() -> None:
    labels = encode_labels(pd.Series([2**60 + 1, 2**60], dtype="Int64"))

    assert labels.classes[0].tolist() == [2**60, 2**60 + 1]


def test_mixed_labels_are_refused_listing_the_types() -> None:
    with pytest.raises(DataError, match=r"\(int, str\)"):
        encode_labels([1, "a"])


@pytest.mark.parametrize("y", [[0.5, 1.0], np.array([0.1, 0.2], np.float32), [np.inf, 1.0], np.array([0.5, 1], object)])
def test_continuous_labels_are_refused_with_the_regressor_as_hint(y: object) -> None:
    with pytest.raises(DataError, match=r"Unknown label type: continuous.*row 0.*regressor"):
        encode_labels(y)


@pytest.mark.parametrize(
    "y",
    [
        [1.0, np.nan, np.nan],
        ["a", None, None],
        np.array(["a", None, np.nan], object),
        pd.Series([1, None, None], dtype="Int64"),
        pd.Series(pd.Categorical(["a", None, None])),
        pl.Series([1, None, None]),
        pl.Series([True, None, None]),
        np.array(["2020", "NaT", "NaT"], "datetime64[D]"),
    ],
)
def test_missing_labels_give_count_and_first_row(y: object) -> None:
    with pytest.raises(DataError, match=r"y has 2 missing value\(s\) \(first row 1\). Input y contains NaN."):
        encode_labels(y)


@pytest.mark.parametrize("encode", [encode_labels, encode_numbers])
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed, but the target y is None"),
        ([], "0 samples"),
        (np.empty((3, 0)), "0 outputs"),
        (np.zeros((2, 2, 2)), "1d array"),
        (3, "1d array"),
        ("abc", "1d array"),
        ([[1, 2], [3]], "ragged: row 1"),
        ([[1], 2], "ragged: row 1"),
        (np.array([1j]), "Complex data not supported"),
        ([1j, 2j], "Complex data not supported"),
        (np.ma.array([1, 2], mask=[False, True]), "1 masked value.*first row 1"),
        (pl.LazyFrame({"a": [1]}), "lazy"),
    ],
)
def test_what_is_not_a_target_is_refused(encode: object, y: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        encode(y)  # type: ignore[operator]


def test_unhashable_labels_are_refused_by_row() -> None:
    with pytest.raises(DataError, match=r"y row 1 holds a dict"):
        encode_labels([1, {"a": 1}])


def test_numbers_with_nan_or_infinity_give_count_and_first_row() -> None:
    y = np.arange(20.0)
    y[[12, 15]] = np.nan
    with pytest.raises(DataError, match=r"y has 2 missing.*first row 12.*Input y contains NaN."):
        encode_numbers(y)
    y[[12, 15]] = -np.inf
    with pytest.raises(
        DataError, match=r"y has 2 infinite.*first row 12.*Input y contains infinity or a value too large"
    ):
        encode_numbers(y)


@pytest.mark.parametrize("y", [["1", "2"], np.array(["1", "2"]), pd.Series(["1", "2"]), pl.Series(["1", "2"])])
def test_numeric_text_is_refused_with_the_classifier_as_hint(y: object) -> None:
    with pytest.raises(DataError, match=r"y row 0: '1'.*classifier.*convert"):
        encode_numbers(y)


def test_numbers_beyond_float64_are_refused() -> None:
    with pytest.raises(DataError, match=r"first row 1"):
        encode_numbers([1, 10**400])


@pytest.mark.parametrize(
    "y", [[1, 2.5], pd.Series([1, 2.5], dtype="Float64"), pl.Series([1.0, 2.5]), pa.chunked_array([[1.0, 2.5]])]
)
def test_numbers_come_from_every_container(y: object) -> None:
    assert encode_numbers(y).values.tolist() == [[1], [2.5]]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0, 0, 0], "weights must contain at least one non-zero"),
        (0, "non-zero"),
        ([1, -1, -2], r"2 negative value\(s\) \(first row 1\)"),
        ([1, np.nan, 1], r"sample_weight has 1 missing value\(s\) \(first row 1\)"),
        ([1, 1, np.inf], r"1 infinite value\(s\) \(first row 2\)"),
        ([1, 2], r"sample_weight.shape == \(2,\), expected \(3,\)"),
        (np.ones((3, 2)), "Sample weights must be 1D array or scalar, got 2D"),
        (np.ones((1, 3)), "Sample weights must be 1D array or scalar, got 2D"),
        ([[1], [1], [1]], "Sample weights must be 1D array or scalar, got 2D"),
        (np.ones((3, 1, 1)), "got 3D"),
        (["1", "2", "3"], "sample_weight row 0: '1'"),
        ("abc", "sample_weight"),
        ([1e308] * 3, "sum of sample_weight"),
        (1j, "Complex"),
        (np.nan, "sample_weight has 3 missing"),
    ],
)
def test_impossible_weights_are_refused(weights: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        check_weights(weights, 3)


@pytest.mark.parametrize(
    "weights",
    [
        [0, 2, 1],
        (0, 2, 1),
        np.array([0, 2, 1], np.int8),
        np.array([[0], [2], [1]]),
        pd.DataFrame({"w": [0, 2, 1]}),
        pd.Series([0, 2, 1]),
        pl.Series([0, 2, 1]),
        pd.Series([0, 2, 1], dtype="Int64"),
    ],
)
def test_weights_come_from_every_container(weights: object) -> None:
    encoded = check_weights(weights, 3)

    assert encoded is not None
    assert encoded.tolist() == [0, 2, 1]


def test_a_class_weight_beyond_float64_is_refused():
    with pytest.raises(ParameterError, match="must be finite and >= 0"):
        tw.DecisionTreeClassifier(class_weight={0: 10**400}).fit([[1.0], [2.0]], [0, 1])


def test_class_weights_of_labels_that_are_tuples_are_known_to_an_audit():
    table, labels = {"x": [1, 2, 3, 4]}, [("a", 1), ("a", 1), ("b", 2), ("b", 2)]
    est = tw.DecisionTreeClassifier(class_weight={("a", 1): 3.0}).fit(table, labels)

    assert est.audit(0, table, labels).to_dict() == est.audit(0).to_dict()
