"""What leads to a node, one condition per column. In: schema and tree. Out: texts per node. Callers: rules, plot.

Tests on one column are merged on the way down: ``x <= 5`` then ``x > 2`` becomes ``2 < x <= 5``. The state below a node
is one small bound per column asked so far, so a path of 20,000 tests on one column costs no more than 20,000 steps.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from treewright.data.schema import Column, Schema
from treewright.tree.arrays import INTERVALS, MULTIWAY, SUBSET, Tree
from treewright.tree.model import Missing
from treewright.tree.tests import chosen, level_branches, node_cuts, node_levels
from treewright.tree.walk import children
from treewright.tree.words import written_level, written_name, written_number, written_set


@dataclass(frozen=True, eq=False)
class Bound:
    """What a column's value must be, so far.

    Attributes
    ----------
    lower, upper : float
        A numeric value, or the rank of an ordinal level, is above ``lower`` and at most ``upper``.
    missing : bool
        A missing value comes this way too.
    present : bool
        A value that is there comes this way.
    allowed, named : bool[v] or None
        The levels that come this way; those of them that the last test saw in training. Ordinal levels have to meet
        ``lower`` and ``upper`` as well. None where no test asked for levels.
    """

    lower: float = -math.inf
    upper: float = math.inf
    missing: bool = True
    present: bool = True
    allowed: np.ndarray | None = None
    named: np.ndarray | None = None


def narrowed(bound: Bound, column: Column, tree: Tree, node: int, branch: int) -> Bound:
    """Return the bound after taking ``branch`` at ``node``, whose test asks about ``column``."""
    missing = bound.missing and int(tree.missing_branch[node]) == branch
    kind, n_branches = int(tree.kind[node]), int(tree.n_branches[node])
    if kind == MULTIWAY:
        way, seen = (entries[:-1] for entries in level_branches(column, tree, node))
        side = way == branch
        return levels_bound(bound, side, side & seen, missing=missing)
    if kind == INTERVALS:
        cuts = node_cuts(tree, node)
        lower = -math.inf if branch == 0 else float(cuts[branch - 1])
        upper = float(cuts[branch]) if branch < len(cuts) else math.inf
        return range_bound(bound, lower, upper, missing=missing)
    if branch == n_branches - 1 and n_branches == 3:
        return replace(bound, missing=missing, present=False)
    if kind == SUBSET:
        left, seen = (bits[:-1] for bits in node_levels(column, tree, node))
        side = left if branch == 0 else ~left
        return levels_bound(bound, side, side & seen, missing=missing)
    threshold = float(tree.threshold[node])
    if branch == 0:
        return range_bound(bound, -math.inf, threshold, missing=missing)
    return range_bound(bound, threshold, math.inf, missing=missing)


def levels_bound(bound: Bound, side: np.ndarray, named: np.ndarray, *, missing: bool) -> Bound:
    """Return the bound narrowed to the levels of one side (bool[v]); no level at all leaves only missing values."""
    allowed = side if bound.allowed is None else bound.allowed & side
    return replace(bound, missing=missing, allowed=allowed, named=named, present=bound.present and bool(side.any()))


def range_bound(bound: Bound, lower: float, upper: float, *, missing: bool) -> Bound:
    """Return the bound narrowed to what is above ``lower`` and at most ``upper``; above ``+inf`` nothing is present."""
    if lower == math.inf:
        return replace(bound, missing=missing, present=False)
    return replace(bound, missing=missing, lower=max(bound.lower, lower), upper=min(bound.upper, upper))


def bounds_below(
    schema: Schema, tree: Tree, unfolded: Container[int] | None = None
) -> Iterator[tuple[int, Mapping[int, Bound]]]:
    """Yield nodes in preorder, each with its bounds: feature position to `Bound`, first asked first.

    Parameters
    ----------
    schema : Schema
    tree : Tree
    unfolded : container of int, optional
        Go below these nodes only; None goes everywhere.

    Notes
    -----
    A node shares the bounds of its parent except one. The mapping is copied per node, so the cost is the number of
    different columns on its path, not its depth.
    """
    # A child's own bound is made when it is reached: beside 10,000 siblings it would be a set of levels for each.
    stack: list[tuple[int, int, dict[int, Bound]]] = [(0, -1, {})]
    while stack:
        node, above, bounds = stack.pop()
        if above >= 0:
            feature, branch = int(tree.feature[above]), node - int(tree.first_child[above])
            before = bounds.get(feature, Bound())
            bounds = {**bounds, feature: narrowed(before, schema.columns[feature], tree, above, branch)}
        yield node, bounds
        if unfolded is None or node in unfolded:
            stack.extend((child, node, bounds) for child in reversed(children(tree, node)))


def conditions(
    schema: Schema,
    bounds: Mapping[int, Bound],
    *,
    exact: bool = True,
    max_levels: int | None = None,
    missing: Missing = "direction",
) -> tuple[str, ...]:
    """Return the conditions that lead to a node as texts, one per column.

    Parameters
    ----------
    schema : Schema
    bounds : mapping
        One of those that `bounds_below` yields.
    exact : bool
        Write numbers so that they read back as the same float64; else with 6 significant digits.
    max_levels : int, optional
        Name at most this many levels; None names all.
    missing : {"direction", "branch", "surrogate", "fractional", "error"}
        ``model.missing``. Texts speak of missing values only where the tests alone decide their way.
    """
    return tuple(
        written_bound(schema.columns[feature], bound, exact=exact, max_levels=max_levels, missing=missing)
        for feature, bound in bounds.items()
    )


def written_bound(
    column: Column, bound: Bound, *, exact: bool, max_levels: int | None, missing: Missing = "direction"
) -> str:
    """Return one condition, such as ``2 < age <= 5 or missing``; the way of missing values only where fit saw some."""
    name = written_name(column.name)
    decided = missing in ("direction", "branch")
    if not bound.present or not has_values(column, bound):
        return f"{name} is missing" if bound.missing else f"{name} is nothing (no value comes here)"
    if column.kind == "nominal":
        text = nominal_text(name, column, bound, max_levels)
    elif column.kind == "ordinal":
        text = ordinal_text(name, column, bound, max_levels)
    else:
        text = range_text(
            name,
            None if bound.lower == -math.inf else written_number(bound.lower, exact=exact),
            None if bound.upper == math.inf else written_number(bound.upper, exact=exact),
        )
    if text == name:  # every value that is there comes this way
        return f"{name} is anything" if bound.missing or not decided else f"{name} is present"
    return f"{text} or missing" if decided and bound.missing and column.missing_seen else text


def has_values(column: Column, bound: Bound) -> bool:
    """Whether any value that is present can meet the bound; a tree edited by hand can ask for the impossible."""
    if column.kind == "nominal":
        return bound.allowed is None or bool(bound.allowed.any())
    if column.kind == "ordinal":
        return bool(ordinal_levels(column, bound).any())
    return bound.lower < bound.upper


def ordinal_levels(column: Column, bound: Bound) -> np.ndarray:
    """Return bool[v]: the levels of an ordinal column that meet the bound."""
    first, last = ranks_of(column, bound)
    rank = np.arange(len(column.levels))
    held = (rank >= first) & (rank <= last)
    return held if bound.allowed is None else held & bound.allowed


def ranks_of(column: Column, bound: Bound) -> tuple[int, int]:
    """Return the first and the last rank that meet the bound."""
    last = len(column.levels) - 1
    first = 0 if bound.lower < 0 else math.floor(min(bound.lower, last)) + 1
    return first, last if bound.upper >= last else math.floor(max(bound.upper, -1.0))


def range_text(name: str, lower: str | None, upper: str | None) -> str:
    """Return ``lower < name <= upper`` with what there is of it."""
    if lower is None:
        return name if upper is None else f"{name} <= {upper}"
    return f"{name} > {lower}" if upper is None else f"{lower} < {name} <= {upper}"


def ordinal_text(name: str, column: Column, bound: Bound, max_levels: int | None) -> str:
    """Return an ordinal condition in level names; a list of them where the levels are no neighbours."""
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
    """Return a nominal condition: the levels seen in training, or those left out where that list is shorter."""
    quote = column.family == "object"
    allowed = bound.allowed if bound.allowed is not None else np.ones(len(column.levels), bool)
    if bool(allowed.all()):
        return name
    named = bound.named & allowed if bound.named is not None else allowed
    # No level of this side was in the training rows (an edited tree): then all levels that would come are named.
    levels = chosen(column, named if named.any() else allowed)
    refused = chosen(column, ~allowed)
    if max_levels is not None and len(levels) > max_levels and len(refused) < len(levels):
        if len(refused) == 1:
            return f"{name} is not {written_level(refused[0], quote=quote)}"
        return f"{name} not in {written_set(refused, quote=quote, max_levels=max_levels)}"
    if len(levels) == 1:
        return f"{name} = {written_level(levels[0], quote=quote)}"
    return f"{name} in {written_set(levels, quote=quote, max_levels=max_levels)}"
