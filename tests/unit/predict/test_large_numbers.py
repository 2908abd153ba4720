"""Claims about means over trees whose numbers are near the end of float64, and about sums that do not fit in memory."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from random_forests import NUMBERS, forest_model, random_forest, random_rows

from treewright.data import memory
from treewright.data.bin_rows import bin_rows
from treewright.exceptions import TooLargeError
from treewright.model import Model
from treewright.predict.ensemble import combined
from treewright.predict.walks import leaf_rows_of_bins, packed_sums
from treewright.trees.packed import PackedTrees

LARGEST = float(np.finfo(np.float64).max)
ROWS = random_rows(np.random.default_rng(3), 150, NUMBERS)


def model_of(leaf_value: np.ndarray | None = None, *, n_trees: int = 11, n_values: int = 2) -> Model:
    """Random trees for numbers; ``leaf_value`` takes the place of what their leaves hold."""
    packed = random_forest(np.random.default_rng(2), NUMBERS, (), n_trees=n_trees, n_rows=90, n_values=n_values)
    if leaf_value is not None:
        packed = replace(packed, leaf_value=np.resize(leaf_value, packed.leaf_value.shape))
    return forest_model(packed, NUMBERS, (), "mean", n_values)


def packed_of(model: Model) -> PackedTrees:
    """Its trees, which are packed."""
    assert isinstance(model.trees, PackedTrees)
    return model.trees


def exact_means(model: Model) -> list[list[Fraction]]:
    """The mean of the leaves of each row, in fractions."""
    packed = packed_of(model)
    codes, rows = bin_rows(packed.bins, ROWS), np.arange(len(ROWS), dtype=np.int32)
    said = [packed.leaf_value[leaf_rows_of_bins(packed, codes, rows, tree)] for tree in range(len(packed))]
    n_values = packed.leaf_value.shape[1]
    return [
        [sum(Fraction(float(tree[row, at])) for tree in said) / len(said) for at in range(n_values)]
        for row in range(len(ROWS))
    ]


def unpacked(model: Model) -> Model:
    """The same trees one by one."""
    return replace(model, trees=tuple(packed_of(model)))


@pytest.mark.parametrize("values", [[LARGEST], [LARGEST, -LARGEST], [1e308, 9e307, -3.0], [1.7e308, 5e-324, 2.0**1023]])
@pytest.mark.parametrize("loose", [False, True])
def test_a_mean_of_finite_numbers_is_finite_and_right(values: Any, loose: bool) -> None:
    model = model_of(np.array(values))
    means = combined(unpacked(model) if loose else model, ROWS)
    assert np.isfinite(means).all()
    for said, exact in zip(means.tolist(), exact_means(model), strict=True):
        for number, true in zip(said, exact, strict=True):
            assert abs(Fraction(number) - true) <= Fraction(LARGEST) / 2**48


def test_packed_trees_and_the_same_trees_loose_agree_on_large_numbers() -> None:
    model = model_of(np.array([LARGEST, -LARGEST, 3.0, 1e308]))
    assert combined(model, ROWS).tobytes() == combined(unpacked(model), ROWS).tobytes()


def test_large_numbers_are_answered_row_by_row_as_in_a_batch() -> None:
    # Only some rows are beyond float64: which neighbours a row has must not decide how its mean is made.
    model = model_of(np.array([1e308, 1.0, -2.0, 1e308, 5.5]))
    together = combined(model, ROWS, 2)
    sums = packed_sums(packed_of(model), np.array(packed_of(model).leaf_value), ROWS, 1)
    assert 0 < np.isfinite(sums).sum() < sums.size
    for at, row in enumerate(ROWS):
        assert combined(model, row[None], 1).tobytes() == together[at].tobytes()


def test_where_the_sum_is_finite_the_mean_is_the_sum_divided() -> None:
    model = model_of(np.array([1e308, 1.0, -2.0, 1e308, 5.5]))
    sums = packed_sums(packed_of(model), np.array(packed_of(model).leaf_value), ROWS, 1)
    held = np.isfinite(sums)
    assert held.any()
    assert combined(model, ROWS)[held].tobytes() == (sums / 11)[held].tobytes()


def test_the_verbs_of_a_model_give_finite_means() -> None:
    model = model_of(np.array([LARGEST]), n_values=1)
    table = {column.name: ROWS[:, at] for at, column in enumerate(NUMBERS.columns)}
    assert np.allclose(model.predict(table), LARGEST, rtol=1e-14)
    assert np.isfinite(model.predict_one(ROWS[0].tolist()))


@pytest.mark.parametrize("loose", [False, True])
def test_sums_that_do_not_fit_in_memory_are_refused(loose: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    model = unpacked(model_of()) if loose else model_of()
    combined(model, ROWS)
    monkeypatch.setattr(memory, "ALWAYS_ALLOWED", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 150 * 2 * 8 - 1)
    with pytest.raises(TooLargeError, match="150 x 2 sums over trees"):
        combined(model, ROWS)
