"""Damage to model files. In: the bytes of a file. Out: other bytes. Callers: attacks on model files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

import numpy as np

from treewright.exceptions import ModelFileError
from treewright.trees.codec import loads

DIGEST = re.compile(rb'\\"digest\\":\\"(.{64})\\"', re.DOTALL)


def signed(data: bytes) -> bytes:
    """The bytes with the digest that fits them: what an attacker would do."""
    found = DIGEST.search(data)
    if found is None:
        return data
    zeros = data[: found.start(1)] + b"0" * 64 + data[found.end(1) :]
    return data[: found.start(1)] + hashlib.sha256(zeros).hexdigest().encode() + data[found.end(1) :]


def edited(data: bytes, rng: np.random.Generator) -> bytes:
    """The bytes with a few others among them, some of those likely to mean something."""
    changed = bytearray(data)
    begin = 8 if rng.random() < 0.5 else 8 + int.from_bytes(data[:8], "little")
    for _ in range(int(rng.integers(1, 4))):
        position = int(rng.integers(begin, len(changed)))
        choice = rng.integers(4)
        if choice == 0:
            changed[position] = int(rng.integers(256))
        elif choice == 1:
            changed[position] = int(rng.choice(list(b'0123456789-.eE,:[]{}"\\ NaItrufls')))
        elif choice == 2:
            changed[position : position + 8] = rng.bytes(8)[: len(changed) - position]
        else:
            other = int(rng.integers(begin, len(changed) - 8))
            changed[position : position + 8] = changed[other : other + 8][: len(changed) - position]
    return signed(bytes(changed))


def is_accepted(data: bytes | bytearray, read: Callable[[bytes], object] = loads) -> bool:
    """Whether the bytes are read as a model; anything else than a model or its error is raised."""
    try:
        read(bytes(data))
    except ModelFileError:
        return False
    return True


def accepted_flips(data: bytes, every: int, read: Callable[[bytes], object] = loads) -> list[int]:
    """Bits, of every so many, whose flip alone goes unnoticed."""
    accepted = []
    for position in range(0, len(data) * 8, every):
        flipped = bytearray(data)
        flipped[position // 8] ^= 1 << position % 8
        if is_accepted(flipped, read):
            accepted.append(position)
    return accepted


def accepted_lengths(data: bytes, every: int, read: Callable[[bytes], object] = loads) -> list[int]:
    """Lengths, of every so many, at which the bytes can be cut off unnoticed."""
    return [length for length in range(0, len(data), every) if is_accepted(data[:length], read)]
