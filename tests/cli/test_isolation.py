"""``fit --algorithm isolation``: what it says of the outliers, and what it refuses."""

from __future__ import annotations

import pytest

ODD = ["--algorithm", "isolation", "--set", "n_estimators=20"]


@pytest.fixture
def names(tmp_path):
    """A table of names alone, of which most rows score above 0.5."""
    rows = [f"{'abcd'[at % 4]},{'xyz'[at * at % 7 % 3]},{'pq'[at // 3 % 2]}" for at in range(200)]
    path = tmp_path / "names.csv"
    path.write_text("\n".join(["town,size,plan", *rows]) + "\n")
    return path


def test_most_rows_as_outliers_are_warned_of_with_a_remedy_that_helps(command, names, tmp_path):
    done = command("fit", names, *ODD, folder=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "warning: contamination='auto' makes" in done.stderr
    assert "of the training rows outliers" in done.stderr
    assert "outliers (score above 0.500)" in done.stdout

    helped = command("fit", names, *ODD, "--set", "contamination=0.05", folder=tmp_path)
    assert helped.returncode == 0, helped.stderr
    assert "warning" not in helped.stderr


def test_more_columns_than_there_are_are_refused(command, names, tmp_path):
    done = command("fit", names, *ODD, "--set", "max_features=9", folder=tmp_path)

    assert done.returncode == 2
    assert "max_features=9, but X has 3 columns: give at most 3" in done.stderr
    assert done.stdout == ""


def test_fit_and_show_say_that_it_is_an_isolation_forest(command, penguins, tmp_path):
    fitted = command("fit", penguins, *ODD, "--drop", "species", "--out", "odd.tw", folder=tmp_path)
    shown = command("show", "odd.tw", folder=tmp_path)

    assert fitted.returncode == shown.returncode == 0, fitted.stderr + shown.stderr
    for text in (fitted.stdout, shown.stdout):
        head = "Isolation forest of 20 trees\n"
        assert head + "the score of a row is computed from the mean of its path lengths\n" in text
        assert "Regression" not in text
