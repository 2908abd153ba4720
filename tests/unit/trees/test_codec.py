"""Models to bytes and files, and back: nothing is lost, one model is one sequence of bytes, a save is whole or nil."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
from same_trees import trees_equal

from treewright.core import files
from treewright.data.schema import Column, Schema
from treewright.exceptions import InputFileError, ModelFileError, ParameterError, TooLargeError
from treewright.trees import container
from treewright.trees.arrays import Tree
from treewright.trees.codec import dumps, load, loads, save
from treewright.trees.data import ModelData
from treewright.trees.edit import collapse


def assert_same(one: ModelData, other: ModelData) -> None:
    """Every part of two models is equal, arrays to the last bit."""
    assert len(one.trees) == len(other.trees)
    assert all(map(trees_equal, one.trees, other.trees))
    assert [(labels.dtype, labels.tolist()) for labels in one.classes] == [
        (labels.dtype, labels.tolist()) for labels in other.classes
    ]
    for part in ("task", "schema", "n_outputs", "combine", "unseen", "missing", "target_names", "facts"):
        assert getattr(one, part) == getattr(other, part)


def test_a_model_comes_back_as_it_was(model: ModelData) -> None:
    assert_same(loads(dumps(model)), model)


def test_every_kind_of_test_and_every_word_for_missing_values_comes_back(
    full_model: ModelData, golf_model: ModelData, own_branch_model: ModelData, fractional_model: ModelData
) -> None:
    for one in (full_model, golf_model, own_branch_model, fractional_model, replace(golf_model, missing="error")):
        assert_same(loads(dumps(one)), one)


def test_a_forest_of_trees_with_and_without_side_tables_comes_back(full_model: ModelData) -> None:
    full = full_model.trees[0]
    leaf = collapse(full, [0])
    forest = replace(full_model, trees=(leaf, full, leaf, full, collapse(full, [1])), combine="mean")

    assert_same(loads(dumps(forest)), forest)


def test_the_same_model_has_the_same_bytes(model: ModelData) -> None:
    turned = dict(reversed(model.facts.items()))

    assert dumps(model) == dumps(loads(dumps(model))) == dumps(replace(model, facts=turned))


def test_one_other_bit_in_an_array_gives_another_digest(model: ModelData, with_cell: Callable[..., Tree]) -> None:
    other = replace(model, trees=(with_cell(model.trees[0], "threshold", 0, np.nextafter(2.5, 3.0)),))

    assert digest_of(dumps(model)) != digest_of(dumps(other))


def digest_of(data: bytes) -> str:
    """The digest that a model file states."""
    length = int.from_bytes(data[:8], "little")
    found: str = json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["treewright"])["digest"]
    return found


def test_the_digest_is_a_sha256_over_the_file_with_its_own_digits_as_zeros(model: ModelData) -> None:
    data = dumps(model)
    digest = digest_of(data)

    assert hashlib.sha256(data.replace(digest.encode(), b"0" * 64)).hexdigest() == digest


def test_any_safetensors_reader_opens_the_file(model: ModelData, tmp_path: Path) -> None:
    save(model, tmp_path / "model.tw")

    with safetensors.safe_open(tmp_path / "model.tw", "np") as file:
        assert set(file.keys()) == set(container.TENSORS)
        assert json.loads(file.metadata()["treewright"])["format"] == 1
        np.testing.assert_array_equal(file.get_tensor("trees.value"), model.trees[0].value)
        np.testing.assert_array_equal(file.get_tensor("trees.feature"), [0, 1, -1, -1, -1])


def test_a_model_without_level_sets_is_also_readable_by_safetensors(
    chain: Callable[[int], tuple[Tree, Schema]], tmp_path: Path
) -> None:
    tree, schema = chain(3)
    save(ModelData("regression", schema, (tree,)), tmp_path / "model.tw")

    with safetensors.safe_open(tmp_path / "model.tw", "np") as file:
        assert file.get_tensor("trees.levels_left").shape == (0,)


@pytest.mark.parametrize(
    "threshold", [-0.0, 0.0, np.inf, -np.inf, 5e-324, -2.2e-308, 1.7976931348623157e308, 0.1, np.nextafter(1.0, 2.0)]
)
def test_every_double_comes_back_bit_for_bit(
    model: ModelData, with_cell: Callable[..., Tree], threshold: float
) -> None:
    tree = with_cell(model.trees[0], "threshold", 0, threshold)

    found = loads(dumps(replace(model, trees=(tree,)))).trees[0]

    assert found.threshold[:1].tobytes() == np.float64(threshold).tobytes()
    assert trees_equal(found, tree)


def test_a_forest_comes_back_tree_by_tree(random_tree: Callable[..., tuple[Tree, Schema]]) -> None:
    made = [random_tree(seed, n_splits=seed % 9) for seed in range(50)]
    forest = ModelData("regression", made[0][1], tuple(tree for tree, _ in made), combine="mean")

    assert_same(loads(dumps(forest)), forest)


def test_the_header_of_a_forest_is_as_short_as_that_of_a_tree(model: ModelData) -> None:
    forest = replace(model, trees=model.trees * 1000, combine="mean")

    length = [int.from_bytes(dumps(one)[:8], "little") for one in (model, forest)]

    # Three numbers an array, its shape and its place, each of at most four more digits.
    assert length[1] - length[0] <= 3 * 4 * len(container.TENSORS)


def test_a_tree_20_000_deep_comes_back(chain: Callable[[int], tuple[Tree, Schema]]) -> None:
    tree, schema = chain(20_000)
    deep = ModelData("regression", schema, (tree,))

    assert_same(loads(dumps(deep)), deep)


@pytest.mark.parametrize(
    ("task", "classes", "n_values"),
    [
        ("classification", (np.array([3, 5]),), 2),
        ("classification", (np.array([False, True]),), 2),
        ("classification", (np.array([b"a", b"bc"]), np.array(["x", "äöü", "\U0001f333"])), 5),
        ("classification", (np.array(["2001-01-01", "2001-01-02"], "datetime64[ns]"),), 2),
        ("classification", (np.array([1.0, 2.5], np.float32),), 2),
        ("classification", (np.array(["only"]),), 1),
        ("regression", (), 1),
        ("regression", (), 3),
    ],
)
def test_labels_of_every_dtype_come_back(
    model: ModelData, task: Any, classes: tuple[np.ndarray, ...], n_values: int
) -> None:
    tree = model.trees[0]
    value = np.zeros((tree.n_nodes, n_values))
    starts = np.cumsum([0, *(len(labels) for labels in classes)])[:-1]
    value[:, starts if classes else slice(None)] = tree.weight[:, None]
    n_outputs = len(classes) or n_values
    other = replace(
        model, task=task, classes=classes, n_outputs=n_outputs, trees=(replace(tree, value=value),), target_names=()
    )

    assert_same(loads(dumps(other)), other)


def test_names_and_levels_of_odd_text_come_back(model: ModelData) -> None:
    odd = '","digest":"' + "f" * 64 + '"\\"\\"digest\\":\\"' + "0" * 64 + '\\"'
    schema = Schema(
        (
            Column(odd, "numeric"),
            Column("\ud800 lone", "nominal", (odd, "", "\u202e"), family="string"),
            Column(("tuple", 1), "ordinal", (3, 1, 2)),
        )
    )
    other = replace(model, schema=schema, target_names=(odd,), facts={"digest": "f" * 64, odd: odd})

    assert_same(loads(dumps(other)), other)


def test_the_arrays_of_a_loaded_model_cannot_be_written(model: ModelData) -> None:
    found = loads(bytearray(dumps(model))).trees[0]

    assert not any(getattr(found, name).flags.writeable for name in container_fields(found))
    assert all(getattr(found, name).flags.aligned for name in container_fields(found))


def container_fields(tree: Tree) -> list[str]:
    """Names of the arrays of a tree."""
    return [name.removeprefix("trees.") for name in container.TENSORS if name.startswith("trees.")]


def test_a_loaded_model_does_not_change_with_the_buffer_it_came_from(model: ModelData) -> None:
    buffer = bytearray(dumps(model))

    found = loads(memoryview(buffer))
    buffer[:] = bytes(len(buffer))

    assert_same(found, model)


def test_a_machine_of_the_other_byte_order_converts(monkeypatch: pytest.MonkeyPatch, model: ModelData) -> None:
    swapped = Tree(
        **{
            name: getattr(model.trees[0], name).astype(getattr(model.trees[0], name).dtype.newbyteorder(">"))
            for name in container_fields(model.trees[0])
        }
    )
    monkeypatch.setattr("treewright.trees.codec.check_model", lambda model: None)

    assert dumps(replace(model, trees=(swapped,))) == dumps(model)


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"a": (1, 2)}, r"facts\['a'\] is a tuple"),
        ({"a": [1, {"b": np.int64(3)}]}, r"facts\['a'\]\[1\]\['b'\] is a int64"),
        ({1: 2}, "key 1 is not text"),
        ({"a": float("nan")}, r"facts\['a'\] is nan"),
        ({"a": [float("-inf")]}, r"facts\['a'\]\[0\] is -inf"),
        ({"a": print}, "builtin_function_or_method"),
        ({"a": 10**5000}, "more than 4096 bits"),
    ],
)
def test_facts_that_would_come_back_otherwise_are_refused(
    model: ModelData, facts: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        dumps(replace(model, facts=facts))


def test_facts_that_contain_themselves_are_refused(model: ModelData) -> None:
    facts: dict[str, Any] = {}
    facts["me"] = facts

    with pytest.raises(ParameterError, match="nested too deep"):
        dumps(replace(model, facts=facts))


def test_a_broken_model_is_not_written(model: ModelData, with_cell: Callable[..., Tree], tmp_path: Path) -> None:
    broken = replace(model, trees=(with_cell(model.trees[0], "threshold", 0, np.nan),))

    with pytest.raises(ModelFileError, match="node 0: the threshold is nan"):
        save(broken, tmp_path / "model.tw")

    assert list(tmp_path.iterdir()) == []


def test_levels_beyond_the_header_are_refused_before_writing(monkeypatch: pytest.MonkeyPatch, model: ModelData) -> None:
    monkeypatch.setattr(container, "HEADER_CAP", 1000)

    with pytest.raises(TooLargeError, match="at most 1,000"):
        dumps(model)


def test_save_and_load_are_the_identity(model: ModelData, tmp_path: Path) -> None:
    save(model, tmp_path / "model.tw")
    save(model, str(tmp_path / "other.tw"))

    assert_same(load(tmp_path / "model.tw"), model)
    assert_same(load(str(tmp_path / "other.tw")), model)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.tw", "other.tw"]


def test_a_new_file_has_the_permissions_of_the_umask_and_an_old_one_keeps_its_own(
    model: ModelData, tmp_path: Path
) -> None:
    path = tmp_path / "model.tw"
    before = os.umask(0o027)
    try:
        save(model, path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o600)
        save(model, path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        os.umask(before)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(
    model: ModelData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    path = tmp_path / "model.tw"
    path.write_bytes(b"old")

    def fail(*arguments: object) -> None:
        raise error

    monkeypatch.setattr(files.os, step, fail)
    with pytest.raises(InputFileError if isinstance(error, OSError) else KeyboardInterrupt) as caught:
        save(model, path)
    monkeypatch.undo()

    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.tw"]
    if isinstance(error, OSError):
        assert "model.tw' cannot be written: No space left on device" in str(caught.value)


def test_a_link_stays_and_its_target_is_replaced(model: ModelData, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "model.tw").write_bytes(b"old")
    link = tmp_path / "link.tw"
    link.symlink_to(tmp_path / "real" / "model.tw")

    save(model, link)

    assert link.is_symlink()
    assert_same(load(tmp_path / "real" / "model.tw"), model)


def test_a_path_that_cannot_be_written_is_named_with_the_remedy(model: ModelData, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "locked.tw").write_bytes(b"old")
    (tmp_path / "locked.tw").chmod(0o444)
    os.mkfifo(tmp_path / "pipe")
    refused = {
        tmp_path: "is a folder",
        tmp_path / "none" / "model.tw": "there is no folder .*; make it first",
        tmp_path / "locked.tw": "it is read-only; choose another name",
        tmp_path / "locked.tw" / "model.tw": "cannot be written",
        tmp_path / "pipe": "is a pipe",
        tmp_path / "loop": "symbolic link",
        tmp_path / "nul\0": "null byte",
        tmp_path / ("x" * 300): "name too long",
        Path("/dev/null"): "is a device",
    }
    for path, message in refused.items():
        with pytest.raises(InputFileError, match=f"(?i){message}"):
            save(model, path)
    assert (tmp_path / "locked.tw").read_bytes() == b"old"


def test_a_folder_that_may_not_be_written_is_refused(
    model: ModelData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(files.os, "open", refuse)
    with pytest.raises(InputFileError, match="Permission denied; choose a place where you have permission"):
        save(model, tmp_path / "model.tw")


def test_two_processes_that_save_to_one_path_leave_one_whole_file(model: ModelData, tmp_path: Path) -> None:
    save(model, tmp_path / "a.tw")
    save(replace(model, facts={"rows": 11}), tmp_path / "b.tw")
    code = (
        "import sys; from treewright.trees.codec import *; model = load(sys.argv[1])\n"
        "for _ in range(100): save(model, sys.argv[2])"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    writers = [
        subprocess.Popen([sys.executable, "-c", code, tmp_path / name, tmp_path / "one.tw"], env=environment)
        for name in ("a.tw", "b.tw")
    ]
    reads = 0
    while any(writer.poll() is None for writer in writers):
        if (tmp_path / "one.tw").exists():
            load(tmp_path / "one.tw")
            reads += 1

    assert [writer.wait() for writer in writers] == [0, 0]
    assert reads
    assert load(tmp_path / "one.tw").facts in (model.facts, {"rows": 11})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tw", "b.tw", "one.tw"]


def test_a_missing_model_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"none.tw' cannot be read: No such file or directory; check the path"):
        load(tmp_path / "none.tw")


def test_loading_needs_none_of_the_heavy_libraries(model: ModelData, tmp_path: Path) -> None:
    save(model, tmp_path / "model.tw")
    code = (
        "import sys; from treewright.trees.codec import load; load(sys.argv[1])\n"
        "print(*{'sklearn', 'pandas', 'polars', 'matplotlib', 'numba', 'scipy', 'narwhals'} & set(sys.modules))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "model.tw"], check=True, env=environment, capture_output=True, text=True
    )

    assert done.stdout.strip() == ""
