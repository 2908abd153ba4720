"""Sums of products of columns. In: rows. Out: a table of columns by columns.

Not a matrix product of BLAS: that adds in an order that depends on the processor, and while a process forks, a call of
it in another thread never returns.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import costs, kernel

_ROWS_AT_ONCE = 1 << 15  # cells: they stay in the second-level cache


@costs(lambda rows, products: rows.size * len(products) / 2)
@kernel
def add_products(rows: np.ndarray, products: np.ndarray) -> None:
    """Add the sum over the rows, in their order, of the products of each pair of columns.

    rows : float64[n, p], C-order, IN
    products : float64[p, p], symmetric, IN and OUT
    """
    n, p = rows.shape
    step = max(1, _ROWS_AT_ONCE // max(1, p))
    for begin in range(0, n, step):
        for at in range(p):
            sums = products[at]
            for row in range(begin, min(begin + step, n)):
                cell = rows[row, at]
                if cell != 0.0:
                    for other in range(at, p):
                        sums[other] += cell * rows[row, other]
    for at in range(p):
        for other in range(at):
            products[at, other] = products[other, at]
