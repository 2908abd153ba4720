"""Gradients as whole numbers. In: gradients and hessians of rows. Out: ``Scales``, words.

A word holds the gradient in its high half and the hessian in its low one. Scales are powers of two, so that sums of
sizes that differ only in their last bits give the same scales.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, NoReturn

import numpy as np

from treewright.core.jit import inner_kernel, kernel
from treewright.exceptions import DataError

_GRADIENT_SUM, _HESSIAN_SUM = 2**31 - 1, 2**32 - 1  # what the halves of a word hold
_FINE_SUM = 2.0**61


class Scales(NamedTuple):
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
    gradient, hessian = math.fsum(sizes[:, 0].tolist()), math.fsum(sizes[:, 1].tolist())
    return checked(scales_of_sums(gradient, hessian, float(sizes[:, 2].max()), n_rows, unit_hessian))


def checked(numbers: tuple[Any, ...]) -> Scales:
    """The scales that a kernel found; refused where it found none."""
    scales = Scales(*numbers)
    if math.isnan(scales.gradient):
        refuse_gradients()
    return scales


def refuse_gradients() -> NoReturn:
    """Refuse gradients that are not finite."""
    raise DataError(
        "gradients are not finite: scores times weights have grown beyond float32; lower learning_rate, or scale "
        "the target or sample_weight down"
    )


@inner_kernel
def scales_of_sums(gradient, hessian, largest, n_rows, unit_hessian):
    """The numbers of ``Scales``, all nan if a sum is not finite.

    Parameters
    ----------
    gradient, hessian, largest : float
        Sum of the gradients' sizes, sum of the hessians, largest hessian.
    n_rows : int
    unit_hessian : bool
    """
    if not math.isfinite(gradient + hessian):
        return math.nan, math.nan, math.nan, math.nan, math.nan
    coarse = power_of_two(_GRADIENT_SUM - n_rows, gradient)
    fine = power_of_two(_FINE_SUM, gradient)
    if unit_hessian:
        return coarse, 1.0, fine, 1.0, 1.0
    # A row's own is handled as a number with a sign.
    scale = min(power_of_two(_HESSIAN_SUM - n_rows, hessian), power_of_two(_GRADIENT_SUM, largest))
    # One more: what rounding may add.
    return coarse, scale, fine, power_of_two(_FINE_SUM, hessian), largest * scale + 1.0


@inner_kernel
def power_of_two(most, total):
    """The largest power of two (within float32's range) that keeps a sum times itself below ``most``."""
    if total <= 0.0:
        return 1.0
    exponent = math.frexp(most / total * (1 - 1e-9))[1]
    return math.ldexp(1.0, min(max(exponent - 1, -1000), 1000))


@inner_kernel
def sizes_of(gradient, hessian, repeats, begin, end):
    """Of a block of rows the sum of the gradients' sizes, the sum of the hessians, the largest hessian.

    Parameters
    ----------
    gradient : float32[n], IN
    hessian : float32[n], IN
        Empty if each is 1.
    repeats : int32[n], IN
        Empty if each is 1.
    begin, end : int
    """
    size, total, largest = 0.0, 0.0, 0.0
    has_hessian, weighs = len(hessian) > 0, len(repeats) > 0
    for row in range(begin, end):
        times = np.float64(repeats[row]) if weighs else 1.0
        size += times * abs(np.float64(gradient[row]))
        h = np.float64(hessian[row]) if has_hessian else 1.0
        total += times * h
        largest = max(largest, h)
    return size, total, largest


@kernel
def magnitudes(gradient, hessian, repeats, begin, end, out):
    """``sizes_of``, written to float64[3]."""
    out[0], out[1], out[2] = sizes_of(gradient, hessian, repeats, begin, end)


@inner_kernel
def write_words(gradient, hessian, repeats, gradient_scale, hessian_scale, begin, end, words):
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
def to_words(gradient, hessian, repeats, gradient_scale, hessian_scale, begin, end, words):
    """As ``write_words``."""
    write_words(gradient, hessian, repeats, gradient_scale, hessian_scale, begin, end, words)


@kernel
def words_at_once(gradient, hessian, repeats, n_rows, words):
    """The words of all rows, of one block; returns the numbers of ``Scales``, nan if there are no words."""
    size, total, largest = sizes_of(gradient, hessian, repeats, 0, len(gradient))
    scales = scales_of_sums(size, total, largest, n_rows, len(hessian) == 0)
    if not math.isnan(scales[0]):
        write_words(gradient, hessian, repeats, scales[0], scales[1], 0, len(gradient), words)
    return scales
