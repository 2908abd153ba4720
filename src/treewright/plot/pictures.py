"""A finished picture of a tree. In: an SVG. Out: files, bytes, what a notebook shows. Callers: ``plot.svg``, users."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import PurePath

from treewright.core.files import write_whole
from treewright.exceptions import ParameterError

INCH = 96.0  # pixels, as CSS has it
SCREEN_DPI = 2 * INCH  # two pixels of a PNG to each of the picture's own: sharp on today's screens
ENDINGS = (".svg", ".png", ".pdf")


@dataclass(frozen=True)
class SvgPicture:
    """A picture; a notebook shows it by itself.

    Attributes
    ----------
    text : str
        The SVG document.
    width, height : float, pixels
        96 of them are an inch.
    dpi : float
        Pixels of a PNG to an inch, unless it is asked for otherwise.
    """

    text: str
    width: float
    height: float
    dpi: float = SCREEN_DPI

    def _repr_svg_(self) -> str:
        """Return the SVG for a notebook."""
        return self.text

    def png(self, *, scale: float | None = None, width: float | None = None) -> bytes:
        """Return the picture as PNG; needs the extra ``png``.

        Parameters
        ----------
        scale : float > 0, optional
            Pixels of the PNG to each pixel of the picture: 2 by default, more for a picture that was drawn for paper.
        width : float >= 1, optional, pixels
            How wide the PNG is, instead of ``scale``.

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
        from treewright.plot.raster import png_of

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
        from treewright.plot.figures.tree_pdf import pdf_of

        return pdf_of(self.text, self.width, self.height)

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
        """Return what a file with an ending holds: PNG for ``.png``, PDF for ``.pdf``, SVG for every other.

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
    """Refuse a format that cannot be written here, before there is anything to draw.

    Parameters
    ----------
    ending : str
        ``.png`` and ``.pdf`` need libraries, every other ending nothing.

    Raises
    ------
    MissingLibraryError
        A library is not installed, or the machine has no font.
    """
    match ending.lower():
        case ".png":
            from treewright.plot.raster import fonts

            fonts()
        case ".pdf":
            import treewright.plot.figures.picture  # noqa: F401 - it is refused where matplotlib is absent


def number(name: str, value: float) -> float:
    """Return a parameter as a number.

    Raises
    ------
    ParameterError
        It is none.
    """
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{name} is {value!r}: give a number above 0") from None
