"""Rows as bin numbers. In: ``Bins``, an encoded matrix. Out: ``uint8[n, stride]``.

Callers: forest, estimators, predict. The rows are cut into small blocks that stay in the nearest cache. A block's
column is copied into a buffer and then searched by halving, all rows a step at a time and without a branch: a branch
would be guessed wrong every other time.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from treewright.core import threads
from treewright.core.jit import kernel
from treewright.data.bins import MISSING_BIN, Bins, cuts_of

_BLOCK = 256  # rows a kernel searches at a time
_TASK_ROWS = 8192
_NOMINAL = -1

_tables: WeakKeyDictionary[Bins, BinTables] = WeakKeyDictionary()


class BinTables(NamedTuple):
    """What the kernel searches in.

    Attributes
    ----------
    steps : int64[p]
        How often the cuts of a column are halved; -1 for a nominal column.
    first : int64[p]
        Where a column's cuts begin in ``cuts``; for a nominal column, where its levels begin in ``level_bin``.
    n_levels : int64[p]
        Levels of a nominal column, without the entry for a level never seen.
    cuts : float64
        The cuts of each column, filled up with inf to ``2**steps - 1``, as a heap: entry 0 is not used, entry 1 is
        the middle one, and from entry k the search goes on at 2k or, where the cut is below the value, at 2k + 1.
    level_bin : uint8
    """

    steps: np.ndarray
    first: np.ndarray
    n_levels: np.ndarray
    cuts: np.ndarray
    level_bin: np.ndarray


@kernel
def bin_block(matrix: np.ndarray, tables: BinTables, out: np.ndarray) -> None:
    """Bin some rows.

    Parameters
    ----------
    matrix : float32[n, p] or float64[n, p], IN
    tables : BinTables
    out : uint8[n, stride], OUT
        Columns from p on are left as they are.
    """
    n, p = matrix.shape
    cells = np.empty(_BLOCK, np.float64)
    place = np.empty(_BLOCK, np.uint64)  # unsigned: a negative index would be one more case
    one = np.uint64(1)
    for begin in range(0, n, _BLOCK):
        m = min(_BLOCK, n - begin)
        for column in range(p):
            for i in range(m):
                cells[i] = np.float64(matrix[begin + i, column])
                place[i] = one
            steps = tables.steps[column]
            first = tables.first[column]
            if steps < 0:
                n_levels = tables.n_levels[column]
                for i in range(m):
                    code = np.int64(cells[i]) if 0.0 <= cells[i] < n_levels else n_levels
                    place[i] = np.uint64(tables.level_bin[first + code])
            else:
                heap = tables.cuts[first : first + (1 << steps)]
                for _ in range(steps):
                    for i in range(m):
                        at = place[i]
                        place[i] = at + at + np.uint64(heap[at] < cells[i])
            # A search ends in the heap's row below the last: its place without the leading bit is the bin.
            leading = np.uint64(0) if steps < 0 else one << np.uint64(steps)
            for i in range(m):
                is_missing = cells[i] != cells[i]
                out[begin + i, column] = MISSING_BIN if is_missing else np.uint8(place[i] - leading)


def tables_of(bins: Bins) -> BinTables:
    """The tables of ``bin_block``, made once for each ``Bins``.

    Parameters
    ----------
    bins : Bins

    Returns
    -------
    BinTables
    """
    tables = _tables.get(bins)
    if tables is None:
        tables = _tables[bins] = _new_tables(bins)
    return tables


def _new_tables(bins: Bins) -> BinTables:
    cut_start, cuts = cuts_of(bins)
    n_cuts = np.diff(cut_start)
    steps = np.array([int(count).bit_length() for count in n_cuts], np.int64)
    ends = np.cumsum(np.where(bins.is_nominal, 0, 1 << steps))
    first = np.concatenate((np.zeros(1, np.int64), ends))
    heaps = np.full(int(first[-1]), np.inf)
    for column in np.flatnonzero(n_cuts):
        filled = np.full((1 << int(steps[column])) - 1, np.inf)
        filled[: n_cuts[column]] = cuts[cut_start[column] : cut_start[column + 1]]
        heap = heaps[first[column] : first[column + 1]]
        for row in range(int(steps[column])):  # row r of the heap holds every (2**(steps - r))-th cut
            stride = len(heap) >> row
            heap[1 << row : 2 << row] = filled[stride // 2 - 1 :: stride]
    return BinTables(
        steps=np.where(bins.is_nominal, _NOMINAL, steps),
        first=np.where(bins.is_nominal, bins.level_start[:-1], first[:-1]),
        n_levels=np.diff(bins.level_start) - 1,
        cuts=heaps,
        level_bin=bins.level_bin.astype(np.uint8),
    )


def bin_rows(bins: Bins, matrix: np.ndarray, n_threads: int = 1) -> np.ndarray:
    """The rows of a table as bin numbers.

    Parameters
    ----------
    bins : Bins
    matrix : float32[n, p] or float64[n, p]
        Encoded as the matrix that the bins were made of. Any memory order; read without a copy of the whole.
    n_threads : int >= 1
        The result does not depend on it.

    Returns
    -------
    uint8[n, stride]
        Row-major; ``stride`` is p rounded up to a multiple of 8, and columns from p on are 0. A number's bin is
        how many cuts lie below it, a level's bin stands in ``level_bin``, a missing cell is 255. A value in a column
        without values at fit has bin 0, a level that fit never saw the last entry of ``level_bin``.

    Examples
    --------
    >>> from treewright.data.bins import bins_of
    >>> from treewright.data.schema import Column, Schema
    >>> bins = bins_of(np.array([[1.0], [2.0], [4.0]]), Schema((Column("x", "numeric"),)))
    >>> bin_rows(bins, np.array([[-9.0], [1.5], [1.6], [99.0], [np.nan]]))[:, 0].tolist()
    [0, 0, 1, 2, 255]
    """
    n, p = matrix.shape
    out = np.zeros((n, -(-p // 8) * 8), np.uint8)
    tables = tables_of(bins)

    def bin_some(task: int, _thread: int) -> None:
        rows = slice(task * _TASK_ROWS, (task + 1) * _TASK_ROWS)
        bin_block(_writeable(matrix[rows]), tables, out[rows])

    threads.run_each(bin_some, -(-n // _TASK_ROWS), n_threads)
    return out


def _writeable(block: np.ndarray) -> np.ndarray:
    """The block, or a copy where the kernel would be compiled anew for it: where it is read-only or not aligned."""
    return block if block.flags.writeable and block.flags.aligned else block.copy()
