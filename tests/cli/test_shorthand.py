"""``--max-depth 3`` is ``--set max_depth=3``; an option that is not there names the one that was meant."""

from __future__ import annotations

import pytest

import treewright as tw
from treewright.cli.options import OF_A_FIT, OF_A_PRUNING
from treewright.learn.params import CLASSES, NUMBERS, parameters_of
from treewright.learn.registry import ALGORITHMS
from treewright.prune.methods import METHODS


@pytest.fixture
def rows(tmp_path):
    lines = [f"{at},{at % 3},{'yes' if (at * 7) % 11 > 5 else 'no'}" for at in range(60)]
    (tmp_path / "rows.csv").write_text("\n".join(["size,kind,answer", *lines]) + "\n")
    return tmp_path


VALUES = {
    "--max-depth": "2", "--max-leaves": "3", "--min-leaf": "4", "--criterion": "entropy", "--class-weight": "balanced",
    "--max-features": "1", "--alpha": "0.01",
}  # fmt: skip


@pytest.mark.parametrize("option", VALUES)
def test_a_short_option_makes_the_model_that_set_makes(command, rows, option):
    short = command("fit", "rows.csv", "--target", "answer", option, VALUES[option], "--out", "short.tw", folder=rows)
    name = OF_A_FIT[option][0]
    words = ("--set", f"{name}={VALUES[option]}", "--out", "long.tw")
    long = command("fit", "rows.csv", "--target", "answer", *words, folder=rows)

    assert short.returncode == long.returncode == 0
    assert (rows / "short.tw").read_bytes() == (rows / "long.tw").read_bytes()
    assert short.stdout.replace("short.tw", "long.tw") == long.stdout


def test_options_of_forests_boosting_and_neighbours_reach_their_parameters(command, rows):
    shared = ("fit", "rows.csv", "--target", "answer", "--out", "m.tw", "--force", "--algorithm")
    assert command(*shared, "boosting", "--trees", "7", "--rate", "0.25", folder=rows).returncode == 0
    facts = tw.load(rows / "m.tw").facts["parameters"]
    assert (facts["n_estimators"], facts["learning_rate"]) == (7, 0.25)
    assert command(*shared, "knn", "--neighbors", "3", folder=rows).returncode == 0
    assert tw.load(rows / "m.tw").n_neighbors == 3


def test_every_short_option_names_a_parameter_that_there_is():
    known = {
        name for each in ALGORITHMS for task in (CLASSES, NUMBERS) for name in parameters_of(each.params_class(), task)
    }
    assert {name for name, _, _ in OF_A_FIT.values()} <= known
    of_methods = {name for each in METHODS.values() for name in each.options()}
    assert {name for name, _, _ in OF_A_PRUNING.values()} <= of_methods


def test_a_parameter_given_in_both_ways_is_refused(command, rows):
    done = command("fit", "rows.csv", "--target", "answer", "--max-depth", "2", "--set", "max_depth=3", folder=rows)
    assert done.returncode == 2
    assert "max_depth: given twice" in done.stderr


def test_a_value_that_cannot_be_is_refused_with_the_parameter(command, rows):
    done = command("fit", "rows.csv", "--target", "answer", "--max-depth", "deep", folder=rows)
    assert done.returncode == 2
    assert "'max_depth'" in done.stderr
    assert "'deep'" in done.stderr


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("fit", "x", "--min-samples-leaf", "3"), "here it is --min-leaf"),
        (("fit", "x", "--eta=0.1"), "here it is --rate"),
        (("fit", "x", "--num_leaves", "3"), "here it is --max-leaves"),
        (("fit", "x", "--random-state", "3"), "use --seed"),
        (("fit", "x", "--nthread", "3"), "use --jobs"),
        (("fit", "x", "--subsample", "0.5"), "it is set by --set subsample=VALUE"),
        (("fit", "x", "--max-dept", "3"), "--max-depth"),
        (("compare", "x", "--ntree", "3"), "here it is --trees"),
        (("prune", "m", "--ccp-alpha", "3"), "--alpha"),
        (("prune", "m", "--confidence", "0.1"), "it is set by --set confidence=VALUE"),
    ],
)
def test_a_wrong_option_names_the_right_one(command, words, hint):
    done = command(*words)
    assert done.returncode == 2
    assert hint in " ".join(done.stderr.replace("│", " ").split())


def test_prune_shows_the_tree_that_it_made(command, rows):
    command("fit", "rows.csv", "--target", "answer", "--out", "m.tw", folder=rows)
    done = command("prune", "m.tw", "--method", "leaves", "--max-leaves", "2", "--out", "small.tw", folder=rows)
    assert done.returncode == 0
    assert tw.load(rows / "small.tw").show().rstrip("\n") in done.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--trees", "50"], "--trees 50: --trees is for forest, extra-trees, bagging, boosting, adaboost, isolation"),
        (["--rate", "1", "--algorithm", "forest"], "--rate is for boosting, adaboost: choose one, as in --algorithm b"),
        (["--neighbors", "2"], "--neighbors 2: --neighbors is for knn: choose one, as in --algorithm knn"),
        (["--trees", "0", "--algorithm", "forest"], "error: --trees: The 'n_estimators' parameter"),
        (["--neighbors", "99", "--algorithm", "knn"], "error: --neighbors: n_neighbors=99 > "),
        (["--class-weight", "3"], "error: --class-weight 3 is not a dict"),
        (["--class-weight", '{"q": 1}'], "error: --class-weight: the target has no class 'q'"),
        (
            ["--class-weight", "balanced", "--task", "regression", "--target", "size"],
            "error: --class-weight balanced: ",
        ),
        (["--alpha", "0.1", "--prune", "ccp-min"], "error: --alpha prunes, and"),
    ],
)
def test_an_error_of_a_short_option_speaks_of_what_was_typed(command, rows, words, told):
    done = command("fit", "rows.csv", "--target", "answer", *words, folder=rows)
    assert done.returncode == 2
    assert told in done.stderr.splitlines()[-1]
    assert "--set" not in done.stderr


def test_the_same_parameter_by_set_is_told_of_by_set(command, rows):
    done = command("fit", "rows.csv", "--target", "answer", "--set", "n_estimators=50", folder=rows)
    assert "--set 'n_estimators=50': no parameter 'n_estimators'" in done.stderr


def test_a_comparison_and_a_pruning_speak_of_short_options_too(command, rows):
    words = ("--candidate", "cart,forest", "--cv", "2", "--trees", "3")
    done = command("compare", "rows.csv", "--target", "answer", *words, folder=rows)
    assert "--trees 3 is not used by cart" in done.stderr
    command("fit", "rows.csv", "--target", "answer", "--out", "m.tw", folder=rows)
    done = command("prune", "m.tw", "--method", "leaves", "--alpha", "0.1", folder=rows)
    assert done.stderr.startswith("treewright: error: --alpha: leaves has no such option")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (
            ("--scoring", "roc_auc"),
            "it is set by --set scoring=VALUE with --algorithm boosting; treewright compare has",
        ),
        (("--scoring", "roc_auc", "--algorithm", "boosting"), "it is set by --set scoring=VALUE │"),
        (("--algorithm=forest", "--eta", "0.1"), "here it is --rate with --algorithm boosting or adaboost"),
        (("--algorithm=adaboost", "--eta", "0.1"), "here it is --rate │"),
    ],
)
def test_a_hint_names_the_algorithms_where_the_one_chosen_has_no_such_parameter(command, words, hint):
    said = " ".join(command("fit", "x", *words).stderr.split())
    assert hint in said.replace(" │ │ ", " ")
