"""Packed trees of any shape, for scores. In: a random generator, leaves, a shape. Out: ``PackedTrees``."""

from __future__ import annotations

from typing import Literal

import numpy as np
from random_forests import random_rows, words_of

from treewright.data.bins import Bins, bins_of
from treewright.data.schema import Schema
from treewright.trees.packed import PackedTrees, join, pack_one

Shape = Literal["any", "left", "right", "even"]


def bins_for(rng: np.random.Generator, schema: Schema, n_rows: int = 400) -> Bins:
    """Bins of random rows."""
    return bins_of(random_rows(rng, n_rows, schema, unseen=False), schema)


def random_tree(rng: np.random.Generator, bins: Bins, n_leaves: int, shape: Shape = "any") -> PackedTrees:
    """A tree of so many leaves with random tests, also such that send all rows one way.

    ``"left"`` and ``"right"`` are chains that go on at branch 0 or 1, ``"even"`` splits the node that waits longest.
    """
    first_child, open_nodes = [-1], [0]
    while len(open_nodes) < n_leaves:
        at = {"any": int(rng.integers(len(open_nodes))), "left": -2, "right": -1, "even": 0}[shape]
        node = open_nodes.pop(at if len(open_nodes) > 1 else 0)
        first_child[node] = len(first_child)
        open_nodes += [len(first_child), len(first_child) + 1]
        first_child += [-1, -1]
    n = len(first_child)
    column = rng.integers(0, bins.n_columns, n).astype(np.int32)
    set_of, sets = np.full(n, -1, np.int32), []
    cut = np.zeros(n, np.uint8)
    for node in range(n):
        if first_child[node] < 0:
            continue
        n_bins = int(bins.n_bins[column[node]])
        if bins.is_nominal[column[node]]:
            set_of[node] = len(sets)
            sets.append(words_of(_random_set(rng, n_bins)))
        else:
            cut[node] = rng.integers(0, n_bins) if rng.random() < 0.9 else 254
    held = np.array(sets, np.uint64).reshape(-1, 4)
    return pack_one(
        bins,
        "squared_error",
        (),
        column=column,
        cut=cut,
        missing_branch=rng.integers(0, 2, n).astype(np.int8),
        first_child=np.array(first_child, np.int32),
        set_of=set_of,
        sets=held,
        seen=held,
        leaf_value=rng.normal(size=(n, 1)) * 10.0 ** rng.integers(-8, 8, (n, 1)),
        leaf_weight=np.ones(n),
        leaf_impurity=np.zeros(n),
        leaf_samples=np.ones(n, np.int64),
        importances=np.zeros(bins.n_columns),
    )


def _random_set(rng: np.random.Generator, n_bins: int) -> np.ndarray:
    """Bins that go left: of each density, none, all, one, a run, or every other one."""
    present = np.arange(n_bins + 1)
    kind = int(rng.integers(8))
    if kind == 0:
        return present[:0]
    if kind == 1:
        return present
    if kind == 2:
        return present[rng.integers(n_bins + 1) :][:1]
    if kind == 3:
        return np.roll(present, int(rng.integers(n_bins + 1)))[: int(rng.integers(1, n_bins + 2))]
    if kind == 4:
        return present[::2]
    return present[rng.random(n_bins + 1) < rng.random()]


def random_trees(
    rng: np.random.Generator, schema: Schema, leaves: list[int], shape: Shape = "any", bins: Bins | None = None
) -> PackedTrees:
    """Trees of these numbers of leaves."""
    bins = bins_for(rng, schema) if bins is None else bins
    return join([random_tree(rng, bins, count, shape) for count in leaves])
