"""The audits on the page are those of the estimator, and stay away where there can be none."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import treewright as tw
from treewright.reporting import tree as audits
from treewright.reporting.data import report_data
from treewright.reporting.tree import tree_with_test_rows
from treewright.show.page.tree import tree_part


def table(seed=0, n=150):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] + X[:, 2] > 0.5)], X[:, 0] * X[:, 1]


def shown(est, X, y, weights=None, keep=True):
    judged = report_data(est.model_, est if keep else None, X, y, weights)
    return tree_with_test_rows(tree_part(est.model_), judged)


def audited(part):
    return {node.id: node.audit for node in part.nodes if node.audit}


CASES = {
    "cart": lambda X, y, numbers: tw.DecisionTreeClassifier(max_depth=4).fit(X, y),
    "weighted classes": lambda X, y, numbers: tw.DecisionTreeClassifier(class_weight="balanced", max_depth=3).fit(X, y),
    "c45": lambda X, y, numbers: tw.C45Classifier().fit(X, y),
    "chaid": lambda X, y, numbers: tw.CHAIDClassifier(alpha=0.5).fit(X, y),
    "numbers": lambda X, y, numbers: tw.DecisionTreeRegressor(max_depth=4).fit(X, numbers),
    "medians": lambda X, y, numbers: tw.DecisionTreeRegressor(criterion="absolute_error", max_depth=3).fit(X, numbers),
}


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("keep", [True, False], ids=["rows of the estimator", "test rows"])
def test_candidates_are_those_of_the_audit(kind, keep):
    X, y, numbers = table()
    est = CASES[kind](X, y, numbers)

    found = audited(shown(est, X, numbers if est.model_.task == "regression" else y, keep=keep))

    assert 0 in found
    assert all(not est.node(node).is_leaf for node in found)
    for node, candidates in found.items():
        audit = est.audit(node)
        rows = list(audit)[: audits.MAX_CANDIDATES]
        assert [each.question for each in candidates] == [row.test for row in rows]
        np.testing.assert_allclose([each.gain for each in candidates], [row.gain for row in rows], rtol=1e-12)
        np.testing.assert_array_equal([each.score for each in candidates], [row.score for row in rows])
        assert [each.chosen for each in candidates] == [row.test == audit.tree_test for row in rows]


def test_every_inner_node_of_a_small_tree_has_one_and_one_is_asked():
    X, y, _ = table()
    est = CASES["cart"](X, y, None)

    found = audited(shown(est, X, y))

    assert sorted(found) == np.flatnonzero(~est.tree_.is_leaf).tolist()
    assert all(sum(each.chosen for each in candidates) == 1 for candidates in found.values())


def test_rows_of_the_fit_are_audited_though_others_judge():
    X, y, _ = table()
    other, truth, _ = table(seed=1)
    est = CASES["cart"](X, y, None)

    assert audited(shown(est, other, truth)) == audited(shown(est, X, y))


def test_other_rows_alone_tell_no_audit():
    X, y, _ = table()
    other, truth, _ = table(seed=1)
    est = CASES["cart"](X, y, None)

    assert audited(shown(est, other, truth, keep=False)) == {}
    assert audited(shown(pickle.loads(pickle.dumps(est)), other, truth)) == {}
    assert audited(shown(pickle.loads(pickle.dumps(est)), X, y)) == audited(shown(est, X, y))


def test_trees_that_chose_by_chance_have_none():
    X, y, _ = table()
    est = tw.DecisionTreeClassifier(splitter="random", random_state=0).fit(X, y)

    assert audited(shown(est, X, y)) == {}


def test_only_the_nodes_with_most_rows_have_one():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
    est = tw.DecisionTreeClassifier().fit(X, y)
    tree = est.tree_

    found = audited(shown(est, X, y))

    assert len(found) == audits.MAX_AUDITS
    inner = np.flatnonzero(~tree.is_leaf)
    left_out = np.setdiff1d(inner, sorted(found))
    assert tree.n_samples[sorted(found)].min() >= tree.n_samples[left_out].max()


def test_what_would_take_long_is_left_out(monkeypatch):
    X, y, _ = table()
    est = CASES["cart"](X, y, None)
    monkeypatch.setattr(audits, "MAX_WORK", 4 * 100)  # cells: nodes of up to a hundred rows
    monkeypatch.setattr(audits, "WORK_OF_A_COLUMN", 0)

    found = audited(shown(est, X, y))

    assert 0 not in found
    assert found
    assert sum(int(est.tree_.n_samples[node]) for node in found) <= 100


def test_a_column_of_tens_of_thousands_of_levels_is_not_audited():
    """Every cut stands beside every level: of 30,000 that took minutes."""
    n = 6000
    X = {"id": [f"c{at:05d}" for at in range(n)], "x": np.arange(n) % 7}
    y = np.arange(n) // 9 % 2
    est = tw.DecisionTreeClassifier(nominal=["id"], max_depth=2).fit(X, y)

    part = shown(est, X, y)

    assert 0 not in audited(part)
    assert part.audit_note


def test_the_judged_rows_of_a_node_are_those_that_pass_it():
    X, y, numbers = table()
    other, truth, others_numbers = table(seed=1)
    for est, target in ((CASES["cart"](X, y, None), truth), (CASES["numbers"](X, None, numbers), others_numbers)):
        part = shown(est, other, target)
        path = est.decision_path(other).toarray().astype(bool)
        for node in part.nodes:
            rows = target[path[:, node.id]]
            if part.outputs[0]:
                expected = [(rows == label).sum() for label in est.classes_]
            else:
                expected = np.histogram(rows, np.array(part.edges))[0].tolist()
            assert list(node.judged) == expected


def test_the_histogram_of_extreme_numbers_has_finite_ends():
    X = np.arange(6.0)[:, None]
    y = np.array([-1.7e308, 0.0, 1.0, 2.0, 3.0, 1.7e308])
    est = tw.DecisionTreeRegressor(max_depth=1).fit(X, np.arange(6.0))

    part = shown(est, X, y)

    assert (part.edges[0], part.edges[-1]) == (-1.7e308, 1.7e308)
    assert np.isfinite(part.edges).all()
    assert sum(part.nodes[0].judged) == 6


def test_one_number_alone_is_one_cell():
    X = np.arange(6.0)[:, None]
    est = tw.DecisionTreeRegressor(max_depth=1).fit(X, np.arange(6.0))

    part = shown(est, X, np.full(6, 7.0))

    assert part.edges == (7.0, 7.0)
    assert part.nodes[0].judged == (6.0,)


def test_nodes_without_one_say_why():
    X, y, _ = table()
    est = tw.DecisionTreeClassifier().fit(X, y)
    drawn = tw.DecisionTreeClassifier(splitter="random", random_state=0).fit(X, y)

    assert shown(est, X, y).audit_note == ""
    assert shown(est, *table(1)[:2], keep=False).audit_note == audits.NO_ROWS
    assert shown(drawn, X, y).audit_note == audits.NO_CHOICE


def test_where_only_some_nodes_have_one_the_others_say_so(monkeypatch):
    X, y, _ = table()
    monkeypatch.setattr(audits, "MAX_AUDITS", 2)

    assert shown(tw.DecisionTreeClassifier().fit(X, y), X, y).audit_note == audits.SOME_AUDITS
