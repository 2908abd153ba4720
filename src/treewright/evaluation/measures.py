"""Measures of predictions. In: true and predicted values. Out: scores by name, some with a 95 % interval over the rows.

Three parts: scores of predicted probabilities, scores that are added up in blocks, and measures by name.

Accuracy says little about unequal classes: a model that never predicts the rare class is correct for all others. So
scores of the ranking and of the calibration are added. Report and command line use them; they are scikit-learn's, also
for the cases that it refuses. Names of measures are scikit-learn's too, without ``neg_``; ``cost`` and
``class_weighted_accuracy`` are ours. A *cost matrix* states what it costs to predict one class for a row of another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl

from treewright.core.confidence import mean_interval, r2_interval, share_interval, wilson_interval
from treewright.core.elementary import exp_of, log_of
from treewright.data.cells import is_hashable, shown
from treewright.data.schema import did_you_mean
from treewright.evaluation.scores import accuracy, are_correct, r2, rows_worth
from treewright.exceptions import ParameterError, setting
from treewright.trees.summary import counted
from treewright.trees.writing import shorten, written_level

TWO = 2
_FEW = 0.5  # times the share of a class if all were equal
_BINS = 10
_MOST_RANKED = 500  # the most classes for one-vs-rest rankings: 10,000 would take a minute


# Scores of probabilities ----------------------------------------------------------------------------------------------


def are_unequal(counts: dict[object, int]) -> bool:
    """Whether the rarest class has less than half of an equal share: below 25 % for two classes, 16.7 % for three."""
    return len(counts) > 1 and min(counts.values()) * len(counts) < _FEW * sum(counts.values())


def log_loss_of(truth: np.ndarray, shares: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Mean of -ln of the true class's probability, in nats; ``truth`` int64[n] codes, ``shares`` float64[n, k]."""
    from sklearn.metrics import log_loss

    # A mean of probabilities may be above 1 in its last digit, which scikit-learn refuses.
    shares = np.clip(shares, 0.0, 1.0)
    return float(log_loss(truth, shares, labels=np.arange(shares.shape[1]), sample_weight=weights))


def brier_score_of(truth: np.ndarray, shares: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Mean squared error of the probabilities (Brier 1950); for two classes that of the second, as is usual."""
    from sklearn.metrics import mean_squared_error

    k = shares.shape[1]
    each = mean_squared_error(np.eye(k)[truth], shares, sample_weight=weights, multioutput="raw_values")
    return float(each[1] if k == TWO else each.sum())


def calibration_error_of(is_so: np.ndarray, share: np.ndarray) -> float:
    """Mean distance between a class's proportion and its predicted probability, over ten bins of equal width.

    The expected calibration error of Naeini, Cooper and Hauskrecht (2015, "Obtaining well calibrated probabilities
    using Bayesian binning", AAAI); ``is_so`` bool[n], ``share`` float64[n].
    """
    bins = np.minimum((np.clip(share, 0.0, 1.0) * _BINS).astype(np.int64), _BINS - 1)
    said = np.bincount(bins, weights=share, minlength=_BINS)
    true = np.bincount(bins, weights=is_so.astype(np.float64), minlength=_BINS)
    return float(np.abs(said - true).sum() / len(share))


@dataclass
class ShareScore:
    """Scores of probabilities that are added in blocks. All are kept, 8 bytes per class and row: ranks need them.

    ``are_probabilities``: whether they are probabilities, not shares of votes, so that they can be compared with
    frequencies.
    """

    are_probabilities: bool = True
    _place: dict[object, int] = field(default_factory=dict)  # of every label, true or known to a model
    _blocks: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list)

    def add(self, truth: pl.Series, shares: np.ndarray, labels: list[object]) -> None:
        """Add some rows: their true labels, and a model's probabilities of ``labels``.

        Models of several folds may have different labels; a label that a model does not have gets the probability 0.
        """
        columns, codes = (
            np.array([self._place.setdefault(label, len(self._place)) for label in each], np.int64)
            for each in (labels, truth.to_list())
        )
        self._blocks.append((codes, np.asarray(shares, np.float64), columns))

    def _rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Codes int64[n] and probabilities float64[n, n_labels] of all rows."""
        codes = np.concatenate([codes for codes, _, _ in self._blocks])
        shares = np.zeros((len(codes), len(self._place)))
        at = 0
        for _, block, columns in self._blocks:
            shares[at : at + len(block), columns] = block
            at += len(block)
        return codes, shares

    def measures(self) -> dict[str, float]:
        """Scores by name; none for a class without rows, or that has all rows.

        For two classes ROC AUC and average precision are those of the rarer one, for more the mean over the classes
        that occur, each against the rest.
        """
        if not self._blocks:  # the score of a constant prediction
            return {}
        from sklearn.metrics import average_precision_score, roc_auc_score

        codes, shares = self._rows()
        counts = np.bincount(codes, minlength=shares.shape[1])
        ranked = [place for place in range(len(counts)) if 0 < counts[place] < len(codes)]
        if len(counts) == len(ranked) == TWO:
            ranked = [int(counts.argmin()) if counts[0] != counts[1] else 1]
        if len(ranked) > _MOST_RANKED:
            ranked = []
        found = {}
        if ranked:
            areas = [roc_auc_score(codes == place, shares[:, place]) for place in ranked]
            precisions = [average_precision_score(codes == place, shares[:, place]) for place in ranked]
            found = {"ROC AUC": float(np.mean(areas)), "average precision": float(np.mean(precisions))}
        if not self.are_probabilities or len(counts) < TWO:
            return found
        found |= {"log loss": log_loss_of(codes, shares), "Brier score": brier_score_of(codes, shares)}
        if ranked:
            each = [calibration_error_of(codes == place, shares[:, place]) for place in ranked]
            found["calibration error"] = float(np.mean(each))
        return found


MOST_SQUARE = 200  # the most classes for a square confusion matrix: that of 10,000 would be half a gigabyte


# Scores of predictions that are added in blocks: memory does not grow with the rows -----------------------------------


@dataclass
class LabelScore:
    """Counts of true and predicted labels.

    ``shares``: scores of the class probabilities of the same rows, if they were requested.
    """

    name: ClassVar[str] = "accuracy"
    digits: ClassVar[str] = ".3f"
    counts: dict[tuple[object, object], int] = field(default_factory=dict)
    shares: ShareScore | None = None

    def add(self, truth: pl.Series | np.ndarray, predicted: np.ndarray) -> None:
        """Count some rows."""
        true_labels = truth if isinstance(truth, pl.Series) else label_series("true", truth)
        pairs = pl.DataFrame({"true": true_labels, "predicted": label_series("predicted", predicted)})
        for true, guess, count in pairs.group_by("true", "predicted").len().iter_rows():
            self.counts[true, guess] = self.counts.get((true, guess), 0) + count

    def add_constant(self, truth: pl.Series, learned: pl.Series) -> None:
        """Count some rows, with the most frequent training label as the prediction."""
        constant = label_counts(learned)[0][0]
        self.add(truth, np.full(len(truth), constant, dtype=object if isinstance(constant, str) else None))

    @property
    def n(self) -> int:
        """The number of rows."""
        return sum(self.counts.values())

    @property
    def right(self) -> int:
        """The number of correct predictions."""
        return sum(count for (true, guess), count in self.counts.items() if true == guess)

    @property
    def main(self) -> float:
        """The accuracy."""
        return self.right / self.n

    @property
    def balanced_accuracy(self) -> float:
        """The mean recall of the classes that occur."""
        true = self.true_totals()
        return sum(self.counts.get((label, label), 0) / n for label, n in true.items()) / len(true)

    def f1(self, label: object) -> float:
        """Harmonic mean of a label's precision and recall; nan if it neither occurs nor is predicted."""
        either = self.true_totals().get(label, 0) + self.predicted_totals().get(label, 0)
        return 2 * self.counts.get((label, label), 0) / either if either else float("nan")

    def measures(self) -> dict[str, float]:
        """Further scores by name, with those of probabilities if they were requested."""
        return {"balanced accuracy": self.balanced_accuracy, **(self.shares.measures() if self.shares else {})}

    def line(self, what: str) -> str:
        """Accuracy with its interval."""
        low, high = wilson_interval(self.right, self.n)
        return f"{what} {self.main:.3f} ({self.right} of {self.n} correct; 95 % interval {low:.3f} to {high:.3f})"

    def facts(self) -> dict[str, Any]:
        """JSON values: the accuracy with its interval, each class, and the pairs of true and predicted class."""
        true, predicted = self.true_totals(), self.predicted_totals()
        classes = sorted({*true, *predicted}, key=lambda label: (str(type(label)), label))
        low, high = wilson_interval(self.right, self.n)
        each = []
        for label in classes:
            right, n_true, n_predicted = self.counts.get((label, label), 0), true.get(label, 0), predicted.get(label, 0)
            each.append(
                {
                    "class": plain_label(label),
                    "n_rows": n_true,
                    "n_predicted": n_predicted,
                    "n_correct": right,
                    "n_right": right,  # the former name, for one version more
                    "precision": right / n_predicted if n_predicted else None,
                    "recall": right / n_true if n_true else None,
                    "f1": 2 * right / (n_true + n_predicted),
                }
            )
        return {
            "n_rows": self.n,
            "n_correct": self.right,
            "n_right": self.right,  # the former name, for one version more
            "accuracy": self.main,
            "accuracy_interval": [low, high],
            **{name.lower().replace(" ", "_"): value for name, value in self.measures().items()},
            "classes": each,
            **self._pairs(classes),
        }

    def _pairs(self, classes: list[Any]) -> dict[str, Any]:
        """Rows by true and predicted class: a square, or for many classes the pairs that occur."""
        if len(classes) <= MOST_SQUARE:
            return {"confusion": [[self.counts.get((true, guess), 0) for guess in classes] for true in classes]}
        place = {label: at for at, label in enumerate(classes)}
        pairs = sorted([place[true], place[guess], count] for (true, guess), count in self.counts.items())
        return {"confusion": None, "confused": pairs}

    def true_totals(self) -> dict[object, int]:
        """Rows per true label."""
        return _totals(self.counts, 0)

    def predicted_totals(self) -> dict[object, int]:
        """Rows per predicted label."""
        return _totals(self.counts, 1)


@dataclass
class NumberScore:
    """Sums over true and predicted numbers.

    Squares around the mean are merged block by block as in Chan, Golub and LeVeque 1983 (Am. Stat. 37, 242-247).
    """

    name: ClassVar[str] = "R2"
    digits: ClassVar[str] = ".3f"
    n: int = 0
    _mean: float = 0.0
    _around_mean: float = 0.0
    _squared: float = 0.0
    _absolute: float = 0.0

    def add(self, truth: pl.Series | np.ndarray, predicted: np.ndarray) -> None:
        """Sum over some rows."""
        if not len(truth):
            return
        truth = _numbers(truth)
        errors = truth - predicted.astype(np.float64)
        total, mean = self.n + len(truth), float(truth.mean())
        apart = mean - self._mean
        self._around_mean += float(((truth - mean) ** 2).sum()) + apart * apart * self.n * len(truth) / total
        self._mean += apart * len(truth) / total
        self.n = total
        self._squared += float((errors**2).sum())
        self._absolute += float(np.abs(errors).sum())

    def add_constant(self, truth: pl.Series, learned: pl.Series) -> None:
        """Sum over some rows, with the mean of the training targets as the prediction."""
        self.add(truth, np.full(len(truth), float(_numbers(learned).mean())))

    @property
    def main(self) -> float:
        """R2, the share of the variance explained; nan if the true values are all the same."""
        return 1 - self._squared / self._around_mean if self._around_mean > 0 else float("nan")

    @property
    def absolute_error(self) -> float:
        """Mean absolute error."""
        return self._absolute / self.n

    @property
    def root_squared_error(self) -> float:
        """Root of the mean squared error."""
        return sqrt(self._squared / self.n)

    def facts(self) -> dict[str, Any]:
        """JSON values: R2 (None if the true values are all the same) and the errors."""
        return {
            "n_rows": self.n,
            "r2": self.main if isfinite(self.main) else None,
            "mean_absolute_error": self.absolute_error,
            "root_mean_squared_error": self.root_squared_error,
        }

    def line(self, what: str) -> str:
        """R2 and both errors, as text."""
        return (
            f"{what} R2 {self.main:.3f}, mean absolute error {self.absolute_error:.4g}, "
            f"root mean squared error {self.root_squared_error:.4g} ({counted(self.n, 'row')})"
        )


@dataclass
class QuantileScore:
    """Counts and sums over true numbers and predicted quantiles."""

    name: ClassVar[str] = "pinball loss"
    digits: ClassVar[str] = ".4g"
    levels: tuple[float, ...]
    n: int = 0
    _pinball: float = 0.0
    _not_above: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self._not_above = np.zeros(len(self.levels), np.int64)

    def add(self, truth: pl.Series | np.ndarray, predicted: np.ndarray) -> None:
        """Sum over some rows; ``predicted`` is float64[n, n_levels], or float64[n] of one level."""
        rest = _numbers(truth)[:, np.newaxis] - predicted.reshape(len(truth), len(self.levels))
        levels = np.array(self.levels)
        self.n += len(truth)
        self._pinball += float(np.maximum(levels * rest, (levels - 1.0) * rest).sum())
        self._not_above += (rest <= 0.0).sum(axis=0)

    def add_constant(self, truth: pl.Series, learned: pl.Series) -> None:
        """Sum over some rows, with the quantiles of the training targets as the prediction."""
        self.add(truth, np.tile(np.quantile(_numbers(learned), self.levels), (len(truth), 1)))

    @property
    def main(self) -> float:
        """Mean over rows and levels of the distance times the level, or times 1 - level if the true value is below."""
        return self._pinball / (self.n * len(self.levels))

    def facts(self) -> dict[str, Any]:
        """JSON values: the loss, and the share of the rows not above each quantile."""
        return {
            "n_rows": self.n,
            "mean_pinball_loss": self.main,
            "quantiles": list(self.levels),
            "share_not_above": [count / self.n for count in self._not_above.tolist()],
        }

    def line(self, what: str) -> str:
        """The loss, and for each level the share of the rows not above its quantile, which should be the level."""
        levels = ", ".join(f"{level:g}" for level in self.levels)
        shares = ", ".join(f"{count / self.n:.3f}" for count in self._not_above)
        return (
            f"{what} mean pinball loss {self.main:.4g}; share of rows not above quantile {levels}: {shares} "
            f"({counted(self.n, 'row')})"
        )


Score = LabelScore | NumberScore | QuantileScore


def label_series(name: str, labels: np.ndarray) -> pl.Series:
    """Labels as a column: numbers, booleans and dates unchanged, everything else as text."""
    if labels.dtype.kind in "iufbM":
        return pl.Series(name, labels)
    texts = [label.decode("utf-8", "backslashreplace") if isinstance(label, bytes) else str(label) for label in labels]
    return pl.Series(name, texts, pl.String)


def plain_label(label: object) -> object:
    """A label as a JSON value: numbers, booleans and texts unchanged, everything else as text."""
    if isinstance(label, float) and not isfinite(label):
        return str(label)
    return label if isinstance(label, bool | int | float | str) else str(label)


def label_counts(labels: pl.Series) -> list[tuple[object, int]]:
    """Distinct labels and how often they occur: the most frequent first, then in their own order."""
    counts = labels.alias("label").value_counts(name="rows").sort(["rows", "label"], descending=[True, False])
    return [(label, int(count)) for label, count in counts.iter_rows()]


def _numbers(values: pl.Series | np.ndarray) -> np.ndarray:
    """float64[n]: a column of numbers."""
    return values.cast(pl.Float64).to_numpy() if isinstance(values, pl.Series) else values.astype(np.float64)


def _totals(counts: dict[tuple[object, object], int], side: int) -> dict[object, int]:
    """Rows per true or per predicted label, by ``side`` of the pairs."""
    totals: dict[object, int] = {}
    for pair, count in counts.items():
        totals[pair[side]] = totals.get(pair[side], 0) + count
    return totals


MOST_COST = 1e100  # so that the sum of the costs of all rows stays within float64
_Z = 1.959963984540054  # of a 95 % interval
_LEAST_LOGIT = 1e-9  # nearer to 0 or 1 the logistic scale has no interval


# Measures by name, each with its interval -----------------------------------------------------------------------------


class Predicted(NamedTuple):
    """Some rows with their predictions.

    ``truth``, ``predicted`` (int64[n] codes of classes, or float64[n, n_outputs]).
    ``shares`` (float64[n, k] or None): the probabilities of the classes.
    ``weights`` (float64[n], > 0, or None).
    """

    truth: np.ndarray
    predicted: np.ndarray
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

    ``sign``: -1 if less is better, else 1.
    ``work``: its value, and the ends of its interval.
    """

    name: str
    words: str
    sign: int
    of_shares: bool
    work: Callable[[Predicted], Figure]


def cost_matrix(cost: Any, labels: Sequence[Any], positive: Any = None) -> np.ndarray:
    """What each mistake costs: float64[k, k], by true class and predicted class.

    ``cost``, ``{"fp": 1, "fn": 5}`` for two classes; ``{"good": {"bad": 1}, "bad": {"good": 5}}``, the true class
    first; or a row of numbers for each true class, in the order of the classes. ``positive``: the one that fp and fn
    are about; by default the second.
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

    ``positive``: for measures of one of two classes; by default the second. ``cost`` (float64[k, k]): as
    ``cost_matrix`` makes it. ``factors`` (float64[k]): the weight of each class at the fit, if ``class_weight`` gave
    some.
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
            Measure("precision", f"precision of {name}", 1, False, lambda rows: _hit(rows, rows.predicted == at)),
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


def _accuracy(rows: Predicted) -> Figure:
    value = accuracy(rows.truth, rows.predicted, rows.weights)
    return value, *share_interval(value, rows.worth)


def _hit(rows: Predicted, among: np.ndarray) -> Figure:
    """The share of correct rows among some, bool[n]."""
    if not among.any():
        return NOTHING
    value = float(np.average(are_correct(rows.truth, rows.predicted)[among], weights=rows.share[among]))
    return value, *share_interval(value, rows.worth_of(among))


def _of_recalls(rows: Predicted, counting: np.ndarray) -> Figure:
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


def _of_weighed(rows: Predicted, factors: np.ndarray) -> Figure:
    """Accuracy if each row counts as often as its class."""
    held = np.bincount(rows.truth, rows.share, minlength=len(factors))
    return _of_recalls(rows, held * factors)


def _of_costs(rows: Predicted, cost: np.ndarray) -> Figure:
    """The mean cost of a row.

    Interval: of the share of the rows at each cost (Wilson), combined as in ``_of_recalls``. If all mistakes cost 1 it
    is that of the share of wrong rows.
    """
    each = cost[rows.truth, rows.predicted]
    paid = np.unique(each[each > 0])
    if not len(paid):  # no row costs anything: the upper end is that of the dearest mistake
        return 0.0, 0.0, float(cost.max()) * share_interval(0.0, rows.worth)[1]
    shares = [float(rows.share[each == price].sum()) for price in paid.tolist()]
    value, low, high = _sum_of(paid, np.array([(at, *share_interval(min(at, 1.0), rows.worth)) for at in shares]))
    return value, max(low, 0.0), min(high, max(float(cost.max()), value))


def _f1(rows: Predicted, at: int) -> Figure:
    """F1 of a class: 2 J / (1 + J), where J is the share of its correct rows among all that are it or predicted it."""
    value, low, high = _hit(rows, (rows.truth == at) | (rows.predicted == at))
    return 2 * value / (1 + value), 2 * low / (1 + low), 2 * high / (1 + high)


def _f1_macro(rows: Predicted) -> Figure:
    values, moves = [], []
    for code in np.unique(np.concatenate([rows.truth, rows.predicted])).tolist():
        is_so, is_said = rows.truth == code, rows.predicted == code
        both = 2.0 * (is_so & is_said)
        either = is_so.astype(np.float64) + is_said
        held = float((rows.share * either).sum())
        values.append(float((rows.share * both).sum()) / held)
        moves.append(rows.share * (both - values[-1] * either) / held)
    return _by_moves(float(np.mean(values)), np.mean(moves, axis=0), rows.worth)


def _area(rows: Predicted) -> Figure:
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


def _log_loss(rows: Predicted) -> Figure:
    if rows.shares is None:
        return NOTHING
    least = float(np.finfo(np.float64).eps)
    true = np.clip(rows.shares, 0.0, 1.0)
    true = true[np.arange(len(true)), rows.truth] / true.sum(axis=1)
    value = log_loss_of(rows.truth, rows.shares, rows.weights)
    return _of_mean(-log_of(np.clip(true, least, 1.0 - least)), rows, value)


def _of_mean(each: np.ndarray, rows: Predicted, value: float | None = None) -> Figure:
    """The mean of numbers >= 0 float64[n], with Student's interval."""
    mean = float((rows.share * each).sum())
    found = mean_interval(mean, float((rows.share * (each - mean) ** 2).sum()), rows.worth)
    low, high = (math.nan, math.nan) if found is None else (max(found[0], 0.0), found[1])
    return mean if value is None else value, low, high


def _r2(rows: Predicted) -> Figure:
    value = float(r2(rows.truth, rows.predicted, rows.weights))
    return value, *r2_interval(rows.truth, rows.predicted, rows.weights, value)


def _error(rows: Predicted, of: Callable[[np.ndarray], np.ndarray]) -> Figure:
    with np.errstate(over="ignore", invalid="ignore"):
        return _of_mean(of(rows.truth - rows.predicted).mean(axis=1), rows)


MEASURES_OF_NUMBERS: dict[str, Measure] = {
    each.name: each
    for each in (
        Measure("r2", "R2", 1, False, _r2),
        Measure("mean_squared_error", "mean squared error", -1, False, lambda rows: _error(rows, np.square)),
        Measure("mean_absolute_error", "mean absolute error", -1, False, lambda rows: _error(rows, np.abs)),
    )
}
