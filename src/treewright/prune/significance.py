"""Pruning by significance.

A split whose branches are leaves stays only if they differ by more than chance. The nodes hold what the test needs: a
table of branches and classes, or the means and variances of the branches.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import chdtrc, fdtrc

from treewright.exceptions import ParameterError
from treewright.grow.by_node.significance import ROUNDED, SPARE
from treewright.prune.costs import cheapest, checked_number, require_squared_error, row_counts
from treewright.prune.methods import Decision
from treewright.trees.arrays import Tree
from treewright.trees.data import ModelData
from treewright.trees.edit import collapse

Adjust = Literal["bonferroni", "holm", "fdr"]
_WITHIN_IS_ROUNDING = 1e-12  # of the squares between: the branches are pure


def significance(model: ModelData, *, max_p_value: float = 0.05, adjust: Adjust | None = None) -> Decision:
    """Prune splits into leaves that are not significant, from the leaves up.

    Parameters
    ----------
    max_p_value : float, 0 to 1
        A split with a larger p-value is cut. A larger limit prunes less: the trees are nested. 1 cuts nothing.
    adjust : {"bonferroni", "holm", "fdr"}, optional
        Adjust the p-values for their number; all inner nodes of the unpruned tree are one family. ``"fdr"`` is the
        step-up of Benjamini and Hochberg.

    Returns
    -------
    Decision
        Numbers of each cut: ``p_value``, ``adjusted_p_value`` (the one that decided), ``statistic``,
        ``degrees_of_freedom`` and, for numbers, ``degrees_of_freedom_within``.

    Raises
    ------
    ParameterError
        An option is outside its range; a regression tree has several outputs, was not grown by squared errors, or its
        numbers have squares beyond float64.

    Notes
    -----
    Classes: Pearson's chi-squared on the table of branches and classes; empty rows and columns are left out. With
    several outputs each has its own table, and the least p-value counts, times their number (Bonferroni).

    Numbers: F of the one-way analysis of variance, the branches as groups. Branches without any spread, but with
    different means, have the p-value 0; without a degree of freedom within (one row in every branch) it is 1.

    Classes: the counts are weights, and a row of weight 2 counts as two rows; weights that do not count rows make
    p-values that mean little. Numbers: the rows are counted, and weights only state the precision of each (the variance
    of a row is one over its weight). A common factor of the weights changes nothing, but copied rows count as more
    rows. The trees of CHAID, which itself treats weights as numbers of rows, are tested in that way as well. Parts of
    divided rows (``missing="fractional"``) count as parts, in rows of average weight.

    The rows also chose the split, so that p-values are too small; ``adjust`` corrects for the number of nodes,
    not for the number of tests that each node chose from.

    A node stays if it or any node below it is significant: Mingers (1987) goes up from the leaves and stops at the
    first significant node. A second pruning with the same options prunes nothing more.

    References
    ----------
    Mingers, J. (1987). Expert systems - rule induction with statistical data. Journal of the Operational Research
    Society 38, 39-47.
    Benjamini, Y. and Hochberg, Y. (1995). Controlling the false discovery rate. Journal of the Royal Statistical
    Society B 57, 289-300.
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6,
    65-70.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_breast_cancer
    >>> est = tw.DecisionTreeClassifier().fit(*load_breast_cancer(return_X_y=True))
    >>> [est.prune("significance", max_p_value=p).get_n_leaves() for p in (0.05, 1e-4)]
    [22, 13]
    """
    limit = checked_number("max_p_value", max_p_value, 0.0, 1.0)
    given: Any = adjust
    if given is not None and not (isinstance(given, str) and given in _ADJUSTMENTS):
        raise ParameterError(f"adjust={adjust!r}: choose bonferroni, holm, fdr or None")
    tree = model.trees[0]
    if model.task == "regression":
        require_squared_error(model, "significance", one_output=True)
        is_chaid = model.facts.get("criterion") == "f_test"
        tests = _f_tests(tree, tree.weight if is_chaid else row_counts(model))
    else:
        tests = _chi_squared_tests(model)
    adjusted = tests.p_value.copy()
    if adjust is not None:
        inner = ~tree.is_leaf
        adjusted[inner] = _ADJUSTMENTS[adjust](tests.p_value[inner])
    # A significant split gains 1, any other 0: a subtree of gain 0 has no significant split at or below its root.
    nodes = cheapest(tree, np.zeros(tree.n_nodes), np.where(adjusted <= limit, -1.0, 0.0)).nodes
    numbers = {
        "p_value": tests.p_value[nodes],
        "adjusted_p_value": adjusted[nodes],
        "statistic": tests.statistic[nodes],
        "degrees_of_freedom": tests.dof[nodes],
    }
    if tests.dof_within is not None:
        numbers["degrees_of_freedom_within"] = tests.dof_within[nodes]
    return Decision(collapse(tree, nodes), nodes, numbers)


class _Tests(NamedTuple):
    """A test of each split: float64[n_nodes] each; p-value 1 and statistic 0 at leaves."""

    p_value: np.ndarray
    statistic: np.ndarray
    dof: np.ndarray
    dof_within: np.ndarray | None = None


def _sums_by_parent(tree: Tree, of_node: np.ndarray) -> np.ndarray:
    """Sums over the branches of each node, in the shape of ``of_node``; branches without rows are left out."""
    sums = np.zeros(of_node.shape)
    held = np.flatnonzero(tree.n_samples[1:] > 0) + 1
    np.add.at(sums, tree.parent[held], of_node[held])
    return sums


def _chi_squared_tests(model: ModelData) -> _Tests:
    """Pearson's chi-squared of each split; with several outputs the least p-value, times their number."""
    tree = model.trees[0]
    n_groups = _sums_by_parent(tree, np.ones(tree.n_nodes))
    parent = np.maximum(tree.parent, 0)  # the root's own share of its sums is never read
    found: list[_Tests] = []
    start = 0
    for n_classes in model.n_classes:
        counts = tree.value[:, start : start + n_classes]
        totals = _sums_by_parent(tree, counts)
        weight = totals.sum(axis=1)
        shares = totals / np.where(weight > 0, weight, 1.0)[:, None]
        expected = counts.sum(axis=1)[:, None] * shares[parent]
        difference = counts - expected
        parts = difference * np.divide(difference, expected, out=np.zeros(counts.shape), where=expected > 0)
        statistic = _sums_by_parent(tree, parts.sum(axis=1))
        dof = np.maximum(n_groups - 1, 0.0) * np.maximum((totals > 0).sum(axis=1) - 1, 0)
        p_value = np.where(dof > 0, chdtrc(np.maximum(dof, 1.0), statistic), 1.0)
        found.append(_Tests(p_value, np.where(dof > 0, statistic, 0.0), dof))
        start += n_classes
    p_values = np.stack([each.p_value for each in found])
    least, at = p_values.argmin(axis=0), np.arange(tree.n_nodes)
    return _Tests(
        np.minimum(p_values[least, at] * len(found), 1.0),
        np.stack([each.statistic for each in found])[least, at],
        np.stack([each.dof for each in found])[least, at],
    )


def _f_tests(tree: Tree, rows: np.ndarray) -> _Tests:
    """F statistic of each split: the spread between the means of the branches over that within them.

    ``rows`` float64[n_nodes] are the numbers of rows that the nodes count as holding.
    """
    weight, mean = tree.weight / tree.weight[0], tree.value[:, 0]
    n_groups, total = _sums_by_parent(tree, np.ones(tree.n_nodes)), _sums_by_parent(tree, weight)
    n_rows = _sums_by_parent(tree, rows)
    # Differences from the parent's mean, corrected for its rounding: no large numbers are left.
    apart = mean - mean[np.maximum(tree.parent, 0)]
    off = _sums_by_parent(tree, weight * apart) / np.where(total > 0, total, 1.0)
    apart -= off[np.maximum(tree.parent, 0)]
    between = _sums_by_parent(tree, weight * apart**2)
    within = _sums_by_parent(tree, weight * tree.impurity)
    held = np.flatnonzero(tree.n_samples[1:] > 0) + 1
    lowest, highest = np.full(tree.n_nodes, np.inf), np.full(tree.n_nodes, -np.inf)
    np.minimum.at(lowest, tree.parent[held], mean[held])
    np.maximum.at(highest, tree.parent[held], mean[held])
    largest = np.maximum(np.abs(lowest), np.abs(highest))
    dof, dof_within = np.maximum(n_groups - 1, 0.0), np.maximum(n_rows - n_groups, 0.0)
    differ = (dof > 0) & (dof_within > SPARE * n_rows)
    differ[differ] = (highest - lowest)[differ] > ROUNDED * largest[differ]
    pure = differ & (within <= _WITHIN_IS_ROUNDING * between)
    usual = differ & ~pure
    statistic = np.where(pure, np.inf, 0.0)
    statistic[usual] = between[usual] / dof[usual] / (within[usual] / dof_within[usual])
    p_value = np.where(pure, 0.0, 1.0)
    p_value[usual] = fdtrc(dof[usual], dof_within[usual], statistic[usual])
    return _Tests(p_value, statistic, dof, dof_within)


def _bonferroni(p_values: np.ndarray) -> np.ndarray:
    """Bonferroni's adjustment: each p-value times their number."""
    return np.minimum(p_values * len(p_values), 1.0)


def _holm(p_values: np.ndarray) -> np.ndarray:
    """Holm's adjustment: the k-th least times the number not below it, and never below an earlier one."""
    order = np.argsort(p_values, kind="stable")
    stepped = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return adjusted


def _fdr(p_values: np.ndarray) -> np.ndarray:
    """Benjamini and Hochberg's adjustment: the k-th least times their number over k, and never above a later one."""
    order = np.argsort(p_values, kind="stable")
    stepped = p_values[order] * (len(p_values) / np.arange(1, len(p_values) + 1))
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.minimum.accumulate(stepped[::-1])[::-1], 1.0)
    return adjusted


_ADJUSTMENTS = {"bonferroni": _bonferroni, "holm": _holm, "fdr": _fdr}
