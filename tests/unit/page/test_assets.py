"""The page's own files: scripts that may be put together line by line, and a page that stays small."""

from __future__ import annotations

from importlib.resources import files

import pytest

from treewright.page.render import SCRIPTS, STYLES, TREE_SCRIPTS, TREE_STYLES, script_text, style_text

FOLDER = files("treewright.page").joinpath("assets")
ALL = sorted(entry.name for entry in FOLDER.joinpath("scripts").iterdir() if entry.name.endswith(".js"))


def test_every_script_and_style_is_on_a_page_once():
    assert sorted({f"{name}.js" for name in (*SCRIPTS, *TREE_SCRIPTS)}) == ALL
    assert len(set(SCRIPTS)) == len(SCRIPTS)
    styles = sorted(entry.name for entry in FOLDER.joinpath("styles").iterdir() if entry.name.endswith(".css"))
    assert sorted(f"{name}.css" for name in STYLES) == styles
    assert set(TREE_STYLES) < set(STYLES)


@pytest.mark.parametrize("name", ALL)
def test_no_text_of_a_script_runs_over_several_lines(name):
    """Comments and indentation are taken off line by line."""
    text = FOLDER.joinpath("scripts", name).read_text(encoding="utf-8")

    assert all(line.count("`") % 2 == 0 for line in text.splitlines()), "a template over several lines"
    assert not any(line.rstrip().endswith("\\") for line in text.splitlines()), "a string over several lines"
    assert all(line.count("/*") == line.count("*/") for line in text.splitlines()), "a comment over several lines"


@pytest.mark.parametrize("name", ALL)
def test_scripts_write_text_and_no_html(name):
    text = FOLDER.joinpath("scripts", name).read_text(encoding="utf-8")

    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch(", "XMLHttpRequest"):
        assert word not in text


def test_scripts_and_styles_are_small():
    assert len(script_text()) + len(style_text()) < 200_000
    assert len(script_text(TREE_SCRIPTS)) + len(style_text(TREE_STYLES)) < 90_000
