"""A command never writes over a file that it reads, however the file is spelled."""

from __future__ import annotations

import subprocess
import sys

import pytest

TABLE = "x,y\n1,a\n2,a\n3,b\n4,b\n"


@pytest.fixture
def folder(tmp_path, command):
    (tmp_path / "in.csv").write_text(TABLE)
    said = command("fit", "in.csv", "--target", "y", "--test-size", "0", "--out", "m.tw", folder=tmp_path)
    assert said.returncode == 0, said.stderr
    (tmp_path / "in.html").write_text(TABLE)
    (tmp_path / "link.csv").symlink_to("in.csv")
    (tmp_path / "here").symlink_to(".")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["fit", "in.csv", "--target", "y", "--out", "in.csv"], "--out in.csv: is DATA itself"),
        (["fit", "in.csv", "--target", "y", "--svg", "here/in.csv"], "--svg here/in.csv: is DATA itself"),
        (["fit", "in.html", "--target", "y", "--report", "in.html"], "--report in.html: is DATA itself"),
        (["fit", "link.csv", "--target", "y", "--out", "in.csv"], "--out in.csv: is DATA itself"),
        (["predict", "m.tw", "in.csv", "--out", "./here/./in.csv"], "is DATA itself"),
        (["predict", "m.tw", "in.csv", "--out", "m.tw"], "--out m.tw: is MODEL itself"),
        (["report", "m.tw", "in.html", "--out", "in.html"], "--out in.html: is DATA itself"),
        (["show", "m.tw", "--out", "m.tw"], "--out m.tw: is MODEL itself"),
        (["audit", "m.tw", "in.csv", "--out", "in.csv"], "--out in.csv: is DATA itself"),
        (["follow", "m.tw", "in.csv", "--row", "0", "--out", "m.tw"], "--out m.tw: is MODEL itself"),
        (["prune", "m.tw", "in.csv", "--method", "mdl", "--log", "in.csv"], "--log in.csv: is DATA itself"),
        (["compare", "in.csv", "--target", "y", "--cv", "2", "--out", "in.csv"], "--out in.csv: is DATA itself"),
        (["prune", "m.tw", "--method", "mdl", "--out", "n.tw", "--log", "here/n.tw"], "--out and --log name the same"),
    ],
)
def test_an_output_that_is_an_input_is_refused_also_with_force(command, folder, words, told):
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}

    done = command(*words, "--force", folder=folder)

    assert done.returncode == 2
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_the_table_on_standard_input_is_not_written_over(surroundings, folder):
    with (folder / "in.csv").open() as given:
        done = subprocess.run(
            [sys.executable, "-m", "treewright", "predict", "m.tw", "-", "--out", "in.csv", "--force"],
            stdin=given, cwd=folder, capture_output=True, text=True, check=False, env=surroundings,
        )  # fmt: skip

    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert (folder / "in.csv").read_text() == TABLE


@pytest.mark.parametrize("words", [["predict", "-", "-"], ["evaluate", "-", "-"], ["prune", "-", "-", "--method", "x"]])
def test_standard_input_for_two_files_is_refused_whatever_stands_on_it(command, words):
    done = command(*words)

    assert done.returncode == 2
    assert (
        done.stderr == "treewright: error: -: standard input is named twice: name a file for the model or the table\n"
    )


@pytest.mark.parametrize("words", [["fit", "in.csv", "--target", "y", "--out", ""], ["show", ""]])
def test_an_empty_name_of_a_file_is_called_empty(command, folder, words):
    done = command(*words, folder=folder)

    assert done.returncode == 2
    assert "the name of the file is empty" in done.stderr
