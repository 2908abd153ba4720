"""Splitting a segment in two. In: items and a side per row. Out: left items, then right items.

Callers: grow.exact, grow.split.

Stable and without branches: 50/50 splits would cost a mispredicted jump for every second row.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import bare_inner_kernel
from treewright.grow.layout import NEW, ROW


@bare_inner_kernel
def partition_items(items, side, spare):
    """Move the items of rows with ``side`` 1 to the front, keep the order within both parts.

    Parameters
    ----------
    items : int32[m], INOUT
    side : uint8[n], IN
        1 for rows that go left.
    spare : int32[>= m + 1], scratch

    Returns
    -------
    int
        How many items went left.

    Notes
    -----
    ``NEW`` says "differs from the one before". When items between two that stay together leave, their marks are
    inherited: a mark waits in ``waiting_*`` until the next item of that side. Invariant: [0, left) is final, [left, i)
    is free, [i, m) unseen.
    """
    left = 0
    right = 0
    waiting_left = 0
    waiting_right = 0
    for i in range(items.shape[0]):
        item = items[i]
        # int64, or Numba negates in uint8: -1 would be 255 and lose the waiting mark.
        goes_left = np.int64(side[item & ROW])
        waiting_left |= item & NEW
        waiting_right |= item & NEW
        items[left] = item | waiting_left
        spare[right] = item | waiting_right
        left += goes_left
        right += 1 - goes_left
        waiting_left &= goes_left - 1
        waiting_right &= -goes_left
    for i in range(right):
        items[left + i] = spare[i]
    return left
