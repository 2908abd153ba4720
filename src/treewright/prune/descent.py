"""Rows sent down a tree that is being pruned. In: rows, tables of tests, where nodes stand. Out: counts, errors.

Caller: prune.j48. Where missing values are divided, a row without a value takes every branch, in the proportion of the
weight of the rows at hand that have one; how it is divided therefore changes when a subtree gets more rows. Elsewhere
it takes the missing branch.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from treewright.core.jit import inner_kernel, kernel
from treewright.predict.branches import Branches, branch_of
from treewright.tree.arrays import MULTIWAY, SUBSET

# Below this weight a distribution counts as empty, as in J48.
NOTHING = 1e-6


class Places(NamedTuple):
    """The nodes of a tree that is being pruned; all arrays are written to.

    Attributes
    ----------
    test_of : int32[n_nodes]
        Whose test and whose children each node has: itself at first, another one after a subtree was raised.
    leaf : bool[n_nodes]
    begin, end : int64[n_nodes]
        The node's rows stand in ``Pool`` from ``begin`` to ``end - 1``, leaf by leaf: a divided row several times.
    counts : float64[n_nodes, n_classes]
    n_samples : int64[n_nodes]
    errors : float64[n_nodes]
        Estimated errors of the node as a leaf.
    seen : uint64[n_words]
        ``levels_seen`` of the tree; a raised subtree may see more levels.
    """

    test_of: np.ndarray
    leaf: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    counts: np.ndarray
    n_samples: np.ndarray
    errors: np.ndarray
    seen: np.ndarray


class Pool(NamedTuple):
    """Rows with weights, the rows of one leaf after those of another: ``rows`` int32 and ``weights`` float64 [k]."""

    rows: np.ndarray
    weights: np.ndarray


class Limit(NamedTuple):
    """The confidence of the upper limit of the errors, in (0, 0.5], and the normal deviate ``z`` of one minus it."""

    confidence: float
    z: float


@inner_kernel
def _above(total: float, errors: float, z: float) -> float:
    """Errors that the upper limit adds to one or more errors."""
    if errors + 0.5 >= total:
        return max(total - errors, 0.0)
    f = (errors + 0.5) / total
    z2 = z * z
    spread = math.sqrt(f / total - f * f / total + z2 / (4.0 * total * total))
    return total * (f + z2 / (2.0 * total) + z * spread) / (1.0 + z2 / total) - errors


@kernel
def added_by(limit: Limit, total: float, errors: float) -> float:
    """Errors that the upper limit adds to ``errors`` among ``total``.

    Notes
    -----
    Quinlan (1993), section 4.2: exact for no error, the normal approximation with a correction for continuity from one
    error on, in between the straight line.
    """
    if errors >= 1.0:
        return _above(total, errors, limit.z)
    base = total * (1.0 - limit.confidence ** (1.0 / total))
    if errors == 0.0:
        return base
    return base + errors * (_above(total, 1.0, limit.z) - base)


@inner_kernel
def _estimated(limit: Limit, counts: np.ndarray) -> float:
    """Estimated errors of a leaf with these class counts."""
    total, largest = 0.0, 0.0
    for count in counts:
        total += count
        largest = max(largest, count)
    if total < NOTHING:
        return 0.0
    wrong = max(total - largest, 0.0)
    return wrong + added_by(limit, total, wrong)


@kernel
def estimate_leaves(limit: Limit, counts: np.ndarray, errors: np.ndarray) -> None:
    """Write the estimated errors of each node as a leaf: ``counts`` float64[n_nodes, n_classes], ``errors`` OUT."""
    for node in range(len(counts)):
        errors[node] = _estimated(limit, counts[node])


@inner_kernel
def _grown(array: np.ndarray, used: int, wanted: int) -> np.ndarray:
    """The array, or a longer copy of its first ``used`` cells where it is too short."""
    if wanted <= len(array):
        return array
    longer = np.empty(max(wanted, 2 * len(array)), array.dtype)
    for at in range(used):
        longer[at] = array[at]
    return longer


@inner_kernel
def _appended(array: np.ndarray, used: int, more: np.ndarray, begin: int, end: int) -> np.ndarray:
    """The first ``used`` cells of an array and then ``more[begin:end]``, in a longer array where it is too short."""
    longer = _grown(array, used, used + end - begin)
    for at in range(begin, end):
        longer[used + at - begin] = more[at]
    return longer


@inner_kernel
def _settle(places: Places, node: int, counts: np.ndarray, n_samples: int, errors: float, top: int) -> None:
    """Write what a node holds now; its rows begin at ``top``."""
    for label in range(len(counts)):
        places.counts[node, label] = counts[label]
    places.n_samples[node] = n_samples
    places.errors[node] = errors
    places.begin[node] = top


@inner_kernel
def _merged(places: Places, pool: Pool, node: int, without: int, slots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a node, each once with the sum of its weights, in the order of first sight.

    ``without`` is a branch whose rows are left out, or -1; ``slots`` int32[n_rows] holds -1 everywhere, before and
    after.
    """
    begin, end = places.begin[node], places.end[node]
    skip_from, skip_to = (places.begin[without], places.end[without]) if without >= 0 else (end, end)
    size = end - begin - (skip_to - skip_from)
    rows, weights = np.empty(size + 1, np.int32), np.empty(size + 1)
    n = 0
    at = begin - 1
    while True:
        at += 1
        if at == skip_from:
            at = skip_to
        if at >= end:
            break
        row = pool.rows[at]
        if slots[row] < 0:
            slots[row] = n
            rows[n], weights[n] = row, 0.0
            n += 1
        weights[slots[row]] += pool.weights[at]
    for at in range(n):
        slots[rows[at]] = -1
    return rows[:n], weights[:n]


@inner_kernel
def _find_ways(
    matrix: np.ndarray,
    tables: Branches,
    test: int,
    rows: np.ndarray,
    weights: np.ndarray,
    begin: int,
    top: int,
    ways: np.ndarray,
    sizes: np.ndarray,
    parts: np.ndarray,
    divides: bool,
) -> int:
    """The branch of each row (-1: to be divided), how many rows each branch gets, and its part of a divided one.

    Returns the number of rows that all branches get together.
    """
    n_branches = tables.n_branches[test]
    for branch in range(n_branches):
        sizes[branch], parts[branch] = 0, 0.0
    n_missing = 0
    for at in range(begin, top):
        way = branch_of(tables, test, matrix[rows[at], tables.feature[test]])
        if way < 0 and not divides:
            way = int(tables.missing_branch[test])
        ways[at - begin] = way
        if way < 0:
            n_missing += 1
        else:
            sizes[way] += 1
            parts[way] += weights[at]
    known = 0.0
    for branch in range(n_branches):
        known += parts[branch]
    wanted = 0
    for branch in range(n_branches):
        parts[branch] = parts[branch] / known if known > 0.0 else 1.0 / n_branches
        if parts[branch] > 0.0:
            sizes[branch] += n_missing
        wanted += sizes[branch]
    return wanted


@inner_kernel
def _note_levels(
    matrix: np.ndarray, tables: Branches, places: Places, test: int, rows: np.ndarray, begin: int, top: int
) -> None:
    """Mark the levels that rows of a node hold as seen there."""
    kind = tables.kind[test]
    if kind not in (SUBSET, MULTIWAY):
        return
    start = int(tables.level_set[test])
    for at in range(begin, top):
        x = matrix[rows[at], tables.feature[test]]
        if not np.isnan(x):
            code = int(x)
            if kind == SUBSET:
                places.seen[start + (code >> 6)] |= np.uint64(1) << np.uint64(code & 63)
            elif tables.level_branch[start + code] < 0:
                tables.level_branch[start + code] = ~tables.level_branch[start + code]


@inner_kernel
def _divide(
    rows: np.ndarray,
    weights: np.ndarray,
    begin: int,
    top: int,
    ways: np.ndarray,
    sizes: np.ndarray,
    parts: np.ndarray,
    new_rows: np.ndarray,
    new_weights: np.ndarray,
) -> None:
    """Write the rows of a node branch by branch, a missing one to every branch that has a part of it."""
    places = np.empty(len(parts), np.int64)
    place = 0
    for branch in range(len(parts)):
        places[branch] = place
        place += sizes[branch]
    for at in range(begin, top):
        way = ways[at - begin]
        if way >= 0:
            new_rows[places[way]], new_weights[places[way]] = rows[at], weights[at]
            places[way] += 1
            continue
        for branch in range(len(parts)):
            if parts[branch] > 0.0:
                new_rows[places[branch]], new_weights[places[branch]] = rows[at], weights[at] * parts[branch]
                places[branch] += 1


@kernel
def send_down(
    matrix: np.ndarray,
    codes: np.ndarray,
    tables: Branches,
    places: Places,
    pool: Pool,
    top: int,
    slots: np.ndarray,
    source: int,
    start: int,
    limit: Limit,
    settles: bool,
    adds: bool,
    divides: bool,
) -> tuple[float, Pool, int]:
    """Send the rows of ``source`` down from ``start``.

    Parameters
    ----------
    matrix : float [n, p], IN
    codes : int32[n], IN
        Classes of the rows.
    tables : Branches
        ``level_branch`` is written to where ``settles``.
    places : Places
        Written to where ``settles``: everything but ``test_of`` and ``leaf``, for all nodes from ``start`` down.
    pool : Pool
        Where ``settles``, the rows of the leaves are appended at ``top``.
    top : int
        Cells of the pool in use.
    slots : int32[n], scratch
        -1 everywhere.
    source, start : int
        Nodes.
    limit : Limit
    settles : bool
        Whether the rows stay there, or only the errors are asked for.
    adds : bool
        Whether ``start`` is a branch of ``source`` whose own rows stay where they are: only the others are sent, and
        the answer is by how much the errors grow. Right where no row is divided.
    divides : bool
        Whether a row without a value takes every branch in part, not the missing branch.

    Returns
    -------
    errors : float
        Estimated errors of the leaves together, or how much larger they are.
    pool : Pool
        The same, or a longer one.
    top : int

    Notes
    -----
    O(rows x depth) for rows without missing values. The waiting rows form a stack: a node's segment is the end of it,
    and is replaced by those of its branches, the last of which comes next. A number below zero on the stack of nodes
    says that everything below its complement is done.
    """
    rows, weights = _merged(places, pool, source, start if adds else -1, slots)
    n_waiting = len(rows)
    pool_rows, pool_weights = pool.rows, pool.weights
    ways = np.empty(len(rows) + 1, np.int64)
    new_rows, new_weights = np.empty(len(rows) + 1, np.int32), np.empty(len(rows) + 1)
    sizes, parts = np.empty(2, np.int64), np.empty(2)
    nodes, begins = np.empty(64, np.int64), np.empty(64, np.int64)
    nodes[0], begins[0] = start, 0
    n_nodes = 1
    counts = np.empty(places.counts.shape[1])
    errors, estimate = 0.0, 0.0
    while n_nodes:
        n_nodes -= 1
        node = nodes[n_nodes]
        if node < 0:
            places.end[~node] = top
            continue
        begin = begins[n_nodes]
        leaf = places.leaf[node]
        if leaf or settles:
            for label in range(len(counts)):
                counts[label] = places.counts[node, label] if adds else 0.0
            for at in range(begin, n_waiting):
                counts[codes[rows[at]]] += weights[at]
            estimate = _estimated(limit, counts)
        if settles:
            _settle(places, node, counts, n_waiting - begin, estimate, top)
        if leaf:
            errors += estimate - (places.errors[node] if adds else 0.0)
            if settles:
                pool_rows = _appended(pool_rows, top, rows, begin, n_waiting)
                pool_weights = _appended(pool_weights, top, weights, begin, n_waiting)
                top += n_waiting - begin
                places.end[node] = top
            n_waiting = begin
            continue
        test = places.test_of[node]
        n_branches = int(tables.n_branches[test])
        ways = _grown(ways, 0, n_waiting - begin)
        sizes, parts = _grown(sizes, 0, n_branches), _grown(parts, 0, n_branches)
        if settles:
            _note_levels(matrix, tables, places, test, rows, begin, n_waiting)
        wanted = _find_ways(matrix, tables, test, rows, weights, begin, n_waiting, ways, sizes, parts, divides)
        new_rows, new_weights = _grown(new_rows, 0, wanted), _grown(new_weights, 0, wanted)
        _divide(rows, weights, begin, n_waiting, ways, sizes, parts[:n_branches], new_rows, new_weights)
        rows = _appended(rows, begin, new_rows, 0, wanted)
        weights = _appended(weights, begin, new_weights, 0, wanted)
        n_waiting = begin + wanted
        nodes = _grown(nodes, n_nodes, n_nodes + n_branches + 1)
        begins = _grown(begins, n_nodes, n_nodes + n_branches + 1)
        if settles:
            nodes[n_nodes] = ~node
            n_nodes += 1
        for branch in range(n_branches):
            if settles or sizes[branch]:
                nodes[n_nodes] = int(tables.first_child[test]) + branch
                begins[n_nodes] = begin
                n_nodes += 1
            begin += sizes[branch]
    return errors, Pool(pool_rows, pool_weights), top
