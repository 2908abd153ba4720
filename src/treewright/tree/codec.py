"""The model file. In: ``ModelData``. Out: bytes or a file, and back. Callers: ``treewright.model``, the command.

A model file holds data only (``container`` has the layout): nothing in it runs. Any bytes give a valid model or one
``ModelFileError``; the same model gives the same bytes. The arrays of all trees stand one after another, so that a
forest of 1,000 trees has no longer a header than one tree.
"""

from __future__ import annotations

import math
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from treewright.core.files import NotRegularError, open_regular, write_whole
from treewright.data.categories import array_from_json, array_to_json, schema_from_json, schema_to_json
from treewright.data.memory import check_fits
from treewright.exceptions import ModelFileError, ParameterError, TooLargeError
from treewright.tree.arrays import Tree
from treewright.tree.check import check_model
from treewright.tree.codec_boosting import WEIGHTS, boosting_from_json, boosting_to_json, with_weights
from treewright.tree.codec_packed import arrays_of, packed_layout, packed_of
from treewright.tree.codec_targets import arrays_of_targets, targets_of, with_targets
from treewright.tree.container import (
    NESTING_CAP,
    PREFIX,
    TENSORS,
    Layout,
    canonical,
    check_canonical,
    check_digest,
    compose,
    header_length,
    read_arrays,
    read_header,
    read_places,
)
from treewright.tree.fields import TABLES
from treewright.tree.model import ModelData
from treewright.tree.packed import PackedTrees
from treewright.version import __version__

# The third holds packed trees of boosting, or other trees with weights.
TREE_FORMAT, PACKED_FORMAT, BOOSTED_FORMAT = 1, 2, 3
FILE_FORMAT = BOOSTED_FORMAT  # the newest that can be read
FACTS_CAP = 1_000_000  # entries; facts that contain themselves have no end
LARGEST_BITS = 4096  # of a whole number among the facts; turning digits to bits takes quadratic time
_METADATA = {
    "classes": list,
    "combine": str,
    "digest": str,
    "facts": dict,
    "format": int,
    "library": str,
    "missing": str,
    "n_outputs": int,
    "schema": dict,
    "target_names": list,
    "task": str,
    "unseen": str,
}
_PACKED_METADATA = {**_METADATA, "criterion": str}
_BOOSTED_METADATA = {**_PACKED_METADATA, "boosting": dict}


def save(model: ModelData, path: str | os.PathLike[str]) -> None:
    """Write a model file in one step: a crash, a full disk or Ctrl-C leave the old file as it was.

    Parameters
    ----------
    model : ModelData
    path : str or path-like
        An existing file is replaced and keeps its permissions; a symbolic link stays, its target is replaced.

    Raises
    ------
    InputFileError
        The path cannot be written: no such folder, a folder itself, read-only, disk full.
    ModelFileError
        The model breaks an invariant: it could not be loaded again.
    ParameterError
        ``model.facts`` is not plain JSON.
    TooLargeError
        Names, levels and labels take more than 64 MB.
    """
    write_whole(path, dumps(model))


def load(path: str | os.PathLike[str]) -> ModelData:
    """Read a model file. Nothing in it is ever run; every byte is checked.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    ModelData

    Raises
    ------
    InputFileError
        The file does not exist or may not be read.
    ModelFileError
        Not a model file, not whole, damaged, written by a newer Treewright, or its content contradicts itself; also a
        folder, pipe or device.
    TooLargeError
        The file does not fit in memory.
    """
    name = os.fsdecode(os.fspath(path))
    try:
        with open_regular(path) as (file, size):
            beginning = file.read(PREFIX.size + 1)
            header = beginning[PREFIX.size :] + file.read(header_length(beginning, size) - 1)
            body_size = size - PREFIX.size - len(header)
            # The header is judged before memory is asked for.
            metadata, places = read_header(header, FILE_FORMAT)
            layout = _layout(metadata, places)
            shapes = read_places(places, body_size, layout)
            check_fits(body_size, f"the model file {name!r}", "load it on a machine with more memory")
            body = file.read(body_size)
            if len(body) != body_size or file.read(1):
                raise ModelFileError("not a whole model file: it changed while it was read; try again")
        return _decode(header, body, metadata, shapes, layout)
    except (NotRegularError, ModelFileError) as error:
        raise ModelFileError(f"{name!r}: {error}") from None
    except MemoryError:
        raise TooLargeError(f"{name!r} does not fit in memory: {Path(name).stat().st_size:,} bytes") from None


def dumps(model: ModelData) -> bytes:
    """The bytes of a model file: the same model gives the same bytes, always.

    Parameters
    ----------
    model : ModelData

    Returns
    -------
    bytes

    Raises
    ------
    ModelFileError
        The model breaks an invariant: it could not be loaded again.
    ParameterError
        ``model.facts`` is not plain JSON.
    TooLargeError
        Names, levels and labels take more than 64 MB.
    """
    check_model(model)
    _check_facts(model.facts)
    metadata = {
        "classes": [array_to_json(labels) for labels in model.classes],
        "combine": model.combine,
        "facts": model.facts,
        "format": TREE_FORMAT,
        "library": __version__,
        "missing": model.missing,
        "n_outputs": model.n_outputs,
        "schema": schema_to_json(model.schema),
        "target_names": list(model.target_names),
        "task": model.task,
        "unseen": model.unseen,
    }
    trees, targets, layout = model.trees, arrays_of_targets(model.leaf_targets), TENSORS
    if isinstance(trees, PackedTrees):
        metadata |= {"criterion": trees.criterion, "format": PACKED_FORMAT}
        if model.boosting is not None:
            metadata |= {"boosting": boosting_to_json(model.boosting), "format": BOOSTED_FORMAT}
        arrays, layout = arrays_of(trees)
        return compose(metadata, arrays | targets, with_targets(layout, targets))
    arrays = {}
    for offsets, table in TABLES.items():
        for field in table:
            arrays[f"trees.{field}"] = np.concatenate([getattr(tree, field) for tree in trees])
        lengths = (len(getattr(tree, next(iter(table)))) for tree in trees)
        arrays[offsets] = np.cumsum([0, *lengths], dtype=np.int64)
    if model.tree_weights is not None:
        metadata["format"], arrays[WEIGHTS], layout = BOOSTED_FORMAT, model.tree_weights, with_weights(layout)
    return compose(metadata, arrays | targets, with_targets(layout, targets))


def loads(data: bytes | bytearray | memoryview) -> ModelData:
    """The model in the bytes of a model file.

    Parameters
    ----------
    data : bytes-like
        The arrays of the model are views of it where it is ``bytes``, else of a copy.

    Returns
    -------
    ModelData

    Raises
    ------
    ModelFileError
        Not a model file, not whole, damaged, written by a newer Treewright, or its content contradicts itself.
    """
    data = bytes(data)
    begin = PREFIX.size + header_length(data[: PREFIX.size + 1], len(data))
    header, body = data[PREFIX.size : begin], memoryview(data)[begin:]
    metadata, places = read_header(header, FILE_FORMAT)
    layout = _layout(metadata, places)
    return _decode(header, body, metadata, read_places(places, len(body), layout), layout)


def _layout(metadata: dict[str, Any], places: dict[str, Any]) -> Layout:
    """The arrays that a file of this format must hold."""
    if _is_packed(metadata):
        layout = packed_layout(places)
    else:
        layout = with_weights(TENSORS) if metadata["format"] == BOOSTED_FORMAT else TENSORS
    return with_targets(layout, places)


def _is_packed(metadata: dict[str, Any]) -> bool:
    """Whether a file holds packed trees."""
    return metadata["format"] == PACKED_FORMAT or (metadata["format"] == BOOSTED_FORMAT and "boosting" in metadata)


def _decode(
    header: bytes,
    body: bytes | memoryview,
    metadata: dict[str, Any],
    shapes: dict[str, tuple[int, ...]],
    layout: Layout,
) -> ModelData:
    """The model of a header and its arrays; the layout is right already, nothing else is trusted."""
    digest = check_digest(header, body)
    expected = _PACKED_METADATA if _is_packed(metadata) else _METADATA
    if metadata["format"] == BOOSTED_FORMAT and _is_packed(metadata):
        expected = _BOOSTED_METADATA
    if set(metadata) != set(expected) or any(type(metadata[key]) is not kind for key, kind in expected.items()):
        raise ModelFileError("damaged model file: the metadata lack an entry, or hold one too many or of another type")
    if metadata["digest"] != digest:
        raise ModelFileError("damaged model file: the metadata state another digest than the header")
    check_canonical(header, metadata, shapes, layout)
    arrays = read_arrays(body, shapes, layout)
    model = _assemble(metadata, arrays)
    check_model(model)
    return model


def _split(arrays: dict[str, np.ndarray]) -> tuple[Tree, ...]:
    """The trees, as views of the arrays that hold all of them."""
    n_steps = len(arrays["tree_offsets"])
    parts: dict[str, list[np.ndarray]] = {}
    for offsets, table in TABLES.items():
        first, *others = table
        n_cells = len(arrays[f"trees.{first}"])
        for name in others:
            if len(arrays[f"trees.{name}"]) != n_cells:
                raise ModelFileError(f"damaged model file: {name} is not as long as {first}")
        steps = arrays[offsets]
        whole = len(steps) > 1 and steps[0] == 0 and steps[-1] == n_cells
        # Compared, not subtracted: a difference of hostile numbers may overflow.
        if not whole or (steps[1:] < steps[:-1]).any() or len(steps) != n_steps:
            raise ModelFileError(f"damaged model file: {offsets} do not divide {n_cells:,} cells")
        places = [slice(begin, end) for begin, end in pairwise(steps.tolist())]
        for name in table:
            parts[name] = [arrays[f"trees.{name}"][place] for place in places]
    return tuple(Tree(**{name: cells[position] for name, cells in parts.items()}) for position in range(n_steps - 1))


def _assemble(metadata: dict[str, Any], arrays: dict[str, np.ndarray]) -> ModelData:
    """The model, from parts that ``check_model`` has still to look at."""
    names = metadata["target_names"]
    if not all(isinstance(name, str) for name in names):
        raise ModelFileError("damaged model file: a target name is not text")
    try:
        schema = schema_from_json(metadata["schema"])
        classes = tuple(array_from_json(labels) for labels in metadata["classes"])
        written = canonical(schema_to_json(schema))
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise ModelFileError(f"damaged model file: {error}") from None
    if written != canonical(metadata["schema"]):  # one model, one file
        raise ModelFileError("damaged model file: a column name or level is not in its canonical form")
    trees: tuple[Tree, ...] | PackedTrees
    boosting = boosting_from_json(metadata["boosting"]) if "boosting" in metadata else None
    if _is_packed(metadata):
        counted = () if boosting is not None else tuple(len(labels) for labels in classes)
        trees = packed_of(arrays, metadata["criterion"], counted)
    else:
        trees = _split(arrays)
    return ModelData(
        task=metadata["task"],
        schema=schema,
        trees=trees,
        classes=classes,
        n_outputs=metadata["n_outputs"],
        combine=metadata["combine"],
        unseen=metadata["unseen"],
        missing=metadata["missing"],
        target_names=tuple(names),
        facts=metadata["facts"],
        leaf_targets=targets_of(arrays),
        boosting=boosting,
        tree_weights=arrays.get(WEIGHTS),
    )


def _check_facts(facts: dict[str, Any]) -> None:
    """Facts must come back as they went in: plain JSON, so that a tuple does not return as a list."""
    waiting: list[tuple[str, Any]] = [("facts", facts)]
    seen = 0
    while waiting:
        place, value = waiting.pop()
        seen += 1
        if place.count("[") > NESTING_CAP or seen > FACTS_CAP:
            raise ParameterError(f"{place[:80]} is nested too deep, too long, or contains itself")
        if isinstance(value, dict):
            odd = next((key for key in value if not isinstance(key, str)), None)
            if odd is not None:
                raise ParameterError(f"{place}: key {odd!r} is not text; a model file can keep only text keys")
            waiting.extend((f"{place}[{key!r}]", item) for key, item in value.items())
        elif isinstance(value, list):
            waiting.extend((f"{place}[{position}]", item) for position, item in enumerate(value))
        elif isinstance(value, int) and value.bit_length() > LARGEST_BITS:
            raise ParameterError(f"{place} is a whole number of more than {LARGEST_BITS} bits; write it as text")
        elif isinstance(value, float) and not math.isfinite(value):
            raise ParameterError(f"{place} is {value}; write it as text or None: JSON has no such number")
        elif not isinstance(value, str | int | float | bool | None):
            raise ParameterError(f"{place} is a {type(value).__name__}; facts must be plain JSON")
