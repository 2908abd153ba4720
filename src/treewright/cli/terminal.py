"""The person at the terminal. In: what happened. Out: lines, a progress bar, exit codes. Callers: every command.

Results go to standard output, everything else to standard error. A refusal is one line and exit code 1, wrong usage one
line and exit code 2, Ctrl-C one line and exit code 130; nobody ever sees a traceback for what is in a file.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn, TextIO

import typer

from treewright.exceptions import ParameterError, TreewrightError

__all__ = ["UsageRefusal", "note", "printable", "printable_lines", "progress", "refusals", "results_after", "say"]


class UsageRefusal(TreewrightError):  # noqa: N818 - it is the command's refusal, not the library's error
    """The words of the command make no sense together: exit code 2."""


def say(text: str = "") -> None:
    """Print a result."""
    typer.echo(text)


def note(text: str) -> None:
    """Print one line about the work, not a result."""
    typer.echo(f"treewright: {printable(text)}", err=True)


def printable(text: object) -> str:
    r"""The text with control characters and invisible direction marks shown, not obeyed.

    Examples
    --------
    >>> printable("two\nlines")
    'two\\nlines'
    """
    return "".join(mark if mark.isprintable() else repr(mark)[1:-1] for mark in str(text))


def printable_lines(text: str) -> str:
    """Lines whose control characters are shown, not obeyed."""
    return "\n".join(printable(line) for line in text.split("\n"))


@contextmanager
def refusals(data: Path | None = None) -> Iterator[None]:
    """Run a command's work; what is refused becomes one line and an exit code.

    Parameters
    ----------
    data : Path, optional
        The data file, named in front of errors that know only the table.
    """
    with warnings.catch_warnings():
        _warnings_as_notes()
        try:
            yield
        except KeyboardInterrupt:
            _leave(130, "stopped by Ctrl-C; nothing was written")
        except (UsageRefusal, ParameterError) as error:
            _leave(2, f"error: {error}")
        except TreewrightError as error:
            where = "" if data is None or str(data) in str(error) or _names_a_file(error) else f"{data}: "
            _leave(1, f"error: {where}{error}")
        except BrokenPipeError:
            # The reader (head, less) has gone: nothing more to say, and Python must not complain when it closes stdout.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except MemoryError:
            _leave(1, "error: not enough memory for this table and these settings")
        except (ValueError, TypeError) as error:
            if type(error).__name__ != "InvalidParameterError":
                raise
            _leave(2, f"error: {error}")


@contextmanager
def progress() -> Iterator[None]:
    """A progress bar on standard error while the block runs; only where a person looks on."""
    from treewright.core.progress import COMPILING, COMPILING_NOTICE, listen, listen_with_bar

    told: set[str] = set()

    def tell_of_compiling(what: str) -> None:
        if what == COMPILING and what not in told:
            told.add(what)
            note(COMPILING_NOTICE)

    if not sys.stderr.isatty():
        with listen(lambda _, what: tell_of_compiling(what)):
            yield
        return
    with listen_with_bar(tell_of_compiling):
        yield


@contextmanager
def results_after(written: Sequence[str]) -> Iterator[None]:
    """Print results when the files are there already: whoever reads may go away before the end.

    Parameters
    ----------
    written : sequence of str
        A line about each file; they come last.
    """
    try:
        yield
        for line in written:
            say(line)
    except KeyboardInterrupt:
        _leave(130, f"stopped by Ctrl-C; {', '.join(written) or 'nothing was written'}")


def _names_a_file(error: TreewrightError) -> bool:
    """Whether the error's own message begins with its file."""
    from treewright.exceptions import InputFileError, ModelFileError

    return isinstance(error, InputFileError | ModelFileError)


def _leave(code: int, message: str) -> NoReturn:
    """One line, then out."""
    note(" ".join(message.splitlines()))
    raise typer.Exit(code) from None


def _warnings_as_notes() -> None:
    """Each different warning to the user as one line; what is for developers stays silent."""
    told: set[str] = set()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        del category, filename, lineno, file, line
        if str(message) not in told:
            told.add(str(message))
            note(f"warning: {message}")

    warnings.simplefilter("ignore")
    warnings.simplefilter("always", UserWarning)
    warnings.showwarning = show
