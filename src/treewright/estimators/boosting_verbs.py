"""What a boosted estimator tells of its rounds. In: a fitted estimator, a table. Out: stages, importances, a figure.

Caller: estimators.boosting_base.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from treewright.core.threads import resolve_jobs
from treewright.core.whole import whole_number
from treewright.data.weights import class_factors
from treewright.estimators.boosting_importance import permutation_importances
from treewright.estimators.boosting_rows import Given, OtherRows, encode_given
from treewright.estimators.forest_trees import TreeSequence
from treewright.exceptions import ParameterError
from treewright.forest.importance_table import Importances
from treewright.predict.ensemble import combined
from treewright.predict.staged import staged_answers
from treewright.prune.decision import Rows
from treewright.prune.methods import ROUNDS

if TYPE_CHECKING:
    from treewright.boosting.losses import Loss
    from treewright.model import Model

KINDS = ("gain", "cover", "frequency", "permutation")


class BoostingVerbs(TreeSequence):
    """Verbs of boosted trees. As a sequence they are the trees, round by round, in each round one per score."""

    n_jobs: int | None
    unseen: str
    model_: Model
    n_iter_: int
    _bound: tuple[Loss, ...]  # the losses of the fit, one per target

    # After the fit.

    @property
    def n_estimators_(self) -> int:
        """Rounds that the model has: those up to the best one, where early stopping chose it."""
        model = self._fitted()
        return model.n_trees // self._n_scores()

    @property
    def best_iteration_(self) -> int:
        """The round, counted from 1, with the lowest value on the rows that judge; the last where none judge."""
        return int(self._fitted().facts["best_iteration"])

    @property
    def history_(self) -> dict[str, list[float | None]]:
        """The loss (or minus the score) after each round, from round 0 on: ``"train"``, ``"validation"``.

        Only what was evaluated; None for a value beyond float64.
        """
        history: dict[str, list[float | None]] = self._fitted().facts["history"]
        return history

    def _n_scores(self) -> int:
        boosting = self._fitted().boosting
        return 1 if boosting is None else boosting.n_scores

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Predictions after each round, as ``predict`` gives them; the last are the same.

        Parameters
        ----------
        X : table of n rows
            Read at once; each answer is worked out when it is asked for.
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
        matrix = model._encoded(X, type(self).__name__)
        judge = self._judge(y, sample_weight, len(matrix))
        return (judge(said) for said in staged_answers(model, matrix, self.n_jobs))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """How good the predictions are.

        Classification: the share of the rows that are predicted right, of several outputs with every one of them right;
        a label that fit never saw is never predicted right. Regression: the coefficient of determination, of several
        outputs the mean. Of ``loss="quantile"``: 1 - a / b, where a is the pinball loss of the predictions and b that
        of the rows' own quantile as a constant; of several levels the mean.

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
        matrix = model._encoded(X, type(self).__name__)
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
            ``"gain"``: the share of what all splits gained: the values of ``feature_importances_``. ``"cover"``: the
            share of the hessians that passed the column's tests (for squared error: of rows). ``"frequency"``: the
            share of the tests. All three tell what happened on the training rows. ``"permutation"``: how much the loss
            of the rows X rises when the column is shuffled among them (Breiman 2001).
        X, y : optional
            Rows for ``"permutation"``: best such that the trees were not grown on.
        sample_weight : float[n], optional
        n_repeats : int >= 1, default 5
            Shuffles of each column.
        random_state : int >= 0, default 0
            Seed of the shuffles.

        Returns
        -------
        treewright.forest.importance_table.Importances
            Print it, or take ``names``, ``values``, ``standard_errors``, ``to_dict()`` or ``plot()``.

        Raises
        ------
        ParameterError
            There is no such kind; rows are lacking or not wanted.
        DataError
            The table was refused.
        """
        model = self._fitted()
        if kind not in KINDS:
            raise ParameterError(f"kind={kind!r}: there are {', '.join(map(repr, KINDS))}")
        if kind != "permutation":
            if X is not None or y is not None or sample_weight is not None:
                raise ParameterError(f"kind={kind!r} is of the trees as they were grown: leave X and y out")
            values = model.importances(kind)
            nothing = np.full(len(values), np.nan)
            return Importances(kind, model.task, model.schema.names, values, nothing, model.n_trees, sample="")
        if X is None or y is None:
            raise ParameterError("kind='permutation' needs rows: importances('permutation', X, y), such as a hold-out")
        repeats, seed = whole_number("n_repeats", n_repeats, 1), whole_number("random_state", random_state, 0)
        rows = self._rows_of_others(X, y, sample_weight)
        return permutation_importances(model, self._bound, rows, repeats, seed, resolve_jobs(self.n_jobs))

    def prune(
        self, method: str = "rounds", X: Any = None, y: Any = None, sample_weight: Any = None, **options: Any
    ) -> Self:
        """Drop the last rounds; this estimator stays as it is.

        Parameters
        ----------
        method : {"rounds"}
        X, y, sample_weight : optional
            Rows that the trees were not grown on: rounds are kept up to the one with the lowest loss on them.
        **options
            ``n_rounds=k`` keeps the first k rounds; no rows then.

        Returns
        -------
        estimator
            A fitted copy with fewer rounds; its ``history_``, ``best_iteration_`` and ``n_iter_`` are of these.

        Raises
        ------
        ParameterError
            There is no such method or option; rows are lacking or not wanted.
        DataError
            The rows were refused.
        """
        model = self._fitted()
        if (X is None) != (y is None) or (X is None and sample_weight is not None):
            raise ParameterError("prune takes X and y together, sample_weight only with them")
        if method != ROUNDS:
            raise ParameterError(f"method={method!r}: of boosted trees rounds can be dropped, method={ROUNDS!r}")
        rows = None
        if X is not None:
            others = self._rows_of_others(X, y, sample_weight)
            rows = Rows(others.matrix, others.target, others.weights)
        pruned = copy.copy(self)
        pruned.model_ = model.pruned(method, rows, **options)
        if pruned.n_estimators_ < self.n_estimators_:
            pruned.n_iter_ = max((len(curve) - 1 for curve in pruned.history_.values()), default=pruned.n_estimators_)
        return pruned

    def plot_history(self, ax: Any = None) -> Any:
        """Draw the loss after each round, or what ``scoring`` said, as ``treewright.plot.boosting_history``.

        Raises
        ------
        ParameterError
            Nothing was evaluated.
        """
        from treewright.boosting.losses_by_name import loss_words
        from treewright.plot.figures.boosting import boosting_history

        history = self.history_
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

    def _rows_of_others(self, X: Any, y: Any, sample_weight: Any) -> OtherRows:
        """Rows with their target, as the model encodes them."""
        model = self._fitted()
        given, n_targets = Given(X, y, sample_weight), model.n_targets
        codes = np.zeros((1, n_targets), np.int32)
        factors = class_factors(model.facts, codes, model.classes) if model.classes else None
        return encode_given(
            given, model.schema, model.classes, n_targets, factors, unseen=self.unseen, owner=type(self).__name__,
            named="",
        )  # fmt: skip

    def __getstate__(self) -> dict[str, Any]:
        # Times are of one run: equal fits have equal bytes.
        state: dict[str, Any] = dict(cast("Any", super()).__getstate__())
        state.pop("fit_seconds_", None)
        return state

    # What classifiers and regressors differ in.

    @abstractmethod
    def _judge(self, y: Any, sample_weight: Any, n_rows: int) -> Callable[[np.ndarray], float]:
        """A function from answers of so many rows, as ``predict.ensemble.combined`` gives them, to their score."""
