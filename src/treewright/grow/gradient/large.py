"""A node of many rows, on several threads. In: a node that waits. Out: its children. Caller: grow.gradient.grower.

The same steps as in ``step``; rows are parted and summed up in blocks. Sums are whole numbers and the parts keep their
order, so the number of blocks changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treewright.core import threads
from treewright.core.jit import bare_kernel
from treewright.grow.gradient.histograms import add_all, add_some, add_up
from treewright.grow.gradient.partition import part

if TYPE_CHECKING:
    from treewright.grow.gradient.layout import Rows

_BLOCK_ROWS = 1 << 15  # the least a thread is called for


@bare_kernel
def join_parts(begins: np.ndarray, n_lefts: np.ndarray, end: int, order: np.ndarray, spare: np.ndarray) -> None:
    """Put the parts of blocks one after another: those of the left, then the others.

    Parameters
    ----------
    begins : int64[k], IN
        Where each block begins; ``end`` is the end of the last.
    n_lefts : int64[k], IN
        Rows on the left of each block; they stand at its beginning in ``order``, the others in ``spare``.
    end : int
    order : int32, IN and OUT
    spare : int32, IN
    """
    at = begins[0] + n_lefts[0]
    for k in range(1, len(begins)):
        for i in range(begins[k], begins[k] + n_lefts[k]):
            order[at] = order[i]
            at += 1
    for k in range(len(begins)):
        stop = begins[k + 1] if k + 1 < len(begins) else end
        for i in range(begins[k], stop - n_lefts[k]):
            order[at] = spare[i]
            at += 1


def blocks_of(begin: int, end: int, n_threads: int) -> np.ndarray:
    """int64[k + 1]: where each of k blocks of rows begins, and the end; one a thread where that pays."""
    k = max(1, min(n_threads, (end - begin) // _BLOCK_ROWS))
    if k == 1:  # of small tables most trees: 10 us less
        return np.array([begin, end], np.int64)
    return np.linspace(begin, end, k + 1).astype(np.int64)


def part_rows(column: np.ndarray, goes_left: np.ndarray, rows: Rows, begin: int, end: int, n_threads: int) -> int:
    """Part a node's rows; how many went left.

    Parameters
    ----------
    column : uint8[n]
    goes_left : uint8[256]
    rows : Rows
        ``order[begin:end]`` is parted.
    begin, end, n_threads : int
    """
    bounds = blocks_of(begin, end, n_threads)
    n_lefts = np.zeros(len(bounds) - 1, np.int64)

    def work(task: int, _thread: int) -> None:
        n_lefts[task] = part(column, goes_left, rows.order, int(bounds[task]), int(bounds[task + 1]), rows.spare)

    threads.run_each(work, len(n_lefts), n_threads)
    join_parts(bounds[:-1], n_lefts, end, rows.order, rows.spare)
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
