"""An audit as text, as columns and as HTML. In: ``Audit``. Out: lines, a dict of lists, a table.

The text is what one would write by hand: the node and its impurity, the table of candidates, then the best one computed
step by step with the numbers of ``explain.arithmetic``.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from treewright.explain.arithmetic import CLASS_FORMULAS, MOST_TERMS, Paper, Written, decimals_for, fraction, plain
from treewright.explain.audit_rows import AuditBranch, AuditRow
from treewright.explain.table import TextColumn, aligned, html_table
from treewright.model.by_hand import BY_HAND
from treewright.model.summary import counted
from treewright.tree.writing import shorten, written_amount, written_name

if TYPE_CHECKING:
    from treewright.explain.audit import Audit

MAX_TEXT_ROWS = 20  # candidates that print shows; to_dict has them all
MAX_NAMES = 8
MAX_CLASSES = 5  # with more of them a branch shows its rows alone
QUESTION_WIDTH, BRANCHES_WIDTH = 40, 60
CLASSES_WIDTH = 26  # of all class names together
TERMS = {"squared_error": "variance", "poisson": "half deviance", "absolute_error": "distance to the median"}
UNITS = {2: "bits", "e": "nats"}
LEFT_OUT = {
    "surrogate": "they follow the surrogate tests",
    "fractional": "they take every branch, in proportion to the branch weights",
}
MOST_BRANCHES, MOST_CLASSES = 4, 4  # larger tables show their sum alone
# A page with more rows than this is slow and too long to read; to_dict has them all.
MAX_HTML_ROWS = 200


def text_of(audit: Audit) -> str:
    """Return the whole text: the node, the table of candidates, the arithmetic of the best one."""
    lines = head_lines(audit)
    if audit.rows:
        lines += ["", *table_lines(audit)]
    if audit.barred:
        lines += ["", *barred_lines(audit)]
    shown = audit.winner or next(iter(best_rows(audit, 1)), None)
    if audit.of is not None:
        shown = next((row for row in audit.rows if row.column == audit.of), None)
    if shown is not None:
        lines += ["", *winner_lines(audit, shown)]
        if audit.of is None or shown is audit.winner:
            lines += ["", *verdict_lines(audit, shown)]
    return "\n".join(lines).rstrip()


def paper_of(audit: Audit) -> Paper:
    """Return how numbers are written: digits after the point; more for small variances, fewer for large ones."""
    known_size = audit.criterion in CLASS_FORMULAS
    decimals = audit.digits if known_size else decimals_for(audit.digits, audit.whole.impurity)
    return Paper(decimals, "log2" if audit.log_base == 2 else "ln")


def term_of(audit: Audit) -> str:
    """Return the name of the impurity."""
    return TERMS.get(audit.criterion, audit.criterion)


def unit_of(audit: Audit) -> str:
    """Return the unit of the impurity; empty if it has none."""
    return UNITS[audit.log_base] if audit.criterion == "entropy" else ""


def head_lines(audit: Audit) -> list[str]:
    """Return the lines about the node: its rows, its path, its impurity, and notes."""
    place = "the root" if audit.node == 0 else "if " + " and ".join(audit.path)
    lines = [f"Node {audit.node}, {place}: {counted(audit.n_samples, 'row')}{weight_note(audit)}"]
    if audit.n_samples:
        lines.append(holds_text(audit))
        lines.append(impurity_line(audit, audit.whole, term_of(audit)))
    if audit.n_samples != audit.n_fitted:
        lines.append(
            f"The tree was fitted on {counted(audit.n_fitted, 'row')} here: these numbers are those of the given rows, "
            "not of the training rows."
        )
    if audit.leaf_reason:
        lines.append(f"The node is a leaf: {audit.leaf_reason}.")
    return lines


def weight_note(audit: Audit) -> str:
    """Return the weight, if it is not the number of rows."""
    same = math.isclose(audit.weight, audit.n_samples, rel_tol=1e-9)
    return "" if same else f", weight {written_amount(audit.weight, digits=6)}"


def holds_text(audit: Audit) -> str:
    """Return the weights of the node's classes, or the mean of its targets."""
    outputs = audit.summary.outputs
    texts = []
    for at, output in enumerate(outputs):
        if output.classes:
            counts = audit.whole.counts[output.start : output.stop]
            held = [
                f"{shorten(label, QUESTION_WIDTH)} {plain(count)}"
                for label, count in zip(output.classes, counts, strict=True)
                if count
            ]
            more = [f"... {len(held) - MAX_NAMES} more classes"] if len(held) > MAX_NAMES else []
            text = ", ".join(held[:MAX_NAMES] + more)
        else:
            text = f"{audit.summary.centre} {written_amount(audit.whole.values[at], digits=6)}"
        texts.append(f"{output.name}: {text}" if output.name else text)
    return "; ".join(texts)


def impurity_line(audit: Audit, held: AuditBranch, label: str) -> str:
    """Return ``label = computation = impurity``; without a computation if it is obviously 0 or too long."""
    paper, unit = paper_of(audit), unit_of(audit)
    formula = CLASS_FORMULAS.get(audit.criterion)
    written = None
    if len(audit.summary.outputs) == 1:
        if formula is not None:
            written = formula(paper, held.counts)
        elif audit.criterion == "squared_error" and len(audit.targets) == held.samples and held is audit.whole:
            written = paper.variance(audit.targets, held.values[0])
    if written is not None:
        return paper.line(label, written, held.impurity, unit)
    note = "" if len(audit.summary.outputs) == 1 else f" (mean over {len(audit.summary.outputs)} targets)"
    return f"{label} = {paper.number(held.impurity)}" + (f" {unit}" if unit else "") + note


def best_rows(audit: Audit, most: int) -> list[AuditRow]:
    """Return the rows to show: all, or the best ones, in their order."""
    if len(audit.rows) <= most:
        return list(audit.rows)
    return [row for row in audit.rows if row.rank <= most]


def table_lines(audit: Audit) -> list[str]:
    """Return the table of candidates."""
    shown = best_rows(audit, MAX_TEXT_ROWS)
    titles, cells = titles_and_cells(audit, shown, width=QUESTION_WIDTH)
    aligns = ["right", "left", "left", *["right"] * (len(titles) - 3)]
    columns = [
        aligned(TextColumn(title, [row[at] for row in cells], align))  # type: ignore[arg-type]
        for at, (title, align) in enumerate(zip(titles, aligns, strict=True))
    ]
    what = "Best test of each column" if audit.every is None else f"Every test of {written_name(audit.every)}"
    unit = f"; entropies in {unit_of(audit)} (log base {audit.log_base})" if unit_of(audit) else ""
    taken = ", * is chosen" if audit.takes_winner else ", * would be chosen"
    mark = "" if audit.winner is None else taken if audit.every is None else ", * is the best of them"
    out = "; -: left out" if audit.every is None and any(is_out(audit, row) for row in shown) else ""
    name = p_name(audit)
    lines = [f"{what}{mark}{out}{unit}" + (f"; p of the {name}" if name else "")]
    lines += ["  ".join(parts).rstrip() for parts in zip(*columns, strict=True)]
    hidden = len(audit.rows) - len(shown)
    if hidden:
        lines.append(f"... {hidden} that rank lower: to_dict() has them all")
    return lines


def is_out(audit: Audit, row: AuditRow) -> bool:
    """Return whether this column is left out of the comparison of gain ratios."""
    return audit.by_ratio and audit.every is None and math.isnan(row.score)


def titles_and_cells(audit: Audit, rows: Sequence[AuditRow], *, width: int | None) -> tuple[list[str], list[list[str]]]:
    """Return the titles of the table and the cells of each row; texts cut to ``width`` unless that is None."""
    paper = paper_of(audit)
    with_ratio = audit.by_ratio or audit.criterion == "entropy"
    titles = ["", "test", f"branches ({branch_title(audit)})", f"{term_of(audit)} after", "gain"]
    titles += (["split info", "gain ratio"] if with_ratio else []) + ["adjusted p" if audit.by_p else "p-value"]
    cells = []
    for row in rows:
        question, branches = row.question, branches_text(audit, row)
        if width is not None:
            question, branches = shorten(question, width), shorten(branches, BRANCHES_WIDTH)
        numbers = [row.after, row.gain] + ([row.split_info, row.gain_ratio] if with_ratio else [])
        mark = f"* {row.rank}" if row.chosen else "-" if is_out(audit, row) else str(row.rank)
        p_value = "-" if math.isnan(row.p_value) else f"{row.p_value:.2g}"
        cells.append([mark, question, branches, *map(paper.number, numbers), p_value])
    return titles, cells


def branch_title(audit: Audit) -> str:
    """Return what the table shows of each branch."""
    output = audit.summary.outputs[0]
    if len(audit.summary.outputs) > 1 or len(output.classes) > MAX_CLASSES:
        return f"rows: {term_of(audit)}"
    if not output.classes:
        return f"rows at {audit.summary.centre}: {term_of(audit)}"
    return f"{shorten('/'.join(output.classes), CLASSES_WIDTH)}: {term_of(audit)}"


def branches_text(audit: Audit, row: AuditRow) -> str:
    """Return the branches that hold rows: ``4/0: 0.000 | 3/2: 0.971``."""
    paper, several = paper_of(audit), len(audit.summary.outputs) > 1
    texts = []
    for branch in row.held[: 2 * MOST_TERMS]:
        if several or len(branch.counts) > MAX_CLASSES:
            held = str(branch.samples)
        elif branch.counts:
            held = "/".join(written_amount(count, digits=4) for count in branch.counts)
        else:
            held = f"{branch.samples} at {written_amount(branch.values[0], digits=4)}"
        texts.append(f"{held}: {paper.number(branch.impurity)}")
    hidden = len(row.held) - len(texts)
    return " | ".join(texts + ([f"... {hidden} more"] if hidden else []))


def barred_lines(audit: Audit) -> list[str]:
    """Return the columns without a candidate, by reason."""
    by_reason: dict[str, list[str]] = {}
    for barred in audit.barred:
        by_reason.setdefault(barred.reason, []).append(written_name(barred.column))
    lines = ["Columns without a test:"]
    for reason, names in by_reason.items():
        more = f", ... {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
        lines.append(f"  {', '.join(shorten(name, QUESTION_WIDTH) for name in names[:MAX_NAMES])}{more}: {reason}")
    return lines


def winner_lines(audit: Audit, row: AuditRow) -> list[str]:
    """Return the arithmetic of one candidate, as one would write it by hand."""
    paper, term = paper_of(audit), term_of(audit)
    held = row.held
    lines = [f"{shorten(row.question, 2 * QUESTION_WIDTH)}, by hand"]
    if row.n_left_out:
        way = LEFT_OUT.get(audit.summary.model.missing, "")
        lines.append(
            f"  missing in {counted(row.n_left_out, 'row')} (weight {plain(row.weight_left_out)}), which no branch "
            f"counts{': ' + way if way else ''}"
        )
        lines.append(f"  {known_line(audit, row)}")
    labels = [f"{term}({shorten(branch.label, QUESTION_WIDTH)})" for branch in held[:MOST_TERMS]]
    lines += [f"  {impurity_line(audit, branch, label)}" for branch, label in zip(held, labels, strict=False)]
    if len(held) > MOST_TERMS:
        lines.append(f"  ... {len(held) - MOST_TERMS} more branches")
    weights = [branch.weight for branch in held]
    after = paper.weighted(weights, sum(weights), [branch.impurity for branch in held])
    if after is not None:
        lines.append("  " + paper.line(f"{term} after", after, row.after, unit_of(audit)))
    else:
        lines.append(f"  {term} after, the mean over {len(held)} branches by their weight: {paper.number(row.after)}")
    known = fraction(audit.weight - row.weight_left_out, audit.weight) if row.n_left_out else None
    if row.price:
        price = paper.price(int(row.notes["tried"]), audit.weight)
        lines.append("  " + paper.line(f"price of the choice among {int(row.notes['tried'])} cuts", price, row.price))
    lines.append("  " + paper.line("gain", paper.gain(row.before, row.after, row.price, known), row.gain))
    return lines + [f"  {line}" for line in ratio_lines(audit, row)]


def known_line(audit: Audit, row: AuditRow) -> str:
    """Return the impurity of the rows that branches count."""
    held = row.held
    counts = tuple(map(sum, zip(*(branch.counts for branch in held), strict=True)))
    samples = sum(branch.samples for branch in held)
    weight = sum(branch.weight for branch in held)
    known = AuditBranch("", samples, weight, counts, (), (), row.before)
    return impurity_line(audit, known, f"{term_of(audit)}(known rows)")


def ratio_lines(audit: Audit, row: AuditRow) -> list[str]:
    """Return split information and gain ratio, or CHAID's p-value, if the algorithm uses them."""
    paper = paper_of(audit)
    lines = []
    if audit.by_ratio:
        parts = [branch.weight for branch in row.held] + ([row.weight_left_out] if row.n_left_out else [])
        written = paper.entropy(parts)
        if written is None:
            lines.append(f"split information, over {len(parts)} branches: {paper.number(row.split_info)}")
        else:
            lines.append(paper.line("split information", written, row.split_info, UNITS[audit.log_base]))
        if row.split_info > 0:
            lines.append(paper.line("gain ratio", paper.ratio(row.gain, row.split_info), row.gain_ratio))
        lines += average_lines(audit)
    return lines + (independence_lines(audit, row, paper) if "multiplier" in row.notes else [])


def average_lines(audit: Audit) -> list[str]:
    """Return the average gain, and the columns that do not count in it."""
    paper, lines = paper_of(audit), []
    mean = paper.mean(audit.average_of)
    average = sum(audit.average_of) / len(audit.average_of) if audit.average_of else math.nan
    none_gains = len(audit.gainless) == len(audit.rows)
    if mean is not None:
        rule = "no column has a positive gain" if none_gains else "columns below it are left out"
        lines.append(f"{paper.line('average gain', mean, average)}: {rule}")
    elif audit.average_of:
        rule = "no column has a positive gain" if none_gains else "columns below it are left out"
        lines.append(f"average gain of {len(audit.average_of)} columns: {paper.number(average)}; {rule}")
    if audit.uncounted:
        verb = "has very many levels and does" if len(audit.uncounted) == 1 else "have very many levels and do"
        lines.append(f"{names_text(audit.uncounted)} {verb} not count in the average")
    return lines


def names_text(names: Sequence[Hashable]) -> str:
    """Return the names of columns, the first few of many."""
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(shorten(written_name(name), QUESTION_WIDTH) for name in names[:MAX_NAMES]) + more


def verdict_lines(audit: Audit, row: AuditRow) -> list[str]:
    """Return how the best candidate compares with the others and with the tree."""
    lines = []
    if audit.every is None:
        lines += rival_lines(audit, row)
    if row.price and row.gain <= 0:
        lines.append("The gain does not exceed the price of the choice among so many cuts.")
    elif row.gain <= 1e-12 * max(audit.whole.impurity, 1e-300):
        lines.append(
            "The gain is 0: the split does not reduce the impurity."
            if audit.asked
            else "The gain would be 0: the split would not reduce the impurity."
        )
    if audit.n_equal_cuts:
        others = (
            "1 other cut of this column has"
            if audit.n_equal_cuts == 1
            else (f"{audit.n_equal_cuts} other cuts of this column have")
        )
        lines.append(f"{others} the same gain: the lowest is chosen.")
    if not row.exact:
        lines.append("Not every split of its levels was tried: a better one may exist.")
    if audit.every is None and audit.asked and not (row.chosen and audit.takes_winner):
        asked = shorten(audit.asked, 2 * QUESTION_WIDTH)
        lines.append(f"The tree tests '{asked}' here, which is not the best test of these rows{why_other(audit)}.")
    return lines


def why_other(audit: Audit) -> str:
    """Return why a node may have another test than the best one of its rows."""
    parameters = audit.summary.model.facts.get("parameters", {})
    if BY_HAND in audit.summary.model.facts:
        return ": it was chosen by hand"
    if audit.n_samples != audit.n_fitted:
        return ": it was fitted on others"
    if parameters.get("max_features") is not None:
        return f": columns were sampled (max_features is {parameters['max_features']})"
    if any(parameters.get("monotonic_cst") or ()):
        return ": monotonic_cst excludes some tests"
    return ": subtree raising moved it here, or it was fitted on other rows"


def rival_lines(audit: Audit, row: AuditRow) -> list[str]:
    """Return the runner-up and the ties."""
    paper = paper_of(audit)
    rivals = [other for other in audit.rows if other is not row and not math.isnan(other.score)]
    n_out = sum(math.isnan(other.score) for other in audit.rows)
    lines = []
    if audit.tied:
        verb = "has" if len(audit.tied) == 1 else "have"
        lines.append(f"Tie: {names_text(audit.tied)} {verb} the same score; the first column in the table is chosen.")
    elif rivals:
        rival = rivals[0]
        name = shorten(rival.question, QUESTION_WIDTH)
        if audit.by_p:
            lines.append(f"Runner-up: {name}, adjusted p {rival.p_value:.3g}.")
        else:
            what, ours, theirs = (
                ("gain ratio", row.gain_ratio, rival.gain_ratio) if audit.by_ratio else ("gain", row.gain, rival.gain)
            )
            ahead = paper.gain(ours, theirs, 0.0, None)
            lines.append(f"Runner-up: {name}; ahead by {what}: " + paper.line("lead", ahead, ours - theirs))
    elif not n_out:
        lines.append("No other column offers a test.")
    if n_out and audit.by_ratio:
        lines += out_lines(audit, n_out)
    return lines


def out_lines(audit: Audit, n_out: int) -> list[str]:
    """Return how many columns are left out, and why."""
    n_gainless = len(audit.gainless)
    if n_gainless == len(audit.rows):
        return ["No column has a positive gain: none is chosen."]
    n_below = n_out - n_gainless
    lines = [f"{counted(n_below, 'column')} below the average gain, left out."] if n_below else []
    if n_gainless:
        verb = "gains" if n_gainless == 1 else "gain"
        lines.append(f"{counted(n_gainless, 'column')} {verb} nothing, left out.")
    return lines


def p_name(audit: Audit) -> str:
    """Return the name of the test behind the p-values; empty if there are none."""
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
    """Return how the adjusted p-value of a candidate of CHAID is computed."""
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
        label = shorten(branch.label, QUESTION_WIDTH)
        lines.append(f"expected({label}): " + ", ".join(map(paper.expected, expected)))
        parts.append(sum((o - e) ** 2 / e for o, e in zip(observed, expected, strict=True)))
        printed.append(paper.as_printed(parts[-1]))
        lines.append(paper.line(f"chi-squared({label})", paper.squares(observed, expected), parts[-1]))
    terms = Written(" + ".join(map(paper.number, parts)), sum(printed))
    return [*lines, paper.line("chi-squared", terms, statistic)]


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
    note = f"{hidden} more: see to_dict()" if hidden else ""
    return html_table(head_lines(audit), titles, cells, note)
