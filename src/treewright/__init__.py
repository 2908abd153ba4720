"""Treewright: decision trees that show how they decide.

Everything is imported when it is first used: ``import treewright`` itself loads nothing heavy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treewright.core.lazy import lazy_names
from treewright.version import __version__

if TYPE_CHECKING:
    from treewright import distributed, model_selection, plot, workbench
    from treewright.estimators.adaboost import AdaBoostClassifier, AdaBoostRegressor
    from treewright.estimators.as_sklearn import to_sklearn
    from treewright.estimators.bagging import BaggingClassifier, BaggingRegressor
    from treewright.estimators.boosting import GradientBoostingClassifier, GradientBoostingRegressor
    from treewright.estimators.forest import (
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from treewright.estimators.isolation import IsolationForest
    from treewright.estimators.neighbors import KNeighborsClassifier, KNeighborsRegressor
    from treewright.estimators.trees import (
        C45Classifier,
        CHAIDClassifier,
        CHAIDRegressor,
        DecisionTreeClassifier,
        DecisionTreeRegressor,
        ExtraTreeClassifier,
        ExtraTreeRegressor,
        ID3Classifier,
        OptimalTreeClassifier,
        OptimalTreeRegressor,
    )
    from treewright.files.dataset import Dataset
    from treewright.files.predictions import predict_files, predict_frame
    from treewright.model import Model, load, read_model
    from treewright.reporting.document import Report, report

_HOMES = {
    "AdaBoostClassifier": "treewright.estimators.adaboost",
    "AdaBoostRegressor": "treewright.estimators.adaboost",
    "BaggingClassifier": "treewright.estimators.bagging",
    "BaggingRegressor": "treewright.estimators.bagging",
    "C45Classifier": "treewright.estimators.trees",
    "CHAIDClassifier": "treewright.estimators.trees",
    "CHAIDRegressor": "treewright.estimators.trees",
    "Dataset": "treewright.files.dataset",
    "DecisionTreeClassifier": "treewright.estimators.trees",
    "DecisionTreeRegressor": "treewright.estimators.trees",
    "ExtraTreeClassifier": "treewright.estimators.trees",
    "ExtraTreeRegressor": "treewright.estimators.trees",
    "ExtraTreesClassifier": "treewright.estimators.forest",
    "ExtraTreesRegressor": "treewright.estimators.forest",
    "GradientBoostingClassifier": "treewright.estimators.boosting",
    "GradientBoostingRegressor": "treewright.estimators.boosting",
    "ID3Classifier": "treewright.estimators.trees",
    "IsolationForest": "treewright.estimators.isolation",
    "KNeighborsClassifier": "treewright.estimators.neighbors",
    "KNeighborsRegressor": "treewright.estimators.neighbors",
    "Model": "treewright.model",
    "OptimalTreeClassifier": "treewright.estimators.trees",
    "OptimalTreeRegressor": "treewright.estimators.trees",
    "RandomForestClassifier": "treewright.estimators.forest",
    "RandomForestRegressor": "treewright.estimators.forest",
    "Report": "treewright.reporting.document",
    "distributed": "treewright.distributed",
    "load": "treewright.model",
    "predict_files": "treewright.files.predictions",
    "predict_frame": "treewright.files.predictions",
    "read_model": "treewright.model",
    "model_selection": "treewright.model_selection",
    "plot": "treewright.plot",
    "report": "treewright.reporting.document",
    "to_sklearn": "treewright.estimators.as_sklearn",
    "workbench": "treewright.workbench",
}

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "C45Classifier",
    "CHAIDClassifier",
    "CHAIDRegressor",
    "Dataset",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "ID3Classifier",
    "IsolationForest",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "Model",
    "OptimalTreeClassifier",
    "OptimalTreeRegressor",
    "__version__",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "Report",
    "distributed",
    "load",
    "read_model",
    "model_selection",
    "plot",
    "predict_files",
    "predict_frame",
    "report",
    "to_sklearn",
    "workbench",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES, also=("__version__",))
