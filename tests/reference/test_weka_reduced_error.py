"""Reduced-error pruning: what hold-out rows cost at REPTree's nodes, and the trees that REPTree and J48 -R leave."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from reference_sets import figures, find
from reference_trees import first_difference, shape_of
from weka_models import figures_of, model_of, questions_of

import treewright as tw
from treewright.prune.losses import loss_of, node_losses
from treewright.prune.methods import Rows
from treewright.trees.check_model import check_model

RUNS = [run for run in figures("weka_reduced_error.json") if find(run["data"]) is not None]
REPTREE = [run for run in RUNS if run["program"] == "REPTree"]
J48 = [run for run in RUNS if run["program"] == "J48"]


def named(run):
    return f"{run['data']} {run['options']}"


def parts_of(run):
    """The rows that the program grew on, and those that it kept aside."""
    data = find(run["data"])
    held = [int(row) for row in run["held_out"].split()]
    return data.rows(sorted(set(range(run["rows"])) - set(held))), data.rows(held)


def test_sets_of_every_kind_are_compared():
    assert {run["data"] for run in REPTREE} >= {"tennis", "wine", "penguins", "vote", "credit_g", "auto_mpg"}
    assert sum(run["pruned"] != {} for run in REPTREE) > 10
    assert len(J48) == 8


@pytest.mark.parametrize("run", REPTREE, ids=named)
def test_hold_out_rows_cost_at_every_node_what_they_cost_in_reptree(run):
    grown_on, held = parts_of(run)
    model = model_of(run["grown"], grown_on)
    check_model(model)

    losses = node_losses(model, Rows(*model.encode_rows(held.X, held.y, routed=True)), loss_of(model))

    # Written with twelve digits.
    theirs = figures_of(run["grown"])
    np.testing.assert_allclose(losses.weight, [node["held"] for node in theirs], rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(losses.cost, [node["error"] for node in theirs], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("run", REPTREE, ids=named)
def test_every_node_says_what_it_says_in_reptree(run):
    grown_on, _ = parts_of(run)
    model = model_of(run["grown"], grown_on)

    for node, theirs in enumerate(figures_of(run["grown"])):
        value = model.trees[0].value[node]
        if "empty" in theirs:
            assert model.trees[0].n_samples[node] == 0
        elif model.task == "regression":
            assert value[0] == pytest.approx(theirs["says"], rel=1e-11)
        else:
            assert model.classes[0][value.argmax()] == theirs["says"]


@pytest.mark.parametrize("run", REPTREE, ids=named)
def test_the_same_tree_on_the_same_rows_is_cut_as_reptree_cuts_it(run):
    grown_on, held = parts_of(run)

    pruned = model_of(run["grown"], grown_on).prune("reduced_error", held.X, held.y)

    assert questions_of(pruned) == run["pruned"]


@pytest.mark.parametrize("run", J48, ids=named)
def test_c45_pruned_on_rows_kept_aside_is_j48_with_reduced_error(run):
    grown_on, held = parts_of(run)
    with warnings.catch_warnings():
        # A level that only the rows kept aside have.
        warnings.simplefilter("ignore", tw.exceptions.DataWarning)
        est = tw.C45Classifier(confidence=None, nominal=grown_on.levels).fit(grown_on.X, grown_on.y)

    pruned = est.prune("reduced_error", held.X, held.y)

    assert first_difference(shape_of(pruned.model_), run["pruned"]) is None
