"""A tree as plain data. In: a model. Out: a dict that ``json.dumps`` takes. Callers: ``Model``, the command line.

For programs in other languages: a flat list of nodes, exact thresholds, levels by name. It is a one-way door; models
are saved and loaded by ``model.codec``.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from treewright.data.schema import Column
from treewright.model.data import ModelData
from treewright.model.growth import node_test
from treewright.model.summary import TreeSummary, summarize
from treewright.tree.walk import children
from treewright.tree.wording import IntervalTest, MultiwayTest, SubsetTest, Surrogate, ThresholdTest, surrogates_of
from treewright.tree.writing import escape_controls

FORMAT, VERSION = "treewright-structure", 1


def json_number(number: float) -> float | str:
    """Return a float that JSON can hold; ``"inf"``, ``"-inf"`` or ``"nan"`` for those it cannot."""
    number = float(number)
    return number if math.isfinite(number) else str(number)


def json_level(level: Hashable) -> str | int | float | bool | None:
    """Return a level or label as JSON's own type where it has one, else as text."""
    if level is None or isinstance(level, (bool, int)):
        return level
    if isinstance(level, float):
        return json_number(level)
    return str(level)


def json_label(label: object) -> str | int | float | bool | None:
    """Return a class label, a NumPy scalar or an object, as JSON's own type where it has one, else as text."""
    # item() would turn a date in nanoseconds into a bare integer.
    is_plain = isinstance(label, np.generic) and not isinstance(label, (np.datetime64, np.timedelta64))
    return json_level(label.item() if is_plain else label)  # type: ignore[attr-defined]


def json_fact(value: object) -> Any:
    """Return a training fact as plain JSON, numbers that are not finite as text. Nesting deeper than 4 becomes text."""
    return _json_fact(value, 4)


def _json_fact(value: object, levels: int) -> Any:
    if isinstance(value, float):
        return json_number(value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if levels and isinstance(value, Mapping):
        return {str(key): _json_fact(item, levels - 1) for key, item in value.items()}
    if levels and isinstance(value, Sequence):
        return [_json_fact(item, levels - 1) for item in value]
    return escape_controls(str(value))


def column_structure(column: Column) -> dict[str, Any]:
    """Return a column: its name, kind, levels, and whether fit saw it missing."""
    name = column.name if isinstance(column.name, str) else json_level(column.name)
    structure: dict[str, Any] = {"name": name, "kind": column.kind, "missing_seen": column.missing_seen}
    if column.kind != "numeric":
        structure["levels"] = [json_level(level) for level in column.levels]
    return structure


def described_test(summary: TreeSummary, node: int) -> dict[str, Any]:
    """Return the test of an inner node.

    Its ``type`` says how to answer: ``threshold`` (branch 0 if value <= threshold, else 1), ``rank`` (the same with the
    level's position in the column's ``levels``), ``present`` (branch 0 if the value is there), ``intervals`` and
    ``rank_intervals`` (the first branch whose entry in ``cuts`` is not below the value or rank, else the last),
    ``subset`` and ``multiway`` (the branch whose ``levels`` or ``absent_levels`` list the value). A branch without
    levels, or behind a cut ``"inf"``, is for missing values alone; so is the third of the other types.
    """
    test = node_test(summary.model, summary.tree, node)
    common = {
        "column": test.feature,
        "question": test.question(exact=True),
        "answers": [test.edge(branch, exact=True) for branch in range(test.n_branches)],
        "missing_branch": test.missing_edge,
    }
    if isinstance(test, ThresholdTest):
        return {**cut_structure(test), **common}
    if isinstance(test, IntervalTest):
        kind = "rank_intervals" if test.levels else "intervals"
        return {"type": kind, "cuts": [json_number(cut) for cut in test.cuts], **common}
    return {"type": "multiway" if isinstance(test, MultiwayTest) else "subset", **common, **levels_structure(test)}


def cut_structure(test: ThresholdTest) -> dict[str, Any]:
    """Return the type of a cut and the cut."""
    if test.asks_presence:
        return {"type": "present"}
    return {"type": "rank" if test.levels else "threshold", "threshold": json_number(test.threshold)}


def levels_structure(test: SubsetTest | MultiwayTest) -> dict[str, Any]:
    """Return which levels take which branch."""
    return {
        "levels": [[json_level(level) for level in side] for side in test.branches],
        "absent_levels": [[json_level(level) for level in side] for side in test.absent],
        "unseen_branch": test.unseen_edge,
    }


def surrogate_structure(surrogate: Surrogate) -> dict[str, Any]:
    """Return a surrogate: a test of two branches, to be taken the other way round where it is ``flipped``.

    It answers where its value is there and, with levels, is one of ``levels``.
    """
    test = surrogate.test
    if isinstance(test, ThresholdTest):
        kind = cut_structure(test)
    else:
        kind = {"type": "subset", "levels": levels_structure(test)["levels"]}
    return {
        **kind,
        "column": test.feature,
        "question": test.question(exact=True),
        "flipped": surrogate.flipped,
        "agreement": json_number(surrogate.agreement),
        "adjusted": json_number(surrogate.adjusted),
    }


def node_structure(summary: TreeSummary, node: int, depth: int) -> dict[str, Any]:
    """Return one node: what it asks, where its branches are, what it holds and predicts."""
    tree = summary.tree
    outputs = summary.outputs
    structure: dict[str, Any] = {
        "node": node,
        "parent": int(tree.parent[node]) if node else None,
        "depth": depth,
        "samples": int(tree.n_samples[node]),
        "weight": json_number(tree.weight[node]),
        "impurity": json_number(tree.impurity[node]),
        "value": [[json_number(number) for number in summary.values(node, output)] for output in outputs],
    }
    if summary.counts_classes:
        structure["prediction"] = [
            json_label(labels[summary.predicted_class(node, output)])
            for labels, output in zip(summary.model.classes, outputs, strict=True)
        ]
    else:
        structure["prediction"] = [json_number(tree.value[node, output.start]) for output in outputs]
    if not tree.is_leaf[node]:
        structure["test"] = described_test(summary, node)
        structure["branches"] = list(children(tree, node))
        if summary.model.missing == "surrogate":
            found = surrogates_of(summary.model.schema, tree, node)
            structure["surrogates"] = [surrogate_structure(surrogate) for surrogate in found]
    return structure


def to_structure(model: ModelData, *, tree: int | None = None) -> dict[str, Any]:
    """Return a model as plain data.

    Parameters
    ----------
    model : ModelData
    tree : int, optional
        One of the model's trees, counted from 0; all of them without it.

    Returns
    -------
    dict
        ``format``, ``version``, ``task``, ``criterion``, ``unseen``, ``missing``, ``combine``, ``facts``, ``columns``,
        ``targets`` and ``trees``, of boosted models ``boosting`` (``base`` and ``link``), of trees with weights
        ``tree_weights``; each tree has ``nodes``, a flat list in which a node's place is its number
        and ``branches`` are such numbers. Every number is the exact float64; an infinite one is the text ``"inf"`` or
        ``"-inf"``.

    Raises
    ------
    ParameterError
        The model has no such tree.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright.data.schema import Column, Schema
    >>> from treewright.tree.arrays import Tree
    >>> from treewright.model.data import ModelData
    >>> ints = lambda *v: np.array(v, np.int32)
    >>> tree = Tree(np.array([1, 0, 0], np.uint8), ints(0, -1, -1), np.array([2.5, 0, 0]), ints(1, -1, -1),
    ...             ints(2, 0, 0), ints(0, 0, 0), ints(-1, -1, -1), np.array([4, 1, 3]), np.array([4.0, 1, 3]),
    ...             np.array([1.2, 0, 0]), np.array([[7.0], [4.0], [8.0]]), np.zeros(0, np.uint64),
    ...             np.zeros(0, np.uint64))
    >>> model = ModelData("regression", Schema((Column("age", "numeric"),)), (tree,))
    >>> root = to_structure(model)["trees"][0]["nodes"][0]
    >>> root["test"]["question"], root["branches"]
    ('age <= 2.5', [1, 2])
    """
    chosen = range(len(model.trees)) if tree is None else (tree,)
    trees = []
    # One at a time: the trees of a forest are made when they are asked for.
    for position in chosen:
        summary = summarize(model, position)
        trees.append({"nodes": nodes_of(summary)})
    targets: list[dict[str, Any]] = []
    for position in range(model.n_outputs):
        name = model.target_names[position] if position < len(model.target_names) else None
        target: dict[str, Any] = {"name": name}
        if model.classes:
            target["classes"] = [json_label(label) for label in model.classes[position]]
        targets.append(target)
    together: dict[str, Any] = {}
    if model.boosting is not None:
        together["boosting"] = {"base": list(model.boosting.base), "link": model.boosting.link}
    if model.tree_weights is not None:
        together["tree_weights"] = model.tree_weights.tolist()
    return {
        "format": FORMAT,
        "version": VERSION,
        "task": model.task,
        "criterion": summary.criterion,
        "unseen": model.unseen,
        "missing": model.missing,
        "combine": model.combine,
        "facts": json_fact(model.facts),
        "columns": [column_structure(column) for column in model.schema.columns],
        "targets": targets,
        "trees": trees,
        **together,
    }


def nodes_of(summary: TreeSummary) -> list[dict[str, Any]]:
    """Return every node of a tree, by position."""
    depths = [0] * summary.tree.n_nodes
    parents = summary.tree.parent.tolist()
    for node in range(1, summary.tree.n_nodes):
        depths[node] = depths[parents[node]] + 1
    return [node_structure(summary, node, depths[node]) for node in range(summary.tree.n_nodes)]
