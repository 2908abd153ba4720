"""Reports: one page about a fitted model. In: a model, rows with their target. Out: ``Report``. Callers: users, cli."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treewright.core.lazy import lazy_names

if TYPE_CHECKING:
    from treewright.reporting.document import Report, report

_HOMES = {"Report": "treewright.reporting.document", "report": "treewright.reporting.document"}

__all__ = ["Report", "report"]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
