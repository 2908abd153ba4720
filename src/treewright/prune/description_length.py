"""Pruning by description length. In: a tree. Out: ``Decision``. Caller: prune.door.

Whoever knows the columns can be told the target in two parts: a tree, and the rows given the tree. The subtree for
which both together take the fewest bits is kept (Rissanen 1978; Quinlan and Rivest 1989; Mehta, Rissanen and Agrawal
1995).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treewright.exceptions import ParameterError
from treewright.prune.backward import cheapest
from treewright.prune.decision import Decision
from treewright.prune.question_bits import question_bits
from treewright.prune.requirements import checked_number, require_squared_error
from treewright.tree.arrays import Tree
from treewright.tree.edit import collapse
from treewright.tree.model import ModelData

_SETTLED = 1e-9  # a fall of the variance by less is none


def description_length(model: ModelData, *, noise: float | None = None) -> Decision:
    """Cut where a leaf takes no more bits than the split and the best below.

    Parameters
    ----------
    model : ModelData
    noise : float > 0, optional
        For numbers: the standard deviation of what no tree could tell, in units of the target. Default: estimated.

    Returns
    -------
    Decision
        Numbers of each cut: ``leaf_bits``, ``subtree_bits`` of the split and the best below, and for numbers ``noise``.

    Raises
    ------
    ParameterError
        ``noise`` is not above 0, is given for classes, or cannot be estimated (weights of one row or less); a
        regression tree has several outputs or was not grown by squared errors.

    Notes
    -----
    Every node costs 1 bit, which says whether it is a leaf. A split costs the bits of its question as well
    (``prune.question_bits``).

    Classes: the rows of a leaf cost their stochastic complexity (Mehta et al. 1995): for n rows of k classes, n_i of
    class i,

        sum of n_i log2(n / n_i) + (k - 1)/2 log2(n / 2) + log2(pi^(k/2) / Gamma(k/2)).

    The second and third term, what the shares of the classes cost, hold for n well above k; for few rows of many
    classes they would fall below 0. They grow with n and are exactly log2(k) for one row, so less than that (a part
    of it for less than one row) is not counted. Several outputs: the sum of their bits.

    Numbers: a normal distribution around the mean, with one noise variance s2 for the whole tree. The rows of a leaf
    cost RSS / (2 s2 ln 2) + n/2 log2(2 pi s2) bits, its mean 1/2 log2(n). The bits are relative to a unit interval of
    the target and may be negative; differences, which decide, depend on no unit.

    The noise is estimated from above. It starts as the spread of the root, n - 1 as divisor; the tree for that noise
    has a spread within its leaves (RSS over rows minus leaves), and that is the next noise, until it falls no more.
    So it is the largest noise for which tree and noise agree. Where a tree fits all rows exactly it is the noise that
    led there: less would change nothing. The spread within the leaves of the tree as it was
    grown would be far too small: growing chose the splits to make it small.

    n is the weight: a row of weight 2 counts as two rows. A second pruning cuts nothing more, with the same ``noise``
    or with the estimate: trees for larger noise lie within those for less, and the estimate meets the same ones.

    Mehta et al. also allow some branches of a node to be cut, and code questions otherwise.

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
    of_split = 1.0 + question_bits(model)
    numbers = {}
    if model.task == "regression":
        require_squared_error(model, "description_length", one_output=True)
        spread = _noise_of(tree, of_split) if noise is None else _checked_noise(noise)
        leaf_bits = 1.0 + _bits_of_numbers(tree, spread)
        numbers["noise"] = spread
    elif noise is not None:
        raise ParameterError(f"noise={noise!r}: only numbers have noise; leave it out for classes")
    else:
        leaf_bits = 1.0 + _bits_of_classes(model)
    nodes, below = cheapest(tree, leaf_bits, of_split)
    columns = {name: np.full(len(nodes), number) for name, number in numbers.items()}
    columns = {"leaf_bits": leaf_bits[nodes], "subtree_bits": below[nodes], **columns}
    return Decision(collapse(tree, nodes), nodes, columns)


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
        bits += (counts * np.log1p(ratio)).sum(axis=1) / math.log(2)
        constant = (k / 2 * math.log(math.pi) - math.lgamma(k / 2)) / math.log(2)
        shares = (k - 1) / 2 * np.log2(weight / 2) + constant
        bits += np.maximum(shares, np.minimum(weight, 1.0) * math.log2(k))
    return np.where(tree.n_samples > 0, bits, 0.0)


def _bits_of_numbers(tree: Tree, noise: float) -> np.ndarray:
    """Bits of each node's rows and of their mean, float64[n_nodes]; 0.0 where there are none."""
    with np.errstate(over="ignore"):
        misfit = tree.weight * (np.sqrt(tree.impurity) / noise) ** 2 / (2 * math.log(2))
    if not np.isfinite(misfit).all():
        raise ParameterError(f"noise={noise!r}: too small for values that lie so far apart; give a larger one")
    density = tree.weight * (0.5 * math.log2(2 * math.pi) + math.log2(noise))
    bits = misfit + density + 0.5 * np.log2(np.maximum(tree.weight, 1.0))
    return np.where(tree.n_samples > 0, bits, 0.0)


def _checked_noise(noise: Any) -> float:
    """The noise that was given: a finite number above 0."""
    checked = checked_number("noise", noise)
    if checked == 0.0:
        raise ParameterError(f"noise={noise!r}: give a finite number above 0")
    return checked


def _noise_of(tree: Tree, of_split: np.ndarray) -> float:
    """The largest standard deviation of noise that agrees with the tree that it leads to."""
    total = float(tree.weight[0])
    if total <= 1:
        raise ParameterError(
            f"the noise cannot be estimated: weights of {total:g} in all are no more than one row; give noise=, the "
            "standard deviation"
        )
    # What rounding leaves of equal rows is no spread: then there is nothing more to gain, and the last noise stays.
    exact = 1e-24 * total * (float(tree.impurity[0]) + float(tree.value[0, 0]) ** 2)
    variance, pruned = math.inf, collapse(tree, [0])
    while True:
        dof = total - pruned.n_leaves
        squares = float((pruned.weight * pruned.impurity)[pruned.is_leaf].sum())
        # With no row to spare there is no estimate either.
        if squares <= exact or dof <= 0 or squares / dof >= variance * (1 - _SETTLED):
            break
        variance = squares / dof
        leaf_bits = 1.0 + _bits_of_numbers(tree, math.sqrt(variance))
        pruned = collapse(tree, cheapest(tree, leaf_bits, of_split).nodes)
    return math.sqrt(variance) if variance < math.inf else 1.0  # no spread at all: every noise leads to the same tree
