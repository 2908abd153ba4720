"""Bias, variance and noise of predictions: the arithmetic, ``Decomposition`` and ``BiasVarianceCurve``.

For both losses, at each row: loss = bias squared + variance + noise + cross.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = ("loss", "bias_squared", "variance", "noise", "cross", "bias_and_noise")
LABELS = {
    "loss": "loss",
    "bias_squared": "bias squared",
    "variance": "variance",
    "noise": "noise",
    "cross": "cross",
    "bias_and_noise": "bias squared + noise",
}
TOGETHER = "bias and noise are one number: pass true_values= to separate them"
ERRORS = "+-: standard error, over the test rows and over the training sets (rounds)"
JUMPS = "-: none, because the bias of the zero-one loss jumps from 0 to 1"
ZERO_ONE_LABELS = {**LABELS, "bias_squared": "bias", "variance": "net variance", "bias_and_noise": "bias + noise"}


class Parts(NamedTuple):
    """The parts of the loss of one output.

    Attributes
    ----------
    main : float64[m] or int64[m]
        The mean prediction of each test row, or the code of its most frequent one.
    rows : dict from str to float64[m]
        Per part its value at each test row; nan if it needs the true values and they are not given.
    rounds : dict from str to float64[R]
        Per part the contribution of each round to its mean over the rows, up to a constant: the spread over the rounds
        is the uncertainty due to their number. A part that does not depend on the rounds is left out.
    """

    main: np.ndarray
    rows: dict[str, np.ndarray]
    rounds: dict[str, np.ndarray]


def squared_parts(predicted: np.ndarray, y: np.ndarray, truth: np.ndarray | None) -> Parts:
    """Parts of the squared loss.

    With f the predictions of R rounds at a row, F their mean, s2 their variance (divided by R - 1), h the true value:

    - variance: s2
    - bias squared: (F - h)^2 - s2 / R, since the mean of R rounds itself varies by s2 / R
    - noise: (y - h)^2
    - cross: 2 (h - F) (y - h), which is 0 on average, because y at a test row is independent of the training sets

    Both corrections make the estimates unbiased, and they cancel in the sum: it is exactly the mean of (y - f)^2.
    Geman, Bienenstock and Doursat (1992), Neural Computation 4; Bishop (2006), section 3.2.

    Parameters
    ----------
    predicted : float64[R, m], R >= 2
    y : float64[m]
    truth : float64[m], or None

    Returns
    -------
    Parts
    """
    n_rounds = len(predicted)
    main = predicted.mean(axis=0)
    away = predicted - main
    squares = away**2 * (n_rounds / (n_rounds - 1))
    variance = squares.mean(axis=0)
    rows = {
        "loss": ((predicted - y) ** 2).mean(axis=0),
        "variance": variance,
        "bias_and_noise": (main - y) ** 2 - variance / n_rounds,
    }
    rounds = {
        "loss": ((predicted - y) ** 2).mean(axis=1),
        "variance": squares.mean(axis=1),
        "bias_and_noise": 2 * (away * (main - y)).mean(axis=1),  # how (F - y)^2 moves with each round
    }
    if truth is None:
        return Parts(main, rows | _unknown(len(y)), rounds)
    rows |= {
        "bias_squared": (main - truth) ** 2 - variance / n_rounds,
        "noise": (y - truth) ** 2,
        "cross": 2 * (truth - main) * (y - truth),
    }
    rounds |= {
        "bias_squared": 2 * (away * (main - truth)).mean(axis=1),
        "cross": -2 * (away * (y - truth)).mean(axis=1),
    }
    return Parts(main, rows, rounds)


def zero_one_parts(predicted: np.ndarray, y: np.ndarray, truth: np.ndarray | None, n_classes: int) -> Parts:
    """Parts of the zero-one loss (Domingos 2000, "A unified bias-variance decomposition", ICML).

    With p the most frequent prediction at a row (the first class of equals), t its label, h its optimal label (t itself
    if that is unknown), and proportions P over the rounds:

    - bias: 1 if p != h, else 0; it is its own square
    - variance: V = P(f != p) where the bias is 0; -P(f = h) where it is 1, because a round that predicts h against the
      wrong majority is correct. With two classes that is -V, with more it is -V P(f = h | f != p).
    - noise: 1 if t != h, else 0
    - cross: where the noise is 1, P(f = h) - P(f = t) - 1. Domingos' factor of the noise is c1 = P(f = h) - P(f = t),
      with two classes 2 P(f = h) - 1; cross is (c1 - 1) times the noise: the part of the noise that does *not* add to
      the loss, since a prediction that misses h may hit t.

    Parameters
    ----------
    predicted : int64[R, m], R >= 2
        Class codes.
    y : int64[m]
    truth : int64[m], or None
    n_classes : int

    Returns
    -------
    Parts
        Also ``unbiased_variance`` and ``biased_variance``: V where the bias is 0, the subtracted part where it is 1.
    """
    optimal = y if truth is None else truth
    main = _most_frequent(predicted, n_classes)
    is_biased = main != optimal
    leaves_main, hits, wrong = predicted != main, predicted == optimal, predicted != y
    moves = np.where(is_biased, -1.0 * hits, 1.0 * leaves_main)
    variance = moves.mean(axis=0)
    loss = wrong.mean(axis=0)
    rows = {
        "loss": loss,
        "variance": variance,
        "unbiased_variance": np.where(is_biased, 0.0, variance),
        "biased_variance": np.where(is_biased, -variance, 0.0),
    }
    rounds = {"loss": wrong.mean(axis=1), "variance": moves.mean(axis=1)}
    if truth is None:
        return Parts(main, rows | {"bias_and_noise": 1.0 * is_biased} | _unknown(len(y)), rounds)
    noise = 1.0 * (y != truth)
    undone = noise * (1.0 * hits - (predicted == y) - 1.0)
    cross = undone.mean(axis=0)
    rows |= {"bias_squared": 1.0 * is_biased, "noise": noise, "cross": cross}
    rows["bias_and_noise"] = rows["bias_squared"] + noise + cross
    rounds["cross"] = undone.mean(axis=1)
    return Parts(main, rows, rounds)


def together(outputs: list[Parts]) -> Parts:
    """The mean over several outputs."""
    if len(outputs) == 1:
        return outputs[0]
    rows = {name: np.mean([each.rows[name] for each in outputs], axis=0) for name in outputs[0].rows}
    rounds = {name: np.mean([each.rounds[name] for each in outputs], axis=0) for name in outputs[0].rounds}
    return Parts(np.stack([each.main for each in outputs], axis=1), rows, rounds)


def _unknown(m: int) -> dict[str, np.ndarray]:
    """The parts that cannot be computed without the true values, all nan."""
    return {name: np.full(m, np.nan) for name in ("bias_squared", "noise", "cross")}


def _most_frequent(predicted: np.ndarray, n_classes: int) -> np.ndarray:
    """The most frequent code of each column, the lowest of equals."""
    best, most = np.zeros(predicted.shape[1], np.int64), np.full(predicted.shape[1], -1)
    for code in range(n_classes):
        count = (predicted == code).sum(axis=0)
        ahead = count > most
        best[ahead], most[ahead] = code, count[ahead]
    return best


@dataclass(frozen=True, eq=False)
class Decomposition:
    """The parts of an estimator's expected loss.

    ``loss = bias_squared + variance + noise + cross`` and ``loss = bias_and_noise + variance``, up to rounding. Every
    part is the mean of ``rows`` over the test rows; several outputs are averaged.

    Attributes
    ----------
    loss_name : {"squared_error", "misclassification"}
    n_rounds, n_test : int
    loss : float
        Of the rounds' predictions at the test rows, on average.
    bias_squared : float
        Distance of the main prediction from the true value. Squared loss: of the mean of all rounds, less the part due
        to the finite number of rounds, so that it may be just below 0. Zero-one loss: the share of test rows whose most
        frequent prediction is not the optimal label. nan without true values.
    variance : float
        Loss due to the choice of the training set. Zero-one loss: the net variance,
        ``unbiased_variance - biased_variance``.
    noise : float
        Squared loss: mean squared distance of ``y_test`` from the true values. Zero-one loss: share of test rows whose
        label is not the optimal one. nan without true values.
    cross : float
        Squared loss: ``2 (h - mean prediction) (y - h)``, which depends on this test set; 0 on average over test
        sets. Zero-one loss: the part of the noise that does not add to the loss, because a wrong prediction may match a
        wrong label (<= 0). nan without true values.
    bias_and_noise : float
        The two (and cross) as one number, which needs no true values.
    unbiased_variance, biased_variance : float
        Zero-one loss: variance that raises the loss, where the main prediction is optimal, and that lowers it, where it
        is not. nan for squared loss.
    row_errors : dict from str to float
        Standard error of each part over the test rows, for another sample of test rows. nan with one row.
    round_errors : dict from str to float
        Standard error of each part over the rounds; more rounds lower it. 0.0 for ``noise``; nan for the bias of the
        zero-one loss, which jumps. That of ``bias_squared`` is a first-order approximation: it is too small if the true
        bias is near 0 (twice this to either side covers 86 % rather than 95 %).
    rows : dict from str to float64[n_test]
        Each part at each test row.
    main : ndarray[n_test], or ndarray[n_test, n_outputs]
        The mean or the most frequent prediction.
    """

    loss_name: Literal["squared_error", "misclassification"]
    n_rounds: int
    n_test: int
    loss: float
    bias_squared: float
    variance: float
    noise: float
    cross: float
    bias_and_noise: float
    unbiased_variance: float
    biased_variance: float
    row_errors: Mapping[str, float]
    round_errors: Mapping[str, float]
    rows: Mapping[str, np.ndarray]
    main: np.ndarray

    @property
    def knows_truth(self) -> bool:
        """Whether true values were given, so that bias and noise are separate."""
        return not np.isnan(self.noise)

    @property
    def expected_loss(self) -> float:
        """Mean of the loss over test sets at these rows.

        Squared loss with true values: ``bias_squared + variance + noise``. Else ``loss``.
        """
        if self.loss_name == "squared_error" and self.knows_truth:
            return self.bias_squared + self.variance + self.noise
        return self.loss

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns for a data frame: one row per part."""
        return {
            "part": list(NAMES),
            "value": [getattr(self, name) for name in NAMES],
            "row_error": [self.row_errors[name] for name in NAMES],
            "round_error": [self.round_errors[name] for name in NAMES],
        }

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        labels = LABELS if self.loss_name == "squared_error" else ZERO_ONE_LABELS
        parts = ["bias_squared", "variance", "noise", "cross"] if self.knows_truth else ["bias_and_noise", "variance"]
        title = "Squared" if self.loss_name == "squared_error" else "Zero-one"
        lines = [
            f"{title} loss: {self.n_rounds} training sets, {self.n_test} test rows",
            f"{'':22}{'value':>12}{'+- rows':>12}{'+- rounds':>12}",
        ]
        for name in [*parts, "loss"]:
            numbers = (getattr(self, name), self.row_errors[name], self.round_errors[name])
            shown = "".join(f"{'-' if np.isnan(number) else format(number, '.4g'):>12}" for number in numbers)
            lines.append(f"{('= ' if name == 'loss' else '  ') + labels[name]:22}{shown}")
        if not self.knows_truth:
            lines.append(TOGETHER)
        lines.append(ERRORS)
        if np.isnan([self.round_errors[name] for name in parts]).any():
            lines.append(JUMPS)
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class BiasVarianceCurve:
    """The decomposition along a parameter; every value was fitted on the same training sets.

    Attributes
    ----------
    name : str
        Name of the parameter.
    values : float64[k]
    loss, expected_loss, bias_squared, variance, noise, cross, bias_and_noise : float64[k]
        As in ``Decomposition``.
    decompositions : tuple of Decomposition
    """

    name: str
    values: np.ndarray
    loss: np.ndarray
    expected_loss: np.ndarray
    bias_squared: np.ndarray
    variance: np.ndarray
    noise: np.ndarray
    cross: np.ndarray
    bias_and_noise: np.ndarray
    decompositions: tuple[Decomposition, ...]

    @property
    def best(self) -> float:
        """The value with the least expected loss, the first if several have it."""
        return float(self.values[np.argmin(self.expected_loss)])

    def to_dict(self) -> dict[str, list[float]]:
        """Columns for a data frame: one row per value."""
        names = ("loss", "expected_loss", "bias_squared", "variance", "noise", "cross", "bias_and_noise")
        return {self.name: self.values.tolist()} | {name: getattr(self, name).tolist() for name in names}

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        first = self.decompositions[0]
        labels = LABELS if first.loss_name == "squared_error" else ZERO_ONE_LABELS
        parts = ["bias_squared", "variance", "noise"] if first.knows_truth else ["bias_and_noise", "variance"]
        columns = [*parts, "expected_loss"]
        width = max(12, len(self.name) + 2)
        heads = [labels.get(name, "expected loss") for name in columns]
        widths = [max(14, len(head) + 2) for head in heads]
        title = "Squared" if first.loss_name == "squared_error" else "Zero-one"
        lines = [f"{title} loss along {self.name}: {first.n_rounds} training sets, {first.n_test} test rows"]
        lines.append(f"{self.name:>{width}}" + "".join(f"{head:>{w}}" for head, w in zip(heads, widths, strict=True)))
        for at, value in enumerate(self.values):
            numbers = [f"{getattr(self, name)[at]:>{w}.4g}" for name, w in zip(columns, widths, strict=True)]
            mark = "  <- least" if value == self.best else ""
            lines.append(f"{value:>{width}.4g}" + "".join(numbers) + mark)
        if not first.knows_truth:
            lines.append(TOGETHER)
        return "\n".join(lines)

    def plot(self, *, log_x: bool | None = None, **options: Any) -> Figure:
        """Draw the parts over the parameter (needs matplotlib).

        Parameters
        ----------
        log_x : bool, optional
            Whether the axis of the parameter is logarithmic; None: if all values are positive and span a factor of 100.
        **options
            As ``treewright.show.figures.curves.bias_variance`` takes them.

        Returns
        -------
        matplotlib.figure.Figure
            With true values the expected loss is the sum of the parts, and the loss at these test rows is drawn next to
            it. Without them the curve of the bias includes the noise.
        """
        from treewright.show.figures import curves

        if log_x is None:
            log_x = bool(self.values.min() > 0 and self.values.max() >= 100 * self.values.min())
        known = self.decompositions[0].knows_truth
        labels = {}
        if self.decompositions[0].loss_name != "squared_error":
            bias = ZERO_ONE_LABELS["bias_squared" if known else "bias_and_noise"]
            labels = {"bias_label": bias, "variance_label": ZERO_ONE_LABELS["variance"]}
        return curves.bias_variance(
            x=self.values,
            bias_squared=self.bias_squared if known else self.bias_and_noise,
            variance=self.variance,
            noise=self.noise if known else None,
            loss=self.expected_loss,
            test_error=self.loss if known and self.decompositions[0].loss_name == "squared_error" else None,
            xlabel=self.name,
            log_x=log_x,
            **labels | options,
        )
