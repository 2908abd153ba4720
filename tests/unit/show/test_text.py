"""Claims about a tree as text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from steps import steps_of

from treewright.data.schema import Column, Schema
from treewright.estimators.trees import DecisionTreeClassifier
from treewright.exceptions import ParameterError
from treewright.show.text import show
from treewright.trees.arrays import Tree
from treewright.trees.data import ModelData
from treewright.trees.writing import cell_width


def test_a_small_tree_reads_like_this(iris_model: ModelData) -> None:
    assert show(iris_model).splitlines() == [
        "Classification tree for species: 150 rows, 5 nodes, 3 leaves, depth 2",
        "grown by cart",
        "counts: setosa / versicolor / virginica",
        "",
        "node                                  rows    counts   gini    predicts",
        "   0  all rows                         150  50/50/50  0.667",
        "   1  ├─ petal length (cm) <= 2.45      50    50/0/0  0      * setosa",
        "   2  └─ petal length (cm) > 2.45      100   0/50/50  0.500",
        "   3     ├─ petal width (cm) <= 1.75    54    0/49/5  0.168  * versicolor",
        "   4     └─ petal width (cm) > 1.75     46    0/1/45  0.043  * virginica",
        "",
        "* leaf",
    ]


def test_levels_ranks_and_missing_values_are_said_in_words(penguin_model: ModelData) -> None:
    text = show(penguin_model)

    for part in (
        "├─ island = Biscoe or missing ",
        "└─ island in {Dream, Torgersen} ",
        "└─ flipper > 206.5 or missing ",
        "├─ town not in {town P, town Q, town R} ",
        "├─ price <= $ ",
        "├─ flipper is present ",
        "└─ flipper is missing ",
    ):
        assert part in text


def test_regression_shows_means_and_the_criterion(mean_model: ModelData) -> None:
    lines = show(mean_model).splitlines()

    assert lines[2].split() == ["node", "rows", "mean", "squared_error", "predicts"]
    assert lines[4].split() == ["1", "├─", "x", "<=", "0.3", "4", "2", "1", "*", "2"]


def test_absolute_error_shows_medians(mean_model: ModelData) -> None:
    assert " median " in show(replace(mean_model, facts={"criterion": "absolute_error"}))


def test_weights_are_shown_only_where_they_differ_from_rows(build_tree: Callable[..., Tree]) -> None:
    schema = Schema((Column("x", "numeric"),))
    tree = build_tree(
        [(0, 1.0), None, None], [1, -1, -1], [[2.5, 3], [2.5, 0], [0, 3]], samples=[4, 2, 2], weight=[5.5, 2.5, 3]
    )
    model = ModelData("classification", schema, (tree,), (np.array(["n", "y"]),))

    lines = show(model).splitlines()

    assert "weights: n / y" in lines
    assert lines[-3].split() == ["2", "└─", "x", ">", "1", "2", "3", "0/3", "0", "*", "y"]
    assert lines[-5].split() == ["0", "all", "rows", "4", "5.5", "2.5/3", "0"]


def test_a_single_leaf_is_a_tree(build_tree: Callable[..., Tree]) -> None:
    tree = build_tree([None], [-1], [[3, 1]], impurity=[0.375])
    model = ModelData("classification", Schema((Column("x", "numeric"),)), (tree,), (np.array([False, True]),))

    text = show(model)

    assert "4 rows, 1 node, 1 leaf, depth 0" in text
    assert "all rows     4     3/1     0.375  * False" in text


def test_every_output_is_shown(build_tree: Callable[..., Tree]) -> None:
    tree = build_tree([None], [-1], [[3, 1, 1, 1, 2]], samples=[4])
    classes = (np.array(["a", "b"]), np.array([1, 2, 3]))
    schema = Schema((Column("x", "numeric"),))
    model = ModelData("classification", schema, (tree,), classes, n_outputs=2, target_names=("first", "second"))

    text = show(model)

    assert "counts of first: a / b" in text
    assert "counts of second: 1 / 2 / 3" in text
    assert "* a, 3" in text


def test_many_classes_show_the_largest(build_tree: Callable[..., Tree]) -> None:
    tree = build_tree([None], [-1], [list(range(10))])
    labels = np.array([f"c{code}" for code in range(10)])
    model = ModelData("classification", Schema((Column("x", "numeric"),)), (tree,), (labels,))

    assert "c9 9, c8 8, c7 7, +6 classes" in show(model)


def test_boosted_trees_of_a_classifier_show_numbers(build_tree: Callable[..., Tree]) -> None:
    tree = build_tree([None], [-1], [[-0.25]], samples=[8])
    schema, labels = Schema((Column("x", "numeric"),)), (np.array([0, 1]),)
    model = ModelData("classification", schema, (tree, tree), labels, combine="sum")

    text = show(model, tree=1)

    assert "(2 of 2 trees)" in text
    assert "* -0.25" in text


def test_hidden_nodes_are_counted_where_they_hang(iris_model: ModelData) -> None:
    lines = show(iris_model, max_depth=1).splitlines()

    assert any(line.endswith("└─ … 2 more nodes below node 2") for line in lines)
    assert "2 nodes hidden: give a larger max_depth or max_nodes (None shows all)" in lines


def test_ascii_is_ascii(penguin_model: ModelData) -> None:
    assert show(penguin_model, ascii=True, max_depth=2).isascii()


def test_a_tree_of_20000_levels_is_cut_short_in_twice_the_steps_of_half_of_it(
    chain_model: Callable[[int], ModelData],
) -> None:
    half, whole = (steps_of(partial(show, chain_model(depth))) for depth in (10_000, 20_000))

    text = show(chain_model(20_000))

    assert whole < 2.5 * half
    assert len(text) < 50_000
    assert "depth 20000" in text
    assert "39,802 nodes hidden" in text


def test_a_deep_tree_shown_whole_stays_narrow(chain_model: Callable[[int], ModelData]) -> None:
    text = show(chain_model(500), max_nodes=None)

    assert max(map(len, text.splitlines())) < 140
    assert "└─ [500] x > 499" in text


def test_width_cuts_names_but_never_a_cut(iris_model: ModelData) -> None:
    lines = show(iris_model, width=64).splitlines()

    assert max(map(len, lines[4:])) <= 64
    assert any("petal…" in line and "<= 1.75 " in line for line in lines)


def test_columns_line_up_under_wide_letters(build_tree: Callable[..., Tree]) -> None:
    tree = build_tree([(0, 1.0), None, None], [1, -1, -1], [[2, 2], [2, 0], [0, 2]])
    model = ModelData("classification", Schema((Column("東京", "numeric"),)), (tree,), (np.array(["n", "y"]),))

    lines = show(model).splitlines()[4:7]

    assert len({cell_width(line[: line.index("/")]) for line in lines}) == 1


def test_no_name_can_break_a_line_or_reach_the_terminal(hostile_model: ModelData) -> None:
    text = show(hostile_model)

    assert not set(text) & set("\x00\x1b\u202e")
    text.encode("utf-8")
    assert len(text.splitlines()) == 2 + 1 + 1 + 9 + 1 + 1  # head, blank, titles, nodes, blank, foot
    assert max(map(len, text.splitlines())) < 300


def test_color_changes_nothing_but_the_colour(iris_model: ModelData) -> None:
    colored = show(iris_model, color=True)

    assert "\x1b[1;38;5;" in colored
    assert re.sub("\x1b\\[[0-9;]*m", "", colored) == show(iris_model)


@pytest.mark.parametrize("wrong", [{"digits": 0}, {"width": 10}, {"max_depth": -1}, {"max_nodes": 0}, {"tree": 1}])
def test_parameters_out_of_range_are_refused(iris_model: ModelData, wrong: dict[str, int]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        show(iris_model, **wrong)  # type: ignore[arg-type]


def test_branches_of_many_levels_say_how_many_they_do_not_name() -> None:
    # The first test takes the last 30 of the 80 names, the second 20 of the others.
    table = {"name": np.repeat([f"{at:02d} and a half" for at in range(80)], 6)}
    label = np.repeat(["a", "b", "c"], [30 * 6, 20 * 6, 30 * 6])
    model = DecisionTreeClassifier(nominal=["name"], nominal_splits="subset").fit(table, label).model_
    widths = {
        None: (2, "name in {50 and a half, 51 and a half, ... 28 more}"),
        84: (1, "name in {50 and a half, ... 29 more}"),
        75: (1, "name in {50 a\u2026, ... 29 more}"),
    }
    for width, (n_named, first) in widths.items():
        text = show(model, width=width)
        assert first in text
        counts = re.findall(r"\.\.\. (\d+) more\}", text)
        assert counts == [str(count - n_named) for count in (30, 30, 20, 20)]


def test_the_way_of_missing_values_is_explained_where_a_line_shows_it() -> None:
    cells = np.array([1.0, 1.0, 2.0, 2.0, np.nan, np.nan])
    other = np.array([0.0, 0.0, 1.0, 1.0, 0.0, 0.0])
    note = '"or missing" marks the branch'
    for columns, is_told in (({"other": other, "holes": cells}, False), ({"holes": cells}, True)):
        model = DecisionTreeClassifier().fit(columns, other.astype(int)).model_
        assert any(column.missing_seen for column in model.schema.columns)
        assert ("or missing " in show(model)) == is_told
        assert (note in show(model)) == is_told
