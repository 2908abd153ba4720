"""Which leaf is split next. In: leaves that have a split, with their gains. Out: the nodes of the next step. Caller: grow.grower.

A node's best split depends on its rows alone, so the order of growth decides only which splits are made before a limit on the number
of leaves, and how the nodes are numbered.
"""

from __future__ import annotations

import heapq
from typing import Protocol

import numpy as np


class Frontier(Protocol):
    """The leaves that have a split but were not split yet."""

    def offer(self, nodes: np.ndarray, gains: np.ndarray) -> None:
        """Add leaves: int32[k], and the gain of each one's split."""

    def take(self) -> np.ndarray:
        """Nodes to split now, int32[k]; empty when growth is over."""


class LevelOrder:
    """Everything on a level at once."""

    def __init__(self) -> None:
        self._nodes = np.empty(0, np.int32)

    def offer(self, nodes: np.ndarray, gains: np.ndarray) -> None:
        """Keep the next level."""
        self._nodes = nodes

    def take(self) -> np.ndarray:
        """The whole level."""
        nodes, self._nodes = self._nodes, np.empty(0, np.int32)
        return nodes


class BestFirst:
    """The leaf with the largest gain, until there are ``max_leaves`` leaves; at equal gain the lowest node."""

    def __init__(self, max_leaves: int) -> None:
        self._heap: list[tuple[float, int]] = []
        self._left = max_leaves - 1

    def offer(self, nodes: np.ndarray, gains: np.ndarray) -> None:
        """Add leaves to the queue."""
        for node, gain in zip(nodes.tolist(), gains.tolist(), strict=True):
            heapq.heappush(self._heap, (-gain, node))

    def take(self) -> np.ndarray:
        """The best leaf, or nothing when the leaves are used up."""
        if not self._heap or self._left == 0:
            return np.empty(0, np.int32)
        self._left -= 1
        return np.array([heapq.heappop(self._heap)[1]], np.int32)
