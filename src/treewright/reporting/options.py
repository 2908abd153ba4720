"""What a report is asked for. In: the arguments of ``report``. Out: ``Options``. Callers: reporting."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal, get_args

from treewright.core.whole import is_whole, whole_number
from treewright.data.cells import shown
from treewright.exceptions import ParameterError

CurveName = Literal["learning", "depth"]


@dataclass(frozen=True)
class Options:
    """Arguments of ``treewright.report``, checked.

    Attributes
    ----------
    cv : "auto", int >= 2, splitter, or None
        Folds of the pruning path and of curves; "auto" is ten where the judged rows are those of the fit, else None:
        the rows judge themselves.
    curves : tuple of {"learning", "depth"}
    examples : int >= 0
        How many judged rows go into the page to be followed.
    columns : int >= 0
        At most so many columns have a partial dependence: those that matter most.
    rows : int >= 1
        Permutation and partial dependence take at most so many of the judged rows, drawn by ``random_state``.
    trees : int >= 0
        How many single trees of an ensemble go into the page.
    random_state : int >= 0
    n_jobs : int or None
    """

    cv: Any = "auto"
    curves: tuple[CurveName, ...] = ()
    examples: int = 50
    columns: int = 12
    rows: int = 2000
    trees: int = 6
    random_state: int = 0
    n_jobs: int | None = None


def checked_options(cv: Any, curves: Any, examples: Any, random_state: Any, n_jobs: Any, title: Any) -> Options:
    """The options, or what is wrong with them; the title is only looked at.

    Raises
    ------
    ParameterError
        One is out of range.
    """
    if (isinstance(cv, str) and cv != "auto") or isinstance(cv, bool) or (is_whole(cv) and cv < 2):
        raise ParameterError(f"cv={cv!r}: give 'auto', 2 folds or more, a splitter, or None for no folds")
    if title is not None and not isinstance(title, str):
        raise ParameterError(f"title={shown(title)}: give a text, or None")
    known = get_args(CurveName)
    if not isinstance(curves, list | tuple) or not all(isinstance(name, str) and name in known for name in curves):
        raise ParameterError(f"curves={curves!r}: give a list of {' and '.join(map(repr, known))}")
    return Options(
        cv=cv,
        curves=tuple(dict.fromkeys(curves)),
        examples=whole_number("examples", examples, 0),
        random_state=whole_number("random_state", random_state, 0),
        n_jobs=n_jobs,
    )


def check_path(path: str | os.PathLike[str]) -> str:
    """The ending of a report's file name.

    Raises
    ------
    ParameterError
        It is neither ``.html`` nor ``.json``.
    """
    ending = PurePath(os.fsdecode(path)).suffix.lower()
    if ending == ".htm":
        return ".html"
    if ending not in (".html", ".json"):
        raise ParameterError(f"{os.fsdecode(path)!r}: a report is a page, .html, or its summary, .json")
    return ending
