"""Claims about a tree drawn for a window."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from steps import steps_of

from treewright.data.schema import Column, Schema
from treewright.exceptions import ParameterError
from treewright.show.spans import text_of, width_of
from treewright.show.text import draw_tree, show
from treewright.trees.arrays import Tree
from treewright.trees.data import ModelData

WIDTHS = (20, 40, 60, 80, 120, 200)


def drawn(model: ModelData, width: int, **options: object) -> list[str]:
    return [text_of(line).rstrip() for line in draw_tree(model, width=width, **options)]  # type: ignore[arg-type]


def test_a_small_tree_looks_like_this(iris_model: ModelData) -> None:
    assert drawn(iris_model, 100) == [
        "Classification tree for species: 150 rows, 5 nodes, 3 leaves, depth 2",
        "grown by cart",
        "■ setosa 50   ■ versicolor 50   ■ virginica 50",
        "",
        "node                                  rows      %                        counts   gini    predicts",
        "   0  all rows                         150  100.0  ██████████████████  50/50/50  0.667",
        "   1  ├─ petal length (cm) <= 2.45      50   33.3  ██████████████████    50/0/0  0      ■ setosa",
        "   2  └─ petal length (cm) > 2.45      100   66.7  ██████████████████   0/50/50  0.500",
        "   3     ├─ petal width (cm) <= 1.75    54   36.0  ████████████████▍█    0/49/5  0.168  ■ versicolor",
        "   4     └─ petal width (cm) > 1.75     46   30.7  ▍█████████████████    0/1/45  0.043  ■ virginica",
    ]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("ascii_only", [False, True])
def test_no_line_is_wider_than_the_window(
    width: int,
    ascii_only: bool,
    iris_model: ModelData,
    penguin_model: ModelData,
    mean_model: ModelData,
    hostile_model: ModelData,
    chain_model: Callable[[int], ModelData],
) -> None:
    for model in (iris_model, penguin_model, mean_model, hostile_model, chain_model(300)):
        lines = draw_tree(model, width=width, ascii=ascii_only, surrogates=True)

        assert max(map(width_of, lines)) <= width


def test_the_lines_are_those_of_the_text(penguin_model: ModelData) -> None:
    text = [line for line in show(penguin_model).splitlines() if re.match(" *[0-9]+  ", line)]
    lines = [line for line in drawn(penguin_model, 200) if re.match(" *[0-9]+  ", line)]

    assert len(lines) == len(text) == penguin_model.trees[0].n_nodes
    for line, written in zip(lines, text, strict=True):
        bars = re.compile("[█-▏■]+|(?<= )[0-9.]+(?=  [█-▏])")
        assert bars.sub("", line).split() == written.replace("* ", "").split()


def test_wide_windows_have_every_column_and_narrow_ones_those_that_matter(iris_model: ModelData) -> None:
    heads = {width: drawn(iris_model, width)[-6].split() for width in (40, 80, 120)}

    assert heads[120] == ["node", "rows", "%", "counts", "gini", "predicts"]
    assert heads[80] == ["node", "rows", "%", "predicts"]
    assert heads[40] == ["node", "predicts"]


def test_whole_names_are_kept_where_they_fit(iris_model: ModelData) -> None:
    for width in (80, 120, 200):
        assert any("petal width (cm) <= 1.75" in line for line in drawn(iris_model, width))
    assert any("…" in line for line in drawn(iris_model, 40))


def test_each_leaf_has_the_colour_and_the_name_of_its_class(iris_model: ModelData) -> None:
    marks = [
        (line[at].place, line[at + 1].text)
        for line in draw_tree(iris_model, width=80)[5:]
        for at, span in enumerate(line)
        if span.text == "■ "
    ]

    assert marks == [(0, "setosa"), (1, "versicolor"), (2, "virginica")]


def test_without_colours_bars_tell_classes_by_their_signs(iris_model: ModelData) -> None:
    lines = drawn(iris_model, 80, colors=False)

    assert "# setosa 50   = versicolor 50   + virginica 50" in lines
    assert any("├─ petal length" in line and "##########" in line for line in lines)


def test_ascii_is_ascii(penguin_model: ModelData) -> None:
    assert all(line.isascii() for line in drawn(penguin_model, 60, ascii=True, max_depth=2))


def test_numbers_have_bars_from_the_lowest_to_the_highest(mean_model: ModelData) -> None:
    value = mean_model.trees[0].value[:, 0]
    lines = drawn(mean_model, 100)
    bars = {int(line.split()[0]): line.count("█") for line in lines if re.match(" *[0-9]+  ", line)}

    assert f"bars: mean from {value.min():g} to {value.max():g}" in lines
    assert bars[int(value.argmax())] == max(bars.values()) >= 10
    assert bars[int(value.argmin())] == 0


def test_deep_trees_keep_their_words(chain_model: Callable[[int], ModelData]) -> None:
    lines = drawn(chain_model(300), 80, max_nodes=None)

    assert any("[299] x > 298" in line for line in lines)
    assert all("x " in line for line in lines if re.match(" *[1-9][0-9]*  ", line))


def test_a_tree_of_20000_levels_is_drawn_in_twice_the_steps_of_half_of_it(
    chain_model: Callable[[int], ModelData],
) -> None:
    half, whole = (steps_of(partial(drawn, chain_model(depth), 80)) for depth in (10_000, 20_000))

    lines = drawn(chain_model(20_000), 80)

    assert whole < 2.5 * half
    assert any("39,802 nodes hidden" in line for line in lines)


def test_no_name_can_break_a_line_or_reach_the_terminal(hostile_model: ModelData) -> None:
    for line in drawn(hostile_model, 100):
        assert not set(line) & set("\x00\x1b\u202e\n\r")
        line.encode("utf-8")


def test_many_classes_are_told_up_to_24(build_tree: Callable[..., Tree]) -> None:
    tree = build_tree([None], [-1], [list(range(40))])
    labels = (np.array([f"c{code}" for code in range(40)]),)
    model = ModelData("classification", Schema((Column("x", "numeric"),)), (tree,), labels)

    text = "\n".join(drawn(model, 80))

    assert "■ c23 23" in text
    assert "c24" not in text.replace("c24 24, ", "")
    assert "and 16 more classes" in text
    assert "■ c39" in text.splitlines()[-1]


def test_a_leaf_without_rows_says_so_and_has_no_bar(build_tree: Callable[..., Tree]) -> None:
    tree = build_tree(
        [(0, 1.0), None, None], [1, -1, -1], [[1, 3], [1, 3], [1, 3]], samples=[4, 4, 0], weight=[4, 4, 0]
    )
    model = ModelData("classification", Schema((Column("x", "numeric"),)), (tree,), (np.array(["n", "y"]),))

    last = next(line for line in drawn(model, 100) if line.startswith("   2"))

    assert last.split() == ["2", "└─", "x", ">", "1", "0", "0.0", "(no", "rows)", "->", "■", "y"]


def test_numbers_at_the_ends_of_float64_are_drawn(mean_model: ModelData) -> None:
    tree = mean_model.trees[0]
    value = np.where(np.arange(tree.n_nodes)[:, None] % 2, 1.7e308, -1.7e308)
    model = replace(mean_model, trees=(replace(tree, value=value),))

    assert len(drawn(model, 100)) == len(drawn(mean_model, 100))


@pytest.mark.parametrize("wrong", [{"width": 19}, {"max_depth": -1}, {"max_nodes": 0}, {"tree": 1}])
def test_parameters_out_of_range_are_refused(iris_model: ModelData, wrong: dict[str, int]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        draw_tree(iris_model, **{"width": 80, **wrong})  # type: ignore[arg-type]
