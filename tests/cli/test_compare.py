"""``treewright compare``: the table it prints and what it refuses."""

from __future__ import annotations

import csv
import io
import re

import pytest


@pytest.fixture(scope="module")
def compared(command, penguins, tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared")
    said = command(
        "compare", penguins, "--target", "species", "--candidate", "cart,cart+ccp-1se", "--candidate", "c45", "--cv", 5,
        "--set", "max_depth=4", "--out", "table.csv", folder=folder,
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
    return folder, said


def test_compare_prints_a_row_for_every_candidate(compared):
    _, said = compared

    for name in ("cart", "cart+ccp-1se", "c45"):
        assert re.search(rf"^\W*{re.escape(name)} .*0\.9\d", said.stdout, re.MULTILINE), said.stdout


def test_the_table_fits_80_columns(compared):
    _, said = compared

    assert max(map(len, said.stdout.splitlines())) <= 80


def test_the_table_is_written_as_csv(compared):
    folder, _ = compared

    rows = list(csv.DictReader(io.StringIO((folder / "table.csv").read_text())))

    assert [next(iter(row.values())) for row in rows] == ["cart", "cart+ccp-1se", "c45"]


def test_the_same_command_gives_the_same_table(command, penguins, compared, tmp_path):
    _, said = compared

    again = command(
        "compare", penguins, "--target", "species", "--candidate", "cart,cart+ccp-1se,c45", "--cv", 5,
        "--set", "max_depth=4", "--jobs", 1, folder=tmp_path,
    )  # fmt: skip

    assert again.stdout in said.stdout


def test_numbers_are_compared_by_r2(command, penguins, tmp_path):
    said = command("compare", penguins, "--target", "body_mass_g", "--skip-missing-target", "--cv", 3, "--candidate",
                   "cart,cart+ccp-min,chaid", "--task", "regression", folder=tmp_path)  # fmt: skip

    assert said.returncode == 0, said.stderr
    assert "cart+ccp-min" in said.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--candidate", "oak"], "choose one of cart, id3, c45, chaid"),
        (["--candidate", "cart+nothing"], "no such pruner"),
        (["--candidate", "cart", "--cv", "1"], "give 2 folds"),
        (["--candidate", "cart", "--set", "max_depht=3"], "did you mean max_depth?"),
        (["--candidate", "cart", "--scoring", "beauty"], "beauty"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(command, penguins, tmp_path, words, told):
    said = command("compare", penguins, "--target", "species", *words, folder=tmp_path)

    assert said.returncode in (1, 2)
    assert told in said.stderr
    assert len(said.stderr.strip().splitlines()) == 1
