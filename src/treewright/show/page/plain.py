"""Values as text for a page: dataclasses as JSON, numbers for readers."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from treewright.trees.writing import written_amount

GROUPED_FROM = 10_000  # from here on thousands are separated by commas


def plain(value: Any) -> Any:
    """A typed value as JSON types, with the names of the fields.

    ``nan`` is None, an infinite number the text ``"inf"`` or ``"-inf"``; every other number is exact.

    Examples
    --------
    >>> from treewright.show.page.parts import Fact
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
    r"""A value as JSON that is safe in a script element: pure ASCII, no ``<``, ``>`` or ``&``.

    Examples
    --------
    >>> print(json_for_script({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    text = json.dumps(plain(value), allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def amount(value: float | str | None, digits: int = 4) -> str:
    """A number of a summary, written as in the scripts (``numbers.short``).

    Examples
    --------
    >>> amount(0.0533333), amount(12345.67), amount(None), amount("inf")
    ('0.05333', '12,346', '-', 'inf')
    """
    if value is None or isinstance(value, str):
        return value or "-"
    text = written_amount(value, digits=digits)
    return f"{int(text):,}" if text.removeprefix("-").isdigit() and abs(value) >= GROUPED_FROM else text
