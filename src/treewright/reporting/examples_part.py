"""Rows to follow through the tree. In: judged rows, the tree of the page. Out: ``ExamplesPart``.

Caller: reporting.summary.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.explain.counterfactual import levels_of, scales_of_rows
from treewright.explain.rules import OutcomeTeller
from treewright.model.summary import TreeSummary, summarize
from treewright.page.amounts import amount
from treewright.page.parts_rows import ExampleRow, ExamplesPart, SupportPart
from treewright.page.parts_tree import TreePart
from treewright.reporting.judged import Judged
from treewright.reporting.options import Options
from treewright.tree.arrays import MULTIWAY
from treewright.tree.tests import bounds_below, level_branches, node_levels
from treewright.tree.writing import escape_controls, shorten

LEVEL = 0.95
# Preferred levels go into the page up to so many, beyond the first level that will do is named; absent levels up to so
# many, beyond the page does not say that the fit saw none of them in a node.
MAX_LEVELS, MAX_ABSENT = 60_000, 20_000
# Cells of examples: of a wide table there are fewer rows, so that the page can be sent.
MAX_CELLS = 20_000
NAME_WIDTH = 200


def examples_part(judged: Judged, options: Options, tree: TreePart) -> ExamplesPart:
    """Return examples among the judged rows, and what the nodes of the tree rest on.

    Parameters
    ----------
    judged : Judged
        By a single tree.
    options : Options
        ``examples`` rows at most, half of them wrong answers where there are as many; drawn by ``random_state``.
    tree : TreePart
        Of this model.
    """
    summary = summarize(judged.model, 0)
    supports = supports_of(summary, tree)
    has_interval = any(interval for support in supports for interval in support.intervals)
    return ExamplesPart(
        rows=tuple(example_row(judged, summary, row) for row in chosen_rows(judged, options).tolist()),
        supports=supports,
        level=LEVEL,
        interval=("Wilson" if summary.counts_classes else "Student's t") if has_interval else "",
        scales=tuple(scales_of_rows(judged.model.schema, judged.matrix).tolist()),
        unseen=judged.model.unseen,
    )


def supports_of(summary: TreeSummary, tree: TreePart) -> tuple[SupportPart, ...]:
    """Return what each node of the page rests on, in the order of its nodes."""
    schema, teller = summary.model.schema, OutcomeTeller(summary, LEVEL, exact=False)
    shown = {node.id for node in tree.nodes}
    inner = {node.id for node in tree.nodes if node.test is not None}
    nominal = {at for at, column in enumerate(schema.columns) if column.kind == "nominal"}
    levels: dict[int, tuple[tuple[int, int], ...]] = {}
    n_levels = 0
    for node, bounds in bounds_below(schema, summary.tree, inner) if nominal else ():
        found = levels_of({feature: bound for feature, bound in bounds.items() if feature in nominal})
        n_levels += len(found)
        if n_levels > MAX_LEVELS:
            break
        if node in shown:
            levels[node] = tuple(found.items())
    absent = absent_levels(summary, tree)
    n_outputs = len(summary.outputs)
    return tuple(
        SupportPart(
            tuple(teller.outcome(node.id, at).interval for at in range(n_outputs)),
            levels.get(node.id, ()),
            absent.get(node.id, ()),
        )
        for node in tree.nodes
    )


def absent_levels(summary: TreeSummary, tree: TreePart) -> dict[int, tuple[int, ...]]:
    """Return per node the levels of its test that its rows did not have, as far as there is room for them."""
    grown, schema = summary.tree, summary.model.schema
    found: dict[int, tuple[int, ...]] = {}
    room = MAX_ABSENT
    for node in tree.nodes:
        if node.test is None or node.test.kind != "levels":
            continue
        read = level_branches if grown.kind[node.id] == MULTIWAY else node_levels
        _, seen = read(schema.columns[node.test.column], grown, node.id)
        codes = np.flatnonzero(~seen[:-1]).tolist()
        room -= len(codes)
        if room < 0:
            break
        found[node.id] = tuple(codes)
    return found


def chosen_rows(judged: Judged, options: Options) -> np.ndarray:
    """Positions of the examples among the judged rows, ascending.

    Of classes half are answered wrong, where there are as many, and the classes take turns. Of numbers they are taken
    evenly from the nearest to the farthest answer. Of a wide table there are fewer than asked for.
    """
    n = min(options.examples, judged.n, max(1, MAX_CELLS // len(judged.model.schema)))
    drawn = np.random.default_rng(options.random_state).permutation(judged.n)
    if not n or not judged.is_classification:
        if not n:
            return drawn[:0]
        gone = np.abs(judged.numbers - judged.target).sum(axis=1)
        ordered = drawn[np.argsort(gone[drawn], kind="stable")]
        return np.sort(ordered[np.linspace(0, judged.n - 1, n).astype(np.int64)])
    wrong = (judged.codes != judged.target).any(axis=1)
    some_wrong, some_right = (by_turns(drawn[mask[drawn]], judged.target[:, 0]) for mask in (wrong, ~wrong))
    n_wrong = max(min(len(some_wrong), n // 2), n - len(some_right))
    return np.sort(np.concatenate([some_wrong[:n_wrong], some_right[: n - n_wrong]]))


def by_turns(rows: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The rows so that the classes take turns.

    Examples
    --------
    >>> by_turns(np.array([0, 1, 2, 3]), np.array([7, 7, 7, 8])).tolist()
    [0, 3, 1, 2]
    """
    turn, seen = np.empty(len(rows), np.int64), dict[int, int]()
    for at, code in enumerate(codes[rows].tolist()):
        turn[at] = seen[code] = seen.get(code, -1) + 1
    return np.asarray(rows[np.lexsort((np.arange(len(rows)), turn))])


def example_row(judged: Judged, summary: TreeSummary, row: int) -> ExampleRow:
    """Return one judged row in numbers and words."""
    shares: tuple[tuple[float, ...], ...]
    if judged.is_classification:
        truth, said = (
            ", ".join(output.classes[code] for output, code in zip(summary.outputs, codes[row].tolist(), strict=True))
            for codes in (judged.target, judged.codes)
        )
        right: bool | None = bool((judged.target[row] == judged.codes[row]).all())
        shares = tuple(tuple(each[row].tolist()) for each in judged.shares)
    else:
        truth, said = (
            "; ".join(amount(number) for number in numbers[row].tolist()) for numbers in (judged.target, judged.numbers)
        )
        right, shares = None, tuple((number,) for number in judged.numbers[row].tolist())
    number = int(given_positions(judged)[row])
    return ExampleRow(
        number=number,
        cells=tuple(judged.matrix[row].astype(np.float64).tolist()),
        truth=shorten(truth, NAME_WIDTH),
        said=shorten(said, NAME_WIDTH),
        right=right,
        shares=shares,
        name=name_of(judged.table, number),
    )


def name_of(table: Any, number: int) -> str:
    """What the index of a table calls a row; empty where it counts from 0, or there is no index."""
    index = getattr(table, "index", None)
    if not hasattr(table, "iloc") or index is None or np.array_equal(np.asarray(index), np.arange(len(table))):
        return ""
    return shorten(escape_controls(str(index[number])), NAME_WIDTH)


def given_positions(judged: Judged) -> np.ndarray:
    """Where the judged rows stand in the table as given: rows of weight 0 are no judges."""
    if judged.weights_given is None:
        return np.arange(judged.n)
    return np.flatnonzero(judged.weights_given > 0)
