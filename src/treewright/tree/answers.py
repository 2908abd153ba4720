"""What the readable tests have in common. In: a test, a branch. Out: texts. Callers: ``tests``, ``multiway_tests``."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol

from treewright.exceptions import ParameterError
from treewright.tree.model import Missing
from treewright.tree.words import written_level, written_set

MAX_LEVELS = 4
IS_MISSING = "is missing"


class AnyTest(Protocol):
    """What `edge_text` needs of a test."""

    @property
    def missing(self) -> Missing:
        """How the model treats missing values."""

    @property
    def missing_edge(self) -> int:
        """The branch that they take."""

    @property
    def missing_seen(self) -> bool:
        """Whether fit saw some in the column."""


def check_branch(branch: int, n_branches: int) -> None:
    """Refuse a branch that a test does not have.

    Raises
    ------
    ParameterError
        ``branch`` is not 0 to ``n_branches - 1``.
    """
    if branch not in range(n_branches):
        there = "0 and 1" if n_branches == 2 else f"0 to {n_branches - 1}"
        raise ParameterError(f"branch is {branch!r}; this test has the branches {there}")


def edge_text(text: str, test: AnyTest, branch: int) -> str:
    """Return an answer with "or missing" where missing values were seen at fit and all of them take this branch.

    Under ``missing="surrogate"`` other columns decide, under ``"fractional"`` they take every branch in part, under
    ``"error"`` there are none.
    """
    takes_all = test.missing in ("direction", "branch")
    if takes_all and test.missing_seen and branch == test.missing_edge and text != IS_MISSING:
        return f"{text} or missing"
    return text


def levels_text(levels: tuple[Hashable, ...], *, quote: bool, limit: int | None) -> str:
    """Return ``= a`` for one level, ``in {a, b, ... 3 more}`` for more."""
    if len(levels) == 1:
        return f"= {written_level(levels[0], quote=quote)}"
    return f"in {written_set(levels, quote=quote, max_levels=limit)}"
