"""What the pruners that need no rows promise of every tree: of random ones and of those that the estimators grow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_models import draw
from rotating import examples
from same_trees import trees_equal

import treewright as tw
from treewright.predict.ensemble import predict_codes, predict_numbers
from treewright.prune.methods import prune_model
from treewright.trees.check import check_tree

TASKS = ("classification", "regression")
# What promises that a second pruning does nothing: all but pessimistic, whose subtrees are others then.
SETTLED = [
    ("minimum_error", {}),
    ("minimum_error", {"m": 12.0}),
    ("significance", {}),
    ("significance", {"adjust": "bonferroni"}),
    ("significance", {"adjust": "holm"}),
    ("significance", {"adjust": "fdr", "max_p_value": 0.2}),
    ("description_length", {}),
    ("merge_equal_leaves", {}),
]
GROWERS = (
    tw.ID3Classifier,
    lambda: tw.C45Classifier(confidence=None),
    lambda: tw.C45Classifier(confidence=None, nominal_splits="grouped"),
    lambda: tw.CHAIDClassifier(alpha=0.9, max_depth=5),
    lambda: tw.DecisionTreeClassifier(missing="surrogate"),
    lambda: tw.DecisionTreeClassifier(criterion="entropy", nominal_splits="multiway"),
    lambda: tw.CHAIDRegressor(alpha=0.9, max_depth=5),
    tw.DecisionTreeRegressor,
)


def is_within(after, before) -> bool:
    """Whether a tree is an upper part of another: the same nodes from the root down, some of them leaves now."""
    pairs = [(0, 0)]
    for one, other in pairs:  # grows as it runs
        if after.weight[one] != before.weight[other] or after.n_samples[one] != before.n_samples[other]:
            return False
        if after.is_leaf[one]:
            continue
        same = [getattr(after, name)[one] == getattr(before, name)[other] for name in ("kind", "feature", "threshold")]
        if not all(same) or after.n_branches[one] != before.n_branches[other]:
            return False
        firsts = int(after.first_child[one]), int(before.first_child[other])
        pairs += [(firsts[0] + branch, firsts[1] + branch) for branch in range(int(after.n_branches[one]))]
    return True


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(("method", "options"), [*SETTLED, ("pessimistic", {})])
@given(seed=st.integers(0, 2**32 - 1))
def test_a_pruned_tree_is_a_sound_upper_part(task, method, options, seed):
    if method == "pessimistic" and task == "regression":
        return
    model = draw(seed, task).model
    pruned, log = prune_model(model, method, **options)

    check_tree(
        pruned.trees[0], model.schema, pruned.trees[0].value.shape[1], n_classes=model.n_classes, missing="branch"
    )
    assert is_within(pruned.trees[0], model.trees[0])
    assert (log.n_leaves > 1).all()
    assert all(np.isfinite(column).all() for name, column in log.numbers.items() if name != "statistic")


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(("method", "options"), SETTLED)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_second_pruning_cuts_nothing_more(task, method, options, seed):
    once, _ = prune_model(draw(seed, task).model, method, **options)
    twice, log = prune_model(once, method, **options)

    assert len(log) == 0
    assert trees_equal(once.trees[0], twice.trees[0])


@pytest.mark.parametrize("adjust", [None, "bonferroni", "holm", "fdr"])
@pytest.mark.parametrize("task", TASKS)
@given(seed=st.integers(0, 2**32 - 1), limits=st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_a_larger_p_value_prunes_less_and_the_trees_are_nested(task, adjust, seed, limits):
    model = draw(seed, task).model
    small, large = (
        prune_model(model, "significance", max_p_value=limit, adjust=adjust)[0].trees[0] for limit in sorted(limits)
    )

    assert is_within(small, large)
    assert trees_equal(prune_model(model, "significance", max_p_value=1.0, adjust=adjust)[0].trees[0], model.trees[0])


@given(seed=st.integers(0, 2**32 - 1), errors=st.tuples(st.floats(0, 4), st.floats(0, 4)))
def test_more_standard_errors_prune_more_and_the_trees_are_nested(seed, errors):
    model = draw(seed, "classification").model
    large, small = (prune_model(model, "pessimistic", standard_errors=each)[0].trees[0] for each in sorted(errors))

    assert is_within(small, large)


@given(seed=st.integers(0, 2**32 - 1), noise=st.tuples(st.floats(0.01, 10), st.floats(0.01, 10)))
def test_more_noise_prunes_more_and_the_trees_are_nested(seed, noise):
    model = draw(seed, "regression").model
    large, small = (prune_model(model, "description_length", noise=each)[0].trees[0] for each in sorted(noise))

    assert is_within(small, large)


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("task", TASKS)
@given(seed=st.integers(0, 2**32 - 1))
def test_merging_changes_no_prediction(task, n_outputs, seed):
    drawn = draw(seed, task, n_outputs=n_outputs)
    model = drawn.model
    if task == "regression":
        tree = model.trees[0]
        model = replace(model, trees=(replace(tree, value=np.round(tree.value)),))
    merged, _ = prune_model(model, "merge_equal_leaves")
    matrix = drawn.matrix.copy()
    matrix[np.random.default_rng(seed).random(matrix.shape) < 0.3] = np.nan

    says = predict_codes if task == "classification" else predict_numbers
    assert np.array_equal(says(model, matrix), says(merged, matrix))
    tree = merged.trees[0]
    assert merged.trees[0].n_nodes <= model.trees[0].n_nodes
    # No siblings are left that are leaves and say the same, the node itself with them.
    said = np.stack([part.argmax(1) for part in np.split(tree.value, n_outputs, axis=1)], axis=1)
    said = said if task == "classification" else tree.value
    for node in np.flatnonzero(~tree.is_leaf):
        children = np.arange(tree.first_child[node], tree.first_child[node] + tree.n_branches[node])
        equal = (said[children] == said[children[0]]).all()
        own = task == "regression" or (said[node] == said[children[0]]).all()
        assert not (tree.is_leaf[children].all() and equal and own)


@given(seed=st.integers(0, 2**32 - 1))
def test_merging_where_rows_are_divided_changes_no_label_of_a_whole_row(seed):
    drawn = draw(seed, "classification", absent=0.2)
    merged, _ = prune_model(drawn.model, "merge_equal_leaves")
    whole = drawn.matrix[~np.isnan(drawn.matrix).any(axis=1)]

    assert np.array_equal(predict_codes(drawn.model, whole), predict_codes(merged, whole))


def table_of(seed: int):
    """Columns of each kind with missing cells, and a target."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 90))
    table = {
        "x": np.round(rng.random(n), 2).tolist(),
        "size": rng.choice(["S", "M", "L"], n).tolist(),
        "town": rng.choice(list("abcdef"), n).tolist(),
    }
    for name in ("x", "town"):
        for row in np.flatnonzero(rng.random(n) < 0.1):
            table[name][row] = None
    return table, (rng.integers(0, 3, n) + (np.array(table["size"]) == "S")).tolist(), rng.choice([1.0, 2.0], n)


@pytest.mark.parametrize("grower", range(len(GROWERS)))
@examples(5)
@given(seed=st.integers(0, 2**32 - 1))
def test_every_grower_s_trees_can_be_pruned(grower, seed):
    table, y, weights = table_of(seed)
    est = GROWERS[grower]()
    if isinstance(est, tw.ID3Classifier):
        table = {name: table[name] for name in ("size", "town")}
    est = est.fit(table, y, sample_weight=weights)
    whole = [row for row in range(len(y)) if all(column[row] is not None for column in table.values())]
    rows = {name: [column[row] for row in whole] for name, column in table.items()}

    for method, options in [*SETTLED, ("pessimistic", {})]:
        if method == "pessimistic" and not hasattr(est, "classes_"):
            continue
        pruned = est.prune(method, **options)
        assert pruned.get_n_leaves() <= est.get_n_leaves()
        assert is_within(pruned.tree_, est.tree_)
        if method == "merge_equal_leaves":
            assert np.array_equal(pruned.predict(rows), est.predict(rows))


@pytest.mark.parametrize("grower", [tw.CHAIDClassifier, tw.CHAIDRegressor])
@examples(5)
@given(seed=st.integers(0, 2**32 - 1))
def test_chaid_grows_only_what_is_significant(grower, seed):
    # Its own p-values are those of the same tables, times Bonferroni's multiplier.
    table, y, weights = table_of(seed)
    est = grower(alpha=0.3).fit(table, y, sample_weight=weights)

    assert est.prune("significance", max_p_value=0.3).get_n_leaves() == est.get_n_leaves()


@pytest.mark.parametrize("method", ["pessimistic", "minimum_error", "significance", "description_length"])
def test_a_weight_of_two_is_a_row_twice(method):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 4, (60, 2)).astype(float)
    y = np.where(rng.random(60) < 0.3, rng.integers(0, 2, 60), X[:, 0] > 1).astype(int)
    whole = tw.DecisionTreeClassifier().fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    twice = whole.prune(method)
    weighted = tw.DecisionTreeClassifier().fit(X, y, sample_weight=np.full(60, 2.0)).prune(method)

    assert twice.get_n_leaves() < whole.get_n_leaves()
    assert twice.tree_.value.tolist() == weighted.tree_.value.tolist()
    for name, column in twice.prune_log_.numbers.items():
        assert column.tolist() == weighted.prune_log_.numbers[name].tolist()
