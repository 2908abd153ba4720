"""Quantile regression forests as Meinshausen (2006) writes them, in plain Python and whole fractions."""

from __future__ import annotations

from fractions import Fraction

# Shares so close below a quantile count as reached.
CLOSE = Fraction(1, 2**30)


def weights_of_rows(leaves_of_fit, amounts, leaves):
    """The weight of every training row for one new row: the mean over the trees of its share of the leaf.

    ``leaves_of_fit[tree][row]`` is the leaf of a training row, ``amounts[tree][row]`` how often the tree drew it (or
    what it weighs), ``leaves[tree]`` the leaf of the new row.
    """
    n_trees = len(leaves)
    weights = [Fraction(0)] * len(amounts[0])
    for tree in range(n_trees):
        inside = [row for row, leaf in enumerate(leaves_of_fit[tree]) if leaf == leaves[tree]]
        whole = sum(Fraction(amounts[tree][row]) for row in inside)
        for row in inside:
            weights[row] += Fraction(amounts[tree][row]) / whole / n_trees
    return weights


def quantile(targets, weights, wanted):
    """The lowest target up to which the weights add up to what is wanted."""
    reached = Fraction(0)
    least = 1 if wanted == 1 else Fraction(wanted) - CLOSE
    for target, weight in sorted(zip(targets, weights, strict=True)):
        reached += weight
        if weight > 0 and reached >= least:
            return target
    raise AssertionError("the weights do not add up to one")
