"""The levels of a large column that a page names. In: a summary. Out: the same, but smaller.

A page sends rows down its trees by the codes of their levels, so a column of hundreds of thousands of names would be
most of it (20 bytes each, and 3 more in every test). Beyond some thousands a column keeps the levels of the rows in the
page and of its pictures, and the first ones of the others; tests have branches only for these, and codes are numbered
anew. The page looks the same: rows with other levels are in none of its lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from treewright.data.derived import LEVELS, ROWS, by_source
from treewright.show.page.parts import (
    ColumnWords,
    ExamplesPart,
    SplitColumnPart,
    Summary,
    SupportPart,
    TestPart,
    TreePart,
)

MOST_LEVELS = 5_000
_OTHERS = -1  # the code of all other levels together

# For each large column the place of every code among the kept ones, -1 for none; the last is an unseen level.
Places = dict[int, np.ndarray]


def with_named_levels(summary: Summary) -> Summary:
    """A summary whose nominal columns have at most so many levels, or more if its rows and pictures hold more."""
    large = [
        at for at, words in enumerate(summary.columns) if words.kind == "nominal" and len(words.levels) > MOST_LEVELS
    ]
    if not large:
        return summary
    places: Places = {}
    columns = list(summary.columns)
    for at in large:
        words = columns[at]
        n_levels = len(words.levels)
        kept = np.zeros(n_levels + 1, bool)
        kept[[code for code in _codes_shown(summary, at) if 0 <= code < n_levels]] = True
        kept[np.flatnonzero(~kept[:-1])[: max(0, MOST_LEVELS - int(kept.sum()))]] = True
        kept[n_levels] = True
        places[at] = np.where(kept, np.cumsum(kept) - 1, -1)
        codes = np.flatnonzero(kept[:-1]).tolist()
        columns[at] = replace(words, levels=tuple(words.levels[code] for code in codes), unnamed=n_levels - len(codes))
    for at, words in enumerate(columns):
        if words.numbers:
            columns[at] = replace(words, numbers=_numbers(summary.columns, at, places))
    parts = {name: _renamed(getattr(summary, name), places) for name in ("tree", "pruning", "ensemble")}
    examples = summary.examples
    if examples is not None and summary.tree is not None:
        examples = _examples(examples, summary.tree, places)
    return replace(summary, columns=tuple(columns), examples=examples, **parts)


def _numbers(columns: Sequence[ColumnWords], at: int, places: Places) -> tuple[float, ...]:
    """The numbers that a derived column is computed from (``data.derived``), by the codes of this page."""

    def kept_of(column: int) -> list[int]:
        n_levels = len(columns[column].levels)
        return np.flatnonzero(places[column][:-1] >= 0).tolist() if column in places else list(range(n_levels))

    words, kept = columns[at], [kept_of(source) for source in columns[at].sources]
    sources = [columns[source] for source in words.sources]
    if words.part == ROWS:
        return tuple(words.numbers[code] for code in kept[0])
    if words.part == LEVELS:
        # The code of a level, and after the last that of a missing cell: -1 if this page does not have the level.
        renamed = [
            {code: new for new, code in enumerate(own)} | {len(source.levels): len(own)}
            for source, own in zip(sources, kept, strict=True)
        ]
        pairs = [divmod(int(words.numbers[code]), len(sources[1].levels) + 1) for code in kept_of(at)]
        known = [(renamed[0].get(first, -1), renamed[1].get(second, -1)) for first, second in pairs]
        return tuple(-1.0 if min(pair) < 0 else float(pair[0] * (len(kept[1]) + 1) + pair[1]) for pair in known)
    numbers = [words.numbers[0]]
    for (source, block), own in zip(by_source(words.numbers, sources), kept, strict=True):
        numbers += [*(block[code] for code in own), block[-1]] if source.kind == "nominal" else block
    return tuple(numbers)


def _codes_shown(summary: Summary, column: int) -> set[int]:
    """The codes of a column in the rows and pictures of a page."""
    found: set[int] = set()
    examples = summary.examples
    if examples is not None:
        found.update(int(row.cells[column]) for row in examples.rows if np.isfinite(row.cells[column]))
        found.update(code for support in examples.supports for at, code in support.levels if at == column)
    for tree in _trees(summary):
        asks = _tested(tree)
        found.update(code for asked in tree.asked if asks[asked.node] == column for code in asked.levels)
    return found


def _trees(value: Any) -> list[TreePart]:
    """Every tree of a page."""
    if isinstance(value, TreePart):
        return [value]
    if isinstance(value, tuple):
        return [tree for each in value for tree in _trees(each)]
    if is_dataclass(value) and not isinstance(value, type):
        return [tree for field in fields(value) for tree in _trees(getattr(value, field.name))]
    return []


def _tested(tree: TreePart) -> dict[int, int]:
    """The column that each node tests."""
    return {node.id: node.test.column for node in tree.nodes if node.test is not None}


def _renamed(value: Any, places: Places) -> Any:
    """A part of a page whose trees have the codes of the kept levels."""
    if isinstance(value, TreePart):
        asks = _tested(value)
        nodes = tuple(
            node if node.test is None else replace(node, test=_test(node.test, places)) for node in value.nodes
        )
        return replace(
            value, nodes=nodes, asked=tuple(_tested_column(each, asks[each.node], places) for each in value.asked)
        )
    if isinstance(value, tuple):
        return tuple(_renamed(each, places) for each in value)
    if is_dataclass(value) and not isinstance(value, type) and _trees(value):
        return replace(value, **{field.name: _renamed(getattr(value, field.name), places) for field in fields(value)})
    return value


def _test(test: TestPart, places: Places) -> TestPart:
    """A test with the branches of the kept levels, also in its surrogates."""
    surrogates = tuple(replace(each, branch_of=_branches(each, places)) for each in test.surrogates)
    return replace(test, branch_of=_branches(test, places), surrogates=surrogates)


def _branches(test: Any, places: Places) -> tuple[int, ...]:
    """The branch of each kept level."""
    place = places.get(test.column)
    if place is None or not test.branch_of:
        return tuple(test.branch_of)
    return tuple(np.array(test.branch_of)[place[: len(test.branch_of)] >= 0].tolist())


def _tested_column(asked: SplitColumnPart, column: int, places: Places) -> SplitColumnPart:
    """The picture of the column that a node tests, with the kept codes."""
    if column not in places:
        return asked
    return replace(asked, levels=tuple(_code(code, places[column]) for code in asked.levels))


def _examples(examples: ExamplesPart, tree: TreePart, places: Places) -> ExamplesPart:
    """The rows of a page and the support of its nodes, with the kept codes."""
    rows = tuple(
        replace(row, cells=tuple(
            float(_code(int(cell), places[at])) if at in places and np.isfinite(cell) else cell
            for at, cell in enumerate(row.cells)
        ))
        for row in examples.rows
    )  # fmt: skip
    asks = _tested(tree)
    supports = tuple(
        _support(support, asks.get(node.id), places)
        for support, node in zip(examples.supports, tree.nodes, strict=True)
    )
    return replace(examples, rows=rows, supports=supports)


def _support(support: SupportPart, asked: int | None, places: Places) -> SupportPart:
    """The support of a node, with the kept codes."""
    levels = tuple((at, _code(code, places[at]) if at in places else code) for at, code in support.levels)
    absent = support.absent
    if asked in places:
        absent = tuple(at for at in (_code(code, places[asked]) for code in absent) if at != _OTHERS)
    return replace(support, levels=levels, absent=absent)


def _code(code: int, place: np.ndarray) -> int:
    """A code among the kept ones."""
    return _OTHERS if code < 0 else int(place[code])
