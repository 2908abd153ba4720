"""A node of many rows, on several threads. In: a node that waits. Out: its children. Caller: grow.gradient.grower.

The same steps as in ``step``; rows are parted and summed up in blocks. Sums are whole numbers, and each block's rows
are put where they would stand otherwise, so the number of blocks changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treewright.core import threads
from treewright.grow.gradient.histograms import add_all, add_some, add_up
from treewright.grow.gradient.partition import count_left, other_half, part

if TYPE_CHECKING:
    from treewright.grow.gradient.layout import Rows

_BLOCK_ROWS = 1 << 15  # the least a thread is called for
_FEWEST_THREADS = 4  # that part rows: counting first is as long again


def blocks_of(begin: int, end: int, n_threads: int) -> np.ndarray:
    """int64[k + 1]: where each of k blocks of rows begins, and the end; one a thread where that pays."""
    k = max(1, min(n_threads, (end - begin) // _BLOCK_ROWS))
    if k == 1:  # of small tables most trees: 10 us less
        return np.array([begin, end], np.int64)
    return np.linspace(begin, end, k + 1).astype(np.int64)


def part_rows(column: np.ndarray, goes_left: np.ndarray, rows: Rows, begin: int, end: int, n_threads: int) -> int:
    """Part a node's rows, into the other half of the order; how many went left.

    Blocks have to know where their rows go: so these are counted first, which takes as long as parting them.

    Parameters
    ----------
    column : uint8[n]
    goes_left : uint8[256]
    rows : Rows
        ``order[begin:end]`` is parted.
    begin, end, n_threads : int
    """
    order, to = rows.order, other_half(begin, rows.order)
    bounds = blocks_of(begin, end, n_threads if n_threads >= _FEWEST_THREADS else 1)
    n_blocks = len(bounds) - 1
    if n_blocks == 1:
        return int(part(column, goes_left, begin, end, to, to + end - begin - 1, order))
    n_lefts = np.zeros(n_blocks, np.int64)

    def count(task: int, _thread: int) -> None:
        n_lefts[task] = count_left(column, goes_left, order, int(bounds[task]), int(bounds[task + 1]))

    def work(task: int, _thread: int) -> None:
        left = int(n_lefts[:task].sum())
        right = int(bounds[task]) - begin - left
        part(
            column, goes_left, int(bounds[task]), int(bounds[task + 1]), to + left, to + end - begin - 1 - right, order
        )

    threads.run_each(count, n_blocks, n_threads)
    threads.run_each(work, n_blocks, n_threads)
    return int(n_lefts.sum())


def sum_up(
    rows: Rows, stride: int, begin: int, end: int, histograms: np.ndarray, total: np.ndarray, *, is_every_row: bool
) -> None:
    """The histogram of ``order[begin:end]``.

    Parameters
    ----------
    rows : Rows
    stride, begin, end : int
    histograms : int64[n_threads, width]
        Scratch, a histogram a thread.
    total : int64[width], OUT
    is_every_row : bool
        Whether ``order`` holds all rows in their order: then they are read one after another.
    """
    n_threads = len(histograms)
    bounds = blocks_of(begin, end, n_threads)
    n_blocks = len(bounds) - 1

    def add(histogram: np.ndarray, first: int, last: int) -> None:
        histogram[:] = 0
        if is_every_row:
            add_all(rows.codes, stride, first, last, rows.words, histogram)
        else:
            add_some(rows.codes, stride, rows.order, first, last, rows.words, histogram)

    if n_blocks == 1:
        add(total, begin, end)
        return
    threads.run_each(
        lambda task, _thread: add(histograms[task], int(bounds[task]), int(bounds[task + 1])), n_blocks, n_threads
    )
    add_up(histograms[:n_blocks], total)
