"""Bias, variance and noise. In: an unfitted estimator, training and test rows. Out: ``Decomposition``, or a curve.

The estimator is fitted on many training sets, and all of them predict the same test rows. For both losses, at each row:
loss = bias squared + variance + noise + cross.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import has_fit_parameter

from treewright.core.elementary import whole_number
from treewright.data.cells import shown
from treewright.data.memory import check_fits
from treewright.data.take import count_rows, take_rows, warn_of_another_order
from treewright.data.target import Labels, check_weights, encode_labels, encode_numbers
from treewright.evaluation.folds import fresh, refuse_pairs, run_tasks
from treewright.exceptions import DataError, ParameterError

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

    ``main`` (float64[m] or int64[m]): the mean prediction of each test row, or the code of its most frequent one.
    ``rows`` (dict from str to float64[m]): per part its value at each test row; nan if it needs the true values and
        they are not given.
    ``rounds`` (dict from str to float64[R]), per part the contribution of each round to its mean over the rows, up to a
        constant: the spread over the rounds is the uncertainty due to their number. A part that does not depend on the
        rounds is left out.
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

    ``predicted`` (float64[R, m], R >= 2). ``y`` (float64[m]). ``truth`` (float64[m], or None).
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

    ``predicted`` (int64[R, m], R >= 2): class codes. ``y`` (int64[m]). ``truth`` (int64[m], or None). Returns Parts,
    also ``unbiased_variance`` and ``biased_variance``: V where the bias is 0, the subtracted part where it is 1.
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


def mean_over_outputs(outputs: list[Parts]) -> Parts:
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


Loss = Literal["squared_error", "misclassification"]
Draw = Callable[[np.random.Generator], tuple[Any, Any]]
TrainingSet = tuple[Any, Any, np.ndarray | None]
Sample = Callable[[np.random.Generator], TrainingSet]
SMALLEST = 1e-150  # of differences: their squares have lost digits below it
COPIES = 5  # arrays of rounds x rows that the arithmetic holds at once


def bias_variance(
    est: Any,
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    *,
    true_values: Any = None,
    n_rounds: int = 200,
    draw: Draw | None = None,
    loss: Loss | None = None,
    sample_weight: Any = None,
    random_state: int | None = 0,
    n_jobs: int | None = None,
) -> Decomposition:
    """Decompose the expected loss of an estimator into bias, variance and noise.

    The estimator is fitted on many training sets, and all of them predict the same test rows.

    Parameters
    ----------
    est : estimator
        Unfitted, of this library or of scikit-learn; it is copied for every round and stays as it is. ``random_state``
        parameters in it that are None get a seed of the round; one that is set is the same in every round.
    X, y : table of n rows with its target, or None
        Every round fits on a bootstrap sample of them: n rows sampled with replacement. Such a sample holds 63 % of the
        rows, so bias and variance are those of a somewhat smaller training set. None with ``draw``.
    X_test, y_test : table of m rows with its target
        Rows that are not among those of X: the loss on training rows is too low. If the noise does not matter (for a
        grid of points, say), pass the true values as ``y_test``.
    true_values : m numbers or labels, optional
        Squared loss: h(x) = E[y | x] at the test rows. Zero-one loss: the optimal label, the most probable one. They
        separate bias from noise. Without them, as for all data that were not simulated, the two are one number: bias
        cannot be computed without the true distribution.
    n_rounds : int >= 2, default 200
    draw : function, optional
        Takes a ``numpy.random.Generator`` and returns a new training set (X, y) from a known distribution.
    loss : {"squared_error", "misclassification"}, optional
        The default is the squared loss for a regressor, the zero-one loss (misclassification) for a classifier; neither
        accepts the other's.
    sample_weight : n numbers >= 0, optional
        Passed to ``fit`` with the sampled rows of X; rows of weight 0 are never sampled. Test rows all count the same.
    random_state : int >= 0 or None, default 0
        Seed. The result does not depend on ``n_jobs``.
    n_jobs : int or None
        Threads; None or -1 means all processors. Several of them may call ``draw`` at a time.

    Returns
    -------
    Decomposition
        ``print`` shows it as a table.

    Raises
    ------
    ParameterError
        ``est`` cannot be fitted (a ``Model``, a class), does not take ``sample_weight``, or the loss does not suit it;
        a number is out of range; both X, y and ``draw`` are given, or neither.
    DataError
        Lengths differ, there are no rows, a target or a prediction is missing or not finite; a label of ``y_test`` does
        not occur in ``y`` (with ``draw`` it counts as wrong); squared differences are outside float64.
    TooLargeError
        Rounds x test rows would not fit in memory.

    Notes
    -----
    Squared loss (Geman, Bienenstock and Doursat 1992; Bishop 2006, section 3.2): variance is divided by the number of
    rounds less one, and the part of the bias that is due to chance (variance / rounds) is subtracted. Both estimates
    are therefore unbiased, and the parts still sum up to the loss exactly.

    Zero-one loss (Domingos 2000): bias is 0 or 1 at each row; variance lowers the loss where the bias is 1. The most
    frequent prediction is not corrected for the finite number of rounds. The sum holds for any number of classes.

    Examples
    --------
    >>> import numpy as np
    >>> import treewright as tw
    >>> def wave(rng):
    ...     x = rng.uniform(size=50)
    ...     return x.reshape(-1, 1), np.sin(2 * np.pi * x) + rng.normal(scale=0.3, size=50)
    >>> x = np.linspace(0.05, 0.95, 19)
    >>> h = np.sin(2 * np.pi * x)
    >>> y = h + np.random.default_rng(1).normal(scale=0.3, size=19)
    >>> tree = tw.DecisionTreeRegressor()
    >>> X = x.reshape(-1, 1)
    >>> parts = tw.model_selection.bias_variance(tree, None, None, X, y, true_values=h, draw=wave, n_rounds=50)
    >>> parts.variance > 10 * parts.bias_squared
    True
    >>> abs(parts.bias_squared + parts.variance + parts.noise + parts.cross - parts.loss) < 1e-12
    True
    """
    kind = _loss_of(est, loss)
    n_rounds, seed = (
        whole_number("n_rounds", n_rounds, 2),
        None if random_state is None else whole_number("random_state", random_state, 0),
    )
    sample, learnable = _training_sets(X, y, draw, sample_weight)
    if draw is None:
        refuse_pairs(est, "bias_variance")
    if sample_weight is not None and not has_fit_parameter(est, "sample_weight"):
        raise ParameterError(f"{type(est).__name__}.fit takes no sample_weight: leave it out, or repeat rows instead")
    m = count_rows(X_test)
    if m == 0:
        raise DataError("X_test has 0 rows; at least 1 is needed")
    warn_of_another_order(X_test, "X_test", y_test=y_test, true_values=true_values)
    rounds = Rounds(est, sample, X_test, n_rounds, seed, n_jobs)
    if kind == "squared_error":
        numbers, truth = _target(encode_numbers, y_test, m, "y_test"), None
        if true_values is not None:
            truth = _target(encode_numbers, true_values, m, "true_values").values
        parts = _squared(rounds, numbers.values, truth)
    else:
        labels, optimal = _target(encode_labels, y_test, m, "y_test"), None
        if learnable is not None:
            _refuse_unknown(labels, encode_labels(learnable))
        if true_values is not None:
            optimal = _target(encode_labels, true_values, m, "true_values")
        parts = _zero_one(rounds, labels, optimal)
    return _decomposition(kind, n_rounds, m, parts)


def bias_variance_curve(
    make: Callable[[Any], Any],
    values: Iterable[Any],
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    *,
    name: str = "value",
    **options: Any,
) -> BiasVarianceCurve:
    """The decomposition along a parameter: the penalty of a regression, the depth of a tree.

    Parameters
    ----------
    make : function
        Takes a value and returns an unfitted estimator.
    values : iterable of k finite numbers
        Every one is fitted on the same training sets.
    X, y, X_test, y_test
        As for ``bias_variance``.
    name : str, default "value"
        Name of the parameter in tables and figures.
    **options
        As for ``bias_variance``. ``random_state=None`` is not allowed here: the training sets must be the same.

    Returns
    -------
    BiasVarianceCurve
        ``print`` shows it as a table, ``plot()`` draws it.

    Raises
    ------
    ParameterError
        ``make`` is no function of one value, there is no value, or a value is not a finite number.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> curve = tw.model_selection.bias_variance_curve(
    ...     lambda depth: tw.DecisionTreeRegressor(max_depth=depth), [1, 4, 8],
    ...     X[:300], y[:300], X[300:], y[300:], name="max_depth", n_rounds=20)
    >>> bool(curve.variance[0] < curve.variance[1] < curve.variance[2])
    True
    """
    if not callable(make):
        raise ParameterError(f"make={make!r}: give a function from a value to an unfitted estimator")
    if options.get("random_state", 0) is None:
        raise ParameterError("random_state=None: a curve needs the same training sets at every value, give a number")
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ParameterError(f"values={values!r}: give a list of numbers, such as [1, 2, 4]")
    held = [value.item() if isinstance(value, np.generic) else value for value in values]
    for value in held:
        if isinstance(value, bool) or not isinstance(value, Real) or not np.isfinite(float(value)):
            raise ParameterError(f"values holds {value!r}: give finite numbers")
    if not held:
        raise ParameterError("values is empty: give at least one number")
    each = tuple(bias_variance(_made(make, value), X, y, X_test, y_test, **options) for value in held)
    columns = {part: np.array([getattr(one, part) for one in each]) for part in (*NAMES, "expected_loss")}
    return BiasVarianceCurve(name=name, values=np.array(held, np.float64), decompositions=each, **columns)


def _made(make: Callable[[Any], Any], value: Any) -> Any:
    """The estimator that ``make`` returns for one value."""
    try:
        return make(value)
    except TypeError as error:
        raise ParameterError(
            f"make({value!r}) raised {error}: give a function from a value to an unfitted estimator, such as "
            "lambda depth: DecisionTreeRegressor(max_depth=depth)"
        ) from error


def _loss_of(est: Any, loss: Any) -> Loss:
    """The loss, checked against the kind of estimator."""
    if isinstance(est, type):
        raise ParameterError(f"pass an estimator, {est.__name__}(...), not the class")
    if not all(hasattr(est, name) for name in ("fit", "predict", "get_params")):
        raise ParameterError(
            f"a {type(est).__name__} cannot be fitted again: pass an unfitted estimator (fit, predict, get_params)"
        )
    if loss is not None and not (isinstance(loss, str) and loss in get_args(Loss)):
        raise ParameterError(
            f"loss={loss!r}: choose 'squared_error' or 'misclassification', or None for the estimator's own"
        )
    own: Loss | None = "misclassification" if is_classifier(est) else "squared_error" if is_regressor(est) else None
    if own is None and loss is None:
        raise ParameterError(f"{type(est).__name__} is neither classifier nor regressor: give loss=")
    if loss is not None and own is not None and loss != own:
        what = "classifier" if own == "misclassification" else "regressor"
        raise ParameterError(f"loss={loss!r} does not suit a {what}: {type(est).__name__} takes {own!r}")
    return loss or own  # type: ignore[return-value]


def _training_sets(X: Any, y: Any, draw: Draw | None, sample_weight: Any) -> tuple[Sample, Any]:
    """The function that samples a training set, and its possible targets: rows of ``y``, None with ``draw``."""
    if draw is not None:
        if not callable(draw):
            raise ParameterError(f"draw={draw!r}: give a function that takes a random generator and returns (X, y)")
        if X is not None or y is not None:
            raise ParameterError("draw returns the training sets: pass X=None and y=None with it, or leave draw out")
        if sample_weight is not None:
            raise ParameterError("sample_weight weighs the rows of X, which draw replaces: leave it out")
        return lambda rng: _drawn(draw(rng)), None
    if X is None or y is None:
        raise ParameterError("pass X and y for bootstrap samples, or draw=, a function that returns (X, y)")
    n = count_rows(y)
    if count_rows(X) != n:
        raise DataError(f"X has {count_rows(X)} rows and y has {n}: give a target for each row")
    if n == 0:
        raise DataError("X and y have 0 rows; at least 1 is needed")
    weights = check_weights(sample_weight, n)
    warn_of_another_order(X, y=y, sample_weight=sample_weight)
    kept = np.arange(n) if weights is None else np.flatnonzero(weights > 0)

    def bootstrap(rng: np.random.Generator) -> TrainingSet:
        at = kept[rng.integers(len(kept), size=len(kept))]
        return take_rows(X, at), take_rows(y, at), None if weights is None else weights[at]

    return bootstrap, take_rows(y, kept)


def _drawn(pair: Any) -> TrainingSet:
    """The training set that ``draw`` returned, checked."""
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise ParameterError(f"draw must return the pair (X, y), not a {type(pair).__name__}")
    X, y = pair
    if count_rows(X) != count_rows(y):
        raise DataError(f"draw returned X with {count_rows(X)} rows and y with {count_rows(y)}")
    return X, y, None


def _target(encode: Callable[[Any], Any], values: Any, m: int, what: str) -> Any:
    """A target of the test rows as numbers or labels; an error names it."""
    try:
        target = encode(values)
    except DataError as error:
        raise error.worded(str, f"{what}: ") from None
    n = len(target.codes if isinstance(target, Labels) else target.values)
    if n != m:
        raise DataError(f"X_test has {m} rows and {what} has {n}: give one for each row")
    return target


def _refuse_unknown(labels: Labels, known: Labels) -> None:
    """Refuse test labels that no training set can hold: they would raise the bias."""
    for output, (asked, learned) in enumerate(zip(labels.classes, known.classes, strict=False)):
        strange = [label for label in asked.tolist() if label not in set(learned.tolist())]
        if strange:
            where = f" (output {output})" if len(labels.classes) > 1 else ""
            raise DataError(
                f"y_test holds the label {shown(strange[0])}{where}, which no row of y with weight has: leave these "
                "test rows out, or add rows of that class to X and y"
            )


class Rounds(NamedTuple):
    """The inputs of the rounds: estimator, training sets, test rows, seed.

    ``sample``: from a random generator to a training set.
    ``random_state`` (>= 0, or None): round r has the r-th child of this seed, on any thread. ``random_state``
        parameters of the estimator that are None are set from it too.
    """

    estimator: Any
    sample: Sample
    X_test: Any
    n_rounds: int
    random_state: int | None
    n_jobs: int | None

    def predictions(self, keep: Callable[[int, Any], Any]) -> list[Any]:
        """Per round the predictions of a newly fitted copy at the test rows; ``keep`` checks them."""
        seeds = np.random.SeedSequence(self.random_state).spawn(self.n_rounds)

        def one(number: int) -> Any:
            rng = np.random.default_rng(seeds[number])
            try:
                X, y, weights = self.sample(rng)
                fitted = fresh(self.estimator, rng)
                fitted = fitted.fit(X, y) if weights is None else fitted.fit(X, y, sample_weight=weights)
                return keep(number, fitted.predict(self.X_test))
            except Exception as error:
                error.add_note(f"in round {number} of bias_variance")
                raise

        return run_tasks(one, self.n_rounds, self.n_jobs, "rounds")


def _squared(rounds: Rounds, y: np.ndarray, truth: np.ndarray | None) -> Parts:
    """Parts of the squared loss, all outputs together."""
    _refuse_other_outputs(y, truth)
    _refuse_too_large(rounds.n_rounds, y)

    def as_numbers(number: int, predicted: Any) -> np.ndarray:
        values = np.asarray(predicted, np.float64).reshape(len(predicted), -1)
        _refuse_other_shape(number, values.shape, y.shape)
        if not np.isfinite(values).all():
            row = int(np.argmax(~np.isfinite(values).all(axis=1)))
            raise DataError(f"round {number} predicts {values[row].tolist()} at test row {row}: not a finite number")
        return values

    predicted = np.stack(rounds.predictions(as_numbers))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        outputs = [
            squared_parts(predicted[:, :, at], y[:, at], None if truth is None else truth[:, at])
            for at in range(y.shape[1])
        ]
        parts = mean_over_outputs(outputs)
    away = float(np.abs(predicted - y).max())
    if 0 < away < SMALLEST:
        raise DataError(
            f"y_test and predictions differ by {away:.0e} at most, and their squares are below float64: multiply y"
        )
    if not np.isfinite(parts.rows["loss"]).all():
        raise DataError("squared distances between y_test and predictions are beyond float64: divide y by its largest")
    return parts


def _zero_one(rounds: Rounds, y: Labels, truth: Labels | None) -> Parts:
    """Parts of the zero-one loss, all outputs together."""
    _refuse_other_outputs(y.codes, None if truth is None else truth.codes)
    _refuse_too_large(rounds.n_rounds, y.codes)

    def as_labels(number: int, predicted: Any) -> Labels:
        labels = encode_labels(predicted)
        _refuse_other_shape(number, labels.codes.shape, y.codes.shape)
        return labels

    predicted = rounds.predictions(as_labels)
    outputs, mains = [], []
    for at in range(y.codes.shape[1]):
        every = [y, *([] if truth is None else [truth]), *predicted]
        codes, labels = _common_codes([each.codes[:, at] for each in every], [each.classes[at] for each in every])
        n_first = len(every) - rounds.n_rounds
        parts = zero_one_parts(np.stack(codes[n_first:]), codes[0], None if truth is None else codes[1], len(labels))
        outputs.append(parts)
        mains.append(_labels_of(labels, parts.main))
    main = mains[0] if len(mains) == 1 else np.stack(mains, axis=1)
    return mean_over_outputs(outputs)._replace(main=main)


def _common_codes(codes: list[np.ndarray], classes: list[np.ndarray]) -> tuple[list[np.ndarray], list[Any]]:
    """The codes of several targets in one sorted list of labels.

    A training set without some class has other codes.
    """
    distinct = dict.fromkeys(label for labels in classes for label in labels.tolist())
    try:
        ordered = sorted(distinct)
    except TypeError:
        kinds = ", ".join(sorted({type(label).__name__ for label in distinct}))
        raise DataError(
            f"labels of y_test, true_values and predictions have types that cannot be compared: {kinds}"
        ) from None
    code_of = {label: code for code, label in enumerate(ordered)}
    places = [np.array([code_of[label] for label in labels.tolist()], np.int64) for labels in classes]
    return [place[own] for place, own in zip(places, codes, strict=True)], ordered


def _labels_of(labels: list[Any], codes: np.ndarray) -> np.ndarray:
    """Labels of codes, in a dtype that holds them all."""
    held = encode_labels(labels).classes[0]
    return held[codes]


def _decomposition(kind: Loss, n_rounds: int, m: int, parts: Parts) -> Decomposition:
    """Means and standard errors of the parts."""
    means = {name: float(column.mean()) for name, column in parts.rows.items()}
    over_rows = {
        name: float(column.std(ddof=1) / np.sqrt(m)) if m > 1 else float("nan") for name, column in parts.rows.items()
    }
    over_rounds = {name: float(column.std(ddof=1) / np.sqrt(n_rounds)) for name, column in parts.rounds.items()}
    known = not np.isnan(means["noise"])
    over_rounds |= {
        name: 0.0 if name == "noise" and known else float("nan") for name in NAMES if name not in over_rounds
    }
    for column in (*parts.rows.values(), parts.main):
        column.flags.writeable = False
    return Decomposition(
        loss_name=kind,
        n_rounds=n_rounds,
        n_test=m,
        unbiased_variance=means.get("unbiased_variance", float("nan")),
        biased_variance=means.get("biased_variance", float("nan")),
        row_errors=over_rows,
        round_errors=over_rounds,
        rows=parts.rows,
        main=parts.main,
        **{name: means[name] for name in NAMES},
    )


def _refuse_too_large(n_rounds: int, target: np.ndarray) -> None:
    """Refuse more rounds and rows than fit in memory."""
    check_fits(COPIES * n_rounds * target.size * 8, f"{n_rounds} rounds of {len(target)} test rows", "lower n_rounds")


def _refuse_other_outputs(y: np.ndarray, truth: np.ndarray | None) -> None:
    """Refuse true values with another number of outputs than the target."""
    if truth is not None and truth.shape[1] != y.shape[1]:
        raise DataError(f"y_test has {y.shape[1]} outputs and true_values has {truth.shape[1]}: give equally many")


def _refuse_other_shape(number: int, predicted: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    """Refuse predictions whose shape differs from that of the test target."""
    if predicted != wanted:
        raise DataError(
            f"round {number} predicts {predicted[0]} rows and {predicted[1]} outputs, "
            f"y_test has {wanted[0]} rows and {wanted[1]} outputs"
        )
