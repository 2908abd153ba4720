"""Starting, and being wrong: quick, one line, the right exit code."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from treewright.version import __version__


def test_help_loads_nothing_heavy(surroundings):
    script = (
        "import sys\n"
        "sys.argv = ['treewright', '--help']\n"
        "from treewright.cli.app import main\n"
        "try:\n    main()\nfinally:\n"
        "    heavy = {'numpy', 'numba', 'polars', 'sklearn', 'pandas', 'scipy', 'narwhals'} & set(sys.modules)\n"
        "    print('HEAVY', sorted(heavy))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=surroundings)

    assert "HEAVY []" in done.stdout


# Commands one after the other, in one process: what one loads the next may have, but none may load what is heavy.
LOADED = """\
import json, sys
from contextlib import redirect_stdout, suppress
from treewright.cli.app import main

heavy = {"sklearn", "pandas", "matplotlib", "pyarrow", "jinja2"}
loaded = []
for sys.argv[1:] in json.load(sys.stdin):
    with redirect_stdout(sys.stderr):
        try:
            main()
        except SystemExit as end:
            assert not end.code, sys.argv
    loaded.append(sorted(heavy & set(sys.modules)))
print(json.dumps(loaded))
"""


def test_a_fit_and_a_prediction_load_only_what_they_need(surroundings, penguins, tmp_path):
    whole = penguins.read_text().splitlines()
    clean = [line for line in whole if ",," not in line and not line.endswith(",") and "NA" not in line]
    (tmp_path / "t.csv").write_text("\n".join(clean) + "\n")
    commands = []
    few = ["--set", "n_estimators=2"]
    kinds = {"cart": ["--svg", "t.svg"], "forest": few, "boosting": few, "c45": [], "knn": []}
    for kind, more in kinds.items():
        words = ["--target", "species", "--algorithm", kind, "--out", f"{kind}.tw"]
        commands += [["fit", "t.csv", *words, *more], ["predict", f"{kind}.tw", "t.csv", "--out", f"{kind}.csv"]]

    done = subprocess.run(
        [sys.executable, "-c", LOADED], input=json.dumps(commands), capture_output=True, text=True, check=False,
        env=surroundings, cwd=tmp_path,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    loaded = json.loads(done.stdout)
    assert [words for words, heavy in zip(commands, loaded, strict=True) if heavy] == []


def test_version_is_the_packages(process):
    done = process("--version")

    assert (done.returncode, done.stdout, done.stderr) == (0, f"treewright {__version__}\n", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--set", "max_dept=3"], "no parameter 'max_dept'; did you mean max_depth?"),
        (["--set", "max_depth"], "write it as name=value"),
        (["--set", "n_jobs=3"], "use --jobs instead"),
        (["--set", "max_depth=3", "--set", "max_depth=4"], "given twice"),
        (["--algorithm", "magic"], "choose one of cart"),
        (["--test-size", "1"], "give a share from 0 to below 1"),
        (["--cv", "1"], "give 2 folds or more"),
        (["--types", "sex=colour"], "where kind is one of numeric, nominal, boolean"),
        (["--nominal", "sex", "--numeric", "sex"], "declared nominal and numeric"),
        (["--ordinal", "sex=male"], "with two levels or more, each once"),
        (["--drop", "species"], "cannot be the target and also dropped"),
        (["--out", "same", "--svg", "same"], "name the same file"),
        (["--separator", "abc"], "give one character"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(command, penguins, tmp_path, words, message):
    done = command("fit", penguins, "--target", "species", *words, folder=tmp_path)

    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("treewright: error: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [["fit"], ["no-such-command"], ["fit", "x.csv", "--no-such-option"], ["show"]])
def test_words_that_no_command_knows_are_exit_code_2(command, words):
    assert command(*words).returncode == 2


def test_a_parameter_out_of_range_is_exit_code_2(command, penguins):
    done = command("fit", penguins, "--target", "species", "--set", "max_depth=-1")

    assert done.returncode == 2
    assert "max_depth" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_package_runs_as_a_module(process):
    done = process("show", "absent.tw")

    assert done.returncode == 1
    assert "absent.tw" in done.stderr
    assert done.stderr.count("\n") == 1
