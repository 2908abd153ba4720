"""Isolation forests for scikit-learn. In: parameters, a table. Out: ``IsolationForest``. Callers: users."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.utils._param_validation import RealNotInt

from treewright.core.progress import compiling_told
from treewright.core.progress_bar import bar_where_nobody_listens
from treewright.core.threads import resolve_jobs
from treewright.data.encoder import encode, encode_fit
from treewright.data.target import check_weights
from treewright.estimators import resolve
from treewright.estimators.bagging_rows import columns_of_each
from treewright.estimators.constraints import Number, Words
from treewright.estimators.isolation_plan import EncodedTable, IsolationPlan
from treewright.estimators.isolation_verbs import IsolationVerbs
from treewright.estimators.table_estimator import CheckedEstimator
from treewright.estimators.text_suspicions import warn_of_text
from treewright.forest.isolation import grow_isolation_forest, refuse_too_many_trees
from treewright.forest.isolation_scores import (
    ALGORITHM,
    AUTO_OFFSET,
    lowest_share,
    scores_of_rows,
    warn_of_many_outliers,
)
from treewright.model import Model
from treewright.version import __version__

if TYPE_CHECKING:
    from treewright.tree.arrays import Tree
    from treewright.tree.model import Unseen


class IsolationForest(IsolationVerbs, OutlierMixin, CheckedEstimator):
    """Rows that a few random cuts set apart from the others (Liu, Ting and Zhou 2008 and 2012).

    Parameters
    ----------
    n_estimators : int >= 1, default 100
        Trees.
    max_samples : int >= 1, float in (0, 1], or "auto", default "auto"
        Rows that each tree draws; a float is a share of all rows, "auto" is 256, or all rows where there are fewer.
    contamination : float in (0, 0.5], or "auto", default "auto"
        The share of the training rows to call outliers. "auto" calls those outliers whose score is above 0.5; where
        columns hold few different values (names, say), or values that lie evenly, that can be most of the rows: a
        warning says so.
    max_features : int from 1 to all columns, or float in (0, 1], default 1.0
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
        Whether a further fit keeps the trees and adds as many as ``n_estimators`` has grown by. The table is to be the
        same, and so are the parameters that trees depend on: the result is that of one fit.
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
        Each tree as a model of its own, made when it is asked for; ``len(forest)``, ``forest[i]`` and ``for`` are
        those of this sequence.
    estimators_features_, estimators_samples_ : sequence of int64 arrays
        Columns and rows that each tree drew, ascending; a row that was drawn twice is there twice.
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
            A parameter is out of range, or more columns are to be drawn than there are; under ``warm_start`` the table
            or a parameter that trees depend on is another one, or there are fewer trees than before.
        DataError
            The table or the weights are refused, or there are no rows.
        TooLargeError
            The forest would not fit in memory.

        Warns
        -----
        DataWarning
            ``contamination="auto"`` calls more than half of the training rows outliers; ``max_samples`` is more than
            there are rows; or under ``warm_start`` there are no more trees to grow.
        """
        self._check_parameters()
        n_threads, n_trees = resolve_jobs(self.n_jobs), int(self.n_estimators)
        refuse_too_many_trees(n_trees)
        resolve.refuse_too_large(X)
        schema, matrix = encode_fit(X, nominal=self.nominal, ordinal=self.ordinal, numeric=self.numeric)
        warn_of_text(schema, matrix, self.nominal, self.ordinal, self.numeric)
        table = EncodedTable.of(schema, matrix, check_weights(sample_weight, len(matrix)))
        plan, before = self._plan_of(table, n_trees)
        numbers = range(len(before), n_trees)
        with bar_where_nobody_listens(bool(self.verbose)), compiling_told():
            new = grow_isolation_forest(table.matrix, schema, plan.draws, plan.n_columns, numbers, n_threads)
        self._store(plan, self._model_of(table, plan, before + new))
        return self

    def _plan_of(self, table: EncodedTable, n_trees: int) -> tuple[IsolationPlan, tuple[Tree, ...]]:
        """What the trees draw, and the trees that there are; under a warm start both are those of the fit before."""
        n_columns = columns_of_each(self.max_features, len(table.schema))
        parameters = resolve.plain_parameters(self._parameters())
        if self.warm_start and "_past" in self.__dict__:
            before = cast("tuple[Tree, ...]", self.model_.trees)
            past: IsolationPlan = self._past
            return past.grown_on(table, parameters, len(before), n_trees), before
        plan = IsolationPlan.of(
            table, parameters, max_samples=self.max_samples, n_columns=n_columns,
            seed=resolve.seed_of(self.random_state), replace=bool(self.bootstrap),
        )  # fmt: skip
        return plan, ()

    def _encoded(self, X: Any) -> np.ndarray:
        model = self.model_
        return encode(model.schema, X, unseen=model.unseen, missing=model.missing, owner=type(self).__name__)

    def _model_of(self, table: EncodedTable, plan: IsolationPlan, trees: tuple[Tree, ...]) -> Model:
        """The model, with the score below which a row is an outlier."""
        facts: dict[str, Any] = {
            "algorithm": ALGORITHM,
            "criterion": "squared_error",  # the impurity of a node is the variance of its rows' path lengths
            "max_samples": plan.draws.n_draws,
            "n_samples": len(table.matrix),
            "offset": AUTO_OFFSET,
            "parameters": resolve.plain_parameters(self._parameters()),
            "version": __version__,
        }
        unseen = cast("Unseen", self.unseen)
        model = Model("regression", table.schema, trees, combine="mean", unseen=unseen, facts=facts)
        if isinstance(self.contamination, str):
            warn_of_many_outliers(model, table.matrix, table.weights, self.n_jobs)
            return model
        scores = -scores_of_rows(model, table.matrix, self.n_jobs)
        offset = lowest_share(scores, table.weights, float(self.contamination))
        return replace(model, facts={**facts, "offset": offset})

    def _store(self, plan: IsolationPlan, model: Model) -> None:
        """Keep the model and what scikit-learn expects beside it."""
        self.model_, self._past = model, plan
        self.offset_ = float(model.facts["offset"])
        self.max_samples_ = int(model.facts["max_samples"])
        self.n_features_in_ = len(model.schema)
        self._keep_names(model.schema)

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
