"""Nearly optimal trees: counts that can be checked by hand, what is told of them, and what is refused."""

import json
import pickle
import re

import numpy as np
import pytest

import treewright as tw
from treewright.exceptions import ParameterError
from treewright.grow.optimal import near
from treewright.grow.optimal.search import Search
from treewright.trees.codec import dumps
from treewright.trees.facts import proof_of

XOR = {"left": [0, 0, 1, 1], "right": [0, 1, 0, 1]}
LAMP = ["dark", "light", "light", "dark"]


@pytest.fixture
def rng():
    return np.random.default_rng(8)


def test_xor_has_two_best_trees_and_each_needs_both_columns():
    near = tw.OptimalTreeClassifier(max_depth=2).fit(XOR, LAMP).near_optimal()
    assert (near.n_trees, len(near), near.least, near.in_every_tree, near.in_no_tree) == (
        2,
        2,
        0.0,
        ("left", "right"),
        (),
    )
    assert [column.root_share for column in near.columns] == [0.5, 0.5]
    assert [near[at].schema.names[near[at].tree_.feature[0]] for at in range(2)] == ["left", "right"]


def test_of_a_best_loss_of_zero_extra_loss_is_the_tolerance():
    # A second tree of either root leaves one side of the first as a leaf: one error in four rows. Sides and roots: 4.
    est = tw.OptimalTreeClassifier(max_depth=2).fit(XOR, LAMP)
    assert est.near_optimal(tolerance=0.9).n_trees == 2
    near = est.near_optimal(extra_loss=0.25)
    assert (near.n_trees, near.objectives) == (6, (0.0, 0.0, 0.25, 0.25, 0.25, 0.25))
    # Two errors: the leaf. A single test of either column gains nothing, and is not counted.
    assert est.near_optimal(extra_loss=0.5).n_trees == 7


def test_counts_are_exact_beyond_64_bits():
    copies = 30
    bits = np.array(np.meshgrid(*[[0, 1]] * 4)).reshape(4, -1).T
    near = (
        tw.OptimalTreeClassifier(max_depth=4).fit(np.repeat(bits, copies, 1), bits.sum(1) % 2).near_optimal(max_trees=1)
    )
    # The parity of k bits: any copy of any bit, and on both sides the parity of the others.
    expected = 1
    for k in range(1, 5):
        expected = k * copies * expected**2
    assert near.n_trees == expected > 2**63
    assert (near.n_distinct, near.n_alike) == (None, (1,))  # too many to list, but the best is found


def test_a_tolerance_is_the_decimal_number_that_is_written():
    y = np.arange(100) % 2
    wrong_10, wrong_17 = y.copy(), y.copy()
    wrong_10[:10], wrong_17[:17] = 1 - y[:10], 1 - y[:17]
    est = tw.OptimalTreeClassifier(max_depth=1).fit(np.column_stack([wrong_10, wrong_17]), y)
    assert 0.7 * 10 < 7.0 + 1e-15
    assert [est.near_optimal(tolerance=each).n_trees for each in (0.69, 0.7)] == [1, 2]


@pytest.mark.parametrize("kind", [tw.OptimalTreeClassifier, tw.OptimalTreeRegressor])
def test_more_tolerance_never_has_fewer_trees_and_the_best_is_the_optimum(kind, rng):
    X = rng.integers(0, 5, (40, 3)).astype(float)
    y = rng.integers(0, 2, 40) if kind is tw.OptimalTreeClassifier else rng.normal(size=40)
    est = kind(max_depth=2, ccp_alpha=0.01).fit(X, y)
    counts = []
    for tolerance in (0.0, 0.02, 0.05, 0.1, 0.3):
        near = est.near_optimal(tolerance=tolerance, distinct="tests")
        assert near.objectives[0] == near.least == pytest.approx(est.objective_, rel=1e-12)
        assert list(near.objectives) == sorted(near.objectives)
        assert near.objectives[-1] <= near.bound * (1 + 1e-12)
        counts.append(near.n_trees)
    assert counts == sorted(counts)
    assert counts[0] >= 1
    assert counts[-1] > counts[0]


def test_one_tree_of_each_arrangement_stands_for_those_alike(rng):
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    est = tw.OptimalTreeClassifier(max_depth=2).fit(X, y)
    near = est.near_optimal(tolerance=0.15, max_trees=10_000)
    assert sum(near.n_alike) == near.n_trees > near.n_distinct == len(near)
    every = est.near_optimal(tolerance=0.15, distinct="tests", max_trees=10_000)
    assert len(every) == every.n_trees == near.n_trees
    assert len({dumps(model) for model in every}) == len(every)


def test_order_of_rows_and_threads_do_not_change_the_bytes(rng):
    X, y = rng.integers(0, 6, (50, 3)), rng.integers(0, 3, 50)
    found = []
    for order, n_jobs in ((np.arange(50), 1), (rng.permutation(50), 3)):
        est = tw.OptimalTreeClassifier(max_depth=2, criterion="gini", n_jobs=n_jobs).fit(X[order], y[order])
        found.append([dumps(model) for model in est.near_optimal(tolerance=0.05, distinct="tests")])
    assert found[0] == found[1]
    assert len(found[0]) > 5


def test_disagreement_is_the_share_of_trees_against_the_most_or_the_spread_of_their_numbers():
    near = tw.OptimalTreeClassifier(max_depth=2).fit(XOR, LAMP).near_optimal(extra_loss=0.25)
    votes = np.array([tree.predict(XOR) for tree in near])
    assert near.disagreement(XOR).tolist() == [min(np.mean(row == "dark"), np.mean(row != "dark")) for row in votes.T]
    assert near.disagreement(XOR).max() > 0
    numbers = tw.OptimalTreeRegressor(max_depth=1).fit({"a": [1, 2, 3], "b": [1, 3, 2]}, [1.0, 2.0, 3.0])
    near = numbers.near_optimal(tolerance=10)
    assert np.array_equal(
        near.disagreement({"a": [2], "b": [2]}), np.std([tree.predict({"a": [2], "b": [2]}) for tree in near], 0)
    )


def test_every_tree_is_a_model_that_says_how_near_it_is(tmp_path, rng):
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    near = tw.OptimalTreeClassifier(max_depth=2).fit(X, y).near_optimal(tolerance=0.2)
    last = near[-1]
    assert np.mean(last.predict(X) != y) == pytest.approx(near.objectives[-1])
    assert near.objectives[-1] > near.least
    assert re.fullmatch(
        r"number \d+ of the trees near the optimum: the least loss is \d+\.\d % smaller", proof_of(last.facts)
    )
    assert proof_of(near[0].facts).startswith("proven")
    last.save(tmp_path / "last.tw")
    assert dumps(tw.load(tmp_path / "last.tw")) == dumps(last)
    assert tw.workbench.Session.from_model(last, X, y, held_out=0.0).model.tree_.n_leaves == last.tree_.n_leaves
    assert pickle.loads(pickle.dumps(near)).to_json() == near.to_json()


def test_the_page_runs_and_loads_nothing_and_escapes_names(tmp_path):
    X = {"<b>": [0, 0, 1, 1], "right": [0, 1, 0, 1]}
    near = tw.OptimalTreeClassifier(max_depth=2).fit(X, LAMP).near_optimal()
    near.save(tmp_path / "near.html")
    page = (tmp_path / "near.html").read_text()
    assert "script-src &#39;none&#39;" in page
    assert "<script" not in page
    assert "<b>" not in page
    assert page.count('<img src="data:image/svg+xml;base64,') == 2
    near.save(tmp_path / "near.json")
    held = json.loads((tmp_path / "near.json").read_text())
    assert (held["n_trees"], held["columns"][0]["name"], len(held["trees"])) == (2, "<b>", 2)
    with pytest.raises(ParameterError, match=r"name a page that ends in \.html"):
        near.save(tmp_path / "near.txt")


def test_what_cannot_be_counted_is_refused_with_what_to_do(rng, monkeypatch):
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 2, 80)
    est = tw.OptimalTreeClassifier(max_depth=3).fit(X, y)
    with pytest.raises(ParameterError, match="max_search=3: the search for the least loss ended without a proof"):
        est.near_optimal(max_search=3)
    small = tw.OptimalTreeClassifier(max_depth=2).fit(X, y)
    with pytest.raises(
        ParameterError, match=r"tolerance=3\.0: to count the trees within it takes more than max_search=40"
    ):
        small.near_optimal(tolerance=3.0, max_search=40)
    monkeypatch.setattr(near, "MOST_KEPT", 40)
    with pytest.raises(ParameterError, match="takes more than 5,000,000 tests"):
        small.near_optimal(tolerance=3.0)
    with pytest.raises(ParameterError, match="the tree was pruned"):
        est.prune("depth", max_depth=1).near_optimal()
    smallest = tw.OptimalTreeClassifier(objective="smallest").fit(XOR, LAMP)
    with pytest.raises(ParameterError, match="near_optimal counts the trees near the least loss"):
        smallest.near_optimal()
    with pytest.raises(ParameterError, match="with optimal_depth=1 those below are greedy"):
        tw.OptimalTreeClassifier(max_depth=2, optimal_depth=1).fit(XOR, LAMP).near_optimal()
    with pytest.raises(ParameterError, match=r"pass them, near_optimal\(X, y, sample_weight\)"):
        pickle.loads(pickle.dumps(est)).near_optimal()
    for given, told in (
        ({"tolerance": -0.1}, "tolerance=-0.1: give a number, 0 or more"),
        ({"tolerance": float("nan")}, "tolerance=nan"),
        ({"extra_loss": "x"}, "extra_loss='x'"),
        ({"distinct": "rows"}, "distinct='rows': choose from 'columns', 'tests'"),
        ({"max_trees": 0}, "max_trees"),
    ):
        with pytest.raises(ParameterError, match=told):
            est.near_optimal(**given)


def test_passed_rows_are_those_of_the_fit(rng):
    X, y, w = rng.integers(0, 4, (40, 3)), rng.integers(0, 2, 40), rng.integers(1, 4, 40)
    est = tw.OptimalTreeClassifier(max_depth=2, class_weight="balanced").fit(X, y, sample_weight=w)
    assert est.near_optimal(X, y, w).to_json() == est.near_optimal().to_json()


def test_ctrl_c_ends_the_search_and_the_count(monkeypatch):
    est = tw.OptimalTreeClassifier(max_depth=2).fit(XOR, LAMP)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Search, "solve", interrupted)
    with pytest.raises(KeyboardInterrupt):
        est.near_optimal()


def test_the_order_of_columns_does_not_change_the_count(rng):
    # A part of the rows is met again with more room for its trees.
    X, y = rng.integers(0, 3, (60, 4)), rng.integers(0, 2, 60)
    counts = set()
    for order in ([0, 1, 2, 3], [3, 1, 0, 2], [2, 3, 1, 0]):
        near = tw.OptimalTreeClassifier(max_depth=3).fit(X[:, order], y).near_optimal(tolerance=0.15, max_trees=1)
        counts.add(near.n_trees)
    assert len(counts) == 1
    assert min(counts) > 100


def test_the_best_arrangements_are_found_without_the_others(rng, monkeypatch):
    X, y = rng.integers(0, 3, (60, 5)), rng.integers(0, 2, 60)
    est = tw.OptimalTreeClassifier(max_depth=3, max_leaf_nodes=6).fit(X, y)
    every = est.near_optimal(tolerance=0.2, max_trees=10_000)
    assert every.n_distinct > 200
    monkeypatch.setattr(near, "_MOST_ARRANGED", 1)
    for most in (1, 7, 30):
        best = est.near_optimal(tolerance=0.2, max_trees=most)
        assert best.n_distinct is None
        assert "arrangement" in repr(best)
        assert [dumps(tree) for tree in best] == [dumps(tree) for tree in every[:most]]
        assert best.n_alike == every.n_alike[:most]
