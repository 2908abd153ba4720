"""``treewright audit``: the rows of a file, and the audit of a node that they reach."""

from __future__ import annotations

import polars as pl
import pytest

import treewright as tw
from treewright.cli.options import AuditRequest
from treewright.cli.show import run_audit
from treewright.cli.terminal import UsageRefusal, worded
from treewright.exceptions import DataError, ParameterError


@pytest.fixture
def audited(tmp_path):
    """What ``audit`` writes for a model and a file of rows."""

    def audit(model, table, **options):
        model.save(tmp_path / "m.tw")
        pl.DataFrame(table).write_csv(tmp_path / "rows.csv")
        with worded():
            files = {"model": tmp_path / "m.tw", "data": tmp_path / "rows.csv", "out": tmp_path / "out"}
            run_audit(AuditRequest(**files, force=True, **options))
        return (tmp_path / "out").read_text(encoding="utf-8")

    return audit


def test_it_is_the_text_that_print_shows(audited, penguins):
    table = pl.read_csv(penguins)
    features, species = table.drop("species"), table["species"]
    est = tw.DecisionTreeClassifier(max_depth=2).fit(features, species)

    assert audited(est.model_, table) == f"{est.audit()}\n"
    assert audited(est.model_, table, node=2) == f"{est.audit(2)}\n"
    assert audited(est.model_, table, node=1, every="island") == f"{est.audit(1, every='island')}\n"


@pytest.mark.parametrize(
    ("labels", "name"),
    [([1, 2, 2, 1], "whole"), ([True, False, False, True], "boolean"), ([0.5, 1.5, 1.0, 2.0], "numbers")],
)
def test_targets_are_read_as_what_they_were_at_fit(audited, labels, name):
    kind = tw.DecisionTreeRegressor if name == "numbers" else tw.DecisionTreeClassifier
    x = [1.0, 2.0, 3.0, 4.0]
    est = kind().fit({"x": x}, pl.Series("y", labels))

    assert audited(est.model_, {"x": x, "y": labels}) == f"{est.audit()}\n"


def test_the_column_with_the_truth_may_have_another_name(audited):
    est = tw.DecisionTreeClassifier().fit({"x": [1.0, 2.0]}, ["a", "b"])

    assert "gini = 1 - (1/2)^2 - (1/2)^2" in audited(est.model_, {"x": [1.0, 2.0], "z": ["a", "b"]}, target="z")
    with pytest.raises(UsageRefusal, match="--target"):
        audited(est.model_, {"x": [1.0, 2.0], "z": ["a", "b"]})


def test_a_column_whose_name_is_a_number_is_found(audited):
    est = tw.DecisionTreeClassifier().fit({7: [1.0, 2.0]}, pl.Series("y", ["a", "b"]))

    assert "Every test of 7" in audited(est.model_, {"7": [1.0, 2.0], "y": ["a", "b"]}, every="7")


def test_rows_that_cannot_be_audited_are_refused(audited):
    est = tw.DecisionTreeClassifier().fit({"x": [1.0, 2.0]}, pl.Series("y", ["a", "b"]))

    with pytest.raises(DataError, match=r"missing in 1 of 2 rows \(first: line 3\): .* --skip-missing-target"):
        audited(est.model_, {"x": [1.0, 2.0], "y": ["a", None]})
    with pytest.raises(DataError, match="no rows"):
        audited(est.model_, pl.DataFrame({"x": [], "y": []}, schema={"x": pl.Float64, "y": pl.String}))
    with pytest.raises(ParameterError, match="node 9"):
        audited(est.model_, {"x": [1.0, 2.0], "y": ["a", "b"]}, node=9)
    with pytest.raises(DataError):
        audited(est.model_, {"x": [1.0, 2.0], "y": ["a", "no such class"]})


def test_a_model_of_several_targets_is_refused(audited):
    est = tw.DecisionTreeClassifier().fit({"x": [1.0, 2.0]}, [["a", "p"], ["b", "q"]])

    with pytest.raises(UsageRefusal, match="2 targets"):
        audited(est.model_, {"x": [1.0], "y": ["a"]})


def test_rows_without_a_target_may_be_skipped(audited, capsys):
    est = tw.DecisionTreeClassifier().fit({"x": [1.0, 2.0]}, pl.Series("y", ["a", "b"]))

    text = audited(est.model_, {"x": [1.0, 9.0, 2.0], "y": ["a", None, "b"]}, skip_missing_target=True)

    assert text == f"{est.audit()}\n"
    assert capsys.readouterr().err == "treewright: 1 of 3 rows has no target and is left out\n"


@pytest.mark.parametrize("names", [[7, 8], None])
def test_rows_are_skipped_in_tables_whose_columns_had_no_texts_as_names(audited, names):
    columns = {name: [1.0, 2.0] for name in names} if names else [[1.0, 1.0], [2.0, 2.0]]
    est = tw.DecisionTreeClassifier().fit(columns, pl.Series("y", ["a", "b"]))
    rows = {str(name): [1.0, 9.0, 2.0] for name in est.model_.schema.names}

    text = audited(est.model_, {**rows, "y": ["a", None, "b"]}, skip_missing_target=True)

    assert text == f"{est.audit()}\n"


def test_other_rows_than_the_tree_saw_get_a_hint(audited, capsys):
    est = tw.DecisionTreeClassifier().fit({"x": [1.0, 2.0]}, pl.Series("y", ["a", "b"]))

    audited(est.model_, {"x": [1.0, 2.0], "y": ["a", "b"]})
    assert "--test-size" not in capsys.readouterr().err  # who has to wait for a compiler says so there, too
    audited(est.model_, {"x": [1.0, 2.0, 3.0], "y": ["a", "b", "b"]})
    assert "fit with --test-size 0" in capsys.readouterr().err
