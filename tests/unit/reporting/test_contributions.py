"""The section of contributions says what ``explain`` says, for the rows that the page shows."""

from __future__ import annotations

import numpy as np
import pytest

import treewright as tw
from treewright.explain.explanation import PAGE_COLUMNS, PAGE_OUTPUTS, PAGE_TERMS

RNG = np.random.default_rng(5)
N = 240
TABLE = {f"c{at}": RNG.normal(size=N) for at in range(14)} | {"kind": RNG.choice(["a", "b", "c"], N).tolist()}
NUMBER = TABLE["c0"] + 3 * np.sign(TABLE["c1"] * TABLE["c2"]) + 0.1 * RNG.normal(size=N)
CLASS = np.where(TABLE["c3"] > 0.5, "high", np.where(np.array(TABLE["kind"]) == "a", "low", "mid"))
FEW = {"n_estimators": 12, "random_state": 0}


def part_of(est, y, **options):
    return est.report(TABLE, y, **options).summary


@pytest.fixture(scope="module")
def boosted():
    est = tw.GradientBoostingRegressor(40, random_state=0).fit(TABLE, NUMBER)
    return est, part_of(est, NUMBER)


def test_rows_and_swarm_are_what_explain_says(boosted):
    est, summary = boosted
    found = est.explain(TABLE)
    part, [output] = summary.contributions, summary.contributions.outputs
    assert part.scale == "prediction"
    assert output.base == found.base
    names = [summary.columns[at].name for at in part.columns]
    assert len(names) == PAGE_COLUMNS
    for example, held in zip(summary.examples.rows, output.rows, strict=True):
        own = found.values[example.number]
        by_name = dict(zip(found.columns, own.tolist(), strict=True))
        assert all(
            by_name[summary.columns[at].name] == value for at, value in zip(held.columns, held.values, strict=True)
        )
        assert len(held.columns) <= PAGE_TERMS + 1
        assert output.base + sum(held.values) + held.rest == pytest.approx(example.shares[0][0], rel=1e-12)
        assert held.n_rest == np.count_nonzero(own) - len(held.columns)
    means = np.abs(found.values).mean(axis=0)
    assert names[:3] == [found.columns[at] for at in np.argsort(-means)[:3]]
    assert len(output.swarm[0]) == part.n_rows == 150
    assert output.means[0] == pytest.approx(np.abs(output.swarm[0]).mean(), rel=1e-3)


def test_the_pair_that_works_together_is_found(boosted):
    _, summary = boosted
    one, other, size = summary.contributions.pairs[0]
    assert {summary.columns[one].name, summary.columns[other].name} == {"c1", "c2"}
    assert size > 3 * summary.contributions.pairs[1][2]


def test_of_two_classes_there_is_the_second_of_many_some():
    two = CLASS == "high"
    summary = part_of(tw.RandomForestClassifier(**FEW).fit(TABLE, two), two)
    assert [output.name for output in summary.contributions.outputs] == ["True"]
    assert summary.contributions.scale == "share"
    many = np.array([f"k{at}" for at in np.digitize(TABLE["c0"], np.linspace(-1.5, 1.5, 8))])
    summary = part_of(tw.RandomForestClassifier(**FEW).fit(TABLE, many), many)
    assert len(summary.contributions.outputs) == PAGE_OUTPUTS
    assert summary.contributions.n_outputs == len(set(many))
    classes = sorted(set(many))
    for example, *held in zip(
        summary.examples.rows, *(output.rows for output in summary.contributions.outputs), strict=True
    ):
        for output, row in zip(summary.contributions.outputs, held, strict=True):
            share = example.shares[0][classes.index(output.name)]
            assert output.base + sum(row.values) + row.rest == pytest.approx(share, abs=1e-12)


def test_missing_cells_have_no_place():
    table = {**TABLE, "c0": [None, *TABLE["c0"][1:].tolist()]}
    est = tw.GradientBoostingRegressor(10).fit(table, NUMBER)
    part = est.report(table, NUMBER).summary.contributions
    places = [place for column in part.places for place in column if place is not None]
    assert 0.0 <= min(places) <= max(places) <= 1.0


def test_what_is_no_sum_says_why():
    medians = tw.AdaBoostRegressor(n_estimators=5).fit(TABLE, NUMBER)
    assert "median" in part_of(medians, NUMBER).contributions.why_not
    assert "There are no contributions" in medians.report(TABLE, NUMBER).html


def test_single_trees_and_neighbours_have_no_section():
    assert part_of(tw.DecisionTreeClassifier().fit(TABLE, CLASS), CLASS).contributions is None
    numbers = np.column_stack([TABLE["c0"], TABLE["c1"]])
    assert tw.KNeighborsClassifier().fit(numbers, CLASS).report(numbers, CLASS).summary.contributions is None


def test_without_examples_no_row_is_in_the_page():
    summary = part_of(tw.ExtraTreesClassifier(**FEW).fit(TABLE, CLASS), CLASS, examples=0)
    assert all(output.rows == () for output in summary.contributions.outputs)


def test_wide_tables_and_large_forests_leave_pairs_out(monkeypatch):
    wide = RNG.normal(size=(60, 80))
    y = wide @ RNG.normal(size=80)
    part = tw.GradientBoostingRegressor(60, min_samples_leaf=3).fit(wide, y).report(wide, y).summary.contributions
    assert part.pairs == ()
    assert "explain(X, order=2)" in part.notes[0]
    monkeypatch.setattr("treewright.reporting.ensemble.NODES_OF_PAIRS", 10)
    part = part_of(tw.RandomForestClassifier(**FEW).fit(TABLE, CLASS), CLASS).contributions
    assert part.pairs == ()
    assert "nodes" in part.notes[0]
