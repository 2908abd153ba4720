"""Growth on gradients makes the very tree that its slow, obvious twin makes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradient_tables import MISSING, GradientCase, draw_case, padded
from gradient_trees import GradientTwin, TwinNode
from hypothesis import given
from hypothesis import strategies as st

from treewright.boosting.growth import KeptTree, packed_trees
from treewright.grow.gradient.grower import GradientTree
from treewright.grow.settings import GradientSettings
from treewright.predict.walks import leaf_rows_of_bins

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(2, 60)
widths = st.integers(1, 5)
orders = st.sampled_from(["leaf", "level", "symmetric"])

PLANS: dict[str, dict[str, Any]] = {
    "plain": {"max_leaf_nodes": None},
    "few leaves": {"max_leaf_nodes": 5},
    "two leaves": {"max_leaf_nodes": 2},
    "levels": {"order": "level", "max_leaf_nodes": None},
    "levels, few leaves": {"order": "level", "max_leaf_nodes": 6, "l2": 1.0},
    "levels, shallow": {"order": "level", "max_depth": 2, "max_leaf_nodes": None},
    "shallow": {"max_depth": 3},
    "large leaves": {"min_samples_leaf": 4, "l2": 0.5},
    "heavy leaves": {"min_child_weight": 2.7, "level_l2": 0.0},
    "large and heavy leaves": {"min_samples_leaf": 3, "min_child_weight": 1.3, "max_leaf_nodes": None},
    "symmetric": {"order": "symmetric", "max_leaf_nodes": None},
    "symmetric, eleven leaves": {"order": "symmetric", "max_leaf_nodes": 11, "l2": 1.0},
    "symmetric, large and heavy leaves": {"order": "symmetric", "min_samples_leaf": 3, "min_child_weight": 1.3},
    "symmetric, l1": {"order": "symmetric", "max_depth": 3, "l1": 0.75, "min_gain": 2.0},
    "l1": {"l1": 1.25, "l2": 0.5},
    "l2": {"l2": 3.0, "level_smoothing": 1.0, "level_l2": 2.0},
    "gain": {"min_gain": 4.0, "level_smoothing": 0.0, "level_l2": 0.0},
    "drawn columns": {"features_per_level": 0.7, "features_per_node": 0.6, "max_leaf_nodes": None},
    "drawn for the tree": {"features_per_tree": 0.5, "features_per_level": 0.7},
    "drawn for levels": {"features_per_level": 0.4, "order": "level"},
}


def sets_of(words: np.ndarray) -> set[int]:
    return {b for b in range(256) if int(words[b >> 6]) >> (b & 63) & 1}


def difference(case: GradientCase, tree: GradientTree, twin: GradientTwin, nodes: list[TwinNode]) -> str:
    """The first difference, in words."""
    if tree.first_child.tolist() != [node.first_child for node in nodes]:
        return f"children {tree.first_child.tolist()}, the twin has {[node.first_child for node in nodes]}"
    for at, node in enumerate(nodes):
        if node.first_child < 0:
            continue
        test = node.test
        seen = twin.bins_seen(node)
        missing_left = test.missing_left if MISSING in seen else twin.unseen_go_left(node)
        mine = (int(tree.column[at]), int(tree.cut[at]), float(tree.gain[at]), int(tree.missing_branch[at]))
        its = (test.column, test.cut, test.gain, 0 if missing_left else 1)
        if mine != its:
            return f"node {at}: column, cut, gain, branch {mine}, the twin has {its}"
        is_nominal = bool(case.bins.is_nominal[test.column])
        if bool(tree.is_set[at]) != is_nominal:
            return f"node {at}: is_set {tree.is_set[at]}"
        if is_nominal:
            sets = sets_of(tree.sets[at]), sets_of(tree.seen[at])
            if sets != (twin.set_left(node), seen - {MISSING}):
                return f"node {at}: sets {sets}, the twin has {twin.set_left(node)}, {seen}"
    return leaf_difference(tree, twin, nodes)


def leaf_difference(tree: GradientTree, twin: GradientTwin, nodes: list[TwinNode]) -> str:
    leaves = [at for at, node in enumerate(nodes) if node.first_child < 0]
    if tree.leaves.tolist() != leaves:
        return f"leaves {tree.leaves.tolist()}, the twin has {leaves}"
    for at, number in enumerate(leaves):
        node = nodes[number]
        rows = sorted(tree.order[tree.begins[at] : tree.ends[at]].tolist())
        mine = (rows, tree.values[at], tree.covers[at], *tree.bounds[:, at])
        its = (node.rows, twin.value(node), twin.sums(node.rows)[1], node.low, node.high)
        if mine != its:
            return f"leaf {number}: rows, value, cover, bounds {mine}, the twin has {its}"
    return ""


def check(
    case: GradientCase,
    plan: dict[str, Any],
    *,
    chosen: np.ndarray | None = None,
    seed: int = 0,
    max_step: float = np.inf,
) -> None:
    plan = {"min_samples_leaf": 1, "min_child_weight": 0.0, **plan}
    rows = None if chosen is None else chosen.tolist()
    twin = GradientTwin(case, GradientSettings(**plan), rows, seed, max_step)
    tree = case.grow(chosen=chosen, seed=seed, max_step=max_step, **plan)
    assert not difference(case, tree, twin, twin.grow())
    # Rows that the tree was not grown on walk down it, and so must its own: to the leaves where they are.
    groups = [tree.order[begin:end] for begin, end in zip(tree.begins, tree.ends, strict=True)]
    own, place = np.concatenate(groups), np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    assert tree.leaves_of(padded(case.cells), own).tolist() == place.tolist()


@given(seed=seeds, n=sizes, p=widths)
def test_other_rows_end_where_the_packed_tree_leads_them(seed, n, p):
    case = draw_case(seed, n, p, unit=True, repeats=False)
    tree = case.grow(chosen=None, seed=seed, max_step=np.inf, min_samples_leaf=1, min_child_weight=0.0)
    packed = packed_trees(case.bins, [KeptTree(tree, tree.values)])
    n_bins, draws = case.bins.n_bins, np.random.default_rng(seed)
    codes = np.zeros((40, padded(case.cells).shape[1]), np.uint8)
    for column in range(p):  # bins, one of levels without rows, and missing cells
        most = int(n_bins[column]) + int(case.bins.is_nominal[column])
        codes[:, column] = draws.choice([*range(max(most, 1)), MISSING], 40)
    rows = draws.permutation(40).astype(np.int32)
    expected = leaf_rows_of_bins(packed, codes, rows, 0, as_positions=True)
    assert tree.leaves[tree.leaves_of(codes, rows)].tolist() == expected.tolist()


@pytest.mark.parametrize("plan", PLANS)
@given(seed=seeds, n=sizes, p=widths, unit=st.booleans(), repeats=st.booleans())
def test_trees_are_those_of_the_twin(plan, seed, n, p, unit, repeats):
    check(draw_case(seed, n, p, unit=unit, repeats=repeats), PLANS[plan], seed=seed)


@given(seed=seeds, n=sizes, p=widths, unit=st.booleans(), repeats=st.booleans(), order=orders)
def test_trees_under_monotone_constraints_are_those_of_the_twin(seed, n, p, unit, repeats, order):
    rng = np.random.default_rng(seed)
    case = draw_case(seed, n, p, unit=unit, repeats=repeats)
    signs = np.where(case.bins.is_nominal, 0, rng.integers(-1, 2, p))
    plan = {"monotone": tuple(signs.tolist()), "l1": float(rng.choice([0.0, 0.5])), "l2": float(rng.choice([0.0, 1.0]))}
    check(case, {"order": order, "max_leaf_nodes": 12, "min_samples_leaf": int(rng.integers(1, 4)), **plan})


@given(seed=seeds, n=sizes, p=widths, unit=st.booleans(), order=orders, signs=st.booleans())
def test_trees_whose_steps_have_a_bound_are_those_of_the_twin(seed, n, p, unit, order, signs):
    rng = np.random.default_rng(seed)
    case = draw_case(seed, n, p, unit=unit)
    monotone = np.where(case.bins.is_nominal, 0, rng.integers(-1, 2, p)) if signs else np.zeros(p, int)
    plan = {"order": order, "max_leaf_nodes": 12, "l2": float(rng.choice([0.0, 1.0])), "level_l2": 0.0}
    max_step = float(rng.choice([0.25, 1.0, 4.0]))
    check(case, {**plan, "monotone": tuple(monotone.tolist())}, max_step=max_step)


@given(seed=seeds, n=sizes, unit=st.booleans(), order=orders)
def test_trees_of_groups_of_columns_are_those_of_the_twin(seed, n, unit, order):
    rng = np.random.default_rng(seed)
    groups = tuple(tuple(np.flatnonzero(rng.random(5) < 0.5).tolist()) for _ in range(int(rng.integers(1, 4))))
    plan = {"interactions": groups, "order": order, "max_leaf_nodes": None}
    check(draw_case(seed, n, 5, unit=unit), {**plan, "features_per_node": float(rng.choice([1.0, 0.7]))}, seed=seed)


@given(seed=seeds, n=sizes, p=widths, unit=st.booleans(), repeats=st.booleans())
def test_trees_of_some_rows_are_those_of_the_twin(seed, n, p, unit, repeats):
    rng = np.random.default_rng(seed)
    case = draw_case(seed, n, p, unit=unit, repeats=repeats)
    chosen = np.flatnonzero(rng.random(n) < 0.6).astype(np.int32)
    if not len(chosen):
        chosen = np.zeros(1, np.int32)
    check(case, {"max_leaf_nodes": None, "min_samples_leaf": int(rng.integers(1, 4))}, chosen=chosen)


@given(seed=seeds, n=st.integers(20, 60), p=widths, repeats=st.booleans(), order=orders)
def test_rows_are_counted_where_hessians_say_nothing_of_their_number(seed, n, p, repeats, order):
    rng = np.random.default_rng(seed)
    case = draw_case(seed, n, p, unit=False, repeats=repeats)
    case.hessian = (2.0 ** rng.integers(-18, 1, n)).astype(np.float32)
    check(case, {"min_samples_leaf": int(rng.integers(2, 9)), "max_leaf_nodes": 16, "l2": 2.0**-10, "order": order})


@given(seed=seeds, n=sizes, p=st.integers(1, 3))
def test_no_allowed_test_gains_more_in_fractions_than_the_one_that_is_asked(seed, n, p):
    case = draw_case(seed, n, p, unit=False, ties=False)
    plan = GradientSettings(min_samples_leaf=2, min_child_weight=0.5, l2=0.375, level_l2=0.0, max_leaf_nodes=8)
    twin = GradientTwin(case, plan)
    twin.grow()
    tree = case.grow(min_samples_leaf=2, min_child_weight=0.5, l2=0.375, level_l2=0.0, max_leaf_nodes=8)
    for at, node in enumerate(twin.nodes):
        if node.first_child < 0:
            continue
        asked = twin.exact_worth(node, node.test.left, plan.l2)
        for column in range(p):
            for _, test in twin.offers(node, column):
                assert twin.exact_worth(node, test.left, plan.l2) <= asked * (1 + 10**-12)
        exact = asked - twin.exact_worth(node, node.rows, plan.l2)
        assert tree.gain[at] == pytest.approx(float(exact), rel=1e-9)
