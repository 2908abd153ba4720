"""Five pruners that need no rows cut what their slow twins cut, on random trees of every kind of test."""

from __future__ import annotations

from functools import partial

import naive_pruning as naive
import numpy as np
import pytest
from random_models import draw, nodes_of
from random_trees import N_LEVELS
from rotating import few
from same_trees import trees_equal

from treewright.prune.description_length import description_length
from treewright.prune.estimates import merge_equal_leaves, minimum_error, pessimistic
from treewright.prune.methods import Decision
from treewright.prune.significance import significance
from treewright.trees.data import ModelData
from treewright.trees.edit import collapse

SEEDS = few(range(60), 12)
DIVIDED = [0.0, 0.2]  # share of missing cells; their rows are divided among the branches


def check(model: ModelData, decision: Decision, cut: list[int]) -> int:
    """The same nodes and the same tree; how many leaves went."""
    assert sorted(decision.nodes.tolist()) == sorted(cut)
    assert trees_equal(decision.tree, collapse(model.trees[0], cut))
    return model.trees[0].n_leaves - decision.tree.n_leaves


def check_both(gone: list[int]) -> None:
    """Some trees were cut and, of many, some were not: the comparison has seen both."""
    n_cut = sum(each > 0 for each in gone)
    assert n_cut
    assert n_cut < len(gone) or len(gone) < 40


@pytest.mark.parametrize("absent", DIVIDED)
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_pessimistic_cuts_as_its_twin(n_outputs, absent):
    gone = []
    for seed in SEEDS:
        drawn = draw(seed, "classification", n_outputs=n_outputs, weights=(0.5, 1.0, 3.0), absent=absent)
        per_leaf, errors = [(0.5, 1.0), (0.0, 0.0), (1.0, 0.5), (0.5, 3.0)][seed % 4]
        decision = pessimistic(drawn.model, errors_per_leaf=per_leaf, standard_errors=errors)
        gone.append(check(drawn.model, decision, naive.pessimistic(drawn.root, drawn.target, per_leaf, errors)))
    check_both(gone)


@pytest.mark.parametrize("absent", DIVIDED)
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_minimum_error_of_classes_cuts_as_its_twin(n_outputs, absent):
    gone = []
    for seed in SEEDS:
        drawn = draw(seed, "classification", n_outputs=n_outputs, weights=(0.5, 1.0, 3.0), absent=absent)
        m = [None, 0.0, 2.0, 12.5][seed % 4]
        cut = naive.minimum_error_of_classes(drawn.root, drawn.target, m)
        gone.append(check(drawn.model, minimum_error(drawn.model, m=m), cut))
    check_both(gone)


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_minimum_error_of_numbers_cuts_as_its_twin(n_outputs):
    gone = []
    for seed in SEEDS:
        drawn = draw(seed, "regression", n_outputs=n_outputs, weights=(0.5, 1.0, 3.0))
        m = [None, 0.5, 2.0, 12.5][seed % 4]
        cut = naive.minimum_error_of_numbers(drawn.root, drawn.target, 2.0 if m is None else m)
        gone.append(check(drawn.model, minimum_error(drawn.model, m=m), cut))
    check_both(gone)


@pytest.mark.parametrize("adjust", [None, "bonferroni", "holm", "fdr"])
@pytest.mark.parametrize(("task", "n_outputs"), [("classification", 1), ("classification", 2), ("regression", 1)])
def test_significance_cuts_as_its_twin(task, n_outputs, adjust):
    gone = []
    for seed in SEEDS:
        weights = (1.0, 2.0) if task == "classification" else (0.5, 1.0, 3.0)
        drawn = draw(seed, task, n_outputs=n_outputs, weights=weights)
        p_value = naive.p_value_of_classes if task == "classification" else naive.p_value_of_numbers
        limit = [0.05, 0.3, 0.001][seed % 3]
        cut = naive.significance(drawn.root, partial(p_value, target=drawn.target), limit, adjust)
        decision = significance(drawn.model, max_p_value=limit, adjust=adjust)
        gone.append(check(drawn.model, decision, cut))
        by_position = {node["at"]: node for node in nodes_of(drawn.root)}
        own = [p_value(by_position[at], drawn.target) for at in decision.nodes.tolist()]
        assert decision.numbers["p_value"] == pytest.approx(own, rel=1e-7, abs=1e-12)
    check_both(gone)


@pytest.mark.parametrize("absent", DIVIDED)
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_description_length_of_classes_cuts_as_its_twin(n_outputs, absent):
    gone = []
    for seed in SEEDS:
        drawn = draw(seed, "classification", n_outputs=n_outputs, weights=(0.25, 1.0, 7.0), absent=absent)
        cut = naive.description_of_classes(drawn.root, drawn.target, drawn.matrix, N_LEVELS)
        gone.append(check(drawn.model, description_length(drawn.model), cut))
    check_both(gone)


@pytest.mark.parametrize("noise", [0.1, 1.0, None])
def test_description_length_of_numbers_cuts_as_its_twin(noise):
    gone = []
    for seed in SEEDS:
        drawn = draw(seed, "regression", weights=(1.0, 1.0, 4.0))
        cut, used = naive.description_of_numbers(drawn.root, drawn.target, drawn.matrix, N_LEVELS, noise)
        decision = description_length(drawn.model, noise=noise)
        assert decision.numbers["noise"] == pytest.approx(np.full(len(decision.nodes), used))
        gone.append(check(drawn.model, decision, cut))
    check_both(gone)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_equal_leaves_are_merged_as_by_the_twin(task):
    gone = []
    for seed in SEEDS:
        drawn = draw(seed, task, n_outputs=1 + seed % 2 * (task == "classification"), weights=(0.5, 1.0))
        model, tree = drawn.model, drawn.model.trees[0]
        if task == "regression":
            # Few different numbers, so that neighbours agree.
            tree.value.flags.writeable = True
            tree.value[:] = np.round(tree.value / 2)
            tree.value.flags.writeable = False

        def says(node, model=model, tree=tree):
            value = tree.value[node["at"]]
            if not model.classes:
                return tuple(value)
            return tuple(int(np.argmax(value[at : at + 3])) for at in range(0, len(value), 3))

        cut = naive.merge_equal_leaves(drawn.root, says, names_own=task == "classification")
        decision = merge_equal_leaves(model)
        assert sorted(decision.nodes.tolist()) == sorted(cut)
        assert decision.tree.n_nodes == collapse(tree, cut).n_nodes
        gone.append(tree.n_leaves - decision.tree.n_leaves)
    check_both(gone)
