"""How the site is made: navigation out of links, files that programs write, exercises, faults that end the build."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import page_programs
import pytest

pytest.importorskip("sphinx", reason="the site is built by Sphinx, which the dev extra installs")
SITE = Path(page_programs.__file__).parent


@pytest.fixture
def site_module(monkeypatch):
    """Imports a module of the builder without leaving its plain name behind."""

    def get(name):
        monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.syspath_prepend(str(SITE))
        return __import__(name)

    return get


def write(folder, pages):
    for name, text in pages.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def test_the_navigation_is_the_links_of_an_index_in_their_order(site_module, tmp_path):
    pages = {"a/index.md": "", "a/two.md": "", "a/one.md": "", "b/index.md": "", "b/deep/three.md": "", "index.md": ""}
    write(tmp_path, pages)
    text = "# A\n\n[two](two.md) and [one](one.md#part), [two](two.md) again, [else](../b/index.md), [away](https://x.org)\n"

    made = site_module("navigation").toctrees_of(tmp_path, "a/index", text)

    assert made.count("{toctree}") == 1
    assert re.findall(r"^(\w+) <(.*)>$", made, flags=re.MULTILINE) == [("Two", "/a/two"), ("One", "/a/one")]


def test_a_section_of_an_index_is_a_caption_and_a_folder_with_an_index_is_one_entry(site_module, tmp_path):
    write(tmp_path, {"g/index.md": "", "g/x/a.md": "", "g/x/b.md": "", "g/own/index.md": "", "g/own/c.md": ""})
    text = "# G\n\n## Some\n\n- [a](x/a.md)\n- [b](x/b.md)\n- [c](own/c.md)\n- [own](own/index.md)\n"

    made = site_module("navigation").toctrees_of(tmp_path, "g/index", text)

    assert ":caption: Some" in made
    assert re.findall(r"<(.*)>$", made, flags=re.MULTILINE) == ["/g/x/a", "/g/x/b", "/g/own/index"]


def test_code_that_looks_like_a_link_is_no_navigation(site_module, tmp_path):
    write(tmp_path, {"a/index.md": "", "a/one.md": ""})

    assert site_module("navigation").toctrees_of(tmp_path, "a/index", "# A\n\n```text\n[x](one.md)\n```\n") == ""


def test_a_page_shows_files_that_only_its_program_can_have_written(tmp_path):
    page = tmp_path / "page.md"
    (tmp_path / "kept.svg").touch()
    text = (
        "`![f](quoted.svg)` ![a](made.svg) ![b](kept.svg) ![c](https://x.org/far.svg) [d](absent.md)\n\n"
        '```python\nprint("![e](code.svg)")\n```\n\n<iframe src="report.html"></iframe>\n'
    )

    assert page_programs.files_of(page, text) == ["made.svg", "report.html"]


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<a href="nowhere.html">x</a>', "no file"),
        ('<a href="other.html#gone">x</a>', "no anchor"),
        ('<a href="#gone">x</a>', "no anchor"),
        ('<a href="/etc/hosts">x</a>', "no file"),
        ('<a href="../outside.html">x</a>', "no file"),
        ('<a href="file:///etc/hosts">x</a>', "no address"),
        ('<a href="http:other.html">x</a>', "no address"),
        ('<img src="gone.png">', "no file"),
        ('<img src="https://x.org/a.png">', "loads"),
        ('<script src="//x.org/a.js"></script>', "loads"),
    ],
)
def test_a_link_that_leads_nowhere_and_an_address_elsewhere_are_faults(site_module, tmp_path, body, fault):
    right = '<a href="other.html#here">x</a><a href="https://x.org">far</a>'
    site = tmp_path / "site"
    write(site, {"index.html": right, "other.html": '<p id="here">x</p>', "../outside.html": ""})
    assert site_module("links").faults_of(site) == []

    write(site, {"index.html": right + body})
    (told,) = site_module("links").faults_of(site)
    assert fault in told
    assert told.startswith("index.html")


def test_links_of_pages_that_move_lead_where_they_led(site_module):
    build = site_module("build")
    root = build.ROOT

    text = "[log](../CHANGELOG.md) [code](../src/treewright/plot.py) [guides](guides/index.md#x)\n"
    text += "```text\n[a](b.md)\n```\n"
    moved = build.relinked(root / "docs" / "index.md", text)

    assert moved == "[log](project/changelog.md) code [guides](guides/index.md#x)\n```text\n[a](b.md)\n```\n"
    assert build.relinked(root / "CHANGELOG.md", "[x](docs/index.md)") == "[x](../index.md)"


def test_the_build_tells_the_faults_of_all_pages_and_runs_each_that_has_a_program(site_module, tmp_path, monkeypatch):
    build = site_module("build")
    write(tmp_path, {"a.md": "```python\nx\n```\n", "b/c.md": "```sh\ny\n```\n", "prose.md": "z\n"})
    write(tmp_path, {"decisions/d.md": "```python\nold\n```\n"})
    monkeypatch.setattr(build, "DOCS", tmp_path)
    monkeypatch.setattr(build, "run_program", lambda page, names, target: [f"{page.name} is wrong"])

    with pytest.raises(SystemExit) as told:
        build.run_programs(tmp_path / "source", skip=False)

    assert str(told.value).split("\n") == ["a.md is wrong", "c.md is wrong", "2 faults of programs"]


def test_the_gallery_gets_a_card_for_each_section_with_a_picture(site_module):
    page = "# T\n\n## One tree, deep\n\n![x](one.svg)\n\n## Words\n\nnone\n\n## Two\n\n![y](two.svg)\n![z](three.svg)\n"

    assert site_module("build").cards_of("trees", page).split("\n") == [
        "- [![](one.svg)<br>One tree, deep](trees.md#one-tree-deep)",
        "- [![](two.svg)<br>Two](trees.md#two)",
    ]


def test_every_public_name_and_what_it_returns_are_found(site_module):
    import treewright

    names = site_module("names")
    public = names.public_names()
    results = names.returned_classes(public)

    assert {name for name in treewright.__all__ if callable(getattr(treewright, name))} <= {
        name.removeprefix("treewright.") for name in public
    }
    assert {"Audit", "Explanation", "PruneLog"} <= {held.__name__ for held in results.values()}
    assert all(names.summary_of(held) for held in [*public.values(), *results.values()])


def test_a_returned_class_is_the_one_that_the_module_of_the_annotation_means(site_module):
    names = site_module("names")
    results = names.returned_classes(names.public_names())

    assert "treewright.trees.summary.Node" in results  # not export.structure.Node
    assert not [name for name in results if name.endswith(".Path")]  # that is pathlib's


def test_two_classes_of_one_name_have_two_pages(site_module, tmp_path):
    names = site_module("names")
    (tmp_path / "parameters.md").write_text("", encoding="utf-8")
    folder = tmp_path / "api"
    folder.mkdir()

    first = names.write_class(folder, "treewright.Dataset", type("Dataset", (), {"__doc__": "One."}))
    second = names.write_class(folder, "treewright.data.dataset.Dataset", type("Dataset", (), {"__doc__": "Two."}))

    assert first == "- [Dataset](Dataset.md): One."
    assert second == "- [data.dataset.Dataset](data.dataset.Dataset.md): Two."
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("kept", ["thesis.txt", "index.html"])
def test_a_folder_that_holds_something_else_is_not_replaced(site_module, tmp_path, capsys, monkeypatch, kept):
    (tmp_path / kept).write_text("years of work", encoding="utf-8")
    build = site_module("build")
    monkeypatch.setattr(sys, "argv", ["build.py", "--out", str(tmp_path)])

    assert build.main() == 2

    assert "name another folder with --out" in capsys.readouterr().err
    assert (tmp_path / kept).read_text(encoding="utf-8") == "years of work"
    (tmp_path / "searchindex.js").touch()  # as every site of Sphinx has
    assert not build.is_replaceable(tmp_path)
    (tmp_path / build.MARK).touch()
    assert build.is_replaceable(tmp_path)
    assert not build.is_replaceable(tmp_path / kept)
    (tmp_path / "link").symlink_to(tmp_path)
    assert not build.is_replaceable(tmp_path / "link")


def test_the_site_is_built_and_has_every_public_name(site_module, site):
    shown = "".join(page.read_text(encoding="utf-8") for page in (site / "reference" / "api").glob("*.html"))

    names = site_module("names")
    public = names.public_names()
    wanted = [*public, *names.returned_classes(public)]
    assert [name for name in wanted if f'id="{name}"' not in shown] == []
    assert ">--target COL<" in re.sub(r"<span[^>]*>|</span>", "", shown)  # two hyphens, as they are typed
    assert {path.parts[0] for path in sources_of(site)} <= {"index.html", "treewright.html", "treewright"}


def sources_of(site):
    folder = site / "_modules"
    return [path.relative_to(folder) for path in folder.rglob("*.html")]


def test_words_that_are_linked_stand_in_the_glossary(site_module):
    words = (SITE.parent / "glossary.md").read_text(encoding="utf-8")

    assert [word for word in site_module("glossary_links").LINKED if f"\n| {word} |" not in words] == []


def test_a_build_without_the_dev_extra_names_what_is_missing_and_what_brings_it(tmp_path):
    # -S hides site-packages, and with them everything that the build needs.
    done = subprocess.run(
        [sys.executable, "-S", SITE / "build.py", "--draft", "--out", tmp_path / "site"],
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
    )

    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert re.search(r"not installed.*pip install -e \".*\[dev\]\"$", done.stderr.strip()), done.stderr
    for package in ("lxml", "myst-parser", "numpydoc", "pydata-sphinx-theme", "sphinx"):
        assert package in done.stderr


WORKED = sorted((SITE.parent / "check-by-hand").glob("*.md"))


@pytest.mark.parametrize("page", WORKED, ids=[page.stem for page in WORKED])
def test_every_worked_table_ends_with_exercises(page):
    if page.stem not in ("index", "question-by-question"):  # the second grows trees of tables whose pages have some
        assert len(re.findall(r"^\*\*Exercise \d+: ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)) >= 3
