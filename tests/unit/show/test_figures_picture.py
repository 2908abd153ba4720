"""Claims about what a figure is: no pyplot, the same bytes, threads, notebooks, a missing matplotlib."""

from __future__ import annotations

import gzip
import io
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.lines import Line2D
from rotating import few

import treewright as tw
from treewright.exceptions import MissingLibraryError, TreewrightError
from treewright.show.style import LIGHT

RUN = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
PRINT_SVG = """
import io, sys
import treewright as tw
assert not any(name.startswith("matplotlib") for name in sys.modules), "import treewright imports matplotlib"
figure = tw.plot.error_curve(x=[1, 2], test=[0.2, 0.1], test_se=[0.01, 0.01], marks={"least": 2})
held = io.StringIO()
figure.savefig(held, format="svg")
assert "matplotlib.pyplot" not in sys.modules, "pyplot was imported"
print(held.getvalue())
"""
WITHOUT = """
import sys
sys.modules["matplotlib"] = None
import treewright as tw
try:
    tw.plot.impurity_functions()
except ImportError as error:
    print(type(error).__name__, error)
"""


def figure_of(seed=0):
    x = np.arange(1, 30)
    error = np.random.default_rng(seed).random(29)
    return tw.plot.error_curve(x=x, train=error / 2, test=error, test_se=error / 9, marks={"least": 3}, log_x=True)


def saved(figure, kind):
    held = io.BytesIO()
    figure.savefig(held, format=kind)
    return held.getvalue()


def run(code):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], env=RUN, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_process_without_a_screen_draws_without_pyplot_and_two_processes_the_same_bytes():
    one, other = run(PRINT_SVG), run(PRINT_SVG)

    assert one == other
    assert "<svg" in one
    assert "<dc:date>" not in one


@pytest.mark.parametrize("kind", few(["svg", "pdf", "png"], 1))
def test_the_same_figure_is_the_same_bytes_drawn_again_and_saved_again(kind):
    figure = figure_of()

    first = saved(figure, kind)

    assert saved(figure, kind) == first
    assert saved(figure_of(), kind) == first
    assert saved(figure_of(seed=1), kind) != first


def test_saving_by_the_name_of_a_file_says_no_date_and_leaves_the_settings_alone(tmp_path):
    before = dict(mpl.rcParams)

    figure_of().savefig(tmp_path / "curve.svg")

    assert "<dc:date>" not in (tmp_path / "curve.svg").read_text(encoding="utf-8")
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("kind", few(["svg", "svgz", "pdf", "png"], 2))
def test_no_setting_of_the_process_is_another_while_a_figure_is_saved(kind):
    before, seen = dict(mpl.rcParams), []

    class Spy(Line2D):
        def draw(self, renderer):
            seen.append(dict(mpl.rcParams))
            super().draw(renderer)

    figure = figure_of()
    figure.axes[0].add_line(Spy([1, 2], [0, 1]))
    saved(figure, kind)

    assert seen
    assert all(held == before for held in seen)


def test_names_in_an_svg_lead_somewhere_and_two_figures_share_none():
    defined = []
    for seed in (0, 1):
        text = saved(figure_of(seed), "svg").decode()
        names = re.findall(r' id="((?:[pmh]|C)[0-9a-f_]{10,})"', text)
        asked = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', text)
        assert len(names) == len(set(names)) > 0
        assert {one or other for one, other in asked} <= set(re.findall(r' id="([^"]+)"', text))
        assert set(names) <= {one or other for one, other in asked}
        defined.append(set(names))

    assert not defined[0] & defined[1]


def test_a_name_that_the_user_gave_stays():
    figure = figure_of()
    figure.axes[0].get_lines()[0].set_gid("m0123456789")

    assert 'id="m0123456789"' in saved(figure, "svg").decode()


def test_an_svg_is_saved_into_files_of_text_of_bytes_by_name_and_packed(tmp_path):
    figure, text = figure_of(), io.StringIO()
    plain = saved(figure, "svg")

    figure.savefig(text, format="svg")
    figure.savefig(tmp_path / "curve.svg")
    figure.savefig(str(tmp_path / "curve.svgz"))
    with (tmp_path / "open.svg").open("w", encoding="utf-8", newline="") as file:
        figure.savefig(file, format="svg")

    assert text.getvalue().encode() == plain
    assert (tmp_path / "curve.svg").read_bytes() == plain
    assert (tmp_path / "open.svg").read_bytes() == plain
    assert gzip.decompress((tmp_path / "curve.svgz").read_bytes()) == plain
    assert saved(figure, "svgz") == (tmp_path / "curve.svgz").read_bytes()


def test_metadata_of_the_user_is_kept(tmp_path):
    figure_of().savefig(tmp_path / "curve.svg", metadata={"Title": "Depths", "Date": "2020-01-01"})

    text = (tmp_path / "curve.svg").read_text(encoding="utf-8")
    assert "Depths" in text
    assert "2020-01-01" in text


def test_figures_drawn_in_threads_are_those_drawn_one_after_another():
    alone = [saved(figure_of(seed), "svg") for seed in range(4)]

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda seed: saved(figure_of(seed), "svg"), range(4)))

    assert together == alone


def test_a_notebook_shows_a_figure_in_its_own_size():
    png, size = figure_of()._repr_png_()

    assert png.startswith(b"\x89PNG")
    width = int.from_bytes(png[16:20], "big")
    assert size == {"width": 840, "height": 460}
    assert width == pytest.approx(1.44 * 840, abs=1)


def test_the_look_does_not_follow_the_settings_of_the_process():
    figure = figure_of()
    plain = saved(figure, "svg")
    dark = {"axes.facecolor": "black", "figure.facecolor": "black", "text.color": "white", "axes.edgecolor": "red",
            "lines.linewidth": 9, "axes.grid": True, "font.size": 30, "xtick.labelsize": 30, "font.family": "serif",
            "axes.labelcolor": "white", "legend.frameon": True, "axes.labelsize": 30}  # fmt: skip

    with mpl.rc_context(dark):
        other = saved(figure_of(), "svg")

    assert figure.get_facecolor() == mpl.colors.to_rgba(LIGHT.page)
    assert other == plain


def test_without_matplotlib_the_error_says_what_to_install():
    said = run(WITHOUT)

    assert said.startswith("MissingLibraryError")
    assert 'pip install "treewright[plot]"' in said
    assert issubclass(MissingLibraryError, ImportError)
    assert issubclass(MissingLibraryError, TreewrightError)


def test_the_names_of_the_package_are_its_functions():
    for name in tw.plot.__all__:
        assert getattr(tw.plot, name).__name__ == name
    assert set(tw.plot.__all__) <= set(dir(tw.plot))
