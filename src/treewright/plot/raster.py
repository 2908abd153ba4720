"""An SVG as pixels. In: a picture's text. Out: the bytes of a PNG. Caller: ``plot.svg``.

The only module that imports resvg, when a PNG is asked for. It is the extra ``png``: a wheel of its own on Linux, macOS
and Windows, which needs no library of the system.
"""

from __future__ import annotations

import math
import re
from functools import cache
from pathlib import Path
from typing import Any

from treewright.exceptions import MissingLibraryError, ParameterError

MOST_PIXELS = 100_000_000  # 400 MB while it is drawn
PAGE = re.compile(r"\.page\{fill:(#[0-9a-f]{6})\}")
INSTALL = 'pip install "treewright[png]"'


def png_of(svg: str, width: float, height: float, *, zoom: float) -> bytes:
    """Return an SVG as PNG.

    Parameters
    ----------
    svg : str
        A picture of ``plot.svg``. Of a picture that follows the reader's theme, the light one is drawn.
    width, height : float, pixels
        What the SVG says of itself.
    zoom : float > 0
        Pixels of the PNG to each of these.

    Returns
    -------
    bytes

    Raises
    ------
    ParameterError
        ``zoom`` is no number above 0, or the picture would have no pixel, or more than 100 million.
    MissingLibraryError
        resvg is not installed, or there is no font to write with.

    Notes
    -----
    Letters are those of the machine, so another machine may draw other pixels; the same one draws the same.
    """
    if not (math.isfinite(zoom) and zoom > 0):
        raise ParameterError(f"the picture would be {zoom} times its size: give a number above 0")
    across, down = round(width * zoom), round(height * zoom)
    if not 1 <= across * down <= MOST_PIXELS:
        raise ParameterError(
            f"the picture would have {across:,} x {down:,} pixels, and can have 1 to {MOST_PIXELS:,}: "
            "choose another scale= or width=, fold the tree with max_depth= or max_nodes=, or save it as .svg"
        )
    draw = renderer()
    plain = in_light(svg)
    # A picture need not end where a pixel does: what is left of the last row has the page's colour too.
    page = PAGE.search(plain)
    return bytes(draw(svg_string=plain, width=across, background=page[1] if page else None, **fonts()))


def in_light(svg: str) -> str:
    """Return a picture with the rules of the light theme alone: whether a renderer knows ``@media`` is its own matter.

    Examples
    --------
    >>> in_light("<style>#a .ink{fill:#000}@media (x){#a .ink{fill:#fff}}</style><g/>")
    '<style>#a .ink{fill:#000}</style><g/>'
    """
    # Names from the data are escaped, so the first style element is the picture's own.
    before, opening, rest = svg.partition("<style>")
    rules, closing, after = rest.partition("</style>")
    return before + opening + rules.partition("@media")[0] + closing + after


def renderer() -> Any:
    """Return resvg's function.

    Raises
    ------
    MissingLibraryError
        It is not installed.
    """
    try:
        from resvg_py import svg_to_bytes
    except ModuleNotFoundError as error:
        if error.name != "resvg_py":
            raise
        raise MissingLibraryError(
            f"a PNG of a tree needs resvg, which is not installed: {INSTALL}, or save the picture as .svg",
            name="resvg_py",
        ) from error
    return svg_to_bytes


@cache
def fonts() -> dict[str, Any]:
    """Return where resvg finds fonts: those of the machine, or else the one that matplotlib brings along.

    A small server may have no font at all, and resvg would leave every text out without a word.

    Raises
    ------
    MissingLibraryError
        There is neither.
    """
    if writes({}):
        return {}
    from importlib.util import find_spec

    found = find_spec("matplotlib")
    for folder in (found.submodule_search_locations or []) if found is not None else []:
        options = {"font_dirs": [str(Path(folder, "mpl-data", "fonts", "ttf"))], "sans_serif_family": "DejaVu Sans"}
        if writes(options):
            return options
    raise MissingLibraryError(
        "a PNG of a tree needs a font, and this machine has none: install one (such as fonts-dejavu), "
        'or pip install "treewright[plot]", which brings one along, or save the picture as .svg'
    )


def writes(options: dict[str, Any]) -> bool:
    """Return whether a text leaves a trace with these fonts."""
    frame = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">{}</svg>'
    text = '<text y="8" font-size="9" font-family="sans-serif">x</text>'
    draw = renderer()
    return bytes(draw(svg_string=frame.format(text), **options)) != bytes(draw(svg_string=frame.format("<g/>")))
