"""CART for scikit-learn. In: parameters, a table, a target. Out: ``DecisionTreeClassifier``, ``DecisionTreeRegressor``.

Callers: users, cli.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from treewright.estimators.cart import CartEstimator
from treewright.estimators.classifier import ClassifierTree
from treewright.estimators.constraints import Words
from treewright.estimators.regressor import RegressorTree
from treewright.exceptions import ParameterError
from treewright.grow.settings import CLASSIFICATION_CRITERIA, REGRESSION_CRITERIA

if TYPE_CHECKING:
    from treewright.grow.by_node.grower import Stops
    from treewright.grow.settings import GrowSettings


class DecisionTreeClassifier(ClassifierTree, CartEstimator):
    """A classification tree grown on every candidate split (CART).

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "misclassification", "gain_ratio"} or callable, default "gini"
        What a split minimises. ``log_loss`` is ``entropy``. ``gain_ratio`` takes the column whose entropy gain is
        largest beside the entropy of the division itself, among those of at least average gain. A function of your
        own takes float64[k, n_classes], the weighted class counts of k sets of rows, and returns their k impurities
        (finite, >= 0; called once per output).
    splitter : {"best", "hist", "random"}, default "best"
        How a node looks for its split. ``best`` tries every cut between two values. ``hist`` sorts the values of
        each column into at most ``max_bins`` bins first and tries the cuts between bins: the same tree where no column
        has more distinct values, and much faster on many rows. ``random`` draws one cut for each column (a random set
        of levels where it is nominal), on the bins, and takes the best of these.
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
        Seed of that draw, and of random cuts. None means 0: a fit repeats.
    max_leaf_nodes : int >= 2, optional
        Grow best-first: the leaf whose split gains most is split next.
    min_impurity_decrease : float >= 0, default 0.0
        A split must lower the impurity by this much (weighted by the node's share of all weight).
    max_p_value : float in (0, 1], optional
        A node stays a leaf whose chosen test has a larger p-value (chi-squared of branches and classes), times the
        number of tests that were possible there (Bonferroni). Weights count as numbers of rows. Grown node by node.
    class_weight : dict, list of dict, "balanced", optional
        Weight of each class, as in scikit-learn.
    ccp_alpha : float >= 0, default 0.0
        Cost-complexity pruning: the price of a leaf, in units of impurity.
    monotonic_cst : sequence of -1, 0, 1, or dict from column name, optional
        The probability of the second class may only fall (-1) or rise (1) with the column. Two classes, one output.
    interaction_cst : sequence of groups of columns (names or positions), "pairwise", "no_interactions", optional
        Columns that may be asked on one way from the root to a leaf: those of one group. Columns in no group are one
        group more. Needs ``splitter="hist"`` or ``"random"``.
    max_bins : int from 2 to 255, default 255
        Bins of a column, beside one for missing cells; for ``splitter="hist"`` and ``"random"``.
    nominal_splits : {"subset", "multiway", "one_vs_rest"}, default "subset"
        How a nominal column is split: into two sets of levels, a branch per level, or one level against the rest.
    missing : {"direction", "surrogate", "fractional", "branch", "error"}, default "direction"
        Which way missing values go, at fit and at predict: the side that gains more; where the surrogate tests
        say (see ``max_surrogates``; two-way splits only); into every branch, with a part of their weight; into a branch
        of their own, or the heavier one where the node saw none; or they are an error.
    max_surrogates : int >= 0, default 5
        Surrogate tests kept per node.
    nominal, numeric : sequence of column names or positions, optional
        Columns to take as nominal or as numbers, whatever their type. ``nominal`` may also be a mapping from column to
        its levels, or ``"all"``.
    ordinal : dict from column name or position to its levels, lowest first, optional
    unseen : {"missing", "error", "majority"}, default "missing"
        What a level that fit never saw is taken for at predict: a missing cell, an error, or a cell that takes
        the heavier branch. An ordinal column has no place for such a level: there ``majority`` is ``missing``.
    grow_trace : bool, default False
        Keep what every node was offered: ``trace_`` tells how the tree grew.
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
        **CartEstimator._parameter_constraints,
        **ClassifierTree._parameter_constraints,
        "criterion": [Words({*CLASSIFICATION_CRITERIA, "gain_ratio"}), callable],
    }

    def __init__(
        self,
        *,
        criterion: str | Callable[[np.ndarray], np.ndarray] = "gini",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        max_p_value: float | None = None,
        class_weight: Mapping[Hashable, float] | Sequence[Mapping[Hashable, float]] | str | None = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Sequence[int] | Mapping[Hashable, int] | None = None,
        interaction_cst: Sequence[Sequence[Hashable]] | str | None = None,
        max_bins: int = 255,
        nominal_splits: str = "subset",
        missing: str = "direction",
        max_surrogates: int = 5,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        unseen: str = "missing",
        grow_trace: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.max_p_value = max_p_value
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.max_bins = max_bins
        self.nominal_splits = nominal_splits
        self.missing = missing
        self.max_surrogates = max_surrogates
        self.nominal = nominal
        self.ordinal = ordinal
        self.numeric = numeric
        self.unseen = unseen
        self.grow_trace = grow_trace
        self.n_jobs = n_jobs


class DecisionTreeRegressor(RegressorTree, CartEstimator):
    """A regression tree grown on every candidate split (CART).

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "poisson"} or callable, default "squared_error"
        What a split minimises: the variance, the mean distance to the median, or half the Poisson deviance. A function
        of your own takes float64[k, 3], the weight, mean and variance of k sets of rows, and returns their k impurities
        (finite, >= 0; called once per output).
    splitter
        As in ``DecisionTreeClassifier``; ``absolute_error`` needs ``best``.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_features, random_state
        As in ``DecisionTreeClassifier``.
    max_leaf_nodes, min_impurity_decrease, ccp_alpha
        As in ``DecisionTreeClassifier``.
    max_p_value : float in (0, 1], optional
        As in ``DecisionTreeClassifier``, by the F test of the branches' means; for ``squared_error`` only. Rows are
        counted, whatever they weigh: a common factor of the weights changes nothing.
    monotonic_cst : sequence of -1, 0, 1, or dict from column name, optional
        The prediction may only fall (-1) or rise (1) with the column. One output.
    interaction_cst, max_bins, nominal_splits, missing, max_surrogates
        As in ``DecisionTreeClassifier``.
    nominal, ordinal, numeric, unseen, grow_trace, n_jobs
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
        **CartEstimator._parameter_constraints,
        "criterion": [Words(set(REGRESSION_CRITERIA)), callable],
    }

    def __init__(
        self,
        *,
        criterion: str | Callable[[np.ndarray], np.ndarray] = "squared_error",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        max_p_value: float | None = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Sequence[int] | Mapping[Hashable, int] | None = None,
        interaction_cst: Sequence[Sequence[Hashable]] | str | None = None,
        max_bins: int = 255,
        nominal_splits: str = "subset",
        missing: str = "direction",
        max_surrogates: int = 5,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        unseen: str = "missing",
        grow_trace: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.max_p_value = max_p_value
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.max_bins = max_bins
        self.nominal_splits = nominal_splits
        self.missing = missing
        self.max_surrogates = max_surrogates
        self.nominal = nominal
        self.ordinal = ordinal
        self.numeric = numeric
        self.unseen = unseen
        self.grow_trace = grow_trace
        self.n_jobs = n_jobs

    def _stops(self, settings: GrowSettings, p: int) -> Stops:
        if self.max_p_value is not None and self.criterion != "squared_error":
            name = "a function of your own" if callable(self.criterion) else repr(self.criterion)
            raise ParameterError(
                f"max_p_value compares means by the F test, and the criterion is {name}: choose "
                "criterion='squared_error', or leave max_p_value out (min_impurity_decrease stops growth too)"
            )
        return super()._stops(settings, p)
