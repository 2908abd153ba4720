"""Tables that are bins from the start, and trees grown on them. In: bins, gradients. Out: trees.

Callers: tests of growth on gradients and of the rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.boosting.growth import KeptTree, packed_trees
from treewright.boosting.rounds import Boosted, BoostRows, BoostSettings, BoostTable, Evaluation, boost
from treewright.data.bins import Bins
from treewright.data.schema import Column, Schema
from treewright.grow.gradient.grower import GradientGrower, GradientTree
from treewright.grow.settings import GradientSettings
from treewright.predict.walks import leaf_rows_of_bins
from treewright.trees.arrays import LEAF_RECORD, child_of, kind_of
from treewright.trees.packed import PackedTrees

MISSING = 255
NO_HESSIAN = np.empty(0, np.float32)


def bins_with(n_bins: Sequence[int], nominal: Sequence[bool] | None = None) -> Bins:
    """Bins of columns whose value, or level, k lies in bin k."""
    is_nominal = np.zeros(len(n_bins), bool) if nominal is None else np.array(nominal, bool)
    values = [np.arange(0 if is_level else n, dtype=np.float64) for n, is_level in zip(n_bins, is_nominal, strict=True)]
    levels = [np.arange(n + 1 if is_level else 0) for n, is_level in zip(n_bins, is_nominal, strict=True)]
    return Bins(
        is_nominal=is_nominal,
        n_bins=np.array(n_bins, np.int32),
        start=np.concatenate([[0], np.cumsum([len(each) for each in values])]).astype(np.int64),
        lowest=np.concatenate(values),
        highest=np.concatenate(values),
        level_start=np.concatenate([[0], np.cumsum([len(each) for each in levels])]).astype(np.int64),
        level_bin=np.concatenate(levels).astype(np.uint8),
    )


def schema_of(bins: Bins) -> Schema:
    """Columns of such bins."""
    return Schema(
        tuple(
            Column(f"c{at}", "nominal", tuple(range(bins.n_bins[at])), missing_seen=True)
            if bins.is_nominal[at]
            else Column(f"c{at}", "numeric", missing_seen=True)
            for at in range(bins.n_columns)
        )
    )


def padded(cells: np.ndarray) -> np.ndarray:
    """Cells as ``bin_rows`` hands them on: 8 columns, or 16, ..."""
    n, p = cells.shape
    codes = np.zeros((n, -(-p // 8) * 8), np.uint8)
    codes[:, :p] = cells
    return codes


@dataclass(eq=False)
class GradientCase:
    """A table of bins with gradients."""

    bins: Bins
    cells: np.ndarray
    gradient: np.ndarray
    hessian: np.ndarray
    ordered: np.ndarray
    repeats: np.ndarray | None = None

    def at(self, rows: np.ndarray, repeats: np.ndarray | None = None) -> GradientCase:
        """The same columns, other rows."""
        held = self.repeats if repeats is None else repeats
        return GradientCase(
            self.bins,
            self.cells[rows],
            self.gradient[rows],
            self.hessian[rows] if len(self.hessian) else self.hessian,
            self.ordered,
            None if held is None else held[rows],
        )

    def grower(self, **settings: Any) -> GradientGrower:
        """A grower of these rows."""
        return GradientGrower(padded(self.cells), self.bins, self.ordered, self.repeats, GradientSettings(**settings))

    def grow(
        self, *, chosen: np.ndarray | None = None, seed: int = 0, max_step: float = np.inf, **settings: Any
    ) -> GradientTree:
        """One tree."""
        return self.grower(**settings).grow(self.gradient, self.hessian, chosen, seed, max_step)


def draw_case(
    seed: int,
    n: int,
    p: int,
    *,
    unit: bool = True,
    repeats: bool = False,
    nominal: bool = True,
    most_bins: int = 7,
    ties: bool = True,
) -> GradientCase:
    """A random table; gradients and hessians are multiples of 2**-10, few of them where there shall be ties."""
    rng = np.random.default_rng(seed)
    n_bins = rng.integers(1, most_bins + 1, p)
    is_nominal = (rng.random(p) < 0.4) & nominal
    bins = bins_with(n_bins.tolist(), is_nominal.tolist())
    cells = rng.integers(0, n_bins, (n, p)).astype(np.uint8)
    cells[rng.random(cells.shape) < rng.choice([0.0, 0.1, 0.4])] = MISSING
    step = rng.choice([1, 16, 512]) if ties else 1
    pull = (cells[:, 0] % 3).astype(np.int64) * int(rng.integers(-600, 600))
    gradient = (rng.integers(-2048 // step, 2048 // step + 1, n) * step + pull) / 1024
    hessian = rng.integers(1, 1024 // step + 1, n) * step / 1024
    return GradientCase(
        bins,
        cells,
        gradient.astype(np.float32),
        NO_HESSIAN if unit else hessian.astype(np.float32),
        is_nominal & (rng.random(p) < 0.4),
        rng.integers(1, 4, n).astype(np.int32) if repeats else None,
    )


def leaf_of_rows(tree: GradientTree, n: int) -> np.ndarray:
    """int[n]: which of the tree's leaves holds each row; -1 for rows that are not the tree's."""
    found = np.full(n, -1)
    for at, (begin, end) in enumerate(zip(tree.begins, tree.ends, strict=True)):
        found[tree.order[begin:end]] = at
    return found


def packed_of(case: GradientCase, tree: GradientTree) -> PackedTrees:
    """The tree in eight bytes a node; its leaves add their values."""
    return packed_trees(case.bins, [KeptTree(tree, tree.values)])


def leaves_of(packed: PackedTrees, cells: np.ndarray, tree: int = 0) -> np.ndarray:
    """int[n]: the row of the leaf table in which each row ends."""
    rows = np.arange(len(cells), dtype=np.int32)
    return np.array(leaf_rows_of_bins(packed, padded(cells), rows, tree))


def answers(packed: PackedTrees, cells: np.ndarray, tree: int = 0) -> np.ndarray:
    """float64[n]: what a packed tree adds to each row."""
    return np.array(packed.leaf_value[:, 0][leaves_of(packed, cells, tree)])


def scores_of(found: Boosted, cells: np.ndarray) -> np.ndarray:
    """float64[k, n]: scores of rows after all trees."""
    k = found.boosting.n_scores
    scores = np.repeat(np.array(found.boosting.base)[:, None], len(cells), axis=1)
    for tree in range(len(found.trees)):
        scores[tree % k] += answers(found.trees, cells, tree)
    return scores


def boost_case(
    case: GradientCase, target: np.ndarray, loss: Any, weights: np.ndarray | None = None, *, start: Any = None,
    base: Any = None, tree: dict[str, Any] | None = None, evaluation: Evaluation | None = None, **settings: Any,
) -> Boosted:  # fmt: skip
    """Rounds on a case's rows; its gradients are not read."""
    table = BoostTable(case.bins, schema_of(case.bins), case.ordered)
    losses = loss if isinstance(loss, tuple) else (loss,)
    target = target.reshape(len(case.cells), -1)
    plan = BoostSettings(losses, GradientSettings(**(tree or {})), evaluation=evaluation, **settings)
    return boost(table, BoostRows(padded(case.cells), target, weights), plan, start, base)


def difference(one: GradientTree, other: GradientTree, *, same_rows: bool = True) -> str:
    """The first field in which two trees differ; with ``same_rows``, also in where rows stand."""
    skipped = () if same_rows else ("order", "begins", "ends")
    for name in GradientTree._fields:
        if name in skipped:
            continue
        mine, yours = _asked(one, name), _asked(other, name)
        if mine.shape != yours.shape or mine.tobytes() != yours.tobytes():
            return f"{name}: {mine.tolist()} against {yours.tolist()}"
    return ""


def _asked(tree: GradientTree, name: str) -> np.ndarray:
    """A field; the order leaf by leaf; of what only tests have, nothing of the nodes without one."""
    if name == "order":
        return tree.groups([range(len(tree.leaves))])[0]
    held = getattr(tree, name)
    if name in ("sets", "seen"):
        return held[tree.is_set] if len(held) == tree.n_nodes else held[:0]
    return held[tree.first_child >= 0] if name in ("column", "cut") else held


def packed_difference(one: PackedTrees, other: PackedTrees, *, but: tuple[str, ...] = ()) -> str:
    """The first array in which packed trees differ."""
    others = other.arrays()
    for name, mine in one.arrays().items():
        if name not in but and (mine.shape != others[name].shape or mine.tobytes() != others[name].tobytes()):
            return f"{name}: {mine[:9].tolist()} against {others[name][:9].tolist()}"
    return ""


def difference_but_samples(one: PackedTrees, other: PackedTrees) -> str:
    """The same, leaves compared one by one and without their samples, by which equal ones share a row or do not."""
    but = ("records", "leaf_value", "leaf_weight", "leaf_impurity", "leaf_samples")
    found = packed_difference(one, other, but=but)
    is_leaf = kind_of(one.records) == LEAF_RECORD
    if found or not np.array_equal(is_leaf, kind_of(other.records) == LEAF_RECORD):
        return found or "which nodes are leaves"
    if not np.array_equal(one.records[~is_leaf], other.records[~is_leaf]):
        return "records of tests"
    for name in ("leaf_value", "leaf_weight"):
        mine, yours = (getattr(each, name)[child_of(each.records[is_leaf])] for each in (one, other))
        if mine.tobytes() != yours.tobytes():
            return f"{name}: {mine.tolist()} against {yours.tolist()}"
    return ""
