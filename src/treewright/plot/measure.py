"""How wide a text will be. In: text and font size. Out: pixels, or a text that fits. Caller: ``plot.cards``.

A picture is made without a font at hand, so widths come from a table of usual sans-serif advances with a margin for
fonts that run wider.
"""

from __future__ import annotations

import unicodedata

# Advances in thousandths of the font size, as common to Helvetica, Arial and Liberation Sans.
ADVANCES = {
    **dict.fromkeys("ijl'", 222),
    **dict.fromkeys("|", 260),
    **dict.fromkeys(" !,./:;I[]\\ft", 278),
    **dict.fromkeys("()-`r{}", 334),
    **dict.fromkeys('"*', 375),
    **dict.fromkeys("^", 469),
    **dict.fromkeys("Jckksvxyz", 500),
    **dict.fromkeys("#$?_0123456789abdeghnopquL", 556),
    **dict.fromkeys("+<=>~\u2264\u2265\u2260\u00b7", 584),
    **dict.fromkeys("FTZ", 611),
    **dict.fromkeys("&ABEKPSVXY", 667),
    **dict.fromkeys("CDHNRUw", 722),
    **dict.fromkeys("GOQ", 778),
    **dict.fromkeys("Mm", 833),
    **dict.fromkeys("%", 889),
    **dict.fromkeys("W", 944),
    **dict.fromkeys("@\u2026", 1015),
}
NARROW_OTHER, WIDE_OTHER = 640, 1080
# DejaVu Sans, what many Linux machines draw with, runs 12 % wider than Helvetica, and its bold another 14 %.
MARGIN = 1.12
BOLD = 1.14
ELLIPSIS = "\u2026"


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the estimated width of a line of text.

    Parameters
    ----------
    text : str
    size : float, pixels
    bold : bool

    Returns
    -------
    float, pixels

    Examples
    --------
    >>> text_width("iii", 10) < text_width("mmm", 10)
    True
    """
    return sum(char_advance(char) for char in text) * size / 1000 * MARGIN * (BOLD if bold else 1.0)


def char_advance(char: str) -> int:
    """Return the advance of one character in thousandths of the font size."""
    known = ADVANCES.get(char)
    if known is not None:
        return known
    if unicodedata.combining(char) or char in "\u200c\u200d\u200e" or "\ufe00" <= char <= "\ufe0f":
        return 0
    return WIDE_OTHER if unicodedata.east_asian_width(char) in "WF" else NARROW_OTHER


def fitted(text: str, size: float, room: float, *, bold: bool = False) -> str:
    """Return ``text``, cut with an ellipsis where it would be wider than ``room`` pixels.

    Examples
    --------
    >>> fitted("petal length", 10, 40)
    'petal\u2026'
    """
    # No character of some width is narrower than 222, so a longer text cannot fit: a name of 100 kB costs nothing.
    most = int(room * 1000 / (222 * size)) + 2
    if len(text) <= 4 * most and text_width(text, size, bold=bold) <= room:
        return text
    left = room - text_width(ELLIPSIS, size, bold=bold)
    kept = []
    for char in text[: 4 * most]:
        left -= text_width(char, size, bold=bold)
        if left < 0:
            break
        kept.append(char)
    return "".join(kept).rstrip() + ELLIPSIS
