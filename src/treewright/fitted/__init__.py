"""Fitted models with their verbs: what an estimator keeps as ``model_``, and what files and other libraries hold."""

from treewright.fitted.loading import load, read_model
from treewright.fitted.model import Model

__all__ = ["Model", "load", "read_model"]
