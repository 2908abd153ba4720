"""How good a model is, as typed values. In: nothing. Out: ``QualityPart`` and its parts. Callers: page, reporting.

Shares are from 0 to 1. A number that has no meaning here (the recall of a class without rows) is None.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MeasurePart:
    """One number about all rows.

    Attributes
    ----------
    name : str
    value : float or None
    low, high : float or None
        95 % interval, where there is one.
    beside : float or None
        What it is compared with: ``QualityPart.beside``.
    says : str
        What it is, for a reader who does not know it.
    digits : {"share", "amount"}
        How it is written: three decimals, or four significant digits.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    beside: float | None
    says: str
    digits: str = "amount"


@dataclass(frozen=True)
class ClassPart:
    """One class against all others.

    Attributes
    ----------
    name : str
    position : int
        Among all classes: its colour.
    n_rows, n_said : int
        Judged rows of the class, and rows that were predicted so.
    weight, weight_said : float
        The same by weight.
    precision, recall : float or None
        Of the rows predicted so, the share that is so; of the rows that are so, the share predicted so.
    precision_low, precision_high, recall_low, recall_high : float or None
        95 % intervals (Wilson 1927, of as many rows as the weights are worth).
    f1 : float or None
        Harmonic mean of both.
    area : float or None
        Under the ROC curve of the class against the rest.
    average_precision : float or None
    """

    name: str
    position: int
    n_rows: int
    n_said: int
    weight: float
    weight_said: float
    precision: float | None
    precision_low: float | None
    precision_high: float | None
    recall: float | None
    recall_low: float | None
    recall_high: float | None
    f1: float | None
    area: float | None
    average_precision: float | None


@dataclass(frozen=True)
class ConfusionPart:
    """True against predicted classes.

    Attributes
    ----------
    labels : tuple of k str
    counts : tuple of k tuples of k float
        Weight of the judged rows: ``counts[true][predicted]``.
    """

    labels: tuple[str, ...]
    counts: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class MixUpPart:
    """Two classes that are taken for each other: ``share`` of the weight of the true class."""

    truth: str
    said: str
    weight: float
    share: float


@dataclass(frozen=True)
class RankPart:
    """How well the shares of a class put its rows before the others.

    Attributes
    ----------
    name : str
    position : int
    share : float
        Of the class among the judged rows: the precision of guessing.
    false_rate, true_rate : tuple of float
        ROC curve: shares of the other rows and of the class above a threshold, ascending.
    area : float
    recall, precision : tuple of float
        By ascending recall; between two points the precision is that of the point to the right.
    average_precision : float
        Mean of the precisions, each for the recall that it adds.
    """

    name: str
    position: int
    share: float
    false_rate: tuple[float, ...]
    true_rate: tuple[float, ...]
    area: float
    recall: tuple[float, ...]
    precision: tuple[float, ...]
    average_precision: float


@dataclass(frozen=True)
class CalibrationPart:
    """Whether shares that the model states come true.

    Attributes
    ----------
    name : str
    position : int
    edges : tuple of k + 1 float
        Ends of the bins of the predicted share; a share on an edge belongs to the bin below.
    n_rows, weight : tuple of k
        What lies in each bin.
    predicted, happened : tuple of k (float or None)
        Mean of the predicted shares, and the share of the rows that are of the class; None in an empty bin.
    low, high : tuple of k (float or None)
        95 % interval of ``happened``.
    error : float
        Expected calibration error: mean distance of the two, each bin by its weight (Naeini, Cooper and Hauskrecht
        2015, AAAI 29).
    """

    name: str
    position: int
    edges: tuple[float, ...]
    n_rows: tuple[int, ...]
    weight: tuple[float, ...]
    predicted: tuple[float | None, ...]
    happened: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    error: float


@dataclass(frozen=True)
class ResidualsPart:
    """True and predicted numbers.

    Attributes
    ----------
    truth, predicted, residual : tuple of k float
        Of drawn rows; a residual is the true number minus the predicted one.
    n_rows : int
        Of how many rows they were drawn.
    edges : tuple of b + 1 float
    weight : tuple of b float
        Weight of all judged rows by their residual.
    """

    truth: tuple[float, ...]
    predicted: tuple[float, ...]
    residual: tuple[float, ...]
    n_rows: int
    edges: tuple[float, ...]
    weight: tuple[float, ...]


@dataclass(frozen=True)
class ErrorCurvePart:
    """Errors of copies that were fitted on parts of the judged rows.

    Attributes
    ----------
    name : {"learning", "depth"}
    over, loss : str
        What is varied and what is measured, in words.
    x : tuple of k float
    train, train_se, test, test_se : tuple of k float
        Means over the folds with their standard errors.
    n_folds : int
    n_rows : int
    note : str
        What the copies lack; empty where nothing.
    """

    name: str
    over: str
    loss: str
    x: tuple[float, ...]
    train: tuple[float, ...]
    train_se: tuple[float, ...]
    test: tuple[float, ...]
    test_se: tuple[float, ...]
    n_folds: int
    n_rows: int
    note: str = ""


@dataclass(frozen=True)
class QualityPart:
    """How good the predictions of one output are.

    Attributes
    ----------
    output : str
        Its name; empty where there is one and it has none.
    kind : {"classes", "numbers", "quantiles", "none"}
    n_rows : int
        Judged rows.
    worth : float
        As how many rows of one weight they say (Kish 1965).
    weighted : bool
        Whether weights differ.
    lead : str
        The quality in a sentence.
    beside : str
        What stands beside the measures: "without the model", or "should be"; empty where nothing is compared.
    without : str
        The answer that needs no model, in words; empty where none is compared.
    measures : tuple of MeasurePart
    n_classes : int
        All classes that the model knows; ``classes`` holds those with the most weight.
    classes : tuple of ClassPart
    confusion : ConfusionPart or None
        None where there are too many classes to be looked at.
    mix_ups : tuple of MixUpPart
        The largest ones first.
    ranks : tuple of RankPart
        Of two classes the second alone: the other is its mirror.
    calibration : tuple of CalibrationPart
        The same.
    residuals : ResidualsPart or None
    curves : tuple of ErrorCurvePart
        Of all outputs together, with the first.
    left_out : tuple of str
        What is not here, and why.
    """

    output: str
    kind: str
    n_rows: int
    worth: float
    weighted: bool
    lead: str
    beside: str = ""
    without: str = ""
    measures: tuple[MeasurePart, ...] = ()
    n_classes: int = 0
    classes: tuple[ClassPart, ...] = ()
    confusion: ConfusionPart | None = None
    mix_ups: tuple[MixUpPart, ...] = ()
    ranks: tuple[RankPart, ...] = ()
    calibration: tuple[CalibrationPart, ...] = ()
    residuals: ResidualsPart | None = None
    curves: tuple[ErrorCurvePart, ...] = ()
    left_out: tuple[str, ...] = ()
