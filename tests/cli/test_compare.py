"""``treewright compare``: the table it prints and what it refuses."""

from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import polars as pl
import pytest

import treewright as tw


@pytest.fixture(scope="module")
def compared(command, penguins, tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared")
    said = command(
        "compare", penguins, "--target", "species", "--candidate", "cart,cart+ccp-1se", "--candidate", "c45", "--cv", 5,
        "--set", "max_depth=4", "--out", "table.csv", folder=folder,
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
    return folder, said


def test_compare_prints_a_row_for_every_candidate(compared):
    _, said = compared

    for name in ("cart", "cart+ccp-1se", "c45"):
        assert re.search(rf"^\W*{re.escape(name)} .*0\.9\d", said.stdout, re.MULTILINE), said.stdout


def test_the_table_fits_80_columns(compared):
    _, said = compared

    assert max(map(len, said.stdout.splitlines())) <= 80


def test_the_table_is_written_as_csv(compared):
    folder, _ = compared

    rows = list(csv.DictReader(io.StringIO((folder / "table.csv").read_text())))

    assert [next(iter(row.values())) for row in rows] == ["cart", "cart+ccp-1se", "c45"]


def test_the_same_command_gives_the_same_table(command, penguins, compared, tmp_path):
    _, said = compared

    again = command(
        "compare", penguins, "--target", "species", "--candidate", "cart,cart+ccp-1se,c45", "--cv", 5,
        "--set", "max_depth=4", "--jobs", 1, folder=tmp_path,
    )  # fmt: skip

    assert again.stdout in said.stdout


def test_numbers_are_compared_by_r2(command, penguins, tmp_path):
    said = command("compare", penguins, "--target", "body_mass_g", "--skip-missing-target", "--cv", 3, "--candidate",
                   "cart,cart+ccp-min,chaid", "--task", "regression", folder=tmp_path)  # fmt: skip

    assert said.returncode == 0, said.stderr
    assert "cart+ccp-min" in said.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--candidate", "oak"], "choose one of cart, id3, c45, chaid"),
        (["--candidate", "cart+nothing"], "no such pruner"),
        (["--candidate", "cart", "--cv", "1"], "give 2 folds"),
        (["--candidate", "cart", "--set", "max_depht=3"], "did you mean max_depth?"),
        (["--candidate", "cart", "--scoring", "beauty"], "beauty"),
        (["--candidate", "cart", "--baseline", "carrt"], "did you mean 'cart'"),
        (["--candidate", "cart", "--measure", "cost"], "--measure cost needs the costs of mistakes: give --cost"),
        (["--candidate", "cart", "--cost", "fp=1,fn=2"], "is for two classes, and target species has 3"),
        (["--candidate", "cart", "--cost", "{fp: 1}"], "is no JSON"),
        (["--candidate", "cart", "--cost", '{"Adelie": {"Gentoo": 1}}'], "no cost of predicting 'Chinstrap'"),
        (["--candidate", "cart", "--positive", "Adelie"], "is for a target of two classes, and species has 3"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(command, penguins, tmp_path, words, told):
    said = command("compare", penguins, "--target", "species", *words, folder=tmp_path)

    assert said.returncode in (1, 2)
    assert told in said.stderr
    assert len(said.stderr.strip().splitlines()) == 1


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A file of two classes, the second of them rare."""
    random = np.random.default_rng(0)
    pull = random.normal(size=(300, 2)).round(2)
    risk = np.where(pull[:, 0] + random.normal(size=300) > 1.2, "bad", "good")
    place = tmp_path_factory.mktemp("two") / "risk.csv"
    pl.DataFrame({"a": pull[:, 0], "b": pull[:, 1], "risk": risk}).write_csv(place)
    return place


def told(command, two, tmp_path, *words):
    said = command("compare", two, "--target", "risk", "--cv", 3, "--candidate", "cart,cart+ccp-1se", *words, "--json",
                   folder=tmp_path)  # fmt: skip
    assert said.returncode == 0, said.stderr
    return json.loads(said.stdout)


def test_candidates_are_judged_by_the_costs_that_choose_their_thresholds(command, two, tmp_path):
    found = told(command, two, tmp_path, "--cost", "fp=1,fn=9", "--positive", "bad", "--baseline", "cart")

    assert (found["scoring"], found["positive"], found["baseline"]) == ("neg_cost", "bad", "cart")
    pruned = found["candidates"][1]
    assert "accuracy" in pruned["other_scores"]
    assert pruned["behind_low"] < pruned["behind"] < pruned["behind_high"]
    table = pl.read_csv(two)
    grown = tw.DecisionTreeClassifier(random_state=0)
    tree = tw.model_selection.PrunedTree(grown, "ccp_1se", random_state=0)
    from treewright.cli.threshold import ThresholdRequest, WithThreshold
    from treewright.evaluation.threshold import Aim

    asked = WithThreshold(tree, ThresholdRequest("--cost", Aim("cost", 1.0, 9.0)), 0, None)
    scores = tw.model_selection.compare(
        {"it": asked}, table.select("a", "b"), table["risk"].to_numpy(), cv=3, cost={"fp": 1, "fn": 9}, positive="bad"
    )
    assert pruned["scores"] == pytest.approx(scores["it"].scores.tolist())
    table = told(command, two, tmp_path, "--cost", '{"bad": {"good": 9}, "good": {"bad": 1}}', "--positive", "bad")
    assert [each["scores"] for each in table["candidates"]] == [each["scores"] for each in found["candidates"]]


def test_a_threshold_and_a_measure_of_the_positive_class(command, two, tmp_path):
    found = told(command, two, tmp_path, "--threshold", "0", "--positive", "bad", "--measure", "recall,log_loss")
    plain = told(command, two, tmp_path, "--positive", "bad", "--measure", "recall,log_loss")

    assert (found["scoring"], found["positive"]) == ("recall", "bad")
    assert found["candidates"][1]["mean"] == 1.0 > plain["candidates"][1]["mean"]
    others = [{each["name"]: each["other_scores"] for each in of["candidates"]} for of in (found, plain)]
    assert others[0]["cart"] == others[1]["cart"]


def test_weights_of_classes_judge_what_they_choose(command, two, tmp_path):
    assert told(command, two, tmp_path, "--class-weight", "balanced")["scoring"] == "balanced_accuracy"
    weighed = told(command, two, tmp_path, "--class-weight", '{"bad": 5}')
    assert weighed["scoring"] == "class_weighted_accuracy"
