"""What readable tests share. In: a test, a branch. Out: texts. Callers: ``binary_tests``, ``multiway_tests``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable

from treewright.exceptions import ParameterError
from treewright.tree.model import Missing
from treewright.tree.words import written_level, written_set

MAX_LEVELS = 4
IS_MISSING = "is missing"


class Answers(ABC):
    """A readable test: what leads into each of its branches.

    Attributes
    ----------
    missing : {"direction", "branch", "surrogate", "fractional", "error"}
        How the model treats missing values.
    missing_edge : int
        The branch that they take.
    missing_seen : bool
        Whether fit saw some in the column.
    """

    missing: Missing
    missing_edge: int
    missing_seen: bool

    @abstractmethod
    def answer(self, branch: int, *, exact: bool = False, digits: int = 6, max_levels: int | None = MAX_LEVELS) -> str:
        """Return the branch's answer without the way of missing values.

        Raises
        ------
        ParameterError
            The test has no such branch.
        """

    def edge(self, branch: int, *, exact: bool = False, digits: int = 6, max_levels: int | None = MAX_LEVELS) -> str:
        """Return the branch's answer, with ``or missing`` where missing values were seen at fit and all take it.

        Under ``missing="surrogate"`` other columns decide, under ``"fractional"`` they take every branch in part,
        under ``"error"`` there are none.

        Parameters
        ----------
        branch : int, 0 to ``n_branches - 1``
        exact : bool
            Write cuts so that they read back as the same float64, and name every level.
        digits : int
            Significant digits of cuts otherwise.
        max_levels : int, optional
            Otherwise name at most this many levels; None names all of them.

        Returns
        -------
        str
            ``<= 2.45``, ``in {Biscoe, Dream} or missing``, ``is missing``.

        Raises
        ------
        ParameterError
            The test has no such branch.
        """
        text = self.answer(branch, exact=exact, digits=digits, max_levels=max_levels)
        takes_all = self.missing in ("direction", "branch")
        if takes_all and self.missing_seen and branch == self.missing_edge and text != IS_MISSING:
            return f"{text} or missing"
        return text


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


def levels_text(levels: tuple[Hashable, ...], *, quote: bool, limit: int | None) -> str:
    """Return ``= a`` for one level, ``in {a, b, ... 3 more}`` for more."""
    if len(levels) == 1:
        return f"= {written_level(levels[0], quote=quote)}"
    return f"in {written_set(levels, quote=quote, max_levels=limit)}"
