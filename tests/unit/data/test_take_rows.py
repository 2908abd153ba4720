"""Rows of any table by position."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from treewright.data.take import count_rows, take_rows
from treewright.exceptions import DataError

NUMBERS = [[1.0, 10.0], [2.0, 20.0], [3.0, 30.0], [4.0, 40.0]]
COLUMNS = {"a": [1.0, 2.0, 3.0, 4.0], "b": ["w", "x", "y", "z"]}
POSITIONS = np.array([3, 0, 0])


class OnlyArray:
    """A table that is known by ``__array__`` alone."""

    def __array__(self, dtype=None, copy=None):
        return np.array(NUMBERS, dtype)


@pytest.mark.parametrize(
    "table",
    [
        np.array(NUMBERS),
        np.asfortranarray(NUMBERS),
        np.ma.array(NUMBERS, mask=np.eye(4, 2, dtype=bool)),
        np.array([tuple(row) for row in NUMBERS], dtype=[("a", float), ("b", float)]),
        NUMBERS,
        tuple(map(tuple, NUMBERS)),
        COLUMNS,
        pd.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS),
        pa.table(COLUMNS),
        pd.Series(COLUMNS["b"]),
        pl.Series(COLUMNS["b"]),
        pa.chunked_array([COLUMNS["b"][:2], COLUMNS["b"][2:]]),
        *(sp.csr_array(NUMBERS).asformat(form) for form in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")),
        OnlyArray(),
        range(4),
    ],
    ids=lambda table: type(table).__name__,
)
def test_every_table_has_its_rows_counted_and_taken(table):
    part = take_rows(table, POSITIONS)

    assert count_rows(table) == 4
    assert count_rows(part) == 3


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pa.table, dict], ids=["pandas", "polars", "arrow", "dict"]
)
def test_taken_rows_are_those_asked_for_and_of_the_same_sort(make):
    part = take_rows(make(COLUMNS), POSITIONS)

    assert type(part) is type(make(COLUMNS))
    read = part.to_pydict() if hasattr(part, "to_pydict") else part
    assert [list(read["a"]), list(read["b"])] == [[4.0, 1.0, 1.0], ["z", "w", "w"]]


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_rows_of_a_sparse_matrix_are_those_of_the_dense_one(form):
    part = take_rows(sp.coo_matrix(NUMBERS).asformat(form), POSITIONS)

    assert part.toarray().tolist() == np.array(NUMBERS)[POSITIONS].tolist()


def test_positions_are_no_labels_of_an_index():
    frame = pd.DataFrame({"a": [1, 2, 3]}, index=[2, 2, 0])

    assert take_rows(frame, np.array([0, 2]))["a"].tolist() == [1, 3]
    assert take_rows(frame["a"], np.array([0, 2])).tolist() == [1, 3]


def test_columns_of_one_name_are_kept():
    frame = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])

    assert take_rows(frame, np.array([1])).to_numpy().tolist() == [[3, 4]]


def test_categories_and_masks_survive():
    frame = pd.DataFrame({"a": pd.Categorical(["S", "M", "L"], categories=["S", "M", "L"], ordered=True)})
    masked = np.ma.array([[1.0], [2.0]], mask=[[False], [True]])

    assert take_rows(frame, np.array([2]))["a"].cat.categories.tolist() == ["S", "M", "L"]
    assert np.ma.getmaskarray(take_rows(masked, np.array([1]))).tolist() == [[True]]


def test_columns_of_a_dict_may_be_of_any_sort():
    table = {
        "a": np.arange(3),
        "b": pd.Series([5, 6, 7], index=[1, 1, 1]),
        "c": pl.Series(["x", "y", "z"]),
        "d": range(3),
    }

    part = take_rows(table, np.array([2, 1]))

    assert [list(column) for column in part.values()] == [[2, 1], [7, 6], ["z", "y"], [2, 1]]


@pytest.mark.parametrize("table", [None, 3, "text", np.float64(2)])
def test_what_is_no_table_is_refused(table):
    with pytest.raises(DataError, match="has no rows"):
        count_rows(table)


def test_a_lazy_frame_is_refused():
    lazy = pl.LazyFrame(COLUMNS)

    with pytest.raises(DataError, match=r"lazy .*collect\(\)"):
        count_rows(lazy)
    with pytest.raises(DataError, match=r"lazy .*collect\(\)"):
        take_rows(lazy, POSITIONS)


def test_columns_of_unequal_length_are_refused():
    with pytest.raises(DataError, match="column 'b' has 2 rows, column 'a' has 3"):
        count_rows({"a": [1, 2, 3], "b": [1, 2]})


def test_an_empty_dict_has_no_rows():
    assert count_rows({}) == 0
