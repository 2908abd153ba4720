"""Hold-out losses and reduced-error pruning are those of their slow twin, on random trees of every kind of test."""

from __future__ import annotations

from dataclasses import replace

import naive_reduced_error as naive
import numpy as np
import pytest
from random_models import draw, nodes_of
from random_trees import random_matrix
from rotating import few
from same_trees import trees_equal

from treewright.predict.ensemble import leaf_table
from treewright.prune.estimates import reduced_error
from treewright.prune.losses import node_losses
from treewright.prune.methods import Rows
from treewright.trees.edit import collapse

SEEDS = few(range(40), 10)
EQUAL = 1e-12  # costs that were rounded in two ways
TASKS = {
    "misclassification": "classification",
    "squared_error": "regression",
    "absolute_error": "regression",
    "poisson": "regression",
}


def drawn(seed, loss, divides, n_outputs):
    """A model with its nested tree, and hold-out rows with cells missing and levels that fit never saw."""
    rng = np.random.default_rng(1000 + seed)
    made = draw(seed, TASKS[loss], n_outputs=n_outputs, absent=0.2 if divides else 0.0)
    model = made.model
    if loss == "poisson":
        positive = replace(model.trees[0], value=np.abs(model.trees[0].value) + 0.25)
        model = replace(model, trees=(positive,))
    n = int(rng.integers(2, 60))
    matrix = random_matrix(rng, n, 0.2, unseen=True)
    if TASKS[loss] == "classification":
        target = np.vstack([np.arange(n) % 3, *rng.integers(0, 3, (n_outputs - 1, n))]).T.astype(np.int32)
        target[:, 1:][:2] = [[0], [1]]
    else:
        target = np.round(rng.normal(1.0, 1.5, (n, n_outputs)), 1)
        target = np.abs(target) if loss == "poisson" else target
    weights = [None, rng.integers(1, 4, n).astype(float), rng.random(n) + 0.01][seed % 3]
    return made.root, model, Rows(matrix, target, weights)


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("divides", [False, True], ids=["one way", "divided"])
@pytest.mark.parametrize("loss", TASKS)
def test_losses_and_cuts_are_those_of_the_twin(loss, divides, n_outputs):
    n_cut = n_kept = 0
    for number, seed in enumerate([*SEEDS, *range(40)]):
        if number >= len(SEEDS) and n_cut and n_kept:
            break  # further tables only until one is cut and one is not cut to its root
        root, model, rows = drawn(seed, loss, divides, n_outputs)
        table = leaf_table(model)
        says = table.codes if model.task == "classification" else table.values
        weights = np.ones(len(rows.matrix)) if rows.weights is None else rows.weights

        losses = node_losses(model, rows, loss)
        decision = reduced_error(model, rows, loss=loss)

        cost, held = naive.costs_of(root, says, rows.matrix, rows.target, weights, loss, divides)
        places = range(len(nodes_of(root)))
        expected = np.array([float(cost.get(at, 0)) for at in places])
        np.testing.assert_allclose(losses.cost * losses.unit, expected, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(losses.weight, [float(held.get(at, 0)) for at in places], rtol=1e-12, atol=1e-15)
        least, cut = naive.reduced_error(root, cost, EQUAL)
        assert sorted(decision.nodes.tolist()) == sorted(cut)
        assert trees_equal(decision.tree, collapse(model.trees[0], cut))
        left = node_losses(replace(model, trees=(decision.tree,)), rows, loss)
        assert left.cost[decision.tree.is_leaf].sum() * left.unit == pytest.approx(float(least), rel=1e-9, abs=1e-12)
        n_cut += len(cut) > 0
        n_kept += decision.tree.n_nodes > 1
    assert n_cut
    assert n_kept


def test_costs_of_whole_weights_are_exact():
    for seed in SEEDS:
        root, model, rows = drawn(3 * seed, "misclassification", False, 1)
        cost, _ = naive.costs_of(
            root,
            leaf_table(model).codes,
            rows.matrix,
            rows.target,
            np.ones(len(rows.matrix)),
            "misclassification",
            False,
        )

        losses = node_losses(model, rows, "misclassification")

        assert losses.is_exact
        assert losses.cost.tolist() == [float(cost.get(at, 0)) for at in range(model.trees[0].n_nodes)]
