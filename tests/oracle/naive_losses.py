"""Slow, obvious twins of losses: one row at a time, with fractions and the standard library's exponential."""

from __future__ import annotations

import math
from fractions import Fraction


def quantile(numbers, weights, level):
    """The least number up to which ``level`` of the weight lies; the middle of two where it ends between them."""
    pairs = sorted(zip(numbers, weights, strict=True))
    need = level * float(sum(weights))
    reached = 0
    for number, weight in pairs:
        reached += weight
        if reached >= need:
            following = [other for other, _ in pairs if other > number]
            upto = sum(weight for other, weight in pairs if other <= number)
            upper = min(following) if upto == need and following else number
            return 0.5 * number + 0.5 * upper
    raise AssertionError


def mean(numbers, weights):
    """The mean of the numbers as they are stored, rounded once."""
    products = sum(Fraction(number) * Fraction(weight) for number, weight in zip(numbers, weights, strict=True))
    return float(products / sum(map(Fraction, weights)))


def logistic(score):
    """Share of the second of two classes."""
    return 1 / (1 + math.exp(-score)) if score >= 0 else math.exp(score) / (1 + math.exp(score))


def softmax(scores):
    """Share of each class."""
    powers = [math.exp(score - max(scores)) for score in scores]
    return [power / sum(powers) for power in powers]
