"""Typed values as JSON. In: a dataclass. Out: plain values, text. Callers: page.render, reporting, tests."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Return a typed value as what JSON can hold, with the names of the fields.

    Parameters
    ----------
    value : dataclass, tuple, list, dict with text keys, array, number, text, bool or None

    Returns
    -------
    dict, list, str, int, float, bool or None
        ``nan`` is None, an infinite number the text ``"inf"`` or ``"-inf"``; every other number is exact.

    Examples
    --------
    >>> from treewright.page.parts import Fact
    >>> plain((Fact("rows", "150"), np.float64(0.5), float("inf")))
    [{'name': 'rows', 'value': '150'}, 0.5, 'inf']
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None if math.isnan(value) else str(value)
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    raise TypeError(f"{type(value).__name__} has no plain form")


def json_for_script(value: Any) -> str:
    r"""Return a value as JSON that can stand in a script element: pure ASCII, no ``<``, ``>`` or ``&``.

    Examples
    --------
    >>> print(json_for_script({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    text = json.dumps(plain(value), allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
