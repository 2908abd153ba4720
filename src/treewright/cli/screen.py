"""What the screen can show. In: what was asked for, where the output goes. Out: a ``Screen`` that prints spans.

Callers: cli.show, cli.one_row, cli.evaluate, cli.fit, cli.prune. Colours and bars are for people who look on: in a pipe
or a file, under NO_COLOR (no-color.org) and on a dumb terminal everything is plain text, the same everywhere.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from treewright.cli.terminal import UsageRefusal, say
from treewright.show.spans import folded, text_of

if TYPE_CHECKING:
    from rich.style import Style

    from treewright.show.spans import Role, Span, Spans

__all__ = ["Screen", "say_prose", "screen_of"]

LEAST_WIDTH, PAGE_WIDTH = 40, 80
# Signs that drawings are made of.
_SIGNS = "\u251c\u2500\u2514\u2502\u2026\u25a0\u2588\u2589\u258f"
# The classes' colours on terminals that have 16.
_FEW = ("blue", "yellow", "green", "red", "cyan", "magenta", "bright_yellow", "bright_black")


@dataclass(frozen=True)
class Screen:
    """Where results go.

    Attributes
    ----------
    painted : bool
        Whether colours and bars are wanted.
    width : int
        Cells of a line.
    is_asked : bool
        Whether the width was asked for, or is that of a window; else it is that of a page.
    is_ascii : bool
        Whether the signs of drawings are not there.
    """

    painted: bool
    width: int
    is_asked: bool
    is_ascii: bool

    def say(self, lines: Iterable[Spans]) -> None:
        """Print lines."""
        if sys.stdout is None:  # it was closed before we began
            return
        paint = _painter(to_file=False) if self.painted else text_of
        for line in lines:
            sys.stdout.write(paint(_stripped(line)) + "\n")
        sys.stdout.flush()

    def say_prose(self, text: str) -> None:
        """Print sentences, broken at blanks where a person looks on; pipes and files get each line whole."""
        if not self.painted:
            say(text)
            return
        for line in text.split("\n"):
            say("\n".join(folded(line, self.width)))

    def written(self, lines: Iterable[Spans]) -> str:
        """The text of lines, with colour codes where it is painted."""
        paint = _painter(to_file=True) if self.painted else text_of
        return "\n".join(paint(_stripped(line)) for line in lines)


def screen_of(color: str = "auto", width: int | None = None, *, to_file: bool = False) -> Screen:
    """The screen for results.

    Parameters
    ----------
    color : {"auto", "always", "never"}
    width : int >= 40, or None
        None is the width of the window; where there is none, of a page.
    to_file : bool
        Whether they are written to a file, as UTF-8, instead of the standard output.

    Raises
    ------
    UsageRefusal
        The width is out of range.
    """
    if width is not None and not LEAST_WIDTH <= width <= 10_000:
        raise UsageRefusal(f"--width {width}: give {LEAST_WIDTH} or more cells")
    is_window = not to_file and sys.stdout is not None and sys.stdout.isatty()
    allowed = is_window and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    painted = color == "always" or (color == "auto" and allowed)
    cells = width or (shutil.get_terminal_size((PAGE_WIDTH, 24)).columns if is_window else PAGE_WIDTH)
    return Screen(painted, max(20, cells), width is not None or is_window, not (to_file or _has_signs()))


def say_prose(text: str) -> None:
    """Print sentences, broken at blanks where a person looks on."""
    screen_of().say_prose(text)


def _has_signs() -> bool:
    """Whether the standard output can write the signs of drawings."""
    try:
        _SIGNS.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _stripped(line: Spans) -> Spans:
    """A line without blanks at its end."""
    kept = list(line)
    while kept:
        text = kept[-1].text.rstrip(" ")
        if text:
            kept[-1] = replace(kept[-1], text=text)
            break
        kept.pop()
    return kept


def _painter(*, to_file: bool) -> Callable[[Iterable[Span]], str]:
    """What makes a text with colour codes of a line: for the terminal there is, for 256 colours in a file or a pipe."""
    from rich.color import ColorSystem
    from rich.console import Console

    has_all = os.environ.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit")
    system = ColorSystem.TRUECOLOR if has_all else ColorSystem.EIGHT_BIT
    if not to_file and sys.stdout.isatty():
        console = Console(file=sys.stdout, force_terminal=True, no_color=False)
        if console.legacy_windows:
            return text_of  # it would print the codes
        told = {"standard": ColorSystem.STANDARD, "256": ColorSystem.EIGHT_BIT, "truecolor": ColorSystem.TRUECOLOR}
        system = told.get(console.color_system or "", system)
    styles: dict[tuple[Role, int, int], Style] = {}

    def painted(line: Iterable[Span]) -> str:
        texts = []
        for span in line:
            look = (span.role, span.place, span.behind)
            if look not in styles:
                styles[look] = _style(span, few=system is ColorSystem.STANDARD)
            texts.append(styles[look].render(span.text, color_system=system))
        return "".join(texts)

    return painted


def _style(span: Span, *, few: bool) -> Style:
    """How a piece looks. Classes have the colours of the pictures; words keep the colour that the reader has chosen.

    Of ``few`` colours the nearest ones would be the same for several classes.
    """
    from rich.style import Style

    from treewright.show.style import class_color

    def color(place: int) -> str | None:
        if place < 0:
            return None
        return _FEW[place % len(_FEW)] if few else class_color(place)

    match span.role:
        case "class":
            return Style(color=color(span.place), bgcolor=color(span.behind))
        case "number":
            return Style(color=color(0))
        case "good":
            return Style(color=color(2), bold=True)
        case "bad":
            return Style(color=color(3))
        case "strong":
            return Style(bold=True)
        case "faint":
            return Style(dim=True)
        case _:
            return Style()
