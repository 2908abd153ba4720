"""Optimal trees of two and three levels on tests that are bits. In: bits of tests and rows. Out: the best root test.

Where every column offers one cut, or a few levels, a test is a set of bits, a bit a row. For two classes, each row
counting once, the errors of all trees of two levels follow from how many rows of each class pass both of two tests:
the number of bits in an intersection (Demirovic et al. 2022, section 4.3, count them row by row). The rows of the first
class come first, and no word holds rows of both. Three levels try each root test so; the counts of its second side are
those of all rows less those of the first. Two root tests that differ in few rows have objectives that differ by no more
than these: what cannot beat the incumbent is not tried.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic

from treewright.core.jit import inner_kernel, kernel, twin_of
from treewright.core.structs import struct
from treewright.grow.optimal.losses import COST, Loss
from treewright.grow.optimal.pairs import CUT, INF, ONE_LEVEL, WITH_MISSING
from treewright.grow.optimal.space import Cells

_MOST_TESTS = 512  # their counts are a table of 2 megabytes
_MOST_LEVELS = 3  # of a nominal column: one level against the rest is then every set of levels


@intrinsic
def _ones(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@twin_of(_ones)
def ones(word: Any) -> int:
    """How many bits of a uint64 are set."""
    return int(word).bit_count()


@struct
class Bits(NamedTuple):
    """``tests`` uint64[w, t]: some rows as bits, 1 on the left of a test; the first ``n_words`` hold the first class.

    ``n_first``, ``n_second``: rows of each class. ``error``: loss of a misclassified row. ``price``: of a leaf.
    ``grain``: see `grain_of`. Memory of the kernels: ``full``, ``part`` int32[2, t, t] and ``diagonals`` int32[2, t],
    counts; ``floors`` int64[t].
    """

    tests: np.ndarray
    n_words: int
    n_first: int
    n_second: int
    error: int
    price: int
    grain: int
    full: np.ndarray
    part: np.ndarray
    diagonals: np.ndarray
    floors: np.ndarray


@dataclass(frozen=True, eq=False)
class BitSpace:
    """The tests of a table as bits, and what each of them is: place, kind and number as in ``pairs``.

    ``sides`` bool[t, n]: the rows on the left of each test. ``is_second`` bool[n]: rows of the second class.
    """

    bits: Bits
    names: list[tuple[int, int, int]]
    sides: np.ndarray
    is_second: np.ndarray

    def of(self, rows: np.ndarray) -> Bits:
        """The bits of some rows (int32[m]); only words that have any, so that fewer rows take less time."""
        parts = rows[~self.is_second[rows]], rows[self.is_second[rows]]
        n_words = [-(-len(part) // 64) for part in parts]
        held = np.zeros((len(self.sides), 64 * sum(n_words)), bool)
        for start, part in zip((0, 64 * n_words[0]), parts, strict=True):
            held[:, start : start + len(part)] = self.sides[:, part]
        tests = np.ascontiguousarray(np.packbits(held, axis=1, bitorder="little").view(np.uint64).T)
        return self.bits._replace(tests=tests, n_words=n_words[0], n_first=len(parts[0]), n_second=len(parts[1]))


def bit_space_of(cells: Cells, loss: Loss, price: int, grain: int) -> BitSpace | None:
    """The tests as bits; None where the columns, the loss or the weights are not fit for it."""
    is_unit = loss.kind == COST and loss.n_sums == 2 and bool((loss.weights == 1).all())
    if not is_unit or loss.costs[0, 1] != loss.costs[1, 0]:
        return None
    if (cells.ranks.max(initial=0) > 1) or (cells.n_levels.max(initial=0) > _MOST_LEVELS):
        return None
    sides: list[np.ndarray] = []
    names: list[tuple[int, int, int]] = []
    for place, ranks in enumerate(cells.ranks):
        sides.append(ranks == 0)
        names.append((place, CUT, 0))
    for at, codes in enumerate(cells.codes):
        gone = int(cells.missing[at])
        for level in range(int(cells.n_levels[at])):
            sides.append(codes == level)
            names.append((len(cells.ranks) + at, ONE_LEVEL, level))
            if gone >= 0 and level != gone:
                sides.append((codes == level) | (codes == gone))
                names.append((len(cells.ranks) + at, WITH_MISSING, level))
    t = len(sides)
    if not 0 < t <= _MOST_TESTS:
        return None
    bits = Bits(
        np.zeros((0, t), np.uint64), 0, 0, 0, int(loss.costs[0, 1]), price, grain, np.empty((2, t, t), np.int32),
        np.empty((2, t, t), np.int32), np.empty((2, t), np.int32), np.empty(t, np.int64),
    )  # fmt: skip
    return BitSpace(bits, names, np.array(sides), loss.labels == 1)


def promise_of_bits(bits: Bits) -> np.ndarray:
    """float64[t]: how alike the rows on both sides of each test are, the smallest best; 1 if it parts none."""
    left = np.array([np.bitwise_count(words).sum(axis=0) for words in np.split(bits.tests, [bits.n_words])], float)
    right = np.array([[bits.n_first], [bits.n_second]]) - left
    n_left, n_right = left.sum(axis=0), right.sum(axis=0)
    parts = (n_left > 0) & (n_right > 0)
    with np.errstate(invalid="ignore"):
        scores = -((left * left).sum(axis=0) / n_left + (right * right).sum(axis=0) / n_right)
    return np.where(parts, scores, 1.0)


@inner_kernel
def _count(bits, on_left_of, counts):
    """How many rows of each class are on the left of both of two tests, for all pairs, int32[2, t, t], OUT.

    ``on_left_of``: count only the rows on the left of this test; -1 counts all. Four words at a time, and the innermost
    loop over tests: its steps are independent, so that a vector counts many (2.5 times as fast as pair by pair).
    """
    tests = bits.tests
    n_words, n_tests = tests.shape
    every = ~np.uint64(0)
    for i in range(n_tests):
        for k in range(2):
            found = counts[k, i]
            for j in range(n_tests):
                found[j] = 0
            w = bits.n_words if k == 1 else 0
            end = n_words if k == 1 else bits.n_words
            while w < end:
                step = min(4, end - w)
                a, b, c, d = tests[w], tests[w + (step > 1)], tests[w + 2 * (step > 2)], tests[w + 3 * (step > 3)]
                of_a, of_b, of_c, of_d = a[i], b[i], c[i], d[i]
                if on_left_of >= 0:
                    of_a, of_b = of_a & a[on_left_of], of_b & b[on_left_of]
                    of_c, of_d = of_c & c[on_left_of], of_d & d[on_left_of]
                of_b &= every if step > 1 else np.uint64(0)
                of_c &= every if step > 2 else np.uint64(0)
                of_d &= every if step > 3 else np.uint64(0)
                for j in range(n_tests):
                    found[j] += np.int32(ones(of_a & a[j]) + ones(of_b & b[j]) + ones(of_c & c[j]) + ones(of_d & d[j]))
                w += step


@inner_kernel
def _best_of_counts(bits, counts, n_first, n_second, max_leaves, best):
    """The best tree of two levels from the counts of pairs; ``best`` int64[2], OUT: its objective and root test.

    The root test is -1 for a leaf, and ``t + j`` for test j alone. ``counts`` int32[2, t, t]; ``n_first`` and
    ``n_second``: rows of each class.
    """
    n_tests = counts.shape[1]
    error, price, diagonals = bits.error, bits.price, bits.diagonals
    first_all, second_all = np.int32(n_first), np.int32(n_second)
    best[0] = min(n_first, n_second) * error + price
    best[1] = -1
    for j in range(n_tests):
        diagonals[0, j] = counts[0, j, j]
        diagonals[1, j] = counts[1, j, j]
    for i in range(n_tests):
        first_i, second_i = diagonals[0, i], diagonals[1, i]
        left = np.int32(2**30)
        right = np.int32(2**30)
        for j in range(n_tests):
            first, second = counts[0, i, j], counts[1, i, j]
            first_j, second_j = diagonals[0, j], diagonals[1, j]
            inside = min(first, second) + min(np.int32(first_i - first), np.int32(second_i - second))
            left = min(left, np.int32(inside))
            outside = min(np.int32(first_j - first), np.int32(second_j - second)) + min(
                np.int32(first_all - first_i - first_j + first), np.int32(second_all - second_i - second_j + second)
            )
            right = min(right, np.int32(outside))
        own_left = np.int64(min(first_i, second_i)) * error + price
        own_right = np.int64(min(np.int32(first_all - first_i), np.int32(second_all - second_i))) * error + price
        of_left = min(own_left, np.int64(left) * error + 2 * price)
        of_right = min(own_right, np.int64(right) * error + 2 * price)
        value = of_left + of_right if max_leaves > 3 else min(own_left + of_right, of_left + own_right)
        value = value if max_leaves > 2 else own_left + own_right
        if own_left + own_right <= value and own_left + own_right < best[0]:
            best[0] = own_left + own_right
            best[1] = n_tests + i
        elif value < best[0]:
            best[0] = value
            best[1] = i


@kernel
def best_pair_of_bits(bits, max_leaves, best):
    """The best tree of two levels of some rows; ``best`` int64[2], OUT: see ``_best_of_counts``."""
    _count(bits, -1, bits.full)
    _best_of_counts(bits, bits.full, bits.n_first, bits.n_second, max_leaves, best)


@kernel
def best_triple_of_bits(bits, below, best):
    """The best tree of three levels of some rows, with a root test.

    A better tree has less than ``below``, and less loss than the best. ``best`` int64[4], INOUT: the least objective;
    the root test, -1 if no tree has less; scratch. ``bits.floors``, OUT: lower bounds of the objective with each root
    test.
    """
    tests, full, part, floors = bits.tests, bits.full, bits.part, bits.floors
    n_tests = tests.shape[1]
    n_first, n_second = bits.n_first, bits.n_second
    _count(bits, -1, full)
    found = best[2:]
    floors[:] = 0
    best[1] = -1
    for _ in range(n_tests):
        at = 0
        for j in range(1, n_tests):
            if floors[j] < floors[at]:
                at = j
        if floors[at] >= min(below, best[0] - best[0] % bits.grain):
            return
        first_left, second_left = np.int64(full[0, at, at]), np.int64(full[1, at, at])
        n_left = first_left + second_left
        if n_left == 0 or n_left == n_first + n_second:
            floors[at] = INF
            continue
        _count(bits, at, part)
        _best_of_counts(bits, part, first_left, second_left, 4, found)
        value = found[0]
        for k in range(2):
            for i in range(n_tests):
                for j in range(n_tests):
                    part[k, i, j] = full[k, i, j] - part[k, i, j]
        _best_of_counts(bits, part, n_first - first_left, n_second - second_left, 4, found)
        value += found[0]
        floors[at] = INF  # it is not tried again
        if value < best[0]:
            best[0] = value
            best[1] = at
        for j in range(n_tests):
            # Rows on the other side of test j than of this one; the same test with its sides exchanged is as near.
            both = np.int64(full[0, at, j]) + np.int64(full[1, at, j])
            apart = n_left + np.int64(full[0, j, j]) + np.int64(full[1, j, j]) - 2 * both
            apart = min(apart, n_first + n_second - apart)
            floors[j] = max(floors[j], value - apart * bits.error)
