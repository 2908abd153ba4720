"""The version of Treewright. In: nothing. Out: ``__version__``. Callers: the package, the model file, the command."""

from __future__ import annotations

__version__ = "0.1.0"
