"""Gradient boosting for scikit-learn: the methods of boosted trees, and the two estimators."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.metrics import d2_pinball_score
from sklearn.utils.metaestimators import available_if

from treewright.core.progress import compiling_announced
from treewright.core.threads import resolve_jobs
from treewright.core.whole import whole_number
from treewright.data.dataset import Dataset
from treewright.data.take import warn_of_another_order
from treewright.data.target import check_weights, class_factors
from treewright.estimators.base import Classifier, Estimator, Regressor, TreesOf, keep, sequence_of_estimators
from treewright.evaluation.after_fit import Decided, Pruned
from treewright.evaluation.scores import accuracy, r2, true_codes, true_numbers
from treewright.evaluation.scoring import round_score
from treewright.exceptions import ParameterError
from treewright.forest.importance import Importances, permutation_of_boosted, permutation_of_trees
from treewright.learn.boosting import n_rounds_of
from treewright.learn.held_out import encode_other_rows
from treewright.learn.other_names import refuse_keyword
from treewright.learn.params import CLASSES
from treewright.learn.train import Trained, train
from treewright.model import Model
from treewright.predict.ensemble import combined, staged_answers
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
    """The methods of boosted trees, which are a sequence: round by round, in each round one tree per score."""

    _algorithm = "gradient_boosting"

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

    def tree(self, i: int) -> Model:
        """One tree as a model of its own; as ``Model.tree``."""
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

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Predictions after each round, as from ``predict``; the last are the same.

        Parameters
        ----------
        X : table of n rows
            Read at once; the predictions of each round are computed when they are needed.
        """
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
        return (judge(predicted) for predicted in staged_answers(model, matrix, self.n_jobs))

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


class GradientBoostingClassifier(Boosting, Classifier):
    """Gradient boosting for classification: each tree corrects the errors of those before it.

    Parameters
    ----------
    n_estimators : int >= 1 or "auto", default "auto"
        Rounds: one tree for two classes, one per class for more. With a number, one model has so many rounds; "auto"
        follows ``quality``.
    quality : {"fast", "balanced", "best"}, default "balanced"
        What every parameter that is "auto" stands for; one that is set keeps its value. ``"fast"``: one model of 100
        rounds. ``"balanced"``: up to 20,000 rows, two groups of five models whose scores are averaged, symmetric trees
        and leaf-wise ones on sampled rows and columns, each stopped on a fifth of the rows and replayed on all; for
        more rows, one model of 300 rounds. ``"best"``: four groups of ten up to 20,000 rows, of five up to 100,000. The
        table is in docs/guides/many-trees/boosting.md.
    learning_rate : float, above 0 up to 1, or "auto", default "auto"
        Share of each tree's prediction that is added: 0.05, or 0.1 for members and with ``quality="fast"``; that of
        members doubles after every 50 rounds, up to 0.4. A smaller rate needs more rounds, and often predicts better.
    loss : "log_loss", callable or object, default "log_loss"
        What rounds lower. Your own: a function ``(y, raw)`` that returns gradient and hessian of each row as arrays, or
        an object with ``gradients(y, raw)`` and, if it is to be evaluated, ``value(y, raw)``, the loss of each row.
        ``y`` are codes, int32[n], in the order of ``classes_``; ``raw`` and both arrays of gradients float64[n] for two
        classes, [n, n_classes] for more. Other shapes and numbers that are not finite are refused; your own exceptions
        are raised with a note of the shapes.
    max_leaf_nodes : int >= 2 or None, default 31
        Leaves of a tree; for symmetric trees ``max_depth`` decides.
    max_depth : int >= 1, optional
        6 for symmetric trees.
    growth : {"auto", "leaf", "level", "symmetric"}, default "auto"
        Which node is split next: the one with the largest gain; the highest one; or all of a level by one test.
        "auto" is ``"leaf"`` for one model.
    min_samples_leaf : int >= 1 or "auto", default "auto"
        Rows a branch needs; a row with a whole weight k counts as k rows. ``"auto"`` is 20, or a third of the rows if
        these are fewer than 60.
    min_child_weight : float >= 0, default 0.001
        Sum of hessians a branch needs, in the unit of the weights.
    l1, l2 : float >= 0, default 0 and 3
        What is subtracted from a leaf's gradient, towards 0; what is added to its hessian. Both shrink leaf values.
    min_gain : float >= 0, default 0
        Gain that a split needs.
    subsample : float, above 0 up to 1, or "auto", default "auto"
        Share of the rows that each round samples, without replacement; 1 for one model.
    sampling : {"uniform", "gradient", "minimal_variance"}, default "uniform"
        ``"gradient"``: each round uses the rows with the largest gradients (``top_rate`` of all) and samples
        ``other_rate`` of all from the others, which weigh more (Ke et al. 2017). ``"minimal_variance"``: each round
        samples the share ``subsample`` of the rows on average (by default half), each with a chance in proportion to
        the size of its gradient and hessian; rows with a small chance weigh more (Ibragimov and Gusev 2019).
    top_rate, other_rate : float, above 0 up to 1, default 0.2 and 0.1
    features_per_tree, features_per_level, features_per_node : float, above 0 up to 1, default 1, 1 and "auto"
        Share of the columns sampled for each tree, of those for each depth, and of those for each node; at least one.
        "auto" is 0.7 for one model.
    max_bins : int from 2 to 255, default 255
        Most bins of a column; cuts lie between bins. A column with fewer distinct values loses nothing.
    level_encoding : {"auto", "subsets", "ordered"}, default "auto"
        How nominal columns are tested. ``"subsets"``: is the level one of these? ``"ordered"``: levels are ordered by a
        statistic of the target that does not use a row's own target (Prokhorenkova et al. 2018). ``"auto"``: subsets
        for columns with few levels, ordered for many (see Notes). Ordered only for two classes.
    level_smoothing : float >= 0, default 10
        For ``"subsets"``: added to the hessian of each level when levels are ordered.
    level_l2 : float >= 0, default 1
        Added to ``l2`` in subset tests.
    derived_columns : {"auto", "all", "none"}, default "auto"
        ``"all"``: trees may also test the row count of a level (of nominal columns with 30 levels or more), and members
        the sums, differences, products and ratios of two numeric columns, the pairs of levels of two nominal ones
        (both from 500 rows on) and a linear score of all columns (from 100 rows on), if these lower the loss of the
        held-out rows. The model computes these columns itself; no table needs to have them. With constraints and sparse
        tables there are none. "auto" is ``"all"`` if ``quality`` makes members.
    monotonic_cst : sequence of -1, 0, 1, or dict from column name, optional
        The probability of the positive class may only fall (-1) or rise (1) with the column. Two classes, one output.
    interaction_cst : sequence of groups of columns (names or positions), "pairwise", "no_interactions", optional
        Columns that may be tested on one path from the root to a leaf: those of one group, of at most 64. Columns in no
        group are one group more.
    class_weight : dict, list of dict, "balanced", optional
        Weight of each class. ``"balanced"`` counts all rows that are given. A weight multiplies gradients; for
        ``min_samples_leaf`` a row counts as one in any class.
    positive : class label, optional
        The positive class of two: what constraints, costs, thresholds, curves and explanations are about. By default
        the second.
    init : None, "zero", float or sequence of floats, default None
        Initial scores: the best constant, 0, or these numbers, one per score.
    early_stopping : bool or "auto", default "auto"
        Whether to stop when the rounds no longer improve, and to keep those up to the best one. "auto": if there are
        members, or evaluation rows and no number of rounds.
    validation_fraction : float, above 0 and below 1, None or "auto", default "auto"
        Share of the rows that is held out for that, the same share of every class; None evaluates on the training rows.
        "auto" is 0.1, or 1 / ``n_members`` if ``quality`` makes members. Your own rows (``X_val``, ``y_val``) replace
        it.
    n_members : int >= 1 or "auto", default "auto"
        Models whose scores are averaged, each grown on the rows that it does not hold out. All stop at the round with
        the lowest loss on all held-out rows together, and are then replayed on all rows: the tests stay, the values of
        the leaves are computed anew. A round of such a model is one of a member. The order of the rows does not change
        the model, and neither does replacing a row of weight 2 by two rows, up to the last bits of its numbers; but
        the latter does if levels are ordered by a statistic, or with ``scoring``, which ignores weights.
    n_iter_no_change : int >= 1 or "auto", default "auto"
        Rounds without a better value before growth ends: 10.
    tol : float >= 0, default 0
        A value must be better by more than this to count.
    scoring : str or callable, optional
        Evaluates the rounds instead of the loss: a score of scikit-learn by name ("roc_auc"), by ``get_scorer`` or as a
        metric (``sklearn.metrics.accuracy_score``), with its sign and on labels or probabilities as the score needs; or
        a function of your own of the true labels and the predicted probabilities, higher is better. For two classes it
        gets the second's probability float64[n], for more classes float64[n, n_classes].
    callbacks : callable or sequence of them, optional
        Each is called after each round with a ``treewright.boosting.rounds.Round``; one that returns True ends the
        growth.
    warm_start : bool, default False
        Whether a further ``fit`` on the same table with more ``n_estimators`` keeps the trees and adds new ones. They
        are the same as if all had been grown at once. Parameters that only shape a round may change, such as
        ``learning_rate`` or ``max_depth``; the model's facts hold the parameters of the last fit.
    verbose : int, default 0
        Above 0, show the progress, the loss and the time left on standard error: a bar on a terminal, otherwise a line
        now and then.
    random_state : int, RandomState instance or None
        Seed. None means 0: fits are reproducible.
    n_jobs : int, optional
        Threads; all processors by default. The model does not depend on it.
    nominal, numeric : sequence of column names or positions, optional
        Columns to treat as nominal or as numeric, whatever their type. ``nominal`` may also be a mapping from column to
        its levels, or ``"all"``.
    ordinal : dict from column name or position to its levels, lowest first, optional
    calendar : sequence of parts of dates, or mapping from column name or position to these, optional
        Parts that become columns of their own, such as ``["month", "weekday"]``: of every column of dates that has
        them, or of those that are named. "year", "month", "day", "weekday", "hour", "days since 2020-01-01".
    unseen : {"missing", "error", "majority"}, default "missing"
        How predict treats a level that fit never saw.

    Attributes
    ----------
    model_ : Model
        The fitted model: it is self-contained and is what ``save`` writes.
    classes_ : ndarray[n_classes], or a list of them for several outputs
    n_classes_ : int, or a list
    n_outputs_, n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the table had names that are all strings.
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

    def __init__(
        self,
        n_estimators: int | str = "auto",
        *,
        quality: str = "balanced",
        learning_rate: float | str = "auto",
        loss: Any = "log_loss",
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        growth: str = "auto",
        min_samples_leaf: int | str = "auto",
        min_child_weight: float = 1e-3,
        l1: float = 0.0,
        l2: float = 3.0,
        min_gain: float = 0.0,
        subsample: float | str = "auto",
        sampling: str = "uniform",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        features_per_tree: float = 1.0,
        features_per_level: float = 1.0,
        features_per_node: float | str = "auto",
        max_bins: int = 255,
        level_encoding: str = "auto",
        level_smoothing: float = 10.0,
        level_l2: float = 1.0,
        derived_columns: str = "auto",
        monotonic_cst: Sequence[int] | Mapping[Hashable, int] | None = None,
        interaction_cst: Sequence[Sequence[Hashable]] | str | None = None,
        class_weight: Mapping[Hashable, float] | Sequence[Mapping[Hashable, float]] | str | None = None,
        positive: Any = None,
        init: float | Sequence[float] | str | None = None,
        early_stopping: bool | str = "auto",
        validation_fraction: float | str | None = "auto",
        n_members: int | str = "auto",
        n_iter_no_change: int | str = "auto",
        tol: float = 0.0,
        scoring: str | Callable[[Any, Any], float] | None = None,
        callbacks: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        unseen: str = "missing",
    ) -> None:
        keep(self, locals())


class GradientBoostingRegressor(Boosting, Regressor):
    """Gradient boosting for regression: each tree corrects the errors of those before it.

    Parameters
    ----------
    n_estimators : int >= 1 or "auto", default "auto"
        Rounds: a tree per output, or per level of several quantiles.
    quality, learning_rate
        As in ``GradientBoostingClassifier``.
    loss : str, callable or object, default "squared_error"
        What rounds lower, and so what is predicted: ``"squared_error"`` means; ``"absolute_error"`` medians;
        ``"huber"`` between the two; ``"quantile"`` quantiles; ``"expectile"`` expectiles; ``"poisson"`` means of
        counts; ``"gamma"`` and ``"tweedie"`` means of numbers above 0, and from 0 on, that vary more the larger they
        are. Your own: a function ``(y, raw)`` that returns gradient and hessian of each row as arrays, or an object
        with ``gradients(y, raw)`` and, if it is to be evaluated, ``value(y, raw)``, the loss of each row; it may have a
        ``link``. ``y`` is one output as float64[n], ``raw`` and both arrays of gradients float64[n] too, or
        [n, n_scores] if the object has ``n_scores``; else as in ``GradientBoostingClassifier``.
    quantile : float or ascending sequence of floats, above 0 and below 1, default 0.5
        For ``"quantile"``. Several levels are one model with a prediction for each, ascending in every row; one target.
    huber_delta : float > 0, optional
        For ``"huber"``: residuals beyond it count as in absolute error. None: nine tenths of the distances to the
        median are smaller.
    tweedie_power : float, above 1 and below 2, default 1.5
        For ``"tweedie"``.
    expectile : float, above 0 and below 1, default 0.5
        For ``"expectile"``.
    max_leaf_nodes, max_depth, growth, min_samples_leaf, min_child_weight, l1, l2, min_gain
        As in ``GradientBoostingClassifier``. Hessians of poisson and tweedie are in the unit of the target. Leaves of
        absolute_error and quantile are quantiles of their rows, which ``l1`` and ``l2`` do not shrink.
    subsample, sampling, top_rate, other_rate, features_per_tree, features_per_level, features_per_node, max_bins
        As in ``GradientBoostingClassifier``.
    level_encoding : {"auto", "subsets", "ordered"}, default "auto"
        As in ``GradientBoostingClassifier``; ordered only for one output.
    level_smoothing, level_l2, derived_columns, interaction_cst
        As in ``GradientBoostingClassifier``.
    monotonic_cst : sequence of -1, 0, 1, or dict from column name, optional
        The prediction may only fall (-1) or rise (1) with the column. One output.
    init : None, "zero", float or sequence of floats, default None
        Initial scores: the best constant of the loss, 0, or these numbers, one per score. Scores are logarithms of
        predictions for ``"poisson"``, ``"gamma"`` and ``"tweedie"``.
    early_stopping, validation_fraction, n_members, n_iter_no_change, tol
        As in ``GradientBoostingClassifier``.
    scoring : str or callable, optional
        Evaluates the rounds instead of the loss: a score of scikit-learn by name or by ``get_scorer``, such as "r2"; or
        a function of the true numbers and the predicted ones, higher is better.
    callbacks, warm_start, verbose, random_state, n_jobs, nominal, numeric, ordinal, calendar, unseen
        As in ``GradientBoostingClassifier``.

    Attributes
    ----------
    model_ : Model
    n_outputs_, n_features_in_ : int
        Several quantiles are several outputs.
    feature_names_in_ : ndarray of str
        Only if the table had names that are all strings.
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

    def __init__(
        self,
        n_estimators: int | str = "auto",
        *,
        quality: str = "balanced",
        learning_rate: float | str = "auto",
        loss: Any = "squared_error",
        quantile: float | Sequence[float] = 0.5,
        huber_delta: float | None = None,
        tweedie_power: float = 1.5,
        expectile: float = 0.5,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        growth: str = "auto",
        min_samples_leaf: int | str = "auto",
        min_child_weight: float = 1e-3,
        l1: float = 0.0,
        l2: float = 3.0,
        min_gain: float = 0.0,
        subsample: float | str = "auto",
        sampling: str = "uniform",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        features_per_tree: float = 1.0,
        features_per_level: float = 1.0,
        features_per_node: float | str = "auto",
        max_bins: int = 255,
        level_encoding: str = "auto",
        level_smoothing: float = 10.0,
        level_l2: float = 1.0,
        derived_columns: str = "auto",
        monotonic_cst: Sequence[int] | Mapping[Hashable, int] | None = None,
        interaction_cst: Sequence[Sequence[Hashable]] | str | None = None,
        init: float | Sequence[float] | str | None = None,
        early_stopping: bool | str = "auto",
        validation_fraction: float | str | None = "auto",
        n_members: int | str = "auto",
        n_iter_no_change: int | str = "auto",
        tol: float = 0.0,
        scoring: str | Callable[[Any, Any], float] | None = None,
        callbacks: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        nominal: Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str | None = None,
        ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
        numeric: Sequence[Hashable] | None = None,
        calendar: Sequence[str] | Mapping[Hashable, Sequence[str]] | None = None,
        unseen: str = "missing",
    ) -> None:
        keep(self, locals())
