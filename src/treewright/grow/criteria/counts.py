"""Impurities of class counts, for every grower: Gini, entropy, misclassification.

A side of a split has a *score*, made of its class counts c and weight w: Gini ``sum c**2 / w``, entropy ``sum c log2 c
- w log2 w``, misclassification ``max c``. A side of one class has the largest score; the *cost* of a side, weight times
impurity, is its distance from that. The gain of a split is the score of the two sides minus that of the node.

A new impurity is named in ``trees.class_criteria`` and has its lines in the functions ``term_of`` and ``score_from``
and in the set ``WITH_TERMS``. Everything else follows from them: the growers by levels and on bins add up terms in
whole numbers (``CountStats``), the grower by nodes costs in float64, because its weights may be parts of rows.

The sums over classes change by one term when a row changes sides. They are kept as integers, so that they do not depend
on the order of rows: squares and table entries if every row has weight 1, else terms rounded to the node's own fixed
point (2**-60 of its largest possible sum).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from treewright.core.elementary import log2
from treewright.core.jit import inner_kernel
from treewright.grow.criteria.means import cut_range, never_few
from treewright.grow.layout import ROW, SMALLEST
from treewright.trees.class_criteria import CLASSIFICATION_CRITERIA, ENTROPY, GINI, MISCLASSIFICATION

# Smaller squares are added up exactly: whole weights then have the same gain as that many rows, bit for bit.
_EXACT = 2.0**60
_SQUARE_FROM, _SQUARE_TO = 1e-140, 1e140  # weights whose squares are numbers

WITH_TERMS = {GINI, ENTROPY, MISCLASSIFICATION}  # the criteria that the kernels below know


def refuse_without_terms(criteria: Mapping[str, int]) -> None:
    """Refuse names whose numbers no kernel here knows: they would get the terms of another criterion."""
    if missing := sorted(name for name, number in criteria.items() if number not in WITH_TERMS):
        raise NotImplementedError(f"no terms in grow.criteria.counts for {', '.join(missing)}")


refuse_without_terms(CLASSIFICATION_CRITERIA)


@inner_kernel
def term_of(criterion, count):
    """The term of a class in its side's score, as float; ``count`` float above 0."""
    if criterion == GINI:
        return count * count
    if criterion == ENTROPY:
        return count * log2(count)
    return 0.0  # misclassification is no sum over classes


@inner_kernel
def score_from(criterion, terms, weight):
    """Score of a side from the sum of its terms and its weight; linear in the sum.

    Entropy has its own formulas, in which whole numbers are subtracted before anything is rounded.
    """
    if criterion == ENTROPY:
        return terms - weight * log2(weight)
    return terms / weight


@inner_kernel
def pure_score(criterion, weight):
    """Score of a side with one class: the largest possible one."""
    if criterion in (GINI, MISCLASSIFICATION):
        return weight
    if criterion == ENTROPY:
        return 0.0
    return score_from(criterion, term_of(criterion, weight), weight)


# In float64, for the grower by nodes.


@inner_kernel
def times_log(x, table):
    """``x log2 x``, from the table if x is a whole number in it: a tenth of the time of a logarithm.

    ``table`` float64[m].
    """
    # Compared as a float first: a float beyond int64 becomes a whole number that each processor chooses for itself.
    if x < table.shape[0] and np.int64(x) == x:
        return table[np.int64(x)]
    return x * log2(x)


@inner_kernel
def cost_of_counts(criterion, stats, start, stop, table):
    """Weight times impurity of the class counts ``stats[start:stop]`` (float64); 0 without any.

    ``table`` is ``Problem.table``, for ``times_log``.

    ``stats`` float64[n_stats], ``table`` float64[m].
    """
    weight = 0.0
    terms = 0.0
    largest = 0.0
    for t in range(start, stop):
        count = stats[t]
        if count > 0.0:
            weight += count
            if criterion == GINI:
                terms += count * count
            elif criterion == ENTROPY:
                terms += times_log(count, table)
            elif criterion == MISCLASSIFICATION:
                largest = max(largest, count)
            else:
                terms += term_of(criterion, count)
    if weight <= 0.0:
        return 0.0
    if criterion == GINI:
        if _SQUARE_FROM < weight < _SQUARE_TO:
            return weight - terms / weight
        terms = 0.0
        for t in range(start, stop):
            terms += stats[t] * (stats[t] / weight)
        return weight - terms
    if criterion == ENTROPY:
        return times_log(weight, table) - terms
    if criterion == MISCLASSIFICATION:
        return weight - largest
    return pure_score(criterion, weight) - score_from(criterion, terms, weight)


# In whole numbers, for the growers by levels and on bins.


@inner_kernel
def term_scale(criterion, has_weights, table, table_scale, n_outputs, node_weight):
    """Steps per unit of a term: a power of two, so that scaling is exact. ``table`` int64[n + 1 or 0]."""
    if criterion == ENTROPY and table.shape[0] > 0:
        return table_scale
    weight = float(node_weight)
    largest = max(term_of(criterion, weight), weight)
    if criterion == MISCLASSIFICATION:
        return 1.0
    if criterion == GINI and (not has_weights or largest * n_outputs < _EXACT):
        return 1.0
    return 2.0 ** (60.0 - math.ceil(log2(largest * n_outputs)))


@inner_kernel
def term(criterion, has_weights, table, count, scale):
    """``term_of`` a whole count, in steps: a whole number. ``table`` int64[n + 1 or 0]."""
    if criterion == GINI and scale == 1.0:
        return count * count
    if criterion == ENTROPY and table.shape[0] > 0:
        return table[count]
    if count == 0:
        return np.int64(0)
    return np.int64(np.rint(term_of(criterion, float(count)) * scale))


@inner_kernel
def largest_counts(offsets, totals, left, on_left):
    """Sum over outputs of the largest class count on one side.

    ``offsets`` int64[n_outputs + 1], ``totals`` int64[c], ``left`` int64[>= c].
    """
    total = 0
    for o in range(offsets.shape[0] - 1):
        largest = 0
        for k in range(offsets[o], offsets[o + 1]):
            largest = max(largest, left[k] if on_left else totals[k] - left[k])
        total += largest
    return total


@inner_kernel
def score_of(criterion, has_weights, table, n_outputs, terms, weight, scale):
    """Score of a side from the sum of its terms, in steps, over all outputs; not for misclassification.

    ``table`` int64[n + 1 or 0].
    """
    if criterion == ENTROPY:
        return float(terms - n_outputs * term(criterion, has_weights, table, weight, scale)) / scale
    return score_from(criterion, float(terms) / scale, float(weight))


@inner_kernel
def gain_of_sides(
    criterion, has_weights, table, offsets, totals, left, left_weight, weight, left_terms, right_terms, score, scale
):
    """Gain of a split; never negative.

    ``score`` is the node's sum of terms (of largest counts for misclassification).

    ``table`` int64[n + 1 or 0], ``offsets`` int64[n_outputs + 1], ``totals`` int64[c], ``left`` int64[>= c].
    """
    if criterion == MISCLASSIFICATION:
        both = largest_counts(offsets, totals, left, True) + largest_counts(offsets, totals, left, False)
        return float(both - score)
    n_outputs = offsets.shape[0] - 1
    both = score_of(criterion, has_weights, table, n_outputs, left_terms, left_weight, scale)
    both += score_of(criterion, has_weights, table, n_outputs, right_terms, weight - left_weight, scale)
    return max(both - score_of(criterion, has_weights, table, n_outputs, score, weight, scale), 0.0)


@inner_kernel
def is_ordered(totals, weight, left, left_weight, direction, low, high):
    """Whether the share of the second class obeys the column's direction and stays in the node's interval.

    ``totals`` int64[c], ``left`` int64[>= c].
    """
    left_share = float(left[1]) / float(left_weight)
    right_share = float(totals[1] - left[1]) / float(weight - left_weight)
    inside = min(left_share, right_share) >= low and max(left_share, right_share) <= high
    return inside and (left_share - right_share) * direction <= 0.0


def scan_counts(stats, node, nodes, items, n_present, limits, direction, target, after, way, work):
    """The best cut of one node in one column; parameters and result as ``means.scan_means``. ``items`` int32[m]."""
    n_missing = items.shape[0] - n_present
    criterion = stats.criterion
    table = stats.table
    labels = stats.labels
    offsets = stats.offsets
    weights = stats.weights
    has_weights = weights.shape[0] > 0
    totals = nodes.totals[node]
    weight = nodes.weight[node]
    score = nodes.score[node]
    scale = term_scale(criterion, has_weights, table, stats.table_scale, labels.shape[0], weight)
    left = work.left
    best = -1.0
    found = -1
    found_left = 0
    for missing_left in range(2 if n_missing > 0 else 1):
        if way < 2 and way != missing_left:
            continue
        first, last = cut_range(n_present, n_missing, missing_left, limits.min_leaf, after)
        left_terms = 0
        right_terms = score
        left_weight = 0
        # Missing rows first if they go left (negative positions), then the present ones up to the last cut.
        for i in range(-n_missing if missing_left else 0, last):
            row = items[n_present - 1 - i if i < 0 else i] & ROW
            w = weights[row] if has_weights else 1
            left_weight += w
            for o in range(labels.shape[0]):
                k = offsets[o] + np.int64(labels[o, row])
                here = left[k]
                there = totals[k] - here
                left[k] = here + w
                if criterion != MISCLASSIFICATION:
                    left_terms += term(criterion, has_weights, table, here + w, scale)
                    left_terms -= term(criterion, has_weights, table, here, scale)
                    right_terms += term(criterion, has_weights, table, there - w, scale)
                    right_terms -= term(criterion, has_weights, table, there, scale)
            if i < first or items[i + 1] >= 0:
                continue
            if min(left_weight, weight - left_weight) < limits.min_leaf_weight:
                continue
            if limits.is_monotone and not is_ordered(
                totals, weight, left, left_weight, direction, nodes.low[node], nodes.high[node]
            ):
                continue
            gain = gain_of_sides(
                criterion, has_weights, table, offsets, totals, left, left_weight, weight, left_terms, right_terms,
                score, scale,
            )  # fmt: skip
            best = max(best, gain)
            if target >= 0.0 and gain >= target:
                if found < 0 or i < found:
                    found = i
                    found_left = missing_left
                break
        # Faster than clearing every class if classes are many and rows few.
        for i in range(items.shape[0]):
            for o in range(labels.shape[0]):
                left[offsets[o] + np.int64(labels[o, items[i] & ROW])] = 0
    return best, found, found_left


def summarise_counts(stats, node, nodes, items):
    """Fill in a new node; parameters and result as ``means.summarise_means``. ``items`` int32[m]."""
    totals = nodes.totals[node]
    totals[:] = 0
    weight = add_count_rows(stats.labels, stats.offsets, stats.weights, items, totals)
    nodes.weight[node] = weight
    criterion = stats.criterion
    has_weights = stats.weights.shape[0] > 0
    n_outputs = stats.labels.shape[0]
    scale = term_scale(criterion, has_weights, stats.table, stats.table_scale, n_outputs, weight)
    terms = 0
    pure = True
    for o in range(n_outputs):
        largest = 0
        for k in range(stats.offsets[o], stats.offsets[o + 1]):
            largest = max(largest, totals[k])
            terms += term(criterion, has_weights, stats.table, totals[k], scale)
        pure = pure and largest == weight
        if criterion == MISCLASSIFICATION:
            terms += largest
    nodes.score[node] = terms
    if criterion == MISCLASSIFICATION:
        lost = float(n_outputs * weight - terms)
    else:
        lost = n_outputs * pure_score(criterion, float(weight))
        lost -= score_of(criterion, has_weights, stats.table, n_outputs, terms, weight, scale)
    nodes.impurity[node] = 0.0 if pure else max(lost / (float(weight) * n_outputs), SMALLEST)
    # Roundings of the fixed point: half a step per term, a few terms on each side of a comparison and output.
    nodes.tolerance[node] = float(weight) * 1e-12 + 16.0 * n_outputs / scale * (criterion == ENTROPY)
    return pure


def count_rank(stats, node, nodes, items):
    """The number that orders the levels of a two-class target: the share of the second class. ``items`` int32[m]."""
    second = 0
    weight = 0
    for i in range(items.shape[0]):
        row = items[i] & ROW
        w = stats.weights[row] if stats.weights.shape[0] > 0 else 1
        weight += w
        second += w * np.int64(stats.labels[0, row])
    return float(second) / float(weight)


@inner_kernel
def add_count_rows(labels, offsets, weights, items, totals):
    """Add the class counts of some rows to ``totals``; returns their weight.

    ``labels`` uint8 or int32[n_outputs, n], ``offsets`` int64[n_outputs + 1], ``weights`` int64[n or 0], ``items``
    int32[m], ``totals`` int64[c].
    """
    weight = 0
    has_weights = weights.shape[0] > 0
    for i in range(items.shape[0]):
        row = items[i] & ROW
        w = weights[row] if has_weights else 1
        weight += w
        for o in range(labels.shape[0]):
            totals[offsets[o] + np.int64(labels[o, row])] += w
    return weight


def add_rows_of_counts(stats, items, totals):
    """Add the class counts of some rows, ``items`` int32[m], to ``totals`` int64[c]; returns their weight."""
    return add_count_rows(stats.labels, stats.offsets, stats.weights, items, totals)


def gain_of_counts(stats, node, nodes, left, left_weight):
    """Gain of sending rows with these counts, ``left`` int64[c], and this weight to the left."""
    totals = nodes.totals[node]
    has_weights = stats.weights.shape[0] > 0
    weight = nodes.weight[node]
    scale = term_scale(stats.criterion, has_weights, stats.table, stats.table_scale, stats.labels.shape[0], weight)
    left_terms = 0
    right_terms = 0
    for k in range(left.shape[0]):
        left_terms += term(stats.criterion, has_weights, stats.table, left[k], scale)
        right_terms += term(stats.criterion, has_weights, stats.table, totals[k] - left[k], scale)
    return gain_of_sides(
        stats.criterion, has_weights, stats.table, stats.offsets, totals, left, left_weight, weight, left_terms,
        right_terms, nodes.score[node], scale,
    )  # fmt: skip


def is_two_classes(stats):
    """Whether one proportion describes a node: the order of levels by it then contains an optimal subset."""
    return stats.labels.shape[0] == 1 and stats.offsets[1] == 2


def share_prediction(stats, node, nodes):
    """The node's share of the second class."""
    return float(nodes.totals[node, 1]) / float(nodes.weight[node])


def place_nothing(stats, columns, lo, hi):
    """Counts need no order of the targets."""


KERNELS = {
    "scan": scan_counts,
    "few": never_few,
    "summarise": summarise_counts,
    "rank": count_rank,
    "gain": gain_of_counts,
    "add": add_rows_of_counts,
    "one": is_two_classes,
    "place": place_nothing,
    "prediction": share_prediction,
}
