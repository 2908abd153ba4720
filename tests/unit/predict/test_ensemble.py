"""Claims about the predictions of many trees, on forests with random tests."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from random_forests import NUMBERS, SCHEMA, forest_model, random_forest, random_rows

from treewright.data.bin_rows import bin_rows
from treewright.exceptions import MissingValueError
from treewright.model import Model
from treewright.predict import ensemble
from treewright.predict import walks as ensemble_blocks
from treewright.predict.ensemble import combined, contents_of
from treewright.predict.walks import leaf_rows_of_bins, packed_leaves, packed_sums
from treewright.trees.packed import PackedTrees

CLASSES = (3,)


def model_of(schema: Any = SCHEMA, n_classes: Any = CLASSES, combine: str = "mean", **options: Any) -> Model:
    """A model of 12 random trees; ``options`` as ``random_forest``."""
    rng = np.random.default_rng(7)
    packed = random_forest(rng, schema, n_classes, **{"n_trees": 12, "n_rows": 120, **options})
    return forest_model(packed, schema, n_classes, combine, options.get("n_values", 1))


def rows_of(n: int = 300, schema: Any = SCHEMA, **options: Any) -> np.ndarray:
    """Encoded rows."""
    return random_rows(np.random.default_rng(8), n, schema, **options)


def table_of(matrix: np.ndarray) -> dict[str, list[Any]]:
    """The rows as a user's table; a code never seen becomes a new word."""
    table: dict[str, list[Any]] = {}
    for at, column in enumerate(SCHEMA.columns):
        words = [*column.levels, "never seen"]
        cells = matrix[:, at].tolist()
        table[column.name] = [None if math.isnan(x) else words[int(x)] if column.levels else x for x in cells]
    return table


@pytest.mark.parametrize(
    ("n_classes", "combine", "n_values"),
    [((3,), "mean", 1), ((2, 4), "mean", 1), ((3,), "vote", 1), ((2, 4), "vote", 1), ((), "mean", 1), ((), "mean", 2)],
)
def test_one_row_is_answered_as_in_a_batch(n_classes: Any, combine: str, n_values: int) -> None:
    model = model_of(n_classes=n_classes, combine=combine, n_values=n_values)
    table = table_of(rows_of(40))
    together = model.predict(table)
    for at in range(40):
        row = {name: cells[at] for name, cells in table.items()}
        assert np.array_equal(model.predict_one(row), together[at])
        assert np.array_equal(model.predict_one(list(row.values())), together[at])
        assert np.array_equal(model.predict({name: [cell] for name, cell in row.items()})[0], together[at])


def test_threads_blocks_and_lanes_do_not_change_a_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    model, matrix = model_of(), rows_of(700)
    usual = combined(model, matrix, 1)
    leaves = ensemble.predict_leaves(model, matrix, 1)
    monkeypatch.setattr(ensemble_blocks, "INLINE_WALKS", 0)
    for n_jobs, most, lanes in [(1, 8192, 2048), (2, 8192, 64), (3, 97, 10), (2, 17, 5), (2, 16, 3), (1, 1, 1)]:
        monkeypatch.setattr(ensemble_blocks, "_MOST_ROWS", most)
        monkeypatch.setattr(ensemble_blocks, "_LANES", lanes)
        assert combined(model, matrix, n_jobs).tobytes() == usual.tobytes()
        assert ensemble.predict_leaves(model, matrix, n_jobs).tobytes() == leaves.tobytes()


@pytest.mark.parametrize("schema", [SCHEMA, NUMBERS])
def test_memory_order_and_float_width_do_not_change_a_bit(schema: Any) -> None:
    model, matrix = model_of(schema), rows_of(200, schema)
    usual = combined(model, matrix).tobytes()
    wide = np.full((400, len(schema) + 3), np.nan)
    wide[::2, 1:-2] = matrix
    locked = matrix.copy()
    locked.flags.writeable = False
    for other in (np.asfortranarray(matrix), wide[::2, 1:-2], locked, matrix.astype(np.float32)):
        assert combined(model, other).tobytes() == usual
        assert np.array_equal(packed_leaves(model.trees, other, 1), packed_leaves(model.trees, matrix, 1))


def test_a_column_without_missing_cells_is_walked_to_the_same_leaves() -> None:
    model, matrix = model_of(), rows_of(100, absent=0.0)
    codes, rows = bin_rows(model.trees.bins, matrix), np.arange(100, dtype=np.int32)
    for tree in range(12):
        with_care = leaf_rows_of_bins(model.trees, codes, rows, tree)
        assert np.array_equal(leaf_rows_of_bins(model.trees, codes, rows, tree, has_missing=False), with_care)
    missing = np.concatenate((matrix, rows_of(30, absent=0.9)))
    assert np.array_equal(combined(model, missing)[:100], combined(model, matrix))


def test_no_rows_get_no_answers() -> None:
    model, matrix = model_of(), rows_of(0)
    assert combined(model, matrix).shape == (0, 3)
    assert ensemble.predict_leaves(model, matrix).shape == (0, 12)
    path, ends = model.decision_path(table_of(rows_of(3)))
    assert path.shape == (3, ends[-1])


def test_equal_votes_go_to_the_first_class() -> None:
    model = model_of(combine="vote", n_trees=2, n_rows=60)
    votes = combined(model, rows_of(200))
    assert set(np.unique(votes)) == {0.0, 0.5, 1.0}
    codes = ensemble.predict_codes(model, rows_of(200))[:, 0]
    tied = (votes == 0.5).sum(axis=1) == 2
    assert tied.any()
    assert np.array_equal(codes[tied], (votes[tied] == 0.5).argmax(axis=1))


def test_a_vote_is_for_the_class_that_the_tree_alone_predicts() -> None:
    model, table = model_of(combine="vote"), table_of(rows_of(80))
    alone = np.array([model.tree(at).predict(table) for at in range(12)])
    votes = np.stack([(alone == label).mean(axis=0) for label in model.classes[0]], axis=1)
    assert np.array_equal(model.predict_proba(table), votes)


def test_the_predicted_class_has_the_largest_probability() -> None:
    model, table = model_of(n_classes=(2, 4)), table_of(rows_of(150))
    said = model.predict(table)
    for output, shares in enumerate(model.predict_proba(table)):
        assert shares.flags.c_contiguous
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
        assert np.array_equal(said[:, output], model.classes[output][shares.argmax(axis=1)])


def test_apply_gives_the_leaf_that_each_tree_gives_alone() -> None:
    model, table = model_of(), table_of(rows_of(90))
    leaves = model.apply(table)
    assert leaves.dtype == np.int64
    for at in range(12):
        assert np.array_equal(leaves[:, at], model.tree(at).apply(table))


@pytest.mark.parametrize("loose", [False, True])
def test_decision_path_holds_the_paths_of_the_trees_side_by_side(loose: bool) -> None:
    model, table = model_of(), table_of(rows_of(50))
    if loose:
        model = replace(model, trees=tuple(model.trees))
    path, ends = model.decision_path(table)
    assert path.has_sorted_indices
    path.check_format()
    assert ends.tolist() == np.cumsum([0, *(tree.n_nodes for tree in model.trees)]).tolist()
    for at in range(12):
        alone = model.tree(at).decision_path(table)
        assert (path[:, ends[at] : ends[at + 1]] != alone).nnz == 0


def test_loose_trees_in_several_leaves_are_averaged_tree_by_tree() -> None:
    model = model_of()
    loose = replace(model, trees=tuple(model.trees), missing="fractional")
    table = table_of(rows_of(60))
    alone = [loose.tree(at).predict_proba(table) for at in range(12)]
    total = np.zeros_like(alone[0])
    for shares in alone:
        total += shares
    assert np.array_equal(loose.predict_proba(table), total / 12)
    assert np.array_equal(loose.apply(table)[:, 3], loose.tree(3).apply(table))
    path, ends = loose.decision_path(table)
    assert path.dtype == np.float64
    assert (path[:, ends[3] : ends[4]] != loose.tree(3).decision_path(table)).nnz == 0


def test_missing_cells_are_refused_where_the_model_says_so() -> None:
    model = replace(model_of(NUMBERS), missing="error")
    row = {f"x{at}": 0.0 for at in range(8)} | {"x8": float("nan")}
    with pytest.raises(MissingValueError):
        model.predict({name: [cell] for name, cell in row.items()})
    with pytest.raises(MissingValueError):
        model.predict_one(row)


def test_sums_do_not_touch_the_arrays_of_the_forest() -> None:
    model = model_of()
    packed = model.trees
    assert isinstance(packed, PackedTrees)
    before = {name: array.tobytes() for name, array in packed.arrays().items()}
    combined(model, rows_of(100))
    ensemble.predict_leaves(model, rows_of(100))
    assert {name: array.tobytes() for name, array in packed.arrays().items()} == before
    assert not packed.records.flags.writeable


def test_sums_are_made_in_the_order_of_the_trees() -> None:
    model, matrix = model_of(n_classes=(), n_trees=40), rows_of(64)
    content = contents_of(model)[0]
    codes, rows = bin_rows(model.trees.bins, matrix), np.arange(64, dtype=np.int32)
    total = np.zeros((64, 1))
    for tree in range(40):
        total += content[leaf_rows_of_bins(model.trees, codes, rows, tree)]
    assert packed_sums(model.trees, content, matrix, 1).tobytes() == total.tobytes()
    assert packed_sums(model.trees, content, matrix[:5], 1).tobytes() == total[:5].tobytes()
