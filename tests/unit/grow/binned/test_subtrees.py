"""A tree whose subtrees grow side by side is the tree of one thread."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from treewright.data.bin_rows import bin_rows
from treewright.data.bins import bins_of
from treewright.data.schema import Column, Schema
from treewright.grow.binned import grower as subtrees
from treewright.grow.binned.grower import grow_binned, grow_packed
from treewright.grow.objective import classification_objective, regression_objective
from treewright.grow.settings import BinnedSettings

N = 700
SCHEMA = Schema(
    (
        Column("a", "numeric"),
        Column("b", "numeric"),
        Column("size", "ordinal", tuple(range(9))),
        Column("city", "nominal", tuple(range(12))),
    )
)
PLANS = {
    "plain": {},
    "drawn columns": {"max_features": 2, "seed": 3},
    "random cuts": {"max_features": 3, "random_cuts": True, "seed": 1},
    "groups of columns": {"interactions": ((0, 1), (1, 2, 3))},
    "monotone": {"monotone": (1, 0, -1, 0)},
    "shallow": {"max_depth": 3},
    "large leaves": {"min_samples_leaf": 40},
    "one leaf": {"min_samples_leaf": 400},
}


def table(seed: int):
    rng = np.random.default_rng(seed)
    matrix = np.column_stack(
        [rng.normal(size=N), rng.normal(size=N).round(1), rng.integers(0, 9, N), rng.integers(0, 12, N)]
    )
    target = matrix[:, 0] + matrix[:, 1] * (matrix[:, 3] > 5) + 0.3 * rng.normal(size=N)
    matrix[rng.random(matrix.shape) < 0.05] = np.nan
    bins = bins_of(matrix, SCHEMA)
    return bin_rows(bins, matrix), bins, target[:, None]


@pytest.mark.parametrize("kind", ["classes", "numbers"])
@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("n_parts", [1, 2, 5, 1000])
def test_threads_change_neither_nodes_nor_numbers(plan: str, kind: str, n_parts: int, monkeypatch) -> None:
    monkeypatch.setattr(subtrees, "APART_ROWS", 1)
    monkeypatch.setattr(subtrees, "N_PARTS", n_parts)
    codes, bins, target = table(len(plan))
    if kind == "classes":
        criterion, objective = "gini", classification_objective((target > 0).astype(np.int32), [2], None, "gini")
    else:
        criterion, objective = "squared_error", regression_objective(target, None, "squared_error")
    rows = np.arange(N, dtype=np.int32)
    grown = []
    for n_threads in (1, 3):
        settings = BinnedSettings(criterion, **PLANS[plan], n_threads=n_threads)
        tree = grow_binned(codes, bins, SCHEMA, objective, settings)
        packed = grow_packed(codes, rows, bins, SCHEMA, objective, settings)
        grown.append({**{each.name: getattr(tree, each.name) for each in fields(tree)}, **packed.arrays()})

    alone, apart = grown
    assert len(alone["records"]) == len(alone["feature"])
    assert (len(alone["records"]) == 1) == (plan == "one leaf")
    for name, array in alone.items():
        np.testing.assert_array_equal(apart[name], array, err_msg=name)


def test_work_is_divided_where_there_are_threads_and_rows(monkeypatch) -> None:
    codes, bins, target = table(0)
    parts: list[int] = []
    room_below = subtrees._room_below
    monkeypatch.setattr(subtrees, "_room_below", lambda *given: (parts.append(1), room_below(*given))[1])
    objective = regression_objective(target, None, "squared_error")
    for n_threads, least, expected in ((1, 1, 0), (2, N + 1, 0), (2, N, 16)):
        parts.clear()
        monkeypatch.setattr(subtrees, "APART_ROWS", least)
        grow_binned(codes, bins, SCHEMA, objective, BinnedSettings("squared_error", n_threads=n_threads))
        assert len(parts) == expected
