"""``treewright audit`` and ``treewright follow``: what they say is what ``show`` said under the old words."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def model(fitted):
    return fitted[0] / "penguins.tw"


def test_an_audit_is_that_of_the_old_words(command, model, penguins):
    old = command("show", model, "--audit", "--data", penguins, "--node", 2, "--every", "island")
    new = command("audit", model, penguins, "--node", 2, "--every", "island")

    assert new.returncode == 0, new.stderr
    assert new.stdout.startswith("Node 2, ")
    assert new.stdout == old.stdout


def test_a_row_is_followed_as_by_the_old_words(command, model, penguins):
    old = command("show", model, "--row", 200, "--data", penguins, "--to", "Chinstrap")
    new = command("follow", model, penguins, "--row", 200, "--to", "Chinstrap")

    assert (new.returncode, new.stderr) == (0, "")
    assert new.stdout.startswith(f"row 200 of {penguins} (line 202)\n")
    assert new.stdout == old.stdout


@pytest.mark.parametrize(("words", "verb"), [(["--audit"], "audit"), (["--row", "3"], "follow")])
def test_the_old_words_name_the_new_ones_in_one_line(command, model, penguins, words, verb):
    done = command("show", model, *words, "--data", penguins)

    assert done.returncode == 0
    assert done.stderr.splitlines()[-1].startswith(
        f"treewright: show {words[0]} has become a command of its own: treewright {verb} {model} {penguins}"
    )
    assert done.stderr.count(f"treewright {verb} ") == 1


def test_new_words_give_no_hint(command, model, penguins):
    assert "a command of its own" not in command("audit", model, penguins).stderr
    assert "a command of its own" not in command("follow", model, penguins, "--row", 0).stderr


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
