"""Scores of boosted trees.

Two engines, chosen by shape. Larger trees, and fewer rows than leaves, are walked (``walks``). Trees with few leaves
are computed for a block of rows at once, from their leaves upwards: each test chooses, for all rows of the block,
between the results of its two branches. A result is the number of a leaf, one byte, so that one instruction of the
processor does a test for 32 rows, no jump depends on the data, and nothing is looked up before the leaf's value. Each
test of a tree is done for each row.

Both engines find the leaf of each row by the same bins and add in the order of the trees, to scores that start with the
base: every engine, block and number of threads gives the same bits.

``Steps`` are trees as steps over columns of bytes. A test checks whether a bin lies in a run of bins, where 0 follows
255: bins 0 to a cut, with or without the bin of missing cells, or any others. A subset test of several runs is computed
first, in one step per run, or by one look-up if there are many. The subtree that needs more scratch rows comes first,
so that a tree of 256 leaves needs ten.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from treewright.core import threads
from treewright.core.jit import costs, inner_kernel, kernel
from treewright.data.bin_rows import bin_columns, bin_rows
from treewright.data.bins import MISSING_BIN
from treewright.data.memory import check_fits
from treewright.predict.walks import INLINE_WALKS, add_binned, empty_sums, in_blocks
from treewright.trees.arrays import (
    CHILD_SHIFT,
    COLUMN_SHIFT,
    CUT_SHIFT,
    MAX_COLUMNS,
    MAX_SETS,
    MISSING_SHIFT,
    SET_SHIFT,
    SUBSET_RECORD,
)
from treewright.trees.packed import PackedTrees

# Kinds of steps.
CHOOSE, PUT, MERGE, LOOK_UP = 0, 1, 2, 3
# Columns of ``Steps.places`` and ``Steps.amounts``.
KIND, OUT, TESTED, OTHER = 0, 1, 2, 3
LOWEST, WIDTH, INSIDE, OUTSIDE = 0, 1, 2, 3

# 100 trees of 31 leaves, 200,000 rows of 28 columns in bins, one thread, least of seven readings: rows walked by lanes
# 240 ms; QuickScorer, masks of 32 bits, tree by tree 36 ms (blocks of 1,024 rows; of 128: 47 ms), column by column with
# its early stop 50 ms (128 rows; one of so many nearly always lies high); this 17 ms, and 36 ms with counted references
# (``kernel``): a step takes four views.


class Steps(NamedTuple):
    """The steps of ``add_trees``, in their order.

    ``places`` uint32[n_steps, 4]: kind of the step; the row of bytes that is written; the row that is tested; another
    one (``MERGE``), or the table (``LOOK_UP``). Rows from p are scratch rows.
    ``amounts`` uint8[n_steps, 4]: lowest bin and width of the tested run; the bytes written inside and outside it.
    ``CHOOSE`` writes one or the other, ``PUT`` only the one inside, ``MERGE`` copies from another row inside.
    """

    places: np.ndarray
    amounts: np.ndarray
    tables: np.ndarray  # uint8[k, 256]: 1 for each bin that goes left
    step_start: np.ndarray  # int64[n_trees + 1]: first step of each tree
    values: np.ndarray  # float64: values of the leaves, tree by tree, in the order of their numbers
    value_start: np.ndarray  # int64[n_trees + 1]
    n_rows: int  # rows of bytes in all: the p columns, and the scratch rows


@inner_kernel
def _take_step(rows: np.ndarray, places: np.ndarray, amounts: np.ndarray, tables: np.ndarray, step: int) -> None:
    """One step, for all rows of the block.

    Every number here is a byte that was read from an array of bytes: the compiler treats a byte made from a wider
    number as a wide one, and then processes eight rows instead of 32. Bits are combined and not chosen between, because
    a choice between two memory cells is not vectorized.

    ``rows`` uint8[w, m], ``places`` uint32[n_steps, 4], ``amounts`` uint8[n_steps, 4], ``tables`` uint8[k, 256].
    """
    kind = places[step, KIND]
    out, tested = rows[places[step, OUT]], rows[places[step, TESTED]]
    lowest, width = amounts[step, LOWEST], amounts[step, WIDTH]
    inside, outside = amounts[step, INSIDE], amounts[step, OUTSIDE]
    n_rows = np.uintp(rows.shape[1])
    if kind == CHOOSE:
        for row in range(n_rows):
            hit = np.uint8(np.uint8(0) - np.uint8(np.uint8(tested[row] - lowest) <= width))
            out[row] = outside ^ ((inside ^ outside) & hit)
    elif kind == PUT:
        for row in range(n_rows):
            held = out[row]
            hit = np.uint8(np.uint8(0) - np.uint8(np.uint8(tested[row] - lowest) <= width))
            out[row] = held ^ ((inside ^ held) & hit)
    elif kind == MERGE:
        other = rows[places[step, OTHER]]
        for row in range(n_rows):
            held, new = out[row], other[row]
            hit = np.uint8(np.uint8(0) - np.uint8(np.uint8(tested[row] - lowest) <= width))
            out[row] = held ^ ((new ^ held) & hit)
    else:
        table = tables[places[step, OTHER]]
        for row in range(n_rows):
            out[row] = table[tested[row]]


@costs(lambda rows, steps, leaf_row, first, stop, sums: len(sums) * (stop - first + len(steps.places)))
@kernel
def add_trees(rows: np.ndarray, steps: Steps, leaf_row: int, first: int, stop: int, sums: np.ndarray) -> None:
    """Add the leaf values of several trees, tree by tree.

    ``rows`` uint8[w, m], IN and OUT: bins column by column, then scratch rows. ``m`` may be larger than the number of
    rows; a multiple of 32 is fastest.
    ``leaf_row``: the first scratch row, which holds the result of each tree.
    ``first``, ``stop`` int, 0 <= first <= stop <= n_trees.
    ``sums`` float64[n <= m, n_scores], IN and OUT: tree ``t`` adds to column ``t % n_scores``.

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


MOST_LEAVES = 256  # numbered in a byte
_MOST_RUNS = 12  # a step for 32 rows takes as long as a look-up for two or three
_N_BINS = 256

_steps: WeakKeyDictionary[PackedTrees, Steps] = WeakKeyDictionary()


def steps_of(packed: PackedTrees) -> Steps:
    """The steps of trees with one number per leaf, made once.

    ``packed``: with at most ``MOST_LEAVES`` leaves per tree.
    """
    steps = _steps.get(packed)
    if steps is None:
        steps = _steps[packed] = _new_steps(packed)
    return steps


def _new_steps(packed: PackedTrees) -> Steps:
    """The steps, tree by tree."""
    tables = tables_of_sets(packed)  # has a row for kernels to read even if there is no set
    n_runs = np.maximum((tables != np.roll(tables, 1, axis=1)).sum(axis=1) // 2, 1)
    is_looked_up = n_runs > _MOST_RUNS
    extra = np.where(is_looked_up, 1, np.where(n_runs > 1, n_runs, 0))
    sizes = np.diff(packed.roots)
    is_subset = (packed.records & 3) == SUBSET_RECORD
    tested_sets = (packed.records[is_subset] >> SET_SHIFT) & (MAX_SETS - 1)
    most = int((packed.records & 3 != 0).sum() + extra[tested_sets].sum())
    places, amounts = np.zeros((most, 4), np.uint32), np.zeros((most, 4), np.uint8)
    values = np.empty(int(((packed.records & 3) == 0).sum()))
    step_start, value_start = np.zeros((2, packed.n_trees + 1), np.int64)
    write_steps(
        np.array(packed.records),
        np.array(packed.roots),
        np.array(packed.set_column),
        tables,
        is_looked_up,
        np.array(packed.leaf_value[:, 0], np.float64),
        packed.bins.n_columns,
        np.empty((4, int(sizes.max(initial=1))), np.int64),
        places,
        amounts,
        step_start,
        values,
        value_start,
    )
    n_steps = step_start[-1]
    n_rows = max(int(places[:n_steps, OUT].max(initial=0)), packed.bins.n_columns) + 1
    return Steps(places[:n_steps], amounts[:n_steps], tables, step_start, values, value_start, n_rows)


def tables_of_sets(packed: PackedTrees) -> np.ndarray:
    """uint8[max(n_sets, 1), 256]: 1 for each bin that goes left in a subset test, including the bin of missing cells.

    Bins that no cell can have repeat the last one before them, so that there are fewer runs of bins.
    """
    if not len(packed.sets):
        return np.zeros((1, _N_BINS), np.uint8)
    bits = np.unpackbits(np.ascontiguousarray(packed.sets, "<u8").view(np.uint8), axis=1, bitorder="little")
    last = np.minimum(packed.bins.n_bins[packed.set_column].astype(np.int64), MISSING_BIN - 1)
    bins = np.minimum(np.arange(_N_BINS), last[:, None])
    tables = np.take_along_axis(bits, bins, axis=1)
    is_subset = (packed.records & 3) == SUBSET_RECORD
    subset = packed.records[is_subset]
    tables[(subset >> SET_SHIFT) & (MAX_SETS - 1), MISSING_BIN] = 1 - ((subset >> MISSING_SHIFT) & 1)
    return tables


@inner_kernel
def _run_of_record(packed: int, table: np.ndarray) -> tuple[int, int]:
    """Lowest bin and number of bins of the run that goes left, for a threshold or a set of one run.

    ``table`` uint8[256] is the set's.
    """
    if packed & 3 != SUBSET_RECORD:
        cut = min((packed >> CUT_SHIFT) & 255, MISSING_BIN - 1)
        return (0, cut + 1) if (packed >> MISSING_SHIFT) & 1 else (MISSING_BIN, cut + 2)
    return _next_run(table, 0)


@inner_kernel
def _next_run(table: np.ndarray, begin: int) -> tuple[int, int]:
    """Lowest bin, from ``begin``, and number of bins of the next run of ones, where 0 follows 255; (0, 0) for none.

    ``table`` uint8[256].
    """
    for lowest in range(begin, _N_BINS):
        if table[lowest] and not table[lowest - 1 if lowest else _N_BINS - 1]:
            count = 1
            while table[(lowest + count) % _N_BINS]:
                count += 1
            return lowest, count
    return 0, _N_BINS if begin == 0 and table[0] else 0


@inner_kernel
def _write(
    places: np.ndarray, amounts: np.ndarray, step: int, kind: int, out: int, tested: int, other: int, lowest: int,
    count: int, inside: int, outside: int,
) -> int:  # fmt: skip
    """Write one step, and return the position of the next; a step that changes nothing is left out.

    ``places`` uint32[n_steps, 4], ``amounts`` uint8[n_steps, 4].
    """
    if count == 0:
        if kind != CHOOSE:
            return step
        lowest, count, inside = 0, _N_BINS, outside
    places[step, KIND], places[step, OUT], places[step, TESTED], places[step, OTHER] = kind, out, tested, other
    amounts[step, LOWEST], amounts[step, WIDTH] = lowest & 255, count - 1
    amounts[step, INSIDE], amounts[step, OUTSIDE] = inside, outside
    return step + 1


@inner_kernel
def _write_set(
    places: np.ndarray, amounts: np.ndarray, step: int, tables: np.ndarray, is_looked_up: np.ndarray, chosen: int,
    out: int, tested: int,
) -> int:  # fmt: skip
    """Write to row ``out`` a 1 where a set of several runs goes left; nothing for one run. Return the next step.

    ``places`` uint32[n_steps, 4], ``amounts`` uint8[n_steps, 4], ``tables`` uint8[>= n_sets, 256], ``is_looked_up``
    bool[>= n_sets].
    """
    lowest, count = _next_run(tables[chosen], 0)
    found, size = _next_run(tables[chosen], lowest + 1)
    if size == 0:
        return step
    if is_looked_up[chosen]:
        return _write(places, amounts, step, LOOK_UP, out, tested, chosen, 0, _N_BINS, 0, 0)
    step = _write(places, amounts, step, CHOOSE, out, tested, 0, lowest, count, 1, 0)
    while size:
        step = _write(places, amounts, step, PUT, out, tested, 0, found, size, 1, 0)
        found, size = _next_run(tables[chosen], found + 1)
    return step


@inner_kernel
def _write_test(
    places: np.ndarray, amounts: np.ndarray, step: int, left: int, right: int, top: int, tested: int, lowest: int,
    count: int,
) -> tuple[int, int]:  # fmt: skip
    """Write the choice between the results of two branches: rows, or leaves ``~number``. Return next step and row.

    With two rows the later one is the last in use and becomes free. ``places`` uint32[n_steps, 4], ``amounts``
    uint8[n_steps, 4].
    """
    after, others = lowest + count, _N_BINS - count  # the bins that go right
    if left < 0 and right < 0:
        return _write(places, amounts, step, CHOOSE, top, tested, 0, lowest, count, ~left, ~right), top
    if left < 0:
        return _write(places, amounts, step, PUT, right, tested, 0, lowest, count, ~left, 0), right
    if right < 0:
        return _write(places, amounts, step, PUT, left, tested, 0, after, others, ~right, 0), left
    if right < left:
        return _write(places, amounts, step, MERGE, right, tested, left, lowest, count, 0, 0), right
    return _write(places, amounts, step, MERGE, left, tested, right, after, others, 0, 0), left


@inner_kernel
def _order_of_tree(records: np.ndarray, root: int, stop: int, scratch: np.ndarray) -> None:
    """Order of a tree's nodes such that, read backwards, children precede parents and larger needs smaller ones.

    ``records`` int64[n_nodes]. ``scratch`` int64[4, >= stop - root]: ``scratch[0]`` gets the order, ``scratch[1]`` the
    rows each node needs; both count nodes within the tree.
    """
    order, need, waiting = scratch[0], scratch[1], scratch[2]
    for node in range(stop - 1, root - 1, -1):
        need[node - root] = 0
        if records[node] & 3:
            child = (records[node] >> CHILD_SHIFT) - root
            left, right = need[child], need[child + 1]
            need[node - root] = max(left, right, 1) if left != right else left + 1
    n_waiting, n_ordered = 1, 0
    waiting[0] = 0
    while n_waiting:
        n_waiting -= 1
        node = waiting[n_waiting]
        order[n_ordered] = node
        n_ordered += 1
        if records[root + node] & 3:
            child = (records[root + node] >> CHILD_SHIFT) - root
            first = 0 if need[child] >= need[child + 1] else 1
            waiting[n_waiting] = child + first  # read backwards, the first one on the stack comes first
            waiting[n_waiting + 1] = child + 1 - first
            n_waiting += 2


@kernel
def write_steps(
    records: np.ndarray, roots: np.ndarray, set_column: np.ndarray, tables: np.ndarray, is_looked_up: np.ndarray,
    leaf_value: np.ndarray, n_columns: int, scratch: np.ndarray, places: np.ndarray, amounts: np.ndarray,
    step_start: np.ndarray, values: np.ndarray, value_start: np.ndarray,
) -> None:  # fmt: skip
    """Write the steps of all trees.

    Parameters
    ----------
    records : int64[n_nodes], roots : int64[n_trees + 1], set_column : int32[n_sets], IN
        As in ``PackedTrees``.
    tables : uint8[>= n_sets, 256], IN
    is_looked_up : bool[>= n_sets], IN
        Whether to look bins up instead of testing run by run.
    leaf_value : float64[m], IN
    scratch : int64[4, largest number of nodes of a tree]
    places : uint32[n_steps, 4], amounts : uint8[n_steps, 4], OUT
    step_start : int64[n_trees + 1], values : float64[n_leaves], value_start : int64[n_trees + 1], OUT
        As in ``Steps``.

    Notes
    -----
    O(nodes + 256 * subset tests). Scratch rows are a stack: the result of a node stays on it until its parent.
    """
    order, came_to = scratch[0], scratch[3]  # came_to: the row of a node's result, or of a leaf ~number
    step = n_leaves = 0
    for tree in range(len(roots) - 1):
        root, stop = roots[tree], roots[tree + 1]
        _order_of_tree(records, root, stop, scratch)
        top, first_leaf = n_columns, n_leaves
        for at in range(stop - root - 1, -1, -1):
            node = order[at]
            packed = records[root + node]
            if packed & 3 == 0:
                came_to[node] = ~(n_leaves - first_leaf)
                values[n_leaves] = leaf_value[packed >> CHILD_SHIFT]
                n_leaves += 1
                continue
            is_set = packed & 3 == SUBSET_RECORD
            chosen = (packed >> SET_SHIFT) & (MAX_SETS - 1) if is_set else 0
            tested = int(set_column[chosen] if is_set else (packed >> COLUMN_SHIFT) & (MAX_COLUMNS - 1))
            lowest, count = _run_of_record(packed, tables[chosen])
            if is_set:
                begun, step = step, _write_set(places, amounts, step, tables, is_looked_up, chosen, top + 1, tested)
                tested, lowest, count = (tested, lowest, count) if step == begun else (top + 1, 1, 1)
            child = (packed >> CHILD_SHIFT) - root
            left, right = came_to[child], came_to[child + 1]
            step, came_to[node] = _write_test(places, amounts, step, left, right, top, tested, lowest, count)
            top = came_to[node] + 1
        step_start[tree + 1], value_start[tree + 1] = step, n_leaves


# Scores of rows.

_BLOCK_BYTES, _MOST_ROWS = 1 << 16, 8192  # of bins; about the nearest cache
_ROUNDED = 64  # rows of a block are rounded up to a multiple of this

_facts: WeakKeyDictionary[PackedTrees, tuple[int, np.ndarray]] = WeakKeyDictionary()


def boosted_scores(
    packed: PackedTrees, base: Sequence[float], matrix: np.ndarray, n_jobs: int | None, stop: int | None = None
) -> np.ndarray:
    """Scores of rows, float64[n, k]: the base (of k scores) plus the values of the leaves of the first ``stop`` trees.

    Tree ``t`` adds the first value of a row's leaf to score ``t % k``; ``stop=None`` adds all trees.
    """
    scores = _started(base, len(matrix))
    last = packed.n_trees if stop is None else max(0, min(stop, packed.n_trees))
    if last == 0 or len(matrix) == 0:
        return scores
    steps = _steps_for(packed, len(matrix))

    def work(start: int, end: int) -> None:
        _add(packed, steps, _cells(packed, steps, matrix[start:end]), 0, last, scores[start:end])

    n, p = matrix.shape
    in_blocks(work, n, p, max(p, last), n_jobs, _BLOCK_BYTES, _MOST_ROWS)
    return scores


def staged_boosted_scores(
    packed: PackedTrees, base: Sequence[float], matrix: np.ndarray, n_jobs: int | None
) -> Iterator[np.ndarray]:
    """Scores of rows after each round of ``k`` trees, float64[n, k]: a new array each.

    The last equals ``boosted_scores``, also if the last round is incomplete. The bins of all rows are held until then.
    """
    (n, p), k = matrix.shape, len(base)
    scores, steps = _started(base, n), _steps_for(packed, n)
    check_fits(n * (p + 16), f"bins of {n} x {p} cells", "pass fewer rows")
    blocks: dict[int, tuple[int, np.ndarray]] = {}

    def prepare(start: int, end: int) -> None:
        blocks[start] = end, _cells(packed, steps, matrix[start:end])

    in_blocks(prepare, n, p, max(p, k), n_jobs, _BLOCK_BYTES, _MOST_ROWS)
    starts = sorted(blocks)
    n_threads = threads.resolve_jobs(n_jobs) if n * k >= INLINE_WALKS else 1
    for first in range(0, packed.n_trees, k):

        def work(task: int, _thread: int, first: int = first, last: int = min(first + k, packed.n_trees)) -> None:
            end, cells = blocks[starts[task]]
            _add(packed, steps, cells, first, last, scores[starts[task] : end])

        threads.run_each(work, len(starts), n_threads)
        yield scores.copy()


def _started(base: Sequence[float], n: int) -> np.ndarray:
    """float64[n, k]: the base in each row."""
    scores = empty_sums(n, len(base))
    scores[:] = base
    return scores


def _steps_for(packed: PackedTrees, n: int) -> Steps | None:
    """The steps of the trees, or None if walks are faster for this number of rows.

    In steps a test takes about as long for one row as for hundreds: they are faster from as many rows as a tree has
    leaves (20 trees of 64, 128 and 255 leaves: 64, 128 and 255 rows take 32, 48 and 95 us in steps and 31, 50 and 98 us
    walked; 20,000 rows a third of the time).
    """
    n_leaves = (packed.n_nodes + packed.n_trees) // 2
    in_steps = n * packed.n_trees > n_leaves and _facts_of(packed)[0] <= MOST_LEAVES
    return steps_of(packed) if in_steps else None


def _facts_of(packed: PackedTrees) -> tuple[int, np.ndarray]:
    """The largest number of leaves of a tree, and the leaf values float64[m, 1]; made once."""
    facts = _facts.get(packed)
    if facts is None:
        # A binary tree of n nodes has (n + 1) / 2 leaves.
        most = (int(np.diff(packed.roots).max(initial=0)) + 1) // 2
        facts = _facts[packed] = most, np.array(packed.leaf_value[:, :1], np.float64, order="C")
    return facts


def _cells(packed: PackedTrees, steps: Steps | None, matrix: np.ndarray) -> np.ndarray:
    """Rows as bin numbers: uint8[n, stride] for walks; for steps uint8[n_rows, >= n], with their scratch rows."""
    if steps is None:
        return bin_rows(packed.bins, matrix)
    n, p = matrix.shape
    rows = np.zeros((steps.n_rows, -(-n // _ROUNDED) * _ROUNDED), np.uint8)
    bin_columns(packed.bins, matrix, rows[:p])
    return rows


def _add(
    packed: PackedTrees, steps: Steps | None, cells: np.ndarray, first: int, stop: int, scores: np.ndarray
) -> None:
    """Add trees ``first``, a multiple of the number of scores, to ``stop - 1``."""
    if steps is None:
        add_binned(packed, cells, first, stop, _facts_of(packed)[1], scores.shape[1], scores)
    else:
        add_trees(cells, steps, packed.bins.n_columns, first, stop, scores)
