"""Trees made by hand for the verbs that read them: every number can be checked with a pencil."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from treewright.data.schema import Column, Schema
from treewright.tree.arrays import LEAF, SUBSET, THRESHOLD, Tree
from treewright.tree.model import ModelData

TOWNS = tuple(f"town {letter}" for letter in "ABCDEFGHIJKLMNOPQR")


def bits(*codes: int) -> int:
    """A word in which these bits are set."""
    return sum(1 << code for code in codes)


def make_tree(
    tests: Sequence[tuple[int, Any] | None],
    first_child: Sequence[int],
    values: Sequence[Sequence[float]],
    *,
    missing: Sequence[int] | None = None,
    samples: Sequence[int] | None = None,
    weight: Sequence[float] | None = None,
    impurity: Sequence[float] | None = None,
) -> Tree:
    """A tree whose tests are ``(column, cut)``, ``(column, (left bits, seen bits))`` or None for a leaf."""
    n_nodes = len(tests)
    value = np.array(values, np.float64).reshape(n_nodes, -1)
    left, seen, level_set = [], [], np.full(n_nodes, -1, np.int32)
    kind, threshold = np.full(n_nodes, LEAF, np.uint8), np.zeros(n_nodes)
    for node, test in enumerate(tests):
        if test is None:
            continue
        if isinstance(test[1], tuple):
            kind[node], level_set[node] = SUBSET, len(left)
            left.append(test[1][0])
            seen.append(test[1][1])
        else:
            kind[node], threshold[node] = THRESHOLD, test[1]
    n_samples = np.array(samples, np.int64) if samples is not None else value.sum(axis=1).astype(np.int64)
    is_inner = kind != LEAF
    return Tree(
        kind=kind,
        feature=np.array([-1 if test is None else test[0] for test in tests], np.int32),
        threshold=threshold,
        first_child=np.array(first_child, np.int32),
        n_branches=np.where(is_inner, 2, 0).astype(np.int32),
        missing_branch=np.array(missing if missing is not None else [0] * n_nodes, np.int32),
        level_set=level_set,
        n_samples=n_samples,
        weight=np.array(weight, np.float64) if weight is not None else n_samples.astype(np.float64),
        impurity=np.array(impurity, np.float64) if impurity is not None else np.zeros(n_nodes),
        value=value,
        levels_left=np.array(left, np.uint64),
        levels_seen=np.array(seen, np.uint64),
    )


@pytest.fixture
def build_tree() -> Callable[..., Tree]:
    """The function `make_tree`."""
    return make_tree


@pytest.fixture
def iris_model() -> ModelData:
    """Three classes, two cuts.

    0  petal length <= 2.45 ?   [50, 50, 50]
    |-- 1  leaf                 [50,  0,  0]
    `-- 2  petal width <= 1.75 ?[ 0, 50, 50]
        |-- 3  leaf             [ 0, 49,  5]
        `-- 4  leaf             [ 0,  1, 45]
    """
    counts = np.array([[50, 50, 50], [50, 0, 0], [0, 50, 50], [0, 49, 5], [0, 1, 45]], np.float64)
    gini = 1 - (counts**2).sum(axis=1) / counts.sum(axis=1) ** 2
    tree = make_tree([(0, 2.45), None, (1, 1.75), None, None], [1, -1, 3, -1, -1], counts, impurity=gini)
    return ModelData(
        "classification",
        Schema((Column("petal length (cm)", "numeric"), Column("petal width (cm)", "numeric"))),
        (tree,),
        (np.array(["setosa", "versicolor", "virginica"]),),
        target_names=("species",),
        facts={"algorithm": "cart", "criterion": "gini"},
    )


@pytest.fixture
def penguin_model() -> ModelData:
    """Nominal, ordinal and "is it there?" tests, missing values on both sides.

    0   island in {Biscoe} ?          missing left    [152, 68, 124]
    |-- 1   flipper <= 206.5 ?        missing right   [ 44,  0, 124]
    |   |-- 3   leaf                                  [  0,  0, 119]
    |   `-- 4   town in {A .. O} ?                    [ 44,  0,   5]
    |       |-- 7   leaf                              [ 30,  0,   0]
    |       `-- 8   price <= "$" ?                    [ 14,  0,   5]
    |           |-- 9   leaf                          [ 14,  0,   0]
    |           `-- 10  leaf                          [  0,  0,   5]
    `-- 2   flipper is present ?      missing right   [108, 68,   0]
        |-- 5   leaf                                  [100, 60,   0]
        `-- 6   leaf                                  [  8,  8,   0]
    """
    counts = [
        *([152, 68, 124], [44, 0, 124], [108, 68, 0], [0, 0, 119], [44, 0, 5], [100, 60, 0]),
        *([8, 8, 0], [30, 0, 0], [14, 0, 5], [14, 0, 0], [0, 0, 5]),
    ]
    tests = [
        *((0, (bits(0), bits(0, 1, 2))), (1, 206.5), (1, np.inf), None, (2, (bits(*range(15)), bits(*range(18))))),
        *(None, None, None, (3, 0.5), None, None),
    ]
    tree = make_tree(tests, [1, 3, 5, -1, 7, -1, -1, -1, 9, -1, -1], counts, missing=[0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0])
    schema = Schema(
        (
            Column("island", "nominal", ("Biscoe", "Dream", "Torgersen"), missing_seen=True, family="string"),
            Column("flipper", "numeric", missing_seen=True),
            Column("town", "nominal", TOWNS, family="string"),
            Column("price", "ordinal", ("$", "$$", "$$$"), family="string"),
        )
    )
    classes = (np.array(["Adelie", "Chinstrap", "Gentoo"]),)
    return ModelData("classification", schema, (tree,), classes, target_names=("kind",), facts={"criterion": "gini"})


@pytest.fixture
def mean_model() -> ModelData:
    """Regression: 10 rows of mean 5; 4 rows of mean 2 where x <= 0.1 + 0.2, else 6 rows of mean 7."""
    tree = make_tree(
        [(0, 0.1 + 0.2), None, None], [1, -1, -1], [[5], [2], [7]], samples=[10, 4, 6], impurity=[9.0, 1.0, 4.0]
    )
    schema = Schema((Column("x", "numeric"),))
    return ModelData("regression", schema, (tree,), facts={"criterion": "squared_error"})


@pytest.fixture
def hostile_model() -> ModelData:
    """Names that try to leave their place: in a page, a quoted string, a line, a terminal."""
    names = ('<img src=x onerror="alert(1)">', "a\nb\u202ec\x1b[31m", "n" * 100_000, 'quote " backslash \\N end\\')
    counts = [[6, 4], [5, 1], [1, 3], [3, 0], [2, 1], [1, 0], [0, 3], [1, 1], [1, 0]]
    tree = make_tree([(0, 0.5), (1, 0.5), (2, 0.5), None, (3, 0.5), *[None] * 4], [1, 3, 5, -1, 7, *[-1] * 4], counts)
    labels = np.array(["</svg><script>alert(2)</script>", "\u202e\ud800 & \x00"], object)
    schema = Schema(tuple(Column(name, "numeric") for name in names))
    return ModelData("classification", schema, (tree,), (labels,), target_names=("]]></style> \n&",))


@pytest.fixture
def chain_model() -> Callable[[int], ModelData]:
    """A regression tree as deep as it has splits: branch 0 is always a leaf with one row."""

    def build(depth: int) -> ModelData:
        node = np.arange(2 * depth + 1)
        is_inner = (node % 2 == 0) & (node < 2 * depth)
        n_samples = np.where(node % 2 == 0, depth + 1 - node // 2, 1)
        tree = Tree(
            kind=np.where(is_inner, THRESHOLD, LEAF).astype(np.uint8),
            feature=np.where(is_inner, 0, -1).astype(np.int32),
            threshold=np.where(is_inner, node / 2, 0.0),
            first_child=np.where(is_inner, node + 1, -1).astype(np.int32),
            n_branches=np.where(is_inner, 2, 0).astype(np.int32),
            missing_branch=np.zeros(len(node), np.int32),
            level_set=np.full(len(node), -1, np.int32),
            n_samples=n_samples.astype(np.int64),
            weight=n_samples.astype(np.float64),
            impurity=np.zeros(len(node)),
            value=node[:, None].astype(np.float64),
            levels_left=np.zeros(0, np.uint64),
            levels_seen=np.zeros(0, np.uint64),
        )
        return ModelData("regression", Schema((Column("x", "numeric"),)), (tree,))

    return build
