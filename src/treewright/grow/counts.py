"""Cuts and nodes for class counts: Gini, entropy, misclassification. In: ``CountStats``. Caller: grow.families.

A side of a split is scored from its class counts c and weight w: Gini ``sum c**2 / w``, entropy ``sum c log2 c - w log2 w``,
misclassification ``max c``; the gain is what the two sides score above the node. The sums over classes change by one term when a
row changes sides. They are kept as integers, so that they do not depend on the order of rows: squares and table entries where
every row weighs one, else terms rounded to a fixed point of the node's own (2**-60 of its largest possible sum).
"""

from __future__ import annotations

import math

import numpy as np

from treewright.core.jit import inner_kernel
from treewright.grow.layout import ROW
from treewright.grow.means import cut_range
from treewright.grow.statistics import ENTROPY, GINI, MISCLASSIFICATION


@inner_kernel
def term_scale(stats, node_weight):  # type: ignore[no-untyped-def]
    """Steps per unit of a term: a power of two, so that scaling is exact."""
    if stats.criterion == ENTROPY and stats.table.shape[0] > 0:
        return stats.table_scale
    if stats.criterion == GINI and stats.weights.shape[0] == 0:
        return 1.0
    weight = float(node_weight)
    n_outputs = float(stats.labels.shape[0])
    largest = weight * weight if stats.criterion == GINI else weight * max(math.log2(weight), 1.0)
    return 2.0 ** (60.0 - math.ceil(math.log2(largest * n_outputs)))


@inner_kernel
def term(stats, count, scale):  # type: ignore[no-untyped-def]
    """What a class with this count adds to its side's score, in steps."""
    if stats.criterion == GINI:
        if stats.weights.shape[0] == 0:
            return count * count
        return np.int64(np.rint(float(count) * float(count) * scale))
    if stats.criterion == ENTROPY:
        if stats.table.shape[0] > 0:
            return stats.table[count]
        if count == 0:
            return np.int64(0)
        return np.int64(np.rint(float(count) * math.log2(float(count)) * scale))
    return np.int64(0)


@inner_kernel
def largest_counts(stats, node, nodes, left, on_left):  # type: ignore[no-untyped-def]
    """Sum over outputs of the largest class count on one side."""
    total = 0
    for o in range(stats.labels.shape[0]):
        largest = 0
        for k in range(stats.offsets[o], stats.offsets[o + 1]):
            largest = max(largest, left[k] if on_left else nodes.totals[node, k] - left[k])
        total += largest
    return total


@inner_kernel
def score_of(stats, terms, weight, scale):  # type: ignore[no-untyped-def]
    """Score of a side from the sum of its terms: Gini or entropy."""
    if stats.criterion == GINI:
        return float(terms) / float(weight) / scale
    return float(terms - stats.labels.shape[0] * term(stats, weight, scale)) / scale


@inner_kernel
def move_row(stats, node, nodes, row, scale, left, terms):  # type: ignore[no-untyped-def]
    """Move a row to the left: counts, and the sums of terms of both sides (``terms[0]``, ``terms[1]``); returns its weight."""
    w = stats.weights[row] if stats.weights.shape[0] > 0 else 1
    for o in range(stats.labels.shape[0]):
        k = stats.offsets[o] + np.int64(stats.labels[o, row])
        here = left[k]
        there = nodes.totals[node, k] - here
        if stats.criterion != MISCLASSIFICATION:
            terms[0] += term(stats, here + w, scale) - term(stats, here, scale)
            terms[1] += term(stats, there - w, scale) - term(stats, there, scale)
        left[k] = here + w
    return w


@inner_kernel
def gain_of_sides(stats, node, nodes, left, left_weight, terms, scale):  # type: ignore[no-untyped-def]
    """Gain of a split; never negative."""
    if stats.criterion == MISCLASSIFICATION:
        both = largest_counts(stats, node, nodes, left, True) + largest_counts(stats, node, nodes, left, False)
        return float(both - nodes.score[node])
    weight = nodes.weight[node]
    both = score_of(stats, terms[0], left_weight, scale) + score_of(stats, terms[1], weight - left_weight, scale)
    return max(both - score_of(stats, nodes.score[node], weight, scale), 0.0)


@inner_kernel
def is_ordered(node, nodes, left, left_weight, direction):  # type: ignore[no-untyped-def]
    """Whether the share of the second class obeys the column's direction and stays in the node's interval."""
    left_share = float(left[1]) / float(left_weight)
    right_share = float(nodes.totals[node, 1] - left[1]) / float(nodes.weight[node] - left_weight)
    inside = min(left_share, right_share) >= nodes.low[node] and max(left_share, right_share) <= nodes.high[node]
    return inside and (left_share - right_share) * direction <= 0.0


@inner_kernel
def clear_counts(stats, items, left):  # type: ignore[no-untyped-def]
    """Set the counts of the classes of these rows to zero again: cheaper than clearing all when classes are many."""
    for i in range(items.shape[0]):
        for o in range(stats.labels.shape[0]):
            left[stats.offsets[o] + np.int64(stats.labels[o, items[i] & ROW])] = 0


def scan_counts(stats, node, nodes, items, n_present, limits, direction, target, after, way, work):  # type: ignore[no-untyped-def]
    """The best cut of one node in one column; parameters and result as ``means.scan_means``."""
    n_missing = items.shape[0] - n_present
    weight = nodes.weight[node]
    scale = term_scale(stats, weight)
    left = work.left
    terms = work.carry
    best = -1.0
    found = -1
    found_left = 0
    for missing_left in range(2 if n_missing > 0 else 1):
        if way < 2 and way != missing_left:
            continue
        first, last = cut_range(n_present, n_missing, missing_left, limits.min_leaf, after)
        terms[0] = 0
        terms[1] = nodes.score[node]
        left_weight = 0
        if missing_left:
            for i in range(n_present, items.shape[0]):
                left_weight += move_row(stats, node, nodes, items[i] & ROW, scale, left, terms)
        for i in range(last):
            left_weight += move_row(stats, node, nodes, items[i] & ROW, scale, left, terms)
            if i < first or items[i + 1] >= 0:
                continue
            if min(left_weight, weight - left_weight) < limits.min_leaf_weight:
                continue
            if limits.is_monotone and not is_ordered(node, nodes, left, left_weight, direction):
                continue
            gain = gain_of_sides(stats, node, nodes, left, left_weight, terms, scale)
            best = max(best, gain)
            if target >= 0.0 and gain >= target:
                if found < 0 or i < found:
                    found = i
                    found_left = missing_left
                break
        clear_counts(stats, items, left)
    return best, found, found_left


def summarise_counts(stats, node, nodes, items):  # type: ignore[no-untyped-def]
    """Fill in a new node; parameters and result as ``means.summarise_means``."""
    totals = nodes.totals[node]
    totals[:] = 0
    weight = add_count_rows(stats, items, totals)
    nodes.weight[node] = weight
    scale = term_scale(stats, weight)
    terms = 0
    pure = True
    for o in range(stats.labels.shape[0]):
        largest = 0
        for k in range(stats.offsets[o], stats.offsets[o + 1]):
            largest = max(largest, totals[k])
            terms += term(stats, totals[k], scale)
        pure = pure and largest == weight
        if stats.criterion == MISCLASSIFICATION:
            terms += largest
    nodes.score[node] = terms
    n_outputs = stats.labels.shape[0]
    if stats.criterion == MISCLASSIFICATION:
        lost = float(n_outputs * weight - terms)
    elif stats.criterion == GINI:
        lost = float(n_outputs * weight) - score_of(stats, terms, weight, scale)
    else:
        lost = -score_of(stats, terms, weight, scale)
    nodes.impurity[node] = 0.0 if pure else max(lost, 0.0) / (float(weight) * n_outputs)
    # Roundings of the fixed point: half a step per term, at most 8 terms on each side of a comparison and output.
    nodes.tolerance[node] = float(weight) * 1e-12 + 16.0 * n_outputs / scale * (stats.criterion == ENTROPY)
    return pure


def count_rank(stats, node, nodes, items):  # type: ignore[no-untyped-def]
    """What a level of a two-class target is ordered by: the share of the second class."""
    second = 0
    weight = 0
    for i in range(items.shape[0]):
        row = items[i] & ROW
        w = stats.weights[row] if stats.weights.shape[0] > 0 else 1
        weight += w
        second += w * np.int64(stats.labels[0, row])
    return float(second) / float(weight)


@inner_kernel
def add_count_rows(stats, items, totals):  # type: ignore[no-untyped-def]
    """Add the class counts of some rows to ``totals``; returns their weight."""
    weight = 0
    for i in range(items.shape[0]):
        row = items[i] & ROW
        w = stats.weights[row] if stats.weights.shape[0] > 0 else 1
        weight += w
        for o in range(stats.labels.shape[0]):
            totals[stats.offsets[o] + np.int64(stats.labels[o, row])] += w
    return weight


def add_rows_of_counts(stats, items, totals):  # type: ignore[no-untyped-def]
    """Add the class counts of some rows to ``totals``; returns their weight."""
    return add_count_rows(stats, items, totals)


def gain_of_counts(stats, node, nodes, left, left_weight):  # type: ignore[no-untyped-def]
    """Gain of sending rows with these counts and this weight to the left."""
    scale = term_scale(stats, nodes.weight[node])
    terms = np.zeros(2, np.int64)
    for k in range(left.shape[0]):
        terms[0] += term(stats, left[k], scale)
        terms[1] += term(stats, nodes.totals[node, k] - left[k], scale)
    return gain_of_sides(stats, node, nodes, left, left_weight, terms, scale)


def is_two_classes(stats):  # type: ignore[no-untyped-def]
    """Whether one share says all: then the order of levels by it holds an optimal subset."""
    return stats.labels.shape[0] == 1 and stats.offsets[1] == 2


def share_prediction(stats, node, nodes):  # type: ignore[no-untyped-def]
    """The node's share of the second class."""
    return float(nodes.totals[node, 1]) / float(nodes.weight[node])


def place_nothing(stats, columns, lo, hi):  # type: ignore[no-untyped-def]
    """Counts need no order of the targets."""


KERNELS = {
    "scan": scan_counts,
    "summarise": summarise_counts,
    "rank": count_rank,
    "gain": gain_of_counts,
    "add": add_rows_of_counts,
    "one": is_two_classes,
    "place": place_nothing,
    "prediction": share_prediction,
}
