"""Many trees on the command line: what is fitted, shown, predicted and refused."""

from __future__ import annotations

import csv
import io

import numpy as np
import polars as pl
import pytest

import treewright as tw
from treewright.cli.algorithms import ALGORITHMS, ENSEMBLES

FEATURES = ["island", "bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g", "sex"]
FEW = ("--set", "n_estimators=5")
SPECIES = ("fit", "PENGUINS", "--target", "species", "--algorithm")


@pytest.fixture(scope="module")
def models(command, penguins, tmp_path_factory):
    """A folder with a model of each sort, and what fit said."""
    folder, said = tmp_path_factory.mktemp("models"), {}
    for name in ENSEMBLES:
        done = command(
            "fit", penguins, "--target", "species", "--algorithm", name, *FEW, "--test-size", "0", "--seed", 4,
            "--out", f"{name}.tw", folder=folder,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        said[name] = done.stdout
    done = command(
        "fit", penguins, "--algorithm", "isolation", "--drop", "species", *FEW, "--seed", 4,
        "--set", "contamination=0.1", "--out", "isolation.tw", folder=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder, {**said, "isolation": done.stdout}


@pytest.fixture(scope="module")
def table(penguins):
    frame = pl.read_csv(penguins)
    return frame.select(FEATURES), frame["species"]


def columns_of(text: str) -> dict[str, list[str]]:
    header, *rows = csv.reader(io.StringIO(text))
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


@pytest.mark.parametrize("name", ENSEMBLES)
def test_the_file_predicts_what_the_estimator_predicts(command, penguins, models, table, name):
    folder, _ = models
    done = command("predict", f"{name}.tw", penguins, "--proba", folder=folder)
    own = {"n_estimators": 5, "random_state": 4}
    estimator = getattr(tw, ALGORITHMS[name].classifier)(**own).fit(*table)
    said = columns_of(done.stdout)

    assert said["prediction"] == estimator.predict(table[0]).tolist()
    shares = np.array([said[f"probability_{label}"] for label in estimator.classes_], np.float64).T
    assert shares.tolist() == estimator.predict_proba(table[0]).tolist()


def test_an_isolation_forest_says_outlier_or_not_and_a_score(command, penguins, models, table):
    folder, said = models
    forest = tw.IsolationForest(n_estimators=5, random_state=4, contamination=0.1).fit(table[0])
    found = columns_of(command("predict", "isolation.tw", penguins, folder=folder).stdout)

    assert found["prediction"] == [str(each) for each in forest.predict(table[0]).tolist()]
    assert np.array(found["score"], np.float64).tolist() == (-forest.score_samples(table[0])).tolist()
    assert f"{found['prediction'].count('-1')} of 344 rows; the highest scores:" in said["isolation"]
    assert "no target" in said["isolation"]


def test_fit_shows_a_summary_and_where_to_see_a_tree(models):
    _, said = models

    for name in ENSEMBLES:
        assert "the trees below are fitted on all 344 rows" in said[name]
        assert f"treewright show {name}.tw --tree 0 shows the first tree" in said[name]
        assert "show(tree=0)" not in said[name]
        assert "out-of-bag" not in said[name]


@pytest.mark.parametrize(("target", "line"), [("species", "bag accuracy 0."), ("bill_depth_mm", "bag R2 0.")])
def test_the_out_of_bag_score_is_told_where_it_is_asked_for(command, penguins, target, line):
    done = command(
        "fit", penguins, "--target", target, "--algorithm", "forest", "--set", "n_estimators=40", "--set",
        "oob_score=true", "--skip-missing-target",
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert line in done.stdout
    assert "held-out" in done.stdout
    assert "warning" not in done.stderr


def test_bagging_bags_what_it_is_told(command, penguins, tmp_path):
    words = ["--set", "estimator=c45", "--set", "estimator__max_depth=2", "--nominal", "body_mass_g"]
    done = command(
        "fit", penguins, "--target", "species", "--algorithm", "bagging", *FEW, *words, "--out", "b.tw", folder=tmp_path
    )
    model = tw.load(tmp_path / "b.tw")

    assert done.returncode == 0, done.stderr
    assert model.facts["member"]["algorithm"] == "c45"
    assert max(tree.max_depth for tree in model.trees) <= 2
    kinds = {column.name: column.kind for column in model.schema.columns}
    assert kinds["body_mass_g"] == "nominal"


def test_show_gives_the_whole_or_one_tree_in_every_form(command, models):
    folder, _ = models
    first, second = (command("show", "forest.tw", "--tree", tree, folder=folder).stdout for tree in (0, 1))
    forms = {
        form: command("show", "forest.tw", "--tree", "1", "--format", form, folder=folder).stdout
        for form in ("svg", "dot", "json", "rules", "rules-csv")
    }

    assert "Classification by 5 trees" in command("show", "forest.tw", folder=folder).stdout
    assert first.startswith("Classification tree for species: 344 rows")
    assert first != second
    assert forms["svg"].startswith("<svg")
    assert forms["dot"].startswith("digraph")
    assert forms["json"].startswith("{")
    assert "then" in forms["rules"]
    assert forms["rules-csv"].startswith("rule,leaf")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--format", "svg"],
            "--format svg is for one tree, and forest.tw has 5: choose one with --tree N, from 0 to 4",
        ),
        (["--format", "rules"], "--format rules is for one tree"),
        (["--format", "dot"], "--format dot is for one tree"),
        (["--format", "json"], "--format json is for one tree"),
        (["--max-depth", "2"], "--max-depth is for one tree"),
        (["--max-nodes", "0"], "--max-nodes is for one tree"),
        (["--surrogates"], "--surrogates is for one tree"),
        (["--tree", "5"], "--tree is 5; the model has 5 trees, counted from 0"),
        (["--tree", "-1"], "--tree is -1"),
    ],
)
def test_what_is_for_one_tree_needs_one_chosen(command, models, words, message):
    folder, _ = models
    done = command("show", "forest.tw", *words, folder=folder)

    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_single_tree_is_its_own_first_tree(command, fitted):
    folder, _ = fitted

    assert command("show", "penguins.tw", "--tree", "0", folder=folder).stdout == (
        command("show", "penguins.tw", folder=folder).stdout
    )
    assert "--tree is 1; the model has 1 tree" in command("show", "penguins.tw", "--tree", "1", folder=folder).stderr


def test_evaluate_takes_many_trees(command, penguins, models):
    folder, _ = models

    assert command("evaluate", "extra-trees.tw", penguins, folder=folder).stdout.startswith("accuracy ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["evaluate", "isolation.tw", "PENGUINS", "--target", "species"], "has no target: it cannot be scored"),
        (["predict", "isolation.tw", "PENGUINS", "--proba"], "has no target: it has no class probabilities"),
        (["audit", "isolation.tw", "PENGUINS"], "have sampled rows and columns"),
        (["prune", "forest.tw", "--method", "leaves", "--set", "max_leaves=3"], "--method leaves prunes one tree"),
        (["fit", "PENGUINS"], "--target is missing"),
        (["fit", "PENGUINS", "--algorithm", "isolation", "--target", "sex"], "leave out --target sex"),
        (["fit", "PENGUINS", "--algorithm", "isolation", "--cv", "5", "--trace"], "--cv, --trace: not with"),
        (["fit", "PENGUINS", "--algorithm", "isolation", "--set", "criterion=gini"], "no parameter 'criterion'"),
        (["fit", "PENGUINS", "--algorithm", "isolation", "--set", "n_estimators=0"], "n_estimators"),
        ([*SPECIES, "forest", "--trace"], "--trace shows how one tree grew"),
        ([*SPECIES, "forest", "--svg", "x.svg"], "--svg draws one tree"),
        ([*SPECIES, "forest", "--prune", "ccp-1se"], "prunes one tree"),
        ([*SPECIES, "forest", "--set", "n_estimators=0"], "n_estimators"),
        ([*SPECIES, "bagging", "--set", "estimator=forest"], "cart, id3, c45"),
        ([*SPECIES, "bagging", "--set", "estimator__n_jobs=2"], "no parameter"),
        ([*SPECIES, "bagging", "--set", "estimator__max_depth=0"], "max_depth"),
        (["compare", "PENGUINS", "--target", "sex", "--candidate", "isolation"], "it cannot be scored"),
        (["compare", "PENGUINS", "--target", "sex", "--candidate", "forest+ccp-1se"], "prunes one tree"),
    ],
)  # fmt: skip
def test_what_many_trees_do_not_have_is_refused_in_one_line(command, penguins, models, words, message):
    folder, _ = models
    done = command(*[penguins if word == "PENGUINS" else word for word in words], folder=folder)

    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_forest_is_compared_with_a_tree(command, penguins):
    done = command(
        "compare", penguins, "--target", "species", "--algorithm", "cart,forest", "--cv", "3", "--set", "n_estimators=5"
    )

    assert done.returncode == 0, done.stderr
    assert {"cart", "forest"} <= {line.split()[0] for line in done.stdout.splitlines() if line}
    assert "n_estimators=5 is not used by cart" in done.stderr


def test_a_bar_tells_how_many_trees_are_grown(command, penguins, monkeypatch):
    from contextlib import contextmanager

    from treewright.cli import fit
    from treewright.core.progress import listen

    news = []

    @contextmanager
    def heard(remark):
        assert remark.startswith("the model is not saved")
        with listen(lambda done, what: news.append((done, what))):
            yield

    monkeypatch.setattr(fit, "progress", heard)
    command("fit", penguins, "--target", "species", "--algorithm", "forest", *FEW, "--jobs", "1")

    assert {(at / 5, "growing") for at in range(1, 6)} <= set(news)
