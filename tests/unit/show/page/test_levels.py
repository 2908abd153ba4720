"""A page names so many levels of a column as a page can hold, and sends its rows the same ways."""

from __future__ import annotations

import numpy as np
import pytest

import treewright as tw
from treewright.data.derived import level_pairs, linear_score, rows_of_levels, with_derived
from treewright.data.encoder import encode_fit
from treewright.show.page import tree as page_levels
from treewright.show.page.tree import columns_in_words

N = 300


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    town = rng.integers(0, 60, N)
    X = {"town": [f"town {at:02d}" for at in town], "size": rng.normal(size=N).tolist()}
    X["town"][7] = None
    return X, np.where((town % 3 == 0) ^ (np.array(X["size"]) > 0.5), "yes", "no").tolist()


def reports(est, X, y, monkeypatch):
    """The summary with every level, and that with a dozen."""
    whole = est.report(X, y).summary
    monkeypatch.setattr(page_levels, "MOST_LEVELS", 12)
    return whole, est.report(X, y).summary


def ends_of(summary):
    """Where each row of a page ends by the page alone, as its scripts work it out."""
    below = {}
    for node in summary.tree.nodes:
        if node.parent is not None:
            below[node.parent, node.branch] = node
    found = []
    for row in summary.examples.rows:
        node = summary.tree.nodes[0]
        while node.test is not None:
            test, cell = node.test, row.cells[node.test.column]
            if np.isnan(cell):
                branch = test.missing
            elif test.kind == "levels":
                branch = test.branch_of[int(cell)] if cell < len(test.branch_of) else test.unseen
            else:
                branch = next((at for at, cut in enumerate(test.cuts) if cell <= cut), len(test.cuts))
            node = below[node.id, branch]
        found.append(node.id)
    return found


def test_rows_go_the_same_ways_and_hold_the_same_levels(table, monkeypatch):
    X, y = table
    est = tw.DecisionTreeClassifier(nominal=["town"], max_depth=5).fit(X, y)

    whole, less = reports(est, X, y, monkeypatch)

    assert ends_of(less) == ends_of(whole)
    names, fewer = whole.columns[0].levels, less.columns[0].levels
    assert len(names) == 60
    assert 12 <= len(fewer) < 60
    assert less.columns[0].unnamed == 60 - len(fewer)
    for one, other in zip(whole.examples.rows, less.examples.rows, strict=True):
        cell, now = one.cells[0], other.cells[0]
        assert np.isnan(cell) == np.isnan(now)
        assert np.isnan(cell) or names[int(cell)] == fewer[int(now)]
    for one, other in zip(whole.tree.asked, less.tree.asked, strict=True):
        shown = [["others", *names][code + 1] for code in one.levels]
        assert shown == [["others", *fewer][code + 1] for code in other.levels]
    for node, other in zip(whole.tree.nodes, less.tree.nodes, strict=True):
        if node.test is not None and node.test.kind == "levels":
            ways = dict(zip(names, node.test.branch_of, strict=True))
            assert [ways[name] for name in fewer] == list(other.test.branch_of)


def test_trees_of_a_forest_are_counted_anew_as_well(table, monkeypatch):
    X, y = table
    forest = tw.RandomForestClassifier(n_estimators=5, nominal=["town"], random_state=0).fit(X, y)

    whole, less = reports(forest, X, y, monkeypatch)

    n_levels = len(less.columns[0].levels)
    assert n_levels < len(whole.columns[0].levels)
    tests = [node.test for member in less.ensemble.members for node in member.tree.nodes if node.test is not None]
    assert {len(test.branch_of) for test in tests if test.kind == "levels"} == {n_levels}


def test_a_small_column_is_left_as_it_is(table):
    X, y = table
    summary = tw.DecisionTreeClassifier(nominal=["town"], max_depth=2).fit(X, y).report(X, y).summary

    assert page_levels.with_named_levels(summary) is summary
    assert summary.columns[0].unnamed == 0


def test_what_is_made_of_levels_counts_those_that_the_page_names():
    schema, matrix = encode_fit({"town": list("abcde") * 4, "kind": [*"xyxyzz", None] * 2 + list("xyzxyz")})
    score = linear_score("linear score", (0, 1), (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 10.0, 20.0, 30.0, 40.0))
    made = [rows_of_levels(schema, 0, matrix[:, 0], None), level_pairs(schema, 0, 1, matrix), score]
    wide = with_derived(schema, made)
    columns = columns_in_words(wide)
    keep = [1, 3]  # b and d
    places = {0: np.array([-1, 0, -1, 1, -1, 2])}

    assert page_levels._numbers(columns, 2, places) == (4.0, 4.0)
    assert page_levels._numbers(columns, 4, places) == (0.5, 2.0, 4.0, 6.0, 10.0, 20.0, 30.0, 40.0)
    known = page_levels._numbers(columns, 3, places)
    for level, number in zip(wide.columns[3].levels, known, strict=True):
        town, kind = level.split(" & ")
        where = "abcde".index(town)
        code = 3 if kind == "missing" else "xyz".index(kind)
        assert number == (keep.index(where) * 4 + code if where in keep else -1)
