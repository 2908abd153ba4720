"""Weighted quantiles of what is left in each leaf. In: targets, scores, leaves. Out: a number a leaf.

Callers: boosting.losses_numbers.

The quantile is the least number up to which at least its share of the weight lies; where that share ends exactly
between two numbers, the middle of both. Weights are whole numbers here (``grow.objective.fixed_weights``), so that
their sums are exact.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import bare_inner_kernel, bare_kernel
from treewright.grow.objective import fixed_weights

# Rounds of a selection whose pivots are drawn. Each halves what is left or nearly so; where chance or malice makes them
# all bad, the bits of the numbers are halved instead, which ends after 64 rounds whatever the numbers are.
DRAWN_ROUNDS = 48
_ALL_BUT_SIGN = 0x7FFFFFFFFFFFFFFF


@bare_inner_kernel
def key_of(number: float) -> np.int64:
    """A whole number in the order of the numbers of float64."""
    bits = np.float64(number).view(np.int64)
    return bits ^ ((bits >> np.int64(63)) & np.int64(_ALL_BUT_SIGN))


@bare_inner_kernel
def middle_of_bits(left: np.ndarray) -> float:
    """The number whose key lies in the middle between the least and the greatest, rounded up."""
    least = key_of(left[0])
    greatest = least
    for i in range(left.shape[0]):
        key = key_of(left[i])
        least, greatest = min(least, key), max(greatest, key)
    middle = (least | greatest) - ((least ^ greatest) >> np.int64(1))
    return np.int64(middle ^ ((middle >> np.int64(63)) & np.int64(_ALL_BUT_SIGN))).view(np.float64)


@bare_inner_kernel
def drawn_pivot(left: np.ndarray, state: np.int64) -> tuple[float, np.int64]:
    """The middle one of three numbers that a linear congruential sequence draws, and the sequence's next state."""
    size = np.int64(left.shape[0])
    state = (state * np.int64(1103515245) + np.int64(12345)) & np.int64(0x7FFFFFFF)
    a = left[(state * size) >> np.int64(31)]
    state = (state * np.int64(1103515245) + np.int64(12345)) & np.int64(0x7FFFFFFF)
    b = left[(state * size) >> np.int64(31)]
    state = (state * np.int64(1103515245) + np.int64(12345)) & np.int64(0x7FFFFFFF)
    c = left[(state * size) >> np.int64(31)]
    return max(min(a, b), min(max(a, b), c)), state


@bare_inner_kernel
def weight_below(left: np.ndarray, amounts: np.ndarray, pivot: float) -> tuple[np.int64, np.int64]:
    """What weighs less than the pivot in the order, and what is equal to it."""
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


@bare_inner_kernel
def keep(left: np.ndarray, amounts: np.ndarray, pivot: float, lower: bool) -> np.int64:
    """Move what lies below the pivot, or above it, to the front; returns how many these are."""
    kept = np.int64(0)
    for i in range(left.shape[0]):
        number = left[i]
        left[kept] = number
        if amounts.shape[0] > 0:
            amounts[kept] = amounts[i]
        kept += np.int64(number < pivot if lower else number > pivot)
    return kept


@bare_inner_kernel
def selected(left: np.ndarray, amounts: np.ndarray, need: float, n_drawn: int) -> tuple[float, bool]:
    """The least number up to which ``need`` weighs, and whether exactly that weighs so much.

    Parameters
    ----------
    left : float64[m], at least one; amounts : int64[m], or empty for weights of 1
        Their order is lost.
    need : float
        Above 0, up to the whole weight.
    n_drawn : int
        Rounds whose pivots are drawn.
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


@bare_kernel
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
            # The next number. It exists: less than all of the weight lies up to this one.
            upper = np.inf
            for i in range(first, last):
                number = target[rows[i]] - scores[rows[i]]
                upper = min(upper, number if number > lower else np.inf)
            upper = lower if upper == np.inf else upper
        found[leaf] = 0.5 * lower + 0.5 * upper


def renew_quantiles(
    level: float, target: np.ndarray, scores: np.ndarray, weights: np.ndarray | None, rows: np.ndarray,
    starts: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """float64[n_leaves]: the weighted quantile of target minus score in each leaf; parameters as ``Loss.renewed``.

    ``scores`` float64[n] are those of one score.
    """
    found = np.empty(len(starts) - 1)
    fixed, _ = fixed_weights(weights, len(target))
    amounts = np.empty(len(rows) if len(fixed) else 0, np.int64)
    left = np.empty(len(rows))
    leaf_quantiles(target, scores, fixed, rows, starts, level, DRAWN_ROUNDS, left, amounts, found)
    return found


def weighted_quantile(numbers: np.ndarray, weights: np.ndarray | None, level: float) -> float:
    """The weighted quantile of at least one number.

    Parameters
    ----------
    numbers : float64[n]
    weights : float64[n] > 0, or None
    level : float, between 0 and 1

    Examples
    --------
    >>> numbers = np.array([4.0, 1.0, 2.0, 3.0])
    >>> weighted_quantile(numbers, None, 0.5), weighted_quantile(numbers, None, 0.6)
    (2.5, 3.0)
    """
    rows, starts = np.arange(len(numbers), dtype=np.int32), np.array([0, len(numbers)])
    numbers = np.ascontiguousarray(numbers)  # a column of several is not; for it the kernel would be compiled again
    return float(renew_quantiles(level, numbers, np.zeros(len(numbers)), weights, rows, starts)[0])
