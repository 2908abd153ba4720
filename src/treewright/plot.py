"""Pictures. In: a model, or arrays of results. Out: one SVG of a tree, or a matplotlib figure.

The names of ``treewright.plot``; the code is in ``show``. Trees are drawn by ``show.svg`` without any library; the
functions named here make figures and need matplotlib, which is imported when one is drawn. ``sized`` sets the
medium of both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treewright.core.lazy import lazy_names

if TYPE_CHECKING:
    from treewright.show.figures.bars import importance_bars, impurity_functions, pruning_comparison
    from treewright.show.figures.contributions import (
        contribution_lines,
        contribution_map,
        contribution_scatter,
        contribution_swarm,
        contribution_waterfall,
    )
    from treewright.show.figures.curves import bias_variance, boosting_history, error_against_size, error_curve
    from treewright.show.figures.dependence import dependence_lines, dependence_map
    from treewright.show.figures.plane import decision_regions
    from treewright.show.figures.quality import calibration, confusion, gains, lift, precision_recall, residuals, roc
    from treewright.show.style import sized

_HOMES = {
    "bias_variance": "treewright.show.figures.curves",
    "boosting_history": "treewright.show.figures.curves",
    "calibration": "treewright.show.figures.quality",
    "confusion": "treewright.show.figures.quality",
    "contribution_lines": "treewright.show.figures.contributions",
    "contribution_map": "treewright.show.figures.contributions",
    "contribution_scatter": "treewright.show.figures.contributions",
    "contribution_swarm": "treewright.show.figures.contributions",
    "contribution_waterfall": "treewright.show.figures.contributions",
    "decision_regions": "treewright.show.figures.plane",
    "dependence_lines": "treewright.show.figures.dependence",
    "dependence_map": "treewright.show.figures.dependence",
    "error_against_size": "treewright.show.figures.curves",
    "error_curve": "treewright.show.figures.curves",
    "gains": "treewright.show.figures.quality",
    "importance_bars": "treewright.show.figures.bars",
    "impurity_functions": "treewright.show.figures.bars",
    "lift": "treewright.show.figures.quality",
    "precision_recall": "treewright.show.figures.quality",
    "pruning_comparison": "treewright.show.figures.bars",
    "residuals": "treewright.show.figures.quality",
    "roc": "treewright.show.figures.quality",
    "sized": "treewright.show.style",
}

__all__ = [
    "bias_variance",
    "boosting_history",
    "calibration",
    "confusion",
    "contribution_lines",
    "contribution_map",
    "contribution_scatter",
    "contribution_swarm",
    "contribution_waterfall",
    "decision_regions",
    "dependence_lines",
    "dependence_map",
    "error_against_size",
    "error_curve",
    "gains",
    "importance_bars",
    "impurity_functions",
    "lift",
    "precision_recall",
    "pruning_comparison",
    "residuals",
    "roc",
    "sized",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
