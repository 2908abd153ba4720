"""CHAID written from its rules, slowly, in exact fractions: lists of rows, sets of levels, every pair compared anew.

p-values come from SciPy, so that nothing is shared with the kernels but the rules.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

from scipy import special


@dataclass
class Settings:
    """The parameters of a tree."""

    alpha: float = 0.05
    alpha_merge: float = 0.05
    exhaustive: bool = False
    bonferroni: bool = True
    n_bins: int = 10
    max_depth: int = 3
    min_rows: int = 1
    likelihood_ratio: bool = False


@dataclass
class Split:
    """The groups of one column: lists of cells (None for missing), and their test."""

    column: int
    groups: list[list[object]]
    statistic: float
    p: float
    adjusted: float


@dataclass
class Node:
    """A node: its rows, its split if it has one, and the nodes below by group."""

    rows: list[int]
    split: Split | None = None
    below: list[Node] = field(default_factory=list)


class NaiveChaid:
    """One tree. ``columns`` hold ``(kind, cells)``; nominal and ordinal cells are level numbers."""

    def __init__(self, columns, target, weights, is_classes, settings):
        self.target, self.is_classes, self.settings = target, is_classes, settings
        self.weights = [Fraction(weight) for weight in weights]
        self.known = {}
        self.columns = [
            (kind != "nominal", self.binned(cells) if kind == "numeric" else cells) for kind, cells in columns
        ]

    def binned(self, cells):
        """Numbers as bins by the middle of each value's weight."""
        values = sorted({cell for cell in cells if cell is not None})
        if len(values) <= self.settings.n_bins:
            return [None if cell is None else values.index(cell) for cell in cells]
        weight = {value: Fraction(0) for value in values}
        for cell, here in zip(cells, self.weights, strict=True):
            if cell is not None:
                weight[cell] += here
        total, below, bins = sum(weight.values()), Fraction(0), {}
        for value in values:
            bins[value] = math.floor((below + weight[value] / 2) * self.settings.n_bins / total)
            below += weight[value]
        return [None if cell is None else bins[cell] for cell in cells]

    def grow(self):
        """The root."""
        return self.node(list(range(len(self.target))), 0)

    def node(self, rows, depth):
        """A node and all below."""
        node = Node(rows)
        if depth >= self.settings.max_depth or len({self.target[row] for row in rows}) == 1:
            return node
        splits = [split for split in self.splits(rows) if split is not None]
        if not splits:
            return node
        least = min(split.adjusted for split in splits)
        if least > self.settings.alpha:
            return node
        equal = [split for split in splits if split.adjusted <= least * (1 + 1e-9)]
        largest = max(split.statistic for split in equal)
        node.split = next(split for split in equal if split.statistic >= largest * (1 - 1e-10))
        cells = self.columns[node.split.column][1]
        for group in node.split.groups:
            node.below.append(self.node([row for row in rows if cells[row] in group], depth + 1))
        return node

    def splits(self, rows):
        """The split of each column, None where it has none."""
        return [self.split(column, rows) for column in range(len(self.columns))]

    def split(self, column, rows):
        """Merge the levels of one column."""
        is_ordered, cells = self.columns[column]
        present = sorted({cells[row] for row in rows if cells[row] is not None})
        has_gone = any(cells[row] is None for row in rows)
        floats = is_ordered and has_gone
        groups = [[level] for level in present] + ([[None]] if has_gone and not is_ordered else [])
        c = len(present) + has_gone
        if not present or c < 2:
            return None
        rows_of = lambda group: [row for row in rows if cells[row] in group]  # noqa: E731 - reads as a term here

        def pairs():
            indices = range(len(groups))
            return [(i, i + 1) for i in indices[:-1]] if is_ordered else list(combinations(indices, 2))

        def likeness(i, j):
            return self.likeness([rows_of(groups[i]), rows_of(groups[j])])

        def merge(i, j):
            groups[i] = groups[i] + groups[j]
            del groups[j]

        def judged():
            return self.judge(column, rows, groups, c, is_ordered, floats)

        def weight_of(group):
            return sum(self.weights[row] for row in rows_of(group))

        alone = {group[0] for group in groups if weight_of(group) <= 1}
        if not (self.is_classes or is_ordered or self.settings.exhaustive):
            while len(groups) > 2 and len(single := [k for k, group in enumerate(groups) if group[0] in alone]) > 1:
                merge(single[0], single[1])

        steps = [(judged(), [list(group) for group in groups])]
        while True:
            while len(groups) + floats > 2:
                i, j = max(pairs(), key=lambda pair: (*likeness(*pair), -pair[0], -pair[1]))
                if not self.settings.exhaustive and likeness(i, j)[0] <= self.settings.alpha_merge:
                    break
                merge(i, j)
                steps.append((judged(), [list(group) for group in groups]))
            if self.settings.exhaustive:
                judged_steps = [at for at, (split, _) in enumerate(steps) if split is not None]
                if judged_steps:
                    least = min(steps[at][0].p for at in judged_steps)
                    groups[:] = next(steps[at][1] for at in judged_steps if steps[at][0].p <= least * (1 + 1e-9))
            merged_small = False
            while small := [k for k in range(len(groups)) if len(rows_of(groups[k])) < self.settings.min_rows]:
                one = min(small, key=lambda k: (len(rows_of(groups[k])), k))
                others = [pair for pair in pairs() if one in pair]
                if not others:
                    return None
                merge(*max(others, key=lambda pair: (*likeness(*pair), -pair[0], -pair[1])))
                merged_small = True
            if self.settings.exhaustive or not merged_small:
                return judged()

    def judge(self, column, rows, groups, c, is_ordered, floats):
        """Test these groups; a floating missing level joins one or stays alone."""
        cells = self.columns[column][1]
        if not floats:
            return self.tested(column, rows, groups, c, is_ordered, floats)
        gone = [row for row in rows if cells[row] is None]
        like = [self.likeness([gone, [row for row in rows if cells[row] in group]]) for group in groups]
        joined = max(range(len(groups)), key=lambda k: (*like[k], -k))
        together = [[*group, None] if k == joined else group for k, group in enumerate(groups)]
        first = self.tested(column, rows, together, c, is_ordered, floats)
        if len(gone) < self.settings.min_rows:
            return first
        alone = self.tested(column, rows, [*groups, [None]], c, is_ordered, floats)
        is_less = first is None or alone.p * self.multiplier(
            c, len(groups) + 1, is_ordered, floats
        ) < first.p * self.multiplier(c, len(groups), is_ordered, floats) * (1 - 1e-9)
        return alone if is_less else first

    def tested(self, column, rows, groups, c, is_ordered, floats):
        """The split of final groups."""
        if len(groups) < 2:
            return None
        cells = self.columns[column][1]
        statistic, p = self.test([[row for row in rows if cells[row] in group] for group in groups])
        factor = self.multiplier(c, len(groups), is_ordered, floats)
        return Split(column, [list(group) for group in groups], statistic, p, min(1.0, p * factor))

    def likeness(self, groups):
        """What pairs are compared by: p, then the smaller statistic."""
        statistic, p = self.test(groups)
        return p, -statistic

    def test(self, groups):
        """Statistic and p-value of groups of rows."""
        key = tuple(map(tuple, groups))
        if key not in self.known:
            self.known[key] = self.by_classes(groups) if self.is_classes else self.by_means(groups)
        return self.known[key]

    def by_classes(self, groups):
        """Chi-squared."""
        classes = sorted({self.target[row] for group in groups for row in group})
        table = [
            [sum(self.weights[row] for row in group if self.target[row] == label) for label in classes]
            for group in groups
        ]
        total = sum(map(sum, table))
        statistic = Fraction(0) if not self.settings.likelihood_ratio else 0.0
        for counts in table:
            for count, in_class in zip(counts, map(sum, zip(*table, strict=True)), strict=True):
                expected = sum(counts) * in_class / total
                if not self.settings.likelihood_ratio:
                    statistic += (count - expected) ** 2 / expected
                elif count:
                    statistic += 2 * float(count) * math.log(count / expected)
        dof = (len(groups) - 1) * (len(classes) - 1)
        if self.settings.likelihood_ratio:
            statistic = round(statistic, 10)
        return float(statistic), 1.0 if dof == 0 else float(special.chdtrc(dof, float(statistic)))

    def by_means(self, groups):
        """One-way analysis of variance."""

        def moments(rows):
            weight = sum(self.weights[row] for row in rows)
            mean = sum(self.weights[row] * self.target[row] for row in rows) / weight
            return weight, mean, sum(self.weights[row] * (self.target[row] - mean) ** 2 for row in rows)

        parts = [moments(group) for group in groups]
        weight, mean, _ = moments([row for group in groups for row in group])
        within = sum(part[2] for part in parts)
        between = sum(part[0] * (part[1] - mean) ** 2 for part in parts)
        dof, within_dof = len(groups) - 1, weight - len(groups)
        if between == 0 or within_dof <= 0:
            return 0.0, 1.0
        if within == 0:
            return math.inf, 0.0
        statistic = float(between / dof / (within / within_dof))
        return statistic, float(special.fdtrc(dof, float(within_dof), statistic))

    def multiplier(self, c, r, is_ordered, floats):
        """Kass's and Biggs's numbers of ways, in integers."""
        if not self.settings.bonferroni:
            return 1
        if self.settings.exhaustive:
            if floats:
                return (c - 1) ** 2
            return c * (c - 1) // 2 if is_ordered else c * (c * c - 1) // 6
        if floats:
            return math.comb(c - 2, r - 2) + r * math.comb(c - 2, r - 1)
        if is_ordered:
            return math.comb(c - 1, r - 1)
        return sum(
            (-1) ** i * Fraction((r - i) ** c, math.factorial(i) * math.factorial(r - i)) for i in range(r)
        ).__int__()
