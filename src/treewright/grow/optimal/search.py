"""The best tree of a table, with a proof. In: ``Space``, ``Loss``, limits. Out: ``Found``.

The objective of a tree is the sum of its leaves' losses and of a price per leaf. A *subproblem* is some rows, the
levels and the leaves that a tree of them may have. Two levels are one call of a kernel (``pairs``). Above them
`Search.solve` branches over the tests of the rows and bounds as the kernel does:

- a set of rows never has a smaller objective than a part of it: two tried cuts of a column bound all between them;
- moving rows changes an objective by at most the sum of their largest losses, where these are bounded;
- rows that are equal in every column share a leaf, whose loss is a bound from the start;
- a subproblem that was solved is kept by its rows (as bits, compared as a whole), with its tree or its lower bound.

Before that, passes that try only the most promising tests of each node, 1, then 3, then 9, improve the incumbent: what
is found early prunes later, and a search that is stopped has a good tree.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from treewright.core import threads
from treewright.core.notices import is_one_of_many
from treewright.exceptions import Terminated
from treewright.grow.by_node.candidates import Candidate
from treewright.grow.optimal.bits import best_pair_of_bits, best_triple_of_bits, bit_space_of, promise_of_bits
from treewright.grow.optimal.losses import Loss, grain_of, weight_of
from treewright.grow.optimal.pairs import (
    CUT,
    FIRST_LEVELS,
    INF,
    ONE_LEVEL,
    STRETCHES,
    WITH_MISSING,
    Rules,
    best_pair,
    best_stump,
    divide,
    promise_of,
    promising_cuts,
    scratch_of,
    sum_rows,
)
from treewright.grow.optimal.space import Cells, Space

CTRL_C = "Ctrl-C"  # why a search was stopped
_NO_FLOORS = np.empty((0, STRETCHES), np.int64)
_MOST_KEPT = 2**29  # bytes of kept subproblems; beyond, all are forgotten, and found again where they are needed
_ODD = np.uint64(0x9E3779B97F4A7C15)  # makes digests of rows
_WIDTHS = (1, 3, 9)  # tests tried per node in the passes before the proof


class Stopped(Exception):  # noqa: N818 - the end of a search, not an error
    """The search has used up what it may use."""


@dataclass(frozen=True, eq=False)
class Branching:
    """A test of a tree that the search has found, and what follows on its two sides; None is a leaf.

    ``place``: of the ordered column, or after these of the nominal one. ``left_rows``, ``right_rows`` int32[m]. A tree
    that was known before has its own ``test``. ``open``: levels and leaves of a tree of which only this test is known;
    `Search.finished` finds the others.
    """

    place: int
    left_rows: np.ndarray
    right_rows: np.ndarray
    left: Branching | None
    right: Branching | None
    test: Candidate | None = None
    open: tuple[int, int] | None = None


@dataclass(eq=False)
class Node:
    """Rows of a subproblem: ``orders`` int32[q + 1, m], their loss as one leaf, a lower bound of any tree's loss.

    Where tests are bits, the rows are all that is kept: int32[1, m].
    """

    orders: np.ndarray
    leaf: int
    floor: int
    weight: int

    @property
    def rows(self) -> np.ndarray:
        """int32[m], ascending."""
        return self.orders[-1]

    def __len__(self) -> int:
        return self.orders.shape[1]


@dataclass(frozen=True, eq=False)
class Solved:
    """What is known about a subproblem.

    ``value``: objective of ``tree`` (None is a leaf), ``INF`` if no tree is known. No allowed tree has less than
    ``least``, no tree without limits of leaves less than ``lower``. ``floors`` int64[q + r, STRETCHES], of two levels:
    the same for each column of the root test and stretch of its cuts; else empty.
    """

    value: int
    least: int
    lower: int
    tree: Branching | None = None
    floors: np.ndarray = field(default_factory=lambda: _NO_FLOORS)


@dataclass(frozen=True, eq=False)
class Found:
    """The result of a search.

    Attributes
    ----------
    tree : Branching or None
        None is a single leaf.
    objective, lower : int
        In units of the loss.
    n_solved : int
        Subproblems solved.
    stopped : str
        Why the search ended early; empty if it ended with a proof.
    """

    tree: Branching | None
    objective: int
    lower: int
    n_solved: int
    stopped: str


@dataclass(frozen=True)
class Limits:
    """Limits of a tree and of the search.

    ``optimal_depth``: levels that are searched, the others are greedy; None is all. ``max_search`` counts subproblems,
    ``is_late`` tells whether to stop. ``listen``, if there is one, is called after each subproblem with their number,
    the objective of the best tree so far and the lower bound.
    """

    max_depth: int
    max_leaves: int
    optimal_depth: int | None = None
    min_rows: int = 1
    min_weight: int = 0
    price: int = 0
    max_search: int | None = None
    is_late: Callable[[], bool] | None = None
    listen: Callable[[int, int, int], None] | None = None


@dataclass(frozen=True, eq=False)
class _Lane:
    """The cuts of an ordered column at a node, or one test of levels, with so many leaves on either side.

    ``cuts`` int64[k]: rows on the left of each cut, or the level. ``moved`` int64[k]: the sum of their largest losses.
    ``first``: the most promising cut.
    """

    place: int
    kind: int
    leaves: tuple[int, int]
    cuts: np.ndarray
    moved: np.ndarray
    first: int = 0


class _Interval(NamedTuple):
    """Cuts between two that were tried, or the ends: ``bound`` of them all, relaxed objectives at both ends."""

    bound: int
    lane: int
    before: int
    after: int
    first_before: int
    second_before: int
    first_after: int
    second_after: int


class Search:
    """One search."""

    def __init__(self, space: Space, loss: Loss, limits: Limits, has_subsets: bool) -> None:
        self.space, self.loss, self.limits = space, loss, limits
        is_limited = limits.min_rows > 1 or limits.min_weight > 0
        self.rules = Rules(limits.price, limits.min_rows, limits.min_weight, is_limited, has_subsets)
        self.scratch = scratch_of(space.cells, loss)
        self.known: dict[tuple[bytes, int, int], Solved] = {}
        self.n_solved = self.n_kept = 0
        self.width: int | None = None
        n = len(loss.weights)
        self.mask = np.zeros(n, np.uint8)
        self.sums = np.zeros(loss.n_sums, np.int64)
        self.floors = floors_of(space.cells, loss)
        self.is_bounded = bool(loss.largest[0] >= 0)
        self.grain = grain_within(limits, loss)
        self.bits = None if is_limited else bit_space_of(space.cells, loss, limits.price, self.grain)
        self.root = self.node(space.orders if self.bits is None else space.orders[-1:])
        self.best, self.lower = Solved(INF, 0, 0), self.root.floor + self.rules.price

    def node(self, orders: np.ndarray) -> Node:
        """The node of these orders."""
        leaf = int(sum_rows(self.loss, orders[-1], self.sums))
        return Node(orders, leaf, int(self.floors[orders[-1]].sum()), int(weight_of(self.loss, self.sums)))

    def goes_left(self, node: Node, place: int, kind: int, number: int) -> np.ndarray:
        """uint8[n]: the rows of a node on the left of a test."""
        if self.bits is not None:  # a test is its position among the bits
            return self._mask_of(node.rows[self.bits.sides[place, node.rows]])
        if kind == CUT:
            return self._mask_of(node.orders[place, :number])
        at = place - self.space.n_ordered
        codes = self.space.cells.codes[at, node.rows]
        if kind == FIRST_LEVELS:
            held = self._first_levels(node.rows, codes, number)
        else:
            held = [number] + [int(self.space.cells.missing[at])] * (kind == WITH_MISSING)
        return self._mask_of(node.rows[np.isin(codes, held)])

    def _first_levels(self, rows: np.ndarray, codes: np.ndarray, number: int) -> list[int]:
        """The first levels in the order of their means, as the kernel ranks them."""
        present = np.unique(codes).tolist()
        means = []
        for code in present:
            sum_rows(self.loss, rows[codes == code], self.sums)
            means.append(float(self.sums[1]) / float(weight_of(self.loss, self.sums)))
        return [code for _, code in sorted(zip(means, present, strict=True))[:number]]

    def count(self) -> None:
        """Count a solved subproblem, and stop the search where it may take no more."""
        spend(self.limits, self.n_solved)
        self.n_solved += 1
        if self.limits.listen is not None:
            self.limits.listen(self.n_solved, self.best.value, min(self.lower, self.best.value))

    def goal(self, value: int) -> int:
        """A tree must have less than this to be better: less loss, if leaves cost next to nothing."""
        return value - value % self.grain

    def leaf(self, node: Node) -> Solved:
        """The node as a leaf."""
        own = node.leaf + self.rules.price
        is_allowed = len(node) >= self.rules.min_rows and node.weight >= self.rules.min_weight
        return Solved(own if is_allowed else INF, own if is_allowed else INF, own)

    def solve(self, node: Node, depth: int, leaves: int, below: int, floors: np.ndarray = _NO_FLOORS) -> Solved:
        """The best tree of some rows if its objective is less than ``below``; else at least a bound.

        ``floors``: as in ``Solved``, known from like rows.
        """
        leaf, price = self.leaf(node), self.rules.price
        # The fewest levels for so many leaves, and the most leaves of so many levels: each subproblem has one name.
        leaves = min(leaves, 1 << min(depth, 40))
        depth = min(depth, leaves - 1)
        if depth == 0 or len(node) < 2 or leaf.lower <= node.floor + price:
            return leaf
        least = node.floor + 2 * price  # of a tree with a test
        if min(leaf.value, below) <= least:
            return Solved(leaf.value, min(leaf.value, least), min(leaf.lower, least))
        key = (np.packbits(self._mask_of(node.rows)).tobytes(), depth, leaves)
        known = self.known.get(key) or Solved(leaf.value, min(leaf.value, least), min(leaf.lower, least))
        if known.least >= min(below, self.goal(known.value)):
            return known
        self.count()
        if self.bits is not None and (depth <= 2 or leaves == 3 or (depth == 3 and leaves == 8)):
            solved = self._by_bits(node, depth, leaves, below, known)
        elif depth == 1:
            solved = self._by_stump(node, leaf)
        elif depth == 2 or leaves == 3:
            solved = self._by_pair(node, leaves, below, leaf, floors)
        elif self.width is not None:
            solved = self._by_promise(node, depth, leaves, known)
        else:
            solved = self._by_bounds(node, depth, leaves, below, known)
        self.n_kept += len(key[0]) + 4 * len(node) + 8 * solved.floors.size
        if self.n_kept > _MOST_KEPT:
            self.known.clear()
            self.n_kept = 0
        self.known[key] = solved
        return solved

    def _mask_of(self, rows: np.ndarray) -> np.ndarray:
        """uint8[n]: 1 for some rows; the memory is used again."""
        self.mask[:] = 0
        self.mask[rows] = 1
        return self.mask

    # One and two levels: kernels.

    def _stump(self, node: Node, leaf: Solved) -> tuple[Solved, tuple[int, int, int]]:
        """The best tree of one level but for its tree, and place, kind and number of its test; place -1 is a leaf."""
        found = np.empty(5, np.int64)
        best_stump(self.space.cells, self.loss, self.rules, node.orders, self.scratch, found)
        value, relaxed, place, kind, number = found.tolist()
        value, lower = min(value + 2 * self.rules.price, INF), min(leaf.lower, relaxed + 2 * self.rules.price)
        if value >= leaf.value:
            return Solved(leaf.value, leaf.value, lower), (-1, 0, 0)
        return Solved(value, value, lower), (place, kind, number)

    def _by_stump(self, node: Node, leaf: Solved) -> Solved:
        stump, test = self._stump(node, leaf)
        return replace(stump, tree=self._with_leaves(node, test))

    def _with_leaves(self, node: Node, test: tuple[int, int, int]) -> Branching | None:
        """A test with two leaves, or a leaf."""
        return None if test[0] < 0 else Branching(test[0], *self._sides(node, *test), None, None)

    def _by_pair(self, node: Node, leaves: int, below: int, leaf: Solved, floors: np.ndarray) -> Solved:
        stump, test = self._stump(node, leaf)
        best = np.array([min(below, stump.value), stump.lower + self.rules.price, -1, 0, 0], np.int64)
        floors = floors.copy() if len(floors) else np.zeros((len(self.scratch.tried), STRETCHES), np.int64)
        best_pair(self.space.cells, self.loss, self.rules, node.orders, self.scratch, leaves, floors, best)
        value, relaxed, place, kind, number = best.tolist()
        lower = min(stump.lower, relaxed)
        if place < 0:
            return Solved(stump.value, value, lower, self._with_leaves(node, test), floors)
        rows = self._sides(node, place, kind, number)
        return Solved(value, value, lower, Branching(place, *rows, None, None, open=(2, leaves)), floors)

    def _by_bits(self, node: Node, depth: int, leaves: int, below: int, known: Solved) -> Solved:
        """Up to three levels where all tests are bits."""
        assert self.bits is not None  # noqa: S101 - for the type checker
        bits, n_tests = self.bits.of(node.rows), len(self.bits.names)
        if depth == 3:
            two = self._by_bits(node, 2, 4, below, known)
            best = np.array([min(two.value, below), -1, 0, 0], np.int64)
            best_triple_of_bits(bits, below, best)
            value, at = best[:2].tolist()
            if at < 0:
                least = min(self.goal(two.value), below)
                return replace(two, least=least, lower=least)
            least = self.goal(value)
        else:
            best = np.empty(2, np.int64)
            best_pair_of_bits(bits, leaves, best)
            value, at = best.tolist()
            if at < 0:
                return Solved(value, value, value)
            least = value
        is_alone = at >= n_tests
        test = at - n_tests if is_alone else at
        further = None if is_alone else (depth, leaves)
        place = self.bits.names[test][0]
        tree = Branching(place, *self._sides(node, test, CUT, 0), None, None, open=further)
        return Solved(value, least, least, tree)

    def finished(self, tree: Branching | None) -> Branching | None:
        """A tree with all its tests; deeper than the limit of levels it never goes."""
        if tree is None:
            return None
        if tree.open is None:
            return replace(tree, left=self.finished(tree.left), right=self.finished(tree.right))
        depth, leaves = tree.open
        sides = [self._parts(self.root, self._mask_of(rows))[0] for rows in (tree.left_rows, tree.right_rows)]
        ways = [(1, 2), (2, 1)] if leaves == 3 else [(leaves // 2, leaves // 2)]
        solved = [
            [self.solve(side, depth - 1, n, INF) for side, n in zip(sides, way, strict=True)] for way in ways
        ]  # fmt: skip
        first, second = min(solved, key=lambda pair: pair[0].value + pair[1].value)
        return replace(tree, left=self.finished(first.tree), right=self.finished(second.tree), open=None)

    def _sides(self, node: Node, place: int, kind: int, number: int) -> tuple[np.ndarray, np.ndarray]:
        """The rows on either side of a test."""
        goes_left = self.goes_left(node, place, kind, number)[node.rows].astype(bool)
        return node.rows[goes_left], node.rows[~goes_left]

    def _parts(self, node: Node, goes_left: np.ndarray) -> tuple[Node, Node]:
        """The rows of a node on the left (uint8[n]), and the others."""
        n_left, q = int(goes_left[node.rows].sum()), len(node.orders)
        left, right = np.empty((q, n_left), np.int32), np.empty((q, len(node) - n_left), np.int32)
        divide(node.orders, goes_left, left, right)
        return self.node(left), self.node(right)

    # More levels.

    def _lanes(self, node: Node, depth: int, leaves: int) -> list[_Lane]:
        """Every test of a node, the most promising first, with every way to give its leaves to the two sides."""
        most = 1 << min(depth - 1, 40)
        ways = [(left, leaves - left) for left in range(max(1, leaves - most), min(most, leaves - 1) + 1)]
        if leaves >= 2 * most:
            ways = [(most, most)]
        ways.sort(key=lambda way: abs(way[0] - way[1]))
        if self.bits is not None:
            scored = zip(promise_of_bits(self.bits.of(node.rows)).tolist(), range(len(self.bits.names)), strict=True)
            once = np.zeros(1, np.int64)
            return [_Lane(test, CUT, way, once, once) for score, test in sorted(scored) if score <= 0.0 for way in ways]
        cells, q = self.space.cells, self.space.n_ordered
        lanes: list[tuple[float, _Lane]] = []
        scores, promising = np.full(q, -1.0), np.zeros(q, np.int64)
        promising_cuts(cells, self.loss, node.orders, self.scratch, scores, promising)
        for place in np.flatnonzero(scores >= 0.0).tolist():
            order = node.orders[place]
            ranks = cells.ranks[place, order]
            cuts = np.flatnonzero(ranks[1:] != ranks[:-1]) + 1
            moved = np.cumsum(self.loss.largest[order])[cuts - 1] if self.is_bounded else np.zeros(len(cuts), np.int64)
            first = int(np.searchsorted(cuts, promising[place]))
            lanes += [(-scores[place], _Lane(place, CUT, way, cuts, moved, first)) for way in ways]
        for at in range(len(cells.codes)):
            for kind, level, score in self._tests_of_levels(node, at):
                one, none = np.array([level]), np.zeros(1, np.int64)
                lanes += [(-score, _Lane(q + at, kind, way, one, none)) for way in ways]
        lanes.sort(key=lambda lane: lane[0])
        return [lane for _, lane in lanes]

    def _place(self, lane: _Lane) -> int:
        """The place of a lane's column."""
        return lane.place if self.bits is None else self.bits.names[lane.place][0]

    def _tests_of_levels(self, node: Node, at: int) -> list[tuple[int, int, float]]:
        """The tests of one level of a nominal column against the rest, with their promise."""
        cells, rows = self.space.cells, node.rows
        gone = int(cells.missing[at])
        codes = cells.codes[at, rows]
        tests = []
        for level in np.unique(codes).tolist():
            here = codes == level
            tests.append((ONE_LEVEL, level, here))
            if gone >= 0 and level != gone and (codes == gone).any():
                tests.append((WITH_MISSING, level, here | (codes == gone)))
        scored = []
        for kind, level, here in tests:
            if 0 < here.sum() < len(rows):
                scored.append((kind, level, promise_of(self.loss, rows[here], rows[~here], self.scratch)))
        return scored

    def _by_promise(self, node: Node, depth: int, leaves: int, known: Solved) -> Solved:
        """A good tree: of the most promising tests only."""
        best = known
        for lane in self._lanes(node, depth, leaves)[: self.width]:
            first, second = self._parts(node, self.goes_left(node, lane.place, lane.kind, int(lane.cuts[lane.first])))
            one = self.solve(first, depth - 1, lane.leaves[0], best.value)
            if one.value >= best.value:
                continue
            other = self.solve(second, depth - 1, lane.leaves[1], best.value - one.value)
            if one.value + other.value < best.value:
                tree = Branching(self._place(lane), first.rows, second.rows, one.tree, other.tree)
                best = replace(known, value=one.value + other.value, tree=tree)
                self._note(node, best)
        return best

    def _by_bounds(self, node: Node, depth: int, leaves: int, below: int, known: Solved) -> Solved:
        """The best tree: tests are tried, the least bound first, until no bound is below the incumbent."""
        best, leaf = known, self.leaf(node)
        lower = leaf.lower  # of the relaxed objective of a leaf and of all tests that were tried
        if self.rules.has_subsets and len(self.space.cells.codes) and self.bits is None:
            # The lanes have no sets of levels: a single test of one is a tree of its own.
            stump = self._by_stump(node, leaf)
            lower = min(lower, stump.lower)
            if stump.value < best.value:
                best = Solved(stump.value, known.least, known.lower, stump.tree)
                self._note(node, best)
        lanes = self._lanes(node, depth, leaves)
        intervals = [_Interval(known.lower, at, -1, len(lane.cuts), 0, known.lower, known.lower, 0)
                     for at, lane in enumerate(lanes)]  # fmt: skip
        heapq.heapify(intervals)
        floors: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}  # of both sides, by lane and cut
        while intervals:
            if node is self.root:
                self.lower = min(intervals[0].bound, lower, best.value)
            ends = heapq.heappop(intervals)
            end = min(below, self.goal(best.value))
            if ends.bound >= end:
                break
            lane = lanes[ends.lane]
            lo, hi = _open_cuts(lane.moved, ends, end, self.is_bounded)
            if lo > hi:
                continue
            is_new = ends.before < 0 and ends.after == len(lane.cuts)
            at = (lo + hi) // 2 if not is_new else min(max(lane.first, lo), hi)
            first, second = self._parts(node, self.goes_left(node, lane.place, lane.kind, int(lane.cuts[at])))
            lowers = self._bounds_at(lane, ends, at)
            slack = int(lane.moved[hi] - lane.moved[lo]) // 4 if self.is_bounded else 0
            known_floors = self._floors_at(lane, ends, at, floors)
            value, tree, floors[ends.lane, at] = self._tried(
                lane, depth, (first, second), lowers, known_floors, end, slack
            )
            lower = min(lower, sum(lowers))
            if value < best.value:
                best = Solved(value, known.least, known.lower, tree)
                self._note(node, best)
            for part in (
                _Interval(
                    ends.first_before + lowers[1], ends.lane, ends.before, at, ends.first_before, ends.second_before,
                    lowers[0], lowers[1],
                ),
                _Interval(
                    lowers[0] + ends.second_after, ends.lane, at, ends.after, lowers[0], lowers[1], ends.first_after,
                    ends.second_after,
                ),
            ):  # fmt: skip
                if part.after - part.before > 1:
                    heapq.heappush(intervals, part)
        end = min(below, self.goal(best.value))
        return Solved(best.value, max(known.least, end), max(known.lower, min(end, lower)), best.tree)

    def _bounds_at(self, lane: _Lane, ends: _Interval, at: int) -> list[int]:
        """Lower bounds of the relaxed objectives of both sides of a cut, by the tried cuts around it."""
        first, second = ends.first_before, ends.second_after
        if self.is_bounded and ends.after < len(lane.cuts):
            first = max(first, ends.first_after - int(lane.moved[ends.after] - lane.moved[at]))
        if self.is_bounded and ends.before >= 0:
            second = max(second, ends.second_before - int(lane.moved[at] - lane.moved[ends.before]))
        return [first, second]

    def _floors_at(
        self, lane: _Lane, ends: _Interval, at: int, floors: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Lower bounds of both sides of a cut for each column of their root tests; see ``_bounds_at``."""
        before = floors.get((ends.lane, ends.before), (_NO_FLOORS, _NO_FLOORS))
        after = floors.get((ends.lane, ends.after), (_NO_FLOORS, _NO_FLOORS))
        first, second = before[0], after[1]
        if self.is_bounded and len(after[0]):
            moved = after[0] - (lane.moved[ends.after] - lane.moved[at])
            first = np.maximum(first, moved) if len(first) else moved
        if self.is_bounded and len(before[1]):
            moved = before[1] - (lane.moved[at] - lane.moved[ends.before])
            second = np.maximum(second, moved) if len(second) else moved
        return first, second

    def _tried(
        self, lane: _Lane, depth: int, sides: tuple[Node, Node], lowers: list[int],
        floors: tuple[np.ndarray, np.ndarray], end: int, slack: int,
    ) -> tuple[int, Branching | None, tuple[np.ndarray, np.ndarray]]:  # fmt: skip
        """The best tree with a test if its objective is less than ``end``; raises the bounds of both sides.

        The larger side first: its bound is the more telling. ``slack`` asks for more than is needed, so that the bounds
        exclude more cuts nearby.
        """
        found: list[Solved | None] = [None, None]
        own_floors = list(floors)
        large = int(len(sides[1]) > len(sides[0]))
        for one, other in ((large, 1 - large), (1 - large, large)):
            known = found[other]
            taken = lowers[other] if known is None else known.least
            if max(taken, lowers[other]) + lowers[one] >= end:
                return INF, None, (own_floors[0], own_floors[1])
            solved = self.solve(sides[one], depth - 1, lane.leaves[one], end - taken + slack, floors[one])
            lowers[one] = max(lowers[one], solved.lower)
            found[one] = solved
            own_floors[one] = solved.floors if len(solved.floors) else floors[one]
        first, second = found
        if first is None or second is None or first.value + second.value >= end:
            return INF, None, (own_floors[0], own_floors[1])
        tree = Branching(self._place(lane), sides[0].rows, sides[1].rows, first.tree, second.tree)
        return first.value + second.value, tree, (own_floors[0], own_floors[1])

    def _note(self, node: Node, best: Solved) -> None:
        """Keep the best tree of the whole table, for a search that is stopped."""
        if node is self.root and best.value < self.best.value:
            self.best = best

    # The whole.

    def run(self, start: Branching | None, value: int) -> Found:
        """Search from a known tree and its objective."""
        leaf = self.leaf(self.root)
        self.best = Solved(value, 0, 0, start) if value <= leaf.value else Solved(leaf.value, 0, 0)
        depth, leaves = self.limits.max_depth, self.limits.max_leaves
        stopped = ""
        try:
            for width in (*_WIDTHS, None):
                self.width = width
                solved = self.solve(self.root, depth, leaves, self.goal(self.best.value))
                if solved.value < self.best.value:
                    self.best = solved
                if solved.least >= self.goal(self.best.value):
                    self.lower = self.best.value
                    break
        except (Stopped, KeyboardInterrupt) as end:
            stopped = why_stopped(end)
        self.limits = replace(self.limits, max_search=None, is_late=None, listen=None)
        lower = self.best.value if self.lower >= self.goal(self.best.value) else self.lower
        n_solved, tree = self.n_solved, self.finished(self.best.tree)
        return Found(tree, self.best.value, lower, n_solved, stopped)


def floors_of(cells: Cells, loss: Loss) -> np.ndarray:
    """int64[n]: losses that no tree avoids, of rows that are equal in every column; at the first of each."""
    table, sums = np.concatenate([cells.ranks, cells.codes]), np.zeros(loss.n_sums, np.int64)
    digests = np.zeros(table.shape[1], np.uint64)
    for column in table:  # rows of two digests that are equal by chance part others, which weakens the bound
        digests = digests * _ODD + column.astype(np.uint64)
    order = np.argsort(digests, kind="stable").astype(np.int32)
    is_new = np.ones(len(order), bool)
    is_new[1:] = (table[:, order[1:]] != table[:, order[:-1]]).any(axis=0)
    starts = np.flatnonzero(is_new)
    target = (loss.labels if len(loss.labels) else loss.first)[order]
    is_mixed = np.minimum.reduceat(target, starts) < np.maximum.reduceat(target, starts)
    ends = np.append(starts[1:], len(order))
    floors = np.zeros(len(order), np.int64)
    for start, end in zip(starts[is_mixed].tolist(), ends[is_mixed].tolist(), strict=True):
        floors[order[start]] = sum_rows(loss, order[start:end], sums)
    return floors


def grain_within(limits: Limits, loss: Loss) -> int:
    """By how much a tree must have less loss to be better: 1 if leaves have a price."""
    grain = grain_of(loss) if limits.price <= 1 else 1  # a price is to be paid, 1 unit only prefers
    return grain if min(len(loss.weights), limits.max_leaves) < grain else 1


def spend(limits: Limits, n_solved: int) -> None:
    """Stop a search that has solved so many subproblems if it may take no more."""
    if limits.max_search is not None and n_solved >= limits.max_search:
        raise Stopped(f"max_search={limits.max_search}")
    if limits.is_late is not None and limits.is_late():
        raise Stopped("time_limit")
    threads.heed()


def why_stopped(end: Stopped | KeyboardInterrupt) -> str:
    """What stopped a search; Ctrl-C that is meant for more than the search is raised again."""
    if isinstance(end, Stopped):
        return str(end)
    if isinstance(end, Terminated) or is_one_of_many():
        raise end
    return CTRL_C


def _open_cuts(moved: np.ndarray, ends: _Interval, end: int, is_bounded: bool) -> tuple[int, int]:
    """The first and the last cut of an interval that may be better than ``end``."""
    lo, hi = ends.before + 1, ends.after - 1
    if is_bounded and ends.before >= 0:
        surplus = ends.first_before + ends.second_before - end
        lo = max(lo, int(np.searchsorted(moved, moved[ends.before] + surplus, "right")))
    if is_bounded and ends.after < len(moved):
        surplus = ends.first_after + ends.second_after - end
        hi = min(hi, int(np.searchsorted(moved, moved[ends.after] - surplus, "left")) - 1)
    return lo, hi
