"""Readable tests with a branch per group of levels or per interval. In: levels, cuts. Out: texts. Caller: ``tests``.

Their methods are those of ``ThresholdTest`` and ``SubsetTest``, so that a reader need not know which kind it has.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

from treewright.tree.answers import IS_MISSING, MAX_LEVELS, Answers, check_branch, levels_text
from treewright.tree.model import Missing
from treewright.tree.words import written_level, written_number

BETWEEN = " | "


@dataclass(frozen=True)
class MultiwayTest(Answers):
    """The question "which level?" about a nominal or ordinal column.

    Attributes
    ----------
    column, feature, missing_edge, missing_seen, quote_levels, missing
        As in `ThresholdTest`.
    branches : tuple of tuple
        The levels that the node's training rows held, per branch; no level for a branch that only absent levels or
        missing values take.
    absent : tuple of tuple
        Levels of the column that were absent from the node, per branch they take.
    unseen_edge : int
        The branch of a level that fit never saw (policy "majority").
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

    @property
    def n_branches(self) -> int:
        """How many branches the test has."""
        return len(self.branches)

    @property
    def has_missing_branch(self) -> bool:
        """Whether the last branch is for missing values alone."""
        last = self.n_branches - 1
        return self.missing_edge == last and not self.branches[last] and not self.absent[last]

    @property
    def exact(self) -> bool:
        """Whether the partition of the levels is the best there is: True where no branch holds two of them.

        Groups of levels are made by merging step by step, which may miss better ones.
        """
        return all(len(levels) <= 1 for levels in self.branches)

    def question(self, *, exact: bool = False, digits: int = 6) -> str:
        """Return the question with its answers from branch 0 on, such as ``sky: cloudy | rainy | sunny``.

        Parameters
        ----------
        exact : bool
            Name every branch and level instead of the first few.
        digits : int
            Without effect; part of the common signature.
        """
        del digits
        shown = self.n_branches if exact else min(self.n_branches, MAX_LEVELS)
        texts = [self.answer(branch, exact=exact).removeprefix("= ").removeprefix("in ") for branch in range(shown)]
        more = [f"... {self.n_branches - shown} more"] if shown < self.n_branches else []
        return f"{self.column}: {BETWEEN.join(texts + more)}"

    def answer(self, branch: int, *, exact: bool = False, digits: int = 6, max_levels: int | None = MAX_LEVELS) -> str:
        """Return the branch's answer without the way of missing values: ``= sunny`` or ``in {cloudy, rainy}``."""
        del digits
        check_branch(branch, self.n_branches)
        levels = self.branches[branch] or self.absent[branch]
        if not levels:
            return IS_MISSING
        return levels_text(levels, quote=self.quote_levels, limit=None if exact else max_levels)


@dataclass(frozen=True)
class IntervalTest(Answers):
    """The question "in which interval?" about a numeric or ordinal column.

    Attributes
    ----------
    column, feature, missing_edge, missing_seen, levels, quote_levels, missing
        As in `ThresholdTest`.
    cuts : tuple of float
        Ascending; branch ``b`` holds what is above ``cuts[b - 1]`` and at most ``cuts[b]``. In ranks for an ordinal
        column. A last cut of ``+inf`` leaves the last branch to missing values.
    """

    column: str
    feature: int
    cuts: tuple[float, ...]
    missing_edge: int
    missing_seen: bool
    levels: tuple[Hashable, ...] = ()
    quote_levels: bool = False
    missing: Missing = "direction"

    @property
    def n_branches(self) -> int:
        """How many branches the test has."""
        return len(self.cuts) + 1

    @property
    def has_missing_branch(self) -> bool:
        """Whether the last branch is for missing values alone."""
        return self.cuts[-1] == math.inf

    @property
    def exact(self) -> bool:
        """Always False: several cuts at once come from merging neighbours step by step, which may miss better ones."""
        return False

    def question(self, *, exact: bool = False, digits: int = 6) -> str:
        """Return the question with its answers from branch 0 on, such as ``age: <= 2 | > 2 and <= 5 | > 5``.

        Parameters
        ----------
        exact : bool
            Name every branch, with cuts that read back as the same float64.
        digits : int
            Significant digits otherwise.
        """
        shown = self.n_branches if exact else min(self.n_branches, MAX_LEVELS)
        texts = [self.answer(branch, exact=exact, digits=digits) for branch in range(shown)]
        more = [f"... {self.n_branches - shown} more"] if shown < self.n_branches else []
        return f"{self.column}: {BETWEEN.join(texts + more)}"

    def answer(self, branch: int, *, exact: bool = False, digits: int = 6, max_levels: int | None = MAX_LEVELS) -> str:
        """Return the branch's answer without the way of missing values: ``<= 2``, ``> 2 and <= 5`` or ``> 5``."""
        del max_levels  # part of the common signature; an interval names two levels at most
        check_branch(branch, self.n_branches)
        if self.has_missing_branch and branch == self.n_branches - 1:
            return IS_MISSING
        lower = self.cuts[branch - 1] if branch else -math.inf
        upper = self.cuts[branch] if branch < len(self.cuts) else math.inf
        if self.levels:
            return self._ranks_text(lower, upper)
        ends = []
        if branch:
            ends.append(f"> {written_number(lower, digits=digits, exact=exact)}")
        if upper != math.inf:
            ends.append(f"<= {written_number(upper, digits=digits, exact=exact)}")
        return " and ".join(ends) or "is present"

    def _ranks_text(self, lower: float, upper: float) -> str:
        """The levels above one rank and at most another, by name."""
        top = len(self.levels) - 1
        first = 0 if lower < 0 else math.floor(min(lower, top)) + 1
        last = top if upper >= top else math.floor(max(upper, -1.0))
        if first > last:
            return "is no level"
        if first == last:
            return f"= {written_level(self.levels[first], quote=self.quote_levels)}"
        ends = []
        if first > 0:
            ends.append(f"> {written_level(self.levels[first - 1], quote=self.quote_levels)}")
        if last < top:
            ends.append(f"<= {written_level(self.levels[last], quote=self.quote_levels)}")
        return " and ".join(ends) or "is present"
