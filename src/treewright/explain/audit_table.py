"""An audit side by side. In: ``Audit``. Out: plain columns, HTML. Caller: explain.audit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from treewright.explain.audit_text import best_rows, head_lines, titles_and_cells

if TYPE_CHECKING:
    from treewright.explain.audit_record import Audit

# A page with more rows than this is slow and read by nobody; to_dict has them all.
MAX_HTML_ROWS = 200


def columns_of(audit: Audit) -> dict[str, list[Any]]:
    """Return the columns that ``Audit.to_dict`` describes."""
    rows = audit.rows
    columns: dict[str, list[Any]] = {
        "rank": [row.rank for row in rows],
        "column": [row.column for row in rows],
        "question": [row.question for row in rows],
        "chosen": [row.chosen for row in rows],
        "branches": [len(row.branches) for row in rows],
        "labels": [[branch.label for branch in row.branches] for row in rows],
        "samples": [[branch.samples for branch in row.branches] for row in rows],
        "weights": [[branch.weight for branch in row.branches] for row in rows],
    }
    if audit.summary.counts_classes:
        columns["counts"] = [[list(branch.counts) for branch in row.branches] for row in rows]
    else:
        columns["values"] = [[list(branch.values) for branch in row.branches] for row in rows]
        columns["variances"] = [[list(branch.variances) for branch in row.branches] for row in rows]
    columns["impurities"] = [[branch.impurity for branch in row.branches] for row in rows]
    columns["known"] = [row.share_known for row in rows]
    for name in ("before", "after", "price", "gain", "split_info", "gain_ratio", "score", "p_value"):
        columns[name] = [getattr(row, name) for row in rows]
    columns["threshold"] = [None if math.isnan(row.threshold) else row.threshold for row in rows]
    columns["exact"] = [row.exact for row in rows]
    return columns


def html_of(audit: Audit) -> str:
    """Return the candidates as an HTML table; every text is escaped."""
    shown = best_rows(audit, MAX_HTML_ROWS)
    titles, cells = titles_and_cells(audit, shown, width=None)
    hidden = len(audit) - len(shown)
    note = f"{hidden} more: take to_dict()" if hidden else ""
    return html_table(head_lines(audit), titles, cells, note)


def html_table(caption: Sequence[str], titles: Sequence[str], rows: Sequence[Sequence[str]], note: str = "") -> str:
    """Return a table of plain texts as HTML.

    Examples
    --------
    >>> print(html_table(["<a>"], ["x"], [["1"]]))
    <table><caption>&lt;a&gt;</caption>
    <thead><tr><th style="text-align: left">x</th></tr></thead>
    <tbody>
    <tr><td style="text-align: left">1</td></tr>
    </tbody></table>
    """
    head = "".join(f'<th style="text-align: left">{escape(title)}</th>' for title in titles)
    lines = [f"<table><caption>{'<br>'.join(map(escape, caption))}</caption>", f"<thead><tr>{head}</tr></thead>"]
    lines.append("<tbody>")
    lines += [
        "<tr>" + "".join(f'<td style="text-align: left">{escape(cell)}</td>' for cell in row) + "</tr>" for row in rows
    ]
    if note:
        lines.append(f'<tr><td colspan="{len(titles)}">{escape(note)}</td></tr>')
    return "\n".join([*lines, "</tbody></table>"])
