"""Exact arithmetic of the criteria. In: rows of a node as plain numbers. Out: scores, gains, impurities.

Caller: naive_tree.

A score says how good a side of a split is; the gain is what two sides score above their node. Scores are fractions.
Where the criterion is made of logarithms the score is kept as its antilogarithm, a product of powers of whole numbers:
such scores multiply instead of adding up, and compare as exactly as the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

LOGARITHMIC = ("entropy", "log_loss", "poisson")


class Criterion:
    """A criterion on a target: ``y[row]`` is a tuple with one whole number (a class code, or a value) per output."""

    def __init__(self, name: str, y: Sequence[tuple[int, ...]], weights: Sequence[int], n_classes: tuple[int, ...]):
        self.name, self.y, self.weights, self.n_classes = name, y, weights, n_classes
        self.n_outputs = len(y[0])
        self.is_logarithmic = name in LOGARITHMIC

    def weight(self, rows: Sequence[int]) -> int:
        return sum(self.weights[row] for row in rows)

    def counts(self, rows: Sequence[int], output: int) -> list[int]:
        result = [0] * self.n_classes[output]
        for row in rows:
            result[self.y[row][output]] += self.weights[row]
        return result

    def total(self, rows: Sequence[int], output: int) -> int:
        return sum(self.weights[row] * self.y[row][output] for row in rows)

    def median(self, rows: Sequence[int], output: int) -> tuple[int, int]:
        """Lower and upper weighted median: the same number unless half of the weight falls between two rows."""
        half = Fraction(self.weight(rows), 2)
        ranked = sorted(rows, key=lambda row: self.y[row][output])
        below = 0
        for place, row in enumerate(ranked):
            below += self.weights[row]
            if below >= half:
                upper = ranked[place + 1] if below == half and place + 1 < len(ranked) else row
                return self.y[row][output], self.y[upper][output]
        raise AssertionError("no rows")

    def score(self, rows: Sequence[int]) -> Fraction | None:
        """None where a side may not exist (Poisson: no event in some output)."""
        weight = self.weight(rows)
        outputs = range(self.n_outputs)
        if self.name == "gini":
            return sum((Fraction(sum(c * c for c in self.counts(rows, o)), weight) for o in outputs), Fraction(0))
        if self.name == "misclassification":
            return Fraction(sum(max(self.counts(rows, o)) for o in outputs))
        if self.name == "squared_error":
            return Fraction(sum(self.total(rows, o) ** 2 for o in outputs), weight)
        if self.name == "absolute_error":
            return -Fraction(sum(self.distance(rows, o) for o in outputs))
        if self.name == "poisson":
            totals = [self.total(rows, o) for o in outputs]
            if min(totals) <= 0:
                return None
            return math.prod((Fraction(s, weight) ** s for s in totals), start=Fraction(1))
        powers = math.prod(c**c for o in outputs for c in self.counts(rows, o))
        return Fraction(powers, weight ** (weight * self.n_outputs))

    def distance(self, rows: Sequence[int], output: int) -> int:
        middle, _ = self.median(rows, output)
        return sum(self.weights[row] * abs(self.y[row][output] - middle) for row in rows)

    def gain(self, parent: Fraction | None, left: Fraction | None, right: Fraction | None) -> Fraction | None:
        if parent is None or left is None or right is None:
            return None
        return left * right / parent if self.is_logarithmic else left + right - parent

    def decrease(self, gain: Fraction, total_weight: int) -> float:
        """How much a split with this gain lowers the impurity of the whole tree."""
        if not self.is_logarithmic:
            return float(gain / self.n_outputs / total_weight)
        drop = math.log(gain.numerator) - math.log(gain.denominator)
        return drop / self.n_outputs / total_weight / (1.0 if self.name == "poisson" else math.log(2.0))

    def impurity(self, rows: Sequence[int]) -> float:
        weight = self.weight(rows)
        return math.fsum(self.output_impurity(rows, o, weight) for o in range(self.n_outputs)) / self.n_outputs

    def output_impurity(self, rows: Sequence[int], o: int, weight: int) -> float:
        if self.name == "squared_error":
            squares = sum(self.weights[row] * self.y[row][o] ** 2 for row in rows)
            return float(Fraction(squares, weight) - Fraction(self.total(rows, o), weight) ** 2)
        if self.name == "absolute_error":
            return float(Fraction(self.distance(rows, o), weight))
        if self.name == "poisson":
            mean = Fraction(self.total(rows, o), weight)
            terms = (
                self.weights[row] * self.y[row][o] * math.log(self.y[row][o] / mean) for row in rows if self.y[row][o]
            )
            return math.fsum(terms) / weight
        shares = [Fraction(c, weight) for c in self.counts(rows, o)]
        if self.name == "gini":
            return float(1 - sum(share * share for share in shares))
        if self.name == "misclassification":
            return float(1 - max(shares))
        return -math.fsum(share * math.log2(share) for share in shares if share)

    def is_pure(self, rows: Sequence[int]) -> bool:
        return all(self.y[row] == self.y[rows[0]] for row in rows)

    def prediction(self, rows: Sequence[int]) -> Fraction:
        """What monotone constraints compare: the mean, the median, or the share of the second of two classes."""
        if self.name == "absolute_error":
            return Fraction(sum(self.median(rows, 0)), 2)
        total = self.counts(rows, 0)[1] if self.n_classes else self.total(rows, 0)
        return Fraction(total, self.weight(rows))

    def value(self, rows: Sequence[int], unit: Fraction) -> list[float]:
        """What the tree stores: class counts (``unit`` is the weight of one whole-number step), or predictions."""
        if self.n_classes:
            return [float(c * unit) for o in range(self.n_outputs) for c in self.counts(rows, o)]
        if self.name == "absolute_error":
            return [float(Fraction(sum(self.median(rows, o)), 2)) for o in range(self.n_outputs)]
        return [float(Fraction(self.total(rows, o), self.weight(rows))) for o in range(self.n_outputs)]

    def has_one_number(self) -> bool:
        """Whether one number a row says all: then the levels of a nominal column are ordered by it."""
        if self.name == "absolute_error":
            return True
        return self.n_outputs == 1 and (not self.n_classes or self.n_classes[0] == 2)

    def rank(self, rows: Sequence[int]) -> Fraction:
        """What a level with these rows is ordered by."""
        if self.name == "absolute_error":
            return Fraction(self.median(rows, 0)[0])
        return self.prediction(rows)
