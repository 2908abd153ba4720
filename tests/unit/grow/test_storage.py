"""Memory of a tree that grows."""

from __future__ import annotations

import numpy as np

from treewright.data.schema import Column, Schema
from treewright.grow.exact.presort import presort
from treewright.grow.layout import Limits, Nodes, make_nodes, with_room
from treewright.grow.objective import regression_objective
from treewright.grow.settings import GrowSettings

TARGETS = np.array([[1.0, 4.0], [2.0, 5.0]])


def nodes_for(capacity: int, criterion: str, max_features: int = 1, *, is_monotone: bool = False) -> Nodes:
    """Nodes for a table of one numeric column and two targets."""
    schema = Schema((Column("x", "numeric"),))
    columns = presort(np.zeros((2, 1)), schema, np.empty((0, 0)), GrowSettings(criterion))
    limits = Limits(2**31 - 1, 2, 1, 0, 0.0, max_features, is_monotone)
    return make_nodes(capacity, columns, regression_objective(TARGETS, None, criterion), limits)


def test_medians_have_a_sum_and_a_value_per_output_and_a_loss() -> None:
    nodes = nodes_for(3, "absolute_error")

    assert nodes.totals.shape == nodes.value.shape == (3, 2)
    assert len(nodes.loss) == 3


def test_what_a_fit_does_not_use_has_no_length() -> None:
    nodes = nodes_for(3, "squared_error")

    assert {name for name in Nodes._fields if len(getattr(nodes, name)) == 0} == {
        "score",
        "loss",
        "level_set",
        "low",
        "high",
        "key",
    }
    assert len(nodes_for(3, "squared_error", is_monotone=True).low) == 3
    assert len(nodes_for(3, "squared_error", max_features=0).key) == 3


def test_room_at_least_doubles_and_keeps_what_is_there() -> None:
    nodes = nodes_for(4, "squared_error")
    nodes.weight[:] = [7, 8, 9, 10]

    larger = with_room(list(nodes), 5)

    assert len(larger.weight) == 8
    np.testing.assert_array_equal(larger.weight[:4], [7, 8, 9, 10])
    assert len(with_room(list(nodes), 100).weight) == 100
    assert len(larger.score) == 0
