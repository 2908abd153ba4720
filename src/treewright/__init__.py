"""Treewright: decision trees that show how they decide.

Everything is imported when it is first used: ``import treewright`` itself loads nothing heavy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treewright.core.lazy import lazy_names
from treewright.version import __version__

if TYPE_CHECKING:
    from treewright import model_selection, plot
    from treewright.estimators.c45 import C45Classifier
    from treewright.estimators.chaid import CHAIDClassifier, CHAIDRegressor
    from treewright.estimators.id3 import ID3Classifier
    from treewright.estimators.tree import DecisionTreeClassifier, DecisionTreeRegressor
    from treewright.model import Model, load

_HOMES = {
    "C45Classifier": "treewright.estimators.c45",
    "CHAIDClassifier": "treewright.estimators.chaid",
    "CHAIDRegressor": "treewright.estimators.chaid",
    "DecisionTreeClassifier": "treewright.estimators.tree",
    "DecisionTreeRegressor": "treewright.estimators.tree",
    "ID3Classifier": "treewright.estimators.id3",
    "Model": "treewright.model",
    "load": "treewright.model",
    "model_selection": "treewright.model_selection",
    "plot": "treewright.plot",
}

__all__ = [
    "C45Classifier",
    "CHAIDClassifier",
    "CHAIDRegressor",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ID3Classifier",
    "Model",
    "__version__",
    "load",
    "model_selection",
    "plot",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES, also=("__version__",))
