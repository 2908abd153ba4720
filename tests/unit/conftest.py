"""Trees made by hand for the verbs that read them: every number can be checked with a pencil."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from plain_trees import chain_tree

from treewright.data.schema import Column, Schema
from treewright.trees.arrays import FIELDS, INTERVALS, LEAF, MULTIWAY, SUBSET, THRESHOLD, Tree
from treewright.trees.data import ModelData

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
        return ModelData("regression", Schema((Column("x", "numeric"),)), (chain_tree(depth),))

    return build


def tree_of(**arrays: Any) -> Tree:
    """A tree of the arrays that matter: fillers elsewhere, weights are rows, ``value`` has class counts per node."""
    kind = np.array(arrays.pop("kind"), np.uint8)
    n_nodes, inner = len(kind), kind != LEAF
    value = np.array(arrays.pop("value"), np.float64).reshape(n_nodes, -1)
    rows = np.array(arrays.pop("n_samples", value.sum(axis=1)), np.int64)
    made: dict[str, Any] = {
        "feature": np.full(n_nodes, -1),
        "threshold": np.zeros(n_nodes),
        "first_child": np.full(n_nodes, -1),
        "n_branches": np.where(inner, 2, 0),
        "missing_branch": np.zeros(n_nodes),
        "level_set": np.full(n_nodes, -1),
        "weight": rows,
        "impurity": np.zeros(n_nodes),
        "levels_left": [],
        "levels_seen": [],
    } | arrays
    cells = {name: np.array(given, FIELDS[name]) for name, given in made.items()}
    return Tree(kind=kind, value=value, n_samples=rows, **cells)


def golf_tree() -> Tree:
    """The tree of `golf_model`."""
    counts = [[5, 9], [0, 4], [2, 3], [3, 2], [1, 1], [1, 2], [2, 3], [0, 2], [1, 0], [2, 0]]
    shares = np.array(counts) / np.sum(counts, axis=1, keepdims=True)
    return tree_of(
        kind=[MULTIWAY, LEAF, MULTIWAY, INTERVALS, *[LEAF] * 6],
        feature=[0, -1, 1, 2, *[-1] * 6],
        first_child=[1, -1, 4, 7, *[-1] * 6],
        n_branches=[3, 0, 3, 3, *[0] * 6],
        missing_branch=[1, 0, 1, 2, *[0] * 6],
        level_set=[4, -1, 0, 0, *[-1] * 6],
        value=counts,
        n_samples=[14, 4, 5, 5, 2, 3, 0, 2, 1, 2],
        impurity=1 - (shares**2).sum(axis=1),
        level_branch=[0, 1, ~2, ~1, 0, 1, 2, ~1],
        cuts=[72.5, 87.5],
    )


@pytest.fixture
def golf_model() -> ModelData:
    """A branch per level, intervals, and a level that its node did not hold.

    0  outlook ?                     missing rainy   [5, 9]
    |-- 1  overcast: leaf                            [0, 4]
    |-- 2  rainy: temperature ?      missing mild    [2, 3]
    |   |-- 4  cool: leaf                            [1, 1]
    |   |-- 5  mild: leaf                            [1, 2]
    |   `-- 6  hot (absent): leaf                    no rows, predicts as 2 does
    `-- 3  sunny: humidity ?         missing highest [3, 2]
        |-- 7  <= 72.5: leaf                         [0, 2]
        |-- 8  72.5 to 87.5: leaf                    [1, 0]
        `-- 9  > 87.5: leaf                          [2, 0]
    """
    schema = Schema(
        (
            Column("outlook", "nominal", ("overcast", "rainy", "sunny"), missing_seen=True, family="string"),
            Column("temperature", "ordinal", ("cool", "mild", "hot"), family="string"),
            Column("humidity", "numeric", missing_seen=True),
        )
    )
    facts = {"algorithm": "c45", "criterion": "gini"}
    classes = (np.array(["no", "yes"]),)
    return ModelData("classification", schema, (golf_tree(),), classes, target_names=("play",), facts=facts)


@pytest.fixture
def own_branch_model() -> ModelData:
    """Missing values have the last branch to themselves, at every kind of test; one mean per node.

    0  age <= 30.5 ?       1 yes, 2 no, 3 missing
    1  city in {Bonn} ?    4 yes, 5 no, 6 missing
    2  income ?            7 <= 10, 8 <= 20, 9 > 20 .. , 10 missing
    3  size ?              11 S or L, 12 M, 13 missing
    """
    rows = [21, 6, 8, 7, 3, 2, 1, 2, 2, 3, 1, 4, 2, 1]
    tree = tree_of(
        kind=[THRESHOLD, SUBSET, INTERVALS, MULTIWAY, *[LEAF] * 10],
        feature=[0, 1, 2, 3, *[-1] * 10],
        threshold=[30.5, *[0.0] * 13],
        first_child=[1, 4, 7, 11, *[-1] * 10],
        n_branches=[3, 3, 4, 3, *[0] * 10],
        missing_branch=[2, 2, 3, 2, *[0] * 10],
        level_set=[-1, 0, 0, 0, *[-1] * 10],
        value=np.arange(14.0),
        n_samples=rows,
        levels_left=[0b001],
        levels_seen=[0b111],
        level_branch=[0, 1, 0, ~1],
        cuts=[10.0, 20.0, np.inf],
    )
    schema = Schema(
        (
            Column("age", "numeric", missing_seen=True),
            Column("city", "nominal", ("Bonn", "Oslo", "Rome"), missing_seen=True, family="string"),
            Column("income", "numeric", missing_seen=True),
            Column("size", "ordinal", ("S", "M", "L"), missing_seen=True, family="string"),
        )
    )
    return ModelData("regression", schema, (tree,), missing="branch", facts={"criterion": "squared_error"})


@pytest.fixture
def surrogate_model() -> ModelData:
    """Tests with substitutes.

    0  length <= 2.5 ?     missing right   [50, 50, 50]   width <= 0.8 (1.0), not site in {a} (0.9), sepal <= 5.5 (0.8)
    |-- 1  leaf                            [50,  0,  0]
    `-- 2  site in {a, b} ? missing left   [ 0, 50, 50]   length > 4.75 (0.94)
        |-- 3  leaf                        [ 0, 45,  5]
        `-- 4  leaf                        [ 0,  5, 45]
    """
    counts = np.array([[50, 50, 50], [50, 0, 0], [0, 50, 50], [0, 45, 5], [0, 5, 45]], np.float64)
    tree = tree_of(
        kind=[THRESHOLD, LEAF, SUBSET, LEAF, LEAF],
        feature=[0, -1, 2, -1, -1],
        threshold=[2.5, 0, 0, 0, 0],
        first_child=[1, -1, 3, -1, -1],
        missing_branch=[1, 0, 0, 0, 0],
        level_set=[-1, -1, 1, -1, -1],
        value=counts,
        impurity=1 - (counts**2).sum(axis=1) / counts.sum(axis=1) ** 2,
        levels_left=[0b001, 0b011],
        levels_seen=[0b111, 0b111],
        surrogate_node=[0, 0, 0, 2],
        surrogate_feature=[1, 2, 3, 0],
        surrogate_threshold=[0.8, 0.0, 5.5, 4.75],
        surrogate_level_set=[-1, 0, -1, -1],
        surrogate_flipped=[0, 1, 0, 1],
        surrogate_agreement=[1.0, 0.9, 0.8, 0.94],
        surrogate_adjusted=[1.0, 0.7, 0.4, 0.88],
    )
    schema = Schema(
        (
            Column("length", "numeric", missing_seen=True),
            Column("width", "numeric", missing_seen=True),
            Column("site", "nominal", ("a", "b", "c"), missing_seen=True, family="string"),
            Column("sepal", "numeric"),
        )
    )
    classes, facts = (np.array(["setosa", "versicolor", "virginica"]),), {"criterion": "gini"}
    return ModelData("classification", schema, (tree,), classes, missing="surrogate", facts=facts)


@pytest.fixture
def fractional_model() -> ModelData:
    """``x <= 2.5``: of 10 rows one is missing and goes both ways, 0.6 to the left and 0.4 to the right."""
    tree = tree_of(
        kind=[THRESHOLD, LEAF, LEAF],
        feature=[0, -1, -1],
        threshold=[2.5, 0, 0],
        first_child=[1, -1, -1],
        value=[[5, 5], [4, 2.6], [1, 2.4]],
        n_samples=[10, 7, 4],
        weight=[10, 6.6, 3.4],
        impurity=[0.5, 0.4, 0.4],
    )
    schema = Schema((Column("x", "numeric", missing_seen=True),))
    classes, facts = (np.array(["no", "yes"]),), {"criterion": "gain_ratio"}
    return ModelData("classification", schema, (tree,), classes, missing="fractional", facts=facts)


@pytest.fixture
def full_model() -> ModelData:
    """Every kind of test and every side table in one tree; no weight but rows.

    0  x <= 2.5 ?              [8, 6]   surrogates: not city in {Bonn} (0.9), size <= S (0.8)
    |-- 1  city ?              [5, 2]
    |   |-- 3  Bonn: leaf      [3, 0]
    |   |-- 4  Oslo: leaf      [2, 2]
    |   `-- 5  Rome (absent): leaf without rows
    `-- 2  city in {Oslo} ?    [3, 4]   surrogates: x > 7 (0.7)
        |-- 6  leaf            [1, 1]
        `-- 7  size ?          [2, 3]
            |-- 8  S: leaf     [1, 1]
            |-- 9  M: leaf     [1, 1]
            `-- 10  L: leaf    [0, 1]
    """
    counts = [[8, 6], [5, 2], [3, 4], [3, 0], [2, 2], [5, 2], [1, 1], [2, 3], [1, 1], [1, 1], [0, 1]]
    tree = tree_of(
        kind=[THRESHOLD, MULTIWAY, SUBSET, *[LEAF] * 4, INTERVALS, *[LEAF] * 3],
        feature=[0, 1, 1, *[-1] * 4, 2, *[-1] * 3],
        threshold=[2.5, *[0.0] * 10],
        first_child=[1, 3, 6, *[-1] * 4, 8, *[-1] * 3],
        n_branches=[2, 3, 2, *[0] * 4, 3, *[0] * 3],
        missing_branch=[1, 0, 1, *[0] * 4, 2, *[0] * 3],
        level_set=[-1, 0, 1, *[-1] * 4, 0, *[-1] * 3],
        value=counts,
        n_samples=[14, 7, 7, 3, 4, 0, 2, 5, 2, 2, 1],
        levels_left=[0b0001, 0b1010],
        levels_seen=[0b0111, 0b0111],
        level_branch=[0, 1, ~2, ~1],
        cuts=[0.5, 1.5],
        surrogate_node=[0, 0, 2],
        surrogate_feature=[1, 2, 0],
        surrogate_threshold=[0.0, 0.5, 7.0],
        surrogate_level_set=[0, -1, -1],
        surrogate_flipped=[1, 0, 1],
        surrogate_agreement=[0.9, 0.8, 0.7],
        surrogate_adjusted=[0.8, 0.6, 0.4],
    )
    schema = Schema(
        (
            Column("x", "numeric", missing_seen=True),
            Column("city", "nominal", ("Bonn", "Oslo", "Rome"), family="string"),
            Column("size", "ordinal", ("S", "M", "L"), family="string"),
        )
    )
    classes = (np.array(["no", "yes"]),)
    return ModelData("classification", schema, (tree,), classes, missing="surrogate", facts={"criterion": "gini"})
