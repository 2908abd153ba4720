"""The content of each card of the drawing. In: a summary, the nodes to show. Out: cards.

A card is content and size; ``show.drawing`` places it, ``show.drawing`` draws it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from treewright.show.style import ELLIPSIS, Sizes, fitted, text_width
from treewright.trees.arrays import children, subtree_sizes
from treewright.trees.facts import node_test
from treewright.trees.summary import TreeSummary, counted, n_named
from treewright.trees.tests import Bound, bounds_below
from treewright.trees.wording import (
    IntervalTest,
    NodeTest,
    SubsetTest,
    Surrogate,
    ThresholdTest,
    conditions,
    surrogates_of,
    threshold_digits,
)
from treewright.trees.writing import shorten, written_amount, written_count, written_number

TOOLTIP_CLASSES = 12
TOOLTIP_WIDTH = 1000
# In the title of a test its outcome may take this share of the line; a longer one is written on the edges only.
ANSWER_SHARE = 0.6
# Levels that a title names: more if there is room.
MOST_LEVELS = (4, 2)
# An outcome wider than this share of a card's largest width is broken in two, if possible; the width of each part, and
# the number of characters that are examined.
LINE_SHARE, BROKEN_SHARE = 0.62, 0.8
MOST_ANSWER = 200


@dataclass
class Card:
    """One node as drawn.

    Attributes
    ----------
    role : {"test", "leaf", "empty", "folded"}
        ``"empty"``: a leaf that no training row reached.
    title : str
        The test, or what a leaf predicts; already cut to fit.
    notes : list of str
        Small lines under the title.
    shares : list of list of (int, float)
        Classification: per output the class positions and their shares; those of 0 are left out.
    place : float or None, 0 to 1
        Regression: where the node's value lies between the smallest and the largest of the tree.
    color : int or None
        Class position that colours a leaf.
    answer : list of str
        The lines on the edge that leads here.
    thickness : float, 0 to 1
        Share of all rows.
    width, height : float, pixels
        Of the card alone; the slot it needs is at least as wide as ``answer``.
    slot : float, pixels
    below : list of int
        Positions of the cards under this one.
    """

    node: int
    role: Literal["test", "leaf", "empty", "folded"]
    title: str
    notes: list[str]
    shares: list[list[tuple[int, float]]]
    place: float | None
    color: int | None
    answer: list[str]
    tooltip: str
    thickness: float
    width: float = 0.0
    height: float = 0.0
    slot: float = 0.0
    below: list[int] = field(default_factory=list)


def cards_of(summary: TreeSummary, shown: frozenset[int], sizes: Sizes, *, compact: bool) -> list[Card]:
    """Return the cards of the visible nodes, parents before children."""
    tree = summary.tree
    hidden = subtree_sizes(tree)
    digits = threshold_digits(tree)
    place_of = places_in_range(summary)
    position: dict[int, int] = {}
    tests = {node: node_test(summary.model, tree, node) for node in shown}
    stand_ins = {node: surrogates_of(summary.model.schema, tree, node) for node in shown}
    cards: list[Card] = []
    for node, bounds in bounds_below(summary.model.schema, tree, shown):
        position[node] = len(cards)
        above = int(tree.parent[node]) if node else -1
        answer: list[str] = []
        if node:
            test = tests[above]
            branch = node - int(tree.first_child[above])
            answer = prediction_lines(test, branch, sizes, int(digits[above]), compact=compact)
        folded = int(hidden[node]) - 1 if node not in shown and len(children(tree, node)) else 0
        empty = summary.is_empty(node)
        notes = ["no rows"] if empty else notes_of(summary, node, folded, compact=compact)
        if stand_ins.get(node) and not compact:
            notes.append(surrogate_note(stand_ins[node][0], sizes))
        card = Card(
            node=node,
            role="folded" if folded else "test" if node in shown else "empty" if empty else "leaf",
            title=(
                test_title(tests[node], sizes, int(digits[node]), compact=compact)
                if node in shown
                else prediction_title(summary, node, sizes, compact=compact)
            ),
            notes=notes,
            shares=[] if empty else shares_of(summary, node),
            place=place_of[node] if place_of is not None and not empty else None,
            color=summary.predicted_class(node, summary.outputs[0]) if summary.counts_classes else None,
            answer=answer,
            tooltip=tooltip_of(summary, node, bounds, tests.get(node), stand_ins.get(node, ())),
            thickness=float(tree.n_samples[node] / max(1, tree.n_samples[0])),
        )
        set_size(card, sizes, n_bars=0 if empty else max(1, len(card.shares)))
        cards.append(card)
        if node:
            cards[position[above]].below.append(position[node])
    return cards


def typographic(test: NodeTest, text: str) -> str:
    """Return an outcome with the sign for "at most" in place of ``<=``; names of levels are never changed."""
    if isinstance(test, IntervalTest) and not test.levels:
        return text.replace("<=", "\u2264")
    if isinstance(test, ThresholdTest | IntervalTest):
        return f"\u2264{text[2:]}" if text.startswith("<=") else f"\u2265{text[2:]}" if text.startswith(">=") else text
    return text


def test_title(test: NodeTest, sizes: Sizes, digits: int, *, compact: bool) -> str:
    """Return the test of an open node; only the column if the edges have to complete it."""
    room = sizes.most - 2 * sizes.pad_x
    if compact or not isinstance(test, ThresholdTest | SubsetTest):
        return fitted(test.column, sizes.title, room, bold=True)
    for most in MOST_LEVELS:
        answer = typographic(test, test.answer(0, digits=digits, max_levels=most))
        taken = text_width(" " + answer, sizes.title, bold=True)
        if taken <= room * ANSWER_SHARE:
            return f"{leftwards(fitted(test.column, sizes.title, room - taken, bold=True))} {answer}"
    return fitted(test.column, sizes.title, room, bold=True)


def prediction_lines(test: NodeTest, branch: int, sizes: Sizes, digits: int, *, compact: bool) -> list[str]:
    """Return the lines on the edge to a branch: fewer levels if the names of more would be cut."""
    lines: list[str] = []
    for most in MOST_LEVELS[1:] if compact else MOST_LEVELS:
        lines = broken(typographic(test, test.edge(branch, digits=digits, max_levels=most)), sizes)
        if not any(line.endswith(ELLIPSIS) for line in lines):
            break
    return lines


def broken(answer: str, sizes: Sizes) -> list[str]:
    """Return an outcome in one line, or in two if it is a list or a range that would push branches apart."""
    if text_width(answer, sizes.label) > sizes.most * LINE_SHARE:
        breaks = [at for mark in (", ", " and ", " or ") for at in starts(answer, mark)]
        if breaks:
            # The two lines are as equal in width as possible, so that the wider one is as narrow as possible.
            at = min(breaks, key=lambda at: abs(text_width(answer[:at], 1) - text_width(answer[at:], 1)))
            return [fitted(part.strip(), sizes.label, sizes.most * BROKEN_SHARE) for part in (answer[:at], answer[at:])]
    return [fitted(answer, sizes.label, sizes.most)]


def starts(text: str, mark: str) -> list[int]:
    """Return where a line may begin: after a comma, before an ``and``; only within the length of two lines."""
    found = []
    at = text.find(mark, 0, MOST_ANSWER)
    while at >= 0:
        found.append(at + 1 if mark == ", " else at)
        at = text.find(mark, at + 1, MOST_ANSWER)
    return found


def leftwards(name: str) -> str:
    """Return a name, with a mark after a right-to-left name that keeps what follows to its right.

    Without the mark, the sign after an Arabic name would be mirrored and the number would come before it.
    """
    runs_left = any(unicodedata.bidirectional(char) in {"R", "AL", "AN"} for char in name)
    return name + "\N{LEFT-TO-RIGHT MARK}" if runs_left else name


def surrogate_note(surrogate: Surrogate, sizes: Sizes) -> str:
    """Return the small line of the best surrogate: the condition of the first branch if the column is missing."""
    branch = 1 if surrogate.flipped else 0
    answer = typographic(surrogate.test, surrogate.test.answer(branch, max_levels=2))
    room = sizes.most - 2 * sizes.pad_x
    before = "if missing: "
    name = fitted(surrogate.test.column, sizes.small, room * (1 - ANSWER_SHARE))
    return fitted(f"{before}{leftwards(name)} {answer}", sizes.small, room)


def prediction_title(summary: TreeSummary, node: int, sizes: Sizes, *, compact: bool) -> str:
    """Return what a leaf, or a folded node, predicts."""
    room = sizes.most - 2 * sizes.pad_x
    texts = []
    for output in summary.outputs:
        if output.classes:
            texts.append(output.classes[summary.predicted_class(node, output)])
        else:
            texts.append(written_amount(summary.amount(node, output), digits=3))
    return fitted(", ".join(texts), sizes.title, room - (0 if compact else sizes.title), bold=True)


def notes_of(summary: TreeSummary, node: int, folded: int, *, compact: bool) -> list[str]:
    """Return the small lines: rows, weight or mean, impurity, and the number of folded nodes."""
    tree = summary.tree
    rows = written_count(int(tree.n_samples[node]))
    more = [f"+{counted(folded, 'node')}"] if folded else []
    if compact:
        return [rows, *more] if not more else [f"{rows} \u00b7 {more[0]}"]
    impurity = f"{summary.criterion} {written_amount(tree.impurity[node], digits=3)}"
    parts = [f"{rows} rows" if rows != "1" else "1 row"]
    if summary.weighted:
        parts.append(f"weight {written_amount(tree.weight[node])}")
    if not summary.counts_classes and not tree.is_leaf[node] and not folded:
        means = ", ".join(written_amount(summary.amount(node, output)) for output in summary.outputs)
        parts.append(f"{summary.centre} {means}")
    if summary.counts_classes:
        parts.append(impurity)
    return [" \u00b7 ".join(parts), *more]


def shares_of(summary: TreeSummary, node: int) -> list[list[tuple[int, float]]]:
    """Return per output the classes in the node with their shares; empty for regression."""
    if not summary.counts_classes:
        return []
    shares = []
    for output in summary.outputs:
        counts = summary.shown_values(node, output)
        total = float(counts.sum())
        held = np.flatnonzero(counts > 0)
        shares.append([(int(code), float(counts[code]) / total) for code in held] if total > 0 else [])
    return shares


def places_in_range(summary: TreeSummary) -> list[float] | None:
    """Return the place of each node's first value between the smallest and the largest; None for classification."""
    if summary.counts_classes:
        return None
    values = summary.tree.value[:, summary.outputs[0].start].astype(np.float64)
    finite = np.where(np.isfinite(values), values, 0.0)
    low, high = float(finite.min()), float(finite.max())
    if low == high:
        return [0.5] * len(values)
    # Halves: the range of values near the ends of float64 would overflow.
    places: list[float] = np.clip((finite / 2 - low / 2) / (high / 2 - low / 2), 0.0, 1.0).tolist()
    return places


def tooltip_of(
    summary: TreeSummary,
    node: int,
    bounds: Mapping[int, Bound],
    test: NodeTest | None,
    stand_ins: tuple[Surrogate, ...] = (),
) -> str:
    """Return the details of a node: the conditions on its path and its exact numbers."""
    tree = summary.tree
    missing = summary.model.missing
    texts = conditions(summary.model.schema, bounds, max_levels=40, missing=missing) or ("every row",)
    lines = [f"node {node}", *(shorten(text, TOOLTIP_WIDTH) for text in texts)]
    if test is not None:
        lines.append(f"tests: {shorten(test.question(exact=True), TOOLTIP_WIDTH)}")
    lines += [
        f"if missing: {shorten(surrogate.edge(0, exact=True), TOOLTIP_WIDTH)} "
        f"(agreement {written_number(surrogate.agreement, digits=4)})"
        for surrogate in stand_ins
    ]
    lines.append(f"rows: {int(tree.n_samples[node])}")
    if (mark := summary.marks.get(node)) is not None:
        said = (mark.name, "locked" * mark.locked, "decided by hand" * (mark.rows_say is not None))
        lines += [each for each in said if each]
    if summary.is_empty(node):
        return "\n".join([*lines, "no training row reached this leaf; it predicts like its parent"])
    if summary.weighted:
        lines.append(f"weight: {written_number(tree.weight[node], exact=True)}")
    for output in summary.outputs:
        what = f" of {shorten(output.name, TOOLTIP_WIDTH)}" if len(summary.outputs) > 1 else ""
        counts = summary.shown_values(node, output)
        if not output.classes:
            lines.append(f"{summary.centre}{what}: {written_number(counts[0], exact=True)}")
            continue
        order = [int(code) for code in np.argsort(-counts, kind="stable") if counts[code] > 0]
        held = [
            f"{shorten(output.classes[code], TOOLTIP_WIDTH)} {written_number(counts[code], digits=12)}"
            for code in order[: n_named(len(order), TOOLTIP_CLASSES)]
        ]
        more = [f"{len(order) - len(held)} more classes"] if len(order) > len(held) else []
        lines.append(f"classes{what}: {', '.join(held + more)}")
    lines.append(f"{summary.criterion}: {written_number(tree.impurity[node], exact=True)}")
    return "\n".join(lines)


def set_size(card: Card, sizes: Sizes, n_bars: int) -> None:
    """Set the width, the height and the slot of a card from its texts."""
    swatch = sizes.title if card.role != "test" and card.color is not None else 0.0
    widest = max(
        text_width(card.title, sizes.title, bold=True) + swatch,
        *(text_width(note, sizes.small) for note in card.notes),
    )
    card.width = round(min(max(widest + 2 * sizes.pad_x, sizes.least), sizes.most + 2 * sizes.pad_x), 1)
    bars = n_bars * (sizes.bar + 3) + 1 if n_bars else 0
    card.height = round(2 * sizes.pad_y + sizes.line * (1 + len(card.notes)) + bars, 1)
    card.slot = max(card.width, *(text_width(line, sizes.label) + 8 for line in card.answer or [""]))
