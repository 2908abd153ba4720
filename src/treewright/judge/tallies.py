"""Scores of predictions that are added in blocks. In: true and predicted values. Out: scores, and lines about them.

Only counts and sums are kept, so the memory in use does not grow with the rows. ``add`` adds rows with a model's
predictions; ``add_constant`` adds rows with the best constant prediction.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite, sqrt
from typing import Any, ClassVar

import numpy as np
import polars as pl

from treewright.core.confidence import wilson_interval
from treewright.judge.shares import ShareScore
from treewright.model.summary import counted

MOST_SQUARE = 200  # the most classes for a square confusion matrix: that of 10,000 would be half a gigabyte


@dataclass
class LabelScore:
    """Counts of true and predicted labels.

    Attributes
    ----------
    counts : dict of (true, predicted) to int
    shares : ShareScore or None
        Scores of the class probabilities of the same rows, if they were requested.
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
                    "n_right": right,
                    "precision": right / n_predicted if n_predicted else None,
                    "recall": right / n_true if n_true else None,
                    "f1": 2 * right / (n_true + n_predicted),
                }
            )
        return {
            "n_rows": self.n,
            "n_right": self.right,
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
    """Counts and sums over true numbers and predicted quantiles.

    Attributes
    ----------
    levels : tuple of float
    n : int
    """

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
