"""``treewright explain``: one row in words, averages, a line for each row in a file, and what is refused."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import treewright as tw


@pytest.fixture(scope="module")
def model(tmp_path_factory, penguins):
    path = tmp_path_factory.mktemp("models") / "forest.tw"
    table = pl.read_csv(penguins)
    tw.RandomForestClassifier(5, random_state=0).fit(table.drop("species"), table["species"]).save(path)
    return path


def test_one_row_is_told_in_words(command, model, penguins):
    done = command("explain", model, penguins, "--row", 200)

    assert done.returncode == 0, done.stderr
    head, adelie, *_ = done.stdout.split("\n\n")
    assert head == (
        "predicts Gentoo: its probability 1 is the largest\n"
        "contributions to class probabilities; unknown columns are averaged over the training rows"
    )
    assert adelie.startswith("Adelie: ")
    assert "flipper_length_mm = 213" in adelie


def test_without_a_row_sizes_are_means(command, model, penguins):
    said = command("explain", model, penguins).stdout
    assert "Gentoo: mean size over 344 rows, base 0.3" in said
    assert "flipper_length_mm" in said


def test_the_file_has_a_line_for_each_row_and_class_that_adds_up(command, model, penguins, tmp_path):
    done = command("explain", model, penguins, "--out", tmp_path / "e.csv")
    assert done.returncode == 0, done.stderr
    found = pl.read_csv(tmp_path / "e.csv")
    table = pl.read_csv(penguins).drop("species")
    assert found.height == 3 * 344
    assert found.columns[:4] == ["row", "output", "total", "base"]
    assert not [cell for row in found.rows() for cell in row if str(cell) == "-0.0"]
    total = found["base"].to_numpy() + found.select(pl.col("^.*contribution.*$")).to_numpy().sum(axis=1)
    np.testing.assert_allclose(total, found["total"], atol=1e-12)
    np.testing.assert_allclose(found["total"], tw.load(model).predict_proba(table).ravel(), atol=1e-12)
    assert command("explain", model, penguins, "--out", tmp_path / "e.csv").returncode == 1  # no --force


def test_parquet_holds_the_same_and_formulas_are_made_safe(command, model, penguins, tmp_path):
    for name in ("e.csv", "e.parquet"):
        assert command("explain", model, penguins, "--out", tmp_path / name).returncode == 0
    assert pl.read_parquet(tmp_path / "e.parquet").equals(pl.read_csv(tmp_path / "e.csv"))
    odd = pl.DataFrame({"=run()": [1.0, 2.0, 3.0, 4.0], "y": ["=a", "b", "=a", "b"]})
    odd.write_csv(tmp_path / "odd.csv")
    tw.DecisionTreeClassifier().fit(odd.select("=run()"), odd["y"]).save(tmp_path / "odd.tw")
    for more, safe in ((), "'"), (("--no-guard",), ""):
        command("explain", tmp_path / "odd.tw", tmp_path / "odd.csv", "--out", tmp_path / "o.csv", "--force", *more)
        found = pl.read_csv(tmp_path / "o.csv")
        assert found["output"].to_list()[:2] == [f"{safe}=a", "b"]
        assert found.columns[-1] == f"{safe}=run() (contribution)"


def test_pairs_and_a_background(command, model, penguins, tmp_path):
    usual = ["--kind", "interventional", "--background", penguins]
    said = command("explain", model, penguins, "--row", 0, "--order", 2, *usual).stdout
    assert "background rows" in said
    assert " with " in said
    command("explain", model, penguins, "--row", 7, "--order", 2, "--out", tmp_path / "p.csv")
    pairs = pl.read_csv(tmp_path / "p.csv")
    assert pairs["row"].to_list() == [7, 7, 7]
    terms = pairs.drop("row", "output", "total", "base").to_numpy().sum(axis=1)
    np.testing.assert_allclose(pairs["base"].to_numpy() + terms, pairs["total"], atol=1e-12)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--row", "344"], "--row 344: the table has 344 rows, counted from 0"),
        (["--kind", "steps", "--order", "2"], "--kind steps has no pairs"),
        (["--kind", "interventional"], "needs --background FILE"),
        (["--background", "penguins.csv"], "leave it out"),
        (["--order", "3"], "--order"),
    ],
)
def test_what_cannot_be_told_is_refused(command, model, penguins, words, said):
    words = [penguins if word == "penguins.csv" else word for word in words]
    done = command("explain", model, penguins, *words)
    assert done.returncode == 2
    assert said in done.stderr.replace("\n", " ")


def test_neighbours_and_isolation_are_refused(command, penguins, tmp_path):
    table = pl.read_csv(penguins).drop("species").drop_nulls()
    tw.IsolationForest(n_estimators=5).fit(table).save(tmp_path / "i.tw")
    done = command("explain", tmp_path / "i.tw", penguins)
    assert done.returncode == 2
    assert "isolation forest" in done.stderr


def test_names_that_meet_are_numbered_and_a_row_too_far_leaves_no_file(command, tmp_path):
    table = pl.DataFrame({name: [1.0, 2.0, 4.0, 3.0] for name in ("a", "b", "a with b", "c", "b with c")})
    table = table.with_columns(y=pl.Series([1.0, 5.0, 2.0, 2.5]))
    table.write_csv(tmp_path / "t.csv")
    tw.DecisionTreeRegressor().fit(table.drop("y"), table["y"]).save(tmp_path / "t.tw")
    done = command("explain", tmp_path / "t.tw", tmp_path / "t.csv", "--order", 2, "--out", tmp_path / "o.csv")
    assert done.returncode == 0, done.stderr
    assert "a with b with c (2)" in pl.read_csv(tmp_path / "o.csv").columns
    done = command("explain", tmp_path / "t.tw", tmp_path / "t.csv", "--row", 9, "--out", tmp_path / "p.csv")
    assert done.returncode == 2
    assert not (tmp_path / "p.csv").exists()


def test_what_is_wrong_with_the_background_names_it(command, model, penguins, tmp_path):
    empty = tmp_path / "empty.csv"
    pl.read_csv(penguins).head(0).write_csv(empty)
    done = command("explain", model, penguins, "--kind", "interventional", "--background", empty)
    assert done.returncode != 0
    assert "empty.csv" in done.stderr
    assert "penguins.csv" not in done.stderr


def test_a_page_has_the_rows_and_replaces_nothing_unasked(command, model, penguins, tmp_path):
    page = tmp_path / "why.html"
    done = command("explain", model, penguins, "--order", 2, "--out", page)
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert "Contributions to the share of Adelie, Chinstrap, Gentoo" in text
    assert "Interactions of columns" in text
    again = command("explain", model, penguins, "--row", 3, "--out", page)
    assert again.returncode == 1
    assert page.read_text() == text
    assert command("explain", model, penguins, "--row", 3, "--out", page, "--force").returncode == 0


def test_a_row_keeps_its_number_and_an_ending_says_what_is_written(command, model, penguins, tmp_path):
    page = tmp_path / "row.html"
    assert command("explain", model, penguins, "--row", 57, "--out", page).returncode == 0
    assert '"number":57' in page.read_text()
    done = command("explain", model, penguins, "--out", tmp_path / "x.xlsx")
    assert done.returncode == 2
    assert ".csv, .parquet, .html" in " ".join(done.stderr.split())
