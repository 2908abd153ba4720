"""Isolation forests for scikit-learn."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
from sklearn.base import OutlierMixin

from treewright.core.progress import compiling_announced
from treewright.core.threads import resolve_jobs
from treewright.data.dataset import Dataset
from treewright.data.encoder import encode
from treewright.estimators import signatures
from treewright.estimators.base import Estimator, TreesOf, sequence_of_estimators
from treewright.estimators.documentation import as_model
from treewright.estimators.forest import ROWS_LAY_ELSEWHERE, SamplesOf
from treewright.forest.draws import candidate_columns
from treewright.forest.isolation import scores_of_rows
from treewright.learn.isolation import isolation_dataset
from treewright.learn.params import NUMBERS
from treewright.learn.settings import columns_of_each
from treewright.learn.train import Trained, train
from treewright.model import Model


@sequence_of_estimators
class IsolationForest(signatures.IsolationForest, OutlierMixin, Estimator):
    """Isolation forest: rows that few random cuts isolate are outliers (Liu, Ting and Zhou 2008 and 2012).

    Attributes
    ----------
    model_ : Model
        The fitted model: it is self-contained and is what ``save`` writes. Its prediction is the mean path length of a
        row; ``treewright.forest.isolation.anomaly_scores`` computes the score from it.
    offset_ : float
        A row is an outlier if ``score_samples`` is below it.
    max_samples_ : int
        Rows that each tree sampled.
    estimators_ : sequence of Model
        Each tree as a model of its own, made when it is accessed; ``len(forest)``, ``forest[i]`` and ``for`` use this
        sequence.
    estimators_features_, estimators_samples_ : sequence of int64 arrays
        Columns and rows of each tree, ascending; a row that was drawn twice is listed twice.

    Notes
    -----
    A node samples one of the columns that are not constant in it. In a numeric column the cut is uniform between the
    node's smallest and largest value; infinities count as the largest finite numbers. In a nominal column the levels in
    the node are divided into two random groups, all divisions being equally likely; levels that it does not hold take
    the heavier branch. Missing cells in the node take a random branch together or, if all values are the same, are
    separated from these; if there are none, later missing cells take the heavier branch. A tree is at most
    ``ceil(log2(max_samples_))`` deep.

    A row's path length is the number of tests to its leaf, plus, for a leaf with several rows, the average path length
    in a tree of them. The score is ``2 ** (-mean path length / average path length of max_samples_ rows)``.

    Weights that are whole numbers, 16 or less on average, are row counts; others are chances of being sampled. Which
    rows are sampled does not depend on their order.

    Examples
    --------
    >>> from treewright.estimators.isolation import IsolationForest
    >>> forest = IsolationForest(random_state=0).fit([[-1.1], [0.3], [0.5], [100.0]])
    >>> forest.predict([[0.1], [0.0], [90.0]])
    array([ 1,  1, -1])
    """

    _task = NUMBERS
    _has_target = False

    model_: Model
    _trained: Trained

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002 - there is no target
        """Grow the trees.

        Parameters
        ----------
        X : table of n rows, or Dataset
            Array, dict of columns, list of rows or of dicts, sparse matrix, or a pandas, polars or pyarrow table. A
            ``Dataset`` is made without a target (``target=None``), and has its weights itself.
        y : ignored
        sample_weight : float[n], optional
            Whole numbers are row counts, others are chances of being sampled (see Notes).

        Returns
        -------
        self

        Raises
        ------
        ParameterError
            A parameter is out of range, or more columns are to be sampled than there are; under ``warm_start`` the
            table or a parameter that trees depend on is different, or there are fewer trees than before.
        DataError
            The table or the weights are refused, or there are no rows.
        TooLargeError
            The forest would not fit in memory.

        Warns
        -----
        DataWarning
            With ``contamination="auto"`` more than half of the training rows are outliers; ``max_samples`` is more than
            there are rows; or under ``warm_start`` there are no more trees to grow.
        """
        params = self._check_parameters()
        resolve_jobs(self.n_jobs)
        dataset = isolation_dataset(X, params, sample_weight)
        with compiling_announced():
            before = self.__dict__.get("_trained") if self.warm_start else None
            trained = train(dataset, params, start=before)
        self._keep(dataset, params, trained)
        return self

    def _keep(self, dataset: Dataset, params: Any, trained: Trained) -> None:
        super()._keep(dataset, params, trained)
        self._trained = trained
        self.offset_ = float(self.model_.facts["offset"])
        self.max_samples_ = int(self.model_.facts["max_samples"])
        self._n_columns = columns_of_each(params.max_features, len(self.model_.schema))

    def _encoded(self, X: Any) -> Any:
        model = self._fitted()
        owner = type(self).__name__
        return encode(model.schema, X, unseen=model.unseen, missing=model.missing, owner=owner, sparse=True)

    @property
    def estimators_(self) -> TreesOf:
        """The trees, each a ``Model`` of its own that is made when it is accessed."""
        return TreesOf(self._fitted())

    @as_model
    def tree(self, i: int) -> Model:
        """One tree as a model of its own."""
        return self._fitted().tree(i)

    @property
    def estimators_samples_(self) -> SamplesOf:
        """The rows of each tree: int64, ascending; a row that was drawn twice is listed twice."""
        return SamplesOf.of(self._fitted(), self._trained)

    @property
    def estimators_features_(self) -> list[np.ndarray]:
        """Columns that each tree sampled, ascending."""
        model = self._fitted()
        draws, p, n_columns = self._trained.draws, len(model.schema), self._n_columns
        if draws is None:
            raise AttributeError(ROWS_LAY_ELSEWHERE)
        seed = draws.seed
        return [candidate_columns(seed, tree, p, n_columns).astype(np.int64) for tree in range(model.n_trees)]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file; ``treewright.load`` reads it, and ``anomaly_scores`` scores rows with the loaded model.

        Raises
        ------
        InputFileError
            The file cannot be written there.
        """
        self._fitted().save(path)

    def score_samples(self, X: Any) -> np.ndarray:
        """The negative anomaly score of the paper: the lower, the more abnormal.

        Parameters
        ----------
        X : table of n rows
            Columns are matched by name if fit had names.

        Returns
        -------
        float64[n]
            Between -1 and 0; about -0.5 is ordinary.

        Raises
        ------
        ColumnError
            Columns are missing, duplicated or of another kind than at fit.
        UnseenLevelError
            A level that fit never saw, under ``unseen="error"``.
        """
        return -scores_of_rows(self._fitted(), self._encoded(X), self.n_jobs)

    def decision_function(self, X: Any) -> np.ndarray:
        """``score_samples(X) - offset_``: negative for outliers.

        Returns
        -------
        float64[n]
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """Whether each row is an outlier.

        Returns
        -------
        int64[n]
            -1 for outliers, 1 for the others.
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    def predict_one(self, row: Any) -> int:
        """Whether one row, a sequence of cells or a mapping from column name to cell, is an outlier: -1, else 1."""
        return int(self.predict([row])[0])
