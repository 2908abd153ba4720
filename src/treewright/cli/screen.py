"""What the screen can show. In: what was asked for, where the output goes. Out: a ``Screen`` that prints spans.

Callers: cli.show, cli.one_row, cli.evaluate, cli.fit, cli.prune. Colours and bars are for people who look on: in a pipe
or a file, under NO_COLOR (no-color.org) and on a dumb terminal everything is plain text, the same everywhere.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any

from treewright.cli.terminal import UsageRefusal, say

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from treewright.explain.spans import Span, Spans

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
        """Print lines, painted."""
        if not self.painted:
            from treewright.explain.spans import text_of

            for line in lines:
                sys.stdout.write(text_of(line).rstrip() + "\n")
        else:
            _print(lines, _console(None))
        sys.stdout.flush()

    def say_prose(self, text: str) -> None:
        """Print sentences, broken at blanks where a person looks on; pipes and files get each line whole."""
        if not self.painted:
            say(text)
            return
        from treewright.explain.spans import folded

        for line in text.split("\n"):
            say("\n".join(folded(line, self.width)))

    def written(self, lines: Iterable[Spans]) -> str:
        """The text of lines, with colour codes where it is painted."""
        if not self.painted:
            from treewright.explain.spans import text_of

            return "\n".join(text_of(line).rstrip() for line in lines)
        file = StringIO()
        _print(lines, _console(file))
        return file.getvalue().rstrip("\n")


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
    is_window = not to_file and sys.stdout.isatty()
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


def _console(file: StringIO | None) -> Console:
    """A console that paints, in as many colours as the terminal has; in a file or a pipe 256, or all of COLORTERM."""
    from rich.console import Console

    looks: dict[str, Any] = {"force_terminal": True, "no_color": False, "highlight": False, "markup": False}
    if file is None and sys.stdout.isatty():
        console = Console(file=sys.stdout, **looks)
        if console.color_system is not None:
            return console
    has_all = os.environ.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit")
    return Console(file=file or sys.stdout, color_system="truecolor" if has_all else "256", **looks)


def _print(lines: Iterable[Spans], console: Console) -> None:
    few = console.color_system in ("standard", "windows")
    for line in lines:
        console.print(_text(line, few=few), soft_wrap=True)


def _text(line: Spans, *, few: bool) -> Text:
    """A line as rich writes it."""
    from rich.text import Text

    text = Text(no_wrap=True, overflow="ignore", end="")
    for span in line:
        text.append(span.text, _style(span, few=few))
    text.rstrip()
    text.end = "\n"
    return text


def _style(span: Span, *, few: bool) -> str:
    """How a piece looks. Classes have the colours of the pictures; words keep the colour that the reader has chosen.

    Of ``few`` colours the nearest ones would be the same for several classes.
    """
    from treewright.plot.style import class_color

    def color(place: int) -> str:
        return _FEW[place % len(_FEW)] if few else class_color(place)

    match span.role:
        case "class":
            return color(span.place) + (f" on {color(span.behind)}" if span.behind >= 0 else "")
        case "number":
            return color(0)
        case "good":
            return f"bold {color(2)}"
        case "bad":
            return color(3)
        case "strong":
            return "bold"
        case "faint":
            return "dim"
        case _:
            return ""
