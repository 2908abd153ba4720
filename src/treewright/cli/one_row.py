"""``treewright show --row``. In: a model of one tree, a row of a file. Out: its way, its leaf, what would change it.

Callers: cli.looking.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.cli.delimited import ReadOptions
from treewright.cli.ensembles import one_tree, refuse_isolation
from treewright.cli.files import did_you_mean, place
from treewright.cli.kinds_of_models import of_trees
from treewright.cli.matching import rows_for
from treewright.cli.outputs import check_output, write_text
from treewright.cli.screen import screen_of
from treewright.cli.terminal import UsageRefusal, printable, progress
from treewright.explain.rules import leaf_rules
from treewright.model.growth import node_test
from treewright.show.bars import mark_of
from treewright.show.spans import Span, Spans, fitted, folded, width_of
from treewright.tree.walk import path_to
from treewright.tree.writing import cell_width, written_level, written_number

if TYPE_CHECKING:
    from treewright.fitted import Model

__all__ = ["RowRequest", "run_row"]

_AT_LEAST_OR_MOST = re.compile(r"\s*(>=|<=)\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*")
_NAME_WIDTH = 60
MISSING = "missing"


@dataclass(frozen=True)
class RowRequest:
    """Everything that was asked for on the command line; see ``treewright show --help``."""

    model: Path
    data: Path | None
    row: int
    to: str | None = None
    tree: int | None = None
    reading: ReadOptions = field(default_factory=ReadOptions)
    out: Path | None = None
    force: bool = False
    color: str = "auto"
    width: int | None = None


def run_row(request: RowRequest) -> None:
    """Follow a row through the tree, and tell what would have to change for another answer.

    Raises
    ------
    TreewrightError
        The model, the table or the output was refused.
    UsageRefusal
        No data, no such row, many trees of which none was chosen, or no such answer.
    """
    if request.data is None:
        raise UsageRefusal("--row needs the table that the row is in: give it with --data FILE")
    if request.row < 0:
        raise UsageRefusal(f"--row {request.row}: rows are counted from 0")
    import treewright

    screen = screen_of(request.color, request.width, to_file=request.out is not None)
    check_output(request.out, request.force)
    model = of_trees(treewright.load(request.model), request.model, "--row")
    refuse_isolation(model, request.model, "its trees predict none")
    model = one_tree(model, request.model, request.tree, "--row")
    wanted = _wanted(model, request)
    with progress():
        row, where = _row_of(model, request.data, request)
        leaf = int(model.apply(row)[0])
        change = model.counterfactual(row, **wanted) if wanted is not None else None
    width = screen.width if screen.is_asked else None
    mark = mark_of(0, signed=screen.is_ascii) if screen.painted else ""
    title = _prose([f"row {request.row} of {printable(request.data)}{where}"], width)
    lines: list[Spans] = [*([replace(span, role="strong") for span in line] for line in title), []]
    lines += [
        *_way(model, row, leaf, width),
        [],
        *_prose(_divided(model, row, leaf), width),
        *_leaf(model, leaf, width, mark),
    ]
    if change is not None:
        said = str(change).split("\n")[1:]  # the first line is what the leaf says
        lines += [[], *_prose(said, width)]
    if request.out is None:
        screen.say(lines)
    else:
        write_text(request.out, screen.written(lines), request.force)


def _wanted(model: Model, request: RowRequest) -> dict[str, Any] | None:
    """The answer that is asked for, as ``Model.counterfactual`` takes it; None where nothing is."""
    to = request.to
    if model.task == "regression":
        if to is None:
            return None
        found = _AT_LEAST_OR_MOST.fullmatch(to)
        if found is None or model.n_outputs != 1:
            raise UsageRefusal(
                f"--to {to}: {printable(request.model)} predicts numbers: write --to '>=5' or --to '<=5'"
            )
        try:
            return {"at_least" if found[1] == ">=" else "at_most": float(found[2])}
        except ValueError:
            raise UsageRefusal(f"--to {to}: {found[2]} is not a number") from None
    if to is None:
        return {}
    if model.n_outputs != 1:
        raise UsageRefusal(f"--to {to}: {printable(request.model)} predicts {model.n_outputs} targets at once")
    labels = {str(label): label for label in model.classes[0].tolist()}
    if to not in labels:
        known = ", ".join(fitted(printable(label), _NAME_WIDTH) for label in list(labels)[:20])
        raise UsageRefusal(
            f"--to {printable(to)}: no class of the model{did_you_mean(to, list(labels))}; it has {known}"
        )
    return {"to": labels[to]}


def _row_of(model: Model, data: Path, request: RowRequest) -> tuple[Any, str]:
    """The row as a table of its own, and the line that it stands in."""
    before = 0
    for rows in rows_for(model, data, request.reading):
        at = request.row - before
        if at < rows.n_rows:
            where = f" ({place(rows.lines, at)})" if rows.lines is not None else ""
            one, table = slice(at, at + 1), rows.features
            is_dict = isinstance(table, dict)
            return {name: cells[one] for name, cells in table.items()} if is_dict else table[one], where
        before += rows.n_rows
    raise UsageRefusal(f"--row {request.row}: {printable(data)} has {before} rows, counted from 0")


def _way(model: Model, row: Any, leaf: int, width: int | None) -> list[Spans]:
    """The answers on the way, and the row's own values beside them."""
    tree = model.trees[0]
    stand_ins = set(tree.surrogate_node.tolist())
    steps = []
    for node, branch in path_to(tree, leaf):
        test = node_test(model, tree, node)
        edge = f"{fitted(test.column, _NAME_WIDTH)} {fitted(test.edge(branch), _NAME_WIDTH)}"
        value = _cell(model, row, int(tree.feature[node]))
        if value == MISSING and node in stand_ins:
            value = f"{MISSING}, by surrogates"
        steps.append((int(tree.first_child[node]) + branch, edge, value))
    if not steps:
        return [[Span("the tree asks nothing: every row comes to its one leaf")]]
    numbers = [str(child) for child, _, _ in steps]
    wide = max(map(len, numbers))
    edges = [fitted(edge, _NAME_WIDTH if width is None else max(20, int(0.6 * width))) for _, edge, _ in steps]
    most = max(map(cell_width, edges))
    lines = []
    for number, edge, (_, _, value) in zip(numbers, edges, steps, strict=True):
        line = [Span(f"{number:>{wide}}  ", "faint"), Span(edge + " " * (most - cell_width(edge)))]
        room = _NAME_WIDTH if width is None else max(4, width - width_of(line) - 5)
        lines.append([*line, Span("  is ", "faint"), Span(fitted(value, room), "strong")])
    return lines


def _cell(model: Model, row: Any, feature: int) -> str:
    """A cell of the row in words."""
    name = model.schema.names[feature]
    if isinstance(row, dict):
        cell = row[name][0]
    elif hasattr(row, "columns"):
        cell = row[str(name)][0]
    else:
        cell = row[0, feature]
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return MISSING
    return written_number(cell, exact=True) if isinstance(cell, float) else written_level(cell)


def _divided(model: Model, row: Any, leaf: int) -> list[str]:
    """Where a missing cell divides the row among leaves: what they predict together."""
    asked = {int(model.trees[0].feature[node]) for node, _ in path_to(model.trees[0], leaf)}
    if model.missing != "fractional" or all(_cell(model, row, feature) != MISSING for feature in asked):
        return []
    together = ", ".join(written_level(label) for label in np.atleast_1d(model.predict(row)[0]).tolist())
    return [f"a missing cell divides the row; this is the way of its largest part, all predict {together} together"]


def _leaf(model: Model, leaf: int, width: int | None, mark: str) -> list[Spans]:
    """Where the row ends, and on what training rows that rests; ``mark`` is painted in the colour of a class."""
    rule = next(rule for rule in leaf_rules(model, keep_empty=True) if rule.leaf == leaf)
    says = rule.conclusion if rule.conclusion.startswith("adds ") else f"predicts {rule.conclusion}"
    lines = _prose([f"leaf {leaf} {says}: {rule.evidence.removeprefix(f'leaf {leaf}; ')}"], width)
    outcome = rule.outcomes[0]
    if mark and outcome.classes and len(rule.outcomes) == 1:
        lines[0].insert(0, Span(mark + " ", "class", outcome.classes.index(outcome.text)))
    return lines


def _prose(texts: list[str], width: int | None) -> list[Spans]:
    return [[Span(line)] for text in texts for line in ([text] if width is None else folded(text, width - 2))]
