"""By what gradients are multiplied to become whole numbers. In: their sizes. Out: ``Scales``. Caller: .grower.

Scales are powers of two, so that sums of sizes that differ in their last bits only give the same ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from treewright.exceptions import DataError

_GRADIENT_SUM, _HESSIAN_SUM = 2**31 - 1, 2**32 - 1  # what the halves of a word hold
_FINE_SUM = 2.0**61


@dataclass(frozen=True)
class Scales:
    """Units of the words, and of the exact sums of leaves.

    Attributes
    ----------
    gradient, hessian : float
        What a gradient and a hessian of 1 are in the words.
    fine_gradient, fine_hessian : float
        What they are in the exact sums.
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

    Raises
    ------
    DataError
        A gradient or a hessian is not a finite number.

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
