"""Options of ``treewright show``: what each does, and that none is passed over in silence."""

from __future__ import annotations

import subprocess
import sys

import pytest

import treewright as tw
from treewright.cli import app as command_line
from treewright.cli import signature


@pytest.fixture
def surrogate_model(tmp_path):
    """A tree whose root, on ``x``, has ``z`` as its surrogate."""
    x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    est = tw.DecisionTreeClassifier(missing="surrogate").fit(
        {"x": x, "z": [9.0, 8.0, 7.0, 3.0, 2.0, 1.0]}, list("aaabbb")
    )
    est.save(tmp_path / "m.tw")
    return est, tmp_path / "m.tw"


def test_surrogates_are_listed_on_request(command, surrogate_model):
    est, path = surrogate_model

    shown = command("show", path).stdout
    assert shown == est.show().replace("surrogates=True lists", "--surrogates lists") + "\n"
    assert "--surrogates lists the surrogate tests" in shown
    assert command("show", path, "--surrogates").stdout == est.show(surrogates=True) + "\n"
    assert est.show(surrogates=True) != est.show()


def test_the_number_of_nodes_shown_is_a_choice_and_0_is_all(command, tmp_path):
    numbers = [float(number) for number in range(256)]
    est = tw.DecisionTreeRegressor().fit({"x": numbers}, [number * number for number in numbers])
    est.save(tmp_path / "m.tw")

    assert "hidden" in command("show", tmp_path / "m.tw").stdout
    assert command("show", tmp_path / "m.tw", "--max-nodes", 0).stdout == est.show(max_nodes=None) + "\n"
    three = command("show", tmp_path / "m.tw", "--max-nodes", 3).stdout
    drawing, _, note = est.show(max_nodes=3).rpartition("hidden: ")
    assert note == "give a larger max_depth or max_nodes (None shows all)"
    assert three == f"{drawing}hidden: give a larger --max-depth, or --max-nodes 0 for all\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--format", "rules", "--surrogates"], "--surrogates: only with --format text, not rules"),
        (["--format", "svg", "--max-nodes", 3], "--max-nodes: only with --format text, not svg"),
        (["--max-nodes", -1], "give 1 or more, or 0 for all"),
    ],
)
def test_an_option_without_effect_is_refused_in_one_line(command, surrogate_model, words, said):
    done = command("show", surrogate_model[1], *words)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_id3_names_its_remedies_as_options(command, penguins):
    done = command("fit", penguins, "--target", "species", "--algorithm", "id3")

    assert done.returncode == 1
    assert "--nominal 'bill_length_mm' to make each number a level" in done.stderr
    assert "--algorithm c45, which cuts numbers" in done.stderr
    assert "C45Classifier" not in done.stderr


def test_ctrl_c_within_exec_is_exit_code_130_as_well(tmp_path, surroundings):
    (tmp_path / "stopped.py").write_text(
        "import treewright\nfrom treewright.cli.app import main\n\n\n"
        "def load(path):\n    exec('raise KeyboardInterrupt')\n\n\n"
        "treewright.load = load\nmain()\n"
    )
    done = subprocess.run([sys.executable, "-m", "stopped", "show", "m.tw"], cwd=tmp_path, env=surroundings,
                          capture_output=True, text=True, check=False)  # fmt: skip

    assert (done.returncode, done.stderr) == (130, "treewright: stopped by Ctrl-C; nothing was written\n")


@pytest.mark.parametrize(("module", "where"), [(command_line, "app"), (signature, "refusals")])
def test_ctrl_c_before_the_work_begins_is_told_as_well(monkeypatch, capsys, module, where):
    def interrupted(*_words):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, where, interrupted)
    monkeypatch.setattr("sys.argv", ["treewright", "predict", "m.tw", "rows.csv"])

    with pytest.raises(SystemExit) as leaving:
        command_line.main()

    assert leaving.value.code == 130
    assert capsys.readouterr().err.strip() == "treewright: stopped by Ctrl-C; nothing was written"


@pytest.mark.parametrize(
    ("name", "begins"), [("t.svg", b"<svg"), ("T.PNG", b"\x89PNG"), ("t.pdf", b"%PDF"), ("t.dot", b"digraph"),
                         ("t.json", b"{"), ("t.txt", b"Classification tree")],
)  # fmt: skip
def test_the_ending_of_the_file_decides_the_format_and_the_file_is_named(
    command, surrogate_model, tmp_path, name, begins
):
    done = command("show", surrogate_model[1], "--out", tmp_path / name)

    assert done.returncode == 0, done.stderr
    assert begins in (tmp_path / name).read_bytes()[:200]
    assert f"wrote {tmp_path / name}" in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--format", "text"], "--format text writes no png"),
        (["--format", "svg"], "--format svg writes no png"),
        (["--importances"], "not with --importances"),
        (["--surrogates"], "only with --format text"),
    ],
)
def test_no_text_is_written_into_a_file_of_a_picture(command, surrogate_model, tmp_path, words, told):
    done = command("show", surrogate_model[1], *words, "--out", tmp_path / "t.png")

    assert (done.returncode, (tmp_path / "t.png").exists()) == (2, False)
    assert told in done.stderr


@pytest.mark.parametrize(("name", "words"), [("follow", ["--row", 0]), ("audit", [])])
def test_follow_and_audit_write_no_text_into_a_picture(command, surrogate_model, tmp_path, name, words):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    done = command(name, surrogate_model[1], tmp_path / "x.csv", *words, "--out", tmp_path / "t.svg")

    assert (done.returncode, (tmp_path / "t.svg").exists()) == (2, False)
    assert f"{name} writes text, no picture: name a file such as t.txt" in done.stderr


@pytest.mark.parametrize(("word", "command_now"), [("--audit", "treewright audit"), ("--row", "treewright follow")])
def test_what_was_an_option_of_show_names_its_command(command, word, command_now):
    done = command("show", "m.tw", word, "rows.csv")

    assert done.returncode == 2
    said = " ".join(done.stderr.replace("\u2502", " ").split())
    assert f"No such option: {word}; it is a command now: {command_now} MODEL DATA" in said
