"""Gradients as whole numbers. In: gradients and hessians of rows. Out: ``Scales``, words, exact sums of leaves.

A word holds the gradient in its high half and the hessian in its low one. Scales are powers of two, so that sums of
sizes that differ only in their last bits give the same scales.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from treewright.core.jit import kernel
from treewright.data.bins import MISSING_BIN
from treewright.exceptions import DataError

_GRADIENT_SUM, _HESSIAN_SUM = 2**31 - 1, 2**32 - 1  # what the halves of a word hold
_FINE_SUM = 2.0**61


@dataclass(frozen=True)
class Scales:
    """Units of the words, and of the exact sums of leaves.

    Attributes
    ----------
    gradient, hessian : float
        The value of a gradient and a hessian of 1 in the words.
    fine_gradient, fine_hessian : float
        Their value in the exact sums.
    largest_hessian : float
        Of any row, in the unit of the words.
    """

    gradient: float
    hessian: float
    fine_gradient: float
    fine_hessian: float
    largest_hessian: float


def scales_of(sizes: np.ndarray, n_rows: int, *, unit_hessian: bool) -> Scales:
    """Scales for rows of these sizes.

    Parameters
    ----------
    sizes : float64[k, 3]
        Of blocks of rows (``words.magnitudes``).
    n_rows : int
        What the rows count as: rounding may add one half for each.
    unit_hessian : bool

    Examples
    --------
    >>> scales_of(np.array([[1000.0, 4000.0, 1.0]]), 4000, unit_hessian=True).gradient
    2097152.0
    """
    gradient = math.fsum(sizes[:, 0].tolist())
    hessian = math.fsum(sizes[:, 1].tolist())
    if not math.isfinite(gradient + hessian):
        raise DataError(
            "gradients are not finite: scores times weights have grown beyond float32; lower learning_rate, or scale "
            "the target or sample_weight down"
        )
    largest = float(sizes[:, 2].max())
    scale = 1.0
    if not unit_hessian:  # a row's own is handled as a number with a sign
        scale = min(_power_of_two(_HESSIAN_SUM - n_rows, hessian), _power_of_two(_GRADIENT_SUM, largest))
    return Scales(
        gradient=_power_of_two(_GRADIENT_SUM - n_rows, gradient),
        hessian=scale,
        fine_gradient=_power_of_two(_FINE_SUM, gradient),
        fine_hessian=1.0 if unit_hessian else _power_of_two(_FINE_SUM, hessian),
        # One more: what rounding may add.
        largest_hessian=1.0 if unit_hessian else largest * scale + 1.0,
    )


def _power_of_two(most: float, total: float) -> float:
    """The largest power of two (within float32's range) that keeps a sum times itself below ``most``."""
    if total <= 0.0:
        return 1.0
    _, exponent = math.frexp(most / total * (1 - 1e-9))
    return math.ldexp(1.0, min(max(exponent - 1, -1000), 1000))


@kernel
def magnitudes(gradient, hessian, repeats, begin, end, out):
    """Sums of the sizes of the gradients and hessians of a block of rows.

    Parameters
    ----------
    gradient : float32[n], IN
    hessian : float32[n], IN
        Empty if each is 1.
    repeats : int32[n], IN
        Empty if each is 1.
    begin, end : int
    out : float64[3], OUT
        Sum of the gradients' sizes, sum of the hessians, largest hessian.
    """
    size, total, largest = 0.0, 0.0, 0.0
    has_hessian, weighs = len(hessian) > 0, len(repeats) > 0
    for row in range(begin, end):
        times = np.float64(repeats[row]) if weighs else 1.0
        size += times * abs(np.float64(gradient[row]))
        h = np.float64(hessian[row]) if has_hessian else 1.0
        total += times * h
        largest = max(largest, h)
    out[0], out[1], out[2] = size, total, largest


@kernel
def to_words(gradient, hessian, repeats, gradient_scale, hessian_scale, begin, end, words):
    """Gradient and hessian of each row as one word.

    Parameters
    ----------
    gradient : float32[n], IN
    hessian : float32[n], repeats : int32[n], IN
        Empty if each is 1.
    gradient_scale, hessian_scale : float
        Powers of two; a hessian of 1 throughout is scaled by 1.
    begin, end : int
    words : int64[n], OUT
    """
    if len(hessian) == 0 and len(repeats) == 0:
        for row in range(begin, end):
            words[row] = (np.int64(np.int32(np.rint(np.float64(gradient[row]) * gradient_scale))) << 32) + 1
        return
    has_hessian, weighs = len(hessian) > 0, len(repeats) > 0
    for row in range(begin, end):
        high = np.int64(np.int32(np.rint(np.float64(gradient[row]) * gradient_scale)))
        low = np.int64(np.int32(np.rint(np.float64(hessian[row]) * hessian_scale))) if has_hessian else np.int64(1)
        word = (high << 32) + low
        words[row] = word * np.int64(repeats[row]) if weighs else word


@kernel
def note_leaves(order, begins, ends, first, last, leaf_of):
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
def leaves_of_codes(codes, rows, first_child, column, cut, missing_branch, is_set, sets, place, leaves):
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
    place : int32[n_nodes], IN
        The leaf number of each node.
    leaves : int32[m], OUT
    """
    for at in range(len(rows)):
        row, node = np.uintp(rows[at]), np.uintp(0)
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
        leaves[at] = place[node]


@kernel
def leaf_sums(leaf_of, gradient, hessian, repeats, gradient_scale, hessian_scale, begin, end, sums):
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
