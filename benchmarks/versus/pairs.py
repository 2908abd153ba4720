"""Timing two programs against each other. In: two functions. Out: ``Pair``, a table, JSON. Callers: the other scripts.

Ours and theirs run in turn, A B A B, in one process, so that a machine that slows down slows both; the ratio is the
median of the ratios of neighbours, not the ratio of two medians taken minutes apart.
"""

from __future__ import annotations

import gc
import json
import math
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

SHORTEST = 0.02  # seconds: a shorter call is repeated inside one measurement until it takes that long
MOST_PAIRS = 101
BUDGET = 20.0  # seconds a job may take, within the limits of the number of pairs


@dataclass(frozen=True)
class Pair:
    """One job, measured.

    Attributes
    ----------
    job : str
    ours, theirs : float
        Medians: seconds of one call, or multiples of the input for memory.
    ratio : float or None
        Median of theirs / ours over neighbouring pairs: above 1 we are ahead. None where it means nothing.
    pairs : int
        How many pairs were measured.
    unit : str
    note : str
    """

    job: str
    ours: float
    theirs: float
    ratio: float | None
    pairs: int
    unit: str = "s"
    note: str = ""


def time_pairs(
    job: str,
    ours: Callable[[], Any],
    theirs: Callable[[], Any],
    *,
    n_pairs: int | None = None,
    note: str = "",
) -> Pair:
    """Time two functions in turn.

    Parameters
    ----------
    job : str
    ours, theirs : functions without arguments
        Calls that are long for the budget count from the first; of short ones the first is only a warm-up.
    n_pairs : int >= 1, optional
        Without it, as many as the budget allows: at least 3, at most 101, an odd number.
    note : str, optional
    """
    first = (_measure(ours, 1), _measure(theirs, 1))
    if max(first) < BUDGET / 10:  # the first call of a short job loads code, and says little of the next
        first = (_measure(ours, 1), _measure(theirs, 1))
    calls = [max(1, math.ceil(SHORTEST / max(once, 1e-7))) for once in first]
    seconds = sum(once * n_calls for once, n_calls in zip(first, calls, strict=True))
    if n_pairs is None:
        n_pairs = min(max(3, int(BUDGET / seconds)), MOST_PAIRS) | 1
    measured = [first] if seconds > BUDGET / 10 else []
    while len(measured) < n_pairs:
        measured.append((_measure(ours, calls[0]), _measure(theirs, calls[1])))
    return Pair(
        job=job,
        ours=statistics.median(pair[0] for pair in measured),
        theirs=statistics.median(pair[1] for pair in measured),
        ratio=statistics.median(pair[1] / pair[0] for pair in measured),
        pairs=len(measured),
        note=note,
    )


def _measure(function: Callable[[], Any], n_calls: int) -> float:
    """Seconds of one call."""
    gc.collect()
    start = time.perf_counter()
    for _ in range(n_calls):
        function()
    return (time.perf_counter() - start) / n_calls


def table_of(pairs: list[Pair], theirs: str = "scikit-learn") -> str:
    """The results as a Markdown table; ``theirs`` heads the column of the other program."""
    rows = [("job", "Treewright", theirs, "ratio", "pairs", "")]
    for pair in pairs:
        ratio = "-" if pair.ratio is None else f"{pair.ratio:.2f}"
        amounts = (written(pair.ours, pair.unit), written(pair.theirs, pair.unit))
        rows.append((pair.job, *amounts, ratio, str(pair.pairs), pair.note))
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def written(amount: float, unit: str) -> str:
    """A measurement with its unit, three digits."""
    if unit != "s":
        return f"{amount:.2f} {unit}"
    for factor, name in ((1.0, "s"), (1e3, "ms")):
        if amount * factor >= 1:
            return f"{amount * factor:.3g} {name}"
    return f"{amount * 1e6:.3g} us"


LIBRARIES = {
    "numpy": "numpy",
    "numba": "numba",
    "scikit-learn": "sklearn",
    "lightgbm": "lightgbm",
    "xgboost": "xgboost",
    "catboost": "catboost",
    "ydf": "ydf",
    "shap": "shap",
    "CHAID": "CHAID",
    "c50py": "c50py",
    "scipy": "scipy",
    "pykdtree": "pykdtree",
    "treewright": "treewright",
}  # the distribution's name, and that of its package; only those that a script has imported are named


def machine() -> dict[str, Any]:
    """What the numbers were measured with, and when."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": _processor(),
        "processors": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "machine": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "libraries": {name: library_version(name) for name, package in LIBRARIES.items() if package in sys.modules},
    }


def _processor() -> str:
    """The processor's own name, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def library_version(name: str) -> str:
    """The version of an installed library; of Treewright also where it is only on the path."""
    if name == "treewright":
        import treewright

        return treewright.__version__
    try:
        return version(name)
    except PackageNotFoundError:  # xgboost-cpu is xgboost by another name
        return str(import_module(name).__version__)


def write_json(path: Path | None, pairs: list[Pair], **more: Any) -> None:
    """Write what was measured, and on what, where a path is given."""
    if path is not None:
        content = {"command": _command(), "machine": machine(), "results": [asdict(pair) for pair in pairs], **more}
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _command() -> str:
    """What was typed, without folders of this machine."""
    words = iter(sys.argv[1:])
    kept = [Path(sys.argv[0]).name]
    for word in words:
        if word == "--out":
            next(words)
        else:
            kept.append("DIR" if os.sep in word else word)
    return " ".join(kept)
