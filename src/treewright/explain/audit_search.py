"""A node's candidates as an algorithm ranks them. In: a node, a policy. Out: ``Audit`` rows. Caller: explain.audit."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace

from treewright.exceptions import ParameterError
from treewright.explain.audit_every import allowed_cuts, every_cut, every_division
from treewright.explain.audit_record import Audit
from treewright.explain.audit_rows import AuditedNode, AuditRow, measured
from treewright.explain.audit_why import PURE, barred_columns, is_pure, leaf_reason
from treewright.grow.by_node.c45 import CLOSE, SLACK, C45Policy, C45Search
from treewright.grow.by_node.candidates import Candidate
from treewright.grow.by_node.instances import Instances
from treewright.grow.by_node.search import GainPolicy, Policy, RatioPolicy, Search
from treewright.grow.by_node.significance import Chance, chance_of
from treewright.tree.arrays import THRESHOLD

NO_ORDER_OF_ITS_OWN = 1e-12  # scores of an algorithm that states no tolerance are equal within this


def compared(audit: Audit, here: AuditedNode, policy: Policy) -> Audit:
    """Return the audit with the best candidate of each column, ranked."""
    instances = here.instances
    choice = policy.choose(instances, None)
    chosen = -1 if choice.chosen is None else choice.chosen.feature
    candidates = policy.candidates(instances)
    # nan scores are last: the algorithm leaves them out.
    candidates.sort(key=lambda one: (one.feature != chosen, math.isnan(one.score), -_plain(one.score), -one.gain))
    scale = here.factor if isinstance(policy, GainPolicy) and not policy.by_ratio else 1.0
    rows = [
        measured(
            here,
            candidate,
            price=price_of(policy, candidate, here),
            score=candidate.score * scale,
            rank=rank,
            chosen=candidate.feature == chosen,
        )
        for rank, candidate in enumerate(candidates, 1)
    ]
    average: tuple[float, ...] = ()
    tolerance = NO_ORDER_OF_ITS_OWN
    if isinstance(policy, GainPolicy):
        tolerance = policy.tolerance(policy.search.run(instances))
    elif isinstance(policy, C45Policy):
        tolerance = CLOSE
    if isinstance(policy, RatioPolicy | C45Policy):
        average = tuple((policy.averaged(instances) * here.factor).tolist())
    uncounted, gainless = out_of_c45(policy, candidates, instances)
    best = candidates[0].score if candidates and chosen >= 0 else math.nan
    tied = tuple(
        row.column
        for row, one in zip(rows, candidates, strict=True)
        if not row.chosen and abs(one.score - best) <= tolerance
    )
    audit = replace(
        audit,
        rows=tuple(rows),
        barred=barred_columns(here, policy, [candidate.feature for candidate in candidates]),
        average_of=average,
        uncounted=uncounted,
        gainless=gainless,
        tied=tied,
        n_equal_cuts=equal_cuts(here, policy, candidates[0]) if chosen >= 0 else 0,
    )
    if audit.asked:
        return audit
    if is_pure(audit.summary, audit.node):
        # Nobody would ask: every candidate gains nothing.
        return replace(
            audit, rows=(), barred=(), tied=(), average_of=(), uncounted=(), gainless=(), n_equal_cuts=0,
            leaf_reason=PURE,
        )  # fmt: skip
    best_row = next(iter(rows), None)
    chance = None if choice.chosen is None else judged(audit, here, policy, choice.chosen)
    return replace(
        audit,
        leaf_reason=leaf_reason(
            audit.summary, audit.node, here, audit.winner, best_row, none_gains=0 < len(rows) == len(gainless),
            chance=chance,
        ),
    )  # fmt: skip


def judged(audit: Audit, here: AuditedNode, policy: Policy, chosen: Candidate) -> Chance | None:
    """Return how significant the winner is among the tests of all columns; None without a limit of p-values."""
    limit = audit.summary.model.facts.get("parameters", {}).get("max_p_value")
    # Facts may come from a file of any origin.
    if not isinstance(limit, int | float) or not 0.0 < limit <= 1.0 or not isinstance(policy, GainPolicy | C45Policy):
        return None
    return chance_of(policy, here.instances, chosen, float(limit))


def out_of_c45(
    policy: Policy, candidates: Sequence[Candidate], instances: Instances
) -> tuple[tuple[Hashable, ...], tuple[Hashable, ...]]:
    """Return the columns that C4.5 does not count in the average gain, and those that only gain nothing."""
    if not isinstance(policy, C45Policy):
        return (), ()
    columns = policy.search.problem.schema.columns
    counted = policy.averaged(instances)
    least = float(counted.mean()) - SLACK if len(counted) else -math.inf
    ordered = sorted(candidates, key=lambda one: one.feature)
    uncounted = tuple(columns[one.feature].name for one in ordered if not policy.is_counted[one.feature])
    gainless = tuple(columns[one.feature].name for one in ordered if math.isnan(one.score) and one.gain >= least)
    return uncounted, gainless


def _plain(score: float) -> float:
    """A score to sort by."""
    return -math.inf if math.isnan(score) else score


def price_of(policy: Policy, candidate: Candidate, here: AuditedNode) -> float:
    """Return what C4.5 takes off the gain of a cut for the choice among many: log2 of their number, per row."""
    if candidate.kind != THRESHOLD or not isinstance(getattr(policy, "search", None), C45Search):
        return 0.0
    return math.log2(max(candidate.notes["tried"], 1.0)) / here.weight * here.unit


def equal_cuts(here: AuditedNode, policy: Policy, candidate: Candidate) -> int:
    """Return how many other cuts of the candidate's column gain the same."""
    search = getattr(policy, "search", None)
    if candidate.kind != THRESHOLD or not isinstance(search, Search):
        return 0
    gains = allowed_cuts(here, search, candidate.feature).gains
    # As the search: 1e-12 of the node's cost.
    tolerance = 1e-12 * max(float(search.criterion.costs(here.problem, here.instances.stats)), 1e-300)
    return int((gains >= gains.max() - tolerance).sum()) - 1 if len(gains) else 0


def every_of(here: AuditedNode, policy: Policy, feature: int) -> list[AuditRow]:
    """Return all candidates of one column; the best one is marked.

    Raises
    ------
    ParameterError
        The algorithm makes one candidate of a column step by step, and tries no list of them.
    """
    search = getattr(policy, "search", None)
    name = here.problem.schema.columns[feature].name
    if not isinstance(search, Search):
        raise ParameterError(
            f"every={name!r}: this algorithm merges the groups of a column step by step and tries no list of "
            "candidates; leave every out"
        )
    best = next((one for one in policy.candidates(here.instances) if one.feature == feature), None)
    if feature not in here.problem.level_columns:
        tried = 0 if best is None else best.notes["tried"]
        if isinstance(search, C45Search):
            tried = allowed_cuts(here, search, feature).n_tried
        price = math.log2(max(tried, 1)) / here.weight * here.unit if isinstance(search, C45Search) else 0.0
        rows = every_cut(here, search, feature, price)
    elif search.rules.nominal_splits == "multiway":
        rows = [] if best is None else [measured(here, best)]
    else:
        rows = every_division(here, search, feature)
    wanted = None if best is None else measured(here, best)
    ranks = {at: rank for rank, at in enumerate(sorted(range(len(rows)), key=lambda at: -rows[at].gain), 1)}
    ranked = []
    for at, row in enumerate(rows):
        is_best = wanted is not None and same_test(row, wanted)
        ranked.append(replace(row, rank=ranks[at], score=row.gain, chosen=is_best))
    return ranked


def same_test(row: AuditRow, other: AuditRow) -> bool:
    """Return whether two candidates of one column divide the rows alike."""
    if math.isnan(row.threshold) != math.isnan(other.threshold) or len(row.branches) != len(other.branches):
        return False
    if not math.isnan(row.threshold):
        return row.threshold == other.threshold and _held(row) == _held(other)
    return row.question == other.question and _held(row) == _held(other)


def _held(row: AuditRow) -> list[int]:
    """Rows per branch: tells where the missing ones go."""
    return [branch.samples for branch in row.branches]
