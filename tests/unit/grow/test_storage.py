"""Memory of a tree that grows."""

from __future__ import annotations

import numpy as np

from treewright.grow.objective import regression_objective
from treewright.grow.storage import make_nodes, with_room

OBJECTIVE = regression_objective(np.array([[1.0, 4.0], [2.0, 5.0]]), None, "absolute_error")


def test_nodes_have_a_sum_and_a_median_per_output() -> None:
    nodes = make_nodes(3, OBJECTIVE)

    assert nodes.totals.shape == nodes.value.shape == (3, 2)
    assert all(len(array) == 3 for array in nodes)


def test_room_at_least_doubles_and_keeps_what_is_there() -> None:
    nodes = make_nodes(4, OBJECTIVE)
    nodes.weight[:] = [7, 8, 9, 10]

    larger = with_room(nodes, 5)

    assert len(larger.weight) == 8
    np.testing.assert_array_equal(larger.weight[:4], [7, 8, 9, 10])
    assert len(with_room(nodes, 100).weight) == 100


def test_enough_room_stays_as_it_is() -> None:
    nodes = make_nodes(4, OBJECTIVE)

    assert with_room(nodes, 4) is nodes
