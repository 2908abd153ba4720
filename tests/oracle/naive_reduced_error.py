"""The slow, obvious twin of reduced-error pruning. In: a nested tree, hold-out rows. Out: costs, the nodes to cut.

Caller: test_reduced_error_against_twin. Costs are exact fractions; a row goes down on its own, by recursion.
"""

from __future__ import annotations

import math
from fractions import Fraction

import random_models  # noqa: F401 - puts random_trees within reach
from random_trees import branch


def passes(node, cells, divides, share=Fraction(1)):
    """Every node that a row reaches, with its share there."""
    yield node, share
    if node["test"] is None:
        return
    at = branch(node["test"], cells[node["test"][0]])
    if at < 0 and not divides:
        at = node["test"][3]
    if at >= 0:
        yield from passes(node["children"][at], cells, divides, share)
        return
    weights = [sum(Fraction(weight) for _, weight in child["rows"]) for child in node["children"]]
    for child, weight in zip(node["children"], weights, strict=True):
        if weight:
            yield from passes(child, cells, divides, share * weight / sum(weights))


def loss_at(said, truth, loss):
    """Mean over the outputs."""
    return sum(_loss(one, other, loss) for one, other in zip(said, truth, strict=True)) / len(said)


def _loss(said, truth, loss):
    if loss == "misclassification":
        return Fraction(int(said != truth))
    said, truth = Fraction(float(said)), Fraction(float(truth))
    if loss == "squared_error":
        return (said - truth) ** 2
    if loss == "absolute_error":
        return abs(said - truth)
    log = Fraction(math.log(truth / said)) if truth else 0
    return 2 * (truth * log - truth + said)


def costs_of(root, says, matrix, target, weights, loss, divides):
    """What the rows cost at each node, and their weight there, by position."""
    cost, held = {}, {}
    for cells, truth, weight in zip(matrix, target, weights, strict=True):
        for node, share in passes(root, cells, divides):
            at = node["at"]
            cost[at] = cost.get(at, 0) + Fraction(float(weight)) * share * loss_at(says[at], truth, loss)
            held[at] = held.get(at, 0) + Fraction(float(weight)) * share
    return cost, held


def reduced_error(node, cost, equal):
    """The least cost at and below a node, and the nodes that become leaves."""
    as_leaf = cost.get(node["at"], Fraction(0))
    if node["test"] is None:
        return as_leaf, []
    below, cut = Fraction(0), []
    for child in node["children"]:
        best, deeper = reduced_error(child, cost, equal)
        below, cut = below + best, cut + deeper
    if as_leaf <= below * (1 + Fraction(equal)):
        return as_leaf, [*cut, node["at"]]
    return below, cut
