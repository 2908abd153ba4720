"""``treewright audit`` and ``treewright follow``: how a split is chosen, and the path of a row."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def model(fitted):
    return fitted[0] / "penguins.tw"


def test_an_audit_is_of_one_node(command, model, penguins):
    done = command("audit", model, penguins, "--node", 2, "--every", "island")

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Node 2, ")


@pytest.mark.parametrize("words", [["--audit"], ["--row", "3"]])
def test_show_neither_audits_nor_follows(command, model, words):
    done = command("show", model, *words)

    assert (done.returncode, done.stdout) == (2, "")
    assert f"No such option: {words[0]}" in done.stderr


@pytest.mark.parametrize("words", [["audit"], ["follow"]])
def test_rows_are_needed(command, model, words):
    assert command(*words, model).returncode == 2


def test_follow_needs_a_row(command, model, penguins):
    done = command("follow", model, penguins)

    assert done.returncode == 2
    assert "--row" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--row", "-1"], "--row -1: rows are counted from 0"),
        (["--row", "344"], "has 344 rows, counted from 0"),
        (["--row", "0", "--to", "Gento"], "--to Gento: not a class of the model: did you mean 'Gentoo'?"),
        (["--row", "0", "--to", "\x1b"], r"--to \x1b: not a class of the model"),
        (["--row", "0", "--width", "39"], "--width 39: give 40 or more"),
        (["--row", "0", "--tree", "1"], "--tree"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(command, model, penguins, words, said):
    done = command("follow", model, penguins, *words)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_many_trees_are_followed_one_by_one_and_never_audited(command, penguins, tmp_path):
    command("fit", penguins, "--target", "species", "--algorithm", "forest", "--set", "n_estimators=3",
            "--out", "m.tw", folder=tmp_path)  # fmt: skip
    without = command("follow", "m.tw", penguins, "--row", 0, folder=tmp_path)
    audit = command("audit", "m.tw", penguins, folder=tmp_path)

    assert command("follow", "m.tw", penguins, "--row", 0, "--tree", 2, folder=tmp_path).returncode == 0
    assert (without.returncode, without.stderr.count("\n")) == (2, 1)
    assert "follow is for one tree" in without.stderr
    assert "choose one with --tree N" in without.stderr
    assert (audit.returncode, audit.stderr.count("\n")) == (2, 1)
    assert "audit compares every candidate of a node" in audit.stderr
    assert "the trees of m.tw have sampled rows and columns" in audit.stderr
    assert "treewright show m.tw --tree N shows one" in audit.stderr


def test_neighbours_are_neither_audited_nor_followed(command, penguins, tmp_path):
    command("fit", penguins, "--target", "species", "--algorithm", "knn", "--out", "m.tw", folder=tmp_path)
    for words in (["audit", "m.tw", penguins], ["follow", "m.tw", penguins, "--row", 0]):
        done = command(*words, folder=tmp_path)

        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert f"{words[0]}: for trees only" in done.stderr


def test_both_write_files_and_replace_none_unasked(command, model, penguins, tmp_path):
    for words in (["audit", model, penguins], ["follow", model, penguins, "--row", 1]):
        to_file = [*words, "--out", "out.txt"]

        assert command(*to_file, folder=tmp_path).stdout == ""
        assert (tmp_path / "out.txt").read_text(encoding="utf-8") == command(*words).stdout
        assert command(*to_file, folder=tmp_path).returncode == 1
        assert command(*to_file, "--force", folder=tmp_path).returncode == 0
        (tmp_path / "out.txt").unlink()
