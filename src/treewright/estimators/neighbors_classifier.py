"""Nearest neighbours that vote. In: parameters, a table, labels. Out: ``KNeighborsClassifier``. Callers: users."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.data.target import Labels
from treewright.estimators.classifier import ClassifierVerbs
from treewright.estimators.neighbors_base import NeighborsEstimator
from treewright.model.neighbors import NeighborsModel


class KNeighborsClassifier(ClassifierVerbs, NeighborsEstimator):
    """The classes of the nearest rows.

    Parameters
    ----------
    n_neighbors : int >= 1, default 5
        Neighbours that vote. Of rows at equal distances the lower one is the nearer.
    weights : str or callable, default "uniform"
        What a neighbour's vote counts: "uniform", 1; "distance", 1 / distance, and where rows stand at distance 0 they
        alone count. The kernels of Hechenbichler and Schliep (2004), of distance over the distance of the neighbour
        after the last: "triangular", "epanechnikov", "biweight", "tricube", "gaussian". Or a function that takes
        distances float64[n, n_neighbors] and returns weights of that shape. Where all weights are 0, all count alike.
    metric : str or callable, default "auto"
        "euclidean", "manhattan", "chebyshev", "minkowski", "mahalanobis", "cosine", "angle", "correlation", "hamming",
        "jaccard", "canberra"; for columns of several kinds and missing cells "gower", "heom", "hvdm". "auto" is
        euclidean where every column is a number and no cell is missing, else HEOM. Or a function of two float64[p] that
        returns a distance.
    p : float >= 1, default 2.0
        Of "minkowski".
    metric_params : dict, optional
        Further numbers of a metric (see ``treewright.neighbors.metrics_by_name.metric_of``).
    scale : {"standard", "range", "robust"}, p numbers, or None
        What columns are multiplied by before distances are taken: one over the standard deviation, the range, the
        interquartile range, or the given numbers. By name, their mean, least cell or median is subtracted first:
        that matters to "cosine", "angle", "correlation" and "canberra" alone.
    algorithm : {"auto", "brute", "kd_tree"}, default "auto"
        How to search; it changes nothing but the time.
    n_jobs : int, optional
        Threads; all processors by default. The result does not depend on it.
    nominal, numeric : sequence of column names or positions, optional
        Columns to take as nominal or as numbers, whatever their type. ``nominal`` may also be a mapping from column to
        its levels, or ``"all"``.
    ordinal : dict from column name or position to its levels, lowest first, optional
    unseen : {"other", "missing", "error"}, default "other"
        What a level that fit never saw is taken for at predict: a level that differs from every other one, a missing
        cell, an error. An ordinal column has no place for such a level: there ``other`` is ``missing``.

    Attributes
    ----------
    model_ : NeighborsModel
        The fitted model: it stands alone and is what ``save`` writes. It holds the rows of the fit.
    classes_ : ndarray, or list of ndarray for several outputs
    n_classes_ : int, or list of int
    n_features_in_, n_outputs_, n_samples_fit_ : int
    feature_names_in_ : ndarray of str
        Only where the table had names that are all strings.
    effective_metric_ : str
        What "auto" was.

    Notes
    -----
    Of classes with equal shares ``predict`` takes the first. Sparse rows are searched as they are under "cosine",
    "angle" and "euclidean" ("auto"); under other metrics they are made dense.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"sky": ["sun", "rain", "sun", None], "wind": [3, 5, 9, 8]}
    >>> est = tw.KNeighborsClassifier(n_neighbors=2).fit(table, ["out", "in", "in", "in"])
    >>> est.predict({"wind": [4], "sky": ["sun"]}), est.effective_metric_
    (array(['in'], dtype='<U3'), 'heom')
    """

    def _stored(self, target: Labels) -> tuple[np.ndarray | None, np.ndarray | None]:
        return target.codes, None

    def _make_model(self, target: Labels, **parts: Any) -> NeighborsModel:
        self._keep_classes(target.classes)
        return NeighborsModel("classification", classes=target.classes, **parts)
