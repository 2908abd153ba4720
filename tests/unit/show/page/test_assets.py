"""The page's own files: scripts that may be put together line by line, and a page that stays small."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from treewright.show.page.render import (
    COMMENT,
    EXPLANATION_SCRIPTS,
    NEAR_OPTIMAL_STYLES,
    SCRIPTS,
    STYLES,
    TREE_SCRIPTS,
    TREE_STYLES,
    script_text,
    style_text,
)

FOLDER = files("treewright.show.page").joinpath("assets")
WORKBENCH = files("treewright.workbench").joinpath("assets")
# The workbench draws its tree with the scripts of pages.
OF_THE_WORKBENCH = {
    entry.name: entry.read_text(encoding="utf-8") for entry in WORKBENCH.iterdir() if entry.name.endswith(".js")
}
ALL = sorted(entry.name for entry in FOLDER.joinpath("scripts").iterdir() if entry.name.endswith(".js"))


def test_every_script_and_style_is_on_a_page_once():
    assert sorted({f"{name}.js" for name in (*SCRIPTS, *TREE_SCRIPTS, *EXPLANATION_SCRIPTS)}) == ALL
    assert len(set(SCRIPTS)) == len(SCRIPTS)
    styles = sorted(entry.name for entry in FOLDER.joinpath("styles").iterdir() if entry.name.endswith(".css"))
    assert sorted(f"{name}.css" for name in {*STYLES, *NEAR_OPTIMAL_STYLES}) == styles
    assert set(TREE_STYLES) < set(STYLES)


def text_of(name):
    return OF_THE_WORKBENCH.get(name) or FOLDER.joinpath("scripts", name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [*ALL, *OF_THE_WORKBENCH])
def test_no_text_of_a_script_runs_over_several_lines(name):
    """Comments and indentation are taken off line by line."""
    text = text_of(name)

    assert all(line.count("`") % 2 == 0 for line in text.splitlines()), "a template over several lines"
    assert not any(line.rstrip().endswith("\\") for line in text.splitlines()), "a string over several lines"
    assert all(line.count("/*") == line.count("*/") for line in text.splitlines()), "a comment over several lines"


@pytest.mark.parametrize("name", [*ALL, *OF_THE_WORKBENCH])
def test_scripts_write_text_and_no_html(name):
    text = text_of(name)

    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch(", "XMLHttpRequest"):
        # The page of the workbench asks its server, in one place; its frame in a notebook is a constant.
        assert word not in (text.replace("await window.fetch(", "") if name == "widget.js" else text)


def test_scripts_and_styles_are_small():
    # 195,000 before distributions in cards, gains and lift, and dates; 207,400 with them; 210,500 with parts of dates;
    # 212,500 with columns made of others; 224,600 with contributions; 225,500 with names and
    # locks that the workbench gives nodes; 226,500 with the positive class in curves and slider; 227,400 with
    # the reason of a prediction and the threshold among probabilities.
    assert len(script_text()) + len(style_text()) < 228_000
    assert len(script_text(TREE_SCRIPTS)) + len(style_text(TREE_STYLES)) < 90_000


def test_every_class_of_a_style_is_worn():
    worn = "\n".join(
        entry.read_text(encoding="utf-8")
        for folder in ("scripts", "templates")
        for entry in FOLDER.joinpath(folder).iterdir()
    )
    named = set(re.findall(r"\.([a-zA-Z][\w-]*)", COMMENT.sub("", style_text() + style_text(NEAR_OPTIMAL_STYLES))))

    def is_worn(name):
        made = f"{name.rpartition('-')[0]}-${{"  # as in `is-${role}`
        return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", worn) or made in worn

    assert sorted(name for name in named if not is_worn(name)) == []


def test_every_class_of_the_workbench_is_worn():
    style = COMMENT.sub("", WORKBENCH.joinpath("workbench.css").read_text(encoding="utf-8"))
    worn = "\n".join([*OF_THE_WORKBENCH.values(), *(text_of(name) for name in ALL)])
    named = set(re.findall(r"\.([a-zA-Z][\w-]*)", style))
    assert sorted(name for name in named if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", worn)) == []


@pytest.mark.parametrize("name", [*ALL, *OF_THE_WORKBENCH])
def test_what_a_script_makes_is_used(name):
    text = text_of(name)
    others = "\n".join(text_of(other) for other in (*ALL, *OF_THE_WORKBENCH) if other != name)
    others += "workbench.start"  # by workbench.module
    object_of = re.search(r"^const (\w+) = \(\(\) =>", text, flags=re.MULTILINE)
    shown = re.findall(r"^  return \{ ([\w, ]+) \};$", text, flags=re.MULTILINE)
    public = shown[-1].split(", ") if object_of and shown else []

    for made in re.findall(r"^ +(?:async )?function\*? (\w+)|^ +const (\w+) =", text, flags=re.MULTILINE):
        word = made[0] or made[1]
        assert len(re.findall(rf"(?<![\w$])(?<![\w\])?]\.){word}(?![\w$])", text)) > 1, f"{word} is made and not used"
    for word in public:
        used = rf"(?<![\w$]){object_of[1]}\??\.{word}(?![\w$])|\{{[^}}]*\b{word}\b[^}}]*\}} = {object_of[1]};"
        assert re.search(used, others), f"{word} is shown to others, and none uses it"
