"""Scores that a user names or writes. In: the argument ``scoring``. Out: functions that score, with checked results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer

from treewright.data.schema import did_you_mean
from treewright.evaluation.measures import TWO, Measure, Predicted, cost_matrix, measures_of_classes
from treewright.evaluation.scores import accuracy, r_squared
from treewright.exceptions import ParameterError, Phrase, TreewrightError, setting
from treewright.learn.params import name_of
from treewright.trees.writing import shorten, written_level

Scorer = Callable[[Any, Any, np.ndarray, np.ndarray | None], float]
FORMS = "a name such as 'balanced_accuracy', a function (estimator, X, y), or a list or dict of them"
# Scores of scikit-learn about the positive one of two classes.
OF_A_CLASS = ("f1", "precision", "recall", "jaccard", "average_precision", "neg_brier_score")
LONGEST_LABEL = 20
OF_SEVERAL_ROWS = ("r2", "explained_variance", "d2_absolute_error_score", "matthews_corrcoef")  # undefined for one row


def scorers_of(scoring: Any, *, is_classification: bool, positive: Any = None) -> dict[str, Scorer]:
    """Functions that score a fitted estimator on rows, by name.

    ``scoring``, None is the accuracy (of several targets: all of them correct), or R2. Names and functions are
    scikit-learn's. ``positive``, the one of two classes that F1, precision ... are about; None: as in scikit-learn.
    Returns dict from name to function (estimator, X, y as an array, weights or None) -> float: greater is better.
    """
    if scoring is None:
        return {"accuracy": _accuracy_of_values} if is_classification else {"r2": _r2_of_values}
    if isinstance(scoring, str):
        return {plain_name(scoring): _named(scoring, positive)}
    if callable(scoring):
        return {getattr(scoring, "__name__", "score"): _weighing("scoring", scoring)}
    if isinstance(scoring, Mapping) and scoring:
        return {str(name): _given(str(name), given, positive) for name, given in scoring.items()}
    if isinstance(scoring, list | tuple | set) and scoring and all(isinstance(name, str) for name in scoring):
        names = sorted(scoring) if isinstance(scoring, set) else scoring
        return {plain_name(name): _named(name, positive) for name in names}
    raise ParameterError(f"scoring={scoring!r}: give {FORMS}")


def one_scorer(scoring: Any, *, is_classification: bool, positive: Any = None) -> tuple[str, Scorer]:
    """Name and function of the only score."""
    scorers = scorers_of(scoring, is_classification=is_classification, positive=positive)
    if len(scorers) > 1:
        raise ParameterError(f"scoring has {len(scorers)} scores, {', '.join(scorers)}: give one, the one that decides")
    return next(iter(scorers.items()))


class RoundScore:
    """A score of scikit-learn for boosting, computed from true values and from predictions.

    ``plain``: its name, for the facts of a model.
    ``labels`` (ndarray[n_classes] or None): the classes of the probabilities.
    ``positive``, the one of two classes that F1, precision ... are about; None: the second.
    """

    def __init__(
        self, name: str, scorer: Callable[..., Any], labels: np.ndarray | None = None, positive: Any = None
    ) -> None:
        self.__name__ = self.plain = name
        self._scorer, self.labels, self.positive = scorer, labels, positive

    def of_labels(self, classes: tuple[np.ndarray, ...]) -> RoundScore:
        """The same score for probabilities of these classes, one array per output; for regression there are none."""
        if len(classes) > 1:
            raise ParameterError(
                f"the score {self.__name__!r} is for one target, and there are {len(classes)}: give a function",
                parameter="scoring",
            )
        if not classes:
            return RoundScore(self.__name__, self._scorer)
        labels = classes[0].tolist()
        positive = labels[1] if self.positive is None and len(labels) == TWO else self.positive
        return RoundScore(self.__name__, self._scorer, classes[0], positive)

    def __call__(self, true: np.ndarray, predicted: np.ndarray) -> float:
        """The score, greater is better; ``predicted`` are numbers, or shares as ``GradientBoostingClassifier`` says."""
        said = _Said(predicted) if self.labels is None else _SaidOfClasses(predicted, self.labels)
        scorer = _weighing(self.__name__, self._scorer, self.__name__)
        scorer = scorer if self.labels is None else _about(self.__name__, scorer, self.positive)
        return scorer(said, np.empty((len(true), 0)), true, None)


class _Said(RegressorMixin, BaseEstimator):
    """An estimator that returns given predictions, for scikit-learn's scorers."""

    def __init__(self, predicted: np.ndarray) -> None:
        self.predicted = predicted

    def predict(self, X: Any) -> np.ndarray:  # noqa: ARG002
        return self.predicted


class _SaidOfClasses(ClassifierMixin, BaseEstimator):
    """A classifier that returns given probabilities, for scikit-learn's scorers."""

    def __init__(self, predicted: np.ndarray, labels: np.ndarray) -> None:
        self.predicted, self.classes_ = predicted, labels

    def predict_proba(self, X: Any) -> np.ndarray:  # noqa: ARG002
        second = self.predicted
        return np.column_stack([1.0 - second, second]) if second.ndim == 1 else second

    def predict(self, X: Any) -> np.ndarray:
        return np.asarray(self.classes_)[self.predict_proba(X).argmax(axis=1)]


def round_score(scoring: Any, positive: Any = None) -> Any:
    """The score for rounds of boosting: a ``RoundScore`` for what scikit-learn names, else ``scoring`` itself.

    A metric of scikit-learn counts as its scorer, which has a sign (errors are negated) and says whether it compares
    labels or probabilities.

    Examples
    --------
    >>> score = round_score("roc_auc").of_labels((np.array(["no", "yes"]),))
    >>> score(np.array(["no", "yes", "yes"]), np.array([0.1, 0.4, 0.3]))
    1.0
    >>> from sklearn.metrics import log_loss
    >>> round(round_score(log_loss).of_labels((np.array(["no", "yes"]),))(["no", "yes"], np.array([0.5, 0.5])), 4)
    -0.6931
    """
    if isinstance(scoring, str):
        _named(scoring)  # a wrong name is refused
        return RoundScore(plain_name(scoring), get_scorer(plain_name(scoring)), positive=positive)
    if hasattr(scoring, "_score_func"):
        return RoundScore(scoring._score_func.__name__, scoring)
    if getattr(scoring, "__module__", "").startswith("sklearn.metrics"):
        for name in get_scorer_names():
            scorer = get_scorer(name)
            if scorer._score_func is scoring and not scorer._kwargs:
                return RoundScore(scoring.__name__, scorer)
        # Those without a scorer compare labels or numbers; scikit-learn's rule for names says which are errors.
        is_error = scoring.__name__.endswith(("_error", "_loss", "_deviance"))
        return RoundScore(scoring.__name__, make_scorer(scoring, greater_is_better=not is_error))
    return scoring


def check_of_one_row(scoring: Any) -> None:
    """Refuse scores that are undefined for a single test row; ``scoring`` is as for ``scorers_of``."""
    given = [scoring] if isinstance(scoring, str) else scoring
    names = given.values() if isinstance(given, Mapping) else given if isinstance(given, list | tuple | set) else ()
    for name in names:
        if isinstance(name, str) and (name in OF_SEVERAL_ROWS or name.startswith("roc_auc")):
            raise ParameterError(
                f"the score {name!r} is not defined for a single row, and a fold of leave_one_out has only one: choose "
                "another score, or cross_validate; Scores.pooled scores all predictions together"
            )


def shown_score(name: str, positive: Any = None) -> tuple[str, int]:
    """The name and sign with which a score is printed: scikit-learn negates errors, so that greater is better.

    The score is multiplied by the sign. The name says which class it is about, if it is about the positive one.

    Examples
    --------
    >>> shown_score("neg_mean_squared_error"), shown_score("accuracy")
    (('mean_squared_error', -1), ('accuracy', 1))
    >>> shown_score("f1", "bad")
    ('f1 of bad', 1)
    """
    if positive is not None and name in OF_A_CLASS:
        words, sign = shown_score(name)
        return f"{words} of {shorten(written_level(positive), LONGEST_LABEL)}", sign
    if name.startswith("neg_") and (name == "neg_cost" or name in get_scorer_names()):
        return name.removeprefix("neg_"), -1
    return name, 1


def plain_name(name: str) -> str:
    """The name of a score as scikit-learn spells it: an error may be named without ``neg_``.

    Examples
    --------
    >>> plain_name("log_loss"), plain_name("accuracy"), plain_name("beauty")
    ('neg_log_loss', 'accuracy', 'beauty')
    """
    known = get_scorer_names()
    return f"neg_{name}" if name not in known and f"neg_{name}" in known else name


def measure_scorer(name: str, labels: Iterable[Any], make: Callable[[list[Any]], Measure]) -> Scorer:
    """The scorer of a measure of predicted classes.

    ``labels``: those that a fold may lack.
    """

    def score(estimator: Any, X: Any, y: np.ndarray, weights: np.ndarray | None) -> float:
        if y.ndim > 1:
            raise ParameterError(f"the score {name!r} is for one target, and there are {y.shape[1]}")
        said = np.asarray(estimator.predict(X))
        known = sorted({*labels, *y.tolist(), *said.tolist(), *np.asarray(estimator.classes_).tolist()})
        place = {label: at for at, label in enumerate(known)}
        truth, codes = (np.array([place[label] for label in each.tolist()], np.int64) for each in (y, said))
        if weights is not None:
            truth, codes, weights = truth[weights > 0], codes[weights > 0], weights[weights > 0]
        measure = make(known)
        return measure.sign * measure.work(Predicted(truth, codes, None, weights))[0]

    return score


def cost_scorer(cost: Any, positive: Any = None) -> Callable[..., float]:
    """Make the score "cost per row" for ``scoring=``, also of scikit-learn: greater is better, so it is negated.

    Parameters
    ----------
    cost : mapping or list of lists
        ``{"fp": 1, "fn": 5}`` for two classes; ``{"good": {"bad": 1}, "bad": {"good": 5}}``, the true class first; or a
        row of numbers for each true class, in the order of the sorted classes.
    positive : class label, optional
        The class that fp and fn are about; by default the second.

    Returns
    -------
    function (estimator, X, y, sample_weight=None) -> float

    Examples
    --------
    >>> import treewright as tw
    >>> tree = tw.DecisionTreeClassifier(max_depth=1).fit([[1], [2], [3], [4]], ["no", "yes", "no", "yes"])
    >>> score = tw.model_selection.cost_scorer({"fp": 1, "fn": 5}, positive="yes")
    >>> score(tree, [[1], [4]], ["yes", "yes"])
    -2.5
    """
    is_table = isinstance(cost, Mapping) and all(isinstance(row, Mapping) for row in cost.values())
    named = {*cost, *(label for row in cost.values() for label in row)} if is_table else set()
    scorer = cost_scorer_of(cost, positive, named if positive is None else {*named, positive})

    def neg_cost(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        weights = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        return scorer(estimator, X, np.asarray(y), weights)

    return neg_cost


def cost_scorer_of(cost: Any, positive: Any, labels: Iterable[Any]) -> Scorer:
    """The scorer of the cost per row, for at least these classes."""

    def make(known: list[Any]) -> Measure:
        return measures_of_classes(known, positive=positive, cost=cost_matrix(cost, known, positive))["cost"]

    return measure_scorer("cost", labels, make)


class _OfOneClass(ClassifierMixin, BaseEstimator):
    """A fitted classifier of two classes as one of 0 and 1, for scikit-learn's scorers that know no other labels."""

    def __init__(self, fitted: Any, positive: Any) -> None:
        self.fitted, self.positive, self.classes_ = fitted, positive, np.array([0, 1])

    def predict(self, X: Any) -> np.ndarray:
        return (np.asarray(self.fitted.predict(X)) == self.positive).astype(np.int64)

    def predict_proba(self, X: Any) -> np.ndarray:
        shares = np.asarray(self.fitted.predict_proba(X))
        known = np.asarray(self.fitted.classes_).tolist()
        share = shares[:, known.index(self.positive)] if self.positive in known else np.zeros(len(shares))
        return np.column_stack([1.0 - share, share])


def class_weight_of(estimator: Any) -> Any:
    """The ``class_weight`` of an estimator, or of one inside it; None if there is none."""
    given = [
        value
        for name, value in estimator.get_params(deep=True).items()
        if name.rpartition("__")[2] == "class_weight" and value is not None
    ]
    return given[0] if given else None


def scorers_by_class(class_weight: Any, labels: list[Any]) -> dict[str, Scorer]:
    """The score that a model was chosen by if ``class_weight`` weighs its classes, and the accuracy next to it."""
    if isinstance(class_weight, str):  # "balanced", "balanced_subsample"
        name, factors = "balanced_accuracy", np.ones(len(labels))
    else:
        name, factors = "class_weighted_accuracy", np.array([float(class_weight.get(each, 1.0)) for each in labels])

    def make(known: list[Any]) -> Measure:
        return measures_of_classes(known, factors=factors)[name]

    return {name: measure_scorer(name, labels, make), "accuracy": _accuracy_of_values}


def _given(name: str, given: Any, positive: Any) -> Scorer:
    """The scorer of one entry of a dict."""
    if isinstance(given, str):
        return _named(given, positive)
    if callable(given):
        return _weighing(name, given)
    raise ParameterError(f"scoring {name!r} is {given!r}: give {FORMS}")


def _named(name: str, positive: Any = None) -> Scorer:
    """A scorer of scikit-learn; of one of two classes, about the positive one if it is known."""
    name = plain_name(name)
    if name not in get_scorer_names():
        guess = did_you_mean(name, get_scorer_names())
        raise ParameterError(
            setting("scoring", name),
            f": no such score{guess}: ",
            Phrase("sklearn.metrics.get_scorer_names() lists them", "scorers"),
            parameter="scoring",
        )
    return _about(name, _weighing(name, get_scorer(name), name), positive)


def _about(name: str, scorer: Scorer, positive: Any) -> Scorer:
    """The same scorer; one that is about one of two classes is about the positive one."""
    if positive is None or name not in OF_A_CLASS:
        return scorer

    def score(estimator: Any, X: Any, y: np.ndarray, weights: np.ndarray | None) -> float:
        return scorer(_OfOneClass(estimator, positive), X, (y == positive).astype(np.int64), weights)

    return score


def _first_sentence(error: Exception) -> str:
    """The first sentence of an error, without its advice."""
    return " ".join(str(error).split()).partition(". ")[0].rstrip(".")


def _other(name: str, estimator: Any, y: np.ndarray) -> tuple[object, ...]:
    """The advice which score to choose instead."""
    if not is_classifier(estimator):
        return "For regression give ", setting("scoring", "r2"), " or 'neg_mean_squared_error'"
    if len(np.unique(y)) < 2:
        return "These rows have one class: give larger folds, or ", setting("scoring", "accuracy")
    known = get_scorer_names()
    others = [other for other in (f"{name}_macro", f"{name}_weighted", f"{name}_ovr") if other in known]
    advised = [setting("scoring", other) for other in others or ["accuracy", "balanced_accuracy"]]
    return "Give ", advised[0], *(part for each in advised[1:] for part in (" or ", each))


def _weighing(name: str, scorer: Callable[..., Any], known: str | None = None) -> Scorer:
    """A scorer that gets the weights, if there are any, and must return a number.

    ``known`` is its name in scikit-learn.
    """

    def score(estimator: Any, X: Any, y: np.ndarray, weights: np.ndarray | None) -> float:
        try:
            value = scorer(estimator, X, y) if weights is None else scorer(estimator, X, y, sample_weight=weights)
        except TreewrightError:
            raise
        except (ValueError, TypeError, AttributeError) as error:
            if weights is not None and isinstance(error, TypeError) and "sample_weight" in str(error):
                raise ParameterError(
                    f"the score {name!r} takes no sample_weight: choose another, or leave them out"
                ) from error
            if known is None:  # the user's own function: its errors are the user's
                raise
            raise ParameterError(
                f"the score {known!r} cannot be computed for this estimator and target: {_first_sentence(error)}. ",
                *_other(known, estimator, y),
                parameter="scoring",
            ) from error
        if np.ndim(value) or not isinstance(value, int | float | np.number | np.ndarray) or np.iscomplexobj(value):
            raise ParameterError(f"the score {name!r} returned a {type(value).__name__}, not a number")
        return float(value)

    return score


def _accuracy_of_values(estimator: Any, X: Any, y: np.ndarray, weights: np.ndarray | None) -> float:
    return accuracy(y, np.asarray(estimator.predict(X)), weights)


def _r2_of_values(estimator: Any, X: Any, y: np.ndarray, weights: np.ndarray | None) -> float:
    if len(y) < 2:
        return float("nan")
    predicted = np.asarray(estimator.predict(X))
    if predicted.size != y.size:
        raise ParameterError(
            f"R2 compares one prediction with each target, and the predictions of {len(y)} rows have shape "
            f"{predicted.shape}, as those of several quantiles: choose one quantile, or as scoring a function that "
            "returns fitted.score(X, y)"
        )
    return r_squared(y, predicted.reshape(y.shape), weights)


def own_score(function: Callable[[np.ndarray, np.ndarray], Any], true: np.ndarray, predicted: np.ndarray) -> float:
    """The score of predictions by the user's own function."""
    score = function(true, predicted)
    if not hasattr(score, "__float__") or np.ndim(score):
        raise ParameterError(f"oob_score={name_of(function)} must return a number, not {score!r}")
    return float(score)
