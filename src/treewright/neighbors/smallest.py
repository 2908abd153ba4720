"""The nearest rows so far, in order. In: a rank distance, its row. Out: sorted arrays. Callers: kernels of neighbors.

Of up to some dozens of neighbours a sorted array is faster than a heap, and it is in order when the search ends.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import bare_inner_kernel, inlined_kernel


@bare_inner_kernel
def clear(ranks, rows):
    """Begin: ``ranks`` float64[k] and ``rows`` int64[k] hold no row yet."""
    for at in range(len(ranks)):
        ranks[at] = np.inf
        rows[at] = np.int64(2**62)


@bare_inner_kernel
def keep(rank, row, ranks, rows):
    """Put a row where it stands among the nearest, if it does; the last one falls out.

    Rows are ordered by (rank, row): of equal ranks the lower row stands first, whatever the order they come in.
    Callers compare with ``ranks[-1]`` first: ``rank > ranks[-1]`` needs no call.
    """
    at = len(ranks) - 1
    if rank > ranks[at] or (rank == ranks[at] and row > rows[at]):
        return
    while at > 0 and (ranks[at - 1] > rank or (ranks[at - 1] == rank and rows[at - 1] > row)):
        ranks[at] = ranks[at - 1]
        rows[at] = rows[at - 1]
        at -= 1
    ranks[at] = rank
    rows[at] = row


@inlined_kernel
def keep_tile(found, first, n, ranks, rows):
    """Put the rows ``first`` to ``first + n - 1``, of ranks ``found[:n]``, where they stand among the nearest.

    Tiles come in ascending order: a later row of equal rank stands behind. The first k rows are kept even at infinity.
    Written out in each search it was a twentieth faster; called instead of inlined it is a fifteenth slower.
    """
    k = len(ranks)
    for i in range(n):
        if found[i] < ranks[k - 1] or first + i < k:
            keep(found[i], first + i, ranks, rows)
