"""Costs of sets of weighted rows, to 50 digits. In: instances. Out: weight times impurity, medians, values.

Callers: naive_by_node, naive_c45.

A weight may be any fraction here (a row can be in several nodes in part), so logarithms are not avoided as in
naive_criteria but taken with 50 digits: numbers that are equal agree in nearly all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, getcontext
from fractions import Fraction
from functools import lru_cache

getcontext().prec = 50

Instance = tuple[int, Fraction]  # a row and its weight
CLASSIFICATION = ("gini", "entropy", "misclassification", "gain_ratio")
ZERO = Decimal(0)


@lru_cache(100_000)
def logarithm(number: Fraction) -> Decimal:
    return Decimal(number.numerator).ln() - Decimal(number.denominator).ln()


def decimal_of(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def times_log(number: Fraction) -> Decimal:
    """x ln x, 0 for 0."""
    return decimal_of(number) * logarithm(number) if number else ZERO


def weight_of(instances: Sequence[Instance]) -> Fraction:
    return sum((weight for _, weight in instances), Fraction(0))


def bits_of(parts: Sequence[Fraction]) -> Decimal:
    """Entropy in bits of a division, times its whole weight."""
    return (times_log(sum(parts, Fraction(0))) - sum((times_log(part) for part in parts), ZERO)) / Decimal(2).ln()


class Costs:
    """A criterion on a target: ``y[row]`` is a tuple with one whole number (a class code, or a value) per output."""

    def __init__(self, name: str, y: Sequence[tuple[int, ...]], n_classes: tuple[int, ...]) -> None:
        self.name, self.y, self.n_classes = name, y, n_classes
        self.n_outputs = len(y[0])

    def counts(self, instances: Sequence[Instance], output: int) -> list[Fraction]:
        result = [Fraction(0)] * self.n_classes[output]
        for row, weight in instances:
            result[self.y[row][output]] += weight
        return result

    def total(self, instances: Sequence[Instance], output: int) -> Fraction:
        return sum((weight * self.y[row][output] for row, weight in instances), Fraction(0))

    def cost(self, instances: Sequence[Instance]) -> Decimal:
        """Weight times impurity, averaged over outputs; 0 for no rows."""
        if not instances:
            return ZERO
        return sum((self.output_cost(instances, o) for o in range(self.n_outputs)), ZERO) / self.n_outputs

    def output_cost(self, instances: Sequence[Instance], o: int) -> Decimal:
        whole = weight_of(instances)
        if self.name in ("entropy", "gain_ratio"):
            return bits_of(self.counts(instances, o))
        if self.name == "gini":
            return decimal_of(whole - sum(c * c for c in self.counts(instances, o)) / whole)
        if self.name == "misclassification":
            return decimal_of(whole - max(self.counts(instances, o)))
        if self.name == "squared_error":
            squares = sum(weight * self.y[row][o] ** 2 for row, weight in instances)
            return decimal_of(squares - self.total(instances, o) ** 2 / whole)
        if self.name == "absolute_error":
            middle = self.median(instances, o)
            return decimal_of(sum((weight * abs(self.y[row][o] - middle) for row, weight in instances), Fraction(0)))
        terms = sum((decimal_of(weight) * times_log(Fraction(self.y[row][o])) for row, weight in instances), ZERO)
        events = self.total(instances, o)
        return terms - decimal_of(events) * logarithm(events / whole) if events else ZERO

    def scale(self, instances: Sequence[Instance]) -> Decimal:
        """What costs are differences of: near this much times 1e-16 floating point sees nothing."""
        if self.name == "poisson":
            values = [decimal_of(w) * times_log(Fraction(y)) for row, w in instances for y in self.y[row]]
        else:
            values = [decimal_of(w) * y * y for row, w in instances for y in self.y[row]]
        return sum(values, ZERO) / self.n_outputs

    def may_exist(self, instances: Sequence[Instance]) -> bool:
        """A Poisson mean of 0 has no deviance: a branch needs an event in every output."""
        return self.name != "poisson" or all(self.total(instances, o) > 0 for o in range(self.n_outputs))

    def median(self, instances: Sequence[Instance], output: int) -> Fraction:
        """The middle of the two where half of the weight falls between two rows."""
        lower, upper = self.medians(instances, output)
        return Fraction(lower + upper, 2)

    def medians(self, instances: Sequence[Instance], output: int) -> tuple[int, int]:
        half = weight_of(instances) / 2
        ranked = sorted(instances, key=lambda one: self.y[one[0]][output])
        below = Fraction(0)
        for place, (row, weight) in enumerate(ranked):
            below += weight
            if below >= half:
                upper = ranked[place + 1][0] if below == half and place + 1 < len(ranked) else row
                return self.y[row][output], self.y[upper][output]
        raise AssertionError("no rows")

    def value(self, instances: Sequence[Instance]) -> list[float]:
        """What a node holds: class counts, or predictions."""
        if self.n_classes:
            return [float(c) for o in range(self.n_outputs) for c in self.counts(instances, o)]
        if self.name == "absolute_error":
            return [float(self.median(instances, o)) for o in range(self.n_outputs)]
        return [float(self.total(instances, o) / weight_of(instances)) for o in range(self.n_outputs)]

    def has_one_number(self) -> bool:
        """Whether one number a row says all: then the levels of a nominal column are ordered by it."""
        if self.name == "absolute_error":
            return True
        return self.n_outputs == 1 and (not self.n_classes or self.n_classes[0] <= 2)

    def rank(self, instances: Sequence[Instance]) -> Fraction:
        """What a level with these rows is ordered by: share of the second class, mean, or lower median."""
        if self.name == "absolute_error":
            return Fraction(self.medians(instances, 0)[0])
        total = self.counts(instances, 0)[-1] if self.n_classes else self.total(instances, 0)
        return total / weight_of(instances)
