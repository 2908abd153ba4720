"""What must hold of a tree and of a model. In: ``Tree``, ``Schema``, ``ModelData``. Out: nothing, or an error.

Callers: the codec (on whatever it writes or reads) and the tests of everything that builds or edits trees. A tree that
passes can be walked without bounds checks: every walk ends at a leaf, every offset is inside its array.
"""

from __future__ import annotations

import numpy as np

from treewright.data.schema import Schema
from treewright.exceptions import ModelFileError
from treewright.tree.arrays import Tree
from treewright.tree.check_boosting import check_boosting, check_tree_weights
from treewright.tree.check_facts import check_facts
from treewright.tree.check_packed import check_packed
from treewright.tree.invariants import check_arrays, column_facts
from treewright.tree.leaf_targets import check_leaf_targets
from treewright.tree.model import Combine, Missing, ModelData
from treewright.tree.packed import PackedTrees

COMBINE: tuple[Combine, ...] = ("single", "mean", "sum", "vote", "median")
MISSING: tuple[Missing, ...] = ("direction", "branch", "surrogate", "fractional", "error")


def check_tree(
    tree: Tree,
    schema: Schema,
    n_values: int,
    *,
    n_classes: tuple[int, ...] = (),
    missing: Missing = "direction",
    name: str = "tree",
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
    missing : {"direction", "branch", "surrogate", "fractional", "error"}, optional
        How the tree treats missing values: only ``"surrogate"`` has surrogate tests, and only under ``"fractional"``
        may the branches of a node hold more rows than the node, as one row can be in several.
    name : str, optional
        What messages call the tree.

    Raises
    ------
    ModelFileError
        An array has the wrong dtype or shape; a child is out of range, not after its parent, shared or orphaned; a
        test does not fit its column; the parts of a side table overlap, leave a gap or hold what their node cannot
        mean; a number is nan, infinite, negative or does not add up. The message names the tree and the first
        offending node.

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
    check_arrays(tree, column_facts(schema), n_values, n_classes, missing, name)


def check_model(model: ModelData) -> None:
    """Refuse a model whose parts do not fit together, or one of whose trees breaks an invariant.

    Parameters
    ----------
    model : ModelData

    Raises
    ------
    ModelFileError
        Task, combine rule, outputs, classes or names contradict each other; a column is malformed; or a tree is, or
        the bins, records or leaf table of packed trees are, or the targets of its leaves, the base of its scores, the
        weights of its trees, or facts that answers depend on.
    """
    _check_parts(model)
    check_columns(model.schema)
    columns, n_values, n_classes = column_facts(model.schema), value_width(model), model.counted_classes
    if isinstance(model.trees, PackedTrees):
        check_packed(model.trees, columns, n_values, n_classes)
    else:
        for position, tree in enumerate(model.trees):
            check_arrays(tree, columns, n_values, n_classes, model.missing, f"tree {position}")
    check_boosting(model)
    check_tree_weights(model)
    if model.leaf_targets is not None:
        if model.task != "regression" or model.combine != "mean":
            raise ModelFileError("targets of leaves: only a forest for numbers has them")
        check_leaf_targets(model.leaf_targets, _number_of_leaves(model), model.n_outputs)
    check_facts(model)


def _number_of_leaves(model: ModelData) -> int:
    """Of all trees."""
    if isinstance(model.trees, PackedTrees):
        # Every inner node has two children, so a tree has one leaf more than inner nodes.
        return (model.trees.n_nodes + model.trees.n_trees) // 2
    return sum(tree.n_leaves for tree in model.trees)


def value_width(model: ModelData) -> int:
    """Width of ``value`` in every tree: all classes of all outputs, or one number per output; of a score one."""
    if model.boosting is not None:
        return 1
    return sum(model.n_classes) if model.task == "classification" else model.n_outputs


def _check_parts(model: ModelData) -> None:
    """Task, combine rule, outputs, classes and names."""
    check_target(model.task, model.n_outputs, model.classes, model.target_names)
    if model.combine not in COMBINE:
        raise ModelFileError(f"combine is {model.combine!r}: expected one of {', '.join(map(repr, COMBINE))}")
    if model.combine == "vote" and model.task != "classification":
        raise ModelFileError("combine is 'vote': numbers have no classes to vote for")
    if model.combine == "median" and (model.task != "regression" or model.n_outputs != 1):
        raise ModelFileError("combine is 'median': it is taken of one predicted number")
    if model.combine == "sum" and model.boosting is None:
        raise ModelFileError("combine is 'sum': only the trees of boosting are added up, others are averaged or vote")
    if model.combine != "sum" and model.boosting is not None:
        raise ModelFileError(f"combine is {model.combine!r}: the trees of boosting are added up")
    if model.unseen not in ("missing", "error", "majority"):
        raise ModelFileError(f"unseen is {model.unseen!r}: expected 'missing', 'error' or 'majority'")
    if model.missing not in MISSING:
        raise ModelFileError(f"missing is {model.missing!r}: expected one of {', '.join(map(repr, MISSING))}")
    if isinstance(model.trees, PackedTrees) and model.missing in ("surrogate", "fractional"):
        raise ModelFileError(f"missing is {model.missing!r}: packed trees send a missing value one way")
    if not len(model.trees) or (model.combine == "single" and len(model.trees) != 1):
        raise ModelFileError(f"{len(model.trees)} trees do not fit combine={model.combine!r}")


def check_target(task: str, n_outputs: int, classes: tuple[np.ndarray, ...], target_names: tuple[str, ...]) -> None:
    """Refuse outputs, classes and names that contradict each other.

    Parameters
    ----------
    task : {"classification", "regression"}
    n_outputs : int >= 1
    classes : tuple of ndarray
        As ``ModelData.classes``.
    target_names : tuple of str

    Raises
    ------
    ModelFileError
    """
    if task not in ("classification", "regression"):
        raise ModelFileError(f"task is {task!r}: expected 'classification' or 'regression'")
    if type(n_outputs) is not int or n_outputs < 1:
        raise ModelFileError(f"n_outputs is {n_outputs!r}: expected a whole number, at least 1")
    expected = n_outputs if task == "classification" else 0
    if len(classes) != expected:
        raise ModelFileError(f"{len(classes)} class lists for {n_outputs} outputs of a {task}: expected {expected}")
    for output, labels in enumerate(classes):
        if labels.ndim != 1 or not len(labels):
            raise ModelFileError(f"classes of output {output} have shape {labels.shape}: expected one axis, not empty")
        if len(set(labels.tolist())) != len(labels):
            raise ModelFileError(f"classes of output {output} hold one label twice")
    if target_names and len(target_names) != n_outputs:
        raise ModelFileError(f"{len(target_names)} target names for {n_outputs} outputs")


def check_columns(schema: Schema) -> None:
    """Refuse kinds and levels of columns that there cannot be.

    Raises
    ------
    ModelFileError
        No columns, an unknown kind, levels of numbers, or a name or level twice.
    """
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
