"""Nearest neighbours for scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from treewright.core.threads import resolve_jobs
from treewright.data.cells import shown
from treewright.data.dataset import Dataset
from treewright.estimators.base import Classifier, Estimator, Regressor, keep
from treewright.exceptions import ParameterError
from treewright.learn.neighbors import knows_missing, neighbors_dataset
from treewright.learn.train import Trained, train
from treewright.model.neighbors import NeighborsModel

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from sklearn.utils import Tags


class Neighbors(Estimator):
    """The methods of an estimator that stores its rows."""

    _algorithm = "nearest_neighbors"
    _has_trees = False

    model_: NeighborsModel

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: str | Callable[[np.ndarray], Any] | None = "uniform",
        metric: str | Callable[[np.ndarray, np.ndarray], float] = "auto",
        p: float = 2.0,
        metric_params: Mapping[str, Any] | None = None,
        scale: Any = None,
        algorithm: str = "auto",
        n_jobs: int | None = None,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        unseen: str = "other",
    ) -> None:
        keep(self, locals())

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = knows_missing(self.metric)
        tags.input_tags.pairwise = isinstance(self.metric, str) and self.metric == "precomputed"
        return tags

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Store the rows.

        Parameters
        ----------
        X : table of n rows and p columns
            Array, dict of columns, list of rows or of dicts, sparse matrix, or a pandas, polars or pyarrow table. Never
            modified. With ``metric="precomputed"`` the n x n distances between the rows.
        y : n labels or finite numbers, or n x n_outputs of them

        Returns
        -------
        self

        Raises
        ------
        DataError
            A column, cell, label or number was refused; the message says which and what to do.
        MissingValueError
            A missing cell, if the metric does not support them.
        ParameterError
            A parameter is outside its range, there are fewer rows than neighbours, or metric, columns and algorithm do
            not fit together.
        TooLargeError
            The work would not fit in memory.
        """
        params = self._check_parameters()
        resolve_jobs(self.n_jobs)
        dataset = neighbors_dataset(X, y, params, self._encode_target)
        self._keep(dataset, params, train(dataset, params))
        return self

    def _keep(self, dataset: Dataset, params: Any, trained: Trained) -> None:
        super()._keep(dataset, params, trained)
        self.n_samples_fit_ = len(dataset)
        self.effective_metric_ = self.model_.stored.metric.name

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """The nearest training rows.

        Parameters
        ----------
        X : table of n rows, optional
            None: the training rows, each without itself (by position: a duplicate may be among its neighbours).
        n_neighbors : int, optional
            By default that of the estimator.
        return_distance : bool, default True

        Returns
        -------
        distances : float64[n, n_neighbors]
            Ascending; only with ``return_distance``.
        rows : int64[n, n_neighbors]
            Positions in the training table; of equal distances the lower one first.

        Raises
        ------
        ParameterError
            There are fewer rows than neighbours.
        DataError
            The table was refused.
        """
        distances, rows = self._fitted().kneighbors(X, n_neighbors, n_jobs=self.n_jobs, owner=type(self).__name__)
        return (distances, rows) if return_distance else rows

    def kneighbors_graph(self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity") -> csr_matrix:
        """The nearest training rows as a sparse matrix.

        Parameters
        ----------
        X, n_neighbors
            As in ``kneighbors``.
        mode : {"connectivity", "distance"}
            Whether cells are 1 or distances. A neighbour at distance 0 is a stored 0.

        Returns
        -------
        csr_matrix of float64[n, n_samples_fit]
            The cells of a row are in the order of distance.

        Raises
        ------
        ParameterError
            There is no such mode; else as ``kneighbors``.
        """
        from scipy.sparse import csr_matrix

        if mode not in ("connectivity", "distance"):
            raise ParameterError(f"mode={shown(mode)}: choose 'connectivity' or 'distance'")
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
        """The training rows within a radius.

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
            Ascending; only with ``return_distance``.
        rows : object[n], of int64
            Of equal distances the lower row first.

        Raises
        ------
        ParameterError
            The radius is not a number >= 0.
        DataError
            The table was refused.
        """
        offsets, distances, rows = self._fitted().radius_neighbors(
            X, radius, n_jobs=self.n_jobs, owner=type(self).__name__
        )
        found = _in_lists(rows, offsets)
        return (_in_lists(distances, offsets), found) if return_distance else found

    def show(self) -> str:  # type: ignore[override]
        """A summary of the stored rows, the metric and the work of a prediction, as text."""
        return self._fitted().show()


def _in_lists(items: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """object[n]: the items between each two offsets, each an array of its own."""
    lists = np.empty(len(offsets) - 1, object)
    for at, (first, last) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
        lists[at] = items[first:last].copy()
    return lists


class KNeighborsClassifier(Neighbors, Classifier):
    """Nearest neighbours for classification: predict from the classes of the nearest training rows.

    Parameters
    ----------
    n_neighbors : int >= 1, default 5
        Number of neighbours. Of rows at equal distances the lower one is the nearer.
    weights : str, callable or None, default "uniform"
        Weight of a neighbour's vote: "uniform", 1; "distance", 1 / distance, but if rows are at distance 0 only these
        count. The kernels of Hechenbichler and Schliep (2004), of distance over the distance of the neighbour after the
        last: "triangular", "epanechnikov", "biweight", "tricube", "gaussian". Or a function that takes distances
        float64[n, n_neighbors] and returns weights of that shape. If all weights are 0, all count alike.
    metric : str or callable, default "auto"
        "euclidean", "manhattan", "chebyshev", "minkowski", "mahalanobis", "cosine", "angle", "correlation", "hamming",
        "jaccard", "canberra"; for columns of several kinds and missing cells "gower", "heom", "hvdm"; for numbers with
        missing cells "nan_euclidean", the root of the sum of squares over the columns present in both rows, times p
        over their number. "auto" is "minkowski" (with p=2: euclidean) if all columns are numeric and no cell is
        missing, else HEOM. "precomputed": cells are distances, at fit between all its rows, later from each row to
        each of those. Or a function of two float64[p] that returns a distance.
    p : float >= 1, default 2.0
        The power of "minkowski", and of "auto" for numbers: 1 is manhattan, 2 euclidean, infinity chebyshev. Refused
        with a metric that has no such power.
    metric_params : dict, optional
        Further numbers of a metric (see ``treewright.neighbors.metrics.metric_of``).
    scale : {"standard", "range", "robust"}, p numbers, or None
        Factors of the columns before distances are computed: one over the standard deviation, the range, the
        interquartile range, or the given numbers. By name, their mean, lowest cell or median is subtracted first:
        that matters only to "cosine", "angle", "correlation" and "canberra".
    algorithm : {"auto", "brute", "kd_tree"}, default "auto"
        How to search; it only changes the time.
    positive : class label, optional
        The positive class of two: what constraints, costs, thresholds, curves and explanations are about. By default
        the second.
    n_jobs : int, optional
        Threads; all processors by default. The result does not depend on it.
    nominal, numeric : sequence of column names or positions, optional
        Columns to treat as nominal or as numeric, whatever their type. ``nominal`` may also be a mapping from column to
        its levels, or ``"all"``.
    ordinal : dict from column name or position to its levels, lowest first, optional
    calendar : sequence of parts of dates, or mapping from column name or position to these, optional
        Parts that become columns of their own, such as ``["month", "weekday"]``: of every column of dates that has
        them, or of those that are named. "year", "month", "day", "weekday", "hour", "days since 2020-01-01".
    unseen : {"other", "missing", "error"}, default "other"
        How predict treats a level that fit never saw: as a level that differs from every other one, as a missing
        cell, or as an error. An ordinal column has no place for such a level: there ``other`` is ``missing``.

    Attributes
    ----------
    model_ : NeighborsModel
        The fitted model: it is self-contained and is what ``save`` writes. It holds the rows of the fit.
    classes_ : ndarray, or list of ndarray for several outputs
    n_classes_ : int, or list of int
    n_features_in_, n_outputs_, n_samples_fit_ : int
    feature_names_in_ : ndarray of str
        Only if the table had names that are all strings.
    effective_metric_ : str
        What "auto" was.

    Notes
    -----
    Of equally probable classes ``predict`` returns the first. Sparse rows are searched as they are under "cosine",
    "angle" and "euclidean" ("auto"); under other metrics they are made dense.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"sky": ["sun", "rain", "sun", None], "wind": [3, 5, 9, 8]}
    >>> est = tw.KNeighborsClassifier(n_neighbors=2).fit(table, ["out", "in", "in", "in"])
    >>> est.predict({"wind": [4], "sky": ["sun"]}), est.effective_metric_
    (array(['in'], dtype='<U3'), 'heom')
    """

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: str | Callable[[np.ndarray], Any] | None = "uniform",
        metric: str | Callable[[np.ndarray, np.ndarray], float] = "auto",
        p: float = 2.0,
        metric_params: Mapping[str, Any] | None = None,
        scale: Any = None,
        algorithm: str = "auto",
        positive: Any = None,
        n_jobs: int | None = None,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        unseen: str = "other",
    ) -> None:
        keep(self, locals())


class KNeighborsRegressor(Neighbors, Regressor):
    """Nearest neighbours for regression: predict the mean of the nearest training rows.

    Parameters
    ----------
    n_neighbors, weights, metric, p, metric_params, scale, algorithm, n_jobs, nominal, numeric, ordinal
        As for ``KNeighborsClassifier``.
    calendar, unseen
        As for ``KNeighborsClassifier``.

    Attributes
    ----------
    model_ : NeighborsModel
        The fitted model: it is self-contained and is what ``save`` writes. It holds the rows of the fit.
    n_features_in_, n_outputs_, n_samples_fit_ : int
    feature_names_in_ : ndarray of str
        Only if the table had names that are all strings.
    effective_metric_ : str
        What "auto" was.

    Examples
    --------
    >>> import treewright as tw
    >>> est = tw.KNeighborsRegressor(n_neighbors=2).fit([[1.0], [2.0], [9.0]], [10.0, 20.0, 90.0])
    >>> est.predict([[1.2]])
    array([15.])
    >>> est.kneighbors([[1.2]])
    (array([[0.2, 0.8]]), array([[0, 1]]))
    """
