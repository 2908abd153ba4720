"""The slow, obvious twin of growth on gradients. In: cells, gradients, settings. Out: ``TwinNode``s.

Callers: tests of grow.gradient.

One node, one column, one cut at a time, every sum made anew from the rows. Gradients and hessians must be multiples of
a power of two, and few, so that sums are exact. Gains are Python's floats, by the formulas of Chen and Guestrin 2016,
each step rounded as the kernels do: so that gains that are nearly equal rank alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from gradient_tables import MISSING, GradientCase
from naive_binned import mix

from treewright.grow.settings import GradientSettings

_NOISE = 1e-13


@dataclass
class TwinTest:
    """What a node asks, and what it gains."""

    gain: float
    column: int
    cut: int
    missing_left: bool
    left_bins: frozenset[int]
    left: list[int]
    right: list[int]


@dataclass
class TwinNode:
    """A node and its rows, ascending."""

    rows: list[int]
    depth: int = 0
    low: float = -math.inf
    high: float = math.inf
    asked: frozenset[int] = field(default_factory=frozenset)
    first_child: int = -1
    test: TwinTest | None = None


def shrunk(gradient: float, l1: float) -> float:
    return max(gradient - l1, 0.0) + min(gradient + l1, 0.0)


def value_of(gradient: float, hessian: float, l1: float, l2: float, low: float, high: float) -> float:
    below = hessian + l2
    value = -shrunk(gradient, l1) / below if below > 0 else 0.0
    return min(max(value, low), high)


def worth_of(gradient: float, hessian: float, l1: float, l2: float, value: float) -> float:
    return -(2.0 * gradient * value + (hessian + l2) * value * value + 2.0 * l1 * abs(value))


class GradientTwin:
    """Grows one tree."""

    def __init__(
        self,
        case: GradientCase,
        settings: GradientSettings,
        chosen: Sequence[int] | None = None,
        seed: int = 0,
        max_step: float = math.inf,
    ) -> None:
        n, p = case.cells.shape
        self.settings, self.seed, self.p = settings, seed, p
        self.cells = case.cells.tolist()
        self.g = [float(each) for each in case.gradient]
        self.h = [float(each) for each in case.hessian] or [1.0] * n
        self.times = [1] * n if case.repeats is None else case.repeats.tolist()
        self.n_bins = case.bins.n_bins.tolist()
        self.is_subset = (case.bins.is_nominal & ~case.ordered).tolist()
        self.is_nominal = case.bins.is_nominal.tolist()
        self.monotone = settings.monotone or (0,) * p
        self.is_unit = not len(case.hessian)
        self.is_bounded = any(self.monotone) or settings.l1 > 0
        rows = list(range(n)) if chosen is None else sorted(chosen)
        self.nodes = [TwinNode(rows, low=-max_step, high=max_step)]

    # Sums.

    def sums(self, rows: Sequence[int]) -> tuple[float, float]:
        return sum(self.g[r] * self.times[r] for r in rows) + 0.0, sum(self.h[r] * self.times[r] for r in rows) + 0.0

    def count(self, rows: Sequence[int]) -> int:
        return sum(self.times[r] for r in rows)

    # Growing.

    def grow(self) -> list[TwinNode]:
        settings, nodes = self.settings, self.nodes
        most = settings.max_leaf_nodes or math.inf
        if settings.order == "symmetric":
            return self.grow_levels(most)
        nodes[0].test = self.best_test(nodes[0], 0)
        n_leaves = 1
        while n_leaves < most:
            waiting = [at for at, node in enumerate(nodes) if node.test is not None and node.first_child < 0]
            if not waiting:
                break
            if settings.order == "leaf":
                waiting.sort(key=lambda at: (-nodes[at].test.gain, at))
            self.split(waiting[0])
            n_leaves += 1
        return nodes

    def split(self, number: int) -> None:
        node = self.nodes[number]
        test, settings = node.test, self.settings
        node.first_child = len(self.nodes)
        bounds = [[node.low, node.high], [node.low, node.high]]
        sign = self.monotone[test.column]
        if sign:
            values = [
                value_of(*self.sums(rows), settings.l1, settings.l2, node.low, node.high)
                for rows in (test.left, test.right)
            ]
            middle = 0.5 * (values[0] + values[1])
            bounds[0 if sign > 0 else 1][1] = middle
            bounds[1 if sign > 0 else 0][0] = middle
        for rows, (low, high) in zip((test.left, test.right), bounds, strict=True):
            child = TwinNode(rows, node.depth + 1, low, high, node.asked | {test.column})
            self.nodes.append(child)
            if settings.order != "symmetric":
                child.test = self.best_test(child, len(self.nodes) - 1)

    # Symmetric trees.

    def grow_levels(self, most: float) -> list[TwinNode]:
        first, depth, max_depth = 0, 0, self.settings.max_depth or math.inf
        while first < len(self.nodes) and depth < max_depth and 2 ** (depth + 1) <= most:
            level = range(first, len(self.nodes))
            self.choose_for_level(level)
            first, depth = len(self.nodes), depth + 1
            for number in level:
                if self.nodes[number].test is not None:
                    self.split(number)
        return self.nodes

    def choose_for_level(self, level: range) -> None:
        """Give its nodes the test that gains most in sum; those that may not ask it stay leaves.

        What gains most by hessians alone is looked at again with its rows counted, until the best one is.
        """
        settings, held = self.settings, [self.nodes[number] for number in level]
        columns = self.columns_of(TwinNode([], held[0].depth, asked=held[0].asked), level[0])
        counted = set(columns) if self.is_unit else set()
        offers = {column: self.best_for_level(held, column, column in counted) for column in columns}
        while True:
            column = min(columns, key=lambda column: (-offers[column][0], column), default=None)
            if column is None or column in counted or not offers[column][1]:
                break
            counted.add(column)
            offers[column] = self.best_for_level(held, column, True)
        best, chosen = (0.0, []) if column is None else offers[column]
        noise = _NOISE * sum(abs(self.worth_whole(node)) for node in held)
        if best > noise and best > settings.min_gain:
            for node, test in chosen:
                node.test = test
                sides = self.sums(test.left), self.sums(test.right)
                worth = self.worth_within_bounds(node, test.column, sides)
                test.gain = max(worth - self.worth_whole(node), 0.0)

    def best_for_level(
        self, held: list[TwinNode], column: int, counted: bool
    ) -> tuple[float, list[tuple[TwinNode, TwinTest]]]:
        """The first of a column's best tests: what it gains in all nodes that may ask it, and these."""
        held = [node for node in held if self.count(node.rows) >= 2 * self.settings.min_samples_leaf]
        together = TwinNode([row for node in held for row in node.rows])
        best, chosen = 0.0, []
        for key in self.sets_of(together, column):
            total, tests = 0.0, []
            for node in held:
                found = self.offer(node, column, *key, counted=counted)
                if found is not None:
                    total += max(found[0] - self.worth_whole(node), 0.0)
                    tests.append((node, found[1]))
            if total > best:
                best, chosen = total, tests
        return best, chosen

    # The best test of a node.

    def best_test(self, node: TwinNode, number: int) -> TwinTest | None:
        settings = self.settings
        if settings.max_depth is not None and node.depth >= settings.max_depth:
            return None
        best = None
        for column in self.columns_of(node, number):
            for worth, test in self.offers(node, column):
                if best is None or worth > best[0]:
                    best = worth, test
        if best is None:
            return None
        whole = self.worth_whole(node)
        best[1].gain = best[0] - whole
        is_noise = best[0] - whole <= _NOISE * (abs(best[0]) + abs(whole))
        return None if is_noise or best[1].gain <= settings.min_gain else best[1]

    def columns_of(self, node: TwinNode, number: int) -> list[int]:
        settings = self.settings
        pool = self.drawn(list(range(self.p)), settings.features_per_tree, 0)
        pool = self.drawn(pool, settings.features_per_level, (node.depth + 1) << 32)
        pool = self.drawn(pool, settings.features_per_node, number + 1)
        if settings.interactions is None:
            return pool
        groups = [set(group) for group in settings.interactions if node.asked <= set(group)]
        return [column for column in pool if any(column in group for group in groups)]

    def drawn(self, pool: list[int], share: float, key: int) -> list[int]:
        """Knuth's algorithm S, with a random number for each place."""
        if share >= 1.0:
            return pool
        wanted = max(1, math.ceil(share * len(pool) - 1e-9))
        state, found = mix(self.seed, key), []
        for at, column in enumerate(pool):
            chance = (mix(state, at) >> 11) * 2.0**-53
            if chance * (len(pool) - at) < wanted - len(found):
                found.append(column)
        return found

    def offers(self, node: TwinNode, column: int) -> Iterator[tuple[float, TwinTest]]:
        """Every allowed test of a column and its worth, the first of equals first."""
        for key in self.sets_of(node, column):
            found = self.offer(node, column, *key)
            if found is not None:
                yield found

    def offer(
        self, node: TwinNode, column: int, cut: int, missing_left: bool, left_bins: frozenset[int], counted: bool = True
    ) -> tuple[float, TwinTest] | None:
        """A test and its worth; None where it is not allowed."""
        settings = self.settings
        left = [r for r in node.rows if self.cells[r][column] in left_bins]
        right = [r for r in node.rows if self.cells[r][column] not in left_bins]
        sides = self.sums(left), self.sums(right)
        lighter = min(sides[0][1], sides[1][1])
        if lighter <= 0 or lighter < settings.min_child_weight:
            return None
        if counted and min(self.count(left), self.count(right)) < settings.min_samples_leaf:
            return None
        worth = self.worth_of_sides(node, column, sides)
        return None if worth is None else (worth, TwinTest(0.0, column, cut, missing_left, left_bins, left, right))

    def worth_whole(self, node: TwinNode) -> float:
        """Worth of a node that is not split."""
        (g, h), l1, l2 = self.sums(node.rows), self.settings.l1, self.settings.l2
        return worth_of(g, h, l1, l2, value_of(g, h, l1, l2, node.low, node.high))

    def worth_of_sides(self, node: TwinNode, column: int, sides: tuple[tuple[float, float], ...]) -> float | None:
        """Worth of both sides; None where the column has to rise or fall and does not."""
        if self.is_bounded:
            return self.worth_within_bounds(node, column, sides)
        l2 = self.l2_of(column)
        (g, h), (other_g, other_h) = sides
        below, other_below = h + l2, other_h + l2
        if abs(g) > node.high * below or abs(other_g) > node.high * other_below:
            return self.worth_within_bounds(node, column, sides)
        return (g * g * other_below + other_g * other_g * below) / (below * other_below)

    def worth_within_bounds(self, node: TwinNode, column: int, sides: tuple[tuple[float, float], ...]) -> float | None:
        """The same by the answers: not to the last bit."""
        l1, l2 = self.settings.l1, self.l2_of(column)
        values = [value_of(g, h, l1, l2, node.low, node.high) for g, h in sides]
        if not self.is_subset[column] and self.monotone[column] * (values[1] - values[0]) < 0:
            return None
        worths = [worth_of(g, h, l1, l2, value) for (g, h), value in zip(sides, values, strict=True)]
        return worths[0] + worths[1]

    def l2_of(self, column: int) -> float:
        """What is added to the hessians of a column's sides."""
        return self.settings.l2 + self.settings.level_l2 if self.is_subset[column] else self.settings.l2

    def sets_of(self, node: TwinNode, column: int) -> Iterator[tuple[int, bool, frozenset[int]]]:
        """Cut, whether missing cells go left, and the bins that go left."""
        by_bin: dict[int, list[int]] = {}
        for row in node.rows:
            by_bin.setdefault(self.cells[row][column], []).append(row)
        if self.is_subset[column]:
            smoothing = self.settings.level_smoothing

            def key(b: int) -> tuple[float, int]:
                g, h = self.sums(by_bin[b])
                return g / (h + smoothing), b

            levels = sorted(by_bin, key=key)
            for cut in range(len(levels) - 1):
                yield cut, MISSING in levels[: cut + 1], frozenset(levels[: cut + 1])
            return
        n_bins = self.n_bins[column]
        if MISSING not in by_bin:
            for cut in range(n_bins - 1):
                yield cut, False, frozenset(range(cut + 1))
            return
        for cut in range(n_bins):
            yield cut, False, frozenset(range(cut + 1))
        for cut in range(n_bins - 1):
            yield cut, True, frozenset(range(cut + 1)) | {MISSING}

    # What a node says.

    def value(self, node: TwinNode) -> float:
        g, h = self.sums(node.rows)
        return value_of(g, h, self.settings.l1, self.settings.l2, node.low, node.high) + 0.0

    def bins_seen(self, node: TwinNode) -> set[int]:
        return {self.cells[r][node.test.column] for r in node.rows}

    def unseen_go_left(self, node: TwinNode) -> bool:
        """Where what no row of the node has goes: to the side with more of the hessian."""
        return self.sums(node.test.left)[1] >= self.sums(node.test.right)[1]

    def set_left(self, node: TwinNode) -> set[int]:
        """Of a nominal column: all bins that go left, the one of levels never seen included."""
        column = node.test.column
        n_bins = self.n_bins[column]
        rest = {n_bins} if self.unseen_go_left(node) else set()
        if not self.is_subset[column]:
            return (set(node.test.left_bins) - {MISSING}) | rest
        unseen = set(range(n_bins)) - self.bins_seen(node)
        return (set(node.test.left_bins) - {MISSING}) | (unseen | rest if rest else set())

    # Exact gains, to judge what rounding may have chosen.

    def exact_worth(self, node: TwinNode, left: Sequence[int], l2: float) -> Fraction:
        """Worth of a test without ``l1`` and bounds, in fractions."""
        total = Fraction(0)
        held = set(left)
        for rows in (left, [r for r in node.rows if r not in held]):
            g = sum((Fraction(self.g[r]) * self.times[r] for r in rows), Fraction(0))
            h = sum((Fraction(self.h[r]) * self.times[r] for r in rows), Fraction(0))
            total += g * g / (h + Fraction(l2))
        return total
