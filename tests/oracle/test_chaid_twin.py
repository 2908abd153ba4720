"""CHAID grows the tree, and finds the p-values, of its slow twin in exact fractions."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from naive_chaid import NaiveChaid, Settings
from rotating import crossed, few

import treewright as tw
from treewright.data.schema import Column, Schema
from treewright.grow.by_node.chaid import ChaidPolicy, ChaidRules, bin_numbers
from treewright.grow.by_node.instances import all_instances
from treewright.grow.problem import class_problem, number_problem
from treewright.trees.check import check_tree

LEVELS = tuple("abcdefgh")
VARIANTS = {
    "kass": Settings(),
    "without correction": Settings(bonferroni=False),
    "merging little": Settings(alpha=0.3, alpha_merge=0.4),
    "merging a lot": Settings(alpha=0.2, alpha_merge=0.001),
    "exhaustive": Settings(alpha=0.3, exhaustive=True),
    "rows in a branch": Settings(alpha=0.4, alpha_merge=0.2, min_rows=6),
    "exhaustive with rows in a branch": Settings(alpha=0.5, exhaustive=True, min_rows=5),
    "likelihood ratio": Settings(alpha=0.2, likelihood_ratio=True),
    "few bins": Settings(alpha=0.3, n_bins=4),
}


def draw(seed, n_classes):
    """A small table: kinds with cells, target, weights. Targets depend on a level of a column or two."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(8, 70)), int(rng.integers(1, 4))
    columns = []
    signal = np.zeros(n)
    for _ in range(p):
        kind = str(rng.choice(["nominal", "ordinal", "numeric"]))
        if kind == "numeric":
            cells = [float(x) for x in rng.integers(-9, 9, n) * rng.choice([1.0, 0.25])]
        else:
            cells = [int(x) for x in rng.integers(0, rng.integers(1, len(LEVELS) + 1), n)]
        signal += np.array(cells) > np.median(cells)
        gone = rng.random(n) < rng.choice([0.0, 0.0, 0.2, 1.0], p=[0.4, 0.2, 0.35, 0.05])
        signal[gone] += rng.integers(0, 2)
        columns.append((kind, [None if missing else cell for cell, missing in zip(cells, gone, strict=True)]))
    noise = rng.random(n) < 0.35
    if n_classes:
        target = np.where(noise, rng.integers(0, n_classes, n), signal.astype(int) % n_classes)
    else:
        target = signal.astype(int) * 2 + noise * rng.integers(-3, 4, n)
    weights = rng.integers(1, 4, n) if rng.random() < 0.4 else np.ones(n, int)
    return columns, [int(y) for y in target], [int(w) for w in weights]


def estimator_of(settings, columns, is_classes):
    options = {
        "alpha": settings.alpha,
        "alpha_merge": settings.alpha_merge,
        "exhaustive": settings.exhaustive,
        "bonferroni": settings.bonferroni,
        "n_bins": settings.n_bins,
        "max_depth": settings.max_depth,
        "min_samples_leaf": settings.min_rows,
        "nominal": [f"x{i}" for i, (kind, _) in enumerate(columns) if kind == "nominal"],
        "ordinal": {f"x{i}": LEVELS for i, (kind, _) in enumerate(columns) if kind == "ordinal"},
        "numeric": [f"x{i}" for i, (kind, _) in enumerate(columns) if kind == "numeric"],
    }
    if not is_classes:
        return tw.CHAIDRegressor(**options)
    return tw.CHAIDClassifier(test="likelihood_ratio" if settings.likelihood_ratio else "pearson", **options)


def table_of(columns):
    return {
        f"x{i}": [cell if cell is None or kind == "numeric" else LEVELS[cell] for cell in cells]
        for i, (kind, cells) in enumerate(columns)
    }


def refuse_difference(twin, tree, leaf_of_row, at=0):
    """Compare a twin's node, and all below, with a node of a tree."""
    under = {at}
    for node in range(at + 1, tree.n_nodes):
        if int(tree.parent[node]) in under:
            under.add(node)
    assert [row for row, leaf in enumerate(leaf_of_row) if leaf in under] == twin.rows
    if twin.split is None:
        assert tree.is_leaf[at]
        return
    assert int(tree.feature[at]) == twin.split.column
    assert int(tree.n_branches[at]) == len(twin.below)
    for branch, below in enumerate(twin.below):
        refuse_difference(below, tree, leaf_of_row, int(tree.first_child[at]) + branch)


SEEDS = [
    pytest.param(few(range(60), 5), id="few"),
    pytest.param(range(60), id="many", marks=[pytest.mark.slow, pytest.mark.timeout(600)]),
]


@pytest.mark.filterwarnings("ignore::treewright.exceptions.DataWarning")  # drawn columns may be constant, or say all
@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize(("variant", "n_classes"), crossed(VARIANTS, [2, 3, 0]))
def test_tree_is_that_of_the_twin(variant, n_classes, seeds):
    settings = VARIANTS[variant]
    n_split = 0
    for seed in seeds:
        columns, target, weights = draw(1000 * n_classes + seed, n_classes)
        twin = NaiveChaid(columns, target, weights, n_classes > 0, settings).grow()
        table = table_of(columns)
        est = estimator_of(settings, columns, n_classes > 0).fit(table, target, weights)
        check_tree(
            est.tree_, est.model_.schema, est.tree_.value.shape[1], n_classes=est.model_.n_classes, missing="branch"
        )
        refuse_difference(twin, est.tree_, est.apply(table).tolist())
        n_split += twin.split is not None
    assert n_split


@pytest.mark.parametrize(("variant", "n_classes"), crossed(VARIANTS, [2, 3, 0]))
def test_groups_and_p_values_of_every_column_are_those_of_the_twin(variant, n_classes):
    settings = VARIANTS[variant]
    n_columns = 0
    for seed in few(range(60)):
        columns, target, weights = draw(7000 + 1000 * n_classes + seed, n_classes)
        twin = NaiveChaid(columns, target, weights, n_classes > 0, settings)
        expected = {split.column: split for split in twin.splits(list(range(len(target)))) if split is not None}
        found = candidates_of(columns, target, weights, n_classes, settings)
        assert [candidate.feature for candidate in found] == sorted(expected)
        for candidate in found:
            split = expected[candidate.feature]
            assert candidate.n_branches == len(split.groups) == candidate.notes["groups"]
            assert candidate.notes["statistic"] == pytest.approx(split.statistic, rel=1e-9, abs=1e-9)
            assert candidate.notes["unadjusted_p_value"] == pytest.approx(split.p, rel=1e-9)
            assert candidate.p_value == pytest.approx(split.adjusted, rel=1e-9)
            assert candidate.score == pytest.approx(
                -math.log10(split.adjusted) if split.adjusted else math.inf, abs=1e-8
            )
            n_columns += 1
    assert n_columns


def candidates_of(columns, target, weights, n_classes, settings):
    schema = Schema(
        tuple(
            Column(
                f"x{i}", kind, () if kind == "numeric" else LEVELS, family="number" if kind == "numeric" else "string"
            )
            for i, (kind, _) in enumerate(columns)
        )
    )
    matrix = np.array([cells for _, cells in columns], np.float64).T
    y = np.array(target)[:, None]
    if n_classes:
        problem = class_problem(
            matrix, schema, y.astype(np.int32), [n_classes], np.array(weights, float), "branch", cut_ordinal=False
        )
    else:
        problem = number_problem(matrix, schema, y.astype(float), np.array(weights, float), "branch", cut_ordinal=False)
    rules = ChaidRules(
        settings.alpha, settings.alpha_merge, settings.min_rows, settings.exhaustive, settings.bonferroni,
        "likelihood_ratio" if settings.likelihood_ratio else "pearson",
    )  # fmt: skip
    binned = bin_numbers(problem, settings.n_bins)
    return ChaidPolicy(binned, rules).candidates(all_instances(binned))


def test_twin_splits_a_table_that_is_worked_out_by_hand():
    # 2 x 2 with 8 and 2 against 2 and 8: chi-squared 20 (64 - 4)^2 / 10^4 = 7.2
    columns = [("nominal", [0] * 10 + [1] * 10)]
    target = [0] * 8 + [1] * 2 + [0] * 2 + [1] * 8
    root = NaiveChaid(columns, target, [1] * 20, True, Settings()).grow()
    assert root.split.statistic == 7.2
    assert root.split.groups == [[0], [1]]
    assert NaiveChaid(columns, target, [1] * 20, True, replace(Settings(), alpha=0.001)).grow().split is None


def test_a_new_group_is_seen_by_the_groups_before_it():
    # A merger lowers the p-value of the pair that a lower group remembers, because a class joins: it must look again.
    cells = [2, 4, 1, 0, 4, 2, 2, 1, 4, 4, 4, 3]
    target = [0, 1, 3, 2, 1, 2, 0, 1, 1, 0, 2, 1]
    settings = Settings(alpha_merge=0.2)
    columns = [("nominal", cells)]
    (split,) = NaiveChaid(columns, target, [1] * 12, True, settings).splits(list(range(12)))
    (candidate,) = candidates_of(columns, target, [1] * 12, 4, settings)
    assert [sorted(group) for group in split.groups] == [[0, 1, 3, 4], [2]]
    assert candidate.branch_of[:5].tolist() == [0, 0, 1, 0, 0]
