"""Sorting each column once."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.data.schema import Column, Schema
from treewright.grow.exact import presort as module
from treewright.grow.exact.presort import presort
from treewright.grow.layout import MISSING, NEW, ROW, Columns
from treewright.grow.settings import GrowSettings

SETTINGS = GrowSettings("gini")
NO_TARGETS = np.empty((0, 0))
AWKWARD = [0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, -5e-324, 1.7e308, -1.7e308, 1.0, np.nextafter(1.0, 2.0), -1.0]


def numeric(p: int) -> Schema:
    return Schema(tuple(Column(f"x{at}", "numeric") for at in range(p)))


@pytest.mark.parametrize("seed", range(20))
def test_rows_stand_as_a_stable_argsort_puts_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    column = rng.choice(np.concatenate([AWKWARD, rng.normal(size=10), rng.integers(-5, 5, 10)]), 200)

    order = presort(column[:, None], numeric(1), NO_TARGETS, SETTINGS).order[0]

    np.testing.assert_array_equal(order & ROW, np.argsort(column + 0.0, kind="stable"))


def test_a_mark_stands_where_a_value_differs_from_the_one_before() -> None:
    column = np.array([2.0, 1.0, np.nan, 2.0, -0.0, np.nan, 0.0])

    order = presort(column[:, None], numeric(1), NO_TARGETS, SETTINGS).order[0].astype(np.int64)

    np.testing.assert_array_equal(order & ROW, [4, 6, 1, 0, 3, 2, 5])
    np.testing.assert_array_equal((order & NEW) != 0, [True, False, True, True, False, True, False])
    np.testing.assert_array_equal((order & MISSING) != 0, [False] * 5 + [True] * 2)


def test_nan_of_either_sign_and_any_payload_is_missing() -> None:
    column = np.array([0x7FF8000000000000, 0xFFF8000000000001, 0x7FF0000000000001], np.uint64).view(np.float64)

    order = presort(column[:, None], numeric(1), NO_TARGETS, SETTINGS).order[0]

    assert (order & MISSING).all()
    np.testing.assert_array_equal(order & ROW, [0, 1, 2])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", ["C", "F"])
def test_the_layout_of_the_matrix_is_irrelevant(dtype: type, layout: str) -> None:
    matrix = np.array(np.random.default_rng(0).integers(0, 5, (50, 3)), dtype, order=layout)

    order = presort(matrix, numeric(3), NO_TARGETS, SETTINGS).order

    for at in range(3):
        np.testing.assert_array_equal(order[at] & ROW, np.argsort(matrix[:, at], kind="stable"))


def test_nominal_columns_keep_their_codes_and_numeric_ones_do_not() -> None:
    schema = Schema(
        (Column("a", "numeric"), Column("b", "nominal", ("u", "v", "w")), Column("c", "ordinal", ("x", "y")))
    )
    matrix = np.array([[0.5, 2.0, 0.0], [1.5, np.nan, 1.0]])

    columns = presort(matrix, schema, NO_TARGETS, SETTINGS)

    assert isinstance(columns, Columns)
    np.testing.assert_array_equal(columns.codes, [[2, -1]])
    np.testing.assert_array_equal(columns.code_row, [-1, 0, -1])
    np.testing.assert_array_equal(columns.n_levels, [0, 3, 0])


def test_targets_are_sorted_behind_the_columns() -> None:
    columns = presort(np.zeros((3, 1)), numeric(1), np.array([[3.0, 1.0, 2.0]]), SETTINGS)

    np.testing.assert_array_equal(columns.order[1] & ROW, [1, 2, 0])


def test_threads_sort_as_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = np.random.default_rng(0).integers(0, 9, (100, 7)).astype(np.float64)
    serial = presort(matrix, numeric(7), NO_TARGETS, SETTINGS).order

    monkeypatch.setattr(module, "_INLINE_CELLS", 0)
    threaded = presort(matrix, numeric(7), NO_TARGETS, GrowSettings("gini", n_threads=3)).order

    np.testing.assert_array_equal(threaded, serial)
