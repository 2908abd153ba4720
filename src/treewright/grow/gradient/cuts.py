"""The best cut of one column. In: the sums of its bins. Out: gain, cut, side of missing cells. Callers: .search.

Sums stay in the units of the words, so each is a whole number below 2**32 until it is squared: the same bits in any
order of rows. Of equal gains the lowest cut wins, and missing cells go right.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import bare_inner_kernel
from treewright.grow.gradient.layout import MISSING_BIN, SUBSET

NOTHING = -1.0  # no gain: no cut is allowed
LOW = 0xFFFFFFFF  # the half of a word that holds the hessian


@bare_inner_kernel
def shrunk(gradient, l1):
    """A gradient, taken towards 0 by ``l1``."""
    return max(gradient - l1, 0.0) + min(gradient + l1, 0.0)


@bare_inner_kernel
def value_of(gradient, hessian, l1, l2, low, high):
    """What a node would answer: Newton's step within its bounds; 0 where it has no curvature at all."""
    below = hessian + l2
    value = -shrunk(gradient, l1) / below if below > 0.0 else 0.0
    return min(max(value, low), high)


@bare_inner_kernel
def worth(gradient, hessian, l1, l2, value):
    """Twice what a node's loss falls by its answer (Chen and Guestrin 2016, equation 7, before the best is put in)."""
    return -(2.0 * gradient * value + (hessian + l2) * value * value + 2.0 * l1 * abs(value))


@bare_inner_kernel
def sum_up(words, n_cuts, start, desk):
    """Sums left of each cut: those of the words up to it, added to ``start``.

    A cut behind a bin without rows is the one before it: left out, so a small node has few cuts to weigh.

    Returns
    -------
    int
        How many cuts there are; ``desk.cuts`` says where.
    """
    sums, cuts = desk.sums, desk.cuts
    word, m = start, np.uintp(0)
    for b in range(n_cuts):
        added = words[b]
        word += added
        sums[m] = word
        cuts[m] = b
        m += np.uintp((added != 0) | ((b == 0) & (start != 0)))
    return np.int64(m)


@bare_inner_kernel
def unpack(n_cuts, desk):
    """Gradients and hessians left of each cut (as part of ``sum_up`` 250 ns a column; apart 150 and 20)."""
    sums, gradient, hessian = desk.sums, desk.gradient, desk.hessian
    for b in range(n_cuts):
        gradient[b] = np.float64(np.int32(sums[b] >> 32))
        hessian[b] = np.float64(np.uint32(sums[b] & LOW))


@bare_inner_kernel
def refuse_few(n_cuts, counts, n_start, n_rows, least, desk):
    """Allow no cut that leaves fewer than ``least`` rows on a side."""
    gains, cuts, rows_left = desk.gains, desk.cuts, desk.rows_left
    rows = n_start
    for b in range(cuts[n_cuts - 1] + 1 if n_cuts > 0 else 0):
        rows += counts[b]
        rows_left[b] = rows
    for k in range(n_cuts):
        rows = rows_left[cuts[k]]
        gains[k] = gains[k] if (rows >= least) & (n_rows - rows >= least) else NOTHING


@bare_inner_kernel
def first_best(n_cuts, desk):
    """The first of the largest gains' places; -1 where no cut is allowed.

    Numbers that are not negative are in the order of their bits, and whole numbers are compared several at a time.
    """
    bits, best = desk.gain_bits, np.int64(-1)
    for k in range(n_cuts):
        best = max(best, bits[k])
    if best < 0:
        return -1
    k = 0
    while bits[k] != best:
        k += 1
    return k


@bare_inner_kernel
def free_gains(n_cuts, gradient, hessian, l2, least, high, desk):
    """What each cut is worth, without bounds and ``l1``: each side's squared gradient over its hessian.

    A loop of its own, without a branch, and with one division for both sides: so it is done several cuts at a time.

    Returns
    -------
    int
        How many cuts have a side that would answer more than ``high``, up or down.
    """
    left_gradient, left_hessian, gains = desk.gradient, desk.hessian, desk.gains
    n_clipped = 0
    for b in range(n_cuts):
        g, h = left_gradient[b], left_hessian[b]
        other_g, other_h = gradient - g, hessian - h
        below, other_below = h + l2, other_h + l2
        gain = (g * g * other_below + other_g * other_g * below) / (below * other_below)
        gains[b] = gain if (h >= least) & (other_h >= least) else NOTHING
        n_clipped += np.int64((abs(g) > high * below) | (abs(other_g) > high * other_below))
    return n_clipped


@bare_inner_kernel
def bounded_gains(n_cuts, gradient, hessian, l2, least, sign, low, high, l1, desk):
    """What each cut is worth where answers are bounded, shrunk, or have to rise or fall from left to right."""
    for b in range(n_cuts):
        g, h = desk.gradient[b], desk.hessian[b]
        other_g, other_h = gradient - g, hessian - h
        desk.gains[b] = NOTHING
        if h < least or other_h < least:
            continue
        left = value_of(g, h, l1, l2, low, high)
        right = value_of(other_g, other_h, l1, l2, low, high)
        if sign * (right - left) >= 0.0:
            desk.gains[b] = worth(g, h, l1, l2, left) + worth(other_g, other_h, l1, l2, right)


@bare_inner_kernel
def clip_gains(n_cuts, gradient, hessian, l2, low, high, desk):
    """What cuts are worth where a side would answer more than it may; what ``free_gains`` found for the others."""
    for b in range(n_cuts):
        g, h = desk.gradient[b], desk.hessian[b]
        other_g, other_h = gradient - g, hessian - h
        is_free = abs(g) <= high * (h + l2) and abs(other_g) <= high * (other_h + l2)
        if desk.gains[b] != NOTHING and not is_free:
            left = value_of(g, h, 0.0, l2, low, high)
            right = value_of(other_g, other_h, 0.0, l2, low, high)
            desk.gains[b] = worth(g, h, 0.0, l2, left) + worth(other_g, other_h, 0.0, l2, right)


@bare_inner_kernel
def fill_gains(n_cuts, gradient, hessian, l2, sign, low, high, limits, desk):
    """What each cut is worth: the sums left of it stand in the desk.

    Without monotone constraints the bounds are those of the largest step, as far down as up.
    """
    if limits.bounded or limits.l1 > 0.0:
        bounded_gains(n_cuts, gradient, hessian, l2, limits.min_hessian, sign, low, high, limits.l1, desk)
        return
    # Few nodes clip anything, and that loop is slow: always done, searches of 1,000 x 10 took 45 ms a fit and not 39.
    if free_gains(n_cuts, gradient, hessian, l2, limits.min_hessian, high, desk) > 0:
        clip_gains(n_cuts, gradient, hessian, l2, low, high, desk)


@bare_inner_kernel
def best_cut(words, n_cuts, start, counts, n_start, n_rows, by_counts, total, l2, sign, low, high, limits, desk):
    """The first of the best cuts between the bins of ``words``, with ``start`` already on the left.

    Parameters
    ----------
    words : int64[>= n_cuts], IN
    start : int64
        A word: what is on the left of every cut.
    counts : int64[>= n_cuts], IN
        Rows of each bin; ``n_start`` are on the left of every cut, ``n_rows`` are there in all.
    by_counts : bool
        Whether both sides need ``min_rows`` of them; else ``counts`` is not read.
    total : int64
        The node's word.

    Returns
    -------
    worth : float
        In the units of the words; ``NOTHING`` where no cut is allowed.
    cut : int
    """
    gradient, hessian = np.float64(total >> 32), np.float64(total & LOW)
    m = sum_up(words, n_cuts, start, desk)
    unpack(m, desk)
    fill_gains(m, gradient, hessian, l2, sign, low, high, limits, desk)
    if by_counts:
        refuse_few(m, counts, n_start, n_rows, limits.min_rows, desk)
    k = first_best(m, desk)
    return (desk.gains[k], np.int64(desk.cuts[k])) if k >= 0 else (NOTHING, -1)


@bare_inner_kernel
def sort_levels(bins, n_bins, smoothing, desk):
    """Bins with rows by gradient over hessian, missing cells among them; the lower bin of equals first.

    For a convex loss the best of all subsets is a first run of this order (Fisher 1958; Breiman et al. 1984, 4.2.2).

    Returns
    -------
    int
        How many there are; they stand in ``desk.levels``, their words in ``desk.sorted``.
    """
    m = 0
    for b in range(256):
        if (b >= n_bins and b != MISSING_BIN) or bins[b] == 0:
            continue
        word = bins[b]
        key = np.float64(word >> 32) / (np.float64(word & LOW) + smoothing)
        at = m
        while at > 0 and desk.keys[at - 1] > key:
            desk.keys[at], desk.levels[at], desk.sorted[at] = (
                desk.keys[at - 1],
                desk.levels[at - 1],
                desk.sorted[at - 1],
            )
            at -= 1
        desk.keys[at], desk.levels[at], desk.sorted[at] = key, b, word
        m += 1
    return m


@bare_inner_kernel
def search_column(kind, sign, bins, n_bins, total, n_rows, by_counts, low, high, limits, desk):
    """The best test of a column.

    Parameters
    ----------
    kind, sign : int
        ``NUMERIC``, ``SUBSET`` or ``ORDERED``; of a monotone constraint -1, 0 or 1.
    bins : int64[256], IN
        Words of the node by bin.
    n_bins : int
    total, n_rows : int
        The node's word; what its rows count as.
    by_counts : bool
        Whether ``desk.counts`` holds the rows of each bin, and a side needs ``min_rows`` of them.
    low, high : float
        Bounds of the node's answer.
    limits : Limits
    desk : Desk

    Returns
    -------
    worth : float
    cut : int
        Last bin on the left; of a subset the number of ``desk.levels`` on the left, less one.
    missing_left : int
    """
    if kind == SUBSET:
        m = sort_levels(bins, n_bins, limits.smoothing, desk)
        if by_counts:
            for at in range(m):
                desk.sorted_counts[at] = desk.counts[desk.levels[at]]
        best, cut = best_cut(
            desk.sorted, m - 1, 0, desk.sorted_counts, 0, n_rows, by_counts, total, limits.l2 + limits.level_l2, 0,
            low, high, limits, desk,
        )  # fmt: skip
        return best, cut, 0
    missing = bins[MISSING_BIN]
    n_cuts = n_bins if missing != 0 else n_bins - 1
    best, cut = best_cut(
        bins, n_cuts, 0, desk.counts, 0, n_rows, by_counts, total, limits.l2, sign, low, high, limits, desk
    )
    if missing == 0:
        return best, cut, 0
    n_missing = desk.counts[MISSING_BIN] if by_counts else 0
    other, at = best_cut(
        bins, n_bins - 1, missing, desk.counts, n_missing, n_rows, by_counts, total, limits.l2, sign, low, high,
        limits, desk,
    )  # fmt: skip
    return (other, at, 1) if other > best else (best, cut, 0)
