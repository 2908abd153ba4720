"""The training rows of a model of neighbours, and the choice of their index."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from treewright.data.cells import shown
from treewright.exceptions import DataError, MissingValueError, ParameterError, Phrase, setting
from treewright.exceptions import first_row as phrase_of_row
from treewright.neighbors.metrics import Metric
from treewright.neighbors.nearest import CALLED, CHEBYSHEV, MANHATTAN, MIXED, POWERS, PRECOMPUTED, SQUARES

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from treewright.neighbors.nearest import Index
    from treewright.neighbors.sparse import Kind


ALGORITHMS = ("auto", "brute", "kd_tree")
_IN_TREES = (SQUARES, MANHATTAN, CHEBYSHEV, POWERS)
# Up to this many columns a tree is faster than all rows. Speedup of the tree, for five neighbours of independent normal
# columns (the worst case for a tree), one thread: euclidean 100,000 rows 14 (4 columns), 2.3 (8), 0.7 (10); 10,000 rows
# 5, 1.2, 0.6. Manhattan 100,000 rows 4.8 (8), 0.9 (12). Chebyshev 15 (8), 1.7 (20). Minkowski with p = 3 28 (8),
# 5.3 (12), and 10,000 rows 1.0 (16).
_TREE_COLUMNS = {SQUARES: 8, MANHATTAN: 11, CHEBYSHEV: 20, POWERS: 16}
# Comparing fewer rows is faster than building a tree of them.
_TREE_ROWS = 64


@dataclass(frozen=True, eq=False)
class Stored:
    """Training rows in the coordinates of their metric, with their targets.

    ``points`` (float64[n, d], C order, or csr_matrix of float64): as ``metric.points`` gives them; sparse for sparse
        rows.
    ``codes`` (int32[n, n_outputs] or None): class codes of the rows.
    ``values`` (float64[n, n_outputs] or None): targets of the rows, for regression.
    ``algorithm``: the user's choice; see ``search_for``.
    """

    metric: Metric
    points: np.ndarray | csr_matrix
    codes: np.ndarray | None = None
    values: np.ndarray | None = None
    algorithm: str = "auto"

    def __reduce__(self) -> tuple[type[Stored], tuple[Any, ...]]:
        # Only the fields: the index is made from them, quickly.
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.points.shape[0])

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are sparse."""
        return not isinstance(self.points, np.ndarray)

    @property
    def nbytes(self) -> int:
        """Bytes of points and targets, without the index."""
        points: Any = self.points
        parts = [points.data, points.indices, points.indptr] if self.is_sparse else [points]
        return sum(part.nbytes for part in (*parts, self.codes, self.values) if part is not None)

    def index(self, n_threads: int = 1) -> Index:
        """The index of the rows, made at the first call; it does not depend on the threads."""
        made: Index | None = self.__dict__.get("_index")
        if made is None:
            made = index_for(self.metric, self.points, self.algorithm, n_threads)
            object.__setattr__(self, "_index", made)  # not a field: files and pickles ignore it
        return made

    def points_of(self, matrix: Any) -> Any:
        """Encoded rows in the coordinates of the metric; sparse rows already are."""
        return matrix if self.is_sparse else self.metric.points(matrix)

    def nearest(self, points: Any, k: int, n_threads: int, first_row: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """The nearest rows of each point.

        ``points`` (float64[m, d], or csr_matrix for sparse rows). ``first_row``: the number of the first point, for
        messages. Returns ``rows`` (int64[m, k]); ``distances`` (float64[m, k]): ascending; among equal ones the lower
        row first.
        """
        rows, ranks = self.index(n_threads).nearest(points, k, n_threads)
        _refuse_beyond(np.isfinite(ranks[:, -1]), points, first_row, self.metric.name)
        return rows, self.metric.distances(ranks)

    def others(self, first: int, last: int, k: int, n_threads: int) -> tuple[np.ndarray, np.ndarray]:
        """As ``nearest``, for the stored rows from ``first`` to before ``last``, each without itself."""
        rows, distances = self.nearest(self.points[first:last], k + 1, n_threads, first)
        # A row is identified by its number: duplicates are as near as the row itself, and lower ones come before it.
        itself = rows == np.arange(first, last)[:, None]
        itself[~itself.any(axis=1), -1] = True  # more than k others are as near: drop the last one
        kept = ~itself
        return rows[kept].reshape(-1, k), distances[kept].reshape(-1, k)

    def within(self, points: Any, distance: float, n_threads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows within a distance of each point: offsets, rows and distances, as from ``Index.within``."""
        rank = self.metric.ranks(distance)
        offsets, rows, ranks = self.index(n_threads).within(points, rank, n_threads)
        return offsets, rows, self.metric.distances(ranks)


def _refuse_beyond(is_finite: np.ndarray, points: Any, first_row: int, name: str) -> None:
    """Refuse points with a neighbour at an infinite distance or at none."""
    wrong = np.flatnonzero(~is_finite)
    if len(wrong) and name == "nan_euclidean" and np.isnan(points[wrong]).any():
        raise MissingValueError(
            f"{len(wrong)} row(s) (",
            phrase_of_row(first_row + int(wrong[0])),
            ") share a known cell with too few training rows: give a smaller n_neighbors, or use ",
            setting("metric", "heom"),
            ", under which a missing cell counts as different",
            row=first_row + int(wrong[0]),
        )
    if len(wrong):
        raise DataError(
            f"{len(wrong)} row(s) (",
            phrase_of_row(first_row + int(wrong[0])),
            f") have a neighbour whose {name} distance is beyond float64: make the numbers smaller, for example by ",
            setting("scale", "standard"),
            row=first_row + int(wrong[0]),
        )


def search_for(metric: Metric, points: Any, algorithm: str) -> str:
    """The name of the index for these points: "kd_tree", "brute", "direct", "mixed", "called", "given" or "sparse".

    ``points`` are float64[n, d] or csr_matrix; ``algorithm`` is one of ``ALGORITHMS``; "brute" compares all rows.
    """
    if algorithm not in ALGORITHMS:
        raise ParameterError(
            Phrase(f"algorithm={shown(algorithm)}", "setting", "algorithm", algorithm),
            f": give one of {', '.join(map(repr, ALGORITHMS))}",
            parameter="algorithm",
        )
    is_sparse = not isinstance(points, np.ndarray)
    in_tree = metric.kind in _IN_TREES and not is_sparse
    if algorithm == "kd_tree" and not in_tree:
        by_metric = (setting("metric", metric.name), ", whose distances are not sums over columns")
        raise ParameterError(
            setting("algorithm", "kd_tree"),
            " cannot search ",
            *(("sparse rows",) if is_sparse else by_metric),
            ": use ",
            setting("algorithm", "auto"),
            " or 'brute'",
            parameter="algorithm",
        )
    if is_sparse:
        return "sparse"
    if metric.kind == MIXED:
        return "mixed"
    if metric.kind in (CALLED, PRECOMPUTED):
        return "called" if metric.kind == CALLED else "given"
    n, d = points.shape
    if in_tree and (
        algorithm == "kd_tree" or (algorithm == "auto" and d <= _TREE_COLUMNS[metric.kind] and n >= _TREE_ROWS)
    ):
        return "kd_tree"
    return "brute" if metric.kind == SQUARES else "direct"


def index_for(metric: Metric, points: Any, algorithm: str, n_threads: int) -> Index:
    """The index that ``search_for`` names; it does not depend on the threads that make it."""
    search = search_for(metric, points, algorithm)
    # Imported only if used: each has kernels of its own.
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
        from treewright.neighbors.direct import Called

        return Called(points, metric.function)
    if search == "given":
        from treewright.neighbors.direct import Given

        return Given(points.shape[1])
    if search == "sparse":
        from treewright.neighbors.sparse import SparseRows

        return SparseRows.of(points, cast("Kind", metric.name))
    from treewright.neighbors.direct import Direct

    return Direct(points, metric.kind, metric.p)
