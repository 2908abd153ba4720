"""A model as ONNX. In: a ``Program``. Out: the bytes of an ``.onnx`` file with the same sums in float64.

    inputs, one per column -> codes of levels -> derived columns -> [N, p] -> trees -> scores -> probabilities -> label

The behaviour of onnxruntime shapes the file (docs/decisions/0014):

- A node has two branches. Cuts and sets of levels become a chain of nodes; a chain leads to each child once, because
  some releases copy a subtree that two nodes share, and others refuse it.
- A test whose branches recur along its chain (surrogates; sets, if the operator has none) is a small tree of its own,
  whose leaves hold the branch. The branches are further columns for the following trees.
- A leaf holds one number. If it needs more, or if the operator returns float32, the number is the row of a table: whole
  numbers are exact in float32, and the table is added up in float64.
- Links are explicit operations: those of the operator are ignored or inexact.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from treewright.data.derived import LEVELS, LINEAR, ROWS, by_source
from treewright.data.schema import Column, unlike
from treewright.exceptions import MissingLibraryError, ParameterError, TooLargeError
from treewright.exchange.code import Program, branches_of_codes, stand_ins_of
from treewright.exchange.structure import json_level
from treewright.trees.arrays import INTERVALS, MULTIWAY, SUBSET
from treewright.trees.data import LARGEST_EXPONENT
from treewright.version import __version__

ML = "ai.onnx.ml"
FLOAT, INT32, INT64, TEXT, BOOL, DOUBLE = 1, 6, 7, 8, 9, 11  # types of tensors
# The modes of a test: their names in version 3 of the operators, their numbers in version 5.
MODES = ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ", "MEMBER")
LEQ, LT, GTE, GT, EQ, NEQ, MEMBER = range(7)
_NEXT = -1  # in place of a branch: the next surrogate decides
_OPSET, _IR = 15, {3: 8, 5: 10}
_MOST_WHOLE = 2**24  # float32 holds all whole numbers up to this
_MOST_BYTES = 2**31 - 1  # of a file of protocol buffers
# onnxruntime 1.32 reads a tree by recursion, some 750 bytes of the stack for each test; Windows gives 1 MB.
_MOST_DEPTH = 1_000
_WORK = {"plus": "Add", "minus": "Sub", "times": "Mul", "over": "Div"}


def onnx_of(program: Program, name: str, *, is_matrix: bool, version: int = 5) -> bytes:
    """The bytes of an ONNX model.

    ``name``: of the graph. ``is_matrix``: whether there is one input ``X`` float64[N, p], for a table of numbers
    without names; else each column is an input: float64[N, 1], or texts [N, 1] for levels. ``version`` {5, 3}: of
    ai.onnx.ml: 5 has ``TreeEnsemble``, older runtimes know 3.
    Raises ``ParameterError``: ONNX cannot represent the model: it refuses cells, levels or classes are the same as
    texts, or trees are too deep for onnxruntime; ``MissingLibraryError``: the package onnx is not installed;
    ``TooLargeError``: the file would have more than 2 GB.
    """
    try:
        import onnx
    except ImportError:
        raise MissingLibraryError('export as ONNX needs the package onnx: pip install "treewright[onnx]"') from None
    for refuses, what in ((program.refuses_missing, "missing"), (program.refuses_unseen, "unseen")):
        if refuses:
            raise ParameterError(
                f"the model has {what}='error', but ONNX cannot refuse a cell: fit with another {what}"
            )
    graph = Graph(onnx, _prefix(program))
    inputs, description, codes, cells = _inputs(graph, program, is_matrix)
    for column in program.columns[program.n_given :]:
        cells.append(_made(graph, program.columns, column, codes, cells))
    x = "X" if is_matrix else graph.add("Concat", [cell for cell in cells if cell], axis=1)
    # Tests refer to positions: columns that are not used have none.
    places = np.cumsum([0, *(bool(cell) for cell in cells)])[:-1]
    sums = _sums(graph, program, x, places, version)
    values = values_of(graph, sums, program.link, program.n_classes, program.n_sums)
    names = [*(["label"] * len(program.n_classes)), "probabilities" if program.n_classes else "values", "scores"]
    taken = [value.name for value in inputs]
    names, classes = unlike(names, taken), [_labels(own) for own in program.classes]
    outputs = []
    for at, (label, kind) in enumerate(label_outputs(graph, values, classes, program.threshold)):
        graph.add("Identity", [label], name=names[at])
        outputs.append(onnx.helper.make_tensor_value_info(names[at], kind, ["N"]))
    for tensor, own, width in ((values, names[-2], program.n_values), (sums, names[-1], program.n_sums)):
        graph.add("Identity", [tensor], name=own)
        outputs.append(onnx.helper.make_tensor_value_info(own, onnx.TensorProto.DOUBLE, ["N", width]))
    made = onnx.helper.make_model(
        onnx.helper.make_graph(graph.nodes, name, inputs, outputs, graph.tensors),
        opset_imports=[onnx.helper.make_opsetid("", _OPSET), onnx.helper.make_opsetid(ML, version)],
        ir_version=_IR[version], producer_name="treewright", producer_version=__version__,
    )  # fmt: skip
    facts = {"treewright": __version__, "columns": json.dumps(description), "classes": json.dumps(classes)}
    onnx.helper.set_model_props(made, facts)
    if made.ByteSize() > _MOST_BYTES:
        raise TooLargeError(f"the ONNX file would have {made.ByteSize():,} bytes, more than 2 GB: fit smaller trees")
    return bytes(made.SerializeToString(deterministic=True))


@dataclass
class Graph:
    """Operations in the order of execution; each returns one tensor, referred to by its name."""

    onnx: Any
    prefix: str
    nodes: list[Any] = field(default_factory=list)
    tensors: list[Any] = field(default_factory=list)

    def add(
        self,
        operation: str,
        inputs: Iterable[Any],
        *,
        name: str = "",
        domain: str = "",
        n_outputs: int = 1,
        **said: Any,
    ) -> str:
        """Add an operation and return the name of its tensor; an input that is no name is a constant."""
        given = [each if isinstance(each, str) else self.constant(each) for each in inputs]
        name = name or f"{self.prefix}{len(self.nodes)}"
        names = [name, *(f"{name}.{at}" for at in range(1, n_outputs))]
        node = self.onnx.helper.make_node(operation, given, names, domain=domain)
        for key, value in said.items():
            if value is None:
                continue
            node.attribute.append(self._attribute(key, value))
        self.nodes.append(node)
        return name

    def constant(self, value: Any) -> str:
        """A tensor of numbers, or of texts."""
        name = f"{self.prefix}c{len(self.tensors)}"
        if isinstance(value, list) and value and isinstance(value[0], str):
            texts = [text.encode() for text in value]
            self.tensors.append(self.onnx.helper.make_tensor(name, self.onnx.TensorProto.STRING, [len(texts)], texts))
        else:
            array = np.asarray(value, order="C")
            self.tensors.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def _attribute(self, key: str, value: Any) -> Any:
        kinds = self.onnx.AttributeProto
        # Made by hand: ``make_attribute`` checks each of millions of entries.
        if isinstance(value, np.ndarray) and value.dtype == np.int64:
            return kinds(name=key, type=kinds.INTS, ints=value.tolist())
        if isinstance(value, np.ndarray):
            return kinds(name=key, type=kinds.TENSOR, t=self.onnx.numpy_helper.from_array(value, key))
        if isinstance(value, list) and value and isinstance(value[0], bytes):
            return kinds(name=key, type=kinds.STRINGS, strings=value)
        return self.onnx.helper.make_attribute(key, value)


def _prefix(program: Program) -> str:
    """A prefix of tensor names that no column name begins with."""
    prefix = "/"
    while any(str(column.name).startswith(prefix) for column in program.columns):
        prefix += "/"
    return prefix


def _text(level: object, where: str) -> str:
    """A level or a label as a string of ONNX, which is UTF-8."""
    text = str(level)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ParameterError(f"{where}: {text!r} holds half a character, which ONNX cannot write: rename it") from None
    if "\0" in text:
        raise ParameterError(f"{where}: {text!r} holds NUL, which ends a text in some runtimes: rename it")
    return text


def _texts(levels: Sequence[object], where: str) -> list[str]:
    """Levels as distinct texts."""
    texts = [_text(level, where) for level in levels]
    if len(set(texts)) < len(texts):
        raise ParameterError(f"{where}: some are the same as texts, and ONNX has only texts: rename them")
    return texts


def _labels(classes: Sequence[object]) -> list[Any]:
    """The labels of an output: whole numbers, bools, numbers, or else texts."""
    for kind in (bool, int, float):
        if all(type(label) is kind for label in classes):
            fits = kind is not int or all(-(2**63) <= int(label) < 2**63 for label in classes)  # type: ignore[call-overload]
            if fits and (kind is not float or np.isfinite(np.array(classes, np.float64)).all()):
                return list(classes)
    return _texts(classes, "classes")


def _inputs(
    graph: Graph, program: Program, is_matrix: bool
) -> tuple[list[Any], list[dict[str, Any]], list[str], list[str]]:
    """The inputs, their descriptions, and per column the codes of levels (-1 is missing) and the cells."""
    onnx, given = graph.onnx, program.columns[: program.n_given]
    descriptions: list[dict[str, Any]] = [
        {"name": json_level(column.name), "kind": column.kind, "holds": column.family} for column in given
    ]
    if is_matrix:
        descriptions = [description | {"input": "X"} for description in descriptions]
        value = onnx.helper.make_tensor_value_info("X", onnx.TensorProto.DOUBLE, ["N", len(given)])
        return [value], descriptions, [""] * len(given), ["X"] * len(given)
    if all(column.left_out for column in given):
        raise ParameterError("the model uses no column, but ONNX needs an input: export it in another format")
    inputs: list[Any] = []
    codes, all_cells = [], []
    names = unlike([_text(column.name, "columns") or "column" for column in given])
    for column, name, description in zip(given, names, descriptions, strict=True):
        code, cell = "", name
        description["input"] = name
        if column.left_out:
            description["input"], cell = None, ""
        elif column.kind == "numeric":
            inputs.append(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.DOUBLE, ["N", 1]))
        else:
            inputs.append(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.STRING, ["N", 1]))
            levels = _texts(column.levels, f"levels of column {column.name!r}")
            missing = "" if "" not in levels else unlike(["missing"], levels)[0]
            description |= {"levels": levels, "missing": missing}
            n = len(levels)
            keys = [text.encode() for text in (*levels, missing)]
            code = graph.add(
                "LabelEncoder", [name], domain=ML, keys_strings=keys,
                values_int64s=np.array([*range(n), -1]), default_int64=n,
            )  # fmt: skip
            of_unseen = np.nan if program.takes_unseen_for_missing or column.kind == "ordinal" else float(n)
            cell = graph.add("Gather", [np.array([*range(n), of_unseen, np.nan]), code])
        codes.append(code)
        all_cells.append(cell)
    return inputs, descriptions, codes, all_cells


def _made(graph: Graph, columns: Sequence[Column], column: Column, codes: list[str], cells: list[str]) -> str:
    """The cells of a derived column, as ``data.derived`` makes them."""
    first = column.sources[0]
    if column.part == ROWS:
        return graph.add("Gather", [np.array([*column.numbers, 0.0, np.nan]), codes[first]])
    if column.part == LEVELS:
        return _together(graph, columns, column, cells)
    if column.part in _WORK:
        found = graph.add(_WORK[column.part], [cells[at] for at in column.sources])
        if column.part == "over":
            is_zero = graph.add("Equal", [cells[column.sources[1]], np.array(0.0)])
            found = graph.add("Where", [is_zero, np.array(np.nan), found])
        return found
    assert column.part == LINEAR  # noqa: S101 - ``program_of`` refuses parts of dates
    score, sources = "", [columns[at] for at in column.sources]
    for at, (source, own) in zip(column.sources, by_source(column.numbers, sources), strict=True):
        is_missing = graph.add("IsNaN", [cells[at]])
        if source.kind == "nominal":
            n = len(source.levels)
            place = graph.add("Where", [is_missing, np.array(n + 1.0), cells[at]])
            part = graph.add("Gather", [np.array([*own[:n], 0.0, own[n]]), graph.add("Cast", [place], to=INT64)])
        else:
            low, high, slope, of_missing = map(np.array, own)
            held = graph.add("Min", [graph.add("Max", [cells[at], low]), high])
            part = graph.add("Mul", [graph.add("Sub", [held, low]), slope])
            part = graph.add("Where", [is_missing, of_missing, part])
        score = graph.add("Add", [score or np.array(column.numbers[0]), part])
    return score


def _together(graph: Graph, columns: Sequence[Column], column: Column, cells: list[str]) -> str:
    """The code of a pair of levels; a pair that no training row had is missing."""
    n_other = len(columns[column.sources[1]].levels)
    nowhere, parts = -(2.0**52), []
    for at, factor in zip(column.sources, (n_other + 1.0, 1.0), strict=True):
        n = len(columns[at].levels)
        of_code = np.array([*range(n), nowhere, n]) * factor  # an unknown level, a missing cell
        is_missing = graph.add("IsNaN", [cells[at]])
        code = graph.add("Cast", [graph.add("Where", [is_missing, np.array(n + 1.0), cells[at]])], to=INT64)
        parts.append(graph.add("Gather", [of_code, code]))
    place = graph.add("Cast", [graph.add("Add", parts)], to=INT64)
    found = graph.add(
        "LabelEncoder", [place], domain=ML, keys_int64s=np.array(column.numbers or [-1]).astype(np.int64),
        values_floats=[float(code) for code in range(max(1, len(column.numbers)))], default_float=float("nan"),
    )  # fmt: skip
    return graph.add("Cast", [found], to=DOUBLE)


@dataclass
class _Trees:
    """Binary tests and leaves (target, number). A way is the position of a test, or ``~`` the position of a leaf."""

    modes: list[int] = field(default_factory=list)
    features: list[int] = field(default_factory=list)
    splits: list[float] = field(default_factory=list)
    tracks: list[bool] = field(default_factory=list)
    trues: list[int] = field(default_factory=list)
    falses: list[int] = field(default_factory=list)
    sets: dict[int, list[int]] = field(default_factory=dict)
    leaves: list[tuple[int, float]] = field(default_factory=list)
    roots: list[int] = field(default_factory=list)

    def leaf(self, target: int, number: float) -> int:
        """Add a leaf and return its way."""
        self.leaves.append((target, number))
        return ~(len(self.leaves) - 1)

    def test(self, feature: int, split: float | list[int], tracks: bool, ways: tuple[int, int]) -> int:
        """Add a test and return its way: up to a cut, or one of a set of codes; missing cells track true or false."""
        if isinstance(split, list) and self._goes_on(feature, ways):
            # onnxruntime joins two sets that lead to the same node, and forgets the second one's missing branch.
            inner = ways[1]
            split, tracks = sorted({*split, *self.sets[inner]}), tracks or self.tracks[inner]
            ways = ways[0], self.falses[inner]
        at = len(self.modes)
        if isinstance(split, list):
            self.sets[at] = split
        self.modes.append(MEMBER if at in self.sets else LEQ)
        self.splits.append(0.0 if isinstance(split, list) else split)
        self.features.append(feature)
        self.tracks.append(tracks)
        self.trues.append(ways[0])
        self.falses.append(ways[1])
        return at

    def _goes_on(self, feature: int, ways: tuple[int, int]) -> bool:
        """Whether the false way tests the same column for another set that leads to the same as the true way."""
        true, inner = ways
        if inner not in self.sets or self.features[inner] != feature:
            return False
        other = self.trues[inner]
        return true == other or (true < 0 and other < 0 and self.leaves[~true] == self.leaves[~other])


@dataclass(frozen=True, eq=False)
class _Ways:
    """The branch of each value of a column: per interval between ``cuts``; without them per code of a level."""

    feature: int
    cuts: Sequence[float] | None
    exits: Sequence[int]
    missing: int


def _ways_of(program: Program, node: int) -> _Ways:
    """The branches of a test of a program."""
    tables = program.tables
    feature, kind, begin = int(tables.feature[node]), tables.kind[node], int(tables.level_set[node])
    missing, n = int(tables.missing_branch[node]), int(tables.n_branches[node])
    if kind in {SUBSET, MULTIWAY}:
        return _Ways(feature, None, branches_of_codes(program, node), missing)
    cuts = tables.cuts[begin : begin + n - 1].tolist() if kind == INTERVALS else [float(tables.threshold[node])]
    return _Ways(feature, cuts, range(len(cuts) + 1), missing)


def _runs(exits: Sequence[int]) -> tuple[list[float], list[int]]:
    """The cuts after which the branch of a code changes, and the branches between them."""
    answers = np.array(exits)
    ends = np.flatnonzero(answers[1:] != answers[:-1])
    return ends.astype(np.float64).tolist(), answers[[*ends, len(answers) - 1]].tolist()


def _leading(trees: _Trees, ways: _Ways, to: dict[int, int]) -> int:
    """The way to tests that lead to each branch (``to``: its way) once; only the missing branch may occur twice."""
    if ways.cuts is not None:
        return _halved(trees, ways, [(to[answer], answer == ways.missing, []) for answer in ways.exits], to)
    groups: dict[int, list[int]] = {}
    for code, answer in enumerate(ways.exits):
        groups.setdefault(answer, []).append(code)
    held = [(to[answer], answer == ways.missing, codes) for answer, codes in sorted(groups.items())]
    return _halved(trees, ways, held, to)


def _halved(trees: _Trees, ways: _Ways, held: list[tuple[int, bool, list[int]]], to: dict[int, int]) -> int:
    """The way to tests that bisect the intervals or groups of codes until one is left.

    ``held`` holds per interval or group its way, whether a missing cell takes it, and the codes.
    """
    cuts = ways.cuts
    while len(held) > 1:
        paired = []
        for at in range(0, len(held) - 1, 2):
            one, other = held[at : at + 2]
            if cuts is None and len(other[2]) < len(one[2]):
                one, other = other, one  # the test is for the smaller set
            way = trees.test(ways.feature, one[2] if cuts is None else cuts[at], one[1], (one[0], other[0]))
            paired.append((way, one[1] or other[1], [*one[2], *other[2]]))
        held, cuts = [*paired, *held[2 * len(paired) :]], None if cuts is None else cuts[1::2]
    way, leads_missing, _ = held[0]
    return way if leads_missing else trees.test(ways.feature, np.inf, False, (way, to[ways.missing]))


@dataclass
class _Sets:
    """Branches of subset tests as columns of their own, for an operator without sets."""

    trees: _Trees = field(default_factory=_Trees)
    known: dict[Any, int] = field(default_factory=dict)

    def said(self, ways: _Ways, n_columns: int) -> _Ways:
        """The ways as cuts of a new column that holds the branch."""
        answers = sorted({*ways.exits, ways.missing}, key=lambda each: (each == _NEXT, each))
        places = {each: at for at, each in enumerate(answers)}
        key = (ways.feature, tuple(places[each] for each in ways.exits), places[ways.missing])
        if key not in self.known:
            target = self.known[key] = len(self.known)
            cuts, exits = _runs(key[1])
            held: list[tuple[int, bool, list[int]]] = [(self.trees.leaf(target, answer), False, []) for answer in exits]
            runs, to = replace(ways, cuts=cuts), {ways.missing: self.trees.leaf(target, key[2])}
            self.trees.roots.append(_halved(self.trees, runs, held, to))
        return _Ways(n_columns + self.known[key], _between(len(answers)), answers, answers[-1])


def _between(n: int) -> list[float]:
    """The cuts between the whole numbers from 0 to n - 1."""
    return [at + 0.5 for at in range(n - 1)]


def _sums(graph: Graph, program: Program, x: str, places: np.ndarray, version: int) -> str:
    """The sums of the trees, float64[N, n_sums], after the division."""
    tables, n_nodes, n_columns = program.tables, int(program.roots[-1]), int(places.max()) + 1
    begins, n_trees = program.surrogates.begins, len(program.roots) - 1
    is_leaf = tables.first_child < 0
    tree_of = np.repeat(np.arange(n_trees), np.diff(program.roots))
    entries = program.contents[program.content_of[is_leaf]]
    if program.weights is not None:
        entries = entries * program.weights[tree_of[is_leaf]][:, None]
    # A leaf holds its value itself only if that is one number, and the operator adds up in float64.
    is_direct = version == 5 and entries.shape[1] == 1
    rows, row_of = np.unique(entries, axis=0, return_inverse=True)
    if version == 3 and len(rows) > _MOST_WHOLE:
        raise ParameterError(f"leaves have {len(rows):,} values, more than float32 can number: use format 'onnx'")
    numbers, n_targets = np.zeros(n_nodes), len(program.base) if is_direct else n_trees
    numbers[is_leaf] = entries[:, 0] if is_direct else row_of.ravel()

    sets, stand_ins, trees = _Sets(), _Trees(), _Trees()

    def placed(ways: _Ways) -> _Ways:
        ways = replace(ways, feature=int(places[ways.feature]))
        if ways.cuts is None:
            cuts, exits = _runs(ways.exits)
            if len(set(exits)) == len(exits) and _NEXT not in exits:  # each branch once: no set is needed
                return replace(ways, cuts=cuts, exits=exits)
        return ways if ways.cuts is not None or version == 5 else sets.said(ways, n_columns)

    way_of, n_stand_ins = [0] * n_nodes, 0
    for node in range(n_nodes - 1, -1, -1):  # children first
        if is_leaf[node]:
            way_of[node] = trees.leaf(int(tree_of[node]) % n_targets, float(numbers[node]))
            continue
        first, n = int(tables.first_child[node]), int(tables.n_branches[node])
        ways = _ways_of(program, node)
        if begins[node + 1] > begins[node]:
            _stand_in(stand_ins, n_stand_ins, [placed(replace(ways, missing=_NEXT)),
                      *map(placed, _surrogates_of(program, node))], ways.missing)  # fmt: skip
            n_stand_ins += 1
            # After all other columns, whose number is only known at the end.
            ways = _Ways(-n_stand_ins, _between(n), range(n), n - 1)
        else:
            ways = placed(ways)
        way_of[node] = _leading(trees, ways, {branch: way_of[first + branch] for branch in range(n)})
    trees.roots = [way_of[root] for root in program.roots[:-1].tolist()]

    for made, count in ((sets.trees, len(sets.known)), (stand_ins, n_stand_ins)):
        if count:
            x = graph.add("Concat", [x, _ensemble(graph, made, x, count, version)], axis=1)
    n_columns += len(sets.known)
    trees.features = [at if at >= 0 else n_columns + ~at for at in trees.features]
    found = _ensemble(graph, trees, x, n_targets, version)
    if not is_direct:
        found = graph.add("Gather", [rows, graph.add("Cast", [found], to=INT64)])  # [N, n_trees, k]
        if program.is_boosted:
            found = graph.add("Reshape", [found, np.array([0, n_trees // len(program.base), len(program.base)])])
        found = graph.add("ReduceSum", [found, np.array([1])], keepdims=0)
    if any(program.base):
        found = graph.add("Add", [np.array(program.base), found])
    found = found if program.total == 1.0 else graph.add("Div", [found, np.array(program.total)])
    if program.n_parts == 1:
        return found
    split = graph.add("Reshape", [found, np.array([0, program.n_parts, program.n_sums])])
    parts = [graph.add("Gather", [split, np.array(part)], axis=1) for part in range(program.n_parts)]
    for part in parts[1:]:
        parts[0] = graph.add("Add", [parts[0], part])
    return parts[0]


def _surrogates_of(program: Program, node: int) -> Iterator[_Ways]:
    """The ways of a node's surrogates, best first."""
    for column, cut, branches in stand_ins_of(program, node):
        exits = [_NEXT if branch is None else branch for branch in branches]
        yield _Ways(column, None if cut is None else [cut], exits, _NEXT)


def _stand_in(trees: _Trees, target: int, chain: list[_Ways], missing: int) -> None:
    """A tree whose leaves hold the branch that a test and its surrogates choose."""
    way = trees.leaf(target, missing)
    for ways in reversed(chain):
        to = {each: trees.leaf(target, each) for each in dict.fromkeys(ways.exits) if each != _NEXT}
        way = _leading(trees, ways, to | {_NEXT: way})
    trees.roots.append(way)


def _ensemble(graph: Graph, trees: _Trees, x: str, n_targets: int, version: int) -> str:
    """The operator of trees, float64[N, n_targets]."""
    order: list[int] = []  # ways, each tree from its root
    place_of: dict[int, int] = {}  # of a test among the tests or a leaf among the leaves (5), or in its tree (3)
    n_before, first_tests = [0], []
    n_seen = [0, 0]
    for tree, root in enumerate(trees.roots):
        if root < 0 and version == 5:  # if a tree is one leaf, both branches of a test lead to it
            root = trees.test(0, 0.0, False, (root, root))
        first_tests.append(n_seen[0])
        ways = [(root, 0)]
        while ways:
            way, depth = ways.pop()
            if way in place_of:
                continue
            if depth > _MOST_DEPTH:
                raise ParameterError(
                    f"tree {tree} has more than {_MOST_DEPTH:,} tests in a row, which crashes onnxruntime: "
                    "limit its depth"
                )
            place_of[way] = n_seen[way < 0] if version == 5 else len(order) - n_before[-1]
            n_seen[way < 0] += 1
            order.append(way)
            if way >= 0:
                ways += [(trees.trues[way], depth + 1), (trees.falses[way], depth + 1)]
        n_before.append(len(order))
    tests = [way for way in order if way >= 0]
    leaves = [trees.leaves[~way] for way in order if way < 0]

    def whole(values: Iterable[Any]) -> np.ndarray:
        return np.fromiter(values, np.int64)

    if version == 5:
        trues, falses = ([held[test] for test in tests] for held in (trees.trues, trees.falses))
        true_ids, false_ids = (whole(place_of[way] for way in held) for held in (trues, falses))
        for root in first_tests:
            # Some releases treat a root as a leaf if these are equal (onnxruntime#24679).
            if true_ids[root] == false_ids[root] and (trues[root] < 0) != (falses[root] < 0):
                ids = true_ids if trues[root] < 0 else false_ids
                leaves.append(leaves[ids[root]])
                ids[root] = len(leaves) - 1
        members = [code for test in tests if test in trees.sets for code in (*trees.sets[test], np.nan)]
        return graph.add(
            "TreeEnsemble", [x], domain=ML, n_targets=n_targets, tree_roots=whole(first_tests),
            nodes_modes=np.array([trees.modes[test] for test in tests], np.uint8),
            nodes_featureids=whole(trees.features[test] for test in tests),
            nodes_splits=np.array([trees.splits[test] for test in tests], np.float64),
            nodes_missing_value_tracks_true=whole(trees.tracks[test] for test in tests),
            nodes_truenodeids=true_ids, nodes_trueleafs=whole(way < 0 for way in trues),
            nodes_falsenodeids=false_ids, nodes_falseleafs=whole(way < 0 for way in falses),
            leaf_targetids=whole(target for target, _ in leaves),
            leaf_weights=np.array([number for _, number in leaves], np.float64),
            membership_values=np.array(members, np.float64) if members else None,
        )  # fmt: skip
    tree_of = np.repeat(np.arange(len(trees.roots)), np.diff(n_before))
    node_of, is_test = whole(place_of[way] for way in order), np.array(order) >= 0

    def filled(values: Iterable[Any], dtype: Any = np.int64) -> np.ndarray:
        """The values of tests, and 0 for leaves."""
        all_of: np.ndarray = np.zeros(len(order), dtype)
        all_of[is_test] = list(values)
        return all_of

    found = graph.add(
        "TreeEnsembleRegressor", [x], domain=ML, n_targets=n_targets,
        nodes_treeids=tree_of, nodes_nodeids=node_of,
        nodes_modes=[b"BRANCH_LEQ" if way >= 0 else b"LEAF" for way in order],
        nodes_featureids=filled(trees.features[test] for test in tests),
        nodes_values_as_tensor=filled((trees.splits[test] for test in tests), np.float64),
        nodes_missing_value_tracks_true=filled(trees.tracks[test] for test in tests),
        nodes_truenodeids=filled(place_of[trees.trues[test]] for test in tests),
        nodes_falsenodeids=filled(place_of[trees.falses[test]] for test in tests),
        target_treeids=tree_of[~is_test], target_nodeids=node_of[~is_test],
        target_ids=whole(target for target, _ in leaves),
        target_weights_as_tensor=np.array([number for _, number in leaves], np.float64),
    )  # fmt: skip
    return graph.add("Cast", [found], to=DOUBLE)


def values_of(graph: Graph, sums: str, link: str, n_classes: Sequence[int], n_sums: int) -> str:
    """Class probabilities, output by output, or numbers: float64[N, n_values]."""
    if link == "identity":
        return graph.add("Min", [sums, np.array(1.0)]) if n_classes else sums
    if link == "log":
        return graph.add("Min", [graph.add("Exp", [sums]), np.array(np.finfo(np.float64).max)])
    if link == "sorted":
        return graph.add("TopK", [sums, np.array([n_sums])], axis=1, largest=0, n_outputs=2)
    found, begin = [], 0
    for n in n_classes:
        width = n if n > 2 else 1
        own = graph.add("Slice", [sums, np.array([begin]), np.array([begin + width]), np.array([1])])
        begin += width
        if n == 1:
            found.append(graph.add("Cast", [graph.add("Equal", [own, own])], to=DOUBLE))
        elif n == 2:
            both = graph.add("Min", [graph.add("Mul", [own, np.array([1.0, -1.0])]), np.array(LARGEST_EXPONENT)])
            both = graph.add("Add", [graph.add("Exp", [both]), np.array(1.0)])
            found.append(graph.add("Div", [np.array(1.0), both]))
        else:
            largest = graph.add("ReduceMax", [own], axes=[1], keepdims=1)
            parts = graph.add("Exp", [graph.add("Sub", [own, largest])])
            found.append(graph.add("Div", [parts, graph.add("ReduceSum", [parts, np.array([1])], keepdims=1)]))
    return graph.add("Concat", found, axis=1)


def label_outputs(
    graph: Graph, values: str, classes: Sequence[list[Any]], threshold: tuple[int, float] | None
) -> Iterator[tuple[str, int]]:
    """Per output the labels [N] and the type of their tensor."""
    types, begin = graph.onnx.TensorProto, 0
    for labels in classes:
        n = len(labels)
        own = graph.add("Slice", [values, np.array([begin]), np.array([begin + n]), np.array([1])])
        begin += n
        if threshold is None:
            best = graph.add("ArgMax", [own], axis=1, keepdims=0)
        else:
            positive, at = threshold
            share = graph.add("Gather", [own, np.array(positive)], axis=1)
            is_reached = graph.add("GreaterOrEqual", [share, np.array(at)])
            best = graph.add("Where", [is_reached, np.array(positive), np.array(1 - positive)])
        kinds = {bool: types.BOOL, int: types.INT64, float: types.DOUBLE, str: types.STRING}
        yield graph.add("Gather", [labels, best]), kinds[type(labels[0])]
