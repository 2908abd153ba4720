"""A model that is no better than one answer for all rows: said in summaries, on the command line and in the report."""

from __future__ import annotations

import numpy as np
import pytest

import treewright as tw
from treewright.evaluation.verdict import class_warnings, likely_reason, reason_of, verdict
from treewright.reporting.data import report_data
from treewright.reporting.findings import findings_of

RNG = np.random.default_rng(0)
NOISE = {name: RNG.normal(size=80) for name in "ab"}
NUMBERS = RNG.normal(size=80)
LABELS = np.array(["no", "no", "yes"])[RNG.integers(0, 3, 80)]


@pytest.mark.parametrize(
    ("score", "constant", "is_classification", "is_told"),
    [
        (0.5, 0.6, True, True),
        (0.6, 0.6, True, True),
        (0.61, 0.6, True, False),
        (1.0, 1.0, True, False),  # all rows are of one class, and it is right for each
        (float("nan"), 0.6, True, False),
        (0.5, float("nan"), True, False),
        (-0.01, 0.0, False, True),
        (0.0, 0.0, False, False),
        (float("nan"), 0.0, False, False),
    ],
)
def test_it_is_told_where_one_answer_is_as_good(score, constant, is_classification, is_told):
    assert bool(verdict(score, constant, is_classification=is_classification)) == is_told


def test_the_reason_is_the_first_that_holds():
    assert "balanced accuracy" in likely_reason(0.8, 100, 90, "column 'x' ...")
    assert "column 'x' ...," in likely_reason(0.7, 100, 90, "column 'x' ...")
    assert "26 leaves for 100 rows" in likely_reason(0.7, 100, 26)
    assert "columns carry no information" in likely_reason(0.7, 100, 25)
    assert "columns carry no information" in likely_reason(0.0, 100)


def test_few_rows_are_the_reason_before_any_other():
    for constant in (0.0, 0.5, 0.9):
        assert likely_reason(constant, 9, 1, "column 'x' ...") == (
            "likely because 9 rows are too few to learn from: fit on more rows"
        )
    assert "too few" not in likely_reason(0.5, 10, 1)
    model = tw.DecisionTreeClassifier().fit({"a": [1, 2]}, ["no", "yes"]).model_
    assert "2 rows are too few" in reason_of(model, 0.5)
    assert "4 leaves for 10 rows" in likely_reason(0.5, 10, 4)


def test_classes_that_the_fit_did_not_have_are_named():
    assert class_warnings(["a", "b"], {"a": 3, "b": 1}) == []
    assert class_warnings([1, 2], {1: 3, 4: 2, 3: 5}) == [
        "classes '3', '4' are not in the training rows: their 7 rows cannot be predicted correctly"
    ]
    seven, eight = (dict.fromkeys("bcdefghi"[:k], 1) for k in (7, 8))
    assert "'g', 'h' are not" in class_warnings(["a", "A"], seven)[0]
    assert "'g', 2 more are not" in class_warnings(["a", "A"], eight)[0]


def test_the_reason_of_a_model_is_read_off_it():
    names = [f"name {at % 30}" for at in range(80)]
    est = tw.DecisionTreeRegressor(max_depth=1).fit({"name": names}, [at % 30 for at in range(80)])
    assert "column 'name' matters most and has 30 levels in 80 rows" in reason_of(est.model_, 0.0)
    est = tw.DecisionTreeRegressor().fit(NOISE, NUMBERS)
    assert "80 leaves for 80 rows" in reason_of(est.model_, 0.0)
    for other in (tw.RandomForestRegressor(3), tw.KNeighborsRegressor()):
        assert "columns carry no information" in reason_of(other.fit(NOISE, NUMBERS).model_, 0.0)


@pytest.mark.parametrize(
    ("est", "target", "told"),
    [
        (tw.DecisionTreeRegressor(), NUMBERS, "WARNING: worse than a constant prediction: R2"),
        (tw.DecisionTreeClassifier(), LABELS, "WARNING: no better than a constant prediction: accuracy"),
    ],
)
def test_scores_end_with_it(est, target, told):
    text = str(tw.model_selection.cross_validate(est, NOISE, target, cv=4))

    assert told in text
    assert "leaves for 60 rows" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80


def test_scores_that_are_better_end_without_it():
    scores = tw.model_selection.cross_validate(tw.DecisionTreeRegressor(), {"a": NUMBERS}, 2 * NUMBERS, cv=4)

    assert scores.constant == 0.0
    assert "WARNING" not in str(scores)
    scores = tw.model_selection.holdout(tw.DecisionTreeClassifier(), {"a": NUMBERS}, NUMBERS > 0)
    assert 0.5 <= scores.constant < 1.0
    assert "WARNING" not in str(scores)


def test_a_comparison_names_those_that_are_no_better():
    candidates = {"deep": tw.DecisionTreeRegressor(), "good": tw.DecisionTreeRegressor(max_depth=2)}
    target = NOISE["a"] > 0.2
    table = tw.model_selection.compare(candidates, {**NOISE, "c": RNG.normal(size=80)}, target + 2.0 * NUMBERS, cv=4)
    bad = [row.name for row in table if row.mean < 0]

    assert bad
    assert (
        str(table)
        .replace("\n  ", " ")
        .endswith(f"WARNING: no better than a constant prediction (the mean, r2 0.000): {', '.join(bad)}")
    )
    table = tw.model_selection.compare(candidates, NOISE, 2 * NOISE["a"], cv=4)
    assert "WARNING" not in str(table)


def test_a_report_says_it_first():
    est = tw.DecisionTreeRegressor().fit({name: cells[:40] for name, cells in NOISE.items()}, NUMBERS[:40])
    rest = {name: cells[40:] for name, cells in NOISE.items()}
    finding = findings_of(report_data(est.model_, est, rest, NUMBERS[40:]))[0]

    assert finding.kind == "no better than one answer"
    assert finding.text.startswith("The model is worse than a constant prediction: R2 -")
    assert finding.advice.startswith("Likely because the tree has 40 leaves for 40 rows")
