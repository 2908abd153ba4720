"""What must hold of a tree and of a model. In: ``Tree``, ``Schema``, ``ModelData``. Out: nothing, or an error.

Callers: the codec (on whatever it writes or reads) and the tests of everything that builds or edits trees. A tree that
passes can be walked without bounds checks: every walk ends at a leaf, every offset is inside its array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from treewright.data.schema import Schema
from treewright.exceptions import ModelFileError
from treewright.tree.arrays import LEAF, SUBSET, THRESHOLD, Tree
from treewright.tree.model import ModelData

NODE_FIELDS: dict[str, np.dtype] = {
    "kind": np.dtype(np.uint8),
    "feature": np.dtype(np.int32),
    "threshold": np.dtype(np.float64),
    "first_child": np.dtype(np.int32),
    "n_branches": np.dtype(np.int32),
    "missing_branch": np.dtype(np.int32),
    "level_set": np.dtype(np.int32),
    "n_samples": np.dtype(np.int64),
    "weight": np.dtype(np.float64),
    "impurity": np.dtype(np.float64),
    "value": np.dtype(np.float64),
}
WORD_FIELDS: dict[str, np.dtype] = {"levels_left": np.dtype(np.uint64), "levels_seen": np.dtype(np.uint64)}

# Sums of floating-point weights may be added in another order by another engine; fixed-point sums are off by roundings.
SUM_TOLERANCE = 1e-6


class _Columns(NamedTuple):
    """The part of a schema that tree checks need, once per model rather than once per tree."""

    is_nominal: np.ndarray  # bool[p]
    n_levels: np.ndarray  # int64[p]


def check_tree(
    tree: Tree, schema: Schema, n_values: int, *, n_classes: tuple[int, ...] = (), name: str = "tree"
) -> None:
    """Refuse a tree that breaks an invariant of ``tree.arrays``.

    Parameters
    ----------
    tree : Tree
    schema : Schema
        The columns that the tests of the tree ask about.
    n_values : int >= 1
        Width of ``tree.value``.
    n_classes : tuple of int, optional
        Classes per output where the values are weighted class counts; then they must not be negative and must add up.
    name : str, optional
        What messages call the tree.

    Raises
    ------
    ModelFileError
        An array has the wrong dtype or shape; a child is out of range, not after its parent, shared or orphaned; a
        test does not fit its column; a bit set overlaps, overruns or has stray bits; a number is nan, infinite,
        negative or does not add up. The message names the tree and the first offending node.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright.data.schema import Column, Schema
    >>> def ints(*cells): return np.array(cells, np.int32)
    >>> words = np.zeros(0, np.uint64)
    >>> leaf = Tree(np.zeros(1, np.uint8), ints(-1), np.zeros(1), ints(-1), ints(0), ints(0), ints(-1),
    ...             np.array([3]), np.array([3.0]), np.array([0.0]), np.array([[1.5]]), words, words.copy())
    >>> check_tree(leaf, Schema((Column("x", "numeric"),)), n_values=1)
    """
    _check_tree(tree, _columns(schema), n_values, n_classes, name)


def check_model(model: ModelData) -> None:
    """Refuse a model whose parts do not fit together, or one of whose trees breaks an invariant.

    Parameters
    ----------
    model : ModelData

    Raises
    ------
    ModelFileError
        Task, combine rule, outputs, classes or names contradict each other; a column is malformed; or a tree is.
    """
    _check_parts(model)
    _check_columns(model.schema)
    columns, n_values = _columns(model.schema), value_width(model)
    # The values of summed trees are scores, not counts: they may be negative.
    n_classes = model.n_classes if model.combine != "sum" else ()
    for position, tree in enumerate(model.trees):
        _check_tree(tree, columns, n_values, n_classes, f"tree {position}")


def value_width(model: ModelData) -> int:
    """Width of ``value`` in every tree: all classes of all outputs, or one number per output."""
    return sum(model.n_classes) if model.task == "classification" else model.n_outputs


def trees_equal(a: Tree, b: Tree) -> bool:
    """Whether two trees are the same to the last bit: dtypes, shapes and cells (-0.0 is not 0.0 here).

    Parameters
    ----------
    a, b : Tree

    Returns
    -------
    bool
    """
    for field in (*NODE_FIELDS, *WORD_FIELDS):
        one, other = getattr(a, field), getattr(b, field)
        if one.dtype != other.dtype or one.shape != other.shape or one.tobytes() != other.tobytes():
            return False
    return True


def _check_parts(model: ModelData) -> None:
    """Task, combine rule, outputs, classes and names."""
    if model.task not in ("classification", "regression"):
        raise ModelFileError(f"task is {model.task!r}: expected 'classification' or 'regression'")
    if model.combine not in ("single", "mean", "sum"):
        raise ModelFileError(f"combine is {model.combine!r}: expected 'single', 'mean' or 'sum'")
    if model.unseen not in ("missing", "error", "majority"):
        raise ModelFileError(f"unseen is {model.unseen!r}: expected 'missing', 'error' or 'majority'")
    if type(model.n_outputs) is not int or model.n_outputs < 1:
        raise ModelFileError(f"n_outputs is {model.n_outputs!r}: expected a whole number, at least 1")
    expected = model.n_outputs if model.task == "classification" else 0
    if len(model.classes) != expected:
        raise ModelFileError(
            f"{len(model.classes)} class lists for {model.n_outputs} outputs of a {model.task}: expected {expected}"
        )
    for output, labels in enumerate(model.classes):
        if labels.ndim != 1 or not len(labels):
            raise ModelFileError(f"classes of output {output} have shape {labels.shape}: expected one axis, not empty")
        if len(set(labels.tolist())) != len(labels):
            raise ModelFileError(f"classes of output {output} hold one label twice")
    if model.target_names and len(model.target_names) != model.n_outputs:
        raise ModelFileError(f"{len(model.target_names)} target names for {model.n_outputs} outputs")
    if not model.trees or (model.combine == "single" and len(model.trees) != 1):
        raise ModelFileError(f"{len(model.trees)} trees do not fit combine={model.combine!r}")


def _check_columns(schema: Schema) -> None:
    """Kinds and levels of the columns."""
    if not len(schema):
        raise ModelFileError("the schema has no columns")
    if len(set(schema.names)) != len(schema):
        raise ModelFileError("the schema holds one column name twice")
    for position, column in enumerate(schema.columns):
        if column.kind not in ("numeric", "ordinal", "nominal"):
            raise ModelFileError(f"column {position}: kind {column.kind!r} is not known")
        if column.kind == "numeric" and column.levels:
            raise ModelFileError(f"column {position}: a numeric column has {len(column.levels)} levels, expected none")
        if len(set(column.levels)) != len(column.levels):
            raise ModelFileError(f"column {position}: one level is there twice")


def _columns(schema: Schema) -> _Columns:
    """The facts of a schema as arrays."""
    return _Columns(
        np.array([column.kind == "nominal" for column in schema.columns], bool),
        np.array([len(column.levels) for column in schema.columns], np.int64),
    )


def _check_tree(tree: Tree, columns: _Columns, n_values: int, n_classes: tuple[int, ...], name: str) -> None:
    """Each check may rely on those before it: the order matters."""
    _check_shapes(tree, n_values, name)
    _check_links(tree, name)
    _check_tests(tree, columns, name)
    _check_level_sets(tree, columns, name)
    _check_sums(tree, name)
    _check_values(tree, n_classes, name)


def _refuse(name: str, bad: np.ndarray, what: str | Callable[[int], str], nodes: np.ndarray | None = None) -> None:
    """Raise on the first True in ``bad``; position ``i`` of it is about node ``nodes[i]``."""
    if not bad.any():
        return
    node = int(bad.argmax()) if nodes is None else int(nodes[bad.argmax()])
    raise ModelFileError(f"{name}, node {node}: {what if isinstance(what, str) else what(node)}")


def _check_shapes(tree: Tree, n_values: int, name: str) -> None:
    """Dtypes and lengths."""
    for field, dtype in (NODE_FIELDS | WORD_FIELDS).items():
        array = getattr(tree, field)
        if not isinstance(array, np.ndarray) or array.dtype != dtype:
            raise ModelFileError(f"{name}: {field} is not an array of {dtype}")
    if tree.kind.ndim != 1 or not 1 <= tree.n_nodes < 2**31:
        raise ModelFileError(f"{name}: kind has shape {tree.kind.shape}: expected one axis of 1 to 2**31 - 1 nodes")
    for field in NODE_FIELDS:
        expected = (tree.n_nodes, n_values) if field == "value" else (tree.n_nodes,)
        if getattr(tree, field).shape != expected:
            raise ModelFileError(f"{name}: {field} has shape {getattr(tree, field).shape}, expected {expected}")
    if tree.levels_left.ndim != 1 or tree.levels_left.shape != tree.levels_seen.shape:
        raise ModelFileError(
            f"{name}: levels_left has shape {tree.levels_left.shape}, levels_seen {tree.levels_seen.shape}"
        )


def _check_links(tree: Tree, name: str) -> None:
    """One parent each, parents first; then every node can be reached from the root and no walk is endless."""
    kind, n_nodes = tree.kind, tree.n_nodes
    _refuse(name, kind > SUBSET, lambda i: f"kind {kind[i]} is not known")
    leaf = kind == LEAF
    _refuse(
        name,
        tree.n_branches != np.where(leaf, 0, 2),
        lambda i: f"{tree.n_branches[i]} branches, expected {0 if leaf[i] else 2}",
    )
    _refuse(
        name, leaf & (tree.first_child != -1), lambda i: f"a leaf has first_child {tree.first_child[i]}, expected -1"
    )
    inner = np.flatnonzero(~leaf)
    first = tree.first_child[inner].astype(np.int64)
    _refuse(name, first <= inner, lambda i: f"first_child {tree.first_child[i]} is not after its parent", inner)
    _refuse(
        name,
        first > n_nodes - 2,
        lambda i: (
            f"children {tree.first_child[i]} and {int(tree.first_child[i]) + 1} are not among the {n_nodes} nodes"
        ),
        inner,
    )
    parents = np.bincount(np.concatenate([first, first + 1]), minlength=n_nodes)
    parents[0] += 1
    _refuse(name, parents != 1, lambda i: f"{parents[i]} parents, expected 1")


def _check_tests(tree: Tree, columns: _Columns, name: str) -> None:
    """The question fits the column; what a node does not use holds its filler."""
    n_columns, kind, feature = len(columns.n_levels), tree.kind, tree.feature
    leaf = kind == LEAF
    _refuse(name, leaf & (feature != -1), lambda i: f"a leaf has feature {feature[i]}, expected -1")
    _refuse(
        name,
        ~leaf & ((feature < 0) | (feature >= n_columns)),
        lambda i: f"feature {feature[i]} is not one of {n_columns} columns",
    )
    inner = np.flatnonzero(~leaf)
    nominal = columns.is_nominal[feature[inner]]
    _refuse(
        name,
        nominal != (kind[inner] == SUBSET),
        lambda i: f"its kind of test does not fit the kind of column {feature[i]}",
        inner,
    )
    asks = kind == THRESHOLD
    _refuse(name, asks & np.isnan(tree.threshold), "the threshold is nan")
    # Bits, not values: -0.0 would be a second way to write the same tree.
    _refuse(
        name,
        ~asks & (tree.threshold.view(np.uint64) != 0),
        lambda i: f"threshold {tree.threshold[i]} where nothing is asked about, expected 0.0",
    )
    highest = np.where(leaf, 0, tree.n_branches - 1)
    _refuse(
        name,
        (tree.missing_branch < 0) | (tree.missing_branch > highest),
        lambda i: f"missing_branch {tree.missing_branch[i]}, expected 0 to {highest[i]}",
    )


def _check_level_sets(tree: Tree, columns: _Columns, name: str) -> None:
    """Bit sets tile the words (in any order), and no bit stands for a level that is not there."""
    asks = tree.kind == SUBSET
    _refuse(
        name,
        ~asks & (tree.level_set != -1),
        lambda i: f"level_set {tree.level_set[i]} at a node without a subset test, expected -1",
    )
    nodes = np.flatnonzero(asks)
    # A grower that splits the best leaf first hands out words in the order of its splits, not of the nodes.
    nodes = nodes[np.argsort(tree.level_set[nodes], kind="stable")]
    n_levels = columns.n_levels[tree.feature[nodes]]
    ends = np.cumsum(n_levels // 64 + 1)
    starts = ends - (n_levels // 64 + 1)
    _refuse(
        name,
        tree.level_set[nodes] != starts,
        lambda i: f"level_set {tree.level_set[i]} overlaps another node's words or leaves a gap",
        nodes,
    )
    n_words = int(ends[-1]) if len(ends) else 0
    if n_words != len(tree.levels_left):
        raise ModelFileError(f"{name}: {len(tree.levels_left)} words of level sets, expected {n_words}")
    # Bit v ("never seen at fit") has a way to go, but cannot have been seen: levels_seen ends one bit earlier.
    last = (n_levels % 64).astype(np.uint64)
    allowed_left = np.uint64(2**64 - 1) >> (np.uint64(63) - last)
    allowed_seen = allowed_left >> np.uint64(1)
    _refuse(
        name,
        (tree.levels_left[ends - 1] & ~allowed_left) != 0,
        "levels_left has bits beyond the levels of its column",
        nodes,
    )
    _refuse(
        name,
        (tree.levels_seen[ends - 1] & ~allowed_seen) != 0,
        "levels_seen has bits beyond the levels of its column",
        nodes,
    )


def _check_sums(tree: Tree, name: str) -> None:
    """Samples, weights and impurities: in range, and children add up to their parent."""
    _refuse(name, tree.n_samples < 1, lambda i: f"n_samples is {tree.n_samples[i]}, expected at least 1")
    _refuse(
        name,
        ~((tree.weight > 0) & np.isfinite(tree.weight)),
        lambda i: f"weight is {tree.weight[i]}, expected a finite number above 0",
    )
    _refuse(
        name,
        ~((tree.impurity >= 0) & np.isfinite(tree.impurity)),
        lambda i: f"impurity is {tree.impurity[i]}, expected a finite number, at least 0",
    )
    inner = np.flatnonzero(tree.kind != LEAF)
    left = tree.first_child[inner]
    right = left + 1
    with np.errstate(over="ignore"):  # a sum that overflows cannot equal its parent, which is positive and finite
        samples = tree.n_samples[left] + tree.n_samples[right]
        weights = tree.weight[left] + tree.weight[right]
    _refuse(
        name,
        samples != tree.n_samples[inner],
        lambda i: f"n_samples is {tree.n_samples[i]}, but not the sum of its children's",
        inner,
    )
    off = np.abs(weights - tree.weight[inner])
    _refuse(
        name,
        np.isnan(off) | (off > SUM_TOLERANCE * tree.weight[inner]),
        lambda i: f"weight is {tree.weight[i]}, but not the sum of its children's",
        inner,
    )


def _check_values(tree: Tree, n_classes: tuple[int, ...], name: str) -> None:
    """Values are finite; class counts are not negative, and those of one output add up to the weight."""
    _refuse(name, ~np.isfinite(tree.value).all(axis=1), "a value is not finite")
    if not n_classes:
        return
    _refuse(name, tree.value.min(axis=1) < 0, "a class count is negative")
    starts = np.cumsum((0, *n_classes[:-1]))
    with np.errstate(over="ignore"):
        totals = np.add.reduceat(tree.value, starts, axis=1)
    off = np.abs(totals - tree.weight[:, None]).max(axis=1)
    _refuse(
        name,
        off > SUM_TOLERANCE * tree.weight,
        lambda i: f"its class counts add up to {totals[i].tolist()}, its weight is {tree.weight[i]}",
    )
