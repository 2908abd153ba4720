"""The nodes of many trees that a row passes. In: ``ModelData``, rows, leaf positions. Out: a matrix. Caller: model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treewright.data.memory import check_fits
from treewright.predict.paths import decision_path
from treewright.tree.model import ModelData
from treewright.tree.packed import PackedTrees

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


def decision_paths(model: ModelData, matrix: np.ndarray, leaves: np.ndarray) -> tuple[csr_matrix, np.ndarray]:
    """Indicator of the nodes of all trees that each row passes, as scikit-learn's forests give it.

    Parameters
    ----------
    model : ModelData
    matrix : float64 or float32 [n, p]
    leaves : int64[n, n_trees]
        The leaf of each row in every tree.

    Returns
    -------
    path : csr_matrix of int64[n, nodes of all trees]
        Indices are sorted: tree by tree, from the root to the leaf. Under ``missing="fractional"`` float64 shares.
    n_nodes_ptr : int64[n_trees + 1]
        The nodes of tree ``i`` are the columns from ``n_nodes_ptr[i]`` to ``n_nodes_ptr[i + 1]``.

    Raises
    ------
    TooLargeError
        The paths would not fit in memory.
    """
    from scipy.sparse import csr_matrix

    trees = model.trees
    if isinstance(trees, PackedTrees):
        begins = np.array(trees.roots)
    else:
        begins = np.cumsum([0, *(tree.n_nodes for tree in trees)])
    parts = []
    needed = 0
    for tree in range(len(trees)):
        parts.append(decision_path(model, matrix, leaves[:, tree], tree))
        needed += parts[-1].nnz * 16
        check_fits(needed, "the decision paths", "pass fewer rows or ask fewer trees")
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
