"""What many trees say together. In: ``ModelData``, encoded rows. Out: means, votes, medians, answers of scores; leaves.

Callers: predict.values, model.

The answers of the trees are added up in their order, whatever the threads and blocks, so a batch equals row by row.
"""

from __future__ import annotations

import numpy as np

from treewright.data.memory import check_fits
from treewright.predict.boosted import boosted_scores
from treewright.predict.ensemble_blocks import empty_sums, packed_leaves, packed_sums
from treewright.predict.ensemble_content import contents_of
from treewright.predict.fractional import average_of_leaves, main_leaf_of, rows_with_missing
from treewright.predict.links import answers_of, boosted_parts
from treewright.predict.route import leaf_of
from treewright.predict.shares import class_shares, votes_for
from treewright.tree.arrays import Tree
from treewright.tree.model import ModelData
from treewright.tree.packed import PackedTrees

_MEDIAN_CELLS = 1 << 22  # predictions that are put in order at a time


def said_by_tree(
    model: ModelData, tree: Tree, content: np.ndarray, matrix: np.ndarray, n_jobs: int | None
) -> np.ndarray:
    """What the leaves of one tree say; under ``missing="fractional"`` a row with missing cells gets an average.

    Where trees vote, such a row is voted for once: for the class with the largest average share, as it says alone.

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
        if model.combine == "vote":
            shares = average_of_leaves(tree, matrix, rows, class_shares(model, tree.value), n_jobs)
            said[rows] = votes_for(model, shares)
        else:
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
        the class, each for the one that it predicts alone; trees with weights have a share of the weight.
        ``"median"``: see ``weighted_median``. ``"sum"``: what the scores mean (``predict.links``). A mean is finite,
        also where the sum is beyond float64.

    Raises
    ------
    TooLargeError
        The sums would not fit in memory.
    """
    if model.boosting is not None:
        return answers_of(model, scores_of(model, matrix, n_jobs))
    if model.combine == "median":
        return _median(model, matrix, n_jobs)
    contents = contents_of(model)
    sums = _added_up(model, contents, matrix, n_jobs)
    if model.tree_weights is not None:
        sums /= np.cumsum(model.tree_weights)[-1]  # in the order of the trees, as the sums
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
        for at, (tree, content) in enumerate(zip(model.trees, contents, strict=True)):
            said = said_by_tree(model, tree, content, matrix, n_jobs)
            sums += said if model.tree_weights is None else said * model.tree_weights[at]
    return sums


def scores_of(model: ModelData, matrix: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Scores of a boosted model: the base and what the leaves add.

    Returns
    -------
    float64[n, n_scores]
    """
    packed, boosting = boosted_parts(model)
    return boosted_scores(packed, boosting.base, matrix, n_jobs)


def predictions_of_trees(model: ModelData, matrix: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """What each of many trees predicts of one number.

    Returns
    -------
    float64[n, n_trees]

    Raises
    ------
    TooLargeError
        They would not fit in memory.
    """
    check_fits(len(matrix) * len(model.trees) * 8, f"{len(matrix)} x {len(model.trees)} predictions", "pass fewer rows")
    said = np.empty((len(matrix), len(model.trees)))
    for at, (tree, content) in enumerate(zip(model.trees, contents_of(model), strict=True)):
        said[:, at] = said_by_tree(model, tree, content, matrix, n_jobs)[:, 0]
    return said


def weighted_median(said: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Of each row the first number, in ascending order, whose weights and those before it reach half of all.

    Parameters
    ----------
    said : float64[n, k]
    weights : float64[k], >= 0
        All 0: all alike.

    Returns
    -------
    float64[n]

    Notes
    -----
    Drucker 1997, "Improving regressors using boosting techniques", as scikit-learn's ``AdaBoostRegressor``.

    Examples
    --------
    >>> weighted_median(np.array([[3.0, 1.0, 2.0]]), np.array([5.0, 1.0, 1.0]))
    array([3.])
    """
    if not weights.any():
        weights = np.ones(len(weights))
    order = np.argsort(said, axis=1, kind="stable")
    reached = np.cumsum(weights[order], axis=1)
    first = (reached >= 0.5 * reached[:, -1:]).argmax(axis=1)
    rows = np.arange(len(said))
    median: np.ndarray = said[rows, order[rows, first]]
    return median


def _median(model: ModelData, matrix: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """The weighted median of what the trees predict, some rows at a time: float64[n, 1]."""
    weights = np.ones(len(model.trees)) if model.tree_weights is None else model.tree_weights
    median = np.empty((len(matrix), 1))
    block = max(_MEDIAN_CELLS // len(model.trees), 1)
    for begin in range(0, len(matrix), block):
        said = predictions_of_trees(model, matrix[begin : begin + block], n_jobs)
        median[begin : begin + block, 0] = weighted_median(said, weights)
    return median


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
