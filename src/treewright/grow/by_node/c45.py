"""C4.5's way to choose a test. In: a problem. Out: ``C45Policy``. Caller: estimators.c45.

Quinlan 1993, as Weka 3.6 carries it out in J48: gain ratio among columns of at least average gain, a price for the
choice among many cuts, and a least weight of branches that grows with the node.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from treewright.grow.by_node.criteria import Criterion
from treewright.grow.by_node.cuts import Cuts, Rules
from treewright.grow.by_node.instances import Instances
from treewright.grow.by_node.levels import Partition
from treewright.grow.by_node.policy import RatioPolicy
from treewright.grow.by_node.problem import Problem
from treewright.grow.by_node.scan import Least, weigh_levels
from treewright.grow.by_node.search import Found, Search

CLOSE = 1e-6  # gains and ratios that differ by no more are equal: the first counts
SLACK = 1e-3  # below the average gain that still counts as average
MANY_LEVELS = 0.3  # of the rows: a column with more levels does not count in the average
LARGEST_LEAST, LEAST_SHARE = 25.0, 0.1  # weight that a side of a cut needs: at most; of the known weight per class


class C45Search(Search):
    """Candidates as C4.5 has them."""

    def __init__(self, problem: Problem, min_leaf: float, *, grouping: bool = False) -> None:
        super().__init__(problem, Criterion.of("entropy"), Rules("multiway"), data_values=True)
        self.min_leaf, self.grouping = float(min_leaf), grouping
        self.least = Least(self.min_leaf - CLOSE, LEAST_SHARE / problem.n_stats, LARGEST_LEAST)
        self.left_out = np.zeros(len(problem.level_columns), np.uint8)
        self.groups = [np.arange(len(problem.schema.columns[at].levels)) for at in problem.level_columns]

    def search_cuts(self, instances: Instances, tolerance: float) -> Cuts:  # noqa: ARG002 - C4.5 has its own
        """The best cuts, less what the choice among so many costs."""
        weight = instances.weight
        cuts = super().search_cuts(instances, CLOSE * weight)
        price = np.log2(np.maximum(cuts.n_tried, 1))
        corrected = cuts.gains - price
        cuts.gains[:] = np.where((cuts.gains >= 0.0) & (corrected > CLOSE * weight), corrected, -1.0)
        return cuts

    def search_levels(self, instances: Instances, tolerance: float) -> tuple[np.ndarray, dict[int, Partition]]:  # noqa: ARG002
        """All level columns at once: their levels stand in one table."""
        problem = self.problem
        tables, counts = self.level_tables(instances)
        partitions: dict[int, Partition] = {}
        k = len(problem.level_columns)
        if not k:
            return tables, partitions
        gains, infos, held = np.empty(k), np.empty(k), np.empty((k, 4))
        weigh_levels(
            tables, counts, problem.level_starts, instances.stats, problem.outputs, self.criterion.number, True,
            self.left_out, gains, infos, held,
        )  # fmt: skip
        # Two branches need the least weight: the second heaviest tells.
        offered = (held[:, 3] >= self.min_leaf - CLOSE).nonzero()[0].tolist()
        for place in offered:
            groups = self.groups[place]
            partition = Partition(float(gains[place]), groups, len(groups), -1, info=float(infos[place]))
            if self.grouping:
                here = problem.levels_of(place)
                partition = grouped(tables[here], counts[here], partition, self.min_leaf, instances.weight)
            partitions[int(problem.level_columns[place])] = partition
        return tables, partitions


def _entropy_costs(tables: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weight times entropy in bits of each row, float64[k]."""
    logs = np.log2(np.where(tables > 0.0, tables, 1.0))
    costs: np.ndarray = weights * np.log2(np.where(weights > 0.0, weights, 1.0)) - (tables * logs).sum(axis=1)
    return costs


def grouped(
    tables: np.ndarray, counts: np.ndarray, single: Partition, min_leaf: float, node_weight: float
) -> Partition:
    """Merge levels greedily while the gain ratio does not fall (Quinlan 1993, chapter 7).

    Parameters
    ----------
    tables : float64[v, n_classes], counts : int64[v]
    single : Partition
        A branch per level.
    """
    groups = [[level] for level in np.flatnonzero(counts).tolist()]
    whole = tables.sum(axis=0)
    known = float(whole.sum())
    base = float(_entropy_costs(whole[None], np.array([known]))[0])

    def judged(sets: list[list[int]]) -> tuple[float, float, bool]:
        merged = np.array([tables[one].sum(axis=0) for one in sets])
        weights = merged.sum(axis=1)
        gain = max(base - float(_entropy_costs(merged, weights).sum()), 0.0)
        shares = np.append(weights, node_weight - known) / node_weight
        info = -float((shares * np.log2(np.where(shares > 0.0, shares, 1.0))).sum())
        return gain / node_weight / info if info > 0.0 else 0.0, gain, int((weights >= min_leaf - CLOSE).sum()) > 1

    ratio, gain, valid = judged(groups)
    while len(groups) > 2:
        offers = []
        for first, second in combinations(range(len(groups)), 2):
            rest = [one for at, one in enumerate(groups) if at not in (first, second)]
            merged = sorted([*rest, sorted(groups[first] + groups[second])])
            offers.append((*judged(merged), merged))
        best = max(offers, key=lambda offer: (offer[2], offer[0]))  # the first of equals
        if not best[2] or (valid and best[0] < ratio - CLOSE):
            break
        ratio, gain, valid, groups = best
    placed = np.full(len(counts), -1, np.int64)
    for branch, group in enumerate(groups):
        placed[group] = branch
    return Partition(gain, placed, len(groups), single.side, exact=False) if valid else single


class C45Policy(RatioPolicy):
    """Gain ratio among columns of at least average gain; no test that gains nothing."""

    slack = SLACK

    def __init__(self, search: C45Search) -> None:
        super().__init__(search)
        schema, n_rows = search.problem.schema, search.problem.n_rows
        many = np.array([len(column.levels) >= MANY_LEVELS * n_rows for column in schema.columns])
        nominal = np.array([column.kind == "nominal" for column in schema.columns])
        # Where every column is of that kind, all of them count.
        self.is_counted = ~(nominal & many) | bool((nominal & many).all())
        self.min_leaf = search.min_leaf

    def counted(self, found: Found) -> np.ndarray:
        """Columns whose gain counts in the average: not those with very many levels."""
        counted: np.ndarray = (found.gains >= 0.0) & self.is_counted
        return counted

    def may_split(self, instances: Instances) -> bool:
        """Whether there is more than one class, and two branches can have enough."""
        is_pure = instances.weight - float(instances.stats.max()) <= CLOSE
        return not is_pure and instances.weight >= 2 * self.min_leaf - CLOSE

    def scores(self, found: Found) -> np.ndarray:
        """Gain ratio; nan for a column below the average gain, or without any gain."""
        scores = super().scores(found)
        return np.where(scores > CLOSE, scores, np.nan)

    def tolerance(self, found: Found) -> float:  # noqa: ARG002
        """As J48."""
        return CLOSE
