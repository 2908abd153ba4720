"""What the pages for users of R and of Weka show of those programs is what they print; where they are installed.

The ``r`` blocks of a page are one script. A ``console`` block whose lines begin with ``java`` holds commands of Weka.
They run in the folder in which the page's own program ran before, so they find its files and ``examples``. Below each
block, a ``text`` block shows what was printed, without blanks at the ends of lines and without empty lines around it.
What ``docs/site/page_programs.py`` runs are other blocks.

``TREEWRIGHT_WRITE_DOCS=1 pytest -m slow tests/docs/test_other_programs.py`` writes what is printed into the pages. They
show rpart 4.1.19, partykit 1.2-16 and Weka 3.6.14; other releases may print something else.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from page_programs import MARK, blocks_of, output_of_blocks, program_of, rewritten

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "coming-from"
WEKA = Path("/usr/share/java/weka.jar")
R_PACKAGES = ("rpart", "partykit", "jsonlite")
NEWLINE = "\n"
# No reading of what other programs print depends on the language of the machine.
SURROUNDINGS = {**os.environ, "LC_ALL": "C.UTF-8", "LANGUAGE": "en", "PYTHONUTF8": "1"}
# Here a command of the page's program is only a way to its files.
RUN_COMMAND = """\
import subprocess
import sys


def run_command(words, code):
    assert subprocess.run([sys.executable, "-m", *words], check=False).returncode == code
"""


def is_r(kind, code):
    return kind == "r"


def is_weka(kind, code):
    return kind == "console" and all(line.startswith("java ") for line in code.splitlines())


def folder_of(text, folder):
    """A folder with the examples and the files that the page's own program writes."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    (folder / "run_command.py").write_text(RUN_COMMAND, encoding="utf-8")
    (folder / "page.py").write_text(program_of(text), encoding="utf-8")
    run([sys.executable, "page.py"], folder)


def run(command, folder):
    done = subprocess.run(
        command, cwd=folder, env=SURROUNDINGS, capture_output=True, encoding="utf-8", timeout=300, check=False
    )
    assert done.returncode == 0, (command, done.stdout[-2000:] + done.stderr[-2000:])
    return done.stdout


def without_blanks_at_ends(output):
    """Lines without blanks at their ends, and without empty lines around them."""
    lines = [line.rstrip() for line in output.splitlines()]
    while lines and not lines[0]:
        del lines[0]
    while lines and not lines[-1]:
        del lines[-1]
    return "".join(line + "\n" for line in lines)


def printed_by_r(blocks, folder):
    script = "".join(f"{block.code}cat({MARK.format(number) + NEWLINE!r})\n" for number, block in enumerate(blocks))
    (folder / "page.R").write_text(script, encoding="utf-8")
    output = run(["Rscript", "--vanilla", "page.R"], folder)
    return [without_blanks_at_ends(own) for own in output_of_blocks(blocks, output)]


def printed_by_weka(blocks, folder):
    return [
        without_blanks_at_ends("".join(run(shlex.split(line), folder) for line in block.code.splitlines()))
        for block in blocks
    ]


def skip_without_r():
    if shutil.which("Rscript") is None:
        pytest.skip("Rscript is not installed")
    for package in R_PACKAGES:
        asked = ["Rscript", "--vanilla", "-e", f"quit(status = !requireNamespace('{package}', quietly = TRUE))"]
        if subprocess.run(asked, capture_output=True, check=False).returncode:
            pytest.skip(f"R's package {package} is not installed")


def skip_without_weka():
    if shutil.which("java") is None:
        pytest.skip("java is not installed")
    if not WEKA.is_file():
        pytest.skip(f"{WEKA} is not there")


PROGRAMS = [
    pytest.param("rpart-partykit.md", is_r, printed_by_r, skip_without_r, id="R"),
    pytest.param("weka.md", is_weka, printed_by_weka, skip_without_weka, id="Weka"),
]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("name", "is_theirs", "printed_by", "skip"), PROGRAMS)
def test_a_page_shows_what_the_other_program_prints(name, is_theirs, printed_by, skip, tmp_path):
    skip()
    page = PAGES / name
    text = page.read_text(encoding="utf-8")
    blocks = blocks_of(text, is_theirs)
    assert blocks
    folder_of(text, tmp_path)

    printed = printed_by(blocks, tmp_path)

    if os.environ.get("TREEWRIGHT_WRITE_DOCS"):
        page.write_text(rewritten(text, blocks, printed), encoding="utf-8")
        return
    for block, output in zip(blocks, printed, strict=True):
        line = text.count("\n", 0, block.start) + 1
        assert output == block.shown, f"{name}, the block on line {line}"


def test_only_blocks_of_the_other_program_get_what_it_printed():
    page = (
        "```python\nprint(1)\n```\n\n```text\n1\n```\n\n```r\nx <- 2\n```\n\n```r\nx\n```\n\n```text\nold\n```\n\n"
        "```console\njava -cp weka.jar J48\n```\n\n```console\npip install treewright\n```\n"
    )
    of_r, of_weka = blocks_of(page, is_r), blocks_of(page, is_weka)

    assert [block.code for block in of_r] == ["x <- 2\n", "x\n"]
    assert [block.code for block in of_weka] == ["java -cp weka.jar J48\n"]
    assert rewritten(page, of_r, ["", "[1] 2\n"]) == page.replace("old", "[1] 2")
    assert rewritten(page, of_weka, ["J48\n"]) == page.replace("J48\n```\n", "J48\n```\n\n```text\nJ48\n```\n")
