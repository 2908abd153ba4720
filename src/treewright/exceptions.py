"""All errors and warnings of Treewright.

A message says what, where and what to do, in the words of Python. Its facts are also attributes, so that the command or
a server can name a row by its line and a parameter by its option without reading the text: ``parameter``, ``column``,
``row``, and the phrases of the message (``parts``).

TreewrightError
|-- DataError (ValueError)            a table, column, cell, target or weight was refused
|   |-- CellTypeError (TypeError)     a cell is neither a number nor text (a dict, a list, ...)
|   |-- ColumnError                   columns missing, duplicated or of another kind than at fit
|   |-- UnseenLevelError              a level that fit never saw, under unseen="error"
|   `-- MissingValueError             a missing cell, under missing="error"
|-- ParameterError (ValueError)       a parameter is outside its range
|-- ModelFileError (ValueError)       a file is not a complete, unaltered model file
|-- InputFileError (ValueError)       a data file cannot be read, or an output file cannot be written
|-- TooLargeError (MemoryError)       the work would not fit in memory; raised before allocating
`-- MissingLibraryError (ImportError) a library that only some functions need is not installed
DataWarning (UserWarning)             the result is valid, but the input looks wrong
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self


@dataclass(frozen=True)
class Phrase:
    """A piece of a message that a front end may write in its own words.

    Attributes
    ----------
    text : str
        As it is written for Python.
    kind : str
        What it is: ``"setting"``, ``"row"``, or another word that the front end knows.
    name : str
        The parameter, for a setting.
    value : object
        The value of the setting, the position of the row, ...
    """

    text: str
    kind: str
    name: str = ""
    value: Any = None

    def __str__(self) -> str:
        return self.text


def setting(name: str, value: Any = ...) -> Phrase:
    """A parameter that the message names or advises, with its value if one is given.

    Examples
    --------
    >>> str(setting("metric", "heom")), str(setting("separator"))
    ("metric='heom'", 'separator=...')
    """
    return Phrase(f"{name}={'...' if value is ... else repr(value)}", "setting", name, value)


def first_row(row: int) -> Phrase:
    """The first row that a message is about, by its position.

    Examples
    --------
    >>> str(first_row(3))
    'first row 3'
    """
    return Phrase(f"first row {row}", "row", value=row)


def pruner(name: str) -> Phrase:
    """The name of a pruning method."""
    return Phrase(name, "pruning", value=name)


# The target in the words of Python.
TARGET = Phrase("y", "target")


class TreewrightError(Exception):
    """The root of every error that Treewright raises on purpose.

    Parameters
    ----------
    *parts : str or Phrase
        The message, piece by piece.
    parameter : str, optional
        The parameter that was refused.
    column : object, optional
        The name of the column that was refused.
    row : int, optional
        The position of the first row that was refused.
    """

    def __init__(
        self, *parts: object, parameter: str | None = None, column: object = None, row: int | None = None
    ) -> None:
        super().__init__("".join(map(str, parts)))
        self.parts = parts
        self.parameter = parameter
        self.column = column
        self.row = row

    def worded(self, words: Callable[[Phrase], str], before: str = "") -> Self:
        """The same error with its phrases in other words, and perhaps a text before them."""
        parts = [words(part) if isinstance(part, Phrase) else part for part in self.parts]
        return type(self)(before, *parts, parameter=self.parameter, column=self.column, row=self.row)


class DataError(TreewrightError, ValueError):
    """A table, column, cell, target or weight was refused.

    The message says what, where (column, first row, count) and what to do.
    """


class CellTypeError(DataError, TypeError):
    """A cell is neither a number nor text: a dict, a list, an object that no column can hold."""


class ColumnError(DataError):
    """Columns are missing, duplicated or of another kind than they were at fit."""


class UnseenLevelError(DataError):
    """A nominal or ordinal column holds a level that fit never saw, and ``unseen="error"``."""


class MissingValueError(DataError):
    """A column holds missing cells (or levels that count as missing), and ``missing="error"``."""


class ParameterError(TreewrightError, ValueError):
    """A parameter is outside its range."""


class ModelFileError(TreewrightError, ValueError):
    """A file is not a complete, unaltered model file that this version can read."""


class InputFileError(TreewrightError, ValueError):
    """A data file cannot be read, or an output file cannot be written."""


class TooLargeError(TreewrightError, MemoryError):
    """The work would not fit in memory; raised before anything is allocated."""


class MissingLibraryError(TreewrightError, ImportError):
    """A library that only some functions need is not installed; the message says how to install it."""

    def __init__(self, *parts: object, name: str | None = None, **facts: Any) -> None:
        super().__init__(*parts, **facts)
        self.name = name


class DataWarning(UserWarning):
    """The result is valid, but the input looks wrong."""


class Terminated(KeyboardInterrupt):
    """SIGTERM, for the command line: what cleans up after Ctrl-C does so after this, and only words and status differ.

    Attributes
    ----------
    is_heard : bool
        Whether this process got one.
    """

    is_heard: ClassVar[bool] = False


def status_of_stop(error: BaseException) -> tuple[int, str]:
    """The exit status of a command that was stopped, and by what.

    Examples
    --------
    >>> status_of_stop(KeyboardInterrupt()), status_of_stop(Terminated())
    ((130, 'stopped by Ctrl-C'), (143, 'stopped by SIGTERM'))
    """
    return (143, "stopped by SIGTERM") if isinstance(error, Terminated) else (130, "stopped by Ctrl-C")


def old_name(old: str, new: str) -> Any:
    """A property that reads the attribute ``new`` by its old name, with a ``FutureWarning``."""

    def read(self: Any) -> Any:
        warnings.warn(
            f"{type(self).__name__}.{old} is now called {new}: the old name goes with the next version",
            FutureWarning,
            stacklevel=2,
        )
        return getattr(self, new)

    return property(read, doc=f"The old name of ``{new}``.")
