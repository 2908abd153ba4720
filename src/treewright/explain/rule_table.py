"""Rules side by side. In: rules. Out: text, plain columns, HTML. Callers: explain.rules, users, the command line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, overload

from treewright.explain.rule import LeafRule, written_percent
from treewright.model.summary import ADDS_NOTE, Output, TreeSummary, counted

ORDERS = {"tree": "in tree order", "support": "largest support first", "confidence": "most certain class first"}
# A page with more rows than this is slow and read by nobody; print and to_dict have them all.
MAX_HTML_ROWS = 200
CELL = '<td style="text-align: left; vertical-align: top">'
TITLE = '<th style="text-align: left">'


@dataclass(frozen=True, eq=False)
class LeafRules(Sequence[LeafRule]):
    """The rules of a tree: a sequence of ``LeafRule`` that prints as text and turns into a table.

    Attributes
    ----------
    rules : tuple of LeafRule
    summary : TreeSummary
        The tree they are about.
    order : {"tree", "support", "confidence"}
    level : float
        Level of the intervals.
    keep_empty : bool
        Whether leaves without training rows have their rules here.
    """

    rules: tuple[LeafRule, ...]
    summary: TreeSummary
    order: str = "tree"
    level: float = 0.95
    keep_empty: bool = True

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[LeafRule]:
        return iter(self.rules)

    @overload
    def __getitem__(self, index: int) -> LeafRule: ...
    @overload
    def __getitem__(self, index: slice) -> LeafRules: ...
    def __getitem__(self, index: int | slice) -> LeafRule | LeafRules:
        if isinstance(index, slice):
            return replace(self, rules=self.rules[index])
        return self.rules[index]

    def __str__(self) -> str:
        return "\n\n".join(["\n".join(self.header()), *(rule.text for rule in self.rules)])

    def __repr__(self) -> str:
        return f"<treewright.LeafRules: {counted(len(self), 'rule')}, {ORDERS[self.order]}>"

    def header(self) -> list[str]:
        """Return the lines above the rules: the tree, the order, what the numbers are, what is left out."""
        interval = f"its {written_percent(self.level, digits=6)} interval"
        lines = [self.summary.headline(), f"{counted(len(self), 'rule')}, {ORDERS[self.order]}"]
        if self.summary.counts_classes:
            lines.append(f"share: of the predicted class among the leaf's training rows, with {interval} (Wilson)")
        elif any(outcome.interval for rule in self.rules for outcome in rule.outcomes):
            lines.append(f"predicted: the mean of the leaf's training rows, with {interval} (Student's t)")
        elif self.summary.adds:
            lines.append(ADDS_NOTE)
        tree = self.summary.tree
        n_empty = int((tree.is_leaf & (tree.n_samples == 0)).sum())
        if n_empty and not self.keep_empty:
            lines.append(f"{counted(n_empty, 'leaf', 'leaves')} without training rows left out")
        if self.summary.model.missing in {"surrogate", "fractional"}:
            lines.append(
                f"where a missing value goes is not part of the rules (missing values: {self.summary.model.missing})"
            )
        return lines

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the rules as columns, for ``pandas.DataFrame`` or ``polars.DataFrame``.

        Returns
        -------
        dict of str to list
            ``rule`` (int, place in tree order from 1), ``leaf`` (int), ``conditions`` (str, joined by "and"),
            ``prediction``, ``n_samples`` (int), ``weight`` (float), ``support`` (float, 0 to 1), ``probability``
            (float, classes only), ``low`` and ``high`` (float or None), ``count_<label>`` (float, one per class). With
            several targets those about one target end in its name: ``prediction_<name>``, ``count_<name>_<label>``.
        """
        rules = self.rules
        columns: list[tuple[str, list[Any]]] = [
            ("rule", [rule.number for rule in rules]),
            ("leaf", [rule.leaf for rule in rules]),
            ("conditions", [joined(rule.conditions) for rule in rules]),
        ]
        outputs = self.summary.outputs
        ends = [f"_{output.name}" if len(outputs) > 1 else "" for output in outputs]
        for at, end in enumerate(ends):
            columns.append((f"prediction{end}", [rule.outcomes[at].prediction for rule in rules]))
        columns += [
            ("n_samples", [rule.n_samples for rule in rules]),
            ("weight", [rule.weight for rule in rules]),
            ("support", [rule.support for rule in rules]),
        ]
        for at, (output, end) in enumerate(zip(outputs, ends, strict=True)):
            columns += self._evidence_columns(at, output, end)
        return with_own_names(columns)

    def _evidence_columns(self, at: int, output: Output, end: str) -> list[tuple[str, list[Any]]]:
        """Probability, interval and counts of one target."""
        outcomes = [rule.outcomes[at] for rule in self.rules]
        intervals = [outcome.interval or (None, None) for outcome in outcomes]
        columns: list[tuple[str, list[Any]]] = []
        if output.classes:
            columns.append((f"probability{end}", [outcome.probability for outcome in outcomes]))
        columns.append((f"low{end}", [low for low, _ in intervals]))
        columns.append((f"high{end}", [high for _, high in intervals]))
        for code, label in enumerate(output.classes):
            columns.append((f"count{end}_{label}", [outcome.counts[code] for outcome in outcomes]))
        return columns

    def _repr_html_(self) -> str:
        """The rules as a table; a notebook asks for it."""
        titles = ("rule", "leaf", "if", "then", "rests on")
        rows = []
        for rule in self.rules[:MAX_HTML_ROWS]:
            # The leaf has a column of its own.
            evidence = rule.evidence.removeprefix(f"leaf {rule.leaf}; ")
            conditions = "<br>".join(escape(text) for text in rule.conditions) or "always"
            cells = (str(rule.number), str(rule.leaf), conditions, escape(rule.conclusion), escape(evidence))
            rows.append("<tr>" + "".join(f"{CELL}{cell}</td>" for cell in cells) + "</tr>")
        hidden = len(self) - len(rows)
        if hidden:
            note = f"{counted(hidden, 'more rule')}: print the rules, or take to_dict()"
            rows.append(f'<tr><td colspan="{len(titles)}">{note}</td></tr>')
        head = "".join(f"{TITLE}{title}</th>" for title in titles)
        caption = "<br>".join(escape(line) for line in self.header())
        body = "\n".join(rows)
        return f"<table><caption>{caption}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"


def with_own_names(columns: Sequence[tuple[str, list[Any]]]) -> dict[str, list[Any]]:
    """Return columns by name; where two have one name the later one gets a number behind it.

    Examples
    --------
    >>> with_own_names([("a", [1]), ("a", [2])])
    {'a': [1], 'a_2': [2]}
    """
    named: dict[str, list[Any]] = {}
    for name, values in columns:
        own, number = name, 1
        while own in named:
            number += 1
            own = f"{name}_{number}"
        named[own] = values
    return named


def joined(conditions: Sequence[str]) -> str:
    """Return conditions in one line; of several, one that offers a choice ("or missing") stands in brackets."""
    if len(conditions) == 1:
        return conditions[0]
    return " and ".join(f"({text})" if " or " in text else text for text in conditions)
