"""Scores of boosted trees are, to the last bit, those of a slow walk, whatever engine makes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from boosted_trees import bins_for, random_trees
from naive_boosted import naive_boosted_scores
from naive_forest_predict import naive_leaf
from random_forests import NUMBERS, SCHEMA, random_forest, random_rows

from treewright.data.bin_rows import bin_rows
from treewright.data.schema import Schema
from treewright.predict import boosted
from treewright.predict.boosted import boosted_scores, staged_boosted_scores
from treewright.trees.packed import PackedTrees


@pytest.fixture(params=[boosted.steps_of, lambda packed: None], ids=["steps", "walk"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Every number of rows goes over columns, or down the trees."""
    monkeypatch.setattr(boosted, "_steps_for", lambda packed, n: request.param(packed))
    return request.param


def check(packed: PackedTrees, matrix: np.ndarray, base: tuple[float, ...], stop: int | None = None) -> None:
    """Scores are those of the twin."""
    twin = naive_boosted_scores(packed, base, bin_rows(packed.bins, matrix), stop)
    assert boosted_scores(packed, base, matrix, 1, stop).tolist() == twin


def rng_of(*seeds: int) -> np.random.Generator:
    return np.random.default_rng(list(seeds))


@pytest.mark.parametrize("schema", [NUMBERS, SCHEMA], ids=["numbers", "mixed"])
@pytest.mark.parametrize("n_leaves", [1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 255, 256])
def test_trees_of_any_number_of_leaves_equal_the_twin(engine: Any, schema: Schema, n_leaves: int) -> None:
    rng = rng_of(n_leaves, len(schema))
    packed = random_trees(rng, schema, [n_leaves] * 4)
    check(packed, random_rows(rng, 90, schema), (0.25,))


@pytest.mark.parametrize("shape", ["left", "right", "even"])
def test_chains_and_even_trees_equal_the_twin(engine: Any, shape: Any) -> None:
    rng = rng_of(len(shape))
    packed = random_trees(rng, SCHEMA, [64, 256, 64, 128], shape)
    check(packed, random_rows(rng, 90, SCHEMA), (1.0, -3.0))


@pytest.mark.parametrize("n_scores", range(1, 8))
def test_tree_t_adds_to_score_t_modulo_k(engine: Any, n_scores: int) -> None:
    rng = rng_of(n_scores)
    packed = random_trees(rng, SCHEMA, rng.integers(1, 40, 17).tolist())
    base = tuple(rng.normal(size=n_scores).tolist())
    for stop in (None, 0, 1, n_scores, n_scores + 1, 16, 17):
        check(packed, random_rows(rng, 40, SCHEMA), base, stop)


@pytest.mark.parametrize("n_rows", [1, 2, 16, 17, 31, 32, 33, 64, 65, 129])
def test_blocks_of_any_number_of_rows_equal_the_twin(engine: Any, n_rows: int) -> None:
    rng = rng_of(n_rows)
    packed = random_trees(rng, SCHEMA, [31, 1, 64, 5])
    check(packed, random_rows(rng, n_rows, SCHEMA), (0.0,))


@pytest.mark.parametrize("absent", [0.0, 1.0])
def test_rows_without_and_with_nothing_but_missing_cells_equal_the_twin(engine: Any, absent: float) -> None:
    rng = rng_of(int(absent))
    packed = random_trees(rng, SCHEMA, [31] * 6)
    check(packed, random_rows(rng, 70, SCHEMA, absent=absent, unseen=False), (0.0,))


def test_columns_of_all_255_bins_equal_the_twin(engine: Any) -> None:
    rng = rng_of(255)
    matrix = rng.normal(size=(3000, 9))
    bins = bins_for(rng, NUMBERS, 3000)
    assert bins.n_bins.max() == 255
    packed = random_trees(rng, NUMBERS, [64] * 6, bins=bins)
    matrix = random_rows(rng, 200, NUMBERS)
    matrix[0], matrix[1], matrix[2] = np.inf, -np.inf, np.nan
    check(packed, matrix, (0.0,))


def test_scores_are_sums_of_the_unpacked_trees_leaves(engine: Any) -> None:
    rng = rng_of(7)
    packed = random_forest(rng, SCHEMA, (), n_trees=6, n_rows=120)
    matrix = random_rows(rng, 60, SCHEMA)
    base = (0.5, -2.0)
    expected = []
    for row in matrix:
        score = list(base)
        for at, tree in enumerate(packed):
            score[at % 2] += float(tree.value[naive_leaf(tree, row), 0])
        expected.append(score)
    assert boosted_scores(packed, base, matrix, 1).tolist() == expected


def test_each_stage_equals_the_twin_after_as_many_trees(engine: Any) -> None:
    rng = rng_of(11)
    packed = random_trees(rng, SCHEMA, [31, 1, 64, 9, 30, 2, 17, 33])  # the last round of three is not whole
    matrix, base = random_rows(rng, 70, SCHEMA), (0.0, 1.0, -1.0)
    codes = bin_rows(packed.bins, matrix)
    stages = list(staged_boosted_scores(packed, base, matrix, 1))
    assert [stage.tolist() for stage in stages] == [
        naive_boosted_scores(packed, base, codes, stop) for stop in (3, 6, 8)
    ]


@pytest.mark.parametrize("turn", [np.asfortranarray, lambda m: np.repeat(m, 2, axis=1)[:, ::2], lambda m: m[::-1]])
def test_memory_order_does_not_change_a_bit(engine: Any, turn: Callable[[np.ndarray], np.ndarray]) -> None:
    rng = rng_of(13)
    packed = random_trees(rng, SCHEMA, [31] * 5)
    matrix = random_rows(rng, 100, SCHEMA)
    check(packed, turn(matrix), (0.0,))
    check(packed, turn(matrix.astype(np.float32)), (0.0,))
