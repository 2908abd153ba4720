"""Peak memory of a fit. In: a table's size. Out: ``Pair`` in multiples of the table. Caller: single_tree.

The largest resident memory of a whole process that fits, less that of one that does everything but the fit: allocators
and compiled code count, numpy's own books would not show them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from pairs import Pair

STATUS = Path("/proc/self/status")
FLOAT32 = 4  # bytes


def peak_bytes() -> int:
    """The largest resident memory this process has had."""
    if STATUS.exists():
        # ru_maxrss would do, but on Linux a new process inherits the peak of the one that started it.
        line = next(line for line in STATUS.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def memory_pair(size: tuple[int, int], criterion: str, run_child: Callable[..., str]) -> Pair:
    """Peak memory of one fit beyond the table itself.

    Parameters
    ----------
    size : rows and columns
    criterion : str
    run_child : function from words to what a process of the benchmark prints
        The words are ``--measured-fit``, whose fit (``none`` for no fit), the criterion, and the size.
    """
    words = [criterion, *map(str, size)]
    peaks = {whose: int(run_child("--measured-fit", whose, *words)) for whose in ("none", "ours", "theirs")}
    table = size[0] * size[1] * FLOAT32
    ours, theirs = ((peaks[whose] - peaks["none"]) / table for whose in ("ours", "theirs"))
    return Pair(
        job=f"memory of fit {criterion} {size[0]:,} x {size[1]}",
        ours=ours,
        theirs=theirs,
        ratio=theirs / ours if min(ours, theirs) > 0 else None,
        pairs=1,
        unit="x table",
        note=f"beyond the table of {table / 2**20:.1f} MiB",
    )
