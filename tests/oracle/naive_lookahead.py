"""The least objective of trees whose first levels are free and whose others are greedy, by trying every first part.

In: a table, limits, levels. Out: the least and the largest objective that the search may find. They differ where a
greedy test is not the only best one of its rows, or levels of a nominal column have equal means: which of them is taken
is not told.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

from naive_optimal import CLASS_LOSSES, Rows, Sets, Twin, TwinLimits, TwinTable

NEAR = 1e-9
Range = tuple[float, float]


@dataclass
class LookaheadTwin:
    """The search of one table."""

    table: TwinTable
    limits: TwinLimits
    levels: int
    completed: dict[tuple[Rows, int], Range] = field(default_factory=dict)

    def __post_init__(self) -> None:
        loss = "gini" if self.table.loss == "misclassification" else self.table.loss
        self.criterion = replace(self.table, loss=loss)
        self.of_leaf = Twin(self.table, self.limits, Sets.NOWHERE)._leaf
        self.has_sets = self.table.loss not in CLASS_LOSSES or len(set(self.table.target)) == 2

    def best(self) -> Range:
        """The least objective: at least, at most."""
        return self.search(frozenset(range(len(self.table.target))), self.levels)

    def search(self, rows: Rows, levels: int) -> Range:
        """Every test of some rows."""
        if levels == 0:
            return self.completion(rows, self.limits.max_depth - self.levels)
        least = most = self.of_leaf(rows)[0]
        for (left, right), is_sure in self.tests(rows):
            one, other = self.search(left, levels - 1), self.search(right, levels - 1)
            least = min(least, one[0] + other[0])
            most = min(most, one[1] + other[1]) if is_sure else most
        return least, most

    def completion(self, rows: Rows, levels: int) -> Range:
        """The greedy tree of some rows, pruned by the objective."""
        if (rows, levels) not in self.completed:
            leaf = self.of_leaf(rows)[0]
            tests = self.tests(rows) if levels and self.criterion.leaf_loss(rows) > NEAR else []
            scored = [(sum(map(self.criterion.leaf_loss, sides)), sides, is_sure) for sides, is_sure in tests]
            found = (leaf, leaf)
            if scored:
                to_beat = min((score for score, _, is_sure in scored if is_sure), default=float("inf"))
                below = [
                    (self.completion(left, levels - 1), self.completion(right, levels - 1))
                    for score, (left, right), _ in scored if score <= to_beat + NEAR
                ]  # fmt: skip
                found = (
                    min([leaf, *(one[0] + other[0] for one, other in below)]),
                    min(leaf, max(one[1] + other[1] for one, other in below)),
                )
            self.completed[rows, levels] = found
        return self.completed[rows, levels]

    def tests(self, rows: Rows) -> list[tuple[tuple[Rows, Rows], bool]]:
        """Both sides of every test whose sides may be leaves, and whether it is one in any case."""
        sure = self.table.parts(rows, False)
        if self.has_sets:
            sure |= {(left, rows - left) for left in self.sets_by_mean(rows, False)}
        maybe = {(left, rows - left) for left in self.sets_by_mean(rows, True)} if self.has_sets else set()
        every = [(sides, True) for sides in sure] + [(sides, False) for sides in maybe - sure]
        return [(sides, is_sure) for sides, is_sure in every if max(self.of_leaf(side)[0] for side in sides) < 1e300]

    def sets_by_mean(self, rows: Rows, is_tied: bool) -> list[Rows]:
        """The first levels in the order of their means; ``is_tied``: with any of those whose means are equal."""
        found = []
        for column in self.table.columns:
            if not column.is_nominal:
                continue
            groups: dict[Fraction, list[Rows]] = {}
            for level in {column.cells[row] for row in rows}:
                held = frozenset(row for row in rows if column.cells[row] == level)
                weight = sum(self.table.weights[row] for row in held)
                mean = Fraction(sum(self.table.weights[row] * self.table.target[row] for row in held), weight)
                groups.setdefault(mean, []).append(held)
            below: Rows = frozenset()
            for mean in sorted(groups):
                every = frozenset().union(*groups[mean])
                found.append(below | every)
                if is_tied:
                    size = len(groups[mean])
                    for number in range(1, 2**size - 1):
                        some = [group for at, group in enumerate(groups[mean]) if number >> at & 1]
                        found.append(below | frozenset().union(*some))
                below |= every
        return [left for left in found if left != rows]
