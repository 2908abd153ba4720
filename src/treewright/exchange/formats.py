"""The export formats of a model. In: a model, the name of a file, perhaps of a format. Out: the bytes of the file.

A ``Format`` holds its name, its file endings, its writer, and the programs that verify it (``exchange.engines``).
Writers are imported when they are used.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath

from treewright.exceptions import ParameterError
from treewright.trees.data import ModelData


@dataclass(frozen=True)
class Format:
    """One export format of a model.

    ``write``: from a model and the name of functions or tables to the text or bytes of the file.
    """

    name: str
    endings: tuple[str, ...]  # of files, lower case; two formats may share one, and then the format must be named
    write: Callable[[ModelData, str], str | bytes]
    engines: tuple[str, ...]  # the programs that run it, by their names in ``engines``; the first is the default
    words: str  # the format in a few words
    is_named_by_file: bool = False  # whether the defined name must be that of its file


def _code(language: str) -> Callable[[ModelData, str], str]:
    def write(model: ModelData, name: str) -> str:
        from treewright.exchange.code import EXTRAS, LANGUAGES, program_of, written

        return written(program_of(model, EXTRAS), LANGUAGES[language], name)

    return write


def _sql(database: str) -> Callable[[ModelData, str], str]:
    def write(model: ModelData, name: str) -> str:
        from treewright.exchange.code import program_of
        from treewright.exchange.sql import DATABASES, sql_of

        return sql_of(program_of(model), DATABASES[database], name, model.target_names)

    return write


def _graphviz(model: ModelData, name: str) -> str:
    del name
    from treewright.exchange.dot import to_dot

    if len(model.trees) > 1:
        raise ParameterError(
            f"a drawing shows one tree, but the model has {len(model.trees)}: use model.tree(0).export(...), or "
            "treewright show --tree 0 --format dot"
        )

    return to_dot(model)


def _pmml(model: ModelData, name: str) -> str:
    from treewright.exchange.code import program_of
    from treewright.exchange.pmml import written

    return written(program_of(model), name, model.target_names[0] if model.target_names else "target")


def _json(model: ModelData, name: str) -> str:
    del name
    from treewright.exchange.structure import to_structure

    return json.dumps(to_structure(model), ensure_ascii=False, allow_nan=False)


def _onnx(version: int) -> Callable[[ModelData, str], bytes]:
    def write(model: ModelData, name: str) -> bytes:
        from treewright.exchange.code import program_of
        from treewright.exchange.to_onnx import onnx_of

        return onnx_of(program_of(model), name, is_matrix=model.schema.is_plain, version=version)

    return write


FORMATS: dict[str, Format] = {
    each.name: each
    for each in (
        Format("c", (".c",), _code("c"), ("gcc",), "C99 source code"),
        Format("javascript", (".js", ".mjs"), _code("javascript"), ("node",), "a JavaScript module"),
        Format("python", (".py",), _code("python"), ("python",), "Python source code"),
        Format("java", (".java",), _code("java"), ("java",), "a Java class", is_named_by_file=True),
        Format("pmml", (".pmml",), _pmml, ("pmml",), "PMML 4.4"),
        Format("onnx", (".onnx",), _onnx(5), ("onnxruntime",), "ONNX (ai.onnx.ml 5), for onnxruntime 1.23 and newer"),
        Format("onnx-v3", (), _onnx(3), ("onnxruntime",), "ONNX (ai.onnx.ml 3), for older runtimes"),
        Format("duckdb", (".sql",), _sql("duckdb"), ("duckdb",), "a view of DuckDB"),
        Format("sqlite", (".sql",), _sql("sqlite"), ("sqlite",), "a view of SQLite"),
        Format("postgresql", (".sql",), _sql("postgresql"), ("postgres",), "a view of PostgreSQL"),
        Format("graphviz", (".dot", ".gv"), _graphviz, (), "a drawing of one tree for Graphviz"),
        Format("json", (".json",), _json, (), "the model as JSON"),
    )
}


def format_of(path: str | os.PathLike[str], named: str | None = None) -> Format:
    """The named format, or the one of the ending of a file.

    Raises ``ParameterError``: there is no such format; the ending belongs to none, or to several.
    """
    if named is not None:
        if named not in FORMATS:
            raise ParameterError(f"format={named!r}: give one of {', '.join(FORMATS)}")
        return FORMATS[named]
    ending = PurePath(os.fsdecode(path)).suffix.lower()
    meant = [each for each in FORMATS.values() if ending in each.endings]
    if len(meant) > 1:
        names = ", ".join(each.name for each in meant)
        raise ParameterError(f"{os.fsdecode(path)!r}: {ending} can be {names}: name the format")
    if not meant:
        endings = ", ".join(dict.fromkeys(ending for each in FORMATS.values() for ending in each.endings))
        raise ParameterError(f"{os.fsdecode(path)!r}: use one of the endings {endings}, or name the format")
    return meant[0]


def name_of(path: str | os.PathLike[str], name: str | None, named: str | None = None) -> str:
    """The name of a file's functions or tables: ``name``, else ``"model"``; for a Java class the name of its file.

    Examples
    --------
    >>> name_of("a/Rain.java", None), name_of("rain.c", None), name_of("rain.c", "drops")
    ('Rain', 'model', 'drops')
    """
    file = PurePath(os.fsdecode(path))
    if not format_of(path, named).is_named_by_file or not file.suffix:
        return "model" if name is None else name
    if name not in (None, file.stem):
        raise ParameterError(f"name={name!r}: a Java class has the name of its file, {file.name}: give both one name")
    return file.stem


def exported(
    model: ModelData, path: str | os.PathLike[str], name: str | None = None, named: str | None = None
) -> bytes:
    """A model as the bytes of a file.

    ``name``: name of functions or tables, if the format has them; as in ``name_of``. ``named``: the format; by default
    the ending of the file decides.
    """
    try:
        form, file = format_of(path, named), PurePath(os.fsdecode(path))
        found = form.write(model, name_of(path, name, named))
        if form.name == "javascript" and isinstance(found, str) and file.suffix.lower() in form.endings:
            found = found.replace('"./model.mjs"', json.dumps(f"./{file.name}"), 1)  # of its comment, which comes first
        return found if isinstance(found, bytes) else found.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ParameterError(
            f"{os.fsdecode(path)}: a name, level or label holds half a character ({error.object[error.start]!r}), "
            "which cannot be written to a file: rename it"
        ) from None
