"""Evaluating, comparing and choosing models. In: unfitted estimators, a table, a target. Out: small frozen results.

Everything is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treewright.core.lazy import lazy_names

if TYPE_CHECKING:
    from treewright.evaluation.comparison import compare
    from treewright.evaluation.curves import error_curve, learning_curve
    from treewright.evaluation.decompose import bias_variance, bias_variance_curve
    from treewright.evaluation.evaluate import cross_validate, holdout, leave_one_out
    from treewright.evaluation.information import aic, bic, log_likelihood
    from treewright.evaluation.neighbors import neighbor_curve
    from treewright.evaluation.path import pruning_path
    from treewright.evaluation.pruning import PrunedTree, compare_pruning
    from treewright.evaluation.scoring import cost_scorer
    from treewright.evaluation.surrogate import surrogate_tree
    from treewright.evaluation.threshold import choose_threshold
    from treewright.evaluation.tuning import tune

_HOMES = {
    "PrunedTree": "treewright.evaluation.pruning",
    "aic": "treewright.evaluation.information",
    "bias_variance": "treewright.evaluation.decompose",
    "bias_variance_curve": "treewright.evaluation.decompose",
    "bic": "treewright.evaluation.information",
    "choose_threshold": "treewright.evaluation.threshold",
    "compare": "treewright.evaluation.comparison",
    "compare_pruning": "treewright.evaluation.pruning",
    "cost_scorer": "treewright.evaluation.scoring",
    "cross_validate": "treewright.evaluation.evaluate",
    "error_curve": "treewright.evaluation.curves",
    "holdout": "treewright.evaluation.evaluate",
    "learning_curve": "treewright.evaluation.curves",
    "leave_one_out": "treewright.evaluation.evaluate",
    "log_likelihood": "treewright.evaluation.information",
    "neighbor_curve": "treewright.evaluation.neighbors",
    "pruning_path": "treewright.evaluation.path",
    "surrogate_tree": "treewright.evaluation.surrogate",
    "tune": "treewright.evaluation.tuning",
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
