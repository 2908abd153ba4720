"""Bins by definition, in fractions. In: cells as Python floats. Out: bins as lists. Caller: test_bins_against_twin."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

LARGEST = sys.float_info.max


def summed_up(cells: list[float], weights: list[Fraction]) -> dict[float, Fraction]:
    """Weight of each distinct value, ascending; nan and rows without weight do not count."""
    found: dict[float, Fraction] = {}
    for cell, weight in zip(cells, weights, strict=True):
        if not math.isnan(cell) and weight > 0:
            found[cell] = found.get(cell, Fraction(0)) + weight
    return dict(sorted(found.items()))


def heavy_ones(found: dict[float, Fraction], max_bins: int) -> set[float]:
    """Values that weigh more than a fair bin of the others, until no more are found."""
    heavy: set[float] = set()
    while True:
        rest = sum(weight for value, weight in found.items() if value not in heavy)
        more = {v for v, weight in found.items() if v not in heavy and weight > Fraction(rest, max_bins - len(heavy))}
        if not more:
            return heavy
        heavy |= more


def pieces_of(found: dict[float, Fraction], heavy: set[float]) -> list[list[float]]:
    """The values cut before and after each heavy one."""
    pieces: list[list[float]] = []
    for value in found:
        if not pieces or value in heavy or pieces[-1][0] in heavy:
            pieces.append([])
        pieces[-1].append(value)
    return pieces


def naive_bins(cells: list[float], weights: list[Fraction], max_bins: int) -> list[list[float]]:
    """The distinct values of each bin of a numeric column."""
    found = summed_up(cells, weights)
    if len(found) <= max_bins:
        return [[value] for value in found]
    heavy = heavy_ones(found, max_bins)
    pieces = pieces_of(found, heavy)
    if len(pieces) > max_bins:
        heavy, pieces = set(), [list(found)]
    waiting = sum(piece[0] not in heavy for piece in pieces)  # stretches that still need a bin
    to_fill = max_bins - len(heavy)
    left = sum(weight for value, weight in found.items() if value not in heavy)
    bins: list[list[float]] = []
    for piece in pieces:
        if piece[0] in heavy:
            bins.append(piece)
            continue
        waiting -= 1
        open_bin: list[float] = []
        for value in piece:
            inside = sum(found[v] for v in open_bin)
            is_full = open_bin and inside + found[value] / 2 > Fraction(left, to_fill)
            if is_full and to_fill - 1 > waiting:
                bins.append(open_bin)
                left, to_fill, open_bin = left - inside, to_fill - 1, []
            open_bin.append(value)
        bins.append(open_bin)
        left, to_fill = left - sum(found[v] for v in open_bin), to_fill - 1
    return bins


def naive_middle(low: float, high: float) -> float:
    """The middle rounded once, but never the upper value."""
    if math.isinf(low) and math.isinf(high):
        return 0.0
    if math.isinf(high):
        return LARGEST
    if math.isinf(low):
        return low if high == -LARGEST else -LARGEST
    middle = float((Fraction(low) + Fraction(high)) / 2)
    return low if middle >= high else middle


def naive_level_bins(
    codes: list[float], weights: list[Fraction], n_levels: int, max_bins: int
) -> tuple[list[int], int]:
    """The bin of each level and of one never seen, and how many bins there are."""
    found = summed_up(codes, weights)
    most = min(max_bins, 254)
    if len(found) <= most:
        groups = [[code] for code in found]
    else:
        alone = sorted(sorted(found, key=lambda code: (-found[code], code))[: most - 1])
        groups = [[code] for code in alone] + [[code for code in found if code not in alone]]
    bin_of = {code: at for at, group in enumerate(groups) for code in group}
    return [bin_of.get(code, len(groups)) for code in range(n_levels + 1)], len(groups)


def naive_bin(x: float, cuts: list[float]) -> int:
    """How many cuts lie below the value; 255 where there is none."""
    return 255 if math.isnan(x) else sum(cut < x for cut in cuts)
