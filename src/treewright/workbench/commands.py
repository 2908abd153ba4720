"""The commands that change a plan. In: the rows, a plan, a path, arguments. Out: another plan.

    split, move     ask a node another question       ``Ground.test_of``
    grow            let the algorithm ask             ``grow_below``
    merge           make one branch of several
    prune           make a leaf, or prune the weakest links below a node until few leaves are left
    lock, unlock, rename, decide                      set properties of a node

Locked nodes and their rows never change: ``done`` refuses commands that would change them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from treewright.core import progress
from treewright.core.elementary import is_whole
from treewright.exceptions import ParameterError
from treewright.grow.by_node.grower import Stops, grow_below
from treewright.grow.by_node.plan import LEAF, Path, Plan, tree_of
from treewright.grow.by_node.policies import count_of
from treewright.prune.cost_complexity import path_of_costs
from treewright.prune.costs import impurity_share
from treewright.trees.arrays import INTERVALS, MULTIWAY, SUBSET, THRESHOLD, Tree
from treewright.workbench.plan import instances_at, named, nearest_number, node_at, path_of, with_node_at, written
from treewright.workbench.questions import Ground, number_or_nan

NAMES = {
    "split": {"column", "cut", "levels", "missing", "empty"}, "move": {"cut", "levels", "missing"},
    "grow": {"levels", "leaves", "rest"}, "merge": {"branches"}, "prune": {"leaves"}, "lock": set(), "unlock": set(),
    "rename": {"name"}, "decide": {"value"},
}  # fmt: skip
NEEDED = {"split": "column", "merge": "branches", "rename": "name", "decide": "value"}
MOST_OFFERS = 2_000  # leaves whose best questions are kept
NOTHING_GROWS = "nothing grows here: no question lowers the impurity within the limits of the session"


class NothingGrowsError(ParameterError):
    """The algorithm has no question to ask."""


@dataclass(frozen=True)
class Command:
    """An entry of the log: a command with its author, reason and time.

    Attributes
    ----------
    do : str
        "split", "grow", "move", "merge", "prune", "lock", "unlock", "rename" or "decide".
    path : str
        Of its node.
    given : mapping of plain JSON
    who, why, when : str
        ``when`` is a time in ISO 8601, to the second.
    """

    do: str
    path: str
    given: Mapping[str, Any] = field(default_factory=dict)
    who: str = ""
    why: str = ""
    when: str = ""

    def plain(self) -> dict[str, Any]:
        """As plain JSON, without empty entries."""
        held = deepcopy(vars(self))  # a copy: the log must not change
        return {name: value for name, value in held.items() if value not in ("", {}, None) or name == "path"}


def done(ground: Ground, plan: Plan, command: Command) -> Plan:
    """The plan after a command; ParameterError or ColumnError if it does not fit."""
    if command.do not in DO:
        raise ParameterError(f"there is no command {command.do!r}: choose one of {', '.join(DO)}")
    path, given = path_of(command.path), command.given
    unknown = sorted(map(str, set(given) - NAMES[command.do]))
    if unknown:
        raise ParameterError(
            f"{command.do} takes no {unknown[0]!r}: it takes {', '.join(sorted(NAMES[command.do])) or 'only a path'}"
        )
    if command.do in NEEDED and NEEDED[command.do] not in given:
        raise ParameterError(f"{command.do} needs {NEEDED[command.do]!r}")
    node_at(plan, path)
    if command.do not in ("lock", "unlock", "rename"):
        spares = given.get("leaves") is not None or bool(given.get("rest"))  # grow and prune leave out locked nodes
        _refuse_locked(plan, path, spares=spares)
        if not spares and command.do in ("split", "grow", "prune"):
            _refuse_decided(plan, path)
    return DO[command.do](ground, plan, path, given)


def _refuse_locked(plan: Plan, path: Path, *, spares: bool) -> None:
    """Refuse to change locked nodes; ``spares``: the command leaves out the locked nodes below."""
    for depth in range(len(path) + 1):
        if node_at(plan, path[:depth]).locked:
            raise ParameterError(f"{named(path[:depth])} is locked: unlock it first")
    if not spares:
        below = next((own for own, node in node_at(plan, path).nodes(path) if node.locked), None)
        if below is not None:
            raise ParameterError(f"{named(below)} below is locked, and its rows would change: unlock it first")


def _refuse_decided(plan: Plan, path: Path) -> None:
    """Refuse to remove the decision about a leaf without notice."""
    for own, node in node_at(plan, path).nodes(path):
        if node.decision is not None and node.test is None:
            raise ParameterError(
                f"the decision about {named(own)} would be lost: take it back first, "
                f"with decide({written(own)!r}, None)"
            )


def _split(ground: Ground, plan: Plan, path: Path, given: Mapping[str, Any]) -> Plan:
    test = ground.test_of(plan, path, ground.column(given["column"]), given)
    node = replace(node_at(plan, path), test=test, branches=(LEAF,) * test.n_branches, decision=None)
    return with_node_at(plan, path, node)


def _grow(ground: Ground, plan: Plan, path: Path, given: Mapping[str, Any]) -> Plan:
    levels = given.get("levels")
    if levels is not None and not (is_whole(levels) and levels >= 1):
        raise ParameterError(f"levels={levels!r}: give a whole number of at least 1, or None")
    if levels is not None and given.get("leaves") is not None:
        raise ParameterError("give either levels= or leaves=")
    if given.get("leaves") is not None:
        return _grow_best(ground, plan, path, given["leaves"])
    at = _open_leaves(plan, path) if given.get("rest") else [path]
    grown = plan
    for place, each in enumerate(at):
        with progress.part(place, len(at)):
            progress.report(0.0, "growing")
            below = _grown_below(ground, plan, each, levels)
        if below.test is not None or node_at(plan, each).test is not None:
            grown = with_node_at(grown, each, below)
    if grown is plan:
        raise NothingGrowsError(NOTHING_GROWS)
    return grown


def _open_leaves(plan: Plan, path: Path) -> list[Path]:
    """The leaves below a path that are neither locked nor decided."""
    locked = {own for own, node in plan.nodes() if node.locked}
    return [
        own for own, node in node_at(plan, path).nodes(path)
        if node.test is None and node.decision is None
        and not any(own[:depth] in locked for depth in range(len(own) + 1))
    ]  # fmt: skip


def _grow_best(ground: Ground, plan: Plan, path: Path, leaves: Any) -> Plan:
    """Grow so many leaves more, splitting first the leaf that lowers the impurity of all rows most."""
    if not (is_whole(leaves) and leaves >= 1):
        raise ParameterError(f"leaves={leaves!r}: give a whole number of at least 1")
    offers: dict[Path, tuple[float, Plan]] = {}
    waiting, room, begun = _open_leaves(plan, path), int(leaves), plan
    while room > 0:
        progress.report(1.0 - room / leaves, "growing")
        for each in waiting:
            with progress.part(int(leaves) - room, int(leaves)):
                offer = _offer_of(ground, plan, each)
            if offer is not None:
                offers[each] = offer
        # As with max_leaf_nodes, a split with more branches than leaves are left is passed over.
        offers = {own: offer for own, offer in offers.items() if len(offer[1].branches) - 1 <= room}
        if not offers:
            break
        best = min(offers, key=lambda each: (-offers[each][0], each))
        plan = with_node_at(plan, best, offers.pop(best)[1])
        waiting = [(*best, branch) for branch in range(len(node_at(plan, best).branches))]
        room -= len(waiting) - 1
    if plan is begun:
        raise NothingGrowsError(NOTHING_GROWS)
    return plan


def _offer_of(ground: Ground, plan: Plan, path: Path) -> tuple[float, Plan] | None:
    """The gain of a leaf's best question for all rows, and the leaf split by it; None if it has none.

    It is cached by the questions on the path: of 8 leaves of 500,000 rows, searched leaf by leaf, each took 1.7 s.
    """
    way, node = [], plan
    for branch in path:
        way.append((node.test, branch))
        node = node.branches[branch]
    key = tuple(way)
    if key not in ground.offers:
        if len(ground.offers) >= MOST_OFFERS:
            ground.offers.clear()
        instances = instances_at(ground.problem, ground.whole, plan, path)
        grown = LEAF if instances is None else _grown_below(ground, plan, path, 1)
        weight = 0.0 if instances is None else instances.weight
        ground.offers[key] = None if grown.test is None else (grown.test.gain * weight, grown)
    found = ground.offers[key]
    # Name and decision of the leaf stay.
    return None if found is None else (found[0], replace(node, test=found[1].test, branches=found[1].branches))


def _grown_below(ground: Ground, plan: Plan, path: Path, levels: int | None) -> Plan:
    """The node with what the algorithm grows below it; a node without rows stays as it is."""
    params, node = ground.params, node_at(plan, path)
    instances = instances_at(ground.problem, ground.sorted, plan, path)
    if instances is None:
        return node
    limit = None if params.max_depth is None else max(int(params.max_depth) - len(path), 0)
    depths = [depth for depth in (limit, levels) if depth is not None]
    stops = Stops(
        max_depth=min(depths) if depths else None,
        min_samples_split=max(2, count_of(params.min_samples_split, len(ground.rows))),
        min_impurity_decrease=float(params.min_impurity_decrease), seed=0,
    )  # fmt: skip
    records = grow_below(ground.problem, ground.policy, stops, instances)
    children: list[dict[int, int]] = [{} for _ in records]
    for number, record in enumerate(records[1:], 1):
        children[record.parent][record.branch] = number
    grown: list[Plan] = [LEAF] * len(records)
    for at in range(len(records) - 1, -1, -1):  # children come after their parents
        test, own = records[at].candidate, children[at]
        if test is not None:
            grown[at] = Plan(test, tuple(grown[own[branch]] for branch in range(test.n_branches)))
    return replace(node, test=grown[0].test, branches=grown[0].branches, decision=None)


def _move(ground: Ground, plan: Plan, path: Path, given: Mapping[str, Any]) -> Plan:
    node = node_at(plan, path)
    if node.test is None:
        raise ParameterError(f"{named(path)} is a leaf: there is nothing to move")
    # The branch that missing values follow stays, unless it is given.
    kept = ground.told(node.test)
    given = {**({"missing": kept["missing"]} if "missing" in kept else {}), **given}
    test = ground.test_of(plan, path, node.test.feature, given)
    if test.n_branches != node.test.n_branches:
        raise ParameterError(
            f"{named(path)} has {node.test.n_branches} branches, but the given ones are {test.n_branches}: "
            "split it anew to change their number"
        )
    return with_node_at(plan, path, replace(node, test=test))


def _merge(ground: Ground, plan: Plan, path: Path, given: Mapping[str, Any]) -> Plan:  # noqa: ARG001
    node = node_at(plan, path)
    if not (isinstance(given["branches"], list) and all(is_whole(branch) for branch in given["branches"])):
        raise ParameterError(f"branches={given['branches']!r}: give the numbers of two branches or more")
    merged = sorted(set(given["branches"]))
    for branch in merged:
        if 0 <= branch < len(node.branches):
            _refuse_decided(plan, (*path, branch))
    if len(merged) < 2 or merged[0] < 0 or merged[-1] >= len(node.branches):
        raise ParameterError(f"branches={given['branches']!r}: give two or more of the {len(node.branches)} branches")
    if len(merged) == len(node.branches) or node.test is None:
        return with_node_at(plan, path, replace(node, test=None, branches=()))
    last = len(node.branches) - 1
    is_own = node.test.kind == INTERVALS and np.isinf(node.test.cuts[-1])  # the last branch is that of missing cells
    values = [branch for branch in merged if not (is_own and branch == last)]
    if node.test.kind == INTERVALS and values != list(range(values[0], values[-1] + 1)):
        raise ParameterError(f"branches={given['branches']!r}: only neighbouring intervals can be merged")
    new_of, n_new = np.zeros(len(node.branches), np.int64), 0
    for branch in range(len(node.branches)):
        if branch in merged[1:]:
            new_of[branch] = new_of[merged[0]]
        else:
            new_of[branch], n_new = n_new, n_new + 1
    kept = [below for branch, below in enumerate(node.branches) if branch not in merged[1:]]
    kept[int(new_of[merged[0]])] = LEAF
    test, missing = node.test, node.test.missing_branch
    changed: dict[str, Any] = {"n_branches": n_new, "missing_branch": missing if missing < 0 else int(new_of[missing])}
    if test.kind == INTERVALS:
        # The cuts between merged branches go; the branch of missing cells has the infinite one before it.
        changed["cuts"] = np.delete(test.cuts, [branch - 1 for branch in merged[1:]])
    elif test.kind == MULTIWAY:
        absent = test.branch_of < 0
        moved = new_of[np.where(absent, ~test.branch_of, test.branch_of)]
        changed["branch_of"] = np.where(absent, ~moved, moved)
        if not moved.any():  # the values are in one branch, missing cells in the other
            changed["kind"] = SUBSET
    elif merged != [0, 1]:  # of three branches the last one is that of missing cells: it joins another
        changed["missing_branch"] = merged[0]
    else:  # the test that is left is "is present"
        changed |= (
            {"threshold": np.inf} if test.kind == THRESHOLD else {"branch_of": np.where(test.branch_of < 0, ~0, 0)}
        )
    return with_node_at(plan, path, replace(node, test=replace(test, **changed), branches=tuple(kept)))


def _prune(ground: Ground, plan: Plan, path: Path, given: Mapping[str, Any]) -> Plan:
    leaves = given.get("leaves")
    if node_at(plan, path).test is None:
        raise ParameterError(f"{named(path)} is a leaf: there is nothing to prune")
    if leaves is None:
        return with_node_at(plan, path, replace(node_at(plan, path), test=None, branches=()))
    if not (is_whole(leaves) and leaves >= 1):
        raise ParameterError(f"leaves={leaves!r}: give a whole number of at least 1")
    tree = tree_of(ground.problem, ground.policy, ground.whole, plan)
    is_leaf_at, sizes = leaf_counts(tree, plan, path)
    if leaves >= sizes[0]:
        raise ParameterError(f"leaves={leaves}: there are {sizes[0]} leaves here, so there is nothing to prune")
    if leaves < sizes[-1]:
        raise ParameterError(f"leaves={leaves}: locked and decided nodes keep {sizes[-1]} leaves here")
    is_cut, parents = is_leaf_at >= sizes[np.argmax(sizes <= leaves)], tree.parent.tolist()
    is_gone = np.zeros(tree.n_nodes, bool)
    for node in range(tree.n_nodes):  # parents come before their children
        is_gone[node] = node > 0 and (is_gone[parents[node]] or is_cut[parents[node]])
    for node in np.flatnonzero(is_cut & ~is_gone).tolist():
        at = path_to(tree, node)
        plan = with_node_at(plan, at, replace(node_at(plan, at), test=None, branches=()))
    return plan


def leaf_counts(tree: Tree, plan: Plan, path: Path) -> tuple[np.ndarray, np.ndarray]:
    """How the tree below a path shrinks, the weakest links first (``prune.cost_complexity``).

    Returns for each node the number of leaves below the path at or below which it is a leaf: 0 if it is one already, is
    locked, is above a lock or a decision, or is not below the path; and, descending, the numbers of leaves that can be
    reached.
    """
    top = nearest_number(tree, path)
    parents = tree.parent.astype(np.int64)
    n = tree.n_nodes
    is_below, is_locked = np.zeros(n, bool), np.zeros(n, bool)
    is_below[top] = True
    kept = [own for own, each in plan.nodes() if each.locked or (each.decision is not None and each.test is None)]
    is_locked[[nearest_number(tree, own) for own in kept]] = True
    for node in range(1, n):  # parents come before their children
        is_below[node] |= is_below[parents[node]]
        is_locked[node] |= is_locked[parents[node]]
    stays = is_locked.copy()
    for node in range(n - 1, 0, -1):
        stays[parents[node]] |= stays[node]
    stays |= ~is_below
    cost = impurity_share(tree)
    # So large that every other link is weaker; a power of two, so that nothing else is rounded.
    dear = 2.0**30 * max(float(cost.max()), float(np.finfo(float).tiny))
    way = path_of_costs(tree, np.where(stays & ~tree.is_leaf, dear, cost))
    step = way.collapse_step
    barred = step[stays & ~tree.is_leaf]
    last = int(barred.min()) - 1 if len(barred) else len(way.n_leaves) - 1
    # A node is a leaf from its own step on until its parent's.
    n_steps = len(way.n_leaves)
    ends = np.where(np.arange(n) == top, n_steps, step[np.maximum(parents, 0)])
    counted = is_below & (step < ends)
    changes = np.zeros(n_steps + 1, np.int64)
    np.add.at(changes, step[counted], 1)
    np.add.at(changes, ends[counted], -1)
    n_leaves = np.cumsum(changes)[:-1]
    held = int((is_below & tree.is_leaf).sum())
    is_free = ~stays & ~tree.is_leaf & (step <= last)
    sizes = n_leaves[: max(last, 0) + 1]
    # Questions without gain are pruned at once: the tree as it is comes before that.
    return np.where(is_free, n_leaves[np.minimum(step, n_steps - 1)], 0), np.unique([held, *sizes.tolist()])[::-1]


def path_to(tree: Tree, node: int) -> Path:
    """The path of a node."""
    found: list[int] = []
    while node:
        above = int(tree.parent[node])
        found.append(node - int(tree.first_child[above]))
        node = above
    return tuple(reversed(found))


def _lock(ground: Ground, plan: Plan, path: Path, given: Mapping[str, Any]) -> Plan:  # noqa: ARG001
    node = node_at(plan, path)
    if node.locked:
        raise ParameterError(f"{named(path)} is locked already")
    return with_node_at(plan, path, replace(node, locked=True))


def _unlock(ground: Ground, plan: Plan, path: Path, given: Mapping[str, Any]) -> Plan:  # noqa: ARG001
    node = node_at(plan, path)
    if not node.locked:
        raise ParameterError(f"{named(path)} is not locked")
    return with_node_at(plan, path, replace(node, locked=False))


def _rename(ground: Ground, plan: Plan, path: Path, given: Mapping[str, Any]) -> Plan:  # noqa: ARG001
    return with_node_at(plan, path, replace(node_at(plan, path), name=str(given["name"])))


def _decide(ground: Ground, plan: Plan, path: Path, given: Mapping[str, Any]) -> Plan:
    node, value = node_at(plan, path), given["value"]
    if value is None:
        if node.decision is None:
            raise ParameterError(f"nothing was decided about {named(path)}")
        return with_node_at(plan, path, replace(node, decision=None))
    ground.at(plan, path)  # a leaf without rows predicts like its parent
    if node.test is not None:
        raise ParameterError(f"{named(path)} is not a leaf: prune it first, or decide about its leaves")
    if not ground.rows.classes:
        decision = number_or_nan(value)
        if not np.isfinite(decision):
            raise ParameterError(f"value={value!r}: give a finite number")
    else:
        labels = ground.rows.classes[0].tolist()
        if isinstance(value, list | dict) or value not in labels:
            raise ParameterError(f"value={value!r}: there is no such class; the classes are {labels[:12]}")
        decision = float(labels.index(value))
    return with_node_at(plan, path, replace(node, decision=decision))


DO: dict[str, Callable[[Ground, Plan, Path, Mapping[str, Any]], Plan]] = {
    "split": _split,
    "grow": _grow,
    "move": _move,
    "merge": _merge,
    "prune": _prune,
    "lock": _lock,
    "unlock": _unlock,
    "rename": _rename,
    "decide": _decide,
}
