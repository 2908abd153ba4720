"""The leaves of a grown tree. In: nodes, gradients. Out: the leaf of each row, exact sums, values.

Values come from the gradients themselves, not from their words: in sums of 62 bits, which no order changes.
"""

from __future__ import annotations

import math

import numpy as np

from treewright.core.jit import inner_kernel, kernel
from treewright.data.bins import MISSING_BIN
from treewright.grow.gradient.splitting import value_of
from treewright.grow.gradient.words import scales_of_sums, sizes_of


@inner_kernel
def find_leaves(n, nodes, grown):
    """Write numbers and rows of the leaves; returns how many there are.

    Parameters
    ----------
    n : int
        Nodes.
    nodes, grown
        IN, OUT; see ``layout``.
    """
    n_leaves = np.int64(0)
    for node in range(n):
        if nodes.first_child[node] < 0:
            grown.leaves[n_leaves] = node
            grown.begins[n_leaves], grown.ends[n_leaves] = nodes.begin[node], nodes.end[node]
            n_leaves += 1
    return n_leaves


@kernel
def list_leaves(n, nodes, grown):
    """As ``find_leaves``."""
    return find_leaves(n, nodes, grown)


@inner_kernel
def write_leaves(order, begins, ends, first, last, leaf_of):
    """Write the leaf of each row.

    With it sums and scores are computed row by row: 4.5 ns a row in all; leaf by leaf took 9.6.

    Parameters
    ----------
    order : int32[2 n], IN
        Rows; those of a leaf are together.
    begins, ends : int32[k], IN
        Range of each leaf's rows in ``order``.
    first, last : int
        Leaves ``first`` to ``last - 1``.
    leaf_of : uint8[n] or int32[n], OUT
        The leaf of each of their rows.
    """
    for leaf in range(first, last):
        for at in range(begins[leaf], ends[leaf]):
            leaf_of[np.uintp(order[at])] = leaf


@kernel
def note_leaves(order, begins, ends, first, last, leaf_of):
    """As ``write_leaves``."""
    write_leaves(order, begins, ends, first, last, leaf_of)


@inner_kernel
def number_leaves(first_child, place):
    """Write the leaf number of each node that is a leaf. ``first_child``, ``place`` int32[n_nodes]."""
    n_leaves = np.int32(0)
    for node in range(len(first_child)):
        if first_child[node] < 0:
            place[node] = n_leaves
            n_leaves += np.int32(1)


@inner_kernel
def leaf_node_of(codes, row, first_child, column, cut, missing_branch, is_set, sets):
    """The leaf that a row ends in, as a node; parameters as in ``leaves_of_codes``."""
    node = np.uintp(0)
    while first_child[node] >= 0:
        code = codes[row, np.uintp(column[node])]
        if code == MISSING_BIN:
            branch = np.int64(missing_branch[node])
        elif is_set[node]:
            word = sets[node, np.uintp(code >> 6)]
            branch = np.int64(1) - np.int64((word >> np.uint64(code & 63)) & np.uint64(1))
        else:
            branch = np.int64(code > cut[node])
        node = np.uintp(first_child[node] + branch)
    return node


@kernel
def leaves_of_codes(codes, rows, first_child, column, cut, missing_branch, is_set, sets, place, leaf_of):
    """Walk rows down a tree that was not grown on them.

    Parameters
    ----------
    codes : uint8[n, stride], IN
    rows : int32[m], IN
    first_child, column, cut : int32[n_nodes], IN
    missing_branch : int8[n_nodes], IN
    is_set : bool[n_nodes], IN
    sets : uint64[n_nodes, 4], IN
        A single row if no column is nominal.
    place : int32[n_nodes], OUT
        The leaf number of each node that is a leaf.
    leaf_of : int32[m], OUT
    """
    number_leaves(first_child, place)
    for at in range(len(rows)):
        leaf_of[at] = place[
            leaf_node_of(codes, np.uintp(rows[at]), first_child, column, cut, missing_branch, is_set, sets)
        ]


@kernel
def add_by_codes(codes, rows, first_child, column, cut, missing_branch, is_set, sets, place, adds, scores):
    """Add its leaf's value to the score of each of some rows that the tree was not grown on.

    Parameters
    ----------
    codes, rows, first_child, column, cut, missing_branch, is_set, sets, place
        As in ``leaves_of_codes``.
    adds : float64[k], IN
    scores : float64[n], IN and OUT
    """
    number_leaves(first_child, place)
    for at in range(len(rows)):
        row = np.uintp(rows[at])
        node = leaf_node_of(codes, row, first_child, column, cut, missing_branch, is_set, sets)
        scores[row] += adds[place[node]]


@inner_kernel
def add_sums(leaf_of, gradient, hessian, repeats, gradient_scale, hessian_scale, begin, end, sums):
    """Add the rows ``begin`` to ``end - 1`` to the sums of their leaves: of 62 bits, so that no order changes them.

    Parameters
    ----------
    leaf_of : uint8[n] or int32[n], IN
    gradient : float32[n], IN
    hessian : float32[n], repeats : int32[n], IN
        Empty if each is 1.
    gradient_scale, hessian_scale : float
        Powers of two: the sums of all rows are below 2**62.
    begin, end : int
    sums : int64[>= k, 2], IN and OUT
        Gradients and hessians; of hessians that are all 1 the number of rows.
    """
    has_hessian, weighs = len(hessian) > 0, len(repeats) > 0
    for row in range(begin, end):
        leaf = np.uintp(leaf_of[row])
        times = np.int64(repeats[row]) if weighs else np.int64(1)
        sums[leaf, 0] += np.int64(np.rint(np.float64(gradient[row]) * gradient_scale)) * times
        sums[leaf, 1] += np.int64(np.rint(np.float64(hessian[row]) * hessian_scale)) * times if has_hessian else times


@kernel
def leaf_sums(leaf_of, gradient, hessian, repeats, gradient_scale, hessian_scale, begin, end, sums):
    """As ``add_sums``."""
    add_sums(leaf_of, gradient, hessian, repeats, gradient_scale, hessian_scale, begin, end, sums)


@kernel
def add_to_scores(leaf_of, values, begin, end, scores):
    """Add its leaf's value to the score of each of the rows ``begin`` to ``end - 1``.

    Parameters
    ----------
    leaf_of : uint8[n] or int32[n], IN
    values : float64[>= k], IN
    begin, end : int
    scores : float64[n], IN and OUT
    """
    for row in range(begin, end):
        scores[row] += values[np.uintp(leaf_of[row])]


@inner_kernel
def write_tree(n, n_leaves, unit, fine_gradient, fine_hessian, l1, l2, table, nodes, grown):
    """Write what a tree has besides its nodes, from the sums of its leaves.

    Parameters
    ----------
    n, n_leaves : int
    unit : float
        A value of 1 of the nodes' bounds.
    fine_gradient, fine_hessian : float
        Units of the sums.
    l1, l2 : float
    table, nodes, grown
        The last IN and OUT; see ``layout``.
    """
    for leaf in range(n_leaves):
        node = grown.leaves[leaf]
        g, h = grown.sums[leaf, 0] / fine_gradient, grown.sums[leaf, 1] / fine_hessian
        low, high = nodes.low[node] * unit, nodes.high[node] * unit
        grown.bounds[0, leaf], grown.bounds[1, leaf], grown.covers[leaf] = low, high, h
        grown.values[leaf] = value_of(g, h, l1, l2, low, high) + 0.0  # not -0.0
    for node in range(n):
        is_inner = nodes.first_child[node] >= 0
        grown.missing_branch[node] = is_inner and nodes.missing_left[node] != 1
        grown.is_set[node] = is_inner and table.kind[nodes.column[node]] > 0
        grown.gain[node] = nodes.gain[node] if is_inner else 0.0


@kernel
def close_tree(n, n_leaves, unit, fine_gradient, fine_hessian, l1, l2, table, nodes, grown):
    """As ``write_tree``."""
    write_tree(n, n_leaves, unit, fine_gradient, fine_hessian, l1, l2, table, nodes, grown)


@kernel
def renew_leaves(leaf_of, gradient, hessian, repeats, n_rows, l1, l2, bounds, sums, ranges, values):
    """Values that the leaves of a tree have on other rows; False if gradients are not finite.

    Parameters
    ----------
    leaf_of : int32[n], IN
    gradient : float32[n], IN
    hessian : float32[n], repeats : int32[n], IN
        Empty if each is 1.
    n_rows : int
        What the rows count as.
    l1, l2 : float
    bounds : float64[2, k], IN
    sums : int64[k, 2], IN and OUT
        Zeros at first.
    ranges : int32[2, k], IN and OUT
        Zeros at first; then where the rows of each leaf begin and end, if they are put leaf by leaf.
    values : float64[2, k], OUT
        The values, and the sums of hessians.
    """
    n = len(leaf_of)
    size, total, largest = sizes_of(gradient, hessian, repeats, 0, n)
    _, _, fine_gradient, fine_hessian, _ = scales_of_sums(size, total, largest, n_rows, len(hessian) == 0)
    if math.isnan(fine_gradient):
        return False
    add_sums(leaf_of, gradient, hessian, repeats, fine_gradient, fine_hessian, 0, n, sums)
    begins, ends = ranges[0], ranges[1]
    for row in range(n):
        ends[np.uintp(leaf_of[row])] += 1
    for leaf in range(ranges.shape[1]):
        if leaf > 0:
            begins[leaf] = ends[leaf - 1]
            ends[leaf] += begins[leaf]
        g, h = sums[leaf, 0] / fine_gradient, sums[leaf, 1] / fine_hessian
        values[0, leaf] = value_of(g, h, l1, l2, bounds[0, leaf], bounds[1, leaf]) + 0.0
        values[1, leaf] = h
    return True
