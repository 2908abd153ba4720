"""Fitted models with their verbs: what an estimator keeps as ``model_`` and ``load`` reads from a file."""

from treewright.fitted.loading import load
from treewright.fitted.model import Model

__all__ = ["Model", "load"]
