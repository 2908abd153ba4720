"""What many trees say, read off slowly: one row, one tree, one node at a time.

The twin knows nothing of records, bins or lanes: it asks the unpacked trees with the encoded numbers themselves.
"""

from __future__ import annotations

import math

import numpy as np

from treewright.model import Model
from treewright.trees.arrays import LEAF, THRESHOLD, Tree


def naive_leaf(tree: Tree, row: np.ndarray) -> int:
    """Where one row ends."""
    node = 0
    while tree.kind[node] != LEAF:
        x = row[tree.feature[node]]
        if math.isnan(x):
            branch = tree.missing_branch[node]
        elif tree.kind[node] == THRESHOLD:
            branch = int(x > tree.threshold[node])
        else:
            word = int(tree.levels_left[tree.level_set[node] + (int(x) >> 6)])
            branch = 1 - (word >> (int(x) & 63) & 1)
        node = int(tree.first_child[node]) + int(branch)
    return node


def naive_leaves(model: Model, matrix: np.ndarray) -> np.ndarray:
    """int64[n, n_trees]: where each row ends in each tree."""
    trees = tuple(model.trees)
    return np.array([[naive_leaf(tree, row) for tree in trees] for row in matrix], np.int64)


def naive_answers(model: Model, matrix: np.ndarray) -> list[list[float]]:
    """What the trees say together: shares of the classes, shares of the votes, or numbers; sums in tree order."""
    trees = tuple(model.trees)
    widths = model.n_classes or (1,) * model.n_outputs
    answers = []
    for row in matrix:
        sums = [0.0] * sum(widths)
        for tree in trees:
            value = tree.value[naive_leaf(tree, row)].tolist()
            begin = 0
            for width in widths:
                part = value[begin : begin + width]
                if model.combine == "vote":
                    part = [float(at == part.index(max(part))) for at in range(width)]
                elif model.n_classes:
                    whole = sum(part)
                    part = [count / whole for count in part]
                for at in range(width):
                    sums[begin + at] += part[at]
                begin += width
        answers.append([each / len(trees) for each in sums])
    return answers
