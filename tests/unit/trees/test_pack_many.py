"""Trees packed at once are those that were packed one by one and joined; trees on gradients."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from boosted_models import boosted, on_gradients
from packed_trees import draw
from random_forests import SCHEMA, random_forest

from treewright.exceptions import TooLargeError
from treewright.trees.arrays import (
    LEAF_RECORD,
    SUBSET_RECORD,
    child_of,
    column_of,
    cut_of,
    kind_of,
    missing_branch_of,
    set_of,
)
from treewright.trees.check_model import check_model
from treewright.trees.packed import PackedTrees, join, leaf_samples_of, leaf_weights_of, pack_many, pack_one, take


def same_packed(one: PackedTrees, other: PackedTrees) -> bool:
    """Whether two packings are equal to the last bit."""
    pairs = zip(one.arrays().values(), other.arrays().values(), strict=True)
    return all(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in pairs)


def flat_arrays(packed: PackedTrees) -> dict[str, Any]:
    """What ``pack_many`` takes, node by node; nonsense where it says that it does not read."""
    n = packed.n_nodes
    arrays: dict[str, Any] = {
        "column": np.full(n, -9, np.int32),
        "cut": np.full(n, 250, np.uint8),
        "missing_branch": np.zeros(n, np.int8),
        "first_child": np.full(n, -1, np.int64),
        "set_of": np.full(n, -1, np.int64),
        "leaf_value": np.full((n, packed.leaf_value.shape[1]), np.nan),
        "leaf_weight": None if packed.n_classes else np.full(n, np.nan),
        "leaf_impurity": None if packed.n_classes else np.full(n, np.nan),
        "leaf_samples": np.full(n, -7),
    }
    samples = leaf_samples_of(packed)
    for at, record in enumerate(packed.records):
        kind, child = kind_of(record), child_of(record)
        if kind == LEAF_RECORD:
            arrays["leaf_value"][at], arrays["leaf_samples"][at] = packed.leaf_value[child], samples[child]
            if not packed.n_classes:
                arrays["leaf_weight"][at] = packed.leaf_weight[child]
                arrays["leaf_impurity"][at] = packed.leaf_impurity[child]
            continue
        arrays["first_child"][at], arrays["missing_branch"][at] = child, missing_branch_of(record)
        if kind == SUBSET_RECORD:
            arrays["set_of"][at] = set_of(record)
            arrays["column"][at] = packed.set_column[set_of(record)]
        else:
            arrays["column"][at], arrays["cut"][at] = column_of(record), cut_of(record)
    return arrays | {"sets": packed.sets, "seen": packed.seen, "importances": packed.importances}


def forest(criterion: str) -> PackedTrees:
    if criterion == "gradient":
        rng = np.random.default_rng(3)
        return on_gradients(rng, random_forest(rng, SCHEMA, (), n_trees=6, n_rows=50))
    return join(draw(7, criterion, n_trees=5, weights=(1.0, 0.5)).parts)


@pytest.mark.parametrize("criterion", ["gini", "squared_error", "poisson", "gradient"])
def test_trees_packed_at_once_are_those_packed_one_by_one_and_joined(criterion: str) -> None:
    packed = forest(criterion)
    arrays = flat_arrays(packed)

    at_once = pack_many(packed.bins, criterion, packed.n_classes, roots=packed.roots, **arrays)
    parts = []
    for tree in range(packed.n_trees):
        begin, end = packed.roots[tree], packed.roots[tree + 1]
        part = {name: cells if name in ("sets", "seen") or cells is None else cells[begin:end]
                for name, cells in arrays.items() if name != "importances"}  # fmt: skip
        part["first_child"] = np.where(part["first_child"] < 0, -1, part["first_child"] - begin)
        one = pack_one(packed.bins, criterion, packed.n_classes, **part, importances=packed.importances[tree])
        assert same_packed(one, take(packed, [tree]))
        parts.append(one)

    assert same_packed(at_once, join(parts))
    assert same_packed(at_once, packed)


def test_leaves_without_impurities_have_none() -> None:
    packed = forest("gradient")
    arrays = flat_arrays(packed) | {"leaf_impurity": None}

    found = pack_many(packed.bins, "gradient", (), roots=packed.roots, **arrays)

    assert found.leaf_impurity.tolist() == [0.0] * len(found.leaf_value)
    assert same_packed(found, packed)


def test_the_arguments_are_neither_changed_nor_kept() -> None:
    packed = forest("gradient")
    arrays = flat_arrays(packed)
    roots = packed.roots.copy()
    before = {name: cells.copy() for name, cells in arrays.items()}

    found = pack_many(packed.bins, "gradient", (), roots=roots, **arrays)

    for name, cells in arrays.items():
        assert cells.tobytes() == before[name].tobytes()
        assert not any(np.shares_memory(cells, own) for own in found.arrays().values())
    assert roots.flags.writeable


def test_more_nodes_than_a_record_can_number_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = forest("gradient")
    monkeypatch.setattr("treewright.trees.packed.MAX_NODES", 20)

    with pytest.raises(TooLargeError, match="grow fewer or smaller trees"):
        pack_many(packed.bins, "gradient", (), roots=packed.roots, **flat_arrays(packed))


def test_trees_on_gradients_are_joined_and_taken() -> None:
    packed = forest("gradient")
    parts = [take(packed, [tree]) for tree in range(packed.n_trees)]

    assert same_packed(join(parts), packed)
    assert same_packed(take(packed, [4, 1, 1]), join([parts[4], parts[1], parts[1]]))
    assert np.array_equal(join(parts).importances, packed.importances)


def test_gains_become_shares_of_all_gains() -> None:
    packed = forest("gradient")
    gains = packed.importances.sum(axis=0)

    assert packed.feature_importances().tolist() == (gains / gains.sum()).tolist()
    assert replace(packed, importances=np.zeros_like(gains) + np.zeros((6, 1))).feature_importances().sum() == 0


def test_a_tree_on_gradients_holds_the_mean_and_the_variance_of_what_its_leaves_add_by_cover() -> None:
    model = boosted(np.random.default_rng(5), "number", n_rounds=6, n_rows=80)
    packed = model.trees
    assert isinstance(packed, PackedTrees)
    assert not np.array_equal(leaf_weights_of(packed), leaf_samples_of(packed))
    for tree in packed:
        for node in range(tree.n_nodes):
            below, leaves = [node], []
            while below:
                at = below.pop()
                if tree.is_leaf[at]:
                    leaves.append(at)
                else:
                    below += [int(tree.first_child[at]), int(tree.first_child[at]) + 1]
            cover, value = tree.weight[leaves], tree.value[leaves, 0]
            mean = (cover * value).sum() / cover.sum()
            assert tree.weight[node] == pytest.approx(cover.sum(), rel=1e-12)
            assert tree.n_samples[node] == tree.n_samples[leaves].sum()
            assert tree.value[node, 0] == pytest.approx(mean, rel=1e-9, abs=1e-12)
            variance = (cover * (value - mean) ** 2).sum() / cover.sum()
            assert tree.impurity[node] == pytest.approx(variance, rel=1e-9, abs=1e-15)
    check_model(model)
