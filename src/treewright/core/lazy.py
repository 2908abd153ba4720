"""Names that a package imports when they are first used: its ``__getattr__`` and ``__dir__``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str], also: tuple[str, ...] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package that imports nothing at first.

    Parameters
    ----------
    package : str
        Its full name.
    homes : mapping of str to str
        Per name the module that holds it; for a module of that very name inside the package, the module itself.
    also : tuple of str
        Names that the package holds already, for ``dir``.

    Examples
    --------
    >>> get, names = lazy_names("treewright", {"load": "treewright.model"})
    >>> get("load").__name__, names()
    ('load', ['load'])
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(homes[name])
        value = module if homes[name] == f"{package}.{name}" else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*homes, *also})

    return get, names
