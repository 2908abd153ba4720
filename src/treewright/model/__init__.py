"""A fitted model with its verbs. In: what fitting made, or a file. Out: ``Model``, ``load``.

Callers: users, estimators, model_selection, cli.
"""

from treewright.model.fitted import Model
from treewright.model.loading import load

__all__ = ["Model", "load"]
