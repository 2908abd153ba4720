"""Bias, variance and noise in plain Python, with exact fractions. In: predictions, labels. Out: parts of one row.

Caller: test_bias_variance_twin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction


def share(values: Sequence[object], wanted: object) -> Fraction:
    return Fraction(sum(value == wanted for value in values), len(values))


def squared_row(said: Sequence[Fraction], y: Fraction, h: Fraction) -> dict[str, Fraction]:
    """The parts at one row: every expectation is a mean over pairs of different rounds or over the rounds."""
    R = len(said)
    pairs = [(a, b) for a in range(R) for b in range(R) if a != b]
    # With f, f' of two different rounds, E (f - h)(f' - h) is the squared bias and E (f - f')^2 / 2 the variance.
    bias = sum(((said[a] - h) * (said[b] - h) for a, b in pairs), Fraction(0)) / len(pairs)
    variance = sum(((said[a] - said[b]) ** 2 / 2 for a, b in pairs), Fraction(0)) / len(pairs)
    return {
        "loss": sum(((y - f) ** 2 for f in said), Fraction(0)) / R,
        "bias_squared": bias,
        "variance": variance,
        "noise": (y - h) ** 2,
        "cross": sum((2 * (h - f) * (y - h) for f in said), Fraction(0)) / R,
        "bias_and_noise": sum(((said[a] - y) * (said[b] - y) for a, b in pairs), Fraction(0)) / len(pairs),
    }


def domingos_row(said: Sequence[int], t: int, h: int) -> dict[str, Fraction]:
    """The quantities of Domingos (2000), theorem by theorem, where the label of the row is t for certain."""
    counts = Counter(said)
    main = min(counts, key=lambda label: (-counts[label], label))
    bias = Fraction(main != h)
    variance = 1 - share(said, main)
    others = [f for f in said if f != main]
    c2 = Fraction(1) if main == h else -(share(others, h) if others else Fraction(0))
    # P_D(f = h) - P_D(f != h) P(f = t | f != h)
    missed = [f for f in said if f != h]
    c1 = share(said, h) - (Fraction(len(missed), len(said)) * share(missed, t) if missed else 0)
    return {
        "loss": 1 - share(said, t),
        "main": Fraction(main),
        "bias": bias,
        "variance": variance,
        "c1": c1,
        "c2": c2,
        "noise": Fraction(t != h),
    }
