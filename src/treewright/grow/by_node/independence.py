"""Tests of independence and their Bonferroni multipliers. In: statistics of groups. Out: logarithms of p-values.

Everything is a logarithm, so that columns whose p-values are below 1e-308 still have an order. Chi-squared and F tails
are the incomplete gamma and beta functions (DLMF 8.7.1, 8.9.2 and 8.17.22).
"""

from __future__ import annotations

import numpy as np

from treewright.core.elementary import exp, log, log1p, log_add, log_gamma
from treewright.core.jit import allocating_inner_kernel, inner_kernel

PEARSON, LIKELIHOOD_RATIO, F_TEST = range(3)
SMALLEST = 1e-300
MOST_TERMS = 1_000_000
EPSILON = 2.0**-53
WITHIN_IS_ROUNDING, BETWEEN_IS_ROUNDING = 1e-12, 1e-24  # shares of the sum of squares
SPLITTER, LARGEST_ROUNDED = 2.0**13 + 1.0, 1e300


@inner_kernel
def log_chi_squared_tail(statistic, dof):
    """Logarithm of the chance that chi-squared with ``dof`` degrees of freedom is ``statistic`` or more."""
    if dof <= 0.0 or not statistic > 0.0:
        return 0.0
    if statistic == np.inf:
        return -np.inf
    a = 0.5 * dof
    x = 0.5 * statistic
    front = a * log(x) - x - log_gamma(a)
    if x < a + 1.0:
        term = 1.0 / a
        total = term
        n = a
        for _ in range(MOST_TERMS):
            n += 1.0
            term *= x / n
            total += term
            if term < total * EPSILON:
                break
        return log1p(-min(exp(front) * total, 1.0 - EPSILON))
    # Lentz's method for the continued fraction of the upper function.
    b = x + 1.0 - a
    c = 1.0 / SMALLEST
    d = 1.0 / b
    h = d
    for i in range(1, MOST_TERMS):
        an = -i * (i - a)
        b += 2.0
        d = an * d + b
        if abs(d) < SMALLEST:
            d = SMALLEST
        c = b + an / c
        if abs(c) < SMALLEST:
            c = SMALLEST
        d = 1.0 / d
        h *= d * c
        if abs(d * c - 1.0) < 4.0 * EPSILON:
            break
    return min(front + log(h), 0.0)


@inner_kernel
def _beta_fraction(a, b, x):
    """Continued fraction of the incomplete beta function, by Lentz's method; fast for ``x < (a + 1) / (a + b + 2)``."""
    c = 1.0
    d = 1.0 - (a + b) * x / (a + 1.0)
    if abs(d) < SMALLEST:
        d = SMALLEST
    d = 1.0 / d
    h = d
    for m in range(1, MOST_TERMS):
        even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        for numerator in (even, odd):
            d = 1.0 + numerator * d
            if abs(d) < SMALLEST:
                d = SMALLEST
            c = 1.0 + numerator / c
            if abs(c) < SMALLEST:
                c = SMALLEST
            d = 1.0 / d
            h *= d * c
        if abs(d * c - 1.0) < 4.0 * EPSILON:
            break
    return h


@inner_kernel
def log_f_tail(statistic, dof_between, dof_within):
    """Logarithm of the chance that F with these degrees of freedom is ``statistic`` or more."""
    if dof_between <= 0.0 or dof_within <= 0.0 or not statistic > 0.0:
        return 0.0
    if statistic == np.inf:
        return -np.inf
    a = 0.5 * dof_within
    b = 0.5 * dof_between
    ratio = dof_between * statistic / dof_within
    log_x = -log1p(ratio)
    log_rest = log(ratio) + log_x
    x = exp(log_x)
    front = a * log_x + b * log_rest + log_gamma(a + b) - log_gamma(a) - log_gamma(b)
    if x < (a + 1.0) / (a + b + 2.0):
        return min(front + log(_beta_fraction(a, b, x) / a), 0.0)
    below = exp(front) * _beta_fraction(b, a, exp(log_rest)) / b
    return log1p(-min(below, 1.0 - EPSILON))


@inner_kernel
def rounded(x):
    """Round to 40 bits: pairs that differ only by rounding are equal, and the first of them counts."""
    if x > LARGEST_ROUNDED:
        return x
    spread = SPLITTER * x
    return spread - (spread - x)  # Veltkamp's splitting: the upper bits


@inner_kernel
def compare(first, second, test):
    """The statistic of the difference between two groups.

    Parameters
    ----------
    first, second : float64[n_stats], IN
        Weights of the classes, or weight, sum and sum of squares.

    Returns
    -------
    statistic : float, to 40 bits
    room : float
        Degrees of freedom of chi-squared, or minus those within of F: at equal statistics p grows with it.
    """
    if test == F_TEST:
        statistic, within = _compare_means(first, second)
        return rounded(statistic), -within
    weight_first = 0.0
    weight_second = 0.0
    for t in range(first.shape[0]):
        weight_first += first[t]
        weight_second += second[t]
    dof = -1.0
    statistic = 0.0
    for t in range(first.shape[0]):
        both = first[t] + second[t]
        if both <= 0.0:
            continue  # a class that neither group holds does not count
        dof += 1.0
        if test == PEARSON:
            apart = first[t] * weight_second - second[t] * weight_first
            statistic += (apart / weight_first) * (apart / weight_second) / both
        else:
            share = both / (weight_first + weight_second)
            if first[t] > 0.0:
                statistic += 2.0 * first[t] * log(first[t] / (share * weight_first))
            if second[t] > 0.0:
                statistic += 2.0 * second[t] * log(second[t] / (share * weight_second))
    return rounded(_not_rounding(statistic, weight_first + weight_second)), max(dof, 0.0)


@inner_kernel
def _not_rounding(statistic, weight):
    """The statistic, or 0 if it is only the rounding error of logarithms of equal shares."""
    return 0.0 if statistic < 1e-13 * weight else statistic


@inner_kernel
def _compare_means(first, second):
    """F statistic of two groups and its degrees of freedom within. ``first`` float64[3], ``second`` float64[3]."""
    weight = first[0] + second[0]
    within_dof = max(weight - 2.0, 0.0)
    apart = first[1] / first[0] - second[1] / second[0]
    between = apart * apart * first[0] * (second[0] / weight)
    squares = first[2] + second[2]
    within = max(first[2] - first[1] * (first[1] / first[0]), 0.0)
    within += max(second[2] - second[1] * (second[1] / second[0]), 0.0)
    if between <= BETWEEN_IS_ROUNDING * squares or within_dof <= 0.0:
        return 0.0, within_dof
    if within <= WITHIN_IS_ROUNDING * squares:
        return np.inf, within_dof
    return between / (within / within_dof), within_dof


@inner_kernel
def log_p_of_pair(statistic, room, test):
    """Logarithm of the p-value of a result of ``compare``."""
    if test == F_TEST:
        return log_f_tail(statistic, 1.0, -room)
    return log_chi_squared_tail(statistic, room)


@allocating_inner_kernel
def test_groups(groups, n_groups, test):
    """Test the independence of target and group.

    Parameters
    ----------
    groups : float64[>= n_groups, n_stats], IN

    Returns
    -------
    statistic, dof, dof_within (0 for chi-squared), log_p : float
    """
    if test == F_TEST:
        return _test_means(groups, n_groups)
    n_classes = groups.shape[1]
    classes = np.zeros(n_classes)
    weights = np.zeros(n_groups)
    for g in range(n_groups):
        for t in range(n_classes):
            classes[t] += groups[g, t]
            weights[g] += groups[g, t]
    total = weights.sum()
    n_held = 0
    statistic = 0.0
    for t in range(n_classes):
        if classes[t] <= 0.0:
            continue
        n_held += 1
        for g in range(n_groups):
            expected = weights[g] * (classes[t] / total)
            count = groups[g, t]
            if expected <= 0.0:
                continue
            if test == PEARSON:
                statistic += (count - expected) * ((count - expected) / expected)
            elif count > 0.0:
                statistic += 2.0 * count * log(count / expected)
    dof = float((n_groups - 1) * (n_held - 1))
    statistic = _not_rounding(statistic, total)
    return statistic, dof, 0.0, log_chi_squared_tail(statistic, dof)


@inner_kernel
def _test_means(groups, n_groups):
    """One-way analysis of variance of weight, sum and sum of squares. ``groups`` float64[>= n_groups, 3]."""
    weight = 0.0
    total = 0.0
    squares = 0.0
    within = 0.0
    for g in range(n_groups):
        weight += groups[g, 0]
        total += groups[g, 1]
        squares += groups[g, 2]
        within += max(groups[g, 2] - groups[g, 1] * (groups[g, 1] / groups[g, 0]), 0.0)
    between = 0.0
    for g in range(n_groups):
        apart = groups[g, 1] / groups[g, 0] - total / weight
        between += groups[g, 0] * apart * apart
    dof = n_groups - 1.0
    within_dof = max(weight - n_groups, 0.0)
    if between <= BETWEEN_IS_ROUNDING * squares or within_dof <= 0.0:
        return 0.0, dof, within_dof, 0.0
    if within <= WITHIN_IS_ROUNDING * squares:
        return np.inf, dof, within_dof, -np.inf
    statistic = between / dof / (within / within_dof)
    return statistic, dof, within_dof, log_f_tail(statistic, dof, within_dof)


@inner_kernel
def _log_choose(n, k):
    """Logarithm of the number of ways to choose k of n; -inf if there is none."""
    if k < 0 or k > n:
        return -np.inf
    total = 0.0
    for i in range(1, min(k, n - k) + 1):
        total += log((n - min(k, n - k) + i) / i)
    return total


@allocating_inner_kernel
def _log_partitions(c, r):
    """Logarithm of the number of ways to divide c things into r groups (Stirling's second kind).

    By S(n, k) = k S(n - 1, k) + S(n - 1, k - 1), which subtracts nothing; Kass's alternating sum is the same number.
    """
    if r in (1, c):
        return 0.0
    if r == 2:
        return (c - 1) * log(2.0) + log1p(-(2.0 ** (1 - c)))
    # Entry k of ways is that of n things into k groups; only those that lead to (c, r) are kept up.
    ways = np.full(r + 1, -np.inf)
    ways[0] = 0.0
    for n in range(1, c + 1):
        for k in range(min(n, r), max(1, r - (c - n)) - 1, -1):
            ways[k] = log_add(log(k) + ways[k], ways[k - 1])
        ways[0] = -np.inf
    return ways[r]


@inner_kernel
def log_multiplier(c, r, is_ordered, is_floating, is_exhaustive):
    """Logarithm of Bonferroni's multiplier: the number of ways in which c categories can become r groups.

    Kass (1980), section 3: nominal (free), ordinal (monotonic), ordinal with a floating category. Biggs, de Ville and
    Suen (1991) for the exhaustive search: pairs that could be merged, over all steps down from c categories.
    """
    if is_exhaustive:
        if is_ordered and is_floating:
            # Neighbours among the c - 1 in order, and the floating one with any of them: (c-1)(c-2)/2 + c(c-1)/2.
            return 2.0 * log(c - 1.0)
        if is_ordered:
            return log(0.5 * c * (c - 1.0))
        return log(c * (float(c) * c - 1.0) / 6.0)
    if not is_ordered:
        return _log_partitions(c, r)
    if not is_floating:
        return _log_choose(c - 1, r - 1)
    return log_add(_log_choose(c - 2, r - 2), log(r) + _log_choose(c - 2, r - 1))
