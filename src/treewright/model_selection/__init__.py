"""Evaluating, comparing and choosing models. In: unfitted estimators, a table, a target. Out: small frozen results.

Everything is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treewright.core.lazy import lazy_names

if TYPE_CHECKING:
    from treewright.judge.scoring import cost_scorer
    from treewright.model_selection.comparison import compare
    from treewright.model_selection.curves import error_curve, learning_curve
    from treewright.model_selection.decompose import bias_variance, bias_variance_curve
    from treewright.model_selection.evaluate import cross_validate, holdout, leave_one_out
    from treewright.model_selection.information import aic, bic, log_likelihood
    from treewright.model_selection.neighbors import neighbor_curve
    from treewright.model_selection.path import pruning_path
    from treewright.model_selection.pruning import PrunedTree, compare_pruning
    from treewright.model_selection.surrogate import surrogate_tree
    from treewright.model_selection.threshold import choose_threshold
    from treewright.model_selection.tuning import tune

_HOMES = {
    "PrunedTree": "treewright.model_selection.pruning",
    "aic": "treewright.model_selection.information",
    "bias_variance": "treewright.model_selection.decompose",
    "bias_variance_curve": "treewright.model_selection.decompose",
    "bic": "treewright.model_selection.information",
    "choose_threshold": "treewright.model_selection.threshold",
    "compare": "treewright.model_selection.comparison",
    "compare_pruning": "treewright.model_selection.pruning",
    "cost_scorer": "treewright.judge.scoring",
    "cross_validate": "treewright.model_selection.evaluate",
    "error_curve": "treewright.model_selection.curves",
    "holdout": "treewright.model_selection.evaluate",
    "learning_curve": "treewright.model_selection.curves",
    "leave_one_out": "treewright.model_selection.evaluate",
    "log_likelihood": "treewright.model_selection.information",
    "neighbor_curve": "treewright.model_selection.neighbors",
    "pruning_path": "treewright.model_selection.path",
    "surrogate_tree": "treewright.model_selection.surrogate",
    "tune": "treewright.model_selection.tuning",
}

__all__ = [
    "PrunedTree",
    "aic",
    "bias_variance",
    "bias_variance_curve",
    "bic",
    "choose_threshold",
    "compare",
    "compare_pruning",
    "cost_scorer",
    "cross_validate",
    "error_curve",
    "holdout",
    "learning_curve",
    "leave_one_out",
    "log_likelihood",
    "neighbor_curve",
    "pruning_path",
    "surrogate_tree",
    "tune",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
