"""C4.5 grows and prunes J48's trees, and divides rows with missing cells as J48 does."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from reference_sets import find
from reference_trees import (
    J48_OPTIONS,
    class_codes,
    class_shares,
    first_difference,
    fit_like_j48,
    shape_of,
    ten_fold_accuracies,
    whole_runs,
)
from same_trees import trees_equal

from treewright import C45Classifier
from treewright.exceptions import DataWarning

RUNS = [run for run in whole_runs("weka_j48.json") if find(run["data"]) is not None]
NAMES = [f"{run['data']} {run['options']}" for run in RUNS]
PRUNED = [run for run in RUNS if run["options"] in ("-C 0.25 -M 2", "-S")]
WITH_ROWS = [run for run in RUNS if "distribution" in run]
FOLDED = [run for run in RUNS if "ten_fold" in run and run["rows"] >= 100]


@pytest.mark.parametrize("run", RUNS, ids=NAMES)
def test_the_tree_is_that_of_j48(run):
    data = find(run["data"])

    model = fit_like_j48(data, run["options"])

    assert first_difference(shape_of(model), run["tree"]) is None
    assert (model.trees[0].n_nodes, model.trees[0].n_leaves) == (run["size"], run["leaves"])


@pytest.mark.parametrize("run", PRUNED, ids=lambda run: f"{run['data']} {run['options']}")
def test_a_tree_that_is_pruned_after_the_fit_is_that_of_j48(run):
    data = find(run["data"])
    options = J48_OPTIONS[run["options"]]
    with warnings.catch_warnings():
        # Some sets hold a column that is constant.
        warnings.simplefilter("ignore", DataWarning)
        grown = C45Classifier(confidence=None, nominal=data.levels).fit(data.X, data.y)

    pruned = grown.prune("error_based", **options)

    assert first_difference(shape_of(pruned.model_), run["tree"]) is None
    assert trees_equal(pruned.tree_, fit_like_j48(data, run["options"]).trees[0])


@pytest.mark.parametrize("run", RUNS, ids=NAMES)
def test_as_many_training_rows_are_wrong_as_with_j48(run):
    data = find(run["data"])

    predicted = fit_like_j48(data, run["options"]).predict(data.X)

    assert (predicted != data.y).sum() == run["training_errors"]


@pytest.mark.parametrize("run", WITH_ROWS, ids=lambda run: f"{run['data']} {run['options']}")
def test_class_shares_of_rows_with_missing_cells_are_those_of_j48(run):
    data = find(run["data"])

    shares = fit_like_j48(data, run["options"]).predict_proba(data.X)

    # Written with seven digits.
    np.testing.assert_allclose(shares, class_shares(run), rtol=0, atol=1e-7)
    np.testing.assert_array_equal(shares.argmax(axis=1), class_codes(run))


@pytest.mark.parametrize("run", FOLDED, ids=lambda run: f"{run['data']} {run['options']}")
def test_ten_fold_accuracy_comes_near_that_of_j48(run):
    # The folds are drawn by other programs; two standard errors of an accuracy over that many rows are the tolerance.
    ours, theirs, tolerance = ten_fold_accuracies(find(run["data"]), run)

    assert abs(ours - theirs) <= tolerance
