"""Packed trees: joining, taking, the sequence they are, and what a forest of them says of its columns."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from packed_trees import SCHEMA, draw
from same_trees import trees_equal

from treewright.data.bins import Bins, bins_of
from treewright.exceptions import ParameterError, TooLargeError
from treewright.trees import packed
from treewright.trees import packed as leaf_table
from treewright.trees.arrays import Tree, bits_below
from treewright.trees.check import check_tree
from treewright.trees.check_model import check_model
from treewright.trees.data import ModelData
from treewright.trees.packed import PackedTrees, count_impurity, first_come, join, pack_one, take


def same_packed(one: PackedTrees, other: PackedTrees) -> bool:
    """Whether two packings are equal to the last bit."""
    pairs = zip(one.arrays().values(), other.arrays().values(), strict=True)
    return all(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in pairs)


@pytest.fixture(params=["gini", "squared_error"])
def parts(request: pytest.FixtureRequest) -> list[PackedTrees]:
    return draw(7, request.param, n_trees=5, weights=(1.0, 0.5)).parts


def test_how_trees_are_divided_into_parts_leaves_no_trace(parts: list[PackedTrees]) -> None:
    whole = join(parts)

    assert same_packed(join([join(parts[:2]), join(parts[2:3]), join(parts[3:])]), whole)
    assert same_packed(join([whole]), whole)


def test_taking_trees_is_joining_only_them(parts: list[PackedTrees]) -> None:
    whole = join(parts)

    for chosen in ([0], [4], [1, 3], [4, 0, 0, 2], list(range(5))):
        assert same_packed(take(whole, chosen), join([parts[tree] for tree in chosen]))


@pytest.mark.parametrize("chosen", [[], [5], [-1], [0, 99]])
def test_taking_trees_that_are_not_there_is_refused(parts: list[PackedTrees], chosen: list[int]) -> None:
    with pytest.raises(ParameterError, match=r"choose from 0 to 4"):
        take(join(parts), chosen)


def test_trees_on_other_bins_or_of_another_criterion_are_not_joined(parts: list[PackedTrees]) -> None:
    other = bins_of(np.arange(8.0).reshape(2, 4), SCHEMA)

    for wrong in (replace(parts[1], bins=other), replace(parts[1], criterion="poisson")):
        with pytest.raises(ParameterError, match="have different bins"):
            join([parts[0], wrong])
    copied = Bins(**{name: array.copy() for name, array in vars(parts[1].bins).items()})
    assert same_packed(join([parts[0], replace(parts[1], bins=copied)]), join(parts[:2]))


def test_more_nodes_than_a_record_can_number_are_refused(
    parts: list[PackedTrees], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed, "MAX_NODES", 20)

    with pytest.raises(TooLargeError, match="at most 20 and"):
        join(parts)
    with pytest.raises(TooLargeError, match="grow fewer or smaller trees"):
        take(join(parts[:1]), [0] * 100)


def test_packed_trees_are_a_sequence_of_trees(parts: list[PackedTrees]) -> None:
    packed = join(parts)
    one_by_one = [packed[tree] for tree in range(5)]

    assert len(packed) == packed.n_trees == 5
    assert all(isinstance(tree, Tree) for tree in packed)
    assert all(trees_equal(a, b) for a, b in zip(packed, one_by_one, strict=True))
    assert all(trees_equal(part[0], tree) for part, tree in zip(parts, packed, strict=True))
    assert trees_equal(packed[-1], one_by_one[4])
    assert isinstance(packed[1:3], tuple)
    assert [tree.n_nodes for tree in packed[::-2]] == [one_by_one[place].n_nodes for place in (4, 2, 0)]
    assert packed[5:] == ()
    for beyond in (5, -6):
        with pytest.raises(IndexError):
            packed[beyond]
    assert packed.n_nodes == sum(tree.n_nodes for tree in packed)
    assert repr(packed) == f"PackedTrees(5 trees, {packed.n_nodes} nodes)"


def test_packed_trees_are_read_only_and_survive_a_pickle_unchanged(parts: list[PackedTrees]) -> None:
    packed = join(parts)
    before = pickle.dumps(packed)
    packed.cuts  # noqa: B018  what is derived and kept

    assert not any(array.flags.writeable for array in packed.arrays().values())
    assert pickle.dumps(packed) == before
    assert same_packed(pickle.loads(before), packed)


def test_nbytes_counts_every_array_once(parts: list[PackedTrees]) -> None:
    packed = join(parts)
    arrays = [*packed.arrays().values(), *vars(packed.bins).values()]

    assert packed.nbytes == sum(array.nbytes for array in arrays)
    assert packed.records.nbytes == 8 * packed.n_nodes


def test_importances_of_a_forest_are_the_mean_of_its_trees(parts: list[PackedTrees]) -> None:
    packed = join(parts)

    np.testing.assert_allclose(packed.feature_importances(), np.mean(packed.importances, axis=0), rtol=1e-14)
    nothing = replace(packed, importances=np.zeros_like(packed.importances))
    assert nothing.feature_importances().tolist() == [0.0] * 4
    half = replace(packed, importances=np.vstack([np.zeros((4, 4)), [[0, 0, 1.0, 0]]]))
    assert half.feature_importances().tolist() == [0, 0, 1.0, 0]


def one_leaf(values: list[float], **facts: float) -> PackedTrees:
    """A tree of a root only."""
    n_classes = () if facts else (len(values),)
    nothing = np.zeros(1, np.int32)
    return pack_one(
        bins_of(np.arange(8.0).reshape(2, 4), SCHEMA), "squared_error" if facts else "gini", n_classes,
        column=nothing, cut=np.zeros(1, np.uint8), missing_branch=np.zeros(1, np.int8), first_child=nothing - 1,
        set_of=nothing - 1, sets=np.empty((0, 4), np.uint64), seen=np.empty((0, 4), np.uint64),
        leaf_value=np.array([values]), leaf_weight=np.array([facts.get("weight", 1.0)]),
        leaf_impurity=np.array([facts.get("impurity", 0.0)]),
        leaf_samples=np.array([facts.get("samples", 5)], np.int64), importances=np.zeros(4),
    )  # fmt: skip


def test_leaf_numbers_take_the_smallest_dtype_that_holds_them() -> None:
    assert one_leaf([2.0, 3.0]).leaf_value.dtype == np.float32
    assert one_leaf([2.0**24 - 1, 1.0]).leaf_value.dtype == np.float32
    assert one_leaf([2.0**24, 1.0]).leaf_value.dtype == np.float64
    assert one_leaf([0.5, 1.0]).leaf_value.dtype == np.float64
    assert one_leaf([4.0], weight=5.0).leaf_value.dtype == np.float64
    for facts, dtype in (
        ({"weight": 5.0, "impurity": 0.3}, np.float32),
        ({"weight": 0.3}, np.float64),
        ({"weight": 1e-300}, np.float64),
        ({"weight": 1.0, "impurity": 1e60}, np.float64),
        ({"weight": 1.0, "impurity": 1e-60}, np.float64),
    ):
        found = one_leaf([4.0], **facts)
        assert (found.leaf_weight.dtype, found.leaf_impurity.dtype) == (dtype, dtype)
        assert found[0].weight.tolist() == [facts["weight"]]
        assert found[0].impurity[0] == pytest.approx(facts.get("impurity", 0.0), rel=1e-7)


def test_samples_are_kept_only_where_they_differ_from_the_weight() -> None:
    same, other = one_leaf([2.0, 3.0]), one_leaf([2.0, 2.0])

    assert (len(same.leaf_samples), other.leaf_samples.tolist()) == (0, [5])
    both = join([same, replace(other, bins=same.bins)])
    assert both.leaf_samples.tolist() == [5, 5]
    assert [tree.n_samples.tolist() for tree in both] == [[5], [5]]
    assert len(take(both, [0]).leaf_samples) == 0


def chain(depth: int, criterion: str) -> PackedTrees:
    """A tree that grows a level at a time on one side."""
    n = 2 * depth + 1
    first_child = np.full(n, -1, np.int32)
    first_child[[0, *range(2, n - 1, 2)]] = np.arange(1, n, 2)
    rng = np.random.default_rng(0)
    counts = criterion == "gini"
    return pack_one(
        bins_of(np.arange(8.0).reshape(2, 4), SCHEMA), criterion, (2,) if counts else (),
        column=np.zeros(n, np.int32), cut=np.zeros(n, np.uint8), missing_branch=np.zeros(n, np.int8),
        first_child=first_child, set_of=np.full(n, -1, np.int32), sets=np.empty((0, 4), np.uint64),
        seen=np.empty((0, 4), np.uint64),
        leaf_value=np.ones((n, 2)) if counts else rng.normal(size=(n, 1)), leaf_weight=np.ones(n),
        leaf_impurity=np.zeros(n), leaf_samples=np.full(n, 2 if counts else 1), importances=np.array([1.0, 0, 0, 0]),
    )  # fmt: skip


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
def test_a_tree_of_20000_levels_is_unpacked(criterion: str) -> None:
    packed = chain(20_000, criterion)
    tree = packed[0]

    assert (tree.n_nodes, tree.max_depth) == (40_001, 20_000)
    leaves = tree.is_leaf
    assert tree.n_samples[0] == tree.n_samples[leaves].sum()
    if criterion == "squared_error":
        assert tree.value[0, 0] == pytest.approx(tree.value[leaves].mean(), abs=1e-12)
        assert tree.impurity[0] == pytest.approx(tree.value[leaves].var(), rel=1e-12)
    check_tree(tree, SCHEMA, tree.value.shape[1], n_classes=packed.n_classes)
    classes = (np.array(["a", "b"]),) if packed.n_classes else ()
    task = "classification" if packed.n_classes else "regression"
    check_model(ModelData(task, SCHEMA, packed, classes))  # type: ignore[arg-type]


def test_means_near_the_end_of_float64_stay_finite() -> None:
    packed = chain(3, "squared_error")
    huge = replace(packed, leaf_value=np.where(packed.leaf_value < 0, -1.7e308, 1.7e308))

    tree = huge[0]

    assert np.isfinite(tree.value).all()
    assert np.isfinite(tree.impurity).all()
    assert tree.impurity[0] == np.finfo(np.float64).max


def test_impurity_is_zero_only_where_a_node_is_pure() -> None:
    counts = np.array([[1e300, 1.0], [0.0, 5.0], [1.0, 1e-300]])

    for criterion in ("gini", "entropy", "misclassification"):
        found = count_impurity(criterion, (2,), counts)
        assert (found > 0).tolist() == [True, False, True]
        assert not np.signbit(found).any()


def test_distinct_rows_are_numbered_as_they_first_come() -> None:
    first, row_of = first_come(np.array([2.0, 0.0, 2.0, -0.0, 0.0]), np.array([1, 1, 1, 1, 1], np.float32))

    assert first.tolist() == [0, 1, 3]  # -0.0 has other bits than 0.0
    assert row_of.tolist() == [0, 1, 0, 2, 1]


def test_rows_with_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 4, (2, 200)).astype(np.float64)
    expected = first_come(*columns)
    monkeypatch.setattr(leaf_table, "_MIX", np.uint64(0))  # every row has the hash 0

    for one, other in zip(first_come(*columns), expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_bits_below_a_number_are_set() -> None:
    counts = np.array([0, 1, 63, 64, 65, 128, 255, 256])

    found = bits_below(counts)

    assert [sum(int(word) << 64 * at for at, word in enumerate(row)) for row in found] == [
        2 ** int(count) - 1 for count in counts
    ]
