"""``--algorithm knn``: fitted, scored, saved, shown and compared as trees are; what is of trees alone is refused."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix

import treewright as tw
from treewright.model.neighbors import NeighborsModel

KNN = ["--algorithm", "knn"]


@pytest.fixture(scope="module")
def saved(command, penguins, tmp_path_factory):
    """A folder with a model of classes and one of numbers, and what the command said when it made the first."""
    folder = tmp_path_factory.mktemp("neighbors")
    words = ["--set", "n_neighbors=7", "--set", "metric=gower", "--set", "weights=distance"]
    said = command("fit", penguins, "--target", "species", *KNN, *words, "--out", "knn.tw", folder=folder)
    numbers = ["--target", "bill_depth_mm", "--skip-missing-target", "--test-size", "0", "--out", "numbers.tw"]
    other = command("fit", penguins, *numbers, *KNN, folder=folder)
    assert (said.returncode, other.returncode) == (0, 0), said.stderr + other.stderr
    return folder, said


def table_of(penguins, target):
    """The table and the target as Python reads them."""
    whole = pl.read_csv(penguins, null_values=["", "NA"])
    return whole.drop(target), whole[target]


def test_fit_shows_scores_and_saves_and_says_how_large_the_file_is(saved):
    folder, said = saved
    model, size = tw.load(folder / "knn.tw"), (folder / "knn.tw").stat().st_size

    assert isinstance(model, NeighborsModel)
    assert (model.n_rows, model.n_neighbors, model.weights, model.stored.metric.name) == (258, 7, "distance", "gower")
    assert model.target_names == ("species",)
    assert "the model below is fitted on 258 rows; 86 are held out (stratified, seed 0" in said.stdout
    assert model.show() in said.stdout
    assert "held-out accuracy 0.9" in said.stdout
    assert f"wrote knn.tw (model, {size:,} bytes: it holds the 258 training rows)\n" in said.stdout
    assert "tree" not in said.stdout


def test_the_command_fits_as_python_does(saved, penguins):
    folder, _ = saved
    X, y = table_of(penguins, "bill_depth_mm")
    known = y.is_not_null()
    X = X.filter(known)
    est = tw.KNeighborsRegressor().fit(X, y.filter(known))

    model = tw.load(folder / "numbers.tw")

    assert np.array_equal(model.predict(X), est.predict(X))
    assert model.unseen == "other"  # the default is that of the algorithm


def test_predict_writes_labels_and_the_shares_of_the_neighbours(saved, command, penguins):
    folder, _ = saved
    X, _ = table_of(penguins, "species")
    model = tw.load(folder / "knn.tw")

    done = command("predict", "knn.tw", penguins, "--proba", "--out", "said.csv", "--force", folder=folder)
    said = pl.read_csv(folder / "said.csv")

    assert done.returncode == 0, done.stderr
    assert said.columns == ["prediction", "probability_Adelie", "probability_Chinstrap", "probability_Gentoo"]
    assert said["prediction"].to_list() == model.predict(X).tolist()
    assert np.allclose(said.drop("prediction").to_numpy(), model.predict_proba(X), atol=1e-12)


def test_evaluate_scores_classes_and_numbers(saved, command, penguins, tmp_path):
    folder, _ = saved
    _, y = table_of(penguins, "bill_depth_mm")
    known = tmp_path / "known.csv"
    pl.read_csv(penguins, infer_schema=False).filter(y.is_not_null()).write_csv(known)

    labels = command("evaluate", "knn.tw", penguins, folder=folder)
    numbers = command("evaluate", "numbers.tw", known, folder=folder)

    assert labels.returncode == numbers.returncode == 0, labels.stderr + numbers.stderr
    assert "Chinstrap" in labels.stdout
    assert numbers.stdout.startswith("predictions: R2 0.")


def test_show_says_what_is_stored(saved, command):
    folder, _ = saved

    done = command("show", "knn.tw", folder=folder)
    written = command("show", "knn.tw", "--out", "knn.txt", folder=folder)

    assert (done.returncode, written.returncode) == (0, 0)
    assert done.stdout == tw.load(folder / "knn.tw").show() + "\n" == (folder / "knn.txt").read_text()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["show", "knn.tw", "--format", "svg"], "--format svg"),
        (["show", "knn.tw", "--format", "dot"], "--format dot"),
        (["show", "knn.tw", "--format", "json"], "--format json"),
        (["show", "knn.tw", "--format", "rules"], "--format rules"),
        (["show", "knn.tw", "--format", "rules-csv"], "--format rules-csv"),
        (["show", "knn.tw", "--tree", "0"], "--tree"),
        (["show", "knn.tw", "--max-depth", "2"], "--max-depth"),
        (["show", "knn.tw", "--max-nodes", "2"], "--max-nodes"),
        (["show", "knn.tw", "--surrogates"], "--surrogates"),
        (["show", "knn.tw", "--importances"], "--importances"),
        (["audit", "knn.tw", "DATA"], "audit"),
        (["evaluate", "knn.tw", "DATA", "--importances"], "--importances"),
        (["predict", "numbers.tw", "DATA", "--quantiles", "0.5"], "--quantiles"),
        (["predict", "numbers.tw", "DATA", "--interval", "0.9"], "--interval"),
        (["prune", "knn.tw", "--method", "leaves", "--set", "max_leaves=3"], "prune"),
        (["prune", "knn.tw", "--method", "rounds", "--set", "n_rounds=3"], "prune"),
    ],
)
def test_what_is_of_trees_is_refused_in_a_line_that_names_it(saved, command, penguins, words, named):
    folder, _ = saved

    done = command(*(penguins if word == "DATA" else word for word in words), folder=folder)

    assert done.returncode == 2
    assert f"{named}: for trees only, and " in done.stderr
    assert "holds nearest neighbours; show as text, predict and evaluate are for both" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--prune", "ccp-1se"], "--prune ccp-1se prunes a tree"),
        (["--trace"], "--trace shows how a tree grew"),
        (["--svg", "a.svg"], "--svg draws a tree"),
        (["--weight", "body_mass_g"], "--algorithm knn gives every row the same weight"),
        (["--set", "max_depth=3"], "no parameter 'max_depth'"),
        (["--set", "n_jobs=2"], "use --jobs instead"),
        (["--set", "n_neighbors=0"], "n_neighbors"),
        (["--set", "scale=weird"], "give standard, range, robust, or a list"),
        (["--set", "metric_params=3"], "give a dict as JSON"),
        (["--unseen", "majority"], "'unseen'"),
    ],
)
def test_wrong_words_are_refused_before_anything_is_fitted(command, penguins, tmp_path, words, message):
    done = command("fit", penguins, "--target", "species", *KNN, *words, folder=tmp_path)

    assert done.returncode == 2
    assert message in done.stderr
    assert (done.stdout, list(tmp_path.iterdir())) == ("", [])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--set", "metric=euclidean"], "Use --set metric=heom, 'hvdm' or 'gower'"),
        (["--set", "scale=standard"], "it divides every column by its own range or deviation: leave scale out"),
        (["--set", "n_neighbors=1000"], "n_neighbors=1000 > 258 rows"),
        (["--set", "algorithm=kd_tree"], "--set algorithm=kd_tree cannot search --set metric=heom"),
    ],
)
def test_metrics_that_do_not_go_with_the_columns_are_refused_with_an_option(
    command, penguins, tmp_path, words, message
):
    done = command("fit", penguins, "--target", "species", *KNN, *words, folder=tmp_path)

    assert done.returncode in (1, 2)
    assert message in done.stderr
    assert done.stdout == ""


def test_lists_and_dicts_reach_the_metric(command, tmp_path):
    path = tmp_path / "points.csv"
    rows = np.random.default_rng(0).normal(size=(40, 2))
    path.write_text("\n".join(["x,y,side", *(f"{x},{y},{'left' if x < 0 else 'right'}" for x, y in rows)]) + "\n")
    words = ["--set", "metric=minkowski", "--set", "p=3", "--set", "scale=[1, 0]", "--test-size", "0"]

    done = command("fit", path, "--target", "side", *KNN, *words, "--out", "a.tw", folder=tmp_path)
    weights = json.dumps({"w": [1, 0]})
    other = command(
        "fit", path, "--target", "side", *KNN, *words[:4], "--set", f"metric_params={weights}", "--test-size", "0",
        "--out", "b.tw", folder=tmp_path,
    )  # fmt: skip

    assert (done.returncode, other.returncode) == (0, 0), done.stderr + other.stderr
    for name in ("a.tw", "b.tw"):
        metric = tw.load(tmp_path / name).stored.metric
        assert (metric.name, metric.p, metric.scales.tolist()) == ("minkowski", 3.0, [1.0, 0.0])


def test_cross_validation_fits_the_shown_model_on_every_row(command, penguins, tmp_path):
    done = command("fit", penguins, "--target", "species", *KNN, "--cv", "3", folder=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "the model below is fitted on all 344 rows" in done.stdout
    assert "each on the other folds; the model above is fitted on every row)" in done.stdout
    assert "the model is not saved" in done.stderr


def test_trees_and_neighbours_are_compared_on_the_same_folds(command, penguins, tmp_path):
    words = ["--candidate", "cart", "--candidate", "knn", "--cv", "3", "--set", "n_neighbors=3", "--set", "max_depth=2"]
    done = command("compare", penguins, "--target", "species", *words, folder=tmp_path)

    assert done.returncode == 0, done.stderr
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if line}
    assert {"cart", "knn"} <= set(lines)
    assert lines["knn"].split()[3] == "-"  # no leaves
    assert "--set n_neighbors=3 is not used by cart" in done.stderr
    assert "--set max_depth=2 is not used by knn" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--candidate", "knn+ccp-1se"], "prunes a tree, and --algorithm knn grows no trees"),
        (["--candidate", "knn", "--weight", "body_mass_g"], "--algorithm knn gives every row the same weight"),
    ],
)
def test_candidates_that_make_no_sense_are_refused(command, penguins, tmp_path, words, message):
    done = command("compare", penguins, "--target", "species", *words, folder=tmp_path)

    assert done.returncode == 2
    assert message in done.stderr


def test_bags_hold_trees_only(command, penguins, tmp_path):
    words = ["--algorithm", "bagging", "--set", "estimator=knn"]
    done = command("fit", penguins, "--target", "species", *words, folder=tmp_path)

    assert done.returncode == 2
    assert "members can be trees; choose one of cart, id3, c45, chaid, optimal, extra-tree\n" in done.stderr


def test_other_is_a_word_for_unseen_levels_of_neighbours_alone(command, penguins, tmp_path):
    done = command("fit", penguins, "--target", "species", "--unseen", "other", folder=tmp_path)
    fitted = command(
        "fit", penguins, "--target", "species", *KNN, "--unseen", "error", "--out", "strict.tw", folder=tmp_path
    )

    assert done.returncode == 2
    assert "must be a str among {'error', 'majority', 'missing'}" in done.stderr
    assert fitted.returncode == 0
    assert tw.load(tmp_path / "strict.tw").unseen == "error"


def test_a_model_of_sparse_rows_matches_no_table(command, penguins, tmp_path):
    rows = csr_matrix(np.eye(6))
    tw.KNeighborsClassifier(2, metric="cosine").fit(rows, list("ababab")).save(tmp_path / "sparse.tw")

    shown = command("show", "sparse.tw", folder=tmp_path)
    done = command("predict", "sparse.tw", penguins, folder=tmp_path)

    assert shown.returncode == 0
    assert done.returncode == 2
    assert "fitted on sparse rows, and the columns of a file cannot be matched" in done.stderr


def test_warmup_compiles_every_search_of_neighbours():
    from treewright.cli.warmup import _warm_up_neighbors

    _warm_up_neighbors()


@pytest.mark.parametrize(
    ("cell", "words"), [("inf", "1 infinite value(s) (first: line 6)"), ("", "1 missing value(s) (first: line 6)")]
)
def test_a_cell_that_has_no_distance_is_named_by_its_line(command, tmp_path, cell, words):
    lines = [f"{k},{k % 3},{'uv'[k % 2]}" for k in range(1, 13)]
    lines[4] = f"5,{cell},u"
    (tmp_path / "m.csv").write_text("\n".join(["a,b,y", *lines]) + "\n")
    done = command("fit", "m.csv", "--target", "y", *KNN, "--set", "metric=euclidean", folder=tmp_path)
    assert done.returncode == 1
    assert f"m.csv: column 'b' has {words}" in done.stderr
