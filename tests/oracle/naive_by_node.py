"""The slow, obvious twin of the grower by nodes. In: a table of whole numbers, rules. Out: a list of ``TwinNode``.

Callers: test_by_node_against_twin, naive_c45.

Written from the stated rules: every candidate of every node is listed in the order in which equals are preferred, with
its gain to 50 digits; weights are fractions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import product

from naive_costs import ZERO, Costs, Instance, bits_of, decimal_of, weight_of

SAME = Decimal("1e-12")  # of the node's cost: gains closer than this are equal
ROUNDING = Decimal("1e-40")  # what 50 digits leave of a gain that is 0
NOISE = Decimal("1e-15")  # of the node's scale: what floating point may add to a gain
EVERY = -1  # missing rows go to every branch, or wait for surrogates
CUT, SET, LEVELS = 1, 2, 3  # kinds of test, as tree.arrays numbers them


@dataclass
class TwinTable:
    """Columns of whole numbers; None is missing. A column of levels holds codes below its ``n_levels``."""

    columns: list[list[int | None]]
    n_levels: list[int]  # 0 for a column that is cut
    weights: list[int]  # 0: the row is left out
    costs: Costs


@dataclass
class TwinRules:
    nominal_splits: str = "subset"
    missing: str = "direction"
    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight: Fraction = Fraction(0)
    min_impurity_decrease: float = 0.0
    max_leaf_nodes: int | None = None
    max_surrogates: int = 5


@dataclass
class TwinTest:
    """A test with the rows of its branches; rows that go to every branch are in none."""

    kind: int
    column: int
    parts: list[list[Instance]]
    missing: int
    threshold: float = 0.0
    sides: dict[int, int] = field(default_factory=dict)  # branch of each level that the node holds
    placed: dict[int, int] = field(default_factory=dict)  # of a run: branch of each other level, where it stands
    gain: Decimal = ZERO
    score: Decimal = ZERO
    n_tried: int = 0


@dataclass
class TwinSurrogate:
    column: int
    agreement: Fraction
    adjusted: Fraction
    flipped: int = 0
    threshold: float = 0.0
    sides: dict[int, int] | None = None  # of a set of levels
    otherwise: int = 0  # where levels go that it never saw


@dataclass
class TwinNode:
    instances: list[Instance]
    depth: int
    impurity: Decimal
    value: list[float]
    test: TwinTest | None = None
    missing_branch: int = 0
    unseen_branch: int = 0
    surrogates: list[TwinSurrogate] = field(default_factory=list)
    children: list[TwinNode] = field(default_factory=list)


class ByNodeTwin:
    """Grows one tree."""

    def __init__(self, table: TwinTable, rules: TwinRules) -> None:
        self.table, self.rules, self.costs = table, rules, table.costs
        self.is_close = False  # whether two numbers were so near that rounding decides

    def grow(self) -> list[TwinNode]:
        """The nodes level by level, siblings side by side."""
        rows = [(row, Fraction(w)) for row, w in enumerate(self.table.weights) if w]
        self.total, self.n_rows = weight_of(rows), len(rows)
        self.root_impurity = self.impurity(rows)
        root = self.opened(rows, 0)
        waiting, n_opened, n_leaves = [(root, 0)], 1, 1
        while waiting:
            waiting = [(node, at) for node, at in waiting if node.test is not None]
            if self.rules.max_leaf_nodes is not None:
                waiting.sort(key=lambda one: (-self.decrease(one[0]), one[1]))
            if not waiting:
                break
            node, _ = waiting.pop(0)
            if self.rules.max_leaf_nodes is not None:
                self.note_ties([self.decrease(node), *(self.decrease(one) for one, _ in waiting)])
                if n_leaves + self.n_branches(node.test) - 1 > self.rules.max_leaf_nodes:
                    node.test = None
                    continue
            self.split(node)
            n_leaves += len(node.children) - 1
            for child in node.children:
                waiting.append((child, n_opened))
                n_opened += 1
        return self.by_levels(root)

    @staticmethod
    def by_levels(root: TwinNode) -> list[TwinNode]:
        nodes, level = [], [root]
        while level:
            nodes += level
            level = [child for node in level for child in node.children]
        return nodes

    def note_ties(self, decreases: list[Decimal]) -> None:
        """Which of two leaves that gain the same is split first is left to rounding."""
        self.is_close |= any(abs(one - decreases[0]) <= SAME * decimal_of(self.total) for one in decreases[1:])

    def decrease(self, node: TwinNode) -> Decimal:
        assert node.test is not None
        return node.test.gain

    def impurity(self, instances: Sequence[Instance]) -> Decimal:
        return self.costs.cost(instances) / decimal_of(weight_of(instances))

    def opened(self, instances: list[Instance], depth: int) -> TwinNode:
        node = TwinNode(instances, depth, self.impurity(instances), self.costs.value(instances))
        rules = self.rules
        if (
            (rules.max_depth is None or depth < rules.max_depth)
            and len(instances) >= rules.min_samples_split
            and node.impurity > SAME * self.root_impurity
        ):
            test = self.choose(node)
            if test and test.gain / decimal_of(self.total) >= Decimal(rules.min_impurity_decrease) * (1 - SAME):
                node.test = test
        return node

    # Candidates.

    def choose(self, node: TwinNode) -> TwinTest | None:
        """The column that gains most; of equals the first."""
        offers = [test for column in range(len(self.table.columns)) if (test := self.best_of(node, column))]
        return self.first_of_best(node, offers) if offers else None

    def best_of(self, node: TwinNode, column: int) -> TwinTest | None:
        """The best test of a column; of equals the first in the order of preference."""
        tests = list(self.candidates(node, column))
        return self.first_of_best(node, tests) if tests else None

    def first_of_best(self, node: TwinNode, tests: list[TwinTest]) -> TwinTest:
        """The first whose gain is the largest."""
        tolerance = SAME * self.costs.cost(node.instances)
        noise = NOISE * self.costs.scale(node.instances)
        best = max(test.gain for test in tests)
        if noise > tolerance:  # equal gains are not equal in floating point: the values are far larger than the costs
            self.is_close |= sum(best - test.gain <= noise for test in tests) > 1
        self.is_close |= any(tolerance / 2 < best - test.gain < 2 * tolerance for test in tests)
        return next(test for test in tests if test.gain >= best - tolerance)

    def candidates(self, node: TwinNode, column: int) -> Iterator[TwinTest]:
        groups, gone = self.by_value(node.instances, column)
        if not groups:
            return
        if not self.table.n_levels[column]:
            listed = self.cuts(column, groups, gone)
        elif self.rules.nominal_splits == "multiway":
            listed = self.branch_per_level(column, groups, gone)
        else:
            listed = self.two_sets(column, groups, gone)
        for test in listed:
            if all(self.is_allowed(part) for part in test.parts if test.kind != LEVELS or part):
                known = [one for part in test.parts for one in part]
                gain = self.costs.cost(known) - sum((self.costs.cost(part) for part in test.parts), ZERO)
                test.gain = gain if gain > ROUNDING else ZERO
                yield test

    def is_allowed(self, part: list[Instance]) -> bool:
        return (
            len(part) >= max(1, self.rules.min_samples_leaf)
            and weight_of(part) >= self.rules.min_weight
            and self.costs.may_exist(part)
        )

    def by_value(self, instances: Sequence[Instance], column: int) -> tuple[dict[int, list[Instance]], list[Instance]]:
        """Rows of each value, ascending, and the rows where it is missing."""
        groups: dict[int, list[Instance]] = {}
        gone = []
        for one in instances:
            value = self.table.columns[column][one[0]]
            if value is None:
                gone.append(one)
            else:
                groups.setdefault(value, []).append(one)
        return dict(sorted(groups.items())), gone

    def way_of(self, gone: list[Instance]) -> str:
        """What is done with missing rows: nothing, both sides tried, a branch of their own, left out."""
        if not gone:
            return "none"
        if self.rules.missing in ("fractional", "surrogate"):
            return "out"
        if self.rules.missing == "branch" and self.is_allowed(gone):
            return "own"
        return "both"

    def two_branches(
        self, left: list[Instance], right: list[Instance], gone: list[Instance]
    ) -> Iterator[tuple[list[list[Instance]], int]]:
        """Every way to add the missing rows to two sides: the branches, and which of them the missing rows take."""
        way = self.way_of(gone)
        if way == "own":
            yield [left, right, gone], 2
        elif way == "both":
            yield [left, right + gone], 1
            yield [left + gone, right], 0
        else:
            yield [left, right], EVERY

    def cuts(self, column: int, groups: dict[int, list[Instance]], gone: list[Instance]) -> Iterator[TwinTest]:
        """By ascending cut; missing to the right first; present against missing last."""
        values = list(groups)
        for i in range(len(values) - 1):
            left = [one for value in values[: i + 1] for one in groups[value]]
            right = [one for value in values[i + 1 :] for one in groups[value]]
            for parts, missing in self.two_branches(left, right, gone):
                yield TwinTest(CUT, column, parts, missing, (values[i] + values[i + 1]) / 2)
        if self.way_of(gone) in ("both", "own"):
            yield TwinTest(CUT, column, [[one for rows in groups.values() for one in rows], gone], 1, float("inf"))

    def two_sets(self, column: int, groups: dict[int, list[Instance]], gone: list[Instance]) -> Iterator[TwinTest]:
        """Fewer levels on the left first; then the set with the lowest code not in both; then missing right."""
        tests: dict[tuple[object, ...], TwinTest] = {}
        for levels in self.level_sets(groups):
            left = [one for level in groups if level in levels for one in groups[level]]
            right = [one for level in groups if level not in levels for one in groups[level]]
            ways = self.two_branches(left, right, gone) if right else iter([([left, gone], 1)] if gone else [])
            if not right and self.way_of(gone) == "out":
                continue
            for parts, missing in ways:
                self.add_stated(tests, column, list(groups), levels, parts, missing)
        for key in sorted(tests):
            if self.rules.nominal_splits == "runs":
                tests[key].placed = self.placed(column, tests[key].sides)
            yield tests[key]

    def placed(self, column: int, sides: dict[int, int]) -> dict[int, int]:
        """The side of each level that is not there: that of the nearest one that is, the lower of equally near."""
        if len(set(sides.values())) < 2:
            return {}
        absent = set(range(self.table.n_levels[column])) - set(sides)
        return {code: sides[min(sides, key=lambda one: (abs(one - code), one))] for code in absent}

    @staticmethod
    def add_stated(
        tests: dict[tuple[object, ...], TwinTest],
        column: int,
        held: list[int],
        levels: set[int],
        parts: list[list[Instance]],
        missing: int,
    ) -> None:
        """State a division: fewer levels on the left; of two halves the one with the lowest code."""
        n_left = len(levels)
        if 2 * n_left > len(held) or (2 * n_left == len(held) and min(held) not in levels):
            levels = set(held) - levels
            parts = [parts[1], parts[0], *parts[2:]]
            missing = 1 - missing if missing in (0, 1) else missing
        sides = {level: int(level not in levels) for level in held}
        key = (len(levels), tuple(sides.values()), -missing)
        tests[key] = TwinTest(SET, column, parts, missing, sides=sides)

    def level_sets(self, groups: dict[int, list[Instance]]) -> Iterator[set[int]]:
        """Sets of levels for one side; all of them is present against missing."""
        if self.rules.nominal_splits == "one_vs_rest":
            yield from ({level} for level in groups)
            yield set(groups)
        elif self.rules.nominal_splits == "runs":
            order = sorted(groups)
            for n_left in range(1, len(order) + 1):
                yield set(order[:n_left])
        elif self.costs.has_one_number():
            order = sorted(groups, key=lambda level: (self.costs.rank(groups[level]), level))
            for n_left in range(1, len(order) + 1):
                yield set(order[:n_left])
        else:
            for chosen in product((False, True), repeat=len(groups)):
                if any(chosen):
                    yield {level for level, is_in in zip(groups, chosen, strict=True) if is_in}

    def branch_per_level(
        self, column: int, groups: dict[int, list[Instance]], gone: list[Instance]
    ) -> Iterator[TwinTest]:
        """A branch for each level of the column; missing rows have their own or join where that costs least."""
        parts = [groups.get(level, []) for level in range(self.table.n_levels[column])]
        missing = EVERY
        way = self.way_of(gone)
        if way == "own":
            missing = len(parts)
            parts.append(gone)
        elif way == "both":
            extra = [(self.costs.cost(rows + gone) - self.costs.cost(rows), level) for level, rows in groups.items()]
            tolerance = SAME * self.costs.cost([one for rows in groups.values() for one in rows] + gone)
            missing = next(level for more, level in extra if more <= min(extra)[0] + tolerance)
            parts[missing] = parts[missing] + gone
        if sum(bool(part) for part in parts) > 1:
            yield TwinTest(LEVELS, column, parts, missing, sides={level: level for level in groups})

    # Division.

    @staticmethod
    def n_branches(test: TwinTest | None) -> int:
        assert test is not None
        return len(test.parts)

    @staticmethod
    def heaviest(parts: list[list[Instance]]) -> int:
        """Of two equal ones the right one, of more the first."""
        weights = [weight_of(part) for part in parts]
        if len(weights) == 2:
            return int(weights[0] <= weights[1])
        return weights.index(max(weights))

    def split(self, node: TwinNode) -> None:
        test = node.test
        assert test is not None
        _, gone = self.by_value(node.instances, test.column)
        parts = [list(part) for part in test.parts]
        node.missing_branch = test.missing if test.missing != EVERY else self.heaviest(test.parts)
        # A level never seen goes where most of the rows with a level go, not into a branch for missing rows alone.
        n_sides = self.table.n_levels[test.column] if test.kind == LEVELS else 2
        node.unseen_branch = self.heaviest(test.parts[:n_sides])
        if self.rules.missing == "surrogate":
            node.surrogates = self.surrogates(node, test)
            for one in gone:
                parts[self.answer_of(node, one[0])].append(one)
        elif self.rules.missing == "fractional":
            shares = [weight_of(part) / sum(map(weight_of, test.parts), Fraction(0)) for part in test.parts]
            for row, weight in gone:
                for branch, share in enumerate(shares):
                    if share:
                        parts[branch].append((row, weight * share))
        for part in parts:
            if part:
                node.children.append(self.opened(part, node.depth + 1))
            else:
                node.children.append(TwinNode([], node.depth + 1, node.impurity, node.value))

    # Surrogates (Breiman et al. 1984, section 5.3.1).

    def surrogates(self, node: TwinNode, test: TwinTest) -> list[TwinSurrogate]:
        primary = {row: branch for branch, part in enumerate(test.parts) for row, _ in part}
        sides = [weight_of(part) for part in test.parts]
        found = []
        for column in range(len(self.table.columns)):
            if column == test.column:
                continue
            best = self.surrogate_of(column, node.instances, primary)
            if best is not None:
                agreed, surrogate = best
                surrogate.agreement = agreed / sum(sides)
                surrogate.adjusted = (agreed - max(sides)) / min(sides)
                if surrogate.adjusted > 0:
                    found.append(surrogate)
        found.sort(key=lambda one: (-one.agreement, one.column))
        return found[: self.rules.max_surrogates]

    def surrogate_of(
        self, column: int, instances: Sequence[Instance], primary: dict[int, int]
    ) -> tuple[Fraction, TwinSurrogate] | None:
        """What agrees most in a column; None where the heavier side alone agrees as much."""
        everyone, _ = self.by_value(instances, column)
        # Rows without a primary answer count for nothing, but a cut lies midway between neighbours of them all.
        groups = {value: [one for one in rows if one[0] in primary] for value, rows in everyone.items()}
        both = [one for rows in groups.values() for one in rows]
        to_beat = max(self.sent(both, primary, branch) for branch in (0, 1)) if both else Fraction(0)
        best: tuple[Fraction, TwinSurrogate] | None = None
        if self.table.n_levels[column]:
            heavier = int(self.sent(both, primary, 1) > self.sent(both, primary, 0))
            sides, agreed = {}, Fraction(0)
            for level, rows in groups.items():
                if not rows:
                    continue
                zero, one = (self.sent(rows, primary, branch) for branch in (0, 1))
                sides[level] = int(one > zero) if one != zero else heavier
                agreed += max(zero, one)
            empty = Fraction(0)
            best = agreed, TwinSurrogate(column, empty, empty, sides=sides, otherwise=heavier)
        else:
            values = list(groups)
            for i in range(len(values) - 1):
                left = [one for value in values[: i + 1] for one in groups[value]]
                right = [one for value in values[i + 1 :] for one in groups[value]]
                if min(len(left), len(right)) < 2:
                    continue
                straight = self.sent(left, primary, 0) + self.sent(right, primary, 1)
                flipped = self.sent(left, primary, 1) + self.sent(right, primary, 0)
                if best is None or max(straight, flipped) > best[0]:
                    cut = (values[i] + values[i + 1]) / 2
                    test = TwinSurrogate(column, Fraction(0), Fraction(0), int(flipped > straight), cut)
                    best = max(straight, flipped), test
        return best if best is not None and best[0] > to_beat else None

    @staticmethod
    def sent(instances: Sequence[Instance], primary: dict[int, int], branch: int) -> Fraction:
        return weight_of([one for one in instances if primary[one[0]] == branch])

    def answer_of(self, node: TwinNode, row: int) -> int:
        """The first surrogate that answers, else the heavier branch."""
        for surrogate in node.surrogates:
            value = self.table.columns[surrogate.column][row]
            if value is None:
                continue
            if surrogate.sides is None:
                return int(value > surrogate.threshold) ^ surrogate.flipped
            if value in surrogate.sides:
                return surrogate.sides[value]
        return node.missing_branch


class RatioTwin(ByNodeTwin):
    """The largest gain ratio among columns of at least average gain."""

    def choose(self, node: TwinNode) -> TwinTest | None:
        offers = [test for column in range(len(self.table.columns)) if (test := self.best_of(node, column))]
        if not offers:
            return None
        average = sum((test.gain for test in offers), ZERO) / len(offers)
        tolerance = SAME * self.costs.cost(node.instances)
        offers = [test for test in offers if test.gain >= average - tolerance]
        for test in offers:
            info = self.split_info(node, test)
            test.score = test.gain / info if info else ZERO
        best = max(test.score for test in offers)
        self.is_close |= any(SAME / 2 < best - test.score < 2 * SAME for test in offers)
        return next(test for test in offers if test.score >= best - SAME)

    @staticmethod
    def split_info(node: TwinNode, test: TwinTest) -> Decimal:
        """Bits of the division times the node's weight; rows that go everywhere are a part of their own."""
        parts = [weight_of(part) for part in test.parts]
        return bits_of([*parts, weight_of(node.instances) - sum(parts, Fraction(0))])
