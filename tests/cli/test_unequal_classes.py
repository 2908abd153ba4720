"""What is told beside accuracy where a class is rare."""

from __future__ import annotations

import csv
import json

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

import treewright as tw


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Rows of two unequal classes, and a tree."""
    folder = tmp_path_factory.mktemp("rare")
    random = np.random.default_rng(0)
    x = random.normal(size=(400, 2)).round(3)
    rare = x[:, 0] + random.normal(size=400) / 2 > 1.3
    lines = [f"{a},{b},{'yes' if is_rare else 'no'}" for (a, b), is_rare in zip(x, rare, strict=True)]
    (folder / "rare.csv").write_text("\n".join(["a,b,fraud", *lines]) + "\n")
    tree = tw.DecisionTreeClassifier(max_depth=3).fit({"a": x[:, 0], "b": x[:, 1]}, np.where(rare, "yes", "no"))
    tree.save(folder / "tree.tw")
    return folder


def test_the_measures_are_those_of_the_predictions(command, folder):
    done = command("evaluate", "tree.tw", "rare.csv", "--target", "fraud", "--json", folder=folder)
    found = json.loads(done.stdout)["score"]

    rows = np.loadtxt(folder / "rare.csv", str, delimiter=",", skiprows=1)
    table, truth = {"a": rows[:, 0].astype(float), "b": rows[:, 1].astype(float)}, rows[:, 2]
    model = tw.load(folder / "tree.tw")
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(truth, model.predict(table)))
    assert found["roc_auc"] == pytest.approx(roc_auc_score(truth == "yes", model.predict_proba(table)[:, 1]))


@pytest.mark.parametrize("algorithm", ["cart", "adaboost", "knn"])
@pytest.mark.parametrize("how", [(), ("--cv", "3")])
def test_fit_tells_them_of_a_rare_class(command, folder, algorithm, how):
    few = ("--trees", "3") if algorithm == "adaboost" else ()
    done = command("fit", "rare.csv", "--target", "fraud", "--algorithm", algorithm, *few, *how, folder=folder)
    assert done.returncode == 0, done.stderr
    assert "unequal classes ('yes' is " in done.stdout
    for word in ("balanced accuracy", "ROC AUC", "by chance", "F1: no"):
        assert word in done.stdout
    assert ("log loss" in done.stdout) == (algorithm != "adaboost")  # its trees vote


def test_evaluate_tells_them_of_a_rare_class_and_not_of_equal_ones(command, folder):
    done = command("evaluate", "tree.tw", "rare.csv", "--target", "fraud", folder=folder)
    assert "unequal classes ('yes' is " in done.stdout
    halves = "\n".join(["a,b,fraud", *(f"{at},{at % 3},{'yes' if at % 2 else 'no'}" for at in range(40))])
    (folder / "halves.csv").write_text(halves + "\n")
    done = command("evaluate", "tree.tw", "halves.csv", "--target", "fraud", folder=folder)
    assert "unequal" not in done.stdout


@pytest.mark.parametrize("how", [(), ("--cv", "3")])
def test_json_of_a_fit_has_them_for_equal_classes_too(command, penguins, tmp_path, how):
    done = command("fit", penguins, "--target", "species", "--max-depth", "2", "--json", *how, folder=tmp_path)
    facts = json.loads(done.stdout)
    score = (facts["held_out"] or facts["cross_validation"])["score"]
    assert 0.9 < score["roc_auc"] <= 1


def test_compare_tells_them_of_a_rare_class_and_names_no_other_winner(command, folder):
    words = [
        "compare",
        "rare.csv",
        "--target",
        "fraud",
        "--cv",
        3,
        "--candidate",
        "cart,knn,adaboost",
        "--out",
        "c.csv",
    ]

    said = command(*words, "--force", folder=folder)

    titles = [" ".join(line.split()) for line in said.stdout.splitlines()]
    assert "mean ± leaves difference 95 % interval p (Holm)" in titles
    assert "balanced accuracy ± ROC AUC ± log loss ±" in titles
    rows = {row["name"]: row for row in csv.DictReader((folder / "c.csv").read_text().splitlines())}
    table = pl.read_csv(folder / "rare.csv")
    alone = tw.model_selection.compare(
        {"cart": tw.DecisionTreeClassifier(random_state=0)}, table["a", "b"], table["fraud"], cv=3, scoring="roc_auc"
    )
    assert float(rows["cart"]["ROC AUC"]) == pytest.approx(alone["cart"].mean)
    assert float(rows["cart"]["log loss"]) > 0
    assert rows["adaboost"]["log loss"] in ("", "nan", "NaN")  # its trees vote


def test_compare_takes_scores_by_name(command, folder):
    words = ["compare", "rare.csv", "--target", "fraud", "--cv", 3, "--candidate", "cart,knn"]

    said = command(*words, "--scoring", "roc_auc, neg_log_loss", folder=folder)
    wrong = command(*words, "--scoring", "roc_auc,neg_logloss", folder=folder)

    assert said.stdout.splitlines()[2].startswith("roc_auc, 3 folds")
    assert any(line.split() == ["log", "loss", "±"] for line in said.stdout.splitlines())
    assert wrong.returncode != 0
    assert "did you mean 'neg_log_loss'" in wrong.stderr


def table_of(path, labels):
    path.write_text("x,y\n" + "".join(f"{at}.5,{label}\n" for at, label in enumerate(labels)))
    return path


@pytest.mark.parametrize("how", [(), ("--cv", "4"), ("--test-size", "0")])
def test_a_target_of_one_class_is_warned_of(command, tmp_path, how):
    done = command("fit", table_of(tmp_path / "one.csv", "a" * 20), "--target", "y", *how)
    assert done.returncode == 0, done.stderr
    assert "1 class (a 100.0 %)" in done.stdout
    assert done.stdout.splitlines()[-1] == (
        "WARNING: the training rows are all of class 'a': there is nothing to learn"
    )


def test_a_class_that_only_the_held_out_rows_have_is_named(command, tmp_path):
    table = table_of(tmp_path / "ab.csv", "a" * 19 + "b")
    found = [command("fit", table, "--target", "y", "--seed", seed).stdout for seed in range(4)]
    held_out = [text for text in found if "training rows are all of class 'a'" in text]
    assert held_out
    assert len(held_out) < len(found)
    for text in held_out:
        assert "('b' is 20.0 % of the held-out rows)" in text
        assert "class 'b' is not in the training rows: its 1 row cannot be predicted correctly" in text
        assert "constant prediction" not in text


def test_evaluate_names_a_class_that_the_model_does_not_know(command, folder):
    (folder / "new.csv").write_text("a,b,fraud\n1,1,no\n1,2,no\n3,1,maybe\n")
    done = command("evaluate", "tree.tw", "new.csv", "--target", "fraud", "--json", folder=folder)
    warning = json.loads(done.stdout)["warning"]
    assert warning.startswith("WARNING: class 'maybe' is not in the training rows: its 1 row cannot be")


def test_instead_of_one_more_class_the_last_is_named(command, tmp_path):
    for n, words in ((7, "u 14.3 %)"), (8, "t 12.5 %, 2 more)")):
        table = table_of(tmp_path / f"{n}.csv", "opqrstuvw"[:n] * 6)
        assert words in command("fit", table, "--target", "y", "--test-size", 0).stdout
