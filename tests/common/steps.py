"""How many steps a piece of work takes: lines of Python, which a busy machine does not change as it does seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def steps_of(work: Callable[[], Any]) -> int:
    """Lines that run in this thread. What NumPy and compiled kernels do within a line is not seen."""
    n = 0

    def count(_frame: Any, event: str, _given: Any) -> Any:
        nonlocal n
        n += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        work()
    finally:
        sys.settrace(before)
    return n
