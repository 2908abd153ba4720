"""The terminal, and the output files.

Results go to standard output, everything else to standard error. A refusal is one line and exit code 1, wrong usage one
line and exit code 2, Ctrl-C one line and exit code 130, SIGTERM one line and exit code 143; the content of a file
never leads to a traceback.

Colours and bars are for terminals: in a pipe or a file, under NO_COLOR (no-color.org) and on a dumb terminal everything
is plain text, the same everywhere.

An output file is checked before any work begins and appears only when it is complete: it is written under another name
in the same folder, and renamed at the end.

Nothing heavy is imported here, so that ``--help`` starts at once.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any, NoReturn, TextIO, cast

import typer

from treewright.exceptions import (
    InputFileError,
    ModelFileError,
    ParameterError,
    Phrase,
    TreewrightError,
    status_of_stop,
)

if TYPE_CHECKING:
    from rich.style import Style

    from treewright.show.spans import Role, Span, Spans

__all__ = [
    "Screen",
    "UsageRefusal",
    "as_option",
    "as_set",
    "check_output",
    "csv_of",
    "drop_stdout",
    "guarded_labels",
    "is_typed_short",
    "note",
    "open_output",
    "printable",
    "printable_lines",
    "left_by_ctrl_c",
    "note_stopped",
    "progress",
    "wrote",
    "refusals",
    "results_after",
    "say",
    "say_json",
    "say_prose",
    "screen_of",
    "typed_short",
    "unwritten_stdout",
    "worded",
    "write_text",
    "writing_stdout",
]

# Python parameters that have options of their own; all others are given by --set.
_OPTIONS = {
    "calendar": "--calendar",
    "date_format": "--date-format",
    "decimal": "--decimal",
    "declared": "--types",
    "encoding": "--encoding",
    "force": "--force",
    "leave_out": "--drop",
    "memory": "--memory",
    "missing_tokens": "--missing-tokens",
    "n_jobs": "--jobs",
    "nominal": "--nominal",
    "numeric": "--numeric",
    "ordinal": "--ordinal",
    "random_state": "--seed",
    "scoring": "--scoring",
    "separator": "--separator",
    "skip_footer": "--skip-footer",
    "skip_missing_target": "--skip-missing-target",
    "skip_rows": "--skip-rows",
    "target": "--target",
    "thousands": "--thousands",
    "tree": "--tree",
    "unseen": "--unseen",
    "positive": "--positive",
    "weight": "--weight",
}
_KINDS = {"text": "nominal", "number": "numeric", "boolean": "boolean"}
# Parameters that this command line sets by options of their own, as --trees 50: messages name what was typed.
_SHORT: ContextVar[Mapping[str, str]] = ContextVar("short options", default=MappingProxyType({}))

LEAST_WIDTH, PAGE_WIDTH = 40, 80
# The characters of drawings.
_SIGNS = "\u251c\u2500\u2514\u2502\u2026\u25a0\u2588\u2589\u258f"
# The classes' colours on terminals that have 16.
_FEW = ("blue", "yellow", "green", "red", "cyan", "magenta", "bright_yellow", "bright_black")


class UsageRefusal(TreewrightError):  # noqa: N818 - it is the command's refusal, not the library's error
    """Wrong usage of the command: exit code 2."""


def say(text: str = "") -> None:
    """Print a result."""
    with writing_stdout():
        typer.echo(text)


def say_json(results: Mapping[str, object]) -> None:
    """Print results as one JSON document, with null for numbers that are not finite or not known."""
    say(json.dumps(_finite(results), indent=2, allow_nan=False, ensure_ascii=False))


def _finite(value: object) -> object:
    """The same value with None in place of numbers that JSON cannot represent."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(name): _finite(each) for name, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, list | tuple) else value


def note(text: str) -> None:
    """Print one line about the work, not a result."""
    typer.echo(f"treewright: {printable(text)}", err=True)


_PART = "standard output has only a part of the result"
_written: list[str] = []  # by the command that runs, a line each


def wrote(path: Path, what: str) -> str:
    """A line about a file that is written, which Ctrl-C repeats."""
    _written.append(f"wrote {printable(path)} ({what})")
    return _written[-1]


def note_stopped(why: str) -> None:
    """Print what a stopped command has left behind; ``why`` as ``status_of_stop`` words it."""
    note(f"{why}; {', '.join(_written) or 'nothing was written'}")
    _written.clear()


@contextmanager
def left_by_ctrl_c(what: Callable[[], str]) -> Iterator[None]:
    """If Ctrl-C ends the block, its line has the text of ``what``, unless that is empty."""
    try:
        yield
    except KeyboardInterrupt:
        if said := what():
            _written.append(said)
        raise


def printable(text: object) -> str:
    r"""The text with control characters and invisible direction marks escaped.

    Examples
    --------
    >>> printable("two\nlines")
    'two\\nlines'
    """
    return "".join(mark if mark.isprintable() else repr(mark)[1:-1] for mark in str(text))


def printable_lines(text: str) -> str:
    """Lines with control characters escaped."""
    return "\n".join(printable(line) for line in text.split("\n"))


def as_option(phrase: Phrase) -> str:
    """A piece of a message in the words of the command line: options instead of parameters.

    Examples
    --------
    >>> from treewright.exceptions import setting
    >>> as_option(setting("encoding", "latin-1")), as_option(setting("max_depth", 3)), as_option(setting("scale", None))
    ('--encoding latin-1', '--set max_depth=3', 'leave scale out')
    """
    if phrase.kind != "setting":
        return phrase.text
    import shlex

    value, option = phrase.value, _OPTIONS.get(phrase.name)
    if value is None:
        return f"leave {phrase.name} out"
    if option is None:
        if isinstance(value, list | dict):
            return phrase.text
        return as_set(phrase.name, value)
    if value is ... or value is True:
        return option
    if isinstance(value, dict):
        value = ",".join(f"{shlex.quote(column)}={_KINDS[kind]}" for column, kind in value.items())
    elif isinstance(value, list):
        value = ",".join(map(shlex.quote, value))
    return f"{option} {value}"


def as_set(name: str, value: object = ...) -> str:
    """How this command line sets a parameter: by an option of its own, if it was typed, or by ``--set``.

    Examples
    --------
    >>> with typed_short({"n_estimators": "--trees"}):
    ...     as_set("n_estimators", 50), as_set("max_depth", 3), as_set("n_estimators")
    ('--trees 50', '--set max_depth=3', '--trees')
    """
    short = _SHORT.get().get(name)
    if short is not None:
        return short if value is ... else f"{short} {value}"
    return f"--set {name}" + ("" if value is ... else f"={value}")


@contextmanager
def typed_short(options: Mapping[str, str]) -> Iterator[None]:
    """Within the block, messages name these parameters by the options that set them."""
    token = _SHORT.set(options)
    try:
        yield
    finally:
        _SHORT.reset(token)


def is_typed_short(name: str) -> bool:
    """Whether the parameter was set by an option of its own, not by ``--set``."""
    return name in _SHORT.get()


@contextmanager
def worded(words: Callable[[Phrase], str] = as_option) -> Iterator[None]:
    """Errors within the block are worded by ``words``, by default for the command line."""
    try:
        yield
    except UsageRefusal:
        raise
    except TreewrightError as error:
        raise error.worded(words) from None


@contextmanager
def refusals(data: Path | None = None) -> Iterator[None]:
    """Run a command's work; an error becomes one line and an exit code.

    ``data`` is the file that is named in front of errors that know only the table.
    """
    _written.clear()
    with warnings.catch_warnings():
        _warnings_as_notes()
        try:
            yield
        except KeyboardInterrupt as error:
            status, why = status_of_stop(error)
            note_stopped(why)
            raise typer.Exit(status) from None
        except UsageRefusal as error:
            _leave(2, f"error: {error.worded(as_option)}")
        except ParameterError as error:
            _leave(2, f"error: {_short_of(error)}{error.worded(as_option)}")
        except TreewrightError as error:
            has_file = isinstance(error, InputFileError | ModelFileError)  # its own message begins with it
            where = "" if data is None or str(data) in str(error) or has_file else f"{data}: "
            _leave(1, f"error: {where}{error.worded(as_option)}")
        except BrokenPipeError:
            drop_stdout()  # the reader (head, less) has closed the pipe
            raise typer.Exit(0) from None
        except MemoryError:
            _leave(1, "error: not enough memory for this table and these settings")
        except (ValueError, TypeError) as error:
            if type(error).__name__ != "InvalidParameterError":
                raise
            _leave(2, f"error: {_short_of(error)}{error}")


def _short_of(error: Exception) -> str:
    """The short option that set the parameter at the beginning of an error, as a prefix; or an empty text."""
    named = re.match(r"The '(\w+)' parameter|(\w+)=", str(error))
    name = getattr(error, "parameter", None) or (named and (named[1] or named[2]))
    return f"{as_set(name)}: " if name and is_typed_short(name) else ""


@contextmanager
def writing_stdout() -> Iterator[None]:
    """Turn a failure to write to standard output within the block into an ``InputFileError``.

    A reader that has closed the pipe (head, less) is not such a failure; its error passes through.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        drop_stdout()
        raise InputFileError(unwritten_stdout(error)) from None


def unwritten_stdout(error: OSError) -> str:
    """The message that standard output cannot be written."""
    return f"standard output: cannot be written: {error.strerror or error}"


def drop_stdout() -> None:
    """Discard the rest of standard output, so that Python does not complain when it closes it."""
    with suppress(OSError):  # in a test, standard output is not a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def progress(remark: str = "") -> Iterator[None]:
    """A progress bar on standard error while the block runs; in a pipe or a file, a line now and then.

    The line ``remark`` comes before the wait: with the first report of the work, or at the end of work that reports
    nothing. So work that is refused before it begins is refused in one line.
    """
    from treewright.core.progress import listen, listen_with_bar, listen_with_lines, report

    is_shown = sys.stderr is not None and sys.stderr.isatty()
    with listen_with_bar(note) if is_shown else listen_with_lines(note):
        if not remark:
            yield
            return
        shown, is_made = copy_context(), False

        def heard(done: float, what: str) -> None:
            nonlocal is_made
            if not is_made:
                is_made = True
                note(remark)
            shown.run(report, done, what)

        with listen(heard):
            yield
        if not is_made:
            note(remark)


@contextmanager
def results_after(written: Sequence[str]) -> Iterator[None]:
    """Print results after the files have been written, and a line about each: the reader may close the pipe before."""
    yield
    for line in written:
        say(line)


def _leave(code: int, message: str) -> NoReturn:
    """Print one line and exit."""
    note(" ".join(message.splitlines()))
    raise typer.Exit(code) from None


def _warnings_as_notes() -> None:
    """Print each distinct warning for users as one line; warnings for developers are not shown."""
    noted: set[str] = set()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        del category, filename, lineno, file, line
        if str(message) not in noted:
            noted.add(str(message))
            note(f"warning: {message}")

    warnings.simplefilter("ignore")
    warnings.simplefilter("always", UserWarning)
    warnings.showwarning = show


# --- what the screen can show


@dataclass(frozen=True)
class Screen:
    """Where results go.

    ``painted``: with colours and bars. ``is_asked``: the width was given, or is that of a window, else of a page.
    ``is_ascii``: the screen lacks the characters of drawings.
    """

    painted: bool
    width: int
    is_asked: bool
    is_ascii: bool

    def say(self, lines: Iterable[Spans]) -> None:
        """Print lines."""
        if sys.stdout is None:  # it was closed before the start
            return
        paint = _painter(to_file=False, painted=self.painted)
        with writing_stdout():
            for line in lines:
                sys.stdout.write(paint(_stripped(line)) + "\n")
            sys.stdout.flush()

    def say_prose(self, text: str) -> None:
        """Print sentences, broken at spaces on a terminal; pipes and files get each line whole."""
        if not self.painted:
            say(text)
            return
        from treewright.show.spans import folded

        for line in text.split("\n"):
            say("\n".join(folded(line, self.width)))

    def written(self, lines: Iterable[Spans]) -> str:
        """The text of lines, with colour codes if the screen is painted."""
        paint = _painter(to_file=True, painted=self.painted)
        return "\n".join(paint(_stripped(line)) for line in lines)


def screen_of(color: str = "auto", width: int | None = None, *, to_file: bool = False) -> Screen:
    """The screen for results, as wide as given (40 or more), as the window, or without a window as a page.

    ``to_file``: the results are written to a file, as UTF-8, instead of standard output.
    """
    if width is not None and not LEAST_WIDTH <= width <= 10_000:
        raise UsageRefusal(f"--width {width}: give {LEAST_WIDTH} or more")
    is_window = not to_file and sys.stdout is not None and sys.stdout.isatty()
    allowed = is_window and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    painted = color == "always" or (color == "auto" and allowed)
    cells = width or (shutil.get_terminal_size((PAGE_WIDTH, 24)).columns if is_window else PAGE_WIDTH)
    return Screen(painted, max(20, cells), width is not None or is_window, not (to_file or _has_signs()))


def say_prose(text: str) -> None:
    """Print sentences, broken at spaces on a terminal."""
    screen_of().say_prose(text)


def _has_signs() -> bool:
    """Whether standard output can encode the characters of drawings."""
    try:
        _SIGNS.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _stripped(line: Spans) -> Spans:
    """A line without spaces at its end."""
    kept = list(line)
    while kept:
        text = kept[-1].text.rstrip(" ")
        if text:
            kept[-1] = replace(kept[-1], text=text)
            break
        kept.pop()
    return kept


def _painter(*, to_file: bool, painted: bool) -> Callable[[Iterable[Span]], str]:
    """A function from a line to its text: plain, or with colour codes.

    The codes are those of the terminal, or of 256 colours in a file or a pipe.
    """
    from treewright.show.spans import text_of

    if not painted:
        return text_of
    from rich.color import ColorSystem
    from rich.console import Console

    has_all = os.environ.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit")
    system = ColorSystem.TRUECOLOR if has_all else ColorSystem.EIGHT_BIT
    if not to_file and sys.stdout.isatty():
        console = Console(file=sys.stdout, force_terminal=True, no_color=False)
        if console.legacy_windows:
            return text_of  # it would print the codes
        known = {"standard": ColorSystem.STANDARD, "256": ColorSystem.EIGHT_BIT, "truecolor": ColorSystem.TRUECOLOR}
        system = known.get(console.color_system or "", system)
    styles: dict[tuple[Role, int, int], Style] = {}

    def with_codes(line: Iterable[Span]) -> str:
        texts = []
        for span in line:
            look = (span.role, span.place, span.behind)
            if look not in styles:
                styles[look] = _style(span, few=system is ColorSystem.STANDARD)
            texts.append(styles[look].render(span.text, color_system=system))
        return "".join(texts)

    return with_codes


def _style(span: Span, *, few: bool) -> Style:
    """The style of a piece: classes have the colours of the pictures, words the terminal's own.

    With ``few`` colours, the nearest ones would be the same for several classes, so others are used.
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


# --- files that are written


def check_output(path: Path | None, force: bool) -> None:
    """Refuse an output that cannot, or should not, be written; called before the work."""
    if path is None or str(path) == "-":
        return
    try:
        if path.is_symlink():
            raise InputFileError(f"{path}: is a symbolic link: name the file itself")
        if path.is_dir():
            raise InputFileError(f"{path}: is a directory: name a file in it")
        if path.exists() and not path.is_file():
            raise InputFileError(f"{path}: is a pipe or a device: name an ordinary file")
        if path.exists() and not force:
            raise InputFileError(f"{path}: already exists: name another file, or replace it with --force")
        folder = path.parent
        if not folder.is_dir():
            raise InputFileError(f"{path}: the folder {folder} does not exist: make it first")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise InputFileError(f"{path}: the folder {folder} is read-only: name a file elsewhere")
    except (OSError, ValueError) as error:
        if isinstance(error, InputFileError):
            raise
        raise InputFileError(f"{path}: cannot be written: {getattr(error, 'strerror', None) or error}") from None


class _Stdout:
    """Standard output, and whether something was written to it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self.is_begun = stream, False

    def write(self, content: bytes) -> int:
        self.is_begun = True
        return self._stream.write(content)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def open_output(path: Path | None, force: bool) -> Iterator[IO[bytes]]:
    """A binary file to write; it appears under its name if the block ends without an error, and not otherwise."""
    if path is None or str(path) == "-":
        if sys.stdout is None:
            raise InputFileError("standard output: it is closed: open it, or name a file with --out")
        out = _Stdout(sys.stdout.buffer)
        with writing_stdout(), left_by_ctrl_c(lambda: _PART if out.is_begun else ""):
            yield cast("IO[bytes]", out)
            out.flush()
        return
    check_output(path, force)
    partial = path.with_name(f".treewright-{os.urandom(8).hex()}.part")
    try:
        with partial.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        check_output(path, force)
        partial.replace(path)
    except OSError as error:
        raise InputFileError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            partial.unlink()


def write_text(path: Path | None, text: str, force: bool) -> None:
    """Write a text as UTF-8, with a newline at the end."""
    with open_output(path, force) as file:
        file.write((text if text.endswith("\n") else text + "\n").encode("utf-8", "backslashreplace"))


def guarded_labels(labels: list[str]) -> list[str]:
    """Texts with an apostrophe in front of those that a spreadsheet would run as a formula.

    Those begin with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return (OWASP, "CSV Injection").

    Examples
    --------
    >>> guarded_labels(["=1+1", "Adelie"])
    ["'=1+1", 'Adelie']
    """
    return ["'" + label if label.startswith(("=", "+", "-", "@", "\t", "\r")) else label for label in labels]


def csv_of(columns: Mapping[str, Sequence[object]]) -> str:
    r"""Columns as the text of a CSV file.

    Examples
    --------
    >>> csv_of({"node": [0, 3], "test": ["x <= 1", "y, z"]})
    'node,test\n0,x <= 1\n3,"y, z"\n'
    """
    import csv

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()
