"""Linear scores are those of a slow ridge regression with tenths of the rows left out."""

from __future__ import annotations

import numpy as np
import pytest
from naive_linear import FOLDS, naive_design, naive_scores

from treewright.boosting.linear import linear_scores
from treewright.data.derived import derived_cells
from treewright.data.schema import Column, Schema


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("absent", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(4))
def test_cells_and_columns_are_those_of_the_twin(seed, absent, weighted):
    rng = np.random.default_rng(seed)
    n = 400
    kinds, n_levels = ["numeric", "nominal", "ordinal", "numeric", "nominal"], [0, 4, 5, 0, 30]
    columns = tuple(
        Column(f"c{at}", kind, tuple(range(levels)), True)
        for at, (kind, levels) in enumerate(zip(kinds, n_levels, strict=True))
    )
    matrix = np.column_stack([
        rng.normal(size=n) ** 3, rng.integers(0, 4, n), rng.integers(0, 5, n), rng.random(n) < 0.004,
        np.minimum(rng.geometric(0.1, n), 29),
    ]).astype(np.float64)  # fmt: skip
    matrix[rng.random(matrix.shape) < absent] = np.nan
    outcome = np.nan_to_num(matrix[:, 0] - matrix[:, 2]) + rng.normal(size=n)
    outcome = (outcome - outcome.min()) / np.ptp(outcome)
    weights = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    folds = rng.integers(0, FOLDS, n).astype(np.int32)
    schema = Schema(columns)

    made, cells, _ = linear_scores(
        schema, matrix, outcome[:, None], weights if weighted else None, int(weights.sum()), folds, ["linear score"]
    )

    repeats = np.repeat(np.arange(n), weights.astype(int))  # the ends of numbers count weights as rows
    design = naive_design(kinds, n_levels, matrix[repeats])
    first = np.cumsum(weights.astype(int)) - weights.astype(int)
    expected, said = naive_scores(design[first], outcome, weights, folds)
    np.testing.assert_allclose(cells[:, 0], expected, atol=1e-9)
    later = derived_cells((*columns, *made), len(columns), matrix)
    np.testing.assert_allclose(later, said(design[first]), atol=1e-9)


def test_columns_that_say_the_same_are_no_trouble():
    rng = np.random.default_rng(0)
    one = rng.normal(size=200)
    matrix = np.column_stack([one, one, 2 * one])
    schema = Schema(tuple(Column(name, "numeric") for name in "abc"))
    folds = np.arange(200, dtype=np.int32) % FOLDS
    _, cells, _ = linear_scores(schema, matrix, (one / 8 + 0.5)[:, None], None, 200, folds, ["linear score"])
    assert np.abs(cells[:, 0] - (one / 8 + 0.5))[np.abs(one) < 1.5].max() < 1e-2
