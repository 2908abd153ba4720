"""A model as PMML 4.4. In: a ``Program``. Out: the text of an XML file.

    DataDictionary        the columns of the table, levels as texts; the target
    LocalTransformations  codes of levels, "code(town)", and derived columns
    Segmentation          a TreeModel for each tree, which are added up: average, weightedAverage, sum
    a modelChain          if something follows: probabilities of scores, exponentials, the decision threshold

Trees test codes of levels, as everywhere in Treewright: a set of numbers needs no quotes, ordinal levels are in order,
and a level that fit never saw has a code of its own or is a missing cell, as in the model.

The missing branch comes last and is True: a comparison with a missing cell never holds, so every other branch is
skipped. Segments are added up in their order, from 0; the base of scores is a first segment of one leaf, because a
``rescaleConstant`` would be added last.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from xml.sax.saxutils import escape, quoteattr

from treewright.data.derived import LEVELS, LINEAR, ROWS, by_source
from treewright.data.schema import unlike
from treewright.exceptions import ParameterError
from treewright.exchange.code import Program, branches_of_codes, stand_ins_of
from treewright.exchange.structure import json_level
from treewright.trees.arrays import INTERVALS, THRESHOLD
from treewright.trees.data import LARGEST_EXPONENT, whole_parts
from treewright.version import __version__

_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TYPES = {bool: "boolean", int: "integer", float: "double"}
_SIGNS = {"plus": "+", "minus": "-", "times": "*"}
_LARGEST = 1.7976931348623157e308
_TRUE = "<True/>"


@dataclass(frozen=True)
class _Names:
    """The names of fields and labels.

    ``labels``, ``shares``: the classes, and the output fields of their probabilities; empty for regression.
    """

    given: list[str]  # the columns of the table
    first: list[str]  # one that the model uses: a schema may not be empty
    tested: list[str]  # the field that tests refer to, for every column: the column itself, or the codes of its levels
    labels: list[str]
    shares: list[str]
    sums: list[str]  # the output fields of scores
    parts: dict[str, str]  # the names of output fields within a chain: readers return only those of its last model
    target: str

    def apart(self, name: str) -> str:
        """A name, with a number appended if a field already has it."""
        return unlike([name], [*self.given, *self.tested, *self.shares, *self.sums, *self.parts.values(), self.target])[
            0
        ]


@dataclass(frozen=True)
class _Step:
    """A model: its element, the fields that it reads, derives and returns, and its content.

    An output field is its name and the class whose probability it is; None for a predicted number. ``made`` holds
    the elements of further ones.
    """

    tag: str
    asks: Iterable[str]
    body: str
    outputs: Sequence[tuple[str, str | None]] = ()
    local: Sequence[str] = ()
    is_classes: bool = False
    normalization: str | None = None
    made: Sequence[str] = ()


def text_of(level: Hashable) -> str:
    """A level or label as the text for PMML; numbers and bools as JSON writes them."""
    return str(level).lower() if isinstance(level, bool) else str(json_level(level))


def written(program: Program, name: str, target: str) -> str:
    """The PMML of a program.

    ``name``: name of the model; ``target``: name of the target field, unless a column has it. Raises
    ``ParameterError``: the model has several outputs; a name or level holds characters that XML 1.0 does not allow, or
    two are the same text.
    """
    if len(program.n_classes) > 1 or (not program.n_classes and program.n_values > 1):
        raise ParameterError("PMML has one target per model, but this model has several outputs: fit one for each")
    if program.n_classes == (1,) and (program.is_boosted or len(program.roots) > 2):
        raise ParameterError("PMML does not combine trees of a single class: fit on two classes, or fit a single tree")
    names = _names(program, target)
    steps = list(_steps(program, names))
    target_field = _element("MiningField", name=names.target, usageType="target")
    whole = steps[0]
    outputs = [*(_output(name, label) for name, label in steps[-1].outputs), *steps[-1].made]
    if len(steps) > 1:
        inner = [[_output(names.parts[name], label) for name, label in step.outputs] for step in steps[:-1]]
        models = [_model(step, own) for step, own in zip(steps, inner, strict=False)]
        passed = [name for step in steps[:-1] for name, _ in step.outputs]
        carried = [name for name in passed if name in {*names.shares, *names.sums}]
        outputs = [*(_carried(name, names.parts[name]) for name in carried), *outputs]
        answer = _model(steps[-1], outputs, [*(_mining_field(names.parts[name]) for name in passed), target_field])
        whole = _segmentation([*models, answer], "modelChain", [], is_classes=steps[-1].is_classes)
        outputs = []
    schema = [*_mining_fields(program, names), target_field]
    local = list(_derived_fields(program, names))
    header = _element("Header", _element("Application", name="Treewright", version=__version__))
    fields = [*_data_fields(program, names), _target_field(program, names)]
    dictionary = _element("DataDictionary", *fields, numberOfFields=len(fields))
    model = _model(replace(whole, local=local), outputs, schema, _text(name, "name"))
    root = _element("PMML", header, dictionary, model, xmlns="http://www.dmg.org/PMML-4_4", version="4.4")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{root}\n'


# Elements


def _element(tag: str, *inner: str, **attributes: object) -> str:
    """An element of elements; an attribute that is None is left out."""
    said = "".join(f" {name}={quoteattr(str(value))}" for name, value in attributes.items() if value is not None)
    return f"<{tag}{said}>" + "\n".join(["", *inner, ""] if inner else []) + f"</{tag}>"


def _text_element(tag: str, text: str, **attributes: object) -> str:
    """An element of text."""
    said = "".join(f" {name}={quoteattr(str(value))}" for name, value in attributes.items())
    return f"<{tag}{said}>" + escape(text, {"\r": "&#13;"}) + f"</{tag}>"


def _apply(function: str, *inner: str, invalid: str | None = None) -> str:
    return _element("Apply", *inner, function=function, invalidValueTreatment=invalid)


def _ref(name: str) -> str:
    return _element("FieldRef", field=name)


def _constant(number: float) -> str:
    return _text_element("Constant", repr(number), dataType="integer" if isinstance(number, int) else "double")


def _made_field(name: str, kind: str, expression: str) -> str:
    optype = "continuous" if kind == "double" else "ordinal"
    return _element("DerivedField", expression, name=name, optype=optype, dataType=kind)


def _mapped(field: str, rows: Iterable[tuple[str, str]], kind: str, default: object, missing: object = None) -> str:
    """A table lookup of a field's value."""
    entries = [
        "<row>" + _text_element("cell", cell) + _text_element("answer", answer) + "</row>" for cell, answer in rows
    ]
    return _element(
        "MapValues", _element("FieldColumnPair", field=field, column="cell"), _element("InlineTable", *entries),
        outputColumn="answer", dataType=kind, defaultValue=default, mapMissingTo=missing,
    )  # fmt: skip


def _mining_field(name: str) -> str:
    return _element("MiningField", name=name)


def _output(name: str, label: str | None) -> str:
    feature = "predictedValue" if label is None else "probability"
    return _element("OutputField", name=name, optype="continuous", dataType="double", feature=feature, value=label)


def _carried(name: str, part: str) -> str:
    """An output of an earlier model of the chain, returned again."""
    return _element("OutputField", _ref(part), name=name, optype="continuous", dataType="double",
                    feature="transformedValue")  # fmt: skip


def _model(step: _Step, outputs: Sequence[str] = (), schema: Sequence[str] = (), name: str | None = None) -> str:
    """The element of a step; the schema is by default the fields that it reads."""
    parts = [_element("MiningSchema", *(schema or map(_mining_field, step.asks)))]
    parts += [_element("Output", *outputs)] if outputs else []
    parts += [_element("LocalTransformations", *step.local)] if step.local else []
    task = "classification" if step.is_classes else "regression"
    return _element(
        step.tag, *parts, step.body, modelName=name, functionName=task, normalizationMethod=step.normalization
    )


def _segmentation(
    models: Iterable[str],
    method: str,
    asks: Iterable[str],
    weights: Iterable[float] | None = None,
    *,
    is_classes: bool = False,
    outputs: Sequence[tuple[str, str | None]] = (),
) -> _Step:
    """Several models combined into one."""
    models = list(models)
    weighed = [None] * len(models) if weights is None else [repr(float(weight)) for weight in weights]
    segments = [_element("Segment", _TRUE, each, weight=weight) for each, weight in zip(models, weighed, strict=True)]
    body = _element("Segmentation", *segments, multipleModelMethod=method)
    return _Step("MiningModel", asks, body, outputs, is_classes=is_classes)


# Names and fields


def _text(level: Hashable, where: str) -> str:
    """A name or level as text that XML can hold."""
    text = text_of(level)
    if not text and where in {"column", "class"}:
        raise ParameterError(f"PMML does not allow a {where} with the name '': rename it before the fit")
    if _NO_XML.search(text):
        raise ParameterError(f"{where} {level!r} holds characters that XML does not allow: rename it")
    return text


def _texts(levels: Iterable[Hashable], where: str) -> list[str]:
    """Names or levels as distinct texts."""
    texts = [_text(level, where) for level in levels]
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise ParameterError(
            f"{where} {twice!r} occurs twice as text, which PMML cannot distinguish: rename one before the fit"
        )
    return texts


def _names(program: Program, target: str) -> _Names:
    """The names of all fields, all distinct."""
    given = _texts((column.name for column in program.columns[: program.n_given]), "column")
    labels = _texts(program.classes[0], "class") if program.classes else []
    named = [
        f"code({_text(column.name, 'column')})" if column.kind != "numeric" else _text(column.name, "column")
        for column in program.columns
    ]
    is_made = [column.kind != "numeric" or at >= program.n_given for at, column in enumerate(program.columns)]
    shares, sums = [f"probability({label})" for label in labels], [f"sum_{at}" for at in range(len(program.base))]
    made = [name for name, own in zip(named, is_made, strict=True) if own]
    inner = [f"part({name})" for name in (*shares, *sums)]
    apart = iter(unlike([*made, *shares, *sums, *inner, _text(target, "target")], given))
    tested = [next(apart) if own else name for name, own in zip(named, is_made, strict=True)]
    first = [name for name, column in zip(given, program.columns, strict=False) if not column.left_out][:1]
    if not first:
        raise ParameterError("the model uses no column, but PMML needs one: export it in another format")
    shares, sums = [next(apart) for _ in shares], [next(apart) for _ in sums]
    return _Names(
        given, first, tested, labels, shares, sums, {name: next(apart) for name in (*shares, *sums)}, next(apart)
    )


def _data_fields(program: Program, names: _Names) -> Iterator[str]:
    """The fields of the columns that the model uses."""
    for name, column in zip(names.given, program.columns[: program.n_given], strict=True):
        if not column.left_out:
            levels = _texts(column.levels, f"column {name!r}: level")
            optype = {"numeric": "continuous", "nominal": "categorical", "ordinal": "ordinal"}[column.kind]
            values = [_element("Value", value=level) for level in levels]
            kind = "double" if column.kind == "numeric" else "string"
            yield _element("DataField", *values, name=name, optype=optype, dataType=kind)


def _target_field(program: Program, names: _Names) -> str:
    if not program.n_classes:
        return _element("DataField", name=names.target, optype="continuous", dataType="double")
    values = [_element("Value", value=label) for label in names.labels]
    kinds = {type(label) for label in program.classes[0]}
    kind = _TYPES.get(kinds.pop(), "string") if len(kinds) == 1 else "string"
    if kind == "integer" and any(not -(2**31) <= label < 2**31 for label in program.classes[0]):  # type: ignore[operator]
        kind = "string"  # an integer of PMML's readers has 32 bits
    return _element("DataField", *values, name=names.target, optype="categorical", dataType=kind)


def _mining_fields(program: Program, names: _Names) -> Iterator[str]:
    """The treatment of missing and unknown cells: ``asIs`` leaves unknown levels to the tables of codes."""
    for name, column in zip(names.given, program.columns[: program.n_given], strict=True):
        if not column.left_out:
            yield _element(
                "MiningField",
                name=name,
                missingValueTreatment="returnInvalid" if program.refuses_missing else None,
                invalidValueTreatment="returnInvalid" if program.refuses_unseen else "asIs",
            )


def _n_codes(program: Program, at: int) -> int:
    """Number of codes of a column of levels, including that of an unknown level if there is one."""
    column = program.columns[at]
    is_asked = column.kind == "nominal" and at < program.n_given
    return len(column.levels) + (is_asked and not program.takes_unseen_for_missing and not program.refuses_unseen)


def _derived_fields(program: Program, names: _Names) -> Iterator[str]:
    """Codes of levels and derived columns that tests use."""
    used = set(program.tables.feature[program.tables.first_child >= 0].tolist())
    used |= set(program.surrogates.feature.tolist())
    for at in sorted(used):
        used |= set(program.columns[at].sources)
    for at in sorted(used):
        column = program.columns[at]
        if at >= program.n_given:
            yield from _made_fields(program, names, at)
        elif column.kind != "numeric":
            n_levels = len(column.levels)
            rows = [(text_of(level), str(code)) for code, level in enumerate(column.levels)]
            unknown = n_levels if _n_codes(program, at) > n_levels else None
            yield _made_field(names.tested[at], "integer", _mapped(names.given[at], rows, "integer", unknown))


def _made_fields(program: Program, names: _Names, at: int) -> Iterator[str]:
    """A derived column, as ``data.derived`` computes it."""
    column, name = program.columns[at], names.tested[at]
    sources = [program.columns[source] for source in column.sources]
    if column.part == LINEAR:
        terms = [_constant(column.numbers[0])]
        for source, (_, own) in zip(column.sources, by_source(column.numbers, sources), strict=True):
            terms.append(_term(program, names, source, own))
        yield _made_field(name, "double", _apply("sum", *terms))
    elif column.part == ROWS:
        rows = [(text_of(level), repr(n)) for level, n in zip(sources[0].levels, column.numbers, strict=True)]
        yield _made_field(name, "double", _mapped(names.given[column.sources[0]], rows, "double", 0.0))
    elif column.part == LEVELS:
        # The position of two codes among all pairs: with n levels, n is an unknown one, n + 1 a missing cell.
        one, other = (len(source.levels) for source in sources)
        a, b = (_present(names.tested[source], n + 1) for source, n in zip(column.sources, (one, other), strict=True))
        place = names.apart(f"place({name})")
        stride = _constant(other + 2)
        yield _made_field(place, "integer", _apply("+", _apply("*", a, stride), b))
        pairs = (divmod(int(number), other + 1) for number in column.numbers)
        rows = [
            (str((first + (first == one)) * (other + 2) + second + (second == other)), str(code))
            for code, (first, second) in enumerate(pairs)
        ]
        yield _made_field(name, "integer", _mapped(place, rows, "integer", None))
    else:
        a, b = (_ref(names.tested[place]) for place in column.sources)
        # nan, such as the difference of two infinities, is missing.
        if column.part == "over":  # a ratio to 0 is missing: no "else"; abs, because an equality may tell -0.0 from 0.0
            ratio = _apply(
                "if", _apply("greaterThan", _apply("abs", b), _constant(0.0)), _apply("/", a, b, invalid="asMissing")
            )
            yield _made_field(name, "double", _apply("if", _apply("isNotMissing", b), ratio))
        else:
            yield _made_field(name, "double", _apply(_SIGNS[column.part], a, b, invalid="asMissing"))


def _present(name: str, missing: float, expression: str | None = None) -> str:
    """A field or an expression of it; a given number if the cell is missing."""
    return _apply("if", _apply("isMissing", _ref(name)), _constant(missing), expression or _ref(name))


def _term(program: Program, names: _Names, at: int, own: Sequence[float]) -> str:
    """The term of a column in a linear score."""
    name, source = names.tested[at], program.columns[at]
    if source.kind == "nominal":
        rows = [(text_of(level), repr(n)) for level, n in zip(source.levels, own, strict=False)]
        unknown = own[-1] if program.takes_unseen_for_missing else 0.0
        return _mapped(names.given[at], rows, "double", unknown, own[-1])
    low, high, slope, missing = own
    inside = _apply("min", _apply("max", _ref(name), _constant(low)), _constant(high))
    return _present(name, missing, _apply("*", _apply("-", inside, _constant(low)), _constant(slope)))


# Trees


def _steps(program: Program, names: _Names) -> Iterator[_Step]:
    """The models of the chain, in their order; the last one makes the prediction."""
    trees = [_tree(program, names, at) for at in range(len(program.roots) - 1)]
    asks = list(dict.fromkeys(name for tree in trees for name in tree.asks))
    shares: list[tuple[str, str | None]] = list(zip(names.shares, names.labels, strict=True))
    if program.is_boosted:
        yield from _scores(program, names, trees, shares)
    elif len(trees) == 1 and program.total == 1.0:
        yield replace(trees[0], outputs=shares)
    elif program.n_parts > 1:
        yield from _means_of_parts(program, names, trees, asks)
        return
    else:
        method = "average" if program.weights is None else "weightedAverage"
        yield _segmentation(map(_model, trees), method, asks, program.weights, is_classes=bool(shares), outputs=shares)
    if program.threshold is not None:
        yield _threshold(program, names)


def _means_of_parts(program: Program, names: _Names, trees: list[_Step], asks: list[str]) -> Iterator[_Step]:
    """The mean of each part of the values, and the step that adds these up and predicts.

    A reader has one mean for a segmentation, and only for numbers or for the probabilities of all classes: the first
    part is one of either kind, every further part one for each value.
    """
    of_value: list[list[str]] = [[] for _ in range(program.n_sums)]

    def mean(steps: list[_Step], *values: int) -> _Step:
        outputs: list[tuple[str, str | None]] = []
        for value in values:
            name = names.apart(f"mean_{value}_{len(of_value[value])}")
            names.parts[name] = name
            of_value[value].append(name)
            outputs.append((name, names.labels[value] if len(values) > 1 else None))
        return _segmentation(map(_model, steps), "average", asks, is_classes=len(values) > 1, outputs=outputs)

    yield mean(trees, *range(program.n_sums))
    for column in range(program.n_sums, len(program.base)):
        yield mean([_tree(program, names, at, column) for at in range(len(trees))], column % program.n_sums)
    fields = [name for own in of_value for name in own]
    if not names.labels:
        terms = [_element("NumericPredictor", name=name, coefficient="1") for name in fields]
        yield _Step("RegressionModel", fields, _element("RegressionTable", *terms, intercept="0"))
        return
    sums = []
    for own in of_value:
        sums.append(_ref(own[0]))
        for name in own[1:]:
            sums[-1] = _apply("+", sums[-1], _ref(name))
    # Averages of ones may be rounded to more.
    local, held = [], [_apply("min", each, _constant(1.0)) for each in sums]
    if program.threshold is None:
        tests = [(code, names.apart(f"lead_{code}"), 0.0) for code in range(len(sums) - 1)]
        largest = names.apart("largest")
        local.append(_made_field(largest, "double", _apply("max", *held)))
        local += [_made_field(name, "double", _apply("-", held[code], _ref(largest))) for code, name, _ in tests]
        otherwise = len(sums) - 1
    else:
        positive, at = program.threshold
        tests, otherwise = [(positive, names.apart("asked"), at)], 1 - positive
        local.append(_made_field(tests[0][1], "double", held[positive]))
    leaves = [
        _element(
            "Node", _element("SimplePredicate", field=name, operator="greaterOrEqual", value=repr(at)),
            score=names.labels[code],
        )
        for code, name, at in tests
    ]  # fmt: skip
    leaves.append(_element("Node", _TRUE, score=names.labels[otherwise]))
    made = [
        _element("OutputField", each, name=name, optype="continuous", dataType="double", feature="transformedValue")
        for name, each in zip(names.shares, held, strict=True)
    ]
    body = _element("Node", _TRUE, *leaves)
    yield _Step("TreeModel", fields, body, local=local, made=made, is_classes=True)


def _scores(
    program: Program, names: _Names, trees: list[_Step], shares: list[tuple[str, str | None]]
) -> Iterator[_Step]:
    """The steps that add up each score and compute the prediction from them."""
    is_answer = program.link not in {"log", "classes"}
    for at, base in enumerate(program.base):
        own = [_leaf_alone(names, base), *trees[at :: len(program.base)]]
        asks = dict.fromkeys(name for tree in own for name in tree.asks)
        yield _segmentation(map(_model, own), "sum", asks, outputs=[] if is_answer else [(names.sums[at], None)])
    if is_answer:
        return
    called = names.apart("bounded")
    sums = [names.parts[name] for name in names.sums]
    predictor = {name: _element("NumericPredictor", name=name, coefficient="1") for name in [called, *sums]}
    local: list[str] = []
    if program.link == "log":
        exponential = _apply("min", _apply("exp", _ref(sums[0])), _constant(_LARGEST))
        local = [_made_field(called, "double", exponential)]
        tables = [_element("RegressionTable", predictor[called], intercept="0")]
    elif len(names.labels) < 3:
        # Softmax with a second score of 0: "logit" computes the first as 1 minus the other, inexact near 0.
        low, high = _constant(-LARGEST_EXPONENT), _constant(LARGEST_EXPONENT)
        local = [_made_field(called, "double", _apply("min", _apply("max", _ref(sums[0]), low), high))]
        inner: list[list[str]] = [[], [predictor[called]]]
        tables = [
            _element("RegressionTable", *own, intercept="0", targetCategory=label)
            for label, own in zip(names.labels, inner, strict=False)
        ]
    else:
        tables = [
            _element("RegressionTable", predictor[name], intercept="0", targetCategory=label)
            for label, name in zip(names.labels, sums, strict=True)
        ]
    body, normalization = "\n".join(tables), "softmax" if shares else None
    yield _Step("RegressionModel", sums, body, shares, local, bool(shares), normalization)


def _threshold(program: Program, names: _Names) -> _Step:
    """The step of a decision threshold: a class is predicted if its probability is at least it, else the other."""
    positive, at = program.threshold or (0, 0.0)
    share = names.parts[names.shares[positive]]
    is_said = _element("SimplePredicate", field=share, operator="greaterOrEqual", value=repr(at))
    leaves = [
        _element("Node", is_said, score=names.labels[positive]),
        _element("Node", _TRUE, score=names.labels[1 - positive]),
    ]
    return _Step("TreeModel", [share], _element("Node", _TRUE, *leaves), is_classes=True)


def _leaf_alone(names: _Names, number: float) -> _Step:
    return _Step("TreeModel", names.first, _element("Node", _TRUE, score=repr(number)))


def _tree(program: Program, names: _Names, at: int, column: int | None = None) -> _Step:
    """A tree, in the order of its nodes from the root down, branch by branch.

    With a ``column`` of the contents its leaves hold this number alone, and a node above equal ones is a leaf.
    """
    tables = program.tables
    number_of = {} if column is None else _numbers_below(program, at, column)
    lines: list[str] = []
    tested: dict[str, None] = {}
    todo = [(int(program.roots[at]), _TRUE)]
    while todo:
        node, predicate = todo.pop()
        if node < 0:
            lines.append("</Node>")
            continue
        if node in number_of:
            lines.append(_element("Node", predicate, score=repr(number_of[node])))
            continue
        content = int(program.content_of[node])
        if content >= 0:
            lines.append(_leaf(program, names, content, predicate))
            continue
        lines.append(f"<Node>{predicate}")
        todo.append((-1, ""))
        first, last = int(tables.first_child[node]), int(tables.missing_branch[node])
        todo.append((first + last, _TRUE))
        others = [branch for branch in reversed(range(int(tables.n_branches[node]))) if branch != last]
        todo += [(first + branch, _predicate(program, names, node, branch)) for branch in others]
        tested[names.tested[tables.feature[node]]] = None
        for stand_in in stand_ins_of(program, node):
            tested[names.tested[stand_in.column]] = None
    asks = list(tested) or names.first
    is_classes = bool(program.n_classes) and not program.is_boosted and column is None
    return _Step("TreeModel", asks, "\n".join(lines), is_classes=is_classes)


def _numbers_below(program: Program, at: int, column: int) -> dict[int, float]:
    """For the leaves of a tree, and the nodes above leaves of one number: that number."""
    tables, found = program.tables, {}
    for node in range(int(program.roots[at + 1]) - 1, int(program.roots[at]) - 1, -1):  # children first
        first = int(tables.first_child[node])
        if first < 0:
            found[node] = float(program.contents[program.content_of[node], column])
            continue
        below = {found.get(first + branch) for branch in range(int(tables.n_branches[node]))}
        if len(below) == 1 and (number := below.pop()) is not None:
            found[node] = number
    return found


def _leaf(program: Program, names: _Names, content: int, predicate: str) -> str:
    """A leaf with its number, or with its class proportions as whole parts."""
    said = program.contents[content, : program.n_sums].tolist()
    if not program.n_classes or program.is_boosted:
        return _element("Node", predicate, score=repr(said[0]))
    shares = [
        _element("ScoreDistribution", value=label, recordCount=repr(part))
        for label, part in zip(names.labels, whole_parts(said), strict=True)
    ]
    return _element("Node", predicate, *shares, score=names.labels[said.index(max(said))])


def _predicate(program: Program, names: _Names, node: int, branch: int) -> str:
    """The condition under which a row takes a branch other than the missing branch."""
    tables = program.tables
    asks_presence = tables.kind[node] == THRESHOLD and tables.threshold[node] == math.inf
    otherwise = _simple(names.tested[tables.feature[node]], "isMissing") if asks_presence else None
    # The condition that sends it there, and the condition for the next test, unless that is an unknown value.
    tests: list[tuple[str, str | None]] = [(_goes(program, names, node, branch), otherwise)]
    for at, cut, branches in stand_ins_of(program, node) if branch < 2 else ():  # a surrogate answers 0 or 1
        name = names.tested[at]
        if cut is not None:
            otherwise = _simple(name, "isMissing") if cut == math.inf else None
            tests.append((_compared(program, names, at, cut, is_left=branches[0] == branch), otherwise))
            continue
        answers = branches[: _n_codes(program, at)]
        seen = [code for code, answer in enumerate(answers) if answer is not None]
        goes = _among(name, [code for code, answer in enumerate(answers) if answer == branch])
        unanswered = _any(_simple(name, "isMissing"), _among(name, seen, "isNotIn"))
        tests.append((goes, None if len(seen) == len(answers) else unanswered))
    tested = [tests[-1][0]]
    for goes, otherwise in reversed(tests[:-1]):
        if otherwise is None:
            tested = [goes, *tested]
        else:
            tested = [_any(goes, _compound("and", otherwise, _compound("surrogate", *tested)))]
    return _compound("surrogate", *tested)


def _goes(program: Program, names: _Names, node: int, branch: int) -> str:
    """The condition under which the test of a node chooses a branch."""
    tables = program.tables
    at, kind, begin = int(tables.feature[node]), int(tables.kind[node]), int(tables.level_set[node])
    name = names.tested[at]
    if kind == THRESHOLD:
        if branch > 1:
            return "<False/>"
        return _compared(program, names, at, float(tables.threshold[node]), is_left=branch == 0)
    if kind == INTERVALS:
        cuts = tables.cuts[begin : begin + int(tables.n_branches[node]) - 1].tolist()
        sides = [_compared(program, names, at, cut, is_left=False) for cut in cuts[max(branch - 1, 0) : branch]]
        sides += [_compared(program, names, at, cut, is_left=True) for cut in cuts[branch : branch + 1]]
        return _compound("and", *sides)
    codes = [
        code for code, way in enumerate(branches_of_codes(program, node)[: _n_codes(program, at)]) if way == branch
    ]
    return _among(name, codes) if codes else "<False/>"


def _simple(name: str, operator: str, value: str | None = None) -> str:
    return _element("SimplePredicate", field=name, operator=operator, value=value)


def _among(name: str, codes: Sequence[int], operator: str = "isIn") -> str:
    held = _text_element("Array", " ".join(map(str, codes)), n=len(codes), type="int")
    return _element("SimpleSetPredicate", held, field=name, booleanOperator=operator)


def _compound(operator: str, *predicates: str) -> str:
    """Predicates joined by an operator; a single one is returned as it is."""
    return (
        predicates[0] if len(predicates) == 1 else _element("CompoundPredicate", *predicates, booleanOperator=operator)
    )


def _any(*predicates: str) -> str:
    return _compound("or", *predicates)


def _compared(program: Program, names: _Names, at: int, cut: float, *, is_left: bool) -> str:
    """The condition that a number is at most a cut, or above it; codes are whole."""
    name = names.tested[at]
    if cut == math.inf:
        return _simple(name, "isNotMissing") if is_left else "<False/>"
    if cut == -math.inf:
        raise ParameterError(f"column {names.tested[at]!r} has the threshold -inf, which PMML cannot write")
    if program.columns[at].kind != "numeric":
        cut = math.floor(cut)
    # No -0.0: a reader that orders it before 0.0 would send zeros to another branch.
    return _simple(name, "lessOrEqual" if is_left else "greaterThan", repr(cut + 0))
