"""Ordered target statistics by the definition: for each row, a loop over all rows."""

from __future__ import annotations

import math

WORD = 2**64


def naive_mix(state: int, position: int) -> int:
    """splitmix64's finaliser, on whole numbers of Python."""
    z = (state + (position + 1) * 0x9E3779B97F4A7C15) % WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % WORD
    return z ^ (z >> 31)


def naive_places(n: int, seed: int, permutation: int) -> list[int]:
    """How many rows stand before each row."""
    state = naive_mix(seed, permutation)
    keys = [naive_mix(state, row) for row in range(n)]
    return [sum(other < key for other in keys) for key in keys]


def naive_mean(rows, level, levels, target, weights, prior, prior_weight):
    """The smoothed mean of some rows' targets, those of one level; the prior where there is none."""
    own = [row for row in rows if levels[row] == level]
    count = math.fsum(weights[row] for row in own)
    if not own:
        return prior
    return (math.fsum(weights[row] * target[row] for row in own) + prior_weight * prior) / (count + prior_weight)


def naive_statistics(levels, n_levels, target, weights, prior_weight, n_permutations, seed):
    """Value of each row (None where missing) and of each level (None without rows); the prior."""
    n = len(levels)
    prior = math.fsum(w * y for w, y in zip(weights, target, strict=True)) / math.fsum(weights)
    every = [naive_places(n, seed, permutation) for permutation in range(n_permutations)]
    values = []
    for row in range(n):
        if levels[row] < 0:
            values.append(None)
            continue
        means = [
            naive_mean(
                [other for other in range(n) if places[other] < places[row]] if levels[row] < n_levels else [],
                levels[row], levels, target, weights, prior, prior_weight,
            )
            for places in every
        ]  # fmt: skip
        values.append(math.fsum(means) / n_permutations)
    final = [
        naive_mean(range(n), level, levels, target, weights, prior, prior_weight) if level in levels else None
        for level in range(n_levels)
    ]
    return values, final, prior
