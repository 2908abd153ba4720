"""What a tree is grown for. In: target, weights, criterion. Out: ``Objective``: statistics and the way back.

Callers: estimators, grow.grower.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from treewright.grow.layout import Nodes
from treewright.grow.settings import CLASSIFICATION_CRITERIA, ENTROPY, GINI
from treewright.grow.statistics import (
    CountStats,
    MeanStats,
    MedianStats,
    PoissonStats,
    centre_of,
    fixed_products,
    fixed_weights,
    xlogx_table,
)


@dataclass(frozen=True)
class Objective:
    """Integer statistics of a target, and what is needed to turn sums of them back.

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
        What was subtracted from regression targets.
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

    def values(self, nodes: Nodes, n: int) -> np.ndarray:
        """Predictions of the first ``n`` nodes: class counts in units of weight, or one number per output."""
        totals = nodes.totals[:n]
        if self.n_classes:
            counts = totals
            if not isinstance(self.stats, CountStats):
                second = (nodes.weight[:n, None] + totals) // 2
                counts = np.stack([nodes.weight[:n, None] - second, second], axis=2).reshape(n, -1)
                counts = counts[:, [k < n_here for n_here in self.n_classes for k in range(2)]]
            return np.ldexp(counts.astype(np.float64), -self.weight_exponent)
        if self.n_medians:
            means = nodes.value[:n] + self.centres
        else:
            means = totals / nodes.weight[:n, None] * self.stats.unit + self.centres
        # A leaf of equal targets (impurity 0, never else) predicts that very number; no rounding leaves the targets'
        # range.
        # Only a leaf's ``before`` is always a row: on bins an inner node's is a bin.
        pure = np.flatnonzero((nodes.impurity[:n] == 0.0) & (nodes.first_child[:n] < 0))
        means[pure] = self.targets[:, nodes.before[pure]].T
        return np.clip(means, self.targets.min(axis=1), self.targets.max(axis=1))


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
        stats = MeanStats(values, fixed, np.empty((n_outputs, 0)), factor, 1.0, True, table, table_scale)
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
    """Statistics for numbers.

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
        medians = MedianStats(centred, fixed, products, unit, *np.empty((2, n_outputs, n), np.int32))
        units = (unit, 1.0 / n_outputs)
        return Objective(medians, n_outputs, total_weight, exponent, units, (), **facts, n_medians=n_outputs)
    means = MeanStats(products, fixed, columns, 1.0 / n_outputs, unit, False, np.empty(0, np.int64), 1.0)
    return Objective(means, n_outputs, total_weight, exponent, (unit, unit, 1.0 / n_outputs), (), **facts)
