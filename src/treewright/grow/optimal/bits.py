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
    """``tests`` uint64[t, w]: the rows on the left of each test; the first ``n_first`` words hold the first class.

    ``error``: loss of a misclassified row. ``price``: of a leaf. Memory of the kernels: ``full``, ``part``
    int32[2, t, t] and ``diagonals`` int32[2, t], counts; ``masked`` uint64[t, w], ``here`` uint64[w]; ``floors``
    int64[t].
    """

    tests: np.ndarray
    n_first: int
    error: int
    price: int
    full: np.ndarray
    part: np.ndarray
    diagonals: np.ndarray
    masked: np.ndarray
    here: np.ndarray
    floors: np.ndarray


@dataclass(frozen=True, eq=False)
class BitSpace:
    """The tests of a table as bits, and what each of them is: place, kind and number as in ``pairs``.

    ``places`` int64[n]: the bit of each row.
    """

    bits: Bits
    names: list[tuple[int, int, int]]
    places: np.ndarray

    def words(self, rows: np.ndarray) -> np.ndarray:
        """uint64[w]: some rows (int32[m]) as bits."""
        held = np.zeros(64 * self.bits.tests.shape[1], bool)
        held[self.places[rows]] = True
        return np.packbits(held, bitorder="little").view(np.uint64)


def bit_space_of(cells: Cells, loss: Loss, price: int) -> BitSpace | None:
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
    if not 0 < len(sides) <= _MOST_TESTS:
        return None
    t, is_second = len(sides), loss.labels == 1
    n_first = -(-int((~is_second).sum()) // 64)
    places = np.where(is_second, 64 * n_first + np.cumsum(is_second) - 1, np.cumsum(~is_second) - 1)
    n_words = n_first - (-int(is_second.sum()) // 64)
    counts, more = np.empty((2, t, t), np.int32), np.empty((2, t, t), np.int32)
    bits = Bits(
        np.zeros((t, n_words), np.uint64), n_first, int(loss.costs[0, 1]), price, counts, more,
        np.empty((2, t), np.int32), np.empty((t, n_words), np.uint64), np.empty(n_words, np.uint64),
        np.empty(t, np.int64),
    )  # fmt: skip
    space = BitSpace(bits, names, places)
    for test, left in zip(bits.tests, sides, strict=True):
        test[:] = space.words(np.flatnonzero(left))
    return space


@inner_kernel
def _count(bits, rows, counts):
    """How many of some rows (uint64[w]) of each class pass both of two tests, for all pairs, int32[2, t, t], OUT."""
    tests, masked, n_first = bits.tests, bits.masked, bits.n_first
    n_tests, n_words = tests.shape
    for i in range(n_tests):
        for w in range(n_words):
            masked[i, w] = tests[i, w] & rows[w]
        for j in range(i + 1):
            first = np.int64(0)
            second = np.int64(0)
            for w in range(n_first):
                first += ones(masked[i, w] & tests[j, w])
            for w in range(n_first, n_words):
                second += ones(masked[i, w] & tests[j, w])
            counts[0, i, j] = first
            counts[0, j, i] = first
            counts[1, i, j] = second
            counts[1, j, i] = second


@inner_kernel
def _number_of(bits, rows):
    """How many of some rows (uint64[w]) are of each class."""
    first = np.int64(0)
    second = np.int64(0)
    for w in range(rows.shape[0]):
        if w < bits.n_first:
            first += ones(rows[w])
        else:
            second += ones(rows[w])
    return first, second


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
        if own_left + own_right <= value and own_left + own_right < best[0]:
            best[0] = own_left + own_right
            best[1] = n_tests + i
        elif value < best[0]:
            best[0] = value
            best[1] = i


@kernel
def best_pair_of_bits(bits, rows, max_leaves, best):
    """The best tree of two levels of some rows (uint64[w]); ``best`` int64[2], OUT: see ``_best_of_counts``."""
    first, second = _number_of(bits, rows)
    _count(bits, rows, bits.full)
    _best_of_counts(bits, bits.full, first, second, max_leaves, best)


@kernel
def best_triple_of_bits(bits, rows, best):
    """The best tree of three levels of some rows, with a root test.

    ``rows`` uint64[w]. ``best`` int64[4], INOUT: the objective to beat, and then the least one; the root test, -1 if
    none beats it; scratch. ``bits.floors``, OUT: lower bounds of the objective with each root test.
    """
    tests, full, part, floors = bits.tests, bits.full, bits.part, bits.floors
    n_tests, n_words = tests.shape
    first, second = _number_of(bits, rows)
    _count(bits, rows, full)
    found, here = best[2:], bits.here
    floors[:] = 0
    best[1] = -1
    for _ in range(n_tests):
        at = 0
        for j in range(1, n_tests):
            if floors[j] < floors[at]:
                at = j
        if floors[at] >= best[0]:
            return
        for w in range(n_words):
            here[w] = tests[at, w] & rows[w]
        n_left = full[0, at, at] + full[1, at, at]
        if n_left == 0 or n_left == first + second:
            floors[at] = INF
            continue
        _count(bits, here, part)
        _best_of_counts(bits, part, np.int64(full[0, at, at]), np.int64(full[1, at, at]), 4, found)
        value = found[0]
        for k in range(2):
            for i in range(n_tests):
                for j in range(n_tests):
                    part[k, i, j] = full[k, i, j] - part[k, i, j]
        _best_of_counts(bits, part, first - full[0, at, at], second - full[1, at, at], 4, found)
        value += found[0]
        floors[at] = INF  # it is not tried again
        if value < best[0]:
            best[0] = value
            best[1] = at
        for j in range(n_tests):
            apart = np.int64(0)
            for w in range(n_words):
                apart += ones((tests[at, w] ^ tests[j, w]) & rows[w])
            # The same test with its sides exchanged is as near.
            apart = min(apart, first + second - apart)
            floors[j] = max(floors[j], value - apart * bits.error)
