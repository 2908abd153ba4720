"""A model as source code: C99, JavaScript, Python, Java. In: a ``Program``. Out: the text of one file.

Each file holds the program's tables and an evaluator of about two hundred lines that needs only its language. All do
the same operations on float64 in the same order as ``predict``, so sums are bit-identical; probabilities of boosted
models use the language's own ``exp``, which may differ in the last bit.

A row is the columns of the table in their order, as float64: numbers, codes of levels (``level`` finds them), and nan
for a missing cell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from treewright.data.derived import DERIVED
from treewright.exceptions import ParameterError
from treewright.export.program import Program
from treewright.tree.writing import written_level
from treewright.version import __version__

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,60}")
_PER_LINE = 120  # characters


@dataclass(frozen=True)
class Language:
    """How a language writes tables.

    Attributes
    ----------
    template : str
        The file in ``export/templates`` with the evaluator; ``//tables//`` and ``//name//`` are filled in.
    table : callable
        From a name, the type of the entries ("u8", "i32", "u32", "f64") and the entries as texts to a definition.
    infinity : str
        Its literal of infinity; any other float64 is written as in Python, and reads back to the same bits.
    texts : callable
        From a name and lists of strings, numbers and bools to a definition.
    taken : frozenset of str
        Names that functions cannot have.
    """

    template: str
    table: Callable[[str, str, list[str]], str]
    infinity: str
    texts: Callable[[str, list[list[Any]]], str]
    taken: frozenset[str] = frozenset()


def written(program: Program, language: Language, name: str) -> str:
    """The source code of a program.

    Parameters
    ----------
    name : str
        Prefix or name of the functions, an identifier.
    """
    if not IDENTIFIER.fullmatch(name):
        raise ParameterError(f"name={name!r}: give a name of letters, digits and _ that does not begin with a digit")
    if name in language.taken:
        raise ParameterError(f"name={name!r} is a reserved word of the language: give another")
    template = files("treewright.export").joinpath("templates", language.template).read_text(encoding="utf-8")
    tables = "\n".join(_tables(program, language))
    # The tables last: a level may have the text of a placeholder.
    return template.replace("//name//", name).replace("//version//", __version__).replace("//tables//", tables)


def as_script(module: str) -> str:
    """A JavaScript module as a script that defines ``model``, for use in a page."""
    body = re.sub(r"^export ", "", module, flags=re.MULTILINE)
    return f"\nconst model = (() => {{\n{body}\nreturn {{ columns, classes, sums, values, predict }};\n}})();\n"


def _tables(program: Program, language: Language) -> list[str]:
    """The definitions of all tables."""
    tables, surrogates = program.tables, program.surrogates
    made = program.columns[program.n_given :]
    sources = [at for column in made for at in column.sources]
    numbers = [number for column in made for number in column.numbers]
    level_branch = np.where(tables.level_branch < 0, ~tables.level_branch, tables.level_branch)
    has_surrogates = len(surrogates.feature) > 0
    scalars = {
        "N_GIVEN": program.n_given,
        "N_COLUMNS": len(program.columns),
        "N_TREES": len(program.roots) - 1,
        "N_SUMS": program.n_sums,
        "N_PARTS": program.n_parts,
        "N_CONTENT": program.contents.shape[1],
        "N_SAID": 1 if program.is_boosted else len(program.base),
        "ROOM": program.room,
        "DIVIDES": int(program.portions is not None),
        "VOTES": int(program.votes),
        "SORTS": int(program.sorts),
        "N_OUTPUTS": len(program.n_classes),
        "N_VALUES": program.n_values,
        "IS_BOOSTED": int(program.is_boosted),
        "LINK": ("identity", "log", "sorted", "classes", "isolation").index(program.link),
        "THRESHOLD_OF": -1 if program.threshold is None else program.threshold[0],
        "HAS_WEIGHTS": int(program.weights is not None),
        "HAS_SURROGATES": int(has_surrogates),
        "REFUSES_MISSING": int(program.refuses_missing),
        "REFUSES_UNSEEN": int(program.refuses_unseen),
        "UNSEEN_IS_MISSING": int(program.takes_unseen_for_missing),
    }
    floats: dict[str, Any] = {
        "base": program.base,
        "total": [program.total],
        "threshold_at": [0.0 if program.threshold is None else program.threshold[1]],
        "weights": [] if program.weights is None else program.weights,
        "isolation": program.isolation or [],
        "portions": [] if program.portions is None else program.portions,
        "contents": program.contents.ravel(),
        "cut": tables.threshold,
        "cuts": tables.cuts,
        "sur_cut": surrogates.threshold,
        "numbers": numbers,
    }
    wholes: dict[str, Any] = {
        "n_levels": [-1 if column.kind == "numeric" else len(column.levels) for column in program.columns],
        "is_nominal": [int(column.kind == "nominal") for column in program.columns],
        "is_left_out": [int(bool(column.left_out)) for column in program.columns],
        "n_classes": program.n_classes,
        "roots": program.roots[:-1],
        "kind": tables.kind,
        "feature": tables.feature,
        "first_child": tables.first_child,
        "n_branches": tables.n_branches,
        "missing": tables.missing_branch,
        "level_set": np.where(tables.kind == 2, 2 * tables.level_set, tables.level_set),
        "level_branch": level_branch,
        "content_of": program.content_of,
        "sur_begin": surrogates.begins if has_surrogates else [],
        "sur_feature": surrogates.feature,
        "sur_set": np.where(surrogates.level_set < 0, -1, 2 * surrogates.level_set),
        "sur_flipped": surrogates.flipped,
        "made_kind": [DERIVED.index(column.part) for column in made],
        "made_sources": sources,
        "made_begin": np.cumsum([0, *(len(column.sources) for column in made)]),
        "made_numbers": np.cumsum([0, *(len(column.numbers) for column in made)]),
    }
    words: dict[str, Any] = {
        "words": np.ascontiguousarray(tables.words).view("<u4"),
        "seen": np.ascontiguousarray(surrogates.seen).view("<u4") if has_surrogates else [],
    }
    found = [language.table(name, "scalar", [str(value)]) for name, value in scalars.items()]
    for name, values in floats.items():
        found.append(language.table(name, "f64", [_number(float(value), language) for value in values]))
    for name, values in wholes.items():
        entries = [int(value) for value in values]
        found.append(language.table(name, _width(entries), list(map(str, entries))))
    for name, values in words.items():
        found.append(language.table(name, "u32", [str(int(value)) for value in values]))
    given = program.columns[: program.n_given]
    found.append(language.texts("column_names", [[_plain(column.name) for column in given]]))
    found.append(language.texts("level_names", [list(map(_plain, column.levels)) for column in given]))
    found.append(language.texts("class_names", [list(map(_plain, own)) for own in program.classes]))
    return found


def _plain(level: object) -> Any:
    """A name, a level or a label as a string, a number or a bool; any other value as a string."""
    return level if isinstance(level, str | bool | int | float) else written_level(level)


def _number(value: float, language: Language) -> str:
    """A float64 as text."""
    return repr(value) if np.isfinite(value) else language.infinity if value > 0 else f"-{language.infinity}"


def _width(entries: list[int]) -> str:
    """The narrowest type of whole numbers that holds all entries."""
    low, high = min(entries, default=0), max(entries, default=0)
    return "u8" if low >= 0 and high < 256 else "i16" if low >= -(2**15) and high < 2**15 else "i32"


def _lines(entries: list[str]) -> str:
    """Entries in lines of limited length."""
    lines, line = [], ""
    for entry in entries:
        if len(line) + len(entry) > _PER_LINE:
            lines.append(line)
            line = ""
        line += f"{entry},"
    return "\n".join([*lines, line])


def _c_text(level: Any) -> str:
    r"""A C string literal: UTF-8 bytes, in octal unless printable ASCII; a question mark would begin a trigraph."""
    held = str(level).encode("utf-8", "surrogatepass")
    plain = (chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f"\\{byte:03o}" for byte in held)
    return '"' + "".join(plain) + '"'


_C_TYPES = {"u8": "uint8_t", "i16": "int16_t", "i32": "int32_t", "u32": "uint32_t", "f64": "double"}


def _c_table(name: str, kind: str, entries: list[str]) -> str:
    if kind == "scalar":
        return f"#define {name} {entries[0]}"
    if kind == "u32":
        entries = [f"{entry}u" for entry in entries]
    return f"static const {_C_TYPES[kind]} {name}[] = {{\n{_lines(entries or ['0'])}\n}};"


def _c_texts(name: str, lists: list[list[Any]]) -> str:
    for texts in lists:
        written = [_c_text(text) for text in texts]
        if any("\\000" in text for text in written):
            raise ParameterError("a level, label or name holds NUL, which ends a string in C: rename it")
        if len(set(written)) < len(written):
            twice = next(text for text in written if written.count(text) > 1)
            raise ParameterError(f"two levels or labels are the same string in C, {twice}: rename one of them")
    flat = [_c_text(text) for texts in lists for text in texts]
    begins = np.cumsum([0, *map(len, lists)]).tolist()
    return (
        f"static const char *const {name}[] = {{\n" + ",\n".join(flat or ['""']) + "\n};\n"
        + f"static const int32_t {name}_begin[] = {{ {', '.join(map(str, begins))} }};"
    )  # fmt: skip


_JS_TYPES = {"u8": "Uint8Array", "i16": "Int16Array", "i32": "Int32Array", "u32": "Uint32Array", "f64": "Float64Array"}


def _js_table(name: str, kind: str, entries: list[str]) -> str:
    if kind == "scalar":
        return f"const {name} = {entries[0]};"
    return f"const {name} = new {_JS_TYPES[kind]}([\n{_lines(entries)}\n]);"


_JS_WHOLE = 2**53  # larger numbers are written as texts: JavaScript numbers cannot hold them exactly


def _js_texts(name: str, lists: list[list[Any]]) -> str:
    def told_apart(text: Any) -> Any:
        return str(text) if isinstance(text, int) and abs(text) > _JS_WHOLE else text

    # No text may end the HTML element that holds the script.
    texts = json.dumps([list(map(told_apart, own)) for own in lists], ensure_ascii=True).replace("<", "\\u003c")
    return f"const {name} = {texts};"


def _py_table(name: str, kind: str, entries: list[str]) -> str:
    if kind == "scalar":
        return f"_{name} = {entries[0]}"
    return f"_{name} = (\n{_lines(entries)}\n)" if entries else f"_{name} = ()"


def _py_texts(name: str, lists: list[list[Any]]) -> str:
    return f"_{name} = {lists!a}"


_JAVA_PART = 20_000  # letters; a literal has at most 65,535 bytes, three a letter
# Reserved words of Java, and classes that a class of that name would hide from its own code.
_JAVA_WORDS = """_ abstract assert boolean break byte case catch char class const continue default do double else enum
extends false final finally float for goto if implements import instanceof int interface long native new null package
permits private protected public record return sealed short static strictfp super switch synchronized this throw throws
transient true try var void volatile while yield java
Boolean Double Float IllegalArgumentException Integer Long Math Number Object StrictMath String System"""


def _java_parts(joined: list[str]) -> str:
    """Arguments of a function that joins texts: literals within the length limit of Java."""
    return ",\n".join(f'"{part}"' for part in joined)


def _java_table(name: str, kind: str, entries: list[str]) -> str:
    if kind == "scalar":
        return f"    private static final int {name} = {entries[0]};"
    parts = [""]
    for entry in entries:
        if len(parts[-1]) + len(entry) > _JAVA_PART:
            parts.append("")
        parts[-1] += f"{entry} "
    word = "double" if kind == "f64" else "int"
    return f"    private static final {word}[] {name} = {word}s(\n{_java_parts(parts)});"


def _java_texts(name: str, lists: list[list[Any]]) -> str:
    text = "".join("[" + "".join(map(_java_entry, own)) for own in lists)
    units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), "<u2").tolist()
    parts = [
        "".join(map(_java_letter, units[begin : begin + _JAVA_PART])) for begin in range(0, len(units), _JAVA_PART)
    ]
    return f"    private static final java.util.List<java.util.List<Object>> {name} = texts(\n{_java_parts(parts)});"


def _java_entry(level: Any) -> str:
    """A string, number or bool with its type and its length in UTF-16 units."""
    if isinstance(level, bool):
        sort, text = "b", str(level).lower()
    elif isinstance(level, int) and -(2**63) <= level < 2**63:
        sort, text = "i", str(level)
    elif isinstance(level, float):
        sort, text = "f", repr(level).replace("inf", "Infinity")
    else:
        sort, text = "s", str(level)
    return f"{sort}{len(text.encode('utf-16-le', 'surrogatepass')) // 2}:{text}"


def _java_letter(unit: int) -> str:
    r"""A unit of UTF-16 in a literal. Below 128 in octal: Java reads a \u before the quotes, and it could end them."""
    if 32 <= unit < 127 and unit not in b'"\\':
        return chr(unit)
    return f"\\{unit:03o}" if unit < 128 else f"\\u{unit:04x}"


C = Language("model.c.txt", _c_table, "INFINITY", _c_texts, frozenset({"N"}))
JAVASCRIPT = Language("model.js.txt", _js_table, "Infinity", _js_texts)
PYTHON = Language("model.py.txt", _py_table, "1e999", _py_texts)
JAVA = Language("model.java.txt", _java_table, "Infinity", _java_texts, frozenset(_JAVA_WORDS.split()))
LANGUAGES = {"c": C, "javascript": JAVASCRIPT, "python": PYTHON, "java": JAVA}
