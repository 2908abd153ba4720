"""The model file: a model as bytes, and back.

A model file holds data only (``trees.container`` has the layout): nothing in it runs. Any bytes give a valid model or
one ``ModelFileError``; the same model gives the same bytes. The arrays of all trees are concatenated, so that the
header of a forest of 1,000 trees is no longer than that of one tree. Here arrays get their names and places;
``check_model`` checks their content.
"""

from __future__ import annotations

import os
from collections.abc import Container, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from treewright.core.files import write_whole
from treewright.data.categories import array_to_json, schema_to_json
from treewright.exceptions import ModelFileError
from treewright.trees.arrays import TABLES, Tree
from treewright.trees.check import BIN_DTYPES
from treewright.trees.check_model import check_model
from treewright.trees.container import (
    BOOSTED_FORMAT,
    DTYPE_NAMES,
    NEIGHBORS_FORMAT,
    PACKED_FORMAT,
    TENSORS,
    TREE_FORMAT,
    Layout,
    Reader,
    check_plain,
    classes_of,
    compose,
    form_of,
    read_bytes,
    read_file,
    schema_of,
    target_names_of,
    threshold_of,
    wrapped,
)
from treewright.trees.data import BoostedTrees, Boosting, LeafTargets, ListedTrees, ModelData, grid_from_json
from treewright.trees.packed import PackedTrees
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
WEIGHTS = "tree_weights"
F8, F4, I8, U8, I4, U1 = (np.dtype(kind) for kind in ("<f8", "<f4", "<i8", "<u8", "<i4", "u1"))
# The arrays before and after the three leaf arrays, whose cells have four or eight bytes: the widest cells first.
_WIDE: Layout = {
    "packed.importances": (F8, 2),
    "bins.lowest": (F8, 1),
    "bins.highest": (F8, 1),
    "packed.records": (I8, 1),
    "packed.roots": (I8, 1),
    "packed.leaf_samples": (I8, 1),
    "bins.start": (I8, 1),
    "bins.level_start": (I8, 1),
    "packed.sets": (U8, 2),
    "packed.seen": (U8, 2),
}
_LEAVES = {"packed.leaf_value": 2, "packed.leaf_weight": 1, "packed.leaf_impurity": 1}
_NARROW: Layout = {
    "packed.set_column": (I4, 1),
    "bins.n_bins": (I4, 1),
    "bins.is_nominal": (U1, 1),
    "bins.level_bin": (U1, 1),
}
_TARGETS: Layout = {
    "targets.values": (np.dtype("<f8"), 1),
    "targets.ranks": (np.dtype("<i4"), 1),
    "targets.reached": (np.dtype("<i4"), 1),
}


def save(model: ModelData, path: str | os.PathLike[str]) -> None:
    """Write a model file in one step: a crash, a full disk or Ctrl-C do not change the old file.

    An existing file is replaced and keeps its permissions; a symbolic link stays, and its target is replaced.

    Raises
    ------
    InputFileError
        The path cannot be written: no such folder, a folder itself, read-only, disk full.
    ModelFileError, ParameterError, TooLargeError
        As ``dumps``.
    """
    write_whole(path, dumps(model))


def load(path: str | os.PathLike[str]) -> ModelData:
    """Read a model file. Nothing in it is ever run; every byte is checked.

    Raises
    ------
    InputFileError
        The file does not exist or may not be read.
    ModelFileError
        Not a model file, incomplete, damaged, written by a newer Treewright, or with contradicting content; also a
        folder, pipe or device.
    TooLargeError
        The file does not fit in memory.
    """
    return read_file(path, _reader_of)


def dumps(model: ModelData) -> bytes:
    """The bytes of a model file: the same model always gives the same bytes.

    Raises
    ------
    ModelFileError
        The model breaks an invariant, so it could not be loaded again.
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
        return compose(wrapped(metadata, model.threshold, model.grid), arrays | targets, with_targets(layout, targets))
    arrays = {}
    for offsets, table in TABLES.items():
        for field in table:
            arrays[f"trees.{field}"] = np.concatenate([getattr(tree, field) for tree in trees])
        lengths = (len(getattr(tree, next(iter(table)))) for tree in trees)
        arrays[offsets] = np.cumsum([0, *lengths], dtype=np.int64)
    if model.tree_weights is not None:
        metadata["format"], arrays[WEIGHTS], layout = BOOSTED_FORMAT, model.tree_weights, with_weights(layout)
    if model.boosting is not None:
        metadata |= {"boosting": boosting_to_json(model.boosting), "format": BOOSTED_FORMAT}
    stated = wrapped(metadata, model.threshold, model.grid, is_new=model.boosting is not None)
    return compose(stated, arrays | targets, with_targets(layout, targets))


def loads(data: bytes | bytearray | memoryview) -> ModelData:
    """The model in the bytes of a model file; its arrays are views of ``bytes``, else of a copy."""
    return read_bytes(data, _reader_of)


def _reader_of(file_format: int) -> Reader[ModelData]:
    """The reader of models of trees."""
    if file_format == NEIGHBORS_FORMAT:
        raise ModelFileError("it holds nearest neighbours, not trees: treewright.load reads it")
    return READER


def _is_packed(metadata: dict[str, Any]) -> bool:
    """Whether a file holds packed trees."""
    return form_of(metadata) == PACKED_FORMAT or (form_of(metadata) == BOOSTED_FORMAT and "criterion" in metadata)


def _expected(metadata: dict[str, Any]) -> dict[str, type]:
    """The types of the metadata entries that a file of this format must hold."""
    if not _is_packed(metadata):
        is_boosted = form_of(metadata) == BOOSTED_FORMAT and "boosting" in metadata
        return {**_METADATA, "boosting": dict} if is_boosted else _METADATA
    return _BOOSTED_METADATA if form_of(metadata) == BOOSTED_FORMAT else _PACKED_METADATA


def _layout(metadata: dict[str, Any], places: dict[str, Any]) -> Layout:
    """The arrays that a file of this format must hold."""
    if _is_packed(metadata):
        layout = packed_layout(places)
    else:
        has_weights = form_of(metadata) == BOOSTED_FORMAT and "boosting" not in metadata
        layout = with_weights(TENSORS) if has_weights else TENSORS
    return with_targets(layout, places)


def _assemble(metadata: dict[str, Any], arrays: dict[str, np.ndarray]) -> ModelData:
    """The model, checked."""
    names, schema, classes = target_names_of(metadata), schema_of(metadata), classes_of(metadata)
    trees: ListedTrees | PackedTrees
    boosting = boosting_from_json(metadata["boosting"]) if "boosting" in metadata else None
    if _is_packed(metadata):
        counted = () if boosting is not None else tuple(len(labels) for labels in classes)
        trees = packed_of(arrays, metadata["criterion"], counted)
    else:
        trees = _split(arrays, boosting is not None)
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
        threshold=threshold_of(metadata),
        grid=grid_from_json(metadata.get("grid")),
    )
    check_model(model)
    return model


def _split(arrays: dict[str, np.ndarray], is_boosted: bool) -> ListedTrees:
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
        is_complete = len(steps) > 1 and steps[0] == 0 and steps[-1] == n_cells
        # Compared, not subtracted: a difference of malicious numbers may overflow.
        if not is_complete or (steps[1:] < steps[:-1]).any() or len(steps) != n_steps:
            raise ModelFileError(f"damaged model file: {offsets} do not divide {n_cells:,} cells")
        places = [slice(begin, end) for begin, end in pairwise(steps.tolist())]
        for name in table:
            parts[name] = [arrays[f"trees.{name}"][place] for place in places]
    listed = BoostedTrees if is_boosted else ListedTrees
    return listed(Tree(**{name: cells[position] for name, cells in parts.items()}) for position in range(n_steps - 1))


def packed_layout(places: Mapping[str, Any]) -> Layout:
    """The arrays of a file of packed trees, with the leaves' dtypes that its header states, or else the expected ones.

    ``places`` are from ``container.read_header``; not trusted.
    """
    leaves: Layout = {}
    for name, n_axes in _LEAVES.items():
        place = places.get(name)
        stated = place.get("dtype") if isinstance(place, dict) else None
        leaves[name] = (F4 if stated == DTYPE_NAMES[F4.str] else F8, n_axes)
    # Cells of eight bytes after cells of four would not be aligned.
    widths = [dtype.itemsize for dtype, _ in leaves.values()]
    filled = [width for width, name in zip(widths, leaves, strict=True) if _is_filled(places.get(name))]
    if filled != sorted(filled, reverse=True):
        raise ModelFileError("damaged model file: the dtypes of the leaf arrays do not fit together")
    return {**_WIDE, **leaves, **_NARROW}


def _is_filled(place: object) -> bool:
    """Whether an array of the header has cells."""
    shape = place.get("shape") if isinstance(place, dict) else None
    return not isinstance(shape, list) or 0 not in shape


def arrays_of(packed: PackedTrees) -> tuple[dict[str, np.ndarray], Layout]:
    """The arrays of packed trees by their names in a file, and the layout that holds them."""
    arrays = {f"packed.{name}": array for name, array in packed.arrays().items()}
    arrays |= {f"bins.{name}": getattr(packed.bins, name) for name in BIN_DTYPES}
    leaves = {name: (arrays[name].dtype.newbyteorder("<"), n_axes) for name, n_axes in _LEAVES.items()}
    return arrays, {**_WIDE, **leaves, **_NARROW}


def packed_of(arrays: Mapping[str, np.ndarray], criterion: str, n_classes: tuple[int, ...]) -> PackedTrees:
    """Packed trees, not yet checked by ``check_packed``; the arrays of nodes and leaves are not copied."""
    from treewright.data.bins import Bins  # not at the top: it imports Numba, which loading a tree must not need

    if (arrays["bins.is_nominal"] > 1).any():
        raise ModelFileError("damaged model file: is_nominal holds numbers other than 0 and 1")
    # The bins are small; copies are writable, like those of a fit, so that kernels get one type of array.
    held: dict[str, Any] = {name: arrays[f"bins.{name}"].astype(dtype) for name, dtype in BIN_DTYPES.items()}
    trees = {name.removeprefix("packed."): array for name, array in arrays.items() if name.startswith("packed.")}
    return PackedTrees(bins=Bins(**held), criterion=criterion, n_classes=n_classes, **trees)


def boosting_to_json(boosting: Boosting) -> dict[str, Any]:
    """The base and the link as plain JSON."""
    return {"base": list(boosting.base), "link": boosting.link}


def boosting_from_json(entry: Mapping[str, Any]) -> Boosting:
    """Boosting, not yet checked by ``check_model``."""
    if set(entry) != {"base", "link"} or not isinstance(entry["base"], list) or not isinstance(entry["link"], str):
        raise ModelFileError("damaged model file: boosting does not state a base and a link")
    return Boosting(tuple(entry["base"]), entry["link"])  # type: ignore[arg-type]


def with_weights(layout: Layout) -> Layout:
    """The layout of a file whose trees have weights: these first, with the widest cells."""
    return {WEIGHTS: (np.dtype("<f8"), 1), **layout}


def arrays_of_targets(targets: LeafTargets | None) -> dict[str, np.ndarray]:
    """The arrays of the targets by their names in a file; empty without targets."""
    if targets is None:
        return {}
    return {name: getattr(targets, name.removeprefix("targets.")) for name in _TARGETS}


def with_targets(layout: Layout, names: Container[str]) -> Layout:
    """The layout of a file, with the arrays of the targets if one of them is among its ``names``."""
    if not any(name in names for name in _TARGETS):
        return layout
    # The widest cells first, as everywhere; the sort keeps the order of the others.
    return dict(sorted({**layout, **_TARGETS}.items(), key=lambda item: -item[1][0].itemsize))


def targets_of(arrays: Mapping[str, np.ndarray]) -> LeafTargets | None:
    """Targets, not yet checked by ``check_model``; the arrays are not copied."""
    if "targets.values" not in arrays:
        return None
    return LeafTargets(*(arrays[name] for name in _TARGETS))


READER = Reader(_layout, _expected, _assemble)
