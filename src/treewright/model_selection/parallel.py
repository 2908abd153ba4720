"""Work side by side, under the name it has here. In, out: as ``estimators.side_by_side``. Callers: model_selection."""

from treewright.estimators.side_by_side import answers

__all__ = ["answers"]
