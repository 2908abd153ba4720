"""What optimal trees minimise, in whole numbers. In: target, weights, name of the loss. Out: ``Loss``.

The loss of a tree is the sum of its leaves' losses, and the loss of a leaf a function of sums over its rows. Both are
whole numbers: sums of whole numbers do not depend on the order of addition, and a search that compares them has no
tolerances. What is no whole number by itself (Gini, logarithms, squares) is rounded once per leaf, to a unit of about
2**-50 of the loss of the whole table.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from treewright.core.elementary import log, log2, log_of
from treewright.core.jit import inner_kernel
from treewright.core.structs import struct
from treewright.grow.objective import centre_of, fixed_products, fixed_weights, xlogx_table
from treewright.grow.problem import unit_of

COST, GINI, LOG_LOSS, SQUARED_ERROR, POISSON = range(5)
CLASS_LOSSES = {"misclassification": COST, "gini": GINI, "entropy": LOG_LOSS, "log_loss": LOG_LOSS}
NUMBER_LOSSES = {"squared_error": SQUARED_ERROR, "poisson": POISSON}
_BITS = 50  # of the loss of the whole table
_MOMENTS = 3  # sums of numbers: weight, weight times target, weight times a function of the target


@struct
class Loss(NamedTuple):
    """A loss, bound to the rows.

    ``kind``: one of the constants of this module. ``n_sums``: sums of a set of rows; class weights, or three moments.
    ``labels`` int32[n]: class codes; empty for numbers. ``weights`` int64[n].
    ``first``, ``second`` int64[n]: what a row adds to the second and third moment; empty for classes.
    ``costs`` int64[k, k]: of predicting the second class for a row of the first, per unit of weight.
    ``table`` int64[m]: ``c log2 c`` in units of the loss, for weights that count rows; else empty.
    ``scale``: units of the loss per unit of weight times impurity. ``first_unit``, ``second_unit``: of the moments.
    ``largest`` int64[n]: the largest loss of each row in any leaf; -1 if there is none.
    """

    kind: int
    n_sums: int
    labels: np.ndarray
    weights: np.ndarray
    first: np.ndarray
    second: np.ndarray
    costs: np.ndarray
    table: np.ndarray
    scale: float
    first_unit: float
    second_unit: float
    largest: np.ndarray


def class_loss(codes: np.ndarray, n_classes: int, weights: np.ndarray | None, name: str) -> tuple[Loss, float]:
    """The loss of class labels, and what one unit of it is as weight times impurity.

    Parameters
    ----------
    codes : int32[n]
    n_classes : int
    weights : float64[n], > 0, or None
    name : str
        One of ``CLASS_LOSSES``.
    """
    n, kind = len(codes), CLASS_LOSSES[name]
    counts, exponent = _counts_of(weights, n)
    total = int(counts.sum())
    spare = max(0, _BITS - total.bit_length())
    costs, table, scale, largest = np.zeros((0, 0), np.int64), np.empty(0, np.int64), 1.0, np.full(n, -1, np.int64)
    if kind == COST:
        # Weights that are rows have room for a price of leaves between them.
        scale = math.ldexp(1.0, spare)
        costs = np.where(np.eye(n_classes, dtype=bool), 0, 1 << spare).astype(np.int64)
        largest = counts << spare
    elif kind == GINI:
        scale = math.ldexp(1.0, _BITS - total.bit_length())
        largest = np.ceil(counts * (2.0 * scale)).astype(np.int64)
    elif weights is None:
        table, scale = xlogx_table(n)
        table = np.rint(table * 2.0**-8).astype(np.int64)  # room for the sum of many leaves
        scale *= 2.0**-8
    else:
        scale = math.ldexp(1.0, _BITS - total.bit_length() - max(n_classes, 2).bit_length())
    nothing = np.empty(0, np.int64)
    loss = Loss(
        kind, n_classes, np.ascontiguousarray(codes, np.int32), counts, nothing, nothing, costs, table, scale, 1.0, 1.0,
        largest,
    )  # fmt: skip
    return loss, math.ldexp(1.0 / scale, -exponent)


def number_loss(targets: np.ndarray, weights: np.ndarray | None, name: str) -> tuple[Loss, float]:
    """The loss of numbers, and what one unit of it is as weight times impurity.

    Parameters
    ----------
    targets : float64[n], finite; for Poisson not negative
    weights : float64[n], > 0, or None
    name : str
        One of ``NUMBER_LOSSES``.
    """
    n, kind = len(targets), NUMBER_LOSSES[name]
    counts, exponent = _counts_of(weights, n)
    centred = targets if kind == POISSON else targets - centre_of(targets, weights)
    lift = unit_of(centred) if kind == SQUARED_ERROR else 1.0
    centred = centred / lift
    if kind == POISSON:
        more = np.where(centred > 0.0, centred * log_of(np.where(centred > 0.0, centred, 1.0)), 0.0)
    else:
        more = centred * centred
    (first,), first_unit = fixed_products(centred[None], weights, counts, exponent)
    (second,), second_unit = fixed_products(more[None], weights, counts, exponent)
    size = float(np.abs(second).sum()) * second_unit
    if kind == POISSON:
        events = float(first.sum()) * first_unit
        size += events * max(1.0, abs(float(log_of(max(events, 1e-300)))))
    scale = math.ldexp(1.0, _BITS - math.frexp(size)[1]) if size > 0.0 else 1.0
    largest = np.full(n, -1, np.int64)
    if kind == SQUARED_ERROR:
        farthest = np.maximum(centred - centred.min(), centred.max() - centred)
        ceiling = np.ceil(counts * (farthest * farthest * scale)) + 1.0
        if float(ceiling.sum()) < 2.0**61:
            largest = ceiling.astype(np.int64)
    no_costs, no_table = np.zeros((0, 0), np.int64), np.empty(0, np.int64)
    loss = Loss(
        kind, _MOMENTS, np.empty(0, np.int32), counts, first, second, no_costs, no_table, scale, first_unit,
        second_unit, largest,
    )  # fmt: skip
    square = min(max(lift * lift, 2.0**-1000), 2.0**1000)  # kept within float64, as `Problem.square_unit`
    return loss, math.ldexp(square / scale, -exponent)


def grain_of(loss: Loss) -> int:
    """What the losses of all leaves are multiples of: two trees that differ in loss differ by as much."""
    if loss.kind != COST:
        return 1
    return math.gcd(*loss.costs.ravel().tolist()) * math.gcd(*np.unique(loss.weights).tolist())


def _counts_of(weights: np.ndarray | None, n: int) -> tuple[np.ndarray, int]:
    """Fixed-point weights, int64[n], and their exponent; ones without weights."""
    fixed, exponent = fixed_weights(weights, n)
    return (fixed if weights is not None else np.ones(n, np.int64)), exponent


@inner_kernel
def add_row(loss, sums, row, sign):
    """Add a row to the sums of a set, or take it away (``sign`` -1); ``sums`` int64[n_sums], INOUT."""
    if loss.kind <= LOG_LOSS:
        sums[loss.labels[row]] += sign * loss.weights[row]
    else:
        sums[0] += sign * loss.weights[row]
        sums[1] += sign * loss.first[row]
        sums[2] += sign * loss.second[row]


@inner_kernel
def weight_of(loss, sums):
    """Fixed-point weight of a set; ``sums`` int64[n_sums]."""
    if loss.kind > LOG_LOSS:
        return sums[0]
    weight = np.int64(0)
    for k in range(loss.n_sums):
        weight += sums[k]
    return weight


@inner_kernel
def leaf_loss(loss, sums):
    """Loss of a leaf of these rows, int64; ``sums`` int64[n_sums]."""
    if loss.kind == COST:
        if loss.n_sums == 2:
            return min(sums[0] * loss.costs[0, 1], sums[1] * loss.costs[1, 0])
        least = np.int64(2**62)
        for k in range(loss.n_sums):
            cost = np.int64(0)
            for j in range(loss.n_sums):
                cost += sums[j] * loss.costs[j, k]
            least = min(least, cost)
        return least
    weight = weight_of(loss, sums)
    if weight <= 0:
        return np.int64(0)
    if loss.kind == LOG_LOSS and loss.table.shape[0] > 0:
        rest = loss.table[weight]
        for k in range(loss.n_sums):
            rest -= loss.table[sums[k]]
        return max(rest, np.int64(0))
    size = np.float64(weight)
    cost = 0.0
    if loss.kind == GINI:
        for k in range(loss.n_sums):
            cost += np.float64(sums[k]) * (np.float64(weight - sums[k]) / size)
    elif loss.kind == LOG_LOSS:
        for k in range(loss.n_sums):
            if sums[k] > 0:
                cost -= np.float64(sums[k]) * log2(np.float64(sums[k]) / size)
    elif loss.kind == SQUARED_ERROR:
        first = np.float64(sums[1]) * loss.first_unit
        cost = np.float64(sums[2]) * loss.second_unit - first * (first / size)
    else:
        first = np.float64(sums[1]) * loss.first_unit
        if first > 0.0:
            cost = np.float64(sums[2]) * loss.second_unit - first * log(first / size)
    return np.int64(np.rint(max(cost, 0.0) * loss.scale))
