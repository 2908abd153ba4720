"""What a model can be written as. In: a model, a file's name, perhaps a format's. Out: the bytes of the file.

A format is a value: its name, the endings that mean it, who writes it, and the real programs that prove it
(``export.engines``). Writers are imported when they are asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath

from treewright.exceptions import ParameterError
from treewright.model.data import ModelData


@dataclass(frozen=True)
class Format:
    """One thing that a model can be written as.

    Attributes
    ----------
    name : str
    endings : tuple of str
        Of files, lower case; two formats may share one, and then it must be named.
    write : callable
        From a model and what functions or tables are called by to the text or bytes of the file.
    engines : tuple of str
        The programs that run it, by their names in ``export.engines``; the first is asked where none is named.
    words : str
        What it is, in a few words.
    """

    name: str
    endings: tuple[str, ...]
    write: Callable[[ModelData, str], str | bytes]
    engines: tuple[str, ...]
    words: str


def _code(language: str) -> Callable[[ModelData, str], str]:
    def write(model: ModelData, name: str) -> str:
        from treewright.export.code import LANGUAGES, written
        from treewright.export.program import program_of

        return written(program_of(model), LANGUAGES[language], name)

    return write


def _sql(database: str) -> Callable[[ModelData, str], str]:
    def write(model: ModelData, name: str) -> str:
        from treewright.export.databases import DATABASES
        from treewright.export.program import program_of
        from treewright.export.sql import sql_of

        return sql_of(program_of(model), DATABASES[database], name)

    return write


def _graphviz(model: ModelData, name: str) -> str:
    del name
    from treewright.export.dot import to_dot

    return to_dot(model)


def _json(model: ModelData, name: str) -> str:
    del name
    import json

    from treewright.export.structure import to_structure

    return json.dumps(to_structure(model), ensure_ascii=False, allow_nan=False)


FORMATS: dict[str, Format] = {
    each.name: each
    for each in (
        Format("c", (".c",), _code("c"), ("gcc",), "C99 source code"),
        Format("javascript", (".js", ".mjs"), _code("javascript"), ("node",), "a JavaScript module"),
        Format("python", (".py",), _code("python"), ("python",), "Python source code"),
        Format("duckdb", (".sql",), _sql("duckdb"), ("duckdb",), "a view of DuckDB"),
        Format("sqlite", (".sql",), _sql("sqlite"), ("sqlite",), "a view of SQLite"),
        Format("postgresql", (".sql",), _sql("postgresql"), ("postgres",), "a view of PostgreSQL"),
        Format("graphviz", (".dot", ".gv"), _graphviz, (), "a drawing of one tree for Graphviz"),
        Format("json", (".json",), _json, (), "the model as JSON"),
    )
}


def format_of(path: str | os.PathLike[str], named: str | None = None) -> Format:
    """The format that is named, or that the ending of a file means.

    Raises
    ------
    ParameterError
        There is no such format; the ending means none, or several.
    """
    if named is not None:
        if named not in FORMATS:
            raise ParameterError(f"format={named!r}: give one of {', '.join(FORMATS)}")
        return FORMATS[named]
    ending = PurePath(os.fsdecode(path)).suffix.lower()
    meant = [each for each in FORMATS.values() if ending in each.endings]
    if len(meant) > 1:
        names = ", ".join(each.name for each in meant)
        raise ParameterError(f"{os.fsdecode(path)!r}: {ending} may be {names}: name the format")
    if not meant:
        endings = ", ".join(dict.fromkeys(ending for each in FORMATS.values() for ending in each.endings))
        raise ParameterError(f"{os.fsdecode(path)!r}: the ending says the format, one of {endings}; or name the format")
    return meant[0]


def exported(model: ModelData, path: str | os.PathLike[str], name: str, named: str | None = None) -> bytes:
    """A model as the bytes of a file.

    Parameters
    ----------
    name : str
        What functions or tables are called by where the format has them.
    named : str, optional
        The format; without it the ending of the file says it.
    """
    found = format_of(path, named).write(model, name)
    return found if isinstance(found, bytes) else found.encode("utf-8")
