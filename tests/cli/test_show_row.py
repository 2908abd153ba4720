"""``treewright follow``: the path of a row, its leaf, and what would have to change."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from terminals import plain, run_on_screen

import treewright as tw
from treewright.trees.arrays import path_to
from treewright.trees.writing import cell_width


@pytest.fixture(scope="module")
def model(fitted):
    return fitted[0] / "penguins.tw"


@pytest.fixture(scope="module")
def table(penguins):
    return pl.read_csv(penguins).drop("species")


def test_a_row_is_followed_in_words(command, model, penguins):
    done = command("follow", model, penguins, "--row", 200)

    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        f"row 200 of {penguins} (line 202)\n"
        "\n"
        "2  flipper_length_mm > 206  is 213\n"
        "5  island = Biscoe          is Biscoe\n"
        "\n"
        "leaf 5 predicts Gentoo: 93 rows (36 %); Gentoo 93; proportion 1.000, 95 % interval 0.960 to 1.000\n"
        "\n"
        "another class: 1 column has to change (leaf 10, predicts Adelie)\n"
        "  flipper_length_mm: 213 -> at most 206\n"
    )


def test_way_leaf_and_change_are_those_of_the_model(command, model, penguins, table):
    loaded = tw.load(model)
    for row in range(0, 344, 43):
        said = command("follow", model, penguins, "--row", row).stdout
        leaf = int(loaded.apply(table[row])[0])
        way = [int(line.split()[0]) for line in said.split("\n\n")[1].splitlines()]
        above = [node for node, _ in path_to(loaded.trees[0], leaf)]

        assert way == [*above[1:], leaf]
        assert f"leaf {leaf} predicts {loaded.predict(table[row])[0]}: " in said
        assert str(loaded.counterfactual(table[row])).split("\n", 1)[1] in said


def test_the_class_that_is_wanted_is_named(command, model, penguins, table):
    said = command("follow", model, penguins, "--row", 0, "--to", "Gentoo").stdout

    assert said.endswith(str(tw.load(model).counterfactual(table[0], "Gentoo")).split("\n", 1)[1] + "\n")


def test_classes_that_are_numbers_are_named_as_they_are_written(command, tmp_path):
    est = tw.DecisionTreeClassifier().fit({"x": [1.0, 2.0, 3.0]}, np.array([10, 20, 20]))
    est.save(tmp_path / "m.tw")
    pl.DataFrame({"x": [1.0, 5.0]}).write_parquet(tmp_path / "t.parquet")

    done = command("follow", "m.tw", "t.parquet", "--row", 0, "--to", "20", folder=tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("row 0 of t.parquet\n")  # Parquet has no lines
    assert "x: 1 -> more than 1.5" in done.stdout


def test_numbers_are_wanted_from_or_up_to(command, penguins, tmp_path):
    command("fit", penguins, "--target", "body_mass_g", "--skip-missing-target", "--set", "max_depth=3",
            "--out", "m.tw", folder=tmp_path)  # fmt: skip
    words = ("follow", "m.tw", penguins, "--row", 4)
    plain_way = command(*words, folder=tmp_path).stdout
    more = command(*words, "--to", ">= 5000", folder=tmp_path).stdout
    wrong = command(*words, "--to", "5000", folder=tmp_path)

    assert "has to change" not in plain_way
    assert more.startswith(plain_way.rstrip("\n"))
    assert "at least 5000: " in more
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)
    assert "write --to '>=5' or --to '<=5'" in wrong.stderr


def test_a_row_divided_among_leaves_says_so(command, penguins, tmp_path):
    command("fit", penguins, "--target", "species", "--algorithm", "c45", "--out", "m.tw", folder=tmp_path)
    said = command("follow", "m.tw", penguins, "--row", 3, folder=tmp_path).stdout

    assert "this is the path of its largest part; all together predict Adelie" in said
    assert "largest part" not in command("follow", "m.tw", penguins, "--row", 0, folder=tmp_path).stdout


def test_surrogates_are_named_where_they_decide(command, tmp_path):
    x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    est = tw.DecisionTreeClassifier(missing="surrogate").fit({"x": x, "z": x[::-1]}, list("aaabbb"))
    est.save(tmp_path / "m.tw")
    (tmp_path / "t.csv").write_text("x,z\n,1\n")

    assert "is missing, by surrogates" in command("follow", "m.tw", "t.csv", "--row", 0, folder=tmp_path).stdout


def test_one_of_many_trees_is_followed_and_none_by_itself(command, penguins, tmp_path):
    command("fit", penguins, "--target", "species", "--algorithm", "forest", "--set", "n_estimators=3",
            "--out", "m.tw", folder=tmp_path)  # fmt: skip
    words = ("follow", "m.tw", penguins, "--row", 0)

    assert command(*words, "--tree", 2, folder=tmp_path).returncode == 0
    done = command(*words, folder=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "choose one with --tree N" in done.stderr


def test_on_a_terminal_lines_fit_the_window(model, penguins):
    said = run_on_screen("follow", model, penguins, "--row", 3, columns=50)

    assert "\x1b[" in said
    assert max(map(cell_width, plain(said).splitlines())) <= 50


def test_a_tree_that_asks_nothing_is_no_trouble(command, tmp_path):
    with pytest.warns(tw.exceptions.DataWarning):
        est = tw.DecisionTreeClassifier().fit({"x": [1.0, 1.0]}, ["a", "b"])
    est.save(tmp_path / "m.tw")
    (tmp_path / "t.csv").write_text("x\n1\n")
    said = command("follow", "m.tw", "t.csv", "--row", 0, folder=tmp_path).stdout

    assert "the tree has no tests" in said
    assert re.search("leaf 0 predicts a: 2 rows", said)


def test_hostile_cells_stay_in_their_lines(command, tmp_path):
    names = ["two\nlines", "\x1b[31mred", "x" * 10_000, "\u202eturned"]
    tw.DecisionTreeClassifier().fit({"n\n\x1b": names}, ["a\n", "b", "c\u202e", "d"]).save(tmp_path / "m.tw")
    pl.DataFrame({"n\n\x1b": names}).write_parquet(tmp_path / "t.parquet")
    for row in range(4):
        done = command("follow", "m.tw", "t.parquet", "--row", row, "--width", 80, folder=tmp_path)

        assert done.returncode == 0, done.stderr
        assert not set(done.stdout) & set("\x1b\u202e\r")
        assert max(map(cell_width, done.stdout.splitlines())) <= 80


# ------------------------------------------------------------------------------------------------------------ pictures


@pytest.mark.parametrize(("form", "begin"), [("png", b"\x89PNG\r\n"), ("pdf", b"%PDF-")])
def test_pictures_without_text_are_written_to_files(command, model, tmp_path, form, begin):
    pytest.importorskip({"png": "resvg_py", "pdf": "matplotlib"}[form])
    done = command("show", model, "--format", form, "--max-depth", 1, "--out", f"t.{form}", folder=tmp_path)
    again = command("show", model, "--format", form, "--out", f"t.{form}", folder=tmp_path)

    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert (tmp_path / f"t.{form}").read_bytes().startswith(begin)
    assert (again.returncode, again.stderr.count("\n")) == (1, 1)


def test_a_picture_without_text_never_lands_on_a_terminal(model, capsys):
    assert run_on_screen("show", model, "--format", "png", code=2) == ""
    assert "--format png is not text: name a file with --out tree.png" in capsys.readouterr().err
