"""The container of every model file: its header, checksum and array places are checked before a model is made.

The format is safetensors: 8 bytes (little-endian length), a JSON header, the arrays one after another without gaps. It
is written here, not by the library, so that one model has one sequence of bytes; any safetensors reader opens it. The
one metadata entry ``treewright`` is JSON and holds a SHA-256 of the whole file, with its own digits read as zeros.
A ``Reader`` describes the content of one kind of model.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import struct
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
from treewright.trees.data import Grid, grid_to_json
from treewright.trees.threshold import Threshold, threshold_from_json, threshold_to_json

HEADER_CAP = 64 * 2**20  # bytes; 100,000 levels of 50 characters take 6 MB
NESTING_CAP = 128  # brackets; json.loads recurses
DIGITS_CAP = 4300  # of one whole number; reading n digits takes n**2 steps
PREFIX = struct.Struct("<Q")
# Widest cells first, so that every array begins at a multiple of its cell size.
# Name of an array to dtype and number of axes, in the order of the file.
Layout = dict[str, tuple[np.dtype, int]]
TENSORS: Layout = {
    "trees.value": (np.dtype("<f8"), 2),
    "trees.threshold": (np.dtype("<f8"), 1),
    "trees.weight": (np.dtype("<f8"), 1),
    "trees.impurity": (np.dtype("<f8"), 1),
    "trees.cuts": (np.dtype("<f8"), 1),
    "trees.surrogate_threshold": (np.dtype("<f8"), 1),
    "trees.surrogate_agreement": (np.dtype("<f8"), 1),
    "trees.surrogate_adjusted": (np.dtype("<f8"), 1),
    "trees.n_samples": (np.dtype("<i8"), 1),
    "trees.levels_left": (np.dtype("<u8"), 1),
    "trees.levels_seen": (np.dtype("<u8"), 1),
    "tree_offsets": (np.dtype("<i8"), 1),
    "word_offsets": (np.dtype("<i8"), 1),
    "level_branch_offsets": (np.dtype("<i8"), 1),
    "cut_offsets": (np.dtype("<i8"), 1),
    "surrogate_offsets": (np.dtype("<i8"), 1),
    "trees.first_child": (np.dtype("<i4"), 1),
    "trees.feature": (np.dtype("<i4"), 1),
    "trees.n_branches": (np.dtype("<i4"), 1),
    "trees.missing_branch": (np.dtype("<i4"), 1),
    "trees.level_set": (np.dtype("<i4"), 1),
    "trees.level_branch": (np.dtype("<i4"), 1),
    "trees.surrogate_node": (np.dtype("<i4"), 1),
    "trees.surrogate_feature": (np.dtype("<i4"), 1),
    "trees.surrogate_level_set": (np.dtype("<i4"), 1),
    "trees.kind": (np.dtype("u1"), 1),
    "trees.surrogate_flipped": (np.dtype("u1"), 1),
}
DTYPE_NAMES = {"<f8": "F64", "<f4": "F32", "<i8": "I64", "<u8": "U64", "<i4": "I32", "|u1": "U8"}
NO_DIGEST = "0" * 64
# Inside the header the metadata's quotes are escaped once. A quote inside one of its strings is escaped three times, so
# no column or level can imitate the key; the file's digest is the first of all keys of that name (keys are sorted).
# A facts entry of that name comes later, and ``classes`` and ``combine``, which come before, cannot hold such a key.
_DIGEST = re.compile(rb'\\"digest\\":\\"([0-9a-f]{64})\\"')
# A string of JSON, even an unclosed one: without the last alternative each quote would start another search.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
# The third holds trees of boosting, or other trees with weights; the fifth any of the others, by ``form``, with a
# threshold; the sixth trees whose sums are on a grid, or that are boosted and listed, possibly with a threshold; the
# seventh is the sixth with several grids.
TREE_FORMAT, PACKED_FORMAT, BOOSTED_FORMAT, NEIGHBORS_FORMAT, THRESHOLD_FORMAT, GRID_FORMAT, GRIDS_FORMAT = range(1, 8)
FILE_FORMAT = GRIDS_FORMAT  # the newest that can be read
FACTS_CAP = 1_000_000  # entries; facts that contain themselves would never end
LARGEST_BITS = 4096  # of a whole number among the facts; converting digits to bits takes quadratic time
Fitted_co = TypeVar("Fitted_co", covariant=True)


def compose(metadata: Mapping[str, Any], arrays: Mapping[str, np.ndarray], layout: Layout = TENSORS) -> bytes:
    """The bytes of a model file: ``metadata`` is plain JSON, whose ``digest`` is filled in here.

    ``arrays`` has one for each name in ``layout``, of that dtype and number of axes; every array must begin at a
    multiple of its cell size.
    """
    inner = canonical({**metadata, "digest": NO_DIGEST})
    if nesting(inner.encode("ascii")) > NESTING_CAP:
        raise ModelFileError(f"the names, levels or facts of the model are nested more than {NESTING_CAP} deep")
    header = _header(inner, {name: arrays[name].shape for name in layout}, layout)
    if len(header) > HEADER_CAP:
        raise TooLargeError(
            f"names, levels and labels take {len(header):,} bytes in a model file, and at most {HEADER_CAP:,} are "
            "possible: use fewer or shorter levels"
        )
    cells = [
        np.ascontiguousarray(arrays[name], dtype).data.cast("B")
        for name, (dtype, _) in layout.items()
        if arrays[name].size
    ]
    start, digest = _sign(header, cells)
    return b"".join([PREFIX.pack(len(header)), header[:start], digest, header[start + 64 :], *cells])


@dataclass(frozen=True)
class Reader(Generic[Fitted_co]):
    """How files of one kind of model are read."""

    # from the metadata and the places of the header, both untrusted, to the arrays that such a file must hold
    layout: Callable[[dict[str, Any], dict[str, Any]], Layout]
    # from the metadata to the types of the entries that they must hold
    metadata: Callable[[dict[str, Any]], Mapping[str, type]]
    # from metadata with these entries and arrays of that layout to a checked model; called after the checksum is
    # verified
    model: Callable[[dict[str, Any], dict[str, np.ndarray]], Fitted_co]


def read_file(path: str | os.PathLike[str], reader_of: Callable[[int], Reader[Fitted_co]]) -> Fitted_co:
    """Read a model file: every byte is checked. ``reader_of`` gives the reader of files of a form (`form_of`)."""
    name = os.fsdecode(os.fspath(path))
    try:
        with open_regular(path) as (file, size):
            beginning = file.read(PREFIX.size + 1)
            header = beginning[PREFIX.size :] + file.read(header_length(beginning, size) - 1)
            body_size = size - PREFIX.size - len(header)
            # The header is checked before memory is allocated.
            metadata, places = read_header(header, FILE_FORMAT)
            reader = reader_of(form_of(metadata))
            layout = reader.layout(metadata, places)
            shapes = read_places(places, body_size, layout)
            check_fits(body_size, f"the model file {name!r}", "load it on a machine with more memory")
            body = file.read(body_size)
            if len(body) != body_size or file.read(1):
                raise ModelFileError("the model file changed while it was read: try again")
        return _decode(header, body, metadata, shapes, layout, reader)
    except (NotRegularError, ModelFileError) as error:
        raise ModelFileError(f"{name!r}: {error}") from None
    except MemoryError:
        raise TooLargeError(f"{name!r} does not fit in memory: {Path(name).stat().st_size:,} bytes") from None


def read_bytes(data: bytes | bytearray | memoryview, reader_of: Callable[[int], Reader[Fitted_co]]) -> Fitted_co:
    """The model in the bytes of a model file; its arrays are views of ``bytes``, else of a copy."""
    data = bytes(data)
    begin = PREFIX.size + header_length(data[: PREFIX.size + 1], len(data))
    header, body = data[PREFIX.size : begin], memoryview(data)[begin:]
    metadata, places = read_header(header, FILE_FORMAT)
    reader = reader_of(form_of(metadata))
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
    """The model of a header and its arrays; the layout has been checked, nothing else is trusted."""
    digest = check_digest(header, body)
    expected = {**reader.metadata(metadata), **_wrapped(metadata)}
    if set(metadata) != set(expected) or any(type(metadata[key]) is not kind for key, kind in expected.items()):
        raise ModelFileError("damaged model file: an entry of the metadata is missing, unknown or of the wrong type")
    if metadata["digest"] != digest:
        raise ModelFileError("damaged model file: the checksum in the metadata is not that of the header")
    check_canonical(header, metadata, shapes, layout)
    return reader.model(metadata, read_arrays(body, shapes, layout))


def _wrapped(metadata: Mapping[str, Any]) -> dict[str, type]:
    """The types of the metadata entries that a file holds in addition to those of its form."""
    if metadata["format"] < THRESHOLD_FORMAT:
        return {}
    has_threshold = metadata["format"] == THRESHOLD_FORMAT or "threshold" in metadata
    has_grid = metadata["format"] >= GRID_FORMAT and "grid" in metadata
    grid: dict[str, type] = {"grid": int if metadata["format"] == GRID_FORMAT else list} if has_grid else {}
    return {"form": int, **grid, **({"threshold": dict} if has_threshold else {})}


def schema_of(metadata: Mapping[str, Any]) -> Schema:
    """The columns in the metadata."""
    try:
        schema = schema_from_json(metadata["schema"])
        written = canonical(schema_to_json(schema))
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise ModelFileError(f"damaged model file: {error}") from None
    if written != canonical(metadata["schema"]):  # one model, one file
        raise ModelFileError("damaged model file: a column name or level is not in its canonical form")
    return schema


def classes_of(metadata: Mapping[str, Any]) -> tuple[np.ndarray, ...]:
    """The class labels of each output."""
    try:
        return tuple(array_from_json(labels) for labels in metadata["classes"])
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise ModelFileError(f"damaged model file: {error}") from None


def target_names_of(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the outputs."""
    names = metadata["target_names"]
    if not all(isinstance(name, str) for name in names):
        raise ModelFileError("damaged model file: a target name is not text")
    return tuple(names)


def check_plain(facts: dict[str, Any]) -> None:
    """Refuse facts that are not plain JSON: they would be read back differently, as a tuple is read as a list."""
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


def header_length(beginning: bytes, size: int) -> int:
    """Length of the header of a file of ``size`` bytes, from its first nine."""
    if not size:
        raise ModelFileError("not a Treewright model file: it is empty")
    if len(beginning) <= PREFIX.size:
        raise ModelFileError(f"not a Treewright model file: {size} bytes are too few")
    length: int = PREFIX.unpack_from(beginning)[0]
    if not 2 <= length <= HEADER_CAP or beginning[PREFIX.size] != ord("{"):
        raise ModelFileError(f"not a Treewright model file{_kind_of_file(beginning)}")
    if length > size - PREFIX.size:
        raise ModelFileError(f"damaged model file: the header alone has {length:,} bytes, and the file {size:,}")
    return length


def read_header(header: bytes, file_format: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The metadata, and the outer header (array name to place); ``file_format`` is the newest that can be read."""
    places = strict_json(header, "header")
    entry = places.pop("__metadata__", None)
    if not isinstance(entry, dict) or set(entry) != {"treewright"} or not isinstance(entry["treewright"], str):
        raise ModelFileError("not a Treewright model file: it is a safetensors file of another program")
    try:
        text = entry["treewright"].encode("ascii")
    except UnicodeEncodeError:
        raise ModelFileError("damaged model file: the metadata are not ASCII") from None
    # The version comes first: a newer format may differ in everything else.
    metadata = strict_json(text, "metadata")
    found = metadata.get("format")
    if type(found) is not int or found < 1:
        raise ModelFileError("damaged model file: no format version")
    if found > file_format:
        raise ModelFileError(
            f"written by a newer Treewright (format {found}; this one reads up to {file_format}): upgrade Treewright"
        )
    return metadata, places


def form_of(metadata: Mapping[str, Any]) -> int:
    """The form of a file's content: its format, or the one that it would have without threshold and grid."""
    if metadata["format"] < THRESHOLD_FORMAT:
        return int(metadata["format"])
    form, last = metadata.get("form"), NEIGHBORS_FORMAT if metadata["format"] == THRESHOLD_FORMAT else BOOSTED_FORMAT
    if type(form) is not int or not TREE_FORMAT <= form <= last:
        raise ModelFileError("damaged model file: the metadata do not state the form of its content")
    return form


def wrapped(
    metadata: Mapping[str, Any], threshold: Threshold | None, grid: Grid | None = None, *, is_new: bool = False
) -> dict[str, Any]:
    """Metadata with a threshold and grids, if any; ``is_new``: with content that readers of format 5 do not know."""
    if threshold is None and grid is None and not is_new:
        return dict(metadata)
    is_sixth, is_seventh = is_new or grid is not None, grid is not None and len(grid) > 1
    newest = GRIDS_FORMAT if is_seventh else GRID_FORMAT if is_sixth else THRESHOLD_FORMAT
    found = {**metadata, "form": metadata["format"], "format": newest}
    if threshold is not None:
        found["threshold"] = threshold_to_json(threshold)
    if grid is not None:
        found["grid"] = grid_to_json(grid)
    return found


def threshold_of(metadata: Mapping[str, Any]) -> Threshold | None:
    """The threshold in the metadata, not yet checked against the classes."""
    has_one = metadata["format"] >= THRESHOLD_FORMAT and "threshold" in metadata
    return threshold_from_json(metadata["threshold"]) if has_one else None


def read_places(places: dict[str, Any], body_size: int, layout: Layout = TENSORS) -> dict[str, tuple[int, ...]]:
    """The shape of every array that the file must hold; ``body_size`` bytes follow the header."""
    if set(places) != set(layout):
        odd = sorted(set(places) ^ set(layout))
        raise ModelFileError(f"damaged model file: arrays missing or unknown: {', '.join(map(_short, odd[:3]))}")
    end, shapes = 0, {}
    for name, (dtype, n_axes) in layout.items():
        place = places[name]
        if not isinstance(place, dict) or set(place) != {"data_offsets", "dtype", "shape"}:
            raise ModelFileError(f"damaged model file: the place of {name} is missing")
        shape, offsets = place["shape"], place["data_offsets"]
        if place["dtype"] != DTYPE_NAMES[dtype.str] or not _sizes(shape, n_axes) or not _sizes(offsets, 2):
            raise ModelFileError(f"damaged model file: dtype, shape or place of {name} is wrong")
        begin, end = end, end + math.prod(shape) * dtype.itemsize
        if offsets != [begin, end]:
            raise ModelFileError(f"damaged model file: {name} is at {offsets}, expected {[begin, end]}")
        shapes[name] = tuple(shape)
    if end != body_size:
        problem = "cut short" if body_size < end else "followed by other bytes"
        raise ModelFileError(f"damaged model file: {problem} ({body_size:,} bytes of arrays, expected {end:,})")
    return shapes


def check_digest(header: bytes, body: bytes | memoryview) -> str:
    """The digest of the file, recomputed and compared."""
    found = _DIGEST.search(header)
    if found is None:
        raise ModelFileError("damaged model file: no checksum")
    stated = found.group(1)
    if _sign(header, [memoryview(body)])[1] != stated:
        raise ModelFileError("damaged model file: the checksum does not match the content; copy or save it again")
    return stated.decode("ascii")


def check_canonical(
    header: bytes, metadata: dict[str, Any], shapes: Mapping[str, tuple[int, ...]], layout: Layout = TENSORS
) -> None:
    """Refuse other spellings of the same header (spaces, order, 1.00 for 1.0): one model has one file."""
    if header != _header(canonical(metadata), shapes, layout):
        raise ModelFileError("damaged model file: the header is not in its canonical form")


def read_arrays(
    body: bytes | memoryview, shapes: Mapping[str, tuple[int, ...]], layout: Layout = TENSORS
) -> dict[str, np.ndarray]:
    """The arrays as read-only views of ``body`` (copies if this machine's byte order differs)."""
    arrays, begin = {}, 0
    for name, (dtype, _) in layout.items():
        count = math.prod(shapes[name])
        flat = np.frombuffer(body, dtype, count, begin) if count else np.empty(0, dtype)
        arrays[name] = np.require(flat, dtype.newbyteorder("="), "A").reshape(shapes[name])
        begin += count * dtype.itemsize
    return arrays


def canonical(value: Any) -> str:
    """JSON with sorted keys, without spaces, in ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def strict_json(text: bytes, what: str) -> dict[str, Any]:
    """A JSON object, read strictly; ``what`` it is called in messages."""
    if text.count(b"[") + text.count(b"{") > NESTING_CAP and nesting(text) > NESTING_CAP:
        raise ModelFileError(f"damaged model file: the {what} is nested more than {NESTING_CAP} deep")
    try:
        value = json.loads(
            text.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_integer,
        )
    except RecursionError:
        raise ModelFileError(f"the {what} of the model file is nested beyond sys.getrecursionlimit()") from None
    except ValueError as error:
        raise ModelFileError(f"damaged model file: the {what} is not valid JSON ({_short(str(error))})") from None
    if not isinstance(value, dict):
        raise ModelFileError(f"damaged model file: the {what} is not a JSON object")
    return value


def nesting(text: bytes) -> int:
    """How deep the brackets of a JSON text go."""
    codes = np.frombuffer(_STRING.sub(b"", text), np.uint8)
    opens = (codes == ord("[")) | (codes == ord("{"))
    closes = (codes == ord("]")) | (codes == ord("}"))
    return int(np.cumsum(opens.astype(np.int64) - closes).max(initial=0))


def _header(inner: str, shapes: Mapping[str, tuple[int, ...]], layout: Layout) -> bytes:
    """The outer header, padded with spaces so that the arrays begin at a multiple of 8 (as safetensors does)."""
    places: dict[str, Any] = {"__metadata__": {"treewright": inner}}
    end = 0
    for name, (dtype, _) in layout.items():
        begin, end = end, end + math.prod(shapes[name]) * dtype.itemsize
        places[name] = {"data_offsets": [begin, end], "dtype": DTYPE_NAMES[dtype.str], "shape": list(shapes[name])}
    header = canonical(places).encode("ascii")
    return header + b" " * (-len(header) % 8)


def _sign(header: bytes, cells: list[memoryview]) -> tuple[int, bytes]:
    """The position of the digest in the header, and its correct value (64 lower-case hexadecimal digits)."""
    found = _DIGEST.search(header)
    if found is None:
        raise ModelFileError("damaged model file: no checksum")
    start = found.start(1)
    digest = hashlib.sha256(PREFIX.pack(len(header)))
    digest.update(header[:start] + NO_DIGEST.encode("ascii") + header[start + 64 :])
    for part in cells:
        digest.update(part)
    return start, digest.hexdigest().encode("ascii")


def _kind_of_file(start: bytes) -> str:
    """A guess what a file is that is not a model file, to be added to the message; empty without a guess."""
    beginnings = {
        b"\x80": ": it looks like a pickle, which Treewright never reads; load it where it was made and save it again",
        b"PK\x03\x04": ": it looks like a zip archive",
        b"\x89PNG": ": it looks like a PNG image",
        b"\x1f\x8b": ": it looks like a gzip file",
        b"PAR1": ": it looks like a Parquet table",
        b"<": ": it looks like HTML or XML",
    }
    for beginning, guess in beginnings.items():
        if start.startswith(beginning):
            return guess
    return ""


def _sizes(value: Any, count: int) -> bool:
    """Whether a value is a list of ``count`` whole numbers that are not negative."""
    return isinstance(value, list) and len(value) == count and all(type(x) is int and x >= 0 for x in value)


def _short(text: str) -> str:
    """At most 60 printable characters of a text from a file."""
    return ascii(text[:60])[1:-1]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; a key that occurs twice is refused."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _refuse_constant(token: str) -> float:
    """Refuse NaN, Infinity and -Infinity."""
    raise ValueError(f"{token} is not JSON")


def _finite(token: str) -> float:
    """A float64; a number beyond its range is refused."""
    value = float(token)
    if math.isinf(value):
        raise ValueError("a number is beyond float64")
    return value


def _integer(token: str) -> int:
    """A whole number; one with too many digits is refused."""
    if len(token) > DIGITS_CAP:
        raise ValueError(f"a number has more than {DIGITS_CAP} digits")
    return int(token)
