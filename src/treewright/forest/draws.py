"""The rows sampled for each tree, and how often. In: rows as bins, target, weights, seed. Out: ``Draws``.

    hash each row's bins and target; sort the rows by their hashes                   (data.row_content.row_order)
    for tree b: state = mix(mix(seed, b), stream)                                    (seeds_of)
        draw t is the row that owns unit mix(state, t) % n_units in that order       (Draws.counts)

So a draw depends on the content of the rows, not on their positions: a shuffled table gives the same forest. A *unit*
is a step of weight; a row of weight k owns k consecutive units, and so it is the same as k equal rows. A *place* is a
row's position in the canonical order; place ``i`` owns the units from ``ends[i - 1]`` up to ``ends[i]``. Every random
number is ``mix`` of the forest's seed, the tree and a running number, and depends on nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.core.elementary import is_whole, log
from treewright.core.jit import inner_kernel, kernel
from treewright.core.random import mix
from treewright.exceptions import ParameterError
from treewright.grow.objective import fixed_weights

# Streams of a tree's random numbers: rows, candidate columns, growth.
ROWS, COLUMNS, GROWTH = 0, 1, 2
# Whole-number weights are numbers of rows if they add up to at most this many rows for each row of the table.
_MOST_REPEATS = 16
_MOST_DRAWS = 2**31 - 1


# Seeds ----------------------------------------------------------------------------------------------------------------


def seeds_of(seed: int, first_tree: int, n_trees: int) -> np.ndarray:
    """The seeds of the trees' random numbers.

    ``seed``: taken modulo 2**64. Returns uint64[n_trees, 3]: for each tree the seeds of its rows, its candidate
    columns and its growth.
    """
    seeds = np.empty((n_trees, GROWTH + 1), np.uint64)
    tree_seeds(np.uint64(seed % 2**64), np.uint64(first_tree), seeds)
    return seeds


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


# How many rows --------------------------------------------------------------------------------------------------------


def counts_of_rows(weights: np.ndarray | None) -> np.ndarray | None:
    """Weights as numbers of rows, if they can be that.

    ``weights`` (float64[n], > 0, or None). Returns int64[n] or None: the weights, if they are whole numbers and add up
    to at most 16 rows for each row; else None.
    """
    if weights is None or not (weights == np.rint(weights)).all() or weights.sum() > _MOST_REPEATS * len(weights):
        return None
    return weights.astype(np.int64)


def number_of_draws(max_samples: Any, n_rows: int, weights: np.ndarray | None = None) -> int:
    """The number of rows sampled for a tree.

    ``max_samples`` (>= 1, float above 0 and up to 1, or None), a number of rows, or a share of them (rounded, at least
    one). None: all of them. ``weights`` (float64[n_rows], > 0), whole-number weights are numbers of rows
    (``counts_of_rows``): then their sum is the number of rows.
    """
    counts = counts_of_rows(weights)
    total = n_rows if counts is None else int(counts.sum())
    if max_samples is None:
        return total
    if is_whole(max_samples):
        if not 1 <= max_samples <= total:
            raise ParameterError(f"max_samples={max_samples!r}: give a number of rows from 1 to {total}, or a share")
        return int(max_samples)
    is_share = isinstance(max_samples, float | np.floating) and 0.0 < max_samples <= 1.0
    if not is_share:
        raise ParameterError(f"max_samples={max_samples!r}: give a whole number >= 1, a share in (0, 1], or None")
    return max(1, round(float(max_samples) * total))


def rows_without(rows: np.ndarray, n_rows: int) -> np.ndarray:
    """int32[n_rows - m], ascending: all rows except ``rows``, int32[m]."""
    is_left_out = np.ones(n_rows, np.bool_)
    is_left_out[rows] = False
    return np.flatnonzero(is_left_out).astype(np.int32)


# The draw -------------------------------------------------------------------------------------------------------------


class Draws:
    """The rows sampled for each tree of a forest.

    ``order`` (int32[n], n >= 1): rows in canonical order (``row_order``). ``seed``: taken modulo 2**64. ``weights``
    (float64[n], > 0): the probabilities of the rows are proportional to their weights. Whole-number weights are numbers
    of rows (``counts_of_rows``). ``replace``: whether rows are sampled with replacement. Otherwise a row is drawn at
    most as often as its number of rows; weights that are not numbers of rows are the probabilities of each draw among
    the rows that remain.
    """

    def __init__(
        self,
        order: np.ndarray,
        n_draws: int,
        seed: int,
        *,
        weights: np.ndarray | None = None,
        replace: bool = True,
    ) -> None:
        n = len(order)
        self.n_rows, self.n_draws, self.seed, self.replace = n, int(n_draws), seed % 2**64, replace
        self._places = np.empty(n, np.int32)
        self._places[order] = np.arange(n, dtype=np.int32)
        self._ends, self._guide, self._shift = np.empty(0, np.int64), np.empty(0, np.int32), 0
        self._chances = np.empty(0)
        self._n_units = n
        repeats = counts_of_rows(weights)
        self._counts_rows = repeats is not None
        if weights is not None and repeats is None and not replace:
            self._chances = np.ldexp(weights[order], -int(np.frexp(weights.max())[1]))
        elif weights is not None:
            units = fixed_weights(weights, n)[0] if repeats is None else repeats
            self._ends = np.cumsum(units[order])
            self._n_units = int(self._ends[-1])
            # Two to four steps a row: the first place that is tried is mostly the owner.
            self._shift = max(0, (self._n_units // n).bit_length() - 2)
            steps = np.arange(0, self._n_units, 1 << self._shift)
            self._guide = np.searchsorted(self._ends, steps, side="right").astype(np.int32)
        if self.n_draws > _MOST_DRAWS or (not replace and self.n_draws > self._n_units):
            most = _MOST_DRAWS if replace else self._n_units
            raise ParameterError(f"{n_draws} draws from {n} rows: at most {most} can be drawn; lower max_samples")

    def counts(self, tree: int) -> tuple[np.ndarray, np.ndarray]:
        """The rows sampled for a tree.

        Returns ``rows`` (int32[m], ascending); ``counts`` (int32[m], >= 1): how often each of them was drawn; they add
        up to ``n_draws``.
        """
        state = seeds_of(self.seed, tree, 1)[0, ROWS]
        by_place = np.zeros(self.n_rows, np.int32)
        owners = self._ends, self._guide, self._shift
        if self.replace:
            n_units = np.uint64(self._n_units)
            remainder = np.uint64(2**64 % self._n_units)
            count_with_replacement(state, self.n_draws, n_units, remainder, *owners, by_place)
        elif len(self._chances):
            self._take_earliest(state, by_place)
        else:
            count_without_replacement(state, self.n_draws, np.zeros(self._n_units, np.uint8), *owners, by_place)
        rows, times = np.empty((2, self.n_rows), np.int32)
        n_drawn = gather_drawn(by_place, self._places, rows, times)
        return rows[:n_drawn].copy(), times[:n_drawn].copy()

    def _take_earliest(self, state: np.uint64, by_place: np.ndarray) -> None:
        """Sample without replacement if the weights are probabilities."""
        keys = np.empty(self.n_rows)
        exponential_keys(state, self._chances, keys)
        latest = np.partition(keys, self.n_draws - 1)[self.n_draws - 1]
        by_place[keys < latest] = 1
        equal = np.flatnonzero(keys == latest)
        by_place[equal[: self.n_draws - int(by_place.sum())]] = 1

    def repeats(self) -> np.ndarray | None:
        """int64[n] or None: the number of rows that each row counts as; None if weights are not numbers of rows."""
        return np.diff(self._ends, prepend=np.int64(0))[self._places] if self._counts_rows else None

    def left_out(self, tree: int) -> np.ndarray:
        """int32[n - m], ascending: the rows that are out of bag for a tree."""
        return rows_without(self.counts(tree)[0], self.n_rows)


@dataclass(frozen=True, eq=False)
class HeldDraws:
    """The draws of some trees of ``Draws``, for a table of only the rows that any of them drew.

    ``n_draws``, ``seed``: as for ``Draws``.
    ``of_trees`` (dict of int to (int32[m], int32[m])): for each tree its rows, by their positions in that table, and
        how often it drew them.
    """

    n_rows: int
    n_draws: int
    seed: int
    of_trees: dict[int, tuple[np.ndarray, np.ndarray]]

    def counts(self, tree: int) -> tuple[np.ndarray, np.ndarray]:
        """As ``Draws.counts``."""
        return self.of_trees[tree]


def held_draws(draws: Draws, trees: range) -> tuple[np.ndarray, HeldDraws]:
    """The rows that are sampled for any of some trees, int64[h], ascending; and the draws among them."""
    of_trees = {tree: draws.counts(tree) for tree in trees}
    held = np.unique(np.concatenate([rows for rows, _ in of_trees.values()])).astype(np.int64)
    placed = {tree: (np.searchsorted(held, rows).astype(np.int32), counts) for tree, (rows, counts) in of_trees.items()}
    return held, HeldDraws(len(held), draws.n_draws, draws.seed, placed)


@inner_kernel
def below(state, position, bound, remainder):
    """A uniform whole number from 0 to ``bound - 1``; all uint64, ``remainder = 2**64 % bound``.

    The high word of the product of 64 random bits with the bound; products that would make some numbers more likely
    are drawn again (Lemire 2019, "Fast random integer generation in an interval", algorithm 5).
    """
    half = np.uint64(32)
    low_half = np.uint64(0xFFFFFFFF)
    bits = mix(state, position)
    while bits * bound < remainder:
        bits = mix(bits, position)
    # The high word of a 128-bit product, from four products of halves; none of these sums passes 2**64.
    across = (bits >> half) * (bound & low_half)
    carried = (((bits & low_half) * (bound & low_half)) >> half) + (across & low_half)
    carried += (bits & low_half) * (bound >> half)
    return (bits >> half) * (bound >> half) + (across >> half) + (carried >> half)


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
        The end of each place's units; empty if each place owns one.
    guide : int32[k]
        The place that owns unit ``i << shift``; empty if ``ends`` is.
    shift : int64
    counts : int32[n]
        Zeros; written, by place.
    """
    if len(ends) == 0:  # a loop of its own is vectorised: ten times as fast
        for draw in range(n_draws):
            counts[below(state, np.uint64(draw), n_units, remainder)] += np.int32(1)
        return
    # The guide gives the first place that may own the unit; the owner is there or one or two places after it.
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
        # If it is taken, the newest unit, which cannot be taken. So each set is equally likely, in one pass.
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
        The weight of each place; the largest is about 1.
    keys : float64[n]
        Written.
    """
    for place in range(len(weights)):
        share = (np.float64(mix(state, np.uint64(place)) >> np.uint64(11)) + 0.5) * 2.0**-53
        keys[place] = -log(share) / weights[place]


@kernel
def gather_drawn(counts, places, rows, times):
    """The rows that were drawn, in ascending order, and how often.

    Parameters
    ----------
    counts : int32[n]
        By place.
    places : int32[n]
        The place of each row.
    rows, times : int32[n]
        Written.

    Returns
    -------
    int64
        The number of sampled rows.
    """
    n_drawn = 0
    for row in range(len(places)):
        # Always written, and counted only if it was drawn: no branch that a processor could mispredict.
        times[n_drawn] = counts[places[row]]
        rows[n_drawn] = row
        n_drawn += np.int64(times[n_drawn] > 0)
    return n_drawn


# Columns of a tree ----------------------------------------------------------------------------------------------------


def candidate_columns(seed: int, tree: int, n_columns: int, n_chosen: int) -> np.ndarray:
    """The columns sampled for a tree.

    ``seed``: the seed of the forest. Returns int32[n_chosen], ascending.
    """
    columns = np.arange(n_columns, dtype=np.int32)
    choose_columns(seeds_of(seed, tree, 1)[0, COLUMNS], n_columns, n_chosen, columns)
    return np.sort(columns[:n_chosen])


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
