"""Numbers in any dtype of pandas are the same numbers."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import treewright as tw

RANDOM = np.random.default_rng(0)
NUMBERS = RANDOM.integers(0, 5, (60, 3)).astype(float)
LABELS = np.where(NUMBERS[:, 0] + NUMBERS[:, 1] > 4, "yes", "no")
GAPS = np.where(np.arange(60)[:, None] % 7 == [[0, 99, 99]], np.nan, NUMBERS)
NULLABLE = ["Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64"]
ARROW = ["int64[pyarrow]", "uint8[pyarrow]", "double[pyarrow]", "float[pyarrow]"]
PLAIN = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]


def frame(cells):
    return pd.DataFrame(cells, columns=list("abc"))


def decimals(cells):
    held = [[None if np.isnan(cell) else Decimal(cell) for cell in row] for row in cells]
    return pd.DataFrame(held, columns=list("abc"), dtype=object)


FORMS = {
    **{dtype: lambda cells, dtype=dtype: frame(cells).astype("Float64").astype(dtype) for dtype in [*NULLABLE, *ARROW]},
    "object": lambda cells: frame(cells).astype(object).where(frame(cells).notna(), None),
    "decimal": decimals,
    "sparse": lambda cells: frame(cells).astype(pd.SparseDtype(float, np.nan)),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cells", [NUMBERS, GAPS], ids=["whole", "gaps"])
def test_a_tree_of_any_dtype_is_that_of_floats(form, cells):
    table, plain = FORMS[form](cells), frame(cells)
    fitted, of_floats = (tw.DecisionTreeClassifier().fit(each, LABELS) for each in (table, plain))
    assert fitted.model_.show() == of_floats.model_.show()
    assert np.array_equal(fitted.predict_proba(plain), of_floats.predict_proba(table))


@pytest.mark.parametrize("dtype", PLAIN)
def test_a_tree_of_numpys_dtypes_is_that_of_floats(dtype):
    table, plain = frame(NUMBERS).astype(dtype), frame(NUMBERS)
    fitted, of_floats = (tw.DecisionTreeClassifier().fit(each, LABELS) for each in (table, plain))
    assert fitted.model_.show() == of_floats.model_.show()
    assert np.array_equal(fitted.predict_proba(plain), of_floats.predict_proba(table))


def test_a_category_is_a_name_whatever_its_labels_are():
    fitted = tw.DecisionTreeClassifier().fit(frame(NUMBERS).astype("category"), LABELS)
    assert [column.kind for column in fitted.model_.schema.columns] == ["nominal"] * 3


@pytest.mark.parametrize("form", ["table", "series"])
def test_a_decimal_of_pyarrow_is_the_float_of_its_digits(form):
    digits = [f"{cents / 100:.2f}" for cents in range(500)]
    column = pa.array([Decimal(each) for each in digits], pa.decimal128(12, 2))
    series = pd.Series(column.to_pylist(), dtype=pd.ArrowDtype(column.type))
    table = pa.table({"x": column}) if form == "table" else pd.DataFrame({"x": series})
    plain = {"x": [float(each) for each in digits]}
    of_decimals, of_floats = (tw.DecisionTreeRegressor().fit(each, np.arange(500.0)) for each in (table, plain))
    assert of_decimals.tree_.threshold.tolist() == of_floats.tree_.threshold.tolist()
