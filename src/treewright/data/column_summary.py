"""The distinct values of a column and their weights. In: cells, whole-number weights. Out: ``ColumnSummary``.

    gathered = Gathered(column is nominal)
    gathered.add(cells, weights)        block by block, or of parts that lie elsewhere: gathered.join(others)
    while gathered.refine():            a column of many values needs one or two more passes
        gathered.add(cells, weights)
    gathered.summary()

A summary depends on the values and their weights alone, not on the order of rows, blocks or parts: weights are
integers, and nothing is dropped because of what came first. A column of up to 2**16 distinct values, and any column of
a table of up to 2**20 rows, is summed up value by value. In other columns a cell stands for neighbouring values: those
whose leading bits are the same. A cell that weighs more than a share of 2**-15 and holds more than one value is divided
in a further pass, so cuts between cells are quantiles to within that share; where a cell begins and ends is exact.
"""

from __future__ import annotations

import math
from copy import copy
from typing import NamedTuple, cast

import numpy as np

from treewright.core.jit import allocating_kernel, costs, kernel

MAX_ENTRIES = 2**16  # distinct values that are told apart in a table of more rows than a block
SHARES = 2**15  # of the whole weight that cells tell apart
BLOCK_ROWS = 2**20

_FEW = 1024  # columns with at most so many distinct values are counted in a table, without sorting
_SLOTS = 4096
_HASH = np.uint64(0x9E3779B97F4A7C15)
_HASH_SHIFT = np.uint64(64 - 12)
_MAX_WEIGHT = 2**53  # every sum of fixed-point weights is below


class ColumnSummary(NamedTuple):
    """The distinct values of a column's present cells.

    Attributes
    ----------
    values : float64[k]
        Ascending and distinct; 0.0 stands for -0.0 too. If entries are cells of several values, the largest of each.
    weights : int64[k], >= 1
        Their sum is below 2**53.
    lowest : float64[k]
        The smallest value of each entry.
    """

    values: np.ndarray
    weights: np.ndarray
    lowest: np.ndarray


@allocating_kernel
def count_few(cells: np.ndarray, weights: np.ndarray, values: np.ndarray, totals: np.ndarray) -> int:
    """Weights of the distinct values, if they are few.

    Parameters
    ----------
    cells : float[n], IN
    weights : int64[n] or int64[0], IN
        Empty: every cell weighs one. Cells of weight 0 are left out.
    values : float64[1024], OUT
        Distinct values, in the order of their first row.
    totals : int64[1024], OUT

    Returns
    -------
    int
        How many distinct values there are, or -1 if there are too many.
    """
    slots = np.full(_SLOTS, -1, np.int32)
    key = np.empty(1, np.float64)
    bits = key.view(np.uint64)
    n = 0
    for i in range(cells.shape[0]):
        x = np.float64(cells[i]) + 0.0  # -0.0 becomes 0.0
        weight = weights[i] if weights.shape[0] > 0 else np.int64(1)
        if x != x or weight == 0:
            continue
        key[0] = x
        slot = np.intp((bits[0] * _HASH) >> _HASH_SHIFT)
        while slots[slot] >= 0 and values[slots[slot]] != x:
            slot = (slot + 1) & (_SLOTS - 1)
        at = slots[slot]
        if at < 0:
            if n == values.shape[0]:
                return -1
            at = n
            slots[slot] = at
            values[at] = x
            totals[at] = 0
            n += 1
        totals[at] += weight
    return n


@kernel
def distinct_values(ranked: np.ndarray, weights: np.ndarray, values: np.ndarray, totals: np.ndarray) -> int:
    """The distinct values of sorted cells, and their weights: 2 ms for a million cells, by array operations 20.

    Parameters
    ----------
    ranked : float[n], IN
        Ascending, without nan.
    weights : int64[>= n] or int64[0], IN
        Of the cells, in their order; empty: every cell weighs one.
    values : float64[n], OUT
        0.0 stands for -0.0 too.
    totals : int64[n], OUT

    Returns
    -------
    int
        How many there are.
    """
    n = 0
    for i in range(ranked.shape[0]):
        if i == 0 or ranked[i] != ranked[i - 1]:
            values[n] = np.float64(ranked[i]) + 0.0
            totals[n] = 0
            n += 1
        totals[n - 1] += weights[i] if weights.shape[0] > 0 else np.int64(1)
    return n


def whole_weights(weights: np.ndarray | None) -> np.ndarray:
    """Weights as integers, with one power-of-two scale.

    Parameters
    ----------
    weights : float64[n], >= 0 and finite, or None

    Returns
    -------
    int64[n]
        Empty for None. Whole-number weights stay as they are where their sum is below 2**53; others are scaled so that
        it is, and none that is positive becomes 0.

    Examples
    --------
    >>> whole_weights(np.array([1.0, 3.0])).tolist()
    [1, 3]
    """
    if weights is None:
        return np.empty(0, np.int64)
    largest = float(weights.max(initial=0.0))
    return whole_weights_among(weights, largest, len(weights), are_whole=bool((weights == np.rint(weights)).all()))


def whole_weights_among(weights: np.ndarray, largest: float, n: int, *, are_whole: bool) -> np.ndarray:
    """Like ``whole_weights``, for some of ``n`` rows; ``largest`` and ``are_whole`` describe the weights of all."""
    if largest == 0.0:
        return np.zeros(len(weights), np.int64)
    if largest * n < _MAX_WEIGHT and are_whole:
        return weights.astype(np.int64)
    # Mantissa and exponent apart: the sum itself may be beyond float64.
    share, exponent = math.frexp(largest)
    scale = 52 - exponent - math.frexp(share * n)[1]
    fixed = np.rint(np.ldexp(np.asarray(weights, np.float64), scale)).astype(np.int64)
    return np.where(weights > 0, np.maximum(fixed, 1), 0)


def summary_of(cells: np.ndarray, weights: np.ndarray) -> ColumnSummary:
    """Sum up one column, or one block of it.

    Parameters
    ----------
    cells : float32[n] or float64[n]
        nan is left out; infinities are values.
    weights : int64[n], or int64[0] where every cell weighs one
        Cells of weight 0 are left out.

    Examples
    --------
    >>> summary = summary_of(np.array([2.0, np.nan, 1.0, 2.0]), np.empty(0, np.int64))
    >>> summary.values.tolist(), summary.weights.tolist()
    ([1.0, 2.0], [1, 2])
    """
    values, totals = np.empty(_FEW), np.empty(_FEW, np.int64)
    n_few = count_few(cells, weights, values, totals)
    if n_few >= 0:
        order = np.argsort(values[:n_few])
        return ColumnSummary(values[order], totals[order], values[order])
    if len(weights) and not weights.all():
        cells, weights = cells[weights > 0], weights[weights > 0]
    if len(weights):
        order = np.argsort(cells)
        ranked, weights = cells[order], weights[order]
    else:
        ranked = np.sort(cells)
    ranked = ranked[: np.searchsorted(ranked, np.nan)]  # nan sorts last
    values, totals = np.empty(len(ranked)), np.empty(len(ranked), np.int64)
    n_values = distinct_values(ranked, weights, values, totals)
    return ColumnSummary(values[:n_values], totals[:n_values], values[:n_values])


def merge(first: ColumnSummary, second: ColumnSummary) -> ColumnSummary:
    """The summary of two blocks of rows together, value by value.

    Examples
    --------
    >>> one = summary_of(np.array([1.0, 2.0]), np.empty(0, np.int64))
    >>> two = summary_of(np.array([2.0, 3.0]), np.array([4, 1]))
    >>> [part.tolist() for part in merge(one, two)]
    [[1.0, 2.0, 3.0], [1, 5, 1], [1.0, 2.0, 3.0]]
    """
    values = np.concatenate((first.values, second.values))
    if len(values) == 0:
        return first
    order = np.argsort(values, kind="stable")  # a merge of two runs
    ranked = values[order]
    starts = np.concatenate(([0], np.flatnonzero(ranked[1:] != ranked[:-1]) + 1))
    weights = np.add.reduceat(np.concatenate((first.weights, second.weights))[order], starts)
    return ColumnSummary(ranked[starts], weights, ranked[starts])


# Columns of many values -----------------------------------------------------------------------------------------------

_LEADING = 16  # bits by which values are told apart at first: sign, exponent and the first four of the mantissa
_MOST_BITS, _SPARE_BITS = 16, 2  # of a division; beyond those that even cells would need


class Gathered:
    """A column that is summed up in one or more passes over its rows, wherever they lie.

    Parameters
    ----------
    is_nominal : bool
        Whether values are codes of levels: these are always told apart, because no code can stand for its neighbours.
    n_rows : int
        Rows of the table, if known beforehand: in a large table many values are never told apart first.

    Examples
    --------
    >>> gathered = Gathered()
    >>> gathered.add(np.array([4.0, 1.0, np.nan]), np.empty(0, np.int64))
    >>> gathered.refine(), gathered.summary().values.tolist()
    (False, [1.0, 4.0])
    """

    def __init__(self, *, is_nominal: bool = False, n_rows: int = 0) -> None:
        self.is_nominal, self.n_rows, self.n_known = is_nominal, 0, n_rows
        self.told_apart: ColumnSummary | None = summary_of(np.empty(0), np.empty(0, np.int64))
        self.cells: Cells | None = None

    def add(self, cells: np.ndarray, weights: np.ndarray) -> None:
        """Add a block of rows in any pass: cells float[n], weights int64[n] or int64[0]."""
        for begin in range(0, len(cells), BLOCK_ROWS):
            block = slice(begin, begin + BLOCK_ROWS)
            self._count(len(cells[block]))
            if self.told_apart is None:
                cast("Cells", self.cells).add(cells[block], weights[block])
            else:
                self.told_apart = merge(self.told_apart, summary_of(cells[block], weights[block]))
                self._count(0)

    def join(self, other: Gathered) -> None:
        """Add what was gathered from other rows in the same pass."""
        if other.told_apart is None:
            self._divide()
            cast("Cells", self.cells).join(cast("Cells", other.cells))
            return
        self._count(other.n_rows)
        if self.told_apart is None:
            cast("Cells", self.cells).add(other.told_apart.values, other.told_apart.weights)
        else:
            self.told_apart = merge(self.told_apart, other.told_apart)
            self._count(0)

    def _count(self, n_rows: int) -> None:
        """Count further rows, and switch to cells if there are too many values to tell apart."""
        self.n_rows += n_rows
        if self.told_apart is None or self.is_nominal or max(self.n_rows, self.n_known) <= BLOCK_ROWS:
            return
        if len(self.told_apart.values) > MAX_ENTRIES:
            self._divide()

    def _divide(self) -> None:
        """Switch to cells."""
        if self.told_apart is not None:
            self.cells = Cells()
            self.cells.add(self.told_apart.values, self.told_apart.weights)
            self.told_apart = None

    def emptied(self) -> Gathered:
        """An empty copy that gathers the rows of another part in a further pass."""
        other = copy(self)
        other.cells = None if self.cells is None else self.cells.emptied()
        return other

    def refine(self) -> bool:
        """End a pass over all rows; returns whether a further one is needed."""
        return self.told_apart is None and cast("Cells", self.cells).refine()

    def summary(self) -> ColumnSummary:
        """The summary after the last pass."""
        return cast("Cells", self.cells).summary() if self.told_apart is None else self.told_apart


class Cells:
    """Ranges of values, divided where much weight lies: a tree whose leaves are the cells.

    A *key* is the bits of a float64 as a whole number that rises with it. Attributes are arrays over the nodes; the
    children of a node lie side by side, and child ``i`` holds the keys from ``base + (i << shift)`` on.
    """

    def __init__(self) -> None:
        n = 1 << _LEADING
        self.base, self.shift = np.zeros(1 + n, np.uint64), np.zeros(1 + n, np.uint8)
        self.first = np.full(1 + n, -1, np.int64)
        self.shift[0], self.first[0] = 64 - _LEADING, 1
        self.held = np.zeros((1, 3), np.uint64)  # weight, lowest and highest key: side by side, in one line of a cache
        self._empty_from(1)

    def _empty_from(self, first: int) -> None:
        """Empty the nodes from ``first`` on, to which rows are added; the others keep what they hold."""
        held = np.zeros((len(self.first), 3), np.uint64)
        held[:, _LOWEST] = _LAST_KEY
        held[:first] = self.held[:first]
        self.held, self.open_from = held, first

    def emptied(self) -> Cells:
        """The same cells; those to which rows are added are empty."""
        other = copy(self)
        other._empty_from(self.open_from)
        return other

    def add(self, cells: np.ndarray, weights: np.ndarray) -> None:
        """Add rows: float[n], int64[n] or int64[0]."""
        add_to_cells(cells, weights, self.base, self.shift, self.first, self.open_from, self.held)

    def join(self, other: Cells) -> None:
        """Add the weights of other cells with the same divisions."""
        own, others = self.held[self.open_from :].T, other.held[self.open_from :].T
        own[_WEIGHT] += others[_WEIGHT]
        np.minimum(own[_LOWEST], others[_LOWEST], out=own[_LOWEST])
        np.maximum(own[_HIGHEST], others[_HIGHEST], out=own[_HIGHEST])

    def refine(self) -> bool:
        """Divide cells that weigh too much; returns whether there were any."""
        is_cell, (weight, lowest, highest) = self.first < 0, self.held.T
        share = int(weight[is_cell].sum()) // SHARES
        heavy = np.flatnonzero(is_cell & (weight > share) & (lowest < highest)).tolist()
        n_before = n = len(self.first)
        for node in heavy:
            width = int(highest[node]) - int(lowest[node])
            bits = min((int(weight[node]) // max(share, 1)).bit_length() + _SPARE_BITS, _MOST_BITS)
            shift = max(0, width.bit_length() - bits)
            self.first[node], self.base[node], self.shift[node] = n, lowest[node], shift
            n += (width >> shift) + 1
        if not heavy:
            return False
        more = n - n_before
        self.base = np.append(self.base, np.zeros(more, np.uint64))
        self.shift = np.append(self.shift, np.zeros(more, np.uint8))
        self.first = np.append(self.first, np.full(more, -1, np.int64))
        self._empty_from(n_before)
        return True

    def summary(self) -> ColumnSummary:
        """The cells with rows, ascending."""
        kept = self.held[(self.first < 0) & (self.held[:, _WEIGHT] > 0)]
        weight, lowest, highest = kept[np.argsort(kept[:, _LOWEST])].T
        return ColumnSummary(_numbers_of(highest), weight.astype(np.int64), _numbers_of(lowest))


_WEIGHT, _LOWEST, _HIGHEST = range(3)
_SIGN = np.uint64(1 << 63)
_LAST_KEY = np.uint64(2**64 - 1)


def _numbers_of(keys: np.ndarray) -> np.ndarray:
    """float64[n] of uint64[n] keys."""
    return np.where(keys & _SIGN, keys ^ _SIGN, ~keys).view(np.float64)


@costs(lambda cells, *_rest: 10.0 * len(cells))
@kernel
def add_to_cells(
    cells: np.ndarray,
    weights: np.ndarray,
    base: np.ndarray,
    shift: np.ndarray,
    first: np.ndarray,
    open_from: int,
    held: np.ndarray,
) -> None:
    """Add rows to the cells that are open.

    Parameters
    ----------
    cells : float[n], IN
        nan is left out.
    weights : int64[n] or int64[0], IN
    base : uint64[m], shift : uint8[m], first : int64[m], IN
        How nodes are divided: where the keys of the first child begin, how many bits a child has; the first child, -1
        where a node is a cell.
    open_from : int
        Cells from here on are added to.
    held : uint64[m, 3], IN and OUT
        Of each cell its weight, its lowest and its highest key.
    """
    for i in range(cells.shape[0]):
        x = np.float64(cells[i]) + 0.0  # -0.0 becomes 0.0
        added = weights[i] if weights.shape[0] > 0 else np.int64(1)
        if x != x or added == 0:
            continue
        bits = np.float64(x).view(np.uint64)
        key = ~bits if bits >> np.uint64(63) else bits | (np.uint64(1) << np.uint64(63))
        at = np.int64(0)
        while first[at] >= 0:
            at = first[at] + np.int64((key - base[at]) >> np.uint64(shift[at]))
        if at >= open_from:
            held[at, 0] += np.uint64(added)
            held[at, 1] = min(held[at, 1], key)
            held[at, 2] = max(held[at, 2], key)
