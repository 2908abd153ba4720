"""Peak memory of a fit. In: a table's size. Out: ``Pair`` in multiples of the table. Caller: single_tree.

How far the resident memory of a process rises above where it stood right before the fit: allocators count, which
numpy's own books would not show. Linux lets a process reset its peak; elsewhere the peak since its start has to do.
"""

from __future__ import annotations

import contextlib
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


def begin_peak() -> int:
    """Forget the peak so far; returns what stands now, in bytes."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return peak_bytes()


def memory_pair(size: tuple[int, int], criterion: str, run_child: Callable[..., str]) -> Pair:
    """Peak memory of one fit beyond the table itself.

    Parameters
    ----------
    size : rows and columns
    criterion : str
    run_child : function from words to what a process of the benchmark prints
        The words are ``--measured-fit``, whose fit, the criterion, and the size; it prints bytes.
    """
    words = [criterion, *map(str, size)]
    table = size[0] * size[1] * FLOAT32
    ours, theirs = (int(run_child("--measured-fit", whose, *words)) / table for whose in ("ours", "theirs"))
    return Pair(
        job=f"memory of fit {criterion} {size[0]:,} x {size[1]}",
        ours=ours,
        theirs=theirs,
        ratio=theirs / ours if min(ours, theirs) > 0 else None,
        pairs=1,
        unit="x table",
        note=f"beyond the table of {table / 2**20:.1f} MiB",
    )
