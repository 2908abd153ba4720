"""Forests for numbers. In: parameters, a table, numbers. Out: ``RandomForestRegressor``, ``ExtraTreesRegressor``.

Callers: users, cli.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from treewright.data.target import check_weights
from treewright.estimators.constraints import Words
from treewright.estimators.forest_base import ForestEstimator
from treewright.estimators.forest_score import explained, true_numbers
from treewright.estimators.forest_verbs import QuantileVerbs
from treewright.estimators.regressor import Regressor
from treewright.forest.settings import EXACT_CRITERIA
from treewright.grow.settings import REGRESSION_CRITERIA
from treewright.predict.values import predict_numbers

if TYPE_CHECKING:
    from treewright.data.target import Numbers


class ForestRegressor(QuantileVerbs, Regressor, ForestEstimator):
    """A regressor around a forest."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ForestEstimator._parameter_constraints,
        "criterion": [Words(set(REGRESSION_CRITERIA))],
        "quantiles": ["boolean"],
    }
    _oob_name = "oob_prediction_"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = 1.0,
        max_features_per_tree: float | str | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: bool | Callable[[np.ndarray, np.ndarray], float] = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        max_samples: float | None = None,
        monotonic_cst: Sequence[int] | Mapping[Hashable, int] | None = None,
        interaction_cst: Sequence[Sequence[Hashable]] | str | None = None,
        quantiles: bool = False,
        max_bins: int = 255,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        unseen: str = "missing",
        missing: str = "direction",
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_features_per_tree = max_features_per_tree
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.quantiles = quantiles
        self.max_bins = max_bins
        self.nominal = nominal
        self.ordinal = ordinal
        self.numeric = numeric
        self.unseen = unseen
        self.missing = missing

    def _answers(self, rows: np.ndarray, target: Numbers) -> np.ndarray:
        return rows[:, 0] if target.values.shape[1] == 1 else rows

    def _said(self, means: np.ndarray, target: Numbers) -> np.ndarray:  # noqa: ARG002 - as of classes
        return means

    def _score_of(self, true: np.ndarray, said: np.ndarray, weights: np.ndarray | None) -> float:
        return explained(true, said, weights)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Coefficient of determination of the predictions; of several outputs the mean.

        Parameters
        ----------
        X : table of n >= 1 rows
        y : n finite numbers, or n x n_outputs of them
            Of any size: their squares need not be float64.
        sample_weight : n numbers >= 0, optional

        Returns
        -------
        float, up to 1
            nan for a single row, which has no variance that could be explained.

        Raises
        ------
        ColumnError, DataError
            The table, its targets or weights were refused.
        """
        model = self._fitted()
        said = predict_numbers(model, model._encoded(X, type(self).__name__), self.n_jobs)
        return explained(true_numbers(y, len(said), model.n_outputs), said, check_weights(sample_weight, len(said)))

    def _shaped(self, means: np.ndarray) -> np.ndarray:
        return means[:, 0] if means.shape[1] == 1 else means


# Python names it where a keyword is wrong: the class that was written, not this one.
ForestRegressor.__init__.__qualname__ = "RandomForestRegressor.__init__"


class RandomForestRegressor(ForestRegressor):
    """Many regression trees, each grown on rows drawn at random, each node on columns drawn at random.

    Parameters
    ----------
    n_estimators : int >= 1, default 100
        Trees.
    criterion : {"squared_error", "absolute_error", "poisson"}, default "squared_error"
        What a split minimises: the variance, the mean distance to the median, or half the Poisson deviance. Trees of
        ``absolute_error`` are grown on the values themselves, not on bins, which is much slower and takes more memory.
    max_features : int, float, {"sqrt", "log2"} or None, default 1.0
        Columns drawn at random for each node; 1.0 and None take all, as scikit-learn does. Breiman 2001 draws a third.
    oob_score : bool or callable, default False
        Whether each row is predicted by the trees that did not draw it. A function of the true numbers and the
        predicted ones, for a score other than the coefficient of determination.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf
        As in ``RandomForestClassifier``.
    max_features_per_tree, max_leaf_nodes, min_impurity_decrease, bootstrap, max_samples
        As in ``RandomForestClassifier``.
    n_jobs, random_state, verbose, warm_start, max_bins
        As in ``RandomForestClassifier``.
    monotonic_cst : sequence of -1, 0, 1, or dict from column name, optional
        The prediction may only fall (-1) or rise (1) with the column. One output.
    quantiles : bool, default False
        Whether the model keeps which targets lie in its leaves, for ``predict_quantile`` and ``predict_interval``: at
        most 8 bytes for each row of each tree.
    interaction_cst, nominal, ordinal, numeric, unseen, missing
        As in ``RandomForestClassifier``.

    Attributes
    ----------
    model_ : Model
    n_outputs_, n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only where the table had names that are all strings.
    estimators_, estimators_samples_, feature_importances_
        As in ``RandomForestClassifier``.
    oob_score_ : float
        Coefficient of determination of ``oob_prediction_``, of several outputs the mean; what the function says, where
        ``oob_score`` is one.
    oob_prediction_ : float64[n], or float64[n, n_outputs]
        Only after ``oob_score``: the mean prediction of the trees that did not draw the row; nan where every tree did,
        and for rows of weight 0.

    Notes
    -----
    As ``RandomForestClassifier``. The prediction is the mean over the trees.

    Examples
    --------
    >>> import numpy as np
    >>> import treewright as tw
    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> forest = tw.RandomForestRegressor(n_estimators=30).fit(X, 10.0 * (X[:, 0] > 20))
    >>> forest.predict([[3.0], [33.0]])
    array([ 0., 10.])
    """

    _algorithm = "random_forest"


class ExtraTreesRegressor(ForestRegressor):
    """Many regression trees on all rows, each node on one random cut for each of some columns.

    Parameters
    ----------
    criterion : {"squared_error", "poisson"}, default "squared_error"
        What a split minimises: the variance, or half the Poisson deviance.
    bootstrap : bool, default False
        Whether each tree draws its rows, with replacement; else every tree is grown on all rows.
    n_estimators, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf
        As in ``RandomForestClassifier``.
    max_features : int, float, {"sqrt", "log2"} or None, default 1.0
        Columns drawn at random for each node.
    max_features_per_tree, max_leaf_nodes, min_impurity_decrease
        As in ``RandomForestClassifier``.
    oob_score, max_samples
        As in ``RandomForestRegressor``; they need ``bootstrap=True``.
    n_jobs, random_state, verbose, warm_start, monotonic_cst, interaction_cst, quantiles, max_bins
        As in ``RandomForestRegressor``.
    nominal, ordinal, numeric, unseen, missing
        As in ``RandomForestClassifier``.

    Attributes
    ----------
    model_, n_outputs_, n_features_in_, feature_names_in_
        As in ``RandomForestRegressor``.
    estimators_, estimators_samples_, feature_importances_, oob_score_, oob_prediction_
        As in ``RandomForestRegressor``.

    Notes
    -----
    As ``ExtraTreesClassifier``.

    Examples
    --------
    >>> import numpy as np
    >>> import treewright as tw
    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> forest = tw.ExtraTreesRegressor(n_estimators=30).fit(X, 10.0 * (X[:, 0] > 20))
    >>> forest.predict([[3.0], [33.0]])
    array([ 0., 10.])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ForestRegressor._parameter_constraints,
        # A random cut needs bins, and medians have none.
        "criterion": [Words(set(REGRESSION_CRITERIA) - set(EXACT_CRITERIA))],
    }
    _algorithm = "extra_trees"
    _random_cuts = True

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = 1.0,
        max_features_per_tree: float | str | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: bool | Callable[[np.ndarray, np.ndarray], float] = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        max_samples: float | None = None,
        monotonic_cst: Sequence[int] | Mapping[Hashable, int] | None = None,
        interaction_cst: Sequence[Sequence[Hashable]] | str | None = None,
        quantiles: bool = False,
        max_bins: int = 255,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        unseen: str = "missing",
        missing: str = "direction",
    ) -> None:
        super().__init__(
            n_estimators,
            criterion=criterion,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            max_features_per_tree=max_features_per_tree,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            bootstrap=bootstrap,
            oob_score=oob_score,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            warm_start=warm_start,
            max_samples=max_samples,
            monotonic_cst=monotonic_cst,
            interaction_cst=interaction_cst,
            quantiles=quantiles,
            max_bins=max_bins,
            nominal=nominal,
            ordinal=ordinal,
            numeric=numeric,
            unseen=unseen,
            missing=missing,
        )
