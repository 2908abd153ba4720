"""One random cut a column (extra-trees). In: the bins that a node's rows have. Out: which go left.

Callers: grow.binned.search, grow.binned.step.

A number is cut between the smallest and the largest value of the node, all places alike likely (Geurts, Ernst and
Wehenkel 2006); of a nominal column each level present goes left or right by a coin.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import bare_inner_kernel
from treewright.core.random import mix
from treewright.grow.binned.bits import prefetch, trailing_zeros
from treewright.grow.binned.layout import MISSING_BIN
from treewright.grow.layout import MISSING, NEW

_UNIT = 2.0**-53
_CUT_STREAM = np.uint64(1) << np.uint64(40)  # apart from the numbers that draw columns
_VALUES = (np.uint64(1) << np.uint64(63)) - np.uint64(1)  # the last word without the bit of missing cells
_AHEAD = 16


@bare_inner_kernel
def uniform(state, position):
    """A float64 in [0, 1) from a state and a position."""
    return np.float64(mix(state, position) >> np.uint64(11)) * _UNIT


@bare_inner_kernel
def mark_present(codes, rows, chosen, present):
    """Set a bit for each bin that rows have in some columns: ``present`` uint64[k, 4], empty before."""
    m = rows.shape[0]
    for i in range(m):
        row = np.uint64(rows[i])
        prefetch(codes, np.int64(rows[min(i + _AHEAD, m - 1)]))
        for k in range(chosen.shape[0]):
            b = np.uint64(codes[row, np.uint64(chosen[k])])
            present[k, b >> np.uint64(6)] |= np.uint64(1) << (b & np.uint64(63))


@bare_inner_kernel
def next_bin(present, after):
    """The first bin above ``after`` that rows have (not the missing one); -1 where there is none."""
    for word in range((after + 1) >> 6, 4):
        bits = present[word] & _VALUES if word == 3 else present[word]
        if word == (after + 1) >> 6:
            bits &= ~np.uint64(0) << np.uint64((after + 1) & 63)
        if bits != 0:
            return (word << 6) + np.int64(trailing_zeros(bits))
    return -1


@bare_inner_kernel
def last_bin(present):
    """The highest bin that rows have (not the missing one); -1 where there is none."""
    last = -1
    for word in range(4):
        bits = present[word] & _VALUES if word == 3 else present[word]
        while bits != 0:
            last = (word << 6) + np.int64(trailing_zeros(bits))
            bits &= bits - np.uint64(1)
    return last


@bare_inner_kernel
def cut_number(start, lowest, highest, low, high, state):
    """The last bin that goes left: a random value between the lowest and the highest is the cut."""
    share = uniform(state, np.uint64(0))
    x = lowest[start + low] * (1.0 - share) + highest[start + high] * share
    last = low
    stop = high
    while stop - last > 1:  # the last bin before ``high`` whose values are all up to x
        middle = (last + stop) >> 1
        if highest[start + middle] <= x:
            last = middle
        else:
            stop = middle
    return last


@bare_inner_kernel
def random_last(column, start, lowest, highest, key, low, high):
    """``cut_number`` of a node and column."""
    return cut_number(start, lowest, highest, low, high, mix(key, _CUT_STREAM + np.uint64(column)))


@bare_inner_kernel
def toss_levels(present, low, high, state, sides):
    """A coin for each level present; where all fall alike the first goes left, or the last right."""
    n_levels = 0
    n_left = 0
    b = low
    while b >= 0:
        sides[b] = mix(state, np.uint64(b)) >> np.uint64(63)
        n_levels += 1
        n_left += sides[b]
        b = next_bin(present, b)
    if n_left == 0:
        sides[low] = 1
    elif n_left == n_levels and n_levels > 1:
        sides[high] = 0


@bare_inner_kernel
def cut_at_random(column, is_nominal, start, lowest, highest, key, present, sides):
    """Put 1 into ``sides`` uint8[256] for each bin with rows that goes left, 0 for the others.

    Returns
    -------
    before, after : int
        Of a number: the bins with rows beside the cut; the same bin where there is but one, -1 where there is none.
    """
    low = next_bin(present, -1)
    high = last_bin(present)
    if low < 0:
        return -1, -1
    if is_nominal:
        toss_levels(present, low, high, mix(key, _CUT_STREAM + np.uint64(column)), sides)
        return low, high
    last = random_last(column, start, lowest, highest, key, low, high)
    for b in range(255):
        sides[b] = 1 if b <= last else 0
    before = low
    after = low
    while after >= 0 and after <= last:
        before = after
        after = next_bin(present, after)
    return before, after


@bare_inner_kernel
def random_side(codes, column, bins, key, rows, present, sides):
    """``cut_at_random`` for one column of some rows; ``present`` uint64[>= 1, 4] is scratch, empty before and after."""
    for i in range(rows.shape[0]):
        b = np.uint64(codes[rows[i], column])
        present[0, b >> np.uint64(6)] |= np.uint64(1) << (b & np.uint64(63))
    cut_at_random(
        column, bins.is_nominal[column], bins.start[column], bins.lowest, bins.highest, key, present[0], sides
    )
    for word in range(4):
        present[0, word] = 0


@bare_inner_kernel
def prepare_cuts(codes, rows, node_key, varying, bins, present, sides, cuts):
    """A random cut for each of some columns, as tables that count rows as 0 (left), 1 (right) or missing.

    Parameters
    ----------
    present : uint64[>= k, 4], OUT
        Empty before; the bins of each column.
    sides : uint8[>= k, 256], OUT
    cuts : int32[k, 3], OUT
        The bins beside each cut; ``cuts[:, 2]`` is not written.
    """
    mark_present(codes, rows, varying, present)
    for k in range(varying.shape[0]):
        column = np.int64(varying[k])
        table = sides[k]
        cuts[k, 0], cuts[k, 1] = cut_at_random(
            column, bins.is_nominal[column], bins.start[column], bins.lowest, bins.highest, node_key, present[k], table
        )
        for b in range(255):
            table[b] ^= 1
        table[MISSING_BIN] = MISSING_BIN


@bare_inner_kernel
def two_runs(codes, column, rows, sides, items, spare):
    """Items in two runs, those that a random cut sends left and the others; missing ones last.

    Returns
    -------
    n_present, n_left : int
    """
    left = 0
    right = 0
    absent = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        b = codes[row, column]
        if b == MISSING_BIN:
            spare[rows.shape[0] - 1 - absent] = row
            absent += 1
            continue
        goes_left = np.int64(sides[b])
        items[left] = row
        left += goes_left
        if not goes_left:
            spare[right] = row
            right += 1
    for i in range(right):
        items[left + i] = spare[i]
    for i in range(absent):
        items[left + right + i] = spare[rows.shape[0] - 1 - i] | MISSING
    if left > 0:
        items[0] |= NEW
    if right > 0:
        items[left] |= NEW
    if absent > 0:
        items[left + right] |= NEW
    return left + right, left
