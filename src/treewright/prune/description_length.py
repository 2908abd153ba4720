"""Pruning by description length, and the bits of a test.

The target can be encoded in two parts: a tree, and the rows given the tree. The subtree for which both together take
the fewest bits is kept (Rissanen 1978; Quinlan and Rivest 1989; Mehta, Rissanen and Agrawal 1995).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from treewright.core.elementary import LOG_OF_2, log1p_of, log2_of, log_add_of, log_gamma_of, log_of
from treewright.exceptions import ParameterError
from treewright.grow.by_node.significance import ROUNDED
from treewright.prune.costs import cheapest, checked_number, require_squared_error, row_counts, scaled_weights
from treewright.prune.methods import Decision
from treewright.trees.arrays import INTERVALS, MULTIWAY, SUBSET, THRESHOLD, Tree
from treewright.trees.data import ModelData
from treewright.trees.edit import collapse
from treewright.trees.tests import level_branches, node_cuts, node_levels

_SETTLED = 1e-9  # a fall of the variance by less is none
_EXACT = 1e-12  # of the spread of the root: what sums leave where leaves fit all rows


def description_length(model: ModelData, *, noise: float | None = None) -> Decision:
    """Prune nodes that take no more bits as a leaf than their split and best subtree.

    Parameters
    ----------
    noise : float > 0, optional
        For regression: the standard deviation of what no tree can predict, in units of the target, for a row of average
        weight. By default it is estimated.

    Returns
    -------
    Decision
        Numbers of each cut: ``leaf_bits``, ``subtree_bits`` (of the best subtree); for regression ``noise``.

    Raises
    ------
    ParameterError
        ``noise`` is not above 0, or is given for classification; a regression tree has several outputs, was not grown
        by squared errors, or its numbers have squares beyond float64.

    Notes
    -----
    Every node costs 1 bit, for whether it is a leaf. A split also costs the bits of its test
    (``prune.description_length``).

    Classes: the rows of a leaf cost their stochastic complexity (Mehta et al. 1995): for n rows of k classes, n_i of
    class i,

        sum of n_i log2(n / n_i) + (k - 1)/2 log2(n / 2) + log2(pi^(k/2) / Gamma(k/2)).

    The second and third term, the bits of the class proportions, hold for n well above k; for few rows of many classes
    they would be negative. They grow with n and are exactly log2(k) for one row, so at least log2(k) is counted (a part
    of it for less than one row). Several outputs: the sum of their bits.

    Numbers: a normal distribution around the mean, with one noise variance s2 for the whole tree. The n rows of a leaf
    cost RSS / (2 s2 ln 2) + n/2 log2(2 pi s2) bits, its mean 1/2 log2(n), where RSS is the weighted sum of squares
    around the mean and the weights are scaled to a mean of 1 over all rows of the tree. The bits are relative to a unit
    interval of the target and may be negative; differences, which decide, depend on no unit.

    The noise is estimated from above. It starts as the spread of the root, n - 1 as divisor; the tree for that noise
    has a spread within its leaves (RSS over rows minus leaves), and that is the next noise, until it falls no more.
    So it is the largest noise for which tree and noise agree. If a tree fits all rows exactly, the noise that led to it
    is kept: less would change nothing. The spread within the leaves of the unpruned tree would be far too small: its
    splits were chosen to make it small.

    Classes: n is the weight, and a row of weight 2 counts as two rows, also among the cuts that were possible.
    Numbers: n is the number of rows, and weights only state the precision of each row: the noise variance of a row is
    s2 over its weight. A common factor of all weights changes nothing. If weights counted as copies, whose spread is 0,
    a weight of 2 everywhere would look like a table without noise. Copied rows do count as more rows, and make the
    noise look small. A second pruning prunes nothing more, with the same ``noise``
    or with the estimate: trees for larger noise lie within those for less, and the estimate meets the same ones.

    Mehta et al. also allow some branches of a node to be cut, and code tests in another way.

    References
    ----------
    Mehta, M., Rissanen, J. and Agrawal, R. (1995). MDL-based decision tree pruning. KDD-95, 216-221.
    Quinlan, J. R. and Rivest, R. L. (1989). Inferring decision trees using the minimum description length principle.
    Information and Computation 80, 227-248.
    Rissanen, J. (1978). Modeling by shortest data description. Automatica 14, 465-471.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_breast_cancer
    >>> est = tw.DecisionTreeClassifier().fit(*load_breast_cancer(return_X_y=True))
    >>> est.get_n_leaves(), est.prune("description_length").get_n_leaves()
    (22, 6)
    """
    tree = model.trees[0]
    numbers: dict[str, float] = {}
    if model.task == "regression":
        require_squared_error(model, "description_length", one_output=True)
        table = _Numbers(row_counts(model), scaled_weights(model), np.sqrt(tree.impurity))
        of_split = 1.0 + split_bits(model, table.rows)
        spread = _noise_of(tree, table, of_split) if noise is None else _checked_noise(noise)
        leaf_bits = 1.0 + _bits_of_numbers(table, spread)
        numbers["noise"] = spread
    elif noise is not None:
        raise ParameterError(f"noise={noise!r}: only regression has noise; leave it out for classification")
    else:
        of_split = 1.0 + split_bits(model, tree.weight)
        leaf_bits = 1.0 + _bits_of_classes(model)
    nodes, below = cheapest(tree, leaf_bits, of_split)
    columns = {name: np.full(len(nodes), number) for name, number in numbers.items()}
    columns = {"leaf_bits": leaf_bits[nodes], "subtree_bits": below[nodes], **columns}
    return Decision(collapse(tree, nodes), nodes, columns, used=numbers if noise is None else None)


def _bits_of_classes(model: ModelData) -> np.ndarray:
    """Stochastic complexity of each node's rows, float64[n_nodes]; 0.0 where there are none."""
    tree = model.trees[0]
    bits = np.zeros(tree.n_nodes)
    weight = np.where(tree.n_samples > 0, tree.weight, 1.0)
    start = 0
    for k in model.n_classes:
        counts = tree.value[:, start : start + k]
        start += k
        held = counts > 0
        # log1p of the others, not the log of a quotient: exactly 0.0 at a pure node, never below it.
        others = np.maximum(weight[:, None] - counts, 0.0)
        ratio = np.divide(others, counts, out=np.zeros(counts.shape), where=held)
        bits += (counts * log1p_of(ratio)).sum(axis=1) / LOG_OF_2
        constant = (k / 2 * log_of(math.pi) - log_gamma_of(k / 2)) / LOG_OF_2
        shares = (k - 1) / 2 * log2_of(weight / 2) + constant
        bits += np.maximum(shares, np.minimum(weight, 1.0) * log2_of(k))
    return np.where(tree.n_samples > 0, bits, 0.0)


class _Numbers(NamedTuple):
    """A regression tree for counting bits, an entry per node.

    ``rows`` float64, ``weight`` float64 scaled to a mean of 1 per row, ``spread`` float64 the standard deviation.
    """

    rows: np.ndarray
    weight: np.ndarray
    spread: np.ndarray


def _bits_of_numbers(table: _Numbers, noise: float) -> np.ndarray:
    """Bits of each node's rows and of their mean, float64[n_nodes]; 0.0 where there are none."""
    with np.errstate(over="ignore"):
        misfit = table.weight * (table.spread / noise) ** 2 / (2 * LOG_OF_2)
    if not np.isfinite(misfit).all():
        raise ParameterError(f"noise={noise!r}: too small for the spread of the target; give a larger number")
    density = table.rows * (0.5 * log2_of(2 * math.pi) + log2_of(noise))
    bits = misfit + density + 0.5 * log2_of(np.maximum(table.rows, 1.0))
    return np.where(table.rows > 0, bits, 0.0)


def _checked_noise(noise: Any) -> float:
    """The noise, checked to be a finite number above 0."""
    checked = checked_number("noise", noise)
    if checked == 0.0:
        raise ParameterError(f"noise={noise!r}: give a finite number above 0")
    return checked


def _noise_of(tree: Tree, table: _Numbers, of_split: np.ndarray) -> float:
    """The largest standard deviation of noise that agrees with the tree that it leads to."""
    total = float(table.rows[0])
    # The rounding error of equal rows is no spread: there is nothing more to gain, and the last noise stays.
    rounding = ROUNDED * abs(float(tree.value[0, 0]))
    exact = max(_EXACT * float(table.spread[0]), rounding)
    noise, pruned = math.inf, collapse(tree, [0])
    while True:
        dof = total - pruned.n_leaves
        shares = pruned.weight / float(tree.weight[0])
        spread = math.sqrt(float((shares * pruned.impurity)[pruned.is_leaf].sum()))
        # With no row to spare there is no estimate either.
        if spread <= exact or dof <= 0:
            break
        found = spread * math.sqrt(total / dof)
        if found**2 >= noise**2 * (1 - _SETTLED):
            break
        noise = found
        leaf_bits = 1.0 + _bits_of_numbers(table, noise)
        pruned = collapse(tree, cheapest(tree, leaf_bits, of_split).nodes)
    if noise < math.inf:
        return noise
    return rounding or 1.0  # no spread at all: every noise leads to the same tree


def split_bits(model: ModelData, rows: np.ndarray) -> np.ndarray:
    """Bits of each node's test, float64[n_nodes]: its column, and the choice among the possible tests of that column.

    ``rows`` float64[n_nodes]: number of rows that each node counts as holding. 0.0 at leaves. log2 of the number of
    columns, and log2 of the number of tests of that column:

    - a cut of a number: n - 1 for a node of n rows, as if all values were different; of an ordinal column one less than
      its levels (or its rows, if these are fewer);
    - intervals: the choices of so many cuts from those;
    - a set of levels: 2^(v - 1) for the v levels that the node held;
    - a branch per level: 1. Branches of several levels: the ways to divide the v levels among them, Stirling's S(v, b).

    The missing branch costs nothing.
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
    bits[inner] += log2_of(len(columns))
    return bits


def _choice_bits(n: np.ndarray, k: np.ndarray) -> np.ndarray:
    """log2 of the ways to choose k of n; 0.0 where there is no choice."""
    bits = (log_gamma_of(n + 1) - log_gamma_of(k + 1) - log_gamma_of(np.maximum(n - k, 0) + 1)) / LOG_OF_2
    return np.where(k == 1, log2_of(np.maximum(n, 1.0)), np.where(n > k, bits, 0.0))


@lru_cache(maxsize=4096)
def _grouping_bits(v: int, b: int) -> float:
    """log2 of the ways to divide v levels into b groups."""
    if v == b:
        return 0.0
    # S(n, j) = j S(n - 1, j) + S(n - 1, j - 1), in logarithms, for all j up to b at once.
    ways = np.full(b + 1, -np.inf)
    ways[0] = 0.0
    with np.errstate(divide="ignore"):
        factors = log_of(np.arange(b + 1))
    for _ in range(v):
        ways[1:] = log_add_of(factors[1:] + ways[1:], ways[:-1])
        ways[0] = -np.inf
    return float(ways[b]) / LOG_OF_2
