"""A model file, opened and judged. In: a path or bytes. Out: the model that its content makes.

Callers: the codecs of the kinds of models, ``treewright.model``. What every kind has in common is here: the container,
whose header, digest and places are checked before anything is made of them, and the metadata that all models have. What
a kind holds beside that its ``Reader`` knows.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from treewright.core.files import NotRegularError, open_regular
from treewright.data.categories import array_from_json, schema_from_json, schema_to_json
from treewright.data.memory import check_fits
from treewright.data.schema import Schema
from treewright.exceptions import ModelFileError, ParameterError, TooLargeError
from treewright.tree.container import (
    NESTING_CAP,
    PREFIX,
    Layout,
    canonical,
    check_canonical,
    check_digest,
    header_length,
    read_arrays,
    read_header,
    read_places,
)

# The third holds packed trees of boosting, or other trees with weights.
TREE_FORMAT, PACKED_FORMAT, BOOSTED_FORMAT, NEIGHBORS_FORMAT = 1, 2, 3, 4
FILE_FORMAT = NEIGHBORS_FORMAT  # the newest that can be read
FACTS_CAP = 1_000_000  # entries; facts that contain themselves have no end
LARGEST_BITS = 4096  # of a whole number among the facts; turning digits to bits takes quadratic time

Fitted_co = TypeVar("Fitted_co", covariant=True)


@dataclass(frozen=True)
class Reader(Generic[Fitted_co]):
    """How the files of one kind of model are read.

    Attributes
    ----------
    layout : callable
        From the metadata and the places of the header, neither of which is to be trusted, to the arrays that such a
        file must hold.
    metadata : callable
        From the metadata to the type of each entry that they must hold.
    model : callable
        From metadata of these entries and arrays of that layout to a model whose content is checked; the digest of the
        file is right then.
    """

    layout: Callable[[dict[str, Any], dict[str, Any]], Layout]
    metadata: Callable[[dict[str, Any]], Mapping[str, type]]
    model: Callable[[dict[str, Any], dict[str, np.ndarray]], Fitted_co]


def read_file(path: str | os.PathLike[str], reader_of: Callable[[int], Reader[Fitted_co]]) -> Fitted_co:
    """Read a model file. Nothing in it is ever run; every byte is checked.

    Parameters
    ----------
    path : str or path-like
    reader_of : callable
        From the number of the format to the reader of such files.

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
            reader = reader_of(metadata["format"])
            layout = reader.layout(metadata, places)
            shapes = read_places(places, body_size, layout)
            check_fits(body_size, f"the model file {name!r}", "load it on a machine with more memory")
            body = file.read(body_size)
            if len(body) != body_size or file.read(1):
                raise ModelFileError("not a whole model file: it changed while it was read; try again")
        return _decode(header, body, metadata, shapes, layout, reader)
    except (NotRegularError, ModelFileError) as error:
        raise ModelFileError(f"{name!r}: {error}") from None
    except MemoryError:
        raise TooLargeError(f"{name!r} does not fit in memory: {Path(name).stat().st_size:,} bytes") from None


def read_bytes(data: bytes | bytearray | memoryview, reader_of: Callable[[int], Reader[Fitted_co]]) -> Fitted_co:
    """The model in the bytes of a model file; as ``read_file``.

    Parameters
    ----------
    data : bytes-like
        The arrays of the model are views of it where it is ``bytes``, else of a copy.
    reader_of : callable

    Raises
    ------
    ModelFileError
        As ``read_file``.
    """
    data = bytes(data)
    begin = PREFIX.size + header_length(data[: PREFIX.size + 1], len(data))
    header, body = data[PREFIX.size : begin], memoryview(data)[begin:]
    metadata, places = read_header(header, FILE_FORMAT)
    reader = reader_of(metadata["format"])
    layout = reader.layout(metadata, places)
    return _decode(header, body, metadata, read_places(places, len(body), layout), layout, reader)


def _decode(
    header: bytes,
    body: bytes | memoryview,
    metadata: dict[str, Any],
    shapes: dict[str, tuple[int, ...]],
    layout: Layout,
    reader: Reader[Fitted_co],
) -> Fitted_co:
    """The model of a header and its arrays; the layout is right already, nothing else is trusted."""
    digest = check_digest(header, body)
    expected = reader.metadata(metadata)
    if set(metadata) != set(expected) or any(type(metadata[key]) is not kind for key, kind in expected.items()):
        raise ModelFileError("damaged model file: the metadata lack an entry, or hold one too many or of another type")
    if metadata["digest"] != digest:
        raise ModelFileError("damaged model file: the metadata state another digest than the header")
    check_canonical(header, metadata, shapes, layout)
    return reader.model(metadata, read_arrays(body, shapes, layout))


def schema_of(metadata: Mapping[str, Any]) -> Schema:
    """The columns that the metadata state.

    Raises
    ------
    ModelFileError
        They are not of the form that ``schema_to_json`` writes.
    """
    try:
        schema = schema_from_json(metadata["schema"])
        written = canonical(schema_to_json(schema))
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise ModelFileError(f"damaged model file: {error}") from None
    if written != canonical(metadata["schema"]):  # one model, one file
        raise ModelFileError("damaged model file: a column name or level is not in its canonical form")
    return schema


def classes_of(metadata: Mapping[str, Any]) -> tuple[np.ndarray, ...]:
    """The class labels of each output.

    Raises
    ------
    ModelFileError
        They are not of the form that ``array_to_json`` writes.
    """
    try:
        return tuple(array_from_json(labels) for labels in metadata["classes"])
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise ModelFileError(f"damaged model file: {error}") from None


def target_names_of(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the outputs.

    Raises
    ------
    ModelFileError
        One is no text.
    """
    names = metadata["target_names"]
    if not all(isinstance(name, str) for name in names):
        raise ModelFileError("damaged model file: a target name is not text")
    return tuple(names)


def check_plain(facts: dict[str, Any]) -> None:
    """Facts must come back as they went in: plain JSON, so that a tuple does not return as a list.

    Raises
    ------
    ParameterError
        Something in them is not plain JSON.
    """
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
