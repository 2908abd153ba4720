"""A report of two classes is about the positive one, and judges by the costs that chose the threshold."""

from __future__ import annotations

import numpy as np
import pytest

import treewright as tw
from treewright import model_selection as ms
from treewright.forest.importance import COSTS

rng = np.random.default_rng(1)
N = 400
X = {"a": rng.normal(size=N), "b": rng.normal(size=N), "c": rng.normal(size=N)}
IS_BAD = rng.uniform(size=N) < 1 / (1 + np.exp(1.5 - 2 * X["a"] - X["b"]))
Y = np.where(IS_BAD, "bad", "good")
FIT, HELD = np.arange(N) < 200, np.arange(N) >= 200


def part_of(table, rows):
    return {name: cells[rows] for name, cells in table.items()}


def cost_of(predicted, truth):
    """fp=1, fn=4 for "bad"."""
    return float(
        np.mean((predicted == "bad") & (truth == "good")) + 4 * np.mean((predicted == "good") & (truth == "bad"))
    )


@pytest.fixture(scope="module")
def chosen():
    tree = tw.DecisionTreeClassifier(min_samples_leaf=10, positive="bad")
    return ms.choose_threshold(tree, part_of(X, FIT), Y[FIT], cost={"fp": 1, "fn": 4})


@pytest.fixture(scope="module")
def report(chosen):
    return chosen.estimator.report(part_of(X, HELD), Y[HELD])


def test_curves_and_calibration_are_of_the_positive_class_and_mark_the_threshold(chosen, report):
    (quality,) = report.summary.quality
    (rank,), (calibration,) = quality.ranks, quality.calibration
    predicted = chosen.model.predict(part_of(X, HELD))
    assert (rank.name, calibration.name) == ("bad", "bad")
    assert rank.decides == pytest.approx(
        (
            chosen.threshold,
            np.mean(predicted[Y[HELD] == "good"] == "bad"),
            np.mean(predicted[Y[HELD] == "bad"] == "bad"),
        )
    )
    assert rank.decides[1:] in [*zip(rank.false_rate, rank.true_rate, strict=True)]
    for name in ("roc", "precision_recall", "gains", "lift", "calibration"):
        axes = report.figure(name).axes[0]
        assert [text.get_text() for text in axes.texts if "threshold" in text.get_text()] == [
            f"threshold {chosen.threshold:g}"
        ]
    assert "threshold" in {fact.name for fact in report.summary.facts}


def test_without_a_threshold_the_positive_class_is_named_and_nothing_is_marked():
    est = tw.DecisionTreeClassifier(min_samples_leaf=10, positive="bad").fit(part_of(X, FIT), Y[FIT])
    summary = est.report(part_of(X, HELD), Y[HELD]).summary
    assert [(rank.name, rank.decides) for rank in summary.quality[0].ranks] == [("bad", None)]
    assert ("positive class", "bad") in {(fact.name, fact.value) for fact in summary.facts}
    assert "positive class: bad" in est.show()


@pytest.mark.parametrize("cv", [None, 3])
def test_the_slider_shows_the_cost_per_row_of_every_subtree(chosen, cv):
    part = chosen.estimator.report(part_of(X, HELD), Y[HELD], cv=cv).summary.pruning
    assert (part.loss, part.loss_name) == ("cost", "cost per row (positive class: bad)")
    for at, alpha in enumerate(part.alphas):
        model = chosen.estimator.prune("cost_complexity", alpha=alpha).model_
        assert part.train_error[at] == pytest.approx(cost_of(model.predict(part_of(X, FIT)), Y[FIT]))
        if cv is None:
            each = np.where(model.predict(part_of(X, HELD)) == Y[HELD], 0.0, np.where(Y[HELD] == "bad", 4.0, 1.0))
            assert part.error[at] == pytest.approx(each.mean())
            assert part.standard_error[at] == pytest.approx(each.std() / np.sqrt(200), rel=0.01)
    least = part.error[part.minimum]
    assert least == pytest.approx(min(part.error))


@pytest.mark.parametrize(
    "make",
    [
        lambda: tw.DecisionTreeClassifier(min_samples_leaf=10, positive="bad"),
        lambda: tw.RandomForestClassifier(5, max_depth=4, positive="bad"),
        lambda: tw.GradientBoostingClassifier(10, early_stopping=False, positive="bad"),
    ],
)
def test_permutation_importance_is_the_rise_of_the_cost_that_chose_the_threshold(make):
    est = ms.choose_threshold(make(), part_of(X, FIT), Y[FIT], cost={"fp": 1, "fn": 4}, cv=3).estimator
    rows = {"rows": "all"} if isinstance(est, tw.RandomForestClassifier) else {}
    found = est.importances("permutation", part_of(X, HELD), Y[HELD], **rows)
    assert found.what == COSTS
    # By hand: the column is put in 200 orders, and the cost rises by so much on average.
    before, rises = cost_of(est.predict(part_of(X, HELD)), Y[HELD]), []
    for seed in range(200):
        table = part_of(X, HELD)
        table["a"] = np.random.default_rng(seed).permutation(table["a"])
        rises.append(cost_of(est.predict(table), Y[HELD]) - before)
    spread = np.std(rises) / np.sqrt(5) + np.std(rises) / np.sqrt(200)
    assert abs(found.values[0] - np.mean(rises)) < 5 * spread
    assert found.order[0] == 0


def test_explanations_and_dependence_show_the_positive_class():
    table, truth = part_of(X, FIT), Y[FIT]
    boosted = tw.GradientBoostingClassifier(10, early_stopping=False, positive="bad").fit(table, truth)
    other = tw.GradientBoostingClassifier(10, early_stopping=False).fit(table, truth)
    found, mirrored = boosted.explain(table), other.explain(table)
    assert (found.outputs, mirrored.outputs) == (("bad",), ("good",))
    assert np.allclose(1 / (1 + np.exp(-found.totals)), boosted.predict_proba(table)[:, 0])
    assert np.array_equal(found.values, -mirrored.values)
    forest = tw.RandomForestClassifier(5, positive="bad").fit(table, truth)
    assert forest.explain(table).plot().axes[0].get_xlabel() == "contribution to the probability of bad"
    for est in (boosted, forest):
        assert est.partial_dependence(table, "a").labels == ("bad",)
    section = forest.report(part_of(X, HELD), Y[HELD]).summary.contributions
    assert [output.name for output in section.outputs] == ["bad"]
