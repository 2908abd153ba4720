"""What the pages under docs/ say is what happens: every block of code runs, and the page shows what it prints.

A page is one program: its ``python`` blocks share their names, its ``sh`` blocks are commands in the same folder, and a
``text`` block right below shows exactly what was printed. A block that prints nothing has none. A command that is to be
refused ends in ``# exit code 1``; then the page shows the refusal as well.

``TREEWRIGHT_WRITE_DOCS=1 pytest tests/docs`` writes what is printed into the pages: read the difference before keeping
it. Records (``decisions``) quote code without running it and are left alone.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest
import ready_process

import treewright

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "decisions" not in page.parts)
FENCED = re.compile(r"^```(\w*)\n(.*?)^```\n", flags=re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"\n*^```text\n(.*?)^```\n", flags=re.MULTILINE | re.DOTALL)
EXIT_CODE = re.compile(r"# exit code (\d+)$")
MARK = "--- the end of block {} ---"
# What a page's program begins with: a command runs in a copy of a process that has only imported. In a copy of the
# page's own process the threads of polars would be missing, and its next table waits for them for ever.
RUN_COMMAND = """\
import os
import sys

import ready_process


def run_command(words, code):
    sys.stdout.flush()
    done = ready_process.run(words[0], words[1:], os.getcwd(), os.environ)
    print(done.stdout + (done.stderr if code else ""), end="")
    assert done.returncode == code, (words, done.returncode, done.stderr)
"""


class Block(NamedTuple):
    """A block that runs: where it begins and ends in the page, and what the page shows below it."""

    kind: str
    code: str
    start: int
    end: int
    shown: str
    shown_end: int


def blocks_of(text):
    """The blocks of a page that run, in order."""
    blocks = []
    for found in FENCED.finditer(text):
        if found[1] not in ("python", "sh"):
            continue
        below = SHOWN.match(text, found.end())
        shown, shown_end = (below[1], below.end()) if below else ("", found.end())
        blocks.append(Block(found[1], found[2], found.start(2), found.end(), shown, shown_end))
    return blocks


def program_of(text):
    """A page as one program, each line of code on the line it has in the page: a traceback then names the right one."""
    lines = [""] * (text.count("\n") + 1)
    lines[0] = "from run_command import run_command"
    for number, block in enumerate(blocks_of(text)):
        first = text.count("\n", 0, block.start)
        code = block.code.splitlines()
        if block.kind == "sh":
            code = [command_of(line) for line in code]
        lines[first : first + len(code)] = code
        lines[first + len(code)] = f"print({MARK.format(number)!r}, flush=True)"
    return "\n".join(lines)


def command_of(line):
    """A line of a shell block as a line of the program."""
    words = shlex.split(line, comments=True)
    code = EXIT_CODE.search(line)
    assert words[0] in ("treewright", "python"), f"a page may run treewright and python -m, not {line!r}"
    words = words[2:] if words[0] == "python" else words
    return f"run_command({words!r}, {int(code[1]) if code else 0})"


def printed_by(text, folder):
    """What each block prints, run in a folder of its own that holds the examples."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    (folder / "run_command.py").write_text(RUN_COMMAND, encoding="utf-8")
    program = folder / "page.py"
    program.write_text(program_of(text), encoding="utf-8")
    here = [str(folder), str(Path(treewright.__file__).parents[1]), str(ROOT / "tests" / "common")]
    surroundings = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(here),
        "PYTHONUTF8": "1",
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }
    done = ready_process.run("page", [], folder, surroundings, strict=True, timeout=500)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    printed = []
    rest = done.stdout
    for number in range(len(blocks_of(text))):
        own, rest = rest.split(MARK.format(number) + "\n", 1)
        printed.append("".join(line.rstrip() + "\n" for line in own.splitlines()))
    return printed


def rewritten(text, printed):
    """The page with what was printed below each block."""
    for block, output in reversed(list(zip(blocks_of(text), printed, strict=True))):
        shown = f"\n```text\n{output}```\n" if output else ""
        text = text[: block.end] + shown + text[block.shown_end :]
    return text


@pytest.mark.timeout(600)
@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(DOCS)) for page in PAGES])
def test_a_page_shows_what_its_blocks_print(page, tmp_path):
    text = page.read_text(encoding="utf-8")
    if not blocks_of(text):
        return

    printed = printed_by(text, tmp_path)

    if os.environ.get("TREEWRIGHT_WRITE_DOCS"):
        page.write_text(rewritten(text, printed), encoding="utf-8")
        return
    for block, output in zip(blocks_of(text), printed, strict=True):
        line = text.count("\n", 0, block.start) + 1
        assert output == block.shown, f"{page.name}, the block on line {line}"


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
    assert rewritten(page, printed) == wanted


def test_every_link_between_pages_leads_to_a_file():
    wrong = []
    for page in sorted(DOCS.rglob("*.md")):
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            target = link.split("#")[0]
            if "://" not in link and target and not (page.parent / target).exists():
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
