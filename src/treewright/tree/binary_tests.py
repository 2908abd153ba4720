"""Readable tests with a yes and a no. In: a cut or levels. Out: texts. Caller: ``tests``.

Missing values may have a third branch to themselves: a "yes or no" that does not apply.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

from treewright.tree.answers import IS_MISSING, MAX_LEVELS, Answers, check_branch, levels_text
from treewright.tree.model import Missing
from treewright.tree.words import written_level, written_number, written_set


@dataclass(frozen=True)
class ThresholdTest(Answers):
    """The question ``x <= threshold`` about a numeric or ordinal column; ``threshold = +inf`` asks "is x present?".

    Attributes
    ----------
    column : str
        The column's name, ready to be read.
    feature : int
        Its position in the schema.
    threshold : float
        The exact cut; in ranks for an ordinal column.
    missing_edge : int
        The branch a missing value takes.
    missing_seen : bool
        Whether the column held missing values at fit; only then is their way part of the texts.
    levels : tuple
        Levels of an ordinal column, lowest first; empty for a numeric one.
    quote_levels : bool
        Levels of several types live together, so strings are quoted.
    n_branches : int
        2, or 3 where missing values have the last branch to themselves.
    missing : {"direction", "branch", "surrogate", "fractional", "error"}
        How the model treats missing values: whether "all of them take ``missing_edge``" is what happens.
    exact : bool
        Whether every cut of the column was tried. False for trees grown on bins or with random cuts.
    """

    column: str
    feature: int
    threshold: float
    missing_edge: int
    missing_seen: bool
    levels: tuple[Hashable, ...] = ()
    quote_levels: bool = False
    n_branches: int = 2
    missing: Missing = "direction"
    exact: bool = True

    @property
    def has_missing_branch(self) -> bool:
        """Whether the last branch is for missing values alone."""
        return self.n_branches == 3

    @property
    def asks_presence(self) -> bool:
        """Whether the test asks "is x present?"."""
        return self.threshold == math.inf

    def question(self, *, exact: bool = False, digits: int = 6) -> str:
        """Return the question whose "yes" is branch 0, such as ``petal length (cm) <= 2.45``.

        Parameters
        ----------
        exact : bool
            Write the cut so that it reads back as the same float64.
        digits : int
            Significant digits otherwise.
        """
        return f"{self.column} {self.answer(0, exact=exact, digits=digits)}"

    def answer(self, branch: int, *, exact: bool = False, digits: int = 6, max_levels: int | None = MAX_LEVELS) -> str:
        """Return the branch's answer without the way of missing values: ``<= 2.45`` or ``> 2.45``."""
        del max_levels  # part of the common signature; a cut names one level at most
        check_branch(branch, self.n_branches)
        if branch == 2:
            return IS_MISSING
        if self.asks_presence:
            return ("is present", IS_MISSING)[branch]
        if not self.levels:
            return f"{('<=', '>')[branch]} {written_number(self.threshold, digits=digits, exact=exact)}"
        rank = math.floor(max(self.threshold, -1.0)) if self.threshold < len(self.levels) else len(self.levels) - 1
        if rank < 0:
            return f"{('<', '>=')[branch]} {written_level(self.levels[0], quote=self.quote_levels)}"
        return f"{('<=', '>')[branch]} {written_level(self.levels[rank], quote=self.quote_levels)}"


@dataclass(frozen=True)
class SubsetTest(Answers):
    """The question ``x in {levels}`` about a nominal column.

    Attributes
    ----------
    column, feature, missing_edge, missing_seen, quote_levels, missing
        As in `ThresholdTest`.
    branches : tuple of tuple
        The levels that the node's training rows held, per branch; a level that was absent there is not named. A third
        branch, without levels, is for missing values alone.
    absent : tuple of tuple
        Levels of the column that were absent from the node, per branch they take.
    unseen_edge : int
        The branch of a level that fit never saw (policy "majority").
    exact : bool
        Whether the partition of the levels is the best there is. False for trees grown on bins or with random cuts, and
        where there were too many levels to try every partition, and no order of them is known to contain the best:
        several classes or outputs, absolute error. Of a limit on branches (``min_samples_leaf``) it knows nothing: a
        partition that no order holds may then be better.
    """

    column: str
    feature: int
    branches: tuple[tuple[Hashable, ...], ...]
    absent: tuple[tuple[Hashable, ...], ...]
    unseen_edge: int
    missing_edge: int
    missing_seen: bool
    quote_levels: bool = False
    missing: Missing = "direction"
    exact: bool = True

    @property
    def n_branches(self) -> int:
        """2, or 3 where missing values have the last branch to themselves."""
        return len(self.branches)

    @property
    def has_missing_branch(self) -> bool:
        """Whether the last branch is for missing values alone."""
        return self.n_branches == 3

    @property
    def asks_presence(self) -> bool:
        """Whether the test parts values that are present from missing ones."""
        held = [len(levels) for levels in self.branches]
        return self.n_branches == 2 and held[self.missing_edge] == 0 and held[1 - self.missing_edge] > 0

    def question(self, *, exact: bool = False, digits: int = 6) -> str:
        """Return the question whose "yes" is branch 0, such as ``island in {Biscoe, Dream}``.

        Parameters
        ----------
        exact : bool
            Name every level instead of the first few.
        digits : int
            Without effect; part of the common signature.
        """
        return f"{self.column} {self.answer(0, exact=exact, digits=digits)}"

    def answer(self, branch: int, *, exact: bool = False, digits: int = 6, max_levels: int | None = MAX_LEVELS) -> str:
        """Return the branch's answer without the way of missing values: ``in {Biscoe, Dream}`` or ``= Torgersen``.

        A long list is replaced by ``not in`` the other side's list where that one is shorter, then cut.
        """
        del digits
        check_branch(branch, self.n_branches)
        if branch == 2:
            return IS_MISSING
        own, other = self.branches[branch], self.branches[1 - branch]
        if self.asks_presence:
            return IS_MISSING if branch == self.missing_edge else "is present"
        limit = None if exact else max_levels
        if limit is not None and len(own) > limit and 0 < len(other) < len(own):
            if len(other) == 1:
                return f"is not {written_level(other[0], quote=self.quote_levels)}"
            return f"not in {written_set(other, quote=self.quote_levels, max_levels=limit)}"
        return levels_text(own, quote=self.quote_levels, limit=limit)
