"""A page as a program: its ``python`` blocks share their names, its ``sh`` blocks are commands in the same folder.

A ``text`` block right below a block shows exactly what was printed. A block that prints nothing has none. A command
that is to be refused ends in ``# exit code 1``; then the page shows the refusal as well. The files that a program
writes lie, for the reader, beside the page: ``![A tree](tree.svg)`` shows what ``tree.plot().save("tree.svg")``
wrote above it.

The build of the site runs every page and compares what it prints (``build.py``); tests run a few (``tests/docs``).
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import treewright

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests" / "common"
if str(TESTS) not in sys.path:
    sys.path.append(str(TESTS))

import ready_process  # noqa: E402

NEWLINE = "\n"
FENCED = re.compile(r"^```(\w*)\n(.*?)^```\n", flags=re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"\n*^```text\n(.*?)^```\n", flags=re.MULTILINE | re.DOTALL)
EXIT_CODE = re.compile(r"# exit code (\d+)$")
SHOWS_FILE = re.compile(r"""!\[[^\]]*\]\(([^)\s#]+)\)|<(?:iframe|img|a)\b[^>]*?\b(?:src|href)="([^"#]+)\"""")
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")  # words, target
MARK = "--- the end of block {} ---"
# A command runs in a copy of a process that has only imported. In a copy of the page's own process the threads of
# polars would be missing, and its next table waits for them for ever.
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


def is_ours(kind: str, code: str) -> bool:
    """Whether a block belongs to the page's own program."""
    return kind in ("python", "sh")


def blocks_of(text: str, is_wanted: Callable[[str, str], bool] = is_ours) -> list[Block]:
    """The blocks of a page that run, in order: those of its own program, or those that ``is_wanted(kind, code)``."""
    blocks = []
    for found in FENCED.finditer(text):
        if not is_wanted(found[1], found[2]):
            continue
        below = SHOWN.match(text, found.end())
        shown, shown_end = (below[1], below.end()) if below else ("", found.end())
        blocks.append(Block(found[1], found[2], found.start(2), found.end(), shown, shown_end))
    return blocks


def program_of(text: str) -> str:
    """A page as one program, each line of code on the line it has in the page: a traceback then names the right one.

    The program imports ``run_command(words, code)`` from a module of that name, which whoever runs it provides.
    """
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


def command_of(line: str) -> str:
    """A line of a shell block as a line of the program."""
    words = shlex.split(line, comments=True)
    code = EXIT_CODE.search(line)
    if words[0] not in ("treewright", "python"):
        raise ValueError(f"a page may run treewright and python -m, not {line!r}")
    words = words[2:] if words[0] == "python" else words
    return f"run_command({words!r}, {int(code[1]) if code else 0})"


def printed_by(text: str, folder: Path) -> list[str]:
    """What each block of a page prints in a folder, which gets the examples; RuntimeError if the program fails."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    (folder / "run_command.py").write_text(RUN_COMMAND, encoding="utf-8")
    (folder / "page.py").write_text(program_of(text), encoding="utf-8")
    here = [str(folder), str(Path(treewright.__file__).parents[1]), str(TESTS)]
    surroundings = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(here),
        "PYTHONUTF8": "1",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "MPLBACKEND": "agg",
    }
    done = ready_process.run("page", [], folder, surroundings, strict=True, timeout=500)
    if done.returncode:
        raise RuntimeError(f"its program failed\n{done.stdout[-2000:]}{done.stderr}")
    return output_of_blocks(blocks_of(text), done.stdout)


def faults_of_page(page: Path, folder: Path) -> list[str]:
    """Where a page's program, run in a folder, fails, or prints or writes something other than the page shows."""
    text, name = page.read_text(encoding="utf-8"), page.relative_to(ROOT)
    try:
        printed = printed_by(text, folder)
    except RuntimeError as error:
        return [f"{name}: {error}"]
    faults = [
        f"{name}: the block on line {text.count(NEWLINE, 0, block.start) + 1} prints something else:\n{output}"
        for block, output in zip(blocks_of(text), printed, strict=True)
        if output != block.shown
    ]
    absent = [each for each in files_of(page, text) if not (folder / each).is_file()]
    return faults + [f"{name} shows files that its program does not write: {', '.join(absent)}"] * bool(absent)


@cache
def _package() -> bytes:
    """A digest of every line of the package."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(Path(treewright.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.digest()


def fingerprint_of(page: Path) -> str:
    """What the outcome of a page's program depends on: its text and the package."""
    return hashlib.blake2b(page.read_bytes() + _package(), digest_size=8).hexdigest()


def output_of_blocks(blocks: list[Block], output: str) -> list[str]:
    """What each block printed, out of what the whole program printed."""
    printed = []
    for number in range(len(blocks)):
        own, output = output.split(MARK.format(number) + "\n", 1)
        printed.append("".join(line.rstrip() + "\n" for line in own.splitlines()))
    return printed


def rewritten(text: str, blocks: list[Block], printed: list[str]) -> str:
    """The page with what was printed below each of the blocks."""
    for block, output in reversed(list(zip(blocks, printed, strict=True))):
        shown = f"\n```text\n{output}```\n" if output else ""
        text = text[: block.end] + shown + text[block.shown_end :]
    return text


def outside_code(change: Callable[[str], str], text: str) -> str:
    """A page with what lies between its blocks of code changed."""
    pieces, at = [], 0
    for found in FENCED.finditer(text):
        pieces += [change(text[at : found.start()]), found[0]]
        at = found.end()
    return "".join([*pieces, change(text[at:])])


def prose_of(text: str) -> str:
    """A page without its code."""
    return re.sub(r"`[^`\n]*`", "", FENCED.sub("", text))


def files_of(page: Path, text: str) -> list[str]:
    """The files that a page shows and that are not in the repository: its program has to write them."""
    names = dict.fromkeys(found[1] or found[2] for found in SHOWS_FILE.finditer(prose_of(text)))
    return [name for name in names if "://" not in name and not (page.parent / name).exists()]


def slug_of(heading: str) -> str:
    """The anchor of a heading, as GitHub and MyST make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
