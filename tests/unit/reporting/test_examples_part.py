from __future__ import annotations

import json
import math

import numpy as np
import pytest

import treewright as tw
from treewright.reporting.data import Options, report_data
from treewright.reporting.tree import examples_part
from treewright.show.page.render import plain
from treewright.show.page.tree import tree_part


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = {
        "x": rng.normal(size=300).tolist(),
        "town": rng.choice(["a", "b", "c"], 300).tolist(),
        "late": rng.choice([1.0, None], 300).tolist(),
    }
    y = np.where(np.array(X["x"]) + rng.normal(0, 0.7, 300) + (np.array(X["town"]) == "b") > 0, "yes", "no")
    return X, y


def some(rows, columns):
    return {name: [cells[row] for row in rows] for name, cells in columns.items()}


def examples_of(est, X, y, *, sample_weight=None, **options):
    judged = report_data(est.model_, est, X, y, sample_weight)
    return examples_part(judged, Options(**options), tree_part(est.model_))


@pytest.fixture(scope="module")
def fitted(table):
    X, y = table
    return tw.DecisionTreeClassifier(max_depth=4, min_samples_leaf=3).fit(some(range(150), X), y[:150])


@pytest.fixture(scope="module")
def judges(table):
    return some(range(150, 300), table[0]), table[1][150:]


def test_examples_are_rows_of_the_table_with_what_the_model_says(fitted, judges):
    X, y = judges
    rows = examples_of(fitted, X, y, examples=20).rows

    assert len(rows) == 20
    assert [row.number for row in rows] == sorted({row.number for row in rows})
    shares = fitted.predict_proba(X)
    for row in rows:
        assert row.truth == y[row.number]
        assert row.said == fitted.predict(some([row.number], X))[0]
        assert row.right == (row.truth == row.said)
        assert row.shares == (tuple(shares[row.number].tolist()),)
        assert row.cells[0] == X["x"][row.number]
        assert fitted.model_.schema.columns[1].levels[int(row.cells[1])] == X["town"][row.number]
        assert math.isnan(row.cells[2]) == (X["late"][row.number] is None)


def test_half_of_the_examples_are_wrong_answers_and_classes_take_turns(fitted, judges):
    rows = examples_of(fitted, *judges, examples=20).rows

    assert sum(not row.right for row in rows) == 10
    for right in (True, False):
        counts = [sum(row.truth == label and row.right == right for row in rows) for label in ("no", "yes")]
        assert abs(counts[0] - counts[1]) <= 1


def test_a_report_can_do_without_any_row_of_the_table(fitted, judges):
    part = examples_of(fitted, *judges, examples=0)

    assert part.rows == ()
    assert len(part.supports) == fitted.tree_.n_nodes


def test_more_examples_than_rows_are_all_rows(fitted, judges):
    assert [row.number for row in examples_of(fitted, *judges, examples=10**6).rows] == list(range(150))


def test_examples_are_drawn_by_the_seed(fitted, judges):
    drawn = [examples_of(fitted, *judges, examples=9, random_state=seed).rows for seed in (0, 0, 1)]

    assert repr(drawn[0]) == repr(drawn[1])
    assert [row.number for row in drawn[0]] != [row.number for row in drawn[2]]


def test_rows_of_weight_0_are_no_examples_and_the_others_keep_their_numbers(fitted, judges):
    X, y = judges
    weight = np.where(np.arange(150) % 3 == 0, 0.0, 1.0)
    rows = examples_of(fitted, X, y, sample_weight=weight, examples=150).rows

    assert [row.number for row in rows] == np.flatnonzero(weight).tolist()
    assert [row.truth for row in rows] == y[weight > 0].tolist()


def test_numbers_are_taken_from_the_nearest_to_the_farthest_answer(table):
    X, _ = table
    y = np.array(X["x"]) ** 3
    est = tw.DecisionTreeRegressor(max_depth=3).fit(X, y)
    rows = examples_of(est, X, y, examples=5).rows

    gone = np.abs(est.predict(X) - y)
    assert all(row.right is None for row in rows)
    assert {row.number for row in rows} >= {int(gone.argmin()), int(gone.argmax())}
    assert rows[0].shares[0][0] == est.predict(some([rows[0].number], X))[0]


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_intervals_are_those_of_the_rules(table, kind):
    X, labels = table
    y = labels if kind == "classes" else np.array(X["x"]) ** 3
    est = (tw.DecisionTreeClassifier if kind == "classes" else tw.DecisionTreeRegressor)(max_depth=4).fit(X, y)
    part = examples_of(est, X, y, examples=0)

    nodes = [node.id for node in tree_part(est.model_).nodes]
    held = dict(zip(nodes, part.supports, strict=True))
    rules = est.rules()
    assert [held[rule.leaf].intervals for rule in rules] == [(rule.interval,) for rule in rules]
    assert part.level == rules.level
    assert part.interval == ("Wilson" if kind == "classes" else "Student's t")


def test_a_criterion_without_a_variance_has_no_interval(table):
    X, _ = table
    y = np.array(X["x"]) ** 3
    est = tw.DecisionTreeRegressor(max_depth=2, criterion="absolute_error").fit(X, y)

    assert examples_of(est, X, y).interval == ""


def test_the_part_is_json(fitted, judges):
    text = json.dumps(plain(examples_of(fitted, *judges, examples=30)), allow_nan=False)

    assert len(text) < 20_000


def test_levels_that_no_row_of_a_node_had_are_told(full_model):
    est = tw.Model.of(full_model)
    judged = report_data(est, None, {"x": [1.0], "city": ["Bonn"], "size": ["S"]}, ["no"])
    tree = tree_part(est)

    supports = examples_part(judged, Options(), tree).supports

    absent = {node.id: support.absent for node, support in zip(tree.nodes, supports, strict=True)}
    assert {node: codes for node, codes in absent.items() if codes} == {1: (2,)}
    assert dict(zip([node.id for node in tree.nodes], (each.levels for each in supports), strict=True))[3] == ((1, 0),)


def test_of_a_wide_table_there_are_fewer_examples():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 1000)), rng.integers(0, 2, 60)
    est = tw.DecisionTreeClassifier(max_depth=2).fit(X, y)

    assert len(examples_of(est, X, y, examples=50).rows) == 20


def test_rows_have_the_names_of_an_index_that_does_not_count_from_0():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"wind": np.arange(12.0)})
    y = np.where(X["wind"] > 5, "in", "out")
    est = tw.DecisionTreeClassifier().fit(X, y)

    def names(table):
        return [row.name for row in tw.report(est, table, y, examples=4, cv=None).summary.examples.rows]

    named = X.set_axis([f"day {at}" for at in range(12)])
    rows = tw.report(est, named, y, examples=4, cv=None).summary.examples.rows
    assert [row.name for row in rows] == [f"day {row.number}" for row in rows]
    assert names(X) == names({"wind": X["wind"]}) == [""] * 4
