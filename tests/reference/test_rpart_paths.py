"""The path by errors is rpart's table of complexities; where it is not, rpart's own figures say that ours is right."""

from __future__ import annotations

import numpy as np
import pytest
from reference_paths import our_table, path_of_rparts_tree, rparts_table
from reference_sets import figures

RUNS = figures("rpart_paths.json")
# Here rpart's numbers of some nodes are not those of the weakest link: see docs/numbers/agreement.md.
OTHER = ("tic_tac_toe", "credit_g", "auto_mpg")
SAME = [run for run in RUNS if run["data"] not in OTHER]
DIFFERENT = [run for run in RUNS if run["data"] in OTHER]


def name_of(run):
    return f"{run['data']} {run.get('split', '')}".strip()


@pytest.mark.parametrize("run", SAME, ids=name_of)
def test_the_path_is_rparts_table(run):
    assert our_table(run).is_like(rparts_table(run))


@pytest.mark.parametrize("run", RUNS, ids=name_of)
def test_our_tree_and_rparts_tree_have_one_path(run):
    assert our_table(run).is_like(path_of_rparts_tree(run))


@pytest.mark.parametrize("run", RUNS, ids=name_of)
def test_both_end_at_the_same_trees(run):
    ours, theirs = our_table(run), rparts_table(run)

    for end in (0, -1):
        assert (ours.n_splits[end], ours.error[end]) == (theirs.n_splits[end], pytest.approx(theirs.error[end]))


@pytest.mark.parametrize("run", DIFFERENT, ids=name_of)
def test_no_subtree_of_rparts_table_costs_less_and_some_cost_more(run):
    ours, theirs = our_table(run), rparts_table(run)
    ends = np.unique(np.concatenate([ours.cp, theirs.cp]))
    # Between the ends, where neither table changes its subtree.
    middles = (ends[1:] + ends[:-1]) / 2

    more = theirs.cost(middles) - ours.cost(middles)

    # Figures have twelve digits.
    assert (more > -1e-10).all()
    assert more.max() > 1e-7


@pytest.mark.parametrize("run", [run for run in DIFFERENT if run["data"] == "tic_tac_toe"], ids=name_of)
def test_rparts_own_table_has_a_cheaper_subtree_than_the_one_it_offers(run):
    theirs = rparts_table(run)
    # What each row's complexity ought to be: the error that its cut adds, a split.
    slopes = -np.diff(theirs.error) / np.diff(theirs.n_splits)

    off = np.flatnonzero(np.abs(slopes - theirs.cp[1:]) > 1e-6)

    assert theirs.n_splits[1:][off].tolist() == [45, 11, 6]
    # At a complexity of 0.035 it offers six splits; its row of eleven costs less.
    here = theirs.n_splits.tolist().index(6), theirs.n_splits.tolist().index(11)
    assert theirs.cost(0.035) == theirs.error[here[0]] + 0.035 * 6
    assert theirs.error[here[1]] + 0.035 * 11 < theirs.cost(0.035)
