"""The tree of the page: the test rows in its nodes, the candidate tests of nodes, rows to follow.

The candidate tests of a node are computed by ``explain.audit``, as ``est.audit`` does it, on the training rows: those
that the estimator kept, or the test rows if they are the same. Other rows would give other candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from treewright.exceptions import DataError, ParameterError
from treewright.exchange.structure import branches_of_levels
from treewright.explain.audit import Audit, audit_model, refuse_other_growth
from treewright.explain.counterfactual import levels_of, scales_of_rows
from treewright.explain.rules import OutcomeWriter
from treewright.reporting.data import Options, ReportData, kept_rows
from treewright.reporting.tested_columns import with_tested_columns
from treewright.show.page.parts import (
    CandidatePart,
    ExampleRow,
    ExamplesPart,
    NodePart,
    ProofPart,
    SupportPart,
    TreePart,
)
from treewright.show.page.render import amount
from treewright.show.page.tree import NAME_WIDTH
from treewright.show.prediction import predictions_made
from treewright.trees.data import ModelData
from treewright.trees.facts import gap_of, proof_of, search_of
from treewright.trees.summary import TreeSummary, counted, summarize
from treewright.trees.tests import bounds_below
from treewright.trees.writing import escape_controls, shorten

N_CELLS = 12
MAX_AUDITS, MAX_CANDIDATES = 31, 6
WORDS_WIDTH = 160  # of what is proved
_ROUNDING = 1e-9  # of a loss that is shown
# An audit takes about half a microsecond per cell, as much per level as per hundred cells, per column as per thousand,
# and for four pairs of levels as much as for one cell (every cut is beside every level: 30,000 took 100 seconds): two
# seconds in all.
MAX_WORK, WORK_OF_A_LEVEL, WORK_OF_A_COLUMN = 4_000_000, 100, 1_000
NO_ROWS = "The other candidates of this node are not shown: the training rows are not available."
NO_CHOICE = "The other candidates of this node are not shown: the tree did not choose among all tests."
SOME_AUDITS = "Only the nodes with the most rows show their candidates."
NO_AUDITS = "The other candidates of this node are not shown: it takes too long, or its rows do not determine them."
LEVEL = 0.95
# Preferred levels go into the page up to so many; with more the first level that will do is named. Absent levels up to
# so many; with more the page does not show that no training row of a node has them.
MAX_LEVELS, MAX_ABSENT = 60_000, 20_000
# Cells of examples: of a wide table there are fewer rows, so that the page can be sent.
MAX_CELLS = 20_000


def proof_part(model: ModelData) -> ProofPart | None:
    """What is proved of an optimal tree; None for other trees, and if it was changed after the search."""
    found = search_of(model.facts)
    if found is None:
        return None
    parameters, n_leaves = model.facts.get("parameters", {}), model.trees[0].n_leaves
    greedy, leaves = found.get("greedy_objective"), found.get("greedy_leaves")
    words = shorten(escape_controls(proof_of(model.facts)), WORDS_WIDTH)
    return ProofPart(
        words=f"{words[:1].upper()}{words[1:]}.",
        lost=_lost(found, n_leaves) if greedy is not None and leaves is not None else "",
        price=float(parameters.get("ccp_alpha", 0.0)),
        objective=float(found["objective"]),
        n_leaves=n_leaves,
        greedy_objective=greedy,
        greedy_leaves=leaves,
        lower_bound=float(found["lower_bound"]),
        gap=gap_of(found),
        n_solved=found.get("n_solved"),
    )


def _lost(found: Mapping[str, Any], n_leaves: int) -> str:
    """What the greedy tree loses."""
    objective, greedy, leaves = found["objective"], found["greedy_objective"], found["greedy_leaves"]
    if greedy - objective > _ROUNDING * greedy:
        more = f" ({100.0 * (greedy / objective - 1.0):.0f} %)" if objective > 0.0 else ""
        return f"The best tree of CART within the same limits loses {amount(greedy - objective)} more{more}."
    if leaves > n_leaves:
        more = counted(leaves - n_leaves, "more leaf", "more leaves")
        return f"The best tree of CART within the same limits needs {more} for the same loss."
    return "CART within the same limits finds the same loss."


def tree_with_test_rows(part: TreePart, data: ReportData, *, audited: bool = True) -> TreePart:
    """Return the tree with the weight of test rows per true class in each node; for regression a histogram.

    A row is counted in its leaf and in every node above it. Nodes with many rows have their audits too, unless
    ``audited`` is false.
    """
    tree = data.model.trees[0]
    edges: tuple[float, ...] | None = None
    if data.is_classification:
        place, n_places = data.target[:, 0].astype(np.int64), len(data.model.classes[0])
    else:
        truth = data.target[:, 0]
        low, high = float(truth.min()), float(truth.max())
        # Halves: the range of numbers near the ends of float64 would overflow.
        ends = 2.0 * np.linspace(low / 2, high / 2, N_CELLS + 1) if high > low else np.array([low, low])
        n_places = len(ends) - 1
        place = np.clip(np.searchsorted(ends, truth, side="right") - 1, 0, n_places - 1)
        edges = tuple(ends.tolist())
    held = np.zeros((tree.n_nodes, n_places))
    np.add.at(held, (data.leaves, place), data.weights)
    # Parents come before their children, so one backward pass adds up everything.
    parents = tree.parent.tolist()
    for node in range(tree.n_nodes - 1, 0, -1):
        held[parents[node]] += held[node]
    nodes = tuple(replace(node, judged=tuple(held[node.id].tolist())) for node in part.nodes)
    shown = with_tested_columns(replace(part, nodes=nodes, edges=edges), data)
    return with_audits(shown, data) if audited else shown


def with_audits(part: TreePart, data: ReportData) -> TreePart:
    """Return the tree with the audits of the nodes with the most rows.

    The nodes without one are those beyond the first 31, those that would take too long, and all if no training rows
    are available or the tree did not choose among all tests (``explain.audit.refuse_other_growth``).
    """
    inner = sum(node.test is not None for node in part.nodes)
    if not inner:
        return part
    audit_of = audits_of(data)
    if audit_of is None:
        return replace(part, audit_note=NO_CHOICE if is_by_chance(data) else NO_ROWS)
    found = {}
    for node in audited_nodes(part, data):
        try:
            audit = audit_of(node)
        except (ParameterError, DataError):
            # A cut between bins that is not the best of all, targets beyond squares: the node stays without.
            continue
        found[node] = candidates(audit)
    nodes = tuple(replace(node, audit=found.get(node.id, ())) for node in part.nodes)
    note = "" if len(found) == inner else SOME_AUDITS if found else NO_AUDITS
    return replace(part, nodes=nodes, audit_note=note)


def audits_of(data: ReportData) -> Callable[[int], Audit] | None:
    """Return a function that audits a node on the training rows; None if that is not possible."""
    model, estimator = data.model, data.estimator
    if is_by_chance(data):
        return None
    if kept_rows(estimator) is not None:
        kept: Callable[[int], Audit] = estimator.audit
        return kept
    if not data.seen:
        return None
    matrix, target, weights = model.encode_rows(data.table, data.target_given, data.weights_given, owner="report")
    return lambda node: audit_model(model, matrix, target, weights, node)


def is_by_chance(data: ReportData) -> bool:
    """Whether the nodes of the tree did not choose among all tests, or it is not known how they did."""
    try:
        refuse_other_growth(data.model)
    except ParameterError:
        return True
    return False


def audited_nodes(part: TreePart, data: ReportData) -> list[int]:
    """Return the inner nodes to audit, those with the most rows first, within a bound of work."""
    columns = data.model.schema.columns
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
        if len(nodes) == MAX_AUDITS:
            break
    return nodes


def levels_work(node: NodePart, levels: list[int]) -> int:
    """Return the work to group the levels of a node's rows."""
    held = [min(count, node.n_rows) for count in levels]
    return sum(WORK_OF_A_LEVEL * count + count * count // 4 for count in held)


def candidates(audit: Audit) -> tuple[CandidatePart, ...]:
    """Return the best candidates, best first, including the test of the node."""
    rows = list(audit.rows)
    shown = rows[:MAX_CANDIDATES]
    asked = next((row for row in rows if row.test == audit.tree_test), None)
    if asked is not None and asked not in shown:
        shown[-1] = asked
    return tuple(CandidatePart(shorten(row.test, NAME_WIDTH), row.gain, row.score, row is asked) for row in shown)


def examples_part(data: ReportData, options: Options, tree: TreePart) -> ExamplesPart:
    """Examples among the test rows of a single tree, and intervals and levels of its nodes.

    Half of the examples are misclassified if there are as many; ``options.random_state`` samples them.
    """
    summary = summarize(data.model, 0)
    supports = supports_of(summary, tree)
    has_interval = any(interval for support in supports for interval in support.intervals)
    return ExamplesPart(
        rows=tuple(example_row(data, summary, row) for row in chosen_rows(data, options).tolist()),
        supports=supports,
        level=LEVEL,
        interval=("Wilson" if summary.counts_classes else "Student's t") if has_interval else "",
        scales=tuple(scales_of_rows(data.model.schema, data.matrix).tolist()),
        unseen=data.model.unseen,
    )


def supports_of(summary: TreeSummary, tree: TreePart) -> tuple[SupportPart, ...]:
    """Return interval, preferred and absent levels of each node of the page, in the order of its nodes."""
    schema, teller = summary.model.schema, OutcomeWriter(summary, LEVEL, exact=False)
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
    """Return per node the levels of its test that none of its training rows has, as far as there is room."""
    grown, schema = summary.tree, summary.model.schema
    found: dict[int, tuple[int, ...]] = {}
    room = MAX_ABSENT
    for node in tree.nodes:
        if node.test is None or node.test.kind != "levels":
            continue
        _, seen = branches_of_levels(schema.columns[node.test.column], grown, node.id)
        codes = np.flatnonzero(~seen[:-1]).tolist()
        room -= len(codes)
        if room < 0:
            break
        found[node.id] = tuple(codes)
    return found


def chosen_rows(data: ReportData, options: Options) -> np.ndarray:
    """Positions of the examples among the test rows, ascending.

    For classification half are misclassified, if there are as many, and the classes take turns. For regression they are
    spread evenly from the smallest to the largest error. A wide table has fewer than asked for.
    """
    n = min(options.examples, data.n, max(1, MAX_CELLS // len(data.model.schema)))
    drawn = np.random.default_rng(options.random_state).permutation(data.n)
    if not n or not data.is_classification:
        if not n:
            return drawn[:0]
        gone = np.abs(data.numbers - data.target).sum(axis=1)
        ordered = drawn[np.argsort(gone[drawn], kind="stable")]
        return np.sort(ordered[np.linspace(0, data.n - 1, n).astype(np.int64)])
    wrong = (data.codes != data.target).any(axis=1)
    some_wrong, some_right = (alternating(drawn[mask[drawn]], data.target[:, 0]) for mask in (wrong, ~wrong))
    n_wrong = max(min(len(some_wrong), n // 2), n - len(some_right))
    return np.sort(np.concatenate([some_wrong[:n_wrong], some_right[: n - n_wrong]]))


def alternating(rows: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The rows in an order in which the classes take turns.

    Examples
    --------
    >>> alternating(np.array([0, 1, 2, 3]), np.array([7, 7, 7, 8])).tolist()
    [0, 3, 1, 2]
    """
    turn, seen = np.empty(len(rows), np.int64), dict[int, int]()
    for at, code in enumerate(codes[rows].tolist()):
        turn[at] = seen[code] = seen.get(code, -1) + 1
    return np.asarray(rows[np.lexsort((np.arange(len(rows)), turn))])


def example_row(data: ReportData, summary: TreeSummary, row: int) -> ExampleRow:
    """Return one test row in numbers and words."""
    shares: tuple[tuple[float, ...], ...]
    if data.is_classification:
        truth, predicted = (
            ", ".join(output.classes[code] for output, code in zip(summary.outputs, codes[row].tolist(), strict=True))
            for codes in (data.target, data.codes)
        )
        right: bool | None = bool((data.target[row] == data.codes[row]).all())
        shares = tuple(tuple(each[row].tolist()) for each in data.shares)
    else:
        truth, predicted = (
            "; ".join(amount(number) for number in numbers[row].tolist()) for numbers in (data.target, data.numbers)
        )
        right, shares = None, tuple((number,) for number in data.numbers[row].tolist())
    one = slice(row, row + 1)
    made = predictions_made(
        data.model,
        data.codes[one] if data.is_classification else data.numbers[one],
        [each[one] for each in data.shares] if data.is_classification else (),
    )
    number = int(given_positions(data)[row])
    return ExampleRow(
        number=number,
        cells=tuple(data.matrix[row].astype(np.float64).tolist()),
        truth=shorten(truth, NAME_WIDTH),
        said=shorten(predicted, NAME_WIDTH),
        right=right,
        shares=shares,
        name=row_name(data.table, number),
        why=made.why(0),
    )


def row_name(table: Any, number: int) -> str:
    """The name of a row in the index of a table; empty if it counts from 0, or there is no index."""
    index = getattr(table, "index", None)
    if not hasattr(table, "iloc") or index is None or np.array_equal(np.asarray(index), np.arange(len(table))):
        return ""
    return shorten(escape_controls(str(index[number])), NAME_WIDTH)


def given_positions(data: ReportData) -> np.ndarray:
    """Positions of the test rows in the table as given: rows of weight 0 are not test rows."""
    if data.weights_given is None:
        return np.arange(data.n)
    return np.flatnonzero(data.weights_given > 0)
