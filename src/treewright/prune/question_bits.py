"""What it takes to say a node's question. In: a model, rows. Out: bits per node. Caller: prune.description_length."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from treewright.model.data import ModelData
from treewright.tree.arrays import INTERVALS, MULTIWAY, SUBSET, THRESHOLD
from treewright.tree.tests import level_branches, node_cuts, node_levels


def question_bits(model: ModelData, rows: np.ndarray) -> np.ndarray:
    """Bits of the column and of the choice among the tests that were possible.

    Parameters
    ----------
    model : ModelData
    rows : float64[n_nodes]
        How many rows each node counts as holding.

    Returns
    -------
    float64[n_nodes]
        0.0 at leaves.

    Notes
    -----
    log2 of the number of columns, and log2 of the number of tests of that column:

    - a cut of a number: n - 1 for a node of n rows, as if all values were different; of an ordinal column one less than
      its levels (or its rows, if these are fewer);
    - intervals: the choices of so many cuts from those;
    - a set of levels: 2^(v - 1) for the v levels that the node held;
    - a branch per level: 1. Branches of several levels: the ways to divide the v levels among them, Stirling's S(v, b).

    Where missing values go costs nothing.
    """
    tree, columns = model.trees[0], model.schema.columns
    bits = np.zeros(tree.n_nodes)
    inner = np.flatnonzero(~tree.is_leaf)
    n_levels = np.array([len(column.levels) for column in columns])
    feature = tree.feature[inner]
    n_values = rows[inner].astype(np.float64)
    n_values = np.where(n_levels[feature] > 0, np.minimum(n_values, n_levels[feature]), n_values)
    n_cuts = np.ones(len(inner))
    for at, node in enumerate(inner.tolist()):
        kind, column = tree.kind[node], columns[feature[at]]
        if kind == SUBSET:
            bits[node] = max(int(node_levels(column, tree, node)[1][:-1].sum()) - 1, 0)
        elif kind == MULTIWAY:
            branch, seen = level_branches(column, tree, node)
            held = branch[:-1][seen[:-1]]
            bits[node] = _grouping_bits(len(held), len(np.unique(held)))
        elif kind == INTERVALS:
            n_cuts[at] = np.isfinite(node_cuts(tree, node)).sum()  # the cut before a branch for missing values is inf
    cuts = (tree.kind[inner] == THRESHOLD) | (tree.kind[inner] == INTERVALS)
    bits[inner[cuts]] = _choice_bits(np.maximum(n_values[cuts] - 1, 0.0), n_cuts[cuts])
    bits[inner] += math.log2(len(columns))
    return bits


def _choice_bits(n: np.ndarray, k: np.ndarray) -> np.ndarray:
    """log2 of the ways to choose k of n; 0.0 where there is no choice."""
    bits = (gammaln(n + 1) - gammaln(k + 1) - gammaln(np.maximum(n - k, 0) + 1)) / math.log(2)
    return np.where(k == 1, np.log2(np.maximum(n, 1.0)), np.where(n > k, bits, 0.0))


@lru_cache(maxsize=4096)
def _grouping_bits(v: int, b: int) -> float:
    """log2 of the ways to divide v levels into b groups."""
    if v == b:
        return 0.0
    # S(n, j) = j S(n - 1, j) + S(n - 1, j - 1), in logarithms, for all j up to b at once.
    ways = np.full(b + 1, -np.inf)
    ways[0] = 0.0
    with np.errstate(divide="ignore"):
        factors = np.log(np.arange(b + 1))
    for _ in range(v):
        ways[1:] = np.logaddexp(factors[1:] + ways[1:], ways[:-1])
        ways[0] = -np.inf
    return float(ways[b]) / math.log(2)
