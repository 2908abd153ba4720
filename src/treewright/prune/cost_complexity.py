"""Cost-complexity pruning: the nested subtrees, the pruners that choose one, and the losses of rows under each.

The cost of a tree is the cost of its leaves (shares of the training weight), plus alpha for each leaf. For every price
alpha there is a smallest subtree of least cost, and these subtrees are nested (Breiman et al. 1984, section 3.3): the
path lists all of them. Its next step always cuts the weakest link, the node whose subtree lowers the cost least per
leaf.

The path takes 2 ms for a tree of 7,600 leaves (48,000 rows, 36 levels) and 50 ms for one of 48,000 leaves and as many
steps; 1.5 s for a chain of 20,000 levels that is cut level by level, the worst case.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from treewright.core.elementary import log_of, whole_number
from treewright.core.jit import allocating_inner_kernel, allocating_kernel, inner_kernel, kernel
from treewright.exceptions import ParameterError
from treewright.predict.ensemble import leaf_table
from treewright.predict.fractional import Spread, average_leaves, portions_of, rows_with_missing
from treewright.predict.route import branches_of, leaf_of
from treewright.prune.costs import (
    EQUAL,
    Risk,
    costs_in_units,
    decided_risk,
    impurity_share,
    number_of,
    require_true_impurity,
)
from treewright.prune.losses import ABSOLUTE_ERROR, LEAST_SHARE, NUMBERS, row_loss
from treewright.prune.methods import Decision
from treewright.trees.arrays import LEAF, Tree
from treewright.trees.data import ModelData, predicted_codes
from treewright.trees.edit import collapse


class Path(NamedTuple):
    """Nested subtrees, from the largest to the root alone.

    ``alphas`` float64[k], strictly ascending, the first 0.0: the lowest price of a leaf at which each subtree is the
    one wanted. ``collapse_step`` int64[n_nodes]: the first position in these arrays at which a node is no inner node; 0
    for leaves, never less than below it.
    """

    alphas: np.ndarray
    n_leaves: np.ndarray  # int64[k]
    risks: np.ndarray  # float64[k]: cost of each subtree's leaves, as a share of the weight of all rows
    collapse_step: np.ndarray

    def step_at(self, alpha: float) -> int:
        """The step whose subtree is wanted at a price."""
        return int(np.searchsorted(self.alphas, alpha * (1 + EQUAL), side="right")) - 1


def path_of(model: ModelData, risk: Risk = "impurity") -> Path:
    """The whole path in one pass.

    ``risk``: what a leaf costs: its impurity (as in scikit-learn), or its misclassification rate (as in rpart).
    """
    cost, unit = costs_in_units(model, risk)
    if risk == "impurity" or model.task == "regression":
        require_true_impurity(model.trees[0])
    return path_of_costs(model.trees[0], cost, unit)


def path_of_costs(tree: Tree, cost: np.ndarray, unit: float = 1.0) -> Path:
    """The path for a given cost of each node as a leaf.

    ``cost`` float64[n_nodes], >= 0. ``unit`` float > 0: divisor of the path's alphas and risks. With a unit the costs
    can be whole numbers, which are added up without rounding: equal links are then cut in one step.
    """
    if not np.isfinite(cost).all():
        node = int(np.flatnonzero(~np.isfinite(cost))[0])
        raise ParameterError(f"node {node} costs {cost[node]} as a leaf: the costs of a path must be finite")
    n = tree.n_nodes
    # By a power of two, which rounds nothing: sums of the largest numbers stay finite.
    exponent = int(np.frexp(np.abs(cost).max())[1])
    collapse_step = np.full(n, -1, np.int64)
    alphas, risks, n_leaves = np.empty(n + 1), np.empty(n + 1), np.empty(n + 1, np.int64)
    n_steps = weakest_links(
        tree.first_child.astype(np.int64), tree.n_branches.astype(np.int64), tree.parent.astype(np.int64),
        np.ldexp(cost, -exponent), collapse_step, alphas, risks, n_leaves,
    )  # fmt: skip
    alphas, risks = (np.ldexp(numbers[:n_steps], exponent) / unit for numbers in (alphas, risks))
    return Path(alphas, n_leaves[:n_steps].copy(), risks, collapse_step)


def subtree_at(tree: Tree, path: Path, step: int) -> Tree:
    """The subtree of one step, 0 to k - 1."""
    return collapse(tree, np.flatnonzero((path.collapse_step <= step) & ~tree.is_leaf))


def cost_complexity(model: ModelData, *, alpha: float, risk: Risk = "impurity") -> Decision:
    """The smallest subtree of least cost.

    Parameters
    ----------
    alpha : float >= 0
        The price of a leaf, in units of ``risk``. At 0 only splits that do not lower the risk are cut, at infinity all.
    risk : {"impurity", "error"}
        What a leaf costs: its impurity (as in scikit-learn), or its misclassification rate (as in rpart).

    Raises
    ------
    ParameterError
        ``alpha`` is negative, nan or no number, or there is no such risk.
    """
    price = checked_alpha(alpha)
    path = path_of(model, risk)
    return _at_step(model, path, path.step_at(price))


def checked_alpha(alpha: object) -> float:
    """The price of a leaf as a number."""
    price = number_of(alpha)
    if not price >= 0:
        raise ParameterError(f"alpha={alpha!r}: the price of a leaf is a number >= 0")
    return price


def prune_at(tree: Tree, alpha: float) -> Tree:
    """The smallest subtree of least cost at ``alpha`` >= 0, by impurity; at 0 the tree as it is, as in scikit-learn."""
    if alpha == 0.0 or tree.n_nodes == 1:
        return tree
    require_true_impurity(tree)
    path = path_of_costs(tree, impurity_share(tree))
    return subtree_at(tree, path, path.step_at(alpha))


def leaves(model: ModelData, *, max_leaves: int, risk: Risk = "impurity") -> Decision:
    """The largest subtree of the path with at most ``max_leaves`` leaves.

    Parameters
    ----------
    max_leaves : int >= 1
    risk : {"impurity", "error"}

    Raises
    ------
    ParameterError
        ``max_leaves`` is below 1 or not a whole number, or there is no such risk.
    """
    most = whole_number("max_leaves", max_leaves, 1)
    path = path_of(model, risk)
    return _at_step(model, path, int(np.argmax(path.n_leaves <= most)))


def depth(model: ModelData, *, max_depth: int, risk: Risk = "impurity") -> Decision:
    """The largest subtree of the path that is no deeper than ``max_depth``.

    Parameters
    ----------
    max_depth : int >= 0
        Edges from the root to the deepest leaf.
    risk : {"impurity", "error"}

    Raises
    ------
    ParameterError
        ``max_depth`` is below 0 or not a whole number, or there is no such risk.
    """
    most = whole_number("max_depth", max_depth, 0)
    path, tree = path_of(model, risk), model.trees[0]
    # Every inner node at that depth or deeper has to become a leaf.
    too_deep = ~tree.is_leaf & (tree.depth >= most)
    return _at_step(model, path, int(path.collapse_step[too_deep].max(initial=0)))


def _at_step(model: ModelData, path: Path, step: int) -> Decision:
    """The subtree of one step, with a log of the nodes that became its leaves."""
    tree = model.trees[0]
    cut = ~tree.is_leaf & (path.collapse_step <= step)
    ends = np.flatnonzero(cut & (path.collapse_step[np.maximum(tree.parent, 0)] > step))
    if cut[0]:
        ends = np.zeros(1, np.int64)
    steps = path.collapse_step[ends]
    order = np.argsort(steps, kind="stable")
    numbers = {"alpha": path.alphas[steps[order]]}
    return Decision(subtree_at(tree, path, step), ends[order], numbers)


@allocating_kernel
def weakest_links(first_child, n_branches, parent, cost, collapse_step, alphas, risks, n_leaves):
    """Cut the weakest link until the root is alone: int.

    ``first_child``, ``n_branches``, ``parent`` int64[n], IN; ``cost`` float64[n], IN; ``collapse_step`` int64[n], OUT -
    given as -1; ``alphas``, ``risks`` float64[n + 1], OUT; ``n_leaves`` int64[n + 1], OUT. Steps written.

    O(n x depth x log of the branches). Gains are added up anew on the path to the root, not subtracted: the sums of the
    last of 20,000 steps are as accurate as those of the first. The children of a node are added up in pairs, pairs of
    pairs and so on, so that a cut adds up only the pairs it is in.

    Step 0 goes from the leaves up: if a split raises the cost (a user-defined criterion may), the node above it is
    compared with the best subtree below. From then on every link has a gain, and cutting one never makes another weaker
    than it, so that the search for the weakest may begin anywhere in the tree.
    """
    n = len(cost)
    place = _places(first_child, n_branches)
    # By place: what is gained below, the cost of the leaves, their number, and the least gain per leaf of any link.
    gain, below, least = np.zeros(2 * n), np.zeros(2 * n), np.full(2 * n, np.inf)
    size = np.ones(2 * n, np.int64)
    # By node: what the split gains, and what the whole subtree gains per leaf.
    drop, rate = np.zeros(n), np.full(n, np.inf)
    for node in range(n - 1, -1, -1):
        below[place[node]] = cost[node]
        if n_branches[node] == 0:
            collapse_step[node] = 0
            continue
        of_children = 0.0
        for child in range(first_child[node], first_child[node] + n_branches[node]):
            of_children += cost[child]
        drop[node] = cost[node] - of_children
        if abs(drop[node]) <= EQUAL * abs(cost[node]):
            drop[node] = 0.0
        for pair in range(n_branches[node] - 1, 0, -1):
            _add_pair(2 * first_child[node], pair, gain, below, size, least)
        _settle(node, place, first_child, drop, rate, gain, below, size, least)
        if rate[node] == 0.0:
            collapse_step[node] = 0
            _make_leaf(node, place, cost, rate, gain, below, size, least)
    step = 0
    root = place[0]
    alphas[0], risks[0], n_leaves[0] = 0.0, below[root], size[root]
    while size[root] > 1:
        step += 1
        alpha = least[root]
        limit = alpha * (1 + EQUAL)
        while size[root] > 1 and least[root] <= limit:
            node = _weakest(limit, first_child, n_branches, rate, least)
            collapse_step[node] = step
            _make_leaf(node, place, cost, rate, gain, below, size, least)
            while node > 0:
                above = parent[node]
                start = 2 * first_child[above]
                pair = (place[node] - start) // 2
                while pair > 0:
                    _add_pair(start, pair, gain, below, size, least)
                    pair //= 2
                _settle(above, place, first_child, drop, rate, gain, below, size, least)
                node = above
        alphas[step], risks[step], n_leaves[step] = alpha, below[root], size[root]
    for node in range(n):
        if collapse_step[node] < 0:
            # Still an inner node when a node above it was cut.
            collapse_step[node] = collapse_step[parent[node]]
    return step + 1


@allocating_inner_kernel
def _places(first_child, n_branches):
    """Positions of the sums of each node, int64[n]; ``first_child``, ``n_branches`` int64[n].

    The b children of a node, which begin at node f, have the places 2 f + b to 2 f + 2 b - 1. The place 2 f + k, for k
    from 1 to b - 1, holds the sum of the places 2 f + 2 k and 2 f + 2 k + 1; 2 f + 1 holds the sum of all.
    """
    place = np.ones(len(first_child), np.int64)  # of the root: no child's place is below 2
    for node in range(len(first_child)):
        for branch in range(n_branches[node]):
            place[first_child[node] + branch] = 2 * first_child[node] + n_branches[node] + branch
    return place


@inner_kernel
def _add_pair(start, pair, gain, below, size, least):
    """Add up the two places of a pair, for the node whose children's places begin at ``start``.

    ``gain``, ``below``, ``least`` float64[2 n] and ``size`` int64[2 n], by place, as in ``weakest_links``.
    """
    to, one = start + pair, start + 2 * pair
    gain[to] = gain[one] + gain[one + 1]
    below[to] = below[one] + below[one + 1]
    size[to] = size[one] + size[one + 1]
    least[to] = min(least[one], least[one + 1])


@inner_kernel
def _settle(node, place, first_child, drop, rate, gain, below, size, least):
    """Sum up an inner node from all of its children.

    By node ``place``, ``first_child`` int64[n] and ``drop``, ``rate`` float64[n]; by place ``gain``, ``below``,
    ``least`` float64[2 n] and ``size`` int64[2 n].
    """
    to, children = place[node], 2 * first_child[node] + 1
    gain[to] = drop[node] + gain[children]
    below[to] = below[children]
    size[to] = size[children]
    rate[node] = max(gain[to], 0.0) / (size[to] - 1)
    least[to] = min(least[children], rate[node])


@inner_kernel
def _make_leaf(node, place, cost, rate, gain, below, size, least):
    """Cut at a node.

    By node ``place`` int64[n] and ``cost``, ``rate`` float64[n]; by place ``gain``, ``below``, ``least`` float64[2 n]
    and ``size`` int64[2 n].
    """
    at = place[node]
    gain[at], below[at], size[at] = 0.0, cost[node], 1
    rate[node] = least[at] = np.inf


@inner_kernel
def _weakest(limit, first_child, n_branches, rate, least):
    """A node whose link is no stronger than the limit; there must be one.

    ``first_child``, ``n_branches`` int64[n] and ``rate`` float64[n] by node, ``least`` float64[2 n] by place.
    """
    node = 0
    while rate[node] > limit:
        branches, pair = n_branches[node], 1
        while pair < branches:
            pair *= 2
            if least[2 * first_child[node] + pair] > limit:
                pair += 1
        node = first_child[node] + pair - branches
    return node


PathLoss = Literal["misclassification", "log_loss", "squared_error", "absolute_error"]


class PathLosses(NamedTuple):
    """Sums of losses over rows, one for each subtree."""

    loss: np.ndarray  # float64[m]: sum of weight times loss
    square: np.ndarray  # float64[m]: sum of weight times squared loss
    weight: float  # sum of the weights


def path_losses(
    model: ModelData,
    path: Path,
    steps: np.ndarray,
    matrix: np.ndarray,
    truth: np.ndarray,
    weights: np.ndarray,
    loss: PathLoss,
    *,
    codes: tuple[np.ndarray, ...] | None = None,
    scale: float = 1.0,
) -> PathLosses:
    """Losses of rows under several subtrees of a path, in one pass.

    Each node on the path from a row's leaf to the root is the row's leaf for one interval of subtrees. Losses are
    therefore summed per node first, in time proportional to the row's depth, and then added to the subtrees by binary
    intervals. Numbers are only added, never subtracted, so that a subtree without a loss has exactly 0.0.

    ``steps`` int64[m], ascending: which subtrees; a step may be repeated.
    ``truth`` float64[n, n_outputs]: class codes, or numbers already divided by ``scale``.
    ``weights`` float64[n], >= 0.
    ``loss``: of one row: the mean over the outputs. Log loss is of one output.
    ``codes`` tuple of int[n_classes], optional: per output the code in ``truth`` of each of the model's classes; by
    default they are the same.
    ``scale`` float, a power of 2: predictions of numbers are divided by it, so that squares stay within float64.

    O(rows x depth + nodes x log m). Under ``missing="fractional"`` a row with a missing cell is in several leaves and
    its prediction is their average: such rows are predicted with each different subtree, as ``predict`` does.
    """
    tree = model.trees[0]
    first = np.searchsorted(steps, np.arange(len(path.alphas) + 1))
    begin = first[path.collapse_step]
    end = _ends(tree, begin, len(steps))
    apart = rows_with_missing(matrix) if model.missing == "fractional" else np.empty(0, np.int64)
    is_whole = np.ones(len(matrix), bool)
    is_whole[apart] = False
    at_node = np.zeros((tree.n_nodes, 2))
    parent = tree.parent.astype(np.int64)
    leaves = leaf_of(tree, matrix, 1).astype(np.int64)
    table = leaf_table(model)
    content = table.shares if model.task == "classification" else table.values
    for part in _compared(model, truth, loss, codes, scale):
        is_counted, predicted = is_whole & part.is_counted, part.answer(content, table.codes)
        sum_at_nodes(leaves, is_counted, parent, begin, end, predicted, part.truth, weights, part.number, at_node)
    sums = _over_steps(begin, end, at_node, len(steps))
    if len(apart):
        compared = _compared(model, truth[apart], loss, codes, scale)
        _add_divided_rows(model, path, steps, matrix[apart], weights[apart], compared, sums)
    return PathLosses(sums[:, 0].copy(), sums[:, 1].copy(), float(np.sum(weights)))


def risks_along(model: ModelData, path: Path, by_class: np.ndarray | None = None) -> np.ndarray:
    """Errors of the subtrees of a path on the training rows, from the counts in the nodes, float64[k].

    Sums of ``decided_risk`` over the leaves of each subtree.
    """
    tree, n_steps = model.trees[0], len(path.alphas)
    at_node = np.zeros((tree.n_nodes, 2))
    at_node[:, 0] = decided_risk(model, by_class)
    return _over_steps(path.collapse_step, _ends(tree, path.collapse_step, n_steps), at_node, n_steps)[:, 0].copy()


def _ends(tree: Tree, begin: np.ndarray, n_steps: int) -> np.ndarray:
    """The end of the interval of subtrees in which each node is a leaf: the step at which its parent becomes one."""
    return np.where(tree.parent < 0, n_steps, begin[np.maximum(tree.parent, 0)])


def _over_steps(begin: np.ndarray, end: np.ndarray, at_node: np.ndarray, n_steps: int) -> np.ndarray:
    """float64[n_steps, 2]: sums of ``at_node`` over the leaves of each subtree."""
    sums = np.zeros((2 * n_steps, 2))
    lay_over_steps(begin, end, at_node, sums)
    return sums[n_steps:]


class _Compared(NamedTuple):
    """Rows, and the function that makes of a prediction what is compared with their true values.

    ``answer``: takes probabilities or values float64[m, n_values] and their most probable classes int32[m, n_outputs],
    returns what is compared: float64[m, n_outputs].
    """

    is_counted: np.ndarray  # bool[n]
    truth: np.ndarray  # float64[n, n_outputs]
    number: int  # the loss
    answer: Callable[[np.ndarray, np.ndarray], np.ndarray]


def _compared(
    model: ModelData, truth: np.ndarray, loss: PathLoss, codes: tuple[np.ndarray, ...] | None, scale: float
) -> list[_Compared]:
    """The rows, divided into parts that are compared alike.

    Log loss has one part for each class: a prediction has the same loss for all rows of the class, and that loss is
    summed as an absolute distance from 0.
    """
    every = np.ones(len(truth), bool)
    if loss != "log_loss":
        is_classes = model.task == "classification"

        def compared(content: np.ndarray, classes: np.ndarray) -> np.ndarray:
            return _as_truth(model, classes, codes) if is_classes else np.ascontiguousarray(content / scale)

        return [_Compared(every, truth, NUMBERS[loss], compared)]
    known = np.arange(len(model.classes[0])) if codes is None else codes[0]
    zeros = np.zeros((len(truth), 1))
    return [
        _Compared(truth[:, 0] == code, zeros, ABSOLUTE_ERROR, partial(_log_costs, at=np.flatnonzero(known == code)))
        for code in np.unique(truth[:, 0])
    ]


def _log_costs(shares: np.ndarray, _: np.ndarray, *, at: np.ndarray) -> np.ndarray:
    """Log loss of the rows of one class, float64[m, 1]; ``at`` is the column of its probability, or empty."""
    share = shares[:, at[0]] if len(at) else np.zeros(len(shares))
    return -np.asarray(log_of(np.clip(share, LEAST_SHARE, 1.0)))[:, None]


def _as_truth(model: ModelData, predicted: np.ndarray, codes: tuple[np.ndarray, ...] | None) -> np.ndarray:
    """Predicted class codes, in the codes of the true classes."""
    if codes is None:
        return predicted.astype(np.float64)
    columns = [codes[output][predicted[:, output]] for output in range(model.n_outputs)]
    return np.stack(columns, axis=1).astype(np.float64)


def _add_divided_rows(
    model: ModelData,
    path: Path,
    steps: np.ndarray,
    matrix: np.ndarray,
    weights: np.ndarray,
    compared: list[_Compared],
    sums: np.ndarray,
) -> None:
    """Add the rows that are in several leaves, subtree by subtree, to ``sums`` float64[m, 2]."""
    tree, table = model.trees[0], leaf_table(model)
    is_class = model.task == "classification"
    content = table.shares if is_class else table.values
    tables, portions = branches_of(tree), portions_of(tree)
    room = Spread(np.empty(tree.n_nodes, np.int64), np.empty(tree.n_nodes))
    out = np.empty((len(matrix), content.shape[1]))
    rows = np.ascontiguousarray(matrix)
    different, place = np.unique(steps, return_inverse=True)
    added = np.zeros((len(different), 2))
    for at, step in enumerate(different.tolist()):
        # The tree of that step without making it: its leaves have no test.
        kind = np.where(path.collapse_step <= step, np.uint8(LEAF), tables.kind)
        average_leaves(rows, tables._replace(kind=kind), portions, content, room, out)
        classes = predicted_codes(model, out) if is_class else table.codes
        for part in compared:
            some = part.is_counted
            sum_of_rows(part.answer(out, classes)[some], part.truth[some], weights[some], part.number, added[at])
    sums += added[place]


@kernel
def sum_at_nodes(leaves, is_counted, parent, begin, end, predicted, truth, weights, number, at_node):
    """Sum losses and squared losses of the rows at every node that they pass.

    Parameters
    ----------
    leaves : int64[n], IN
    is_counted : bool[n], IN
    parent : int64[n_nodes], IN
    begin, end : int64[n_nodes], IN
        The subtrees in which a node is a leaf; a node without any is skipped.
    predicted : float64[n_nodes, n_outputs], IN
    truth : float64[n, n_outputs], IN
    weights : float64[n], IN
    number : int
        The loss.
    at_node : float64[n_nodes, 2], OUT - given as 0.0
    """
    n_outputs = truth.shape[1]
    for row in range(len(leaves)):
        node = leaves[row] if is_counted[row] else -1
        while node >= 0:
            if begin[node] < end[node]:
                lost = row_loss(truth, row, predicted, node, number) / n_outputs
                at_node[node, 0] += weights[row] * lost
                at_node[node, 1] += weights[row] * lost * lost
            node = parent[node]


@kernel
def lay_over_steps(begin, end, at_node, sums):
    """Add the sums of each node to every subtree in which the node is a leaf.

    ``begin``, ``end`` int64[n_nodes], IN. ``at_node`` float64[n_nodes, 2], IN. ``sums`` float64[2 m, 2], OUT - given as
    0.0: a binary tree of intervals over the m subtrees; their sums are its second half.
    """
    m = len(sums) // 2
    for node in range(len(begin)):
        low, high = begin[node] + m, end[node] + m
        while low < high:
            if low & 1:
                sums[low, 0] += at_node[node, 0]
                sums[low, 1] += at_node[node, 1]
                low += 1
            if high & 1:
                high -= 1
                sums[high, 0] += at_node[node, 0]
                sums[high, 1] += at_node[node, 1]
            low >>= 1
            high >>= 1
    for place in range(1, m):
        for column in range(2):
            sums[2 * place, column] += sums[place, column]
            sums[2 * place + 1, column] += sums[place, column]


@kernel
def sum_of_rows(predicted, truth, weights, number, sums):
    """Add losses and squared losses of rows with a prediction each to ``sums`` float64[2].

    ``predicted``, ``truth`` float64[n, n_outputs], ``weights`` float64[n].
    """
    n_outputs = truth.shape[1]
    for row in range(len(truth)):
        lost = row_loss(truth, row, predicted, row, number) / n_outputs
        sums[0] += weights[row] * lost
        sums[1] += weights[row] * lost * lost
