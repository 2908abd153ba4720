"""The model file. In: ``ModelData``. Out: bytes or a file, and back. Callers: ``treewright.model``, the command.

A model file holds data only (``container`` has the layout): nothing in it runs. Any bytes give a valid model or one
``ModelFileError``; the same model gives the same bytes. The arrays of all trees stand one after another, so that a
forest of 1,000 trees has no longer a header than one tree.
"""

from __future__ import annotations

import os
from itertools import pairwise
from typing import Any

import numpy as np

from treewright.core.files import write_whole
from treewright.data.categories import array_to_json, schema_to_json
from treewright.exceptions import ModelFileError
from treewright.tree.arrays import Tree
from treewright.tree.check import check_model
from treewright.tree.codec_boosting import WEIGHTS, boosting_from_json, boosting_to_json, with_weights
from treewright.tree.codec_packed import arrays_of, packed_layout, packed_of
from treewright.tree.codec_targets import arrays_of_targets, targets_of, with_targets
from treewright.tree.container import TENSORS, Layout, compose
from treewright.tree.fields import TABLES
from treewright.tree.model import ModelData
from treewright.tree.model_file import (
    BOOSTED_FORMAT,
    NEIGHBORS_FORMAT,
    PACKED_FORMAT,
    TREE_FORMAT,
    Reader,
    check_plain,
    classes_of,
    read_bytes,
    read_file,
    schema_of,
    target_names_of,
)
from treewright.tree.packed import PackedTrees
from treewright.version import __version__

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
    return read_file(path, _reader_of)


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
    check_plain(model.facts)
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
    return read_bytes(data, _reader_of)


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


def _expected(metadata: dict[str, Any]) -> dict[str, type]:
    """The metadata that a file of this format must hold."""
    if not _is_packed(metadata):
        return _METADATA
    return _BOOSTED_METADATA if metadata["format"] == BOOSTED_FORMAT else _PACKED_METADATA


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
    """The model, checked."""
    names, schema, classes = target_names_of(metadata), schema_of(metadata), classes_of(metadata)
    trees: tuple[Tree, ...] | PackedTrees
    boosting = boosting_from_json(metadata["boosting"]) if "boosting" in metadata else None
    if _is_packed(metadata):
        counted = () if boosting is not None else tuple(len(labels) for labels in classes)
        trees = packed_of(arrays, metadata["criterion"], counted)
    else:
        trees = _split(arrays)
    model = ModelData(
        task=metadata["task"],
        schema=schema,
        trees=trees,
        classes=classes,
        n_outputs=metadata["n_outputs"],
        combine=metadata["combine"],
        unseen=metadata["unseen"],
        missing=metadata["missing"],
        target_names=names,
        facts=metadata["facts"],
        leaf_targets=targets_of(arrays),
        boosting=boosting,
        tree_weights=arrays.get(WEIGHTS),
    )
    check_model(model)
    return model


READER = Reader(_layout, _expected, _assemble)


def _reader_of(file_format: int) -> Reader[ModelData]:
    """The reader of trees.

    Raises
    ------
    ModelFileError
        Files of that format hold none.
    """
    if file_format == NEIGHBORS_FORMAT:
        raise ModelFileError("it holds nearest neighbours, no trees: treewright.load reads it")
    return READER
