"""A node's rows sorted by one column. In: bins of its rows. Out: items. Caller: grow.binned.search.

Items are those of ``grow.layout``, as the exact grower keeps them; here they are made when they are needed.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import bare_inner_kernel
from treewright.grow.binned.layout import FEW_ROWS, MISSING_BIN
from treewright.grow.layout import MISSING, NEW


@bare_inner_kernel
def has_one_value(codes, column, rows):
    """Whether all rows have the same bin."""
    first = codes[rows[0], column]
    for i in range(1, rows.shape[0]):  # noqa: SIM110 - kernels know no generators
        if codes[rows[i], column] != first:
            return False
    return True


@bare_inner_kernel
def sort_bins(codes, column, rows, keys, order):
    """Bins of the rows, ascending, and the rows in that order."""
    for i in range(rows.shape[0]):
        row = rows[i]
        b = np.int32(codes[row, column])
        j = i
        while j > 0 and keys[j - 1] > b:
            keys[j] = keys[j - 1]
            order[j] = order[j - 1]
            j -= 1
        keys[j] = b
        order[j] = row


@bare_inner_kernel
def sort_few(codes, column, rows, items, counts):
    """``sort_items`` for at most ``FEW_ROWS`` rows, by insertion."""
    sort_bins(codes, column, rows, counts, items)
    n_present = rows.shape[0]
    before = -1
    for i in range(rows.shape[0]):
        b = counts[i]
        flag = NEW if b != before else 0
        if b == MISSING_BIN:
            flag |= MISSING
            n_present -= 1
        items[i] |= flag
        before = b
    return n_present


@bare_inner_kernel
def sort_two(codes, column, rows, items, spare):
    """``sort_items`` for a column with bins 0 and 1 only: no row waits for the one before."""
    left = 0
    right = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        b = np.int64(codes[row, column])
        items[left] = row
        spare[right] = row
        left += 1 - b
        right += b
    for i in range(right):
        items[left + i] = spare[i]
    if left > 0:
        items[0] |= NEW
    if right > 0:
        items[left] |= NEW
    return rows.shape[0]


@bare_inner_kernel
def sort_items(codes, column, n_bins, rows, items, spare, counts):
    """Sort rows by their bin, missing ones last.

    Parameters
    ----------
    codes : uint8[n, stride], IN
    column, n_bins : int
        ``n_bins`` 2 with missing cells in the node is counted like any other.
    rows : int32[m], IN
    items : int32[>= m + 1], OUT
    spare : int32[>= m + 1], counts : int32[256], scratch

    Returns
    -------
    int
        How many are not missing.
    """
    m = rows.shape[0]
    if m <= FEW_ROWS:
        return sort_few(codes, column, rows, items, counts)
    for b in range(256):
        counts[b] = 0
    for i in range(m):
        counts[codes[rows[i], column]] += 1
    n_present = m - counts[MISSING_BIN]
    if n_bins == 2 and counts[0] + counts[1] == m:  # a level without training rows has bin 2
        return sort_two(codes, column, rows, items, spare)
    place = 0
    for b in range(256):
        here = counts[b]
        counts[b] = place
        place += here
    for i in range(m):
        row = rows[i]
        b = codes[row, column]
        items[counts[b]] = row
        counts[b] += 1
    # Each count is now the end of its bin, that is where the next one begins.
    begin = 0
    for b in range(256):
        if counts[b] > begin:
            items[begin] |= NEW
        begin = counts[b]
    for i in range(n_present, m):
        items[i] |= MISSING
    return n_present
