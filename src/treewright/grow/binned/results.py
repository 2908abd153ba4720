"""Grown nodes as trees. In: what the kernels leave. Out: ``Tree`` or ``PackedTrees``. Caller: grow.binned.grower."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treewright.data.bins import Bins
from treewright.data.schema import Schema
from treewright.data.thresholds import middle_of
from treewright.grow.binned.layout import Growth
from treewright.grow.binned.settings import BinnedSettings
from treewright.grow.layout import Nodes
from treewright.grow.objective import Objective
from treewright.tree.arrays import LEAF, SUBSET, THRESHOLD, Tree
from treewright.tree.packed import PackedTrees
from treewright.tree.packing import pack_one


@dataclass(frozen=True, eq=False)
class Grown:
    """A tree that has grown, as the kernels leave it."""

    nodes: Nodes
    growth: Growth
    objective: Objective
    n_nodes: int
    n_sets: int

    @property
    def is_inner(self) -> np.ndarray:
        """bool[n_nodes]."""
        return self.nodes.first_child[: self.n_nodes] >= 0


def to_tree(grown: Grown, bins: Bins, schema: Schema) -> Tree:
    """The grown nodes as a ``Tree``, in their order of growth."""
    nodes, n = grown.nodes, grown.n_nodes
    is_inner = grown.is_inner
    feature = np.where(is_inner, nodes.feature[:n], -1).astype(np.int32)
    is_subset = is_inner & bins.is_nominal.astype(bool)[feature]
    level_set, left, seen = _level_words(grown, bins, schema, feature, is_subset)
    return Tree(
        kind=np.select([is_subset, is_inner], [SUBSET, THRESHOLD], LEAF).astype(np.uint8),
        feature=feature,
        threshold=_thresholds(grown, bins, feature, is_inner & ~is_subset),
        first_child=nodes.first_child[:n].copy(),
        n_branches=np.where(is_inner, 2, 0).astype(np.int32),
        missing_branch=np.where(is_inner, nodes.missing_branch[:n], 0).astype(np.int32),
        level_set=level_set,
        n_samples=(nodes.hi[:n] - nodes.lo[:n]).astype(np.int64),
        weight=np.ldexp(nodes.weight[:n].astype(np.float64), -grown.objective.weight_exponent),
        impurity=np.minimum(nodes.impurity[:n], np.finfo(np.float64).max),
        value=grown.objective.values(nodes, n),
        levels_left=left,
        levels_seen=seen,
    )


def _thresholds(grown: Grown, bins: Bins, feature: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """float64[n_nodes]: the middle between the values on both sides of each cut; +inf where it asks "is x present?"."""
    nodes, n = grown.nodes, grown.n_nodes
    before, after = nodes.before[:n][wanted], nodes.after[:n][wanted]
    start = bins.start[feature[wanted]]
    last = len(bins.highest) - 1
    middle = middle_of(bins.highest[start + before], bins.lowest[np.clip(start + after, 0, last)])
    result = np.zeros(n)
    result[wanted] = np.where(after < 0, np.inf, middle) + 0.0
    return result


def _level_words(
    grown: Grown, bins: Bins, schema: Schema, feature: np.ndarray, is_subset: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sets of bins as sets of levels: where each node's words begin, and the words that ``Tree`` keeps."""
    level_set = np.full(len(feature), -1, np.int32)
    left: list[np.ndarray] = [np.empty(0, np.uint64)]
    seen: list[np.ndarray] = [np.empty(0, np.uint64)]
    begin = 0
    # In the order of growth, as the exact grower has them.
    subsets = np.flatnonzero(is_subset)
    if len(subsets):
        subsets = subsets[np.argsort(grown.nodes.level_set[subsets])]
    for node in subsets:
        column = feature[node]
        number = grown.nodes.level_set[node]
        level_bin = bins.level_bin[bins.level_start[column] : bins.level_start[column + 1]]
        n_words = len(schema.columns[column].levels) // 64 + 1
        level_set[node] = begin
        left.append(_words(grown.growth.sets[number], level_bin, n_words))
        seen.append(_words(grown.growth.seen[number], level_bin, n_words))
        begin += n_words
    return level_set, np.concatenate(left), np.concatenate(seen)


def _words(bin_set: np.ndarray, level_bin: np.ndarray, n_words: int) -> np.ndarray:
    """uint64[n_words]: a bit for each level whose bin is in the set."""
    is_in = np.unpackbits(bin_set.view(np.uint8), bitorder="little")[level_bin]
    bits = np.zeros(64 * n_words, np.uint8)
    bits[: len(is_in)] = is_in
    return np.packbits(bits, bitorder="little").view(np.uint64)


def to_packed(grown: Grown, bins: Bins, settings: BinnedSettings) -> PackedTrees:
    """The grown nodes, packed."""
    nodes, n, objective = grown.nodes, grown.n_nodes, grown.objective
    is_inner = grown.is_inner
    feature = nodes.feature[:n]
    before, after = nodes.before[:n], nodes.after[:n]
    # Between two bins with empty ones between them the cut is put in the middle; -1: all present cells go left.
    last_left = np.where(after < 0, bins.n_bins[feature] - 1, (before + after - 1) >> 1)
    is_subset = is_inner & bins.is_nominal.astype(bool)[feature]
    weight = np.ldexp(nodes.weight[:n].astype(np.float64), -objective.weight_exponent)
    n_samples = weight if settings.counts_rows else (nodes.hi[:n] - nodes.lo[:n])
    return pack_one(
        bins,
        settings.criterion,
        objective.n_classes,
        column=np.where(is_inner, feature, 0).astype(np.int32),
        cut=np.where(is_inner & ~is_subset, last_left, 0).astype(np.uint8),
        missing_branch=np.where(is_inner, nodes.missing_branch[:n], 0).astype(np.int8),
        first_child=nodes.first_child[:n],
        set_of=np.where(is_subset, nodes.level_set[:n], -1).astype(np.int32)
        if len(nodes.level_set)
        else np.full(n, -1, np.int32),
        sets=grown.growth.sets[: grown.n_sets],
        seen=grown.growth.seen[: grown.n_sets],
        leaf_value=objective.values(nodes, n),
        leaf_weight=weight,
        leaf_impurity=np.minimum(nodes.impurity[:n], np.finfo(np.float64).max),
        leaf_samples=n_samples.astype(np.int64),
        importances=_importances(grown, bins.n_columns),
    )


def _importances(grown: Grown, p: int) -> np.ndarray:
    """float64[p]: share of the decrease of impurity that each column brought."""
    inner = np.flatnonzero(grown.is_inner)
    # Gains are in steps of the target: impurities would leave float64 where its unit is extreme.
    by_column = np.bincount(grown.nodes.feature[inner], weights=grown.nodes.gain[inner], minlength=p)
    total = by_column.sum()
    return by_column / total if total > 0 else by_column
