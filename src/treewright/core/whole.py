"""Checks of whole-number parameters. In: a value. Out: an int, or a ParameterError."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.exceptions import ParameterError


def is_whole(value: Any) -> bool:
    """Whether something is a whole number; True and False are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def whole_number(name: str, value: Any, least: int) -> int:
    """A parameter as an int that is at least ``least``.

    Examples
    --------
    >>> whole_number("repeats", 3, 1)
    3
    """
    if not is_whole(value) or value < least:
        raise ParameterError(f"{name}={value!r}: give a whole number >= {least}")
    return int(value)
