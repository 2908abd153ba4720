"""A small tree and a small model, with numbers that can be checked by hand.

0  x <= 2.5 ?             [6, 4]
|-- 1  city in {Bonn, Rome} ?  [5, 1]
|   |-- 3  leaf           [4, 0]
|   `-- 4  leaf           [1, 1]
`-- 2  leaf               [1, 3]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from plain_trees import chain_tree

from treewright.data.schema import Column, Schema
from treewright.trees.arrays import LEAF, SUBSET, THRESHOLD, Tree
from treewright.trees.data import ModelData

COUNTS = np.array([[6, 4], [5, 1], [1, 3], [4, 0], [1, 1]], np.float64)


@pytest.fixture
def schema() -> Schema:
    return Schema((Column("x", "numeric"), Column("city", "nominal", ("Bonn", "Oslo", "Rome"), family="string")))


@pytest.fixture
def tree() -> Tree:
    n_samples = COUNTS.sum(axis=1)
    return Tree(
        kind=np.array([THRESHOLD, SUBSET, LEAF, LEAF, LEAF], np.uint8),
        feature=np.array([0, 1, -1, -1, -1], np.int32),
        threshold=np.array([2.5, 0, 0, 0, 0], np.float64),
        first_child=np.array([1, 3, -1, -1, -1], np.int32),
        n_branches=np.array([2, 2, 0, 0, 0], np.int32),
        missing_branch=np.array([1, 0, 0, 0, 0], np.int32),
        level_set=np.array([-1, 0, -1, -1, -1], np.int32),
        n_samples=n_samples.astype(np.int64),
        weight=n_samples,
        impurity=1.0 - (COUNTS**2).sum(axis=1) / n_samples**2,
        value=COUNTS.copy(),
        levels_left=np.array([0b0101], np.uint64),
        levels_seen=np.array([0b0111], np.uint64),
    )


@pytest.fixture
def model(schema: Schema, tree: Tree) -> ModelData:
    return ModelData(
        task="classification",
        schema=schema,
        trees=(tree,),
        classes=(np.array(["no", "yes"]),),
        target_names=("answer",),
        facts={"algorithm": "cart", "parameters": {"max_depth": 2, "ccp_alpha": 0.0}, "n_rows": 10},
    )


@pytest.fixture
def with_cell() -> Callable[..., Tree]:
    """A copy of a tree in which cells of one array are others."""

    def change(tree: Tree, field: str, place: Any, cell: Any) -> Tree:
        array = getattr(tree, field).copy()
        array[place] = cell
        return replace(tree, **{field: array})

    return change


@pytest.fixture
def random_tree() -> Callable[..., tuple[Tree, Schema]]:
    """A legal regression tree whose inner nodes are picked at random, over one numeric and one nominal column."""

    def build(seed: int, n_splits: int, n_levels: int = 70) -> tuple[Tree, Schema]:
        rng = np.random.default_rng(seed)
        inner: dict[int, int] = {}
        leaves = [0]
        for step in range(n_splits):
            node = leaves.pop(int(rng.integers(len(leaves))))
            inner[node] = 2 * step + 1
            leaves += [2 * step + 1, 2 * step + 2]
        n_nodes, words = 2 * n_splits + 1, n_levels // 64 + 1
        kind = np.zeros(n_nodes, np.uint8)
        first_child = np.full(n_nodes, -1, np.int32)
        for node, child in inner.items():
            kind[node] = rng.choice([THRESHOLD, SUBSET])
            first_child[node] = child
        is_inner, subset = kind != LEAF, kind == SUBSET
        n_samples = np.ones(n_nodes, np.int64)
        for node in sorted(inner, reverse=True):
            n_samples[node] = n_samples[inner[node]] + n_samples[inner[node] + 1]
        level_set = np.full(n_nodes, -1, np.int32)
        level_set[subset] = rng.permutation(int(subset.sum())) * words
        left = rng.integers(0, 2**63, (int(subset.sum()), words), dtype=np.uint64)
        left[:, -1] &= np.uint64(2 ** (n_levels % 64 + 1) - 1)
        seen = left & np.uint64(2**20 - 1)
        tree = Tree(
            kind=kind,
            feature=np.where(is_inner, np.where(subset, 1, 0), -1).astype(np.int32),
            threshold=np.where(kind == THRESHOLD, rng.normal(size=n_nodes), 0.0),
            first_child=first_child,
            n_branches=np.where(is_inner, 2, 0).astype(np.int32),
            missing_branch=np.where(is_inner, rng.integers(0, 2, n_nodes), 0).astype(np.int32),
            level_set=level_set,
            n_samples=n_samples,
            weight=n_samples.astype(np.float64),
            impurity=rng.random(n_nodes),
            value=rng.normal(size=(n_nodes, 1)),
            levels_left=left.ravel(),
            levels_seen=np.where(np.arange(left.size) % words == words - 1, np.uint64(0), seen.ravel()),
        )
        levels = tuple(f"level {code}" for code in range(n_levels))
        return tree, Schema((Column("x", "numeric"), Column("city", "nominal", levels, family="string")))

    return build


@pytest.fixture
def chain() -> Callable[[int], tuple[Tree, Schema]]:
    """A legal regression tree as deep as it has splits: branch 0 is always a leaf with one row."""

    def build(depth: int) -> tuple[Tree, Schema]:
        return chain_tree(depth), Schema((Column("x", "numeric"),))

    return build


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """``field`` runs over every array of a tree."""
    if "field" in metafunc.fixturenames:
        metafunc.parametrize("field", [field.name for field in fields(Tree)])
