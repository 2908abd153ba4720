"""Claims about labels, numbers and weights on their way to arrays."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.data.target import check_lengths, check_weights, encode_labels, encode_numbers
from treewright.exceptions import DataError


def test_codes_follow_the_sorted_labels() -> None:
    labels = encode_labels(["b", "a", "c", "a"])

    assert labels.codes.dtype == np.int32
    assert labels.codes.tolist() == [[1], [0], [2], [0]]
    assert labels.classes[0].tolist() == ["a", "b", "c"]
    assert labels.flat
    assert labels.names == ()


@pytest.mark.parametrize(
    "y",
    [
        np.array([5, 3, 5], np.int8),
        np.array([127, -128, 0], np.int8),
        np.array([100, -100, 0], np.int8),
        np.array([2**64 - 1, 2**64 - 3], np.uint64),
        np.array([-(2**63), 2**63 - 1], np.int64),
        np.array([True, False]),
        np.array([2.0, -1.0]),
        np.array([2.0, -1.0], ">f4"),
        np.array(["bb", "a"]),
        np.array([b"b", b"aa"]),
        np.array(["2021-01-01", "2020-01-01"], "datetime64[D]"),
        np.array([10**9, -(10**9), 5]),
    ],
    ids=lambda y: f"{y.dtype}-{y[0]}",
)
def test_labels_keep_their_dtype_and_decode_to_themselves(y: np.ndarray) -> None:
    labels = encode_labels(y)

    assert labels.classes[0].dtype == y.dtype.newbyteorder("=")
    assert (labels.classes[0][labels.codes[:, 0]] == y).all()
    assert sorted(labels.classes[0].tolist()) == labels.classes[0].tolist()


def test_negative_zero_is_the_class_zero():
    assert str(encode_labels(np.array([-0.0, 1.0])).classes[0].tolist()) == "[0.0, 1.0]"


def test_several_outputs_have_a_class_list_each() -> None:
    labels = encode_labels(np.array([[1, 7], [2, 7]]))

    assert not labels.flat
    assert labels.codes.tolist() == [[0, 0], [1, 0]]
    assert [classes.tolist() for classes in labels.classes] == [[1, 2], [7]]


def test_a_column_vector_is_not_flat() -> None:
    assert encode_labels([[1], [2]]).codes.shape == (2, 1)
    assert not encode_labels(np.array([[1], [2]])).flat


def test_numbers_become_float64_columns() -> None:
    target = encode_numbers(np.array([[1, 2], [3, 4]], np.int8))

    assert target.values.dtype == np.float64
    assert target.values.tolist() == [[1, 2], [3, 4]]
    assert not target.flat


def test_encoding_numbers_does_not_share_memory_with_the_input() -> None:
    y = np.array([1.0, 2.0])

    assert not np.shares_memory(encode_numbers(y).values, y)


def test_weights_of_one_are_no_weights() -> None:
    assert check_weights(None, 3) is None
    assert check_weights(1, 3) is None
    assert check_weights(np.ones(3, np.float32), 3) is None


def test_weights_become_their_own_float64() -> None:
    given = np.array([0.5, 2.0])

    weights = check_weights(given, 2)

    assert weights is not None
    assert weights.tolist() == [0.5, 2]
    assert not np.shares_memory(weights, given)


def test_lengths_that_differ_give_both_numbers() -> None:
    check_lengths(2, [1, 2])
    check_lengths(2, encode_labels([1, 2]))
    with pytest.raises(DataError, match=r"inconsistent numbers of samples: \[3, 2\]"):
        check_lengths(3, [1, 2])
