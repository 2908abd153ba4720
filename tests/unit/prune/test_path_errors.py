"""Losses of rows under every subtree of a path: by hand, on a tree of 20,000 levels, and summed without cancelling."""

from __future__ import annotations

import numpy as np
import pytest
from plain_trees import chain_tree

from treewright.data.schema import Column, Schema
from treewright.prune.cost_complexity import Path, path_losses
from treewright.trees.data import ModelData


def chain(depth, *, value=None, classes=()):
    """Row x = k ends at level k + 1."""
    tree = chain_tree(depth) if value is None else chain_tree(depth, value=value)
    task = "classification" if classes else "regression"
    return ModelData(task, Schema((Column("x", "numeric"),)), (tree,), classes)


def path_from_below(depth):
    """Step s has no inner node at level depth - s or deeper."""
    step = np.zeros(2 * depth + 1, np.int64)
    step[0 : 2 * depth : 2] = depth - np.arange(depth)
    n = depth + 1
    return Path(np.arange(n, dtype=float), n - np.arange(n), np.zeros(n), step)


def test_three_rows_by_hand():
    # Nodes 0 (1, 2 (3, 4)); node i predicts i. Step 0: rows 0, 1, 2 end in 1, 3, 4; step 1: in 1, 2, 2; step 2: in 0.
    model, path = chain(2), path_from_below(2)
    matrix, truth = np.array([[0.0], [1.0], [2.0]]), np.array([[1.0], [5.0], [2.0]])

    found = path_losses(model, path, np.arange(3), matrix, truth, np.array([1.0, 2.0, 4.0]), "absolute_error")

    assert found.loss.tolist() == [0 + 2 * 2 + 4 * 2, 0 + 2 * 3 + 0, 1 + 2 * 5 + 4 * 2]
    assert found.square.tolist() == [2 * 4 + 4 * 4, 2 * 9, 1 + 2 * 25 + 4 * 4]
    assert found.weight == 7.0


def test_squares_are_squared_again_for_the_spread():
    model, path = chain(2), path_from_below(2)

    found = path_losses(model, path, np.array([2]), np.array([[0.0]]), np.array([[3.0]]), np.ones(1), "squared_error")

    assert (found.loss.tolist(), found.square.tolist()) == ([9.0], [81.0])


def test_steps_may_be_left_out_and_repeated():
    model, path = chain(6), path_from_below(6)
    matrix, truth = np.arange(7.0)[:, None], np.array([[3.0], [1.0], [4.0], [1.0], [5.0], [9.0], [2.0]])
    every = path_losses(model, path, np.arange(7), matrix, truth, np.ones(7), "squared_error")

    steps = np.array([0, 2, 2, 2, 5, 6, 6])
    some = path_losses(model, path, steps, matrix, truth, np.ones(7), "squared_error")

    assert some.loss.tolist() == every.loss[steps].tolist()
    assert some.square.tolist() == every.square[steps].tolist()


def test_codes_say_which_class_of_all_rows_a_class_of_the_model_is():
    # The model knows the classes "b" and "d" of "a" to "d".
    value = np.array([[2.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    model = chain(1, value=value, classes=(np.array(["b", "d"]),))
    matrix, truth = np.array([[0.0], [1.0], [1.0]]), np.array([[1.0], [3.0], [0.0]])

    found = path_losses(
        model,
        path_from_below(1),
        np.arange(2),
        matrix,
        truth,
        np.ones(3),
        "misclassification",
        codes=(np.array([1, 3]),),
    )

    assert found.loss.tolist() == [1.0, 2.0]


def test_20000_levels_are_one_walk_per_row():
    depth = 20_000
    model, path = chain(depth), path_from_below(depth)
    rows = np.array([0.0, 10_000.0, 20_000.0])

    found = path_losses(
        model, path, np.arange(depth + 1), rows[:, None], np.zeros((3, 1)), np.ones(3), "absolute_error"
    )

    # At step s all levels from depth - s are one leaf, node 2 (depth - s); row x else ends in node 2 x + 1.
    last = 2 * (depth - np.arange(depth + 1))
    expected = sum(np.where(last > 2 * x, 2 * x + (x < depth), last) for x in rows)
    assert found.loss.tolist() == expected.tolist()


def test_a_subtree_without_loss_has_exactly_none_beside_large_losses():
    value = np.array([[0.1], [1e-3], [0.3], [1e9], [0.7]])
    model, path = chain(2, value=value), path_from_below(2)
    truth = np.array([[1e-3], [1e9], [0.7]])

    found = path_losses(model, path, np.arange(3), np.arange(3.0)[:, None], truth, np.full(3, 0.1), "squared_error")

    assert found.loss[0] == 0.0
    assert found.loss[1] == pytest.approx(0.1 * ((1e9 - 0.3) ** 2 + 0.4**2), rel=1e-15)
