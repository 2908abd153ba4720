"""One candidate test with its numbers. In: a node's rows, a candidate. Out: ``AuditRow``.

The numbers are computed from the rows of the branches, not taken from the search that found the candidate, so that
the two check each other.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from treewright.data.schema import Schema
from treewright.grow.by_node.candidates import Candidate, split_information
from treewright.grow.by_node.instances import Instances
from treewright.grow.criteria import median_costs as medians
from treewright.grow.criteria.costs import ABSOLUTE_ERROR, Criterion
from treewright.grow.problem import Problem
from treewright.tree.arrays import INTERVALS, MULTIWAY, THRESHOLD, Missing
from treewright.tree.class_criteria import ENTROPY
from treewright.tree.tests import shared_out
from treewright.tree.wording import IntervalTest, MultiwayTest, NodeTest, SubsetTest, cut_test
from treewright.tree.writing import written_name


@dataclass(frozen=True)
class AuditBranch:
    """One branch of a candidate test.

    Attributes
    ----------
    label : str
        Its condition, such as ``> 2.45``.
    samples : int
        Rows of the node that take it.
    weight : float
    counts : tuple of float
        Weight of each class, outputs one after another; empty for regression.
    values, variances : tuple of float
        Per output the mean (the median under ``absolute_error``) and the variance; empty for classification.
    impurity : float
        0.0 for a branch without rows.
    """

    label: str
    samples: int
    weight: float
    counts: tuple[float, ...]
    values: tuple[float, ...]
    variances: tuple[float, ...]
    impurity: float


@dataclass(frozen=True)
class AuditRow:
    """A candidate test with its impurities, gain, score and p-value.

    Attributes
    ----------
    column : hashable
        The column's name.
    feature : int
        Its position.
    question : str
    branches : tuple of AuditBranch
        Those without rows (a level that the node does not hold) included.
    n_left_out, weight_left_out : int, float
        Rows whose cell is missing and that no branch counts.
    share_known : float, 0 to 1
        Weight of the other rows, as a share of the node's weight.
    before, after : float
        Impurity of the rows that branches count, before the split; after it, the weighted mean over the branches.
    price : float
        What C4.5 subtracts for the choice among many cuts; 0.0 otherwise.
    gain : float
        ``share_known * (before - after) - price``.
    split_info, gain_ratio : float
        Entropy of the division into branches, with rows left out as one more; gain divided by it (nan if that is 0).
    score : float
        What the algorithm compares columns by; nan if it leaves the column out.
    p_value : float
        Chi-squared test of branches and classes, or F test of the branches' means; CHAID's adjusted one. nan if the
        test has no degrees of freedom or there are several outputs.
    exact : bool
        False if not every split of the column was tried.
    notes : mapping of str to float
        Numbers specific to the algorithm, as ``Candidate.notes``: cuts tried, or the parts of CHAID's p-value.
    rank : int
        1 for the best.
    chosen : bool
        Whether the algorithm chooses it.
    threshold : float
        Of a test with one cut; else nan.
    """

    column: Hashable
    feature: int
    question: str
    branches: tuple[AuditBranch, ...]
    n_left_out: int
    weight_left_out: float
    share_known: float
    before: float
    after: float
    price: float
    gain: float
    split_info: float
    gain_ratio: float
    score: float
    p_value: float
    exact: bool
    notes: Mapping[str, float]
    rank: int
    chosen: bool
    threshold: float

    @property
    def held(self) -> tuple[AuditBranch, ...]:
        """The branches that hold rows."""
        return tuple(branch for branch in self.branches if branch.samples)


@dataclass(frozen=True, eq=False)
class BranchSums:
    """Sums over the rows of each branch of a test.

    Attributes
    ----------
    samples : int64[b]
    table : float64[b, n_stats]
        As ``Candidate.table``.
    squares : float64[b, n_outputs]
        Sum of squares of the centred targets; empty for classes.
    costs : float64[b] or None
        Weight times impurity, if the statistics do not determine it (``absolute_error``).
    medians : float64[b, n_outputs] or None
        Only for ``absolute_error``.
    """

    samples: np.ndarray
    table: np.ndarray
    squares: np.ndarray
    costs: np.ndarray | None = None
    medians: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class AuditedNode:
    """A node's rows, with the criterion that measures them.

    Attributes
    ----------
    unit : float
        Factor that turns entropies in bits into the unit asked for.
    missing : str
        ``ModelData.missing``.
    """

    problem: Problem
    criterion: Criterion
    instances: Instances
    unit: float
    missing: Missing

    @cached_property
    def weight(self) -> float:
        """Weight of the node."""
        return float(self.problem.weight_of(self.instances.stats))

    @property
    def factor(self) -> float:
        """Factor of impurities: only entropies have a unit to choose."""
        return self.unit if self.criterion.number == ENTROPY else 1.0

    @cached_property
    def parts(self) -> np.ndarray:
        """float64[m, n_stats]: what each row adds to its branch."""
        rows = self.instances.rows
        parts = np.zeros((len(rows), self.problem.n_stats))
        amounts = self.problem.amounts[rows] * self.instances.weights[:, None]
        parts[np.arange(len(rows))[:, None], self.problem.index[rows]] = amounts
        return parts

    @cached_property
    def squares(self) -> np.ndarray:
        """float64[m, n_outputs]: weighted squares of the centred targets; no columns for classification."""
        problem, rows = self.problem, self.instances.rows
        if problem.is_classes:
            return np.zeros((len(rows), 0))
        centred = problem.targets[:, rows] - problem.centres[:, None]
        squares: np.ndarray = (centred * centred * self.instances.weights).T
        return squares

    def sums(self, branch: np.ndarray, n_branches: int) -> BranchSums:
        """Sums over the branches when row ``i`` of the node takes ``branch[i]`` (int[m]; negative: none)."""
        kept = np.flatnonzero(branch >= 0)
        table = np.zeros((n_branches, self.problem.n_stats))
        np.add.at(table, branch[kept], self.parts[kept])
        squares = np.zeros((n_branches, self.squares.shape[1]))
        np.add.at(squares, branch[kept], self.squares[kept])
        samples = np.bincount(branch[kept], minlength=n_branches)
        costs, middle = None, None
        if self.criterion.number == ABSOLUTE_ERROR:
            costs, middle = self._by_medians(branch, n_branches)
        return BranchSums(samples, table, squares, costs, middle)

    def _by_medians(self, branch: np.ndarray, n_branches: int) -> tuple[np.ndarray, np.ndarray]:
        """Costs and medians of the branches."""
        costs, middle = np.zeros(n_branches), np.full((n_branches, self.problem.n_outputs), math.nan)
        for b in np.unique(branch[branch >= 0]).tolist():
            rows, weights = self.instances.rows[branch == b], self.instances.weights[branch == b]
            costs[b] = medians.cost(self.problem, rows, weights)
            middle[b] = medians.medians_of(self.problem, rows, weights)
        return costs, middle

    def impurities(self, sums: BranchSums) -> np.ndarray:
        """float64[b]: impurity of each branch, in the unit asked for."""
        if sums.costs is not None:
            weights = self.problem.weight_of(sums.table)
            return np.divide(sums.costs, weights, out=np.zeros_like(sums.costs), where=weights > 0)
        return self.criterion.impurities(self.problem, sums.table) * self.factor

    def before(self, branch: np.ndarray | None, table: np.ndarray) -> float:
        """Impurity of all rows that the branches of a test hold together (``table`` is their statistics)."""
        if self.criterion.number == ABSOLUTE_ERROR:
            kept = slice(None) if branch is None else branch >= 0
            rows, weights = self.instances.rows[kept], self.instances.weights[kept]
            return medians.cost(self.problem, rows, weights) / float(weights.sum())
        return float(self.criterion.impurities(self.problem, table)) * self.factor


def measured(
    node: AuditedNode,
    candidate: Candidate,
    *,
    sums: BranchSums | None = None,
    digits: int = 6,
    price: float = 0.0,
    score: float = math.nan,
    rank: int = 0,
    chosen: bool = False,
) -> AuditRow:
    """Return a candidate with its numbers.

    Parameters
    ----------
    node : AuditedNode
    candidate : Candidate
    sums : BranchSums, optional
        Sums over its branches, if they are known already.
    digits : int
        Significant digits of cuts in texts.
    price, score, rank, chosen
        As in ``AuditRow``, in the unit asked for.
    """
    problem = node.problem
    branch = None
    if sums is None or node.criterion.number == ABSOLUTE_ERROR:
        branch = candidate.branches(problem, node.instances.rows)
        sums = node.sums(branch, candidate.n_branches)
    weights = problem.weight_of(sums.table)
    impurities = node.impurities(sums)
    known = float(weights.sum())
    share = min(known / node.weight, 1.0)
    n_out = len(node.instances) - int(sums.samples.sum())
    # Without rows left out a share of 1 - 1e-16 would be written as a product.
    share, left_out = (share, max(node.weight - known, 0.0)) if n_out else (1.0, 0.0)
    before = node.before(branch, sums.table.sum(axis=0))
    after = float((weights * impurities).sum()) / known
    gain = max(share * (before - after), 0.0) - price
    split_info = split_information(np.append(weights, left_out)) * node.unit
    test = candidate_test(problem.schema, candidate, node.missing)
    labels = [test.edge(b, digits=digits) for b in range(candidate.n_branches)]
    p_value = candidate.p_value if not math.isnan(candidate.p_value) else independence_p(problem, sums)
    return AuditRow(
        column=problem.schema.columns[candidate.feature].name,
        feature=candidate.feature,
        question=test.question(digits=digits),
        branches=branches_of(problem, labels, sums, impurities),
        n_left_out=n_out,
        weight_left_out=left_out * problem.weight_unit,
        share_known=share,
        before=before,
        after=after,
        price=price,
        gain=gain,
        split_info=split_info,
        gain_ratio=gain / split_info if split_info > 0.0 else math.nan,
        score=score,
        p_value=p_value,
        exact=candidate.exact,
        notes=candidate.notes,
        rank=rank,
        chosen=chosen,
        threshold=candidate.threshold if candidate.kind == THRESHOLD else math.nan,
    )


def branches_of(
    problem: Problem, labels: Sequence[str], sums: BranchSums, impurities: np.ndarray
) -> tuple[AuditBranch, ...]:
    """Return the branches of a test, named ``labels``, with their numbers."""
    weights = problem.weight_of(sums.table)
    no_numbers: tuple[float, ...] = ()
    branches = []
    for b, samples in enumerate(sums.samples.tolist()):
        counts, values, variances = no_numbers, no_numbers, no_numbers
        if problem.is_classes:
            counts = tuple((sums.table[b] * problem.weight_unit).tolist())
        elif samples:
            means = sums.table[b, 1::3] / weights[b]
            variances = tuple(np.maximum(sums.squares[b] / weights[b] - means * means, 0.0).tolist())
            values = tuple((means + problem.centres if sums.medians is None else sums.medians[b]).tolist())
        else:
            values = variances = (math.nan,) * problem.n_outputs
        branches.append(
            AuditBranch(
                labels[b],
                samples,
                float(weights[b]) * problem.weight_unit,
                counts,
                values,
                variances,
                float(impurities[b]),
            )
        )
    return tuple(branches)


def candidate_test(schema: Schema, candidate: Candidate, missing: Missing) -> NodeTest:
    """Return the readable test of a candidate."""
    feature, column = candidate.feature, schema.columns[candidate.feature]
    name, quote = written_name(column.name), column.family == "object"
    if candidate.kind == THRESHOLD:
        return cut_test(
            column,
            feature,
            candidate.threshold,
            candidate.missing_branch,
            n_branches=candidate.n_branches,
            missing=missing,
        )
    if candidate.kind == INTERVALS:
        levels = column.levels if column.kind == "ordinal" else ()
        cuts = tuple(candidate.cuts.tolist())
        return IntervalTest(name, feature, cuts, candidate.missing_branch, column.missing_seen, levels, quote, missing)
    entries = candidate.branch_of
    ways, present = np.where(entries < 0, ~entries, entries), entries >= 0
    kind = MultiwayTest if candidate.kind == MULTIWAY else SubsetTest
    return kind(
        name,
        feature,
        branches=shared_out(column, ways[:-1], present[:-1], candidate.n_branches),
        absent=shared_out(column, ways[:-1], ~present[:-1], candidate.n_branches),
        unseen_edge=int(ways[-1]),
        missing_edge=candidate.missing_branch,
        missing_seen=column.missing_seen,
        quote_levels=quote,
        missing=missing,
    )


def independence_p(problem: Problem, sums: BranchSums) -> float:
    """Return the p-value of "the target does not depend on the branch"; nan if there is no such test.

    Notes
    -----
    Pearson's chi-squared of branches and classes, or the F test of a one-way analysis of variance. Weights count as
    numbers of rows.
    """
    if problem.n_outputs > 1:
        return math.nan
    from scipy.special import chdtrc, fdtrc

    table = sums.table[sums.samples > 0]
    if problem.is_classes:
        table = table[:, table.sum(axis=0) > 0]
        dof = (table.shape[0] - 1) * (table.shape[1] - 1)
        if dof < 1:
            return math.nan
        weights = table.sum(axis=1, keepdims=True)
        expected = weights * (table.sum(axis=0) / weights.sum())
        apart = table - expected
        return float(chdtrc(dof, (apart * (apart / expected)).sum()))
    weights, totals, squares = table[:, 0], table[:, 1], sums.squares[sums.samples > 0, 0]
    dof_between, dof_within = len(table) - 1, float(weights.sum()) - len(table)
    if dof_between < 1 or dof_within <= 0:
        return math.nan
    between = float((weights * (totals / weights - totals.sum() / weights.sum()) ** 2).sum())
    within = float(np.maximum(squares - totals * totals / weights, 0.0).sum())
    # A sum of squares within rounding error is 0.
    noise = 1e-14 * float(squares.sum())
    if within <= noise:
        return 0.0 if between > noise else math.nan
    return float(fdtrc(dof_between, dof_within, between / dof_between / (within / dof_within)))
