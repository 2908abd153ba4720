"""Measures by name, each with its 95 % interval over the rows. In: true and predicted values. Out: figures.

Names are scikit-learn's, without ``neg_``; ``cost`` and ``class_weighted_accuracy`` are ours. A *cost matrix* states
what it costs to predict one class for a row of another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from treewright.core.confidence import mean_interval, r2_interval, share_interval
from treewright.core.elementary import exp_of, log_of
from treewright.data.cells import is_hashable, shown
from treewright.data.matching import did_you_mean
from treewright.exceptions import ParameterError, setting
from treewright.judge.scores import are_right, explained, share_right
from treewright.judge.shares import log_loss_of
from treewright.judge.uncertainty import rows_worth
from treewright.tree.writing import shorten, written_level

TWO = 2
MOST_COST = 1e100  # so that the sum of the costs of all rows stays within float64
_Z = 1.959963984540054  # of a 95 % interval
_LEAST_LOGIT = 1e-9  # nearer to 0 or 1 the logistic scale has no interval


class Said(NamedTuple):
    """Some rows with their predictions.

    Attributes
    ----------
    truth, said : int64[n] codes of classes, or float64[n, n_outputs]
    shares : float64[n, k] or None
        The probabilities of the classes.
    weights : float64[n], > 0, or None
    """

    truth: np.ndarray
    said: np.ndarray
    shares: np.ndarray | None
    weights: np.ndarray | None

    @property
    def share(self) -> np.ndarray:
        """float64[n]: the share of each row in the sum of the weights."""
        if self.weights is None:
            return np.full(len(self.truth), 1.0 / len(self.truth))
        parts = self.weights / self.weights.max()
        return np.asarray(parts / parts.sum())

    @property
    def worth(self) -> float:
        """The effective number of rows."""
        return rows_worth(len(self.truth), self.weights)

    def worth_of(self, rows: np.ndarray) -> float:
        """The effective number of some rows, bool[n]."""
        return rows_worth(int(rows.sum()), None if self.weights is None else self.weights[rows])


Figure = tuple[float, float, float]  # a value, and both ends of its interval: nan if the rows do not determine it
NOTHING: Figure = (math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class Measure:
    """A measure of predictions.

    Attributes
    ----------
    name : str
    words : str
        As it is shown.
    sign : int
        -1 if less is better, else 1.
    of_shares : bool
        Whether it needs probabilities.
    work : function of the rows
        Its value, and the ends of its interval.
    """

    name: str
    words: str
    sign: int
    of_shares: bool
    work: Callable[[Said], Figure]


def cost_matrix(cost: Any, labels: Sequence[Any], positive: Any = None) -> np.ndarray:
    """What each mistake costs: float64[k, k], by true class and predicted class.

    Parameters
    ----------
    cost : mapping or list of lists
        ``{"fp": 1, "fn": 5}`` for two classes; ``{"good": {"bad": 1}, "bad": {"good": 5}}``, the true class first; or a
        row of numbers for each true class, in the order of the classes.
    labels : sequence of k class labels
    positive : class label, optional
        The one that fp and fn are about; by default the second.

    Examples
    --------
    >>> cost_matrix({"fp": 1, "fn": 5}, ["good", "bad"]).tolist()
    [[0.0, 1.0], [5.0, 0.0]]
    >>> cost_matrix({"bad": {"good": 5}, "good": {"bad": 1}}, ["bad", "good"]).tolist()
    [[0.0, 5.0], [1.0, 0.0]]
    """
    k = len(labels)
    forms = "{'fp': 1, 'fn': 5}, {true class: {predicted class: cost}}, or a row of numbers for each true class"
    found = np.full((k, k), np.nan)
    np.fill_diagonal(found, 0.0)
    if isinstance(cost, Mapping) and set(cost) == {"fp", "fn"} and not isinstance(cost["fp"], Mapping):
        if k != TWO:
            raise ParameterError(f"cost={shown(cost)}: fp and fn are for two classes, and there are {k}: give {forms}")
        at = 1 if positive is None else place_of(positive, labels, "positive")
        found[1 - at, at], found[at, 1 - at] = _cost(cost["fp"]), _cost(cost["fn"])
    elif isinstance(cost, Mapping) and cost and all(isinstance(row, Mapping) for row in cost.values()):
        for true, row in cost.items():
            for said, value in row.items():
                found[place_of(true, labels, "cost"), place_of(said, labels, "cost")] = _cost(value)
    elif isinstance(cost, list | tuple | np.ndarray) and np.shape(cost) == (k, k):
        found = np.array([[_cost(value) for value in row] for row in cost])
    else:
        raise ParameterError(f"cost={shown(cost)}: give {forms}; there are {k} classes")
    if np.isnan(found).any():
        true, said = (labels[at] for at in np.argwhere(np.isnan(found))[0])
        raise ParameterError(
            f"cost={shown(cost)} has no cost of predicting {said!r} for a row of {true!r}: give one for every mistake"
        )
    if not found.any():
        raise ParameterError(f"cost={shown(cost)}: no mistake costs anything: give one a cost above 0")
    return found


def place_of(label: Any, labels: Sequence[Any], what: str) -> int:
    """The position of a class label, also written as text; an unknown one is refused."""
    known = list(labels)
    places = {own: at for at, own in enumerate(known)}
    if is_hashable(label) and label in places:
        return places[label]
    as_texts = [str(own) for own in known]
    for text in (label, label.capitalize()) if isinstance(label, str) else ():  # true for True
        if as_texts.count(text) == 1:
            return as_texts.index(text)
    some = ", ".join(map(repr, known[:10])) + (", ..." if len(known) > 10 else "")
    raise ParameterError(f"{what} names {shown(label)}, which is not a class: the classes are {some}", parameter=what)


def measures_of_classes(
    labels: Sequence[Any],
    *,
    positive: Any = None,
    cost: np.ndarray | None = None,
    factors: np.ndarray | None = None,
) -> dict[str, Measure]:
    """The measures of a classification by name.

    Parameters
    ----------
    labels : sequence of k class labels
    positive : class label, optional
        For measures of one of two classes; by default the second.
    cost : float64[k, k], optional
        As ``cost_matrix`` makes it.
    factors : float64[k], optional
        The weight of each class at the fit, if ``class_weight`` gave some.
    """
    k = len(labels)
    found = [
        Measure("accuracy", "accuracy", 1, False, _accuracy),
        Measure("balanced_accuracy", "balanced accuracy", 1, False, lambda rows: _of_recalls(rows, np.ones(k))),
        Measure("roc_auc", "ROC AUC", 1, True, _area),
        Measure("log_loss", "log loss", -1, True, _log_loss),
    ]
    if k == TWO:
        at = 1 if positive is None else place_of(positive, labels, "positive")
        name = shorten(written_level(labels[at]), 24)
        found += [
            Measure("f1", f"F1 of {name}", 1, False, lambda rows: _f1(rows, at)),
            Measure("precision", f"precision of {name}", 1, False, lambda rows: _hit(rows, rows.said == at)),
            Measure("recall", f"recall of {name}", 1, False, lambda rows: _hit(rows, rows.truth == at)),
        ]
    elif k > TWO:
        found.append(Measure("f1_macro", "macro F1", 1, False, _f1_macro))
    if factors is not None:
        words = "accuracy by class_weight"
        found.append(Measure("class_weighted_accuracy", words, 1, False, lambda rows: _of_weighed(rows, factors)))
    if cost is not None:
        found.append(Measure("cost", "cost per row", -1, False, lambda rows: _of_costs(rows, cost)))
    return {each.name: each for each in found}


def measure_named(name: Any, measures: Mapping[str, Measure]) -> Measure:
    """The measure with a name of scikit-learn's; an unknown one is refused."""
    plain = name.removeprefix("neg_") if isinstance(name, str) else name
    if isinstance(plain, str) and plain in measures:
        return measures[plain]
    more = ": give the costs of mistakes as well" if plain == "cost" else ""
    guess = did_you_mean(str(name), measures)
    raise ParameterError(
        setting("measure", name), f": no such measure here{more or guess}; there are {', '.join(measures)}",
        parameter="measure",
    )  # fmt: skip


def own_choice(factors: np.ndarray | None, class_weight: Any, *, has_cost: bool, is_classification: bool) -> str:
    """The name of the measure by which a model was chosen: costs, else its weights of classes, else the usual one."""
    if not is_classification:
        return "r2"
    if has_cost:
        return "cost"
    if factors is None:
        return "accuracy"
    return "balanced_accuracy" if isinstance(class_weight, str) else "class_weighted_accuracy"


def _cost(value: Any) -> float:
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= MOST_COST:
        raise ParameterError(f"a cost of {shown(value)}: give a number from 0 to {MOST_COST:g}", parameter="cost")
    return float(value)


def _accuracy(rows: Said) -> Figure:
    value = share_right(rows.truth, rows.said, rows.weights)
    return value, *share_interval(value, rows.worth)


def _hit(rows: Said, among: np.ndarray) -> Figure:
    """The share of correct rows among some, bool[n]."""
    if not among.any():
        return NOTHING
    value = float(np.average(are_right(rows.truth, rows.said)[among], weights=rows.share[among]))
    return value, *share_interval(value, rows.worth_of(among))


def _of_recalls(rows: Said, counting: np.ndarray) -> Figure:
    """A mean of the recalls of the classes that occur, each counting so much.

    Interval: each recall's own (Wilson 1927), combined as for a sum of independent figures (MOVER: Zou and Donner 2008,
    Statistics in Medicine 27, 1693-1702), so that it is right for few rows and near 0 and 1.
    """
    held = [(code, *_hit(rows, rows.truth == code)) for code in np.unique(rows.truth).tolist()]
    parts = np.array([counting[code] for code, *_ in held])
    if not parts.sum() > 0:
        return NOTHING
    return _sum_of(parts / parts.sum(), np.array([figure for _, *figure in held]))


def _sum_of(parts: np.ndarray, figures: np.ndarray) -> Figure:
    """Multiples, all >= 0, of independent figures float64[m, 3], added."""
    value = float((parts * figures[:, 0]).sum())
    below, above = (float(np.sqrt((parts**2 * (figures[:, end] - figures[:, 0]) ** 2).sum())) for end in (1, 2))
    return value, value - below, value + above


def _of_weighed(rows: Said, factors: np.ndarray) -> Figure:
    """Accuracy if each row counts as often as its class."""
    held = np.bincount(rows.truth, rows.share, minlength=len(factors))
    return _of_recalls(rows, held * factors)


def _of_costs(rows: Said, cost: np.ndarray) -> Figure:
    """The mean cost of a row.

    Interval: of the share of the rows at each cost (Wilson), combined as in ``_of_recalls``. If all mistakes cost 1 it
    is that of the share of wrong rows.
    """
    each = cost[rows.truth, rows.said]
    paid = np.unique(each[each > 0])
    if not len(paid):  # no row costs anything: the upper end is that of the dearest mistake
        return 0.0, 0.0, float(cost.max()) * share_interval(0.0, rows.worth)[1]
    shares = [float(rows.share[each == price].sum()) for price in paid.tolist()]
    value, low, high = _sum_of(paid, np.array([(at, *share_interval(min(at, 1.0), rows.worth)) for at in shares]))
    return value, max(low, 0.0), min(high, max(float(cost.max()), value))


def _f1(rows: Said, at: int) -> Figure:
    """F1 of a class: 2 J / (1 + J), where J is the share of its correct rows among all that are it or predicted it."""
    value, low, high = _hit(rows, (rows.truth == at) | (rows.said == at))
    return 2 * value / (1 + value), 2 * low / (1 + low), 2 * high / (1 + high)


def _f1_macro(rows: Said) -> Figure:
    values, moves = [], []
    for code in np.unique(np.concatenate([rows.truth, rows.said])).tolist():
        is_so, is_said = rows.truth == code, rows.said == code
        both = 2.0 * (is_so & is_said)
        either = is_so.astype(np.float64) + is_said
        held = float((rows.share * either).sum())
        values.append(float((rows.share * both).sum()) / held)
        moves.append(rows.share * (both - values[-1] * either) / held)
    return _by_moves(float(np.mean(values)), np.mean(moves, axis=0), rows.worth)


def _area(rows: Said) -> Figure:
    """Area under the ROC curve; of more than two classes the mean over those that occur, each against the rest.

    Interval: DeLong, DeLong and Clarke-Pearson 1988 (Biometrics 44, 837-845), on the logistic scale.
    """
    if rows.shares is None:
        return NOTHING
    k = rows.shares.shape[1]
    areas, moves, fewest = [], [], math.inf
    for code in [1] if k == TWO else range(k):
        is_so = rows.truth == code
        if not is_so.any() or is_so.all():
            continue
        area, move = _area_of(is_so, rows.shares[:, code], rows.share)
        areas.append(area)
        moves.append(move)
        fewest = min(fewest, rows.worth_of(is_so), rows.worth_of(~is_so))
    if not areas:
        return NOTHING
    return _by_moves(float(np.mean(areas)), np.mean(moves, axis=0), fewest)


def _area_of(is_so: np.ndarray, score: np.ndarray, share: np.ndarray) -> tuple[float, np.ndarray]:
    """The area of one class, and how far each row moves it, float64[n]."""
    _, place = np.unique(score, return_inverse=True)
    so, other = (np.bincount(place, np.where(rows, share, 0.0)) for rows in (is_so, ~is_so))
    n_so, n_other = so.sum(), other.sum()
    below = (np.cumsum(other) - other / 2) / n_other  # of the other rows, for each score
    above = 1.0 - (np.cumsum(so) - so / 2) / n_so
    area = float((so * below).sum() / n_so)
    return area, np.where(is_so, share / n_so * (below[place] - area), share / n_other * (above[place] - area))


def _by_moves(value: float, moves: np.ndarray, n: float) -> Figure:
    """The interval of a figure from 0 to 1 by how far each row moves it, to first order, on the logistic scale.

    At 0 and 1, where no row moves it, it is that of a share of n rows: wider than needed, and never of no width.
    """
    if not _LEAST_LOGIT < value < 1 - _LEAST_LOGIT:
        value = min(max(value, 0.0), 1.0)
        return value, *share_interval(value, n)
    spread = _Z * math.sqrt(float((moves**2).sum())) / (value * (1 - value))
    odds = value / (1 - value)
    low, high = (odds * exp_of([-spread, spread])).tolist()
    return value, low / (1 + low), high / (1 + high) if math.isfinite(high) else 1.0


def _log_loss(rows: Said) -> Figure:
    if rows.shares is None:
        return NOTHING
    least = float(np.finfo(np.float64).eps)
    true = np.clip(rows.shares, 0.0, 1.0)
    true = true[np.arange(len(true)), rows.truth] / true.sum(axis=1)
    value = log_loss_of(rows.truth, rows.shares, rows.weights)
    return _of_mean(-log_of(np.clip(true, least, 1.0 - least)), rows, value)


def _of_mean(each: np.ndarray, rows: Said, value: float | None = None) -> Figure:
    """The mean of numbers >= 0 float64[n], with Student's interval."""
    mean = float((rows.share * each).sum())
    found = mean_interval(mean, float((rows.share * (each - mean) ** 2).sum()), rows.worth)
    low, high = (math.nan, math.nan) if found is None else (max(found[0], 0.0), found[1])
    return mean if value is None else value, low, high


def _r2(rows: Said) -> Figure:
    value = float(explained(rows.truth, rows.said, rows.weights))
    return value, *r2_interval(rows.truth, rows.said, rows.weights, value)


def _error(rows: Said, of: Callable[[np.ndarray], np.ndarray]) -> Figure:
    with np.errstate(over="ignore", invalid="ignore"):
        return _of_mean(of(rows.truth - rows.said).mean(axis=1), rows)


MEASURES_OF_NUMBERS: dict[str, Measure] = {
    each.name: each
    for each in (
        Measure("r2", "R2", 1, False, _r2),
        Measure("mean_squared_error", "mean squared error", -1, False, lambda rows: _error(rows, np.square)),
        Measure("mean_absolute_error", "mean absolute error", -1, False, lambda rows: _error(rows, np.abs)),
    )
}
