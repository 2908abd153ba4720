"""The asked column in the cards: its bars are the rows of the node, and no bar is on both sides of the cut."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

import treewright as tw
from treewright.reporting.tested_columns import N_STEPS
from treewright.show.page.render import json_for_script

X, Y = load_breast_cancer(return_X_y=True)
NX, NY = load_diabetes(return_X_y=True)


def tree_of(est, table, target, **options):
    return tw.report(est, table, target, examples=0, cv=None, **options).summary.tree


def branches(part, asked):
    """Weight of the bars between the cuts."""
    totals = np.sum(asked.parts, axis=0)
    edges = [0, *(round(cut) for cut in asked.cuts), len(totals)]
    return [totals[start:end].sum() for start, end in pairwise(edges)]


def rows_below(part, node):
    return [each.n_rows for each in part.nodes if each.parent == node]


def test_a_bar_for_each_whole_number_and_the_cut_between_two():
    table = {"size": [1, 2, 2, 3, 5, 6, 6, 6]}
    est = tw.DecisionTreeClassifier().fit(table, ["a", "a", "b", "a", "b", "b", "b", "b"])

    part = tree_of(est, table, ["a", "a", "b", "a", "b", "b", "b", "b"])

    asked = part.asked[0]
    assert part.nodes[0].question == "size <= 4"
    assert (asked.start, asked.width, asked.cuts, asked.ends) == (0, 1, (4,), (1, 6))
    assert asked.parts == ((1, 1, 1, 0, 0, 0), (0, 1, 0, 0, 1, 3))
    assert part.asked_codes == (0, 1)
    assert part.asked_rows == "training rows"


@pytest.mark.parametrize("slanted", [1.0, 1e-9, 1e9])
def test_bars_left_and_right_of_the_cut_hold_the_rows_of_the_branches(slanted):
    est = tw.DecisionTreeClassifier().fit(X * slanted, Y)

    part = tree_of(est, X[:50] * slanted, Y[:50])

    assert len(part.asked) == part.n_leaves - 1
    for asked in part.asked:
        assert branches(part, asked) == rows_below(part, asked.node)


def test_bars_of_levels_stand_branch_by_branch_and_few_levels_alone():
    rng = np.random.default_rng(0)
    table = {"town": [f"t{at}" for at in rng.integers(0, 60, 3000)]}
    target = np.where(np.array([int(name[1:]) % 3 for name in table["town"]]) == 0, "a", "b")
    est = tw.DecisionTreeClassifier(max_depth=1).fit(table, target)

    part = tree_of(est, table, target)

    asked = part.asked[0]
    assert branches(part, asked) == rows_below(part, 0)
    assert asked.levels.count(-1) == 2
    assert len(asked.levels) == 16
    sides = [part.nodes[0].test.branch_of[code] for code in asked.levels if code >= 0]
    assert sides == sorted(sides)


def test_many_branches_have_a_bar_each():
    table = {"sky": ["sun", "rain", "fog", "sun"]}
    est = tw.ID3Classifier().fit(table, ["out", "in", "no", "out"])

    asked = tree_of(est, table, ["out", "in", "no", "out"]).asked[0]

    assert asked.cuts == (1, 2)
    assert [sum(each) for each in zip(*asked.parts, strict=True)] == [1, 1, 2]


def test_numbers_have_a_grid_of_column_and_target():
    table = {"x": [0, 1, 2, 3]}
    est = tw.DecisionTreeRegressor(max_depth=1).fit(table, [0.0, 0.0, 10.0, 10.0])

    asked = tree_of(est, table, [0.0, 0.0, 10.0, 10.0]).asked[0]

    empty = "0" * (N_STEPS - 1)
    assert asked.grid == f"9{empty}" * 2 + f"{empty}9" * 2
    assert (asked.low, asked.high, asked.parts) == (0, 10, ())


def test_rows_without_a_value_are_counted_apart():
    table = {"x": [0.0, 1.0, 2.0, 3.0, np.nan, np.nan]}
    est = tw.DecisionTreeClassifier(max_depth=1).fit(table, list("aabbbb"))

    asked = tree_of(est, table, list("aabbbb")).asked[0]

    assert asked.missing == 2
    assert np.sum(asked.parts) == 4


def test_weights_count_as_the_caller_gave_them():
    table = {"x": [0, 1, 2, 3]}
    weights = [1.0, 2.0, 0.25, 0.125]
    est = tw.DecisionTreeClassifier(class_weight={"a": 10.0}).fit(table, list("aabb"), sample_weight=weights)

    asked = tree_of(est, table, list("aabb"), sample_weight=weights).asked[0]

    assert asked.parts == ((1, 2, 0, 0), (0, 0, 0.25, 0.125))


def test_a_model_without_its_rows_shows_the_judged_ones():
    est = tw.DecisionTreeClassifier(max_depth=2).fit(X[::2], Y[::2])

    part = tree_of(est.model_, X[1::2], Y[1::2])

    assert part.asked_rows == "test rows"
    assert np.sum(part.asked[0].parts) == len(Y[1::2])


def test_the_tree_in_place_of_many_shows_the_judged_rows_by_their_class():
    forest = tw.RandomForestClassifier(n_estimators=10).fit(X[::2], Y[::2])

    part = tree_of(forest, X[1::2], Y[1::2])

    assert part.asked_rows == "test rows"
    assert [sum(each) for each in part.asked[0].parts] == np.bincount(Y[1::2]).tolist()


def test_of_many_classes_the_commonest_are_told_apart():
    rng = np.random.default_rng(0)
    table, target = rng.normal(size=(400, 3)), rng.integers(0, 12, 400)
    est = tw.DecisionTreeClassifier(max_depth=2).fit(table, target)

    part = tree_of(est, table, target)

    assert len(part.asked_codes) == 9
    assert part.asked_codes[-1] is None
    assert np.sum(part.asked[0].parts) == 400


def test_a_tree_of_thousands_of_nodes_has_pictures_of_few():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(6000, 4))
    est = tw.DecisionTreeRegressor().fit(table, rng.normal(size=6000))

    part = tree_of(est, table[:500], rng.normal(size=500))

    assert part.n_nodes > 4000
    assert len(part.asked) == 200
    assert len(json_for_script(part.asked)) < 100_000


@pytest.mark.parametrize("cells", [
    [-1e308, -1e308, 1e308, 1e308], [1.0, np.nextafter(1.0, 2), np.nextafter(1.0, 2), 2.0], [0.0, 5e-324, 1e-323, 1.0],
    [1e15, 1e15 + 2, 1e15 + 4, 1e18],
])  # fmt: skip
@pytest.mark.parametrize("kind", [tw.DecisionTreeClassifier, tw.DecisionTreeRegressor])
def test_numbers_at_the_ends_of_floats_are_drawn_or_left_out(cells, kind):
    table = {"x": cells}
    est = kind().fit(table, [0, 1, 1, 0])

    part = tree_of(est, table, [0, 1, 1, 0])

    for asked in part.asked:
        assert np.isfinite([asked.start, asked.width]).all()
        if asked.parts:
            assert branches(part, asked) == rows_below(part, asked.node)
