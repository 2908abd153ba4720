"""Isolation forests for scikit-learn. In: parameters, a table. Out: ``IsolationForest``. Callers: users."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, cast

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import InvalidParameterError, RealNotInt, validate_parameter_constraints
from sklearn.utils.validation import check_is_fitted

from treewright.core import notices
from treewright.core.progress_bar import bar_where_nobody_listens
from treewright.core.threads import resolve_jobs
from treewright.data.encoder import encode, encode_fit
from treewright.data.target import check_weights
from treewright.estimators import resolve
from treewright.estimators.base import _BothParameterErrors
from treewright.estimators.constraints import Number, Words
from treewright.estimators.forest_parts import SamplesOf, TreesOf
from treewright.exceptions import DataError, ParameterError
from treewright.forest.draws import Draws, candidate_columns, number_of_draws, row_order
from treewright.forest.isolation import grow_isolation_forest, refuse_too_many_trees
from treewright.forest.isolation_scores import ALGORITHM, AUTO_OFFSET, lowest_share, scores_of_rows
from treewright.model import Model
from treewright.version import __version__

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from treewright.data.schema import Schema
    from treewright.tree.arrays import Tree
    from treewright.tree.model import Unseen

AUTO_SAMPLES = 256


class _Drawn(NamedTuple):
    """What the trees of one fit drew: rows among those with a weight above 0, columns, which trees."""

    draws: Draws
    kept: np.ndarray
    n_columns: int
    numbers: range


class IsolationForest(OutlierMixin, BaseEstimator):
    """Rows that a few random cuts set apart from the others (Liu, Ting and Zhou 2008 and 2012).

    Parameters
    ----------
    n_estimators : int >= 1, default 100
        Trees.
    max_samples : int >= 1, float in (0, 1], or "auto", default "auto"
        Rows that each tree draws; a float is a share of all rows, "auto" is 256, or all rows where there are fewer.
    contamination : float in (0, 0.5], or "auto", default "auto"
        The share of the training rows to call outliers. "auto" calls those outliers whose score is above 0.5.
    max_features : int >= 1, or float in (0, 1], default 1.0
        Columns that each tree draws; a float is a share of all columns.
    bootstrap : bool, default False
        Whether a tree draws its rows with replacement.
    n_jobs : int, optional
        Threads; all processors by default. The forest does not depend on it.
    random_state : int, RandomState instance or None
        Seed. None means 0: a fit repeats.
    verbose : int >= 0, default 0
        Above 0, show a progress bar on standard error.
    warm_start : bool, default False
        Whether a further fit keeps the trees and adds as many as ``n_estimators`` has grown by.
    nominal, numeric : sequence of column names or positions, optional
        Columns to take as nominal or as numbers, whatever their type. ``nominal`` may also be a mapping from column to
        its levels, or ``"all"``.
    ordinal : dict from column name or position to its levels, lowest first, optional
    unseen : {"missing", "error", "majority"}, default "missing"
        What a level that fit never saw is taken for at predict: a missing cell, an error, or a cell that takes
        the heavier branch. An ordinal column has no place for such a level: there ``majority`` is ``missing``.

    Attributes
    ----------
    model_ : Model
        The fitted model: it stands alone and is what ``save`` writes. Its prediction is the mean path length of a row;
        ``treewright.forest.isolation_scores.anomaly_scores`` makes a score of it.
    offset_ : float
        A row is an outlier where ``score_samples`` is below it.
    max_samples_ : int
        Rows that each tree drew.
    estimators_ : sequence of Model
        Each tree as a model of its own, made when it is asked for.
    estimators_features_, estimators_samples_ : list of int64 arrays
        Columns and rows that each tree drew.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only where the table had names that are all strings.

    Notes
    -----
    A node draws one of the columns that are not constant in it. A number is cut anywhere between the node's smallest
    and largest value, each place as likely; infinities count as the largest finite numbers. The levels of a name that
    the node holds are parted at random, each two groups as likely; levels that it does not hold take the heavier
    branch. Where the node has missing cells they take a random branch together, or, where the values are all the same,
    are parted from these; where it has none, missing cells take the heavier branch. A tree is at most
    ``ceil(log2(max_samples_))`` deep.

    A row's path is the number of questions to its leaf, and for a leaf of several rows the average path in a tree of
    them. The score is ``2 ** (-mean path / average path of max_samples_ rows)``.

    Weights that are whole numbers, 16 or less on average, count rows; others are probabilities of being drawn. Which
    rows are drawn does not depend on their order.

    Examples
    --------
    >>> from treewright.estimators.isolation import IsolationForest
    >>> forest = IsolationForest(random_state=0).fit([[-1.1], [0.3], [0.5], [100.0]])
    >>> forest.predict([[0.1], [0.0], [90.0]])
    array([ 1,  1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_estimators": [Number(Integral, 1, None, closed="left")],
        "max_samples": [
            Words({"auto"}),
            Number(Integral, 1, None, closed="left"),
            Number(RealNotInt, 0.0, 1.0, closed="right"),
        ],
        "contamination": [Words({"auto"}), Number(Real, 0.0, 0.5, closed="right")],
        "max_features": [Number(Integral, 1, None, closed="left"), Number(RealNotInt, 0.0, 1.0, closed="right")],
        "bootstrap": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "warm_start": ["boolean"],
        "nominal": ["array-like", dict, str, None],
        "ordinal": [dict, None],
        "numeric": ["array-like", None],
        "unseen": [Words({"missing", "error", "majority"})],
    }

    model_: Model
    _drawn: list[_Drawn]

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        max_samples: float | str = "auto",
        contamination: float | str = "auto",
        max_features: float = 1.0,
        bootstrap: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        unseen: str = "missing",
    ) -> None:
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.contamination = contamination
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.nominal = nominal
        self.ordinal = ordinal
        self.numeric = numeric
        self.unseen = unseen

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002 - there is no target
        """Grow the trees.

        Parameters
        ----------
        X : table of n rows
            Array, dict of columns, list of rows, sparse matrix, or a pandas, polars or pyarrow table.
        y : ignored
        sample_weight : float[n], optional
            Whole numbers count rows, others are probabilities of being drawn (see Notes).

        Returns
        -------
        self

        Raises
        ------
        ParameterError
            A parameter is out of range; under ``warm_start`` there are fewer trees than before, or another
            ``max_samples``.
        DataError
            The table or the weights are refused, or there are no rows.
        TooLargeError
            The forest would not fit in memory.
        """
        self._check_parameters()
        n_threads = resolve_jobs(self.n_jobs)
        refuse_too_many_trees(self.n_estimators)
        resolve.refuse_too_large(X)
        before = cast("tuple[Tree, ...]", self.model_.trees) if self._is_continued() else ()
        schema, matrix = self._encoded_to_fit(X)
        weights = check_weights(sample_weight, len(matrix))
        kept = np.arange(len(matrix))
        if weights is not None and not weights.all():
            kept = np.flatnonzero(weights)
            matrix, weights = matrix[kept], weights[kept]
        draws = self._draws(matrix, weights)
        numbers = self._numbers(len(before), draws.n_draws)
        n_columns = resolve.max_features(self.max_features, len(schema))
        with bar_where_nobody_listens(bool(self.verbose)):
            trees = before + grow_isolation_forest(matrix, schema, draws, n_columns, numbers, n_threads)
        facts = self._facts(len(matrix), draws.n_draws)
        model = Model("regression", schema, trees, combine="mean", unseen=cast("Unseen", self.unseen), facts=facts)
        offset = self._offset(model, matrix, weights)
        self._store(replace(model, facts={**facts, "offset": offset}))
        if not before:
            self._drawn = []
        if "_drawn" in self.__dict__:  # trees that came out of a pickle do not say what they drew
            self._drawn = [*self._drawn, _Drawn(draws, kept, n_columns, numbers)]
        return self

    def _check_parameters(self) -> None:
        """Refuse parameters out of range."""
        try:
            validate_parameter_constraints(self._parameter_constraints, self._parameters(), type(self).__name__)
        except InvalidParameterError as error:
            raise _BothParameterErrors(str(error)) from None

    def _parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._parameter_constraints}

    def _is_continued(self) -> bool:
        """Whether a fit adds trees to those that are there."""
        return bool(self.warm_start) and "model_" in self.__dict__

    def _encoded_to_fit(self, X: Any) -> tuple[Schema, np.ndarray]:
        """Columns and rows; under a warm start the columns are those of the first fit."""
        if not self._is_continued():
            return encode_fit(X, nominal=self.nominal, ordinal=self.ordinal, numeric=self.numeric)
        matrix = self._encoded(X)
        if not len(matrix):
            raise DataError(f"Found array with 0 sample(s) (shape={matrix.shape}) while a minimum of 1 is required.")
        return self.model_.schema, matrix

    def _encoded(self, X: Any) -> np.ndarray:
        model = self.model_
        return encode(model.schema, X, unseen=model.unseen, missing=model.missing, owner=type(self).__name__)

    def _draws(self, matrix: np.ndarray, weights: np.ndarray | None) -> Draws:
        """Which rows the trees draw."""
        n, wanted = number_of_draws(None, len(matrix), weights), self.max_samples
        if isinstance(wanted, str):
            size = min(AUTO_SAMPLES, n)
        else:
            if isinstance(wanted, Integral) and wanted > n:
                notices.warn(
                    f"max_samples ({wanted}) is greater than the total number of samples ({n}). max_samples will be "
                    f"set to n_samples for estimation."
                )
                wanted = n
            size = number_of_draws(wanted, len(matrix), weights)
        # There are no bins and there is no target: rows are told apart by their cells.
        order = row_order(np.empty((len(matrix), 0), np.uint8), matrix, weights=weights)
        return Draws(order, size, self._seed(), weights=weights, replace=bool(self.bootstrap))

    def _seed(self) -> int:
        """``random_state`` if that is an int, 0 for None."""
        if self.random_state is None:
            return 0
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _numbers(self, n_before: int, size: int) -> range:
        """Which trees to grow."""
        if n_before:
            if self.n_estimators < n_before:
                raise ParameterError(
                    f"n_estimators={self.n_estimators} must be larger or equal to the {n_before} trees that are there "
                    f"when warm_start==True"
                )
            if size != self.max_samples_:
                raise ParameterError(
                    f"under warm_start all trees draw the same number of rows: those that are there drew "
                    f"{self.max_samples_}, now it would be {size}; set max_samples={self.max_samples_}, or "
                    f"warm_start=False to grow all trees anew"
                )
            if self.n_estimators == n_before:
                notices.warn("Warm-start fitting without increasing n_estimators does not fit new trees.")
        return range(n_before, int(self.n_estimators))

    def _facts(self, n_rows: int, size: int) -> dict[str, Any]:
        """What the model is to remember of the fit."""
        return {
            "algorithm": ALGORITHM,
            "criterion": "squared_error",  # the impurity of a node is the variance of its rows' path lengths
            "max_samples": size,
            "n_samples": n_rows,
            "offset": AUTO_OFFSET,
            "parameters": resolve.plain_parameters(self._parameters()),
            "version": __version__,
        }

    def _offset(self, model: Model, matrix: np.ndarray, weights: np.ndarray | None) -> float:
        """The score below which a row is an outlier."""
        if isinstance(self.contamination, str):
            return AUTO_OFFSET
        return lowest_share(-scores_of_rows(model, matrix, self.n_jobs), weights, float(self.contamination))

    def _store(self, model: Model) -> None:
        """Keep the model and what scikit-learn expects beside it."""
        self.model_ = model
        self.offset_ = float(model.facts["offset"])
        self.max_samples_ = int(model.facts["max_samples"])
        self.n_features_in_ = len(model.schema)
        if model.schema.named and all(isinstance(name, str) for name in model.schema.names):
            self.feature_names_in_ = np.array(model.schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def __getstate__(self) -> dict[str, Any]:
        # The order of the fit's rows stays here: a pickle is for using the model.
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_drawn", None)
        return state

    def score_samples(self, X: Any) -> np.ndarray:
        """The score of the paper with a minus: the lower, the odder.

        Parameters
        ----------
        X : table of n rows
            Columns are matched by name where fit knew names.

        Returns
        -------
        float64[n]
            Between -1 and 0; about -0.5 is ordinary.

        Raises
        ------
        ColumnError
            Columns are missing, doubled or of another kind than at fit.
        UnseenLevelError
            A level that fit never saw, under ``unseen="error"``.
        """
        check_is_fitted(self, "model_")
        return -scores_of_rows(self.model_, self._encoded(X), self.n_jobs)

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

    @property
    def estimators_(self) -> TreesOf:
        """Each tree as a model of its own; it predicts path lengths."""
        check_is_fitted(self, "model_")
        return TreesOf(self.model_)

    @property
    def estimators_features_(self) -> list[np.ndarray]:
        """Columns that each tree drew, ascending."""
        p = len(self.model_.schema) if self._known_draws() else 0
        return [
            candidate_columns(drawn.draws.seed, number, p, drawn.n_columns).astype(np.int64)
            for drawn in self._known_draws()
            for number in drawn.numbers
        ]

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """Rows that each tree drew, in the order of the fit's table; a row drawn twice is there twice."""
        return [
            rows
            for drawn in self._known_draws()
            for rows in SamplesOf(drawn.draws, drawn.kept, drawn.numbers.stop)[drawn.numbers.start :]
        ]

    def _known_draws(self) -> list[_Drawn]:
        """How the trees were drawn, fit by fit."""
        check_is_fitted(self, "model_")
        if "_drawn" not in self.__dict__:
            raise AttributeError("which rows and columns the trees drew is not kept in a pickle")
        return self._drawn

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file; ``treewright.load`` reads it, and ``anomaly_scores`` scores rows with what it read.

        Raises
        ------
        InputFileError
            The file cannot be written there.
        """
        check_is_fitted(self, "model_")
        self.model_.save(path)
