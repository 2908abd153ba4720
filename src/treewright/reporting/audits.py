"""The audits of a tree's splits, for the page. In: ``TreePart``, ``Judged``. Out: ``TreePart``. Caller: tree_judged.

What a node could have asked is worked out by ``explain.audit``, as ``est.audit`` does it, on the rows of the fit:
those that the estimator kept, or the judged ones where they are the same. Other rows would tell another story.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from treewright.exceptions import DataError, ParameterError
from treewright.explain.audit import Audit, audit_model, refuse_other_growth
from treewright.page.parts_tree import CandidatePart, NodePart, TreePart
from treewright.page.tree_part import NAME_WIDTH
from treewright.reporting.judged import Judged
from treewright.tree.writing import shorten

MAX_NODES, MAX_CANDIDATES = 31, 6
# An audit takes about half a microsecond per cell, as much per level as per hundred cells, and per column as per
# thousand: two seconds in all.
MAX_WORK, WORK_OF_A_LEVEL, WORK_OF_A_COLUMN = 4_000_000, 100, 1_000

NO_ROWS = "What this node could have asked is not told: the rows of the fit are not at hand."
NO_CHOICE = "What this node could have asked is not told: the tree did not choose among all tests."
SOME = "Only the nodes with the most rows tell what they could have asked."
NONE_OF_THEM = "What this node could have asked is not told: it takes too long, or its rows do not tell."


def with_audits(part: TreePart, judged: Judged) -> TreePart:
    """Return the tree with the audits of those nodes that most rows pass.

    The nodes without one are those beyond the first 31, those that would take too long, and all where no rows of the
    fit are at hand or the tree did not choose among all tests (``explain.audit.refuse_other_growth``).
    """
    inner = sum(node.test is not None for node in part.nodes)
    if not inner:
        return part
    audit_of = audits_of(judged)
    if audit_of is None:
        return replace(part, audit_note=NO_CHOICE if is_by_chance(judged) else NO_ROWS)
    found = {}
    for node in chosen(part, judged):
        try:
            audit = audit_of(node)
        except (ParameterError, DataError):
            # A cut between bins that is not the best of all, targets beyond squares: the node stays without.
            continue
        found[node] = candidates(audit)
    nodes = tuple(replace(node, audit=found.get(node.id, ())) for node in part.nodes)
    note = "" if len(found) == inner else SOME if found else NONE_OF_THEM
    return replace(part, nodes=nodes, audit_note=note)


def audits_of(judged: Judged) -> Callable[[int], Audit] | None:
    """Return what audits a node on the rows of the fit; None where that cannot be."""
    model, estimator = judged.model, judged.estimator
    if is_by_chance(judged):
        return None
    if estimator is not None and estimator.__dict__.get("_rows") is not None:
        kept: Callable[[int], Audit] = estimator.audit
        return kept
    if not judged.seen:
        return None
    matrix, target, weights = model.encode_rows(judged.table, judged.target_given, judged.weights_given, owner="report")
    return lambda node: audit_model(model, matrix, target, weights, node)


def is_by_chance(judged: Judged) -> bool:
    """Whether the nodes of the tree did not choose among all tests, or it is not known how they did."""
    try:
        refuse_other_growth(judged.model)
    except ParameterError:
        return True
    return False


def chosen(part: TreePart, judged: Judged) -> list[int]:
    """Return the inner nodes to audit, those with the most rows first, as far as the work is bounded."""
    columns = judged.model.schema.columns
    inner = sorted((node for node in part.nodes if node.test is not None), key=lambda node: (-node.n_rows, node.id))
    nodes: list[int] = []
    spent = 0
    for node in inner:
        work = (node.n_rows + WORK_OF_A_COLUMN) * len(columns) + levels_work(
            node, [len(column.levels) for column in columns]
        )
        if spent + work > MAX_WORK:
            continue
        spent += work
        nodes.append(node.id)
        if len(nodes) == MAX_NODES:
            break
    return nodes


def levels_work(node: NodePart, levels: list[int]) -> int:
    """Return what the levels of a node's rows take to be grouped."""
    return WORK_OF_A_LEVEL * sum(min(count, node.n_rows) for count in levels)


def candidates(audit: Audit) -> tuple[CandidatePart, ...]:
    """Return the best candidates, best first, with the one that the node asks."""
    rows = list(audit.rows)
    shown = rows[:MAX_CANDIDATES]
    asked = next((row for row in rows if row.question == audit.asked), None)
    if asked is not None and asked not in shown:
        shown[-1] = asked
    return tuple(CandidatePart(shorten(row.question, NAME_WIDTH), row.gain, row.score, row is asked) for row in shown)
