"""Growth that stops where the best test is not significant, slowly. In: a twin. Out: a twin with the stop.

Caller: test_significance_against_twin.

Statistics are fractions; only the tails come from scipy. The number of possible tests is that of the tests listed.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from naive_by_node import ByNodeTwin, RatioTwin, TwinNode, TwinTest
from naive_c45 import C45Twin
from naive_costs import Instance, weight_of
from scipy.stats import chi2, f

CLOSE = 1e-9  # a share of the limit: nearer p-values hang on rounding


class Stopping:
    """Mixed into a twin: a node whose test is not significant stays a leaf."""

    max_p_value: float
    n_stopped = 0
    n_judged = 0
    is_counting = False

    def opened(self, instances: list[Instance], depth: int) -> TwinNode:
        node = super().opened(instances, depth)  # type: ignore[misc]
        if node.test is None:
            return node
        p = self.p_of(node.test)
        self.is_counting = True
        adjusted = min(p * self.n_tests(node), 1.0)
        self.is_counting = False
        self.is_close |= abs(adjusted - self.max_p_value) < CLOSE * self.max_p_value and adjusted < 1.0
        self.n_judged += 1
        if adjusted > self.max_p_value:
            self.n_stopped += 1
            node.test = None
        return node

    def p_of(self, test: TwinTest) -> float:
        """Of several outputs the least p-value times their number."""
        parts = [part for part in test.parts if part]
        outputs = range(self.costs.n_outputs)
        of_output = self.p_of_classes if self.costs.n_classes else self.p_of_numbers
        return min(1.0, len(outputs) * min(of_output(parts, output) for output in outputs))

    def p_of_classes(self, parts: list[list[Instance]], output: int) -> float:
        """Pearson's chi-squared of parts and the classes that they hold."""
        table = [self.costs.counts(part, output) for part in parts]
        classes = [sum(column) for column in zip(*table, strict=True)]
        total = sum(classes)
        statistic = Fraction(0)
        for row in table:
            for count, of_class in zip(row, classes, strict=True):
                if of_class:
                    expected = sum(row) * Fraction(of_class) / total
                    statistic += (count - expected) ** 2 / expected
        dof = (len(parts) - 1) * (sum(1 for one in classes if one) - 1)
        return float(chi2.sf(float(statistic), dof)) if dof and statistic else 1.0

    def p_of_numbers(self, parts: list[list[Instance]], output: int) -> float:
        """F of a one-way analysis of variance; rows are counted, or parts of them, whatever they weigh."""
        everyone = [one for part in parts for one in part]
        mean = self.costs.total(everyone, output) / weight_of(everyone)
        between = within = Fraction(0)
        for part in parts:
            own = self.costs.total(part, output) / weight_of(part)
            between += weight_of(part) * (own - mean) ** 2
            within += sum(weight * (self.costs.y[row][output] - own) ** 2 for row, weight in part)
        n_rows = sum((weight / self.table.weights[row] for row, weight in everyone), Fraction(0))
        dof, left = len(parts) - 1, n_rows - len(parts)
        if left <= 0 or not between:
            return 1.0
        return float(f.sf(float(between / dof / (within / left)), dof, float(left))) if within else 0.0

    def n_tests(self, node: TwinNode) -> int:
        """Tests that were possible, whatever rows their branches need."""
        n_tests = 0
        for column in range(len(self.table.columns)):
            groups, gone = self.by_value(node.instances, column)
            if not groups:
                continue
            if not self.table.n_levels[column]:
                n_tests += len(list(self.cuts(column, groups, gone)))
            elif self.rules.nominal_splits != "multiway":
                n_tests += len(list(self.two_sets(column, groups, gone)))
            elif list(self.branch_per_level(column, groups, gone)):
                n_tests += len(groups) if self.way_of(gone) == "both" else 1
        return n_tests

    def level_sets(self, groups: dict[int, list[Instance]]) -> Iterator[set[int]]:
        """All sets, also where the twin lists only those that may be best."""
        if self.is_counting and self.rules.nominal_splits == "subset":
            for chosen in product((False, True), repeat=len(groups)):
                if any(chosen):
                    yield {level for level, is_in in zip(groups, chosen, strict=True) if is_in}
        else:
            yield from super().level_sets(groups)  # type: ignore[misc]


class StoppingTwin(Stopping, ByNodeTwin):
    """CART, ID3."""


class StoppingRatioTwin(Stopping, RatioTwin):
    """CART by gain ratio."""


class StoppingC45Twin(Stopping, C45Twin):
    """C4.5."""
