"""The size of a picture. In: a name, or inches. Out: ``Medium``.

Trees and figures take the same ``size=``. A slide is read from farther away than a page, so a size is a width and a
size of letters.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from treewright.exceptions import ParameterError

LEAST_SIDE, MOST_SIDE = 1.0, 200.0  # inches


@dataclass(frozen=True)
class Medium:
    """The room for a picture, and the size of its letters.

    Attributes
    ----------
    width, height : float, inches
        The room; a picture may leave some of it.
    text : float, points
        Labels of axes, names on cards: at most so large in a tree, exactly so large in a figure.
    least : float, points
        No letter of a tree is smaller: nodes without room are folded away.
    dpi : float
        Pixels to an inch in a PNG.
    is_exact : bool
        A figure fills all of the room. Otherwise it is as high as needed.
    """

    width: float
    height: float
    text: float
    least: float
    dpi: float
    is_exact: bool = False

    def __post_init__(self) -> None:
        """Refuse sizes that nothing can be drawn in."""
        for name in ("width", "height"):
            side = getattr(self, name)
            if not LEAST_SIDE <= side <= MOST_SIDE:
                raise ParameterError(
                    f"size has the {name} {side:g}: give {LEAST_SIDE:g} to {MOST_SIDE:g} inches (an inch is 25.4 mm)"
                )


# A slide of 13.33 x 7.5 inches less its margins and heading; the text width of a page; one of its two columns.
MEDIA = {
    "slide": Medium(12.3, 6.2, text=18.0, least=7.0, dpi=160.0),
    "paper": Medium(6.5, 8.0, text=9.0, least=5.0, dpi=300.0),
    "column": Medium(3.35, 8.0, text=8.0, least=5.0, dpi=300.0),
}


# The current medium of this thread; None outside ``sized``.
_CURRENT: ContextVar[Medium | None] = ContextVar("treewright_medium", default=None)


@contextmanager
def sized(size: str | Sequence[float]) -> Iterator[Medium]:
    """Draw trees and figures for a slide or a page: their width, and letters that can be read there.

    Parameters
    ----------
    size : {"slide", "paper", "column"}, or (float, float)
        A slide of 13.33 x 7.5 inches less its margins; the text width of a page; one of its two columns; or inches
        across and down, 1 to 200 each, with the letters of the named size next in width.

    Yields
    ------
    Medium

    Raises
    ------
    ParameterError
        There is no such name, or it is not two numbers in range.

    Notes
    -----
    It applies to the pictures that are drawn inside the ``with``, in this thread. A figure drawn into your own axes
    takes the letters and lines of the medium and keeps its size.

    Examples
    --------
    >>> with sized("column") as medium:
    ...     print(medium.width, current_medium() is medium)
    3.35 True
    """
    medium = medium_of(size)
    token = _CURRENT.set(medium)
    try:
        yield medium
    finally:
        _CURRENT.reset(token)


def current_medium() -> Medium | None:
    """Return the current medium; None outside ``sized``."""
    return _CURRENT.get()


def medium_of(size: str | Sequence[float]) -> Medium:
    """Return the medium of a size.

    Parameters
    ----------
    size : {"slide", "paper", "column"}, or (float, float)
        Two numbers are inches, 1 to 200 each; letters are then those of the named size next in width.

    Returns
    -------
    Medium

    Raises
    ------
    ParameterError
        There is no such name, or it is not two numbers in range.

    Examples
    --------
    >>> medium_of("paper").width, medium_of((3.0, 2.0)).text
    (6.5, 8.0)
    """
    if isinstance(size, str):
        if size not in MEDIA:
            raise ParameterError(
                f"size is {size!r}; choose one of {', '.join(MEDIA)}, or give (width, height) in inches"
            )
        return MEDIA[size]
    try:
        width, height = (float(side) for side in size)
    except (TypeError, ValueError):
        raise ParameterError(
            f"size is {size!r}; choose one of {', '.join(MEDIA)}, or give (width, height) in inches"
        ) from None
    # By logarithms: 8.4 inches are as far from a page as from a slide.
    near = min(MEDIA.values(), key=lambda medium: abs(math.log(medium.width / width)) if width > 0 else 0.0)
    return replace(near, width=width, height=height, is_exact=True)
