"""Claims about the head of a report: it speaks as readers do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import treewright as tw
from treewright.model_selection import choose_threshold
from treewright.reporting.data import report_data
from treewright.reporting.document import facts_of, report, subtitle_of
from treewright.reporting.ensemble import headline_of
from treewright.trees.writing import written_amount

X = np.random.default_rng(0).normal(size=(40, 2))
CLASSES, NUMBERS = (X[:, 0] > 0).astype(int), X[:, 0] + X[:, 1]


def head(est, target):
    judged = report_data(est.model_, est, X, target)
    return {fact.name: fact.value for fact in facts_of(judged)}, subtitle_of(judged, "price")


@pytest.mark.parametrize(
    ("est", "target", "algorithm", "what", "lowered"),
    [
        (tw.DecisionTreeClassifier(), CLASSES, "CART", "criterion", "Gini"),
        (tw.DecisionTreeRegressor(), NUMBERS, "CART", "criterion", "squared error"),
        (tw.C45Classifier(), CLASSES, "C4.5", "criterion", "gain ratio"),
        (tw.RandomForestClassifier(n_estimators=2), CLASSES, "random forest", "criterion", "Gini"),
        (tw.BaggingClassifier(n_estimators=2), CLASSES, "bagging", "criterion", "Gini"),
        (tw.AdaBoostRegressor(n_estimators=2), NUMBERS, "AdaBoost", "criterion", "squared error"),
        (tw.GradientBoostingClassifier(n_estimators=2), CLASSES, "gradient boosting", "loss", "log loss"),
    ],
)
def test_algorithms_and_what_they_lower_are_words(est, target, algorithm, what, lowered):
    facts, subtitle = head(est.fit(X, target), target)

    assert (facts["algorithm"], facts[what]) == (algorithm, lowered)
    assert not any("_" in text or "treewright." in text for text in (*facts.values(), subtitle))


def test_many_trees_are_told_in_one_line():
    facts, subtitle = head(tw.RandomForestClassifier(n_estimators=3).fit(X, CLASSES), CLASSES)

    assert subtitle == "Random forest, classification of price: 3 trees, 2 columns"
    assert facts["trees"] == "3"


def test_both_lines_count_the_columns_that_are_used():
    table = {"x": X[:, 0], "z": X[:, 1], "id": [f"row {at}" for at in range(40)]}
    with pytest.warns(tw.exceptions.DataWarning):
        est = tw.RandomForestClassifier(n_estimators=3).fit(table, CLASSES)
    judged = report_data(est.model_, est, table, CLASSES)

    assert subtitle_of(judged, "") == "Random forest, classification: 3 trees, 2 columns"
    assert {fact.name: fact.value for fact in facts_of(judged)}["columns"] == "2 (1 left out)"


def test_an_algorithm_that_a_file_made_up_stands_as_it_is():
    model = tw.DecisionTreeClassifier().fit(X, CLASSES).model_
    strange = tw.Model(**{**vars(model), "facts": {**model.facts, "algorithm": "of\x1b another_house"}})
    facts = {fact.name: fact.value for fact in facts_of(report_data(strange, None, X, CLASSES))}

    assert facts["algorithm"] == "of\\x1b another house"


@pytest.mark.parametrize(
    ("est", "title", "measure"),
    [
        (tw.DecisionTreeClassifier(), "Decision tree for price", "accuracy"),
        (tw.DecisionTreeRegressor(max_depth=2), "Decision tree for price", "R2"),
        (tw.GradientBoostingClassifier(n_estimators=2), "Gradient boosting for price", "accuracy"),
        (tw.KNeighborsClassifier(n_neighbors=1), "Nearest neighbours for price", "accuracy"),
    ],
)
def test_the_head_names_the_kind_of_model_its_target_and_its_score(est, title, measure):
    target = pd.Series(NUMBERS if measure == "R2" else CLASSES, name="price")

    summary = tw.report(est.fit(X, target), X, target, cv=None).summary

    assert (summary.title, summary.target) == (title, "price")
    assert (measure, f"{est.score(X, target):.3f}") in [(fact.name, fact.value) for fact in summary.facts]


def test_without_a_name_of_the_target_the_title_is_the_kind_of_model():
    est = tw.GradientBoostingClassifier(n_estimators=2).fit(X, CLASSES)

    assert tw.report(est, X, CLASSES).summary.title == "Gradient boosting"


@pytest.mark.parametrize("positive", [0, 1])
@pytest.mark.parametrize(
    "est",
    [
        tw.GradientBoostingClassifier(3, min_samples_leaf=2),
        tw.RandomForestClassifier(3, random_state=0),
        tw.AdaBoostClassifier(n_estimators=3, random_state=0),
    ],
)
def test_no_sentence_about_a_model_with_a_threshold_says_that_another_rule_decides(est, positive):
    model = est.fit(X, CLASSES).model_
    assert "the prediction is" in f"{model.show()} {headline_of(model, 3)}".lower()
    decided = model.with_threshold(0.3, positive=positive)
    for text in (decided.show(), headline_of(decided, 3)):
        assert text.count(f"predicts {positive} if its probability is at least 0.3") == 1
        assert "the prediction is" not in text.lower()
        assert "largest" not in text
    if model.boosting is not None:
        base = written_amount(model.boosting.base[0] * (1 if positive else -1))
        assert f"base: log odds of {positive} {base}" in decided.show()


def test_the_head_shows_the_cost_that_chose_the_threshold_and_accuracy():
    est = tw.DecisionTreeClassifier(max_depth=2, random_state=0)
    choice = choose_threshold(est, X, CLASSES, cost={"fp": 1, "fn": 5}, cv=3, random_state=0)
    summary = report(choice.estimator, X, CLASSES, cv=None, curves=()).summary
    facts = {fact.name: fact.value for fact in summary.facts}
    measured = {each.name: each.value for each in summary.quality[0].measures}
    assert facts["cost per row"] == f"{measured['cost per row']:.4g}"
    assert "accuracy" in facts
    assert "cost per row" not in {fact.name for fact in report(est.fit(X, CLASSES), X, CLASSES, cv=None).summary.facts}
