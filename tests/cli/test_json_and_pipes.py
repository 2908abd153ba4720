"""JSON, standard input and output, and columns that are kept beside predictions."""

from __future__ import annotations

import json
import subprocess
import sys

import polars as pl
import pytest

TABLE = "id,x,y\n007,1,a\n=2+3,2,a\n-5,3,b\n,4,b\n"


def strictly(text):
    """The one document, without NaN and infinities."""
    return json.loads(text, parse_constant=pytest.fail)


@pytest.fixture
def folder(tmp_path, command):
    (tmp_path / "few.csv").write_text(TABLE)
    said = command(
        "fit", "few.csv", "--target", "y", "--drop", "id", "--test-size", "0", "--out", "m.tw", folder=tmp_path
    )
    assert said.returncode == 0, said.stderr
    return tmp_path


def piped(folder, surroundings, given, *words):
    return subprocess.run(
        [sys.executable, "-m", "treewright", *words], input=given, cwd=folder, capture_output=True, check=False,
        env=surroundings, timeout=600,
    )  # fmt: skip


def test_an_evaluation_is_one_json_document_whose_numbers_can_be_counted(folder, command):
    (folder / "test.csv").write_text("x,y\n1,a\n2,b\n3,b\n4,b\n")
    said = command("evaluate", "m.tw", "test.csv", "--json", folder=folder)
    facts = strictly(said.stdout)
    assert (facts["document"], facts["version"], facts["task"]) == ("treewright evaluation", 1, "classification")
    assert (facts["score"]["n_rows"], facts["score"]["n_correct"], facts["score"]["accuracy"]) == (4, 3, 0.75)
    assert facts["score"]["confusion"] == [[1, 0], [1, 2]]
    first = facts["score"]["classes"][0]
    assert first.pop("f1") == pytest.approx(2 / 3)
    assert first == {
        "class": "a",
        "n_rows": 1,
        "n_predicted": 2,
        "n_correct": 1,
        "n_right": 1,
        "precision": 0.5,
        "recall": 1.0,
    }
    assert facts["score"]["balanced_accuracy"] == pytest.approx((1 + 2 / 3) / 2)
    assert facts["score"]["roc_auc"] == pytest.approx((1 + 1 + 0.5) / 3)  # the leaf of a holds one b as well


def test_an_evaluation_names_the_positive_class_and_the_threshold(folder, command):
    plain = strictly(command("evaluate", "m.tw", "few.csv", "--json", folder=folder).stdout)
    assert (plain["positive"], plain["threshold"]) == ("b", None)
    costs = ["--cost", "fp=1,fn=5", "--positive", "a"]
    assert strictly(command("evaluate", "m.tw", "few.csv", "--json", *costs, folder=folder).stdout)["positive"] == "a"

    fitted = command("fit", "few.csv", "--target", "y", "--drop", "id", "--test-size", "0", "--threshold", "0.3",
                     "--positive", "a", "--json", "--out", "t.tw", folder=folder)  # fmt: skip
    given = strictly(fitted.stdout)
    decided = strictly(command("evaluate", "t.tw", "few.csv", "--json", folder=folder).stdout)
    assert decided["positive"] == given["positive"] == "a"
    assert decided["threshold"] == given["threshold"] == {"class": "a", "at": 0.3, "why": given["threshold"]["why"]}


def test_a_score_that_is_not_defined_is_null(folder, command):
    (folder / "numbers.csv").write_text("x,y\n1,0.5\n2,1.5\n3,2.5\n4,3.5\n")
    command("fit", "numbers.csv", "--target", "y", "--test-size", "0", "--out", "n.tw", folder=folder)
    (folder / "same.csv").write_text("x,y\n1,0.5\n1,0.5\n")
    facts = strictly(command("evaluate", "n.tw", "same.csv", "--json", folder=folder).stdout)
    assert facts["score"] == {"n_rows": 2, "r2": None, "mean_absolute_error": 0.0, "root_mean_squared_error": 0.0}


@pytest.mark.parametrize(
    "how", [["--cv", "3"], ["--test-size", "0.5"], ["--prune", "leaves", "--prune-set", "max_leaves=2"]]
)
def test_a_fit_is_one_json_document(command, penguins, tmp_path, how):
    words = ["fit", penguins, "--target", "species", "--out", "p.tw", "--json", *how]
    said = command(*words, folder=tmp_path)
    assert said.returncode == 0, said.stderr
    facts = strictly(said.stdout)
    assert (facts["n_rows"], facts["n_columns"], facts["files"]) == (344, 6, {"model": "p.tw"})
    assert facts["classes"][0] == {"class": "Adelie", "n_rows": 152}
    assert (facts["cross_validation"] is None) == (how[0] != "--cv")
    assert (facts["held_out"] is None) == (how[0] == "--cv")
    if how[0] == "--cv":
        assert sum(fold["n_rows"] for fold in facts["cross_validation"]["folds"]) == 344
    if how[0] == "--prune":
        assert (facts["pruning"], facts["tree"]["n_leaves"]) == ("leaves", 2)


def test_kept_columns_stand_first_in_the_order_given_as_the_file_has_them(folder, command):
    said = command("predict", "m.tw", "few.csv", "--keep", "x", "--keep", "id", folder=folder)
    assert said.stdout == "x,id,prediction\n1,007,a\n2,'=2+3,a\n3,-5,b\n4,,b\n"


def test_kept_columns_of_parquet_have_their_types(folder, command):
    pl.DataFrame({"id": [1, 2], "x": [1.0, 4.0]}).write_parquet(folder / "few.parquet")
    said = command("predict", "m.tw", "few.parquet", "--keep", "id", folder=folder)
    assert said.stdout == "id,prediction\n1,a\n2,b\n"


def test_a_kept_column_that_is_not_there_or_has_the_name_of_a_prediction_is_refused(folder, command):
    said = command("predict", "m.tw", "few.csv", "--keep", "idd", folder=folder)
    assert said.returncode == 1
    assert "no column 'idd': did you mean 'id'?" in said.stderr
    (folder / "clash.csv").write_text("x,prediction\n1,2\n")
    said = command("predict", "m.tw", "clash.csv", "--keep", "prediction", folder=folder)
    assert said.returncode == 2
    assert "the predictions have a column of this name" in said.stderr


@pytest.mark.parametrize(
    "words", [["predict", "m.tw", "few.csv", "--keep", "id,x"], ["fit", "few.csv", "--target", "y", "--drop", "id,x"]]
)
def test_columns_in_one_word_are_told_to_be_named_one_by_one(folder, command, words):
    said = command(*words, folder=folder)
    assert said.returncode == 1
    assert (
        "no column 'id,x': 'id' and 'x' are separate columns: name one at a time, and repeat the option for several"
        in said.stderr
    )
    words[-1] = "id,z"
    assert "one at a time" not in command(*words, folder=folder).stderr


def test_a_model_goes_through_pipes(folder, surroundings):
    words = ["--target", "y", "--drop", "id", "--test-size", "0"]
    fit = piped(folder, surroundings, TABLE.encode(), "fit", "-", *words, "--out", "-")
    assert fit.returncode == 0, fit.stderr
    assert fit.stdout == (folder / "m.tw").read_bytes()
    assert b"standard input: 4 rows" in fit.stderr
    answer = piped(folder, surroundings, fit.stdout, "predict", "-", "few.csv")
    assert answer.stdout == b"prediction\na\na\nb\nb\n"
    assert not (folder / "-").exists()


def test_standard_input_serves_once_and_must_hold_something(folder, command):
    both = command("predict", "-", "-", folder=folder, given=(folder / "m.tw").read_bytes())
    assert both.returncode == 2
    assert "named twice" in both.stderr
    nothing = command("predict", "m.tw", "-", folder=folder, given=b"")
    assert nothing.returncode == 1
    assert "standard input: the file is empty" in nothing.stderr


@pytest.mark.parametrize("given", [b"junk", b"", TABLE.encode()])
@pytest.mark.parametrize("words", [["predict", "-", "few.csv"], ["show", "-"], ["prune", "-", "--method", "mdl"]])
def test_what_is_no_model_on_standard_input_is_told_by_that_name(folder, command, given, words):
    said = command(*words, folder=folder, given=given)
    assert said.returncode == 1
    assert said.stderr.startswith("treewright: error: standard input: not a Treewright model file")


def test_json_and_a_model_do_not_share_standard_output(folder, command):
    said = command("fit", "few.csv", "--target", "y", "--json", "--out", "-", folder=folder)
    assert said.returncode == 2
    assert "both take standard output" in said.stderr


def test_many_classes_are_told_by_the_pairs_that_occur(command, tmp_path):
    rows = "\n".join(f"{at},c{at % 1500}" for at in range(3000))
    (tmp_path / "many.csv").write_text(f"x,y\n{rows}\n")
    told = command("fit", tmp_path / "many.csv", "--target", "y", "--max-depth", 2, "--json").stdout
    score = json.loads(told)["held_out"]["score"]
    assert score["confusion"] is None
    assert sum(n for _, _, n in score["confused"]) == 750
    names = [each["class"] for each in score["classes"]]
    assert all(each["n_rows"] == sum(n for true, _, n in score["confused"] if names[true] == each["class"])
               for each in score["classes"][:20])  # fmt: skip
    assert len(told) < 2_000_000


def test_a_comparison_is_one_json_document_with_the_numbers_of_the_table(folder, command, penguins):
    words = ["--target", "species", "--cv", "3", "--candidate", "cart,forest", "--trees", "3", "--out", "table.csv"]
    said = command("compare", penguins, *words, "--json", folder=folder)
    assert said.returncode == 0, said.stderr
    facts = strictly(said.stdout)
    assert (facts["document"], facts["version"], facts["task"]) == ("treewright comparison", 1, "classification")
    assert (facts["n_rows"], facts["n_folds"], facts["scoring"]) == (344, 3, "accuracy")
    assert facts["constant"] == pytest.approx(152 / 344)
    table = pl.read_csv(folder / "table.csv")
    cart, forest = facts["candidates"]
    assert [cart["name"], forest["name"]] == table["name"].to_list()
    assert [cart["mean"], forest["mean"]] == table["mean"].to_list()
    assert cart["mean"] == pytest.approx(sum(cart["scores"]) / 3)
    assert facts["best"] == max((cart, forest), key=lambda each: each["mean"])["name"]
    assert (forest["n_leaves"], cart["refusal"], facts["warning"]) == (None, None, None)
    assert facts["files"] == {"table": "table.csv"}


def test_a_candidate_that_cannot_be_fitted_has_its_refusal_and_no_numbers(folder, command):
    (folder / "many.csv").write_text("x,y\n" + "".join(f"{at % 7},{at % 2}\n" for at in range(20)))
    words = ["--target", "y", "--cv", "2", "--candidate", "cart,knn", "--neighbors", "19", "--json"]
    facts = strictly(command("compare", "many.csv", *words, folder=folder).stdout)
    assert facts["best"] == "cart"
    assert (facts["candidates"][1]["mean"], facts["candidates"][1]["scores"]) == (None, [None, None])
    assert "set fewer neighbours" in facts["candidates"][1]["refusal"]


def test_json_and_a_table_do_not_share_standard_output(folder, command):
    said = command("compare", "few.csv", "--target", "y", "--json", "--out", "-", folder=folder)
    assert said.returncode == 2
    assert "both take standard output" in said.stderr
