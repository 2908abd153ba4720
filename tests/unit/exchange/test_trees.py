"""Trees as other libraries list them become ours: the same ways for every row, in both forms; no ring is a tree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.data.encoder import encode
from treewright.data.schema import Column, Schema
from treewright.exceptions import InputFileError
from treewright.exchange.foreign import ForeignTree, cut_of_float32, imported, tree_of
from treewright.model import Model
from treewright.trees.codec import dumps, loads
from treewright.trees.data import BoostedTrees, Boosting
from treewright.trees.packed import PackedTrees
from treewright.trees.repacking import packed_of, repacked

SCHEMA = Schema(
    (
        Column("x", "numeric", missing_seen=True),
        Column("z", "numeric", missing_seen=True),
        Column("town", "nominal", ("a", "b", "c"), missing_seen=True, family="string"),
    )
)
floats32 = st.floats(width=32, allow_nan=False)


def some_tree(rng, n_inner, n_cuts=50):
    """A tree of random shape, its nodes in random order."""
    left, right, leaves = [-1], [-1], [0]
    for _ in range(n_inner):
        node = leaves.pop(rng.integers(len(leaves)))
        left[node], right[node] = len(left), len(left) + 1
        leaves += [len(left), len(left) + 1]
        left += [-1, -1]
        right += [-1, -1]
    n = len(left)
    order = np.concatenate([[0], 1 + rng.permutation(n - 1)])  # where each node goes
    left, right = (np.where(np.array(each) < 0, -1, order[np.array(each)]) for each in (left, right))
    back = np.argsort(order)
    left, right = left[back], right[back]
    column = rng.integers(0, 3, n)
    inner = left >= 0
    levels = {int(i): rng.permutation(3)[: rng.integers(1, 3)] for i in np.flatnonzero(inner & (column == 2))}
    return ForeignTree(
        left, right, column, rng.integers(0, n_cuts, n) / 7.0, rng.random(n) < 0.5, rng.normal(size=(n, 1)),
        weight=rng.integers(1, 9, n).astype(float), gain=rng.random(n), levels=levels, unseen_left=rng.random(n) < 0.5,
    )  # fmt: skip


def way(tree, row):
    """The slow twin: a node after another, as the library lists them."""
    node = 0
    while tree.left[node] >= 0:
        x = row[tree.column[node]]
        if np.isnan(x):
            goes_left = tree.missing_left[node]
        elif node in tree.levels:
            goes_left = x in tree.levels[node] if x < 3 else tree.unseen_left[node]
        else:
            goes_left = x <= tree.cut[node]
        node = (tree.left if goes_left else tree.right)[node]
    return tree.value[node, 0]


def boosted(trees, n_scores=1):
    return imported(
        trees, SCHEMA, task="regression", combine="sum", algorithm="gradient_boosting", criterion="gradient",
        source={"library": "none"}, boosting=Boosting((0.5,) * n_scores), n_outputs=n_scores,
    )  # fmt: skip


def rows_beside(trees, rng, n=120):
    cuts = np.concatenate([tree.cut for tree in trees])
    cells = np.concatenate([cuts, np.nextafter(cuts, np.inf), np.nextafter(cuts, -np.inf), [np.nan, np.inf, -np.inf]])
    rows = rng.choice(cells, (n, 3))
    rows[:, 2] = rng.choice([0.0, 1.0, 2.0, 3.0, np.nan], n)
    return rows


@pytest.mark.parametrize("n_cuts", [50, 100_000])
@pytest.mark.parametrize("n_scores", [1, 3])
def test_each_row_goes_its_way_and_sums_are_in_the_order_of_the_trees(n_cuts, n_scores):
    rng = np.random.default_rng(n_cuts + n_scores)
    trees = [some_tree(rng, 60 if n_cuts == 50 else 400, n_cuts) for _ in range(12)]
    model = boosted(trees, n_scores)
    assert isinstance(model.trees, PackedTrees if n_cuts == 50 else BoostedTrees)
    rows = rows_beside(trees, rng)
    expected = np.full((len(rows), n_scores), 0.5)
    for at, tree in enumerate(trees):
        expected[:, at % n_scores] += [way(tree, row) for row in rows]
    for each in (model, loads(dumps(model))):
        assert np.array_equal(Model.of(each).numbers_of(rows), expected)
        assert np.array_equal(Model.of(each).numbers_of(rows[:9]), expected[:9])  # walked, where many go by bins


def test_both_forms_are_one_model():
    rng = np.random.default_rng(3)
    trees = [some_tree(rng, 20) for _ in range(6)]
    packed = Model.of(boosted(trees))
    listed = replace(packed, trees=BoostedTrees(packed.trees))
    rows = rows_beside(trees, rng)
    assert np.array_equal(packed.numbers_of(rows), listed.numbers_of(rows))
    stages = zip(packed.staged_scores(table_of(rows)), listed.staged_scores(table_of(rows)), strict=True)
    assert all(np.array_equal(one, other) for one, other in stages)
    for kind in ("gain", "cover", "frequency"):
        # Packed trees keep no impurities, so the gains of the listed ones come from what was imported.
        whole = replace(packed, trees=BoostedTrees(loads(dumps(listed)).trees)) if kind != "gain" else packed
        assert whole.importances(kind).sum() == pytest.approx(1.0)
    assert listed.importances("cover") == pytest.approx(packed.importances("cover"))
    assert (
        listed.prune("rounds", n_rounds=2).predict(table_of(rows)).tolist()
        == packed.prune("rounds", n_rounds=2).predict(table_of(rows)).tolist()
    )


def table_of(rows):
    towns = [None if np.isnan(code) else [*"abc", "elsewhere"][int(code)] for code in rows[:, 2]]
    return {"x": rows[:, 0], "z": rows[:, 1], "town": towns}


def test_gains_and_covers_come_with_the_trees():
    rng = np.random.default_rng(4)
    trees = [some_tree(rng, 30, n_cuts) for n_cuts in (40, 100_000)]
    for some in (trees[:1], trees[1:]):
        tree = some[0]
        inner = tree.left >= 0
        by_column = np.bincount(tree.column[inner], tree.gain[inner], minlength=3)
        assert Model.of(boosted(some)).importances("gain") == pytest.approx(by_column / by_column.sum())


def test_without_gains_impurities_are_the_variance_of_what_leaves_say():
    tree = ForeignTree(
        np.array([1, 3, -1, -1, -1]), np.array([2, 4, -1, -1, -1]), np.array([0, 1, 0, 0, 0]), np.zeros(5),
        np.zeros(5, bool), np.array([[0.0], [0.0], [9.0], [1.0], [3.0]]), weight=np.array([0.0, 0.0, 4.0, 3.0, 1.0]),
    )  # fmt: skip
    found = tree_of(tree, SCHEMA, (), "tree")
    told = np.repeat([9.0, 1.0, 3.0], [4, 3, 1])
    assert found.impurity == pytest.approx([told.var(), told[4:].var(), 0, 0, 0])
    by_column = np.array([told.var() * 8 - told[4:].var() * 4, told[4:].var() * 4, 0])
    assert Model.of(boosted([tree])).importances("gain") == pytest.approx(by_column / by_column.sum())


def test_leaves_without_training_rows_can_be_explained():
    rng = np.random.default_rng(6)
    trees = [some_tree(rng, 40) for _ in range(9)]
    trees = [replace(tree, weight=1e4 * tree.weight * (rng.random(len(tree.weight)) < 0.3)) for tree in trees]
    model = Model.of(boosted(trees))
    rows = table_of(rows_beside(trees, rng, 3))
    found = model.explain(rows)
    assert found.values.sum(axis=1) + found.base == pytest.approx(model.predict(rows))


def test_unknown_levels_and_missing_cells_go_where_the_tree_says():
    tree = ForeignTree(
        np.array([1, -1, -1]), np.array([2, -1, -1]), np.array([2, 0, 0]), np.zeros(3), np.array([False] * 3),
        np.array([[0.0], [1.0], [2.0]]), levels={0: np.array([1])}, unseen_left=np.array([True, False, False]),
    )  # fmt: skip
    model = Model.of(boosted([tree]))
    cells = encode(model.schema, {"x": [1] * 4, "z": [1] * 4, "town": ["b", "a", None, "z"]}, unseen=model.unseen)
    assert model.numbers_of(cells)[:, 0].tolist() == [1.5, 2.5, 2.5, 1.5]


@given(cut=floats32, strict=st.booleans(), cells=st.lists(st.floats(allow_nan=False), max_size=5))
def test_the_cut_of_a_float32_parts_all_float64_as_the_rounded_ones(cut, strict, cells):
    cut = np.float32(cut)
    if strict and cut == -np.inf:
        return
    found = cut_of_float32(np.array([cut]), strict=strict)[0]
    beside = [found, np.nextafter(found, np.inf), np.nextafter(found, -np.inf), float(cut)]
    for cell in [*cells, *beside, float(cut) * 1.0000001, -0.0, 0.0, np.inf, -np.inf]:
        with np.errstate(over="ignore"):
            rounded = np.float32(cell)
        assert (cell <= found) == (rounded < cut if strict else rounded <= cut), cell


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"left": np.array([1, -1, -1, -1])}, "one branch|has no nodes"),
        ({"left": np.array([0, -1, -1])}, "two branches lead to"),
        ({"left": np.array([2, -1, -1])}, "two branches lead to"),
        ({"left": np.array([9, -1, -1])}, "leads nowhere"),
        ({"left": np.array([-1, -1, -1])}, "one branch"),
        ({"column": np.array([7, 0, 0])}, "column that does not exist"),
        ({"cut": np.array([np.nan, 0, 0])}, "nan as a cut"),
        ({"value": np.array([[0.0], [np.inf], [0.0]])}, "a leaf whose value is not a finite number"),
        ({"levels": {0: np.array([0])}}, "for levels, but it has none"),
        ({"column": np.array([2, 0, 0]), "levels": {0: np.array([3])}}, "a level that it does not have"),
        ({"value": np.array([[0.0], [1e301], [0.0]])}, "do not make a valid model"),
        ({"weight": np.array([0.0, np.nan, 1.0])}, "weight is not a finite number"),
        ({"weight": np.array([0.0, np.inf, 1.0])}, "weight is not a finite number"),
    ],
)
def test_what_is_no_tree_is_refused(change, said):
    tree = ForeignTree(
        np.array([1, -1, -1]), np.array([2, -1, -1]), np.zeros(3, int), np.zeros(3), np.zeros(3, bool),
        np.array([[0.0], [1.0], [2.0]]),
    )  # fmt: skip
    boosted([tree])
    with pytest.raises(InputFileError, match=said):
        boosted([replace(tree, **change)])


def test_a_chain_of_5000_levels_is_a_tree():
    n = 10_001
    node = np.arange(n)
    left = np.where((node % 2 == 0) & (node < n - 1), node + 1, -1)
    tree = ForeignTree(
        left, np.where(left < 0, -1, left + 1), np.zeros(n, int), -node.astype(float), np.zeros(n, bool),
        node.astype(float)[:, None],
    )  # fmt: skip
    model = Model.of(boosted([tree]))
    rows = np.zeros((3, 3))
    rows[:, 0] = [0.0, -5000.5, -99999]
    assert model.numbers_of(rows)[:, 0].tolist() == [0.5 + way(tree, row) for row in rows]


def test_a_column_of_too_many_cuts_is_not_packed():
    rng = np.random.default_rng(0)
    model = boosted([some_tree(rng, 1200, 100_000)])
    assert packed_of(list(model.trees), SCHEMA, "gradient", ()) is None


@pytest.mark.parametrize("n_cuts", [1, 254, 255, 508, 509])
def test_a_column_of_many_cuts_is_several_of_bins(n_cuts):
    n = 2 * (n_cuts + 1) + 1  # a chain: the last test asks whether there is a value
    node = np.arange(n)
    left = np.where((node % 2 == 0) & (node < n - 1), node + 1, -1)
    cut = np.where(node == n - 3, np.inf, node / 2.0)
    tree = ForeignTree(
        left, np.where(left < 0, -1, left + 1), np.zeros(n, int), cut, np.zeros(n, bool), node.astype(float)[:, None]
    )
    model = boosted([tree])
    found = repacked(list(model.trees), SCHEMA, "gradient", (), most_parts=4)
    assert found.sources.tolist() == [0] * -(-n_cuts // 254)  # only what is asked
    rows = np.zeros((3 * n_cuts + 70, 3))
    cells = np.arange(n_cuts, dtype=float)
    edges = [cells, np.nextafter(cells, np.inf), np.nextafter(cells, -np.inf), [np.nan, np.inf, -np.inf] * 20]
    rows[: 3 * n_cuts + 60, 0] = np.concatenate(edges)
    assert Model.of(model).numbers_of(rows)[:, 0].tolist() == [0.5 + way(tree, row) for row in rows]
