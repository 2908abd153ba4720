"""Gradients, hessians and log losses, row by row. In: targets, scores. Out: arrays of the caller.

Loops have no branches and no calls, so that they become vector instructions: ``exponential`` is a polynomial of
additions and multiplications alone, which give the same bits on every machine. Scores may be any finite number:
exponents are limited to ``FARTHEST``, gradients to ``LARGEST``, hessians are at least ``LEAST``.
"""

from __future__ import annotations

import numpy as np

from treewright.core.elementary import log
from treewright.core.jit import inner_kernel, kernel

FARTHEST = 700.0  # exp of it and of its negative are normal numbers of float64
LARGEST = 1e37  # within float32, with room for a sum
LEAST = 1e-37  # a normal number of float32
CHUNK = 256  # rows of several classes that are computed together: their exponentials stay in the nearest cache

_LOG2_E = 1.4426950408889634
# ln 2 in two parts (fdlibm's): the first has 32 bits, so that its product with an exponent is exact.
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
# Added to a number below 2**51, it rounds it to a whole number, which is then in the lowest bits.
_ROUNDS = 6755399441055744.0
# (exp(r) - 1) / r for |r| <= ln(2) / 2: the polynomial through its values at the seven Chebyshev nodes.
_C1, _C2, _C3, _C4 = 1.0, 0.5000000047146068, 0.16666666719029677, 0.041666352771082577
_C5, _C6, _C7 = 0.008333298469623288, 0.0013941118897472754, 0.00019899285681295714
# log(1 + t) / u for u = t / (2 + t), as a polynomial in u**2 up to 1 / 9, made in the same way.
_D0, _D1, _D2, _D3 = 2.0000000000048654, 0.6666666623791327, 0.40000061422293476, 0.2856814571673743
_D4, _D5, _D6 = 0.22305128085766043, 0.17122531206033945, 0.21860584351517776


@inner_kernel
def exponential(x: float) -> float:
    """exp(x) of a float64 with a relative error up to 2e-10, for x from -700 to 700; exp(0) is 1.

    ``x = n ln 2 + r``, so that ``exp(x) = 2**n exp(r)``; n is added to the exponent's bits of exp(r).
    """
    shifted = x * _LOG2_E + _ROUNDS
    n = shifted - _ROUNDS
    r = x - n * _LN2_HIGH - n * _LN2_LOW
    power = 1.0 + r * (_C1 + r * (_C2 + r * (_C3 + r * (_C4 + r * (_C5 + r * (_C6 + r * _C7))))))
    bits = np.float64(power).view(np.int64) + (np.float64(shifted).view(np.int64) << np.int64(52))
    return np.int64(bits).view(np.float64)


@inner_kernel
def log_of_one_and(t: float) -> float:
    """log(1 + t) of a float64 with a relative error up to 1e-11, for t from 0 to 1."""
    u = t / (2.0 + t)
    v = u * u
    return u * (_D0 + v * (_D1 + v * (_D2 + v * (_D3 + v * (_D4 + v * (_D5 + v * _D6))))))


@inner_kernel
def within(x: float, most: float) -> float:
    """The number nearest to x from -most to most."""
    return min(max(x, -most), most)


@kernel
def clipped_residuals(target: np.ndarray, scores: np.ndarray, most: float, g: np.ndarray) -> None:
    """Score minus target, limited to ``most``: the gradient of half the squared error, and of Huber's loss.

    Parameters
    ----------
    target, scores : float64[m], IN
    most : float, above 0 up to LARGEST
    g : float32[m], OUT
    """
    for i in range(target.shape[0]):
        g[i] = np.float32(within(scores[i] - target[i], most))


@kernel
def sides(target: np.ndarray, scores: np.ndarray, below: float, above: float, g: np.ndarray) -> None:
    """``below`` for scores below their target, ``above`` for scores above, 0 if they are equal.

    Parameters
    ----------
    target, scores : float64[m], IN
    g : float32[m], OUT
    """
    for i in range(target.shape[0]):
        lower = below if scores[i] < target[i] else 0.0
        g[i] = np.float32(above if scores[i] > target[i] else lower)


@kernel
def lopsided_residuals(
    target: np.ndarray, scores: np.ndarray, below: float, above: float, g: np.ndarray, h: np.ndarray
) -> None:
    """Residuals with different weights on both sides: the gradient of such squared errors.

    Parameters
    ----------
    target, scores : float64[m], IN
    below, above : float > 0
        Hessian of scores up to their target, and of scores above.
    g, h : float32[m], OUT
    """
    for i in range(target.shape[0]):
        factor = above if scores[i] > target[i] else below
        g[i] = np.float32(within(factor * (scores[i] - target[i]), LARGEST))
        h[i] = np.float32(factor)


@kernel
def log_link_gradients(target: np.ndarray, scores: np.ndarray, power: float, g: np.ndarray, h: np.ndarray) -> None:
    """Gradients of the deviance of a mean ``exp(score)`` whose variance is that mean to a power.

    With ``a = exp((2 - power) s)`` and ``b = y exp((1 - power) s)`` the gradient is ``a - b``. The second derivative is
    ``(2 - power) a + (power - 1) b``; instead ``h`` is ``(a + b) / 2`` (``losses_numbers.MeanDeviance`` says why).

    Parameters
    ----------
    target, scores : float64[m], IN
        Targets from 0 on.
    power : float, 1 to 2
    g, h : float32[m], OUT
    """
    for i in range(target.shape[0]):
        a = exponential(within((2.0 - power) * scores[i], FARTHEST))
        b = target[i] * exponential(within((1.0 - power) * scores[i], FARTHEST))
        g[i] = np.float32(within(a - b, LARGEST))
        h[i] = np.float32(min(max(0.5 * (a + b), LEAST), LARGEST))


@kernel
def two_class_gradients(target: np.ndarray, scores: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:
    """Gradients of the log loss of log odds.

    Parameters
    ----------
    target : int32[m], IN
        0 or 1.
    scores : float64[m], IN
        Log odds of class 1.
    g, h : float32[m], OUT
        p - y and p (1 - p). Both are computed from the probability of the wrong class, so that neither is a difference
        of close numbers.
    """
    for i in range(target.shape[0]):
        sign = 1.0 - 2.0 * target[i]
        odds = exponential(within(-sign * scores[i], 80.0))
        wrong = 1.0 / (1.0 + odds)
        g[i] = np.float32(sign * wrong)
        h[i] = np.float32(odds * wrong * wrong)


@kernel
def two_class_values(target: np.ndarray, scores: np.ndarray, values: np.ndarray) -> None:
    """Minus the logarithm of the true class's probability.

    Parameters
    ----------
    target : int32[m], scores : float64[m], IN
        As ``two_class_gradients``.
    values : float64[m], OUT
    """
    for i in range(target.shape[0]):
        against = (1.0 - 2.0 * target[i]) * scores[i]
        power = exponential(max(-abs(against), -FARTHEST))
        values[i] = max(against, 0.0) + log_of_one_and(power)


@inner_kernel
def share_classes(
    scores: np.ndarray, length: int, first: int, m: int, shares: np.ndarray, top: np.ndarray, total: np.ndarray
) -> None:
    """Exponentials of some rows' scores minus the row's largest, and their sums.

    Parameters
    ----------
    scores : float64[...], length : int64, IN
        As ``softmax_gradients``.
    first, m : int64
        The rows: m from the first on.
    shares : float64[n_classes, CHUNK], top, total : float64[CHUNK], OUT
    """
    for i in range(m):
        top[i] = scores[first + i]
        total[i] = 0.0
    for k in range(1, shares.shape[0]):
        own = scores[k * length + first : k * length + first + m]
        for i in range(m):
            top[i] = max(top[i], own[i])
    for k in range(shares.shape[0]):
        own = scores[k * length + first : k * length + first + m]
        share = shares[k]
        for i in range(m):
            share[i] = exponential(max(own[i] - top[i], -FARTHEST))
            total[i] += share[i]


@kernel
def softmax_gradients(
    target: np.ndarray, scores: np.ndarray, length: int, factor: float, shares: np.ndarray, sums: np.ndarray,
    g: np.ndarray, g_length: int, h: np.ndarray, h_length: int,
) -> None:  # fmt: skip
    """Gradients of the log loss of one score per class.

    Parameters
    ----------
    target : int32[m], IN
        Codes of classes.
    scores : float64[...], IN
        Row i's score of class k is at ``k * length + i``: so slices of longer rows are one line.
    factor : float
        The factor of p (1 - p).
    shares : float64[n_classes, CHUNK], sums : float64[2, CHUNK]
        Scratch.
    g, h : float32[...], OUT
        As ``scores``, with lengths of their own.
    """
    n_classes = shares.shape[0]
    top, total = sums[0], sums[1]
    for first in range(0, target.shape[0], CHUNK):
        m = min(CHUNK, target.shape[0] - first)
        share_classes(scores, length, first, m, shares, top, total)
        # Class by class, rows inside: each loop has contiguous memory and becomes vector instructions.
        for i in range(m):
            total[i] = 1.0 / total[i]
        for k in range(n_classes):
            share = shares[k]
            own_g = g[k * g_length + first : k * g_length + first + m]
            own_h = h[k * h_length + first : k * h_length + first + m]
            for i in range(m):
                p = share[i] * total[i]
                own_g[i] = np.float32(p)
                own_h[i] = np.float32(max(factor * (p * (1.0 - p)), LEAST))
        for i in range(m):
            k = target[first + i]
            g[k * g_length + first + i] = np.float32(shares[k, i] * total[i] - 1.0)


@kernel
def softmax_values(
    target: np.ndarray, scores: np.ndarray, length: int, shares: np.ndarray, sums: np.ndarray, values: np.ndarray
) -> None:
    """Minus the logarithm of the true class's probability.

    Parameters
    ----------
    target, scores, length, shares, sums
        As ``softmax_gradients``.
    values : float64[m], OUT
    """
    top, total = sums[0], sums[1]
    for first in range(0, target.shape[0], CHUNK):
        m = min(CHUNK, target.shape[0] - first)
        share_classes(scores, length, first, m, shares, top, total)
        for i in range(m):
            own = scores[np.int64(target[first + i]) * length + first + i]
            values[first + i] = (top[i] - own) + log(total[i])
