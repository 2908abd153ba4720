"""Which nodes a row passes. In: ``ModelData``, encoded matrix, leaf positions. Out: sparse matrix. Caller: estimators.

Nothing is asked a second time: the path of a row is its leaf and the leaf's ancestors. Only under
``missing="fractional"``, where a row can be in several leaves, ``predict.fractional`` walks again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from treewright.data.memory import check_fits
from treewright.exceptions import ParameterError
from treewright.predict.fractional import share_path
from treewright.tree.model import ModelData

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


def decision_path(
    model: ModelData, matrix: npt.NDArray[np.floating], leaf_positions: npt.NDArray[np.integer], tree: int = 0
) -> csr_matrix:
    """Indicator of the nodes that each row passes, root and leaf included.

    Parameters
    ----------
    model : ModelData
    matrix : float64 or float32 [n, p]
        The encoded rows; only their number is looked at, but under ``missing="fractional"``.
    leaf_positions : int[n]
        The leaf of each row in that tree, as ``leaf_of`` gives it.
    tree : int, default 0
        Which tree of the model.

    Returns
    -------
    csr_matrix of int64[n, n_nodes]
        1 where the row passes the node. Indices are sorted, so a row reads from the root to its leaf. Under
        ``missing="fractional"`` float64: the share of the row that passes the node.

    Raises
    ------
    ParameterError
        The number of rows differs, a position is not a leaf, or there is no such tree.
    TooLargeError
        The paths would not fit in memory.
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
    path.has_sorted_indices = True  # a parent stands before its children
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
