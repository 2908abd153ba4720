"""Nearest neighbours for scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from treewright.core.threads import resolve_jobs
from treewright.data.cells import shown
from treewright.data.dataset import Dataset
from treewright.estimators import signatures
from treewright.estimators.base import Classifier, Estimator, Regressor
from treewright.exceptions import ParameterError
from treewright.learn.neighbors import knows_missing, neighbors_dataset
from treewright.learn.train import Trained, train
from treewright.model.neighbors import NeighborsModel

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from sklearn.utils import Tags


class Neighbors(Estimator):
    """The methods of an estimator that stores its rows.

    Attributes
    ----------
    model_ : NeighborsModel
        The fitted model: it is self-contained and is what ``save`` writes. It holds the rows of the fit.
    n_samples_fit_ : int
        Rows of the fit.
    effective_metric_ : str
        What "auto" was.
    """

    _has_trees = False

    model_: NeighborsModel

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


class KNeighborsClassifier(signatures.KNeighborsClassifier, Neighbors, Classifier):
    """Nearest neighbours for classification: predict from the classes of the nearest training rows.

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


class KNeighborsRegressor(signatures.KNeighborsRegressor, Neighbors, Regressor):
    """Nearest neighbours for regression: predict the mean of the nearest training rows.

    Examples
    --------
    >>> import treewright as tw
    >>> est = tw.KNeighborsRegressor(n_neighbors=2).fit([[1.0], [2.0], [9.0]], [10.0, 20.0, 90.0])
    >>> est.predict([[1.2]])
    array([15.])
    >>> est.kneighbors([[1.2]])
    (array([[0.2, 0.8]]), array([[0, 1]]))
    """
