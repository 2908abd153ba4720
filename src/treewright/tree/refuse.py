"""How a broken invariant is reported. In: which places are bad. Out: nothing, or an error. Callers: checks of trees."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from treewright.exceptions import ModelFileError


def refuse(
    name: str, bad: np.ndarray, what: str | Callable[[int], str], places: np.ndarray | None = None, *, of: str = "node"
) -> None:
    """Raise on the first True in ``bad``.

    Parameters
    ----------
    name : str
        What the message calls the tree.
    bad : bool[n]
    what : str or callable of int
        The problem, or what makes its text from the place.
    places : int[n], optional
        Position ``i`` of ``bad`` is about ``places[i]``; without it, about ``i``.
    of : str
        What a place is.

    Raises
    ------
    ModelFileError
        Some of ``bad`` is True.
    """
    if not bad.any():
        return
    place = int(bad.argmax()) if places is None else int(places[bad.argmax()])
    raise ModelFileError(f"{name}, {of} {place}: {what if isinstance(what, str) else what(place)}")
