"""One random cut per column (extra-trees). In: the bins of a node's rows. Out: the bins that go left, and the gain.

A numeric column is cut uniformly between the smallest and the largest value of the node (Geurts, Ernst and Wehenkel
2006), and the sampled value is the threshold, as far as bins can represent it. In a nominal column each level present
goes left or right at random.

Rows are read twice per column, once for its span and once for the sums below the cut: 200,000 x 28, one tree on one
thread, took 199 ms with histograms of three bins and sorted rows instead (docs/decisions/0005).
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import inner_kernel
from treewright.core.random import mix, prefetch, trailing_zeros
from treewright.data.bins import MISSING_BIN
from treewright.grow.binned.layout import CONSTANT
from treewright.grow.criteria.families import by_family, gain_of
from treewright.grow.layout import MISSING, NEW, NOT_FEW
from treewright.grow.objective import CountStats, MeanStats, MedianStats, PoissonStats

_UNIT = 2.0**-53
_CUT_STREAM = np.uint64(1) << np.uint64(40)  # separate from the random numbers that sample columns
_VALUES = (np.uint64(1) << np.uint64(63)) - np.uint64(1)  # the last word without the bit of missing cells
_AHEAD = 16  # rows
_AT_A_TIME = 1024  # rows: their bins stay in the cache while all columns are read


@inner_kernel
def uniform(state, position):
    """A float64 in [0, 1) from a state and a position."""
    return np.float64(mix(state, position) >> np.uint64(11)) * _UNIT


@inner_kernel
def cut_number(column, bins, key, low, high):
    """The last bin that goes left in a node whose rows have bins ``low`` to ``high``: a random value is the cut."""
    start = bins.start[column]
    share = uniform(mix(key, _CUT_STREAM + np.uint64(column)), np.uint64(0))
    x = bins.lowest[start + low] * (1.0 - share) + bins.highest[start + high] * share
    last = low
    n = high - low
    while n > 1:  # the last bin before ``high`` whose values are all up to x, without an unpredictable jump
        half = n >> 1
        last += half if bins.highest[start + last + half] <= x else 0
        n -= half
    return last


@inner_kernel
def is_of_two(column, bins):
    """Whether a column has two bins and no missing cell."""
    return bins.n_bins[column] == 2 and bins.has_missing[column] == 0 and bins.is_nominal[column] == 0


@inner_kernel
def spans_of(codes, rows, chosen, bins, spans):
    """Lowest and highest bin of rows in some columns, missing cells counted as bin 255: ``spans`` int32[>= k, 2].

    If a column has no missing cells, the first thousand rows of a large node mostly have both. A column of two bins has
    only one cut: whether all rows lie on one side of it is seen from the sums.

    ``codes`` uint8[n, stride], ``rows`` int32[m], ``chosen`` int32[k].
    """
    for k in range(chosen.shape[0]):
        is_known = is_of_two(np.int64(chosen[k]), bins)
        spans[k, 0] = 0 if is_known else MISSING_BIN
        spans[k, 1] = 1 if is_known else 0
    for first in range(0, rows.shape[0], _AT_A_TIME):
        some = rows[first : first + _AT_A_TIME]
        for k in range(chosen.shape[0]):
            column = np.uint64(chosen[k])
            low = np.int64(spans[k, 0])
            high = np.int64(spans[k, 1])
            if low == 0 and high + 1 == bins.n_bins[column] and bins.has_missing[column] == 0:
                continue
            for i in range(some.shape[0]):
                b = np.int64(codes[np.uint64(some[i]), column])
                low = min(low, b)
                high = max(high, b)
            spans[k, 0] = low
            spans[k, 1] = high


@inner_kernel
def values_below(values, weights, codes, rows, chosen, cuts, sums, weights_below):
    """``below`` for means: column by column, so that sums stay in registers.

    ``values`` int8 or int64[t, n], ``weights`` int64[n or 0], ``codes`` uint8[n, stride], ``rows`` int32[m], ``chosen``
    int32[k], ``cuts`` int32[>= k, 3], ``sums`` int64[>= k, t], ``weights_below`` int64[>= k].
    """
    has_weights = weights.shape[0] > 0
    for first in range(0, rows.shape[0], _AT_A_TIME):
        some = rows[first : first + _AT_A_TIME]
        for k in range(chosen.shape[0]):
            last = np.int64(cuts[k, 0])
            if last < 0:
                continue
            column = np.uint64(chosen[k])
            weight = np.int64(0)
            for t in range(values.shape[0]):
                total = np.int64(0)
                for i in range(some.shape[0]):
                    row = np.uint64(some[i])
                    is_below = -np.int64(np.int64(codes[row, column]) <= last)
                    total += np.int64(values[t, row]) & is_below
                    if t == 0:
                        weight += (np.int64(weights[row]) if has_weights else 1) & is_below
                sums[k, t] += total
            weights_below[k] += weight


@inner_kernel
def labels_below(labels, offsets, weights, codes, rows, chosen, cuts, sums, weights_below):
    """``below`` for class counts: row by row, so that no addition waits for the one before.

    ``labels`` uint8 or int32[n_outputs, n], ``offsets`` int64[n_outputs + 1], ``weights`` int64[n or 0], ``codes``
    uint8[n, stride], ``rows`` int32[m], ``chosen`` int32[k], ``cuts`` int32[>= k, 3], ``sums`` int64[>= k, t],
    ``weights_below`` int64[>= k].
    """
    has_weights = weights.shape[0] > 0
    m = rows.shape[0]
    for i in range(m):
        row = np.uint64(rows[i])
        prefetch(codes, np.int64(rows[min(i + _AHEAD, m - 1)]))
        weight = np.int64(weights[row]) if has_weights else 1
        for o in range(labels.shape[0]):
            label = np.uint64(offsets[o] + np.int64(labels[o, row]))
            for k in range(chosen.shape[0]):
                is_below = -np.int64(np.int64(codes[row, np.uint64(chosen[k])]) <= np.int64(cuts[k, 0]))
                sums[np.uint64(k), label] += weight & is_below
    for k in range(chosen.shape[0]):
        for label in range(offsets[1]):
            weights_below[k] += sums[k, label]


def below_of_means(stats, codes, rows, chosen, cuts, sums, weights_below):
    """``below`` for means and Poisson."""
    values_below(stats.values, stats.weights, codes, rows, chosen, cuts, sums, weights_below)


def below_of_counts(stats, codes, rows, chosen, cuts, sums, weights_below):
    """``below`` for class counts."""
    labels_below(stats.labels, stats.offsets, stats.weights, codes, rows, chosen, cuts, sums, weights_below)


def below_of_nothing(stats, codes, rows, chosen, cuts, sums, weights_below):
    """``below`` for medians, which cannot be computed from sums: no column has a cut here."""


# ``chosen`` int32[k] are the columns; ``cuts[:, 0]``, int32[>= k, 3], is the last bin that goes left, negative if
# there is no cut. ``sums`` int64[>= k, t] and ``weights_below`` int64[>= k] are zero before.
below = by_family(
    {
        MeanStats: below_of_means,
        PoissonStats: below_of_means,
        CountStats: below_of_counts,
        MedianStats: below_of_nothing,
    },
    "Add the statistics of rows up to each column's cut.",
)


@inner_kernel
def cut_columns(stats, codes, rows, node, nodes, chosen, bins, limits, desk):
    """Write the gain of a random cut in each of some columns into ``desk.gains``, the cut into ``desk.cuts``.

    ``NOT_FEW`` if it must be searched row by row: nominal columns, missing cells, monotone constraints, medians;
    ``CONSTANT`` if all rows have one bin.

    ``codes`` uint8[n, stride], ``rows`` int32[m], ``chosen`` int32[k].
    """
    spans_of(codes, rows, chosen, bins, desk.spans)
    # Sums hold a weight but no number of rows: both can be limited only if they are the same.
    by_sums = not limits.is_monotone and (limits.min_leaf <= 1 or stats.weights.shape[0] == 0)
    by_sums = by_sums and nodes.loss.shape[0] == 0  # medians have losses, all others have sums
    least = max(limits.min_leaf_weight, limits.min_leaf)
    for k in range(chosen.shape[0]):
        column = np.int64(chosen[k])
        low = np.int64(desk.spans[k, 0])
        high = np.int64(desk.spans[k, 1])
        desk.cuts[k, 0] = -1
        desk.cuts[k, 2] = 0
        desk.gains[k] = CONSTANT if low == high else NOT_FEW
        if by_sums and low < high < MISSING_BIN and bins.is_nominal[column] == 0:
            desk.cuts[k, 0] = cut_number(column, bins, nodes.key[node], low, high)
            desk.cuts[k, 1] = desk.cuts[k, 0] + 1
            desk.below_weight[k] = 0
            for t in range(desk.below.shape[1]):
                desk.below[k, t] = 0
    below(stats, codes, rows, chosen, desk.cuts, desk.below, desk.below_weight)
    for k in range(chosen.shape[0]):
        if desk.cuts[k, 0] >= 0:
            weight = desk.below_weight[k]
            if weight == 0 or weight == nodes.weight[node]:
                desk.gains[k] = CONSTANT
                continue
            allowed = min(weight, nodes.weight[node] - weight) >= least
            desk.gains[k] = gain_of(stats, node, nodes, desk.below[k], weight) if allowed else -1.0


@inner_kernel
def next_bin(present, after):
    """The first bin above ``after`` that rows have (not the missing one); -1 if there is none.

    ``present`` uint64[4].
    """
    for word in range((after + 1) >> 6, 4):
        bits = present[word] & _VALUES if word == 3 else present[word]
        if word == (after + 1) >> 6:
            bits &= ~np.uint64(0) << np.uint64((after + 1) & 63)
        if bits != 0:
            return (word << 6) + np.int64(trailing_zeros(bits))
    return -1


@inner_kernel
def toss_levels(present, low, high, state, sides):
    """Send each level present left or right at random; if all take one side the first goes left, or the last right.

    ``present`` uint64[4], ``sides`` uint8[256].
    """
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


@inner_kernel
def mark_random(codes, at, column, bins, key, rows, present, sides):
    """Put 1 into ``sides`` uint8[256] for each bin that a random cut of a column sends left, 0 for the others.

    ``codes`` uint8[n, stride], in which the column is ``at``, ``rows`` int32[m]; ``present`` uint64[4] is scratch.

    Returns
    -------
    int
        For a numeric column the last bin on the left, -1 if all cells are missing.
    """
    for word in range(4):
        present[word] = 0
    low = MISSING_BIN
    high = -1
    for i in range(rows.shape[0]):
        b = np.int64(codes[rows[i], at])
        if b != MISSING_BIN:
            present[b >> 6] |= np.uint64(1) << np.uint64(b & 63)
            low = min(low, b)
            high = max(high, b)
    if high < 0:
        return -1
    if bins.is_nominal[column]:
        toss_levels(present, low, high, mix(key, _CUT_STREAM + np.uint64(column)), sides)
        return high
    last = cut_number(column, bins, key, low, high)
    for b in range(255):
        sides[b] = 1 if b <= last else 0
    return last


@inner_kernel
def two_runs(codes, column, rows, sides, items, spare):
    """Items in two runs, those that a random cut sends left and the others; missing ones last.

    ``codes`` uint8[n, stride], ``rows`` int32[m], ``sides`` uint8[256], ``items`` int32[m], ``spare`` int32[m + 1].

    Returns
    -------
    int
        Number of present items.
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
    return left + right
