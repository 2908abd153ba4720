"""A model as SQL: a view over a table of rows. In: a ``Program``. Out: the text of one file.

    NAME_rows (id, the columns of the table)  ->  view NAME (id, score_1 ..., probability_LABEL ..., prediction)

The view is a chain of steps, each a SELECT from the step before: cells become numbers, codes of levels, or NULL if they
are missing; columns are derived from them; trees are added up, in their order, starting at ``base``; sums become
values, values the prediction. Additions are in the order of ``predict``, so that sums are bit-identical in every
database.

Trees have one of two forms, by their size:

    nested     at most ``_MOST_NODES`` nodes, and no tree deeper than ``_STEPS`` times the depth limit of the database's
               parser: every tree is nested CASE (its deep parts in earlier steps), ``_TREES`` are added in one step
    walked     any other: tables NAME_nodes and NAME_contents, and one recursive query that takes every row through the
               first tree, adds the value of its leaf, and goes on at the root of the next

Nested is faster; a walk has no limit of depth or size.

DuckDB, SQLite and PostgreSQL are a ``Database`` each. Their differences decide whether sums are exact: the literal of a
float64 that is read back exactly, missing values, errors of arithmetic, the depth of their parsers, and how to raise an
error within a query.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np

from treewright.data.derived import LEVELS, LINEAR, ROWS, by_source
from treewright.exceptions import ParameterError
from treewright.exchange.code import IDENTIFIER, Program, branches_of_codes, stand_ins_of
from treewright.trees.arrays import INTERVALS, MULTIWAY, SUBSET, THRESHOLD
from treewright.trees.data import LARGEST_EXPONENT
from treewright.version import __version__

_MOST_NODES = 20_000
_TREES = 50  # added in one step
_STEPS = 4  # that a tree may be divided into, each as deep as the parser goes
_MOST_COLUMNS = 1_500  # of a step; PostgreSQL ends at 1,664, SQLite at 2,000
_TERMS = 50  # of a sum within one pair of parentheses: some parsers count them as depth
_INSERTED = 500  # rows by one INSERT
_KEYS = ("id", "row_id", "id_of_row", "treewright_id")


@dataclass
class _Query:
    """A chain of steps: each keeps columns of the step before and adds new ones."""

    database: Database
    steps: list[str] = field(default_factory=list)

    def add(self, kept: Iterable[str], made: dict[str, str], source: str | None = None) -> None:
        """Add a step of named expressions; it reads ``source``, by default the step before."""
        items = [*kept, *(f"{text} AS {name}" for name, text in made.items())]
        if len(items) > _MOST_COLUMNS:
            raise ParameterError(
                f"the model needs {len(items):,} columns in one step of the query, at most {_MOST_COLUMNS:,} are "
                "allowed: export it as source code"
            )
        before, behind = self.database.fence
        begin = f" FROM {source or f'q{len(self.steps) - 1}'}" if source != "" else ""
        text = ",\n  ".join(items)
        self.steps.append(f"q{len(self.steps)} AS {before}(\n  SELECT {text}{begin}{behind}\n)")


def sql_of(program: Program, database: Database, name: str, targets: Sequence[Hashable] = ()) -> str:
    """The file that makes the view.

    ``name``: of the view; it reads the table ``NAME_rows``. ``targets``: names of the targets. Raises
    ``ParameterError``: the database cannot hold a name, a level or a label, or cannot distinguish two of them.
    """
    if not IDENTIFIER.fullmatch(name):
        raise ParameterError(f"name={name!r}: give a name of letters, digits and _ that does not begin with a digit")
    names = _names(program, database, name)
    key, rows = identifier(key_of(names, database)), identifier(f"{name}_rows")
    query, row = _Query(database), [] if database.is_lateral else ["k"]
    inputs = _cells(program, query, names, rows, key)
    tables: list[str] = []
    if _is_nested(program, database):
        sums = _nested(program, query, inputs, row)
    else:
        tables = _tables(program, database, name)
        sums = _walked(program, query, inputs, row, name)
    values = _values(program, query, sums, row)
    predictions = _predictions(program, query, sums, values, row)
    probability_names, prediction_names = result_names(program, database, targets)
    results = [
        *((f"score_{at + 1}", each) for at, each in enumerate(sums)),
        *zip(probability_names, values if program.n_classes else [], strict=True),
        *zip(prediction_names, predictions, strict=True),
    ]
    found = ",\n  ".join(f"{each} AS {identifier(column)}" for column, each in results)
    chain = "WITH RECURSIVE " + ",\n".join(query.steps)
    last = f"q{len(query.steps) - 1}"
    if database.is_lateral:
        body = (
            f"SELECT r.{key}, said.* FROM {rows} AS r CROSS JOIN LATERAL (\n{chain}\n"
            f"SELECT\n  {found}\nFROM {last}\n) AS said"
        )
    else:
        body = f"{chain}\nSELECT k AS {key},\n  {found}\nFROM {last}"
    view = f"CREATE VIEW {identifier(name)} AS\n{body};\n"
    return "\n".join([*_head(program, database, name, names, probability_names), *tables, view])


def result_names(program: Program, database: Database, targets: Sequence[Hashable] = ()) -> tuple[list[str], list[str]]:
    """The columns of probabilities and of predictions, named as ``predict_files`` names them.

    A name that the database cuts off, or cannot distinguish from another one, has the position of the class, or of the
    target, instead.
    """
    n_outputs = len(program.n_classes) or program.n_values
    ends = [""] if n_outputs == 1 else [f"_{each}" for each in (targets or range(n_outputs))]
    labels = [
        f"probability{end}_{str(label).lower() if isinstance(label, bool) else label}"
        for end, own in zip(ends, program.classes, strict=bool(program.classes))
        for label in own
    ]
    found, taken = [], set[str]()
    for stem, names in (("probability", labels), ("prediction", [f"prediction{end}" for end in ends])):
        for at, name in enumerate(names):
            is_cut = database.most_bytes is not None and len(name.encode(errors="replace")) > database.most_bytes
            numbered = (f"{stem}_{at + 1}", *(f"{stem}_{at + 1}_{more}" for more in range(2, len(names) + 3)))
            own = [*([] if is_cut or not name.isprintable() else [name]), *numbered]
            found.append(next(each for each in own if database.folded(each) not in taken))
            taken.add(database.folded(found[-1]))
    return found[: len(labels)], found[len(labels) :]


def key_of(names: Sequence[str], database: Database) -> str:
    """The name of the key column: "id" unless a column of the model has this name."""
    taken = {database.folded(name) for name in names}
    return next(key for key in (*_KEYS, *(f"treewright_id_{at}" for at in range(len(taken) + 1))) if key not in taken)


def _head(program: Program, database: Database, name: str, names: list[str], probability_names: list[str]) -> list[str]:
    """Comments that describe the file; foreign texts are written as JSON, which keeps them on one line."""
    given = program.columns[: program.n_given]
    lines = [
        f"-- A model, written by Treewright {__version__} for {database.name}.",
        f"-- The view {name} predicts each row of the table or view {name}_rows, which has these columns:",
        f"--   {key_of(names, database)}: key of the row",
        *(f"--   {json.dumps(own)}: {column.kind}" for own, column in zip(names, given, strict=True)),
    ]
    labels = [label for own in program.classes for label in own]
    lines += [
        f"-- {json.dumps(own)} is the probability of {json.dumps(label)}"
        for own, label in zip(probability_names, labels, strict=True)
    ]
    return lines


def _names(program: Program, database: Database, name: str) -> list[str]:
    """The names of the columns of the table, checked for the database."""
    names = [str(column.name) for column in program.columns[: program.n_given]]
    taken: dict[str, str] = {}
    for each in names:
        _text(database, each, "column")
        size = len(each.encode())
        if not each:
            raise ParameterError("a column has an empty name, which SQL does not allow: fit on a table with names")
        if database.most_bytes is not None and size > database.most_bytes:
            raise ParameterError(
                f"column {each!r}: its name has {size} bytes, but {database.name} allows {database.most_bytes}: "
                "rename it and fit"
            )
        other = taken.setdefault(database.folded(each), each)
        if other is not each:
            raise ParameterError(f"columns {other!r} and {each!r} are one name in {database.name}: rename one and fit")
    if database.most_bytes is not None and len(f"{name}_contents") > database.most_bytes:
        raise ParameterError(
            f"name={name!r}: give at most {database.most_bytes - len('_contents')} characters, since names of "
            f"{database.name} have at most {database.most_bytes}"
        )
    return names


def _text(database: Database, text: str, what: str) -> str:
    """The literal of a string."""
    if "\0" in text or (not text.isprintable() and any("\ud800" <= sign <= "\udfff" for sign in text)):
        raise ParameterError(f"{what} {text!r}: SQL does not allow a text with NUL or half a character: rename it")
    return database.text(text)


def _kind_of(values: Sequence[object], what: str) -> str:
    """The type of levels or labels: text, truth or number."""
    kinds = {
        "text" if isinstance(each, str)
        else "truth" if isinstance(each, bool)
        else "number" if isinstance(each, int | float) and math.isfinite(each)
        else "other"
        for each in values
    }  # fmt: skip
    if len(kinds) > 1 or "other" in kinds:
        raise ParameterError(f"{what}: SQL needs levels and labels that are all strings, all numbers or all bools")
    return kinds.pop() if kinds else "text"


def _exact(level: Any, what: str) -> float:
    """A numeric level as float64; refused if it is not exact."""
    if abs(level) > 2**53 and int(float(level)) != level:
        raise ParameterError(f"{what}: level {level!r} is not an exact float64, as SQL needs to compare it")
    return float(level)


# Cells


def _cells(program: Program, query: _Query, names: list[str], rows: str, key: str) -> list[str]:
    """Add the steps that compute x0, x1, ... of a row: numbers and codes, NULL if missing; returns their names."""
    columns, n_given, database = program.columns, program.n_given, query.database
    tested = {int(at) for at in program.tables.feature if at >= 0} | {int(at) for at in program.surrogates.feature}
    made = sorted(at for at in tested if at >= n_given)
    needed = {at for at in tested if at < n_given} | {source for at in made for source in columns[at].sources}
    if program.refuses_missing or program.refuses_unseen:
        needed |= {at for at in range(n_given) if not columns[at].left_out}
    cells = {f"x{at}": _cell(program, database, at, names[at], is_raw=False) for at in sorted(needed)}
    raw = sorted({columns[at].sources[0] for at in made if columns[at].part == ROWS})
    cells |= {f"u{at}": _cell(program, database, at, names[at], is_raw=True) for at in raw}
    if database.is_lateral:
        query.add([], cells or {"x": "0"}, "")
    else:
        query.add([], {"k": f"r.{key}", **cells}, f"{rows} AS r")
    inputs = [f"x{at}" for at in sorted(needed)]
    if made:
        row = [] if database.is_lateral else ["k"]
        query.add([*row, *inputs], {f"x{at}": _made(program, database, at) for at in made})
    return [*inputs, *(f"x{at}" for at in made)]


def _cell(program: Program, database: Database, at: int, name: str, *, is_raw: bool) -> str:
    """A cell as a number or a code. An unknown level has the code after the last, if raw or if trees use it."""
    column, quoted = program.columns[at], f"r.{identifier(name)}"
    refused = database.refused(_text(database, f"column {name}: the model refuses missing cells, ", "column"), quoted)
    if column.kind == "numeric":
        number = database.cells["number"](quoted)
        return f"CASE WHEN {number} IS NULL THEN {refused} ELSE {number} END" if program.refuses_missing else number
    what = f"column {name!r}"
    kind = _kind_of(column.levels, what)
    cell = database.cells[kind](quoted)
    arms: list[str] = []
    for code, level in enumerate(column.levels):
        if kind == "truth":
            literals: tuple[str, ...] = database.truths[bool(level)]
        elif kind == "text":
            literals = (_text(database, str(level), f"{what}, level"),)
        else:
            literals = (database.number(_exact(level, what)),)
        arms += [f" WHEN {literal} THEN {code}" for literal in literals]
    missing = refused if program.refuses_missing else "NULL"
    unseen = f"{len(column.levels)}"
    if program.refuses_unseen:
        told = _text(database, f"column {name}: a level that the model does not know, ", "column")
        unseen = database.refused(told, quoted)
    elif not is_raw and (program.takes_unseen_for_missing or column.kind == "ordinal"):
        unseen = "NULL" if not program.refuses_missing else refused
    known = f"CASE {cell}{''.join(arms)} ELSE {unseen} END" if arms else unseen
    return f"CASE WHEN {cell} IS NULL THEN {missing} ELSE {known} END"


def _by_code(code: str, numbers: Sequence[float], database: Database) -> str:
    """The number of a code, 0 for an unknown one."""
    arms = "".join(f" WHEN {at} THEN {database.number(each)}" for at, each in enumerate(numbers))
    return f"CASE {code}{arms} ELSE {database.number(0.0)} END" if arms else database.number(0.0)


def _made(program: Program, database: Database, at: int) -> str:
    """A derived column (``data.derived``)."""
    column, columns = program.columns[at], program.columns
    first = column.sources[0]
    if column.part == ROWS:
        return f"CASE WHEN u{first} IS NULL THEN NULL ELSE {_by_code(f'u{first}', column.numbers, database)} END"
    if column.part == LINEAR:
        score = database.number(column.numbers[0])
        sources = [columns[source] for source in column.sources]
        for position, (source, own) in zip(column.sources, by_source(column.numbers, sources), strict=True):
            x = f"x{position}"
            if source.kind == "nominal":
                adds, missing = _by_code(x, own[:-1], database), own[-1]
            else:
                low, high, slope = map(database.number, own[:3])
                inside = f"{database.least}({database.greatest}(CAST({x} AS {database.double}), {low}), {high})"
                adds, missing = f"({inside} - {low}) * {slope}", own[3]
            score += f"\n    + CASE WHEN {x} IS NULL THEN {database.number(missing)} ELSE {adds} END"
        return score if database.name == "sqlite" else f"NULLIF({score}, 'NaN')"
    other = column.sources[1]
    if column.part == LEVELS:
        n, m = len(columns[first].levels), len(columns[other].levels)
        place = f"COALESCE(x{first}, {n}) * {m + 1} + COALESCE(x{other}, {m})"
        arms = "".join(f" WHEN {int(number)} THEN {code}" for code, number in enumerate(column.numbers))
        if not arms:
            return "CAST(NULL AS INTEGER)"
        return f"CASE WHEN x{first} = {n} OR x{other} = {m} THEN NULL ELSE CASE {place}{arms} END END"
    work = {"plus": database.plus, "minus": database.minus, "times": database.times, "over": database.over}
    return work[column.part](f"x{first}", f"x{other}")


# Trees


def _is_nested(program: Program, database: Database) -> bool:
    """Whether the trees are written as nested CASE."""
    n_nodes = int(program.roots[-1])
    if n_nodes > _MOST_NODES:
        return False
    depth, tables = np.zeros(n_nodes, np.int64), program.tables
    for node in range(n_nodes):
        first = int(tables.first_child[node])
        if first >= 0:
            depth[first : first + int(tables.n_branches[node])] = depth[node] + 1
    return int(depth.max()) <= _STEPS * database.most_levels


def _said(program: Program, tree: int, node: int) -> np.ndarray:
    """The value that a leaf of a tree adds to every sum."""
    content = program.contents[program.content_of[node]]
    if program.is_boosted:
        return np.where(np.arange(len(program.base)) == tree % len(program.base), content[0], 0.0)
    weighed: np.ndarray = content if program.weights is None else content * program.weights[tree]
    return weighed


def _conditions(program: Program, node: int, database: Database) -> list[tuple[str, int]]:
    """The conditions of the branches; a missing cell fulfils none, and at most one holds for a row."""
    tables = program.tables
    x, kind = f"x{int(tables.feature[node])}", tables.kind[node]
    if kind == THRESHOLD:
        return _cut(x, float(tables.threshold[node]), [0, 1], database)
    if kind in {SUBSET, MULTIWAY}:
        return _of_codes(x, branches_of_codes(program, node))
    begin, last = int(tables.level_set[node]), int(tables.n_branches[node]) - 1
    cuts = [database.number(float(cut)) for cut in tables.cuts[begin : begin + last]]
    below = [f"{x} <= {cut}" for cut in cuts]
    above = [f"{x} > {cut}" for cut in cuts]
    return [(" AND ".join([*above[branch - 1 : branch], *below[branch : branch + 1]]), branch)
            for branch in range(last + 1)]  # fmt: skip


def _cut(x: str, cut: float, branches: Sequence[int | None], database: Database) -> list[tuple[str, int]]:
    signs = ("<=", ">")
    return [(f"{x} {sign} {database.number(cut)}", branch) for sign, branch in zip(signs, branches, strict=True)
            if branch is not None]  # fmt: skip


def _of_codes(x: str, branches: Sequence[int | None]) -> list[tuple[str, int]]:
    """The conditions of the branches as sets of codes."""
    found: dict[int, list[int]] = {}
    for code, branch in enumerate(branches):
        if branch is not None:
            found.setdefault(branch, []).append(code)
    return [(f"{x} IN ({', '.join(map(str, codes))})", branch) for branch, codes in found.items()]


def _case(program: Program, tree: int, database: Database, leaf: dict[int, str], parts: list[dict[str, str]]) -> str:
    """A tree as nested CASE; ``leaf`` has the texts of leaves. Children come after their parents.

    A part as deep as the parser's limit becomes a column of an earlier step: it is put into ``parts``, by step.
    """
    tables, texts, root = program.tables, dict(leaf), int(program.roots[tree])
    height, step = dict.fromkeys(leaf, 0), dict.fromkeys(leaf, 0)
    for node in range(int(program.roots[tree + 1]) - 1, int(program.roots[tree]) - 1, -1):
        first = int(tables.first_child[node])
        if first < 0:
            continue
        missing, conditions = int(tables.missing_branch[node]), _conditions(program, node, database)
        stand_ins = list(stand_ins_of(program, node))
        operand = ""
        if stand_ins:
            # The branch first, so that every child is written once.
            for feature, cut, branches in stand_ins:
                x = f"x{feature}"
                conditions += _of_codes(x, branches) if cut is None else _cut(x, cut, branches, database)
            arms = "".join(f" WHEN {held} THEN {branch}" for held, branch in conditions)
            operand = f" CASE{arms} ELSE {missing} END"
            conditions = [(str(branch), branch) for branch in range(int(tables.n_branches[node]))]
        taken = [f" WHEN {held} THEN {texts[first + branch]}" for held, branch in conditions if branch != missing]
        otherwise = texts[first + missing]
        texts[node] = f"CASE{operand}{''.join(taken)} ELSE {otherwise} END" if taken else otherwise
        children = range(first, first + int(tables.n_branches[node]))
        height[node], step[node] = 1 + max(height[at] for at in children), max(step[at] for at in children)
        if height[node] == database.most_levels and node != root:
            parts[step[node]][f"b{node}"], texts[node] = texts[node], f"b{node}"
            height[node], step[node] = 0, step[node] + 1
    return texts[root]


def _nested(program: Program, query: _Query, inputs: list[str], row: list[str]) -> list[str]:
    """Add the steps of nested CASE; returns the names of the sums."""
    database, n_sums, n_trees = query.database, len(program.base), len(program.roots) - 1
    sums = [database.number(each) for each in program.base]
    for begin in range(0, n_trees, _TREES):
        trees = range(begin, min(begin + _TREES, n_trees))
        adds: list[list[str]] = [[] for _ in sums]
        leaf_of: dict[str, str] = {}
        parts: list[dict[str, str]] = [{} for _ in range(_STEPS)]
        for tree in trees:
            nodes = np.arange(program.roots[tree], program.roots[tree + 1])
            leaves = nodes[program.tables.first_child[nodes] < 0].tolist()
            said = np.array([_said(program, tree, node) for node in leaves])
            if n_sums == 1 or program.is_boosted:
                own = tree % n_sums
                texts = [database.number(float(each)) for each in said[:, own]]
                adds[own].append(_case(program, tree, database, dict(zip(leaves, texts, strict=True)), parts))
                continue
            # With several sums: the leaf first, then what it adds to each.
            _, first, number_of = np.unique(said, axis=0, return_index=True, return_inverse=True)
            numbers = [str(int(number)) for number in number_of.ravel()]
            leaf_of[f"t{tree}"] = _case(program, tree, database, dict(zip(leaves, numbers, strict=True)), parts)
            for own in range(n_sums):
                adds[own].append(_by_code(f"t{tree}", said[first, own].tolist(), database))
        carried = [*row, *inputs, *(sums if begin else [])]
        for part in filter(None, parts):
            query.add(carried, part)
            carried += part
        if leaf_of:
            query.add(carried, leaf_of)
        steps = {
            f"s{own}_{begin}": " + ".join([sums[own], *map("\n    {}".format, adds[own])]) for own in range(n_sums)
        }
        query.add([*row, *inputs], steps)
        sums = list(steps)
    return _divided(program, query, sums, row)


def _divided(program: Program, query: _Query, sums: list[str], row: list[str]) -> list[str]:
    if program.total == 1.0:
        return sums
    total, n_sums = query.database.number(program.total), program.n_sums
    means = [query.database.over(name, total) for name in sums]
    query.add(row, {f"s{own}": " + ".join(means[own::n_sums]) for own in range(n_sums)})
    return [f"s{own}" for own in range(n_sums)]


# Walks


def _tables(program: Program, database: Database, name: str) -> list[str]:
    """The tables of a walk: nodes, and values of leaves."""
    contents: dict[bytes, tuple[int, np.ndarray]] = {}
    width = _width(program)
    nodes = [
        "(" + ", ".join("NULL" if each is None else each for each in node) + ")"
        for node in _nodes(program, database, contents, width)
    ]
    said = [f"({at}, {', '.join(database.number(float(each)) for each in own)})" for at, own in contents.values()]
    sums = ", ".join(f"v{own} {database.double} NOT NULL" for own in range(len(program.base)))
    found = [
        f"CREATE TABLE {identifier(f'{name}_nodes')} (node INTEGER PRIMARY KEY, feature INTEGER, "
        f"cut {database.double}, levels TEXT, yes INTEGER, no INTEGER, missing INTEGER, content INTEGER);",
        f"CREATE TABLE {identifier(f'{name}_contents')} (content INTEGER PRIMARY KEY, {sums});",
    ]
    for table, rows in (("nodes", nodes), ("contents", said)):
        for begin in range(0, len(rows), _INSERTED):
            listed = ",\n".join(rows[begin : begin + _INSERTED])
            found.append(f"INSERT INTO {identifier(f'{name}_{table}')} VALUES\n{listed};")
    if database.name == "postgresql":
        found += [f"ANALYZE {identifier(f'{name}_{table}')};" for table in ("nodes", "contents")]
    return found


def _width(program: Program) -> int:
    """Number of digits of a branch number."""
    return len(str(int(program.tables.n_branches.max())))


def _nodes(
    program: Program, database: Database, contents: dict[bytes, tuple[int, np.ndarray]], width: int
) -> Iterator[tuple[str | None, ...]]:
    """The rows of the table of nodes. ``contents`` is filled with the values of leaves.

    A test with a cut leads to yes or no; a test of levels to yes plus the number that ``levels`` has for the code
    (dashes: no branch); a missing cell, or no branch, to missing. Tests of several cuts are one node for each cut, and
    surrogates are nodes that a missing cell leads to. A leaf leads to the next root.
    """
    tables, n_trees = program.tables, len(program.roots) - 1
    free = int(program.roots[-1])  # numbers of nodes that no tree has

    def test(node: int, feature: int, cut: float, branches: Sequence[int | None], first: int, missing: int) -> Any:
        if math.isnan(cut):
            codes = "".join("-" * width if each is None else f"{each:0{width}}" for each in branches)
            return str(node), str(feature), None, f"'{codes}'", str(first), None, str(missing), None
        yes, no = (str(first + each) for each in branches if each is not None)
        return str(node), str(feature), database.number(cut), None, yes, no, str(missing), None

    for tree in range(n_trees):
        for node in range(int(program.roots[tree]), int(program.roots[tree + 1])):
            first, feature = int(tables.first_child[node]), int(tables.feature[node])
            if first < 0:
                adds = _said(program, tree, node)
                content, _ = contents.setdefault(adds.tobytes(), (len(contents), adds))
                following = str(int(program.roots[tree + 1])) if tree + 1 < n_trees else None
                yield str(node), None, None, None, following, None, None, str(content)
                continue
            missing = first + int(tables.missing_branch[node])
            stand_ins = list(stand_ins_of(program, node))
            begin = free
            free += len(stand_ins)
            for at, (own, cut, branches) in enumerate(stand_ins):
                then = begin + at + 1 if at + 1 < len(stand_ins) else missing
                yield test(begin + at, own, math.nan if cut is None else cut, branches, first, then)
            if stand_ins:
                missing = begin
            if tables.kind[node] == THRESHOLD:
                yield test(node, feature, float(tables.threshold[node]), [0, 1], first, missing)
            elif tables.kind[node] == INTERVALS:
                place, count = int(tables.level_set[node]), int(tables.n_branches[node]) - 1
                asking = node
                for at in range(count):
                    is_last = at + 1 == count
                    no = first + count if is_last else free
                    cut = float(tables.cuts[place + at])
                    yield test(asking, feature, cut, [at, no - first], first, missing)
                    asking, free = no, free + (not is_last)
            else:
                yield test(node, feature, math.nan, branches_of_codes(program, node), first, missing)


def _walked(program: Program, query: _Query, inputs: list[str], row: list[str], name: str) -> list[str]:
    """Add the step that walks through all trees; returns the names of the sums."""
    database, width = query.database, _width(program)
    sums = [f"w{own}" for own in range(len(program.base))]
    tested = [f" WHEN {each[1:]} THEN w.{each}" for each in inputs]
    value = f"CASE n.feature{''.join(tested)} END" if tested else "NULL"
    answer = (
        f"n.yes + CAST(NULLIF(substr(n.levels, CAST({value} AS INTEGER) * {width} + 1, {width}), '{'-' * width}') "
        "AS INTEGER)"
    )
    following = (
        f"CASE WHEN n.content IS NOT NULL THEN n.yes WHEN {value} IS NULL THEN n.missing "
        f"WHEN n.cut IS NOT NULL THEN CASE WHEN {value} <= n.cut THEN n.yes ELSE n.no END "
        f"ELSE COALESCE({answer}, n.missing) END"
    )
    before = f"q{len(query.steps) - 1}"
    begun = [f"CAST({database.number(each)} AS {database.double})" for each in program.base]
    added = [f"w.{each} + COALESCE(c.v{own}, 0)" for own, each in enumerate(sums)]
    kept = [*row, *inputs]
    if len(kept) + len(sums) > _MOST_COLUMNS:
        raise ParameterError(f"the model tests more than {_MOST_COLUMNS:,} columns: export it as source code")
    query.steps.append(
        f"walk ({', '.join(['node', *sums, *kept])}) AS (\n"
        f"  SELECT {', '.join(['0', *begun, *kept])} FROM {before}\n  UNION ALL\n"
        f"  SELECT {following},\n  {', '.join([*added, *(f'w.{each}' for each in kept)])}\n"
        f"  FROM walk AS w JOIN {identifier(f'{name}_nodes')} AS n ON n.node = w.node\n"
        f"  LEFT JOIN {identifier(f'{name}_contents')} AS c ON c.content = n.content\n)"
    )
    query.add([*row, *sums], {}, "walk WHERE node IS NULL")
    return _divided(program, query, sums, row)


# Results


def _added(terms: list[str]) -> str:
    """A sum in groups, so that a long one is not deeply nested."""
    while len(terms) > _TERMS:
        terms = [f"({' + '.join(terms[at : at + _TERMS])})" for at in range(0, len(terms), _TERMS)]
    return " + ".join(terms)


def _largest(terms: list[str], database: Database) -> str:
    """The largest of several columns, nested, as functions have few arguments in SQLite."""
    while len(terms) > _TERMS:
        terms = [_largest(terms[at : at + _TERMS], database) for at in range(0, len(terms), _TERMS)]
    return terms[0] if len(terms) == 1 else f"{database.greatest}({', '.join(terms)})"


def _values(program: Program, query: _Query, sums: list[str], row: list[str]) -> list[str]:
    """Add the steps from sums to probabilities or numbers; returns their names."""
    database, kept = query.database, [*row, *sums]
    number = database.number
    names = [f"v{at}" for at in range(program.n_values)]
    if program.link == "identity" and not program.n_classes:
        return sums
    if program.link == "identity":
        made = {name: f"{database.least}({each}, {number(1.0)})" for name, each in zip(names, sums, strict=True)}
    elif program.link == "log":
        most, least = number(np.finfo(np.float64).max), number(709.782712893384)
        made = {
            name: f"CASE WHEN {each} < {least} THEN {database.exp(each)} ELSE {most} END"
            for name, each in zip(names, sums, strict=True)
        }
    elif program.link == "sorted":
        # Odd-even sort: neighbours are exchanged for as many rounds as there are numbers.
        numbers = list(sums)
        for at in range(len(sums)):
            changed = {}
            for left in range(at % 2, len(sums) - 1, 2):
                pair = f"{numbers[left]}, {numbers[left + 1]}"
                changed[f"o{at}_{left}"] = f"{database.least}({pair})"
                changed[f"o{at}_{left + 1}"] = f"{database.greatest}({pair})"
            same = [numbers[place] for place in range(len(sums)) if f"o{at}_{place}" not in changed]
            query.add(dict.fromkeys([*kept, *same]), changed)
            numbers = [
                f"o{at}_{place}" if f"o{at}_{place}" in changed else numbers[place] for place in range(len(sums))
            ]
        return numbers
    else:
        return _shares(program, query, sums, row)
    query.add(kept, made)
    return names


def _shares(program: Program, query: _Query, sums: list[str], row: list[str]) -> list[str]:
    """Add the steps from scores to class probabilities, by the logistic function and softmax; returns their names."""
    database, number = query.database, query.database.number
    most: dict[str, str] = {}
    risen: dict[str, str] = {}
    powers: dict[str, str] = {}
    parts: dict[str, str] = {}
    begin = 0
    for output, n in enumerate(program.n_classes):
        own = sums[begin : begin + (n if n > 2 else 1)]
        begin += len(own)
        if n == 1:
            parts[f"v{len(parts)}"] = number(1.0)
        elif n == 2:
            for sign in ("", "-"):
                at = len(parts)
                risen[f"d{at}"] = f"{database.least}({sign}{own[0]}, {number(LARGEST_EXPONENT)})"
                powers[f"e{at}"] = database.exp(f"d{at}")
                parts[f"v{at}"] = f"{number(1.0)} / ({number(1.0)} + e{at})"
        else:
            most[f"m{output}"] = _largest(own, database)
            places = range(len(parts), len(parts) + n)
            every = f"({_added([f'e{at}' for at in places])})"
            for at, score in zip(places, own, strict=True):
                risen[f"d{at}"] = f"{score} - m{output}"
                powers[f"e{at}"] = database.exp(f"d{at}")
                parts[f"v{at}"] = f"e{at} / a{output}"
            most[f"a{output}"] = every
    totals = {name: text for name, text in most.items() if name[0] == "a"}
    highest = {name: text for name, text in most.items() if name[0] == "m"}
    kept = [*row, *sums]
    query.add(kept, highest)
    query.add(kept, risen)
    query.add(kept, powers)
    query.add([*kept, *powers], totals)
    query.add(kept, {name: _share(text, database) for name, text in parts.items()})
    return list(parts)


def _share(text: str, database: Database) -> str:
    # A subnormal power divided by a sum may be 0, which PostgreSQL reports as an error.
    power, _, total = text.partition(" / a")
    return database.over(power, f"a{total}") if total else text


def _predictions(program: Program, query: _Query, sums: list[str], values: list[str], row: list[str]) -> list[str]:
    """Add the step that finds the largest probability; returns the expressions of the predictions."""
    if not program.n_classes:
        return values
    database, begin, found = query.database, 0, []
    largest: dict[str, str] = {}
    for output, (n, labels) in enumerate(zip(program.n_classes, program.classes, strict=True)):
        own = values[begin : begin + n]
        begin += n
        kind = _kind_of(labels, "classes")
        texts = [_label(database, kind, label) for label in labels]
        if program.threshold is not None:
            positive, at = program.threshold
            held = f"{own[positive]} >= {database.number(at)}"
            found.append(f"CASE WHEN {held} THEN {texts[positive]} ELSE {texts[1 - positive]} END")
            continue
        largest[f"l{output}"] = _largest(own, database)
        # The first of equals.
        arms = "".join(f" WHEN {name} THEN {text}" for name, text in zip(own, texts, strict=True))
        found.append(f"CASE l{output}{arms} END")
    query.add(dict.fromkeys([*row, *sums, *values]), largest)
    return found


def _label(database: Database, kind: str, label: Any) -> str:
    """A label as a literal of its own type."""
    if kind == "text":
        return _text(database, label, "class")
    if kind == "truth":
        return database.predicted_truths[label]
    if isinstance(label, int):
        if abs(label) >= 2**63:
            raise ParameterError(f"class {label}: it is beyond the whole numbers of SQL: use smaller labels")
        return str(label)
    return database.number(label)


_CASES = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


@dataclass(frozen=True)
class Database:
    """One database.

    ``most_levels``: the depth limit of nested ``CASE``: the parser of SQLite ends at about 20, DuckDB at 1,000,
    PostgreSQL at 2,000.
    ``number``, ``text``: the literal of a float64, of a string.
    ``cells``: how a cell is read as a "number", a "text" or a "truth", from its expression; missing becomes NULL.
    ``refused``: from the literal of a message and an expression to an expression that ends the query with both as the
    error.
    ``plus``, ``minus``, ``times``, ``over``: of two names: IEEE arithmetic; nan becomes NULL.
    ``fence``: text that keeps a step of a query from being copied into later ones: after AS, and at its end.
    ``is_lateral``: whether the steps are computed row by row, so that a condition on the view reads only the rows it
    needs.
    """

    name: str
    double: str  # its type of float64
    most_levels: int
    most_bytes: int | None  # of an identifier; PostgreSQL silently cuts longer ones off
    folds: bool  # whether names of columns that differ only in the case of A to Z are one name
    number: Callable[[float], str]
    text: Callable[[str], str]
    truths: tuple[tuple[str, ...], tuple[str, ...]]  # the literals of false and of true in ``cells["truth"]``
    predicted_truths: tuple[str, str]  # the literals of false and true as predictions
    cells: dict[str, Callable[[str], str]]
    refused: Callable[[str, str], str]
    exp: Callable[[str], str]
    plus: Callable[[str, str], str]
    minus: Callable[[str, str], str]
    times: Callable[[str, str], str]
    over: Callable[[str, str], str]
    least: str
    greatest: str
    fence: tuple[str, str]
    is_lateral: bool

    def folded(self, name: str) -> str:
        """A name in the form that the database compares."""
        return name.translate(_CASES) if self.folds else name


def identifier(name: str) -> str:
    """A quoted name."""
    return '"' + name.replace('"', '""') + '"'


def _plain_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


# DuckDB: a literal without exponent is a decimal number; one with it is read as the nearest float64.
def _duckdb_number(value: float) -> str:
    if math.isinf(value):
        return "CAST('inf' AS DOUBLE)" if value > 0 else "CAST('-inf' AS DOUBLE)"
    text = repr(float(value))
    return text if "e" in text else f"{text}e0"


def _no_nan(a: str) -> str:
    # In DuckDB and PostgreSQL nan equals nan and is greater than all other numbers.
    return f"NULLIF({a}, 'NaN')"


DUCKDB = Database(
    name="duckdb",
    double="DOUBLE",
    most_levels=100,
    most_bytes=None,
    folds=True,
    number=_duckdb_number,
    text=_plain_text,
    truths=(("'false'", "'0'"), ("'true'", "'1'")),
    predicted_truths=("FALSE", "TRUE"),
    cells={
        "number": lambda cell: _no_nan(f"CAST({cell} AS DOUBLE)"),
        "text": lambda cell: f'CAST({cell} AS VARCHAR) COLLATE "C"',
        "truth": lambda cell: f"CAST({cell} AS VARCHAR)",
    },
    refused=lambda said, cell: f"error({said} || COALESCE(CAST({cell} AS VARCHAR), 'NULL'))",
    exp=lambda a: f"exp({a})",
    plus=lambda a, b: _no_nan(f"{a} + {b}"),
    minus=lambda a, b: _no_nan(f"{a} - {b}"),
    times=lambda a, b: _no_nan(f"{a} * {b}"),
    over=lambda a, b: _no_nan(f"{a} / NULLIF({b}, 0)"),
    least="LEAST",
    greatest="GREATEST",
    fence=("", ""),
    is_lateral=False,
)


# SQLite reads some literals of 16 and 17 digits as a neighbour (3.40: 541 of 200,000), so that a number is written as a
# whole number and powers of two, all of which it reads and divides exactly; only short decimals that are exact stay.
def _sqlite_number(value: float) -> str:
    if math.isinf(value):
        return "9e999" if value > 0 else "-9e999"
    if value == 0 or (len(Decimal(value).normalize().as_tuple().digits) <= 15 and 1e-6 < abs(value) < 1e15):
        return repr(float(value))
    sign, (whole, below) = "-" if value < 0 else "", abs(value).as_integer_ratio()
    zeros = max(0, whole.bit_length() - 53)
    text, halvings = f"{whole >> zeros}.0", below.bit_length() - 1
    for times, word in ((halvings, "/"), (zeros, "*")):
        for begin in range(0, times, 62):
            text += f"{word}{1 << min(62, times - begin)}.0"
    return f"({sign}{text})"


def _sqlite_refused(said: str, cell: str) -> str:
    # Outside triggers only a function with an invalid argument raises an error: here an invalid JSON path.
    return f"json_extract('{{}}', {said} || COALESCE({cell}, 'NULL'))"


def _sqlite_cell(types: str, read: str) -> Callable[[str], str]:
    # In SQLite each cell has its own type, independent of the type of its column.
    def tested(cell: str) -> str:
        said = _plain_text(f"{cell} holds a cell of another type than the model expects: ")
        return (
            f"CASE WHEN typeof({cell}) IN ({types}) THEN {read.format(cell)} WHEN {cell} IS NOT NULL THEN "
            f"{_sqlite_refused(said, f'quote({cell})')} END"
        )

    return tested


SQLITE = Database(
    name="sqlite",
    double="REAL",
    most_levels=12,
    most_bytes=None,
    folds=True,
    number=_sqlite_number,
    text=_plain_text,
    truths=(("0",), ("1",)),
    predicted_truths=("0", "1"),
    cells={
        "number": _sqlite_cell("'integer', 'real'", "CAST({} AS REAL)"),
        "text": _sqlite_cell("'text'", "+{}"),
        "truth": _sqlite_cell("'integer', 'real'", "+{}"),
    },
    refused=_sqlite_refused,
    exp=lambda a: f"exp({a})",
    # nan is NULL in SQLite.
    plus=lambda a, b: f"({a} + {b})",
    minus=lambda a, b: f"({a} - {b})",
    times=lambda a, b: f"({a} * {b})",
    over=lambda a, b: f"({a} / NULLIF({b}, 0))",
    least="min",
    greatest="max",
    fence=("MATERIALIZED ", ""),
    is_lateral=False,
)


def _postgres_number(value: float) -> str:
    return f"float8 '{float(value)!r}'" if math.isfinite(value) else f"float8 '{'-' if value < 0 else ''}Infinity'"


def _postgres_text(text: str) -> str:
    # With a backslash the meaning of a plain literal is a setting of the session.
    return ("E" if "\\" in text else "") + _plain_text(text).replace("\\", "\\\\")


# PostgreSQL ends a query with an error if finite numbers give infinity, or 0 by underflow; IEEE arithmetic goes on.
# Each of these functions tests for it first, on numbers scaled by powers of two so that nothing is lost.
_FAR, _NEAR = f"float8 '{2.0**512!r}'", f"float8 '{2.0**-512!r}'"
_END = f"float8 '{2.0**-51!r}'"  # half of the least number, moved by 2 ** 1024
_SMALL = f"float8 '{2.0**-60!r}'"  # below it no ratio is beyond float64
_TINY = f"float8 '{2.0**-900!r}'"
_ROOT = f"float8 '{2.0**-540!r}'"  # the product of two below it is 0
_HALF_OF_MOST = "float8 '8.988465674311579e+307'"


def _signed(a: str, b: str, size: str) -> str:
    return f"CASE WHEN ({a} < 0) = ({b} < 0) THEN float8 '{size}' ELSE float8 '-{size}' END"


def _half(a: str) -> str:
    return f"CASE WHEN abs({a}) < {_TINY} THEN 0 ELSE {a} / 2 END"


def _postgres_sum(sign: str) -> Callable[[str, str], str]:
    def summed(a: str, b: str) -> str:
        halves = f"({_half(a)} {sign} {_half(b)})"
        return _no_nan(
            f"CASE WHEN abs({a}) < float8 '1e300' AND abs({b}) < float8 '1e300' THEN {a} {sign} {b} "
            f"WHEN abs({a}) = float8 'Infinity' OR abs({b}) = float8 'Infinity' THEN {a} {sign} {b} "
            f"WHEN abs{halves} > {_HALF_OF_MOST} THEN CASE WHEN {halves} > 0 THEN float8 'Infinity' "
            f"ELSE float8 '-Infinity' END ELSE {a} {sign} {b} END"
        )

    return summed


def _postgres_times(a: str, b: str) -> str:
    inside = f"{a} <> 0 AND {b} <> 0 AND abs({a}) < float8 'Infinity' AND abs({b}) < float8 'Infinity'"
    return _no_nan(
        f"CASE WHEN {inside} AND abs({a}) >= 1 AND abs({b}) >= 1 AND abs({a} * {_NEAR} * ({b} * {_NEAR})) >= 1 "
        f"THEN {_signed(a, b, 'Infinity')} WHEN {inside} AND abs({a}) < 1 AND abs({b}) < 1 "
        f"AND CASE WHEN abs({a}) < {_ROOT} AND abs({b}) < {_ROOT} THEN TRUE "
        f"ELSE abs({a} * {_FAR} * ({b} * {_FAR})) <= {_END} END THEN {_signed(a, b, '0')} ELSE {a} * {b} END"
    )


def _postgres_over(a: str, b: str) -> str:
    inside = f"{a} <> 0 AND abs({a}) < float8 'Infinity' AND abs({b}) < float8 'Infinity'"
    return _no_nan(
        f"CASE WHEN {b} = 0 THEN NULL WHEN {inside} AND abs({a}) > {_SMALL} AND abs({b}) < 1 "
        f"AND abs({a}) * {_NEAR} >= abs({b}) * {_FAR} THEN {_signed(a, b, 'Infinity')} "
        f"WHEN {inside} AND abs({a}) < 1 AND abs({b}) >= 1 AND abs({a}) * {_FAR} <= abs({b}) * {_NEAR} * {_END} "
        f"THEN {_signed(a, b, '0')} ELSE {a} / {b} END"
    )


def _postgres_exp(a: str) -> str:
    # PostgreSQL also refuses subnormal results: there the root is squared.
    return f"CASE WHEN {a} < -745.13 THEN 0 WHEN {a} < -700 THEN exp({a} / 2) * exp({a} / 2) ELSE exp({a}) END"


POSTGRESQL = Database(
    name="postgresql",
    double="double precision",
    most_levels=100,
    most_bytes=63,
    folds=False,
    number=_postgres_number,
    text=_postgres_text,
    truths=(("'false'", "'0'"), ("'true'", "'1'")),
    predicted_truths=("FALSE", "TRUE"),
    cells={
        "number": lambda cell: _no_nan(f"CAST({cell} AS double precision)"),
        "text": lambda cell: f'CAST({cell} AS text) COLLATE "C"',
        "truth": lambda cell: f"CAST({cell} AS text)",
    },
    # The error of an impossible cast quotes the text it could not read.
    refused=lambda said, cell: f"CAST({said} || COALESCE(CAST({cell} AS text), 'NULL') AS integer)",
    exp=_postgres_exp,
    plus=_postgres_sum("+"),
    minus=_postgres_sum("-"),
    times=_postgres_times,
    over=_postgres_over,
    least="LEAST",
    greatest="GREATEST",
    fence=("", " OFFSET 0"),
    is_lateral=True,
)

DATABASES = {each.name: each for each in (DUCKDB, SQLITE, POSTGRESQL)}
