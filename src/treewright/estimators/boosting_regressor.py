"""Boosted trees for numbers. In: parameters, a table, numbers. Out: ``GradientBoostingRegressor``.

Callers: users, cli.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.metrics import d2_pinball_score
from sklearn.utils._param_validation import HasMethods

from treewright.boosting.losses_by_name import NUMBER_LOSSES, build_loss
from treewright.core import notices
from treewright.data.target import check_weights
from treewright.estimators.boosting_base import BoostingEstimator
from treewright.estimators.constraints import Number, Words
from treewright.estimators.forest_score import explained, true_numbers
from treewright.estimators.regressor import Regressor
from treewright.exceptions import ParameterError

if TYPE_CHECKING:
    from treewright.boosting.losses import Loss

# Parameters that one loss alone reads: that loss, and their default.
_OF_ONE_LOSS: dict[str, tuple[str, float | None]] = {
    "quantile": ("quantile", 0.5),
    "huber_delta": ("huber", None),
    "tweedie_power": ("tweedie", 1.5),
    "expectile": ("expectile", 0.5),
}
_BETWEEN_0_AND_1 = Number(Real, 0.0, 1.0, closed="neither")


class GradientBoostingRegressor(BoostingEstimator, Regressor):
    """Trees for numbers, each grown on what those before it left.

    Parameters
    ----------
    n_estimators : int >= 1, default 300
        Rounds: a tree per output, or per level of several quantiles.
    learning_rate
        As in ``GradientBoostingClassifier``.
    loss : str, callable or object, default "squared_error"
        What is lowered, and so what the predictions are: ``"squared_error"`` means; ``"absolute_error"`` medians;
        ``"huber"`` between the two; ``"quantile"`` quantiles; ``"expectile"`` expectiles; ``"poisson"`` means of
        counts; ``"gamma"`` and ``"tweedie"`` means of numbers above 0, and from 0 on, that vary more the larger they
        are. Your own: a function ``(y, raw)`` that returns gradient and hessian of each row as arrays, or an object
        with ``gradients(y, raw)`` and, if it is to be evaluated, ``value(y, raw)``, the loss of each row; it may have a
        ``link``. ``y`` is one output as float64[n], ``raw`` and both arrays of gradients float64[n] too, or
        [n, n_scores] where the object has ``n_scores``; else as in ``GradientBoostingClassifier``.
    quantile : float or ascending sequence of floats, above 0 and below 1, default 0.5
        Of ``"quantile"``. Several levels are one model with an answer for each, ascending in every row; one target.
    huber_delta : float > 0, optional
        Of ``"huber"``: residuals beyond it count as in absolute error. None: nine tenths of the distances to the
        median are smaller.
    tweedie_power : float, above 1 and below 2, default 1.5
        Of ``"tweedie"``.
    expectile : float, above 0 and below 1, default 0.5
        Of ``"expectile"``.
    max_leaf_nodes, max_depth, growth, min_samples_leaf, min_child_weight, l1, l2, min_gain
        As in ``GradientBoostingClassifier``. Hessians of poisson and tweedie are in the unit of the target. Leaves of
        absolute_error and quantile are quantiles of their rows, which ``l1`` and ``l2`` do not shrink.
    subsample, sampling, top_rate, other_rate, features_per_tree, features_per_level, features_per_node, max_bins
        As in ``GradientBoostingClassifier``.
    level_encoding : {"auto", "subsets", "ordered"}, default "auto"
        As in ``GradientBoostingClassifier``; ordered only for one output.
    level_smoothing, level_l2, interaction_cst
        As in ``GradientBoostingClassifier``.
    monotonic_cst : sequence of -1, 0, 1, or dict from column name, optional
        The prediction may only fall (-1) or rise (1) with the column. One output.
    init : None, "zero", float or sequence of floats, default None
        Where scores begin: at the best constant of the loss, at 0, or at these numbers, one per score. Scores are
        logarithms of predictions for ``"poisson"``, ``"gamma"`` and ``"tweedie"``.
    early_stopping, validation_fraction, n_iter_no_change, tol
        As in ``GradientBoostingClassifier``.
    scoring : callable, optional
        Judges the rounds instead of the loss: a function of the true numbers and the predicted ones, higher is better.
    callbacks, warm_start, verbose, random_state, n_jobs, nominal, numeric, ordinal, unseen
        As in ``GradientBoostingClassifier``.

    Attributes
    ----------
    model_ : Model
    n_outputs_, n_features_in_ : int
        Several quantiles are several outputs.
    feature_names_in_ : ndarray of str
        Only where the table had names that are all strings.
    n_estimators_, n_iter_, best_iteration_, history_, estimators_, feature_importances_, fit_seconds_
        As in ``GradientBoostingClassifier``.

    Notes
    -----
    As ``GradientBoostingClassifier``. Leaf values of ``"absolute_error"`` and ``"quantile"`` are medians and quantiles
    of the residuals (Friedman 2001, section 4.3).

    Examples
    --------
    >>> import numpy as np
    >>> import treewright as tw
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> boosted = tw.GradientBoostingRegressor(n_estimators=200).fit(X, 10.0 * (X[:, 0] >= 50))
    >>> boosted.predict([[3.0], [80.0]]).round(3)
    array([ 0., 10.])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BoostingEstimator._parameter_constraints,
        "loss": [Words(set(NUMBER_LOSSES)), callable, HasMethods("gradients")],
        "quantile": [_BETWEEN_0_AND_1, "array-like"],
        "huber_delta": [Number(Real, 0.0, None, closed="neither"), None],
        "tweedie_power": [Number(Real, 1.0, 2.0, closed="neither")],
        "expectile": [_BETWEEN_0_AND_1],
    }

    def __init__(
        self,
        n_estimators: int = 300,
        *,
        learning_rate: float = 0.05,
        loss: Any = "squared_error",
        quantile: float | Sequence[float] = 0.5,
        huber_delta: float | None = None,
        tweedie_power: float = 1.5,
        expectile: float = 0.5,
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
        self.quantile = quantile
        self.huber_delta = huber_delta
        self.tweedie_power = tweedie_power
        self.expectile = expectile
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
        y : n finite numbers, or n x n_outputs of them
            For ``"poisson"`` and ``"tweedie"`` none may be negative, for ``"gamma"`` all are above 0.
        sample_weight : n numbers >= 0, optional
        X_val, y_val : table of m rows and m numbers, optional
            Rows that judge each round, and early stopping; no tree is grown on them. Columns are matched by name; a
            level that X does not have is what ``unseen`` says.
        sample_weight_val : m numbers >= 0, optional

        Returns
        -------
        self

        Raises
        ------
        DataError
            A column, cell, target or weight was refused; the message says which and what to do.
        ParameterError
            A parameter is outside its range, or two contradict each other.
        TooLargeError
            The work would not fit in memory.

        Warns
        -----
        DataWarning
            ``quantile``, ``huber_delta``, ``tweedie_power`` or ``expectile`` is given, and the loss is another.
        """
        return self._fit_beside(X, y, sample_weight, (X_val, y_val, sample_weight_val))

    def _judge(self, y: Any, sample_weight: Any, n_rows: int) -> Callable[[np.ndarray], float]:
        model = self._fitted()
        true = true_numbers(y, n_rows, model.n_targets, "the model")
        weights = check_weights(sample_weight, n_rows)
        levels = self._levels()
        if not levels and model.n_outputs > model.n_targets:
            raise ParameterError(
                "a loss of your own with several scores for one target has no score: compare staged_predict"
            )
        if not levels:
            return lambda said: explained(true, said, weights)

        def of_levels(said: np.ndarray) -> float:
            if n_rows < 2:
                return np.nan  # as of R2: one row does not vary
            if len(levels) == 1:
                return float(d2_pinball_score(true, said, alpha=levels[0], sample_weight=weights))
            each = [
                d2_pinball_score(true[:, 0], said[:, at], alpha=level, sample_weight=weights)
                for at, level in enumerate(levels)
            ]
            return float(np.mean(each))

        return of_levels

    def _levels(self) -> list[float]:
        """The levels of the quantiles that are predicted; none where the loss is another."""
        levels = self._fitted().facts["loss"].get("quantile", [])
        return levels if isinstance(levels, list) else [levels]

    def _losses(self, n_outputs: int, n_classes: Sequence[int]) -> tuple[Loss, ...]:  # noqa: ARG002 - of labels
        loss = self._loss()
        if n_outputs > 1 and loss.link == "sorted":
            raise ParameterError(
                f"quantile={self.quantile!r} with {n_outputs} targets: several levels are answers for one target; fit "
                "a model for each target"
            )
        return (loss,) * n_outputs

    def _loss(self) -> Loss:
        """The loss of an output.

        Raises
        ------
        ParameterError
            Its numbers are out of range.
        """
        return build_loss(
            self.loss,
            quantile=self.quantile,
            huber_delta=self.huber_delta,
            tweedie_power=self.tweedie_power,
            expectile=self.expectile,
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._loss()
        for name, (loss, default) in _OF_ONE_LOSS.items():
            value = getattr(self, name)
            if self.loss != loss and not (np.ndim(value) == 0 and value == default):
                said = repr(self.loss) if isinstance(self.loss, str) else "a function of your own"
                notices.warn(
                    f"{name}={value!r} is not used: it is for loss={loss!r}, and the loss is {said}; set one or leave "
                    "the other out"
                )
