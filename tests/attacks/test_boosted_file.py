"""Files of boosted models and of trees with weights, damaged or lying: a valid model, or one ``ModelFileError``."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from boosted_models import CASES, boosted, weighted
from file_damage import accepted_flips, accepted_lengths, edited, signed

from treewright.exceptions import ModelFileError
from treewright.model import Model
from treewright.predict.ensemble import combined
from treewright.trees import codec, container
from treewright.trees import container as model_file
from treewright.trees.check import check_tree
from treewright.trees.check_model import check_model, value_width
from treewright.trees.codec import dumps, load, loads
from treewright.trees.data import Boosting, ModelData
from treewright.trees.packed import PackedTrees

KINDS = [*CASES, "vote", "median"]


def model_of(kind: str) -> Model:
    rng = np.random.default_rng(KINDS.index(kind))
    return weighted(rng, kind, n_trees=3) if kind in ("vote", "median") else boosted(rng, kind, n_rounds=2, n_rows=12)


@pytest.fixture(scope="module", params=KINDS, name="model")
def _model(request: pytest.FixtureRequest) -> Model:
    return model_of(request.param)


@pytest.fixture(scope="module", name="data")
def _data(model: Model) -> bytes:
    return dumps(model)


def opened(data: bytes) -> tuple[dict[str, Any], container.Layout, dict[str, np.ndarray]]:
    """Metadata, layout and arrays of a file; the arrays can be written to."""
    length = int.from_bytes(data[:8], "little")
    metadata, places = container.read_header(data[8 : 8 + length], model_file.FILE_FORMAT)
    layout = codec._layout(metadata, places)
    shapes = container.read_places(places, len(data) - 8 - length, layout)
    arrays = container.read_arrays(data[8 + length :], shapes, layout)
    return metadata, layout, {name: cells.copy() for name, cells in arrays.items()}


def composed(data: bytes, **changes: Any) -> bytes:
    """The file with other metadata; None takes one away."""
    metadata, layout, arrays = opened(data)
    changed = {name: value for name, value in {**metadata, **changes}.items() if value is not None}
    return container.compose(changed, arrays, layout)


def survives(data: bytes) -> bool:
    """Whether the bytes load; if they do, the trees hold and every answer is finite."""
    try:
        found = loads(data)
    except ModelFileError:
        return False
    check_model(found)
    for tree in found.trees:
        check_tree(tree, found.schema, value_width(found), n_classes=found.counted_classes, missing=found.missing)
    row = np.full((1, len(found.schema)), math.nan)
    assert np.isfinite(combined(found, row)).all()
    return True


def test_a_model_comes_back_as_it_was(model: Model, data: bytes, tmp_path: Any) -> None:
    (tmp_path / "model.tw").write_bytes(data)

    for found in (loads(data), loads(bytearray(data)), load(tmp_path / "model.tw")):
        assert found.boosting == model.boosting
        assert (found.task, found.combine, found.n_outputs) == (model.task, model.combine, model.n_outputs)
        if model.tree_weights is None:
            assert found.tree_weights is None
        else:
            assert found.tree_weights is not None
            assert found.tree_weights.tobytes() == model.tree_weights.tobytes()
        if isinstance(model.trees, PackedTrees):
            assert isinstance(found.trees, PackedTrees)
            assert (found.trees.criterion, found.trees.n_classes) == ("gradient", ())
            for name, cells in model.trees.arrays().items():
                assert getattr(found.trees, name).tobytes() == cells.tobytes()
        assert dumps(found) == data
    metadata = opened(data)[0]
    assert metadata["format"] == 3
    assert ("boosting" in metadata) == ("criterion" in metadata) == (model.boosting is not None)
    assert survives(data)


def test_other_models_keep_the_older_formats() -> None:
    votes, sums = model_of("vote"), model_of("number")
    packed = sums.trees
    assert isinstance(packed, PackedTrees)
    plain = replace(votes, tree_weights=None)
    forest = replace(
        sums, boosting=None, combine="mean",
        trees=replace(packed, criterion="squared_error", importances=np.zeros_like(packed.importances)),
    )  # fmt: skip

    assert opened(dumps(plain))[0]["format"] == 1
    assert opened(dumps(forest))[0]["format"] == 2
    for old in (plain, forest):
        assert not {"boosting", "tree_weights"} & {*opened(dumps(old))[0], *opened(dumps(old))[2]}


def test_a_single_bit_flip_is_refused(data: bytes) -> None:
    assert accepted_flips(data, every=37) == []


def test_truncation_is_refused(data: bytes) -> None:
    assert accepted_lengths(data, every=13) == []
    with pytest.raises(ModelFileError):
        loads(data + b"\0")


@pytest.mark.parametrize(("seed", "rounds"), [(0, 120), pytest.param(1, 30_000, marks=pytest.mark.slow)])
def test_random_edits_under_a_valid_digest_are_refused_or_harmless(data: bytes, seed: int, rounds: int) -> None:
    rng = np.random.default_rng(seed)

    accepted = sum(survives(edited(data, rng)) for _ in range(rounds))

    assert 0 < accepted < rounds  # a fuzz that never gets in, or always does, tests nothing


def test_empty_arrays_are_refused(data: bytes) -> None:
    metadata, layout, arrays = opened(data)
    needed = [name for name, cells in arrays.items() if cells.size]
    refused = []
    for name in needed:
        changed = container.compose(metadata, {**arrays, name: arrays[name][:0]}, layout)
        refused.append(not survives(changed))

    assert all(refused), [name for name, is_refused in zip(needed, refused, strict=True) if not is_refused]


@pytest.mark.parametrize("name", [2**63, -(2**70), "\ud800"], ids=["large", "small", "surrogate"])
def test_names_that_would_be_written_otherwise_are_refused(data: bytes, name: Any) -> None:
    schema = json.loads(json.dumps(opened(data)[0]["schema"]))
    schema["columns"][0]["name"] = name

    with pytest.raises(ModelFileError, match="canonical form"):
        loads(composed(data, schema=schema))


BASES: dict[str, Any] = {
    "no base": [],
    "a base too many": [0.0, 0.0],
    "a whole number": [0],
    "a truth value": [True],
    "text": ["0.0"],
    "no number": [None],
    "a base beyond": [1e301],
}


@pytest.mark.parametrize("name", BASES)
def test_a_base_that_does_not_fit_is_refused(name: str) -> None:
    data = dumps(model_of("number"))

    with pytest.raises(ModelFileError, match="base"):
        loads(composed(data, boosting={"base": BASES[name], "link": "identity"}))


def test_metadata_of_boosting_that_lie_are_refused() -> None:
    # Without their grids: as files of format 3.
    number, two = (dumps(replace(model_of(name), grid=None)) for name in ("number", "two classes"))
    wrong: list[tuple[bytes, dict[str, Any], str]] = [
        (number, {"boosting": {"base": [0.0], "link": "logit"}}, "link"),
        (number, {"boosting": {"base": [0.0], "link": "classes"}}, "not for regression"),
        (two, {"boosting": {"base": [0.0], "link": "identity"}}, "not for classification"),
        (number, {"boosting": {"base": [0.0], "link": 3}}, "does not state"),
        (number, {"boosting": {"base": 0.0, "link": "log"}}, "does not state"),
        (number, {"boosting": {"base": [0.0]}}, "does not state"),
        (number, {"boosting": {"base": [0.0], "link": "log", "more": 1}}, "does not state"),
        (number, {"boosting": [0.0]}, "wrong type"),
        (number, {"boosting": None}, "entry of the metadata is missing"),
        (number, {"format": 2}, "missing, unknown or"),
        (number, {"format": 1}, "arrays missing or unknown"),
        (number, {"criterion": "squared_error"}, "not a share"),
        (number, {"criterion": None}, "arrays missing or unknown"),
        (number, {"combine": "mean"}, "expected 'sum' for boosted trees"),
        (number, {"combine": "median"}, "expected 'sum' for boosted trees"),
        (number, {"n_outputs": 2}, "1 scores, and the outputs need 2"),
        (
            dumps(replace(model_of("three quantiles"), grid=None)),
            {"boosting": {"base": [0.0] * 2, "link": "sorted"}},
            "2 scores",
        ),
    ]
    for data, change, message in wrong:
        with pytest.raises(ModelFileError, match=message):
            loads(composed(data, **change))


@pytest.mark.parametrize("kind", ["vote", "median"])
def test_weights_of_trees_that_lie_are_refused(kind: str) -> None:
    metadata, layout, arrays = opened(dumps(model_of(kind)))
    for cells in (
        [1.0, -1.0, 1.0],
        [1.0, -0.0, 1.0],
        [0.0, 0.0, 0.0],
        [1.0, np.nan, 1.0],
        [1.0, np.inf, 1.0],
        [1e300, 1e300, 0.0],
        [1.0, 1.0],
        [1.0] * 4,
    ):
        with pytest.raises(ModelFileError, match="weights of trees"):
            loads(container.compose(metadata, {**arrays, "tree_weights": np.array(cells)}, layout))
    with pytest.raises(ModelFileError, match="arrays missing or unknown: tree_weights"):
        loads(container.compose(metadata, arrays, container.TENSORS))
    with pytest.raises(ModelFileError, match="arrays missing or unknown: tree_weights"):
        loads(container.compose({**metadata, "format": 1}, arrays, layout))
    for change in ({"combine": "mean"}, {"combine": "sum"}, {"criterion": "gini"}, {"boosting": {}}):
        with pytest.raises(ModelFileError):
            loads(container.compose({**metadata, **change}, arrays, layout))


def put(name: str, place: Any, value: Any) -> Callable[[dict[str, np.ndarray]], None]:
    def change(arrays: dict[str, np.ndarray]) -> None:
        arrays[name][place] = value

    return change


LIES: dict[str, tuple[Callable[[dict[str, np.ndarray]], None], str]] = {
    "a leaf that adds nan": (put("packed.leaf_value", (0, 0), np.nan), "not finite"),
    "leaves that add too much": (put("packed.leaf_value", (0, 0), -1e300), "could add up to more than 1e300"),
    "no cover": (put("packed.leaf_weight", 0, 0.0), "its weight is not a finite number above 0"),
    "an impurity": (put("packed.leaf_impurity", 0, 0.5), "its impurity is not 0"),
    "a gain below 0": (put("packed.importances", (0, 0), -1.0), "a gain is not a number"),
    "a gain -0.0": (put("packed.importances", (0, 0), -0.0), "a gain is not a number"),
    "a gain nan": (put("packed.importances", (0, 0), np.nan), "a gain is not a number"),
    "a gain without end": (put("packed.importances", (0, 0), np.inf), "a gain is not a number"),
    "gains beyond": (put("packed.importances", slice(None), 1e300), "a gain is not a number"),
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_in_the_trees_is_refused_by_name(name: str) -> None:
    change, message = LIES[name]
    metadata, layout, arrays = opened(dumps(model_of("two numbers")))
    change(arrays)

    with pytest.raises(ModelFileError, match=message):
        loads(container.compose(metadata, arrays, layout))


def test_a_tree_too_few_for_whole_rounds_is_refused() -> None:
    model = model_of("four classes")
    packed = model.trees
    assert isinstance(packed, PackedTrees)
    from treewright.trees.packed import take

    with pytest.raises(ModelFileError, match="7 trees are not a multiple of 4 scores"):
        check_model(replace(model, trees=take(packed, range(7))))


def test_models_that_could_not_be_loaded_are_not_written() -> None:
    number, votes, medians = model_of("number"), model_of("vote"), model_of("median")
    packed = number.trees
    assert isinstance(packed, PackedTrees)
    plain = replace(packed, criterion="squared_error", importances=np.zeros_like(packed.importances))
    counts = np.ones(3)
    wrong: list[ModelData] = [
        replace(number, boosting=None),
        replace(number, boosting=None, combine="mean"),
        replace(number, trees=plain),
        replace(number, trees=(packed[0],), combine="single"),
        replace(number, boosting=Boosting((math.nan,))),
        replace(number, boosting=Boosting((np.float64(0.5),))),
        replace(number, tree_weights=np.ones(packed.n_trees)),
        replace(number, trees=plain, boosting=None, combine="median", tree_weights=np.ones(packed.n_trees)),
        replace(votes, combine="median"),
        replace(votes, tree_weights=np.ones(3, np.float32)),
        replace(votes, tree_weights=counts[:, None]),
        replace(votes, combine="mean"),
        replace(medians, combine="vote"),
        replace(medians, tree_weights=None),
        replace(medians, combine="mean"),
        replace(medians, trees=(medians.trees[0],), combine="single", tree_weights=np.ones(1)),
    ]
    for model in wrong:
        with pytest.raises(ModelFileError):
            dumps(model)
    for model in (number, votes, medians):
        check_model(model.tree(0))  # type: ignore[attr-defined]
        assert opened(dumps(model.tree(0)))[0]["format"] == 1  # type: ignore[attr-defined]


def test_headers_that_lie_are_refused(data: bytes, model: Model) -> None:
    name = "tree_weights" if model.tree_weights is not None else "packed.leaf_value"

    def changed(change: Callable[[dict[str, Any]], Any]) -> bytes:
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + length])
        change(header)
        text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        return signed(len(text).to_bytes(8, "little") + text + data[8 + length :])

    changes: list[Callable[[dict[str, Any]], Any]] = [
        lambda header: header[name].update(dtype="F32"),
        lambda header: header[name].update(shape=[2**40, 2**40]),
        lambda header: header[name].update(shape="big"),
        lambda header: header.update({name: None}),
        lambda header: header.pop(name),
        lambda header: header.update({"trees.more": header[name]}),
    ]
    assert survives(changed(lambda header: None))
    for change in changes:
        with pytest.raises(ModelFileError):
            loads(changed(change))
