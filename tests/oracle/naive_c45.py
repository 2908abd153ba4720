"""The slow twin of C4.5 without pruning. In: a table, least weight of a branch. Out: a list of ``TwinNode``.

Caller: test_by_node_against_twin.

Quinlan 1993 as the guide and ``C45Classifier`` state it. Gains are logarithms of fractions to 50 digits; where a
decision hangs on less than 1e-9 the twin says so: rounding may decide otherwise.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from naive_by_node import RatioTwin, TwinNode, TwinRules, TwinTable, TwinTest
from naive_costs import ZERO, decimal_of, logarithm, weight_of

CLOSE = Decimal("1e-6")  # gains and ratios that differ by no more are equal
ROUNDING = Decimal("1e-9")


class C45Twin(RatioTwin):
    """Grows one tree; columns of levels are nominal."""

    def __init__(self, table: TwinTable, rules: TwinRules, min_leaf: int) -> None:
        super().__init__(table, rules)
        self.min_leaf = Decimal(min_leaf)
        n_rows = sum(1 for weight in table.weights if weight)
        many = [bool(n) and Fraction(n) >= Fraction(3, 10) * n_rows for n in table.n_levels]
        self.is_counted = [all(many) or not one for one in many]

    def reaches(self, number: Decimal, limit: Decimal) -> bool:
        """Whether a number is at least a limit; what rounding could turn is noted."""
        self.is_close |= abs(number - limit) < ROUNDING
        return number >= limit

    def first_near_best(self, tests: list[TwinTest], numbers: list[Decimal]) -> TwinTest:
        """The first whose number is within 1e-6 of the best."""
        best = max(numbers)
        self.is_close |= any(ROUNDING / 10**6 < best - number < 3 * CLOSE for number in numbers)
        return next(test for test, number in zip(tests, numbers, strict=True) if number >= best - CLOSE)

    def choose(self, node: TwinNode) -> TwinTest | None:
        whole = decimal_of(weight_of(node.instances))
        if not self.reaches(whole, 2 * self.min_leaf - CLOSE):
            return None
        offers = [test for column in range(len(self.table.columns)) if (test := self.best_of(node, column))]
        counted = [test.gain for test in offers if self.is_counted[test.column]]
        if counted:
            least = sum(counted, ZERO) / len(counted) / whole - Decimal("1e-3")
            offers = [test for test in offers if self.reaches(test.gain / whole, least)]
        for test in offers:
            info = self.split_info(node, test)
            test.score = test.gain / info if info else ZERO
        offers = [test for test in offers if self.reaches(test.score, CLOSE)]
        return self.first_near_best(offers, [test.score for test in offers]) if offers else None

    def best_of(self, node: TwinNode, column: int) -> TwinTest | None:
        groups, gone = self.by_value(node.instances, column)
        if not groups:
            return None
        if self.table.n_levels[column]:
            return self.levels_of(node, column)
        whole = decimal_of(weight_of(node.instances))
        known = decimal_of(weight_of(node.instances) - weight_of(gone))
        share = min(known / 10 / self.costs.n_classes[0], Decimal(25))
        least = max(share, self.min_leaf) - CLOSE
        tests = []
        for test in self.cuts(column, groups, gone):
            if all(self.reaches(decimal_of(weight_of(part)), least) for part in test.parts):
                test.gain = self.gain_of(test)
                tests.append(test)
        if not tests:
            return None
        best = self.first_near_best(tests, [test.gain / whole for test in tests])
        # The choice among so many cuts is paid for.
        best.gain -= logarithm(Fraction(len(tests))) / Decimal(2).ln()
        best.n_tried = len(tests)
        values = [v for v, w in zip(self.table.columns[column], self.table.weights, strict=True) if w]
        best.threshold = float(max(v for v in values if v is not None and v <= best.threshold))
        return best if self.reaches(best.gain / whole, CLOSE) else None

    def levels_of(self, node: TwinNode, column: int) -> TwinTest | None:
        """The branch per level, where two branches hold enough."""
        for test in self.branch_per_level(column, *self.by_value(node.instances, column)):
            enough = [self.reaches(decimal_of(weight_of(part)), self.min_leaf - CLOSE) for part in test.parts if part]
            if sum(enough) > 1:
                test.gain = self.gain_of(test)
                return test
        return None

    def gain_of(self, test: TwinTest) -> Decimal:
        """Cost that the branches take from the known rows."""
        known = [one for part in test.parts for one in part]
        return self.costs.cost(known) - sum((self.costs.cost(part) for part in test.parts), ZERO)
