"""A slow, obvious isolation tree: plain Python numbers, lists and sets. The kernel must grow the same one."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

WORD = 2**64 - 1
LARGEST = 1.7976931348623157e308


def mix(state, position):
    """splitmix64, as in the paper."""
    z = (state + (position + 1) * 0x9E3779B97F4A7C15) & WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return z ^ (z >> 31)


def uniform(key, position):
    return (mix(key, position) >> 11) / 2**53


@dataclass
class TwinNode:
    """A node; ``left`` is None at a leaf."""

    rows: list
    depth: int
    value: float = 0.0
    variance: float = 0.0
    column: int = -1
    cut: float = 0.0
    levels_left: set = field(default_factory=set)
    levels_seen: set = field(default_factory=set)
    missing_left: bool = False
    left: TwinNode | None = None
    right: TwinNode | None = None


def average_path(n):
    """The formula of the paper."""
    if n <= 2:
        return max(0.0, n - 1.0)
    return 2.0 * (math.log(n - 1) + 0.5772156649015329) - 2.0 * (n - 1) / n


class Twin:
    """Isolation trees on a table of cells.

    Parameters
    ----------
    table : list of rows; None is missing, levels are codes
    n_levels : list of int, 0 for a column of numbers
    """

    def __init__(self, table, n_levels):
        self.table, self.n_levels = table, n_levels

    def grow(self, rows, columns, key):
        """The tree of the rows and columns that it drew, and the random number of its root."""
        root = TwinNode(rows, 0)
        self.split(root, key, columns, math.ceil(math.log2(max(len(rows), 2))))
        return root

    def split(self, node, key, columns, max_depth):
        """``columns``: those not found constant above."""
        found = None
        if len(node.rows) >= 2 and node.depth < max_depth:
            found, columns = self.varied_column(node, key, columns)
        if found is None:
            node.value = node.depth + average_path(len(node.rows))
            return
        node.column = found
        cells = [self.table[row][found] for row in node.rows]
        present = [x for x in cells if x is not None]
        low, high = min(present), max(present)
        if self.n_levels[found]:
            node.levels_seen = set(present)
            node.levels_left = self.divided(key, sorted(node.levels_seen))
            goes_left = [x in node.levels_left for x in present]
        elif low < high:
            node.cut = self.cut_between(key, low, high)
            goes_left = [x <= node.cut for x in present]
        else:
            node.cut = math.inf
            goes_left = [True] * len(present)
        n_left = sum(goes_left)
        if len(present) < len(cells):
            node.missing_left = low < high and mix(key, 4) % 2 == 0
            n_left += node.missing_left * (len(cells) - len(present))
        is_left_heavier = n_left > len(cells) - n_left
        if len(present) == len(cells):
            node.missing_left = is_left_heavier
        if self.n_levels[found] and is_left_heavier:
            node.levels_left = node.levels_left | (set(range(self.n_levels[found] + 1)) - node.levels_seen)
        sides = [self.answer(node, x) for x in cells]
        node.left = TwinNode([row for row, left in zip(node.rows, sides, strict=True) if left], node.depth + 1)
        node.right = TwinNode([row for row, left in zip(node.rows, sides, strict=True) if not left], node.depth + 1)
        self.split(node.left, mix(key, 0), columns, max_depth)
        self.split(node.right, mix(key, 1), columns, max_depth)
        lengths = self.lengths_below(node)
        node.value = sum(lengths) / len(lengths)
        node.variance = sum((length - node.value) ** 2 for length in lengths) / len(lengths)

    def lengths_below(self, node):
        """The path length of every row of a node."""
        if node.left is None:
            return [node.value] * len(node.rows)
        return self.lengths_below(node.left) + self.lengths_below(node.right)

    def answer(self, node, x):
        if x is None:
            return node.missing_left
        return x in node.levels_left if self.n_levels[node.column] else x <= node.cut

    def varied_column(self, node, key, columns):
        """A column whose cells are not all the same (None: there is none), and the columns left to the branches."""
        waiting, constant, attempt = list(columns), set(), 0
        while waiting:
            place = mix(mix(key, 2), attempt) % len(waiting)
            column = waiting[place]
            if len({self.table[row][column] for row in node.rows}) > 1:
                return column, [column for column in columns if column not in constant]
            constant.add(column)
            waiting[place] = waiting[-1]
            waiting.pop()
            attempt += 1
        return None, []

    def cut_between(self, key, low, high):
        u = uniform(key, 3)
        cut = max(low, -LARGEST) * (1.0 - u) + min(high, LARGEST) * u
        return cut if low <= cut < high else low

    def divided(self, key, levels):
        if len(levels) == 1:
            return set(levels)
        for attempt in range(64):
            left = {level for level in levels if mix(mix(key, 5 + attempt), int(level)) % 2}
            if 0 < len(left) < len(levels):
                return left
        return {levels[0]}
