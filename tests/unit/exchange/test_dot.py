"""Claims about DOT text."""

from __future__ import annotations

import re

from treewright.exchange.dot import quoted, to_dot
from treewright.trees.data import ModelData

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


def test_a_k_way_node_asks_its_column_and_the_edges_answer(golf_model: ModelData) -> None:
    dot = to_dot(golf_model)

    assert r'n0 [label="outlook\nrows 14' in dot
    assert 'tooltip="node 3: humidity: <= 72.5 | > 72.5 and <= 87.5 | > 87.5"' in dot
    assert [line.split('"')[1] for line in dot.splitlines() if "->" in line] == [
        *("= overcast", "= rainy or missing", "= sunny", "= cool", "= mild", "= hot"),
        *("<= 72.5", "> 72.5 and <= 87.5", "> 87.5 or missing"),
    ]


def test_a_leaf_without_rows_is_dashed_and_claims_no_counts(golf_model: ModelData) -> None:
    assert r'n6 [label="yes\nno rows", tooltip="leaf 6", style="rounded,dashed"];' in to_dot(golf_model)


def test_third_branches_and_surrogates_are_said(own_branch_model: ModelData, surrogate_model: ModelData) -> None:
    assert 'n0 -> n3 [label="is missing", tooltip="age is missing"' in to_dot(own_branch_model)
    dot = to_dot(surrogate_model)
    assert r'tooltip="node 2: site in {a, b}\nif missing: length > 4.75"' in dot
    assert [line for line in dot.splitlines()[1:-1] if not STATEMENT.fullmatch(line)] == []
