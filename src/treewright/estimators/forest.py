"""Forests for scikit-learn: the methods of forests, and the four estimators."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
from sklearn.utils.metaestimators import available_if

from treewright.core.elementary import whole_number
from treewright.core.progress import bar_where_nobody_listens
from treewright.core.threads import resolve_jobs
from treewright.data.bin_rows import SparseCodes
from treewright.data.dataset import KEPT_BYTES, Dataset
from treewright.data.memory import check_fits
from treewright.data.take import warn_of_another_order
from treewright.data.target import check_weights
from treewright.estimators import signatures
from treewright.estimators.base import Classifier, Estimator, Regressor, TreesOf, sequence_of_estimators
from treewright.estimators.documentation import as_model
from treewright.evaluation.scores import accuracy, r2, true_codes, true_numbers
from treewright.evaluation.scoring import own_score
from treewright.exceptions import ParameterError
from treewright.forest.draws import Draws, number_of_draws
from treewright.forest.importance import (
    EvaluationRows,
    debiased_importances,
    impurity_decrease,
    permutation_importances,
    permutation_of_trees,
)
from treewright.forest.jackknife import standard_errors
from treewright.forest.out_of_bag import OobCurve, Votes, counts_to_show, expected_draws, mean_votes, votes_after
from treewright.forest.proximity import proximities
from treewright.learn.forest import prepared, what_differs
from treewright.learn.params import CLASSES, NUMBERS
from treewright.learn.train import Trained
from treewright.predict.walks import Walk
from treewright.trees.data import output_columns
from treewright.trees.threshold import cost_by_class

if TYPE_CHECKING:
    from treewright.forest.importance import Importances
    from treewright.model import Model

KINDS = ("impurity", "debiased", "permutation")
_REPEATS = 5  # shuffles of a column, if all trees are evaluated together
ROWS = ("out_of_bag", "all")


def _predicts_numbers(forest: Forest) -> bool:
    return forest._task == NUMBERS


ROWS_LAY_ELSEWHERE = "the training rows lay elsewhere, so it is unknown which of them each tree sampled"


@dataclass(frozen=True, eq=False)
class KeptRows:
    """The rows of a fit on which trees are evaluated: cells, target, weights (see ``EvaluationRows``).

    ``own`` float64[n] or None: the weights of rows without those of their classes.
    """

    cells: np.ndarray
    target: np.ndarray
    weights: np.ndarray | None
    own: np.ndarray | None = None


@sequence_of_estimators
class Forest(Estimator):
    """The methods of every forest on bins.

    Attributes
    ----------
    estimators_ : sequence of Model
        The trees; the forest itself is this sequence too, by ``len``, ``[]`` and ``for``.
    estimators_samples_ : sequence of int64[n_draws]
        The rows of each tree.
    feature_importances_ : float64[n_features]
        Mean decrease of impurity over the trees; sums to one.
    oob_score_ : float
        Only with ``oob_score``: the out-of-bag accuracy (with several outputs all must be correct), or the coefficient
        of determination of ``oob_prediction_`` (for several outputs the mean); the result of the function if
        ``oob_score`` is one. The more probable class counts, also with a decision threshold, which is chosen after the
        trees: apply it to ``oob_decision_function_``.
    oob_decision_function_ : float64[n, n_classes], or a list of them for several outputs
        Classifiers only: the mean class probabilities of the trees for which the row is out of bag; nan for rows in
        every bag, and for rows of weight 0.
    oob_prediction_ : float64[n], or float64[n, n_outputs]
        Regressors only: the mean prediction of these trees.
    """

    _kept_rows: KeptRows | None
    _trained: Trained

    def _warm_start(self) -> Trained | None:
        return self.__dict__.get("_trained") if self.warm_start else None

    def _keep(self, dataset: Dataset, params: Any, trained: Trained) -> None:
        if trained is self.__dict__.get("_trained"):
            return  # a warm start that added no tree
        estimates = self._out_of_bag(dataset, trained)  # first, as a user's own score may fail
        super()._keep(dataset, params, trained)
        self._trained = replace(trained, cells=None, oob_rows=None)
        cells = trained.cells
        self._kept_rows = None
        if cells is not None and cells.nbytes <= KEPT_BYTES:
            # The matrix and the target may be the user's own arrays, which may change after the fit.
            cells = cells.copy() if cells is dataset.matrix else cells
            own = None if dataset.sample_weight is None else dataset.sample_weight.copy()
            self._kept_rows = KeptRows(cells, dataset.target_array.copy(), dataset.weights, own)
        # Under scikit-learn's names; those of an earlier fit are forgotten.
        name = "oob_decision_function_" if self._task == CLASSES else "oob_prediction_"
        self.__dict__.pop("oob_score_", None)
        self.__dict__.pop(name, None)
        if estimates is not None:
            self.oob_score_ = estimates[1]
            if trained.oob_rows is None:  # rows elsewhere have no order in which predictions could be listed
                self.__dict__[name] = self._shaped(estimates[0])

    def _out_of_bag(self, dataset: Dataset, trained: Trained) -> tuple[np.ndarray, float] | None:
        """The out-of-bag predictions, nan where no tree left the row out; and their score."""
        votes = trained.votes
        if votes is None:
            return None
        dataset = trained.oob_rows or dataset
        n_draws = number_of_draws(self.max_samples, len(dataset), dataset.sample_weight)
        means = mean_votes(votes, expected_draws(len(dataset), n_draws, dataset.sample_weight))
        left_out = votes.n_votes > 0
        score = np.nan
        if left_out.any():
            true, predicted = dataset.target_array[left_out], self._predicted(means[left_out], votes.n_classes)
            if callable(self.oob_score):
                given = [_as_given(rows, dataset.classes) for rows in (true, predicted)]
                score = own_score(self.oob_score, *given)
            else:
                weights = None if dataset.sample_weight is None else dataset.sample_weight[left_out]
                score = self._score_of(true, predicted, weights)
        if dataset.kept is not None:
            of_given = np.full((len(dataset.kept), means.shape[1]), np.nan)
            of_given[dataset.kept] = means
            means = of_given
        return means, score

    def _predicted(self, means: np.ndarray, n_classes: tuple[int, ...]) -> np.ndarray:
        """Means of the trees as predictions, codes or numbers: [n, n_outputs]."""
        if self._task == NUMBERS:
            return means
        return np.stack([means[:, columns].argmax(axis=1) for columns in output_columns(n_classes)], axis=1)

    def _score_of(self, true: np.ndarray, predicted: np.ndarray, weights: np.ndarray | None) -> float:
        """The score of predictions, codes or numbers [n, n_outputs], as in ``score``."""
        return (accuracy if self._task == CLASSES else r2)(true, predicted, weights)

    def _shaped(self, means: np.ndarray) -> Any:
        """Means of the trees in the shape of the attribute."""
        if self._task == NUMBERS:
            return means[:, 0] if means.shape[1] == 1 else means
        parts = [np.ascontiguousarray(means[:, columns]) for columns in output_columns(self.model_.n_classes)]
        return parts[0] if len(parts) == 1 else parts

    def _fitted(self) -> Model:
        model: Model = super()._fitted()
        if self.n_jobs is not None:
            resolve_jobs(self.n_jobs)  # it may have been set after the fit, and few rows use no threads
        return model

    @property
    def estimators_(self) -> TreesOf:
        """The trees, each a ``Model`` of its own that is made when it is accessed."""
        return TreesOf(self._fitted())

    @property
    def estimators_samples_(self) -> SamplesOf:
        """The rows of each tree: int64, ascending; a row that was drawn twice is listed twice."""
        return SamplesOf.of(self._fitted(), self._trained)

    @as_model
    def tree(self, i: int) -> Model:
        """One tree as a model of its own."""
        return self._fitted().tree(i)

    def importances(
        self,
        kind: str = "impurity",
        X: Any = None,
        y: Any = None,
        *,
        sample_weight: Any = None,
        rows: str = "out_of_bag",
        random_state: int = 0,
    ) -> Importances:
        """How much each column matters to the forest, with a standard error over the trees.

        Parameters
        ----------
        kind : {"impurity", "debiased", "permutation"}, default "impurity"
            ``"impurity"``: the share of the impurity that splits removed, on the training rows: the values of
            ``feature_importances_``. It favours columns with many distinct values, even uninformative ones.
            ``"debiased"``: the same sums on rows that the tree never saw (Li et al. 2019). ``"permutation"``: how much
            worse a tree predicts such rows when the column is shuffled among them (Breiman 2001); with ``rows="all"``,
            if costs chose the threshold, how much the cost per row of all trees together rises, over five shuffles.
        X, y : optional
            Rows with their target. ``rows="out_of_bag"``: the training table again, row by row, if the estimator did
            not keep it: it keeps up to 32 MB of bins, and none in a pickle. ``rows="all"``: other rows, such as
            held-out ones.
        sample_weight : float[n], optional
            Weights of the rows of X; for the training rows, the weights of the fit.
        rows : {"out_of_bag", "all"}, default "out_of_bag"
            The rows on which a tree is evaluated: its out-of-bag rows, or all of X.
        random_state : int >= 0, default 0
            Seed of the shuffles.

        Returns
        -------
        treewright.forest.importance.Importances
            Print it, or use ``names``, ``values``, ``standard_errors``, ``to_dict()`` or ``plot()``. It does not
            depend on ``n_jobs``.

        Raises
        ------
        ParameterError
            The kind is unknown; ``rows="out_of_bag"`` for trees that saw every row, or with another table than that of
            the fit; rows are missing, or given but not used; ``"debiased"`` for trees whose leaves hold medians.
        DataError
            The table was refused, or every tree sampled all rows.
        """
        model = self._fitted()
        for name, value, known in (("kind", kind, KINDS), ("rows", rows, ROWS)):
            if not isinstance(value, str):
                raise ParameterError(
                    f"{name} must be one of {', '.join(map(repr, known))}, not a {type(value).__name__}: call "
                    "importances('permutation', X, y)"
                )
            if value not in known:
                raise ParameterError(f"{name}={value!r}: choose from {', '.join(map(repr, known))}")
        if (X is None) != (y is None) or (X is None and sample_weight is not None):
            raise ParameterError("pass X and y together, and sample_weight only with them")
        if kind == "impurity":
            if X is not None:
                raise ParameterError("kind='impurity' uses the training rows only: leave X and y out")
            return impurity_decrease(model)
        seed, n_threads = whole_number("random_state", random_state, 0), resolve_jobs(self.n_jobs)
        if kind == "permutation" and rows == "all" and X is not None and cost_by_class(model) is not None:
            given = model.encode_rows(X, y, sample_weight, owner=type(self).__name__, routed=True)
            return permutation_of_trees(model, *given, n_repeats=_REPEATS, seed=seed, n_jobs=n_threads)
        judging = self._judging_rows(X, y, sample_weight, rows, n_threads)
        with bar_where_nobody_listens(bool(self.verbose)):
            if kind == "debiased":
                return debiased_importances(model, judging, n_threads=n_threads)
            return permutation_importances(model, judging, seed=seed, n_threads=n_threads)

    def _judging_rows(self, X: Any, y: Any, sample_weight: Any, rows: str, n_threads: int) -> EvaluationRows:
        """The rows on which the trees are evaluated."""
        owner = type(self).__name__
        if rows == "all":
            if X is None:
                raise ParameterError("rows='all' needs rows: pass X and y, best held-out ones")
            matrix, target, weights = self.model_.encode_rows(X, y, sample_weight, owner=owner, routed=True)
            cells = Walk(self.model_.trees).cells(matrix, n_threads)
            return EvaluationRows(cells, target, weights)
        draws = self._draws(
            f"every tree of {owner}(bootstrap=False) was grown on all rows, so there are no out-of-bag rows: "
            "pass other rows, as in importances(kind, X, y, rows='all'), or fit with bootstrap=True"
        )
        kept = self.__dict__.get("_kept_rows")
        if X is not None:
            kept = self._rows_again(X, y, sample_weight, n_threads)
        if kept is None:
            raise ParameterError(
                "the training rows were not kept (more than 32 MB, or the estimator was pickled): pass the "
                "same table again, as in importances(kind, X, y), or other rows with rows='all'"
            )
        return EvaluationRows(kept.cells, kept.target, kept.weights, draws.left_out)

    def _draws(self, why_none: str) -> Draws:
        """Which rows each tree sampled; ParameterError with the reason ``why_none`` if each saw all rows."""
        trained = self._trained
        if trained.warm_start is None:
            raise ParameterError(f"{ROWS_LAY_ELSEWHERE}: use other rows, or fit on a table in memory")
        if trained.draws is None:
            raise ParameterError(why_none)
        return trained.draws

    def _rows_again(
        self, X: Any, y: Any, sample_weight: Any, n_threads: int, *, who: str = "rows='out_of_bag'",
        otherwise: str = "pass that one, or rows='all' to evaluate every tree on all rows of this table",
    ) -> KeptRows:  # fmt: skip
        """The training rows, passed again; for errors, ``who`` needs them and ``otherwise`` is the advice.

        Raises
        ------
        ParameterError
            The rows are different: which rows a tree sampled is known only by position.
        """
        params = self._check_parameters()
        dataset, rows, bins, codes, _ = prepared(self._dataset(X, y, params, sample_weight), params, n_threads)
        warm = self._trained.warm_start
        assert warm is not None  # noqa: S101 - every fit leaves one
        other = what_differs(warm, self.model_, dataset, rows.digest(bins, codes))
        if other:
            raise ParameterError(
                f"{who} needs the training table, row by row, with its target, weights and parameters; "
                f"this one is different ({other}): {otherwise}"
            )
        if isinstance(codes, SparseCodes):
            check_fits(len(codes) * codes.shape[1], "the sparse table as bins", "use fewer columns")
            codes = codes.dense()
        cells = Walk(self.model_.trees).chosen(codes, rows.matrix)
        return KeptRows(cells, dataset.target_array, dataset.weights, dataset.sample_weight)

    def oob_curve(self, X: Any = None, y: Any = None, *, sample_weight: Any = None, points: int = 60) -> OobCurve:
        """The out-of-bag score of the first trees, over the number of trees.

        The last point is ``oob_score_`` (unless ``oob_score`` is your own function). The first points are based on few
        rows: those that at least one tree left out (``n_judged``).

        Parameters
        ----------
        X, y : optional
            The training table again, row by row, if the estimator did not keep it: it keeps up to 32 MB of bins, and
            none in a pickle.
        sample_weight : float[n], optional
            As at the fit.
        points : int >= 2, default 60
            About the most numbers of trees to evaluate: the first ones, then at equal ratios, and all.

        Returns
        -------
        treewright.forest.out_of_bag.OobCurve
            Print it, or use ``n_trees``, ``error``, ``score``, ``to_dict()`` or ``plot()``. It does not depend on
            ``n_jobs``, nor on whether the fit had ``oob_score=True``.

        Raises
        ------
        ParameterError
            The trees saw every row; the training rows were not kept, or different rows are passed.

        Examples
        --------
        >>> import treewright as tw
        >>> from sklearn.datasets import load_iris
        >>> forest = tw.RandomForestClassifier(n_estimators=50, oob_score=True).fit(*load_iris(return_X_y=True))
        >>> curve = forest.oob_curve()
        >>> int(curve.n_trees[-1]), float(curve.score[-1]) == forest.oob_score_
        (50, True)
        """
        model, n_threads = self._fitted(), resolve_jobs(self.n_jobs)
        kept = self._rows_left_out(X, y, sample_weight, n_threads)
        counts = counts_to_show(model.n_trees, whole_number("points", points, 2))
        draws = self._trained.draws
        assert draws is not None  # noqa: S101 - see _rows_left_out
        found = [
            self._judged_votes(votes, kept)
            for votes in votes_after(
                model.trees, kept.cells, kept.target, draws.left_out, counts, model.n_classes,
                one_each=model.aggregation.votes, n_threads=n_threads,
            )
        ]  # fmt: skip
        error, score, n_judged = (np.array(each) for each in zip(*found, strict=True))
        return OobCurve(model.task, np.array(counts), error, score, n_judged, len(kept.target))

    def _judged_votes(self, votes: Votes, kept: KeptRows) -> tuple[float, float, int]:
        """Error, score and number of the rows that have votes."""
        left = votes.n_votes > 0
        if not left.any():
            return np.nan, np.nan, 0
        means = mean_votes(Votes(votes.sums[left], votes.n_votes[left], votes.n_classes, votes.scale))
        true, predicted = kept.target[left], self._predicted(means, votes.n_classes)
        own = None if kept.own is None else kept.own[left]
        score = self._score_of(true, predicted, own)
        if votes.n_classes:
            return 1.0 - score, score, len(true)
        with np.errstate(over="ignore"):
            return float(np.average(np.square(predicted - true).mean(axis=1), weights=own)), score, len(true)

    def _rows_left_out(self, X: Any, y: Any, sample_weight: Any, n_threads: int) -> KeptRows:
        """The training rows, of which each tree left some out."""
        if (X is None) != (y is None) or (X is None and sample_weight is not None):
            raise ParameterError("pass X and y together, and sample_weight only with them")
        self._draws(
            f"every tree of {type(self).__name__}(bootstrap=False) was grown on all rows, so none is out of bag: "
            "fit with bootstrap=True"
        )
        kept: KeptRows | None = self.__dict__.get("_kept_rows")
        if X is not None:
            kept = self._rows_again(
                X, y, sample_weight, n_threads, who="oob_curve", otherwise="pass that one, or fit again"
            )
        if kept is None:
            raise ParameterError(
                "the training rows were not kept (more than 32 MB, or the estimator was pickled): pass the "
                "same table again, oob_curve(X, y)"
            )
        return kept

    def __getstate__(self) -> dict[str, Any]:
        # The training rows are left out: a pickle is for using the model, and may be given to others.
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_kept_rows", None)
        return state

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # A copy keeps the rows, which __getstate__ would leave out. Nothing changes the rows: they are shared.
        kept = self.__dict__.get("_kept_rows")
        memo[id(kept)] = kept
        return self._copied(deepcopy(self.__dict__, memo))

    def __copy__(self) -> Self:
        return self._copied(self.__dict__)

    def _copied(self, state: dict[str, Any]) -> Self:
        """An estimator with this state."""
        made = type(self).__new__(type(self))
        made.__dict__.update(state)
        return made

    def predict_std(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Standard error of each prediction: how much a forest on other rows of the same kind would differ.

        It measures the uncertainty of the forest's mean, not how far a new target may lie from it (that is
        ``predict_interval``). The infinitesimal jackknife, corrected for finitely many trees (Wager, Hastie and Efron
        2014, equations 5 and 7; see ``treewright.forest.jackknife``). It needs many trees, about as many as rows.

        Parameters
        ----------
        X : table of n rows

        Returns
        -------
        float64[n] or float64[n, n_outputs]
            Regression.
        float64[n, n_classes], or a list of them for several outputs
            Classification: of the probability of each class, as in ``predict_proba``. nan if there are too few trees:
            everywhere with fewer than leave every row out at least once (20 to 40), and where the correction exceeds
            the estimate.

        Raises
        ------
        ParameterError
            The trees did not sample their rows (``bootstrap=False``).
        TooLargeError
            A table of trees by trees would not fit in memory.

        Warns
        -----
        DataWarning
            There are too few trees for some rows.

        Examples
        --------
        >>> import numpy as np
        >>> import treewright as tw
        >>> X = np.arange(40.0).reshape(-1, 1)
        >>> forest = tw.RandomForestRegressor(n_estimators=500).fit(X, np.sin(X[:, 0]) + X[:, 0])
        >>> forest.predict_std([[3.0], [20.0]]).shape
        (2,)
        """
        model = self._fitted()
        draws = self._draws(
            "predict_std needs bootstrap samples, but these trees were grown on all rows: fit with bootstrap=True"
        )
        matrix = model._encoded(X, type(self).__name__)
        errors = standard_errors(model, draws, matrix, self.n_jobs)
        if model.task == "regression":
            return errors[:, 0] if model.n_outputs == 1 else errors
        parts = [np.ascontiguousarray(errors[:, columns]) for columns in output_columns(model.n_classes)]
        return parts[0] if len(parts) == 1 else parts

    def proximity(self, X: Any, Y: Any = None) -> np.ndarray:
        """The share of the trees in which two rows are in the same leaf.

        Parameters
        ----------
        X : table of n rows
        Y : table of m rows, optional
            The rows to compare with; by default ``X`` itself.

        Returns
        -------
        float64[n, m], 0 to 1
            Without ``Y`` symmetric, with ones on the diagonal.

        Raises
        ------
        TooLargeError
            n x m numbers would not fit in memory.

        Examples
        --------
        >>> import treewright as tw
        >>> forest = tw.RandomForestClassifier(n_estimators=50).fit([[1.0], [2.0], [8.0], [9.0]], [0, 0, 1, 1])
        >>> near = forest.proximity([[1.0], [2.0], [9.0]])
        >>> bool(near[0, 1] > near[0, 2])
        True
        """
        model, owner = self._fitted(), type(self).__name__
        other = None if Y is None else model._encoded(Y, owner)
        return proximities(model, model._encoded(X, owner), other, self.n_jobs)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score of the predictions: accuracy or R2.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``; a label that the forest does not know counts as an error.

        Returns
        -------
        float
            Classification: the accuracy; with several outputs all must be correct. Regression: the coefficient of
            determination, for several outputs the mean.
        """
        model = self._fitted()
        warn_of_another_order(X, y=y, sample_weight=sample_weight)
        matrix = model._encoded(X, type(self).__name__, sparse=True)
        weights = check_weights(sample_weight, len(matrix))
        if self._task == CLASSES:
            predicted = model.codes_of(matrix, self.n_jobs)
            return accuracy(true_codes(model, y, len(predicted)), predicted, weights)
        predicted = model.numbers_of(matrix, self.n_jobs)
        return r2(true_numbers(y, len(predicted), model.n_outputs), predicted, weights)

    @available_if(_predicts_numbers)
    @as_model
    def predict_quantile(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> np.ndarray:
        """Quantiles of the expected targets of each row (Meinshausen 2006)."""
        return self._fitted().predict_quantile(X, quantiles, n_jobs=self.n_jobs, owner=type(self).__name__)

    @available_if(_predicts_numbers)
    @as_model
    def predict_interval(self, X: Any, level: float = 0.9) -> np.ndarray:
        """Interval with the share ``level`` of the expected targets: two quantiles, with equal shares outside."""
        return self._fitted().predict_interval(X, level, n_jobs=self.n_jobs, owner=type(self).__name__)


def _as_given(rows: np.ndarray, classes: tuple[np.ndarray, ...]) -> np.ndarray:
    """Codes or numbers [n, n_outputs] in the form of the user's target: [n], or [n, n_outputs]."""
    if classes:
        rows = np.stack([labels.take(rows[:, at]) for at, labels in enumerate(classes)], axis=1)
    return rows[:, 0] if rows.shape[1] == 1 else rows


class SamplesOf(Sequence[np.ndarray]):
    """The training rows of each tree.

    Parameters
    ----------
    draws : Draws or None
        None: every tree was grown on all rows.
    rows : int64[n]
        Positions in the training table of the rows that could be sampled: all but those of weight 0.
    n_trees : int
    """

    @classmethod
    def of(cls, model: Model, trained: Trained) -> SamplesOf:
        """The rows of the trees of a fit."""
        warm = trained.warm_start
        if warm is None:
            raise AttributeError(ROWS_LAY_ELSEWHERE)
        return cls(trained.draws, warm.rows, model.n_trees)

    def __init__(self, draws: Draws | None, rows: np.ndarray, n_trees: int) -> None:
        self._draws, self._rows, self._n_trees = draws, rows, n_trees

    def __len__(self) -> int:
        return self._n_trees

    @overload
    def __getitem__(self, item: int) -> np.ndarray: ...

    @overload
    def __getitem__(self, item: slice) -> list[np.ndarray]: ...

    def __getitem__(self, item: int | slice) -> np.ndarray | list[np.ndarray]:
        places = range(self._n_trees)[item]
        return [self._of_tree(at) for at in places] if isinstance(places, range) else self._of_tree(places)

    def _of_tree(self, tree: int) -> np.ndarray:
        """int64[m], ascending; a row that was drawn twice is listed twice."""
        if self._draws is None:
            return self._rows.copy()
        rows, counts = self._draws.counts(tree)
        return np.repeat(self._rows[rows], counts)


class RandomForestClassifier(signatures.RandomForestClassifier, Forest, Classifier):
    """Random forest for classification: trees on bootstrap samples, with columns sampled at each node.

    Notes
    -----
    Breiman 2001, "Random forests", Machine Learning 45. The columns are put into bins once, and each tree is grown on
    the bins. Which rows a tree samples depends on the rows, not on their order: a table with its rows shuffled gives
    the same forest, and a row of weight k (a whole number) is k rows. Weights that are not whole numbers, or add up to
    more than 16 for each row, are the chances of the rows. Ties between gains: the lower column, then the lower cut.
    If no sampled column splits the node, others are sampled one by one until one does. Trees are not pruned.

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


class ExtraTreesClassifier(signatures.ExtraTreesClassifier, Forest, Classifier):
    """Extremely randomised trees for classification: one random cut for each sampled column of a node.

    Notes
    -----
    Geurts, Ernst and Wehenkel 2006, "Extremely randomized trees", Machine Learning 63. For each column that a node
    samples, one cut is sampled uniformly between the smallest and the largest value of its rows (on the bins), or
    a random set of levels; the best of these is the split. Without ``bootstrap`` a row of weight k is k rows in its
    nodes.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = tw.ExtraTreesClassifier(n_estimators=20).fit(X, y)
    >>> forest.predict(X[[0, 60, 120]]), len(forest.estimators_)
    (array([0, 1, 2]), 20)
    """


class RandomForestRegressor(signatures.RandomForestRegressor, Forest, Regressor):
    """Random forest for regression: trees on bootstrap samples, with columns sampled at each node.

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


class ExtraTreesRegressor(signatures.ExtraTreesRegressor, Forest, Regressor):
    """Extremely randomised trees for regression: one random cut for each sampled column of a node.

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
