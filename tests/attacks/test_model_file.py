"""Hostile model files: any bytes give a valid model or one ``ModelFileError``; nothing hangs, crashes or runs."""

from __future__ import annotations

import io
import json
import os
import pickle
import re
import resource
import socket
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from file_damage import signed
from safetensors.numpy import save_file

from treewright.data.schema import Column, Schema
from treewright.exceptions import ModelFileError
from treewright.trees import container
from treewright.trees.arrays import LEAF, SUBSET, THRESHOLD, Tree
from treewright.trees.codec import dumps, load, loads
from treewright.trees.data import ModelData


@pytest.fixture(scope="module")
def model() -> ModelData:
    """Two splits: x <= 2.5, then city in {Bonn, Rome}; leaves at 2, 3 and 4."""
    counts = np.array([[6, 4], [5, 1], [1, 3], [4, 0], [1, 1]], np.float64)
    tree = Tree(
        kind=np.array([THRESHOLD, SUBSET, LEAF, LEAF, LEAF], np.uint8),
        feature=np.array([0, 1, -1, -1, -1], np.int32),
        threshold=np.array([2.5, 0, 0, 0, 0], np.float64),
        first_child=np.array([1, 3, -1, -1, -1], np.int32),
        n_branches=np.array([2, 2, 0, 0, 0], np.int32),
        missing_branch=np.array([1, 0, 0, 0, 0], np.int32),
        level_set=np.array([-1, 0, -1, -1, -1], np.int32),
        n_samples=counts.sum(axis=1).astype(np.int64),
        weight=counts.sum(axis=1),
        impurity=np.array([0.48, 0.25, 0.375, 0.0, 0.5]),
        value=counts,
        levels_left=np.array([0b0101], np.uint64),
        levels_seen=np.array([0b0111], np.uint64),
    )
    columns = (Column("x", "numeric"), Column("city", "nominal", ("Bonn", "Oslo", "Rome"), family="string"))
    return ModelData("classification", Schema(columns), (tree,), (np.array(["no", "yes"]),), facts={"rows": 10})


@pytest.fixture(scope="module")
def data(model: ModelData) -> bytes:
    """The bytes of that model."""
    return dumps(model)


def with_header(data: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """The bytes with another header, its length and the digest made to fit."""
    length = int.from_bytes(data[:8], "little")
    header = change(data[8 : 8 + length].rstrip(b" "))
    header += b" " * (-len(header) % 8)
    return signed(len(header).to_bytes(8, "little") + header + data[8 + length :])


def with_metadata(data: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    """The bytes with other metadata, in canonical form and with a digest that fits."""

    def turn(header: bytes) -> bytes:
        outer = json.loads(header)
        inner = json.loads(outer["__metadata__"]["treewright"])
        change(inner)
        outer["__metadata__"]["treewright"] = container.canonical(inner)
        return container.canonical(outer).encode()

    return with_header(data, turn)


def with_arrays(data: bytes, **changes: np.ndarray) -> bytes:
    """The bytes with other arrays, laid out and signed as a legal file would be."""
    length = int.from_bytes(data[:8], "little")
    metadata, places = container.read_header(data[8 : 8 + length], 1)
    body = data[8 + length :]
    arrays = container.read_arrays(body, container.read_places(places, len(body)))
    return container.compose(metadata, arrays | {name.replace("__", "."): cells for name, cells in changes.items()})


def refused(data: bytes) -> str:
    """The message with which the bytes are refused."""
    with pytest.raises(ModelFileError) as caught:
        loads(data)
    return str(caught.value)


def test_the_attacks_start_from_a_file_that_loads(data: bytes) -> None:
    loads(data)

    assert signed(data) == with_header(data, bytes) == with_arrays(data) == data
    assert with_metadata(data, lambda inner: None) == data


@pytest.mark.parametrize("more", [b"\0", b" ", b"\n", b"\0" * 8, b"PK\x05\x06" + b"\0" * 18])
def test_appended_bytes_are_refused_even_when_signed(data: bytes, more: bytes) -> None:
    assert "followed by other bytes" in refused(data + more)
    assert "followed by other bytes" in refused(signed(data + more))
    refused(data + data)


def test_random_bytes_are_refused() -> None:
    rng = np.random.default_rng(0)
    for length in range(300):
        refused(rng.bytes(length))
        refused((length - 8 & 2**64 - 1).to_bytes(8, "little") + rng.bytes(max(length - 8, 0)))
        refused((length + 8).to_bytes(8, "little") + b"{" + rng.bytes(length + 200))


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    assert "empty" in refused(b"")
    (tmp_path / "empty.tw").write_bytes(b"")
    with pytest.raises(ModelFileError, match=r"empty.tw': not a Treewright model file: it is empty"):
        load(tmp_path / "empty.tw")


CONTENT = [
    ("kind", [9, SUBSET, 0, 0, 0], "tree 0, node 0: kind 9"),
    ("first_child", [1, 4, -1, -1, -1], "tree 0, node 1: children 4 and 5"),
    ("first_child", [1, 2**31 - 1, -1, -1, -1], "tree 0, node 1: children"),
    ("first_child", [1, 0, -1, -1, -1], "tree 0, node 1: first_child 0 is not after"),
    ("first_child", [1, 2, -1, -1, -1], "tree 0, node 2: 2 parents"),
    ("first_child", [3, 3, -1, -1, -1], "tree 0, node 1: 0 parents"),
    ("feature", [-1, 1, -1, -1, -1], "tree 0, node 0: feature -1"),
    ("feature", [2**31 - 1, 1, -1, -1, -1], "tree 0, node 0: feature 2147483647"),
    ("feature", [1, 1, -1, -1, -1], "tree 0, node 0: its kind of test"),
    ("threshold", [np.nan, 0, 0, 0, 0], "tree 0, node 0: the threshold is nan"),
    ("level_set", [-1, 1, -1, -1, -1], "tree 0, node 1: level_set 1"),
    ("n_samples", [10, 6, 4, 4, 0], "tree 0, node 4: n_samples is 0"),
    ("weight", [10, 6, 4, 4, -2], "tree 0, node 4: weight is -2.0"),
    ("impurity", [0, 0, 0, 0, -1e-300], "tree 0, node 4: impurity is -1e-300"),
    ("value", [[6, 4], [5, 1], [1, 3], [4, 0], [np.inf, 1]], "tree 0, node 4: a value is not finite"),
    ("value", [[6], [5], [1], [4], [1]], "tree 0: value has shape (5, 1), expected (5, 2)"),
    ("levels_left", [2**64 - 1], "tree 0, node 1: levels_left has bits beyond"),
    ("levels_left", [5, 0], "levels_seen is not as long as levels_left"),
    ("kind", [3, SUBSET, 0, 0, 0], "tree 0, node 0: its kind of test does not fit the kind of column 0"),
    ("n_branches", [2, 3, 0, 0, 0], "tree 0, node 1: 3 branches, expected 2"),
    ("level_branch", [0], "level_branch_offsets do not divide 1 cells"),
    ("cuts", [0.0], "cut_offsets do not divide 1 cells"),
    ("surrogate_node", [0], "surrogate_feature is not as long as surrogate_node"),
]


@pytest.mark.parametrize(("field", "cells", "message"), CONTENT)
def test_hostile_arrays_under_a_valid_digest_are_named_with_tree_and_node(
    data: bytes, field: str, cells: list[Any], message: str
) -> None:
    dtype = container.TENSORS[f"trees.{field}"][0]

    assert message in refused(with_arrays(data, **{f"trees__{field}": np.array(cells, dtype)}))


@pytest.mark.parametrize(
    ("name", "offsets"),
    [
        ("tree_offsets", [0]),
        ("tree_offsets", []),
        ("tree_offsets", [1, 5]),
        ("tree_offsets", [0, 2**63 - 1]),
        ("tree_offsets", [0, -(2**63), 5]),
        ("tree_offsets", [0, 0, 5]),
        ("tree_offsets", [0, 3, 5]),
        ("word_offsets", [0, 0]),
        ("word_offsets", [0, 1, 1]),
        ("level_branch_offsets", [0]),
        ("level_branch_offsets", [0, 1]),
        ("cut_offsets", [0, 0, 0]),
        ("surrogate_offsets", [-1, 0]),
    ],
)
def test_offsets_that_do_not_divide_the_arrays_are_refused(data: bytes, name: str, offsets: list[int]) -> None:
    refused(with_arrays(data, **{name: np.array(offsets, np.int64)}))


@pytest.mark.parametrize(
    ("key", "entry", "message"),
    [
        ("task", "regression", "class lists"),
        ("task", None, "of the wrong type"),
        ("missing", "guess", "missing is 'guess'"),
        ("missing", None, "of the wrong type"),
        ("n_outputs", 2, "class lists for 2 outputs"),
        ("n_outputs", 10**12, "class lists"),
        ("n_outputs", True, "of the wrong type"),
        ("classes", [], "0 class lists"),
        ("classes", [{"dtype": "O", "values": "x"}], "damaged model file"),
        ("classes", [[]], "damaged model file"),
        ("schema", {}, "damaged model file"),
        ("schema", {"named": True, "columns": []}, "damaged model file"),
        ("schema", {"named": True, "columns": [None]}, "damaged model file"),
        ("target_names", [1], "a target name is not text"),
        ("target_names", ["a", "b"], "2 target names"),
        ("facts", [], "of the wrong type"),
        ("format", 0, "no format version"),
        ("format", "1", "no format version"),
        ("format", True, "no format version"),
        ("extra", 1, "missing, unknown or"),
    ],
)
def test_hostile_metadata_under_a_valid_digest_is_refused(data: bytes, key: str, entry: Any, message: str) -> None:
    assert message in refused(with_metadata(data, lambda inner: inner.update({key: entry})))


GOOD = {"at": 0.2, "positive": 1, "why": ""}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"threshold": None}, "an entry of the metadata is missing"),
        ({"threshold": {}}, "an entry of the threshold is missing"),
        ({"threshold": {**GOOD, "more": 1}}, "an entry of the threshold is missing"),
        ({"threshold": {**GOOD, "at": "0.2"}}, "of the wrong type"),
        ({"threshold": {**GOOD, "at": 1.5}}, "expected a number from 0 to 1"),
        ({"threshold": {**GOOD, "positive": 2}}, "expected 0 or 1"),
        ({"threshold": {**GOOD, "positive": True}}, "of the wrong type"),
        ({"threshold": {**GOOD, "why": "x" * 201}}, "201 characters, at most 200"),
        ({"threshold": {**GOOD, "cost": None}}, "of the wrong type"),
        ({"threshold": {**GOOD, "cost": {"fp": 1.0}}}, "not two numbers fp and fn"),
        ({"threshold": {**GOOD, "cost": {"fn": 1, "fp": 1.0}}}, "not two numbers fp and fn"),
        ({"threshold": {**GOOD, "cost": {"fn": -1.0, "fp": 2.0}}}, "expected 0 or more, not both 0"),
        ({"threshold": {**GOOD, "cost": {"fn": 0.0, "fp": 0.0}}}, "expected 0 or more, not both 0"),
        ({"form": 5}, "do not state the form"),
        ({"form": "1"}, "do not state the form"),
        ({"form": 2}, "damaged model file"),
        ({"form": 4}, "it holds nearest neighbours"),
    ],
)
def test_a_hostile_threshold_is_refused(data: bytes, changes: dict[str, Any], message: str) -> None:
    good = {"format": 5, "form": 1, "threshold": GOOD}
    assert loads(with_metadata(data, lambda inner: inner.update(good))).threshold is not None
    assert message in refused(with_metadata(data, lambda inner: inner.update({**good, **changes})))


def test_a_missing_metadata_entry_is_refused(data: bytes) -> None:
    for key in ("classes", "combine", "digest", "facts", "format", "library", "missing", "schema", "task", "unseen"):
        refused(with_metadata(data, lambda inner, key=key: inner.pop(key)))


def test_a_newer_format_asks_for_an_upgrade_whatever_else_it_holds(data: bytes) -> None:
    message = "written by a newer Treewright (format 8; this one reads up to 7): upgrade"

    assert message in refused(with_metadata(data, lambda inner: inner.update(format=8)))
    newer = b'{"__metadata__":{"treewright":"{\\"format\\":8}"},"forest":{"kind":"new"}}'
    assert message in refused(len(newer).to_bytes(8, "little") + newer)


HEADERS: dict[str, Callable[[bytes], bytes]] = {
    "a key of the header twice": lambda header: header.replace(b"{", b'{"trees.kind":{},', 1),
    "a key of the metadata twice": lambda header: header.replace(rb"\"task\"", rb"\"task\":\"x\",\"task\""),
    "a space": lambda header: header.replace(b"{", b"{ ", 1),
    "a space in the metadata": lambda header: header.replace(rb"\"task\":", rb"\"task\": "),
    "NaN": lambda header: header.replace(rb"\"rows\":10", rb"\"rows\":NaN"),
    "Infinity": lambda header: header.replace(rb"\"rows\":10", rb"\"rows\":Infinity"),
    "-Infinity": lambda header: header.replace(rb"\"rows\":10", rb"\"rows\":-Infinity"),
    "a number beyond float64": lambda header: header.replace(rb"\"rows\":10", rb"\"rows\":1e999"),
    "a number spelled otherwise": lambda header: header.replace(rb"\"rows\":10", rb"\"rows\":1.00"),
    "a number of a million digits": lambda header: header.replace(rb"\"rows\":10", rb"\"rows\":1" + b"0" * 10**6),
    "lists a million deep": lambda header: header.replace(rb"\"rows\":10", rb"\"rows\":" + b"[" * 10**6),
    "closed lists a million deep": lambda header: header.replace(
        rb"\"rows\":10", rb"\"rows\":" + b"[" * 10**6 + b"]" * 10**6
    ),
    "objects a hundred thousand deep": lambda header: b'{"a":' * 10**5,
    "lists a million deep in the header": lambda header: header.replace(
        b"{", b'{"a":' + b"[" * 10**6 + b"]" * 10**6, 1
    ),
    "a million quotes": lambda header: b'{"' + b'\\"' * 10**6,
    "a million open strings in lists": lambda header: b'{"a":' + b'["\\' * 10**6,
    "invalid UTF-8": lambda header: header.replace(b"treewright", b"tree\xff\xfewright"),
    "no metadata": lambda header: re.sub(rb'"__metadata__":\{.*?\}"\},', b"", header),
    "no object": lambda header: b"[]",
    "an empty object": lambda header: b"{}",
    "another reader's metadata": lambda header: header.replace(b'"treewright":', b'"pt":'),
    "two metadata": lambda header: header.replace(b'"treewright":', b'"a":"b","treewright":'),
    "an array more": lambda header: header[:-1] + b',"zzz":{"data_offsets":[0,0],"dtype":"U8","shape":[0]}}',
    "an array less": lambda header: re.sub(rb',"trees.weight":\{.*?\}', b"", header),
    "an array of another name": lambda header: header.replace(b"trees.weight", b"trees.weighs"),
    "another dtype": lambda header: header.replace(b'"U8"', b'"I8"'),
    "a dtype nobody knows": lambda header: header.replace(b'"U8"', b'"O"'),
    "10**12 nodes": lambda header: header.replace(b'"shape":[5]', b'"shape":[1000000000000]'),
    "2**64 nodes": lambda header: header.replace(b'"shape":[5]', b'"shape":[18446744073709551616]'),
    "2**32 times 2**32 values": lambda header: header.replace(b'"shape":[5,2]', b'"shape":[4294967296,4294967296]'),
    "a negative shape": lambda header: header.replace(b'"shape":[5,2]', b'"shape":[-5,-2]'),
    "a shape of booleans": lambda header: header.replace(b'"shape":[1]', b'"shape":[true]'),
    "an axis more": lambda header: header.replace(b'"shape":[5]', b'"shape":[5,1]'),
    "no shape": lambda header: header.replace(b',"shape":[5]', b""),
    "overlapping places": lambda header: header.replace(b'"data_offsets":[80,120]', b'"data_offsets":[40,80]'),
    "a hole": lambda header: header.replace(b'"data_offsets":[80,120]', b'"data_offsets":[81,121]'),
    "a place before the file": lambda header: header.replace(b'"data_offsets":[80,120]', b'"data_offsets":[-40,0]'),
}


@pytest.mark.parametrize("attack", HEADERS)
def test_hostile_headers_under_a_valid_digest_are_refused_in_a_line(data: bytes, attack: str) -> None:
    hostile = with_header(data, HEADERS[attack])
    assert hostile != data

    message = refused(hostile)

    assert len(message) < 300


def test_deep_nesting_is_refused_whatever_the_recursion_limit(data: bytes) -> None:
    hostile = with_header(data, HEADERS["closed lists a million deep"])
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(10**6)
    try:
        assert "nested more than" in refused(hostile)
    finally:
        sys.setrecursionlimit(before)


def test_hostile_text_is_not_repeated_raw_in_the_message(data: bytes) -> None:
    hostile = with_header(data, lambda header: header.replace(b"trees.weight", b"\\u001b[2J\\u202e" + b"x" * 1000))

    message = refused(hostile)

    assert message.isascii()
    assert message.isprintable()
    assert len(message) < 300


def test_a_header_length_beyond_the_file_or_the_cap_is_refused(data: bytes) -> None:
    for length in (0, 1, len(data) - 7, len(data), 2**26 + 1, 2**32, 2**63, 2**64 - 8, 2**64 - 1):
        refused(length.to_bytes(8, "little") + data[8:])


class Canary:
    """A pickle of it makes a file when it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_never_run(tmp_path: Path, protocol: int) -> None:
    (tmp_path / "model.tw").write_bytes(pickle.dumps(Canary(tmp_path / "canary"), protocol))

    with pytest.raises(ModelFileError, match="not a Treewright model file"):
        load(tmp_path / "model.tw")

    assert not (tmp_path / "canary").exists()


def test_other_files_under_our_name_are_not_model_files(tmp_path: Path) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("data.pkl", b"x" * 100)
    others = {
        "zip": archive.getvalue(),
        "HTML": b"<!doctype html><html></html>",
        "PNG": b"\x89PNG\r\n\x1a\n" + b"\0" * 100,
        "gzip": b"\x1f\x8b\x08" + b"\0" * 100,
        "Parquet": b"PAR1" + b"\0" * 100,
        "pickle": pickle.dumps([1, 2, 3]),
        "(?<=model file)$": b"a,b,c\n1,2,3\n",
        "(?<=file)$": json.dumps({"kind": "json"}).encode(),
        "too few": b"tree",
    }
    for hint, content in others.items():
        (tmp_path / "model.tw").write_bytes(content)
        with pytest.raises(ModelFileError, match=f"model.tw': not a Treewright model file.*(?:{hint})"):
            load(tmp_path / "model.tw")


def test_a_safetensors_file_of_another_program_is_not_a_model_file(tmp_path: Path) -> None:
    save_file({"weight": np.zeros(3)}, tmp_path / "model.tw")

    with pytest.raises(ModelFileError, match="it is a safetensors file of another program"):
        load(tmp_path / "model.tw")


def test_what_is_no_regular_file_is_refused_without_a_look_into_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        (tmp_path / "link").symlink_to(tmp_path / "pipe")

        for path in (tmp_path, tmp_path / "pipe", tmp_path / "link", tmp_path / "socket", "/dev/zero", "/dev/null"):
            with pytest.raises(ModelFileError, match="not a regular file"):
                load(path)


def peak_memory() -> int:
    """Bytes that this process has ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.parametrize(
    ("beginning", "told"),
    [
        ("zeros", "not a Treewright model file"),
        ("a header length", "not a Treewright model file"),
        ("a model", "followed by other bytes"),
    ],
)
def test_ten_sparse_gigabytes_are_refused_without_memory(
    tmp_path: Path, data: bytes, beginning: str, told: str
) -> None:
    begin = {"zeros": b"", "a header length": (2**26).to_bytes(8, "little"), "a model": data}[beginning]
    with (tmp_path / "model.tw").open("wb") as file:
        file.write(begin)
        file.truncate(10 * 2**30)
    before = peak_memory()

    with pytest.raises(ModelFileError, match=told):
        load(tmp_path / "model.tw")

    assert peak_memory() - before < 200 * 2**20


def test_a_forest_of_hostile_copies_names_the_tree(model: ModelData) -> None:
    forest = dumps(replace(model, trees=model.trees * 3, combine="mean"))
    features = np.array([0, 1, -1, -1, -1] * 3, np.int32)
    features[5] = 7

    assert "tree 1, node 0: feature 7 is not one of 2 columns" in refused(with_arrays(forest, trees__feature=features))
