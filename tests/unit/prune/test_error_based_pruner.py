"""Error-based pruning as a pruner: of C4.5's trees, of other trees, what it logs, what it refuses."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from naive_error_based import Twin, collapse, one_way
from random_trees import SCHEMA, flat, grow_at_random, random_matrix
from same_trees import trees_equal

import treewright as tw
from treewright.data.schema import Column, Schema
from treewright.exceptions import DataError, ParameterError
from treewright.model import Model
from treewright.prune.error_based import added_errors, error_based
from treewright.prune.methods import Rows
from treewright.trees.arrays import THRESHOLD, Tree
from treewright.trees.check_model import check_model
from treewright.trees.edit import collapse as cut_at

NAMES = ("training_as_leaf", "training_of_subtree", "estimated_as_leaf", "estimated_of_subtree", "estimated_of_branch")


def gini_of(counts):
    return 1.0 - ((counts / counts.sum(axis=1, keepdims=True)) ** 2).sum(axis=1)


def noisy_table(seed=0, n=300, absent=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] + 0.7 * rng.normal(size=n) > 0).astype(int) + (X[:, 1] > 1)
    X[rng.random(X.shape) < absent] = np.nan
    return X, y


def raised_table():
    """A first cut that buys little above a second that is right for all rows but one of two."""
    X = [[0, 0]] * 30 + [[0, 1]] * 29 + [[1, 0], [1, 1]]
    return np.array(X, float), np.array([0] * 30 + [1] * 29 + [0, 1])


def grown_badly():
    """The tree of `raised_table` with its first cut first, which no grower makes."""
    X, y = raised_table()
    impurities = gini_of(np.array([[31, 30], [30, 29], [1, 1], [30, 0], [0, 29]]))
    tree = Tree(
        kind=np.array([THRESHOLD, THRESHOLD, 0, 0, 0], np.uint8),
        feature=np.array([0, 1, -1, -1, -1], np.int32),
        threshold=np.array([0.5, 0.5, 0, 0, 0]),
        first_child=np.array([1, 3, -1, -1, -1], np.int32),
        n_branches=np.array([2, 2, 0, 0, 0], np.int32),
        missing_branch=np.zeros(5, np.int32),
        level_set=np.full(5, -1, np.int32),
        n_samples=np.array([61, 59, 2, 30, 29]),
        weight=np.array([61.0, 59, 2, 30, 29]),
        impurity=impurities,
        value=np.array([[31.0, 30], [30, 29], [1, 1], [30, 0], [0, 29]]),
        levels_left=np.zeros(0, np.uint64),
        levels_seen=np.zeros(0, np.uint64),
    )
    columns = (Column("x0", "numeric"), Column("x1", "numeric"))
    facts = {"criterion": "gini"}
    return Model("classification", Schema(columns, False), (tree,), (np.arange(2),), facts=facts), X, y


def test_a_tree_of_c45_pruned_afterwards_is_the_tree_pruned_at_fit():
    X, y = noisy_table(absent=0.1)
    for options in ({}, {"subtree_raising": False}, {"confidence": 0.05}):
        at_fit = tw.C45Classifier(**options).fit(X, y)
        grown = tw.C45Classifier(confidence=None).fit(X, y)

        afterwards = grown.prune("error_based", **options)

        assert trees_equal(afterwards.tree_, at_fit.tree_)
        assert trees_equal(grown.prune("error_based", X, y, **options).tree_, at_fit.tree_)
        assert grown.get_n_leaves() > at_fit.get_n_leaves()


def test_the_log_of_a_raised_subtree_shows_the_three_estimates():
    model, X, y = grown_badly()

    log = model.prune("error_based", X, y).prune_log

    assert [(cut.node, cut.action, cut.test) for cut in log] == [(0, "raise", "x0 <= 0.5")]
    numbers = log[0].numbers
    assert tuple(numbers) == NAMES
    assert numbers["estimated_as_leaf"] == pytest.approx(30 + added_errors(61, 30))
    assert numbers["estimated_of_subtree"] == pytest.approx(
        added_errors(30, 0) + added_errors(29, 0) + 1 + added_errors(2, 1)
    )
    assert numbers["estimated_of_branch"] == pytest.approx(added_errors(31, 0) + added_errors(30, 0))
    assert math.isnan(numbers["training_as_leaf"])
    assert math.isnan(log[0].rise)


def test_a_raised_subtree_of_a_gini_tree_holds_ginis_impurity_of_its_new_rows():
    model, X, y = grown_badly()

    pruned = model.prune("error_based", X, y)

    check_model(pruned)
    tree = pruned.trees[0]
    assert tree.value.tolist() == [[31, 30], [31, 0], [0, 30]]
    assert tree.impurity.tolist() == pytest.approx(gini_of(tree.value).tolist())
    assert tree.feature.tolist() == [1, -1, -1]


def test_without_raising_nodes_only_become_leaves_and_keep_their_numbers():
    X, y = noisy_table(absent=0.1)
    for options in ({"missing": "surrogate"}, {"missing": "fractional"}, {"criterion": gini_of}):
        est = tw.DecisionTreeClassifier(**options).fit(X, y)

        small = est.prune("error_based", subtree_raising=False)

        assert trees_equal(small.tree_, cut_at(est.tree_, small.prune_log_.nodes))
        assert set(small.prune_log_.actions) == {"leaf"}
        assert np.isnan(small.prune_log_.numbers["estimated_of_branch"]).all()
        check_model(small.model_)


def test_subtrees_without_fewer_training_errors_are_logged_once_at_the_top():
    # Every leaf says class 0.
    X, y = np.arange(8.0)[:, None], [0, 0, 1, 0, 0, 0, 1, 0]
    est = tw.DecisionTreeClassifier(criterion="gini", max_depth=2, min_samples_leaf=2).fit(X, y)
    assert est.get_n_leaves() > 2

    log = est.prune("error_based").prune_log_

    assert [(cut.node, cut.action) for cut in log] == [(0, "leaf")]
    assert (log[0].numbers["training_as_leaf"], log[0].numbers["training_of_subtree"]) == (2.0, 2.0)
    assert math.isnan(log[0].numbers["estimated_as_leaf"])


def test_trees_that_send_missing_values_one_way_are_pruned_as_the_twin_prunes_them():
    n_raised = n_cut = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(5, 90))
        matrix = random_matrix(rng, n, absent=0.2)
        signal = (np.nan_to_num(matrix[:, 0]) > 5) * 1 + (np.nan_to_num(matrix[:, 2]) > 1)
        codes = np.where(rng.random(n) < 0.2, rng.integers(0, 3, n), signal).astype(np.int32)
        weights = None if seed % 2 else rng.integers(1, 8, n) / 2.0
        rows = [(row, 1.0 if weights is None else float(weights[row])) for row in range(n)]
        nested = grow_at_random(rng, matrix, codes, rows, depth=int(rng.integers(1, 8)), own=bool(seed % 3))
        twin = Twin(matrix, codes, 0.25, True, divide=one_way, keeps_ways=True)
        twin.remake(nested, rows)
        drop_empty(nested)
        tree = flat(nested, matrix)
        model = Model(
            "classification", SCHEMA, (tree,), (np.arange(3),), missing="branch", facts={"criterion": "entropy"}
        )
        check_model(model)

        decision = error_based(model, Rows(matrix, codes[:, None], weights))

        collapse(nested)
        twin.prune(nested)
        expected = flat(nested, matrix)
        for name in ("kind", "feature", "threshold", "first_child", "n_branches", "missing_branch", "n_samples"):
            assert getattr(decision.tree, name).tolist() == getattr(expected, name).tolist(), name
        for name in ("level_set", "levels_left", "levels_seen", "level_branch", "cuts"):
            assert getattr(decision.tree, name).tolist() == getattr(expected, name).tolist(), name
        for name in ("weight", "value", "impurity"):
            assert getattr(decision.tree, name) == pytest.approx(getattr(expected, name), rel=1e-9, abs=1e-9), name
        assert decision.actions.count("raise") == twin.n_raised
        # Every question goes once, wherever it stood when it went.
        assert len(set(decision.nodes.tolist())) == len(decision.nodes)
        n_raised += twin.n_raised
        n_cut += decision.tree.n_nodes < tree.n_nodes
    assert n_raised > 10
    assert n_cut > 80


def drop_empty(node):
    """Make a leaf of every inner node that no row reaches."""
    if not node["rows"]:
        node["test"], node["children"] = None, []
    for child in node["children"]:
        drop_empty(child)


@pytest.mark.parametrize("missing", ["direction", "branch", "fractional"])
@pytest.mark.parametrize("nominal_splits", ["subset", "multiway"])
def test_leaves_hold_the_rows_that_prediction_sends_there(missing, nominal_splits):
    rng = np.random.default_rng(8)
    n = 400
    town = rng.choice(["Bonn", "Graz", "Linz", "Oslo", None], n)
    X = {"town": town.tolist(), "x": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)), "z": rng.normal(size=n)}
    y = np.where(rng.random(n) < 0.3, rng.integers(0, 2, n), (X["z"] > 0) ^ (town == "Graz"))
    est = tw.DecisionTreeClassifier(missing=missing, nominal_splits=nominal_splits).fit(X, y)

    small = est.prune("error_based")

    tree = small.tree_
    assert "raise" in small.prune_log_.actions
    shares = small.decision_path(X).toarray()
    counts = np.stack([shares[y == label].sum(axis=0) for label in (0, 1)], axis=1)
    reached = tree.n_samples > 0
    np.testing.assert_allclose(counts[reached], tree.value[reached], rtol=1e-9, atol=1e-9)
    check_model(small.model_)


def test_numbers_and_several_outputs_are_refused_with_what_to_use_instead():
    X, y = noisy_table()
    for est in (tw.DecisionTreeRegressor().fit(X, y), tw.DecisionTreeClassifier().fit(X, np.column_stack([y, y]))):
        with pytest.raises(ParameterError, match="use cost_complexity, or reduced_error"):
            est.prune("error_based")


def test_raising_is_refused_where_it_is_undefined_and_works_without():
    X, y = noisy_table(absent=0.1)
    whole = np.nan_to_num(X)
    cases = (
        (tw.DecisionTreeClassifier(missing="surrogate").fit(X, y), "surrogates"),
        (
            tw.DecisionTreeClassifier(criterion=gini_of).fit(X, y),
            "the criterion was a function, which a model does not hold",
        ),
        (tw.DecisionTreeClassifier(monotonic_cst=[1, 0, 0, 0]).fit(whole, y > 0), "monotonic_cst"),
        (
            tw.DecisionTreeClassifier(monotonic_cst={"x0": -1}).fit({"x0": whole[:, 0], "x1": whole[:, 1]}, y > 0),
            "monotonic",
        ),
    )
    for est, why in cases:
        with pytest.raises(ParameterError, match=f"{why}.*subtree_raising=False"):
            est.prune("error_based")
        assert est.prune("error_based", subtree_raising=False).get_n_leaves() < est.get_n_leaves()


def test_a_function_that_is_called_gini_is_not_taken_for_gini():
    def gini(tables):
        return gini_of(tables) / 2

    X, y = noisy_table()
    with pytest.raises(ParameterError, match="the criterion was a function, which a model does not hold"):
        tw.DecisionTreeClassifier(criterion=gini).fit(X, y).prune("error_based")


def test_rows_that_the_tree_was_not_grown_on_are_refused():
    X, y = noisy_table()
    est = tw.DecisionTreeClassifier().fit(X, y)
    for rows, target, weights in (
        (X[:-1], y[:-1], None),
        (X, y, np.full(len(y), 2.0)),
        (X[:, ::-1].copy(), y, None),
        (X, np.roll(y, 1), None),
    ):
        with pytest.raises(DataError, match="not the rows that the tree was fitted on"):
            est.prune("error_based", rows, target, weights)


def test_a_level_that_fit_never_saw_is_refused():
    X = {"town": list("abcabcabcabc"), "x": list(range(12))}
    y = [0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 0]
    est = tw.DecisionTreeClassifier(unseen="majority").fit(X, y)

    with pytest.raises(DataError, match="'town' has 1 cell"):
        est.prune("error_based", {"town": ["new", *X["town"][1:]], "x": X["x"]}, y)


@pytest.mark.parametrize(
    "options", [{"confidence": 0.6}, {"confidence": "a"}, {"confidence": True}, {"subtree_raising": 1}]
)
def test_options_outside_their_range_are_refused(options):
    X, y = noisy_table()
    with pytest.raises(ParameterError, match=next(iter(options))):
        tw.DecisionTreeClassifier().fit(X, y).prune("error_based", **options)


def test_class_weights_of_the_fit_count():
    X, y = noisy_table()
    est = tw.DecisionTreeClassifier(class_weight="balanced").fit(X, y)

    kept, passed = est.prune("error_based"), est.prune("error_based", X, y)

    assert trees_equal(kept.tree_, passed.tree_)
    assert kept.get_n_leaves() < est.get_n_leaves()


def test_leaves_are_made_without_the_rows_where_none_are_raised():
    X, y = noisy_table()
    for options in ({}, {"missing": "surrogate"}, {"criterion": gini_of}, {"missing": "fractional"}):
        X[::7, 0] = np.nan
        est = tw.DecisionTreeClassifier(**options).fit(X, y)
        loaded = pickle.loads(pickle.dumps(est))

        without = loaded.prune("error_based", subtree_raising=False)

        given = loaded.prune("error_based", X, y, subtree_raising=False)
        assert trees_equal(without.tree_, given.tree_)
        assert without.get_n_leaves() < est.get_n_leaves()
        assert trees_equal(loaded.model_.prune("error_based", subtree_raising=False).trees[0], without.tree_)


def test_rows_that_are_given_are_checked_where_none_are_needed():
    X, y = noisy_table()
    for options in ({}, {"missing": "surrogate"}, {"missing": "fractional"}):
        X[::7, 0] = np.nan
        est = tw.DecisionTreeClassifier(**options).fit(X, y)

        for rows in ((X[:-1], y[:-1]), (X, 1 - y % 2), (X, y, np.full(len(y), 1.5)), (X[::-1], y)):
            with pytest.raises(DataError, match="these are not the rows that the tree was fitted on"):
                est.prune("error_based", *rows, subtree_raising=False)


def test_trees_of_c45_need_their_rows_even_to_make_leaves():
    X, y = noisy_table(absent=0.1)
    est = pickle.loads(pickle.dumps(tw.C45Classifier(confidence=None).fit(X, y)))

    with pytest.raises(ParameterError, match="error_based needs the training rows"):
        est.prune("error_based", subtree_raising=False)
    with pytest.raises(ParameterError, match="training rows to raise subtrees, and for C4"):
        error_based(est.model_, None)


def test_weights_that_are_shares_of_one_are_warned_of():
    X, y = noisy_table()
    est = tw.DecisionTreeClassifier().fit(X, y, np.full(len(y), 1 / len(y)))

    with pytest.warns(tw.exceptions.DataWarning, match="add up to 1 for 300 rows"):
        assert est.prune("error_based").get_n_leaves() < est.prune("cost_complexity", alpha=0.0).get_n_leaves()
