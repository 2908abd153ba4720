"""The slow, obvious twin of growth on bins. In: columns of bin numbers. Out: ``TwinTree``.

Callers: test_binned_against_twin.

A bin is a value to ``naive_tree.Twin``. What growth on bins has beside it is added here: which columns a node may use
(candidates, groups, draws), one random cut a column, and weights that count as rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from naive_tree import Candidate, Twin, TwinLimits, TwinNode, TwinTable, TwinTree

_WORD = 2**64 - 1


def mix(state: int, position: int) -> int:
    """splitmix64 (Steele, Lea and Flood 2014) on whole numbers."""
    z = (state + (position + 1) * 0x9E3779B97F4A7C15) & _WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WORD
    return z ^ (z >> 31)


@dataclass
class Ranges:
    """Smallest and largest value of each bin of each column; empty lists for nominal columns."""

    lowest: list[list[float]]
    highest: list[list[float]]


@dataclass
class BinnedLimits(TwinLimits):
    max_features: int | None = None
    seed: int = 0
    random_cuts: bool = False
    interactions: tuple[tuple[int, ...], ...] | None = None
    counts_rows: bool = False
    candidates: Sequence[int] | None = None


@dataclass
class Place:
    """What a node's path says of it."""

    key: int
    asked: frozenset[int] = field(default_factory=frozenset)


class BinnedTwin(Twin):
    """Grows one tree on bins."""

    limits: BinnedLimits

    def __init__(self, table: TwinTable, ranges: Ranges, limits: BinnedLimits) -> None:
        super().__init__(table, limits)
        self.ranges = ranges
        everyone = tuple(range(len(table.criterion.y)))
        self.places = {everyone: Place(mix(limits.seed, 0))}  # by a node's rows: no two nodes have the same

    def divide(self, tree: TwinTree, number: int) -> list[int]:
        node = tree.nodes[number]
        here = self.places[tuple(sorted(node.rows))]
        for branch, rows in enumerate((node.split.left, node.split.right)):
            rows.sort()
            self.places[tuple(rows)] = Place(mix(here.key, branch), here.asked | {node.split.column})
        return super().divide(tree, number)

    def count(self, rows: Sequence[int]) -> int:
        """How many rows these are."""
        return self.criterion.weight(rows) if self.limits.counts_rows else len(rows)

    def is_allowed(self, node: TwinNode, candidate: Candidate) -> bool:
        sides = (candidate.left, candidate.right)
        enough = min(self.count(side) for side in sides) >= self.limits.min_samples_leaf
        if not enough or not min(map(len, sides)):
            return False
        wanted, self.limits.min_samples_leaf = self.limits.min_samples_leaf, 1
        try:
            return super().is_allowed(node, candidate)
        finally:
            self.limits.min_samples_leaf = wanted

    def usable(self, node: TwinNode) -> list[int]:
        """Columns that the node's path may still ask for, ascending."""
        limits = self.limits
        pool = list(range(len(self.table.columns)) if limits.candidates is None else limits.candidates)
        if limits.interactions is None:
            return pool
        asked = self.places[tuple(sorted(node.rows))].asked
        groups = [set(group) for group in limits.interactions if asked <= set(group)]
        return [column for column in pool if any(column in group for group in groups)]

    def best_split(self, node: TwinNode) -> Candidate | None:
        limits = self.limits
        if (
            self.criterion.is_pure(node.rows)
            or self.count(node.rows) < limits.min_samples_split
            or (limits.max_depth is not None and node.depth >= limits.max_depth)
        ):
            return None
        best = None
        for columns in self.drawn(node):
            for column in sorted(columns):
                best = self.better(node, column, best)
            if best is not None:
                break
        if best is None:
            return None
        decrease = self.criterion.decrease(best.gain, self.total_weight)
        return best if decrease * (1 + 1e-9) >= limits.min_impurity_decrease else None

    def better(self, node: TwinNode, column: int, best: Candidate | None) -> Candidate | None:
        """The best of what there was and of what a later column offers."""
        offered = list(self.candidates(node, column))
        if not offered:
            return best
        largest = max(candidate.gain for candidate in offered)
        first = min((candidate for candidate in offered if candidate.gain == largest), key=lambda one: one.order)
        return first if best is None or first.gain > best.gain else best

    def drawn(self, node: TwinNode) -> Iterator[list[int]]:
        """Columns to look at together; then, where they do not split the node, one after another."""
        pool = self.usable(node)
        wanted = self.limits.max_features or len(self.table.columns)
        if wanted >= len(pool):
            yield pool
            return
        key = self.places[tuple(sorted(node.rows))].key
        for j in range(len(pool)):
            other = j + mix(key, j) % (len(pool) - j)
            pool[j], pool[other] = pool[other], pool[j]
            if j + 1 == wanted:
                yield pool[:wanted]
            elif j + 1 > wanted:
                yield [pool[j]]

    def candidates(self, node: TwinNode, column: int) -> Iterator[Candidate]:
        if not self.limits.random_cuts:
            yield from super().candidates(node, column)
            return
        parent = self.criterion.score(node.rows)
        for candidate in self.random_ways(node, column):
            if self.is_allowed(node, candidate):
                sides = (self.criterion.score(side) for side in (candidate.left, candidate.right))
                gain = self.criterion.gain(parent, *sides)
                if gain is not None:
                    candidate.gain = gain
                    yield candidate

    def random_ways(self, node: TwinNode, column: int) -> Iterator[Candidate]:
        """The random cut with missing rows on either side, and all present rows against the missing ones."""
        groups, missing = self.by_value(node, column)
        if not groups:
            return
        goes_left = self.random_left(node, column, list(groups))
        left = [row for value in goes_left for row in groups[value]]
        right = [row for value in groups if value not in goes_left for row in groups[value]]
        levels = frozenset(goes_left) if self.table.n_levels[column] else None
        if right:
            yield Candidate(Fraction(0), column, (0, False), list(left), right + missing, levels=levels)
            if missing:
                sides = (left + missing, list(right))
                yield Candidate(Fraction(0), column, (0, True), *sides, levels=levels, missing_left=True)
        if missing:
            everything = frozenset(groups) if self.table.n_levels[column] else None
            yield Candidate(Fraction(0), column, (1, False), left + right, list(missing), levels=everything)

    def random_left(self, node: TwinNode, column: int, values: list[int]) -> list[int]:
        """Which of a node's bins a random cut sends left."""
        state = mix(self.places[tuple(sorted(node.rows))].key, 2**40 + column)
        if self.table.n_levels[column]:
            heads = [value for value in values if mix(state, value) >> 63]
            if not heads:
                return values[:1]
            return heads if len(heads) < len(values) or len(values) == 1 else values[:-1]
        last = self.random_last(node, column, values)
        return [value for value in values if value <= last]

    def random_last(self, node: TwinNode, column: int, values: list[int]) -> int:
        """The last bin that a random cut of a number sends left, with rows in the node or not."""
        state = mix(self.places[tuple(sorted(node.rows))].key, 2**40 + column)
        share = (mix(state, 0) >> 11) * 2.0**-53
        low, high = min(values), max(values)
        cut = self.ranges.lowest[column][low] * (1.0 - share) + self.ranges.highest[column][high] * share
        below = [b for b in range(low, high) if self.ranges.highest[column][b] <= cut]
        return below[-1] if below else low
