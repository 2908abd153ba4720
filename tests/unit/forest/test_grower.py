"""A forest around one tree: what is drawn, weighed, voted and refused, whatever the threads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from same_trees import trees_equal

from treewright.core import progress, threads
from treewright.data import memory
from treewright.data.bin_rows import bin_rows
from treewright.data.bins import bins_of
from treewright.data.row_content import row_order
from treewright.data.schema import Column, Schema
from treewright.data.target import factors_by_code
from treewright.exceptions import ParameterError, TooLargeError
from treewright.forest import grower
from treewright.forest.draws import Draws, candidate_columns
from treewright.forest.grower import ForestSettings, GrownForest, grow_forest, refuse_too_many
from treewright.forest.out_of_bag import mean_votes
from treewright.grow.settings import BinnedSettings
from treewright.predict.route import leaf_of
from treewright.trees.check import check_tree
from treewright.trees.data import ListedTrees
from treewright.trees.edit import level_order, rebuild
from treewright.trees.packed import PackedTrees, join

N, P = 300, 5
LEVELS = ("a", "b", "c", "d")
SCHEMA = Schema((*(Column(f"x{at}", "numeric") for at in range(P - 1)), Column("level", "nominal", LEVELS)))
rng = np.random.default_rng(3)
# Halves and few values, so that equal rows and ties are common.
TABLE = np.column_stack([rng.integers(0, 9, (N, P - 1)) / 2, rng.integers(0, 4, N)])
TABLE[rng.random((N, P)) < 0.05] = np.nan
SIGNAL = np.nan_to_num(TABLE[:, 0]) + 2 * (TABLE[:, -1] == 2)
LABELS = (SIGNAL + rng.normal(size=N) > 2.5).astype(np.int32)[:, None]
NUMBERS = (SIGNAL + rng.normal(size=N).round(1))[:, None]


def forest_of(table, target, weights=None, criterion=None, tree=None, exact=False, **options) -> GrownForest:
    """A forest on a table."""
    is_classes = target.dtype == np.int32
    criterion = criterion or ("gini" if is_classes else "squared_error")
    bins = bins_of(table, SCHEMA, weights)
    settings = ForestSettings(
        BinnedSettings(criterion, **(tree or {})),
        n_trees=options.pop("n_trees", 6),
        n_classes=(2,) if is_classes else (),
        **options,
    )
    return grow_forest(
        bin_rows(bins, table), table if settings.is_exact else None, bins, SCHEMA, target, weights, settings
    )


def same_forest(first: GrownForest, second: GrownForest) -> bool:
    """Whether two forests are the same to the last bit."""
    if isinstance(first.trees, PackedTrees) != isinstance(second.trees, PackedTrees):
        return False
    if isinstance(first.trees, PackedTrees):
        one, other = first.trees.arrays(), second.trees.arrays()
        same = all(one[name].tobytes() == other[name].tobytes() for name in one)
    else:
        same = all(map(trees_equal, first.trees, second.trees))
    if first.votes is None or second.votes is None:
        return same and first.votes is second.votes
    return same and np.array_equal(first.votes.sums, second.votes.sums)


BOOTSTRAP = {"n_draws": N, "out_of_bag": True}
KINDS = {
    "classes": (LABELS, {}, BOOTSTRAP),
    "numbers": (NUMBERS, {}, BOOTSTRAP),
    "columns per node": (LABELS, {"max_features": 2}, BOOTSTRAP),
    "columns per tree": (NUMBERS, {}, {**BOOTSTRAP, "max_features_per_tree": 3}),
    "extra-trees": (LABELS, {"max_features": 2, "random_cuts": True}, {}),
    "without replacement": (LABELS, {}, {"n_draws": 100, "replace": False, "out_of_bag": True}),
    "best first": (NUMBERS, {"max_leaf_nodes": 7}, BOOTSTRAP),
    "absolute error": (NUMBERS, {"criterion": "absolute_error", "max_depth": 4}, BOOTSTRAP),
    "absolute error and columns": (
        NUMBERS, {"criterion": "absolute_error", "max_depth": 4}, {**BOOTSTRAP, "max_features_per_tree": 2},
    ),
}  # fmt: skip


def forest_of_kind(kind: str, **changes) -> GrownForest:
    target, tree, options = KINDS[kind]
    tree = dict(tree)
    return forest_of(TABLE, target, criterion=tree.pop("criterion", None), tree=tree, **{**options, **changes})


@pytest.mark.parametrize("kind", KINDS)
def test_a_forest_is_the_same_for_any_number_of_threads(kind):
    alone = forest_of_kind(kind)
    assert len(alone.trees) == 6
    for n_threads in (2, 5, 9):
        assert same_forest(alone, forest_of_kind(kind, n_threads=n_threads))


@pytest.mark.parametrize("kind", KINDS)
def test_trees_grown_later_are_those_that_would_have_come_next(kind):
    whole = forest_of_kind(kind)
    first = forest_of_kind(kind, n_trees=2)
    rest = forest_of_kind(kind, n_trees=4, first_tree=2)
    votes = None if whole.votes is None else first.votes.plus(rest.votes)
    is_packed = isinstance(whole.trees, PackedTrees)
    trees = join([first.trees, rest.trees]) if is_packed else (*first.trees, *rest.trees)
    assert same_forest(whole, GrownForest(trees, votes, None))


@pytest.mark.parametrize("kind", KINDS)
def test_every_tree_is_valid_and_no_two_are_alike(kind):
    forest = forest_of_kind(kind)
    trees = list(forest.trees)
    for tree in trees:
        check_tree(tree, SCHEMA, tree.value.shape[1])
    assert not any(trees_equal(trees[0], tree) for tree in trees[1:])


def test_another_seed_grows_another_forest():
    assert not same_forest(forest_of_kind("classes"), forest_of_kind("classes", seed=1))


@pytest.mark.parametrize("kind", ["classes", "numbers", "absolute error", "columns per tree", "without replacement"])
def test_a_table_with_its_rows_shuffled_gives_the_same_trees(kind):
    target, tree, options = KINDS[kind]
    tree = dict(tree)
    mixed = np.random.default_rng(0).permutation(N)
    criterion = tree.pop("criterion", None)
    # Votes are on physical rows: of two equal rows the tree may have drawn the other one.
    options = {**options, "out_of_bag": False}
    forests = [
        forest_of(TABLE[some], target[some], criterion=criterion, tree=tree, **options)
        for some in (np.arange(N), mixed)
    ]
    if isinstance(forests[0].trees, PackedTrees):
        importances = [forest.trees.importances for forest in forests]
        assert np.allclose(*importances, rtol=1e-13, atol=1e-14)
        # Impurities of inner nodes are sums of squares, in the order of the rows.
        forests[1] = replace(forests[1], trees=replace(forests[1].trees, importances=importances[0]))
    assert same_forest(*forests)


def test_rows_that_share_bins_but_not_cells_are_told_apart_where_trees_grow_on_cells():
    table = np.random.default_rng(0).normal(size=(700, P))
    table[:, :-2] = 0.0
    table[:, -1] = 0.0
    target = (table[:, 3:4] > 0) * 1.0
    mixed = np.random.default_rng(1).permutation(700)
    options = {"criterion": "absolute_error", "n_draws": 50, "n_trees": 8}
    assert same_forest(forest_of(table, target, **options), forest_of(table[mixed], target[mixed], **options))


@pytest.mark.parametrize("criterion", ["gini", "squared_error", "absolute_error"])
@pytest.mark.parametrize("leaf", [1, 4])
@pytest.mark.parametrize("draws", [True, False])
def test_a_row_of_weight_k_grows_the_same_trees_as_k_equal_rows(criterion, leaf, draws):
    repeats = np.random.default_rng(1).integers(1, 4, N)
    target = LABELS if criterion == "gini" else NUMBERS
    many, many_target = np.repeat(TABLE, repeats, axis=0), np.repeat(target, repeats, axis=0)
    tree = {"min_samples_leaf": leaf, "min_samples_split": 7, "max_features": 3}
    options = {"n_draws": int(repeats.sum()) if draws else None, "criterion": criterion, "tree": tree}
    weighed = forest_of(TABLE, target, repeats.astype(np.float64), **options)
    repeated = forest_of(many, many_target, **options)
    for one, other in zip(weighed.trees, repeated.trees, strict=True):
        # Growth goes into the child with more rows first, and repeated rows are more: only the numbers of nodes differ.
        one, other = (rebuild(tree, level_order(tree), tree.is_leaf) for tree in (one, other))
        for name in ("kind", "feature", "threshold", "first_child", "levels_left", "n_samples", "weight", "value"):
            assert np.array_equal(getattr(one, name), getattr(other, name)), name


def test_a_tree_counts_a_row_as_often_as_it_was_drawn():
    forest = forest_of_kind("classes")
    for number, tree in enumerate(forest.trees):
        rows, counts = forest.draws.counts(number)
        assert int(tree.n_samples[0]) == N
        assert np.array_equal(tree.value[0], np.bincount(LABELS[rows, 0], weights=counts, minlength=2))


def test_trees_that_draw_see_the_rows_of_the_draws():
    forest = forest_of_kind("columns per node")
    order = row_order(bin_rows(forest.trees.bins, TABLE), LABELS, n_columns=P)
    draws = Draws(order, N, seed=0)
    assert all(np.array_equal(one, other) for one, other in zip(forest.draws.counts(4), draws.counts(4), strict=True))


@pytest.mark.parametrize("kind", ["classes", "numbers", "absolute error", "without replacement"])
def test_votes_are_those_of_a_second_pass_over_the_rows_left_out(kind):
    forest = forest_of_kind(kind, n_trees=25, n_threads=2)
    target = KINDS[kind][0]
    sums, n_votes = np.zeros((N, 2 if target is LABELS else 1)), np.zeros(N)
    for number, tree in enumerate(forest.trees):
        rows = forest.draws.left_out(number)
        said = tree.value[leaf_of(tree, TABLE[rows])]
        sums[rows] += said / said.sum(axis=1, keepdims=True) if target is LABELS else said
        n_votes[rows] += 1
    assert np.array_equal(forest.votes.n_votes, n_votes)
    assert np.allclose(mean_votes(forest.votes), sums / n_votes[:, None], rtol=0, atol=1e-11)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_a_tree_asks_only_for_the_columns_it_drew(criterion):
    forest = forest_of(
        TABLE, NUMBERS, criterion=criterion, n_draws=N, max_features_per_tree=2, tree={"max_depth": 5}, seed=8
    )
    for number, tree in enumerate(forest.trees):
        drawn = candidate_columns(8, number, P, 2).tolist()
        asked = set(tree.feature[tree.feature >= 0].tolist())
        assert asked
        assert asked <= set(drawn)


def test_monotone_columns_stay_monotone_where_a_tree_on_cells_drew_others():
    rising = np.nan_to_num(TABLE[:, 3:4]) + NUMBERS / 9
    forests = [
        forest_of(
            TABLE, rising, criterion="absolute_error", n_draws=N, max_features_per_tree=2,
            tree={"max_depth": 3, "monotone": monotone}, n_trees=12,
        )
        for monotone in (None, (0, 0, 0, -1, 0))
    ]  # fmt: skip
    may_fall = [
        tree.value[child, 0] >= tree.value[child + 1, 0]
        for forest in forests
        for tree in forest.trees
        for child in tree.first_child[tree.feature == 3]
    ]
    n_free = sum(int((tree.feature == 3).sum()) for tree in forests[0].trees)
    assert not all(may_fall[:n_free])
    assert all(may_fall[n_free:])


def test_class_factors_multiply_what_was_drawn():
    factors = (np.array([1.0, 2.5]),)
    forest = forest_of(TABLE, LABELS, n_draws=N, class_factors=factors, n_trees=3)
    for number, tree in enumerate(forest.trees):
        rows, counts = forest.draws.counts(number)
        expected = np.bincount(LABELS[rows, 0], weights=counts, minlength=2) * factors[0]
        assert np.allclose(tree.value[0], expected, rtol=1e-12)


def test_balanced_subsample_weighs_the_classes_of_each_draw_alike():
    classes = (np.array([0, 1]),)

    def balanced(codes, weights):
        return factors_by_code(["balanced"], codes, classes, weights)

    forest = forest_of(TABLE, LABELS, n_draws=N, n_trees=3, class_factors=balanced)
    for tree in forest.trees:
        assert np.allclose(tree.value[0], N / 2, rtol=1e-12)
        assert tree.n_samples[0] == N


def test_all_trees_see_all_rows_where_nothing_is_drawn():
    weights = np.random.default_rng(0).random(N) + 0.5
    forest = forest_of(TABLE, LABELS, weights, tree={"max_features": 1})
    assert forest.draws is None
    for tree in forest.trees:
        assert int(tree.n_samples[0]) == N
        assert np.isclose(tree.weight[0], weights.sum())


def test_one_row_is_enough():
    for n_draws in (1, None):
        forest = forest_of(TABLE[:1], NUMBERS[:1], n_draws=n_draws)
        assert [tree.n_nodes for tree in forest.trees] == [1] * 6


def test_progress_goes_up_to_the_end_and_never_back():
    news: list[float] = []
    with progress.listen(lambda done, what: news.append(done) if what == "growing" else None):
        forest_of_kind("classes", n_trees=9, n_threads=2)
        assert news == sorted(news)
        assert news[-1] == 1.0
        forest_of_kind("classes", n_trees=4)
    assert news[-5:] == [0.25, 0.5, 0.75, 1.0, 1.0]


def test_news_of_single_trees_are_not_taken_for_those_of_the_forest(monkeypatch):
    grow = grower.grow_packed

    def grow_and_tell(*args):
        progress.report(0.01, "growing")
        return grow(*args)

    monkeypatch.setattr(grower, "grow_packed", grow_and_tell)
    news: list[float] = []
    with progress.listen(lambda done, what: news.append(done)):
        forest_of(TABLE, NUMBERS, n_trees=2)
    assert news[-3:] == [0.5, 1.0, 1.0]
    assert 0.01 not in news


def test_a_billion_trees_are_refused_before_anything_is_grown(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 2**40)
    monkeypatch.setattr(grower, "grow_packed", None)
    with pytest.raises(TooLargeError, match="a forest of 1000000000 trees needs"):
        forest_of_kind("classes", n_trees=10**9)
    with pytest.raises(TooLargeError, match="nodes can be numbered"):
        refuse_too_many(2**31, 4)
    refuse_too_many(10_000, 50)


def test_trees_that_would_not_fit_are_refused_after_the_first_of_them(monkeypatch):
    grown = []
    grow = grower.grow_packed
    monkeypatch.setattr(grower, "grow_packed", lambda *args: grown.append(0) or grow(*args))
    monkeypatch.setattr(memory, "available_memory", lambda: 2 * 2**30)
    with pytest.raises(TooLargeError, match=r"a forest of 800000 trees of about \d+ nodes needs .* fewer trees"):
        forest_of_kind("numbers", n_trees=800_000, out_of_bag=False)
    assert len(grown) == 1


def test_votes_need_rows_that_are_left_out():
    with pytest.raises(ParameterError, match="bootstrap=True"):
        forest_of(TABLE, LABELS, out_of_bag=True)


def test_growth_on_cells_refuses_groups_of_columns():
    with pytest.raises(ParameterError, match="squared_error"):
        forest_of(TABLE, NUMBERS, criterion="absolute_error", tree={"interactions": ((0, 1),)})


def test_random_cuts_by_medians_know_groups_of_columns():
    groups = ((0, 1), (1, 2))
    grown = forest_of(TABLE, NUMBERS, criterion="absolute_error", tree={"random_cuts": True, "interactions": groups})
    assert isinstance(grown.trees, ListedTrees)
    assert max(tree.n_nodes for tree in grown.trees) > 3


def test_an_error_in_one_tree_ends_the_fit(monkeypatch):
    def fail(*args):
        raise RuntimeError("broken")

    monkeypatch.setattr(grower, "grow_packed", fail)
    for n_threads in (1, 3):
        with pytest.raises(RuntimeError, match="broken"):
            forest_of_kind("classes", n_threads=n_threads)
    assert not threads.is_busy()
