"""Rows of any table by position, under the name they have here. In, out: as ``data.take``. Callers: model_selection."""

from treewright.data.take import INDEXED_FORMATS, count_rows, refuse_lazy, take_rows, warn_of_another_order

__all__ = ["INDEXED_FORMATS", "count_rows", "refuse_lazy", "take_rows", "warn_of_another_order"]
