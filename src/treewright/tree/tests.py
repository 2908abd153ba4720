"""Readable split tests. In: a schema, a tree and a node. Out: ``ThresholdTest`` or ``SubsetTest``. Callers: show, plot.

A test is described in the words of the table: column names, level names, the side that missing values take. The numbers
that decide stay in ``Tree``; what is here is made to be read.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from treewright.data.schema import Column, Schema
from treewright.exceptions import ParameterError
from treewright.tree.arrays import SUBSET, THRESHOLD, Tree
from treewright.tree.words import gap_digits, written_level, written_name, written_number, written_set

MAX_LEVELS = 4


@dataclass(frozen=True)
class ThresholdTest:
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
    """

    column: str
    feature: int
    threshold: float
    missing_edge: int
    missing_seen: bool
    levels: tuple[Hashable, ...] = ()
    quote_levels: bool = False

    @property
    def n_branches(self) -> int:
        """Always two."""
        return 2

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
        check_branch(branch)
        if self.asks_presence:
            return ("is present", "is missing")[branch]
        if not self.levels:
            return f"{('<=', '>')[branch]} {written_number(self.threshold, digits=digits, exact=exact)}"
        rank = math.floor(max(self.threshold, -1.0)) if self.threshold < len(self.levels) else len(self.levels) - 1
        if rank < 0:
            return f"{('<', '>=')[branch]} {written_level(self.levels[0], quote=self.quote_levels)}"
        return f"{('<=', '>')[branch]} {written_level(self.levels[rank], quote=self.quote_levels)}"

    def edge(self, branch: int, *, exact: bool = False, digits: int = 6, max_levels: int | None = MAX_LEVELS) -> str:
        """Return what leads into a branch: ``<= 2.45``, with ``or missing`` where missing values go and were seen.

        Raises
        ------
        ParameterError
            ``branch`` is not 0 or 1.
        """
        text = self.answer(branch, exact=exact, digits=digits, max_levels=max_levels)
        return with_missing(text, self, branch, says_missing=self.asks_presence and branch == 1)


@dataclass(frozen=True)
class SubsetTest:
    """The question ``x in {levels}`` about a nominal column.

    Attributes
    ----------
    column, feature, missing_edge, missing_seen, quote_levels
        As in `ThresholdTest`.
    branches : tuple of tuple
        The levels that the node's training rows held, per branch; a level that was absent there is not named.
    absent : tuple of tuple
        Levels of the column that were absent from the node, per branch they take.
    unseen_edge : int
        The branch of a level that fit never saw (policy "majority").
    """

    column: str
    feature: int
    branches: tuple[tuple[Hashable, ...], tuple[Hashable, ...]]
    absent: tuple[tuple[Hashable, ...], tuple[Hashable, ...]]
    unseen_edge: int
    missing_edge: int
    missing_seen: bool
    quote_levels: bool = False

    @property
    def n_branches(self) -> int:
        """Always two."""
        return 2

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
        check_branch(branch)
        own, other = self.branches[branch], self.branches[1 - branch]
        limit = None if exact else max_levels
        if limit is not None and len(own) > limit and 0 < len(other) < len(own):
            if len(other) == 1:
                return f"is not {written_level(other[0], quote=self.quote_levels)}"
            return f"not in {written_set(other, quote=self.quote_levels, max_levels=limit)}"
        if len(own) == 1:
            return f"= {written_level(own[0], quote=self.quote_levels)}"
        return f"in {written_set(own, quote=self.quote_levels, max_levels=limit)}"

    def edge(self, branch: int, *, exact: bool = False, digits: int = 6, max_levels: int | None = MAX_LEVELS) -> str:
        """Return what leads into a branch: ``in {Biscoe, Dream}``, with ``or missing`` where missing values go.

        Raises
        ------
        ParameterError
            ``branch`` is not 0 or 1.
        """
        return with_missing(self.answer(branch, exact=exact, digits=digits, max_levels=max_levels), self, branch)


def check_branch(branch: int) -> None:
    """Refuse a branch that a two-way test does not have.

    Raises
    ------
    ParameterError
        ``branch`` is not 0 or 1.
    """
    if branch not in (0, 1):
        raise ParameterError(f"branch is {branch!r}; this test has the branches 0 and 1")


def with_missing(text: str, test: ThresholdTest | SubsetTest, branch: int, *, says_missing: bool = False) -> str:
    """Return an answer with "or missing" where missing values were seen at fit and take this branch."""
    if test.missing_seen and branch == test.missing_edge and not says_missing:
        return f"{text} or missing"
    return text


def node_levels(column: Column, tree: Tree, node: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the bits of a nominal test, one per level and a last one for a level that fit never saw.

    Parameters
    ----------
    column : Column, nominal with ``v`` levels
    tree : Tree
    node : int, kind ``SUBSET``

    Returns
    -------
    left, seen : bool[v + 1]
    """
    n_bits = len(column.levels) + 1
    start = int(tree.level_set[node])
    words = slice(start, start + len(column.levels) // 64 + 1)

    def bits(source: np.ndarray) -> np.ndarray:
        return np.unpackbits(source[words].astype("<u8").view(np.uint8), bitorder="little")[:n_bits].astype(bool)

    return bits(tree.levels_left), bits(tree.levels_seen)


def describe(schema: Schema, tree: Tree, node: int) -> ThresholdTest | SubsetTest:
    """Return the test of an inner node as a readable object.

    Parameters
    ----------
    schema : Schema
    tree : Tree
    node : int, 0 to n_nodes - 1, not a leaf

    Returns
    -------
    ThresholdTest or SubsetTest

    Raises
    ------
    ParameterError
        ``node`` is not a node of the tree, or it is a leaf and asks nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright.data.schema import Column, Schema
    >>> from treewright.tree.arrays import Tree
    >>> ints = lambda *v: np.array(v, np.int32)
    >>> tree = Tree(np.array([1, 0, 0], np.uint8), ints(0, -1, -1), np.array([2.45, 0, 0]), ints(1, -1, -1),
    ...             ints(2, 0, 0), ints(0, 0, 0), ints(-1, -1, -1), np.array([3, 1, 2]), np.array([3.0, 1, 2]),
    ...             np.zeros(3), np.zeros((3, 1)), np.zeros(0, np.uint64), np.zeros(0, np.uint64))
    >>> test = describe(Schema((Column("petal length", "numeric"),)), tree, 0)
    >>> test.question(), test.edge(1)
    ('petal length <= 2.45', '> 2.45')
    """
    if not 0 <= node < tree.n_nodes:
        raise ParameterError(f"node {node} is not in the tree; its nodes are 0 to {tree.n_nodes - 1}")
    kind = int(tree.kind[node])
    if kind not in (THRESHOLD, SUBSET):
        raise ParameterError(f"node {node} is a leaf and asks nothing; choose an inner node")
    feature = int(tree.feature[node])
    column = schema.columns[feature]
    name = written_name(column.name)
    missing_edge = int(tree.missing_branch[node])
    quote = column.family == "object"
    if kind == THRESHOLD:
        levels = column.levels if column.kind == "ordinal" else ()
        threshold = float(tree.threshold[node])
        return ThresholdTest(name, feature, threshold, missing_edge, column.missing_seen, levels, quote)
    left, seen = node_levels(column, tree, node)
    unseen_edge = 0 if left[-1] else 1
    left, seen = left[:-1], seen[:-1]
    return SubsetTest(
        name,
        feature,
        branches=(chosen(column, left & seen), chosen(column, ~left & seen)),
        absent=(chosen(column, left & ~seen), chosen(column, ~left & ~seen)),
        unseen_edge=unseen_edge,
        missing_edge=missing_edge,
        missing_seen=column.missing_seen,
        quote_levels=quote,
    )


def chosen(column: Column, mask: np.ndarray) -> tuple[Hashable, ...]:
    """Return the levels whose bit is set in ``mask`` (bool[v])."""
    return tuple(column.levels[code] for code in np.flatnonzero(mask))


def threshold_digits(tree: Tree, *, least: int = 6) -> np.ndarray:
    """Return per node how many digits its cut needs so that no two different cuts of one column look the same.

    Parameters
    ----------
    tree : Tree
    least : int, 1 to 17

    Returns
    -------
    int64[n_nodes]
        ``least`` where the node has no threshold.
    """
    digits = np.full(tree.n_nodes, least, np.int64)
    cuts = np.flatnonzero(tree.kind == THRESHOLD)
    order = cuts[np.argsort(tree.feature[cuts], kind="stable")]
    starts = np.flatnonzero(np.diff(tree.feature[order], prepend=-2)) if len(order) else np.zeros(0, np.int64)
    for nodes in np.split(order, starts[1:]):
        if len(nodes):
            digits[nodes] = gap_digits(tree.threshold[nodes], least=least)
    return digits
