"""What many trees say together. In: ``ModelData``, encoded rows. Out: means, sums or votes; leaves of every tree.

Callers: predict.values, model.

The answers of the trees are added up in their order, whatever the threads and blocks, so a batch equals row by row.
"""

from __future__ import annotations

import numpy as np

from treewright.data.memory import check_fits
from treewright.predict.ensemble_blocks import empty_sums, packed_leaves, packed_sums
from treewright.predict.ensemble_content import contents_of
from treewright.predict.fractional import average_of_leaves, main_leaf_of, rows_with_missing
from treewright.predict.route import leaf_of
from treewright.tree.arrays import Tree
from treewright.tree.model import ModelData
from treewright.tree.packed import PackedTrees


def said_by_tree(
    model: ModelData, tree: Tree, content: np.ndarray, matrix: np.ndarray, n_jobs: int | None
) -> np.ndarray:
    """What the leaves of one tree say; under ``missing="fractional"`` a row with missing cells gets an average.

    Parameters
    ----------
    model : ModelData
    tree : Tree
        One of its trees.
    content : float64[n_nodes, k]
        What each node says.
    matrix : float64 or float32 [n, p]
    n_jobs : int or None

    Returns
    -------
    float64[n, k]
    """
    said: np.ndarray = content.take(leaf_of(tree, matrix, n_jobs), axis=0)
    if model.missing == "fractional" and len(rows := rows_with_missing(matrix)):
        said[rows] = average_of_leaves(tree, matrix, rows, content, n_jobs)
    return said


def combined(model: ModelData, matrix: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """What the trees say together.

    Parameters
    ----------
    model : ModelData
        Whose ``combine`` is not ``"single"``.
    matrix : float64 or float32 [n, p]
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    float64[n, n_values]
        ``"mean"``: class shares or numbers, averaged over the trees. ``"vote"``: the share of the trees that vote for
        the class, each for the most frequent one of its leaf, the first of equals. ``"sum"``: numbers, added up.
        A mean is finite, also where the sum is beyond float64.

    Raises
    ------
    TooLargeError
        The sums would not fit in memory.
    """
    contents = contents_of(model)
    sums = _added_up(model, contents, matrix, n_jobs)
    if model.combine == "sum":
        return sums
    sums /= len(model.trees)
    if model.task == "regression" and not np.isfinite(sums).all():  # shares cannot be
        beyond = ~np.isfinite(sums)
        rows = np.flatnonzero(beyond.any(axis=1))
        sums[beyond] = _mean_of_large(model, contents, matrix[rows], n_jobs)[beyond[rows]]
    return sums


def _added_up(model: ModelData, contents: tuple[np.ndarray, ...], matrix: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """What the trees say, added up in their order: float64[n, n_values]; not finite where it is beyond float64."""
    if isinstance(model.trees, PackedTrees):
        return packed_sums(model.trees, contents[0], matrix, n_jobs)
    sums = empty_sums(len(matrix), contents[0].shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        for tree, content in zip(model.trees, contents, strict=True):
            sums += said_by_tree(model, tree, content, matrix, n_jobs)
    return sums


def _mean_of_large(
    model: ModelData, contents: tuple[np.ndarray, ...], matrix: np.ndarray, n_jobs: int | None
) -> np.ndarray:
    """The mean of numbers whose sum is beyond float64: all are made smaller by one power of two first."""
    n_trees = len(model.trees)
    shift = n_trees.bit_length()
    small = tuple(np.ldexp(content, -shift) for content in contents)
    mean = _added_up(model, small, matrix, n_jobs) / n_trees
    largest = np.ldexp(np.finfo(np.float64).max, -shift)
    return np.ldexp(np.clip(mean, -largest, largest), shift)  # a rounding of the sum may have left the range


def leaves_of_trees(model: ModelData, matrix: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Position of each row's leaf in every tree.

    Parameters
    ----------
    model : ModelData
    matrix : float64 or float32 [n, p]
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    int64[n, n_trees]
        Of a row in several leaves of a tree the one with its largest share, the lowest of equals.

    Raises
    ------
    TooLargeError
        The positions would not fit in memory.
    """
    if isinstance(model.trees, PackedTrees):
        return packed_leaves(model.trees, matrix, n_jobs)
    n, n_trees = len(matrix), len(model.trees)
    check_fits(n * n_trees * 8, f"{n} x {n_trees} leaf positions", "pass fewer rows")
    leaves = np.empty((n, n_trees), np.int64)
    for at, tree in enumerate(model.trees):
        leaves[:, at] = leaves_of_tree(model, tree, matrix, n_jobs)
    return leaves


def leaves_of_tree(model: ModelData, tree: Tree, matrix: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """Position of each row's leaf in one tree; of a row in several leaves the one with its largest share.

    Returns
    -------
    int32[n]
    """
    leaves = leaf_of(tree, matrix, n_jobs)
    return main_leaf_of(tree, matrix, leaves, n_jobs) if model.missing == "fractional" else leaves
