"""How much of a column counts as a change of 1. In: a tree, or rows. Out: float64[p].

Callers: explain.counterfactual, reporting.
"""

from __future__ import annotations

import numpy as np

from treewright.data.schema import Schema
from treewright.tree.arrays import INTERVALS, THRESHOLD, Tree
from treewright.tree.tests import node_cuts


def scales_of_tree(schema: Schema, tree: Tree) -> np.ndarray:
    """Return the distance between the outermost cuts of each numeric column.

    Returns
    -------
    float64[p]
        Of one cut its size; 1 where that is 0, where there is no cut, and for columns of levels.
    """
    low, high = np.full(len(schema), np.inf), np.full(len(schema), -np.inf)
    one = np.flatnonzero((tree.kind == THRESHOLD) & np.isfinite(tree.threshold))
    np.minimum.at(low, tree.feature[one], tree.threshold[one])
    np.maximum.at(high, tree.feature[one], tree.threshold[one])
    for node in np.flatnonzero(tree.kind == INTERVALS).tolist():
        cuts, feature = node_cuts(tree, node), int(tree.feature[node])
        for cut in cuts[np.isfinite(cuts)][[0, -1]] if np.isfinite(cuts).any() else ():
            low[feature], high[feature] = min(low[feature], cut), max(high[feature], cut)
    with np.errstate(over="ignore", invalid="ignore"):
        scales = np.where(high > low, high - low, np.abs(low))
    numeric = np.array([column.kind == "numeric" for column in schema.columns])
    return np.where(numeric & (scales > 0) & np.isfinite(scales), scales, 1.0)


def scales_of_rows(schema: Schema, matrix: np.ndarray) -> np.ndarray:
    """Return how far the values of each numeric column lie apart.

    Parameters
    ----------
    schema : Schema
    matrix : float[n, p]
        Encoded rows.

    Returns
    -------
    float64[p]
        The median distance from the column's median; where more than half of the rows are equal their mean distance;
        1 where all are, and for columns of levels.
    """
    scales = np.ones(len(schema))
    for feature, column in enumerate(schema.columns):
        cells = matrix[:, feature].astype(np.float64)
        cells = cells[np.isfinite(cells)]
        if column.kind != "numeric" or not len(cells):
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            gone = np.abs(cells - np.median(cells))
            found = [scale for scale in (float(np.median(gone)), float(gone.mean())) if 0 < scale < np.inf]
        scales[feature] = found[0] if found else 1.0
    return scales
