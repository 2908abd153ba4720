"""Claims about trees of several branches, with surrogates or divided rows, as text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from treewright.data.schema import Column, Schema
from treewright.show.text import show
from treewright.trees.data import ModelData


def test_a_line_per_branch_and_a_leaf_without_rows_predicts_what_its_parent_would(golf_model: ModelData) -> None:
    assert show(golf_model).splitlines() == [
        "Classification tree for play: 14 rows, 10 nodes, 7 leaves, depth 2",
        "grown by c45",
        "counts: no / yes",
        "",
        "node                                     rows  counts   gini    predicts",
        "   0  all rows                             14     5/9  0.459",
        "   1  ├─ outlook = overcast                 4     0/4  0      * yes",
        "   2  ├─ outlook = rainy or missing         5     2/3  0.480",
        "   4  │  ├─ temperature = cool              2     1/1  0.500  * no",
        "   5  │  ├─ temperature = mild              3     1/2  0.444  * yes",
        "   6  │  └─ temperature = hot               0                 * (no rows) -> yes",
        "   3  └─ outlook = sunny                    5     3/2  0.480",
        "   7     ├─ humidity <= 72.5                2     0/2  0      * yes",
        "   8     ├─ humidity > 72.5 and <= 87.5     1     1/0  0      * no",
        "   9     └─ humidity > 87.5 or missing      2     2/0  0      * no",
        "",
        "* leaf",
        '"or missing" marks the branch that missing values follow',
        "(no rows): no training row reached this leaf; it predicts like its parent",
    ]


def test_branches_of_missing_values_are_lines_and_need_no_footnote(own_branch_model: ModelData) -> None:
    text = show(own_branch_model)

    assert "missing values have their own branch" in text.splitlines()[1]
    for part in ("└─ age is missing ", "└─ city is missing ", "└─ income is missing ", "└─ size is missing "):
        assert part in text
    assert "or missing" not in text


def test_a_branch_that_missing_values_share_is_still_said(own_branch_model: ModelData) -> None:
    # Node 2 as if no row had its income missing: the third interval is the last branch.
    tree = own_branch_model.trees[0]
    shared = replace(tree, missing_branch=np.where(np.arange(14) == 3, 1, tree.missing_branch).astype(np.int32))
    entries = replace(shared, level_branch=np.array([0, 1, 2, ~1], np.int32))

    text = show(replace(own_branch_model, trees=(entries,)))

    assert "size = M or missing" in text
    assert text.endswith('"or missing" marks the branch that missing values follow')


def test_surrogates_are_listed_under_their_node_on_demand(surrogate_model: ModelData) -> None:
    assert show(surrogate_model, surrogates=True).splitlines() == [
        "Classification tree: 150 rows, 5 nodes, 3 leaves, depth 2",
        "missing values follow the first surrogate test whose column is known, else the heavier branch",
        "counts: setosa / versicolor / virginica",
        "",
        "node                        rows    counts   gini    predicts",
        "   0  all rows               150  50/50/50  0.667",
        "      │  ~ width <= 0.8 (agrees on 100 %)",
        "      │  ~ site in {b, c} (agrees on 90 %)",
        "      │  ~ 1 more surrogate",
        "   1  ├─ length <= 2.5        50    50/0/0  0      * setosa",
        "   2  └─ length > 2.5        100   0/50/50  0.500",
        "         │  ~ length > 4.75 (agrees on 94 %)",
        "   3     ├─ site in {a, b}    50    0/45/5  0.180  * versicolor",
        "   4     └─ site = c          50    0/5/45  0.180  * virginica",
        "",
        "* leaf",
        "~ a surrogate: the condition of the first branch if the column is missing",
    ]
    assert "~" not in show(surrogate_model)
    assert show(surrogate_model).endswith("surrogates=True lists the surrogate tests")


def test_almost_always_is_not_always(surrogate_model: ModelData) -> None:
    tree = surrogate_model.trees[0]
    almost = replace(tree, surrogate_agreement=np.array([0.9999, 0.9, 0.8, 0.94]))

    assert "width <= 0.8 (agrees on 99.9 %)" in show(replace(surrogate_model, trees=(almost,)), surrogates=True)


def test_surrogates_of_folded_nodes_and_in_ascii(surrogate_model: ModelData) -> None:
    text = show(surrogate_model, surrogates=True, max_depth=1, ascii=True)

    assert "|  ~ width <= 0.8" in text
    assert "length > 4.75" not in text
    assert text.isascii()


@pytest.mark.parametrize(
    ("missing", "line"),
    [
        ("fractional", "missing values take every branch, in proportion to the branch weights"),
        ("error", "missing values are refused"),
    ],
)
def test_the_header_says_how_missing_values_are_treated(fractional_model: ModelData, missing: Any, line: str) -> None:
    text = show(replace(fractional_model, missing=missing))

    assert text.splitlines()[1] == line
    assert "or missing" not in text


@pytest.mark.parametrize(
    ("criterion", "impurity"), [("gain_ratio", "entropy"), ("chi_squared", "gini"), ("gini", "gini")]
)
def test_the_column_is_named_after_the_impurity_of_a_node(golf_model: ModelData, criterion: str, impurity: str) -> None:
    text = show(replace(golf_model, facts={"criterion": criterion}))

    assert f" {impurity} " in text
    assert criterion == impurity or criterion not in text


def test_an_f_test_shows_squared_error_and_an_empty_leaf_no_mean(golf_model: ModelData) -> None:
    tree = golf_model.trees[0]
    means = np.array([3.0, 1, 2, 5, 2, 2.5, 2, 4, 5, 6])[:, None]
    model = ModelData(
        "regression",
        golf_model.schema,
        (replace(tree, value=means),),
        facts={"criterion": "f_test"},
    )

    lines = show(model).splitlines()

    assert lines[2].split() == ["node", "rows", "mean", "squared_error", "predicts"]
    assert next(line for line in lines if "hot" in line).split() == [
        "6", "│", "└─", "temperature", "=", "hot", "0", "*", "(no", "rows)", "->", "2",
    ]  # fmt: skip


def test_names_cannot_break_the_line_of_a_surrogate(surrogate_model: ModelData) -> None:
    columns = list(surrogate_model.schema.columns)
    columns[1] = Column("a\nb\x1b[31m" + "n" * 1000, "numeric")

    lines = show(replace(surrogate_model, schema=Schema(tuple(columns))), surrogates=True).splitlines()

    line = next(line for line in lines if r"a\nb" in line)
    assert "\x1b" not in line
    assert len(line) < 120


@pytest.mark.parametrize("missing", ["branch", "fractional"])
def test_nothing_is_said_about_missing_values_that_nobody_met(fractional_model: ModelData, missing: Any) -> None:
    whole = replace(fractional_model, schema=Schema((Column("x", "numeric"),)), missing=missing)

    assert "missing" not in show(whole)
    assert "missing" in show(replace(fractional_model, missing=missing))
    assert "missing" in show(replace(whole, missing="error"))
