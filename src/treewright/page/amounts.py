"""Amounts as a page writes them. In: numbers. Out: texts. Callers: page, reporting."""

from __future__ import annotations

from treewright.tree.writing import written_amount

GROUPED_FROM = 10_000  # from here on thousands are set apart


def amount(value: float | str | None, digits: int = 4) -> str:
    """Return a number of a summary as the scripts write it (``numbers.short``).

    Examples
    --------
    >>> amount(0.0533333), amount(12345.67), amount(None), amount("inf")
    ('0.05333', '12,346', '-', 'inf')
    """
    if value is None or isinstance(value, str):
        return value or "-"
    text = written_amount(value, digits=digits)
    return f"{int(text):,}" if text.removeprefix("-").isdigit() and abs(value) >= GROUPED_FROM else text
