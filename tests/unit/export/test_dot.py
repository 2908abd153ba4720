"""Claims about DOT text."""

from __future__ import annotations

import re

from treewright.export.dot import quoted, to_dot
from treewright.tree.model import ModelData

# Statements of the subset of DOT that is written: attributes are names or quoted strings, in which a quote is escaped.
STRING = r'"(?:[^"\\\n]|\\.)*"'
ATTRIBUTES = rf"\[\w+=(?:{STRING}|\w+)(?:, \w+=(?:{STRING}|\w+))*\]"
STATEMENT = re.compile(rf"  (?:\w+={STRING}|(?:node|edge|n\d+|n\d+ -> n\d+) {ATTRIBUTES});")


def test_every_node_and_every_edge_is_there(penguin_model: ModelData) -> None:
    dot = to_dot(penguin_model)

    assert re.findall(r"^  (n\d+) \[", dot, re.M) == [f"n{node}" for node in range(11)]
    edges = re.findall(r"^  n(\d+) -> n(\d+) \[", dot, re.M)
    assert edges == [tuple(map(str, edge)) for edge in (
        (0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6), (4, 7), (4, 8), (8, 9), (8, 10)
    )]  # fmt: skip


def test_labels_are_short_and_tooltips_exact(mean_model: ModelData) -> None:
    dot = to_dot(mean_model)

    assert r'n0 [label="x <= 0.3\nrows 10\nmean 5\nsquared_error 9", tooltip="node 0: x <= 0.30000000000000004"]' in dot
    assert 'n0 -> n1 [label="<= 0.3", tooltip="x <= 0.30000000000000004"' in dot


def test_a_leaf_says_its_class_and_counts(iris_model: ModelData) -> None:
    assert r'n3 [label="versicolor\nrows 54\n0 / 49 / 5\ngini 0.168"' in to_dot(iris_model)


def test_quotes_and_backslashes_stay_inside() -> None:
    assert quoted('a"b\\', "c") == '"a\\"b\\\\\\nc"'


def test_hostile_names_leave_every_line_a_statement(hostile_model: ModelData) -> None:
    first, *statements, last = to_dot(hostile_model).splitlines()

    assert (first, last) == ("digraph tree {", "}")
    assert [line for line in statements if not STATEMENT.fullmatch(line)] == []
