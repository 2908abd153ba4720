"""What chance decides in a forest, as kernels. In: seeds, rows as words. Out: hashes, counts of drawn rows, columns.

Callers: forest.draws, forest.grower.

Every number is ``mix`` of the forest's seed, the tree and a running number, so it depends on nothing else. Places of
rows are those in the canonical order (``draws.row_order``); a *unit* is a step of fixed-point weight, and row ``place``
owns the units from ``ends[place - 1]`` up to ``ends[place]``.
"""

from __future__ import annotations

import math

import numpy as np

from treewright.core.jit import inner_kernel, kernel
from treewright.core.random import mix

# Streams of a tree's random numbers: rows, candidate columns, growth.
ROWS, COLUMNS, GROWTH = 0, 1, 2


@kernel
def hash_rows(words, mask, hashes):
    """Carry the words of each row into its hash.

    Parameters
    ----------
    words : uint64[n, k]
    mask : uint64
        Bits of the last word that count.
    hashes : uint64[n]
        Read and written, so that several tables can be hashed one after another.
    """
    n, k = words.shape
    for row in range(n):
        bits = hashes[row]
        for at in range(k - 1):
            bits = mix(bits, words[row, at])
        hashes[row] = mix(bits, words[row, k - 1] & mask)


@kernel
def tree_seeds(seed, first_tree, seeds):
    """The seed of each tree's streams.

    Parameters
    ----------
    seed, first_tree : uint64
    seeds : uint64[n_trees, 3]
        Written: rows, columns, growth.
    """
    for at in range(len(seeds)):
        state = mix(seed, first_tree + np.uint64(at))
        for stream in range(3):
            seeds[at, stream] = mix(state, np.uint64(stream))


@inner_kernel
def below(state, position, bound, remainder):
    """A whole number from 0 to ``bound - 1``, each as likely as the others.

    The high word of the product of 64 random bits with the bound; products that would make some numbers more likely
    are drawn again (Lemire 2019, "Fast random integer generation in an interval", algorithm 5).

    Parameters
    ----------
    state, position : uint64
    bound : uint64, >= 1
    remainder : uint64
        ``2**64 % bound``.

    Returns
    -------
    uint64
    """
    half = np.uint64(32)
    low_half = np.uint64(0xFFFFFFFF)
    bits = mix(state, position)
    while bits * bound < remainder:
        bits = mix(bits, position)
    # The high word of a 128-bit product, from four products of halves; none of these sums passes 2**64.
    across = (bits >> half) * (bound & low_half)
    middle = (((bits & low_half) * (bound & low_half)) >> half) + (across & low_half)
    middle += (bits & low_half) * (bound >> half)
    return (bits >> half) * (bound >> half) + (across >> half) + (middle >> half)


@kernel
def count_with_replacement(state, n_draws, n_units, remainder, ends, guide, shift, counts):
    """How often each place is drawn.

    Parameters
    ----------
    state : uint64
    n_draws : int64
    n_units, remainder : uint64
        Units of all rows, and ``2**64 % n_units``.
    ends : int64[n]
        Where each place's units end; empty where each place owns one.
    guide : int32[k]
        Place that owns unit ``i << shift``; empty with ``ends``.
    shift : int64
    counts : int32[n]
        Zeros; written, by place.
    """
    if len(ends) == 0:  # a loop of its own is vectorised: ten times as fast
        for draw in range(n_draws):
            counts[below(state, np.uint64(draw), n_units, remainder)] += np.int32(1)
        return
    for draw in range(n_draws):
        unit = np.int64(below(state, np.uint64(draw), n_units, remainder))
        place = guide[unit >> shift]
        while ends[place] <= unit:
            place += 1
        counts[place] += np.int32(1)


@kernel
def count_without_replacement(state, n_draws, taken, ends, guide, shift, counts):
    """How many units of each place are drawn, none of them twice.

    Every set of ``n_draws`` units is as likely as any other (Floyd's method: Bentley and Floyd 1987, "Programming
    pearls: a sample of brilliance", Communications of the ACM 30(9), 754).

    Parameters
    ----------
    state : uint64
    n_draws : int64, <= n_units
    taken : uint8[n_units]
        Zeros; written.
    ends, guide, shift, counts
        As in ``count_with_replacement``.
    """
    zero = np.uint64(0)
    for last in range(len(taken) - n_draws, len(taken)):
        bound = np.uint64(last + 1)
        unit = np.int64(below(state, np.uint64(last), bound, (zero - bound) % bound))
        if taken[unit]:
            unit = last
        taken[unit] = 1
        place = unit
        if len(ends):
            place = np.int64(guide[unit >> shift])
            while ends[place] <= unit:
                place += 1
        counts[place] += 1


@kernel
def exponential_keys(state, weights, keys):
    """One exponential waiting time per place; the earliest are a sample without replacement.

    Efraimidis and Spirakis (2006), "Weighted random sampling with a reservoir", Information Processing Letters 97(5),
    in logarithms.

    Parameters
    ----------
    state : uint64
    weights : float64[n], > 0
        By place; the largest is about 1.
    keys : float64[n]
        Written.
    """
    for place in range(len(weights)):
        share = (np.float64(mix(state, np.uint64(place)) >> np.uint64(11)) + 0.5) * 2.0**-53
        keys[place] = -math.log(share) / weights[place]


@kernel
def gather_drawn(counts, places, rows, times):
    """The rows that were drawn, in ascending order, and how often.

    Parameters
    ----------
    counts : int32[n]
        By place.
    places : int32[n]
        Place of each row.
    rows, times : int32[n]
        Written.

    Returns
    -------
    int64
        How many there are.
    """
    n_drawn = 0
    for row in range(len(places)):
        times[n_drawn] = counts[places[row]]
        rows[n_drawn] = row
        n_drawn += np.int64(times[n_drawn] > 0)
    return n_drawn


@kernel
def choose_columns(state, n_columns, n_chosen, columns):
    """Move a random choice of columns to the front: a shuffle that stops early.

    Parameters
    ----------
    state : uint64
    n_columns, n_chosen : int64
    columns : int32[n_columns]
        Each column once; the first ``n_chosen`` are the choice afterwards.
    """
    zero = np.uint64(0)
    for at in range(n_chosen):
        bound = np.uint64(n_columns - at)
        other = at + np.int64(below(state, np.uint64(at), bound, (zero - bound) % bound))
        columns[at], columns[other] = columns[other], columns[at]
