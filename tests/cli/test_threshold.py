"""``--cost`` and ``--threshold``: from which probability on a class is predicted."""

import json
import re

import numpy as np
import polars as pl
import pytest

import treewright as tw
from treewright.evaluation import threshold


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Who leaves: of 400 rows some 70, where ``a`` is high."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 400)).round(2)
    left = np.where(rng.random(400) < 1 / (1 + np.exp(2.2 - 1.5 * a - b)), "yes", "no")
    path = tmp_path_factory.mktemp("threshold") / "churn.csv"
    path.write_text("a,b,left\n" + "".join(f"{x},{y},{z}\n" for x, y, z in zip(a, b, left, strict=True)))
    return path


def test_costs_choose_the_threshold_and_the_model_keeps_it(command, data, tmp_path):
    path = tmp_path / "m.tw"
    result = command("fit", data, "--target", "left", "--max-depth", 3, "--cost", "fp=1,fn=5", "--out", path)
    assert result.returncode == 0, result.stderr
    assert "least cost of fp=1, fn=5" in result.stdout
    assert "where the larger share decides" in result.stdout
    assert "a row: " in result.stdout
    assert "wrongly predicted yes at 1 each" in result.stdout
    assert "WARNING" not in result.stdout  # accuracy is given away on purpose
    model = tw.load(path)
    assert 0 < model.threshold.at < 0.5
    judged = command("evaluate", path, data, "--cost", "fp=1,fn=5")
    assert f"the model predicts yes if its probability is at least {model.threshold.at}" in judged.stdout
    assert re.search(r"; (never|always) predicting yes costs [0-9.]+ a row", judged.stdout)
    document = json.loads(command("evaluate", path, data, "--cost", "fp=1,fn=5", "--json").stdout)
    said, truth = model.predict({"a": [], "b": []}), document["score"]["confusion"]
    assert len(said) == 0
    assert document["score"]["cost"] == pytest.approx((truth[0][1] + 5 * truth[1][0]) / 400)


def test_costs_that_chose_are_told_without_being_asked_for(command, data, tmp_path):
    path, page = tmp_path / "m.tw", tmp_path / "r.json"
    more = ("--max-depth", 3, "--cost", "fp=1,fn=5", "--positive", "no", "--out", path)
    assert command("fit", data, "--target", "left", *more).returncode == 0
    assert tw.load(path).threshold.cost_each == (1.0, 5.0)
    asked = command("evaluate", path, data, "--cost", "fp=1,fn=5").stdout
    assert "wrongly predicted no at 1 each" in asked
    assert command("evaluate", path, data).stdout == asked
    assert "wrongly predicted no at 2 each" in command("evaluate", path, data, "--cost", "fp=2,fn=5").stdout
    document = json.loads(command("evaluate", path, data, "--json").stdout)
    assert command("report", path, data, "--out", page, "--cv", "none").returncode == 0
    cost = json.loads(page.read_text())["quality"][0]["measures"][-1]
    assert (cost["name"], cost["value"]) == ("cost per row", pytest.approx(document["score"]["cost"]))
    n_no = data.read_text().count(",no")
    never, always = 5 * n_no / 400, (400 - n_no) / 400
    assert f"Never predicting no costs {never:.4g} per row, always {always:.4g}" in cost["says"]
    assert cost["beside"] == pytest.approx(always)  # "no" is the commonest class


def test_a_threshold_that_no_costs_chose_tells_none(command, data, tmp_path):
    path = tmp_path / "m.tw"
    assert command("fit", data, "--target", "left", "--threshold", "recall=0.8", "--out", path).returncode == 0
    assert tw.load(path).threshold.cost_each is None
    assert "a row: " not in command("evaluate", path, data).stdout


def test_what_is_kept_is_the_same_tree(command, data, tmp_path):
    for name, more in (("plain.tw", ()), ("cost.tw", ("--cost", "fp=1,fn=5"))):
        fitted = command("fit", data, "--target", "left", "--max-depth", 4, "--out", tmp_path / name, *more)
        assert fitted.returncode == 0
    plain, decided = tw.load(tmp_path / "plain.tw"), tw.load(tmp_path / "cost.tw")
    np.testing.assert_array_equal(plain.trees[0].value, decided.trees[0].value)
    np.testing.assert_array_equal(plain.trees[0].threshold, decided.trees[0].threshold)


def test_a_tree_that_decides_by_a_threshold_has_the_size_of_the_least_log_loss(command, data):
    result = command("fit", data, "--target", "left", "--cost", "fp=1,fn=5")
    assert "size by cross-validation (ccp-min by log loss): " in result.stdout
    asked = command("fit", data, "--target", "left", "--threshold", "0.3", "--prune", "ccp-1se")
    assert "pruned by ccp-1se by log loss: " in asked.stdout
    own = ("--prune", "ccp-1se", "--prune-set", "loss=misclassification")
    assert "pruned by ccp-1se: " in command("fit", data, "--target", "left", "--cost", "fp=1,fn=5", *own).stdout


@pytest.fixture(scope="module")
def noise(tmp_path_factory):
    """A rare class that no column tells of."""
    rng = np.random.default_rng(3)
    path = tmp_path_factory.mktemp("threshold") / "noise.csv"
    labels = np.where(rng.random(300) < 0.05, "yes", "no")
    path.write_text("a,y\n" + "".join(f"{x:.3f},{y}\n" for x, y in zip(rng.normal(size=300), labels, strict=True)))
    return path


def test_one_class_for_every_row_is_said_loudly(command, noise, tmp_path):
    fit = command("fit", noise, "--target", "y", "--cost", "fp=1,fn=50", "--out", tmp_path / "m.tw")
    assert "WARNING: that costs no less than always predicting yes" in fit.stdout
    assert "WARNING: the model predicts yes for every row: " in fit.stdout
    assert "WARNING: the model predicts yes for every row: " in command("evaluate", tmp_path / "m.tw", noise).stdout
    deeper = command("fit", noise, "--target", "y", "--max-depth", 2, "--threshold", "0.999")
    assert "predicts no for every row: its probabilities of yes are all below 0.999" in deeper.stdout


def test_a_followed_and_an_explained_row_say_the_threshold_that_decided(command, data, tmp_path):
    path = tmp_path / "m.tw"
    words = ("--target", "left", "--threshold", "0.0965", "--max-depth", 3, "--out", path)
    assert command("fit", data, *words).returncode == 0
    said = tw.load(path).predict(pl.read_csv(data).drop("left"))
    for row in (int(np.flatnonzero(said == label)[0]) for label in ("yes", "no")):
        line = command("explain", path, data, "--row", row).stdout.splitlines()[0]
        assert line.startswith(f"predicts {said[row]}: ")
        assert line.endswith(" the threshold 0.0965")
        assert f" {line}; " in command("follow", path, data, "--row", row).stdout


def test_pruning_by_rows_tells_the_cost_before_and_after(command, data, tmp_path):
    path, small = tmp_path / "m.tw", tmp_path / "small.tw"
    words = ("--target", "left", "--cost", "fp=1,fn=5", "--max-depth", 4, "--prune", "none", "--out", path)
    assert command("fit", data, *words).returncode == 0
    said = command("prune", path, data, "--method", "leaves", "--max-leaves", 2, "--out", small).stdout
    for when, judged in (("before", path), ("after", small)):
        cost = re.search("(?m)^cost .*$", command("evaluate", judged, data, "--width", 400).stdout)[0]
        assert f"{when}: {cost}" in " ".join(said.split())
    assert "WARNING" not in said
    # Costs are those of the model: without any there is no line about them.
    assert command("fit", data, "--target", "left", "--threshold", "0.2", *words[4:], "--force").returncode == 0
    assert "cost" not in command("prune", path, data, "--method", "leaves", "--max-leaves", 2).stdout


@pytest.mark.parametrize("more", [("--cost", "fp=1,fn=50"), ()])
def test_pruning_to_one_prediction_for_every_row_is_said_loudly(command, noise, tmp_path, more):
    path = tmp_path / "m.tw"
    fitted = command("fit", noise, "--target", "y", "--max-depth", 4, "--prune", "none", "--out", path, *more)
    assert fitted.returncode == 0
    said = command("prune", path, noise, "--method", "leaves", "--max-leaves", 1)
    told = said.stdout[said.stdout.index(" after: ") :]
    judged = command("prune", path, noise, "--method", "leaves", "--max-leaves", 1, "--out", tmp_path / "one.tw")
    assert judged.returncode == 0
    warning = re.search("(?s)WARNING: .*", command("evaluate", tmp_path / "one.tw", noise).stdout)[0]
    assert " ".join(warning.split()) in " ".join(told.split())


@pytest.mark.parametrize("algorithm", ["forest", "boosting", "knn", "c45", "bagging", "adaboost"])
def test_every_algorithm_takes_one(command, data, tmp_path, algorithm):
    path = tmp_path / "m.tw"
    more = () if algorithm in ("knn", "c45") else ("--trees", 5)
    result = command(
        "fit", data, "--target", "left", "--algorithm", algorithm, *more, "--threshold", "recall=0.8", "--out", path,
        "--json",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    told, model = json.loads(result.stdout)["threshold"], tw.load(path)
    assert (told["class"], told["at"]) == ("yes", model.threshold.at)
    assert told["why"] == "recall of at least 0.8, judged in 5 folds"


def test_the_folds_take_as_many_threads_as_the_command(command, data, monkeypatch):
    asked = []
    own = threshold.run_tasks
    monkeypatch.setattr(threshold, "run_tasks", lambda *given: asked.append(given[2]) or own(*given))
    assert command("fit", data, "--target", "left", "--cost", "fp=1,fn=5", "--jobs", 1).returncode == 0
    assert asked == [1]


def test_a_given_one_needs_no_folds_and_names_any_class(command, data, tmp_path):
    path = tmp_path / "m.tw"
    result = command("fit", data, "--target", "left", "--threshold", "0.9", "--positive", "no", "--out", path)
    assert result.returncode == 0, result.stderr
    assert (tw.load(path).threshold.positive, tw.load(path).threshold.at) == (0, 0.9)
    assert "predicts no if its probability is at least 0.9" in result.stdout


def test_the_report_shows_it(command, data, tmp_path):
    page = tmp_path / "r.html"
    assert (
        command("fit", data, "--target", "left", "--max-depth", 2, "--threshold", "0.2", "--report", page).returncode
        == 0
    )
    assert "predicts yes if its probability is at least 0.2" in page.read_text()


def test_cross_validation_scores_the_choice_too(command, data):
    result = command("fit", data, "--target", "left", "--max-depth", 2, "--cost", "fp=1,fn=5", "--cv", 3)
    assert result.returncode == 0, result.stderr
    assert "wrongly predicted yes at 1 each" in result.stdout


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--cost", "fp=1"), "give the costs of both mistakes, as in fp=1,fn=5"),
        (("--cost", "fp=1,fp=2"), "fp is given twice"),
        (("--cost", "fp=0,fn=0"), "not both 0"),
        (("--cost", "fp=1e308,fn=1e308"), "numbers from 0 to 1e+100"),
        (("--cost", "fp=1,fn=1" + "0" * 400), "numbers from 0 to 1e+100"),
        (("--cost", "1,5"), "as in fp=1,fn=5"),
        (("--threshold", "2"), "give a probability from 0 to 1, precision=0.9 or recall=0.9"),
        (("--threshold", "accuracy=0.9"), "precision=0.9 or recall=0.9"),
        (("--threshold", "recall=2"), "give a share above 0, at most 1"),
        (("--threshold", "0.3", "--cost", "fp=1,fn=5"), "leave one out"),
        (("--positive", "maybe"), "its classes are no, yes"),
        (("--threshold", "0.3", "--positive", "maybe"), "its classes are no, yes"),
    ],
)
def test_what_cannot_be_meant_is_refused(command, data, more, words):
    result = command("fit", data, "--target", "left", *more)
    assert result.returncode == 2
    assert words in " ".join(result.stderr.split())


def test_numbers_have_no_threshold(command, data):
    result = command("fit", data, "--target", "a", "--cost", "fp=1,fn=5")
    assert result.returncode == 2
    assert "--cost is for two classes, and target a holds numbers" in " ".join(result.stderr.split())


def test_a_precision_out_of_reach_says_the_highest(command, data):
    result = command("fit", data, "--target", "left", "--max-depth", 1, "--threshold", "precision=0.99")
    assert result.returncode == 1
    assert "no threshold reaches a precision of at least 0.99: the highest is" in " ".join(result.stderr.split())


def test_the_class_may_be_named_as_the_cells_write_it(command, tmp_path):
    (tmp_path / "rows.csv").write_text(
        "x,y,z\n" + "".join(f"{at % 9},{at % 9 > 4:d}.0,{at % 9 > 4}\n" for at in range(90))
    )
    for target, cell, label in (("y", "1.0", 1), ("y", "0", 0), ("z", "true", True)):
        words = ("--target", target, "--drop", "z" if target == "y" else "y", "--positive", cell, "--threshold", "0.3")
        said = command("fit", "rows.csv", *words, "--out", "m.tw", "--force", folder=tmp_path)
        assert said.returncode == 0, said.stderr
        model = tw.load(tmp_path / "m.tw")
        assert model.classes[0].tolist()[model.threshold.positive] == label
    words = ["--target", "y", "--positive", "1.5", "--threshold", "0.3"]
    assert "not a class of the target" in command("fit", "rows.csv", *words, folder=tmp_path).stderr


@pytest.mark.parametrize("cost", [",", "fp=1,,fn=2", ""])
def test_an_empty_entry_of_costs_is_called_so(command, data, cost):
    said = command("fit", data, "--target", "y", "--cost", cost)
    assert said.returncode == 2
    assert "an entry is empty" in said.stderr


def test_the_positive_class_alone_turns_constraints_round_and_is_named(command, tmp_path):
    data, path = tmp_path / "credit.csv", tmp_path / "credit.tw"
    lines = [f"{months},{'bad' if months % 7 < 3 + (months > 30) else 'good'}" for months in range(4, 72)] * 4
    data.write_text("\n".join(["months,risk", *lines]), encoding="utf-8")
    words = ("--target", "risk", "--set", 'monotonic_cst={"months": 1}', "--test-size", 0, "--force", "--out", path)

    for more in ((), ("--algorithm", "bagging", "--set", 'estimator__monotonic_cst={"months": 1}')):
        result = command("fit", data, *(words[:2] + words[4:] if more else words), "--positive", "bad", *more)
        model = tw.load(path)
        shares = model.predict_proba({"months": list(range(4, 72))})[:, 0]
        assert "positive class: bad" in result.stdout
        assert model.positive == "bad"
        assert (shares[1:] >= shares[:-1] - 1e-12).all()
        assert shares[-1] > shares[0]
    result = command("evaluate", path, data, "--cost", "fp=1,fn=5")
    assert "rows of bad missed" in result.stdout
    assert command("fit", data, "--target", "months", "--positive", "bad").returncode == 2
