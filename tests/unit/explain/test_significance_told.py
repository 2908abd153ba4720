"""Claims about what traces and audits say of nodes that are leaves because their best test is not significant."""

from __future__ import annotations

import math

import numpy as np
import pytest

import treewright as tw
from treewright.explain.audit import significance_text
from treewright.grow.by_node.significance import Chance

# Left of 5 rows of one class only; right of it chance.
TABLE = {"x": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], "z": [0, 1] * 6}
CLASSES = list("aaaaabbbbbab")


@pytest.fixture
def stopped():
    return tw.DecisionTreeClassifier(max_p_value=0.1, grow_trace=True).fit(TABLE, CLASSES)


def test_a_trace_tells_the_nodes_that_were_not_worth_a_split(stopped):
    trace = stopped.trace_

    # x <= 5: table 5/0 and 1/6, chi-squared 60/7, p 0.00341; 11 cuts of x and 1 of z make 0.041.
    # Right of it 0/5 and 1/1: chi-squared 35/12, p 0.0877; 6 cuts and 1 make 0.614.
    assert str(trace).splitlines() == [
        "1 node split, in the order of growth; impurity: gini",
        "1 node not split: the best test is not significant (max_p_value)",
        "node 0: 12 rows, impurity 0.5; splits on x <= 5.5; gain 0.357; runner-up z (gain 0.0556); "
        "significant: p 0.00341, adjusted 0.041 <= 0.1",
        "  node 2: 7 rows, impurity 0.245; stays a leaf, best test x <= 10.5; gain 0.102; runner-up z (gain 0.0544); "
        "not significant: p 0.0877, adjusted 0.614 > 0.1",
    ]
    assert [(step.node, step.is_split) for step in trace] == [(0, True), (2, False)]
    assert trace[1].p_value == pytest.approx(0.0876688)
    assert trace[1].adjusted_p_value == pytest.approx(7 * 0.0876688)
    assert repr(trace) == "<treewright.Trace: 1 split>"
    assert trace.n_grown == trace.n_split == 1


def test_pages_and_columns_tell_it_too(stopped):
    trace = stopped.trace_

    assert "not significant: p 0.0877, adjusted 0.614 &gt; 0.1</td>" in trace._repr_html_()
    assert trace.to_dict()["significance"][1] == "not significant: p 0.0877, adjusted 0.614 > 0.1"


def test_without_the_limit_nothing_is_said_of_significance():
    trace = tw.DecisionTreeClassifier(grow_trace=True).fit(TABLE, CLASSES).trace_

    assert "significan" not in str(trace) + trace._repr_html_()
    assert all(math.isnan(step.p_value) and step.is_split and not step.significance for step in trace)


def test_an_audit_says_why_the_node_is_a_leaf_also_after_loading(stopped, tmp_path):
    stopped.save(tmp_path / "model.tw")
    loaded = tw.load(tmp_path / "model.tw")
    reason = "its best test is not significant: p 0.0877, adjusted 0.614 > 0.1 (max_p_value)"

    assert loaded.facts["parameters"]["max_p_value"] == 0.1
    assert stopped.audit(2).leaf_reason == loaded.audit(TABLE, CLASSES, node=2).leaf_reason == reason
    assert f"The node is a leaf: {reason}." in str(stopped.audit(2))


def test_a_leaf_for_another_reason_is_not_said_to_be_insignificant():
    tree = tw.DecisionTreeClassifier(max_p_value=0.1, max_depth=1).fit(TABLE, CLASSES)

    assert "max_depth is 1" in tree.audit(2).leaf_reason
    assert "pure" in tree.audit(1).leaf_reason


def test_an_audit_of_a_file_with_a_limit_that_no_fit_writes_does_not_fail(stopped):
    for limit in ("0.1", 0.0, -1.0, 2.0, math.nan, [0.1]):
        facts = {**stopped.model_.facts, "parameters": {**stopped.model_.facts["parameters"], "max_p_value": limit}}
        model = tw.Model(**{**vars(stopped.model_), "facts": facts})

        assert "significant" not in model.audit(TABLE, CLASSES, node=2).leaf_reason


def test_only_the_columns_drawn_count_as_tests():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(50, 6))
    options = {"max_p_value": 0.9999, "grow_trace": True, "random_state": 1}
    target = X.sum(axis=1) > 0

    for n_drawn in (1, 2, 6):
        root = tw.DecisionTreeClassifier(max_features=n_drawn, **options).fit(X, target).trace_[0]
        assert root.adjusted_p_value == pytest.approx(min(root.p_value * n_drawn * 49, 1.0))


@pytest.mark.parametrize("kind", [tw.DecisionTreeClassifier, tw.DecisionTreeRegressor, tw.ID3Classifier])
def test_xor_stays_a_single_node(kind):
    one, two = np.repeat([0, 0, 1, 1], 100), np.repeat([0, 1, 0, 1], 100)
    table = {"one": np.where(one, "up", "down").tolist(), "two": np.where(two, "up", "down").tolist()}

    assert kind().fit(table, one ^ two).get_n_leaves() == 4
    assert kind(max_p_value=0.05).fit(table, one ^ two).get_n_leaves() == 1


def test_a_pruned_trace_counts_the_splits_alone():
    y = list("aaaaaabbbbbabbbbbbbb")
    tree = tw.C45Classifier(max_p_value=0.9, grow_trace=True).fit({"x": range(20)}, y)

    assert tree.trace_.n_grown == sum(step.is_split for step in tree.trace_)


@pytest.mark.parametrize(
    ("p", "n_tests", "text"),
    [
        (0.0500004, 1, "not significant: p 0.0500004 > 0.05"),
        (0.02500004, 2, "not significant: p 0.025, adjusted 0.0500001 > 0.05"),
        (0.025, 2, "significant: p 0.025, adjusted 0.05 <= 0.05"),
        (1e-9, 1e12, "not significant: p 1e-09, adjusted 1 > 0.05"),
    ],
)
def test_a_p_value_is_written_on_its_own_side_of_the_limit(p, n_tests, text):
    log_n = math.log(n_tests) if p <= 0.05 else math.nan
    limit = 0.05 if n_tests != 2 or p != 0.025 else math.nextafter(0.05, 1)

    assert significance_text(Chance(limit, math.log(p), log_n)) == text
