"""Quantiles, intervals and importances on the command line."""

from __future__ import annotations

import csv
import io

import numpy as np
import polars as pl
import pytest

import treewright as tw

MASS = ["--target", "body_mass_g", "--skip-missing-target", "--test-size", "0", "--drop", "species"]
FEATURES = ["island", "bill_length_mm", "bill_depth_mm", "flipper_length_mm", "sex"]
QUANTILE = ["--algorithm", "forest", "--set", "n_estimators=8", "--set", "quantiles=true"]


@pytest.fixture(scope="module")
def folder(command, penguins, tmp_path_factory):
    """Models: with its targets, without them, of classes, of outliers, one tree; and one of two targets."""
    folder = tmp_path_factory.mktemp("answers")
    for name, words in {
        "kept.tw": [*MASS, *QUANTILE],
        "plain.tw": [*MASS, *QUANTILE[:4]],
        "tree.tw": MASS,
        "classes.tw": ["--target", "species", "--test-size", "0", *QUANTILE[:4]],
        "odd.tw": ["--algorithm", "isolation", "--set", "n_estimators=3"],
        "c45.tw": ["--target", "species", "--test-size", "0", "--algorithm", "c45"],
    }.items():
        done = command("fit", penguins, *words, "--out", name, folder=folder)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def table(penguins):
    frame = pl.read_csv(penguins).filter(pl.col("body_mass_g").is_not_null())
    return frame.select(FEATURES), frame["body_mass_g"].to_numpy().astype(float)


def columns_of(text: str) -> dict[str, list[str]]:
    header, *rows = csv.reader(io.StringIO(text))
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


def test_quantiles_and_intervals_are_those_of_the_library(command, folder, table):
    table[0].write_csv(folder / "features.csv")
    words = ["--interval", "0.9", "--quantiles", "0,0.5", "--quantiles", "1"]
    done = command("predict", "kept.tw", "features.csv", *words, folder=folder)
    said = columns_of(done.stdout)
    model, rows = tw.load(folder / "kept.tw"), table[0]
    numbers = {name: np.array(cells, float) for name, cells in said.items()}
    quantiles = np.stack([numbers[f"quantile_{at}"] for at in ("0", "0.5", "1")], axis=1)
    interval = np.stack([numbers["interval_0.9_low"], numbers["interval_0.9_high"]], axis=1)

    names = "prediction quantile_0 quantile_0.5 quantile_1 interval_0.9_low interval_0.9_high"
    assert list(said) == names.split()
    assert numbers["prediction"].tolist() == model.predict(rows).tolist()
    assert quantiles.tolist() == model.predict_quantile(rows, [0, 0.5, 1]).tolist()
    assert interval.tolist() == model.predict_interval(rows, 0.9).tolist()


def test_columns_of_several_targets_carry_their_names(command, penguins, tmp_path, table):
    features, mass = table
    forest = tw.RandomForestRegressor(n_estimators=3, quantiles=True)
    forest.fit(features, pl.DataFrame({"mass": mass, "half": mass / 2})).save(tmp_path / "two.tw")
    said = columns_of(command("predict", "two.tw", penguins, "--interval", "0.5", folder=tmp_path).stdout)

    assert list(said) == [
        "prediction_mass", "prediction_half", "interval_0.5_low_mass", "interval_0.5_high_mass",
        "interval_0.5_low_half", "interval_0.5_high_half",
    ]  # fmt: skip
    mass_low, half_low = (np.array(said[f"interval_0.5_low_{name}"], float) for name in ("mass", "half"))
    assert np.array_equal(mass_low / 2, half_low)


def test_a_table_without_rows_has_the_columns(command, folder):
    (folder / "none.csv").write_text(",".join(FEATURES) + "\n")
    done = command("predict", "kept.tw", "none.csv", "--interval", "0.9", folder=folder)

    assert done.stdout == "prediction,interval_0.9_low,interval_0.9_high\n", done.stderr


@pytest.mark.parametrize(
    ("model", "words", "message"),
    [
        ("plain.tw", ["--interval", "0.9"], "does not hold the targets of its leaves: fit it again with"),
        ("tree.tw", ["--quantiles", "0.5"], "--set quantiles=true"),
        ("classes.tw", ["--quantiles", "0.5"], "--quantiles: classes.tw predicts classes, which have no quantiles"),
        ("odd.tw", ["--interval", "0.9"], "is an isolation forest"),
        ("kept.tw", ["--interval", "1"], "--interval '1': give one number between 0 and 1"),
        ("kept.tw", ["--interval", "nan"], "--interval 'nan'"),
        ("kept.tw", ["--interval", "wide"], "--interval 'wide'"),
        ("kept.tw", ["--quantiles", "0.1,,0.9"], "--quantiles ''"),
        ("kept.tw", ["--quantiles", "1.5"], "--quantiles '1.5': give numbers from 0 to 1"),
        ("kept.tw", ["--quantiles", "0.5,5e-1"], "--quantiles 5e-1: given twice"),
    ],
)
def test_what_a_model_cannot_tell_is_refused_in_one_line(command, penguins, folder, model, words, message):
    done = command("predict", model, penguins, *words, folder=folder)

    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["plain.tw", "tree.tw", "classes.tw"])
def test_show_tells_the_impurity_that_columns_lowered(command, folder, name):
    said = command("show", name, "--importances", folder=folder).stdout
    model = tw.load(folder / name)
    best = model.schema.names[int(np.argmax(model.feature_importances))]

    assert said.startswith("share of the impurity that splits removed, on the training rows (impurity)")
    assert said.splitlines()[3].split()[:2] == [best, f"{model.feature_importances.max():.3f}"]


def test_importances_of_one_tree_of_many(command, folder):
    one = command("show", "plain.tw", "--tree", "2", "--importances", folder=folder).stdout

    assert "mean over 1 tree" in one
    assert one != command("show", "plain.tw", "--importances", folder=folder).stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["plain.tw", "--importances", "--format", "json"], "--format json: not with --importances"),
        (["plain.tw", "--importances", "--max-depth", "1"], "--max-depth: not with --importances"),
        (["odd.tw", "--importances"], "is an isolation forest"),
    ],
)
def test_importances_go_with_nothing_else(command, folder, words, message):
    done = command("show", *words, folder=folder)

    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_evaluate_tells_what_shuffling_a_column_costs(command, folder, table):
    features, mass = table
    (folder / "rows.csv").write_text(features.with_columns(body_mass_g=mass).write_csv())
    done = command("evaluate", "plain.tw", "rows.csv", "--importances", folder=folder)
    forest = tw.RandomForestRegressor(n_estimators=8).fit(features, mass)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("predictions: R2")
    assert done.stdout.endswith(f"{forest.importances('permutation', features, mass, rows='all')}\n")


@pytest.mark.parametrize("name", ["tree.tw", "classes.tw"])
def test_evaluate_tells_it_of_one_tree_and_of_classes_too(command, penguins, folder, name):
    done = command("evaluate", name, "rows.csv" if name == "tree.tw" else penguins, "--importances", folder=folder)

    assert done.returncode == 0, done.stderr
    assert "when the column is shuffled (permutation)" in done.stdout


def test_rows_that_are_divided_among_leaves_are_not_judged(command, penguins, folder):
    done = command("evaluate", "c45.tw", penguins, "--importances", folder=folder)

    assert (done.returncode, done.stdout) == (2, "")
    assert "divides rows with missing cells among leaves" in done.stderr
