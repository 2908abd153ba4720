"""A few of many seeds and of many combinations, others after each change of the package.

A twin finds what it finds in any few tables; all of them at every run took a sixth of its time. Which few it is depends
on the package's source alone, so a run repeats, and a failure is there until the source changes. With
``TREEWRIGHT_SEEDS=all`` everything is drawn: before an issue is resolved. With a number in its place that number draws,
as other sources would.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

import treewright

ASKED = os.environ.get("TREEWRIGHT_SEEDS", "")
ALL = ASKED == "all"


@cache
def source() -> int:
    """A number that depends on every line of the package."""
    if ASKED.isdigit():
        return int(ASKED)
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(Path(treewright.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return int.from_bytes(digest.digest(), "little")


def few(seeds: Sequence[Any], n: int = 5) -> list[Any]:
    """So many of the seeds, or of any cases, in their order; all of them with ``TREEWRIGHT_SEEDS=all``."""
    if ALL or len(seeds) <= n:
        return list(seeds)
    return [seeds[at] for at in sorted(np.random.default_rng(source()).choice(len(seeds), n, replace=False))]


def examples(n: int) -> settings:
    """So many examples a case, of a property that takes long or is claimed of many models; of new examples, all."""
    default = settings.default
    return settings(max_examples=n if default.derandomize else default.max_examples)


def crossed(*factors: Iterable, n: int = 0) -> list:
    """Combinations of factors for ``parametrize``: every value occurs, and which ones meet rotates.

    As many as the longest factor has values, or ``n`` if that is more; every combination with ``TREEWRIGHT_SEEDS=all``.
    """
    factors = [list(factor) for factor in factors]
    if ALL:
        rows = list(itertools.product(*factors))
    else:
        rng, n = np.random.default_rng(source()), max(n, *map(len, factors))
        columns = [[factor[at] for at in rng.permutation(n) % len(factor)] for factor in factors]
        rows = list(dict.fromkeys(zip(*columns, strict=True)))
    return [pytest.param(*row, id="-".join(map(_word, row))) for row in rows]


def covering(cases: Sequence[Any], values: Callable[[Any], Iterable]) -> list[Any]:
    """Few of the cases, in which every value of every case occurs; all of them with ``TREEWRIGHT_SEEDS=all``."""
    if ALL:
        return list(cases)
    kept, seen = [], set()
    for at in np.random.default_rng(source()).permutation(len(cases)):
        new = {(factor, value) for factor, value in enumerate(values(cases[at]))} - seen
        if new:
            kept.append(at)
            seen |= new
    return [cases[at] for at in sorted(kept)]


def _word(value: Any) -> str:
    """A value in the name of a test."""
    return " ".join(map(str, value)) if isinstance(value, tuple) else getattr(value, "__name__", str(value))
