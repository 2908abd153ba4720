"""AdaBoost on the command line: fitted, shown, scored; members of the algorithm that is named."""

from __future__ import annotations

import numpy as np
import pytest

import treewright as tw

FEW = ["--set", "n_estimators=5"]


@pytest.mark.parametrize(("target", "depth", "kind"), [("species", 1, "accuracy"), ("bill_depth_mm", 3, "R2")])
def test_stumps_are_boosted_for_classes_and_trees_of_three_levels_for_numbers(
    command, penguins, tmp_path, target, depth, kind
):
    done = command(
        "fit", penguins, "--target", target, "--algorithm", "adaboost", *FEW, "--skip-missing-target", "--out", "a.tw",
        folder=tmp_path,
    )  # fmt: skip
    model = tw.load(tmp_path / "a.tw")

    assert done.returncode == 0, done.stderr
    assert f"held-out {kind}" in done.stdout
    assert max(tree.max_depth for tree in model.trees) == depth
    assert model.facts["algorithm"] == "adaboost"
    assert len(model.tree_weights) == 5
    assert command("show", "a.tw", folder=tmp_path).stdout.split()[2:4] == ["5", "trees,"]
    said = command("predict", "a.tw", penguins, folder=tmp_path)
    assert (said.returncode, said.stdout.count("\n")) == (0, 345)


def test_the_command_boosts_as_python_does(command, penguins, tmp_path):
    words = ["--set", "estimator=c45", "--set", "estimator__max_depth=2", "--set", "learning_rate=0.5"]
    done = command(
        "fit", penguins, "--target", "species", "--algorithm", "adaboost", *FEW, *words, "--test-size", "0", "--out",
        "a.tw", folder=tmp_path,
    )  # fmt: skip
    model = tw.load(tmp_path / "a.tw")
    pl = pytest.importorskip("polars")
    table = pl.read_csv(penguins, null_values=["", "NA"])
    est = tw.AdaBoostClassifier(tw.C45Classifier(max_depth=2), n_estimators=5, learning_rate=0.5)
    est.fit(table.drop("species"), table["species"])

    assert done.returncode == 0, done.stderr
    assert model.facts["member"]["algorithm"] == "c45"
    assert np.array_equal(model.tree_weights, est.estimator_weights_)
    assert np.array_equal(model.predict(table.drop("species")), est.predict(table.drop("species")))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--set", "estimator=forest"], "cart, id3, c45"),
        (["--set", "estimator__max_depth=0"], "max_depth"),
        (["--set", "learning_rate=0"], "learning_rate"),
        (["--set", "loss=square"], "loss"),
        (["--prune", "ccp-1se"], "prunes one tree"),
    ],
)
def test_what_adaboost_does_not_have_is_refused_in_one_line(command, penguins, words, message):
    done = command("fit", penguins, "--target", "species", "--algorithm", "adaboost", *words)

    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.fixture(scope="module")
def grown(command, penguins, tmp_path_factory):
    """A folder with AdaBoost on C4.5, for classes."""
    folder = tmp_path_factory.mktemp("grown")
    words = ["--set", "estimator=c45", "--set", "estimator__max_depth=2", *FEW, "--test-size", "0", "--out", "a.tw"]
    done = command("fit", penguins, "--target", "species", "--algorithm", "adaboost", *words, folder=folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_importances_and_votes_count_trees_by_their_weights(command, grown):
    model = tw.load(grown / "a.tw")
    shown = command("show", "a.tw", folder=grown).stdout
    told = command("show", "a.tw", "--importances", folder=grown).stdout

    assert "the prediction is the class with the largest total weight of votes" in shown
    weights = model.tree_weights
    line = next(line for line in shown.split("\n") if line.startswith("weight "))
    assert line.split()[1:] == [f"{each:.4g}" for each in (weights.min(), np.median(weights), weights.max())]
    assert "trees by their weights" in told
    by_name = dict(zip(model.schema.names, model.feature_importances.tolist(), strict=True))
    found = {line.split()[0]: float(line.split()[1]) for line in told.strip().split("\n")[2:]}
    assert found == {name: pytest.approx(value, abs=6e-4) for name, value in by_name.items()}


def test_evaluate_shuffles_columns_under_all_members_together(command, penguins, grown):
    done = command("evaluate", "a.tw", penguins, "--importances", folder=grown)

    assert done.returncode == 0, done.stderr
    assert "increase of all trees' joint misclassification rate when the column is shuffled" in done.stdout
    assert "mean over 5 shuffles" in done.stdout


@pytest.mark.parametrize(
    ("method", "told"),
    [("leaves", "--method leaves prunes one tree"), ("rounds", "--method rounds drops the last rounds of gradient")],
)
def test_prune_says_that_members_are_not_pruned(command, grown, method, told):
    setting = {"leaves": "max_leaves=3", "rounds": "n_rounds=1"}[method]
    done = command("prune", "a.tw", "--method", method, "--set", setting, folder=grown)

    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
