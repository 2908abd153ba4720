"""The test of independence behind a p-value, as on paper. In: ``Audit``. Out: lines. Caller: explain.audit_text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from treewright.explain.arithmetic import Paper, Written, plain
from treewright.explain.audit_rows import AuditRow
from treewright.model.summary import counted
from treewright.tree.writing import shorten

if TYPE_CHECKING:
    from treewright.explain.audit_record import Audit

MOST_BRANCHES, MOST_CLASSES = 4, 4  # larger tables are told by their sum
LABEL_WIDTH = 40


def p_name(audit: Audit) -> str:
    """Return what the p-values are those of; empty where there are none."""
    if all(math.isnan(row.p_value) for row in audit.rows):
        return ""
    if not audit.summary.counts_classes:
        return "F test of the branches' means"
    return (
        "likelihood-ratio" if audit.by_p and by_likelihood(audit) else "chi-squared"
    ) + " test of branches and classes"


def by_likelihood(audit: Audit) -> bool:
    """Return whether the model was fitted with the likelihood-ratio statistic."""
    parameters = audit.summary.model.facts.get("parameters", {})
    return bool(parameters.get("test") == "likelihood_ratio")


def independence_lines(audit: Audit, row: AuditRow, paper: Paper) -> list[str]:
    """Return how the adjusted p-value of a candidate of CHAID comes about."""
    notes = row.notes
    statistic, dof = notes["statistic"], f"{notes['dof']:g}"
    lines: list[str] = []
    if not audit.summary.counts_classes:
        within = f" and {notes['dof_within']:.4g}" if "dof_within" in notes else ""
        name, freedom = "F", f"{dof}{within} degrees of freedom"
    else:
        name = "likelihood-ratio statistic" if by_likelihood(audit) else "chi-squared"
        freedom = counted(int(notes["dof"]), "degree") + " of freedom"
        if not by_likelihood(audit):
            lines += squares_lines(row, paper, statistic)
    lines.append(f"{name} {statistic:.4g} with {freedom}: p {notes['unadjusted_p_value']:.3g}")
    ways = counted(int(notes["multiplier"]), "way") if notes["multiplier"] < 1e9 else f"{notes['multiplier']:g} ways"
    return [*lines, f"adjusted: p x {ways} to merge, at most 1: {row.p_value:.3g}"]


def squares_lines(row: AuditRow, paper: Paper, statistic: float) -> list[str]:
    """Return Pearson's statistic from the observed and the expected weight of every class in every branch."""
    held = row.held
    present = [at for at, total in enumerate(map(sum, zip(*(branch.counts for branch in held), strict=True))) if total]
    table = [[branch.counts[at] for at in present] for branch in held]
    totals = [sum(column) for column in zip(*table, strict=True)]
    whole = sum(totals)
    lines = ["expected is weight of branch x weight of class / " + plain(whole)]
    if len(table) > MOST_BRANCHES or len(totals) > MOST_CLASSES:
        size = f"{len(table)} branches x {len(totals)} classes"
        return [f"{lines[0]}; chi-squared is the sum of (observed - expected)^2 / expected over {size}"]
    parts, printed = [], []
    for branch, observed in zip(held, table, strict=True):
        expected = [sum(observed) * total / whole for total in totals]
        label = shorten(branch.label, LABEL_WIDTH)
        lines.append(f"expected({label}): " + ", ".join(map(paper.expected, expected)))
        parts.append(sum((o - e) ** 2 / e for o, e in zip(observed, expected, strict=True)))
        printed.append(paper.as_printed(parts[-1]))
        lines.append(paper.line(f"chi-squared({label})", paper.squares(observed, expected), parts[-1]))
    terms = Written(" + ".join(map(paper.number, parts)), sum(printed))
    return [*lines, paper.line("chi-squared", terms, statistic)]
