"""Tree models of other libraries. In: a file, or a fitted object. Out: a ``ModelData``.

A ``Reader`` holds how to recognize its files and objects, and the functions that read them, which are imported when
they are used. Nothing in a file is ever executed, and no pickle is opened.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import numpy as np

from treewright.core.files import open_regular
from treewright.data.schema import Schema
from treewright.exceptions import InputFileError, ModelFileError, ParameterError
from treewright.model.data import ModelData, Unseen

_MOST_BYTES = 4 << 30
_HEAD = 4096  # first bytes of a file, by which it is recognized


@dataclass(frozen=True)
class Reader:
    """One library whose models are read.

    Attributes
    ----------
    name : str
    packages : tuple of str
        Packages of the classes of its objects.
    begins : callable or None
        From the first bytes of a file and its ending to whether it is a file of the library.
    of_file : callable or None
        From all bytes of a file to a model.
    of_object : callable or None
        From a fitted object to a model.
    """

    name: str
    packages: tuple[str, ...]
    begins: Callable[[bytes, str], bool] | None
    of_file: Callable[[bytes], ModelData] | None
    of_object: Callable[[Any], ModelData] | None


def _of(module: str, name: str) -> Callable[..., Any]:
    """A function of a reader module next to this file, imported when it is called."""

    def called(*given: Any) -> Any:
        return getattr(import_module(f"treewright.importing.{module}"), name)(*given)

    return called


READERS: tuple[Reader, ...] = (
    Reader("Treewright's JSON", (), _of("structure", "begins"), _of("structure", "of_file"), None),
    Reader("XGBoost", ("xgboost",), _of("xgboost", "begins"), _of("xgboost", "of_file"), _of("xgboost", "of_object")),
    Reader(
        "LightGBM", ("lightgbm",), _of("lightgbm", "begins"), _of("lightgbm", "of_file"), _of("lightgbm", "of_object")
    ),
    Reader(
        "CatBoost", ("catboost",), _of("catboost", "begins"), _of("catboost", "of_file"), _of("catboost", "of_object")
    ),
    Reader("ONNX", ("onnx",), _of("onnx", "begins"), _of("onnx", "of_file"), _of("onnx", "of_object")),
    Reader("YDF", ("ydf",), None, None, _of("ydf", "of_object")),
    Reader("scikit-learn", ("sklearn",), None, None, _of("scikit", "of_object")),
)
# Errors of reading a damaged file: a missing name or position, a wrong type, a number out of range. A reader does not
# check everything before it uses it.
_DAMAGE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, MemoryError)


def read(source: str | os.PathLike[str] | Any) -> ModelData:
    """The model in a file of another library, or in a fitted object of it.

    Raises
    ------
    InputFileError
        The file cannot be read, is of no known kind, or is damaged.
    ParameterError
        The object is of no known library, or trees of this library cannot represent its model; the message gives the
        reason.
    """
    if not isinstance(source, str | os.PathLike):
        package = type(source).__module__.partition(".")[0]
        for reader in READERS:
            if package in reader.packages and reader.of_object is not None:
                try:
                    return reader.of_object(source)
                except InputFileError as error:  # an object is read like a file
                    raise ParameterError(f"{type(source).__name__}: {error}") from None
        known = ", ".join(reader.name for reader in READERS if reader.of_object is not None)
        if package == "treewright":
            raise ParameterError(f"{type(source).__name__} is of this library: use it, or its model_, directly")
        raise ParameterError(f"{type(source).__name__} of {package!r} is not read: give a model of {known}")
    path = Path(os.fsdecode(os.fspath(source)))
    if os.path.isfile(path / "data_spec.pb"):  # noqa: PTH113 - a Path would raise where it may not look
        raise InputFileError(f"{path}: a model folder of YDF, which only YDF reads: give ydf.load_model({str(path)!r})")
    with open_regular(path) as (file, size):
        if size > _MOST_BYTES:
            raise InputFileError(f"{path}: {size:,} bytes are too many for a model of trees ({_MOST_BYTES:,} at most)")
        data = file.read()
    for reader in READERS:
        if reader.of_file is None or reader.begins is None:
            continue
        if reader.begins(data[:_HEAD], path.suffix.lower()):
            try:
                return reader.of_file(data)
            except (InputFileError, ModelFileError) as error:
                raise InputFileError(f"{path}: {error}") from None
            except _DAMAGE as error:
                said = f"{type(error).__name__}: {error}"[:300]
                raise InputFileError(f"{path}: damaged, or not a model of {reader.name} ({said})") from error
    if b'"treewright' in data[:_HEAD] or path.suffix == ".tw":
        raise InputFileError(f"{path}: a model file of this library: use treewright.load, or give it to a command")
    if data[:1] == b"\x80" or path.suffix.lower() in (".pkl", ".pickle", ".joblib"):
        raise InputFileError(
            f"{path}: a pickle, which can run any code when it is opened: load it yourself if you trust it, and give "
            "the object to read_model"
        )
    known = ", ".join(reader.name for reader in READERS if reader.of_file is not None)
    raise InputFileError(f"{path}: not a model file of {known}")


def named(
    model: ModelData, columns: Sequence[str] | None, target: str | None, classes: Sequence[Any] | None,
    unseen: Unseen | None,
) -> ModelData:  # fmt: skip
    """The same model with given names of columns, classes and target.

    Raises
    ------
    ParameterError
        There are not as many names as columns or classes, or two are equal.
    """
    for name, words in (("columns", columns), ("classes", classes)):
        if words is not None and (isinstance(words, str) or not isinstance(words, Sequence | np.ndarray)):
            raise ParameterError(f"{name}={words!r}: give a list")
        if words is not None and not all(isinstance(word, Hashable) for word in words):
            raise ParameterError(f"{name}={words!r}: give a list of strings or numbers")
    if columns is not None:
        given = model.schema.columns
        if len(columns) != len(given):
            raise ParameterError(f"columns: {len(columns)} names for {len(given)} columns: name each once")
        twice = next((name for at, name in enumerate(columns) if name in columns[:at]), None)
        if twice is not None:
            raise ParameterError(f"columns: {twice!r} occurs twice: name each column once")
        renamed = (replace(column, name=name) for column, name in zip(given, columns, strict=True))
        model = replace(model, schema=Schema(tuple(renamed), named=True))
    if classes is not None:
        n_classes = model.n_classes[0] if len(model.classes) == 1 else 0
        if len(classes) != n_classes or len(set(classes)) != len(classes):
            raise ParameterError(f"classes: {len(classes)} labels for {n_classes} classes: name each once")
        labels = np.array(list(classes), object)
        kinds = {type(label) for label in classes}
        model = replace(model, classes=(np.array(list(classes)) if len(kinds) == 1 else labels,))
    if target is not None:
        if not isinstance(target, str):
            raise ParameterError(f"target={target!r}: give a string")
        if model.n_targets != 1:
            raise ParameterError(f"target={target!r} is one name, but the model has {model.n_targets} targets")
        model = replace(model, target_names=(target,) * model.n_outputs)
    if unseen not in (None, *get_args(Unseen)):
        raise ParameterError(f"unseen={unseen!r}: give one of {', '.join(get_args(Unseen))}")
    return model if unseen is None else replace(model, unseen=unseen)


def json_of(data: bytes) -> Any:
    """The content of a JSON file.

    Raises
    ------
    InputFileError
        It is not JSON, nested deeper than Python reads, or an object has a name twice, of which other readers may use
        the first.
    """
    try:
        return json.loads(data, object_pairs_hook=named_once)
    except RecursionError:
        raise InputFileError("not a model: it is nested too deeply") from None
    except ValueError as error:
        raise InputFileError(f"damaged, or not JSON: {error}") from None


def named_once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """The pairs as a dict; a name that occurs twice is refused."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise InputFileError(f"the file contradicts itself: {double!r} occurs twice in one place")
    return found
