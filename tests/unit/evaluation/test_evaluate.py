"""Hold-out, cross-validation and leave-one-out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, RepeatedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import treewright as tw
from treewright.core.confidence import wilson_interval
from treewright.exceptions import DataError, DataWarning, ParameterError
from treewright.model_selection import cross_validate, holdout, learning_curve, leave_one_out

X, Y = load_iris(return_X_y=True)
STEPS = [[1.0], [2.0], [8.0], [9.0]]
TREE = tw.DecisionTreeClassifier(max_depth=2)


def test_the_given_estimator_stays_unfitted():
    est = tw.DecisionTreeClassifier(max_depth=2)

    holdout(est, X, Y)
    cross_validate(est, X, Y, cv=2)
    leave_one_out(est, X[::10], Y[::10])

    assert not hasattr(est, "model_")


def test_every_row_is_predicted_once_by_a_fit_that_did_not_see_it():
    scores = cross_validate(TREE, X, Y, cv=np.arange(150) % 5, keep_estimators=True)

    assert scores.rows.tolist() == list(range(150))
    for fold, fitted in enumerate(scores.estimators):
        tested = np.arange(fold, 150, 5)
        assert scores.predictions[tested].tolist() == fitted.predict(X[tested]).tolist()
        assert fitted.model_.facts["n_samples"] == 120


def test_mean_and_standard_error_are_those_of_the_folds():
    scores = cross_validate(TREE, X, Y, cv=5)

    by_fold = scores.test["accuracy"]
    assert scores.mean == by_fold.mean()
    assert math.isclose(scores.standard_error, by_fold.std(ddof=1) / math.sqrt(5))
    assert scores.n_folds == 5
    assert scores.n_train.tolist() == [120] * 5


def test_pooled_accuracy_is_the_share_of_right_predictions_with_its_wilson_interval():
    scores = cross_validate(TREE, X, Y, cv=5)

    right = int((scores.predictions == Y).sum())
    assert scores.pooled["accuracy"] == right / 150
    assert (scores.pooled["low"], scores.pooled["high"]) == wilson_interval(right, 150)


def test_pooled_numbers_can_be_checked_by_hand():
    scores = leave_one_out(tw.DecisionTreeRegressor(max_depth=1), STEPS, [5.0, 6.0, 9.0, 10.0])

    # Without 1: the split at 5 leaves 2 with its own 6; and so on. Errors 1, 1, 1, 1 around the mean 7.5.
    assert scores.predictions.tolist() == [6.0, 5.0, 10.0, 9.0]
    assert scores.pooled == {"r2": 1 - 4 / (2.5**2 + 1.5**2 + 1.5**2 + 2.5**2), "mae": 1.0, "rmse": 1.0}
    assert scores.test["neg_mean_squared_error"].tolist() == [-1.0] * 4
    assert scores.train is None


def test_rows_tested_more_than_once_have_no_single_prediction():
    scores = cross_validate(TREE, X, Y, cv=RepeatedKFold(n_splits=3, n_repeats=2, random_state=0))

    assert (scores.rows, scores.predictions, scores.pooled) == (None, None, None)
    assert scores.n_folds == 6


def test_a_held_out_part_has_every_class_in_its_share():
    scores = holdout(TREE, X, Y, test_size=0.2)

    assert np.bincount(Y[scores.rows]).tolist() == [10, 10, 10]
    assert (int(scores.n_train[0]), int(scores.n_test[0])) == (120, 30)
    assert math.isnan(scores.standard_error)
    assert holdout(TREE, X, Y, test_size=31).n_test.tolist() == [31]


def test_the_seed_decides_the_rows_held_out():
    one, again, other = (holdout(TREE, X, Y, random_state=seed).rows.tolist() for seed in (1, 1, 2))

    assert one == again != other


def test_weights_go_to_the_fit_and_to_the_score():
    weights = np.random.default_rng(0).integers(1, 9, 150).astype(float)

    scores = cross_validate(TREE, X, Y, cv=np.arange(150) % 2, sample_weight=weights, keep_estimators=True)

    for fold, fitted in enumerate(scores.estimators):
        train, test = np.arange(150) % 2 != fold, np.arange(150) % 2 == fold
        wanted = tw.DecisionTreeClassifier(max_depth=2).fit(X[train], Y[train], weights[train])
        assert fitted.predict_proba(X).tolist() == wanted.predict_proba(X).tolist()
        assert scores.test["accuracy"][fold] == wanted.score(X[test], Y[test], weights[test])
        assert scores.train["accuracy"][fold] == wanted.score(X[train], Y[train], weights[train])


def test_a_row_of_weight_zero_is_as_no_row_at_all():
    weights = np.ones(30)
    weights[[3, 20]] = 0.0
    part, kept = slice(0, 150, 5), weights > 0

    left = leave_one_out(TREE, X[part], Y[part], sample_weight=weights)

    without = leave_one_out(TREE, X[part][kept], Y[part][kept])
    assert left.rows.tolist() == np.flatnonzero(kept).tolist()
    assert left.predictions.tolist() == without.predictions.tolist()
    assert left.pooled == without.pooled


def test_several_scores_have_a_mean_each():
    scores = cross_validate(TREE, X, Y, cv=3, scoring=["accuracy", "balanced_accuracy"])

    assert list(scores.means) == ["accuracy", "balanced_accuracy"]
    assert scores.standard_errors.keys() == scores.means.keys()
    with pytest.raises(ParameterError, match="several scores, accuracy, balanced_accuracy: use means"):
        _ = scores.mean


def test_a_score_may_be_a_function_or_have_a_name_of_its_own():
    def leaves(estimator, X, y):
        return estimator.get_n_leaves()

    named = cross_validate(TREE, X, Y, cv=3, scoring={"size": leaves, "right": "accuracy"})

    assert named.test["size"].tolist() == named.n_leaves.tolist()
    assert cross_validate(TREE, X, Y, cv=3, scoring=leaves).test.keys() == {"leaves"}


def test_leaves_and_depth_are_found_in_pipelines_and_searches():
    part = make_pipeline(StandardScaler(), tw.DecisionTreeClassifier(max_depth=1))
    search = GridSearchCV(tw.DecisionTreeClassifier(), {"max_depth": [1]}, cv=2)

    assert cross_validate(part, X, Y, cv=2).depth.tolist() == [1.0, 1.0]
    assert cross_validate(search, X, Y, cv=2).n_leaves.tolist() == [2.0, 2.0]
    assert np.isnan(cross_validate(LinearRegression(), X, Y, cv=2).n_leaves).all()


def test_several_targets_are_right_together_or_not_at_all():
    two = np.stack([Y, np.arange(150) % 2], axis=1)

    scores = cross_validate(tw.DecisionTreeClassifier(max_depth=3), X, two, cv=3)

    assert scores.predictions.shape == (150, 2)
    assert scores.pooled["accuracy"] == (scores.predictions == two).all(axis=1).mean()


def test_a_table_has_a_row_per_fold():
    table = cross_validate(TREE, X, Y, cv=3).to_dict()

    assert list(table) == ["fold", "n_train", "n_test", "n_leaves", "depth", "test_accuracy", "train_accuracy"]
    assert {len(column) for column in table.values()} == {3}


def test_what_is_printed_fits_into_80_columns():
    many = ["accuracy", "balanced_accuracy", "f1_macro", "precision_macro", "recall_macro", "f1_micro", "neg_log_loss"]

    long = {"a name that is much too long for a table of 80 columns" * 2: "accuracy"}

    every = [cross_validate(TREE, X, Y, scoring=many), cross_validate(TREE, X, Y, cv=3, scoring=long)]
    every += [leave_one_out(TREE, X[::5], Y[::5]), holdout(TREE, X, Y)]

    for scores in every:
        assert max(map(len, str(scores).splitlines())) <= 80


def test_what_fit_refuses_names_the_fold():
    with pytest.raises(ParameterError, match="max_depth") as caught:
        cross_validate(tw.DecisionTreeClassifier(max_depth=0), X, Y, cv=np.arange(150) % 3)

    assert caught.value.__notes__ == [
        "while fitting DecisionTreeClassifier on the training rows of fold 0 of 3 (100 rows)"
    ]


def test_the_first_fold_that_fails_is_named_whatever_the_threads():
    class Fussy(DummyClassifier):
        def fit(self, X, y):
            if X[:, 0].max() > 90:
                raise DataError("99")
            return super().fit(X, y)

    x = X.copy()
    x[0, 0] = 99.0  # every fold but fold 0 learns from this row

    for n_jobs in (1, 4):
        with pytest.raises(DataError) as caught:
            cross_validate(Fussy(), x, Y, cv=np.arange(150) % 5, n_jobs=n_jobs)
        assert "fold 1 of 5" in caught.value.__notes__[0]


def test_an_undefined_score_is_reported():
    with pytest.warns(DataWarning, match=r"'odd' is nan in 3 of 3 folds \(first fold 0\)"):
        scores = cross_validate(TREE, X, Y, cv=3, scoring={"odd": lambda est, X, y: float("nan")})

    assert math.isnan(scores.mean)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scoring": "acuracy"}, r"scoring='acuracy': no such score \(did you mean 'accuracy'\?\)"),
        ({"scoring": 3}, "scoring=3: give a name"),
        ({"scoring": []}, "give a name"),
        ({"scoring": {"a": 1}}, "scoring 'a' is 1"),
        ({"scoring": lambda est, X, y: "good"}, "returned a str, not a number"),
        ({"scoring": lambda est, X, y: np.zeros(2)}, "returned a ndarray, not a number"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
)
def test_what_cannot_be_scored_is_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        cross_validate(TREE, X, Y, cv=2, **options)


def test_weights_that_a_score_or_a_fit_does_not_take_are_refused():
    with pytest.raises(ParameterError, match="takes no sample_weight"):
        cross_validate(TREE, X, Y, cv=2, sample_weight=Y + 1, scoring={"a": lambda est, X, y: 1.0})
    with pytest.raises(ParameterError, match="fit of KNeighborsClassifier takes no sample_weight"):
        cross_validate(KNeighborsClassifier(), X, Y, cv=2, sample_weight=Y + 1)


def test_a_search_hands_weights_on():
    search = GridSearchCV(tw.DecisionTreeClassifier(), {"max_depth": [1]}, cv=2)
    weights = np.where(Y == 2, 5.0, 1.0)

    scores = cross_validate(search, X, Y, cv=3, sample_weight=weights)

    plain = cross_validate(tw.DecisionTreeClassifier(max_depth=1), X, Y, cv=3, sample_weight=weights)
    assert scores.test["accuracy"].tolist() == plain.test["accuracy"].tolist()


def test_a_fold_whose_rows_weigh_nothing_is_refused():
    with pytest.raises(DataError, match=r"75 row\(s\) .* all have weight 0 \(first row 1\)") as caught:
        cross_validate(TREE, X, Y, cv=np.arange(150) % 2, sample_weight=np.arange(150) % 2 == 0)

    assert caught.value.__notes__ == ["these are the test rows of fold 1 of 2"]


@pytest.mark.parametrize(
    "curve", [tw.model_selection.error_curve, lambda *given, **options: learning_curve(*given, sizes=[1.0], **options)]
)
def test_a_curve_refuses_such_a_fold_as_well(curve):
    with pytest.raises(DataError, match=r"50 row\(s\) .* all have weight 0 \(first row 1\)"):
        curve(TREE, X, Y, cv=np.arange(150) % 3, sample_weight=np.arange(150) % 3 != 1)


@pytest.mark.parametrize("test_size", [0.0, 1.0, -0.5, 0, -1, True, "half", None, float("nan")])
def test_a_share_outside_its_range_is_refused(test_size):
    with pytest.raises(ParameterError, match="test_size="):
        holdout(TREE, X, Y, test_size=test_size)


def test_too_few_rows_for_two_parts_are_refused():
    with pytest.raises(DataError, match=r"1 row\(s\) are too few"):
        holdout(TREE, X[:1], Y[:1])
    with pytest.raises(DataError, match="too few to hold out 150"):
        holdout(TREE, X, Y, test_size=150)
    with pytest.raises(DataError, match="class 'b' has 1 row, too few for two parts"):
        holdout(TREE, STEPS, ["a", "a", "a", "b"])
    with pytest.raises(DataError, match="cannot both hold all 3 classes"):
        holdout(TREE, X, Y, test_size=2)
    assert holdout(TREE, STEPS, ["a", "a", "a", "b"], stratify=False).n_test.tolist() == [1]
    with pytest.raises(DataError, match="at least 2 are needed to leave one out"):
        leave_one_out(TREE, [[1.0]], [0])


def test_rows_without_weight_are_not_among_the_predictions_and_make_no_interval_narrower():
    weights = np.where(np.arange(150) % 3 == 0, 1.0, 0.0)
    kept = weights > 0

    scores = cross_validate(TREE, X, Y, cv=np.arange(150) % 5, sample_weight=weights)

    alone = cross_validate(TREE, X[kept], Y[kept], cv=(np.arange(150) % 5)[kept])
    assert scores.rows.tolist() == np.flatnonzero(kept).tolist()
    assert scores.predictions.tolist() == alone.predictions.tolist()
    assert scores.pooled == pytest.approx(alone.pooled)


def test_uneven_weights_make_the_interval_wider():
    uneven = np.where(np.arange(150) % 50 == 0, 1000.0, 1.0)

    pooled = cross_validate(TREE, X, Y, cv=5, sample_weight=uneven).pooled

    n = uneven.sum() ** 2 / (uneven**2).sum()  # Kish: some 3 rows
    assert (pooled["low"], pooled["high"]) == pytest.approx(wilson_interval(pooled["accuracy"] * n, n))


def test_more_repeats_of_the_same_rows_do_not_make_the_error_vanish():
    few, many = (
        cross_validate(TREE, X, Y, cv=RepeatedKFold(n_splits=5, n_repeats=repeats, random_state=0))
        for repeats in (2, 40)
    )

    values = many.test["accuracy"]
    assert math.isclose(many.standard_error, math.sqrt((1 / 200 + 30 / 120) * values.var(ddof=1)))
    assert many.standard_error > 0.7 * few.standard_error


def test_chance_without_a_seed_depends_on_neither_threads_nor_the_global_seed():
    forest = RandomForestClassifier(n_estimators=2, max_features=1)

    np.random.seed(1)  # noqa: NPY002 - the global state is the point
    one = cross_validate(forest, X, Y, cv=6, n_jobs=1)
    np.random.seed(2)  # noqa: NPY002
    four = cross_validate(forest, X, Y, cv=6, n_jobs=4)

    assert one.test["accuracy"].tolist() == four.test["accuracy"].tolist()
    assert one.predictions.tolist() == four.predictions.tolist()
    assert cross_validate(forest, X, Y, cv=np.arange(150) % 6, random_state=1).predictions.tolist() != (
        cross_validate(forest, X, Y, cv=np.arange(150) % 6, random_state=2).predictions.tolist()
    )


def test_a_pipeline_is_refused_weights_with_a_remedy():
    pipeline = make_pipeline(StandardScaler(), tw.DecisionTreeClassifier())

    for est in (pipeline, GridSearchCV(pipeline, {"decisiontreeclassifier__max_depth": [1]}, cv=2)):
        told = "a Pipeline passes none to its steps: leave it out, or give only the last"
        with pytest.raises(ParameterError, match=told):
            cross_validate(est, X, Y, cv=2, sample_weight=Y + 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cross_validate(TREE, X, Y, cv=3, scoring="f1"), "scoring='f1_macro' or scoring='f1_weighted'"),
        (lambda: cross_validate(TREE, X, Y, cv=3, scoring="roc_auc"), "scoring='roc_auc_ovr'"),
        (lambda: cross_validate(TREE, X, np.array(list("abc"))[Y], cv=3, scoring="neg_mean_squared_error"), "accuracy"),
        (lambda: holdout(tw.DecisionTreeRegressor(), X, X[:, 0], scoring="accuracy"), "scoring='r2'"),
        (lambda: cross_validate(tw.DecisionTreeRegressor(), X, X[:, 0], cv=2, scoring="neg_log_loss"), "scoring='r2'"),
        (lambda: leave_one_out(TREE, X[::5], Y[::5], scoring="neg_log_loss"), "have one class: give larger folds"),
        (lambda: leave_one_out(TREE, X[::5], Y[::5], scoring="roc_auc_ovr"), "not defined for a single row"),
        (lambda: leave_one_out(tw.DecisionTreeRegressor(), X, X[:, 0], scoring="r2"), "not defined for a single row"),
        (lambda: tw.model_selection.tune(TREE, X, Y, {"max_depth": [1]}, scoring="f1"), "f1_macro"),
        (lambda: tw.model_selection.compare([TREE], X, Y, scoring="f1"), "f1_macro"),
    ],
)  # fmt: skip
def test_a_score_that_does_not_fit_the_target_is_refused_with_one_that_does(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


def test_an_error_inside_the_users_own_score_is_the_users():
    def broken(est, X, y):
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        cross_validate(TREE, X, Y, cv=2, scoring=broken)


def test_what_is_shown_last_in_a_notebook_is_the_table():
    scores = cross_validate(TREE, X, Y, cv=3)

    assert repr(scores) == str(scores)
    assert "array" not in repr(tw.model_selection.compare([TREE], X, Y, cv=3))


def test_errors_are_printed_as_what_they_are():
    scores = cross_validate(tw.DecisionTreeRegressor(max_depth=2), X, X[:, 0] * 1000, cv=3,
                            scoring=["neg_mean_squared_error", "r2"])  # fmt: skip

    text = str(scores)
    assert scores.means["neg_mean_squared_error"] < 0
    assert "neg_" not in text
    assert "-" not in text
    assert f"mean_squared_error  {-scores.means['neg_mean_squared_error']:.0f}" in text


def test_a_sort_of_warning_is_told_once_with_the_number_of_folds():
    x = X.copy()
    x[:2, 0] = np.nan
    x[0, 1] = np.nan

    for n_jobs in (1, 3):
        with pytest.warns(DataWarning) as told:
            cross_validate(tw.DecisionTreeClassifier(), x, Y, cv=np.arange(150) // 15 % 10, n_jobs=n_jobs)
        assert [str(each.message).partition(";")[0] for each in told] == [
            "missing values in 2 column(s) that had none at fit: 'x0', 'x1'"
        ]
        assert str(told[0].message).endswith("(in 1 of 10 folds)")
        assert told[0].filename == __file__


def test_an_error_of_zero_has_no_sign():
    scores = cross_validate(tw.DecisionTreeRegressor(), X[:, :1], X[:, 0] * 2, cv=3, scoring="neg_mean_squared_error")

    assert scores.train["neg_mean_squared_error"].max() == 0.0
    assert "-" not in str(scores)
