"""Claims about files of the picture of a tree: PNG, PDF, sizes for slides and pages."""

from __future__ import annotations

import builtins
import importlib.util
import io
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread
from rotating import few

from treewright.exceptions import InputFileError, MissingLibraryError, ParameterError
from treewright.plot import sized
from treewright.show import svg as raster
from treewright.show.style import MEDIA, current_medium, medium_of
from treewright.show.svg import SvgPicture, check_ending, in_light, plot
from treewright.trees.arrays import Tree
from treewright.trees.data import ModelData

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def pixels(png: bytes) -> np.ndarray:
    """The picture as uint8[down, across, 3]."""
    return np.asarray(np.round(imread(io.BytesIO(png))[..., :3] * 255), np.uint8)


def colors(png: bytes) -> set[tuple[int, ...]]:
    """Every colour in it."""
    return {tuple(color) for color in np.unique(pixels(png).reshape(-1, 3), axis=0).tolist()}


def smallest_letters(picture: SvgPicture) -> float:
    """The size of the smallest text in points, as it is printed."""
    view = float(re.search(r'viewBox="0 0 (\S+)', picture.text)[1])  # type: ignore[index]
    sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)"', picture.text)]
    return min(sizes) * picture.width / view * 72 / 96


def n_cards(picture: SvgPicture) -> int:
    """How many nodes are shown."""
    return picture.text.count('class="node"')


def test_a_png_has_two_pixels_to_each_of_the_picture_and_the_colours_of_its_classes(iris_model: ModelData) -> None:
    picture = plot(iris_model)

    png = picture.png()

    assert png.startswith(SIGNATURE)
    down, across, _ = pixels(png).shape
    assert (across, down) == pytest.approx((2 * picture.width, 2 * picture.height), abs=1)
    assert {(0x00, 0x72, 0xB2), (0xE6, 0x9F, 0x00), (0x00, 0x9E, 0x73), (255, 255, 255)} <= colors(png)


def test_texts_are_drawn(iris_model: ModelData) -> None:
    picture = plot(iris_model)
    silent = SvgPicture(re.sub(r"(<text[^>]*>)[^<]*", r"\1", picture.text), picture.width, picture.height)

    assert (pixels(picture.png()) != pixels(silent.png())).any(axis=2).mean() > 0.01


def test_a_picture_that_follows_the_reader_is_light_as_a_png_and_a_dark_one_dark(iris_model: ModelData) -> None:
    auto, light, dark = (plot(iris_model, theme=theme).png() for theme in ("auto", "light", "dark"))  # type: ignore[arg-type]

    assert (pixels(auto) == pixels(light)).all()
    assert (pixels(light)[0, 0] == 255).all()
    page = (0x10, 0x15, 0x1B)
    assert {tuple(pixels(dark)[place]) for place in ((0, 0), (0, -1), (-1, 0), (-1, -1))} == {page}


def test_the_light_rules_alone_are_drawn_whatever_the_names_are(hostile_model: ModelData) -> None:
    text = plot(hostile_model, title="<style>@media</style>").text

    drawn = in_light(text)

    assert "prefers-color-scheme" not in drawn
    assert drawn.count("</text>") == text.count("</text>")
    assert "&lt;style&gt;@media&lt;/style&gt;" in drawn


@pytest.mark.parametrize(("wish", "across"), [({"scale": 1}, 1.0), ({"scale": 0.5}, 0.5), ({"width": 300}, None)])
def test_a_png_is_as_large_as_it_is_asked_to_be(
    iris_model: ModelData, wish: dict[str, float], across: float | None
) -> None:
    picture = plot(iris_model)

    png = picture.png(**wish)

    assert pixels(png).shape[1] == (300 if across is None else round(across * picture.width))


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"scale": 0}, "number above 0"),
        ({"scale": -1}, "number above 0"),
        ({"scale": float("nan")}, "number above 0"),
        ({"width": float("inf")}, "number above 0"),
        ({"scale": "big"}, "scale is 'big'"),
        ({"width": [1]}, r"width is \[1\]"),
        ({"scale": 1e-9}, "0 x 0 pixels"),
        ({"width": 1e6}, "1,000,000 x"),
        ({"scale": 1, "width": 300}, "give one of them"),
    ],
)
def test_sizes_that_make_no_picture_are_refused(iris_model: ModelData, wish: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        plot(iris_model).png(**wish)


def test_a_tree_without_end_is_refused_as_a_png_before_it_takes_the_memory(
    chain_model: Callable[[int], ModelData],
) -> None:
    picture = plot(chain_model(3000), max_nodes=None)

    with pytest.raises(ParameterError, match=r"pixels, and can have .* max_nodes"):
        picture.png(scale=8)


def test_the_ending_says_the_format_and_a_file_is_replaced_in_one_step(iris_model: ModelData, tmp_path: Path) -> None:
    picture = plot(iris_model)
    for name, start in (("a.svg", b"<svg"), ("a.png", SIGNATURE), ("A.PNG", SIGNATURE), ("a.pdf", b"%PDF")):
        (tmp_path / name).write_bytes(b"old")
        picture.save(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["A.PNG", "a.pdf", "a.png", "a.svg"]


def test_a_file_that_cannot_be_written_is_refused_and_nothing_is_left(iris_model: ModelData, tmp_path: Path) -> None:
    picture = plot(iris_model)

    for name in ("tree.jpg", "tree", ".png"):
        with pytest.raises(ParameterError, match=r"does not end in \.svg, \.png or \.pdf"):
            picture.save(tmp_path / name)
    for name in ("tree.svg", "tree.png", "tree.pdf"):
        with pytest.raises(InputFileError, match="no folder"):
            picture.save(tmp_path / "nowhere" / name)
    with pytest.raises(ParameterError, match=r"are for \.png"):
        picture.save(tmp_path / "tree.svg", scale=2)
    with pytest.raises(ParameterError, match=r"are for \.png"):
        picture.save(tmp_path / "tree.pdf", width=200)
    assert not list(tmp_path.iterdir())


def test_without_resvg_the_message_names_the_extra_and_svg_still_works(
    iris_model: ModelData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    real = builtins.__import__

    def refusing(name: str, *rest: Any, **more: Any) -> Any:
        if name == "resvg_py":
            raise ModuleNotFoundError("No module named 'resvg_py'", name="resvg_py")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refusing)
    picture = plot(iris_model)

    with pytest.raises(MissingLibraryError, match=r'pip install "treewright\[png\]"') as caught:
        picture.save(tmp_path / "tree.png")
    assert caught.value.name == "resvg_py"
    raster.fonts.cache_clear()
    with pytest.raises(MissingLibraryError, match="resvg"):
        check_ending(".PNG")
    check_ending(".svg")
    picture.save(tmp_path / "tree.svg")
    assert [path.name for path in tmp_path.iterdir()] == ["tree.svg"]


def test_without_a_font_of_the_machine_the_one_of_matplotlib_writes(
    iris_model: ModelData, monkeypatch: pytest.MonkeyPatch
) -> None:
    from resvg_py import svg_to_bytes

    def bare(**options: Any) -> bytes:
        return bytes(svg_to_bytes(skip_system_fonts=True, **options))

    picture = plot(iris_model)
    monkeypatch.setattr(raster, "renderer", lambda: bare)
    raster.fonts.cache_clear()
    try:
        silent = SvgPicture(re.sub(r"(<text[^>]*>)[^<]*", r"\1", picture.text), picture.width, picture.height)
        assert (pixels(picture.png()) != pixels(silent.png())).any(axis=2).mean() > 0.01

        raster.fonts.cache_clear()
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
        with pytest.raises(MissingLibraryError, match="this machine has none"):
            picture.png()
    finally:
        raster.fonts.cache_clear()


def test_hostile_names_are_drawn_in_every_format(hostile_model: ModelData) -> None:
    picture = plot(hostile_model, title="<image href='file:///etc/passwd'/>$x_1$ {{7*7}} \\frac")

    assert len(colors(picture.png(scale=1))) > 50
    assert picture.pdf().startswith(b"%PDF")


def test_a_pdf_is_as_large_as_the_picture_and_the_same_each_time(iris_model: ModelData) -> None:
    picture = plot(iris_model, size="paper")

    first, second = picture.pdf(), picture.pdf()

    assert first == second
    box = re.search(rb"/MediaBox \[ 0 0 (\S+) (\S+) \]", first)
    assert box is not None
    assert (float(box[1]), float(box[2])) == pytest.approx((picture.width * 0.75, picture.height * 0.75), abs=0.1)


def test_every_text_and_box_of_the_picture_stands_in_the_pdf(
    golf_model: ModelData, monkeypatch: pytest.MonkeyPatch
) -> None:
    from treewright.show.figures import picture as home

    kept: list[Any] = []
    real = home.Picture.savefig
    monkeypatch.setattr(
        home.Picture, "savefig", lambda self, *rest, **more: (kept.append(self), real(self, *rest, **more))[1]
    )
    picture = plot(golf_model)

    picture.pdf()

    texts = [text.get_text() for text in kept[0].axes[0].texts]
    assert texts == re.findall(r"<text[^>]*>([^<]*)</text>", picture.text.replace("&gt;", ">").replace("&lt;", "<"))
    assert len(kept[0].axes[0].patches) >= picture.text.count("<rect") + picture.text.count("<path")


@pytest.mark.parametrize("size", few(["slide", "paper", "column", (4.0, 3.0)], 2))
def test_a_sized_tree_fits_its_room_and_can_be_read(build_tree: Callable[..., Tree], size: Any) -> None:
    from treewright.data.schema import Column, Schema

    n_inner = 127
    tests = [(0, float(node)) if node < n_inner else None for node in range(2 * n_inner + 1)]
    first_child = [2 * node + 1 if node < n_inner else -1 for node in range(2 * n_inner + 1)]
    values = np.ones((2 * n_inner + 1, 3))
    model = ModelData("classification", Schema((Column("x", "numeric"),)), (build_tree(tests, first_child, values),),
                      (np.arange(3),))  # fmt: skip
    medium = medium_of(size)

    picture = plot(model, size=size)

    assert picture.width <= medium.width * 96 + 0.1
    assert picture.height <= medium.height * 96 + 0.1
    assert smallest_letters(picture) >= medium.least - 0.01
    assert 1 < n_cards(picture) < 2 * n_inner + 1
    assert picture.dpi == medium.dpi
    assert re.search(r"\+\d+ nodes", picture.text)  # what is folded is counted


def test_a_small_tree_is_not_blown_up_beyond_usual_letters(iris_model: ModelData) -> None:
    picture = plot(iris_model, size="paper")

    view = float(re.search(r'viewBox="0 0 (\S+)', picture.text)[1])  # type: ignore[index]
    assert n_cards(picture) == 5
    assert picture.width < 0.9 * MEDIA["paper"].width * 96
    assert 13 * picture.width / view * 0.75 == pytest.approx(MEDIA["paper"].text, abs=0.02)  # names on cards: 13 pixels


def test_max_nodes_and_max_depth_hold_in_a_sized_tree_too(penguin_model: ModelData) -> None:
    assert n_cards(plot(penguin_model, size="slide", max_nodes=3)) == 3
    assert n_cards(plot(penguin_model, size="slide", max_depth=0)) == 1
    assert n_cards(plot(penguin_model, size=(1.0, 1.0))) == 1  # one card is drawn even where it is small


def test_sized_holds_inside_its_with_alone(iris_model: ModelData) -> None:
    wide = plot(iris_model)
    with sized("column"):
        assert plot(iris_model) == plot(iris_model, size="column")
        with sized("paper"):
            assert plot(iris_model) == plot(iris_model, size="paper")
        assert current_medium() is MEDIA["column"]
    assert plot(iris_model) == wide
    with pytest.raises(RuntimeError, match="own"), sized("column"):
        raise RuntimeError("own")
    assert current_medium() is None


@pytest.mark.parametrize(
    "wrong", ["poster", "", 3, (1,), (1, 2, 3), ("a", 2), (0, 5), (5, -1), (float("nan"), 5), (500, 5)]
)
def test_sizes_that_are_none_are_refused(iris_model: ModelData, wrong: Any) -> None:
    with pytest.raises(ParameterError, match="size"):
        plot(iris_model, size=wrong)
    with pytest.raises(ParameterError, match="size"), sized(wrong):
        pass


@pytest.mark.parametrize(("size", "width", "letters"), [("slide", 12.3, 18), ("paper", 6.5, 9), ("column", 3.35, 8)])
def test_figures_take_the_width_and_the_letters_of_the_medium(size: str, width: float, letters: float) -> None:
    from treewright.plot import error_curve

    with sized(size):
        figure = error_curve(x=[1, 2, 3], train=[3, 2, 1], test=[3, 2, 2.5], xlabel="max_depth")

    assert figure.get_size_inches()[0] == pytest.approx(width)
    assert figure.axes[0].xaxis.label.get_fontsize() == pytest.approx(letters)
    assert figure.axes[0].get_lines()[0].get_linewidth() == pytest.approx(2.0 * letters / 13)
    held = io.BytesIO()
    figure.savefig(held, format="png")
    assert pixels(held.getvalue()).shape[1] == pytest.approx(width * MEDIA[size].dpi, abs=1)


def test_a_figure_of_given_inches_has_them_and_a_narrow_one_has_its_legend_below() -> None:
    from treewright.plot import error_curve

    with sized((3.0, 4.0)):
        figure = error_curve(x=[1, 2, 3], train=[3, 2, 1], test=[3, 2, 2.5], xlabel="max_depth")
    figure.savefig(io.BytesIO(), format="png")

    assert figure.get_size_inches().tolist() == [3.0, 4.0]
    (legend,) = figure.legends
    below = legend.get_window_extent().y1
    assert below <= figure.axes[0].xaxis.label.get_window_extent().y0
    assert [text.get_text() for text in legend.get_texts()] == ["training rows", "other rows"]
    assert figure.axes[0].get_legend() is None


def test_an_arabic_name_does_not_mirror_the_sign_behind_it(build_tree: Callable[..., Tree]) -> None:
    from treewright.data.schema import Column, Schema

    name = "\u0637\u0648\u0644"
    tree = build_tree([(0, 1.5), None, None], [1, -1, -1], [[3], [1], [2]])

    text = plot(ModelData("regression", Schema((Column(name, "numeric"),)), (tree,))).text

    assert f">{name}\u200e \u2264 1.5<" in text


def test_a_long_list_of_levels_stands_in_two_lines() -> None:
    from treewright.show.cards import broken
    from treewright.show.style import NORMAL

    assert broken("= short", NORMAL) == ["= short"]
    assert broken("in {Bachelors, Doctorate, Masters, Prof-school}", NORMAL) == [
        "in {Bachelors, Doctorate,", "Masters, Prof-school}",
    ]  # fmt: skip
    (line,) = broken("= " + "W" * 400, NORMAL)
    assert line.endswith("…")


def test_the_heading_stands_beside_a_wide_tree_and_above_a_narrow_one(
    iris_model: ModelData, golf_model: ModelData
) -> None:
    for model, is_beside in ((golf_model, True), (iris_model, False)):
        text = plot(model).text
        heading = float(re.search(r'<text class="muted" x="24" y="([\d.]+)"', text)[1])  # type: ignore[index]
        root = float(re.search(r'class="card" x="\S+" y="([\d.]+)"', text)[1])  # type: ignore[index]
        assert (root < heading) == is_beside
