"""Proximity: the share of trees that put two rows into one leaf."""

from __future__ import annotations

import numpy as np
import pytest

import treewright as tw
from treewright.data import memory
from treewright.exceptions import ColumnError, TooLargeError
from treewright.forest import proximity

rng = np.random.default_rng(0)
TABLE = {"size": rng.normal(size=150).tolist(), "colour": rng.choice(["red", "green", None], 150).tolist()}
LABELS = rng.integers(0, 3, 150)
NEW = {"size": [0.1, -2.0, 3.0], "colour": ["red", "blue", None]}


@pytest.fixture(scope="module", name="forest")
def _forest():
    return tw.RandomForestClassifier(n_estimators=30, max_depth=4).fit(TABLE, LABELS)


def plain(leaves, others):
    """The same, said as it is meant."""
    return [[sum(map(int.__eq__, one, two)) / len(one) for two in others] for one in leaves]


def test_it_is_the_share_of_trees_with_a_common_leaf(forest):
    leaves, new = forest.apply(TABLE).tolist(), forest.apply(NEW).tolist()

    assert forest.proximity(TABLE).tolist() == plain(leaves, leaves)
    assert forest.proximity(TABLE, NEW).tolist() == plain(leaves, new)
    assert forest.proximity(NEW, TABLE).tolist() == plain(new, leaves)


def test_it_is_symmetric_and_every_row_is_nearest_to_itself(forest):
    near = forest.proximity(TABLE)

    assert np.array_equal(near, near.T)
    assert (np.diag(near) == 1).all()
    assert (near >= 0).all()
    assert np.array_equal(forest.proximity(TABLE, TABLE), near)


@pytest.mark.parametrize("kind", [tw.ExtraTreesRegressor, tw.RandomForestRegressor, tw.ExtraTreesClassifier])
def test_every_forest_has_it(kind):
    forest = kind(n_estimators=5).fit(TABLE, LABELS)

    assert forest.proximity(TABLE).tolist() == plain(*[forest.apply(TABLE).tolist()] * 2)


def test_trees_on_cells_have_it():
    forest = tw.RandomForestRegressor(n_estimators=4, criterion="absolute_error", max_depth=3).fit(TABLE, LABELS)

    assert forest.proximity(NEW, TABLE).tolist() == plain(forest.apply(NEW).tolist(), forest.apply(TABLE).tolist())


def test_neither_threads_nor_blocks_change_a_bit(forest, monkeypatch):
    expected = forest.proximity(TABLE), forest.proximity(TABLE, NEW)
    for n_jobs in (1, 3):
        monkeypatch.setattr(forest, "n_jobs", n_jobs)
        for cells in (1, 700):
            monkeypatch.setattr(proximity, "_BLOCK_CELLS", cells)
            assert np.array_equal(forest.proximity(TABLE), expected[0])
            assert np.array_equal(forest.proximity(TABLE, NEW), expected[1])


def test_what_would_not_fit_is_refused_before_the_trees_are_asked(forest, monkeypatch):
    monkeypatch.setattr(memory, "ALWAYS_ALLOWED", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 10_000)
    monkeypatch.setattr(proximity, "_leaves", None)

    with pytest.raises(TooLargeError, match=r"proximities of 150 x 3 rows in 30 trees needs 21960 bytes"):
        forest.proximity(TABLE, NEW)


def test_the_other_table_is_checked_as_well(forest):
    with pytest.raises(ColumnError, match="colour"):
        forest.proximity(TABLE, {"size": [1.0]})


def test_no_rows_are_near_none(forest):
    empty = {"size": [], "colour": []}

    assert forest.proximity(empty).shape == (0, 0)
    assert forest.proximity(NEW, empty).shape == (3, 0)
