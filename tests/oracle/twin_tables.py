"""Random small tables for the grower and its twin. In: a seed. Out: the same table for both.

Caller: test_grower_against_twin.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from naive_criteria import Criterion
from naive_tree import TwinLimits, TwinTable, TwinTree

from treewright.data.schema import Column, Schema
from treewright.grow.exact.grower import grow
from treewright.grow.objective import classification_objective, regression_objective
from treewright.grow.settings import GrowSettings
from treewright.trees.arrays import LEAF, SUBSET, THRESHOLD, Tree

CLASSIFICATION = ("gini", "entropy", "misclassification")
_WEIGHT_STEPS = {"none": (), "whole": (1, 2, 3), "dyadic": (1, 2, 3, 5, 8)}  # dyadic ones are quarters


@dataclass
class Case:
    """One table with its target."""

    matrix: np.ndarray
    schema: Schema
    target: np.ndarray
    weights: np.ndarray | None
    twin: TwinTable

    def grow(self, limits: TwinLimits, n_threads: int = 1) -> Tree:
        name = self.twin.criterion.name
        if name in CLASSIFICATION:
            objective = classification_objective(
                self.target.astype(np.int32), self.twin.criterion.n_classes, self.weights, name
            )
        else:
            objective = regression_objective(self.target.astype(np.float64), self.weights, name)
        settings = GrowSettings(name, n_threads=n_threads, **vars(limits))
        return grow(self.matrix, self.schema, objective, settings)


def draw_table(rng: np.random.Generator, criterion: str, n_classes: int, n_outputs: int, kinds: str) -> Case:
    """A table of few distinct values, so that ties are the rule."""
    n = int(rng.integers(2, 31))
    p = int(rng.integers(1, 5))
    most_levels = 5 if n_classes > 2 or n_outputs > 1 else 8
    columns, n_levels, schema = [], [], []
    for at in range(p):
        kind = ("numeric", "ordinal", "nominal")[rng.integers(3)] if kinds == "mixed" else "numeric"
        size = int(rng.integers(1, most_levels + 1 if kind == "nominal" else 9))
        missing = rng.random(n) < rng.choice([0.0, 0.0, 0.1, 0.4])
        cells = [None if gone else int(cell) for cell, gone in zip(rng.integers(0, size, n), missing, strict=True)]
        columns.append(cells)
        n_levels.append(size if kind == "nominal" else 0)
        schema.append(Column(f"x{at}", kind, () if kind == "numeric" else tuple(range(size)), bool(missing.any())))
    target = rng.integers(0, n_classes or rng.choice([2, 4, 30]), (n, n_outputs))
    name = ("none", "whole", "dyadic")[rng.integers(3)]
    steps = rng.choice(_WEIGHT_STEPS[name], n) if _WEIGHT_STEPS[name] else np.ones(n, np.int64)
    unit = Fraction(1, 4) if name == "dyadic" else Fraction(1)
    rows = [tuple(int(v) for v in row) for row in target]
    twin = Criterion(criterion, rows, [int(step) for step in steps], (n_classes,) * n_outputs if n_classes else ())
    matrix = np.array([[np.nan if cell is None else cell for cell in column] for column in columns], np.float64).T
    weights = None if name == "none" else steps * float(unit)
    return Case(
        np.asfortranarray(matrix), Schema(tuple(schema)), target, weights, TwinTable(columns, n_levels, twin, unit)
    )


def draw_limits(rng: np.random.Generator, kinds: tuple[str, ...]) -> TwinLimits:
    """Some of the limits on growth; decreases that no exact gain hits by chance."""
    limits = TwinLimits()
    for kind in kinds:
        values = {
            "max_depth": (1, 2, 3),
            "min_samples_split": (3, 6),
            "min_samples_leaf": (2, 3, 5),
            "min_weight_fraction_leaf": (0.05, 0.1, 0.25, 0.3),
            "max_leaf_nodes": (2, 3, 4, 6, 9, 40),
            "min_impurity_decrease": (0.0101, 0.05003, 0.2007),
        }[kind]
        setattr(limits, kind, values[rng.integers(len(values))])
    return limits


def difference(case: Case, tree: Tree, twin: TwinTree) -> str:
    """The first difference between the two trees in words; empty where there is none."""
    for at in range(min(tree.n_nodes, len(twin.nodes))):
        found = _node_difference(case, tree, twin, at)
        if found:
            return f"node {at}: {found}"
    return "" if tree.n_nodes == len(twin.nodes) else f"{tree.n_nodes} nodes, the twin has {len(twin.nodes)}"


def _node_difference(case: Case, tree: Tree, twin: TwinTree, at: int) -> str:
    node, criterion = twin.nodes[at], case.twin.criterion
    is_inner = node.first_child >= 0
    split = node.split if is_inner else None
    kind = LEAF if split is None else THRESHOLD if split.levels is None else SUBSET
    expected = {
        "kind": kind,
        "feature": split.column if split else -1,
        "threshold": split.threshold if split else 0.0,
        "first_child": node.first_child,
        "n_branches": 2 if is_inner else 0,
        "missing_branch": node.missing_branch,
        "n_samples": len(node.rows),
        "weight": float(criterion.weight(node.rows) * case.twin.weight_unit),
    }
    for name, wanted in expected.items():
        if getattr(tree, name)[at] != wanted:
            return f"{name} {getattr(tree, name)[at]}, the twin has {wanted} ({split})"
    if kind == SUBSET:
        for name, wanted_bits in (("levels_left", node.left_bits), ("levels_seen", node.seen_bits)):
            word = int(getattr(tree, name)[tree.level_set[at]])
            if word != sum(1 << code for code in wanted_bits):
                return f"{name} {word:b}, the twin has {sorted(wanted_bits)}"
    elif tree.level_set[at] != -1:
        return f"level_set {tree.level_set[at]}"
    # Sums are exact here; what is left is one rounding per operation of a closing formula.
    if abs(tree.impurity[at] - criterion.impurity(node.rows)) > 1e-11 * max(1.0, criterion.impurity(node.rows)):
        return f"impurity {tree.impurity[at]}, the twin has {criterion.impurity(node.rows)}"
    value = criterion.value(node.rows, case.twin.weight_unit)
    if not np.allclose(tree.value[at], value, rtol=1e-12, atol=1e-12) or len(value) != tree.value.shape[1]:
        return f"value {tree.value[at]}, the twin has {value}"
    return ""
