"""Treewright: decision trees that show how they decide.

Everything is imported when it is first used: ``import treewright`` itself loads nothing heavy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treewright.core.lazy import lazy_names
from treewright.version import __version__

if TYPE_CHECKING:
    from treewright import model_selection, plot
    from treewright.estimators.adaboost import AdaBoostClassifier
    from treewright.estimators.adaboost_regressor import AdaBoostRegressor
    from treewright.estimators.bagging import BaggingClassifier
    from treewright.estimators.bagging_regressor import BaggingRegressor
    from treewright.estimators.boosting_classifier import GradientBoostingClassifier
    from treewright.estimators.boosting_regressor import GradientBoostingRegressor
    from treewright.estimators.c45 import C45Classifier
    from treewright.estimators.chaid import CHAIDClassifier, CHAIDRegressor
    from treewright.estimators.forest_classifier import ExtraTreesClassifier, RandomForestClassifier
    from treewright.estimators.forest_regressor import ExtraTreesRegressor, RandomForestRegressor
    from treewright.estimators.id3 import ID3Classifier
    from treewright.estimators.isolation import IsolationForest
    from treewright.estimators.neighbors_classifier import KNeighborsClassifier
    from treewright.estimators.neighbors_regressor import KNeighborsRegressor
    from treewright.estimators.tree import DecisionTreeClassifier, DecisionTreeRegressor
    from treewright.model import Model, load
    from treewright.reporting import Report, report

_HOMES = {
    "AdaBoostClassifier": "treewright.estimators.adaboost",
    "AdaBoostRegressor": "treewright.estimators.adaboost_regressor",
    "BaggingClassifier": "treewright.estimators.bagging",
    "BaggingRegressor": "treewright.estimators.bagging_regressor",
    "C45Classifier": "treewright.estimators.c45",
    "CHAIDClassifier": "treewright.estimators.chaid",
    "CHAIDRegressor": "treewright.estimators.chaid",
    "DecisionTreeClassifier": "treewright.estimators.tree",
    "DecisionTreeRegressor": "treewright.estimators.tree",
    "ExtraTreesClassifier": "treewright.estimators.forest_classifier",
    "ExtraTreesRegressor": "treewright.estimators.forest_regressor",
    "GradientBoostingClassifier": "treewright.estimators.boosting_classifier",
    "GradientBoostingRegressor": "treewright.estimators.boosting_regressor",
    "ID3Classifier": "treewright.estimators.id3",
    "IsolationForest": "treewright.estimators.isolation",
    "KNeighborsClassifier": "treewright.estimators.neighbors_classifier",
    "KNeighborsRegressor": "treewright.estimators.neighbors_regressor",
    "Model": "treewright.model",
    "RandomForestClassifier": "treewright.estimators.forest_classifier",
    "RandomForestRegressor": "treewright.estimators.forest_regressor",
    "Report": "treewright.reporting.document",
    "load": "treewright.model",
    "model_selection": "treewright.model_selection",
    "plot": "treewright.plot",
    "report": "treewright.reporting.document",
}

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "C45Classifier",
    "CHAIDClassifier",
    "CHAIDRegressor",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "ID3Classifier",
    "IsolationForest",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "Model",
    "__version__",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "Report",
    "load",
    "model_selection",
    "plot",
    "report",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES, also=("__version__",))
