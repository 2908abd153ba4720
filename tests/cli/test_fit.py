"""``treewright fit``: what it shows, scores, saves and refuses."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest
from sklearn.model_selection import KFold, train_test_split

import treewright


def test_fit_shows_the_tree_its_score_and_where_it_went(fitted):
    folder, said = fitted

    assert "344 rows, 6 columns (4 numeric, 2 nominal), 19 cells missing" in said.stdout
    assert "3 classes (Adelie 44.2 %, Gentoo 36.0 %, Chinstrap 19.8 %)" in said.stdout
    assert "fitted on 258 rows; 86 are held out (stratified, seed 0" in said.stdout
    assert "flipper_length_mm" in said.stdout
    assert re.search(r"held-out accuracy 0\.9\d\d \(\d\d of 86 correct; 95 % interval 0\.\d+ to 0\.\d+\)", said.stdout)
    assert "always predicting 'Adelie': 0.442" in said.stdout
    assert "wrote penguins.tw (model)" in said.stdout
    assert sorted(path.name for path in folder.iterdir()) == ["penguins.svg", "penguins.tw"]
    assert (folder / "penguins.svg").read_text().lstrip().startswith("<svg")


def test_the_tree_shown_is_the_tree_saved(fitted):
    folder, said = fitted

    assert treewright.load(folder / "penguins.tw").show().rstrip("\n") in said.stdout


def test_the_score_is_that_of_the_saved_model_on_rows_it_did_not_see(fitted, penguins):
    folder, said = fitted
    model = treewright.load(folder / "penguins.tw")
    right, n = map(int, re.search(r"\((\d+) of (\d+) correct", said.stdout).groups())

    table = pl.read_csv(penguins)
    all_right = int((pl.Series(model.predict(table.drop("species"))) == table["species"]).sum())

    assert n == 86
    assert int(model.trees[0].n_samples[0]) == 258
    assert all_right - right <= 258  # what it gets right outside the held-out rows are rows it has seen


def test_the_same_command_gives_the_same_bytes(process, fitted, penguins, tmp_path):
    folder, said = fitted
    words = ["--set", "max_depth=3", "--out", "penguins.tw", "--svg", "penguins.svg", "--jobs", "1"]

    again = process("fit", penguins, "--target", "species", *words, folder=tmp_path)

    assert again.stdout == said.stdout
    for name in ("penguins.tw", "penguins.svg"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


def test_another_seed_holds_out_other_rows(command, fitted, penguins):
    other = command("fit", penguins, "--target", "species", "--set", "max_depth=3", "--seed", "1")

    assert "seed 1" in other.stdout
    assert other.stdout.split("held-out")[0] != fitted[1].stdout.split("held-out")[0]


def test_test_size_0_fits_on_every_row(command, penguins, tmp_path):
    done = command("fit", penguins, "--target", "species", "--test-size", "0", "--out", "m.tw", folder=tmp_path)

    assert "fitted on all 344 rows" in done.stdout
    assert "held-out" not in done.stdout
    assert int(treewright.load(tmp_path / "m.tw").trees[0].n_samples[0]) == 344


def test_cross_validation_scores_every_row_once(command, penguins):
    done = command("fit", penguins, "--target", "species", "--set", "max_depth=3", "--cv", "5")

    assert re.search(r"5-fold cross-validated accuracy 0\.9\d+ \(\d+ of 344 correct", done.stdout)
    assert "accuracy per fold: mean 0.9" in done.stdout
    assert "fitted on all 344 rows" in done.stdout


def test_numbers_are_learned_as_numbers(command, penguins):
    done = command("fit", penguins, "--target", "body_mass_g", "--skip-missing-target", "--set", "max_depth=4")

    assert done.returncode == 0, done.stderr
    assert "2 of 344 rows have no target and are left out" in done.stderr
    assert "regression, 2700 to 6300" in done.stdout
    r2 = float(re.search(r"held-out R2 (\S+),", done.stdout)[1])
    assert 0.6 < r2 < 1
    assert "always predicting the mean: mean absolute error" in done.stdout


def test_a_missing_target_is_refused_with_its_line(command, penguins):
    done = command("fit", penguins, "--target", "body_mass_g")

    assert done.returncode == 1
    assert "target 'body_mass_g' is missing in 2 of 344 rows (first: line 5)" in done.stderr
    assert "--skip-missing-target" in done.stderr


@pytest.mark.parametrize(
    ("cells", "task"),
    [
        (["yes", "no"] * 12, "classification"),
        (["true", "false"] * 12, "classification"),
        (["1", "2", "3"] * 8, "classification"),
        ([str(number) for number in range(24)], "regression"),
        (["0.5", "1.5"] * 12, "regression"),
    ],
    ids=["words", "booleans", "few whole numbers", "many whole numbers", "fractions"],
)
def test_the_target_decides_the_task(command, tmp_path, cells, task):
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{row},{cell}\n" for row, cell in enumerate(cells)))

    done = command("fit", tmp_path / "t.csv", "--target", "y")

    assert done.returncode == 0, done.stderr
    assert f"target y: {task}" in done.stdout
    assert ("--task regression treats them as numbers" in done.stdout) == (cells[:3] == ["1", "2", "3"])


def test_columns_are_what_the_user_says(command, tmp_path):
    rows = "".join(
        f"{zip_code},{size},{weight},{'ab'[size == 'L']}\n"
        for zip_code in (100, 200)
        for size in "SML"
        for weight in (1, 2)
    )
    (tmp_path / "t.csv").write_text("zip,size,w,y\n" + rows)

    words = [
        "--nominal",
        "zip",
        "--ordinal",
        "size=S,M,L",
        "--weight",
        "w",
        "--test-size",
        "0",
        "--out",
        tmp_path / "m.tw",
    ]
    done = command("fit", tmp_path / "t.csv", "--target", "y", *words)
    model = treewright.load(tmp_path / "m.tw")

    assert done.returncode == 0, done.stderr
    assert "2 columns (1 ordinal, 1 nominal)" in done.stdout
    assert [(column.name, column.kind, column.levels) for column in model.schema.columns] == [
        ("zip", "nominal", ("100", "200")),
        ("size", "ordinal", ("S", "M", "L")),
    ]
    assert model.target_names == ("y",)
    assert float(model.trees[0].weight[0]) == 18.0


def test_a_level_outside_the_declared_order_is_refused(command, penguins):
    done = command("fit", penguins, "--target", "species", "--ordinal", "sex=female,males")

    assert done.returncode == 1
    assert str(penguins) in done.stderr
    assert "'male'" in done.stderr
    assert done.stderr.count("treewright: error") == 1


# ------------------------------------------------------------------------------------------------------------ outputs


def test_an_output_that_exists_is_refused_before_the_work(command, penguins, tmp_path):
    (tmp_path / "m.tw").write_text("precious")

    done = command("fit", penguins, "--target", "species", "--out", "m.tw", folder=tmp_path)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "treewright: error: m.tw: already exists: name another file, or replace it with --force\n"
    assert (tmp_path / "m.tw").read_text() == "precious"


def test_force_overwrites(command, penguins, tmp_path):
    (tmp_path / "m.tw").write_text("old")

    done = command("fit", penguins, "--target", "species", "--out", "m.tw", "--force", folder=tmp_path)

    assert done.returncode == 0, done.stderr
    assert treewright.load(tmp_path / "m.tw").task == "classification"


@pytest.mark.parametrize("option", ["--out", "--svg"])
def test_an_output_that_cannot_be_is_refused_before_the_work(command, penguins, tmp_path, option):
    (tmp_path / "target.tw").write_text("precious")
    (tmp_path / "link.tw").symlink_to(tmp_path / "target.tw")
    (tmp_path / "folder").mkdir()

    for place, reason in [
        ("link.tw", "symbolic link"),
        ("folder", "is a directory"),
        ("absent/m.tw", "does not exist"),
    ]:
        done = command("fit", penguins, "--target", "species", option, place, "--force", folder=tmp_path)

        assert (done.returncode, done.stdout) == (1, "")
        assert reason in done.stderr
        assert done.stderr.count("\n") == 1
    assert (tmp_path / "target.tw").read_text() == "precious"


def test_names_that_begin_with_a_dash_work_after_two_dashes(command, penguins, tmp_path):
    (tmp_path / "-rows.csv").write_bytes(penguins.read_bytes())

    done = command("fit", "--target", "species", "--out=-m.tw", "--", "-rows.csv", folder=tmp_path)
    shown = command("show", "--", "-m.tw", folder=tmp_path)

    assert done.returncode == 0, done.stderr
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.rstrip() in done.stdout


def test_a_name_with_control_characters_cannot_steer_the_terminal(command, tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n" + '1,"\x1b[31mred"\n2,b\n' * 8)

    done = command("fit", tmp_path / "t.csv", "--target", "y")

    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert "x1b" in done.stdout


def test_ctrl_c_is_one_line_exit_code_130_and_no_files(tmp_path, surroundings):
    rows = "".join(f"{row},{(row * 7919) % 1009},{(row * row) % 97}\n" for row in range(400_000))
    (tmp_path / "t.csv").write_text("a,b,y\n" + rows)
    words = ["fit", "t.csv", "--target", "y", "--task", "regression", "--cv", "50", "--out", "m.tw"]
    process = subprocess.Popen(
        [sys.executable, "-m", "treewright", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=surroundings,
    )
    time.sleep(4)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=250)

    assert process.returncode == 130
    assert out == ""
    assert err.splitlines()[-1] == "treewright: stopped by Ctrl-C; nothing was written"
    assert "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.parametrize("folds", [5, 100])
def test_the_folds_are_those_of_cross_validate_and_without_heed_of_classes_where_one_is_rare(
    command, penguins, tmp_path, folds
):
    rows = pl.read_csv(penguins).drop_nulls()
    rows.write_csv(tmp_path / "t.csv")
    cv = folds if folds == 5 else KFold(folds, shuffle=True, random_state=3)

    words = ["--target", "species", "--cv", folds, "--seed", 3, "--prune", "none"]
    said = command("fit", "t.csv", *words, folder=tmp_path)

    scores = treewright.model_selection.cross_validate(
        treewright.DecisionTreeClassifier(random_state=3), rows.drop("species"), rows["species"], cv=cv, random_state=3
    )
    accuracies = scores.test["accuracy"]
    low, high = accuracies.min(), accuracies.max()
    assert f"mean {accuracies.mean():.3f}, lowest {low:.3f}, highest {high:.3f}" in said.stdout


def test_rows_held_out_are_the_second_of_two_parts(command, penguins, tmp_path):
    rows = pl.read_csv(penguins).drop_nulls()
    rows.write_csv(tmp_path / "t.csv")
    learn, test = train_test_split(np.arange(333), test_size=84, random_state=4, stratify=rows["species"].to_numpy())

    said = command("fit", "t.csv", "--target", "species", "--seed", 4, folder=tmp_path)

    grow, rest = rows[np.sort(learn)], rows[test]
    tree = treewright.DecisionTreeClassifier(random_state=4).fit(grow.drop("species"), grow["species"])
    right = int((tree.predict(rest.drop("species")) == rest["species"].to_numpy()).sum())
    assert f"({right} of 84 correct" in said.stdout


@pytest.mark.parametrize(
    ("word", "ours"), [("rf", "forest"), ("xgboost", "boosting"), ("J48", "c45"), ("forrest", "forest")]
)
def test_an_unknown_algorithm_is_answered_with_the_one_that_is_meant(command, word, ours):
    said = command("fit", "nowhere.csv", "--target", "y", "--algorithm", word)

    assert said.returncode == 2
    assert f"--algorithm {word}: no such algorithm (did you mean '{ours}'?); choose one of cart" in said.stderr
