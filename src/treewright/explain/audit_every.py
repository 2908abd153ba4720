"""Every cut or division of one column at a node. In: a search. Out: ``AuditRow`` list. Caller: explain.audit_search."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treewright.explain.audit_rows import AuditedNode, AuditRow, BranchSums, measured
from treewright.grow.by_node.candidates import Candidate, level_branches
from treewright.grow.by_node.cuts import LEAVE_OUT, LEFT, OWN, OWN_BRANCH, RIGHT, CutList, list_cuts, middle_between
from treewright.grow.by_node.instances import EVERY_BRANCH, Instances
from treewright.grow.by_node.levels import EXHAUSTIVE_LEVELS, divisions, every_split
from treewright.grow.by_node.search import Search
from treewright.grow.criteria.costs import ABSOLUTE_ERROR
from treewright.tree.arrays import SUBSET, THRESHOLD
from treewright.tree.writing import gap_digits


def mode_of_cuts(search: Search, instances: Instances, place: int) -> int:
    """Return what the search does with the missing rows of an ordered column (``scan``)."""
    n_missing = len(instances) - instances.n_present
    return int(search.modes(n_missing, search.missing_tables(instances))[place])


def place_of(columns: np.ndarray, feature: int) -> int:
    """Return where a column stands among the ordered or the level columns."""
    return int(np.searchsorted(columns, feature))


def allowed_cuts(node: AuditedNode, search: Search, feature: int) -> CutList:
    """Return the cuts of an ordered column that leave enough on both sides, the lowest first."""
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
        What each pays for the choice among them.
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
    """The cuts as the search would state them."""
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


OWN_BRANCH_NUMBER = 2  # the branch that missing rows have to themselves beside the two sides of a cut


def _sums_along(
    node: AuditedNode, feature: int, cuts: CutList, candidates: Sequence[Candidate]
) -> list[BranchSums | None]:
    """What the branches of each cut hold, from running sums: one pass for all cuts."""
    instances = node.instances
    place = place_of(node.problem.ordered_columns, feature)
    order, last = instances.orders[place], int(instances.n_present[place])
    held = []
    for parts in (np.ones((len(order), 1)), node.parts, node.squares):
        running = np.cumsum(parts[order[:last]], axis=0)
        left = running[cuts.places]
        # Roundings must not make a class weigh a little on a side that it is not on.
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
    """Return the divisions in two of a nominal column's levels, those that gain most first.

    All of them up to 10 levels in the node; beyond, those that the search tries.
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
    masks = _divisions(node, search, tables[levels][held])
    sides = {LEAVE_OUT: (EVERY_BRANCH,), OWN_BRANCH: (OWN_BRANCH_NUMBER,)}.get(mode, (1, 0))
    offers = [(mask, side) for mask in masks for side in sides]
    if mode != LEAVE_OUT:
        offers.append((np.ones(len(held), bool), 1))  # present against missing
    # Stated, two offers may be one: of two levels each against the rest. A dict keeps it once.
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


def _divisions(node: AuditedNode, search: Search, tables: np.ndarray) -> np.ndarray:
    """bool[k, g]: levels on the left of each division."""
    only_one = search.rules.nominal_splits == "one_vs_rest"
    if not only_one and len(tables) <= EXHAUSTIVE_LEVELS:
        return every_split(len(tables))[1:]
    # The order of levels by medians is that by means here: this lists divisions, it does not choose one.
    return divisions(node.problem, search.criterion, tables, one_against_rest=only_one)[0]


def _stated(mask: np.ndarray, side: int) -> tuple[np.ndarray, int]:
    """A division with fewer levels on the left; of two halves the one with the lowest code."""
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
