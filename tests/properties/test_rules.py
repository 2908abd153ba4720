"""The rules of a tree hold for every row exactly once, and for the rows of their own leaf."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treewright as tw
from treewright.data.schema import Column, Schema
from treewright.explain.rules import ColumnBound, LeafRule, leaf_rules
from treewright.trees.arrays import INTERVALS, LEAF, MULTIWAY, SUBSET, THRESHOLD, Tree
from treewright.trees.data import ModelData

SIZES, TOWNS = ("S", "M", "L", "XL"), ("Bonn", "Graz", "Linz", "Oslo", "Rome")
SCHEMA = Schema(
    (
        Column("x", "numeric", missing_seen=True),
        Column("size", "ordinal", SIZES, family="string"),
        Column("town", "nominal", TOWNS, missing_seen=True, family="string"),
    )
)
KINDS = {0: (THRESHOLD, INTERVALS), 1: (THRESHOLD, INTERVALS, MULTIWAY), 2: (SUBSET, MULTIWAY)}


def holds(bound: ColumnBound, cell) -> bool:
    """Whether a cell (None: missing) meets a bound, by what its fields are documented to mean."""
    if cell is None:
        assert bound.missing is not None
        return bound.missing
    if not bound.present:
        return False
    return cell in bound.levels if bound.levels is not None else bound.lower < cell <= bound.upper


def rules_for(rules, row: dict) -> list[LeafRule]:
    """The rules that hold for a row."""
    return [rule for rule in rules if all(holds(bound, row[bound.column]) for bound in rule.bounds)]


class RandomTree:
    """Tests of every kind, asked at random, also where they can tell nothing."""

    def __init__(self, seed: int, kinds: tuple[int, ...], missing_apart: bool) -> None:
        self.random = np.random.default_rng(seed)
        self.kinds, self.missing_apart = kinds, missing_apart
        self.nodes: list[dict] = []
        self.words: list[int] = []
        self.branches: list[int] = []
        self.cuts: list[float] = []

    def build(self) -> Tree:
        waiting = [(self._add(), 0)]
        while waiting:
            at, depth = waiting.pop(0)
            if depth < 4 and len(self.nodes) < 60 and self.random.random() < 0.85:
                self._split(self.nodes[at])
                self.nodes[at]["first_child"] = len(self.nodes)
                waiting += [(self._add(), depth + 1) for _ in range(self.nodes[at]["n_branches"])]
        taken = {name: [node[name] for node in self.nodes] for name in self.nodes[0]}
        n = len(self.nodes)
        return Tree(
            kind=np.array(taken["kind"], np.uint8),
            feature=np.array(taken["feature"], np.int32),
            threshold=np.array(taken["threshold"], np.float64),
            first_child=np.array(taken["first_child"], np.int32),
            n_branches=np.array(taken["n_branches"], np.int32),
            missing_branch=np.array(taken["missing_branch"], np.int32),
            level_set=np.array(taken["level_set"], np.int32),
            n_samples=np.full(n, 2),
            weight=np.full(n, 2.0),
            impurity=np.zeros(n),
            value=np.ones((n, 2)),
            levels_left=np.array(self.words, np.uint64),
            levels_seen=np.full(len(self.words), 31, np.uint64),
            level_branch=np.array(self.branches, np.int32),
            cuts=np.array(self.cuts, np.float64),
        )

    def _add(self) -> int:
        leaf = {"kind": LEAF, "feature": -1, "threshold": 0.0, "first_child": -1, "n_branches": 0}
        self.nodes.append({**leaf, "missing_branch": 0, "level_set": -1})
        return len(self.nodes) - 1

    def _split(self, node: dict) -> None:
        feature, kind = None, None
        while kind not in self.kinds:
            feature = int(self.random.integers(3))
            kind = int(self.random.choice(KINDS[feature]))
        column = SCHEMA.columns[feature]
        apart = self.missing_apart and self.random.random() < 0.5
        n_real = int(self.random.integers(2, 4)) if kind in {MULTIWAY, INTERVALS} else 2
        node.update(kind=kind, feature=feature, n_branches=n_real + apart)
        node["missing_branch"] = n_real if apart else int(self.random.integers(n_real))
        if kind == THRESHOLD:
            node["threshold"] = float(self.random.integers(-1, 5)) + 0.5 * (feature == 0)
        elif kind == SUBSET:
            node["level_set"] = len(self.words)
            self.words.append(int(self.random.integers(1, 31)))
        elif kind == MULTIWAY:
            node["level_set"] = len(self.branches)
            ways = self.random.integers(n_real, size=len(column.levels) + 1)
            ways[:n_real] = np.arange(n_real)
            absent = self.random.random(len(ways)) < 0.2
            absent[-1] = True
            self.branches += np.where(absent, ~ways, ways).tolist()
        else:
            node["level_set"] = len(self.cuts)
            self.cuts += np.sort(self.random.choice(np.arange(-1, 5), n_real - 1, replace=False)).tolist()
            self.cuts += [math.inf] * apart


def leaf_of(tree: Tree, row: dict) -> int:
    """The leaf of a row, by a walk that is plain to see."""
    at = 0
    while tree.kind[at] != LEAF:
        column = SCHEMA.columns[tree.feature[at]]
        cell, start = row[column.name], tree.level_set[at]
        if cell is None:
            branch = tree.missing_branch[at]
        else:
            x = cell if column.kind == "numeric" else column.levels.index(cell)
            if tree.kind[at] == THRESHOLD:
                branch = int(x > tree.threshold[at])
            elif tree.kind[at] == SUBSET:
                branch = 1 - (int(tree.levels_left[start]) >> x & 1)
            elif tree.kind[at] == MULTIWAY:
                way = tree.level_branch[start + x]
                branch = way if way >= 0 else ~way
            else:
                ends = tree.cuts[start : start + tree.n_branches[at] - 1]
                branch = next((b for b, end in enumerate(ends) if x <= end), len(ends))
        at = int(tree.first_child[at] + branch)
    return at


ROWS = [
    {"x": x, "size": size, "town": town}
    for x in (None, -2.0, 0.0, 0.5, 1.0, 2.5, 3.0, 9.0)
    for size in (None, *SIZES)
    for town in (None, *TOWNS)
]


@pytest.mark.parametrize("kinds", [(THRESHOLD, SUBSET), (THRESHOLD, SUBSET, MULTIWAY, INTERVALS)])
@pytest.mark.parametrize("missing_apart", [False, True])
@given(seed=st.integers(0, 2**32 - 1))
def test_exactly_the_rule_of_its_leaf_holds_for_a_row(kinds, missing_apart, seed):
    tree = RandomTree(seed, kinds, missing_apart).build()
    model = ModelData("classification", SCHEMA, (tree,), (np.array(["n", "y"]),), missing="branch")
    rules = leaf_rules(model)

    assert len(rules) == tree.n_leaves
    for row in ROWS[:: 1 + seed % 3]:
        assert [rule.leaf for rule in rules_for(rules, row)] == [leaf_of(tree, row)]


@given(data=st.data())
def test_exactly_the_rule_of_its_leaf_holds_for_a_row_of_a_fitted_tree(data):
    n = data.draw(st.integers(6, 20))
    x = data.draw(st.lists(st.sampled_from([None, 0.1, 0.2, 0.1 + 0.2, 1.0, 1e9]), min_size=n, max_size=n))
    size = data.draw(st.lists(st.sampled_from([*SIZES, None]), min_size=n, max_size=n))
    town = data.draw(st.lists(st.sampled_from(TOWNS), min_size=n, max_size=n))
    y = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    table = {"x": [0.5, *x], "size": ["S", *size], "town": ["Bonn", *town]}
    tree = tw.DecisionTreeClassifier(ordinal={"size": list(SIZES)}, nominal=["town"]).fit(table, [0, *y])
    rules = leaf_rules(tree.model_, keep_empty=False)
    leaves, codes = tree.apply(table), tree.predict(table)

    for at, (leaf, code) in enumerate(zip(leaves.tolist(), codes.tolist(), strict=True)):
        (rule,) = rules_for(rules, {name: cells[at] for name, cells in table.items()})
        assert (rule.leaf, rule.prediction) == (leaf, code)
    assert sum(rule.support for rule in rules) == pytest.approx(1)
    assert np.sum([rule.outcomes[0].counts for rule in rules], axis=0).tolist() == np.bincount([0, *y]).tolist()
