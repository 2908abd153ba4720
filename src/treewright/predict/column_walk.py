"""Trees computed for a block of rows at once.

A tree is computed from its leaves upwards: each test chooses, for all rows of the block, between the results of its two
branches. A result is the number of a leaf, one byte, so that one instruction of the processor does a test for 32 rows,
no jump depends on the data, and nothing is looked up before the leaf's value. Each test of a tree is done for each row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treewright.core.jit import costs, inner_kernel, kernel

# Kinds of steps.
CHOOSE, PUT, MERGE, LOOK_UP = 0, 1, 2, 3
# Columns of ``Steps.places`` and ``Steps.amounts``.
KIND, OUT, ASKED, OTHER = 0, 1, 2, 3
LOWEST, WIDTH, INSIDE, OUTSIDE = 0, 1, 2, 3

# 100 trees of 31 leaves, 200,000 rows of 28 columns in bins, one thread, least of seven readings: rows walked by lanes
# 240 ms; QuickScorer, masks of 32 bits, tree by tree 36 ms (blocks of 1,024 rows; of 128: 47 ms), column by column with
# its early stop 50 ms (128 rows; one of so many nearly always lies high); this 17 ms, and 36 ms with counted references
# (``kernel``): a step takes four views.


class Steps(NamedTuple):
    """The steps of ``add_trees``, in their order.

    Attributes
    ----------
    places : uint32[n_steps, 4]
        Kind of the step; the row of bytes that is written; the row that is tested; another one (``MERGE``), or the
        table (``LOOK_UP``). Rows from p are scratch rows.
    amounts : uint8[n_steps, 4]
        Lowest bin and width of the tested run; the bytes written inside and outside it. ``CHOOSE`` writes one or the
        other, ``PUT`` only the one inside, ``MERGE`` copies from another row inside.
    tables : uint8[k, 256]
        1 for each bin that goes left.
    step_start : int64[n_trees + 1]
        First step of each tree.
    values : float64
        Values of the leaves, tree by tree, in the order of their numbers.
    value_start : int64[n_trees + 1]
    n_rows : int
        Rows of bytes in all: the p columns, and the scratch rows.
    """

    places: np.ndarray
    amounts: np.ndarray
    tables: np.ndarray
    step_start: np.ndarray
    values: np.ndarray
    value_start: np.ndarray
    n_rows: int


@inner_kernel
def _take_step(rows: np.ndarray, places: np.ndarray, amounts: np.ndarray, tables: np.ndarray, step: int) -> None:
    """One step, for all rows of the block.

    Every number here is a byte that was read from an array of bytes: the compiler treats a byte made from a wider
    number as a wide one, and then processes eight rows instead of 32. Bits are combined and not chosen between, because
    a choice between two memory cells is not vectorized.

    ``rows`` uint8[w, m], ``places`` uint32[n_steps, 4], ``amounts`` uint8[n_steps, 4], ``tables`` uint8[k, 256].
    """
    kind = places[step, KIND]
    out, asked = rows[places[step, OUT]], rows[places[step, ASKED]]
    lowest, width = amounts[step, LOWEST], amounts[step, WIDTH]
    inside, outside = amounts[step, INSIDE], amounts[step, OUTSIDE]
    n_rows = np.uintp(rows.shape[1])
    if kind == CHOOSE:
        for row in range(n_rows):
            hit = np.uint8(np.uint8(0) - np.uint8(np.uint8(asked[row] - lowest) <= width))
            out[row] = outside ^ ((inside ^ outside) & hit)
    elif kind == PUT:
        for row in range(n_rows):
            held = out[row]
            hit = np.uint8(np.uint8(0) - np.uint8(np.uint8(asked[row] - lowest) <= width))
            out[row] = held ^ ((inside ^ held) & hit)
    elif kind == MERGE:
        other = rows[places[step, OTHER]]
        for row in range(n_rows):
            held, new = out[row], other[row]
            hit = np.uint8(np.uint8(0) - np.uint8(np.uint8(asked[row] - lowest) <= width))
            out[row] = held ^ ((new ^ held) & hit)
    else:
        table = tables[places[step, OTHER]]
        for row in range(n_rows):
            out[row] = table[asked[row]]


@costs(lambda rows, steps, leaf_row, first, stop, sums: len(sums) * (stop - first + len(steps.places)))
@kernel
def add_trees(rows: np.ndarray, steps: Steps, leaf_row: int, first: int, stop: int, sums: np.ndarray) -> None:
    """Add the leaf values of several trees, tree by tree.

    Parameters
    ----------
    rows : uint8[w, m], IN and OUT
        Bins column by column, then scratch rows. ``m`` may be larger than the number of rows; a multiple of 32 is
        fastest.
    leaf_row : int
        The first scratch row, which holds the result of each tree.
    first, stop : int, 0 <= first <= stop <= n_trees
    sums : float64[n <= m, n_scores], IN and OUT
        Tree ``t`` adds to column ``t % n_scores``.

    Notes
    -----
    O(rows x tests). A row's sum is made in the order of the trees, for any block size.
    """
    places, amounts, tables, step_start, values, value_start, _ = steps
    leaf = rows[np.uintp(leaf_row)]
    n, n_scores = np.uintp(sums.shape[0]), sums.shape[1]
    for tree in range(first, stop):
        for step in range(np.uintp(step_start[tree]), np.uintp(step_start[tree + 1])):
            _take_step(rows, places, amounts, tables, step)
        value = values[value_start[tree] : value_start[tree + 1]]
        score = np.uintp(tree % n_scores)
        if value_start[tree + 1] - value_start[tree] == 1:  # no test: nothing was written
            for row in range(n):
                sums[row, score] += value[0]
        else:
            for row in range(n):
                sums[row, score] += value[leaf[row]]
