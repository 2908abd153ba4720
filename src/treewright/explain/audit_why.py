"""Why a column offers no test, why a node is a leaf. In: a node, the algorithm. Out: texts. Caller: explain.audit."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.explain.audit_every import allowed_cuts, place_of
from treewright.explain.audit_rows import AuditedNode, AuditRow
from treewright.grow.by_node.search import Policy, Search
from treewright.grow.by_node.significance import Chance
from treewright.model.summary import TreeSummary, counted, cuts_of

PURE = "it is pure: all its rows have one target"
NOTHING_KNOWN = "every cell is missing here"
CONSTANT = "has one value here"
TOO_FEW = "no division leaves enough rows in its branches"
DOES_NOT_PAY = "no cut gains more than the choice among so many costs"
NOT_OFFERED = "the algorithm offers no test of it"


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
    """Return whether all rows that a node was grown on have one target."""
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
        The candidate that the algorithm would take there.
    best : AuditRow or None
        The best one, whether it would take it or not.
    none_gains : bool
        Whether it would take none because no candidate gains anything.
    chance : Chance or None
        What the winner is judged by where growth has a limit of p-values.
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
        return "no column gains anything"
    if winner is None:
        return "no column offers a test that the algorithm would take"
    decrease, asked = winner.gain * here.weight / float(tree.weight[0]), parameters.get("min_impurity_decrease") or 0.0
    if decrease < asked * (1 - 1e-12):
        return (
            f"its best test lowers the impurity of the tree by {decrease:.3g}, and min_impurity_decrease asks for "
            f"{asked:.3g}"
        )
    if chance is not None and not chance.is_significant:
        return f"its best test is {significance_text(chance)} (max_p_value)"
    return later_reason(summary, parameters)


def significance_text(chance: Chance) -> str:
    """Return what a test's p-value says.

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
    """A p-value with as many digits as it takes to stand on its own side of the limit."""
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
    """Return why a node that could be split is none the less a leaf."""
    # A leaf does not tell who made it: what bounded growth stands beside a pruning afterwards.
    was_cut = bool(cuts_of(summary.model))
    afterwards = "; or it was cut when the tree was pruned after it was grown" if was_cut else ""
    if parameters.get("ccp_alpha"):
        return (
            f"it was pruned, or never split: a test was possible (ccp_alpha is {parameters['ccp_alpha']:g}){afterwards}"
        )
    if parameters.get("max_leaf_nodes") is not None:
        return (
            f"the tree had all its leaves (max_leaf_nodes is {parameters['max_leaf_nodes']}): a test was possible"
            f"{afterwards}"
        )
    if summary.algorithm == "c45" and parameters.get("confidence", 0.25) is not None:
        return "it was split, and pruning took that back"
    if was_cut:
        return "a test was possible: the tree was pruned after it was grown"
    return "a test was possible: the tree was pruned, or other rows grew it"
