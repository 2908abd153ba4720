"""Which targets are classes, rows without one, and classes that a fit never saw."""

from __future__ import annotations

import json

import polars as pl
import pytest

import treewright as tw

N = 60
NUMBERS = [at * 7 % 10 for at in range(N)]


def write(path, target, numbers=NUMBERS):
    path.write_text("x,y\n" + "".join(f"{number},{label}\n" for number, label in zip(numbers, target, strict=True)))


@pytest.mark.parametrize(
    ("target", "is_classification", "labels"),
    [
        ([f"{number > 4:d}.0" for number in NUMBERS], True, [0, 1]),
        ([f"{number > 4:d}" for number in NUMBERS], True, [0, 1]),
        ([f"{1 + number // 2:.1f}" for number in NUMBERS], True, [1, 2, 3, 4, 5]),
        ([f"{number > 4:d}.5" for number in NUMBERS], False, None),
        ([f"{at % 21}.0" for at in range(N)], False, None),
        ([f"{at % 21}" for at in range(N)], False, None),
    ],
)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_few_whole_numbers_are_classes_however_they_are_written(
    command, tmp_path, target, is_classification, labels, form
):
    file = tmp_path / f"rows.{form}"
    if form == "csv":
        write(file, target)
    else:
        numbers = [float(cell) if "." in cell else int(cell) for cell in target]
        pl.DataFrame({"x": NUMBERS, "y": numbers}).write_parquet(file)
    done = command("fit", file, "--target", "y", "--out", "m.tw", folder=tmp_path)

    model = tw.load(tmp_path / "m.tw")
    assert (model.task == "classification") == is_classification
    assert ("whole numbers are treated as classes; --task regression" in done.stdout) == is_classification
    if labels:
        assert model.classes[0].tolist() == labels
        judged = command("evaluate", "m.tw", file, folder=tmp_path)
        assert "accuracy 1.000" in judged.stdout
        assert "0.0" not in judged.stdout.replace("0.000", "")
    compared = command("compare", file, "--target", "y", "--candidate", "cart", "--cv", "2", folder=tmp_path)
    assert ("treated as classes" in compared.stdout) == is_classification


def test_one_missing_cell_makes_no_numbers_of_classes(command, tmp_path):
    write(tmp_path / "rows.csv", [*(f"{number > 4:d}.0" for number in NUMBERS[:-1]), ""])
    words = ("--skip-missing-target", "--out", "m.tw", "--report", "r.json")
    done = command("fit", "rows.csv", "--target", "y", *words, folder=tmp_path)

    assert done.returncode == 0, done.stderr
    assert tw.load(tmp_path / "m.tw").classes[0].tolist() == [0, 1]
    assert json.loads((tmp_path / "r.json").read_text())["quality"]


def test_help_says_the_rule(command):
    said = " ".join(command("fit", "--help").stdout.replace("│", " ").split())
    assert "(1 or 1.0) are classes, others are numbers" in said


def test_evaluate_skips_rows_without_a_target_where_it_is_told_to(command, tmp_path):
    write(tmp_path / "rows.csv", [f"{number > 4:d}" for number in NUMBERS])
    command("fit", "rows.csv", "--target", "y", "--out", "m.tw", folder=tmp_path)
    write(tmp_path / "gaps.csv", [f"{number > 4:d}" if at % 6 else "" for at, number in enumerate(NUMBERS)])
    refused = command("evaluate", "m.tw", "gaps.csv", folder=tmp_path)
    done = command("evaluate", "m.tw", "gaps.csv", "--skip-missing-target", folder=tmp_path)

    assert refused.returncode == 1
    assert "missing in 10 of 60 rows" in refused.stderr
    assert "--skip-missing-target" in refused.stderr
    assert "(50 of 50 correct" in done.stdout
    assert "10 of 60 rows have no target and are left out" in done.stderr
    write(tmp_path / "none.csv", [""] * N)
    assert command("evaluate", "m.tw", "none.csv", "--skip-missing-target", folder=tmp_path).returncode == 1


@pytest.mark.parametrize("algorithm", ["cart", "forest", "knn"])
def test_a_class_that_only_judged_rows_hold_does_not_end_a_report(command, tmp_path, algorithm):
    label = ["high" if number > 4 else "low" for number in NUMBERS]
    write(tmp_path / "rows.csv", label)
    write(tmp_path / "new.csv", ["rare", "rare", *label[2:]])
    command("fit", "rows.csv", "--target", "y", "--algorithm", algorithm, "--out", "m.tw", folder=tmp_path)
    done = command("report", "m.tw", "new.csv", "--out", "r.json", folder=tmp_path)

    assert done.returncode == 0, done.stderr
    page = json.loads((tmp_path / "r.json").read_text())
    found = {finding["kind"]: finding for finding in page["findings"]}["unknown classes"]
    assert found["serious"]
    assert found["text"] == "2 rows of 1 class without training rows: rare (2). They are not evaluated here."
    assert page["quality"][0]["n_rows"] == N - 2


def test_a_fit_with_a_single_row_of_a_class_shows_its_tree_and_makes_its_report(command, tmp_path):
    label = ["high" if number > 4 else "low" for number in NUMBERS]
    for seed in range(6):
        write(tmp_path / "rows.csv", ["rare", *label[1:]])
        words = ("--seed", seed, "--report", "r.html", "--force")
        done = command("fit", "rows.csv", "--target", "y", *words, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "all rows" in done.stdout


@pytest.mark.parametrize(
    "words",
    [["--max-depth", "1"], [], ["--cv", "3"], ["--set", "criterion=absolute_error"], ["--algorithm", "forest"],
     ["--algorithm", "knn"], ["--algorithm", "bagging"]],
    ids=" ".join,
)  # fmt: skip
def test_numbers_whose_squares_do_not_add_up_are_named_by_column_and_line(command, tmp_path, words):
    rows = "".join(f"{at},{'-' * (at % 2)}{1 + at % 9}e{307 if at >= 5 else 100}\n" for at in range(40))
    (tmp_path / "large.csv").write_text("x,y\n" + rows)
    done = command("fit", "large.csv", "--target", "y", *words, folder=tmp_path)

    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        "treewright: error: large.csv: target 'y' has 35 value(s) that cannot be used (first: line 7: -6e+307). Use "
        "numbers from -1e+149 to 1e+149: larger squares do not add up in float64. Scale the target down, or drop these "
        "rows\n"
    )


def test_the_largest_numbers_whose_squares_add_up_have_a_score(command, tmp_path):
    rows = "".join(f"{at % 8},{'-' * (at % 2)}1e149\n" for at in range(40))
    (tmp_path / "large.csv").write_text("x,y\n" + rows)
    done = command("fit", "large.csv", "--target", "y", "--task", "regression", folder=tmp_path)

    assert "held-out R2 1.000" in done.stdout


@pytest.mark.parametrize("words", [["fit", "rows.csv", "--target", "y"], ["evaluate", "m.tw", "rows.csv"]])
@pytest.mark.parametrize("more", [[], ["--skip-missing-target"]])
def test_where_no_row_has_a_target_nobody_is_told_to_leave_them_out(command, tmp_path, words, more):
    write(tmp_path / "rows.csv", ["a" if number > 4 else "b" for number in NUMBERS])
    command("fit", "rows.csv", "--target", "y", "--out", "m.tw", folder=tmp_path)
    write(tmp_path / "rows.csv", [""] * N)
    done = command(*words, *more, folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr.endswith(
        f"rows.csv: no row has a target: 'y' is missing in {N} of {N} rows: name another column with --target\n"
    )


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_fit_and_evaluate_say_alike_where_a_target_is_missing(command, tmp_path, form):
    labels = ["a" if number > 4 else "b" for number in NUMBERS]
    write(tmp_path / "rows.csv", labels)
    command("fit", "rows.csv", "--target", "y", "--out", "m.tw", folder=tmp_path)
    gone = [*labels[:11], None, *labels[12:]]
    if form == "csv":
        write(tmp_path / "gone.csv", [label or "" for label in gone])
    else:
        pl.DataFrame({"x": NUMBERS, "y": gone}).write_parquet(tmp_path / "gone.parquet")
    said = [
        command(*words, folder=tmp_path).stderr
        for words in (["fit", f"gone.{form}", "--target", "y"], ["evaluate", "m.tw", f"gone.{form}"])
    ]
    assert said[0] == said[1]
    assert f"missing in 1 of {N} rows (first: {'line 13' if form == 'csv' else 'row 11'})" in said[0]


def test_a_target_of_huge_integers_is_not_advised_to_be_dropped(command, tmp_path):
    write(tmp_path / "rows.csv", [2**53 + number for number in NUMBERS])
    done = command("fit", "rows.csv", "--target", "y", folder=tmp_path)
    assert done.returncode == 1
    assert "at or beyond 2^53" in done.stderr
    assert "--drop" not in done.stderr
    assert "--drop y" in command("fit", "rows.csv", "--target", "x", folder=tmp_path).stderr


@pytest.mark.parametrize(("cell", "has_advice"), [("inf", False), ("1.5", True)])
def test_a_number_that_is_no_class_is_told_by_its_line_in_the_words_of_the_command(command, tmp_path, cell, has_advice):
    write(tmp_path / "rows.csv", [*NUMBERS[:40], cell, *NUMBERS[41:-1], cell])
    done = command("fit", "rows.csv", "--target", "y", "--task", "classification", folder=tmp_path)
    assert done.returncode == 1
    assert f"target 'y': {cell} (line 42; 2 such cells) is not a class" in done.stderr
    assert ("--task regression" in done.stderr) == has_advice
    text = ["--task", "classification", "--types", "y=nominal"]
    assert command("fit", "rows.csv", "--target", "y", *text, folder=tmp_path).returncode == 0


def test_one_row_one_class_and_one_cell_are_singular(command, tmp_path):
    (tmp_path / "rows.csv").write_text("x,y\n1,a\n2,\n,a\n")
    words = ["fit", "rows.csv", "--target", "y", "--skip-missing-target", "--out", "m.tw"]
    done = command(*words, "--test-size", "0.5", folder=tmp_path)
    assert "rows.csv: 2 rows, 1 column (1 numeric), 1 cell missing\n" in done.stdout
    assert "classification, 1 class (a 100.0 %)" in done.stdout
    assert "the tree below is fitted on 1 row; 1 is held out" in done.stdout
    assert "treewright: 1 of 3 rows has no target and is left out\n" in done.stderr
    judged = command("evaluate", "m.tw", "rows.csv", "--skip-missing-target", folder=tmp_path)
    assert "treewright: 1 of 3 rows has no target and is left out\n" in judged.stderr


def test_predictions_in_a_file_are_told_of_on_standard_error(command, tmp_path):
    write(tmp_path / "rows.csv", ["a" if number > 4 else "b" for number in NUMBERS])
    command("fit", "rows.csv", "--target", "y", "--out", "m.tw", folder=tmp_path)
    done = command("predict", "m.tw", "rows.csv", "--out", "p.csv", folder=tmp_path)
    assert (done.stdout, done.stderr) == ("", "treewright: wrote p.csv (predictions)\n")
    assert command("predict", "m.tw", "rows.csv", "--out", "-", folder=tmp_path).stderr == ""
