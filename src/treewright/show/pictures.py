"""A finished picture of a tree. In: an SVG and its drawing. Out: files, bytes, HTML for notebooks.

Pixels come from resvg, which is imported when a PNG is written. It is the extra ``png``: a wheel for Linux, macOS and
Windows, which needs no system library.
"""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePath
from typing import Any

from treewright.core.files import write_whole
from treewright.exceptions import MissingLibraryError, ParameterError
from treewright.show.drawing import INCH, Drawing
from treewright.show.style import DARK, LIGHT

SCREEN_DPI = 2 * INCH  # two pixels of a PNG to each of the picture's own: sharp on today's screens
ENDINGS = (".svg", ".png", ".pdf")
MOST_PIXELS = 100_000_000  # 400 MB while it is drawn
PAGE = re.compile(r"\.page\{fill:(#[0-9a-f]{6})\}")
INSTALL = 'pip install "treewright[png]"'


@dataclass(frozen=True)
class SvgPicture:
    """A picture of a tree; notebooks display it.

    Attributes
    ----------
    text : str
        The SVG document.
    width, height : float, pixels
        96 of them are an inch.
    dpi : float
        Pixels of a PNG per inch, by default.
    drawing : Drawing or None
        Shapes and places, for the PDF.
    theme : {"auto", "light", "dark"}
    """

    text: str
    width: float
    height: float
    dpi: float = SCREEN_DPI
    drawing: Drawing | None = field(default=None, repr=False, compare=False)
    theme: str = field(default="auto", repr=False, compare=False)

    def _repr_svg_(self) -> str:
        """Return the SVG for a notebook."""
        return self.text

    def _repr_html_(self) -> str:
        """Return the SVG for a cell of a notebook, no wider than the cell."""
        return self.text.replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)

    def png(self, *, scale: float | None = None, width: float | None = None) -> bytes:
        """Return the picture as PNG; needs the extra ``png``.

        Parameters
        ----------
        scale : float > 0, optional
            Pixels of the PNG per pixel of the picture: 2 by default, more for a picture that was drawn for paper.
        width : float >= 1, optional, pixels
            Width of the PNG, instead of ``scale``.

        Returns
        -------
        bytes

        Raises
        ------
        ParameterError
            Both were given, or one is out of range, or the PNG would have more than 100 million pixels.
        MissingLibraryError
            resvg is not installed, or the machine has no font.
        """
        if scale is not None and width is not None:
            raise ParameterError(f"scale is {scale} and width is {width}: give one of them")
        zoom = self.dpi / INCH
        if scale is not None:
            zoom = number("scale", scale)
        elif width is not None:
            zoom = number("width", width) / self.width
        return png_of(self.text, self.width, self.height, zoom=zoom)

    def pdf(self) -> bytes:
        """Return the picture as PDF, on a page as large as the picture; needs the extra ``plot``.

        Returns
        -------
        bytes

        Raises
        ------
        MissingLibraryError
            matplotlib is not installed.
        """
        from treewright.show.pdf import pdf_of

        if self.drawing is None:
            raise ParameterError("this picture was made from SVG text alone: only a picture made by plot can be a PDF")
        return pdf_of(self.drawing, DARK if self.theme == "dark" else LIGHT, self.width, self.height)

    def save(self, path: str | os.PathLike[str], *, scale: float | None = None, width: float | None = None) -> None:
        """Write the picture to a file in one step; an old file stays whole if that fails.

        Parameters
        ----------
        path : str or path-like, ending in ``.svg``, ``.png`` or ``.pdf``
        scale, width : float, optional
            As in ``png``; for ``.png`` only.

        Raises
        ------
        ParameterError
            The name has another ending, or ``scale`` or ``width`` does not fit it.
        MissingLibraryError
            The extra ``png`` (for ``.png``) or ``plot`` (for ``.pdf``) is not installed.
        InputFileError
            The file cannot be written.
        """
        name = os.fsdecode(path)
        ending = PurePath(name).suffix.lower()
        if ending not in ENDINGS:
            raise ParameterError(f"{name!r} does not end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}")
        if ending != ".png" and (scale is not None or width is not None):
            raise ParameterError(f"scale= and width= are for .png; {name!r} has no pixels: draw it with size=")
        content = self.png(scale=scale, width=width) if ending == ".png" else self.content(ending)
        write_whole(path, content)

    def content(self, ending: str) -> bytes:
        """Return the content of a file by its ending: PNG for ``.png``, PDF for ``.pdf``, SVG for every other.

        Parameters
        ----------
        ending : str

        Raises
        ------
        MissingLibraryError
            As ``save``.
        """
        match ending.lower():
            case ".png":
                return self.png()
            case ".pdf":
                return self.pdf()
            case _:
                return self.text.encode("utf-8")


def check_ending(ending: str) -> None:
    """Refuse a format that cannot be written here, before anything is drawn.

    Parameters
    ----------
    ending : str
        ``.png`` and ``.pdf`` need libraries, every other ending nothing.
    """
    match ending.lower():
        case ".png":
            fonts()
        case ".pdf":
            import treewright.show.figures.picture  # noqa: F401 - raises if matplotlib is absent


def number(name: str, value: float) -> float:
    """Return a parameter as a number."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{name} is {value!r}: give a number above 0") from None


def png_of(svg: str, width: float, height: float, *, zoom: float) -> bytes:
    """Return an SVG as PNG.

    Parameters
    ----------
    svg : str
        A picture of ``show.svg``. If it follows the reader's theme, the light one is drawn.
    width, height : float, pixels
        The size stated in the SVG.
    zoom : float > 0
        Pixels of the PNG per pixel of the picture.

    Notes
    -----
    Fonts are those of the machine, so another machine may draw other pixels; the same machine draws the same.
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
    # A picture may end within a pixel: the rest of the last row has the page's colour too.
    page = PAGE.search(plain)
    return bytes(draw(svg_string=plain, width=across, background=page[1] if page else None, **fonts()))


def in_light(svg: str) -> str:
    """Return a picture with the rules of the light theme only: not every renderer knows ``@media``.

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
    """Return resvg's function."""
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
    """Return where resvg finds fonts: those of the machine, or else the one that comes with matplotlib.

    A small server may have no font at all, and resvg would leave out every text without an error.
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
        'or pip install "treewright[plot]", which includes one, or save the picture as .svg'
    )


def writes(options: dict[str, Any]) -> bool:
    """Return whether a text is visible with these fonts."""
    frame = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">{}</svg>'
    text = '<text y="8" font-size="9" font-family="sans-serif">x</text>'
    draw = renderer()
    return bytes(draw(svg_string=frame.format(text), **options)) != bytes(draw(svg_string=frame.format("<g/>")))
