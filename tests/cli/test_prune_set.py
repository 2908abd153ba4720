"""``--prune-set``: options of the pruning in ``fit --prune`` and in ``compare``."""

from __future__ import annotations

import polars as pl
import pytest

import treewright
from treewright.model_selection import PrunedTree


@pytest.fixture(scope="module")
def table(penguins, tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "t.csv"
    pl.read_csv(penguins).drop_nulls().write_csv(path)
    return path


@pytest.mark.parametrize(
    ("prune", "words", "method", "options", "own"),
    [
        ("leaves", ["max_leaves=3"], "leaves", {"max_leaves": 3}, {}),
        ("depth", ["max-depth=2", "risk=error"], "depth", {"max_depth": 2, "risk": "error"}, {}),
        ("cost_complexity", ["alpha=0.02"], "cost_complexity", {"alpha": 0.02}, {}),
        ("description-length", [], "description_length", None, {}),
        ("significance", ["max_p_value=0.001", "adjust=holm"], "significance",
         {"max_p_value": 0.001, "adjust": "holm"}, {}),
        ("error_based", ["confidence=0.01", "subtree_raising=false"], "error_based",
         {"confidence": 0.01, "subtree_raising": False}, {}),
        ("minimum-error", ["m=12"], "minimum_error", {"m": 12}, {}),
        ("pessimistic", ["errors_per_leaf=2", "standard_errors=0"], "pessimistic",
         {"errors_per_leaf": 2, "standard_errors": 0}, {}),
        ("ccp-1se", ["cv=4", "risk=error"], "ccp_1se", {"risk": "error"}, {"cv": 4}),
        ("reduced_error", ["prune_size=0.5"], "reduced_error", None, {"prune_size": 0.5}),
    ],
)  # fmt: skip
def test_fit_prunes_with_the_options_as_python_does(command, table, tmp_path, prune, words, method, options, own):
    settings = [part for word in words for part in ("--prune-set", word)]

    said = command(
        "fit", table, "--target", "species", "--test-size", 0, "--prune", prune, *settings, "--out", "m.tw",
        folder=tmp_path,
    )  # fmt: skip

    assert said.returncode == 0, said.stderr
    assert f"pruned by {prune.replace('_', '-')}: " in said.stdout
    rows = pl.read_csv(table)
    estimator = treewright.DecisionTreeClassifier(random_state=0)
    whole = PrunedTree(estimator, method, options=options, **own).fit(rows.drop("species"), rows["species"])
    made = treewright.load(tmp_path / "m.tw")
    assert made.trees[0].n_leaves == whole.tree_.n_leaves
    assert made.trees[0].feature.tolist() == whole.tree_.feature.tolist()
    assert made.facts["pruning"] == whole.model_.facts["pruning"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--prune", "leaves"], "--prune leaves needs a value, such as --prune-set max_leaves=8"),
        (["--prune", "cost-complexity"], "--prune-set alpha=0.01"),
        (
            ["--prune", "leaves", "--prune-set", "max_leaf=3"],
            "did you mean 'max_leaves'?); choose one of max_leaves",
        ),
        (["--prune", "mdl", "--prune-set", "noise"], "write it as option=value"),
        (["--prune", "leaves", "--prune-set", "max_leaves=3", "--prune-set", "max-leaves=4"], "given twice"),
        (["--prune", "merge-equal-leaves", "--prune-set", "m=1"], "it has none"),
        (["--prune-set", "m=1"], "name one with --prune"),
        (["--prune", "ccp-1se", "--prune-set", "rule=min"], "choose one of cv, risk, loss"),
        (["--prune", "mdl", "--set", "grow_trace=true"], "--set grow_trace shows how the tree grew"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_read(command, tmp_path, words, told):
    said = command("fit", "nowhere.csv", "--target", "y", *words, folder=tmp_path)

    assert said.returncode == 2
    assert told in said.stderr
    assert len(said.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--prune", "ccp-1se", "--prune-set", "cv=1"], "--prune-set cv=1: give at least 2 folds"),
        (["--prune", "leaves", "--prune-set", "max_leaves=0"], "max_leaves=0: give a whole number >= 1"),
        (["--set", "missing=surrogate", "--prune", "error-based"], "Give --prune-set subtree_raising=false"),
    ],
)
def test_refused_values_are_told_in_the_words_of_the_command(command, penguins, tmp_path, words, told):
    said = command("fit", penguins, "--target", "species", *words, folder=tmp_path)

    assert said.returncode == 2
    assert told in said.stderr


def test_numbers_are_refused_before_a_tree_is_grown_on_them(command, table, tmp_path, monkeypatch):
    monkeypatch.setattr(treewright.DecisionTreeRegressor, "fit", None)

    said = command("fit", table, "--target", "body_mass_g", "--task", "regression", "--prune", "pessimistic")

    assert said.returncode == 2
    assert "--prune pessimistic counts misclassified rows, and target body_mass_g holds numbers" in said.stderr


def test_compare_hands_options_to_the_prunings_that_have_them(command, table, tmp_path):
    said = command(
        "compare", table, "--target", "species", "--cv", 3, "--candidate", "cart + leaves, cart+ccp_min,c45",
        "--prune-set", "max_leaves=2", "--set", "ccp_alpha=0", "--set", "max_depth=5", folder=tmp_path,
    )  # fmt: skip

    assert said.returncode == 2
    assert "--set ccp_alpha prunes, and cart+leaves, cart+ccp-min" in said.stderr

    said = command(
        "compare", table, "--target", "species", "--cv", 3, "--candidate", "cart + leaves, cart+ccp_min,cart",
        "--prune-set", "max_leaves=2", "--set", "ccp_alpha=0.1", folder=tmp_path,
    )  # fmt: skip

    assert said.returncode == 0, said.stderr
    leaves = {line.split()[0]: float(line.split()[3]) for line in said.stdout.splitlines() if line.startswith("cart")}
    assert leaves["cart+leaves"] == 2
    assert leaves["cart"] == 3
    assert leaves["cart+ccp-min"] > 3
    assert "--set ccp_alpha=0.1 is not used by cart+leaves, cart+ccp-min" in said.stderr
    assert "--prune-set max_leaves is no option of cart+ccp-min" in said.stderr
