"""Terminals and names that mean harm: nothing but our own colour codes comes out, and every line fits."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from terminals import CODE, plain, run_on_screen

import treewright as tw
from treewright.trees.writing import cell_width

NAMES = [
    "\x1b]0;title\x07", "\x1b[2J\x1b[31m", "two\nlines\r", "\u202eright to left", "x" * 10_000,
    "e" + "\u0301" * 10_000, "東京" * 3000, "👩\u200d🔬" * 50, "a\u2028b", "[bold red]markup[/]", "%s {0}",
]  # fmt: skip
OURS = re.compile("\x1b\\[[0-9;]*m")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table whose columns, levels and classes are hostile, and a model of it."""
    folder = tmp_path_factory.mktemp("hostile")
    rows = len(NAMES) * 8
    table = {
        NAMES[0]: [float(row % len(NAMES)) for row in range(rows)],
        NAMES[4]: [NAMES[row % len(NAMES)] for row in range(rows)],
        NAMES[5]: [float(row // 8 + row % 3) for row in range(rows)],
    }
    classes = [NAMES[row % len(NAMES)] for row in range(rows)]
    est = tw.DecisionTreeClassifier().fit(table, pl.Series(NAMES[2], classes))
    est.save(folder / "m.tw")
    pl.DataFrame({**table, NAMES[2]: classes}).write_parquet(folder / "t.parquet")
    return folder


def words_of(command):
    return {
        "show": ("show", "m.tw"),
        "row": ("follow", "m.tw", "t.parquet", "--row", "7"),
        "evaluate": ("evaluate", "m.tw", "t.parquet"),
        "fit": ("fit", "t.parquet", "--target", NAMES[2]),
        "prune": ("prune", "m.tw", "t.parquet", "--method", "leaves", "--set", "max_leaves=3"),
    }[command]


@pytest.mark.parametrize("command", ["show", "row", "evaluate", "fit"])
@pytest.mark.parametrize("columns", [40, 80])
def test_hostile_names_reach_no_terminal_and_break_no_line(folder, command, columns, monkeypatch):
    monkeypatch.chdir(folder)
    shown = run_on_screen(*words_of(command), columns=columns)

    assert set("".join(OURS.split(shown))) & set("\x00\x07\x1b\r\u202e\u2028") == set()
    lines = plain(shown).split("\n")
    assert max(map(cell_width, lines)) <= columns
    assert max(map(len, lines)) <= 20 * columns


@pytest.mark.parametrize("command", ["show", "row", "evaluate", "fit", "prune"])
def test_hostile_names_reach_no_pipe(folder, command, monkeypatch):
    monkeypatch.chdir(folder)
    shown = run_on_screen(*words_of(command), NO_COLOR="1")

    assert set(shown) & set("\x00\x07\x1b\r\u202e\u2028") == set()


@pytest.mark.parametrize("encoding", ["ascii", "cp437", "shift_jis"])
def test_a_terminal_that_has_few_signs_gets_question_marks_not_an_error(folder, encoding, monkeypatch):
    monkeypatch.chdir(folder)

    assert "Classification tree" in run_on_screen("show", "m.tw", encoding=encoding)


@pytest.mark.parametrize("columns", ["0", "-5", "abc", "", "1", "99999999"])
def test_windows_that_cannot_be_are_taken_as_they_come(folder, columns, monkeypatch):
    monkeypatch.chdir(folder)
    lines = plain(run_on_screen("show", "m.tw", columns=columns)).splitlines()

    assert lines[0].startswith("Classification")
    assert max(map(cell_width, lines)) <= 1000


@pytest.mark.parametrize(
    "environ", [{"TERM": ""}, {"TERM": "nonsense"}, {"COLORTERM": "nonsense"}, {"TERM": "xterm-16color"}]
)
def test_terminals_that_nobody_knows_are_painted(folder, environ, monkeypatch):
    monkeypatch.chdir(folder)

    assert CODE.search(run_on_screen("show", "m.tw", **environ))


@pytest.fixture
def shell():
    """Runs a line of a shell, in which TREEWRIGHT is the command."""

    def run(line, folder):
        surroundings = {**os.environ, "PYTHONPATH": str(Path(tw.__file__).parents[1])}
        command = f"{sys.executable} -m treewright"
        return subprocess.run(["bash", "-c", line.replace("TREEWRIGHT", command)], cwd=folder, capture_output=True,
                              text=True, encoding="utf-8", timeout=250, check=False, env=surroundings)  # fmt: skip

    return run


def test_whoever_reads_may_go_away_before_a_painted_tree_ends(shell, tmp_path):
    numbers = [float(number) for number in range(3000)]
    tw.DecisionTreeRegressor().fit({"x": numbers}, [-x * x for x in numbers]).save(tmp_path / "m.tw")
    done = shell("TREEWRIGHT show m.tw --color always --max-nodes 0 | head -1; echo ${PIPESTATUS[0]}", tmp_path)

    assert done.stdout.splitlines()[1] == "0"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", ["show m.tw --width 80", "evaluate m.tw t.parquet", "show m.tw --color always"])
def test_where_the_output_is_closed_nothing_breaks(shell, folder, words):
    done = shell(f"TREEWRIGHT {words} >&-", folder)

    assert "Traceback" not in done.stderr
    assert done.returncode == 0


PENGUINS = Path(__file__).parents[2] / "examples" / "penguins.csv"


@pytest.mark.parametrize(
    "words",
    [
        "predict m.tw t.parquet",
        "evaluate m.tw t.parquet",
        "evaluate m.tw t.parquet --json",
        "show m.tw",
        "show m.tw --color always",
        "show m.tw --format rules",
        f"fit {PENGUINS} --target species --json --out new.tw --force",
        "parameters cart",
        "fit --help",
        "--help",
        "--version",
    ],
)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_an_output_that_is_full_is_one_line_and_exit_code_1(copies, folder, words):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "treewright", *words.split()], cwd=folder, stdout=full, stderr=subprocess.PIPE,
            encoding="utf-8", check=False,
        )  # fmt: skip

    assert done.stderr == "treewright: error: standard output: cannot be written: No space left on device\n"
    assert done.returncode == 1


def test_predictions_for_a_closed_output_are_refused_in_one_line(shell, folder):
    done = shell("TREEWRIGHT predict m.tw t.parquet >&-", folder)

    assert done.stderr == "treewright: error: standard output: it is closed: open it, or name a file with --out\n"
    assert done.returncode == 1


def test_whoever_reads_help_may_go_away_before_it_ends(shell, tmp_path):
    done = shell("TREEWRIGHT fit --help | head -0; echo ${PIPESTATUS[0]}", tmp_path)

    assert (done.stdout, done.stderr) == ("0\n", "")
