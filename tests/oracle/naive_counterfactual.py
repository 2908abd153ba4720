"""The nearest row with another answer by trial: every combination of every value that any test can tell apart."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np

from treewright.predict.ensemble import predict_leaves
from treewright.predict.fractional import share_path
from treewright.trees.arrays import INTERVALS, THRESHOLD
from treewright.trees.data import ModelData

MAX_ROWS = 150_000


class TooManyRowsError(Exception):
    """The grid is larger than this twin bears."""


def cuts_of_column(model: ModelData, feature: int) -> set[float]:
    """Every cut that a test or a surrogate has on a column."""
    tree = model.trees[0]
    cuts = {float(cut) for cut in tree.threshold[(tree.kind == THRESHOLD) & (tree.feature == feature)]}
    for node in np.flatnonzero((tree.kind == INTERVALS) & (tree.feature == feature)):
        start = tree.level_set[node]
        cuts |= set(tree.cuts[start : start + tree.n_branches[node] - 1].tolist())
    surrogate = (tree.surrogate_feature == feature) & (tree.surrogate_level_set < 0)
    return cuts | set(tree.surrogate_threshold[surrogate].tolist())


def values_of_column(model: ModelData, feature: int) -> list[float]:
    """One value on each side of every cut, the nearest ones; of other columns every level."""
    column = model.schema.columns[feature]
    tree = model.trees[0]
    if feature not in tree.feature and feature not in tree.surrogate_feature:
        return []
    if column.kind != "numeric":
        return [float(code) for code in range(len(column.levels))]
    cuts = {cut for cut in cuts_of_column(model, feature) if math.isfinite(cut)}
    return sorted(cuts | {math.nextafter(cut, math.inf) for cut in cuts} | {0.0})


def distance(model: ModelData, feature: int, before: float, after: float, scales: np.ndarray) -> float:
    kind = model.schema.columns[feature].kind
    if kind == "nominal" or math.isnan(before):
        return 1.0
    return abs(after - before) / (scales[feature] if kind == "numeric" else 1.0)


def ends(model: ModelData, rows: np.ndarray) -> np.ndarray:
    """The leaf of each row; -1 where it ends in several."""
    leaves = predict_leaves(model, rows)
    if model.missing != "fractional":
        return leaves
    largest = np.asarray(share_path(model.trees[0], rows)[np.arange(len(rows)), leaves]).ravel()
    return np.where(largest == 1.0, leaves, -1)


def nearest(
    model: ModelData, cells: np.ndarray, wanted: np.ndarray, keep: frozenset[int], scales: np.ndarray
) -> tuple[int, float, int] | None:
    """Fewest columns, least distance, lowest leaf."""
    free = [at for at in range(len(cells)) if at not in keep]
    values = {at: [each for each in values_of_column(model, at) if each != cells[at]] for at in free}
    for n_changed in range(len(free) + 1):
        found = []
        for columns in combinations(free, n_changed):
            if math.prod(len(values[at]) for at in columns) > MAX_ROWS:
                raise TooManyRowsError
            chosen = list(product(*(values[at] for at in columns)))
            if not chosen:
                continue
            rows = np.tile(cells, (len(chosen), 1))
            rows[:, columns] = chosen
            leaves = ends(model, rows)
            for row in np.flatnonzero((leaves >= 0) & wanted[leaves]):
                far = 0.0
                for at in columns:
                    far += distance(model, at, cells[at], rows[row, at], scales)
                found.append((n_changed, far, int(leaves[row])))
        if found:
            return min(found)
    return None
