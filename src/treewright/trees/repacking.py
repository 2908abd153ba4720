"""Listed trees as packed ones, with the same paths of rows.

Trees of other libraries have arbitrary cuts: they are packed if no column has more cuts than bins can distinguish.
Otherwise prediction may still use bins (``predict.ensemble``), with such a column as several; the model itself keeps
listed trees then, because its columns are those of the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from treewright.data.bins import MAX_BINS, Bins
from treewright.data.schema import Schema
from treewright.exceptions import InputFileError, ModelFileError
from treewright.trees.arrays import LEAF, SUBSET, THRESHOLD, Tree
from treewright.trees.check_model import ISOLATION_FOREST, check_model
from treewright.trees.data import BoostedTrees, ListedTrees, ModelData
from treewright.trees.packed import COUNT_CRITERIA, MEAN_CRITERIA, PackedTrees, pack_many


def kept_trees(
    trees: Sequence[Tree], schema: Schema, n_classes: tuple[int, ...], combine: str, missing: str,
    facts: Mapping[str, Any],
) -> PackedTrees | ListedTrees:  # fmt: skip
    """Trees in the form that a model keeps: packed if possible for sums of many, else listed."""
    is_boosted, criterion = combine == "sum", facts.get("criterion")
    is_forest = combine == "mean" and missing == "direction" and facts.get("algorithm") != ISOLATION_FOREST
    found = None
    if (is_boosted or is_forest) and criterion in (COUNT_CRITERIA if n_classes else MEAN_CRITERIA):
        found = packed_of(trees, schema, str(criterion), n_classes)
    return found or (BoostedTrees(trees) if is_boosted else ListedTrees(trees))


def checked(model: ModelData) -> ModelData:
    """The same model; one that breaks an invariant is refused."""
    try:
        check_model(model)
    except ModelFileError as error:
        raise InputFileError(f"the trees do not make a valid model: {error}") from error
    return model


class Repacked(NamedTuple):
    """Packed trees, and the column of the table for each of their columns (int64[q])."""

    trees: PackedTrees
    sources: np.ndarray


def packed_of(trees: Sequence[Tree], schema: Schema, criterion: str, n_classes: tuple[int, ...]) -> PackedTrees | None:
    """Packed trees, eight bytes a node; None if a test has not two branches, or a column has more cuts than bins."""
    found = repacked(trees, schema, criterion, n_classes, most_parts=1)
    return None if found is None else found.trees


def repacked(
    trees: Sequence[Tree], schema: Schema, criterion: str, n_classes: tuple[int, ...], *, most_parts: int
) -> Repacked | None:
    """Pack listed trees; None if a test has not two branches, or columns have too many cuts or levels.

    Paths of rows stay the same: a bin ends at each cut of a test, and each level is a bin. ``most_parts`` is 1 for all
    columns, as in a model. Else, for prediction only, the columns that are tested: a column with more cuts than bins
    can distinguish becomes several, each with the next cuts; on average at most ``most_parts`` for each.
    """
    feature = np.concatenate([tree.feature for tree in trees])
    kind = np.concatenate([tree.kind for tree in trees])
    threshold = np.concatenate([tree.threshold for tree in trees]) + 0.0
    n_branches = np.concatenate([tree.n_branches for tree in trees])
    n_samples = np.concatenate([tree.n_samples for tree in trees])
    if not np.isin(kind, (LEAF, THRESHOLD, SUBSET)).all() or n_branches.max() > 2 or n_samples.min() < 1:
        return None
    is_cut = kind == THRESHOLD
    # Minus infinity is a cut like others; plus infinity tests whether there is a value.
    if (threshold[is_cut] == -np.inf).any():
        return None
    p, keeps_columns = len(schema), most_parts == 1
    kept = np.arange(p) if keeps_columns else np.unique(feature[kind != LEAF])
    if not len(kept):
        return None
    columns = [schema.columns[at] for at in kept.tolist()]
    nominal, n_levels = (
        np.array([column.kind == "nominal" for column in columns]),
        np.array([len(c.levels) for c in columns]),
    )
    place_of = np.full(p, 0, np.int64)  # the position of a column among those that are kept
    place_of[kept] = np.arange(len(kept))
    # The nodes with cuts, sorted by column, so that each column reads only its own.
    cut_nodes = np.flatnonzero(is_cut)
    cut_nodes = cut_nodes[np.argsort(place_of[feature[cut_nodes]], kind="stable")]
    ends = np.searchsorted(place_of[feature[cut_nodes]], np.arange(len(kept)), "right")
    nodes_of = np.split(cut_nodes, ends[:-1])
    cuts = [np.unique(threshold[own][np.isfinite(threshold[own])]) for own in nodes_of]
    # A column of k cuts has k + 1 bins.
    n_parts = np.maximum(-(-np.array([len(own) for own in cuts]) // (MAX_BINS - 1)), 1)
    if (n_levels[nominal] >= MAX_BINS).any() or n_parts.sum() > most_parts * len(kept):
        return None
    sources = np.repeat(np.arange(len(kept)), n_parts)
    first_part = np.cumsum(n_parts) - n_parts
    parts = [own[begin : begin + MAX_BINS - 1] for own in cuts for begin in range(0, max(len(own), 1), MAX_BINS - 1)]
    nothing, nominal_parts = np.empty(0), nominal[sources]
    lowest = [np.concatenate([own[:1], np.nextafter(own, np.inf)]) if len(own) else np.zeros(1) for own in parts]
    highest = [np.concatenate([own, np.nextafter(own[-1:], np.inf)]) if len(own) else np.zeros(1) for own in parts]
    for at in np.flatnonzero(nominal_parts).tolist():
        lowest[at] = highest[at] = nothing
    level_sizes = np.where(nominal_parts, n_levels[sources] + 1, 0)
    bins = Bins(
        is_nominal=nominal_parts,
        n_bins=np.where(nominal_parts, n_levels[sources], [len(own) + 1 for own in parts]).astype(np.int32),
        start=np.concatenate([[0], np.cumsum([len(own) for own in lowest])]).astype(np.int64),
        lowest=np.concatenate([nothing, *lowest]),
        highest=np.concatenate([nothing, *highest]),
        level_start=np.concatenate([[0], np.cumsum(level_sizes)]).astype(np.int64),
        level_bin=np.concatenate([np.empty(0, np.uint8), *(np.arange(size, dtype=np.uint8) for size in level_sizes)]),
    )
    sizes = np.array([tree.n_nodes for tree in trees], np.int64)
    roots = np.concatenate([[0], np.cumsum(sizes)])
    offsets = np.repeat(roots[:-1], sizes)
    first_child = np.concatenate([tree.first_child for tree in trees]).astype(np.int64)
    cut, column = np.zeros(len(kind), np.int64), first_part[place_of[np.maximum(feature, 0)]]
    for at, here in enumerate(nodes_of):
        place = np.searchsorted(cuts[at], threshold[here])
        # Infinity is after the last cut: it is the last bin of the last part.
        part = np.minimum(place // (MAX_BINS - 1), n_parts[at] - 1)
        column[here] += part
        cut[here] = place - part * (MAX_BINS - 1)
    sets, set_of = _sets_of(trees, kind, schema)
    leaf = first_child < 0
    if keeps_columns:
        importances = (BoostedTrees if criterion == "gradient" else ListedTrees)(trees).importances_by_tree(p)
    else:
        importances = np.zeros((len(trees), len(sources)))
    impurity = np.concatenate([tree.impurity for tree in trees])
    packed = pack_many(
        bins,
        criterion,
        n_classes,
        roots=roots,
        column=column,
        cut=cut,
        missing_branch=np.concatenate([tree.missing_branch for tree in trees]),
        first_child=np.where(leaf, -1, first_child + offsets),
        set_of=set_of,
        sets=sets,
        seen=sets | ~sets,  # all bins; those beyond the column's are not read
        leaf_value=np.concatenate([tree.value for tree in trees]),
        leaf_weight=None if n_classes else np.concatenate([tree.weight for tree in trees]),
        leaf_impurity=None if n_classes or criterion == "gradient" else impurity,
        leaf_samples=n_samples,
        importances=importances,
    )
    return Repacked(packed, kept[sources])


def _sets_of(trees: Sequence[Tree], kind: np.ndarray, schema: Schema) -> tuple[np.ndarray, np.ndarray]:
    """Sets of levels as sets of bins, uint64[k, 4], and the set of each node, int64[n_nodes] (-1 for none)."""
    is_set = kind == SUBSET
    sets = np.zeros((int(is_set.sum()), 4), np.uint64)
    row = 0
    for tree in trees:
        for node in np.flatnonzero(tree.kind == SUBSET).tolist():
            words = len(schema.columns[tree.feature[node]].levels) // 64 + 1
            begin = int(tree.level_set[node])
            sets[row, :words] = tree.levels_left[begin : begin + words]
            row += 1
    return sets, np.where(is_set, np.cumsum(is_set) - 1, -1)
