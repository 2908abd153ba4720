"""Readable split tests. In: a schema, a tree and a node. Out: an object per kind of test. Callers: show, plot, export.

A test is described in the words of the table: column names, level names, the side that missing values take. The numbers
that decide stay in ``Tree``; what is here is made to be read.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from treewright.data.schema import Column, Schema
from treewright.exceptions import ParameterError
from treewright.tree.arrays import INTERVALS, LEAF, SUBSET, THRESHOLD, Tree
from treewright.tree.binary_tests import SubsetTest, ThresholdTest
from treewright.tree.growth import growth_of
from treewright.tree.model import Missing, ModelData
from treewright.tree.multiway_tests import IntervalTest, MultiwayTest
from treewright.tree.words import gap_digits, written_name

# The growers try every partition of so many levels (grow.subsets); beyond, they need an order that finds the best one.
EXHAUSTIVE_LEVELS = 10
# With one number per row, levels in the order of their means contain the best partition (Breiman et al. 1984, 4.2.2).
ORDERED_CRITERIA = {
    "classification": ("gini", "entropy", "log_loss", "misclassification"),
    "regression": ("squared_error", "poisson"),
}


NodeTest = ThresholdTest | SubsetTest | MultiwayTest | IntervalTest


def level_bits(column: Column, tree: Tree, start: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a level set, one bit per level and a last one for a level that fit never saw.

    Parameters
    ----------
    column : Column, nominal with ``v`` levels
    tree : Tree
    start : int
        Where the set begins in ``levels_left`` and ``levels_seen``: a node's or a surrogate's.

    Returns
    -------
    left, seen : bool[v + 1]
    """
    n_bits = len(column.levels) + 1
    words = slice(start, start + len(column.levels) // 64 + 1)

    def bits(source: np.ndarray) -> np.ndarray:
        return np.unpackbits(source[words].astype("<u8").view(np.uint8), bitorder="little")[:n_bits].astype(bool)

    return bits(tree.levels_left), bits(tree.levels_seen)


def node_levels(column: Column, tree: Tree, node: int) -> tuple[np.ndarray, np.ndarray]:
    """Return `level_bits` of a node of kind ``SUBSET``."""
    return level_bits(column, tree, int(tree.level_set[node]))


def level_branches(column: Column, tree: Tree, node: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the branch of each level at a node of kind ``MULTIWAY``, and whether the level was there.

    Returns
    -------
    branch : int32[v + 1]
        The last entry is for a level that fit never saw.
    seen : bool[v + 1]
    """
    start = int(tree.level_set[node])
    entries = tree.level_branch[start : start + len(column.levels) + 1]
    return np.where(entries < 0, ~entries, entries), entries >= 0


def node_cuts(tree: Tree, node: int) -> np.ndarray:
    """Return float64[n_branches - 1]: the cuts of a node of kind ``INTERVALS``."""
    start = int(tree.level_set[node])
    return np.asarray(tree.cuts[start : start + int(tree.n_branches[node]) - 1])


def describe(
    schema: Schema,
    tree: Tree,
    node: int,
    *,
    missing: Missing = "direction",
    ordered: bool = True,
    every_cut: bool = True,
) -> NodeTest:
    """Return the test of an inner node as a readable object.

    Parameters
    ----------
    schema : Schema
    tree : Tree
    node : int, 0 to n_nodes - 1, not a leaf
    missing : {"direction", "branch", "surrogate", "fractional", "error"}
        ``model.missing``. An edge says "or missing" only where all missing values take it.
    ordered : bool
        Whether an order of the levels is known to contain their best partition (`has_best_order`).
    every_cut : bool
        Whether growth tried every cut between two values, or levels: not on bins, and not with random cuts.

    Returns
    -------
    ThresholdTest, SubsetTest, MultiwayTest or IntervalTest

    Raises
    ------
    ParameterError
        ``node`` is not a node of the tree, or it is a leaf and asks nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright.data.schema import Column, Schema
    >>> from treewright.tree.arrays import Tree
    >>> ints = lambda *v: np.array(v, np.int32)
    >>> tree = Tree(np.array([1, 0, 0], np.uint8), ints(0, -1, -1), np.array([2.45, 0, 0]), ints(1, -1, -1),
    ...             ints(2, 0, 0), ints(0, 0, 0), ints(-1, -1, -1), np.array([3, 1, 2]), np.array([3.0, 1, 2]),
    ...             np.zeros(3), np.zeros((3, 1)), np.zeros(0, np.uint64), np.zeros(0, np.uint64))
    >>> test = describe(Schema((Column("petal length", "numeric"),)), tree, 0)
    >>> test.question(), test.edge(1)
    ('petal length <= 2.45', '> 2.45')
    """
    if not 0 <= node < tree.n_nodes:
        raise ParameterError(f"node {node} is not in the tree; its nodes are 0 to {tree.n_nodes - 1}")
    kind = int(tree.kind[node])
    if kind == LEAF:
        raise ParameterError(f"node {node} is a leaf and asks nothing; choose an inner node")
    feature = int(tree.feature[node])
    column = schema.columns[feature]
    missing_edge, n_branches = int(tree.missing_branch[node]), int(tree.n_branches[node])
    if kind == THRESHOLD:
        cut = float(tree.threshold[node])
        return cut_test(column, feature, cut, missing_edge, n_branches=n_branches, missing=missing, exact=every_cut)
    if kind == SUBSET:
        start = int(tree.level_set[node])
        test = set_test(
            column, feature, tree, start, missing_edge, n_branches=n_branches, missing=missing, ordered=ordered
        )
        return test if every_cut else replace(test, exact=False)
    name, quote = written_name(column.name), column.family == "object"
    if kind == INTERVALS:
        cuts = tuple(node_cuts(tree, node).tolist())
        levels = column.levels if column.kind == "ordinal" else ()
        return IntervalTest(name, feature, cuts, missing_edge, column.missing_seen, levels, quote, missing)
    branch, seen = level_branches(column, tree, node)
    return MultiwayTest(
        name,
        feature,
        branches=shared_out(column, branch[:-1], seen[:-1], n_branches),
        absent=shared_out(column, branch[:-1], ~seen[:-1], n_branches),
        unseen_edge=int(branch[-1]),
        missing_edge=missing_edge,
        missing_seen=column.missing_seen,
        quote_levels=quote,
        missing=missing,
    )


def node_test(model: ModelData, tree: Tree, node: int) -> NodeTest:
    """Return `describe` with what the model knows about missing values and about the search among cuts and levels."""
    every_cut = growth_of(model).tries_every_cut
    return describe(model.schema, tree, node, missing=model.missing, ordered=has_best_order(model), every_cut=every_cut)


def has_best_order(model: ModelData) -> bool:
    """Return whether an order of a nominal column's levels is known to contain their best partition in two.

    True for one number per row (two classes, or one target) under a criterion that Breiman et al. 1984, section 4.2.2,
    cover; a criterion that the model does not state is not known.
    """
    if growth_of(model).parameters.get("nominal_splits") == "one_vs_rest":
        return True  # every one of those is tried
    one_number = model.n_outputs == 1 and sum(model.n_classes) <= 2
    return one_number and model.facts.get("criterion") in ORDERED_CRITERIA[model.task]


def cut_test(
    column: Column,
    feature: int,
    cut: float,
    missing_edge: int,
    *,
    n_branches: int = 2,
    missing: Missing = "direction",
    exact: bool = True,
) -> ThresholdTest:
    """Return the readable test of a cut: a node's or a surrogate's."""
    levels = column.levels if column.kind == "ordinal" else ()
    name, quote = written_name(column.name), column.family == "object"
    return ThresholdTest(
        name, feature, cut, missing_edge, column.missing_seen, levels, quote, n_branches, missing, exact
    )


def set_test(
    column: Column,
    feature: int,
    tree: Tree,
    start: int,
    missing_edge: int,
    *,
    n_branches: int = 2,
    missing: Missing = "direction",
    ordered: bool = True,
) -> SubsetTest:
    """Return the readable test of a level set: a node's or a surrogate's."""
    left, seen = level_bits(column, tree, start)
    unseen_edge = 0 if left[-1] else 1
    left, seen = left[:-1], seen[:-1]
    none: tuple[tuple[Hashable, ...], ...] = ((),) * (n_branches - 2)
    return SubsetTest(
        written_name(column.name),
        feature,
        branches=(chosen(column, left & seen), chosen(column, ~left & seen), *none),
        absent=(chosen(column, left & ~seen), chosen(column, ~left & ~seen), *none),
        unseen_edge=unseen_edge,
        missing_edge=missing_edge,
        missing_seen=column.missing_seen,
        quote_levels=column.family == "object",
        missing=missing,
        exact=ordered or int(seen.sum()) <= EXHAUSTIVE_LEVELS,
    )


def chosen(column: Column, mask: np.ndarray) -> tuple[Hashable, ...]:
    """Return the levels whose bit is set in ``mask`` (bool[v])."""
    return tuple(column.levels[code] for code in np.flatnonzero(mask))


def shared_out(
    column: Column, branch: np.ndarray, mask: np.ndarray, n_branches: int
) -> tuple[tuple[Hashable, ...], ...]:
    """Return per branch the levels in ``mask`` (bool[v]) whose entry in ``branch`` (int[v]) it is."""
    sides: list[list[Hashable]] = [[] for _ in range(n_branches)]
    for code in np.flatnonzero(mask):
        sides[branch[code]].append(column.levels[code])
    return tuple(map(tuple, sides))


def threshold_digits(tree: Tree, *, least: int = 6) -> np.ndarray:
    """Return per node how many digits its cut needs so that no two different cuts of one column look the same.

    Parameters
    ----------
    tree : Tree
    least : int, 1 to 17

    Returns
    -------
    int64[n_nodes]
        ``least`` where the node has no cut; the most that one of its cuts needs where it has several.
    """
    digits = np.full(tree.n_nodes, least, np.int64)
    one, several = np.flatnonzero(tree.kind == THRESHOLD), np.flatnonzero(tree.kind == INTERVALS)
    counts = tree.n_branches[several].astype(np.int64) - 1
    ends = np.cumsum(counts)
    places = np.repeat(tree.level_set[several] - (ends - counts), counts) + np.arange(counts.sum())
    nodes = np.concatenate([one, np.repeat(several, counts)])
    cuts = np.concatenate([tree.threshold[one], tree.cuts[places]])
    order = np.argsort(tree.feature[nodes], kind="stable")
    nodes, cuts = nodes[order], cuts[order]
    starts = np.flatnonzero(np.diff(tree.feature[nodes], prepend=-2)) if len(nodes) else np.zeros(0, np.int64)
    for part in np.split(np.arange(len(nodes)), starts[1:]):
        if len(part):
            np.maximum.at(digits, nodes[part], gap_digits(cuts[part], least=least))
    return digits
