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
        (["--prune", "ccp-1se"], "cuts one tree back"),
    ],
)
def test_what_adaboost_does_not_have_is_refused_in_one_line(command, penguins, words, message):
    done = command("fit", penguins, "--target", "species", "--algorithm", "adaboost", *words)

    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
