"""Our CHAID's groups of one column at the root, beside those of the package CHAID.

Callers: the tests of this folder, benchmarks/reference/compare.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from reference_sets import DataSet, find

import treewright as tw
from treewright.trees.arrays import MULTIWAY

MISSING = "<missing>"


class Grouping(NamedTuple):
    """A column's groups of levels (as sets), and their test."""

    groups: frozenset
    statistic: float
    p_value: float
    dof: float


def theirs_of(split):
    """A split of chaid.json."""
    groups = frozenset(frozenset(group) for group in split["groups"])
    return Grouping(groups, split["score"], split["p"], split["dof"])


def ours_of(run, column, folder=None, **options):
    """The column alone at the root, significant or not."""
    data = find(run["data"], folder)
    cells, levels = _as_levels(data, run, column)
    kinds = {"ordinal": {column: levels}} if run["kind"] == "ordinal" else {"nominal": {column: levels}}
    est = tw.CHAIDClassifier(
        alpha=1.0, alpha_merge=run["options"]["alpha_merge"], bonferroni=False, max_depth=1, **kinds, **options
    )
    est.fit({column: cells}, data.y)
    row = est.audit()[0]
    return Grouping(_groups(est.model_), row.notes["statistic"], row.p_value, row.notes["dof"])


def _as_levels(data: DataSet, run, column):
    """Cells as text, and the levels in the order that the package was told."""
    text = [_as_text(cell) for cell in data.X[column]]
    order = run["order"][column] if run["kind"] == "ordinal" else sorted(set(text) - {None})
    return text, order


def _as_text(cell):
    if isinstance(cell, float):
        return None if np.isnan(cell) else f"{cell:g}"
    return cell


def _groups(model):
    """The levels that lead to each branch of the root, with the missing cells where there were any."""
    tree, column = model.trees[0], model.schema.columns[0]
    codes = np.arange(len(column.levels), dtype=float)
    if tree.kind[0] == MULTIWAY:
        at = int(tree.level_set[0])
        branch = tree.level_branch[at : at + len(codes)]
    else:
        branch = model.apply({column.name: list(column.levels)}) - int(tree.first_child[0])
    groups = [set() for _ in range(int(tree.n_branches[0]))]
    for level, leads_to in zip(column.levels, branch.tolist(), strict=True):
        if leads_to >= 0:
            groups[leads_to].add(level)
    if column.missing_seen:
        groups[int(tree.missing_branch[0])].add(MISSING)
    return frozenset(map(frozenset, groups))
