"""Properties of the predictions of many trees, on random forests and random rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from random_forests import SCHEMA, forest_model, random_forest, random_rows

from treewright.predict.ensemble import combined, leaves_of_trees
from treewright.predict.route import leaf_of
from treewright.trees.packed import take

KINDS = [((2,), "mean"), ((3,), "vote"), ((2, 3), "mean"), ((2, 3), "vote"), ((), "mean")]


@st.composite
def forests(draw: st.DrawFn) -> Any:
    """A model of random trees, and rows to ask it."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_classes, combine = draw(st.sampled_from(KINDS))
    sizes = {"n_trees": draw(st.integers(1, 7)), "n_rows": draw(st.integers(2, 60))}
    packed = random_forest(rng, SCHEMA, n_classes, **sizes)
    matrix = random_rows(rng, draw(st.integers(1, 40)), SCHEMA, absent=draw(st.sampled_from([0.0, 0.2, 0.9])))
    return forest_model(packed, SCHEMA, n_classes, combine), matrix


@given(forests(), st.randoms(use_true_random=False))
def test_a_rows_answer_does_not_depend_on_the_rows_around_it(case: Any, random: Any) -> None:
    model, matrix = case
    together = combined(model, matrix)
    order = random.sample(range(len(matrix)), len(matrix))
    assert combined(model, matrix[order]).tobytes() == together[order].tobytes()
    for at, row in enumerate(matrix):
        assert combined(model, row[None]).tobytes() == together[at].tobytes()


@given(forests())
def test_every_leaf_is_the_one_that_the_tree_alone_leads_to(case: Any) -> None:
    model, matrix = case
    leaves = leaves_of_trees(model, matrix)
    for at, tree in enumerate(model.trees):
        assert leaves[:, at].tolist() == leaf_of(tree, matrix).tolist()


@given(forests())
def test_a_forest_of_one_tree_says_what_the_tree_says(case: Any) -> None:
    model, matrix = case
    for at in range(model.n_trees):
        one = forest_model(take(model.trees, [at]), SCHEMA, model.n_classes, "mean")
        alone = model.tree(at)
        said = one.predict if not model.n_classes else one.predict_proba
        asked = alone.predict if not model.n_classes else alone.predict_proba
        table = {
            column.name: [
                None if math.isnan(x) else ([*column.levels, "new"][int(x)] if column.levels else x) for x in cells
            ]
            for column, cells in zip(SCHEMA.columns, matrix.T.tolist(), strict=True)
        }
        assert np.array_equal(np.concatenate(said(table), axis=None), np.concatenate(asked(table), axis=None))
