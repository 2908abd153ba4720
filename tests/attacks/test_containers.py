"""The same cells in every container: equal matrices, unchanged inputs, or one error that names the column."""

from __future__ import annotations

import copy
import os
import tracemalloc
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from treewright.data import memory
from treewright.data.encoder import encode, encode_fit
from treewright.exceptions import DataError, TooLargeError

CELLS = np.array([[1.5, 2, 3], [np.nan, 5, 6], [-7, np.inf, 0], [4, 4, 4]])


class Subclass(np.ndarray):
    """An array subclass without habits of its own."""


class OnlyArray:
    """An object that is nothing but convertible."""

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return CELLS.copy()


def misaligned() -> np.ndarray:
    raw = np.zeros(CELLS.nbytes + 1, np.uint8)
    view = raw[1:].view(np.float64).reshape(CELLS.shape)
    view[:] = CELLS
    assert not view.flags.aligned
    return view


def strided() -> np.ndarray:
    wide = np.zeros((8, 6))
    wide[::2, ::2] = CELLS
    return wide[::2, ::2]


def read_only() -> np.ndarray:
    array = CELLS.copy()
    array.flags.writeable = False
    return array


LAYOUTS = {
    "C": CELLS.copy,
    "F": lambda: np.asfortranarray(CELLS),
    "strided": strided,
    "negative": lambda: CELLS[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": read_only,
    "byte-swapped": lambda: CELLS.astype(">f8"),
    "misaligned": misaligned,
    "matrix": lambda: np.asmatrix(CELLS.copy()),
    "subclass": lambda: CELLS.copy().view(Subclass),
    "longdouble": lambda: CELLS.astype(np.longdouble),
    "float32": lambda: CELLS.astype(np.float32),
    "float16": lambda: CELLS.astype(np.float16),
    "object": lambda: CELLS.astype(object),
    "masked": lambda: np.ma.array(np.where(np.isnan(CELLS), 99, CELLS), mask=np.isnan(CELLS)),
    "list": CELLS.tolist,
    "tuples": lambda: tuple(map(tuple, CELLS.tolist())),
    "arrays in a list": lambda: list(CELLS.copy()),
    "__array__": OnlyArray,
    "pandas": lambda: pd.DataFrame(CELLS),
    "pandas Float64": lambda: pd.DataFrame(CELLS, columns=list("abc")).astype("Float64"),
    "pandas arrow": lambda: pd.DataFrame(CELLS, columns=list("abc")).astype(pd.ArrowDtype(pa.float64())),
    "pandas sparse": lambda: pd.DataFrame(CELLS).astype(pd.SparseDtype(float, np.nan)),
    "pandas object": lambda: pd.DataFrame(CELLS).astype(object),
    "polars": lambda: pl.DataFrame(CELLS, schema=list("abc")),
    "polars nulls": lambda: pl.DataFrame(CELLS, schema=list("abc")).fill_nan(None),
    "pyarrow": lambda: pa.table(dict(zip("abc", CELLS.T.copy(), strict=True))),
    "pyarrow chunks": lambda: pa.concat_tables(
        [pa.table(dict(zip("abc", part.T.copy(), strict=True))) for part in (CELLS[:1], CELLS[1:])]
    ),
    "dict of lists": lambda: dict(zip("abc", CELLS.T.tolist(), strict=True)),
    "dict of series": lambda: {"a": pd.Series(CELLS[:, 0]), "b": pl.Series(CELLS[:, 1]), "c": CELLS[:, 2]},
    "structured": lambda: np.rec.fromarrays(list(CELLS.T.copy()), names="a,b,c"),
    "CSR": lambda: sparse.csr_matrix(CELLS),
    "CSC": lambda: sparse.csc_array(CELLS),
    "COO": lambda: sparse.coo_array(CELLS),
}


# numpy advises against its matrix class; scipy still hands it out, so it must work.
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_container_gives_the_same_matrix_at_fit_and_predict(layout: str) -> None:
    X = LAYOUTS[layout]()

    schema, matrix = encode_fit(X)

    assert all(column.kind == "numeric" for column in schema.columns)
    assert [column.missing_seen for column in schema.columns] == [True, False, False]
    assert np.array_equal(matrix, CELLS, equal_nan=True)
    assert np.array_equal(encode(schema, X), CELLS, equal_nan=True)
    assert matrix.flags.forc
    assert matrix.dtype.isnative
    assert matrix.dtype == (np.float32 if layout == "float32" else np.float64)


@pytest.mark.parametrize("layout", ["C", "strided", "list", "object", "pandas", "structured", "COO", "dict of lists"])
def test_the_input_is_never_modified(layout: str) -> None:
    X = LAYOUTS[layout]()
    before = copy.deepcopy(X)

    encode_fit(X, nominal=[0], ordinal={1: [2, 5, np.inf, 4]})

    kept = [np.asarray(table.toarray() if hasattr(table, "toarray") else pd.DataFrame(table)) for table in (before, X)]
    assert np.array_equal(kept[0].astype(float), kept[1].astype(float), equal_nan=True)


def test_a_memmap_gives_the_same_matrix(tmp_path: Path) -> None:
    mapped = np.memmap(tmp_path / "cells", np.float64, "w+", shape=CELLS.shape)
    mapped[:] = CELLS

    assert np.array_equal(encode_fit(mapped)[1], CELLS, equal_nan=True)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64, bool])
def test_integers_and_booleans_become_float64(dtype: type) -> None:
    X = np.array([[0, 1], [1, 1]], dtype)

    matrix = encode_fit(X)[1]

    assert matrix.dtype == np.float64
    assert matrix.tolist() == [[0, 1], [1, 1]]


@pytest.mark.parametrize("dtype", [float, int, object])
def test_masked_cells_are_missing(dtype: type) -> None:
    X = np.ma.array([[1, 2], [2**60, 4]], mask=[[0, 0], [1, 0]], dtype=dtype)

    assert np.array_equal(encode_fit(X)[1], [[1, 2], [np.nan, 4]], equal_nan=True)
    assert X.mask.tolist() == [[False, False], [True, False]]


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_matrix, sparse.coo_matrix])
def test_sparse_duplicates_add_up_and_explicit_zeros_are_zeros(make: type) -> None:
    rows, columns = np.array([2, 0, 0, 1], np.int64), np.array([0, 1, 1, 0], np.int64)
    X = make(sparse.coo_matrix((np.array([5.0, 1, 2, 0]), (rows, columns)), shape=(4, 2)))

    assert encode_fit(X)[1].tolist() == [[0, 3], [0, 0], [5, 0], [0, 0]]


def test_unsorted_sparse_indices_are_read_correctly() -> None:
    X = sparse.csr_array((np.array([1.0, 2]), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))

    assert encode_fit(X)[1].tolist() == [[2, 1]]


def test_a_sparse_matrix_that_would_not_fit_is_refused_before_allocation() -> None:
    X = sparse.csr_array((2**22, 2**21))
    tracemalloc.start()

    with pytest.raises(TooLargeError, match=r"needs 70368744177664 bytes.*bytes \(.*GiB\) are available"):
        encode_fit(X)

    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()


def test_a_virtual_integer_matrix_that_would_not_fit_is_refused_before_allocation() -> None:
    X = np.broadcast_to(np.zeros((1, 1), np.int8), (2**22, 2**21))

    with pytest.raises(TooLargeError, match=r"float64 copy"):
        encode_fit(X)


def test_available_memory_is_known_on_this_system() -> None:
    available = memory.available_memory()

    assert available is not None
    assert 0 < available <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


TEXTS = {
    "list": lambda: {"c": ["b", None, "a", "b"]},
    "pandas str": lambda: pd.DataFrame({"c": ["b", None, "a", "b"]}),
    "pandas object": lambda: pd.DataFrame({"c": pd.Series(["b", np.nan, "a", "b"], dtype=object)}),
    "pandas string": lambda: pd.DataFrame({"c": pd.array(["b", None, "a", "b"], dtype="string")}),
    "pandas arrow": lambda: pd.DataFrame({"c": pd.array(["b", None, "a", "b"], dtype=pd.ArrowDtype(pa.string()))}),
    "pandas category": lambda: pd.DataFrame({"c": pd.Categorical(["b", None, "a", "b"], categories=["z", "b", "a"])}),
    "pandas arrow dictionary": lambda: pd.DataFrame(
        {"c": pd.array(["b", None, "a", "b"], dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string())))}
    ),
    "polars": lambda: pl.DataFrame({"c": ["b", None, "a", "b"]}),
    "polars categorical": lambda: pl.DataFrame({"c": pl.Series(["b", None, "a", "b"], dtype=pl.Categorical)}),
    "polars enum": lambda: pl.DataFrame({"c": pl.Series(["b", None, "a", "b"], dtype=pl.Enum(["b", "z", "a"]))}),
    "pyarrow chunks": lambda: pa.table({"c": pa.chunked_array([["b", None], ["a", "b"]])}),
    "pyarrow dictionaries": lambda: pa.table(
        {"c": pa.chunked_array([pa.array(["b", None]).dictionary_encode(), pa.array(["a", "b"]).dictionary_encode()])}
    ),
    "numpy": lambda: np.array([["b"], [None], ["a"], ["b"]], object),
}


@pytest.mark.parametrize("fitted", TEXTS)
@pytest.mark.parametrize("asked", ["list", "pandas category", "polars enum", "pyarrow dictionaries"])
def test_text_is_coded_by_value_in_every_container(fitted: str, asked: str) -> None:
    schema, matrix = encode_fit(TEXTS[fitted]())

    assert schema.columns[0].kind == "nominal"
    assert schema.columns[0].levels == ("a", "b")
    assert np.array_equal(matrix.ravel(), [1, np.nan, 0, 1], equal_nan=True)
    if schema.named:
        assert np.array_equal(encode(schema, TEXTS[asked]()), matrix, equal_nan=True)


@pytest.mark.parametrize(
    "cells",
    [
        [True, None, False],
        pd.array([True, None, False], dtype="boolean"),
        pd.Series([True, None, False], dtype=object),
        pd.array([True, None, False], dtype=pd.ArrowDtype(pa.bool_())),
        pl.Series([True, None, False]),
        pa.chunked_array([[True], [None, False]]),
    ],
)
def test_booleans_are_nominal_with_missing_cells(cells: object) -> None:
    table = pa.table({"c": cells}) if isinstance(cells, pa.ChunkedArray) else {"c": cells}

    schema, matrix = encode_fit(table)

    assert (schema.columns[0].kind, schema.columns[0].levels) == ("nominal", (False, True))
    assert np.array_equal(matrix.ravel(), [1, np.nan, 0], equal_nan=True)


@pytest.mark.parametrize(
    "cells",
    [
        pl.Series([Decimal("1.5"), None]),
        pd.Series([Decimal("1.5"), None], dtype=object),
        pd.array([Decimal("1.5"), None], dtype=pd.ArrowDtype(pa.decimal128(5, 2))),
        [Decimal("1.5"), None],
    ],
)
def test_decimals_become_floats(cells: object) -> None:
    assert np.array_equal(encode_fit({"c": cells})[1].ravel(), [1.5, np.nan], equal_nan=True)


@pytest.mark.parametrize(
    ("cells", "type_name"),
    [
        (pl.Series([[1], [2]]), "List"),
        (pl.Series([{"a": 1}]), "Struct"),
        (pl.Series([b"a"]), "Binary"),
        (pl.Series([[1, 2]], dtype=pl.Array(pl.Int64, 2)), "Array"),
        (pd.Series([[1]], dtype=pd.ArrowDtype(pa.list_(pa.int64()))), "List"),
        (pd.Series([[1]]), "list"),
    ],
)
def test_nested_columns_are_refused_naming_column_and_type(cells: object, type_name: str) -> None:
    with pytest.raises(DataError, match=f"column 'c'.*{type_name}"):
        encode_fit({"c": cells})


def test_intervals_from_binning_are_ordinal_by_their_text() -> None:
    X = pd.DataFrame({"c": pd.cut(pd.Series([1.0, 2, 3]), [0, 1, 3])})

    schema, matrix = encode_fit(X)

    assert schema.columns[0].kind == "ordinal"
    assert schema.columns[0].levels == ("(0, 1]", "(1, 3]")
    assert matrix.ravel().tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.arange(3.0), "Expected 2D array, got 1D array instead.*Reshape your data"),
        ([1, 2, 3], "Expected 2D array, got 1D array instead"),
        (["ab", "cd"], "got 1D array"),
        ([], "got 1D array"),
        (pd.Series([1, 2]), "got 1D array"),
        (pl.Series([1, 2]), "got 1D array"),
        (np.zeros((2, 2, 2)), "Found array with dim 3"),
        ([[[1]], [[2]]], "Found array with dim 3"),
        (np.array(3), "scalar"),
        (3, "scalar"),
        ("text", "scalar"),
        (None, "scalar"),
        (object(), "X is a builtins.object"),
        (np.empty((0, 3)), r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required."),
        (np.empty((10, 0)), r"0 feature\(s\) \(shape=\(10, 0\)\) while a minimum of 1 is required."),
        (pl.DataFrame({"a": []}), r"0 sample\(s\)"),
        ({}, r"0 sample\(s\)"),
        ([[1, 2], [3]], "ragged rows: row 1 has 1 cells, row 0 has 2"),
        ([[1], 2], "row 1 is a int"),
        ([[1], {"a": 1}], "row 1 is a dict, row 0 is a list"),
        ([{"a": 1}, [1]], "row 1 is a list, row 0 is a dict"),
        ({"a": [1, 2], "b": [1]}, "column 'b' has 1 rows, column 'a' has 2"),
        ({"a": 1}, "column 'a' is a int"),
        ({"a": "xyz"}, "column 'a' is a str"),
        ({"a": np.zeros((2, 2))}, "column 'a' is 2-dimensional"),
        (pl.LazyFrame({"a": [1]}), "collect"),
        (np.zeros((2, 2), "V8"), "dtype"),
    ],
)
def test_what_is_not_a_table_is_refused_with_a_hint(X: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        encode_fit(X)
