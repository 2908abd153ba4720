"""Pickles with a version.

Estimators and models are pickled in their form in memory, which may differ in every version. So the version is stored
with them, and a pickle of another version is refused. Model files (``save``, ``treewright.load``) can be read by later
versions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treewright.exceptions import ModelFileError
from treewright.version import __version__

_STAMP = "_treewright_version"


def stamped(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return a state with the version, for ``__getstate__``."""
    return {**state, _STAMP: __version__}


def unstamped(state: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return the state that ``stamped`` was given.

    Parameters
    ----------
    state : mapping
        The argument of ``__setstate__``.
    kind : str
        The name of the class, for the message.

    Raises
    ------
    ModelFileError
        It was pickled by another version, or before versions were kept.
    """
    plain = dict(state)
    theirs = plain.pop(_STAMP, None)
    if theirs != __version__:
        by = "an older version" if theirs is None else f"version {theirs}"
        raise ModelFileError(
            f"this {kind} was pickled by {by} of Treewright, and this is version {__version__}: a pickle can only be "
            "read by the version that wrote it. Read it there and save a model file, estimator.save(path), which "
            "treewright.load reads in every later version; or fit again"
        )
    return plain
