"""Pickles that know their version.

Estimators and models are pickled as they are in memory, and that may be another form in every version. So the version
goes with them, and one that is another is refused where it is read: what an old form would do is not known. Model files
(``save``, ``treewright.load``) are the form that lasts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treewright.exceptions import ModelFileError
from treewright.version import __version__

_STAMP = "_treewright_version"


def stamped(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return what ``__getstate__`` returns: a state, and the version beside it."""
    return {**state, _STAMP: __version__}


def unstamped(state: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return a state as ``stamped`` got it.

    Parameters
    ----------
    state : mapping
        What ``__setstate__`` is given.
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
            f"this {kind} was pickled by {by} of Treewright, and this is version {__version__}: a pickle is "
            "read by the version that wrote it. Read it there and save a model file, estimator.save(path), which "
            "treewright.load reads in every later version; or fit again"
        )
    return plain
