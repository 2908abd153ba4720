"""The refusal of missing cells at fit: rows have the numbers of the user, rows of weight 0 are not looked at."""

from __future__ import annotations

import numpy as np
import pytest

import treewright as tw
from treewright.data.encoder import encode_fit, refuse_missing_at_fit
from treewright.exceptions import MissingValueError

# Both growers of CART, and every other algorithm.
ESTIMATORS = [
    tw.DecisionTreeClassifier(missing="error"),
    tw.DecisionTreeClassifier(missing="error", criterion="gain_ratio"),
    tw.DecisionTreeRegressor(missing="error"),
    tw.ID3Classifier(missing="error", nominal="all"),
    tw.C45Classifier(missing="error"),
    tw.CHAIDClassifier(missing="error"),
    tw.CHAIDRegressor(missing="error"),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_the_first_row_is_the_users_though_rows_of_weight_zero_are_left_out(estimator) -> None:
    with pytest.raises(MissingValueError, match=r"^column 'a' has 1 missing value \(first row 3\), which missing='err"):
        estimator.fit({"a": [1, 2, 3, None]}, [0, 1, 0, 1], [0, 0, 1, 1])


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_missing_cells_in_rows_of_weight_zero_are_no_error(estimator) -> None:
    estimator.fit({"a": [None, 1, 2, 1, 2, None]}, [0, 1, 0, 1, 0, 1], [0, 1, 1, 1, 1, 0])

    assert estimator.predict({"a": [1, 2]}).tolist() == [1, 0]


def test_rows_that_class_weights_leave_out_do_not_count_either() -> None:
    table, y = {"a": [None, 2.0, None, 3.0, None]}, ["x", "y", "z", "z", "z"]

    with pytest.raises(MissingValueError, match=r"'a' has 2 missing values \(first row 2\)"):
        tw.DecisionTreeClassifier(missing="error", class_weight={"x": 0}).fit(table, y)
    tw.DecisionTreeClassifier(missing="error", class_weight={"x": 0, "z": 0}).fit(table, y)


def test_the_first_column_that_lacks_a_counted_cell_is_named() -> None:
    table = {"whole": [1.0, 2.0, 3.0], "unweighted": [None, 2.0, 3.0], 7: ["u", None, None], "later": [1.0, None, 2.0]}
    schema, matrix = encode_fit(table)

    with pytest.raises(MissingValueError, match=r"column 7 has 2 missing values \(first row 1\)"):
        refuse_missing_at_fit(matrix, schema, np.array([0.0, 1.0, 0.5]))
    with pytest.raises(MissingValueError, match=r"column 'unweighted' has 1 missing value \(first row 0\)"):
        refuse_missing_at_fit(matrix, schema, None)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_plain_matrix_is_refused_by_the_name_of_its_column(dtype: type, order: str) -> None:
    matrix = np.ones((5, 3), dtype, order=order)  # type: ignore[call-overload]
    matrix[[1, 4], 2] = np.nan

    with pytest.raises(MissingValueError, match=r"column 'x2' has 1 missing value \(first row 4\)"):
        tw.DecisionTreeClassifier(missing="error").fit(matrix, [0, 1, 0, 1, 0], [1, 0, 1, 1, 1])
