"""The candidates of a node, found by repeating the search. In: a node's rows, a policy. Out: ``AuditRow``.

Three functions, from the widest to the narrowest: the best test of every column, as the algorithm ranks them
(`compared`); every cut or division of one column (`every_of`); why a column offers no test, or why the node is a leaf
(`barred_columns`, `leaf_reason`).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.core.elementary import log2_of
from treewright.exceptions import ParameterError
from treewright.explain.audit_rows import AuditedNode, AuditRow, BranchSums, measured
from treewright.grow.by_node.c45 import CLOSE, SLACK, C45Policy, C45Search
from treewright.grow.by_node.candidates import Candidate, level_branches
from treewright.grow.by_node.cuts import LEAVE_OUT, LEFT, OWN, OWN_BRANCH, RIGHT, CutList, list_cuts, middle_between
from treewright.grow.by_node.instances import EVERY_BRANCH, Instances
from treewright.grow.by_node.levels import EXHAUSTIVE_LEVELS, divisions, every_split
from treewright.grow.by_node.search import GainPolicy, Policy, RatioPolicy, Search
from treewright.grow.by_node.significance import Chance, chance_of
from treewright.grow.criteria.costs import ABSOLUTE_ERROR
from treewright.model.by_hand import BY_HAND
from treewright.model.summary import TreeSummary, counted, cuts_of
from treewright.tree.arrays import SUBSET, THRESHOLD
from treewright.tree.writing import gap_digits

if TYPE_CHECKING:
    from treewright.explain.audit import Audit

NO_ORDER_OF_ITS_OWN = 1e-12  # scores of an algorithm that states no tolerance are equal within this
OWN_BRANCH_NUMBER = 2  # a third branch of missing values, next to the two sides of a cut
PURE = "it is pure: all its rows have one target"
NOTHING_KNOWN = "every cell is missing in this node"
CONSTANT = "only one value in this node"
TOO_FEW = "no split leaves enough rows in its branches"
DOES_NOT_PAY = "no cut gains more than the price of the choice among so many"
NOT_OFFERED = "the algorithm offers no test of it"


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
        # Every candidate of a pure node has gain 0: there is nothing to show.
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
    """Return how significant the winner is among the tests of all columns; None without ``max_p_value``."""
    limit = audit.summary.model.facts.get("parameters", {}).get("max_p_value")
    # Facts may come from a file of any origin.
    if not isinstance(limit, int | float) or not 0.0 < limit <= 1.0 or not isinstance(policy, GainPolicy | C45Policy):
        return None
    return chance_of(policy, here.instances, chosen, float(limit))


def out_of_c45(
    policy: Policy, candidates: Sequence[Candidate], instances: Instances
) -> tuple[tuple[Hashable, ...], tuple[Hashable, ...]]:
    """Return the columns that C4.5 does not count in the average gain, and those left out for a gain of 0."""
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
    """A score to sort by: nan is last."""
    return -math.inf if math.isnan(score) else score


def price_of(policy: Policy, candidate: Candidate, here: AuditedNode) -> float:
    """Return what C4.5 subtracts from the gain of a cut for the choice among many: log2 of their number, per row."""
    if candidate.kind != THRESHOLD or not isinstance(getattr(policy, "search", None), C45Search):
        return 0.0
    return float(log2_of(max(candidate.notes["tried"], 1.0))) / here.weight * here.unit


def equal_cuts(here: AuditedNode, policy: Policy, candidate: Candidate) -> int:
    """Return how many other cuts of the candidate's column have the same gain."""
    search = getattr(policy, "search", None)
    if candidate.kind != THRESHOLD or not isinstance(search, Search):
        return 0
    gains = allowed_cuts(here, search, candidate.feature).gains
    # As the search: 1e-12 of the node's cost.
    tolerance = 1e-12 * max(float(search.criterion.costs(here.problem, here.instances.stats)), 1e-300)
    return int((gains >= gains.max() - tolerance).sum()) - 1 if len(gains) else 0


def every_of(here: AuditedNode, policy: Policy, feature: int) -> list[AuditRow]:
    """Return all candidates of one column; the best one is marked."""
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
        price = float(log2_of(max(tried, 1))) / here.weight * here.unit if isinstance(search, C45Search) else 0.0
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
    """Return whether two candidates of one column split the rows alike."""
    if math.isnan(row.threshold) != math.isnan(other.threshold) or len(row.branches) != len(other.branches):
        return False
    if not math.isnan(row.threshold):
        return row.threshold == other.threshold and _held(row) == _held(other)
    return row.question == other.question and _held(row) == _held(other)


def _held(row: AuditRow) -> list[int]:
    """Rows per branch: they show which branch missing values follow."""
    return [branch.samples for branch in row.branches]


def mode_of_cuts(search: Search, instances: Instances, place: int) -> int:
    """Return what the search does with the missing rows of an ordered column (``cuts``)."""
    n_missing = len(instances) - instances.n_present
    return int(search.modes(n_missing, search.missing_tables(instances))[place])


def place_of(columns: np.ndarray, feature: int) -> int:
    """Return the position of a column among the ordered or the level columns."""
    return int(np.searchsorted(columns, feature))


def allowed_cuts(node: AuditedNode, search: Search, feature: int) -> CutList:
    """Return the cuts of an ordered column that leave enough rows on both sides, the lowest first."""
    instances, problem = node.instances, node.problem
    place = place_of(problem.ordered_columns, feature)
    n_present = int(instances.n_present[place])
    known = float(instances.weights[instances.orders[place, :n_present]].sum())
    flat, share, most = search.least
    return list_cuts(
        problem,
        search.criterion,
        instances,
        place,
        mode_of_cuts(search, instances, place),
        min_rows=search.rules.min_rows,
        min_weight=max(flat, min(share * known, most)),
    )


def every_cut(node: AuditedNode, search: Search, feature: int, price: float) -> list[AuditRow]:
    """Return every allowed cut of an ordered column, the lowest first.

    Parameters
    ----------
    price : float
        What each loses for the choice among them.
    """
    cuts = allowed_cuts(node, search, feature)
    if not len(cuts.gains):
        return []
    candidates = _cut_candidates(node, search, feature, cuts)
    digits = int(gap_digits(np.array([candidate.threshold for candidate in candidates])).max())
    sums: Sequence[BranchSums | None] = [None] * len(candidates)
    if node.criterion.number != ABSOLUTE_ERROR:
        sums = _sums_along(node, feature, cuts, candidates)
    return [
        measured(node, candidate, sums=held, digits=digits, price=price)
        for candidate, held in zip(candidates, sums, strict=True)
    ]


def _cut_candidates(node: AuditedNode, search: Search, feature: int, cuts: CutList) -> list[Candidate]:
    """The cuts as candidates, as the search would return them."""
    problem, instances = node.problem, node.instances
    place = place_of(problem.ordered_columns, feature)
    n_present = int(instances.n_present[place])
    x = problem.values[feature, instances.rows[instances.orders[place]]]
    left_out = n_present == len(instances) or mode_of_cuts(search, instances, place) == LEAVE_OUT
    candidates = []
    for at, side in zip(cuts.places.tolist(), cuts.sides.tolist(), strict=True):
        after = float(x[at + 1]) if at + 1 < n_present else float("nan")
        threshold = middle_between(float(x[at]), after)
        if search.data_values and np.isfinite(threshold):
            threshold = float(problem.value_at_most(feature, threshold))
        missing = EVERY_BRANCH if left_out else {RIGHT: 1, LEFT: 0, OWN: 2}[side]
        candidates.append(
            Candidate(
                feature,
                THRESHOLD,
                3 if missing == OWN_BRANCH_NUMBER else 2,
                missing,
                0.0,
                0.0,
                threshold=threshold,
                notes={"tried": cuts.n_tried},
            )
        )
    return candidates


def _sums_along(
    node: AuditedNode, feature: int, cuts: CutList, candidates: Sequence[Candidate]
) -> list[BranchSums | None]:
    """Sums over the branches of each cut, from running sums: one pass for all cuts."""
    instances = node.instances
    place = place_of(node.problem.ordered_columns, feature)
    order, last = instances.orders[place], int(instances.n_present[place])
    held = []
    for parts in (np.ones((len(order), 1)), node.parts, node.squares):
        running = np.cumsum(parts[order[:last]], axis=0)
        left = running[cuts.places]
        # Rounding must not give a class a weight on a side where it has no rows.
        right = np.cumsum(parts[order[:last]][::-1], axis=0)[::-1]
        right = np.vstack([right, np.zeros((1, parts.shape[1]))])[cuts.places + 1]
        held.append((left, right, parts[order[last:]].sum(axis=0)))
    result: list[BranchSums | None] = []
    for at, candidate in enumerate(candidates):
        tables = []
        for left, right, gone in held:
            table = np.zeros((candidate.n_branches, left.shape[1]))
            table[0], table[1] = left[at], right[at]
            if candidate.missing_branch != EVERY_BRANCH:
                table[candidate.missing_branch] += gone
            tables.append(table)
        result.append(BranchSums(tables[0][:, 0].astype(np.int64), tables[1], tables[2]))
    return result


def every_division(node: AuditedNode, search: Search, feature: int) -> list[AuditRow]:
    """Return the binary splits of a nominal column's levels, the largest gain first.

    All of them up to 10 levels in the node; with more, those that the search tries.
    """
    problem, instances = node.problem, node.instances
    place = place_of(problem.level_columns, feature)
    tables, counts = search.level_tables(instances)
    levels = problem.levels_of(place)
    held, n_gone = np.flatnonzero(counts[levels]), int(counts[levels.stop])
    gone = tables[levels.stop]
    mode = int(search.modes(np.array([n_gone]), gone[None])[0]) if n_gone else LEAVE_OUT
    if len(held) + (mode != LEAVE_OUT) < 2:
        return []
    masks = _divisions(node, search, feature, tables[levels][held])
    sides = {LEAVE_OUT: (EVERY_BRANCH,), OWN_BRANCH: (OWN_BRANCH_NUMBER,)}.get(mode, (1, 0))
    offers = [(mask, side) for mask in masks for side in sides]
    if mode != LEAVE_OUT:
        offers.append((np.ones(len(held), bool), 1))  # present against missing
    # Two offers may be the same split: of two levels, each against the other. A dict keeps it once.
    stated = {(mask.tobytes(), way): mask for mask, way in (_stated(mask, side) for mask, side in offers)}
    rows = [_division(node, feature, held, mask, way) for (_, way), mask in stated.items()]
    least = max(search.rules.min_rows, 1)
    allowed = [
        row
        for row in rows
        if min(b.samples for b in row.branches[:2]) >= least
        and min(b.weight for b in row.branches[:2]) >= search.rules.min_weight
    ]
    return sorted(allowed, key=lambda row: -row.gain)


def _divisions(node: AuditedNode, search: Search, feature: int, tables: np.ndarray) -> np.ndarray:
    """bool[k, g]: levels on the left of each division."""
    splits = search.rules.splits_of(feature)
    if splits == "subset" and len(tables) <= EXHAUSTIVE_LEVELS:
        return every_split(len(tables))[1:]
    # The order of levels by medians is that by means here: this lists divisions, it does not choose one.
    return divisions(node.problem, search.criterion, tables, splits)[0]


def _stated(mask: np.ndarray, side: int) -> tuple[np.ndarray, int]:
    """A division with fewer levels on the left; of equal halves the one with the lowest code."""
    n_left = int(mask.sum())
    if 2 * n_left > len(mask) or (2 * n_left == len(mask) and not mask[0]):
        return ~mask, {0: 1, 1: 0}.get(side, side)
    return mask, side


def _division(node: AuditedNode, feature: int, held: np.ndarray, mask: np.ndarray, side: int) -> AuditRow:
    """One division with its numbers."""
    v = len(node.problem.schema.columns[feature].levels)
    groups, present = np.full(v, -1, np.int64), np.zeros(v, bool)
    groups[held], present[held] = np.where(mask, 0, 1), True
    n_branches = 3 if side == OWN_BRANCH_NUMBER else 2
    branch_of = level_branches(v, groups, present, 1)
    return measured(node, Candidate(feature, SUBSET, n_branches, side, 0.0, 0.0, branch_of=branch_of))


@dataclass(frozen=True)
class Barred:
    """A column without a candidate, and why."""

    column: Hashable
    reason: str


def barred_columns(here: AuditedNode, policy: Policy, offered: Sequence[int]) -> tuple[Barred, ...]:
    """Return the columns that offer no test, in column order, each with the reason."""
    columns = here.problem.schema.columns
    out = sorted(set(range(len(columns))) - set(offered))
    return tuple(Barred(columns[feature].name, reason_of(here, policy, feature)) for feature in out)


def reason_of(here: AuditedNode, policy: Policy, feature: int) -> str:
    """Return why a column offers no test."""
    if left_out := here.problem.schema.columns[feature].left_out:
        return f"left out: {left_out}"
    cells = here.problem.values[feature, here.instances.rows]
    known = cells[~np.isnan(cells)]
    if not len(known):
        return NOTHING_KNOWN
    if len(known) == len(cells) and bool((known == known[0]).all()):
        return CONSTANT
    search = getattr(policy, "search", None)
    if not isinstance(search, Search):
        return CONSTANT if bool((known == known[0]).all()) else NOT_OFFERED
    place = place_of(here.problem.ordered_columns, feature)
    is_ordered = place < len(here.problem.ordered_columns) and here.problem.ordered_columns[place] == feature
    if is_ordered and len(allowed_cuts(here, search, feature).gains):
        return DOES_NOT_PAY
    if bool((known == known[0]).all()) and here.problem.missing in ("fractional", "surrogate"):
        return CONSTANT
    return TOO_FEW


def is_pure(summary: TreeSummary, node: int) -> bool:
    """Return whether all training rows of a node have the same target."""
    impurity = summary.tree.impurity
    return float(impurity[node]) <= 1e-12 * float(impurity[0])


def leaf_reason(
    summary: TreeSummary,
    node: int,
    here: AuditedNode,
    winner: AuditRow | None,
    best: AuditRow | None = None,
    *,
    none_gains: bool = False,
    chance: Chance | None = None,
) -> str:
    """Return why a node is a leaf.

    Parameters
    ----------
    winner : AuditRow or None
        The candidate that the algorithm would choose there.
    best : AuditRow or None
        The best one, chosen or not.
    none_gains : bool
        Whether none is chosen because no candidate has a positive gain.
    chance : Chance or None
        The p-values of the winner, if growth has a limit of p-values.
    """
    tree, parameters = summary.tree, summary.model.facts.get("parameters", {})
    if is_pure(summary, node):
        return PURE
    depth = int(tree.depth[node])
    limit = parameters.get("max_depth")
    if limit is not None and depth >= limit:
        return f"max_depth is {limit} and the node has depth {depth}"
    n, least = int(tree.n_samples[node]), rows_needed(parameters, int(tree.n_samples[0]))
    if n < least:
        return f"it has {counted(n, 'row')}, and a split needs {least} (min_samples_split)"
    if winner is None and best is not None and "multiplier" in best.notes:
        return f"the smallest adjusted p-value, {best.p_value:.3g}, is above alpha, {parameters.get('alpha', 0.05):g}"
    if winner is None and none_gains:
        return "no column has a positive gain"
    if winner is None:
        return "no column offers a test that the algorithm would choose"
    decrease, asked = winner.gain * here.weight / float(tree.weight[0]), parameters.get("min_impurity_decrease") or 0.0
    if decrease < asked * (1 - 1e-12):
        return (
            f"its best test lowers the impurity of the tree by {decrease:.3g}, and min_impurity_decrease requires "
            f"{asked:.3g}"
        )
    if chance is not None and not chance.is_significant:
        return f"its best test is {significance_text(chance)} (max_p_value)"
    return later_reason(summary, parameters)


def significance_text(chance: Chance) -> str:
    """Return a test's p-values in words, compared with their limit.

    Examples
    --------
    >>> significance_text(Chance(0.05, math.log(0.004), math.log(50)))
    'not significant: p 0.004, adjusted 0.2 > 0.05'
    >>> significance_text(Chance(0.05, math.log(0.004), math.log(5)))
    'significant: p 0.004, adjusted 0.02 <= 0.05'
    >>> significance_text(Chance(0.05, math.log(0.3)))
    'not significant: p 0.3 > 0.05'
    """
    p_value, adjusted = chance.p_value, chance.adjusted_p_value
    if chance.is_significant:
        return f"significant: p {p_value:.3g}, adjusted {_within(adjusted, chance)} <= {chance.limit:.6g}"
    if math.isnan(adjusted):
        return f"not significant: p {_within(p_value, chance)} > {chance.limit:.6g}"
    return f"not significant: p {p_value:.3g}, adjusted {_within(adjusted, chance)} > {chance.limit:.6g}"


def _within(p_value: float, chance: Chance) -> str:
    """A p-value with as many digits as keep it on its side of the limit."""
    for digits in (3, 6, 9):
        text = f"{p_value:.{digits}g}"
        if (float(text) <= float(f"{chance.limit:.6g}")) == chance.is_significant:
            break
    return text


def rows_needed(parameters: dict[str, Any], n_rows: int) -> int:
    """Return the rows that a node needs to be split."""
    least = parameters.get("min_samples_split", 2)
    # A float is a share of all rows.
    return max(2, math.ceil(least * n_rows) if isinstance(least, float) else int(least))


def later_reason(summary: TreeSummary, parameters: dict[str, Any]) -> str:
    """Return why a node that could be split is a leaf."""
    # A leaf does not record why it is one: it may be a limit of growth, or pruning afterwards.
    was_cut = bool(cuts_of(summary.model))
    afterwards = "; or it was pruned after growth" if was_cut else ""
    if parameters.get("ccp_alpha"):
        return (
            f"it was pruned, or not split: a split was possible (ccp_alpha is {parameters['ccp_alpha']:g}){afterwards}"
        )
    if parameters.get("max_leaf_nodes") is not None:
        return (
            f"the tree has all its leaves (max_leaf_nodes is {parameters['max_leaf_nodes']}): a split was possible"
            f"{afterwards}"
        )
    if summary.algorithm == "c45" and parameters.get("confidence", 0.25) is not None:
        return "it was split and then pruned"
    if BY_HAND in summary.model.facts:
        return "no test was chosen here"
    if was_cut:
        return "a split was possible: the tree was pruned after growth"
    return "a split was possible: the tree was pruned, or fitted on other rows"
