"""Boosted trees for labels. In: parameters, a table, labels. Out: ``GradientBoostingClassifier``.

Callers: users, cli.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.metaestimators import available_if

from treewright.boosting.losses_by_name import CLASS_LOSSES, build_loss
from treewright.data.target import check_weights
from treewright.estimators.boosting_base import BoostingEstimator
from treewright.estimators.classifier import Classifier
from treewright.estimators.constraints import Words
from treewright.estimators.forest_score import share_right, true_codes
from treewright.predict.shares import first_largest

if TYPE_CHECKING:
    from treewright.boosting.losses import Loss


def _has_one_output(estimator: GradientBoostingClassifier) -> bool:
    """Whether scores are those of one output, as scikit-learn has them; also where nothing was fitted yet."""
    n_outputs: int = estimator.__dict__.get("n_outputs_", 1)
    if n_outputs > 1:
        raise AttributeError(
            f"scores of {n_outputs} outputs stand side by side: ask model_.predict_scores or model_.staged_scores"
        )
    return True


class GradientBoostingClassifier(BoostingEstimator, Classifier):
    """Trees for labels, each grown on what those before it got wrong.

    Parameters
    ----------
    n_estimators : int >= 1, default 300
        Rounds: a tree for two classes, one per class for more.
    learning_rate : float, above 0 up to 1, default 0.05
        Share of each tree's answer that is added. With a smaller one more rounds are needed, and often less is lost.
    loss : "log_loss", callable or object, default "log_loss"
        What is lowered. Your own: a function ``(y, raw)`` that returns gradient and hessian of each row as arrays, or
        an object with ``gradients(y, raw)`` and, if it is to be evaluated, ``value(y, raw)``, the loss of each row.
        ``y`` are codes, int32[n], in the order of ``classes_``; ``raw`` and both arrays of gradients float64[n] for two
        classes, [n, n_classes] for more. Other shapes, and what is not finite, are refused; your own exceptions come
        through with a note of the shapes.
    max_leaf_nodes : int >= 2 or None, default 31
        Leaves of a tree; of symmetric trees ``max_depth`` says how many.
    max_depth : int >= 1, optional
        6 for symmetric trees.
    growth : {"leaf", "level", "symmetric"}, default "leaf"
        Which node is split next: the one that gains most; the highest one; or all of a level by one test.
    min_samples_leaf : int >= 1, default 20
        Rows a branch needs; a whole weight counts as so many rows.
    min_child_weight : float >= 0, default 0.001
        Sum of hessians a branch needs, in the unit of the weights.
    l1, l2 : float >= 0, default 0 and 3
        What is taken from a leaf's gradient towards 0; what is added to its hessian. Both make leaves smaller.
    min_gain : float >= 0, default 0
        What a split must gain at least.
    subsample : float, above 0 up to 1, default 1.0
        Share of the rows that each round draws, without replacement.
    sampling : {"uniform", "gradient"}, default "uniform"
        ``"gradient"``: each round takes the rows of the largest gradients (``top_rate`` of all) and draws
        ``other_rate`` of all from the others, which count for more (Ke et al. 2017).
    top_rate, other_rate : float, above 0 up to 1, default 0.2 and 0.1
    features_per_tree, features_per_level, features_per_node : float, above 0 up to 1, default 1, 1 and 0.7
        Share of the columns drawn for each tree, of those for each depth, and of those for each node; at least one.
    max_bins : int from 2 to 255, default 255
        Values of a column are put into so many bins at most; cuts lie between bins. A column with fewer distinct values
        loses nothing.
    level_encoding : {"auto", "subsets", "ordered"}, default "auto"
        How nominal columns are asked. ``"subsets"``: is the level one of these? ``"ordered"``: levels are put in the
        order of a statistic of the target that a row's own target has no part in (Prokhorenkova et al. 2018).
        ``"auto"``: subsets for columns of few levels, ordered for many (see Notes). Ordered only for two classes.
    level_smoothing : float >= 0, default 10
        Of ``"subsets"``: added to the hessian of each level where levels are brought in an order.
    level_l2 : float >= 0, default 1
        Added to ``l2`` where a subset of levels is asked for.
    monotonic_cst : sequence of -1, 0, 1, or dict from column name, optional
        The probability of the second class may only fall (-1) or rise (1) with the column. Two classes, one output.
    interaction_cst : sequence of groups of columns (names or positions), "pairwise", "no_interactions", optional
        Columns that may be asked on one way from the root to a leaf: those of one group, of at most 64. Columns in no
        group are one group more.
    class_weight : dict, list of dict, "balanced", optional
        Weight of each class. ``"balanced"`` counts all rows that are given. It makes gradients larger; for
        ``min_samples_leaf`` a row counts as one whatever its class weighs.
    init : None, "zero", float or sequence of floats, default None
        Where scores begin: at the best constant, at 0, or at these numbers, one per score.
    early_stopping : bool, default False
        Whether to stop when the rounds no longer get better, and to keep those up to the best one.
    validation_fraction : float, above 0 and below 1, or None, default 0.1
        Share of the rows that is kept aside to judge that, of every class alike; None judges on the rows of the fit.
        Rows of your own (``X_val``, ``y_val``) take its place.
    n_iter_no_change : int >= 1, default 10
        Rounds without a better value before the growth ends.
    tol : float >= 0, default 0
        A value must be better by more than this to count.
    scoring : callable, optional
        Judges the rounds instead of the loss: a function of the true labels and the predicted shares, higher is better.
        Of two classes it gets the second's share float64[n], as ``sklearn.metrics.roc_auc_score`` takes it, of more
        float64[n, n_classes].
    callbacks : callable or sequence of them, optional
        Each is called after each round with a ``treewright.boosting.history.Round``; one that returns True ends the
        growth.
    warm_start : bool, default False
        Whether a further ``fit`` on the same table with more ``n_estimators`` keeps the trees and adds new ones. They
        are the same as if all had been grown at once.
    verbose : int, default 0
        Anything above 0 shows a progress bar with the loss and the time left on standard error.
    random_state : int, RandomState instance or None
        Seed. None means 0: a fit repeats.
    n_jobs : int, optional
        Threads; all processors by default. The model does not depend on it.
    nominal, numeric : sequence of column names or positions, optional
        Columns to take as nominal or as numbers, whatever their type. ``nominal`` may also be a mapping from column to
        its levels, or ``"all"``.
    ordinal : dict from column name or position to its levels, lowest first, optional
    unseen : {"missing", "error", "majority"}, default "missing"
        What a level that fit never saw is taken for at predict.

    Attributes
    ----------
    model_ : Model
        The fitted model: it stands alone and is what ``save`` writes.
    classes_ : ndarray[n_classes], or a list of them for several outputs
    n_classes_ : int, or a list
    n_outputs_, n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only where the table had names that are all strings.
    n_estimators_ : int
        Rounds that the model has.
    n_iter_ : int
        Rounds that were grown; with early stopping those after the best are not kept.
    best_iteration_ : int
        The best round, counted from 1; the last where nothing was evaluated.
    history_ : dict of list
        ``"train"`` and ``"validation"``: the loss (or minus the score) from round 0 on, before any tree. Only what was
        evaluated. The loss: on the rows of the fit where ``verbose``, ``callbacks``, ``early_stopping`` or rows for
        evaluation ask for it, and on the latter. A score: on the rows for evaluation alone, or without any on those of
        the fit.
    estimators_ : sequence of Model
        The trees, round by round; the estimator itself is this sequence too, by ``len``, ``[]`` and ``for``.
    feature_importances_ : float64[n_features_in_]
        Share of what all splits gained; sums to one.
    fit_seconds_ : dict
        Seconds spent on bins, gradients, histograms, search, partition, update and evaluation; not in pickles.

    Notes
    -----
    Friedman 2001, "Greedy function approximation: a gradient boosting machine", Annals of Statistics 29; second order
    as in Chen and Guestrin 2016, "XGBoost". The columns are put into bins once. Gradients and hessians are whole
    numbers, so the model is the same for any number of threads, and a row of weight k (a whole number) is k rows. A
    missing value goes to the side that gains more. ``level_encoding="auto"`` orders columns of more than 254 levels,
    and those of 32 levels and more with fewer than 16 rows to a level. The defaults were chosen on data, by
    ``benchmarks/defaults``: decision 0006 has the table.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> boosted = tw.GradientBoostingClassifier(n_estimators=20).fit(X, y)
    >>> boosted.predict(X[[0, 60, 120]]), boosted.n_estimators_, len(boosted)
    (array([0, 1, 2]), 20, 60)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BoostingEstimator._parameter_constraints,
        **Classifier._parameter_constraints,
        "loss": [Words(set(CLASS_LOSSES)), callable, HasMethods("gradients")],
    }

    def __init__(
        self,
        n_estimators: int = 300,
        *,
        learning_rate: float = 0.05,
        loss: Any = "log_loss",
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        growth: str = "leaf",
        min_samples_leaf: int = 20,
        min_child_weight: float = 1e-3,
        l1: float = 0.0,
        l2: float = 3.0,
        min_gain: float = 0.0,
        subsample: float = 1.0,
        sampling: str = "uniform",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        features_per_tree: float = 1.0,
        features_per_level: float = 1.0,
        features_per_node: float = 0.7,
        max_bins: int = 255,
        level_encoding: str = "auto",
        level_smoothing: float = 10.0,
        level_l2: float = 1.0,
        monotonic_cst: Sequence[int] | Mapping[Hashable, int] | None = None,
        interaction_cst: Sequence[Sequence[Hashable]] | str | None = None,
        class_weight: Mapping[Hashable, float] | Sequence[Mapping[Hashable, float]] | str | None = None,
        init: float | Sequence[float] | str | None = None,
        early_stopping: bool = False,
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 0.0,
        scoring: Callable[[Any, Any], float] | None = None,
        callbacks: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        unseen: str = "missing",
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.growth = growth
        self.min_samples_leaf = min_samples_leaf
        self.min_child_weight = min_child_weight
        self.l1 = l1
        self.l2 = l2
        self.min_gain = min_gain
        self.subsample = subsample
        self.sampling = sampling
        self.top_rate = top_rate
        self.other_rate = other_rate
        self.features_per_tree = features_per_tree
        self.features_per_level = features_per_level
        self.features_per_node = features_per_node
        self.max_bins = max_bins
        self.level_encoding = level_encoding
        self.level_smoothing = level_smoothing
        self.level_l2 = level_l2
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.class_weight = class_weight
        self.init = init
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.scoring = scoring
        self.callbacks = callbacks
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.nominal = nominal
        self.ordinal = ordinal
        self.numeric = numeric
        self.unseen = unseen

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : table of n rows and p columns
            Array, dict of columns, list of rows, sparse matrix, or a pandas, polars or pyarrow table. Never modified.
        y : n labels of any hashable type, or n x n_outputs of them
        sample_weight : n numbers >= 0, optional
        X_val, y_val : table of m rows and m labels, optional
            Rows that judge each round, and early stopping; no tree is grown on them. Columns are matched by name; a
            level that X does not have is what ``unseen`` says. A class weighs what it weighs in the fit.
        sample_weight_val : m numbers >= 0, optional

        Returns
        -------
        self

        Raises
        ------
        DataError
            A column, cell, label or weight was refused; the message says which and what to do.
        ParameterError
            A parameter is outside its range, or two contradict each other.
        TooLargeError
            The work would not fit in memory.
        """
        return self._fit_beside(X, y, sample_weight, (X_val, y_val, sample_weight_val))

    @available_if(_has_one_output)
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of each row: the sums of the trees.

        Returns
        -------
        float64[n]
            Two classes: the log odds of the second.
        float64[n, n_scores]
            More classes: one score each; their softmax is ``predict_proba``. For several outputs ask
            ``model_.predict_scores``.
        """
        return self._fitted().predict_scores(X, n_jobs=self.n_jobs, owner=type(self).__name__)

    @available_if(_has_one_output)
    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """``decision_function`` after each round; the last is the same."""
        return self._fitted().staged_scores(X, n_jobs=self.n_jobs, owner=type(self).__name__)

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray | list[np.ndarray]]:
        """``predict_proba`` after each round; the last is the same."""
        return self._fitted().staged_predict_proba(X, n_jobs=self.n_jobs, owner=type(self).__name__)

    def _judge(self, y: Any, sample_weight: Any, n_rows: int) -> Callable[[np.ndarray], float]:
        model = self._fitted()
        true, weights = true_codes(model, y, n_rows, "the model"), check_weights(sample_weight, n_rows)
        return lambda said: share_right(true, first_largest(model, said), weights)

    def _losses(self, n_outputs: int, n_classes: Sequence[int]) -> tuple[Loss, ...]:  # noqa: ARG002 - of numbers
        return tuple(build_loss(self.loss, n_classes=count) for count in n_classes)
