"""Numbers as ranks: quantile bins. In: a problem. Out: ``BinnedProblem``. Callers: estimators.chaid, by_node.chaid.

CHAID knows levels only. A numeric column is cut once, at the root, into bins that then merge as neighbours; its tests
are told in its own numbers again.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from treewright.exceptions import DataError, ParameterError
from treewright.grow.by_node.cuts import middle_between
from treewright.grow.by_node.problem import Problem

MOST_WEIGHT = 2.0**53  # weights are counts, and float64 counts no further


@dataclass(frozen=True, eq=False, kw_only=True)
class BinnedProblem(Problem):
    """A problem whose columns are all level columns; ``values`` are still the numbers and ranks as given.

    Attributes
    ----------
    edges : tuple of float64[bins - 1]
        Per column, ascending: a bin holds what is above the edge before it and not above its own; those of an ordinal
        column are its ranks. Empty for a nominal column.
    is_ordered : bool[p]
        Whether only neighbours may merge.
    """

    edges: tuple[np.ndarray, ...]
    is_ordered: np.ndarray


def bin_numbers(problem: Problem, n_bins: int) -> BinnedProblem:
    """Cut every numeric column into at most ``n_bins`` bins of about equal weight.

    Parameters
    ----------
    problem : Problem, one output
    n_bins : int >= 2

    Returns
    -------
    BinnedProblem

    Raises
    ------
    ParameterError
        Several outputs.
    DataError
        The weights add up to more than 2**53.
    """
    if problem.n_outputs > 1:
        raise ParameterError(
            f"CHAID has one target, y has {problem.n_outputs}: fit one tree each, or use another algorithm"
        )
    total = float(problem.weights.sum()) * problem.weight_unit
    if total > MOST_WEIGHT:
        raise DataError(
            f"the weights add up to {total:g}, but CHAID takes a weight for a number of rows: scale them down, so that "
            "they add up to the number of rows"
        )
    columns = problem.schema.columns
    edges = [
        _edges(values, problem.weights, n_bins)
        if column.kind == "numeric"
        else np.arange(0.5, len(column.levels) - 1 if column.kind == "ordinal" else 0)
        for column, values in zip(columns, problem.values, strict=True)
    ]
    n_levels = np.array(
        [len(c.levels) if c.kind == "nominal" else len(e) + 1 for c, e in zip(columns, edges, strict=True)], np.int64
    )
    codes = np.empty(problem.values.shape, np.int32)
    for at, (column, values) in enumerate(zip(columns, problem.values, strict=True)):
        missing = np.isnan(values)
        level = np.searchsorted(edges[at], values, side="left") if column.kind == "numeric" else np.nan_to_num(values)
        codes[at] = np.where(missing, n_levels[at], level)
    changed = {
        "level_columns": np.arange(len(columns)),
        "ordered_columns": np.empty(0, np.int64),
        "codes": codes,
        "level_starts": np.concatenate([[0], np.cumsum(n_levels + 1)]).astype(np.int64),
        "edges": tuple(edges),
        "is_ordered": np.array([column.kind != "nominal" for column in columns], bool),
    }
    kept = {each.name: getattr(problem, each.name) for each in fields(Problem)}
    return BinnedProblem(**(kept | changed))


def _edges(values: np.ndarray, weights: np.ndarray, n_bins: int) -> np.ndarray:
    """Edges between quantile bins of a column: every value where there are no more than ``n_bins``.

    A value is in the bin in which the middle of its weight falls, so that equal values are never parted.
    """
    present = ~np.isnan(values)
    distinct, which = np.unique(values[present], return_inverse=True)
    if len(distinct) < 2:
        return np.empty(0)
    if len(distinct) <= n_bins:
        behind = np.arange(len(distinct) - 1)
    else:
        weight = np.bincount(which, weights=weights[present])
        running = np.cumsum(weight)
        bins = ((running - 0.5 * weight) * n_bins / running[-1]).astype(np.int64)
        behind = np.flatnonzero(np.diff(bins))
    return np.array([middle_between(distinct[at], distinct[at + 1]) for at in behind.tolist()])
