"""Claims about rules as text, as columns and as a page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest

from treewright.data.schema import Column, Schema
from treewright.explain.rules import LeafRule, LeafRules, leaf_rules
from treewright.trees.arrays import Tree
from treewright.trees.data import ModelData

X = Schema((Column("x", "numeric"),))


def test_rules_are_a_sequence(iris_model: ModelData) -> None:
    rules = leaf_rules(iris_model)

    assert (len(rules), rules[-1].leaf, [rule.leaf for rule in rules]) == (3, 4, [1, 3, 4])
    assert isinstance(rules[0], LeafRule)
    assert isinstance(rules[1:], LeafRules)
    assert [rule.leaf for rule in rules[1:]] == [3, 4]


def test_printed_rules_say_what_they_are(iris_model: ModelData) -> None:
    head, first, *_ = str(leaf_rules(iris_model, level=0.9, order="support")).split("\n\n")

    assert head.splitlines() == [
        "Classification tree for species: 150 rows, 5 nodes, 3 leaves, depth 2",
        "3 rules, largest support first",
        "proportion: of the predicted class among the leaf's training rows, with its 90 % interval (Wilson)",
    ]
    assert first.startswith("if   petal length (cm) > 2.45\nand  petal width (cm) <= 1.75\nthen versicolor  [leaf 3;")


def test_repr_is_one_line(iris_model: ModelData) -> None:
    assert repr(leaf_rules(iris_model)) == "<treewright.LeafRules: 3 rules, in tree order>"


def test_the_columns_of_classes(iris_model: ModelData) -> None:
    columns = leaf_rules(iris_model).to_dict()

    assert list(columns) == [
        *("rule", "leaf", "conditions", "prediction", "n_samples", "weight", "support", "probability", "low", "high"),
        *("count_setosa", "count_versicolor", "count_virginica"),
    ]
    assert columns["conditions"][1] == "petal length (cm) > 2.45 and petal width (cm) <= 1.75"
    assert columns["prediction"] == ["setosa", "versicolor", "virginica"]
    assert columns["count_versicolor"] == [0.0, 49.0, 1.0]
    assert columns["n_samples"] == [50, 54, 46]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_take_the_columns(iris_model: ModelData, mean_model: ModelData, frame: Callable) -> None:
    assert frame(leaf_rules(iris_model).to_dict()).shape == (3, 13)
    assert frame(leaf_rules(mean_model).to_dict()).shape == (2, 9)
    assert frame(leaf_rules(mean_model)[:0].to_dict()).shape == (0, 9)


def test_every_cell_is_a_plain_python_object(iris_model: ModelData) -> None:
    for name, cells in leaf_rules(iris_model).to_dict().items():
        assert {type(cell) for cell in cells} <= {int, float, str}, name


def test_columns_of_several_targets_end_in_their_names(build_tree: Callable[..., Tree]) -> None:
    tree = build_tree([None], [-1], [[3, 1, 0, 4]], samples=[4])
    classes = (np.array(["n", "y"]), np.array([10, 20]))
    model = ModelData("classification", X, (tree,), classes, n_outputs=2, target_names=("paid", "size"))

    columns = leaf_rules(model).to_dict()

    assert (columns["prediction_paid"], columns["prediction_size"]) == (["n"], [20])
    assert (columns["count_paid_y"], columns["count_size_20"]) == ([1.0], [4.0])


def test_labels_that_look_alike_keep_a_column_each(build_tree: Callable[..., Tree]) -> None:
    tree = build_tree([None], [-1], [[3, 1]], samples=[4])
    model = ModelData("classification", X, (tree,), (np.array([1, "1"], object),))

    columns = leaf_rules(model).to_dict()

    assert (columns["count_1"], columns["count_1_2"]) == ([3.0], [1.0])


def test_what_there_is_no_interval_of_is_none(build_tree: Callable[..., Tree]) -> None:
    tree = build_tree([None], [-1], [[2]], samples=[1])

    columns = leaf_rules(ModelData("regression", X, (tree,))).to_dict()

    assert (columns["low"], columns["high"], "probability" in columns) == ([None], [None], False)


class Texts(HTMLParser):
    """The tags and the texts of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_page_shows_names_and_runs_none_of_them(hostile_model: ModelData) -> None:
    page = Texts()
    page.feed(leaf_rules(hostile_model)._repr_html_())

    assert page.tags == {"table", "caption", "br", "thead", "tbody", "tr", "th", "td"}
    assert any('<img src=x onerror="alert(1)"> <= 0.5' in text for text in page.texts)
    assert "</svg><script>alert(2)</script>" in page.texts


def test_a_page_of_many_rules_is_cut(chain_model: Callable[[int], ModelData]) -> None:
    page = leaf_rules(chain_model(300))._repr_html_()

    assert page.count("<tr>") == 202
    assert "101 more rules: print the rules, or use to_dict()" in page


def test_no_name_adds_a_line(hostile_model: ModelData) -> None:
    rules = leaf_rules(hostile_model)
    text = str(rules)

    assert not set(text) & set("\x00\x1b\u202e")
    # Three lines above; then per leaf a blank line, its conditions and its conclusion.
    assert len(text.splitlines()) == 3 + sum(len(rule.conditions) + 2 for rule in rules)


def test_a_model_whose_rules_leave_missing_values_open_says_so(mean_model: ModelData) -> None:
    head = leaf_rules(replace(mean_model, missing="fractional")).header()

    assert head[-1] == "the branch that missing values follow is not part of the rules (missing values: fractional)"
