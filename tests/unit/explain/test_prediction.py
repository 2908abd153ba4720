"""One line says what is predicted and why: of explanations, their pages, reports and followed rows the same."""

from __future__ import annotations

import json

import numpy as np
import pytest

import treewright as tw
from treewright.reporting.document import report

RNG = np.random.default_rng(4)
X = {"a": RNG.normal(size=120).round(1), "b": RNG.normal(size=120).round(1)}
Y = np.where(X["a"] + RNG.normal(size=120) > 0.6, "bad", "good")
KINDS = {
    "tree": tw.DecisionTreeClassifier(max_leaf_nodes=6),
    "forest": tw.RandomForestClassifier(5, max_depth=3, random_state=0),
    "boosting": tw.GradientBoostingClassifier(20, learning_rate=0.3, min_samples_leaf=5, random_state=0),
}


def one(at):
    return {name: cells[at : at + 1] for name, cells in X.items()}


@pytest.mark.parametrize("at", [0.0965, 0.3, None])
@pytest.mark.parametrize("kind", KINDS)
def test_the_line_is_of_the_class_that_predict_gives_and_of_its_reason(kind, at):
    est = KINDS[kind].fit(X, Y)
    model = est.model_ if at is None else est.model_.with_threshold(at, positive="bad")
    said, bad = model.predict(X), model.predict_proba(X)[:, 0]
    lines = [str(model.explain(one(row))).splitlines()[0] for row in range(0, 120, 12)]
    for line, row in zip(lines, range(0, 120, 12), strict=True):
        own = bad[row] if said[row] == "bad" else 1 - bad[row]
        if at is None:
            assert line in (
                f"predicts {said[row]}: its probability {own:.3g} is the largest",
                f"predicts bad: its probability {own:.3g} is as large as that of good, and the first of equals is "
                "predicted",
            )
        elif said[row] == "bad":
            assert line == f"predicts bad: its probability {bad[row]:.3g} is at least the threshold {at}"
        else:
            assert line == f"predicts good: the probability {bad[row]:.3g} of bad is below the threshold {at}"
    assert len({line.split(":")[0] for line in lines}) == 2
    whole = model.explain(X)
    assert [whole.predictions.line(row) for row in range(0, 120, 12)] == lines
    assert whole.rows([24, 0]).predictions.line(0) == lines[2]


def test_numbers_have_no_reason_and_several_targets_have_their_names():
    table = {"a": [1.0, 2.0, 3.0, 4.0]}
    number = tw.DecisionTreeRegressor().fit(table, [1.0, 2.0, 3.0, 40.5]).explain({"a": [4.0]})
    assert str(number).splitlines()[0] == "predicts 40.5"
    labels = np.array([["x", "u"], ["x", "v"], ["y", "v"], ["y", "v"]])
    both = tw.DecisionTreeClassifier().fit(table, labels).explain({"a": [1.0]})
    assert str(both).splitlines()[0].count("is the largest") == 2
    alone = tw.DecisionTreeClassifier().fit(table, ["x"] * 4).explain({"a": [1.0]})
    assert str(alone).splitlines()[0] == "predicts x: the fit saw no other class"


def test_a_page_and_a_report_say_the_same_line():
    for kind, whose in (("tree", "the tree"), ("boosting", "all trees together")):
        model = KINDS[kind].fit(X, Y).model_.with_threshold(0.2, positive="bad")
        found = model.explain(X)
        page = found.rows(slice(0, 5)).html
        held = json.loads(page.split('id="summary">', 1)[1].split("</script>", 1)[0])
        rows = held["examples"]["rows"]
        lines = [f"predicts {row['said']}: {row['why']}" for row in rows]
        assert lines == [found.predictions.line(row) for row in range(5)]
        assert held["contributions"]["whose"] == whose
        summary = report(model, X, Y, cv=None, curves=()).summary
        for row in summary.examples.rows:
            assert f"predicts {row.said}: {row.why}" == found.predictions.line(row.number)
        if kind == "tree":
            for node in summary.tree.nodes:
                assert node.why.endswith("the threshold 0.2")
                assert node.why.startswith("its") == (node.said == "bad")
