"""All trees within a budget (a Rashomon set). In: a ``Search``, a budget. Out: ``NearOptimal``: how many, and which.

A *family* is the trees of some rows, within levels, leaves and a budget: perhaps the single leaf, the *stumps* (one
test), and for each further test a *fork*: any tree of the family of one side with any tree of that of the other. The
search has the least objective of each side, so that a test is a fork only if some tree with it is within the budget,
and what one side needs at least is what the budget of the other lacks. A family counts its trees by leaves and
objective; families of equal rows are one (Xin et al. 2022 count and keep the trees of binary tables so).

Two trees are different if at some node their tests are of different columns or divide the rows differently; a cut
between two neighbouring values of the rows is one test. A stump that has no less loss than its rows as a leaf is not
counted: with such tests every tree would have longer copies of itself.

Nothing lists the trees of the whole table: the sides of each fork are counted against each other, and only the best
trees are built. Among trees of numbers most differ by a threshold alone. An *arrangement* is the columns of all tests,
a parent before its left side and that before its right one, -1 for a leaf; each has its own best tree and count.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, islice
from typing import NamedTuple

import numpy as np

from treewright.core.jit import kernel
from treewright.grow.optimal.losses import COST, add_row, leaf_loss, weight_of
from treewright.grow.optimal.pairs import INF, is_leaf, sum_rows
from treewright.grow.optimal.search import Branching, Node, Search, Stopped
from treewright.grow.optimal.space import MISSING_LAST, NO_MISSING

_ROUNDING = 32  # units of the loss by which equal losses of a leaf may differ: 2**-45 of the loss of the table
MOST_KEPT = 5_000_000  # stumps, forks and objectives of all families: about a gigabyte
_MOST_ARRANGED = 100_000  # arrangements of a family; if there are more, the best ones are found without the others
_STEPS = 1000  # additions of objectives that count as a subproblem


class TooMuchError(Exception):
    """The families do not fit in the memory that they may use."""


class _TooManyError(Exception):
    """There are too many arrangements to list them all."""


class RowTest(NamedTuple):
    """A test of some rows: the place of its column (see ``Space``), and what is on the left.

    ``left`` int: the last rank, or bits of level codes.
    """

    place: int
    left: int


class Fork(NamedTuple):
    """A test with at least one more below it: the families of its sides."""

    test: RowTest
    first: Family
    second: Family


class Objectives(NamedTuple):
    """How many trees have each objective: ascending ``values``, and how many trees have at most each of them."""

    values: list[int]
    totals: list[int]

    def count(self, at: int) -> int:
        """How many trees have the value at a position."""
        return self.totals[at] - (self.totals[at - 1] if at else 0)

    def has(self, value: int) -> bool:
        """Whether any tree has a value."""
        at = bisect_left(self.values, value)
        return at < len(self.values) and self.values[at] == value

    def within(self, budget: int) -> int:
        """How many trees have at most a value."""
        at = bisect_right(self.values, budget)
        return self.totals[at - 1] if at else 0


Counts = Mapping[int, Objectives]  # by the number of leaves
Arrangement = tuple[int, ...]
Arrangements = dict[int, list[tuple[int, Arrangement]]]  # by the number of leaves: objectives, ascending
_LEAF: Arrangement = (-1,)


@dataclass(eq=False)
class Family:
    """The trees of some rows (``packed`` bits) with at most so many ``leaves``, within a budget."""

    packed: bytes
    leaves: int
    budget: int
    leaf: int | None
    stumps: list[tuple[int, RowTest]]
    forks: list[Fork] = field(default_factory=list)
    counts: Counts = field(default_factory=dict)

    def pairs(self, first: Counts, second: Counts) -> Iterator[tuple[int, Objectives, Objectives]]:
        """Every way to give leaves to the sides of a fork: how many there are, and the objectives of both sides."""
        for one, of_first in first.items():
            for other, of_second in second.items():
                if 2 < one + other <= self.leaves:
                    yield one + other, of_first, of_second


def sides_of(arrangement: Arrangement) -> tuple[Arrangement, Arrangement]:
    """The arrangements of both sides of a test.

    >>> sides_of((3, 1, -1, -1, -1))
    ((1, -1, -1), (-1,))
    """
    n_open, at = 1, 1
    while n_open:
        n_open += 1 if arrangement[at] >= 0 else -1
        at += 1
    return arrangement[1:at], arrangement[at:]


def tabled(found: Mapping[int, Mapping[int, int]]) -> Counts:
    """Counts, by leaves and objective, in order."""
    tables = {}
    for leaves in sorted(found):
        values = sorted(found[leaves])
        tables[leaves] = Objectives(values, list(accumulate(found[leaves][value] for value in values)))
    return tables


class NearOptimal:
    """The trees of a whole table within a budget.

    Attributes
    ----------
    optimum, budget : int
        In units of the loss.
    n_trees : int
        How many trees are within the budget.
    """

    def __init__(self, families: Families, optimum: int, budget: int) -> None:
        self.families, self.optimum, self.budget = families, optimum, budget
        search = families.search
        whole = search.node(search.space.orders)  # that of a search on bits has no orders
        self.root = families.of(whole, search.limits.max_depth, search.limits.max_leaves, budget, is_whole=True)
        self.n_trees = self._within(budget, None)

    def n_without(self, feature: int) -> int:
        """How many of the trees have no test of a column."""
        return self._within(self.budget, feature)

    @cached_property
    def n_by_root(self) -> dict[int, int]:
        """How many of the trees test a column at the root, by column; -1 is the single leaf."""
        features = self.families.search.space.features
        found: dict[int, int] = {} if self.root.leaf is None else {-1: 1}
        for test, n_trees in [
            *((test, 1) for _, test in self.root.stumps),
            *((fork.test, self._of_fork(fork, self.budget, None, {})) for fork in self.root.forks),
        ]:
            feature = features[test.place]
            found[feature] = found.get(feature, 0) + n_trees
        return found

    def _within(self, budget: int, without: int | None) -> int:
        """How many trees have at most an objective, and no test of a column."""
        features, root = self.families.search.space.features, self.root
        n_trees = int(root.leaf is not None and root.leaf <= budget)
        n_trees += sum(value <= budget and features[test.place] != without for value, test in root.stumps)
        known: dict[int, Counts] = {}
        for fork in root.forks:
            if features[fork.test.place] != without:
                n_trees += self._of_fork(fork, budget, without, known)
        return n_trees

    def _of_fork(self, fork: Fork, budget: int, without: int | None, known: dict[int, Counts]) -> int:
        sides = [self.families.counted(side, without, known) for side in (fork.first, fork.second)]
        n_trees = 0
        for _, one, other in self.root.pairs(*sides):
            if len(other.values) < len(one.values):
                one, other = other, one
            self.families.take(len(one.values))
            for at, value in enumerate(one.values):
                n_trees += one.count(at) * other.within(budget - value)
        return n_trees

    def arrangements(self, most: int) -> tuple[int | None, list[tuple[int, Branching | None, int]]]:
        """How many arrangements there are; of the best ones the best tree, its objective, and how many trees it has.

        If they are too many to list, None, and the best ones all the same.
        """
        families, root = self.families, self.root
        known: dict[tuple[int, Arrangement], Objectives] = {}
        n_distinct: int | None = None
        try:
            found = families.arrangements(root, {}, None)
            n_distinct = sum(map(len, found.values()))
        except _TooManyError:
            found = families.arrangements(root, {}, most)
        order = sorted((value, leaves, each) for leaves, every in found.items() for value, each in every)
        listed = []
        for value, _, arrangement in order[:most]:
            n_trees = families.arranged(root, arrangement, known).totals[-1]
            listed.append((value, self._arranged(root, arrangement, value, known), n_trees))
        return n_distinct, listed

    def _arranged(
        self, family: Family, arrangement: Arrangement, value: int, known: dict[tuple[int, Arrangement], Objectives]
    ) -> Branching | None:
        """The first tree with an arrangement and an objective."""
        if arrangement == _LEAF:
            return None
        first, second = sides_of(arrangement)
        features = self.families.search.space.features
        if first == second == _LEAF:
            tests = (test for own, test in family.stumps if own == value and features[test.place] == arrangement[0])
            return self._branching(family, next(tests), None, None)
        for fork in family.forks:
            if features[fork.test.place] != arrangement[0]:
                continue
            of_second = self.families.arranged(fork.second, second, known)
            for own in self.families.arranged(fork.first, first, known).values:
                if of_second.has(value - own):
                    left = self._arranged(fork.first, first, own, known)
                    return self._branching(
                        family, fork.test, left, self._arranged(fork.second, second, value - own, known)
                    )
        raise AssertionError("a family without the tree that it counted")

    def best(self, most: int) -> Iterator[tuple[int, Branching | None]]:
        """The best trees with their objectives: of equal ones first those with few leaves, then by their tests."""
        worst = self._worst_of(most)
        found: dict[int, dict[int, int]] = {}
        for fork in self.root.forks:
            for leaves, one, other in self.root.pairs(fork.first.counts, fork.second.counts):
                values = found.setdefault(leaves, {})
                for value in one.values:
                    for rest in other.values[: bisect_right(other.values, worst - value)]:
                        values[value + rest] = 1
        keys = {(value, leaves) for leaves, values in found.items() for value in values}
        keys |= {(value, 2) for value, _ in self.root.stumps if value <= worst}
        if self.root.leaf is not None and self.root.leaf <= worst:
            keys.add((self.root.leaf, 1))
        trees = ((value, tree) for value, leaves in sorted(keys) for tree in self._trees(self.root, value, leaves))
        return islice(trees, most)

    def _worst_of(self, most: int) -> int:
        """The least objective that so many trees have at most."""
        if self.n_trees <= most:
            return self.budget
        low, high = self.optimum, self.budget
        while low < high:
            middle = (low + high) // 2
            if self._within(middle, None) >= most:
                high = middle
            else:
                low = middle + 1
        return low

    def _trees(self, family: Family, value: int, leaves: int) -> Iterator[Branching | None]:
        """The trees of a family with an objective and a number of leaves."""
        if leaves == 1:
            yield None
            return
        if leaves == 2:
            for own, test in family.stumps:
                if own == value:
                    yield self._branching(family, test, None, None)
            return
        for test, first, second in family.forks:
            for one, of_first in first.counts.items():
                of_second = second.counts.get(leaves - one)
                if of_second is None:
                    continue
                for own in of_first.values:
                    if of_second.has(value - own):
                        for left in self._trees(first, own, one):
                            for right in self._trees(second, value - own, leaves - one):
                                yield self._branching(family, test, left, right)

    def _branching(self, family: Family, test: RowTest, left: Branching | None, right: Branching | None) -> Branching:
        search = self.families.search
        rows = np.flatnonzero(np.unpackbits(np.frombuffer(family.packed, np.uint8), count=len(search.mask)))
        goes_left = self.families.goes_left(rows, test)
        sides = (rows[goes_left].astype(np.int32), rows[~goes_left].astype(np.int32))
        return Branching(test.place, *sides, left, right)


class Families:
    """The families of one search.

    Attributes
    ----------
    rounding : int
        Equal losses of a leaf may differ by so much.
    """

    def __init__(self, search: Search) -> None:
        self.search = search
        self.known: dict[tuple[bytes, int, int], Family] = {}
        self.n_kept = self.n_steps = 0
        self.rounding = 0 if search.loss.kind == COST else _ROUNDING

    def of(self, node: Node, depth: int, leaves: int, budget: int, *, is_whole: bool = False) -> Family:
        """The family of a node; of the whole table without counts."""
        search = self.search
        leaves = min(leaves, 1 << min(depth, 40))
        depth = min(depth, leaves - 1)
        packed = np.packbits(search._mask_of(node.rows)).tobytes()
        key = packed, depth, leaves
        known = self.known.get(key)
        if known is not None and known.budget >= budget:
            return known
        search.count()
        leaf = search.leaf(node).value
        family = Family(packed, leaves, budget, leaf if leaf <= budget else None, [])
        if depth > 0 and node.floor + 2 * search.rules.price <= budget:
            family.stumps = sorted(self._stumps(node, budget))
            if depth > 1:
                family.forks = sorted(self._forks(node, depth, leaves, budget))
        if not is_whole:
            family.counts = self.counted(family, None, {})
        self.n_kept += (
            1 + len(family.stumps) + len(family.forks) + sum(len(each.values) for each in family.counts.values())
        )
        self.check(0)
        self.known[key] = family
        return family

    def counted(self, family: Family, without: int | None, known: dict[int, Counts]) -> Counts:
        """How many trees of a family have no test of a column, by leaves and objective."""
        if without is None and family.counts:
            return family.counts
        if id(family) in known:
            return known[id(family)]
        features = self.search.space.features
        found: dict[int, dict[int, int]] = {}
        if family.leaf is not None:
            found[1] = {family.leaf: 1}
        for value, test in family.stumps:
            if features[test.place] != without:
                values = found.setdefault(2, {})
                values[value] = values.get(value, 0) + 1
        for fork in family.forks:
            if features[fork.test.place] == without:
                continue
            sides = [self.counted(side, without, known) for side in (fork.first, fork.second)]
            for leaves, one, other in family.pairs(*sides):
                values = found.setdefault(leaves, {})
                counts = [other.count(at) for at in range(len(other.values))]
                for at, value in enumerate(one.values):
                    n_trees, end = one.count(at), bisect_right(other.values, family.budget - value)
                    self.take(end)
                    for rest, n_rest in zip(other.values[:end], counts, strict=False):
                        values[value + rest] = values.get(value + rest, 0) + n_trees * n_rest
                    self.check(len(values))
        known[id(family)] = tabled(found)
        return known[id(family)]

    def check(self, n_more: int) -> None:
        """Stop where more is kept than may be."""
        if self.n_kept + n_more > MOST_KEPT:
            raise TooMuchError

    def take(self, n_steps: int) -> None:
        """Count additions of objectives, and stop where the search may take no more."""
        self.n_steps += n_steps
        most = self.search.limits.max_search
        if most is not None and self.search.n_solved + self.n_steps // _STEPS > most:
            raise Stopped(f"max_search={most}")

    def arrangements(self, family: Family, known: dict[int, Arrangements], most: int | None) -> Arrangements:
        """The least objective of each arrangement of a family, or of the ``most`` best ones of each number of leaves.

        If one is among the best of the family, so are its sides among those of theirs: each that is better would make
        a better one with the same other side.
        """
        if id(family) in known:
            return known[id(family)]
        features = self.search.space.features
        found: dict[int, dict[Arrangement, int]] = {} if family.leaf is None else {1: {_LEAF: family.leaf}}
        if family.stumps:
            found[2] = {(features[test.place], -1, -1): value for value, test in reversed(family.stumps)}
        for test, *sides in family.forks:
            first, second = (self.arrangements(side, known, most) for side in sides)
            for one, of_first in first.items():
                for other, of_second in second.items():
                    if not 2 < one + other <= family.leaves:
                        continue
                    values = found.setdefault(one + other, {})
                    for at, (value, left) in enumerate(of_first):
                        end = bisect_right(of_second, family.budget - value, key=lambda each: each[0])
                        end = end if most is None else min(end, most // (at + 1))
                        self.take(end)
                        for rest, right in of_second[:end]:
                            arrangement = (features[test.place], *left, *right)
                            values[arrangement] = min(values.get(arrangement, INF), value + rest)
                        if most is None and len(values) > _MOST_ARRANGED:
                            raise _TooManyError
        known[id(family)] = {
            leaves: sorted((value, arrangement) for arrangement, value in values.items())[:most]
            for leaves, values in found.items()
        }
        return known[id(family)]

    def arranged(
        self, family: Family, arrangement: Arrangement, known: dict[tuple[int, Arrangement], Objectives]
    ) -> Objectives:
        """How many trees with an arrangement have each objective."""
        if (id(family), arrangement) in known:
            return known[id(family), arrangement]
        features = self.search.space.features
        found: dict[int, int] = {}
        if arrangement == _LEAF:
            found = {} if family.leaf is None else {family.leaf: 1}
        elif len(arrangement) == len(_LEAF) + 2:
            for value, test in family.stumps:
                if features[test.place] == arrangement[0]:
                    found[value] = found.get(value, 0) + 1
        else:
            sides = sides_of(arrangement)
            for test, *families in family.forks:
                if features[test.place] != arrangement[0]:
                    continue
                one, other = (self.arranged(each, side, known) for each, side in zip(families, sides, strict=True))
                for at, value in enumerate(one.values):
                    end = bisect_right(other.values, family.budget - value)
                    self.take(end)
                    for place in range(end):
                        total = value + other.values[place]
                        found[total] = found.get(total, 0) + one.count(at) * other.count(place)
        objectives = tabled({0: found})[0]
        known[id(family), arrangement] = objectives
        return objectives

    # Tests.

    def goes_left(self, rows: np.ndarray, test: RowTest) -> np.ndarray:
        """bool[m]: of some rows, those on the left of a test."""
        cells, at = self.search.space.cells, test.place - self.search.space.n_ordered
        if at < 0:
            return cells.ranks[test.place, rows] <= test.left
        held = [code for code in range(test.left.bit_length()) if test.left >> code & 1]
        return np.isin(cells.codes[at, rows], held)

    def _stumps(self, node: Node, budget: int) -> Iterator[tuple[int, RowTest]]:
        """The stumps of a node with their objectives."""
        search = self.search
        cells, price = search.space.cells, search.rules.price
        most = min(budget - 2 * price, node.leaf - 1 - 2 * self.rounding)
        losses = np.empty((search.space.n_ordered, len(node)), np.int64)
        losses_of_cuts(cells, search.loss, search.rules, node.orders, search.scratch, losses)
        for place in range(search.space.n_ordered):
            order = node.orders[place]
            for cut in self._cuts(node, place, np.flatnonzero(losses[place] <= most)):
                yield int(losses[place, cut]) + 2 * price, RowTest(place, int(cells.ranks[place, order[cut - 1]]))
        for at in range(len(cells.codes)):
            single, sets = self._tests_of_levels(node, at)
            for test in (*single, *sets):
                goes_left = self.goes_left(node.rows, test)
                loss = 0
                for rows in (node.rows[goes_left], node.rows[~goes_left]):
                    own = int(sum_rows(search.loss, rows, search.sums))
                    if (
                        len(rows) < search.rules.min_rows
                        or weight_of(search.loss, search.sums) < search.rules.min_weight
                    ):
                        own = INF
                    loss += own
                if loss <= most:
                    yield loss + 2 * price, test

    def _cuts(self, node: Node, place: int, cuts: np.ndarray) -> list[int]:
        """Those cuts of an ordered column that the other column of the same cells has not."""
        space = self.search.space
        if space.missing[place] == NO_MISSING:
            return cuts.tolist()
        n_missing = int(np.isnan(space.problem.values[space.features[place], node.rows]).sum())
        if space.missing[place] == MISSING_LAST:
            return cuts.tolist() if n_missing else []  # without missing cells both columns are one
        return cuts[cuts != n_missing].tolist()  # the other has the missing cells alone on the right

    def _tests_of_levels(self, node: Node, at: int) -> tuple[list[RowTest], list[RowTest]]:
        """The tests of a nominal column: one level against the rest; and further sets for a test above two leaves."""
        search = self.search
        cells, place = search.space.cells, search.space.n_ordered + at
        gone, codes = int(cells.missing[at]), cells.codes[at, node.rows]
        present = np.unique(codes).tolist()
        every = sum(1 << code for code in present)
        sets = [1 << code for code in present]
        if gone in present:
            sets += [1 << code | 1 << gone for code in present if code != gone]
        single = dict.fromkeys(min(each, every ^ each) for each in sets)
        single.pop(0, None)
        further: dict[int, None] = {}
        if search.rules.has_subsets and len(present) > 3:
            for number in range(1, len(present)):
                held = sum(1 << code for code in search._first_levels(node.rows, codes, number))
                further[min(held, every ^ held)] = None
        return [RowTest(place, each) for each in single], [
            RowTest(place, each) for each in further if each not in single
        ]

    def _forks(self, node: Node, depth: int, leaves: int, budget: int) -> Iterator[Fork]:
        """The forks of a node."""
        cells = self.search.space.cells
        for place in range(self.search.space.n_ordered):
            yield from self._forks_of_cuts(node, place, depth, leaves, budget)
        for at in range(len(cells.codes)):
            for test in self._tests_of_levels(node, at)[0]:
                sides = self._sides(node, test)
                least = self._least(sides, depth, leaves, budget)
                yield from self._fork(test, sides, least, depth, leaves, budget)

    def _sides(self, node: Node, test: RowTest) -> tuple[Node, Node]:
        mask = self.search._mask_of(node.rows[self.goes_left(node.rows, test)])
        return self.search._parts(node, mask)

    def _least(self, sides: tuple[Node, Node], depth: int, leaves: int, budget: int) -> tuple[list[int], list[int]]:
        """The least objectives of both sides, and bounds without limits of leaves; beyond the budget one is ``INF``."""
        search = self.search
        lowers = [side.floor + search.rules.price for side in sides]
        values = [INF, INF]
        large = int(len(sides[1]) > len(sides[0]))
        for one, other in ((large, 1 - large), (1 - large, large)):
            taken = lowers[other] if values[other] == INF else values[other]
            solved = search.solve(sides[one], depth - 1, leaves - 1, budget - taken + 1)
            lowers[one] = max(lowers[one], solved.lower)
            if solved.value + taken > budget:
                break
            values[one] = solved.value
        return values, lowers

    def _fork(
        self, test: RowTest, sides: tuple[Node, Node], least: tuple[list[int], list[int]], depth: int, leaves: int,
        budget: int,
    ) -> Iterator[Fork]:  # fmt: skip
        """The fork of a test, if any of its trees is within the budget."""
        values = least[0]
        if sum(values) > budget:
            return
        first, second = (
            self.of(side, depth - 1, leaves - 1, budget - other)
            for side, other in zip(sides, reversed(values), strict=True)
        )
        if any(leaf != 1 for side in (first, second) for leaf in side.counts):
            yield Fork(test, first, second)

    def _forks_of_cuts(self, node: Node, place: int, depth: int, leaves: int, budget: int) -> Iterator[Fork]:
        """The forks of an ordered column: from the middle of intervals that may hold some (see ``pairs``)."""
        search = self.search
        order, ranks = node.orders[place], search.space.cells.ranks[place]
        cuts = np.array(self._cuts(node, place, np.flatnonzero(ranks[order[1:]] != ranks[order[:-1]]) + 1), np.int64)
        if not len(cuts):
            return
        moved = np.zeros(len(cuts), np.int64)
        if search.is_bounded:
            moved = np.cumsum(search.loss.largest[order])[cuts - 1]
        nothing = [0, 0]
        waiting = [(-1, len(cuts), nothing, nothing)]
        while waiting:
            before, after, of_before, of_after = waiting.pop()
            if of_before[0] + of_after[1] > budget:
                continue
            lo, hi = before + 1, after - 1
            if search.is_bounded and before >= 0:
                lo = max(lo, int(np.searchsorted(moved, moved[before] + sum(of_before) - budget, "left")))
            if search.is_bounded and after < len(cuts):
                hi = min(hi, int(np.searchsorted(moved, moved[after] - (sum(of_after) - budget), "right")) - 1)
            if lo > hi:
                continue
            at = (lo + hi) // 2
            test = RowTest(place, int(ranks[order[cuts[at] - 1]]))
            sides = self._sides(node, test)
            least = self._least(sides, depth, leaves, budget)
            yield from self._fork(test, sides, least, depth, leaves, budget)
            waiting += [(before, at, of_before, least[1]), (at, after, least[1], of_after)]


@kernel
def losses_of_cuts(cells, loss, rules, orders, scratch, losses):
    """The loss of the two leaves of each cut.

    ``orders`` int32[q + 1, m]: the rows. ``losses`` int64[q, m], OUT: with so many rows on the left; ``INF`` if there
    is no such cut, or a leaf may not have these rows.
    """
    m = orders.shape[1]
    left, rest = scratch.sums[0], scratch.rest
    for j in range(losses.shape[0]):
        order, ranks = orders[j], cells.ranks[j]
        left[:] = 0
        rest[:] = 0
        for i in range(m):
            add_row(loss, rest, order[i], 1)
        losses[j, 0] = INF
        for i in range(1, m):
            add_row(loss, left, order[i - 1], 1)
            add_row(loss, rest, order[i - 1], -1)
            losses[j, i] = INF
            if ranks[order[i - 1]] != ranks[order[i]] and (
                not rules.is_limited
                or (is_leaf(rules, i, weight_of(loss, left)) and is_leaf(rules, m - i, weight_of(loss, rest)))
            ):
                losses[j, i] = leaf_loss(loss, left) + leaf_loss(loss, rest)
