"""Tests of a tree as text: the tests of nodes, their branches, the conditions that lead to a node.

A test is described with the names of the table: columns, levels, the branch that missing values follow. The exact
numbers stay in ``Tree``; the texts are for people.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from treewright.data.dates import DATES
from treewright.data.schema import Column, Schema
from treewright.exceptions import ParameterError
from treewright.trees.arrays import INTERVALS, LEAF, SUBSET, THRESHOLD, Missing, Tree
from treewright.trees.tests import (
    Bound,
    chosen,
    has_values,
    level_bits,
    level_branches,
    node_cuts,
    ordinal_levels,
    shared_out,
)
from treewright.trees.writing import gap_digits, written_cut, written_level, written_name, written_set

MAX_LEVELS = 4
IS_MISSING = "is missing"
BETWEEN = " | "
# The growers try every partition of so many levels (grow.subsets); for more levels they need an order that finds it.
EXHAUSTIVE_LEVELS = 10


class ReadableTest(ABC):
    """A readable test: the text of a node's test, and that of each of its branches.

    Attributes
    ----------
    column : str
        The column's name as text.
    feature : int
        Its position in the schema.
    missing : {"direction", "branch", "surrogate", "fractional", "error"}
        How the model treats missing values.
    missing_edge : int
        The branch that missing values follow.
    missing_seen : bool
        Whether the column held missing values at fit.
    """

    column: str
    feature: int
    missing: Missing
    missing_edge: int
    missing_seen: bool

    @property
    @abstractmethod
    def n_branches(self) -> int:
        """How many branches the test has."""

    @abstractmethod
    def answer(self, branch: int, *, exact: bool = False, digits: int = 6, max_levels: int | None = MAX_LEVELS) -> str:
        """Return the text of a branch, without ``or missing``.

        Raises
        ------
        ParameterError
            The test has no such branch.
        """

    def question(self, *, exact: bool = False, digits: int = 6) -> str:
        """Return the test as text; it holds for branch 0: ``petal length (cm) <= 2.45``, ``island in {Biscoe, Dream}``.

        With a branch per group of levels or per interval: all branches, such as ``sky: cloudy | rainy | sunny``.

        Parameters
        ----------
        exact : bool
            Write cuts so that they read back as the same float64; name every level and branch, not the first few.
        digits : int
            Significant digits of cuts otherwise.
        """
        return f"{self.column} {self.answer(0, exact=exact, digits=digits)}"

    def _branch_texts(self, *, exact: bool, digits: int) -> list[str]:
        """The texts of the branches from 0 on; only the first few unless ``exact``."""
        shown = self.n_branches if exact else min(self.n_branches, MAX_LEVELS)
        texts = [self.answer(branch, exact=exact, digits=digits) for branch in range(shown)]
        return texts + ([f"... {self.n_branches - shown} more"] if shown < self.n_branches else [])

    def edge(self, branch: int, *, exact: bool = False, digits: int = 6, max_levels: int | None = MAX_LEVELS) -> str:
        """Return the text of a branch, with ``or missing`` if the column had missing values at fit and all follow it.

        With ``missing="surrogate"`` other columns decide, with ``"fractional"`` they take every branch in proportion to
        the branch weights, with ``"error"`` there are none.

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


@dataclass(frozen=True)
class ThresholdTest(ReadableTest):
    """The test ``x <= threshold`` of a numeric or ordinal column; ``threshold = +inf`` tests "is x present?".

    Attributes
    ----------
    column : str
        The column's name as text.
    feature : int
        Its position in the schema.
    threshold : float
        The exact cut; in ranks for an ordinal column.
    missing_edge : int
        The branch a missing value takes.
    missing_seen : bool
        Whether the column held missing values at fit; only then do texts mention them.
    levels : tuple
        Levels of an ordinal column, lowest first; empty for a numeric one.
    quote_levels : bool
        The column has levels of several types, so strings are quoted.
    n_branches : int
        2, or 3 if the last branch is for missing values alone.
    missing : {"direction", "branch", "surrogate", "fractional", "error"}
        How the model treats missing values, and so whether all of them follow ``missing_edge``.
    exact : bool
        Whether every cut of the column was tried. False for trees grown on bins or with random cuts.
    clock : tuple of 2 str
        The family and the time zone of a column of dates; empty texts for any other.
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
    clock: tuple[str, str] = ("", "")

    @property
    def has_missing_branch(self) -> bool:
        """Whether the last branch is for missing values alone."""
        return self.n_branches == 3

    @property
    def asks_presence(self) -> bool:
        """Whether the test is "is x present?"."""
        return self.threshold == math.inf

    def answer(self, branch: int, *, exact: bool = False, digits: int = 6, max_levels: int | None = MAX_LEVELS) -> str:
        """Return the text of a branch, without ``or missing``: ``<= 2.45`` or ``> 2.45``."""
        del max_levels  # part of the common signature; a cut names one level at most
        check_branch(branch, self.n_branches)
        if branch == 2:
            return IS_MISSING
        if self.asks_presence:
            return ("is present", IS_MISSING)[branch]
        if not self.levels:
            return f"{('<=', '>')[branch]} {written_cut(self.threshold, self.clock, digits=digits, exact=exact)}"
        rank = math.floor(max(self.threshold, -1.0)) if self.threshold < len(self.levels) else len(self.levels) - 1
        if rank < 0:
            return f"{('<', '>=')[branch]} {written_level(self.levels[0], quote=self.quote_levels)}"
        return f"{('<=', '>')[branch]} {written_level(self.levels[rank], quote=self.quote_levels)}"


@dataclass(frozen=True)
class SubsetTest(ReadableTest):
    """The test ``x in {levels}`` of a nominal column.

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
        Whether the partition of the levels is certainly the best. False for trees grown on bins or with random cuts,
        and if there were too many levels to try every partition and no order of them is known to contain the best
        (several classes or outputs, absolute error). It ignores a limit on branches (``min_samples_leaf``), under which
        a partition outside the order may be better.
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
        """2, or 3 if the last branch is for missing values alone."""
        return len(self.branches)

    @property
    def has_missing_branch(self) -> bool:
        """Whether the last branch is for missing values alone."""
        return self.n_branches == 3

    @property
    def asks_presence(self) -> bool:
        """Whether the test separates present values from missing ones."""
        held = [len(levels) for levels in self.branches]
        return self.n_branches == 2 and held[self.missing_edge] == 0 and held[1 - self.missing_edge] > 0

    def answer(self, branch: int, *, exact: bool = False, digits: int = 6, max_levels: int | None = MAX_LEVELS) -> str:
        """Return the text of a branch, without ``or missing``: ``in {Biscoe, Dream}`` or ``= Torgersen``.

        A long list is replaced by ``not in`` the other side's list if that is shorter, then cut.
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


@dataclass(frozen=True)
class MultiwayTest(ReadableTest):
    """The test "which level?" of a nominal or ordinal column.

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
        """Whether the partition of the levels is certainly the best: True if no branch holds two of them.

        Groups of levels are made by merging step by step, which may miss better ones.
        """
        return all(len(levels) <= 1 for levels in self.branches)

    def question(self, *, exact: bool = False, digits: int = 6) -> str:
        """Return the test with its branches from 0 on, such as ``sky: cloudy | rainy | sunny``."""
        del digits
        texts = self._branch_texts(exact=exact, digits=6)
        return f"{self.column}: {BETWEEN.join(text.removeprefix('= ').removeprefix('in ') for text in texts)}"

    def answer(self, branch: int, *, exact: bool = False, digits: int = 6, max_levels: int | None = MAX_LEVELS) -> str:
        """Return the text of a branch, without ``or missing``: ``= sunny`` or ``in {cloudy, rainy}``."""
        del digits
        check_branch(branch, self.n_branches)
        levels = self.branches[branch] or self.absent[branch]
        if not levels:
            return IS_MISSING
        return levels_text(levels, quote=self.quote_levels, limit=None if exact else max_levels)


@dataclass(frozen=True)
class IntervalTest(ReadableTest):
    """The test "in which interval?" of a numeric or ordinal column.

    Attributes
    ----------
    column, feature, missing_edge, missing_seen, levels, quote_levels, missing, clock
        As in `ThresholdTest`.
    cuts : tuple of float
        Ascending; branch ``b`` holds what is above ``cuts[b - 1]`` and at most ``cuts[b]``. In ranks for an ordinal
        column. With a last cut of ``+inf`` the last branch is for missing values.
    """

    column: str
    feature: int
    cuts: tuple[float, ...]
    missing_edge: int
    missing_seen: bool
    levels: tuple[Hashable, ...] = ()
    quote_levels: bool = False
    missing: Missing = "direction"
    clock: tuple[str, str] = ("", "")

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
        """Always False: several cuts are found by merging neighbours step by step, which may miss better ones."""
        return False

    def question(self, *, exact: bool = False, digits: int = 6) -> str:
        """Return the test with its branches from 0 on, such as ``age: <= 2 | > 2 and <= 5 | > 5``."""
        return f"{self.column}: {BETWEEN.join(self._branch_texts(exact=exact, digits=digits))}"

    def answer(self, branch: int, *, exact: bool = False, digits: int = 6, max_levels: int | None = MAX_LEVELS) -> str:
        """Return the text of a branch, without ``or missing``: ``<= 2``, ``> 2 and <= 5`` or ``> 5``."""
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
            ends.append(f"> {written_cut(lower, self.clock, digits=digits, exact=exact)}")
        if upper != math.inf:
            ends.append(f"<= {written_cut(upper, self.clock, digits=digits, exact=exact)}")
        return " and ".join(ends) or "is present"

    def _ranks_text(self, lower: float, upper: float) -> str:
        """The levels above one rank and at most another, by name."""
        top = len(self.levels) - 1
        first = 0 if lower < 0 else math.floor(min(lower, top)) + 1
        last = top if upper >= top else math.floor(max(upper, -1.0))
        if first > last:
            return "is none of the levels"
        if first == last:
            return f"= {written_level(self.levels[first], quote=self.quote_levels)}"
        ends = []
        if first > 0:
            ends.append(f"> {written_level(self.levels[first - 1], quote=self.quote_levels)}")
        if last < top:
            ends.append(f"<= {written_level(self.levels[last], quote=self.quote_levels)}")
        return " and ".join(ends) or "is present"


NodeTest = ThresholdTest | SubsetTest | MultiwayTest | IntervalTest


def check_branch(branch: int, n_branches: int) -> None:
    """Refuse a branch that a test does not have."""
    if branch not in range(n_branches):
        there = "0 and 1" if n_branches == 2 else f"0 to {n_branches - 1}"
        raise ParameterError(f"branch is {branch!r}; this test has the branches {there}")


def levels_text(levels: tuple[Hashable, ...], *, quote: bool, limit: int | None) -> str:
    """Return ``= a`` for one level, ``in {a, b, ... 3 more}`` for more."""
    if len(levels) == 1:
        return f"= {written_level(levels[0], quote=quote)}"
    return f"in {written_set(levels, quote=quote, max_levels=limit)}"


def describe(
    schema: Schema,
    tree: Tree,
    node: int,
    *,
    missing: Missing = "direction",
    ordered: bool = True,
    every_cut: bool = True,
) -> NodeTest:
    """The test of an inner node as a readable object.

    Parameters
    ----------
    missing : str
        ``model.missing``. A branch is marked "or missing" only if all missing values follow it.
    ordered : bool
        Whether an order of the levels is known to contain their best partition (`has_best_order`).
    every_cut : bool
        Whether growth tried every cut between two values, or levels: not on bins, and not with random cuts.
    """
    if not 0 <= node < tree.n_nodes:
        raise ParameterError(f"node {node} is not in the tree; its nodes are 0 to {tree.n_nodes - 1}")
    kind = int(tree.kind[node])
    if kind == LEAF:
        raise ParameterError(f"node {node} is a leaf and has no test; choose an inner node")
    feature = int(tree.feature[node])
    column = schema.columns[feature]
    missing_edge, n_branches = int(tree.missing_branch[node]), int(tree.n_branches[node])
    if kind == THRESHOLD:
        cut = float(tree.threshold[node])
        return cut_test(column, feature, cut, missing_edge, n_branches=n_branches, missing=missing, exact=every_cut)
    if kind == SUBSET:
        start = int(tree.level_set[node])
        test = set_test(
            column, feature, tree, start, missing_edge, n_branches=n_branches, missing=missing, ordered=ordered
        )
        return test if every_cut else replace(test, exact=False)
    name, quote = written_name(column.name), column.family == "object"
    if kind == INTERVALS:
        cuts = tuple(node_cuts(tree, node).tolist())
        levels = column.levels if column.kind == "ordinal" else ()
        return IntervalTest(
            name, feature, cuts, missing_edge, column.missing_seen, levels, quote, missing, clock_of(column)
        )
    branch, seen = level_branches(column, tree, node)
    return MultiwayTest(
        name,
        feature,
        branches=shared_out(column, branch[:-1], seen[:-1], n_branches),
        absent=shared_out(column, branch[:-1], ~seen[:-1], n_branches),
        unseen_edge=int(branch[-1]),
        missing_edge=missing_edge,
        missing_seen=column.missing_seen,
        quote_levels=quote,
        missing=missing,
    )


def clock_of(column: Column) -> tuple[str, str]:
    """The family and the time zone of a column of dates; empty texts for any other."""
    return (column.family, column.zone) if column.kind == "numeric" and column.family in DATES else ("", "")


def cut_test(
    column: Column,
    feature: int,
    cut: float,
    missing_edge: int,
    *,
    n_branches: int = 2,
    missing: Missing = "direction",
    exact: bool = True,
) -> ThresholdTest:
    """Return the readable test of a cut: a node's or a surrogate's."""
    levels = column.levels if column.kind == "ordinal" else ()
    name, quote = written_name(column.name), column.family == "object"
    return ThresholdTest(
        name,
        feature,
        cut,
        missing_edge,
        column.missing_seen,
        levels,
        quote,
        n_branches,
        missing,
        exact,
        clock_of(column),
    )


def set_test(
    column: Column,
    feature: int,
    tree: Tree,
    start: int,
    missing_edge: int,
    *,
    n_branches: int = 2,
    missing: Missing = "direction",
    ordered: bool = True,
) -> SubsetTest:
    """Return the readable test of a level set: a node's or a surrogate's."""
    left, seen = level_bits(column, tree, start)
    unseen_edge = 0 if left[-1] else 1
    left, seen = left[:-1], seen[:-1]
    none: tuple[tuple[Hashable, ...], ...] = ((),) * (n_branches - 2)
    return SubsetTest(
        written_name(column.name),
        feature,
        branches=(chosen(column, left & seen), chosen(column, ~left & seen), *none),
        absent=(chosen(column, left & ~seen), chosen(column, ~left & ~seen), *none),
        unseen_edge=unseen_edge,
        missing_edge=missing_edge,
        missing_seen=column.missing_seen,
        quote_levels=column.family == "object",
        missing=missing,
        exact=ordered or int(seen.sum()) <= EXHAUSTIVE_LEVELS,
    )


def threshold_digits(tree: Tree, *, least: int = 6) -> np.ndarray:
    """How many digits each node's cuts need, int64[n_nodes], so that different cuts of one column look different.

    ``least`` if the node has no cut.
    """
    digits = np.full(tree.n_nodes, least, np.int64)
    one, several = np.flatnonzero(tree.kind == THRESHOLD), np.flatnonzero(tree.kind == INTERVALS)
    counts = tree.n_branches[several].astype(np.int64) - 1
    ends = np.cumsum(counts)
    places = np.repeat(tree.level_set[several] - (ends - counts), counts) + np.arange(counts.sum())
    nodes = np.concatenate([one, np.repeat(several, counts)])
    cuts = np.concatenate([tree.threshold[one], tree.cuts[places]])
    order = np.argsort(tree.feature[nodes], kind="stable")
    nodes, cuts = nodes[order], cuts[order]
    starts = np.flatnonzero(np.diff(tree.feature[nodes], prepend=-2)) if len(nodes) else np.zeros(0, np.int64)
    for part in np.split(np.arange(len(nodes)), starts[1:]):
        if len(part):
            np.maximum.at(digits, nodes[part], gap_digits(cuts[part], least=least))
    return digits


@dataclass(frozen=True)
class Surrogate:
    """One surrogate test.

    Attributes
    ----------
    test : ThresholdTest or SubsetTest
        The test.
    flipped : bool
        Whether its branch 0 leads to branch 1 of the node.
    agreement : float, 0 to 1
        Share of the weight, of rows where both are present, that it sends the same way as the node's own test.
    adjusted : float, at most 1
        The improvement of this share over always taking the heavier branch; 1 if it sends every row the same way.
    """

    test: ThresholdTest | SubsetTest
    flipped: bool
    agreement: float
    adjusted: float

    @property
    def question(self) -> str:
        """The test as text, such as ``petal width <= 0.8``."""
        return self.test.question()

    def edge(self, branch: int, *, exact: bool = False, digits: int = 6, max_levels: int | None = MAX_LEVELS) -> str:
        """Return the text of a branch of the node, with the column: ``petal width <= 0.8``.

        Raises
        ------
        ParameterError
            ``branch`` is not 0 or 1.
        """
        check_branch(branch, 2)
        own = 1 - branch if self.flipped else branch
        answer = self.test.answer(own, exact=exact, digits=digits, max_levels=max_levels)
        return f"{self.test.column} {answer}"


def surrogates_of(schema: Schema, tree: Tree, node: int) -> tuple[Surrogate, ...]:
    """The surrogates of a node, best first; none at a leaf or if the model has no surrogates."""
    first, end = np.searchsorted(tree.surrogate_node, [node, node + 1])
    found = []
    for place in range(int(first), int(end)):
        feature = int(tree.surrogate_feature[place])
        column, start = schema.columns[feature], int(tree.surrogate_level_set[place])
        test: ThresholdTest | SubsetTest
        if start < 0:
            test = cut_test(column, feature, float(tree.surrogate_threshold[place]), 1, missing="surrogate")
        else:
            test = set_test(column, feature, tree, start, 1, missing="surrogate")
        found.append(
            Surrogate(
                test,
                flipped=bool(tree.surrogate_flipped[place]),
                agreement=float(tree.surrogate_agreement[place]),
                adjusted=float(tree.surrogate_adjusted[place]),
            )
        )
    return tuple(found)


def conditions(
    schema: Schema,
    bounds: Mapping[int, Bound],
    *,
    exact: bool = True,
    max_levels: int | None = None,
    missing: Missing = "direction",
) -> tuple[str, ...]:
    """The conditions that lead to a node as texts, one per column, from one of the bounds that `bounds_below` yields.

    With ``exact`` numbers read back as the same float64; else they have 6 significant digits. Texts mention missing
    values only if the tests alone decide their branch.
    """
    return tuple(
        written_bound(schema.columns[feature], bound, exact=exact, max_levels=max_levels, missing=missing)
        for feature, bound in bounds.items()
    )


def written_bound(
    column: Column, bound: Bound, *, exact: bool, max_levels: int | None, missing: Missing = "direction"
) -> str:
    """Return one condition, such as ``2 < age <= 5 or missing``; ``or missing`` only if fit saw some."""
    name = written_name(column.name)
    decided = missing in ("direction", "branch")
    if not bound.present or not has_values(column, bound):
        return f"{name} is missing" if bound.missing else f"{name} has no possible value"
    if column.kind == "nominal":
        text = nominal_text(name, column, bound, max_levels)
    elif column.kind == "ordinal":
        text = ordinal_text(name, column, bound, max_levels)
    else:
        text = range_text(
            name,
            None if bound.lower == -math.inf else written_cut(bound.lower, clock_of(column), exact=exact),
            None if bound.upper == math.inf else written_cut(bound.upper, clock_of(column), exact=exact),
        )
    if text == name:  # every present value follows the path
        return f"{name} is anything" if bound.missing or not decided else f"{name} is present"
    return f"{text} or missing" if decided and bound.missing and column.missing_seen else text


def range_text(name: str, lower: str | None, upper: str | None) -> str:
    """Return ``lower < name <= upper``, or one half of it."""
    if lower is None:
        return name if upper is None else f"{name} <= {upper}"
    return f"{name} > {lower}" if upper is None else f"{lower} < {name} <= {upper}"


def ordinal_text(name: str, column: Column, bound: Bound, max_levels: int | None) -> str:
    """Return an ordinal condition in level names; a list of them if the levels are not neighbours."""
    held = np.flatnonzero(ordinal_levels(column, bound))
    first, last = int(held[0]), int(held[-1])
    quote = column.family == "object"
    if first == last:
        return f"{name} = {written_level(column.levels[first], quote=quote)}"
    if len(held) <= last - first:
        levels = tuple(column.levels[code] for code in held)
        return f"{name} in {written_set(levels, quote=quote, max_levels=max_levels)}"
    return range_text(
        name,
        written_level(column.levels[first - 1], quote=quote) if first > 0 else None,
        written_level(column.levels[last], quote=quote) if last < len(column.levels) - 1 else None,
    )


def nominal_text(name: str, column: Column, bound: Bound, max_levels: int | None) -> str:
    """Return a nominal condition: the levels seen in training, or those excluded if that list is shorter."""
    quote = column.family == "object"
    allowed = bound.allowed if bound.allowed is not None else np.ones(len(column.levels), bool)
    if bool(allowed.all()):
        return name
    named = bound.named & allowed if bound.named is not None else allowed
    # No level of this side was in the training rows (an edited tree): then all levels that could get here are named.
    levels = chosen(column, named if named.any() else allowed)
    # Counted first: with 3,000 branches the list would be written for each of them.
    n_refused = len(allowed) - int(np.count_nonzero(allowed))
    if max_levels is not None and len(levels) > max_levels and n_refused < len(levels):
        refused = chosen(column, ~allowed)
        if n_refused == 1:
            return f"{name} is not {written_level(refused[0], quote=quote)}"
        return f"{name} not in {written_set(refused, quote=quote, max_levels=max_levels)}"
    if len(levels) == 1:
        return f"{name} = {written_level(levels[0], quote=quote)}"
    return f"{name} in {written_set(levels, quote=quote, max_levels=max_levels)}"
