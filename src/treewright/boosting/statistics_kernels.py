"""Means of levels over earlier rows. In: levels, targets, an order of rows. Out: values. Caller: .statistics."""

from __future__ import annotations

import numpy as np

from treewright.core.jit import bare_kernel
from treewright.core.random import mix


@bare_kernel
def order_keys(seed: np.uint64, permutation: np.uint64, keys: np.ndarray) -> None:
    """Numbers that put rows in a random order, no two of them equal.

    Parameters
    ----------
    seed, permutation : uint64
    keys : uint64[n], OUT
        Of row i, ``mix`` of seed, permutation and i: for one state ``mix`` never maps two positions to one number.
    """
    state = mix(seed, permutation)
    for i in range(keys.shape[0]):
        keys[i] = mix(state, np.uint64(i))


@bare_kernel
def add_ordered_means(
    levels: np.ndarray,
    order: np.ndarray,
    target: np.ndarray,
    weights: np.ndarray,
    prior: float,
    prior_weight: float,
    sums: np.ndarray,
    counts: np.ndarray,
    values: np.ndarray,
) -> None:
    """To each row's value, add the smoothed mean of the target over earlier rows of its level.

    Values are distances from the prior. A row's own target is read after its value is made, so no value depends on the
    targets of its own or of later rows. Sums are of targets themselves, not of distances: those of 0 and 1 are exact,
    and levels with the same counts share a value.

    Parameters
    ----------
    levels : int32[n], IN
        -1 where the cell is missing: such rows get nothing and give nothing. From len(sums) on: a level that has no
        sum; such rows get the prior.
    order : int64[n], IN
        Rows, the earliest first.
    target : float64[n], IN
    weights : float64[n] or float64[0], IN
        Empty: every row weighs one.
    prior, prior_weight : float64
    sums, counts : float64[n_levels], IN and OUT
        Weighted sum of targets and sum of weights of each level; zeros at first, at the end those of all rows.
    values : float64[n], IN and OUT
    """
    for at in range(order.shape[0]):
        row = order[at]
        level = levels[row]
        if level < 0 or level >= sums.shape[0]:
            continue
        weight = weights[row] if weights.shape[0] > 0 else 1.0
        if counts[level] > 0.0:
            values[row] += (sums[level] - counts[level] * prior) / (counts[level] + prior_weight)
        sums[level] += weight * target[row]
        counts[level] += weight
