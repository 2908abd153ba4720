"""Pictures. In: a model, or arrays of results. Out: one SVG of a tree, or a matplotlib figure.

Callers: model, model_selection, users. Trees are drawn by ``svg`` without any library; the functions named here make
figures and need matplotlib, which is imported when one is drawn. ``sized`` says for which medium either is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treewright.core.lazy import lazy_names

if TYPE_CHECKING:
    from treewright.plot.figures.bars import pruning_comparison
    from treewright.plot.figures.boosting import boosting_history
    from treewright.plot.figures.calibration import calibration
    from treewright.plot.figures.confusion import confusion
    from treewright.plot.figures.curves import bias_variance, error_against_size, error_curve
    from treewright.plot.figures.dependence import dependence_lines, dependence_map
    from treewright.plot.figures.importances import importance_bars
    from treewright.plot.figures.impurity import impurity_functions
    from treewright.plot.figures.regions import decision_regions
    from treewright.plot.figures.residuals import residuals
    from treewright.plot.figures.roc import precision_recall, roc
    from treewright.plot.media import sized

_HOMES = {
    "bias_variance": "treewright.plot.figures.curves",
    "boosting_history": "treewright.plot.figures.boosting",
    "calibration": "treewright.plot.figures.calibration",
    "confusion": "treewright.plot.figures.confusion",
    "decision_regions": "treewright.plot.figures.regions",
    "dependence_lines": "treewright.plot.figures.dependence",
    "dependence_map": "treewright.plot.figures.dependence",
    "error_against_size": "treewright.plot.figures.curves",
    "error_curve": "treewright.plot.figures.curves",
    "importance_bars": "treewright.plot.figures.importances",
    "impurity_functions": "treewright.plot.figures.impurity",
    "precision_recall": "treewright.plot.figures.roc",
    "pruning_comparison": "treewright.plot.figures.bars",
    "residuals": "treewright.plot.figures.residuals",
    "roc": "treewright.plot.figures.roc",
    "sized": "treewright.plot.media",
}

__all__ = [
    "bias_variance",
    "boosting_history",
    "calibration",
    "confusion",
    "decision_regions",
    "dependence_lines",
    "dependence_map",
    "error_against_size",
    "error_curve",
    "importance_bars",
    "impurity_functions",
    "precision_recall",
    "pruning_comparison",
    "residuals",
    "roc",
    "sized",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
