"""Which index searches. In: a metric, points, what the user asked for. Out: an ``Index``. Callers: stored, model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from treewright.data.cells import shown
from treewright.exceptions import ParameterError
from treewright.neighbors.metrics import Metric
from treewright.neighbors.ranks import CALLED, CHEBYSHEV, MANHATTAN, MIXED, POWERS, SQUARES

if TYPE_CHECKING:
    from treewright.neighbors.ranks import Index
    from treewright.neighbors.sparse import Kind

ALGORITHMS = ("auto", "brute", "kd_tree")
_IN_TREES = (SQUARES, MANHATTAN, CHEBYSHEV, POWERS)
# Up to so many columns a tree is quicker than all rows. Five neighbours of normal columns, each on its own (the worst
# case for a tree), one thread, times that all rows take as long: euclidean 100,000 rows 14 (4 columns), 2.3 (8),
# 0.7 (10); 10,000 rows 5, 1.2, 0.6. Manhattan 100,000 rows 4.8 (8), 0.9 (12). Chebyshev 15 (8), 1.7 (20). Minkowski
# with p = 3 28 (8), 5.3 (12), and 10,000 rows 1.0 (16).
_TREE_COLUMNS = {SQUARES: 8, MANHATTAN: 11, CHEBYSHEV: 20, POWERS: 16}
# Fewer rows are compared before a tree of them is built.
_TREE_ROWS = 64


def search_for(metric: Metric, points: Any, algorithm: str) -> str:
    """The kind of index that searches these points: the rule of shape.

    Parameters
    ----------
    metric : Metric
    points : float64[n, d] or csr_matrix
    algorithm : {"auto", "brute", "kd_tree"}
        "brute" compares all rows.

    Returns
    -------
    {"kd_tree", "brute", "direct", "mixed", "called", "sparse"}

    Raises
    ------
    ParameterError
        There is no such algorithm, or a KD-tree cannot search by this metric, or sparse rows.

    Examples
    --------
    >>> [search_for(Metric("euclidean", SQUARES), np.zeros((1000, d)), "auto") for d in (3, 64)]
    ['kd_tree', 'brute']
    """
    if algorithm not in ALGORITHMS:
        raise ParameterError(f"algorithm={shown(algorithm)}: give one of {', '.join(map(repr, ALGORITHMS))}")
    is_sparse = not isinstance(points, np.ndarray)
    in_tree = metric.kind in _IN_TREES and not is_sparse
    if algorithm == "kd_tree" and not in_tree:
        why = "sparse rows" if is_sparse else f"metric={metric.name!r}, whose distances do not grow column by column"
        raise ParameterError(f"algorithm='kd_tree' cannot search {why}: use algorithm='auto' or 'brute'")
    if is_sparse:
        return "sparse"
    if metric.kind == MIXED:
        return "mixed"
    if metric.kind == CALLED:
        return "called"
    n, d = points.shape
    if in_tree and (
        algorithm == "kd_tree" or (algorithm == "auto" and d <= _TREE_COLUMNS[metric.kind] and n >= _TREE_ROWS)
    ):
        return "kd_tree"
    return "brute" if metric.kind == SQUARES else "direct"


def index_for(metric: Metric, points: Any, algorithm: str, n_threads: int) -> Index:
    """The index of some points.

    Parameters
    ----------
    metric, points, algorithm
        As in ``search_for``.
    n_threads : int >= 1
        To make it with; it does not depend on them.

    Raises
    ------
    ParameterError
        As ``search_for``.
    """
    search = search_for(metric, points, algorithm)
    # Imported where they are used: each brings kernels of its own.
    if search == "kd_tree":
        from treewright.neighbors.kd_tree import KdTree

        return KdTree.of(points, metric.kind, metric.p, n_threads)
    if search == "brute":
        from treewright.neighbors.brute import Brute

        return Brute.of(points)
    if metric.mixed is not None:
        from treewright.neighbors.mixed import Mixed

        return Mixed(points, metric.mixed)
    if metric.function is not None:
        from treewright.neighbors.called import Called

        return Called(points, metric.function)
    if search == "sparse":
        from treewright.neighbors.sparse import SparseRows

        return SparseRows.of(points, cast("Kind", metric.name))
    from treewright.neighbors.direct import Direct

    return Direct(points, metric.kind, metric.p)
