"""Random models with their nested trees: for pruners and their twins. In: a seed. Out: a model, its root, its table.

A nested node is that of ``random_trees``: ``children``, ``rows`` as pairs (row, weight), ``test``, ``at`` its position.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from treewright.trees.data import ModelData

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "predict"))
from random_trees import SCHEMA, Node, flat, grow_at_random, random_matrix


class Random(NamedTuple):
    """A model, the same tree nested, and the target of its rows (``float64[n, n_outputs]``, or class codes)."""

    model: ModelData
    root: Node
    target: np.ndarray
    matrix: np.ndarray


def nodes_of(root: Node) -> list[Node]:
    """All nodes, parents first."""
    nodes = [root]
    for node in nodes:  # grows as it runs
        nodes += node["children"]
    return nodes


def draw(seed: int, task: str, *, n_outputs: int = 1, weights: tuple[float, ...] = (1.0, 2.0), absent: float = 0.0):
    """A random model.

    Rows with missing cells are divided (``missing="fractional"``). The target follows two columns, so that some splits
    are worth keeping.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 90))
    matrix = random_matrix(rng, n, absent)
    known = np.nan_to_num(matrix)
    signal = (known[:, :1] > 5) + (known[:, 2:3] > 1) * 1.0
    if task == "classification":
        blurred = signal + rng.integers(-1, 2, (n, n_outputs)) * (rng.random((n, n_outputs)) < rng.choice([0.1, 0.6]))
        target: np.ndarray = np.clip(blurred, 0, 2).astype(np.int64)
    else:
        target = np.round(signal + rng.normal(size=(n, n_outputs)) * rng.choice([0.05, 0.3, 2.0]), 2)
    rows = [(row, float(weight)) for row, weight in enumerate(rng.choice(weights, n))]
    codes = target[:, 0] if task == "classification" else np.zeros(n, np.int64)
    root = grow_at_random(rng, matrix, codes, rows, depth=int(rng.integers(0, 7)), own=bool(rng.random() < 0.5))
    tree = flat(root, matrix)
    held = [held_by(node, target, task) for node in nodes_of(root)]
    parent = tree.parent
    for at in range(1, tree.n_nodes):
        if not tree.n_samples[at]:
            held[at] = held[parent[at]]
    value = np.array([values for values, _ in held])
    tree = replace(tree, value=value, impurity=np.array([impurity for _, impurity in held]))
    facts: dict[str, Any] = {"criterion": "gini" if task == "classification" else "squared_error"}
    classes = (np.arange(3),) * n_outputs if task == "classification" else ()
    missing: Any = "fractional" if absent else "branch"
    model = ModelData(task, SCHEMA, (tree,), classes, n_outputs, missing=missing, facts=facts)  # type: ignore
    return Random(model, root, target, matrix)


def held_by(node: Node, target: np.ndarray, task: str) -> tuple[list[float], float]:
    """Value and impurity of a node with rows."""
    rows = node["rows"]
    if not rows:
        return [], 0.0
    total = sum(weight for _, weight in rows)
    values: list[float] = []
    impurity = 0.0
    for output in range(target.shape[1]):
        if task == "classification":
            counts = [sum(weight for row, weight in rows if target[row, output] == label) for label in range(3)]
            values += counts
            impurity += 1 - sum((count / total) ** 2 for count in counts)
        else:
            mean = sum(weight * target[row, output] for row, weight in rows) / total
            values.append(mean)
            impurity += sum(weight * (target[row, output] - mean) ** 2 for row, weight in rows) / total
    return values, impurity / target.shape[1]
