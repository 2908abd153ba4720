"""CHAID merges the levels of a column as the package CHAID does, and its tests have the same p-values."""

from __future__ import annotations

import pytest
from reference_chaid import ours_of, theirs_of
from reference_sets import figures, find

RUNS = [run for run in figures("chaid.json") if run["target"] == "categorical" and find(run["data"]) is not None]
# The package takes the last two groups there, ours the best step on the way to them.
STEPWISE = [run for run in RUNS if not run["options"].get("is_exhaustive")]
CASES = [(run, column) for run in STEPWISE for column, split in run["root"].items() if "groups" in split]
REFUSED = [(run, column) for run in STEPWISE for column, split in run["root"].items() if "reason" in split]
# The level 9 has five rows. The package, told that a branch needs ten, joins it and so comes to join others.
TOO_SMALL = ("breast_cancer_w", "Marginal_Adhesion")


def name_of(case):
    run, column = case
    return f"{run['data']} {run['kind']} {run['options']['min_child_node_size']} {column}"


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_groups_and_p_value_at_the_root_are_those_of_the_package(case):
    run, column = case
    theirs = theirs_of(run["root"][column])
    least = run["options"]["min_child_node_size"] if (run["data"], column) == TOO_SMALL else 1

    ours = ours_of(run, column, min_samples_leaf=least)

    assert ours.groups == theirs.groups
    assert ours.dof == theirs.dof
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-10)
    assert ours.p_value == pytest.approx(theirs.p_value, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("case", REFUSED, ids=name_of)
def test_a_column_that_the_package_refuses_is_left_with_two_groups_that_do_not_differ(case):
    run, column = case
    assert run["root"][column]["reason"] == "p-value greater than alpha merge"

    ours = ours_of(run, column)

    assert len(ours.groups) == 2
    assert ours.p_value > run["options"]["alpha_merge"]


def test_without_a_least_size_the_small_level_stays_alone():
    run = next(run for run in RUNS if run["data"] == TOO_SMALL[0])

    ours = ours_of(run, TOO_SMALL[1])

    assert frozenset({"9"}) in ours.groups
    assert find(TOO_SMALL[0]).X[TOO_SMALL[1]].count(9.0) == 5 < run["options"]["min_child_node_size"]


@pytest.mark.parametrize("column", ["buying", "maint", "doors", "persons", "lug_boot", "safety"])
def test_the_exhaustive_search_takes_the_best_step_and_the_package_the_last(column):
    run = next(run for run in RUNS if run["options"].get("is_exhaustive"))
    theirs = theirs_of(run["root"][column])

    ours = ours_of(run, column, exhaustive=True)

    assert len(theirs.groups) == 2
    if len(ours.groups) == 2:
        assert (ours.groups, ours.dof) == (theirs.groups, theirs.dof)
        assert ours.p_value == pytest.approx(theirs.p_value, rel=1e-9)
    else:
        assert ours.p_value < theirs.p_value
