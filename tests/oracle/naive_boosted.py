"""Scores of boosted trees, slowly. In: packed trees, bins. Out: scores. Callers: tests of predict.boosted.

One row, one tree, one node at a time; the sum is that of Python's floats in the order of the trees.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treewright.trees.arrays import (
    LEAF_RECORD,
    SUBSET_RECORD,
    child_of,
    column_of,
    cut_of,
    kind_of,
    missing_branch_of,
    set_of,
)
from treewright.trees.packed import PackedTrees


def naive_boosted_scores(
    packed: PackedTrees, base: Sequence[float], codes: np.ndarray, stop: int | None = None
) -> list[list[float]]:
    """Scores of rows of bins, after ``stop`` trees."""
    parts = (kind_of, cut_of, column_of, missing_branch_of, child_of, set_of)
    kind, cut, column, missing, child, chosen = (part(packed.records).tolist() for part in parts)
    sets = [[int(word) for word in words] for words in packed.sets]
    roots, value = packed.roots.tolist(), packed.leaf_value[:, 0].tolist()
    scores = []
    for row in codes.tolist():
        score = [float(each) for each in base]
        for tree, node in enumerate(roots[:-1][:stop]):
            while kind[node] != LEAF_RECORD:
                is_set = kind[node] == SUBSET_RECORD
                cell = row[packed.set_column[chosen[node]] if is_set else column[node]]
                if cell == 255:
                    branch = missing[node]
                elif is_set:
                    branch = 1 - (sets[chosen[node]][cell >> 6] >> (cell & 63) & 1)
                else:
                    branch = int(cell > cut[node])
                node = child[node] + branch
            score[tree % len(score)] += value[child[node]]
        scores.append(score)
    return scores
