"""Which engine makes scores, in which blocks, and what is kept."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable

import numpy as np
import pytest
from boosted_trees import bins_for, random_tree, random_trees
from random_forests import NUMBERS, SCHEMA, random_rows

from treewright.exceptions import TooLargeError
from treewright.predict import boosted, walks
from treewright.predict.boosted import (
    CHOOSE,
    LOOK_UP,
    MERGE,
    OUT,
    PUT,
    boosted_scores,
    staged_boosted_scores,
    steps_of,
    tables_of_sets,
)
from treewright.predict.walks import packed_sums
from treewright.trees.packed import PackedTrees


@pytest.fixture(scope="module")
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


@pytest.fixture(scope="module")
def packed(rng: np.random.Generator) -> PackedTrees:
    """Ten trees of 31 leaves with all kinds of tests."""
    return random_trees(rng, SCHEMA, [31] * 10)


def test_steps_are_chosen_from_about_as_many_rows_as_a_tree_has_leaves(packed: PackedTrees) -> None:
    chosen = [boosted._steps_for(packed, n) is not None for n in (0, 1, 31, 32, 100_000)]
    assert chosen == [False] * 3 + [True] * 2


def test_one_tree_of_more_than_256_leaves_has_all_walked(rng: np.random.Generator) -> None:
    assert boosted._steps_for(random_trees(rng, NUMBERS, [31, 256]), 10_000) is not None
    larger = random_trees(rng, NUMBERS, [31, 257])
    assert boosted._steps_for(larger, 10_000) is None
    matrix = random_rows(rng, 600, NUMBERS)
    alone = [boosted_scores(larger, (0.0,), matrix[i : i + 1], 1)[0, 0] for i in range(600)]
    assert boosted_scores(larger, (0.0,), matrix, 1)[:, 0].tolist() == alone


def test_a_row_alone_has_the_bits_it_has_in_a_batch(packed: PackedTrees, rng: np.random.Generator) -> None:
    matrix = random_rows(rng, 300, SCHEMA)
    together = boosted_scores(packed, (1.5, 0.0, 2.0), matrix, 1)
    for i in range(300):
        assert boosted_scores(packed, (1.5, 0.0, 2.0), matrix[i : i + 1], 1).tobytes() == together[i : i + 1].tobytes()


@pytest.mark.parametrize("engine", [steps_of, lambda packed: None], ids=["steps", "walks"])
def test_blocks_and_threads_do_not_change_a_bit(
    packed: PackedTrees, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, engine: Callable[..., object]
) -> None:
    monkeypatch.setattr(boosted, "_steps_for", lambda packed, n: engine(packed))
    matrix = random_rows(rng, 1201, SCHEMA)
    expected = boosted_scores(packed, (0.0, 1.0), matrix, 1).tobytes()
    last = [stage.tobytes() for stage in staged_boosted_scores(packed, (0.0, 1.0), matrix, 1)]
    assert last[-1] == expected
    monkeypatch.setattr(boosted, "INLINE_WALKS", 0)
    monkeypatch.setattr(walks, "INLINE_WALKS", 0)
    for least, n_jobs in ((1, 1), (1, 3), (100, 2), (5000, 4), (512, None)):
        monkeypatch.setattr(walks, "_LEAST_ROWS", least)
        monkeypatch.setattr(boosted, "_BLOCK_BYTES", 5 * 37 if least == 1 else 1 << 16)
        assert boosted_scores(packed, (0.0, 1.0), matrix, n_jobs).tobytes() == expected
        stages = staged_boosted_scores(packed, (0.0, 1.0), matrix, n_jobs)
        assert [stage.tobytes() for stage in stages] == last


def test_scores_that_begin_with_0_are_the_sums_of_a_forest(packed: PackedTrees, rng: np.random.Generator) -> None:
    matrix = random_rows(rng, 200, SCHEMA)
    sums = packed_sums(packed, np.array(packed.leaf_value), matrix, 1)
    assert boosted_scores(packed, (0.0,), matrix, 1).tobytes() == sums.tobytes()


def test_each_stage_is_an_array_of_its_own(packed: PackedTrees, rng: np.random.Generator) -> None:
    stages = list(staged_boosted_scores(packed, (0.0,), random_rows(rng, 70, SCHEMA), 1))
    before = [stage.copy() for stage in stages]
    stages[3][:] = 0
    assert len(stages) == 10
    assert all((old == new).all() for old, new in zip(before[4:], stages[4:], strict=True))


def test_no_rows_have_no_scores(packed: PackedTrees) -> None:
    nothing = np.empty((0, len(SCHEMA)))
    assert boosted_scores(packed, (0.0, 1.0), nothing, 2).shape == (0, 2)
    assert [stage.shape for stage in staged_boosted_scores(packed, (0.0, 1.0), nothing, 2)] == [(0, 2)] * 5


def test_no_trees_leave_the_base_as_it_is(packed: PackedTrees, rng: np.random.Generator) -> None:
    scores = boosted_scores(packed, (-0.0, 2.5), random_rows(rng, 4, SCHEMA), 1, stop=0)
    assert scores.tobytes() == np.array([[-0.0, 2.5]] * 4).tobytes()


def test_a_stop_beyond_the_trees_adds_all(packed: PackedTrees, rng: np.random.Generator) -> None:
    matrix = random_rows(rng, 50, SCHEMA)
    assert (boosted_scores(packed, (0.0,), matrix, 1, 11) == boosted_scores(packed, (0.0,), matrix, 1)).all()


def test_read_only_rows_are_read(packed: PackedTrees, rng: np.random.Generator) -> None:
    matrix = random_rows(rng, 90, SCHEMA)
    expected = boosted_scores(packed, (0.0,), matrix, 1)
    matrix.flags.writeable = False
    assert (boosted_scores(packed, (0.0,), matrix, 1) == expected).all()


def test_scores_that_do_not_fit_in_memory_are_refused(packed: PackedTrees) -> None:
    rows = np.lib.stride_tricks.as_strided(np.zeros(5), (1 << 50, 5), (0, 8))
    with pytest.raises(TooLargeError, match="pass fewer rows"):
        boosted_scores(packed, (0.0,), rows, 1)


def test_steps_are_of_every_kind_and_need_ten_rows_at_most(rng: np.random.Generator) -> None:
    bins = bins_for(rng, SCHEMA)
    for shape in ("any", "left", "right", "even"):
        steps = steps_of(random_trees(rng, SCHEMA, [256] * 3, shape, bins))
        assert steps.places[:, OUT].min() >= len(SCHEMA)
        assert steps.n_rows - len(SCHEMA) <= 10
    assert set(steps.places[:, 0].tolist()) == {CHOOSE, PUT, MERGE, LOOK_UP}


def test_a_chain_of_numbers_needs_one_row_to_work_with(rng: np.random.Generator) -> None:
    for shape in ("left", "right"):
        assert steps_of(random_trees(rng, NUMBERS, [256], shape)).n_rows == len(NUMBERS) + 1


def test_a_set_says_for_each_bin_whether_it_goes_left(rng: np.random.Generator) -> None:
    packed = random_tree(rng, bins_for(rng, SCHEMA), 200)
    for at, table in enumerate(tables_of_sets(packed)):
        n_bins = int(packed.bins.n_bins[packed.set_column[at]])
        words = packed.sets[at].tolist()
        expected = [words[code >> 6] >> (code & 63) & 1 for code in range(n_bins + 1)]
        assert table[: n_bins + 1].tolist() == expected


def test_what_is_made_of_trees_is_made_once_and_goes_with_them(rng: np.random.Generator) -> None:
    packed = random_trees(rng, SCHEMA, [31] * 3)
    matrix = random_rows(rng, 100, SCHEMA)
    boosted_scores(packed, (0.0,), matrix, 1)
    boosted_scores(packed, (0.0,), matrix[:2], 1)
    assert steps_of(packed) is steps_of(packed)
    gone = weakref.ref(packed)
    del packed
    gc.collect()
    assert gone() is None
