"""Many packed trees say, to the last bit, what a slow reading of the unpacked trees says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from naive_forest_predict import naive_answers, naive_leaves
from random_forests import NUMBERS, SCHEMA, forest_model, random_forest, random_rows

from treewright.data.bin_rows import bin_rows
from treewright.predict.ensemble import combined, predict_codes, predict_leaves
from treewright.predict.walks import leaf_rows_of_bins

CASES = [
    # schema, classes, values, combine
    (NUMBERS, (3,), 3, "mean"),
    (SCHEMA, (3,), 3, "mean"),
    (SCHEMA, (2, 4), 6, "mean"),
    (SCHEMA, (3,), 3, "vote"),
    (SCHEMA, (2, 4), 6, "vote"),
    (SCHEMA, (), 1, "mean"),
    (NUMBERS, (), 3, "mean"),
]


@pytest.fixture(params=CASES, ids=lambda case: f"{len(case[0])}-{case[1]}-{case[2]}-{case[3]}")
def case(request: pytest.FixtureRequest) -> Any:
    """A random forest as a model, and rows to ask it."""
    schema, n_classes, n_values, combine = request.param
    rng = np.random.default_rng([len(schema), n_values, len(combine)])
    packed = random_forest(rng, schema, n_classes, n_trees=9, n_rows=150, n_values=n_values)
    model = forest_model(packed, schema, n_classes, combine, n_values)
    return model, random_rows(rng, 120, schema)


def test_sums_over_trees_equal_the_twins_bits(case: Any) -> None:
    model, matrix = case
    assert combined(model, matrix).tolist() == naive_answers(model, matrix)


def test_a_tuple_of_trees_says_what_the_packed_trees_say(case: Any) -> None:
    model, matrix = case
    loose = replace(model, trees=tuple(model.trees))
    assert combined(loose, matrix).tolist() == combined(model, matrix).tolist()


def test_leaves_are_those_of_the_unpacked_trees(case: Any) -> None:
    model, matrix = case
    leaves = predict_leaves(model, matrix)
    assert leaves.dtype == np.int64
    assert leaves.tolist() == naive_leaves(model, matrix).tolist()


def test_a_class_is_the_first_of_those_with_the_largest_share(case: Any) -> None:
    model, matrix = case
    codes = predict_codes(model, matrix).tolist() if model.n_classes else [[]] * len(matrix)
    for row, shares in zip(codes, naive_answers(model, matrix), strict=True):
        begin = 0
        for code, width in zip(row, model.n_classes, strict=True):
            part = shares[begin : begin + width]
            assert code == part.index(max(part))
            begin += width


def test_leaf_rows_of_binned_rows_hold_what_the_trees_leaves_hold(case: Any) -> None:
    model, matrix = case
    packed = model.trees
    codes = bin_rows(packed.bins, matrix)
    rows = np.array([5, 5, 0, 119, 60], np.int32)
    twin = naive_leaves(model, matrix)
    for at, tree in enumerate(packed):
        found = leaf_rows_of_bins(packed, codes, rows, at)
        assert packed.leaf_value[found].tolist() == tree.value[twin[rows, at]].tolist()
