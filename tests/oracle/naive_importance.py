"""A slow and plain twin of ``forest.importance``: a row at a time, from what an estimator says of its trees.

It knows a forest by its trees as models (``estimators_``), the rows that each drew (``estimators_samples_``) and the
table as it was given: no bins, no leaf table.
"""

from __future__ import annotations

import numpy as np
from naive_draws import below, seed_of


def rows_left_out(forest, tree: int, n: int) -> list[int]:
    drawn = set(forest.estimators_samples_[tree].tolist())
    return [row for row in range(n) if row not in drawn]


def shuffled(seed: int, tree: int, column: int, n: int) -> list[int]:
    """Which row's cell each row gets: draw one of those that are left, again and again."""
    state = seed_of(seed_of(seed, tree, 1), column, 1)
    order = list(range(n))
    for at in range(n):
        other = at + below(state, at, n - at)
        order[at], order[other] = order[other], order[at]
    return order


def error(tree, table: dict, rows: list[int], y, weights) -> float:
    """Weighted share of wrong answers, or weighted mean of the squared error."""
    said = tree.predict({name: [cells[row] for row in rows] for name, cells in table.items()})
    total = whole = 0.0
    for place, row in enumerate(rows):
        pairs = list(zip(np.atleast_1d(said[place]), np.atleast_1d(y[row]), strict=True))
        wrong = [float(a != b) if tree.task == "classification" else (a - b) ** 2 for a, b in pairs]
        total += weights[row] * sum(wrong) / len(wrong)
        whole += weights[row]
    return total / whole


def permutation(forest, table: dict, y, weights, seed: int, *, all_rows: bool = False) -> list[list[float]]:
    """Of each tree that has rows to be judged on, the rise of its error for each column."""
    n, found = len(y), []
    for number, tree in enumerate(forest.estimators_):
        rows = list(range(n)) if all_rows else rows_left_out(forest, number, n)
        if not rows:
            continue
        before, rises = error(tree, table, rows, y, weights), []
        for at, name in enumerate(table):
            order = shuffled(seed, number, at, len(rows))
            mixed = list(table[name])
            for place, row in enumerate(rows):
                mixed[row] = table[name][rows[order[place]]]
            rises.append(error(tree, {**table, name: mixed}, rows, y, weights) - before)
        found.append(rises)
    return found


def as_vectors(y, classes) -> np.ndarray:
    """The target as numbers: of classes a column of 0 and 1 for each."""
    columns = np.asarray(y).reshape(len(y), -1)
    if not classes:
        return columns.astype(float)
    return np.concatenate(
        [columns[:, [at]] == labels[None, :] for at, labels in enumerate(classes)], axis=1
    ).astype(float)  # fmt: skip


def debiased(forest, table: dict, y, weights, *, on_training_rows: bool = False) -> list[list[float]]:
    """Of each tree, the mean of f_k(x) y over rows it did not draw: Li et al. 2019, equation (7), as written there.

    f_k(x): along the way of x, wherever column k is asked, the mean of the branch taken less that of the node. With
    ``on_training_rows`` it is the mean over the tree's own rows.
    """
    vectors, n, found = as_vectors(y, forest.model_.classes), len(y), []
    for number, tree in enumerate(forest.estimators_):
        arrays, path = tree.trees[0], tree.decision_path(table)
        drawn = forest.estimators_samples_[number].tolist()
        nodes_of = [path[row].indices.tolist() for row in range(n)]
        held: dict[int, list[np.ndarray]] = {}
        for row in drawn:
            for node in nodes_of[row]:
                held.setdefault(node, []).append(vectors[row])
        mean = {node: np.mean(rows, axis=0) for node, rows in held.items()}
        rows = drawn if on_training_rows else rows_left_out(forest, number, n)
        if not rows:
            continue
        shares, squares = [0.0] * len(table), 0.0
        for row in rows:
            weight = 1.0 if on_training_rows else weights[row]
            about = vectors[row] - mean[0]
            squares += weight * float(about @ about)
            for node, child in zip(nodes_of[row], nodes_of[row][1:], strict=False):
                shares[arrays.feature[node]] += weight * float((mean[child] - mean[node]) @ about)
        found.append([share / squares if squares else 0.0 for share in shares])
    return found
