"""Rows in several branches at once, and the nodes that a row passes.

Under ``missing="fractional"`` a missing value takes every branch, in proportion to the branches' training weights
(Quinlan 1993, section 3.2): the row reaches several leaves with shares that add up to one. The prediction is the
average of the leaves' class proportions or numbers, weighted by these shares. A row is divided in one fixed order,
independent of threads, blocks and other rows.

No test is repeated for a path: the path of a row is its leaf and the leaf's ancestors. Only under
``missing="fractional"``, where a row can be in several leaves, rows walk again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from treewright.core import threads
from treewright.core.jit import inner_kernel, kernel
from treewright.data.encoder import has_nan
from treewright.data.memory import check_fits
from treewright.exceptions import ParameterError
from treewright.predict.route import Branches, branch_of, branches_of, in_blocks
from treewright.trees.arrays import LEAF, Tree
from treewright.trees.data import ModelData

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_SCAN_ROWS = 65_536  # rows that are searched for missing cells at once: the boolean block stays small


class Spread(NamedTuple):
    """Room for the nodes that one row reaches: never more than the tree has.

    ``nodes`` int64[n_nodes] and ``shares`` float64[n_nodes]; a parent comes before its children.
    """

    nodes: np.ndarray
    shares: np.ndarray


_portions: WeakKeyDictionary[Tree, np.ndarray] = WeakKeyDictionary()


def portions_of(tree: Tree) -> npt.NDArray[np.float64]:
    """float64[n_nodes]: each node's part of a missing value at its parent, 1.0 at the root.

    It is the weight of the node over the weight of all branches of the parent.
    """
    portions = _portions.get(tree)
    if portions is None:
        parent = tree.parent[1:]
        total = np.bincount(parent, tree.weight[1:], minlength=tree.n_nodes)
        portions = np.ones(tree.n_nodes)
        # If all branches are empty the missing row is divided evenly, so that its share is not lost.
        with np.errstate(invalid="ignore"):
            portions[1:] = np.where(total[parent] > 0, tree.weight[1:] / total[parent], 1.0 / tree.n_branches[parent])
        _portions[tree] = portions
    return portions


def rows_with_missing(matrix: np.ndarray) -> npt.NDArray[np.int64]:
    """Positions of the rows that have a missing cell: int64[k], ascending."""
    if matrix.flags.forc and not has_nan(matrix):
        return np.empty(0, np.int64)
    found = np.zeros(len(matrix), bool)
    for start in range(0, len(matrix), _SCAN_ROWS):
        found[start : start + _SCAN_ROWS] = np.isnan(matrix[start : start + _SCAN_ROWS]).any(axis=1)
    return np.flatnonzero(found)


@inner_kernel
def spread_row(matrix: np.ndarray, row: int, tables: Branches, portions: np.ndarray, spread: Spread) -> int:
    """Find the nodes that a row reaches with any share; returns their number, the root is the first.

    ``matrix`` float [n, p], IN; ``portions`` float64[n_nodes], IN.
    """
    nodes, shares = spread.nodes, spread.shares
    nodes[0], shares[0] = 0, 1.0
    at, end = 0, 1
    while at < end:
        node, share = nodes[at], shares[at]
        at += 1
        if tables.kind[node] == LEAF:
            continue
        first = int(tables.first_child[node])
        branch = branch_of(tables, node, matrix[row, tables.feature[node]])
        if branch >= 0:
            nodes[end], shares[end] = first + branch, share
            end += 1
            continue
        for child in range(first, first + tables.n_branches[node]):
            part = share * portions[child]
            if part > 0.0:
                nodes[end], shares[end] = child, part
                end += 1
    return end


@kernel
def average_leaves(
    matrix: np.ndarray,
    tables: Branches,
    portions: np.ndarray,
    content: np.ndarray,
    spread: Spread,
    out: np.ndarray,
) -> None:
    """Average the contents of the leaves, weighted by the row's shares.

    ``matrix`` float [n, p], IN; ``portions`` float64[n_nodes], IN; ``content`` float64[n_nodes, m], IN: content of each
    node; ``out`` float64[n, m], OUT.
    """
    for row in range(len(matrix)):
        out[row, :] = 0.0
        for at in range(spread_row(matrix, row, tables, portions, spread)):
            node = spread.nodes[at]
            if tables.kind[node] == LEAF:
                for column in range(content.shape[1]):
                    out[row, column] += spread.shares[at] * content[node, column]


@kernel
def largest_leaf(
    matrix: np.ndarray, tables: Branches, portions: np.ndarray, spread: Spread, leaves: np.ndarray
) -> None:
    """Find the leaf that holds the largest share of each row, the lowest position of equal ones.

    Parameters
    ----------
    matrix, tables, portions, spread
        As in ``average_leaves``.
    leaves : int32[n], OUT
    """
    for row in range(len(matrix)):
        best, largest = np.int64(-1), 0.0
        for at in range(spread_row(matrix, row, tables, portions, spread)):
            node, share = spread.nodes[at], spread.shares[at]
            if tables.kind[node] == LEAF and (share > largest or (share == largest and node < best)):
                best, largest = node, share
        leaves[row] = best


@kernel
def write_paths(
    matrix: np.ndarray,
    tables: Branches,
    portions: np.ndarray,
    spread: Spread,
    ends: np.ndarray,
    nodes: np.ndarray,
    shares: np.ndarray,
) -> None:
    """Write the nodes that each row reaches, or only count them if ``nodes`` is empty.

    Parameters
    ----------
    matrix, tables, portions, spread
        As in ``average_leaves``.
    ends : int64[n + 1], IN (counting: ``ends[i + 1]`` is OUT)
        The nodes of row ``i`` are ``ends[i]`` to ``ends[i + 1] - 1``.
    nodes : int32 or int64 [n_cells], OUT
    shares : float64[n_cells], OUT
    """
    for row in range(len(matrix)):
        n_reached = spread_row(matrix, row, tables, portions, spread)
        if len(nodes) == 0:
            ends[row + 1] = n_reached
            continue
        for at in range(n_reached):
            nodes[ends[row] + at] = spread.nodes[at]
            shares[ends[row] + at] = spread.shares[at]


def _scratch(tree: Tree) -> Spread:
    """Scratch memory for one block of rows."""
    return Spread(np.empty(tree.n_nodes, np.int64), np.empty(tree.n_nodes))


def average_of_leaves(
    tree: Tree, matrix: np.ndarray, rows: npt.NDArray[np.int64], content: np.ndarray, n_jobs: int | None = None
) -> npt.NDArray[np.float64]:
    """float64[k, m]: the contents of the leaves of given rows, averaged by the rows' shares in them.

    ``rows`` int64[k]; ``content`` float64[n_nodes, m]: class proportions, or numbers.
    """
    out = np.empty((len(rows), content.shape[1]))
    tables, portions = branches_of(tree), portions_of(tree)

    def block(start: int, stop: int) -> None:
        some = np.ascontiguousarray(matrix[rows[start:stop]])
        average_leaves(some, tables, portions, content, _scratch(tree), out[start:stop])

    in_blocks(block, len(rows), threads.resolve_jobs(n_jobs))
    return out


def main_leaf_of(
    tree: Tree, matrix: np.ndarray, leaves: npt.NDArray[np.int32], n_jobs: int | None = None
) -> npt.NDArray[np.int32]:
    """Position of the leaf that holds the largest share of each row, the lowest of equal ones: int32[n].

    ``leaves`` int32[n]: the leaf of each row without missing cells; the others are replaced.
    """
    rows = rows_with_missing(matrix)
    main = leaves.copy()
    tables, portions = branches_of(tree), portions_of(tree)

    def block(start: int, stop: int) -> None:
        here = rows[start:stop]
        found = np.empty(len(here), np.int32)
        largest_leaf(np.ascontiguousarray(matrix[here]), tables, portions, _scratch(tree), found)
        main[here] = found

    in_blocks(block, len(rows), threads.resolve_jobs(n_jobs))
    return main


def share_path(tree: Tree, matrix: np.ndarray) -> csr_matrix:
    """The share of each row in each node that it reaches, 1.0 at the root: csr_matrix float64[n, n_nodes], sorted."""
    from scipy.sparse import csr_matrix  # 50 ms that prediction does not need

    some, tables, portions, scratch = np.ascontiguousarray(matrix), branches_of(tree), portions_of(tree), _scratch(tree)
    ends = np.zeros(len(some) + 1, np.int64)
    write_paths(some, tables, portions, scratch, ends, np.empty(0, np.int64), np.empty(0))
    np.cumsum(ends, out=ends)
    n_cells = int(ends[-1])
    check_fits(n_cells * 16, "the decision path", "pass fewer rows or a shallower tree")
    nodes, shares = np.empty(n_cells, np.int64), np.empty(n_cells)
    if n_cells:
        write_paths(some, tables, portions, scratch, ends, nodes, shares)
    path = csr_matrix((shares, nodes, ends), shape=(len(some), tree.n_nodes))
    path.sort_indices()
    return path


def decision_path(
    model: ModelData, matrix: npt.NDArray[np.floating], leaf_positions: npt.NDArray[np.integer], tree: int = 0
) -> csr_matrix:
    """Indicator of the nodes of one tree that each row passes, root and leaf included: csr_matrix int64[n, n_nodes].

    ``leaf_positions`` int[n]: the leaf of each row in that tree. Indices are sorted, so a row lists its path from the
    root to the leaf. Under ``missing="fractional"`` float64: the share of the row that passes the node; only there the
    cells of ``matrix`` are read.
    """
    from scipy.sparse import csr_matrix  # 50 ms that prediction does not need

    if not 0 <= tree < len(model.trees):
        raise ParameterError(f"tree {tree} is not in the model: its trees are 0 to {len(model.trees) - 1}")
    grown = model.trees[tree]
    n_rows, n_nodes = len(matrix), grown.n_nodes
    if leaf_positions.shape != (n_rows,):
        raise ParameterError(f"leaf positions have shape {leaf_positions.shape} for {n_rows} rows")
    inside = (leaf_positions >= 0) & (leaf_positions < n_nodes)
    bad = ~inside | ~grown.is_leaf[np.where(inside, leaf_positions, 0)]
    if bad.any():
        row = int(bad.argmax())
        raise ParameterError(f"position {leaf_positions[row]} of row {row} is not a leaf of tree {tree}")
    if model.missing == "fractional":
        return share_path(grown, matrix)
    ends = np.zeros(n_rows + 1, np.int64)
    np.cumsum(grown.depth[leaf_positions].astype(np.int64) + 1, out=ends[1:])
    n_cells = int(ends[-1])
    index = np.int32 if max(n_cells, n_nodes) < 2**31 else np.int64
    check_fits(n_cells * (8 + np.dtype(index).itemsize), "the decision path", "pass fewer rows or a shallower tree")
    passed = _ancestors(grown.parent, leaf_positions, ends, np.empty(n_cells, index))
    path = csr_matrix((np.ones(n_cells, np.int64), passed, ends.astype(index)), shape=(n_rows, n_nodes))
    path.has_sorted_indices = True  # a parent comes before its children
    return path


def _ancestors(
    parent: npt.NDArray[np.int32],
    leaves: npt.NDArray[np.integer],
    ends: npt.NDArray[np.int64],
    out: npt.NDArray[np.signedinteger],
) -> npt.NDArray[np.signedinteger]:
    """Each leaf and its ancestors, from the leaf up, into ``out[ends[i]:ends[i + 1]]``; all rows step together."""
    here, place = leaves.astype(np.int64), ends[1:] - 1
    while len(here):
        out[place] = here
        above = parent[here]
        waiting = above >= 0
        here, place = above[waiting].astype(np.int64), place[waiting] - 1
    return out


def decision_paths(model: ModelData, matrix: np.ndarray, leaves: np.ndarray) -> tuple[csr_matrix, np.ndarray]:
    """Indicator of the nodes of all trees that each row passes, in the format of scikit-learn's forests.

    ``leaves`` int64[n, n_trees]. Returns ``path``, as of ``decision_path``, tree by tree; and ``n_nodes_ptr``
    int64[n_trees + 1]: the nodes of tree ``i`` are the columns from ``n_nodes_ptr[i]`` to ``n_nodes_ptr[i + 1]``.
    """
    from scipy.sparse import csr_matrix

    trees, begins = model.trees, model.trees.begins
    parts = []
    needed = 0
    for tree in range(len(trees)):
        parts.append(decision_path(model, matrix, leaves[:, tree], tree))
        needed += parts[-1].nnz * 16
        check_fits(needed, "the decision paths", "pass fewer rows or use fewer trees")
    lengths = np.sum([np.diff(part.indptr) for part in parts], axis=0, dtype=np.int64)
    ends = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    index = np.int32 if max(int(ends[-1]), int(begins[-1])) < 2**31 else np.int64
    indices = np.empty(int(ends[-1]), index)
    data = np.empty(int(ends[-1]), parts[0].dtype)
    place = ends[:-1].copy()
    for tree, part in enumerate(parts):
        steps = np.diff(part.indptr)
        at = np.arange(part.nnz) + np.repeat(place - part.indptr[:-1], steps)
        indices[at] = part.indices + begins[tree]
        data[at] = part.data
        place += steps
    path = csr_matrix((data, indices, ends.astype(index)), shape=(len(matrix), int(begins[-1])))
    path.has_sorted_indices = True
    return path, begins
