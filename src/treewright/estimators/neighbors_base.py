"""What both estimators of nearest neighbours share. In: parameters, a table, a target. Out: ``model_``.

Callers: estimators.neighbors_classifier, estimators.neighbors_regressor.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from treewright.core.threads import resolve_jobs
from treewright.data.cells import shown
from treewright.data.encoder import encode_fit
from treewright.data.target import check_lengths
from treewright.estimators import resolve
from treewright.estimators.constraints import Number, Words
from treewright.estimators.table_estimator import TableEstimator
from treewright.estimators.text_suspicions import warn_of_text
from treewright.exceptions import ParameterError
from treewright.model.neighbors import NeighborsModel
from treewright.model.neighbors_rows import UNSEEN, is_sparse
from treewright.neighbors import votes
from treewright.neighbors.index import ALGORITHMS, search_for
from treewright.neighbors.metrics import Metric
from treewright.neighbors.metrics_by_name import metric_of
from treewright.neighbors.mixed_columns import RULES
from treewright.neighbors.ranks import SQUARES
from treewright.neighbors.sparse import KINDS as SPARSE_METRICS
from treewright.neighbors.sparse_cells import checked_rows
from treewright.neighbors.stored import Stored
from treewright.version import __version__

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from sklearn.utils import Tags

    from treewright.data.schema import Schema

ALGORITHM = "nearest_neighbors"


class NeighborsEstimator(TableEstimator):
    """An estimator that stores its rows."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [Number(Integral, 1, None, closed="left")],
        "weights": [Words(set(votes.NAMES)), callable],
        "metric": [str, callable],
        "p": [Number(Real, 1, None, closed="left")],
        "metric_params": [dict, None],
        "scale": ["array-like", dict, str, None],
        "algorithm": [Words(set(ALGORITHMS))],
        "n_jobs": [Integral, None],
        "nominal": ["array-like", dict, str, None],
        "ordinal": [dict, None],
        "numeric": ["array-like", None],
        "unseen": [Words(set(UNSEEN))],
    }

    model_: NeighborsModel

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: str | Callable[[np.ndarray], Any] = "uniform",
        metric: str | Callable[[np.ndarray, np.ndarray], float] = "auto",
        p: float = 2.0,
        metric_params: Mapping[str, Any] | None = None,
        scale: Any = None,
        algorithm: str = "auto",
        n_jobs: int | None = None,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        unseen: str = "other",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.scale = scale
        self.algorithm = algorithm
        self.n_jobs = n_jobs
        self.nominal = nominal
        self.ordinal = ordinal
        self.numeric = numeric
        self.unseen = unseen

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = isinstance(self.metric, str) and self.metric in ("auto", *RULES)
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Store the rows.

        Parameters
        ----------
        X : table of n rows and p columns
            Array, dict of columns, list of rows, sparse matrix, or a pandas, polars or pyarrow table. Never modified.
        y : n labels or finite numbers, or n x n_outputs of them

        Returns
        -------
        self

        Raises
        ------
        DataError
            A column, cell, label or number was refused; the message says which and what to do.
        MissingValueError
            A missing cell, where the metric takes none.
        ParameterError
            A parameter is outside its range, there are fewer rows than neighbours, or metric, columns and algorithm do
            not go together.
        TooLargeError
            The work would not fit in memory.
        """
        self._check_parameters()
        resolve_jobs(self.n_jobs)
        resolve.refuse_too_large(X)
        schema, matrix = self._encoded_fit(X)
        if schema is not None:
            warn_of_text(schema, matrix, self.nominal, self.ordinal, self.numeric)
        target = self._encode_target(y)
        check_lengths(matrix.shape[0], target)
        self._refuse_too_few(matrix.shape[0])
        metric = self._metric_of(schema, matrix, target)
        points = matrix if schema is None else metric.points(matrix)
        search_for(metric, points, self.algorithm)  # refuses an algorithm that does not go with them
        if schema is not None and np.may_share_memory(points, matrix) and (matrix is X or matrix.base is not None):
            points = points.copy()  # the user's own array may be changed after the fit
        self._store(schema, matrix.shape[1], target, Stored(metric, points, *self._stored(target), self.algorithm))
        return self

    def _encoded_fit(self, X: Any) -> tuple[Schema | None, Any]:
        """The table as numbers; sparse rows stay sparse where metric and search can use them so."""
        declared = any(each is not None for each in (self.nominal, self.ordinal, self.numeric))
        if is_sparse(X) and not declared and isinstance(self.metric, str) and self.metric in ("auto", *SPARSE_METRICS):
            return None, checked_rows(X)
        return encode_fit(X, nominal=self.nominal, ordinal=self.ordinal, numeric=self.numeric)

    def _metric_of(self, schema: Schema | None, matrix: Any, target: Any) -> Metric:
        """What distance means here."""
        if schema is None:
            for name in ("scale", "metric_params"):
                if getattr(self, name) is not None:
                    raise ParameterError(f"{name} is for dense tables: sparse rows are compared as they are")
            return Metric("euclidean" if self.metric == "auto" else str(self.metric), SQUARES)
        return metric_of(
            self.metric, matrix, schema, p=self.p, scale=self.scale, metric_params=self.metric_params, target=target[0]
        )

    def _refuse_too_few(self, n: int) -> None:
        """Refuse fewer rows than neighbours."""
        if self.n_neighbors > n:
            raise ParameterError(
                f"n_neighbors={self.n_neighbors} > {n} rows (n_samples={n}): ask for fewer neighbours, or fit on more "
                "rows"
            )

    def _store(self, schema: Schema | None, n_columns: int, target: Any, stored: Stored) -> None:
        """Keep the model and what scikit-learn expects beside it."""
        facts = {
            "algorithm": ALGORITHM,
            "n_samples": stored.n_rows,
            "parameters": resolve.plain_parameters(self._parameters()),
            "version": __version__,
        }
        self.model_ = self._make_model(
            target,
            schema=schema,
            n_columns=n_columns,
            stored=stored,
            n_outputs=self._n_outputs(target),
            n_neighbors=int(self.n_neighbors),
            weights=self.weights,
            unseen=self.unseen,
            target_names=target.names,
            facts=facts,
        )
        self.n_features_in_ = n_columns
        self.n_outputs_ = self.model_.n_outputs
        self.n_samples_fit_ = stored.n_rows
        self.effective_metric_ = stored.metric.name
        self._keep_names(schema)

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """The nearest rows of the fit.

        Parameters
        ----------
        X : table of n rows, optional
            None: the rows of the fit, each without itself (by its number: a duplicate may be among its neighbours).
        n_neighbors : int, optional
            By default that of the estimator.
        return_distance : bool, default True

        Returns
        -------
        distances : float64[n, n_neighbors]
            Ascending; only where they are asked for.
        rows : int64[n, n_neighbors]
            Positions in the table of the fit; of equal distances the lower one first.

        Raises
        ------
        ParameterError
            There are fewer rows than neighbours asked for.
        DataError
            The table was refused.
        """
        distances, rows = self._fitted().kneighbors(X, n_neighbors, n_jobs=self.n_jobs, owner=type(self).__name__)
        return (distances, rows) if return_distance else rows

    def kneighbors_graph(self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity") -> csr_matrix:
        """The nearest rows of the fit as a sparse matrix.

        Parameters
        ----------
        X, n_neighbors
            As in ``kneighbors``.
        mode : {"connectivity", "distance"}
            Whether cells are 1 or distances. A neighbour at distance 0 is a stored 0.

        Returns
        -------
        csr_matrix of float64[n, n_samples_fit_]
            The cells of a row stand from the nearest on.

        Raises
        ------
        ParameterError
            There is no such mode; else as ``kneighbors``.
        """
        from scipy.sparse import csr_matrix

        if mode not in ("connectivity", "distance"):
            raise ParameterError(f"mode={shown(mode)}: give 'connectivity' or 'distance'")
        distances, rows = self.kneighbors(X, n_neighbors)
        cells = distances.ravel() if mode == "distance" else np.ones(rows.size)
        ends = np.arange(len(rows) + 1, dtype=np.int64) * rows.shape[1]
        return csr_matrix((cells, rows.ravel(), ends), shape=(len(rows), self.n_samples_fit_))

    def radius_neighbors(
        self,
        X: Any = None,
        radius: float | None = None,
        return_distance: bool = True,
        sort_results: bool = True,  # noqa: ARG002 - scikit-learn has it
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """The rows of the fit that are at most so far away.

        Parameters
        ----------
        X : table of n rows, optional
            As in ``kneighbors``.
        radius : float >= 0
            A row at exactly this distance counts.
        return_distance : bool, default True
        sort_results : bool, default True
            Results are sorted either way.

        Returns
        -------
        distances : object[n], of float64
            Ascending; only where they are asked for.
        rows : object[n], of int64
            Of equal distances the lower row first.

        Raises
        ------
        ParameterError
            The radius is no number >= 0.
        DataError
            The table was refused.
        """
        offsets, distances, rows = self._fitted().radius_neighbors(
            X, radius, n_jobs=self.n_jobs, owner=type(self).__name__
        )
        found = _in_lists(rows, offsets)
        return (_in_lists(distances, offsets), found) if return_distance else found

    def show(self) -> str:
        """What is stored, what near means and what a prediction costs, as text."""
        return self._fitted().show()

    # What the two differ in.

    @abstractmethod
    def _stored(self, target: Any) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Codes and values, of which one is None."""

    @abstractmethod
    def _make_model(self, target: Any, **parts: Any) -> NeighborsModel:
        """The model of the stored rows."""


def _in_lists(items: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """object[n]: what stands between two offsets, each an array of its own."""
    lists = np.empty(len(offsets) - 1, object)
    for at, (first, last) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
        lists[at] = items[first:last].copy()
    return lists
