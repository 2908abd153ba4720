"""Treewright: decision trees that show how they decide.

Everything is imported when it is first used: ``import treewright`` itself loads nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from treewright.version import __version__

if TYPE_CHECKING:
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
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'treewright' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
