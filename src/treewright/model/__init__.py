"""Fitted models with their verbs: those that estimators keep as ``model_``, from files and from other libraries."""

from treewright.model.loading import load, read_model
from treewright.model.model import Model

__all__ = ["Model", "load", "read_model"]
