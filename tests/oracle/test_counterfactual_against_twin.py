from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from naive_counterfactual import TooManyRowsError, nearest
from rotating import few

from treewright.explain.cheapest_leaf import Query, cheapest_leaf
from treewright.predict.ensemble import leaf_table
from treewright.trees.data import ModelData

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "predict"))
from random_trees import SCHEMA, flat, grow_at_random, random_matrix

POLICIES = ("direction", "branch", "surrogate", "fractional", "error")
LABELS = np.array(["a", "b", "c"])


def random_case(seed: int, missing: str) -> tuple[ModelData, np.ndarray]:
    """A model with tests of every kind, and rows to change."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 60))
    matrix = random_matrix(rng, n, 0.0 if missing == "error" else 0.15)
    if rng.random() < 0.7:
        matrix[:, 4] = np.nan  # 70 levels make a large grid
    root = grow_at_random(
        rng, matrix, rng.integers(0, 3, n), [(row, 1.0) for row in range(n)], depth=int(rng.integers(1, 5)),
        own=missing == "branch", substitutes=missing == "surrogate",
    )  # fmt: skip
    model = ModelData("classification", SCHEMA, (flat(root, matrix),), (LABELS,), missing=missing)
    return model, random_matrix(rng, 4, 0.0 if missing == "error" else 0.4, unseen=True)


@pytest.mark.parametrize("missing", POLICIES)
def test_the_least_change_is_that_of_the_whole_grid(missing):
    compared = reached = surrogates = 0
    seeds = few(range(60), 12)
    for seed in seeds:
        model, rows = random_case(seed, missing)
        codes = leaf_table(model).codes[:, 0]
        rng = np.random.default_rng(seed)
        for cells in rows:
            wanted = codes == rng.integers(3)
            keep = frozenset(rng.choice(5, int(rng.integers(3)), replace=False).tolist())
            scales = np.where(np.arange(5) < 2, rng.uniform(0.5, 3, 5), 1.0)
            asked = Query(SCHEMA, cells, keep, scales)
            try:
                expected = nearest(model, cells, wanted & model.trees[0].is_leaf, keep, scales)
            except TooManyRowsError:
                continue
            found = cheapest_leaf(model, asked, wanted & model.trees[0].is_leaf)
            told = None if found is None else (len(found.path.distances), found.path.distance, found.leaf)
            assert told == expected, (seed, missing, cells)
            compared += 1
            reached += found is not None and told[0] > 0
            surrogates += len(model.trees[0].surrogate_node) > 0
    assert compared > 2 * len(seeds)
    assert reached
    assert (surrogates > 0) == (missing == "surrogate")
