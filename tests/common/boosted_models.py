"""Boosted models of random trees, trees with weights, and what they say, read off slowly."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from random_forests import SCHEMA, random_forest

from treewright.model import Model
from treewright.trees.arrays import LEAF, THRESHOLD, Tree
from treewright.trees.data import Boosting, Link
from treewright.trees.packed import PackedTrees, join, leaf_samples_of, take

# Link, classes of each output, outputs.
CASES: dict[str, tuple[Link, tuple[int, ...], int]] = {
    "number": ("identity", (), 1),
    "two numbers": ("identity", (), 2),
    "rates": ("log", (), 1),
    "three quantiles": ("sorted", (), 3),
    "two classes": ("classes", (2,), 1),
    "four classes": ("classes", (4,), 1),
    "one class": ("classes", (1,), 1),
    "several outputs": ("classes", (3, 2, 1), 3),
}


def on_gradients(rng: np.random.Generator, packed: PackedTrees, scale: float = 0.3) -> PackedTrees:
    """The same tests with leaves that add, covers for weights, gains for importances."""
    n = len(packed.leaf_value)
    cover = rng.random(n) * 9 + 0.01
    samples = np.array(leaf_samples_of(packed))
    gains = rng.random((packed.n_trees, packed.bins.n_columns)) * 50
    gains[rng.random(gains.shape) < 0.3] = 0.0
    found = replace(
        packed,
        criterion="gradient",
        leaf_value=rng.normal(size=(n, 1)) * scale,
        leaf_weight=cover,
        leaf_impurity=np.zeros(n),
        leaf_samples=samples,
        importances=gains,
    )
    return take(found, range(packed.n_trees))  # in the canonical form


def boosted(rng: np.random.Generator, case: str, *, n_rounds: int = 4, n_rows: int = 40, scale: float = 0.3) -> Model:
    """A model of random trees; labels are a, b, c, ..."""
    link, n_classes, n_outputs = CASES[case]
    n_scores = sum(count if count > 2 else 1 for count in n_classes) or n_outputs
    packed = random_forest(rng, SCHEMA, (), n_trees=n_rounds * n_scores, n_rows=n_rows)
    return Model(
        "classification" if n_classes else "regression",
        SCHEMA,
        on_gradients(rng, packed, scale),
        tuple(np.array([chr(97 + code) for code in range(k)]) for k in n_classes),
        n_outputs=n_outputs,
        combine="sum",
        unseen="majority",
        boosting=Boosting(tuple(rng.normal(size=n_scores).tolist()), link),
        facts={"algorithm": "gradient_boosting", "criterion": "gradient", "loss": "squared_error"},
    )


def weighted(rng: np.random.Generator, combine: str, *, n_trees: int = 5, n_classes: tuple[int, ...] = (3,)) -> Model:
    """Trees that are not packed, with weights; some weigh nothing."""
    counts = n_classes if combine == "vote" else ()
    packed = join([random_forest(rng, SCHEMA, counts, n_trees=n_trees, n_rows=40)])
    weights = rng.random(n_trees) * 3
    weights[rng.random(n_trees) < 0.2] = 0.0
    weights[-1] += 0.5
    return Model(
        "classification" if counts else "regression",
        SCHEMA,
        tuple(packed),
        tuple(np.array([chr(97 + code) for code in range(k)]) for k in counts),
        n_outputs=len(counts) or 1,
        combine=combine,  # type: ignore[arg-type]
        unseen="majority",
        tree_weights=weights,
        facts={"algorithm": "adaboost"},
    )


@lru_cache(maxsize=4)
def trees_of(model: Model) -> tuple[Tree, ...]:
    """All trees, unpacked once."""
    return tuple(model.trees)


def naive_leaf(tree: Tree, row: np.ndarray) -> int:
    """Where one row ends."""
    node = 0
    while tree.kind[node] != LEAF:
        x = row[tree.feature[node]]
        if math.isnan(x):
            branch = int(tree.missing_branch[node])
        elif tree.kind[node] == THRESHOLD:
            branch = int(x > tree.threshold[node])
        else:
            word = int(tree.levels_left[tree.level_set[node] + (int(x) >> 6)])
            branch = 1 - (word >> (int(x) & 63) & 1)
        node = int(tree.first_child[node]) + branch
    return node


def naive_scores(model: Model, row: np.ndarray, n_rounds: int | None = None) -> list[float]:
    """The base, and what each leaf adds, in the order of the trees."""
    assert model.boosting is not None
    scores = list(model.boosting.base)
    k = len(scores)
    for at, tree in enumerate(trees_of(model)[: None if n_rounds is None else n_rounds * k]):
        scores[at % k] += float(tree.value[naive_leaf(tree, row), 0])
    return scores


def naive_answer(model: Model, scores: list[float]) -> list[float]:
    """What scores mean, with the formulas of the textbook."""
    assert model.boosting is not None
    link = model.boosting.link
    if link == "identity":
        return scores
    if link == "log":
        return [math.exp(score) for score in scores]
    if link == "sorted":
        return sorted(scores)
    shares: list[float] = []
    waiting = list(scores)
    for count in model.n_classes:
        held = [waiting.pop(0) for _ in range(count if count > 2 else 1)]
        if count == 1:
            shares.append(1.0)
        elif count == 2:
            shares += [1 / (1 + math.exp(held[0])), 1 / (1 + math.exp(-held[0]))]
        else:
            whole = sum(math.exp(score) for score in held)
            shares += [math.exp(score) / whole for score in held]
    return shares


def naive_vote(model: Model, row: np.ndarray, n_trees: int) -> list[float]:
    """Shares of the weight of the first trees that vote for each class."""
    weights = np.asarray(model.tree_weights)[:n_trees].tolist()
    if not any(weights):
        weights = [1.0] * n_trees
    sums = [0.0] * sum(model.n_classes)
    for weight, tree in zip(weights, model.trees, strict=False):
        held = tree.value[naive_leaf(tree, row)].tolist()
        begin = 0
        for count in model.n_classes:
            part = held[begin : begin + count]
            sums[begin + part.index(max(part))] += weight
            begin += count
    return [each / sum(weights) for each in sums]


def naive_median(model: Model, row: np.ndarray, n_trees: int) -> float:
    """The first prediction, in ascending order, that has half the weight with those before it."""
    weights = np.asarray(model.tree_weights)[:n_trees].tolist()
    if not any(weights):
        weights = [1.0] * n_trees
    said = [float(tree.value[naive_leaf(tree, row), 0]) for tree, _ in zip(model.trees, weights, strict=False)]
    reached = 0.0
    order = sorted(range(n_trees), key=lambda at: said[at])
    whole = sum(weights[at] for at in order)
    for at in order:
        reached += weights[at]
        if reached >= 0.5 * whole:
            return said[at]
    raise AssertionError


def table_of(matrix: np.ndarray) -> dict[str, Any]:
    """Encoded rows as a table that a model takes; a level that fit never saw is "new"."""
    return {
        column.name: [
            None if math.isnan(x) else ([*column.levels, "new"][int(x)] if column.levels else x) for x in cells
        ]
        for column, cells in zip(SCHEMA.columns, matrix.T.tolist(), strict=True)
    }
