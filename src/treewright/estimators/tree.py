"""CART for scikit-learn. In: parameters, a table, a target. Out: ``DecisionTreeClassifier``, ``DecisionTreeRegressor``.

Callers: users, cli.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.class_weight import compute_sample_weight

from treewright.data.schema import Schema
from treewright.data.target import Labels, Numbers, encode_labels, encode_numbers
from treewright.estimators.base import TreeEstimator
from treewright.exceptions import DataError, DataWarning, ParameterError
from treewright.grow.objective import Objective, classification_objective, regression_objective
from treewright.grow.settings import CLASSIFICATION_CRITERIA, REGRESSION_CRITERIA
from treewright.model import Model
from treewright.tree.arrays import Tree
from treewright.tree.model import Unseen

if TYPE_CHECKING:
    from sklearn.utils import Tags


class DecisionTreeClassifier(ClassifierMixin, TreeEstimator):
    """A classification tree grown on every candidate split (CART).

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "misclassification"}, default "gini"
        What a split minimises. ``log_loss`` is ``entropy``.
    max_depth : int >= 1, optional
    min_samples_split : int >= 2, or float in (0, 1], default 2
        Rows a node needs to be split; a float is a share of all rows, rounded up.
    min_samples_leaf : int >= 1, or float in (0, 1), default 1
        Rows a branch needs.
    min_weight_fraction_leaf : float in [0, 0.5], default 0.0
        Share of the whole weight a branch needs.
    max_features : int, float, {"sqrt", "log2"}, optional
        Columns drawn at random for each node; all by default.
    random_state : int, RandomState instance or None
        Seed of that draw. None means 0: a fit repeats.
    max_leaf_nodes : int >= 2, optional
        Grow best-first: the leaf whose split gains most is split next.
    min_impurity_decrease : float >= 0, default 0.0
        A split must lower the impurity by this much (weighted by the node's share of all weight).
    class_weight : dict, list of dict, "balanced", optional
        Weight of each class, as in scikit-learn.
    ccp_alpha : float >= 0, default 0.0
        Cost-complexity pruning: the price of a leaf, in units of impurity.
    monotonic_cst : sequence of -1, 0, 1, or dict from column name, optional
        The probability of the second class may only fall (-1) or rise (1) with the column. Two classes, one output.
    nominal, numeric : sequence of column names or positions, optional
        Columns to take as nominal or as numbers, whatever their type.
    ordinal : dict from column name or position to its levels, lowest first, optional
    unseen : {"missing", "error", "majority"}, default "missing"
        What a level that fit never saw is taken for at predict: a missing cell, an error, or a cell that takes
        the heavier branch. An ordinal column has no place for such a level: there ``majority`` is ``missing``.
    n_jobs : int, optional
        Threads; all processors by default. The tree does not depend on it.

    Attributes
    ----------
    model_ : Model
        The fitted model: it stands alone and is what ``save`` writes.
    classes_ : ndarray[n_classes], or a list of them for several outputs
    n_classes_ : int, or a list
    n_outputs_, n_features_in_, max_features_ : int
    feature_names_in_ : ndarray of str
        Only where the table had names that are all strings.
    tree_ : treewright.tree.arrays.Tree
    feature_importances_ : float64[n_features_in_]

    Notes
    -----
    Breiman, Friedman, Olshen and Stone 1984. Every cut between two distinct values is tried, at the middle; ``x <= t``
    goes left. A nominal column is split into two sets of levels: optimal for two classes, and for more classes while at
    most 10 levels are in the node; beyond, levels are ordered along the first principal component of their class shares
    (Coppersmith, Hong and Hosking 1999), an approximation. Missing cells take the side that gains more; where a node
    saw none, the heavier branch. A split that gains nothing is allowed: it may prepare one that does (XOR). Ties: the
    lower column, then the lower threshold or the smaller set of levels, then missing to the right. Rows of weight 0 are
    left out, but their labels and levels are known.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"petal": [1.4, 1.3, 4.7, 4.5, 6.0, 5.9], "colour": ["white", "white", "blue", "white", "blue", None]}
    >>> est = tw.DecisionTreeClassifier(max_depth=2).fit(table, ["setosa", "setosa", "versi", "versi", "virg", "virg"])
    >>> est.predict({"petal": [1.5, 5.0], "colour": ["blue", "blue"]})
    array(['setosa', 'versi'], dtype='<U6')
    >>> est.get_n_leaves(), est.get_depth()
    (3, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TreeEstimator._parameter_constraints,
        "criterion": [StrOptions(set(CLASSIFICATION_CRITERIA))],
        "class_weight": [dict, list, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: Mapping[Hashable, float] | Sequence[Mapping[Hashable, float]] | str | None = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Sequence[int] | Mapping[Hashable, int] | None = None,
        nominal: Sequence[Hashable] | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.nominal = nominal
        self.ordinal = ordinal
        self.numeric = numeric
        self.unseen = unseen
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : table of n rows and p columns
            Array, dict of columns, list of rows, sparse matrix, or a pandas, polars or pyarrow table. Never modified.
        y : n labels of any hashable type, or n x n_outputs of them
        sample_weight : n numbers >= 0, optional

        Returns
        -------
        self

        Raises
        ------
        DataError
            A column, cell, label or weight was refused; the message says which and what to do.
        ParameterError
            A parameter is outside its range.
        TooLargeError
            The work would not fit in memory.
        """
        return self._fit(X, y, sample_weight)

    def predict_proba(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Share of each class in the row's leaf.

        Returns
        -------
        float64[n, n_classes], or a list of them for several outputs
            In the order of ``classes_``; rows sum to one.
        """
        return self._fitted().predict_proba(X, n_jobs=self.n_jobs, owner=type(self).__name__)

    def predict_log_proba(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Natural logarithm of ``predict_proba``; -inf for a class that the leaf does not hold."""
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(share) for share in shares] if isinstance(shares, list) else np.log(shares)

    def _encode_target(self, y: Any) -> Labels:
        labels = encode_labels(y)
        self._warn_column_vector(labels)
        return labels

    def _rows_of(self, target: Labels, kept: np.ndarray) -> Labels:
        return target._replace(codes=target.codes[kept])

    def _n_outputs(self, target: Labels) -> int:
        return target.codes.shape[1]

    def _weights(self, weights: np.ndarray | None, target: Labels) -> np.ndarray | None:
        if self.class_weight is None:
            return weights
        factors = self._class_factors(target)
        if weights is None:
            return factors
        with np.errstate(over="ignore", under="ignore"):
            product = weights * factors
        if not np.isfinite(product).all():
            raise ParameterError("class_weight times sample_weight is beyond float64: scale the weights down")
        if not product.any():
            raise ParameterError("class_weight times sample_weight gives every row the weight 0")
        return product

    def _class_factors(self, target: Labels) -> np.ndarray:
        """Weight of each row by its class."""
        n, n_outputs = target.codes.shape
        if isinstance(self.class_weight, list) and len(self.class_weight) != n_outputs:
            raise ParameterError(f"class_weight lists {len(self.class_weight)} outputs, y has {n_outputs}")
        given = self.class_weight if isinstance(self.class_weight, list) else [self.class_weight] * n_outputs
        if isinstance(self.class_weight, dict) and n_outputs > 1:
            raise ParameterError("class_weight: give a list with one dict per output, or 'balanced'")
        factors = np.ones(n)
        for codes, labels, weight in zip(target.codes.T, target.classes, given, strict=True):
            by_code = weight
            if isinstance(weight, dict):
                codes_of = {label: code for code, label in enumerate(labels.tolist())}
                refuse_no_factors(weight)
                unknown = [label for label in weight if label not in codes_of]
                if unknown:
                    # No error: a fold of a cross-validation may lack a rare class.
                    warnings.warn(
                        f"class_weight names labels that y does not hold: {unknown}; y holds {labels.tolist()}",
                        DataWarning,
                        stacklevel=5,
                    )
                by_code = {codes_of[label]: factor for label, factor in weight.items() if label in codes_of}
            elif weight != "balanced":
                raise ParameterError(f"class_weight lists {weight!r}; each output takes a dict or 'balanced'")
            factors *= compute_sample_weight(by_code, codes)
        if not np.isfinite(factors).all() or (factors < 0).any():
            raise ParameterError("class_weight must be finite and >= 0 for every class")
        if not factors.any():
            raise ParameterError("class_weight gives every row the weight 0")
        return factors

    def _objective(self, target: Labels, weights: np.ndarray | None) -> Objective:
        return classification_objective(
            target.codes, [len(labels) for labels in target.classes], weights, self.criterion
        )

    def _check_monotone(self, target: Labels) -> None:
        super()._check_monotone(target)
        if len(target.classes[0]) > 2:
            raise ParameterError("Monotonicity constraints are not supported with multiclass classification")

    def _make_model(self, schema: Schema, tree: Tree, target: Labels, facts: Mapping[str, Any]) -> Model:
        several = len(target.classes) > 1
        self.classes_ = list(target.classes) if several else target.classes[0]
        counts = [len(labels) for labels in target.classes]
        self.n_classes_ = counts if several else counts[0]
        return Model(
            task="classification",
            schema=schema,
            trees=(tree,),
            classes=target.classes,
            n_outputs=len(target.classes),
            unseen=cast("Unseen", self.unseen),
            target_names=target.names,
            facts=dict(facts),
        )


class DecisionTreeRegressor(RegressorMixin, TreeEstimator):
    """A regression tree grown on every candidate split (CART).

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "poisson"}, default "squared_error"
        What a split minimises: the variance, the mean distance to the median, or half the Poisson deviance.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_features, random_state
        As in ``DecisionTreeClassifier``.
    max_leaf_nodes, min_impurity_decrease, ccp_alpha
        As in ``DecisionTreeClassifier``.
    monotonic_cst : sequence of -1, 0, 1, or dict from column name, optional
        The prediction may only fall (-1) or rise (1) with the column. One output.
    nominal, ordinal, numeric, unseen, n_jobs
        As in ``DecisionTreeClassifier``.

    Attributes
    ----------
    model_ : Model
    n_outputs_, n_features_in_, max_features_ : int
    feature_names_in_ : ndarray of str
        Only where the table had names that are all strings.
    tree_ : treewright.tree.arrays.Tree
    feature_importances_ : float64[n_features_in_]

    Notes
    -----
    As ``DecisionTreeClassifier``. A nominal column is split at the best place in the order of its levels' means
    (optimal for one output under squared error and Poisson) or medians (an approximation, for absolute error); for
    several outputs as for several classes.

    Examples
    --------
    >>> import treewright as tw
    >>> est = tw.DecisionTreeRegressor(max_depth=1).fit([[1.0], [2.0], [8.0], [9.0]], [10.0, 12.0, 30.0, 34.0])
    >>> est.predict([[0.0], [7.0]])
    array([11., 32.])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TreeEstimator._parameter_constraints,
        "criterion": [StrOptions(set(REGRESSION_CRITERIA))],
    }

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: Sequence[int] | Mapping[Hashable, int] | None = None,
        nominal: Sequence[Hashable] | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.nominal = nominal
        self.ordinal = ordinal
        self.numeric = numeric
        self.unseen = unseen
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : table of n rows and p columns
            Array, dict of columns, list of rows, sparse matrix, or a pandas, polars or pyarrow table. Never modified.
        y : n finite numbers, or n x n_outputs of them
            For ``criterion="poisson"`` none may be negative, and each output needs a positive sum.
        sample_weight : n numbers >= 0, optional

        Returns
        -------
        self

        Raises
        ------
        DataError
            A column, cell, target or weight was refused; the message says which and what to do.
        ParameterError
            A parameter is outside its range.
        TooLargeError
            The work would not fit in memory.
        """
        return self._fit(X, y, sample_weight)

    def _encode_target(self, y: Any) -> Numbers:
        numbers = encode_numbers(y)
        self._warn_column_vector(numbers)
        if self.criterion == "poisson":
            refuse_not_counts(numbers.values)
        return numbers

    def _rows_of(self, target: Numbers, kept: np.ndarray) -> Numbers:
        return target._replace(values=target.values[kept])

    def _weights(self, weights: np.ndarray | None, target: Numbers) -> np.ndarray | None:  # noqa: ARG002
        return weights

    def _n_outputs(self, target: Numbers) -> int:
        return target.values.shape[1]

    def _objective(self, target: Numbers, weights: np.ndarray | None) -> Objective:
        return regression_objective(target.values, weights, self.criterion)

    def _make_model(self, schema: Schema, tree: Tree, target: Numbers, facts: Mapping[str, Any]) -> Model:
        return Model(
            task="regression",
            schema=schema,
            trees=(tree,),
            n_outputs=target.values.shape[1],
            unseen=cast("Unseen", self.unseen),
            target_names=target.names,
            facts=dict(facts),
        )


def refuse_no_factors(weight: Mapping[Hashable, Any]) -> None:
    """Refuse class weights that are not finite numbers >= 0.

    Raises
    ------
    ParameterError
    """
    for label, factor in weight.items():
        if isinstance(factor, bool) or not isinstance(factor, Real) or not 0 <= float(factor) < np.inf:
            raise ParameterError(f"class_weight must be finite and >= 0 for every class, not {factor!r} for {label!r}")


def refuse_not_counts(values: np.ndarray) -> None:
    """Refuse targets that have no Poisson deviance.

    Raises
    ------
    DataError
        A target is negative, or an output is zero throughout.
    """
    negative = np.argwhere(values < 0)
    if len(negative):
        raise DataError(
            f"y has {len(negative)} negative values (first row {negative[0][0]}: {values[tuple(negative[0])]:g}), "
            "but criterion='poisson' needs values >= 0; use 'squared_error', or remove the rows"
        )
    empty = np.flatnonzero(values.sum(axis=0) <= 0)
    if len(empty):
        raise DataError(
            f"y is zero throughout (output {empty[0]}), but criterion='poisson' needs a positive sum; "
            "use 'squared_error'"
        )
