"""The distribution of the tested column in a node's rows, and where the test splits it.

The cards of the drawing show bars of the tested column, by class, or for regression a grid of the column and the target
(an idea of dtreeviz, Parr and Grover 2018). They count the training rows if the estimator kept them, else the test
rows. Only bins go into the page, of the nodes with the most rows: a large tree takes no more space than a small one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from treewright.predict.ensemble import predict_leaves
from treewright.reporting.columns import middle_range
from treewright.reporting.data import ReportData, kept_rows
from treewright.show.page.parts import NodePart, SplitColumnPart, TestPart, TreePart
from treewright.trees.arrays import Tree, subtree_sizes

MOST_NODES = 200
N_BARS, N_STEPS = 16, 10  # bars of a node, about; cells of the target above each of them
MOST_CLASSES = 8
OTHERS = -1  # in place of the code of a level: all others of its branch together
DIGITS = 3  # of weights that are no whole numbers
TRAINING_ROWS, TEST_ROWS = "training rows", "test rows"


class Rows(NamedTuple):
    """Encoded rows with the target of the first output and their weights."""

    matrix: np.ndarray
    target: np.ndarray
    weights: np.ndarray
    called: str


class Bars(NamedTuple):
    """Bars along a column: for numbers by start and width, for levels by their codes; ``at`` is each row's bar."""

    at: np.ndarray
    n: int
    start: float | None
    width: float | None
    levels: tuple[int, ...]
    cuts: tuple[float, ...]
    ends: tuple[float, float] | None


def with_tested_columns(part: TreePart, data: ReportData) -> TreePart:
    """Return the tree with the tested columns of the nodes with the most rows."""
    inner = sorted((node for node in part.nodes if node.test is not None), key=lambda node: (-node.n_rows, node.id))
    if not inner:
        return part
    rows = rows_of(data)
    order, first, last = by_node(data.model.trees[0], predict_leaves(data.model, rows.matrix))
    codes: tuple[int | None, ...] = ()
    if data.is_classification:
        held = np.bincount(rows.target.astype(np.int64), rows.weights, minlength=len(data.model.classes[0]))
        commonest = sorted(np.argsort(-held, kind="stable")[:MOST_CLASSES].tolist())
        codes = (*commonest, None) if len(commonest) < len(held) else tuple(commonest)
    asked = [
        tested_column(node, data, rows, order[first[node.id] : last[node.id]], codes) for node in inner[:MOST_NODES]
    ]
    return replace(part, asked=tuple(filter(None, asked)), asked_codes=codes, asked_rows=rows.called)


def rows_of(data: ReportData) -> Rows:
    """The training rows, if the estimator kept them, else the test rows."""
    kept: Any = kept_rows(data.estimator)
    if kept is None:
        return Rows(data.matrix, data.target[:, 0], data.weights, TRAINING_ROWS if data.seen else TEST_ROWS)
    weights = np.ones(len(kept)) if kept.sample_weight is None else kept.sample_weight
    return Rows(kept.matrix, kept.target_array[:, 0], weights, TRAINING_ROWS)


def by_node(tree: Tree, leaves: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows in an ``order`` in which those of every node i are together: ``order[first[i] : last[i]]``."""
    sizes = subtree_sizes(tree)
    place = np.zeros(tree.n_nodes, np.int64)  # of each node when parents come just before their subtrees
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        below = int(tree.first_child[node]) + np.arange(tree.n_branches[node])
        place[below] = place[node] + 1 + np.cumsum(sizes[below]) - sizes[below]
    own = place[leaves]
    order = np.argsort(own, kind="stable")
    return order, np.searchsorted(own[order], place), np.searchsorted(own[order], place + sizes)


def tested_column(
    node: NodePart, data: ReportData, rows: Rows, here: np.ndarray, codes: tuple[int | None, ...]
) -> SplitColumnPart | None:
    """Return the bars of one node; None if no row has a value, or the test is "is present"."""
    test = node.test
    if test is None or test.kind == "present" or not len(here):
        return None
    cells = np.asarray(rows.matrix[here, test.column], np.float64)
    weights, known = rows.weights[here], ~np.isnan(cells)
    if not known.any():
        return None
    bars = bars_of_levels(test, cells[known], weights[known]) if test.kind == "levels" else bars_of(test, cells[known])
    if bars is None:
        return None
    target, held = rows.target[here][known], weights[known]
    parts: tuple[tuple[float, ...], ...] = ()
    grid, low, high = "", None, None
    if data.is_classification:
        place = np.full(len(data.model.classes[0]), len(codes) - 1)
        place[[code for code in codes if code is not None]] = np.arange(sum(code is not None for code in codes))
        counts = np.zeros((len(codes), bars.n))
        np.add.at(counts, (place[target.astype(np.int64)], bars.at), held)
        parts = tuple(tuple(map(short, row)) for row in counts.tolist())
    else:
        grid, low, high = grid_of(bars, target, held)
    return SplitColumnPart(
        node=node.id, start=bars.start, width=bars.width, levels=bars.levels, cuts=bars.cuts, ends=bars.ends,
        parts=parts, grid=grid, low=low, high=high, missing=short(float(weights[~known].sum())),
    )  # fmt: skip


def bars_of(test: TestPart, cells: np.ndarray) -> Bars | None:
    """Bars of one width; the first cut lies between two of them, so that no bar is on both sides.

    Numbers far off are counted in the first and the last bar. None if float64 cannot hold the width.
    """
    cuts = [cut for cut in test.cuts if np.isfinite(cut)]
    finite = cells[np.isfinite(cells)]
    if not cuts or not len(finite):
        return None
    low, high = middle_range(finite)
    low, high, cut = min(low, cuts[0]), max(high, cuts[-1]), cuts[0]
    is_whole = bool((finite == np.rint(finite)).all())
    width = float(max(1.0, np.ceil((high - low) / N_BARS))) if is_whole else (high / 2 - low / 2) / N_BARS * 2
    if not (np.isfinite(width) and width > 0 and low + width > low and high + width > high):
        return None
    below, above = (max(1, int(np.ceil(room / width - 1e-9))) for room in (cut - low, high - cut))
    if is_whole:
        below = int(np.floor((cut - low) / width)) + 1  # the least number lies within its bar
    start = cut - below * width
    with np.errstate(over="ignore"):
        at = np.clip(np.ceil((cells - start) / width) - 1, 0, below + above - 1)
    # What rounding puts on the other side of the cut goes back.
    at = np.where(cells <= cut, np.minimum(at, below - 1), np.maximum(at, below)).astype(np.int64)
    ends = float(finite.min()), float(finite.max())
    return Bars(at, below + above, start, width, (), tuple(round((each - start) / width, 3) for each in cuts), ends)


def bars_of_levels(test: TestPart, cells: np.ndarray, weights: np.ndarray) -> Bars:
    """A bar for each of the commonest levels, branch by branch; all others of a branch share one."""
    n_levels = len(test.branch_of)
    codes = cells.astype(np.int64)
    held = np.bincount(codes, weights, minlength=n_levels + 1)
    branch = np.array([*test.branch_of, max(0, test.unseen)])
    branches = sorted(set(branch[np.flatnonzero(held)].tolist()))
    most = max(1, N_BARS // len(branches))
    place = np.zeros(n_levels + 1, np.int64)
    levels: list[int] = []
    cuts: list[float] = []
    for number in branches:
        if levels:
            cuts.append(float(len(levels)))
        own = np.flatnonzero((branch == number) & (held > 0))
        own = own[np.argsort(-held[own], kind="stable")]
        alone = own if len(own) <= most else own[: most - 1]
        alone = alone[alone < n_levels]
        place[own] = len(levels) + len(alone)
        place[alone] = len(levels) + np.arange(len(alone))
        levels += [*alone.tolist(), *([OTHERS] if len(alone) < len(own) else [])]
    return Bars(place[codes], len(levels), None, None, tuple(levels), tuple(cuts), None)


def grid_of(bars: Bars, target: np.ndarray, weights: np.ndarray) -> tuple[str, float, float]:
    """The weight in each cell of bars and target: a digit each, 9 for the most, bar by bar from the lowest up.

    Also the range of the target, without a few rows far off.
    """
    low, high = middle_range(target)
    half = high / 2 - low / 2
    share = (target / 2 - low / 2) / half if half > 0 else np.full(len(target), 0.5)
    cell = np.clip(np.floor(share * N_STEPS), 0, N_STEPS - 1).astype(np.int64)
    held = np.bincount(bars.at * N_STEPS + cell, weights, minlength=bars.n * N_STEPS)
    # The square root: a cell with a hundredth of the most is still visible.
    digits = np.ceil(9.0 * np.sqrt(held / held.max())).astype(np.int64)
    return "".join(map(str, digits.tolist())), low, high


def short(weight: float) -> float:
    """A weight with few digits.

    Examples
    --------
    >>> short(12.0), short(0.123456)
    (12, 0.123)
    """
    return int(weight) if weight == int(weight) and weight < 1e15 else float(f"{weight:.{DIGITS}g}")
