"""Boosting on the command line: what is fitted, told and refused."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import treewright as tw

BOOSTED = ("--algorithm", "boosting", "--set", "n_estimators=8")


def test_early_stopping_tells_how_many_rounds_were_kept(command, penguins, tmp_path):
    done = command(
        "fit", penguins, "--target", "species", "--algorithm", "boosting", "--set", "early_stopping=true",
        "--out", "b.tw", folder=tmp_path,
    )  # fmt: skip
    model = tw.load(tmp_path / "b.tw")
    best = model.facts["best_iteration"]

    assert done.returncode == 0, done.stderr
    assert (
        f"early stopping: {best} of {best + 10} rounds are kept; after round {best} the loss of rows kept"
        in done.stdout
    )
    assert f"{best} rounds, each a tree for each of 3 scores" in done.stdout
    assert "held-out accuracy 0.9" in done.stdout
    assert model.n_trees == 3 * best


def test_without_it_nothing_is_told_of_stopping(command, penguins):
    done = command("fit", penguins, "--target", "species", *BOOSTED)

    assert done.returncode == 0, done.stderr
    assert "early stopping" not in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        ["--set", "growth=symmetric", "--set", "max_depth=3"],
        ["--set", "loss=huber"],
        ["--set", "loss=quantile", "--set", "quantile=0.9"],
        ["--set", 'monotonic_cst={"flipper_length_mm": 1}', "--set", 'interaction_cst=[["island", "sex"]]'],
        ["--set", "subsample=0.5", "--set", "level_encoding=ordered"],
        ["--set", "init=zero"],
    ],
)
def test_parameters_are_set_by_name(command, penguins, words, tmp_path):
    done = command(
        "fit", penguins, "--target", "body_mass_g", *BOOSTED, *words, "--skip-missing-target", "--out", "b.tw",
        folder=tmp_path,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    stated = tw.load(tmp_path / "b.tw").facts["parameters"]
    for word in words[1::2]:
        name, _, value = word.partition("=")
        assert str(stated[name]) == value or value[0] in "[{"


def test_the_same_fit_in_python_predicts_the_same(command, penguins, tmp_path):
    command(
        "fit", penguins, "--target", "body_mass_g", *BOOSTED, "--skip-missing-target", "--test-size", "0", "--seed", 3,
        "--out", "b.tw", folder=tmp_path,
    )  # fmt: skip
    frame = pl.read_csv(penguins).filter(pl.col("body_mass_g").is_not_null())
    table, target = frame.drop("body_mass_g"), frame["body_mass_g"]
    boosted = tw.GradientBoostingRegressor(8, random_state=3).fit(table, target)

    assert np.array_equal(tw.load(tmp_path / "b.tw").predict(table), boosted.predict(table))


def test_evaluate_shuffles_columns_under_all_trees_together(command, penguins, tmp_path):
    command("fit", penguins, "--target", "species", *BOOSTED, "--out", "b.tw", folder=tmp_path)
    done = command("evaluate", "b.tw", penguins, "--importances", folder=tmp_path)
    shown = command("show", "b.tw", "--importances", folder=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "rise of the loss when the column is shuffled" in done.stdout
    assert "mean over 5 shuffles" in done.stdout
    assert "what all splits gained" in shown.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--set", "learning_rate=0"], "learning_rate"),
        (["--set", "max_bins=300"], "[2, 255]"),
        (["--set", "loss=poison"], "loss"),
        (["--set", "callbacks=print"], "functions of Python"),
        (["--set", "scoring=accuracy"], "function of Python"),
        (["--set", "warm_start=true"], "a command fits once"),
        (["--set", "lerning_rate=0.1"], "did you mean learning_rate?"),
        (["--set", "quantile=[0.1, 0.9]"], "quantile"),
        (["--prune", "ccp-1se"], "early_stopping=true"),
        (["--trace"], "grows many"),
        (["--svg", "x.svg"], "draws one tree"),
        (["--set", "sampling=gradient", "--set", "subsample=0.5"], "subsample=0.5 draws all rows alike"),
    ],
)
def test_what_cannot_be_is_refused(command, penguins, words, told):
    done = command("fit", penguins, "--target", "body_mass_g", *BOOSTED, *words, "--skip-missing-target")

    assert done.returncode != 0
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_bagging_bags_no_boosted_trees(command, penguins):
    words = ["--algorithm", "bagging", "--set", "estimator=boosting"]
    done = command("fit", penguins, "--target", "species", *words)

    assert done.returncode == 2
    assert "estimator=boosting" in done.stderr


@pytest.fixture(scope="module")
def grown(command, penguins, tmp_path_factory):
    """A folder with the rows in two halves and a model of the first."""
    folder = tmp_path_factory.mktemp("grown")
    table = pl.read_csv(penguins).drop_nulls()
    table[::2].write_csv(folder / "grow.csv")
    table[1::2].write_csv(folder / "rest.csv")
    done = command("fit", "grow.csv", "--target", "species", *BOOSTED, "--test-size", 0, "--out", "b.tw", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_prune_drops_rounds_as_python_does(command, grown):
    model, rest = tw.load(grown / "b.tw"), pl.read_csv(grown / "rest.csv")
    for words, pruned in (
        (["--set", "n_rounds=3"], model.prune("rounds", n_rounds=3)),
        (["rest.csv"], model.prune("rounds", rest.drop("species"), rest["species"])),
    ):
        done = command(
            "prune", "b.tw", *words, "--method", "rounds", "--out", "few.tw", "--log", "log.csv", "--force",
            folder=grown,
        )  # fmt: skip
        pruned.save(grown / "python.tw")

        assert done.returncode == 0, done.stderr
        assert str(pruned.prune_log) in done.stdout
        assert (grown / "few.tw").read_bytes() == (grown / "python.tw").read_bytes()
        assert (grown / "log.csv").read_text().startswith("round,loss")
    assert "on rest.csv before: " in done.stdout
    assert "judge the model on others" in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--method", "rounds"], "needs either --set n_rounds=N, or rows"),
        (["rest.csv", "--method", "rounds", "--set", "n_rounds=2"], "needs either --set n_rounds=N, or rows"),
        (["--method", "rounds", "--set", "n_round=2"], "there are: n_rounds"),
        (["--method", "rounds", "--set", "n_rounds=9"], "give 1 to 8"),
        (["--method", "rouns"], "did you mean 'rounds'?"),
        (["--method", "depth", "--set", "max_depth=2"], "the last rounds can be dropped: --method rounds"),
    ],
)
def test_rounds_that_cannot_be_dropped_are_refused(command, grown, words, told):
    done = command("prune", "b.tw", *words, folder=grown)

    assert done.returncode != 0
    assert done.stdout == ""
    assert told in done.stderr
    assert "Traceback" not in done.stderr
