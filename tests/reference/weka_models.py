"""Trees of Weka's figures as our models: the same questions, and counts or means of the rows that were grown on.

Caller: test_weka_reduced_error.
"""

from __future__ import annotations

import math

import numpy as np
from reference_sets import DataSet

from treewright.data.schema import Column, Schema
from treewright.model import Model
from treewright.trees.arrays import LEAF, MULTIWAY, THRESHOLD, Tree


def model_of(figure, data: DataSet) -> Model:
    """The model of REPTree's tree; rows are sent down as REPTree sends them, a missing cell to every branch in part."""
    is_classes = data.y.dtype.kind == "U"
    names, classes = list(data.X), np.unique(data.y) if is_classes else None
    nodes = [{"figure": figure, "rows": [(row, 1.0) for row in range(len(data.y))], "parent": None}]
    for node in nodes:  # grows as it runs: parents first, siblings side by side
        node["value"] = value_of(node, data.y, classes)
        node["first"] = len(nodes)
        branches = list(node["figure"].get("branches", {}).values())
        parts = divided(node, data) if branches else []
        nodes += [
            {"figure": branch, "rows": part, "parent": node} for branch, part in zip(branches, parts, strict=True)
        ]
    columns = [
        Column(name, "nominal", tuple(data.levels[name]), True, "string")
        if name in data.levels
        else Column(name, "numeric", (), True)
        for name in names
    ]
    return Model(
        task="classification" if is_classes else "regression",
        schema=Schema(tuple(columns), True),
        trees=(flat(nodes, names, data),),
        classes=(classes,) if is_classes else (),
        missing="fractional",
        facts={"criterion": "entropy" if is_classes else "squared_error"},
    )


def value_of(node, y, classes):
    """Class counts, or the mean; those of the parent where there are no rows."""
    rows = node["rows"]
    if not rows:
        return node["parent"]["value"]
    if classes is not None:
        return [sum(weight for row, weight in rows if y[row] == label) for label in classes]
    return [sum(weight * y[row] for row, weight in rows) / sum(weight for _, weight in rows)]


def divided(node, data):
    """The rows of each branch."""
    figure = node["figure"]
    cells, n_branches = data.X[figure["attribute"]], len(figure["branches"])
    answers = {row: answer(figure, cells[row]) for row, _ in node["rows"]}
    known = [sum(weight for row, weight in node["rows"] if answers[row] == branch) for branch in range(n_branches)]
    parts = [[] for _ in range(n_branches)]
    for row, weight in node["rows"]:
        shares = {answers[row]: 1.0} if answers[row] is not None else dict(enumerate(np.array(known) / sum(known)))
        for branch, share in shares.items():
            if share > 0:
                parts[branch].append((row, weight * share))
    return parts


def answer(figure, cell):
    """The branch of a cell; None for a missing one."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return None
    if "threshold" in figure:
        return 0 if cell < figure["threshold"] else 1
    return list(figure["branches"]).index(cell)


def flat(nodes, names, data):
    """The nested nodes as arrays."""
    n = len(nodes)
    arrays = {
        "kind": np.zeros(n, np.uint8),
        "feature": np.full(n, -1, np.int32),
        "threshold": np.zeros(n),
        "first_child": np.full(n, -1, np.int32),
        "n_branches": np.zeros(n, np.int32),
        "missing_branch": np.zeros(n, np.int32),
        "level_set": np.full(n, -1, np.int32),
    }
    entries: list[int] = []
    for at, node in enumerate(nodes):
        figure = node["figure"]
        if "branches" not in figure:
            arrays["kind"][at] = LEAF
            continue
        arrays["feature"][at] = names.index(figure["attribute"])
        arrays["first_child"][at], arrays["n_branches"][at] = node["first"], len(figure["branches"])
        if "threshold" in figure:
            # REPTree asks x < cut, we ask x <= cut: of the number just below.
            arrays["kind"][at], arrays["threshold"][at] = THRESHOLD, np.nextafter(figure["threshold"], -math.inf)
            continue
        arrays["kind"][at], arrays["level_set"][at] = MULTIWAY, len(entries)
        present = {data.X[figure["attribute"]][row] for row, _ in node["rows"]}
        levels = data.levels[figure["attribute"]]
        assert list(figure["branches"]) == levels
        entries += [branch if level in present else ~branch for branch, level in enumerate(levels)]
        entries.append(~0)  # a level never seen
    return Tree(
        **arrays,
        n_samples=np.array([len(node["rows"]) for node in nodes], np.int64),
        weight=np.array([float(sum(weight for _, weight in node["rows"])) for node in nodes]),
        impurity=np.zeros(n),
        value=np.array([node["value"] for node in nodes], np.float64),
        levels_left=np.zeros(0, np.uint64),
        levels_seen=np.zeros(0, np.uint64),
        level_branch=np.array(entries, np.int32),
    )


def figures_of(figure):
    """All nodes of a figure in the order of `model_of`."""
    found = [figure]
    for node in found:  # grows as it runs
        found += node.get("branches", {}).values()
    return found


def questions_of(model, node=0):
    """A tree as the figures show a pruned one: its questions alone."""
    tree = model.trees[0]
    if tree.is_leaf[node]:
        return {}
    column, first = model.schema.columns[tree.feature[node]], int(tree.first_child[node])
    shown = {"attribute": column.name}
    names = column.levels
    if tree.kind[node] == THRESHOLD:
        names = ("<", ">=")
        shown["threshold"] = float(np.nextafter(tree.threshold[node], math.inf))
    return shown | {"branches": {name: questions_of(model, first + at) for at, name in enumerate(names)}}
