"""What the pages under docs/ say is what happens: every python and sh block runs, and the page shows what it prints.

How a page is a program stands in ``docs/site/page_programs.py``. The build of the site runs all of them; where
``TREEWRIGHT_SITE`` names a site, its build has to have run each page as it is now, with the package as it is now.
Elsewhere a few pages run, others after each change of the package; ``TREEWRIGHT_SEEDS=all`` runs all of them here.

``TREEWRIGHT_WRITE_DOCS=1 pytest tests/docs`` writes what is printed into the pages: read the difference before
keeping it. Records (``decisions``) quote code without running it and are left alone.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import page_programs
import pytest
from page_programs import blocks_of, faults_of_page, files_of, fingerprint_of, printed_by, program_of, rewritten
from rotating import few

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
WRITES = bool(os.environ.get("TREEWRIGHT_WRITE_DOCS"))


SITE = os.environ.get("TREEWRIGHT_SITE")
PAGES_THAT_RUN = sorted(page for page in DOCS.rglob("*.md") if "decisions" not in page.parts)
PROGRAMS = [page for page in PAGES_THAT_RUN if blocks_of(page.read_text(encoding="utf-8"))]
FEW = {PROGRAMS[at] for at in few(range(len(PROGRAMS)))}
ELSEWHERE = "the build of the site runs this page: python docs/site/build.py --out site, then TREEWRIGHT_SITE=site"


@pytest.mark.timeout(600)
@pytest.mark.parametrize("page", PROGRAMS, ids=[str(page.relative_to(DOCS)) for page in PROGRAMS])
def test_a_page_shows_what_its_blocks_print(page, tmp_path):
    if WRITES:
        text = page.read_text(encoding="utf-8")
        printed = printed_by(text, tmp_path)
        assert [name for name in files_of(page, text) if not (tmp_path / name).is_file()] == []
        page.write_text(rewritten(text, blocks_of(text), printed), encoding="utf-8")
    elif SITE:
        ran = json.loads(Path(SITE, ".treewright-site").read_text(encoding="utf-8"))
        anew = f"page or package have changed since {SITE} was built, or it is a draft: build it anew"
        assert ran.get(str(page.relative_to(DOCS))) == fingerprint_of(page), anew
    elif page in FEW:
        assert faults_of_page(page, tmp_path) == []
    else:
        pytest.skip(ELSEWHERE)


@pytest.mark.parametrize(
    ("shown", "fault"),
    [
        ("2\n", []),
        ("3\n", ["docs/page.md: the block on line 4 prints something else:\n2\n"]),
        (
            "2\n```\n\n![x](absent.svg)\n\n```text\n",
            ["docs/page.md shows files that its program does not write: absent.svg"],
        ),
    ],
    ids=["right", "prints something else", "writes no file"],
)
def test_a_page_that_shows_something_else_is_told_with_the_line_of_its_block(tmp_path, monkeypatch, shown, fault):
    (tmp_path / "examples").mkdir()
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / "page.md"
    page.write_text(f"# T\n\n```python\nprint(1 + 1)\n```\n\n```text\n{shown}```\n", encoding="utf-8")
    monkeypatch.setattr(page_programs, "ROOT", tmp_path)

    assert faults_of_page(page, tmp_path / "run") == fault


INSTALLED = {"numpy", "numba", "narwhals", "sklearn", "scipy", "polars", "typer", "rich", "jinja2"}
INSTALLED |= {"treewright", *sys.stdlib_module_names}
BROUGHT_BY = {"matplotlib": "plot", "onnxruntime": "onnx", "xgboost": "xgboost-cpu"}  # extras, and another name


@pytest.mark.parametrize("page", PAGES_THAT_RUN, ids=[str(page.relative_to(DOCS)) for page in PAGES_THAT_RUN])
def test_a_page_says_what_to_install_beyond_the_package(page):
    text = page.read_text(encoding="utf-8")
    nodes = [node for block in blocks_of(text) if block.kind == "python" for node in ast.walk(ast.parse(block.code))]
    wanted = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    wanted |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    wanted |= {"pandas"} if "as_frame=True" in text else set()
    told = set(re.findall(r"[\w-]+", " ".join(re.findall(r"pip install ([^`\n]*)", text))))

    needed = {name.split(".")[0] for name in wanted} - INSTALLED
    assert {name for name in needed if not {name, BROUGHT_BY.get(name)} & told} == set()


@pytest.mark.parametrize("page", PAGES_THAT_RUN, ids=[str(page.relative_to(DOCS)) for page in PAGES_THAT_RUN])
def test_no_block_of_a_page_is_written_so_that_it_would_not_run(page):
    fences = re.findall(r"^[ \t]*(?:```|~~~).*$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)

    kinds = {"python", "sh", "text", "bash", "console", "sql", "c", "js", "java", "r", "py"}
    assert [each for each in fences[::2] if each not in {f"```{kind}" for kind in kinds}] == []
    assert {*fences[1::2]} <= {"```"}


def test_a_program_keeps_the_lines_of_its_page():
    page = "# Title\n\n```python\nx = 1\n```\n\nwords\n\n```python\nprint(x)\n```\n\n```text\n1\n```\n"

    lines = program_of(page).split("\n")

    assert (lines[3], lines[9]) == ("x = 1", "print(x)")
    assert [block.shown for block in blocks_of(page)] == ["", "1\n"]


def test_what_is_printed_replaces_what_was_shown_and_nothing_else(tmp_path):
    page = "a\n\n```python\nx = 2\nprint(x)\n```\n\n```text\n1\n```\n\nb\n\n```python\nprint(x + 1)\n```\n\nc\n"

    printed = printed_by(page, tmp_path)

    assert printed == ["2\n", "3\n"]
    wanted = page.replace("```text\n1\n", "```text\n2\n").replace("1)\n```\n", "1)\n```\n\n```text\n3\n```\n")
    assert rewritten(page, blocks_of(page), printed) == wanted


def test_the_page_of_benchmarks_is_what_the_result_files_say():
    script = ROOT / "benchmarks" / "page.py"
    done = subprocess.run([sys.executable, script], capture_output=True, encoding="utf-8", check=True)

    page = DOCS / "numbers" / "benchmarks.md"
    again = "write it anew: python benchmarks/page.py > docs/numbers/benchmarks.md"
    assert page.read_text(encoding="utf-8") == done.stdout, again


def test_every_link_between_pages_leads_to_a_file():
    wrong = []
    for page in sorted(DOCS.rglob("*.md")):
        text = page_programs.prose_of(page.read_text(encoding="utf-8"))
        made = files_of(page, text)  # the run of the page sees to these
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            target = link.split("#")[0]
            if "://" not in link and target and target not in made and not (page.parent / target).exists():
                wrong.append((page.name, link))

    assert wrong == []


def test_every_page_is_reached_from_the_index():
    reached, waiting = set(), [DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        reached.add(page)
        links = re.findall(r"\]\(([^)#\s]+\.md)[^)]*\)", page.read_text(encoding="utf-8"))
        waiting += [target for link in links if (target := (page.parent / link).resolve()).is_relative_to(DOCS)]

    assert sorted(set(DOCS.rglob("*.md")) - reached) == []
