"""The smallest consistent tree. In: ``Space``, class codes, limits. Out: ``Found``, whose objective counts leaves.

A tree is consistent if each of its leaves holds rows of one class. Rows that are equal in every column are one row
here; a subproblem is a set of them, kept as bits with the bounds of its leaves and the levels that its tree may have.
The fewest leaves of a set are 1 if it is pure, else the least sum of both sides over all tests. No set needs fewer
leaves than

- it has classes;
- a part of it needs. So a tried cut of a column bounds the cuts above it by its left side, and those below it by its
  right side: with a limit of leaves few cuts of a column are tried;
- the largest group of its rows of which no two can share a leaf. Two rows of one class cannot if every leaf that holds
  both holds a row of another class: one that is between the two in every column.

Passes that try only the most promising tests come first, as in ``search``; then the permitted number of leaves rises
from the lower bound until a tree is found, which proves it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treewright.core import threads
from treewright.core.jit import costs, kernel
from treewright.core.notices import is_one_of_many
from treewright.exceptions import Terminated
from treewright.grow.objective import xlogx_table
from treewright.grow.optimal.pairs import INF
from treewright.grow.optimal.search import CTRL_C, Branching, Found, Limits, Stopped
from treewright.grow.optimal.space import Space

_WIDTHS = (1, 3)  # tests tried per set in the passes before the proof
_MOST_TRIES = 1_000  # sets of each pass that are counted: more rarely find a smaller tree before the proof does
_MOST_APART = 1_000  # rows of which a group without a common leaf is searched: it takes pairs x columns x words
_MOST_KEPT = 2**29  # bytes of kept sets; beyond, all are forgotten, and found again where they are needed
_BYTES = 300  # of a kept set without its rows
_NO_LIMIT = -1


@dataclass(eq=False, slots=True)
class _Part:
    """What is known of a set of rows whose tree may have so many levels: bounds of its leaves, and its best test.

    ``rows``: as bits. ``sides``: of that test, whose column is ``place``.
    """

    rows: bytes
    depth: int
    lower: int
    value: int
    place: int = -1
    sides: tuple[_Part, _Part] | None = None
    is_bounded: bool = False
    width: int = 0  # of the last pass that tried the set


_Wanted = Iterator[tuple[_Part, int]]  # sets, and the leaves that a tree of each must have fewer than


class _Lane(NamedTuple):
    """A column's cuts, or one test of levels, at a set of m rows.

    ``order`` int[m]: the rows by their ranks, or those of the levels first. ``cuts`` int[k]: how many go left,
    ascending. ``impurity``: the least of a cut, ``first``.
    """

    impurity: int
    place: int
    order: np.ndarray
    cuts: np.ndarray
    first: int


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


@costs(lambda cells, *_rest: float(len(cells)) * cells.shape[1] ** 2)
@kernel
def find_apart(
    cells: np.ndarray, orders: np.ndarray, n_ordered: int, labels: np.ndarray, others: np.ndarray, below: np.ndarray,
    upto: np.ndarray, apart: np.ndarray,
) -> None:  # fmt: skip
    """Set ``apart`` uint8[m, m] to 1 for each two rows that cannot share a pure leaf.

    ``cells`` int32[p, m], of which ``n_ordered`` are ranks, the others levels; ``orders`` int[p, m] sorts them.
    ``labels`` int[m]. Rows as bits: ``others`` uint64[c, w], those of other classes. Memory: ``below``, ``upto``
    uint64[p, m, w]: the rows with a lower cell than each row, and those with no higher one, or with the same level.
    """
    m, w = len(labels), others.shape[1]
    for place in range(len(cells)):
        order, start = orders[place], 0
        for end in range(1, m + 1):
            if end < m and cells[place, order[end]] == cells[place, order[start]]:
                continue
            first = upto[place, order[start]]
            for at in range(w):
                lower = upto[place, order[start - 1], at] if start and place < n_ordered else np.uint64(0)
                below[place, order[start], at] = first[at] = lower
            for k in range(start, end):
                first[order[k] >> 6] |= np.uint64(1) << np.uint64(order[k] & 63)
            for k in range(start + 1, end):
                for at in range(w):
                    below[place, order[k], at] = below[place, order[start], at]
                    upto[place, order[k], at] = first[at]
            start = end
    for i in range(m):
        for j in range(i):
            is_apart = labels[i] != labels[j]
            for at in range(w):
                if is_apart:
                    break
                between = others[labels[i], at]
                for place in range(len(cells)):
                    if not between:
                        break
                    if place < n_ordered:
                        low, high = (i, j) if cells[place, i] < cells[place, j] else (j, i)
                        between &= upto[place, high, at] & ~below[place, low, at]
                    else:
                        between &= upto[place, i, at] | upto[place, j, at]
                is_apart = between != 0
            if is_apart:
                apart[i, j] = apart[j, i] = 1


def fewest_leaves(cells: np.ndarray, n_ordered: int, labels: np.ndarray) -> int:
    """A lower bound of the leaves of rows: how many were found of which no two can share a pure leaf.

    ``cells`` int32[p, m], of which ``n_ordered`` are ranks, the others levels; ``labels`` int[m].
    """
    m = len(labels)
    words = np.zeros((int(labels.max()) + 1, -(-m // 64) * 64), bool)
    words[:, :m] = labels != np.arange(len(words))[:, None]
    others = np.packbits(words, axis=1, bitorder="little").view(np.uint64)
    below, upto = np.empty((2, len(cells), m, others.shape[1]), np.uint64)
    apart = np.zeros((m, m), np.uint8)
    orders = np.argsort(cells, axis=1, kind="stable")
    find_apart(cells, orders, n_ordered, labels, others, below, upto, apart)
    is_free, n_chosen = np.ones(m, bool), 0
    for row in np.argsort(-apart.sum(axis=1, dtype=np.int64), kind="stable"):
        if is_free[row]:
            n_chosen += 1
            is_free &= apart[row].astype(bool)
    return n_chosen


class SmallestSearch:
    """One search, for rows without contradictions; ``labels`` int[n].

    ``has_subsets``: whether there are two classes, so that the last test above leaves may be any set of levels.
    """

    def __init__(self, space: Space, labels: np.ndarray, limits: Limits, has_subsets: bool) -> None:
        self.space, self.limits, self.has_subsets = space, limits, has_subsets
        first, self.group = _groups(space)
        self.n = len(first)
        self.labels = np.ascontiguousarray(labels[first], np.int64)
        self.cells = np.concatenate([space.cells.ranks, space.cells.codes])[:, first]
        self.is_class = np.zeros((self.n, int(labels.max()) + 1), np.int64)
        self.is_class[np.arange(self.n), self.labels] = 1
        self.entropies = xlogx_table(self.n)[0]
        self.parts: dict[tuple[bytes, int], _Part] = {}
        self.width: int | None = None
        self.is_counting = False
        self.n_solved = self.n_tries = 0
        self.root = self._part(np.arange(self.n), limits.max_depth if limits.max_depth < self.n - 1 else _NO_LIMIT)

    def _rows(self, part: _Part) -> np.ndarray:
        """int64[m]: the rows of a set, ascending."""
        return np.flatnonzero(np.unpackbits(np.frombuffer(part.rows, np.uint8), count=self.n))

    def _part(self, rows: np.ndarray, depth: int) -> _Part:
        """What is known of a set of rows if its tree may have so many levels."""
        is_held = np.zeros(self.n, bool)
        is_held[rows] = True
        bits = np.packbits(is_held).tobytes()
        known = self.parts.get((bits, depth))
        if known is None:
            if len(self.parts) * (_BYTES + len(bits)) > _MOST_KEPT:
                self.parts.clear()
            n_classes = int(self.is_class[rows].any(axis=0).sum())
            lower = INF if n_classes > 1 and depth == 0 else n_classes
            known = self.parts[bits, depth] = _Part(bits, depth, lower, 1 if n_classes == 1 else INF)
        return known

    # The tests of a set.

    def _lanes(self, rows: np.ndarray) -> list[_Lane]:
        """Every test, the least impurity first."""
        labels = self.is_class[rows]
        total = labels.sum(axis=0)
        lanes = []
        for place, ranks in enumerate(self.cells[: self.space.n_ordered, rows]):
            order = np.argsort(ranks, kind="stable")
            cuts = np.flatnonzero(np.diff(ranks[order])) + 1
            if len(cuts):
                left = np.cumsum(labels[order], axis=0)[cuts - 1]
                impurities = self._impurity(left) + self._impurity(total - left)
                first = int(np.argmin(impurities))
                lanes.append(_Lane(int(impurities[first]), place, rows[order], cuts, first))
        for at, codes in enumerate(self.cells[self.space.n_ordered :, rows]):
            gone = int(self.space.cells.missing[at])
            for level in np.unique(codes).tolist():
                joined = [codes == level]
                if gone >= 0 and level != gone:
                    joined.append(joined[0] | (codes == gone))
                for goes_left in joined:
                    cut = int(goes_left.sum())
                    if cut < len(rows):
                        left = labels[goes_left].sum(axis=0)
                        impurity = int(self._impurity(left) + self._impurity(total - left))
                        order = np.concatenate([rows[goes_left], rows[~goes_left]])
                        lanes.append(_Lane(impurity, self.space.n_ordered + at, order, np.array([cut]), 0))
        lanes.sort(key=lambda lane: lane.impurity)
        if self.has_subsets and lanes and lanes[0].impurity > 0:
            lanes = self._sets_of_levels(rows) or lanes
        return lanes

    def _impurity(self, counts: np.ndarray) -> np.ndarray:
        """The entropy of counts int64[..., c], times their sum."""
        held: np.ndarray = self.entropies[counts.sum(axis=-1)] - self.entropies[counts].sum(axis=-1)
        return held

    def _sets_of_levels(self, rows: np.ndarray) -> list[_Lane]:
        """The first set of levels that separates two classes: two leaves, so that no other test is better."""
        is_first = self.labels[rows] == 0
        for at, codes in enumerate(self.cells[self.space.n_ordered :, rows]):
            if not len(np.intersect1d(codes[is_first], codes[~is_first])):
                order = np.concatenate([rows[is_first], rows[~is_first]])
                cuts = np.array([int(is_first.sum())])
                return [_Lane(0, self.space.n_ordered + at, order, cuts, 0)]
        return []

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

    def _solve(self, part: _Part, below: int) -> _Wanted:
        """Find the best tree of a set if it has fewer leaves than ``below``; yields the sets to solve before."""
        if part.lower >= min(below, part.value):
            return
        if self.width is None:
            self._count()
            self._bound(part)
            if part.lower < min(below, part.value):
                yield from self._by_bounds(part, below)
        elif part.width != self.width and self.n_tries < _MOST_TRIES:
            self._count()
            part.width, self.n_tries = self.width, self.n_tries + self.is_counting
            for lane in self._lanes(self._rows(part))[: self.width]:
                yield from self._tried(part, lane, lane.first, below)
                if part.value <= part.lower:
                    return

    def _by_bounds(self, part: _Part, below: int) -> _Wanted:
        """Try tests until no other can have fewer leaves than ``below`` or the best known tree."""
        least = INF
        for lane in self._lanes(self._rows(part)):
            # Cuts between two that were tried, or the ends: bounds of the left side of the one, the right of the other.
            waiting = [(-1, len(lane.cuts), 1, 1)]
            while waiting:
                before, after, of_left, of_right = waiting.pop()
                if after - before < 2:
                    continue
                if of_left + of_right >= min(below, part.value):
                    least = min(least, of_left + of_right)
                    continue
                at = lane.first if before < 0 and after == len(lane.cuts) else (before + after) // 2
                left, right = yield from self._tried(part, lane, at, below, (of_left, of_right))
                if part.value <= part.lower:
                    return
                least = min(least, left.lower + right.lower)
                waiting += [(before, at, of_left, right.lower), (at, after, left.lower, of_right)]
        part.lower = max(part.lower, min(least, part.value))

    def _tried(
        self, part: _Part, lane: _Lane, at: int, below: int, lowers: tuple[int, int] = (1, 1)
    ) -> Generator[tuple[_Part, int], None, tuple[_Part, _Part]]:
        """The best tree with a test, if it has fewer leaves than ``below``; ``lowers``: bounds of its sides.

        The larger side first: its bound is the more telling.
        """
        cut, deeper = int(lane.cuts[at]), part.depth - (part.depth != _NO_LIMIT)
        left, right = sides = self._part(lane.order[:cut], deeper), self._part(lane.order[cut:], deeper)
        for side, lower in zip(sides, lowers, strict=True):
            side.lower = max(side.lower, min(lower, side.value))
        in_turn = ((right, left), (left, right)) if 2 * cut < len(lane.order) else ((left, right), (right, left))
        for side, other in in_turn:
            room = min(below, part.value) - other.lower
            if side.lower >= room:
                break
            if side.lower < side.value:
                yield side, room
        if left.value + right.value < part.value:
            part.value, part.place, part.sides = left.value + right.value, lane.place, sides
        return sides

    def _bound(self, part: _Part) -> None:
        """Raise the lower bound of a set by rows that cannot share a leaf."""
        if part.is_bounded:
            return
        part.is_bounded = True
        rows = self._rows(part)
        rows = rows[:: -(-len(rows) // _MOST_APART)]
        n_leaves = fewest_leaves(np.ascontiguousarray(self.cells[:, rows]), self.space.n_ordered, self.labels[rows])
        part.lower = max(part.lower, min(n_leaves, part.value))
        if 0 <= part.depth < 60 and part.lower > 1 << part.depth:
            part.lower = INF

    def _run(self, below: int) -> None:
        """Solve the whole table; the sets that wait are a stack, since a tree may be deep."""
        waiting = [self._solve(self.root, below)]
        while waiting:
            wanted = next(waiting[-1], None)
            if wanted is None:
                waiting.pop()
            else:
                waiting.append(self._solve(*wanted))

    def run(self, start: Branching | None, value: int) -> Found:
        """Search from a known consistent tree and its leaves, ``INF`` if none is known.

        The objective is ``INF`` if no tree was found within the limits; if ``lower`` is too, there is none.
        """
        root, most = self.root, min(self.limits.max_leaves + 1, INF)
        stopped = ""
        self.is_counting = value < INF  # without a tree the first pass, which finds one, is not stopped
        try:
            self._bound(root)
            for width in _WIDTHS:
                self.width, self.n_tries = width, 0
                self._run(min(most, value, root.value))
                self.is_counting = True
            self.width, self.is_counting = None, True
            while root.lower < min(root.value, value, most):
                self._run(root.lower + 1)
        except Stopped as reason:
            stopped = str(reason)
        except KeyboardInterrupt as interrupt:
            if isinstance(interrupt, Terminated) or is_one_of_many() or min(root.value, value) >= most:
                raise
            stopped = CTRL_C
        tree, n_leaves = self._tree() if root.value < min(value, most) else (start, value)
        return Found(tree, n_leaves, min(root.lower, n_leaves), self.n_solved, stopped)

    def _tree(self) -> tuple[Branching | None, int]:
        """The best tree that is known, and its leaves; sets may have become better since they were chosen."""
        parts = [self.root]
        children: list[int] = []
        for part in parts:  # grows while it is read: parents before their children
            children.append(len(parts))
            parts += part.sides or ()
        trees: list[Branching | None] = [None] * len(parts)
        for at in reversed(range(len(parts))):
            part = parts[at]
            if part.sides is not None:
                left, right = map(self._table_rows, part.sides)
                first = children[at]
                trees[at] = Branching(part.place, left, right, trees[first], trees[first + 1])
        return trees[0], sum(part.sides is None for part in parts)

    def _table_rows(self, part: _Part) -> np.ndarray:
        """int32[m]: the rows of the table, ascending."""
        is_held = np.zeros(self.n, bool)
        is_held[self._rows(part)] = True
        return np.flatnonzero(is_held[self.group]).astype(np.int32)
