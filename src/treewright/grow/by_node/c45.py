"""C4.5's way to choose a test. In: a problem. Out: ``C45Policy``.

Quinlan 1993, as implemented in J48 of Weka 3.6: gain ratio among columns of at least average gain, a price for the
choice among many cuts, and a least weight of branches that grows with the node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from treewright.core.elementary import log2, log2_of
from treewright.core.jit import allocating_kernel, kernel
from treewright.grow.by_node.candidates import Candidate
from treewright.grow.by_node.cuts import LEAVE_OUT, Cuts, Least, Rules, scan_columns, tabulate, weigh_levels
from treewright.grow.by_node.instances import Instances
from treewright.grow.by_node.levels import Partition
from treewright.grow.by_node.search import Choice, Found, Search
from treewright.grow.criteria.costs import Criterion
from treewright.grow.problem import Problem
from treewright.trees.class_criteria import ENTROPY

CLOSE = 1e-6  # gains and ratios that differ by no more are equal: the first counts
SLACK = 1e-3  # gains that are below the average by less than this still count as average
MANY_LEVELS = 0.3  # of the rows: a column with more levels does not count in the average
LARGEST_LEAST, LEAST_SHARE = 25.0, 0.1  # weight that a side needs: most, and share of the known weight per class


@dataclass(frozen=True, eq=False)
class Offers:
    """The best candidate of every column at a node.

    Attributes
    ----------
    gains, infos : float64[p]
        Decrease of cost (-1 if a column has no test), entropy of the division.
    places : int64[3, q]
        For ordered columns: position of the cut, side of missing rows, number of cuts tried.
    tables : float64[n_levels, n_stats]
        Statistics of all levels.
    groups : dict from column to Partition
        For level columns whose levels were merged.
    """

    gains: np.ndarray
    infos: np.ndarray
    places: np.ndarray
    tables: np.ndarray
    groups: dict[int, Partition]


class C45Search(Search):
    """The candidates of C4.5."""

    def __init__(self, problem: Problem, min_leaf: float, *, grouping: bool = False) -> None:
        super().__init__(problem, Criterion.of("entropy"), Rules("multiway"), data_values=True)
        self.min_leaf, self.grouping = float(min_leaf), grouping
        self.least = Least(self.min_leaf - CLOSE, LEAST_SHARE / problem.n_stats, LARGEST_LEAST)
        self.singles = {
            int(at): np.arange(len(problem.schema.columns[at].levels)) for at in problem.level_columns.tolist()
        }

    def offers(self, instances: Instances) -> Offers:
        """Find the best candidate of every column."""
        problem = self.problem
        p, n_levels = len(problem.schema), int(problem.level_starts[-1])
        offers = Offers(
            np.empty(p), np.empty(p), np.empty((3, len(problem.ordered_columns)), np.int64),
            np.zeros((n_levels, problem.n_stats)), {},
        )  # fmt: skip
        counts = np.zeros(n_levels, np.int64)
        search_c45(
            problem.cells, instances.members, problem.additions, instances.stats, instances.weight, self.least,
            self.min_leaf, offers.gains, offers.infos, offers.places, offers.tables, counts,
        )  # fmt: skip
        if self.grouping:
            for place, feature in enumerate(problem.level_columns.tolist()):
                if offers.gains[feature] >= 0.0:
                    here = problem.levels_of(place)
                    merged = grouped(
                        offers.tables[here], counts[here], self.single(offers, feature), self.min_leaf, instances.weight
                    )
                    offers.groups[feature] = merged
                    offers.gains[feature] = merged.cost_gain
                    offers.infos[feature] = merged.info
        return offers

    def single(self, offers: Offers, feature: int) -> Partition:
        """A branch per level of a column."""
        groups = self.singles[feature]
        gain, info = float(offers.gains[feature]), float(offers.infos[feature])
        return Partition(gain, groups, len(groups), -1, info=info)

    def found(self, instances: Instances, offers: Offers, features: Sequence[int]) -> Found:
        """The candidates of these columns as ``Found``."""
        partitions = {
            feature: offers.groups.get(feature) or self.single(offers, feature)
            for feature in features
            if feature in self.singles
        }
        ordered = self.problem.ordered_columns
        cuts = Cuts(offers.gains[ordered], offers.places[0], offers.places[1], offers.infos[ordered], offers.places[2])
        gains = np.where(offers.gains >= 0.0, offers.gains / instances.weight, -1.0)
        return Found(
            self.problem, instances, gains, cuts, partitions, offers.tables, True, CLOSE * instances.weight,
            instances.weight, False,
        )  # fmt: skip

    def run(self, instances: Instances) -> Found:
        """Search every column at one node."""
        offers = self.offers(instances)
        return self.found(instances, offers, np.flatnonzero(offers.gains >= 0.0).tolist())


def _times_log(weights: np.ndarray) -> np.ndarray:
    """``w log2 w`` of each weight; 0 for none."""
    return weights * log2_of(np.where(weights > 0.0, weights, 1.0))


def _entropy_costs(tables: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weight times entropy in bits of each row, float64[k]."""
    logs = log2_of(np.where(tables > 0.0, tables, 1.0))
    costs: np.ndarray = weights * log2_of(np.where(weights > 0.0, weights, 1.0)) - (tables * logs).sum(axis=1)
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
    sums = tables[counts > 0]
    known = float(sums.sum())
    base = float(_entropy_costs(sums.sum(axis=0)[None], np.array([known]))[0])
    left_out = _times_log(np.array([node_weight - known]))[0]

    def judged(cost: np.ndarray, logs: np.ndarray, n_heavy: np.ndarray) -> tuple[np.ndarray, ...]:
        """Ratio, gain, entropy of the division, and whether two groups are heavy enough."""
        gains = np.maximum(base - cost, 0.0)
        infos = log2_of(node_weight) - (logs + left_out) / node_weight
        ratios = np.divide(gains / node_weight, infos, out=np.zeros_like(gains), where=infos > 0.0)
        return ratios, gains, infos, n_heavy > 1

    def parts(of: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        weights = of.sum(axis=-1)
        return _entropy_costs(of, weights), _times_log(weights), (weights >= min_leaf - CLOSE).astype(np.int64)

    whole = parts(sums)
    now = tuple(each[0] for each in judged(*(each.sum(keepdims=True) for each in whole)))
    while len(groups) > 2:
        first, second = np.triu_indices(len(groups), 1)
        merged = parts(sums[first] + sums[second])
        # What a merge changes: two groups go, one comes.
        offers = judged(*(w.sum() - w[first] - w[second] + m for w, m in zip(whole, merged, strict=True)))
        ratios = np.where(offers[3], offers[0], -1.0)
        best = int(ratios.argmax())  # the first of equals
        if ratios[best] < 0.0 or (now[3] and ratios[best] < now[0] - CLOSE):
            break
        now = tuple(each[best] for each in offers)
        one, other = int(first[best]), int(second[best])
        groups[one] = sorted(groups[one] + groups.pop(other))
        sums[one] += sums[other]
        sums = np.delete(sums, other, axis=0)
        whole = parts(sums)
    _, gain, info, valid = now
    placed = np.full(len(counts), -1, np.int64)
    for branch, group in enumerate(groups):
        placed[group] = branch
    if not valid:
        return single
    return Partition(float(gain), placed, len(groups), single.side, exact=False, info=float(info))


class C45Policy:
    """The largest gain ratio among columns of at least average gain; a test without gain is never chosen."""

    by_ratio: ClassVar[bool] = True

    def __init__(self, search: C45Search) -> None:
        self.search = search
        schema, n_rows = search.problem.schema, search.problem.n_rows
        many = np.array([len(column.levels) >= MANY_LEVELS * n_rows for column in schema.columns])
        nominal = np.array([column.kind == "nominal" for column in schema.columns])
        # Columns with very many levels do not count in the average, unless all columns are of that kind.
        self.is_counted = ~(nominal & many) | bool((nominal & many).all())
        self.min_leaf = search.min_leaf

    def impurity(self, instances: Instances) -> float:
        """Impurity of a node: its entropy in bits."""
        cost, weight = self.search.measure(instances)
        return cost / weight

    def value(self, instances: Instances) -> np.ndarray:
        """The value of a node: class counts."""
        return instances.stats

    def may_split(self, instances: Instances) -> bool:
        """Whether there is more than one class, and enough weight for two branches."""
        is_pure = instances.weight - float(instances.stats.max()) <= CLOSE
        return not is_pure and instances.weight >= 2 * self.min_leaf - CLOSE

    def choose(self, instances: Instances, columns: Sequence[int] | None = None) -> Choice:
        """Choose among these columns; None means all."""
        offers = self.search.offers(instances)
        if columns is not None:
            out = np.ones(len(offers.gains), bool)
            out[columns] = False
            offers.gains[out] = -1.0
        scores = np.empty(len(offers.gains))
        feature = self._scored(instances, offers, scores)
        if feature < 0:
            return Choice(offers.gains / instances.weight, scores, None)
        found = self.search.found(instances, offers, [feature])
        return Choice(found.gains, scores, found.build(feature, float(scores[feature])))

    def _scored(self, instances: Instances, offers: Offers, scores: np.ndarray) -> int:
        """Fill in the ratios; returns the chosen column, -1 without one."""
        taken: int = score_c45(offers.gains, offers.infos, instances.weight, self.is_counted, scores)
        return taken

    def averaged(self, instances: Instances) -> np.ndarray:
        """float64[k]: the gains that count in the average."""
        gains = self.search.offers(instances).gains
        return gains[(gains >= 0.0) & self.is_counted] / instances.weight

    def candidates(self, instances: Instances) -> list[Candidate]:
        """The best candidate of each column that offers one."""
        offers = self.search.offers(instances)
        scores = np.empty(len(offers.gains))
        self._scored(instances, offers, scores)
        offered = np.flatnonzero(offers.gains >= 0.0).tolist()
        found = self.search.found(instances, offers, offered)
        return [found.build(feature, float(scores[feature])) for feature in offered]


# One call per node: most nodes are small, and a call from Python takes longer than the work on them.


@allocating_kernel
def search_c45(
    cells,
    members,
    additions,
    stats,
    node_weight,
    least,
    min_leaf,
    gains,
    infos,
    places,
    tables,
    counts,
):
    """Gains of the best candidate of each column; those of cuts less the price of the choice among many.

    Parameters
    ----------
    cells : Cells
    members : Members
    additions : Additions
    stats : float64[n_stats], IN
        Those of the node.
    least : Least
        Weight that each side of a cut needs.
    min_leaf : float
        Weight that two branches of a level column need.
    gains, infos : float64[p], OUT
        Decrease of cost (-1 if a column has no test), entropy of the division.
    places : int64[3, q], OUT
        For ordered columns: position of the cut, side of missing rows, number of cuts tried.
    tables : float64[n_levels, n_stats], counts : int64[n_levels], INOUT
        Zero on entry; as ``tabulate`` leaves them.
    """
    ordered_columns, level_columns = cells.ordered_columns, cells.level_columns
    q = ordered_columns.shape[0]
    k = level_columns.shape[0]
    cuts = Cuts(np.empty(q), places[0], places[1], np.empty(q), places[2])
    modes = np.full(q, LEAVE_OUT, np.uint8)
    scan_columns(cells, members, additions, ENTROPY, stats, modes, 1, least, CLOSE * node_weight, cuts)
    for c in range(q):
        gain = cuts.gains[c]
        if gain >= 0.0:
            gain -= log2(np.float64(max(places[2, c], 1)))
            if gain <= CLOSE * node_weight:
                gain = -1.0
        gains[ordered_columns[c]] = gain
        infos[ordered_columns[c]] = cuts.infos[c]
    if k == 0:
        return
    level_gains = np.empty(k)
    level_infos = np.empty(k)
    held = np.empty((k, 4))
    tabulate(cells, members, additions, tables, counts)
    weigh_levels(
        tables, counts, cells.level_starts, stats, additions.outputs, ENTROPY, additions.table, True,
        np.zeros(k, np.uint8), level_gains, level_infos, held,
    )  # fmt: skip
    for c in range(k):
        # Two branches need the least weight: the second heaviest decides.
        gains[level_columns[c]] = level_gains[c] if held[c, 3] >= min_leaf - CLOSE else -1.0
        infos[level_columns[c]] = level_infos[c]


@kernel
def score_c45(gains, infos, node_weight, is_counted, scores):
    """Gain ratios of the columns of at least average gain, and the chosen column.

    Parameters
    ----------
    gains, infos : float64[p], IN
        As `search_c45` leaves them.
    is_counted : bool[p], IN
        Columns whose gain counts in the average.
    scores : float64[p], OUT
        Gain ratio; nan for an excluded column.

    Returns
    -------
    int
        The first column whose ratio is largest within ``CLOSE``; -1 without one.
    """
    total = 0.0
    n_counted = 0
    for c in range(gains.shape[0]):
        if gains[c] >= 0.0 and is_counted[c]:
            total += gains[c] / node_weight
            n_counted += 1
    average = total / n_counted if n_counted > 0 else -np.inf
    best = 0.0
    for c in range(gains.shape[0]):
        scores[c] = np.nan
        if gains[c] >= 0.0 and gains[c] / node_weight >= average - SLACK and infos[c] > 0.0:
            ratio = gains[c] / node_weight / infos[c]
            if ratio > CLOSE:
                scores[c] = ratio
                best = max(best, ratio)
    for c in range(gains.shape[0]):
        if scores[c] >= best - CLOSE:
            return c
    return -1
