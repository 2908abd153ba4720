"""Claims about the story of how a tree grew."""

from __future__ import annotations

import math

import pandas as pd
import polars as pl
import pytest

from treewright.explain.trace import MAX_LINES, Trace, trace_of
from treewright.grow.by_node.grower import Stops, retrace


def trace(grove):
    return trace_of(grove.model, grove.grown.trace)


def test_a_trace_tells_every_split_and_no_leaf(plant, tennis):
    grove = plant(*tennis, algorithm="id3", criterion="entropy", nominal_splits="multiway")
    steps = trace(grove)

    assert [(step.node, step.depth, step.column, step.n_samples) for step in steps] == [
        (0, 0, "outlook", 14),
        (3, 1, "humidity", 5),
        (2, 1, "wind", 5),
    ]
    assert sorted(step.node for step in steps) == [0, 2, 3]
    assert not grove.grown.tree.is_leaf[[step.node for step in steps]].any()


def test_a_step_agrees_with_the_audit_of_its_node(plant, tennis):
    grove = plant(*tennis, criterion="entropy", nominal_splits="multiway")
    step, audit = trace(grove)[0], grove.audit()

    assert (step.test, step.column) == (audit[0].test, audit[0].column)
    assert (step.gain, step.impurity) == (pytest.approx(audit[0].gain), pytest.approx(audit.whole.impurity))
    assert (step.runner_up, step.runner_up_gain) == (audit[1].column, pytest.approx(audit[1].gain))


def test_there_may_be_no_runner_up(plant):
    step = trace(plant({"x": [1.0, 2.0]}, ["a", "b"]))[0]

    assert step.runner_up is None
    assert math.isnan(step.runner_up_gain)
    assert "runner-up" not in str(trace(plant({"x": [1.0, 2.0]}, ["a", "b"])))


def test_a_trace_prints_as_an_indented_story(plant):
    text = str(trace(plant({"x": [1.0, 2.0, 3.0, 4.0], "z": [0.0, 1.0, 0.0, 1.0]}, ["a", "b", "c", "c"])))

    assert text.splitlines() == [
        "2 nodes split, in the order of growth; impurity: gini",
        "node 0: 4 rows, impurity 0.625; splits on x <= 2.5; gain 0.375; runner-up z (gain 0.125)",
        "  node 1: 2 rows, impurity 0.5; splits on x <= 1.5; gain 0.5; runner-up z (gain 0.5)",
    ]


def test_a_score_that_is_no_gain_is_told(plant, tennis):
    text = str(trace(plant(*tennis, algorithm="gain_ratio", criterion="entropy", nominal_splits="multiway")))

    assert "gain 0.247, gain ratio 0.156; runner-up humidity (gain 0.152, gain ratio 0.152)" in text


def test_a_winner_by_gain_ratio_with_the_lower_gain_shows_why_it_won(plant):
    # The levels of c tell all classes (gain 1.585, ratio 1); those of d as much, but for twice the split information.
    table = {"d": ["1", "2", "3", "4", "5", "6"], "c": ["p", "p", "q", "q", "r", "r"]}
    page = trace(plant(table, list("aabbcc"), algorithm="gain_ratio", criterion="entropy", nominal_splits="multiway"))

    assert "gain 1.58, gain ratio 1; runner-up d (gain 1.58, gain ratio 0.613)" in str(page)
    assert '<th style="text-align: left">its gain ratio</th>' in page._repr_html_()
    assert "0.613" in page._repr_html_()


def test_chaid_steps_show_the_adjusted_p_value_and_not_its_logarithm(plant):
    table = {"x": ["p"] * 20 + ["q"] * 20, "z": ["s", "s", "s", "t"] * 10}
    story = trace(plant(table, ["a"] * 15 + ["b"] * 20 + ["a"] * 5, algorithm="chaid"))

    # x: 15/5 and 5/15, statistic 10, p 0.00157; z: 15/15 and 5/5, no difference.
    assert "adjusted p 0.00157; runner-up z (gain 0, adjusted p 1)" in str(story)
    assert "score" not in str(story)


def test_a_traced_and_a_retraced_tree_tell_the_same(plant, tennis):
    grove = plant(*tennis, criterion="gini")
    again = trace_of(grove.model, retrace(grove.grown.tree, grove.problem, grove.policy))

    assert sorted(map(repr, again)) == sorted(map(repr, trace(grove)))


def test_a_pruned_tree_is_told(plant):
    grove = plant({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "b", "a", "b"])
    small = plant({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "b", "a", "b"], stops=Stops(max_depth=1))

    assert "pruned" not in str(trace(grove))
    pruned = trace_of(small.model, grove.grown.trace)
    told = "node numbers are those before pruning, which left 1 of 3 splits"
    assert pruned.header()[1] == pruned[:1].header()[1] == told


def test_a_trace_is_a_sequence_and_turns_into_columns(plant, tennis):
    story = trace(plant(*tennis, criterion="entropy", nominal_splits="multiway"))
    columns = story.to_dict()

    assert isinstance(story[1:], Trace)
    assert len(story[1:]) == 2
    assert columns["node"] == [step.node for step in story]
    assert pd.DataFrame(columns).shape == pl.DataFrame(columns).shape == (3, len(columns))
    assert repr(story) == "<treewright.Trace: 3 splits>"


def test_long_and_deep_traces_stay_short(plant):
    n = 600
    grove = plant({"x": list(range(n))}, [float(k) for k in range(n)], criterion="squared_error")
    text = str(trace(grove))

    assert len(trace(grove)) == n - 1
    assert len(text.splitlines()) == MAX_LINES + 2
    assert max(map(len, text.splitlines())) < 160
    assert trace(grove)._repr_html_().count("<tr>") == MAX_LINES + 2


def test_pages_are_escaped(plant):
    page = trace(plant({"<b>": [1.0, 2.0]}, ["a", "b"]))._repr_html_()

    assert "<b>" not in page
    assert "&lt;b&gt;" in page


def test_an_empty_trace_prints(plant):
    assert str(trace(plant({"x": [1.0, 1.0]}, ["a", "b"]))) == "0 nodes split, in the order of growth; impurity: gini"
