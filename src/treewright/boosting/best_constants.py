"""The constants of least loss: means, quantiles, expectiles. In: numbers, weights. Out: one, or one for each leaf.

They are the base of scores, and the values of leaves if the loss renews them. They must not depend on the order of the
rows, and a row of weight 2 must be exactly the row twice. So means come from exact sums, and quantiles from a selection
with whole-number weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from treewright.core.jit import inner_kernel, kernel
from treewright.grow.objective import fixed_weights

_UNIT = 1 << 1074  # one over the least number of float64
_N_DIGITS = 67
_AT_ONCE = 1 << 26  # rows between two carries: each adds at most five times 2**33 to a word of 63 bits
_SPLITTER = 134217729.0  # 2**27 + 1
_LIFT = 300
LOW, WITHIN, HIGH = 0, 1, 2  # groups of rows
_PRODUCTS, _WEIGHTS = 0, 1  # the two sums of each group
# Rounds of a selection with random pivots. Each about halves the rest; if all pivots are bad, by chance or by malice,
# the range of the numbers' bits is halved instead, which ends after 64 rounds for any numbers.
DRAWN_ROUNDS = 48
_ALL_BUT_SIGN = 0x7FFFFFFFFFFFFFFF
_MAX_STEPS = 200  # each at least halves the interval: more than the bits of float64
_NEWTON_STEPS = 30


# Exact sums ----------------------------------------------------------------------------------------------------------
#
# Every number of float64 is a multiple of 2**-1074; these are added in digits of 32 bits, one word each, and carries
# are propagated at the end (Neal 2015, "Fast exact summation using small and large superaccumulators",
# arXiv:1505.05571).


@dataclass(frozen=True)
class Sums:
    """Exact sums of rows.

    ``product``, ``weight``: the sums of weight times number, and of weights.
    """

    product: Fraction
    weight: Fraction


def grouped_sums(
    numbers: np.ndarray, weights: np.ndarray | None, low: float = -math.inf, high: float = math.inf
) -> tuple[Sums, Sums, Sums]:
    """Sums of the rows whose number is below ``low``, from ``low`` to ``high``, and above.

    ``numbers`` (float64[n], up to 1e200 in magnitude). ``weights`` (float64[n] > 0 of moderate size
    (``scaled_weights``), or None for weights of 1).
    """
    weight_unit = 1 if weights is None else _UNIT
    below, within, above = (
        Sums(Fraction(product, _UNIT), Fraction(weight, weight_unit))
        for product, weight in _whole_sums(numbers, weights, low, high)
    )
    return below, within, above


def _whole_sums(
    numbers: np.ndarray, weights: np.ndarray | None, low: float = -math.inf, high: float = math.inf
) -> list[list[int]]:
    """The two sums of each group, in units of 1 / ``_UNIT``; without weights a sum of weights is a number of rows."""
    given = np.empty(0) if weights is None else np.ascontiguousarray(weights, np.float64)
    numbers = np.ascontiguousarray(numbers, np.float64)
    totals = [[0, 0], [0, 0], [0, 0]]
    for first in range(0, len(numbers), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        digits = np.zeros((3, 2, _N_DIGITS), np.int64)
        add_rows(numbers[part], given[part], low, high, digits)
        for group, kind, digit in np.argwhere(digits).tolist():
            totals[group][kind] += int(digits[group, kind, digit]) << (32 * digit)
    return totals


def exact_sum(numbers: np.ndarray) -> Fraction:
    """The sum of finite numbers up to 1e200 in magnitude."""
    return grouped_sums(numbers, None)[WITHIN].product


def scaled_weights(weights: np.ndarray | None) -> np.ndarray | None:
    """Weights times a power of two, which cancels in quotients.

    The largest becomes about 2**300: products with numbers up to 1e200 stay below the largest number of float64, and
    rounding errors of products with the least numbers stay above the least.
    """
    if weights is None:
        return None
    return np.ldexp(weights, _LIFT - math.frexp(float(weights.max()))[1])


def weighted_mean(numbers: np.ndarray, weights: np.ndarray | None) -> float:
    """The mean of at least one number, rounded once.

    ``numbers`` (float64[n], up to 1e200 in magnitude). ``weights`` (float64[n] > 0, or None for weights of 1).
    """
    product, weight = _whole_sums(numbers, scaled_weights(weights))[WITHIN]
    # A quotient of whole numbers is rounded once, and needs no common divisor, as a Fraction does: of small tables a
    # quarter of the time of all rounds.
    return product / (weight * _UNIT if weights is None else weight)


@kernel
def add_rows(numbers: np.ndarray, weights: np.ndarray, low: float, high: float, digits: np.ndarray) -> None:
    """Add weight times number, and weight, to the digits of each row's group.

    Parameters
    ----------
    numbers : float64[n], finite, IN
    weights : float64[n], or empty for weights of 1, IN
    low, high : float
        Below the first the group is LOW, above the second HIGH, else WITHIN.
    digits : int64[3, 2, _N_DIGITS], IN and OUT
        Without weights, the first digit of the weights is the number of rows.
    """
    for i in range(numbers.shape[0]):
        number = numbers[i]
        group = LOW if number < low else (HIGH if number > high else WITHIN)
        if weights.shape[0] == 0:
            add_number(number, digits[group, _PRODUCTS])
            digits[group, _WEIGHTS, 0] += 1
        else:
            add_number(number * weights[i], digits[group, _PRODUCTS])
            add_number(lost_in_product(number, weights[i]), digits[group, _PRODUCTS])
            add_number(weights[i], digits[group, _WEIGHTS])


@inner_kernel
def add_number(number: float, digits: np.ndarray) -> None:
    """Add a finite number to digits (int64[_N_DIGITS]); digit d is in units of 2**(32 d - 1074)."""
    bits = np.float64(number).view(np.int64)
    exponent = (bits >> np.int64(52)) & np.int64(0x7FF)
    mantissa = bits & np.int64(0xFFFFFFFFFFFFF)
    mantissa |= min(exponent, np.int64(1)) << np.int64(52)  # the leading bit of normal numbers
    place = max(exponent, np.int64(1)) - np.int64(1)
    digit, shift = place >> np.int64(5), place & np.int64(31)
    sign = np.int64(1) | (bits >> np.int64(63))
    low = (mantissa & np.int64(0xFFFFFFFF)) << shift
    high = (mantissa >> np.int64(32)) << shift
    digits[digit] += sign * (low & np.int64(0xFFFFFFFF))
    digits[digit + 1] += sign * ((low >> np.int64(32)) + (high & np.int64(0xFFFFFFFF)))
    digits[digit + 2] += sign * (high >> np.int64(32))


@inner_kernel
def upper_half(number: float) -> float:
    """The 26 leading bits of a float64; the rest has 26 bits too (Dekker 1971)."""
    lifted = number * _SPLITTER
    return lifted - (lifted - number)


@inner_kernel
def lost_in_product(a: float, b: float) -> float:
    """The rounding error of a product of float64, exactly, because the products of halves are exact."""
    a_upper, b_upper = upper_half(a), upper_half(b)
    a_lower, b_lower = a - a_upper, b - b_upper
    return ((a_upper * b_upper - a * b) + a_upper * b_lower + a_lower * b_upper) + a_lower * b_lower


# Quantiles -----------------------------------------------------------------------------------------------------------
#
# The quantile is the least number up to which at least its share of the weight lies; if that share ends exactly between
# two numbers, their midpoint. Weights are whole numbers here (``grow.objective.fixed_weights``), so that their sums are
# exact. It is found by selection:
#
#     draw a pivot from the remaining numbers                   (drawn_pivot; middle_of_bits after 48 bad rounds)
#     sum the weights below it and equal to it                  (weight_below)
#     it is the quantile, or one side of it remains              (keep)


def weighted_quantile(numbers: np.ndarray, weights: np.ndarray | None, level: float) -> float:
    """The weighted quantile of at least one number.

    ``numbers`` (float64[n]). ``weights`` (float64[n] > 0, or None).
    """
    rows, starts = np.arange(len(numbers), dtype=np.int32), np.array([0, len(numbers)])
    numbers = np.ascontiguousarray(numbers)  # a column of several is not, and would compile the kernel again
    return float(renew_quantiles(level, numbers, np.zeros(len(numbers)), weights, rows, starts)[0])


def renew_quantiles(
    level: float, target: np.ndarray, scores: np.ndarray, weights: np.ndarray | None, rows: np.ndarray,
    starts: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """float64[n_leaves]: the weighted quantile of target minus score in each leaf; parameters as ``Loss.renewed``.

    ``scores`` float64[n]: one score of each row.
    """
    found = np.empty(len(starts) - 1)
    fixed, _ = fixed_weights(weights, len(target))
    amounts = np.empty(len(rows) if len(fixed) else 0, np.int64)
    left = np.empty(len(rows))
    leaf_quantiles(target, scores, fixed, rows, starts, level, DRAWN_ROUNDS, left, amounts, found)
    return found


@kernel
def leaf_quantiles(
    target: np.ndarray, scores: np.ndarray, weights: np.ndarray, rows: np.ndarray, starts: np.ndarray, level: float,
    n_drawn: int, left: np.ndarray, amounts: np.ndarray, found: np.ndarray,
) -> None:  # fmt: skip
    """The quantile of target minus score in each leaf; 0 in a leaf without rows.

    Parameters
    ----------
    target, scores : float64[n], IN
    weights : int64[n] > 0 with a sum below 2**53, or empty for weights of 1, IN
    rows : int32[m], starts : int64[n_leaves + 1], IN
        As ``Loss.renewed``.
    level : float, between 0 and 1
    n_drawn : int
        As ``selected``; the result does not depend on it.
    left : float64[m], amounts : int64[m] or empty as ``weights``
        Scratch.
    found : float64[n_leaves], OUT
    """
    for leaf in range(starts.shape[0] - 1):
        first, last = starts[leaf], starts[leaf + 1]
        found[leaf] = 0.0
        if first == last:
            continue
        total = np.int64(last - first)
        for i in range(first, last):
            left[i] = target[rows[i]] - scores[rows[i]]
        own_amounts = amounts[:0]
        if weights.shape[0] > 0:
            own_amounts = amounts[first:last]
            total = np.int64(0)
            for i in range(first, last):
                amounts[i] = weights[rows[i]]
                total += amounts[i]
        lower, is_exact = selected(left[first:last], own_amounts, level * np.float64(total), n_drawn)
        upper = lower
        if is_exact:
            # The next number. It exists, because less than the total weight lies up to this one.
            upper = np.inf
            for i in range(first, last):
                number = target[rows[i]] - scores[rows[i]]
                upper = min(upper, number if number > lower else np.inf)
            upper = lower if upper == np.inf else upper
        found[leaf] = 0.5 * lower + 0.5 * upper


@inner_kernel
def selected(left: np.ndarray, amounts: np.ndarray, need: float, n_drawn: int) -> tuple[float, bool]:
    """The least number with a cumulative weight of at least ``need``, and whether the weight is exactly ``need``.

    Parameters
    ----------
    left : float64[m], at least one; amounts : int64[m], or empty for weights of 1
        Their order is lost.
    need : float
        Above 0, up to the total weight.
    n_drawn : int
        Rounds with random pivots.
    """
    below = np.int64(0)
    state = np.int64(left.shape[0])
    n_rounds = 0
    while True:
        if n_rounds < n_drawn:
            pivot, state = drawn_pivot(left, state)
        else:
            pivot = middle_of_bits(left)
        n_rounds += 1
        less, equal = weight_below(left, amounts, pivot)
        if np.float64(below + less) >= need:
            kept = keep(left, amounts, pivot, True)
        elif np.float64(below + less + equal) >= need:
            return pivot, np.float64(below + less + equal) == need
        else:
            below += less + equal
            kept = keep(left, amounts, pivot, False)
        left = left[:kept]
        amounts = amounts[: min(kept, amounts.shape[0])]


@inner_kernel
def drawn_pivot(left: np.ndarray, state: np.int64) -> tuple[float, np.int64]:
    """The median of three numbers of ``left``, float64[m], and the next state.

    They are drawn by a linear congruential sequence: randomness only keeps bad pivots rare, so any sequence will do.
    """
    size = np.int64(left.shape[0])
    state = (state * np.int64(1103515245) + np.int64(12345)) & np.int64(0x7FFFFFFF)
    a = left[(state * size) >> np.int64(31)]
    state = (state * np.int64(1103515245) + np.int64(12345)) & np.int64(0x7FFFFFFF)
    b = left[(state * size) >> np.int64(31)]
    state = (state * np.int64(1103515245) + np.int64(12345)) & np.int64(0x7FFFFFFF)
    c = left[(state * size) >> np.int64(31)]
    return max(min(a, b), min(max(a, b), c)), state


@inner_kernel
def middle_of_bits(left: np.ndarray) -> float:
    """The number whose key is midway between the least and the greatest of ``left``, float64[m]; rounded up."""
    least = key_of(left[0])
    greatest = least
    for i in range(left.shape[0]):
        key = key_of(left[i])
        least, greatest = min(least, key), max(greatest, key)
    middle = (least | greatest) - ((least ^ greatest) >> np.int64(1))
    return np.int64(middle ^ ((middle >> np.int64(63)) & np.int64(_ALL_BUT_SIGN))).view(np.float64)


@inner_kernel
def key_of(number: float) -> np.int64:
    """An int64 for a float64, with the same order as all float64."""
    bits = np.float64(number).view(np.int64)
    return bits ^ ((bits >> np.int64(63)) & np.int64(_ALL_BUT_SIGN))


@inner_kernel
def weight_below(left: np.ndarray, amounts: np.ndarray, pivot: float) -> tuple[np.int64, np.int64]:
    """The weights below and equal to the pivot; ``left`` float64[m], ``amounts`` int64[m] or empty."""
    below = np.int64(0)
    equal = np.int64(0)
    if amounts.shape[0] == 0:
        for i in range(left.shape[0]):
            below += np.int64(left[i] < pivot)
            equal += np.int64(left[i] == pivot)
    else:
        for i in range(left.shape[0]):
            below += amounts[i] if left[i] < pivot else np.int64(0)
            equal += amounts[i] if left[i] == pivot else np.int64(0)
    return below, equal


@inner_kernel
def keep(left: np.ndarray, amounts: np.ndarray, pivot: float, lower: bool) -> np.int64:
    """Move the numbers below the pivot, or above it, to the front; returns how many these are.

    ``left`` float64[m], ``amounts`` int64[m] or empty.
    """
    kept = np.int64(0)
    for i in range(left.shape[0]):
        number = left[i]
        left[kept] = number
        if amounts.shape[0] > 0:
            amounts[kept] = amounts[i]
        kept += np.int64(number < pivot if lower else number > pivot)
    return kept


# Constants without a formula -----------------------------------------------------------------------------------------
#
# Newton's method on exact sums: the result is the same in any order of rows, and for a row of weight 2 given twice.


def expectile_of(target: np.ndarray, weights: np.ndarray | None, level: float) -> float:
    """The constant with the least sum of squares, weighted ``level`` above it and ``1 - level`` below.

    Newton's method on a convex function of quadratic pieces: it ends at the exact minimum of one piece (Newey and
    Powell 1987, "Asymmetric least squares estimation and testing").

    ``target`` (float64[n], up to 1e200 in magnitude). ``weights`` (float64[n] > 0, or None).
    """
    shares = scaled_weights(weights)
    below_factor, above_factor = Fraction(1.0 - level), Fraction(level)
    constant = weighted_mean(target, weights)
    below_weight: Fraction | None = None
    for _ in range(_MAX_STEPS):
        below, above, _none = grouped_sums(target, shares, low=constant)
        if below.weight == below_weight:
            break  # the same rows as before
        below_weight = below.weight
        weight = below_factor * below.weight + above_factor * above.weight
        constant = float((below_factor * below.product + above_factor * above.product) / weight)
    return constant


def huber_centre(target: np.ndarray, weights: np.ndarray | None, delta: float) -> float:
    """The constant with the least sum of Huber's losses.

    Its derivative is piecewise linear: Newton's method from the median, within an interval that is halved if that does
    not end (Huber 1964, "Robust estimation of a location parameter").

    ``target`` (float64[n], up to 1e200 in magnitude). ``weights`` (float64[n] > 0, or None).
    """
    shares = scaled_weights(weights)
    low, high = float(target.min()), float(target.max())
    constant = weighted_quantile(target, weights, 0.5)
    limit = Fraction(delta)
    for step in range(_MAX_STEPS):
        below, near, above = grouped_sums(target, shares, constant - delta, constant + delta)
        pull = near.product + limit * (above.weight - below.weight)
        slope = near.weight * Fraction(constant) - pull
        if slope == 0:
            break
        low, high = (low, min(high, constant)) if slope > 0 else (max(low, constant), high)
        newton = step < _NEWTON_STEPS and near.weight > 0
        following = float(pull / near.weight) if newton else low
        if not low <= following <= high or not newton:
            following = 0.5 * low + 0.5 * high
        if following == constant:
            break
        constant = following
    return constant
