"""The size of one tree that nobody gave a size: folds within the rows of the fit choose it, and the command says so."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import treewright
from treewright.cli import request as requests
from treewright.cli.app import app
from treewright.model_selection import PrunedTree


@pytest.fixture(scope="module", name="noisy")
def _noisy(tmp_path_factory):
    """200 rows in which x decides and a tenth of the classes are turned round; z says nothing."""
    folder = tmp_path_factory.mktemp("noisy")
    rows = range(200)
    is_turned = [row % 10 == 3 for row in rows]
    pl.DataFrame({
        "x": [row * 7 % 200 for row in rows],
        "z": [row * 31 % 97 for row in rows],
        "y": ["ab"[(row * 7 % 200 > 90) != turned] for row, turned in zip(rows, is_turned, strict=True)],
        "number": [float(row * 7 % 200 > 90) + 0.1 * (row * 13 % 17) for row in rows],
    }).write_csv(folder / "noisy.csv")  # fmt: skip
    return folder


def fit(command, folder, *words):
    target = [] if "--target" in words else ["--target", "y", "--drop", "number"]
    return command("fit", "noisy.csv", *target, *words, folder=folder)


def test_folds_choose_the_size_and_the_command_says_how_to_keep_the_whole_tree(command, noisy):
    said, whole = fit(command, noisy), fit(command, noisy, "--prune", "none")

    assert "size by cross-validation (ccp-min): " in said.stdout
    assert "--prune none keeps every leaf" in said.stdout
    assert "size by" not in whole.stdout
    assert " -> 2, depth 1" in said.stdout
    assert "2 leaves, depth 1" not in whole.stdout


@pytest.mark.parametrize("target", ["y", "number"])
def test_the_tree_is_that_of_ccp_min_and_of_python(command, noisy, target):
    other = "number" if target == "y" else "y"
    words = ["--target", target, "--drop", other, "--test-size", 0, "--seed", 5, "--force"]
    for option, out in (([], "own"), (["--prune", "ccp-min"], "named")):
        assert fit(command, noisy, *words, *option, "--out", f"{out}.tw").returncode == 0
    assert fit(command, noisy, *words, "--report", "page.html", "--out", "reported.tw").returncode == 0

    table = pl.read_csv(noisy / "noisy.csv")
    kind = treewright.DecisionTreeClassifier if target == "y" else treewright.DecisionTreeRegressor
    tree = PrunedTree(kind(random_state=5), "ccp_min", random_state=5).fit(table["x", "z"], table[target])

    own = (noisy / "own.tw").read_bytes()
    assert own == (noisy / "named.tw").read_bytes() == (noisy / "reported.tw").read_bytes()
    assert treewright.load(noisy / "own.tw").show() == tree.show()


@pytest.mark.parametrize(
    "words",
    [
        ["--max-depth", "4"],
        ["--set", "min_impurity_decrease=0.001"],
        ["--min-leaf", "2"],
        ["--alpha", "0"],
        ["--trace"],
        ["--algorithm", "c45"],
        ["--algorithm", "forest", "--trees", "3"],
    ],
)
def test_who_says_how_large_a_tree_is_to_be_gets_that_tree(command, noisy, words):
    said = fit(command, noisy, *words)

    assert said.returncode == 0
    assert "size by cross-validation" not in said.stdout


def test_a_small_table_is_read_as_it_stands(command, noisy, tmp_path):
    pl.read_csv(noisy / "noisy.csv").head(99).write_csv(tmp_path / "noisy.csv")

    said = fit(command, tmp_path)

    assert "size by" not in said.stdout
    assert "--prune" not in said.stdout


def test_a_large_table_is_left_whole_and_the_option_is_named(noisy, monkeypatch, capsys):
    monkeypatch.setattr(requests, "_MOST_CELLS", 399)
    monkeypatch.chdir(noisy)

    app(["fit", "noisy.csv", "--target", "y", "--drop", "number"], standalone_mode=False)

    said = " ".join(capsys.readouterr().out.split())
    assert "the tree is not pruned: with 400 cells that is slow; --prune ccp-min chooses its size" in said


def test_one_leaf_says_why_and_how_to_keep_more(command, tmp_path):
    drawn = np.random.default_rng(16)
    x, z = drawn.integers(0, 40, 120), drawn.integers(0, 40, 120)
    y = np.where(drawn.random(120) < np.where(x > 20, 0.58, 0.36), "b", "a")
    pl.DataFrame({"x": x, "z": z, "y": y}).write_csv(tmp_path / "weak.csv")

    said = command("fit", "weak.csv", "--target", "y", "--test-size", 0, "--prune", "ccp-1se", folder=tmp_path).stdout

    assert "is within one standard error (0.0449) of the least, 0.4083 with 5 leaves" in " ".join(said.split())
    assert "; --prune ccp-min keeps them" in " ".join(said.split())


def test_log_loss_may_choose_the_size(command, noisy):
    words = ["--test-size", 0, "--prune", "ccp-min", "--prune-set", "loss=log_loss", "--out", "log.tw", "--force"]

    assert fit(command, noisy, *words).returncode == 0

    table = pl.read_csv(noisy / "noisy.csv")
    tree = PrunedTree(treewright.DecisionTreeClassifier(random_state=0), "ccp_min", options={"loss": "log_loss"})
    assert treewright.load(noisy / "log.tw").show() == tree.fit(table["x", "z"], table["y"]).show()


def test_json_names_the_pruning(command, noisy):
    assert json.loads(fit(command, noisy, "--json").stdout)["pruning"] == "ccp-min"
    assert json.loads(fit(command, noisy, "--json", "--prune", "none").stdout)["pruning"] is None


def test_a_wrong_pruning_names_none_as_well(command, noisy):
    said = fit(command, noisy, "--prune", "non")

    assert said.returncode == 2
    assert "did you mean 'none'" in said.stderr


def test_folds_warn_of_nothing_that_the_tree_itself_does_not(command, penguins, tmp_path):
    said = command("fit", penguins, "--target", "species", folder=tmp_path)

    assert "size by cross-validation" in said.stdout
    assert "warning" not in said.stderr
