"""A slow and plain twin of ``forest.draws``: whole numbers of any size, one list entry for each unit of weight."""

from __future__ import annotations

import math
import struct

WORD = 2**64


def mix(state: int, position: int) -> int:
    """Splitmix64, as ``core.random`` describes it."""
    z = (state + (position + 1) * 0x9E3779B97F4A7C15) % WORD
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB % WORD
    return z ^ z >> 31


def below(state: int, position: int, bound: int) -> int:
    """A number below ``bound``: 64 bits, of which the first ``bound * (WORD // bound)`` products are used evenly."""
    bits = mix(state, position)
    while bits * bound % WORD < WORD % bound:
        bits = mix(bits, position)
    return bits * bound // WORD


def seed_of(seed: int, tree: int, stream: int) -> int:
    """The seed of a tree's rows (0), columns (1) or growth (2)."""
    return mix(mix(seed % WORD, tree), stream)


def row_hash(codes: list[int], target: list[float | int], is_classes: bool) -> int:
    """Hash of one row: its bins eight at a time, then its target."""
    state = 0
    padded = codes + [0] * (-len(codes) % 8)
    for start in range(0, len(padded), 8):
        state = mix(state, int.from_bytes(bytes(padded[start : start + 8]), "little"))
    for value in target:
        number = float(value) if is_classes or value != 0 else 0.0
        state = mix(state, int.from_bytes(struct.pack("<d", number), "little"))
    return state


def row_order(codes: list[list[int]], target: list[list[float | int]], is_classes: bool) -> list[int]:
    """Rows by their hash, those of the same hash by position."""
    keys = [row_hash(*row, is_classes) for row in zip(codes, target, strict=True)]
    return sorted(range(len(codes)), key=lambda row: (keys[row], row))


def units_of(order: list[int], repeats: list[int]) -> list[int]:
    """The row that owns each unit."""
    return [row for row in order for _ in range(repeats[row])]


def with_replacement(order: list[int], repeats: list[int], n_draws: int, seed: int, tree: int) -> list[int]:
    """How often each row is drawn."""
    units, state = units_of(order, repeats), seed_of(seed, tree, 0)
    counts = [0] * len(order)
    for draw in range(n_draws):
        counts[units[below(state, draw, len(units))]] += 1
    return counts


def without_replacement(order: list[int], repeats: list[int], n_draws: int, seed: int, tree: int) -> list[int]:
    """How often each row is drawn, no unit twice: Floyd's method."""
    units, state = units_of(order, repeats), seed_of(seed, tree, 0)
    taken: set[int] = set()
    for last in range(len(units) - n_draws, len(units)):
        unit = below(state, last, last + 1)
        taken.add(last if unit in taken else unit)
    counts = [0] * len(order)
    for unit in taken:
        counts[units[unit]] += 1
    return counts


def earliest(order: list[int], weights: list[float], n_draws: int, seed: int, tree: int) -> list[int]:
    """Which rows are drawn where weights are chances: the shortest exponential waiting times."""
    state = seed_of(seed, tree, 0)
    largest = math.frexp(max(weights))[1]
    waits = []
    for place, row in enumerate(order):
        share = ((mix(state, place) >> 11) + 0.5) * 2.0**-53
        waits.append((-math.log(share) / math.ldexp(weights[row], -largest), place, row))
    drawn = {row for _, _, row in sorted(waits)[:n_draws]}
    return [int(row in drawn) for row in range(len(order))]


def columns(seed: int, tree: int, n_columns: int, n_chosen: int) -> list[int]:
    """The columns that a tree may use: draw one, put the first of the rest in its stead."""
    state, rest = seed_of(seed, tree, 1), list(range(n_columns))
    for at in range(n_chosen):
        other = at + below(state, at, n_columns - at)
        rest[at], rest[other] = rest[other], rest[at]
    return sorted(rest[:n_chosen])
