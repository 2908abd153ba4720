"""A few of many seeds, others after each change of the package. In: seeds. Out: some of them.

A twin finds what it finds in any few tables; all of them at every run took a sixth of its time. Which few it is depends
on the package's source alone, so a run repeats, and a failure is there until the source changes. With
``TREEWRIGHT_SEEDS=all`` every seed is drawn: before an issue is resolved.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

import treewright

ALL = os.environ.get("TREEWRIGHT_SEEDS") == "all"


@cache
def source() -> int:
    """A number that depends on every line of the package."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(Path(treewright.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return int.from_bytes(digest.digest(), "little")


def few(seeds: Sequence[int], n: int = 5) -> list[int]:
    """So many of the seeds, ascending; all of them with ``TREEWRIGHT_SEEDS=all``."""
    if ALL or len(seeds) <= n:
        return list(seeds)
    return sorted(np.random.default_rng(source()).choice(list(seeds), n, replace=False).tolist())
