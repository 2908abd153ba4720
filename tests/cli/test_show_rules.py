"""``treewright show --format rules`` and ``rules-csv``."""

from __future__ import annotations

import csv
import io

import polars as pl
import pytest

import treewright as tw
from treewright.cli.options import FormatName, ShowRequest
from treewright.cli.show import run_show
from treewright.explain.rules import leaf_rules


@pytest.fixture
def shown(tmp_path):
    """What ``show`` writes of a model, in one of its forms."""

    def show(model, form):
        model.save(tmp_path / "m.tw")
        run_show(ShowRequest(model=tmp_path / "m.tw", form=FormatName(form), out=tmp_path / "out", force=True))
        return (tmp_path / "out").read_text(encoding="utf-8")

    return show


def fitted(labels, **options):
    return tw.DecisionTreeClassifier(**options).fit({"=x": [1.0, 2.0, 3.0, 4.0]}, labels).model_


def test_rules_are_the_text_that_print_shows(shown):
    model = fitted(["a", "a", "b", "b"])

    assert shown(model, "rules") == f"{leaf_rules(model)}\n"


def test_rules_csv_is_the_table(shown):
    model = fitted(["a", "a", "b", "b"])
    table = pl.read_csv(io.StringIO(shown(model, "rules-csv")))

    wanted = leaf_rules(model).to_dict()
    assert table.columns == list(wanted)
    for name in set(wanted) - {"conditions"}:
        assert table[name].to_list() == wanted[name]


def test_texts_that_a_spreadsheet_would_run_are_guarded(shown):
    model = fitted(["+1", "+1", "@b", "@b"])
    rows = list(csv.DictReader(io.StringIO(shown(model, "rules-csv"))))

    assert [row["conditions"] for row in rows] == ["'=x <= 2.5", "'=x > 2.5"]
    assert [row["prediction"] for row in rows] == ["'+1", "'@b"]
    assert not any(name.startswith(("=", "+", "-", "@")) for name in rows[0])


def test_negative_numbers_are_numbers(shown):
    model = tw.DecisionTreeRegressor().fit([[1.0], [2.0]], [-1.5, 2.0]).model_
    rows = list(csv.DictReader(io.StringIO(shown(model, "rules-csv"))))

    assert [(row["prediction"], row["low"]) for row in rows] == [("-1.5", ""), ("2.0", "")]
