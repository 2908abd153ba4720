"""Importances of the columns of boosted trees. In: the trees of a boosted model. Out: arrays."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from treewright.exceptions import ParameterError
from treewright.trees.arrays import LEAF_RECORD, SUBSET_RECORD, child_of, column_of, kind_of, set_of
from treewright.trees.data import Trees
from treewright.trees.packed import PackedTrees

BoostedKind = Literal["gain", "cover", "frequency"]


def boosted_importances(trees: Trees, n_columns: int, kind: Any = "gain") -> np.ndarray:
    """Return the importance of each column in the trees of a boosted model: float64[p].

    ``kind``: the gain of the column's tests; the sum of the hessians of the rows that they test; their number. Shares
    of the whole: they sum to one, or are all 0 if no tree has a split (or none has a gain). Raises ``ParameterError``:
    there is no such kind.
    """
    if kind not in list(get_args(BoostedKind)):  # a list: kind may be unhashable
        raise ParameterError(f"kind is {kind!r}; choose one of {', '.join(get_args(BoostedKind))}")
    if kind == "gain":
        return trees.mean_importances(n_columns)
    if isinstance(trees, PackedTrees):
        inner = np.flatnonzero(kind_of(trees.records) != LEAF_RECORD)
        columns, covers = columns_asked(trees, inner), covers_of(trees)[inner]
    else:
        columns = np.concatenate([tree.feature[~tree.is_leaf] for tree in trees])
        covers = np.concatenate([tree.weight[~tree.is_leaf] for tree in trees])
    amounts = None if kind == "frequency" else covers
    total = np.bincount(columns, amounts, minlength=n_columns).astype(np.float64)
    whole = total.sum()
    return total / whole if whole > 0 else total


def columns_asked(packed: PackedTrees, inner: np.ndarray) -> np.ndarray:
    """int64[k]: the column that each of some inner nodes tests."""
    records = packed.records[inner]
    column = column_of(records)
    is_subset = kind_of(records) == SUBSET_RECORD
    column[is_subset] = packed.set_column[set_of(records[is_subset])]
    return column


def covers_of(packed: PackedTrees) -> np.ndarray:
    """float64[n_nodes]: the weight of every node, from the leaves up."""
    records = packed.records
    is_leaf = kind_of(records) == LEAF_RECORD
    cover = np.zeros(len(records))
    cover[is_leaf] = packed.leaf_weight[child_of(records[is_leaf])]
    levels = []
    here = packed.roots[:-1]
    while len(here := here[~is_leaf[here]]):
        levels.append(here)
        first = child_of(records[here])
        here = np.concatenate((first, first + 1))
    for level in reversed(levels):
        first = child_of(records[level])
        cover[level] = cover[first] + cover[first + 1]
    return cover
