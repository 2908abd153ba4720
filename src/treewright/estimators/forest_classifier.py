"""Forests for labels. In: parameters, a table, labels. Out: ``RandomForestClassifier``, ``ExtraTreesClassifier``.

Callers: users, cli.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from treewright.data.target import check_weights
from treewright.data.weights import Factors, factors_by_code
from treewright.estimators.classifier import Classifier
from treewright.estimators.constraints import Words
from treewright.estimators.forest_base import ForestEstimator
from treewright.estimators.forest_score import share_right, true_codes
from treewright.forest.out_of_bag import output_columns
from treewright.grow.settings import CLASSIFICATION_CRITERIA
from treewright.predict.values import predict_codes

if TYPE_CHECKING:
    from treewright.data.target import Labels
    from treewright.estimators.table import FitInput
    from treewright.forest.settings import ClassWeights
    from treewright.tree.model import Combine

_PER_TREE = "balanced_subsample"


class ForestClassifier(Classifier, ForestEstimator):
    """A classifier around a forest."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ForestEstimator._parameter_constraints,
        "class_weight": [dict, list, Words({"balanced", _PER_TREE}), None],
        "criterion": [Words(set(CLASSIFICATION_CRITERIA))],
        "voting": [Words({"soft", "hard"})],
    }
    _oob_name = "oob_decision_function_"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = "sqrt",
        max_features_per_tree: float | str | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: bool | Callable[[np.ndarray, np.ndarray], float] = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Mapping[Hashable, float] | Sequence[Mapping[Hashable, float]] | str | None = None,
        max_samples: float | None = None,
        monotonic_cst: Sequence[int] | Mapping[Hashable, int] | None = None,
        interaction_cst: Sequence[Sequence[Hashable]] | str | None = None,
        voting: str = "soft",
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
        self.class_weight = class_weight
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.voting = voting
        self.max_bins = max_bins
        self.nominal = nominal
        self.ordinal = ordinal
        self.numeric = numeric
        self.unseen = unseen
        self.missing = missing

    def _combine(self) -> Combine:
        return "vote" if self.voting == "hard" else "mean"

    def _class_factors(self, target: Labels, weights: np.ndarray | None) -> Factors | None:
        if self.class_weight == _PER_TREE:
            # For the facts: on average over the trees.
            return _balanced(target.codes, target.classes, weights)
        return super()._class_factors(target, weights)

    def _factors_after_draw(self, given: FitInput) -> ClassWeights:
        if self.class_weight != _PER_TREE:
            return given.factors
        classes = cast("Labels", given.table.target).classes
        return lambda codes, weights: _balanced(codes, classes, weights)

    def _answers(self, rows: np.ndarray, target: Labels) -> np.ndarray:
        columns = [labels.take(rows[:, output]) for output, labels in enumerate(target.classes)]
        return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)

    def _said(self, means: np.ndarray, target: Labels) -> np.ndarray:
        codes = [means[:, columns].argmax(axis=1) for columns in output_columns(self._n_classes(target))]
        return np.stack(codes, axis=1)

    def _score_of(self, true: np.ndarray, said: np.ndarray, weights: np.ndarray | None) -> float:
        return share_right(true, said, weights)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the rows that are predicted right; of several outputs, with every one of them right.

        Parameters
        ----------
        X : table of n >= 1 rows
        y : n labels, or n x n_outputs of them
            One that fit never saw is never predicted right.
        sample_weight : n numbers >= 0, optional

        Returns
        -------
        float, 0 to 1

        Raises
        ------
        ColumnError, DataError
            The table, its labels or weights were refused.
        """
        model = self._fitted()
        said = predict_codes(model, model._encoded(X, type(self).__name__), self.n_jobs)
        true = true_codes(model, y, len(said))
        return share_right(true, said, check_weights(sample_weight, len(said)))

    def _shaped(self, means: np.ndarray) -> np.ndarray | list[np.ndarray]:
        parts = [np.ascontiguousarray(means[:, columns]) for columns in output_columns(self.model_.n_classes)]
        return parts[0] if len(parts) == 1 else parts


# Python names it where a keyword is wrong: the class that was written, not this one.
ForestClassifier.__init__.__qualname__ = "RandomForestClassifier.__init__"


def _balanced(codes: np.ndarray, classes: tuple[np.ndarray, ...], weights: np.ndarray | None) -> Factors:
    """Weights under which the classes of these rows weigh the same."""
    return factors_by_code(["balanced"] * len(classes), codes, classes, weights)


class RandomForestClassifier(ForestClassifier):
    """Many classification trees, each grown on rows drawn at random, each node on columns drawn at random.

    Parameters
    ----------
    n_estimators : int >= 1, default 100
        Trees.
    criterion : {"gini", "entropy", "log_loss", "misclassification"}, default "gini"
        What a split minimises. ``log_loss`` is ``entropy``.
    max_depth : int >= 1, optional
    min_samples_split : int >= 2, or float in (0, 1], default 2
        Rows a node needs to be split; a float is a share of the rows of the tree, rounded up. A row that was drawn
        twice counts twice.
    min_samples_leaf : int >= 1, or float in (0, 1), default 1
        Rows a branch needs.
    min_weight_fraction_leaf : float in [0, 0.5], default 0.0
        Share of the whole weight a branch needs.
    max_features : int, float, {"sqrt", "log2"} or None, default "sqrt"
        Columns drawn at random for each node; None takes all.
    max_features_per_tree : int, float, {"sqrt", "log2"} or None, default None
        Columns drawn at random once for each tree, from which its nodes then draw theirs. With ``max_features=None`` a
        tree sees the same columns in all its nodes.
    max_leaf_nodes : int >= 2, optional
        Grow best-first: the leaf whose split gains most is split next.
    min_impurity_decrease : float >= 0, default 0.0
        A split must lower the impurity by this much (weighted by the node's share of all weight).
    bootstrap : bool, default True
        Whether each tree draws its rows, with replacement; else every tree is grown on all rows.
    oob_score : bool or callable, default False
        Whether each row is predicted by the trees that did not draw it, which is nearly as good as fresh rows. A
        function of the true labels and the predicted ones, for a score other than that of ``score``.
    n_jobs : int, optional
        Threads; all processors by default. The forest does not depend on it.
    random_state : int, RandomState instance or None
        Seed. None means 0: a fit repeats.
    verbose : int, default 0
        Anything above 0 shows a progress bar on standard error.
    warm_start : bool, default False
        Whether a further ``fit`` on the same table with more ``n_estimators`` keeps the trees and adds new ones. The
        forest is the same as if it had been grown at once.
    class_weight : dict, list of dict, "balanced", "balanced_subsample", optional
        Weight of each class, after rows are drawn: which rows a tree sees does not depend on it, nor what limits in
        rows mean, and a common factor changes nothing. ``"balanced_subsample"`` balances the rows of each tree.
    max_samples : int >= 1, or float in (0, 1], optional
        Rows that each tree draws; as many as there are by default. A float is a share of all rows.
    monotonic_cst : sequence of -1, 0, 1, or dict from column name, optional
        The probability of the second class may only fall (-1) or rise (1) with the column. Two classes, one output.
    interaction_cst : sequence of groups of columns (names or positions), "pairwise", "no_interactions", optional
        Columns that may be asked on one way from the root to a leaf: those of one group. Columns in no group are one
        group more.
    voting : {"soft", "hard"}, default "soft"
        Whether the trees' class shares are averaged, or each tree has one vote.
    max_bins : int from 2 to 255, default 255
        Values of a column are put into so many bins at most; cuts lie between bins. A column with fewer distinct values
        loses nothing.
    nominal, numeric : sequence of column names or positions, optional
        Columns to take as nominal or as numbers, whatever their type. ``nominal`` may also be a mapping from column to
        its levels, or ``"all"``.
    ordinal : dict from column name or position to its levels, lowest first, optional
    unseen : {"missing", "error", "majority"}, default "missing"
        What a level that fit never saw is taken for at predict.
    missing : {"direction", "error"}, default "direction"
        Missing values go to the side that gains more, or are an error.

    Attributes
    ----------
    model_ : Model
        The fitted model: it stands alone and is what ``save`` writes.
    classes_ : ndarray[n_classes], or a list of them for several outputs
    n_classes_ : int, or a list
    n_outputs_, n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only where the table had names that are all strings.
    estimators_ : sequence of Model
        The trees; the forest itself is this sequence too, by ``len``, ``[]`` and ``for``.
    estimators_samples_ : sequence of int64[n_draws]
        The rows of each tree.
    feature_importances_ : float64[n_features_in_]
        Mean decrease of impurity over the trees; sums to one.
    oob_score_ : float
        Share of the rows that the trees which did not draw them predict right; of several outputs, with every one of
        them right. What the function says, where ``oob_score`` is one.
    oob_decision_function_ : float64[n, n_classes], or a list of them for several outputs
        Only after ``oob_score``: the mean class shares of the trees that did not draw the row; nan where every tree
        did, and for rows of weight 0.

    Notes
    -----
    Breiman 2001, "Random forests", Machine Learning 45. The columns are put into bins once, and each tree is grown on
    the bins. Which rows a tree draws depends on the rows, not on their order: a table with its rows shuffled gives the
    same forest, and a row of weight k (a whole number) is k rows. Weights that are no whole numbers, or add up to
    more than 16 for each row, are the chances of the rows. Ties between gains: the lower column, then the lower cut.
    Where no column that was drawn splits the node, others are drawn one by one until one does. Trees are not pruned.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = tw.RandomForestClassifier(n_estimators=50, oob_score=True).fit(X, y)
    >>> forest.predict(X[[0, 60, 120]])
    array([0, 1, 2])
    >>> round(forest.oob_score_, 2) > 0.9
    True
    """

    _algorithm = "random_forest"


class ExtraTreesClassifier(ForestClassifier):
    """Many classification trees on all rows, each node on one random cut for each of some columns.

    Parameters
    ----------
    bootstrap : bool, default False
        Whether each tree draws its rows, with replacement; else every tree is grown on all rows.
    n_estimators, criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf
        As in ``RandomForestClassifier``.
    max_features, max_features_per_tree, max_leaf_nodes, min_impurity_decrease
        As in ``RandomForestClassifier``.
    oob_score, max_samples
        As in ``RandomForestClassifier``; they need ``bootstrap=True``.
    n_jobs, random_state, verbose, warm_start, class_weight, monotonic_cst, interaction_cst, voting, max_bins
        As in ``RandomForestClassifier``.
    nominal, ordinal, numeric, unseen, missing
        As in ``RandomForestClassifier``.

    Attributes
    ----------
    model_, classes_, n_classes_, n_outputs_, n_features_in_, feature_names_in_
        As in ``RandomForestClassifier``.
    estimators_, estimators_samples_, feature_importances_, oob_score_, oob_decision_function_
        As in ``RandomForestClassifier``.

    Notes
    -----
    Geurts, Ernst and Wehenkel 2006, "Extremely randomized trees", Machine Learning 63. For each column that a node
    draws, one cut is drawn evenly between the smallest and the largest value of its rows (on the bins), or a random set
    of levels; the best of these cuts is the split. Without ``bootstrap`` a row of weight k is k rows in its nodes.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = tw.ExtraTreesClassifier(n_estimators=20).fit(X, y)
    >>> forest.predict(X[[0, 60, 120]]), len(forest.estimators_)
    (array([0, 1, 2]), 20)
    """

    _algorithm = "extra_trees"
    _random_cuts = True

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = "sqrt",
        max_features_per_tree: float | str | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: bool | Callable[[np.ndarray, np.ndarray], float] = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Mapping[Hashable, float] | Sequence[Mapping[Hashable, float]] | str | None = None,
        max_samples: float | None = None,
        monotonic_cst: Sequence[int] | Mapping[Hashable, int] | None = None,
        interaction_cst: Sequence[Sequence[Hashable]] | str | None = None,
        voting: str = "soft",
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
            class_weight=class_weight,
            max_samples=max_samples,
            monotonic_cst=monotonic_cst,
            interaction_cst=interaction_cst,
            voting=voting,
            max_bins=max_bins,
            nominal=nominal,
            ordinal=ordinal,
            numeric=numeric,
            unseen=unseen,
            missing=missing,
        )
