"""The least loss of any tree within limits, by trying every tree. In: a table, a target, limits. Out: loss and leaves.

A memoised recursion over sets of rows: a set is a leaf, or a test divides it and each part is solved with the levels
and the leaves that are left. The tests of a set are every cut of a numeric or ordinal column, with missing cells on
either side or alone, and one level of a nominal column against the rest, a missing cell being one more level that may
also join the one. ``Sets`` tells at which tests any set of levels is allowed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from itertools import combinations

CLASS_LOSSES = ("misclassification", "gini", "entropy")
NUMBER_LOSSES = ("squared_error", "poisson")

Rows = frozenset[int]
NO_TREE = (math.inf, 0)


class Sets(Enum):
    """Where a test may be any set of levels."""

    NOWHERE = "nowhere"
    ABOVE_LEAVES = "above two leaves"
    EVERYWHERE = "everywhere"


@dataclass
class TwinColumn:
    """Cells of a column, None if missing; levels of a nominal column are numbers too."""

    cells: list[int | None]
    is_nominal: bool = False


@dataclass
class TwinTable:
    """Columns, target and weights of the rows, and the loss of a leaf."""

    columns: list[TwinColumn]
    target: list[int]
    weights: list[int]
    loss: str

    def leaf_loss(self, rows: Rows) -> float:
        """Weight times impurity of some rows."""
        weight = sum(self.weights[row] for row in rows)
        if self.loss in CLASS_LOSSES:
            counts: Counter[int] = Counter()
            for row in rows:
                counts[self.target[row]] += self.weights[row]
            if self.loss == "misclassification":
                return float(weight - max(counts.values()))
            shares = [count / weight for count in counts.values()]
            if self.loss == "gini":
                return weight * math.fsum(share * (1.0 - share) for share in shares)
            return weight * math.fsum(-share * math.log2(share) for share in shares)
        mean = sum(self.weights[row] * self.target[row] for row in rows) / weight
        if self.loss == "squared_error":
            return math.fsum(self.weights[row] * (self.target[row] - mean) ** 2 for row in rows)
        events = [row for row in rows if self.target[row] > 0]
        return math.fsum(self.weights[row] * self.target[row] * math.log(self.target[row] / mean) for row in events)

    def parts(self, rows: Rows, any_set: bool) -> set[tuple[Rows, Rows]]:
        """Every way in which a test divides some rows in two."""
        lefts = {left for column in self.columns for left in _lefts(column, rows, any_set)}
        return {(left, rows - left) for left in lefts if left and left != rows}


def _lefts(column: TwinColumn, rows: Rows, any_set: bool) -> Iterator[Rows]:
    missing = frozenset(row for row in rows if column.cells[row] is None)
    of_value: dict[int, Rows] = {}
    for row in rows - missing:
        value = column.cells[row]
        of_value[value] = of_value.get(value, frozenset()) | {row}
    yield missing
    if not column.is_nominal:
        below: Rows = frozenset()
        for value in sorted(of_value):
            below |= of_value[value]
            yield below
            yield below | missing
        return
    sizes = range(1, len(of_value) + 1) if any_set else (1,)
    for size in sizes:
        for some in combinations(of_value.values(), size):
            held = frozenset().union(*some)
            yield held
            yield held | missing


@dataclass
class TwinLimits:
    """Limits of a tree, and the price of a leaf as mean loss of a row."""

    max_depth: int = 3
    max_leaf_nodes: int | None = None
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    ccp_alpha: float = 0.0


@dataclass
class Twin:
    """The search of one table."""

    table: TwinTable
    limits: TwinLimits
    sets: Sets
    known: dict[tuple[Rows, int, int], tuple[float, int]] = field(default_factory=dict)

    def best(self) -> tuple[float, int]:
        """The least loss with the price of the leaves, and the fewest leaves that have it."""
        rows = frozenset(range(len(self.table.target)))
        depth = self.limits.max_depth
        leaf = cache(self._leaf)
        parts = cache(self.table.parts)

        def solve(some: Rows, levels: int, leaves: int) -> tuple[float, int]:
            leaves = min(leaves, 2**levels)
            key = (some, levels, leaves)
            if key not in self.known:
                found = [leaf(some)]
                if levels and leaves > 1:
                    for left, right in parts(some, self.sets is Sets.EVERYWHERE):
                        for given in range(1, leaves):
                            one = solve(left, levels - 1, given)
                            other = solve(right, levels - 1, leaves - given)
                            found.append((one[0] + other[0], one[1] + other[1]))
                    if self.sets is Sets.ABOVE_LEAVES:
                        for left, right in parts(some, True):
                            one, other = leaf(left), leaf(right)
                            found.append((one[0] + other[0], one[1] + other[1]))
                self.known[key] = min(found)
            return self.known[key]

        return solve(rows, depth, self.limits.max_leaf_nodes or 2**depth)

    def _leaf(self, rows: Rows) -> tuple[float, int]:
        total = sum(self.table.weights)
        weight = sum(self.table.weights[row] for row in rows)
        if len(rows) < self.limits.min_samples_leaf or weight < self.limits.min_weight_fraction_leaf * total - 1e-9:
            return NO_TREE
        return self.table.leaf_loss(rows) + self.limits.ccp_alpha * total, 1


def fewest_leaves(table: TwinTable, max_depth: int, sets: Sets) -> float:
    """The fewest leaves of a tree whose leaves have one class each; infinite if there is none of so many levels."""

    def is_pure(rows: Rows) -> bool:
        return len({table.target[row] for row in rows}) == 1

    @cache
    def solve(rows: Rows, levels: int) -> float:
        if is_pure(rows):
            return 1
        if levels == 0:
            return math.inf
        if sets is Sets.ABOVE_LEAVES and any(is_pure(one) and is_pure(other) for one, other in table.parts(rows, True)):
            return 2
        parts = table.parts(rows, sets is Sets.EVERYWHERE)
        return min((solve(one, levels - 1) + solve(other, levels - 1) for one, other in parts), default=math.inf)

    return solve(frozenset(range(len(table.target))), max_depth)
