"""Gradient boosting for scikit-learn: the methods of boosted trees, and the two estimators."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.metrics import d2_pinball_score
from sklearn.utils.metaestimators import available_if

from treewright.core.elementary import whole_number
from treewright.core.progress import compiling_announced
from treewright.core.threads import resolve_jobs
from treewright.data.dataset import Dataset
from treewright.data.take import warn_of_another_order
from treewright.data.target import check_weights, class_factors
from treewright.estimators import signatures
from treewright.estimators.base import Classifier, Estimator, Regressor, TreesOf, sequence_of_estimators
from treewright.estimators.documentation import as_model
from treewright.evaluation.after_fit import Decided, Pruned
from treewright.evaluation.scores import accuracy, r2, true_codes, true_numbers
from treewright.evaluation.scoring import round_score
from treewright.exceptions import ParameterError
from treewright.forest.importance import Importances, permutation_of_boosted, permutation_of_trees
from treewright.learn.boosting import n_rounds_of
from treewright.learn.held_out import encode_other_rows
from treewright.learn.params import CLASSES
from treewright.learn.registry import refuse_keyword
from treewright.learn.train import Trained, train
from treewright.model import Model
from treewright.predict.ensemble import combined, staged_predictions
from treewright.prune.methods import ROUNDS, Rows
from treewright.trees.data import predicted_codes
from treewright.trees.threshold import cost_by_class

# Names in LightGBM, XGBoost and scikit-learn, and what they are here.
_WORDS_OF_FIT = {
    "eval_set": "X_val and y_val, one evaluation table",
    "eval_X": "X_val",
    "eval_y": "y_val",
    "eval_sample_weight": "sample_weight_val",
    "sample_weight_eval_set": "sample_weight_val",
    "eval_metric": "the parameter scoring",
    "early_stopping_rounds": "the parameters early_stopping=True and n_iter_no_change",
    "callbacks": "the parameter callbacks",
    "verbose": "the parameter verbose",
    "categorical_feature": "the parameter nominal",
    "cat_features": "the parameter nominal",
    "feature_name": "a table with names of columns",
    "init_score": "the parameter init",
    "base_margin": "the parameter init",
    "init_model": "the parameter warm_start and a further fit",
    "xgb_model": "the parameter warm_start and a further fit",
    "monitor": "the parameter callbacks",
}
_WORDS_AFTER_FIT = {
    "objective_": 'model_.facts["loss"]',
    "best_score_": 'history_["validation"][best_iteration_]',
    "best_score": 'history_["validation"][best_iteration_]',
    "best_iteration": "best_iteration_",
    "best_ntree_limit": "best_iteration_",
    "evals_result_": "history_",
    "evals_result": "history_",
    "train_score_": 'history_["train"]',
    "validation_score_": 'history_["validation"]',
    "booster_": "model_",
    "get_booster": "model_",
    "feature_name_": "feature_names_in_",
    "n_features_": "n_features_in_",
}
KINDS = ("gain", "cover", "frequency", "permutation")


def _has_one_output(estimator: Boosting) -> bool:
    """Whether scores are of one output of classes, as in scikit-learn; also before the fit."""
    if estimator._task != CLASSES:
        return False
    n_outputs: int = estimator.__dict__.get("n_outputs_", 1)
    if n_outputs > 1:
        raise AttributeError(
            f"decision values need a single output, not {n_outputs}: use model_.predict_scores or model_.staged_scores"
        )
    return True


def _predicts_classes(estimator: Boosting) -> bool:
    return estimator._task == CLASSES


@sequence_of_estimators
class Boosting(Estimator):
    """The methods of boosted trees, which are a sequence: round by round, in each round one tree per score.

    Attributes
    ----------
    n_estimators_ : int
        Number of rounds of the model.
    n_iter_ : int
        Rounds that were grown; with early stopping those after the best are not kept.
    best_iteration_ : int
        The best round, counted from 1; the last if nothing was evaluated. With one group of members, the best round of
        a member; with several groups, the number of all rounds.
    history_ : dict of list
        ``"train"`` and ``"validation"``: the loss (or minus the score) from round 0 on, before any tree. Only what was
        evaluated. The loss: on the training rows if ``verbose``, ``callbacks``, ``early_stopping`` or evaluation rows
        need it, and on the evaluation rows. A score: on the evaluation rows only, or without any on the training rows.
    estimators_ : sequence of Model
        The trees, round by round; the estimator itself is this sequence too, by ``len``, ``[]`` and ``for``.
    feature_importances_ : float64[n_features]
        Share of the gain of all splits; sums to one. A column derived from two gives each a half.
    fit_seconds_ : dict
        Seconds spent on bins, gradients, histograms, search, partition, update and evaluation; not in pickles.
    """

    model_: Model
    _trained: Trained

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        **other: Any,
    ) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : table of n rows and p columns
            Array, dict of columns, list of rows or of dicts, sparse matrix, or a pandas, polars or pyarrow table. Never
            modified.
        y : n labels of any hashable type, or n x n_outputs of them
        sample_weight : n numbers >= 0, optional
        X_val, y_val : table of m rows and m labels, optional
            Rows that evaluate each round, for early stopping; no tree is grown on them. Columns are matched by name; a
            level that X does not have is treated according to ``unseen``. Classes have the weights of the fit.
        sample_weight_val : m numbers >= 0, optional
        **other
            Refused; for an argument of another library the error names the one to use here.

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
        TypeError
            There is no such argument; the message gives its name here, if there is one.
        """
        for word in other:
            here = f"here it is {_WORDS_OF_FIT[word]}" if word in _WORDS_OF_FIT else ""
            refuse_keyword(self, "fit", word, ("X", "y", "sample_weight", "X_val", "y_val", "sample_weight_val"), here)
        params = self._check_parameters()
        resolve_jobs(self.n_jobs)
        judging = (X_val, y_val, sample_weight_val)
        is_judged = any(each is not None for each in judging)
        if is_judged and (X_val is None or y_val is None):
            raise ParameterError("pass X_val and y_val together, and sample_weight_val only with them")
        with compiling_announced():
            dataset, validation = self._dataset(X, y, params, sample_weight), None
            if is_judged:
                validation = encode_other_rows(
                    *judging, dataset.schema, dataset.classes, dataset.n_outputs, dataset.class_factors,
                    unseen=self.unseen, owner=type(self).__name__,
                )  # fmt: skip
            trained = train(dataset, params, start=self._warm_start(), validation=validation)
        self._keep(dataset, params, trained)
        return self

    def _parameters(self) -> dict[str, Any]:
        return super()._parameters() | {"scoring": round_score(self.scoring, getattr(self, "positive", None))}

    def __getattr__(self, name: str) -> Any:
        # Only called if there is no such attribute, or one that raised.
        if name in _WORDS_AFTER_FIT:
            here = f"here it is {_WORDS_AFTER_FIT[name]}"
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}: {here}", name=name, obj=self
            )
        return super().__getattr__(name)

    def _warm_start(self) -> Trained | None:
        before: Trained | None = self.__dict__.get("_trained") if self.warm_start else None
        return None if before is None else replace(before, model=self.model_)  # rounds may have been dropped since

    def _steps_to_repeat(self) -> tuple[Pruned | Decided, ...]:
        # A warm start continues after the rounds that are left, so these are dropped already.
        steps = super()._steps_to_repeat()
        is_going_on = self._warm_start() is not None
        return tuple(step for step in steps if not (is_going_on and isinstance(step, Pruned)))

    def _keep(self, dataset: Dataset, params: Any, trained: Trained) -> None:
        history = trained.history
        if history is None:
            return  # a warm start that added no round
        before = self.__dict__.get("_gained", np.empty(0)) if self._warm_start() is not None else np.empty(0)
        known = before[: self.n_estimators_] if len(before) else before
        steps = self._steps_to_repeat()
        super()._keep(dataset, params, trained)
        self._after_fit = steps
        self._gained = np.concatenate([known, history.gained_out_of_bag])
        # The model's facts keep the losses of the history; times are of one run.
        self._trained, self.fit_seconds_ = replace(trained, history=None), history.stages
        self.n_iter_ = max((len(values) - 1 for values in self.history_.values()), default=self.n_estimators_)

    def _fitted(self) -> Model:
        model: Model = super()._fitted()
        if self.n_jobs is not None:
            resolve_jobs(self.n_jobs)  # it may have been set after the fit
        return model

    @property
    def estimators_(self) -> TreesOf:
        """The trees, each a ``Model`` of its own that is made when it is accessed."""
        return TreesOf(self._fitted())

    @as_model
    def tree(self, i: int) -> Model:
        """One tree as a model of its own."""
        return self._fitted().tree(i)

    @property
    def n_estimators_(self) -> int:
        """Number of rounds of the model: those up to the best one, if early stopping chose it."""
        return n_rounds_of(self._fitted())

    @property
    def best_iteration_(self) -> int:
        """The round, counted from 1, with the lowest value on the evaluation rows; the last if there are none."""
        return int(self._fitted().facts["best_iteration"])

    @property
    def history_(self) -> dict[str, list[float | None]]:
        """The loss (or minus the score) after each round, from round 0 on: ``"train"``, ``"validation"``.

        Only what was evaluated; None for a value beyond float64.
        """
        history: dict[str, list[float | None]] = self._fitted().facts["history"]
        return history

    @property
    def oob_improvement_(self) -> np.ndarray:
        """float64[n_estimators]: by how much each round lowered the loss of its out-of-bag rows.

        Only with ``subsample`` below 1 and a loss that has a value. After early stopping, only of the rounds kept.
        """
        n_rounds = n_rounds_of(self._fitted())
        gained: np.ndarray = self._gained[:n_rounds]
        if len(gained) < n_rounds:
            raise AttributeError(
                f"{type(self).__name__} has no oob_improvement_: every round needs out-of-bag rows "
                "(subsample below 1, sampling='uniform') and a loss with a value"
            )
        return gained

    @as_model
    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Predictions after each round, as from ``predict``; the last are the same."""
        return self._fitted().staged_predict(X, n_jobs=self.n_jobs, owner=type(self).__name__)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """``score`` after each round; the last is that of ``score``.

        Parameters
        ----------
        X, y, sample_weight
            As for ``score``.
        """
        model = self._fitted()
        warn_of_another_order(X, y=y, sample_weight=sample_weight)
        matrix = model._encoded(X, type(self).__name__)
        judge = self._judge(y, sample_weight, len(matrix))
        return (judge(predicted) for predicted in staged_predictions(model, matrix, self.n_jobs))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score of the predictions: accuracy or R2.

        Classification: the accuracy; with several outputs all must be correct, and a label that fit never saw is never
        predicted. Regression: the coefficient of determination, for several outputs the mean. For ``loss="quantile"``:
        1 - a / b, where a is the pinball loss of the predictions and b that of the rows' own quantile as a constant;
        for several levels the mean.

        Parameters
        ----------
        X : table of n >= 1 rows
        y : target of n rows
        sample_weight : n numbers >= 0, optional

        Returns
        -------
        float, up to 1

        Raises
        ------
        ColumnError, DataError
            The table, its target or weights were refused.
        """
        model = self._fitted()
        warn_of_another_order(X, y=y, sample_weight=sample_weight)
        matrix = model._encoded(X, type(self).__name__, sparse=True)
        return self._judge(y, sample_weight, len(matrix))(combined(model, matrix, self.n_jobs))

    def importances(
        self,
        kind: str = "gain",
        X: Any = None,
        y: Any = None,
        *,
        sample_weight: Any = None,
        n_repeats: int = 5,
        random_state: int = 0,
    ) -> Importances:
        """How much each column matters.

        Parameters
        ----------
        kind : {"gain", "cover", "frequency", "permutation"}, default "gain"
            ``"gain"``: the share of the gain of all splits: the values of ``feature_importances_``. ``"cover"``: the
            share of the hessians of the rows at the column's tests (for squared error: of rows). ``"frequency"``: the
            share of the tests. All three describe the training rows. ``"permutation"``: how much the loss of the rows X
            rises when the column is shuffled among them (Breiman 2001); if costs chose the threshold, how much the cost
            per row rises.
        X, y : optional
            Rows for ``"permutation"``, best held-out ones.
        sample_weight : float[n], optional
        n_repeats : int >= 1, default 5
            Shuffles of each column.
        random_state : int >= 0, default 0
            Seed of the shuffles.

        Returns
        -------
        treewright.forest.importance.Importances
            Print it, or use ``names``, ``values``, ``standard_errors``, ``to_dict()`` or ``plot()``.

        Raises
        ------
        ParameterError
            The kind is unknown; rows are missing, or given but not used.
        DataError
            The table was refused.
        """
        model = self._fitted()
        if kind not in KINDS:
            raise ParameterError(f"kind={kind!r}: choose from {', '.join(map(repr, KINDS))}")
        if kind != "permutation":
            if X is not None or y is not None or sample_weight is not None:
                raise ParameterError(f"kind={kind!r} uses the training rows only: leave X and y out")
            values = model.importances(kind)
            nothing = np.full(len(values), np.nan)
            return Importances(kind, model.task, model.schema.names, values, nothing, model.n_trees, sample="")
        if X is None or y is None:
            raise ParameterError("kind='permutation' needs rows, best held-out ones: importances('permutation', X, y)")
        repeats, seed = whole_number("n_repeats", n_repeats, 1), whole_number("random_state", random_state, 0)
        rows = self._rows_of_others(X, y, sample_weight)
        if cost_by_class(model) is not None:
            n_threads = resolve_jobs(self.n_jobs)
            given = (rows.matrix, rows.target, rows.weights)
            return permutation_of_trees(model, *given, n_repeats=repeats, seed=seed, n_jobs=n_threads)
        return permutation_of_boosted(model, self._trained.losses, rows, repeats, seed, resolve_jobs(self.n_jobs))

    def prune(
        self, method: str = "rounds", X: Any = None, y: Any = None, sample_weight: Any = None, **options: Any
    ) -> Self:
        """Drop the last rounds; this estimator does not change.

        Parameters
        ----------
        method : {"rounds"}
        X, y, sample_weight : optional
            Held-out rows: rounds are kept up to the one with the lowest loss on them.
        **options
            ``n_rounds=k`` keeps the first k rounds; then no rows are passed.

        Returns
        -------
        estimator
            A fitted copy with fewer rounds; its ``history_``, ``best_iteration_`` and ``n_iter_`` are of these rounds.
            Its fits and clones keep so many rounds, too; after a pruning by rows they are refused.

        Raises
        ------
        ParameterError
            The method or option is unknown; rows are missing, or given but not used.
        DataError
            The rows were refused.
        """
        model = self._fitted()
        if (X is None) != (y is None) or (X is None and sample_weight is not None):
            raise ParameterError("pass X and y together, and sample_weight only with them")
        if method != ROUNDS:
            raise ParameterError(f"method={method!r}: boosted trees are pruned by dropping rounds, method={ROUNDS!r}")
        rows = None
        if X is not None:
            rows = self._rows_of_others(X, y, sample_weight)
        pruned = copy.copy(self)
        pruned.model_ = model.pruned(method, rows, **options)
        pruned._after_fit = (*self._after_fit, Pruned.of(method, options, rows_given=rows is not None))
        if pruned.n_estimators_ < self.n_estimators_:
            pruned.n_iter_ = max((len(curve) - 1 for curve in pruned.history_.values()), default=pruned.n_estimators_)
        return pruned

    def plot_history(self, ax: Any = None) -> Any:
        """Draw the loss after each round, or the score of ``scoring``, as ``treewright.plot.boosting_history``.

        Raises
        ------
        ParameterError
            Nothing was evaluated.
        """
        from treewright.boosting.losses import loss_words
        from treewright.show.figures.curves import boosting_history

        history = self.history_
        if not history and (members := self._fitted().facts.get("members")):
            raise ParameterError(
                f"the {len(members)} members are in groups with different numbers of rounds, so there is no single "
                "history: fit with n_members=1 and early_stopping=True"
            )
        if not history:
            raise ParameterError(
                "no round was evaluated, so there is no history: fit with X_val and y_val, early_stopping=True or "
                "verbose=1"
            )
        facts = self._fitted().facts
        is_scored = bool(facts["scored"])
        drawn = {
            name: [None if value is None else -value if is_scored else value for value in values]
            for name, values in history.items()
        }
        return boosting_history(
            train=drawn.get("train"), validation=drawn.get("validation"), best=self.best_iteration_,
            ylabel="score" if is_scored else f"loss ({loss_words(facts['loss']['name'])})", ax=ax,
        )  # fmt: skip

    @available_if(_has_one_output)
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of each row: the sums of the trees.

        Returns
        -------
        float64[n]
            Two classes: the log odds of the second.
        float64[n, n_scores]
            More classes: one score each; their softmax is ``predict_proba``. For several outputs use
            ``model_.predict_scores``.
        """
        return self._fitted().predict_scores(X, n_jobs=self.n_jobs, owner=type(self).__name__)

    @available_if(_has_one_output)
    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """``decision_function`` after each round; the last is the same."""
        return self._fitted().staged_scores(X, n_jobs=self.n_jobs, owner=type(self).__name__)

    @available_if(_predicts_classes)
    @as_model
    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray | list[np.ndarray]]:
        """``predict_proba`` after each round; the last is the same."""
        return self._fitted().staged_predict_proba(X, n_jobs=self.n_jobs, owner=type(self).__name__)

    def _judge(self, y: Any, sample_weight: Any, n_rows: int) -> Callable[[np.ndarray], float]:
        """A function from predictions of ``n_rows`` rows, as from ``predict.ensemble.combined``, to their score."""
        model = self._fitted()
        weights = check_weights(sample_weight, n_rows)
        if self._task == CLASSES:
            codes = true_codes(model, y, n_rows, "the model")
            return lambda predicted: accuracy(codes, predicted_codes(model, predicted), weights)
        true = true_numbers(y, n_rows, model.n_targets, "the model")
        quantile = model.facts["loss"].get("quantile", [])
        levels = quantile if isinstance(quantile, list) else [quantile]
        if not levels and model.n_outputs > model.n_targets:
            raise ParameterError(
                "a loss of your own with several scores for one target has no score: evaluate its predictions yourself"
            )
        if not levels:
            return lambda predicted: r2(true, predicted, weights)

        def of_levels(predicted: np.ndarray) -> float:
            if n_rows < 2:
                return np.nan  # as of R2: one row does not vary
            if len(levels) == 1:
                return float(d2_pinball_score(true, predicted, alpha=levels[0], sample_weight=weights))
            each = [
                d2_pinball_score(true[:, 0], predicted[:, at], alpha=level, sample_weight=weights)
                for at, level in enumerate(levels)
            ]
            return float(np.mean(each))

        return of_levels

    def _rows_of_others(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Rows with their target, as the model encodes them."""
        model = self._fitted()
        n_targets = model.n_targets
        codes = np.zeros((1, n_targets), np.int32)
        factors = class_factors(model.facts, codes, model.classes) if model.classes else None
        others = encode_other_rows(
            X, y, sample_weight, model.schema, model.classes, n_targets, factors, unseen=self.unseen,
            owner=type(self).__name__, named="",
        )  # fmt: skip
        return Rows(others.matrix, others.target_array, others.weights)

    def __getstate__(self) -> dict[str, Any]:
        # Times are of one run: equal fits have equal bytes.
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("fit_seconds_", None)
        return state


class GradientBoostingClassifier(signatures.GradientBoostingClassifier, Boosting, Classifier):
    """Gradient boosting for classification: each tree corrects the errors of those before it.

    Notes
    -----
    Friedman 2001, "Greedy function approximation: a gradient boosting machine", Annals of Statistics 29; second order
    as in Chen and Guestrin 2016, "XGBoost". The columns are put into bins once. Gradients and hessians are whole
    numbers, so the model is the same for any number of threads, and a row of weight k (a whole number) is k rows. A
    missing value follows the branch with the larger gain. ``level_encoding="auto"`` orders columns with more than 254
    levels, and those with 32 levels or more and fewer than 16 rows per level. The defaults were chosen on data, by
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


class GradientBoostingRegressor(signatures.GradientBoostingRegressor, Boosting, Regressor):
    """Gradient boosting for regression: each tree corrects the errors of those before it.

    Attributes
    ----------
    n_outputs_ : int
        Several quantiles are several outputs.

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
