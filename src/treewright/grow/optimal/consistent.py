"""The smallest consistent tree. In: ``Space``, class codes, limits. Out: ``Found``, whose objective counts leaves.

A tree is consistent if each of its leaves holds rows of one class. Rows that are equal in every column are one row
here, and a set of rows is a whole number with a bit for each. The fewest leaves of a set are 1 if it is pure, else the
least sum of both sides over all tests. Each set is kept with its bounds. No set needs fewer leaves than

- it has classes;
- the largest group of rows of which no two can share a leaf. Two rows of one class cannot if every leaf that holds both
  holds a row of another class: such a leaf contains all rows that are between the two in every column.

Passes that try only the most promising tests come first, as in ``search``; then the permitted number of leaves rises
from the lower bound until a tree is found, which proves it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from treewright.core import threads
from treewright.core.notices import is_one_of_many
from treewright.exceptions import Terminated
from treewright.grow.objective import xlogx_table
from treewright.grow.optimal.pairs import INF
from treewright.grow.optimal.search import CTRL_C, Branching, Found, Limits, Stopped
from treewright.grow.optimal.space import Space

_WIDTHS = (1, 3)  # tests tried per set in the passes before the proof; no limit of the search stops the first
_MOST_TRIES = 3_000  # sets of each further pass: more rarely find a smaller tree before the proof does
_MOST_PAIRS = 500_000  # of rows, whose rows between them are kept
_NO_LIMIT = -1


@dataclass(eq=False, slots=True)
class _Part:
    """A set of rows: bounds of its leaves, and the test of the best tree that is known (``left``: rows on its left)."""

    lower: int
    value: int = INF
    place: int = -1
    left: int = 0
    is_bounded: bool = False
    width: int = 0  # of the last pass that tried the set


def contradictions(space: Space, labels: np.ndarray) -> list[tuple[int, int]]:
    """Pairs of rows that are equal in every column and have different classes, in ascending order.

    Each row is paired with the first that is equal to it. ``labels`` int[n].
    """
    _, group = _groups(space)
    first: dict[int, int] = {}
    pairs = []
    for row, one in enumerate(group.tolist()):
        start = first.setdefault(one, row)
        if labels[start] != labels[row]:
            pairs.append((start, row))
    return sorted(pairs)


def _groups(space: Space) -> tuple[np.ndarray, np.ndarray]:
    """The first row of each group of equal rows, int[g], in an order that only their cells give; group of each row."""
    table = np.concatenate([space.cells.ranks, space.cells.codes]).T
    if not table.shape[1]:
        return np.zeros(1, np.int64), np.zeros(len(table), np.int64)
    _, first, group = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return first, group.reshape(-1)


class SmallestSearch:
    """One search, for rows without contradictions; ``labels`` int[n].

    ``has_subsets``: whether there are two classes, so that the last test above leaves may be any set of levels.
    """

    def __init__(self, space: Space, labels: np.ndarray, limits: Limits, has_subsets: bool) -> None:
        self.space, self.limits, self.has_subsets = space, limits, has_subsets
        first, self.group = _groups(space)
        self.n = len(first)
        self.labels = labels[first].tolist()
        self.all = (1 << self.n) - 1
        held = labels[first]
        self.classes = [_bits(held == label) for label in np.unique(held)]
        self.class_of = {label: self.classes[at] for at, label in enumerate(np.unique(held).tolist())}
        self.ranks = space.cells.ranks[:, first].tolist()
        self.codes = space.cells.codes[:, first].tolist()
        self.below = [
            [_bits(ranks <= rank) for rank in range(int(ranks.max()) + 1)] for ranks in space.cells.ranks[:, first]
        ]
        self.levels = [
            [_bits(codes == code) for code in range(int(codes.max()) + 1)] for codes in space.cells.codes[:, first]
        ]
        self.tests = self._all_tests()
        self.entropies = [int(value) for value in xlogx_table(self.n)[0]]
        self.between: dict[tuple[int, int], int] = {}
        self.parts: dict[tuple[int, int], _Part] = {}
        self.width: int | None = None
        self.is_counting = False
        self.n_solved = self.n_tries = 0

    def _all_tests(self) -> list[tuple[int, int]]:
        """Each test's column and the rows on its left."""
        tests = [(place, left) for place, cuts in enumerate(self.below) for left in cuts[:-1]]
        for at, levels in enumerate(self.levels):
            gone = int(self.space.cells.missing[at])
            for code, left in enumerate(levels):
                tests.append((self.space.n_ordered + at, left))
                if gone >= 0 and code != gone:
                    tests.append((self.space.n_ordered + at, left | levels[gone]))
        return tests

    def part(self, rows: int, depth: int) -> _Part:
        """What is known of a set of rows whose tree may have so many levels."""
        known = self.parts.get((rows, depth))
        if known is None:
            n_classes = sum(1 for one in self.classes if one & rows)
            known = _Part(n_classes, 1 if n_classes == 1 else INF)
            if n_classes > 1 and depth == 0:
                known.lower = INF
            self.parts[rows, depth] = known
        return known

    def _tests_of(self, rows: int) -> list[tuple[int, int]]:
        """The tests that divide rows differently, the largest gain of entropy first."""
        inside = [one & rows for one in self.classes if one & rows]
        seen: set[int] = set()
        tests = []
        for place, mask in self.tests:
            left = mask & rows
            right = rows ^ left
            if not left or not right or left in seen or right in seen:
                continue
            seen.add(left)
            tests.append((self._impurity(left, inside) + self._impurity(right, inside), place, left))
        if self.has_subsets and len(inside) == 2 and inside[0] not in seen and inside[1] not in seen:
            for at, levels in enumerate(self.levels):
                if not any(level & inside[0] and level & inside[1] for level in levels):
                    return [(self.space.n_ordered + at, inside[0])]  # two leaves: no other test is better
        tests.sort(key=lambda test: test[0])
        return [(place, left) for _, place, left in tests]

    def _impurity(self, rows: int, inside: list[int]) -> int:
        return self.entropies[rows.bit_count()] - sum(self.entropies[(rows & one).bit_count()] for one in inside)

    # The group of rows of which no two can share a leaf.

    def _apart(self, rows: int) -> int:
        """A lower bound of the leaves of a set."""
        size = 0
        for one in self.classes:
            own, others = _members(rows & one), rows & ~one
            apart = dict.fromkeys(own, 0)
            for at, first in enumerate(own):
                for second in own[:at]:
                    if self._between(second, first) & others:
                        apart[first] |= 1 << second
                        apart[second] |= 1 << first
            chosen = 0
            for row in sorted(own, key=lambda row: -apart[row].bit_count()):
                if chosen & apart[row] == chosen:
                    chosen |= 1 << row
            size += chosen.bit_count()
        return size

    def _between(self, first: int, second: int) -> int:
        """The rows of other classes in every leaf that holds both rows, which have one class."""
        known = self.between.get((first, second))
        if known is not None:
            return known
        rows = self.all & ~self.class_of[self.labels[first]]
        for ranks, below in zip(self.ranks, self.below, strict=True):
            low, high = sorted((ranks[first], ranks[second]))
            rows &= below[high] & ~below[low - 1] if low else below[high]
        for codes, levels in zip(self.codes, self.levels, strict=True):
            rows &= levels[codes[first]] | levels[codes[second]]
        if len(self.between) < _MOST_PAIRS:
            self.between[first, second] = rows
        return rows

    # The search.

    def _count(self) -> None:
        threads.heed()
        if not self.is_counting:
            return
        limits = self.limits
        if limits.max_search is not None and self.n_solved >= limits.max_search:
            raise Stopped(f"max_search={limits.max_search}")
        if limits.is_late is not None and limits.is_late():
            raise Stopped("time_limit")
        self.n_solved += 1

    def _solve(self, rows: int, depth: int, below: int) -> Iterator[tuple[int, int, int]]:
        """Find the best tree of a set if it has fewer leaves than ``below``; yields the sets to solve before."""
        known = self.part(rows, depth)
        if known.lower >= min(below, known.value):
            return
        if self.width is not None:
            if known.width == self.width or self.n_tries >= _MOST_TRIES:
                return
            known.width, self.n_tries = self.width, self.n_tries + self.is_counting
        self._count()
        if self.width is None and not known.is_bounded:
            self._bound(known, rows, depth)
            if known.lower >= min(below, known.value):
                return
        deeper = depth if depth == _NO_LIMIT else depth - 1
        least = INF
        for place, left in self._tests_of(rows)[: self.width]:
            sides = sorted((left, rows ^ left), key=lambda side: (-side.bit_count(), side != left))
            large, small = (self.part(side, deeper) for side in sides)
            for side, one, other in ((sides[0], large, small), (sides[1], small, large)):
                room = min(below, known.value) - other.lower
                if one.lower >= room:
                    break
                if one.lower < one.value:
                    yield side, deeper, room
            if large.value + small.value < known.value:
                known.value, known.place, known.left = large.value + small.value, place, left
                if known.value <= known.lower:
                    return
            least = min(least, large.lower + small.lower)
        if self.width is None:
            known.lower = max(known.lower, min(least, known.value))

    def _bound(self, part: _Part, rows: int, depth: int) -> None:
        """Raise the lower bound of a set by rows that cannot share a leaf."""
        part.is_bounded = True
        part.lower = max(part.lower, min(self._apart(rows), part.value))
        if 0 <= depth < 60 and part.lower > 1 << depth:
            part.lower = INF

    def _run(self, below: int) -> _Part:
        """Solve the whole table; the sets that wait are a stack, since a tree may be deep."""
        waiting = [self._solve(self.all, self.depth, below)]
        while waiting:
            wanted = next(waiting[-1], None)
            if wanted is None:
                waiting.pop()
            else:
                waiting.append(self._solve(*wanted))
        return self.part(self.all, self.depth)

    @property
    def depth(self) -> int:
        """The permitted levels of the whole tree."""
        return self.limits.max_depth if self.limits.max_depth < self.n - 1 else _NO_LIMIT

    def run(self, start: Branching | None, value: int) -> Found:
        """Search from a known consistent tree and its leaves, ``INF`` if none is known.

        The objective is ``INF`` if no tree was found within the limits; if ``lower`` is too, there is none.
        """
        root, most = self.part(self.all, self.depth), min(self.limits.max_leaves + 1, INF)
        stopped = ""
        try:
            self._bound(root, self.all, self.depth)
            for width in _WIDTHS:
                self.width, self.n_tries = width, 0
                self._run(min(most, value, root.value))
                self.is_counting = True
            self.width = None
            while root.lower < min(root.value, value, most):
                self._run(root.lower + 1)
        except Stopped as reason:
            stopped = str(reason)
        except KeyboardInterrupt as interrupt:
            if isinstance(interrupt, Terminated) or is_one_of_many() or min(value, root.value) >= INF:
                raise
            stopped = CTRL_C
        tree, n_leaves = self._tree() if root.value < min(value, most) else (start, value)
        return Found(tree, n_leaves, min(root.lower, n_leaves), self.n_solved, stopped)

    def _tree(self) -> tuple[Branching | None, int]:
        """The best tree that is known, and its leaves; sets may have become better since they were chosen."""
        nodes = [(self.all, self.depth)]
        children: list[int] = []
        for rows, depth in nodes:  # grows while it is read: parents before their children
            part = self.part(rows, depth)
            children.append(len(nodes))
            if part.place >= 0:
                deeper = depth if depth == _NO_LIMIT else depth - 1
                nodes += [(part.left, deeper), (rows ^ part.left, deeper)]
        trees: list[Branching | None] = [None] * len(nodes)
        n_leaves = 0
        for at in reversed(range(len(nodes))):
            part = self.part(*nodes[at])
            if part.place < 0:
                n_leaves += 1
                continue
            first = children[at]
            left, right = (self._table_rows(nodes[child][0]) for child in (first, first + 1))
            trees[at] = Branching(part.place, left, right, trees[first], trees[first + 1])
        return trees[0], n_leaves

    def _table_rows(self, rows: int) -> np.ndarray:
        """int32[m]: the rows of the table, ascending."""
        is_held = np.zeros(self.n, bool)
        is_held[_members(rows)] = True
        return np.flatnonzero(is_held[self.group]).astype(np.int32)


def _bits(mask: np.ndarray) -> int:
    """A set of rows from bool[n]."""
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")


def _members(rows: int) -> list[int]:
    """The rows of a set, ascending."""
    members = []
    while rows:
        lowest = rows & -rows
        members.append(lowest.bit_length() - 1)
        rows ^= lowest
    return members
