"""The statistics of a target as integers. In: target, weights, criterion. Out: ``Objective``.

Sums of integers do not depend on the order of addition, so the same partition of the rows has a bit-identical gain
whichever column or thread finds it. Weights and targets become fixed point with a power-of-two scale taken
from their sums: nothing can overflow, and the resolution of a target is its mean absolute deviation times n / 2**61.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from treewright.core.elementary import log2_of
from treewright.core.structs import struct
from treewright.trees.class_criteria import CLASSIFICATION_CRITERIA, ENTROPY, GINI

_LARGEST = float(np.finfo(np.float64).max)
_MAX_WHOLE = 2**31  # larger whole-number weights are treated like any others


@struct
class MeanStats(NamedTuple):
    """Sums for means.

    Squared error, and Gini of two classes coded -1 and 1 (the same thing up to a factor).
    """

    values: np.ndarray  # int8 or int64 [t, n]: weight times centred target
    weights: np.ndarray  # int64[n], or empty if every weight is one
    targets: np.ndarray  # float64[t, n] as given; empty for Gini
    factor: float  # impurity of a squared deviation of 1, in target units
    unit: float  # target units of a quotient of sums and weights
    is_classes: bool
    is_whole: bool  # every weight is a whole number, of which the row's values are multiples
    table: np.ndarray  # int64[n + 1]: c log2 c in fixed point for entropy, else empty
    table_scale: float


@struct
class CountStats(NamedTuple):
    """Class counts: any number of classes and outputs."""

    labels: np.ndarray  # uint8 or int32 [n_outputs, n]
    offsets: np.ndarray  # int64[n_outputs + 1]: start of each output's classes in the totals
    weights: np.ndarray  # int64[n], or empty
    table: np.ndarray  # int64[n + 1]: c log2 c in fixed point, empty unless entropy without weights
    table_scale: float
    criterion: int


@struct
class PoissonStats(NamedTuple):
    """Sums of a target that is never negative, for the half Poisson deviance."""

    values: np.ndarray  # int64[t, n]
    weights: np.ndarray  # int64[n], or empty
    targets: np.ndarray  # float64[t, n] as given
    unit: float  # target units of a quotient of sums and weights


@struct
class MedianStats(NamedTuple):
    """Targets for medians: absolute error."""

    values: np.ndarray  # float64[t, n]: centred targets
    targets: np.ndarray  # float64[t, n] as given
    weights: np.ndarray  # int64[n], or empty
    products: np.ndarray  # int64[t, n]: weight times target in fixed point
    unit: float  # target units of a quotient of sums and weights
    ranked: np.ndarray  # int32[t, n]: rows of each segment in ascending order of target; written while growing
    place: np.ndarray  # int32[t, n]: a row's place in its segment of ``ranked``


def fixed_weights(weights: np.ndarray | None, n: int) -> tuple[np.ndarray, int]:
    """Weights in fixed point.

    Parameters
    ----------
    weights : float64[n], > 0, or None
        None means one for every row.
    n : int

    Returns
    -------
    fixed : int64[n]
        Empty for None. Their sum is below 2**53, so that every partial sum is exact in float64 too.
    exponent : int
        ``fixed = round(weights * 2**exponent)``. An exponent, because the power itself is beyond float64 for weights of
        1e-300 and less. Whole numbers of a moderate sum stay as they are: they may be numbers of rows.
    """
    if weights is None:
        return np.empty(0, np.int64), 0
    if are_whole(weights):
        return weights.astype(np.int64), 0
    # Mantissa and exponent apart: the sum itself may be beyond float64.
    share, largest = math.frexp(float(weights.max()))
    exponent = 52 - largest - math.frexp(share * n)[1]
    fixed = np.rint(np.ldexp(weights, exponent)).astype(np.int64)
    return np.maximum(fixed, 1), exponent


def are_whole(weights: np.ndarray | None) -> bool:
    """Whether the weights can be numbers of rows: whole, with a moderate sum."""
    if weights is None:
        return True
    is_moderate = float(weights.max(initial=0.0)) < _MAX_WHOLE and float(weights.sum()) < _MAX_WHOLE
    return is_moderate and bool((weights == np.rint(weights)).all())


def centre_of(values: np.ndarray, weights: np.ndarray | None) -> float:
    """A number near the weighted mean with few binary digits, so that subtracting it is exact.

    The remainder ``values - centre`` is exact where it matters: for targets such as 1e9 + 1e-3 the squares of the
    remainder carry the information that the squares of the targets have lost.
    """
    lowest, highest = float(values.min()), float(values.max())
    if lowest == highest:
        return lowest
    if highest * 0.5 - lowest * 0.5 > _LARGEST * 0.5:
        return 0.0  # from anywhere else the farthest value would be beyond float64
    # Numbers below 1: the sum of large ones would be infinite.
    lift = math.frexp(max(-lowest, highest))[1]
    shares = None if weights is None else np.ldexp(weights, -math.frexp(float(weights.max()))[1])
    middle = math.ldexp(float(np.average(np.ldexp(values, -lift), weights=shares)), lift)
    middle = min(max(middle, lowest), highest)
    grid = math.frexp(max(highest - middle, middle - lowest))[1] - 4
    return math.ldexp(round(math.ldexp(middle, -grid)), grid)


def fixed_products(
    values: np.ndarray, weights: np.ndarray | None, fixed: np.ndarray, exponent: int
) -> tuple[np.ndarray, float]:
    """Weight times value in fixed point, with one power-of-two scale so that no sum of absolute values passes 2**62.

    Parameters
    ----------
    values : float64[t, n]
        Centred targets, an output a row.
    weights : float64[n] or None
    fixed : int64[n], exponent : int
        The weights in fixed point, as ``fixed_weights`` gives them.

    Returns
    -------
    products : int64[t, n]
        Whole-number weights multiply the rounded value: a row of weight 2 counts exactly as two rows.
    unit : float
        A power of two: ``products * unit`` is fixed-point weight times value.
    """
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0.0:
        return np.zeros(values.shape, np.int64), 1.0
    whole = are_whole(weights)
    # Numbers below 1 first: the sum of 1e308-sized targets would be infinite.
    lift = math.frexp(largest)[1]
    small = np.ldexp(values, -lift)
    # Fixed-point weights, not those they were rounded from: a quotient of sums must be a mean for the smallest weights
    # too.
    factors = 1.0 if weights is None else weights if whole else fixed.astype(np.float64)
    step = exponent if whole else 0
    total = float((np.abs(small) * factors).sum(axis=1).max())
    # sum |round(x)| <= sum |x| + n / 2: between 2**61 and 2**62 there is room for the rounding of 2**61 rows.
    # No finer than the smallest number of float64, which divides every other one.
    shift = min(61 - math.frexp(total)[1], lift + step + 1074)
    unit = math.ldexp(1.0, lift + step - shift)
    if not whole:
        return np.rint(np.ldexp(small * factors, shift)).astype(np.int64), unit
    products = np.rint(np.ldexp(small, shift)).astype(np.int64)
    if weights is not None:
        products *= weights.astype(np.int64)
    return products, unit


def xlogx_table(n: int) -> tuple[np.ndarray, float]:
    """``c log2(c)`` for c = 0..n in fixed point.

    Returns
    -------
    table : int64[n + 1]
    scale : float
        A power of two; no sum of the table over parts of n passes 2**61.
    """
    scale = math.ldexp(1.0, 60 - math.frexp(n * float(log2_of(max(n, 2))))[1])
    counts = np.arange(n + 1, dtype=np.float64)
    counts[0] = 1.0
    table = counts * log2_of(counts)
    return np.rint(table * scale).astype(np.int64), scale


@dataclass(frozen=True)
class Objective:
    """Integer statistics of a target, and the units to convert their sums back.

    Attributes
    ----------
    stats : MeanStats, CountStats, PoissonStats or MedianStats
    n_totals : int
        Sums kept per node.
    total_weight : int
        Fixed-point weight of all rows.
    weight_exponent : int
        ``2**weight_exponent`` is the fixed-point weight of one.
    units : tuple of float
        ``gain`` times all of them over ``total_weight`` is the decrease of the impurity. Apart, because the square of a
        small or large unit is beyond float64.
    n_classes : tuple of int
        Empty for regression.
    centres : float64[n_outputs]
        The numbers subtracted from regression targets.
    targets : float64[n_outputs, n]
        Regression targets as given; empty for classification.
    n_medians : int
        Outputs whose median is kept per node.
    """

    stats: Any
    n_totals: int
    total_weight: int
    weight_exponent: int
    units: tuple[float, ...]
    n_classes: tuple[int, ...] = ()
    centres: np.ndarray = field(default_factory=lambda: np.empty(0))
    targets: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    n_medians: int = 0

    def sorted_targets(self) -> np.ndarray:
        """float64[t, n]: targets that the grower must keep sorted (absolute error), else no row."""
        return self.targets if self.n_medians else self.targets[:0]

    def rank_rows(self) -> None:
        """Sort all rows by each target, if the criterion needs it (growth on bins)."""
        if isinstance(self.stats, MedianStats):
            self.stats.ranked[:] = np.argsort(self.targets, axis=1, kind="stable")
            np.put_along_axis(self.stats.place, self.stats.ranked, np.arange(self.targets.shape[1])[None], axis=1)


def classification_objective(
    codes: np.ndarray, n_classes: Sequence[int], weights: np.ndarray | None, criterion: str
) -> Objective:
    """Statistics for class labels.

    Parameters
    ----------
    codes : int32[n, n_outputs]
    n_classes : sequence of int
        Classes per output.
    weights : float64[n], > 0, or None
    criterion : {"gini", "entropy", "log_loss", "misclassification"}
    """
    n, n_outputs = codes.shape
    fixed, exponent = fixed_weights(weights, n)
    total_weight = int(fixed.sum()) if len(fixed) else n
    number = CLASSIFICATION_CRITERIA[criterion]
    table, table_scale = np.empty(0, np.int64), 1.0
    if number == ENTROPY and weights is None:
        table, table_scale = xlogx_table(n)
    if max(n_classes) <= 2 and (number == GINI or (len(table) and n_outputs == 1)):
        signs = np.where(codes.T > 0, 1, -1)
        values = np.ascontiguousarray(signs, np.int8) if weights is None else np.ascontiguousarray(signs * fixed)
        factor = 0.5 / n_outputs if number == GINI else 1.0
        stats = MeanStats(
            values, fixed, np.empty((n_outputs, 0)), factor, 1.0, True, are_whole(weights), table, table_scale
        )
        return Objective(stats, n_outputs, total_weight, exponent, (factor,), tuple(n_classes))
    label_type = np.uint8 if max(n_classes) <= 256 else np.int32
    counts = CountStats(
        labels=np.ascontiguousarray(codes.T, label_type),
        offsets=np.concatenate([[0], np.cumsum(n_classes)]).astype(np.int64),
        weights=fixed,
        table=table,
        table_scale=table_scale,
        criterion=number,
    )
    return Objective(counts, int(sum(n_classes)), total_weight, exponent, (1.0 / n_outputs,), tuple(n_classes))


def regression_objective(targets: np.ndarray, weights: np.ndarray | None, criterion: str) -> Objective:
    """Statistics for regression targets.

    Parameters
    ----------
    targets : float64[n, n_outputs], finite
    weights : float64[n], > 0, or None
    criterion : {"squared_error", "absolute_error", "poisson"}
    """
    n, n_outputs = targets.shape
    fixed, exponent = fixed_weights(weights, n)
    total_weight = int(fixed.sum()) if len(fixed) else n
    columns = np.ascontiguousarray(targets.T)
    centres = np.zeros(n_outputs) if criterion == "poisson" else np.array([centre_of(y, weights) for y in columns])
    centred = columns - centres[:, None]
    products, unit = fixed_products(centred, weights, fixed, exponent)
    facts: dict[str, Any] = {"centres": centres, "targets": columns}
    if criterion == "poisson":
        poisson = PoissonStats(products, fixed, columns, unit)
        return Objective(poisson, n_outputs, total_weight, exponent, (unit, 1.0 / n_outputs), (), **facts)
    if criterion == "absolute_error":
        medians = MedianStats(centred, columns, fixed, products, unit, *np.empty((2, n_outputs, n), np.int32))
        units = (unit, 1.0 / n_outputs)
        return Objective(medians, n_outputs, total_weight, exponent, units, (), **facts, n_medians=n_outputs)
    no_table = np.empty(0, np.int64)
    means = MeanStats(products, fixed, columns, 1.0 / n_outputs, unit, False, are_whole(weights), no_table, 1.0)
    return Objective(means, n_outputs, total_weight, exponent, (unit, unit, 1.0 / n_outputs), (), **facts)
