"""Trees answered for a block of rows at once.

A tree is worked out from its leaves upwards: each test chooses, for all rows of the block, between what its two
branches came to. What is chosen is the number of a leaf, a byte, so that one instruction of the processor takes a test
for 32 rows, no branch depends on the data, and nothing is looked up before the leaf's value. Each test of a tree is
taken for each row.
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
    """What ``add_trees`` does, one step after another.

    Attributes
    ----------
    places : uint32[n_steps, 4]
        Kind of the step; the row of bytes that is written; the one that is asked; another one (``MERGE``), or the
        table (``LOOK_UP``). Rows from p on are rows to work with.
    amounts : uint8[n_steps, 4]
        Lowest bin and width of the run that is asked for; what is written inside and outside it. ``CHOOSE`` writes one
        or the other, ``PUT`` only the one inside, ``MERGE`` copies from another row inside.
    tables : uint8[k, 256]
        1 for each bin that goes left.
    step_start : int64[n_trees + 1]
        Where the steps of each tree begin.
    values : float64
        What the leaves of the trees add, tree by tree, in the order of their numbers.
    value_start : int64[n_trees + 1]
    n_rows : int
        Rows of bytes in all: the p columns, and those to work with.
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

    Every number here is a byte that was read from an array of bytes: the compiler takes a byte made from a wider
    number for a wide one, and works on eight rows where it could work on 32. Bits are combined and not chosen between:
    a choice between two memory cells is not made side by side.

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


@costs(lambda rows, steps, leaf_row, first, stop, sums: len(sums) * len(steps.places))
@kernel
def add_trees(rows: np.ndarray, steps: Steps, leaf_row: int, first: int, stop: int, sums: np.ndarray) -> None:
    """Add what the leaves of some trees hold, tree by tree.

    Parameters
    ----------
    rows : uint8[w, m], IN and OUT
        Bins column by column, then rows of bytes to work with. ``m`` may be more than the rows there are; a multiple
        of 32 is fastest.
    leaf_row : int
        The first row to work with: that in which each tree ends.
    first, stop : int, 0 <= first <= stop <= n_trees
    sums : float64[n <= m, n_scores], IN and OUT
        Tree ``t`` adds to column ``t % n_scores``.

    Notes
    -----
    O(rows x tests). A row's sum is made in the order of the trees, whatever the block.
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
