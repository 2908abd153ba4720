"""Warnings given once: the ``DataWarning`` texts of many fits become one of each sort.

Python's own ``catch_warnings`` changes the whole process and does not work with threads. Here code that runs many fits
collects their warnings in a context variable, which every thread has for itself, and warns afterwards.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import FrameType

from treewright.exceptions import DataWarning

Site = tuple[str, int]
_PACKAGE = str(Path(__file__).parents[1])
# joblib calls the work of scikit-learn.
_ON_THE_WAY = ("treewright", "sklearn", "joblib")


class Notices:
    """Collected warnings: by the line of code that warned, the first text and how often it came.

    Attributes
    ----------
    heard : dict from (file, line) to (str, int)
        In the order in which they first came.
    """

    def __init__(self) -> None:
        self.heard: dict[Site, tuple[str, int]] = {}

    def add(self, site: Site, text: str, times: int = 1) -> None:
        """Note a text; of several from one line the first is kept."""
        first, before = self.heard.get(site, (text, 0))
        self.heard[site] = first, before + times

    def tell(self, total: int, what: str) -> None:
        """Warn once of each sort, at the line of the caller from outside this package.

        Parameters
        ----------
        total : int
            Number of fits.
        what : str
            Their name in the plural, such as "folds".

        Warns
        -----
        DataWarning
            Or it is collected one level above.
        """
        above = _listening.get()
        for site, (text, times) in self.heard.items():
            if above is not None:
                above.add(site, text, times)
            else:
                often = f" (in {times} of {total} {what})" if total > 1 else ""
                warnings.warn(f"{text}{often}", DataWarning, stacklevel=levels_to_the_caller())


_listening: ContextVar[Notices | None] = ContextVar("treewright_notices", default=None)


@contextmanager
def listening() -> Iterator[Notices]:
    """Collect the warnings of this block in this thread instead of giving them.

    Examples
    --------
    >>> with listening() as notices:
    ...     for fold in range(3):
    ...         warn(f"fold {fold} is odd", stacklevel=1)
    >>> list(notices.heard.values())
    [('fold 0 is odd', 3)]
    """
    notices = Notices()
    before = _listening.set(notices)
    try:
        yield notices
    finally:
        _listening.reset(before)


def is_one_of_many() -> bool:
    """Whether a fit is one of several that somebody compares or averages: folds, candidates, members.

    An interrupt is then meant for all of them. scikit-learn's own loops are seen by their frames.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None:
        if frame.f_globals.get("__name__", "").startswith(("sklearn.model_selection", "sklearn.ensemble", "joblib")):
            return True
        frame = frame.f_back
    return _listening.get() is not None


def warn(text: str, *, stacklevel: int | None = None) -> None:
    """Warn, or collect the text if ``listening``.

    Parameters
    ----------
    stacklevel : int, optional
        As ``warnings.warn`` counts; by default the caller from outside this package and scikit-learn.

    Warns
    -----
    DataWarning
    """
    notices = _listening.get()
    if notices is None:
        level = levels_to_the_caller() if stacklevel is None else stacklevel + 1
        warnings.warn(text, DataWarning, stacklevel=level)
        return
    source = sys._getframe(1)
    notices.add((source.f_code.co_filename, source.f_lineno), text)


def levels_to_the_caller() -> int:
    """How many calls the user's code is above the calling function, as ``warn`` counts them."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _is_on_the_way(frame):
        frame, level = frame.f_back, level + 1
    return level


def _is_on_the_way(frame: FrameType) -> bool:
    """Whether a frame runs this package, or scikit-learn, whose ``score``, pipelines and searches call this package.

    Methods that a dataclass generates have a module, but no file.
    """
    name = frame.f_globals.get("__name__", "")
    return frame.f_code.co_filename.startswith(_PACKAGE) or name.partition(".")[0] in _ON_THE_WAY
