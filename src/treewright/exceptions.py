"""Everything Treewright raises on purpose. In: nothing. Out: the exception classes. Callers: every layer.

TreewrightError
|-- DataError (ValueError)            a table, column, cell, target or weight was refused
|   |-- CellTypeError (TypeError)     a cell is neither a number nor text (a dict, a list, ...)
|   |-- ColumnError                   columns missing, duplicated or of another kind than at fit
|   |-- UnseenLevelError              a level that fit never saw, under unseen="error"
|   `-- MissingValueError             a missing cell, under missing="error"
|-- ParameterError (ValueError)       a parameter is outside its range
|-- ModelFileError (ValueError)       a file is not a (whole, untampered) model file
|-- InputFileError (ValueError)       a data file cannot be read, or an output file cannot be written
|-- TooLargeError (MemoryError)       the work would not fit in memory; raised before allocating
`-- MissingLibraryError (ImportError) a library that only some functions need is not installed
DataWarning (UserWarning)             the answer is defined, but look at the input
"""


class TreewrightError(Exception):
    """The root of every error that Treewright raises on purpose."""


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
    """A file is not a whole, untampered model file that this version can read."""


class InputFileError(TreewrightError, ValueError):
    """A data file cannot be read, or an output file cannot be written."""


class TooLargeError(TreewrightError, MemoryError):
    """The work would not fit in memory; raised before anything is allocated."""


class MissingLibraryError(TreewrightError, ImportError):
    """A library that only some functions need is not installed; the message says how to install it."""


class DataWarning(UserWarning):
    """The answer is defined, but the input deserves a look."""
