"""Levels, names and labels as plain JSON, and back.

What is written reads back as the same value, types included. Reading trusts nothing: for any JSON it returns a valid
object or raises one ``ValueError`` that names the place.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, cast

import numpy as np

from treewright.data.cells import LARGEST_WHOLE, shown
from treewright.data.dates import DATES
from treewright.data.schema import Column, Schema
from treewright.exceptions import DataError

KINDS = ("numeric", "ordinal", "nominal")
FAMILIES = ("number", "string", "boolean", "object", "missing", *DATES)
MAX_NESTING = 32
# A file may declare any item size; a few characters of it must not allocate an array of more bytes than this.
MAX_LABEL_BYTES = 2**28
PLAIN_TYPES = (bool, int, float, str, bytes, dt.date, dt.datetime)
DTYPE = re.compile(r"b1|[iu][1248]|f[248]|O|[US](\d{1,9})|[mM]8\[(\d{1,9})?(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\]")


def python_scalar(value: Any, depth: int = 0) -> Hashable:
    """A value as the plain Python scalar, or tuple of them, that equals it.

    NumPy scalars and subclasses of str, int, ... are unwrapped; ``depth`` counts the tuples around the value.
    """
    if isinstance(value, np.generic) and value.dtype.kind in "biufSU":
        value = value.item()
    if value is None or type(value) in PLAIN_TYPES:
        return cast("Hashable", value)
    if isinstance(value, tuple):
        if depth >= MAX_NESTING:
            raise DataError(f"tuples are nested deeper than {MAX_NESTING}")
        return tuple(python_scalar(entry, depth + 1) for entry in value)
    # The classes' own methods: a subclass (an enumeration, say) may print or convert as something else.
    if isinstance(value, int):
        return int.__index__(value)
    if isinstance(value, float) and not isinstance(value, np.generic):
        return float.__float__(value)
    if isinstance(value, str):
        return str.__str__(value)
    raise DataError(
        f"{shown(value)} is of type {type(value).__name__}: a level, name or label is text, a number, a boolean, "
        f"bytes, a date or a tuple of these; convert it, for example to text"
    )


def value_to_json(value: Any) -> Any:
    """One Python scalar (or tuple) as typed JSON.

    Examples
    --------
    >>> value_to_json(("a", 1, 0.5))
    {'tuple': ['a', 1, {'float': '0.5'}]}
    """
    plain: Any = python_scalar(value)
    if plain is None or isinstance(plain, bool):
        return plain
    if isinstance(plain, int):
        return plain if -LARGEST_WHOLE < plain < LARGEST_WHOLE else {"int": hex(plain)}
    if isinstance(plain, float):
        return {"float": repr(plain)}
    if isinstance(plain, str):
        try:
            plain.encode()
        except UnicodeEncodeError:  # lone surrogates are no UTF-8
            return {"str": plain.encode("utf-8", "surrogatepass").hex()}
        return plain
    if isinstance(plain, bytes):
        return {"bytes": plain.hex()}
    if isinstance(plain, dt.datetime):
        return {"datetime": plain.isoformat()}
    if isinstance(plain, dt.date):
        return {"date": plain.isoformat()}
    return {"tuple": [value_to_json(entry) for entry in plain]}


def value_from_json(obj: Any, depth: int = 0) -> Hashable:
    """The value that ``value_to_json`` wrote."""
    if obj is None or isinstance(obj, bool | str):
        return obj
    if isinstance(obj, int):
        return obj
    if not isinstance(obj, dict) or len(obj) != 1:
        raise ValueError(f"not a typed value: {shown(obj)}")
    [(kind, content)] = obj.items()
    if kind == "tuple":
        if not isinstance(content, list) or depth >= MAX_NESTING:
            raise ValueError("a tuple must be a list, nested at most 32 deep")
        return tuple(value_from_json(entry, depth + 1) for entry in content)
    if kind not in READERS or not isinstance(content, str):
        raise ValueError(f"not a typed value: {shown(obj)}")
    try:
        value: Hashable = READERS[kind](content)
    except (ValueError, OverflowError, MemoryError):
        raise ValueError(f"not a {kind}: {shown(content)}") from None
    return value


def read_float(text: str) -> float:
    """A float from its ``repr``; anything that repr would not write is refused."""
    value = float(text)
    if repr(value) != text:
        raise ValueError(text)
    return value


READERS: dict[str, Any] = {
    "int": lambda text: int(text, 16),
    "float": read_float,
    "str": lambda text: bytes.fromhex(text).decode("utf-8", "surrogatepass"),
    "bytes": bytes.fromhex,
    "date": dt.date.fromisoformat,
    "datetime": dt.datetime.fromisoformat,
}


def values_to_json(values: Iterable[Any]) -> list[Any]:
    """Python scalars as typed JSON; see ``value_to_json``."""
    return [value_to_json(value) for value in values]


def values_from_json(obj: Any) -> tuple[Hashable, ...]:
    """The values that ``values_to_json`` wrote."""
    if not isinstance(obj, list):
        raise ValueError(f"expected a list of values, found {shown(obj)}")  # noqa: TRY004 - the reader's one error
    return tuple(value_from_json(entry) for entry in obj)


def array_to_json(labels: np.ndarray) -> dict[str, Any]:
    """A one-dimensional label array with its dtype."""
    dtype = labels.dtype.str.lstrip("<>=|")  # native byte order is the reader's own
    if labels.ndim != 1 or DTYPE.fullmatch(dtype) is None:
        raise DataError(
            f"labels of dtype {labels.dtype} and shape {labels.shape} cannot be stored: convert them to text"
        )
    native = labels.astype(labels.dtype.newbyteorder("="))
    return {"dtype": dtype, "values": values_to_json(native.view(np.int64) if native.dtype.kind in "mM" else native)}


def array_from_json(obj: Any) -> np.ndarray:
    """The label array that ``array_to_json`` wrote."""
    if not isinstance(obj, dict) or set(obj) != {"dtype", "values"} or not isinstance(obj["dtype"], str):
        raise ValueError("labels must be an object with 'dtype' and 'values'")
    name = obj["dtype"]
    match = DTYPE.fullmatch(name)
    values = values_from_json(obj["values"])
    if match is None:
        raise ValueError(f"unknown label dtype {shown(name)}")
    if match.group(1) and int(match.group(1)) * 4 * max(len(values), 1) > MAX_LABEL_BYTES:
        raise ValueError(f"labels of dtype {shown(name)} would need more than {MAX_LABEL_BYTES} bytes")
    if name[0] in "mM" and match.group(2) == "0":
        raise ValueError(f"unknown label dtype {shown(name)}")
    try:
        labels = filled_labels(name, values)
    except (ValueError, OverflowError, TypeError):
        raise ValueError(f"a label does not fit its dtype {shown(name)}") from None
    if len(set(labels.tolist())) != len(labels):
        raise ValueError("a label occurs twice")
    return labels


def filled_labels(name: str, values: tuple[Hashable, ...]) -> np.ndarray:
    """An array of dtype ``name`` holding exactly these values."""
    labels: np.ndarray = np.empty(len(values), name)
    wanted: dict[str, Any] = {"b": bool, "i": int, "u": int, "f": float, "U": str, "S": bytes, "m": int, "M": int}
    if name == "O":
        boxed: Any = labels  # assigned one by one: numpy would unpack tuples
        for at, value in enumerate(values):
            boxed[at] = value
        return labels
    if any(type(value) is not wanted[name[0]] for value in values):
        raise ValueError(name)
    whole: Any = labels.view(np.int64) if name[0] in "mM" else labels
    for at, value in enumerate(values):
        whole[at] = value
    back = whole.tolist()
    # Text longer than the dtype is cut, floats are rounded: then the array is not what was written.
    if any(found != value for found, value in zip(back, values, strict=True)):
        raise ValueError(name)
    return labels


def schema_to_json(schema: Schema) -> dict[str, Any]:
    """A schema as plain JSON."""
    return {
        "named": schema.named,
        "columns": [column_to_json(column) for column in schema.columns],
    }


def column_to_json(column: Column) -> dict[str, Any]:
    """One column; see ``schema_to_json``. ``declared`` and ``left_out`` are written only if they are true."""
    entry: dict[str, Any] = {
        "name": value_to_json(column.name),
        "kind": column.kind,
        "levels": values_to_json(column.levels),
        "missing_seen": column.missing_seen,
        "family": column.family,
    }
    if column.left_out:
        entry["left_out"] = column.left_out
    if column.zone:
        entry["zone"] = column.zone
    if column.part:
        entry |= {"part": column.part, "sources": list(column.sources)}
    if column.numbers:
        entry["numbers"] = list(column.numbers)
    return entry | {"declared": True} if column.declared else entry


def schema_from_json(obj: Any) -> Schema:
    """The schema that ``schema_to_json`` wrote."""
    if not isinstance(obj, dict) or set(obj) != {"named", "columns"}:
        raise ValueError("a schema must be an object with 'named' and 'columns'")
    if not isinstance(obj["named"], bool) or not isinstance(obj["columns"], list) or not obj["columns"]:
        raise ValueError("a schema needs 'named' true or false and a list of at least one column")
    columns = tuple(column_from_json(entry, at) for at, entry in enumerate(obj["columns"]))
    if len({column.name for column in columns}) != len(columns):
        raise ValueError("two columns have the same name")
    return Schema(columns, obj["named"])


def column_from_json(obj: Any, position: int) -> Column:
    """One column; see ``schema_from_json``."""
    if not isinstance(obj, dict) or set(obj) - {
        "declared",
        "left_out",
        "zone",
        "part",
        "source",
        "other",
        "sources",
        "numbers",
    } != {
        "name",
        "kind",
        "levels",
        "missing_seen",
        "family",
    }:
        raise ValueError(f"column {position} must have name, kind, levels, missing_seen and family")
    if obj["kind"] not in KINDS or obj["family"] not in FAMILIES or not isinstance(obj["missing_seen"], bool):
        raise ValueError(f"column {position} has an unknown kind, family or missing_seen")
    levels = values_from_json(obj["levels"])
    if "declared" in obj and (obj["declared"] is not True or not levels):
        raise ValueError(f"column {position} has an invalid 'declared', or no levels")
    left_out = obj.get("left_out", "")
    if "left_out" in obj and not (isinstance(left_out, str) and left_out and obj["kind"] == "numeric"):
        raise ValueError(f"column {position} has an invalid 'left_out'")
    if obj["kind"] == "numeric" and levels:
        raise ValueError(f"column {position} is numeric and has levels")
    if obj["kind"] == "ordinal" and not levels:
        raise ValueError(f"column {position} is ordinal and has no levels")
    if len(set(levels)) != len(levels) or any(
        level is None or (isinstance(level, float) and math.isnan(level)) for level in levels
    ):
        raise ValueError(f"column {position} has a level twice, or a missing one")
    zone = obj.get("zone", "")
    if "zone" in obj and not (isinstance(zone, str) and zone and obj["family"] == "datetime"):
        raise ValueError(f"column {position} has an invalid 'zone'")
    name = value_from_json(obj["name"])
    part, sources, numbers = _part_from(obj, position)
    return Column(
        name, obj["kind"], levels, obj["missing_seen"], obj["family"], "declared" in obj, left_out, zone, part, sources,
        numbers,
    )  # fmt: skip


def _part_from(obj: Mapping[str, Any], position: int) -> tuple[str, tuple[int, ...], tuple[float, ...]]:
    """The part, sources and numbers of a column; whether they fit together is checked with the model."""
    part, numbers = obj.get("part", ""), obj.get("numbers", [])
    # Older files have "source" for the first source and "other" for the second.
    sources = obj.get("sources", [obj[name] for name in ("source", "other") if name in obj])
    if ("other" in obj and "source" not in obj) or ("sources" in obj and "source" in obj):
        raise ValueError(f"column {position} has unknown 'sources'")
    if not isinstance(sources, list) or not all(type(at) is int and 0 <= at < position for at in sources):
        raise ValueError(f"column {position} has unknown 'sources'")
    if not isinstance(numbers, list) or not all(type(number) in (int, float) for number in numbers):
        raise ValueError(f"column {position} has invalid 'numbers'")
    if not isinstance(part, str) or bool(part) != bool(sources) or ("part" in obj and not part):
        raise ValueError(f"column {position} has an invalid 'part', or no 'sources'")
    return part, tuple(sources), tuple(map(float, numbers))
