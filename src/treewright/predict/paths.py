"""The nodes that a row passes, in one tree or in all.

No test is repeated: the path of a row is its leaf and the leaf's ancestors. Only under ``missing="fractional"``, where
a row can be in several leaves, ``predict.fractional`` walks again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from treewright.data.memory import check_fits
from treewright.exceptions import ParameterError
from treewright.predict.fractional import share_path
from treewright.trees.data import ModelData

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


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
