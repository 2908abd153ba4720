"""A model as source code: C99, JavaScript, Python, Java. In: a model. Out: a ``Program``, and the text of one file.

A ``Program`` is the model as tables that a small evaluator in any language reads; SQL, PMML and ONNX are made of it
too. A program in another language is bit-identical only if it does the same operations in the same order: all trees
follow one another as they are walked here, with exact cuts and sets of levels, and the order of additions is part of
the description:

    values of the row -> derived columns appended -> per tree: root to leaf -> contents added up in the order of trees
    -> divided by ``total`` (means, votes) or started at ``base`` (scores) -> parts of each number added up
    -> link -> probabilities or numbers -> class

Some models do more than that (``EXTRAS``). A writer names the extras that its format supports; a model with another one
is refused.

A file of source code holds the tables and an evaluator of about two hundred lines that needs only its language.
Probabilities of boosted models use the language's own ``exp``, which may differ in the last bit.

A row is the columns of the table in their order, as float64: numbers, codes of levels (``level`` finds them), and nan
for a missing cell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from treewright.data.dates import DATES
from treewright.data.derived import DERIVED, is_derived
from treewright.data.schema import Column
from treewright.exceptions import ParameterError
from treewright.predict.ensemble import boosted_parts
from treewright.predict.fractional import portions_of
from treewright.predict.route import Branches, Surrogates, joined
from treewright.trees.arrays import SUBSET
from treewright.trees.check_model import ISOLATION_FOREST
from treewright.trees.data import ModelData, class_proportions
from treewright.trees.isolation import average_path_length
from treewright.trees.writing import written_level
from treewright.version import __version__

EXTRAS = {
    "divides": "missing='fractional' divides a row with missing cells among branches",
    "sorts": "the model predicts the weighted median of its trees",
    "isolates": "an isolation forest scores rows by the length of their paths",
    "dates": "a column holds dates, which are converted to numbers of days",
}


@dataclass(frozen=True, eq=False)
class Program:
    """The tables and settings that an evaluator needs.

    ``tables``, ``surrogates``: of all nodes of all trees.
    ``contents`` float64[m, k]: values of leaves; with boosted trees k is 1. With ``votes`` it holds class proportions,
    followed by the vote. With ``n_parts`` above 1 the first part of each value, then the second of each, and so on.
    ``n_parts``: a mean may have several sums for each of its values: a value is the sum, from the first part on, of the
    means of its parts (``model.aggregation.parts_of``).
    ``portions`` float64[n_nodes], or None: if rows are divided: the part of a missing value that a node gets from its
    parent. A row with missing cells goes down each branch whose part is above 0, level by level, and the contents of
    its leaves are added up in this order, each times the row's part in it.
    ``votes``: whether a tree that divides a row votes by the sum of its parts: for the first of the largest
    proportions. A row without missing cells has the vote of its leaf.
    ``sorts``: whether the sum is a weighted median: the first content, in ascending order (the first tree of equals),
    at which the running sum of ``weights`` reaches half of their total.
    ``base``: start values of all sums; boosted tree t adds to sum t modulo their number, any other tree to all.
    ``isolation``: of an isolation forest, whose sums are mean path lengths: the average length that they are divided
    by, and the score that outliers are below. The score is -(2 ** -quotient); the quotient of length 0.0 is 1.
    ``threshold``: with two classes: the one that is predicted if its probability is at least this, and the decision
    threshold.
    ``refuses_missing``, ``refuses_unseen``: whether the model, and so the evaluator, refuses missing cells or unknown
    levels.
    ``takes_unseen_for_missing``: whether an unknown level is a missing cell; if not, its code is the one after the last
    level.
    """

    columns: tuple[Column, ...]  # those of the table, followed by the derived ones; tests refer to positions
    n_given: int  # number of columns of the table
    tables: Branches
    surrogates: Surrogates
    roots: np.ndarray  # int64[n_trees + 1]
    content_of: np.ndarray  # int64[n_nodes]: row of ``contents`` of a leaf; -1 of an inner node
    contents: np.ndarray
    n_parts: int
    portions: np.ndarray | None
    room: int  # the largest number of nodes of a tree that wait while a row is divided
    votes: bool
    is_boosted: bool  # whether a tree adds to one sum only
    weights: np.ndarray | None  # float64[n_trees], or None: factors of the trees' contents before they are added
    sorts: bool
    base: tuple[float, ...]
    total: float  # divisor of the sums; 1 for scores and for a single tree
    link: str
    isolation: tuple[float, float] | None
    n_classes: tuple[int, ...]  # per output; empty for regression
    classes: tuple[list[object], ...]  # the labels per output
    threshold: tuple[int, float] | None
    refuses_missing: bool
    refuses_unseen: bool
    takes_unseen_for_missing: bool

    @property
    def n_values(self) -> int:
        """Number of probabilities or numbers that are predicted for a row."""
        return sum(self.n_classes) if self.n_classes else self.n_sums

    @property
    def n_sums(self) -> int:
        """Number of sums over the trees after the parts of each are put together."""
        return len(self.base) // self.n_parts


def program_of(model: ModelData, says: Collection[str] = ()) -> Program:
    """The tables of a model.

    ``says``: the ``EXTRAS`` that the format supports. Raises ``ParameterError``: the model needs another extra, or
    parts of dates.
    """
    _refuse(model, says)
    how, boosting, threshold = model.aggregation, model.boosting, model.threshold
    trees = list(model.trees)
    roots = np.cumsum([0, *(tree.n_nodes for tree in trees)], dtype=np.int64)
    tables, surrogates = joined(trees, roots)
    divides, weights = model.missing == "fractional", None if boosting is not None else how.weights
    if how.sorts:
        weights = how.weights_of(len(trees))
        weights = weights if weights.any() else np.ones(len(trees))
    n_values, said = 0, []
    for tree in trees:
        value = tree.value[tree.is_leaf]
        content = how.addends(model, value)
        n_values = content.shape[1]
        said.append(np.hstack([class_proportions(model, value), content]) if divides and how.votes else content)
    contents, row_of = np.unique(np.concatenate(said).astype(np.float64), axis=0, return_inverse=True)
    content_of = np.full(int(roots[-1]), -1, np.int64)
    content_of[tables.first_child < 0] = row_of.ravel()
    with np.errstate(over="ignore"):
        if not np.isfinite(np.abs(contents).max(initial=0.0) * len(trees)):
            raise ParameterError("the sum of the leaf values is beyond float64: such a model cannot be exported")
    isolation = None
    if model.facts.get("algorithm") == ISOLATION_FOREST:
        whole = average_path_length(np.array([model.facts["max_samples"]]))
        isolation = (float(whole[0]), float(model.facts["offset"]))
    return Program(
        columns=model.schema.columns,
        n_given=len(model.schema.given),
        tables=tables,
        surrogates=surrogates,
        roots=roots,
        content_of=content_of,
        contents=contents,
        n_parts=model.n_parts,
        portions=np.concatenate([portions_of(tree) for tree in trees]) if divides else None,
        # Waiting nodes have different leaves below them.
        room=max(tree.n_leaves for tree in trees) if divides else 1,
        votes=divides and how.votes,
        is_boosted=boosting is not None,
        weights=weights,
        sorts=how.sorts,
        base=boosted_parts(model)[1] if boosting is not None else (0.0,) * n_values,
        total=1.0 if boosting is not None or how.is_single or how.sorts else float(how.total(len(trees))),
        link="isolation" if isolation else boosting.link if boosting is not None else "identity",
        isolation=isolation,
        n_classes=tuple(model.n_classes) if model.classes else (),
        classes=tuple([label.item() if hasattr(label, "item") else label for label in own] for own in model.classes),
        threshold=None if threshold is None else (int(threshold.positive), float(threshold.at)),
        refuses_missing=model.missing == "error",
        refuses_unseen=model.unseen == "error",
        takes_unseen_for_missing=model.unseen == "missing",
    )


def _refuse(model: ModelData, says: Collection[str]) -> None:
    """Refuse a model with an extra that the format does not support, or with parts of dates."""
    columns = model.schema.columns
    does = {
        "divides": model.missing == "fractional",
        "sorts": model.aggregation.sorts,
        "isolates": model.facts.get("algorithm") == ISOLATION_FOREST,
        "dates": any(column.family in DATES for column in columns if not column.part),
    }
    for extra, is_so in does.items():
        if is_so and extra not in says:
            raise ParameterError(
                f"{EXTRAS[extra]}: this format does not support that; source code does (.c, .mjs, .py, .java)"
            )
    for column in columns:
        if column.part and not is_derived(column):
            raise ParameterError(
                f"column {column.name!r} is a part of dates, which exports do not support: fit on numbers made of them"
            )


class StandIn(NamedTuple):
    """A surrogate of a node: its column, and the branches of values up to a cut and above it, or of each code.

    Without a cut ``branches`` are per level, that of an unknown one last; None if the surrogate does not decide.
    """

    column: int
    cut: float | None
    branches: list[int | None]


def branches_of_codes(program: Program, node: int) -> list[int]:
    """The branch of each code in a test of levels, that of an unknown level last."""
    tables = program.tables
    begin, count = int(tables.level_set[node]), len(program.columns[int(tables.feature[node])].levels) + 1
    if tables.kind[node] == SUBSET:
        return [1 - bit for bit in _bits(tables.words, begin, count)]
    entries = tables.level_branch[begin : begin + count]
    return np.where(entries < 0, ~entries, entries).tolist()


def stand_ins_of(program: Program, node: int) -> Iterator[StandIn]:
    """The surrogates of a node, best first."""
    held = program.surrogates
    if not len(held.feature):
        return
    for at in range(int(held.begins[node]), int(held.begins[node + 1])):
        column, begin, flipped = int(held.feature[at]), int(held.level_set[at]), int(held.flipped[at])
        if begin < 0:
            yield StandIn(column, float(held.threshold[at]), [flipped, 1 - flipped])
        else:
            count = len(program.columns[column].levels) + 1
            seen, left = _bits(held.seen, begin, count), _bits(program.tables.words, begin, count)
            answers = [(1 - bit) ^ flipped if is_seen else None for is_seen, bit in zip(seen, left, strict=True)]
            yield StandIn(column, None, answers)


def _bits(words: np.ndarray, begin: int, count: int) -> list[int]:
    """The first bits of a set of codes."""
    held = np.ascontiguousarray(words[begin : begin + (count + 63) // 64]).astype("<u8").view(np.uint8)
    return np.unpackbits(held, bitorder="little")[:count].astype(np.int64).tolist()


IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,60}")
_PER_LINE = 120  # characters


@dataclass(frozen=True)
class Language:
    """How a language writes tables.

    ``table``: from a name, the type of the entries ("u8", "i32", "u32", "f64") and the entries as texts to a
    definition.
    """

    template: str  # the file in ``templates`` with the evaluator; ``//tables//`` and ``//name//`` are filled in
    table: Callable[[str, str, list[str]], str]
    infinity: str  # its literal of infinity; any other float64 is written as in Python, and reads back to the same bits
    texts: Callable[[str, list[list[Any]]], str]  # from a name and lists of strings, numbers and bools to a definition
    taken: frozenset[str] = frozenset()  # names that functions cannot have


def written(program: Program, language: Language, name: str) -> str:
    """The source code of a program.

    ``name``: prefix or name of the functions, an identifier.
    """
    if not IDENTIFIER.fullmatch(name):
        raise ParameterError(f"name={name!r}: give a name of letters, digits and _ that does not begin with a digit")
    if name in language.taken:
        raise ParameterError(f"name={name!r} is a reserved word of the language: give another")
    template = files("treewright.exchange").joinpath("templates", language.template).read_text(encoding="utf-8")
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
