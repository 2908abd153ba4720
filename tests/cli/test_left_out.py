"""Columns that only tell rows apart: named in one line at fit, and asked of no file afterwards."""

from __future__ import annotations

import pytest

import treewright as tw

HEAD = ",player,years,salary\n"
ROWS = [(number, f"player {number}", number * 7 % 10, 100 + 30 * (number * 7 % 10)) for number in range(80)]
LINE = (
    "treewright: warning: columns '' (counts the rows), 'player' (60 different texts in 60 rows) are left out: such "
    "values identify rows and carry no information about new ones; to keep them, declare them nominal or numeric"
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "players.csv").write_text(HEAD + "".join(",".join(map(str, row)) + "\n" for row in ROWS))
    (tmp_path / "bare.csv").write_text("years,salary\n" + "".join(f"{row[2]},{row[3]}\n" for row in ROWS))
    return tmp_path


def test_one_line_names_them_and_the_model_does_without(command, folder):
    done = command("fit", "players.csv", "--target", "salary", "--task", "regression", "--out", "m.tw", folder=folder)

    assert done.stderr.splitlines() == [LINE]
    assert "1 column (1 numeric; 2 left out)" in done.stdout
    assert "held-out R2 1.000" in done.stdout
    for file in ("players.csv", "bare.csv"):
        judged = command("evaluate", "m.tw", file, folder=folder)
        assert "R2 1.000" in judged.stdout
        assert not judged.stderr
    answers = [command("predict", "m.tw", file, folder=folder).stdout for file in ("players.csv", "bare.csv")]
    assert answers[0] == answers[1]


def test_folds_name_them_once(command, folder):
    done = command(
        "fit", "players.csv", "--target", "salary", "--task", "regression", "--cv", "4", "--out", "m.tw", folder=folder
    )

    assert done.stderr.splitlines() == [f"{LINE} (in 4 of 4 folds)", LINE.replace("60", "80")]


def test_a_declaration_keeps_them(command, folder):
    words = ("--nominal", "player", "--numeric", "", "--out", "m.tw")
    done = command("fit", "players.csv", "--target", "salary", "--task", "regression", *words, folder=folder)

    # Of a name in every row the held-out rows have only names that the fit never saw.
    assert [line.split(": 'player'")[0] for line in done.stderr.splitlines()] == [
        "treewright: warning: most cells of 1 column(s) hold levels that fit never saw"
    ]
    assert [column.left_out for column in tw.load(folder / "m.tw").schema.columns] == ["", "", ""]


def test_a_score_below_that_of_one_answer_is_said_with_reason_and_remedy(command, folder):
    rows = "".join(f"{row[2]},{row[0] * 7919 % 101}\n" for row in ROWS)
    (folder / "noise.csv").write_text("years,salary\n" + rows)
    fitted = command("fit", "noise.csv", "--target", "salary", "--out", "m.tw", folder=folder)
    folds = command("fit", "noise.csv", "--target", "salary", "--cv", "4", folder=folder)
    judged = command("evaluate", "m.tw", "players.csv", folder=folder)
    compared = command("compare", "noise.csv", "--target", "salary", "--candidate", "cart", folder=folder)

    for done in (fitted, folds, judged):
        told = " ".join(done.stdout.split())
        assert "WARNING: worse than a constant prediction: R2 -" in told
        assert "likely because the columns carry no information about the target" in told
    assert "WARNING: no better than a constant prediction" in compared.stdout
    good = command("fit", "players.csv", "--target", "salary", folder=folder)
    assert "WARNING" not in good.stdout
