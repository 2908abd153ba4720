"""Impurities and gains written out as by hand. In: counts, numbers. Out: one line each.

A line is ``label = what is computed = result``. Results come from all digits of the numbers; where the printed ones,
taken as they stand, give another last digit, the line says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from treewright.core.elementary import log2_of, log_of

MOST_DECIMALS, MOST_DIGITS = 15, 1e15  # beyond, numbers have an exponent
MOST_TERMS = 8  # a sum of more terms is not written out


@dataclass(frozen=True)
class Written:
    """A computation: its text, and its result from the printed (rounded) numbers."""

    text: str
    rounded: float


@dataclass(frozen=True)
class Paper:
    """How numbers are written."""

    decimals: int  # digits after the point
    log: str = "log2"  # ``"log2"`` or ``"ln"``

    def number(self, value: float) -> str:
        """A number with all decimals: ``0.940``."""
        if not math.isfinite(value):
            return "-" if math.isnan(value) else str(value)
        if abs(value) >= MOST_DIGITS or (self.decimals == MOST_DECIMALS and 0 < abs(value) < 1 / MOST_DIGITS):
            return f"{value:.4g}"
        text = f"{value:.{self.decimals}f}"
        return text[1:] if float(text) == 0 and text.startswith("-") else text

    def as_printed(self, value: float) -> float:
        """A number rounded as it is printed."""
        return float(self.number(value))

    def line(self, label: str, written: Written, value: float, unit: str = "") -> str:
        """Return ``label = computation = value unit``, and what the printed numbers give where that differs."""
        result = self.number(value)
        text = f"{label} = {written.text} = {result}" + (f" {unit}" if unit else "")
        other = self.number(written.rounded)
        return text if other == result else f"{text}  (the rounded numbers give {other})"

    def logarithm(self, value: float) -> float:
        """The logarithm in the base of the text."""
        return float(log2_of(value)) if self.log == "log2" else float(log_of(value))

    def entropy(self, parts: Sequence[float]) -> Written | None:
        """Return ``-(9/14) log2(9/14) - (5/14) log2(5/14)``; None if it is obviously 0 or too long."""
        parts = [part for part in parts if part > 0]
        if not 1 < len(parts) <= MOST_TERMS:
            return None
        total = sum(parts)
        shares = [fraction(part, total) for part in parts]
        text = " - ".join(f"({share.text}) {self.log}({share.text})" for share in shares)
        return Written(f"-{text}", -sum(share.rounded * self.logarithm(share.rounded) for share in shares))

    def gini(self, parts: Sequence[float]) -> Written | None:
        """Return ``1 - (9/14)^2 - (5/14)^2``; None as for `entropy`."""
        parts = [part for part in parts if part > 0]
        if not 1 < len(parts) <= MOST_TERMS:
            return None
        shares = [fraction(part, sum(parts)) for part in parts]
        text = " - ".join(f"({share.text})^2" for share in shares)
        return Written(f"1 - {text}", 1.0 - sum(share.rounded**2 for share in shares))

    def misclassification(self, parts: Sequence[float]) -> Written | None:
        """Return ``1 - 9/14``: 1 minus the share of the largest class; None if there is one class."""
        parts = [part for part in parts if part > 0]
        if len(parts) < 2:
            return None
        share = fraction(max(parts), sum(parts))
        return Written(f"1 - {share.text}", 1.0 - share.rounded)

    def variance(self, targets: Sequence[float], mean: float) -> Written:
        """Return ``((1 - 2.5)^2 + (4 - 2.5)^2)/2``."""
        middle = plain(mean)
        terms = [
            f"({plain(y)} - {middle})^2" if not middle.startswith("-") else f"({plain(y)} + {middle[1:]})^2"
            for y in targets
        ]
        squares = sum((float(plain(y)) - float(middle)) ** 2 for y in targets)
        return Written(f"({' + '.join(terms)})/{len(targets)}", squares / len(targets))

    def weighted(self, weights: Sequence[float], total: float, values: Sequence[float]) -> Written | None:
        """Return ``5/14 x 0.971 + 4/14 x 0.000``; None where it is too long."""
        if len(weights) > MOST_TERMS:
            return None
        shares = [fraction(weight, total) for weight in weights]
        pairs = list(zip(shares, values, strict=True))
        text = " + ".join(f"{share.text} x {self.number(value)}" for share, value in pairs)
        return Written(text, sum(share.rounded * self.as_printed(value) for share, value in pairs))

    def gain(self, before: float, after: float, price: float, known: Written | None) -> Written:
        """Return ``0.940 - 0.694``, with the share of known weight and the price if there are any."""
        taken = self.number(after)
        text = f"{self.number(before)} - " + (f"({taken})" if taken.startswith("-") else taken)
        rounded = self.as_printed(before) - self.as_printed(after)
        if known is not None:
            text, rounded = f"{known.text} x ({text})", known.rounded * rounded
        if price:
            text, rounded = f"{text} - {self.number(price)}", rounded - self.as_printed(price)
        return Written(text, rounded)

    def ratio(self, gain: float, split_info: float) -> Written:
        """Return ``0.247 / 1.577``."""
        below = self.as_printed(split_info)
        rounded = self.as_printed(gain) / below if below else math.nan
        return Written(f"{self.number(gain)} / {self.number(split_info)}", rounded)

    def mean(self, values: Sequence[float]) -> Written | None:
        """Return ``(0.247 + 0.029)/2``; None where it is too long."""
        if not 0 < len(values) <= MOST_TERMS:
            return None
        terms = " + ".join(self.number(value) for value in values)
        return Written(f"({terms})/{len(values)}", sum(map(self.as_printed, values)) / len(values))

    def expected(self, value: float) -> str:
        """An expected count: four decimals at least, and five digits where it is small."""
        digits = max(self.decimals, 3) + 1
        if 0 < value < 1:
            digits += -math.floor(math.log10(value))
        return plain(round(value, digits))

    def squares(self, observed: Sequence[float], expected: Sequence[float]) -> Written:
        """Return ``(22 - 40)^2/40 + (58 - 40)^2/40``: what a branch adds to Pearson's statistic."""
        texts, rounded = [], 0.0
        for found, value in zip(map(plain, observed), map(self.expected, expected), strict=True):
            texts.append(f"({found} - {value})^2/{value}")
            rounded += (float(found) - float(value)) ** 2 / float(value)
        return Written(" + ".join(texts), rounded)

    def price(self, tried: int, weight: float) -> Written:
        """Return ``log2(12)/14``."""
        return Written(f"{self.log}({tried})/{plain(weight)}", self.logarithm(tried) / float(plain(weight)))


Formula = Callable[[Paper, Sequence[float]], "Written | None"]
CLASS_FORMULAS: dict[str, Formula] = {
    "gini": Paper.gini,
    "entropy": Paper.entropy,
    "misclassification": Paper.misclassification,
}


def plain(value: float) -> str:
    """A count, weight or target: all digits of a whole number, else seven.

    Examples
    --------
    >>> plain(14.0), plain(0.1 + 0.2)
    ('14', '0.3')
    """
    value = float(value)
    return f"{value:.0f}" if value.is_integer() and abs(value) < MOST_DIGITS else f"{value:.7g}"


def fraction(part: float, total: float) -> Written:
    """Return ``5/14``.

    Examples
    --------
    >>> fraction(5.0, 14.0).text
    '5/14'
    """
    above, below = plain(part), plain(total)
    return Written(f"{above}/{below}", float(above) / float(below))


def decimals_for(digits: int, size: float) -> int:
    """The decimals that show ``digits`` of a number of this size; 15 at most.

    Examples
    --------
    >>> decimals_for(3, 0.9), decimals_for(3, 250.0), decimals_for(3, 0.0004)
    (3, 1, 6)
    """
    if not size > 0 or not math.isfinite(size):
        return digits
    return int(min(max(digits - math.floor(math.log10(size)) - 1, 1), MOST_DECIMALS))
