"""Claims about the picture of a tree."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from steps import steps_of

from treewright.data.schema import Column, Schema
from treewright.exceptions import ParameterError
from treewright.show.cards import typographic
from treewright.show.style import text_width
from treewright.show.svg import plot
from treewright.trees.arrays import Tree
from treewright.trees.data import ModelData
from treewright.trees.wording import IntervalTest

SVG = "{http://www.w3.org/2000/svg}"


def parsed(text: str) -> ET.Element:
    """The picture as an XML tree."""
    return ET.fromstring(text)


def nodes_of(text: str) -> list[ET.Element]:
    """The groups of the nodes."""
    return [group for group in parsed(text).iter(f"{SVG}g") if group.get("class") == "node"]


def texts_of(text: str) -> list[str]:
    """Every visible text."""
    return [element.text or "" for element in parsed(text).iter(f"{SVG}text")]


def test_every_node_has_a_card_and_every_branch_its_answer(iris_model: ModelData) -> None:
    picture = plot(iris_model)

    assert len(nodes_of(picture.text)) == 5
    texts = texts_of(picture.text)
    for text in ("petal length (cm) ≤ 2.45", "≤ 2.45", "> 2.45", "54 rows · gini 0.168", "versicolor", "species"):
        assert text in texts


def test_shares_fill_the_bar_in_the_order_of_the_classes(iris_model: ModelData) -> None:
    node = nodes_of(plot(iris_model).text)[3]  # [0, 49, 5], a leaf

    bars = [rect for rect in node.iter(f"{SVG}rect") if rect.get("height") == "7"]

    track, first, second = (float(rect.get("width", "nan")) for rect in bars)
    assert first / track == pytest.approx(49 / 54, abs=1e-3)
    assert second / track == pytest.approx(5 / 54, abs=1e-3)
    assert (bars[1].get("fill"), bars[2].get("fill")) == ("#e69f00", "#009e73")


def test_tooltips_hold_the_rule_and_exact_numbers(mean_model: ModelData) -> None:
    tooltip = nodes_of(plot(mean_model).text)[1].find(f"{SVG}title")

    assert tooltip is not None
    assert tooltip.text == "node 1\nx <= 0.30000000000000004\nrows: 4\nmean: 2\nsquared_error: 1"


def test_the_dot_of_a_mean_stands_between_the_smallest_and_the_largest(mean_model: ModelData) -> None:
    root, low, high = nodes_of(plot(mean_model).text)

    def place(node: ET.Element) -> float:
        track = next(rect for rect in node.iter(f"{SVG}rect") if rect.get("class") == "track")
        dot = next(node.iter(f"{SVG}circle"))
        left, room = float(track.get("x", "nan")) + 3.5, float(track.get("width", "nan")) - 7
        return (float(dot.get("cx", "nan")) - left) / room

    assert [round(place(node), 2) for node in (root, low, high)] == [0.6, 0.0, 1.0]  # 5 between 2 and 7


def test_cards_never_overlap(penguin_model: ModelData) -> None:
    boxes = []
    for node in nodes_of(plot(penguin_model).text):
        rect = next(rect for rect in node.iter(f"{SVG}rect"))
        x, y, width, height = (float(rect.get(name, "nan")) for name in ("x", "y", "width", "height"))
        boxes.append((x, y, x + width, y + height))

    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_everything_stays_inside_the_page(hostile_model: ModelData) -> None:
    picture = plot(hostile_model)

    assert picture.width < 3000
    for rect in parsed(picture.text).iter(f"{SVG}rect"):
        right = float(rect.get("x", "0")) + float(rect.get("width", "nan"))
        assert 0 <= float(rect.get("x", "0")) <= right <= picture.width + 0.1


def test_what_is_folded_away_is_counted(penguin_model: ModelData) -> None:
    texts = texts_of(plot(penguin_model, max_depth=1).text)

    assert "+6 nodes" in texts  # below node 1
    assert "+2 nodes" in texts  # below node 2


def test_a_large_tree_folds_by_itself_in_twice_the_steps_of_half_of_it(
    chain_model: Callable[[int], ModelData],
) -> None:
    half, whole = (steps_of(partial(plot, chain_model(depth))) for depth in (10_000, 20_000))

    picture = plot(chain_model(20_000))

    assert whole < 2.5 * half
    assert len(nodes_of(picture.text)) == 151
    assert any(text.endswith("+39850 nodes") or "+39,850 nodes" in text for text in texts_of(picture.text))


def test_hostile_names_stay_text(hostile_model: ModelData) -> None:
    text = plot(hostile_model, title='<script>"\u202e').text

    names = {element.tag.removeprefix(SVG) for element in parsed(text).iter()}
    assert names == {"svg", "title", "desc", "style", "rect", "text", "g", "path"}
    assert "<script" not in text
    assert "<img" not in text
    assert not re.search(r"(?:href|src|url\()", re.sub(r">[^<]*<", "><", text))
    assert not set(text) & set("\x00\x1b\u202e")
    assert len(text) < 100_000  # the name of 100 kB is cut in tooltips too


def test_a_name_of_300_signs_is_cut_on_the_card_and_whole_in_the_tooltip(build_tree: Callable[..., Tree]) -> None:
    name = "mean temperature " * 17 + "in Ulm"
    tree = build_tree([(0, 1.5), None, None], [1, -1, -1], [[3], [1], [2]])
    text = plot(ModelData("regression", Schema((Column(name, "numeric"),)), (tree,))).text

    assert not any(name in shown for shown in texts_of(text))
    assert any(shown.startswith("mean temp") and shown.endswith("… ≤ 1.5") for shown in texts_of(text))
    tooltip = nodes_of(text)[1].find(f"{SVG}title")
    assert tooltip is not None
    assert f"{name} <= 1.5" in (tooltip.text or "")


def test_the_picture_is_named_and_described(iris_model: ModelData) -> None:
    root = parsed(plot(iris_model, title="Three kinds").text)

    labels = {element.get("id"): element.text for element in root if element.get("id")}
    first, second = (root.get("aria-labelledby") or "").split()
    assert labels[first] == "Three kinds"
    assert labels[second] == "Classification tree for species: 150 rows, 5 nodes, 3 leaves, depth 2."
    assert root.get("role") == "img"


def test_the_theme_follows_the_reader_unless_it_is_fixed(iris_model: ModelData) -> None:
    auto, light, dark = (plot(iris_model, theme=theme).text for theme in ("auto", "light", "dark"))  # type: ignore[arg-type]

    assert "prefers-color-scheme: dark" in auto
    assert "prefers-color-scheme" not in light + dark
    assert "#10151b" in dark
    assert "#10151b" not in light


def test_rules_of_style_reach_one_picture_only(iris_model: ModelData, mean_model: ModelData) -> None:
    ids = {parsed(plot(model).text).get("id") for model in (iris_model, mean_model, iris_model)}

    assert len(ids) == 2  # equal pictures are equal, byte for byte
    style = parsed(plot(iris_model).text).findtext(f"{SVG}style") or ""
    selectors = re.findall(r"([^{}]+)\{", re.sub(r"@media[^{]*\{", "", style))
    assert selectors
    assert all(selector.startswith("#tw-") for selector in selectors)


def test_many_leaves_make_the_cards_compact(build_tree: Callable[..., Tree]) -> None:
    n_inner = 31
    tests = [(0, float(node)) if node < n_inner else None for node in range(2 * n_inner + 1)]
    first_child = [2 * node + 1 if node < n_inner else -1 for node in range(2 * n_inner + 1)]
    values = np.ones((2 * n_inner + 1, 20))
    model = ModelData("classification", Schema((Column("x", "numeric"),)), (build_tree(tests, first_child, values),),
                      (np.arange(20),))  # fmt: skip

    picture = plot(model)

    assert picture.width < 32 * 75
    assert "+9 more classes" in texts_of(picture.text)


def test_several_outputs_have_a_bar_each(build_tree: Callable[..., Tree]) -> None:
    tree = build_tree([None], [-1], [[3, 1, 2, 2]], samples=[4])
    classes = (np.array(["a", "b"]), np.array(["c", "d"]))
    model = ModelData("classification", Schema((Column("x", "numeric"),)), (tree,), classes, n_outputs=2)

    text = plot(model).text

    assert "a, c" in texts_of(text)
    bars = [rect for rect in nodes_of(text)[0].iter(f"{SVG}rect") if rect.get("class") == "track"]
    assert len(bars) == 2


@pytest.mark.parametrize("value", [0.0, 1.7e308, -1.7e308])
def test_extreme_means_are_drawn(build_tree: Callable[..., Tree], value: float) -> None:
    tree = build_tree([(0, 1.5), None, None], [1, -1, -1], [[0], [value], [-value]], samples=[2, 1, 1])

    text = plot(ModelData("regression", Schema((Column("x", "numeric"),)), (tree,))).text

    assert "nan" not in text
    assert "inf" not in text


def test_saving_writes_the_text_in_one_step(iris_model: ModelData, tmp_path: Path) -> None:
    picture = plot(iris_model)
    path = tmp_path / "tree.svg"
    path.write_text("old")

    picture.save(path)

    assert path.read_text(encoding="utf-8") == picture.text == picture._repr_svg_()
    assert [path.name for path in tmp_path.iterdir()] == ["tree.svg"]


@pytest.mark.parametrize("wrong", [{"theme": "blue"}, {"max_depth": -1}, {"max_nodes": 0}, {"tree": 9}])
def test_parameters_out_of_range_are_refused(iris_model: ModelData, wrong: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        plot(iris_model, **wrong)  # type: ignore[arg-type]


def test_a_tree_of_many_says_which_it_is(mean_model: ModelData) -> None:
    model = replace(mean_model, trees=mean_model.trees * 3)

    assert any(text.endswith("tree 2 of 3") or "tree 2 of 3 ·" in text for text in texts_of(plot(model, tree=1).text))


def test_every_branch_has_an_edge_and_its_answer(golf_model: ModelData) -> None:
    picture = plot(golf_model).text

    assert len(nodes_of(picture)) == 10
    assert len([path for path in parsed(picture).iter(f"{SVG}path") if path.get("class") == "edge"]) == 9
    texts = texts_of(picture)
    for text in ("outlook", "temperature", "humidity", "= rainy or missing", "= hot", "> 72.5 and \u2264 87.5"):
        assert text in texts


def test_a_leaf_without_rows_is_dashed_and_has_no_bar(golf_model: ModelData) -> None:
    empty = nodes_of(plot(golf_model).text)[5]  # in preorder
    tooltip = empty.find(f"{SVG}title")

    assert tooltip is not None
    assert (tooltip.text or "").startswith("node 6\n")
    assert "no training row reached this leaf" in (tooltip.text or "")
    assert [rect for rect in empty.iter(f"{SVG}rect") if rect.get("class") == "track"] == []
    assert any(rect.get("stroke-dasharray") for rect in empty.iter(f"{SVG}rect"))
    heights = [float(rect.get("height", "nan")) for node in (nodes_of(plot(golf_model).text)[4], empty)
               for rect in node.iter(f"{SVG}rect") if rect.get("class") == "card"]  # fmt: skip
    assert heights[1] < heights[0]
    assert "no rows" in [element.text for element in empty.iter(f"{SVG}text")]


def test_cards_and_answers_of_many_branches_do_not_overlap(golf_model: ModelData, own_branch_model: ModelData) -> None:
    for model in (golf_model, own_branch_model):
        boxes: dict[float, list[tuple[float, float]]] = {}
        for group in nodes_of(plot(model).text):
            card = next(rect for rect in group.iter(f"{SVG}rect") if rect.get("class") == "card")
            left, width = float(card.get("x", "nan")), float(card.get("width", "nan"))
            boxes.setdefault(float(card.get("y", "nan")), []).append((left, left + width))
        answers: dict[str, list[tuple[float, float]]] = {}
        for text in parsed(plot(model).text).iter(f"{SVG}text"):
            if text.get("text-anchor") == "middle":
                half = text_width(text.text or "", float(text.get("font-size", "nan"))) / 2
                middle = float(text.get("x", "nan"))
                answers.setdefault(text.get("y", ""), []).append((middle - half, middle + half))
        for row in (*boxes.values(), *answers.values()):
            ordered = sorted(row)
            assert all(right < left for (_, right), (left, _) in pairwise(ordered))


def test_missing_values_are_explained_where_one_branch_is_not_the_answer(
    own_branch_model: ModelData, surrogate_model: ModelData, fractional_model: ModelData, golf_model: ModelData
) -> None:
    assert "missing values: a branch of their own" in texts_of(plot(own_branch_model).text)
    assert "missing values: by surrogate tests" in texts_of(plot(surrogate_model).text)
    assert "missing values: divided among the branches" in texts_of(plot(fractional_model).text)
    assert "missing values" not in plot(golf_model).text
    assert "is missing" in texts_of(plot(own_branch_model).text)


def test_a_card_names_its_best_surrogate_and_the_tooltip_all(surrogate_model: ModelData) -> None:
    root = nodes_of(plot(surrogate_model).text)[0]
    tooltip = root.find(f"{SVG}title")

    assert "if missing: width \u2264 0.8" in [element.text for element in root.iter(f"{SVG}text")]
    assert tooltip is not None
    assert [line for line in (tooltip.text or "").splitlines() if line.startswith("if missing")] == [
        "if missing: width <= 0.8 (agreement 1)",
        "if missing: site in {b, c} (agreement 0.9)",
        "if missing: sepal <= 5.5 (agreement 0.8)",
    ]


def test_an_answer_of_a_level_keeps_its_own_signs() -> None:
    levels = ("<= 5 and <= 6", "b", "c")
    ordinal = IntervalTest("x", 0, (0.5, 1.5), 0, False, levels)

    assert typographic(ordinal, ordinal.edge(0)) == "= <= 5 and <= 6"
    assert typographic(ordinal, IntervalTest("x", 0, (1.5,), 0, False, levels).edge(0)) == "\u2264 b"


def test_in_a_cell_of_a_notebook_the_picture_is_no_wider_than_the_cell(iris_model: ModelData) -> None:
    picture = plot(iris_model)

    assert picture._repr_html_() == picture.text.replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)
    assert "max-width" not in picture.text
