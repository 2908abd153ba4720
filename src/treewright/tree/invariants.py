"""What must hold of the arrays of one tree. In: ``Tree``, facts of its columns. Out: nothing, or an error.

Caller: ``tree.check``. Each check may rely on those before it, so their order matters. None of them asks for much more
memory than the arrays have, whatever the arrays hold.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treewright.data.schema import Schema
from treewright.exceptions import ModelFileError
from treewright.tree.arrays import INTERVALS, LEAF, MULTIWAY, SUBSET, THRESHOLD, Tree
from treewright.tree.fields import BRANCH_FIELDS, CUT_FIELDS, FIELDS, NODE_FIELDS, SURROGATE_FIELDS, WORD_FIELDS
from treewright.tree.model import Missing
from treewright.tree.refuse import refuse
from treewright.tree.side_tables import check_cuts, check_level_branch, check_level_sets, check_surrogates
from treewright.tree.walk import children_of

# Sums of floating-point weights may be added in another order by another engine; fixed-point sums are off by roundings.
SUM_TOLERANCE = 1e-6


class ColumnFacts(NamedTuple):
    """The part of a schema that the checks need, once per model rather than once per tree."""

    is_nominal: np.ndarray  # bool[p]
    is_numeric: np.ndarray  # bool[p]
    n_levels: np.ndarray  # int64[p]


def column_facts(schema: Schema) -> ColumnFacts:
    """Return the facts of a schema as arrays."""
    return ColumnFacts(
        np.array([column.kind == "nominal" for column in schema.columns], bool),
        np.array([column.kind == "numeric" for column in schema.columns], bool),
        np.array([len(column.levels) for column in schema.columns], np.int64),
    )


def check_arrays(
    tree: Tree, columns: ColumnFacts, n_values: int, n_classes: tuple[int, ...], missing: Missing, name: str
) -> None:
    """Refuse a tree that breaks an invariant; parameters as in ``tree.check.check_tree``.

    Raises
    ------
    ModelFileError
        The message names the tree and the first offending node.
    """
    check_shapes(tree, n_values, name)
    check_links(tree, name)
    check_questions(tree, columns, name)
    check_surrogates(tree, columns.is_nominal, missing, name)
    check_level_sets(tree, columns.n_levels, name)
    check_level_branch(tree, columns.n_levels, name)
    check_cuts(tree, name)
    empty = check_amounts(tree, name)
    check_sums(tree, fractional=missing == "fractional", name=name)
    check_empty_leaves(tree, empty, name)
    check_values(tree, n_classes, empty, name)


def check_shapes(tree: Tree, n_values: int, name: str) -> None:
    """Refuse wrong dtypes and lengths."""
    for field, dtype in FIELDS.items():
        array = getattr(tree, field)
        if not isinstance(array, np.ndarray) or array.dtype != dtype:
            raise ModelFileError(f"{name}: {field} is not an array of {dtype}")
    if tree.kind.ndim != 1 or not 1 <= tree.n_nodes < 2**31:
        raise ModelFileError(f"{name}: kind has shape {tree.kind.shape}: expected one axis of 1 to 2**31 - 1 nodes")
    for field in NODE_FIELDS:
        expected = (tree.n_nodes, n_values) if field == "value" else (tree.n_nodes,)
        if getattr(tree, field).shape != expected:
            raise ModelFileError(f"{name}: {field} has shape {getattr(tree, field).shape}, expected {expected}")
    for table in (WORD_FIELDS, BRANCH_FIELDS, CUT_FIELDS, SURROGATE_FIELDS):
        first, *others = table
        shape = getattr(tree, first).shape
        if len(shape) != 1:
            raise ModelFileError(f"{name}: {first} has shape {shape}, expected one axis")
        for field in others:
            if getattr(tree, field).shape != shape:
                raise ModelFileError(f"{name}: {first} has shape {shape}, {field} {getattr(tree, field).shape}")


def check_links(tree: Tree, name: str) -> None:
    """Refuse all but one parent each, parents first: then the root leads to every node and no walk is endless."""
    kind, n_nodes, n_branches = tree.kind, tree.n_nodes, tree.n_branches
    refuse(name, kind > INTERVALS, lambda i: f"kind {kind[i]} is not known")
    leaf = kind == LEAF
    refuse(name, leaf & (n_branches != 0), lambda i: f"{n_branches[i]} branches, expected 0")
    # The third branch of these two kinds is for missing values alone.
    two = (kind == THRESHOLD) | (kind == SUBSET)
    third = (n_branches == 3) & (tree.missing_branch == 2)
    refuse(
        name,
        two & (n_branches != 2) & ~third,
        lambda i: f"{n_branches[i]} branches, expected 2, or 3 with missing_branch 2",
    )
    refuse(name, ~leaf & (n_branches < 2), lambda i: f"{n_branches[i]} branches, expected 2 or more")
    refuse(
        name, leaf & (tree.first_child != -1), lambda i: f"a leaf has first_child {tree.first_child[i]}, expected -1"
    )
    inner = np.flatnonzero(~leaf)
    first = tree.first_child[inner].astype(np.int64)
    ends = first + n_branches[inner]
    refuse(name, first <= inner, lambda i: f"first_child {tree.first_child[i]} is not after its parent", inner)
    refuse(
        name,
        ends > n_nodes,
        lambda i: (
            f"children {tree.first_child[i]} {'and' if n_branches[i] == 2 else 'to'} "
            f"{int(tree.first_child[i]) + int(n_branches[i]) - 1} are not among the {n_nodes} nodes"
        ),
        inner,
    )
    # Counted from starts and ends, not child by child: hostile branches may overlap a billionfold.
    steps = np.bincount(first, minlength=n_nodes + 1) - np.bincount(ends, minlength=n_nodes + 1)
    parents = np.cumsum(steps[:-1])
    parents[0] += 1
    refuse(name, parents != 1, lambda i: f"{parents[i]} parents, expected 1")


def check_questions(tree: Tree, columns: ColumnFacts, name: str) -> None:
    """Refuse a question that does not fit its column, and anything but fillers where nothing is asked."""
    n_columns, kind, feature = len(columns.n_levels), tree.kind, tree.feature
    leaf = kind == LEAF
    refuse(name, leaf & (feature != -1), lambda i: f"a leaf has feature {feature[i]}, expected -1")
    refuse(
        name,
        ~leaf & ((feature < 0) | (feature >= n_columns)),
        lambda i: f"feature {feature[i]} is not one of {n_columns} columns",
    )
    inner = np.flatnonzero(~leaf)
    asked = kind[inner]
    nominal, numeric = columns.is_nominal[feature[inner]], columns.is_numeric[feature[inner]]
    fits = np.where(nominal, (asked == SUBSET) | (asked == MULTIWAY), (asked == THRESHOLD) | (asked == INTERVALS))
    fits |= ~nominal & ~numeric & (asked == MULTIWAY)
    refuse(name, ~fits, lambda i: f"its kind of test does not fit the kind of column {feature[i]}", inner)
    cut = kind == THRESHOLD
    refuse(name, cut & np.isnan(tree.threshold), "the threshold is nan")
    # Bits, not values: -0.0 would be a second way to write the same tree.
    refuse(
        name,
        ~cut & (tree.threshold.view(np.uint64) != 0),
        lambda i: f"threshold {tree.threshold[i]} where no threshold is asked about, expected 0.0",
    )
    refuse(
        name,
        (leaf | cut) & (tree.level_set != -1),
        lambda i: f"level_set {tree.level_set[i]} at a node that needs no side table, expected -1",
    )
    highest = np.where(leaf, 0, tree.n_branches - 1)
    refuse(
        name,
        (tree.missing_branch < 0) | (tree.missing_branch > highest),
        lambda i: f"missing_branch {tree.missing_branch[i]}, expected 0 to {highest[i]}",
    )


def check_amounts(tree: Tree, name: str) -> np.ndarray:
    """Refuse samples, weights and impurities out of range; return bool[n_nodes], the leaves without training rows."""
    empty = (tree.kind == LEAF) & (tree.n_samples == 0) & (tree.weight.view(np.uint64) == 0)
    empty[0] = False
    refuse(
        name,
        ~empty & (tree.n_samples < 1),
        lambda i: f"n_samples is {tree.n_samples[i]}, expected at least 1 (or 0 with weight 0.0 at a leaf)",
    )
    refuse(
        name,
        ~empty & ~((tree.weight > 0) & np.isfinite(tree.weight)),
        lambda i: f"weight is {tree.weight[i]}, expected a finite number above 0",
    )
    refuse(
        name,
        ~((tree.impurity >= 0) & np.isfinite(tree.impurity)),
        lambda i: f"impurity is {tree.impurity[i]}, expected a finite number, at least 0",
    )
    return empty


def check_sums(tree: Tree, *, fractional: bool, name: str) -> None:
    """Refuse children whose rows or weights do not add up to their parent's."""
    inner = np.flatnonzero(tree.kind != LEAF)
    if not len(inner):
        return
    counts = tree.n_branches[inner].astype(np.int64)
    below, begins = children_of(tree, inner), np.cumsum(counts) - counts
    samples = np.add.reduceat(tree.n_samples[below], begins)
    own = tree.n_samples[inner]
    # The whole numbers may have wrapped around; their sum as floating-point numbers tells.
    about = np.add.reduceat(tree.n_samples[below].astype(np.float64), begins)
    if fractional:
        # A row with a missing value is in several branches, but never in one of them twice.
        more = np.maximum.reduceat(tree.n_samples[below], begins) > own
        refuse(name, more, lambda i: f"n_samples is {tree.n_samples[i]}, but a child has more", inner)
        fewer = about < own * (1 - SUM_TOLERANCE)
        refuse(
            name,
            fewer | ((about < 2.0**53) & (samples < own)),
            lambda i: f"n_samples is {tree.n_samples[i]}, but its children have fewer together",
            inner,
        )
    else:
        refuse(
            name,
            (samples != own) | (np.abs(about - own) > SUM_TOLERANCE * own),
            lambda i: f"n_samples is {tree.n_samples[i]}, but not the sum of its children's",
            inner,
        )
    with np.errstate(over="ignore"):  # a sum that overflows cannot equal its parent, which is positive and finite
        off = np.abs(np.add.reduceat(tree.weight[below], begins) - tree.weight[inner])
    refuse(
        name,
        np.isnan(off) | (off > SUM_TOLERANCE * tree.weight[inner]),
        lambda i: f"weight is {tree.weight[i]}, but not the sum of its children's",
        inner,
    )


def check_empty_leaves(tree: Tree, empty: np.ndarray, name: str) -> None:
    """Refuse a leaf without training rows that does not predict what its parent would."""
    if not empty.any():
        return
    inner = np.flatnonzero(tree.kind != LEAF)
    parent = np.zeros(tree.n_nodes, np.int64)
    parent[children_of(tree, inner)] = np.repeat(inner, tree.n_branches[inner])
    leaves = np.flatnonzero(empty)
    # Bits: the leaf's numbers are copies.
    for field in ("value", "impurity"):
        what = f"a leaf without training rows has another {field} than its parent"
        cells = np.ascontiguousarray(getattr(tree, field)).reshape(tree.n_nodes, -1).view(np.uint64)
        refuse(
            name,
            (cells[leaves] != cells[parent[leaves]]).any(axis=1),
            what,
            leaves,
        )


def check_values(tree: Tree, n_classes: tuple[int, ...], empty: np.ndarray, name: str) -> None:
    """Refuse values that are not finite, and class counts that are negative or do not add up to the weight."""
    refuse(name, ~np.isfinite(tree.value).all(axis=1), "a value is not finite")
    if not n_classes:
        return
    refuse(name, tree.value.min(axis=1) < 0, "a class count is negative")
    starts = np.cumsum((0, *n_classes[:-1]))
    with np.errstate(over="ignore"):
        totals = np.add.reduceat(tree.value, starts, axis=1)
    off = np.abs(totals - tree.weight[:, None]).max(axis=1)
    refuse(
        name,
        ~empty & (off > SUM_TOLERANCE * tree.weight),
        lambda i: f"its class counts add up to {totals[i].tolist()}, its weight is {tree.weight[i]}",
    )
