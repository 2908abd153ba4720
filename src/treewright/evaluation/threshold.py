"""Choosing a decision threshold: by the costs of mistakes, or by a required precision or recall.

In: an estimator and a table, or a fitted model and held-out rows. Out: ``ThresholdChoice``, with every threshold that
changes a prediction of the test rows, and the model that predicts by the chosen one.

The threshold is chosen by probabilities of held-out rows: each row's fold is left out. The rows are sorted by
descending probability, so one pass of running sums counts the mistakes of every threshold. Elkan (2001), "The
foundations of cost-sensitive learning", shows that the threshold of least cost is ``fp / (fp + fn)`` for exact
probabilities; leaves and forests are not that well calibrated, so the costs are counted, and this number only decides
between thresholds of equal cost.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from treewright.data.cells import shown
from treewright.data.take import count_rows, warn_of_another_order
from treewright.data.target import check_lengths, check_weights, encode_labels, recode
from treewright.evaluation.after_fit import Decided, decision_of, has_steps, repeat_decision, without_steps
from treewright.evaluation.folds import (
    Task,
    check_tested_once,
    folds_within,
    positives_in,
    run_tasks,
    splits_of,
    task_of,
    unfitted,
    with_positive,
)
from treewright.evaluation.measures import TWO, place_of
from treewright.evaluation.tables import abridged, lines_shown
from treewright.exceptions import DataError, ParameterError
from treewright.model import Model
from treewright.model.neighbors import NeighborsModel
from treewright.trees.threshold import Threshold, code_of_positive, positive_code
from treewright.trees.writing import written_probability

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Wish = Literal["cost", "precision", "recall"]
DEFAULT_FOLDS = 5
MOST_COST = 1e100  # so that the sum of the costs of all rows stays within float64
_SAME = 1e-12  # costs that differ by less, relative to the least, are equal: they are sums in another order


@dataclass(frozen=True)
class Aim:
    """The aim of a threshold: least cost, or a required precision or recall.

    ``fp``, ``fn``: costs of a false positive and a false negative, for ``"cost"``.
    ``least``: the required precision or recall.
    """

    wish: Wish
    fp: float = 1.0
    fn: float = 1.0
    least: float = 0.0

    def __str__(self) -> str:
        if self.wish == "cost":
            return f"least cost of fp={self.fp:g}, fn={self.fn:g}"
        return f"{self.wish} of at least {self.least:g}"


def aim_of(cost: Any, precision: Any, recall: Any) -> Aim:
    """The one aim that is given.

    Raises ``ParameterError``: no aim is given, or several; a cost is missing, outside 0 to 1e100, or both are 0; a
    share is not in (0, 1].
    """
    given = {
        name: value
        for name, value in (("cost", cost), ("precision", precision), ("recall", recall))
        if value is not None
    }
    if len(given) != 1:
        raise ParameterError(
            f"{' and '.join(given) or 'no aim'} given: choose one of cost={{'fp': 1, 'fn': 5}}, precision=0.9 and "
            "recall=0.9"
        )
    ((name, value),) = given.items()
    if name == "cost":
        if not isinstance(value, Mapping) or set(value) != {"fp", "fn"}:
            raise ParameterError(f"cost={shown(value)}: give both costs, as in {{'fp': 1, 'fn': 5}}")
        fp, fn = (_number(f"cost of {key}", value[key]) for key in ("fp", "fn"))
        if not (0 <= fp <= MOST_COST and 0 <= fn <= MOST_COST and fp + fn > 0):
            raise ParameterError(f"cost={shown(value)}: costs are 0 to {MOST_COST:g}, and not both 0")
        return Aim("cost", fp, fn)
    least = _number(name, value)
    if not 0 < least <= 1:
        raise ParameterError(f"{name}={shown(value)}: give a share above 0, at most 1")
    return Aim("precision" if name == "precision" else "recall", least=least)


def _number(name: str, value: Any) -> float:
    """A number as float (a bool is refused); an integer beyond float64 is infinite."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise ParameterError(f"{name} is {shown(value)}: give a number")
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def choose_threshold(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cost: Mapping[str, float] | None = None,
    precision: float | None = None,
    recall: float | None = None,
    positive: Any = None,
    cv: Any = DEFAULT_FOLDS,
    sample_weight: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> ThresholdChoice:
    """Choose the decision threshold of a classifier of two classes.

    Give one of ``cost``, ``precision`` and ``recall``.

    Parameters
    ----------
    estimator : unfitted classifier of treewright, or a fitted ``Model``
        A classifier is cross-validated, then fitted on all rows. A model is tested as it is: give held-out rows.
    X : table of n rows
    y : n labels of two classes
    cost : {"fp": float, "fn": float}, optional
        Costs of a false positive and a false negative, in any unit. The threshold of the least total cost is chosen;
        among equal ones the one nearest to ``fp / (fp + fn)`` (Elkan 2001).
    precision : float in (0, 1], optional
        The required precision; among the thresholds that reach it the one with the highest recall is chosen.
    recall : float in (0, 1], optional
        The required recall; among the thresholds that reach it the one with the highest precision is chosen.
    positive : class label, optional
        By default that of the estimator or model, or else the second. An estimator without one is fitted with it, so
        that its constraints are about the same class.
    cv : int >= 2, splitter, iterable of pairs, or array of n fold numbers
        As for ``cross_validate``; each row is tested once. Not used for a model.
    sample_weight : n numbers >= 0, optional
        They count in the fits and in costs, precision and recall.
    random_state : int, RandomState or None
        Seed of folds given as a number, and of an estimator that has no seed.
    n_jobs : int or None
        Threads that fit folds in parallel; the result does not depend on it.

    Returns
    -------
    ThresholdChoice

    Raises
    ------
    ParameterError
        No aim, or several; one out of range; the estimator is no classifier of two classes; there is no such class.
    DataError
        No threshold reaches the precision; a class has no row with weight; a label is not a class of the model.

    Notes
    -----
    A threshold chosen on training rows would be too high: there the probabilities are nearly 0 or 1. The precision on
    new rows is lower about half of the time; require a little more if it must hold.

    Examples
    --------
    >>> import treewright as tw
    >>> x = [1, 2, 3, 4, 5, 6, 7, 8] * 6
    >>> bought = ["no", "no", "no", "no", "yes", "no", "yes", "yes"] * 6
    >>> tree = tw.DecisionTreeClassifier(max_depth=1)
    >>> chosen = tw.model_selection.choose_threshold(tree, {"visits": x}, bought, cost={"fp": 5, "fn": 1}, cv=3)
    >>> chosen.threshold, chosen.positive
    (0.9, 'yes')
    >>> chosen.model.predict({"visits": [5, 8]})
    array(['no', 'no'], dtype='<U3')
    """
    aim = aim_of(cost, precision, recall)
    if isinstance(estimator, Model | NeighborsModel):
        model, n_rows = estimator.with_threshold(None), count_rows(X)
        warn_of_another_order(X, y=y, sample_weight=sample_weight)
        code = code_of_positive(model.classes, positive, _usual(estimator))
        is_positive, weights = _are_positive(model, code, y, n_rows), check_weights(sample_weight, n_rows)
        shares = np.asarray(model.predict_proba(X, n_jobs=n_jobs))[:, code]
        return _chosen(aim, model, code, is_positive, shares, weights)
    task = task_of(estimator, X, y, sample_weight, random_state)
    return choice_by_folds(estimator, task, aim, positive, cv=cv, random_state=random_state, n_jobs=n_jobs)


def choice_by_folds(
    estimator: Any, task: Task, aim: Aim, positive: Any, *, cv: Any = DEFAULT_FOLDS, random_state: Any,
    n_jobs: int | None = None, seeded: bool = True,
) -> ThresholdChoice:  # fmt: skip
    """``choose_threshold`` for a checked task and any estimator whose fitted copies have a ``model_``.

    ``seeded`` gives the copies of the folds a seed if they have none.
    """
    estimator = sized_for_thresholds(with_positive(estimator, positive))
    fitted = task.fit(estimator, None, "all rows", seeded=False)
    model = _model_of(fitted)
    code = code_of_positive(model.classes, positive, _usual(model))
    label = model.classes[0].tolist()[code]
    kind = {"is_classification": True, "random_state": random_state}
    splits = splits_of(folds_within(cv, task.y, **kind), task.y, **kind)
    check_tested_once(splits, task.n)

    def shares_of_fold(at: int) -> np.ndarray:
        learn, test = splits[at]
        part = _model_of(task.fit(estimator, learn, f"the other folds than {at} of {len(splits)}", seeded=seeded))
        known = part.classes[0].tolist()
        if label not in known:  # a class so rare that no row of the other folds has it
            return np.zeros(len(test))
        return np.asarray(part.predict_proba(task.table(test, learn)))[:, known.index(label)]

    shares = np.empty(task.n)
    for (_, test), found in zip(splits, run_tasks(shares_of_fold, len(splits), n_jobs), strict=True):
        shares[test] = found
    is_positive = _are_positive(model, code, task.y, task.n)
    choice = _chosen(aim, model, code, is_positive, shares, task.weights, len(splits))
    return replace(choice, estimator=deciding(fitted, choice.model))


def sized_for_thresholds(estimator: Any) -> Any:
    """The estimator; of a ``PrunedTree`` one whose size suits any threshold (`PrunedTree.judged_by_shares`)."""
    from treewright.evaluation.pruning import PrunedTree  # an estimator, which a model's threshold does not need

    return estimator.judged_by_shares() if isinstance(estimator, PrunedTree) else estimator


def _usual(model: Any) -> int:
    """The position of the model's own positive class; 1 if it has none, which is refused elsewhere."""
    code = positive_code(model)
    return 1 if code is None else code


class DecidingAgain:
    """A classifier whose copies choose its decision threshold again, by its costs, at each fit.

    A clone repeats a threshold as it is (``evaluation.after_fit``); but one that has seen the test rows flatters, so
    folds that judge choose it again where costs have chosen it.
    """

    def __init__(self, estimator: Any, costs: tuple[float, float], positive: Any) -> None:
        self.estimator, self.costs, self.positive = estimator, costs, positive
        self.name = type(estimator).__name__

    def __sklearn_clone__(self) -> DecidingAgain:
        return DecidingAgain(unfitted(self.estimator), self.costs, self.positive)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["estimator"], name)

    def set_params(self, **parameters: Any) -> DecidingAgain:
        """Set parameters of the classifier."""
        self.estimator.set_params(**parameters)
        return self

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """The fitted classifier, which predicts by the threshold."""
        task, aim = task_of(self.estimator, X, y, sample_weight), Aim("cost", *self.costs)
        found = choice_by_folds(self.estimator, task, aim, self.positive, random_state=0, n_jobs=1, seeded=False)
        return found.estimator


def deciding_again(estimator: Any) -> Any:
    """The estimator; if it has a decision threshold, one whose copies get it too, or choose it again by its costs."""
    if isinstance(estimator, type | DecidingAgain):
        return estimator
    decided = decision_of(estimator)
    if decided is None:  # it may have been taken off by hand, on the model
        return without_steps(estimator, Decided) if has_steps(estimator) else estimator
    threshold = decided.threshold
    if threshold.cost_each is None:  # it may have been set by hand, on the model
        copied = copy.copy(estimator)
        repeat_decision(copied, decided)
        return copied
    return DecidingAgain(without_steps(estimator, Decided), threshold.cost_each, decided.classes[threshold.positive])


def positive_of(estimators: Iterable[Any], labels: Sequence[Any]) -> Any:
    """The class that scores of one of two classes are about: the estimators' own, or else the second.

    None if there are not two. Of estimators as ``deciding_again`` makes them, that of the threshold comes first.
    """
    if len(labels) != TWO:
        return None
    found = []
    for each in estimators:
        decided = decision_of(each)
        given = [value for _, value in positives_in(each) if value is not None]
        if isinstance(each, DecidingAgain):
            given = [each.positive]
        elif decided is not None:
            given = [decided.classes[decided.threshold.positive]]
        found += [label for label in given if label not in found]
    if len(found) > 1:
        raise ParameterError(
            f"the estimators have positive={found[0]!r} and positive={found[1]!r}: there is one positive class; set it "
            "in one place"
        )
    return labels[place_of(found[0], labels, "positive")] if found else labels[1]


def positive_of_scores(estimator: Any, task: Task, scoring: Any) -> Any:
    """``positive_of`` one estimator, for scores of a task; None if they need none."""
    if scoring is None or not task.is_classification or task.truth.ndim > 1:
        return None
    return positive_of([estimator], np.unique(task.truth).tolist())


def _model_of(fitted: Any) -> Model | NeighborsModel:
    """The model of a fitted classifier, without a decision threshold."""
    model = getattr(fitted, "model_", None)
    if not isinstance(model, Model | NeighborsModel):
        raise ParameterError(
            f"{type(fitted).__name__} has no model that could keep a threshold: give a classifier of treewright, or "
            "use scikit-learn's TunedThresholdClassifierCV"
        )
    return model.with_threshold(None)


def deciding(fitted: Any, model: Model | NeighborsModel) -> Any:
    """The fitted classifier with the given model and its decision threshold, which its clones get as well."""
    holder = fitted
    while "model_" not in vars(holder):  # a pruned tree delegates to its inner tree
        holder = holder.estimator_
    holder.model_ = model
    if model.threshold is not None:
        repeat_decision(fitted, Decided(model.threshold, model.classes[0].tolist()))
    return fitted


@dataclass(frozen=True, eq=False)
class ThresholdChoice:
    """Every threshold that changes a prediction of the test rows, and the chosen one.

    Attributes
    ----------
    thresholds : float64[k], ascending, 0 to 1
        Each predicts other rows as positive than the next; with as few digits as possible.
    tp, fp, fn, tn : float64[k]
        Weight of the test rows by truth and prediction; without weights their number.
    chosen : int
        The position of the chosen one.
    aim : str
        The aim it was chosen for.
    positive, negative : class label
    usual : int
        The position of the threshold that predicts the more probable class.
    n_folds : int
        0 if a model was tested on given rows.
    cost_each : (float, float) or None
        Costs of a false positive and a false negative, if they were the aim.
    model : Model or NeighborsModel
        It predicts by the threshold.
    estimator : estimator, or None
        Fitted on all rows, and predicting by the threshold, as its clones do; None if a model was given.
    """

    thresholds: np.ndarray
    tp: np.ndarray
    fp: np.ndarray
    fn: np.ndarray
    tn: np.ndarray
    chosen: int
    aim: str
    positive: Any
    negative: Any
    usual: int
    n_folds: int
    cost_each: tuple[float, float] | None
    model: Model | NeighborsModel
    estimator: Any = None

    def __len__(self) -> int:
        return len(self.thresholds)

    @property
    def threshold(self) -> float:
        """The positive class is predicted if its probability is at least this."""
        return float(self.thresholds[self.chosen])

    @property
    def precision(self) -> np.ndarray:
        """float64[k]: share of positive rows among those predicted positive; nan if there are none."""
        return _share(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> np.ndarray:
        """float64[k]: share of rows predicted positive among the positive rows."""
        return _share(self.tp, self.tp + self.fn)

    @property
    def cost(self) -> np.ndarray | None:
        """float64[k]: cost of the mistakes per test row; None without costs."""
        if self.cost_each is None:
            return None
        held: np.ndarray = self.tp + self.fp + self.fn + self.tn
        return (self.cost_each[0] * self.fp + self.cost_each[1] * self.fn) / held

    def to_dict(self) -> dict[str, np.ndarray]:
        """Columns for a data frame, one row per threshold."""
        columns = {"threshold": self.thresholds, "tp": self.tp, "fp": self.fp, "fn": self.fn, "tn": self.tn}
        columns |= {"precision": self.precision, "recall": self.recall}
        return columns if self.cost is None else {**columns, "cost": self.cost}

    def plot(self) -> Figure:
        """Draw the cost, or precision and recall, over the threshold; needs matplotlib.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from treewright.show.figures.curves import error_curve

        if self.cost is None:
            return error_curve(
                x=self.thresholds, train=self.precision, test=self.recall, train_label="precision", test_label="recall",
                xlabel=f"least probability of {self.positive}", ylabel="precision, recall",
                marks={"chosen": self.threshold},
            )  # fmt: skip
        return error_curve(
            x=self.thresholds, test=self.cost, test_label=_where(self.n_folds), ylabel="cost per row",
            xlabel=f"least probability of {self.positive}", marks={"chosen": self.threshold},
        )  # fmt: skip

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        marks = {self.usual: "more probable class"}
        marks[self.chosen] = "chosen, more probable class" if self.usual == self.chosen else "chosen"
        shown = lines_shown(len(self), marks)
        lines = [f"{self.words}, judged {_where(self.n_folds)}", self._head()]
        return "\n".join([*lines, *abridged(shown, (self._line(at, marks.get(at, "")) for at in shown), "threshold")])

    @property
    def words(self) -> str:
        """The chosen threshold and its aim, in words."""
        at = written_probability(self.threshold)
        return f"predicts {self.positive} if its probability is at least {at}: {self.aim}"

    def _head(self) -> str:
        cost = "" if self.cost is None else f" {'cost per row':>13}"
        return f"{'threshold':>10} {'TP':>8} {'FP':>8} {'FN':>8} {'precision':>10} {'recall':>7}{cost}"

    def _line(self, at: int, mark: str) -> str:
        """One threshold of the table."""
        counts = " ".join(f"{each[at]:>8.6g}" for each in (self.tp, self.fp, self.fn))
        precision = "-" if np.isnan(self.precision[at]) else f"{self.precision[at]:.3f}"
        text = f"{self.thresholds[at]:>10.4g} {counts} {precision:>10} {self.recall[at]:>7.3f}"
        text += "" if self.cost is None else f" {self.cost[at]:>13.4g}"
        return f"{text}  {mark}".rstrip()


def _where(n_folds: int) -> str:
    """The rows that the thresholds were tested on, in words."""
    return f"in {n_folds} folds" if n_folds else "on the given rows"


def _are_positive(model: Any, code: int, y: Any, n_rows: int) -> np.ndarray:
    """bool[n_rows]: which rows are of the positive class; a label that is no class is refused."""
    labels = encode_labels(y)
    check_lengths(n_rows, labels)
    return np.asarray(recode(labels, model.classes)[:, 0] == code)


def _chosen(
    aim: Aim, model: Model | NeighborsModel, code: int, is_positive: np.ndarray, shares: np.ndarray,
    weights: np.ndarray | None, n_folds: int = 0,
) -> ThresholdChoice:  # fmt: skip
    """The best threshold for an aim; ``shares`` float64[n] are the probabilities of the positive class."""
    weight = np.ones(len(shares)) if weights is None else weights
    totals = weight[is_positive].sum(), weight[~is_positive].sum()
    if min(totals) <= 0:
        name = model.classes[0].tolist()[code if totals[0] <= 0 else 1 - code]
        raise DataError(f"no row with weight is of class {name!r}: a threshold needs rows of both classes")
    # From the highest share to the lowest, one step for each different one: each adds rows predicted positive.
    order = np.argsort(-shares, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(shares[order]) != 0, True))
    distinct = shares[order][ends]
    tp, fp = (np.cumsum(np.where(is_positive == truth, weight, 0.0)[order])[ends] for truth in (True, False))
    # A threshold above a share and up to the next higher one predicts from the higher one on.
    low, high = np.append(distinct[1:], 0.0), distinct
    if distinct[0] < 1.0:  # no row is predicted positive
        low, high, tp, fp = (
            np.append(first, all_) for first, all_ in ((distinct[0], low), (1.0, high), (0.0, tp), (0.0, fp))
        )
    theory = aim.fp / (aim.fp + aim.fn) if aim.wish == "cost" else None
    thresholds = np.array([_within(*ends, theory) for ends in zip(low.tolist(), high.tolist(), strict=True)])
    thresholds, tp, fp = thresholds[::-1], tp[::-1], fp[::-1]
    fn, tn = totals[0] - tp, totals[1] - fp
    at = _best(aim, thresholds, tp, fp, fn)
    is_usual = shares > 0.5 if code else shares >= 0.5
    cost_each = (aim.fp, aim.fn) if aim.wish == "cost" else None
    kept = Threshold(code, float(thresholds[at]), f"{aim}, judged {_where(n_folds)}", cost_each)
    n_usual = len(np.unique(shares[is_usual]))
    return ThresholdChoice(
        thresholds=thresholds,
        tp=tp,
        fp=fp,
        fn=np.maximum(fn, 0.0),
        tn=np.maximum(tn, 0.0),
        chosen=at,
        aim=str(aim),
        positive=model.classes[0].tolist()[code],
        negative=model.classes[0].tolist()[1 - code],
        usual=len(distinct) - n_usual,
        n_folds=n_folds,
        cost_each=cost_each,
        model=replace(model, threshold=kept),
    )


def _best(aim: Aim, thresholds: np.ndarray, tp: np.ndarray, fp: np.ndarray, fn: np.ndarray) -> int:
    """The position of the best threshold for an aim."""
    if aim.wish == "cost":
        cost = aim.fp * fp + aim.fn * fn
        equal = np.flatnonzero(cost <= cost.min() + _SAME * (aim.fp * fp.max() + aim.fn * fn.max()))
        return int(equal[np.abs(thresholds[equal] - aim.fp / (aim.fp + aim.fn)).argmin()])
    precision, recall = _share(tp, tp + fp), _share(tp, tp + fn)
    reached, other = (precision, recall) if aim.wish == "precision" else (recall, precision)
    enough = np.flatnonzero(reached >= aim.least * (1 - _SAME))
    if not len(enough):
        best = int(np.nanargmax(reached))
        raise DataError(
            f"no threshold reaches a {aim}: the highest is {reached[best]:.4g}, at a threshold of "
            f"{thresholds[best]:g}; require less, or give more rows or columns"
        )
    return int(enough[np.lexsort((reached[enough], other[enough]))[-1]])


def _within(low: float, high: float, theory: float | None) -> float:
    """The threshold in (low, high] with the fewest digits, near the theoretical one or else near the middle.

    The middle if the theoretical one is not between them: new rows near either end then fall on that side.
    """
    middle = theory if theory is not None and low < theory <= high else (low + high) / 2
    for digits in range(1, 18):
        # The digit below as well: if the theory is the upper end itself, every rounding up lies beyond it.
        for near in (round(middle, digits), round(middle - 10.0**-digits, digits)):
            if low < near <= high:
                return near
    return high


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """``part / whole``; nan where ``whole`` is 0."""
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)
