"""Boosting on the command line: what is fitted, told and refused."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import mean_pinball_loss

import treewright as tw

BOOSTED = ("--algorithm", "boosting", "--set", "n_estimators=8")


def test_early_stopping_tells_how_many_rounds_were_kept(command, penguins, tmp_path):
    done = command(
        "fit", penguins, "--target", "island", "--algorithm", "boosting", "--set", "early_stopping=true",
        "--set", "n_members=1", "--set", "n_iter_no_change=10",
        "--out", "b.tw", folder=tmp_path,
    )  # fmt: skip
    model = tw.load(tmp_path / "b.tw")
    best = model.facts["best_iteration"]

    assert done.returncode == 0, done.stderr
    assert (
        f"early stopping: {best} of {best + 10} rounds are kept; after round {best} the loss of held-out rows"
        in done.stdout
    )
    assert f"{best} rounds, each a tree for each of 3 scores" in done.stdout
    assert "held-out accuracy 0." in done.stdout
    assert model.n_trees == 3 * best


def test_without_a_number_of_rounds_members_are_told_of(command, penguins, tmp_path):
    done = command("fit", penguins, "--target", "species", "--algorithm", "boosting", "--out", "b.tw", folder=tmp_path)
    model = tw.load(tmp_path / "b.tw")
    members = model.facts["members"]
    few, many = min(members), max(members)

    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert f"early stopping: {len(members)} members of {few} to {many} rounds, stopped on their held-out rows" in said
    assert model.n_trees == 3 * sum(members)


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
        ["--set", "init=4000.5"],
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
    assert "increase of the loss when the column is shuffled" in done.stdout
    assert "mean over 5 shuffles" in done.stdout
    assert "share of the gain of all splits" in shown.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--set", "learning_rate=0"], "learning_rate"),
        (["--set", "max_bins=300"], "[2, 255]"),
        (["--set", "loss=poison"], "loss"),
        (["--set", "callbacks=print"], "Python functions"),
        (["--set", "scoring=acuracy"], "did you mean 'accuracy'"),
        (["--set", "warm_start=true"], "a command fits once"),
        (["--set", "lerning_rate=0.1"], "did you mean learning_rate?"),
        (["--set", "quantile=[0.1, 0.9"], "with commas between them, as in 0.1,0.9"),
        (["--set", "loss=quantile", "--set", "quantile=0.9,0.1"], "ascending order"),
        (["--set", "init=1,2"], "one for each of the 1 score(s)"),
        (["--prune", "ccp-1se"], "early_stopping=true"),
        (["--trace"], "grows many"),
        (["--svg", "x.svg"], "draws one tree"),
        (["--set", "sampling=gradient", "--set", "subsample=0.5"], "subsample=0.5 samples rows uniformly"),
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
    assert "evaluate the model on other rows" in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--method", "rounds"], "needs either --set n_rounds=N, or rows"),
        (["rest.csv", "--method", "rounds", "--set", "n_rounds=2"], "needs either --set n_rounds=N, or rows"),
        (["--method", "rounds", "--set", "n_round=2"], "choose one of n_rounds"),
        (["--method", "rounds", "--set", "n_rounds=9"], "give 1 to 8"),
        (["--method", "rouns"], "did you mean 'rounds'?"),
        (["--method", "depth", "--set", "max_depth=2"], "--method rounds drops the last rounds"),
    ],
)
def test_rounds_that_cannot_be_dropped_are_refused(command, grown, words, told):
    done = command("prune", "b.tw", *words, folder=grown)

    assert done.returncode != 0
    assert done.stdout == ""
    assert told in done.stderr
    assert "Traceback" not in done.stderr


SEVERAL = ("--set", "loss=quantile", "--set", "quantile=[0.05,0.5,0.95]")
HEAVY = ("--target", "body_mass_g", "--skip-missing-target")


def test_several_quantiles_are_fitted_scored_predicted_and_pruned(command, penguins, tmp_path):
    fitted = command("fit", penguins, *HEAVY, *BOOSTED, *SEVERAL, "--out", "q.tw", folder=tmp_path)
    model = tw.load(tmp_path / "q.tw")
    frame = pl.read_csv(penguins).filter(pl.col("body_mass_g").is_not_null())
    frame.write_csv(tmp_path / "rows.csv")
    truth, said = frame["body_mass_g"].to_numpy(), model.predict(frame.drop("body_mass_g"))
    done = {
        words[0]: command(*words, folder=tmp_path)
        for words in (
            ("evaluate", "q.tw", "rows.csv", "--importances"),
            ("predict", "q.tw", "rows.csv", "--out", "said.csv"),
            ("show", "q.tw"),
            ("prune", "q.tw", "rows.csv", "--method", "rounds"),
        )
    }
    loss = np.mean([mean_pinball_loss(truth, said[:, at], alpha=level) for at, level in enumerate([0.05, 0.5, 0.95])])
    shares = ", ".join(f"{np.mean(truth <= said[:, at]):.3f}" for at in range(3))
    line = f"mean pinball loss {loss:.4g}; share of rows not above quantile 0.05, 0.5, 0.95: {shares} (342 rows)"

    assert fitted.returncode == 0, fitted.stderr
    assert "held-out mean pinball loss" in fitted.stdout
    assert "always predicting the quantiles of the other rows: mean pinball loss" in fitted.stdout
    assert all(each.returncode == 0 for each in done.values()), done
    assert f"predictions: {line}" in done["evaluate"].stdout
    assert "increase of the loss" in done["evaluate"].stdout
    assert f"on rows.csv before: {line}" in done["prune"].stdout
    assert "8 rounds, each a tree for each of 3 scores" in done["show"].stdout
    assert np.allclose(pl.read_csv(tmp_path / "said.csv").to_numpy(), said)


def test_starts_of_several_scores_are_given_in_their_order(command, penguins, tmp_path):
    words = ["--set", "init=3000, 4000,5e3", "--out", "q.tw"]
    done = command("fit", penguins, *HEAVY, *BOOSTED, *SEVERAL, *words, folder=tmp_path)

    assert done.returncode == 0, done.stderr
    assert tw.load(tmp_path / "q.tw").boosting.base == (3000.0, 4000.0, 5000.0)


def test_quantiles_are_cross_validated_by_their_loss(command, penguins):
    done = command("fit", penguins, *HEAVY, *BOOSTED, *SEVERAL, "--cv", "3")

    assert done.returncode == 0, done.stderr
    assert "3-fold cross-validated mean pinball loss" in done.stdout
    assert "pinball loss per fold: mean " in done.stdout


def test_a_comparison_says_why_several_quantiles_are_not_in_it(command, penguins):
    words = ["--candidate", "boosting", "--candidate", "cart", "--cv", "2", *BOOSTED[2:], *SEVERAL]
    done = command("compare", penguins, *HEAVY, *words)

    assert done.returncode == 0, done.stderr
    assert "boosting refused: R2 compares one prediction with each target" in " ".join(done.stdout.split())


def test_several_answers_of_a_loss_of_python_have_no_score(command, penguins, tmp_path):
    class Two:
        link, n_scores = "sorted", 2

        def gradients(self, y, raw):
            return raw - y[:, np.newaxis] + [1.0, -1.0], np.ones_like(raw)

    frame = pl.read_csv(penguins).drop_nulls().select("bill_depth_mm", "body_mass_g")
    frame.write_csv(tmp_path / "rows.csv")
    tw.GradientBoostingRegressor(2, loss=Two()).fit(frame[["bill_depth_mm"]], frame["body_mass_g"]).save(
        tmp_path / "own.tw"
    )
    for words in (("evaluate", "own.tw", "rows.csv"), ("prune", "own.tw", "rows.csv", "--method", "rounds")):
        done = command(*words, "--target", "body_mass_g", folder=tmp_path)

        assert done.returncode == 2
        assert "2 outputs for a row, from a loss that is a Python function" in done.stderr


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    """A folder of tables, each with one negative count; its row is part of the name, a row of weight 0 is row 3."""
    folder = tmp_path_factory.mktemp("counts")
    stream = np.random.default_rng(0)
    for row in range(0, 60, 7):
        y, w = stream.poisson(30, 60) + 0.5, np.ones(60)
        y[row], w[3] = -4.0, 0.0
        pl.DataFrame({"x": stream.normal(size=60), "w": w, "y": y}).write_csv(folder / f"{row}.csv")
    return folder


@pytest.mark.parametrize("words", [[], ["--cv", "5"], ["--weight", "w"]])
@pytest.mark.parametrize("row", range(0, 60, 7))
def test_a_count_below_zero_is_named_by_its_line_also_where_it_would_be_held_out(command, counts, row, words):
    done = command("fit", f"{row}.csv", "--target", "y", *BOOSTED, "--set", "loss=poisson", *words, folder=counts)

    assert done.returncode == 1
    assert done.stderr == (
        f"treewright: error: {row}.csv: target 'y' has 1 value(s) that cannot be used (first: line {row + 2}: -4.0). "
        "loss='poisson' needs the target >= 0: use another loss, or drop these rows\n"
    )


@pytest.mark.parametrize(
    "words",
    [
        ["fit", "--algorithm", "cart", "--set", "criterion=poisson"],
        ["fit", "--algorithm", "forest", "--set", "criterion=poisson"],
        ["fit", "--algorithm", "bagging", "--set", "estimator__criterion=poisson"],
        ["fit", "--algorithm", "adaboost", "--set", "estimator__criterion=poisson"],
        ["compare", "--candidate", "cart", "--candidate", "boosting", "--set", "loss=gamma"],
    ],
)
def test_other_trees_of_counts_name_the_line_as_well(command, counts, words):
    done = command(words[0], "14.csv", "--target", "y", *words[1:], folder=counts)

    assert done.returncode == 1
    assert "14.csv: target 'y' has 1 " in done.stderr
    assert "(first: line 16: -4" in done.stderr


def test_a_row_without_weight_may_hold_any_count(command, tmp_path):
    stream = np.random.default_rng(0)
    table = pl.DataFrame({"x": stream.normal(size=80), "w": [0] + [1] * 79, "y": [-4.0] + [2.5] * 79})
    table.write_csv(tmp_path / "t.csv")
    words = ["--weight", "w", "--set", "loss=poisson", "--test-size", "0"]
    done = command("fit", "t.csv", "--target", "y", *BOOSTED, *words, folder=tmp_path)

    assert done.returncode == 0, done.stderr


def test_a_number_that_the_loss_does_not_read_is_told(command, penguins):
    done = command("fit", penguins, *HEAVY, *BOOSTED, "--set", "quantile=0.9")

    assert done.returncode == 0
    assert "warning: quantile=0.9 is not used: it needs loss='quantile'" in done.stderr


def test_boosted_trees_have_no_audit_and_the_reason_is_theirs(command, penguins, tmp_path):
    for algorithm, reason in (("boosting", "to gradients of the loss"), ("adaboost", "with row weights")):
        fitted = command(
            "fit", penguins, "--target", "species", "--algorithm", algorithm, "--set", "n_estimators=3", "--out",
            "m.tw", "--force", folder=tmp_path,
        )  # fmt: skip
        assert fitted.returncode == 0, fitted.stderr
        done = command("audit", "m.tw", penguins, folder=tmp_path)

        assert done.returncode == 2
        assert f"the trees of m.tw are fitted {reason}, which depend on the trees before" in done.stderr
        assert "by chance" not in done.stderr


def test_who_asks_a_boosted_model_for_an_interval_is_told_of_the_quantile_loss(command, penguins, tmp_path):
    fitted = command(
        "fit", penguins, "--target", "body_mass_g", *BOOSTED, "--skip-missing-target", "--out", "b.tw", folder=tmp_path
    )
    assert fitted.returncode == 0, fitted.stderr
    done = command("predict", "b.tw", penguins, "--interval", "0.9", folder=tmp_path)

    assert done.returncode == 2
    assert "--algorithm forest or extra-trees and --set quantiles=true" in done.stderr
    assert "--algorithm boosting and --set loss=quantile --set 'quantile=[0.05, 0.95]'" in done.stderr


def test_dates_and_identifiers_in_a_file_are_told(command, tmp_path):
    days = [f"{1 + at // 12 % 3}.{1 + at % 12}.2024" for at in range(100)]
    lines = [f"{day},k{at:04},{at % 7},{at % 2}" for at, day in enumerate(days)]
    (tmp_path / "days.csv").write_text("\n".join(["day,key,number,target", *lines, ""]))

    def told(*words):
        done = command("fit", "days.csv", "--target", "target", "--task", "classification", *words, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        return [line for line in done.stderr.splitlines() if "warning: column" in line]

    keys, dates = told()
    assert "column 'day' (" in dates
    assert "dates as text" in dates
    assert "column 'key' (" in keys
    assert "is left out" in keys
    assert told("--nominal", "day", "--nominal", "key") == []


@pytest.mark.parametrize(
    ("words", "plan"),
    [
        (["--trees", 3], "plan: one model, at most 3 rounds, at most about 1 s on one thread"),
        (["--set", "n_members=2", "--trees", 3, "--set", "early_stopping=true"], "plan: 2 members in "),
    ],
)
def test_a_fit_notes_its_plan_once(command, penguins, words, plan):
    done = command("fit", penguins, "--target", "species", "--algorithm", "boosting", *words)

    assert done.returncode == 0, done.stderr
    assert done.stderr.count("plan: ") == done.stderr.count(plan) == 1
