"""Which leaf is split next."""

from __future__ import annotations

import numpy as np

from treewright.grow.settings import BestFirst


def offer(frontier: BestFirst, nodes: list[int], gains: list[float], tolerance: float = 1e-9) -> None:
    frontier.offer(np.array(nodes, np.int32), np.array(gains), np.full(len(nodes), tolerance))


def take_all(frontier: BestFirst) -> list[int]:
    taken = []
    while len(leaf := frontier.take()):
        assert leaf.dtype == np.int32
        taken += leaf.tolist()
    return taken


def test_the_largest_gain_comes_first() -> None:
    frontier = BestFirst(10)
    offer(frontier, [1, 2, 3], [0.5, 2.0, 1.0])

    assert take_all(frontier) == [2, 3, 1]


def test_equal_gains_come_in_the_order_of_nodes() -> None:
    frontier = BestFirst(10)
    offer(frontier, [5, 4, 6], [1.0, 1.0, 1.0])

    assert take_all(frontier) == [4, 5, 6]


def test_gains_that_differ_by_roundings_are_equal() -> None:
    frontier = BestFirst(10)
    offer(frontier, [1, 2], [1.0, 1.0 + 1e-15])
    offer(frontier, [3, 4], [1e-20, 0.0])

    assert take_all(frontier) == [1, 2, 3, 4]


def test_as_many_leaves_are_split_as_the_limit_leaves_room_for() -> None:
    frontier = BestFirst(3)
    offer(frontier, [1, 2, 3, 4], [4.0, 3.0, 2.0, 1.0])

    assert take_all(frontier) == [1, 2]


def test_an_empty_frontier_gives_nothing() -> None:
    assert take_all(BestFirst(5)) == []
