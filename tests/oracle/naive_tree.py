"""The slow, obvious twin of the grower. In: a table of plain numbers. Out: ``TwinTree``.

Caller: test_grower_against_twin.

Written from the stated rules and not from the kernels: every candidate split of every node is listed, its gain is an
exact fraction, and the first of the best ones in the stated order wins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

from naive_criteria import Criterion

EXHAUSTIVE_LEVELS = 10


@dataclass
class TwinTable:
    """Columns of whole numbers (None is missing); a nominal column holds level codes below its ``n_levels``."""

    columns: list[list[int | None]]
    n_levels: list[int]  # 0 for a numeric or ordinal column
    criterion: Criterion
    weight_unit: Fraction = Fraction(1)  # weight of one step of the criterion's whole-number weights


@dataclass
class TwinLimits:
    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    max_leaf_nodes: int | None = None
    min_impurity_decrease: float = 0.0
    monotone: tuple[int, ...] | None = None


@dataclass
class Candidate:
    gain: Fraction
    column: int
    order: tuple[object, ...]  # place among candidates of equal gain in the same column
    left: list[int]
    right: list[int]
    threshold: float = 0.0
    levels: frozenset[int] | None = None
    missing_left: bool = False


@dataclass
class TwinNode:
    rows: list[int]
    depth: int
    low: Fraction | None = None
    high: Fraction | None = None
    split: Candidate | None = None
    first_child: int = -1
    missing_branch: int = 0
    left_bits: frozenset[int] = frozenset()
    seen_bits: frozenset[int] = frozenset()


@dataclass
class TwinTree:
    nodes: list[TwinNode] = field(default_factory=list)


class Twin:
    """Grows one tree."""

    def __init__(self, table: TwinTable, limits: TwinLimits) -> None:
        self.table, self.limits, self.criterion = table, limits, table.criterion
        self.total_weight = sum(self.criterion.weights)
        self.touches_bound = False  # a candidate's prediction equals a bound: floating point may see it on either side

    def grow(self) -> TwinTree:
        tree = TwinTree([TwinNode(list(range(len(self.criterion.y))), 0)])
        tree.nodes[0].split = self.best_split(tree.nodes[0])
        waiting = [0]
        n_leaves = 1
        while True:
            waiting = [node for node in waiting if tree.nodes[node].split is not None]
            if not waiting or n_leaves == self.limits.max_leaf_nodes:
                return tree
            if self.limits.max_leaf_nodes is not None:
                waiting.sort(key=lambda node: (-tree.nodes[node].split.gain, node))
            node = waiting.pop(0)
            waiting += self.divide(tree, node)
            n_leaves += 1

    def divide(self, tree: TwinTree, number: int) -> list[int]:
        """Give a node its two children; returns their numbers."""
        node, first = tree.nodes[number], len(tree.nodes)
        split = node.split
        node.first_child = first
        children = [TwinNode(rows, node.depth + 1, node.low, node.high) for rows in (split.left, split.right)]
        left_is_heavier = self.criterion.weight(split.left) > self.criterion.weight(split.right)
        values = self.table.columns[split.column]
        has_missing = any(values[row] is None for row in node.rows)
        node.missing_branch = int(not (split.missing_left if has_missing else left_is_heavier))
        if split.levels is not None:
            node.seen_bits = frozenset(values[row] for row in node.rows if values[row] is not None)
            unseen = set(range(self.table.n_levels[split.column] + 1)) - node.seen_bits
            node.left_bits = split.levels | (unseen if left_is_heavier else set())
        direction = self.limits.monotone[split.column] if self.limits.monotone else 0
        if direction:
            middle = (self.criterion.prediction(split.left) + self.criterion.prediction(split.right)) / 2
            lower, upper = children if direction > 0 else reversed(children)
            lower.high, upper.low = middle, middle
        for child in children:
            child.split = self.best_split(child)
        tree.nodes += children
        return [first, first + 1]

    def best_split(self, node: TwinNode) -> Candidate | None:
        limits = self.limits
        if (
            self.criterion.is_pure(node.rows)
            or len(node.rows) < limits.min_samples_split
            or (limits.max_depth is not None and node.depth >= limits.max_depth)
        ):
            return None
        best = None
        for column in range(len(self.table.columns)):
            for candidate in self.candidates(node, column):
                if (
                    best is None
                    or candidate.gain > best.gain
                    or (
                        candidate.gain == best.gain and candidate.column == best.column and candidate.order < best.order
                    )
                ):
                    best = candidate
        if best is None:
            return None
        decrease = self.criterion.decrease(best.gain, self.total_weight)
        return best if decrease * (1 + 1e-9) >= limits.min_impurity_decrease else None

    def candidates(self, node: TwinNode, column: int) -> Iterator[Candidate]:
        """Every allowed split of a node by a column."""
        parent = self.criterion.score(node.rows)
        listed = self.subsets(node, column) if self.table.n_levels[column] else self.cuts(node, column)
        for candidate in listed:
            if not self.is_allowed(node, candidate):
                continue
            gain = self.criterion.gain(
                parent, self.criterion.score(candidate.left), self.criterion.score(candidate.right)
            )
            if gain is not None:
                candidate.gain = gain
                yield candidate

    def is_allowed(self, node: TwinNode, candidate: Candidate) -> bool:
        sides = (candidate.left, candidate.right)
        if min(len(side) for side in sides) < max(self.limits.min_samples_leaf, 1):
            return False
        # A share of the weight is stated in decimals: 7 of 100 rows are 0.07, whatever 0.07 * 100 rounds to.
        least = Fraction(self.limits.min_weight_fraction_leaf) * self.total_weight * (1 - Fraction(1, 10**12))
        if min(self.criterion.weight(side) for side in sides) < least:
            return False
        if not (self.limits.monotone and any(self.limits.monotone)):
            return True
        left, right = (self.criterion.prediction(side) for side in sides)
        bounds = [bound for bound in (node.low, node.high) if bound is not None]
        self.touches_bound = self.touches_bound or left in bounds or right in bounds
        if node.low is not None and min(left, right) < node.low:
            return False
        if node.high is not None and max(left, right) > node.high:
            return False
        return (left - right) * self.limits.monotone[candidate.column] <= 0

    def by_value(self, node: TwinNode, column: int) -> tuple[dict[int, list[int]], list[int]]:
        """Rows of each value, ascending, and the rows where it is missing."""
        groups: dict[int, list[int]] = {}
        missing = []
        for row in node.rows:
            value = self.table.columns[column][row]
            if value is None:
                missing.append(row)
            else:
                groups.setdefault(value, []).append(row)
        return dict(sorted(groups.items())), missing

    def cuts(self, node: TwinNode, column: int) -> Iterator[Candidate]:
        groups, missing = self.by_value(node, column)
        values = list(groups)
        for i in range(len(values)):
            left = [row for value in values[: i + 1] for row in groups[value]]
            right = [row for value in values[i + 1 :] for row in groups[value]]
            threshold = (values[i] + values[i + 1]) / 2 if right else float("inf")
            if right or missing:
                yield Candidate(Fraction(0), column, (i, False), left, right + missing, threshold)
            if right and missing:
                order = (i, True)
                yield Candidate(Fraction(0), column, order, left + missing, right, threshold, missing_left=True)

    def subsets(self, node: TwinNode, column: int) -> Iterator[Candidate]:
        groups, missing = self.by_value(node, column)
        for levels in self.level_sets(groups) if groups else ():
            for missing_left in (False, True) if missing else (False,):
                yield self.stated_form(column, groups, missing, levels, missing_left)

    def level_sets(self, groups: dict[int, list[int]]) -> Iterator[set[int]]:
        """Sets of levels to try on the left, each partition once (the other side is tried by the missing rows' way)."""
        if not self.criterion.has_one_number():
            if len(groups) > EXHAUSTIVE_LEVELS:
                raise ValueError("the twin does not know the order along the first principal component")
            for sides in product((False, True), repeat=len(groups)):
                yield {level for level, side in zip(groups, sides, strict=True) if side}
            return
        order = sorted(groups, key=lambda level: (self.criterion.rank(groups[level]), level))
        for n_left in range(1, len(order) + 1):
            yield set(order[:n_left])

    @staticmethod
    def stated_form(
        column: int, groups: dict[int, list[int]], missing: Sequence[int], levels: set[int], missing_left: bool
    ) -> Candidate:
        """Fewer levels on the left; of two halves the one with the lowest code."""
        others = set(groups) - levels
        if len(levels) > len(others) or (len(levels) == len(others) and min(groups) not in levels):
            levels, others, missing_left = others, levels, not missing_left
        left = [row for level in groups if level in levels for row in groups[level]] + list(
            missing if missing_left else ()
        )
        right = [row for level in groups if level in others for row in groups[level]] + list(
            () if missing_left else missing
        )
        # Of two sets the one that holds the lowest code in which they differ comes first.
        order = (len(levels), tuple(level not in levels for level in groups), missing_left)
        return Candidate(Fraction(0), column, order, left, right, levels=frozenset(levels), missing_left=missing_left)
