"""Several estimators on the same folds, and the corrected test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.dummy import DummyClassifier

import treewright as tw
from treewright.core.progress import COMPILING, listen
from treewright.evaluation.scores import corrected_t, holm
from treewright.exceptions import DataWarning, ParameterError, TooLargeError
from treewright.model_selection import (
    choose_threshold,
    compare,
    cost_scorer,
    cross_validate,
    error_curve,
    holdout,
    learning_curve,
    tune,
)

X, Y = load_iris(return_X_y=True)
TREES = {"stump": tw.DecisionTreeClassifier(max_depth=1), "tree": tw.DecisionTreeClassifier(max_depth=3)}


def test_scores_are_those_of_cross_validate_on_the_same_folds():
    found = compare(TREES, X, Y, cv=5, random_state=3)

    for name, est in TREES.items():
        alone = cross_validate(est, X, Y, cv=5, random_state=3)
        assert found[name].scores.tolist() == alone.test["accuracy"].tolist()
        assert found[name].standard_error == alone.standard_error
        assert found[name].n_leaves == alone.n_leaves.mean()


def test_the_p_value_is_that_of_the_written_out_formula():
    X, y = load_breast_cancer(return_X_y=True)
    cv = np.arange(569) % 7

    found = compare({"a": tw.DecisionTreeClassifier(max_depth=1), "b": tw.DecisionTreeClassifier()}, X, y, cv=cv)

    d = found["b"].scores - found["a"].scores
    share = sum((cv == k).sum() / (cv != k).sum() for k in range(7)) / 7
    variance = sum((each - sum(d) / 7) ** 2 for each in d) / 6
    t = (sum(d) / 7) / math.sqrt((1 / 7 + share) * variance)
    assert found.best.name == "b"
    assert math.isclose(found["a"].p_value, 2 * stats.t.sf(abs(t), df=6), rel_tol=1e-12)
    assert math.isnan(found["b"].p_value)


def test_without_shared_rows_the_test_is_the_plain_paired_one():
    first, second = np.array([0.9, 0.8, 0.85, 0.95]), np.array([0.85, 0.8, 0.8, 0.85])

    t, p = corrected_t(first - second, 0.0)

    wanted = stats.ttest_rel(first, second)
    assert math.isclose(t, wanted.statistic, rel_tol=1e-12)
    assert math.isclose(p, wanted.pvalue, rel_tol=1e-12)


def test_the_correction_makes_a_difference_less_certain():
    d = np.array([0.02, 0.00, 0.03, 0.01, 0.04])

    assert corrected_t(d, 1 / 4)[1] > corrected_t(d, 0.0)[1]


def test_the_same_difference_everywhere_is_no_certainty_and_none_is_none():
    assert corrected_t(np.zeros(5), 0.25) == (0.0, 1.0)
    assert all(map(math.isnan, corrected_t(np.full(5, 0.1), 0.25)))
    assert all(map(math.isnan, corrected_t(np.full(5, -0.1), 0.25)))
    assert all(map(math.isnan, corrected_t(np.array([0.1, math.inf]), 0.25)))
    assert all(map(math.isnan, corrected_t(np.array([0.1]), 0.25)))
    assert all(map(math.isnan, corrected_t(np.array([0.1, math.nan]), 0.25)))


def test_noise_raises_no_more_false_alarms_than_five_in_a_hundred():
    found = []
    for seed in range(120):
        random = np.random.default_rng(seed)
        x, y = random.normal(size=(16, 2)), np.arange(16) % 2
        table = compare(TREES, x, y, cv=2, random_state=seed, n_jobs=1)
        found += [row.p_value for row in table if row is not table.best]

    # 120 tests at 5 %: 6 wanted, 12 is 2.5 standard deviations more.
    assert sum(p <= 0.05 for p in found) <= 12
    assert 0.0 not in found


def test_holm_multiplies_by_how_many_are_left_and_never_falls():
    assert holm([0.01, 0.02, 0.03, 0.9]) == pytest.approx([0.04, 0.06, 0.06, 0.9])
    assert holm([0.5, 0.6]) == [1.0, 1.0]
    assert holm([0.02, math.nan, 0.01])[::2] == [0.02, 0.02]
    assert holm([]) == []


def test_every_repeat_has_folds_of_its_own_and_the_first_is_that_of_one():
    once, thrice = (compare(TREES, X, Y, cv=4, repeats=repeats) for repeats in (1, 3))

    scores = thrice["tree"].scores.reshape(3, 4)
    assert thrice.n_folds == 12
    assert scores[0].tolist() == once["tree"].scores.tolist()
    assert len({tuple(row) for row in scores.tolist()}) > 1
    assert thrice["tree"].scores.tolist() == compare(TREES, X, Y, cv=4, repeats=3)["tree"].scores.tolist()


def test_the_first_repeat_has_the_folds_of_cross_validate_for_every_sort_of_seed():
    for seed in (5, np.random.RandomState):
        first, second = (seed(5) if callable(seed) else seed for _ in range(2))

        x, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2  # noise: every fold scores otherwise

        twice = compare(TREES, x, y, cv=4, repeats=2, random_state=first)

        alone = cross_validate(TREES["tree"], x, y, cv=4, random_state=second)
        assert twice["tree"].scores[:4].tolist() == alone.test["accuracy"].tolist()


def test_repeats_are_corrected_for_in_the_standard_error():
    many = compare(TREES, X, Y, cv=5, repeats=20)["tree"]

    assert math.isclose(many.standard_error, math.sqrt((1 / 100 + 30 / 120) * many.scores.var(ddof=1)))


def test_of_equals_the_smallest_tree_is_best():
    same = {"deep": tw.DecisionTreeClassifier(max_depth=2), "also": tw.DecisionTreeClassifier(max_depth=2),
            "none": DummyClassifier(), "two": tw.DecisionTreeClassifier(max_leaf_nodes=2)}  # fmt: skip
    x = [[float(i)] for i in range(20)]

    found = compare(same, x, [0] * 10 + [1] * 10, cv=5)

    assert found.best.name == "deep"
    assert (found["also"].difference, found["also"].p_value) == (0.0, 1.0)
    assert found["none"].difference > 0


def test_a_list_is_named_by_class():
    found = compare([tw.ID3Classifier(nominal=[0, 1, 2, 3]), *TREES.values()], np.round(X).astype(int), Y, cv=2)

    assert [row.name for row in found] == ["ID3Classifier", "DecisionTreeClassifier", "DecisionTreeClassifier 2"]


def test_what_is_printed_fits_into_80_columns_and_marks_the_best():
    named = {"a name that is much too long for a table of 80 columns": TREES["stump"], "b": TREES["tree"]}
    found = compare(named, X, Y, cv=5)

    lines = str(found).splitlines()
    assert max(map(len, lines)) <= 80
    assert next(line for line in lines if "best" in line).startswith("b ")
    assert {len(column) for column in found.to_dict().values()} == {2}
    with pytest.raises(KeyError, match="was not compared: choose one of"):
        _ = found["c"]


@pytest.mark.parametrize(
    ("estimators", "options", "message"),
    [
        ({}, {}, "no estimators"),
        (tw.ID3Classifier(), {}, "give a dict"),
        ({"a": tw.ID3Classifier}, {}, "ID3Classifier is a class"),
        ({"a": 3}, {}, "a int is not an estimator"),
        ({1: tw.ID3Classifier(), "1": tw.ID3Classifier()}, {}, "the same name"),
        ([tw.ID3Classifier(), tw.DecisionTreeRegressor()], {}, "a classifier and a regressor"),
        (TREES, {"repeats": 0}, "repeats=0"),
        (TREES, {"repeats": 2, "cv": np.arange(150) % 2}, "repeats=2 needs cv as a number"),
    ],
)
def test_what_cannot_be_compared_is_refused(estimators, options, message):
    with pytest.raises(ParameterError, match=message):
        compare(estimators, X, Y, **options)


def test_of_several_scores_the_first_decides_and_the_others_stand_beside_it():
    several = compare(TREES, X, Y, cv=3, scoring=["f1_macro", "neg_log_loss"])
    alone = compare(TREES, X, Y, cv=3, scoring="f1_macro")
    other = compare(TREES, X, Y, cv=3, scoring="neg_log_loss")

    assert several.score == "f1_macro"
    assert several.best.name == alone.best.name
    assert [row.p_value for row in several] == pytest.approx([row.p_value for row in alone], nan_ok=True)
    assert [row.others for row in several] == [{"neg_log_loss": row.mean} for row in other]
    assert several.to_dict()["neg_log_loss"] == [row.mean for row in other]
    assert sum(line.split()[:2] == ["log", "loss"] for line in str(several).splitlines()) == 1
    assert f"{-other['stump'].mean:.3f}" in str(several)
    assert all(row.others == {} for row in alone)


def test_a_refused_estimator_has_no_other_scores():
    named = {"bad": tw.DecisionTreeClassifier(max_depth=0), **TREES}

    found = compare(named, X, Y, cv=3, errors="show", scoring=["accuracy", "f1_macro"])

    assert math.isnan(found.to_dict()["f1_macro"][0])
    assert "bad refused: " in str(found)


def test_the_estimator_that_fails_is_named():
    with pytest.raises(ParameterError) as caught:
        compare({"fine": DummyClassifier(), "tree": tw.DecisionTreeClassifier(max_depth=0)}, X, Y, cv=2)

    assert caught.value.__notes__[-1] == "while comparing 'tree'; with errors='show' the others would finish"


def test_an_estimator_that_fails_becomes_a_row_with_its_reason_where_that_is_wanted():
    named = {"bad": tw.DecisionTreeClassifier(max_depth=0), **TREES}

    found = compare(named, X, Y, cv=3, errors="show")

    assert [row.name for row in found] == ["bad", "stump", "tree"]
    assert "max_depth" in found["bad"].failure
    assert math.isnan(found["bad"].mean)
    assert found.best.name == "tree"
    assert found["tree"].scores.tolist() == compare(TREES, X, Y, cv=3)["tree"].scores.tolist()
    assert "bad refused: " in str(found)
    assert max(map(len, str(found).splitlines())) <= 80
    assert found.to_dict()["failure"][1:] == [None, None]
    with pytest.raises(ParameterError, match="max_depth"):
        compare({"bad": named["bad"]}, X, Y, cv=3, errors="show")


def test_errors_and_how_far_they_are_behind_are_printed_as_positive_numbers():
    y = X[:, 0] * 100
    named = {"one": tw.DecisionTreeRegressor(max_depth=1), "two": tw.DecisionTreeRegressor(max_depth=2)}

    found = compare(named, X[:, 1:], y, cv=3, scoring="neg_mean_absolute_error")

    assert found["one"].mean < 0
    assert str(found).startswith("mean_absolute_error, 3 folds")
    assert f"{-found['one'].mean:.3f}" in str(found)
    assert str(found).count("-") == (found["one"].difference_low < 0)


def test_infinite_scores_are_shown_without_a_warning():
    found = compare(TREES, X, Y, cv=3, scoring=lambda est, X, y: math.inf if est.max_depth == 1 else -math.inf)

    assert "inf" in str(found)
    assert found.best.name == "stump"
    assert math.isnan(found["tree"].p_value)


def test_a_sort_of_warning_of_many_fits_is_told_once():
    x = X.copy()
    x[:2, 0] = np.nan

    with pytest.warns(DataWarning, match=r"\(in 2 of 20 fits\)") as told:
        compare(TREES, x, Y, cv=np.arange(150) // 15 % 10)

    assert len(told) == 1


def test_an_estimator_given_twice_is_refused():
    for twice in ([TREES["tree"]] * 2, {"a": TREES["tree"], "b": TREES["tree"]}):
        with pytest.raises(ParameterError, match="are the same estimator: give each once"):
            compare(twice, X, Y)


@pytest.mark.parametrize("repeats", [10**9, 10**30])
def test_repeats_that_fit_in_no_memory_are_refused(repeats):
    with pytest.raises(TooLargeError, match="give fewer repeats"):
        compare(TREES, X, Y, repeats=repeats)


# What judges: costs, thresholds, weights of classes; intervals of differences.

RANDOM = np.random.default_rng(0)
PULL = RANDOM.normal(size=(300, 2))
RISK = np.where(PULL[:, 0] + RANDOM.normal(size=300) > 1.2, "bad", "good")
COST = {"fp": 1, "fn": 6}
SIZES = {f"depth {depth}": tw.DecisionTreeClassifier(max_depth=depth) for depth in (1, 2, 6)}


def wrong_costs(predicted, fp, fn):
    return np.where(predicted == RISK, 0.0, np.where(RISK == "bad", fn, fp))


def test_the_interval_of_a_difference_is_the_written_out_formula_and_agrees_with_the_p_value():
    cv = np.arange(300) % 6

    found = compare(SIZES, PULL, RISK, cv=cv)

    share = 50 / 250
    for row in found:
        if row is found.best:
            assert math.isnan(row.difference_low)
            continue
        d = found.best.scores - row.scores
        half = stats.t.ppf(0.975, 5) * math.sqrt((1 / 6 + share) * d.var(ddof=1))
        assert (row.difference_low, row.difference_high) == pytest.approx((d.mean() - half, d.mean() + half))
        assert (row.p_value < 0.05) == (row.difference_low > 0)
        own = stats.t.ppf(0.975, 5) * row.scores.std(ddof=1) / math.sqrt(6)
        assert row.margin == pytest.approx(own)
        assert f"{row.difference_low:.3f} to {row.difference_high:.3f}" in str(found)
    columns = found.to_dict()
    assert columns["difference_low"][2] == found["depth 6"].difference_low < 0


def test_the_others_are_compared_with_a_named_baseline():
    found = compare(SIZES, PULL, RISK, cv=5, baseline="depth 6")

    assert found.reference.name == "depth 6"
    assert found.best.name != "depth 6"
    assert found["depth 6"].difference == 0.0
    assert math.isnan(found["depth 6"].p_value)
    assert found.best.difference == pytest.approx(found["depth 6"].mean - found.best.mean)
    assert found.best.difference < 0
    assert "baseline" in str(found)
    with pytest.raises(ParameterError, match="baseline='oak' is not compared: choose one of depth 1"):
        compare(SIZES, PULL, RISK, baseline="oak")
    with pytest.raises(ParameterError, match="max_depth"):
        compare({"bad": tw.DecisionTreeClassifier(max_depth=0), **SIZES}, PULL, RISK, cv=3, errors="show",
                baseline="bad")  # fmt: skip


def test_differences_beyond_chance_are_named():
    found = compare(TREES, X, Y)
    assert found.beyond_chance == ("stump",)
    assert "beyond chance (p below 0.05): stump" in str(found)

    none = compare({"deep": tw.DecisionTreeClassifier(), "tree": TREES["tree"]}, X, Y)
    assert none.beyond_chance == ()
    assert "beyond chance (p below 0.05): none" in str(none)


@pytest.mark.parametrize("weights", [None, RANDOM.integers(1, 4, 300).astype(float)])
def test_costs_judge_by_what_the_mistakes_of_each_fold_cost(weights):
    cv = np.arange(300) % 5

    found = compare(SIZES, PULL, RISK, cv=cv, cost=COST, positive="bad", sample_weight=weights)

    assert found.score == "neg_cost"
    for name, est in SIZES.items():
        predicted = cross_validate(est, PULL, RISK, cv=cv, sample_weight=weights).predictions
        costs = wrong_costs(predicted, 1, 6)
        by_fold = [np.average(costs[cv == k], weights=None if weights is None else weights[cv == k]) for k in range(5)]
        assert (-found[name].scores).tolist() == pytest.approx(by_fold)
    assert found.best.name == min(SIZES, key=lambda name: -found[name].mean)
    assert str(found).startswith("cost, 5 folds of 300 rows")
    is_bad = RISK == "bad"
    share = np.average(is_bad, weights=weights)
    assert found.constant == pytest.approx(-min(6 * share, 1 - share))
    table = {"bad": {"good": 6}, "good": {"bad": 1}}
    again = compare(SIZES, PULL, RISK, cv=cv, cost=table, sample_weight=weights, scoring=["cost", "accuracy"])
    assert [row.mean for row in again] == [row.mean for row in found]


def test_costs_of_many_classes_are_a_table():
    cost = {0: {1: 1, 2: 2}, 1: {0: 5, 2: 1}, 2: {0: 9, 1: 3}}
    matrix = np.array([[0, 1, 2], [5, 0, 1], [9, 3, 0]])

    found = compare(TREES, X, Y, cv=5, cost=cost)

    predicted = cross_validate(TREES["tree"], X, Y, cv=5).predictions
    assert -found["tree"].mean == pytest.approx(matrix[Y, predicted].mean())
    scored = cross_validate(TREES["tree"], X, Y, cv=5, scoring=cost_scorer(cost))
    assert scored.test["neg_cost"].tolist() == found["tree"].scores.tolist()


def test_a_threshold_belongs_to_what_every_fold_repeats():
    tree = SIZES["depth 2"]
    fixed = tw.DecisionTreeClassifier(max_depth=2).fit(PULL, RISK)
    fixed.model_ = fixed.model_.with_threshold(0.1, positive="bad")
    cv = np.arange(300) % 5

    found = compare({"plain": tree, "fixed": fixed}, PULL, RISK, cv=cv)

    for k in range(5):
        model = tw.DecisionTreeClassifier(max_depth=2).fit(PULL[cv != k], RISK[cv != k]).model_
        said = model.with_threshold(0.1, positive="bad").predict(PULL[cv == k])
        assert found["fixed"].scores[k] == (said == RISK[cv == k]).mean()
    assert found["fixed"].mean != found["plain"].mean
    one = cross_validate(fixed, PULL, RISK, cv=cv)
    assert one.test["accuracy"].tolist() == found["fixed"].scores.tolist()
    assert one.estimator == "DecisionTreeClassifier"
    assert (holdout(fixed, PULL, RISK, keep_estimators=True).estimators[0].model_.threshold.at) == 0.1


def test_models_that_costs_chose_are_judged_by_these_costs_and_choose_again_in_every_fold():
    chosen = {
        name: choose_threshold(est, PULL, RISK, cost=COST, positive="bad").estimator for name, est in SIZES.items()
    }
    cv = np.arange(300) % 4

    found = compare(chosen, PULL, RISK, cv=cv)

    assert (found.score, found.positive) == ("neg_cost", "bad")
    assert list(found[0].others) == ["accuracy"]
    learned = choose_threshold(SIZES["depth 2"], PULL[cv != 0], RISK[cv != 0], cost=COST, positive="bad")
    costs = wrong_costs(learned.model.predict(PULL), 1, 6)[cv == 0]
    assert -found["depth 2"].scores[0] == pytest.approx(costs.mean())
    tuned = tune(chosen["depth 2"], PULL, RISK, {"max_depth": [1, 3]}, cv=3)
    assert tuned.score == "neg_cost"
    assert tuned.estimator.model_.threshold.cost_each == (1.0, 6.0)


@pytest.mark.parametrize(
    ("class_weight", "score"), [("balanced", "balanced_accuracy"), ({"bad": 4}, "class_weighted_accuracy")]
)
def test_weights_of_classes_that_choose_the_models_judge_them(class_weight, score):
    weighed = {str(d): tw.DecisionTreeClassifier(max_depth=d, class_weight=class_weight) for d in (1, 5)}
    cv = np.arange(300) % 5

    found = compare(weighed, PULL, RISK, cv=cv)

    assert found.score == score
    assert list(found[0].others) == ["accuracy"]
    predicted = cross_validate(weighed["5"], PULL, RISK, cv=cv).predictions
    for k in range(5):
        truth, right = RISK[cv == k], (predicted == RISK)[cv == k]
        if class_weight == "balanced":
            wanted = np.mean([right[truth == label].mean() for label in ("bad", "good")])
        else:
            wanted = np.average(right, weights=np.where(truth == "bad", 4.0, 1.0))
        assert found["5"].scores[k] == pytest.approx(wanted)
    assert tune(weighed["5"], PULL, RISK, {"max_depth": [1, 2]}, cv=3).score == score
    both = {"class_weight": [None, "balanced"]}
    assert tune(SIZES["depth 2"], PULL, RISK, both, cv=3).score == "accuracy"


def test_models_that_were_chosen_in_different_ways_are_judged_by_accuracy():
    mixed = [tw.DecisionTreeClassifier(class_weight=weights) for weights in ("balanced", {"bad": 3})]

    assert compare(mixed, PULL, RISK, cv=3).score == "accuracy"


def test_scores_of_one_class_are_about_the_positive_one():
    found = compare(SIZES, PULL, RISK, cv=3, scoring=["f1", "average_precision", "log_loss"], positive="bad")
    numbered = compare(SIZES, PULL, (RISK == "bad").astype(int), cv=3, scoring=["f1", "average_precision", "log_loss"])

    for row, other in zip(found, numbered, strict=True):
        assert row.scores.tolist() == other.scores.tolist()
        assert row.others == pytest.approx(other.others)
    assert str(found).startswith("f1 of bad, 3 folds")
    assert set(found[0].others) == {"average_precision", "neg_log_loss"}
    assert set(found[0].other_margins) == set(found[0].others)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scoring": "cost"}, "needs the costs of mistakes"),
        ({"cost": {"fp": 1}}, "give .*'fp': 1, 'fn': 5"),
        ({"positive": "worse"}, "'worse', which is not a class"),
    ],
)
def test_costs_and_classes_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        compare(SIZES, PULL, RISK, cv=3, **options)
    with pytest.raises(ParameterError, match="is for one target of classes"):
        compare([tw.DecisionTreeRegressor()], PULL, PULL[:, 0], cost=COST)


def test_curves_weigh_the_classes_as_the_fit_does():
    tree, cv = tw.DecisionTreeClassifier(max_depth=3, class_weight={"bad": 5}, min_samples_leaf=2), np.arange(300) % 3
    wrong = cross_validate(tree, PULL, RISK, cv=cv).predictions != RISK
    weights = np.where(RISK == "bad", 5.0, 1.0)
    by_fold = [np.average(wrong[cv == k], weights=weights[cv == k]) for k in range(3)]

    for over, values in (("max_depth", [3]), ("min_samples_leaf", [2])):
        curve = error_curve(tree, PULL, RISK, over=over, values=values, cv=cv)
        assert curve.test_by_fold[:, 0].tolist() == pytest.approx(by_fold)
    assert learning_curve(tree, PULL, RISK, sizes=[1.0], cv=cv).test_by_fold[:, 0].tolist() == pytest.approx(by_fold)


@pytest.mark.parametrize("cost", [None, COST])
def test_curves_are_about_the_estimator_with_its_threshold(cost):
    cv = np.arange(300) % 3
    tree = tw.DecisionTreeClassifier(max_depth=2, min_samples_leaf=20).fit(PULL, RISK)
    if cost is None:
        tree.model_ = tree.model_.with_threshold(0.2, positive="bad")
    else:
        tree = choose_threshold(tree, PULL, RISK, cost=cost, positive="bad").estimator
    wrong = cross_validate(tree, PULL, RISK, cv=cv).predictions != RISK
    by_fold = [wrong[cv == k].mean() for k in range(3)]

    learned = learning_curve(tree, PULL, RISK, sizes=[1.0], cv=cv)
    assert learned.test_by_fold[:, 0].tolist() == by_fold
    assert learned.estimator == "DecisionTreeClassifier"
    for over, values in (("max_depth", [2, 1]), ("min_samples_leaf", [20, 30])):
        curve = error_curve(tree, PULL, RISK, over=over, values=values, cv=cv)
        assert curve.test_by_fold[:, 0].tolist() == by_fold
    grown = tw.DecisionTreeClassifier(min_samples_leaf=20)
    assert error_curve(tree, PULL, RISK, cv=cv).x == error_curve(grown, PULL, RISK, cv=cv).x
    with pytest.warns(DataWarning, match="without the decision threshold"):
        error_curve(tree, PULL, RISK, over="leaves", cv=cv)


@pytest.mark.parametrize("labels", [("bad", "good"), (0, 1), (1, 2), (False, True)])
def test_the_positive_class_of_an_estimator_is_that_of_its_scores_at_every_door(labels):
    target = np.where(RISK == "bad", labels[0], labels[1])
    tree, cv = tw.DecisionTreeClassifier(max_depth=3), np.arange(300) % 3
    for positive, given in ((labels[0], labels[0]), (labels[1], labels[1]), (labels[1], None)):
        own = tw.DecisionTreeClassifier(max_depth=3, positive=given)
        wanted = compare([tree], PULL, target, cv=cv, scoring="f1", positive=positive)[0].scores.tolist()
        found = compare([own], PULL, target, cv=cv, scoring="f1")
        assert (found[0].scores.tolist(), found.positive) == (wanted, positive)
        assert cross_validate(own, PULL, target, cv=cv, scoring="f1").test["f1"].tolist() == wanted
        assert (
            tune(own, PULL, target, {"max_depth": [3]}, cv=cv, scoring=["f1"]).candidates[0].scores.tolist() == wanted
        )
        costs = compare([own], PULL, target, cv=cv, cost=COST)[0].scores.tolist()
        assert costs == compare([tree], PULL, target, cv=cv, cost=COST, positive=positive)[0].scores.tolist()


def test_there_is_one_positive_class_in_a_comparison():
    trees = {label: tw.DecisionTreeClassifier(max_depth=2, positive=label) for label in ("bad", "good")}
    with pytest.raises(ParameterError, match="one positive class"):
        compare(trees, PULL, RISK, cv=3)
    with pytest.raises(ParameterError, match="one positive class"):
        compare([trees["bad"]], PULL, RISK, cv=3, positive="good")
    rising = tw.DecisionTreeClassifier(max_depth=3, monotonic_cst=[1, 0])
    rising_for_bad = tw.DecisionTreeClassifier(max_depth=3, monotonic_cst=[1, 0], positive="bad")
    found = compare([rising], PULL, RISK, cv=3, positive="bad")[0].scores.tolist()
    assert found == compare([rising_for_bad], PULL, RISK, cv=3)[0].scores.tolist()


def test_costs_that_chose_a_threshold_stay_about_its_class_if_the_scores_are_about_the_other():
    chosen = choose_threshold(SIZES["depth 2"], PULL, RISK, cost=COST, positive="bad").estimator
    usual = compare([chosen], PULL, RISK, cv=3)[0].scores.tolist()
    found = compare([chosen], PULL, RISK, cv=3, positive="good")
    assert (found[0].scores.tolist(), found.positive) == (usual, "good")


def test_progress_counts_candidates_and_folds_and_never_begins_again():
    heard = []
    with listen(lambda done, what: heard.append((done, what))):
        compare(TREES, X, Y, cv=3, n_jobs=1)
    shares, words = zip(*(each for each in heard if each[1] != COMPILING), strict=True)

    assert list(shares) == sorted(shares)
    assert shares[-1] == 1.0
    assert list(dict.fromkeys(words)) == [
        *("candidate 1 of 2, stump", *(f"candidate 1 of 2, stump: {n} of 3 folds" for n in range(4))),
        *("candidate 2 of 2, tree", *(f"candidate 2 of 2, tree: {n} of 3 folds" for n in range(4))),
    ]


@pytest.mark.parametrize(
    ("former", "name"),
    [
        ("behind", "difference"),
        ("behind_low", "difference_low"),
        ("behind_high", "difference_high"),
        ("refusal", "failure"),
    ],
)
def test_former_names_work_with_a_warning(former, name):
    found = compare(TREES, X, Y, cv=3)
    with pytest.warns(FutureWarning, match=f"'{former}' is now called '{name}'") as warned:
        assert getattr(found["stump"], former) == getattr(found["stump"], name)
    assert warned[0].filename == __file__
    with pytest.warns(FutureWarning, match=f"'{former}' is now called '{name}'") as warned:
        assert found.to_dict()[former] == found.to_dict()[name]
    assert warned[0].filename == __file__
