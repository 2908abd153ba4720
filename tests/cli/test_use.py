"""``treewright predict``, ``evaluate``, ``show`` and ``warmup``: what is done with a model."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import xml.dom.minidom

import numpy as np
import polars as pl
import pytest

import treewright
from treewright.core.kernel_cache import _KERNEL_FOLDERS, cache_directory


@pytest.fixture(scope="module")
def model(fitted):
    return fitted[0] / "penguins.tw"


def test_predictions_are_the_models_own_one_per_row(command, model, penguins):
    done = command("predict", model, penguins)
    expected = treewright.load(model).predict(pl.read_csv(penguins).drop("species"))

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["prediction", *expected.tolist()]


def test_probabilities_stand_beside_the_predictions(command, model, penguins, tmp_path):
    done = command("predict", model, penguins, "--proba", "--out", "p.csv", folder=tmp_path)
    written = pl.read_csv(tmp_path / "p.csv")
    expected = treewright.load(model).predict_proba(pl.read_csv(penguins).drop("species"))

    assert (done.returncode, done.stdout) == (0, "")
    assert written.columns == ["prediction", "probability_Adelie", "probability_Chinstrap", "probability_Gentoo"]
    np.testing.assert_array_equal(written.drop("prediction").to_numpy(), expected)
    assert [path.name for path in tmp_path.iterdir()] == ["p.csv"]


def test_columns_are_found_by_name_in_any_order_and_container(command, model, penguins, tmp_path):
    table = pl.read_csv(penguins)
    shuffled = table.select("sex", pl.lit("x").alias("other"), *reversed(table.columns[1:-1]))
    shuffled.write_csv(tmp_path / "t.csv")
    shuffled.write_csv(tmp_path / "t.tsv", separator="\t")
    shuffled.write_parquet(tmp_path / "t.parquet")
    expected = command("predict", model, penguins).stdout

    assert [command("predict", model, tmp_path / name).stdout for name in ("t.csv", "t.tsv", "t.parquet")] == [
        expected
    ] * 3


def test_a_missing_column_is_refused_with_the_nearest_name(command, model, penguins, tmp_path):
    (tmp_path / "t.csv").write_text(penguins.read_text().replace("bill_length_mm", "Bill_Length_mm"))

    done = command("predict", model, tmp_path / "t.csv")

    assert (done.returncode, done.stdout) == (1, "")
    assert "no column 'bill_length_mm': did you mean 'Bill_Length_mm'?" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_cell_that_is_no_number_is_refused_with_its_line_and_nothing_is_written(command, model, penguins, tmp_path):
    lines = penguins.read_text().splitlines()
    lines[200] = lines[200].replace(lines[200].split(",")[2], "long", 1)
    (tmp_path / "t.csv").write_text("\n".join(lines))

    done = command("predict", model, "t.csv", "--out", "p.csv", folder=tmp_path)

    assert done.returncode == 1
    assert "t.csv:201: column 'bill_length_mm': 'long' is not a number" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_no_rows_give_a_header(command, model, penguins, tmp_path):
    (tmp_path / "t.csv").write_text(penguins.read_text().splitlines()[0] + "\n")

    done = command("predict", model, tmp_path / "t.csv")

    assert (done.returncode, done.stdout) == (0, "prediction\n")


def test_labels_that_a_spreadsheet_would_run_get_an_apostrophe(command, tmp_path):
    labels = ["=1+1", "+2", "-3", "@SUM(A1)", "plain"]
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{row % 5},{labels[row % 5]}\n" for row in range(20)))
    fitted = command("fit", "t.csv", "--target", "y", "--test-size", "0", "--out", "m.tw", folder=tmp_path)
    assert fitted.returncode == 0, fitted.stderr

    guarded = command("predict", "m.tw", "t.csv", folder=tmp_path).stdout.splitlines()
    plain = command("predict", "m.tw", "t.csv", "--no-guard", folder=tmp_path).stdout.splitlines()

    assert guarded[1:6] == ["'=1+1", "'+2", "'-3", "'@SUM(A1)", "plain"]
    assert plain[1:6] == labels


def test_numbers_are_written_whole_and_never_guarded(command, tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n" + "1,-5.25\n2,0.1\n" * 10)
    command("fit", "t.csv", "--target", "y", "--test-size", "0", "--out", "m.tw", folder=tmp_path)

    assert command("predict", "m.tw", "t.csv", folder=tmp_path).stdout.splitlines()[1:3] == ["-5.25", "0.1"]


def test_probabilities_of_numbers_are_wrong_usage(command, tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n" + "1,-5.25\n2,0.1\n" * 10)
    command("fit", "t.csv", "--target", "y", "--out", "m.tw", folder=tmp_path)

    done = command("predict", "m.tw", "t.csv", "--proba", folder=tmp_path)

    assert done.returncode == 2
    assert "predicts numbers" in done.stderr


MEASURED = """
import resource, sys
from treewright.cli.app import main
try:
    main()
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def test_a_long_file_is_streamed(model, penguins, tmp_path, surroundings):
    header, *rows = penguins.read_text().splitlines(keepends=True)
    with (tmp_path / "long.csv").open("w") as file:
        file.write(header)
        for _ in range(4000):
            file.writelines(rows)

    peaks = []
    for name in (penguins, tmp_path / "long.csv"):
        words = [sys.executable, "-c", MEASURED, "predict", model, name, "--out", tmp_path / "p.csv", "--force"]
        done = subprocess.run(words, capture_output=True, text=True, check=True, env=surroundings)
        peaks.append(int(done.stderr.splitlines()[-1]) / 1024)

    assert (tmp_path / "long.csv").stat().st_size > 50e6
    assert (tmp_path / "p.csv").read_bytes().count(b"\n") == 1 + 4000 * 344
    assert peaks[1] - peaks[0] < 150  # megabytes; all rows at once would take far more


def test_a_closed_pipe_is_no_error(model, penguins, surroundings):
    done = subprocess.run(
        f"{sys.executable} -m treewright predict {model} {penguins} | head -1; echo ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
        check=True,
        env=surroundings,
    )

    assert done.stdout == "prediction\n0\n"
    assert "Traceback" not in done.stderr


# ----------------------------------------------------------------------------------------------------------- evaluate


def test_evaluate_counts_right_answers_per_class(command, tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n" + "1,a\n2,b\n" * 5)
    command("fit", "t.csv", "--target", "y", "--test-size", "0", "--out", "m.tw", folder=tmp_path)
    (tmp_path / "new.csv").write_text("y,x\na,1\na,1\na,2\nb,2\nc,2\n")

    done = command("evaluate", "m.tw", "new.csv", folder=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "accuracy 0.600 (3 of 5 correct; 95 % interval 0.231 to 0.882)" in done.stdout
    assert [line.split() for line in done.stdout.splitlines()[2:6]] == [
        ["class", "rows", "precision", "recall"],
        ["a", "3", "1.000", "0.667"],
        ["b", "1", "0.333", "1.000"],
        ["c", "1", "-", "0.000"],
    ]
    assert [line.split() for line in done.stdout.splitlines()[8:11]] == [
        ["a", "2", "1", "0"],
        ["b", "0", "1", "0"],
        ["c", "0", "1", "0"],
    ]
    assert "no better than a constant prediction" in done.stdout  # three of five rows are of one class


def test_evaluate_measures_errors_of_numbers(command, tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n" + "1,1.5\n2,3.5\n" * 5)
    command("fit", "t.csv", "--target", "y", "--test-size", "0", "--out", "m.tw", folder=tmp_path)
    (tmp_path / "new.csv").write_text("x,truth\n1,1.5\n2,5.5\n")

    done = command("evaluate", "m.tw", "new.csv", "--target", "truth", folder=tmp_path)

    # errors 0 and 2 around a mean of 3.5: R2 = 1 - 4 / 8
    assert done.stdout == ("predictions: R2 0.500, mean absolute error 1, root mean squared error 1.414 (2 rows)\n")


def test_evaluate_without_the_target_is_refused(command, model, penguins, tmp_path):
    pl.read_csv(penguins).drop("species").write_csv(tmp_path / "t.csv")

    done = command("evaluate", model, tmp_path / "t.csv")

    assert done.returncode == 1
    assert "no column 'species'" in done.stderr


# --------------------------------------------------------------------------------------------------------- show, warmup


def test_show_gives_every_form(command, model):
    shown = {form: command("show", model, "--format", form) for form in ("text", "svg", "dot", "json", "rules")}

    assert [done.returncode for done in shown.values()] == [0] * 5
    assert shown["text"].stdout.rstrip("\n") == treewright.load(model).show().rstrip("\n")
    assert xml.dom.minidom.parseString(shown["svg"].stdout).documentElement.tagName == "svg"
    assert shown["dot"].stdout.startswith("digraph")
    assert json.loads(shown["json"].stdout)
    assert "Gentoo" in shown["rules"].stdout


def test_show_stops_at_the_depth_asked_for(command, model):
    whole, cut = command("show", model), command("show", model, "--max-depth", "1")

    assert cut.returncode == 0, cut.stderr
    assert len(cut.stdout.splitlines()) < len(whole.stdout.splitlines())
    assert command("show", model, "--format", "dot", "--max-depth", "1").returncode == 2


def test_show_writes_a_file_and_does_not_overwrite(command, model, tmp_path):
    first = command("show", model, "--format", "svg", "--out", "t.svg", folder=tmp_path)
    again = command("show", model, "--format", "svg", "--out", "t.svg", folder=tmp_path)

    assert (first.returncode, first.stdout, again.returncode) == (0, "", 1)
    assert (tmp_path / "t.svg").read_text().rstrip("\n").endswith("</svg>")


@pytest.mark.parametrize("content", [b"", b"x,y\n1,2\n", b"\x80\x04\x95pickle", b"<html>"])
def test_what_is_no_model_is_refused_by_every_command(command, penguins, tmp_path, content):
    (tmp_path / "m.tw").write_bytes(content)

    for words in (["show", "m.tw"], ["predict", "m.tw", penguins], ["evaluate", "m.tw", penguins]):
        done = command(*words, folder=tmp_path)

        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("treewright: error: ")
        assert "m.tw" in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.slow  # every group of kernels is begun anew, in a process each
@pytest.mark.timeout(1800)
def test_after_warmup_no_fit_compiles_anything(process, penguins, tmp_path):
    # Other tests compile kernels of their own meanwhile, so these processes have a cache for themselves. What another
    # test writes while it is copied need not come along.
    kernels = tmp_path / "kernels"
    for folder in {cache_directory(owner) for owner in _KERNEL_FOLDERS}:
        with contextlib.suppress(shutil.Error):
            shutil.copytree(folder, kernels / folder.name)

    def alone(*words):
        return process(*words, folder=tmp_path, surroundings={"TREEWRIGHT_CACHE_DIR": str(kernels)})

    warm = alone("warmup")
    kept = sorted(kernels.rglob("*.nb?"))

    pruned = ("--set", "ccp_alpha=0.01")
    classes = alone("fit", penguins, "--target", "species", *pruned, "--out", "m.tw")
    used = alone("predict", "m.tw", penguins, "--proba")
    numbers = alone("fit", penguins, "--target", "bill_length_mm", "--skip-missing-target")

    assert "are compiled and stored" in warm.stdout
    assert [done.returncode for done in (warm, classes, used, numbers)] == [0, 0, 0, 0]
    assert "compiling kernels" not in classes.stderr + used.stderr + numbers.stderr
    assert sorted(kernels.rglob("*.nb?")) == kept


def test_truths_in_a_file_are_numbers_where_the_model_takes_numbers(command, tmp_path):
    treewright.DecisionTreeRegressor().fit({"flag": [1.0, 0.0, 1.0, 0.0]}, [5.0, 2.0, 5.0, 2.0]).save(tmp_path / "m.tw")
    (tmp_path / "rows.csv").write_text("flag\nTrue\nFALSE\ntrue\n")
    done = command("predict", tmp_path / "m.tw", tmp_path / "rows.csv")
    assert done.stdout.split()[1:] == ["5.0", "2.0", "5.0"], done.stderr
    (tmp_path / "rows.csv").write_text("flag\nTrue\n0.5\n")
    assert "'True' is not a number" in command("predict", tmp_path / "m.tw", tmp_path / "rows.csv").stderr
