"""An rpart fit beside our tree. In: a run of rpart.json, our model. Out: pairs of nodes, and where they differ.

rpart numbers the children of node k 2k and 2k + 1 and may send low values right; a pair says whether our branch 0 is
its left or its right one. Callers: the tests of this folder, benchmarks/reference/compare.py.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from reference_sets import DataSet, find

import treewright as tw
from treewright.trees.arrays import SUBSET
from treewright.trees.edit import collapse


def fit_like_rpart(data: DataSet, run):
    """Our tree with the controls of a run: surrogates, at least 20 rows to split and 7 on a side."""
    keep = np.ones(len(data.y), bool)
    keep[run["dropped_rows"]] = False
    kept = data.rows(np.flatnonzero(keep))
    criterion = {"class": "gini", "anova": "squared_error"}[run["method"]]
    if run.get("split") == "information":
        criterion = "entropy"
    kind = tw.DecisionTreeClassifier if run["method"] == "class" else tw.DecisionTreeRegressor
    est = kind(
        criterion=criterion,
        missing="surrogate",
        max_surrogates=run["control"]["maxsurrogate"],
        min_samples_split=20,
        min_samples_leaf=7,
        nominal=data.levels,
    )
    return est.fit(kept.X, kept.y).model_, kept


@dataclass(frozen=True)
class Pair:
    """The same node in both trees."""

    node: int
    theirs: dict
    mirrored: bool  # our branch 0 is their right child


@dataclass(frozen=True)
class Split:
    """A two-way test, as both sides can say it: what goes to our branch 0."""

    column: str
    threshold: float | None
    below: bool  # low values go to branch 0
    levels: frozenset  # levels that go to branch 0
    others: frozenset  # levels that go to branch 1


@dataclass(frozen=True)
class Beside:
    """Two trees node by node, top down.

    `pairs` are the nodes that both have; `differences` (their node, what differs) where the way down ends early.
    """

    model: tw.Model
    run: dict
    pairs: list
    differences: list

    @property
    def ends(self):
        """Pairs where rpart stopped and we went on."""
        tree = self.model.trees[0]
        return [pair for pair in self.pairs if "primary" not in pair.theirs and not tree.is_leaf[pair.node]]

    def cut_back(self):
        """Our model ended where rpart's tree ends, and rpart's number of each of its nodes."""
        tree = collapse(self.model.trees[0], [pair.node for pair in self.ends])
        numbers = [pair.theirs["node"] for pair in sorted(self.pairs, key=lambda pair: pair.node)]
        return tw.Model.of(replace(self.model, trees=(tree,))), np.array(numbers)


def beside_rpart(run, folder=None):
    """Our tree beside a run of rpart.json, and the rows that it was grown on."""
    data = find(run["data"], folder)
    model, kept = fit_like_rpart(data, run)
    return Beside(model, run, *_pairs_of(model, run)), data, kept


def split_of_theirs(split, run, mirrored):
    """A split of rpart; branch 0 is its left side, or its right one if mirrored."""
    if "index" in split:
        return Split(split["column"], split["index"], (split["ncat"] == -1) != mirrored, frozenset(), frozenset())
    left, right = ({level for level, side in zip(run["levels"][split["column"]], split["sides"], strict=True)
                    if side == wanted} for wanted in "LR")  # fmt: skip
    zero, one = (right, left) if mirrored else (left, right)
    return Split(split["column"], None, True, frozenset(zero), frozenset(one))


def split_of_ours(model, node, surrogate=None):
    """A node's test, or one of its surrogates by its place in the tree's surrogate arrays."""
    tree = model.trees[0]
    if surrogate is None:
        feature, flipped = int(tree.feature[node]), False
        threshold = None if tree.kind[node] == SUBSET else float(tree.threshold[node])
        offset = int(tree.level_set[node])
    else:
        feature, flipped = int(tree.surrogate_feature[surrogate]), bool(tree.surrogate_flipped[surrogate])
        offset = int(tree.surrogate_level_set[surrogate])
        threshold = float(tree.surrogate_threshold[surrogate]) if offset < 0 else None
    column = model.schema.columns[feature]
    if threshold is not None:
        return Split(str(column.name), threshold, not flipped, frozenset(), frozenset())
    words = slice(offset, offset + len(column.levels) // 64 + 1)
    left, seen = (_levels_in(bits[words], column.levels) for bits in (tree.levels_left, tree.levels_seen))
    zero, one = left & seen, seen - left
    if flipped:
        zero, one = one, zero
    return Split(str(column.name), None, True, frozenset(zero), frozenset(one))


def _levels_in(words, levels):
    return {level for code, level in enumerate(levels) if int(words[code // 64]) >> (code % 64) & 1}


def same_split(one, other):
    """Whether two splits are the same test; cuts may differ in the twelfth digit, where rpart's figures end."""
    if (one.threshold is None) != (other.threshold is None):
        return False
    if one.threshold is not None and not np.isclose(one.threshold, other.threshold, rtol=1e-10, atol=1e-10):
        return False
    return (one.column, one.below, one.levels, one.others) == (other.column, other.below, other.levels, other.others)


def difference_of_surrogates(beside, pair):
    """The first place where two lists of surrogates differ in test, agreement or adjusted agreement; else None."""
    ours = surrogates_of(beside.model, pair.node)
    theirs = [
        (split_of_theirs(split, beside.run, pair.mirrored), split["improve"], split["adj"])
        for split in pair.theirs["surrogates"]
    ]
    if len(ours) != len(theirs):
        return f"node {pair.theirs['node']}: {len(ours)} surrogates | {len(theirs)}"
    for one, other in zip(ours, theirs, strict=True):
        if not same_split(one[0], other[0]) or not np.allclose(one[1:], other[1:], rtol=0, atol=1e-10):
            return f"node {pair.theirs['node']}: {one} | {other}"
    return None


def surrogates_of(model, node):
    """Test, agreement and adjusted agreement of a node's surrogates."""
    tree = model.trees[0]
    places = np.flatnonzero(tree.surrogate_node == node)
    return [
        (split_of_ours(model, node, at), float(tree.surrogate_agreement[at]), float(tree.surrogate_adjusted[at]))
        for at in places.tolist()
    ]


def _pairs_of(model, run):
    tree, theirs = model.trees[0], {node["node"]: node for node in run["nodes"]}
    pairs, differences = [], []
    waiting = [(0, 1)]
    while waiting:
        node, number = waiting.pop()
        other = theirs[number]
        inner = "primary" in other
        if tree.is_leaf[node] or not inner:
            pairs.append(Pair(node, other, False))
            if tree.is_leaf[node] and inner:
                differences.append((number, f"ours is a leaf, rpart asks {other['primary']['column']}"))
            continue
        ours = split_of_ours(model, node)
        fitting = [way for way in (False, True) if same_split(ours, split_of_theirs(other["primary"], run, way))]
        if not fitting:
            differences.append((number, f"ours asks {ours.column}, rpart {other['primary']['column']}"))
            continue
        mirrored = fitting[0]
        pairs.append(Pair(node, other, mirrored))
        first = int(tree.first_child[node])
        waiting += [(first + mirrored, 2 * number), (first + 1 - mirrored, 2 * number + 1)]
    return pairs, differences
