"""The infinitesimal jackknife as Wager, Hastie and Efron (2014) write it, in plain Python."""

from __future__ import annotations

import math


def variance(said, counts, repeats):
    """Equation 5 less the correction of equation 7, for one prediction.

    ``said[tree]`` is what a tree says, ``counts[tree][row]`` how often it drew a row, ``repeats[row]`` how many rows a
    row stands for: the same trees' draws of its copies cannot be told apart, so each has an equal part.
    """
    n_trees, n = len(said), len(repeats)
    mean = math.fsum(said) / n_trees
    n_units, n_draws = sum(repeats), sum(counts[0])
    squares = []
    for row in range(n):
        expected = n_draws * repeats[row] / n_units
        covariance = (
            math.fsum((counts[tree][row] - expected) * (said[tree] - mean) for tree in range(n_trees)) / n_trees
        )
        squares.append(repeats[row] * (covariance / repeats[row]) ** 2)
    spread = math.fsum((answer - mean) ** 2 for answer in said)
    return math.fsum(squares) - n_draws * n / n_units / n_trees**2 * spread
