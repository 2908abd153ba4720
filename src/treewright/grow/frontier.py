"""The leaf to split next if leaves are limited. In: leaves that have a split, with their gains. Out: the best.

A node's best split depends on its rows alone, so the order of growth decides only which splits are made before the
leaves are used up, and how the nodes are numbered. Without a limit on leaves the grower takes whole levels and needs no
queue.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left

import numpy as np


class BestFirst:
    """The leaf with the largest gain, until there are ``max_leaves`` leaves; at equal gain the lowest node."""

    def __init__(self, max_leaves: int) -> None:
        self._heap: list[tuple[float, int]] = []
        self._gains = [0.0]  # gains so far, ascending; equal ones once
        self._max_splits = max_leaves - 1
        self._n_splits = 0

    @property
    def share_done(self) -> float:
        """Share of the allowed splits that are made."""
        return self._n_splits / self._max_splits if self._heap else 1.0

    def offer(self, nodes: np.ndarray, gains: np.ndarray, tolerances: np.ndarray) -> None:
        """Add leaves: int32[k], the gain of each one's split, and the tolerance within which gains are equal."""
        for node, gain, tolerance in zip(nodes.tolist(), gains.tolist(), tolerances.tolist(), strict=True):
            heapq.heappush(self._heap, (-self._shared(gain, tolerance), node))

    def _shared(self, gain: float, tolerance: float) -> float:
        """One number for all gains that are equal up to rounding: the lowest node among them comes first."""
        at = bisect_left(self._gains, gain - tolerance)
        if at == len(self._gains) or self._gains[at] > gain + tolerance:
            self._gains.insert(at, gain)
        return self._gains[at]

    def take(self) -> np.ndarray:
        """The best leaf as int32[1]; empty when there is none or the leaves are used up."""
        if not self._heap or self._n_splits == self._max_splits:
            return np.empty(0, np.int32)
        self._n_splits += 1
        return np.array([heapq.heappop(self._heap)[1]], np.int32)
